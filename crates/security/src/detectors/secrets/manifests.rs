//! Secrets in formats that say for a whole object that its values are secret: manifests of
//! Kubernetes, JSON Web Keys.

use super::assignment::push_if;
use super::grammar::{Join, Value};
use super::judge::Place;
use super::names::{Promise, Words};
use super::value::{self, Shape};
use crate::finding::Finding;
use crate::kind::Kind;

/// How much of an object is read.
const REACH: usize = 4096;
const LINE: usize = 2048;

/// `kind: Secret`: values below `data:` and `stringData:` that are no names of things. Returns up to
/// where it has looked.
pub(super) fn secret(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    if !matches!(bytes.get(end), None | Some(b'\n' | b'\r' | b' ')) {
        return end;
    }
    let limit = bytes.len().min(end + REACH);
    let mut at = end;
    let mut is_data = false;
    while at < limit {
        let stretch = &bytes[at..bytes.len().min(at + LINE)];
        let length = memchr::memchr(b'\n', stretch).unwrap_or(stretch.len());
        let line = &stretch[..length];
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let content = line[indent..].trim_ascii_end();
        if content.starts_with(b"---") {
            return at;
        }
        if let Some(key) = content.strip_suffix(b":") {
            is_data = matches!(key, b"data" | b"stringData");
        } else if is_data && let Some(colon) = memchr::memmem::find(content, b": ") {
            let key = &content[..colon];
            let start = at + indent + colon + 2;
            let quoted = usize::from(matches!(bytes.get(start), Some(b'"' | b'\'')));
            let end = at + indent + content.len();
            datum(text, key, (start + quoted, end - quoted), out);
        }
        at += length + 1;
    }
    limit
}

fn datum(text: &str, key: &[u8], (start, end): (usize, usize), out: &mut Vec<Finding>) {
    // Names of users and hosts, and certificates, are no secrets.
    const PLAIN: &[&[u8]] =
        &[b"user", b"host", b"port", b"crt", b"name", b"url", b"ca", b"id", b"email"];
    let is_plain = |word: &&[u8]| {
        key.len() >= word.len() && key[key.len() - word.len()..].eq_ignore_ascii_case(word)
    };
    if start >= end || PLAIN.iter().any(is_plain) {
        return;
    }
    let Some(written) = text.get(start..end) else { return };
    let shape = Shape::of(written);
    let is_mixed = shape.upper > 0 && shape.lower > 0 && shape.digits > 0;
    if !shape.is_random() && !is_mixed {
        return;
    }
    let words = Words::of("secret");
    let place = Place { text, start, words: &words, name: "secret" };
    let value = Value { start, end, join: Join::Colon, quote: Some(b'"'), quoted_name: true };
    push_if(&place, Promise::Secret, value, out);
}

/// Looks at the long token `start..end` behind `"d":"` of a JSON Web Key, `"k":"` of a symmetric one,
/// or `"0x` of a wallet's key. Whether it was one of these.
pub(super) fn bare_key(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> bool {
    let bytes = text.as_bytes();
    let token = &bytes[start..end];
    let before = &bytes[start.saturating_sub(12)..start];
    if let Some(hex) = token.strip_prefix(b"0x") {
        if hex.len() != 64 || !hex.iter().all(u8::is_ascii_hexdigit) || !is_wallet(&bytes[..start])
        {
            return false;
        }
        out.push(Finding { start: start + 2, end, kind: Kind::Secret, rule: "wallet_key" });
        return true;
    }
    if token.len() < 20 || !matches!(before.last(), Some(b'"')) {
        return false;
    }
    let member = before[..before.len() - 1].trim_ascii_end();
    let member = member.strip_suffix(b":").map_or(&member[..0], <[u8]>::trim_ascii_end);
    const PRIVATE: &[&[u8]] =
        &[b"\"d\"", b"\"k\"", b"\"p\"", b"\"q\"", b"\"dp\"", b"\"dq\"", b"\"qi\""];
    if !PRIVATE.iter().any(|name| member.ends_with(name)) {
        return false;
    }
    let around = &bytes[start.saturating_sub(2 * LINE)..bytes.len().min(end + LINE)];
    if memchr::memmem::find(around, b"\"kty\"").is_none() {
        return false;
    }
    if text.get(start..end).is_some_and(value::is_stand_in) {
        return false;
    }
    out.push(Finding { start, end, kind: Kind::Secret, rule: "json_web_key" });
    true
}

/// Whether what stands before a number of 32 bytes says that it is a private key.
fn is_wallet(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(96)..];
    let near = memchr::memrchr2(b'\n', b';', near).map_or(near, |i| &near[i..]);
    const WORDS: &[&[u8]] = &[
        b"accounts:",
        b"accounts =",
        b"rivateKey",
        b"rivate key",
        b"rivate_key",
        b"RIVATE_KEY",
        b"Wallet(",
        b"_PK",
        b"_pk",
        b"DEPLOYER",
        b"SECRET =",
        b"secret =",
        b"SIGNER",
        b"RELAYER",
    ];
    WORDS.iter().any(|word| memchr::memmem::find(near, word).is_some())
}
