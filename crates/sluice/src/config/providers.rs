//! Providers: those of the file, checked, or those that the environment names.

use std::collections::HashSet;
use std::net::SocketAddr;

use http::{HeaderName, HeaderValue};
use sluice_core::ids::ProviderId;
use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_providers::endpoint::{Auth, Quirks};
use sluice_providers::presets::{self, Preset, WireDialect};

use super::environment::Environment;
use super::problem::nearest;
use super::read::{Entry, Reader};
use super::sections::ProviderSection;

/// A provider, with everything that an endpoint is made of.
#[derive(Debug, Clone)]
pub(crate) struct ProviderSettings {
    /// Its name in the configuration.
    pub(crate) id: ProviderId,
    /// Its preset's kind.
    pub(crate) kind: &'static str,
    /// Its wire format.
    pub(crate) dialect: WireDialect,
    /// Everything before the dialect's own path, without a slash at the end.
    pub(crate) base_url: String,
    /// Query of every call, without `?`; empty where none.
    pub(crate) query: String,
    /// How the credential is presented.
    pub(crate) auth: Auth,
    /// The provider key; `None` where it wants none.
    pub(crate) credential: Option<Secret<String>>,
    /// Further headers of every call.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// In what it differs from its dialect.
    pub(crate) quirks: Quirks,
    /// Where it processes requests.
    pub(crate) region: Option<Region>,
}

/// A provider on the way to its models.
#[derive(Debug)]
pub(super) struct CheckedProvider {
    pub(super) settings: ProviderSettings,
    /// Whose models and prices it has; `None` where only the operator knows.
    pub(super) catalog_kind: Option<&'static str>,
    /// The models that it listed when it was asked.
    pub(super) listed: Vec<String>,
}

/// A model server that may run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalCandidate {
    /// Its preset: `ollama`.
    pub(crate) kind: &'static str,
    /// What to `GET`; the answer is OpenAI's list of models.
    pub(crate) probe_url: String,
}

/// The model servers to look for on this machine. Ports that are Sluice's own are left out: it
/// must not find itself.
pub(crate) fn local_candidates(own_ports: &[u16]) -> Vec<LocalCandidate> {
    let mut candidates = Vec::new();
    for preset in presets::all() {
        let (Some(port), Some(base_url)) = (preset.local, &preset.base_url) else { continue };
        if !own_ports.contains(&port) {
            candidates.push(LocalCandidate {
                kind: &preset.kind,
                probe_url: format!("{base_url}/models"),
            });
        }
    }
    candidates
}

/// The providers that the environment names: by a key, or by answering on this machine. With
/// none, the simulator.
pub(super) fn discover(environment: &dyn Environment, own: SocketAddr) -> Vec<CheckedProvider> {
    let mut found = Vec::new();
    for preset in presets::all() {
        let Some(base_url) = &preset.base_url else { continue };
        let key = usual_key(preset, environment);
        if preset.needs_credential() {
            if key.is_some() {
                found.push(of_preset(preset, base_url.clone(), key));
            }
            continue;
        }
        let answered = environment.local_servers().iter().find(|server| server.kind == preset.kind);
        if let Some(server) = answered
            && preset.local != Some(own.port())
        {
            let mut provider = of_preset(preset, base_url.clone(), key);
            provider.listed = server.models.clone();
            found.push(provider);
        }
    }
    if found.is_empty() {
        found.extend(simulator());
    }
    found
}

/// The built-in simulator as a provider.
fn simulator() -> Option<CheckedProvider> {
    let preset = presets::all().iter().find(|p| p.dialect == WireDialect::Simulator)?;
    Some(of_preset(preset, preset.base_url.clone()?, None))
}

fn of_preset(
    preset: &'static Preset,
    base_url: String,
    credential: Option<Secret<String>>,
) -> CheckedProvider {
    CheckedProvider {
        settings: ProviderSettings {
            id: preset.kind.as_str().into(),
            kind: &preset.kind,
            dialect: preset.dialect,
            base_url,
            query: filled(preset, None),
            auth: preset.auth.clone(),
            credential,
            headers: Vec::new(),
            quirks: preset.quirks,
            region: None,
        },
        catalog_kind: (!preset.any_name).then_some(&preset.kind),
        listed: Vec::new(),
    }
}

/// The providers of the file.
pub(super) fn check(
    entries: &[Entry<ProviderSection>],
    reader: &mut Reader<'_>,
) -> Vec<CheckedProvider> {
    let mut seen = HashSet::new();
    let mut providers = Vec::new();
    for entry in entries {
        if let Some(id) = &entry.id
            && !seen.insert(id.as_str())
        {
            let what = format!("another provider is called \"{id}\" as well");
            reader.wrong_at(format!("{}.id", entry.path), entry.line, what, "rename one of them");
        }
        if let Some(section) = &entry.value {
            providers.extend(check_one(section, entry, reader));
        }
    }
    providers
}

fn check_one(
    section: &ProviderSection,
    entry: &Entry<ProviderSection>,
    reader: &mut Reader<'_>,
) -> Option<CheckedProvider> {
    let mut wrong = |key: &str, what: String, fix: String| {
        reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
    };
    let kind = section.kind.0.as_str();
    let Some(preset) = presets::find(kind) else {
        let kinds = presets::all().iter().map(|preset| preset.kind.as_str());
        let fix = match nearest(kind, kinds.clone()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("use one of {}", kinds.collect::<Vec<_>>().join(", ")),
        };
        wrong("kind", "names no adapter or preset".to_owned(), fix);
        return None;
    };
    let own_address = section.base_url.as_ref().map(|url| url.0.clone());
    let moved = own_address.is_some() && own_address != preset.base_url;
    let elsewhere = moved && preset.generic;
    let Some(base_url) = own_address.or_else(|| preset.base_url.clone()) else {
        let fix = "such as base_url = \"https://RESOURCE.openai.azure.com/openai\"".to_owned();
        wrong(
            "base_url",
            format!("missing: {} has an address for each customer", preset.name),
            fix,
        );
        return None;
    };
    if let Some(path) = &preset.path
        && base_url.ends_with(path.as_str())
    {
        let what = format!("ends with {path}, which Sluice adds itself");
        wrong("base_url", what, format!("leave {path} out"));
    }
    if section.api_key.is_some() && section.api_key_file.is_some() {
        let what = "both api_key and api_key_file are set".to_owned();
        wrong("api_key_file", what, "keep one of them".to_owned());
    }
    if section.api_version.is_some() && preset.api_version.is_none() {
        let what = format!("{} has no such parameter", preset.name);
        wrong("api_version", what, "remove it".to_owned());
    }
    let quirks = match &section.quirks {
        None if elsewhere => Quirks::default(),
        None => preset.quirks,
        Some(names) => match presets::quirks_named(names.iter().map(|name| name.0.as_str())) {
            Ok(quirks) => quirks,
            Err(name) => {
                let fix = match nearest(name, presets::quirk_names()) {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None => {
                        format!(
                            "use any of {}",
                            presets::quirk_names().collect::<Vec<_>>().join(", ")
                        )
                    }
                };
                wrong("quirks", "names a quirk that does not exist".to_owned(), fix);
                Quirks::default()
            }
        },
    };
    let from_file = section.api_key_file.as_ref().map(|file| file.0.clone());
    let own_key = section.api_key.clone().or(from_file);
    // A usual key belongs to the usual service: it is not sent to another address by itself.
    let at_home = !moved || preset.base_url.is_none() || preset.local.is_some();
    let usual = if at_home { usual_key(preset, reader.environment) } else { None };
    let credential = own_key.or(usual);
    if credential.is_none() && preset.needs_credential() && at_home {
        let what = format!("missing, and {} is not set", preset.env.join(" and "));
        if reader.environment.asks_no_provider() {
            reader.warnings.push(format!("{}.api_key: {what}", entry.path));
        } else {
            let fix = format!("api_key = \"${{{}}}\", or api_key_file", preset.env[0]);
            reader.wrong_at(format!("{}.api_key", entry.path), entry.line, what, fix);
        }
    }
    Some(CheckedProvider {
        settings: ProviderSettings {
            id: section.id.0.as_str().into(),
            kind: &preset.kind,
            dialect: preset.dialect,
            base_url,
            query: filled(preset, section.api_version.as_ref().map(|version| version.0.as_str())),
            auth: preset.auth.clone(),
            credential,
            headers: section.headers.clone().unwrap_or_default().0,
            quirks,
            region: section.region,
        },
        catalog_kind: (!preset.any_name && !elsewhere).then_some(&preset.kind),
        listed: if moved { Vec::new() } else { listed_by(preset, reader.environment) },
    })
}

/// The models of a server on this machine, where it was asked.
fn listed_by(preset: &Preset, environment: &dyn Environment) -> Vec<String> {
    let server = environment.local_servers().iter().find(|server| server.kind == preset.kind);
    server.map(|server| server.models.clone()).unwrap_or_default()
}

/// The credential in the usual environment variables of a service. An empty variable is none.
fn usual_key(preset: &Preset, environment: &dyn Environment) -> Option<Secret<String>> {
    for name in &preset.env {
        let value = environment.variable(name).map(Secret::new);
        let Some(value) = value else { continue };
        let trimmed = Secret::new(value.expose().trim().to_owned());
        if !trimmed.expose().is_empty() && HeaderValue::from_str(trimmed.expose()).is_ok() {
            return Some(trimmed);
        }
    }
    None
}

fn filled(preset: &Preset, api_version: Option<&str>) -> String {
    let version = api_version.or(preset.api_version.as_deref()).unwrap_or_default();
    preset.query.replace("{api_version}", version)
}
