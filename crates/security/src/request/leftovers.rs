//! That no value which was found is left anywhere in what is sent, but for what the rule of
//! [`super::spread`] leaves. The rule is written down here once more, in the words of
//! `docs/security-model.md`.

use std::cell::RefCell;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::deep;
use super::tests::{EMAIL, filter, send, subject};
use super::*;
use crate::detectors::secrets::wordiness;

/// Values of all lengths and mixtures, and the line that gives each of them away.
fn planted() -> impl Strategy<Value = (String, String)> {
    let password = prop_oneof![
        "[a-z]{4,20}",
        "[A-Za-z]{5,26}",
        "[a-z]{2,8}[0-9]{1,4}",
        "[0-9]{4,26}",
        "[a-zA-Z0-9]{5,26}",
        "[a-zA-Z0-9!@#%&<>/+~.-]{6,16}",
        Just("postgres".to_owned()),
        Just("hunter2".to_owned()),
        Just("hunter2-hunter2".to_owned()),
        Just("hunter".to_owned()),
    ];
    let line = prop::sample::select(vec![
        "password: \"{}\"",
        "DB_PASSWORD='{}'",
        "postgres://app:{}@db.navy-yard.org/app",
        "my password is {}",
    ]);
    let of_password = (password, line).prop_map(|(v, line)| (line.replace("{}", &v), v));
    let of_email = "[a-z]{1,6}@[a-z]{4,8}\\.(org|fr)".prop_map(|v| (format!("to: {v}"), v));
    let of_card = Just(("4485 7579 9630 6834".to_owned(), "4485757996306834".to_owned()));
    prop_oneof![6 => of_password, 1 => of_email, 1 => of_card]
}

/// A place for a value in the middle of something else.
fn frame() -> impl Strategy<Value = String> {
    prop::sample::select(
        [
            "{}", "x{}", "{}9", "({})", "a {} b", "é{}", "{}{}", "/{}?x={}", "\"{}\"", "_{}",
            "{}-{}y",
        ]
        .map(str::to_owned)
        .to_vec(),
    )
}

fn value(values: Vec<String>) -> impl Strategy<Value = Value> {
    let text = (0..values.len(), frame(), any::<bool>()).prop_map(move |(i, frame, upper)| {
        let value = if upper { values[i].to_uppercase() } else { values[i].clone() };
        frame.replace("{}", &value)
    });
    let text = text.boxed();
    let leaf = prop_oneof![4 => text.clone().prop_map(Value::from), 1 => Just(Value::Null)];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let object = prop::collection::vec((text.clone(), inner.clone()), 0..3)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()));
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
            object.clone(),
            object.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

fn request() -> impl Strategy<Value = Value> {
    prop::collection::vec(planted(), 1..4).prop_flat_map(|planted| {
        let (lines, values): (Vec<String>, Vec<String>) = planted.into_iter().unzip();
        let places = prop::collection::vec(value(values), 6);
        (Just(lines), places).prop_map(|(lines, places)| request_with(&lines, &places))
    })
}

/// A request with the lines in it, and six more texts in other places.
fn request_with(lines: &[String], places: &[Value]) -> Value {
    json!({
        "messages": [
            {"role": "system", "content": places[0].to_string()},
            {"role": "user", "content": lines.join("\n"), "x": places[1]},
            {"role": "assistant", "tool_calls": [{"id": "i", "type": "function",
                "function": {"name": "f", "arguments": places[2].to_string()}}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": places[3]}}],
        "metadata": {"x": places[4]},
        "x": places[5],
    })
}

/// Whether the rule lets `value` stand at `at` of `text`.
fn may_stay(value: &str, kind: Kind, text: &str, at: usize) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let unsigned = value.trim_start_matches(['+', '-']);
    let is_number = digits > 0
        && value.len() - unsigned.len() < 2
        && unsigned.bytes().all(|b| b.is_ascii_digit() || b".,:-/ _'".contains(&b))
        && unsigned.ends_with(|c: char| c.is_ascii_digit())
        && unsigned.as_bytes().windows(2).all(|pair| pair.iter().any(u8::is_ascii_digit));
    let has_letters = value.chars().any(char::is_alphabetic);
    let is_word = value.bytes().all(|b| b.is_ascii_alphabetic());
    let distinct: std::collections::HashSet<char> = value.chars().collect();
    let is_never_looked_for = value.len() < 5
        || is_number && digits <= 5
        || !has_letters && distinct.len() < 3
        || kind.is_secret()
            && is_word
            && value.len() < 16
            && (value.len() < 6 || wordiness(value) >= 5.2);
    let lower = value.chars().any(|c| c.is_ascii_lowercase());
    let upper = value.chars().any(|c| c.is_ascii_uppercase());
    let digits = value.chars().any(|c| c.is_ascii_digit());
    let others = value.chars().any(|c| !c.is_ascii_alphanumeric());
    let is_mixed =
        (lower || upper) && [lower, upper, digits, others].map(u8::from).iter().sum::<u8>() > 1;
    let is_looked_for_anywhere = value.len() >= 24 || value.len() >= 12 && is_mixed;
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let is_within_a_word =
        text[..at].ends_with(goes_on) || text[at + value.len()..].starts_with(goes_on);
    is_never_looked_for || !is_looked_for_anywhere && is_within_a_word
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_was_found_is_left(request in request()) {
        check(&request)?;
    }
}

#[test]
fn signs_alone_are_a_password_too() {
    for (password, line) in [
        ("#+#-~+", "postgres://app:#+#-~+@db.navy-yard.org/app"),
        ("!+~#0~", "password: \"!+~#0~\""),
    ] {
        let quoted = json!(password).to_string();
        let request = request_with(
            &[line.to_owned()],
            &[
                json!(password),
                json!(password),
                json!(quoted),
                json!(quoted),
                json!(password),
                json!({"y": quoted}),
            ],
        );
        check(&request).unwrap();
        let sent =
            send(&filter(), &request.to_string(), &subject(SecurityLevel::Standard)).unwrap();
        assert!(!sent.body.contains(password), "{}", sent.body);
    }
}

/// Whether what stands at `at` begins with the end of a placeholder: then it is none of the request's.
fn begins_within(placeholders: &[&str], text: &str, at: usize) -> bool {
    let mut found = placeholders.iter().flat_map(|it| text.match_indices(it));
    found.any(|(start, placeholder)| start < at && at < start + placeholder.len())
}

#[test]
fn a_placeholder_that_ends_as_a_value_begins_is_no_leftover() {
    // The first password's placeholder ends in a D, and the address behind it is the second value.
    let line = "postgres://app:hunter@db.navy-yard.org/app\n\
                postgres://app:>%~V~<!D@db.navy-yard.org/app";
    let places = [
        json!("hunter"),
        json!("hunter"),
        json!("hunter"),
        json!("hunter"),
        json!("hunter"),
        json!("hunter"),
    ];
    check(&request_with(&[line.to_owned()], &places)).unwrap();
}

fn check(request: &Value) -> Result<(), TestCaseError> {
    let sent = send(&filter(), &request.to_string(), &subject(SecurityLevel::Standard)).unwrap();
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    let texts = RefCell::new(Vec::new());
    deep(&body, &|text| {
        texts.borrow_mut().push(text.to_owned());
        text.to_owned()
    });
    let placeholders: Vec<&str> =
        sent.filtered.map.redactions().iter().map(|redaction| redaction.placeholder).collect();
    for redaction in sent.filtered.map.redactions() {
        let value = redaction.value;
        for text in texts.borrow().iter() {
            for (at, _) in text.match_indices(value) {
                prop_assert!(
                    may_stay(value, redaction.kind, text, at)
                        || begins_within(&placeholders, text, at),
                    "{} is left in {}\n{}\n{}",
                    value,
                    text,
                    request,
                    sent.body
                );
            }
        }
    }
    Ok(())
}

#[test]
fn data_urls_in_json_in_a_string_move_nothing() {
    for blanks in [0, 1, 6, 12, 40] {
        let text = format!("[\"data:,{} {EMAIL}\"]", "%20".repeat(blanks));
        let request = json!({"messages": [{"role": "user", "content": text}]});
        let sent =
            send(&filter(), &request.to_string(), &subject(SecurityLevel::Standard)).unwrap();
        let expected = format!("[\"data:,{} ", "%20".repeat(blanks));
        assert!(!sent.body.contains(&EMAIL[..4]), "{blanks}: {}", sent.body);
        let said = serde_json::from_str::<Value>(&sent.body).unwrap();
        let content = said["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        assert!(content.starts_with(&expected) && content.ends_with("\"]"), "{content}");
    }
}
