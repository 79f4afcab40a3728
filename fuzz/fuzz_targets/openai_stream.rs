//! Whatever an upstream streams in the OpenAI dialect, the decoder does not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_providers::adapters::openai::OpenAiChat;

fuzz_target!(|stream: &[u8]| sluice_fuzz::decode(&OpenAiChat, stream));
