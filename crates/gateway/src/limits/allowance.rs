//! What a subject may use: one figure for one quantity.

use std::fmt;
use std::sync::Arc;

use sluice_core::clock::UnixMillis;
use sluice_core::measure::{Limited, Measure};
use sluice_core::money::PicoUsd;
use sluice_core::window::{Window, Zone};
use sluice_storage::BudgetRecord;

/// What is added up, and over which time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    /// Of what.
    pub measure: Measure,
    /// For how long.
    pub window: Window,
    /// By whose calendar.
    pub zone: Zone,
    /// What was used before this second does not count; 0: everything does.
    pub since: u64,
}

/// What an allowance limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// Requests at once.
    Concurrency,
    /// What is used in a window.
    Used(Meter),
}

/// One limit of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// What it limits.
    pub quantity: Quantity,
    /// How much: requests, tokens or pico-dollars. 0 blocks. What was granted on top of a budget is
    /// not in it: see [`Allowance::limit_at`].
    pub limit: u64,
    /// Whether a request that does not fit is refused. A soft limit is only noted.
    pub hard: bool,
    /// Where it comes from.
    pub source: Source,
    /// The budget that it is; `None` for the figures of classes, tiers, keys and accounts.
    pub budget: Option<Arc<BudgetRecord>>,
}

/// Where an allowance comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// In a word: `class`, `tier`, `own`, `budget`.
    pub word: &'static str,
    /// The setting that an operator can raise; empty where there is none.
    pub setting: Arc<str>,
}

/// An amount of what is limited, as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Requests or tokens.
    Count(u64),
    /// Money.
    Usd(PicoUsd),
}

impl Meter {
    /// A meter. Windows that follow no calendar have no zone.
    pub fn new(measure: Measure, window: Window, zone: Zone) -> Self {
        let zone = if window.follows_the_calendar() { zone } else { Zone::UTC };
        Self { measure, window, zone, since: 0 }
    }

    /// Requests of the current clock hour, which every ledger counts.
    pub const REQUESTS_AN_HOUR: Self =
        Self { measure: Measure::Requests, window: Window::Hour, zone: Zone::UTC, since: 0 };

    /// Tokens of the current day, which every ledger counts.
    pub const TOKENS_A_DAY: Self =
        Self { measure: Measure::Tokens, window: Window::Day, zone: Zone::UTC, since: 0 };

    /// What is limited, as in "1000 requests an hour".
    pub(super) fn what(&self) -> &'static str {
        match (self.measure, self.window) {
            (Measure::Requests, Window::Hour) => "requests an hour",
            (Measure::Requests, Window::FiveHours) => "requests in five hours",
            (Measure::Requests, Window::Day) => "requests a day",
            (Measure::Requests, Window::Week) => "requests a week",
            (Measure::Requests, Window::Month) => "requests a month",
            (Measure::Requests, Window::Total) => "requests in total",
            (Measure::Tokens, Window::Hour) => "tokens an hour",
            (Measure::Tokens, Window::FiveHours) => "tokens in five hours",
            (Measure::Tokens, Window::Day) => "tokens a day",
            (Measure::Tokens, Window::Week) => "tokens a week",
            (Measure::Tokens, Window::Month) => "tokens a month",
            (Measure::Tokens, Window::Total) => "tokens in total",
            (Measure::Usd, Window::Hour) => "US dollars an hour",
            (Measure::Usd, Window::FiveHours) => "US dollars in five hours",
            (Measure::Usd, Window::Day) => "US dollars a day",
            (Measure::Usd, Window::Week) => "US dollars a week",
            (Measure::Usd, Window::Month) => "US dollars a month",
            (Measure::Usd, Window::Total) => "US dollars in total",
        }
    }
}

impl Allowance {
    /// The allowance that `budget` is.
    pub fn of_budget(budget: &BudgetRecord) -> Self {
        let quantity = match budget.limited {
            Limited::Concurrency => Quantity::Concurrency,
            Limited::Used { measure, window } => {
                // The zone was checked when it was set. A zone database knows more names with time.
                let zone = Zone::parse(&budget.zone).unwrap_or(Zone::UTC);
                let since = budget.counts_from.seconds();
                Quantity::Used(Meter { since, ..Meter::new(measure, window, zone) })
            }
        };
        Self {
            quantity,
            limit: budget.limit,
            hard: budget.hard,
            source: Source { word: "budget", setting: Arc::default() },
            budget: Some(Arc::new(budget.clone())),
        }
    }

    /// What is limited, as in "1000 requests an hour".
    pub fn what(&self) -> &'static str {
        if !self.is_of_each_session() {
            return self.quantity.what();
        }
        match self.quantity.meter().map(|meter| meter.measure) {
            None => "requests at once in a session",
            Some(Measure::Requests) => "requests a session",
            Some(Measure::Tokens) => "tokens a session",
            Some(Measure::Usd) => "US dollars a session",
        }
    }

    /// Whether each session has so much to itself.
    pub fn is_of_each_session(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.each_session)
    }

    /// The limit at `now`, with what was granted on top of it.
    pub fn limit_at(&self, now: UnixMillis) -> u64 {
        self.budget.as_ref().map_or(self.limit, |budget| budget.limit_at(now))
    }

    /// Whether it is money that must not be exceeded: a request reserves the most that it can cost.
    pub(super) fn is_hard_money(&self) -> bool {
        self.hard && self.measures(Measure::Usd)
    }

    /// Whether it adds up `measure`.
    pub(super) fn measures(&self, measure: Measure) -> bool {
        self.quantity.meter().is_some_and(|meter| meter.measure == measure)
    }
}

impl Quantity {
    /// What is limited, as in "1000 requests an hour".
    pub fn what(&self) -> &'static str {
        match self {
            Self::Concurrency => "requests at once",
            Self::Used(meter) => meter.what(),
        }
    }

    /// So much of it.
    pub fn amount(&self, figure: u64) -> Amount {
        match self {
            Self::Used(Meter { measure: Measure::Usd, .. }) => Amount::Usd(PicoUsd(figure)),
            _ => Amount::Count(figure),
        }
    }

    /// The word for what is measured: `requests`, `tokens`, `usd`, `concurrency`.
    pub fn measure_word(&self) -> &'static str {
        match self {
            Self::Concurrency => Limited::CONCURRENCY,
            Self::Used(meter) => meter.measure.as_str(),
        }
    }

    /// What it adds up; `None` for requests at once.
    pub fn meter(&self) -> Option<&Meter> {
        match self {
            Self::Concurrency => None,
            Self::Used(meter) => Some(meter),
        }
    }
}

impl Source {
    /// A figure of a class or tier, which the setting `section.name` raises.
    pub fn setting(word: &'static str, section: &str, name: &str) -> Self {
        let setting = if section.is_empty() { String::new() } else { format!("{section}.{name}") };
        Self { word, setting: setting.into() }
    }

    /// A figure of the subject's own.
    pub fn own() -> Self {
        Self { word: "own", setting: Arc::default() }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Usd(money) => money.fmt(f),
        }
    }
}
