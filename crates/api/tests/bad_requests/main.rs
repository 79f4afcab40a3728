//! Requests that are refused, each with the exact error that it gets.
//!
//! An error is written in one line: `status type code param: message`, `-` where there is no
//! `param`.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod exhaustion;
mod members;
mod messages;
mod panics;

use bodies::BODIES;
use bytes::Bytes;
use common::{Answered, House};
use http::header::{ALLOW, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, Request};
use members::MEMBERS;
use messages::MESSAGES;

const GOOD: &str = r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]}"#;

/// Sends each body, and tells all cases whose error is another than written.
async fn check(cases: impl Iterator<Item = (&'static str, String, &'static str)>) {
    let house = House::new();
    let mut wrong = Vec::new();
    for (case, body, expected) in cases {
        let answered = house.chat(body).await;
        assert_documented(&answered);
        let line = answered.error_line();
        if line != expected {
            wrong.push(format!("{case}\n  is:        {line}\n  should be: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What holds for every answer.
fn assert_documented(answered: &Answered) {
    for name in ["limit", "remaining", "reset", "window"] {
        let header = answered.header(&format!("x-ratelimit-{name}")).unwrap();
        assert!(header.parse::<u64>().is_ok(), "{name}: {header}");
    }
    assert!(answered.header("x-request-id").unwrap().starts_with("req_"));
}

#[tokio::test]
async fn members_are_checked_one_by_one() {
    let with = |member: &str| format!("{},{member}}}", &GOOD[..GOOD.len() - 1]);
    check(MEMBERS.iter().map(|(member, expected)| (*member, with(member), *expected))).await;
}

#[tokio::test]
async fn messages_are_checked_one_by_one() {
    let with = |messages: &str| format!(r#"{{"model":"mock","messages":{messages}}}"#);
    check(MESSAGES.iter().map(|(messages, expected)| (*messages, with(messages), *expected))).await;
}

#[tokio::test]
async fn bodies_that_are_no_request_are_told_so() {
    check(BODIES.iter().map(|(body, expected)| (*body, (*body).to_owned(), *expected))).await;
}

#[tokio::test]
async fn a_body_that_is_no_text_is_told_so() {
    let house = House::new();
    let answered = house.chat(&b"{\"model\":\"\xff\"}"[..]).await;
    assert_eq!(
        answered.error_line(),
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: it is not \
         valid UTF-8"
    );
}

#[tokio::test]
async fn nesting_without_end_is_refused_and_harmless() {
    let house = House::new();
    let deep = "[".repeat(100_000);
    for body in [
        deep.clone(),
        format!(r#"{{"model":"mock","messages":{deep}"#),
        format!(r#"{{"model":"mock","messages":[{{"role":"user","content":{deep}"#),
        format!(r#"{{"model":"mock","x":{deep}"#),
        format!(r#"{{"model":"mock","messages":{deep}{}}}"#, "]".repeat(100_000)),
    ] {
        let line = house.chat(body).await.error_line();
        assert!(line.starts_with("400 invalid_request_error invalid_json -: "), "{line}");
        assert!(line.len() < 300, "{line}");
    }
}

#[tokio::test]
async fn a_name_of_any_length_is_told_in_short() {
    let house = House::new();
    let line = house.chat(GOOD.replace("mock", &"é".repeat(500))).await.error_line();
    assert!(line.starts_with("404 invalid_request_error model_not_found model: model `é"));
    assert!(line.chars().count() < 250, "{line}");
    let value = format!("\"{}\"", "x".repeat(500));
    let line = house.chat(GOOD.replace("\"hi\"", "\"hi\",\"role\":") + &value).await.error_line();
    assert!(line.len() < 250, "{line}");
    let with_region = format!("{},\"region\":{value}}}", &GOOD[..GOOD.len() - 1]);
    let line = house.chat(with_region).await.error_line();
    assert!(line.contains("x…; expected one of") && line.len() < 250, "{line}");
}

#[tokio::test]
async fn the_body_has_to_be_json_and_uncompressed() {
    const TYPE: &str = "415 invalid_request_error unsupported_media_type -: ";
    const FIX: &str = "; send `Content-Type: application/json`, uncompressed";
    let house = House::new();
    for (kind, encoding, problem) in [
        (None, None, "the request has no content type"),
        (Some("text/plain"), None, "the body's content type is text/plain"),
        (
            Some("application/x-www-form-urlencoded"),
            None,
            "the body's content type is application/x-www-form-urlencoded",
        ),
        (Some("application/jsonx"), None, "the body's content type is application/jsonx"),
        (Some("application/json"), Some("gzip"), "the body's content encoding is gzip"),
    ] {
        let mut request = Request::post("/api/v1/chat/completions")
            .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")));
        if let Some(kind) = kind {
            request = request.header(CONTENT_TYPE, kind);
        }
        if let Some(encoding) = encoding {
            request = request.header(CONTENT_ENCODING, encoding);
        }
        let answered = house.send(request.body(GOOD).unwrap()).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{TYPE}{problem}{FIX}"));
    }
}

#[tokio::test]
async fn the_body_has_a_longest_length() {
    const TOO_LARGE: &str = "413 invalid_request_error request_too_large -: the request body is \
                             larger than 1 MiB, the limit of this server \
                             (`server.request_body_limit_mib`)";
    let house = House::new();
    // One that says so is refused before it is read, one that does not, while it is.
    let announced = Request::post("/api/v1/chat/completions")
        .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")))
        .header(CONTENT_TYPE, "application/json; charset=utf-8")
        .header(CONTENT_LENGTH, "1048577");
    assert_eq!(house.send(announced.body("").unwrap()).await.error_line(), TOO_LARGE);
    assert_eq!(house.chat(vec![b' '; (1 << 20) + 1]).await.error_line(), TOO_LARGE);
    let at_the_limit = house.chat(vec![b' '; 1 << 20]).await;
    assert_eq!(at_the_limit.status, 400, "{}", at_the_limit.body);
}

#[tokio::test]
async fn other_methods_and_paths_are_refused() {
    const ENDPOINTS: &str = "the endpoints are GET /api/v1/models, GET /api/v1/models/{id}, GET \
                             /api/v1/auth/token, GET /api/v1/health, POST /api/v1/chat/completions";
    let house = House::new();
    let ask = async |method: Method, path: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")));
        let answered = house.send(request.body("").unwrap()).await;
        assert_documented(&answered);
        answered
    };
    for (path, allowed) in [
        ("/api/v1/chat/completions", "POST"),
        ("/api/v1/models", "GET"),
        ("/api/v1/auth/token", "GET"),
        ("/api/v1/health", "GET"),
    ] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            if method == allowed {
                continue;
            }
            let answered = ask(method.clone(), path).await;
            let expected = format!(
                "405 invalid_request_error method_not_allowed -: {path} takes {allowed}, not {method}"
            );
            assert_eq!(answered.error_line(), expected);
            assert_eq!(answered.headers[ALLOW], allowed);
        }
    }
    // The plants of the starter template are unknown paths too.
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/api/v1"),
        (Method::POST, "/api/v1/completions"),
        (Method::POST, "/v1/chat/completions"),
        (Method::GET, "/api/v1/plants"),
        (Method::POST, "/api/v1/plants"),
        (Method::DELETE, "/api/v1/plants/7"),
        (Method::POST, "/api/v1/plant/webhook"),
    ] {
        let expected = format!(
            "404 invalid_request_error not_found -: there is no {method} {path}; {ENDPOINTS}"
        );
        assert_eq!(ask(method, path).await.error_line(), expected);
    }
}

#[tokio::test]
async fn whoever_is_not_recognised_is_told_why() {
    const REFUSED: &str = "401 authentication_error invalid_api_key -: ";
    const UNKNOWN: &str = "Invalid API key: it is not known here, or was revoked";
    const PREFIX: &str = "Invalid API key: a service key begins with `svc_ent_`";
    let house = House::new();
    let known = house.key("documented").to_owned();
    let mut mistyped = known.clone();
    let other = if mistyped.pop() == Some('a') { 'b' } else { 'a' };
    mistyped.push(other);
    let bearer = |key: &str| Some(format!("Bearer {key}"));
    for (authorization, own, problem) in [
        (
            None,
            None,
            "Invalid API key: none was sent; send `Authorization: Bearer svc_ent_…`, or the header \
             `svc-api-key`",
        ),
        (bearer("sk-1234"), None, PREFIX),
        (bearer(""), None, PREFIX),
        (Some("Basic dXNlcjpwYXNz".to_owned()), None, PREFIX),
        (None, Some("sk-1234".to_owned()), PREFIX),
        (
            bearer("svc_ent_short"),
            None,
            "Invalid API key: a service key has 44 characters; copy it whole",
        ),
        (
            bearer(&format!("{}-", &known[..43])),
            None,
            "Invalid API key: a service key has only letters and digits after `svc_ent_`",
        ),
        (
            bearer(&mistyped),
            None,
            "Invalid API key: its checksum does not fit: a character is wrong; copy it \
             again",
        ),
        (bearer(house.key("unknown")), None, UNKNOWN),
        (bearer(house.key("revoked")), None, UNKNOWN),
        (None, Some(house.key("unknown").to_owned()), UNKNOWN),
        (bearer(house.key("expired")), None, "Invalid API key: it expired at 2026-11-21T09:30:00Z"),
        (
            bearer(&known),
            Some(house.key("agent").to_owned()),
            "Invalid API key: `Authorization` and `svc-api-key` hold different keys; send one",
        ),
        // A provider's key in `Authorization` is nobody's business; the other header has to be good.
        (bearer("sk-1234"), Some("sk-5678".to_owned()), PREFIX),
    ] {
        let mut request = Request::get("/api/v1/models");
        if let Some(authorization) = &authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(own) = &own {
            request = request.header("svc-api-key", own);
        }
        let answered = house.send(request.body("").unwrap()).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{REFUSED}{problem}"));
        assert!(!answered.body.contains("sk-"), "{}", answered.body);
    }
}

#[tokio::test]
async fn keys_that_may_not_are_told_what_they_may() {
    const DENIED: &str = "403 permission_error insufficient_permissions ";
    let house = House::new();
    for (key, body, expected) in [
        (
            "two models",
            GOOD.replace("mock", "mock-full"),
            "model: this key may not use model `mock-full`; it may use mock, mock-free",
        ),
        (
            "small account",
            GOOD.replace("mock", "mock-full"),
            "model: model `mock-full` belongs to the full suite; this account has the basic suite",
        ),
        (
            "west",
            GOOD.replace("}]}", "}],\"region\":\"us-east\"}"),
            "region: this key may not use region `us-east`; it may use us-west, eu-west",
        ),
    ] {
        let answered = house.chat_with(key, body).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{DENIED}{expected}"));
    }
}

#[tokio::test]
async fn a_model_that_cannot_is_told_by_name() {
    const UNSUPPORTED: &str = "400 invalid_request_error unsupported_by_model ";
    let house = House::new();
    let plain = GOOD.replace("mock", "mock-plain");
    let with = |member: &str| format!("{},{member}}}", &plain[..plain.len() - 1]);
    for (body, expected) in [
        (
            with(r#""tools":[{"type":"function","function":{"name":"f"}}]"#),
            "tools: `tools` asks for function calls; model `mock-plain` cannot take it",
        ),
        (
            with(r#""response_format":{"type":"json_schema","json_schema":{"name":"a"}}"#),
            "response_format: `response_format` asks for an answer by JSON schema; model \
             `mock-plain` cannot take it",
        ),
        (
            plain.replace(
                "\"hi\"",
                r#"[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}]"#,
            ),
            "messages[0].content[1]: `messages[0].content[1]` holds an image; model `mock-plain` \
             cannot take it",
        ),
    ] {
        assert_eq!(house.chat(body).await.error_line(), format!("{UNSUPPORTED}{expected}"));
    }
}

/// With such a key, a larger wish is lowered and never refused; a smaller one is refused all the
/// same.
#[tokio::test]
async fn an_agents_key_is_bound_by_the_model_only() {
    let house = House::new();
    house.expect(200, "application/json", r#"{"choices":[{"message":{"content":"x"}}]}"#);
    let large = GOOD.replace("}]}", "}],\"max_tokens\":200000}");
    assert_eq!(house.chat_with("agent", large).await.status, 200);
    let none = GOOD.replace("}]}", "}],\"max_tokens\":0}");
    let line = house.chat_with("agent", none).await.error_line();
    assert!(line.starts_with("400 validation_error invalid_parameter max_tokens: "), "{line}");
    assert!(house.all_was_sent());
}

#[tokio::test]
async fn a_limit_names_itself_and_when_to_come_back() {
    let house = House::new();
    house.expect(200, "application/json", r#"{"choices":[{"message":{"content":"x"}}]}"#);
    assert_eq!(house.chat_with("one request", GOOD).await.status, 200);
    let answered = house.chat_with("one request", GOOD).await;
    assert_documented(&answered);
    assert_eq!(
        answered.error_line(),
        "429 rate_limit_error rate_limit_exceeded -: this key has reached its limit of 1 requests \
         an hour; retry in 1800 s"
    );
    assert_eq!(answered.header("retry-after"), Some("1800"));
    assert_eq!(answered.header("x-ratelimit-remaining"), Some("0"));
}

/// Waiting does not help, so it is no 429 and says nothing of when to come back.
#[tokio::test]
async fn a_request_that_no_empty_window_has_room_for_is_told_so() {
    let house = House::new();
    let large = GOOD.replace("}]}", "}],\"max_tokens\":4096,\"n\":3}");
    let answered = house.chat_with("small account", large).await;
    assert_documented(&answered);
    assert_eq!(
        answered.error_line(),
        "400 validation_error invalid_parameter -: this account has a limit of 10000 tokens a day, \
         and this request alone needs about 12292: it can never fit; shorten the prompt or lower \
         `max_tokens`"
    );
    assert_eq!(answered.header("retry-after"), None);
    assert_eq!(answered.header("x-ratelimit-remaining"), Some("100"), "it counts nowhere");
}

/// What a provider says is told in the documented shape; its own code stays.
#[tokio::test]
async fn failures_of_a_provider_are_told_in_the_documented_shape() {
    let house = House::new();
    for (status, kind, body, expected) in [
        (
            400,
            "application/json",
            r#"{"error":{"message":"bad tool","param":"tools[0]","code":"bad_tool"}}"#,
            "400 invalid_request_error bad_tool tools[0]: the provider refused the request: bad tool",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"bad"}}"#,
            "400 invalid_request_error provider_rejected -: the provider refused the request: bad",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
            "400 invalid_request_error context_length_exceeded -: the provider refused the \
             request: too long",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"no","code":"content_filter"}}"#,
            "400 invalid_request_error content_blocked -: the provider's content filter refused \
             the request: no",
        ),
        (
            401,
            "application/json",
            r#"{"error":{"message":"bad key"}}"#,
            "502 api_error upstream_error -: provider `lab` does not accept Sluice's credential \
             (status 401)",
        ),
        (
            429,
            "application/json",
            r#"{"error":{"message":"slow down"}}"#,
            "429 rate_limit_error rate_limit_exceeded -: the provider of model `mock` is rate \
             limited: slow down; retry in 5 s",
        ),
        (
            500,
            "text/html",
            "<html>oops</html>",
            "502 api_error upstream_error -: provider `lab`: the provider answered 500 Internal \
             Server Error without a message",
        ),
        (
            504,
            "text/html",
            "",
            "504 api_error upstream_timeout -: provider `lab`: the provider answered 504 Gateway \
             Timeout without a message",
        ),
        (
            200,
            "application/json",
            "{\"choices\":",
            "502 api_error upstream_error -: provider `lab`: malformed answer: the JSON text ends \
             early, at line 1 column 11",
        ),
    ] {
        house.expect(status, kind, body);
        let answered = house.chat(GOOD).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), expected);
        assert_eq!(answered.header("retry-after").is_some(), answered.status == 429);
    }
    let unreachable = house.chat(GOOD).await;
    assert_eq!(
        unreachable.error_line(),
        "502 api_error upstream_error -: provider `lab`: cannot connect: nothing was expected to be \
         sent"
    );
}

/// The table is the documented promise: at least sixty.
#[test]
fn there_are_many() {
    let all = MEMBERS.len() + MESSAGES.len() + BODIES.len();
    assert!(all >= 60, "{all}");
}

/// Nothing of a body is repeated beyond the start of the value that is wrong.
#[tokio::test]
async fn content_is_never_repeated() {
    let house = House::new();
    for body in [
        r#"{"model":"mock","messages":[{"role":"user","content":"my secret"}"#,
        r#"{"model":"mock","messages":"my secret"}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":"my secret"}],"tools":["my secret"]}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":{"my secret":"my secret"}}]}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":[{"type":"text","text":["my secret"]}]}]}"#,
        r#"my secret"#,
        r#"{"model":"mock","messages":[{"role":"user","content":"a"}],"metadata":"my secret"}"#,
    ] {
        let answered = house.chat(Bytes::from(body)).await;
        assert_eq!(answered.status, 400);
        assert!(!answered.body.contains("secret"), "{}", answered.body);
    }
}
