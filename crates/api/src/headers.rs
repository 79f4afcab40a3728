//! Reads the headers of a request.

use http::{HeaderMap, HeaderName};

/// A label that is longer than this, in bytes, is not kept: a secret in it that is cut in two would
/// not be recognised.
const LONGEST_LABEL: usize = 4 << 10;

/// A header's text, if it has one of ASCII.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The text of a header that may be sent several times with the same value only.
pub(crate) fn sole<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Contradictory> {
    let said = |value: &'a http::HeaderValue| value.as_bytes().trim_ascii();
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    // Clients that always send a header leave it empty where they have nothing to say.
    let mut counts = values.filter(|value| !said(value).is_empty());
    let sole = if said(first).is_empty() { counts.next().unwrap_or(first) } else { first };
    if counts.any(|other| said(other) != said(sole)) {
        return Err(Contradictory);
    }
    Ok(sole.to_str().ok())
}

/// A header was sent several times, with different values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradictory;

/// A header that people read: UTF-8, or Latin-1 where it is none, without control characters and
/// without those that change the direction of writing or are not seen.
pub(crate) fn label(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    let bytes = value.as_bytes();
    if bytes.len() > LONGEST_LABEL {
        return None;
    }
    // Nearly all are of ASCII, in which there is nothing to take out but tabs.
    if let Ok(text) = value.to_str()
        && !text.contains('\t')
    {
        return Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
    }
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    text.retain(|c| !c.is_control() && !is_unseen(c));
    (!text.trim().is_empty()).then_some(text)
}

/// Whether a character changes the direction of writing, ends a line or has no width. The joiners
/// stay, as emoji and several scripts are written with them.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::AUTHORIZATION;

    use super::*;

    const TITLE: HeaderName = HeaderName::from_static("x-title");

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(TITLE, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn labels_are_read_in_either_encoding() {
        for (value, expected) in [
            (&b"A test"[..], Some("A test")),
            ("Café ☕ 👩‍💻".as_bytes(), Some("Café ☕ 👩‍💻")),
            (b"Caf\xe9", Some("Café")),
            (b"\xff\xfe", Some("ÿþ")),
            (b"", None),
            (b"  \t ", None),
            ("\u{200b}\u{202e}".as_bytes(), None),
            (
                "a\u{85}b\tc\u{202e}d\u{2067}e\u{61c}f\u{2028}g\u{feff}h".as_bytes(),
                Some("abcdefgh"),
            ),
            (&[b'x'; LONGEST_LABEL + 1], None),
        ] {
            assert_eq!(label(&headers(&[value]), &TITLE).as_deref(), expected, "{value:?}");
        }
        assert_eq!(label(&headers(&[]), &TITLE), None);
    }

    #[test]
    fn a_header_that_contradicts_itself_is_told() {
        for (values, expected) in [
            (&[][..], Ok(None)),
            (&[&b"a"[..]], Ok(Some("a"))),
            (&[b""], Ok(Some(""))),
            (&[b"a", b"a"], Ok(Some("a"))),
            (&[b"a", b" a "], Ok(Some("a"))),
            (&[b"", b"a", b""], Ok(Some("a"))),
            (&[b"a", b""], Ok(Some("a"))),
            (&[b"a", b"b"], Err(Contradictory)),
            (&[b"", b"a", b"b"], Err(Contradictory)),
            (&[b"a", b"\xff"], Err(Contradictory)),
            (&[b"\xff"], Ok(None)),
        ] {
            assert_eq!(sole(&headers(values), &TITLE), expected, "{values:?}");
        }
        assert_eq!(sole(&HeaderMap::new(), &AUTHORIZATION), Ok(None));
    }
}
