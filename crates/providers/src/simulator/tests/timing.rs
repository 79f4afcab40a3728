//! When the bytes come.

use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::json;
use tokio::time::Instant;

use super::{post, prompt, read, simulator, with};
use crate::simulator::{MODELS, Pace};
use crate::upstream::Upstream;

#[tokio::test(start_paused = true)]
async fn tokens_come_at_the_models_pace() {
    for model in MODELS {
        for stream in [false, true] {
            let begun = Instant::now();
            let body = with(
                prompt(model.id, &"word ".repeat(120)),
                json!({"stream": stream, "max_tokens": 61}),
            );
            read(Pace::Realistic, post(body)).await;
            let generating = Duration::from_secs_f64(60.0 / f64::from(model.tokens_per_second));
            let expected = model.time_to_first_token + generating;
            let took = begun.elapsed();
            // Timers are whole milliseconds.
            assert!(took + Duration::from_millis(2) >= expected, "{} {took:?}", model.id);
            assert!(took <= expected + Duration::from_millis(2), "{} {took:?}", model.id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_token_waits_as_ordered() {
    let begun = Instant::now();
    let body = with(prompt("demo/chat", "simulate: slow 2s"), json!({"stream": true}));
    let mut body = simulator(Pace::Instant).send(post(body)).await.unwrap().into_body();
    assert!(body.frame().await.is_some());
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_answer_stays_open() {
    let body = with(prompt("demo/chat", "simulate: stall"), json!({"stream": true}));
    let mut body = simulator(Pace::Instant).send(post(body)).await.unwrap().into_body();
    let reading = async { while body.frame().await.is_some() {} };
    assert!(tokio::time::timeout(Duration::from_secs(3600), reading).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_catches_up() {
    let body = with(prompt("demo/echo", &"word ".repeat(50)), json!({"stream": true}));
    let mut body = simulator(Pace::Realistic).send(post(body)).await.unwrap().into_body();
    assert!(body.frame().await.is_some());
    tokio::time::sleep(Duration::from_secs(10)).await;
    let begun = Instant::now();
    while body.frame().await.is_some() {}
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
