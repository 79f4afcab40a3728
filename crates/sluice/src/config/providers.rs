//! Providers: those of the file, checked, or those that the environment names.

use std::collections::HashSet;
use std::net::SocketAddr;

use http::HeaderValue;
use sluice_core::secret::Secret;
pub(super) use sluice_gateway::vendors::CheckedProvider;
use sluice_gateway::vendors::{ProviderCheck, ProviderSpec, Wrong};
use sluice_providers::presets::{self, Preset, WireDialect};

use super::environment::Environment;
use super::read::{Entry, Reader};
use super::sections::ProviderSection;

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
                found.push(CheckedProvider::of_preset(preset, base_url.clone(), key));
            }
            continue;
        }
        let answered = environment.local_servers().iter().find(|server| server.kind == preset.kind);
        if let Some(server) = answered
            && preset.local != Some(own.port())
        {
            let mut provider = CheckedProvider::of_preset(preset, base_url.clone(), key);
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
    Some(CheckedProvider::of_preset(preset, preset.base_url.clone()?, None))
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
    let spec = ProviderSpec {
        kind: section.kind.0.clone(),
        base_url: section.base_url.as_ref().map(|url| url.0.clone()),
        region: section.region,
        headers: Vec::new(),
        api_version: section.api_version.as_ref().map(|version| version.0.clone()),
        quirks: section
            .quirks
            .as_ref()
            .map(|names| names.iter().map(|name| name.0.clone()).collect()),
    };
    let headers = section.headers.clone().unwrap_or_default().0;
    let mut wrong = |wrong: Wrong| {
        reader.wrong_at(format!("{}.{}", entry.path, wrong.key), entry.line, wrong.what, wrong.fix);
    };
    let checked = ProviderCheck::new(section.id.0.as_str(), &spec, headers, &mut wrong)?;
    if section.api_key.is_some() && section.api_key_file.is_some() {
        let what = "both api_key and api_key_file are set";
        wrong(Wrong::new("api_key_file", what, "keep one of them"));
    }
    let from_file = section.api_key_file.as_ref().map(|file| file.0.clone());
    let own_key = section.api_key.clone().or(from_file);
    let preset = checked.preset;
    // A usual key belongs to the usual service: it is not sent to another address by itself.
    let usual = if checked.at_home { usual_key(preset, reader.environment) } else { None };
    let credential = own_key.or(usual);
    if credential.is_none() && checked.needs_credential() {
        let what = format!("missing, and {} is not set", preset.env.join(" and "));
        if reader.environment.asks_no_provider() {
            reader.warnings.push(format!("{}.api_key: {what}", entry.path));
        } else {
            let fix = format!("api_key = \"${{{}}}\", or api_key_file", preset.env[0]);
            reader.wrong_at(format!("{}.api_key", entry.path), entry.line, what, fix);
        }
    }
    let listed = if checked.moved { Vec::new() } else { listed_by(preset, reader.environment) };
    Some(checked.with(credential, listed))
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
