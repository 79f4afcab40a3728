use std::fmt::{self, Write as _};

use askama::Template;
use askama::filters::HtmlSafe;
use sluice_core::outcome::Outcome;

use crate::components::{
    Badge, Code, Cost, Count, Csrf, Empty, Escaped, Field, Kind, Span, Text, Tokens,
};
use crate::layout::{Head, Place, View};
use crate::pages::request::{Why, sample_route};
use crate::pages::requests::row::outcome_badge;
use crate::sample::{self, Names};

/// Asking a model, and seeing what it saw.
#[derive(Template)]
#[template(path = "pages/playground/page.html")]
pub(crate) struct Playground {
    pub(super) head: Head,
    pub(super) fields: Vec<Field>,
    pub(super) options: Vec<Field>,
    /// Whether the options are shown.
    pub(super) is_open: bool,
    pub(super) turns: Vec<Turn>,
    pub(super) problem: Option<String>,
    pub(super) empty: Empty,
    pub(super) csrf: Csrf,
}

/// A question and its answer.
#[derive(Template)]
#[template(path = "pages/playground/turn.html")]
pub(super) struct Turn {
    pub(super) asked: Text,
    pub(super) model: Text,
    /// What the model thought, where it said so.
    pub(super) thoughts: Text,
    pub(super) answer: Vec<Shown>,
    pub(super) problem: Option<Problem>,
    /// What is known of the turn that was just asked; earlier ones are kept nowhere.
    pub(super) told: Option<Box<Told>>,
}

impl HtmlSafe for Turn {}

/// A piece of a text; of those that are, or stand for, a value, the kind is marked.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) text: Text,
    pub(super) kind: Option<&'static str>,
}

/// Why there is no answer, or no whole one.
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) code: Text,
    /// As the API tells it.
    pub(super) says: Text,
    pub(super) fix: String,
    /// Seconds.
    pub(super) retry_after: Option<u64>,
}

/// What is told beside an answer.
pub(super) struct Told {
    /// What the model was sent: roles and texts.
    pub(super) seen: Vec<(&'static str, Vec<Shown>)>,
    pub(super) kept: Vec<Kept>,
    pub(super) flags: Vec<String>,
    pub(super) route: Option<Why>,
    pub(super) code: Vec<Code>,
    pub(super) facts: Option<Facts>,
}

/// A value that the model did not see.
pub(super) struct Kept {
    pub(super) kind: String,
    pub(super) value: Text,
    pub(super) placeholder: Text,
    /// How often it stands in the answer.
    pub(super) put_back: Count,
}

/// What the request came to.
pub(super) struct Facts {
    pub(super) outcome: Badge,
    pub(super) cost: Cost,
    pub(super) tokens_in: Tokens,
    pub(super) tokens_out: Tokens,
    pub(super) first_token: Span,
    pub(super) duration: Span,
    pub(super) level: &'static str,
    /// The id under which it is recorded.
    pub(super) request: Option<String>,
}

impl View for Playground {
    fn title(&self) -> String {
        "Playground".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Playground)
    }
}

impl Turn {
    /// Whether the next question goes on from here.
    pub(super) fn goes_on(&self) -> bool {
        self.problem.is_none() && !self.answer.is_empty()
    }

    /// The answer without its marks.
    fn said(&self) -> String {
        self.answer.iter().map(|piece| piece.text.plain()).collect()
    }
}

impl Told {
    fn redacted(&self) -> String {
        crate::format::plural(self.kept.len() as u64, "value", "values")
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            None => write!(f, "{}", self.text.whole()),
            Some(kind) => {
                let kind = kind.replace('_', " ");
                write!(f, "<mark title=\"{}\">{}</mark>", Escaped(&kind), self.text.whole())
            }
        }
    }
}

impl HtmlSafe for Shown {}

/// What the page says while nothing has been asked.
pub(super) fn nothing_asked() -> Empty {
    Empty::new(
        "Ask something",
        "You see the answer, which model gave it and why, and exactly what that model saw: values \
         that the filter keeps back are marked.",
    )
}

fn empty(names: Names) -> Playground {
    let models = [
        ("svc/auto", names.of("svc/auto")),
        ("svc/orbit", names.of("svc/orbit")),
        ("svc/nebula", names.of("svc/nebula")),
        ("gpt-5-mini", names.of("gpt-5-mini")),
        ("claude-sonnet-4.5", names.of("claude-sonnet-4.5")),
    ];
    Playground {
        head: Head::new("Playground")
            .stamp("as Ada Brandt · on your limits, recorded like every request"),
        fields: vec![
            Field::select("model", "Model or router", &models, "svc/auto"),
            Field::new(Kind::Area, "prompt", "Message").required(),
        ],
        options: vec![
            Field::new(Kind::Area, "system", "System message"),
            Field::new(Kind::Number, "temperature", "Temperature").hint("0.0 to 2.0"),
            Field::new(Kind::Number, "max_tokens", "Most tokens of the answer")
                .value("1024")
                .hint("1 to 4,096"),
            Field::select(
                "security_level",
                "Security level",
                &[
                    ("standard", "standard".into()),
                    ("high", "high".into()),
                    ("maximum", "maximum".into()),
                ],
                "standard",
            ),
            Field::select(
                "region",
                "Region",
                &[("", "the account's".into()), ("eu-west", "eu-west".into())],
                "",
            ),
            Field::new(Kind::Switch(false), "zero_retention", "Zero retention"),
        ],
        is_open: false,
        turns: vec![],
        problem: None,
        empty: nothing_asked(),
        csrf: sample::csrf(),
    }
}

fn shown(pieces: &[(&str, Option<&'static str>)]) -> Vec<Shown> {
    let piece = |(text, kind): &(&str, Option<&'static str>)| Shown {
        text: Text::from(*text),
        kind: *kind,
    };
    pieces.iter().map(piece).collect()
}

fn turn(names: Names) -> Turn {
    let mail = names.of("grace@example.org");
    let mut answer = shown(&[
        (
            "Subject: Invoice 4711\n\nDear Grace,\n\nthis is a kind reminder that invoice 4711 is still open. You can reach me at ",
            None,
        ),
        ("", Some("email")),
        (" with any questions.\n\nKind regards", None),
    ]);
    if let Some(piece) = answer.get_mut(1) {
        piece.text = mail.clone();
    }
    let kept = |kind: &str, value, placeholder: &str, put_back| Kept {
        kind: kind.to_owned(),
        value,
        placeholder: placeholder.into(),
        put_back: Count(put_back),
    };
    Turn {
        asked: names.of("Write a reminder to grace@example.org about invoice 4711. The portal's token is ghp_16C7e42F292c6912E7."),
        model: names.of("gpt-5-mini"),
        thoughts: Text::default(),
        answer,
        problem: None,
        told: Some(Box::new(Told {
            seen: vec![(
                "user",
                shown(&[
                    ("Write a reminder to ", None),
                    ("[MAIL_Q7K2MX]", Some("email")),
                    (" about invoice 4711. The portal's token is ", None),
                    ("[SECR_Q1VN8D]", Some("secret")),
                    (".", None),
                ]),
            )],
            kept: vec![
                kept("email", mail, "[MAIL_Q7K2MX]", 1),
                kept("secret", names.of("ghp_16C7e42F292c6912E7"), "[SECR_Q1VN8D]", 0),
            ],
            flags: vec!["prompt injection".to_owned()],
            route: Some(sample_route(names)),
            code: vec![Code::new("curl", "curl --no-buffer \"http://localhost:8080/api/v1/chat/completions\"")],
            facts: Some(Facts {
                outcome: outcome_badge(Outcome::Completed),
                cost: sample::cost(214),
                tokens_in: Tokens(48),
                tokens_out: Tokens(61),
                first_token: Span(Some(388)),
                duration: Span(Some(1_204)),
                level: "high",
                request: Some("req_01m81t8qey2v41k0".to_owned()),
            }),
        })),
    }
}

/// An earlier turn of the conversation.
fn earlier(names: Names) -> Turn {
    Turn { told: None, ..turn(names) }
}

fn refused(names: Names) -> Turn {
    let mut says = String::from(
        "the key playground has used its 10,000 tokens of today; they are back at 01:00 ",
    );
    let _ = write!(says, "({})", names.of("keys.development.tokens_per_day").plain());
    let told = turn(names).told.map(|told| {
        Box::new(Told {
            seen: vec![],
            kept: vec![],
            flags: vec![],
            route: None,
            facts: None,
            ..*told
        })
    });
    Turn {
        answer: vec![],
        problem: Some(Problem {
            status: 429,
            code: "rate_limit_exceeded".into(),
            says: says.into(),
            fix: "Wait, or have the limit raised.".to_owned(),
            retry_after: Some(3_600),
        }),
        told,
        ..turn(names)
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Playground)> {
    let make = |names| Playground { turns: vec![turn(names)], ..empty(names) };
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", empty(Names::Plain)));
    let turns = (0..5).map(|_| earlier(Names::Plain)).chain([turn(Names::Plain)]);
    states.push(("full", Playground { turns: turns.collect(), ..empty(Names::Plain) }));
    states.push((
        "error",
        Playground {
            turns: vec![earlier(Names::Plain), refused(Names::Plain)],
            ..empty(Names::Plain)
        },
    ));
    states.push((
        "no-models",
        Playground {
            problem: Some(
                "No model is served here that you may use. An operator connects a provider.".into(),
            ),
            ..empty(Names::Plain)
        },
    ));
    states
}
