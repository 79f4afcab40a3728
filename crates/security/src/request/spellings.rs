//! How programs write a value in literals, URLs, markup and shells, where its characters cannot stand as
//! they are.
//!
//! Encoders agree neither on what they leave as it is nor on how they write the rest. Each is here by
//! an example of the programs that write so; a value that was found is looked for in all of them.

use std::fmt::Write;

use memchr::memchr3;

use super::reach::{Characters, differs_in_url};
use crate::restore::shell::Quote;
use crate::restore::spelling::{KEPT_IN_PATH, KEPT_IN_QUERY, KEPT_IN_USER_INFO, write_escaped};

/// Hexadecimal digits: most encoders write capital ones.
const DIGITS: [&[u8; 16]; 2] = [b"0123456789ABCDEF", b"0123456789abcdef"];

/// A percent encoder.
#[derive(Clone, Copy)]
struct Percent {
    /// What it leaves beside letters, digits and `-._~`, a bit for each byte.
    kept: u128,
    /// Whether it writes a plus for a space, as forms do.
    has_plus: bool,
    /// Whether it writes `~`, too.
    has_tilde: bool,
}

const fn percent(kept: &str) -> Percent {
    let (mut bits, mut i) = (0, 0);
    while i < kept.len() {
        bits |= 1 << kept.as_bytes()[i];
        i += 1;
    }
    Percent { kept: bits, has_plus: false, has_tilde: false }
}

/// How values are restored in URLs: a caller sends back what it was given.
const RESTORED: [Percent; 3] =
    [percent(KEPT_IN_USER_INFO), percent(KEPT_IN_PATH), percent(KEPT_IN_QUERY)];

const PERCENT: [Percent; 6 + RESTORED.len()] = [
    // RFC 3986, 2.3: Python's `quote(safe="")`, .NET's `EscapeDataString`.
    percent(""),
    // Python's `quote`.
    percent("/"),
    // JavaScript's `encodeURIComponent`.
    percent("!'()*"),
    // JavaScript's `encodeURI`.
    percent(";/?:@&=+$,#!'()*"),
    // Forms: Python's `quote_plus`, Go's `QueryEscape`.
    Percent { has_plus: true, ..percent("") },
    // Forms of browsers (WHATWG URL, 5.2), Java's `URLEncoder`.
    Percent { has_plus: true, has_tilde: true, ..percent("*") },
    RESTORED[0],
    RESTORED[1],
    RESTORED[2],
];

/// What quotes are called in markup: by what leaves them alone, Python's `html.escape`, PHP's
/// `htmlspecialchars`, Go's `html/template`, and in XML.
const MARKUP: [[&str; 2]; 6] = [
    ["\"", "'"],
    ["&quot;", "'"],
    ["&quot;", "&#x27;"],
    ["&quot;", "&#39;"],
    ["&#34;", "&#39;"],
    ["&quot;", "&apos;"],
];

/// Whether a value may stand in `text` in another way of writing it: what is put in place of a
/// character begins with one of three. A space's plus alone is not enough, which code is full of.
pub(super) fn may_be_in(text: &str) -> bool {
    memchr3(b'\\', b'%', b'&', text.as_bytes()).is_some()
}

/// Calls `word` with every way of writing `value` that differs from it and that [`may_be_in`] sees.
/// `in_any_case` says that capital and small letters are the same. Some may come twice.
pub(super) fn each<E>(
    value: &str,
    characters: &Characters,
    in_any_case: bool,
    mut word: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    // Whatever differs anywhere differs in a URL.
    if !characters.differs_in_url() {
        return Ok(());
    }
    let mut written = String::with_capacity(2 * value.len());
    let mut last = String::new();
    let mut next = |write: &mut dyn FnMut(&mut String)| {
        written.clear();
        write(&mut written);
        if written == value || written == last || !may_be_in(&written) {
            return Ok(());
        }
        last.clone_from(&written);
        word(&written)
    };
    let special = value.bytes().filter(u8::is_ascii).filter(|byte| differs_in_url(*byte));
    let special = special.fold(0_u128, |bits, byte| bits | 1 << byte);
    let has_tilde = value.contains('~');
    // All that one encoder does in another way than the others.
    let own = |encoder: &Percent| {
        let writes_plus = encoder.has_plus && special & 1 << b' ' != 0;
        (special & encoder.kept, writes_plus, encoder.has_tilde && has_tilde)
    };
    for (i, encoder) in PERCENT.iter().enumerate() {
        // Where an encoder does what one ahead of it does, it writes the same.
        if PERCENT[..i].iter().any(|ahead| own(ahead) == own(encoder)) {
            continue;
        }
        let cases = if in_any_case { &DIGITS[..1] } else { &DIGITS[..] };
        for digits in cases {
            next(&mut |out| encoder.write(value, digits, out))?;
        }
    }
    if characters.differs_in_markup() {
        for quotes in MARKUP {
            next(&mut |out| markup(value, quotes, out))?;
        }
    }
    if characters.differs_in_literal() {
        for literal in &LITERALS {
            next(&mut |out| write_literal(value, literal, out))?;
        }
    }
    for (quote, escaped) in [(Quote::Single, "'"), (Quote::Double, "$`\"\\")] {
        if escaped.bytes().any(|byte| special & 1 << byte != 0) {
            next(&mut |out| quote.write(value, out))?;
        }
    }
    nested(value, special, &mut next)
}

/// Calls `next` with what writes `value` in two ways, one after the other, as it is restored within
/// two things that are around each other. Where one of both changes nothing, it is among the rest.
fn nested<E>(
    value: &str,
    special: u128,
    next: &mut impl FnMut(&mut dyn FnMut(&mut String)) -> Result<(), E>,
) -> Result<(), E> {
    let has = |bits: u128| special & bits != 0;
    let quotes =
        [(Quote::Single, has(percent("'").kept)), (Quote::Double, has(percent("$`\"\\").kept))];
    let mut inner = String::new();
    // Below a space, all is escaped.
    if has(percent("\"\\").kept | ((1 << b' ') - 1)) {
        write_escaped(value, &mut inner);
        next(&mut |out| out.push_str(&inner))?;
        next(&mut |out| write_escaped(&inner, out))?;
        // An escape has a backslash, which double quotes escape again.
        next(&mut |out| Quote::Double.write(&inner, out))?;
        if has(percent("'").kept) {
            next(&mut |out| Quote::Single.write(&inner, out))?;
        }
    }
    for (quote, _) in quotes.into_iter().filter(|(_, differs)| *differs) {
        inner.clear();
        quote.write(value, &mut inner);
        next(&mut |out| write_escaped(&inner, out))?;
    }
    // Of what literals and quotes escape, URLs keep these two alone.
    for (quote, kept) in [(Quote::Single, "'"), (Quote::Double, "$")] {
        if !has(percent(kept).kept) {
            continue;
        }
        for encoder in &RESTORED {
            inner.clear();
            encoder.write(value, DIGITS[0], &mut inner);
            if inner != value {
                next(&mut |out| quote.write(&inner, out))?;
            }
        }
    }
    Ok(())
}

impl Percent {
    fn write(&self, value: &str, digits: &[u8; 16], out: &mut String) {
        let is_plain = |byte: u8| match byte {
            0x80.. => false,
            b'~' => !self.has_tilde,
            _ => !differs_in_url(byte) || self.kept >> byte & 1 != 0,
        };
        let mut rest = value;
        while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
            let (plain, others) = rest.split_at(at);
            out.push_str(plain);
            // All bytes of a character are written, or none.
            let length = others.chars().next().map_or(1, char::len_utf8);
            let (other, behind) = others.split_at(length);
            for byte in other.bytes() {
                let digit = |digit: u8| char::from(digits[usize::from(digit & 15)]);
                match byte {
                    b' ' if self.has_plus => out.push('+'),
                    _ => out.extend(['%', digit(byte >> 4), digit(byte)]),
                }
            }
            rest = behind;
        }
        out.push_str(rest);
    }
}

/// Writes `value` as it stands in HTML and XML.
fn markup(value: &str, [double, single]: [&str; 2], out: &mut String) {
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str(double),
            '\'' => out.push_str(single),
            _ => out.push(c),
        }
    }
}

/// How a string literal is written.
struct Literal {
    quote: char,
    /// Whether nothing but ASCII is left.
    is_ascii: bool,
    /// Whether `/` has a backslash.
    has_slash: bool,
    /// What else is written by its number, so that a page may have it in a script.
    numbered: &'static str,
    /// Whether numbers have capital letters.
    is_capital: bool,
}

const LITERALS: [Literal; 8] = [
    JSON,
    // Python's `json.dumps`.
    Literal { is_ascii: true, ..JSON },
    // PHP's `json_encode`, and the same with `JSON_UNESCAPED_UNICODE`.
    Literal { is_ascii: true, has_slash: true, ..JSON },
    Literal { has_slash: true, ..JSON },
    // Go's `encoding/json`.
    Literal { numbered: "<>&", ..JSON },
    // Java's Gson.
    Literal { numbered: "<>&='", ..JSON },
    // .NET's `System.Text.Json`.
    Literal { numbered: "<>&'\"+`", is_ascii: true, is_capital: true, ..JSON },
    // Strings of JavaScript, Python, PHP and shells' `$'…'`.
    Literal { quote: '\'', ..JSON },
];

/// RFC 8259, 7, with as few escapes as there need be.
const JSON: Literal =
    Literal { quote: '"', is_ascii: false, has_slash: false, numbered: "", is_capital: false };

fn write_literal(value: &str, literal: &Literal, out: &mut String) {
    for c in value.chars() {
        let by_number =
            c < ' ' || literal.is_ascii && !c.is_ascii() || literal.numbered.contains(c);
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '/' if literal.has_slash => out.push_str("\\/"),
            _ if by_number => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    _ = match literal.is_capital {
                        true => write!(out, "\\u{unit:04X}"),
                        false => write!(out, "\\u{unit:04x}"),
                    };
                }
            }
            _ if c == literal.quote => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use super::*;

    fn spellings(value: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let Ok(()) = each(value, &Characters::of(value), false, |word| {
            all.insert(word.to_owned());
            Ok::<(), Infallible>(())
        });
        all
    }

    /// Each written by the program that is named.
    #[test]
    fn values_are_written_as_programs_write_them() {
        for (value, by, expected) in [
            ("p@ss/w0rd", "urllib.parse.quote", "p%40ss/w0rd"),
            ("p@ss/w0rd", "urllib.parse.quote_plus", "p%40ss%2Fw0rd"),
            ("p@ss w0rd~", "urllib.parse.quote_plus", "p%40ss+w0rd~"),
            ("p@ss w0rd~*", "java.net.URLEncoder", "p%40ss+w0rd%7E*"),
            ("p@ss!(w0rd)'*", "encodeURIComponent", "p%40ss!(w0rd)'*"),
            ("p@ss{w0rd}", "encodeURI", "p@ss%7Bw0rd%7D"),
            ("p@ss/w0rd", "the .NET method UrlEncode", "p%40ss%2fw0rd"),
            ("pässwort", "encodeURIComponent", "p%C3%A4sswort"),
            ("a<b>'c\"&", "html.escape", "a&lt;b&gt;&#x27;c&quot;&amp;"),
            ("a<b>'c\"&", "htmlspecialchars", "a&lt;b&gt;&#39;c&quot;&amp;"),
            ("a<b>'c\"&", "html/template", "a&lt;b&gt;&#39;c&#34;&amp;"),
            ("a<b>'c\"&", "a serialiser of XML", "a&lt;b&gt;&apos;c&quot;&amp;"),
            ("a<b>'c\"&", "a text node", "a&lt;b&gt;'c\"&amp;"),
            ("pässwort\"", "JSON.stringify", "pässwort\\\""),
            ("pässwort\"", "json.dumps", "p\\u00e4sswort\\\""),
            ("p\u{1F511}ss", "json.dumps", "p\\ud83d\\udd11ss"),
            ("pä/sswort", "json_encode", "p\\u00e4\\/sswort"),
            ("a<b&c", "encoding/json", "a\\u003cb\\u0026c"),
            ("pä/sswort", "json_encode with JSON_UNESCAPED_UNICODE", "pä\\/sswort"),
            ("a'b<c==", "Gson", "a\\u0027b\\u003cc\\u003d\\u003d"),
            ("a+b\"ä", "System.Text.Json", "a\\u002Bb\\u0022\\u00E4"),
            ("it's\\so", "a string of JavaScript", "it\\'s\\\\so"),
            ("one\ntwo\u{1}", "JSON.stringify", "one\\ntwo\\u0001"),
            ("it's $5", "shlex.quote", "it'\\''s $5"),
            ("a$b`c", "a shell's double quotes", "a\\$b\\`c"),
        ] {
            assert!(spellings(value).contains(expected), "{value} by {by}: {:?}", spellings(value));
        }
    }

    #[test]
    fn what_is_plain_everywhere_has_no_other_spelling() {
        for value in ["hunter2", "sk-live_9.x~", "AKIA2345678901234567"] {
            assert_eq!(spellings(value), BTreeSet::new(), "{value}");
        }
        assert!(spellings("two words").iter().all(|word| may_be_in(word)));
    }

    #[test]
    fn a_value_is_no_spelling_of_itself_and_most_have_few() {
        for value in ["ada@example.org", "+49 89 1234567", "it's", "a/b", "\u{6728}\u{6751}"] {
            let spellings = spellings(value);
            assert!(!spellings.contains(value) && spellings.len() <= 8, "{value}: {spellings:?}");
        }
    }
}
