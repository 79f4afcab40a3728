//! Second names of models: `same_as` in the file.

use std::collections::HashMap;

use sluice_gateway::vendors::second_name;
use sluice_routing::catalog::Model;

use super::problem::nearest;
use super::read::{Entry, Reader};
use super::sections::ModelSection;

/// The `same_as` entries of the file.
pub(super) fn second_names(
    sections: &[Entry<ModelSection>],
    models: &[Model],
    reader: &mut Reader<'_>,
) -> Vec<Model> {
    let targets: HashMap<&str, &Model> = models.iter().map(|m| (m.id.as_str(), m)).collect();
    let is_alias = |id: &str| {
        sections.iter().any(|entry| {
            entry.id.as_deref() == Some(id)
                && entry.value.as_ref().is_some_and(|section| section.same_as.is_some())
        })
    };
    let mut aliases = Vec::new();
    for entry in sections {
        let Some(section) = &entry.value else { continue };
        let (Some(same_as), None) = (&section.same_as, &section.provider) else { continue };
        let target = same_as.0.as_str();
        let mut wrong = |key: &str, what: String, fix: String| {
            reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
        };
        let superfluous = [
            ("upstream_model", section.upstream_model.is_some()),
            ("price", section.price.is_some()),
            ("context_window", section.context_window.is_some()),
            ("output_limit", section.output_limit.is_some()),
            ("capabilities", section.capabilities.is_some()),
            ("quality", section.quality.is_some()),
            ("first_token_ms", section.first_token_ms.is_some()),
            ("tokens_per_second", section.tokens_per_second.is_some()),
        ];
        for (key, _) in superfluous.iter().filter(|(_, set)| *set) {
            let what = format!("comes from \"{target}\", which answers");
            wrong(key, what, "remove it here".to_owned());
        }
        if let Some(model) = targets.get(target) {
            let mut alias = second_name(&section.id.0, model);
            let minimum = section.minimum_security_level.unwrap_or_default();
            alias.minimum_level = alias.minimum_level.max(minimum);
            alias.suite = section.suite.unwrap_or(alias.suite);
            alias.created = section.created.map_or(alias.created, |at| at.0);
            if let Some(owner) = &section.owned_by {
                alias.owned_by.clone_from(&owner.0);
            }
            aliases.push(alias);
        } else if is_alias(target) {
            let what = format!("\"{target}\" is itself a second name");
            wrong("same_as", what, "name the model that answers".to_owned());
        } else if !sections.iter().any(|entry| entry.id.as_deref() == Some(target)) {
            let fix = match nearest(target, targets.keys().copied()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => "add it as [[models]]; `sluice catalog list` prints all models".to_owned(),
            };
            wrong("same_as", format!("there is no model \"{target}\""), fix);
        }
    }
    aliases
}
