//! Routers: those of the file, and those that every deployment has.

use std::collections::HashSet;

use sluice_gateway::vendors::{AroundRouter, RouterSpec, checked_router_name};
use sluice_routing::catalog::{Catalog, Model};
use sluice_routing::router::Router;

use super::read::{Entry, Reader};
use super::sections::{Root, RouterSection};

/// The routers of the file over `models`, each with its entry among the models.
pub(super) fn check(
    models: &Catalog,
    root: &Root,
    reader: &mut Reader<'_>,
) -> Vec<(Router, Model)> {
    let around = AroundRouter {
        models,
        is_router: Box::new(|id| root.routers.iter().any(|it| it.id.as_deref() == Some(id))),
        // A model with a problem of its own is on the list already.
        is_excused: Box::new(|id| root.models.iter().any(|it| it.id.as_deref() == Some(id))),
        fix: "add it as [[models]]; `sluice catalog list` prints all models",
    };
    let mut routers = Vec::new();
    let mut seen = HashSet::new();
    for entry in &root.routers {
        let mut check = Check { entry, root, models, reader: &mut *reader };
        check.id(&mut seen);
        let Some(section) = &entry.value else { continue };
        match spec(section).checked(section.id.0.as_str(), &around) {
            Ok(router) => routers.push(router),
            Err(problems) => {
                problems.into_iter().for_each(|it| check.wrong(&it.key, it.what, it.fix));
            }
        }
    }
    routers
}

fn spec(section: &RouterSection) -> RouterSpec {
    let pins = section.pins.iter().flat_map(|pins| &pins.0);
    RouterSpec {
        policy: section.policy,
        members: section.members.iter().map(|name| name.0.clone()).collect(),
        weights: section.weights.as_ref().map(|all| all.iter().map(|it| it.0).collect()),
        cost_weight: section.cost_weight.map(|weight| weight.0),
        time_weight: section.time_weight.map(|weight| weight.0),
        max_cost: section.max_cost.map(|most| most.0),
        max_first_token_ms: section.max_first_token_ms.map(|most| most.0),
        pins: pins.map(|(task, name)| (task.as_str().to_owned(), name.clone())).collect(),
        minimum_security_level: section.minimum_security_level,
        suite: section.suite,
        last_changed: section.last_changed.as_ref().map(|day| day.0.clone()),
        stability: section.stability,
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
        if let Err(it) = checked_router_name(id) {
            self.wrong(&it.key, it.what, it.fix);
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
}

#[cfg(test)]
mod tests;
