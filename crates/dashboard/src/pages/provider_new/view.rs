use askama::Template;

use crate::components::{
    Badge, Code, Confirm, Csrf, Field, Kind, Moment, Problem, Span, State, Text,
};
use crate::layout::{Head, Place, View};
use crate::pages::providers::Health;
use crate::sample::{self, Names};

/// The form of a provider: connecting one, or changing one.
#[derive(Template)]
#[template(path = "pages/provider_new/page.html")]
pub(crate) struct ProviderForm {
    pub(super) head: Head,
    pub(super) notice: Option<&'static str>,
    pub(super) action: String,
    pub(super) problem: Option<Problem>,
    pub(super) fields: Vec<Field>,
    /// How a provider that is there has been doing.
    pub(super) health: Option<Health>,
    /// What is known of it.
    pub(super) facts: Vec<(&'static str, Text)>,
    pub(super) test: Option<Test>,
    pub(super) command: Code,
    /// Whether it can be stored as it is.
    pub(super) verb: &'static str,
    pub(super) may_test: bool,
    pub(super) remove: Option<Confirm>,
    /// Why it cannot be changed here.
    pub(super) read_only: Option<&'static str>,
    pub(super) csrf: Csrf,
}

/// What a test found.
pub(super) struct Test {
    pub(super) result: Badge,
    pub(super) took: Span,
    /// Why it failed.
    pub(super) says: Text,
    /// What the provider lists.
    pub(super) models: Vec<Text>,
}

impl View for ProviderForm {
    fn title(&self) -> String {
        self.head.title.brief()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Providers)
    }
}

fn make(names: Names) -> ProviderForm {
    let presets = [
        ("openai", "OpenAI".into()),
        ("anthropic", "Anthropic".into()),
        ("gemini", "Google Gemini".into()),
        ("azure", "Azure OpenAI".into()),
        ("openrouter", "OpenRouter".into()),
        ("mistral", "Mistral".into()),
        ("ollama", "Ollama".into()),
        ("vllm", "vLLM".into()),
        ("other", "other, with OpenAI's dialect".into()),
    ];
    ProviderForm {
        head: Head::new("Connect a provider").below("Providers", "/providers"),
        notice: None,
        action: "/providers/new".into(),
        problem: None,
        fields: vec![
            Field::select("kind", "Provider", &presets, "openai"),
            Field::new(Kind::Line, "name", "Name here")
                .value(names.of("openai"))
                .hint("Records and limits name it so.")
                .required(),
            Field::new(Kind::Line, "base_url", "Address")
                .value(names.of("https://api.openai.com/v1"))
                .hint("Only for servers of your own."),
            Field::new(Kind::Password, "credential", "API key")
                .hint("Encrypted under this deployment's master key. It is never shown again.")
                .autocomplete("off"),
            Field::select(
                "region",
                "Region",
                &[
                    ("", "unknown".into()),
                    ("us-east", "us-east".into()),
                    ("eu-west", "eu-west".into()),
                ],
                "us-east",
            )
            .hint("Where it processes requests."),
        ],
        health: None,
        facts: vec![],
        test: None,
        may_test: true,
        command: Code::new(
            "As command",
            "sluice providers add openai --kind openai --region us-east < KEY",
        ),
        verb: "Test and connect",
        remove: None,
        read_only: None,
        csrf: sample::csrf(),
    }
}

fn existing(names: Names) -> ProviderForm {
    let id = names.of("openai");
    ProviderForm {
        head: Head::new(id.clone()).below("Providers", "/providers"),
        health: Some(Health {
            state: Badge::new(State::Warn, "resting"),
            says: "asked to be left alone for 41 s more".into(),
            last_answer: Some(Moment::ago(&sample::calendar(), sample::before(65_000))),
        }),
        facts: vec![
            ("Kind", "OpenAI".into()),
            ("From", "database".into()),
            ("Address", names.of("https://api.openai.com/v1")),
            ("Credential", "set on 3 Nov 2026, 10:12".into()),
            ("Models", "8".into()),
        ],
        action: "/providers/openai".into(),
        verb: "Save",
        test: Some(Test {
            result: Badge::new(State::Good, "answered"),
            took: Span(Some(391)),
            says: Text::default(),
            models: ["gpt-5", "gpt-5-mini", "gpt-5-nano", "o4-mini"]
                .map(|model| names.of(model))
                .into(),
        }),
        remove: Some(Confirm {
            id: "remove",
            action: "/providers/openai/remove".into(),
            title: Text::new(format!("Remove {}", id.plain())),
            consequences: vec![
                "It runs 8 models. Those that run nowhere else leave the catalogue with it.".into(),
                "Its credential is deleted.".into(),
            ],
            fields: vec![],
            name: Some(id),
            verb: "Remove",
            is_dangerous: true,
            error: None,
            back: "/providers/openai".into(),
            csrf: sample::csrf(),
        }),
        ..make(names)
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, ProviderForm)> {
    let mut states = vec![("empty", make(Names::Plain))];
    states.extend(sample::in_all_names(existing));
    let mut wrong = make(Names::Plain);
    wrong.problem = Some(Problem::new(
        "The provider did not answer as it should, so nothing was stored: it answered 401: incorrect API key. To mend it, give it a credential that is valid there, and has money.",
    ));
    wrong.fields[3] = Field::new(Kind::Password, "credential", "API key").error("OpenAI answered 401: incorrect API key. Copy it anew from its page of keys; it begins with sk-");
    wrong.test = Some(Test {
        result: Badge::new(State::Bad, "failed"),
        took: Span(None),
        says: "it answered 401: incorrect API key".into(),
        models: vec![],
    });
    states.push(("error", wrong));
    states.push(("read-only", ProviderForm {
        fields: vec![],
        remove: None,
        read_only: Some("The configuration file has this provider, or it was found where there is none. It is changed there."),
        ..existing(Names::Plain)
    }));
    states
}
