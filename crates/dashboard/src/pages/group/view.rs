use crate::components::{Badge, Cost, Drawn, Field, Kind, Money, State, Text};
use crate::layout::Head;
use crate::pages::person::{KeyLine, Members, Profile};
use crate::sample::{self, Names};

fn make(names: Names) -> Profile {
    let key = |(name, cents): (&str, u64)| KeyLine {
        id: "key_01m505".into(),
        name: names.of(name),
        team: names.of("Platform"),
        cost: Cost(Some(Money::cents(cents).0)),
        last_used: None,
    };
    let people = [("per_01", "Ada Brandt", "owner"), ("per_02", "Jonas Keller", "developer")];
    let person = |(id, name, role): (&str, &str, &str)| {
        (format!("/organisation/people/{id}"), names.of(name), Text::from(role))
    };
    let service = ("/organisation/services/ser_01".into(), names.of("build"), Text::from("active"));
    let group = |title, what, rows| Members { title, what, rows, more: None };
    Profile {
        head: Head::new(names.of("Platform"))
            .below("Teams", "/organisation/teams")
            .stamp("$1,290.02 in the last 30 days"),
        path: "/organisation/teams/team_01".into(),
        what: "Team",
        state: Badge::new(State::Good, "active"),
        notice: None,
        facts: vec![
            ("Id", "team_01".into()),
            ("Department", names.of("Engineering")),
            ("Made", "2 Jan 2026 09:12".into()),
        ],
        keys: Some((
            "/keys?team=team_01".into(),
            [("ci-review", 82_310), ("nightly", 410)].map(key).into(),
        )),
        groups: vec![
            group("People", "Role", people.map(person).into()),
            group("Services", "State", vec![service]),
        ],
        sessions: None,
        may_end: false,
        fields: vec![
            Field::new(Kind::Line, "name", "Name").value(names.of("Platform")).required(),
            Field::select(
                "department",
                "Department",
                &[("dep_01", names.of("Engineering")), ("dep_02", names.of("Science"))],
                "dep_01",
            ),
        ],
        drawn: Drawn::default(),
        problem: None,
        read_only: None,
        deeds: vec![],
        link: None,
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Profile)> {
    let mut states = sample::in_all_names(make);
    let empty = Profile {
        keys: Some(("/keys".into(), vec![])),
        groups: vec![Members { title: "People", what: "Role", rows: vec![], more: None }],
        ..make(Names::Plain)
    };
    states.insert(0, ("empty", empty));
    let notice = Some(("warn", "It is suspended since 22 Nov 14:03: unpaid.".into()));
    let state = Badge::new(State::Warn, "suspended");
    states.push(("suspended", Profile { notice, state, ..make(Names::Plain) }));
    states
}
