//! Reads server-sent events as they come, the way a client does: comments, data, the end mark.

use bytes::BytesMut;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use crate::ask::header;
use crate::client::Connection;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A comment: it only keeps the connection open.
    Comment(String),
    /// A chunk, or an error.
    Data(Value),
    /// `[DONE]`.
    Done,
}

/// A stream of events. Dropping it hangs up.
#[derive(Debug)]
pub struct Events {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
    _connection: Connection,
    read: BytesMut,
    over: bool,
    cut: bool,
}

/// All that a stream said.
#[derive(Debug, Clone, Default)]
pub struct Streamed {
    /// The answer's text.
    pub text: String,
    /// All chunks.
    pub chunks: Vec<Value>,
    /// The `error` member of the error event.
    pub error: Option<Value>,
    /// Whether `[DONE]` came.
    pub done: bool,
    /// Whether the connection broke before the body's end.
    pub cut: bool,
}

impl Events {
    pub(crate) fn new(
        status: StatusCode,
        headers: HeaderMap,
        body: Incoming,
        connection: Connection,
    ) -> Self {
        let (read, over, cut) = (BytesMut::new(), false, false);
        Self { status, headers, body, _connection: connection, read, over, cut }
    }

    /// The request's identifier.
    pub fn request_id(&self) -> String {
        header(&self.headers, "x-request-id").to_owned()
    }

    /// The next event; `None` at the end, in order or not.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.read.windows(2).position(|pair| pair == b"\n\n") {
                let event = self.read.split_to(end + 2);
                let event = std::str::from_utf8(&event).expect("events are text").trim_end();
                return Some(parse(event));
            }
            if self.over {
                assert!(self.cut || self.read.is_empty(), "an unfinished event: {:?}", self.read);
                return None;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    self.read.extend_from_slice(&frame.into_data().unwrap_or_default());
                }
                Some(Err(_)) => (self.over, self.cut) = (true, true),
                None => self.over = true,
            }
        }
    }

    /// The next piece of the answer's text, past chunks without any and comments.
    pub async fn next_text(&mut self) -> String {
        while let Some(event) = self.next().await {
            if let Event::Data(chunk) = event {
                let text = text_of(&chunk);
                if !text.is_empty() {
                    return text.to_owned();
                }
            }
        }
        panic!("the stream ended before it said more")
    }

    /// Everything else that comes.
    pub async fn rest(mut self) -> Streamed {
        assert_eq!(self.status, StatusCode::OK);
        let mut said = Streamed::default();
        while let Some(event) = self.next().await {
            assert!(!said.done && said.error.is_none(), "{event:?} after the end");
            match event {
                Event::Comment(_) => {}
                Event::Done => said.done = true,
                Event::Data(data) if data.get("error").is_some() => {
                    said.error = Some(data["error"].clone());
                }
                Event::Data(chunk) => {
                    said.text.push_str(text_of(&chunk));
                    said.chunks.push(chunk);
                }
            }
        }
        said.cut = self.cut;
        said
    }
}

impl Streamed {
    /// The chunk that tells usage and security.
    pub fn usage_chunk(&self) -> &Value {
        let chunk = self.chunks.iter().rev().find(|chunk| chunk["usage"].is_object());
        chunk.expect("a chunk with the usage")
    }
}

fn text_of(chunk: &Value) -> &str {
    chunk["choices"][0]["delta"]["content"].as_str().unwrap_or("")
}

fn parse(event: &str) -> Event {
    if let Some(comment) = event.strip_prefix(':') {
        return Event::Comment(comment.trim().to_owned());
    }
    let data = event.strip_prefix("data: ").unwrap_or_else(|| panic!("no event: {event:?}"));
    if data == "[DONE]" {
        return Event::Done;
    }
    Event::Data(serde_json::from_str(data).unwrap_or_else(|error| panic!("{error} in {data:?}")))
}
