//! What settings of a router amount to, whoever says them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_routing::catalog::{Catalog, Model};
use sluice_routing::decide::MOST_CONTENDERS;
use sluice_routing::router::{
    BUILT_IN, MOST_MEMBERS, Member, PREFIX, Policy, Router, Stability, Trade,
};
use sluice_routing::task::TaskType;

use super::documented::documented_level;
use super::nearest;
use super::wrong::Wrong;

/// The longest name of a router after `svc/`.
const LONGEST_NAME: usize = 64;

/// The settings of a router, by the names of the configuration file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouterSpec {
    /// How it chooses.
    pub policy: Policy,
    /// What it chooses from: ids of models, or second names of them.
    pub members: Vec<String>,
    /// For a weighted split: each member's share, in any unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// How much quality (of 1) halving the cost is worth; `None`: what the policy says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_weight: Option<f64>,
    /// How much quality (of 1) halving the time is worth; `None`: what the policy says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_weight: Option<f64>,
    /// The highest expected cost of a request, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// The longest expected wait for a request's first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_first_token_ms: Option<f64>,
    /// Task types that always go to one member, by their words.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<String, String>,
    /// The least strict level at which it answers; `None`: the least strict of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_security_level: Option<SecurityLevel>,
    /// The smallest suite that has it; `None`: the smallest of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// The day of its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_changed: Option<String>,
    /// What its card says of it; `None`: by what is known of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self {
            policy: Policy::Balanced,
            members: Vec::new(),
            weights: None,
            cost_weight: None,
            time_weight: None,
            max_cost: None,
            max_first_token_ms: None,
            pins: BTreeMap::new(),
            minimum_security_level: None,
            suite: None,
            last_changed: None,
            stability: None,
        }
    }
}

/// What is known beside a router's own settings.
pub struct AroundRouter<'a> {
    /// All models.
    pub models: &'a Catalog,
    /// Whether a name is that of a router.
    pub is_router: Box<dyn Fn(&str) -> bool + 'a>,
    /// Whether a model that is not there is said to be missing already.
    pub is_excused: Box<dyn Fn(&str) -> bool + 'a>,
    /// What to do about a model that does not exist.
    pub fix: &'static str,
}

/// Whether `id` can be the name of a router.
pub fn checked_router_name(id: &str) -> Result<(), Wrong> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match id.strip_prefix(PREFIX) {
        None => {
            let name = id.rsplit('/').next().unwrap_or(id);
            let fix = format!("call it \"{PREFIX}{name}\"");
            Err(Wrong::new("id", format!("\"{id}\" does not begin with {PREFIX}"), fix))
        }
        Some(name)
            if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(allowed) =>
        {
            let fix = "use at most 64 letters, digits, `-`, `_` and `.` after svc/";
            Err(Wrong::new("id", format!("\"{id}\" is no router's name"), fix))
        }
        Some(_) => Ok(()),
    }
}

impl RouterSpec {
    /// Takes over members as people write them, with commas or line breaks between: `small=9,large=1` for
    /// a split, `small,large` else. Weights make it a weighted split.
    pub fn set_members(&mut self, text: &str) -> Result<(), String> {
        let (mut members, mut weights) = (Vec::new(), Vec::new());
        let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
        for part in parts {
            match part.rsplit_once('=') {
                None => members.push(part.to_owned()),
                Some((name, weight)) => {
                    let weight = weight.trim().parse();
                    let name = name.trim();
                    weights.push(weight.map_err(|_| {
                        format!("the weight of {name:?} is no number; write {name}=9")
                    })?);
                    members.push(name.to_owned());
                }
            }
        }
        if !weights.is_empty() && weights.len() != members.len() {
            return Err("give each member a weight, or none of them".to_owned());
        }
        if !weights.is_empty() {
            self.policy = Policy::Weighted;
        }
        self.weights = Some(weights).filter(|weights| !weights.is_empty());
        self.members = members;
        Ok(())
    }

    /// Takes over a policy. Weights that were there for a split do not stay with another one.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
        if policy != Policy::Weighted {
            self.weights = None;
        }
    }

    /// The router and its entry among the models, or all that is wrong.
    pub fn checked(
        &self,
        id: &str,
        around: &AroundRouter<'_>,
    ) -> Result<(Router, Model), Vec<Wrong>> {
        let mut check = Check { spec: self, around, problems: Vec::new() };
        let router = check.router(id);
        match check.problems.is_empty() {
            true => {
                let entry = self.entry(&router);
                Ok((router, entry))
            }
            false => Err(check.problems),
        }
    }

    /// Its entry among the models: what its members make of it, and what is said of it.
    fn entry(&self, router: &Router) -> Model {
        let entry = router.entry();
        Model {
            suite: self.suite.unwrap_or(entry.suite),
            minimum_level: entry
                .minimum_level
                .max(self.minimum_security_level.unwrap_or_default())
                .max(documented_level(router.id.as_str())),
            ..entry
        }
    }

    /// The same without the members that `is_there` does not know, which are returned.
    pub(super) fn without_missing(&self, is_there: impl Fn(&str) -> bool) -> (Self, Vec<String>) {
        let (mut kept, mut missing) = (Self { members: Vec::new(), ..self.clone() }, Vec::new());
        let mut weights = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            match is_there(member) {
                true => {
                    weights.extend(self.weights.as_ref().and_then(|all| all.get(at)));
                    kept.members.push(member.clone());
                }
                false => missing.push(member.clone()),
            }
        }
        if !missing.is_empty() {
            kept.weights = self.weights.is_some().then_some(weights);
            kept.pins.retain(|_, member| !missing.contains(member));
        }
        (kept, missing)
    }

    /// Each member with its share of the whole, which is 1; all have the same where none is said.
    #[expect(clippy::cast_precision_loss, reason = "members are few")]
    pub fn shares(&self) -> Vec<(&str, f64)> {
        let weight = |at: usize| match &self.weights {
            Some(weights) => weights.get(at).copied().unwrap_or_default(),
            None => 1.0 / self.members.len() as f64,
        };
        let sum: f64 = (0..self.members.len()).map(weight).sum();
        let share = |at: usize| if sum > 0.0 { weight(at) / sum } else { 0.0 };
        self.members.iter().enumerate().map(|(at, name)| (name.as_str(), share(at))).collect()
    }
}

/// The settings of a router under examination.
struct Check<'a> {
    spec: &'a RouterSpec,
    around: &'a AroundRouter<'a>,
    problems: Vec<Wrong>,
}

/// A member that is there.
struct Found<'a> {
    /// Its place in the list.
    at: usize,
    /// Its name in the list.
    name: &'a str,
    /// The model that the name stands for.
    model: Arc<Model>,
}

impl<'a> Check<'a> {
    fn wrong(&mut self, key: &str, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(Wrong::new(key, what, fix));
    }

    fn router(&mut self, id: &str) -> Router {
        let spec = self.spec;
        let members = self.members();
        self.weights();
        self.figures();
        let pins = self.pins(&members);
        let weight = |at: usize| {
            let weights = spec.weights.as_ref().and_then(|weights| weights.get(at));
            weights.copied().unwrap_or(1.0)
        };
        let members =
            members.into_iter().map(|found| Member::new(found.model, weight(found.at))).collect();
        let usual = Router::new(id, spec.policy, members);
        Router {
            trade: Trade {
                cost: spec.cost_weight.unwrap_or(usual.trade.cost),
                time: spec.time_weight.unwrap_or(usual.trade.time),
            },
            max_cost: spec.max_cost,
            max_first_token_ms: spec.max_first_token_ms,
            pins,
            last_changed: spec.last_changed.clone(),
            stability: spec.stability,
            ..usual
        }
    }

    /// The models behind the names of `members`, each once.
    fn members(&mut self) -> Vec<Found<'a>> {
        let spec = self.spec;
        let count = spec.members.len();
        if count == 0 {
            self.wrong("members", "is an empty list", "name at least one model");
        }
        if count > MOST_MEMBERS {
            let what = format!("has {count} members; a router chooses from {MOST_MEMBERS} at most");
            self.wrong("members", what, "name those that are worth choosing");
        }
        let mut found: Vec<Found<'a>> = Vec::new();
        let mut known: HashMap<ModelId, &str> = HashMap::new();
        for (at, name) in spec.members.iter().enumerate() {
            let Some(model) = self.member(at, name) else { continue };
            if let Some(other) = known.insert(model.id.clone(), name) {
                let what = match other == name {
                    true => format!("\"{name}\" is in the list already"),
                    false => format!("\"{name}\" is the same model as \"{other}\""),
                };
                self.wrong(&format!("members[{at}]"), what, "remove one of them");
                continue;
            }
            found.push(Found { at, name, model });
        }
        let places: usize = found.iter().map(|found| found.model.deployments.len()).sum();
        if places > MOST_CONTENDERS {
            let what = format!(
                "run at {places} places, each at all of its providers; a router looks at {MOST_CONTENDERS} at most"
            );
            self.wrong("members", what, "name fewer models, or fewer providers for each");
        }
        found
    }

    /// The model behind one name of `members`.
    fn member(&mut self, at: usize, name: &str) -> Option<Arc<Model>> {
        let key = format!("members[{at}]");
        let models = self.around.models;
        let built_in = |id: &str| {
            BUILT_IN.iter().any(|(built_in, _)| *built_in == id) && models.get(id).is_none()
        };
        if (self.around.is_router)(name) || built_in(name) {
            let what = format!("\"{name}\" is a router itself");
            self.wrong(&key, what, "name the models that it stands for");
            return None;
        }
        if let Some(model) = models.get(name) {
            return self.behind(model);
        }
        if !(self.around.is_excused)(name) {
            let known = models.models().iter().map(|model| model.id.as_str());
            let fix = match nearest(name, known) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => self.around.fix.to_owned(),
            };
            self.wrong(&key, format!("there is no model \"{name}\""), fix);
        }
        None
    }

    /// The model that `model` stands for, under the stricter conditions of both.
    fn behind(&self, model: &Arc<Model>) -> Option<Arc<Model>> {
        let Some(target) = &model.alias_of else { return Some(model.clone()) };
        let target = self.around.models.get(target.as_str())?;
        Some(Arc::new(Model {
            suite: target.suite.max(model.suite),
            minimum_level: target.minimum_level.max(model.minimum_level),
            ..(**target).clone()
        }))
    }

    /// Whether the policy and what goes with it fit together.
    fn weights(&mut self) {
        let spec = self.spec;
        let policy = spec.policy.as_str();
        if spec.policy != Policy::Weighted {
            if spec.weights.is_some() {
                let what = format!("has no effect with policy \"{policy}\"");
                self.wrong("weights", what, "remove it, or set policy = \"weighted\"");
            }
            return;
        }
        let members = spec.members.len();
        match &spec.weights {
            None => {
                let fix = "add `weights = [ … ]` with one number for each member";
                self.wrong("weights", "missing, but policy is \"weighted\"", fix);
            }
            Some(weights) if weights.len() != members => {
                let what = format!("has {} numbers for {members} members", weights.len());
                self.wrong("weights", what, "write one number for each member, in their order");
            }
            Some(_) => {}
        }
        for (key, is_set) in [
            ("cost_weight", spec.cost_weight.is_some()),
            ("time_weight", spec.time_weight.is_some()),
            ("pins", !spec.pins.is_empty()),
        ] {
            if is_set {
                let what = "has no effect with policy \"weighted\"";
                self.wrong(key, what, "remove it, or choose another policy");
            }
        }
    }

    /// Whether the figures are some.
    fn figures(&mut self) {
        let spec = self.spec;
        let weights = spec.weights.iter().flatten().enumerate();
        let weights = weights.map(|(at, weight)| (format!("weights[{at}]"), *weight));
        let bounds = [("max_cost", spec.max_cost), ("max_first_token_ms", spec.max_first_token_ms)];
        let bounds = bounds.into_iter().filter_map(|(key, it)| Some((key.to_owned(), it?)));
        for (key, figure) in weights.chain(bounds) {
            if !figure.is_finite() || figure <= 0.0 {
                self.wrong(&key, format!("{figure} is out of bounds"), "set a number above 0");
            }
        }
    }

    fn pins(&mut self, members: &[Found<'_>]) -> Vec<(TaskType, ModelId)> {
        let mut pins = Vec::new();
        for (word, name) in &self.spec.pins {
            let key = format!("pins.{word}");
            let Some(task) = TaskType::parse(word) else {
                let words = TaskType::ALL.map(TaskType::as_str);
                let fix = match nearest(word, words) {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None => format!("use one of {}", words.join(", ")),
                };
                self.wrong(&key, "is no task type", fix);
                continue;
            };
            let member =
                members.iter().find(|m| m.name == name || m.model.id.as_str() == name.as_str());
            if let Some(member) = member {
                pins.push((task, member.model.id.clone()));
                continue;
            }
            if self.spec.members.contains(name) {
                // It is a member, and its own problem is on the list already.
                continue;
            }
            let names: Vec<&str> = members.iter().map(|member| member.name).collect();
            let fix = match nearest(name, names.iter().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => "add it to members, or name one of them".to_owned(),
            };
            self.wrong(&key, format!("\"{name}\" is no member"), fix);
        }
        pins
    }
}
