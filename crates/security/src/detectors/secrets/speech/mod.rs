//! Secrets that are told in sentences, in many languages: "the password for the mail server changed
//! this morning, it's …", "log in as ops / …", "your code is …", and lists of codes for recovery.
//!
//! A word for a secret is the hint. Behind it, a few words are read ([`sentence`]); one that looks
//! like a secret ([`value`]) counts, and the less it looks like one, the clearer must be said that it
//! is ([`words`]).

mod codes;
pub(super) mod coins;
pub(super) mod foreign;
pub(super) mod messages;
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
    ("Clave", 1, Noun::Password),
    ("API ", 0, Noun::Interface),
    ("API-", 0, Noun::Interface),
    ("PIN", 0, Noun::Pin),
    ("puk", 0, Noun::Pin),
    ("PUK", 0, Noun::Pin),
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
        Some(b';') => bytes.get(end + 1) == Some(&b' '),
        _ => false,
    }
}

/// Looks for a secret behind the name `start..end`, and before it.
pub(super) fn behind_name(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> Looked {
    // Languages that do not set their words apart have no blank before a word of another.
    let start = match text.get(start..end) {
        Some(name) if !name.is_ascii() => {
            let is_other = |c: char| c >= '\u{2E80}' || !c.is_alphanumeric() && !c.is_ascii();
            let length = name.rsplit(is_other).next().map_or(0, str::len);
            if length > 0 { end - length } else { start }
        }
        _ => start,
    };
    // A name behind a sign of code is no word of a sentence.
    let is_apart = text.get(..start).is_some_and(|before| {
        before
            .chars()
            .next_back()
            .is_none_or(|c| c.is_whitespace() || "(*'\"`_-,“„«/>".contains(c) || c >= '\u{2E80}')
    });
    let looked = match words::noun(text, start, end) {
        Some(noun) if is_apart => told(text, (start, end), noun, out),
        _ => Looked { cost: 24, until: 0 },
    };
    // What a key is for was asked of the words around it.
    let is_key = is_word_for_key(text.get(start..end)) && has_digit(text.as_bytes(), end);
    Looked { cost: looked.cost + if is_key { words::COST_OF_STEMS } else { 0 }, ..looked }
}

/// Whether a name is the word for a key, which opens much else than accounts.
fn is_word_for_key(name: Option<&str>) -> bool {
    let last = name.and_then(|name| name.rsplit('-').next());
    last.is_some_and(|last| last.eq_ignore_ascii_case("key"))
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
        Noun::CodeList => return codes::below(text, end, out),
        Noun::Interface if !has_digit(bytes, end) => return Looked { cost: 96, until: 0 },
        Noun::Interface if !words::is_of_key(text, start, end) => {
            return Looked { cost: 96 + words::COST_OF_STEMS, until: 0 };
        }
        Noun::Phrase => return phrases::words(text, start, end, out),
        Noun::Code => return codes::one(text, start, end, out),
        Noun::Pin => return codes::pin(text, start, end, out),
        _ => {}
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
        let is_behind = text[start..].starts_with(is_of_east);
        cost += sentence(text, (end, true, is_behind), noun, out);
    }
    // What is dialled or typed on a keypad has digits only.
    let word = &text[start..end];
    if out.len() == known && (word.ends_with("asscode") || word.starts_with(is_of_east)) {
        return codes::pin(text, start, end, out);
    }
    let until = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    Looked { cost, until }
}

/// Whether a word begins so in a language that says what a password is for before the word for it.
fn is_of_east(c: char) -> bool {
    c.is_alphabetic() && c >= '\u{0900}' && !('\u{1E00}'..'\u{2000}').contains(&c)
}

/// Whether a digit is near behind `end`: most words for secrets have none, which is quickly seen.
fn has_digit(bytes: &[u8], end: usize) -> bool {
    const REACH: usize = 80;
    bytes[end..bytes.len().min(end + REACH)].iter().any(u8::is_ascii_digit)
}

/// Whether a secret may stand in `stretch`: it has a digit, or is made of words with hyphens between;
/// keys may also stand in quotes.
fn may_hold(stretch: &[u8], noun: Noun) -> bool {
    let is_hyphen = |three: &[u8]| matches!(three, [a, b'-', b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic());
    stretch.iter().any(u8::is_ascii_digit)
        || stretch.windows(3).any(is_hyphen)
        || matches!(noun, Noun::Key | Noun::Interface)
            && memchr::memchr2(b'"', b'`', stretch).is_some()
}

/// Looks for another secret behind the one that ends at `end`: "… was the old one, the new one is …".
pub(super) fn behind_value(text: &str, end: usize, out: &mut Vec<Finding>) -> Looked {
    let rest = &text.as_bytes()[end..];
    let known = out.len();
    let mut cost = 8;
    let goes_on = [&b", "[..], b" to ", b" and ", b"; ", b" -> ", b" => "]
        .iter()
        .any(|joint| rest.starts_with(joint));
    let stretch = &rest[..rest.len().min(REACH)];
    if goes_on && stretch.iter().any(u8::is_ascii_digit) {
        cost += stretch.len() / 4 + sentence(text, (end, false, false), Noun::Password, out);
    }
    let until = out.get(known..).and_then(<[Finding]>::last).map_or(0, |last| last.end);
    Looked { cost, until }
}

/// Reads the sentences that go on at `at`. `said` is whether a value may follow at once, `is_behind`
/// whether the language sets what a password is for before that word.
fn sentence(
    text: &str,
    (at, said, is_behind): (usize, bool, bool),
    noun: Noun,
    out: &mut Vec<Finding>,
) -> usize {
    let has_colon = text[at..].trim_start_matches('*').starts_with([':', '：']);
    let mut before = Before { said, has_colon, is_behind, ..Before::default() };
    before.is_label = said && text[at..].starts_with(['\n', '\r']);
    let known = out.len();
    for (i, chunk) in Chunks::new(text, at, at + REACH).take(WORDS).enumerate() {
        let written = chunk.written;
        before.enters_line(&chunk);
        if before.paragraphs > 0 || before.sentences > 2 {
            return i * COST_OF_A_WORD;
        }
        // What nearly all words fail at comes first.
        let is_value = match noun {
            Noun::Key | Noun::Interface => before.leads_to_key(&chunk, noun),
            Noun::Network if before.said && value::is_network_key(written) => true,
            _ => before.leads_to_password(text, &chunk, noun),
        };
        let seed = (noun == Noun::Key && before.said && written.len() == 4)
            .then(|| codes::seed(text, chunk.start))
            .flatten();
        let chunk = seed.map_or(chunk, |end| Chunk { end, ..chunk });
        let is_value = (is_value || seed.is_some())
            && !chunk.ends_statement()
            && !words::is_example(&before.word)
            && !before.names_another;
        if is_value {
            let is_key = matches!(noun, Noun::Key | Noun::Interface);
            let kind = if is_key { Kind::Secret } else { Kind::Password };
            if !out
                .iter()
                .rev()
                .take(4)
                .any(|known| known.start < chunk.end && chunk.start < known.end)
            {
                // Stars that make nothing bold are part of it.
                let stars =
                    text[..chunk.start].len() - text[..chunk.start].trim_end_matches('*').len();
                let start = chunk.start - if chunk.is_quoted { 0 } else { stars };
                out.push(Finding { start, end: chunk.end, kind, rule: "speech" });
            }
        } else if chunk.is_code() {
            return i * COST_OF_A_WORD;
        }
        before.has_value = out.len() > known;
        before.behind_slash |= written == "/" || written == "//";
        before.passes(&chunk);
    }
    WORDS * COST_OF_A_WORD
}

/// What was read.
#[derive(Debug, Default)]
struct Before {
    /// The last word, in small letters.
    word: String,
    /// The word before that.
    last: String,
    /// Whether it says that the value follows.
    said: bool,
    /// Whether it was said that something changed, or asked for it.
    changed: bool,
    asked: bool,
    /// Whether a colon stood behind the last word.
    has_colon: bool,
    /// Whether that colon ends a label of something else.
    names_another: bool,
    /// Whether the word for a secret ends its line, and nothing else was read.
    is_label: bool,
    /// Whether a value was found.
    has_value: bool,
    /// Whether a slash was passed.
    behind_slash: bool,
    /// Whether the language sets what a password is for before the word for it.
    is_behind: bool,
    words: usize,
    lines: usize,
    sentences: usize,
    paragraphs: usize,
}

/// How many words may stand between a noun and a value that nothing else leads to.
const NEAR: usize = 5;

impl Before {
    fn leads_to_key(&self, chunk: &Chunk<'_>, noun: Noun) -> bool {
        // Other languages bend the words between in more ways than are listed.
        let is_near = noun == Noun::Interface && self.words < NEAR && self.sentences == 0;
        // A label on a line of its own names what stands behind it.
        let is_labelled = self.has_colon && self.lines > chunk.lines_before;
        (self.said || chunk.is_quoted || is_near) && !is_labelled && value::is_key(chunk.written)
    }

    fn leads_to_password(&self, text: &str, chunk: &Chunk<'_>, noun: Noun) -> bool {
        let strength = value::password(chunk.written);
        if noun == Noun::Login {
            // `ops / …`, with the slash just passed.
            return strength == Strength::Strong
                || strength == Strength::Weak
                    && (self.behind_slash && self.word == "/" || words::is_with(&self.word));
        }
        match strength {
            Strength::Strong => true,
            Strength::Weak => {
                self.said
                    || chunk.is_quoted
                    || self.changed && words::is_changing(&self.word)
                    || self.is_near(text, chunk)
                    || self.asked && self.is_answer(text, chunk)
                    || (self.asked || self.is_label || self.words > 2 && self.lines < 3)
                        && chunk.is_alone(text)
            }
            Strength::Word => false,
        }
    }

    /// Whether `chunk` follows what begins an answer: "yes, …".
    fn is_answer(&self, text: &str, chunk: &Chunk<'_>) -> bool {
        (1..3).contains(&self.lines) && text[..chunk.start].trim_end().ends_with(',')
    }

    /// Whether `chunk` is near the word for a password and ends a part of the sentence: what follows a
    /// preposition is what the password is for.
    fn is_near(&self, text: &str, chunk: &Chunk<'_>) -> bool {
        let is_of_sentence = self.words < NEAR && self.sentences == 0 && self.lines == 0;
        is_of_sentence
            && !self.has_value
            && !words::is_network(&self.word)
            && (self.is_behind
                || chunk.ends_clause(text) && self.words > 0 && !words::is_preposition(&self.word))
    }

    fn enters_line(&mut self, chunk: &Chunk<'_>) {
        self.lines += chunk.lines_before;
        self.is_label &= self.words == 0 && chunk.lines_before == 1;
        self.paragraphs += usize::from(chunk.lines_before > 1 && !self.said);
        // A line's first word is no more than that, unless a sign led to it.
        self.said &= chunk.lines_before == 0 || self.has_colon;
    }

    fn passes(&mut self, chunk: &Chunk<'_>) {
        // The label may end in a sign of its own: `Serial number : …`.
        let is_sign = matches!(chunk.written, ":" | "：");
        if !is_sign {
            self.names_another = false;
        }
        std::mem::swap(&mut self.word, &mut self.last);
        self.words += 1;
        let is_such = chunk.written == "as" && words::is_example(&self.last);
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
        if self.has_colon {
            self.names_another =
                words::is_other_label(if is_sign { &self.last } else { &self.word });
        }
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
                Noun::Key | Noun::Interface => value::is_key(inner),
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
