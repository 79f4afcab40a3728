//! Vendors whose tokens have no prefix: their names, and how their values look.
//!
//! `finicityToken = "5acee1…"`: the vendor's name in the name of the variable and a value made by
//! chance. Most such names also hold `key`, `token` or `secret`; then the vendor's name only adds
//! to the evidence.

use super::super::assignment;
use super::super::grammar::{self, Bare, Join};
use super::super::names::{self, Promise, Words};
use super::super::value::{self, Shape};
use super::list::{NAMES, ORDINARY};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far before a value its name may begin.
const REACH: usize = 72;
/// The longest hash that is one name.
const LONGEST_HASH: usize = 64;

/// Whether a vendor's name is among the words: as one word, or as two (`new_relic`, `auth0`).
pub(in super::super) fn has_vendor(words: &Words<'_>) -> bool {
    let words = words.backwards();
    words.iter().any(|word| is_vendor("", word))
        || words.windows(2).any(|pair| is_vendor(pair[1], pair[0]))
}

/// The same, also with names that are ordinary words: enough where a key is spoken of.
pub(in super::super) fn may_have_vendor(words: &Words<'_>) -> bool {
    let is_ordinary = |word: &&str| is_listed("", word, &ORDINARY_LENGTHS, ORDINARY);
    has_vendor(words) || words.backwards().iter().any(is_ordinary)
}

/// Whether two words together are a vendor's name.
fn is_vendor(head: &str, tail: &str) -> bool {
    is_listed(head, tail, &LENGTHS, NAMES)
}

fn is_listed(head: &str, tail: &str, lengths: &[u32; 1024], names: &[&str]) -> bool {
    let len = head.len() + tail.len();
    let (Some(first), Some(last)) =
        (head.as_bytes().first().or(tail.as_bytes().first()), tail.as_bytes().last())
    else {
        return false;
    };
    if lengths[slot(*first, *last)] >> len.min(31) & 1 == 0 {
        return false;
    }
    let mut folded = [0; LONGEST_NAME];
    let Some(folded) = folded.get_mut(..len) else { return false };
    folded[..head.len()].copy_from_slice(head.as_bytes());
    folded[head.len()..].copy_from_slice(tail.as_bytes());
    folded.make_ascii_lowercase();
    names.binary_search_by(|name| name.as_bytes().cmp(folded)).is_ok()
}

const LONGEST_NAME: usize = 24;

/// Which lengths names with a first and a last letter have: most words of code fail here.
static LENGTHS: [u32; 1024] = lengths(NAMES);
static ORDINARY_LENGTHS: [u32; 1024] = lengths(ORDINARY);

const fn lengths(names: &[&str]) -> [u32; 1024] {
    let mut lengths = [0; 1024];
    let mut i = 0;
    while i < names.len() {
        let name = names[i].as_bytes();
        lengths[slot(name[0], name[name.len() - 1])] |= 1 << name.len();
        i += 1;
    }
    lengths
}

const fn slot(first: u8, last: u8) -> usize {
    (first as usize & 31) << 5 | last as usize & 31
}

/// The last names that were looked at and have no vendor's: in a list of values, those before a value
/// were looked at for the values before it.
#[derive(Debug, Default)]
pub(in super::super) struct PassedNames {
    names: [Passed; 4],
    next: usize,
}

/// Where a name is.
#[derive(Debug, Default, Clone, Copy)]
struct Passed {
    start: usize,
    end: usize,
    /// Whether it is no name but a hash.
    is_hash: bool,
}

impl PassedNames {
    /// The hash `start..end` may be taken for the name of a value behind it.
    pub(in super::super) fn push_hash(&mut self, bytes: &[u8], start: usize, end: usize) {
        // Where it begins as a name does.
        let before = start.checked_sub(1).map_or(0, |i| bytes[i]);
        let is_outside = before.is_ascii_punctuation() && !matches!(before, b'\\' | b'_' | b'-');
        if is_outside && end - start <= LONGEST_HASH {
            self.push(Passed { start, end, is_hash: true });
        }
    }

    fn push(&mut self, name: Passed) {
        self.names[self.next % self.names.len()] = name;
        self.next += 1;
    }

    /// The one that ends at `end`.
    fn ending_at(&self, end: usize) -> Option<Passed> {
        self.names.iter().find(|name| name.end == end && end > 0).copied()
    }

    /// Looks for a vendor's name before the run `start..end` and pushes the value that it is given.
    /// Returns about how many nanoseconds that took.
    pub(in super::super) fn look(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        out: &mut Vec<Finding>,
    ) -> usize {
        before(text, start, end, self, out)
    }
}

/// Whether all of the name is one word.
fn is_one_word(name: &str) -> bool {
    let (mut is_lower, mut is_upper) = (true, true);
    for byte in name.bytes() {
        is_lower &= byte.is_ascii_lowercase();
        is_upper &= byte.is_ascii_uppercase();
    }
    is_lower || is_upper
}

fn before(
    text: &str,
    start: usize,
    end: usize,
    passed: &mut PassedNames,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    if !is_joined(bytes, start) {
        return if start > 0 && bytes[start - 1] == b' ' {
            command(text, start, end, out)
        } else {
            16
        };
    }
    let floor = start.saturating_sub(REACH);
    let line = &bytes[floor..start];
    let line = line.len() - memchr::memrchr(b'\n', line).map_or(0, |end| end + 1);
    let floor = start - line;
    let mut at = start;
    // Where the name ends that a dot joins this one to: `sonar.login=…`.
    let mut last = None;
    // The last three names before the value, the nearest first.
    for _ in 0..3 {
        while at > floor && !bytes[at - 1].is_ascii_alphanumeric() {
            at -= 1;
        }
        if at == floor {
            break;
        }
        let known = passed.ending_at(at).filter(|name| name.start > floor);
        let from = known
            .map_or_else(|| assignment::start_of_name(bytes, at - 1, floor), |name| name.start);
        let to = at;
        // `-Dsonar.login=…`
        let Some(mut name) = text.get(from..to) else { break };
        while let Some(rest) = name.strip_prefix("-D") {
            name = rest;
        }
        if last.is_none() && is_parameter(bytes, from, to) {
            push_parameter(text, name, start, end, out);
            return line + end - start;
        }
        if last.is_none() && is_constant(bytes, from, to, line) {
            return line + push_constant(text, name, (start, end), out);
        }
        // `"Acme::Network::Key": "…"` is a type.
        if bytes[..from].ends_with(b"::") {
            break;
        }
        if let Some(known) = known
            && (known.is_hash || last.is_some())
        {
            if last.is_none() || bytes[to] != b'.' {
                last = Some(to);
            }
            at = from;
            continue;
        }
        if last.is_none() && is_latent_word(name) {
            let Some(value) = grammar::value_of_name(bytes, to, &mut Bare::default()) else {
                break;
            };
            if value.start <= start && value.end >= end && value.join != Join::Space {
                push(text, &Words::of(name), &value, out);
            }
            return line + 2 * (value.end - value.start);
        }
        // Lists of hashes have other hashes before each.
        let is_digit = |b: u8| b.is_ascii_hexdigit() || matches!(b, b'_' | b'-');
        let is_hash = name.bytes().all(is_digit);
        if is_hash || is_one_word(name) && !is_vendor("", name) {
            passed.push(Passed { start: from, end: to, is_hash });
            if last.is_none() || bytes[to] != b'.' {
                last = Some(to);
            }
            at = from;
            continue;
        }
        let words = Words::of(name);
        let has_vendor = has_vendor(&words);
        if has_vendor && bytes[to] == b'(' && is_argument(bytes, to, start, end) {
            push_drawn(text, start, end, out);
            return line + end - start;
        }
        if has_vendor || last.is_none() && is_latent(&words) {
            let to = last.filter(|_| bytes[to] == b'.').unwrap_or(to);
            let Some(value) = grammar::value_of_name(bytes, to, &mut Bare::default()) else {
                break;
            };
            if (value.start..value.end).contains(&start) && value.end >= end {
                push(text, &words, &value, out);
            }
            return line + 2 * (value.end - value.start);
        }
        passed.push(Passed { start: from, end: to, is_hash: false });
        if last.is_none() || bytes[to] != b'.' {
            last = Some(to);
        }
        at = from;
    }
    line / 2 + 16
}

/// Whether the name `from..to` is a variable of a shell or an environment file, which begins its line.
fn is_constant(bytes: &[u8], from: usize, to: usize, line: usize) -> bool {
    let is_sign = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
    let is_joined = bytes[to] == b'=' || bytes[to] == b':' && bytes.get(to + 1) == Some(&b' ');
    if !is_joined || to - from < 4 || !bytes[from..to].iter().all(is_sign) {
        return false;
    }
    let before = &bytes[from.saturating_sub(line.min(REACH))..from];
    let before = memchr::memrchr(b'\n', before).map_or(before, |end| &before[end + 1..]);
    matches!(before.trim_ascii(), b"" | b"export" | b"set" | b"ENV" | b"-" | b"\"" | b"- \"")
}

/// Pushes what such a variable is set to where it was made by chance, with capital and small letters:
/// digests have one kind. Returns its length.
fn push_constant(
    text: &str,
    name: &str,
    (start, end): (usize, usize),
    out: &mut Vec<Finding>,
) -> usize {
    let is_harmless = |word: &&str| {
        let is = |known: &&str| known.eq_ignore_ascii_case(word);
        HARMLESS.iter().any(is) || EVERYBODYS.iter().any(is)
    };
    let is_vendors = || {
        let words = Words::of(name);
        has_vendor(&words) || is_latent(&words) || is_latent_word(name)
    };
    let rest = &text.as_bytes()[end..];
    let is_base64 = |b: &&u8| b.is_ascii_alphanumeric() || b"_-+/=".contains(b);
    let end = end + rest.iter().take(128).take_while(is_base64).count();
    let ends = matches!(text.as_bytes().get(end), None | Some(b'\n' | b'\r' | b'"' | b'\'' | b' '));
    let Some(written) = text.get(start..end).filter(|_| ends) else { return 0 };
    let shape = Shape::of(written);
    // No digest is written so.
    let is_upper = shape.len >= 28 && shape.lower == 0 && !shape.is_hex && shape.joints == 0;
    if ((20..=128).contains(&shape.len) || shape.len >= 16 && is_vendors())
        && shape.digits > 1
        && (shape.len >= 24 || shape.alternations * 4 >= shape.len || is_vendors())
        && (shape.upper > 1 && (shape.lower > 1 || is_upper) || is_vendors())
        && shape.joints < 4
        && shape.is_random()
        && !Words::of(name).backwards().iter().any(is_harmless)
    {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "constant" });
    }
    end - start
}

/// Words of names whose values everybody may see.
#[rustfmt::skip]
const EVERYBODYS: &[&str] = &[
    "public", "publishable", "pub", "md5", "sha1", "sha512", "fingerprint", "thumbprint", "cert",
    "certificate", "crt", "ca", "csr", "dir", "cursor", "page", "nonce", "sitekey", "anon", "ids",
    "tracking", "pixel", "measurement", "dkim", "spf", "cache", "buster", "authorized", "known",
    "address", "contract", "wallet", "iv", "template", "container", "network", "subnet", "vpc",
    "price", "product", "plan", "mint", "program", "account", "folder", "sheet", "spreadsheet",
    "playlist", "cid", "pubkey",
];

/// Whether the name's last word names a secret that no keyword of the scan is in.
fn is_latent(words: &Words<'_>) -> bool {
    const LATENT: [&str; 11] = [
        "pat",
        "jwt",
        "sas",
        "bearer",
        "salt",
        "hmac",
        "signing",
        "pepper",
        "encryption",
        "encrypt",
        "sig",
    ];
    let last = words.backwards().first();
    let is = |at: usize, known: &str| {
        words.backwards().get(at).is_some_and(|word: &&str| word.eq_ignore_ascii_case(known))
    };
    if is(0, "cookie") && is(1, "erlang") {
        return true;
    }
    words.backwards().len() > 1
        && last.is_some_and(|last| LATENT.iter().any(|word| word.eq_ignore_ascii_case(last)))
}

/// The same of a name that is one word.
fn is_latent_word(name: &str) -> bool {
    const LATENT: [&str; 8] =
        ["hmac", "pepper", "salt", "encrypt", "signing", "basic", "jwt", "aes"];
    // The salts of single passwords stand beside them in small letters.
    let is_small = name.bytes().all(|b| b.is_ascii_lowercase());
    (3..=7).contains(&name.len())
        && !(is_small && matches!(name, "salt" | "signing"))
        && LATENT.iter().any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether the run `start..end` is a quoted argument of the call whose parenthesis is at `open`.
fn is_argument(bytes: &[u8], open: usize, start: usize, end: usize) -> bool {
    let quote = bytes[start - 1];
    matches!(quote, b'"' | b'\'')
        && bytes.get(end) == Some(&quote)
        && memchr::memchr2(b')', b'\n', &bytes[open..start]).is_none()
}

/// A secret behind a command of a vendor: `wandb login …`, `aws configure set aws_secret_access_key …`.
fn command(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> usize {
    const VERBS: [&str; 4] = ["login", "auth", "authtoken", "add-authtoken"];
    let bytes = text.as_bytes();
    let to = start - 1;
    let floor = to.saturating_sub(REACH);
    let from = assignment::start_of_name(bytes, to, floor);
    let Some(name) = text.get(from..to) else { return 16 };
    let is_setting = || name.len() > 12 && name.contains('_') && is_setting_of_secret(name);
    if !VERBS.contains(&name) && !is_setting() {
        return 16 + to - from;
    }
    let line = memchr::memrchr(b'\n', &bytes[floor..from]).map_or(floor, |i| floor + i + 1);
    let Some(before) = text.get(text.ceil_char_boundary(line)..from) else { return 16 };
    if has_vendor(&Words::of(before)) {
        push_drawn(text, start, end, out);
    }
    to - line + end - start
}

fn is_setting_of_secret(name: &str) -> bool {
    names::promise(&Words::of(name), None) == Some(Promise::Secret)
}

/// The run and what base64 has behind it, where it was made by chance.
fn push_drawn(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) {
    let rest = &text.as_bytes()[end..];
    let is_base64 = |b: &&u8| b.is_ascii_alphanumeric() || b"_-+/=".contains(b);
    let end = end + rest.iter().take(128).take_while(is_base64).count();
    let Some(written) = text.get(start..end) else { return };
    if written.len() >= 20 && Shape::of(written).is_random() {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "vendor_value" });
    }
}

/// Whether the name `from..to` is a parameter of a URL's query.
fn is_parameter(bytes: &[u8], from: usize, to: usize) -> bool {
    let before = from.checked_sub(1).map(|i| bytes[i]);
    let is_escaped = || bytes[..from].ends_with(b"&amp;");
    bytes[to] == b'=' && (matches!(before, Some(b'?' | b'&')) || is_escaped())
}

/// The value of a parameter that is a key under a name that says less elsewhere: `?key=…`,
/// `&appid=…`, and the `code=…` that opens a function, which is longer than those of a sign-in.
fn push_parameter(text: &str, name: &str, start: usize, end: usize, out: &mut Vec<Finding>) {
    const PARAMETERS: &[(&str, usize)] = &[
        ("key", 16),
        ("appid", 16),
        ("wskey", 16),
        ("hapikey", 16),
        ("zapikey", 16),
        ("code", 48),
    ];
    let Some((_, least)) = PARAMETERS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))
    else {
        return;
    };
    let rest = &text.as_bytes()[end..];
    let is_value = |b: &&u8| b.is_ascii_alphanumeric() || b"_-+/%=".contains(b);
    let end = end + rest.iter().take(128).take_while(is_value).count();
    let Some(written) = text.get(start..end) else { return };
    if written.len() >= *least && Shape::of(written).is_random() {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "url_parameter" });
    }
}

/// Whether a vendor's name is among the last words before `end`, on this line or the one before.
pub(in super::super) fn is_near(text: &str, end: usize) -> bool {
    const LINES: usize = 2;
    let floor = text.floor_char_boundary(end.saturating_sub(REACH));
    let Some(before) = text.get(floor..end) else { return false };
    let lines = memchr::memrchr_iter(b'\n', before.as_bytes()).nth(LINES - 1);
    may_have_vendor(&Words::of(&before[lines.map_or(0, |i| i + 1)..]))
}

/// Whether a join stands before `start`, maybe with a quote and a blank: not so in the middle of a
/// path, a host, a base64 text or a sentence.
fn is_joined(bytes: &[u8], start: usize) -> bool {
    let passed = |b: &&u8| matches!(**b, b'"' | b'\'' | b'`' | b' ' | b'\\' | b'@');
    let before = bytes[..start].iter().rev().take(5).find(|b| !passed(b));
    before.is_some_and(|b| matches!(b, b'=' | b':' | b'(' | b',' | b'>' | b'['))
}

fn push(text: &str, words: &Words<'_>, value: &grammar::Value, out: &mut Vec<Finding>) {
    let Some(written) = text.get(value.start..value.end) else { return };
    let shape = Shape::of(written);
    if matches!(value.join, Join::Prose | Join::Space | Join::Argument) && value.quote.is_none()
        || value::is_reference(written)
        || shape.spaces > 0
        || shape.joints > 2 && !value::is_uuid(written) && !shape.is_random()
    {
        return;
    }
    // `asana_project_id`, `heroku_app_name` hold nothing secret; `discord_client_id` does for some.
    let last = words.backwards().first().copied().unwrap_or("");
    let harmless = HARMLESS.iter().any(|word| word.eq_ignore_ascii_case(last));
    let is_client = words.backwards().iter().any(|word| word.eq_ignore_ascii_case("client"));
    if harmless && !is_client {
        return;
    }
    if value::is_uuid(written) || !shape.is_random() {
        return;
    }
    let is_base64 = || {
        shape.len >= 40 && written.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
    };
    if shape.specials > 2 && !is_base64() {
        return;
    }
    out.push(Finding {
        start: value.start,
        end: value.end,
        kind: Kind::Secret,
        rule: "vendor_value",
    });
}

/// Last words of names whose values are none of the vendor's secrets.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "id", "ids", "name", "url", "uri", "version", "hash", "sha", "sha256", "digest", "checksum",
    "commit", "image", "tag", "etag", "path", "file", "host", "region", "project", "app",
    "integrity", "ref", "model", "channel", "user", "username", "email", "domain", "endpoint",
    "link", "package", "src", "href", "zone", "uuid", "guid", "trace", "request", "event", "job",
    "build", "revision", "rev", "class", "style", "sum",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kinds;
    use crate::scan::{Scanner, ScannerSettings};

    #[test]
    fn names_are_sorted_and_lower() {
        assert!(NAMES.is_sorted() && ORDINARY.is_sorted());
        let is_hexadecimal = |name: &&str| name.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(!NAMES.iter().chain(ORDINARY).any(is_hexadecimal));
        assert!(NAMES.iter().all(
            |name| name.len() <= LONGEST_NAME && !name.bytes().any(|b| b.is_ascii_uppercase())
        ));
        for (name, expected) in [
            ("NETLIFY", true),
            ("finicityToken", true),
            ("NEW_RELIC_KEY", true),
            ("auth0Domain", true),
            ("value", false),
            ("polygon", false),
        ] {
            assert_eq!(has_vendor(&Words::of(name)), expected, "{name}");
        }
        assert!(may_have_vendor(&Words::of("POLYGON_KEY")));
    }

    #[test]
    fn a_vendors_name_leads_to_its_value() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let value = "q7Kd02mzLpPwX81nRtYvBc03HsJfGaE5";
        for text in [
            "SCRAPFLY=#",
            "ipstack: \"#\"",
            "-Dsonar.login=#",
            "client = PipedriveClient(\"#\")",
            "twilio('me', '#')",
            "wandb login #",
            "aws configure set aws_secret_access_key #",
            "NIGHTJAR_PAT='#'",
            "https://api.tomtom.com/x.json?key=#&a=b",
            "https://maps.nightjar.io/?q=Bern&appid=#",
        ] {
            let text = text.replace('#', value);
            let found = scanner.scan(&text, Kinds::of(&[Kind::Secret]));
            let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
            assert_eq!(found, [value], "{text}");
        }
    }

    #[test]
    fn a_variable_that_begins_its_line_says_enough() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let scan = |text: &str| scanner.scan(text, Kinds::of(&[Kind::Secret])).len();
        let drawn = "q7Kd02mzLpPwX81nRtYvBc03HsJfGaE5";
        for text in ["NIGHTJAR=#", "a=1\nexport NIGHTJAR='#'\n", "ENV GREY_HERON=#\n"] {
            assert_eq!(scan(&text.replace('#', drawn)), 1, "{text}");
        }
        for text in [
            "BUILD_ID=#",
            "GREY_HERON_PUBLIC=#",
            "GREY_HERON_CA_CERT=#",
            "CACHE_VERSION=#",
            "x = NIGHTJAR=#",
            "nightjar=#",
            "NIGHTJAR=#.example.com",
        ] {
            assert_eq!(scan(&text.replace('#', drawn)), 0, "{text}");
        }
        for other in
            ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "aLongNameOfSomethingInCamelCase2"]
        {
            assert_eq!(scan(&format!("NIGHTJAR={other}")), 0, "{other}");
        }
    }

    #[test]
    fn digests_beside_a_vendors_name_are_none_of_its_secrets() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let digest = "733a3e7b4bdf0053c1de27ba90f3468e6b1f02aa";
        for text in [
            "\"AWS::Chatbot::SlackChannelConfiguration\": \"#\"",
            "heroku_commit: #",
            "image: grafana/grafana@sha256:#",
            "\"sentry\": {\"integrity\": \"sha1-#\"}",
            "git checkout # # stripe",
            "STRIPE_VERSION_HASH=#",
            "https://cdn.nightjar.io/app.js?v=#",
            "https://nightjar.io/cb?code=#",
        ] {
            let text = text.replace('#', digest);
            assert_eq!(scanner.scan(&text, Kinds::of(&[Kind::Secret])), [], "{text}");
        }
    }
}
