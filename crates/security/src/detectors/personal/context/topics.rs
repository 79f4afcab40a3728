//! What a word stands for: a set of topics, one bit each.

use super::words::WORDS;

/// A set of topics, as bits.
pub(crate) type Topics = u64;

/// A phone number and nothing else: `phone`, `mobile`, `fax`.
pub(crate) const PHONE: Topics = 1;
/// Somebody is to be called, but the word has other uses: `call`, `reach`, `office`.
pub(crate) const REACH: Topics = 1 << 1;
/// `number` and its translations: says only that digits follow.
pub(crate) const NUMBER: Topics = 1 << 2;
/// A payment card.
pub(crate) const CARD: Topics = 1 << 3;
/// A bank account in IBAN form.
pub(crate) const IBAN: Topics = 1 << 4;
/// Something countable or an identifier of a thing: `order`, `version`, `bytes`.
pub(crate) const OTHER: Topics = 1 << 5;
/// An identity number, of no country in particular.
pub(crate) const IDENTITY: Topics = 1 << 6;
/// A number of the health system.
pub(crate) const HEALTH: Topics = 1 << 7;
/// A version of a program, a section of a document.
pub(crate) const VERSION: Topics = 1 << 8;
/// A network address.
pub(crate) const NETWORK: Topics = 1 << 9;
/// A street: what stands before it is a house number.
pub(crate) const STREET: Topics = 1 << 10;
/// The identity of a person: nothing that programs count has such a word.
pub(crate) const PERSONAL: Topics = 1 << 11;

/// Identity numbers of countries, one bit each.
pub(crate) const US: Topics = 1 << 16;
pub(crate) const UK: Topics = 1 << 17;
pub(crate) const DE: Topics = 1 << 18;
pub(crate) const FR: Topics = 1 << 19;
pub(crate) const ES: Topics = 1 << 20;
pub(crate) const IT: Topics = 1 << 21;
pub(crate) const NL: Topics = 1 << 22;
pub(crate) const BE: Topics = 1 << 23;
pub(crate) const PL: Topics = 1 << 24;
pub(crate) const SE: Topics = 1 << 25;
pub(crate) const NO: Topics = 1 << 26;
pub(crate) const DK: Topics = 1 << 27;
pub(crate) const FI: Topics = 1 << 28;
pub(crate) const PT: Topics = 1 << 29;
pub(crate) const BR: Topics = 1 << 30;
pub(crate) const IN: Topics = 1 << 31;
pub(crate) const AU: Topics = 1 << 32;
pub(crate) const CA: Topics = 1 << 33;
pub(crate) const CN: Topics = 1 << 34;
pub(crate) const KR: Topics = 1 << 35;
pub(crate) const JP: Topics = 1 << 36;
pub(crate) const MX: Topics = 1 << 37;
pub(crate) const ZA: Topics = 1 << 38;
pub(crate) const CH: Topics = 1 << 39;
pub(crate) const AT: Topics = 1 << 40;
pub(crate) const TR: Topics = 1 << 41;
pub(crate) const IE: Topics = 1 << 42;
pub(crate) const SG: Topics = 1 << 43;
pub(crate) const CZ: Topics = 1 << 44;
pub(crate) const RO: Topics = 1 << 45;
pub(crate) const IL: Topics = 1 << 46;
pub(crate) const AR: Topics = 1 << 47;
pub(crate) const RU: Topics = 1 << 49;
pub(crate) const UA: Topics = 1 << 50;
pub(crate) const BG: Topics = 1 << 51;
pub(crate) const GR: Topics = 1 << 52;
pub(crate) const HR: Topics = 1 << 53;
/// Estonia, Lithuania and Latvia.
pub(crate) const BALTIC: Topics = 1 << 54;
pub(crate) const TH: Topics = 1 << 55;
pub(crate) const ID: Topics = 1 << 56;
pub(crate) const MY: Topics = 1 << 57;
pub(crate) const PK: Topics = 1 << 58;
pub(crate) const AE: Topics = 1 << 59;
pub(crate) const TW: Topics = 1 << 60;

/// The longest word that is looked up, in bytes.
pub(super) const LONGEST_WORD: usize = 32;

/// What `word` stands for, 0 for most words; `is_foreign` says that it has other letters than ASCII's.
#[inline]
pub(super) fn topics(word: &[u8], is_foreign: bool) -> Topics {
    match FILTER.slot(word).map_or(0, |slot| known_topics(word, slot)) {
        0 if is_foreign => foreign(word),
        topics => topics,
    }
}

/// Words of scripts that are written without spaces, or that bend their ends.
fn foreign(word: &[u8]) -> Topics {
    const NEEDLES: &[(&str, Topics)] = &[
        ("电话", PHONE),
        ("手机", PHONE),
        ("電話", PHONE),
        ("携帯", PHONE),
        ("联系", REACH),
        ("致电", REACH),
        ("拨打", REACH),
        ("전화", PHONE),
        ("휴대", PHONE),
        ("연락처", PHONE),
        ("елефон", PHONE),
        ("обильн", PHONE),
        ("звон", REACH),
        ("ηλέφωνο", PHONE),
        ("هاتف", PHONE),
        ("جوال", PHONE),
        ("फ़ोन", PHONE),
        ("फोन", PHONE),
        ("טלפון", PHONE),
        ("身份证", CN),
        ("身分证", CN),
        ("주민등록", KR),
        ("マイナンバ", JP),
        ("個人番号", JP),
        ("卡号", CARD),
        ("银行卡", CARD),
        ("カード", CARD),
        ("카드", CARD),
        ("号码", NUMBER),
        ("番号", NUMBER),
        ("번호", NUMBER),
    ];
    let word = &word[word.len().saturating_sub(48)..];
    let mut topics = 0;
    for i in 0..word.len() {
        // No letter begins within another.
        if word[i] < 0xC0 {
            continue;
        }
        let is_here = |needle: &str| {
            let needle = needle.as_bytes();
            needle[0] == word[i] && word[i..].starts_with(needle)
        };
        let here = NEEDLES.iter().filter(|(needle, _)| is_here(needle));
        topics |= here.fold(0, |topics, (_, topic)| topics | topic);
    }
    topics
}

/// What a word stands for whose place in the table is `slot` or behind it.
fn known_topics(word: &[u8], mut slot: usize) -> Topics {
    loop {
        let (topics, known) = TABLE[slot];
        if topics == 0 || known.len() == word.len() && known.as_bytes().eq_ignore_ascii_case(word) {
            return topics;
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// How many slots the table of words has: at least twice as many as words.
const SLOTS: usize = 2048;

/// The words at the slot of their hash or behind it, as each number's neighbours are looked up.
static TABLE: [(Topics, &str); SLOTS] = {
    let mut table = [(0, ""); SLOTS];
    let mut group = 0;
    while group < WORDS.len() {
        let (topics, words) = WORDS[group];
        let mut i = 0;
        while i < words.len() {
            let mut slot = Filter::slot_of(hash(words[i].as_bytes()));
            while table[slot].0 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = (topics, words[i]);
            i += 1;
        }
        group += 1;
    }
    table
};

/// Tells most words that are in no table by their length and three of their letters.
struct Filter([u64; Self::BITS / 64]);

static FILTER: Filter = {
    let mut bits = [0; Filter::BITS / 64];
    let mut group = 0;
    while group < WORDS.len() {
        let mut i = 0;
        while i < WORDS[group].1.len() {
            let bit = Filter::bit_of(hash(WORDS[group].1[i].as_bytes()));
            bits[bit / 64] |= 1 << (bit % 64);
            i += 1;
        }
        group += 1;
    }
    Filter(bits)
};

impl Filter {
    const BITS: usize = 1 << 14;

    /// Where in the table `word` may be; none has one letter.
    #[inline]
    fn slot(&self, word: &[u8]) -> Option<usize> {
        if word.len() < 2 {
            return None;
        }
        let hash = hash(word);
        let bit = Self::bit_of(hash);
        (self.0[bit / 64] >> (bit % 64) & 1 != 0).then_some(Self::slot_of(hash))
    }

    const fn bit_of(hash: u32) -> usize {
        (hash >> (u32::BITS - Self::BITS.ilog2())) as usize
    }

    const fn slot_of(hash: u32) -> usize {
        (hash >> (u32::BITS - SLOTS.ilog2())) as usize
    }
}

/// Of the length, the first two letters and the last one, small letters and capitals alike.
#[inline]
const fn hash(word: &[u8]) -> u32 {
    let letters = u32::from_le_bytes([word[0], word[1], word[word.len() - 1], 0]) | 0x0020_2020;
    (letters | (word.len() as u32) << 24).wrapping_mul(0x9E37_79B1)
}
