//! What holds for any request: written in any way, with values anywhere in it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{EMAIL, TOKEN, filter, send, subject};
use super::*;

const VALUES: [&str; 3] = [EMAIL, TOKEN, "marie+lab@curie-institut.fr"];

/// Text in which nothing is to be found, and which takes escaping.
const FILLER: &str = r#"[ xyzé🚀\n\t"\\/,;(){}\[\]]{0,24}"#;

fn text() -> impl Strategy<Value = String> {
    let planted = (FILLER, 0..VALUES.len(), FILLER)
        .prop_map(|(before, value, after)| format!("{before} {} {after}", VALUES[value]));
    prop_oneof![3 => FILLER.prop_map(String::from), 1 => planted]
}

/// Any JSON, with JSON inside its strings.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        text().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        Just(json!(1.5)),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let object = prop::collection::vec((text(), inner.clone()), 0..4)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()))
            .boxed();
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.clone(),
            (object, any::<u64>()).prop_map(|(value, seed)| {
                let mut nested = String::new();
                Writer(seed).write(&value, &mut nested);
                Value::from(nested)
            }),
        ]
    })
}

fn message() -> impl Strategy<Value = Value> {
    let roles = prop::sample::select(vec!["system", "user", "assistant", "tool"]);
    let part = prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        text().prop_map(Value::from),
        value().prop_map(|value| json!({"type": "new", "value": value})),
    ];
    let content = prop_oneof![
        text().prop_map(Value::from),
        value().prop_map(|value| Value::from(value.to_string())),
        prop::collection::vec(part, 0..4).prop_map(Value::from),
    ];
    (roles, content, text(), value()).prop_map(|(role, content, name, extra)| {
        json!({
            "role": role, "content": content, "name": name, "x_extra": extra,
            "tool_calls": [{"id": name, "type": "function",
                "function": {"name": name, "arguments": extra.to_string(), "x": extra}}],
        })
    })
}

fn request() -> impl Strategy<Value = Value> {
    (prop::collection::vec(message(), 0..4), value(), text(), value()).prop_map(
        |(messages, tool, name, extra)| {
            json!({
                "model": "m", "messages": messages, "tools": [{"type": "function", "function":
                    {"name": name, "description": name, "parameters": tool}}, tool],
                "stop": [name], "metadata": {"a": extra}, name: extra,
            })
        },
    )
}

/// Writes JSON in one of the many ways in which it may be written.
struct Writer(u64);

impl Writer {
    fn one_in(&mut self, n: u64) -> bool {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33).is_multiple_of(n)
    }

    fn space(&mut self, out: &mut String) {
        if self.one_in(6) {
            out.push_str(
                [" ", "\n", " \t"][usize::from(self.one_in(2)) + usize::from(self.one_in(3))],
            );
        }
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            match c {
                _ if c < ' ' || self.one_in(8) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let upper = self.one_in(2);
                        let digits =
                            if upper { format!("{unit:04X}") } else { format!("{unit:04x}") };
                        out.push_str(&format!("\\u{digits}"));
                    }
                }
                '"' | '\\' => out.extend(['\\', c]),
                '/' if self.one_in(2) => out.push_str("\\/"),
                _ => out.push(c),
            }
        }
        out.push('"');
    }

    fn write(&mut self, value: &Value, out: &mut String) {
        self.space(out);
        match value {
            Value::String(text) => self.string(text, out),
            Value::Array(values) => {
                out.push('[');
                for (i, value) in values.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { "," });
                    self.write(value, out);
                }
                out.push(']');
            }
            Value::Object(entries) => {
                out.push('{');
                for (i, (name, value)) in entries.iter().enumerate() {
                    out.push_str(if i == 0 { "" } else { "," });
                    self.string(name, out);
                    self.space(out);
                    out.push(':');
                    self.write(value, out);
                }
                out.push('}');
            }
            other => out.push_str(&other.to_string()),
        }
        self.space(out);
    }
}

/// `value` with JSON inside strings taken apart, and every text as `change` makes it.
pub(super) fn deep(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => {
                json!({"inside": deep(&inner, change)})
            }
            _ => Value::from(change(text)),
        },
        Value::Array(values) => values.iter().map(|value| deep(value, change)).collect(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (change(name), deep(value, change)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// Whether `sent` is `original` but for what stands where `map` has its placeholders.
fn is_same_elsewhere(original: &str, sent: &str, map: &RedactionMap) -> bool {
    let mut pieces = vec![sent];
    for redaction in map.redactions() {
        pieces = pieces.iter().flat_map(|piece| piece.split(redaction.placeholder)).collect();
    }
    let mut rest = original;
    for (i, piece) in pieces.iter().enumerate() {
        let found = match i {
            0 => rest.starts_with(piece).then_some(0),
            _ if i + 1 == pieces.len() => rest.len().checked_sub(piece.len()),
            _ => rest.find(piece),
        };
        let Some(at) = found.filter(|at| rest[*at..].starts_with(piece)) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

/// A request's members as the filter gets them, in the order and the bytes of `request`.
fn as_members(request: &Value, seed: u64) -> String {
    let mut writer = Writer(seed);
    let members = request.as_object().unwrap().iter().map(|(name, value)| {
        let mut text = String::new();
        writer.write(value, &mut text);
        format!("{}:{}", serde_json::to_string(name).unwrap(), text.trim())
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn no_value_is_left_and_all_else_stays(request in request(), seed in any::<u64>(), level in 0_usize..2) {
        let original = as_members(&request, seed);
        let level = SecurityLevel::ALL[level];
        let sent = send(&filter(), &original, &subject(level)).unwrap();
        let after: Value = serde_json::from_str(&sent.body).unwrap();
        let texts = std::cell::RefCell::new(String::new());
        deep(&after, &|text| { texts.borrow_mut().push_str(text); String::new() });
        for value in VALUES {
            prop_assert!(!texts.borrow().contains(value), "{} is left in {}", value, sent.body);
            prop_assert!(!sent.body.contains(value));
        }
        let map = &sent.filtered.map;
        let restore = |text: &str| {
            let redactions = map.redactions().into_iter();
            redactions.fold(text.to_owned(), |text, r| text.replace(r.placeholder, r.value))
        };
        prop_assert_eq!(deep(&after, &restore), deep(&request, &str::to_owned), "{}", sent.body);
        prop_assert!(is_same_elsewhere(&original, &sent.body, map), "{}\n{}", original, sent.body);
        let count: usize = map.redactions().iter().map(|redaction| redaction.count).sum();
        prop_assert_eq!(count, sent.filtered.found.len());
    }

    #[test]
    fn earlier_turns_do_not_depend_on_later_ones(
        messages in prop::collection::vec(message(), 1..5),
        seed in any::<u64>(),
    ) {
        let filter = filter();
        let mut before = String::new();
        for turns in 1..=messages.len() {
            let request = json!({"messages": messages[..turns]});
            let original = as_members(&request, seed);
            let sent = send(&filter, &original, &subject(SecurityLevel::Standard)).unwrap();
            // The last turn may be followed by white space.
            let turns = sent.body.trim_end_matches(['}', ']', ' ', '\n', '\t']).to_owned();
            prop_assert!(turns.starts_with(&before), "{}\n{}", before, turns);
            before = turns;
        }
    }

    #[test]
    fn what_is_remembered_is_what_would_be_found(request in request(), seed in any::<u64>(), padding in 0_usize..2) {
        let filter = filter();
        let mut request = request;
        for message in request["messages"].as_array_mut().unwrap() {
            message["x_padding"] = json!(" ".repeat(padding * 600));
        }
        let original = as_members(&request, seed);
        let remembering = subject(SecurityLevel::High);
        let forgetting = Subject { zero_retention: true, ..remembering };
        let first = send(&filter, &original, &remembering).unwrap();
        for subject in [&remembering, &forgetting] {
            let again = send(&filter, &original, subject).unwrap();
            prop_assert_eq!(&again.body, &first.body);
            prop_assert_eq!(&again.filtered.found, &first.filtered.found);
            prop_assert_eq!(&again.filtered.report, &first.filtered.report);
        }
    }
}
