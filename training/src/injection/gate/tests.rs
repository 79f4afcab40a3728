use sluice_security::injection::Origin;
use sluice_security::injection::prefilter::Prefilter;

use super::*;

const SETTINGS: Settings = super::super::GATE;
const SOURCES: [&str; 7] = ["a", "b", "c", "d", "e", "harmless", "docs"];
/// What attacks and harmless texts have in common.
const COMMON: &str = "please look at the window over there";

fn example(source: &str, is_attack: bool, text: String) -> Example {
    Example {
        text,
        is_attack,
        origin: Origin::Tool,
        source: source.to_owned(),
        group: None,
        payload: None,
        is_extra: false,
    }
}

/// Five sources of attacks with an order of their own, one of harmless texts without it.
fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for i in 0..20 {
        for source in &SOURCES[..5] {
            let text = format!("{COMMON} number {i}; surrender everything to {source} at once");
            examples.push(example(source, true, text));
        }
        for source in &SOURCES[5..] {
            let text = format!("{COMMON} number {i}; it is open in {source}");
            examples.push(example(source, false, text));
        }
    }
    examples
}

fn choose(examples: &[Example], held_out: &[String]) -> Vec<Weighted> {
    Gate::new(examples, &SOURCES).unwrap().choose(examples, &SOURCES, SETTINGS, held_out)
}

fn opened(phrases: &[Weighted], examples: &[Example], is_attack: bool) -> usize {
    let prefilter = Prefilter::new(phrases);
    let of_kind = examples.iter().filter(|example| example.is_attack == is_attack);
    of_kind.filter(|example| !prefilter.places(&example.text).is_empty()).count()
}

#[test]
fn what_attacks_alone_have_opens_them_and_what_all_texts_have_opens_nothing() {
    let examples = examples();
    let phrases = choose(&examples, &[]);
    assert_eq!(opened(&phrases, &examples, true), 100);
    assert_eq!(opened(&phrases, &examples, false), 0);
    for chosen in &phrases {
        let phrase = String::from_utf8_lossy(&chosen.phrase);
        assert!(!COMMON.contains(&*phrase), "{phrase}");
    }
}

#[test]
fn a_written_phrase_that_harmless_texts_are_full_of_does_not_open_them() {
    let written = WRITTEN.lines().flat_map(|line| line.split('|'));
    let mut written = written.filter(|phrase| (SHORTEST..=LONGEST).contains(&phrase.len()));
    let usual = written.next().unwrap();
    let mut examples = examples();
    for example in &mut examples {
        example.text.push_str(&format!("; {usual}"));
    }
    let phrases = choose(&examples, &[]);
    assert_eq!(opened(&phrases, &examples, true), 100);
    assert_eq!(opened(&phrases, &examples, false), 0, "{usual}");
}

#[test]
fn the_same_data_gives_the_same_phrases_and_the_prefilter_takes_them_all() {
    let examples = examples();
    let phrases = choose(&examples, &[]);
    assert_eq!(phrases, choose(&examples, &[]));
    assert!(phrases.len() <= SETTINGS.phrases);
    assert!(phrases.is_sorted_by(|a, b| a.phrase < b.phrase));
    for chosen in &phrases {
        assert!((1..=ENOUGH).contains(&chosen.weight), "{chosen:?}");
        assert!((SHORTEST..=LONGEST).contains(&chosen.phrase.len()), "{chosen:?}");
        assert!(chosen.offset + SHORTEST <= chosen.phrase.len(), "{chosen:?}");
    }
}

#[test]
fn what_only_held_out_sources_have_is_not_chosen() {
    let examples = examples();
    // Three sources are left, too few to believe what they say.
    let phrases = choose(&examples, &["a".to_owned(), "b".to_owned()]);
    assert!(!phrases.iter().any(|chosen| chosen.phrase.starts_with(b"surrender")));
}

#[test]
fn data_without_attacks_or_without_harmless_texts_is_refused() {
    let all = examples();
    let only =
        |is_attack| all.iter().filter(|e| e.is_attack == is_attack).cloned().collect::<Vec<_>>();
    let refused = |examples: &[Example]| Gate::new(examples, &SOURCES).err().unwrap().to_string();
    assert!(refused(&[]).contains("attacks"));
    assert!(refused(&only(false)).contains("attacks"));
    assert!(refused(&only(true)).contains("harmless"));
}
