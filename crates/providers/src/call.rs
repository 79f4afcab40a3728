//! What happens after an answer's head has come: reading it whole, or event by event.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::Response;
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::BodyExt;
use sluice_core::event::StreamEvent;

use crate::adapter::{Adapter, StreamDecoder};
use crate::error::{MalformedAnswer, ProviderError, StreamError};
use crate::framing::sse::{Frame, FrameError, SseDecoder};
use crate::upstream::{TransportError, UpstreamBody};

/// Longest whole answer that is read, in bytes. A model's answer has a few hundred kilobytes at
/// most; images inside it may take more.
pub const LONGEST_ANSWER: usize = 32 << 20;
/// Longest event of a stream, in bytes.
pub const LONGEST_EVENT: usize = 16 << 20;
/// How much is read after a stream's end mark, in bytes, and for how long: its last chunk often
/// comes in a packet of its own.
const LONGEST_REST: usize = 64 << 10;
const REST_WAIT: std::time::Duration = std::time::Duration::from_secs(1);
/// How much of an error's body is read, in bytes.
pub const LONGEST_ERROR: usize = 64 << 10;

/// Why an answer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection broke.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// It is longer than Sluice reads.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The provider said that it failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// It is not in the provider's format.
    #[error(transparent)]
    Malformed(#[from] MalformedAnswer),
}

impl From<StreamError> for ReadError {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Provider(error) => Self::Provider(error),
            StreamError::Malformed(error) => Self::Malformed(error),
        }
    }
}

impl From<FrameError> for ReadError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::TooLong(longest) => Self::TooLong(longest),
            FrameError::NotUtf8 => Self::Malformed(MalformedAnswer(error.to_string())),
        }
    }
}

/// Reads a body whole, up to `longest` bytes.
pub async fn read_whole(mut body: UpstreamBody, longest: usize) -> Result<Bytes, ReadError> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if first.len() + rest.len() + data.len() > longest {
            return Err(ReadError::TooLong(longest));
        }
        // Most answers come in one piece, which then needs no copy.
        if first.is_empty() && rest.is_empty() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            rest.extend_from_slice(&std::mem::take(&mut first));
        }
        rest.extend_from_slice(&data);
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

/// Reads the beginning of an error's body; what cannot be read is left out.
pub async fn read_error(mut body: UpstreamBody) -> Bytes {
    let mut read = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        let room = LONGEST_ERROR - read.len();
        read.extend_from_slice(&data[..data.len().min(room)]);
        if read.len() >= LONGEST_ERROR {
            break;
        }
    }
    read.freeze()
}

/// A streamed answer, as events.
pub struct EventStream {
    /// Gone when it has been read to its end, or left to [`read_out`].
    body: Option<UpstreamBody>,
    sse: SseDecoder,
    decoder: Box<dyn StreamDecoder>,
    frames: Vec<Frame>,
    over: bool,
    heard: bool,
}

impl EventStream {
    /// Begins to read the stream of an answer with a successful status.
    pub fn open(
        response: Response<UpstreamBody>,
        adapter: &dyn Adapter,
    ) -> Result<Self, MalformedAnswer> {
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
            let kind = if kind.is_empty() { "no content type" } else { kind };
            return Err(MalformedAnswer(format!(
                "expected text/event-stream, got {}",
                kind.chars().take(80).collect::<String>()
            )));
        }
        Ok(Self {
            body: Some(body),
            sse: SseDecoder::new(LONGEST_EVENT),
            decoder: adapter.stream_decoder(),
            frames: Vec::new(),
            over: false,
            heard: false,
        })
    }

    /// Appends the events of the next piece that the provider sent. `Ready(Ok(false))` says that
    /// the body is over; only an [`StreamEvent::End`] before it says that the answer is complete.
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Poll<Result<bool, ReadError>> {
        loop {
            let Some(body) = self.body.as_mut().filter(|_| !self.over) else {
                return Poll::Ready(Ok(false));
            };
            let piece = match Pin::new(body).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(piece) => piece,
            };
            self.heard = true;
            let before = events.len();
            match piece {
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.sse.push(data, &mut self.frames)?;
                    self.decode(events)?;
                    if matches!(events.last(), Some(StreamEvent::End)) {
                        self.read_out(cx);
                        return Poll::Ready(Ok(true));
                    }
                }
                Some(Err(error)) => {
                    self.over = true;
                    return Poll::Ready(Err(error.into()));
                }
                None => {
                    self.over = true;
                    self.sse.finish(&mut self.frames)?;
                    self.decode(events)?;
                    self.decoder.end(events);
                }
            }
            if events.len() > before {
                return Poll::Ready(Ok(true));
            }
        }
    }

    /// Whether any bytes have come since this was last asked: also comments and pings, which are
    /// no events.
    pub fn heard_something(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }

    /// Reads what comes after the end mark. A body that is read to its end gives its connection
    /// back; one that is not has it closed. What has not come yet is waited for beside the request.
    fn read_out(&mut self, cx: &mut Context<'_>) {
        self.over = true;
        let Some(mut body) = self.body.take() else { return };
        loop {
            match Pin::new(&mut body).poll_frame(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => return,
                Poll::Pending => break,
            }
        }
        tokio::spawn(async move {
            let rest = async {
                let mut left = LONGEST_REST;
                while let Some(Ok(frame)) = body.frame().await {
                    left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
                    if left == 0 {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(REST_WAIT, rest).await;
        });
    }

    fn decode(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ReadError> {
        for frame in self.frames.drain(..) {
            if let Err(error) = self.decoder.frame(&frame, events) {
                self.over = true;
                return Err(error.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::future::poll_fn;

    use http_body::Frame as BodyFrame;

    use super::*;
    use crate::adapters::openai::OpenAiChat;

    /// A body of these pieces; `None` is a connection that breaks.
    struct Pieces(VecDeque<Option<Bytes>>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = TransportError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<BodyFrame<Bytes>, TransportError>>> {
            Poll::Ready(self.0.pop_front().map(|piece| match piece {
                Some(bytes) => Ok(BodyFrame::data(bytes)),
                None => Err(TransportError::Lost("gone".to_owned())),
            }))
        }
    }

    fn body(pieces: &[Option<&'static str>]) -> UpstreamBody {
        let pieces = pieces.iter().map(|piece| piece.map(Bytes::from)).collect();
        Pieces(pieces).boxed_unsync()
    }

    fn response(kind: Option<&str>, pieces: &[Option<&'static str>]) -> Response<UpstreamBody> {
        let mut response = Response::new(body(pieces));
        if let Some(kind) = kind {
            response.headers_mut().insert(CONTENT_TYPE, kind.parse().unwrap());
        }
        response
    }

    /// How many deltas and ends a stream comes to, and how it breaks off.
    async fn read(pieces: &[Option<&'static str>]) -> (usize, usize, Result<(), ReadError>) {
        let response = response(Some("text/event-stream; charset=utf-8"), pieces);
        let mut stream = EventStream::open(response, &OpenAiChat).unwrap();
        let mut events = Vec::new();
        let outcome = loop {
            match poll_fn(|cx| stream.poll_events(cx, &mut events)).await {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let count = |is: fn(&StreamEvent) -> bool| events.iter().filter(|event| is(event)).count();
        let deltas = count(|event| matches!(event, StreamEvent::Delta(_)));
        (deltas, count(|event| matches!(event, StreamEvent::End)), outcome)
    }

    const HALF: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

    #[tokio::test]
    async fn a_whole_body_is_read_up_to_its_bound() {
        for pieces in [
            &[Some("abcdef")][..],
            &[Some("abc"), Some("def")],
            &[Some(""), Some("a"), Some(""), Some("bc"), Some("def")],
        ] {
            assert_eq!(read_whole(body(pieces), 6).await.unwrap(), "abcdef");
            assert!(matches!(read_whole(body(pieces), 5).await, Err(ReadError::TooLong(5))));
        }
        let lost = read_whole(body(&[Some("abc"), None]), 100).await;
        assert!(matches!(lost, Err(ReadError::Transport(TransportError::Lost(_)))));
        assert_eq!(read_whole(body(&[]), 100).await.unwrap(), "");
    }

    #[tokio::test]
    async fn of_an_error_the_beginning_is_read() {
        assert_eq!(read_error(body(&[Some("ab"), Some("c"), None])).await, "abc");
        let long: &'static str = Box::leak("x".repeat(LONGEST_ERROR - 1).into_boxed_str());
        assert_eq!(
            read_error(body(&[Some(long), Some("yz"), Some("z")])).await.len(),
            LONGEST_ERROR
        );
    }

    #[tokio::test]
    async fn a_stream_ends_with_its_mark_breaks_or_is_cut() {
        let (deltas, ends, outcome) = read(&[Some(HALF), Some("data: [DONE]\n\n")]).await;
        assert!(matches!((deltas, ends, outcome), (1, 1, Ok(()))));
        // What follows the mark is read for the connection's sake and heard by nobody.
        let (deltas, ends, outcome) = read(&[Some("data: [DONE]\n\n"), Some(HALF), None]).await;
        assert!(matches!((deltas, ends, outcome), (0, 1, Ok(()))));
        let (deltas, ends, outcome) = read(&[Some(HALF)]).await;
        assert!(matches!((deltas, ends, outcome), (1, 0, Ok(()))));
        let (deltas, ends, outcome) = read(&[Some(HALF), None]).await;
        assert!(matches!((deltas, ends, outcome), (1, 0, Err(ReadError::Transport(_)))));
        let (deltas, _, outcome) = read(&[Some(HALF), Some("data: {\n\n")]).await;
        assert!(matches!((deltas, outcome), (1, Err(ReadError::Malformed(_)))));
        let (_, _, outcome) = read(&[Some("data: {\"error\":\"m\"}\n\n")]).await;
        assert!(matches!(outcome, Err(ReadError::Provider(_))));
    }

    #[tokio::test]
    async fn after_a_failure_nothing_follows() {
        let pieces = [Some("data: {\n\n"), Some(HALF)];
        let mut stream =
            EventStream::open(response(Some("text/event-stream"), &pieces), &OpenAiChat).unwrap();
        let mut events = Vec::new();
        assert!(poll_fn(|cx| stream.poll_events(cx, &mut events)).await.is_err());
        assert!(matches!(poll_fn(|cx| stream.poll_events(cx, &mut events)).await, Ok(false)));
        assert!(events.is_empty());
    }

    #[test]
    fn what_is_no_event_stream_is_refused() {
        for (kind, problem) in [
            (None, "malformed answer: expected text/event-stream, got no content type"),
            (Some("text/html"), "malformed answer: expected text/event-stream, got text/html"),
            (
                Some("application/json"),
                "malformed answer: expected text/event-stream, got application/json",
            ),
        ] {
            let refused = EventStream::open(response(kind, &[Some("{}")]), &OpenAiChat);
            assert_eq!(refused.err().map(|error| error.to_string()).as_deref(), Some(problem));
        }
        assert!(EventStream::open(response(Some("Text/Event-Stream"), &[]), &OpenAiChat).is_ok());
    }
}
