//! What short messages tell, often without a word for it: "that one expired, try …", "log in as kim
//! with …", "it's admin/…", "gate code 4821#".
//!
//! Words such as "pin", "code" and "pass" are in all of code, and those of some languages have letters
//! that many words have: looking for them everywhere would cost too much. Messages are short, and
//! only their words that have a digit are looked at, with what stands around those.

use super::super::passphrase;
use super::super::value::Shape;
use super::value::{self, Strength};
use super::{Looked, codes, words};
use crate::detectors::words::{Beginnings, WordList, sorted};
use crate::finding::Finding;
use crate::kind::Kind;

/// The longest text that is read: messages are shorter, and files longer.
const LONGEST: usize = 800;
/// How many words before a value, and how many behind it, may lead to it.
const BEFORE: usize = 4;
const BEHIND: usize = 2;
/// How many words before a value may say that somebody logs in.
const LOGIN: usize = 8;

/// What one is told to do with a password.
#[rustfmt::skip]
static TRYING: WordList = WordList::new(&sorted([
    "try", "tried", "trying", "use", "used", "using", "enter", "type", "opens", "unlock", "unlocks",
    "usa", "usar", "use", "pon", "entra", "prova", "provate", "tape", "mets", "pak", "nimm",
    "nehmt", "bruk", "brug", "dene", "dùng", "thử", "coba", "cuba", "pakai", "试", "換", "换", "試",
    "testa", "muda", "tenta", "ลอง",
]));
/// Beginnings of the same.
#[rustfmt::skip]
static TRIES: Beginnings = Beginnings::new(&[
    "changed", "switched", "reset", "versuch", "probier", "nutze", "verwende", "geändert", "essai",
    "utilis", "prueb", "probá", "experimenta", "mudou", "gebruik", "probeer", "spróbuj", "użyj",
    "wpisz", "zkus", "použij", "skús", "próbál", "használ", "kullan", "använd", "prøv", "kokeil",
    "käytä", "încearcă", "folos", "попробуй", "используй", "введи", "спробуй", "використ", "опитай",
    "δοκίμασ", "جرّب", "جرب", "استخدم", "आज़मा", "आजमा", "इस्तेमाल", "gunakan", "改成", "试试", "换成",
    "換成", "で試", "代わり", "使っ", "해봐", "바꿨", "probaj", "koristi", "bandyk", "proovi",
    "пробвай",
]);

/// What says right before a value that it is one. Only what nobody writes otherwise counts there.
#[rustfmt::skip]
static SAYING: WordList = WordList::new(&sorted([
    "it's", "it’s", "its", "is", "to", "now", "c'est", "c’est", "ist", "es", "è", "é", "jest", "je",
    "är", "er", "это", "це", "είναι", "là", "est", "with", "mit", "avec", "con", "com", "med",
    "met", "z", "с", "and", "und", "et", "y", "e", "och", "og", "en", "i", "и", "і", "/",
]));

/// Beginnings of what says that somebody logs in.
#[rustfmt::skip]
static LOGGING_IN: Beginnings = Beginnings::new(&[
    "log", "sign", "ssh", "rdp", "ldap", "account", "anmeld", "melde", "einlog", "zugang",
    "connect", "connexion", "identifi", "inicia", "acced", "entra", "conect", "acessa", "accedi",
    "accesso", "inlog", "aanmeld", "zalog", "přihl", "prihl", "belép", "giriş", "logga", "kirjaud",
    "войди", "войти", "логин", "доступ", "зайди", "увійд", "вхід", "masuk", "đăng", "登录", "登入",
    "ログイン", "로그인", "credential", "acceso", "accès", "acesso", "hesab", "konto", "compte",
    "cuenta", "conta", "utente", "usuario", "usuário", "user", "benutzer", "gebruiker",
]);

/// Names of users that nobody has chosen.
#[rustfmt::skip]
static USERS: WordList = WordList::new(&sorted([
    "admin", "administrator", "root", "guest", "operator", "user", "superuser", "sysadmin", "sa",
    "ops", "pi", "ubuntu", "gast", "gäst", "gæst", "invitado", "invité", "ospite", "hóst", "gość",
    "host", "demo", "test", "viewer", "service", "support", "manager", "postgres", "oracle",
]));

/// Words for passwords that nothing else looks for in a text of ASCII.
#[rustfmt::skip]
static NOUNS: WordList = WordList::new(&sorted([
    "haslo", "hasla", "heslo", "hesla", "salasana", "salasanan", "parola", "parole", "lozinka",
    "lozinku", "geslo", "sandi", "sandinya", "sifre", "sifresi", "sifresini", "jelszo", "jelszava",
    "ww", "mk", "pass", "contra", "parool", "parooli", "slaptazodis", "fjalekalimi", "katasandi",
    "wagwoord", "pasahitza", "contrasenya", "lykilord", "pasvorto", "nenosiri",
]));

/// Those of them that are words of other things, too.
static SHORT_NOUNS: WordList = WordList::new(&sorted(["pass", "contra", "ww", "mk"]));

/// The same for a few digits that open a thing, which are said to be no more than that.
#[rustfmt::skip]
static PINS: WordList = WordList::new(&sorted([
    "pin", "pins", "puk", "pincode", "pin-code", "pinkod", "pinkode", "digicode", "keypad",
    "türcode", "torcode", "deurcode", "poortcode", "gatecode", "doorcode", "dørkode", "lockbox",
]));

/// Words for codes, which must be for a thing that they open.
static CODES: WordList = WordList::new(&sorted([
    "code",
    "codes",
    "kode",
    "koden",
    "kod",
    "codice",
    "codigo",
    "combination",
    "combo",
    "passcode",
    "keypad",
]));

/// Beginnings of what a code opens or turns off.
#[rustfmt::skip]
static OPENED: Beginnings = Beginnings::new(&[
    "door", "gate", "alarm", "garage", "lock", "safe", "keypad", "entry", "entrance", "building",
    "locker", "padlock", "portail", "porte", "portal", "porta", "immeuble", "deur", "poort",
    "kluis", "cancello", "portone", "allarme", "cassaforte", "puerta", "candado", "tor", "tür",
    "haus", "schloss", "tresor", "pintu", "gerbang", "brankas", "dør", "garasje", "brama", "bramy",
    "drzwi", "vrata", "usa", "sef", "kapi", "ovi",
]);

/// Words before a user's name, which the password may follow.
#[rustfmt::skip]
static USER_LABELS: WordList = WordList::new(&sorted([
    "user", "username", "login", "usuario", "usuário", "utente", "utilisateur", "identifiant",
    "benutzer", "benutzername", "gebruiker", "użytkownik", "uživatel", "användare", "bruker",
    "bruger", "käyttäjä", "логин", "пользователь", "користувач", "χρήστης", "kullanıcı",
]));

/// Looks for them in `text`.
pub(in super::super) fn look(text: &str, out: &mut Vec<Finding>) -> Looked {
    let bytes = text.as_bytes();
    let mut cost = 0;
    if bytes.len() > LONGEST || !bytes.iter().any(u8::is_ascii_digit) {
        return Looked { cost, until: 0 };
    }
    cost += bytes.len();
    // Code and data have such words everywhere.
    if bytes.iter().any(|b| matches!(b, b'{' | b'}' | b'\\')) || text.contains("();") {
        return Looked { cost, until: 0 };
    }
    let known = out.len();
    lists_of_codes(text, out);
    let mut at = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    while let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let digit = at + digit;
        let is_end = |b: &u8| b.is_ascii_whitespace();
        let start = bytes[..digit].iter().rposition(is_end).map_or(0, |i| i + 1);
        let end = bytes[digit..].iter().position(is_end).map_or(bytes.len(), |i| digit + i);
        at = end;
        if end - start < 4 {
            continue;
        }
        cost += 400;
        if let Some((from, to)) = value_within(text, start, end)
            && !out.iter().any(|known| known.start < to && from < known.end)
        {
            out.push(Finding { start: from, end: to, kind: Kind::Password, rule: "speech" });
        }
    }
    Looked { cost, until: 0 }
}

/// Codes for who has lost the second factor, below a heading.
fn lists_of_codes(text: &str, out: &mut Vec<Finding>) {
    const HEADINGS: &[&[u8]] = &[b"codes", b"codici", b"kody", b"Kody"];
    /// Two codes have as many digits.
    const FEWEST_DIGITS: usize = 8;
    if text.bytes().filter(u8::is_ascii_digit).count() < FEWEST_DIGITS {
        return;
    }
    let is_known = |out: &[Finding], at: usize| {
        out.iter().any(|known| (at..at + 240).contains(&known.start) && known.rule == "speech")
    };
    for heading in HEADINGS {
        if let Some(at) = memchr::memmem::find(text.as_bytes(), heading)
            && codes::are_for_recovery(text, at, at + heading.len())
            && !is_known(out, at)
        {
            codes::below(text, at + heading.len(), out);
        }
    }
}

/// The value within the word `start..end`, if one is told there.
fn value_within(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = &text[start..end];
    let opened = word.trim_start_matches(['"', '\'', '`', '“', '„', '«', '(', ':', '，', '：']);
    let inner = opened
        .trim_end_matches(['"', '\'', '`', '”', '“', '»', ')', ',', '.', ';', ':', '，', '。']);
    // What ends a sentence is no part of it unless others are as well.
    let shorter = inner.trim_end_matches(['!', '?']);
    let has_sign = shorter.bytes().any(|b| b"!@#$%^&*?~+".contains(&b));
    let inner = if has_sign || inner.len() < opened.len() { inner } else { shorter };
    let from = start + word.len() - opened.len();
    let to = from + inner.len();
    let line = text[..start].rsplit('\n').next().unwrap_or_default();
    let before: Vec<&str> = line.split_whitespace().rev().take(LOGIN).collect();
    // `admin/…`
    if let Some((user, password)) = inner.split_once('/')
        && USERS.has(&user.to_lowercase())
        && is_clear(password)
    {
        return Some((to - password.len(), to));
    }
    let last = before.first()?.to_lowercase();
    if is_opener(text, (from, to), &before, &last) {
        return Some((from, to));
    }
    if !inner.bytes().any(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let label = last.trim_end_matches([':', '=']);
    if label.len() < last.len() && words::is_other_label(label) {
        return None;
    }
    let begins = |list: &Beginnings, word: &str| {
        let word = word.trim_start_matches(|c: char| c.is_ascii_punctuation());
        list.begin(&word.to_lowercase())
    };
    let tries = |word: &str| is_in(&TRYING, word) || begins(&TRIES, word);
    let behind = text[end..].split('\n').next().unwrap_or_default();
    let is_tried = || {
        before.iter().take(BEFORE).any(|word| tries(word))
            || behind.split_whitespace().take(BEHIND).any(tries)
    };
    // `user kim …`
    let is_behind_user = || before.get(1).is_some_and(|word| is_in(&USER_LABELS, word));
    let is_saying = SAYING.has(&last);
    // `root / …`, `log in as kim with …`
    let is_login = || {
        is_saying
            && (before.iter().any(|word| begins(&LOGGING_IN, word))
                || before.get(1).is_some_and(|user| USERS.has(&user.to_lowercase())))
    };
    let is_label = last.ends_with([':', '：', '=']);
    // `haslo do serwera to …`, `pass: …`
    let is_named = || {
        let named = before.iter().take(BEFORE + 1).position(|word| is_in(&NOUNS, word));
        let is_short = |at: usize| is_in(&SHORT_NOUNS, before[at]);
        let ends_clause = || inner.len() < opened.len() && !words::is_preposition(&last);
        named.is_some_and(|at| is_saying || is_label || !is_short(at) && (at == 0 || ends_clause()))
    };
    let strength = value::password(inner);
    let is_told = match strength {
        Strength::Strong => is_saying || is_tried() || is_named() || is_behind_user(),
        Strength::Weak if is_named() => true,
        Strength::Weak if is_clear(inner) => is_tried() || is_login() || is_behind_user(),
        Strength::Weak => is_login() && Shape::of(inner).digits > 1,
        Strength::Word => false,
    };
    is_told.then_some((from, to))
}

fn is_in(list: &WordList, word: &str) -> bool {
    list.has(word.trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase().as_str())
}

/// Whether the word `from..to` is a number that opens something.
fn is_opener(text: &str, (from, to): (usize, usize), before: &[&str], last: &str) -> bool {
    let written = text[from..to].trim_start_matches(['*', '#']);
    if !codes::is_opener(written) || codes::is_usual(written.trim_end_matches(['*', '#'])) {
        return false;
    }
    let is_label = last.ends_with([':', '：', '=']);
    let near = before.iter().take(if is_label { LOGIN } else { BEFORE });
    let is_pin = near.clone().any(|word| is_in(&PINS, word));
    let is_opened = |word: &&str| OPENED.begin(&word.to_lowercase());
    let is_code = || near.clone().any(|word| is_in(&CODES, word)) && before.iter().any(is_opened);
    if !is_pin && !is_code() || codes::is_postal(text, (from, from), (from, to)) {
        return false;
    }
    let has_sign = written.len() < to - from || written.ends_with(['#', '*']);
    let behind = text[to..].trim_start_matches([' ', '\r']);
    let ends_clause = behind.is_empty() || behind.starts_with([',', ';', '.', ')', '\n', '(', '/']);
    is_label
        || has_sign
        || words::is_saying(last)
        || is_in(&PINS, last)
        || is_in(&CODES, last)
        || ends_clause && !codes::is_year(written) && !words::is_preposition(last)
}

/// Whether a person would take `word` for a password wherever it stood.
fn is_clear(word: &str) -> bool {
    /// Nobody types more.
    const LONGEST: usize = 40;
    if word.len() > LONGEST || value::password(word) == Strength::Word {
        return false;
    }
    let shape = Shape::of(word);
    let is_mixed = shape.classes() >= 3 && shape.digits >= 2;
    let is_leet = shape.alternations >= 3 && shape.joints == 0;
    // Numbers of accounts, orders and devices have capitals only.
    shape.len >= 8
        && (shape.lower > 0 || shape.specials > 0)
        && (shape.is_random() && is_mixed
            || shape.len >= 10 && (is_leet || is_mixed && shape.joints == 0)
            || passphrase::is_numbered(word)
            || value::password(word) == Strength::Strong)
}
