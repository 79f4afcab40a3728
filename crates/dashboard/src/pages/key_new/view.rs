use askama::Template;
use askama::filters::HtmlSafe;

use crate::components::{Code, Csrf, Field, Kind, Markup, Problem, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The form that makes a key, or the key that was just made.
#[derive(Template)]
#[template(path = "pages/key_new/page.html")]
pub(crate) struct KeyNew {
    pub(super) head: Head,
    pub(super) state: Stage,
}

/// How far it is.
pub(super) enum Stage {
    Form(Box<Form>),
    Made(Box<Made>),
}

/// What is asked for.
pub(crate) struct Form {
    pub(crate) problem: Option<Problem>,
    pub(crate) main: Vec<Field>,
    pub(crate) may: Vec<Field>,
    pub(crate) filter: Vec<Field>,
    pub(crate) limits: Vec<Field>,
    /// Whether anything beyond the first fields differs from what a class has.
    pub(crate) is_open: bool,
    /// What will happen, a sentence each.
    pub(crate) says: Vec<Markup>,
    pub(crate) command: Code,
    pub(crate) csrf: Csrf,
}

/// The key that was made. Its text is nowhere else.
pub(super) struct Made {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) says: Vec<Markup>,
    pub(super) clients: Vec<Client>,
}

/// How a client is set up with it.
#[derive(Template)]
#[template(path = "pages/key_new/client.html")]
pub(crate) struct Client {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Code>,
    pub(super) notes: Vec<String>,
}

impl HtmlSafe for Client {}

impl Client {
    /// The first one is open.
    fn is_first(&self) -> bool {
        sluice_gateway::connect::CLIENTS.first().is_some_and(|first| first.id == self.id)
    }
}

impl View for KeyNew {
    fn title(&self) -> String {
        match self.state {
            Stage::Form(_) => "Make key".into(),
            Stage::Made(_) => "The new key".into(),
        }
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Keys)
    }
}

fn form(names: Names) -> Form {
    let same = |words: &[&'static str]| {
        words.iter().map(|word| (*word, Text::from(*word))).collect::<Vec<_>>()
    };
    Form {
        problem: None,
        main: vec![
            Field::new(Kind::Line, "name", "Name")
                .placeholder("ci-review")
                .hint("What people call it.")
                .required(),
            Field::select(
                "class",
                "Class",
                &[
                    (
                        "development",
                        "development: 1,000 requests an hour, 10,000 tokens a day".into(),
                    ),
                    (
                        "production",
                        "production: 10,000 requests an hour, 1,000,000 tokens a day".into(),
                    ),
                    ("enterprise", "enterprise: fair use".into()),
                ],
                "production",
            ),
            Field::select(
                "owner",
                "Owner",
                &[
                    ("person:per_01", names.of("Ada Brandt")),
                    ("service:ser_02", names.of("service ci")),
                ],
                "person:per_01",
            ),
            Field::select(
                "team",
                "Team",
                &[
                    ("", "none: it belongs to the account".into()),
                    ("team_01", names.of("Platform")),
                    ("team_02", names.of("Payments")),
                ],
                "team_01",
            ),
        ],
        may: vec![
            Field::checks(
                "scopes",
                "May do",
                &[("chat", "ask models".into()), ("models", "list models".into())],
                &["chat", "models"],
            ),
            Field::checks(
                "models",
                "Models and routers",
                &[
                    ("svc/auto", names.of("svc/auto")),
                    ("svc/orbit", names.of("svc/orbit")),
                    ("gpt-5-mini", names.of("gpt-5-mini")),
                    ("claude-sonnet-4.5", names.of("claude-sonnet-4.5")),
                ],
                &[],
            )
            .hint("None ticked: all of the account, also those that come later."),
            Field::checks(
                "regions",
                "Regions",
                &same(&["us-east", "us-west", "eu-west", "asia-pacific"]),
                &[],
            )
            .hint("None ticked: every region."),
            Field::select(
                "region",
                "Region, where a request names none",
                &[("", "the account's".into()), ("eu-west", "eu-west".into())],
                "",
            ),
        ],
        filter: vec![
            Field::select(
                "minimum_level",
                "Lowest security level",
                &same(&["standard", "high", "maximum"]),
                "standard",
            )
            .hint("Requests can ask for more, never for less."),
            Field::new(Kind::Switch(false), "zero_retention", "Zero retention")
                .hint("Nothing about its requests is stored but sums."),
            Field::new(Kind::Switch(false), "audit", "Audit entry for each request"),
        ],
        limits: vec![
            Field::select(
                "max_tokens",
                "Bound of an answer",
                &[
                    ("documented", "4,096 tokens".into()),
                    ("model", "the model's own, for assistants".into()),
                ],
                "model",
            )
            .hint("Coding assistants ask for 32,000 tokens."),
            Field::new(Kind::Number, "requests_per_hour", "Requests an hour")
                .placeholder("the class's")
                .unit("requests"),
            Field::new(Kind::Number, "tokens_per_day", "Tokens a day")
                .placeholder("the class's")
                .unit("tokens"),
            Field::new(Kind::Day, "expires_at", "Works until").hint("Empty: until it is revoked."),
        ],
        is_open: false,
        says: vec![
            Markup::sentence("It belongs to {}.", &[&names.of("Ada Brandt")]),
            Markup::sentence("It works at once, and is due to be rotated after 90 days.", &[]),
        ],
        command: Code::new(
            "As command",
            "sluice keys create \\\n  --name ci-review \\\n  --class production \\\n  --owner person:ada@example.org \\\n  --team Platform",
        ),
        csrf: sample::csrf(),
    }
}

fn made(names: Names) -> Made {
    Made {
        id: "key_01m508".into(),
        secret: "svc_ent_4Qm7vT1xR9kLw2ZsB8nYd3HfJ6cGa5eU0iPo".into(),
        says: vec![Markup::sentence("It may use {}.", &[&names.of("every model of the account")])],
        clients: sample_clients(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, KeyNew)> {
    let head = || Head::new("Make key").below("API keys", "/keys");
    let with = |form| KeyNew { head: head(), state: Stage::Form(Box::new(form)) };
    let shown = |names: Names| KeyNew {
        head: Head::new(names.of("ci-review")).below("API keys", "/keys").stamp("made just now"),
        state: Stage::Made(Box::new(made(names))),
    };
    let mut states = vec![("empty", with(form(Names::Plain)))];
    let mut wrong = form(Names::Plain);
    wrong.is_open = true;
    wrong.problem = Some(Problem::new("Two fields have to be mended. Nothing was made."));
    wrong.main[0] = Field::new(Kind::Line, "name", "Name")
        .value("ci review\u{202E}<b>")
        .error("Letters, digits, - and _ only, as in ci-review")
        .required();
    wrong.limits[1] = Field::new(Kind::Number, "requests_per_hour", "Requests an hour")
        .value("-5")
        .unit("requests")
        .error("-5 is no number of requests. Write a whole number from 0 on, or leave it empty");
    states.push(("error", with(wrong)));
    for (state, names) in [
        ("form-long-names", Names::Long),
        ("form-markup", Names::Markup),
        ("form-endless", Names::Endless),
        ("form-right-to-left", Names::RightToLeft),
    ] {
        states.push((state, with(Form { is_open: true, ..form(names) })));
    }
    states.extend(sample::in_all_names(shown));
    states
}

/// How some clients are set up.
pub(crate) fn sample_clients() -> Vec<Client> {
    let url = "http://localhost:8080/api/v1";
    vec![
        Client {
            id: "curl",
            title: "curl",
            blocks: vec![Code::new(
                "Command",
                format!(
                    "curl --no-buffer \"{url}/chat/completions\" \\\n  -H \"Authorization: Bearer $SLUICE_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{{\"model\": \"svc/auto\", \"stream\": true, \"messages\": [{{\"role\": \"user\", \"content\": \"Say hello.\"}}]}}'"
                ),
            )],
            notes: vec![],
        },
        Client {
            id: "openai-python",
            title: "OpenAI package for Python",
            blocks: vec![
                Code::new(
                    "hello.py",
                    format!(
                        "import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url=\"{url}\", api_key=os.environ[\"SLUICE_API_KEY\"])\nanswer = client.chat.completions.create(\n    model=\"svc/auto\",\n    messages=[{{\"role\": \"user\", \"content\": \"Say hello.\"}}],\n)\nprint(answer.choices[0].message.content)"
                    ),
                ),
                Code::new("Commands", "pip install openai\npython hello.py"),
            ],
            notes: vec![
                "Sluice speaks chat completions: client.chat.completions, not client.responses."
                    .to_owned(),
            ],
        },
        Client {
            id: "opencode",
            title: "opencode",
            blocks: vec![Code::new(
                "opencode.json",
                format!(
                    "{{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"model\": \"sluice/svc/auto\",\n  \"provider\": {{\n    \"sluice\": {{\n      \"npm\": \"@ai-sdk/openai-compatible\",\n      \"options\": {{ \"baseURL\": \"{url}\", \"apiKey\": \"{{env:SLUICE_API_KEY}}\" }},\n      \"models\": {{ \"svc/auto\": {{}} }}\n    }}\n  }}\n}}"
                ),
            )],
            notes: vec!["The file applies to this project, and holds no key.".to_owned()],
        },
        Client {
            id: "continue",
            title: "Continue",
            blocks: vec![Code::new(
                "~/.continue/config.yaml",
                format!(
                    "name: Sluice\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: svc/auto\n    provider: openai\n    model: svc/auto\n    apiBase: {url}\n    apiKey: ${{{{ secrets.SLUICE_API_KEY }}}}"
                ),
            )],
            notes: vec![],
        },
    ]
}
