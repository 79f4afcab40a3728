//! Addresses that belong to nobody: placeholders, samples, senders that nobody reads.

use super::domains::Domain;
use crate::detectors::words::WordList;

/// The parts of an address in small letters.
struct Parts<'a> {
    local: &'a [u8],
    /// Its domain, the last label of this, and the one before.
    domain: &'a [u8],
    top: &'a [u8],
    second: &'a [u8],
}

/// Whether the address whose local part starts at `start` is nobody's.
pub(super) fn is_nobody(bytes: &[u8], start: usize, at: usize, domain: Domain) -> bool {
    const LONGEST: usize = 64;
    if at - start > LONGEST || domain.end - (at + 1) > LONGEST {
        return false;
    }
    let parts = |address: &[u8], start: usize| {
        let part = |from: usize, to: usize| &address[from - start..to - start];
        is_nobodys(&Parts {
            local: part(start, at),
            domain: part(at + 1, domain.end),
            top: part(domain.top, domain.end),
            second: part(domain.second, domain.top - 1),
        })
    };
    let written = &bytes[start..domain.end];
    if !written.iter().fold(false, |any, byte| any | byte.is_ascii_uppercase()) {
        return parts(written, start);
    }
    let mut lower = [0; 2 * LONGEST + 1];
    let lower = &mut lower[..written.len()];
    lower.copy_from_slice(written);
    lower.make_ascii_lowercase();
    parts(lower, start)
}

fn is_nobodys(parts: &Parts<'_>) -> bool {
    let Parts { local, domain, .. } = *parts;
    let is_code = || {
        matches!(
            local,
            b"return"
                | b"this"
                | b"super"
                | b"break"
                | b"continue"
                | b"self"
                | b"s"
                | b"%s"
                | b"%d"
        )
    };
    if is_unread(local) || local.len() == 1 && domain[1] == b'.' || is_code() {
        return true;
    }
    match class(parts) {
        // Made for documents, yet generated people live there too: only what looks like one person.
        Class::Reserved => !looks_personal(local),
        Class::Placeholder => true,
        Class::Usual => GENERIC_DOMAINS.has_bytes(domain) && is_generic(local),
    }
}

/// Senders whose mail nobody answers.
fn is_unread(local: &[u8]) -> bool {
    let compact = || local.iter().filter(|b| b.is_ascii_alphanumeric());
    // Most begin with another letter.
    if !matches!(compact().next(), Some(b'n' | b'd' | b'm')) {
        return false;
    }
    ["noreply", "donotreply", "mailerdaemon", "nobody"].iter().any(|name| {
        let mut letters = compact();
        name.bytes().all(|letter| letters.next() == Some(&letter))
    })
}

/// What a domain says about whose the address is.
enum Class {
    /// RFC 2606, RFC 6761, and networks' own names.
    Reserved,
    /// Names that only stand for one's own.
    Placeholder,
    Usual,
}

fn class(parts: &Parts<'_>) -> Class {
    let Parts { top, second, .. } = *parts;
    if matches!(
        top,
        b"example"
            | b"test"
            | b"invalid"
            | b"localhost"
            | b"local"
            | b"lan"
            | b"corp"
            | b"intranet"
    ) || matches!(second, b"example")
        || matches!((second, top), (b"test", b"com"))
    {
        return Class::Reserved;
    }
    let own =
        second.starts_with(b"your") || second.starts_with(b"my-") || second.ends_with(b"domain");
    let named = || {
        matches!(top, b"com" | b"org" | b"net" | b"tld" | b"io" | b"local")
            && STAND_INS.has_bytes(second)
    };
    if own || named() { Class::Placeholder } else { Class::Usual }
}

/// Names of domains that stand for any.
static STAND_INS: WordList = WordList::new(&[
    "abc",
    "acme-corp",
    "anydomain",
    "bar",
    "baz",
    "domain",
    "foo",
    "foobar",
    "mycompany",
    "mydomain",
    "placeholder",
    "somewhere",
    "whatever",
    "xxx",
    "xyz",
    "yourdomain",
]);

/// Real domains that stand for any in examples, where the local part does so too.
static GENERIC_DOMAINS: WordList = WordList::new(&[
    "acme.com",
    "app.com",
    "company.com",
    "corp.com",
    "demo.com",
    "doe.com",
    "email.com",
    "gmail.com",
    "host.com",
    "mail.com",
    "org.com",
    "organization.com",
    "provider.com",
    "service.com",
    "site.com",
    "test.de",
    "test.org",
]);

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
fn is_generic(local: &[u8]) -> bool {
    // What follows a plus is for whoever reads the mail.
    let mut named = local.split(|byte| *byte == b'+');
    let mut words =
        named.next().unwrap_or_default().split(|byte| matches!(byte, b'.' | b'_' | b'-'));
    words.all(|word| {
        let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let word = &word[..word.len() - digits];
        word.len() < 2 || GENERIC.has_bytes(word) || matches!(word, b"bar" | b"baz" | b"qux")
    })
}

/// Whether `local` looks like one person's: `jensen37`, `stephanie.moore`, `qjackson`.
fn looks_personal(local: &[u8]) -> bool {
    let letters = local.iter().filter(|b| !b.is_ascii_digit()).count();
    let digits = local.len() - letters;
    let is_numbered = digits > 0 && letters >= 4 && local.last().is_some_and(u8::is_ascii_digit);
    if is_numbered && digits > 4 || is_generic(local) {
        return false;
    }
    if is_numbered {
        return true;
    }
    let mut parts = local.split(|byte| matches!(byte, b'.' | b'_' | b'-'));
    if let (Some(first), Some(second), None) = (parts.next(), parts.next(), parts.next()) {
        let named = |part: &[u8]| {
            part.len() >= 2
                && part.iter().all(|b| b.is_ascii_alphabetic() || *b >= 0x80)
                && !GENERIC.has_bytes(part)
        };
        return named(second) && (first.len() == 1 || named(first));
    }
    // An initial and a surname: two consonants that no word begins with.
    let consonant = |b: u8| b.is_ascii_lowercase() && !b"aeiouy".contains(&b);
    let [first, second, third, ..] = local else { return false };
    let onset = [*first, *second];
    local.len() >= 5
        && consonant(*first)
        && consonant(*second)
        && !ONSETS.contains(&&onset)
        && (!consonant(*third) || local.len() >= 6)
        && local.iter().all(u8::is_ascii_lowercase)
        && local.iter().any(|b| b"aeiouy".contains(b))
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
