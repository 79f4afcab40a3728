//! A placeholder as it is looked up: in upper case, on the stack, in order.

/// Bytes of the longest word that stands for a value.
pub(crate) const LONGEST: usize = 30;

/// A placeholder in upper case. Words sort as their bytes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    /// The rest is zeros, which stand in no placeholder.
    bytes: [u8; LONGEST],
    length: u8,
}

impl Word {
    /// The word that `text` spells; none where it is too long to be one. What groups the digits of
    /// a card is no part of it.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut word = Self { bytes: [0; LONGEST], length: 0 };
        let letters = word.bytes.get_mut(..text.len());
        if let Some(letters) = letters.filter(|_| text.bytes().all(|b| b.is_ascii_alphanumeric())) {
            letters.copy_from_slice(text.as_bytes());
            letters.make_ascii_uppercase();
            word.length = text.len() as u8;
            return Some(word);
        }
        for byte in text.bytes().filter(|b| !matches!(b, b' ' | b'-')) {
            let place = word.bytes.get_mut(usize::from(word.length))?;
            *place = byte.to_ascii_uppercase();
            word.length += 1;
        }
        Some(word)
    }

    /// What it consists of.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// The byte at `depth`: 0 behind the end.
    pub(crate) fn at(&self, depth: usize) -> u8 {
        self.bytes.get(depth).copied().unwrap_or(0)
    }
}
