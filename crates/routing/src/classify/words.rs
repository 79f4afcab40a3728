//! The words of a line, as hashes.

use super::hash::{self, pair};

/// The small form of each ASCII letter, digit and underscore; 0 for all else.
static SMALL: [u8; 128] = {
    let mut small = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        let character = byte as u8;
        if character.is_ascii_alphanumeric() || character == b'_' {
            small[byte] = character.to_ascii_lowercase();
        }
        byte += 1;
    }
    small
};

/// Calls `each` with the hash of every word in `line` and that of its first letters.
///
/// Letters become small; numbers count by their length; scripts without spaces give pairs of
/// characters; a few signs are words too.
#[inline]
pub(super) fn words(line: &str, mut each: impl FnMut(u32, u32)) {
    const STEM: usize = 5;
    let mut hash = hash::START;
    let mut stem = hash::START;
    let mut length = 0;
    let mut is_number = true;
    let mut ideograph = 0;
    macro_rules! end_word {
        () => {
            if length > 0 {
                if is_number {
                    each(pair(0x4e, length.min(6) as u32), pair(0x4e, length.min(6) as u32));
                } else {
                    each(hash, if length > STEM { pair(stem, 0x57) } else { hash });
                }
                hash = hash::START;
                stem = hash::START;
                length = 0;
                is_number = true;
            }
        };
    }
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte < 0x80 {
            at += 1;
            ideograph = 0;
            let small = SMALL[usize::from(byte)];
            if small != 0 {
                hash = hash::add(hash, small);
                length += 1;
                if length == STEM {
                    stem = hash;
                }
                is_number &= byte.is_ascii_digit();
                continue;
            }
            end_word!();
            if matches!(byte, b'?' | b'!' | b':' | b'%' | b'$' | b'=' | b'`' | b'"' | b'@' | b'/') {
                each(pair(0x53, u32::from(byte)), pair(0x53, u32::from(byte)));
            }
            if byte == b'-' && bytes.get(at) == Some(&b'>') {
                at += 1;
                each(pair(0x53, 0x2192), pair(0x53, 0x2192));
            }
            continue;
        }
        let Some(character) = line[at..].chars().next() else { break };
        at += character.len_utf8();
        if is_ideograph(character) {
            end_word!();
            let code = character as u32;
            if ideograph != 0 {
                each(pair(ideograph, code), pair(ideograph, code));
            }
            ideograph = code;
            continue;
        }
        ideograph = 0;
        if character.is_alphanumeric() || matches!(character as u32, 0x300..0x370 | 0x900..0x980) {
            for small in character.to_lowercase() {
                for byte in small.encode_utf8(&mut [0; 4]).bytes() {
                    hash = hash::add(hash, byte);
                }
            }
            length += 1;
            if length == STEM {
                stem = hash;
            }
            is_number = false;
            continue;
        }
        end_word!();
        if matches!(
            character,
            '→' | '⇒' | '≤' | '≥' | '²' | '€' | '£' | '…' | '∑' | '∫' | '√' | '×'
        ) {
            each(pair(0x53, character as u32), pair(0x53, character as u32));
        }
    }
    end_word!();
    let _ = (hash, stem, length, is_number);
}

/// Scripts that are written without spaces between words.
fn is_ideograph(character: char) -> bool {
    matches!(character as u32, 0x3040..0x3100 | 0x3400..0x9fff | 0xf900..0xfb00 | 0xac00..0xd7b0 | 0xe00..0xe80)
}
