use proptest::prelude::*;

use super::*;

fn built_in(name: &str) -> Quality {
    QualityTable::built_in().of(&[name]).unwrap_or_else(|| panic!("{name} is unknown"))
}

fn imported(text: &str) -> QualityTable {
    QualityTable::built_in().with_imported(rows(text).unwrap())
}

#[test]
fn the_table_of_the_program_is_read() {
    let table = rows(PRIORS).unwrap();
    let models: std::collections::BTreeSet<&str> =
        table.iter().map(|row| row.model.as_str()).collect();
    assert!(models.len() >= 220, "the documentation says so: {}", models.len());
    for row in &table {
        let name = row.name.as_ref().map(ModelName::key);
        assert_eq!(name.as_deref(), Some(row.model.as_str()), "what its own key means");
        assert!(row.by_task.iter().all(|share| share.is_some_and(|it| it > 0.0 && it < 1.0)));
        assert!(row.sources() > 0 && row.date.len() == 10, "{}", row.model);
    }
    let record = record().unwrap();
    assert!(record.sources.iter().all(|source| source.name != "livebench"));
    let named = record.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>();
    for row in &table {
        assert!(row.source.split(' ').all(|name| named.contains(&name)), "{}", row.source);
    }
}

#[test]
fn a_well_known_model_is_found_under_all_its_names() {
    let expected = built_in("gpt-5-mini");
    assert_eq!(expected.basis, Basis::Prior);
    for name in ["openai/gpt-5-mini-2025-08-07", "azure/gpt-5-mini"] {
        assert_eq!(built_in(name), expected, "{name}");
    }
    assert!(expected.average < built_in("gpt-5").average);
    assert!(built_in("gpt-4o-mini").average < built_in("gpt-4o").average);
    assert_eq!(QualityTable::built_in().of(&["my-own-model"]), None);
    assert_eq!(
        QualityTable::built_in().of(&["my-deployment", "gpt-5-mini"]),
        Some(expected),
        "the first name that is known"
    );
}

#[test]
fn relatives_tell_what_is_to_be_expected() {
    let later = built_in("claude-sonnet-9");
    assert_eq!(later.basis, Basis::Family);
    assert!(later.average > built_in("claude-sonnet-4.5").average);
    let quantised = built_in("llama3.3:70b-instruct-q4_K_M");
    let whole = built_in("llama-3.3-70b-instruct");
    assert_eq!((quantised.basis, whole.basis), (Basis::Family, Basis::Prior));
    assert!(quantised.average < whole.average && quantised.average > whole.average - 0.05);
    // Between the sizes that are known, and of the same version, not of `qwen-14b`, which has none.
    let (small, middle, large) =
        (built_in("qwen1.5-14b-chat"), built_in("qwen1.5-20b-chat"), built_in("qwen1.5-110b-chat"));
    assert_eq!(middle.basis, Basis::Family);
    assert!(small.average < middle.average && middle.average < large.average);
}

#[test]
fn the_effort_of_a_request_counts_where_it_was_measured() {
    let quality = built_in("gpt-5");
    let at = |effort| quality.at(Some(effort)).average;
    assert_eq!(quality.at(None), &quality);
    assert!(at(ReasoningEffort::Low) < at(ReasoningEffort::High));
    assert_eq!(at(ReasoningEffort::XHigh), at(ReasoningEffort::High), "the nearest");
    let fixed = built_in("claude-sonnet-4-5-20250929-thinking-32k");
    assert_eq!(fixed.efforts, [], "its name says how much it thinks");
}

#[test]
fn what_was_imported_counts_first() {
    let prior = built_in("gpt-5-mini");
    let table = imported("model,average\ngpt-5-mini,0.5\nmy-model,0.9\n");
    let (quality, row) = table.explain(&["azure/gpt-5-mini"]).unwrap();
    assert_eq!((quality.average, quality.basis), (0.5, Basis::Measured));
    assert_eq!(row[0].model, "gpt-5-mini");
    let code = TaskType::Code.index();
    assert!(quality.by_task[code] < prior.by_task[code], "an average moves all tasks");
    assert_eq!(table.of(&["My-Model"]).unwrap().by_task, [0.9; TASK_TYPES]);
    assert_eq!(table.of(&["my-model-2"]), None);

    let table = imported("model,code\ngpt-5-mini,0.99\n");
    let quality = table.of(&["gpt-5-mini"]).unwrap();
    assert_eq!(quality.by_task[code], 0.99);
    let math = TaskType::Math.index();
    assert_eq!(quality.by_task[math], prior.by_task[math], "the rest is as it was");
}

#[test]
fn what_was_imported_for_an_id_goes_before_what_the_name_at_the_provider_means() {
    let table = imported("model,average\ngpt-5-mini,0.5\nlab/small,0.6\n");
    let quality = table.of(&["gpt-5-mini-2025-08-07", "lab/small"]).unwrap();
    assert_eq!(quality.average, 0.6);
}

#[test]
fn what_was_imported_moves_the_efforts_too() {
    let prior = built_in("gpt-5");
    let (low, high) = (Some(ReasoningEffort::Low), Some(ReasoningEffort::High));
    let quality = imported("model,average\ngpt-5,0.5\n").of(&["gpt-5"]).unwrap();
    assert_eq!((quality.average, quality.basis), (0.5, Basis::Measured));
    assert!(quality.at(low).average < quality.at(high).average, "as they lay to each other");
    assert!(quality.at(high).average < prior.at(high).average);
    assert_eq!(quality.at(high).basis, Basis::Measured);

    // Of one effort alone: the others stay, and so does what the model does by itself.
    let table = imported("model,effort,average\ngpt-5,high,0.5\n");
    let quality = table.of(&["gpt-5"]).unwrap();
    assert_eq!(quality.at(high).average, 0.5);
    assert_eq!((quality.average, quality.basis), (prior.average, Basis::Prior));
    assert_eq!(quality.at(low), prior.at(low));
    assert_eq!(table.of(&["gpt-5-high"]).unwrap().average, 0.5);
    assert_eq!(table.of(&["gpt-5-high"]).unwrap().efforts, []);
}

#[test]
fn of_several_sources_each_says_what_it_knows() {
    let table = imported(
        "model,source,date,average,code\n\
         gpt-5-mini,new,2026-11-02,,0.9\n\
         gpt-5-mini,old,2026-11-01,0.5,0.4\n",
    );
    let (quality, rows) = table.explain(&["gpt-5-mini"]).unwrap();
    assert_eq!(quality.by_task[TaskType::Code.index()], 0.9, "the latest");
    assert!(quality.by_task[TaskType::Math.index()] < built_in("gpt-5-mini").average);
    let sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources, ["new", "old"]);
}

#[test]
fn a_board_of_one_task_tells_nothing_of_an_unknown_model() {
    let mut text = "model,hallucination_percent\nsomething-new,2.0\n".to_owned();
    for (i, name) in ["gpt-4o", "gpt-4.1", "gpt-5", "o3", "gpt-4o-mini"].iter().enumerate() {
        text.push_str(&format!("{name},{}\n", i + 1));
    }
    let board = Board::read(&text).unwrap();
    let scaled = on_scale(&board, &QualityTable::built_in(), "Vectara", "2026-01-01").unwrap();
    assert_eq!((scaled.rows.len(), scaled.left_out), (5, vec!["something-new".to_owned()]));
}

#[test]
fn a_leaderboard_is_brought_to_the_scale_of_the_table() {
    let names =
        ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "claude-sonnet-4", "brand-new"];
    let mut text = "model,pass_rate_1,pass_rate_2\n".to_owned();
    for (i, name) in names.iter().enumerate() {
        text.push_str(&format!("{name},{},{}\n", i, 20 + 10 * i));
    }
    let board = Board::read(&text).unwrap();
    let scaled = on_scale(&board, &QualityTable::built_in(), "aider", "2026-01-01").unwrap();
    let rows = scaled.rows;
    assert_eq!(rows.len(), names.len());
    let new = rows.iter().find(|row| row.model == "brand-new").unwrap();
    let code = TaskType::Code.index();
    let known = |name: &str| built_in(name).by_task[code];
    let shown: Vec<f64> = rows.iter().filter_map(|row| row.by_task[code]).collect();
    assert!(shown.iter().all(|share| *share <= new.by_task[code].unwrap()), "it solved the most");
    let lowest = names[..5].iter().map(|name| known(name)).fold(1.0, f64::min);
    assert!(shown.iter().all(|share| *share > lowest - 0.2), "as spread as the known ones");
    assert_eq!(new.by_task[TaskType::Write.index()], None, "aider says nothing of it");
    assert_eq!((new.source.as_str(), new.date.as_str()), ("aider", "2026-01-01"));

    let few = Board::read("model,pass_rate_1,pass_rate_2\na,1,2\ngpt-4o,3,4\n").unwrap();
    let error = on_scale(&few, &QualityTable::built_in(), "aider", "2026-01-01").unwrap_err();
    assert!(error.to_string().contains("only 1 of its models are known"), "{error}");
}

fn share() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of((1_u32..1000).prop_map(|share| f64::from(share) / 1000.0))
}

proptest! {
    #[test]
    fn rows_survive_being_written(
        models in proptest::collection::btree_map("[a-z]{3}-[a-z]{3}", (share(), proptest::array::uniform13(share())), 1..9),
    ) {
        let written: Vec<Row> = models
            .into_iter()
            .map(|(model, (average, by_task))| Row {
                name: ModelName::parse(&model),
                model,
                effort: None,
                average: average.or(Some(0.5)),
                by_task,
                source: "mine".to_owned(),
                date: "2026-11-01".to_owned(),
            })
            .collect();
        let again = rows(&to_csv(&written).unwrap()).unwrap();
        prop_assert_eq!(again, written);
    }
}
