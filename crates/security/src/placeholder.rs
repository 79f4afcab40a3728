//! What stands in a redacted value's place: a word that models copy, that is the same turn after
//! turn, and that tells nothing about the value.
//!
//! `Q` + four letters of the kind + twelve digits of a keyed hash + a check digit: `QMAIL4F7K2N9XW3ET8`.
//!
//! - Letters and digits only: no escaping in JSON, URLs, HTML, markdown or shells changes it.
//! - `Q` begins it and occurs nowhere else in it, so no end of a placeholder is also its beginning:
//!   a restorer that has seen a part of one never has to look back.
//! - The hash is keyed by (deployment, account) and covers kind and value: the same value has the
//!   same placeholder in every turn (prompt caches keep hitting), another one in another account,
//!   and nobody without the key can guess values by trying them.
//! - Upper or lower case does not matter when it is read.

use std::fmt;

use crate::kind::Kind;

/// Length of every placeholder in bytes.
pub const LENGTH: usize = 1 + 4 + HASH_DIGITS + 1;
/// 60 bits: among a million values of one account, the odds that two share one are 1 to 2 million.
const HASH_DIGITS: usize = 12;
/// Base 32 without `Q`, and without `I`, `L`, `O`, which are mistaken for other characters.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPRSTUVWXYZ";
/// What is hashed of most values, with what they are, is no longer than two blocks of the hash.
const SHORT: usize = 128;

/// What one account's placeholders are made with.
#[derive(Clone)]
pub struct PlaceholderKey([u8; 32]);

impl PlaceholderKey {
    /// The key of `account`, derived from the deployment's secret.
    pub fn new(deployment: &[u8; 32], account: &str) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(deployment);
        hasher.update(b"placeholder\0");
        hasher.update(account.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The placeholder of `value`. `attempt` is 0, or higher where the text holds those of the lower
    /// attempts already.
    pub fn mint(&self, kind: Kind, value: &str, attempt: u32) -> String {
        self.letters(kind, value, attempt).into_iter().map(char::from).collect()
    }

    /// The letters and digits of that placeholder.
    pub(crate) fn letters(&self, kind: Kind, value: &str, attempt: u32) -> [u8; LENGTH] {
        let hash = self.hash(kind, value, attempt);
        let mut letters = [b'Q'; LENGTH];
        letters[1..5].copy_from_slice(kind.code().as_bytes());
        for (letter, byte) in letters[5..].iter_mut().zip(&hash[..HASH_DIGITS]) {
            *letter = ALPHABET[usize::from(byte & 31)];
        }
        letters[LENGTH - 1] = check_digit(&letters[..LENGTH - 1]);
        letters
    }

    /// What placeholders and surrogates are made from.
    pub(crate) fn hash(&self, kind: Kind, value: &str, attempt: u32) -> [u8; 32] {
        // Not the kind's number: one more kind in the list must not change what is in use.
        let (code, attempt) = (kind.code().as_bytes(), attempt.to_le_bytes());
        // Setting a hasher up takes as long as hashing a short value.
        let mut buffer = [0; SHORT];
        let length = code.len() + attempt.len() + value.len();
        if let Some(input) = buffer.get_mut(..length) {
            let (head, rest) = input.split_at_mut(code.len());
            head.copy_from_slice(code);
            let (middle, tail) = rest.split_at_mut(attempt.len());
            middle.copy_from_slice(&attempt);
            tail.copy_from_slice(value.as_bytes());
            return *blake3::keyed_hash(&self.0, input).as_bytes();
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(code);
        hasher.update(&attempt);
        hasher.update(value.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

impl fmt::Debug for PlaceholderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlaceholderKey(***)")
    }
}

/// The kind of the placeholder that `text` begins with, in whatever case: somebody's, not
/// necessarily this request's.
pub fn recognise(text: &[u8]) -> Option<Kind> {
    let candidate = text.get(..LENGTH)?;
    let (body, check) = candidate.split_at(LENGTH - 1);
    let (head, hash) = body.split_at(5);
    if !head[0].eq_ignore_ascii_case(&b'Q') || !is_second(head[1]) {
        return None;
    }
    let kind =
        Kind::ALL.into_iter().find(|k| k.code().as_bytes().eq_ignore_ascii_case(&head[1..]))?;
    let is_hash = hash.iter().all(|byte| is_digit(*byte));
    (is_hash && check[0].to_ascii_uppercase() == check_digit(body)).then_some(kind)
}

/// Whether `byte` follows the `Q` of any kind's placeholder. No code has a `U` there.
pub(crate) fn is_second(byte: u8) -> bool {
    SECONDS[usize::from(byte)]
}

const SECONDS: [bool; 256] = {
    let mut seconds = [false; 256];
    let mut i = 0;
    while i < Kind::ALL.len() {
        let letter = Kind::ALL[i].code().as_bytes()[0];
        seconds[letter as usize] = true;
        seconds[letter.to_ascii_lowercase() as usize] = true;
        i += 1;
    }
    seconds
};

/// A weighted sum that tells any one changed character and most swapped neighbours.
fn check_digit(body: &[u8]) -> u8 {
    let weighted = |(i, byte): (usize, &u8)| (2 * i + 1) * value_of(*byte);
    let sum: usize = body.iter().enumerate().map(weighted).sum();
    ALPHABET[sum % 32]
}

/// What a letter or digit counts, in either case: its place in the alphabet, if it has one.
fn value_of(byte: u8) -> usize {
    usize::from(VALUES[usize::from(byte)] & !STRANGE)
}

fn is_digit(byte: u8) -> bool {
    VALUES[usize::from(byte)] & STRANGE == 0
}

/// Marks what is not in the alphabet.
const STRANGE: u8 = 0x80;

const VALUES: [u8; 256] = {
    let mut values = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        values[byte] = ((byte as u8).to_ascii_uppercase() % 32) | STRANGE;
        byte += 1;
    }
    let mut i = 0;
    while i < ALPHABET.len() {
        values[ALPHABET[i] as usize] = i as u8;
        values[ALPHABET[i].to_ascii_lowercase() as usize] = i as u8;
        i += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(account: &str) -> PlaceholderKey {
        PlaceholderKey::new(&[7; 32], account)
    }

    #[test]
    fn the_same_value_has_the_same_placeholder_and_other_accounts_another() {
        let ours = key("a").mint(Kind::Email, "ada@example.org", 0);
        assert_eq!(ours, key("a").mint(Kind::Email, "ada@example.org", 0));
        for other in [
            key("b").mint(Kind::Email, "ada@example.org", 0),
            key("a").mint(Kind::Email, "bob@example.org", 0),
            key("a").mint(Kind::Email, "ada@example.org", 1),
        ] {
            assert_ne!(ours, other);
        }
        assert_eq!(format!("{:?}", key("a")), "PlaceholderKey(***)");
    }

    proptest! {
        #[test]
        fn placeholders_are_words_without_overlap(value in ".*", kind in 0_usize..20) {
            let kind = Kind::ALL[kind];
            let placeholder = key("a").mint(kind, &value, 0);
            prop_assert_eq!(placeholder.len(), LENGTH);
            prop_assert!(placeholder.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()));
            prop_assert_eq!(placeholder.rfind('Q'), Some(0));
            prop_assert_eq!(recognise(placeholder.as_bytes()), Some(kind));
            prop_assert_eq!(recognise(placeholder.to_lowercase().as_bytes()), Some(kind));
            for cut in 1..LENGTH {
                prop_assert!(!placeholder.starts_with(&placeholder[cut..]));
            }
        }

        #[test]
        fn a_changed_character_is_told(value in ".*", at in 1..LENGTH, to in "[0-9A-Z]") {
            let placeholder = key("a").mint(Kind::Card, &value, 0);
            let mut changed = placeholder.clone();
            changed.replace_range(at..=at, &to);
            prop_assume!(changed != placeholder);
            prop_assert_ne!(recognise(changed.as_bytes()), Some(Kind::Card));
        }
    }
}
