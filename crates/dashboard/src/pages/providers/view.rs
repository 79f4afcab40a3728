use askama::Template;

use crate::components::{Badge, Count, Empty, Moment, Share, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The providers and how they are doing.
#[derive(Template)]
#[template(path = "pages/providers/page.html")]
pub(crate) struct Providers {
    pub(super) head: Head,
    pub(super) rows: Vec<ProviderRow>,
    pub(super) empty: Empty,
    pub(super) may_add: bool,
    /// Whether whoever reads sees provider keys of teams, departments and accounts.
    pub(super) sees_keys: bool,
    pub(super) notice: Option<(&'static str, String)>,
}

/// One provider.
pub(super) struct ProviderRow {
    pub(super) id: Text,
    pub(super) kind: String,
    pub(super) address: Text,
    pub(super) region: Option<&'static str>,
    pub(super) models: Count,
    pub(super) state: Badge,
    /// What is behind its state.
    pub(super) says: Text,
    pub(super) requests: Count,
    pub(super) errors: Share,
    pub(super) last_answer: Option<Moment>,
    /// Whether the configuration file has it, which makes it read-only here.
    pub(super) is_files: bool,
}

impl View for Providers {
    fn title(&self) -> String {
        "Providers".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Providers)
    }
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names) -> Providers {
    let calendar = sample::calendar();
    let row = |(
        id,
        kind,
        address,
        region,
        models,
        (state, word, says),
        requests,
        errors,
        ago,
        is_files,
    ): (
        &str,
        &'static str,
        &str,
        &'static str,
        u64,
        (State, &str, &str),
        u64,
        u64,
        u64,
        bool,
    )| ProviderRow {
        id: names.of(id),
        kind: kind.into(),
        address: names.of(address),
        region: (!region.is_empty()).then_some(region),
        models: Count(models),
        state: Badge::new(state, word),
        says: says.into(),
        requests: Count(requests),
        errors: Share(errors, requests),
        last_answer: (ago > 0).then(|| Moment::ago(&calendar, sample::before(ago))),
        is_files,
    };
    Providers {
        head: Head::new("Providers").stamp("states since the start, from the calls themselves · requests of the last 24 hours that you may see"),
        rows: [
            ("anthropic", "Anthropic", "api.anthropic.com", "us-east", 6, (State::Good, "ok", ""), 8_112, 9, 4_000, true),
            ("openai", "OpenAI", "api.openai.com", "us-east", 8, (State::Good, "ok", ""), 10_340, 21, 1_500, false),
            ("google", "Gemini", "generativelanguage.googleapis.com", "", 4, (State::Warn, "resting", "asked to be left alone for 41 s more"), 1_207, 88, 65_000, false),
            ("lab", "OpenAI", "10.0.4.20:8000", "eu-west", 2, (State::Bad, "failing", "three time-outs in a row since 13:41"), 2_101, 139, 1_320_000, false),
            ("mistral", "OpenAI", "api.mistral.ai", "eu-west", 4, (State::Plain, "unknown", "nobody has asked it since the start"), 0, 0, 0, false),
        ]
        .map(row)
        .into(),
        empty: Empty::new("No provider yet", "Until one is connected, the simulator answers: its models demo/chat, demo/echo and demo/reasoner need no network. Credentials are encrypted.").action("Connect a provider", "/providers/new"),
        may_add: true,
        sees_keys: true,
        notice: None,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Providers)> {
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", Providers { rows: vec![], ..make(Names::Plain) }));
    states.push((
        "full",
        Providers {
            rows: (0..5).flat_map(|_| make(Names::Plain).rows).collect(),
            ..make(Names::Plain)
        },
    ));
    states.push((
        "removed",
        Providers {
            notice: Some(("good", "The provider is removed, and its credential with it.".into())),
            ..make(Names::Plain)
        },
    ));
    states
}
