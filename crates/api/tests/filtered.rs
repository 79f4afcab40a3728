//! What callers are told of the filter: in headers, in the one event of a stream that tells it, and
//! beside errors.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

mod common;

use serde_json::{Value, json};

use self::common::{Answered, House};

/// A secret that nobody would invent.
const TOKEN: &str = "ghp_9dK2vQ7xTz4LmW8sRbYc1NfHj6PgUe3AoV0i";

/// A request with an address that is redacted; `members` are added.
fn asking(members: &str) -> String {
    format!(
        r#"{{"model":"mock","messages":[{{"role":"user","content":"Ask j.doe@busy-mill.org"}}]{members}}}"#
    )
}

fn event(index: u32, content: &str, finish_reason: Option<&str>) -> String {
    let choice =
        json!({"index": index, "delta": {"content": content}, "finish_reason": finish_reason});
    format!("data: {}\n\n", json!({"choices": [choice]}))
}

/// The events of a stream that says `said`.
async fn streamed(members: &str, said: &[String]) -> Vec<Value> {
    let house = House::new();
    house.expect(200, "text/event-stream", &said.concat());
    let answered = house.chat(asking(&format!(",\"stream\":true{members}"))).await;
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert_eq!(headers(&answered), ["redact", "email=1", ""]);
    let data = answered.body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// What the headers tell, but for the score, which must be that of a harmless text where there is one.
fn headers(answered: &Answered) -> [&str; 3] {
    let header = |name| answered.header(name).unwrap_or("missing");
    let names = ["svc-security-action", "svc-redactions", "svc-security-flags"];
    let headers = names.map(header);
    if headers == ["missing"; 3] {
        assert_eq!(header("svc-injection-score"), "missing");
        return headers;
    }
    let score = header("svc-injection-score");
    let is_harmless = score.len() == 5 && score.parse::<f32>().is_ok_and(|score| score < 0.5);
    assert!(is_harmless, "{score}");
    headers
}

/// The event that tells what the filter did, which has to be the last.
fn last_tells(events: &[Value]) -> &Value {
    let (last, others) = events.split_last().unwrap();
    assert!(others.iter().all(|event| event.get("security").is_none()), "{events:?}");
    let mut told = last["security"].clone();
    let score = told.as_object_mut().and_then(|told| told.remove("injection_score")).unwrap();
    assert!(score.as_f64().is_some_and(|score| score < 0.5), "{score}");
    let expected = json!({
        "action": "redact", "redactions": {"email": 1}, "flags": ["secret_in_answer"],
    });
    assert_eq!(told, expected, "{events:?}");
    last
}

#[tokio::test]
async fn a_stream_tells_late_findings_once_at_its_end() {
    let done = "data: [DONE]\n\n".to_owned();
    let token = event(0, TOKEN, None);
    let end = event(0, "", Some("stop"));
    let events = streamed("", &[token.clone(), end.clone(), done.clone()]).await;
    assert_eq!(last_tells(&events)["choices"][0]["finish_reason"], "stop");

    // The last of all choices, whichever is noticed first.
    let second = [event(1, "b", None), event(1, "", Some("stop"))].concat();
    let said = [token.clone(), end.clone(), second, done.clone()];
    let events = streamed(",\"n\":2", &said).await;
    assert_eq!(last_tells(&events)["choices"][0]["index"], 1);

    // Fewer answers than were asked for, no finish reason, a finding behind it.
    let clean = event(0, "a ", None);
    for said in [
        [token.clone(), end.clone(), done.clone()],
        [clean, token.clone(), done.clone()],
        [end, token, done],
    ] {
        let events = streamed(",\"n\":2", &said).await;
        let last = last_tells(&events);
        let expected = json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": null}]);
        assert_eq!(last["choices"], expected);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_tells_late_findings_beside_its_error() {
    for members in ["", r#","stream_options":{"include_usage":true}"#] {
        let events = streamed(members, &[event(0, TOKEN, None)]).await;
        assert_eq!(last_tells(&events)["error"]["code"], "upstream_error");
        let events = streamed(members, &[event(0, "a", None)]).await;
        assert_eq!(events.last().unwrap().get("security"), None, "the headers told everything");
    }
}

#[tokio::test]
async fn the_headers_are_on_every_answer_that_comes_after_the_filter() {
    for stream in [false, true] {
        let house = House::new();
        let body = asking(&format!(",\"stream\":{stream}"));
        for (status, expected) in [(500, 502), (429, 429), (400, 400)] {
            house.expect(status, "application/json", r#"{"error":{"message":"m"}}"#);
            let answered = house.chat(body.clone()).await;
            assert_eq!(answered.status, expected);
            assert_eq!(headers(&answered), ["redact", "email=1", ""], "{status}");
        }
        let attack = asking(&format!(
            r#","stream":{stream},"security_level":"maximum","n":1,"messages":[{{"role":"user",
            "content":[{{"type":"image_url","image_url":{{"url":"https://a.io/b.png"}}}}]}}]"#
        ))
        .replacen(
            r#""messages":[{"role":"user","content":"Ask j.doe@busy-mill.org"}],"#,
            "",
            1,
        );
        let answered = house.chat(attack).await;
        assert_eq!(answered.status, 400, "{}", answered.body);
        assert_eq!(headers(&answered)[0], "block", "{}", answered.body);
    }
    // Nothing was read, so there is nothing to tell.
    let refused = House::new().chat("{}").await;
    assert_eq!(headers(&refused), ["missing"; 3]);
}
