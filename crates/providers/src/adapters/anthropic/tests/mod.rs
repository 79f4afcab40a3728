//! The adapter as its caller sees it: recorded examples in, reviewed snapshots out.
//!
//! The examples follow Anthropic's public documentation.

mod answers;
mod requests;

use super::AnthropicMessages;
use crate::endpoint::Target;
use crate::testing;

fn target(model: &str) -> Target {
    testing::target(AnthropicMessages, "https://api.anthropic.com", "x-api-key", model)
}
