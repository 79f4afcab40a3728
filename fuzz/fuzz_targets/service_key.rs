//! Whatever a caller sends as a key, it is recognised or refused; nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_gateway::service_key::{PREFIX, ServiceKey};

fuzz_target!(|text: &str| {
    // As it is, and with the prefix that the fuzzer would take long to find.
    for text in [text.to_owned(), format!("{PREFIX}{text}")] {
        if ServiceKey::parse(&text).is_ok() {
            assert!(text.starts_with(PREFIX) && text.is_ascii(), "{text:?}");
        }
    }
});
