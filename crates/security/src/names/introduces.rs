//! Names in front of what is somebody's, in whatever case: `call gráinne on +353 …`, `imogen whitaker, dob …`.

use super::gazetteer::Flags;
use super::{told, word};

/// How far in front of a value its name may begin.
const REACH: usize = 64;
/// The most words of a name, and of those between it and the value.
const MOST: usize = 3;
const MOST_BETWEEN: usize = 3;

/// What may stand between a name and its number.
const BETWEEN: [&str; 40] = [
    "on", "at", "under", "via", "tel", "phone", "mobile", "cell", "number", "nr", "no", "dob",
    "born", "birth", "date", "of", "d", "o", "b", "email", "mail", "e-mail", "ssn", "nino", "id",
    "mac", "is", "tél", "telefon", "handy", "auf", "unter", "geb", "geboren", "nacido", "nacida",
    "né", "née", "le", "iphone",
];

/// The place of the name in front of the value at `at`.
pub(super) fn before(text: &str, at: usize) -> Option<(usize, usize)> {
    // The cells of a table are read elsewhere.
    if !matches!(text.as_bytes()[..at], [.., b' ' | b'(' | b':' | b'=']) {
        return None;
    }
    let from = word::behind_cut(text, at.saturating_sub(REACH), at);
    let mut rest = &text[from..at];
    for i in 0..=MOST_BETWEEN {
        let trimmed = rest.trim_end_matches([' ', ':', ',', '(', '-', '–', '.', '+', '#', '=']);
        let blank = &rest[trimmed.len()..];
        let (start, word) = last_word(trimmed)?;
        if blank.is_empty() {
            return None;
        }
        if i < MOST_BETWEEN && BETWEEN.iter().any(|between| between.eq_ignore_ascii_case(word)) {
            rest = &trimmed[..start];
            continue;
        }
        return name(trimmed).map(|(start, end)| (from + start, from + end));
    }
    None
}

fn last_word(text: &str) -> Option<(usize, &str)> {
    let is_of_word = |c: char| c.is_alphabetic() || matches!(c, '-' | '\'' | '’');
    let start = text.char_indices().rev().take_while(|(_, c)| is_of_word(*c)).last()?.0;
    let free = text[..start]
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric() && !"_@./\\".contains(c));
    free.then(|| (start, &text[start..]))
}

/// The name that `text` ends with.
fn name(text: &str) -> Option<(usize, usize)> {
    let end = text.len();
    let mut start = end;
    let (mut given, mut words) = (false, 0);
    let mut rest = text;
    while words < MOST {
        let Some((at, word)) = last_word(rest) else { break };
        let flags = told::flags_of(word);
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let plain = Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::TITLE).with(Flags::GREETING);
        let known = flags.any(Flags::PERSON) && !flags.any(plain) && !flags.any(Flags::PARTICLE);
        let unknown = capital && words == 0 && flags == Flags::default() && word.len() > 2;
        if !(known || unknown) || word.len() < 3 {
            break;
        }
        given = known && flags.any(Flags::FIRST) && !flags.any(Flags::PLACES);
        (start, words) = (at, words + 1);
        let Some(before) = rest[..at].strip_suffix(' ') else { break };
        rest = before;
    }
    // The given name comes first; alone it must be nothing else.
    given.then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_somebodys_has_a_name_in_front() {
        for (text, name) in [
            ("if not reachable call gráinne on ", Some("gráinne")),
            ("nhs no 620 987 6897, imogen whitaker, dob ", Some("imogen whitaker")),
            ("rsvp to bohumil ", Some("bohumil")),
            ("my dad elijah kowalczyk (dob ", Some("elijah kowalczyk")),
            ("the order was placed on ", None),
            ("see user.name at ", None),
        ] {
            let found = before(text, text.len()).map(|(start, end)| &text[start..end]);
            assert_eq!(found, name, "{text}");
        }
    }
    #[test]
    fn the_rest_of_a_word_is_no_name() {
        let blanks = " ".repeat(REACH - "anna".len() - "on ".len());
        let name = |word: &str| {
            let text = format!("{word}{blanks}on ");
            before(&text, text.len()).map(|(start, end)| text[start..end].to_owned())
        };
        assert_eq!(name("anna").as_deref(), Some("anna"));
        assert_eq!(name("zwanna"), None);
    }
}
