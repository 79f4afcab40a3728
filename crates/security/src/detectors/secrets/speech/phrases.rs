//! The words that a wallet is made from, behind "seed phrase" or "mnemonic".

use super::Looked;
use crate::finding::Finding;
use crate::kind::Kind;

/// How many words there are.
const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
/// How far the first of them may be away.
const GAP: usize = 96;
/// How far they are read.
const LONGEST: usize = 420;

/// Words that nearly all sentences have and no wallet's list (BIP-39, English). Sorted.
#[rustfmt::skip]
const OF_SENTENCES: &[&str] = &[
    "and", "are", "but", "does", "don", "for", "from", "get", "has", "how", "its", "let", "may",
    "new", "not", "our", "should", "store", "the", "their", "them", "these", "was", "were",
    "which", "who", "with", "would", "your",
];

/// Looks behind `start..end`, which is a word for such words.
pub(super) fn words(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    let bytes = text.as_bytes();
    if bytes[start] == b'p' {
        // "pass" and other phrases.
        let before = text[..start].trim_end_matches([' ', '_', '-']);
        let tail = &before.as_bytes()[before.len().saturating_sub(8)..].to_ascii_lowercase();
        let is_wallets = [&b"seed"[..], b"recovery", b"secret", b"mnemonic", b"backup", b"wallet"]
            .iter()
            .any(|word| tail.ends_with(word));
        if !is_wallets {
            return Looked { cost: 24, until: 0 };
        }
    }
    // The words begin behind a sign that says so: a colon, a quote, a line.
    let limit = bytes.len().min(end + GAP);
    let mut at = end;
    while at < limit {
        let is_sign =
            matches!(bytes[at], b':' | b'"' | b'\'' | b'`' | b'=' | b'\n' | b'>' | 0x80..);
        let is_verb = bytes[at..].starts_with(b" is ") || bytes[at..].starts_with(b" are ");
        if is_sign || is_verb {
            let from = if is_verb { at + 3 } else { at + 1 };
            if let Some((from, to)) = row(bytes, from) {
                out.push(Finding { start: from, end: to, kind: Kind::Secret, rule: "speech" });
                return Looked { cost: 64, until: to };
            }
        }
        at += 1;
    }
    Looked { cost: 640, until: 0 }
}

/// As many words in a row as a wallet has, at `at` or behind blanks and the like.
fn row(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let limit = bytes.len().min(at + LONGEST);
    let mut at = at;
    let (mut start, mut end, mut count) = (0, 0, 0);
    loop {
        let from = at;
        // Numbers of a list stand between as well.
        while at < limit && at - from < 12 && is_between(bytes, at) {
            at += 1;
        }
        let rest = &bytes[at..limit];
        let length = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
        let word = &rest[..length];
        let is_word = (3..=8).contains(&length)
            && std::str::from_utf8(word)
                .is_ok_and(|word| OF_SENTENCES.binary_search(&word).is_err())
            && !rest
                .get(length)
                .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'(');
        let is_next = is_word && (count == 0 || at > from);
        if !is_next || count == 24 {
            break;
        }
        if count == 0 {
            start = at;
        }
        at += length;
        end = at;
        count += 1;
        // A quote or the end of a sentence ends the words.
        if matches!(bytes.get(at), Some(b'"' | b'\'' | b'`' | b'.' | b';' | b')')) {
            break;
        }
    }
    // Lists of instructions have shorter words than wallets.
    let letters = bytes[start.min(end)..end].iter().filter(|b| b.is_ascii_alphabetic()).count();
    (COUNTS.contains(&count) && 2 * letters >= 9 * count).then_some((start, end))
}

fn is_between(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b' ' | b'\n' | b'\r' | b'\t' | b',' | b'"' | b'\'' | b'`' | b':' | b'-' | b'*' | b'>'
        | b'[' => true,
        b'0'..=b'9' => true,
        b'.' | b')' => at > 0 && bytes[at - 1].is_ascii_digit(),
        b'\\' => bytes.get(at + 1) == Some(&b'n'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        let mut sorted = OF_SENTENCES.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, OF_SENTENCES);
    }
}
