//! The simulator as its callers see it: requests in, bytes out.

mod answers;
mod failures;
mod timing;

use http::StatusCode;
use serde_json::{Value, json};
use sluice_core::clock::{ManualClock, UnixMillis};

use super::*;

/// One answer, read to its end.
struct Read {
    status: StatusCode,
    body: Vec<u8>,
    lost: bool,
    retry_after: Option<String>,
}

impl Read {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The chunks before `[DONE]`, which has to be there.
    fn chunks(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).unwrap();
        let text = text.strip_suffix("data: [DONE]\n\n").expect("an end mark");
        let events = text.split_terminator("\n\n");
        events
            .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
            .collect()
    }
}

fn simulator(pace: Pace) -> Simulator {
    Simulator::new(Arc::new(ManualClock::at(UnixMillis(1_700_000_000_000))), pace)
}

fn post(body: impl ToString) -> Request<Bytes> {
    let uri = format!("{BASE_URL}/chat/completions");
    Request::post(uri).body(Bytes::from(body.to_string())).unwrap()
}

async fn read(pace: Pace, request: Request<Bytes>) -> Read {
    let response = simulator(pace).send(request).await.unwrap();
    let (head, mut incoming) = response.into_parts();
    let mut read = Read {
        status: head.status,
        body: Vec::new(),
        lost: false,
        retry_after: head.headers.get(RETRY_AFTER).map(|v| v.to_str().unwrap().to_owned()),
    };
    while let Some(frame) = incoming.frame().await {
        match frame {
            Ok(frame) => read.body.extend_from_slice(&frame.into_data().unwrap()),
            Err(_) => read.lost = true,
        }
    }
    read
}

fn ask(body: &Value) -> Read {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(read(Pace::Instant, post(body)))
}

fn prompt(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn the_page_for_users_lists_every_model_and_trigger() {
    let page = include_str!("../../../../../docs/simulator.md");
    for model in MODELS {
        assert!(page.contains(&format!("| `{}` |", model.id)), "{}", model.id);
    }
    for trigger in TRIGGERS {
        let row = format!("| `simulate: {}` | {} |", trigger.form, trigger.effect);
        assert!(page.contains(&row), "docs/simulator.md lacks the row\n{row}");
    }
}

#[test]
fn the_openai_adapter_understands_it() {
    use crate::adapter::Adapter;
    use crate::adapters::openai::OpenAiChat;
    use crate::framing::sse::SseDecoder;
    use sluice_core::event::StreamEvent;

    let body = with(prompt("demo/reasoner", "Hello"), json!({"logprobs": true}));
    let whole = OpenAiChat.decode(Bytes::from(ask(&body).body)).unwrap();
    assert!(whole.usage.unwrap().reasoning > 0);
    assert!(whole.choices[0].message.reasoning.is_some());

    let streamed =
        ask(&with(body, json!({"stream": true, "stream_options": {"include_usage": true}})));
    let (mut frames, mut events) = (Vec::new(), Vec::new());
    SseDecoder::new(1 << 20).push(Bytes::from(streamed.body), &mut frames).unwrap();
    let mut decoder = OpenAiChat.stream_decoder();
    for frame in &frames {
        decoder.frame(frame, &mut events).unwrap();
    }
    decoder.end(&mut events);
    assert!(events.iter().any(|event| matches!(event, StreamEvent::Usage(_))));
    assert!(matches!(events.last(), Some(StreamEvent::End)));
}
