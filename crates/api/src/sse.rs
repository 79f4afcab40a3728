//! A streamed answer as server-sent events: chunks, comments that keep the connection open, the
//! error event, `[DONE]`.

use std::task::{Context, Poll};

use bytes::Bytes;
use sluice_core::event::{AnswerHead, StreamEvent};
use sluice_gateway::answer::{AnswerStream, Piece};

use crate::error::ApiError;
use crate::wire::chat::answer::{ChunkWriter, completion_id};

/// What the events of one answer have in common.
pub(crate) struct Labels {
    /// The request, for answers whose provider gives them no name.
    pub(crate) request_id: String,
    /// Unix time in seconds.
    pub(crate) created: u64,
    /// The model that answers.
    pub(crate) model: String,
    /// Whether the caller wants the usage.
    pub(crate) include_usage: bool,
}

/// The body of a streamed answer.
pub struct SseBody {
    stream: AnswerStream,
    labels: Labels,
    chunks: Option<ChunkWriter>,
    pieces: Vec<Piece>,
    over: bool,
}

impl SseBody {
    pub(crate) fn new(stream: AnswerStream, labels: Labels) -> Self {
        Self { stream, labels, chunks: None, pieces: Vec::new(), over: false }
    }

    /// The next bytes; `None` at the end. All events that have come are one write.
    pub(crate) fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut out = Vec::new();
        while out.is_empty() {
            if self.over {
                return Poll::Ready(None);
            }
            let Poll::Ready(more) = self.stream.poll_pieces(cx, &mut self.pieces) else {
                return Poll::Pending;
            };
            self.over = !more;
            let mut pieces = std::mem::take(&mut self.pieces);
            for piece in pieces.drain(..) {
                self.write(&piece, &mut out);
            }
            self.pieces = pieces;
        }
        Poll::Ready(Some(Bytes::from(out)))
    }

    fn write(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Event(StreamEvent::Start(head)) => {
                self.chunks = Some(self.labels.writer(head));
            }
            Piece::Event(StreamEvent::Delta(delta)) => {
                let labels = &self.labels;
                let chunks =
                    self.chunks.get_or_insert_with(|| labels.writer(&AnswerHead::default()));
                let is_last = delta.finish_reason.is_some() && !labels.include_usage;
                let filter = is_last.then(|| self.stream.filter_news()).flatten();
                chunks.write_delta(delta, filter.as_ref(), out);
            }
            Piece::Event(StreamEvent::Usage(_) | StreamEvent::End) => {}
            Piece::KeepAlive => out.extend_from_slice(b": keep-alive\n\n"),
            Piece::Finished(receipt) => {
                if self.labels.include_usage {
                    let labels = &self.labels;
                    let chunks =
                        self.chunks.get_or_insert_with(|| labels.writer(&AnswerHead::default()));
                    chunks.write_usage(receipt, out);
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
                self.over = true;
            }
            Piece::Failed(error) => {
                out.extend_from_slice(b"data: ");
                ApiError::Chat(error.clone()).write_json(out);
                out.extend_from_slice(b"\n\n");
                self.over = true;
            }
        }
    }
}

impl Labels {
    fn writer(&self, head: &AnswerHead) -> ChunkWriter {
        let id = completion_id(&head.id, &self.request_id);
        ChunkWriter::new(head, &self.model, (&id, self.created), self.include_usage)
    }
}
