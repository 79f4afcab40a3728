//! A request on which something panics.

use std::convert::Infallible;
use std::task::Poll;

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use crate::common::{House, REMOTE};

#[tokio::test]
async fn a_panic_is_an_internal_error_without_its_words() {
    let house = House::new();
    let mut is_read = false;
    let body =
        futures_util::stream::poll_fn(move |_| -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            assert!(std::mem::replace(&mut is_read, true), "a part of the prompt");
            Poll::Ready(None)
        });
    let request = Request::post("/api/v1/chat/completions")
        .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")))
        .header(CONTENT_TYPE, "application/json")
        .body(StreamBody::new(body))
        .unwrap();
    let response = house.api.respond(request, Some(REMOTE)).await;
    assert_eq!(response.status(), 500);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    assert!(body.contains("internal_error") && !body.contains("prompt"), "{body}");
    // What it had taken is free again.
    assert_eq!(house.gateway.metrics().body_bytes.get(), 0);
}
