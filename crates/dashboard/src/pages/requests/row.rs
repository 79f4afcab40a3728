//! One request as a row: of the list, of the live tail, and of whatever else lists requests.

use askama::Template;
use askama::filters::HtmlSafe;
use sluice_core::outcome::Outcome;
use sluice_gateway::own;
use sluice_gateway::{SeenRecord, UsageRecord};

use crate::components::{Badge, Cost, Moment, Query, Span, State, Text, Tokens};
use crate::format::Calendar;
use crate::sample::{self, Names};

/// One request in a line.
#[derive(Template)]
#[template(path = "pages/requests/row.html")]
pub(crate) struct RequestRow {
    pub(crate) id: String,
    pub(crate) at: Moment,
    pub(crate) key: Text,
    pub(crate) key_id: String,
    pub(crate) app: Option<Text>,
    pub(crate) asked: Text,
    /// The model that answered; where none did, the one that was asked is told in grey.
    pub(crate) served: Option<Text>,
    pub(crate) tokens_in: Tokens,
    pub(crate) tokens_out: Tokens,
    pub(crate) cost: Cost,
    pub(crate) first_token: Span,
    pub(crate) duration: Span,
    pub(crate) outcome: Outcome,
    /// Different values that were redacted.
    pub(crate) redacted: u64,
    /// What the filter noticed.
    pub(crate) flags: u64,
}

impl HtmlSafe for RequestRow {}

/// The word of an outcome, in its colour.
pub(crate) fn outcome_badge(outcome: Outcome) -> Badge {
    let (state, word) = match outcome {
        Outcome::Completed => (State::Good, "completed"),
        Outcome::Cancelled => (State::Plain, "cancelled"),
        Outcome::Rejected => (State::Warn, "rejected"),
        Outcome::Blocked => (State::Warn, "blocked"),
        Outcome::UpstreamError => (State::Bad, "upstream error"),
        Outcome::UpstreamTimeout => (State::Bad, "timeout"),
        Outcome::InternalError => (State::Bad, "internal error"),
    };
    Badge::new(state, word)
}

impl RequestRow {
    /// A record as a row.
    pub(crate) fn of(seen: &SeenRecord, calendar: &Calendar) -> Self {
        let name = seen.key_name.as_deref().unwrap_or(seen.record.key_id.as_str());
        Self::of_record(&seen.record, name, calendar)
    }

    /// A record as a row, with the name of its key.
    pub(crate) fn of_record(record: &UsageRecord, key: &str, calendar: &Calendar) -> Self {
        Self {
            id: record.request_id.to_string(),
            at: Moment::second(calendar, record.started_at),
            key: key.into(),
            key_id: record.key_id.to_string(),
            app: record.app_title.as_deref().map(Text::from),
            asked: record.model_asked.as_str().into(),
            served: record.model.as_ref().map(|model| model.as_str().into()),
            tokens_in: Tokens(record.usage.prompt_tokens()),
            tokens_out: Tokens(record.usage.completion_tokens()),
            cost: Cost(record.cost),
            first_token: Span(record.time_to_first_token_ms),
            duration: Span(Some(record.duration_ms)),
            outcome: record.outcome,
            redacted: record.filter.redactions.values().sum(),
            flags: record.filter.flags.len() as u64,
        }
    }

    /// What tells more of the key. What people ask on a page has none of its own.
    fn key_page(&self) -> String {
        match own::key_name(&self.key_id) {
            Some(_) => Query::new("/requests", "").with("key", &self.key_id),
            None => format!("/keys/{}", self.key_id),
        }
    }

    fn badge(&self) -> Badge {
        outcome_badge(self.outcome)
    }

    /// What ended well is told quietly, so that the rest stands out.
    fn is_complete(&self) -> bool {
        self.outcome == Outcome::Completed
    }
}

/// So many rows that look like a day's.
pub(crate) fn sample_rows(names: Names, many: u64) -> Vec<RequestRow> {
    const KEYS: [(&str, &str); 4] = [
        ("ada-opencode", "opencode"),
        ("ci-review", "Continue"),
        ("billing-bot", ""),
        ("nightly-eval", "eval"),
    ];
    const MODELS: [(&str, &str); 5] = [
        ("svc/auto", "gpt-5-mini"),
        ("svc/nebula", "claude-sonnet-4.5"),
        ("claude-sonnet-4.5", "claude-sonnet-4.5"),
        ("svc/orbit", "lab/qwen3-32b"),
        ("svc/auto", "gemini-3-pro"),
    ];
    let calendar = sample::calendar();
    let make = |place: u64| {
        let of = |seed: u64, most: u64| sample::wave(seed + place, 1, most)[0];
        let outcome = match place % 17 {
            5 => Outcome::Blocked,
            9 => Outcome::UpstreamTimeout,
            13 => Outcome::Cancelled,
            _ => Outcome::Completed,
        };
        let has_answer = matches!(outcome, Outcome::Completed | Outcome::Cancelled);
        let (key, app) = KEYS[usize::try_from(place % 4).unwrap_or(0)];
        let (asked, served) = MODELS[usize::try_from(place * 3 % 5).unwrap_or(0)];
        RequestRow {
            id: format!("req_01m81t8qey{place:02}v{:03}", of(3, 900)),
            at: Moment::second(
                &calendar,
                sample::before(place * 41 * sample::SECOND + of(1, 9_000)),
            ),
            key: names.of(key),
            key_id: format!("key_01m5{place:02}"),
            app: (!app.is_empty()).then(|| names.of(app)),
            asked: names.of(asked),
            served: has_answer.then(|| names.of(served)),
            tokens_in: Tokens(of(5, 42_000)),
            tokens_out: Tokens(if has_answer { of(7, 1_400) } else { 0 }),
            cost: if has_answer { sample::cost(of(11, 18_000)) } else { sample::cost(0) },
            first_token: crate::components::Span(has_answer.then(|| 180 + of(13, 900))),
            duration: Span(Some(if place % 17 == 9 { 30_000 } else { 900 + of(17, 9_000) })),
            outcome,
            redacted: if place.is_multiple_of(3) { place % 5 } else { 0 },
            flags: u64::from(place % 17 == 5),
        }
    };
    (0..many).map(make).collect()
}
