//! What a character stands for, however it is written: case, accents, look-alikes of other
//! alphabets, full-width and mathematical letters, invisible characters.

/// What a character is to the tokeniser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Part of a word of a script that puts spaces between words; lower case, without accents.
    Letter(char),
    /// A word or a syllable of its own: Chinese, Japanese, Thai.
    Syllable(char),
    /// Nothing that can be seen: it neither is nor parts words.
    Invisible,
    /// An ASCII character written with one of Unicode's invisible "tag" characters.
    Tag(char),
    /// White space.
    Space,
    /// Everything else.
    Other(char),
}

/// Base letters of U+00C0 to U+024F; `?` where there is none.
const LATIN: &[u8; 0x190] = b"aaaaaaaceeeeiiiidnooooo?ouuuuytsaaaaaaaceeeeiiiidnooooo?ouuuuyty\
aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkk?llllllllllnnnnnnnnnoooooooorrrrrrssssssss\
ttttttuuuuuuuuuuuuwwyyyzzzzzzs???????????????e?ff?????????????oo?????????????uu???????????????????\
dddlllnnnaaiioouuuuuuuuuu?aaaaaa??ggkkoooo??jdddgg??nnaaaaooaaaaeeeeiiiioooorrrruuuusstt??hh??????\
aaeeooooooooyy????????????????????????????";

/// Base letters of U+1E00 to U+1EFF.
const LATIN_ADDITIONAL: &[u8; 0x100] =
    b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllll\
llllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyas\
??s?aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy????\
??";

/// What `c`, which is not ASCII, is to the tokeniser.
pub(crate) fn classify(c: char) -> Class {
    let code = c as u32;
    match code {
        0xAD
        | 0x034F
        | 0x061C
        | 0x180E
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0xFE00..=0xFE0F
        | 0xFEFF => Class::Invisible,
        // Combining accents, Arabic vowel signs and the Arabic lengthening stroke.
        0x0300..=0x036F | 0x0640 | 0x064B..=0x0652 | 0x0591..=0x05C7 => Class::Invisible,
        0xE0020..=0xE007E => char::from_u32(code - 0xE0000).map_or(Class::Invisible, Class::Tag),
        0xE0000..=0xE01EF => Class::Invisible,
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 => {
            Class::Space
        }
        0xC0..=0x24F => from_base(c, LATIN[(code - 0xC0) as usize]),
        0x1E00..=0x1EFF => from_base(c, LATIN_ADDITIONAL[(code - 0x1E00) as usize]),
        0xFF01..=0xFF5E => ascii(code - 0xFEE0),
        0x1D400..=0x1D6A3 => ascii(u32::from(b'a') + (code - 0x1D400) % 26),
        0x1D7CE..=0x1D7FF => ascii(u32::from(b'0') + (code - 0x1D7CE) % 10),
        0x24B6..=0x24E9 => ascii(u32::from(b'a') + (code - 0x24B6) % 26),
        0x1F110..=0x1F129 => ascii(u32::from(b'a') + (code - 0x1F110)),
        0x1F130..=0x1F149 => ascii(u32::from(b'a') + (code - 0x1F130)),
        0x1F150..=0x1F169 => ascii(u32::from(b'a') + (code - 0x1F150)),
        0x1F170..=0x1F189 => ascii(u32::from(b'a') + (code - 0x1F170)),
        0x0370..=0x03FF => Class::Letter(greek(c)),
        0x0622 | 0x0623 | 0x0625 => Class::Letter('\u{627}'),
        0x0649 | 0x06CC => Class::Letter('\u{64A}'),
        0x06A9 => Class::Letter('\u{643}'),
        // Scripts of South Asia write vowels as marks that Rust does not call alphanumeric.
        0x0900..=0x0963 | 0x0966..=0x0DFF => Class::Letter(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF => Class::Syllable(c),
        0x3005
        | 0x3040..=0x30FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF => Class::Syllable(c),
        _ if c.is_alphanumeric() => Class::Letter(c.to_lowercase().next().unwrap_or(c)),
        _ if c.is_whitespace() => Class::Space,
        _ => Class::Other(c),
    }
}

/// The Latin letter that a Cyrillic or Greek one looks like. Used in words that mix alphabets.
pub(crate) fn look_alike(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'є' | 'ε' => 'e',
        'ɡ' => 'g',
        'һ' | 'н' | 'η' => 'h',
        'і' | 'ї' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' => 'm',
        'ո' | 'п' => 'n',
        'о' | 'ο' | 'σ' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        other => other,
    }
}

/// The letter that a digit or sign stands for in "leetspeak".
pub(crate) fn unleet(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' | b'!' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        b'8' => b'b',
        b'9' => b'g',
        other => other,
    }
}

fn from_base(c: char, base: u8) -> Class {
    match base {
        b'?' if c.is_alphanumeric() => Class::Letter(c.to_lowercase().next().unwrap_or(c)),
        b'?' => Class::Other(c),
        base => Class::Letter(char::from(base)),
    }
}

fn ascii(code: u32) -> Class {
    match char::from_u32(code) {
        Some(c) if c.is_ascii_alphanumeric() => Class::Letter(c.to_ascii_lowercase()),
        Some(c) => Class::Other(c),
        None => Class::Invisible,
    }
}

fn greek(c: char) -> char {
    match c {
        'ά' | 'Ά' => 'α',
        'έ' | 'Έ' => 'ε',
        'ή' | 'Ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' | 'Ί' => 'ι',
        'ό' | 'Ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' | 'Ύ' => 'υ',
        'ώ' | 'Ώ' => 'ω',
        'ς' => 'σ',
        other => other.to_lowercase().next().unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguised_letters_are_seen_as_what_they_mean() {
        for (c, class) in [
            ('É', Class::Letter('e')),
            ('ş', Class::Letter('s')),
            ('ệ', Class::Letter('e')),
            ('Ｉ', Class::Letter('i')),
            ('𝒊', Class::Letter('i')),
            ('𝗚', Class::Letter('g')),
            ('Ⓖ', Class::Letter('g')),
            ('Д', Class::Letter('д')),
            ('Ώ', Class::Letter('ω')),
            ('令', Class::Syllable('令')),
            ('\u{200b}', Class::Invisible),
            ('\u{e0069}', Class::Tag('i')),
            ('\u{a0}', Class::Space),
            ('—', Class::Other('—')),
        ] {
            assert_eq!(classify(c), class, "{c:?}");
        }
    }
}
