//! The bytes of a request, kept beside its typed view.
//!
//! What Sluice changes on the way (the model's name, a lowered bound, later a redacted span) is
//! written over a copy of the original members; every member that nobody touched leaves exactly
//! as it came.

use std::fmt;

use bytestring::ByteString;

use crate::json::RawJson;

/// The client dialect that a request was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI chat completions.
    OpenAiChat,
}

/// A request's top-level members in the order in which they were sent.
#[derive(Clone)]
pub struct Source {
    /// The dialect of the bytes.
    pub dialect: Dialect,
    /// The members.
    pub members: Vec<SourceMember>,
    /// Length of the whole body in bytes.
    pub body_bytes: usize,
}

/// One top-level member of a request body, as received.
#[derive(Clone)]
pub struct SourceMember {
    /// The member's name, unescaped.
    pub name: ByteString,
    /// The member's value.
    pub value: RawJson,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        f.debug_struct("Source").field("members", &names).field("bytes", &self.body_bytes).finish()
    }
}
