//! The story of a chat request.

use std::sync::Arc;

use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::ids::ModelId;
use sluice_core::outcome::Outcome;
use tokio::time::{Instant, timeout};

use crate::accounting::{Admitted, Meter, Receipt};
use crate::answer::{AnswerStream, Opened, Opening};
use crate::dispatch::{Dispatch, Failure};
use crate::error::{ChatError, Unanswered};
use crate::filtering::{self, Passed};
use crate::gateway::Gateway;
use crate::plan::{self, Candidate};
use crate::policy;
use crate::principal::Principal;
use crate::request::RequestContext;
use crate::snapshot::Timeouts;
use crate::way_back::WayBack;

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
    model: ModelId,
    candidates: Vec<Candidate>,
    timeouts: Timeouts,
    deadline: Instant,
    meter: Meter,
    way_back: WayBack,
}

impl Gateway {
    /// Answers `chat` for `principal`.
    pub async fn chat(
        self: &Arc<Self>,
        principal: Arc<Principal>,
        chat: ChatRequest,
        context: RequestContext,
    ) -> Result<Answer, Box<Unanswered>> {
        let journey = self.admit(principal, chat, context).await?;
        let filter = journey.way_back.record();
        let answered =
            if journey.chat.stream { journey.stream().await } else { journey.whole().await };
        answered.map_err(|error| Box::new(Unanswered { error, filter: Some(filter) }))
    }

    /// Everything that is decided before a provider is asked.
    async fn admit(
        self: &Arc<Self>,
        principal: Arc<Principal>,
        chat: ChatRequest,
        context: RequestContext,
    ) -> Result<Journey, Unanswered> {
        let snapshot = self.snapshot_for_long();
        let model = policy::resolve(&snapshot.catalog, &chat.model)?;
        policy::may_use(&principal, &model)?;
        let policy = policy::effective(&principal, &chat, &model, &snapshot.rules)?;
        let max_tokens = policy::max_tokens(&principal, &chat, &model.answering)?;
        let candidates = plan::candidates(
            &snapshot,
            &principal,
            &chat,
            &model.answering,
            &policy,
            max_tokens,
            context.arrived_at,
        )?;
        let ratio = self.calibration.ratio(&model.answering.id);
        let estimate = ratio.estimate(&chat);
        // Half a minute past the last timeout nobody can be at work on the request any more.
        let lapses = context.arrived_at.plus(snapshot.timeouts.total + LEASE_MARGIN);
        let permit = principal.subjects.admit(estimate.reserve, context.arrived_at, lapses)?;
        let deadline = Instant::from_std(context.arrived) + snapshot.timeouts.total;
        let admitted = Admitted {
            principal: principal.clone(),
            context,
            policy,
            permit,
            estimate,
            ratio,
            model_asked: chat.model.to_string(),
            stream: chat.stream,
        };
        let mut meter = Meter::new(self.accounting.clone(), admitted);
        let filter = snapshot.filter.clone();
        let passed = match filtering::filter(filter, chat, &principal.account.id, policy).await {
            Ok(passed) => passed,
            Err(stopped) => {
                meter.filtered(stopped.record.clone());
                meter.finish(Outcome::Blocked);
                let filter = Some(stopped.record);
                return Err(Unanswered { error: stopped.error, filter });
            }
        };
        let Passed { chat, way_back } = passed;
        meter.filtered(way_back.record());
        Ok(Journey {
            gateway: self.clone(),
            meter,
            way_back,
            chat,
            model: model.answering.id.clone(),
            candidates,
            timeouts: snapshot.timeouts,
            deadline,
        })
    }
}

/// How long a reservation outlives the longest request.
const LEASE_MARGIN: std::time::Duration = std::time::Duration::from_secs(30);

impl Journey {
    async fn whole(mut self) -> Result<Answer, ChatError> {
        let dispatch = Dispatch {
            chat: &self.chat,
            candidates: &self.candidates,
            timeouts: self.timeouts,
            accounting: &self.gateway.accounting,
            deadline: self.deadline,
        };
        match dispatch.whole(&mut self.meter).await {
            Ok(mut answer) => {
                // What the model generated is metered, whatever the filter makes of it.
                self.meter.note_whole(&answer);
                self.way_back.whole(&mut answer);
                self.meter.filtered(self.way_back.record());
                let receipt = self.meter.finish(self.way_back.outcome());
                let receipt = receipt.ok_or(ChatError::Internal)?;
                Ok(Answer::Whole(Box::new((answer, receipt))))
            }
            Err(failure) => Err(end(self.meter, failure, &self.way_back)),
        }
    }

    async fn stream(self) -> Result<Answer, ChatError> {
        let (timeouts, deadline) = (self.timeouts, self.deadline);
        // All candidates serve one model; which of them answers changes nothing for the caller.
        let model = self.model.clone();
        let filter = self.way_back.record();
        let mut opening: Opening = Box::pin(self.open());
        // As long as no comment has to be sent, an error can still be an HTTP status.
        let stream = match timeout(timeouts.keep_alive, &mut opening).await {
            Ok(opened) => AnswerStream::opened(model, opened?, timeouts, deadline),
            Err(_) => AnswerStream::opening(model, opening, timeouts, deadline, filter),
        };
        Ok(Answer::Stream(Box::new(stream)))
    }

    async fn open(mut self) -> Result<Opened, ChatError> {
        let dispatch = Dispatch {
            chat: &self.chat,
            candidates: &self.candidates,
            timeouts: self.timeouts,
            accounting: &self.gateway.accounting,
            deadline: self.deadline,
        };
        match dispatch.stream(&mut self.meter).await {
            Ok((candidate, stream)) => {
                let candidate = candidate.clone();
                Ok(Opened { stream, candidate, meter: self.meter, way_back: self.way_back })
            }
            Err(failure) => Err(end(self.meter, failure, &self.way_back)),
        }
    }
}

/// Writes a failed request down, unless nobody was asked.
fn end(meter: Meter, failure: Failure, way_back: &WayBack) -> ChatError {
    if failure.unsent {
        meter.discard();
    } else {
        meter.finish(failure.outcome);
    }
    failure.error.requoted(|text| way_back.quote(text))
}
