//! Words around the one that counts in a name: what a password or a key belongs to.

use super::names::{DENIES, DENIES_ALL, OPENS, PASSWORD, Promise, SECRET, Words, role};

/// `ROOT_PW_NAS`: a constant whose last word says what the password opens.
pub(super) fn promise_of_constant(name: &str, words: &Words<'_>) -> Option<Promise> {
    #[rustfmt::skip]
    const OTHERS: [&str; 38] = [
        "file", "path", "hash", "hasher", "encryption", "length", "len", "policy", "url", "reset",
        "expiry", "expire", "expires", "ttl", "field", "algorithm", "mode", "type", "regex", "age",
        "days", "id", "name", "hint", "check", "strength", "cost", "rounds", "prompt", "label",
        "param", "source", "command", "cmd", "ref", "arn", "manager", "location",
    ];
    let is_constant = !name.bytes().any(|b| b.is_ascii_lowercase());
    let [last, before, ..] = words.backwards() else { return None };
    let is_other = || OTHERS.iter().any(|other| other.eq_ignore_ascii_case(last));
    let is_password = is_constant && role(before) & PASSWORD != 0 && role(last) == 0;
    (is_password && !is_other()).then_some(Promise::Password)
}

/// Whether a key below a section of this name opens something.
pub(super) fn opens(section: &str) -> bool {
    let words = Words::of(section);
    let last = words.backwards().first().map_or(0, |last| role(last));
    last & (OPENS | SECRET) != 0 && last & (DENIES | DENIES_ALL) == 0
}

/// Whether the last word of a member's name says that its value is no secret: `client_id`, `type`.
pub(super) fn is_harmless(name: &str) -> bool {
    const HARMLESS: [&str; 18] = [
        "id", "ids", "type", "method", "url", "uri", "host", "name", "scope", "scopes", "realm",
        "issuer", "audience", "region", "endpoint", "version", "hash", "kid",
    ];
    let words = Words::of(name);
    let last = words.backwards().first().copied().unwrap_or("");
    HARMLESS.iter().any(|word| word.eq_ignore_ascii_case(last))
}

/// `remotepass`, `encPass`: words before "pass" that are no words of their own with it.
pub(super) fn ends_in_pass(word: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "com", "by", "tres", "over", "under", "sur", "encom", "last", "render", "compute", "sub",
        "multi", "single", "keep",
    ];
    let Some(head) = word.len().checked_sub(4).filter(|head| (2..=10).contains(head)) else {
        return false;
    };
    let bytes = word.as_bytes();
    bytes[head..].eq_ignore_ascii_case(b"pass")
        && bytes.iter().all(u8::is_ascii_alphabetic)
        && !OTHERS.iter().any(|other| bytes[..head].eq_ignore_ascii_case(other.as_bytes()))
}

/// Whether a word before "key" does not say whose it is.
pub(super) fn is_said_of_any_key(word: &str) -> bool {
    const ANY: [&str; 14] = [
        "with",
        "from",
        "this",
        "that",
        "restored",
        "matching",
        "host",
        "public",
        "given",
        "following",
        "found",
        "saved",
        "same",
        "second",
    ];
    role(word) & (DENIES | DENIES_ALL) != 0 || ANY.iter().any(|any| any.eq_ignore_ascii_case(word))
}

/// `signkey`, `storagekey`: what opens something and "key" written together.
pub(super) fn is_opening_key(word: &str) -> bool {
    let Some(head) = word.len().checked_sub(3).filter(|head| *head > 2) else { return false };
    word.as_bytes()[head..].eq_ignore_ascii_case(b"key")
        && word.get(..head).is_some_and(|head| role(head) & OPENS != 0)
}
