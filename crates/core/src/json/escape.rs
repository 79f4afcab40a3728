//! What the inside of a string literal stands for, and where in the literal a part of that stands.
//!
//! Prompts are long strings with a `\n` or `\"` every other line. serde_json decodes them too, but
//! into a string of its own each time, and stops at surrogates without a pair.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};
use memchr::memchr;

use super::string::{BLOCK, Escapes, end_of_string};

/// The index after the closing quote of the string literal whose opening quote is at `at`. `None` if
/// there is none, or it is not one.
pub fn end_of_literal(text: &str, at: usize) -> Option<usize> {
    (text.as_bytes().get(at)? == &b'"').then(|| end_of_string(text.as_bytes(), at + 1))?
}

/// Appends the text that `inside`, the inside of a valid string literal, stands for. A surrogate
/// without its pair (which JSON allows and UTF-8 cannot hold) becomes U+FFFD. What is appended is
/// UTF-8, and never longer than `inside`.
pub fn unescape(inside: &str, out: &mut Vec<u8>) {
    let source = inside.as_bytes();
    // Whole blocks are copied, of which only the part before an escape counts. So there has to be a
    // block of anything behind what is read, and room for one behind what is written.
    let (head, tail) = source.split_at(source.len().saturating_sub(BLOCK) / BLOCK * BLOCK);
    let mut padded_tail = [0; 3 * BLOCK];
    padded_tail[..tail.len()].copy_from_slice(tail);
    let to = out.len();
    out.resize(to + source.len() + BLOCK, 0);
    let mut decoder = Decoder { out, to, escapes: Escapes::default() };
    dispatch!(Level::new(), simd => {
        let done = decoder.decode(simd, source, 0, head.len());
        decoder.decode(simd, &padded_tail, done.saturating_sub(head.len()), tail.len());
    });
    let end = decoder.to;
    out.truncate(end);
}

/// How many bytes are copied together.
const HALF: usize = BLOCK / 2;

struct Decoder<'o> {
    out: &'o mut [u8],
    /// Where the next byte goes.
    to: usize,
    escapes: Escapes,
}

impl Decoder<'_> {
    /// Decodes what stands from `done` to `end` of `source`, which goes on for a block or more. The
    /// first block is the one at 0. Returns how far that went: the last escape may reach beyond.
    #[inline(always)]
    fn decode<S: Simd>(&mut self, simd: S, source: &[u8], mut done: usize, end: usize) -> usize {
        let mut block_at = 0;
        while block_at < end
            && let Some(block) = source.get(block_at..).and_then(<[u8]>::first_chunk::<BLOCK>)
        {
            let backslashes = u8x64::load_array_ref(simd, block).simd_eq(b'\\').to_bitmask();
            let mut starts = backslashes & !self.escapes.next(backslashes);
            while starts != 0 {
                let start = block_at + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                // The second half of a pair of surrogates went with the first.
                if start >= done {
                    self.copy(source, done, start);
                    done = start + self.escape(source, start);
                }
            }
            block_at += BLOCK;
            let block_end = block_at.min(end);
            if done < block_end {
                self.copy(source, done, block_end);
                done = block_end;
            }
        }
        done
    }

    /// Copies what stands from `from` to `end` of the source, a block at most. A length that is known
    /// beforehand takes a few instructions and no branch, so half of a block is written at least, and
    /// all of it where more than that counts.
    #[inline(always)]
    fn copy(&mut self, source: &[u8], from: usize, end: usize) {
        self.copy_half(source, from, self.to);
        if end - from > HALF {
            self.copy_half(source, from + HALF, self.to + HALF);
        }
        self.to += end - from;
    }

    #[inline(always)]
    fn copy_half(&mut self, source: &[u8], from: usize, to: usize) {
        let half = source.get(from..).and_then(<[u8]>::first_chunk::<HALF>);
        let target = self.out.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<HALF>);
        if let (Some(half), Some(target)) = (half, target) {
            *target = *half;
        }
    }

    /// Writes what the escape at `at` stands for; the escape's length.
    #[inline(always)]
    fn escape(&mut self, source: &[u8], at: usize) -> usize {
        if let Some(character) = source.get(at + 1).map(|next| SIMPLE[usize::from(*next)])
            && character != 0
        {
            // There is room: what is written is never longer than what was read.
            if let Some(target) = self.out.get_mut(self.to) {
                *target = character;
            }
            self.to += 1;
            return 2;
        }
        self.other_escape(source, at)
    }

    #[cold]
    fn other_escape(&mut self, source: &[u8], at: usize) -> usize {
        let (taken, char) = escape(source, at);
        let mut buffer = [0; 4];
        let encoded = char.encode_utf8(&mut buffer).as_bytes();
        self.out[self.to..self.to + encoded.len()].copy_from_slice(encoded);
        self.to += encoded.len();
        taken
    }
}

/// Where in `inside`, the inside of a valid string literal, the characters stand that begin at
/// `places` of the decoded text. The places are in order, on boundaries of characters.
pub fn places_in_literal(inside: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut at = 0;
    let mut decoded = 0;
    let next_escape = |from: usize| {
        let rest = inside.as_bytes().get(from..).unwrap_or_default();
        memchr(b'\\', rest).map_or(inside.len(), |n| from + n)
    };
    let mut escape_at = next_escape(0);
    let find = |place: usize| {
        loop {
            let plain = escape_at - at;
            if place <= decoded + plain || escape_at == inside.len() {
                return (at + place.saturating_sub(decoded)).min(inside.len());
            }
            let (taken, char) = escape(inside.as_bytes(), escape_at);
            at = escape_at + taken;
            decoded += plain + char.len_utf8();
            escape_at = next_escape(at);
        }
    };
    places.map(find).collect()
}

/// The escape at `at`: its length, and the character that it stands for.
fn escape(inside: &[u8], at: usize) -> (usize, char) {
    match inside.get(at + 1) {
        Some(b'u') => unicode_escape(inside, at),
        Some(other) if other.is_ascii() => match SIMPLE[usize::from(*other)] {
            // Not in a valid literal.
            0 => (2, char::from(*other)),
            character => (2, char::from(character)),
        },
        // Not in a valid literal.
        _ => (1, '\\'),
    }
}

/// What a character stands for behind a backslash, as far as that is one byte; else 0. A table: which
/// one comes next is anybody's guess.
const SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//n\nt\tr\rb\x08f\x0c";
    let mut i = 0;
    while i < pairs.len() {
        table[pairs[i] as usize] = pairs[i + 1];
        i += 2;
    }
    table
};

fn unicode_escape(bytes: &[u8], at: usize) -> (usize, char) {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(at) else { return (2, 'u') };
    let second = unit(at + 6).filter(|second| (0xDC00..0xE000).contains(second));
    match (first, second) {
        (0xD800..0xDC00, Some(second)) => {
            let pair = char::decode_utf16([first, second]).next().and_then(Result::ok);
            (12, pair.unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        _ => (6, char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::JsonText;
    use super::*;

    fn decoded(inside: &str) -> String {
        let mut out = b"before".to_vec();
        unescape(inside, &mut out);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    fn check(inside: &str) {
        let literal = JsonText::trusted_literal(format!("\"{inside}\"").into());
        let text = decoded(inside);
        assert_eq!(text, literal.decode(), "{inside}");
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let found = places_in_literal(inside, places.iter().copied());
        assert_eq!((found[0], found[found.len() - 1]), (0, inside.len()), "{inside}");
        for (place, raw) in places.windows(2).zip(found.windows(2)) {
            assert_eq!(decoded(&inside[raw[0]..raw[1]]), text[place[0]..place[1]], "{inside}");
        }
    }

    #[test]
    fn escapes_are_decoded_wherever_they_stand() {
        for escape in [
            "",
            r"\n",
            r#"\""#,
            r"\\",
            r"\/",
            r"\b\f\t\r",
            r"\u00e9",
            r"\ud83d\ude80",
            r"\u0000",
            "é🚀",
        ] {
            for before in (0..36).chain(60..68).chain(124..132) {
                let before = "x".repeat(before);
                check(&format!("{before}{escape}"));
                check(&format!("{before}{escape}{escape}after"));
                check(&format!(
                    "{before}{escape}é and {}",
                    "a tail of more than a block ".repeat(3)
                ));
            }
        }
    }

    #[test]
    fn surrogates_without_a_pair_are_replaced() {
        assert_eq!(decoded(r"\ud800x\udc00\ud83d\u0041"), "\u{FFFD}x\u{FFFD}\u{FFFD}A");
        check(r"\ud800x\udc00");
    }

    #[test]
    fn what_is_no_literal_does_no_harm() {
        for inside in ["\\", "\\u", "\\u12", "\\é", "\\u123é", "x\\ud800\\u12"] {
            decoded(inside);
            places_in_literal(inside, 0..20);
        }
        assert_eq!(end_of_literal(r#"x"a\"b"c"#, 1), Some(7));
        assert_eq!(end_of_literal("x", 0), None);
        assert_eq!(end_of_literal("x", 1), None);
    }

    proptest! {
        #[test]
        fn any_literal_decodes_as_in_serde_json(text in "(.|[\n\"\\\\]){0,300}") {
            let literal = serde_json::to_string(&text).unwrap();
            check(&literal[1..literal.len() - 1]);
        }
    }
}
