use proptest::prelude::*;

use super::*;
use crate::quality::line::logistic;

const ARENA: &str = "model,full,coding,math,creative_writing,if,full_low,full_high
claude-sonnet-4-5-20250929,1445,1480,1440,1430,1450,1441,1449
claude-sonnet-4-5-20250929-thinking-32k,1446,1495,1460,1425,1455,1442,1450
gpt-5-mini-high,1390,1410,1420,1360,,1386,1394
";

fn board(text: &str) -> Board {
    Board::read(text).unwrap()
}

fn wrong(text: &str) -> String {
    Board::read(text).unwrap_err().to_string()
}

#[test]
fn each_leaderboard_is_known_by_its_columns() {
    let arena = board(ARENA);
    assert_eq!(arena.format, Format::Arena);
    let keys: Vec<(String, Option<ReasoningEffort>)> =
        arena.rows.iter().map(|row| (row.key(), row.effort)).collect();
    let high = Some(ReasoningEffort::High);
    assert_eq!(
        keys,
        [
            ("claude-sonnet-4.5".to_owned(), None),
            ("claude-sonnet-4.5".to_owned(), high),
            ("gpt-5-mini".to_owned(), high),
        ]
    );
    assert_eq!(arena_rating(&arena.rows[0], TaskType::Math), Some(1440.0));
    assert_eq!(arena_rating(&arena.rows[2], TaskType::Transform), Some(1390.0), "the whole");

    let aider = board(
        "model,edit_format,pass_rate_1,pass_rate_2,reasoning_effort,thinking_tokens,date\n\
         o3 (high),diff,40,81.3,high,,2025-06-25\n\
         claude-opus-4-20250514 (32k thinking),diff,37,72.0,,32000,2025-05-25\n\
         gpt-4o,whole,20,18.0,,,2024-12-30\n\
         gpt-4o,diff,21,27.0,,,2024-12-31\n",
    );
    assert_eq!(aider.format, Format::Aider);
    let of: Vec<(String, Option<ReasoningEffort>)> =
        aider.rows.iter().map(|row| (row.key(), row.effort)).collect();
    assert_eq!(of[0], ("o3".to_owned(), high));
    assert_eq!(of[1], ("claude-opus-4".to_owned(), high));
    assert_eq!(aider.rows.len(), 3, "the better run of two counts");
    assert_eq!(aider.rows[2].figure("pass_rate_2"), Some(27.0));
    assert!(aider.strength(&aider.rows[0], TaskType::Code) > Some(1.0));
    assert_eq!(aider.strength(&aider.rows[0], TaskType::Write), None);

    let vectara = board("model,hallucination_percent,answer_percent\nmicrosoft/Phi-4,3.7,80.7\n");
    assert_eq!(vectara.format, Format::Vectara);
    assert!(vectara.strength(&vectara.rows[0], TaskType::Transform) > Some(3.0));

    let bench = board("model,javascript,python,typescript,plot_unscrambling\no3,10,20,30,\n");
    assert_eq!(bench.format, Format::LiveBench);
    let edit = bench.strength(&bench.rows[0], TaskType::Edit).unwrap();
    assert!((logistic(edit) - 0.2).abs() < 1e-9);
    assert_eq!(bench.strength(&bench.rows[0], TaskType::Math), None, "nothing said of it");
}

#[test]
fn ones_own_evaluation_is_shares_or_percent() {
    for text in [
        "model,average,code\nmine-1,80,90\nMine-2,,55\n",
        "model,average,code\nmine-1,0.8,0.9\nMine-2,,0.55\n",
        "model,task,share\nmine-1,average,0.8\nMine-2,code,0.55\nmine-1,code,0.9\n",
    ] {
        let own = board(text);
        assert_eq!(own.format, Format::Plain);
        let figures: Vec<(String, Option<f64>, Option<f64>)> = own
            .rows
            .iter()
            .map(|row| (row.key(), row.figure("average"), row.figure("code")))
            .collect();
        let second = ("mine-2".to_owned(), None, Some(0.55));
        assert_eq!(figures, [("mine-1".to_owned(), Some(0.8), Some(0.9)), second], "{text}");
    }
}

#[test]
fn bad_files_are_told_with_line_column_and_fix() {
    for (text, expected) in [
        ("", "it is empty"),
        ("model,average\n", "it is empty"),
        ("name,score\na,1\n", "of no known leaderboard (name, score)"),
        ("model,cod\na,0.5\n", "of no known leaderboard (cod)"),
        ("model,average\na,good\n", "line 2: `average` is \"good\"; write a number"),
        ("model,average\na,nan\n", "line 2: `average` is \"nan\""),
        ("model,average\na,120\n", "line 2: `average` is 120; write a share from 0 to 1"),
        ("model,average\na,-0.1\n", "line 2: `average` is -0.1"),
        ("model,average\n,0.5\n", "line 2: `model` is empty"),
        ("model,average\na,0.5,0.6\n", "line 2: it has 3 fields, and the first line names 2"),
        (
            "model,average\na,0.5\nb,61\n",
            "line 2 has a share (0.5) and line 3 a percentage (61); write all figures from 0 to 1",
        ),
        (
            "model,average\ngpt-5-mini,0.5\nopenai/gpt-5-mini-2025-08-07,0.6\n",
            "line 2 and line 3 are both about gpt-5-mini",
        ),
        ("model,task,share\na,cod,0.5\n", "line 2: \"cod\" is no task type"),
        ("model,task,share\na,,0.5\n", "line 2: `task` is empty"),
        ("model,share\na,0.5\n", "of no known leaderboard (share)"),
        ("model,average,code\na,0.5,\nb,,\n", "line 3: it says nothing of b"),
        ("model,average,average\na,0.5,0.6\n", "names `average` twice"),
        ("model,average\na,0.5\na,0.6\n", "line 2 and line 3 are both about a"),
        ("model,average,date\na,0.5,soon\n", "line 2: `date` is \"soon\"; write a day"),
        ("{\"full\": {\"a\": 1200}}", "expected Arena's"),
        ("{\"full\": ", "expected Arena's"),
        ("{}", "it is empty"),
        ("- a\n", "line 1: expected a run of aider"),
        ("- model: [\n", "while parsing"),
        ("model,effort,average\na,much,0.5\n", "line 2: `effort` is \"much\"; write none,"),
        ("model,full,coding,math\na,1200,1200,1200\na,1300,1300,1300\n", "line 2 and line 3"),
        ("model,full,coding,math\na,12000,1200,1200\n", "a rating from 0 to 4000"),
    ] {
        let found = wrong(text);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}

#[test]
fn leaderboards_are_read_as_they_are_published() {
    let arena = board(
        r#"{"full": {"gpt-5-high": {"rating": 1450.5, "rating_q975": 1460.0}, "o3": {"rating": 1400}},
            "coding": {"gpt-5-high": {"rating": 1470.0}},
            "a_new_category": {"o3": {"rating": 1.0}}}"#,
    );
    assert_eq!((arena.format, arena.rows.len()), (Format::Arena, 2));
    assert_eq!(arena.rows[0].key(), "gpt-5");
    assert_eq!(arena_rating(&arena.rows[0], TaskType::Code), Some(1470.0));
    assert_eq!(arena_rating(&arena.rows[1], TaskType::Code), Some(1400.0), "the whole");

    let aider = board(
        "- dirname: 2025-02-25-20-23-07--gemini-pro\n  model: Gemini 2.0 Pro exp-02-05\n  \
         commit_hash: 2fccd47\n  pass_rate_1: 20.4\n  pass_rate_2: 35.6\n  command: aider \
         --model gemini\n  date: 2025-02-25\n\n- model: o3 (high)\n  pass_rate_1: 40\n  \
         pass_rate_2: 81.3\n  versions: 0.69.2.dev\n",
    );
    assert_eq!((aider.format, aider.rows.len()), (Format::Aider, 2));
    assert_eq!(aider.rows[0].date.as_deref(), Some("2025-02-25"));
    assert_eq!(aider.rows[1].effort, Some(ReasoningEffort::High));
    assert_eq!(aider.rows[1].figure("pass_rate_2"), Some(81.3));
    assert_eq!(aider.rows[1].place, Place::Line(9));

    // A leaderboard may grow a column, of words or of other figures.
    let grown = board("model,hallucination_percent,maker,tokens\no3,3.7,OpenAI,123456\n");
    assert_eq!(grown.rows[0].figure("hallucination_percent"), Some(3.7));
    assert_eq!(grown.rows[0].figure("tokens"), None);

    // Written by a spreadsheet: a byte order mark, and lines that end with CR LF.
    let own = board("\u{feff}model,average\r\nmine,0.8\r\n");
    assert_eq!(own.rows[0].figure("average"), Some(0.8));
}

#[test]
fn a_name_of_two_families_counts_for_itself_alone() {
    let own = board("model,average\nDeepSeek-R1-Distill-Qwen-32B,0.7\n");
    assert_eq!(own.rows[0].known, None);
    assert_eq!(own.rows[0].key(), "deepseek-r1-distill-qwen-32b");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(model|,|average|code|full|coding|[0-9.]{1,4}|\n|\"|[a-z-]{1,6}){0,40}") {
        if let Ok(board) = Board::read(&text) {
            for row in &board.rows {
                prop_assert!(!row.name.is_empty());
                for task in TaskType::ALL {
                    let strength = board.strength(row, task);
                    prop_assert!(strength.is_none_or(f64::is_finite));
                }
            }
        }
    }
}
