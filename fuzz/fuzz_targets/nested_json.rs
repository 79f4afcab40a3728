//! What is found in a text is found in a string of JSON in a string of JSON, however it is escaped, and
//! all else comes out as it went in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{SECRET, is_found, planted, restored, sent, source};

fuzz_target!(|input: &[u8]| {
    let Some((how, text)) = planted(input) else { return };
    if !is_found(&text, SecurityLevel::Standard) {
        return;
    }
    let depth = how.first().map_or(1, |byte| usize::from(byte % 4));
    let mut value = Value::from(text.as_str());
    for _ in 0..depth {
        value = Value::from(written(&json!({"x": [value, 1.50]}), how));
    }
    let body = written(&json!({"messages": [{"role": "tool", "content": value}]}), how);
    let Some(source) = source(&body) else { return };
    let Some((members, map)) = sent(&source, SecurityLevel::Standard) else { return };
    let Some(messages) = members.first() else { return };
    let Ok(messages) = serde_json::from_str::<Value>(messages.value.as_str()) else {
        panic!("{} is no JSON", messages.value.as_str())
    };
    let mut seen = messages[0]["content"].clone();
    for _ in 0..depth {
        let inside = seen.as_str().and_then(|inside| serde_json::from_str::<Value>(inside).ok());
        let Some(inside) = inside else { panic!("{seen} is no JSON") };
        seen = inside["x"][0].clone();
    }
    let seen = seen.as_str().unwrap_or_default();
    assert!(!seen.contains(SECRET), "{text:?} is left in {seen:?}");
    assert_eq!(restored(seen, &map), text);
});

/// JSON in which characters are escaped that need not be.
fn written(value: &Value, how: &[u8]) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::String(text) => string(text, how),
        Value::Array(values) => {
            format!("[{}]", join(values.iter().map(|value| written(value, how)).collect()))
        }
        Value::Object(object) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{} :{}", string(name, &[]), written(value, how))
            };
            format!("{{{}}}", join(object.iter().map(member).collect()))
        }
        other => other.to_string(),
    }
}

fn string(text: &str, how: &[u8]) -> String {
    let mut out = String::from("\"");
    let mut how = how.iter().cycle();
    for c in text.chars() {
        let must = c < ' ' || matches!(c, '"' | '\\');
        if must || how.next().is_some_and(|how| how % 5 == 0) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out.push('"');
    out
}
