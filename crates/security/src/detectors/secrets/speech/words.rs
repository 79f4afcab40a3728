//! What prose calls a secret, and the words that stand between that and the secret, in many languages.

use crate::detectors::words::{Beginnings, WordList, sorted};

/// What is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Noun {
    /// A password.
    Password,
    /// What opens an account: a user's name and a password.
    Login,
    /// A key, token or secret: made by chance.
    Key,
    /// A few digits that open a thing.
    Pin,
    /// A code that is good for once.
    Code,
    /// Codes for who has lost the second factor.
    Codes,
    /// The words that a wallet is made from.
    Phrase,
}

/// Words for passwords, as endings: German and its relatives join words.
const PASSWORDS: &[&str] = &[
    "password",
    "passwords",
    "passwort",
    "kennwort",
    "wachtwoord",
    "passord",
    "adgangskode",
    "lösenord",
    "losenord",
    "passcode",
    "passphrase",
    "passwd",
    "pword",
    "parole",
];
/// The same as whole words.
const WHOLE_PASSWORDS: &[&str] = &["pw", "pwd", "pws", "mdp", "clave", "mot-de-passe"];
/// The same as beginnings: other languages bend the ends of their words.
static PASSWORD_STEMS: Beginnings = Beginnings::new(&[
    "contraseñ",
    "contrasen",
    "senha",
    "hesl",
    "salasan",
    "jelsz",
    "parola",
    "şifre",
    "sifre",
    "hasł",
    "haslo",
    "passord",
    "adgangskod",
    "lösenord",
    "losenord",
    "парол",
    "гасл",
    "κωδικ",
    "passwört",
]);

/// What makes a key one that opens something, before the word for it.
static OPENERS: WordList = WordList::new(&sorted([
    "access",
    "account",
    "activation",
    "admin",
    "api",
    "app",
    "auth",
    "authentication",
    "authenticator",
    "client",
    "decryption",
    "deploy",
    "encryption",
    "integration",
    "licence",
    "license",
    "master",
    "network",
    "private",
    "prod",
    "product",
    "production",
    "secret",
    "security",
    "serial",
    "service",
    "setup",
    "shared",
    "signing",
    "software",
    "staging",
    "steam",
    "test",
    "totp",
    "wallet",
    "wifi",
    "windows",
    "wpa",
    "wpa2",
    "write",
]));

/// What the name `start..end` of `text` is called in prose, if it is no name of code.
pub(super) fn noun(text: &str, start: usize, end: usize) -> Option<Noun> {
    let name = text.get(start..end).filter(|name| name.len() <= 40)?;
    if name.contains('_') || name.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let last = name.rsplit('-').next().unwrap_or(name);
    let is_hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    if last.as_bytes().windows(2).any(is_hump) {
        return None;
    }
    let last = last.to_lowercase();
    let word = last.as_str();
    if WHOLE_PASSWORDS.contains(&word)
        || PASSWORDS.iter().any(|end| word.ends_with(end))
        || PASSWORD_STEMS.begin(word)
        || word == "passe" && text[..start].ends_with("de ")
    {
        return Some(Noun::Password);
    }
    match word {
        "credentials" | "credential" | "creds" | "cred" => Some(Noun::Login),
        "token" | "secret" => Some(Noun::Key),
        "key" | "apikey" => {
            let name = name.to_lowercase();
            let is_said_within = name.strip_suffix("key").is_some_and(|before| {
                let before = before.trim_end_matches('-').rsplit('-').next().unwrap_or_default();
                OPENERS.has(before)
            });
            let before = text[..start].trim_end_matches(' ');
            let before = before.rsplit([' ', '\n', '(', '*']).next().unwrap_or_default();
            let is_opener = before.len() <= 16 && OPENERS.has(&before.to_lowercase());
            (is_said_within || is_opener).then_some(Noun::Key)
        }
        _ => None,
    }
}

/// Words right before a value: "is", and what is told to be done with it.
static SAYING: WordList = WordList::new(&sorted([
    // Also of other languages where they read alike.
    "is",
    "it's",
    "it’s",
    "its",
    "was",
    "be",
    "now",
    "as",
    "enter",
    "entered",
    "type",
    "typed",
    "typing",
    "use",
    "used",
    "using",
    "try",
    "tried",
    "called",
    "still",
    "equals",
    "reads",
    "say",
    "says",
    // German, Dutch
    "ist",
    "lautet",
    "lautete",
    "war",
    "nun",
    "jetzt",
    "nimm",
    "nehmt",
    "noch",
    "wordt",
    "nu",
    "luidt",
    // French, Spanish, Portuguese, Italian
    "est",
    "c'est",
    "c’est",
    "était",
    "es",
    "era",
    "será",
    "é",
    "è",
    "adesso",
    "ora",
    "ahora",
    "agora",
    "sera",
    // Polish, Czech, Hungarian, Turkish
    "jest",
    "to",
    "brzmi",
    "je",
    "byl",
    "bylo",
    "zní",
    "az",
    "a",
    "lett",
    "olarak",
    "şu",
    "teraz",
    "nyní",
    // Swedish, Danish, Norwegian, Finnish
    "är",
    "er",
    "blir",
    "heter",
    "on",
    "oli",
    // Russian, Ukrainian, Greek, Arabic, Hindi
    "это",
    "такой",
    "є",
    "це",
    "είναι",
    "هي",
    "هو",
    "है",
    "теперь",
    "тепер",
    "-",
    "–",
    "—",
    "→",
    "->",
    "/",
    ":",
    "：",
]));

/// Words right before what a secret was changed to or from.
static CHANGING: WordList = WordList::new(&sorted([
    "to", "from", "auf", "von", "in", "zu", "para", "por", "a", "à", "en", "de", "naar", "van",
    "na", "z", "till", "til", "fra", "från", "su", "da", "с", "на", "σε",
]));
/// Beginnings of words that say that it was changed.
static CHANGES: Beginnings = Beginnings::new(&[
    "chang",
    "reset",
    "set",
    "updat",
    "rotat",
    "switch",
    "geänd",
    "änder",
    "gesetzt",
    "zurückges",
    "gewijzigd",
    "veranderd",
    "aangepast",
    "mudou",
    "mudei",
    "mudad",
    "alter",
    "cambi",
    "modif",
    "zmien",
    "změn",
    "ändra",
    "ændre",
    "endre",
    "vaihd",
    "muut",
    "módos",
    "değiş",
    "измен",
    "смен",
    "поменя",
    "зміни",
    "άλλαξ",
    "troc",
]);

/// What stands before an example, which opens nothing.
static EXAMPLES: WordList = WordList::new(&sorted([
    "like", "such", "e.g", "eg", "example", "beispiel", "exemple", "ejemplo", "exemplo", "esempio",
    "z.b",
]));

/// Whether what follows `word` is said to be the value.
pub(super) fn is_saying(word: &str) -> bool {
    SAYING.has(word)
}

pub(super) fn is_changing(word: &str) -> bool {
    CHANGING.has(word)
}

pub(super) fn is_change(word: &str) -> bool {
    CHANGES.begin(word)
}

pub(super) fn is_example(word: &str) -> bool {
    EXAMPLES.has(word)
}

/// Words between a value and the noun behind it: "use … as the password".
pub(super) fn is_joining(word: &str) -> bool {
    static JOINING: WordList = WordList::new(&sorted([
        "as", "als", "comme", "como", "come", "som", "jako", "is", "ist", "est", "es", "é", "è",
        "wie",
    ]));
    JOINING.has(word)
}

/// Articles and the like, which may stand before a noun.
pub(super) fn is_article(word: &str) -> bool {
    static ARTICLES: WordList = WordList::new(&sorted([
        "the", "a", "your", "my", "our", "new", "old", "their", "root", "admin", "wifi", "login",
        "das", "dein", "ihr", "mein", "neues", "le", "la", "mot", "de", "votre", "ton", "el", "su",
        "tu", "o", "sua", "het", "je",
    ]));
    ARTICLES.has(word)
}
