//! Takes the blocks of a request (a message, a tool, a member), which are looked at one by one, apart
//! into units, each of which is scanned as one text.
//!
//! This knows the places of a chat request, so that the words of the protocol are left alone and
//! everything else is read: a member that has no name here is unknown, and is read with its name.

use sluice_core::json::scan::{Entries, Raw, read};
use sluice_core::json::unescape;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{CHAT_MEMBERS, OWN_MEMBERS};

use super::compose::{Blobs, Form, Piece, Unit, is_blob};
use crate::injection::Origin;

/// Members that are written anew for each provider.
const WRITTEN_ANEW: [&str; 2] = ["model", "stream"];
/// Members of older requests, which ride along: their names, too, are the protocol's.
const OLDER_MEMBERS: [&str; 2] = ["functions", "function_call"];
/// Who may say something.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];
/// What a content part may be, as far as that says no more than the protocol does.
const PART_TYPES: [&str; 8] = [
    "text",
    "input_text",
    "output_text",
    "image_url",
    "input_audio",
    "file",
    "refusal",
    "document",
];

/// A part of a request that is looked at on its own, and remembered from turn to turn.
pub(super) struct Block<'a> {
    /// Its bytes.
    pub(super) text: &'a str,
    /// What it is.
    pub(super) what: What<'a>,
}

/// What a block is.
pub(super) enum What<'a> {
    /// A message, taken apart, and what in it goes back to a provider that sealed it.
    Message(Entries<'a>, SealedPlaces),
    /// A tool.
    Tool,
    /// A member of the request, by its name.
    Member(&'a str),
}

/// Whether a member may say something to a provider.
pub(super) fn is_sent(name: &str, value: &str) -> bool {
    !OWN_MEMBERS.contains(&name) && !WRITTEN_ANEW.contains(&name) && !is_setting(name, value)
}

/// Whether a member is a plain number or a switch, which holds nothing.
fn is_setting(name: &str, value: &str) -> bool {
    known(name).is_some() && !value.starts_with(['"', '[', '{'])
}

impl<'a> Block<'a> {
    /// What is scanned of the block.
    pub(super) fn units(&self) -> Vec<Unit<'a>> {
        match &self.what {
            What::Message(entries, sealed) => message(self.text, &entries.0, *sealed),
            What::Tool => tool(self.text),
            What::Member(name) => member(name, self.text),
        }
    }
}

fn origin(entries: &[(Raw<'_>, Raw<'_>)]) -> Origin {
    let role = entries.iter().find(|(name, _)| is(*name, "role"));
    match role.map(|(_, role)| word(*role)).as_deref() {
        Some("system" | "developer") => Origin::System,
        Some("assistant") => Origin::Assistant,
        Some("tool" | "function") => Origin::Tool,
        _ => Origin::User,
    }
}

/// The units of a message: its text, which reads best on its own; identifiers; everything else; and
/// what its provider sealed.
fn message<'a>(
    text: &'a str,
    entries: &[(Raw<'a>, Raw<'a>)],
    sealed: SealedPlaces,
) -> Vec<Unit<'a>> {
    let origin = origin(entries);
    // Nobody but a model's provider seals.
    let sealed = if origin == Origin::Assistant { sealed } else { SealedPlaces::NONE };
    let mut units = Vec::with_capacity(3);
    let mut words = Unit { words: true, ..Unit::default() };
    let mut rest = Unit::default();
    let mut seals = Unit { blobs: Blobs::Sealed, ..Unit::default() };
    for (name, value) in entries {
        match &*word(*name) {
            "role" if ROLES.contains(&&*word(*value)) => {}
            "content" => content(*value, origin, &mut units),
            "name" if origin == Origin::Tool => words.word(*value),
            "name" => rest.known("\n\"name\": ", *value),
            "tool_call_id" => words.word(*value),
            "tool_calls" => {
                let seals = sealed.calls.then_some(&mut seals);
                calls(text, *value, &mut words, &mut rest, seals);
            }
            "reasoning_details" if sealed.thoughts && name.get() == "\"reasoning_details\"" => {
                thoughts(text, *value, &mut rest, &mut seals);
            }
            "reasoning" | "reasoning_content" | "refusal" => rest.text(*value),
            "reasoning_details" | "function_call" | "audio" => rest.known("", *value),
            _ => rest.member(text, *name, *value),
        }
    }
    units.extend([words, rest, seals].into_iter().filter(|unit| !unit.pieces.is_empty()));
    units
}

fn content<'a>(value: Raw<'a>, origin: Origin, units: &mut Vec<Unit<'a>>) {
    let scored = matches!(origin, Origin::User | Origin::Tool).then_some(origin);
    let document = origin == Origin::Tool;
    let Ok(parts) = value.read::<Vec<Raw<'a>>>() else {
        let mut unit = Unit { origin: scored, document, ..Unit::default() };
        unit.text(value);
        units.push(unit);
        return;
    };
    let mut joined: Option<Unit<'a>> = None;
    for (i, part) in parts.into_iter().enumerate() {
        let mut rest = Unit { blobs: Blobs::Media, part: Some(i), ..Unit::default() };
        match text_part(part, &mut rest) {
            Some(text) => joined
                .get_or_insert_with(|| Unit {
                    origin: scored,
                    document,
                    joined: true,
                    part: Some(i),
                    ..Unit::default()
                })
                .piece("", text, Form::Literal),
            None => {
                units.extend(joined.take());
                // What is attached is a document, whoever attached it.
                rest.origin = scored.and(Some(Origin::Tool));
                rest.document = true;
                rest.attachment = Some(part.get());
            }
        }
        if !rest.pieces.is_empty() || rest.unreadable {
            units.push(rest);
        }
    }
    units.extend(joined);
}

/// The text of a text part; what else it holds, or all of another part, goes to `rest`.
fn text_part<'a>(part: Raw<'a>, rest: &mut Unit<'a>) -> Option<&'a str> {
    let whole = part.get();
    if whole.starts_with('"') {
        return Some(whole);
    }
    let Ok(Entries(entries)) = part.read() else {
        rest.known("", part);
        return None;
    };
    let kind = entries.iter().find(|(name, _)| is(*name, "type")).map(|(_, kind)| word(*kind));
    let kind = kind.as_deref().unwrap_or("");
    let is_text = matches!(kind, "text" | "input_text" | "output_text");
    rest.unreadable = is_unreadable(kind);
    let mut text = None;
    for (name, value) in entries {
        match &*word(name) {
            "type" if PART_TYPES.contains(&kind) => {}
            "text" if is_text && text.is_none() && value.get().starts_with('"') => {
                text = Some(value.get());
            }
            "text" | "refusal" => rest.text(value),
            "image_url" | "image" | "input_audio" | "audio" | "video_url" | "video" | "file"
            | "file_data" | "source" | "content" | "title" | "context" => rest.known("", value),
            _ => rest.member(whole, name, value),
        }
    }
    text
}

/// Whether parts of a type are images or sounds. Whether a file can be read is seen when it is.
fn is_unreadable(kind: &str) -> bool {
    ["image", "audio", "video"].iter().any(|medium| kind.contains(medium))
}

/// Thoughts, of which `seals` gets what is sealed.
fn thoughts<'a>(text: &'a str, value: Raw<'a>, rest: &mut Unit<'a>, seals: &mut Unit<'a>) {
    let Ok(details) = value.read::<Vec<Entries<'a>>>() else { return rest.known("", value) };
    let details = || details.iter().flat_map(|detail| detail.0.iter());
    let is_sealed = |(name, value): &&(Raw<'a>, Raw<'a>)| {
        matches!(&*word(*name), "signature" | "data") && is_sealed_value(*value)
    };
    if !details().any(|member| is_sealed(&member)) {
        return rest.known("", value);
    }
    for member in details() {
        let (name, value) = *member;
        if is_sealed(&member) { seals.text(value) } else { rest.member(text, name, value) }
    }
}

/// Whether a value looks like what providers seal: base64, in one of its two alphabets.
fn is_sealed_value(value: Raw<'_>) -> bool {
    let said = word(value);
    is_blob(&said) && !(said.contains(['+', '/']) && said.contains(['-', '_']))
}

/// `extra_content` of a call: `seals` gets the signature of the thought that led to the call.
fn extra_content<'a>(text: &'a str, value: Raw<'a>, rest: &mut Unit<'a>, seals: &mut Unit<'a>) {
    let Ok(Entries(entries)) = value.read() else { return rest.known("", value) };
    for (name, value) in entries {
        let Some(Entries(google)) = is(name, "google").then(|| value.read().ok()).flatten() else {
            rest.member(text, name, value);
            continue;
        };
        for (name, value) in google {
            let is_sealed = name.get() == "\"thought_signature\"" && is_sealed_value(value);
            if is_sealed { seals.text(value) } else { rest.member(text, name, value) }
        }
    }
}

fn calls<'a>(
    text: &'a str,
    value: Raw<'a>,
    words: &mut Unit<'a>,
    rest: &mut Unit<'a>,
    mut seals: Option<&mut Unit<'a>>,
) {
    let Ok(calls) = value.read::<Vec<Entries<'a>>>() else { return rest.known("", value) };
    for (name, value) in calls.into_iter().flat_map(|call| call.0) {
        match &*word(name) {
            "type" | "id" => words.word(value),
            "function" => {
                let Ok(Entries(entries)) = value.read() else {
                    rest.known("", value);
                    continue;
                };
                for (name, value) in entries {
                    match &*word(name) {
                        "name" => words.word(value),
                        "arguments" => rest.text(value),
                        _ => rest.member(text, name, value),
                    }
                }
            }
            "extra_content" if let Some(seals) = &mut seals => {
                extra_content(text, value, rest, seals);
            }
            _ => rest.member(text, name, value),
        }
    }
}

fn tool(text: &str) -> Vec<Unit<'_>> {
    let mut words = Unit { words: true, ..Unit::default() };
    let mut rest = Unit::default();
    let Ok(Entries(entries)) = read(text) else {
        rest.piece("", text, Form::Json);
        return vec![rest];
    };
    for (name, value) in entries {
        match &*word(name) {
            "type" => words.word(value),
            "function" | "custom" if let Ok(Entries(entries)) = value.read() => {
                for (name, value) in entries {
                    match &*word(name) {
                        "name" => words.word(value),
                        "description" => rest.text(value),
                        "parameters" => rest.known("", value),
                        _ => rest.member(text, name, value),
                    }
                }
            }
            "name" => words.word(value),
            _ => rest.member(text, name, value),
        }
    }
    let units = [words, rest].into_iter();
    units.filter(|unit| !unit.pieces.is_empty()).collect()
}

fn member<'a>(name: &'a str, value: &'a str) -> Vec<Unit<'a>> {
    let mut unit =
        Unit { words: matches!(name, "tool_choice" | "function_call"), ..Unit::default() };
    let form = if known(name).is_some() { Form::Fixed } else { Form::Plain };
    unit.piece("\"", name, form);
    unit.piece("\": ", value, Form::Json);
    vec![unit]
}

impl<'a> Unit<'a> {
    fn piece(&mut self, before: &'static str, text: &'a str, form: Form) {
        self.pieces.push(Piece { before, text, form });
    }

    fn separator(&self) -> &'static str {
        if self.pieces.is_empty() { "" } else { "\n" }
    }

    /// A text that stands for itself.
    fn text(&mut self, value: Raw<'a>) {
        let form = if value.get().starts_with('"') { Form::Literal } else { Form::Json };
        self.piece(self.separator(), value.get(), form);
    }

    /// An identifier.
    fn word(&mut self, value: Raw<'a>) {
        self.text(value);
    }

    /// The value of a member whose name is the protocol's.
    fn known(&mut self, name: &'static str, value: Raw<'a>) {
        let before = if name.is_empty() { self.separator() } else { name };
        self.piece(before, value.get(), Form::Json);
    }

    /// A member of an object in `text` that nobody knows, name and all.
    fn member(&mut self, text: &'a str, name: Raw<'a>, value: Raw<'a>) {
        let start = super::offset_in(text, name.get());
        let end = super::offset_in(text, value.get()) + value.get().len();
        match text.get(start..end) {
            Some(member) => self.piece(self.separator(), member, Form::Json),
            None => self.piece(self.separator(), value.get(), Form::Json),
        }
    }
}

/// What a string says; empty for anything else.
fn word<'a>(value: Raw<'a>) -> std::borrow::Cow<'a, str> {
    let literal = value.get();
    let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
    if !inside.contains('\\') {
        return inside.into();
    }
    let mut decoded = Vec::new();
    unescape(inside, &mut decoded);
    String::from_utf8(decoded).unwrap_or_default().into()
}

fn is(name: Raw<'_>, known: &str) -> bool {
    *word(name) == *known
}

/// The name of a member, if it is the protocol's.
pub(super) fn known(name: &str) -> Option<&'static str> {
    CHAT_MEMBERS.into_iter().chain(OLDER_MEMBERS).find(|known| *known == name)
}
