//! Secrets: tokens, passwords, private keys.
//!
//! The engine's pass over a text calls [`Look`] at its hints: the words that most names of secrets
//! have, `://`, `-----`, flags, and long runs of token characters with a digit. Words that are rare
//! in any text are looked at behind the others; those beyond ASCII are found by a vectorised
//! searcher. Each hint is looked at forwards and backwards by bounded lengths, and all looks together
//! have a [`Budget`].

mod accounts;
mod assignment;
mod calls;
mod code;
mod directives;
mod evidence;
mod grammar;
mod hashes;
mod joins;
mod judge;
mod keys;
mod lists;
mod manifests;
mod names;
mod owners;
mod pairs;
mod passphrase;
mod places;
mod positions;
mod private_keys;
mod published;
mod rare;
mod shell;
mod speech;
mod strings;
mod tables;
mod urls;
mod value;
mod vendors;
mod webhooks;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use rare::words as rare_words;

use aho_corasick::AhoCorasick;
use aho_corasick::packed;

use super::{Budget, table};
use crate::finding::Finding;
use crate::kind::Kind;
pub(super) use grammar::quoted;
use names::Promise;
pub(crate) use published::retain_unpublished;
use rare::{Hint, Lead, Seen};
use speech::foreign::{self, BEYOND_ASCII, Said};

/// How likely the letters of `value` follow each other in words: 0 to 9.
pub(crate) fn wordiness(value: &str) -> f32 {
    value::Shape::of(value).wordiness
}

/// Finds secrets.
#[derive(Debug)]
pub(crate) struct Secrets {
    vendors: vendors::Index,
    rare_beyond_ascii: Searcher,
}

/// The vectorised searcher, or an automaton on machines that have no such instructions.
#[derive(Debug)]
enum Searcher {
    Packed(packed::Searcher),
    Automaton(Option<AhoCorasick>),
}

impl Searcher {
    fn new<'w>(words: impl Iterator<Item = &'w str> + Clone) -> Self {
        let words = || words.clone();
        let packed = packed::Config::new()
            .match_kind(packed::MatchKind::LeftmostFirst)
            .builder()
            .extend(words())
            .build();
        packed.map_or_else(|| Self::Automaton(AhoCorasick::new(words()).ok()), Self::Packed)
    }

    /// Calls `hit` with each word's index, start and end.
    fn each(&self, text: &str, mut hit: impl FnMut(usize, usize, usize)) {
        match self {
            Self::Packed(searcher) => {
                for found in searcher.find_iter(text) {
                    hit(found.pattern().as_usize(), found.start(), found.end());
                }
            }
            Self::Automaton(searcher) => {
                for found in searcher.iter().flat_map(|searcher| searcher.find_iter(text)) {
                    hit(found.pattern().as_usize(), found.start(), found.end());
                }
            }
        }
    }
}

impl Secrets {
    pub(crate) fn new() -> Self {
        let words = BEYOND_ASCII.iter().map(|(word, _)| *word);
        Self { vendors: vendors::Index::new(), rare_beyond_ascii: Searcher::new(words) }
    }

    /// What in `text`, which is base64, one value a line, cannot be there by chance.
    pub(crate) fn sealed(&self, text: &str, out: &mut Vec<Finding>) {
        vendors::sealed(&self.vendors, text, out);
    }

    /// A look at a new text.
    pub(crate) fn look<'a>(&'a self, text: &'a str, budget: &'a Budget) -> Look<'a> {
        Look {
            text,
            vendors: &self.vendors,
            budget,
            bare: grammar::Bare::default(),
            passed_names: vendors::PassedNames::default(),
            rare: Seen::default(),
            table: table::Last::default(),
            markup: tables::LastOfMarkup::default(),
            names_until: 0,
            found_until: 0,
            urls_until: 0,
            commands_until: 0,
        }
    }

    /// Secrets that a rare word leads to.
    pub(crate) fn rare(&self, look: &mut Look<'_>, out: &mut Vec<Finding>) {
        let text = look.text;
        for words in std::mem::take(&mut look.rare).passes() {
            look.restart();
            for (start, end, lead) in words {
                match lead {
                    Lead::Hint(hint) => look.rare(hint, start, end, out),
                    Lead::Told(noun) => look.told(noun, start, end, out),
                }
            }
        }
        if !text.is_ascii() {
            look.restart();
            self.rare_beyond_ascii.each(text, |word, start, end| {
                if let Some((_, said)) = BEYOND_ASCII.get(word) {
                    look.foreign(*said, start, end, out);
                }
            });
        }
        if look.budget.has(0) {
            look.charge(speech::messages::look(text, out).cost);
        }
    }
}

/// How much longer a look takes where nothing can be foretold than in the same line again and again.
const SURPRISE: usize = 2;

/// One look at a text.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    text: &'a str,
    vendors: &'a vendors::Index,
    budget: &'a Budget,
    bare: grammar::Bare,
    passed_names: vendors::PassedNames,
    /// Rare words that were passed.
    rare: Seen,
    table: table::Last,
    markup: tables::LastOfMarkup,
    // Up to where names were read, secrets found, URLs and command lines read.
    names_until: usize,
    found_until: usize,
    urls_until: usize,
    commands_until: usize,
}

impl Look<'_> {
    /// A place where a word may stand that leads to a secret.
    #[inline]
    pub(crate) fn word(&mut self, at: usize, out: &mut Vec<Finding>) {
        let bytes = self.text.as_bytes();
        if is_keyword(bytes, at) {
            self.keyword(at, out);
        } else {
            self.rare.look(bytes, at, self.budget);
        }
    }

    /// The first character of a keyword: a name of a secret, or the colon of `://`.
    fn keyword(&mut self, at: usize, out: &mut Vec<Finding>) {
        let bytes = self.text.as_bytes();
        if bytes[at] == b':' {
            if at >= self.urls_until && self.budget.has(at) {
                let found = out.len();
                self.urls_until = urls::confirm(self.text, at, out);
                // A user and a password take longer than a host.
                let has_user = bytes.get(self.urls_until) == Some(&b'@') && out.len() == found;
                let passed = self.urls_until.saturating_sub(at + 3);
                self.charge(16 + 2 * passed + if has_user { 40 } else { 0 });
            }
        } else if at >= self.names_until {
            if bytes[at..].starts_with(b"hf_") {
                vendors::prefixed(self.vendors, self.text, at, out);
            } else {
                self.name(at, at + 2, out);
            }
        }
    }

    /// The first dash of `-----`.
    pub(crate) fn rule(&mut self, at: usize, out: &mut Vec<Finding>) {
        let behind = at + 5;
        if behind < self.found_until || !self.text.as_bytes()[behind..].starts_with(b"BEGIN ") {
            return;
        }
        // What is read for a key is not read again: no budget is needed.
        let until = private_keys::armoured(self.text, behind, out);
        self.found_until = self.found_until.max(until);
    }

    /// The dash of a flag.
    #[inline]
    pub(crate) fn flag(&mut self, at: usize, out: &mut Vec<Finding>) {
        let bytes = self.text.as_bytes();
        let is_flag = match bytes.get(at + 1) {
            Some(
                b'u' | b'U' | b'p' | b'P' | b'a' | b'A' | b'b' | b'B' | b'c' | b'k' | b'n' | b'w'
                | b'X',
            ) => true,
            Some(b'-') => matches!(bytes.get(at + 2), Some(b'u' | b'p')),
            // `-sSu`
            Some(b'f' | b'i' | b'L' | b's' | b'S' | b'v') => {
                matches!(bytes.get(at + 2..at + 5), Some([b'u', b' ', _] | [_, b'u', b' ']))
            }
            _ => false,
        };
        if is_flag && at >= self.commands_until && self.budget.has(at) {
            let (cost, until) = shell::confirm(self.text, at, out);
            self.charge(cost);
            self.commands_until = until;
        }
    }

    /// A run of token characters which has a digit.
    #[inline]
    pub(crate) fn run(&mut self, start: usize, end: usize, is_uuid: bool, out: &mut Vec<Finding>) {
        // No vendor's token begins as a UUID does, and a name before one proves nothing.
        let before = self.text.as_bytes()[..start].last();
        if is_uuid && !before.is_some_and(|b| vendors::is_joint(*b) || matches!(b, b' ' | b'=')) {
            // But for DeepL's, which end in `:fx`.
            if self.text.as_bytes().get(end) == Some(&b':') && self.text[end..].starts_with(":fx") {
                let kind = Kind::Secret;
                out.push(Finding { start, end: end + 3, kind, rule: "deepl_key" });
            }
            return;
        }
        self.token(start, end, is_uuid, out);
    }

    fn token(&mut self, start: usize, end: usize, is_uuid: bool, out: &mut Vec<Finding>) {
        let before = &self.text.as_bytes()[..start];
        // `Bearer …` without the name of a header before it, and the signature of a shared link.
        if before.ends_with(b"earer ") || before.ends_with(b"EARER ") {
            self.names_until = 0;
            return self.name(start - 6, start - 1, out);
        }
        if before.ends_with(b"sig=") {
            self.budget.spend(webhooks::signature(self.text, start, out).saturating_sub(start));
            return;
        }
        let is_hex = value::is_hex(&self.text.as_bytes()[start..end]);
        if is_hex {
            self.passed_names.push_hash(self.text.as_bytes(), start, end);
        }
        if manifests::bare_key(self.text, start, end, out) {
            return self.budget.spend(1024);
        }
        if places::product_key(self.text, start, end, out) {
            return self.budget.spend(32);
        }
        if end - start >= speech::coins::SHORTEST && speech::coins::key(self.text, start, end, out)
        {
            return;
        }
        let is_token = vendors::run(self.vendors, self.text, start, end, is_hex, out).is_some();
        let is_found = end <= self.found_until;
        self.budget.spend(if is_hex { 32 } else { 120 });
        if !is_token && !is_found && self.budget.has(start) {
            let is_secret = positions::run(self.text, start, end, out);
            self.budget.spend(if is_hex && !is_secret { 24 } else { 120 });
            if is_secret {
                return;
            }
        }
        if !is_token && !is_uuid && !is_found && self.budget.has(start) {
            let cost = self.passed_names.look(self.text, start, end, out);
            self.budget.spend(20 + cost);
        }
    }

    /// A new pass over the same text.
    fn restart(&mut self) {
        (self.names_until, self.found_until) = (0, 0);
    }

    fn rare(&mut self, hint: Hint, start: usize, end: usize, out: &mut Vec<Finding>) {
        if start < self.found_until || !self.budget.has(start) {
            return;
        }
        let text = self.text;
        let until = match hint {
            // Some have a sign of a join with them, so as not to be too short.
            Hint::Name => {
                let joint = usize::from(text.as_bytes()[end - 1] == b'=');
                return self.name(start, end - joint, out);
            }
            Hint::Putty => private_keys::putty(text, start, out),
            Hint::Argument(nth) => calls::argument(text, end, nth, Promise::Password, out),
            Hint::Key(nth) => calls::argument(text, end, nth, Promise::Secret, out),
            Hint::Bind => calls::bind(text, end, out),
            Hint::Dsn => calls::dsn(text, start, out),
            Hint::Cookies => calls::cookies(text, end, out),
            Hint::Jwt => calls::jwt(text, end, out),
            Hint::Slash => calls::behind_slash(text, end, out),
            Hint::Ftp => calls::ftp(text, end, out),
            Hint::Connect => calls::connect(text, end, out),
            Hint::Format => calls::format(text, end, out),
            Hint::Sql => assignment::identified_by(text, end, out),
            Hint::Directive => calls::directive(text, end, out),
            Hint::Ipsec => calls::ipsec(text, start, end, out),
            Hint::Send => calls::send(text, start, end, out),
            Hint::Echo => calls::echo(text, end, out),
            Hint::Accounts => accounts::accounts(text, end, out),
            Hint::Pgpass => tables::pgpass(text, start, out),
            Hint::Hash => hashes::of_account(text, start, out),
            Hint::Manifest => {
                let known = out.len();
                let read = manifests::secret(text, end, out);
                self.budget.spend(read.saturating_sub(end));
                // Only its values are passed by: what follows it may have others.
                out.get(known..).and_then(<[Finding]>::last).map_or(end, |last| last.end)
            }
            Hint::NetUse => calls::net_use(text, end, out),
            Hint::SnmpUser => calls::snmp_user(text, end, out),
            Hint::Account => calls::account(text, start, out),
            Hint::Pin => places::pin(text, end, out),
            Hint::Identify => calls::identify(text, end, out),
            Hint::Token => vendors::prefixed(self.vendors, text, start, out),
        };
        // Most of these looks read some hundred bytes to see that there is nothing.
        self.charge(48 + until.saturating_sub(start).max(64));
        self.found_until = self.found_until.max(until);
    }

    fn name(&mut self, start: usize, end: usize, out: &mut Vec<Finding>) {
        let bytes = self.text.as_bytes();
        let to = assignment::end_of_name(bytes, end);
        let floor = self.names_until.min(start);
        self.names_until = to;
        if start < self.found_until {
            return;
        }
        match bytes.get(to) {
            Some(b'(') => calls::characters(self.text, to, out),
            Some(b'\n' | b'.') if self.budget.has(start) => {
                let (until, cost) = accounts::below_file_name(self.text, to, out);
                self.charge(cost);
                self.found_until = self.found_until.max(until);
            }
            _ => {}
        }
        if let Some(until) = places::behind_name(self.text, to, out) {
            self.charge(48 + until - to);
            self.found_until = self.found_until.max(until);
        }
        if table::may_end_column(bytes, to) && self.budget.has(start) {
            let from = assignment::start_of_name(bytes, start, floor);
            if table::may_begin_column(bytes, from)
                || table::may_begin_wordy_column(bytes, from, to)
            {
                let cost = tables::confirm(self.text, (from, to), &mut self.table, out);
                self.charge(cost);
            }
        }
        if bytes[to..].starts_with(b"</t") && self.budget.has(start) {
            let cost = tables::of_markup(self.text, (start, to), &mut self.markup, out);
            self.charge(cost);
        }
        let known = out.len();
        if assignment::may_have_value(bytes, to) && self.budget.has(start) {
            let from = assignment::start_of_name(bytes, start, floor);
            let cost = assignment::confirm(self.text, from, to, &mut self.bare, out);
            self.charge(cost);
            if let Some(last) = out[known..].last().filter(|last| last.start >= to) {
                self.found_until = last.end;
                if bytes.get(to) == Some(&b' ') {
                    let end = last.end;
                    let known = out.len();
                    let looked = speech::behind_value(self.text, end, out);
                    self.spend(looked, end, known, out);
                }
            }
        }
        if out.len() == known && speech::may_follow(bytes, to) && self.budget.has(start) {
            let from = assignment::start_of_name(bytes, start, floor);
            let looked = speech::behind_name(self.text, from, to, out);
            self.spend(looked, to, known, out);
        }
    }

    /// A stem of a word for a secret, in a text beyond ASCII.
    fn foreign(&mut self, said: Said, start: usize, end: usize, out: &mut Vec<Finding>) {
        if start < self.found_until || !self.budget.has(start) {
            return;
        }
        self.charge(32);
        let (text, bytes) = (self.text, self.text.as_bytes());
        let (start, end) = foreign::whole_word(text, start, end);
        let (noun, cost) = said.noun(text, start, end);
        self.charge(cost);
        let Some(noun) = noun else { return };
        if noun == speech::Noun::Password {
            if table::may_end_column(bytes, end)
                && (table::may_begin_column(bytes, start)
                    || table::may_begin_wordy_column(bytes, start, end))
            {
                let cost = tables::of_passwords(text, start, &mut self.table, out);
                self.charge(cost);
            }
            let known = out.len();
            self.charge(assignment::confirm_foreign(text, start, end, out));
            if let Some(last) = out[known..].last() {
                self.found_until = self.found_until.max(last.end);
                return;
            }
        }
        self.told(noun, start, end, out);
    }

    /// A word that prose has before a secret.
    fn told(&mut self, noun: speech::Noun, start: usize, end: usize, out: &mut Vec<Finding>) {
        // `mdp="…"` is no prose.
        if noun == speech::Noun::Password && self.text.as_bytes().get(end) == Some(&b'=') {
            let known = out.len();
            self.name(start, end, out);
            if out.len() > known {
                return;
            }
        }
        if start >= self.found_until && self.budget.has(start) {
            let known = out.len();
            let looked = speech::told(self.text, (start, end), noun, out);
            self.spend(looked, end, known, out);
        }
    }

    /// Charges a look that takes so long in a text of which the processor can foretell what comes next.
    fn charge(&self, nanoseconds: usize) {
        self.budget.spend(nanoseconds * SURPRISE);
    }

    /// Charges a look from `from` on, and forgets what it found if that has a name of its own.
    fn spend(&mut self, looked: speech::Looked, from: usize, known: usize, out: &mut Vec<Finding>) {
        self.charge(looked.cost);
        let between = |found: &Finding| self.text.as_bytes().get(from..found.start);
        if out.get(known).and_then(between).is_some_and(has_own_name) {
            out.truncate(known);
            return;
        }
        self.found_until = self.found_until.max(looked.until);
    }
}

/// Whether the value behind `between` stands on a line of its own that names it: `username: …` below
/// `license: …`.
fn has_own_name(between: &[u8]) -> bool {
    let Some(line) = memchr::memrchr(b'\n', between) else { return false };
    let name = between[line + 1..].trim_ascii();
    let Some((sign, name)) = name.split_last() else { return false };
    matches!(sign, b':' | b'=')
        && name.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b))
}

/// Whether a word begins at `at` that nearly all secrets have before or in them: a part of a name, in
/// any case, `://`, or `hf_`, whose tokens have no digits.
#[inline]
fn is_keyword(bytes: &[u8], at: usize) -> bool {
    let head: [u8; 4] = bytes[at..].first_chunk().copied().unwrap_or_else(|| {
        let mut head = [0; 4];
        head[..bytes.len() - at].copy_from_slice(&bytes[at..]);
        head
    });
    // Letters of both cases become small ones at once, `_` becomes DEL, and nothing else a letter.
    let folded = (u32::from_le_bytes(head) | 0x2020_2020).to_le_bytes();
    matches!(
        &folded,
        [b'p', b'w', ..] | b"pass" | b"cret" | b"cred" | b"auth" | [b'h', b'f', 0x7f, _]
    ) || matches!(&folded[..3], b"tok" | b"key")
        || head.starts_with(b"://")
}
