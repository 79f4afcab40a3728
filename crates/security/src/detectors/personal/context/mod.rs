//! The words around a number: what they say it is.
//!
//! Words are read as people and programs write them: `phone number`, `phone_number`,
//! `customerPhone`, `\nPhone:` inside a string. A word stands for one or more topics; the nearest
//! word that stands for anything has the most to say.

mod topics;
mod words;

use self::topics::LONGEST_WORD;
pub(super) use self::topics::*;

/// What the words beside a place speak of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The topics of all words that were read.
    pub(super) all: Topics,
    /// The topics of the nearest word that has any but [`NUMBER`].
    pub(super) nearest: Topics,
}

impl Context {
    fn add(&mut self, topics: Topics) {
        self.all |= topics;
        if self.nearest == 0 {
            self.nearest = topics & !NUMBER;
        }
    }

    /// Whether the nearest word speaks of one of `topics`.
    pub(super) fn is(self, topics: Topics) -> bool {
        self.nearest & topics != 0
    }

    /// Whether any word speaks of one of `topics`.
    pub(super) fn has(self, topics: Topics) -> bool {
        self.all & topics != 0
    }
}

/// What the words in the `reach` bytes before `at` speak of.
///
/// The look ends at a line's start, once a word was read, and at other numbers: a number's words
/// stand beside it.
pub(super) fn before(bytes: &[u8], at: usize, reach: usize) -> Context {
    let floor = at.saturating_sub(reach);
    let mut context = Context::default();
    // Lists of numbers have no words.
    if !has_letters_before(bytes, at, reach) {
        return context;
    }
    let mut words = 0;
    let (mut digits, mut groups) = (0, 0);
    let mut i = at;
    // A label may stand on the line above, with its colon at the line's end.
    let mut line_above = false;
    while i > floor {
        let byte = bytes[i - 1];
        if is_letter(byte) {
            if line_above {
                break;
            }
            let end = i;
            while i > floor && is_letter(bytes[i - 1]) {
                i -= 1;
                let hump = bytes[i].is_ascii_uppercase() && i + 1 < end;
                if hump && bytes[i + 1].is_ascii_lowercase() {
                    break;
                }
            }
            let escape = i > 0 && bytes[i - 1] == b'\\' && matches!(bytes[i], b'n' | b't' | b'r');
            let start = if escape { i + 1 } else { i };
            if start < end {
                words += 1;
                digits = 0;
                context.add(topics(&bytes[start..end]));
            }
            if escape && words > 0 {
                break;
            }
            continue;
        }
        i -= 1;
        if byte.is_ascii_digit() {
            digits += 1;
            groups += usize::from(!byte_before(bytes, i).is_ascii_digit());
            if digits == 4 || groups == 3 {
                break;
            }
        } else if byte == b'\n' {
            digits = 0;
            if words > 0 || line_above {
                break;
            }
            line_above = true;
        } else if line_above && !matches!(byte, b':' | b' ' | b'\r' | b'\t') && digits == 0 {
            break;
        } else if byte == b':' {
            line_above = false;
        } else if !matches!(byte, b'-' | b' ' | b'.') {
            digits = 0;
        }
    }
    context
}

/// What the first words in the `reach` bytes from `at` on speak of.
pub(super) fn after(bytes: &[u8], at: usize, reach: usize) -> Context {
    let limit = bytes.len().min(at + reach);
    let mut context = Context::default();
    let mut words = 0;
    let mut i = at;
    while i < limit && words < 2 {
        let byte = bytes[i];
        if is_letter(byte) {
            let start = i;
            while i < bytes.len() && i - start <= LONGEST_WORD && is_letter(bytes[i]) {
                i += 1;
            }
            words += 1;
            context.add(topics(&bytes[start..i]));
            continue;
        }
        if byte.is_ascii_digit() || matches!(byte, b'\n' | b'\\' | b'"' | b'{' | b'}' | b';') {
            break;
        }
        i += 1;
    }
    context
}

/// Whether there are words in `bytes`.
pub(super) fn has_letters(bytes: &[u8]) -> bool {
    // Without a branch for each byte, sixteen are looked at together.
    bytes.iter().fold(false, |any, byte| any | is_letter(*byte))
}

/// Whether there may be words in the `reach` bytes before `at`.
#[inline]
pub(super) fn has_letters_before(bytes: &[u8], at: usize, reach: usize) -> bool {
    /// As far as most look, in whole vectors.
    const USUAL: usize = 48;
    match bytes[..at].last_chunk::<USUAL>() {
        Some(before) if reach <= USUAL => {
            before.iter().fold(false, |any, byte| any | is_letter(*byte))
                && (reach == USUAL || has_letters(&before[USUAL - reach..]))
        }
        _ => has_letters(&bytes[at.saturating_sub(reach)..at]),
    }
}

/// Whether `byte` belongs to a word: an ASCII letter, or a part of any other character.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a number or a name may start at `at`: what stands before is no letter, digit or
/// underscore, apart from the letter of an escape such as `\n`.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|i| bytes.get(i)) else { return true };
    if !before.is_ascii_alphanumeric() && before != b'_' {
        return true;
    }
    at >= 2 && bytes[at - 2] == b'\\' && matches!(before, b'n' | b't' | b'r')
}

/// Whether a number or a name may end at `at`: what follows is no letter, digit or underscore.
pub(super) fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

/// Whether what stands before `at` is a program's text rather than a sentence's.
pub(super) fn in_code(bytes: &[u8], at: usize) -> bool {
    let prose = matches!(byte_before(bytes, at), b' ' | b'\n' | b'(' | 0x80..);
    !prose || matches!(byte_before(bytes, at.saturating_sub(1)), b'=' | b':' | b'(' | b',')
}

/// The byte at `at`, 0 behind the end.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The byte before `at`, 0 at the start.
pub(super) fn byte_before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |i| byte(bytes, i))
}
