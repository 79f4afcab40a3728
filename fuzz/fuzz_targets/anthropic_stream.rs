//! Whatever an upstream streams in the Anthropic dialect, the decoder does not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_providers::adapters::anthropic::AnthropicMessages;

fuzz_target!(|stream: &[u8]| sluice_fuzz::decode(&AnthropicMessages, stream));
