use askama::Template;

use crate::components::{
    Badge, Confirm, Cost, Count, Csrf, Empty, Field, Filters, Kind, Moment, Money, Offer, Pager,
    Problem, Query, State, Tabs, Text,
};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// Accounts, departments, teams or people.
#[derive(Template)]
#[template(path = "pages/organisation/page.html")]
pub(crate) struct Organisation {
    pub(super) head: Head,
    pub(super) tabs: Tabs,
    pub(super) filters: Filters,
    pub(super) part: Part,
    pub(super) pager: Pager,
    /// An invitation that was just made.
    pub(super) link: Option<Link>,
    /// The form that adds one; `None` where the reader may not.
    pub(super) add: Option<Add>,
}

/// A link that sets a password, shown this once.
pub(crate) struct Link {
    pub(crate) whom: Text,
    pub(crate) address: String,
    /// When it ends, with the zone that this is told in.
    pub(crate) ends: String,
    pub(crate) zone: String,
}

/// What is listed.
pub(super) enum Part {
    Accounts(Vec<AccountRow>),
    Departments(Vec<GroupRow>),
    Teams(Vec<GroupRow>),
    Services(Vec<GroupRow>),
    People(Vec<PersonRow>),
    Nothing(Empty),
}

pub(super) struct AccountRow {
    pub(super) id: String,
    pub(super) name: Text,
    pub(super) tier: &'static str,
    pub(super) people: Count,
    pub(super) made: Moment,
    pub(super) state: Badge,
}

/// A department, a team or a service.
pub(super) struct GroupRow {
    pub(super) id: String,
    pub(super) name: Text,
    /// Its department, or the team that looks after it.
    pub(super) above: Option<Text>,
    /// Services have none.
    pub(super) people: Option<Count>,
    pub(super) keys: Count,
    pub(super) cost: Cost,
    pub(super) state: Badge,
    /// Whether the configuration file has it, which makes it read-only here.
    pub(super) is_files: bool,
}

pub(super) struct PersonRow {
    pub(super) id: String,
    pub(super) name: Option<Text>,
    pub(super) email: Text,
    pub(super) role: &'static str,
    pub(super) is_operator: bool,
    /// Whether the configuration file has them, which makes them read-only here.
    pub(super) is_files: bool,
    pub(super) teams: Text,
    pub(super) keys: Count,
    pub(super) cost: Cost,
    pub(super) state: Badge,
}

/// The form that adds something.
pub(super) struct Add {
    pub(super) title: &'static str,
    pub(super) verb: &'static str,
    pub(super) action: &'static str,
    pub(super) problem: Option<Problem>,
    pub(super) fields: Vec<Field>,
    pub(super) csrf: Csrf,
}

impl View for Organisation {
    fn title(&self) -> String {
        "Organisation".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Organisation)
    }
}

const PARTS: [(&str, &str); 5] = [
    ("People", "/organisation"),
    ("Teams", "/organisation/teams"),
    ("Departments", "/organisation/departments"),
    ("Services", "/organisation/services"),
    ("Accounts", "/organisation/accounts"),
];

fn with(part: Part, here: &str, add: Option<Add>) -> Organisation {
    let query = Query::new(here, "");
    let removed = query.filter("state", [Offer::new("removed", "removed")]);
    Organisation {
        head: Head::new("Organisation").stamp("Acme · spend of the last 30 days"),
        filters: query.filters("Name or address", vec![removed]),
        pager: query.pager("1 to 5 of 5".into(), None, None),
        tabs: Tabs::parts("Parts of the organisation", &PARTS, here),
        part,
        link: None,
        add,
    }
}

fn people(names: Names) -> Organisation {
    let person = |(id, name, email, role, teams, keys, cents, state, word): (
        &str,
        &str,
        &str,
        &'static str,
        &str,
        u64,
        u64,
        State,
        &str,
    )| PersonRow {
        id: id.into(),
        name: (!name.is_empty()).then(|| names.of(name)),
        email: names.of(email),
        role,
        is_operator: role == "owner",
        teams: if teams.is_empty() { Text::from("–") } else { names.of(teams) },
        keys: Count(keys),
        is_files: id == "per_03",
        cost: Cost(Some(Money::cents(cents).0)),
        state: Badge::new(state, word),
    };
    let rows = [
        (
            "per_01",
            "Ada Brandt",
            "ada@example.org",
            "owner",
            "Platform",
            4,
            24_110,
            State::Good,
            "active",
        ),
        (
            "per_02",
            "Jonas Keller",
            "jonas@example.org",
            "developer",
            "Payments, Platform",
            2,
            8_204,
            State::Good,
            "active",
        ),
        (
            "per_03",
            "Mina Okafor",
            "mina@example.org",
            "department-lead",
            "Research",
            1,
            1_290,
            State::Good,
            "active",
        ),
        ("per_04", "", "sam@example.org", "auditor", "", 0, 0, State::Good, "active"),
        (
            "per_05",
            "Lee Park",
            "lee@example.org",
            "billing",
            "Payments",
            1,
            0,
            State::Warn,
            "suspended",
        ),
    ];
    let add = Add {
        title: "Invite somebody",
        verb: "Make the link",
        action: "/organisation/people",
        problem: None,
        fields: vec![
            Field::new(Kind::Email, "email", "E-mail address")
                .hint("Nothing is sent: you get a link that works once.")
                .required(),
            Field::select(
                "role",
                "Role",
                &[
                    ("developer", "developer: their own keys".into()),
                    ("department-lead", "department lead: their departments".into()),
                    ("auditor", "auditor: sees everything, changes nothing".into()),
                    ("billing", "billing: sees use and cost".into()),
                    ("admin", "admin: everything but owners".into()),
                    ("owner", "owner: everything".into()),
                ],
                "developer",
            ),
            Field::checks(
                "teams",
                "Teams",
                &[
                    ("team_01", names.of("Platform")),
                    ("team_02", names.of("Payments")),
                    ("team_03", names.of("Research")),
                ],
                &[],
            ),
        ],
        csrf: sample::csrf(),
    };
    with(Part::People(rows.map(person).into()), "/organisation", Some(add))
}

fn groups(names: Names, are_teams: bool) -> Organisation {
    let group = |(id, name, above, people, keys, cents, is_files): (
        &str,
        &str,
        &str,
        u64,
        u64,
        u64,
        bool,
    )| GroupRow {
        id: id.into(),
        name: names.of(name),
        above: (!above.is_empty()).then(|| names.of(above)),
        people: Some(Count(people)),
        keys: Count(keys),
        cost: Cost(Some(Money::cents(cents).0)),
        state: Badge::new(State::Good, "active"),
        is_files,
    };
    let name = Field::new(Kind::Line, "name", "Name").required();
    let add = |title, verb, action, fields| Add {
        title,
        verb,
        action,
        problem: None,
        fields,
        csrf: sample::csrf(),
    };
    if are_teams {
        let rows = [
            ("team_01", "Platform", "Engineering", 9, 14, 129_002, false),
            ("team_02", "Payments", "Engineering", 5, 9, 64_190, false),
            ("team_03", "Research", "Science", 3, 8, 40_211, true),
        ];
        let fields = vec![
            name,
            Field::select(
                "department",
                "Department",
                &[("dep_01", names.of("Engineering")), ("dep_02", names.of("Science"))],
                "dep_01",
            ),
        ];
        with(
            Part::Teams(rows.map(group).into()),
            "/organisation/teams",
            Some(add("Make a team", "Make team", "/organisation/teams", fields)),
        )
    } else {
        let rows = [
            ("dep_01", "Engineering", "", 14, 23, 193_192, false),
            ("dep_02", "Science", "", 3, 8, 40_211, true),
        ];
        with(
            Part::Departments(rows.map(group).into()),
            "/organisation/departments",
            Some(add(
                "Make a department",
                "Make department",
                "/organisation/departments",
                vec![name],
            )),
        )
    }
}

fn services(names: Names) -> Organisation {
    let service = |(id, name, above, keys, cents): (&str, &str, &str, u64, u64)| GroupRow {
        id: id.into(),
        name: names.of(name),
        above: (!above.is_empty()).then(|| names.of(above)),
        people: None,
        keys: Count(keys),
        cost: Cost(Some(Money::cents(cents).0)),
        state: Badge::new(State::Good, "active"),
        is_files: false,
    };
    let rows =
        [("ser_01", "build", "Platform", 3, 41_200), ("ser_02", "billing-bot", "", 1, 9_114)];
    with(Part::Services(rows.map(service).into()), "/organisation/services", None)
}

fn accounts(names: Names) -> Organisation {
    let calendar = sample::calendar();
    let account = |(id, name, tier, people, days, state, word): (
        &str,
        &str,
        &'static str,
        u64,
        u64,
        State,
        &str,
    )| AccountRow {
        id: id.into(),
        name: names.of(name),
        tier,
        people: Count(people),
        made: Moment::day(&calendar, sample::before(days * sample::DAY)),
        state: Badge::new(state, word),
    };
    let rows = [
        ("acc_01", "Acme", "highest", 17, 300, State::Good, "active"),
        ("acc_02", "Globex", "middle", 4, 120, State::Good, "active"),
        ("acc_03", "Initech", "lowest", 1, 20, State::Warn, "suspended"),
    ];
    with(Part::Accounts(rows.map(account).into()), "/organisation/accounts", None)
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Organisation)> {
    let nothing = Empty::new("No teams yet", "A team has people and keys, and limits that hold for all of its keys together. Make a department first: it holds the teams.")
        .action("Make a department", "/organisation/departments");
    let mut states = vec![("empty", with(Part::Nothing(nothing), "/organisation/teams", None))];
    states.extend(sample::in_all_names(people));
    let mut wrong = people(Names::Plain);
    if let Some(add) = &mut wrong.add {
        add.problem = Some(Problem::new("One field has to be mended. Nobody was invited."));
        add.fields[0] = Field::new(Kind::Email, "email", "E-mail address")
            .value("ada@example.org")
            .error("Ada Brandt has this address. Open her page to change her role")
            .required();
    }
    states.push(("error", wrong));
    let link = Some(Link {
        whom: "sam@example.org".into(),
        address: "https://sluice.example.org/invite/i_7Qm2vT1xR9kLw2ZsB8nY".into(),
        ends: "25 Nov 14:03".into(),
        zone: "Europe/Berlin".into(),
    });
    states.push(("invited", Organisation { link, ..people(Names::Plain) }));
    states.push(("teams", groups(Names::Plain, true)));
    states.push(("teams-markup", groups(Names::Markup, true)));
    states.push(("departments", groups(Names::Plain, false)));
    states.push(("services", services(Names::Plain)));
    states.push(("accounts", accounts(Names::Plain)));
    states.push(("accounts-long", accounts(Names::Long)));
    states
}

/// The question before a person is removed.
pub(crate) fn remove_person(names: Names) -> Confirm {
    let name = names.of("Jonas Keller");
    Confirm {
        id: "remove",
        action: "/organisation/people/per_02/remove".into(),
        title: Text::new(format!("Remove {}", name.plain())),
        consequences: vec![
            "They are signed out everywhere, and cannot come back without an invitation.".into(),
            "What they did stays theirs in every record.".into(),
        ],
        fields: vec![
            Field::select(
                "keys",
                "Their 2 keys",
                &[
                    ("suspend", "suspend".into()),
                    ("revoke", "revoke".into()),
                    ("hand-over", "hand over to me".into()),
                ],
                "suspend",
            )
            .id("remove-keys"),
        ],
        name: Some(name),
        verb: "Remove",
        is_dangerous: true,
        error: None,
        back: "/organisation/people/per_02".into(),
        csrf: sample::csrf(),
    }
}
