//! What prose calls a secret, and the words that stand between that and the secret, in many languages.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

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
    /// What opens a wireless network.
    Network,
    /// A key, where it is said only that an interface is spoken of.
    Interface,
    /// A few digits that open a thing.
    Pin,
    /// A code that is good for once.
    Code,
    /// What codes for who has lost the second factor are called, before the word for codes.
    Codes,
    /// Such codes.
    CodeList,
    /// The words that a wallet is made from.
    Phrase,
}

/// Stems that are searched for all at once, in small letters.
pub(super) struct Stems(LazyLock<Option<AhoCorasick>>);

impl Stems {
    pub(super) const fn new(automaton: fn() -> Option<AhoCorasick>) -> Self {
        Self(LazyLock::new(automaton))
    }

    /// Whether `text` has one.
    fn are_in(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|automaton| automaton.is_match(text))
    }

    /// The index of each in `text` and where it begins, overlapping ones as well.
    pub(super) fn each(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        let found = self.0.iter().flat_map(move |all| all.find_overlapping_iter(text));
        found.map(|found| (found.pattern().as_usize(), found.start()))
    }
}

/// What it costs to search the words around one for stems.
pub(super) const COST_OF_STEMS: usize = 240;

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

/// What stands near a word for a key that opens a wireless network, in small letters.
#[rustfmt::skip]
const NETWORKS: &[&str] = &[
    "wifi", "wi-fi", "wlan", "wpa", "ssid", "wireless", "network", "netzwerk", "réseau", "sans fil",
    "red wifi", "nombre de red", "clave de red", "di rete", "de rede", "netwerk", "nätverk", "сети",
    "сеть", "мереж", "sieci", "sítě", "无线", "wps",
];

/// Whether the word `start..end` for a key is about a wireless network: right before or behind it, or in
/// the line above.
pub(super) fn is_of_network(text: &str, start: usize, end: usize) -> bool {
    /// How far before and behind it is read.
    const BEFORE: usize = 48;
    const BEHIND: usize = 20;
    static STEMS: Stems = Stems::new(|| AhoCorasick::new(NETWORKS).ok());
    if !super::has_digit(text.as_bytes(), end) {
        return false;
    }
    let from = text.ceil_char_boundary(start.saturating_sub(BEFORE));
    let to = text.floor_char_boundary(text.len().min(end + BEHIND));
    let behind = text[end..to].split([':', '\n', '.', ',']).next().unwrap_or_default();
    let around = [text[from..end].to_lowercase(), behind.to_lowercase()];
    around.iter().any(|part| STEMS.are_in(part))
}

/// What the name `start..end` of `text` is called in prose, if it is no name of code.
pub(super) fn noun(text: &str, start: usize, end: usize) -> Option<Noun> {
    let name = text.get(start..end).filter(|name| name.len() <= 40)?;
    // `checksum/secret` of what Helm writes.
    let is_digest = text[..start].ends_with("checksum/");
    if is_digest || name.contains('_') || name.bytes().any(|b| b.is_ascii_digit()) {
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
        "key" if is_of_network(text, start, end) => Some(Noun::Network),
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
    "будет",
    "буде",
    "е",
    "היא",
    "הוא",
    // Vietnamese, Indonesian, Romanian, Lithuanian, Thai
    "là",
    "adalah",
    "jadi",
    "este",
    "yra",
    "คือ",
    // What it became
    "ficou",
    "virou",
    "devient",
    "wurde",
    "werd",
    "blev",
    "ble",
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

/// Words right before the name of something that a secret is for.
static PREPOSITIONS: WordList = WordList::new(&sorted([
    "for", "of", "on", "at", "in", "from", "with", "by", "about", "against", "the", "this", "that",
    "für", "vom", "von", "auf", "zu", "zum", "zur", "bei", "im", "am", "an", "der", "die", "den",
    "dem", "des", "de", "du", "la", "le", "les", "sur", "pour", "au", "aux", "dans", "del", "el",
    "los", "en", "para", "por", "di", "do", "dos", "da", "no", "na", "em", "dello", "della", "per",
    "van", "voor", "op", "het", "bij", "od", "dla", "pro", "ke", "k", "w", "z", "u", "för", "till",
    "på", "av", "til", "til", "om", "от", "для", "на", "к", "в", "у", "с", "від", "до", "з", "за",
    "για", "από", "του", "της", "στο", "của", "cho", "untuk", "dari", "pada",
]));

/// Words of a label whose value is something else: `Request ID: …`, `Serial number: …`.
#[rustfmt::skip]
static OTHER_LABELS: WordList = WordList::new(&sorted([
    "id", "ids", "uuid", "guid", "serial", "number", "no", "nr", "nummer", "numéro", "número",
    "numero", "номер", "numer", "číslo", "sha", "sha1", "sha256", "md5", "hash", "fingerprint",
    "empreinte", "huella", "impronta", "fingerabdruck", "checksum", "digest", "certificate",
    "certificat", "zertifikat", "certificado", "version", "build", "commit", "revision", "ticket",
    "trace", "request", "ssid", "imei", "iccid", "model", "user", "username", "host", "hostname",
    "server", "url", "uri", "account", "benutzer", "utilisateur", "usuario", "utente", "gebruiker",
    "номера", "编号", "序列号", "番号", "s/n", "sn", "mac", "modell", "modèle", "modelo", "typ",
    "type", "seriennummer", "serienummer", "device", "gerät", "name", "netzwerkname", "wlan-name",
    "nom", "nombre", "nome", "gateway", "ip", "address", "adresse", "port", "firmware", "date",
    "datum", "order", "kundennummer", "rechnungsnummer", "invoice", "case", "contract", "ref",
    "reference", "référence", "referencia", "tenant", "client", "subscription", "имя", "модель",
    "序号", "型号", "型番",
]));

/// Whether what follows `word` is what a secret is for.
pub(super) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.has(word)
}

/// Whether `word` joins a user to the password.
pub(super) fn is_with(word: &str) -> bool {
    matches!(word, "with" | "mit" | "avec" | "con" | "com" | "med" | "met")
}

/// Whether `word` leads to the name of a network, which stands beside its password.
pub(super) fn is_network(word: &str) -> bool {
    #[rustfmt::skip]
    static NETWORKS: WordList = WordList::new(&sorted([
        "network", "ssid", "netz", "netzwerk", "heißt", "named", "réseau", "red", "rede", "rete",
        "netwerk", "nätverk", "nätverket", "nettverk", "netværk", "verkko", "sieć", "síť", "sieť",
        "hálózat", "ağ", "сеть", "мережа", "δίκτυο", "jaringan", "mạng", "नेटवर्क", "شبكة", "الشبكة",
    ]));
    NETWORKS.has(word)
}

/// Whether a label that ends in `word` names something else than a secret.
pub(super) fn is_other_label(word: &str) -> bool {
    OTHER_LABELS.has(word)
}

/// Words for keys in other languages than English, as parts of words.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "jeton", "gettone", "токен", "nyckel", "nøkkel", "nøgle", "nøgl", "avain", "avaime",
    "schlüssel", "sleutel", "clé", "clef", "clave", "llave", "chave", "chiave", "klucz", "klíč",
    "kľúč", "ključ", "kulcs", "anahtar", "cheie", "kunci", "khóa", "ключ", "κλειδ", "مفتاح", "מפתח",
    "कुंजी", "คีย์", "密钥", "密鑰", "金鑰", "キー", "키",
];

/// Whether a word for a key stands near the word `start..end` for an interface.
pub(super) fn is_of_key(text: &str, start: usize, end: usize) -> bool {
    /// How far before and behind it is read.
    const BEFORE: usize = 32;
    const BEHIND: usize = 24;
    static STEMS: Stems = Stems::new(|| AhoCorasick::new(KEYS).ok());
    let before = &text[text.ceil_char_boundary(start.saturating_sub(BEFORE))..start];
    let behind = &text[end..text.floor_char_boundary(text.len().min(end + BEHIND))];
    let is_sentence_end = |c: char| matches!(c, '.' | '\n' | '。' | '!' | '?');
    let before = before.rsplit(is_sentence_end).next().unwrap_or(before).to_lowercase();
    let behind = behind.split(is_sentence_end).next().unwrap_or(behind).to_lowercase();
    STEMS.are_in(&before) || STEMS.are_in(&behind)
}

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
