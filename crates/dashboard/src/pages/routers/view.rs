use askama::Template;

use crate::components::{Badge, Empty, Share, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The cards of the routers.
#[derive(Template)]
#[template(path = "pages/routers/page.html")]
pub(crate) struct Routers {
    pub(super) head: Head,
    pub(super) cards: Vec<Card>,
    /// Where the benchmark scores are from.
    pub(super) note: String,
    pub(super) empty: Empty,
    /// Whether the reader may ask models here.
    pub(super) may_ask: bool,
    /// Whether the reader may make a router.
    pub(super) may_make: bool,
    pub(super) notice: Option<&'static str>,
}

/// One router: the six fields of its card, and how it chooses.
pub(super) struct Card {
    pub(super) id: Text,
    /// Where it can be changed; `None`: the file has it, or every deployment.
    pub(super) path: Option<String>,
    /// Who may ask it; `None`: everybody.
    pub(super) whose: Option<Text>,
    /// Tenths, 0 to 1000; `None` where its policy was not measured.
    pub(super) benchmark_tenths: Option<u64>,
    pub(super) included_models: Vec<Text>,
    pub(super) last_changed: String,
    pub(super) stability: Badge,
    pub(super) pricing_tier: String,
    /// What the qualities of its members rest on; `None` where it does not look at them.
    pub(super) rests_on: Option<String>,
    pub(super) policy: String,
    pub(super) says: String,
    /// Which models answered in the last day, with their shares of the requests.
    pub(super) mix: Vec<(Text, Share)>,
}

impl Card {
    fn score(&self) -> Option<String> {
        self.benchmark_tenths.map(|tenths| format!("{}.{}", tenths / 10, tenths % 10))
    }
}

impl View for Routers {
    fn title(&self) -> String {
        "Routers".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Routers)
    }
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names) -> Routers {
    let card = |(id, score, models, changed, state, label, tier, policy, says): (
        &str,
        Option<u64>,
        &[&str],
        &str,
        State,
        &str,
        &'static str,
        &'static str,
        &'static str,
    )| Card {
        id: names.of(id),
        path: (id == "svc/house").then(|| "/routers/rtr_01".to_owned()),
        whose: (id == "svc/house").then(|| names.of("team Compilers")),
        benchmark_tenths: score,
        included_models: models.iter().map(|model| names.of(model)).collect(),
        last_changed: changed.into(),
        stability: Badge::new(state, label),
        pricing_tier: tier.into(),
        rests_on: Some("1 by yours (as you say), 4 by prior (public leaderboards)".into()),
        policy: policy.into(),
        says: says.into(),
        mix: match (score, models) {
            (Some(724), [first, second, ..]) => {
                vec![(names.of(first), Share(620, 1_000)), (names.of(second), Share(380, 1_000))]
            }
            _ => vec![],
        },
    };
    let all: &[&str] = &[
        "claude-sonnet-4.5",
        "gpt-5",
        "gpt-5-mini",
        "gemini-3-pro",
        "lab/qwen3-32b",
        "mistral-large",
    ];
    let cards: [(
        &str,
        Option<u64>,
        &[&str],
        &str,
        State,
        &str,
        &'static str,
        &'static str,
        &'static str,
    ); 4] = [
        (
            "svc/auto",
            Some(724),
            all,
            "22 Nov 2026",
            State::Warn,
            "preview",
            "medium",
            "balanced",
            "Quality, cost and time.",
        ),
        (
            "svc/orbit",
            Some(681),
            all,
            "22 Nov 2026",
            State::Warn,
            "preview",
            "medium",
            "fastest",
            "Cheap and fast first.",
        ),
        (
            "svc/nebula",
            Some(743),
            all,
            "22 Nov 2026",
            State::Warn,
            "preview",
            "medium",
            "strongest",
            "Quality first.",
        ),
        (
            "svc/house",
            Some(652),
            &["gpt-5-mini", "claude-sonnet-4.5"],
            "3 Nov 2026",
            State::Good,
            "stable",
            "low",
            "weighted",
            "By weights: 70 % and 30 %, the same for all of a session.",
        ),
    ];
    Routers {
        head: Head::new("Routers").stamp("A router is asked like a model, and picks one for each request by task, speed and complexity."),
        cards: cards.map(card).into(),
        note: "Benchmark score: RouterArena's score of accuracy and cost, 0 to 100, replayed on recorded outcomes of 2026-11-20, with other models than yours.".into(),
        empty: Empty::new("No routers yet", "The routers svc/auto, svc/orbit and svc/nebula are there as soon as one provider is connected.").action("Connect a provider", "/providers/new"),
        may_ask: true,
        may_make: true,
        notice: None,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Routers)> {
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", Routers { cards: vec![], ..make(Names::Plain) }));
    states.push((
        "full",
        Routers {
            cards: (1..5)
                .flat_map(|nth| {
                    make(Names::Plain).cards.into_iter().map(move |card| Card {
                        id: format!("{}-{nth}", card.id.plain()).into(),
                        ..card
                    })
                })
                .collect(),
            ..make(Names::Plain)
        },
    ));
    states
}
