//! A streamed answer as server-sent events: chunks, comments that keep the connection open, the
//! error event, `[DONE]`.

use std::task::{Context, Poll};

use bytes::Bytes;
use sluice_core::event::{AnswerHead, Delta, StreamEvent};
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::ModelId;
use sluice_gateway::answer::{AnswerStream, Piece};

use crate::error::ApiError;
use crate::wire::chat::answer::{ChunkWriter, completion_id};

/// What the events of one answer have in common.
pub(crate) struct Labels {
    /// The request, for answers whose provider gives them no name.
    pub(crate) request_id: String,
    /// Unix time in seconds.
    pub(crate) created: u64,
    /// Whether the caller wants the usage.
    pub(crate) include_usage: bool,
    /// How many answers were asked for.
    pub(crate) choices: u32,
}

/// The body of a streamed answer.
pub struct SseBody {
    stream: AnswerStream,
    labels: Labels,
    chunks: Option<ChunkWriter>,
    pieces: Vec<Piece>,
    /// Choices whose finish reason was told.
    finished: Vec<u32>,
    /// What the filter did, as an event told it.
    told: Option<FilterRecord>,
    over: bool,
}

impl SseBody {
    pub(crate) fn new(stream: AnswerStream, labels: Labels) -> Self {
        Self {
            stream,
            labels,
            chunks: None,
            pieces: Vec::new(),
            finished: Vec::new(),
            told: None,
            over: false,
        }
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
                self.chunks = Some(self.labels.writer(head, self.stream.model()));
            }
            Piece::Event(StreamEvent::Delta(delta)) => {
                let is_last = self.is_last(delta);
                let news = is_last.then(|| self.news()).flatten();
                self.chunks().write_delta(delta, news.as_ref(), out);
            }
            Piece::Event(StreamEvent::Usage(_) | StreamEvent::End) => {}
            Piece::KeepAlive => out.extend_from_slice(b": keep-alive\n\n"),
            Piece::Finished(receipt) => {
                if self.labels.include_usage {
                    self.chunks().write_usage(receipt, out);
                } else if let Some(news) = self.news() {
                    // No finish reason came, or something was noticed after the last one. A step
                    // without text, since clients look into every chunk's first choice.
                    self.chunks().write_delta(&Delta::default(), Some(&news), out);
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
                self.over = true;
            }
            Piece::Failed(error) => {
                let news = self.news();
                out.extend_from_slice(b"data: ");
                ApiError::Chat(error.clone(), None).write_json(news.as_ref(), out);
                out.extend_from_slice(b"\n\n");
                self.over = true;
            }
        }
    }

    fn chunks(&mut self) -> &mut ChunkWriter {
        let (labels, model) = (&self.labels, self.stream.model());
        self.chunks.get_or_insert_with(|| labels.writer(&AnswerHead::default(), model))
    }

    /// Whether a step is the last of all that were asked for, and no chunk with the usage follows.
    fn is_last(&mut self, delta: &Delta) -> bool {
        if delta.finish_reason.is_none() || self.labels.include_usage {
            return false;
        }
        if !self.finished.contains(&delta.choice) {
            self.finished.push(delta.choice);
        }
        self.finished.len() >= self.labels.choices as usize
    }

    /// What the filter did, where neither the headers nor an earlier event has told it.
    fn news(&mut self) -> Option<FilterRecord> {
        let news = self.stream.filter_news().filter(|news| self.told.as_ref() != Some(news))?;
        self.told = Some(news.clone());
        Some(news)
    }
}

impl Labels {
    /// What writes the chunks of an answer by `model`, which is known before its first piece is.
    fn writer(&self, head: &AnswerHead, model: Option<&ModelId>) -> ChunkWriter {
        let id = completion_id(&head.id, &self.request_id);
        let model = model.map_or("", ModelId::as_str);
        ChunkWriter::new(head, model, (&id, self.created), self.include_usage)
    }
}
