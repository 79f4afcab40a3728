//! The way back of a streamed answer: the provider's events, metered, in time, and written down
//! before the last one leaves.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sluice_core::event::StreamEvent;
use sluice_core::ids::ModelId;
use sluice_core::outcome::Outcome;
use sluice_providers::error::{ProviderError, ProviderErrorKind};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::accounting::{Meter, Receipt};
use crate::dispatch::{Failure, OpenStream, failure, read_error};
use crate::error::ChatError;
use crate::plan::Candidate;
use crate::snapshot::Timeouts;

/// One thing to tell the caller.
#[derive(Debug)]
pub enum Piece {
    /// The answer goes on.
    Event(StreamEvent),
    /// Nothing has come for a while: a comment keeps the connection open.
    KeepAlive,
    /// The answer is complete and written down. The last piece.
    Finished(Box<Receipt>),
    /// The answer broke off. The last piece: no end mark may follow.
    Failed(ChatError),
}

/// A stream whose provider has begun to answer.
pub(crate) struct Opened {
    pub(crate) stream: OpenStream,
    pub(crate) candidate: Candidate,
    pub(crate) meter: Meter,
}

/// A provider that is being asked.
pub(crate) type Opening = Pin<Box<dyn Future<Output = Result<Opened, ChatError>> + Send>>;

enum State {
    Opening(Opening),
    Open(Box<Opened>),
    Over,
}

/// A streamed answer. Dropping it cancels the provider's call and bills what was generated.
pub struct AnswerStream {
    model: ModelId,
    state: State,
    timeouts: Timeouts,
    /// When the whole request has to be over.
    deadline: Instant,
    /// When the provider last said something, and the caller was last told something.
    heard: Instant,
    told: Instant,
    timer: Pin<Box<Sleep>>,
    events: Vec<StreamEvent>,
}

impl AnswerStream {
    pub(crate) fn opened(
        model: ModelId,
        opened: Opened,
        timeouts: Timeouts,
        deadline: Instant,
    ) -> Self {
        Self::new(model, State::Open(Box::new(opened)), timeouts, deadline, false)
    }

    /// The provider has said nothing for the length of a keep-alive: the caller hears a comment
    /// first and the answer later.
    pub(crate) fn opening(
        model: ModelId,
        opening: Opening,
        timeouts: Timeouts,
        deadline: Instant,
    ) -> Self {
        Self::new(model, State::Opening(opening), timeouts, deadline, true)
    }

    /// The model that answers.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    fn new(
        model: ModelId,
        state: State,
        timeouts: Timeouts,
        deadline: Instant,
        overdue: bool,
    ) -> Self {
        let now = Instant::now();
        let told = if overdue { now.checked_sub(timeouts.keep_alive).unwrap_or(now) } else { now };
        let next = told + timeouts.keep_alive;
        Self {
            model,
            state,
            timeouts,
            deadline,
            heard: now,
            told,
            timer: Box::pin(sleep_until(next)),
            events: Vec::new(),
        }
    }

    /// Appends what there is to tell to `pieces`. `Ready(false)` says that nothing will follow.
    ///
    /// Everything that has come is given out at once, so that a burst of events becomes one write.
    pub fn poll_pieces(&mut self, cx: &mut Context<'_>, pieces: &mut Vec<Piece>) -> Poll<bool> {
        let before = pieces.len();
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(pieces.len() > before),
                State::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Ready(Ok(opened)) => {
                        self.heard = Instant::now();
                        self.state = State::Open(Box::new(opened));
                    }
                    Poll::Ready(Err(error)) => {
                        self.state = State::Over;
                        pieces.push(Piece::Failed(error));
                        return Poll::Ready(true);
                    }
                    // The opening has its own timeouts; only the caller's patience counts here.
                    Poll::Pending => return self.wait(cx, pieces, before, false),
                },
                State::Open(opened) => {
                    let first = std::mem::take(&mut opened.stream.first);
                    self.events.extend(first);
                    let polled = if self.events.is_empty() {
                        opened.stream.events.poll_events(cx, &mut self.events)
                    } else {
                        Poll::Ready(Ok(true))
                    };
                    match polled {
                        Poll::Pending => return self.wait(cx, pieces, before, true),
                        Poll::Ready(Ok(more)) => {
                            self.heard = Instant::now();
                            if self.pass_on(pieces, more) {
                                return Poll::Ready(true);
                            }
                        }
                        Poll::Ready(Err(error)) => {
                            self.pass_on(pieces, true);
                            self.break_off(read_error(error), pieces);
                            return Poll::Ready(true);
                        }
                    }
                    if pieces.len() - before >= MOST_PIECES {
                        self.told = self.heard;
                        return Poll::Ready(true);
                    }
                }
            }
        }
    }

    /// Meters and passes on what has come. True where it was the end.
    fn pass_on(&mut self, pieces: &mut Vec<Piece>, more: bool) -> bool {
        let State::Open(opened) = &mut self.state else { return true };
        let mut complete = false;
        for event in self.events.drain(..) {
            match &event {
                StreamEvent::Delta(delta) => opened.meter.note(delta),
                StreamEvent::Usage(usage) => opened.meter.usage(*usage),
                StreamEvent::Start(_) => {}
                StreamEvent::End => complete = true,
            }
            pieces.push(Piece::Event(event));
            if complete {
                break;
            }
        }
        if complete {
            if let State::Open(opened) = std::mem::replace(&mut self.state, State::Over)
                && let Some(receipt) = opened.meter.finish(Outcome::Completed)
            {
                pieces.push(Piece::Finished(Box::new(receipt)));
            }
            return true;
        }
        if !more {
            // The body is over, and nothing said that the answer is: it was cut.
            self.break_off(
                ProviderError {
                    kind: ProviderErrorKind::Connection,
                    status: None,
                    message: "the answer was cut off before its end".to_owned(),
                    code: None,
                    param: None,
                    retry_after: None,
                },
                pieces,
            );
            return true;
        }
        false
    }

    fn break_off(&mut self, error: ProviderError, pieces: &mut Vec<Piece>) {
        if let State::Open(opened) = std::mem::replace(&mut self.state, State::Over) {
            let now = opened.meter.now();
            opened.candidate.provider.health.failed(error.kind, error.retry_after, now);
            let Failure { error, outcome, .. } = failure(&opened.candidate, error);
            opened.meter.finish(outcome);
            pieces.push(Piece::Failed(error));
        }
    }

    /// Nothing has come: hands out what is there, else waits for the provider, or for the next
    /// moment at which something has to be said or given up.
    fn wait(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &mut Vec<Piece>,
        before: usize,
        open: bool,
    ) -> Poll<bool> {
        if pieces.len() > before {
            self.told = Instant::now();
            return Poll::Ready(true);
        }
        loop {
            let mut next = self.told + self.timeouts.keep_alive;
            if open {
                next = next.min(self.deadline).min(self.heard + self.timeouts.idle);
            }
            // Each piece moves the moment further away, so the timer is set anew only when it has
            // gone off, or when a timeout is shorter than what it was set to.
            if next < self.timer.deadline() {
                self.timer.as_mut().reset(next);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = Instant::now();
            if open && now >= self.deadline.min(self.heard + self.timeouts.idle) {
                let what = if now >= self.deadline {
                    over("the answer took longer than", self.timeouts.total)
                } else {
                    over("the provider said nothing for", self.timeouts.idle)
                };
                self.break_off(what, pieces);
                return Poll::Ready(true);
            }
            if now >= self.told + self.timeouts.keep_alive {
                self.told = now;
                pieces.push(Piece::KeepAlive);
                return Poll::Ready(true);
            }
            self.timer.as_mut().reset(next);
        }
    }
}

/// Pieces after which the caller is served before more is read.
const MOST_PIECES: usize = 256;

fn over(what: &str, limit: Duration) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Timeout,
        status: None,
        message: format!("{what} {} s", limit.as_secs()),
        code: None,
        param: None,
        retry_after: None,
    }
}
