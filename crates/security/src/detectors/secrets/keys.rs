//! Whose key a key is: maps, tables, caches and keyboards have keys as well.

use super::grammar::{Join, Value};
use super::names::Words;
use super::owners;
use super::value::{self, Shape};
use super::vendors;

/// The shortest and the longest key that is one without further evidence.
const SHORTEST: usize = 14;
const LONGEST: usize = 160;

/// Whether what follows a name that ends in "key" opens something: it was made by chance, and a vendor's
/// name is near (`[acme]` and `key = …`), or prose says whose it is ("the acme key is …"), or it is a
/// constant (`ACME_KEY=…`). `outer` is the word before the name.
pub(super) fn is_somebodys(
    text: &str,
    start: usize,
    words: &Words<'_>,
    outer: Option<&str>,
    value: &Value,
) -> bool {
    // Keys that everybody may know are told by their digests, in capitals.
    const PUBLISHED: [&str; 8] =
        ["gpg", "pgp", "apt", "rpm", "yum", "release", "fingerprint", "keyserver"];
    let written = text.get(value.start..value.end).unwrap_or_default();
    if value::is_uuid(written) {
        return vendors::is_near(text, start);
    }
    // What most keys in code and in a flood of them fail at comes first.
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"+/_-".contains(&b);
    let is_key = SHORTEST <= written.len()
        && written.len() <= LONGEST
        && written.trim_end_matches('=').bytes().all(is_plain);
    if !is_key || text[..start].ends_with("::") {
        return false;
    }
    let shape = Shape::of(written);
    if shape.letters() < 4 || shape.joints * 8 > shape.len || !shape.is_random() {
        return false;
    }
    let is_digest = shape.is_hex && shape.lower == 0;
    let is_constant = || {
        let is_published =
            |word: &&str| PUBLISHED.iter().any(|known| known.eq_ignore_ascii_case(word));
        let is_capital = |word: &&str| !word.bytes().any(|b| b.is_ascii_lowercase());
        let words = words.backwards();
        words.iter().filter(|word| !word.as_bytes()[0].is_ascii_digit()).count() > 1
            && words.iter().all(is_capital)
            && !words.iter().any(is_published)
    };
    let is_said = || {
        let is_owner = |word: &str| word.len() > 3 && !owners::is_said_of_any_key(word);
        words.backwards().len() == 1
            && outer.is_some_and(is_owner)
            && (value.join == Join::Prose
                || value.join == Join::Colon
                    && !shape.is_hex
                    && shape.joints == 0
                    && shape.len >= 20)
    };
    !is_digest && (is_constant() || is_said() || is_set_alone(text, start, words, value))
        || vendors::is_near(text, start)
}

/// `owm_key: …`, `maps_key=…`: a key of two words that is set on a line of its own.
fn is_set_alone(text: &str, start: usize, words: &Words<'_>, value: &Value) -> bool {
    #[rustfmt::skip]
    const OF_MAPS: [&str; 24] = [
        "object", "item", "content", "commit", "build", "artifact", "blob", "file", "image",
        "asset", "dedupe", "event", "message", "record", "trace", "etag", "span", "task", "job",
        "lock", "state", "store", "restore", "gpg",
    ];
    let [_, owner] = words.backwards() else { return false };
    let bytes = text.as_bytes();
    let line = &bytes[start.saturating_sub(24)..start];
    let indent = memchr::memrchr(b'\n', line).map_or(line, |i| &line[i + 1..]);
    matches!(value.join, Join::Colon | Join::Tight)
        && indent.len() < 24
        && indent.iter().all(|b| *b == b' ')
        && matches!(bytes.get(value.end), None | Some(b'\n' | b'\r' | b'"' | b'\''))
        && value.end - value.start >= 32
        && !owners::is_said_of_any_key(owner)
        && !OF_MAPS.iter().any(|word| word.eq_ignore_ascii_case(owner))
}

/// Whether a lone `key` stands below a name that says what it opens: `api:` and `key: …` in the next
/// line, `[encryption]` and `key = …`, `"crypt": {"key": "…"}`, `--from-literal=key=…`.
pub(super) fn is_in_section(text: &str, start: usize, words: &Words<'_>, value: &Value) -> bool {
    let written = text.get(value.start..value.end).unwrap_or_default();
    if words.backwards().len() != 1 || written.len() < 20 || !Shape::of(written).is_random() {
        return false;
    }
    let before = &text[text.floor_char_boundary(start.saturating_sub(64))..start];
    if before.ends_with("from-literal=") {
        return true;
    }
    let before = before.trim_end_matches(['"', '\'']).trim_end();
    let opened =
        before.trim_end_matches([' ', '\n', '\r', '\t', '{', '[', '(', ']', ':', '=', '>']);
    if opened.len() == before.len() {
        return false;
    }
    let opened = opened.trim_end_matches(['"', '\'']);
    let section = opened.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    owners::opens(section.take(1).next().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::super::grammar::{self, Bare};
    use super::super::names::Words;
    use super::is_somebodys;

    fn check(text: &str) -> bool {
        let start = text.to_ascii_lowercase().find("key").unwrap();
        let end = start + 3;
        let before = text[..start].bytes().rev();
        let start = start - before.take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let outer = text[..start].trim_end_matches(' ').rsplit([' ', '\n']).next();
        let value = grammar::value_of_name(text.as_bytes(), end, &mut Bare::default()).unwrap();
        is_somebodys(text, start, &Words::of(&text[start..end]), outer, &value)
    }

    #[test]
    fn keys_of_somebody_are_told_from_keys_of_maps() {
        for text in [
            "# ipstack key: 4f1c0b7ad92e6835c1de27ba90f3468e",
            "[scrapfly]\nkey = 4f1c0b7ad92e6835c1de27ba90f3468e",
            "snyk:\n  key: 1f9d3c5e-77a0-4b1c-9e42-0d5b6a7c8e9f",
            "the nightjar key is 4f1c0b7ad92e6835c1de27ba90f3468e",
            "# nightjar key: tR7kQ2vLm9XcB4nZ8wYp",
            "NIGHTJAR_KEY=4f1c0b7ad92e6835c1de27ba90f3468e",
        ] {
            assert!(check(text), "{text}");
        }
        for text in [
            "key: 4f1c0b7ad92e6835c1de27ba90f3468e",
            "the cache key is 4f1c0b7ad92e6835c1de27ba90f3468e",
            "restored with key: tR7kQ2vLm9XcB4nZ8wYp",
            "GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568",
            "NIGHTJAR_KEY=KEY1=VALUE1,KEY2=VALUE2",
            "NIGHTJAR_KEY=some-service-name",
            "\"Slack::Network::Key\": \"733a3e7b4bdf0053\"",
        ] {
            assert!(!check(text), "{text}");
        }
    }
}
