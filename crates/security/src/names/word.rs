//! One hash for all spellings of a word: `Sören`, `SÖREN` and `soren` are the same.

/// Words are compared by their first bytes only, beyond which nothing tells names apart.
const LONGEST: usize = 32;

/// Where the first whole word begins from `from` on, which may lie anywhere in a word; at most `to`.
pub(super) fn behind_cut(text: &str, from: usize, to: usize) -> usize {
    let from = text.ceil_char_boundary(from);
    let is_cut = text[..from].chars().next_back().is_some_and(char::is_alphanumeric);
    let length = if is_cut { text[from..to].find(|c: char| !c.is_alphanumeric()) } else { Some(0) };
    length.map_or(to, |length| from + length)
}

/// Where the last whole word ends before `to`, which may lie anywhere in a word; at least `from`.
pub(super) fn before_cut(text: &str, from: usize, to: usize) -> usize {
    let to = text.floor_char_boundary(to);
    let is_cut = text[to..].chars().next().is_some_and(char::is_alphanumeric);
    let rest = text[from..to].trim_end_matches(char::is_alphanumeric);
    if is_cut { from + rest.len() } else { to }
}

/// The hash of `word`, in whatever case, without accents.
pub(super) fn hash(word: &str) -> u32 {
    hash_in(word, 0, word.len())
}

/// The hash of `text[start..end]`, which is a word of letters, digits, hyphens and apostrophes.
/// Both ends are on boundaries of characters.
#[inline]
pub(super) fn hash_in(text: &str, start: usize, end: usize) -> u32 {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut hash = SEED ^ (end - start).min(LONGEST) as u64;
    let mut seen = 0;
    loop {
        let len = end - at;
        let piece = match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            // Bytes behind the word are cut off.
            Some(chunk) if len < 8 => u64::from_le_bytes(*chunk) & !(u64::MAX << (8 * len)),
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => {
                let mut piece = [0; 8];
                piece[..len].copy_from_slice(&bytes[at..end]);
                u64::from_le_bytes(piece)
            }
        };
        seen |= piece;
        hash = mixed(hash, piece);
        if len <= 8 || at + 8 >= start + LONGEST {
            break;
        }
        at += 8;
    }
    if seen & HIGH_BITS == 0 { hash as u32 } else { hash_folded(&text[start..end]) }
}

/// The hash of a word with letters beyond ASCII: that of its letters without accents.
#[cold]
fn hash_folded(word: &str) -> u32 {
    let mut folded = [0_u8; LONGEST];
    let mut len = 0;
    for c in word.chars() {
        for byte in fold(c).into_iter().take_while(|byte| *byte != 0) {
            if len < LONGEST {
                folded[len] = byte;
                len += 1;
            }
        }
    }
    let mut hash = SEED ^ len as u64;
    for piece in folded[..len].chunks(8) {
        let mut bytes = [0; 8];
        bytes[..piece.len()].copy_from_slice(piece);
        hash = mixed(hash, u64::from_le_bytes(bytes));
    }
    hash as u32
}

/// `word` in lower case and without accents.
pub(super) fn folded(word: &str) -> String {
    let bytes: Vec<u8> =
        word.chars().flat_map(|c| fold(c).into_iter().take_while(|byte| *byte != 0)).collect();
    String::from_utf8(bytes).unwrap_or_default()
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Adds eight bytes to a hash; the case of letters does not count.
#[inline]
fn mixed(hash: u64, piece: u64) -> u64 {
    const LOWER: u64 = 0x2020_2020_2020_2020;
    let hash = (hash ^ (piece | LOWER)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ hash >> 32
}

/// `c` in lower case without its accent; letters of other alphabets become bytes that are theirs.
fn fold(c: char) -> [u8; 4] {
    if c.is_ascii() {
        return [c.to_ascii_lowercase() as u8, 0, 0, 0];
    }
    let base: &[u8] = match c {
        'А'..='я' | 'Α'..='ω' => {
            let mut bytes = [0; 4];
            let lower = if matches!(c, 'А'..='Я' | 'Α'..='Ω') {
                u32::from(c) + 32
            } else {
                u32::from(c)
            };
            char::from_u32(lower).unwrap_or(c).encode_utf8(&mut bytes);
            return bytes;
        }
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' | 'Ǎ' | 'ǎ' | 'Ạ'..='ặ' => b"a",
        'Æ' | 'æ' => b"ae",
        'Ç' | 'ç' | 'Ć'..='č' => b"c",
        'Ď'..='đ' | 'Ð' | 'ð' => b"d",
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' | 'Ẹ'..='ệ' | 'Ə' | 'ə' => b"e",
        'Ĝ'..='ģ' | 'Ǧ' | 'ǧ' => b"g",
        'Ĥ'..='ħ' => b"h",
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='ı' | 'Ỉ'..='ị' => b"i",
        'Ĵ' | 'ĵ' => b"j",
        'Ķ' | 'ķ' => b"k",
        'Ĺ'..='ł' => b"l",
        'Ñ' | 'ñ' | 'Ń'..='ň' => b"n",
        'Ò'..='Ø' | 'ò'..='ö' | 'ø' | 'Ō'..='ő' | 'Ơ' | 'ơ' | 'Ọ'..='ợ' => b"o",
        'Œ' | 'œ' => b"oe",
        'Ŕ'..='ř' => b"r",
        'Ś'..='š' | 'Ș' | 'ș' => b"s",
        'ß' | 'ẞ' => b"ss",
        'Ţ'..='ŧ' | 'Ț' | 'ț' => b"t",
        'Þ' | 'þ' => b"th",
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' | 'Ư' | 'ư' | 'Ụ'..='ự' => b"u",
        'Ŵ' | 'ŵ' => b"w",
        'Ý' | 'ý' | 'ÿ' | 'Ŷ'..='Ÿ' | 'Ỳ'..='ỹ' => b"y",
        'Ź'..='ž' => b"z",
        // Typographic apostrophes and hyphens are those of the keyboard.
        '’' | 'ʼ' => b"'",
        '‐' | '‑' => b"-",
        // A combining mark adds nothing to its letter.
        '\u{300}'..='\u{36f}' => b"",
        _ => {
            let mut bytes = [0; 4];
            c.to_lowercase().next().unwrap_or(c).encode_utf8(&mut bytes);
            return bytes;
        }
    };
    let mut bytes = [0; 4];
    bytes[..base.len()].copy_from_slice(base);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_word_share_a_hash() {
        for (one, other) in [
            ("Sören", "soren"),
            ("STRAßE", "strasse"),
            ("Łukasz", "lukasz"),
            ("Nguyễn", "nguyen"),
            ("O’Brien", "o'brien"),
            ("ИВАН", "иван"),
            ("Bartholomew-Christopherson", "BARTHOLOMEW-christopherson"),
        ] {
            assert_eq!(hash(one), hash(other), "{one} {other}");
        }
        assert_ne!(hash("anna"), hash("hanna"));
        assert_ne!(hash(""), hash("a"));
    }
}
