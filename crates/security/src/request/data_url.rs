//! `data:` URLs in a text, and which of them can be read.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::encoding::{self, Coding, base64_run};

/// A `data:` URL's payload.
pub(super) struct DataUrl {
    /// Where it stands.
    pub(super) payload: Range<usize>,
    /// What it says, and how that is encoded. `None` where it cannot be read: an image.
    pub(super) text: Option<(String, Coding)>,
}

/// `data:,` and a few characters: nothing shorter is worth a look.
const SHORTEST: usize = 12;
/// The longest `text/plain;charset=utf-8;name=…` that is looked at.
const LONGEST_TYPE: usize = 160;

static SCHEME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("data:"));

/// Whether a `data:` URL may be in `text`.
pub(super) fn may_hold(text: &[u8]) -> bool {
    text.len() >= SHORTEST && SCHEME.find(text).is_some()
}

/// The first `data:` URL in `text` at or after `from`.
pub(super) fn find(text: &str, from: usize) -> Option<DataUrl> {
    // Most strings are names and short words.
    if text.len() < from + SHORTEST {
        return None;
    }
    let mut at = from;
    loop {
        let start = at + SCHEME.find(text.as_bytes().get(at..)?)?;
        at = start + SCHEME.needle().len();
        if let Some(url) = read(text, at, start == 0) {
            return Some(url);
        }
    }
}

/// The URL whose media type begins at `at`. Without base64 there is no telling where a URL in the
/// middle of a text ends: such a one has to be `all` of the text.
fn read(text: &str, at: usize, all: bool) -> Option<DataUrl> {
    let head = &text.as_bytes()[at..text.len().min(at + LONGEST_TYPE)];
    let is_of_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.+-_;=\" ".contains(byte);
    let comma = head.iter().position(|byte| !is_of_type(byte)).filter(|end| head[*end] == b',')?;
    let media_type = text[at..at + comma].to_ascii_lowercase();
    let start = at + comma + 1;
    if let Some(media_type) = media_type.strip_suffix(";base64") {
        let payload = start..start + base64_run(&text.as_bytes()[start..]);
        let encoded = &text.as_bytes()[payload.clone()];
        let text = if is_text(media_type) { decoded_text(encoded) } else { None };
        return Some(DataUrl { payload, text: text.map(|text| (text, Coding::Base64)) });
    }
    if !all || !is_text(&media_type) {
        return None;
    }
    let payload = start..text.len();
    let decoded = encoding::percent(&text[payload.clone()]);
    Some(DataUrl { payload, text: Some((decoded, Coding::Percent)) })
}

/// Whether files of a type are text, as far as its name tells.
fn is_text(media_type: &str) -> bool {
    let mut parts = media_type.split(';');
    let essence = parts.next().unwrap_or("").trim();
    let is_utf8 = parts.all(|parameter| {
        let charset = parameter.trim().strip_prefix("charset=");
        charset.is_none_or(|name| matches!(name.trim_matches('"'), "utf-8" | "utf8" | "us-ascii"))
    });
    const WORDS: [&str; 14] = [
        "json",
        "xml",
        "yaml",
        "toml",
        "javascript",
        "typescript",
        "sql",
        "x-sh",
        "x-shellscript",
        "graphql",
        "csv",
        "x-python",
        "x-pem-file",
        "octet-stream",
    ];
    let is_text = match essence.split_once('/') {
        None => essence.is_empty(),
        Some(("text", _)) => true,
        Some((_, subtype)) => WORDS.iter().any(|word| {
            let rest = subtype.strip_suffix(word);
            rest.is_some_and(|before| before.is_empty() || before.ends_with(['+', '-', '.']))
        }),
    };
    is_text && is_utf8
}

/// The text behind base64, if it is one.
pub(super) fn decoded_text(encoded: &[u8]) -> Option<String> {
    // Its beginning tells an image without decoding all of it.
    let head = encoding::base64(&encoded[..encoded.len().min(64) / 4 * 4])?;
    if head.iter().any(|byte| is_binary(*byte)) {
        return None;
    }
    let text = String::from_utf8(encoding::base64(encoded)?).ok()?;
    (!text.is_empty() && !text.bytes().any(is_binary)).then_some(text)
}

/// The text that base64 begins with, however it goes on.
pub(super) fn beginning_of_text(encoded: &[u8]) -> Option<String> {
    let bytes = encoding::base64(&encoded[..encoded.len() / 4 * 4])?;
    let end = bytes.iter().position(|byte| is_binary(*byte)).unwrap_or(bytes.len());
    let text = bytes[..end].utf8_chunks().next()?.valid();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether a byte is in no text.
pub(super) fn is_binary(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x1b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_tell_what_can_be_read() {
        let text = |url: &str| find(url, 0).and_then(|url| Some(url.text?.0));
        for (url, expected) in [
            ("data:text/plain;base64,aGk=", Some("hi")),
            ("x data:application/json;base64,aGk= y", Some("hi")),
            ("data:application/x-yaml;charset=utf-8;base64,aGk", Some("hi")),
            ("data:image/svg+xml;base64,aGk=", Some("hi")),
            ("data:;base64,aGk=", Some("hi")),
            ("data:,a%20b%20c", Some("a b c")),
            ("data:text/plain,a%20b", Some("a b")),
            ("x data:text/plain,a%20b", None),
            ("data:image/png;base64,aGk=", None),
            ("data:text/plain;charset=utf-16;base64,aGk=", None),
            ("data:text/plain;base64,AAAA", None),
            ("{ data: {a: 1}, b }", None),
            ("data:", None),
        ] {
            assert_eq!(text(url).as_deref(), expected, "{url}");
        }
        let image = find("see data:image/png;base64,aGk=)", 0).unwrap();
        assert_eq!(image.payload, 26..30);
    }
}
