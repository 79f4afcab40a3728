//! What the targets of the filter share: a secret in the middle of anything, and what is left of it.

use std::sync::LazyLock;

use sluice_core::ByteString;
use sluice_core::json::RawJson;
use sluice_core::json::scan::{Entries, Raw, read};
use sluice_core::level::SecurityLevel;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{Dialect, Source, SourceMember};
use sluice_security::flag::Flag;
use sluice_security::map::RedactionMap;
use sluice_security::request::{Filter, FilterSettings, Refusal, Subject};

/// A secret that is found whatever is around it, if only on a line of its own.
pub const SECRET: &str = "AKIA4XQ7MZ2PLW9RT3VN";

/// The filter under test.
pub static FILTER: LazyLock<Option<Filter>> =
    LazyLock::new(|| Filter::new(&FilterSettings::default(), [7; 32]).ok());

/// The input as how to write something, a number for each of its first bytes, and a text with the
/// secret on a line in its middle.
pub fn planted(input: &[u8]) -> Option<(&[u8], String)> {
    let (how, text) = crate::cut(input)?;
    let text = std::str::from_utf8(text).ok()?;
    let middle = text.floor_char_boundary(text.len() / 2);
    let planted = format!("{}\n{SECRET}\n{}", &text[..middle], &text[middle..]);
    (text.len() < 2000 && !text.contains(SECRET)).then_some((how, planted))
}

/// Who asks.
pub fn subject(level: SecurityLevel) -> Subject<'static> {
    Subject { account: "fuzz", level, zero_retention: false, sealed: SealedPlaces::NONE }
}

/// What a model would see of `text`, and what stands for what. No part of the filter may fail.
pub fn filtered(text: &str, level: SecurityLevel) -> Option<(String, RedactionMap)> {
    let filtered = FILTER.as_ref()?.text(text, &subject(level));
    let filtered = filtered.expect("no part of the filter fails");
    assert!(!filtered.report.flags.contains(Flag::FilterFailed));
    Some((filtered.text, filtered.map))
}

/// Whether the secret is found where it stands as it is in `text`: then it has to be found however
/// that text is written.
pub fn is_found(text: &str, level: SecurityLevel) -> bool {
    filtered(text, level).is_some_and(|(seen, _)| !seen.contains(SECRET))
}

/// `seen` with the values in place of what stands for them.
pub fn restored(seen: &str, map: &RedactionMap) -> String {
    let values = map.redactions().into_iter();
    values.fold(seen.to_owned(), |text, r| text.replace(r.placeholder, r.value))
}

/// The members of a request that may go: `None` where it was refused for a reason.
pub fn sent(source: &Source, level: SecurityLevel) -> Option<(Vec<SourceMember>, RedactionMap)> {
    match FILTER.as_ref()?.request(source, &subject(level)) {
        Ok(filtered) => {
            assert!(!filtered.report.flags.contains(Flag::FilterFailed));
            Some((filtered.members.unwrap_or_else(|| source.members.clone()), filtered.map))
        }
        Err(refused) => {
            assert!(!matches!(refused.refusal, Refusal::Failed { .. }));
            None
        }
    }
}

/// The request with this body, if it is an object.
pub fn source(body: &str) -> Option<Source> {
    let Entries(entries) = read(body).ok()?;
    let member = |(name, value): (Raw<'_>, Raw<'_>)| {
        let name: String = RawJson::trusted(name.get().into()).decode().ok()?;
        let value = RawJson::trusted(ByteString::from(value.get()));
        Some(SourceMember { name: name.into(), value })
    };
    let members = entries.into_iter().map(member).collect::<Option<Vec<_>>>()?;
    Some(Source { dialect: Dialect::OpenAiChat, members, body_bytes: body.len(), reader: |_| None })
}

/// `bytes` in base64: of the URL alphabet, padded.
pub fn base64(bytes: &[u8], url: bool, padded: bool) -> String {
    const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            match (bits >> (18 - 6 * digit)) as usize & 63 {
                62 => out.push(if url { '-' } else { '+' }),
                63 => out.push(if url { '_' } else { '/' }),
                digit => out.push(char::from(DIGITS[digit])),
            }
        }
        if padded {
            out.extend(std::iter::repeat_n('=', 3 - group.len()));
        }
    }
    out
}
