//! Values whose field says what they are: `"last_name": "Okafor"`, `<city>Umeå</city>`,
//! `surname=DE LA TOUR given=LOÏC`.
//!
//! The key decides, whatever the model thinks of the words: a list of customers holds names that
//! nobody has heard of. So the whole value has to look like one, from its key to its end.

use super::gazetteer::Flags;
use super::key::{self, Key};
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
    let key = key_of(text, first)?;
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let is_plain = |token: &Token| token.flags.any(plain);
    let known = |token: &Token| token.flags.any(Flags::PERSON);
    match key {
        Key::PersonName => {
            let words = reversed(text, tokens).or_else(|| name(text, tokens, PERSON_WORDS))?;
            let names = &tokens[..words];
            let fits = !names.iter().all(is_plain) || names.iter().all(known);
            fits.then_some((Kind::Person, words))
        }
        Key::Person => {
            let words = reversed(text, tokens).or_else(|| name(text, tokens, PERSON_WORDS))?;
            let names = &tokens[..words];
            // Few names are known in other alphabets.
            let other_alphabet = words > 1 && matches!(text.as_bytes()[first.start], 0xCE..=0xD2);
            let fits = (names.iter().any(known) || other_alphabet)
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
            if key == Key::Name && is_beside_given_name(text, first) {
                let words = name(text, tokens, PERSON_WORDS)?;
                return (!tokens[..words].iter().any(is_plain)).then_some((Kind::Person, words));
            }
            let words = reversed(text, tokens)?;
            let names = &tokens[..words];
            let fits = names.iter().any(known) && !names.iter().any(is_plain);
            fits.then_some((Kind::Person, words))
        }
        _ => None,
    }
}

/// Whether a field near `first` is one of given names: then `nom` is that of a family.
fn is_beside_given_name(text: &str, first: &Token) -> bool {
    const NEAR: usize = 80;
    const GIVEN: [&[u8]; 9] = [
        b"prenom",
        "prénom".as_bytes(),
        b"vorname",
        b"voornaam",
        b"apellido",
        b"cognome",
        b"jmeno",
        b"given",
        b"sobrenome",
    ];
    let bytes = text.as_bytes();
    let near = &bytes[first.start.saturating_sub(NEAR)..bytes.len().min(first.end + NEAR)];
    let near = near.to_ascii_lowercase();
    GIVEN.iter().any(|key| memchr::memmem::find(&near, key).is_some())
}

/// What the key says that the value beginning with `first` has; `None` where it begins none.
fn key_of(text: &str, first: &Token) -> Option<Key> {
    if matches!(first.gap, Gap::Colon | Gap::Equals | Gap::Angle)
        && !matches!(first.key, Key::None | Key::Other)
    {
        return Some(first.key);
    }
    // What wraps a value ends with a quotation mark or a bracket.
    let before = text.as_bytes()[..first.start].last()?;
    matches!(before, b'"' | b'\'' | b'{').then(|| key::before(text, first.start))
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
        | [
            b'"' | b'\'' | b'<' | b',' | b';' | b'\n' | b'\r' | b'\\' | b'|' | b'&' | b'^' | b'}',
            ..,
        ] => next.is_none_or(|next| next.gap != Gap::Genitive),
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
