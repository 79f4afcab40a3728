//! What the form of a provider says.

use std::collections::BTreeMap;

use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_gateway::admin::{AdminError, NewProvider, ProviderChange};
use sluice_gateway::vendors::{ModelSpec, ProviderSecrets, ProviderSpec};

use crate::web::{Failure, Fields, sentence};

/// What is wrong with the form.
pub(super) struct Wrong {
    /// The field; `None`: all of it.
    pub(super) field: Option<&'static str>,
    /// What is wrong with it, and the fix.
    pub(super) text: String,
}

impl Wrong {
    /// What a refusal means for the form. What does not concern it is a failure of the page.
    pub(super) fn of(error: AdminError) -> Result<Self, Failure> {
        let field = match &error {
            taken if taken.is_taken() => None,
            AdminError::Forbidden { .. } | AdminError::Storage(_) => return Err(error.into()),
            AdminError::Settings(problems) => {
                let fields =
                    ["kind", "name", "base_url", "region", "api_version", "credential", "models"];
                let key = problems.first().map_or("", |problem| &problem.key);
                match key {
                    "api_key" | "api_key_env" => Some("credential"),
                    key => fields.into_iter().find(|field| *field == key),
                }
            }
            AdminError::CredentialNeeded { .. } => Some("credential"),
            AdminError::UnknownModel(_) => Some("models"),
            AdminError::Provider(failed) => {
                let text = format!(
                    "The provider did not answer as it should, so nothing was stored: {failed}. To \
                     mend it, {}.",
                    failed.advice()
                );
                return Ok(Self { field: None, text });
            }
            _ => None,
        };
        Ok(Self { field, text: sentence(&error) })
    }
}

/// The provider that is wished for.
pub(super) fn provider(form: &Fields) -> NewProvider {
    NewProvider {
        name: form.get("name").to_owned(),
        spec: ProviderSpec {
            kind: form.get("kind").to_owned(),
            base_url: base_url(form),
            region: region(form),
            api_version: form.some("api_version").map(str::to_owned),
            ..ProviderSpec::default()
        },
        secrets: ProviderSecrets { credential: credential(form), headers: BTreeMap::new() },
    }
}

/// What is different from what is stored. An empty credential is the one that is there.
pub(super) fn change(form: &Fields, stored: &ProviderSpec) -> ProviderChange {
    let base_url = base_url(form);
    ProviderChange {
        base_url: (base_url != stored.base_url).then_some(base_url),
        region: Some(region(form)),
        api_version: Some(form.some("api_version").map(str::to_owned)),
        quirks: None,
        credential: credential(form).map(Some),
        headers: None,
    }
}

/// The provider's names of models, a line each.
pub(super) fn models(form: &Fields) -> Vec<String> {
    let lines = form.get("models").lines().map(str::trim).filter(|line| !line.is_empty());
    let mut models: Vec<String> = lines.map(str::to_owned).collect();
    models.dedup();
    models
}

/// These models at a provider, called PROVIDER/MODEL as those of the catalogue are.
pub(super) fn at(provider: &str, models: &[String]) -> Vec<(String, ModelSpec)> {
    let of = |model: &String| {
        let spec = ModelSpec {
            provider: vec![provider.to_owned()],
            upstream_model: Some(model.clone()),
            ..ModelSpec::default()
        };
        (format!("{provider}/{model}"), spec)
    };
    models.iter().map(of).collect()
}

fn base_url(form: &Fields) -> Option<String> {
    form.some("base_url").map(|url| url.trim_end_matches('/').to_owned())
}

fn region(form: &Fields) -> Option<Region> {
    Region::ALL.into_iter().find(|region| region.as_str() == form.get("region"))
}

fn credential(form: &Fields) -> Option<Secret<String>> {
    form.some("credential").map(|key| Secret::new(key.to_owned()))
}
