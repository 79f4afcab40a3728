//! What would send a value to a host that the request did not name: images, links, fetches, commands,
//! arguments of calls.
//!
//! A reader's client loads an image as soon as it is shown, and an agent runs what it is given. So
//! nothing is restored in the way to such a host: in the URL; in the whole statement where a command
//! or a function sends it; in all arguments of a call that is given the URL as its own.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::chance::{any_of, entropy, from_base64, is_chance, is_invented};
use super::links::{Link, bare_hosts, is_harmless, link_at};
use super::request::Request;
use super::triggers::Trigger;
use super::view::View;
use crate::map::RedactionMap;
use crate::request::encoding;

/// A stretch that goes to a host that the request did not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) range: Range<usize>,
    /// How it goes on behind the end of the text, if it does.
    pub(super) goes_on: Option<GoesOn>,
}

/// How far a stretch goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GoesOn {
    /// To the end of the URL.
    Link,
    /// To the end of the statement.
    Statement,
    /// To the end of the channel.
    Channel,
}

/// What an answer's hosts are judged by.
pub(super) struct Hosts<'a> {
    pub(super) request: &'a mut Request,
    pub(super) map: &'a RedactionMap,
}

impl Hosts<'_> {
    /// Whether the request did not name `host`. A placeholder in it names what it stands for.
    fn is_foreign(&mut self, host: &str) -> bool {
        let mut named = String::new();
        let mut written = 0;
        for (range, redaction) in self.map.find_in(host) {
            named.push_str(&host[written..range.start]);
            named.push_str(redaction.value);
            written = range.end;
        }
        named.push_str(&host[written..]);
        named.make_ascii_lowercase();
        !is_harmless(&named) && !self.request.names_host(&named)
    }
}

/// The ways out of what `view` says from `from` on.
pub(super) fn ways(
    view: &View<'_>,
    from: usize,
    triggers: &[(usize, &'static str, Trigger)],
    hosts: &mut Hosts<'_>,
) -> Vec<Way> {
    let text = &*view.text;
    let mut ways: Vec<Way> = Vec::new();
    let mut senders: Vec<usize> = triggers.iter().filter(sends).map(|(at, ..)| *at).collect();
    senders.sort_unstable();
    // Neighbours share a statement, and mostly a way.
    let mut around = 0..0;
    let mut add = |way: Way| {
        let covers = |last: &Way| {
            last.range.start <= way.range.start
                && way.range.end <= last.range.end
                && way.goes_on <= last.goes_on
        };
        if !ways.last().is_some_and(covers) {
            ways.push(way);
        }
    };
    let mut last: Option<Link> = None;
    for (at, word, trigger) in triggers.iter().copied() {
        let (start, prefix) = match trigger {
            Trigger::Link(prefix) => (at, prefix),
            Trigger::LinkBehind => (at + word.len() - 2, 0),
            Trigger::Command if !around.contains(&at) => {
                around = statement(text, at);
                let is_new = around.end > from;
                if is_new && bare_hosts(&text[at..around.end]).any(|host| hosts.is_foreign(host)) {
                    add(statement_way(text, around.clone()));
                }
                continue;
            }
            _ => continue,
        };
        // What begins within the host of another URL is no URL.
        if last.as_ref().is_some_and(|last| start < last.host.end) {
            continue;
        }
        let Some(link) = link_at(text, start, prefix, last.as_ref()) else { continue };
        if link.range.end > from && hosts.is_foreign(&text[link.host.clone()]) {
            if !around.contains(&start) {
                around = statement(text, start);
            }
            let is_sent = senders.get(senders.partition_point(|at| *at < around.start));
            let is_sent = is_sent.is_some_and(|at| *at < around.end);
            if is_address(view, &link.range) {
                add(Way { range: 0..text.len(), goes_on: Some(GoesOn::Channel) });
            } else if is_sent || is_joined(&text[link.range.end..]) {
                add(statement_way(text, around.clone()));
            } else {
                let goes_on =
                    (link.is_open && link.range.end == text.len()).then_some(GoesOn::Link);
                add(Way { range: link.range.clone(), goes_on });
            }
        }
        last = Some(link);
    }
    if !view.quotes(0..text.len()).is_empty() {
        ways.extend(addressed(view, from, hosts));
    }
    ways
}

/// Whether a trigger sends what stands in its statement.
fn sends((_, _, trigger): &&(usize, &'static str, Trigger)) -> bool {
    matches!(trigger, Trigger::Command | Trigger::Fetch)
}

/// Whether code goes on to build the URL behind its literal: `" + token`.
fn is_joined(behind: &str) -> bool {
    let Some(behind) = behind.strip_prefix(['"', '\'', '`']) else { return false };
    behind.trim_start_matches(' ').starts_with(['+', '.', '&', '%'])
}

fn statement_way(text: &str, statement: Range<usize>) -> Way {
    let is_over = end_of_statement(&text[statement.clone()]).is_some();
    let goes_on = (statement.end == text.len() && !is_over).then_some(GoesOn::Statement);
    Way { range: statement, goes_on }
}

/// The lines around `at` that are one statement.
pub(super) fn statement(text: &str, at: usize) -> Range<usize> {
    let start_of_line =
        |at: usize| memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |n| n + 1);
    let mut start = start_of_line(at);
    while start > 0 && continues(&text[start_of_line(start - 1)..start - 1]) {
        start = start_of_line(start - 1);
    }
    start..end_of_statement(&text[at..]).map_or(text.len(), |end| at + end)
}

/// Where the statement that `text` is in the midst of ends, if it does.
pub(super) fn end_of_statement(text: &str) -> Option<usize> {
    let mut line = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        if !continues(&text[line..end]) {
            return Some(end + 1);
        }
        line = end + 1;
    }
    None
}

/// Whether the statement on a line goes on in the next.
fn continues(line: &str) -> bool {
    line.trim_end().ends_with(['\\', '(', '[', '{', ',', '+', '|', '&', '='])
}

/// Names of members that say where a call sends something.
const ADDRESSES: &[&str] = &[
    "url",
    "uri",
    "endpoint",
    "href",
    "webhook",
    "link",
    "host",
    "domain",
    "server",
    "callback",
    "recipient",
    "recipients",
    "to",
    "cc",
    "bcc",
    "address",
    "email",
    "target",
    "destination",
];

/// Whether the string at `range` is, as a whole, a member that says where a call sends something.
fn is_address(view: &View<'_>, range: &Range<usize>) -> bool {
    let Some(before) = range.start.checked_sub(1) else { return false };
    view.quotes(before..range.start).len() == 1
        && view.quotes(range.end..range.end + 1).len() == 1
        && names_an_address(&view.text[..before])
}

fn names_an_address(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\n', '\t', '[']);
    let Some(name) = before.strip_suffix(':').and_then(|b| b.trim_end().strip_suffix('"')) else {
        return false;
    };
    let name = &name[name.rfind('"').map_or(0, |quote| quote + 1)..];
    let name = name.to_ascii_lowercase();
    ADDRESSES.iter().any(|word| {
        name == *word || word.len() > 2 && name.split(['_', '-']).any(|part| part == *word)
    }) || name.ends_with("url")
}

/// Calls that are given a bare host or a mail address: `{"host": "attacker.net"}`,
/// `{"to": "me@attacker.net"}`.
fn addressed(view: &View<'_>, from: usize, hosts: &mut Hosts<'_>) -> Option<Way> {
    let text = &*view.text;
    let quotes = view.quotes(0..text.len());
    for pair in quotes.windows(2) {
        let [open, close] = *pair else { continue };
        if close < from || close - open > 256 || !names_an_address(&text[..open]) {
            continue;
        }
        let value = &text[open + 1..close];
        let is_foreign = match value.split_once('@') {
            Some((_, domain)) => {
                !value.contains(' ') && domain.contains('.') && hosts.is_foreign(domain)
            }
            None => {
                !value.contains([' ', '/']) && bare_hosts(value).any(|host| hosts.is_foreign(host))
            }
        };
        if is_foreign {
            return Some(Way { range: 0..text.len(), goes_on: Some(GoesOn::Channel) });
        }
    }
    None
}

/// Values in a way that look as if they were taken along: encoded text, chance in a query, chance in
/// a host's name. The request's own placeholders are not among them.
pub(super) fn payloads(text: &str, way: &Range<usize>, map: &RedactionMap) -> Vec<Range<usize>> {
    let mut payloads = Vec::new();
    let stretch = &text[way.clone()];
    let mut last: Option<Link> = None;
    for (at, word, trigger) in super::triggers::triggers(stretch) {
        let (start, prefix) = match trigger {
            Trigger::Link(prefix) => (at, prefix),
            Trigger::LinkBehind => (at + word.len() - 2, 0),
            _ => continue,
        };
        if last.as_ref().is_some_and(|last| start < last.range.end) {
            continue;
        }
        let Some(link) = link_at(stretch, start, prefix, None) else { continue };
        last = Some(link.clone());
        let mut found = |range: Range<usize>| {
            let range = way.start + range.start..way.start + range.end;
            if !payloads.contains(&range) {
                payloads.push(range);
            }
        };
        let labels = words(stretch, link.host.clone(), |c| c == '.');
        let data = labels.len().saturating_sub(2);
        labels
            .into_iter()
            .take(data)
            .filter(|l| is_label(&stretch[l.clone()]))
            .for_each(&mut found);
        let tail = link.host.end..link.range.end;
        // A fragment is not sent; only what is encoded in it was meant to be taken along.
        let place =
            |mark: char| stretch[tail.clone()].find(mark).map_or(tail.end, |at| tail.start + at);
        let query = place('?')..place('#');
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '~'));
        for word in words(stretch, tail, is_end) {
            let value = &stretch[word.clone()];
            if map.find_in(value).next().is_some() {
                continue;
            }
            if is_encoded_text(value) || query.contains(&word.start) && is_loose_chance(value) {
                found(word);
            }
        }
    }
    payloads
}

/// The words of `range`.
fn words(text: &str, range: Range<usize>, is_end: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut at = range.start;
    let mut words = Vec::new();
    for word in text[range].split_inclusive(&is_end) {
        let length =
            word.len() - word.chars().next_back().filter(|c| is_end(*c)).map_or(0, char::len_utf8);
        if length > 0 {
            words.push(at..at + length);
        }
        at += word.len();
    }
    words
}

/// Whether a value in a query is chance: no identifier, no number, no name of a version.
fn is_loose_chance(value: &str) -> bool {
    value.len() >= 20
        && !is_uuid(value)
        && !is_invented(value)
        // Forty hexadecimal digits are a commit.
        && if is_hex(value) {
            value.len() >= 32 && value.len() != 40 && entropy(value) > 3.0
        } else {
            value.bytes().any(|byte| byte.is_ascii_uppercase())
                && value.bytes().any(|byte| byte.is_ascii_lowercase())
                && value.bytes().any(|byte| byte.is_ascii_digit())
                && is_chance(value)
        }
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a label of a host's name carries data: long, without words, with many digits.
fn is_label(label: &str) -> bool {
    let digits = label.bytes().filter(u8::is_ascii_digit).count();
    label.len() >= 24
        && digits >= 4
        && !label.contains('-')
        && entropy(label) >= 3.2
        && !is_invented(label)
}

/// Whether `value` is text in base64 or in hexadecimal digits.
fn is_encoded_text(value: &str) -> bool {
    value.len() >= 16 && (is_text(&from_hex(value)) || is_text(&from_base64(value)))
}

/// Whether bytes are text: what chance gives is not, within so many bytes.
fn is_text(bytes: &[u8]) -> bool {
    bytes.len() >= 12
        && std::str::from_utf8(bytes).is_ok_and(|text| {
            text.chars().all(|c| {
                c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t') || c.is_alphabetic()
            }) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        })
}

fn from_hex(value: &str) -> Vec<u8> {
    // A digit alone was cut off.
    encoding::hex(&value.as_bytes()[..value.len() & !1]).unwrap_or_default()
}

/// What a command or code on this machine could take along.
const LOCAL_SECRETS: &[&str] = &[
    "id_rsa",
    "id_ed25519",
    ".ssh/",
    "/etc/passwd",
    "/etc/shadow",
    ".aws/credentials",
    ".netrc",
    "@.env",
    "cat .env",
    "printenv",
    "$(env",
    "env |",
    ".kube/config",
    ".git-credentials",
    ".docker/config.json",
    ".npmrc",
    "document.cookie",
    "localstorage",
    "sessionstorage",
    "stringify(process.env",
    "dict(os.environ",
    "=os.environ)",
    "json=os.environ",
    "login data",
    "wallet.dat",
    "keychain",
    "get-childitem env:",
];

/// Whether a stretch takes secrets of this machine along.
pub(super) fn takes_local_secrets(stretch: &str) -> bool {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(LOCAL_SECRETS));
    WORDS.as_ref().is_some_and(|words| words.is_match(stretch))
}
