//! What the model looks at: a word, its neighbours, the marks between them, the key in front and
//! the region, hashed to rows of the weights' table.

use super::gate::Region;
use super::gazetteer::Flags;
use super::token::{Gap, Shape, Token};

/// How many features a word has.
pub const FEATURES: usize = 26;

/// The features of one word, as hashes.
pub type Row = [u32; FEATURES];

/// A word that stands for "none": before the text's beginning and behind its end.
const NOTHING: Token = Token {
    start: 0,
    end: 0,
    hash: 0,
    flags: Flags(0),
    shape: Shape::Identifier,
    gap: Gap::Paragraph,
    key: super::key::Key::None,
    possible: false,
};

/// The features of `tokens[i]`.
#[inline]
pub(super) fn of(text: &str, tokens: &[Token], i: usize, region: Region) -> Row {
    let at = |offset: isize| {
        i.checked_add_signed(offset).and_then(|i| tokens.get(i)).unwrap_or(&NOTHING)
    };
    let (before2, before, this, next, next2) = (at(-2), at(-1), at(0), at(1), at(2));
    let next_gap = next.gap as u32;
    let gap = this.gap as u32;
    let region = region as u32;
    let shape = this.shape as u32;
    let key = this.key as u32;
    let flags = u32::from(this.flags.0);
    let look = flags << 8 | shape;
    let begins = u32::from(this.gap.begins());
    let (prefix, suffix2, suffix3) = ends(&text[this.start..this.end]);
    let shapes =
        before.shape as u32 | shape << 4 | (next.shape as u32) << 8 | (next2.shape as u32) << 12;
    let run = run(tokens, i);
    let coarse = |token: &Token| token.shape as u32 | coarse(token.flags) << 4;
    [
        mix(0, region << 8 | key, shape),
        mix(1, this.hash, u32::from(shape == 0)),
        mix(2, this.hash, next.hash),
        mix(3, before.hash, gap),
        mix(4, next.hash, next_gap),
        mix(5, before2.hash, before.hash),
        mix(6, next.hash, next2.hash),
        mix(7, suffix3, shape),
        mix(8, prefix, shape),
        mix(9, look, region),
        mix(10, look, u32::from(next.flags.0) << 8 | next_gap),
        mix(11, look, u32::from(before.flags.0) << 8 | gap),
        mix(12, shapes, gap << 8 | next_gap),
        mix(13, key << 8 | gap, look),
        mix(14, run << 8 | region, look),
        mix(15, look, begins << 8 | region),
        mix(16, before.hash, look),
        mix(17, next.hash, coarse(this)),
        mix(18, coarse(before) << 20 | coarse(this) << 10 | coarse(next), gap << 8 | next_gap),
        mix(19, before2.hash, coarse(this)),
        mix(20, gap << 8 | next_gap, region << 8 | shape),
        mix(21, suffix2, coarse(this)),
        mix(22, run << 8 | region, key << 8 | coarse(this)),
        mix(23, coarse(before2) << 20 | coarse(before) << 10 | coarse(this), gap),
        mix(24, coarse(next2) << 20 | coarse(next) << 10 | coarse(this), next_gap),
        mix(25, (this.end - this.start).min(15) as u32, look),
    ]
}

/// The eight groups of flags that matter around a word, in 6 bits.
fn coarse(flags: Flags) -> u32 {
    u32::from(flags.any(Flags::FIRST))
        | u32::from(flags.any(Flags::LAST)) << 1
        | u32::from(flags.any(Flags::PLACES)) << 2
        | u32::from(flags.any(Flags::STREETS)) << 3
        | u32::from(flags.any(Flags::ORGANIZATION.with(Flags::TITLE))) << 4
        | u32::from(flags.any(Flags::ORDINARY.with(Flags::TECHNICAL))) << 5
}

/// How many capitalised words stand together, where in them this one is, and whether quotation marks,
/// tags or commas enclose exactly them.
fn run(tokens: &[Token], i: usize) -> u32 {
    const LONGEST: usize = 4;
    let joined = |token: &Token| matches!(token.gap, Gap::Space | Gap::Dot | Gap::Stop);
    let mut first = i;
    while first > 0
        && i - first < LONGEST
        && joined(&tokens[first])
        && tokens[first - 1].shape.is_capital()
    {
        first -= 1;
    }
    let mut behind = i + 1;
    while behind - i < LONGEST
        && tokens.get(behind).is_some_and(|next| joined(next) && next.shape.is_capital())
    {
        behind += 1;
    }
    let opens = tokens[first].gap;
    let closes = tokens.get(behind).map_or(Gap::Paragraph, |token| token.gap);
    let mark = |gap| match gap {
        Gap::Quote | Gap::NextValue | Gap::Colon | Gap::Equals => 1,
        Gap::Angle => 2,
        Gap::TightComma => 3,
        Gap::Line | Gap::Paragraph => 4,
        Gap::Open | Gap::Close => 5,
        Gap::Space => 6,
        _ => 0,
    };
    ((behind - first).min(5) as u32) << 12
        | ((i - first) as u32) << 8
        | mark(opens) << 4
        | mark(closes)
}

/// The first three and the last two and three bytes of a word, in lower case.
fn ends(text: &str) -> (u32, u32, u32) {
    let bytes = text.as_bytes();
    let (head, tail) = (&bytes[..bytes.len().min(3)], &bytes[bytes.len().saturating_sub(3)..]);
    let pack =
        |bytes: &[u8]| bytes.iter().fold(0, |all, b| all << 8 | u32::from(b.to_ascii_lowercase()));
    (pack(head), pack(&tail[tail.len().saturating_sub(2)..]), pack(tail))
}

#[inline]
fn mix(template: u32, a: u32, b: u32) -> u32 {
    let hash = (a ^ template.wrapping_mul(0x9E37_79B9)).wrapping_mul(0x85EB_CA6B);
    let hash = (hash ^ hash >> 15 ^ b).wrapping_mul(0xC2B2_AE35);
    (hash ^ hash >> 13).wrapping_mul(0x27D4_EB2F)
}
