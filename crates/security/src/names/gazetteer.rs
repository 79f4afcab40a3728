//! What is known about single words: that one is a given name, another ends a street's name, a
//! third is an ordinary word of the language.
//!
//! An open-addressed table of word hashes: 17 bits of a word's hash and 15 flags a slot. Words that
//! are not in it are told as such but for one in some ten thousand.

use super::word;

/// What is known about a word, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// A given name.
    pub const FIRST: Self = Self(1);
    /// A family name.
    pub const LAST: Self = Self(1 << 1);
    /// A city or region, or a word of its name.
    pub const PLACE: Self = Self(1 << 2);
    /// A country, or a word of its name.
    pub const COUNTRY: Self = Self(1 << 3);
    /// `Street`, `rue`, `Allee`.
    pub const STREET: Self = Self(1 << 4);
    /// `Apt`, `PO`, `floor`.
    pub const UNIT: Self = Self(1 << 5);
    /// `Ltd`, `Foundation`, or an organisation of one word.
    pub const ORGANIZATION: Self = Self(1 << 6);
    /// `Mr`, `Frau`, `Prof`.
    pub const TITLE: Self = Self(1 << 7);
    /// Looks like a name and is none: a library, a month, a language.
    pub const TECHNICAL: Self = Self(1 << 8);
    /// Written in lower case often.
    pub const COMMON: Self = Self(1 << 9);
    /// Written in lower case sometimes.
    pub const SEEN: Self = Self(1 << 10);
    /// Joins the words of a name: `van`, `de`, `of`.
    pub const PARTICLE: Self = Self(1 << 11);
    /// Ends like a street's name in one word: `Ottoweg`.
    pub const STREET_END: Self = Self(1 << 12);

    /// `Hi`, `Dear`, `Bonjour`.
    pub const GREETING: Self = Self(1 << 13);

    /// A street's word that hardly means anything else: `Road`, `rue`, `ulica`.
    pub const WAY: Self = Self(1 << 14);

    /// Names of persons.
    pub const PERSON: Self = Self(Self::FIRST.0 | Self::LAST.0);
    /// Ordinary words.
    pub const ORDINARY: Self = Self(Self::COMMON.0 | Self::SEEN.0);
    /// Words of streets and addresses.
    pub const STREETS: Self = Self(Self::STREET.0 | Self::STREET_END.0 | Self::UNIT.0);
    /// Words of places.
    pub const PLACES: Self = Self(Self::PLACE.0 | Self::COUNTRY.0);
    /// Whatever speaks for a name of any kind.
    pub const NAMES: Self =
        Self(Self::PERSON.0 | Self::PLACES.0 | Self::STREETS.0 | Self::ORGANIZATION.0);

    /// Whether any bit of `other` is set.
    #[inline]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets of bits.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The bits without those of `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

const FLAG_BITS: u32 = 15;
const FLAG_MASK: u32 = (1 << FLAG_BITS) - 1;

/// Words and their flags.
#[derive(Debug, Clone)]
pub struct Gazetteer {
    /// A power of two of slots; 0 is an empty one.
    slots: Vec<u32>,
}

impl Gazetteer {
    /// A table of `words`, in which later entries of a word add to the earlier.
    pub fn build<'a>(words: impl Iterator<Item = (&'a str, Flags)>) -> Self {
        let mut entries: Vec<(u32, u16)> = Vec::new();
        for (text, flags) in words {
            entries.push((word::hash(text), flags.0));
        }
        entries.sort_unstable();
        entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 |= if same { later.1 } else { 0 };
            same
        });
        let mut slots = vec![0_u32; (entries.len() * 3 / 2).next_power_of_two().max(16)];
        for (hash, flags) in entries {
            let mut at = first_slot(hash, slots.len());
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = hash << FLAG_BITS | u32::from(flags);
        }
        Self { slots }
    }

    /// A table from its slots, of which there must be a power of two, some of them empty.
    pub(super) fn from_slots(slots: Vec<u32>) -> Option<Self> {
        (slots.len().is_power_of_two() && slots.contains(&0)).then_some(Self { slots })
    }

    pub(super) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// What is known about the word with this hash.
    #[inline]
    pub(super) fn look_up(&self, hash: u32) -> Flags {
        let mut at = first_slot(hash, self.slots.len());
        let fingerprint = hash << FLAG_BITS;
        loop {
            let slot = self.slots[at & (self.slots.len() - 1)];
            if slot == 0 {
                return Flags::default();
            }
            if slot & !FLAG_MASK == fingerprint {
                return Flags((slot & FLAG_MASK) as u16);
            }
            at += 1;
        }
    }
}

/// The high bits of a hash place a word; the low ones tell it from its neighbours.
#[inline]
fn first_slot(hash: u32, slots: usize) -> usize {
    (hash >> 13) as usize & (slots - 1)
}

/// Ends of streets' names in languages that write them as one word, by their last letter.
const fn street_ends(last: u8) -> &'static [&'static str] {
    match last {
        b'e' => &["straße", "strasse", "gasse", "allee", "kade", "gade", "promenade", "stræde"],
        b'r' => &["str", "ufer"],
        b'g' => &["weg", "stieg", "steeg"],
        b'z' => &["platz"],
        b'm' => &["damm"],
        b't' => &["straat", "gracht", "torget"],
        b'n' => &["laan", "plein", "vägen", "gatan", "veien", "stigen", "backen"],
        b'i' => &["kaai"],
        b's' => &["plass"],
        b'f' => &["dreef"],
        b'l' => &["singel", "burgwal"],
        b'j' => &["vej"],
        b'a' => &["gata", "kuja"],
        b'u' => &["katu"],
        _ => &[],
    }
}

/// Whether `word` ends like a street's name written as one word, with something in front.
#[inline]
pub(super) fn ends_like_a_street(word: &str) -> bool {
    let bytes = word.as_bytes();
    let Some(last) = bytes.last().filter(|_| bytes.len() >= 6) else {
        return false;
    };
    street_ends(last.to_ascii_lowercase()).iter().any(|end| {
        bytes.len() >= end.len() + 3
            && bytes[bytes.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_and_little_else() {
        let words: Vec<String> = (0..5000).map(|i| format!("name{i}")).collect();
        let gazetteer = Gazetteer::build(
            words.iter().map(|word| (word.as_str(), Flags::FIRST)).chain([("name7", Flags::LAST)]),
        );
        for word in &words {
            assert!(gazetteer.look_up(word::hash(word)).any(Flags::FIRST), "{word}");
        }
        assert_eq!(gazetteer.look_up(word::hash("NAME7")), Flags::PERSON);
        let wrong = (0..50_000)
            .filter(|i| gazetteer.look_up(word::hash(&format!("other{i}"))) != Flags::default());
        assert!(wrong.count() < 20);
    }

    #[test]
    fn streets_in_one_word() {
        for word in ["Ottoweg", "Michaelkirchstr", "Hulsterdreef", "Storgatan", "KÖNIGSALLEE"] {
            assert!(ends_like_a_street(word), "{word}");
        }
        for word in ["weg", "Norway", "Street", "str", ""] {
            assert!(!ends_like_a_street(word), "{word}");
        }
    }
}
