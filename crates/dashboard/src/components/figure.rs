//! One figure: what it is, how much, how it was before, and the way to its rows.

use askama::Template;

use super::text::Markup;

/// A figure of the strip at a page's top.
#[derive(Debug, Clone, Template)]
#[template(path = "components/figure.html")]
pub struct Figure {
    label: &'static str,
    value: Markup,
    unit: &'static str,
    link: Option<String>,
    change: Option<Change>,
    note: Option<Markup>,
    spark: Option<Markup>,
}

/// How a figure was in the period before.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which way it went.
    pub trend: Trend,
    /// In words: `12 % from $2,159.10`.
    pub words: String,
}

/// Which way a figure went, and whether that is welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// More, which is neither good nor bad.
    Up,
    /// Less, which is neither good nor bad.
    Down,
    /// More, and that is worse.
    Worse,
    /// Better than before, by less.
    Better,
    /// As before.
    Same,
}

impl Trend {
    fn class(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Up | Self::Down | Self::Same => "",
        }
    }

    fn arrow(self) -> &'static str {
        match self {
            Self::Up | Self::Worse => "▲",
            Self::Down | Self::Better => "▼",
            Self::Same => "=",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Up | Self::Worse => "up",
            Self::Down | Self::Better => "down",
            Self::Same => "unchanged",
        }
    }
}

impl Figure {
    /// A figure with nothing but its value.
    pub fn new(label: &'static str, value: impl askama::filters::HtmlSafe) -> Self {
        let value = Markup(value.to_string());
        Self { label, value, unit: "", link: None, change: None, note: None, spark: None }
    }

    /// In which unit, where the value does not say.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Where its rows are.
    #[must_use]
    pub fn link(self, link: impl Into<String>) -> Self {
        Self { link: Some(link.into()), ..self }
    }

    /// How it was before.
    #[must_use]
    pub fn change(self, trend: Trend, words: impl Into<String>) -> Self {
        Self { change: Some(Change { trend, words: words.into() }), ..self }
    }

    /// What else is worth knowing about it.
    #[must_use]
    pub fn note(self, note: impl std::fmt::Display) -> Self {
        let note = note.to_string();
        let note = Markup(super::text::Escaped(&note).to_string());
        Self { note: Some(note), ..self }
    }

    /// How it went over the period.
    #[must_use]
    pub fn spark(self, values: &[u64]) -> Self {
        Self { spark: crate::charts::spark(values), ..self }
    }
}
