//! Values whose field says what they are: `"last_name": "Okafor"`, `<city>Umeå</city>`,
//! `surname=DE LA TOUR given=LOÏC`.
//!
//! The key decides, whatever the model thinks of the words: a list of customers holds names that
//! nobody has heard of. So the whole value has to look like one, from its key to its end.

use super::gazetteer::Flags;
use super::key::Key;
use super::token::{Gap, Shape, Token};
use crate::kind::Kind;

/// Longest values, in words.
const PERSON_WORDS: usize = 5;
const ORGANIZATION_WORDS: usize = 6;
const PLACE_WORDS: usize = 3;
const ADDRESS_WORDS: usize = 16;

/// The kind of the value that begins with `tokens[0]`, and how many words it has; `None` where its
/// key says nothing or the value does not look like it.
pub(super) fn value(text: &str, tokens: &[Token]) -> Option<(Kind, usize)> {
    let first = tokens.first()?;
    if !matches!(first.gap, Gap::Colon | Gap::Equals | Gap::Angle) {
        return None;
    }
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let is_plain = |token: &Token| token.flags.any(plain);
    let known = |token: &Token| token.flags.any(Flags::PERSON);
    match first.key {
        Key::PersonName => {
            let words = reversed(text, tokens).or_else(|| name(text, tokens, PERSON_WORDS))?;
            let names = &tokens[..words];
            let fits = !names.iter().all(is_plain) || names.iter().all(known);
            fits.then_some((Kind::Person, words))
        }
        Key::Person => {
            let words = reversed(text, tokens).or_else(|| name(text, tokens, PERSON_WORDS))?;
            let names = &tokens[..words];
            let fits = names.iter().any(known)
                && names.iter().all(|token| known(token) || !is_plain(token))
                && (words > 1 || !is_plain(first) && !first.flags.any(Flags::PLACES));
            fits.then_some((Kind::Person, words))
        }
        Key::Address => {
            let words = address(tokens)?;
            Some((Kind::Address, words))
        }
        Key::Place => {
            let words = name(text, tokens, PLACE_WORDS)?;
            let names = &tokens[..words];
            let fits = names.iter().any(|token| token.flags.any(Flags::PLACES))
                || !names.iter().any(is_plain);
            fits.then_some((Kind::Location, words))
        }
        Key::Organization => {
            let words = name(text, tokens, ORGANIZATION_WORDS)?;
            let heading = words == 1 && first.shape == Shape::Upper;
            let fits = !heading && !tokens[..words].iter().all(is_plain);
            fits.then_some((Kind::Organization, words))
        }
        Key::Party | Key::Name => {
            let words = reversed(text, tokens)?;
            let names = &tokens[..words];
            let fits = names.iter().any(known) && !names.iter().any(is_plain);
            fits.then_some((Kind::Person, words))
        }
        _ => None,
    }
}

/// How many words a value in quotes has that is a name with the family's name first:
/// `"holder":"OKAFOR, AMARA"`.
fn reversed(text: &str, tokens: &[Token]) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *tokens[0].start.checked_sub(1).and_then(|before| bytes.get(before))?;
    let comma = tokens.iter().skip(1).take(3).position(|token| token.gap == Gap::Comma)? + 1;
    let is_name = |tokens: &[Token]| {
        tokens.iter().enumerate().all(|(i, token)| {
            token.shape.is_capital() && (i == 0 || matches!(token.gap, Gap::Space | Gap::Stop))
        })
    };
    let rest = tokens.iter().skip(comma + 1);
    let words = comma + 1 + rest.take_while(|token| token.gap == Gap::Space).count();
    let closes = bytes.get(tokens[words - 1].end) == Some(&quote);
    let fits = matches!(quote, b'"' | b'\'') && closes && words <= PERSON_WORDS;
    (fits && is_name(&tokens[..comma]) && is_name(&tokens[comma..words])).then_some(words)
}

/// How many words a value of capitalised words has that ends where they end.
fn name(text: &str, tokens: &[Token], most: usize) -> Option<usize> {
    let mut words = 0;
    for (i, token) in tokens.iter().enumerate() {
        let joined = i == 0
            || matches!(token.gap, Gap::Space | Gap::Stop | Gap::Dot | Gap::And)
                && token.key == tokens[0].key;
        let particle = token.shape == Shape::Lower && token.flags.any(Flags::PARTICLE);
        if !joined || !(token.shape.is_capital() || particle) {
            break;
        }
        words += 1;
    }
    if words == 0 || words > most || !tokens[words - 1].shape.is_capital() {
        return None;
    }
    let last = &tokens[words - 1];
    let short = words == 1 && last.end - last.start < 2;
    (!short && ends(text, last, tokens.get(words), tokens.get(words + 1))).then_some(words)
}

/// Whether a value ends behind `last`: in front of a mark, a line's end or the next key.
fn ends(text: &str, last: &Token, next: Option<&Token>, then: Option<&Token>) -> bool {
    match text.as_bytes()[last.end..] {
        []
        | [b'"' | b'\'' | b'<' | b',' | b';' | b'\n' | b'\r' | b'\\' | b'|' | b'&' | b'^', ..] => {
            next.is_none_or(|next| next.gap != Gap::Genitive)
        }
        [b' ', ..] => {
            next.is_some_and(|next| next.gap != Gap::Space)
                || then.is_some_and(|then| then.gap == Gap::Equals)
        }
        _ => false,
    }
}

/// How many words an address has that is the whole value: it needs a number and a name.
fn address(tokens: &[Token]) -> Option<usize> {
    let ends = |gap| {
        matches!(
            gap,
            Gap::Quote
                | Gap::NextValue
                | Gap::Angle
                | Gap::Equals
                | Gap::Line
                | Gap::CommaLine
                | Gap::Paragraph
                | Gap::Exclamation
                | Gap::Other
        )
    };
    let behind = tokens.iter().skip(1).position(|token| ends(token.gap));
    let words = behind.map_or(tokens.len(), |words| words + 1);
    if !(2..=ADDRESS_WORDS).contains(&words) {
        return None;
    }
    let value = &tokens[..words];
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let named = |token: &Token| token.shape == Shape::Capital && !token.flags.any(plain);
    let fits = value.iter().any(|token| token.shape.is_number())
        && value.iter().any(|token| named(token) || token.flags.any(Flags::WAY))
        && !value.iter().any(|token| matches!(token.shape, Shape::Camel | Shape::Identifier));
    fits.then_some(words)
}
