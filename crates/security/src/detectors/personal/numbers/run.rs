//! Reads the groups of digits of one number-like stretch.
//!
//! A stretch is what a person would take for one number: groups of digits with one space, dash,
//! dot, slash or bracket between them. It ends at everything else, so that it holds a few dozen
//! bytes at most.

use super::shapes::{self, Begins};
use crate::detectors::personal::classes::{self, lowest, mask};
use crate::detectors::personal::context::byte;

/// The most groups that are read.
const MOST_GROUPS: usize = 12;

/// Bits for a group's length. What is longer than fits has the length that just fits.
pub(super) const LENGTH_BITS: usize = 5;
pub(super) const LONGEST_LENGTH: usize = (1 << LENGTH_BITS) - 1;
const _: () = assert!(MOST_GROUPS * LENGTH_BITS <= u64::BITS as usize);

/// What stands between two groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// One space, also a non-breaking or narrow one.
    Space,
    /// A hyphen or dash, also with spaces around it.
    Dash,
    /// A full stop.
    Dot,
    /// A slash, also with spaces around it.
    Slash,
    /// A closing bracket, with what follows it.
    Close,
    /// An opening bracket, with the space before it.
    Open,
    /// Nothing: the first group.
    None,
}

/// Consecutive digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What stands before it.
    pub(super) before: Separator,
    /// Whether it stands in brackets.
    pub(super) bracketed: bool,
}

impl Group {
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Where the groups of a stretch are put.
pub(super) type Groups = [Group; MOST_GROUPS];

/// Room for groups.
pub(super) const NO_GROUPS: Groups =
    [Group { start: 0, end: 0, before: Separator::Space, bracketed: false }; MOST_GROUPS];

/// One number-like stretch.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) bytes: &'a [u8],
    groups: &'a [Group],
    /// The groups' lengths side by side, the first in the lowest bits.
    lengths: u64,
    /// How many digits all groups have.
    digits: usize,
    /// A bit for each group in brackets, and for each that begins with a 0.
    bracketed: u32,
    zeros: u32,
    /// Where the stretch starts: its first digit, or the `+` or `(` before it.
    pub(super) start: usize,
    /// Whether a `+` stands before the first digit.
    pub(super) plus: bool,
}

impl<'a> Run<'a> {
    /// The stretch whose first digit is at `at`, with its groups in `groups`.
    pub(super) fn read(bytes: &'a [u8], at: usize, groups: &'a mut Groups) -> Self {
        let (run_start, plus) = prefix(bytes, at);
        // Of `(+358 (0)9 212 235)` the first bracket is the sentence's.
        let mut brackets = bytes[at..].iter().take(24).filter(|byte| matches!(byte, b'(' | b')'));
        let mut open = run_start < at
            && bytes[run_start..at].contains(&b'(')
            && brackets.next().is_none_or(|byte| *byte == b')');
        let (mut len, mut lengths, mut digits, mut bracketed, mut zeros) = (0, 0, 0, 0, 0);
        let mut push = |start: usize, end: usize, before: Separator, is_bracketed: bool| {
            groups[len] = Group { start, end, before, bracketed: is_bracketed };
            let length = end - start;
            lengths |= (length.min(LONGEST_LENGTH) as u64) << (len * LENGTH_BITS);
            digits += length;
            bracketed |= u32::from(is_bracketed) << len;
            zeros |= u32::from(bytes[start] == b'0') << len;
            len += 1;
            len == MOST_GROUPS
        };
        let (mut before, mut start) = (Separator::None, at);
        let mut ahead = Ahead::at(bytes, at);
        'stretch: loop {
            let Some((length, mut joints)) = ahead.groups(start) else {
                ahead = Ahead::at(bytes, start);
                continue;
            };
            // Most separators are one character.
            while joints != 0 {
                let end = ahead.from + joints.trailing_zeros() as usize;
                joints &= joints - 1;
                if push(start, end, before, false) {
                    break 'stretch;
                }
                (before, start) = (ONE[usize::from(bytes[end])], end + 1);
            }
            let mut end = ahead.from + length;
            if length == Ahead::BYTES {
                if start > ahead.from {
                    continue;
                }
                end = digits_end(bytes, end);
            }
            if push(start, end, before, open && byte(bytes, end) == b')') {
                break;
            }
            let Some(next) = separator(bytes, end, &mut open) else { break };
            (before, start) = next;
        }
        let groups = &groups[..len];
        Self { bytes, groups, lengths, digits, bracketed, zeros, start: run_start, plus }
    }

    pub(super) fn groups(&self) -> &'a [Group] {
        self.groups
    }

    /// Whether there may be more groups than were read.
    pub(super) fn is_full(&self) -> bool {
        self.groups.len() == MOST_GROUPS
    }

    /// Where the last group ends.
    pub(super) fn end(&self) -> usize {
        self.groups[self.groups.len() - 1].end
    }

    /// How many digits all groups have.
    pub(super) fn digits(&self) -> usize {
        self.digits
    }

    /// What the groups begin.
    pub(super) fn begins(&self) -> Begins {
        let mut begins = shapes::begins(self.lengths, self.groups.len());
        // A bracket is an area's, a 0 is dialled before other groups, a `+` before a country's code.
        let last = 1 << (self.groups.len() - 1);
        begins.numbers |= self.bracketed | self.zeros & !last | u32::from(self.plus);
        begins
    }

    /// The bytes of a group.
    pub(super) fn text(&self, group: usize) -> &'a [u8] {
        &self.bytes[self.groups[group].start..self.groups[group].end]
    }

    /// Whether the groups from `from` on have these lengths, which are constants wherever it matters.
    #[inline(always)]
    pub(super) fn shape(&self, from: usize, lengths: &[usize]) -> bool {
        self.has(from, Shape::of(lengths))
    }

    /// The same of lengths that were put together before.
    #[inline(always)]
    pub(super) fn has(&self, from: usize, shape: Shape) -> bool {
        from < MOST_GROUPS && self.lengths >> (from * LENGTH_BITS) & shape.mask == shape.lengths
    }

    /// Whether everything between the groups from `from` to `to` (exclusive) is `separator`.
    pub(super) fn joined_by(&self, from: usize, to: usize, separator: Separator) -> bool {
        self.groups()[from + 1..to].iter().all(|group| group.before == separator)
    }

    /// Whether the groups behind `from` have these separators before them.
    pub(super) fn joined(&self, from: usize, separators: &[Separator]) -> bool {
        let groups = &self.groups()[from + 1..];
        let mut pairs = groups.iter().zip(separators);
        groups.len() >= separators.len() && pairs.all(|(group, other)| group.before == *other)
    }

    /// What follows group `last`: the separator before the next group, or `None` at the end.
    pub(super) fn after(&self, last: usize) -> Separator {
        self.groups().get(last + 1).map_or(Separator::None, |group| group.before)
    }

    /// Where a number that begins with group `first` starts: a bracket or `+` belongs to it.
    pub(super) fn start_of(&self, first: usize) -> usize {
        if first == 0 {
            // Of `(0487 533 856)` the brackets are the sentence's.
            let is_foreign = self.bytes[self.start] == b'(' && !self.groups[0].bracketed;
            return self.start + usize::from(is_foreign);
        }
        let group = self.groups[first];
        if group.before == Separator::Open { group.start - 1 } else { group.start }
    }
}

/// Where what stands before the digit at `at` begins, and whether there is a `+`.
fn prefix(bytes: &[u8], at: usize) -> (usize, bool) {
    let back = |i: usize| at.checked_sub(i).map_or(0, |i| bytes[i]);
    if !matches!(back(1), b'+' | b'(' | b' ') {
        return (at, false);
    }
    let (skip, plus) = match (back(3), back(2), back(1)) {
        (_, b'+', b'(') | (_, b'(', b'+') => (2, true),
        (b'(', b'+', b' ') => (3, true),
        (_, b'+', b' ') if !back(3).is_ascii_alphanumeric() && back(3) != b' ' => (2, true),
        (_, _, b'+') => (1, true),
        (_, _, b'(') => (1, false),
        _ => (0, false),
    };
    (at - skip, plus)
}

/// Groups' lengths side by side, as a run has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    lengths: u64,
    /// The bits of as many groups as there are.
    mask: u64,
}

impl Shape {
    #[inline(always)]
    pub(super) const fn of(lengths: &[usize]) -> Self {
        let (mut shape, mut i) = (Self { lengths: 0, mask: 0 }, 0);
        while i < lengths.len() {
            shape.lengths |= (lengths[i] as u64) << (i * LENGTH_BITS);
            shape.mask |= (LONGEST_LENGTH as u64) << (i * LENGTH_BITS);
            i += 1;
        }
        shape
    }
}

/// The digits of some groups, without what separates them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    /// More than there may be, so that eight can be written at once.
    digits: [u8; MOST_DIGITS + 8],
    len: usize,
}

/// The most digits that are put together.
pub(super) const MOST_DIGITS: usize = 24;

impl Digits {
    /// The digits of the groups from `from` to `to` (exclusive); `None` if there are too many.
    pub(super) fn of(run: &Run<'_>, from: usize, to: usize) -> Option<Self> {
        let mut digits = Self { digits: [0; MOST_DIGITS + 8], len: 0 };
        for group in &run.groups()[from..to] {
            let end = digits.len + group.len();
            if end > MOST_DIGITS {
                return None;
            }
            let room = digits.digits[digits.len..].first_chunk_mut::<8>();
            match (room, run.bytes[group.start..].first_chunk::<8>()) {
                (Some(room), Some(eight)) if group.len() <= 8 => *room = *eight,
                _ => {
                    let text = &run.bytes[group.start..group.end];
                    digits.digits[digits.len..end].copy_from_slice(text);
                }
            }
            digits.len = end;
        }
        Some(digits)
    }

    /// The digits, as ASCII.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.digits[..self.len]
    }
}

/// Where there are digits ahead.
struct Ahead {
    from: usize,
    digits: u64,
    /// Where one character separates them.
    joints: u64,
}

impl Ahead {
    /// How far is looked.
    const BYTES: usize = 32;

    #[inline]
    fn at(bytes: &[u8], from: usize) -> Self {
        let mut padded = [0; Self::BYTES];
        let ahead = classes::ahead(bytes, from, &mut padded);
        let digits = mask(ahead, classes::digits);
        let joints = mask(ahead, classes::joints) & digits << 1 & digits >> 1;
        Self { from, digits, joints }
    }

    /// The groups from `start` on that have one character between them: where the last of them ends, and
    /// the places of these characters. `None` if they may go on behind what was looked at, and a look
    /// from `start` on would tell more.
    #[inline]
    fn groups(&self, start: usize) -> Option<(usize, u64)> {
        let first = start - self.from;
        if first >= Self::BYTES {
            return None;
        }
        let all = self.digits | self.joints;
        let end = first + (all >> first).trailing_ones() as usize;
        let joints = self.joints & lowest(end) & !lowest(first);
        (end < Self::BYTES || joints != 0 || first == 0).then_some((end, joints))
    }
}

/// Where the digits that start at `start` end. A group of more than a few dozen digits is nothing,
/// wherever its end may be, but its end is wanted as that is how far the stretch goes.
#[inline]
pub(super) fn digits_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    // Eight are told together, which are more than most groups have.
    while let Some(eight) = bytes[end..].first_chunk::<8>() {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let eight = u64::from_le_bytes(*eight);
        // Of a digit, and of no other byte, the upper half is 3, also of what is six more.
        let upper = (eight & (LOW * 0xf0)) ^ (LOW * 0x30);
        let carried = ((eight & (LOW * 0x0f)) + LOW * 6) & (LOW * 0x10);
        let others = upper | carried;
        if others != 0 {
            return end + others.trailing_zeros() as usize / 8;
        }
        end += 8;
    }
    end + bytes[end..].iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Whether the stretch that has digits up to `end` has more behind it. `is_open` says that a bracket is.
#[inline]
pub(super) fn goes_on(bytes: &[u8], end: usize, is_open: bool) -> bool {
    SEPARATES[usize::from(byte(bytes, end))] && separator(bytes, end, &mut { is_open }).is_some()
}

/// What separators begin with.
static SEPARATES: [bool; 256] = {
    let mut separates = [false; 256];
    let mut i = 0;
    while i < 256 {
        separates[i] = matches!(i as u8, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | 0xC2 | 0xE2);
        i += 1;
    }
    separates
};

/// What a separator of one character is.
static ONE: [Separator; 256] = {
    let mut one = [Separator::None; 256];
    one[b' ' as usize] = Separator::Space;
    one[b'-' as usize] = Separator::Dash;
    one[b'.' as usize] = Separator::Dot;
    one[b'/' as usize] = Separator::Slash;
    one
};

/// The separator at `at` and where the digits behind it start.
fn separator(bytes: &[u8], at: usize, open: &mut bool) -> Option<(Separator, usize)> {
    let digit = |at: usize| byte(bytes, at).is_ascii_digit();
    let one = ONE[usize::from(byte(bytes, at))];
    if one != Separator::None && digit(at + 1) {
        return Some((one, at + 1));
    }
    // The end of most stretches.
    if !SEPARATES[usize::from(byte(bytes, at))] {
        return None;
    }
    let mut padded = [0; 4];
    let (separator, len) = match *classes::ahead(bytes, at, &mut padded) {
        [b')', b' ' | b'-' | b'.' | b'/', next, _] if *open && next.is_ascii_digit() => {
            (Separator::Close, 2)
        }
        [b')', b' ', b'-', b' '] if *open => (Separator::Close, 4),
        [b')', ..] if *open => (Separator::Close, 1),
        [b' ', b'-', b' ', _] => (Separator::Dash, 3),
        [b' ', b'/', b' ', _] => (Separator::Slash, 3),
        [b' ' | b'-' | b'/', b'(', ..] => (Separator::Open, 2),
        [b'(', ..] => (Separator::Open, 1),
        // Non-breaking space; thin, narrow non-breaking and figure spaces; hyphens and dashes.
        [0xC2, 0xA0, ..] => (Separator::Space, 2),
        [0xE2, 0x80, 0x87 | 0x89 | 0xAF, _] => (Separator::Space, 3),
        [0xE2, 0x80, 0x90..=0x93, _] => (Separator::Dash, 3),
        _ => return None,
    };
    if !digit(at + len) {
        return None;
    }
    match separator {
        Separator::Close => *open = false,
        Separator::Open if *open => return None,
        Separator::Open => *open = true,
        _ => {}
    }
    Some((separator, at + len))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn groups_are_the_same_wherever_they_stand(
            text in "[0-9]{1,40}([-./ ]|\\) ?| \\(| - |x)([0-9]{1,3}[-./ )(]){0,14}[0-9]{0,9}",
            padding in 0..70_usize,
        ) {
            let padding = "\n".repeat(padding);
            let far = format!("{padding}{text}{padding}");
            let (mut near_groups, mut far_groups) = (NO_GROUPS, NO_GROUPS);
            let near = Run::read(text.as_bytes(), 0, &mut near_groups);
            let far = Run::read(far.as_bytes(), padding.len(), &mut far_groups);
            prop_assert_eq!(near.groups().len(), far.groups().len());
            let mut digits = 0;
            for (i, (group, other)) in near.groups().iter().zip(far.groups()).enumerate() {
                prop_assert_eq!(group.start + padding.len(), other.start);
                prop_assert_eq!(group.end + padding.len(), other.end);
                prop_assert_eq!((group.before, group.bracketed), (other.before, other.bracketed));
                prop_assert!(near.text(i).iter().all(u8::is_ascii_digit));
                prop_assert!(!byte(near.bytes, group.end).is_ascii_digit());
                prop_assert!(near.shape(i, &[group.len().min(LONGEST_LENGTH)]));
                digits += group.len();
            }
            prop_assert_eq!(near.digits(), digits);
        }
    }
}
