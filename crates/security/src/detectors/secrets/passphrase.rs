//! Passwords that are made of words only: `badger-falcon-phoenix-copper`.
//!
//! Names of things in code are made of words as well (`reset-form-submit-button`), so what code and
//! messages speak of is none, and there must be four words at least.

use super::value;

const FEWEST_WORDS: usize = 4;
const MOST_WORDS: usize = 10;

/// Words that stand in names of things and in messages, and hardly ever in a drawn passphrase.
/// Sorted.
#[rustfmt::skip]
const OF_CODE: &[&str] = &[
    "account", "action", "active", "alert", "and", "are", "area", "at", "attribute", "axis",
    "background", "bar", "be", "box", "btn", "builder", "but", "button", "by", "can", "card",
    "cell", "change", "check", "choose", "class", "cluster", "color", "column", "com", "component",
    "confirm", "confirmation", "console", "constraint", "container", "content", "context",
    "control", "controller", "count", "create", "current", "custom", "delete", "dialog", "disable",
    "disabled", "display", "doc", "docs", "edit", "element", "email", "enable", "enabled", "enter",
    "error", "event", "factory", "feature", "fetch", "flag", "font", "footer", "forgot", "form",
    "format", "forms", "full", "get", "group", "handler", "has", "have", "help", "host", "icon",
    "image", "index", "info", "instance", "item", "kind", "large", "layout", "left", "length",
    "level", "like", "link", "list", "load", "log", "manager", "map", "mark", "max", "medium",
    "menu", "message", "method", "min", "mismatch", "modal", "mode", "model", "module", "must",
    "nav", "not", "object", "on", "option", "options", "package", "page", "panel", "param",
    "params", "placeholder", "policy", "primary", "prompt", "provider", "read", "record", "ref",
    "refresh", "reset", "resource", "response", "result", "right", "role", "route", "row", "rule",
    "schema", "section", "select", "server", "set", "settings", "setup", "show", "size", "small",
    "state", "status", "step", "store", "style", "submit", "success", "support", "system", "tab",
    "table", "tag", "template", "theme", "time", "to", "toggle", "tool", "tooltip", "top", "update",
    "validate", "validation", "validator", "variable", "verify", "version", "view", "was", "we",
    "widget", "will", "window", "wrapper", "write", "you",
];

/// Whether `written` is at least four words with the same sign between them. Spaces count as one
/// where `may_have_spaces`.
pub(super) fn is_passphrase(written: &str, may_have_spaces: bool) -> bool {
    let Some(sign) = written.bytes().find(|b| !b.is_ascii_alphabetic()) else { return false };
    if !(matches!(sign, b'-' | b'.' | b'_' | b'+' | b',') || sign == b' ' && may_have_spaces) {
        return false;
    }
    // Words of code are joined by these; a person who does so sets capitals or a number as well.
    let is_plain = written.bytes().all(|b| b.is_ascii_lowercase() || !b.is_ascii_alphanumeric());
    if matches!(sign, b'_' | b'.' | b',') && is_plain {
        return false;
    }
    let parts = || written.split(char::from(sign));
    if !(FEWEST_WORDS..=MOST_WORDS).contains(&parts().take(MOST_WORDS + 1).count()) {
        return false;
    }
    let (mut words, mut stand_ins) = (0, 0);
    for part in parts() {
        if part.bytes().all(|b| b.is_ascii_digit()) && (1..=6).contains(&part.len()) {
            continue;
        }
        if !is_word(part) {
            return false;
        }
        words += 1;
        stand_ins += usize::from(value::is_stand_in_word(&part.to_ascii_lowercase()));
    }
    stand_ins < 2 && words + 1 >= FEWEST_WORDS
}

/// Whether `written` is two or three words and a number, with signs between: `copper-otter-41`.
pub(super) fn is_numbered(written: &str) -> bool {
    let Some(at) = written.rfind(['-', '.', '_']) else { return false };
    let (words, number) = (&written[..at], &written[at + 1..]);
    let is_number = (1..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    let parts = || words.split(['-', '.', '_']);
    is_number
        && (2..=3).contains(&parts().take(4).count())
        && parts().all(|part| {
            part.len() >= 4 && is_word(part) && !value::is_stand_in_word(&part.to_ascii_lowercase())
        })
}

fn is_word(part: &str) -> bool {
    let Some((first, rest)) = part.as_bytes().split_first() else { return false };
    (3..=12).contains(&part.len())
        && first.is_ascii_alphabetic()
        && rest.iter().all(u8::is_ascii_lowercase)
        && {
            let folded = part.to_ascii_lowercase();
            OF_CODE.binary_search(&folded.as_str()).is_err()
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(OF_CODE.is_sorted());
    }

    #[test]
    fn tells_passphrases_from_names_of_things() {
        for passphrase in
            ["copper-otter-lamp-violin", "Lamp.Otter.Copper.Violin", "oak_elm_ash_77_fir"]
        {
            assert!(is_passphrase(passphrase, false), "{passphrase}");
        }
        for name in
            ["reset-form-submit-button", "copper-otter-lamp", "copper otter lamp violin", "a-b-c-d"]
        {
            assert!(!is_passphrase(name, false), "{name}");
        }
        for (written, expected) in [
            ("copper-otter-41", true),
            ("lantern.coffee.5", true),
            ("copper-otter", false),
            ("user-account-2", false),
            ("web-01", false),
            ("2024-05-12", false),
        ] {
            assert_eq!(is_numbered(written), expected, "{written}");
        }
        assert!(is_passphrase("copper otter lamp violin", true));
        assert!(!is_passphrase("enter the secret for this key", true));
    }
}
