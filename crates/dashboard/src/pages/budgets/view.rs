use askama::Template;

use crate::charts::Meter;
use crate::components::{Badge, Empty, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// All budgets.
#[derive(Template)]
#[template(path = "pages/budgets/page.html")]
pub(crate) struct Budgets {
    pub(super) head: Head,
    pub(super) rows: Vec<BudgetRow>,
    pub(super) empty: Empty,
    pub(super) may_set: bool,
    pub(super) notice: Option<(&'static str, String)>,
}

/// One budget.
pub(super) struct BudgetRow {
    pub(super) id: String,
    pub(super) subject: Text,
    pub(super) kind: &'static str,
    /// How far it stands from the account.
    pub(super) depth: usize,
    /// In words: `$800 a month`.
    pub(super) limit: String,
    pub(super) is_hard: bool,
    pub(super) used: String,
    pub(super) meter: Meter,
    pub(super) state: Badge,
    /// When it resets, in words; empty where nothing has to.
    pub(super) resets: String,
    /// Whether the configuration file has it, which makes it read-only here.
    pub(super) is_files: bool,
}

impl View for Budgets {
    fn title(&self) -> String {
        "Budgets".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Budgets)
    }
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names) -> Budgets {
    let row = |(
        id,
        subject,
        kind,
        depth,
        limit,
        hard,
        used,
        (spent, held, of),
        state,
        resets,
        file,
    ): (
        &str,
        &str,
        &'static str,
        usize,
        &str,
        bool,
        &str,
        (u64, u64, u64),
        (State, &str),
        &str,
        bool,
    )| BudgetRow {
        id: id.into(),
        subject: names.of(subject),
        kind,
        depth,
        limit: limit.into(),
        is_hard: hard,
        used: used.into(),
        meter: Meter { label: format!("{used} of {limit}"), used: spent, held, limit: of },
        state: Badge::new(state.0, state.1),
        resets: resets.into(),
        is_files: file,
    };
    Budgets {
        head: Head::new("Budgets").stamp("as of 14:03:07"),
        rows: [
            ("bud_01", "Acme", "account", 0, "$8,000 a month", true, "$3,411.20", (341_120, 1_200, 800_000), (State::Good, "within"), "1 Dec 00:00", true),
            ("bud_02", "Research", "department", 1, "$2,500 a month", true, "$2,104.77", (210_477, 900, 250_000), (State::Warn, "low"), "1 Dec 00:00", false),
            ("bud_03", "Compilers", "team", 2, "$600 a month", true, "$600.00", (60_000, 0, 60_000), (State::Bad, "spent"), "1 Dec 00:00", false),
            ("bud_04", "Compilers", "team", 2, "20 requests at once", true, "4", (4, 0, 20), (State::Good, "within"), "", false),
            ("bud_07", "Compilers", "team", 2, "$5 a session", true, "$1.30", (130, 2, 500), (State::Good, "within"), "", false),
            ("bud_05", "ada@acme.example", "person", 2, "5,000,000 tokens a day", false, "5,301,220", (5_301_220, 0, 5_000_000), (State::Warn, "exceeded"), "23 Nov 00:00", false),
            ("bud_06", "nightly-eval", "key", 2, "$40 in total", true, "$12.40", (1_240, 30, 4_000), (State::Good, "within"), "", false),
        ]
        .map(row)
        .into(),
        empty: Empty::new("No budget yet", "A budget limits requests, tokens, US dollars or requests at once: of the account, a department, a team, a person, a service or a key. Limits of classes and tiers hold beside it.").action("Set a budget", "/budgets/new"),
        may_set: true,
        notice: None,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Budgets)> {
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", Budgets { rows: vec![], ..make(Names::Plain) }));
    states.push((
        "full",
        Budgets {
            rows: (0..8).flat_map(|_| make(Names::Plain).rows).collect(),
            ..make(Names::Plain)
        },
    ));
    states.push(("read-only", Budgets { may_set: false, ..make(Names::Plain) }));
    states
}
