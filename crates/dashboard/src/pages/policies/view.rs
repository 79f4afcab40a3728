use askama::Template;

use crate::components::{Empty, Field, Kind, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// All policies.
#[derive(Template)]
#[template(path = "pages/policies/page.html")]
pub(crate) struct Policies {
    pub(super) head: Head,
    pub(super) rows: Vec<PolicyRow>,
    pub(super) empty: Empty,
    pub(super) may_set: bool,
    pub(super) notice: Option<(&'static str, String)>,
    /// The key to explain.
    pub(super) key: Field,
    pub(super) explained: Option<Explained>,
}

/// One policy.
pub(super) struct PolicyRow {
    /// Whose it is, by id: `team:ID`.
    pub(super) subject: String,
    pub(super) whose: Text,
    /// All its rules, in words.
    pub(super) rules: Text,
    /// Whether the configuration file has it, which makes it read-only here.
    pub(super) is_files: bool,
}

/// What holds for the requests of a key.
pub(super) struct Explained {
    pub(super) name: Text,
    pub(super) rows: Vec<ExplainedRow>,
    pub(super) problems: Vec<Text>,
}

/// One rule that holds.
pub(super) struct ExplainedRow {
    pub(super) rule: String,
    pub(super) value: Text,
    pub(super) by: Text,
}

impl View for Policies {
    fn title(&self) -> String {
        "Policies".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Policies)
    }
}

fn make(names: Names) -> Policies {
    let row = |(subject, whose, rules, is_files): (&str, &str, &str, bool)| PolicyRow {
        subject: subject.into(),
        whose: names.of(whose),
        rules: names.of(rules),
        is_files,
    };
    let held = |(rule, value, by): (&str, &str, &str)| ExplainedRow {
        rule: rule.into(),
        value: names.of(value),
        by: names.of(by),
    };
    Policies {
        head: Head::new("Policies").stamp("as of 14:03:07"),
        rows: [
            ("deployment", "the deployment", "audit: yes · level: high", true),
            ("account:acc_1", "account Acme", "regions: eu-west, us-east", false),
            (
                "team:team_1",
                "team Compilers",
                "models: svc/auto, lab/* · max output tokens: 8000 · terms: Orion, Vega",
                false,
            ),
        ]
        .map(row)
        .into(),
        empty: Empty::new("No policy yet", "A policy says which models somebody may ask.")
            .action("Set a policy", "/policies/set"),
        may_set: true,
        notice: None,
        key: Field::new(Kind::Line, "key", "Key")
            .value(names.of("ci-review"))
            .hint("Its name, id or first characters."),
        explained: Some(Explained {
            name: names.of("ci-review"),
            rows: [
                ("level", "high", "the policy of the deployment"),
                ("models", "svc/auto, lab/*", "the policy of team Compilers"),
                ("regions", "eu-west, us-east", "the policy of account Acme"),
                ("regions", "eu-west", "key ci-review"),
                ("region", "eu-west", "key ci-review"),
                ("zero retention", "no", "nobody"),
                ("audit", "yes", "the policy of the deployment"),
                ("max output tokens", "8000", "the policy of team Compilers"),
                ("terms", "Orion, Vega", "the policy of team Compilers"),
            ]
            .map(held)
            .into(),
            problems: Vec::new(),
        }),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Policies)> {
    let mut states = sample::in_all_names(make);
    let empty = Policies { rows: vec![], explained: None, ..make(Names::Plain) };
    states.insert(0, ("empty", empty));
    let mut refused = make(Names::Plain);
    if let Some(explained) = &mut refused.explained {
        explained.problems = vec![
            "this key may use no region: the policy of account Acme allows us-east, and key ci-review \
             allows eu-west"
                .into(),
        ];
    }
    states.push(("refused", refused));
    states.push(("read-only", Policies { may_set: false, ..make(Names::Plain) }));
    states
}
