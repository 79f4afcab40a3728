//! Where a request goes: a provider as configured, and one model there.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use serde::Deserialize;
use sluice_core::ids::ProviderId;
use sluice_core::region::Region;
use sluice_core::sealed::SealedPlaces;
use sluice_core::secret::Secret;

use crate::adapter::Adapter;

/// One configured provider.
pub struct Endpoint {
    /// Its name in the configuration.
    pub id: ProviderId,
    /// The dialect that it speaks.
    pub adapter: Arc<dyn Adapter>,
    /// Everything before the dialect's own path, without a slash at the end.
    pub base_url: String,
    /// Query that every call carries, without `?`; empty where none (Azure's `api-version`).
    pub query: String,
    /// How the credential is presented.
    pub auth: Auth,
    /// The provider key; `None` where the provider wants none.
    pub credential: Option<Secret<String>>,
    /// Further headers that every call carries.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Where this provider's quirks are those of an OpenAI-compatible service.
    pub quirks: Quirks,
    /// Where it processes requests.
    pub region: Option<Region>,
}

impl Endpoint {
    /// The sealed values that the provider gave out itself and wants back as they were.
    pub fn takes_back(&self) -> SealedPlaces {
        self.adapter.takes_back(self)
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("id", &self.id)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// How a credential is presented.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// `Authorization: Bearer …`.
    #[default]
    Bearer,
    /// The bare credential in a header of this name.
    Header(String),
}

/// In what an OpenAI-compatible service differs from OpenAI. All `false` is OpenAI's own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Takes the bound on tokens only as `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// Takes the bound on tokens only as `max_tokens`.
    pub max_tokens: bool,
    /// Refuses `stream_options`; its usage comes unasked or never.
    pub no_stream_options: bool,
    /// Knows `system` but not `developer`.
    pub no_developer_role: bool,
    /// Refuses members that it does not know.
    pub no_unknown_members: bool,
    /// The model's name stands in the path (`/deployments/{model}`), as on Azure.
    pub model_in_path: bool,
    /// Refuses Anthropic's `cache_control` in messages.
    pub no_cache_control: bool,
    /// Seals thoughts in `reasoning_details` and wants them back as they were.
    pub sealed_thoughts: bool,
    /// Seals thoughts in `extra_content` of tool calls and wants them back as they were.
    pub sealed_calls: bool,
}

/// One model at one provider: what an adapter encodes for.
#[derive(Debug, Clone)]
pub struct Target {
    /// The provider.
    pub endpoint: Arc<Endpoint>,
    /// The model's name there.
    pub upstream_model: String,
    /// The bound on generated tokens to send: the request's, lowered to the model's own where the
    /// key's policy says so. `None` where the request has none.
    pub max_tokens: Option<u32>,
    /// The most tokens that the model generates, where known. For providers that demand a bound.
    pub output_limit: Option<u32>,
}
