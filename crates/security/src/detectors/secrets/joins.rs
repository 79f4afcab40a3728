//! The less usual ways to join a name to its value: defaults behind a variable that may be missing,
//! markup around both, calls on what the name found.

use super::grammar::{Join, Reader};

/// `?? "…"`, `|| "…"`, `?: "…"`, `or "…"`, `!= "…"`: what stands in for a missing variable, or what it
/// is compared to. The quote is left.
pub(super) fn alternative(reader: &mut Reader<'_>) -> bool {
    const SIGNS: &[&[u8]] = &[
        b"?? ", b"|| ", b"?: ", b"or ", b"!= ", b"!== ", b"== ", b"=== ", b"// ", b"-eq ", b"-ne ",
    ];
    let mut ahead = *reader;
    ahead.skip_space();
    if !SIGNS.iter().any(|sign| ahead.skip(sign)) {
        return false;
    }
    ahead.skip_space();
    if !ahead.is_at_string() {
        return false;
    }
    *reader = ahead;
    true
}

/// What may stand between the colon behind a name in quotes and its value: the end of a line, and
/// `{"value":` of Terraform's outputs.
pub(super) fn behind_colon(reader: &mut Reader<'_>) {
    if matches!(reader.peek(), b'\n' | b'\r') {
        reader.skip_space();
    }
    if reader.peek() != b'{' {
        return;
    }
    let mut ahead = *reader;
    ahead.skip(b"{");
    ahead.skip_space();
    if ahead.skip(b"\"value\":") {
        ahead.skip_space();
        *reader = ahead;
    }
}

/// What follows a name in quotes: `"PASSWORD") || "…"`, `"PASSWORD"] ?? "…"`,
/// `"password").send_keys("…")`, `"PASSWORD").unwrap_or("…")`.
pub(super) fn behind_look_up(reader: &mut Reader<'_>) -> bool {
    const CALLS: &[&[u8]] = &[
        b"send_keys(",
        b"sendKeys(",
        b"type(",
        b"fill(",
        b"val(",
        b"setValue(",
        b"set_value(",
        b"set(",
        b"setText(",
        b"unwrap_or(",
        b"unwrap_or_else(|_| ",
        b"unwrap_or_else(|| ",
        b"orElse(",
        b"or_else(",
        b"default(",
        b"withDefault(",
        b"getOrElse(",
        b"clear_and_type(",
        b"typeText(",
        b"enterText(",
        b"replaceText(",
        b"toString() || ",
        b"asString(",
        b"or_default(",
    ];
    let mut ahead = *reader;
    if !(ahead.skip(b")") || ahead.skip(b"]")) {
        return false;
    }
    if alternative(&mut ahead) {
        *reader = ahead;
        return true;
    }
    ahead.skip(b"!");
    ahead.skip_space();
    // `ENV.fetch("PASSWORD") { "…" }`
    if ahead.skip(b"{ ") && ahead.is_at_string() {
        *reader = ahead;
        return true;
    }
    if !(ahead.skip(b".") || ahead.skip(b"->")) {
        return false;
    }
    if !CALLS.iter().any(|call| ahead.skip(call)) {
        return false;
    }
    ahead.skip_space();
    if !ahead.is_at_string() {
        return false;
    }
    *reader = ahead;
    true
}

/// `</b> value`, `</td><td>value</td>`, `</key><string>value</string>`: markup between a name and its
/// value. The join says whether the value has an element of its own.
pub(super) fn behind_markup(reader: &mut Reader<'_>) -> Option<Join> {
    const CLOSED: &[&[u8]] = &[
        b"</key>",
        b"</td>",
        b"</th>",
        b"</dt>",
        b"</b>",
        b"</strong>",
        b"</name>",
        b"</code>",
        b"</span>",
        b"</em>",
        b"</i>",
        b"</Name>",
        b"</label>",
        b"</p>",
    ];
    let mut ahead = *reader;
    if !CLOSED.iter().any(|tag| ahead.skip(tag)) {
        return None;
    }
    let has_colon = ahead.skip(b":");
    ahead.skip_space();
    let mut own = false;
    for _ in 0..3 {
        if !opening_tag(&mut ahead) {
            break;
        }
        own = true;
        ahead.skip_space();
    }
    *reader = ahead;
    match (own, has_colon) {
        (true, _) => Some(Join::Element),
        (false, true) => Some(Join::Colon),
        (false, false) => None,
    }
}

/// Elements that hold a value, with attributes or without.
fn opening_tag(reader: &mut Reader<'_>) -> bool {
    const TAGS: &[&[u8]] = &[
        b"<string", b"<td", b"<dd", b"<code", b"<value", b"<Value", b"<span", b"<tt", b"<kbd",
        b"<pre",
    ];
    let mut ahead = *reader;
    if !TAGS.iter().any(|tag| ahead.skip(tag)) {
        return false;
    }
    for _ in 0..64 {
        if ahead.skip(b">") {
            *reader = ahead;
            return true;
        }
        if matches!(ahead.peek(), b'<' | b'\n' | 0) {
            return false;
        }
        ahead.at += 1;
    }
    false
}

/// `name="Password" value="…"` of XML, `{ name: "PASSWORD", value: "…" }`, `- name: X\n  value: …`,
/// `variable "password" {\n  default = "…"`.
pub(super) fn attribute(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    ahead.skip(b",");
    ahead.skip_blanks();
    ahead.skip(b"{");
    ahead.skip_space();
    for other in [&b"type"[..], b"description", b"type", b"sensitive"] {
        if ahead.skip(other) {
            let rest = ahead.bytes.get(ahead.at..ahead.limit).unwrap_or_default();
            ahead.at += memchr::memchr(b'\n', rest).unwrap_or(0);
            ahead.skip_space();
        }
    }
    for _ in 0..4 {
        if !other_attribute(&mut ahead) {
            break;
        }
    }
    ahead.quote();
    if ![&b"value"[..], b"Value", b"VALUE", b"default", b"content"]
        .iter()
        .any(|word| ahead.skip(word))
    {
        return false;
    }
    ahead.quote();
    ahead.skip_blanks();
    if !(ahead.skip(b"=") || ahead.skip(b":")) {
        return false;
    }
    ahead.skip_blanks();
    *reader = ahead;
    true
}

/// ` id="…"` between the attributes for a name and its value.
fn other_attribute(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    let name = ahead.rest().iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    let is_value = ahead.rest()[..name].eq_ignore_ascii_case(b"value");
    ahead.at += name;
    if name == 0 || is_value || !ahead.skip(b"=\"") {
        return false;
    }
    let Some(length) = memchr::memchr(b'"', ahead.rest()) else { return false };
    ahead.at += length + 1;
    ahead.skip_space();
    *reader = ahead;
    true
}

/// `<Password>` and then `<Value>`: the value is in an element within the name's.
pub(super) fn nested_value(reader: &mut Reader<'_>) {
    let mut ahead = *reader;
    ahead.skip_space();
    if ahead.skip(b"<![CDATA[") || opening_tag(&mut ahead) {
        *reader = ahead;
    }
}

/// `PIC X(20) VALUE '…'`, `As String = "…"`: a type of several words before the value.
pub(super) fn wordy_type(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    if ahead.skip(b"PIC ") || ahead.skip(b"pic ") {
        while ahead.peek().is_ascii_alphanumeric() || matches!(ahead.peek(), b'(' | b')' | b' ') {
            if ahead.skip(b"VALUE ") || ahead.skip(b"value ") {
                ahead.skip(b"IS ");
                *reader = ahead;
                return true;
            }
            ahead.at += 1;
        }
        return false;
    }
    if !(ahead.skip(b"As String") || ahead.skip(b"as String") || ahead.skip(b"AS STRING")) {
        return false;
    }
    ahead.skip_blanks();
    if !ahead.skip(b"=") {
        return false;
    }
    ahead.skip_blanks();
    *reader = ahead;
    true
}

/// `name="password"` of a form's part, an empty line, and the value.
pub(super) fn form_part(reader: &mut Reader<'_>) -> bool {
    let before = &reader.bytes[reader.at.saturating_sub(96)..reader.at];
    if memchr::memmem::find(before, b"form-data;").is_none() {
        return false;
    }
    [&b"\r\n\r\n"[..], b"\n\n", b"\\r\\n\\r\\n"].iter().any(|lines| reader.skip(lines))
}

/// `q{…}`, `qq(…)`, `[[…]]`: the inside of a string without quotes.
pub(super) fn bracketed(reader: &Reader<'_>, longest: usize) -> Option<(usize, usize)> {
    let mut ahead = *reader;
    let close: &[u8] = if ahead.skip(b"[[") {
        b"]]"
    } else {
        ahead.skip(b"%");
        if !ahead.skip(b"q") {
            return None;
        }
        ahead.skip(b"q");
        let close = match ahead.peek() {
            b'{' => b"}",
            b'(' => b")",
            b'[' => b"]",
            b'|' => b"|",
            b'~' => b"~",
            b'!' => b"!",
            _ => return None,
        };
        ahead.at += 1;
        close
    };
    let start = ahead.at;
    let stretch = &ahead.bytes[start..ahead.bytes.len().min(start + longest)];
    let line = &stretch[..memchr::memchr(b'\n', stretch).unwrap_or(stretch.len())];
    let length = memchr::memmem::find(line, close)?;
    (length > 0).then_some((start, start + length))
}

/// Up to five words and then `:` or `is`.
pub(super) fn behind_words<'a>(reader: &Reader<'a>) -> Option<Reader<'a>> {
    let mut reader = *reader;
    let first: &[&[u8]] =
        &[b"for ", b"of ", b"to ", b"(", b"that ", b"we ", b"on ", b"in ", b"from "];
    if !first.iter().any(|word| reader.skip(word)) {
        return None;
    }
    for _ in 0..6 {
        let start = reader.at;
        while reader.peek().is_ascii_alphanumeric() || b"_-./'()".contains(&reader.peek()) {
            if reader.peek() == 0 {
                return None;
            }
            reader.at += 1;
        }
        if reader.skip(b": ")
            || reader.skip(b" = ")
            || reader.skip(b" is ")
            || reader.skip(b" was ")
        {
            reader.skip_blanks();
            return Some(reader);
        }
        if reader.at == start || !reader.skip(b" ") {
            return None;
        }
    }
    None
}
