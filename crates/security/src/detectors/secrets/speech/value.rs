//! What a word of prose must look like to be taken for a secret.

use super::super::hashes;
use super::super::passphrase;
use super::super::value::{self, Shape};

/// How much a word looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A word, a number, a name, an address.
    Word,
    /// It has digits and letters as passwords have; names with numbers have them, too.
    Weak,
    /// Nobody writes so in prose: letters, digits and signs.
    Strong,
}

/// The longest password that prose tells.
const LONGEST: usize = 96;

/// How much `word` looks like a password.
pub(super) fn password(word: &str) -> Strength {
    // What nearly all words fail at comes first.
    if !(5..=LONGEST).contains(&word.len()) || !word.bytes().any(|b| b.is_ascii_digit()) {
        return if passphrase::is_passphrase(word, false) {
            Strength::Weak
        } else {
            Strength::Word
        };
    }
    let shape = Shape::of(word);
    if shape.spaces > 0 || shape.letters() < 2 {
        return Strength::Word;
    }
    if shape.beyond_ascii > 0 {
        return beyond_ascii(word, &shape);
    }
    if is_elsewhere(word) || value::is_reference(word) || value::is_stand_in(word) {
        return Strength::Word;
    }
    if is_named(word) {
        return Strength::Word;
    }
    let is_open = word.bytes().any(|b| b"(){}[]<>=|\\/;,\"'`:".contains(&b));
    if is_open {
        let is_mixed = shape.classes() == 4 && shape.alternations > 1 && shape.len >= 10;
        return if is_mixed && shape.wordiness < 5.5 { Strength::Weak } else { Strength::Word };
    }
    let signs = word.bytes().filter(|b| b"!@#$%^&*?~+".contains(b)).count();
    let begins_well = !word.starts_with(['$', '@', '#', '%', '&', '+', '-', '~', '*', '.']);
    if signs > 0 {
        let long = shape.len >= 8 && shape.letters() >= 3;
        return match (long, begins_well) {
            (true, true) => Strength::Strong,
            (true, false) if shape.classes() > 3 => Strength::Weak,
            (false, true) if shape.letters() >= 2 && shape.len >= 6 => Strength::Weak,
            _ => Strength::Word,
        };
    }
    if is_technical(word) {
        return Strength::Word;
    }
    if shape.is_random() && !shape.is_hex {
        return Strength::Weak;
    }
    // Signs at its ends do not part it.
    let parted = word.trim_matches(['_', '-']).contains(['_', '-', '.']);
    let is_made_up = if parted {
        passphrase::is_numbered(word)
            || shape.digits >= 2 && shape.letters() >= 6 && shape.upper > 0 && shape.lower > 0
    } else {
        shape.len >= 6 && shape.letters() >= 3 && (shape.digits >= 2 || shape.alternations > 1)
    };
    if is_made_up && begins_well { Strength::Weak } else { Strength::Word }
}

/// Whether `word` is what opens a wireless network, as its box has it printed: digits only, perhaps in
/// groups, or letters and digits.
pub(super) fn is_network_key(word: &str) -> bool {
    let shape = Shape::of(word);
    let is_plain = shape.specials + shape.spaces + shape.beyond_ascii == 0;
    let is_number = shape.letters() == 0 && shape.digits >= if shape.joints > 0 { 12 } else { 8 };
    let is_mixed = shape.digits > 0 && shape.letters() > 0 && !is_technical(word);
    is_plain
        && (8..=63).contains(&word.len())
        && (is_number || is_mixed)
        && !is_elsewhere(word)
        && !value::is_stand_in(word)
}

/// How much a word with letters beyond ASCII looks like a password. Signs of punctuation are none, and
/// languages that do not set their words apart have no such words.
fn beyond_ascii(word: &str, shape: &Shape) -> Strength {
    let is_letter = |c: char| c.is_ascii() || c.is_alphabetic() && c < '\u{0530}';
    let is_sign = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"!@#$%&*?_.+-".contains(&b);
    let is_made_up = shape.digits >= 2 || shape.digits > 0 && shape.specials > 0;
    let is_made_up = is_made_up && word.chars().all(is_letter) && word.bytes().all(is_sign);
    // Ordinals and measures begin with their digits, and end in a few letters.
    let begins_well = !word.starts_with(|c: char| c.is_ascii_digit()) || shape.alternations > 1;
    if is_made_up && begins_well { Strength::Weak } else { Strength::Word }
}

/// Whether `word` is a key made by chance.
pub(super) fn is_key(word: &str) -> bool {
    if !(12..=512).contains(&word.len()) {
        return false;
    }
    let shape = Shape::of(word);
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"_-.+/=~:".contains(&b);
    let is_random = shape.len >= 16 && shape.is_random() && shape.letters() > 3;
    // `sha256:…` and the like are digests, and words with dots are names of things.
    (is_random || is_base32(word) || is_licence(word))
        && word.bytes().all(is_token)
        && !(word.contains('/') && word.contains('.'))
        && !is_elsewhere(word)
        && !value::is_marked(word)
        && !(shape.len < 48 && value::is_stand_in(word))
}

/// What authenticators take for a seed: capitals and the digits 2 to 7, perhaps in groups.
fn is_base32(word: &str) -> bool {
    let shape = Shape::of(word);
    matches!(word.len(), 16 | 20 | 24 | 26 | 32 | 52)
        && shape.distinct >= 8
        && (shape.digits > 0 || shape.wordiness < 5.2)
        && word.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'))
}

/// `XXXXX-XXXXX-XXXXX`: three groups or more of one length.
fn is_licence(word: &str) -> bool {
    let parts = || word.split('-');
    let first = parts().next().map_or(0, str::len);
    let (groups, digits) = (parts().count(), word.bytes().filter(u8::is_ascii_digit).count());
    (3..=8).contains(&groups)
        && (4..=8).contains(&first)
        && digits > 1
        && digits < word.len() * 3 / 4
        && parts().all(|part| {
            part.len() == first
                && part.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        })
}

/// What is typed behind the prompt of a machine of the network.
const COMMANDS: &[&str] = &[
    "sh",
    "show",
    "conf",
    "config",
    "configure",
    "copy",
    "write",
    "wr",
    "exit",
    "end",
    "ping",
    "reload",
    "enable",
    "en",
    "debug",
    "clear",
    "terminal",
    "telnet",
    "ssh",
];

/// Versions, accounts on a machine, tickets, names that a sign joins or a question ends: `1.2.3+sha5`,
/// `deploy@web01`, `authlib#1234`, `Node18+Chrome120`, `Windows2000?`.
fn is_named(word: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
    };
    let bytes = word.as_bytes();
    let is_version = bytes[0].is_ascii_digit()
        && matches!(bytes.iter().find(|b| !b.is_ascii_digit()), Some(b'.' | b'-'))
        && bytes.contains(&b'.');
    let ended = word.trim_end_matches(['!', '?']);
    let lower = |part: &str| part.bytes().all(|b| !b.is_ascii_uppercase());
    is_version
        || word.split_once('@').is_some_and(|(user, host)| {
            is_plain(user)
                && is_plain(host)
                && lower(user)
                && lower(host)
                && !has_digit_for_letter(user)
                && !has_digit_for_letter(host)
        })
        || word.split_once('#').is_some_and(|(name, number)| {
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            is_plain(name) && (is_number || COMMANDS.contains(&number))
        })
        || word.contains('+')
            && word
                .split('+')
                .all(|part| is_plain(part) && part.bytes().any(|b| b.is_ascii_digit()))
        || word.ends_with('?') && is_plain(ended)
}

/// Whether a digit stands for a letter within a word: `cr1cket`. Names of machines have theirs at an end,
/// or between single letters: `k8s`.
fn has_digit_for_letter(word: &str) -> bool {
    word.as_bytes().windows(5).any(|five| {
        five[2].is_ascii_digit()
            && [five[0], five[1], five[3], five[4]].iter().all(u8::is_ascii_lowercase)
    })
}

/// Addresses, paths and files.
fn is_elsewhere(word: &str) -> bool {
    let is_address = word.split_once('@').is_some_and(|(_, host)| host.contains('.'));
    const HEADS: &[&str] = &[
        "0x", "SHA256:", "MD5:", "sha256", "sha1", "sha512", "md5", "http", "www.", "/", "./",
        "../", "~/",
    ];
    const ENDS: &[&str] = &[
        ".md", ".txt", ".json", ".yaml", ".yml", ".pem", ".key", ".pdf", ".com", ".org", ".net",
        ".io", ".local", ".log",
    ];
    // `mail.corp.example?`: a name of a host, and the end of a question.
    let host = word.trim_end_matches(['?', '!']);
    let is_host = host.rsplit_once('.').is_some_and(|(before, last)| {
        last.len() >= 2
            && last.bytes().all(|b| b.is_ascii_lowercase())
            && before
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b))
    });
    let file = || ENDS.iter().any(|end| word.ends_with(end));
    is_address
        || is_host
        || word.contains("://")
        || word.contains("%20")
        || word.contains("%2F")
        || HEADS.iter().any(|head| word.starts_with(head))
        || file()
        || hashes::names_algorithm(word)
        || value::mentions_secrets(word) && Shape::of(word).specials == 0
}

/// Names that are known for a number behind. Sorted.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "aes", "android", "api", "app", "argon", "arm", "base", "bcrypt", "blake", "build",
    "case", "centos", "chapter", "client", "cluster", "config", "covid", "curve", "cve", "db",
    "debian", "des", "dev", "drop", "ec", "ed", "env", "error", "field", "fig", "file",
    "galaxy", "hmac", "host", "html", "http", "ios", "iphone", "ipv", "iso", "issue", "java",
    "jira", "kdbx", "level", "line", "log", "mac", "machine", "md", "mysql", "node", "ntlm",
    "ntlmv", "oauth", "office", "option", "page", "part", "pbkdf", "phase", "php", "pixel",
    "postgres", "postgresql", "prod", "python", "rev", "rfc", "room", "rsa", "saml", "scram",
    "section", "server", "sha", "slot", "sql", "srv", "stage", "staging", "step", "table",
    "tenant", "test", "ticket", "tls", "ubuntu", "user", "utf", "version", "vm", "web", "win",
    "windows", "wpa", "xp",
];

/// Names of techniques, products, hosts and versions: letters that are known for a number behind.
fn is_technical(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = &word.as_bytes()[letters..];
    let is_rest = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'/');
    let is_ordinal = || {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let unit = word[digits..].to_ascii_lowercase();
        let units = [
            "st",
            "nd",
            "rd",
            "th",
            "min",
            "mins",
            "minutes",
            "days",
            "hours",
            "px",
            "ms",
            "bit",
            "bits",
            "am",
            "pm",
            "char",
            "chars",
            "mb",
            "gb",
            "kb",
            "year",
            "years",
            "character",
            "characters",
            "times",
            "x",
        ];
        let unit = unit.trim_start_matches('-');
        digits > 0 && units.contains(&unit)
    };
    // `2024-05-12T10:00Z`, `PROJ-1234`, `v2.3.1`
    let is_ticket = || {
        letters > 0
            && rest.first() == Some(&b'-')
            && word[..letters].bytes().all(|b| b.is_ascii_uppercase())
            && rest[1..].iter().all(u8::is_ascii_digit)
    };
    let known = || KNOWN.binary_search(&word[..letters].to_ascii_lowercase().as_str()).is_ok();
    rest.iter().all(is_rest) && (letters < 2 || known())
        || is_ordinal()
        || is_ticket()
        || word.as_bytes()[0].is_ascii_digit() && word.bytes().filter(|b| *b == b'-').count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_passwords_from_words() {
        for (word, strength) in [
            ("Kestrel!4471", Strength::Strong),
            ("gr33nHouse#", Strength::Strong),
            ("lavender83", Strength::Weak),
            ("L4v3nd3r", Strength::Weak),
            ("Lake.Heron.212", Strength::Weak),
            ("maple-otter-violin-chalk", Strength::Weak),
            ("password", Strength::Word),
            ("sha256", Strength::Word),
            ("server01", Strength::Word),
            ("Windows11", Strength::Word),
            ("ada@corp.example.com", Strength::Word),
            ("2024-05-12", Strength::Word),
            ("OPS-1142", Strength::Word),
            ("30days", Strength::Word),
            ("12-character", Strength::Word),
            ("https://x.example/a1", Strength::Word),
        ] {
            assert_eq!(password(word), strength, "{word}");
        }
    }

    #[test]
    fn techniques_are_sorted() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn tells_keys_made_by_chance() {
        for key in
            ["MZXW6YTBOI5DGQ2L", "K7Q2M-9XPLD-44TZB-W8R3N", "9f2c7be04a6d1835fe20c94b7a61d3e8"]
        {
            assert!(is_key(key), "{key}");
        }
        for other in ["configuration", "X-Custom-Header", "AAAA-BBBB-CCCC", "2024-11-02-1120"] {
            assert!(!is_key(other), "{other}");
        }
    }
}
