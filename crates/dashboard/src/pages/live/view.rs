use askama::Template;

use crate::components::{Filters, Query};
use crate::layout::{Head, Place, View};
use crate::pages::requests::row::{RequestRow, sample_rows};
use crate::sample::{self, Names};

/// Requests as they end. Without script: the latest ones, and a link that reads them anew.
#[derive(Template)]
#[template(path = "pages/live/page.html")]
pub(crate) struct Live {
    pub(super) head: Head,
    /// Where the events are.
    pub(super) source: String,
    pub(super) rows: Vec<RequestRow>,
    /// What of the requests is shown.
    pub(super) filters: Filters,
    /// Whether the reader may ask models here.
    pub(super) may_ask: bool,
}

impl View for Live {
    fn title(&self) -> String {
        "Live".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Live)
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Live)> {
    let make = |names, many| Live {
        head: Head::new("Live").stamp("Acme · finished requests, Europe/Berlin · as of 14:03:07"),
        source: "/live/events".into(),
        rows: sample_rows(names, many),
        filters: Query::new("/live", "").filters("", Vec::new()),
        may_ask: true,
    };
    let mut states =
        sample::in_all_names(|names| make(names, if names == Names::Plain { 24 } else { 4 }));
    states.insert(0, ("empty", make(Names::Plain, 0)));
    states
}
