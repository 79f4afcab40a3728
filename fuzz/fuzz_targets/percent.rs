//! What is found in a text is found with any of its characters written as `%xx`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{SECRET, filtered, is_found, planted};

fuzz_target!(|input: &[u8]| {
    let Some((how, text)) = planted(input) else { return };
    if text.contains('%') || !is_found(&text, SecurityLevel::High) {
        return;
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |text: &str| -> String {
        let chance = how.iter().cycle().map(Some).chain(std::iter::repeat(None));
        let bytes = text.bytes().zip(chance);
        let encoded = bytes.map(|(byte, chance)| match chance {
            Some(chance) if chance % 3 == 0 => format!("%{byte:02x}"),
            _ if is_plain(byte) => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        });
        encoded.collect()
    };
    let (before, after) = text.split_once(SECRET).unwrap_or_default();
    let secret = encode(SECRET);
    let url = format!("{}{secret}{}", encode(before), encode(after));
    let Some((seen, _)) = filtered(&format!("see {url} there"), SecurityLevel::High) else {
        return;
    };
    assert!(!seen.contains(&secret), "{text:?} is left in {seen}");
});
