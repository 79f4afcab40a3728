//! How the text around a place is written: in JSON strings, in a shell's quotes, in a URL.
//!
//! Only the text in front of the place counts, and of that only its end ([`REACH`]): what follows has
//! not come yet in a stream. A string literal of JSON is told by its opening quote: how
//! many backslashes are in front of it says how many literals are around each other, and what is in
//! front of these (a name and a colon, a bracket) that it is JSON and not a quote in prose. Where
//! nothing shows for certain, the text is taken for plain.

use std::borrow::Cow;
use std::iter;

use sluice_core::json::unescape;

use super::Surrounding;
use super::shell::{self, Quote};

/// How many bytes in front of a place are looked at in an answer.
pub(crate) const REACH: usize = 1024;
/// How many literals around each other are told apart.
const DEEPEST: usize = 4;
/// How many strings of a list are looked through for its bracket.
const LONGEST_LIST: usize = 32;
/// Names of members whose values are commands of a shell.
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "shell", "bash"];

/// Something around a place that has rules of its own for what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A string literal of JSON.
    Json,
    /// A shell's quotes.
    Shell(Quote),
    /// A string literal of a language that does not show.
    Quoted,
    /// A URL.
    Url(Part),
}

/// A part of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Behind the scheme: a name of a user, or a host.
    Authority,
    /// Behind the name of a user and a colon.
    Password,
    /// A path.
    Path,
    /// A query or a fragment.
    Query,
}

/// What is around a place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Context {
    /// From the innermost to the outermost.
    pub(crate) frames: Vec<Frame>,
    /// Whether the place is the beginning of the innermost literal of JSON.
    pub(crate) begins_literal: bool,
}

impl Context {
    /// What is around the end of `before`, a text or JSON, of which the last `reach` bytes are read.
    /// In JSON, the place is taken for one in a string literal.
    pub(crate) fn behind(before: &str, surrounding: Surrounding, reach: usize) -> Self {
        let from = before.floor_char_boundary(before.len().saturating_sub(reach));
        let tail = &before[from..];
        let base = match surrounding {
            Surrounding::Text => 0,
            Surrounding::JsonString => 1,
        };
        let begins_literal = innermost(tail, base).is_some_and(|it| it.inside == tail.len());
        Self { frames: frames(tail, base, DEEPEST), begins_literal }
    }

    /// How many literals of JSON are around the place.
    pub(crate) fn literals(&self) -> usize {
        self.frames.iter().filter(|frame| **frame == Frame::Json).count()
    }
}

fn frames(tail: &str, base: usize, depth: usize) -> Vec<Frame> {
    let Some(literal) = innermost(tail, base) else {
        let mut frames = within(&decoded(tail, base), false);
        frames.extend(iter::repeat_n(Frame::Json, base));
        return frames;
    };
    let Literal { opens, inside, levels } = literal;
    let is_command = name_of(tail, opens, inside, levels).is_some_and(|n| COMMANDS.contains(&n));
    let mut frames = within(&decoded(&tail[inside..], levels), is_command);
    frames.push(Frame::Json);
    if levels == base {
        return frames;
    }
    let mut around = match depth {
        0 => Vec::new(),
        _ => self::frames(&tail[..opens], base, depth - 1),
    };
    around.retain(|frame| matches!(frame, Frame::Json | Frame::Shell(_)));
    let adds_slashes = |frame: &&Frame| matches!(frame, Frame::Json | Frame::Shell(Quote::Double));
    // What does not show is JSON, too: nearly all strings have its escapes.
    if around.iter().filter(adds_slashes).count() == levels - 1 {
        frames.append(&mut around);
    } else {
        frames.extend(iter::repeat_n(Frame::Json, levels - 1));
    }
    frames
}

/// A string literal of JSON within which a text ends.
struct Literal {
    /// Where its opening quote begins, with the backslashes in front of it.
    opens: usize,
    /// Where what it says begins.
    inside: usize,
    /// How many literals there are around each other, with this one.
    levels: usize,
}

/// The innermost literal within which `tail` ends.
fn innermost(tail: &str, base: usize) -> Option<Literal> {
    let mut outside = usize::MAX;
    for (quote, _) in tail.rmatch_indices('"') {
        let slashes = slashes_before(&tail[..quote]);
        let levels = match slashes {
            0 => 1,
            1 => 2,
            3 => 3,
            7 => DEEPEST,
            _ => continue,
        };
        // Of each level, the last quote tells.
        if levels >= outside {
            continue;
        }
        let (opens, inside) = (quote - slashes, quote + 1);
        if levels <= base || opens_literal(tail, opens, inside, levels) {
            return Some(Literal { opens, inside, levels });
        }
        if levels == 1 {
            return None;
        }
        outside = levels;
    }
    None
}

/// Whether the quote at `opens..inside` opens a literal that goes on to the end of `tail`.
fn opens_literal(tail: &str, opens: usize, inside: usize, levels: usize) -> bool {
    let around = levels - 1;
    if has_break(&tail[inside..], around) {
        return false;
    }
    let quote = &tail[opens..inside];
    let mut rest = trimmed(&tail[..opens], around);
    if rest.ends_with(['[', '{']) || begins_text(rest, around) {
        return true;
    }
    if let Some(name) = rest.strip_suffix(':') {
        return without_quote(trimmed(name, around), quote).is_some();
    }
    // The strings ahead of it in a list.
    for _ in 0..LONGEST_LIST {
        let Some(ahead) = rest.strip_suffix(',') else { break };
        let Some(string) = without_quote(trimmed(ahead, around), quote) else { break };
        let mut quotes = string.rmatch_indices(quote).map(|(start, _)| start);
        let Some(start) = quotes.find(|start| !string[..*start].ends_with('\\')) else { break };
        rest = trimmed(&string[..start], around);
        if rest.ends_with('[') {
            return true;
        }
    }
    false
}

/// Whether nothing but `rest` is in front of a text that stands within so many literals: what opens
/// there is a document that is one string.
fn begins_text(rest: &str, around: usize) -> bool {
    match around {
        0 => rest.is_empty(),
        1 => without_quote(rest, "\"").is_some_and(|ahead| {
            let ahead = trimmed(ahead, 0);
            ahead.is_empty() || ahead.ends_with([':', '[', ','])
        }),
        _ => false,
    }
}

/// The name of the member that the literal at `opens..inside` is the value of.
fn name_of(tail: &str, opens: usize, inside: usize, levels: usize) -> Option<&str> {
    let quote = &tail[opens..inside];
    let around = levels - 1;
    let name = trimmed(&tail[..opens], around).strip_suffix(':')?;
    let name = without_quote(trimmed(name, around), quote)?;
    name.rfind(quote).map(|start| &name[start + quote.len()..])
}

/// `text` without the `quote` that it ends with, which has no backslash more.
fn without_quote<'t>(text: &'t str, quote: &str) -> Option<&'t str> {
    text.strip_suffix(quote).filter(|rest| !rest.ends_with('\\'))
}

fn slashes_before(text: &str) -> usize {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count()
}

/// The backslashes of an escape like `\n` within so many literals.
fn slashes_within(literals: usize) -> usize {
    1 << literals.saturating_sub(1)
}

/// Whether a letter behind `ahead` is one of an escape like `\n` within so many literals: of the
/// backslashes in front of it, those before its own are backslashes that are escaped themselves.
fn begins_escape(ahead: &str, literals: usize) -> bool {
    let own = slashes_within(literals);
    slashes_before(ahead) % (2 * own) == own
}

/// `text` without the white space that it ends with, as it is written within so many literals.
fn trimmed(text: &str, literals: usize) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_end_matches([' ', '\t', '\r', '\n']);
        let escaped = rest.strip_suffix(['n', 'r', 't']).filter(|_| literals > 0);
        match escaped.filter(|ahead| begins_escape(ahead, literals)) {
            Some(ahead) => rest = &ahead[..ahead.len() - slashes_within(literals)],
            None => return rest,
        }
    }
}

/// Whether a line ends in `text`, which is written within so many literals: a literal in it would
/// have ended as well.
fn has_break(text: &str, literals: usize) -> bool {
    if literals == 0 {
        return text.contains('\n');
    }
    text.match_indices('n').any(|(at, _)| begins_escape(&text[..at], literals))
}

/// `text` with its escapes decoded so many times over.
fn decoded(text: &str, times: usize) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..times {
        if !text.contains('\\') {
            break;
        }
        let mut out = Vec::with_capacity(text.len() + 64);
        unescape(&text, &mut out);
        text = Cow::Owned(String::from_utf8(out).unwrap_or_default());
    }
    text
}

/// What is around the end of a text that is not JSON itself.
fn within(text: &str, is_command: bool) -> Vec<Frame> {
    let mut frames = Vec::new();
    frames.extend(url(text).map(Frame::Url));
    if let Some(quote) = shell::quote_at_end(text, is_command) {
        frames.push(Frame::Shell(quote));
    } else if frames.is_empty() && is_quoted(text) {
        frames.push(Frame::Quoted);
    }
    frames
}

/// Whether `text` seems to end within a string that is assigned to something, or handed on.
fn is_quoted(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let Some(quote) = line.rfind('"') else { return false };
    line[..quote].trim_end().ends_with(['=', ':', '(', '>'])
}

/// The part of a URL within which `text` ends.
fn url(text: &str) -> Option<Part> {
    let word = &text[text.rfind(ends_url).map_or(0, |at| text.ceil_char_boundary(at + 1))..];
    let scheme = word.rfind("://")?;
    if !word[..scheme].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = &word[scheme + "://".len()..];
    let Some(end) = rest.find(['/', '?', '#']) else {
        return match (rest.contains('@'), rest.contains(':')) {
            // A host needs nothing.
            (true, _) => None,
            (false, true) => Some(Part::Password),
            (false, false) => Some(Part::Authority),
        };
    };
    let is_path = !rest[end..].contains(['?', '#']);
    Some(if is_path { Part::Path } else { Part::Query })
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'<>`\\".contains(c)
}

/// A quick look whether the end of `before`, which is JSON, may be within a URL.
pub(crate) fn may_be_in_url(before: &str) -> bool {
    let mut next = '\0';
    for (at, c) in before.char_indices().rev().take(REACH) {
        // Some encoders write `\/`.
        if ends_url(c) && !(c == '\\' && next == '/') {
            return false;
        }
        if c == ':' && [":/", ":\\/"].iter().any(|it| before[at..].starts_with(it)) {
            return true;
        }
        next = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Frame::{Json, Quoted, Shell, Url};
    use super::*;
    use Quote::{Double, Single};

    fn in_call(before: &str) -> Context {
        Context::behind(before, Surrounding::JsonString, REACH)
    }

    #[track_caller]
    fn check(before: &str, expected: &[Frame]) {
        let context = Context::behind(before, Surrounding::Text, REACH);
        assert_eq!(context.frames, expected, "{before}");
        // In the arguments of a call, the same text is what a string says.
        let literal = serde_json::to_string(before).unwrap();
        let call = format!("{{\"content\": {}", &literal[..literal.len() - 1]);
        let mut expected = expected.to_vec();
        expected.push(Json);
        assert_eq!(in_call(&call).frames, expected, "{call}");
    }

    #[test]
    fn json_is_told_by_what_opens_its_strings() {
        for before in [
            "{\"key\": \"",
            "```json\n{\n  \"a\": 1,\n  \"key\" : \"x ",
            "[\n  \"",
            "[\"a\", \"b\\\"c\",\n \"",
            "{\"",
            "+  \"key\":\"",
            "\"",
            " \n\"as \\\"ever\\\", ",
        ] {
            check(before, &[Json]);
        }
        check("{\"a\": \"{\\\"key\\\":\\n \\\"", &[Json, Json]);
        check("{\"a\": \"{\\n  \\\"b\\\": \\\"{\\\\\\\"c\\\\\\\": \\\\\\\"", &[Json, Json, Json]);
        for before in [
            "",
            "It is \"",
            "\"a\": \"b\" ",
            "\"a\", \"",
            "\"a\": \"b\n",
            "he said: \"x\" ",
            "\"a\" ",
        ] {
            check(before, &[]);
        }
        for before in ["key: \"", "let key = \"", "login(\"", "\"a\": \"b\"\nkey = \""] {
            check(before, &[Quoted]);
        }
    }

    #[test]
    fn a_shell_is_told_by_its_fence_its_line_or_its_call() {
        check("export KEY='", &[Shell(Single)]);
        check("$ login --password \"", &[Shell(Double)]);
        check("```sh\nA='it'\\''s'\nlogin '", &[Shell(Single)]);
        check("```sh\ncurl -d '{\"key\": \"", &[Json, Shell(Single)]);
        check("```bash\ncurl -d \"{\\\"key\\\": \\\"", &[Json, Shell(Double)]);
        check("```bash\nlogin \"https://x.io/?q=", &[Url(Part::Query), Shell(Double)]);
        for before in [
            "It's '",
            "```sh\nit 'is' ",
            "```sh\nx\n```\nIt's ",
            "```sh\ncat <<E\nIt's ",
            "```sh\n# It's\nx ",
            "```js\nlogin('",
        ] {
            check(before, &[]);
        }
        let call = r#"{"cwd":"/","command":"cd x\nlogin --password '"#;
        let expected = [Shell(Single), Json];
        assert_eq!(in_call(call).frames, expected);
    }

    #[test]
    fn the_parts_of_a_url_are_told_apart() {
        for (before, part) in [
            ("postgres://", Part::Authority),
            ("see <https://ada:", Part::Password),
            ("[x](https://x.io/", Part::Path),
            ("https://x.io/a?b=c&d=", Part::Query),
            ("https://x.io/#", Part::Query),
        ] {
            check(before, &[Url(part)]);
        }
        for before in ["https://ada:x@", "https://x.io/ ", "://", "mailto:", "a/b?c="] {
            check(before, &[]);
        }
    }

    #[test]
    fn the_beginning_of_a_literal_is_told() {
        let begins = |before| in_call(before).begins_literal;
        assert!(begins("{\"key\": \""));
        assert!(!begins("{\"key\": \"x") && !begins("{\"key\": \"x\\\""));
    }
}
