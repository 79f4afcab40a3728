//! Words for secrets in texts beyond ASCII, which have a searcher of their own.
//!
//! Most are stems: languages bend the ends of their words and set capitals before them. No more than
//! 64, which is what the searcher looks for at once.

use aho_corasick::AhoCorasick;

use super::words::{COST_OF_STEMS, Stems};
use super::{Noun, has_digit, words};

/// What a stem speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Said {
    /// What the whole word is.
    Noun(Noun),
    /// A code, of which the words around say what it is for.
    Code,
}

impl Said {
    /// What the word `start..end` is, and what it cost to see.
    pub(in super::super) fn noun(
        self,
        text: &str,
        start: usize,
        end: usize,
    ) -> (Option<Noun>, usize) {
        match self {
            Self::Noun(Noun::Key) if has_digit(text.as_bytes(), end) => {
                let is_of_network = words::is_of_network(text, start, end);
                (Some(if is_of_network { Noun::Network } else { Noun::Key }), COST_OF_STEMS)
            }
            Self::Noun(noun) => (Some(noun), 0),
            // An attribute, a variable.
            Self::Code if text[end..].starts_with('=') => (None, 0),
            Self::Code if !has_digits_behind(text, end) => (None, 96),
            Self::Code => (code(text, start, end), 96 + COST_OF_STEMS),
        }
    }
}

const PASSWORD: Said = Said::Noun(Noun::Password);
const KEY: Said = Said::Noun(Noun::Key);
const PIN: Said = Said::Noun(Noun::Pin);
const CODE: Said = Said::Noun(Noun::Code);
const CODES: Said = Said::Noun(Noun::CodeList);
const PHRASE: Said = Said::Noun(Noun::Phrase);

/// The words, each with what it speaks of.
pub(in super::super) const BEYOND_ASCII: &[(&str, Said)] = &[
    ("hesl", PASSWORD),
    ("Hesl", PASSWORD),
    ("jelsz", PASSWORD),
    ("Jelsz", PASSWORD),
    ("şifre", PASSWORD),
    ("Şifre", PASSWORD),
    ("parol", PASSWORD),
    ("Parol", PASSWORD),
    ("asło", PASSWORD),
    ("ösenord", PASSWORD),
    ("alasana", PASSWORD),
    ("dgangskode", PASSWORD),
    ("ozink", PASSWORD),
    ("арол", PASSWORD),
    ("ωδικ", PASSWORD),
    ("كلمة المرور", PASSWORD),
    ("كلمة السر", PASSWORD),
    ("كلمة مرور", PASSWORD),
    ("סיסמ", PASSWORD),
    ("رمز عبور", PASSWORD),
    ("पासवर्ड", PASSWORD),
    ("รหัสผ่าน", PASSWORD),
    ("ật khẩu", PASSWORD),
    ("密码", PASSWORD),
    ("密碼", PASSWORD),
    ("口令", PASSWORD),
    ("パスワード", PASSWORD),
    ("비밀번호", PASSWORD),
    ("비번", PASSWORD),
    ("ключ", KEY),
    ("Ключ", KEY),
    ("clé", KEY),
    ("Clé", KEY),
    ("chlüssel", KEY),
    ("nyckel", KEY),
    ("klíč", KEY),
    ("klucz", KEY),
    ("anahtar", KEY),
    ("密钥", KEY),
    ("密鑰", KEY),
    ("金鑰", KEY),
    ("токен", KEY),
    ("トークン", KEY),
    ("토큰", KEY),
    ("令牌", KEY),
    ("暗証番号", PIN),
    ("ПИН", PIN),
    ("пин ", PIN),
    ("пін ", PIN),
    ("验证码", CODE),
    ("인증번호", CODE),
    ("恢复码", CODES),
    ("备用码", CODES),
    ("助记词", PHRASE),
    ("код", Said::Code),
    ("Код", Said::Code),
    ("kód", Said::Code),
    ("Kód", Said::Code),
    ("コード", Said::Code),
    ("코드", Said::Code),
    ("code", Said::Code),
    ("ódigo", Said::Code),
    ("kod", Said::Code),
    ("Kod", Said::Code),
];

const _: () = assert!(BEYOND_ASCII.len() <= 64);

/// The whole word around the stem `start..end`, where letters are written together that are of one.
pub(in super::super) fn whole_word(text: &str, start: usize, end: usize) -> (usize, usize) {
    /// No word is longer on either side of its stem.
    const LONGEST: usize = 32;
    // Languages that do not set their words apart have no ends of words.
    let is_of_word = |c: &char| {
        c.is_alphabetic() && (*c < '\u{0E00}' || ('\u{1E00}'..'\u{2000}').contains(c)) || *c == '_'
    };
    let before = &text[text.ceil_char_boundary(start.saturating_sub(LONGEST))..start];
    let behind = &text[end..text.floor_char_boundary(text.len().min(end + LONGEST))];
    let length = |c: char| c.len_utf8();
    let is_set_apart = text[start..end].chars().next_back().is_some_and(|c| is_of_word(&c));
    if !is_set_apart {
        return (start, end);
    }
    let back: usize = before.chars().rev().take_while(is_of_word).map(length).sum();
    let ahead: usize = behind.chars().take_while(is_of_word).map(length).sum();
    (start - back, end + ahead)
}

/// Stems of what says that a code is sent to whoever logs in.
#[rustfmt::skip]
const VERIFICATION: &[&str] = &[
    "verif", "vérif", "weryfik", "auten", "authen", "uwierzyt", "подтвер", "підтвер", "потвър",
    "ověř", "overo", "potvr", "ellenőrz", "doğrul", "onay", "bekräft", "vahvist", "xác ", "επαλήθ",
    "sms", "認証", "確認", "인증", "확인",
];
/// Stems of what says that codes are for who lost the second factor.
#[rustfmt::skip]
const RECOVERY: &[&str] = &[
    "recuper", "récup", "respaldo", "secours", "восстан", "віднов", "резерв", "zapasow", "odzysk",
    "zálož", "obnov", "helyreáll", "biztons", "kurtar", "yedek", "återst", "reserv", "gjenoppr",
    "gendan", "palaut", "khôi phục", "dự phòng", "secours", "バックアップ", "リカバリ", "復元",
    "복구", "백업",
];
/// Stems of things that a code opens or turns off.
#[rustfmt::skip]
const OPENED: &[&str] = &[
    "puerta", "portail", "porte", "immeuble", "digicode", "tür", "keller", "tresor", "portal",
    "portón", "porta", "portão", "alarm", "larm", "riaszt", "двер", "домофон", "подъезд", "під'їзд",
    "під’їзд", "ворот", "калитк", "сигнал", "сейф", "brama", "bramy", "drzwi", "furtk", "domofon",
    "sejf", "klatk", "vchod", "dveř", "dver", "brán", "trezor", "kapu", "ajtó", "széf", "kapı",
    "kasa", "dörr", "portk", "grind", "kassaskåp", "dør", "garaj", "garaż", "garáž", "garage",
    "caja fuerte", "cofre", "candado", "cadeado", "taquilla", "edifici", "prédio", "현관", "금고",
    "玄関", "金庫",
];

/// All of them, each with what the code is: what comes first says most.
static PURPOSES: [(&[&str], Noun); 4] = [
    (&["wifi", "wi-fi", "wlan", "вайфа"], Noun::Password),
    (VERIFICATION, Noun::Code),
    (RECOVERY, Noun::CodeList),
    (OPENED, Noun::Pin),
];

/// What the stem that is the `nth` of [`PURPOSES`] is, and what it says.
fn purpose(nth: usize) -> Option<(&'static str, Noun)> {
    let mut all = PURPOSES.iter().flat_map(|(stems, noun)| stems.iter().map(|stem| (*stem, *noun)));
    all.nth(nth)
}

/// Whether what stands behind a word may be a code.
fn has_digits_behind(text: &str, end: usize) -> bool {
    const REACH: usize = 96;
    let behind = &text.as_bytes()[end..text.len().min(end + REACH)];
    behind.iter().filter(|b| b.is_ascii_digit()).count() > 2
}

/// What the code of the word `start..end` is for, if the words around say so.
fn code(text: &str, start: usize, end: usize) -> Option<Noun> {
    /// How far before and behind the word is read.
    const BEFORE: usize = 24;
    const BEHIND: usize = 40;
    static STEMS: Stems =
        Stems::new(|| AhoCorasick::new(PURPOSES.iter().flat_map(|(stems, _)| stems.iter())).ok());
    let before = &text[text.ceil_char_boundary(start.saturating_sub(BEFORE))..end];
    let before = before.rsplit(['.', ',', ';', '\n']).next().unwrap_or(before);
    let behind = &text[end..text.floor_char_boundary(text.len().min(end + BEHIND))];
    let behind = behind.split(['.', ',', ';', ':', '\n']).next().unwrap_or(behind);
    let around = [before.to_lowercase(), behind.to_lowercase()];
    // Stems of letters that English has, too, are in many of its words: `important`, `lowland`.
    let stands = |part: &str, (nth, at): (usize, usize)| {
        let (stem, noun) = purpose(nth)?;
        (!stem.is_ascii() || !part[..at].ends_with(char::is_alphabetic)).then_some((nth, noun))
    };
    // Those that come first in the list say most.
    let found = around.iter().flat_map(|part| STEMS.each(part).filter_map(|at| stands(part, at)));
    found.min_by_key(|(nth, _)| *nth).map(|(_, noun)| noun)
}
