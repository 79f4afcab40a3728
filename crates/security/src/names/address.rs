//! Where an address begins and ends, once its street is found.
//!
//! The model knows streets; what stands around them has a form of its own in each country, but all
//! of them are made of few things: numbers, units (`Apt 6`, `2. tv.`, `kv. 4`), postal codes, towns.

use super::gazetteer::Flags;
use super::token::{Gap, Shape, Token};

/// The most words that are added on each side.
const MOST: usize = 12;

/// The address around `tokens[start..end]`, which is a part of one.
pub(super) fn widened(tokens: &[Token], start: usize, end: usize) -> (usize, usize) {
    (begin(tokens, start), finish(tokens, start, end))
}

/// Where the street begins that stands at `tokens[start]`, and its end: a number and a name that ends
/// with a street's word, a street in one word or behind its word, with a number.
pub(super) fn street(tokens: &[Token], start: usize) -> Option<usize> {
    const NAME: usize = 4;
    let first = &tokens[start];
    let follows = |i: usize| tokens.get(i).filter(|token| token.gap == Gap::Space);
    let plain = Flags::TECHNICAL;
    if first.shape.is_number() {
        let mut i = start + 1;
        while let Some(token) = follows(i).filter(|_| i <= start + NAME + 1) {
            if i > start + 1 && token.shape.is_capital() && token.flags.any(Flags::WAY) {
                return Some(i + 1);
            }
            let of_name = token.shape.is_capital() && !token.flags.any(plain)
                || token.flags.any(Flags::PARTICLE);
            if !of_name {
                return None;
            }
            i += 1;
        }
        return None;
    }
    let number = |i: usize| {
        tokens.get(i).is_some_and(|token| {
            token.shape.is_number() && matches!(token.gap, Gap::Space | Gap::Comma)
        })
    };
    if first.shape == Shape::Capital && first.flags.any(Flags::STREET_END) {
        return (number(start + 1) && tokens[start + 1].gap == Gap::Space).then_some(start + 2);
    }
    if !first.flags.any(Flags::WAY) {
        if first.shape != Shape::Capital || !matches!(tokens.get(start + 1)?.gap, Gap::Space) {
            return None;
        }
        return before_way(tokens, start).or_else(|| before_code(tokens, start));
    }
    let mut names = 0;
    for i in start + 1..=start + NAME + 1 {
        if names > 0 && number(i) {
            return Some(i + 1);
        }
        let token = tokens.get(i)?;
        let joined = token.gap == Gap::Space || i == start + 1 && token.gap == Gap::Stop;
        let of_name = token.shape.is_capital() || token.flags.any(Flags::PARTICLE);
        if !joined || !of_name {
            return None;
        }
        names += usize::from(token.shape.is_capital());
    }
    None
}

/// `Mariahilfer Straße 126`: a name, a street's word, a number that is no year.
fn before_way(tokens: &[Token], start: usize) -> Option<usize> {
    let [name, way, number, ..] = &tokens[start..] else { return None };
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let fits = name.shape == Shape::Capital
        && !name.flags.any(plain)
        && way.gap == Gap::Space
        && way.shape == Shape::Capital
        && way.flags.any(Flags::WAY)
        && is_house(number)
        && number.gap == Gap::Space;
    fits.then_some(start + 3)
}

/// `Hinterm Deich 26a, 41041 Aurich`: a name, a house's number, a postal code, a town.
fn before_code(tokens: &[Token], start: usize) -> Option<usize> {
    const WORDS: usize = 3;
    let plain = Flags::COMMON.with(Flags::TECHNICAL);
    let words = tokens[start..].iter().take(WORDS).enumerate().take_while(|(i, token)| {
        token.shape == Shape::Capital && (*i == 0 || token.gap == Gap::Space)
    });
    let words = words.count();
    let [house, code, rest @ ..] = tokens.get(start + words..)? else { return None };
    let town = match rest {
        // `8082 AD Zwolle`
        [letters, town, ..]
            if letters.shape == Shape::Upper && letters.end - letters.start == 2 =>
        {
            town
        }
        [town, ..] => town,
        [] => return None,
    };
    let length = code.end - code.start;
    let fits = words > 0
        && !tokens[start].flags.any(plain)
        && is_house(house)
        && house.gap == Gap::Space
        && code.gap == Gap::Comma
        && code.shape == Shape::Number
        && matches!(length, 4 | 5)
        && (length == 5 || town.flags.any(Flags::PLACES))
        && rest[0].gap == Gap::Space
        && town.shape == Shape::Capital
        && town.gap == Gap::Space;
    fits.then_some(start + words + 1)
}

/// `24157 Bergamo (BG)`
fn is_province(town: &Token, token: &Token) -> bool {
    token.gap == Gap::Open
        && token.shape == Shape::Upper
        && token.end - token.start == 2
        && town.shape == Shape::Capital
}

/// Whether `token` may be a house's number: up to three digits, perhaps a letter.
fn is_house(token: &Token) -> bool {
    token.shape.is_number() && token.end - token.start <= 3
        || token.shape == Shape::Mixed && token.end - token.start <= 4
}

/// Whether `token` is `Apt`, `piso` or the like.
fn is_unit(token: &Token) -> bool {
    token.flags.any(Flags::UNIT)
}

/// Where the address begins: `Unit 7, No. 57,`, `4/`, `17-502, ` may stand in front.
fn begin(tokens: &[Token], start: usize) -> usize {
    let mut begin = start;
    while begin > 0 && start - begin < MOST {
        let (before, gap) = (&tokens[begin - 1], tokens[begin].gap);
        let number = before.shape.is_number();
        let joined = number
            && matches!(gap, Gap::Slash | Gap::Dash | Gap::Other)
            && tokens[begin].shape.is_number()
            && tokens[begin].start - before.end == 1;
        let counted = begin > 1
            && number
            && matches!(gap, Gap::Space | Gap::Comma)
            && (is_unit(&tokens[begin - 2])
                && matches!(before.gap, Gap::Space | Gap::Stop | Gap::Dot | Gap::Colon)
                || matches!(before.gap, Gap::Dash)
                    && tokens[begin - 2].shape.is_number()
                    && before.start - tokens[begin - 2].end == 1);
        let house = number
            && matches!(gap, Gap::Space)
            && begin == start
            && !tokens[begin].shape.is_number();
        if joined || house {
            begin -= 1;
        } else if counted {
            begin -= 2;
        } else {
            break;
        }
    }
    begin
}

/// Where the address ends.
fn finish(tokens: &[Token], start: usize, end: usize) -> usize {
    let mut numbered = tokens[start..end].iter().any(|token| token.shape.is_number());
    let mut finish = end;
    while finish - end < MOST {
        let Some(next) = tokens.get(finish) else { break };
        let last = &tokens[finish - 1];
        let tight = next.start - last.end == 1;
        let joined = matches!(
            next.gap,
            Gap::Space
                | Gap::Comma
                | Gap::Stop
                | Gap::Dot
                | Gap::Slash
                | Gap::Dash
                | Gap::CommaLine
        );
        let broken = matches!(next.gap, Gap::Line | Gap::Open | Gap::Other | Gap::Colon);
        if !joined && !broken {
            break;
        }
        let then = tokens.get(finish + 1);
        let code = is_postal_code(next);
        let counts = then.is_some_and(|then| {
            (then.shape.is_number() || then.shape == Shape::Initial)
                && matches!(
                    then.gap,
                    Gap::Space | Gap::Stop | Gap::Dot | Gap::Colon | Gap::Other | Gap::Slash
                )
        });
        let steps = if next.shape.is_number() {
            let part =
                matches!(next.gap, Gap::Slash | Gap::Dash) && tight && last.shape.is_number();
            let house = !numbered && matches!(next.gap, Gap::Space | Gap::Comma | Gap::Stop);
            let unit = is_unit(last) || then.is_some_and(|then| is_unit(then) && near(then.gap));
            let of_unit = unit && joined;
            let town = then.is_some_and(|then| then.shape.is_capital() && near(then.gap));
            let coded = code && (joined || next.gap == Gap::Line && town);
            // `85-009 Bydgoszcz`
            let halves = joined
                && !matches!(next.gap, Gap::Dash | Gap::Slash)
                && then.is_some_and(|then| {
                    then.shape.is_number() && then.gap == Gap::Dash && then.start - next.end == 1
                });
            // `Hawthorne Blvd #323`, `County Road 95, Tacoma`
            let way = last.flags.any(Flags::WAY);
            let hashed = next.gap == Gap::Other && next.start - last.end == 2 && way;
            let counted = way
                && next.gap == Gap::Space
                && is_house(next)
                && then.is_some_and(|then| then.gap == Gap::Comma && then.shape.is_capital());
            let more = part || house || of_unit || coded || hashed || counted;
            if halves { 2 } else { usize::from(more) }
        } else if next.gap == Gap::Line {
            0
        } else if numbered && is_province(last, next)
            || is_unit(next) && (counts || last.shape.is_number())
        {
            1
        } else if next.shape == Shape::Initial {
            // `163. II/5`, `3. B`, `A-8017`
            usize::from(joined && (last.shape.is_number() || counts))
        } else if next.shape.is_capital() {
            let behind_code = is_postal_code(last);
            let leads_to_code = (1..=3).any(|i| {
                tokens.get(finish + i).is_some_and(is_postal_code)
                    && tokens[finish + 1..=finish + i].iter().all(|token| near(token.gap))
                    && tokens[finish..finish + i].iter().all(|token| token.shape.is_capital())
            });
            let place =
                next.flags.any(Flags::PLACES) && !matches!(next.gap, Gap::Stop | Gap::Colon);
            let short = next.shape == Shape::Upper && next.end - next.start <= 3 && joined;
            let ordinal = last.shape.is_number() && short;
            let local = next.gap == Gap::Comma
                && !next.flags.any(Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::FIRST));
            usize::from(
                numbered
                    && joined
                    && next.gap != Gap::Stop
                    && (behind_code || leads_to_code || place || ordinal || local)
                    || numbered && short && (place || leads_to_code || is_place(last)),
            )
        } else {
            0
        };
        if steps == 0 {
            break;
        }
        numbered |= next.shape.is_number();
        finish += steps;
    }
    finish
}

fn is_place(token: &Token) -> bool {
    token.flags.any(Flags::PLACES)
}

fn near(gap: Gap) -> bool {
    matches!(gap, Gap::Space | Gap::Comma | Gap::Stop | Gap::Dot | Gap::Dash)
}

/// Whether `token` looks like a postal code, or a half of one.
fn is_postal_code(token: &Token) -> bool {
    let len = token.end - token.start;
    match token.shape {
        Shape::Number => (3..=6).contains(&len),
        Shape::Mixed => (3..=5).contains(&len),
        _ => false,
    }
}
