//! The words around a number: what they say it is.
//!
//! Words are read as people and programs write them: `phone number`, `phone_number`,
//! `customerPhone`, `\nPhone:` inside a string. A word stands for one or more topics; the nearest
//! word that stands for anything has the most to say.

mod topics;
mod words;

use self::topics::LONGEST_WORD;
pub(super) use self::topics::*;
use super::classes::{self, lowest, mask};

/// How far a look reaches.
const FARTHEST: usize = 48;

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

    /// Whether nothing is said but that a number follows.
    pub(super) fn is_number_only(self) -> bool {
        self.all == NUMBER
    }

    /// Whether any word speaks of one of `topics`.
    pub(super) fn has(self, topics: Topics) -> bool {
        self.all & topics != 0
    }
}

/// What the words in the `reach` bytes before `at` speak of; `reach` is at most [`FARTHEST`].
///
/// The look ends at a line's start, once a word was read, and at other numbers: a number's words
/// stand beside it.
pub(super) fn before(bytes: &[u8], at: usize, reach: usize) -> Context {
    let mut padded = [0; FARTHEST];
    let window = classes::before(bytes, at, &mut padded);
    let floor = FARTHEST - reach.min(at);
    let letters = mask(window, classes::word_bytes) & !lowest(floor);
    let mut context = Context::default();
    // Lists of numbers have no words.
    if letters == 0 {
        return context;
    }
    let capitals = mask(window, classes::capitals);
    // A capital with a small letter behind it begins a word within an identifier.
    let others = mask(window, classes::others);
    let small = letters & !capitals & !others;
    let starts = letters & (!(letters << 1) | capitals & small >> 1);
    let digits_here = mask(window, classes::digits);
    let marks = letters | digits_here | mask(window, |b| classes::either(b, b'\n', b'\n'));
    let byte_before = |i: usize| byte_before(bytes, (at + i).saturating_sub(FARTHEST));
    let mut words = 0;
    let (mut digits, mut groups) = (0, 0);
    let mut i = FARTHEST;
    // A label may stand on the line above, with its colon at the line's end.
    let mut line_above = false;
    while i > floor {
        let here = lowest(i);
        if letters >> (i - 1) & 1 != 0 {
            if line_above {
                break;
            }
            let end = i;
            i = (starts & here).ilog2() as usize;
            let escape = byte_before(i) == b'\\' && matches!(window[i], b'n' | b't' | b'r');
            let start = if escape { i + 1 } else { i };
            if start < end {
                words += 1;
                digits = 0;
                let is_foreign = (others & here) >> start != 0;
                context.add(topics(&window[start..end], is_foreign));
            }
            if escape && words > 0 {
                break;
            }
            continue;
        }
        // Between words, nothing else matters than digits and a line's end.
        let further = u64::BITS - (marks & here).leading_zeros();
        let at_digit = (digits_here << 1) >> further & 1 != 0;
        if (further as usize) < i && !line_above && (digits == 0 || !at_digit) {
            digits = 0;
            i = further as usize;
            continue;
        }
        let group = (digits_here << (u64::BITS as usize - i)).leading_ones();
        if group > 0 {
            digits += group;
            groups += 1;
            if digits >= 4 || groups == 3 {
                break;
            }
            i -= group as usize;
            continue;
        }
        i -= 1;
        let byte = window[i];
        if byte == b'\n' {
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

/// What the first words in the `reach` bytes from `at` on speak of; `reach` is at most
/// `FARTHEST - LONGEST_WORD`.
pub(super) fn after(bytes: &[u8], at: usize, reach: usize) -> Context {
    let mut padded = [0; FARTHEST];
    let window = classes::ahead(bytes, at, &mut padded);
    let letters = mask(window, classes::word_bytes);
    let others = mask(window, classes::others);
    let mut context = Context::default();
    let mut words = 0;
    let mut i = 0;
    while letters >> i & lowest(reach - i) != 0 && words < 2 {
        if letters >> i & 1 != 0 {
            // What is longer than any word that is known is read no further.
            let length = (letters >> i).trailing_ones() as usize;
            let end = i + length.min(LONGEST_WORD + 1);
            words += 1;
            context.add(topics(&window[i..end], (others & lowest(end)) >> i != 0));
            i = end;
            if i >= reach {
                break;
            }
            continue;
        }
        let byte = window[i];
        if byte.is_ascii_digit() || matches!(byte, b'\n' | b'\\' | b'"' | b'{' | b'}' | b';') {
            break;
        }
        i += 1;
    }
    context
}

/// Whether there may be words in the `reach` bytes before `at`; `reach` is at most [`FARTHEST`].
#[inline]
pub(super) fn has_letters_before(bytes: &[u8], at: usize, reach: usize) -> bool {
    let mut padded = [0; FARTHEST];
    let letters = mask(classes::before(bytes, at, &mut padded), classes::word_bytes);
    letters & !lowest(FARTHEST - reach) != 0
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_word_has_the_most_to_say() {
        let check = |text: &str, nearest: Topics, all: Topics| {
            let context = before(text.as_bytes(), text.len(), FARTHEST);
            assert_eq!((context.nearest, context.all), (nearest, all), "{text}");
        };
        check("order, customerPhone = ", PHONE, PHONE | OTHER);
        check("phone number: ", PHONE, PHONE | NUMBER);
        check(r"x\nPhone: ", PHONE, PHONE);
        check("Phone:\n", PHONE, PHONE);
        check("phone 12 3 ", PHONE, PHONE);
        check("phone 1234 ", 0, 0);
        check("phone 1 2 3 ", 0, 0);
        check("phone\n\n", 0, 0);
        check("電話: ", PHONE, PHONE);
    }

    proptest! {
        #[test]
        fn words_are_the_same_wherever_they_stand(
            text in "(phone|Order|\\\\n|[0-9]{1,4}|[-:., \n]|é){0,10}",
            padding in 0..80_usize,
        ) {
            let (text, padding) = (text.as_bytes(), "\n".repeat(padding));
            let far = [padding.as_bytes(), text, padding.as_bytes()].concat();
            let (start, end) = (padding.len(), padding.len() + text.len());
            prop_assert_eq!(before(&far, end, FARTHEST), before(&far[start..], text.len(), FARTHEST));
            prop_assert_eq!(after(&far, start, 14), after(&far[..end], start, 14));
        }
    }
}
