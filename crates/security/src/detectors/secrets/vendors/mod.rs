//! Vendors' tokens: those with a prefix ([`table`]), those with a form ([`forms`]), and those that
//! only the vendor's name before them tells ([`named`], [`list`]).

mod charset;
mod forms;
mod list;
mod named;
mod sealed;
mod table;

use super::published;
use super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;
use charset::Charset;
pub(super) use named::{PassedNames, is_near, may_have_vendor};
pub(super) use sealed::sealed;

/// Tokens of one vendor.
#[derive(Debug, Clone, Copy)]
struct Vendor {
    rule: &'static str,
    prefix: &'static str,
    charset: Charset,
    /// Fewest and most characters behind the prefix.
    least: usize,
    most: usize,
    /// Whether what follows the prefix must be made by chance.
    is_drawn: bool,
}

/// Where the vendors of each first byte are in the table.
#[derive(Debug)]
pub(super) struct Index([(u16, u16); 128]);

impl Index {
    pub(super) fn new() -> Self {
        let mut index = [(0, 0); 128];
        for (i, vendor) in table::VENDORS.iter().enumerate() {
            let Some(slot) =
                vendor.prefix.bytes().next().and_then(|b| index.get_mut(usize::from(b)))
            else {
                continue;
            };
            let i = u16::try_from(i).unwrap_or(u16::MAX);
            if slot.1 == 0 {
                *slot = (i, i);
            }
            slot.1 = i + 1;
        }
        Self(index)
    }

    /// The vendors whose prefix begins with these two bytes.
    fn vendors(&self, first: u8, second: u8) -> &'static [Vendor] {
        let (from, to) = self.0.get(usize::from(first)).copied().unwrap_or_default();
        let all = table::VENDORS.get(usize::from(from)..usize::from(to)).unwrap_or_default();
        let second_of = |vendor: &Vendor| vendor.prefix.as_bytes().get(1).copied().unwrap_or(0);
        let rest = &all[all.partition_point(|vendor| second_of(vendor) < second)..];
        &rest[..rest.partition_point(|vendor| second_of(vendor) == second)]
    }
}

/// How far before a run a token may begin whose first part is short: `SG.`, `xoxe.`, `FlyV1 `.
const HEAD: usize = 32;

/// Looks at the run of token characters `start..end`, which may be of hexadecimal digits only. Returns
/// the end of the token found.
pub(super) fn run(
    index: &Index,
    text: &str,
    start: usize,
    end: usize,
    is_hex: bool,
    out: &mut Vec<Finding>,
) -> Option<usize> {
    let bytes = text.as_bytes();
    out.extend(token_of_account(bytes, start, end));
    let mut start = start;
    if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b't' | b'r') {
        start += 1;
    }
    // `SG.`, `xoxe.xoxp-`: the prefix, or a part of it, is a run of its own.
    let behind_head = || {
        let before = head(bytes, start)?;
        at(index, bytes, before).filter(|(_, _, to, _)| *to >= end)
    };
    let found = forms::find(text, start, end, is_hex)
        .or_else(behind_head)
        .or_else(|| at(index, bytes, start))
        .or_else(|| if is_hex { None } else { inside(index, bytes, start, end) });
    let (rule, from, to, kind) = found?;
    let token = text.get(from..to)?;
    if published::is_published(token) {
        return Some(to);
    }
    out.push(Finding { start: from, end: to, kind, rule });
    if rule == "aws_access_key_id" {
        out.extend(secret_of_pair(bytes, to));
    }
    Some(to)
}

/// `"AC…", "…"`: the token behind the id of an account of Twilio, 32 digits each.
fn token_of_account(bytes: &[u8], start: usize, end: usize) -> Option<Finding> {
    const LENGTH: usize = 32;
    let is_digit = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    let is_id = end - start == LENGTH + 2
        && matches!(&bytes[start..start + 2], b"AC" | b"SK")
        && bytes[start + 2..end].iter().all(is_digit);
    if !is_id {
        return None;
    }
    let gap = bytes[end..].iter().take(8).position(|b| !b"\"', :".contains(b))?;
    let from = end + gap;
    let len = bytes[from..].iter().take(LENGTH + 1).take_while(|b| is_digit(b)).count();
    (gap > 0 && len == LENGTH).then_some(Finding {
        start: from,
        end: from + LENGTH,
        kind: Kind::Secret,
        rule: "twilio_token",
    })
}

/// The secret that belongs to the key id that ends at `at`: 40 characters of base64 not far behind
/// it, whatever stands between.
fn secret_of_pair(bytes: &[u8], at: usize) -> Option<Finding> {
    const REACH: usize = 160;
    const LENGTH: usize = 40;
    let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let end = bytes.len().min(at + REACH);
    let mut start = at;
    while start < end {
        let len = bytes[start..].iter().take(LENGTH + 1).take_while(|b| is_base64(b)).count();
        if len == LENGTH {
            let written = std::str::from_utf8(&bytes[start..start + LENGTH]).ok()?;
            let shape = Shape::of(written);
            let is_mixed = shape.upper > 3 && shape.lower > 3 && shape.digits > 0;
            if is_mixed && shape.is_random() {
                let kind = Kind::Secret;
                let rule = "aws_secret_access_key";
                return Some(Finding { start, end: start + LENGTH, kind, rule });
            }
        }
        start += len.max(1);
    }
    None
}

/// Looks at the token that begins at `start`. Returns up to where it has looked.
pub(super) fn prefixed(index: &Index, text: &str, start: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let joined = start.checked_sub(1).is_some_and(|i| bytes[i].is_ascii_alphanumeric());
    let escaped = start > 1 && bytes[start - 2] == b'\\';
    match at(index, bytes, start).filter(|_| !joined || escaped) {
        Some((rule, start, end, kind)) => {
            out.push(Finding { start, end, kind, rule });
            end
        }
        None => start,
    }
}

/// Rule, start, end and kind of a token.
type Token = (&'static str, usize, usize, Kind);

/// Whether a character joins two runs to one token.
pub(super) fn is_joint(byte: u8) -> bool {
    matches!(byte, b'.' | b'/' | b'$' | b':' | b'+' | b'~')
}

/// The start of the short words that a `.`, `/`, `$` or `:` joins to the run at `start`.
fn head(bytes: &[u8], start: usize) -> Option<usize> {
    if start == 0 || !is_joint(bytes[start - 1]) {
        return None;
    }
    let floor = start.saturating_sub(HEAD);
    let mut from = start;
    while from > floor
        && (bytes[from - 1].is_ascii_alphanumeric()
            || matches!(bytes[from - 1], b'_' | b'-')
            || is_joint(bytes[from - 1]))
    {
        from -= 1;
    }
    let is_escape =
        from > 0 && bytes[from - 1] == b'\\' && matches!(bytes[from], b'n' | b't' | b'r');
    from += usize::from(is_escape);
    (from < start).then_some(from)
}

/// A token behind a joint inside a run: `key_AKIA…`, `token-ghp_…`, `x-xoxb-…`.
fn inside(index: &Index, bytes: &[u8], start: usize, end: usize) -> Option<Token> {
    let run = &bytes[start..end.min(start + 48)];
    for i in memchr::memchr2_iter(b'_', b'-', run) {
        let is_distinct = |found: &Token| {
            table::VENDORS.iter().any(|v| {
                v.rule == found.0
                    && v.prefix.len() >= 4
                    && !v.is_drawn
                    && bytes[found.1..].starts_with(v.prefix.as_bytes())
            })
        };
        if start + i + 1 < end
            && let Some(found) = at(index, bytes, start + i + 1).filter(is_distinct)
        {
            return Some(found);
        }
    }
    None
}

/// The token that begins at `start`.
fn at(index: &Index, bytes: &[u8], start: usize) -> Option<Token> {
    let rest = &bytes[start..];
    let vendors = index.vendors(*rest.first()?, *rest.get(1)?);
    vendors.iter().find_map(|vendor| token_of(vendor, bytes, start))
}

/// The vendor's token that begins at `start`.
fn token_of(vendor: &Vendor, bytes: &[u8], start: usize) -> Option<Token> {
    let rest = &bytes[start..];
    let body = rest.strip_prefix(vendor.prefix.as_bytes())?;
    let most = vendor.most + 1;
    let len = body.iter().take(most).take_while(|b| vendor.charset.contains(**b)).count();
    let len = without_tail(&body[..len]);
    if len < vendor.least || len > vendor.most {
        return None;
    }
    let behind = body.get(len);
    if behind.is_some_and(|b| b.is_ascii_alphanumeric())
        || is_in_base64(bytes, start, vendor)
        || is_file_name(&body[len..])
        || is_masked(&body[len..])
    {
        return None;
    }
    let token = &rest[..vendor.prefix.len() + len];
    let is_token = is_by_chance(vendor, &body[..len], token);
    is_token.then_some((vendor.rule, start, start + token.len(), Kind::Secret))
}

/// A full stop or dash at the end belongs to the sentence.
fn without_tail(body: &[u8]) -> usize {
    let tail = body.iter().rev().take_while(|b| matches!(b, b'.' | b':' | b'%' | b'!')).count();
    body.len() - tail
}

/// `xoxp-8164920375132-****`: the part that is secret was taken out.
fn is_masked(behind: &[u8]) -> bool {
    behind.starts_with(b"***") || behind.starts_with(b"##")
}

/// `ico-7a388b69018576d24b59331fd60aab0c.png`: names of pictures and scripts have digests in them.
fn is_file_name(behind: &[u8]) -> bool {
    const ENDS: [&[u8]; 9] =
        [b".png", b".jpg", b".jpeg", b".gif", b".svg", b".webp", b".css", b".js", b".woff"];
    let is_end = |end: &[u8]| {
        let rest = behind.strip_prefix(end);
        rest.is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    behind.first() == Some(&b'.') && ENDS.into_iter().any(is_end)
}

/// Prefixes of letters only occur by chance in base64.
fn is_in_base64(bytes: &[u8], start: usize, vendor: &Vendor) -> bool {
    if start == 0 || vendor.prefix.len() > 5 || vendor.prefix.contains(['_', '-', '.']) {
        return false;
    }
    let before = &bytes[start.saturating_sub(24)..start];
    let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    matches!(before.last(), Some(b'+' | b'/')) && before.len() == 24 && before.iter().all(is_base64)
}

/// Whether what stands behind a prefix is a token's body and no stand-in or word.
fn is_by_chance(vendor: &Vendor, body: &[u8], token: &[u8]) -> bool {
    let Ok(written) = std::str::from_utf8(body) else { return false };
    if vendor.prefix.len() > 24 {
        return true;
    }
    let shape = Shape::of(written);
    if shape.is_monotonous()
        || memchr::memmem::find(token, b"EXAMPLE").is_some()
        || memchr::memmem::find(body, b"xxxxx").is_some()
    {
        return false;
    }
    if vendor.charset == Charset::Slack {
        let longest = body.split(|b| !b.is_ascii_digit()).map(<[u8]>::len).max().unwrap_or(0);
        return longest >= 8 || shape.len > 40 && shape.digits > 5 && shape.is_random();
    }
    if vendor.charset == Charset::Letters {
        let short_humps = shape.humps * 7 >= shape.letters() * 2;
        return shape.upper > 2 && shape.lower > 2 && (shape.wordiness < 5.6 || short_humps);
    }
    if vendor.is_drawn {
        let mixed = shape.upper > 0 && shape.lower > 0 || vendor.charset != Charset::Alnum;
        return mixed && shape.is_random();
    }
    if shape.digits == 0 && shape.len < 60 {
        return shape.len >= 16
            && (shape.wordiness < 4.6 || shape.is_improbable())
            && vendor.prefix.len() > 3;
    }
    // Distinct prefixes need little proof; short ones stand in identifiers as well.
    let is_distinct = vendor.prefix.len() >= 4 && vendor.prefix.contains(['_', '-', '.']);
    if is_distinct || vendor.prefix.len() >= 4 {
        let words = shape.joints + 1;
        let mixed = shape.alternations > 1 && shape.wordiness < 6.6;
        let few = shape.alternations > 0 && shape.wordiness < 6.0 && shape.upper * 4 > shape.len;
        // Among digits, few letters meet: how they follow each other says nothing.
        return (mixed || few || shape.is_random()) && words * 4 < shape.len;
    }
    shape.is_random() && (shape.upper > 0 && shape.lower > 0 || vendor.charset != Charset::Alnum)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::kind::Kinds;
    use crate::scan::{Scanner, ScannerSettings};

    /// A body of `len` characters of the vendor's alphabet, as if drawn by chance.
    pub(super) fn body(charset: Charset, len: usize) -> String {
        let characters: Vec<char> =
            (b'!'..=b'z').filter(|b| charset.contains(*b)).map(char::from).collect();
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let drawn = characters[state as usize % characters.len()];
            if drawn.is_ascii_alphanumeric() { drawn } else { '7' }
        };
        if charset == Charset::Slack {
            let tail: String = (0..len - 14).map(|_| draw()).collect();
            return format!("8164920375132-{tail}");
        }
        (0..len).map(|_| draw()).collect()
    }

    #[test]
    fn the_table_is_sorted_for_its_index() {
        let order = |v: &Vendor| {
            let bytes = v.prefix.as_bytes();
            (bytes[0], bytes[1], usize::MAX - bytes.len())
        };
        assert!(table::VENDORS.is_sorted_by_key(order));
        assert!(table::VENDORS.iter().all(|v| v.least <= v.most));
    }

    #[test]
    fn a_masked_token_is_none() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let (bot, tail) = ("xoxb-8164920375132-8164920375133", "nT4kQ8vLm2XcB7nZ1wYp3RsD");
        for mask in ["************************", "########################"] {
            let text = format!("SLACK_BOT_TOKEN={bot}-{mask}");
            assert_eq!(scanner.scan(&text, Kinds::of(&[Kind::Secret])), [], "{text}");
        }
        // Emphasis of Markdown is no mask.
        let text = format!("**{bot}-{tail}**");
        assert_eq!(scanner.scan(&text, Kinds::of(&[Kind::Secret])).len(), 1, "{text}");
    }

    #[test]
    fn an_id_leads_to_its_secret() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let (id, secret) =
            (format!("AKIA{}", "Y3T7KQ2WV5LMN8RD"), "q8Kd02mz/LqPwX81nRtYvBc03HsJfGaE5uIoTx4k");
        for text in
            [format!("{id} / {secret}"), format!("{id}\n{secret}\n"), format!("{id},{secret},us")]
        {
            let found = scanner.scan(&text, Kinds::of(&[Kind::Secret]));
            let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
            assert_eq!(found, [id.as_str(), secret]);
        }
    }

    #[test]
    fn every_vendors_token_is_found_whole() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        for vendor in table::VENDORS.iter().filter(|v| v.least > 0) {
            let len = vendor.least.midpoint(vendor.most);
            let token = format!("{}{}", vendor.prefix, body(vendor.charset, len));
            for (before, behind) in
                [("", ""), ("export X=", "\n"), ("\"", "\","), ("it is ", " now"), ("a\\n", "\\n")]
            {
                let text = format!("{before}{token}{behind}");
                let found = scanner.scan(&text, Kinds::of(&[Kind::Secret]));
                let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
                assert_eq!(found, [token.as_str()], "{} in {text:?}", vendor.rule);
            }
            let stand_in = format!("X={}{}", vendor.prefix, "x".repeat(len));
            assert_eq!(scanner.scan(&stand_in, Kinds::of(&[Kind::Secret])), [], "{stand_in}");
        }
    }
}
