//! From OpenAI's list of messages to Anthropic's system prompt and alternating turns.
//!
//! - Messages of one role in a row become one turn, as the API itself would read them.
//! - A `tool` message is a `tool_result` block of a user turn; results come first in it.
//! - Texts of nothing but white space are left out: Anthropic refuses them.
//! - Signed and encrypted thoughts go back as they came, first in their turn; unsigned ones are
//!   left out, since Anthropic accepts only its own.
//! - Where Anthropic takes a cache breakpoint on blocks only, a message's own breakpoint is set on
//!   its last block.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sluice_core::chat::{Content, Message, Part, ReasoningBlock, Role, ToolCall};
use sluice_core::json::{JsonText, RawJson};

use super::model::Model;
use super::wire::{Block, CacheControl, Speaker, Text, Turn};
use super::{media, unsupported};
use crate::error::Unsupported;

/// A conversation in Anthropic's form.
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<Block<'a>>,
    pub(super) turns: Vec<Turn<'a>>,
}

/// Translates `messages` for `model`.
pub(super) fn translate<'a>(
    messages: &'a [Message],
    model: Model,
) -> Result<Conversation<'a>, Unsupported> {
    let mut conversation = Conversation { system: Vec::new(), turns: Vec::new() };
    let mut last = 0;
    for (index, message) in messages.iter().enumerate() {
        let at = At(index);
        let breakpoint = CacheControl::of(message.cache_breakpoint.as_ref());
        let mut blocks = match message.role {
            Role::System | Role::Developer => blocks(&message.content, at, Media::TextOnly)?,
            Role::User => blocks(&message.content, at, Media::Any)?,
            Role::Assistant => assistant_blocks(message, at)?,
            Role::Tool => vec![tool_result(message, at)?],
        };
        if let Some(breakpoint) = breakpoint {
            mark_last(&mut blocks, breakpoint);
        }
        let speaker = match message.role {
            Role::System | Role::Developer => {
                conversation.system.append(&mut blocks);
                continue;
            }
            Role::User | Role::Tool => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        };
        if blocks.is_empty() {
            continue;
        }
        if conversation.turns.is_empty() && speaker == Speaker::Assistant {
            let reason = "is an assistant turn, with which Anthropic lets no conversation begin";
            return Err(unsupported(at.field(), reason));
        }
        last = index;
        conversation.push(speaker, blocks);
    }
    match conversation.turns.last() {
        None => Err(unsupported("messages", "hold no user turn with text, which Anthropic wants")),
        Some(turn) if turn.role == Speaker::Assistant && !model.continues_its_turn() => {
            let reason = "is an assistant turn at the end, which this model does not go on with";
            Err(unsupported(At(last).field(), reason))
        }
        Some(_) => Ok(conversation),
    }
}

impl<'a> Conversation<'a> {
    fn push(&mut self, role: Speaker, mut blocks: Vec<Block<'a>>) {
        let Some(turn) = self.turns.last_mut().filter(|turn| turn.role == role) else {
            self.turns.push(Turn { role, content: blocks });
            return;
        };
        if matches!(blocks.as_slice(), [Block::ToolResult { .. }]) {
            let is_result = |block: &&Block<'_>| matches!(block, Block::ToolResult { .. });
            let results = turn.content.iter().take_while(is_result).count();
            turn.content.splice(results..results, blocks);
        } else {
            turn.content.append(&mut blocks);
        }
    }
}

/// The message that is being translated, for naming fields.
#[derive(Clone, Copy)]
struct At(usize);

impl At {
    fn field(self) -> String {
        format!("messages[{}]", self.0)
    }

    fn part(self, part: usize) -> String {
        format!("messages[{}].content[{part}]", self.0)
    }
}

/// What a message may hold besides text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Media {
    TextOnly,
    Any,
}

fn blocks<'a>(content: &'a Content, at: At, media: Media) -> Result<Vec<Block<'a>>, Unsupported> {
    let parts = match content {
        Content::None => return Ok(Vec::new()),
        Content::Text(text) if is_blank(text) => return Ok(Vec::new()),
        Content::Text(text) => {
            return Ok(vec![Block::Text { text: Text::new(text), cache_control: None }]);
        }
        Content::Parts(parts) => parts,
    };
    let mut blocks = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text { text, cache_breakpoint } => {
                let cache_control = CacheControl::of(cache_breakpoint.as_ref());
                if !is_blank(text) {
                    blocks.push(Block::Text { text: Text::new(text), cache_control });
                } else if let Some(cache_control) = cache_control {
                    mark_last(&mut blocks, cache_control);
                }
            }
            Part::Image { url, cache_breakpoint, .. } if media == Media::Any => {
                let cache_control = CacheControl::of(cache_breakpoint.as_ref());
                blocks.push(media::image(url, cache_control, || at.part(index))?);
            }
            Part::Image { .. } => {
                let reason = "is an image, which Anthropic takes from users and tools only";
                return Err(unsupported(at.part(index), reason));
            }
            Part::Other { kind, raw } => match &**kind {
                "file" if media == Media::Any => {
                    blocks.push(media::document(raw, || at.part(index))?);
                }
                "refusal" => blocks.extend(refusal(raw)),
                kind => {
                    let reason = format!("is of type `{kind}`, which Anthropic does not take here");
                    return Err(unsupported(at.part(index), reason));
                }
            },
        }
    }
    Ok(blocks)
}

fn assistant_blocks<'a>(message: &'a Message, at: At) -> Result<Vec<Block<'a>>, Unsupported> {
    let mut all = Vec::new();
    for thought in &message.reasoning {
        match thought {
            ReasoningBlock::Text { text, signature: Some(signature) } if !signature.is_empty() => {
                all.push(Block::Thinking {
                    thinking: Text::new(text),
                    signature: Text::new(signature),
                });
            }
            ReasoningBlock::Text { .. } => {}
            ReasoningBlock::Redacted { data } => {
                all.push(Block::RedactedThinking { data: Text::new(data) });
            }
        }
    }
    all.append(&mut blocks(&message.content, at, Media::TextOnly)?);
    for (index, call) in message.tool_calls.iter().enumerate() {
        let Some(input) = input(&call.arguments) else {
            return Err(unsupported(
                format!("{}.tool_calls[{index}].function.arguments", at.field()),
                "is not a JSON object, which Anthropic wants back as one",
            ));
        };
        all.push(tool_use(call, input));
    }
    // Thoughts alone are no turn.
    let says = |block: &Block<'_>| {
        !matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
    };
    if !all.iter().any(says) {
        all.clear();
    }
    Ok(all)
}

fn tool_use<'a>(call: &'a ToolCall, input: Box<RawValue>) -> Block<'a> {
    Block::ToolUse {
        id: call_id(&call.id),
        name: Text::new(&call.name),
        input,
        cache_control: CacheControl::of(call.cache_breakpoint.as_ref()),
    }
}

/// Arguments as the object that their text stands for. No text at all is how some clients write
/// that there are none.
fn input(arguments: &JsonText) -> Option<Box<RawValue>> {
    let text = arguments.decode();
    let text = match text.trim() {
        "" => "{}",
        text => text,
    };
    let input = RawValue::from_string(text.to_owned()).ok()?;
    input.get().starts_with('{').then_some(input)
}

fn tool_result(message: &Message, at: At) -> Result<Block<'_>, Unsupported> {
    let Some(id) = &message.tool_call_id else {
        let field = format!("{}.tool_call_id", at.field());
        return Err(unsupported(field, "is missing; Anthropic matches results to calls by it"));
    };
    let mut content = blocks(&message.content, at, Media::Any)?;
    // Breakpoints stand on the result as a whole.
    let mut cache_control = None;
    for slot in content.iter_mut().filter_map(Block::cache_control) {
        cache_control = slot.take().or(cache_control);
    }
    Ok(Block::ToolResult { tool_use_id: call_id(id), content, cache_control })
}

/// A call's name for itself. Anthropic takes letters, digits, `_` and `-`; other providers, whose
/// calls may be part of the conversation, use more.
fn call_id(id: &JsonText) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let id = id.decode();
    if id.chars().all(allowed) {
        return id;
    }
    Cow::Owned(id.chars().map(|c| if allowed(c) { c } else { '_' }).collect())
}

/// A refusal that a model gave in an earlier turn is a text like others.
fn refusal<'a>(part: &RawJson) -> Option<Block<'a>> {
    #[derive(Deserialize)]
    struct Refusal {
        refusal: String,
    }
    let Refusal { refusal } = part.decode().ok()?;
    let said = !refusal.trim().is_empty();
    said.then(|| Block::Text { text: Text::owned(refusal), cache_control: None })
}

fn mark_last<'a>(blocks: &mut [Block<'a>], breakpoint: CacheControl<'a>) {
    if let Some(slot) = blocks.iter_mut().rev().find_map(Block::cache_control) {
        slot.get_or_insert(breakpoint);
    }
}

/// Whether there is nothing but white space. The first character tells, unless it is an escape; a
/// long prompt is not unescaped for this.
fn is_blank(text: &JsonText) -> bool {
    let raw = match text {
        JsonText::Plain(text) => text,
        JsonText::Literal(literal) => literal.get(1..).unwrap_or(""),
    };
    match raw.trim_start().chars().next() {
        None | Some('\\' | '"') => text.decode().trim().is_empty(),
        Some(_) => false,
    }
}
