//! What providers sealed: left as it is for them, and read for everybody else.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{filter, send, subject};
use super::*;

/// Told by its form, but not for certain in the midst of base64.
const HIDDEN: &str = "EqQBCkgIARABGAIiQDh0QmxzbX-ghp_mT4vQ8zKp2LxW9rB7nYc3DfH6sJ1aG5eU0iO";
const TOKEN: &str = "ghp_mT4vQ8zKp2LxW9rB7nYc3DfH6sJ1aG5eU0iO";
const OWN_KEY: &str = "svc_ent_h7Kq2Xv9Lm4Rt8Wz3Np6Yb1Gd5Fs0J3x9Qk2";

const BOTH: SealedPlaces = SealedPlaces { thoughts: true, calls: true };

fn turn(value: &str) -> Value {
    json!({"role": "assistant", "content": "x", "reasoning_details": [
        {"type": "reasoning.text", "text": "so", "signature": value},
        {"type": "reasoning.encrypted", "data": value, "id": "r1"}],
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": value}}}]})
}

fn sent(filter: &Filter, messages: &Value, level: SecurityLevel, sealed: SealedPlaces) -> String {
    let subject = Subject { sealed, ..subject(level) };
    send(filter, &json!({"messages": messages}).to_string(), &subject).unwrap().body
}

#[test]
fn what_a_provider_sealed_goes_back_as_it_was() {
    let filter = filter();
    for level in SecurityLevel::ALL {
        for sealed in [
            BOTH,
            SealedPlaces { thoughts: true, calls: false },
            SealedPlaces { thoughts: false, calls: true },
            SealedPlaces::NONE,
        ] {
            for (other, is_left) in
                [("tool_calls", sealed.thoughts), ("reasoning_details", sealed.calls)]
            {
                let mut turn = turn(HIDDEN);
                turn.as_object_mut().unwrap().remove(other);
                let messages = json!([turn]);
                let unchanged = json!({"messages": messages}).to_string();
                let body = sent(&filter, &messages, level, sealed);
                assert_eq!(body.contains(TOKEN), is_left, "{body}");
                assert_eq!(body == unchanged, is_left, "{body}");
            }
        }
    }
}

#[test]
fn nothing_else_counts_as_sealed() {
    let filter = filter();
    let by_role = ["user", "system", "developer", "tool"].map(|role| {
        let mut message = turn(HIDDEN);
        message["role"] = role.into();
        message
    });
    let elsewhere = [
        json!({"role": "assistant", "signature": HIDDEN, "encrypted_content": HIDDEN, "data": HIDDEN}),
        json!({"role": "assistant", "content": [{"type": "thinking", "signature": HIDDEN}]}),
        json!({"role": "assistant", "reasoning_details": {"data": HIDDEN}}),
        json!({"role": "assistant", "reasoning_details": [{"format": HIDDEN, "data": {"data": HIDDEN}}]}),
        json!({"role": "assistant", "tool_calls": [{"thought_signature": HIDDEN,
            "extra_content": {"other": {"thought_signature": HIDDEN}}}]}),
        json!({"role": "assistant", "tool_calls": [{"extra_content": {"thought_signature": HIDDEN}}]}),
        // No base64, since it mixes its two alphabets.
        turn(&format!("a+/b{HIDDEN}")),
    ];
    for message in by_role.iter().chain(&elsewhere) {
        for level in SecurityLevel::ALL {
            let body = sent(&filter, &json!([message]), level, BOTH);
            assert!(!body.contains(TOKEN), "{level:?}: {body}");
        }
    }
    // A name with escapes is none that other providers' requests are rid of.
    let escaped = json!([turn(HIDDEN)]).to_string();
    let escaped = escaped.replace("reasoning_details", "reasoning\\u005fdetails");
    let escaped = escaped.replace("thought_signature", "thought\\u005fsignature");
    let messages = format!("{{\"messages\":{escaped}}}");
    let subject = Subject { sealed: BOTH, ..subject(SecurityLevel::Standard) };
    assert!(!send(&filter, &messages, &subject).unwrap().body.contains(TOKEN));
}

#[test]
fn tokens_that_are_told_for_certain_are_found_in_what_was_sealed() {
    let filter = filter();
    let padding = "EqQBCkgIARABGAIiQDh0QmxzbXEqQBCkgIARABGAIiQDh0QmxzbXEqQBCkgIARABG";
    for value in [
        format!("{padding}{OWN_KEY}"),
        format!("{OWN_KEY}-{padding}"),
        format!("{TOKEN}-{padding}"),
        format!("{padding}-sk-ant-api03-{}AA", &padding.repeat(2)[..93]),
    ] {
        for level in SecurityLevel::ALL {
            let body = sent(&filter, &json!([turn(&value)]), level, BOTH);
            for secret in [OWN_KEY, TOKEN, "sk-ant-api03"] {
                assert!(!body.contains(secret), "{body}");
            }
        }
    }
    // What is known from elsewhere is replaced here, too.
    let known = json!([{"role": "user", "content": format!("use {TOKEN} now")}, turn(HIDDEN)]);
    assert!(!sent(&filter, &known, SecurityLevel::Standard, BOTH).contains(TOKEN));
}

#[test]
fn what_is_remembered_for_one_provider_is_not_for_another() {
    let filter = filter();
    let filler = json!({"role": "user", "content": "plain words and more ".repeat(400)});
    let messages = json!([filler, turn(HIDDEN), filler]);
    for _ in 0..2 {
        for (sealed, left) in [(BOTH, 3), (SealedPlaces::NONE, 0)] {
            let body = sent(&filter, &messages, SecurityLevel::Maximum, sealed);
            assert_eq!(body.matches(TOKEN).count(), left);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_signatures_are_never_changed(
        bytes in prop::collection::vec(any::<u8>(), 64..3000),
        is_for_urls in any::<bool>(),
    ) {
        let signs = if is_for_urls { b"-_" } else { b"+/" };
        let digit = |byte: &u8| match byte % 64 {
            n @ 0..26 => char::from(b'A' + n),
            n @ 26..52 => char::from(b'a' + n - 26),
            n @ 52..62 => char::from(b'0' + n - 52),
            n => char::from(signs[usize::from(n) - 62]),
        };
        let signature: String = bytes.iter().map(digit).collect();
        // Something is found in the request, and looked for everywhere.
        let messages = json!([{"role": "user", "content": format!("use {OWN_KEY} now")}, turn(&signature)]);
        let body = sent(&filter(), &messages, SecurityLevel::Maximum, BOTH);
        prop_assert_eq!(body.matches(&*signature).count(), 3);
        prop_assert!(!body.contains(OWN_KEY));
    }
}
