//! The services that Sluice knows by name, as data: `presets.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::endpoint::{Auth, Quirks};

/// A service by name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What `kind` in `[[providers]]` says: `openrouter`.
    pub kind: String,
    /// What people call it: `OpenRouter`.
    pub name: String,
    /// Where its API is documented; empty for the simulator.
    #[serde(default)]
    pub docs: String,
    /// The wire format that it speaks.
    pub dialect: WireDialect,
    /// Everything before the dialect's own path, without a slash at the end; `None` where each
    /// customer has an own address.
    pub base_url: Option<String>,
    /// What the dialect's own path begins with (`/v1`), where a base URL that ends with it is a
    /// mistake.
    pub path: Option<String>,
    /// How the credential is presented.
    #[serde(default)]
    pub auth: Auth,
    /// Environment variables that usually hold the credential; the first that is set counts.
    #[serde(default)]
    pub env: Vec<String>,
    /// Query of every call, with `{api_version}` to be filled in; empty where none.
    #[serde(default)]
    pub query: String,
    /// What fills `{api_version}` when the configuration does not say.
    pub api_version: Option<String>,
    /// The usual port of a server on this machine.
    pub local: Option<u16>,
    /// Whether models are called what the operator calls them, so that no list of models fits.
    #[serde(default)]
    pub any_name: bool,
    /// Whether it also stands for other services of its dialect, at their own address. The quirks
    /// and prices are then not those of this entry.
    #[serde(default)]
    pub generic: bool,
    /// What to `GET` below the base URL to see whether a credential is good, where its list of
    /// models is for everybody.
    pub check: Option<String>,
    /// In what it differs from its dialect.
    #[serde(default)]
    pub quirks: Quirks,
}

impl Preset {
    /// Whether calls need a credential: remote services do.
    pub fn needs_credential(&self) -> bool {
        !self.env.is_empty() && self.local.is_none()
    }
}

/// A provider's wire format: which adapter translates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WireDialect {
    /// OpenAI chat completions.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// Google Gemini `generateContent`.
    Gemini,
    /// The built-in simulator.
    Simulator,
}

/// Every preset, in the order in which providers are looked for.
pub fn all() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
        // The file is a part of the program, and a test reads it: it cannot fail here.
        toml::from_str::<File>(include_str!("../presets.toml"))
            .map(|file| file.preset)
            .unwrap_or_default()
    });
    &PRESETS
}

/// The preset of a kind.
pub fn find(kind: &str) -> Option<&'static Preset> {
    all().iter().find(|preset| preset.kind == kind)
}

/// The quirks of these names, or the first name that is none.
pub fn quirks_named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Quirks, &'a str> {
    let mut quirks = Quirks::default();
    for name in names {
        let Some((_, quirk)) = QUIRKS.iter().find(|(known, _)| *known == name) else {
            return Err(name);
        };
        *quirk(&mut quirks) = true;
    }
    Ok(quirks)
}

/// The names of all quirks.
pub fn quirk_names() -> impl Iterator<Item = &'static str> {
    QUIRKS.iter().map(|(name, _)| *name)
}

type Field = fn(&mut Quirks) -> &mut bool;

const QUIRKS: &[(&str, Field)] = &[
    ("max_completion_tokens", |quirks| &mut quirks.max_completion_tokens),
    ("max_tokens", |quirks| &mut quirks.max_tokens),
    ("no_stream_options", |quirks| &mut quirks.no_stream_options),
    ("no_developer_role", |quirks| &mut quirks.no_developer_role),
    ("no_unknown_members", |quirks| &mut quirks.no_unknown_members),
    ("model_in_path", |quirks| &mut quirks.model_in_path),
    ("no_cache_control", |quirks| &mut quirks.no_cache_control),
    ("sealed_thoughts", |quirks| &mut quirks.sealed_thoughts),
    ("sealed_calls", |quirks| &mut quirks.sealed_calls),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    preset: Vec<Preset>,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_preset_is_whole() {
        let file: File = toml::from_str(include_str!("../presets.toml")).unwrap();
        let mut kinds = HashSet::new();
        for preset in &file.preset {
            let kind = &preset.kind;
            assert!(kinds.insert(kind.clone()), "{kind} is there twice");
            if let Some(base_url) = &preset.base_url {
                let uri: http::Uri = base_url.parse().unwrap();
                assert!(uri.scheme_str().is_some() && !base_url.ends_with('/'), "{kind}");
                assert_eq!(preset.local, uri.port_u16(), "{kind}");
            }
            assert_eq!(preset.query.contains("{api_version}"), preset.api_version.is_some());
            assert!(!(preset.quirks.max_tokens && preset.quirks.max_completion_tokens), "{kind}");
            assert_eq!(preset.docs.is_empty(), preset.dialect == WireDialect::Simulator, "{kind}");
        }
    }

    #[test]
    fn the_promised_services_are_there() {
        for kind in [
            "openai",
            "azure",
            "openrouter",
            "groq",
            "mistral",
            "deepseek",
            "xai",
            "together",
            "fireworks",
            "cerebras",
            "ollama",
            "vllm",
            "llamacpp",
            "lmstudio",
            "anthropic",
            "gemini",
            "simulator",
        ] {
            assert!(find(kind).is_some(), "{kind}");
        }
        assert!(find("nobody").is_none());
    }

    #[test]
    fn quirks_have_names() {
        let quirks = quirks_named(["max_tokens", "no_cache_control"]).unwrap();
        assert_eq!(
            quirks,
            Quirks { max_tokens: true, no_cache_control: true, ..Quirks::default() }
        );
        assert_eq!(quirks_named(["no_cache_control", "odd"]), Err("odd"));
        assert_eq!(quirk_names().count(), 9);
    }
}
