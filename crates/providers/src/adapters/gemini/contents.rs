//! The conversation, as Gemini's `systemInstruction` and `contents`.
//!
//! Gemini has two roles. Instructions, wherever they stand, go into `systemInstruction`; results of
//! function calls are user turns. Neighbouring messages of one kind become one turn, since Gemini
//! wants all results of a turn's calls together. Results and the text that follows them stay apart.

use std::borrow::Cow;
use std::collections::HashMap;

use sluice_core::chat::{Content as Said, Message, Part as SaidPart, Role, ToolCall};
use sluice_core::json::{JsonText, RawJson};

use super::generation::Generation;
use super::wire::{
    Content, FunctionCall, FunctionResponse, FunctionResponsePart, FunctionResult, Part, PartData,
};
use super::{media, unsupported};
use crate::error::Unsupported;

/// What Gemini 3 takes in the place of a signature for calls that it did not make itself (another
/// model's, or those of a client that lost the signature). Source: the guide "Thought signatures".
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// A conversation in Gemini's form.
pub(super) struct Conversation<'a> {
    pub(super) system_instruction: Option<Content<'a>>,
    pub(super) contents: Vec<Content<'a>>,
}

/// The conversation `messages`, for a model of `generation`.
pub(super) fn conversation<'a>(
    messages: &'a [Message],
    generation: Generation,
) -> Result<Conversation<'a>, Unsupported> {
    let mut system = Vec::new();
    let mut turns: Vec<(Turn, Vec<Part<'a>>)> = Vec::new();
    // Gemini wants a result's function by name; only the call says it.
    let mut called: HashMap<Cow<'a, str>, &'a JsonText> = HashMap::new();
    for (position, message) in messages.iter().enumerate() {
        let field = format!("messages[{position}]");
        let (turn, parts) = match message.role {
            Role::System | Role::Developer => {
                system.extend(instructions(message, &field)?);
                continue;
            }
            Role::User => (Turn::User, said(&message.content, generation, &field)?),
            Role::Assistant => {
                let mut parts = said(&message.content, generation, &field)?;
                for (index, call) in message.tool_calls.iter().enumerate() {
                    called.insert(call.id.decode(), &call.name);
                    let field = format!("{field}.tool_calls[{index}]");
                    parts.push(function_call(call, index == 0, generation, &field)?);
                }
                (Turn::Model, parts)
            }
            Role::Tool => {
                let response = function_response(message, &called, generation, &field)?;
                (Turn::Results, vec![PartData::FunctionResponse(response).into()])
            }
        };
        match turns.last_mut() {
            Some((last, before)) if *last == turn => before.extend(parts),
            // Gemini refuses a turn without parts; an empty message says nothing anyway.
            _ if parts.is_empty() => {}
            _ => turns.push((turn, parts)),
        }
    }
    if turns.is_empty() && !system.is_empty() {
        // Gemini wants at least one turn, where OpenAI takes instructions alone.
        turns.push((Turn::User, std::mem::take(&mut system)));
    }
    if turns.is_empty() {
        return Err(unsupported("messages", "hold no content, and Gemini needs some"));
    }
    Ok(Conversation {
        system_instruction: (!system.is_empty()).then_some(Content { role: None, parts: system }),
        contents: turns
            .into_iter()
            .map(|(turn, parts)| Content { role: Some(turn.role()), parts })
            .collect(),
    })
}

/// A kind of turn: neighbours of one kind are merged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    User,
    Model,
    Results,
}

impl Turn {
    fn role(self) -> &'static str {
        match self {
            Self::User | Self::Results => "user",
            Self::Model => "model",
        }
    }
}

/// The parts of an instruction, which may only be text.
fn instructions<'a>(message: &'a Message, field: &str) -> Result<Vec<Part<'a>>, Unsupported> {
    let parts = match &message.content {
        Said::None => return Ok(Vec::new()),
        Said::Text(text) => return Ok(text_part(text).into_iter().collect()),
        Said::Parts(parts) => parts,
    };
    let mut texts = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let SaidPart::Text { text, .. } = part else {
            let reason = "is not text, which is all that Gemini takes as an instruction";
            return Err(unsupported(format!("{field}.content[{index}]"), reason));
        };
        texts.extend(text_part(text));
    }
    Ok(texts)
}

/// The parts of what a user or the model said.
fn said<'a>(
    content: &'a Said,
    generation: Generation,
    field: &str,
) -> Result<Vec<Part<'a>>, Unsupported> {
    let parts = match content {
        Said::None => return Ok(Vec::new()),
        Said::Text(text) => return Ok(text_part(text).into_iter().collect()),
        Said::Parts(parts) => parts,
    };
    let mut out = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let field = format!("{field}.content[{index}]");
        match part {
            SaidPart::Text { text, .. } => out.extend(text_part(text)),
            SaidPart::Image { url, .. } => {
                out.push(media::image(url.decode(), generation, &field)?.into());
            }
            SaidPart::Other { kind, raw } => {
                out.push(media::other(kind, raw, generation, &field)?.into());
            }
        }
    }
    Ok(out)
}

/// A text, unless it is empty: Gemini refuses empty parts.
fn text_part(text: &JsonText) -> Option<Part<'_>> {
    (!text.is_empty()).then(|| PartData::Text(text.decode()).into())
}

/// A call by the model. The first one of a message carries the signature over them all.
fn function_call<'a>(
    call: &'a ToolCall,
    is_first: bool,
    generation: Generation,
    field: &str,
) -> Result<Part<'a>, Unsupported> {
    let arguments = call.arguments.decode();
    let args = match object(&arguments) {
        Some(args) => args,
        None if arguments.trim().is_empty() => RawJson::trusted("{}".into()),
        None => {
            let reason = "is not a JSON object, which is what Gemini takes as arguments";
            return Err(unsupported(format!("{field}.function.arguments"), reason));
        }
    };
    let thought_signature = match &call.signature {
        Some(signature) => Some(signature.decode()),
        None if is_first && generation == Generation::Three => Some(Cow::Borrowed(NO_SIGNATURE)),
        None => None,
    };
    let data = FunctionCall { id: call.id.decode(), name: call.name.decode(), args };
    Ok(Part { data: PartData::FunctionCall(data), thought_signature })
}

/// A call's result.
fn function_response<'a>(
    message: &'a Message,
    called: &HashMap<Cow<'a, str>, &'a JsonText>,
    generation: Generation,
    field: &str,
) -> Result<FunctionResponse<'a>, Unsupported> {
    let id = message.tool_call_id.as_ref().map(JsonText::decode).unwrap_or_default();
    let Some(name) = called.get(&id).copied().or(message.name.as_ref()) else {
        let reason = "names no call of an earlier message, so that Gemini could not be told whose \
                      result this is";
        return Err(unsupported(format!("{field}.tool_call_id"), reason));
    };
    let mut parts = Vec::new();
    let text = match &message.content {
        Said::None => Cow::Borrowed(""),
        Said::Text(text) => text.decode(),
        Said::Parts(said) => {
            let mut texts: Vec<Cow<'a, str>> = Vec::new();
            for (index, part) in said.iter().enumerate() {
                let field = format!("{field}.content[{index}]");
                match part {
                    SaidPart::Text { text, .. } => texts.push(text.decode()),
                    SaidPart::Image { url, .. } if generation == Generation::Three => {
                        let inline_data = media::inline_image(url.decode(), &field)?;
                        parts.push(FunctionResponsePart { inline_data });
                    }
                    SaidPart::Image { .. } | SaidPart::Other { .. } => {
                        let reason = "is not text, which is all that this model takes as a result";
                        return Err(unsupported(field, reason));
                    }
                }
            }
            match texts.pop() {
                Some(only) if texts.is_empty() => only,
                Some(last) => Cow::Owned(texts.join("\n") + "\n" + &last),
                None => Cow::Borrowed(""),
            }
        }
    };
    let response = match object(&text) {
        Some(object) => FunctionResult::Object(object),
        None => FunctionResult::Text { result: text },
    };
    Ok(FunctionResponse { id, name: name.decode(), response, parts })
}

/// `text` as a JSON object, if it is one.
fn object(text: &str) -> Option<RawJson> {
    text.trim_start().starts_with('{').then(|| RawJson::parse(text).ok()).flatten()
}
