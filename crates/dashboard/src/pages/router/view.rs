use askama::Template;
use sluice_core::routing::Basis;

use crate::components::{Code, Csrf, Drawn, Field, Kind, Problem, Share, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// A router of an account, a department or a team, or the form that makes one.
#[derive(Template)]
#[template(path = "pages/router/page.html")]
pub(crate) struct RouterPage {
    pub(super) head: Head,
    /// Its id; `None` where it is made.
    pub(super) id: Option<String>,
    /// Its name, to ask it and to look for its requests.
    pub(super) name: Text,
    pub(super) notice: Option<(&'static str, String)>,
    pub(super) problem: Option<Problem>,
    pub(super) facts: Vec<(&'static str, Text)>,
    pub(super) members: Vec<Member>,
    pub(super) may_change: bool,
    /// From which settings the form was drawn; `None` where it makes a router.
    pub(super) drawn: Option<Drawn>,
    pub(super) fields: Vec<Field>,
    /// What a prompt is tried with.
    pub(super) attempt: Vec<Field>,
    pub(super) tried: Vec<Tried>,
    pub(super) versions: Vec<Version>,
    pub(super) command: Code,
    pub(super) csrf: Csrf,
}

/// A member, with its share.
pub(super) struct Member {
    pub(super) name: Text,
    /// How good it is taken to be, in thousandths, and what that rests on; nothing where it is not
    /// served at present.
    pub(super) quality: Option<(u16, Basis)>,
    /// Its share of a weighted split.
    pub(super) share: Option<Share>,
    /// Its share of the last day's requests.
    pub(super) answered: Option<Share>,
}

/// What a version would choose.
pub(super) struct Tried {
    pub(super) version: u32,
    pub(super) chosen: Text,
    pub(super) reasons: Vec<String>,
}

/// One version.
pub(super) struct Version {
    pub(super) number: u32,
    pub(super) is_newest: bool,
    pub(super) policy: String,
    pub(super) members: Text,
    pub(super) made: String,
    pub(super) by: Text,
}

impl View for RouterPage {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Routers)
    }
}

fn make(names: Names) -> RouterPage {
    let version = |(number, members): (u32, &str)| Version {
        number,
        is_newest: number == 2,
        policy: "weighted".into(),
        members: names.of(members),
        made: "12 Nov 09:30".into(),
        by: names.of("Ada Lovelace"),
    };
    RouterPage {
        head: Head::new(names.of("svc/review"))
            .below("Routers", "/routers")
            .stamp("rtr_01, version 2"),
        id: Some("rtr_01".into()),
        name: names.of("svc/review"),
        notice: None,
        problem: None,
        facts: vec![("For", names.of("team Compilers")), ("Policy", "weighted".into())],
        members: vec![
            Member {
                name: names.of("gpt-5-mini"),
                quality: Some((812, Basis::Prior)),
                share: Some(Share(9, 10)),
                answered: Some(Share(880, 1_000)),
            },
            Member {
                name: names.of("claude-sonnet-4.5"),
                quality: Some((880, Basis::Yours)),
                share: Some(Share(1, 10)),
                answered: Some(Share(120, 1_000)),
            },
        ],
        may_change: true,
        drawn: Some(Drawn::default()),
        fields: vec![
            Field::new(Kind::Area, "members", "Members").value("gpt-5-mini=9\nclaude-sonnet-4.5=1"),
            Field::select("policy", "Policy", &[("weighted", "weighted".into())], "weighted"),
        ],
        attempt: vec![Field::new(Kind::Area, "prompt", "Prompt").value("Sort a list in Rust.")],
        tried: vec![],
        versions: vec![
            version((2, "gpt-5-mini 90 %, claude-sonnet-4.5 10 %")),
            version((1, "gpt-5-mini 100 %")),
        ],
        command: Code::new("As command", "sluice routers set svc/review --members gpt-5-mini=9"),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, RouterPage)> {
    let mut states = sample::in_all_names(make);
    let tried = [(2, "gpt-5-mini"), (1, "gpt-5-mini")].map(|(version, chosen)| Tried {
        version,
        chosen: chosen.into(),
        reasons: vec!["weighted: its share of the split".into()],
    });
    states.push(("tried", RouterPage { tried: tried.into(), ..make(Names::Plain) }));
    let nothing = || RouterPage {
        head: Head::new("New router").below("Routers", "/routers"),
        id: None,
        facts: vec![],
        members: vec![],
        attempt: vec![],
        versions: vec![],
        ..make(Names::Plain)
    };
    states.push(("new", nothing()));
    let mut wrong = nothing();
    wrong.fields[0] = Field::new(Kind::Area, "members", "Members")
        .value("gpt-6=9")
        .error("There is no model \"gpt-6\"; did you mean \"gpt-5\"?");
    states.push(("error", wrong));
    states.push(("read-only", RouterPage { may_change: false, ..make(Names::Plain) }));
    states
}
