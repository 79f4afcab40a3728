//! A body whose pieces come when they are due.
//!
//! A piece is made when the reader asks for it, so a slow reader slows the simulator down and a
//! reader that goes away stops it. A reader that was slow catches up at once, since the pieces are
//! due by the clock and not one after the other.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::upstream::TransportError;

/// A piece of a simulated body.
pub(super) enum Piece {
    /// Bytes, and how long after the body's beginning they are due.
    Data(Bytes, Duration),
    /// The connection is lost.
    Lost,
    /// Nothing comes any more, and the connection stays open.
    Stall,
}

/// The pieces of a body, in order.
pub(super) type Pieces = Box<dyn Iterator<Item = Piece> + Send>;

/// A body of pieces.
pub(super) struct PacedBody {
    pieces: Pieces,
    begun: Instant,
    /// The piece that is not due yet.
    waiting: Option<(Bytes, Pin<Box<Sleep>>)>,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Flowing,
    Stalled,
    Over,
}

impl PacedBody {
    /// A body that begins now.
    pub(super) fn new(pieces: Pieces) -> Self {
        Self { pieces, begun: Instant::now(), waiting: None, state: State::Flowing }
    }
}

impl Body for PacedBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if let Some((bytes, sleep)) = &mut self.waiting {
            ready!(sleep.as_mut().poll(context));
            let bytes = std::mem::take(bytes);
            self.waiting = None;
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.state {
            State::Flowing => {}
            // Nobody will wake this reader: giving up is its own decision, as with a real silence.
            State::Stalled => return Poll::Pending,
            State::Over => return Poll::Ready(None),
        }
        match self.pieces.next() {
            Some(Piece::Data(bytes, due)) => {
                let due = self.begun + due;
                if due <= Instant::now() {
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                self.waiting = Some((bytes, Box::pin(sleep_until(due))));
                self.poll_frame(context)
            }
            Some(Piece::Lost) => {
                self.state = State::Over;
                let reason = "the simulator was asked to cut the answer".to_owned();
                Poll::Ready(Some(Err(TransportError::Lost(reason))))
            }
            Some(Piece::Stall) => {
                self.state = State::Stalled;
                Poll::Pending
            }
            None => {
                self.state = State::Over;
                Poll::Ready(None)
            }
        }
    }
}
