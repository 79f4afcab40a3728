use askama::Template;

use crate::components::{
    Badge, Confirm, Cost, Csrf, Drawn, Field, Kind, Markup, Moment, Money, Problem, State, Text,
};
use crate::layout::{Head, Place, View};
use crate::pages::organisation::{Link, remove_person};
use crate::pages::settings::SessionRow;
use crate::sample::{self, Names};

/// One person, team, department, service or account.
#[derive(Template)]
#[template(path = "pages/person/page.html")]
pub(crate) struct Profile {
    pub(crate) head: Head,
    /// Where its page is.
    pub(crate) path: String,
    /// What it is, in a word.
    pub(crate) what: &'static str,
    pub(crate) state: Badge,
    pub(crate) notice: Option<(&'static str, Markup)>,
    pub(crate) facts: Vec<(&'static str, Text)>,
    /// The keys that the reader sees, with the address of their list; `None` for what has none.
    pub(crate) keys: Option<(String, Vec<KeyLine>)>,
    /// What belongs to it.
    pub(crate) groups: Vec<Members>,
    /// Where somebody is signed in; `None` where the reader may not know, and for what is nobody.
    pub(crate) sessions: Option<Vec<SessionRow>>,
    /// Whether the reader may end them.
    pub(crate) may_end: bool,
    /// What can be changed; nothing where the reader may not.
    pub(crate) fields: Vec<Field>,
    pub(crate) drawn: Drawn,
    pub(crate) problem: Option<Problem>,
    pub(crate) read_only: Option<&'static str>,
    /// Suspend, remove, …: what the reader may do.
    pub(crate) deeds: Vec<Confirm>,
    /// A link to a new password that was just made.
    pub(crate) link: Option<Link>,
    pub(crate) csrf: Csrf,
}

/// A key of theirs.
pub(crate) struct KeyLine {
    pub(crate) id: String,
    pub(crate) name: Text,
    pub(crate) team: Text,
    pub(crate) cost: Cost,
    pub(crate) last_used: Option<Moment>,
}

/// What belongs to something: addresses, names, and a word about each.
pub(crate) struct Members {
    pub(crate) title: &'static str,
    pub(crate) what: &'static str,
    pub(crate) rows: Vec<(String, Text, Text)>,
    /// How many more there are.
    pub(crate) more: Option<String>,
}

impl View for Profile {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Organisation)
    }
}

fn make(names: Names) -> Profile {
    let calendar = sample::calendar();
    let session = |id: &str, browser: &str, ago: u64, is_this| SessionRow {
        id: id.into(),
        browser: names.of(browser),
        address: "10.0.4.20".into(),
        began: Moment::minute(&calendar, sample::before(3 * sample::DAY)),
        seen: Moment::ago(&calendar, sample::before(ago)),
        is_this,
    };
    Profile {
        head: Head::new(names.of("Jonas Keller"))
            .below("Organisation", "/organisation")
            .stamp("spend of the last 30 days"),
        path: "/organisation/people/per_02".into(),
        what: "Person",
        state: Badge::new(State::Good, "active"),
        notice: None,
        facts: vec![
            ("Id", "per_02".into()),
            ("E-mail", names.of("jonas@example.org")),
            ("Role", "developer".into()),
            ("Teams", names.of("Payments, Platform")),
            ("Added", "2 Jan 2026 09:12".into()),
        ],
        keys: Some((
            "/keys?owner=Jonas%20Keller".into(),
            [("old-laptop", 31), ("jonas-continue", 4_410)]
                .map(|(name, cents)| KeyLine {
                    id: "key_01m505".into(),
                    name: names.of(name),
                    team: names.of("Payments"),
                    cost: Cost(Some(Money::cents(cents).0)),
                    last_used: (cents > 31)
                        .then(|| Moment::ago(&calendar, sample::before(cents * sample::MINUTE))),
                })
                .into(),
        )),
        groups: vec![],
        sessions: Some(vec![
            session("1", "Firefox on Linux", sample::MINUTE, false),
            session("2", "Safari on iPhone", sample::DAY, false),
        ]),
        may_end: true,
        fields: vec![
            Field::new(Kind::Line, "name", "Name").value(names.of("Jonas Keller")),
            Field::new(Kind::Email, "email", "E-mail address")
                .value(names.of("jonas@example.org"))
                .required(),
            Field::select(
                "role",
                "Role",
                &[
                    ("developer", "developer: their own keys".into()),
                    ("admin", "admin: everything but owners".into()),
                ],
                "developer",
            ),
            Field::checks(
                "teams",
                "Teams",
                &[("team_01", names.of("Platform")), ("team_02", names.of("Payments"))],
                &["team_01", "team_02"],
            ),
        ],
        drawn: Drawn::default(),
        problem: None,
        read_only: None,
        deeds: vec![remove_person(names)],
        link: None,
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Profile)> {
    let mut states = sample::in_all_names(make);
    let keys = Some(("/keys".into(), vec![]));
    let empty = Profile { keys, sessions: Some(vec![]), ..make(Names::Plain) };
    states.insert(0, ("empty", empty));
    let read_only = Profile {
        fields: vec![],
        deeds: vec![],
        read_only: Some(super::FILES),
        may_end: false,
        ..make(Names::Plain)
    };
    states.push(("read-only", read_only));
    let link = Some(Link {
        whom: "jonas@example.org".into(),
        address: "https://sluice.example.org/invite/r_2bQm2vT1xR9kLw2ZsB8n".into(),
        ends: "23 Nov 14:03".into(),
        zone: "Europe/Berlin".into(),
    });
    states.push(("reset", Profile { link, ..make(Names::Plain) }));
    let mut wrong = make(Names::Plain);
    wrong.fields[2] =
        Field::select("role", "Role", &[("developer", "developer".into())], "developer")
            .error("The last owner keeps their role. Make somebody else an owner first");
    states.push(("error", wrong));
    states
}
