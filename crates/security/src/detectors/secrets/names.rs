//! What a name says about the value that it is given: `DB_PASSWORD`, `apiKey`, `tokenUrl`.
//!
//! A name is a row of words. Its last word counts, behind qualifiers such as `value` or `prod`:
//! `passwordHash` and `secret_name` hold no secret, `client_secret_value` does.

use super::owners;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A password, made by a person: any shape.
    Password,
    /// A secret or token: mostly made by chance.
    Secret,
    /// A key, which may as well be a map's.
    Key,
}

/// How many words of a name are looked at, from its end.
const WORDS: usize = 8;

/// The words of a name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words<'a> {
    words: [&'a str; WORDS],
    len: usize,
}

impl<'a> Words<'a> {
    /// Splits at joints, at changes of case (`apiKey`, `APIKey`) and before digits' groups.
    pub(super) fn of(name: &'a str) -> Self {
        let bytes = name.as_bytes();
        let mut words = Self { words: [""; WORDS], len: 0 };
        let mut end = bytes.len();
        while end > 0 && words.len < WORDS {
            if is_joint(bytes[end - 1]) {
                end -= 1;
                continue;
            }
            let mut start = end - 1;
            while start > 0 && !is_joint(bytes[start - 1]) && !is_seam(bytes, start, end) {
                start -= 1;
            }
            while !name.is_char_boundary(start) {
                start -= 1;
            }
            words.words[words.len] = &name[start..end];
            words.len += 1;
            end = start;
        }
        words
    }

    /// The words, from the last to the first.
    pub(super) fn backwards(&self) -> &[&'a str] {
        &self.words[..self.len]
    }

    /// Whether it ends in a word for a password.
    pub(super) fn has_password(&self) -> bool {
        self.backwards().first().is_some_and(|last| role(last) & PASSWORD != 0)
    }
}

fn is_joint(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric() && byte < 0x80
}

/// Whether a new word begins at `at`.
fn is_seam(bytes: &[u8], at: usize, end: usize) -> bool {
    let (before, here) = (bytes[at - 1], bytes[at]);
    let next = bytes.get(at + 1).filter(|_| at + 1 < end);
    (here.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()))
        || (here.is_ascii_uppercase()
            && before.is_ascii_uppercase()
            && next.is_some_and(u8::is_ascii_lowercase))
        || (here.is_ascii_digit() && !before.is_ascii_digit())
}

/// What the words of a name promise, if anything. `outer` is the word before the name in prose
/// ("the api key").
pub(super) fn promise(words: &Words<'_>, outer: Option<&str>) -> Option<Promise> {
    let backwards = words.backwards();
    let mut rest = backwards;
    while let Some((last, before)) = rest.split_first() {
        let is_qualifier = || last.as_bytes()[0].is_ascii_digit() || role(last) & BEHIND != 0;
        if before.is_empty() || !is_qualifier() {
            break;
        }
        rest = before;
    }
    let (last, before) = rest.split_first()?;
    let of_last = role(last);
    let of_previous = before.first().copied().or(outer).map_or(0, role);
    // `key_phrase`, `secretPhrase`
    let is_phrase = of_last & PHRASE != 0 && of_previous & (OPENS | SECRET | KEY | PASSWORD) != 0;
    let is_password = of_last & PASSWORD != 0 || is_phrase || owners::ends_in_pass(last);
    let promise = if is_password || ends_with(last, PASSWORD_ENDS) {
        Promise::Password
    } else if of_last & SECRET != 0 || ends_with(last, SECRET_ENDS) || owners::is_opening_key(last)
    {
        Promise::Secret
    } else if of_last & KEY != 0 {
        Promise::Key
    } else {
        return None;
    };
    if of_previous & DENIES != 0 || before.iter().any(|word| role(word) & DENIES_ALL != 0) {
        return None;
    }
    let opens = || (of_previous | before.get(1).map_or(0, |word| role(word))) & OPENS != 0;
    if promise == Promise::Key && opens() {
        // What both sides of a line were told is chosen by people.
        let is = |word: Option<&&str>, other: &str| {
            word.is_some_and(|word| word.eq_ignore_ascii_case(other))
        };
        let is_preshared = is(before.first(), "preshared")
            || is(before.first(), "shared") && is(before.get(1), "pre");
        return Some(if is_preshared { Promise::Password } else { Promise::Secret });
    }
    Some(promise)
}

/// What a word does in a name.
pub(super) fn role(word: &str) -> Roles {
    let mut folded = [0; 24];
    let Some(folded) = folded.get_mut(..word.len()) else { return 0 };
    folded.copy_from_slice(word.as_bytes());
    folded.make_ascii_lowercase();
    let Some(first) = folded.first() else { return 0 };
    let slot = usize::from(*first);
    let words = &ROLES[FIRST[slot]..FIRST[slot + 1]];
    // Comparing words of one length is a call; few end alike as well.
    let is_like = |word: &[u8]| word.len() == folded.len() && word.last() == folded.last();
    let found =
        words.iter().find(|(word, _)| is_like(word.as_bytes()) && word.as_bytes() == folded);
    found.map_or(0, |(_, roles)| *roles)
}

/// Where the words that begin with each byte begin.
static FIRST: [usize; 257] = {
    let mut first = [0; 257];
    let (mut byte, mut i) = (0, 0);
    while byte < 256 {
        first[byte] = i;
        while i < ROLES.len() && ROLES[i].0.as_bytes()[0] as usize == byte {
            i += 1;
        }
        byte += 1;
    }
    first[256] = ROLES.len();
    first
};

fn ends_with(word: &str, ends: &[&str]) -> bool {
    let last = word.as_bytes().last().map_or(0, u8::to_ascii_lowercase);
    ends.iter().any(|end| {
        word.len() >= end.len() && end.as_bytes().last() == Some(&last) && {
            let tail = &word.as_bytes()[word.len() - end.len()..];
            tail.eq_ignore_ascii_case(end.as_bytes())
        }
    })
}

/// Endings of words that are written together: `dbpassword`, `clientsecret`.
const PASSWORD_ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "kennwort",
    "requirepass",
    "masterauth",
    "passin",
    "passout",
    "pw",
    "pwd",
    "contraseña",
    "密码",
    "密碼",
    "пароль",
];
/// The same for secrets.
const SECRET_ENDS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "accountkey",
    "authkey",
    "appkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "licensekey",
    "salt",
];

/// What a word does in a name: a set of the following.
pub(super) type Roles = u8;
/// A password.
pub(super) const PASSWORD: Roles = 1;
/// A secret or token.
pub(super) const SECRET: Roles = 2;
/// A key.
pub(super) const KEY: Roles = 4;
/// Before a key, makes it one that opens something.
pub(super) const OPENS: Roles = 8;
/// Behind the word that counts.
const BEHIND: Roles = 16;
/// Before the word that counts, takes its promise back.
pub(super) const DENIES: Roles = 32;
/// The same anywhere before it.
pub(super) const DENIES_ALL: Roles = 64;
/// Words that open something, behind a word that says so.
const PHRASE: Roles = 128;

/// Sorted.
#[rustfmt::skip]
const ROLES: &[(&str, Roles)] = &[
    ("access", OPENS),
    ("accesskey", SECRET),
    ("account", OPENS),
    ("accountkey", SECRET),
    ("adgangskode", PASSWORD),
    ("admin", OPENS | BEHIND),
    ("aes", OPENS),
    ("again", BEHIND),
    ("agent", OPENS),
    ("answer", DENIES),
    ("api", OPENS),
    ("apikey", SECRET),
    ("apitoken", SECRET),
    ("app", OPENS),
    ("appkey", SECRET),
    ("application", OPENS),
    ("arrow", DENIES),
    ("auth", SECRET | OPENS),
    ("authentication", OPENS),
    ("authenticity", DENIES),
    ("authkey", SECRET),
    ("authorization", SECRET),
    ("authtok", PASSWORD),
    ("authtoken", SECRET),
    ("b64", BEHIND),
    ("backup", BEHIND),
    ("base", BEHIND),
    ("base64", BEHIND),
    ("bearer", SECRET),
    ("bind", OPENS),
    ("boot", OPENS),
    ("bos", DENIES),
    ("bot", OPENS),
    ("bucket", DENIES),
    ("by", DENIES),
    ("bypass", DENIES),
    ("cache", DENIES),
    ("cancel", DENIES),
    ("cancellation", DENIES),
    ("chap", OPENS),
    ("checksum", DENIES),
    ("cipher", OPENS),
    ("clave", PASSWORD),
    ("client", OPENS),
    ("cluster", OPENS),
    ("collector", OPENS),
    ("column", DENIES),
    ("community", SECRET),
    ("completion", DENIES),
    ("confirm", BEHIND),
    ("confirmation", BEHIND),
    ("const", BEHIND),
    ("consumer", OPENS),
    ("continuation", DENIES),
    ("contrasena", PASSWORD),
    ("contraseña", PASSWORD),
    ("cookie", OPENS),
    ("cred", SECRET),
    ("credential", SECRET),
    ("credentials", SECRET),
    ("creds", SECRET),
    ("crypt", OPENS),
    ("crypto", OPENS),
    ("csrf", DENIES | DENIES_ALL),
    ("current", BEHIND),
    ("cursor", DENIES),
    ("data", BEHIND),
    ("db", BEHIND),
    ("decrypt", OPENS),
    ("decryption", OPENS),
    ("default", BEHIND),
    ("deploy", OPENS),
    ("deployment", OPENS),
    ("dev", BEHIND),
    ("development", BEHIND),
    ("device", OPENS),
    ("dict", DENIES),
    ("digest", OPENS),
    ("dockerconfigjson", SECRET),
    ("encoded", BEHIND),
    ("encrypt", OPENS),
    ("encrypted", OPENS),
    ("encryption", OPENS),
    ("encryptionkey", SECRET),
    ("env", BEHIND),
    ("eos", DENIES),
    ("eu", BEHIND),
    ("external", BEHIND),
    ("fallback", BEHIND),
    ("fernet", OPENS),
    ("for", BEHIND),
    ("foreign", DENIES),
    ("forgot", DENIES),
    ("function", OPENS),
    ("gateway", OPENS),
    ("geheimnis", SECRET),
    ("group", DENIES),
    ("has", DENIES),
    ("hash", DENIES),
    ("hashed", DENIES | DENIES_ALL),
    ("haslo", PASSWORD),
    ("hasło", PASSWORD),
    ("heslo", PASSWORD),
    ("hex", BEHIND),
    ("hide", DENIES),
    ("hmac", OPENS),
    ("hmackey", SECRET),
    ("host", OPENS),
    ("hot", DENIES),
    ("i18n", DENIES),
    ("idempotency", DENIES),
    ("ike", OPENS),
    ("incorrect", DENIES),
    ("index", DENIES),
    ("ingest", OPENS),
    ("ingestion", OPENS),
    ("input", DENIES),
    ("instrumentation", OPENS),
    ("integration", OPENS),
    ("internal", BEHIND),
    ("invalid", DENIES),
    ("ipsec", OPENS),
    ("is", DENIES),
    ("isakmp", OPENS),
    ("jelszo", PASSWORD),
    ("jelszó", PASSWORD),
    ("join", DENIES),
    ("jwt", SECRET | OPENS),
    ("kaggle", OPENS),
    ("kennwort", PASSWORD),
    ("key", KEY),
    ("keyboard", DENIES),
    ("keys", KEY),
    ("lex", DENIES),
    ("licence", OPENS),
    ("license", OPENS),
    ("literal", BEHIND),
    ("live", BEHIND),
    ("local", BEHIND),
    ("lookup", DENIES),
    ("losenord", PASSWORD),
    ("lösenord", PASSWORD),
    ("machine", OPENS),
    ("main", BEHIND),
    ("map", DENIES),
    ("mask", DENIES),
    ("master", OPENS | BEHIND),
    ("masterkey", SECRET),
    ("max", DENIES),
    ("md5", BEHIND),
    ("mdp", PASSWORD),
    ("merchant", OPENS),
    ("min", DENIES),
    ("missing", DENIES),
    ("motdepasse", PASSWORD),
    ("needs", DENIES),
    ("new", BEHIND),
    ("next", DENIES),
    ("no", DENIES),
    ("nonce", OPENS),
    ("num", DENIES),
    ("object", DENIES),
    ("old", BEHIND),
    ("one", DENIES),
    ("org", OPENS),
    ("otp", OPENS),
    ("output", DENIES),
    ("override", BEHIND),
    ("pad", DENIES),
    ("page", DENIES),
    ("parola", PASSWORD),
    ("parse", DENIES),
    ("partition", DENIES),
    ("pass", PASSWORD),
    ("passcode", PASSWORD),
    ("passe", PASSWORD),
    ("passord", PASSWORD),
    ("passphrase", PASSWORD | OPENS),
    ("passw", PASSWORD),
    ("passwd", PASSWORD),
    ("password", PASSWORD),
    ("passwords", PASSWORD),
    ("passwort", PASSWORD),
    ("pat", SECRET),
    ("pepper", SECRET),
    ("phrase", PHRASE),
    ("placeholder", DENIES_ALL),
    ("plain", BEHIND),
    ("plaintext", BEHIND),
    ("pre", OPENS),
    ("preshared", OPENS),
    ("press", DENIES),
    ("primary", BEHIND | DENIES),
    ("private", OPENS),
    ("privatekey", SECRET),
    ("prod", BEHIND),
    ("production", BEHIND),
    ("project", OPENS),
    ("prompt", DENIES),
    ("psk", PASSWORD | OPENS),
    ("psw", PASSWORD),
    ("pswd", PASSWORD),
    ("pub", DENIES),
    ("public", DENIES | DENIES_ALL),
    ("publishable", DENIES),
    ("push", OPENS),
    ("pw", PASSWORD),
    ("pwd", PASSWORD),
    ("pword", PASSWORD),
    ("query", DENIES),
    ("radius", OPENS),
    ("raw", BEHIND),
    ("react", DENIES),
    ("read", OPENS),
    ("registry", DENIES),
    ("repeat", BEHIND),
    ("require", DENIES),
    ("requirepass", SECRET),
    ("requires", DENIES),
    ("rest", OPENS),
    ("rndc", OPENS),
    ("root", OPENS | BEHIND),
    ("route", DENIES),
    ("routing", OPENS),
    ("row", DENIES),
    ("rsa", OPENS),
    ("s3", DENIES),
    ("salasana", PASSWORD),
    ("salt", SECRET | OPENS),
    ("sandbox", BEHIND),
    ("sas", SECRET),
    ("sasl", OPENS),
    ("schema", DENIES),
    ("sdk", OPENS),
    ("secondary", BEHIND),
    ("secret", SECRET | OPENS),
    ("secretkey", SECRET),
    ("secrets", SECRET),
    ("security", OPENS),
    ("sendgrid", OPENS),
    ("senha", PASSWORD),
    ("sequence", DENIES),
    ("server", OPENS),
    ("serverkey", SECRET),
    ("service", OPENS),
    ("session", OPENS),
    ("sessionkey", SECRET),
    ("shared", OPENS),
    ("sharedaccesskey", SECRET),
    ("show", DENIES),
    ("siem", OPENS),
    ("sifre", PASSWORD),
    ("sign", OPENS),
    ("signature", OPENS),
    ("signing", OPENS),
    ("signingkey", SECRET),
    ("site", DENIES),
    ("sort", DENIES),
    ("special", DENIES),
    ("ssh", OPENS),
    ("ssl", DENIES),
    ("stage", BEHIND),
    ("staging", BEHIND),
    ("steam", OPENS),
    ("stop", DENIES),
    ("storage", OPENS),
    ("str", BEHIND),
    ("string", BEHIND),
    ("subscription", OPENS),
    ("sync", DENIES),
    ("tacacs", OPENS),
    ("test", BEHIND),
    ("testing", BEHIND),
    ("text", BEHIND),
    ("tls", OPENS),
    ("token", SECRET | OPENS),
    ("tokens", SECRET),
    ("too", BEHIND),
    ("total", DENIES),
    ("totp", OPENS),
    ("translation", DENIES),
    ("tsig", OPENS),
    ("unk", DENIES),
    ("us", BEHIND),
    ("use", DENIES),
    ("user", OPENS | BEHIND),
    ("v", BEHIND),
    ("val", BEHIND),
    ("value", BEHIND),
    ("values", BEHIND),
    ("vapid", OPENS),
    ("verify", DENIES),
    ("vpn", OPENS),
    ("wachtwoord", PASSWORD),
    ("wallet", OPENS),
    ("webhook", OPENS),
    ("wep", OPENS),
    ("wg", OPENS),
    ("wireguard", OPENS),
    ("word", DENIES),
    ("wpa", OPENS),
    ("write", OPENS),
    ("wrong", DENIES),
    ("xsrf", DENIES | DENIES_ALL),
    ("şifre", PASSWORD),
    ("пароль", PASSWORD),
    ("パスワード", PASSWORD),
    ("密码", PASSWORD),
    ("密碼", PASSWORD),
    ("비밀번호", PASSWORD),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(ROLES.is_sorted_by_key(|(word, _)| word.as_bytes()));
    }

    #[test]
    fn names_promise_by_their_last_word() {
        for (name, expected) in [
            ("DB_PASSWORD", Some(Promise::Password)),
            ("setPassword", Some(Promise::Password)),
            ("dbpassword", Some(Promise::Password)),
            ("smtp.pass", Some(Promise::Password)),
            ("PASSWORD_2", Some(Promise::Password)),
            ("bypass", None),
            ("compass", None),
            ("passport", None),
            ("passwordHash", None),
            ("password_length", None),
            ("hashedPassword", None),
            ("clientSecret", Some(Promise::Secret)),
            ("client_secret_value", Some(Promise::Secret)),
            ("APIKey", Some(Promise::Secret)),
            ("X-Api-Key", Some(Promise::Secret)),
            ("aws_secret_access_key", Some(Promise::Secret)),
            ("secretName", None),
            ("tokenUrl", None),
            ("max_tokens", None),
            ("csrf_token", None),
            ("public_key", None),
            ("key", Some(Promise::Key)),
            ("sort_key", None),
            ("monkey", None),
            ("密码", Some(Promise::Password)),
        ] {
            assert_eq!(promise(&Words::of(name), None), expected, "{name}");
        }
        assert_eq!(promise(&Words::of("key"), Some("api")), Some(Promise::Secret));
    }
}
