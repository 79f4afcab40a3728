//! Whether a value that a name was given is a secret.
//!
//! The name promises, the grammar says how sure the place is, the value's shape must fit both. Code
//! is full of passwords that are variables, types, calls, messages and stand-ins: what the shape
//! alone decides comes first, since the lists of words take longer.

use super::code::{begins_like_code, ends_in_call, ends_like_code, has_signs, looks_like_code};
use super::directives;
use super::evidence::{
    counts_up, is_drawn_one_by_one, is_line, is_member, is_of_program, is_own_line,
    is_spelled_otherwise, letters_beyond_ascii,
};
use super::grammar::{BYTES, Join, Value};
use super::hashes;
use super::names::{Promise, Words};
use super::passphrase;
use super::value::{self, Shape};
use crate::detectors::words::Beginnings;

/// The longest secret.
pub(super) const LONGEST: usize = 1024;
/// The longest value that may repeat its name.
const LONGEST_REPEATED: usize = 128;

/// What has as many of one character in a row was filled up: chance does not do that.
const LONGEST_REPEAT: usize = 16;

/// A name and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) words: &'a Words<'a>,
    pub(super) name: &'a str,
}

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Secret,
    /// Its shape is none of a secret's.
    Shapeless,
    /// Its words say that it is none, which takes longer to see.
    Denied,
}

/// Whether `written` is a secret, given what its name promises.
pub(super) fn judge(place: &Place<'_>, promise: Promise, value: &Value, written: &str) -> Verdict {
    let shape = Shape::of(written);
    if shape.len < 4 || shape.len > LONGEST {
        return Verdict::Shapeless;
    }
    if value.quote == Some(BYTES) {
        let is_secret = promise != Promise::Key && is_drawn_one_by_one(written);
        return if is_secret { Verdict::Secret } else { Verdict::Shapeless };
    }
    if shape.spaces > 0 {
        let is_secret = promise == Promise::Password && is_spoken(place, value, written);
        return if is_secret { Verdict::Secret } else { Verdict::Shapeless };
    }
    if promise != Promise::Key && hashes::is_hash(written) {
        // `user:$6$…` has no name of a secret before it, even if the user's looks like one.
        let is_account = value.join == Join::Tight && place.text[..value.start].ends_with(':');
        return if is_account { Verdict::Denied } else { Verdict::Secret };
    }
    let random = shape.is_random();
    let fits = match promise {
        _ if value.join == Join::Directive => is_configured(place, promise, value, written, &shape),
        Promise::Password
            if value.join == Join::Space && is_own_line(place, value, written, &shape) =>
        {
            true
        }
        Promise::Password => is_password(place, value, written, &shape, random),
        Promise::Secret => is_token(place, value, written, &shape, random),
        Promise::Key => is_key(value, written, &shape, random) || is_decoded(place, value, &shape),
    };
    let fits = fits
        && match value.join {
            Join::Element => is_element(place, value),
            // Tables that describe have words in such columns.
            Join::Cell => shape.digits + shape.specials > 0 || shape.joints > 2,
            // The next name of an object: `"pw", "alpha_3": …`.
            Join::Argument if place.text[value.end..].get(1..2) == Some(":") => false,
            Join::Argument => {
                value.quoted_name
                    || random
                    || is_strong(&shape, written)
                    || is_member(place)
                    || shape.classes() > 2 && shape.digits > 1 && shape.alternations > 2
            }
            _ => true,
        };
    if !fits
        || value.join == Join::Space
            && !space_is_enough(place, promise, value, written, &shape, random)
    {
        return Verdict::Shapeless;
    }
    let stands_in = if random {
        // What marks a longer one marks a shorter one, too.
        if shape.len < 48 { value::is_stand_in(written) } else { value::is_marked(written) }
    } else {
        value::is_stand_in(written) || repeats_name(place.name, written)
    };
    if stands_in
        || shape.longest_repeat >= LONGEST_REPEAT
        || value::is_reference(written)
        || is_elsewhere(written, &shape)
        || is_of_program(place, value, written)
    {
        return Verdict::Denied;
    }
    Verdict::Secret
}

/// Whether it is a passphrase with blanks between its words, and set as one sets a variable of a shell.
/// In other places, words with blanks are messages.
fn is_spoken(place: &Place<'_>, value: &Value, written: &str) -> bool {
    // A network's is read as it stands between its quotes.
    if place.name == "psk" && value.join == Join::Tight && value.quote.is_some() {
        return written.bytes().any(|b| b.is_ascii_digit()) && !value::is_stand_in(written);
    }
    let is_for_words = || {
        let is =
            |w: &&str| w.eq_ignore_ascii_case("passphrase") || w.eq_ignore_ascii_case("phrase");
        place.words.backwards().iter().any(is)
    };
    let is_variable = value.join == Join::Tight
        && value.quote.is_some()
        && (place.name.bytes().all(|b| !b.is_ascii_lowercase()) || is_for_words())
        || matches!(value.join, Join::Colon | Join::Spaced)
            && value.quote.is_some()
            && is_for_words();
    is_variable && passphrase::is_passphrase(written, true)
}

/// Whether `</` ends the value, as in `<name>value</name>`.
fn is_element(place: &Place<'_>, value: &Value) -> bool {
    let rest = &place.text[value.end..];
    value.quote.is_none() && (rest.starts_with("</") || rest.starts_with("]]>"))
}

/// Whether it has a letter, a digit and a sign, and nothing that code or prose has: what a person
/// types who was told to choose a good password.
fn is_strong(shape: &Shape, written: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!@#$%^&*?+~_.-".contains(&b);
    shape.len >= 8
        && shape.digits > 0
        && shape.letters() > 2
        && shape.specials > 0
        && shape.classes() >= 3
        && written.bytes().all(allowed)
        && !written.starts_with(['-', '.', '*', '&'])
}

/// A path, an address, a digest, a version, a name of something that keeps the secret.
fn is_elsewhere(written: &str, shape: &Shape) -> bool {
    let bytes = written.as_bytes();
    if has_signs(shape) && written.contains("://") || bytes.starts_with(b"/") && !shape.is_random()
    {
        return true;
    }
    // `$apr1$…`, `$2b$12$…`: a hash of a password.
    let is_hash = |part: &str| {
        let name = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        (1..=10).contains(&name) && part[name..].starts_with('$') && part.len() > name + 12
    };
    if written.match_indices('$').take(2).any(|(i, _)| is_hash(&written[i + 1..])) {
        return true;
    }
    static BEFORE: Beginnings = Beginnings::new(&[
        "./",
        "../",
        "~/",
        "sha256:",
        "sha256-",
        "sha1-",
        "sha512-",
        "sha384-",
        "sha512:",
        "md5:",
        "$2a$",
        "$2b$",
        "$2y$",
        "$argon2",
        "$6$",
        "$5$",
        "$1$",
        "pbkdf2",
        "{SHA",
        "{SSHA",
        "{bcrypt}",
        "scrypt:",
        "arn:",
        "data:",
        "urn:",
        "0x",
        "xml:",
        "com.",
        "org.",
        "io.",
        "refs/",
        "http",
        "ssh-rsa",
        "ssh-ed25519",
        "-----",
        "C:\\",
        "#/",
        "@/",
    ]);
    if BEFORE.begin(written) || hashes::names_algorithm(written) {
        return true;
    }
    const ENDS: &[&str] = &[
        ".pem", ".key", ".crt", ".cer", ".p12", ".pfx", ".jks", ".json", ".yaml", ".yml", ".txt",
        ".xml", ".toml", ".env", ".js", ".ts", ".py", ".go", ".rs", ".java", ".php", ".html",
        ".keytab", ".gpg", ".pub", ".tsx", ".jsx", ".css", ".md", ".com", ".org", ".io", ".net",
        ".png", ".svg", ".onion",
    ];
    let has_ending = memchr::memchr(b'.', &bytes[bytes.len().saturating_sub(8)..]).is_some();
    if has_ending && ENDS.iter().any(|part| written.ends_with(part)) {
        return true;
    }
    let letters_at_ends = bytes.contains(&b'@')
        && shape.specials == 1
        && written.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty() && domain.len() > 3 && domain.bytes().skip(1).any(|b| b == b'.')
        });
    letters_at_ends && shape.joints > 0 && !written.ends_with('.')
}

/// `password = "user_password"`, `token: "accessToken"`.
fn repeats_name(name: &str, written: &str) -> bool {
    if written.len() > LONGEST_REPEATED {
        return false;
    }
    let fold = |s: &str| -> String {
        let letters = s.chars().filter(|c| c.is_alphanumeric());
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let digits = written.bytes().filter(u8::is_ascii_digit).count();
    let (name, written) = (fold(name), fold(written));
    let longer = written.len() < name.len() + 6 && digits < 3;
    !written.is_empty() && (name.contains(&written) || longer && written.contains(&name))
}

/// Where only a blank stands between, a flag, a line of netrc or SQL must say what it is.
fn space_is_enough(
    place: &Place<'_>,
    promise: Promise,
    value: &Value,
    written: &str,
    shape: &Shape,
    random: bool,
) -> bool {
    let before = place.start.checked_sub(1).map(|i| place.text.as_bytes()[i]);
    let is_flag = before == Some(b'-') || place.name.starts_with('-');
    let has_mix = shape.digits > 0 && shape.letters() > 0;
    if is_flag {
        return true;
    }
    const DIRECTIVES: &[&str] = &["requirepass", "masterauth", "ansible_password", "IDENTIFIED"];
    if DIRECTIVES.contains(&place.name) {
        return true;
    }
    if place.text[..place.start].ends_with("ENV ") {
        return true;
    }
    if value.quote == Some(b'\'') && place.name.eq_ignore_ascii_case("password") {
        return true;
    }
    // `passwd 1:4.13+dfsg1-1`: a package and its version.
    let numbers =
        written.bytes().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b':')).count();
    if numbers > 2 && value.quote.is_none() && written.contains(['+', '-', '~']) {
        return false;
    }
    if is_strong(shape, written) && (value.quote.is_some() || place.words.backwards().len() == 1) {
        return true;
    }
    // `|> Sql.password "…"`
    if value.quote.is_some() && before == Some(b'.') && promise == Promise::Password {
        return shape.digits + shape.specials > 0;
    }
    if is_own_line(place, value, written, shape) {
        return true;
    }
    if value.quote.is_some() && is_definition(place) {
        return true;
    }
    if is_netrc(place) || is_configured(place, promise, value, written, shape) {
        return true;
    }
    random && has_mix && shape.len >= 20 && place.words.backwards().len() <= 2
}

fn is_configured(
    place: &Place<'_>,
    promise: Promise,
    value: &Value,
    written: &str,
    shape: &Shape,
) -> bool {
    let has_form = value.join == Join::Directive;
    let is_words = shape.joints > 2 && passphrase::is_passphrase(written, false);
    directives::is_directive(
        place,
        promise,
        value.end,
        shape,
        value.quote.is_some(),
        has_form,
        is_words,
    )
}

/// `#define PASSWORD "…"`, `(setq password "…")`, `{:password "…"}`
fn is_definition(place: &Place<'_>) -> bool {
    let before = &place.text[..place.start];
    ["#define ", "setq ", "defvar ", "(def ", "defconst ", ":", "defparameter ", "set(", "SET("]
        .iter()
        .any(|word| before.ends_with(word))
}

/// `machine … login … password …` on one line or on the last few, and FTP's `USER …`, `PASS …`.
fn is_netrc(place: &Place<'_>) -> bool {
    let bytes = place.text.as_bytes();
    let before = &bytes[place.start.saturating_sub(160)..place.start];
    let has = |word: &[u8]| memchr::memmem::find(before, word).is_some();
    matches!(place.name, "password" | "passwd")
        && has(b"login ")
        && (has(b"machine ") || has(b"default"))
        || place.name == "PASS" && has(b"USER ")
}

fn is_password(
    place: &Place<'_>,
    value: &Value,
    written: &str,
    shape: &Shape,
    random: bool,
) -> bool {
    if shape.len < 5 || shape.len > 128 && !random || is_counting(shape) {
        return false;
    }
    let Some(_) = value.quote else {
        return is_bare_password(place, value, written, shape, random);
    };
    if random {
        return true;
    }
    if value::is_drawn(written, shape) {
        return true;
    }
    if value.join == Join::Prose && shape.digits + shape.specials == 0 {
        return false;
    }
    // `"user.password"`, `"db-secret-name"`, `"resetPassword"`: names of things.
    if shape.digits + shape.specials == 0 {
        if shape.joints > 0 {
            return passphrase::is_passphrase(written, false);
        }
        if shape.beyond_ascii > 0 || value::mentions_secrets(written) {
            return false;
        }
        let camel = shape.upper > 0 && shape.lower > 0;
        let labels = value.join == Join::Colon || value.quoted_name || shape.upper == shape.len;
        return !labels && shape.len >= 6 && (!camel || shape.wordiness < 5.5);
    }
    if shape.specials == 0 && value::mentions_secrets(written) && shape.digits < 4 {
        return false;
    }
    if shape.specials > 0 && looks_like_code(written, shape) {
        return false;
    }
    // `required|min:8|confirmed`
    if written.contains('|') && shape.wordiness > 6.0 && shape.upper == 0 {
        return false;
    }
    // `longer-than-16-chars`
    if shape.specials == 0 && shape.joints > 2 && shape.wordiness > 6.0 {
        return false;
    }
    // `1.2.840.113549`: numbers of versions and objects.
    if shape.letters() == 0 && shape.specials == 0 && shape.joints > 1 {
        return false;
    }
    let letters = shape.letters() + letters_beyond_ascii(value, written, shape);
    letters > 0 || shape.digits >= 6 || shape.specials > 2 && shape.digits > 0
}

fn is_bare_password(
    place: &Place<'_>,
    value: &Value,
    written: &str,
    shape: &Shape,
    random: bool,
) -> bool {
    if looks_like_code(written, shape)
        || ends_in_call(place.text, value, written)
        || ends_like_code(place.text, value) && !random
        || begins_like_code(written)
    {
        return false;
    }
    if random {
        return true;
    }
    // What test runners print.
    if matches!(place.name, "PASS" | "Pass") && shape.specials == 0 && !is_netrc(place) {
        return false;
    }
    // "pass to this_function2"
    if place.name == "pass" && value.join == Join::Prose && shape.specials == 0 {
        return false;
    }
    if value::is_drawn(written, shape) {
        return true;
    }
    let is_prose = value.join == Join::Prose;
    let inner_specials = shape.specials > 0;
    if shape.letters() + letters_beyond_ascii(value, written, shape) == 0 {
        return shape.digits >= 6 && shape.digits == shape.len && value.join != Join::Spaced
            || inner_specials && shape.digits > 2;
    }
    if shape.digits == 0 && !inner_specials {
        return matches!(value.join, Join::Tight | Join::Colon | Join::Element | Join::Directive)
            && passphrase::is_passphrase(written, false);
    }
    if is_prose && shape.digits == 0 {
        return inner_specials && shape.classes() >= 3;
    }
    if value::mentions_secrets(written) && !inner_specials {
        return false;
    }
    // `token2`, `user_1`, `utf8`: names with a number.
    let is_mixed = shape.upper > 0 && shape.lower > 0 && shape.digits >= 2;
    let is_name = !inner_specials
        && !is_mixed
        && shape.joints > 0
        && shape.wordiness >= 5.2
        && shape.digits <= 2
        && !is_spelled_otherwise(place, value, written)
        && !passphrase::is_numbered(written);
    if value.join == Join::Spaced {
        let has_digits = shape.digits >= 2 || is_spelled_otherwise(place, value, written);
        return !is_name && (inner_specials || has_digits) && shape.len >= 6;
    }
    !is_name && shape.len >= 6
}

fn is_token(place: &Place<'_>, value: &Value, written: &str, shape: &Shape, random: bool) -> bool {
    if shape.len < 8 || is_counting(shape) || shape.beyond_ascii > 0 {
        return false;
    }
    if value.quote.is_none() {
        if looks_like_code(written, shape)
            || begins_like_code(written)
            || ends_in_call(place.text, value, written)
            || ends_like_code(place.text, value) && shape.digits == 0
        {
            return false;
        }
        if value::is_uuid(written) {
            return value.join != Join::Prose;
        }
        // What programs that speak as OpenAI's are told for a key.
        if shape.len >= 12
            && written.starts_with("sk-")
            && shape.digits > 2
            && shape.wordiness < 5.2
        {
            return true;
        }
        if random {
            return true;
        }
        if value::is_drawn(written, shape) {
            return true;
        }
        let is_set = match value.join {
            Join::Tight | Join::Colon => true,
            Join::Spaced => is_line(place, value),
            _ => false,
        };
        if is_set && is_chosen(place, written, shape) {
            return true;
        }
        return shape.digits > 1
            && shape.letters() > 0
            && shape.alternations > 1
            && (shape.len >= 10 || shape.classes() > 2 && shape.alternations > 2)
            && (shape.wordiness < 5.2 || shape.classes() >= 4)
            && !value::mentions_secrets(written);
    }
    if random || value::is_uuid(written) || value::is_drawn(written, shape) {
        return true;
    }
    if looks_like_code(written, shape)
        || value::mentions_secrets(written) && shape.specials == 0
        || is_of_language(place, value)
    {
        return false;
    }
    if value.join != Join::Argument && is_chosen(place, written, shape) {
        return true;
    }
    let mixed = shape.digits > 0 && shape.letters() > 0;
    mixed && shape.alternations > 1 && (shape.wordiness < 5.2 || shape.alternations > 3)
        || mixed && shape.specials > 0 && shape.classes() >= 3
}

/// `token != "#include2"`: a word that a parser compares with.
fn is_of_language(place: &Place<'_>, value: &Value) -> bool {
    let before = place.text[..value.start].trim_end_matches(['"', '\'', '`', ' ']);
    place.words.backwards().len() == 1 && (before.ends_with("==") || before.ends_with("!="))
}

/// `FalconHarbor5479`, `winter-orchid3687`: a password that a person chose, where a program has a secret
/// by this name. A lone `token` is as often a word of a text.
fn is_chosen(place: &Place<'_>, written: &str, shape: &Shape) -> bool {
    let letters = written.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = written.len() - letters.len();
    let is_one =
        |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_' | '!' | '#' | '.' | '@');
    let name = place.words.backwards();
    let is_secret = name.first().is_some_and(|last| last.eq_ignore_ascii_case("secret"));
    (3..=6).contains(&digits)
        && shape.letters() >= if is_secret { 5 } else { 10 }
        && shape.joints + shape.specials <= 1
        && letters.chars().all(is_one)
        && (is_secret || name.len() > 1)
        && !value::mentions_secrets(written)
}

fn is_key(value: &Value, written: &str, shape: &Shape, random: bool) -> bool {
    // `PublicKeyToken=…`
    if written.trim_end_matches('=').contains('=') {
        return false;
    }
    // `item:7ddf15f18f0887e7`: what caches and stores call their entries.
    let is_entry = written.split_once(':').is_some_and(|(space, _)| {
        !space.is_empty() && space.bytes().all(|b| b.is_ascii_lowercase() || b"_-.".contains(&b))
    });
    if is_entry {
        return false;
    }
    let mixed = shape.digits > 0 && shape.letters() > 0;
    let is_said = value.quote.is_some() || value.join == Join::Prose;
    // Keys of maps have no such signs.
    let is_password = || value.quote.is_some() && is_strong(shape, written) && shape.specials > 1;
    random
        && (is_password() && shape.classes() > 3
            || mixed && is_said && shape.len >= 20 && !shape.is_hex && shape.joints == 0)
}

/// `hex!("…")`, `bytes.fromhex("…")`: a key of 16 bytes or more that code spells out.
fn is_decoded(place: &Place<'_>, value: &Value, shape: &Shape) -> bool {
    const DECODERS: &[&str] =
        &["hex!(", "fromhex(", "unhexlify(", "ecodeHex(", "DecodeString(", "from_hex(", "hex2bin("];
    let before = place.text[..value.start].trim_end_matches(['"', '\'']);
    shape.is_hex
        && matches!(shape.len, 32 | 48 | 64 | 128)
        && !counts_up(&place.text.as_bytes()[value.start..value.end])
        && shape.is_random()
        && DECODERS.iter().any(|decoder| before.ends_with(decoder))
}

fn is_counting(shape: &Shape) -> bool {
    shape.len >= 6 && (shape.distinct <= 2 || shape.steps + 1 >= shape.len)
}
