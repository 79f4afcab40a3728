//! Lists of words that a word is looked up in.
//!
//! Nearly all words that are asked for are in none of the lists, and comparing texts is a call. A
//! small table over a few of their bytes tells most of those off.

/// Words in alphabetical order, found by their ends and their length.
#[derive(Debug)]
pub(crate) struct WordList {
    words: &'static [&'static str],
    /// Where the words with each first byte begin, and where the last of them end.
    begins: [u16; 257],
    /// For each pair of a first and a last byte, roughly, the lengths of words that have them.
    lengths: [u32; SLOTS],
}

/// Beginnings of texts, found by their first two bytes.
#[derive(Debug)]
pub(crate) struct Beginnings {
    beginnings: &'static [&'static str],
    /// One bit for each pair of first bytes, roughly.
    pairs: [u64; SLOTS / 64],
}

/// The words in the order that [`WordList`] needs, where another one reads better.
pub(crate) const fn sorted<const N: usize>(mut words: [&'static str; N]) -> [&'static str; N] {
    let mut sorted = 1;
    while sorted < N {
        let mut i = sorted;
        while i > 0 && words[i].as_bytes()[0] < words[i - 1].as_bytes()[0] {
            (words[i - 1], words[i]) = (words[i], words[i - 1]);
            i -= 1;
        }
        sorted += 1;
    }
    words
}

const SLOTS: usize = 512;

const fn slot(one: u8, other: u8) -> usize {
    (one as usize * 23 + other as usize) % SLOTS
}

impl WordList {
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let (mut lengths, mut begins) = ([0; SLOTS], [0; 257]);
        let (mut i, mut byte) = (0, 0);
        while byte < 256 {
            begins[byte] = i as u16;
            while i < words.len() && words[i].as_bytes()[0] as usize == byte {
                let word = words[i].as_bytes();
                let length = if word.len() < 31 { word.len() } else { 31 };
                lengths[slot(word[0], word[word.len() - 1])] |= 1 << length;
                i += 1;
            }
            byte += 1;
        }
        begins[256] = i as u16;
        assert!(i == words.len(), "the words are not in order");
        Self { words, begins, lengths }
    }

    /// Whether `word` is one of them.
    #[inline]
    pub(crate) fn has(&self, word: &str) -> bool {
        self.has_bytes(word.as_bytes())
    }

    /// The same of a word that may be cut anywhere.
    #[inline]
    pub(crate) fn has_bytes(&self, bytes: &[u8]) -> bool {
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
        if self.lengths[slot(*first, *last)] >> bytes.len().min(31) & 1 == 0 {
            return false;
        }
        let begin = |byte: usize| usize::from(self.begins[byte]);
        let like = &self.words[begin(usize::from(*first))..begin(usize::from(*first) + 1)];
        let is_like =
            |other: &&&str| other.len() == bytes.len() && other.as_bytes().last() == Some(last);
        like.iter().filter(is_like).any(|other| other.as_bytes() == bytes)
    }
}

impl Beginnings {
    /// All of at least two bytes.
    pub(crate) const fn new(beginnings: &'static [&'static str]) -> Self {
        let mut pairs = [0; SLOTS / 64];
        let mut i = 0;
        while i < beginnings.len() {
            let beginning = beginnings[i].as_bytes();
            let slot = slot(beginning[0], beginning[1]);
            pairs[slot / 64] |= 1 << (slot % 64);
            i += 1;
        }
        Self { beginnings, pairs }
    }

    /// Whether `text` begins with one of them.
    #[inline]
    pub(crate) fn begin(&self, text: &str) -> bool {
        let [first, second, ..] = text.as_bytes() else { return false };
        let slot = slot(*first, *second);
        self.pairs[slot / 64] >> (slot % 64) & 1 != 0
            && self.beginnings.iter().any(|beginning| text.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[&str] = &["a", "a word that is longer than most of them", "at", "token", "x509"];

    #[test]
    fn words_are_told_from_what_is_almost_one() {
        static LIST: WordList = WordList::new(WORDS);
        for word in WORDS {
            assert!(LIST.has(word), "{word}");
            assert!(!LIST.has(&word.to_ascii_uppercase()) && !LIST.has(&format!("{word}s")));
            assert!(!LIST.has(&word[1..]));
        }
    }

    #[test]
    fn words_are_put_in_order() {
        static LIST: WordList = WordList::new(&sorted(["é", "to", "a", "ta", "az", "-"]));
        for word in ["é", "to", "a", "ta", "az", "-"] {
            assert!(LIST.has(word), "{word}");
        }
        assert!(!LIST.has("t") && !LIST.has("to "));
    }

    #[test]
    fn beginnings_are_told_from_what_almost_is_one() {
        static LIST: Beginnings = Beginnings::new(&["./", "env(", "env.", "0x"]);
        for text in ["./", "./a", "env.X", "env(X)", "0x1f"] {
            assert!(LIST.begin(text), "{text}");
        }
        for text in ["", ".", "/.", "env", "en", "x0", "ENV."] {
            assert!(!LIST.begin(text), "{text}");
        }
    }
}
