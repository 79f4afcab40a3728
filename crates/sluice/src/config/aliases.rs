//! Second names of models: `same_as` in the file, and the identifiers that the documentation
//! promises, which always stand for a configured model.

use std::collections::HashMap;

use sluice_core::level::SecurityLevel;
use sluice_routing::catalog::Model;

use super::problem::nearest;
use super::read::{Entry, Reader};
use super::sections::{ModelSection, Root};

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

/// The `same_as` entries of the file.
pub(super) fn second_names(
    sections: &[Entry<ModelSection>],
    models: &[Model],
    reader: &mut Reader<'_>,
) -> Vec<Model> {
    let targets: HashMap<&str, &Model> = models.iter().map(|m| (m.id.as_str(), m)).collect();
    let is_alias = |id: &str| {
        sections.iter().any(|entry| {
            entry.id.as_deref() == Some(id)
                && entry.value.as_ref().is_some_and(|section| section.same_as.is_some())
        })
    };
    let mut aliases = Vec::new();
    for entry in sections {
        let Some(section) = &entry.value else { continue };
        let (Some(same_as), None) = (&section.same_as, &section.provider) else { continue };
        let target = same_as.0.as_str();
        let mut wrong = |key: &str, what: String, fix: String| {
            reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
        };
        let superfluous = [
            ("upstream_model", section.upstream_model.is_some()),
            ("price", section.price.is_some()),
            ("context_window", section.context_window.is_some()),
            ("output_limit", section.output_limit.is_some()),
            ("capabilities", section.capabilities.is_some()),
            ("quality", section.quality.is_some()),
            ("first_token_ms", section.first_token_ms.is_some()),
            ("tokens_per_second", section.tokens_per_second.is_some()),
        ];
        for (key, _) in superfluous.iter().filter(|(_, set)| *set) {
            let what = format!("comes from \"{target}\", which answers");
            wrong(key, what, "remove it here".to_owned());
        }
        if let Some(model) = targets.get(target) {
            let mut alias = alias(&section.id.0, model);
            let minimum = section.minimum_security_level.unwrap_or_default();
            alias.minimum_level = alias.minimum_level.max(minimum);
            alias.suite = section.suite.unwrap_or(alias.suite);
            alias.created = section.created.map_or(alias.created, |at| at.0);
            if let Some(owner) = &section.owned_by {
                alias.owned_by.clone_from(&owner.0);
            }
            aliases.push(alias);
        } else if is_alias(target) {
            let what = format!("\"{target}\" is itself a second name");
            wrong("same_as", what, "name the model that answers".to_owned());
        } else if !sections.iter().any(|entry| entry.id.as_deref() == Some(target)) {
            let fix = match nearest(target, targets.keys().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => "add it as [[models]]; `sluice catalog list` prints all models".to_owned(),
            };
            wrong("same_as", format!("there is no model \"{target}\""), fix);
        }
    }
    aliases
}

/// The documented identifiers that the file does not define itself.
pub(super) fn documented(root: &Root, models: &[Model]) -> Vec<Model> {
    let defined = |id: &str| {
        root.models.iter().any(|entry| entry.id.as_deref() == Some(id))
            || root.routers.iter().any(|entry| entry.id.as_deref() == Some(id))
    };
    let mut found = Vec::new();
    for name in DOCUMENTED.iter().filter(|name| !defined(name.id)) {
        found.extend(best_for(name, models).map(|model| alias(name.id, model)));
    }
    found
}

/// The level that comes with an identifier: the documented one, else the mildest.
pub(super) fn documented_level(id: &str) -> SecurityLevel {
    let documented = DOCUMENTED.iter().find(|name| name.id == id);
    documented.map_or(SecurityLevel::Standard, |name| name.minimum_level)
}

/// A second name of a model. A documented one has its own minimum level.
fn alias(id: &str, target: &Model) -> Model {
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
