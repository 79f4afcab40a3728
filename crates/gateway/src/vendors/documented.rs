//! The identifiers that the documentation promises, which always stand for a model that is served.

use sluice_core::level::SecurityLevel;
use sluice_routing::catalog::Model;

/// An identifier that the API's documentation promises.
struct Documented {
    id: &'static str,
    /// The least strict level at which it answers.
    minimum_level: SecurityLevel,
    /// What it is best answered by: words of models' names, the best first.
    preferred: &'static [&'static str],
}

/// The documented identifiers. Each stands for a configured model.
const DOCUMENTED: &[Documented] = &[
    Documented {
        id: "svc/enterprise-coder-v1",
        minimum_level: SecurityLevel::Standard,
        preferred: &[
            "claude opus",
            "claude sonnet",
            "gpt 6 1 sol",
            "gpt 6 sol",
            "gpt 5 6",
            "codex",
            "gpt 5",
            "gemini 4",
            "gemini 3",
            "grok",
            "kimi",
            "glm",
            "deepseek",
            "devstral",
            "codestral",
            "coder",
            "qwen",
            "gpt oss",
            "gpt 4 1",
        ],
    },
    Documented {
        id: "svc/secure-x-3-5-sonnet",
        minimum_level: SecurityLevel::Maximum,
        preferred: &[
            "claude sonnet",
            "claude opus",
            "gpt 6 1 sol",
            "gpt 6 sol",
            "gpt 5",
            "gemini 4",
            "gemini 2 5 pro",
            "gemini",
            "grok",
            "mistral large",
            "deepseek",
            "kimi",
            "glm",
            "gpt oss",
            "reasoner",
        ],
    },
    Documented {
        id: "svc/enterprise-x-4-turbo",
        minimum_level: SecurityLevel::Standard,
        preferred: &[
            "haiku",
            "luna",
            "flash",
            "mini",
            "nano",
            "turbo",
            "fast",
            "small",
            "gpt oss 20b",
        ],
    },
    Documented {
        id: "svc/compliance-assistant",
        minimum_level: SecurityLevel::Maximum,
        preferred: &[
            "claude opus",
            "claude sonnet",
            "gpt 6 1 sol",
            "gpt 6 sol",
            "gpt 5",
            "gemini 4",
            "gemini 2 5 pro",
            "gemini",
            "mistral large",
            "grok",
            "deepseek",
            "kimi",
            "glm",
            "gpt oss",
        ],
    },
];

/// The documented identifiers, but those that are `defined`, each a second name of one of `models`.
pub(super) fn documented(defined: impl Fn(&str) -> bool, models: &[Model]) -> Vec<Model> {
    let mut found = Vec::new();
    for name in DOCUMENTED.iter().filter(|name| !defined(name.id)) {
        found.extend(best_for(name, models).map(|model| second_name(name.id, model)));
    }
    found
}

/// The level that comes with an identifier: the documented one, else the mildest.
pub fn documented_level(id: &str) -> SecurityLevel {
    let documented = DOCUMENTED.iter().find(|name| name.id == id);
    documented.map_or(SecurityLevel::Standard, |name| name.minimum_level)
}

/// A second name of a model. A documented one has its own minimum level.
pub fn second_name(id: &str, target: &Model) -> Model {
    Model {
        id: id.into(),
        owned_by: "sluice".to_owned(),
        minimum_level: target.minimum_level.max(documented_level(id)),
        alias_of: Some(target.id.clone()),
        deployments: Vec::new(),
        ..target.clone()
    }
}

/// The model that a documented identifier stands for when the file does not say: the first that
/// matches what is preferred, else the first of all.
fn best_for<'m>(name: &Documented, models: &'m [Model]) -> Option<&'m Model> {
    let matches = |model: &Model, preferred: &str| {
        let words = format!(" {} ", words(model.id.as_str()));
        words.contains(&format!(" {preferred} "))
    };
    name.preferred
        .iter()
        .find_map(|preferred| models.iter().find(|model| matches(model, preferred)))
        .or(models.first())
}

/// The words of an identifier: `openai/gpt-5.6-sol` is `openai gpt 5 6 sol`.
fn words(id: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    id.chars().map(letter).collect()
}
