//! What stands in a value's place where a placeholder would not do: a made-up value of the same
//! syntax, for text that something validates before it is restored.
//!
//! | Kind | Surrogate | Why nobody owns it |
//! | --- | --- | --- |
//! | e-mail address | `qmail4f7k2n9xw3et8@example.com` | a reserved domain (RFC 2606) |
//! | IPv4 address | `247.131.208.166`: four octets of three digits | 240.0.0.0/4 is reserved (RFC 1112) |
//! | IPv6 address | `2001:db8::91c4:3f7a:d02b:5e68` | 2001:db8::/32 is for documentation (RFC 3849) |
//! | card | `9990 6…`, the value's length and grouping, valid by Luhn | no country has the number 990 (ISO 7812, ISO 3166) |
//!
//! They come from the same keyed hash as placeholders, so they are the same turn after turn, and are
//! restored in the same way. They are worth less: a model takes them for real (and may say that an
//! address is reserved), shortens or regroups them sooner, and an IPv4 surrogate has 26 bits where a
//! placeholder has 60. So they are a choice, and placeholders are the default.
//!
//! Other kinds have none: no country code is kept free for an IBAN, and the phone numbers that are
//! kept for films are too few.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::kind::{Kind, Kinds};
use crate::placeholder::PlaceholderKey;

/// Where an e-mail surrogate lives.
pub(crate) const DOMAIN: &str = "@example.com";
/// What an IPv6 surrogate begins with.
const IPV6_PREFIX: &str = "2001:db8::";
/// What a card's surrogate begins with. No end of it is its beginning.
const CARD_PREFIX: &[u8] = b"9990";
/// Digits of the cards that there are (ISO 7812), from the shortest in use.
const CARD_DIGITS: std::ops::RangeInclusive<usize> = 12..=19;

/// Which kinds of values are replaced by surrogates: none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Surrogates(Kinds);

impl Surrogates {
    /// The kinds that have surrogates.
    pub const OFFERED: Kinds =
        Kinds::of(&[Kind::Email, Kind::Card, Kind::IpAddress, Kind::PrivateIp]);

    /// Surrogates for those of `kinds` that have any.
    pub const fn new(kinds: Kinds) -> Self {
        Self(kinds.without(kinds.without(Self::OFFERED)))
    }

    /// Whether there are any.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The surrogate of `value`, where its kind has one and it has its kind's syntax.
    pub(crate) fn mint(
        self,
        key: &PlaceholderKey,
        kind: Kind,
        value: &str,
        attempt: u32,
    ) -> Option<String> {
        if !self.0.contains(kind) {
            return None;
        }
        match kind {
            Kind::Email => {
                let is_email = value.split('@').count() == 2;
                is_email.then(|| key.mint(kind, value, attempt).to_ascii_lowercase() + DOMAIN)
            }
            Kind::IpAddress | Kind::PrivateIp => {
                let hash = key.hash(kind, value, attempt);
                if value.parse::<Ipv4Addr>().is_ok() {
                    Some(ipv4(&hash))
                } else {
                    value.parse::<Ipv6Addr>().is_ok().then(|| ipv6(&hash))
                }
            }
            Kind::Card => card(&key.hash(kind, value, attempt), value),
            _ => None,
        }
    }
}

/// Three digits in each octet, so that no address begins another one.
fn ipv4(hash: &[u8; 32]) -> String {
    let octet = |at, from: u16, to: u16| from + number(hash, at) % (to - from + 1);
    let (a, b) = (octet(0, 240, 254), octet(2, 100, 254));
    let (c, d) = (octet(4, 100, 254), octet(6, 100, 254));
    format!("{a}.{b}.{c}.{d}")
}

/// Four digits in each group, so that nobody has a reason to shorten it.
fn ipv6(hash: &[u8; 32]) -> String {
    let group = |at| 0x1000 + number(hash, at) % 0xf000;
    format!("{IPV6_PREFIX}{:x}:{:x}:{:x}:{:x}", group(0), group(2), group(4), group(6))
}

/// The digits' number follows the prefix, so that no number begins another one.
fn card(hash: &[u8; 32], value: &str) -> Option<String> {
    let count = value.bytes().filter(u8::is_ascii_digit).count();
    let is_grouped = value.bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-'));
    if !CARD_DIGITS.contains(&count) || !is_grouped {
        return None;
    }
    let mut digits = CARD_PREFIX.to_vec();
    digits.push(length_digit(count)?);
    let more = hash.iter().map(|byte| b'0' + byte % 10);
    digits.extend(more.take(count - digits.len() - 1));
    digits.push(luhn_digit(&digits));
    let mut digits = digits.into_iter();
    let replace = |c: char| match c {
        '0'..='9' => digits.next().map_or(c, char::from),
        separator => separator,
    };
    Some(value.chars().map(replace).collect())
}

fn length_digit(count: usize) -> Option<u8> {
    let digit = count.checked_sub(10)?;
    (digit < 10).then(|| b"0123456789"[digit])
}

/// What makes `digits` valid (ISO 7812, annex B).
fn luhn_digit(digits: &[u8]) -> u8 {
    let weighted = |(i, digit): (usize, &u8)| match (i % 2, usize::from(digit - b'0')) {
        (0, digit @ 5..) => digit * 2 - 9,
        (0, digit) => digit * 2,
        (_, digit) => digit,
    };
    let sum: usize = digits.iter().rev().enumerate().map(weighted).sum();
    b"0987654321"[sum % 10]
}

fn number(hash: &[u8; 32], at: usize) -> u16 {
    u16::from_le_bytes([hash[at], hash[at + 1]])
}

/// How many letters tell which surrogate they begin, and how long it is.
pub(crate) const TOLD_BY: usize = 5;

/// How many letters the address or card has that begins with `letters`, if they begin one. (E-mail
/// surrogates are told by the placeholder that they begin with.)
pub(crate) fn length(letters: &[u8]) -> Option<usize> {
    match letters {
        [b'2', b'4' | b'5', _, b'.', ..] => Some("240.100.100.100".len()),
        [b'2', b'0', b'0', b'1', b':', ..] => Some(IPV6_PREFIX.len() + "1000:1000:1000:1000".len()),
        [b'9', b'9', b'9', b'0', count @ b'2'..=b'9', ..] => Some(usize::from(count - b'0') + 10),
        _ => None,
    }
}
