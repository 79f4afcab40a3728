//! Names that a column or a phrase tells: whatever stands below `surname`, or behind `my name is`.

use super::gazetteer::Flags;
use super::key::{self, Key};
use super::{MODEL, word};
use crate::kind::Kind;

/// The most words of a person's name, and of one that is introduced.
const PERSON_WORDS: usize = 6;
const INTRODUCED_WORDS: usize = 3;
/// The longest cells.
const LONGEST_NAME: usize = 64;
const LONGEST_ADDRESS: usize = 120;

/// What the cells of a table's column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Names of persons, or parts of them.
    PersonNames,
    /// Persons, or something else.
    Persons,
    Addresses,
}

impl Column {
    /// What a column with this name has, in a table with this header.
    pub(crate) fn of(name: &str, header: &str) -> Option<Self> {
        match key::of_column(name) {
            Key::PersonName => Some(Self::PersonNames),
            // A `name` is a person's where people can be called and have birthdays.
            Key::Name if is_about_people(header) => Some(Self::PersonNames),
            Key::Person | Key::Name => Some(Self::Persons),
            Key::Address => Some(Self::Addresses),
            _ => None,
        }
    }

    /// The kind of `cell`, where it looks like what the column says.
    pub(crate) fn kind(self, cell: &str) -> Option<Kind> {
        match self {
            Self::PersonNames => is_name(cell, false).then_some(Kind::Person),
            Self::Persons => is_name(cell, true).then_some(Kind::Person),
            Self::Addresses => is_address(cell).then_some(Kind::Address),
        }
    }
}

fn is_about_people(header: &str) -> bool {
    const WORDS: [&str; 16] = [
        "mail", "phone", "mobile", "mobil", "tel", "birth", "dob", "geburt", "naiss", "nacim",
        "ssn", "gender", "salary", "iban", "first", "street",
    ];
    let header = header.to_ascii_lowercase();
    WORDS.iter().any(|word| header.contains(word))
}

pub(super) fn flags_of(word: &str) -> Flags {
    let flags = MODEL.gazetteer.look_up(word::hash(word));
    let parts =
        word.split(['-', '\'', '’']).filter(|part| part.len() > 2 && part.len() < word.len());
    parts.fold(flags, |flags, part| {
        let of_part = MODEL.gazetteer.look_up(word::hash(part));
        if of_part.any(Flags::PERSON) {
            flags.with(Flags(of_part.0 & Flags::PERSON.0))
        } else {
            flags
        }
    })
}

/// Whether `cell` is written like a person's name; `known` asks for a known name among its words, or
/// for words that are nothing else.
pub(super) fn is_name(cell: &str, known: bool) -> bool {
    let fits = |c: char| {
        c.is_alphabetic()
            || matches!(c, ' ' | '.' | '\'' | '’' | '-' | ',' | '/' | '\u{300}'..='\u{36f}')
    };
    let letters = cell.chars().filter(|c| c.is_alphabetic()).count();
    if cell.len() > LONGEST_NAME || letters < 2 || !cell.chars().all(fits) {
        return false;
    }
    let (mut words, mut names, mut plain) = (0, 0, 0);
    // `OKAFOR/AMARA`, but not `n/a`.
    if cell.contains('/') && (letters < 6 || cell.contains(' ')) {
        return false;
    }
    for word in cell.split([' ', ',', '/']).filter(|word| !word.is_empty()) {
        words += 1;
        let flags = flags_of(word.trim_end_matches('.'));
        let begins = word.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase());
        if !begins && !flags.any(Flags::PARTICLE) {
            return false;
        }
        names += usize::from(flags.any(Flags::PERSON));
        plain += usize::from(
            flags.any(Flags::ORDINARY.with(Flags::TECHNICAL)) && !flags.any(Flags::PERSON)
                || flags.any(Flags::ORGANIZATION),
        );
    }
    let is_thing = || cell.split(' ').any(super::things::is_thing);
    (1..=PERSON_WORDS).contains(&words)
        && !(known && is_thing())
        && if known { words > 1 && names > 0 && plain == 0 } else { plain < words }
}

/// Whether `cell` is written like an address: a number and a name.
pub(super) fn is_address(cell: &str) -> bool {
    let odd = |c: char| matches!(c, '@' | '_' | '=' | '{' | '<' | '(' | '\\');
    if !(6..=LONGEST_ADDRESS).contains(&cell.len()) || cell.contains(odd) || cell.contains("0x") {
        return false;
    }
    let named = cell.split(' ').any(|word| {
        let mut letters = word.chars().skip_while(|c| !c.is_alphabetic());
        let capital = letters.next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase());
        capital && letters.take(2).filter(|c| c.is_lowercase() || !c.is_ascii()).count() == 2
    });
    named && cell.contains(' ') && cell.bytes().any(|byte| byte.is_ascii_digit())
}

/// The name in front of the thing at `at`: `Amara's iPhone`, `Amaras-iPhone`.
pub(crate) fn owner(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = &text[..at];
    let (name, joined) = match before.strip_suffix("s-").or_else(|| before.strip_suffix("s_")) {
        Some(name) => (name, true),
        None => (before.strip_suffix("'s ").or_else(|| before.strip_suffix("’s "))?, false),
    };
    let from = text.floor_char_boundary(name.len().saturating_sub(LONGEST_NAME));
    let is_letter = |c: char| c.is_alphabetic() || c == '-' && !joined;
    let start = name[from..]
        .rfind(|c| !is_letter(c))
        .map_or(from, |i| from + i + name[from + i..].chars().next().map_or(1, char::len_utf8));
    let word = &name[start..];
    let flags = flags_of(word);
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    let other = Flags::ORDINARY.with(Flags::TECHNICAL);
    let known = flags.any(Flags::PERSON) || capital && !joined;
    (word.len() > 2 && known && !flags.any(other)).then_some((start, start + word.len()))
}

/// The end of the name that begins at `start`, behind words such as `I am`: a given name, and nothing
/// else.
pub(crate) fn mentioned(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let length = rest.find(|c: char| !c.is_alphabetic() && c != '-').unwrap_or(rest.len());
    let flags = flags_of(rest.get(..length.min(LONGEST_NAME))?);
    let other = Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::PLACES).with(Flags::PARTICLE);
    let fits = length > 2 && flags.any(Flags::FIRST) && !flags.any(other);
    fits.then(|| introduced(text, start)).flatten()
}

/// The end of the name that begins at `start`, behind words such as `my name is`.
pub(crate) fn introduced(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = None;
    let mut at = start;
    for words in 0..INTRODUCED_WORDS {
        let limit = text.floor_char_boundary((at + LONGEST_NAME).min(text.len()));
        let rest = text.get(at..limit)?;
        let is_letter = |c: char| c.is_alphabetic() || matches!(c, '\'' | '-' | '’');
        let length = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let word = rest[..length].trim_end_matches(['\'', '-', '’']);
        let flags = flags_of(word);
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let plain = flags.any(Flags::COMMON.with(Flags::TECHNICAL).with(Flags::PARTICLE));
        let goes_on = matches!(bytes.get(at + length), Some(b'.' | b'_' | b'(' | b':' | b'/'))
            && bytes.get(at + length + 1).is_some_and(|b| !b.is_ascii_whitespace());
        let is_name = word.len() >= 2
            && !goes_on
            && if words == 0 {
                flags.any(Flags::PERSON) && (!plain || capital && !flags.any(Flags::TECHNICAL))
            } else {
                flags.any(Flags::PERSON) && !plain || capital && !flags.any(Flags::ORDINARY)
            };
        if !is_name {
            break;
        }
        end = Some(at + word.len());
        if word.len() < length || bytes.get(at + length) != Some(&b' ') {
            break;
        }
        at += length + 1;
    }
    end
}
