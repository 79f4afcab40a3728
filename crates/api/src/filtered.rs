//! What the filter did, as callers are told: headers on every answer, and a part of `security`.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue};
use sluice_core::filtering::FilterRecord;
use sluice_core::json::write_escaped;

const REDACTIONS: HeaderName = HeaderName::from_static("svc-redactions");
const FLAGS: HeaderName = HeaderName::from_static("svc-security-flags");
const ACTION: HeaderName = HeaderName::from_static("svc-security-action");
const INJECTION_SCORE: HeaderName = HeaderName::from_static("svc-injection-score");

/// Writes the four headers. Lists are empty where there is nothing to tell.
pub(crate) fn write_headers(filter: &FilterRecord, headers: &mut HeaderMap) {
    let mut redactions = String::new();
    for (kind, count) in &filter.redactions {
        let comma = if redactions.is_empty() { "" } else { ", " };
        let _ = write!(redactions, "{comma}{kind}={count}");
    }
    headers.insert(ACTION, HeaderValue::from_static(filter.action.as_str()));
    for (name, value) in [
        (REDACTIONS, redactions),
        (FLAGS, filter.flags.join(", ")),
        (INJECTION_SCORE, score(filter)),
    ] {
        // Words, digits and commas always are a header's value.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// Appends `,"security":{…}` with nothing but what the filter did.
pub(crate) fn write_security(filter: &FilterRecord, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"security\":{");
    let start = out.len();
    write_members(filter, out);
    // The first member needs no comma.
    out.remove(start);
    out.push(b'}');
}

/// Appends `,"action":…,"redactions":…,"flags":…,"injection_score":…`.
pub(crate) fn write_members(filter: &FilterRecord, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"action\":");
    write_escaped(filter.action.as_str(), out);
    out.extend_from_slice(b",\"redactions\":{");
    for (i, (kind, count)) in filter.redactions.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_escaped(kind, out);
        out.extend_from_slice(format!(":{count}").as_bytes());
    }
    out.extend_from_slice(b"},\"flags\":[");
    for (i, flag) in filter.flags.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_escaped(flag, out);
    }
    out.extend_from_slice(b"],\"injection_score\":");
    out.extend_from_slice(score(filter).as_bytes());
}

/// 0 to 1 with three decimals.
fn score(filter: &FilterRecord) -> String {
    let permille = filter.injection_permille;
    format!("{}.{:03}", permille / 1000, permille % 1000)
}

#[cfg(test)]
mod tests {
    use sluice_core::filtering::FilterAction;

    use super::*;

    #[test]
    fn headers_and_members_say_the_same() {
        let filter = FilterRecord {
            action: FilterAction::Redact,
            redactions: [("secret".to_owned(), 1), ("email".to_owned(), 2)].into(),
            flags: vec!["prompt_injection".to_owned(), "exfiltration".to_owned()],
            injection_permille: 42,
        };
        for (filter, expected, members) in [
            (
                filter,
                ["redact", "email=2, secret=1", "prompt_injection, exfiltration", "0.042"],
                r#","action":"redact","redactions":{"email":2,"secret":1},"flags":["prompt_injection","exfiltration"],"injection_score":0.042"#,
            ),
            (
                FilterRecord::default(),
                ["pass", "", "", "0.000"],
                r#","action":"pass","redactions":{},"flags":[],"injection_score":0.000"#,
            ),
        ] {
            let mut headers = HeaderMap::new();
            write_headers(&filter, &mut headers);
            let written = [ACTION, REDACTIONS, FLAGS, INJECTION_SCORE]
                .map(|name| headers[name].to_str().unwrap().to_owned());
            assert_eq!(written, expected);
            let mut out = Vec::new();
            write_members(&filter, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), members);
        }
    }
}
