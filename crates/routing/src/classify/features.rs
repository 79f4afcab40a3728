//! What the model sees of a turn: hashed words and word pairs, where they stand, what they mean,
//! and the look of the text. One pass, nothing on the heap.

use arrayvec::ArrayVec;

use super::hash::pair;
use super::model::Size;
use super::reader::Reader;
use super::text::Turn;

/// How many features there are: each is a bucket that a hash falls into.
pub const BUCKETS: usize = 1 << 16;
/// The most features of words that are looked at.
const MOST_WORDS: usize = 4096;
/// The most other features.
const MOST_DENSE: usize = 1024;

/// A turn's features.
pub struct Features {
    seen: [u64; BUCKETS / 64],
    /// Buckets of words. They share a weight, so that a long text is not surer than a short one.
    pub words: ArrayVec<u16, MOST_WORDS>,
    /// Buckets of meanings and looks, and of the words at both ends: of those there are as many in
    /// a long text as in a short one.
    pub dense: ArrayVec<u16, MOST_DENSE>,
    /// What of its size counts for complexity.
    pub size: Size,
}

/// What a feature is about: the same word is another feature in another place.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(super) enum Kind {
    Word = 1,
    Pair,
    Stem,
    First,
    Opening,
    Last,
    Closing,
    InCode,
    InLog,
    InItem,
    Tag,
    TagPair,
    OpeningTag,
    ClosingTag,
    TagsTogether,
    TagCount,
    CodeTag,
    Look,
    LookTag,
    Length,
    FirstTag,
    LookPair,
    Lines,
}

impl Features {
    /// The features of `turn`.
    pub fn of(turn: &Turn) -> Self {
        let mut features = Self {
            seen: [0; BUCKETS / 64],
            words: ArrayVec::new(),
            dense: ArrayVec::new(),
            size: Size { log_length: 0.0, has_choices: false },
        };
        Reader::new(&mut features).read(turn);
        features
    }

    /// What each feature of a word counts.
    pub fn word_weight(&self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
        let count = self.words.len() as f32;
        (24.0 / count.max(24.0)).sqrt()
    }

    #[inline]
    pub(super) fn word(&mut self, kind: Kind, hash: u32) {
        if let Some(bucket) = self.new_bucket(kind, hash) {
            let _ = self.words.try_push(bucket);
        }
    }

    pub(super) fn dense(&mut self, kind: Kind, hash: u32) {
        if let Some(bucket) = self.new_bucket(kind, hash) {
            let _ = self.dense.try_push(bucket);
        }
    }

    /// The bucket, if it is seen for the first time: a feature is there or it is not.
    #[inline]
    fn new_bucket(&mut self, kind: Kind, hash: u32) -> Option<u16> {
        let bucket = (pair(hash, kind as u32) >> 16) as u16;
        let seen = &mut self.seen[usize::from(bucket) / 64];
        let bit = 1 << (bucket % 64);
        let is_new = *seen & bit == 0;
        *seen |= bit;
        is_new.then_some(bucket)
    }
}
