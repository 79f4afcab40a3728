use proptest::prelude::*;

use super::*;

/// Real names with what a person takes them for, from the leaderboards, the price list and
/// configurations. `-` is for those that must not be recognised: most of them look like a better
/// known model.
const NAMES: &str = include_str!("names.tsv");

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().map(|row| row.split_once('\t').unwrap())
}

/// `gpt-5 +high`: the key, then what else the name says.
fn described(name: &str) -> String {
    let Some(name) = ModelName::parse(name) else { return "-".to_owned() };
    let effort = name.effort().map(|effort| format!(" +{}", effort.as_str())).unwrap_or_default();
    let quantised = if name.is_quantised() { " +quantised" } else { "" };
    format!("{}{effort}{quantised}", name.key())
}

#[test]
fn names_are_taken_for_what_they_are() {
    let wrong: Vec<String> = rows()
        .filter(|(name, expected)| described(name) != *expected)
        .map(|(name, expected)| format!("{name}: {expected} expected, not {}", described(name)))
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_large_enough_to_mean_something() {
    assert!(rows().count() >= 350);
    assert!(rows().filter(|(_, expected)| *expected == "-").count() >= 60);
}

#[test]
fn a_key_is_a_name_of_its_model() {
    for (name, _) in rows() {
        let Some(of_name) = ModelName::parse(name) else { continue };
        let key = of_name.key();
        let of_key = ModelName::parse(&key).unwrap_or_else(|| panic!("{key}, of {name}"));
        assert_eq!(of_key.key(), key, "of {name}");
        assert_eq!(of_key.family(), of_name.family(), "of {name}");
        assert_eq!(of_key.version(), of_name.version(), "of {name}");
    }
}

#[test]
fn case_and_what_stands_in_front_do_not_matter() {
    for (name, _) in rows() {
        let expected = ModelName::parse(name);
        assert_eq!(ModelName::parse(&name.to_uppercase()), expected, "{name}");
        assert_eq!(ModelName::parse(&format!("openrouter/acme/{name}")), expected, "{name}");
        assert_eq!(ModelName::parse(&format!(" {name} ")), expected, "{name}");
    }
}

#[test]
fn versions_and_sizes_can_be_compared() {
    let version = |name| ModelName::parse(name).unwrap().version().unwrap();
    assert!(version("claude-3-opus") < version("claude-opus-4-1"));
    assert!(version("grok-4") < version("grok-4.20-reasoning"));
    assert!(version("grok-4.20-reasoning") < version("grok-4.3"));
    assert!(version("mistral-large-2411") < version("mistral-large-3"));
    let size = |name| ModelName::parse(name).unwrap().size_billions();
    assert_eq!(size("qwen3-30b-a3b"), Some(30.0));
    assert_eq!(size("qwen2p5-0p5b"), Some(0.5));
    assert_eq!(size("gpt-5-mini"), None);
    assert!((45.0..48.0).contains(&size("mixtral-8x7b").unwrap()));
}

#[test]
fn the_snapshot_is_kept() {
    let snapshot = |name| ModelName::parse(name).unwrap().snapshot();
    assert_eq!(snapshot("gpt-5-2025-08-07"), Some(20_250_807));
    assert_eq!(snapshot("claude-sonnet-4-5@20250929"), Some(20_250_929));
    assert_eq!(snapshot("DeepSeek V3 (0324)"), Some(324));
    assert_eq!(snapshot("deepseek-v3"), None);
}

/// Pieces of names in any order, which get further than random text does.
fn pieces() -> impl Strategy<Value = String> {
    let words: Vec<&str> = rows()
        .flat_map(|(name, _)| name.split_inclusive(|c: char| !c.is_ascii_alphanumeric()))
        .collect();
    prop::collection::vec(prop::sample::select(words), 0..8).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(name in any::<String>()) {
        let _ = ModelName::parse(&name);
    }

    #[test]
    fn what_looks_like_a_name_is_read_without_a_panic(name in "[a-z0-9.:/ @_+-]{0,40}") {
        let _ = ModelName::parse(&name);
    }

    #[test]
    fn a_key_of_anything_is_a_name_of_it(name in pieces()) {
        if let Some(name) = ModelName::parse(&name) {
            let of_key = ModelName::parse(&name.key());
            prop_assert_eq!(of_key.map(|of_key| of_key.key()), Some(name.key()));
        }
    }
}
