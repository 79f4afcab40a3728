//! Reads the groups of digits of one number-like stretch.
//!
//! A stretch is what a person would take for one number: groups of digits with one space, dash,
//! dot, slash or bracket between them. It ends at everything else, so that it holds a few dozen
//! bytes at most.

/// The most groups that are read.
const MOST_GROUPS: usize = 12;

/// Bits for a group's length. What is longer than fits has the length that just fits.
const LENGTH_BITS: usize = 5;
const LONGEST_LENGTH: usize = (1 << LENGTH_BITS) - 1;
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

/// One number-like stretch.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) bytes: &'a [u8],
    groups: [Group; MOST_GROUPS],
    len: usize,
    /// The groups' lengths side by side, the first in the lowest bits.
    lengths: u64,
    /// Where the stretch starts: its first digit, or the `+` or `(` before it.
    pub(super) start: usize,
    /// Whether a `+` stands before the first digit.
    pub(super) plus: bool,
}

impl<'a> Run<'a> {
    /// The stretch whose first digit is at `at`.
    #[inline]
    pub(super) fn read(bytes: &'a [u8], at: usize) -> Self {
        let none = Group { start: at, end: at, before: Separator::None, bracketed: false };
        let groups = [none; MOST_GROUPS];
        let mut run = Self { bytes, groups, len: 0, lengths: 0, start: at, plus: false };
        run.read_prefix(at);
        // Of `(+358 (0)9 212 235)` the first bracket is the sentence's.
        let mut next = bytes[at..].iter().take(24).filter(|byte| matches!(byte, b'(' | b')'));
        let mut open = run.start < at
            && bytes[run.start..at].contains(&b'(')
            && next.next().is_none_or(|byte| *byte == b')');
        let mut start = at;
        let mut before = Separator::None;
        loop {
            let end = digits_end(bytes, start, usize::MAX);
            let bracketed = open && bytes.get(end) == Some(&b')');
            run.groups[run.len] = Group { start, end, before, bracketed };
            let length = (end - start).min(LONGEST_LENGTH) as u64;
            run.lengths |= length << (run.len * LENGTH_BITS);
            run.len += 1;
            if run.len == MOST_GROUPS {
                return run;
            }
            let Some((separator, next)) = separator(bytes, end, &mut open) else { return run };
            (before, start) = (separator, next);
        }
    }

    fn read_prefix(&mut self, at: usize) {
        let back = |i: usize| at.checked_sub(i).map_or(0, |i| self.bytes[i]);
        let (skip, plus) = match (back(3), back(2), back(1)) {
            (_, b'+', b'(') | (_, b'(', b'+') => (2, true),
            (b'(', b'+', b' ') => (3, true),
            (_, b'+', b' ') if !back(3).is_ascii_alphanumeric() && back(3) != b' ' => (2, true),
            (_, _, b'+') => (1, true),
            (_, _, b'(') => (1, false),
            _ => (0, false),
        };
        self.start = at - skip;
        self.plus = plus;
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.groups[..self.len]
    }

    /// Whether there may be more groups than were read.
    pub(super) fn is_full(&self) -> bool {
        self.len == MOST_GROUPS
    }

    /// Where the last group ends.
    pub(super) fn end(&self) -> usize {
        self.groups[self.len - 1].end
    }

    /// How many digits all groups have.
    pub(super) fn digits(&self) -> usize {
        self.groups().iter().map(Group::len).sum()
    }

    /// The bytes of a group.
    pub(super) fn text(&self, group: usize) -> &'a [u8] {
        &self.bytes[self.groups[group].start..self.groups[group].end]
    }

    /// Whether the groups from `from` on have these lengths, which are constants wherever it matters.
    #[inline(always)]
    pub(super) fn shape(&self, from: usize, lengths: &[usize]) -> bool {
        let (mut wanted, mut mask) = (0, 0);
        for (i, length) in lengths.iter().enumerate() {
            wanted |= (*length as u64) << (i * LENGTH_BITS);
            mask |= (LONGEST_LENGTH as u64) << (i * LENGTH_BITS);
        }
        from < MOST_GROUPS && self.lengths >> (from * LENGTH_BITS) & mask == wanted
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

/// Where the digits that start at `start` end. A group of more than a few dozen digits is nothing,
/// wherever its end may be, but its end is wanted as that is how far the stretch goes; no further than
/// `most`.
#[inline]
pub(super) fn digits_end(bytes: &[u8], start: usize, most: usize) -> usize {
    // Most groups have less than eight digits, which are told together.
    if let Some(eight) = bytes[start..].first_chunk::<8>() {
        const LOW: u64 = 0x0101_0101_0101_0101;
        let eight = u64::from_le_bytes(*eight);
        // Of a digit, and of no other byte, the upper half is 3, also of what is six more.
        let upper = (eight & (LOW * 0xf0)) ^ (LOW * 0x30);
        let carried = ((eight & (LOW * 0x0f)) + LOW * 6) & (LOW * 0x10);
        let others = upper | carried;
        if others != 0 {
            return start + others.trailing_zeros() as usize / 8;
        }
    }
    start + bytes[start..].iter().take(most).take_while(|b| b.is_ascii_digit()).count()
}

/// The end of the digits at `at` where there are less than `fewest` of them and nothing that could
/// separate them from others.
pub(super) fn lone_end(bytes: &[u8], at: usize, fewest: usize) -> Option<usize> {
    let digits = bytes[at..].iter().take(fewest).take_while(|b| b.is_ascii_digit()).count();
    let end = at + digits;
    let mut is_open = at > 0 && bytes[at - 1] == b'(';
    (digits < fewest && separator(bytes, end, &mut is_open).is_none()).then_some(end)
}

/// Whether the stretch that has digits up to `end`, without an open bracket, has more behind it.
pub(super) fn goes_on(bytes: &[u8], end: usize) -> bool {
    separator(bytes, end, &mut false).is_some()
}

/// The separator at `at` and where the digits behind it start.
fn separator(bytes: &[u8], at: usize, open: &mut bool) -> Option<(Separator, usize)> {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Most separators are one character.
    if digit(at + 1) {
        match bytes[at] {
            b' ' => return Some((Separator::Space, at + 1)),
            b'-' => return Some((Separator::Dash, at + 1)),
            b'.' => return Some((Separator::Dot, at + 1)),
            b'/' => return Some((Separator::Slash, at + 1)),
            _ => {}
        }
    }
    // The end of most stretches.
    if !matches!(bytes.get(at), Some(b' '..=b'/' | 0xC2 | 0xE2)) {
        return None;
    }
    let rest = &bytes[at..bytes.len().min(at + 6)];
    let (separator, len) = match rest {
        [b')', b' ' | b'-' | b'.' | b'/', next, ..] if *open && next.is_ascii_digit() => {
            (Separator::Close, 2)
        }
        [b')', b' ', b'-', b' ', ..] if *open => (Separator::Close, 4),
        [b')', ..] if *open => (Separator::Close, 1),
        [b' ', b'-' | b'/', b' ', ..] => {
            (if rest[1] == b'-' { Separator::Dash } else { Separator::Slash }, 3)
        }
        [b' ' | b'-' | b'/', b'(', ..] => (Separator::Open, 2),
        [b'(', ..] => (Separator::Open, 1),
        [b' ', ..] => (Separator::Space, 1),
        [b'-', ..] => (Separator::Dash, 1),
        [b'.', ..] => (Separator::Dot, 1),
        [b'/', ..] => (Separator::Slash, 1),
        // Non-breaking space; thin, narrow non-breaking and figure spaces; hyphens and dashes.
        [0xC2, 0xA0, ..] => (Separator::Space, 2),
        [0xE2, 0x80, 0x87 | 0x89 | 0xAF, ..] => (Separator::Space, 3),
        [0xE2, 0x80, 0x90..=0x93, ..] => (Separator::Dash, 3),
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
