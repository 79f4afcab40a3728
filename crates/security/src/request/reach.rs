//! How far a value that was found once may be replaced elsewhere.

use crate::detectors::secrets::wordiness;
use crate::kind::Kind;

/// Where else a value is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Wherever it stands, also within words.
    Anywhere,
    /// Where neither letter nor digit goes on.
    WholeWord,
}

/// Values as long as this, with several kinds of characters, do not occur by chance.
const DISTINCTIVE: usize = 12;
/// Values as long as this never do.
const LONG: usize = 24;
/// The shortest value that is looked for elsewhere.
const SHORTEST: usize = 5;
/// Letters alone are a name or a word up to here, if they could be one.
const LONGEST_WORD: usize = 15;
/// Of the words that code is made of, one in a hundred is less like a word than this; of letters
/// drawn by lot, nine in ten are.
const LIKE_A_WORD: f32 = 5.2;
/// Digits alone are a port, a year, a postal code up to here; with what parts them, a price, a time.
const LONGEST_NUMBER: usize = 5;
/// Without letters, so few different characters are a round number or a line: `100000`, `-----`.
const FEWEST_DIFFERENT: usize = 3;

/// What a value is written with.
pub(super) struct Characters {
    length: usize,
    digits: usize,
    lower: usize,
    upper: usize,
    /// All that its bytes are ([`CLASSES`]).
    classes: u8,
}

const DIGIT: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 4;
/// What a URL escapes; all that is escaped elsewhere is among it.
const URL: u8 = 8;
/// What HTML and XML may escape.
const MARKUP: u8 = 16;
const NOT_ASCII: u8 = 32;
/// What else a string literal may escape.
const LITERAL: u8 = 64;

/// What there is to be known about a byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'-' | b'.' | b'_' | b'~' => 0,
            b'&' | b'<' | b'>' | b'"' | b'\'' => MARKUP | URL,
            b'/' | b'\\' | b'=' | b'+' | b'`' | 0..0x20 => LITERAL | URL,
            0x80.. => NOT_ASCII | URL,
            _ => URL,
        };
        byte += 1;
    }
    classes
};

/// Whether a URL writes a byte in another way.
pub(super) fn differs_in_url(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & URL != 0
}

impl Characters {
    /// Those of `value`.
    pub(super) fn of(value: &str) -> Self {
        let mut characters =
            Self { length: value.len(), digits: 0, lower: 0, upper: 0, classes: 0 };
        for byte in value.bytes() {
            let class = CLASSES[usize::from(byte)];
            characters.classes |= class;
            characters.digits += usize::from(class & DIGIT);
            characters.lower += usize::from(class & LOWER);
            characters.upper += usize::from(class & UPPER);
        }
        characters.lower /= usize::from(LOWER);
        characters.upper /= usize::from(UPPER);
        characters
    }

    fn has(&self, class: u8) -> bool {
        self.classes & class != 0
    }

    /// Whether there is a capital letter of ASCII.
    pub(super) fn has_upper(&self) -> bool {
        self.has(UPPER)
    }

    /// Whether a URL writes it in another way.
    pub(super) fn differs_in_url(&self) -> bool {
        self.has(URL)
    }

    /// Whether a string literal may write it in another way.
    pub(super) fn differs_in_literal(&self) -> bool {
        self.has(LITERAL | MARKUP | NOT_ASCII)
    }

    /// Whether HTML or XML may write it in another way.
    pub(super) fn differs_in_markup(&self) -> bool {
        self.has(MARKUP)
    }
}

/// How far a value reaches; `None` where it could be ordinary text.
pub(super) fn reach(value: &str, characters: &Characters, kind: Kind) -> Option<Reach> {
    let Characters { length, digits, lower, upper, .. } = *characters;
    let letters = lower + upper;
    let others = length - digits - letters;
    let is_letter = |c: char| c.is_alphabetic();
    let has_letters = letters > 0 || characters.has(NOT_ASCII) && value.contains(is_letter);
    if length < SHORTEST
        || !has_letters && (digits <= LONGEST_NUMBER && is_number(value) || is_round(value))
        || kind.is_secret() && letters == length && could_be_a_word(value)
    {
        return None;
    }
    let classes = [digits, lower, upper, others].iter().filter(|count| **count > 0).count();
    let is_exact = !matches!(kind, Kind::Person | Kind::Location | Kind::Organization | Kind::Term);
    let is_mixed = letters > 0 && classes > 1 && value.len() >= DISTINCTIVE;
    if is_exact && (is_mixed || value.len() >= LONG) {
        return Some(Reach::Anywhere);
    }
    Some(Reach::WholeWord)
}

/// Whether letters alone may as well be the name of something: `postgres`, `letmein`.
fn could_be_a_word(letters: &str) -> bool {
    letters.len() <= LONGEST_WORD
        && (letters.len() <= SHORTEST || wordiness(letters) >= LIKE_A_WORD)
}

/// Whether digits are all that is there, but for a sign ahead of them and what parts them, one
/// character at a time: `1.50`, `12:30`, `-4`.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let parts = digits.split(['.', ',', ':', '-', '/', ' ', '_', '\'']);
    parts.map(str::as_bytes).all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

/// `100000`
fn is_round(value: &str) -> bool {
    let mut different = [None; FEWEST_DIFFERENT - 1];
    for c in value.chars() {
        if different.contains(&Some(c)) {
            continue;
        }
        match different.iter_mut().find(|known| known.is_none()) {
            Some(free) => *free = Some(c),
            None => return false,
        }
    }
    true
}
