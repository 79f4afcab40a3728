//! What settings of a provider amount to, whoever says them.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use sluice_core::ids::ProviderId;
use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_providers::adapter::Adapter;
use sluice_providers::adapters::anthropic::AnthropicMessages;
use sluice_providers::adapters::gemini::GeminiGenerateContent;
use sluice_providers::adapters::openai::OpenAiChat;
use sluice_providers::endpoint::{Auth, Endpoint, Quirks};
use sluice_providers::presets::{self, Preset, WireDialect};

use super::nearest;
use super::wrong::Wrong;

/// The settings of a provider that are no secrets, by the names of the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderSpec {
    /// Its preset.
    pub kind: String,
    /// Everything before the dialect's own path; `None`: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where it processes requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// The names of further headers of every call. Their values are secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// What fills the preset's `{api_version}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// In what it differs from its dialect; `None`: as its preset does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quirks: Option<Vec<String>>,
}

/// What of a provider must not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSecrets {
    /// The provider key.
    pub credential: Option<Secret<String>>,
    /// The values of further headers, by their names.
    pub headers: BTreeMap<String, Secret<String>>,
}

impl ProviderSecrets {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.credential.is_none() && self.headers.is_empty()
    }

    /// As the text that is sealed.
    pub(crate) fn to_text(&self) -> Secret<String> {
        let headers: BTreeMap<&str, &str> =
            self.headers.iter().map(|(name, value)| (&**name, value.expose().as_str())).collect();
        let credential = self.credential.as_ref().map(|it| it.expose().as_str());
        let text = serde_json::json!({ "api_key": credential, "headers": headers });
        Secret::new(text.to_string())
    }

    /// What was sealed; `None` where it is something else.
    pub(crate) fn of_text(text: &Secret<String>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Sealed {
            api_key: Option<String>,
            headers: BTreeMap<String, String>,
        }
        let sealed: Sealed = serde_json::from_str(text.expose()).ok()?;
        Some(Self {
            credential: sealed.api_key.map(Secret::new),
            headers: sealed
                .headers
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect(),
        })
    }
}

/// A provider, with everything that an endpoint is made of.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// Its name.
    pub id: ProviderId,
    /// Its preset's kind.
    pub kind: &'static str,
    /// Its wire format.
    pub dialect: WireDialect,
    /// Everything before the dialect's own path, without a slash at the end.
    pub base_url: String,
    /// Query of every call, without `?`; empty where none.
    pub query: String,
    /// How the credential is presented.
    pub auth: Auth,
    /// The provider key; `None` where it wants none.
    pub credential: Option<Secret<String>>,
    /// Further headers of every call.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// In what it differs from its dialect.
    pub quirks: Quirks,
    /// Where it processes requests.
    pub region: Option<Region>,
}

impl ProviderSettings {
    /// Where its requests go.
    pub fn endpoint(&self) -> Endpoint {
        let adapter: Arc<dyn Adapter> = match self.dialect {
            WireDialect::OpenAi | WireDialect::Simulator => Arc::new(OpenAiChat),
            WireDialect::Anthropic => Arc::new(AnthropicMessages),
            WireDialect::Gemini => Arc::new(GeminiGenerateContent),
        };
        Endpoint {
            id: self.id.clone(),
            adapter,
            base_url: self.base_url.clone(),
            query: self.query.clone(),
            auth: self.auth.clone(),
            credential: self.credential.clone(),
            headers: self.headers.clone(),
            quirks: self.quirks,
            region: self.region,
        }
    }
}

/// A provider on the way to its models.
#[derive(Debug, Clone)]
pub struct CheckedProvider {
    /// What an endpoint is made of.
    pub settings: ProviderSettings,
    /// Whose models and prices it has; `None` where only the operator knows.
    pub catalog_kind: Option<&'static str>,
    /// The models that it listed when it was asked.
    pub listed: Vec<String>,
}

impl CheckedProvider {
    /// A preset's provider at `base_url`.
    pub fn of_preset(
        preset: &'static Preset,
        base_url: String,
        credential: Option<Secret<String>>,
    ) -> Self {
        Self {
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
}

fn filled(preset: &Preset, api_version: Option<&str>) -> String {
    let version = api_version.or(preset.api_version.as_deref()).unwrap_or_default();
    preset.query.replace("{api_version}", version)
}

/// A provider that is being checked.
#[derive(Debug)]
pub struct ProviderCheck {
    /// Its preset.
    pub preset: &'static Preset,
    /// Whether it has an address of its own.
    pub moved: bool,
    /// Whether a usual credential of its kind may be sent there.
    pub at_home: bool,
    provider: CheckedProvider,
}

impl ProviderCheck {
    /// What `spec` amounts to. `base_url` has been checked. `None` where nothing could be made of it;
    /// whatever is wrong is told to `wrong`.
    pub fn new(
        name: &str,
        spec: &ProviderSpec,
        headers: Vec<(HeaderName, HeaderValue)>,
        wrong: &mut impl FnMut(Wrong),
    ) -> Option<Self> {
        let Some(preset) = presets::find(&spec.kind) else {
            let kinds = presets::all().iter().map(|preset| preset.kind.as_str());
            let fix = match nearest(&spec.kind, kinds.clone()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("use one of {}", kinds.collect::<Vec<_>>().join(", ")),
            };
            wrong(Wrong::new("kind", "names no adapter or preset", fix));
            return None;
        };
        let moved = spec.base_url.is_some() && spec.base_url != preset.base_url;
        let elsewhere = moved && preset.generic;
        let Some(base_url) = spec.base_url.clone().or_else(|| preset.base_url.clone()) else {
            let what = format!("missing: {} has an address for each customer", preset.name);
            let fix = "such as base_url = \"https://RESOURCE.openai.azure.com/openai\"";
            wrong(Wrong::new("base_url", what, fix));
            return None;
        };
        if let Some(path) = &preset.path
            && base_url.ends_with(path.as_str())
        {
            let what = format!("ends with {path}, which Sluice adds itself");
            wrong(Wrong::new("base_url", what, format!("leave {path} out")));
        }
        if spec.api_version.is_some() && preset.api_version.is_none() {
            let what = format!("{} has no such parameter", preset.name);
            wrong(Wrong::new("api_version", what, "remove it"));
        }
        let quirks = match &spec.quirks {
            None if elsewhere => Quirks::default(),
            None => preset.quirks,
            Some(names) => quirks(names, wrong),
        };
        let plain = CheckedProvider::of_preset(preset, base_url, None);
        let settings = ProviderSettings {
            id: name.into(),
            query: filled(preset, spec.api_version.as_deref()),
            headers,
            quirks,
            region: spec.region,
            ..plain.settings
        };
        let catalog_kind = plain.catalog_kind.filter(|_| !elsewhere);
        let at_home = !moved || preset.base_url.is_none() || preset.local.is_some();
        let provider = CheckedProvider { settings, catalog_kind, listed: Vec::new() };
        Some(Self { preset, moved, at_home, provider })
    }

    /// Whether its service wants a credential there.
    pub fn needs_credential(&self) -> bool {
        self.preset.needs_credential() && self.at_home
    }

    /// The provider with its credential, and with the models that it listed.
    pub fn with(self, credential: Option<Secret<String>>, listed: Vec<String>) -> CheckedProvider {
        let settings = ProviderSettings { credential, ..self.provider.settings };
        CheckedProvider { settings, listed, ..self.provider }
    }
}

fn quirks(names: &[String], wrong: &mut impl FnMut(Wrong)) -> Quirks {
    match presets::quirks_named(names.iter().map(String::as_str)) {
        Ok(quirks) => quirks,
        Err(name) => {
            let fix = match nearest(name, presets::quirk_names()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => {
                    let names: Vec<&str> = presets::quirk_names().collect();
                    format!("use any of {}", names.join(", "))
                }
            };
            wrong(Wrong::new("quirks", "names a quirk that does not exist", fix));
            Quirks::default()
        }
    }
}

/// What else has to hold for a provider that somebody puts in: name, address, secrets.
pub(crate) fn check(
    name: &str,
    spec: &ProviderSpec,
    secrets: &ProviderSecrets,
) -> Result<CheckedProvider, Vec<Wrong>> {
    let mut problems = Vec::new();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        let fix = "use at most 64 letters, digits, `-`, `_` and `.`, such as \"openai-eu\"";
        problems.push(Wrong::new("name", format!("{name:?} is no name"), fix));
    }
    let mut spec = spec.clone();
    let mut is_bad_url = false;
    if let Some(url) = spec.base_url.take() {
        match checked_base_url(&url) {
            Ok(url) => spec.base_url = Some(url),
            // The address itself may hold a password, and is not repeated.
            Err(what) => {
                problems.push(Wrong::new("base_url", what, BASE_URL_FIX));
                is_bad_url = true;
            }
        }
    }
    if let Some(credential) = &secrets.credential
        && let Err(what) = checked_credential(credential)
    {
        let fix = "a credential is one line of visible characters";
        problems.push(Wrong::new("api_key", what, fix));
    }
    let mut headers = Vec::new();
    for (name, value) in &secrets.headers {
        let key = format!("headers.{name}");
        match (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value.expose())) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                headers.push((name, value));
            }
            (Err(_), _) => problems.push(Wrong::new(
                key,
                "is no name of a header",
                "use letters, digits and `-`",
            )),
            (_, Err(_)) => problems.push(Wrong::new(
                key,
                "has a value that no header can hold",
                "a value is one line of visible characters",
            )),
        }
    }
    if is_bad_url {
        return Err(problems);
    }
    let checked = ProviderCheck::new(name, &spec, headers, &mut |wrong| problems.push(wrong));
    if let Some(checked) = &checked
        && checked.needs_credential()
        && secrets.credential.is_none()
    {
        let what = format!("missing: {} wants a credential", checked.preset.name);
        problems.push(Wrong::new("api_key", what, "give it"));
    }
    match checked {
        Some(checked) if problems.is_empty() => {
            Ok(checked.with(secrets.credential.clone(), Vec::new()))
        }
        _ => Err(problems),
    }
}

/// What to write instead of a base URL that is none.
pub const BASE_URL_FIX: &str = "write what comes before the dialect's own path, such as \
                                \"https://api.openai.com/v1\" (before /chat/completions)";

/// An address before a dialect's own path, without the slash at its end; or what is wrong with it.
pub fn checked_base_url(text: &str) -> Result<String, &'static str> {
    let trimmed = text.trim_end_matches('/');
    match trimmed.parse::<http::Uri>() {
        Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => {
            Err("does not begin with http:// or https://")
        }
        Ok(uri) if uri.query().is_some() => Err("has a query"),
        Ok(uri) if uri.authority().is_some_and(|host| host.as_str().contains('@')) => {
            Err("holds a user name; give the credential as `api_key`")
        }
        Ok(_) if trimmed.ends_with("/chat/completions") => Err("ends with a dialect's path"),
        Ok(_) => Ok(trimmed.to_owned()),
        Err(_) => Err("is no URL"),
    }
}

fn checked_credential(credential: &Secret<String>) -> Result<(), &'static str> {
    let text = credential.expose();
    if text.trim().is_empty() {
        return Err("is empty");
    }
    if text.trim() != text || HeaderValue::from_str(text).is_err() {
        return Err("holds a line break, a control character or space around it");
    }
    Ok(())
}
