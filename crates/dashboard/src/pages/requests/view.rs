use askama::Template;

use super::row::{RequestRow, sample_rows};
use crate::charts::{Bars, Series, Slot, Unit};
use crate::components::{Code, Empty, Filters, Offer, Pager, Query, Tabs, Text};
use crate::format;
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};
use sluice_gateway::connect::request;

/// The list of requests.
#[derive(Template)]
#[template(path = "pages/requests/page.html")]
pub(crate) struct Requests {
    pub(super) head: Head,
    /// The same requests as they end.
    pub(super) live: String,
    pub(super) periods: Tabs,
    pub(super) filters: Filters,
    /// Requests over the period, by whether they failed; where they are counted.
    pub(super) histogram: Option<Bars>,
    pub(super) rows: Vec<RequestRow>,
    pub(super) pager: Pager,
    /// What to say where there are no rows.
    pub(super) empty: Empty,
    /// What could not be shown, and what to do.
    pub(super) notice: Option<String>,
}

impl View for Requests {
    fn title(&self) -> String {
        "Requests".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Requests)
    }
}

/// What to say before the first request of a deployment.
pub(super) fn first_request(base_url: &str) -> Empty {
    let command = request::first(base_url, "svc/auto");
    let text = "Each request that comes with a key of yours is a row here, with what it cost and why \
                its model was chosen. Send the first one:";
    Empty::new("No requests yet", text).code(Code::new("Command", command))
}

fn make(names: Names, many: u64, query: &str) -> Requests {
    let hours = sample::wave(3, 48, 9_200);
    let slot = |(hour, requests): (usize, &u64)| Slot {
        label: format!("{:02}", (hour + 15) % 24),
        name: format!(
            "{} Nov, {:02} to {:02} h",
            20 + (hour + 15) / 24,
            (hour + 15) % 24,
            (hour + 16) % 24
        ),
        values: if many == 0 { vec![0, 0] } else { vec![*requests, requests / 90] },
        link: Some(format!(
            "/requests?since=2026-11-{:02}T{:02}%3A00%3A00Z&until=2026-11-{:02}T{:02}%3A00%3A00Z",
            20 + (hour + 15) / 24,
            (hour + 15) % 24,
            20 + (hour + 16) / 24,
            (hour + 16) % 24
        )),
    };
    let query = Query::new("/requests", query);
    let counts = [61_204, 40_310, 9_871, 812];
    let own = |values: &[&str]| -> Vec<(Text, u64)> {
        values.iter().zip(counts).map(|(name, count)| (names.of(name), count)).collect()
    };
    let keys = [
        ("key_01m501", "ada-opencode"),
        ("key_01m502", "ci-review"),
        ("key_01m503", "nightly-eval"),
    ];
    let keys = keys
        .iter()
        .zip(counts)
        .map(|((id, name), count)| Offer::new(*id, names.of(name)).count(count));
    let filters = vec![
        query.filter("key", keys),
        query.filter(
            "model",
            own(&["claude-sonnet-4.5", "gpt-5-mini", "gemini-3-pro", "lab/qwen3-32b"]),
        ),
        query.filter("app", own(&["opencode", "Continue", "eval"])),
        query.filter(
            "outcome",
            [
                Offer::new("completed", "completed").count(181_004),
                Offer::new("blocked", "blocked").count(2_013),
                Offer::new("upstream_timeout", "timeout").count(310),
                Offer::new("rejected", "rejected").count(112),
            ],
        ),
        query.filter(
            "filter",
            [("redact".into(), 7_552), ("block".into(), 2_013), ("withhold".into(), 7)],
        ),
    ];
    Requests {
        head: Head::new("Requests")
            .stamp("Acme · 20 to 22 November, Europe/Berlin · as of 14:03:07 · exact"),
        live: "/live".into(),
        periods: query.periods("24h"),
        filters: query.filters("Request id", filters),
        histogram: Some(Bars {
            id: "histogram",
            title: "Requests an hour, completed and failed".into(),
            unit: Unit::Count,
            series: vec![
                Series { name: "completed".into(), colour: 1 },
                Series { name: "failed".into(), colour: 8 },
            ],
            slots: hours.iter().enumerate().map(slot).collect(),
            csv: "/requests.csv".into(),
            is_low: true,
        }),
        rows: sample_rows(names, many),
        pager: query.pager(
            format!(
                "{} of {}",
                format::count(many),
                format::plural(184_206, "request", "requests")
            ),
            None,
            (many > 20).then_some("req_01m81t8q"),
        ),
        empty: first_request("http://localhost:8080"),
        notice: None,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Requests)> {
    let mut states =
        sample::in_all_names(|names| make(names, if names == Names::Plain { 50 } else { 6 }, ""));
    states.insert(0, ("empty", make(Names::Plain, 0, "")));
    let nothing = Empty::new(
        "Nothing matches",
        "No request of the last 24 hours ended with upstream_timeout. Failures are filtered like everything else, so there were none.",
    )
    .action("Clear filters", "/requests");
    states.push((
        "filtered",
        Requests {
            empty: nothing,
            ..make(Names::Plain, 0, "outcome=upstream_timeout&q=req_01m81")
        },
    ));
    states.push((
        "error",
        Requests {
            histogram: None,
            notice: Some("The counts took too long and are left out; the rows are exact. A shorter period brings them back.".into()),
            ..make(Names::Plain, 12, "key=key_01m501&period=30d")
        },
    ));
    states
}
