//! Where the value of a name stands: `name = "value"`, `name: value`, `"name", "value"`,
//! `--name value`, `<name>value</name>`, "the name is value", in whatever language or format.
//!
//! Text is often itself inside a string, so `\"` is a quote and `\n` the end of a line.

use super::strings::{end_of_quoted, skip_wrapping};
use super::{directives, joins, judge, strings};

pub(in crate::detectors) use super::strings::quoted;
pub(super) use super::strings::wrapped;

/// How far behind a name its value may begin.
pub(super) const GAP: usize = 128;
/// The longest value that is read. Longer ones than [`judge`](super::judge) takes are all the same.
pub(super) const LONGEST: usize = judge::LONGEST + 32;
/// How many bytes tell whether a value without quotes ends here.
const SEEN_AT_AN_END: usize = 3;

/// How a name and its value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// `name=value` without spaces: environment files, flags, connection strings, queries.
    Tight,
    /// `name = value`.
    Spaced,
    /// `name: value`.
    Colon,
    /// `("name", "value")`.
    Argument,
    /// `name("value")`.
    Call,
    /// `<name>value</name>`.
    Element,
    /// `--name value`, `requirepass value`.
    Space,
    /// `name 7 value`, `name ascii-text "value"`.
    Directive,
    /// "the name is value".
    Prose,
    /// A cell below the name.
    Cell,
}

/// Stands for the quote around bytes that are listed one by one.
pub(super) const BYTES: u8 = b'[';

/// A value with the place where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) join: Join,
    /// The quote around it.
    pub(super) quote: Option<u8>,
    /// Whether the name itself is quoted: `"name": …`.
    pub(super) quoted_name: bool,
}

/// The value behind a word of a language that joins them without blanks: `密码是：…`, `パスワードは…`.
pub(super) fn value_of_foreign_name(bytes: &[u8], end: usize) -> Option<Value> {
    const PARTICLES: &[&str] = &["是", "为", "為", "は", "：", "는", "은", "이", "를", "を"];
    let limit = bytes.len().min(end + GAP);
    let mut reader = Reader { bytes, at: end, limit };
    let mut particles = 0;
    while PARTICLES.iter().any(|particle| reader.skip(particle.as_bytes())) || reader.skip_blanks()
    {
        particles += 1;
    }
    if matches!(reader.peek(), b':' | b'=' | b'"' | b'\'' | b'`') && reader.at == end {
        return value_of_name(bytes, end, &mut Bare::default());
    }
    let sign = reader.peek();
    if matches!(sign, b':' | b'=') {
        reader.at += 1;
        reader.skip_blanks();
        particles += 1;
    }
    let join = if sign == b'=' { Join::Spaced } else { Join::Prose };
    (particles > 0).then(|| value(&mut reader, join, false, &mut Bare::default())).flatten()
}

/// A place in the text.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) limit: usize,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> u8 {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> u8 {
        if self.at + n >= self.limit { 0 } else { self.bytes[self.at + n] }
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..self.limit).unwrap_or_default()
    }

    #[inline]
    pub(super) fn skip(&mut self, text: &[u8]) -> bool {
        // Most texts fail at their first byte; comparing all of one is a call.
        let is_next = self.bytes.get(self.at) == text.first()
            && self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Spaces and tabs, also as `\t`.
    pub(super) fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        while matches!(self.peek(), b' ' | b'\t') || self.peek() == b'\\' && self.ahead(1) == b't' {
            self.at += 1 + usize::from(self.peek() == b'\\');
        }
        self.at > start
    }

    /// Blanks and line breaks, also as `\n`.
    pub(super) fn skip_space(&mut self) {
        loop {
            match (self.peek(), self.ahead(1)) {
                (b' ' | b'\t' | b'\n' | b'\r', _) => self.at += 1,
                (b'\\', b't' | b'n' | b'r') => self.at += 2,
                _ => return,
            }
        }
    }

    /// So many bytes further.
    fn behind(&self, n: usize) -> Self {
        Self { at: self.at + n, ..*self }
    }

    /// Whether a string begins here, or what is made of one.
    pub(super) fn is_at_string(&self) -> bool {
        let mut ahead = *self;
        skip_wrapping(&mut ahead);
        ahead.quote().is_some()
    }

    /// A quote, also as `\"`: which one, and how many backslashes stand before it.
    pub(super) fn quote(&mut self) -> Option<(u8, usize)> {
        let slashes = (0..8).take_while(|n| self.ahead(*n) == b'\\').count();
        let quote = self.ahead(slashes);
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        self.at += slashes + 1;
        Some((quote, slashes))
    }
}

/// The value of the name that ends at `end`.
pub(super) fn value_of_name(bytes: &[u8], end: usize, bare: &mut Bare) -> Option<Value> {
    let limit = bytes.len().min(end + GAP);
    let mut reader = Reader { bytes, at: end, limit };
    let quoted_name = reader.quote().is_some();
    if quoted_name || matches!(reader.peek(), b']') {
        // `["name"]`
        // `input[name="password"]`
        if reader.skip(b"]") && reader.ahead(1) == b',' {
            reader.quote();
        }
    }
    let blank = reader.skip_blanks();
    let join = join(&mut reader, quoted_name, blank)?;
    value(&mut reader, join, quoted_name, bare)
}

/// Reads what joins a name to its value.
fn join(reader: &mut Reader<'_>, quoted: bool, blank: bool) -> Option<Join> {
    // `**password**: …`
    if reader.peek() == b'*' && !reader.skip(b"**") {
        return None;
    }
    // `password?: string = …`
    if !quoted && !blank && matches!(reader.peek(), b'?' | b'!') && reader.ahead(1) == b':' {
        reader.at += 1;
    }
    if !quoted && blank && joins::behind_attributes(reader) {
        return Some(Join::Element);
    }
    match (reader.peek(), reader.ahead(1)) {
        (b'=', b'>') | (b':', b'=') | (b'=', b'=') | (b'-', b'>') => {
            reader.at += 2;
            reader.skip(b"=");
            reader.skip_blanks();
            Some(Join::Spaced)
        }
        (b'<', b'-') => {
            reader.at += 2;
            reader.skip_blanks();
            Some(Join::Spaced)
        }
        // `${PASSWORD:-…}`
        (b':', b'-') if !quoted && !blank => {
            reader.at += 2;
            Some(Join::Tight)
        }
        (b'?' | b'+' | b'|', b'=') => {
            reader.at += 2;
            let spaced = reader.skip_blanks();
            Some(if blank || spaced { Join::Spaced } else { Join::Tight })
        }
        (b'=', _) => {
            reader.at += 1;
            let spaced = reader.skip_blanks();
            // `%3D` and `=3D` of encoded text are not told apart from values here.
            Some(if blank || spaced { Join::Spaced } else { Join::Tight })
        }
        (b':', b':') => None,
        (b':', _) => {
            reader.at += 1;
            reader.skip(b"**");
            if reader.peek() == b'<' && !quoted {
                return joins::behind_markup(reader).map(|_| Join::Colon);
            }
            let spaced = reader.skip_blanks();
            if !quoted && skip_type(reader) {
                return Some(Join::Spaced);
            }
            if joins::described(reader) {
                return Some(Join::Colon);
            }
            if quoted {
                joins::behind_colon(reader);
            }
            Some(if spaced || quoted { Join::Colon } else { Join::Tight })
        }
        (b',', _) if quoted && joins::attribute(reader) => Some(Join::Colon),
        (b',', _) if quoted => {
            reader.at += 1;
            reader.skip_space();
            reader.skip(b"with: ");
            Some(Join::Argument)
        }
        (b',', b' ') if !quoted && !blank => {
            reader.at += 2;
            // The length before what is copied.
            let digits = reader.rest().iter().take_while(|b| b.is_ascii_digit()).count();
            reader.at += digits;
            reader.skip(b", ");
            Some(Join::Argument)
        }
        (b'{', b'"' | b'\'') if !quoted && !blank => {
            reader.at += 1;
            Some(Join::Call)
        }
        (b'(', _) if !quoted => {
            reader.at += 1;
            reader.skip_space();
            reader.at += joins::user_of_fact(reader.rest());
            Some(Join::Call)
        }
        (b'<', b'/') if !quoted => joins::behind_markup(reader),
        (b'>', _) if !blank => {
            reader.at += 1;
            joins::nested_value(reader);
            Some(Join::Element)
        }
        (b'}', b' ') if !quoted && joins::cell_of_robot(reader) => Some(Join::Colon),
        (b'.', _) if !quoted && joins::method(reader) => Some(Join::Call),
        (b')' | b']', _) if joins::behind_look_up(reader) => Some(Join::Spaced),
        (b')', _) if !quoted && joins::alternative(&mut reader.behind(1)) => {
            reader.at += 1;
            joins::alternative(reader);
            Some(Join::Spaced)
        }
        (b'[', _) if !quoted => {
            // `char password[] = "…"`, `uint8_t aes_key[16] = {…}`
            let is_size = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
            reader.at += 1;
            reader.at += reader.rest().iter().take(16).take_while(is_size).count();
            if !reader.skip(b"]") {
                return None;
            }
            reader.skip_blanks();
            let word = reader.rest().iter().take_while(|b| b.is_ascii_alphabetic()).count();
            reader.at += word;
            reader.skip_blanks();
            reader.skip(b"=").then(|| {
                reader.skip_blanks();
                Join::Spaced
            })
        }
        (b'|' | b'.', b' ') if quoted && blank => {
            reader.at += 2;
            reader.skip_blanks();
            Some(Join::Spaced)
        }
        (b'\r' | b'\n' | b'\\', _) if quoted && joins::form_part(reader) => Some(Join::Colon),
        _ if quoted && joins::attribute(reader) => Some(Join::Argument),
        _ if quoted && blank && joins::element_of_name(reader) => Some(Join::Element),
        (b'\n' | b'\r' | b'\\', _) if !quoted && joins::attribute(reader) => Some(Join::Colon),
        // `When I fill in "password" with "…"`
        (b'w', b'i') if quoted && blank && reader.skip(b"with ") => Some(Join::Argument),
        // A map of Kotlin.
        (b't', b'o') if quoted && blank && reader.skip(b"to ") => Some(Join::Argument),
        // Lists of Tcl, MATLAB and Lisp have no commas.
        (b'"' | b'\'', _) if quoted && blank => Some(Join::Argument),
        _ if quoted => None,
        _ if blank => Some(after_blank(reader)),
        _ => None,
    }
}

/// What a blank behind a name means: prose, a declaration with a type, a flag.
fn after_blank(reader: &mut Reader<'_>) -> Join {
    const VERBS: &[&[u8]] = &[
        b"is now ",
        b"is set to ",
        b"set to ",
        b"was set to ",
        b"is ",
        b"was ",
        b"are ",
        b"will be ",
        b"to ",
        b"of ",
        b"here: ",
        b"here is ",
        b"for this is ",
        b"should be ",
        b"ist ",
        b"lautet ",
        b"es ",
        b"est ",
        b"is: ",
        b"is:\n",
        b"below: ",
        b"changed to ",
        b"equals ",
        b"BY ",
        b"should be: ",
    ];
    let first = reader.peek();
    for verb in VERBS {
        if verb[0] == first && reader.skip(verb) {
            reader.skip(b"still ");
            reader.skip_blanks();
            reader.skip(b": ");
            return Join::Prose;
        }
    }
    if joins::input_of_robot(reader) {
        return Join::Colon;
    }
    if joins::alternative(reader) || joins::wordy_type(reader) || reader.skip(b". ") {
        return Join::Spaced;
    }
    if reader.skip("→ ".as_bytes()) || reader.skip(b"| ") {
        reader.skip_blanks();
        return Join::Spaced;
    }
    if reader.skip(b"-Value ") || reader.skip(b"-value ") {
        return Join::Colon;
    }
    // `var key string = "…"`, `let token: &str = …`, `password text := '…'`.
    let mut typed = *reader;
    let word = |b: u8| b.is_ascii_alphanumeric() || b"_*.&[]()".contains(&b);
    while word(typed.peek()) {
        typed.at += 1;
    }
    if typed.at > reader.at && typed.skip_blanks() && (typed.skip(b":=") || typed.peek() == b'=') {
        typed.skip(b"=");
        if typed.peek() != b'=' {
            typed.skip_blanks();
            *reader = typed;
            return Join::Spaced;
        }
    }
    let forms = directives::forms(reader.rest());
    if forms > 0 {
        reader.at += forms;
        return Join::Directive;
    }
    // "the api key for staging is …", "password for bob: …"
    if let Some(behind) = joins::behind_words(reader) {
        *reader = behind;
        return Join::Prose;
    }
    Join::Space
}

/// A type and `=` behind the colon: `: string = `, `: &'static str = `, `: Optional[str] = `.
fn skip_type(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    let word = |b: u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'&'
                    | b'\''
                    | b'<'
                    | b'>'
                    | b'['
                    | b']'
                    | b'.'
                    | b'|'
                    | b'?'
                    | b' '
                    | b','
                    | b';'
            )
    };
    let mut len = 0;
    while word(ahead.peek()) && len < 48 {
        ahead.at += 1;
        len += 1;
    }
    if len > 1
        && ahead.peek() == b'='
        && ahead.ahead(1) != b'='
        && ahead.bytes[ahead.at - 1] == b' '
        || len > 1 && ahead.peek() == b':' && ahead.ahead(1) == b'='
    {
        ahead.at += 1 + usize::from(ahead.peek() == b':');
        ahead.skip_blanks();
        *reader = ahead;
        return true;
    }
    false
}

/// Reads the value that begins here.
fn value(reader: &mut Reader<'_>, join: Join, quoted_name: bool, bare: &mut Bare) -> Option<Value> {
    let bytes = reader.bytes;
    // `new SecureString("…")`, `b"…"`, `@"…"`, `Some("…")`, `["…"]`.
    let mut opened = *reader;
    skip_wrapping(&mut opened);
    if let Some((quote, slashes)) = opened.quote() {
        let mut start = opened.at;
        // `"""…"""`
        let triple = slashes == 0 && bytes.get(start..start + 2) == Some(&[quote, quote]);
        if triple {
            start += 2;
        }
        let (start, end) = match strings::raw(bytes, start) {
            Some(inside) => inside,
            None => (start, end_of_quoted(bytes, start, quote, slashes)?),
        };
        return Some(Value { start, end, join, quote: Some(quote), quoted_name });
    }
    if let Some((start, end)) = joins::bracketed(reader, LONGEST) {
        return Some(Value { start, end, join, quote: Some(b'"'), quoted_name });
    }
    if let Some((start, end)) = strings::bytes_one_by_one(reader) {
        return Some(Value { start, end, join, quote: Some(BYTES), quoted_name });
    }
    if matches!(join, Join::Call | Join::Argument) {
        return None;
    }
    if let Some((start, end)) = joins::braced(reader, join) {
        return Some(Value { start, end, join, quote: Some(b'"'), quoted_name });
    }
    // A line that goes on in the next.
    if reader.skip(b"\\\n") || reader.skip(b"\\\r\n") {
        reader.skip_blanks();
    }
    let mut start = reader.at;
    // `|` and `>-` begin a block in YAML: its first line.
    if join == Join::Colon && matches!(reader.peek(), b'|' | b'>') {
        reader.at += 1;
        reader.skip(b"-");
        if !matches!(reader.peek(), b'\n' | b'\r' | b'\\') {
            return None;
        }
        reader.skip_space();
        start = reader.at;
    }
    // An anchor of YAML.
    if join == Join::Colon && reader.peek() == b'&' {
        let name = reader.rest()[1..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        if reader.ahead(name + 1) == b' ' {
            reader.at += name + 2;
            start = reader.at;
        }
    }
    for tag in [&b"!!binary "[..], b"!!str ", b"(string)", b"!unsafe "] {
        if reader.skip(tag) {
            start = reader.at;
        }
    }
    let mut end = bare.end(bytes, start, join);
    if bytes[..start].ends_with(b"CDATA[") && bytes[start..end].ends_with(b"]]") {
        end -= 2;
    }
    (start < end).then_some(Value { start, end, join, quote: None, quoted_name })
}

/// The last value without quotes, and where it ended: names that stand inside of each other's values
/// (`key=key=key=…`) lead to the same end, which is looked for once.
#[derive(Debug, Default)]
pub(super) struct Bare {
    join: Option<Join>,
    from: usize,
    until: usize,
    /// Whether it ends at `until`. If not, no value that begins in it ends before.
    ended: bool,
}

impl Bare {
    /// Where the value ends that begins at `start`.
    pub(super) fn end(&mut self, bytes: &[u8], start: usize, join: Join) -> usize {
        let is_known = self.join == Some(join) && (self.from + 1..self.until).contains(&start);
        let stretch = &bytes[start..bytes.len().min(start + LONGEST)];
        let mut end = stretch.len();
        if is_known && self.ended {
            end = end.min(self.until - start);
        } else {
            let seen = if is_known { self.until - start } else { 0 };
            let (found, is_plain) = bare(stretch, join, seen.saturating_sub(SEEN_AT_AN_END));
            let ended = found.is_some();
            end = found.unwrap_or(end);
            let from = if is_known { self.from } else { start };
            // Whether a bracket ends a value depends on where that began.
            let join = is_plain.then_some(join);
            *self = Self { join, from, until: start + end, ended };
        }
        while join == Join::Prose
            && end > 0
            && matches!(stretch[end - 1], b'.' | b',' | b'?' | b':')
        {
            end -= 1;
        }
        start + end
    }
}

/// Where a value without quotes ends that begins with `stretch`, at `from` or behind it, if it does;
/// and whether the same holds for all values that begin in it.
fn bare(stretch: &[u8], join: Join, from: usize) -> (Option<usize>, bool) {
    let mut is_plain = true;
    for (i, &byte) in stretch.iter().enumerate().skip(from) {
        let stop = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'`' | 0 => true,
            b'\'' => i == 0 || join == Join::Prose || ends_word(stretch.get(i + 1)),
            b'<' => join == Join::Element || i > 0,
            b'>' => i > 0 && join != Join::Colon,
            b'\\' => matches!(stretch.get(i + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')),
            b';' => true,
            b'&' => join == Join::Tight && i > 0,
            // `,` ends a value where another one follows, or the line ends.
            b',' => matches!(
                stretch.get(i + 1),
                None | Some(b' ' | b'\n' | b'\r' | b'"' | b'\'' | b'\\')
            ),
            b')' | b']' | b'}' => {
                let may_end = matches!(
                    stretch.get(i + 1),
                    None | Some(b' ' | b'\n' | b'\r' | b')' | b',' | b';' | b'.' | b'"' | b'\\')
                );
                let is_opened = may_end && stretch[..i].contains(&matching(byte));
                is_plain &= !is_opened;
                may_end && !is_opened
            }
            0xC2 | 0xE2 | 0xE3 => matches!(
                &stretch[i..(i + 3).min(stretch.len())],
                [0xC2, 0xA0, ..]
                    | [0xE2, 0x80, 0x9C | 0x9D | 0x98 | 0x99]
                    | [0xE3, 0x80, 0x80..=0x82]
            ),
            _ => false,
        };
        if stop {
            return (Some(i), is_plain);
        }
    }
    (None, is_plain)
}

fn ends_word(next: Option<&u8>) -> bool {
    next.is_none_or(|b| {
        matches!(b, b' ' | b'\n' | b'\r' | b',' | b')' | b']' | b';' | b'}' | b'\\')
    })
}

fn matching(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
