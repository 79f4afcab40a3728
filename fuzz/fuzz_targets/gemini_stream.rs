//! Whatever an upstream streams in the Gemini dialect, the decoder does not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_providers::adapters::gemini::GeminiGenerateContent;

fuzz_target!(|stream: &[u8]| sluice_fuzz::decode(&GeminiGenerateContent, stream));
