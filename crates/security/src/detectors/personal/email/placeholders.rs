//! Addresses that belong to nobody: placeholders, samples, senders that nobody reads.

use crate::detectors::words::WordList;

/// Whether `local@domain` is nobody's address.
pub(super) fn is_nobody(local: &str, domain: &str) -> bool {
    let mut local_lower = [0; 64];
    let mut domain_lower = [0; 64];
    let (Some(local), Some(domain)) =
        (lower(local, &mut local_lower), lower(domain, &mut domain_lower))
    else {
        return false;
    };
    if is_unread(local) {
        return true;
    }
    if local.len() == 1 && domain.find('.').is_some_and(|len| len <= 1) {
        return true;
    }
    let is_code = matches!(
        local,
        "return" | "this" | "super" | "break" | "continue" | "self" | "s" | "%s" | "%d"
    );
    if is_code {
        return true;
    }
    match domain_class(domain) {
        // Made for documents, yet generated people live there too: only what looks like one person.
        Domain::Reserved => !looks_personal(local),
        Domain::Placeholder => true,
        Domain::Usual => GENERIC_DOMAINS.contains(&domain) && is_generic(local),
    }
}

fn lower<'a>(text: &str, buffer: &'a mut [u8; 64]) -> Option<&'a str> {
    let buffer = buffer.get_mut(..text.len())?;
    buffer.copy_from_slice(text.as_bytes());
    buffer.make_ascii_lowercase();
    std::str::from_utf8(buffer).ok()
}

/// Senders whose mail nobody answers.
fn is_unread(local: &str) -> bool {
    let compact = local.bytes().filter(|b| b.is_ascii_alphanumeric());
    // Most begin with another letter.
    if !matches!(compact.clone().next(), Some(b'n' | b'd' | b'm')) {
        return false;
    }
    ["noreply", "donotreply", "mailerdaemon", "nobody"].iter().any(|name| {
        let mut letters = compact.clone();
        name.bytes().all(|letter| letters.next() == Some(letter))
    })
}

enum Domain {
    /// RFC 2606, RFC 6761, and networks' own names.
    Reserved,
    /// Names that only stand for one's own.
    Placeholder,
    Usual,
}

fn domain_class(domain: &str) -> Domain {
    let (rest, top) = domain.rsplit_once('.').unwrap_or(("", domain));
    let second = rest.rsplit('.').next().unwrap_or("");
    if matches!(
        top,
        "example" | "test" | "invalid" | "localhost" | "local" | "lan" | "corp" | "intranet"
    ) || second == "example"
        || matches!((second, top), ("test", "com"))
    {
        return Domain::Reserved;
    }
    let own = second.starts_with("your") || second.starts_with("my-") || second.ends_with("domain");
    let named = matches!(
        second,
        "domain"
            | "mydomain"
            | "yourdomain"
            | "mycompany"
            | "foo"
            | "bar"
            | "baz"
            | "foobar"
            | "xxx"
            | "xyz"
            | "abc"
            | "somewhere"
            | "whatever"
            | "placeholder"
            | "anydomain"
            | "acme-corp"
    );
    if own || named && matches!(top, "com" | "org" | "net" | "tld" | "io" | "local") {
        return Domain::Placeholder;
    }
    Domain::Usual
}

/// Real domains that stand for any in examples, where the local part does so too.
const GENERIC_DOMAINS: &[&str] = &[
    "company.com",
    "provider.com",
    "organization.com",
    "service.com",
    "email.com",
    "mail.com",
    "gmail.com",
    "test.de",
    "acme.com",
    "site.com",
    "host.com",
    "doe.com",
    "test.org",
    "app.com",
    "corp.com",
    "org.com",
    "demo.com",
];

/// Words that stand for any person or any office.
static GENERIC: WordList = WordList::new(&[
    "abuse",
    "account",
    "accounts",
    "address",
    "admin",
    "administrator",
    "alerts",
    "alice",
    "all",
    "any",
    "anyone",
    "api",
    "app",
    "author",
    "backup",
    "billing",
    "bob",
    "bot",
    "buyer",
    "candidate",
    "carol",
    "charlie",
    "client",
    "company",
    "contact",
    "contributor",
    "customer",
    "dave",
    "demo",
    "dev",
    "developer",
    "devnull",
    "doe",
    "dummy",
    "editor",
    "email",
    "employee",
    "enquiries",
    "eve",
    "example",
    "existing",
    "expired",
    "fake",
    "feedback",
    "first",
    "firstname",
    "foo",
    "foobar",
    "friend",
    "from",
    "guest",
    "hello",
    "help",
    "helpdesk",
    "hi",
    "host",
    "hostmaster",
    "info",
    "inquiries",
    "invalid",
    "invitee",
    "jane",
    "janedoe",
    "jdoe",
    "joe",
    "john",
    "johndoe",
    "last",
    "lastname",
    "legal",
    "login",
    "mail",
    "maintainer",
    "maintainers",
    "manager",
    "marketing",
    "me",
    "member",
    "members",
    "missing",
    "mock",
    "moderator",
    "myemail",
    "myname",
    "name",
    "new",
    "news",
    "newsletter",
    "notifications",
    "office",
    "old",
    "operator",
    "ops",
    "orders",
    "other",
    "owner",
    "partner",
    "person",
    "postmaster",
    "press",
    "primary",
    "privacy",
    "random",
    "reader",
    "receiver",
    "recipient",
    "registered",
    "reporter",
    "reviewer",
    "root",
    "sales",
    "sample",
    "secondary",
    "security",
    "seller",
    "sender",
    "service",
    "services",
    "signup",
    "some",
    "somebody",
    "someone",
    "staff",
    "student",
    "subscriber",
    "subscribers",
    "support",
    "surname",
    "sysadmin",
    "system",
    "target",
    "teacher",
    "team",
    "test",
    "tester",
    "testing",
    "unknown",
    "unverified",
    "user",
    "username",
    "users",
    "valid",
    "verified",
    "viewer",
    "visitor",
    "webmaster",
    "wrong",
    "you",
    "your",
    "youremail",
    "yourname",
]);

/// Whether every part of `local` is such a word: `test.user1`, `john.doe`, `first_last`.
fn is_generic(local: &str) -> bool {
    let head = local.split('+').next().unwrap_or(local);
    head.split(['.', '_', '-']).all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() < 2 || GENERIC.has(word) || matches!(word, "bar" | "baz" | "qux")
    })
}

/// Whether `local` looks like one person's: `jensen37`, `stephanie.moore`, `qjackson`.
fn looks_personal(local: &str) -> bool {
    if is_generic(local) {
        return false;
    }
    let letters = local.bytes().filter(|b| !b.is_ascii_digit()).count();
    let digits = local.len() - letters;
    if digits > 0 && letters >= 4 && local.ends_with(|c: char| c.is_ascii_digit()) {
        return digits <= 4;
    }
    let mut parts = local.split(['.', '_', '-']);
    if let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) {
        let named = |part: &str| {
            part.len() >= 2
                && part.bytes().all(|b| b.is_ascii_alphabetic() || b >= 0x80)
                && !GENERIC.has(part)
        };
        return named(second) && (first.len() == 1 || named(first));
    }
    // An initial and a surname: two consonants that no word begins with.
    let bytes = local.as_bytes();
    let consonant = |b: u8| b.is_ascii_lowercase() && !b"aeiouy".contains(&b);
    let [first, second, third, ..] = bytes else { return false };
    let onset = [*first, *second];
    bytes.len() >= 5
        && consonant(*first)
        && consonant(*second)
        && !ONSETS.contains(&&onset)
        && (!consonant(*third) || bytes.len() >= 6)
        && bytes.iter().all(u8::is_ascii_lowercase)
        && bytes.iter().any(|b| b"aeiouy".contains(b))
}

/// The pairs of consonants that words and product names begin with.
const ONSETS: &[&[u8; 2]] = &[
    b"bl", b"br", b"ch", b"cl", b"cr", b"db", b"dr", b"dw", b"fl", b"fr", b"gh", b"gl", b"gn",
    b"gr", b"hr", b"kh", b"kl", b"kn", b"kr", b"ml", b"ph", b"pl", b"pr", b"ps", b"sc", b"sh",
    b"sk", b"sl", b"sm", b"sn", b"sp", b"sq", b"st", b"sv", b"sw", b"th", b"tr", b"ts", b"tw",
    b"vl", b"wh", b"wr", b"np", b"py", b"rs", b"js", b"ns", b"mx", b"dn", b"ft", b"ht", b"ss",
    b"tl", b"vp", b"vm", b"gp",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(GENERIC.has("webmaster"));
    }
}
