//! What a subject may use: one figure for one quantity.

use std::fmt;
use std::sync::Arc;

use sluice_core::money::PicoUsd;
use sluice_storage::Used;

use super::window::{Window, Zone};

/// What is added up in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Requests.
    Requests,
    /// Tokens of all classes together.
    Tokens,
    /// US dollars; counted in pico-dollars.
    Usd,
}

/// What is added up, and over which time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    /// Of what.
    pub measure: Measure,
    /// For how long.
    pub window: Window,
    /// By whose calendar.
    pub zone: Zone,
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
    /// How much: requests, tokens or pico-dollars. 0 blocks.
    pub limit: u64,
    /// Whether a request that does not fit is refused. A soft limit is only noted.
    pub hard: bool,
    /// Where it comes from.
    pub source: Source,
}

/// Where an allowance comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// In a word: `class`, `tier`, `own`.
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

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 3] = [Self::Requests, Self::Tokens, Self::Usd];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
            Self::Usd => "usd",
        }
    }

    /// The measure that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.as_str() == word)
    }

    /// How much of this the database knows.
    pub fn of_used(self, used: Used) -> u64 {
        match self {
            Self::Requests => used.requests,
            Self::Tokens => used.tokens,
            Self::Usd => used.cost.0,
        }
    }
}

impl Meter {
    /// A meter. Windows that follow no calendar have no zone.
    pub fn new(measure: Measure, window: Window, zone: Zone) -> Self {
        let zone = if window.follows_the_calendar() { zone } else { Zone::UTC };
        Self { measure, window, zone }
    }

    /// Requests of the current clock hour, which every ledger counts.
    pub const REQUESTS_AN_HOUR: Self =
        Self { measure: Measure::Requests, window: Window::Hour, zone: Zone::UTC };

    /// Tokens of the current day, which every ledger counts.
    pub const TOKENS_A_DAY: Self =
        Self { measure: Measure::Tokens, window: Window::Day, zone: Zone::UTC };

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
            Self::Concurrency => "concurrency",
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
