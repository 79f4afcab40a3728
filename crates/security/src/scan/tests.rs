//! What must hold of masks and hints, whatever the text and the processor.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch};
use proptest::prelude::*;

use super::grams::{BEHIND, BLOCK};
use super::hints::{Hints, LONG_RUN};
use super::masks::{CHUNK, Masks, Row};
use super::{Scanner, ScannerSettings, pass};
use crate::detectors::secrets;
use crate::level::Rules;
use sluice_core::level::SecurityLevel;

/// All instructions that this processor has, from the oldest to the newest.
pub(crate) fn levels() -> Vec<Level> {
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
    let behind = bytes.len().saturating_sub(base);
    Masks {
        letters: of(&u8::is_ascii_alphabetic),
        small: of(&u8::is_ascii_lowercase),
        digits: of(&u8::is_ascii_digit),
        hexadecimal: of(&u8::is_ascii_hexdigit),
        tokens: of(&is_token),
        // Zeros follow the text.
        blanks: of(&|b| *b <= b' ') | u64::MAX.checked_shl(behind as u32).unwrap_or(0),
        dashes: of(&|b| *b == b'-'),
        dots: of(&|b| *b == b'.'),
        colons: of(&|b| *b == b':'),
        commas: of(&|b| *b == b','),
        ats: of(&|b| *b == b'@'),
        words: 0,
    }
}

fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The places of all hints in `bytes`, as the pass makes them.
fn hints_of(level: Level, bytes: &[u8]) -> Hints<Vec<usize>> {
    let (mut hints, mut is_open) = (Hints::<Vec<usize>>::default(), false);
    for base in (0..bytes.len()).step_by(CHUNK * BLOCK) {
        let mut chunk = Masks::<Row>::default();
        let count = (bytes.len() - base).div_ceil(BLOCK).min(CHUNK);
        for place in 0..count + 2 {
            if let Some(base) = (base + place * BLOCK).checked_sub(BLOCK) {
                chunk.set(place, masks_at(level, bytes, base));
            }
        }
        let found: Hints<[u64; CHUNK]> =
            dispatch!(level, simd => Hints::of(simd, &chunk, count, true, &mut is_open));
        for i in 0..count {
            let block = found.block(i);
            let add = |places: &mut Vec<usize>, bits: u64| {
                let of_block = (0..BLOCK).filter(|bit| bits >> bit & 1 != 0);
                places.extend(of_block.map(|bit| base + i * BLOCK + bit));
                assert!(bits == 0 || found.blocks(count) >> i & 1 != 0);
            };
            add(&mut hints.words, block.words);
            add(&mut hints.rules, block.rules);
            add(&mut hints.flags, block.flags);
            add(&mut hints.ats, block.ats);
            add(&mut hints.long, block.long);
            add(&mut hints.dense, block.dense);
            add(&mut hints.quads, block.quads);
            add(&mut hints.groups, block.groups);
        }
    }
    hints
}

/// The same, byte by byte. Those of words, of numbers and of groups are left out.
fn slow_hints(bytes: &[u8]) -> Hints<Vec<usize>> {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let before = |i: usize| i.checked_sub(1).map_or(b'x', at);
    let is_digit = |i: usize| at(i).is_ascii_digit();
    let dot = |i: usize| i > 0 && at(i) == b'.' && is_digit(i - 1) && is_digit(i + 1);
    let next = |i: usize| (i + 2..=i + 4).filter(|i| dot(*i)).collect::<Vec<_>>();
    let starts = |i: usize| at(i) == b'-' && (i == 0 || !is_token(&at(i - 1)));
    let dashes = |i: usize, count: usize| (i..i + count).all(|i| at(i) == b'-');
    let opens = |i: usize| at(i + 1).is_ascii_alphabetic() || at(i + 1) == b'-';
    let mut long = Vec::new();
    let is_same = |one: &u8, other: &u8| is_token(one) && is_token(other);
    let mut start = 0;
    for run in bytes.chunk_by(is_same) {
        let digit = run.iter().position(u8::is_ascii_digit);
        if let Some(digit) = digit.filter(|_| run.len() >= LONG_RUN as usize) {
            long.push(start + digit.max(LONG_RUN as usize - 1));
        }
        start += run.len();
    }
    let all = |is: &dyn Fn(usize) -> bool| (0..bytes.len()).filter(|i| is(*i)).collect();
    Hints {
        rules: all(&|i| starts(i) && dashes(i, 5)),
        flags: all(&|i| starts(i) && opens(i) && !dashes(i, 4)),
        ats: all(&|i| at(i) == b'@' && before(i) > b' ' && before(i) != b'@'),
        long,
        quads: all(&|i| dot(i) && next(i).iter().any(|second| !next(*second).is_empty())),
        ..Hints::default()
    }
}

/// Places of groups that may be addresses of network interfaces or of IPv6.
fn slow_groups(bytes: &[u8]) -> Vec<usize> {
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b':';
    let colon = |i: usize| i > 0 && at(i) == b':' && is_part(at(i - 1)) && is_part(at(i + 1));
    let dash = |i: usize| at(i) == b'-';
    let dots = |i: usize| i > 0 && at(i) == b'.' && at(i + 5) == b'.';
    let is_hexadecimal = |i: usize| at(i).is_ascii_hexdigit();
    let all = (0..bytes.len()).filter(|&i| {
        colon(i) && (i + 1..=i + 5).any(colon) && pass::is_in_hexadecimal(bytes, i)
            || (0..5).all(|n| dash(i + 3 * n)) && !dash(i + 1)
            || dots(i) && is_hexadecimal(i - 1) && is_hexadecimal(i + 1)
    });
    all.collect()
}

/// Text of the characters that hints are made of, now and then longer than a chunk.
fn hints() -> impl Strategy<Value = String> {
    let text = proptest::string::string_regex(
        "([0-9]{1,7}|[a-f]{1,3}|[A-Z]{1,7}|[:.,@ _-]|-----|key|x|é|\n){0,90}",
    );
    (0_usize..1200, text.unwrap()).prop_map(|(before, text)| {
        let words = "some words ".repeat(100);
        let before = if before < words.len() { &words[before..] } else { "" };
        format!("{before}{text}")
    })
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
    fn hints_are_where_they_are_said_to_be(text in hints()) {
        let bytes = text.as_bytes();
        let slow = slow_hints(bytes);
        let first = hints_of(Level::baseline(), bytes);
        for level in levels() {
            let found = hints_of(level, bytes);
            prop_assert_eq!(&found, &first, "{:?}", level);
            let Hints { words, dense, groups, .. } = found.clone();
            for place in slow_groups(bytes) {
                prop_assert!(groups.contains(&place), "{:?} at {}", text, place);
            }
            prop_assert_eq!(found, Hints { words, dense, groups, ..slow.clone() });
        }
    }

    #[test]
    fn numbers_behind_no_letters_or_few_are_not_passed_by(
        before in hints(),
        word in "[A-Z]{0,6}|[a-z]{2}",
        number in "[0-9]{6,30}",
        behind in hints(),
    ) {
        let before = format!("{before} {word}");
        let text = format!("{before}{number} {behind}");
        for level in levels() {
            let dense = hints_of(level, text.as_bytes()).dense;
            prop_assert!(dense.contains(&before.len()), "{:?} {:?}", text, level);
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

#[test]
fn tables_and_labels_that_end_early_do_no_harm() {
    let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
    let kinds = Rules::of(SecurityLevel::Maximum).redact;
    for text in [
        "copy t (a) from stdin, password\n",
        "copy t (a) from stdin, dob\n\n",
        "insert into t (a) values, password\n('x')",
        "COPY t (token) FROM stdin;",
        &"姓名".repeat(500),
        &format!("{}습니다", "이름".repeat(500)),
    ] {
        assert!(scanner.scan(text, kinds).is_empty(), "{text}");
    }
    // The rows of one table end where they end, and the next one is read.
    let dump = "COPY s (token) FROM stdin;\nkWq7Zt5LmX2vBn7RwK9cYp\n\\.\n\n\
                COPY users (id, email, password) FROM stdin;\n1\tada@busy-mill.org\tWinter!2031\n";
    let found: Vec<&str> =
        scanner.scan(dump, kinds).iter().map(|finding| &dump[finding.range()]).collect();
    assert_eq!(found, ["kWq7Zt5LmX2vBn7RwK9cYp", "ada@busy-mill.org", "Winter!2031"]);
}
