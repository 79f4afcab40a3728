//! Names that an e-mail address repeats: `tonu poldmae` beside `poldmae60@web.de`.
//!
//! Whoever writes down an address writes down whose it is, in whatever form: a tuple, a log, a list of
//! authors. What stands beside it and is spelled in it needs no other sign.

use super::gazetteer::Flags;
use super::{accept, told, word};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far from an address its name may be.
const NEAR: usize = 96;
/// Shorter words are in any address.
const FEWEST: usize = 4;
/// The most words of a name beside the one that the address repeats.
const MOST_BESIDE: usize = 3;

/// Pushes the names around the address from `start` to `end` that it repeats. Returns how many bytes
/// were read.
pub(super) fn find(text: &str, (start, end): (usize, usize), out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let Some(at) = memchr::memchr(b'@', &bytes[start..end]).filter(|at| *at >= FEWEST) else {
        return 0;
    };
    let (from, to) = around(text, start, end);
    let (mut local, mut read) = (None, 0);
    for (from, to) in [(from, start), (end, to)] {
        read += to - from;
        let mut at_word = from;
        while let Some((word_start, word_end)) = next_word(text, at_word, to) {
            at_word = word_end;
            let word = &text[word_start..word_end];
            if !begins_alike(&bytes[start..start + at], word.as_bytes()) {
                continue;
            }
            let local = local.get_or_insert_with(|| word::folded(&text[start..start + at]));
            if repeats(local, word)
                && let Some((start, end)) =
                    whole_name(text, (word_start, word_end), (from, to), local)
            {
                out.push(Finding { start, end, kind: Kind::Person, rule: "of_address" });
                at_word = end;
            }
        }
    }
    read
}

/// What is read around an address: its line, and two lines before where the address has a label.
fn around(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let before = &bytes[start.saturating_sub(NEAR)..start];
    let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let label = before[line..].trim_ascii_end();
    let is_labelled = matches!(label, [.., b':' | b'=' | b'<' | b'"' | b'\'' | b'>'])
        && !label.iter().any(|byte| matches!(byte, b',' | b';' | b'|' | b'\t'))
        && label.iter().any(u8::is_ascii_alphabetic);
    let above = |line: usize| {
        let end = line.saturating_sub(1);
        memchr::memrchr(b'\n', &before[..end]).map_or(0, |at| at + 1)
    };
    let from = if is_labelled { above(above(line)) } else { line };
    let behind = &bytes[end..bytes.len().min(end + NEAR)];
    let to = memchr::memchr(b'\n', behind).unwrap_or(behind.len());
    let (from, to) = (start - before.len() + from, end + to);
    (word::behind_cut(text, from, start), word::before_cut(text, end, to))
}

/// Whether the first letters of the word are in the address: a cheap look.
fn begins_alike(local: &[u8], word: &[u8]) -> bool {
    let Some(head) = word.first_chunk::<3>().filter(|head| head.is_ascii()) else {
        return word.len() >= FEWEST;
    };
    word.len() >= FEWEST && local.windows(3).any(|here| here.eq_ignore_ascii_case(head))
}

/// The next word from `at` on that is no part of an identifier, an address or a path.
fn next_word(text: &str, mut at: usize, to: usize) -> Option<(usize, usize)> {
    while at < to {
        let rest = &text[at..to];
        let start = at + rest.find(char::is_alphabetic)?;
        let rest = &text[start..to];
        let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let end = start + rest[..length].trim_end_matches(['-', '\'', '’']).len();
        at = start + length;
        if is_free(text, start, end) {
            return Some((start, end));
        }
    }
    None
}

fn is_of_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '\u{300}'..='\u{36f}')
}

/// Whether nothing joins the word to an identifier, an address or a path.
fn is_free(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).map_or(b' ', |i| bytes[i]);
    let behind = bytes.get(end).copied().unwrap_or(b' ');
    let next = bytes.get(end + 1).copied().unwrap_or(b' ');
    let ends = match behind {
        b'.' | b':' | b'-' => !next.is_ascii_alphanumeric() && next != b'/',
        b'@' | b'_' | b'/' | b'=' | b'0'..=b'9' | b'(' | b'$' => false,
        _ => true,
    };
    ends && !matches!(before, b'@' | b'_' | b'.' | b'$' | b'-' | b'0'..=b'9')
        && (before != b'/' || bytes[..start].ends_with(b" /"))
}

/// Whether the address spells the word, which may mean nothing else.
fn repeats(local: &str, word: &str) -> bool {
    let flags = told::flags_of(word);
    let is_name = flags.any(Flags::PERSON);
    let other = flags.any(Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::ORGANIZATION));
    if word.len() < FEWEST || other && !is_name || flags.any(Flags::COMMON.with(Flags::TITLE)) {
        return false;
    }
    let spelled = |word: &str| word.len() >= FEWEST && local.contains(word);
    let folded = word::folded(word);
    spelled(&folded)
        || !word.is_ascii() && spelled(&word::folded(&in_two_letters(word)))
        || folded.contains('-') && spelled(&folded.replace('-', ""))
}

/// `Müller` as `Mueller`.
fn in_two_letters(word: &str) -> String {
    let lower = word.to_lowercase();
    lower
        .replace('ä', "ae")
        .replace('ö', "oe")
        .replace('ü', "ue")
        .replace('ø', "oe")
        .replace('å', "aa")
}

/// The name around a word that the address repeats; `None` where nothing says that it is one.
fn whole_name(
    text: &str,
    (mut start, mut end): (usize, usize),
    (from, to): (usize, usize),
    local: &str,
) -> Option<(usize, usize)> {
    let word = &text[start..end];
    let is_capital = word.chars().next().is_some_and(char::is_uppercase);
    let mut known = usize::from(told::flags_of(word).any(Flags::PERSON));
    let mut spelled = 1;
    let mut belongs = |word: &str| {
        let flags = told::flags_of(word);
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let repeated = repeats(local, word);
        let plain = flags.any(Flags::ORDINARY.with(Flags::TECHNICAL));
        let fits = if is_capital {
            capital && (!plain || flags.any(Flags::PERSON)) && !flags.any(Flags::TITLE)
        } else {
            !capital && flags.any(Flags::PERSON) && !flags.any(Flags::COMMON)
        };
        known += usize::from(fits && flags.any(Flags::PERSON));
        spelled += usize::from(repeated);
        fits || repeated && capital == is_capital
    };
    for _ in 0..MOST_BESIDE {
        let Some((from, _)) =
            word_before(text, start, from).filter(|(a, b)| belongs(&text[*a..*b]))
        else {
            break;
        };
        start = from;
    }
    for _ in 0..MOST_BESIDE {
        let next = text[end..to].strip_prefix(' ').and_then(|_| next_word(text, end + 1, to));
        let next = next.filter(|(a, b)| *a == end + 1 && belongs(&text[*a..*b]));
        let Some((_, behind)) = next else { break };
        end = behind;
    }
    // `kubeflux-alerts` is no person's.
    if known == 0 && has_plain_part(local) {
        return None;
    }
    let is_told = known > 0
        || spelled > 1
        || is_capital && (text[start..end].contains(' ') || is_part(local, &word::folded(word)));
    (is_told && !accept::credits(text, start, end)).then_some((start, end))
}

/// Whether the word is one of those that an address of several is made of.
fn is_part(local: &str, word: &str) -> bool {
    let mut parts = local.split(['.', '_', '-']);
    let is_it = |part: &str| part.trim_end_matches(|c: char| c.is_ascii_digit()) == word;
    local.contains(['.', '_', '-']) && parts.any(is_it)
}

/// Whether one of the words of the address means something else than a name.
fn has_plain_part(local: &str) -> bool {
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    local.split(|c: char| !c.is_alphabetic()).filter(|part| part.len() >= FEWEST).any(|part| {
        let of = |word: &str| {
            let flags = told::flags_of(word);
            flags.any(plain) && !flags.any(Flags::PERSON)
        };
        of(part) || part.strip_suffix('s').is_some_and(of)
    })
}

/// The word before the space in front of `at`.
fn word_before(text: &str, at: usize, from: usize) -> Option<(usize, usize)> {
    let before = text[from..at].strip_suffix(' ')?;
    let end = from + before.len();
    let start = before.char_indices().rev().take_while(|(_, c)| is_of_word(*c)).last()?.0 + from;
    is_free(text, start, end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let at = text.find('@').unwrap();
        let is_mark = |c: char| matches!(c, ' ' | '"' | '<' | '>' | '\'' | '(' | ')' | '=' | ',');
        let start = text[..at].rfind(is_mark).map_or(0, |i| i + 1);
        let end = text[at..].find(is_mark).map_or(text.len(), |i| at + i);
        let mut out = Vec::new();
        find(text, (start, end), &mut out);
        out.iter().map(|finding| &text[finding.range()]).collect()
    }

    #[test]
    fn an_address_repeats_its_name() {
        for (text, name) in [
            ("users = [(\"maarja rebane\", \"maarja_rebane47@uol.com.br\")]", "maarja rebane"),
            ("row is id 88 name darcy papadakis mail dpapadakis@gmx.de and", "darcy papadakis"),
            ("    Reported-by: Gordon Tremblay <tremblay40@web.de>", "Gordon Tremblay"),
            ("Hrafnhildur Müller-Lüdke (mueller-luedke@web.de)", "Hrafnhildur Müller-Lüdke"),
            ("user=\"Vreni Gschwend\" mail=vreni_gschwend92@orange.fr", "Vreni Gschwend"),
        ] {
            assert_eq!(found(text), [name], "{text}");
        }
        for text in [
            "write to the support team: support@kestrel.example",
            "git clone git@github.com:acme/billing-service",
            "Copyright (c) 2019 Gordon Tremblay <tremblay40@web.de>",
            "login tremblay40 mail tremblay40@web.de",
            "Sluice (sluice@acme.example) is out",
            "the billing address is billing@acme.example, the office writes",
            "Kubeflux Alerts <kubeflux-alerts@acme.example>",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
    #[test]
    fn the_rest_of_a_word_is_no_name() {
        let blanks = " ".repeat(NEAR - "anna".len());
        assert_eq!(found(&format!("anna{blanks}anna.meier@web.de")), ["anna"]);
        assert_eq!(found(&format!("zwanna{blanks}anna.meier@web.de")), [""; 0]);
    }
}
