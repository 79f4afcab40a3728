use askama::Template;

use crate::charts::{Bars, Meter, Series, Slot, Unit};
use crate::components::{Badge, Code, Confirm, Field, Figure, Kind, Money, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// One budget.
#[derive(Template)]
#[template(path = "pages/budget/page.html")]
pub(crate) struct Budget {
    pub(super) head: Head,
    pub(super) state: Badge,
    pub(super) notice: Option<(&'static str, String)>,
    pub(super) figures: Vec<Figure>,
    pub(super) meter: Meter,
    /// What was left over time; `None` where nothing adds up.
    pub(super) chart: Option<Bars>,
    pub(super) facts: Vec<(&'static str, Text)>,
    /// Who can grant more.
    pub(super) may_raise: Vec<Text>,
    pub(super) top_ups: Vec<TopUpLine>,
    pub(super) past: Vec<PastWindow>,
    /// Change the limit, top up, remove: what the reader may do.
    pub(super) deeds: Vec<Confirm>,
    pub(super) command: Code,
}

/// An amount that was granted on top.
pub(super) struct TopUpLine {
    pub(super) amount: String,
    pub(super) from: String,
    pub(super) until: String,
    pub(super) state: Badge,
}

/// A window that is over.
pub(super) struct PastWindow {
    pub(super) from: String,
    pub(super) until: String,
    pub(super) used: String,
}

impl View for Budget {
    fn title(&self) -> String {
        format!("Budget of {}", self.head.title.brief())
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Budgets)
    }
}

fn deeds(names: Names) -> Vec<Confirm> {
    let name = names.of("Compilers");
    let question = |id, verb: &'static str, consequence: &str, fields| Confirm {
        id,
        action: format!("/budgets/bud_03/{id}"),
        title: Text::new(format!("{verb}: team {}", name.plain())),
        consequences: vec![consequence.to_owned()],
        fields,
        name: None,
        verb,
        is_dangerous: false,
        error: None,
        back: "/budgets/bud_03".into(),
        csrf: sample::csrf(),
    };
    vec![
        question(
            "limit",
            "Change limit",
            "It holds at once, and what was used in its window goes on counting.",
            vec![
                Field::new(Kind::Number, "limit", "Limit")
                    .id("new-limit")
                    .value("600")
                    .unit("US dollars"),
            ],
        ),
        question(
            "top-up",
            "Top up",
            "The limit is higher by so much until then. What was used stays as it is.",
            vec![
                Field::new(Kind::Number, "amount", "Amount").unit("US dollars"),
                Field::new(Kind::Day, "until", "Until the end of")
                    .hint("A day of UTC. Empty: until the current window ends."),
            ],
        ),
        Confirm {
            name: Some(names.of("Compilers")),
            is_dangerous: true,
            ..question(
                "remove",
                "Remove",
                "It limits nothing any more, at once. What was used stays in the records.",
                vec![],
            )
        },
    ]
}

fn make(names: Names) -> Budget {
    let mut left = 60_000_u64;
    let slots = sample::wave(1, 22, 2_600).into_iter().enumerate().map(|(day, cents)| {
        left = left.saturating_sub(cents);
        Slot {
            label: (1 + day).to_string(),
            name: format!("{} Nov", 1 + day),
            values: vec![Money::cents(left).0.0],
            link: None,
        }
    });
    Budget {
        head: Head::new(names.of("Compilers"))
            .below("Budgets", "/budgets")
            .stamp("team · bud_03 · as of 14:03:07"),
        state: Badge::new(State::Warn, "low"),
        notice: None,
        figures: vec![
            Figure::new("Limit", Money::cents(65_000)),
            Figure::new("Used", Money::cents(59_020)),
            Figure::new("Reserved", Money::cents(120)),
            Figure::new("Left", Money::cents(5_860)),
        ],
        meter: Meter { label: "$591.40 of $650".into(), used: 59_020, held: 120, limit: 65_000 },
        chart: Some(Bars {
            id: "left",
            title: "What was left".into(),
            unit: Unit::Money,
            series: vec![Series { name: "left".into(), colour: 1 }],
            slots: slots.collect(),
            csv: "/budgets/bud_03/left.csv".into(),
            is_low: false,
        }),
        facts: vec![
            ("Limits", "US dollars a month".into()),
            ("Beyond it", "requests are refused".into()),
            ("Limit without top-ups", "$600".into()),
            ("Time zone", "Europe/Berlin".into()),
            ("Resets", "1 Dec 00:00".into()),
            ("Counts since", "2 Aug 09:12".into()),
            ("Set", "2 Aug 09:12".into()),
        ],
        may_raise: vec![names.of("Grace Hopper"), names.of("Edsger Dijkstra")],
        top_ups: vec![TopUpLine {
            amount: "$50".into(),
            from: "20 Nov 10:02".into(),
            until: "1 Dec 00:00".into(),
            state: Badge::new(State::Good, "holds"),
        }],
        past: [
            ("1 Oct 00:00", "1 Nov 00:00", "$571.20"),
            ("1 Sep 00:00", "1 Oct 00:00", "$402.88"),
        ]
        .map(|(from, until, used)| PastWindow {
            from: from.into(),
            until: until.into(),
            used: used.into(),
        })
        .into(),
        deeds: deeds(names),
        command: Code::new("As command", "sluice budgets show bud_03"),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Budget)> {
    let mut states = sample::in_all_names(make);
    let fresh = make(Names::Plain);
    states.insert(0, ("empty", Budget { top_ups: vec![], past: vec![], chart: None, ..fresh }));
    states.push((
        "spent",
        Budget {
            state: Badge::new(State::Bad, "spent"),
            notice: Some((
                "bad",
                "It is spent: requests are refused until 1 Dec 00:00, or until somebody raises it."
                    .into(),
            )),
            figures: vec![
                Figure::new("Limit", Money::cents(65_000)),
                Figure::new("Used", Money::cents(65_000)),
                Figure::new("Reserved", Money::cents(0)),
                Figure::new("Left", Money::cents(0)),
            ],
            meter: Meter { label: "$650 of $650".into(), used: 65_000, held: 0, limit: 65_000 },
            ..make(Names::Plain)
        },
    ));
    states.push((
        "sessions",
        Budget {
            chart: None,
            past: vec![],
            facts: vec![
                ("Limits", "US dollars a session".into()),
                ("Beyond it", "requests are refused".into()),
                ("Limit without top-ups", "$5".into()),
                ("Used and left", "by the session that has the least left".into()),
                ("Sessions now", "1,204".into()),
                ("A session ends", "after 24 hours without a request".into()),
            ],
            ..make(Names::Plain)
        },
    ));
    states.push(("read-only", Budget { deeds: vec![], ..make(Names::Plain) }));
    states
}
