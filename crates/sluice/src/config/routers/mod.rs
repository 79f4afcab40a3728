//! Routers: those of the file, and those that every deployment has.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sluice_core::ids::ModelId;
use sluice_gateway::vendors::documented_level;
use sluice_routing::catalog::{Catalog, Model};
use sluice_routing::decide::MOST_CONTENDERS;
use sluice_routing::router::{BUILT_IN, MOST_MEMBERS, Member, PREFIX, Policy, Router, Trade};
use sluice_routing::task::TaskType;

use super::problem::nearest;
use super::read::{Entry, Reader};
use super::sections::{Root, RouterSection};

/// The routers of the file over `models`, each with its entry among the models.
pub(super) fn check(
    models: &Catalog,
    root: &Root,
    reader: &mut Reader<'_>,
) -> Vec<(Router, Model)> {
    let mut routers = Vec::new();
    let mut seen = HashSet::new();
    for entry in &root.routers {
        let mut check = Check { entry, root, models, reader: &mut *reader };
        check.id(&mut seen);
        if let Some(section) = &entry.value {
            let router = check.router(section);
            let entry = model_entry(&router, section);
            routers.push((router, entry));
        }
    }
    routers
}

/// Its entry among the models: what its members make of it, and what the file says.
fn model_entry(router: &Router, section: &RouterSection) -> Model {
    let entry = router.entry();
    Model {
        suite: section.suite.unwrap_or(entry.suite),
        minimum_level: entry
            .minimum_level
            .max(section.minimum_security_level.unwrap_or_default())
            .max(documented_level(router.id.as_str())),
        ..entry
    }
}

/// One `[[routers]]` under examination.
struct Check<'a, 'b, 'r> {
    entry: &'a Entry<RouterSection>,
    root: &'a Root,
    models: &'a Catalog,
    reader: &'b mut Reader<'r>,
}

impl<'a> Check<'a, '_, '_> {
    fn wrong(&mut self, key: &str, what: impl Into<String>, fix: impl Into<String>) {
        self.reader.wrong_at(format!("{}.{key}", self.entry.path), self.entry.line, what, fix);
    }

    fn id(&mut self, seen: &mut HashSet<&'a str>) {
        let Some(id) = self.entry.id.as_deref() else { return };
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match id.strip_prefix(PREFIX) {
            None => {
                let name = id.rsplit('/').next().unwrap_or(id);
                let fix = format!("call it \"{PREFIX}{name}\"");
                self.wrong("id", format!("\"{id}\" does not begin with {PREFIX}"), fix);
            }
            Some(name) if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) => {
                let fix = "use at most 64 letters, digits, `-`, `_` and `.` after svc/";
                self.wrong("id", format!("\"{id}\" is no router's name"), fix);
            }
            Some(_) => {}
        }
        if !seen.insert(id) {
            let what = format!("another router is called \"{id}\" as well");
            self.wrong("id", what, "rename one of them");
        }
        let is_model = self.models.get(id).is_some()
            || self.root.models.iter().any(|model| model.id.as_deref() == Some(id));
        if is_model {
            let what = format!("a model is called \"{id}\" as well");
            self.wrong("id", what, "rename one of them");
        }
    }

    fn router(&mut self, section: &'a RouterSection) -> Router {
        let members = self.members(section);
        self.weights(section);
        let pins = self.pins(section, &members);
        let usual = section.policy.trade();
        let weight = |at: usize| {
            let weights = section.weights.as_ref().and_then(|weights| weights.get(at));
            weights.map_or(1.0, |weight| weight.0)
        };
        let members =
            members.into_iter().map(|found| Member::new(found.model, weight(found.at))).collect();
        Router {
            trade: Trade {
                cost: section.cost_weight.map_or(usual.cost, |weight| weight.0),
                time: section.time_weight.map_or(usual.time, |weight| weight.0),
            },
            max_cost: section.max_cost.map(|most| most.0),
            max_first_token_ms: section.max_first_token_ms.map(|most| most.0),
            pins,
            last_changed: section.last_changed.as_ref().map(|day| day.0.clone()),
            stability: section.stability,
            ..Router::new(section.id.0.as_str(), section.policy, members)
        }
    }

    /// The models behind the names of `members`, each once.
    fn members(&mut self, section: &'a RouterSection) -> Vec<Found<'a>> {
        let count = section.members.len();
        if count == 0 {
            self.wrong("members", "is an empty list", "name at least one model");
        }
        if count > MOST_MEMBERS {
            let what = format!("has {count} members; a router chooses from {MOST_MEMBERS} at most");
            self.wrong("members", what, "name those that are worth choosing");
        }
        let mut found: Vec<Found<'a>> = Vec::new();
        let mut known: HashMap<ModelId, &str> = HashMap::new();
        for (at, name) in section.members.iter().enumerate() {
            let name = name.0.as_str();
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
        let is_router =
            |id: &str| self.root.routers.iter().any(|router| router.id.as_deref() == Some(id));
        let built_in = |id: &str| {
            BUILT_IN.iter().any(|(built_in, _)| *built_in == id) && self.models.get(id).is_none()
        };
        if is_router(name) || built_in(name) {
            let what = format!("\"{name}\" is a router itself");
            self.wrong(&key, what, "name the models that it stands for");
            return None;
        }
        if let Some(model) = self.models.get(name) {
            return self.behind(model);
        }
        // A model with a problem of its own is on the list already.
        let is_declared = self.root.models.iter().any(|entry| entry.id.as_deref() == Some(name));
        if !is_declared {
            let known = self.models.models().iter().map(|model| model.id.as_str());
            let fix = match nearest(name, known) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => "add it as [[models]]; `sluice catalog list` prints all models".to_owned(),
            };
            self.wrong(&key, format!("there is no model \"{name}\""), fix);
        }
        None
    }

    /// The model that `model` stands for, under the stricter conditions of both.
    fn behind(&self, model: &Arc<Model>) -> Option<Arc<Model>> {
        let Some(target) = &model.alias_of else { return Some(model.clone()) };
        let target = self.models.get(target.as_str())?;
        Some(Arc::new(Model {
            suite: target.suite.max(model.suite),
            minimum_level: target.minimum_level.max(model.minimum_level),
            ..(**target).clone()
        }))
    }

    /// Whether the policy and what goes with it fit together.
    fn weights(&mut self, section: &RouterSection) {
        let policy = section.policy.as_str();
        if section.policy != Policy::Weighted {
            if section.weights.is_some() {
                let what = format!("has no effect with policy \"{policy}\"");
                self.wrong("weights", what, "remove it, or set policy = \"weighted\"");
            }
            return;
        }
        let members = section.members.len();
        match &section.weights {
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
            ("cost_weight", section.cost_weight.is_some()),
            ("time_weight", section.time_weight.is_some()),
            ("pins", section.pins.is_some()),
        ] {
            if is_set {
                let what = "has no effect with policy \"weighted\"";
                self.wrong(key, what, "remove it, or choose another policy");
            }
        }
    }

    fn pins(&mut self, section: &RouterSection, members: &[Found<'_>]) -> Vec<(TaskType, ModelId)> {
        let mut pins = Vec::new();
        for (task, name) in section.pins.iter().flat_map(|pins| &pins.0) {
            let member =
                members.iter().find(|m| m.name == name || m.model.id.as_str() == name.as_str());
            if let Some(member) = member {
                pins.push((*task, member.model.id.clone()));
                continue;
            }
            if section.members.iter().any(|member| member.0 == *name) {
                // It is a member, and its own problem is on the list already.
                continue;
            }
            let names: Vec<&str> = members.iter().map(|member| member.name).collect();
            let fix = match nearest(name, names.iter().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => "add it to members, or name one of them".to_owned(),
            };
            let key = format!("pins.{}", task.as_str());
            self.wrong(&key, format!("\"{name}\" is no member"), fix);
        }
        pins
    }
}

/// A member that is there.
struct Found<'a> {
    /// Its place in the file's list.
    at: usize,
    /// Its name in the file's list.
    name: &'a str,
    /// The model that the name stands for.
    model: Arc<Model>,
}

#[cfg(test)]
mod tests;
