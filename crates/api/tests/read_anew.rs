//! A request whose messages alone were redacted is not read anew as a whole. What comes of it must be
//! the same as if it were: else what is translated would be another request than what was filtered.

use proptest::prelude::*;
use sluice_api::wire::chat::parse;
use sluice_core::chat::ChatRequest;
use sluice_core::level::SecurityLevel;
use sluice_core::sealed::SealedPlaces;
use sluice_security::request::{Filter, FilterSettings, Subject};

const SUBJECT: Subject<'_> = Subject {
    account: "acc",
    level: SecurityLevel::Standard,
    zero_retention: false,
    sealed: SealedPlaces::NONE,
};

/// What a message may be: with values to redact, without, and with values in places of all kinds.
const MESSAGES: [&str; 8] = [
    r#"{"role":"user","content":"Ask j.doe@busy-mill.org or b.roe@busy-mill.org"}"#,
    r#"{"role":"user","content":"Nothing is in here, \u00e9 and \"quotes\" apart"}"#,
    r#"{ "content" : [ {"type":"text","text":"j.doe@"} , {"type":"text","text":"busy-mill.org"} ], "role":"user" }"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"mail","arguments":"{\"to\":\"j.d\\u006fe@busy-mill.org\"}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"c","content":"sent to \u006a.doe@busy-mill.org"}"#,
    r#"{"role":"user","name":"j.doe@busy-mill.org","content":"It was me"}"#,
    r#"{"role":"system","content":""}"#,
    r#"{"role":"user","content":"Card 4111 1111 1111 1111","note":{"j.doe@busy-mill.org":1}}"#,
];

/// Members beside the messages: some that are redacted, some that are not.
const OTHERS: [&str; 4] =
    ["", r#","temperature":0.5"#, r#","user":"j.doe@busy-mill.org""#, r#","x-own":{"b":[1]}"#];

fn says_the_same(one: &ChatRequest, other: &ChatRequest) {
    assert_eq!(one.messages, other.messages);
    assert_eq!(one.extra, other.extra);
    assert_eq!((&one.model, &one.user), (&other.model, &other.user));
    let members = |chat: &ChatRequest| -> Vec<(String, String)> {
        let members = chat.source.members.iter();
        members.map(|m| (m.name.to_string(), m.value.as_str().to_owned())).collect()
    };
    assert_eq!(members(one), members(other));
}

proptest! {
    #[test]
    fn messages_that_are_read_anew_make_the_request_that_is_read_anew(
        turns in prop::collection::vec(prop::collection::vec(0..MESSAGES.len(), 1..12), 1..3),
        other in 0..OTHERS.len(),
        space in "[ \n]{0,2}",
        long in any::<bool>(),
    ) {
        let filter = Filter::new(&FilterSettings::default(), [7; 32]).unwrap();
        let mut messages: Vec<String> = Vec::new();
        if long {
            // Long enough to be remembered for the next turn.
            let said = "An ordinary sentence about nothing at all. ".repeat(60);
            messages.push(format!(r#"{{"role":"user","content":"a@busy-mill.org {said}"}}"#));
        }
        for turn in turns {
            messages.extend(turn.into_iter().map(|i| MESSAGES[i].to_owned()));
            let list = messages.join(&format!("{space},{space}"));
            let other = OTHERS[other];
            let body = format!(r#"{{"model":"m","messages":[{space}{list}{space}]{other}}}"#);
            let chat = parse(body.into()).unwrap();
            let filtered = filter.request(&chat.source, &SUBJECT).unwrap();
            let Some(members) = filtered.members else { continue };
            let anew = chat.source.with_members(&members).unwrap();
            prop_assert_eq!(filtered.messages.is_none(), other.contains("busy-mill"));
            let Some(edited) = filtered.messages else { continue };
            let chat = chat.with_messages(members, &edited).unwrap();
            says_the_same(&chat, &anew);
        }
    }
}

#[test]
fn what_is_no_message_any_more_is_no_request() {
    let filter = Filter::new(&FilterSettings::default(), [7; 32]).unwrap();
    let body = format!(r#"{{"model":"m","messages":[{}]}}"#, MESSAGES[..2].join(","));
    let chat = parse(body.into()).unwrap();
    let filtered = filter.request(&chat.source, &SUBJECT).unwrap();
    let (members, edited) = (filtered.members.unwrap(), filtered.messages.unwrap());
    let mut cut = edited.clone();
    cut.messages[0].range.end -= 1;
    assert!(chat.clone().with_messages(members.clone(), &cut).is_none());
    let mut beyond = edited.clone();
    beyond.messages[0].index = 2;
    assert!(chat.clone().with_messages(members.clone(), &beyond).is_none());
    assert!(chat.with_messages(members, &edited).is_some());
}
