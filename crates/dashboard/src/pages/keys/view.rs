use askama::Template;

use crate::components::{
    Badge, Column, Cost, Empty, Filters, Moment, Money, Pager, Query, State, Text,
};
use crate::format;
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The list of keys.
#[derive(Template)]
#[template(path = "pages/keys/page.html")]
pub(crate) struct Keys {
    pub(super) head: Head,
    pub(super) may_make: bool,
    pub(super) filters: Filters,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<KeyRow>,
    pub(super) pager: Pager,
    pub(super) empty: Empty,
    pub(super) notice: Option<&'static str>,
}

/// One key in a line.
pub(super) struct KeyRow {
    pub(super) id: String,
    pub(super) name: Text,
    /// The first characters of its newest secret.
    pub(super) prefix: String,
    pub(super) owner: Option<Text>,
    pub(super) team: Option<Text>,
    pub(super) class: &'static str,
    /// What it may ask for; `None`: all.
    pub(super) models: Option<Text>,
    pub(super) cost: Cost,
    pub(super) last_used: Option<Moment>,
    pub(super) age: String,
    /// How urgent its rotation is.
    pub(super) due: State,
    /// Why it does not work, where it does not.
    pub(super) ended: Option<Badge>,
}

impl View for Keys {
    fn title(&self) -> String {
        "API keys".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Keys)
    }
}

fn make(names: Names, times: u64) -> Keys {
    let calendar = sample::calendar();
    let row = |(place, name, owner, team, class, models, cents, _, used, days): (
        u64,
        &str,
        &str,
        &str,
        &'static str,
        &str,
        u64,
        &str,
        u64,
        u64,
    )| KeyRow {
        id: format!("key_01m5{place:02}"),
        name: names.of(name),
        prefix: format!(
            "svc_ent_{}",
            ["4Qm7", "jZRG", "Tt0x", "9wLd", "c2Vk", "m81T"]
                [usize::try_from(place % 6).unwrap_or(0)]
        ),
        owner: (!owner.is_empty()).then(|| names.of(owner)),
        team: (!team.is_empty()).then(|| names.of(team)),
        class,
        models: (!models.is_empty()).then(|| names.of(models)),
        cost: Cost(Some(Money::cents(cents).0)),
        last_used: (used > 0).then(|| Moment::ago(&calendar, sample::before(used * 1_000))),
        age: format::age(days * sample::DAY),
        due: match days {
            90.. => State::Bad,
            83.. => State::Warn,
            _ => State::Plain,
        },
        ended: match name {
            "retired-bot" => Some(Badge::new(State::Bad, "revoked")),
            "summer-interns" => Some(Badge::new(State::Warn, "suspended")),
            _ => None,
        },
    };
    let company = [
        (
            1,
            "ci-review",
            "service ci",
            "Platform",
            "enterprise",
            "svc/auto, gpt-5-mini",
            0,
            "$2,500 a month, team",
            0,
            0,
        ),
        (
            2,
            "ada-opencode",
            "Ada Brandt",
            "Platform",
            "enterprise",
            "",
            21_240,
            "$2,500 a month, team",
            61,
            61,
        ),
        (
            3,
            "nightly-eval",
            "service eval",
            "Research",
            "production",
            "svc/nebula",
            40_211,
            "$400 a month, team",
            72_400,
            112,
        ),
        (
            4,
            "billing-bot",
            "service billing",
            "Payments",
            "production",
            "svc/orbit",
            8_802,
            "1 M tokens a day, class",
            4,
            88,
        ),
        (
            5,
            "old-laptop",
            "Jonas Keller",
            "Payments",
            "development",
            "",
            31,
            "1,000 requests an hour, class",
            1_641_600,
            140,
        ),
        (6, "summer-interns", "", "Research", "development", "svc/orbit", 412, "", 5_000_000, 80),
        (7, "retired-bot", "service support", "", "production", "", 12, "", 8_640_000, 200),
    ];
    let rows: Vec<_> = (0..times).flat_map(|_| company).map(row).collect();
    let total = rows.len() as u64;
    let query = Query::new("/keys", "");
    Keys {
        head: Head::new("API keys").stamp(format!("Acme · {} · {} to rotate · spend of November, Europe/Berlin", format::plural(total, "key", "keys"), 2 * times)),
        may_make: true,
        filters: query.filters("Name, or paste a key", vec![
            query.filter("state", [("valid".into(), 31), ("to rotate".into(), 2), ("suspended".into(), 1), ("revoked".into(), 6)]),
            query.filter("team", [(names.of("Platform"), 14), (names.of("Payments"), 9), (names.of("Research"), 8)]),
            query.filter("owner", [(names.of("Ada Brandt"), 4), (names.of("service ci"), 2)]),
            query.filter("class", [("development".into(), 12), ("production".into(), 18), ("enterprise".into(), 8)]),
        ]).as_form(sample::csrf()),
        columns: columns(&query),
        rows,
        pager: query.pager(
            format!("{total} of {}", format::plural(total, "key", "keys")),
            None,
            (times > 3).then_some("key_01m5"),
        ),
        empty: Empty::new("No keys yet", "Programs and assistants come with a service key. It says what they may use and how much; it is shown once, with the set-up of your client.")
            .action("Make key", "/keys/new"),
        notice: None,
    }
}

/// The columns, with the links that sort by them.
pub(super) fn columns(query: &Query) -> Vec<Column> {
    const DEFAULT: &str = "-spend";
    vec![
        query.sorted_by_name(Column::text("Name"), "name", DEFAULT),
        Column::text("Secret").drop(5),
        Column::text("Owner").drop(3),
        Column::text("Team").drop(4),
        Column::text("Class").drop(4),
        Column::text("May use").drop(5),
        query.sorted(Column::number("30 days"), "spend", DEFAULT),
        query.sorted(Column::text("Last used").drop(2), "used", DEFAULT),
        query.sorted(Column::text("Age"), "made", DEFAULT),
    ]
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Keys)> {
    let mut states = sample::in_all_names(|names| make(names, 1));
    states.insert(0, ("empty", make(Names::Plain, 0)));
    states.push(("full", make(Names::Plain, 7)));
    let mut nothing = make(Names::Plain, 0);
    nothing.filters.sought = "svc_ent_9wLd…".into();
    nothing.filters.clear = Some("/keys".into());
    nothing.empty = Empty::new(
        "Nothing matches",
        "No key has this name, these first characters or this secret, or the filters leave none.",
    )
    .action("Show all keys", "/keys");
    states.push(("not-found", nothing));
    states.push((
        "error",
        Keys {
            notice: Some("What the keys cost took too long to add up and is left out."),
            ..make(Names::Plain, 1)
        },
    ));
    states
}
