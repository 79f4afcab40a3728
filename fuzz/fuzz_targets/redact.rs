//! Whatever a request holds, the filter lets it pass as JSON of the same shape, or refuses it for a
//! reason; no part of it fails.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sluice_core::ByteString;
use sluice_core::json::RawJson;
use sluice_core::json::scan::{Entries, Raw, read};
use sluice_core::level::SecurityLevel;
use sluice_core::source::{Dialect, Source, SourceMember};
use sluice_security::flag::Flag;
use sluice_security::request::{Filter, FilterSettings, Refusal, Subject, places};

static FILTER: LazyLock<Option<Filter>> =
    LazyLock::new(|| Filter::new(&FilterSettings::default(), [7; 32]).ok());

fuzz_target!(|body: &[u8]| {
    let (Some(filter), Ok(body)) = (&*FILTER, std::str::from_utf8(body)) else { return };
    let level = SecurityLevel::ALL[body.len() % 3];
    let subject = Subject { account: "fuzz", level, zero_retention: false };
    if let Ok(filtered) = filter.text(body, &subject) {
        assert!(!filtered.report.flags.contains(Flag::FilterFailed));
    }
    let Some(source) = source(body) else { return };
    match filter.request(&source, &subject) {
        Ok(filtered) => {
            assert!(!filtered.report.flags.contains(Flag::FilterFailed));
            assert_eq!(places(&source, &filtered.found).len(), filtered.found.len());
            for member in filtered.members.iter().flatten() {
                assert!(read::<Raw<'_>>(member.value.as_str()).is_ok());
            }
        }
        Err(refused) => assert!(!matches!(refused.refusal, Refusal::Failed { .. })),
    }
});

/// The request with this body, if it is an object.
fn source(body: &str) -> Option<Source> {
    let Entries(entries) = read(body).ok()?;
    let member = |(name, value): (Raw<'_>, Raw<'_>)| {
        let name: String = RawJson::trusted(name.get().into()).decode().ok()?;
        let value = RawJson::trusted(ByteString::from(value.get()));
        Some(SourceMember { name: name.into(), value })
    };
    let members = entries.into_iter().map(member).collect::<Option<Vec<_>>>()?;
    Some(Source { dialect: Dialect::OpenAiChat, members, body_bytes: body.len(), reader: |_| None })
}
