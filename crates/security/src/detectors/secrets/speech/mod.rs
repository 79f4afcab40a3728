//! Secrets that are told in sentences, in many languages: "the password for the mail server changed
//! this morning, it's …", "log in as ops / …", "your code is …", and lists of codes for recovery.
//!
//! A word for a secret is the hint. Behind it, a few words are read ([`sentence`]); one that looks
//! like a secret ([`value`]) counts, and the less it looks like one, the clearer must be said that it
//! is ([`words`]).

mod codes;
pub(super) mod coins;
mod phrases;
mod sentence;
mod value;
mod words;

#[cfg(test)]
mod tests;

use crate::finding::Finding;
use crate::kind::Kind;
use sentence::{Chunk, Chunks};
use value::Strength;
pub(super) use words::Noun;

/// How many words are read behind a word for a secret.
const WORDS: usize = 24;
/// How far away the last of them may begin.
const REACH: usize = 200;

/// Words that lead to a secret and that no name of one has, each with the place of the three letters
/// that the pass stops at.
pub(super) const RARE: &[(&str, usize, Noun)] = &[
    ("mdp", 0, Noun::Password),
    ("clave", 1, Noun::Password),
    ("PIN", 0, Noun::Pin),
    ("ogin ", 0, Noun::Login),
    ("ogin: ", 0, Noun::Login),
    ("verification code", 2, Noun::Code),
    ("Verification code", 2, Noun::Code),
    ("recovery ", 2, Noun::Codes),
    ("Recovery ", 2, Noun::Codes),
    ("ackup", 1, Noun::Codes),
    ("phrase", 0, Noun::Phrase),
    ("mnemonic", 1, Noun::Phrase),
    ("Mnemonic", 1, Noun::Phrase),
    ("MNEMONIC", 1, Noun::Phrase),
];

/// The same, for texts beyond ASCII.
pub(super) const RARE_BEYOND_ASCII: &[(&str, Noun)] = &[
    ("heslo", Noun::Password),
    ("Heslo", Noun::Password),
    ("jelszó", Noun::Password),
    ("Jelszó", Noun::Password),
    ("jelszav", Noun::Password),
    ("Şifre", Noun::Password),
    ("parola", Noun::Password),
    ("Parola", Noun::Password),
    ("ösenord", Noun::Password),
    ("Hasło", Noun::Password),
    ("salasana", Noun::Password),
    ("Salasana", Noun::Password),
    ("dgangskode", Noun::Password),
    ("κωδικ", Noun::Password),
    ("Κωδικ", Noun::Password),
    ("كلمة المرور", Noun::Password),
    ("كلمة السر", Noun::Password),
    ("पासवर्ड", Noun::Password),
    ("口令", Noun::Password),
    ("暗証番号", Noun::Pin),
    ("ПИН", Noun::Pin),
    ("验证码", Noun::Code),
    ("認証コード", Noun::Code),
    ("인증번호", Noun::Code),
    ("код подтверждения", Noun::Code),
    ("助记词", Noun::Phrase),
];

/// What reading a word costs, in about nanoseconds.
const COST_OF_A_WORD: usize = 45;

/// How much a look cost, and the end of what it found, or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looked {
    pub(super) cost: usize,
    pub(super) until: usize,
}

/// Whether what stands behind a name that ends at `end` may be prose with a secret in it.
#[inline]
pub(super) fn may_follow(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end) {
        None | Some(b' ' | b',' | b'?' | b'.' | b')' | b'*' | b'`' | b'\n' | 0x80..) => true,
        // What follows without a blank is of no sentence.
        Some(b':') => matches!(bytes.get(end + 1), Some(b' ' | b'\n' | b'\r' | b'*')),
        _ => false,
    }
}

/// Looks for a secret behind the name `start..end`, and before it.
pub(super) fn behind_name(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    // A name behind a sign of code is no word of a sentence.
    let is_apart = text.get(..start).is_some_and(|before| {
        before
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || "(*'\"`_-,“„«/>。，：".contains(c))
    });
    match words::noun(text, start, end) {
        Some(noun) if is_apart => told(text, (start, end), noun, out),
        _ => Looked { cost: 24, until: 0 },
    }
}

/// Looks for what `noun` speaks of around `start..end`.
pub(super) fn told(
    text: &str,
    (start, end): (usize, usize),
    noun: Noun,
    out: &mut Vec<Finding>,
) -> Looked {
    let bytes = text.as_bytes();
    match noun {
        Noun::Codes => return codes::list(text, end, out),
        Noun::Phrase => return phrases::words(text, start, end, out),
        Noun::Code => return codes::one(text, start, end, out),
        Noun::Pin => return codes::pin(text, start, end, out),
        Noun::Password | Noun::Login | Noun::Key => {}
    }
    let is_within_word =
        |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    if noun == Noun::Password
        && (is_within_word(bytes.get(end)) && text[start..end].is_ascii() && end - start < 5
            || start > 0 && is_within_word(bytes.get(start - 1)) && end - start < 6)
    {
        return Looked { cost: 16, until: 0 };
    }
    let known = out.len();
    let mut cost = 64;
    if noun != Noun::Login
        && let Some(found) = before_noun(text, start, noun)
    {
        out.push(found);
    }
    let reach = text.ceil_char_boundary(bytes.len().min(end + REACH));
    // Most words for secrets have no digit behind them for long: that is quickly seen.
    let stretch = &bytes[end..reach];
    cost += stretch.len() / 4;
    if may_hold(stretch, noun) {
        cost += sentence(text, (end, true), noun, out);
    }
    let until = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    Looked { cost, until }
}

/// Whether a secret may stand in `stretch`: it has a digit, or is made of words with hyphens between;
/// keys may also stand in quotes.
fn may_hold(stretch: &[u8], noun: Noun) -> bool {
    let is_hyphen = |three: &[u8]| matches!(three, [a, b'-', b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic());
    stretch.iter().any(u8::is_ascii_digit)
        || stretch.windows(3).any(is_hyphen)
        || noun == Noun::Key && memchr::memchr2(b'"', b'`', stretch).is_some()
}

/// Looks for another secret behind the one that ends at `end`: "… was the old one, the new one is …".
pub(super) fn behind_value(text: &str, end: usize, out: &mut Vec<Finding>) -> Looked {
    let rest = &text.as_bytes()[end..];
    let known = out.len();
    let mut cost = 8;
    let goes_on =
        [&b", "[..], b" to ", b" and ", b"; "].iter().any(|joint| rest.starts_with(joint));
    let stretch = &rest[..rest.len().min(REACH)];
    if goes_on && stretch.iter().any(u8::is_ascii_digit) {
        cost += stretch.len() / 4 + sentence(text, (end, false), Noun::Password, out);
    }
    let until = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    Looked { cost, until }
}

/// Reads the sentences that go on at `at`. `said` is whether a value may follow at once.
fn sentence(text: &str, (at, said): (usize, bool), noun: Noun, out: &mut Vec<Finding>) -> usize {
    let has_colon = text[at..].trim_start_matches('*').starts_with([':', '：']);
    let mut before = Before { said, has_colon, ..Before::default() };
    let mut behind_slash = 0;
    for (i, chunk) in Chunks::new(text, at, at + REACH).take(WORDS).enumerate() {
        let written = chunk.written;
        before.enters_line(&chunk);
        if before.paragraphs > 0 || before.sentences > 2 {
            return i * COST_OF_A_WORD;
        }
        let said = before.said || chunk.is_quoted;
        // What nearly all words fail at comes first.
        let is_value = match noun {
            Noun::Key => said && value::is_key(written),
            _ => is_password(text, &chunk, &before, said, noun, behind_slash),
        };
        let is_value = is_value && !chunk.ends_statement() && !words::is_example(&before.word);
        if is_value {
            let kind = if noun == Noun::Key { Kind::Secret } else { Kind::Password };
            if !out
                .iter()
                .rev()
                .take(4)
                .any(|known| known.start < chunk.end && chunk.start < known.end)
            {
                out.push(Finding { start: chunk.start, end: chunk.end, kind, rule: "speech" });
            }
        } else if chunk.is_code() {
            return i * COST_OF_A_WORD;
        }
        behind_slash = if written == "/" || written == "//" { i + 1 } else { behind_slash };
        before.passes(&chunk);
    }
    WORDS * COST_OF_A_WORD
}

fn is_password(
    text: &str,
    chunk: &Chunk<'_>,
    before: &Before,
    said: bool,
    noun: Noun,
    behind_slash: usize,
) -> bool {
    let strength = value::password(chunk.written);
    match noun {
        // `ops / …`, with the slash just passed.
        Noun::Login => {
            strength == Strength::Strong
                || strength == Strength::Weak && behind_slash > 0 && before.word == "/"
        }
        _ => match strength {
            Strength::Strong => true,
            Strength::Weak => {
                said || before.changed && words::is_changing(&before.word)
                    || before.asked && chunk.is_alone(text)
            }
            Strength::Word => false,
        },
    }
}

/// What was read.
#[derive(Debug, Default)]
struct Before {
    /// The last word, in small letters.
    word: String,
    /// Whether it says that the value follows.
    said: bool,
    /// Whether it was said that something changed, or asked for it.
    changed: bool,
    asked: bool,
    /// Whether a colon stood behind the last word.
    has_colon: bool,
    sentences: usize,
    paragraphs: usize,
}

impl Before {
    fn enters_line(&mut self, chunk: &Chunk<'_>) {
        self.paragraphs += usize::from(chunk.lines_before > 1 && !self.said);
        // A line's first word is no more than that, unless a sign led to it.
        self.said &= chunk.lines_before == 0 || self.has_colon;
    }

    fn passes(&mut self, chunk: &Chunk<'_>) {
        let is_such = chunk.written == "as" && words::is_example(&self.word);
        let word = if is_such { "such" } else { chunk.written };
        if word.is_ascii() {
            self.word.clear();
            self.word.push_str(word);
            self.word.make_ascii_lowercase();
        } else {
            self.word = word.to_lowercase();
        }
        self.changed |= words::is_change(&self.word);
        self.has_colon = matches!(chunk.written, ":" | "：");
        // Nothing stands behind most words.
        if !chunk.behind.is_empty() {
            self.asked |= chunk.behind.contains('?');
            self.has_colon |= chunk.behind.ends_with([':', '：']);
            self.sentences += usize::from(chunk.behind.contains(['.', '!', '?', '。']));
        }
        self.said = words::is_saying(&self.word) || self.has_colon;
        if words::is_example(chunk.written.trim_matches('.')) {
            self.word = "like".to_owned();
        }
    }
}

/// The value in "use … as the password".
fn before_noun(text: &str, start: usize, noun: Noun) -> Option<Finding> {
    let line = &text[text.ceil_char_boundary(start.saturating_sub(120))..start];
    let mut words = line.trim_end_matches(' ').split(' ').rev().take(5);
    let mut end = line.trim_end_matches(' ').len();
    let mut joined = false;
    loop {
        let word = words.next()?;
        let from = end - word.len();
        if joined {
            let inner = word.trim_matches(['"', '`', '\'', '“', '”', '„', '«', '»', '(', '*']);
            let is_value = match noun {
                Noun::Key => value::is_key(inner),
                _ => value::password(inner) >= Strength::Weak,
            };
            if !is_value {
                return None;
            }
            let at = start - line.len() + from + word.find(inner)?;
            let kind = if noun == Noun::Key { Kind::Secret } else { Kind::Password };
            return Some(Finding { start: at, end: at + inner.len(), kind, rule: "speech" });
        }
        let folded = word.to_lowercase();
        if words::is_joining(&folded) {
            joined = true;
        } else if !words::is_article(&folded) {
            return None;
        }
        end = from.checked_sub(1)?;
    }
}
