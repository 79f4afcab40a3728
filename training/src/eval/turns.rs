//! Conversations turn by turn: whether nothing that was found leaves, whether what the model wrote
//! comes back to it byte for byte, and whether a turn's request begins with the bytes of the one
//! before it, as providers' prompt caches need.
//!
//! Needs no data: the conversations are made here, those of coding assistants with tool calls.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use sluice_core::json::RawJson;
use sluice_core::level::SecurityLevel;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{Dialect, Source, SourceMember};
use sluice_security::map::RedactionMap;
use sluice_security::request::{Filter, FilterSettings, Subject};
use sluice_security::restore::{Restorer, Surrounding};

use super::Judge;
use super::numbers::{DIGITS, LOWER, MIXED, Numbers, UPPER};
use super::report::{Report, Target};
use super::score::Grouped;

/// How many conversations.
const CONVERSATIONS: u64 = 40;
/// How many turns each has.
const TURNS: usize = 6;

/// What is counted.
#[derive(Default)]
struct Counts {
    ratios: Grouped,
    failures: Vec<String>,
}

impl Counts {
    fn add(&mut self, what: &str, level: usize, is_right: bool, example: impl FnOnce() -> String) {
        self.ratios.add(what, level, is_right);
        if !is_right && self.failures.len() < 20 {
            self.failures.push(format!("{what}: {}", example()));
        }
    }
}

/// Judges conversations.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let mut counts = Counts::default();
    for (index, &level) in judge.levels.iter().enumerate() {
        for seed in 0..CONVERSATIONS {
            converse(seed, level, index, &mut counts)?;
        }
    }
    for what in [
        "turns whose prefix is stable",
        "model's turns that come back to it as it wrote them",
        "redacted values that the caller gets back",
        "requests without a value that was found",
        "placeholders that differ from another account's",
        "requests that are the same with and without the cache",
    ] {
        let ratio = |level| counts.ratios.ratio(what, level);
        report.figures(what, ratio, [Target::AtLeast(1.0); 3]);
    }
    let ratio = |level| counts.ratios.ratio("planted values found", level);
    report.figures("planted values found", ratio, [Target::Open; 3]);
    report.examples("Turns that went wrong", counts.failures);
    Ok(())
}

/// One conversation, at one level.
fn converse(seed: u64, level: SecurityLevel, index: usize, counts: &mut Counts) -> Result<()> {
    let filter = Filter::new(&FilterSettings::default(), [7; 32])?;
    let settings = FilterSettings { cache_bytes: 0, ..FilterSettings::default() };
    let forgetful = Filter::new(&settings, [7; 32])?;
    let mut planted = Planted::new(seed);
    let mut messages = vec![json!({ "role": "system", "content": "You are a coding assistant." })];
    let mut before: Vec<String> = Vec::new();
    let mut written: Vec<(usize, String)> = Vec::new();
    for turn in 0..TURNS {
        messages.extend(planted.question(turn));
        let source = source(&messages)?;
        let subject =
            |account| Subject { account, level, zero_retention: false, sealed: SealedPlaces::NONE };
        let filtered = filter
            .request(&source, &subject("ours"))
            .map_err(|refused| anyhow::anyhow!("a harmless conversation was refused: {refused}"))?;
        let members = filtered.members.as_ref().unwrap_or(&source.members);
        let sent = messages_of(members)?;
        let place = || format!("conversation {seed}, turn {turn}, {}", level.as_str());

        if turn > 0 {
            let is_stable = sent.starts_with(&before);
            counts.add("turns whose prefix is stable", index, is_stable, || {
                let changed = sent.iter().zip(&before).find(|(now, then)| now != then);
                format!("{}: {changed:?}", place())
            });
        }
        for (at, message) in &written {
            let what = "model's turns that come back to it as it wrote them";
            counts.add(what, index, sent[*at] == *message, || {
                format!("{}: wrote {message}, got {}", place(), sent[*at])
            });
        }
        let whole = said(&serde_json::from_str(&format!("[{}]", sent.join(",")))?);
        let map = Arc::new(filtered.map);
        for redaction in map.redactions() {
            let is_gone = !whole.contains(redaction.value);
            counts.add("requests without a value that was found", index, is_gone, || {
                format!("{}: {} is left", place(), redaction.value)
            });
        }
        for value in &planted.values {
            let is_found = map.redactions().iter().any(|one| one.value.contains(value.as_str()));
            counts.add("planted values found", index, is_found, || format!("{}: {value}", place()));
        }
        let without = forgetful
            .request(&source, &subject("ours"))
            .map_err(|refused| anyhow::anyhow!("refused without the cache: {refused}"))?;
        let same = messages_of(without.members.as_ref().unwrap_or(&source.members))? == sent;
        let what = "requests that are the same with and without the cache";
        counts.add(what, index, same, place);
        let theirs = filter
            .request(&source, &subject("theirs"))
            .map_err(|refused| anyhow::anyhow!("refused for another account: {refused}"))?;
        for theirs in theirs.map.redactions() {
            let is_other = map.redactions().iter().all(|one| one.placeholder != theirs.placeholder);
            counts.add("placeholders that differ from another account's", index, is_other, place);
        }

        let model = answer(turn, &map);
        let came_back = restored(&map, &model);
        for redaction in map.redactions() {
            let is_back = said(&came_back).contains(redaction.value);
            let what = "redacted values that the caller gets back";
            counts.add(what, index, is_back, || format!("{}: {came_back}", place()));
        }
        written.push((messages.len(), model.to_string()));
        before = sent;
        messages.push(came_back);
    }
    Ok(())
}

/// What the model answers: it calls a tool or speaks, with every placeholder that it was shown.
fn answer(turn: usize, map: &RedactionMap) -> Value {
    let words: Vec<&str> = map.redactions().iter().map(|one| one.placeholder).collect();
    if turn % 2 == 1 {
        let listed: Vec<_> = words.iter().map(|word| format!("- `{word}`")).collect();
        return json!({ "role": "assistant", "content": format!("I saw:\n{}", listed.join("\n")) });
    }
    let quoted = words.iter().map(|word| format!("echo '{word}'")).collect::<Vec<_>>().join("\n");
    let arguments = json!({ "command": quoted, "values": words }).to_string();
    json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [{
            "id": format!("call_{turn}"),
            "type": "function",
            "function": { "name": "shell", "arguments": arguments },
        }],
    })
}

/// The model's message with its placeholders restored, as the caller gets it, streamed in pieces.
fn restored(map: &Arc<RedactionMap>, message: &Value) -> Value {
    let put_back = |text: &str, surrounding| {
        let mut restorer = Restorer::new(Arc::clone(map), surrounding);
        let mut out = String::new();
        for character in text.chars() {
            restorer.push(character.encode_utf8(&mut [0; 4]), &mut out);
        }
        restorer.finish(&mut out);
        out
    };
    let mut message = message.clone();
    if let Some(content) = message.get_mut("content").filter(|content| content.is_string()) {
        *content = put_back(content.as_str().unwrap_or_default(), Surrounding::Text).into();
    }
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        let arguments = &mut call["function"]["arguments"];
        *arguments =
            put_back(arguments.as_str().unwrap_or_default(), Surrounding::JsonString).into();
    }
    message
}

/// The values that one conversation has, and where they turn up.
struct Planted {
    numbers: Numbers,
    values: Vec<String>,
}

impl Planted {
    fn new(seed: u64) -> Self {
        Self { numbers: Numbers::new(seed), values: Vec::new() }
    }

    /// What comes before the model's next answer: the result of its call, a question.
    fn question(&mut self, turn: usize) -> Vec<Value> {
        let text = match turn {
            0 => {
                let (email, key) = (self.email(), self.access_key());
                format!("Deploy with these:\nMAIL_TO={email}\nAWS_ACCESS_KEY_ID={key}\n")
            }
            1 => {
                let (password, email) = (self.password(), self.email());
                let settings = json!({ "user": email, "password": password, "retries": 3 });
                settings.to_string()
            }
            2 => format!("It says `card {}` is declined. What now?", self.card()),
            3 => {
                let (token, password) = (self.token(), self.password());
                format!(
                    "diff --git a/.env b/.env\n-DATABASE_URL=postgres://app:{password}@db/x\n\
                     +GITHUB_TOKEN={token}\n"
                )
            }
            4 => format!("My colleague {} wrote the first part.", self.email()),
            _ => {
                let (card, token) = (self.card(), self.token());
                format!("{{\"error\":\"bad token\",\"token\":\"{token}\",\"card\":\"{card}\"}}")
            }
        };
        // The model calls a tool in every other turn, and so gets its result next.
        match turn % 2 {
            1 => {
                let call = format!("call_{}", turn - 1);
                vec![json!({ "role": "tool", "tool_call_id": call, "content": text })]
            }
            _ => vec![json!({ "role": "user", "content": [{ "type": "text", "text": text }] })],
        }
    }

    fn planted(&mut self, value: String) -> String {
        self.values.push(value.clone());
        value
    }

    fn email(&mut self) -> String {
        let (name, host) = (self.numbers.letters(LOWER, 8), self.numbers.letters(LOWER, 9));
        self.planted(format!("{name}.{}@{host}.org", name.len()))
    }

    fn access_key(&mut self) -> String {
        let key = self.numbers.letters(UPPER, 16);
        self.planted(format!("AKIA{key}"))
    }

    fn token(&mut self) -> String {
        let token = self.numbers.letters(MIXED, 36);
        self.planted(format!("ghp_{token}"))
    }

    /// With what has to be escaped in JSON, but not in a URL.
    fn password(&mut self) -> String {
        let (one, other) = (self.numbers.letters(MIXED, 7), self.numbers.letters(MIXED, 6));
        self.planted(format!("{one}!{other}9"))
    }

    /// With a valid check digit (ISO/IEC 7812-1, annex B).
    fn card(&mut self) -> String {
        let digits = format!("4539{}", self.numbers.letters(DIGITS, 11));
        let doubled = |(i, digit): (usize, u8)| {
            let digit = u32::from(digit - b'0');
            if i % 2 == 0 { digit * 2 % 10 + digit / 5 } else { digit }
        };
        let sum: u32 = digits.bytes().enumerate().map(doubled).sum();
        self.planted(format!("{digits}{}", (10 - sum % 10) % 10))
    }
}

/// A request with `messages`, as it would have been read.
fn source(messages: &[Value]) -> Result<Source> {
    let member = |name: &str, value: &Value| -> Result<SourceMember> {
        Ok(SourceMember { name: name.into(), value: RawJson::from_value(value)? })
    };
    let members = vec![
        member("model", &json!("svc/secure-x-3-5-sonnet"))?,
        member("messages", &Value::from(messages))?,
    ];
    let body_bytes = members.iter().map(|member| member.value.as_str().len()).sum();
    Ok(Source { dialect: Dialect::OpenAiChat, members, body_bytes, reader: |_| None })
}

/// The messages of a request that is sent, each as its bytes.
fn messages_of(members: &[SourceMember]) -> Result<Vec<String>> {
    let messages = members.iter().find(|member| member.name == "messages");
    let messages = messages.context("a request without messages")?;
    let messages: Vec<Box<serde_json::value::RawValue>> =
        serde_json::from_str(messages.value.as_str())?;
    Ok(messages.iter().map(|message| message.get().to_owned()).collect())
}

/// All that a value says, with the JSON in its strings decoded, too: a line for each string.
fn said(value: &Value) -> String {
    let mut out = String::new();
    collect(value, &mut out);
    out
}

fn collect(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                collect(&inner, out);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, out)),
        Value::Object(members) => members_of(members, out),
        _ => {}
    }
}

fn members_of(members: &Map<String, Value>, out: &mut String) {
    for (name, value) in members {
        out.push_str(name);
        out.push('\n');
        collect(value, out);
    }
}
