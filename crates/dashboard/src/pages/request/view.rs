use askama::Template;
use askama::filters::HtmlSafe;
use sluice_core::outcome::Outcome;
use sluice_core::routing::Basis;

use crate::charts::{Step, Waterfall};
use crate::components::{Badge, Cost, Count, Figure, Share, Span, State, Text};
use crate::format;
use crate::layout::{Head, Place, View};
use crate::pages::requests::row::outcome_badge;
use crate::sample::{self, Names};

/// One request.
#[derive(Template)]
#[template(path = "pages/request/page.html")]
pub(crate) struct Request {
    pub(super) head: Head,
    pub(super) id: String,
    pub(super) outcome: Badge,
    /// What went wrong and what helps, where something did.
    pub(super) problem: Option<String>,
    /// Whose it was and what it asked for: name, value, address.
    pub(super) tags: Vec<(&'static str, Text, Option<String>)>,
    pub(super) figures: Vec<Figure>,
    pub(super) steps: Waterfall,
    /// How many calls of providers it took.
    pub(super) attempts: u64,
    pub(super) route: Option<Route>,
    /// Different values that were redacted, by kind.
    pub(super) redactions: Vec<(Text, Count)>,
    /// What was noticed.
    pub(super) flags: Vec<Text>,
    /// How much it looks like an attack, in thousandths.
    pub(super) injection_permille: u16,
    /// Tokens by class, which never overlap, and their share of all.
    pub(super) tokens: Vec<(&'static str, Count, Share)>,
    pub(super) facts: Vec<(&'static str, Text)>,
    /// The entry of the audit trail.
    pub(super) audit: Option<String>,
    pub(super) may_see_trail: bool,
    pub(super) newer: Option<String>,
    pub(super) older: Option<String>,
}

/// Why this model.
#[derive(Template)]
#[template(path = "pages/request/why.html")]
pub(crate) struct Route {
    pub(super) router: Text,
    pub(super) policy: Text,
    /// Why the first candidate is first, in a word.
    pub(super) reason: Text,
    /// The same in a sentence.
    pub(super) says: String,
    pub(super) candidates: Vec<Candidate>,
}

impl HtmlSafe for Route {}

/// One model that the router looked at.
pub(super) struct Candidate {
    pub(super) model: Text,
    pub(super) provider: Option<Text>,
    /// Thousandths.
    pub(super) quality: u16,
    /// What that rests on; nothing in records from before it was written down.
    pub(super) basis: Option<Basis>,
    pub(super) cost: Cost,
    pub(super) first_token: Span,
    pub(super) fate: Badge,
    pub(super) has_answered: bool,
}

impl View for Request {
    fn title(&self) -> String {
        format!("Request {}", self.id)
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Requests)
    }
}

impl Request {
    fn injection(&self) -> String {
        format::percent(u64::from(self.injection_permille), 1_000)
    }
}

pub(crate) fn route(names: Names) -> Route {
    let candidate = |(model, provider, quality, cost, first, state, fate): (
        &str,
        &str,
        u16,
        Option<u64>,
        u64,
        State,
        &str,
    )| Candidate {
        model: names.of(model),
        provider: Some(names.of(provider)),
        quality,
        basis: Some(Basis::Prior),
        cost: Cost(cost.map(sample::micros)),
        first_token: Span((first > 0).then_some(first)),
        fate: Badge::new(state, fate),
        has_answered: fate == "answered",
    };
    Route {
        router: names.of("svc/auto"),
        policy: "balanced".into(),
        reason: "fell back".into(),
        says: "Task debug (86 %), complexity .41, a step of an agent. The conversation was with lab/qwen3-32b, which did not answer; the next in order took over.".into(),
        candidates: vec![
            candidate(("lab/qwen3-32b", "lab", 712, Some(0), 600, State::Bad, "did not answer")),
            candidate(("gpt-5-mini", "openai", 780, Some(12_100), 400, State::Good, "answered")),
            candidate(("claude-sonnet-4.5", "anthropic", 901, Some(139_000), 900, State::Plain, "not needed")),
            candidate(("gemini-3-pro", "google", 912, Some(88_000), 6_800, State::Warn, "too slow")),
            candidate(("gpt-5", "openai", 920, Some(71_000), 0, State::Warn, "other region")),
            candidate(("mistral-large", "mistral", 700, None, 0, State::Warn, "prompt too long")),
        ],
    }
}

fn step(name: &str, from_ms: u64, to_ms: u64, state: State, note: &str) -> Step {
    Step { name: name.into(), from_ms, to_ms, state, note: note.into() }
}

fn tags(names: Names) -> Vec<(&'static str, Text, Option<String>)> {
    vec![
        ("key", names.of("ada-opencode"), Some("/requests?period=24h&key=key_01m501".into())),
        ("person", names.of("Ada Brandt"), Some("/organisation/people/per_01".into())),
        ("team", names.of("Platform"), Some("/requests?period=24h&team=team_01".into())),
        ("app", names.of("opencode"), Some("/requests?period=24h&app=opencode".into())),
        ("asked", names.of("svc/auto"), Some("/requests?period=24h&model=svc%2Fauto".into())),
        ("served", names.of("gpt-5-mini"), Some("/requests?period=24h&model=gpt-5-mini".into())),
        ("provider", names.of("openai"), Some("/requests?period=24h&provider=openai".into())),
        ("level", "standard".into(), None),
        ("region", "eu-west".into(), None),
    ]
}

fn make(names: Names) -> Request {
    let calendar = sample::calendar();
    Request {
        head: Head::new("Request")
            .below("Requests", "/requests")
            .stamp(format!("{} Europe/Berlin", calendar.second(sample::before(75_000)))),
        id: "req_01m81t8qey2v41k0".into(),
        outcome: outcome_badge(Outcome::Completed),
        problem: None,
        tags: tags(names),
        figures: vec![
            Figure::new("Cost", sample::cost(11_840)).note("prices of 2026-11-01"),
            Figure::new("Tokens in", Count(41_902)).note("38,400 from the cache"),
            Figure::new("Tokens out", Count(812)).note("300 of them reasoning"),
            Figure::new("First token", Span(Some(1_391))).note("2 attempts"),
            Figure::new("Duration", Span(Some(7_500))).note("134 tokens a second"),
        ],
        steps: Waterfall {
            steps: vec![
                step("first token", 0, 1_391, State::Good, ""),
                step("answer", 1_391, 7_500, State::Good, "streamed"),
            ],
        },
        attempts: 2,
        route: Some(route(names)),
        redactions: vec![
            (names.of("secret"), Count(1)),
            ("email".into(), Count(2)),
            ("person".into(), Count(1)),
        ],
        flags: vec![names.of("secret_in_answer")],
        injection_permille: 12,
        tokens: [
            ("prompt", 3_102),
            ("from the cache", 38_400),
            ("into the cache", 400),
            ("answer", 512),
            ("reasoning", 300),
        ]
        .map(|(class, number)| (class, Count(number), Share(number, 42_714)))
        .into(),
        facts: vec![
            ("Streamed", "yes".into()),
            ("Token figures", "measured".into()),
            ("Filter", "redact".into()),
            ("Application's address", names.of("opencode.example.org")),
        ],
        audit: Some("aud_01m81t8qf0k7".into()),
        may_see_trail: true,
        newer: Some("/requests/req_01m81t8r".into()),
        older: Some("/requests/req_01m81t8p".into()),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Request)> {
    let quiet = |outcome, problem: &str| Request {
        outcome: outcome_badge(outcome),
        problem: Some(problem.into()),
        route: None,
        redactions: vec![],
        flags: vec![],
        injection_permille: 0,
        audit: None,
        ..make(Names::Plain)
    };
    let mut states = sample::in_all_names(make);
    states.push((
        "error",
        Request {
            figures: vec![
                Figure::new("Cost", sample::cost(0)),
                Figure::new("Tokens in", Count(0)),
                Figure::new("First token", Span(None)),
                Figure::new("Duration", Span(Some(30_000))),
            ],
            steps: Waterfall { steps: vec![step("answer", 0, 30_000, State::Bad, "")] },
            attempts: 3,
            tokens: vec![],
            ..quiet(Outcome::UpstreamTimeout, "No provider answered in time.")
        },
    ));
    states.push((
        "blocked",
        Request {
            redactions: vec![("private_key".into(), Count(1))],
            flags: vec!["prompt_injection".into()],
            injection_permille: 981,
            tokens: vec![],
            steps: Waterfall::default(),
            attempts: 0,
            tags: tags(Names::Plain)
                .into_iter()
                .filter(|(name, ..)| !["served", "provider", "region"].contains(name))
                .collect(),
            figures: vec![
                Figure::new("Cost", sample::cost(0)),
                Figure::new("Tokens in", Count(0)),
                Figure::new("First token", Span(None)),
                Figure::new("Duration", Span(Some(4))),
            ],
            facts: vec![("Streamed", "no".into()), ("Filter", "block".into())],
            ..quiet(Outcome::Blocked, "The filter refused the request or stopped its answer.")
        },
    ));
    states
}
