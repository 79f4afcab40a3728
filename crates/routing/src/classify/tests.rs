use proptest::prelude::*;
use sluice_core::json::JsonText;

use super::features::Features;
use super::model::Model;
use super::text::Turn;
use super::*;

fn judged(text: &str) -> Judgement {
    judge_turn(&Turn::of_text(&JsonText::plain(text.to_owned())), 0.0)
}

fn is_sound(judgement: &Judgement) -> bool {
    let sum: f32 = judgement.probabilities.iter().sum();
    (sum - 1.0).abs() < 1e-4
        && judgement.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
        && (0.0..=1.0).contains(&judgement.complexity)
}

#[test]
fn the_artefact_is_sound_and_small() {
    let bytes = include_bytes!("../../models/task.bin");
    let model = Model::parse(bytes).unwrap();
    assert_eq!(model.to_bytes(), bytes);
    assert!(bytes.len() <= 1_500_000);
    assert!(Model::parse(&bytes[1..]).is_none());
    assert!(Model::parse(&bytes[..bytes.len() - 1]).is_none());
    let blend = model.blend;
    let factors =
        [blend.exam_gain, blend.exam_length, blend.math_length, blend.field_length, blend.field];
    assert!(factors.iter().all(|factor| *factor >= 0.0));
}

#[test]
fn plain_prompts_are_told_apart() {
    let prompts = [
        ("write a python function that merges overlapping date ranges", TaskType::Code),
        ("refactor this class so that it uses composition, same behaviour", TaskType::Edit),
        ("why does this crash with a NullPointerException after the upgrade?", TaskType::Debug),
        ("write unit tests for the parser, pytest, edge cases too", TaskType::Test),
        ("please review my pull request, is anything wrong with it?", TaskType::Review),
        ("write a README section on installation and usage", TaskType::Document),
        ("plan the migration from the monolith, phases and risks, 6 months", TaskType::Plan),
        ("explain the difference between a mutex and a semaphore", TaskType::Explain),
        ("how do i restart nginx on ubuntu with systemctl", TaskType::Ops),
        ("what is the probability of two sixes with three dice", TaskType::Math),
        ("how long do cooked beans keep in the fridge", TaskType::Knowledge),
        ("write a poem about autumn for my grandmother's birthday", TaskType::Write),
        ("translate into French: the meeting is moved to Monday", TaskType::Transform),
    ];
    for (prompt, task) in prompts {
        assert_eq!(judged(prompt).task(), task, "{prompt}");
    }
}

#[test]
fn hard_prompts_are_more_complex_than_easy_ones_of_the_same_length() {
    let pairs = [
        (
            "design a lock-free MPMC queue with hazard pointers and prove it linearizable",
            "write a hello world program in python that prints my own name two times over",
        ),
        (
            "consensus under byzantine faults with reconfiguration, prove safety",
            "rename the variable foo to bar in this one line, nothing else pls",
        ),
    ];
    for (hard, easy) in pairs {
        assert!(judged(hard).complexity > judged(easy).complexity + 0.2, "{hard}");
    }
}

#[test]
fn a_language_that_was_never_seen_is_judged_with_little_certainty() {
    let texts = [
        "Tafadhali nisaidie kuelewa jinsi mfumo huu unavyofanya kazi kila siku",
        "Voisitko auttaa minua tämän asian kanssa huomenna aamulla",
        "გთხოვთ დამეხმაროთ ამ საკითხში",
    ];
    for text in texts {
        let judgement = judged(text);
        assert!(judgement.certainty() < 0.85, "{text}: {judgement:?}");
        assert!((0.1..0.9).contains(&judgement.complexity), "{text}: {judgement:?}");
    }
}

#[test]
fn the_same_text_as_received_and_as_meant_gives_the_same_features() {
    let text =
        "why does this fail?\n\n\tat \"Foo.bar\" <x> 😀 ñ → \\d+ ```js\nlet a = 1;\n``` thanks";
    let literal = serde_json::to_string(text).unwrap();
    let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let plain = Turn::of_text(&JsonText::plain(text));
    for literal in [literal, format!("\"{}\"", escaped.replace("\\u0060", "`"))] {
        let turn = Turn::of_text(&JsonText::trusted_literal(literal.into()));
        assert_eq!(turn.text(), plain.text());
        assert_eq!(turn.fences, 1);
    }
    assert!(!plain.text().contains("let a"));
}

#[test]
fn a_megabyte_is_judged_by_its_head_and_its_tail() {
    let middle = "lorem ipsum dolor ".repeat(60_000);
    let text = format!("fix the crash in the parser\n{middle}\nTypeError: undefined at the end");
    let turn = Turn::of_text(&JsonText::plain(text));
    assert!(turn.text().len() <= 4096);
    assert!(turn.text().starts_with("fix the crash"));
    assert!(turn.text().ends_with("undefined at the end"));
}

#[test]
fn features_are_bounded() {
    let text: String = (0..4000).map(|i| format!("a{i} ")).collect();
    let features = Features::of(&Turn::of_text(&JsonText::plain(text)));
    assert!(!features.words.is_empty() && !features.dense.is_empty());
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "\\PC{0,400}") {
        prop_assert!(is_sound(&judged(&text)));
    }

    #[test]
    fn any_mix_of_marks_is_judged(parts in prop::collection::vec(
        prop::sample::select(vec![
            "```", "<system-reminder>", "</system-reminder>", "<environment_details", "\n", "?",
            "→", "日本", "क", "\u{0}", "```js\n", "- ", "Error: ", " fix ", "</", "<", "`", "😀",
        ]), 0..200)) {
        prop_assert!(is_sound(&judged(&parts.concat())));
    }

    #[test]
    fn any_escape_is_decoded(units in prop::collection::vec(any::<u16>(), 0..3000)) {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
        let text = JsonText::trusted_literal(format!("\"{escaped}\"").into());
        prop_assert!(is_sound(&judge_turn(&Turn::of_text(&text), 0.0)));
    }

    #[test]
    fn more_around_a_turn_is_never_less_complexity(weight in 0.0_f32..3.0) {
        let turn = Turn::of_text(&JsonText::plain("rename x to y"));
        prop_assert!(judge_turn(&turn, weight).complexity >= judge_turn(&turn, 0.0).complexity);
    }
}
