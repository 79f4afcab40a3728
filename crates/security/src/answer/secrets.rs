//! Secrets and personal data in an answer that were not in the request.
//!
//! A model that names a credential has it from its training, from a tool's result that never came
//! through here, or has made it up. Made-up ones are what sample code is made of, so a value counts
//! only where nobody would invent it.

use super::chance::{entropy, from_base64, is_chance, is_invented};
use super::request::Request;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::map::RedactionMap;
use crate::placeholder;

/// Whether a finding's value is new: not in the request, no placeholder, and nobody's invention.
pub(super) fn is_new(
    text: &str,
    finding: &Finding,
    request: &mut Request,
    map: &RedactionMap,
) -> bool {
    let Some(value) = text.get(finding.range()) else { return false };
    !is_example(finding.kind, value)
        && map.find_in(value).next().is_none()
        && !holds_placeholder(value)
        && !request.holds(value)
}

/// Whether `value` holds a placeholder, of whatever request: one that was replayed is no secret.
fn holds_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    memchr::memchr2_iter(b'Q', b'q', bytes).any(|at| placeholder::recognise(&bytes[at..]).is_some())
}

fn is_example(kind: Kind, value: &str) -> bool {
    match kind {
        Kind::Secret => {
            let told = VENDORS_WORDS.iter().find_map(|word| value.strip_prefix(word));
            let said = String::from_utf8(from_base64(value)).unwrap_or_default();
            is_invented(told.unwrap_or(value))
                || entropy(value) < 3.0
                || is_sample_token(value)
                || said.len() >= 6 && is_invented(&said)
        }
        Kind::Password => is_invented(value) || !is_chance(value),
        Kind::PrivateKey => !is_key(value),
        Kind::Email => is_sample_address(value),
        Kind::IpAddress => {
            matches!(value, "1.2.3.4" | "8.8.8.8" | "8.8.4.4" | "1.1.1.1" | "1.0.0.1")
        }
        Kind::Mac => has_sample_digits(value) || entropy(value) < 2.5,
        _ => has_sample_digits(value),
    }
}

/// Beginnings of real tokens that sound as if somebody had made them up.
const VENDORS_WORDS: &[&str] =
    &["AGE-SECRET-KEY-", "secret_", "secret-token:", "sk_test_", "rk_test_"];

/// The payloads of the tokens in most JWT tutorials: a subject of `1234567890`, a John Doe.
fn is_sample_token(value: &str) -> bool {
    // A header alone opens nothing.
    let is_header = value.starts_with("eyJ") && value.len() < 80 && !value.contains('.');
    is_header || value.contains("eyJzdWIiOiIxMjM0NTY3ODkwI") || value.contains("IkpvaG4gRG9lI")
}

/// Whether a private key's text holds what could be one.
pub(super) fn is_key(value: &str) -> bool {
    let lines = value.split(['\n', '\\']).map(str::trim);
    let body: String =
        lines.filter(|line| !line.contains("-----") && !line.contains(':')).collect();
    body.len() >= 40
        && entropy(&body) >= 4.2
        && !value.contains("...")
        && !["example", "fake", "dummy", "your", "sample"]
            .iter()
            .any(|word| value.to_ascii_lowercase().contains(word))
}

const SAMPLE_NAMES: &[&str] = &[
    "user",
    "username",
    "name",
    "email",
    "you",
    "your",
    "me",
    "john",
    "jane",
    "doe",
    "alice",
    "bob",
    "carol",
    "charlie",
    "dave",
    "eve",
    "mallory",
    "foo",
    "bar",
    "baz",
    "test",
    "tester",
    "admin",
    "root",
    "info",
    "support",
    "contact",
    "hello",
    "help",
    "sales",
    "noreply",
    "no-reply",
    "donotreply",
    "git",
    "hi",
    "team",
    "security",
    "abuse",
    "postmaster",
    "webmaster",
    "office",
    "privacy",
    "press",
    "jobs",
    "billing",
    "service",
    "customer",
    "someone",
    "somebody",
    "someuser",
    "first",
    "last",
    "firstname",
    "lastname",
    "recipient",
    "sender",
    "from",
    "to",
    "max",
    "erika",
    "mustermann",
    "dev",
    "developer",
    "demo",
    "guest",
    "smith",
    "client",
    "example",
    "notify",
    "notifications",
    "alerts",
    "feedback",
    "hr",
    "legal",
    "marketing",
    "newsletter",
    "api",
    "app",
];

const SAMPLE_DOMAINS: &[&str] = &[
    "example",
    "domain",
    "company",
    "yourcompany",
    "mycompany",
    "yourdomain",
    "mydomain",
    "test",
    "acme",
    "foo",
    "bar",
    "email",
    "site",
    "website",
    "yoursite",
    "server",
    "host",
    "localhost",
    "corp",
    "org",
    "business",
    "startup",
    "contoso",
    "fabrikam",
    "sample",
    "demo",
    "invalid",
];

/// Whether an e-mail address is a sample, or one of an office and not of a person.
fn is_sample_address(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let Some((name, domain)) = lower.rsplit_once('@') else { return true };
    let name_words =
        name.split(['.', '_', '+', '-']).map(|w| w.trim_end_matches(|c: char| c.is_ascii_digit()));
    let mut labels = domain.split(['.', '-']);
    name_words.clone().all(|word| word.is_empty())
        || SAMPLE_NAMES.contains(&name)
        || name_words.into_iter().any(|word| SAMPLE_NAMES.contains(&word))
        || labels.any(|label| SAMPLE_DOMAINS.contains(&label))
        || domain.ends_with(".test")
        || domain.ends_with(".local")
}

/// Account numbers that documentation uses; they pass every check.
const SAMPLE_NUMBERS: &[&str] = &[
    "DE89370400440532013000",
    "GB29NWBK60161331926819",
    "GB82WEST12345698765432",
    "GB33BUKB20201555555555",
    "FR1420041010050500013M02606",
    "NL91ABNA0417164300",
    "CH9300762011623852957",
    "ES9121000418450200051332",
    "IT60X0542811101000000123456",
    "BE68539007547034",
    "AT611904300234573201",
    "PL61109010140000071219812874",
    "078051120",
    "219099999",
    "457555462",
    "001010001",
];

/// Whether a number is one that documentation or a tired author would use.
fn has_sample_digits(value: &str) -> bool {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let upper = plain.to_ascii_uppercase();
    [
        "123456", "1234567", "234567", "987654", "0000", "1111", "4242", "9999", "555", "112233",
        "AABBCC", "001122",
    ]
    .iter()
    .any(|pattern| upper.contains(pattern))
        || SAMPLE_NUMBERS.contains(&&*upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_told_from_what_somebody_could_have() {
        for (kind, value) in [
            (Kind::Secret, "sk-proj-xxxxxxxxxxxxxxxxxxxxxxxx"),
            (Kind::Secret, "ghp_yourTokenHere1234567890abcdefghijkl"),
            (Kind::Password, "Sup3rS3cret!"),
            (Kind::Password, "postgres"),
            (Kind::Email, "john.doe@gmail.com"),
            (Kind::Email, "a.lovelace@example.org"),
            (Kind::Email, "support@stripe.com"),
            (Kind::Phone, "+1 555 0142 333"),
            (Kind::Phone, "+1-234-567-8900"),
            (Kind::Iban, "DE89 3704 0044 0532 0130 00"),
            (Kind::NationalId, "123-45-6789"),
            (Kind::Mac, "00:11:22:33:44:55"),
            (Kind::PrivateKey, "-----BEGIN PRIVATE KEY-----\nMIIE...\n-----END PRIVATE KEY-----"),
        ] {
            assert!(is_example(kind, value), "{value}");
        }
        for (kind, value) in [
            (Kind::Secret, "ghp_9dK2vQ7xTz4LmW8sRbYc1NfHj6PgUe3AoV0i"),
            (Kind::Password, "vT7#qLw92xZr"),
            (Kind::Email, "m.okonkwo@brightwater.io"),
            (Kind::Phone, "+49 30 83517264"),
            (Kind::Card, "4539 5782 0361 8746"),
            (Kind::Mac, "3c:22:fb:9a:41:d7"),
        ] {
            assert!(!is_example(kind, value), "{value}");
        }
    }
}
