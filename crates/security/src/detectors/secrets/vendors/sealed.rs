//! Tokens in what a provider sealed: base64 that the provider refuses when a character of it was
//! changed.
//!
//! So only those are looked for that cannot stand there by chance. A prefix of eight characters or
//! more, with a sign in it that no word has, occurs by chance once in 2⁴⁸ places. Shorter prefixes
//! count only where they begin a value.

use super::{Index, Token, Vendor, is_by_chance, token_of, without_tail};
use crate::finding::Finding;
use crate::kind::Kind;

/// The fewest characters of a prefix that is found anywhere.
const LONG: usize = 8;
/// The fewest characters of a prefix that is found at the beginning of a value.
const SHORT: usize = 4;
/// How far the first sign of a prefix is from its beginning, at most.
const FARTHEST: usize = 12;

/// Looks for tokens in `text`, in which each line is a sealed value.
pub(in super::super) fn sealed(index: &Index, text: &str, out: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for line in text.split('\n') {
        let end = from + line.len();
        let mut until = from;
        let mut push = |(rule, start, end, kind): Token| {
            out.push(Finding { start, end, kind, rule });
            end
        };
        if let Some(token) = longest_of(index, bytes, from, |v| has_sign(v, SHORT), token_of) {
            until = push(token);
        }
        for sign in memchr::memchr2_iter(b'_', b'-', line.as_bytes()).map(|at| from + at) {
            for start in sign.saturating_sub(FARTHEST).max(until)..sign {
                let token = longest_of(index, bytes, start, |v| has_sign(v, LONG), begin_of);
                if let Some(token) = token {
                    until = push(token);
                    break;
                }
            }
        }
        from = end + 1;
    }
}

/// Whether the vendor's prefix has so many characters and a sign that no word has.
fn has_sign(vendor: &Vendor, least: usize) -> bool {
    !vendor.is_drawn && vendor.prefix.len() >= least && vendor.prefix.contains(['_', '-'])
}

/// The longest token that `find` finds at `start` for one of the vendors that fit: several may have
/// the same prefix.
fn longest_of(
    index: &Index,
    bytes: &[u8],
    start: usize,
    fits: impl Fn(&Vendor) -> bool,
    find: impl Fn(&Vendor, &[u8], usize) -> Option<Token>,
) -> Option<Token> {
    let vendors = index.vendors(*bytes.get(start)?, *bytes.get(start + 1)?);
    let tokens = vendors.iter().filter(|vendor| fits(vendor));
    tokens.filter_map(|vendor| find(vendor, bytes, start)).max_by_key(|(_, _, end, _)| *end)
}

/// The vendor's token that begins at `start`, even where more base64 follows it.
fn begin_of(vendor: &Vendor, bytes: &[u8], start: usize) -> Option<Token> {
    let rest = &bytes[start..];
    let body = rest.strip_prefix(vendor.prefix.as_bytes())?;
    let fits = |b: &&u8| vendor.charset.contains(**b);
    let len = without_tail(&body[..body.iter().take(vendor.most).take_while(fits).count()]);
    let token = &rest[..vendor.prefix.len() + len];
    let is_token = len >= vendor.least && is_by_chance(vendor, &body[..len], token);
    is_token.then_some((vendor.rule, start, start + token.len(), Kind::Secret))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::table::VENDORS;
    use super::super::tests::body;
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut findings = Vec::new();
        sealed(&Index::new(), text, &mut findings);
        findings.iter().map(|finding| &text[finding.range()]).collect()
    }

    const BASE64: &str = "EqQBCkgIARABGAIiQDh0QmlzbXV0aFNvbWV0aGluZ1RoYXRJc1NlYWxlZEJ5QVBy";

    #[test]
    fn tokens_of_certain_form_are_found_wherever_they_stand() {
        let long = |v: &&Vendor| has_sign(v, LONG) && v.least > 0;
        assert!(VENDORS.iter().filter(long).count() > 100);
        for vendor in VENDORS.iter().filter(long) {
            let token = format!("{}{}", vendor.prefix, body(vendor.charset, vendor.most));
            for text in [
                token.clone(),
                format!("{BASE64}{token}"),
                format!("{BASE64}\n{token}{BASE64}"),
                format!("{BASE64}-{token}\n{BASE64}"),
            ] {
                // What follows may belong to it, too.
                let found = found(&text);
                assert!(matches!(*found, [one] if one.starts_with(&token)), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn tokens_with_a_short_prefix_are_found_where_they_begin_a_value() {
        let token = format!("ghp_{}", body(super::super::Charset::Alnum, 36));
        let padding = "_-".repeat(20);
        assert_eq!(found(&format!("{BASE64}\n{token}{padding}\n{BASE64}")), [token.as_str()]);
        assert_eq!(found(&format!("{BASE64}{token}{padding}")), [""; 0]);
    }

    proptest! {
        /// Signatures have some hundred bytes to some ten kilobytes.
        #[test]
        fn what_is_random_stays_as_it_is(
            bytes in prop::collection::vec(any::<u8>(), 48..4096),
            repeated in 1..16_usize,
            is_for_urls in any::<bool>(),
        ) {
            let digits = if is_for_urls { URL_SAFE } else { STANDARD };
            let digit = |byte: &u8| char::from(digits[usize::from(byte % 64)]);
            // Rotated, so that no two stretches are alike.
            let text: String = (0..repeated)
                .flat_map(|turn| bytes.iter().map(move |byte| byte.rotate_left(turn as u32)))
                .map(|byte| digit(&byte))
                .collect();
            prop_assert_eq!(found(&text), [""; 0]);
        }
    }

    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}
