//! The way back of a streamed answer: the provider's events, metered, in time, and written down
//! before the last one leaves.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sluice_core::event::{Delta, StreamEvent};
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::ModelId;
use sluice_core::outcome::Outcome;
use sluice_providers::error::ProviderErrorKind;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::accounting::{Decided, Meter, Receipt};
use crate::call::TimedCall;
use crate::cut::Cut;
use crate::dispatch::{CallFailure, OpenStream, failure, own_error};
use crate::error::{ChatError, Unanswered};
use crate::plan::Candidate;
use crate::shutdown::ShutdownWatch;
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
    pub(crate) call: TimedCall,
    pub(crate) cut: Cut,
    pub(crate) meter: Meter,
}

/// A provider that is being asked.
pub(crate) type Opening = Pin<Box<dyn Future<Output = Result<Opened, Unanswered>> + Send>>;

enum State {
    Opening(Opening),
    Open(Box<Opened>),
    Over,
}

/// A streamed answer. Dropping it cancels the provider's call and bills what was generated.
pub struct AnswerStream {
    /// The model that answers, as soon as one does.
    model: Option<ModelId>,
    decided: Decided,
    state: State,
    timeouts: Timeouts,
    /// When the whole request has to be over.
    deadline: Instant,
    /// Whether the server waits no longer.
    shutdown: ShutdownWatch,
    /// When the provider last said something, and the caller was last told something.
    heard: Instant,
    told: Instant,
    timer: Pin<Box<Sleep>>,
    events: Vec<StreamEvent>,
    /// What an event becomes on its way back.
    deltas: Vec<Delta>,
    /// What the filter had done when the headers were sent, and has done since.
    told_filter: FilterRecord,
    filter: FilterRecord,
}

impl AnswerStream {
    pub(crate) fn opened(
        opened: Opened,
        decided: Decided,
        timeouts: Timeouts,
        deadline: Instant,
        shutdown: ShutdownWatch,
    ) -> Self {
        let filter = opened.meter.filter_record();
        let bounds = (timeouts, deadline, shutdown);
        Self::new(State::Open(Box::new(opened)), decided, bounds, false, filter)
    }

    /// The provider has said nothing for the length of a keep-alive: the caller hears a comment
    /// first and the answer later.
    pub(crate) fn opening(
        opening: Opening,
        decided: Decided,
        bounds: (Timeouts, Instant, ShutdownWatch),
        filter: FilterRecord,
    ) -> Self {
        Self::new(State::Opening(opening), decided, bounds, true, filter)
    }

    /// The model that answers; `None` until one does.
    pub fn model(&self) -> Option<&ModelId> {
        self.model.as_ref()
    }

    /// What was decided before anybody was asked.
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// What the filter did with the request: all that is known before the answer.
    pub fn filter_so_far(&self) -> &FilterRecord {
        &self.told_filter
    }

    /// What the filter did with the request and the answer, if that is more than
    /// [`AnswerStream::filter_so_far`].
    pub fn filter_news(&self) -> Option<FilterRecord> {
        let now = match &self.state {
            State::Open(opened) => opened.meter.filter_record(),
            State::Opening(_) | State::Over => self.filter.clone(),
        };
        (now != self.told_filter).then_some(now)
    }

    fn new(
        state: State,
        decided: Decided,
        (timeouts, deadline, shutdown): (Timeouts, Instant, ShutdownWatch),
        overdue: bool,
        filter: FilterRecord,
    ) -> Self {
        let now = Instant::now();
        let told = if overdue { now.checked_sub(timeouts.keep_alive).unwrap_or(now) } else { now };
        let model = match &state {
            State::Open(opened) => Some(opened.candidate.model.id.clone()),
            State::Opening(_) | State::Over => None,
        };
        Self {
            model,
            decided,
            state,
            timeouts,
            deadline,
            shutdown,
            heard: now,
            told,
            timer: Box::pin(sleep_until(told + timeouts.keep_alive)),
            events: Vec::new(),
            deltas: Vec::new(),
            filter: filter.clone(),
            told_filter: filter,
        }
    }

    /// Appends what there is to tell to `pieces`. `Ready(false)` says that nothing will follow.
    ///
    /// Everything that has come is given out at once, so that a burst of events becomes one write.
    pub fn poll_pieces(&mut self, cx: &mut Context<'_>, pieces: &mut Vec<Piece>) -> Poll<bool> {
        let before = pieces.len();
        if self.shutdown.has_come() && !matches!(self.state, State::Over) {
            self.cut_off(pieces);
            return Poll::Ready(true);
        }
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(pieces.len() > before),
                State::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Ready(Ok(opened)) => {
                        self.heard = Instant::now();
                        self.model = Some(opened.candidate.model.id.clone());
                        self.state = State::Open(Box::new(opened));
                    }
                    Poll::Ready(Err(Unanswered { error, filter, .. })) => {
                        self.state = State::Over;
                        self.filter = filter.unwrap_or_else(|| self.told_filter.clone());
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
                        Poll::Pending => {
                            // A provider that sends pings and comments is alive.
                            if opened.stream.events.heard_something() {
                                self.heard = Instant::now();
                            }
                            return self.wait(cx, pieces, before, true);
                        }
                        Poll::Ready(Ok(more)) => {
                            self.heard = Instant::now();
                            if self.pass_on(pieces, more) {
                                return Poll::Ready(true);
                            }
                        }
                        Poll::Ready(Err(error)) => {
                            self.pass_on(pieces, true);
                            self.break_off(error.into(), pieces);
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
            match event {
                StreamEvent::Delta(mut delta) => {
                    let is_over = opened.cut.delta(&mut delta);
                    // What the model generated is metered, whatever the filter makes of it.
                    opened.meter.note(&delta);
                    if is_over {
                        opened.meter.cut();
                    }
                    if let Some(way_back) = opened.meter.way_back() {
                        way_back.delta(delta, &mut self.deltas);
                        if is_over {
                            for end in opened.cut.ends() {
                                way_back.delta(end, &mut self.deltas);
                            }
                        }
                    }
                    pieces.extend(self.deltas.drain(..).map(told));
                    if is_over {
                        complete = true;
                        break;
                    }
                }
                StreamEvent::Usage(usage) => {
                    opened.meter.usage(usage);
                    pieces.push(Piece::Event(StreamEvent::Usage(usage)));
                }
                StreamEvent::Start(head) => pieces.push(Piece::Event(StreamEvent::Start(head))),
                StreamEvent::End => {
                    complete = true;
                    break;
                }
            }
        }
        if complete {
            if let State::Open(mut opened) = std::mem::replace(&mut self.state, State::Over) {
                self.close(&mut opened, pieces);
                opened.candidate.provider.health.finished_stream();
                opened.call.answered(opened.meter.output_tokens());
                if let Some(receipt) = opened.meter.answered() {
                    pieces.push(Piece::Finished(Box::new(receipt)));
                }
            }
            return true;
        }
        if !more {
            // The body is over, and nothing said that the answer is: it was cut.
            let message = "the answer was cut off before its end".to_owned();
            self.break_off(own_failure(ProviderErrorKind::Connection, message), pieces);
            return true;
        }
        false
    }

    /// The answer is over, one way or the other: what was held back comes out, and what the filter
    /// did is written down.
    fn close(&mut self, opened: &mut Opened, pieces: &mut Vec<Piece>) {
        if let Some(way_back) = opened.meter.way_back() {
            way_back.finish(&mut self.deltas);
        }
        pieces.extend(self.deltas.drain(..).map(told));
        self.filter = opened.meter.filter_record();
    }

    fn break_off(&mut self, broken: CallFailure, pieces: &mut Vec<Piece>) {
        if let State::Open(mut opened) = std::mem::replace(&mut self.state, State::Over) {
            self.close(&mut opened, pieces);
            broken.log(&opened.candidate, &opened.meter);
            let error = broken.error;
            let now = opened.meter.now();
            opened.candidate.provider.health.broke_stream(error.kind, error.retry_after, now);
            if error.kind.is_the_providers() {
                opened.call.failed();
            } else {
                opened.call.forget();
            }
            let Unanswered { error, .. } =
                opened.meter.unanswered(failure(&opened.candidate, error));
            pieces.push(Piece::Failed(error));
        }
    }

    /// The server waits no longer. Nobody is to blame, and what was generated is billed.
    fn cut_off(&mut self, pieces: &mut Vec<Piece>) {
        if let State::Open(mut opened) = std::mem::replace(&mut self.state, State::Over) {
            self.close(&mut opened, pieces);
            opened.call.forget();
            opened.meter.finish(Outcome::Cancelled);
        }
        pieces.push(Piece::Failed(ChatError::ShuttingDown));
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
        if self.shutdown.poll(cx) {
            self.cut_off(pieces);
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

fn told(delta: Delta) -> Piece {
    Piece::Event(StreamEvent::Delta(delta))
}

fn over(what: &str, limit: Duration) -> CallFailure {
    own_failure(ProviderErrorKind::Timeout, format!("{what} {} s", limit.as_secs()))
}

fn own_failure(kind: ProviderErrorKind, message: String) -> CallFailure {
    CallFailure { error: own_error(kind, message), own_words: true, may_be_billed: true }
}

#[cfg(test)]
mod tests;
