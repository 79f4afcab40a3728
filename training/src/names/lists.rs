//! Word lists written for Sluice, compiled in.

use std::collections::BTreeSet;

use sluice_security::names::training::Flags;

use crate::data::Provenance;

const FILES: [(&str, &str); 17] = [
    ("first_names.txt", include_str!("../../corpus/names/first_names.txt")),
    ("surnames.txt", include_str!("../../corpus/names/surnames.txt")),
    ("cities.txt", include_str!("../../corpus/names/cities.txt")),
    ("countries.txt", include_str!("../../corpus/names/countries.txt")),
    ("streets.txt", include_str!("../../corpus/names/streets.txt")),
    ("ways.txt", include_str!("../../corpus/names/ways.txt")),
    ("address_words.txt", include_str!("../../corpus/names/address_words.txt")),
    ("organizations.txt", include_str!("../../corpus/names/organizations.txt")),
    ("titles.txt", include_str!("../../corpus/names/titles.txt")),
    ("technical.txt", include_str!("../../corpus/names/technical.txt")),
    ("ordinary_words.txt", include_str!("../../corpus/names/ordinary_words.txt")),
    ("sentences.txt", include_str!("../../corpus/names/sentences.txt")),
    ("chat.txt", include_str!("../../corpus/names/chat.txt")),
    ("records.txt", include_str!("../../corpus/names/records.txt")),
    ("phrases.txt", include_str!("../../corpus/names/phrases.txt")),
    ("plain_phrases.txt", include_str!("../../corpus/names/plain_phrases.txt")),
    ("plain.txt", include_str!("../../corpus/names/plain.txt")),
];

/// What joins the words of names.
const PARTICLES: [&str; 67] = [
    "de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "les", "los",
    "las", "el", "al", "van", "von", "der", "den", "ter", "ten", "te", "zu", "zum", "zur", "am",
    "im", "an", "in", "of", "and", "und", "et", "y", "e", "bin", "bint", "ibn", "ben", "abu", "ap",
    "st", "the", "sur", "sous", "aan", "af", "av", "binte", "binti", "bte", "lo", "ó", "ní", "nic",
    "mac", "mc", "vom", "vander", "vanden", "t", "s", "degli", "dei", "dal",
];

/// What stands before the name of whoever is addressed.
const GREETINGS: [&str; 24] = [
    "hi", "hello", "hey", "dear", "thanks", "bonjour", "salut", "cher", "chère", "hallo", "liebe",
    "lieber", "hola", "querido", "querida", "ciao", "caro", "cara", "olá", "hej", "cześć",
    "merhaba", "regards", "cheers",
];

/// The text of a file.
fn text(name: &str) -> &'static str {
    FILES.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| text)
}

/// The lines of a file of templates.
pub(super) fn templates(name: &str) -> Vec<String> {
    let lines = text(name).lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.replace("\\n", "\n").replace("\\t", "\t")).collect()
}

/// The entries of a word list; those of several words have spaces.
pub(super) fn entries(name: &str) -> Vec<String> {
    let lines = text(name).lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(|entry| entry.replace('_', " ")).collect()
}

/// Well-known organisations, which the last paragraph of their list has.
pub(super) fn brands() -> Vec<String> {
    let brands = text("organizations.txt").rsplit('#').next().unwrap_or_default();
    brands.lines().skip(1).flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// Words of organisations' names that are no legal forms.
pub(super) fn trades() -> Vec<String> {
    let brands = brands();
    let mut trades = entries("organizations.txt");
    trades.retain(|word| word.len() > 4 && word.is_ascii() && !brands.contains(word));
    trades.retain(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    trades
}

/// Every word of the lists with what it says.
pub(super) fn flagged_words() -> Vec<(String, Flags)> {
    let mut words = ordinary_words();
    for (file, flags) in [
        ("first_names.txt", Flags::FIRST),
        ("surnames.txt", Flags::LAST),
        ("cities.txt", Flags::PLACE),
        ("countries.txt", Flags::COUNTRY),
        ("streets.txt", Flags::STREET),
        ("ways.txt", Flags::STREET.with(Flags::WAY)),
        ("address_words.txt", Flags::UNIT),
        ("organizations.txt", Flags::ORGANIZATION),
        ("titles.txt", Flags::TITLE),
        ("technical.txt", Flags::TECHNICAL),
    ] {
        for entry in entries(file) {
            let of_many = entry.contains(' ');
            for word in entry.split(' ').filter(|word| word.len() > 1 && !word.starts_with('-')) {
                if !(of_many && PARTICLES.contains(&word)) {
                    words.push((word.to_owned(), flags));
                }
            }
            if entry.contains('-') || entry.contains('\'') {
                words.push((entry, flags));
            }
        }
    }
    words.extend(GREETINGS.map(|word| (word.to_owned(), Flags::GREETING)));
    words.extend(PARTICLES.map(|word| (word.to_owned(), Flags::PARTICLE)));
    words
}

/// Ordinary words of other languages. Those that are names of people too are seen in lower case
/// sometimes, the others often.
fn ordinary_words() -> Vec<(String, Flags)> {
    let names: BTreeSet<String> =
        ["first_names.txt", "surnames.txt"].into_iter().flat_map(entries).collect();
    let flags = |word: &str| {
        if names.contains(word) { Flags::SEEN } else { Flags::SEEN.with(Flags::COMMON) }
    };
    entries("ordinary_words.txt").into_iter().map(|word| (word.clone(), flags(&word))).collect()
}

/// The files, for the record of the model.
pub(super) fn provenance() -> Vec<Provenance> {
    let of = |(file, text): (&str, &str)| Provenance {
        file: format!("training/corpus/names/{file}"),
        blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
        rows: text.lines().count(),
        sources: vec!["written for Sluice (Apache-2.0)".to_owned()],
    };
    FILES.map(of).to_vec()
}
