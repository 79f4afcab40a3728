//! The adapter as its caller sees it: recorded examples in, reviewed snapshots out.
//!
//! The examples follow public documentation; `examples/README.md` says whose.

mod answers;
mod errors;
mod requests;
mod streams;

use serde_json::value::RawValue;
use sluice_core::chat::ChatRequest;
use sluice_core::json::RawJson;
use sluice_core::source::{Dialect, Source, SourceMember};
use sluice_core::wire_object;

use super::OpenAiChat;
use crate::endpoint::{Quirks, Target};
use crate::testing;

wire_object! {
    /// A request's members, none of them known.
    struct Members<'a> {
        none = "": &'a RawValue,
    }
}

/// The request that a client's `body` stands for, with its bytes.
fn chat(body: &str) -> ChatRequest {
    let mut chat = testing::chat(serde_json::from_str(body).expect("JSON"));
    // Known members that the shared builder takes for unknown ones.
    let known = ["security_level", "region", "audit_enabled", "zero_retention", "metadata"];
    chat.extra.retain(|member| !known.contains(&&*member.name));
    chat.source = source(body);
    chat
}

/// The bytes of a request.
fn source(body: &str) -> Source {
    let members: Members<'_> = serde_json::from_str(body).expect("an object");
    let members: Vec<SourceMember> = members
        .rest
        .iter()
        .map(|(name, value)| SourceMember {
            name: (**name).into(),
            value: RawJson::trusted(value.get().into()),
        })
        .collect();
    Source { dialect: Dialect::OpenAiChat, members, body_bytes: body.len(), reader: |_| None }
}

fn target(model: &str, quirks: Quirks) -> Target {
    let mut target =
        testing::target(OpenAiChat, "https://api.openai.com/v1", "authorization", model);
    if let Some(endpoint) = std::sync::Arc::get_mut(&mut target.endpoint) {
        endpoint.quirks = quirks;
    }
    target
}
