//! The way back of a streamed answer: the provider's events, metered, in time, and written down
//! before the last one leaves.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sluice_core::event::{Delta, StreamEvent};
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::ModelId;
use sluice_core::routing::RouteRecord;
use sluice_providers::error::{ProviderError, ProviderErrorKind};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::accounting::{Meter, Receipt};
use crate::call::TimedCall;
use crate::dispatch::{Failure, OpenStream, failure, read_error};
use crate::error::ChatError;
use crate::plan::Candidate;
use crate::snapshot::Timeouts;
use crate::way_back::WayBack;

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
    pub(crate) meter: Meter,
    pub(crate) way_back: WayBack,
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
    /// The model that answers, as soon as one does.
    model: Option<ModelId>,
    route: Option<Arc<RouteRecord>>,
    state: State,
    timeouts: Timeouts,
    /// When the whole request has to be over.
    deadline: Instant,
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
        route: Option<Arc<RouteRecord>>,
        timeouts: Timeouts,
        deadline: Instant,
    ) -> Self {
        let filter = opened.way_back.record();
        Self::new(State::Open(Box::new(opened)), route, timeouts, deadline, false, filter)
    }

    /// The provider has said nothing for the length of a keep-alive: the caller hears a comment
    /// first and the answer later.
    pub(crate) fn opening(
        opening: Opening,
        route: Option<Arc<RouteRecord>>,
        timeouts: Timeouts,
        deadline: Instant,
        filter: FilterRecord,
    ) -> Self {
        Self::new(State::Opening(opening), route, timeouts, deadline, true, filter)
    }

    /// The model that answers; `None` until one does.
    pub fn model(&self) -> Option<&ModelId> {
        self.model.as_ref()
    }

    /// What a router decided; `None` where a model was asked.
    pub fn route(&self) -> Option<&Arc<RouteRecord>> {
        self.route.as_ref()
    }

    /// What the filter did with the request: all that is known before the answer.
    pub fn filter_so_far(&self) -> &FilterRecord {
        &self.told_filter
    }

    /// What the filter did with the request and the answer, if that is more than
    /// [`AnswerStream::filter_so_far`].
    pub fn filter_news(&self) -> Option<FilterRecord> {
        let now = match &self.state {
            State::Open(opened) => opened.way_back.record(),
            State::Opening(_) | State::Over => self.filter.clone(),
        };
        (now != self.told_filter).then_some(now)
    }

    fn new(
        state: State,
        route: Option<Arc<RouteRecord>>,
        timeouts: Timeouts,
        deadline: Instant,
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
            route,
            state,
            timeouts,
            deadline,
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
        loop {
            match &mut self.state {
                State::Over => return Poll::Ready(pieces.len() > before),
                State::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Ready(Ok(opened)) => {
                        self.heard = Instant::now();
                        self.model = Some(opened.candidate.model.id.clone());
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
            match event {
                StreamEvent::Delta(delta) => {
                    // What the model generated is metered, whatever the filter makes of it.
                    opened.meter.note(&delta);
                    opened.way_back.delta(delta, &mut self.deltas);
                    pieces.extend(self.deltas.drain(..).map(told));
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
                opened.call.answered(opened.meter.output_tokens());
                if let Some(receipt) = opened.meter.finish(opened.way_back.outcome()) {
                    pieces.push(Piece::Finished(Box::new(receipt)));
                }
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

    /// The answer is over, one way or the other: what was held back comes out, and what the filter
    /// did is written down.
    fn close(&mut self, opened: &mut Opened, pieces: &mut Vec<Piece>) {
        opened.way_back.finish(&mut self.deltas);
        pieces.extend(self.deltas.drain(..).map(told));
        self.filter = opened.way_back.record();
        opened.meter.filtered(self.filter.clone());
    }

    fn break_off(&mut self, error: ProviderError, pieces: &mut Vec<Piece>) {
        if let State::Open(mut opened) = std::mem::replace(&mut self.state, State::Over) {
            self.close(&mut opened, pieces);
            let now = opened.meter.now();
            opened.candidate.provider.health.failed(error.kind, error.retry_after, now);
            if error.kind.is_the_providers() {
                opened.call.failed();
            } else {
                opened.call.forget();
            }
            let Failure { error, outcome, .. } = failure(&opened.candidate, error);
            opened.meter.finish(outcome);
            let error = error.requoted(|text| opened.way_back.quote(text));
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

impl Drop for AnswerStream {
    /// The caller hung up: what the filter did until then is written down with the rest.
    fn drop(&mut self) {
        if let State::Open(opened) = &mut self.state {
            opened.meter.filtered(opened.way_back.record());
        }
    }
}

fn told(delta: Delta) -> Piece {
    Piece::Event(StreamEvent::Delta(delta))
}

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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use sluice_core::outcome::Outcome;
    use sluice_core::usage::UsageSource;

    use super::*;
    use crate::chat::Answer;
    use crate::testing::{
        DONE, HELLO, House, NOW, Script, Step, TIMEOUTS, says, script, seconds, streamed,
    };

    /// What the caller is told, each with the second at which it is.
    async fn told(house: &House) -> Vec<(u64, String)> {
        let began = Instant::now();
        let Answer::Stream(mut stream) = house.ask(streamed()).await.unwrap() else {
            panic!("a stream was asked for")
        };
        let mut told = Vec::new();
        let mut pieces = Vec::new();
        while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {
            for piece in pieces.drain(..) {
                let text = match piece {
                    Piece::Event(StreamEvent::Delta(delta)) => match delta.content {
                        Some(content) => content.decode().into_owned(),
                        None => "finish reason".to_owned(),
                    },
                    Piece::Event(_) => continue,
                    Piece::KeepAlive => "comment".to_owned(),
                    Piece::Finished(receipt) => format!("{} tokens", receipt.usage.total_tokens()),
                    Piece::Failed(error) => error.to_string(),
                };
                told.push((began.elapsed().as_secs(), text));
            }
        }
        // Asked again, it has nothing to say.
        assert!(!poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await);
        assert!(pieces.is_empty());
        told
    }

    fn expected(told: &[(u64, &str)]) -> Vec<(u64, String)> {
        told.iter().map(|(at, text)| (*at, (*text).to_owned())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_stream_is_told_and_written_down_once() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(1, HELLO), says(1, DONE)]));
        assert_eq!(
            told(&house).await,
            expected(&[(1, "Hello"), (2, "finish reason"), (2, "10 tokens")])
        );
        let record = house.record();
        assert_eq!(record.outcome, Outcome::Completed);
        assert_eq!(record.usage_source, UsageSource::Measured);
        assert_eq!(record.usage.total_tokens(), 10);
        assert_eq!(record.cost.unwrap().to_string(), "0.000019");
        assert_eq!(record.attempts, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_is_slow_to_begin_is_waited_for_with_comments() {
        let house = House::new(TIMEOUTS);
        house.expect(Script { head: seconds(40), ..script([says(0, HELLO), says(0, DONE)]) });
        assert_eq!(
            told(&house).await,
            expected(&[
                (15, "comment"),
                (30, "comment"),
                (40, "Hello"),
                (40, "finish reason"),
                (40, "10 tokens")
            ])
        );
        assert_eq!(house.record().outcome, Outcome::Completed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_pauses_is_waited_for_with_comments() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, HELLO), says(19, HELLO), says(19, DONE)]));
        assert_eq!(
            told(&house).await,
            expected(&[
                (0, "Hello"),
                (15, "comment"),
                (19, "Hello"),
                (34, "comment"),
                (38, "finish reason"),
                (38, "10 tokens")
            ])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn silence_in_the_middle_is_given_up_on() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, HELLO), Step::Hangs]));
        let given_up = "provider `first`: the provider said nothing for 20 s";
        assert_eq!(told(&house).await, expected(&[(0, "Hello"), (15, "comment"), (20, given_up)]));
        let record = house.record();
        assert_eq!(record.outcome, Outcome::UpstreamTimeout);
        assert_eq!(record.usage_source, UsageSource::Estimated);
        assert!(record.usage.output > 0, "what was generated is billed");
    }

    /// The timeouts count when they are shorter than the time between comments, too.
    #[tokio::test(start_paused = true)]
    async fn short_timeouts_are_kept_to_the_second() {
        let house = House::new(Timeouts { idle: seconds(5), ..TIMEOUTS });
        house.expect(script([says(0, HELLO), Step::Hangs]));
        let given_up = "provider `first`: the provider said nothing for 5 s";
        assert_eq!(told(&house).await, expected(&[(0, "Hello"), (5, given_up)]));

        let house = House::new(Timeouts { total: seconds(8), ..TIMEOUTS });
        house.expect(script([says(0, HELLO), Step::Hangs]));
        let given_up = "provider `first`: the answer took longer than 8 s";
        assert_eq!(told(&house).await, expected(&[(0, "Hello"), (8, given_up)]));

        // And after the first comment, when the answer has only just begun.
        let house = House::new(Timeouts { idle: seconds(2), ..TIMEOUTS });
        house.expect(Script { head: seconds(16), ..script([says(0, HELLO), Step::Hangs]) });
        let given_up = "provider `first`: the provider said nothing for 2 s";
        assert_eq!(told(&house).await, expected(&[(15, "comment"), (16, "Hello"), (18, given_up)]));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_without_end_is_given_up_on() {
        let house = House::new(TIMEOUTS);
        house.expect(script(vec![says(11, HELLO); 20]));
        let told = told(&house).await;
        assert_eq!(told.len(), 11);
        assert_eq!(
            told.last().unwrap(),
            &(120, "provider `first`: the answer took longer than 120 s".to_owned())
        );
        assert_eq!(house.record().outcome, Outcome::UpstreamTimeout);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cut_answer_is_never_a_finished_one() {
        for (rest, problem) in [
            (vec![], "provider `first`: the answer was cut off before its end"),
            (vec![Step::Breaks(seconds(1))], "provider `first`: connection lost: reset"),
            (vec![says(1, "data: {\"error\":\"m\"}\n\n")], "provider `first`: m"),
        ] {
            let house = House::new(TIMEOUTS);
            let mut steps = vec![says(0, HELLO)];
            steps.extend(rest);
            house.expect(script(steps));
            let told = told(&house).await;
            assert_eq!(told.len(), 2, "{told:?}");
            assert_eq!(told[1].1, problem);
            assert_eq!(house.record().outcome, Outcome::UpstreamError);
            assert_eq!(house.calls(), (1, 0), "nobody else can continue what has begun");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_never_begins_is_a_timeout() {
        let house = House::new(Timeouts { first_token: seconds(10), ..TIMEOUTS });
        // Both hang; the second is asked after the first, and a comment tells that somebody works.
        assert_eq!(
            told(&house).await,
            expected(&[
                (15, "comment"),
                (20, "provider `second`: the provider did not begin to answer in time")
            ])
        );
        let record = house.record();
        assert_eq!((record.outcome, record.attempts), (Outcome::UpstreamTimeout, 2));
        assert_eq!(record.usage.total_tokens(), 0, "nothing was generated, nothing is billed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_hangs_up_is_billed_for_what_came_once() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, HELLO), Step::Hangs]));
        let Answer::Stream(mut stream) = house.ask(streamed()).await.unwrap() else { panic!() };
        let mut pieces = Vec::new();
        assert!(poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await);
        assert_eq!(house.principal.subjects.key.in_flight(NOW), 1);
        assert!(house.entries().is_empty());
        drop(stream);
        let record = house.record();
        assert_eq!(record.outcome, Outcome::Cancelled);
        assert_eq!(record.usage_source, UsageSource::Estimated);
        assert!(record.usage.output > 0 && record.usage.uncached_input > 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_hangs_up_before_the_first_token_is_written_down_once() {
        let house = House::new(TIMEOUTS);
        // After the first comment …
        let Answer::Stream(stream) = house.ask(streamed()).await.unwrap() else { panic!() };
        drop(stream);
        assert_eq!(house.record().outcome, Outcome::Cancelled);
        // … and before it.
        let house = House::new(TIMEOUTS);
        let asking = tokio::time::timeout(seconds(1), house.ask(streamed())).await;
        assert!(asking.is_err());
        assert_eq!(house.record().outcome, Outcome::Cancelled);
    }

    #[tokio::test(start_paused = true)]
    async fn a_finished_answer_that_is_dropped_is_no_cancelled_one() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, &format!("{HELLO}{DONE}")), Step::Hangs]));
        assert_eq!(told(&house).await.len(), 3);
        assert_eq!(house.record().outcome, Outcome::Completed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_told_in_order_and_in_portions() {
        let house = House::new(TIMEOUTS);
        let burst = |from: usize| -> String {
            let delta =
                |i| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{i}\"}}}}]}}\n\n");
            (from..from + 100).map(delta).collect()
        };
        let mut steps: Vec<Step> = (0..10).map(|i| says(0, &burst(i * 100))).collect();
        steps.push(says(0, DONE));
        house.expect(script(steps));
        let told = told(&house).await;
        let numbers: Vec<String> = told.into_iter().map(|(_, text)| text).take(1_000).collect();
        assert_eq!(numbers, (0..1_000).map(|i| i.to_string()).collect::<Vec<_>>());
    }
}
