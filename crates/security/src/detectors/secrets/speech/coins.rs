//! Private keys of wallets: what stands around them, or how they begin, says what they are.

use super::super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;

/// The shortest of them.
pub(in super::super) const SHORTEST: usize = 51;
/// How far before a key it may be said whose it is.
const BEFORE: usize = 48;

/// Looks at the long word `start..end`.
pub(in super::super) fn key(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    let word = &text.as_bytes()[start..end];
    let is_key = match word {
        [b'x' | b'y' | b'z' | b't', b'p', b'r', b'v', ..] => {
            (107..=112).contains(&word.len()) && word.iter().all(is_base58)
        }
        [b'n', b's', b'e', b'c', b'1', ..] => {
            word.len() == 63 && word.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        }
        [b'0', b'x', hex @ ..] => {
            // `private` alone is a word of programs.
            const SAID: &[&[u8]] = &[
                b"private key",
                b"private_key",
                b"private-key",
                b"privatekey",
                b"privkey",
                b"accounts",
                b"wallet(",
            ];
            hex.len() == 64
                && hex.iter().all(u8::is_ascii_hexdigit)
                && is_said(text, start, SAID)
                && Shape::of(&text[start + 2..end]).is_random()
        }
        [b'5' | b'K' | b'L' | b'c' | b'9', ..] => {
            const SAID: &[&[u8]] =
                &[b"wif", b"private key", b"private_key", b"privatekey", b"privkey", b"wallet"];
            word.len() <= 52
                && word.iter().all(is_base58)
                && is_said(text, start, SAID)
                && Shape::of(&text[start..end]).is_random()
        }
        _ => false,
    };
    if is_key {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "wallet_key" });
    }
    is_key
}

/// The letters and digits that are not mistaken for each other.
fn is_base58(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'O' | b'I' | b'l')
}

fn is_said(text: &str, start: usize, words: &[&[u8]]) -> bool {
    let before = text.as_bytes()[start.saturating_sub(BEFORE)..start].to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&before, word).is_some();
    words.iter().any(|word| has(word)) && !has(b"hash") && !has(b"public")
}
