//! What a request used and cost: metered while it runs, written down once when it ends.
//!
//! A [`Meter`] lives as long as its request. Finishing it or dropping it (the caller hung up)
//! writes one journal entry, settles the limits and counts the metrics, exactly once.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::clock::{Clock, UnixMillis};
use sluice_core::event::Delta;
use sluice_core::filtering::FilterRecord;
use sluice_core::ids::{ModelId, RequestId};
use sluice_core::json::JsonText;
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::policy::EffectivePolicy;
use sluice_core::region::Region;
use sluice_core::routing::RouteRecord;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{Assumed, BilledBy, ContentSealer, Journal};

use crate::bounds::Bounds;
use crate::capture::Capture;
use crate::costs;
use crate::error::Unanswered;
use crate::estimate::{COUNTED_BYTES, Estimate, Ratio, count_tokens};
use crate::limits::{Money, Permit, Spend};
use crate::live::Live;
use crate::metrics::{Ended, Metrics};
use crate::plan::Candidate;
use crate::principal::Principal;
use crate::request::{RequestContext, fresh_id};
use crate::way_back::WayBack;

mod reserved;
mod written;

use written::Facts;

/// Where a request's end is written down.
pub struct Accounting {
    /// What outlives a crash.
    pub journal: Arc<Journal>,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
    /// The metrics that Prometheus scrapes.
    pub metrics: Arc<Metrics>,
    /// Who watches requests end.
    pub live: Live,
    /// What seals the content that is kept beside audit entries.
    pub contents: ContentSealer,
}

/// What the caller is told of a finished request.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The model that answered.
    pub model: ModelId,
    /// What it used.
    pub usage: Usage,
    /// What it cost; `None` where the price is unknown.
    pub cost: Option<PicoUsd>,
    /// What held for the request.
    pub policy: EffectivePolicy,
    /// Where it was processed; `None` where the provider's region is not configured.
    pub region: Option<Region>,
    /// The audit entry; empty where there is none.
    pub audit_id: String,
    /// What the filter did with the request and its answer.
    pub filter: FilterRecord,
    /// What was decided before anybody was asked.
    pub decided: Decided,
}

/// What is decided before anybody is asked, as the caller is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    /// What a router decided; `None` where a model was asked.
    pub route: Option<Arc<RouteRecord>>,
    /// The bound on generated tokens, where a budget or a policy lowered it.
    pub max_tokens_lowered: Option<u32>,
    /// Who is billed by the provider, where there is a provider key beside the deployment's and it is
    /// known.
    pub billed_by: Option<BilledBy>,
}

/// What is known of a request when it is admitted.
pub struct Admitted {
    /// Who asks.
    pub principal: Arc<Principal>,
    /// What is known beside the body.
    pub context: RequestContext,
    /// What holds for the request.
    pub policy: EffectivePolicy,
    /// What it may use.
    pub permit: Permit,
    /// Its session, where it counts against a budget of each session.
    pub session: Option<u64>,
    /// What it will probably use.
    pub estimate: Estimate,
    /// What learns from what it really used.
    pub ratio: Arc<Ratio>,
    /// The model that was asked for.
    pub model_asked: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// The bound on generated tokens at the first that is asked, where a budget or a policy lowered it.
    pub max_tokens_lowered: Option<u32>,
    /// Who is billed, whoever answers: see [`Decided::billed_by`].
    pub billed_by: Option<BilledBy>,
    /// How many bytes of redacted content are kept beside the audit entry; 0: none.
    pub content_bytes: usize,
}

/// Meters one request.
pub struct Meter(Option<Box<Running>>);

struct Running {
    accounting: Arc<Accounting>,
    admitted: Admitted,
    audit_id: Option<String>,
    attempts: u32,
    /// Whom the request was sent to last, and whether that attempt is still open.
    served: Option<Served>,
    usage: Option<Usage>,
    /// The most that the last attempt can have come to.
    bounds: Option<Bounds>,
    /// Whether the answer was ended here, at its bound on tokens.
    was_cut: bool,
    time_to_first_token: Option<Duration>,
    /// The answer's text so far, for counting it when nobody else does. Held in memory only.
    text: String,
    text_bytes: usize,
    /// Whether thoughts are a part of that text.
    has_thoughts: bool,
    filtering: Filtering,
    route: Option<Arc<RouteRecord>>,
    /// What is kept beside the audit entry.
    capture: Option<Box<Capture>>,
    /// What limits count of calls of which nobody said what they came to.
    assumed: Assumed,
}

/// What the filter did so far, and what does the rest.
enum Filtering {
    /// There is no way back yet, or there will be none.
    Done(FilterRecord),
    /// The answer goes this way.
    Under(Box<WayBack>),
}

struct Served {
    candidate: Candidate,
    waiting: bool,
}

impl Meter {
    /// Begins to meter an admitted request.
    pub fn new(accounting: Arc<Accounting>, admitted: Admitted) -> Self {
        accounting.metrics.admitted.inc();
        accounting.metrics.in_flight.inc();
        let audit_id = admitted.policy.audit.then(|| fresh_id("aud_", admitted.context.arrived_at));
        let is_kept = admitted.content_bytes > 0 && !admitted.policy.retention.is_zero();
        let capture = is_kept.then(|| Box::new(Capture::new(admitted.content_bytes)));
        Self(Some(Box::new(Running {
            accounting,
            admitted,
            audit_id,
            attempts: 0,
            served: None,
            usage: None,
            bounds: None,
            was_cut: false,
            time_to_first_token: None,
            text: String::new(),
            text_bytes: 0,
            has_thoughts: false,
            filtering: Filtering::Done(FilterRecord::default()),
            route: None,
            capture,
            assumed: Assumed::default(),
        })))
    }

    /// The request is about to be sent to `candidate`, where it can come to `bounds`.
    pub(crate) fn attempt(&mut self, candidate: &Candidate, bounds: Bounds) {
        if let Some(running) = &mut self.0 {
            running.attempts = running.attempts.saturating_add(1);
            running.bounds = Some(bounds);
            running.served = Some(Served { candidate: candidate.clone(), waiting: true });
        }
    }

    /// The attempt failed before anything was heard of an answer. Where nobody said that it failed,
    /// its provider may have generated one, and bill it: see [`Running::lost_call`].
    pub(crate) fn attempt_failed(&mut self, may_be_billed: bool) {
        let Some(running) = &mut self.0 else { return };
        if may_be_billed {
            running.assumed = running.assumed.plus(running.lost_call());
        }
        if let Some(served) = &mut running.served {
            served.waiting = false;
        }
    }

    /// The answer said something.
    pub fn note(&mut self, delta: &Delta) {
        let Some(running) = &mut self.0 else { return };
        if !delta.says_something() {
            return;
        }
        if running.time_to_first_token.is_none() {
            running.time_to_first_token = Some(running.admitted.context.arrived.elapsed());
        }
        if let Some(capture) = &mut running.capture {
            capture.delta(delta);
        }
        running.has_thoughts |= delta.reasoning.is_some();
        for text in [&delta.content, &delta.reasoning, &delta.refusal].into_iter().flatten() {
            running.note_text(text);
        }
        for call in &delta.tool_calls {
            for text in [&call.name, &call.arguments].into_iter().flatten() {
                running.note_text(text);
            }
        }
    }

    /// The whole answer is there.
    pub fn note_whole(&mut self, answer: &ChatAnswer) {
        let Some(running) = &mut self.0 else { return };
        running.usage = answer.usage;
        if let Some(capture) = &mut running.capture {
            capture.whole(answer);
        }
        let is_believed =
            |usage| running.bounds.is_none_or(|bounds| bounds.answer_is_possible(usage));
        if answer.usage.as_ref().is_some_and(is_believed) && !running.was_cut {
            return;
        }
        for message in answer.choices.iter().map(|choice| &choice.message) {
            running.has_thoughts |= message.reasoning.is_some();
            let texts = [&message.content, &message.reasoning, &message.refusal];
            for text in texts.into_iter().flatten() {
                running.note_text(text);
            }
            for call in &message.tool_calls {
                running.note_text(&call.name);
                running.note_text(&call.arguments);
            }
        }
    }

    /// Which deployment a router chose, and why.
    pub fn routed(&mut self, route: Arc<RouteRecord>) {
        if let Some(running) = &mut self.0 {
            running.route = Some(route);
        }
    }

    /// Tokens of the prompt, estimated.
    #[expect(clippy::cast_precision_loss, reason = "an estimate of some thousand tokens")]
    pub(crate) fn prompt_tokens(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |running| running.admitted.estimate.prompt_tokens as f64)
    }

    /// Tokens that were generated so far: the provider's count, else a rough one.
    pub(crate) fn output_tokens(&self) -> u64 {
        const BYTES_A_TOKEN: u64 = 4;
        let Some(running) = &self.0 else { return 0 };
        match &running.usage {
            Some(usage) if usage.completion_tokens() > 0 => {
                let most = running.bounds.map(|bounds| bounds.answer());
                usage.completion_tokens().min(most.unwrap_or(u64::MAX))
            }
            _ => running.text_bytes as u64 / BYTES_A_TOKEN,
        }
    }

    /// What was decided before anybody was asked.
    pub(crate) fn decided(&self) -> Decided {
        self.0.as_ref().map(|running| running.decided()).unwrap_or_default()
    }

    /// The request has passed the filter as `chat`: its answer goes this way back.
    pub(crate) fn passed(&mut self, chat: &ChatRequest, way_back: WayBack) {
        if let Some(running) = &mut self.0 {
            if let Some(capture) = &mut running.capture {
                capture.request(chat);
            }
            running.filtering = Filtering::Under(Box::new(way_back));
        }
    }

    /// The way back; `None` where the request has not passed the filter.
    pub(crate) fn way_back(&mut self) -> Option<&mut WayBack> {
        match &mut self.0.as_mut()?.filtering {
            Filtering::Under(way_back) => Some(way_back),
            Filtering::Done(_) => None,
        }
    }

    /// What the filter has done so far.
    pub(crate) fn filter_record(&self) -> FilterRecord {
        self.0.as_ref().map(|running| running.filtering.record()).unwrap_or_default()
    }

    /// The provider counted. A later figure replaces an earlier one.
    pub fn usage(&mut self, usage: Usage) {
        if let Some(running) = &mut self.0 {
            running.usage = Some(usage);
        }
    }

    /// The answer went past its bound on tokens and was ended here.
    pub(crate) fn cut(&mut self) {
        if let Some(running) = &mut self.0 {
            running.was_cut = true;
            tracing::warn!(
                request_id = running.log_id().map(tracing::field::display),
                model = running.served.as_ref().map(|s| s.candidate.model.id.as_str()),
                provider = running.served.as_ref().map(|s| s.candidate.target.endpoint.id.as_str()),
                "the answer went past its bound on tokens and was cut"
            );
        }
    }

    /// The request's id as far as a log may tell it.
    pub(crate) fn log_id(&self) -> Option<&RequestId> {
        self.0.as_ref()?.log_id()
    }

    /// The current time.
    pub(crate) fn now(&self) -> UnixMillis {
        self.0.as_ref().map(|running| running.accounting.clock.now()).unwrap_or_default()
    }

    /// The request never was sent: it leaves no record and counts against no limit.
    pub fn discard(mut self) {
        if let Some(running) = self.0.take() {
            running.accounting.metrics.in_flight.dec();
            running.admitted.permit.cancel();
        }
    }

    /// Writes down that the request was answered to its end. See [`Meter::finish`].
    pub(crate) fn answered(mut self) -> Option<Receipt> {
        let outcome = self.way_back().map_or(Outcome::Completed, |way_back| way_back.outcome());
        self.finish(outcome)
    }

    /// Writes down that the request gets no answer, unless nobody was asked; returns what the caller
    /// is told, with the caller's own values in what it quotes of a provider.
    pub(crate) fn unanswered(mut self, why: Unanswered) -> Unanswered {
        if let (Some(running), Some(filter)) = (&mut self.0, &why.filter) {
            running.filtering = Filtering::Done(filter.clone());
        }
        let filter = Some(self.filter_record());
        let error = match self.way_back() {
            Some(way_back) => why.error.requoted(|text| way_back.quote(text)),
            None => why.error,
        };
        match why.outcome {
            Some(outcome) => drop(self.finish(outcome)),
            None => self.discard(),
        }
        Unanswered { error, outcome: why.outcome, filter }
    }

    /// Writes down how the request ended. `None` only where it was never sent to anybody.
    pub fn finish(mut self, outcome: Outcome) -> Option<Receipt> {
        self.0.take().and_then(|running| running.finish(outcome))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.finish(Outcome::Cancelled);
        }
    }
}

impl Filtering {
    fn record(&self) -> FilterRecord {
        match self {
            Self::Done(record) => record.clone(),
            Self::Under(way_back) => way_back.record(),
        }
    }
}

impl Running {
    fn decided(&self) -> Decided {
        let served = self.served.as_ref().map(|served| &served.candidate);
        let max_tokens_lowered = match served {
            Some(candidate) => candidate.max_tokens_lowered(),
            None => self.admitted.max_tokens_lowered,
        };
        let billed_by = match served {
            Some(candidate) => candidate.own.as_ref().map(|(_, billed_by)| *billed_by),
            None => self.admitted.billed_by,
        };
        Decided { route: self.route.clone(), max_tokens_lowered, billed_by }
    }

    fn note_text(&mut self, text: &JsonText) {
        self.text_bytes = self.text_bytes.saturating_add(text.size());
        if self.text.len() < COUNTED_BYTES {
            self.text.push_str(&text.decode());
        }
    }

    /// The request's id, unless the request may leave no trace.
    fn log_id(&self) -> Option<&RequestId> {
        let is_told = !self.admitted.policy.retention.is_zero();
        is_told.then_some(&self.admitted.context.id)
    }

    /// Tokens of the answer's text, counted here.
    fn generated(&self) -> u64 {
        let counted = count_tokens(&self.text, self.text_bytes.max(self.text.len()));
        match &self.bounds {
            None => counted,
            Some(bounds) if self.has_thoughts => counted.min(bounds.answer()),
            Some(bounds) => counted.min(bounds.output),
        }
    }

    /// The provider's count, as far as it is possible.
    fn believed(&self, claimed: Usage) -> (Usage, bool) {
        let Some(bounds) = &self.bounds else { return (claimed, true) };
        let own_prompt = self.admitted.estimate.prompt_tokens;
        let (usage, is_possible) = bounds.believe(claimed, own_prompt, || self.generated());
        if !is_possible {
            let provider =
                self.served.as_ref().map_or("none", |s| s.candidate.target.endpoint.id.as_str());
            self.accounting.metrics.disbelieved(provider);
            tracing::warn!(
                request_id = self.log_id().map(tracing::field::display),
                provider,
                model = self.served.as_ref().map(|s| s.candidate.model.id.as_str()),
                "the provider's count of tokens cannot be true; Sluice's own takes its place"
            );
        }
        (usage, is_possible)
    }

    /// The tokens of the request, and whether somebody else than Sluice counted them.
    fn settle_usage(&self, outcome: Outcome) -> (Usage, UsageSource) {
        let generated = || self.generated();
        let is_whole = matches!(outcome, Outcome::Completed | Outcome::Blocked) && !self.was_cut;
        match self.usage.map(|claimed| self.believed(claimed)) {
            Some((usage, true)) if is_whole => (usage, UsageSource::Measured),
            Some((usage, false)) if is_whole => (usage, UsageSource::Estimated),
            // Some providers count the prompt first; what was generated then has to be counted.
            Some((usage, _)) => {
                let output = usage.output.max(generated().saturating_sub(usage.reasoning));
                (Usage { output, ..usage }, UsageSource::Estimated)
            }
            None => {
                let waiting = self.served.as_ref().is_some_and(|served| served.waiting);
                let began = outcome == Outcome::Completed
                    || !self.text.is_empty()
                    || (outcome == Outcome::Cancelled && waiting);
                let usage = if began {
                    Usage {
                        uncached_input: self.admitted.estimate.prompt_tokens,
                        output: generated(),
                        ..Usage::default()
                    }
                } else {
                    Usage::default()
                };
                (usage, UsageSource::Estimated)
            }
        }
    }

    /// What limits count of the last call, which was sent and not answered: its prompt, and under a
    /// limit of money that must not be exceeded the most that it can have cost. The reservation has
    /// room for both.
    fn lost_call(&self) -> Assumed {
        let Some(Served { candidate, .. }) = &self.served else { return Assumed::default() };
        let tokens = self.admitted.estimate.prompt_tokens;
        let cost = match &self.bounds {
            Some(bounds) if self.admitted.permit.money() == Money::Bound => {
                costs::most(candidate, bounds)
            }
            _ => costs::cost(candidate, &Usage { uncached_input: tokens, ..Usage::default() }),
        };
        Assumed { tokens, cost }
    }

    /// The caller of a whole answer has left before it was there. Its provider does not notice, and
    /// bills all of it: beside the prompt, which is recorded, limits count the rest of what it can
    /// have cost.
    fn assume_what_is_left(&mut self, outcome: Outcome, counted: PicoUsd) {
        let is_waiting = self.served.as_ref().is_some_and(|served| served.waiting);
        if outcome == Outcome::Cancelled
            && is_waiting
            && !self.admitted.stream
            && self.admitted.permit.money() == Money::Bound
        {
            let cost = self.lost_call().cost.minus(counted);
            self.assumed = self.assumed.plus(Assumed { tokens: 0, cost });
        }
    }

    /// The strictest level promises that a failure of the filter is in the audit trail, also where
    /// nothing else would leave an entry.
    fn audit_failure(&mut self, filter: &FilterRecord) {
        let policy = &self.admitted.policy;
        if policy.level == SecurityLevel::Maximum && filter.has_failed() {
            let at = self.admitted.context.arrived_at;
            self.audit_id.get_or_insert_with(|| fresh_id("aud_", at));
        }
    }

    fn finish(mut self, outcome: Outcome) -> Option<Receipt> {
        let filter = self.filtering.record();
        self.audit_failure(&filter);
        let accounting = self.accounting.clone();
        let now = accounting.clock.now();
        let (usage, usage_source) = self.settle_usage(outcome);
        if usage_source == UsageSource::Measured {
            self.admitted.ratio.learn(&self.admitted.estimate, usage.prompt_tokens());
        }
        let candidate = self.served.as_ref().map(|served| &served.candidate);
        let price = candidate.and_then(|candidate| candidate.model.price.as_ref());
        let cost = price.map(|price| price.cost(&usage));
        let counted = candidate.map_or(PicoUsd(0), |candidate| costs::cost(candidate, &usage));
        // Without a price, only the fallback's makes it count.
        let (known, assumed) =
            if price.is_some() { (counted, PicoUsd(0)) } else { (PicoUsd(0), counted) };
        self.assumed = self.assumed.plus(Assumed { tokens: 0, cost: assumed });
        self.assume_what_is_left(outcome, counted);
        let candidate = self.served.as_ref().map(|served| &served.candidate);
        let duration = self.admitted.context.arrived.elapsed();
        accounting.metrics.ended(&Ended {
            model: candidate.map_or("none", |candidate| candidate.model.id.as_str()),
            provider: candidate.map_or("none", |c| c.target.endpoint.id.as_str()),
            outcome,
            usage,
            cost,
            duration,
            time_to_first_token: self.time_to_first_token,
            filter: &filter,
            // What it asks for is made from content.
            route: self.route.as_deref().filter(|_| !self.admitted.policy.retention.is_zero()),
        });
        accounting.metrics.in_flight.dec();
        let facts = Facts { outcome, usage, usage_source, cost, duration, filter };
        if let Some(watch) = &self.admitted.context.watch {
            let is_kept = !self.admitted.policy.retention.is_zero();
            watch.ended(self.record(&facts), is_kept);
        }
        let capture = self.capture.take();
        self.write_down(&facts, capture.and_then(|it| it.finish()));
        let receipt = candidate.map(|candidate| Receipt {
            model: candidate.model.id.clone(),
            usage,
            cost,
            policy: self.admitted.policy,
            region: candidate.region,
            audit_id: self.audit_id.clone().unwrap_or_default(),
            filter: facts.filter,
            decided: self.decided(),
        });
        let Assumed { tokens, cost } = self.assumed;
        let (tokens, cost) = (usage.total_tokens().saturating_add(tokens), known.plus(cost));
        let spent = Spend { tokens, cost, most: cost };
        self.admitted.permit.settle(spent, now);
        receipt
    }
}
