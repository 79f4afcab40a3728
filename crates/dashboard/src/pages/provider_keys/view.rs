use askama::Template;

use crate::components::{Badge, Code, Csrf, Empty, Field, Kind, Problem, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// All provider keys.
#[derive(Template)]
#[template(path = "pages/provider_keys/page.html")]
pub(crate) struct ProviderKeys {
    pub(super) head: Head,
    pub(super) rows: Vec<KeyRow>,
    pub(super) empty: Empty,
    pub(super) notice: Option<(&'static str, String)>,
    pub(super) problem: Option<Problem>,
    pub(super) may_add: bool,
    pub(super) fields: Vec<Field>,
    pub(super) command: Code,
    pub(super) csrf: Csrf,
}

/// One provider key.
pub(super) struct KeyRow {
    pub(super) id: String,
    pub(super) whose: Text,
    pub(super) provider: Text,
    /// Its last characters.
    pub(super) hint: Text,
    pub(super) state: Badge,
    pub(super) falls_back: bool,
    pub(super) counts: bool,
    /// When it was given, in words.
    pub(super) given: String,
}

impl View for ProviderKeys {
    fn title(&self) -> String {
        "Provider keys".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Providers)
    }
}

fn make(names: Names) -> ProviderKeys {
    let row = |(id, whose, provider, state): (&str, &str, &str, (State, &str))| KeyRow {
        id: id.into(),
        whose: names.of(whose),
        provider: names.of(provider),
        hint: "aB3x".into(),
        state: Badge::new(state.0, state.1),
        falls_back: id == "pky_01",
        counts: false,
        given: "12 Nov 09:30".into(),
    };
    ProviderKeys {
        head: Head::new("Provider keys").below("Providers", "/providers"),
        rows: [
            ("pky_01", "account Acme", "openai", (State::Good, "ok")),
            ("pky_02", "department Research", "anthropic", (State::Bad, "failing")),
            ("pky_03", "team Compilers", "openai", (State::Plain, "unknown")),
        ]
        .map(row)
        .into(),
        empty: Empty::new("No provider key yet", "The deployment's key is used."),
        notice: None,
        problem: None,
        may_add: true,
        fields: vec![
            Field::select("provider", "Provider", &[("openai", "openai".into())], "openai"),
            Field::select("kind", "For", &[("team", "a team".into())], "team"),
            Field::new(Kind::Line, "name", "Which").value(names.of("Compilers")),
            Field::new(Kind::Password, "secret", "Key").required(),
            Field::new(Kind::Switch(false), "falls_back", "Fall back"),
        ],
        command: Code::new(
            "As command",
            "sluice provider-keys add --provider openai --for team:Compilers < key.txt",
        ),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, ProviderKeys)> {
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", ProviderKeys { rows: vec![], ..make(Names::Plain) }));
    let mut refused = make(Names::Plain);
    refused.fields[3] = Field::new(Kind::Password, "secret", "Key")
        .error("It answered 401: Incorrect API key provided.");
    states.push(("refused", refused));
    states.push(("read-only", ProviderKeys { may_add: false, ..make(Names::Plain) }));
    states
}
