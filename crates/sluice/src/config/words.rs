//! Settings that are one of a closed set of words.

use sluice_core::key::{MaxTokensBound, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::measure::Measure;
use sluice_core::organisation::Role;
use sluice_core::region::Region;
use sluice_core::window::Window;
use sluice_routing::router::{Policy, Stability};
use sluice_security::kind::Kind;
use sluice_security::level::{Action, FailureAction, InjectionAction, UnreadableAction};

use super::problem::nearest;
use super::read::{FromToml, Node, Reader, Shape};
use super::values::shown;

/// What a budget measures; `None`: requests at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured(pub(crate) Option<Measure>);

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// The least important kind of event that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogLevel {
    /// Failures.
    Error,
    /// And what may become one.
    Warn,
    /// And what normally happens.
    Info,
    /// And what helps to find a mistake.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The word that a filter takes.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// A thing that a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    /// Reads images.
    Vision,
    /// Calls functions.
    Tools,
    /// Answers by a JSON schema.
    JsonSchema,
    /// Thinks before it answers.
    Reasoning,
    /// Has a prompt cache.
    PromptCache,
}

/// A closed set of words.
pub(crate) trait Word: Copy + 'static {
    /// Each word with its meaning.
    const WORDS: &'static [(&'static str, Self)];
}

/// The word for a setting, as the file has it.
pub(crate) fn word_of<T: Word + PartialEq>(value: T) -> &'static str {
    T::WORDS.iter().find(|(_, meaning)| *meaning == value).map_or("?", |(word, _)| word)
}

macro_rules! words {
    ($($type:ty { $($word:literal => $value:expr),* $(,)? })*) => {$(
        impl Word for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),*];
        }

        impl FromToml for $type {
            const SHAPE: Shape = Shape::Value;

            fn read(
                value: &Node<'_>,
                _: Option<&Node<'_>>,
                reader: &mut Reader<'_>,
            ) -> Option<Self> {
                word(value, reader)
            }
        }
    )*};
}

words! {
    Region {
        "us-east" => Region::UsEast,
        "us-west" => Region::UsWest,
        "eu-west" => Region::EuWest,
        "asia-pacific" => Region::AsiaPacific,
    }
    SecurityLevel {
        "standard" => SecurityLevel::Standard,
        "high" => SecurityLevel::High,
        "maximum" => SecurityLevel::Maximum,
    }
    Role {
        "owner" => Role::Owner,
        "admin" => Role::Admin,
        "department-lead" => Role::DepartmentLead,
        "developer" => Role::Developer,
        "auditor" => Role::Auditor,
        "billing" => Role::Billing,
    }
    Measured {
        "usd" => Measured(Some(Measure::Usd)),
        "tokens" => Measured(Some(Measure::Tokens)),
        "requests" => Measured(Some(Measure::Requests)),
        "concurrency" => Measured(None),
    }
    Window {
        "hour" => Window::Hour,
        "5h" => Window::FiveHours,
        "day" => Window::Day,
        "week" => Window::Week,
        "month" => Window::Month,
        "total" => Window::Total,
    }
    InjectionAction {
        "off" => InjectionAction::Off,
        "flag" => InjectionAction::Flag,
        "block_strict" => InjectionAction::BlockStrict,
        "withhold" => InjectionAction::Withhold,
        "block" => InjectionAction::Block,
    }
    Action {
        "off" => Action::Off,
        "flag" => Action::Flag,
        "withhold" => Action::Withhold,
        "block" => Action::Block,
    }
    UnreadableAction {
        "flag" => UnreadableAction::Flag,
        "refuse" => UnreadableAction::Refuse,
    }
    FailureAction {
        "close_for_secrets" => FailureAction::CloseForSecrets,
        "close" => FailureAction::Close,
    }
    Suite {
        "basic" => Suite::Basic,
        "standard" => Suite::Standard,
        "full" => Suite::Full,
    }
    MaxTokensBound {
        "documented" => MaxTokensBound::Documented,
        "model" => MaxTokensBound::Model,
    }
    Policy {
        "balanced" => Policy::Balanced,
        "fastest" => Policy::Fastest,
        "strongest" => Policy::Strongest,
        "weighted" => Policy::Weighted,
    }
    Stability {
        "stable" => Stability::Stable,
        "preview" => Stability::Preview,
        "experimental" => Stability::Experimental,
        "deprecated" => Stability::Deprecated,
    }
    LogFormat {
        "human" => LogFormat::Human,
        "json" => LogFormat::Json,
    }
    LogLevel {
        "error" => LogLevel::Error,
        "warn" => LogLevel::Warn,
        "info" => LogLevel::Info,
        "debug" => LogLevel::Debug,
        "trace" => LogLevel::Trace,
    }
    Capability {
        "vision" => Capability::Vision,
        "tools" => Capability::Tools,
        "json_schema" => Capability::JsonSchema,
        "reasoning" => Capability::Reasoning,
        "prompt_cache" => Capability::PromptCache,
    }
}

impl FromToml for Kind {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        if let Some(kind) = Self::parse(&text) {
            return Some(kind);
        }
        let words = || Self::ALL.into_iter().map(Self::as_str);
        let fix = match nearest(&text, words()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("use some of {}", words().collect::<Vec<_>>().join(", ")),
        };
        reader.wrong(value, format!("{} is no kind of finding", shown(value)), &fix);
        None
    }
}

/// One of a closed set of words.
fn word<T: Word>(value: &Node<'_>, reader: &mut Reader<'_>) -> Option<T> {
    let text = reader.text_of(value)?;
    if let Some((_, found)) = T::WORDS.iter().find(|(word, _)| *word == text) {
        return Some(*found);
    }
    let all: Vec<String> = T::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let fix = match nearest(&text, T::WORDS.iter().map(|(word, _)| *word)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("use one of {}", all.join(", ")),
    };
    reader.wrong(value, format!("{} is not one of {}", shown(value), all.join(", ")), &fix);
    None
}
