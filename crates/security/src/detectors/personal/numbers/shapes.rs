//! Which groups of a stretch may begin a number or a date, told by how long the groups are.
//!
//! Forms are asked for at every group, and hardly any is there. So all of them are told in one walk
//! over the groups, from the last to the first: each place of each form is a bit, which moves to the
//! next place where a group has a length that fits (Baeza-Yates and Gonnet, "A New Approach to Text
//! Searching": Shift-And).

use super::national;
use super::run::{LENGTH_BITS, LONGEST_LENGTH};

/// The groups that begin something, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Begins {
    /// A number that needs no word to say what it is.
    pub(super) numbers: u32,
    /// A date.
    pub(super) dates: u32,
}

/// The lengths of the groups that each form begins with.
#[derive(Debug)]
struct Shapes {
    /// For each length, the places that it fits.
    fits: [u128; LONGEST_LENGTH + 1],
    /// The last group of each form.
    lasts: u128,
    /// The first group of each number, and of each date.
    numbers: u128,
    dates: u128,
    /// How many places there are.
    len: u32,
}

/// Cards and phones. Identity numbers have a table of their own.
const NUMBERS: &[&[usize]] = &[
    &[4, 4, 4, 4],
    &[4, 6],
    &[4, 3],
    &[3, 3, 4],
    &[1, 3, 3, 4],
    &[3, 3, 3, 4],
    &[1, 3, 3, 2, 2],
    &[3, 2, 4],
    &[3, 3, 2, 2],
    &[3, 4, 4],
];
/// A card in one piece.
const CARD: (usize, usize) = (12, 19);

static SHAPES: Shapes = {
    let mut shapes = Shapes::NONE;
    let mut i = 0;
    while i < NUMBERS.len() {
        shapes = shapes.with_number(NUMBERS[i]);
        i += 1;
    }
    i = 0;
    while i < national::FORMS.len() {
        shapes = shapes.with_number(national::FORMS[i].lengths);
        i += 1;
    }
    shapes = shapes.last(CARD.0, CARD.1);
    shapes.numbers |= shapes.newest();
    // `1990-01-02`, `2/1/1990`.
    shapes = shapes.last(1, 2).before(1, 2).before(4, 4);
    shapes.dates |= shapes.newest();
    shapes = shapes.last(4, 4).before(1, 2).before(1, 2);
    shapes.dates |= shapes.newest();
    shapes
};

impl Shapes {
    const NONE: Self =
        Self { fits: [0; LONGEST_LENGTH + 1], lasts: 0, numbers: 0, dates: 0, len: 0 };

    const fn with_number(self, lengths: &[usize]) -> Self {
        let mut i = lengths.len() - 1;
        let mut shapes = self.last(lengths[i], lengths[i]);
        while i > 0 {
            i -= 1;
            shapes = shapes.before(lengths[i], lengths[i]);
        }
        shapes.numbers |= shapes.newest();
        shapes
    }

    /// With the last group of another form, which has from `least` to `most` digits.
    const fn last(mut self, least: usize, most: usize) -> Self {
        self.lasts |= 1 << self.len;
        self.before(least, most)
    }

    /// With the group before it.
    const fn before(mut self, least: usize, most: usize) -> Self {
        let mut length = least;
        while length <= most {
            self.fits[length] |= 1 << self.len;
            length += 1;
        }
        self.len += 1;
        self
    }

    /// The place that was added last: the first group of the newest form.
    const fn newest(&self) -> u128 {
        1 << (self.len - 1)
    }
}

/// What the `count` groups begin whose lengths stand side by side in `lengths`.
pub(super) fn begins(lengths: u64, count: usize) -> Begins {
    let (mut places, mut begins) = (0, Begins::default());
    for i in (0..count).rev() {
        let length = lengths >> (i * LENGTH_BITS) & LONGEST_LENGTH as u64;
        places = (places << 1 | SHAPES.lasts) & SHAPES.fits[length as usize];
        begins.numbers |= u32::from(places & SHAPES.numbers != 0) << i;
        begins.dates |= u32::from(places & SHAPES.dates != 0) << i;
    }
    begins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_form_is_told_wherever_it_begins(
            lengths in prop::collection::vec(prop_oneof![1..=5_usize, 1..=31_usize], 1..=12),
        ) {
            let packed = lengths.iter().rev().fold(0, |all, length| all << 5 | *length as u64);
            let begins = begins(packed, lengths.len());
            for first in 0..lengths.len() {
                let rest = &lengths[first..];
                let forms = national::FORMS.iter().map(|form| form.lengths);
                let is_number = NUMBERS.iter().copied().chain(forms).any(|form| rest.starts_with(form))
                    || (CARD.0..=CARD.1).contains(&rest[0]);
                let is_date = matches!(rest, [4, 1..=2, 1..=2, ..] | [1..=2, 1..=2, 4, ..]);
                prop_assert_eq!(begins.numbers >> first & 1 != 0, is_number);
                prop_assert_eq!(begins.dates >> first & 1 != 0, is_date);
            }
        }
    }
}
