//! A row of links of which one is where the reader is: parts of a page, or periods.

use askama::Template;

/// A row of links.
#[derive(Debug, Clone, Template)]
#[template(
    source = r#"<nav class="{{ class }}" aria-label="{{ label }}">{% for tab in tabs %}<a href="{{ tab.path }}"{% if tab.is_here %} aria-current="true"{% endif %}>{{ tab.name }}</a>{% endfor %}</nav>"#,
    ext = "html"
)]
pub struct Tabs {
    class: &'static str,
    label: &'static str,
    tabs: Vec<Tab>,
}

/// One link.
#[derive(Debug, Clone)]
pub struct Tab {
    /// What it is called.
    pub name: String,
    /// Where it leads.
    pub path: String,
    /// Whether the reader is there.
    pub is_here: bool,
}

impl Tabs {
    /// Parts of a page: names, addresses, and which one it is.
    pub fn parts(label: &'static str, tabs: &[(&str, &str)], here: &str) -> Self {
        let tab = |(name, path): &(&str, &str)| Tab {
            name: (*name).to_owned(),
            path: (*path).to_owned(),
            is_here: *path == here,
        };
        Self { class: "tabs", label, tabs: tabs.iter().map(tab).collect() }
    }

    /// Links of which one is chosen.
    pub(super) fn new(class: &'static str, label: &'static str, tabs: Vec<Tab>) -> Self {
        Self { class, label, tabs }
    }

    /// As a row of buttons, for periods.
    pub(super) fn into_periods(self) -> Self {
        Self { class: "period", ..self }
    }
}
