//! The story of a chat request.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};
use sluice_core::organisation::Subject;
use sluice_storage::BilledBy;
use tokio::time::{Instant, timeout};

use crate::accounting::{Admitted, Meter, Receipt};
use crate::answer::{AnswerStream, Opened, Opening};
use crate::costs::Costs;
use crate::cut::Cut;
use crate::dispatch::{Answered, Dispatch};
use crate::eligible::Wanted;
use crate::error::{ChatError, Unanswered};
use crate::filtering::{self, Passed};
use crate::gateway::Gateway;
use crate::limits::{Allowance, Bound, LimitExceeded, Money, Permit, Slot};
use crate::own;
use crate::plan::{self, Asked, Candidate, Plan};
use crate::policy::{self, Around};
use crate::principal::Principal;
use crate::request::RequestContext;
use crate::route::OpenTurn;
use crate::snapshot::Timeouts;

/// An answer to a chat request.
pub enum Answer {
    /// All of it.
    Whole(Box<(ChatAnswer, Receipt)>),
    /// Piece by piece.
    Stream(Box<AnswerStream>),
}

/// A request that was admitted and has somewhere to go.
struct Journey {
    gateway: Arc<Gateway>,
    chat: ChatRequest,
    turn: Option<OpenTurn>,
    candidates: Vec<Candidate>,
    timeouts: Timeouts,
    deadline: Instant,
    meter: Meter,
}

impl Gateway {
    /// A place among the requests at once for a request of `principal` that arrived at `arrived_at`
    /// and whose body is still to be read, which may take `arrival`. Whoever has no place left need
    /// not be read.
    pub fn slot(
        &self,
        principal: &Principal,
        arrived_at: UnixMillis,
        arrival: Duration,
    ) -> Result<Slot, LimitExceeded> {
        let now = Moment { wall: arrived_at, steady: self.clock().steady() };
        let lapses = now.steady.plus(arrival + self.snapshot().timeouts.total + LEASE_MARGIN);
        let slot = principal.subjects.slot(now, lapses);
        slot.map_err(|exceeded| self.with_page(exceeded, principal))
    }

    /// Answers `chat` for `principal`, who holds `slot`.
    pub async fn chat(
        self: &Arc<Self>,
        principal: Arc<Principal>,
        slot: Slot,
        chat: ChatRequest,
        context: RequestContext,
    ) -> Result<Answer, Box<Unanswered>> {
        let journey = self.admit(principal, slot, chat, context).await?;
        let filter = journey.meter.filter_record();
        let answered = async {
            if journey.chat.stream { journey.stream().await } else { journey.whole().await }
        };
        let answered = tokio::select! {
            biased;
            answered = answered => answered,
            () = self.shutdown.wait() => {
                Err(Unanswered { filter: Some(filter), ..ChatError::ShuttingDown.into() })
            }
        };
        answered.map_err(Box::new)
    }

    /// Everything that is decided before a provider is asked.
    async fn admit(
        self: &Arc<Self>,
        principal: Arc<Principal>,
        slot: Slot,
        chat: ChatRequest,
        mut context: RequestContext,
    ) -> Result<Journey, Unanswered> {
        let snapshot = self.snapshot_for_long();
        let model = policy::resolve(&snapshot.catalog, &principal.attribution, &chat.model)?;
        let around = Around {
            suite: principal.suite,
            max_tokens: principal.key.max_tokens,
            catalog: &snapshot.catalog,
            attribution: &principal.attribution,
        };
        policy::may_use(&principal.ruling, &model, &around)?;
        let policy = policy::effective(&principal.ruling, &chat, &model)?;
        if policy.audit_enabled && !self.keeps_audits() {
            return Err(ChatError::AuditUnavailable.into());
        }
        let ratio = self.calibration.ratio(&model.answering.id);
        let estimate = ratio.estimate(&chat);
        let asked = Asked {
            snapshot: &snapshot,
            conversations: &self.conversations,
            principal: &principal,
            context: &context,
            wanted: Wanted {
                ruling: &principal.ruling,
                suite: principal.suite,
                model: &model,
                chat: &chat,
                policy,
                prompt_tokens: estimate.prompt_tokens,
            },
        };
        let Plan { mut candidates, record: route, turn } = asked.plan()?;
        // By the clock of this moment: a body may have taken long to arrive.
        let now = self.clock().moment();
        let (slot, session) = self.of_session(slot, &principal, (&chat, &context), now.steady);
        // Half a minute past the last timeout nobody can be at work on the request any more.
        let lapses = now.steady.plus(snapshot.timeouts.total + LEASE_MARGIN);
        let (money, bytes) = (slot.subjects().money(), chat.source.body_bytes);
        let costs = match money {
            Money::Unlimited => Costs::default(),
            money => {
                let left = slot.subjects().money_left(now);
                Costs::of(&chat, &mut candidates, &estimate, (money, left))?
            }
        };
        let max_tokens_lowered = candidates.first().and_then(Candidate::max_tokens_lowered);
        let permit = slot.admit(costs.spend(estimate.reserve), now, lapses);
        let permit = permit.map_err(|exceeded| self.with_page(exceeded, &principal))?;
        self.note_limits(&permit);
        if let Some(session) = session {
            let subjects = principal.of_sessions.iter().map(|(subject, _)| subject);
            self.principals.sessions.go_on(subjects, session, now.steady);
        }
        let deadline = Instant::from_std(context.arrived) + snapshot.timeouts.total;
        let filter = principal.filter.as_ref().unwrap_or(&snapshot.filter).clone();
        let account = &principal.account.id;
        let watch = context.watch.clone();
        filtering::filter_labels(&filter, &mut context, account, &policy);
        let admitted = Admitted {
            principal: principal.clone(),
            context,
            policy,
            permit,
            session,
            estimate,
            ratio,
            model_asked: chat.model.to_string(),
            stream: chat.stream,
            max_tokens_lowered,
            billed_by: billed_by(&candidates),
            content_bytes: if policy.audit_enabled {
                snapshot.rules.audit.content_bytes
            } else {
                0
            },
        };
        let mut meter = Meter::new(self.accounting.clone(), admitted);
        if let Some(route) = route {
            meter.routed(Arc::new(route));
        }
        let sealed = plan::taken_back(&candidates);
        let passed = match filtering::filter(filter, chat, account, policy, sealed).await {
            Ok(passed) => passed,
            Err(stopped) => return Err(meter.unanswered(*stopped)),
        };
        let Passed { chat, way_back } = passed;
        // A placeholder can be longer than what it stands for.
        if money == Money::Bound
            && chat.source.body_bytes > bytes
            && let Err(error) = meter.grown(&chat, &mut candidates, costs.most)
        {
            let error = match error {
                ChatError::Limited(exceeded) => self.with_page(*exceeded, &principal).into(),
                error => error,
            };
            return Err(meter.unanswered(error.into()));
        }
        if let Some(watch) = watch {
            watch.passed(&chat, way_back.map());
        }
        meter.passed(&chat, way_back);
        Ok(Journey {
            gateway: self.clone(),
            meter,
            chat,
            turn,
            candidates,
            timeouts: snapshot.timeouts,
            deadline,
        })
    }
}

impl Gateway {
    /// The request counts against what its session has to itself, too, where there is such a budget.
    fn of_session(
        &self,
        slot: Slot,
        principal: &Principal,
        (chat, context): (&ChatRequest, &RequestContext),
        now: SteadyMillis,
    ) -> (Slot, Option<u64>) {
        if principal.of_sessions.is_empty() {
            return (slot, None);
        }
        let session = self.conversations.session(principal, chat, context);
        let bound = |(subject, allowances): &(Subject, Arc<[Allowance]>)| Bound {
            subject: subject.clone(),
            ledger: self.principals.sessions.of(subject, session, now),
            allowances: allowances.clone(),
        };
        let bounds = principal.of_sessions.iter().map(bound).collect();
        (slot.of_session(bounds), Some(session))
    }

    /// What stands in the way, with the page that shows it: that of the budget, else the key's.
    fn with_page(&self, exceeded: LimitExceeded, principal: &Principal) -> LimitExceeded {
        let mut more = exceeded.more.as_deref().cloned().unwrap_or_default();
        let page = self.pages_url().map(|pages| match &more.budget {
            Some(budget) => format!("{pages}/budgets/{budget}"),
            None => format!("{pages}/keys/{}", principal.key.id),
        });
        // What somebody asks on a page has no key of its own to show.
        let has_page = more.budget.is_some() || own::key_name(principal.key.id.as_str()).is_none();
        more.page = page.filter(|_| has_page);
        LimitExceeded { more: Some(Box::new(more)), ..exceeded }
    }

    /// Notes what an admission leaves beside its reservation.
    fn note_limits(&self, permit: &Permit) {
        if permit.is_over_a_soft_limit() {
            self.metrics().over_soft_limits.inc();
        }
        for began in permit.five_hours_began() {
            // What cannot be written waits in memory, as with records.
            let _ = self.accounting.journal.append(&[began.into()]);
        }
    }

    /// Somebody has answered: the conversation stays there from now on.
    fn answered(&self, turn: Option<&OpenTurn>, candidate: &Candidate) {
        if let Some(turn) = turn {
            self.conversations.answered(turn, candidate, self.now());
        }
    }
}

/// Who is billed, where that is the same whoever answers.
fn billed_by(candidates: &[Candidate]) -> Option<BilledBy> {
    let of = |candidate: &Candidate| candidate.own.as_ref().map(|(_, billed_by)| *billed_by);
    let first = of(candidates.first()?)?;
    candidates.iter().all(|candidate| of(candidate) == Some(first)).then_some(first)
}

/// How long a reservation outlives the longest request.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

impl Journey {
    async fn whole(mut self) -> Result<Answer, Unanswered> {
        let dispatch = Dispatch {
            chat: &self.chat,
            candidates: &self.candidates,
            timeouts: self.timeouts,
            accounting: &self.gateway.accounting,
            deadline: self.deadline,
        };
        match dispatch.whole(&mut self.meter).await {
            Ok(Answered { candidate, mut answer, call, .. }) => {
                drop(call);
                self.gateway.answered(self.turn.as_ref(), candidate);
                // What the model generated is metered, whatever the filter makes of it.
                self.meter.note_whole(&answer);
                if let Some(way_back) = self.meter.way_back() {
                    way_back.whole(&mut answer);
                }
                let receipt = self.meter.answered().ok_or(ChatError::Internal)?;
                Ok(Answer::Whole(Box::new((answer, receipt))))
            }
            Err(failure) => Err(self.meter.unanswered(failure)),
        }
    }

    async fn stream(self) -> Result<Answer, Unanswered> {
        let (timeouts, deadline) = (self.timeouts, self.deadline);
        let decided = self.meter.decided();
        let filter = self.meter.filter_record();
        let shutdown = self.gateway.shutdown.watch();
        let mut opening: Opening = Box::pin(self.open());
        // As long as no comment has to be sent, an error can still be an HTTP status.
        let stream = match timeout(timeouts.keep_alive, &mut opening).await {
            Ok(opened) => {
                let opened = opened?;
                let decided = opened.meter.decided();
                AnswerStream::opened(opened, decided, timeouts, deadline, shutdown)
            }
            Err(_) => {
                AnswerStream::opening(opening, decided, (timeouts, deadline, shutdown), filter)
            }
        };
        Ok(Answer::Stream(Box::new(stream)))
    }

    async fn open(mut self) -> Result<Opened, Unanswered> {
        let dispatch = Dispatch {
            chat: &self.chat,
            candidates: &self.candidates,
            timeouts: self.timeouts,
            accounting: &self.gateway.accounting,
            deadline: self.deadline,
        };
        match dispatch.stream(&mut self.meter).await {
            Ok(Answered { candidate, answer, call, bounds }) => {
                self.gateway.answered(self.turn.as_ref(), candidate);
                let candidate = candidate.clone();
                let cut = Cut::new(&bounds);
                Ok(Opened { stream: answer, candidate, call, cut, meter: self.meter })
            }
            Err(failure) => Err(self.meter.unanswered(failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{House, NOW, TIMEOUTS, WHOLE, chat, context, says, script};

    use super::*;

    /// One moment says by which window it is judged, in which it counts and what its record says.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_arrives_after_midnight_counts_on_the_new_day() {
        let house = House::new(TIMEOUTS);
        house.expect(script([says(0, WHOLE)]));
        let yesterday = UnixMillis(NOW.0 - 24 * 60 * 60 * 1000);
        let slot = house.gateway.slot(&house.principal, yesterday, Duration::ZERO).unwrap();
        let context = RequestContext { arrived_at: yesterday, ..context() };
        let answer = house.gateway.chat(house.principal.clone(), slot, chat("Hello?"), context);
        assert!(matches!(answer.await, Ok(Answer::Whole(_))));
        // Today's tokens are those of the record.
        let record = house.record();
        assert_eq!(record.started_at, NOW);
        assert!(record.usage.total_tokens() > 0);
    }
}
