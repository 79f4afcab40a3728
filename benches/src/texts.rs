//! The texts that the security filter is measured on: ordinary ones and the worst.
//!
//! All are made here, the same on every run, so that nothing has to be downloaded to measure. The
//! ordinary ones look like what coding assistants send, without anything to hide.

use std::fmt::Write;

/// A text with its name in the tables.
#[derive(Debug)]
pub struct Text {
    /// Its name.
    pub name: &'static str,
    /// The text itself.
    pub text: String,
}

/// Source code, prose and minified JSON of at least `length` bytes each.
pub fn ordinary(length: usize) -> [Text; 3] {
    [
        Text { name: "code", text: repeated(length, 1, code) },
        Text { name: "prose", text: repeated(length, 2, prose) },
        Text { name: "json", text: format!("[{}]", repeated(length, 3, json)) },
    ]
}

/// A text that is all trigger: what a detector has to stop at, again and again, without anything to
/// be found or with a find at every step.
#[derive(Debug)]
pub struct Worst {
    /// Its name.
    pub name: &'static str,
    made_of: MadeOf,
}

#[derive(Debug)]
enum MadeOf {
    /// One trigger again and again.
    Repeated(&'static str),
    /// All triggers in no order.
    Mixed,
    /// All triggers in no order, each behind so many bytes of ordinary text: what such a text costs
    /// stays below what is refused.
    Diluted(usize),
    /// These letters in no order.
    Random(&'static [u8]),
    /// Part after part, each made anew: no two are the same, and nothing can be foretold.
    Made(Part),
}

impl Worst {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let repeated = TRIGGERS.iter().map(|&(name, unit)| (name, MadeOf::Repeated(unit)));
        let random = RANDOM.iter().map(|&(name, letters)| (name, MadeOf::Random(letters)));
        let mixed = std::iter::once(("all triggers, mixed", MadeOf::Mixed));
        let diluted = DILUTED.iter().map(|&(name, bytes)| (name, MadeOf::Diluted(bytes)));
        let made = MADE.iter().map(|&(name, part)| (name, MadeOf::Made(part)));
        let texts = repeated.chain(mixed).chain(diluted).chain(random).chain(made);
        texts.map(|(name, made_of)| Self { name, made_of }).collect()
    }

    /// About `length` bytes of it.
    pub fn text(&self, length: usize) -> String {
        match self.made_of {
            MadeOf::Repeated(unit) => unit.repeat(length / unit.len()),
            MadeOf::Mixed => repeated(length, 4, |numbers, out| {
                out.push_str(numbers.one_of(TRIGGERS).1);
            }),
            MadeOf::Diluted(bytes) => {
                let (ordinary, mut from) = (repeated(length, 6, prose), 0);
                let mut numbers = Numbers(7);
                let mut text = String::with_capacity(length + 1024);
                while text.len() < length {
                    text.push_str(numbers.one_of(TRIGGERS).1);
                    let to = (from + bytes).min(ordinary.len());
                    text.push_str(&ordinary[from..to]);
                    from = to;
                }
                text
            }
            MadeOf::Made(part) => repeated(length, 8, part),
            MadeOf::Random(letters) => {
                let mut numbers = Numbers(5);
                (0..length).map(|_| char::from(numbers.one_of(letters))).collect()
            }
        }
    }
}

/// What detectors stop at. Each is repeated.
const TRIGGERS: &[(&str, &str)] = &[
    ("@", "@"),
    ("a@", "a@"),
    ("a@a.", "a@a."),
    ("a.", "a."),
    ("digits", "1234567890"),
    ("ones", "1"),
    ("digit groups", "12 "),
    ("phone-like", "+1 (555) 010-"),
    ("card-like", "4111 1111 1111 1112 "),
    ("SSN-like", "078-05-1120-"),
    ("IBAN-like", "GB00 WEST 1234 "),
    ("IPv4-like", "192.168.1."),
    ("version-like", "1.2.3.4.5."),
    ("::", "::"),
    ("IPv6-like", "2001:db8:"),
    ("MAC-like", "00:1b:44:11:"),
    ("password=", "password="),
    ("password: \"", "password: \""),
    ("password=x", "password=hunter2secret "),
    ("\"token\":\"", "\"token\":\""),
    ("password=reference", "password=${X}\n"),
    ("\"password\": \"words\"", "\"password\": \"Enter your password\",\n"),
    ("password is", "the password is required "),
    ("key=", "key="),
    ("token-", "token-"),
    ("auth(\"", "auth(\""),
    ("\"secret\", \"", "\"secret\", \""),
    ("pass: [", "pass: [x "),
    ("pw=\\", "pw=\\"),
    ("-p", " -p"),
    ("api_key=AKIA", "api_key=AKIA"),
    ("AKIA", "AKIA"),
    ("sk-", "sk-"),
    ("ghp_", "ghp_"),
    ("eyJ", "eyJ"),
    ("eyJ.eyJ.", "eyJhbGciOi.eyJzdWIiOi."),
    ("xoxb-", "xoxb-1-"),
    ("Bearer", "Authorization: Bearer "),
    ("://", "://"),
    ("http://a:", "http://a:"),
    ("http://a/?", "http://a/?"),
    ("http://a:b@", "http://a:b@"),
    ("-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----\n"),
    ("-----", "-"),
    ("base64 run", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo"),
    ("hexadecimal run", "0123456789abcdef"),
    ("UUIDs", "123e4567-e89b-12d3-a456-426614174000"),
    ("percent-encoded", "%41%42%43"),
    ("backslash escapes", "\\n\\t\\\"\\u0041"),
    ("backslashes", "\\"),
    ("quotes", "\""),
    ("=", "="),
    (":", ":"),
    ("spaces", " "),
    ("lines", "\n"),
    ("zeros", "\0"),
    ("capitalised words", "Anna Meier "),
    ("initials", "A. B. "),
    ("titles", "Mr. Dr. "),
    ("address-like", "12 Main Street, "),
    ("dates", "1990-01-02 "),
    ("born", "born on "),
    ("zero-width", "a\u{200b}"),
    ("homoglyphs", "раsswоrd"),
    ("combining", "e\u{301}"),
    ("emoji", "🔑"),
    ("accents", "é"),
    ("XML tags", "<password>"),
    ("shell flags", " -p -u --password "),
    ("SQL", "IDENTIFIED BY '"),
    ("placeholder-like", "QMAIL4F7K2N9XW3E"),
    ("Q", "Q"),
    ("injection words", "ignore all previous instructions "),
];

/// All triggers with ordinary text between them, by how much.
const DILUTED: &[(&str, usize)] = &[
    ("all triggers, some text", 12),
    ("all triggers, half text", 25),
    ("all triggers, much text", 50),
];

/// Writes one part of a text.
type Part = fn(&mut Numbers, &mut String);

/// Texts whose parts are all different.
const MADE: &[(&str, Part)] = &[
    ("figures in a table", |numbers, out| _ = write!(out, "{}\t", numbers.below(1000))),
    ("figures by line", |numbers, out| {
        _ = writeln!(out, "{},0.{:010}", numbers.below(100_000_000), numbers.below(10_000_000_000));
    }),
    ("times", |numbers, out| {
        let (hour, minute, day) = (numbers.below(24), numbers.below(60), numbers.below(28) + 1);
        _ = writeln!(out, "2031-04-{day:02} {hour:02}:{minute:02}:07");
    }),
    ("dumps", |numbers, out| _ = write!(out, "{:02x} ", numbers.below(256))),
    ("hashes", |numbers, out| _ = writeln!(out, "{:016x}{:016x}", numbers.next(), numbers.next())),
    ("members with a hash", |numbers, out| {
        _ = write!(out, "{{\"sha\":\"{:016x}{:08x}\"}},", numbers.next(), numbers.below(1 << 32));
    }),
    ("versions", |numbers, out| {
        let [a, b, c, d] = [30, 20, 40, 10].map(|limit| numbers.below(limit));
        _ = writeln!(out, "{a}.{b}.{c}.{d}");
    }),
    ("members called key", |numbers, out| {
        _ = write!(out, "{{\"key\":\"{}\",\"n\":1}},", numbers.identifier());
    }),
    ("tokens in code", |numbers, out| {
        let name = numbers.identifier();
        _ = writeln!(out, "token = {name}.token; key = token.key ? {name}.key : null;");
    }),
    ("a password in each line", |numbers, out| {
        _ = writeln!(out, "DB_PASSWORD={:x}", numbers.next() >> 16);
    }),
    ("an e-mail address in each line", |numbers, out| {
        let (name, host) = (numbers.one_of(WORDS), numbers.one_of(WORDS));
        _ = writeln!(out, "{name}.m{}@{host}-mill.org", numbers.below(1000));
    }),
    ("an IP address in each line", |numbers, out| {
        let [b, c, d] = [250, 250, 250].map(|limit| numbers.below(limit) + 2);
        _ = writeln!(out, "{}.{b}.{c}.{d}", numbers.below(90) + 80);
    }),
    ("a phone number in each line", |numbers, out| {
        let [a, b, c] = [1000, 10_000, 10_000].map(|limit| numbers.below(limit));
        _ = writeln!(out, "+49 8{a:03} {b:04} {c:04}");
    }),
    ("a name in each line", |numbers, out| {
        let (first, last) = (numbers.one_of(FIRST_NAMES), numbers.one_of(LAST_NAMES));
        _ = writeln!(out, "{first} {last}");
    }),
    ("headings", |numbers, out| {
        _ = write!(out, "{} {} ", numbers.type_name(), capitalised(numbers.one_of(WORDS)));
    }),
    ("brackets and quotes", |numbers, out| {
        let [open, name, close] = [
            &["{", "[", "(", "\"", "\\\"", "'"][..],
            &["key", "pw", "token", "auth", "://", "-p "][..],
            &["=", ":", "\":\"", "=\\", "(\"", ": ["][..],
        ]
        .map(|list| numbers.one_of(list));
        for part in [open, name, close] {
            out.push_str(part);
        }
    }),
    ("JSON in strings", |numbers, out| {
        let depth = numbers.below(4);
        let slashes = "\\".repeat((1 << depth) - 1);
        _ = write!(
            out,
            "{{{slashes}\"token{slashes}\":{slashes}\"{}{slashes}\"}},",
            numbers.below(9)
        );
    }),
    ("data URLs", |numbers, out| {
        _ = write!(out, "data:text/plain;base64,{:x} ", numbers.below(1 << 20));
    }),
];

const FIRST_NAMES: &[&str] =
    &["Anna", "Peter", "Maria", "Carlos", "Ingrid", "Olivia", "Liam", "Fatima", "Tomasz"];
const LAST_NAMES: &[&str] =
    &["Meier", "Garcia", "Kowalski", "Nguyen", "Larsen", "Dubois", "Rossi", "Williams"];

/// Random texts, by the letters that they are made of.
const RANDOM: [(&str, &[u8]); 4] = [
    ("random digits", b"0123456789"),
    ("random hexadecimal", b"0123456789abcdef"),
    (
        "random letters and digits",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    ),
    ("random punctuation", b"!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\aB1 \n"),
];

/// A generator of numbers: the same ones on every run (SplitMix64).
#[derive(Debug)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// An identifier of two or three words.
    fn identifier(&mut self) -> String {
        let mut name = self.one_of(WORDS).to_owned();
        for _ in 0..=self.below(2) {
            name.push('_');
            name.push_str(self.one_of(WORDS));
        }
        name
    }

    /// The same with its words' first letters in upper case.
    fn type_name(&mut self) -> String {
        self.identifier().split('_').map(capitalised).collect()
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// `part` again and again, until the text has `length` bytes.
fn repeated(length: usize, seed: u64, part: Part) -> String {
    let mut numbers = Numbers(seed);
    let mut text = String::with_capacity(length + 1024);
    while text.len() < length {
        part(&mut numbers, &mut text);
    }
    text
}

/// One function, type, test or configuration block. Writing to a `String` cannot fail.
fn code(numbers: &mut Numbers, out: &mut String) {
    let (a, b, c) = (numbers.identifier(), numbers.identifier(), numbers.identifier());
    let (kind, other) = (numbers.type_name(), numbers.type_name());
    let (word, verb) = (numbers.one_of(WORDS), numbers.one_of(WORDS));
    let (n, m) = (numbers.below(4096), numbers.below(100));
    let _ = match numbers.below(8) {
        0 => write!(
            out,
            "/// Gives the {word} of `{a}` back, or None where there is no {verb}.\n\
             pub fn {a}({b}: &{kind}, limit: usize) -> Option<{other}> {{\n    \
             let {c} = {b}.{word}().filter(|item| item.len() < {n})?;\n    \
             for (i, part) in {c}.iter().enumerate().skip({m}) {{\n        \
             if part.is_{verb}() && i % 2 == 0 {{\n            \
             return Some({other}::new(part, limit - {m}, \"{word}\"));\n        }}\n    }}\n    \
             None\n}}\n\n"
        ),
        1 => write!(
            out,
            "class {kind}({other}):\n    \"\"\"Holds the {word} and the {verb} of a {c}.\"\"\"\n\n    \
             def __init__(self, {a}: int = {n}, {b}: str | None = None) -> None:\n        \
             super().__init__()\n        self.{a} = {a}\n        self._{b} = {b} or \"{word}\"\n\n    \
             def {c}(self, items: list[str]) -> dict[str, int]:\n        \
             return {{item: len(item) * {m} for item in items if item != self._{b}}}\n\n\n"
        ),
        2 => write!(
            out,
            "export async function {word}{kind}({a}: {other}[], options = {{ retries: {m} }}) {{\n  \
             const {b} = await Promise.all({a}.map((entry) => this.{verb}.load(entry.id)));\n  \
             if ({b}.length > {n}) {{\n    throw new Error(`too many {word}: ${{{b}.length}}`);\n  }}\n  \
             return {b}.filter(Boolean).map(({{ {c}, ...rest }}) => ({{ ...rest, {c} }}));\n}}\n\n"
        ),
        3 => write!(
            out,
            "func (s *{kind}) {other}(ctx context.Context, {word} string) (*{other}, error) {{\n\t\
             if err := s.{verb}.Check(ctx, {word}); err != nil {{\n\t\t\
             return nil, fmt.Errorf(\"{a}: %w\", err)\n\t}}\n\t\
             // The {word} is kept for {m} more turns, see {b}.\n\t\
             return &{other}{{ID: {n}, Name: {word}, Size: len(s.items)}}, nil\n}}\n\n"
        ),
        4 => write!(
            out,
            "{word}:\n  name: {a}\n  replicas: {m}\n  image: registry.local/{b}:{m}.{n}\n  env:\n    \
             - name: {}\n      value: \"{n}\"\n  resources:\n    limits: {{ cpu: {m}m, memory: {n}Mi }}\n",
            c.to_uppercase()
        ),
        5 => writeln!(
            out,
            "2031-04-{:02}T11:{:02}:07.{m:03}Z  INFO {word}::{verb}: {a} done items={n} took={m}ms \
             worker={b} retry=false",
            m % 28 + 1,
            m % 60
        ),
        6 => write!(
            out,
            "diff --git a/src/{a}.rs b/src/{a}.rs\nindex {:07x}..{:07x} 100644\n@@ -{m},6 +{m},7 @@\n \
             use crate::{word}::{kind};\n-    let {b} = {c}.{verb}({n});\n\
             +    let {b} = {c}.{verb}({n}).min({m});\n",
            numbers.next() >> 36,
            numbers.next() >> 36
        ),
        _ => write!(
            out,
            "#[test]\nfn {a}_keeps_the_{word}() {{\n    let {b} = {kind}::default();\n    \
             assert_eq!({b}.{verb}(&[{m}, {n}, 0x{n:x}]), Ok({m}), \"{word} {{}}\", {b}.len());\n}}\n\n"
        ),
    };
}

/// One sentence, now and then with a number, and a paragraph's end.
fn prose(numbers: &mut Numbers, out: &mut String) {
    let length = 6 + numbers.below(14);
    for i in 0..length {
        let word =
            if numbers.below(3) == 0 { numbers.one_of(WORDS) } else { numbers.one_of(SMALL_WORDS) };
        match i {
            0 => out.push_str(&capitalised(word)),
            _ if numbers.below(40) == 0 => _ = write!(out, " {}", numbers.below(3000)),
            _ if numbers.below(50) == 0 => _ = write!(out, " {}", capitalised(word)),
            _ if numbers.below(12) == 0 => _ = write!(out, ", {word}"),
            _ => _ = write!(out, " {word}"),
        }
    }
    let end = numbers.one_of(&[". ", ". ", ". ", "? ", ": ", ".\n\n"]);
    out.push_str(end);
}

/// One record of an array.
fn json(numbers: &mut Numbers, out: &mut String) {
    let (a, b) = (numbers.identifier(), numbers.identifier());
    let _ = write!(
        out,
        "{}{{\"id\":{},\"kind\":\"{a}\",\"ok\":{},\"score\":0.{},\"tags\":[\"{}\",\"{}\"],\
         \"parent\":\"{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}\",\"{b}\":{{\"x\":{},\"y\":-{}.5,\
         \"note\":\"{} the {} of {}\\n\"}}}}",
        if out.is_empty() { "" } else { "," },
        numbers.below(100_000),
        numbers.below(2) == 0,
        numbers.below(10_000),
        numbers.one_of(WORDS),
        numbers.one_of(WORDS),
        numbers.next() >> 32,
        numbers.next() >> 48,
        numbers.next() >> 52,
        numbers.next() >> 52,
        numbers.next() >> 16,
        numbers.below(1920),
        numbers.below(1080),
        numbers.one_of(WORDS),
        numbers.one_of(WORDS),
        numbers.one_of(WORDS),
    );
}

/// Words of programs and of talk about them.
const WORDS: &[&str] = &[
    "account", "action", "adapter", "answer", "array", "batch", "block", "body", "branch",
    "buffer", "build", "byte", "cache", "call", "change", "channel", "check", "chunk", "client",
    "clock", "column", "command", "config", "content", "context", "count", "cursor", "data",
    "date", "default", "delay", "depth", "detail", "device", "draft", "edge", "entry", "error",
    "event", "example", "factor", "field", "file", "filter", "flag", "folder", "format", "frame",
    "function", "gateway", "graph", "group", "handle", "hash", "header", "height", "history",
    "host", "image", "index", "input", "item", "job", "journal", "kernel", "label", "latency",
    "layer", "length", "level", "library", "limit", "line", "list", "load", "lock", "log", "loop",
    "map", "margin", "memory", "message", "method", "metric", "mode", "model", "module", "node",
    "number", "object", "offset", "option", "order", "output", "owner", "packet", "page", "parser",
    "part", "path", "pattern", "payload", "phase", "pixel", "pool", "port", "price", "process",
    "profile", "project", "prompt", "query", "queue", "range", "rate", "reader", "record",
    "region", "report", "request", "result", "retry", "role", "root", "route", "row", "rule",
    "sample", "schema", "scope", "screen", "script", "search", "server", "service", "setting",
    "shape", "signal", "size", "slot", "socket", "source", "stage", "state", "status", "step",
    "store", "stream", "string", "style", "summary", "switch", "table", "target", "task",
    "template", "test", "text", "thread", "ticket", "time", "title", "topic", "trace", "tree",
    "turn", "type", "unit", "update", "upload", "usage", "value", "vector", "version", "view",
    "volume", "warning", "weight", "width", "window", "worker", "writer", "zone",
];

/// The words between them.
const SMALL_WORDS: &[&str] = &[
    "the", "the", "the", "a", "a", "of", "of", "and", "and", "to", "to", "in", "is", "that", "it",
    "for", "on", "with", "as", "was", "be", "by", "at", "this", "which", "or", "from", "but",
    "not", "are", "have", "they", "we", "one", "all", "there", "when", "so", "if", "more", "about",
    "into", "than", "then", "some", "only", "other", "over", "also", "after", "because", "before",
    "every",
];

/// `text` in pieces of `length` bytes or a few less.
pub fn pieces(text: &str, length: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, left) = rest.split_at(rest.floor_char_boundary(length).max(1).min(rest.len()));
        pieces.push(piece);
        rest = left;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_same_on_every_run_and_as_long_as_asked_for() {
        for (one, other) in ordinary(10_000).iter().zip(ordinary(10_000)) {
            assert_eq!(one.text, other.text, "{}", one.name);
            assert!((10_000..12_000).contains(&one.text.len()), "{}", one.name);
        }
        for worst in Worst::all() {
            let text = worst.text(10_000);
            assert_eq!(text, worst.text(10_000), "{}", worst.name);
            assert!((9_900..10_200).contains(&text.len()), "{}", worst.name);
        }
    }

    #[test]
    fn the_json_is_json() {
        let [_, _, json] = ordinary(10_000);
        assert!(serde_json::from_str::<serde_json::Value>(&json.text).is_ok());
    }
}
