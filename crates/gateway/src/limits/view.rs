//! What is told of allowances: in headers, by `GET /auth/token`, on the command line.

use std::cmp::Ordering;

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Subject;
use sluice_core::window::Span;
use sluice_storage::BudgetRecord;

use super::UNLIMITED;
use super::allowance::{Allowance, Amount};

/// The request window, as the rate-limit headers tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateView {
    /// Requests allowed in the window.
    pub limit: u64,
    /// Requests left in it.
    pub remaining: u64,
    /// Unix time at which it ends, in seconds.
    pub reset: u64,
    /// Its length in seconds.
    pub window: u64,
}

/// One allowance that binds a key, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowanceView {
    /// Whose.
    pub subject: Subject,
    /// Which.
    pub allowance: Allowance,
    /// What was used in the current window, or the requests under way; `None` where only the
    /// running server knows.
    pub used: Option<u64>,
    /// What running requests have reserved; `None` where only the running server knows.
    pub reserved: Option<u64>,
    /// When the window ends, in Unix seconds; `None` where it does not, or has not begun.
    pub reset: Option<u64>,
    /// Whether it is the one with the least left.
    pub binds: bool,
}

impl RateView {
    pub(super) fn of(limit: u64, used: u64, span: Span) -> Self {
        Self {
            limit,
            remaining: limit.saturating_sub(used),
            reset: span.end.min(UNLIMITED),
            window: span.seconds().min(UNLIMITED),
        }
    }
}

impl AllowanceView {
    /// A budget that each session has to itself: there is no use of all of them together.
    pub fn of_session(budget: &BudgetRecord, now: UnixMillis) -> Self {
        let allowance = Allowance::of_budget(budget);
        let limit = allowance.limit_at(now);
        Self {
            subject: budget.subject.clone(),
            allowance: Allowance { limit, ..allowance },
            used: None,
            reserved: None,
            reset: None,
            binds: false,
        }
    }

    /// What is left; `None` where only the running server knows.
    pub fn left(&self) -> Option<u64> {
        let taken = self.used?.saturating_add(self.reserved.unwrap_or(0));
        Some(self.allowance.limit.saturating_sub(taken))
    }

    /// By how much is left: of the whole limit first, then as a figure. Places of requests at once
    /// come back in a moment: they bind only where less is left of them than of anything else.
    fn by_what_is_left(&self, other: &Self) -> Ordering {
        let left = |view: &Self| u128::from(view.left().unwrap_or(u64::MAX));
        let limit = |view: &Self| u128::from(view.allowance.limit.max(1));
        let shares = (left(self) * limit(other)).cmp(&(left(other) * limit(self)));
        let is_of_a_moment = |view: &Self| view.allowance.quantity.meter().is_none();
        shares
            .then(is_of_a_moment(self).cmp(&is_of_a_moment(other)))
            .then(left(self).cmp(&left(other)))
    }

    /// As JSON. Money is dollars as a decimal number.
    pub fn to_json(&self) -> Value {
        let quantity = &self.allowance.quantity;
        let meter = quantity.meter();
        let figure = |figure: Option<u64>| {
            figure.map(|figure| match quantity.amount(figure) {
                Amount::Count(count) => json!(count),
                Amount::Usd(money) => json!(money.to_dollars()),
            })
        };
        let source = &self.allowance.source;
        let setting = (!source.setting.is_empty()).then_some(&*source.setting);
        json!({
            "subject": self.subject.to_string(),
            "measure": quantity.measure_word(),
            "window": meter.map(|meter| meter.window.as_str()),
            "time_zone": meter.map(|meter| meter.zone.to_string()),
            "limit": figure(Some(self.allowance.limit)),
            "hard": self.allowance.hard,
            "each_session": self.allowance.is_of_each_session(),
            "used": figure(self.used),
            "reserved": figure(self.reserved),
            "left": figure(self.left()),
            "reset": self.reset,
            "resets_at": self.reset.map(|reset| UnixMillis(reset.saturating_mul(1000)).to_rfc3339()),
            "source": source.word,
            "setting": setting,
            "binds": self.binds,
        })
    }
}

/// Marks the hard allowance that has the least left: of its limit, and of several the one with the
/// smallest figure. Of those that are alike, the first.
pub fn mark_what_binds(views: &mut [AllowanceView]) {
    let candidates = views.iter().enumerate().filter(|(_, view)| view.allowance.hard);
    let binding = candidates
        .filter(|(_, view)| view.left().is_some())
        .min_by(|(_, one), (_, other)| one.by_what_is_left(other))
        .map(|(place, _)| place);
    for (place, view) in views.iter_mut().enumerate() {
        view.binds = Some(place) == binding;
    }
}
