//! Whatever a request holds, the filter lets it pass as JSON of the same shape, or refuses it for a
//! reason; no part of it fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::json::scan::{Raw, read};
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{FILTER, filtered, sent, source, subject};
use sluice_security::request::places;

fuzz_target!(|body: &[u8]| {
    let (Some(filter), Ok(body)) = (&*FILTER, std::str::from_utf8(body)) else { return };
    let level = SecurityLevel::ALL[body.len() % 3];
    let _ = filtered(body, level);
    let Some(source) = source(body) else { return };
    let Some((members, _)) = sent(&source, level) else { return };
    for member in members {
        assert!(read::<Raw<'_>>(member.value.as_str()).is_ok());
    }
    if let Ok(filtered) = filter.request(&source, &subject(level)) {
        assert_eq!(places(&source, &filtered.found).len(), filtered.found.len());
    }
});
