//! Whatever a conversation holds, what it asks for is judged: probabilities that sum to 1, a
//! complexity from 0 to 1, and the same ones again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use sluice_routing::classify::judge;

fuzz_target!(|bytes: &[u8]| {
    // Another program's output need not be text; what a tool says comes as its replacement has it.
    let (said, from_tool) = bytes.split_at(bytes.len() / 2);
    let text = String::from_utf8_lossy;
    let body = json!({ "model": "svc/auto", "messages": [
        { "role": "system", "content": text(from_tool) },
        { "role": "user", "content": text(said) },
        { "role": "tool", "tool_call_id": "1", "content": text(from_tool) },
    ]});
    let Ok(chat) = sluice_api::wire::chat::parse(body.to_string().into()) else { return };
    let judgement = judge(&chat);
    let sum: f32 = judgement.probabilities.iter().sum();
    assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    assert!((0.0..=1.0).contains(&judgement.complexity), "{}", judgement.complexity);
    assert_eq!(judge(&chat), judgement);
});
