//! Figures and words that print themselves: shown rounded, exact in the title.

use std::fmt;

use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;

use super::text::Escaped;
use crate::format::{self, Calendar};

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Money(pub PicoUsd);

/// What something cost, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost(pub Option<PicoUsd>);

/// A number of things, grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count(pub u64);

/// A number of tokens: three digits and a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens(pub u64);

/// Milliseconds, where they were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span(pub Option<u64>);

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share(pub u64, pub u64);

impl Money {
    /// So many cents, for samples and tests.
    pub fn cents(cents: u64) -> Self {
        Self(PicoUsd(cents.saturating_mul(10_000_000_000)))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, exact) = (format::money(self.0), format::money_exact(self.0));
        write_titled(f, &shown, &exact)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(amount) => Money(amount).fmt(f),
            None => f.write_str("<span class=\"faint\" title=\"The price is not known\">–</span>"),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format::count(self.0))
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_titled(f, &format::compact(self.0), &format::count(self.0))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(millis) => {
                let exact = format!("{} ms", format::count(millis));
                write_titled(f, &format::duration(millis), &exact)
            }
            None => f.write_str("<span class=\"faint\">–</span>"),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = format!("{} of {}", format::count(self.0), format::count(self.1));
        write_titled(f, &format::percent(self.0, self.1), &exact)
    }
}

fn write_titled(f: &mut fmt::Formatter<'_>, shown: &str, exact: &str) -> fmt::Result {
    let shown = Escaped(shown);
    if shown.0 == exact {
        return write!(f, "{shown}");
    }
    write!(f, "<span title=\"{}\">{shown}</span>", Escaped(exact))
}

/// A point in time, as it is shown; to the millisecond in its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    shown: String,
    /// What is left out where there is little room: the seconds.
    rest: String,
    exact: String,
    machine: String,
}

impl Moment {
    /// As it is shown, without markup.
    pub fn plain(&self) -> String {
        format!("{}{}", self.shown, self.rest)
    }

    /// `14:03:07`
    pub fn clock(calendar: &Calendar, at: UnixMillis) -> Self {
        Self::of(calendar, at, calendar.clock(at))
    }

    /// `22 Nov`
    pub fn day(calendar: &Calendar, at: UnixMillis) -> Self {
        Self::of(calendar, at, calendar.day(at))
    }

    /// `22 Nov 14:03`
    pub fn minute(calendar: &Calendar, at: UnixMillis) -> Self {
        Self::of(calendar, at, calendar.minute(at))
    }

    /// `22 Nov 14:03:07`
    pub fn second(calendar: &Calendar, at: UnixMillis) -> Self {
        let (second, minute) = (calendar.second(at), calendar.minute(at));
        let rest = second.strip_prefix(&minute).unwrap_or_default().to_owned();
        Self { rest, ..Self::of(calendar, at, minute) }
    }

    /// `4 s ago`
    pub fn ago(calendar: &Calendar, at: UnixMillis) -> Self {
        Self::of(calendar, at, calendar.ago(at))
    }

    fn of(calendar: &Calendar, at: UnixMillis, shown: String) -> Self {
        Self { shown, rest: String::new(), exact: calendar.exact(at), machine: at.to_rfc3339() }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, rest, exact, machine } = self;
        write!(f, "<time datetime=\"{machine}\" title=\"{}\">{shown}", Escaped(exact))?;
        if !rest.is_empty() {
            write!(f, "<span class=\"d1\">{rest}</span>")?;
        }
        f.write_str("</time>")
    }
}

/// What a colour says. There is always a word beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Nothing to see to.
    #[default]
    Plain,
    /// It is well.
    Good,
    /// Somebody should look at it.
    Warn,
    /// It is not well.
    Bad,
    /// Worth knowing.
    Info,
}

impl State {
    /// The class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Info => "info",
        }
    }
}

/// A word with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    state: State,
    word: String,
}

impl Badge {
    /// A word in the colour of a state.
    pub fn new(state: State, word: impl Into<String>) -> Self {
        Self { state, word: word.into() }
    }
}

impl fmt::Display for Badge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<span class=\"badge {}\">{}</span>", self.state.class(), Escaped(&self.word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_value_is_in_the_title() {
        let money = Money(PicoUsd(11_840_375_000));
        assert_eq!(money.to_string(), "<span title=\"$0.011840375\">$0.01184</span>");
        assert_eq!(Money::cents(250).to_string(), "<span title=\"$2.5\">$2.50</span>");
        assert_eq!(Tokens(812).to_string(), "812");
        assert_eq!(Tokens(41_902).to_string(), "<span title=\"41,902\">41.9 K</span>");
        assert_eq!(Span(Some(1_391)).to_string(), "<span title=\"1,391 ms\">1.39 s</span>");
        assert!(Cost(None).to_string().contains("The price is not known"));
        // A bound is text, too.
        assert!(Money(PicoUsd(1)).to_string().contains("&lt; $0.00001"));
    }
}
