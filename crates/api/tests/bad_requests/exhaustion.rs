//! Requests that would take more than their share: of memory, of places, of elements.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request};
use http_body::{Body, Frame};

use crate::GOOD;
use crate::common::{House, REMOTE};

/// A provider's whole answer.
const WHOLE: &str = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],
    "usage":{"prompt_tokens":7,"completion_tokens":3}}"#;

#[tokio::test]
async fn lists_of_small_things_are_bounded() {
    const OUT: &str = "400 validation_error invalid_parameter ";
    let house = House::new();
    let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
    let user = r#"{"role":"user","content":""}"#;
    let said = |message: &str| format!(r#"{{"model":"mock","messages":[{message}]}}"#);
    let parts = |count| said(&format!(r#"{{"role":"user","content":{}}}"#, list("\"\"", count)));
    let beside = |member: String| format!(r#"{{"model":"mock","messages":[{user}],{member}}}"#);
    let members =
        |count: usize| (0..count).map(|i| format!("\"m{i}\":0")).collect::<Vec<_>>().join(",");
    for (body, expected) in [
        (
            format!(r#"{{"model":"mock","messages":{}}}"#, list(user, 10_001)),
            "messages: `messages` is a list with 10001 messages; expected at most 10000",
        ),
        // Elements beyond the bound are counted, whatever they are.
        (
            format!(r#"{{"model":"mock","messages":{}}}"#, list(user, 10_000).replace(']', ",0]")),
            "messages: `messages` is a list with 10001 messages; expected at most 10000",
        ),
        (
            parts(50_001),
            "messages: `messages` is a list with 50001 content parts; expected at most 50000",
        ),
        (
            format!(
                r#"{{"model":"mock","messages":{}}}"#,
                list(&format!(r#"{{"role":"user","content":{}}}"#, list("\"\"", 1_000)), 51)
            ),
            "messages: `messages` is a list with 51000 content parts; expected at most 50000",
        ),
        (
            said(&format!(r#"{{"role":"assistant","tool_calls":{}}}"#, list("{}", 50_001))),
            "messages: `messages` is a list with 50001 calls of tools; expected at most 50000",
        ),
        (
            said(&format!(
                r#"{{"role":"assistant","content":"","reasoning_details":{}}}"#,
                list("{}", 50_001)
            )),
            "messages: `messages` is a list with 50001 pieces of thoughts; expected at most 50000",
        ),
        (
            beside(format!("\"tools\":{}", list(r#"{"type":"x"}"#, 4_097))),
            "tools: `tools` is a list with 4097 tools; expected at most 4096",
        ),
        (
            beside(format!("\"stop\":{}", list("\"\"", 257))),
            "stop: `stop` is a list with 257 texts; expected at most 256",
        ),
    ] {
        assert_eq!(house.chat(body).await.error_line(), format!("{OUT}{expected}"));
    }
    const MEMBERS: &str = "400 invalid_request_error invalid_json -: the request body is not valid \
                           JSON: an object has more than ";
    for (body, most) in [
        (beside(members(1_000)), 1_000),
        (said(&format!(r#"{{"role":"user","content":"",{}}}"#, members(65))), 64),
    ] {
        let line = house.chat(body).await.error_line();
        assert!(line.starts_with(&format!("{MEMBERS}{most} members")), "{line}");
    }
    // At the bounds, nothing is refused for its number.
    for body in [
        format!(r#"{{"model":"no such","messages":{}}}"#, list(user, 10_000)),
        parts(50_000).replace("mock", "no such"),
        beside(members(997)).replace("mock", "no such"),
    ] {
        assert_eq!(house.chat(body).await.status, 404);
    }
}

/// A body whose end never comes.
struct Unfinished(Option<Bytes>);

impl Body for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
    }
}

fn upload(house: &House, key: &str, sent: usize) -> Request<Unfinished> {
    Request::post("/api/v1/chat/completions")
        .header(AUTHORIZATION, format!("Bearer {}", house.key(key)))
        .header(CONTENT_TYPE, "application/json")
        .body(Unfinished(Some(Bytes::from(vec![b' '; sent]))))
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_body_is_read_only_for_whoever_has_a_place_and_memory_left() {
    let house = House::new();
    // This account has ten requests at once; small bodies count for no memory.
    let slow = FuturesUnordered::new();
    for _ in 0..40 {
        slow.push(house.api.respond(upload(&house, "small account", 1_000), Some(REMOTE)));
    }
    // None of the forty ever ends its body: those without a place are refused meanwhile.
    let (refused, slow) = take(slow, 30).await;
    assert!(refused.iter().all(|response| response.status() == 429));
    assert_eq!(house.gateway.metrics().body_bytes.get(), 0);
    assert_eq!(house.chat_with("small account", GOOD).await.status, 429);
    house.expect(200, "application/json", WHOLE);
    assert_eq!(house.chat(GOOD).await.status, 200, "others are served");
    // What is given up comes back, and was never counted.
    drop(slow);
    house.expect(200, "application/json", WHOLE);
    let served = house.chat_with("small account", GOOD).await;
    assert_eq!((served.status, served.header("x-ratelimit-remaining")), (200, Some("99")));

    // Four MiB for all bodies, two of them for one key, and a MiB for each body.
    let large = FuturesUnordered::new();
    for _ in 0..40 {
        large.push(house.api.respond(upload(&house, "documented", 1 << 20), Some(REMOTE)));
    }
    let (refused, large) = take(large, 38).await;
    for response in refused {
        assert_eq!(
            (response.status().as_u16(), &response.headers()[RETRY_AFTER]),
            (503, &HeaderValue::from_static("2"))
        );
    }
    assert_eq!(house.gateway.metrics().body_bytes.get(), 2 << 20);
    house.expect(200, "application/json", WHOLE);
    assert_eq!(house.chat(GOOD).await.status, 200, "a small request always has room");
    let padded = format!("{GOOD}{}", " ".repeat(900_000));
    let line = house.chat(padded.clone()).await.error_line();
    let expected = "503 api_error server_overloaded -: the requests under way fill this \
                    server's memory for request bodies (4 MiB, half of it for one key; \
                    `server.body_memory_mib`); retry in 2 s";
    assert_eq!(line, expected);
    house.expect(200, "application/json", WHOLE);
    assert_eq!(house.chat_with("agent", padded.clone()).await.status, 200, "so has another key");
    drop(large);
    house.expect(200, "application/json", WHOLE);
    assert_eq!(house.chat(padded).await.status, 200);
    assert_eq!(house.gateway.metrics().body_bytes.get(), 0);
}

/// The first `count` that are ready, and the others.
async fn take<F: Future>(
    mut futures: FuturesUnordered<F>,
    count: usize,
) -> (Vec<F::Output>, FuturesUnordered<F>) {
    let ready = futures.by_ref().take(count).collect().await;
    assert!(futures.next().now_or_never().is_none(), "only so many are refused");
    (ready, futures)
}

#[tokio::test]
async fn a_large_body_that_is_wrong_counts_as_a_request_and_a_small_one_does_not() {
    let house = House::new();
    let remaining = async |body: String| {
        let answered = house.chat(body).await;
        assert_eq!(answered.status, 400);
        answered.header("x-ratelimit-remaining").unwrap().to_owned()
    };
    assert_eq!(remaining("{".to_owned()).await, "10000");
    assert_eq!(remaining(format!("{{{}", " ".repeat(256 << 10))).await, "9999");
    let tiny = r#"{"role":"user","content":""},"#.repeat(30_000);
    assert_eq!(remaining(format!(r#"{{"model":"mock","messages":[{tiny}0]}}"#)).await, "9998");
}

#[tokio::test]
async fn a_large_body_that_is_refused_after_it_was_read_counts_too() {
    let house = House::new();
    let unknown = r#"{"model":"none","messages":[{"role":"user","content":"Hello!"}]}"#;
    let remaining = async |body: &str| {
        let answered = house.chat(body.to_owned()).await;
        assert!((400..500).contains(&answered.status), "{}", answered.status);
        answered.header("x-ratelimit-remaining").unwrap().to_owned()
    };
    assert_eq!(remaining(unknown).await, "10000");
    let padded = format!("{unknown}{}", " ".repeat(256 << 10));
    assert_eq!(remaining(&padded).await, "9999");
    assert_eq!(remaining(&padded).await, "9998");
}
