//! What the model looks at: words and short sequences of words, and the ideas that they stand for
//! with the order and distance in which those come. Each is hashed to a number below [`BUCKETS`].

use std::ops::Range;
use std::sync::LazyLock;

use super::Origin;
use super::lexicon::{Idea, Lexicon};
use super::prefilter::{Prefilter, widened};
use super::tokens::{CALLED, CAPITALS, DISGUISED, LINE, SENTENCE, SYLLABLE, Token, tokenise};

/// How many different features the model tells apart.
pub const BUCKETS: usize = 1 << 18;
/// How far back ideas are seen together, in tokens.
const REACH: usize = 12;
/// How far behind a word for an AI others may be said to it, in tokens.
const HEARD: usize = 40;
/// How near behind it the words themselves matter, and a colon or a comma ends its name, in tokens.
const NEAR: usize = 10;
/// How many ideas back.
const IDEAS_BACK: usize = 5;
/// A feature counts once within so many tokens: lists and tables say the same again and again.
const ONCE_WITHIN: usize = 64;
/// How many of the latest features are remembered for that.
const REMEMBERED: usize = 2048;

/// A text's features in the order of its tokens.
#[derive(Debug, Default)]
pub struct Features {
    /// Byte offset of each token.
    pub starts: Vec<u32>,
    /// Where each token's features end in [`Self::values`]; they begin where the previous ones end.
    pub ends: Vec<u32>,
    /// The features, each below [`BUCKETS`].
    pub values: Vec<u32>,
}

/// The features of a whole text, for training.
pub fn extract(text: &str, origin: Origin) -> Features {
    extract_from(text, 0..text.len(), origin)
}

/// The features of a place that scoring looks at.
pub struct PlaceFeatures {
    /// Those of the place itself.
    pub near: Features,
    /// Those of the place with what stands around, which are looked at if the others are
    /// [`super::PROMISING`].
    pub wide: Features,
}

/// The features of each place of `text` that scoring looks at where `prefilter` finds places.
pub fn extract_places(prefilter: &Prefilter, text: &str, origin: Origin) -> Vec<PlaceFeatures> {
    let places = super::places(prefilter, text, origin).into_iter();
    let extract_place = |place: Range<usize>| {
        let wide = widened(text, &place, super::FURTHER);
        PlaceFeatures {
            near: extract_from(text, place, origin),
            wide: extract_from(text, wide, origin),
        }
    };
    places.map(extract_place).collect()
}

fn extract_from(text: &str, place: Range<usize>, origin: Origin) -> Features {
    let mut tokens = Vec::new();
    tokenise(text.get(place.clone()).unwrap_or_default(), place.start, &mut tokens);
    let mut features = Features::default();
    let mut reader = Reader::new(origin);
    let mut recent = Recent::new();
    for i in 0..tokens.len() {
        let number = recent.number(i);
        reader.read(&tokens, i, |feature| {
            if recent.is_new(feature, number) {
                features.values.push(feature);
            }
        });
        features.starts.push(tokens[i].start);
        features.ends.push(features.values.len() as u32);
    }
    features
}

/// The feature that says how many tokens a window has.
pub fn length_feature(tokens: usize) -> u32 {
    bucket(kind::LENGTH, tokens.checked_ilog2().unwrap_or(0), 0, 0)
}

/// What each kind of feature begins its hash with.
mod kind {
    pub(super) const WORD: u32 = 1;
    pub(super) const WORDS_2: u32 = 2;
    pub(super) const WORDS_3: u32 = 3;
    pub(super) const WORDS_GAP: u32 = 4;
    pub(super) const LEAD: u32 = 5;
    pub(super) const LEAD_WORD: u32 = 6;
    pub(super) const IDEA: u32 = 7;
    pub(super) const IDEA_FLAGS: u32 = 8;
    pub(super) const IDEA_ORIGIN: u32 = 9;
    pub(super) const IDEAS_2: u32 = 10;
    pub(super) const IDEAS_2_ANY: u32 = 11;
    pub(super) const IDEAS_2_ORIGIN: u32 = 12;
    pub(super) const IDEAS_3: u32 = 13;
    pub(super) const IDEA_WORD: u32 = 14;
    pub(super) const WORD_IDEA: u32 = 15;
    pub(super) const DISGUISE: u32 = 16;
    pub(super) const LENGTH: u32 = 17;
    pub(super) const SENTENCE_WORD: u32 = 18;
    pub(super) const IDEAS_4: u32 = 19;
    pub(super) const IDEA_LEAD: u32 = 20;
    pub(super) const ADDRESSED: u32 = 21;
    pub(super) const ADDRESSED_WORD: u32 = 22;
    pub(super) const SENTENCE_ORIGIN: u32 = 23;
    pub(super) const HEARD_WORD: u32 = 24;
}

/// Whoever is not a tool speaks with some right to.
fn side(origin: Origin) -> u32 {
    if origin == Origin::Tool { Origin::Tool as u32 } else { Origin::User as u32 }
}

static AI: LazyLock<Idea> = LazyLock::new(|| Lexicon::usual().idea("ai"));

/// Reads tokens one after the other and remembers the last ideas.
pub(crate) struct Reader {
    origin: u32,
    /// The last ideas and the numbers of their tokens, the latest first.
    ideas: [(Idea, usize); IDEAS_BACK],
    /// The idea that stands for an AI.
    ai: Idea,
    /// What is known of the last token that stands for one.
    addressed: Addressed,
}

/// Whether an AI was mentioned, and whether it is spoken to.
#[derive(Clone, Copy, Default)]
struct Addressed {
    /// The number of the last token that stands for an AI, counted from 1, 0 if there is none.
    at: usize,
    /// Whether a sentence begins with it, or nearly.
    is_called: bool,
    /// Whether it was spoken to.
    is_spoken_to: bool,
    /// Where what it is told begins.
    order: usize,
}

impl Reader {
    pub(crate) fn new(origin: Origin) -> Self {
        let (origin, ideas) = (side(origin), [(0, 0); IDEAS_BACK]);
        Self { origin, ideas, ai: *AI, addressed: Addressed::default() }
    }

    /// Gives the features that end with token `i` to `emit`.
    #[inline]
    pub(crate) fn read(&mut self, tokens: &[Token], i: usize, mut emit: impl FnMut(u32)) {
        let token = tokens[i];
        let word = token.word;
        emit(bucket(kind::WORD, word, 0, 0));
        if token.flags & SENTENCE != 0 {
            emit(bucket(kind::SENTENCE_WORD, word, 0, 0));
            emit(bucket(kind::SENTENCE_ORIGIN, word, self.origin, 0));
        }
        let addressed = &mut self.addressed;
        if addressed.at != 0 && i < addressed.at + HEARD {
            // `assistant: …` and `dear agent who reads this, …` speak to it, `the assistant is`
            // speaks of it.
            let is_near = i < addressed.at + NEAR;
            if addressed.at == i && token.lead != 0 || is_near && token.flags & CALLED != 0 {
                addressed.is_spoken_to = true;
                addressed.order = i;
            }
            if addressed.is_spoken_to && i < addressed.order + 3 {
                emit(bucket(kind::ADDRESSED_WORD, word, 0, 0));
            }
            if is_near {
                emit(bucket(kind::HEARD_WORD, word, u32::from(addressed.is_called), 0));
            }
        }
        if i >= 1 {
            let one = tokens[i - 1];
            emit(bucket(kind::WORDS_2, one.word, word, 0));
            if one.idea != 0 {
                emit(bucket(kind::IDEA_WORD, u32::from(one.idea), word, 0));
                if token.lead != 0 {
                    let pair = u32::from(one.idea) << 8 | u32::from(token.idea);
                    emit(bucket(kind::IDEA_LEAD, pair, u32::from(token.lead), 0));
                }
            }
            if token.idea != 0 {
                emit(bucket(kind::WORD_IDEA, one.word, u32::from(token.idea), 0));
            }
            if i >= 2 {
                let two = tokens[i - 2];
                emit(bucket(kind::WORDS_3, two.word, one.word, word));
                if token.flags & SYLLABLE == 0 && (two.idea | token.idea) != 0 {
                    emit(bucket(kind::WORDS_GAP, two.word, word, 0));
                }
            }
        }
        if token.lead != 0 {
            emit(bucket(kind::LEAD, u32::from(token.lead), 0, 0));
            emit(bucket(kind::LEAD_WORD, u32::from(token.lead), word, 0));
        }
        if token.flags & DISGUISED != 0 {
            emit(bucket(kind::DISGUISE, u32::from(token.idea != 0), 0, 0));
        }
        if token.idea != 0 {
            let begins = tokens[i.saturating_sub(2)..=i].iter().any(|t| t.flags & SENTENCE != 0);
            self.read_idea(token, begins, i, emit);
        }
    }

    fn read_idea(&mut self, token: Token, begins: bool, i: usize, mut emit: impl FnMut(u32)) {
        let idea = u32::from(token.idea);
        emit(bucket(kind::IDEA, idea, 0, 0));
        emit(bucket(kind::IDEA_ORIGIN, idea, self.origin, 0));
        let flags = u32::from(token.flags & (SENTENCE | CAPITALS | LINE | DISGUISED));
        if flags != 0 {
            emit(bucket(kind::IDEA_FLAGS, idea, flags, 0));
        }
        let Addressed { at, is_called, is_spoken_to, order } = self.addressed;
        let is_heard = at != 0 && i < at + HEARD;
        if is_heard {
            let how = u32::from(is_called) << 2
                | u32::from(is_spoken_to) << 1
                | u32::from(i >= at + REACH);
            emit(bucket(kind::ADDRESSED, idea, how, self.origin));
        }
        if token.idea == self.ai {
            self.addressed = Addressed {
                at: i + 1,
                is_called: begins || is_called && is_heard,
                is_spoken_to: is_spoken_to && is_heard,
                order,
            };
        }
        for (back, (other, at)) in self.ideas.into_iter().enumerate() {
            let distance = i - at;
            if other == 0 || distance > REACH {
                break;
            }
            let other = u32::from(other);
            let near = match distance {
                1 => 0,
                2 | 3 => 1,
                _ => 2,
            };
            emit(bucket(kind::IDEAS_2, other, idea, near));
            emit(bucket(kind::IDEAS_2_ANY, other.min(idea), other.max(idea), 0));
            if back == 0 {
                emit(bucket(kind::IDEAS_2_ORIGIN, other, idea, self.origin));
            }
        }
        let [(one, at), (two, before), (three, first), ..] = self.ideas;
        if two != 0 && i - before <= REACH && at != 0 {
            emit(bucket(kind::IDEAS_3, u32::from(two), u32::from(one), idea));
            if three != 0 && i - first <= REACH {
                let pair = u32::from(three) << 8 | u32::from(two);
                emit(bucket(kind::IDEAS_4, pair, u32::from(one), idea));
            }
        }
        self.ideas.rotate_right(1);
        self.ideas[0] = (token.idea, i);
    }
}

/// The latest features: each counts once within [`ONCE_WITHIN`] tokens.
pub(crate) struct Recent {
    /// Features in the upper half with the numbers of their tokens in the lower, by the features'
    /// last bits.
    slots: Box<[u64; REMEMBERED]>,
    /// The number of the text's first token: texts follow each other far apart.
    first: usize,
}

impl Recent {
    pub(crate) fn new() -> Self {
        Self { slots: Box::new([u64::MAX << u32::BITS; REMEMBERED]), first: 0 }
    }

    /// Forgets what was read. The next text has its tokens counted from 0 again; this one had
    /// `tokens`.
    pub(crate) fn restart(&mut self, tokens: usize) {
        self.first += tokens + ONCE_WITHIN;
        // Tokens are counted in 32 bits.
        if self.first > u32::MAX as usize / 2 {
            *self = Self::new();
        }
    }

    /// The number of token `i`.
    #[inline]
    pub(crate) fn number(&self, i: usize) -> u32 {
        (self.first + i) as u32
    }

    /// Whether the token with this number has `feature` for the first time in a while.
    #[inline]
    pub(crate) fn is_new(&mut self, feature: u32, number: u32) -> bool {
        let latest = u64::from(feature) << u32::BITS | u64::from(number);
        let slot = &mut self.slots[feature as usize % REMEMBERED];
        // Another feature is far away, too.
        let is_new = latest.wrapping_sub(*slot) >= ONCE_WITHIN as u64;
        if is_new {
            *slot = latest;
        }
        is_new
    }
}

#[inline(always)]
fn bucket(kind: u32, a: u32, b: u32, c: u32) -> u32 {
    let mut hash = u64::from(kind).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ u64::from(a)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash.rotate_left(23) ^ u64::from(b)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash = (hash.rotate_left(23) ^ u64::from(c)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash ^ (hash >> 29)) >> 20) as u32 & (BUCKETS as u32 - 1)
}
