//! Whether a value looks like chance or like an example that somebody made up.
//!
//! Models write sample code with sample credentials. A value counts only if it is nothing that a
//! person or a model would invent to fill a gap.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::request::encoding;

/// Words of which invented values are made, without their `0` for `o` and the like.
const INVENTED: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "fake",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "xxx",
    "insert",
    "replace",
    "redacted",
    "withheld",
    "secret",
    "password",
    "passwd",
    "passw",
    "test",
    "demo",
    "todo",
    "foobar",
    "abcdef",
    "qwerty",
    "letmein",
    "welcome",
    "admin",
    "hunter2",
    "123456",
    "012345",
    "987654",
    "000000",
    "111111",
    "not-a-real",
    "notareal",
    "abc123",
    "deadbeef",
    "cafebabe",
    "mysecret",
    "mytoken",
    "mykey",
    "my-",
    "my_",
    "here",
    "token",
    "secure",
    "strong",
    "correct",
    "horse",
    "1q2w3e",
    "zxcv",
    "asdf",
    "a1b2c3",
    "hello",
    "world",
    "supersecret",
    "lorem",
    "ipsum",
    "unsafe",
    "insecure",
    "random",
    "generated",
];

/// Searches for `words` in any case, all of them at once. They are few enough that building cannot fail;
/// if it does, none is found.
pub(super) fn any_of(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .build(words)
        .ok()
}

static INVENTED_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(INVENTED));

/// Whether `value` holds a word of which invented values are made.
fn holds_invented(value: &str) -> bool {
    // In a long value, a short word is chance.
    let counts = |word: usize| value.len() < 100 || INVENTED[word].len() > 4;
    INVENTED_WORDS.as_ref().is_some_and(|words| {
        words.find_overlapping_iter(value).any(|found| counts(found.pattern().as_usize()))
    })
}

/// Entropy of `value`'s characters in bits.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// Whether `value` looks like an example that somebody made up.
pub(super) fn is_invented(value: &str) -> bool {
    let plain: String = value.chars().map(unleet).collect();
    holds_invented(value)
        || holds_invented(&plain)
        || value.starts_with(['<', '{', '$', '%', '['])
        || ["${", "{{", "$(", "**", "...", "…"].iter().any(|mark| value.contains(mark))
        || longest_pattern(value) >= 6
        || distinct(value) < 6.min(value.len() / 2)
}

/// Whether `value` looks like chance: nothing in it that people invent or can say.
pub(super) fn is_chance(value: &str) -> bool {
    let classes = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit]
        .iter()
        .filter(|class| value.bytes().any(|byte| class(&byte)))
        .count();
    value.len() >= 10
        && classes >= 2
        // Hexadecimal digits have no more than four bits.
        && entropy(value) >= ((value.len() as f64).log2() * 0.78).min(3.2)
        && matches!(value.len() - letters_in_words(value), left if left == value.len() || left >= 9)
}

/// The bytes behind base64 in either alphabet, with or without its end. Nothing where it is none.
pub(super) fn from_base64(value: &str) -> Vec<u8> {
    let digits = value.trim_end_matches('=').as_bytes();
    // A digit alone ends no byte: what it belongs to was cut off.
    let whole = digits.len() - usize::from(digits.len() % 4 == 1);
    encoding::base64(&digits[..whole]).unwrap_or_default()
}

/// The letter that a digit or sign stands for in made-up passwords.
fn unleet(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other.to_ascii_lowercase(),
    }
}

/// Length of the longest run of one character or of successors: `aaaa`, `1234`, `dcba`.
fn longest_pattern(value: &str) -> usize {
    let bytes = value.as_bytes();
    let mut longest = 1;
    let (mut length, mut last_step) = (1, None);
    for pair in bytes.windows(2) {
        let step = i16::from(pair[1]) - i16::from(pair[0]);
        if step.abs() > 1 {
            (length, last_step) = (1, None);
        } else if last_step == Some(step) {
            length += 1;
        } else {
            (length, last_step) = (2, Some(step));
        }
        longest = longest.max(length);
    }
    longest
}

fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// How many of the letters stand in runs of five or more that alternate between vowels and consonants
/// as words do.
fn letters_in_words(value: &str) -> usize {
    let is_vowel = |byte: u8| matches!(byte | 32, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    let (mut letters, mut run, mut alike) = (0, 0, 0);
    let mut last: Option<u8> = None;
    for byte in value.bytes().chain([0]) {
        let goes_on = last.is_some_and(|last| {
            byte.is_ascii_lowercase() || byte.is_ascii_uppercase() && last.is_ascii_uppercase()
        });
        let is_alike = last.is_some_and(|last| is_vowel(last) == is_vowel(byte));
        alike = if is_alike { alike + 1 } else { 1 };
        if goes_on && alike <= 2 {
            run += 1;
        } else {
            letters += if run >= 5 { run } else { 0 };
            run = usize::from(byte.is_ascii_alphabetic());
            alike = 1;
        }
        last = byte.is_ascii_alphabetic().then_some(byte);
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_values_are_told() {
        for value in [
            "sk-xxxxxxxxxxxxxxxx",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "your-api-key-here",
            "sk_test_1234567890abcdef",
            "P@ssw0rd!2024",
            "MyS3cur3P@ss",
            "AKIAIOSFODNN7EXAMPLE",
            "abcdefghijklmnop",
            "<token>",
            "${TOKEN}",
            "sk-...",
            "AIzaSyA-abcdefghijklmnop",
            "aaaaaaaabbbbbbbb",
        ] {
            assert!(is_invented(value), "{value}");
        }
        for value in [
            "ghp_9dK2vQ7xTz4LmW8sRbYc1NfHj6PgUe3AoV0i",
            "AKIAQ3EGRWT5ZJ7VLNKP",
            "qW8#zLp2Vx!n",
            "GardenQ4xkkvPb2L6T67",
        ] {
            assert!(!is_invented(value) && is_chance(value), "{value}");
        }
        for value in [
            "databaseUser42",
            "postgres",
            "correcthorse1",
            "MAX_CONNECTIONS_9",
            "Falcon2025!",
            "Velvet-silver2282",
        ] {
            assert!(!is_chance(value), "{value}");
        }
    }
}
