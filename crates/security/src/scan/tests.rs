//! What must hold of masks and windows, whatever the text and the processor.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};
use proptest::prelude::*;

use super::grams::{BEHIND, BLOCK};
use super::masks::Masks;
use super::window::Window;
use super::{Scanner, ScannerSettings, pass};
use crate::detectors::secrets;
use crate::level::Rules;
use sluice_core::level::SecurityLevel;

/// All instructions that this processor has, from the oldest to the newest.
fn levels() -> Vec<Level> {
    let best = Level::new();
    #[cfg(target_arch = "x86_64")]
    let older = [
        best.as_sse2().map(Simd::level),
        best.as_sse4_2().map(Simd::level),
        best.as_avx2().map(Simd::level),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let older = [Some(Level::baseline())];
    older.into_iter().flatten().chain([best]).collect()
}

fn masks_at(level: Level, bytes: &[u8], base: usize) -> Masks {
    dispatch!(level, simd => Masks::at(simd, bytes, base))
}

/// The masks of the block at `base`, byte by byte, without those of words.
fn slow_masks(bytes: &[u8], base: usize) -> Masks {
    let of = |is: &dyn Fn(&u8) -> bool| {
        let block = bytes.iter().skip(base).take(BLOCK).enumerate();
        block.fold(0, |bits, (i, byte)| bits | u64::from(is(byte)) << i)
    };
    Masks {
        letters: of(&u8::is_ascii_alphabetic),
        small: of(&u8::is_ascii_lowercase),
        digits: of(&u8::is_ascii_digit),
        hexadecimal: of(&u8::is_ascii_hexdigit),
        tokens: of(&|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')),
        dashes: of(&|b| *b == b'-'),
        dots: of(&|b| *b == b'.'),
        colons: of(&|b| *b == b':'),
        commas: of(&|b| *b == b','),
        ats: of(&|b| *b == b'@'),
        words: 0,
    }
}

/// Text of the characters that hints are made of.
fn hints() -> impl Strategy<Value = String> {
    proptest::string::string_regex(
        "([0-9]{1,7}|[a-f]{1,3}|[A-Z]{1,7}|[:.,@ _-]|-----|key|x|é|\n){0,90}",
    )
    .unwrap()
}

proptest! {
    #[test]
    fn masks_say_the_same_with_all_instructions(bytes: Vec<u8>, base in 0_usize..300) {
        let words = masks_at(Level::baseline(), &bytes, base).words;
        for level in levels() {
            let expected = Masks { words, ..slow_masks(&bytes, base) };
            prop_assert_eq!(masks_at(level, &bytes, base), expected, "{:?}", level);
        }
    }

    #[test]
    fn findings_are_the_same_with_all_instructions(text in hints()) {
        let mut scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let kinds = Rules::of(SecurityLevel::Maximum).redact;
        let expected = scanner.scan(&text, kinds);
        for level in levels() {
            scanner.level = level;
            prop_assert_eq!(&scanner.scan(&text, kinds), &expected, "{:?}", level);
        }
    }

    #[test]
    fn no_block_with_a_hint_is_passed_by(text in hints()) {
        let bytes = text.as_bytes();
        let at = |base: usize| masks_at(Level::new(), bytes, base);
        for base in (0..bytes.len()).step_by(BLOCK) {
            let previous = base.checked_sub(BLOCK).map(at).unwrap_or_default();
            let (current, next) = (at(base), at(base + BLOCK));
            let window = Window { previous: &previous, current: &current, next: &next };
            let (rules, flags) = window.rules_and_flags();
            let places = |mut bits: u64| std::iter::from_fn(move || {
                let place = base + bits.trailing_zeros() as usize;
                (bits != 0).then(|| { bits &= bits - 1; place })
            });
            let groups = places(window.colon_groups()).any(|i| pass::is_in_hexadecimal(bytes, i));
            let hints = rules | flags | window.dotted_quads() | window.dash_groups();
            if groups || hints != 0 {
                prop_assert!(window.may_have_hints() != 0, "{:?} at {}", text, base);
            }
        }
    }

    #[test]
    fn no_word_before_a_number_is_taken_for_an_identifier(text in hints()) {
        let bytes = text.as_bytes();
        let at = |base: usize| masks_at(Level::new(), bytes, base);
        for base in (0..bytes.len()).step_by(BLOCK) {
            let previous = base.checked_sub(BLOCK).map(at).unwrap_or_default();
            let (current, next) = (at(base), at(base + BLOCK));
            let window = Window { previous: &previous, current: &current, next: &next };
            let within = window.within_words();
            for (i, byte) in bytes.iter().enumerate().skip(base).take(BLOCK) {
                let begins = i > 0
                    && byte.is_ascii_digit()
                    && bytes[i - 1].is_ascii_alphabetic()
                    && pass::begins_with_capitals(&text, i);
                prop_assert!(!begins || within >> (i - base) & 1 == 0, "{:?} at {}", text, i);
            }
        }
    }
}

#[test]
fn words_are_found_wherever_they_begin() {
    let keywords = ["pass", "PASS", "pw=", "Pw", "cret", "CRED", "Tok", "key", "KEY", "Auth"];
    let keywords = keywords.into_iter().chain(["://", "hf_"]).map(|word| (word, 0));
    for (word, place) in keywords.chain(secrets::rare_words()) {
        for before in [0, 1, 61, 62, 63, 64, 65, 127, 128] {
            let text = format!("{}{word}", "-".repeat(before));
            let at = before + place;
            for level in levels() {
                let words = masks_at(level, text.as_bytes(), at / BLOCK * BLOCK).words;
                assert!(words >> (at % BLOCK) & 1 != 0, "{text} {level:?}");
            }
        }
    }
}

#[test]
fn a_block_shows_all_of_a_word_that_begins_on_its_last_byte() {
    let text = format!("{}key", "-".repeat(BLOCK - 1));
    assert_eq!(text.len(), BLOCK + BEHIND);
    let words = masks_at(Level::new(), text.as_bytes(), 0).words;
    assert_eq!(words, 1 << (BLOCK - 1));
}
