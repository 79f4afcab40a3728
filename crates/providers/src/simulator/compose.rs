//! What a simulated model says.
//!
//! Everything is derived from the request, so the same request gets the same answer. Text says of
//! itself that it is simulated, other than the echo's, whose point is to be exact.

use std::fmt::Write;

use serde_json::{Value, json};

use super::hash;
use super::material::{Material, head};
use super::models::{Behaviour, SimulatedModel};
use super::reply::{Finish, Reply, Segment, SegmentKind};
use super::request::Request;
use super::schema;
use super::tokens;
use super::tools;
use super::triggers::{Manner, Wishes};

/// Characters of the prompt that an answer quotes.
const EXCERPT: usize = 120;
/// Bytes of one tool result that an answer quotes.
const RESULT: usize = 2_000;
const OPENINGS: [&str; 4] = [
    "This is a simulated answer: no language model was asked.",
    "Simulated answer. It comes from the gateway itself, not from a language model.",
    "What you read is simulated; it was made without a language model.",
    "A simulated model speaks here, so take this as a test of the wiring.",
];
/// Fills an answer up to a length that was asked for.
const FILLER: &str = " This simulated sentence is here for its length alone.";
const REFUSAL: &str = "This is a simulated refusal, as the message asked for.";

/// The answers to `request`, as many as it asks for. `key` is a hash of the request.
pub(super) fn replies(
    request: &Request,
    model: &SimulatedModel,
    wishes: &Wishes,
    key: u64,
    prompt_tokens: u64,
) -> Vec<Reply> {
    let most = request.max_tokens().unwrap_or(u32::MAX).min(model.output_limit);
    let composer = |index| Composer { request, model, wishes, key, prompt_tokens, index };
    let reply = |index: u32| {
        let mut reply = match model.behaviour {
            Behaviour::Echo => Reply::text(request.last_user_text()),
            Behaviour::Chat => composer(index).reply(),
            Behaviour::Reason => composer(index).thoughtful_reply(),
        };
        reply.stop_before(request.stops());
        reply.limit(most.into());
        reply
    };
    (0..request.choices()).map(reply).collect()
}

/// Writes the answer with one index.
struct Composer<'a> {
    request: &'a Request,
    model: &'a SimulatedModel,
    wishes: &'a Wishes,
    key: u64,
    prompt_tokens: u64,
    index: u32,
}

impl Composer<'_> {
    fn reply(&self) -> Reply {
        match self.wishes.manner {
            Some(Manner::Refusal) => {
                let refusal = Segment::new(SegmentKind::Refusal, REFUSAL);
                return Reply { segments: vec![refusal], finish: Finish::Stop };
            }
            Some(Manner::Filtered) => {
                return Reply { finish: Finish::ContentFilter, ..Reply::text(OPENINGS[0]) };
            }
            None => {}
        }
        let calls = self.calls();
        if !calls.is_empty() {
            return Reply { segments: calls, finish: Finish::ToolCalls };
        }
        if let Some(json) = self.json() {
            return Reply::text(json.to_string());
        }
        let text = self.results().unwrap_or_else(|| self.description());
        Reply::text(self.lengthened(text))
    }

    /// The same, after thinking; more of it for more `reasoning_effort`, none for `none`.
    fn thoughtful_reply(&self) -> Reply {
        let thoughts = [
            "Simulated thinking: I look at the last message and at what it asks for.",
            " I check whether a tool has to be called or JSON is wanted.",
            " I count messages, words and tokens, for that is what I can say something about.",
            " I choose an opening that fits the seed and the number of the answer.",
            " I read everything once more, as careful models do.",
        ];
        let count = match self.request.reasoning_effort.as_deref() {
            Some("none") => 0,
            Some("minimal") => 1,
            Some("low") => 2,
            Some("high") => 4,
            Some("xhigh" | "max") => 5,
            _ => 3,
        };
        let mut reply = self.reply();
        if count > 0 {
            let thinking = Segment::new(SegmentKind::Reasoning, thoughts[..count].concat());
            reply.segments.insert(0, thinking);
        }
        reply
    }

    fn calls(&self) -> Vec<Segment> {
        let prompt = self.request.last_user_text();
        let functions = tools::to_call(self.request, &prompt);
        let names: Vec<_> = functions.iter().map(|function| function.name.as_str()).collect();
        // One material for all calls: "`weather` in "Paris", `time` in "Rome"" fills both.
        let mut material = Material::of(&prompt, &names);
        let call = |(index, name): (usize, &&str)| {
            let parameters = &functions[index].parameters;
            let arguments = match parameters {
                Value::Null => json!({}),
                schema => schema::instance(schema, &mut material),
            };
            let place = [self.index.to_le_bytes(), (index as u32).to_le_bytes()].concat();
            let id = format!("call_{:016x}", hash::stable(&[&self.key.to_le_bytes(), &place]));
            let kind = SegmentKind::Call { index, id, name: (*name).to_owned() };
            Segment::new(kind, arguments.to_string())
        };
        names.iter().enumerate().map(call).collect()
    }

    /// The answer in JSON, where `response_format` wants one.
    fn json(&self) -> Option<Value> {
        let format = self.request.response_format.as_ref()?;
        match format.get("type")?.as_str()? {
            "json_object" => Some(json!({
                "simulated": true,
                "model": self.model.id,
                "answer": self.opening(),
                "prompt": self.excerpt(),
            })),
            "json_schema" => {
                let prompt = self.request.last_user_text();
                let schema = format.pointer("/json_schema/schema").unwrap_or(&Value::Null);
                Some(schema::instance(schema, &mut Material::of(&prompt, &[])))
            }
            _ => None,
        }
    }

    /// An answer that quotes the tools' results, where those are the last messages.
    fn results(&self) -> Option<String> {
        let messages = &self.request.messages;
        let first =
            messages.iter().rposition(|message| message.role != "tool").map_or(0, |at| at + 1);
        let results = messages.get(first..).filter(|results| !results.is_empty())?;
        let mut text = self.opening();
        text.push_str("\n\nThe tools answered:\n");
        for result in results {
            let id = result.tool_call_id.as_deref().unwrap_or_default();
            let name = self.request.called_function(id).unwrap_or("tool");
            let content = result.text();
            let shown = head(&content, RESULT);
            let dots = if shown.len() < content.len() { " …" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- `{name}`: {shown}{dots}");
        }
        Some(text)
    }

    /// An answer that describes the request.
    fn description(&self) -> String {
        let prompt = self.request.last_user_text();
        let messages = self.request.messages.len();
        let mut text = self.opening();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\nYour last message has {} characters in {} words: “{}”. The conversation has \
             {messages} message{} and about {} tokens.",
            prompt.chars().count(),
            prompt.split_whitespace().count(),
            self.excerpt(),
            if messages == 1 { "" } else { "s" },
            self.prompt_tokens,
        );
        let functions = self.request.functions();
        if let Some(first) = functions.first() {
            let names: Vec<_> = functions.iter().map(|f| format!("`{}`", f.name)).collect();
            let _ = write!(
                text,
                " Tools on offer: {}. Write “use the {} tool” to have one called.",
                names.join(", "),
                first.name,
            );
        }
        if let Some(unknown) = &self.wishes.unknown {
            let _ = write!(text, " There is no trigger “{unknown}”; docs/simulator.md lists them.");
        }
        text
    }

    fn opening(&self) -> String {
        let variant = self.variant();
        let opening = OPENINGS[(variant % OPENINGS.len() as u64) as usize];
        match variant {
            0 => format!("{opening} ({})", self.model.id),
            _ => format!("{opening} ({}, variant {variant})", self.model.id),
        }
    }

    /// Which of the possible answers this is: 0 for the first answer without a seed. Answers of
    /// one request never share a number.
    fn variant(&self) -> u64 {
        let seed =
            self.request.seed.map_or(0, |seed| 1000 + hash::stable(&[&seed.to_le_bytes()]) % 9000);
        seed + u64::from(self.index)
    }

    fn excerpt(&self) -> String {
        let prompt = self.request.last_user_text();
        let excerpt: String = prompt.chars().take(EXCERPT).collect();
        if excerpt.len() < prompt.len() { format!("{excerpt}…") } else { excerpt }
    }

    /// `text`, made as long as a trigger asks for.
    fn lengthened(&self, mut text: String) -> String {
        let Some(wanted) = self.wishes.tokens else {
            return text;
        };
        let wanted = u64::from(wanted.min(self.model.output_limit));
        let missing = wanted.saturating_sub(tokens::count(&text));
        let sentences = missing.div_ceil(tokens::count(FILLER));
        text.push_str(&FILLER.repeat(usize::try_from(sentences).unwrap_or(0)));
        let end = tokens::split(&text).zip(0..wanted).map(|(token, _)| token.len()).sum();
        text.truncate(end);
        text
    }
}
