//! The one list of models and prices.
//!
//! A [`Catalog`] is built once for each configuration and never changed: a request looks at one
//! snapshot from its beginning to its end.

pub mod facts;
pub mod litellm;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use sluice_core::ids::{AccountId, ModelId, ProviderId, RouterId};
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::Price;
use sluice_core::organisation::{Attribution, Subject};
use sluice_core::region::Region;

use crate::quality::Quality;
use crate::router::Router;
use crate::speed::Pace;

/// All models that a deployment of Sluice serves.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    models: Vec<Arc<Model>>,
    index: HashMap<ModelId, usize>,
    routers: HashMap<ModelId, Arc<Router>>,
    own: HashMap<AccountId, BTreeMap<ModelId, OwnRouter>>,
}

/// A router that only an account, a department or a team has.
#[derive(Debug, Clone)]
pub struct OwnRouter {
    /// Its id in the database.
    pub id: RouterId,
    /// Who may ask it.
    pub of: Subject,
    /// The router.
    pub router: Arc<Router>,
    /// Its entry among the models.
    pub entry: Arc<Model>,
}

impl OwnRouter {
    /// Whether it is there for requests that are attributed so.
    pub fn is_for(&self, attribution: &Attribution) -> bool {
        match &self.of {
            Subject::Account(id) => *id == attribution.account,
            Subject::Department(id) => attribution.department.as_ref() == Some(id),
            Subject::Team(id) => attribution.team.as_ref() == Some(id),
            Subject::Person(_) | Subject::Service(_) | Subject::Key(_) => false,
        }
    }
}

impl Catalog {
    /// A catalogue of `models`, in this order; of two with one id the later one is kept.
    pub fn new(models: impl IntoIterator<Item = Model>) -> Self {
        Self::default().with_models(models)
    }

    /// This catalogue and `models` after it; of two with one id the later one is kept.
    #[must_use]
    pub fn with_models(mut self, models: impl IntoIterator<Item = Model>) -> Self {
        for model in models {
            let id = model.id.clone();
            match self.index.get(&id) {
                Some(&at) => self.models[at] = Arc::new(model),
                None => {
                    self.index.insert(id, self.models.len());
                    self.models.push(Arc::new(model));
                }
            }
        }
        self
    }

    /// The model with this identifier.
    pub fn get(&self, id: &str) -> Option<&Arc<Model>> {
        self.index.get(id).map(|&at| &self.models[at])
    }

    /// This catalogue with `routers`, each of which has an entry among the models too.
    #[must_use]
    pub fn with_routers(mut self, routers: impl IntoIterator<Item = Router>) -> Self {
        self.routers =
            routers.into_iter().map(|router| (router.id.clone(), Arc::new(router))).collect();
        self
    }

    /// The router with this identifier.
    pub fn router(&self, id: &str) -> Option<&Arc<Router>> {
        self.routers.get(id)
    }

    /// All routers, in the order of their entries among the models.
    pub fn routers(&self) -> impl Iterator<Item = &Arc<Router>> {
        self.models.iter().filter_map(|model| self.routers.get(&model.id))
    }

    /// This catalogue with a router that only some of `account` have.
    #[must_use]
    pub fn with_own_router(mut self, account: AccountId, own: OwnRouter) -> Self {
        self.own.entry(account).or_default().insert(own.entry.id.clone(), own);
        self
    }

    /// The router of this name that only some of `account` have.
    pub fn own_router(&self, account: &AccountId, id: &str) -> Option<&OwnRouter> {
        self.own.get(account)?.get(id)
    }

    /// The routers that only some of `account` have, by name.
    pub fn own_routers(&self, account: &AccountId) -> impl Iterator<Item = &OwnRouter> {
        self.own.get(account).into_iter().flat_map(BTreeMap::values)
    }

    /// The names that requests can ask for that are attributed so: those of all, and of their own routers.
    pub fn names_for<'a>(&'a self, whose: &'a Attribution) -> impl Iterator<Item = &'a str> {
        let own = self.own_routers(&whose.account).filter(|own| own.is_for(whose));
        self.models.iter().chain(own.map(|own| &own.entry)).map(|model| model.id.as_str())
    }

    /// All models, in order.
    pub fn models(&self) -> &[Arc<Model>] {
        &self.models
    }
}

/// One model that callers can ask for.
#[derive(Debug, Clone)]
pub struct Model {
    /// What a caller puts in `model`.
    pub id: ModelId,
    /// When it was made, seconds since the Unix epoch; 0 where nobody knows.
    pub created: u64,
    /// Who made it.
    pub owned_by: String,
    /// Prompt and answer together, in tokens.
    pub context_window: Option<u32>,
    /// Most tokens of one answer.
    pub output_limit: Option<u32>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What it costs; `None` where unknown, which is reported as unknown and never as zero.
    pub price: Option<Price>,
    /// Where the price is from, and of which day (`2026-11-01`).
    pub price_source: Option<PriceSource>,
    /// The smallest suite that has it.
    pub suite: Suite,
    /// The least strict level at which it answers.
    pub minimum_level: SecurityLevel,
    /// Whether it only pretends: the simulator's models.
    pub simulated: bool,
    /// The model that this identifier stands for (`svc/enterprise-coder-v1` and the like): requests
    /// are answered by it, and [`Model::minimum_level`] of both holds.
    pub alias_of: Option<ModelId>,
    /// How well it does, where anything but its price tells.
    pub quality: Option<Quality>,
    /// How fast it is before anybody has measured it, where somebody said so.
    pub pace: Option<Pace>,
    /// Where it runs, in order of preference; at least one, except for an alias and a router,
    /// which have none.
    pub deployments: Vec<Deployment>,
}

impl Model {
    /// How good it is taken to be: what is said of it, or else what its price tells.
    pub fn expected_quality(&self) -> Quality {
        self.quality.clone().unwrap_or_else(|| Quality::guess(self.price.as_ref()))
    }

    /// The regions that have the model, each once, in the documented order.
    pub fn regions(&self) -> Vec<Region> {
        Region::ALL
            .into_iter()
            .filter(|region| self.deployments.iter().any(|d| d.region == Some(*region)))
            .collect()
    }
}

/// A model at one provider.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// The provider.
    pub provider: ProviderId,
    /// The model's name there.
    pub upstream_model: String,
    /// Where the provider processes requests; `None` where the configuration does not say.
    pub region: Option<Region>,
}

/// Where a price is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceSource {
    /// A price list, or `configuration`.
    pub source: String,
    /// The day of the list (`2026-11-01`); empty where the configuration says the price.
    pub date: String,
}

/// What a model can do. `None` is unknown: such a request is passed on, and the provider decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Reads images.
    pub vision: Option<bool>,
    /// Calls functions.
    pub tools: Option<bool>,
    /// Answers by a JSON schema.
    pub json_schema: Option<bool>,
    /// Thinks before it answers.
    pub reasoning: Option<bool>,
    /// Has a prompt cache.
    pub prompt_cache: Option<bool>,
}
