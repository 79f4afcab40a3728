//! The bytes of a request, kept beside its typed view.
//!
//! What Sluice changes on the way (the model's name, a lowered bound, a redacted value) is
//! written over a copy of the original members; every member that nobody touched leaves exactly
//! as it came.

use std::fmt;
use std::ops::Range;

use bytestring::ByteString;

use crate::chat::{ChatRequest, Message};
use crate::json::{RawJson, write_escaped};

/// The client dialect that a request was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI chat completions.
    OpenAiChat,
}

/// Members of a chat request in OpenAI's dialect that speak to Sluice and go no further.
pub const OWN_MEMBERS: [&str; 4] = ["security_level", "region", "audit_enabled", "zero_retention"];

/// The other members that the vocabulary has a name for; whatever is not among these rides along.
pub const CHAT_MEMBERS: [&str; 23] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "stop",
    "seed",
    "n",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
    "reasoning",
    "user",
    "metadata",
    "stream",
    "stream_options",
];

/// A request's top-level members in the order in which they were sent.
#[derive(Clone)]
pub struct Source {
    /// The dialect of the bytes.
    pub dialect: Dialect,
    /// The members.
    pub members: Vec<SourceMember>,
    /// Length of the whole body in bytes.
    pub body_bytes: usize,
    /// Reads a body of this dialect; `None` where it is none. The dialect's own parser, so that what
    /// is made of edited members is what a caller could have sent.
    pub reader: fn(ByteString) -> Option<ChatRequest>,
}

impl Source {
    /// The request with `members` in place of its own, read anew: its typed view and its bytes say
    /// the same. `None` where that is no request any more.
    pub fn with_members(&self, members: &[SourceMember]) -> Option<ChatRequest> {
        let mut body = Vec::with_capacity(self.body_bytes + 256);
        for member in members {
            body.push(if body.is_empty() { b'{' } else { b',' });
            write_escaped(&member.name, &mut body);
            body.push(b':');
            body.extend_from_slice(member.value.as_str().as_bytes());
        }
        body.push(b'}');
        (self.reader)(ByteString::try_from(body).ok()?)
    }

    /// Reads some messages of `member` as those of a request: no other parser sees them.
    fn read_messages(
        &self,
        member: &SourceMember,
        messages: &[EditedMessage],
    ) -> Option<Vec<Message>> {
        let model = self.members.iter().find(|member| &*member.name == "model")?.value.as_str();
        let length: usize = messages.iter().map(|message| message.range.len() + 1).sum();
        let mut body = String::with_capacity(length + model.len() + 32);
        body.push_str("{\"model\":");
        body.push_str(model);
        for (i, message) in messages.iter().enumerate() {
            body.push_str(if i == 0 { ",\"messages\":[" } else { "," });
            body.push_str(member.value.as_str().get(message.range.clone())?);
        }
        body.push_str("]}");
        let read = (self.reader)(ByteString::from(body))?.messages;
        (read.len() == messages.len()).then_some(read)
    }
}

impl ChatRequest {
    /// The request with `members` in place of its own, of which nothing is another but some messages:
    /// only these are read anew. The typed view and the bytes say the same. `None` where that is no
    /// request any more.
    pub fn with_messages(
        mut self,
        members: Vec<SourceMember>,
        edited: &EditedMessages,
    ) -> Option<Self> {
        if !edited.messages.is_empty() {
            let read = self.source.read_messages(members.get(edited.member)?, &edited.messages)?;
            for (edited, message) in edited.messages.iter().zip(read) {
                *self.messages.get_mut(edited.index)? = message;
            }
        }
        let lengths = |members: &[SourceMember]| -> usize {
            members.iter().map(|member| member.value.as_str().len()).sum()
        };
        let around = self.source.body_bytes.saturating_sub(lengths(&self.source.members));
        self.source.body_bytes = around + lengths(&members);
        self.source.members = members;
        Some(self)
    }
}

/// Messages of a request that were changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditedMessages {
    /// Index of the member that they are in.
    pub member: usize,
    /// The messages, in order.
    pub messages: Vec<EditedMessage>,
}

/// A message of a request that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedMessage {
    /// Its index among the messages.
    pub index: usize,
    /// Where it stands in its member's value.
    pub range: Range<usize>,
}

/// One top-level member of a request body, as received.
#[derive(Clone)]
pub struct SourceMember {
    /// The member's name, unescaped.
    pub name: ByteString,
    /// The member's value.
    pub value: RawJson,
}

impl fmt::Debug for SourceMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceMember({} bytes)", self.value.as_str().len())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        f.debug_struct("Source").field("members", &names).field("bytes", &self.body_bytes).finish()
    }
}
