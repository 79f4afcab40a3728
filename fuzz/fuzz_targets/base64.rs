//! What is found in a text is found in its base64, in either alphabet, padded or not, once or twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{base64, filtered, is_found, planted};

fuzz_target!(|input: &[u8]| {
    let Some((how, text)) = planted(input) else { return };
    let is_binary = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if text.contains(is_binary) || !is_found(&text, SecurityLevel::High) {
        return;
    }
    let has = |i: usize| how.get(i).is_some_and(|byte| byte % 2 == 1);
    let mut encoded = base64(text.as_bytes(), has(0), has(1));
    if has(2) {
        encoded = base64(encoded.as_bytes(), has(0), has(3));
    }
    let whole = format!("{{\"x\": \"{encoded}\"}}");
    let Some((seen, _)) = filtered(&whole, SecurityLevel::High) else { return };
    assert!(!seen.contains(&encoded), "{text:?} is left in {seen}");
});
