//! How clients are set up: what `sluice connect` prints and the dashboard shows beside a new key.
//!
//! [`CLIENTS`] is the table of clients, [`Guide`] what an entry becomes for a deployment.

mod clients;
mod guide;
pub mod request;

use std::sync::Arc;

use sluice_core::secret::Secret;
use sluice_routing::catalog::{Catalog, Model};

pub use clients::{CLIENTS, Client, File, Kind, client};
pub use guide::{Deployment, Guide, GuideFile, Variable};

/// The documented identifier for coding.
const CODER: &str = "svc/enterprise-coder-v1";

/// Which of `models` suits a client of this kind; `None` where there is no model at all.
pub fn suitable_model(models: &[Arc<Model>], kind: Kind) -> Option<&Model> {
    let mut models = models.iter().map(|model| &**model);
    let is_coder = |model: &&Model| kind == Kind::Assistant && model.id.as_str() == CODER;
    // An assistant without tools cannot do anything.
    let suits = |model: &&Model| kind == Kind::Library || model.capabilities.tools != Some(false);
    let found = models.clone().find(is_coder).or_else(|| models.clone().find(suits));
    found.or_else(|| models.next())
}

impl Deployment {
    /// What a client that uses `model` has to know. A second name has the limits of the model that
    /// answers for it.
    pub fn of(
        base_url: String,
        key: Option<Secret<String>>,
        model: &Model,
        catalog: &Catalog,
    ) -> Self {
        let behind = model.alias_of.as_ref().and_then(|id| catalog.get(id.as_str()));
        Self {
            base_url,
            key,
            model: model.id.to_string(),
            context_window: model.context_window.or(behind.and_then(|it| it.context_window)),
            output_limit: model.output_limit.or(behind.and_then(|it| it.output_limit)),
            simulated: behind.map_or(model.simulated, |behind| behind.simulated),
            config: None,
        }
    }
}
