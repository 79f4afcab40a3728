//! Answers as OpenAI's clients read them: `chat.completion`, and `chat.completion.chunk`s.
//!
//! Written straight into a buffer: strings that came as literals leave as literals. Thoughts are
//! told under both names that clients know, `reasoning` and `reasoning_content`.

use std::io::Write as _;

use bytestring::ByteString;
use sluice_core::answer::{AnswerMessage, ChatAnswer, Choice};
use sluice_core::chat::{ReasoningBlock, ToolCall};
use sluice_core::event::{AnswerHead, Delta, ToolCallDelta};
use sluice_core::filtering::FilterRecord;
use sluice_core::json::{JsonText, Member, write_escaped, write_members};
use sluice_gateway::accounting::Receipt;

use crate::filtered;

/// Members of an answer that are Sluice's to say.
const OWN_MEMBERS: [&str; 2] = ["security", "usage"];

/// The identifier that an answer has for its caller: the provider's, else one made of the
/// request's.
pub(crate) fn completion_id(provider_id: &ByteString, request_id: &str) -> ByteString {
    if provider_id.is_empty() {
        ByteString::from(format!("chatcmpl-{request_id}"))
    } else {
        provider_id.clone()
    }
}

/// Writes a whole answer.
pub(crate) fn write_whole(
    answer: &ChatAnswer,
    receipt: &Receipt,
    (id, created): (&str, u64),
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"id\":");
    write_escaped(id, out);
    let _ = write!(out, ",\"object\":\"chat.completion\",\"created\":{created},\"model\":");
    write_escaped(receipt.model.as_str(), out);
    out.extend_from_slice(b",\"choices\":[");
    for (i, choice) in answer.choices.iter().enumerate() {
        comma(i, out);
        write_choice(choice, out);
    }
    out.push(b']');
    write_receipt(receipt, out);
    write_extra(&answer.extra, out);
    out.push(b'}');
}

fn write_choice(choice: &Choice, out: &mut Vec<u8>) {
    let _ = write!(out, "{{\"index\":{},\"message\":", choice.index);
    write_message(&choice.message, out);
    out.extend_from_slice(b",\"logprobs\":");
    match &choice.logprobs {
        Some(logprobs) => out.extend_from_slice(logprobs.as_str().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    let _ = write!(out, ",\"finish_reason\":\"{}\"", choice.finish_reason.as_str());
    write_members(&choice.extra, out);
    out.push(b'}');
}

fn write_message(message: &AnswerMessage, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
    write_nullable(message.content.as_ref(), out);
    out.extend_from_slice(b",\"refusal\":");
    write_nullable(message.refusal.as_ref(), out);
    if let Some(reasoning) = &message.reasoning {
        write_reasoning(reasoning, out);
    }
    write_reasoning_details(&message.reasoning_details, out);
    if !message.tool_calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        for (i, call) in message.tool_calls.iter().enumerate() {
            comma(i, out);
            write_tool_call(call, out);
        }
        out.push(b']');
    }
    write_members(&message.extra, out);
    out.push(b'}');
}

fn write_tool_call(call: &ToolCall, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"id\":");
    call.id.write_literal(out);
    out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
    call.name.write_literal(out);
    out.extend_from_slice(b",\"arguments\":");
    call.arguments.write_literal(out);
    out.push(b'}');
    write_signature(call.signature.as_ref(), out);
    out.push(b'}');
}

/// Writes `,"usage":{…},"security":{…}`.
fn write_receipt(receipt: &Receipt, out: &mut Vec<u8>) {
    let usage = &receipt.usage;
    let _ = write!(
        out,
        ",\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":{},\"total_tokens\":{},\
         \"prompt_tokens_details\":{{\"cached_tokens\":{},\"cache_write_tokens\":{}}},\
         \"completion_tokens_details\":{{\"reasoning_tokens\":{}}}",
        usage.prompt_tokens(),
        usage.completion_tokens(),
        usage.total_tokens(),
        usage.cache_read,
        usage.cache_write,
        usage.reasoning,
    );
    // An exact decimal, or null where the price is unknown: never zero for "unknown".
    match receipt.cost {
        Some(cost) => {
            out.extend_from_slice(b",\"cost_usd\":");
            let start = out.len();
            let _ = write!(out, "{cost}");
            let end = out.len();
            out.extend_from_slice(b",\"cost\":");
            out.extend_from_within(start..end);
            out.push(b'}');
        }
        // OpenRouter's clients take a number or nothing.
        None => out.extend_from_slice(b",\"cost_usd\":null}"),
    }
    let _ = write!(
        out,
        ",\"security\":{{\"level\":\"{}\",\"data_residency\":\"{}\",\"audit_id\":",
        receipt.policy.level.as_str(),
        receipt.region.map_or("unspecified", |region| region.as_str()),
    );
    write_escaped(&receipt.audit_id, out);
    let _ = write!(out, ",\"zero_retention\":{}", receipt.policy.retention.is_zero());
    if receipt.filter.has_findings() {
        filtered::write_members(&receipt.filter, out);
    }
    out.push(b'}');
}

/// Writes one answer's chunks.
pub(crate) struct ChunkWriter {
    /// Everything up to a chunk's choices; the same on each.
    prefix: Vec<u8>,
    /// Whether the usage comes in a chunk of its own: then all others say `null`.
    include_usage: bool,
    /// Choices whose first delta has been written.
    begun: Vec<u32>,
}

impl ChunkWriter {
    pub(crate) fn new(
        head: &AnswerHead,
        model: &str,
        (id, created): (&str, u64),
        include_usage: bool,
    ) -> Self {
        let mut prefix = b"data: {\"id\":".to_vec();
        write_escaped(id, &mut prefix);
        let _ = write!(
            prefix,
            ",\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":"
        );
        write_escaped(model, &mut prefix);
        write_extra(&head.extra, &mut prefix);
        prefix.extend_from_slice(b",\"choices\":[");
        Self { prefix, include_usage, begun: Vec::new() }
    }

    /// Writes one step of one answer. `filter` is what the filter did, where that is more than the
    /// headers told: the last step tells it, where no chunk with the usage follows.
    pub(crate) fn write_delta(
        &mut self,
        delta: &Delta,
        filter: Option<&FilterRecord>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(b"{\"index\":");
        // A third of the instructions of `write!`, for each chunk.
        let _ = serde_json::to_writer(&mut *out, &delta.choice);
        out.extend_from_slice(b",\"delta\":{");
        let start = out.len();
        if !self.begun.contains(&delta.choice) {
            self.begun.push(delta.choice);
            out.extend_from_slice(b",\"role\":\"assistant\"");
            if delta.content.is_none() {
                out.extend_from_slice(b",\"content\":\"\"");
            }
        }
        if let Some(content) = &delta.content {
            out.extend_from_slice(b",\"content\":");
            content.write_literal(out);
        }
        if let Some(reasoning) = &delta.reasoning {
            write_reasoning(reasoning, out);
        }
        write_reasoning_details(&delta.reasoning_details, out);
        if let Some(refusal) = &delta.refusal {
            out.extend_from_slice(b",\"refusal\":");
            refusal.write_literal(out);
        }
        if !delta.tool_calls.is_empty() {
            out.extend_from_slice(b",\"tool_calls\":[");
            for (i, call) in delta.tool_calls.iter().enumerate() {
                comma(i, out);
                write_tool_call_delta(call, out);
            }
            out.push(b']');
        }
        write_members(&delta.extra, out);
        // Every member was written with a comma before it; the first needs none.
        if out.len() > start {
            out.remove(start);
        }
        out.extend_from_slice(b"},\"logprobs\":");
        match &delta.logprobs {
            Some(logprobs) => out.extend_from_slice(logprobs.as_str().as_bytes()),
            None => out.extend_from_slice(b"null"),
        }
        match delta.finish_reason {
            Some(reason) => {
                let _ = write!(out, ",\"finish_reason\":\"{}\"}}", reason.as_str());
            }
            None => out.extend_from_slice(b",\"finish_reason\":null}"),
        }
        out.push(b']');
        if self.include_usage {
            out.extend_from_slice(b",\"usage\":null");
        }
        if let Some(filter) = filter {
            filtered::write_security(filter, out);
        }
        out.extend_from_slice(b"}\n\n");
    }

    /// Writes the chunk that tells usage, cost and security.
    pub(crate) fn write_usage(&self, receipt: &Receipt, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.prefix);
        out.push(b']');
        write_receipt(receipt, out);
        out.extend_from_slice(b"}\n\n");
    }
}

fn write_tool_call_delta(call: &ToolCallDelta, out: &mut Vec<u8>) {
    let _ = write!(out, "{{\"index\":{}", call.index);
    if let Some(id) = &call.id {
        out.extend_from_slice(b",\"id\":");
        id.write_literal(out);
        out.extend_from_slice(b",\"type\":\"function\"");
    }
    out.extend_from_slice(b",\"function\":{");
    if let Some(name) = &call.name {
        out.extend_from_slice(b"\"name\":");
        name.write_literal(out);
    }
    if let Some(arguments) = &call.arguments {
        out.extend_from_slice(if call.name.is_some() {
            b",\"arguments\":"
        } else {
            b"\"arguments\":"
        });
        arguments.write_literal(out);
    }
    out.push(b'}');
    write_signature(call.signature.as_ref(), out);
    out.push(b'}');
}

fn write_reasoning(reasoning: &JsonText, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"reasoning\":");
    reasoning.write_literal(out);
    out.extend_from_slice(b",\"reasoning_content\":");
    reasoning.write_literal(out);
}

/// Writes thoughts that the provider wants back, as OpenRouter does.
fn write_reasoning_details(blocks: &[ReasoningBlock], out: &mut Vec<u8>) {
    if blocks.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"reasoning_details\":[");
    for (i, block) in blocks.iter().enumerate() {
        comma(i, out);
        match block {
            ReasoningBlock::Text { text, signature } => {
                out.extend_from_slice(b"{\"type\":\"reasoning.text\",\"text\":");
                text.write_literal(out);
                if let Some(signature) = signature {
                    out.extend_from_slice(b",\"signature\":");
                    signature.write_literal(out);
                }
            }
            ReasoningBlock::Redacted { data } => {
                out.extend_from_slice(b"{\"type\":\"reasoning.encrypted\",\"data\":");
                data.write_literal(out);
            }
        }
        let _ = write!(out, ",\"index\":{i}}}");
    }
    out.push(b']');
}

fn write_signature(signature: Option<&JsonText>, out: &mut Vec<u8>) {
    if let Some(signature) = signature {
        out.extend_from_slice(b",\"extra_content\":{\"google\":{\"thought_signature\":");
        signature.write_literal(out);
        out.extend_from_slice(b"}}");
    }
}

fn write_nullable(text: Option<&JsonText>, out: &mut Vec<u8>) {
    match text {
        Some(text) => text.write_literal(out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writes members of the provider's that do not contradict Sluice's own.
fn write_extra(extra: &[Member], out: &mut Vec<u8>) {
    if extra.iter().any(|member| OWN_MEMBERS.contains(&&*member.name)) {
        let rest: Vec<Member> =
            extra.iter().filter(|member| !OWN_MEMBERS.contains(&&*member.name)).cloned().collect();
        write_members(&rest, out);
    } else {
        write_members(extra, out);
    }
}

fn comma(i: usize, out: &mut Vec<u8>) {
    if i > 0 {
        out.push(b',');
    }
}
