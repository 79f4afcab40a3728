//! Tokens that are told by their form rather than by a prefix: JWTs, Discord's and Telegram's bots,
//! Azure's client secrets, tokens with a mark in the middle or at the end, pairs of an id and a secret.

use super::super::value::Shape;
use super::Token;
use crate::kind::Kind;

const LONGEST: usize = 8192;

/// The token that the run `start..end` is a part of, which may be of hexadecimal digits only.
pub(super) fn find(text: &str, start: usize, end: usize, is_hex: bool) -> Option<Token> {
    let bytes = text.as_bytes();
    // Most hashes have nothing beside them that makes them a part of a token.
    let before = start.checked_sub(1).map(|i| bytes[i]);
    let is_beside =
        matches!(before, Some(b':' | b'|' | b'.')) || matches!(bytes.get(end), Some(b'.' | b'|'));
    if is_hex && !is_beside {
        return azure_client_secret(bytes, start, end);
    }
    jwt(bytes, start, end)
        .or_else(|| discord_bot(bytes, start, end))
        .or_else(|| telegram_bot(bytes, start, end))
        .or_else(|| azure_client_secret(bytes, start, end))
        .or_else(|| mailchimp(bytes, start, end))
        .or_else(|| facebook_app(bytes, start, end))
        .or_else(|| sourcegraph(bytes, start, end))
        .or_else(|| marked(bytes, start, end))
        .or_else(|| terraform(bytes, start, end))
        .or_else(|| id_and_secret(bytes, start, end))
        .or_else(|| secret_of_id(bytes, start, end))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// How many characters of tokens stand at the beginning.
fn word(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(LONGEST).take_while(|b| is_word(**b)).count()
}

/// `eyJ….eyJ….…`: a JSON object in base64, its payload and its signature; five parts if encrypted.
fn jwt(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    if !bytes[start..].starts_with(b"eyJ") && !bytes[start..].starts_with(b"ewog") {
        return None;
    }
    let mut parts = 1;
    let mut at = end;
    let mut last = end - start;
    while parts < 5 && bytes.get(at) == Some(&b'.') {
        let len = word(bytes, at + 1);
        // The key of a directly encrypted token is empty.
        if len == 0 && !(parts == 1 && bytes.get(at + 1) == Some(&b'.')) {
            break;
        }
        at += 1 + len;
        last = len;
        parts += 1;
    }
    let is_whole = parts == 3 && last >= 10 || parts == 5;
    if end - start < 12 || !is_whole || at - start < 40 {
        return None;
    }
    Some(("jwt", start, at, Kind::Secret))
}

/// `M….xxxxxx.…`: an id in base64, a time and a signature.
fn discord_bot(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    if !matches!(bytes[start], b'M' | b'N' | b'O') || !(22..=30).contains(&(end - start)) {
        return None;
    }
    let time = word(bytes, end + 1);
    let signature = word(bytes, end + 1 + time + 1);
    let joined = bytes.get(end) == Some(&b'.') && bytes.get(end + 1 + time) == Some(&b'.');
    let to = end + 2 + time + signature;
    (joined && (5..=8).contains(&time) && (25..=45).contains(&signature)).then_some((
        "discord_token",
        start,
        to,
        Kind::Secret,
    ))
}

/// `1234567890:AA…`.
fn telegram_bot(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    if !(33..=37).contains(&(end - start)) || !bytes[start..].starts_with(b"A") || start == 0 {
        return None;
    }
    let id = bytes[..start - 1].iter().rev().take(12).take_while(|b| b.is_ascii_digit()).count();
    let from = start - 1 - id;
    (bytes[start - 1] == b':' && (7..=11).contains(&id)).then_some((
        "telegram_token",
        from,
        end,
        Kind::Secret,
    ))
}

/// `abc8Q~…`: three characters, a digit, `Q~` and 31 to 34 more.
fn azure_client_secret(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let body = |b: &u8| is_word(*b) || matches!(b, b'.' | b'~');
    let floor = start.saturating_sub(40);
    let tilde = memchr::memrchr(b'~', &bytes[floor..bytes.len().min(end + 1)])? + floor;
    let mark = bytes[floor..=tilde].windows(2).rposition(|pair| pair == b"Q~")? + floor;
    let from = mark.checked_sub(4)?;
    if !bytes[mark - 1].is_ascii_digit() || !bytes[from..mark].iter().all(body) {
        return None;
    }
    if from > 0 && bytes[from - 1].is_ascii_alphanumeric() {
        return None;
    }
    let rest = bytes[mark + 2..].iter().take(40).take_while(|b| body(b)).count();
    let tail = bytes[mark + 2..mark + 2 + rest].iter().rev().take_while(|b| **b == b'.').count();
    let rest = if rest > 34 { rest - tail } else { rest };
    let written = std::str::from_utf8(&bytes[mark + 2..mark + 2 + rest]).ok()?;
    let is_random = !Shape::of(written).is_monotonous();
    ((31..=34).contains(&rest) && is_random).then_some((
        "azure_client_secret",
        from,
        mark + 2 + rest,
        Kind::Secret,
    ))
}

/// 32 hexadecimal digits, `-us` and a number.
fn mailchimp(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let run = &bytes[start..end];
    let dash = memchr::memchr(b'-', run).filter(|dash| *dash == 32)?;
    let centre = run[dash..].strip_prefix(b"-us")?;
    let is_key = run[..dash].iter().all(u8::is_ascii_hexdigit)
        && (1..=2).contains(&centre.len())
        && centre.iter().all(u8::is_ascii_digit);
    is_key.then_some(("mailchimp_key", start, end, Kind::Secret))
}

/// `1234567890123456|xxxxxxxxxxxxxxxxxxxxxxxxxxx`.
fn facebook_app(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let id = end - start;
    if !(15..=16).contains(&id) || !bytes[start..end].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let secret = word(bytes, end + 1);
    (bytes.get(end) == Some(&b'|') && (26..=27).contains(&secret)).then_some((
        "facebook_token",
        start,
        end + 1 + secret,
        Kind::Secret,
    ))
}

/// `sgp_`, maybe `local_` or 16 hexadecimal digits and `_`, and 40 hexadecimal digits.
fn sourcegraph(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let body = bytes[start..end].strip_prefix(b"sgp_")?;
    let (scope, digits) = body.split_at_checked(body.len().checked_sub(40)?)?;
    let scope_fits = match scope {
        b"" | b"local_" => true,
        [scope @ .., b'_'] => scope.len() == 16 && is_hex(scope),
        _ => false,
    };
    let shape = Shape::of(std::str::from_utf8(digits).ok()?);
    (scope_fits && is_hex(digits) && !shape.is_monotonous()).then_some((
        "sourcegraph_token",
        start,
        end,
        Kind::Secret,
    ))
}

/// Tokens of one length with a mark at one place, as their vendors write them.
fn marked(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    const MARKS: &[(&str, usize, usize, &str)] = &[
        ("azure_key", 52, 42, "AzSe"),
        ("azure_key", 54, 44, "AzFu"),
        ("azure_key", 84, 52, "JQQJ99"),
        ("maxmind_key", 40, 36, "_mmk"),
        ("newrelic_license", 40, 36, "NRAL"),
        ("rapidapi_key", 50, 10, "msh"),
    ];
    let run = &bytes[start..end];
    let is_marked = |(_, len, at, mark): &&(&str, usize, usize, &str)| {
        run.len() == *len && run[*at..].starts_with(mark.as_bytes())
    };
    if let Some((rule, ..)) = MARKS.iter().find(is_marked) {
        let padding = bytes[end..].iter().take(2).take_while(|b| **b == b'=').count();
        return is_drawn(run).then_some((rule, start, end + padding, Kind::Secret));
    }
    if let (50, Some(b'-'), Some(b'-')) = (run.len(), run.get(32), run.get(41)) {
        let is_key = is_hex(&run[..32]) && is_hex(&run[33..41]) && is_hex(&run[42..]);
        return is_key.then_some(("mailgun_key", start, end, Kind::Secret));
    }
    // A number, a dash and 64 letters and digits.
    let (id, key) = run.split_at_checked(run.len().checked_sub(64)?)?;
    let is_numbered = matches!(id, [digits @ .., b'-']
        if (1..=4).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit));
    let shape = Shape::of(std::str::from_utf8(key).ok()?);
    let is_mixed = shape.upper > 4 && shape.lower > 4 && shape.joints == 0;
    (is_numbered && is_mixed && shape.is_random()).then_some((
        "truenas_key",
        start,
        end,
        Kind::Secret,
    ))
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

fn is_drawn(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|written| Shape::of(written).is_random())
}

/// 14 letters and digits, `.atlasv1.` and the secret.
fn terraform(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    const MARK: &[u8] = b".atlasv1.";
    let id = bytes[..start].strip_suffix(MARK)?;
    let from = id.len().checked_sub(14)?;
    let is_id = id[from..].iter().all(u8::is_ascii_alphanumeric);
    (is_id && (60..=70).contains(&(end - start))).then_some((
        "terraform_token",
        from,
        end,
        Kind::Secret,
    ))
}

/// 32 hexadecimal digits, a dot and 16 or 24 characters of both cases and digits.
fn id_and_secret(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    if end - start != 32 || bytes.get(end) != Some(&b'.') || !is_hex(&bytes[start..end]) {
        return None;
    }
    let len = word(bytes, end + 1);
    let secret = &bytes[end + 1..end + 1 + len];
    let shape = Shape::of(std::str::from_utf8(secret).ok()?);
    let is_mixed = shape.upper > 1 && shape.lower > 1 && shape.digits > 0;
    (matches!(len, 16 | 24) && is_mixed && shape.is_random()).then_some((
        "id_and_secret",
        start,
        end + 1 + len,
        Kind::Secret,
    ))
}

/// A secret behind the id that it belongs to: `<uuid>:<32 digits>`, `<24 digits>:<64 digits>`,
/// `xxxxxx.xxxxxx:<secret>`, `team+robot:<secret>`, `12|<secret>`.
fn secret_of_id(bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let joint = start.checked_sub(1)?;
    let (len, run) = (end - start, &bytes[start..end]);
    let before = &bytes[..joint];
    let (rule, id) = match (bytes[joint], len) {
        (b':', 32) => ("id_and_secret", 36),
        (b':', 64) if is_hex(run) => ("ghost_key", 24),
        (b':', 64) => {
            let is_robot = |b: &&u8| is_word(**b) || matches!(**b, b'+' | b'.');
            ("quay_robot", before.iter().rev().take(48).take_while(is_robot).count())
        }
        (b':', 43) => ("ably_key", 13),
        (b'|', 40..=48) => {
            let id = before.iter().rev().take(8).take_while(|b| b.is_ascii_digit()).count();
            ("sanctum_token", id)
        }
        _ => return None,
    };
    let from = joint.checked_sub(id)?;
    let id = std::str::from_utf8(&before[from..]).ok()?;
    let fits = match rule {
        "id_and_secret" => super::super::value::is_uuid(id) && is_hex(run),
        "ghost_key" => is_hex(id.as_bytes()),
        "quay_robot" => {
            let is_code = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
            let is_named =
                id.split_once('+').is_some_and(|(of, name)| of.len().min(name.len()) > 1);
            is_named && run.iter().all(is_code)
        }
        "ably_key" => {
            let is_id = |part: &str| part.bytes().all(is_word);
            id.split_once('.').is_some_and(|(app, key)| app.len() == 6 && is_id(app) && is_id(key))
        }
        _ => !id.is_empty() && run.iter().all(u8::is_ascii_alphanumeric),
    };
    let is_whole = from == 0 || !is_word(bytes[from - 1]);
    let shape = Shape::of(std::str::from_utf8(run).ok()?);
    let is_mixed = shape.is_hex || rule == "quay_robot" || shape.upper > 1 && shape.lower > 1;
    (fits && is_whole && is_mixed && shape.is_random()).then_some((rule, from, end, Kind::Secret))
}

#[cfg(test)]
mod tests {
    use crate::kind::{Kind, Kinds};
    use crate::scan::{Scanner, ScannerSettings};

    const HEX: &str = "4f1c0b7ad92e6835c1de27ba90f3468e6b1f02aa5d7c9384e0f6b2a1c8d3957e";
    const MIXED: &str = "q8Kd02mzLxPwX81nRtYvBc03HsJfGaE5uIoTx4kZ6WbQ9rVeN7hM2yCsD3pLgJ1F";

    fn check(token: &str, is_found: bool) {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        for text in [token.to_owned(), format!("it is {token} now"), format!("[\"{token}\"]")] {
            let found = scanner.scan(&text, Kinds::of(&[Kind::Secret]));
            let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
            assert_eq!(found, if is_found { vec![token] } else { vec![] }, "{text}");
        }
    }

    #[test]
    fn marks_and_ids_tell_tokens() {
        let uuid = "1f9d3c5e-77a0-4b1c-9e42-0d5b6a7c8e9f";
        for token in [
            format!("{}NRAL", &HEX[..36]),
            format!("{}_{}_mmk", &MIXED[..6], &MIXED[6..35]),
            format!("{}msh{}p1{}jsn{}", &HEX[..10], &HEX[..15], &HEX[..6], &HEX[..11]),
            format!("{}JQQJ99{}", &MIXED[..52], &MIXED[..26]),
            format!("{}-{}-{}", &HEX[..32], &HEX[..8], &HEX[8..16]),
            format!("12-{MIXED}"),
            format!("{}.atlasv1.{}", &MIXED[..14], &MIXED[..63]),
            format!("{}.{}", &HEX[..32], &MIXED[..16]),
            format!("{uuid}:{}", &HEX[..32]),
            format!("{}:{HEX}", &HEX[..24]),
            format!("aB3dE5.fG7hJ9:{}", &MIXED[..43]),
            format!("17|{}", &MIXED[..40]),
            format!("team+robot:{}", MIXED.to_ascii_uppercase()),
        ] {
            check(&token, true);
        }
    }

    #[test]
    fn digests_with_something_before_or_behind_are_no_tokens() {
        for text in [
            format!("{}.js", &HEX[..32]),
            format!("{}.{}", &HEX[..32], &HEX[..16]),
            format!("sha256:{HEX}"),
            format!("{}:{HEX}", &HEX[..40]),
            format!("12-{HEX}"),
            format!("3|{}", &HEX[..40].to_ascii_lowercase().replace(char::is_numeric, "a")),
            format!("{}-{}", &HEX[..32], &HEX[..17]),
        ] {
            check(&text, false);
        }
    }
}
