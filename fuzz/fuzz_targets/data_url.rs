//! Whatever a `data:` URL says, it is read or left alone; what is in a text is found in the URL of that
//! text, and nothing else of it changes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{SECRET, base64, filtered, is_found, planted};

/// Types that are text, each with its parameters.
const TYPES: [&str; 5] =
    ["text/plain", "", "application/json;charset=utf-8", "image/svg+xml", "text/csv;name=a"];

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = filtered(&format!("data:{text}"), SecurityLevel::Standard);
    }
    let Some((how, text)) = planted(input) else { return };
    let is_binary = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if text.contains(is_binary) || !is_found(&text, SecurityLevel::Standard) {
        return;
    }
    let byte = |i: usize| usize::from(how.get(i).copied().unwrap_or(0));
    let encoded = base64(text.as_bytes(), byte(1) % 2 == 1, byte(2) % 2 == 0);
    let before = format!("see data:{};base64,", TYPES[byte(0) % TYPES.len()]);
    let Some((seen, map)) = filtered(&format!("{before}{encoded} there"), SecurityLevel::Standard)
    else {
        return;
    };
    assert!(!seen.contains(&encoded), "{text:?} is left in {seen}");
    assert!(map.redactions().iter().any(|redaction| redaction.value.contains(SECRET)));
    assert!(seen.starts_with(&before) && seen.ends_with(" there"), "{seen}");
});
