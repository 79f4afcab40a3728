use askama::Template;

use crate::components::{Code, Cost, Count, Figure, Money, Share, Span, Text};
use crate::layout::{Head, Place, View};
use crate::pages::requests::row::{RequestRow, sample_rows};
use crate::sample::{self, Names};

/// The first page after signing in.
#[derive(Template)]
#[template(path = "pages/home/page.html")]
pub(crate) struct Home {
    pub(super) head: Head,
    /// What is left to do after the first start; empty once all is done or put away.
    pub(super) steps: Vec<Step>,
    pub(super) figures: Vec<Figure>,
    /// What somebody should look at.
    pub(super) matters: Vec<Matter>,
    pub(super) keys: Vec<OwnKey>,
    pub(super) rows: Vec<RequestRow>,
    pub(super) base_url: Text,
    /// Whether the reader may make keys, and so ask models here.
    pub(super) may_make: bool,
}

/// One step of the first start.
pub(super) struct Step {
    pub(super) title: &'static str,
    pub(super) text: String,
    pub(super) is_done: bool,
    /// What does it: a verb and an address.
    pub(super) action: Option<(&'static str, &'static str)>,
    pub(super) code: Option<Code>,
}

/// Something to look at: in a sentence, with the way there.
pub(super) struct Matter {
    pub(super) class: &'static str,
    pub(super) what: Text,
    pub(super) says: String,
    pub(super) action: (&'static str, String),
}

/// A key of the reader's own.
pub(super) struct OwnKey {
    pub(super) id: String,
    pub(super) name: Text,
    pub(super) cost: Cost,
    pub(super) last_used: Option<crate::components::Moment>,
}

impl View for Home {
    fn title(&self) -> String {
        "Home".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Home)
    }
}

impl Home {
    fn done(&self) -> usize {
        self.steps.iter().filter(|step| step.is_done).count()
    }
}

fn steps(done: usize) -> Vec<Step> {
    let curl = "curl http://localhost:8080/api/v1/chat/completions \\\n  -H \"Authorization: Bearer $SLUICE_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{\"model\": \"svc/auto\", \"messages\": [{\"role\": \"user\", \"content\": \"Say hello.\"}]}'";
    let step = |place: usize, title, text: &str, action| Step {
        title,
        text: text.to_owned(),
        is_done: place < done,
        action: (place == done).then_some(action),
        code: None,
    };
    vec![
        step(
            0,
            "Connect a provider",
            "Sluice found no key in its environment and no model server on this machine. Until then the simulator answers.",
            ("Connect a provider", "/providers/new"),
        ),
        step(
            1,
            "Make a key",
            "Programs and assistants come with a service key. It is shown once, with the set-up of your client.",
            ("Make key", "/keys/new"),
        ),
        Step {
            code: (done == 2).then(|| Code::new("Command", curl)),
            ..step(
                2,
                "Send the first request",
                "This ticks itself off when the request has arrived.",
                ("Open the playground", "/playground"),
            )
        },
    ]
}

fn make(names: Names) -> Home {
    let calendar = sample::calendar();
    let matter = |class, what: &str, says: &str, verb, path: &str| Matter {
        class,
        what: names.of(what),
        says: says.into(),
        action: (verb, path.into()),
    };
    Home {
        head: Head::new("Home").stamp("Acme "),
        steps: vec![],
        figures: vec![
            Figure::new("Spend, 24 h", Money::cents(4_562))
                .link("/overview?period=24h")
                .spark(&sample::wave(1, 24, 90)),
            Figure::new("Requests", Count(12_204))
                .link("/requests")
                .spark(&sample::wave(2, 24, 400)),
            Figure::new("Failed", Share(31, 12_204))
                .link("/requests?outcome=failed")
                .spark(&sample::wave(4, 24, 9)),
            Figure::new("First token, p95", Span(Some(398)))
                .link("/overview")
                .spark(&sample::wave(5, 24, 400)),
        ],
        matters: vec![
            matter(
                "bad",
                "lab",
                "does not answer; requests go elsewhere.",
                "Providers",
                "/providers",
            ),
            matter(
                "warn",
                "nightly-eval",
                "has a secret that is older than 90 days.",
                "Rotate",
                "/keys/key_01m503",
            ),
            matter(
                "warn",
                "Research",
                "has used 100 % of its US dollars a month: requests are refused.",
                "See the limit",
                "/keys/key_01m501",
            ),
        ],
        keys: [("ada-opencode", 21_240, 70), ("old-laptop", 31, 0)]
            .map(|(name, cents, ago)| OwnKey {
                id: "key_01m501".into(),
                name: names.of(name),
                cost: Cost(Some(Money::cents(cents).0)),
                last_used: (ago > 0).then(|| {
                    crate::components::Moment::ago(&calendar, sample::before(ago * 1_000))
                }),
            })
            .into(),
        rows: sample_rows(names, 8),
        base_url: "http://localhost:8080/api/v1".into(),
        may_make: true,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Home)> {
    let first = |done| Home {
        steps: steps(done),
        figures: vec![],
        matters: vec![],
        keys: vec![],
        rows: vec![],
        ..make(Names::Plain)
    };
    let mut states =
        vec![("empty", first(0)), ("first-key", first(1)), ("first-request", first(2))];
    states.extend(sample::in_all_names(make));
    states.push(("all-well", Home { matters: vec![], ..make(Names::Plain) }));
    states
}
