//! Lines of configuration that join a name to its value by a blank: `password 7 0822455D0A16`,
//! `bindpw s3cret`, `set system login user ops authentication encrypted-password "…"`.
//!
//! Prose and code have such places as well. A line of configuration has no words that only
//! sentences have and no signs of code, and little stands behind its value.

use super::judge::Place;
use super::names::Promise;
use super::value::Shape;

/// How far a line is looked at before a name and behind a value.
const REACH: usize = 160;
const MOST_WORDS_BEFORE: usize = 10;
const MOST_WORDS_BEHIND: usize = 8;

/// What may stand between a name and its value and says how that is written.
const FORMS: &[&[u8]] = &[
    b"ascii-text ",
    b"ascii ",
    b"hexadecimal ",
    b"hex ",
    b"encrypted ",
    b"plain-text ",
    b"plaintext ",
    b"plain ",
    b"cleartext ",
    b"clear ",
    b"--plaintext ",
    b"--iscrypted ",
    b"irreversible-cipher ",
    b"cipher ",
    b"simple ",
    b"md5 ",
    b"sha ",
    b"sha256 ",
    b"sha512 ",
    b"hmac-md5 ",
    b"hmac-sha-256 ",
    b"aes128 ",
    b"aes ",
    b"text ",
    b"ENC ",
    b"local ",
    b"0 ",
    b"1 ",
    b"2 ",
    b"3 ",
    b"4 ",
    b"5 ",
    b"6 ",
    b"7 ",
    b"8 ",
    b"8a ",
    b"9 ",
    b"10 ",
];

/// How long the forms are that `rest` begins with.
pub(super) fn forms(rest: &[u8]) -> usize {
    let mut len = 0;
    for _ in 0..3 {
        let here = &rest[len..];
        match FORMS.iter().find(|form| here.first() == form.first() && here.starts_with(form)) {
            Some(form) => len += form.len(),
            None => break,
        }
    }
    len
}

/// Words that only sentences have. Sorted.
#[rustfmt::skip]
const OF_PROSE: &[&str] = &[
    "a", "after", "also", "an", "and", "any", "are", "as", "ask", "be", "because", "been", "before",
    "but", "by", "can", "cannot", "could", "das", "del", "der", "did", "die", "do", "does", "don",
    "el", "es", "for", "from", "has", "have", "he", "how", "i", "if", "in", "into", "ist", "it",
    "its", "la", "le", "may", "must", "my", "need", "needs", "not", "of", "on", "only", "or", "our",
    "per", "please", "see", "she", "should", "since", "than", "that", "the", "their", "then",
    "there", "they", "this", "to", "too", "uses", "using", "via", "was", "we", "were", "what",
    "when", "which", "while", "who", "will", "with", "without", "would", "you", "your",
];

/// Whether the line of a name and its value `start..end` is one of configuration, and the value fits.
pub(super) fn is_directive(
    place: &Place<'_>,
    promise: Promise,
    end: usize,
    shape: &Shape,
    is_quoted: bool,
    has_form: bool,
    is_passphrase: bool,
) -> bool {
    let has_mix = shape.digits > 0 && shape.letters() > 0;
    let random = shape.is_random();
    let is_value = match promise {
        Promise::Password if has_form && is_passphrase => true,
        _ if has_form => has_mix || shape.specials > 0 || random,
        Promise::Password if is_quoted => shape.digits + shape.specials > 0,
        Promise::Password => {
            let enough = shape.digits >= 2 && shape.letters() >= 3 && shape.len >= 8;
            enough || has_mix && shape.specials > 0 || random
        }
        // A key that a device was given is shorter than one that a program made.
        _ => random && has_mix || shape.classes() > 2 && shape.len >= 8 && shape.digits > 1,
    };
    let bytes = place.text.as_bytes();
    // `passwd 1:4.13+dfsg1`, `kpasswd 464/tcp`: versions and ports.
    let is_bare = !has_form && !random && !is_quoted;
    let written = &bytes[end.saturating_sub(shape.len)..end];
    let is_split = is_bare && memchr::memchr2(b':', b'/', written).is_some();
    if !is_value || is_split {
        return false;
    }
    let (before, behind) = (line_before(&bytes[..place.start]), line_behind(&bytes[end..]));
    let opens_line = words(before).is_some_and(|count| count <= MOST_WORDS_BEFORE);
    // A plain name in the middle of a line is a word among others.
    let is_own = has_form || is_quoted || random || before.trim_ascii().len() < 96;
    opens_line && is_own && words(behind).is_some_and(|count| count <= MOST_WORDS_BEHIND)
}

fn line_before(before: &[u8]) -> &[u8] {
    let stretch = &before[before.len().saturating_sub(REACH)..];
    let start = memchr::memrchr(b'\n', stretch).map_or(0, |i| i + 1);
    let line = &stretch[start..];
    // The end of a line inside a string.
    memchr::memmem::rfind(line, b"\\n").map_or(line, |i| &line[i + 2..])
}

fn line_behind(behind: &[u8]) -> &[u8] {
    let stretch = &behind[..behind.len().min(REACH)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    &line[..memchr::memmem::find(line, b"\\n").unwrap_or(line.len())]
}

/// How many words `stretch` has, if they are words of configuration.
pub(super) fn words(stretch: &[u8]) -> Option<usize> {
    let mut count = 0;
    for word in stretch.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        let is_allowed = |b: &u8| b.is_ascii_alphanumeric() || b"_-./:@*%=\"'\\;,#".contains(b);
        if !word.iter().all(is_allowed) {
            return None;
        }
        let mut folded = [0; 8];
        if let Some(folded) = folded.get_mut(..word.len()) {
            folded.copy_from_slice(word);
            folded.make_ascii_lowercase();
            let folded = std::str::from_utf8(folded).ok()?;
            if OF_PROSE.binary_search(&folded).is_ok() {
                return None;
            }
        }
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(OF_PROSE.is_sorted());
    }

    #[test]
    fn forms_are_skipped_and_nothing_else() {
        assert_eq!(forms(b"7 0822455D0A16"), 2);
        assert_eq!(forms(b"1 md5 7 0822455D0A16"), 8);
        assert_eq!(forms(b"ascii-text \"x\""), 11);
        assert_eq!(forms(b"72"), 0);
    }
}
