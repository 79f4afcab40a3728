//! What is remembered of a request for the next turn of its conversation, and by what.
//!
//! A turn repeats the bytes of the one before and adds some at the end. What is remembered is a
//! *stretch*: a run of messages, by a keyed hash of its bytes. Where a stretch may begin, samples of
//! the text tell how long the stretches were that began like this; so many bytes are hashed, and
//! where the hash is known, nothing of them is read. Equal bytes in an array of messages are equal
//! messages, wherever the array goes on.
//!
//! Besides the whole list, groups of its messages are remembered, by the hash of all that is ahead
//! of their end: they are known, too, where a message behind them was changed or taken away, and no
//! byte is hashed twice. A long first message is remembered for itself: what it says may have the
//! time of day in it, and all others stay as they are.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::quality::RandomState;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::SourceMember;

use super::Subject;
use super::cache::{Cache, CacheKey, Weight};
use super::known::{Known, Spot};
use crate::kind::Kind;

/// A group ends behind the message with which it is as long as this.
pub(super) const GROUP: usize = 32 << 10;
/// What is shorter is read sooner than it is hashed, looked up and remembered.
pub(super) const SHORTEST: usize = 1 << 10;
/// The same of messages, which cost more to remember: their lengths are, too. Most requests that are
/// shorter have no further turn.
pub(super) const SHORTEST_LIST: usize = 2 << 10;

/// Bytes at the beginning that are hashed to find lengths by.
const SAMPLED: usize = 256;
/// How many further samples a long text gives, of how many bytes, and how far apart they are.
const SAMPLES: usize = 15;
const SAMPLE: usize = 16;
const APART: usize = 1 << 10;
/// How many stretches that begin alike are found, the latest ones: turns of conversations that begin
/// with the same words. Telling them apart takes a nanosecond each.
const MOST_LENGTHS: usize = 128;
/// So many bytes of values are hashed at once.
const BUFFERED: usize = 4 << 10;

/// What is remembered.
pub(super) struct Memory {
    known: Cache<Known>,
    lengths: Cache<Vec<Length>>,
    spread: Cache<Recalled>,
    /// What samples are hashed with. They only tell what is worth a look, so that this need not
    /// withstand somebody who knows it.
    samples: RandomState,
    has_room: bool,
}

/// Where the values of a request stand in a stretch. All in the order of the stretch's blocks.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    /// Their places; none where they are those of what was found there, and nothing else.
    pub(super) spots: Option<Vec<Spot>>,
    /// Blocks with words in them that look like placeholders. They are looked through anew each
    /// time, as these words are content.
    pub(super) anew: Vec<usize>,
}

/// How long a stretch is, and a little about its end: too little to tell anything of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    bytes: usize,
    end: u16,
}

/// How a stretch begins: what lengths of such stretches are remembered by.
#[derive(Clone, Copy, Default)]
pub(super) struct Begin {
    /// By samples of so much as all long stretches have.
    long: Option<CacheKey>,
    /// By the first bytes.
    short: Option<CacheKey>,
}

/// A stretch that is known.
pub(super) struct Found {
    /// Its length.
    pub(super) bytes: usize,
    /// What it is known by.
    pub(super) key: CacheKey,
    /// What is known.
    pub(super) known: Arc<Known>,
    /// The hash of so much of the text, to go on with.
    pub(super) hasher: blake3::Hasher,
}

impl Recalled {
    /// The places of values, in the stretch of which this is known.
    pub(super) fn spots<'r>(&'r self, known: &'r Known) -> &'r [Spot] {
        self.spots.as_deref().unwrap_or(&known.findings)
    }
}

impl Weight for Recalled {
    fn weight(&self) -> usize {
        let spots = self.spots.as_ref().map_or(0, Vec::capacity);
        spots * size_of::<Spot>() + self.anew.capacity() * size_of::<usize>()
    }
}

impl Weight for Vec<Length> {
    fn weight(&self) -> usize {
        self.capacity() * size_of::<Length>()
    }
}

/// Whether a member of a request is long enough to be remembered.
pub(super) fn is_long(member: &SourceMember) -> bool {
    let shortest = if &*member.name == "messages" { SHORTEST_LIST } else { SHORTEST };
    member.value.as_str().len() >= shortest
}

impl Memory {
    /// Memory of up to `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        let eighth = bytes / 8;
        Self {
            known: Cache::new(eighth * 4),
            lengths: Cache::new(eighth),
            spread: Cache::new(eighth * 3),
            samples: RandomState::default(),
            has_room: bytes > 0,
        }
    }

    /// Whether anything can be remembered.
    pub(super) fn has_room(&self) -> bool {
        self.has_room
    }

    /// What is known by a key.
    pub(super) fn known(&self, key: CacheKey) -> Option<Arc<Known>> {
        self.known.find(key)
    }

    /// Remembers it.
    pub(super) fn remember(&self, key: CacheKey, known: Arc<Known>) {
        self.known.insert(key, known);
    }

    /// What the lengths of stretches that begin like `text` are remembered by.
    pub(super) fn begin(&self, keys: &Keys, text: &str) -> Begin {
        let text = text.as_bytes();
        let short = text.get(..SAMPLED).map(|first| {
            let mut hasher = self.samples.build_hasher();
            hasher.write(first);
            hasher
        });
        let long = short.as_ref().zip(text.get(..SAMPLES * APART)).map(|(short, text)| {
            let mut hasher = short.clone();
            for stretch in text.chunks_exact(APART) {
                hasher.write(&stretch[APART - SAMPLE..]);
            }
            hasher
        });
        let key = |hasher: foldhash::quality::FoldHasher<'_>| {
            CacheKey::of_samples(hasher.finish(), &keys.places)
        };
        Begin { long: long.map(key), short: short.map(key) }
    }

    /// The longest known stretch of messages that `text` begins with. No more than `in_vain` bytes
    /// are hashed for nothing; what was is taken off.
    pub(super) fn stretch(
        &self,
        keys: &Keys,
        text: &str,
        begin: &Begin,
        in_vain: &mut usize,
    ) -> Option<Found> {
        for key in [begin.long, begin.short] {
            let Some(lengths) = key.and_then(|key| self.lengths.find(key)) else { continue };
            // Mostly the longest is the one: they are in order already, but for the conversations that
            // begin alike, and the others are not looked at.
            let mut lengths: Vec<Length> = lengths.to_vec();
            lengths.sort_unstable_by_key(|length| length.bytes);
            for length in lengths.into_iter().rev() {
                let bytes = length.bytes;
                let Some(stretch) = text.get(..bytes).filter(|_| bytes <= *in_vain) else {
                    continue;
                };
                if Some(length) != self.length(text, bytes) {
                    continue;
                }
                let mut hasher = keys.hasher();
                hasher.update(stretch.as_bytes());
                let key = CacheKey::new(&hasher.finalize());
                if let Some(known) = self.known(key) {
                    return Some(Found { bytes, key, known, hasher });
                }
                *in_vain -= bytes;
            }
        }
        None
    }

    /// Remembers that a stretch of so many bytes of `text` is known.
    pub(super) fn remember_length(&self, begin: &Begin, text: &str, bytes: usize) {
        // What a stretch is looked for by must not reach beyond it.
        let key = if bytes >= SAMPLES * APART { begin.long } else { begin.short };
        let Some((key, length)) = key.zip(self.length(text, bytes)) else { return };
        let known = self.lengths.find(key);
        let mut lengths = known.map_or_else(Vec::new, |lengths| lengths.to_vec());
        if lengths.contains(&length) {
            return;
        }
        if lengths.len() >= MOST_LENGTHS {
            lengths.remove(0);
        }
        lengths.push(length);
        self.lengths.insert(key, Arc::new(lengths));
    }

    /// The length of the stretch that `text` begins with and that ends behind `bytes`.
    fn length(&self, text: &str, bytes: usize) -> Option<Length> {
        // A few bytes here and there: there may be many lengths to be told from each other.
        let end = text.as_bytes().get(..bytes)?.last_chunk::<SHORTEST>()?;
        let mut hasher = self.samples.build_hasher();
        for at in [0, SHORTEST / 8 * 7, SHORTEST - SAMPLE] {
            hasher.write(&end[at..at + SAMPLE]);
        }
        Some(Length { bytes, end: hasher.finish() as u16 })
    }

    /// Where the values of some request stand in a stretch.
    pub(super) fn spread(&self, key: CacheKey) -> Option<Arc<Recalled>> {
        self.spread.find(key)
    }

    /// Remembers it.
    pub(super) fn remember_spread(&self, key: CacheKey, recalled: Recalled) {
        self.spread.insert(key, Arc::new(recalled));
    }
}

/// What stretches of an account's requests are remembered by, at one level and for
/// providers that take the same sealed values back. The filter's settings
/// are no part of it: they are those of its memory, which lives no longer than they do.
pub(super) struct Keys {
    messages: [u8; 32],
    groups: [u8; 32],
    tools: [u8; 32],
    members: [u8; 32],
    places: [u8; 32],
    spread: [u8; 32],
}

/// The same for one set of values that were found.
pub(super) struct SpreadKeys([u8; 32]);

impl Keys {
    /// The keys for a subject.
    pub(super) fn new(secret: &[u8; 32], subject: &Subject<'_>) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher.update(b"memory\0");
        // What is left unread depends on who may be asked.
        let SealedPlaces { thoughts, calls } = subject.sealed;
        hasher.update(&[subject.level as u8, thoughts.into(), calls.into()]);
        hasher.update(subject.account.as_bytes());
        // As many keys as there are purposes, from one hash.
        let mut keys = hasher.finalize_xof();
        let mut key = || {
            let mut key = [0; 32];
            keys.fill(&mut key);
            key
        };
        let [messages, groups, tools, members, places, spread] = std::array::from_fn(|_| key());
        Self { messages, groups, tools, members, places, spread }
    }

    /// What hashes stretches of messages.
    pub(super) fn hasher(&self) -> blake3::Hasher {
        blake3::Hasher::new_keyed(&self.messages)
    }

    /// What a group of messages is remembered by, that begins at `from` of the list and ends where
    /// `list` was hashed to.
    pub(super) fn of_group(&self, list: &blake3::Hasher, from: usize) -> CacheKey {
        let mut hasher = blake3::Hasher::new_keyed(&self.groups);
        hasher.update(list.finalize().as_bytes()).update(&(from as u64).to_le_bytes());
        CacheKey::new(&hasher.finalize())
    }

    /// What all tools are remembered by.
    pub(super) fn of_tools(&self, text: &str) -> CacheKey {
        CacheKey::new(&blake3::keyed_hash(&self.tools, text.as_bytes()))
    }

    /// What another member of a request is remembered by.
    pub(super) fn of_member(&self, name: &str, value: &str) -> CacheKey {
        let key = blake3::keyed_hash(&self.members, name.as_bytes());
        CacheKey::new(&blake3::keyed_hash(key.as_bytes(), value.as_bytes()))
    }

    /// The keys for a request in which `values` were found.
    pub(super) fn of_values<'v>(
        &self,
        values: impl Iterator<Item = (&'v str, Kind)>,
    ) -> SpreadKeys {
        let mut hasher = blake3::Hasher::new_keyed(&self.spread);
        // Few updates of many bytes take less time than many of few.
        let mut buffer = Vec::with_capacity(BUFFERED);
        for (value, kind) in values {
            if buffer.len() >= BUFFERED {
                hasher.update(&buffer);
                buffer.clear();
            }
            buffer.extend_from_slice(&(value.len() as u64).to_le_bytes());
            buffer.extend_from_slice(value.as_bytes());
            buffer.push(kind as u8);
        }
        hasher.update(&buffer);
        SpreadKeys(*hasher.finalize().as_bytes())
    }
}

impl SpreadKeys {
    /// What a stretch's places are remembered by.
    pub(super) fn of_stretch(&self, stretch: CacheKey) -> CacheKey {
        CacheKey::new(&blake3::keyed_hash(&self.0, stretch.as_bytes()))
    }
}
