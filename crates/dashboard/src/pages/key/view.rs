use askama::Template;

use crate::charts::{Bars, Meter, Series, Slot, Unit};
use crate::components::{
    Badge, Code, Confirm, Count, Field, Figure, Kind, Moment, Money, Query, State, Tabs, Text,
    Tokens,
};
use crate::layout::{Head, Place, View};
use crate::pages::requests::row::{RequestRow, sample_rows};
use crate::sample::{self, Names};

/// One key.
#[derive(Template)]
#[template(path = "pages/key/page.html")]
pub(crate) struct Key {
    pub(super) head: Head,
    pub(super) id: String,
    pub(super) state: Badge,
    /// What somebody should do about it.
    pub(super) notice: Option<(&'static str, String)>,
    pub(super) facts: Vec<(&'static str, Text)>,
    pub(super) figures: Vec<Figure>,
    pub(super) periods: Tabs,
    pub(super) spend: Bars,
    /// Where all its requests of the period are.
    pub(super) all: String,
    pub(super) allowances: Vec<AllowanceLine>,
    /// Windows that are over, of limits that have no page of their own.
    pub(super) past: Vec<PastWindow>,
    /// Who can raise the key's own figures.
    pub(super) may_raise: Vec<Text>,
    pub(super) secrets: Vec<SecretLine>,
    pub(super) rows: Vec<RequestRow>,
    /// Whether the reader may change it.
    pub(super) may_change: bool,
    /// Rotate, suspend, revoke: what the reader may do.
    pub(super) deeds: Vec<Confirm>,
    pub(super) command: Code,
}

/// One allowance that binds the key.
pub(super) struct AllowanceLine {
    pub(super) subject: Text,
    pub(super) kind: &'static str,
    /// In words: `US dollars a month`.
    pub(super) what: &'static str,
    pub(super) is_hard: bool,
    pub(super) used: String,
    pub(super) meter: Meter,
    /// When it resets, in words; empty where nothing has to.
    pub(super) resets: String,
    /// Where it is set.
    pub(super) source: Text,
    /// The page of the budget that it is.
    pub(super) link: Option<String>,
    pub(super) binds: bool,
}

/// A window of a limit that is over.
pub(super) struct PastWindow {
    /// In words: `requests an hour`.
    pub(super) what: &'static str,
    pub(super) kind: &'static str,
    pub(super) from: String,
    pub(super) used: String,
    /// Whether so much was used that requests were refused.
    pub(super) is_spent: bool,
}

/// One secret of the key.
pub(super) struct SecretLine {
    pub(super) prefix: String,
    pub(super) made: Moment,
    pub(super) ends: Option<Moment>,
    pub(super) state: Badge,
}

impl View for Key {
    fn title(&self) -> String {
        format!("Key {}", self.head.title.brief())
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Keys)
    }
}

/// The question before a key is revoked.
pub(crate) fn revoke(names: Names, error: Option<String>) -> Confirm {
    let name = names.of("nightly-eval");
    Confirm {
        id: "revoke",
        action: "/keys/key_01m503/revoke".into(),
        title: Text::new(format!("Revoke {}", name.plain())),
        consequences: vec![
            "It stops working within a second, with all its secrets. This cannot be undone.".into(),
            "Its records and its history stay.".into(),
        ],
        fields: vec![],
        name: Some(name),
        verb: "Revoke",
        is_dangerous: true,
        error,
        back: "/keys/key_01m503".into(),
        csrf: sample::csrf(),
    }
}

fn deeds(names: Names) -> Vec<Confirm> {
    let question = |id, title: &str, verb, consequences: &[&str], fields| Confirm {
        id,
        action: format!("/keys/key_01m503/{id}"),
        title: title.into(),
        consequences: consequences.iter().map(|line| (*line).to_owned()).collect(),
        fields,
        name: None,
        verb,
        is_dangerous: false,
        error: None,
        back: "/keys/key_01m503".into(),
        csrf: sample::csrf(),
    };
    let grace = [
        ("0", "not at all".into()),
        ("1", "an hour".into()),
        ("24", "a day".into()),
        ("168", "seven days".into()),
    ];
    vec![
        question(
            "rotate",
            "Rotate nightly-eval",
            "Rotate",
            &["It gets a new secret, which is shown once. Its limits and history go on."],
            vec![
                Field::select("grace", "The old secret goes on working", &grace, "24")
                    .id("rotate-grace"),
            ],
        ),
        question(
            "suspend",
            "Suspend nightly-eval",
            "Suspend",
            &["It is refused with the reason until somebody takes that back."],
            vec![
                Field::new(Kind::Line, "reason", "Reason")
                    .id("suspend-reason")
                    .hint("Callers read it.")
                    .required(),
            ],
        ),
        revoke(names, None),
    ]
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names) -> Key {
    let calendar = sample::calendar();
    let allowance = |(subject, kind, what, hard, (used, held, limit), shown, resets, source): (
        &str,
        &'static str,
        &'static str,
        bool,
        (u64, u64, u64),
        &str,
        &str,
        &str,
    )| AllowanceLine {
        subject: names.of(subject),
        kind,
        what,
        is_hard: hard,
        used: shown.into(),
        meter: Meter { label: shown.into(), used, held, limit },
        resets: resets.into(),
        source: source.into(),
        link: (source == "budget").then(|| "/budgets/bud_02".to_owned()),
        binds: subject == "Research",
    };
    let secret = |prefix: &str, days, ends: Option<u64>, state, word: &str| SecretLine {
        prefix: format!("svc_ent_{prefix}"),
        made: Moment::minute(&calendar, sample::before(days * sample::DAY)),
        ends: ends.map(|days| Moment::minute(&calendar, sample::before(days * sample::DAY))),
        state: Badge::new(state, word),
    };
    let days = sample::wave(9, 14, 2_900);
    let slot = |(day, cents): (usize, &u64)| Slot {
        label: (9 + day).to_string(),
        name: format!("{} Nov", 9 + day),
        values: vec![Money::cents(*cents).0.0],
        link: Some(format!(
            "/requests?key=key_01m503&since=2026-11-{:02}T00%3A00%3A00Z&until=2026-11-{:02}T00%3A00%3A00Z",
            9 + day,
            10 + day
        )),
    };
    Key {
        head: Head::new(names.of("nightly-eval")).below("API keys", "/keys").stamp(
            "key_01m503 · Acme · 23 Oct 14:00 to 22 Nov 14:03, Europe/Berlin · as of 14:03:07",
        ),
        id: "key_01m503".into(),
        state: Badge::new(State::Good, "valid"),
        notice: Some((
            "warn",
            "Its secret is older than 90 days. Rotate it: the key keeps its limits and history."
                .into(),
        )),
        facts: vec![
            ("Class", "production".into()),
            ("Owner", names.of("service eval")),
            ("Team", names.of("Research")),
            ("May do", "chat, models".into()),
            ("Models", names.of("svc/nebula")),
            ("Regions", "eu-west".into()),
            ("Region, where none is named", "the account's".into()),
            ("Lowest level", "standard".into()),
            ("Zero retention", "no".into()),
            ("Audit entries", "yes".into()),
            ("Bound of an answer", "documented".into()),
            ("Requests an hour", "the class's".into()),
            ("Tokens a day", "the class's".into()),
            ("Last used", "20 h ago".into()),
            ("Age of its secret", "112 days".into()),
            ("Made", "2 Aug 09:12".into()),
            ("Works until", "it is revoked".into()),
        ],
        figures: vec![
            Figure::new("Spend", Money::cents(40_211)),
            Figure::new("Requests", Count(90_112)).link("/requests?period=30d&key=key_01m503"),
            Figure::new("Tokens in", Tokens(312_044_100)),
            Figure::new("Tokens out", Tokens(9_120_440)),
            Figure::new("Failed", Count(530))
                .link("/requests?period=30d&key=key_01m503&outcome=failed"),
        ],
        periods: Query::new("/keys/key_01m503", "").periods("30d"),
        all: "/requests?period=30d&key=key_01m503".into(),
        spend: Bars {
            id: "spend",
            title: "Spend of the key".into(),
            unit: Unit::Money,
            series: vec![Series { name: "Spend".into(), colour: 1 }],
            slots: days.iter().enumerate().map(slot).collect(),
            csv: "/keys/key_01m503/spend.csv?period=30d".into(),
            is_low: false,
        },
        past: [("14:00", "9,120", false), ("13:00", "10,000", true)]
            .map(|(from, used, is_spent)| PastWindow {
                what: "requests an hour",
                kind: "key",
                from: format!("22 Nov {from}"),
                used: used.into(),
                is_spent,
            })
            .into(),
        may_raise: vec![names.of("Grace Hopper"), names.of("Edsger Dijkstra")],
        allowances: [
            (
                "Research",
                "team",
                "US dollars a month",
                true,
                (39_211, 120, 40_000),
                "$392.11 of $400",
                "1 Dec 00:00",
                "budget",
            ),
            (
                "nightly-eval",
                "key",
                "tokens a day",
                true,
                (812_400, 0, 1_000_000),
                "812,400 of 1,000,000",
                "23 Nov 01:00",
                "class: production",
            ),
            (
                "nightly-eval",
                "key",
                "requests an hour",
                true,
                (1_204, 3, 10_000),
                "1,204 of 10,000",
                "15:00",
                "class: production",
            ),
            (
                "Acme",
                "account",
                "requests at once",
                true,
                (14, 0, 200),
                "14 of 200",
                "",
                "tier: highest",
            ),
            (
                "service eval",
                "service",
                "US dollars a week",
                false,
                (15_400, 0, 15_000),
                "$154.00 of $150",
                "23 Nov 00:00",
                "budget",
            ),
        ]
        .map(allowance)
        .into(),
        secrets: vec![
            secret("Tt0x", 112, None, State::Good, "works"),
            secret("b7Qe", 203, Some(110), State::Plain, "ended"),
        ],
        rows: own_rows(names),
        may_change: true,
        deeds: deeds(names),
        command: Code::new("As command", "sluice keys show key_01m503"),
    }
}

/// The latest requests with this key.
fn own_rows(names: Names) -> Vec<RequestRow> {
    let mut rows = sample_rows(names, 6);
    for row in &mut rows {
        row.key = names.of("nightly-eval");
        row.app = Some(names.of("eval"));
    }
    rows
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Key)> {
    let mut states = sample::in_all_names(make);
    let fresh = make(Names::Plain);
    states.insert(
        0,
        (
            "empty",
            Key {
                notice: None,
                figures: vec![
                    Figure::new("Spend", Money::cents(0)),
                    Figure::new("Requests", Count(0)),
                ],
                spend: Bars { slots: vec![], ..fresh.spend.clone() },
                rows: vec![],
                ..fresh
            },
        ),
    );
    states.push((
        "read-only",
        Key {
            state: Badge::new(State::Bad, "revoked"),
            notice: Some((
                "bad",
                "It was revoked on 21 Nov 17:20 and does not work any more.".into(),
            )),
            may_change: false,
            deeds: vec![],
            ..make(Names::Plain)
        },
    ));
    let mut failed = make(Names::Plain);
    failed.deeds.pop();
    failed.deeds.push(revoke(Names::Plain, Some("What you wrote is not its name.".into())));
    states.push(("error", failed));
    states
}
