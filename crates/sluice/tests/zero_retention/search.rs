//! Looks for many texts in many bytes at once, in every form that a text can have.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::forms::{digests, spellings};
use crate::marks::Said;

/// Somewhere that something may have been written to.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Something that was found.
pub(crate) struct Found {
    /// What it is of, and in which form.
    pub(crate) what: String,
    /// Where it was.
    pub(crate) place: String,
    /// What stands around it.
    around: String,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}: …{}…", self.what, self.place, self.around)
    }
}

/// What is sought.
#[derive(Default)]
pub(crate) struct Search {
    sought: Vec<Sought>,
    /// The last one that begins with these bytes.
    by_beginning: HashMap<u64, usize>,
    /// A bit for each beginning's hash: most bytes begin nothing, and are passed quickly.
    sieve: Vec<u64>,
}

struct Sought {
    place: Arc<str>,
    form: &'static str,
    /// In small letters.
    bytes: Vec<u8>,
    /// The one before it with the same beginning.
    before: Option<usize>,
}

impl Search {
    /// Looks for everything that was sent, in every form.
    pub(crate) fn of(sent: &[Said]) -> Self {
        let mut search = Self { sieve: vec![0; SIEVE_BITS / 64], ..Self::default() };
        for said in sent {
            let place: Arc<str> = said.place.as_str().into();
            let text = std::str::from_utf8(&said.text).ok().filter(|_| said.is_mark);
            for (form, bytes) in text.map(spellings).unwrap_or_default() {
                search.add(&place, form, bytes);
            }
            for (form, bytes) in digests(&said.text) {
                search.add(&place, form, bytes);
            }
        }
        search
    }

    fn add(&mut self, place: &Arc<str>, form: &'static str, mut bytes: Vec<u8>) {
        bytes.make_ascii_lowercase();
        // Anything shorter is found by chance.
        let Some(beginning) = bytes.first_chunk() else { return };
        let beginning = u64::from_be_bytes(*beginning);
        let before = self.by_beginning.insert(beginning, self.sought.len());
        let bit = sieved(beginning);
        self.sieve[bit / 64] |= 1 << (bit % 64);
        self.sought.push(Sought { place: place.clone(), form, bytes, before });
    }

    /// Everything that is found in `places`.
    pub(crate) fn through<'p>(&self, places: impl IntoIterator<Item = &'p Place>) -> Vec<Found> {
        places.into_iter().flat_map(|place| self.inside(place)).collect()
    }

    fn inside(&self, place: &Place) -> Vec<Found> {
        let bytes = place.bytes.to_ascii_lowercase();
        let mut found = Vec::new();
        let mut window = 0;
        for (end, byte) in bytes.iter().enumerate() {
            window = window << 8 | u64::from(*byte);
            let bit = sieved(window);
            if self.sieve[bit / 64] >> (bit % 64) & 1 == 0 || end < 7 {
                continue;
            }
            let start = end - 7;
            let mut next = self.by_beginning.get(&window).copied();
            while let Some(sought) = next.map(|at| &self.sought[at]) {
                next = sought.before;
                if bytes[start..].starts_with(&sought.bytes) && sought.stands_alone(&bytes, start) {
                    found.push(Found {
                        what: format!("{} ({})", sought.place, sought.form),
                        place: place.name.clone(),
                        around: around(&place.bytes, start, sought.bytes.len()),
                    });
                }
            }
        }
        found
    }
}

impl Sought {
    /// Whether it is long, or not a part of a longer number: a short number is found in the midst of
    /// others by chance.
    fn stands_alone(&self, bytes: &[u8], start: usize) -> bool {
        let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_hexdigit);
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(start + self.bytes.len());
        self.bytes.len() > 10 || !(is_digit(before) || is_digit(after))
    }
}

const SIEVE_BITS: usize = 1 << 24;

fn sieved(beginning: u64) -> usize {
    (beginning.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
}

fn around(bytes: &[u8], start: usize, length: usize) -> String {
    const SIDE: usize = 60;
    let end = bytes.len().min(start + length + SIDE);
    String::from_utf8_lossy(&bytes[start.saturating_sub(SIDE)..end]).escape_debug().to_string()
}
