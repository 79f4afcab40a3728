//! What the built-in routers choose from: the models that a deployment has.
//!
//! At most [`MOST_MEMBERS`] of them, since each costs a little with every request. Where there are
//! more, a model that several providers have counts once, at its cheapest, and those stay that are
//! not beaten in quality and price together.

use std::collections::HashMap;
use std::sync::Arc;

use super::{MOST_MEMBERS, Member};
use crate::catalog::Model;

/// The models of `models` that are worth choosing from, in their order. The simulator's are only
/// where nothing else is; names and routers are none.
pub fn members(models: &[Arc<Model>]) -> Vec<Member> {
    let runs = |model: &&Arc<Model>| model.alias_of.is_none() && !model.deployments.is_empty();
    let mut found: Vec<&Arc<Model>> =
        models.iter().filter(runs).filter(|model| !model.simulated).collect();
    if found.is_empty() {
        found.extend(models.iter().filter(runs));
    }
    let names: Vec<Name> = found.iter().map(|model| Name::of(model)).collect();
    let mut candidates: Vec<Candidate> = found
        .iter()
        .zip(&names)
        .enumerate()
        .filter(|(_, (model, name))| {
            !found.iter().zip(&names).any(|(other, newer)| supersedes(other, newer, model, name))
        })
        .map(|(place, (model, name))| Candidate {
            place,
            name,
            cost: blended_price(model),
            member: Member::new((*model).clone(), 1.0),
        })
        .collect();
    if candidates.len() > MOST_MEMBERS {
        candidates = cheapest_of_each(candidates);
    }
    if candidates.len() > MOST_MEMBERS {
        candidates = worth_having(candidates);
    }
    candidates.sort_by_key(|candidate| candidate.place);
    candidates.into_iter().map(|candidate| candidate.member).collect()
}

struct Candidate<'a> {
    /// Where it stands in the catalogue: what is equal otherwise keeps this order.
    place: usize,
    name: &'a Name,
    /// Where it is unknown, more than everything.
    cost: u64,
    member: Member,
}

impl Candidate<'_> {
    /// Whether `other` is as good and as cheap, and better in one of them.
    fn is_beaten_by(&self, other: &Self) -> bool {
        let (own, others) = (self.member.quality.average, other.member.quality.average);
        others >= own && other.cost <= self.cost && (others > own || other.cost < self.cost)
    }
}

/// Three parts prompt to one part answer, in pico-dollars for four tokens.
fn blended_price(model: &Model) -> u64 {
    model
        .price
        .as_ref()
        .map_or(u64::MAX, |price| price.input.0.saturating_mul(3).saturating_add(price.output.0))
}

/// A model's name, without its provider and maker, taken apart: `openai/gpt-5.4-mini` is of the
/// line `gpt mini`, version 5.4.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Name {
    line: Vec<String>,
    version: Vec<u32>,
}

impl Name {
    fn of(model: &Model) -> Self {
        let upstream = model.deployments.first().map(|d| d.upstream_model.as_str());
        let name = upstream.unwrap_or(model.id.as_str());
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let (mut line, mut version) = (Vec::new(), Vec::new());
        for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
            match word.parse::<u32>() {
                // Larger numbers are days: `claude-haiku-4-5-20251001`.
                Ok(number) if number < 1000 => version.push(number),
                Ok(_) => {}
                Err(_) if word.is_empty() || word == "latest" => {}
                Err(_) => line.push(word.to_owned()),
            }
        }
        Self { line, version }
    }
}

/// Whether `newer` is a later version of the same model at the same provider, and costs no more:
/// nobody would choose the older one. Holds only for what a price list offers; what an operator has
/// named is wanted.
fn supersedes(newer: &Model, newer_name: &Name, older: &Model, older_name: &Name) -> bool {
    let (Some(price), Some(old_price)) = (&newer.price, &older.price) else { return false };
    newer_name.line == older_name.line
        && newer_name.version > older_name.version
        && is_listed(newer)
        && is_listed(older)
        && newer.deployments[0].provider == older.deployments[0].provider
        && price.input <= old_price.input
        && price.output <= old_price.output
        && newer.minimum_level <= older.minimum_level
}

/// Whether it is a model of a price list under its own name, `provider/model`.
fn is_listed(model: &Model) -> bool {
    let [deployment] = model.deployments.as_slice() else { return false };
    let name = model.id.as_str().strip_prefix(deployment.provider.as_str());
    name.and_then(|name| name.strip_prefix('/')) == Some(&deployment.upstream_model)
}

/// Of the models that several providers have, the cheapest offer.
fn cheapest_of_each(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let mut cheapest: HashMap<&Name, Candidate<'_>> = HashMap::new();
    for candidate in candidates {
        match cheapest.get(candidate.name) {
            Some(known) if known.cost <= candidate.cost => {}
            _ => {
                cheapest.insert(candidate.name, candidate);
            }
        }
    }
    cheapest.into_values().collect()
}

/// First those that no other beats, from the cheapest to the best; then the best of the others.
fn worth_having(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    candidates.sort_by_key(|candidate| candidate.place);
    let (mut beaten, mut unbeaten) = (Vec::new(), Vec::new());
    let is_beaten: Vec<bool> = candidates
        .iter()
        .map(|candidate| candidates.iter().any(|other| candidate.is_beaten_by(other)))
        .collect();
    for (candidate, is_beaten) in candidates.into_iter().zip(is_beaten) {
        if is_beaten { beaten.push(candidate) } else { unbeaten.push(candidate) }
    }
    if unbeaten.len() > MOST_MEMBERS {
        // Evenly over the whole range, so that both ends stay.
        unbeaten.sort_by_key(|candidate| (candidate.cost, candidate.place));
        let last = unbeaten.len() - 1;
        let kept: Vec<usize> = (0..MOST_MEMBERS).map(|i| i * last / (MOST_MEMBERS - 1)).collect();
        let mut place = 0..;
        unbeaten.retain(|_| place.next().is_some_and(|at| kept.contains(&at)));
    }
    beaten.sort_by(|a, b| {
        let (of_a, of_b) = (a.member.quality.average, b.member.quality.average);
        of_b.total_cmp(&of_a).then(a.cost.cmp(&b.cost)).then(a.place.cmp(&b.place))
    });
    beaten.sort_by_key(|candidate| candidate.member.quality.basis);
    beaten.truncate(MOST_MEMBERS - unbeaten.len());
    unbeaten.append(&mut beaten);
    unbeaten
}

#[cfg(test)]
pub(crate) mod tests {
    use sluice_core::key::Suite;
    use sluice_core::level::SecurityLevel;
    use sluice_core::money::TokenPrice;

    use super::*;
    use crate::catalog::facts::{FactList, ListPrice};
    use crate::catalog::{Capabilities, Deployment};
    use crate::quality::Quality;

    /// A model of which little is known: `provider/name`, or a name alone at the provider `lab`.
    pub(crate) fn model(id: &str) -> Model {
        let (provider, name) = id.split_once('/').unwrap_or(("lab", id));
        Model {
            id: id.into(),
            created: 0,
            owned_by: String::new(),
            context_window: None,
            output_limit: None,
            capabilities: Capabilities::default(),
            price: None,
            price_source: None,
            suite: Suite::Basic,
            minimum_level: SecurityLevel::Standard,
            simulated: false,
            alias_of: None,
            quality: None,
            pace: None,
            deployments: vec![Deployment {
                provider: provider.into(),
                upstream_model: name.to_owned(),
                region: None,
            }],
        }
    }

    /// A model with prices in dollars per million tokens.
    pub(crate) fn priced(id: &str, input: u64, output: u64) -> Model {
        let price = ListPrice {
            input: TokenPrice(input * 1_000_000),
            cached_input: None,
            cache_write: None,
            output: TokenPrice(output * 1_000_000),
            reasoning: None,
        };
        Model { price: Some(price.for_each_class("v".to_owned())), ..model(id) }
    }

    fn ids(models: impl IntoIterator<Item = Model>) -> Vec<String> {
        let models: Vec<Arc<Model>> = models.into_iter().map(Arc::new).collect();
        members(&models).iter().map(|member| member.model.id.to_string()).collect()
    }

    #[test]
    fn only_models_that_run_are_chosen_from() {
        let alias = Model { alias_of: Some("a".into()), ..model("second") };
        let router = Model { deployments: Vec::new(), ..model("svc/mix") };
        let simulated = Model { simulated: true, ..model("demo/chat") };
        assert_eq!(ids([simulated.clone(), model("a"), alias.clone(), router]), ["a"]);
        assert_eq!(ids([alias, simulated]), ["demo/chat"], "better than nothing");
        assert_eq!(ids([]), Vec::<String>::new());
    }

    #[test]
    fn a_later_version_that_costs_no_more_takes_the_place_of_the_older() {
        for (newer, older, stays) in [
            (priced("p/m-5-5", 4, 20), priced("p/m-5", 5, 25), false),
            (priced("p/m-5.6-sol", 4, 20), priced("p/m-5.6", 4, 20), true),
            (priced("p/m-5", 4, 20), priced("p/m-4-20251001", 4, 20), false),
            // Dearer, at another provider, or the operator's own entries.
            (priced("p/m-5", 4, 21), priced("p/m-4", 4, 20), true),
            (priced("p/m-5", 4, 20), priced("q/m-4", 4, 20), true),
            (priced("mock-2", 4, 20), priced("mock-1", 4, 20), true),
            (model("p/m-5"), model("p/m-4"), true),
        ] {
            let told = format!("{} and {}", newer.id, older.id);
            assert_eq!(ids([newer, older]).len(), if stays { 2 } else { 1 }, "{told}");
        }
    }

    #[test]
    fn where_there_are_too_many_each_counts_once_and_the_unbeaten_stay() {
        // Thirty that are beaten by the first, a cheap one, a good one, a duplicate, an unknown one.
        let quality = |average| Some(Quality::even(average));
        let mut models = vec![
            Model { quality: quality(0.8), ..priced("strong", 1, 4) },
            Model { quality: quality(0.3), ..priced("cheap", 0, 1) },
            Model { quality: quality(0.9), ..priced("p/best", 9, 9) },
            Model { quality: quality(0.9), ..priced("q/Best-latest", 8, 8) },
        ];
        for i in 0..30_u32 {
            let average = 0.4 + f64::from(i) / 100.0;
            let id = format!("beaten-{}", char::from(b'a' + u8::try_from(i % 26).unwrap()));
            let id = if i < 26 { id } else { format!("{id}-more") };
            models.push(Model { quality: quality(average), ..priced(&id, 2, 4) });
        }
        models.push(model("unknown"));
        let kept = ids(models.clone());
        assert_eq!(kept.len(), MOST_MEMBERS);
        assert_eq!(kept[..3], ["strong", "cheap", "q/Best-latest"]);
        assert!(!kept.contains(&"beaten-a".to_owned()), "the weakest of the beaten goes");
        assert!(!kept.contains(&"unknown".to_owned()), "so does what nobody knows anything of");
        assert_eq!(kept, ids(models), "the same every time");
    }

    #[test]
    fn where_too_many_are_unbeaten_both_ends_stay() {
        let models = (0..100_u32).map(|i| Model {
            quality: Some(Quality::even(0.5 + f64::from(i) / 1_000.0)),
            ..priced(&format!("w{i}x"), u64::from(i) + 1, u64::from(i) + 1)
        });
        let kept = ids(models);
        assert_eq!(kept.len(), MOST_MEMBERS);
        assert_eq!((kept[0].as_str(), kept[31].as_str()), ("w0x", "w99x"));
    }

    #[test]
    fn the_whole_built_in_catalogue_makes_a_pool() {
        let facts = FactList::built_in();
        let models = facts.entries().iter().map(|facts| Model {
            price: facts.price(),
            capabilities: facts.capabilities,
            ..model(&format!("{}/{}", facts.kind, facts.model))
        });
        let kept = ids(models);
        assert_eq!(kept.len(), MOST_MEMBERS);
        for id in ["anthropic/claude-fable-5", "anthropic/claude-opus-5"] {
            assert!(!kept.iter().any(|kept| kept == id), "{id} in {kept:?}");
        }
    }
}
