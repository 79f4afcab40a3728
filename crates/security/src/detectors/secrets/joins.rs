//! The less usual ways to join a name to its value: defaults behind a variable that may be missing,
//! markup around both, calls on what the name found.

use super::grammar::{Join, Reader};

/// `?? "…"`, `|| "…"`, `?: "…"`, `or "…"`, `!= "…"`: what stands in for a missing variable, or what it
/// is compared to. The quote is left.
pub(super) fn alternative(reader: &mut Reader<'_>) -> bool {
    const SIGNS: &[&[u8]] = &[
        b"?? ",
        b"|| ",
        b"?: ",
        b"or ",
        b"!= ",
        b"!== ",
        b"== ",
        b"=== ",
        b"// ",
        b"-eq ",
        b"-ne ",
        b"by lazy { ",
        b"eq ",
        b"ne ",
        b"<> ",
        b"~= ",
        b"/= ",
        b"=:= ",
        b"=/= ",
        b"db ",
        b"DB ",
        b"byte ",
        b"BYTE ",
        b"dc.b ",
        b".asciz ",
        b".ascii ",
        b".string ",
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
        b"</Key>",
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
    let is_name = |b: &&u8| b.is_ascii_alphabetic() || matches!(b, b'-' | b':');
    let rest = ahead.rest();
    let name = rest.iter().take_while(is_name).count();
    // Nearly everything ends here.
    if name == 0 || !rest[name..].starts_with(b"=\"") {
        return false;
    }
    if [&b"value"[..], b"content"].iter().any(|value| rest[..name].eq_ignore_ascii_case(value)) {
        return false;
    }
    ahead.at += name + 2;
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
        ahead.skip(b"<![CDATA[");
        *reader = ahead;
    }
}

/// `PIC X(20) VALUE '…'`, `As String = "…"`: a type of several words before the value.
pub(super) fn wordy_type(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    if ahead.skip(b"PIC ") || ahead.skip(b"pic ") || ahead.skip(b"TYPE ") || ahead.skip(b"type ") {
        let is_type = |b: u8| b.is_ascii_alphanumeric() || b"() _".contains(&b);
        while is_type(ahead.peek()) {
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

/// ` encoding="base64">`: attributes of the element whose name was read.
pub(super) fn behind_attributes(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    while other_attribute(&mut ahead) {}
    if ahead.at == reader.at || !ahead.skip(b">") {
        return false;
    }
    // Behind the blank, the name, and what stands before it in its tag.
    let before = &reader.bytes[reader.at.saturating_sub(80)..reader.at];
    let is_tag = memchr::memrchr(b'<', before)
        .is_some_and(|i| !before[i + 1..].trim_ascii_end().contains(&b' '));
    if is_tag {
        *reader = ahead;
    }
    is_tag
}

/// How long `bob, ` is in a fact of Prolog, `user_password(bob, "…").`
pub(super) fn user_of_fact(rest: &[u8]) -> usize {
    let user = rest.iter().take(32).take_while(|b| b.is_ascii_lowercase() || **b == b'_').count();
    let Some(behind) = rest.get(user..).and_then(|rest| rest.strip_prefix(b", ")) else { return 0 };
    let quote = behind.first().filter(|b| matches!(b, b'"' | b'\''));
    let is_fact = quote.is_some_and(|quote| {
        let close = memchr::memchr(*quote, &behind[1..]);
        close.is_some_and(|close| behind[close + 2..].starts_with(b")."))
    });
    if user > 0 && is_fact { user + 2 } else { 0 }
}

/// ` serializeAs="String"><value>`: the element within that whose name is an attribute.
pub(super) fn element_of_name(reader: &mut Reader<'_>) -> bool {
    let mut ahead = *reader;
    while other_attribute(&mut ahead) {}
    if ahead.at == reader.at || !ahead.skip(b">") {
        return false;
    }
    ahead.skip_space();
    let is_element = opening_tag(&mut ahead);
    if is_element {
        *reader = ahead;
    }
    is_element
}

/// `{ type: string, example: …`, or the same in lines: a value in what describes a field.
pub(super) fn described(reader: &mut Reader<'_>) -> bool {
    const VALUES: [&[u8]; 4] = [b"example", b"default", b"value", b"const"];
    const OTHERS: [&[u8]; 9] = [
        b"type",
        b"format",
        b"in",
        b"required",
        b"nullable",
        b"minLength",
        b"maxLength",
        b"title",
        b"sensitive",
    ];
    let mut ahead = *reader;
    if !ahead.skip(b"{") && !matches!(ahead.peek(), b'\n' | b'\r') {
        return false;
    }
    for nth in 0..6 {
        ahead.skip_space();
        ahead.quote();
        let length = ahead.rest().iter().take(12).take_while(|b| b.is_ascii_alphabetic()).count();
        let name = &ahead.rest()[..length];
        let is_value = nth > 0 && VALUES.contains(&name);
        if !is_value && !OTHERS.contains(&name) {
            return false;
        }
        ahead.at += length;
        ahead.quote();
        if !ahead.skip(b":") {
            return false;
        }
        ahead.skip_blanks();
        if is_value {
            *reader = ahead;
            return true;
        }
        let Some(end) = memchr::memchr3(b',', b'\n', b'}', ahead.rest()) else { return false };
        ahead.at += end;
        ahead.skip(b",");
    }
    false
}

/// `password={…};`: braces around a value in the settings of a connection.
pub(super) fn braced(reader: &Reader<'_>, join: Join) -> Option<(usize, usize)> {
    if join != Join::Tight || reader.peek() != b'{' {
        return None;
    }
    let rest = &reader.rest()[1..];
    let length = memchr::memchr2(b'}', b'\n', rest).filter(|length| *length > 0)?;
    let is_end = rest[length] == b'}'
        && matches!(rest.get(length + 1), None | Some(b';' | b'"' | b'\'' | b'\n'));
    let before = &reader.bytes[reader.at.saturating_sub(48)..reader.at];
    let is_setting = memchr::memrchr2(b';', b'\n', before).is_some_and(|i| before[i] == b';');
    (is_end && is_setting).then_some((reader.at + 1, reader.at + 1 + length))
}

/// `${PASSWORD}    value`: the cell behind a variable of Robot Framework.
pub(super) fn cell_of_robot(reader: &mut Reader<'_>) -> bool {
    let before = &reader.bytes[reader.at.saturating_sub(64)..reader.at];
    let is_variable = memchr::memmem::rfind(before, b"${")
        .is_some_and(|i| !before[i..].contains(&b' ') && !before[i..].contains(&b'}'));
    if !is_variable || !(reader.rest().starts_with(b"}  ") || reader.rest().starts_with(b"} =  ")) {
        return false;
    }
    reader.at += 1;
    reader.skip_blanks();
    reader.skip(b"= ");
    reader.skip_blanks();
    true
}

/// `Input Password    id:pw    value`: the cell behind that of a field, whose keyword was read.
pub(super) fn input_of_robot(reader: &mut Reader<'_>) -> bool {
    if !reader.bytes[..reader.at].ends_with(b"  ")
        || !reader.bytes[..reader.at].trim_ascii_end().ends_with(b"Input Password")
    {
        return false;
    }
    let Some(field) = memchr::memmem::find(reader.rest(), b"  ") else { return false };
    if reader.rest()[..field].contains(&b'\n') {
        return false;
    }
    reader.at += field;
    reader.skip_blanks();
    true
}

/// `password.equals("…")`, `passwordField.sendKeys("…")`: a method of what the name stands for.
pub(super) fn method(reader: &mut Reader<'_>) -> bool {
    const METHODS: &[&[u8]] = &[
        b"equals(",
        b"Equals(",
        b"contentEquals(",
        b"eq(",
        b"sendKeys(",
        b"send_keys(",
        b"fill(",
        b"type(",
        b"setText(",
        b"setValue(",
        b"set_value(",
        b"set_text(",
        b"val(",
        b"set(",
        b"SetValue(",
        b"SendKeys(",
    ];
    let mut ahead = *reader;
    if !ahead.skip(b".") || !METHODS.iter().any(|method| ahead.skip(method)) {
        return false;
    }
    if !ahead.is_at_string() {
        return false;
    }
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
