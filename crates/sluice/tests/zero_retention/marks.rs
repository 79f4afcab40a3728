//! Marks: texts that occur nowhere else, a different one in each place of each request.
//!
//! They are made from the name of their place, so that each run has the same ones; nobody who does
//! not know how can guess them. All of them are letters and digits, which every way of quoting
//! leaves as they are.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use sluice_testkit::Gate;

/// Everything that was sent from either side, to be searched for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<HashSet<Said>>>);

/// Something that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Said {
    /// Who sent it, on which way, in which place.
    pub(crate) place: String,
    pub(crate) text: Vec<u8>,
    /// Whether it is a mark. Of other texts only what is computed from the whole is sought.
    pub(crate) is_mark: bool,
}

/// The marks of one request and its answer.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    way: String,
    sent: Sent,
    /// Open once the caller has heard how a streamed answer begins.
    pub(crate) heard: Gate,
}

impl Sent {
    pub(crate) fn marks(&self, way: String) -> Marks {
        Marks { way, sent: self.clone(), heard: Gate::default() }
    }

    pub(crate) fn all(&self) -> Vec<Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn note(&self, place: String, text: &[u8], is_mark: bool) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A place may be asked for its mark more than once.
        all.insert(Said { place, text: text.to_vec(), is_mark });
    }
}

impl Marks {
    /// A mark that reads like a word: the filter lets it pass.
    pub(crate) fn word(&self, place: &str) -> String {
        const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
        let letters = self.random(place).flat_map(|byte| {
            let vowel = b"aeio"[usize::from(byte >> 4 & 3)];
            [CONSONANTS[usize::from(byte & 15)], vowel]
        });
        let letters: Vec<u8> = letters.take(18).collect();
        self.mark(place, String::from_utf8(letters).unwrap())
    }

    /// A mark that is a secret: the filter puts a placeholder in its place.
    pub(crate) fn secret(&self, place: &str) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01234567890z";
        let digits = self.random(place).map(|byte| char::from(DIGITS[usize::from(byte & 63)]));
        let token = format!("ghp_{}", digits.cycle().take(36).collect::<String>());
        self.mark(place, token)
    }

    /// An e-mail address with a mark in it.
    pub(crate) fn email(&self, place: &str) -> String {
        let name = self.word(place);
        let address = format!("{name}@busy-mill.org");
        self.text(place, &address);
        address
    }

    /// A text that has marks in it; what is computed from the whole of it is sought, too.
    pub(crate) fn text(&self, place: &str, text: &str) {
        self.sent.note(format!("{}: {place}", self.way), text.as_bytes(), false);
    }

    fn mark(&self, place: &str, mark: String) -> String {
        self.sent.note(format!("{}: {place}", self.way), mark.as_bytes(), true);
        mark
    }

    fn random(&self, place: &str) -> impl Iterator<Item = u8> + Clone + use<> {
        let seed = blake3::hash(format!("{}: {place}", self.way).as_bytes());
        seed.as_bytes().to_vec().into_iter()
    }
}
