//! What holds for one request: the strictest of what everybody asks for, and whether the key may
//! ask for it at all.

mod explain;
mod filters;
mod ruling;

use std::sync::Arc;

use sluice_core::chat::ChatRequest;
use sluice_core::key::{MaxTokensBound, Suite};
use sluice_core::organisation::Attribution;
use sluice_core::policy::{EffectivePolicy, Retention};
use sluice_routing::catalog::{Catalog, Model, OwnRouter};
use sluice_routing::router::Router;

pub(crate) use self::explain::{Around, explain};
pub use self::explain::{Explained, rules_of, shown};
pub use self::filters::Filters;
pub use self::ruling::{Ruling, Said, Source, sources};
use crate::error::ChatError;

/// The documented bound on `max_tokens`.
const DOCUMENTED_MAX_TOKENS: u32 = 4096;

/// A model that was asked for, and what it stands for.
#[derive(Debug, Clone)]
pub struct AskedModel {
    /// The entry that was named.
    pub asked: Arc<Model>,
    /// The entry that answers: the same, or the one that it is an alias of.
    pub answering: Arc<Model>,
    /// The router that chooses who answers, where it is one.
    pub router: Option<Arc<Router>>,
}

impl AskedModel {
    /// A router that only some have.
    pub fn of(own: &OwnRouter) -> Self {
        let entry = || own.entry.clone();
        Self { asked: entry(), answering: entry(), router: Some(own.router.clone()) }
    }

    /// What was named, and what that stands for.
    pub(crate) fn names(&self) -> [&str; 2] {
        [self.asked.id.as_str(), self.answering.id.as_str()]
    }
}

/// Whether a key that has `suite` may use `model`, and with it everything else that is the same for
/// all its requests: what `GET /models` lists.
pub fn may_use(
    (ruling, suite): (&Ruling, Suite),
    model: &AskedModel,
    catalog: &Catalog,
) -> Result<(), ChatError> {
    let denied = |reason| Err(ChatError::NotPermitted { field: "model", reason });
    let id = &model.asked.id;
    let [asked, answering] = model.names();
    let in_the_way = ruling.why_not_asked(asked).or_else(|| {
        let allowed = ruling.why_not_answered(&[asked, answering])?;
        // A router may ask those of its members that all lists have.
        let mut members = model.router.iter().flat_map(|router| &router.members);
        let is_open = members
            .any(|member| ruling.allows_model(&[asked, answering, member.model.id.as_str()]));
        (!is_open).then_some(allowed)
    });
    if let Some(allowed) = in_the_way {
        let all = catalog.models().iter().map(|model| model.id.as_str());
        return denied(match ruling.no_model_is_left(all) {
            Some(why) => why,
            None => format!("this key may not use model `{id}`; {allowed}"),
        });
    }
    let needed = model.asked.suite.max(model.answering.suite);
    if suite < needed {
        return denied(format!(
            "model `{id}` belongs to the {} suite; this account has the {} suite",
            needed.as_str(),
            suite.as_str()
        ));
    }
    Ok(())
}

/// The entry that `name` stands for in `catalog`, in requests that are attributed so.
pub fn resolve(
    catalog: &Catalog,
    attribution: &Attribution,
    name: &str,
) -> Result<AskedModel, ChatError> {
    // A name that nobody knows may be anything, a whole prompt too; only its beginning is told.
    let unknown = || ChatError::UnknownModel { model: name.chars().take(100).collect() };
    let Some(asked) = catalog.get(name) else {
        let own = catalog.own_router(&attribution.account, name);
        let own = own.filter(|own| own.is_for(attribution)).ok_or_else(unknown)?;
        return Ok(AskedModel::of(own));
    };
    let answering = match &asked.alias_of {
        Some(target) => catalog.get(target.as_str()).ok_or_else(unknown)?,
        None => asked,
    };
    let router = catalog.router(answering.id.as_str()).cloned();
    Ok(AskedModel { asked: asked.clone(), answering: answering.clone(), router })
}

/// The policy of one request.
pub fn effective(
    ruling: &Ruling,
    chat: &ChatRequest,
    model: &AskedModel,
) -> Result<EffectivePolicy, ChatError> {
    let asked = chat.options.security_level.unwrap_or_default();
    let said = ruling.level.as_ref().map_or(asked, |said| said.value);
    let level = asked.max(said).max(model.asked.minimum_level).max(model.answering.minimum_level);
    let region = chat.options.region.or(ruling.region.as_ref().map(|said| said.value));
    if let Some(reason) = ruling.why_no_region(region) {
        return Err(ChatError::NotPermitted { field: "region", reason });
    }
    let zero = chat.options.zero_retention || ruling.zero_retention.is_some();
    let audit_enabled = chat.options.audit_enabled || ruling.audit.is_some();
    Ok(EffectivePolicy {
        level,
        region,
        // Every request leaves an entry, except one that must leave no trace and was not asked to.
        audit: !zero || audit_enabled,
        audit_enabled,
        retention: if zero { Retention::SumsOnly } else { Retention::Records },
    })
}

/// The bound on generated tokens that is sent to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputBound {
    /// `None` where the request has none.
    pub(crate) tokens: Option<u32>,
    /// Whether a policy does not let the request have what it wants, or what the model gives.
    pub(crate) is_lowered: bool,
}

impl OutputBound {
    /// What `chat` gets of `model` by a key whose wishes are `bounded` so.
    pub(crate) fn of(
        ruling: &Ruling,
        bounded: MaxTokensBound,
        chat: &ChatRequest,
        model: &Model,
    ) -> Result<Self, ChatError> {
        if let (Some(wanted), MaxTokensBound::Documented) = (chat.max_tokens, bounded)
            && wanted > DOCUMENTED_MAX_TOKENS
        {
            return Err(ChatError::OutOfBounds {
                field: bound_field(chat).to_owned(),
                value: wanted.to_string(),
                expected: format!(
                    "an integer from 1 to {DOCUMENTED_MAX_TOKENS}; a key made with `sluice keys \
                     create --max-tokens model` takes the model's own limit instead"
                ),
            });
        }
        let limit = model.output_limit;
        let within_limit = |tokens: u32| limit.map_or(tokens, |limit| tokens.min(limit));
        let own = match bounded {
            MaxTokensBound::Documented => chat.max_tokens,
            MaxTokensBound::Model => chat.max_tokens.map(within_limit),
        };
        let most = ruling.max_output_tokens.as_ref().map(|said| said.value);
        let tokens = match (own, most) {
            (Some(own), Some(most)) => Some(own.min(most)),
            (None, Some(most)) => Some(within_limit(most)),
            (own, None) => own,
        };
        let is_beyond = |most| chat.max_tokens.or(limit).is_none_or(|wanted| wanted > most);
        Ok(Self { tokens, is_lowered: most.is_some_and(is_beyond) })
    }
}

/// The name under which the request bounds its tokens.
fn bound_field(chat: &ChatRequest) -> &'static str {
    let newer = chat
        .source
        .members
        .iter()
        .any(|member| member.name == "max_completion_tokens" && !member.value.is_null());
    if newer { "max_completion_tokens" } else { "max_tokens" }
}

#[cfg(test)]
mod tests {
    use sluice_core::level::SecurityLevel::{High, Maximum, Standard};
    use sluice_core::region::Region::{self, EuWest, UsEast, UsWest};

    use super::*;
    use crate::testing::{chat, model, principal, rules, ruling};
    use sluice_core::key::Suite;

    fn asked(model: Model) -> AskedModel {
        let model = Arc::new(model);
        AskedModel { asked: model.clone(), answering: model, router: None }
    }

    #[test]
    fn the_strictest_level_wins() {
        // Deployment, account, key, asked entry, answering entry, request.
        for (levels, expected) in [
            ([Standard; 6], Standard),
            ([High, Standard, Standard, Standard, Standard, Standard], High),
            ([Standard, Maximum, Standard, Standard, Standard, High], Maximum),
            ([Standard, Standard, High, Standard, Standard, Standard], High),
            ([Standard, Standard, Standard, Maximum, Standard, Standard], Maximum),
            ([Standard, Standard, Standard, Standard, High, Standard], High),
            ([Standard, Standard, Standard, Standard, Standard, Maximum], Maximum),
            ([High, Standard, Standard, Standard, Standard, Standard], High),
        ] {
            let [deployment, account, key, asked, answering, request] = levels;
            let mut rules = rules();
            rules.minimum_level = deployment;
            let mut principal = principal();
            principal.account.minimum_level = account;
            Arc::make_mut(&mut principal.key).minimum_level = key;
            let model = AskedModel {
                asked: Arc::new(Model { minimum_level: asked, ..model("a") }),
                answering: Arc::new(Model { minimum_level: answering, ..model("b") }),
                router: None,
            };
            let mut chat = chat("");
            chat.options.security_level = Some(request);
            let policy = effective(&ruling(&principal, &rules), &chat, &model).unwrap();
            assert_eq!(policy.level, expected, "{levels:?}");
        }
    }

    #[test]
    fn retention_is_zero_and_audit_comes_with_it_where_anybody_wants_them() {
        for wish in 0..8 {
            let on = |bit: u32| wish & (1 << bit) != 0;
            let mut principal = principal();
            (principal.account.zero_retention, principal.account.audit) = (on(0), on(0));
            let key = Arc::make_mut(&mut principal.key);
            (key.zero_retention, key.audit) = (on(1), on(1));
            let mut chat = chat("");
            (chat.options.zero_retention, chat.options.audit_enabled) = (on(2), on(2));
            let ruling = ruling(&principal, &rules());
            let policy = effective(&ruling, &chat, &asked(model("m"))).unwrap();
            assert_eq!(policy.retention.is_zero(), wish > 0);
            assert!(policy.audit);
        }
        let mut chat = chat("");
        chat.options.zero_retention = true;
        let ruling = ruling(&principal(), &rules());
        let policy = effective(&ruling, &chat, &asked(model("m"))).unwrap();
        assert!(!policy.audit, "nothing but zero retention leaves no entry");
    }

    #[test]
    fn the_nearest_region_counts_and_the_keys_list_bounds_it() {
        // Request, key, account, deployment.
        for (regions, expected) in [
            ([None; 4], None),
            ([Some(UsEast), Some(UsWest), Some(EuWest), Some(EuWest)], Some(UsEast)),
            ([None, Some(UsWest), Some(EuWest), Some(UsEast)], Some(UsWest)),
            ([None, None, Some(EuWest), Some(UsEast)], Some(EuWest)),
            ([None, None, None, Some(UsEast)], Some(UsEast)),
        ] {
            let [request, key, account, deployment]: [Option<Region>; 4] = regions;
            let mut rules = rules();
            rules.default_region = deployment;
            let mut principal = principal();
            Arc::make_mut(&mut principal.key).region = key;
            principal.account.region = account;
            let mut chat = chat("");
            chat.options.region = request;
            let model = asked(model("m"));
            let policy = effective(&ruling(&principal, &rules), &chat, &model).unwrap();
            assert_eq!(policy.region, expected, "{regions:?}");
            Arc::make_mut(&mut principal.key).regions = Some(vec![UsEast]);
            let allowed = effective(&ruling(&principal, &rules), &chat, &model);
            // The request's and the key's own region are refused where the list lacks them; what
            // the account or the deployment suggests is passed over.
            match request.or(key) {
                Some(wanted) if wanted != UsEast => {
                    let refused =
                        matches!(allowed, Err(ChatError::NotPermitted { field: "region", .. }));
                    assert!(refused, "{regions:?}");
                }
                _ => assert_eq!(allowed.unwrap().region, expected.map(|_| UsEast), "{regions:?}"),
            }
        }
    }

    #[test]
    fn the_bound_on_tokens_is_the_documented_one_or_the_models() {
        use MaxTokensBound::{Documented, Model as OfModel};
        for (bound, wanted, output_limit, expected) in [
            (Documented, None, Some(8_192), Ok(None)),
            (Documented, Some(4_096), Some(8_192), Ok(Some(4_096))),
            (Documented, Some(4_097), Some(8_192), Err(())),
            (Documented, Some(4_096), Some(1_000), Ok(Some(4_096))),
            (OfModel, None, Some(8_192), Ok(None)),
            (OfModel, Some(32_000), Some(8_192), Ok(Some(8_192))),
            (OfModel, Some(5_000), Some(8_192), Ok(Some(5_000))),
            (OfModel, Some(32_000), None, Ok(Some(32_000))),
        ] {
            let mut chat = chat("");
            chat.max_tokens = wanted;
            let model = Model { output_limit, ..model("m") };
            let outcome = OutputBound::of(&Ruling::default(), bound, &chat, &model);
            if let Err(ChatError::OutOfBounds { field, value, expected }) = &outcome {
                assert_eq!((field.as_str(), value.as_str()), ("max_tokens", "4097"));
                assert!(expected.contains("--max-tokens model"), "{expected}");
            }
            let expected = expected.map(|tokens| OutputBound { tokens, is_lowered: false });
            assert_eq!(outcome.map_err(|_| ()), expected, "{bound:?} {wanted:?}");
        }
    }

    #[test]
    fn a_policys_bound_lowers_what_is_larger_and_the_models_own_limit_holds_beside_it() {
        use MaxTokensBound::{Documented, Model as OfModel};
        // The key's bound, the wish, the policy's bound, the model's limit.
        for (bound, wanted, most, limit, tokens, is_lowered) in [
            (OfModel, Some(32_000), 10_000, Some(8_192), Some(8_192), true),
            (OfModel, Some(32_000), 10_000, Some(16_384), Some(10_000), true),
            (OfModel, Some(9_000), 10_000, Some(8_192), Some(8_192), false),
            (OfModel, None, 10_000, Some(8_192), Some(8_192), false),
            (OfModel, None, 10_000, None, Some(10_000), true),
            (Documented, Some(300), 200, Some(8_192), Some(200), true),
            (Documented, Some(300), 300, None, Some(300), false),
        ] {
            let mut chat = chat("");
            chat.max_tokens = wanted;
            let model = Model { output_limit: limit, ..model("m") };
            let max_output_tokens = Some(Said { value: most, by: Source::CONFIGURATION });
            let ruling = Ruling { max_output_tokens, ..Ruling::default() };
            let found = OutputBound::of(&ruling, bound, &chat, &model).unwrap();
            let case = format!("{bound:?} {wanted:?} {most} {limit:?}");
            assert_eq!(found, OutputBound { tokens, is_lowered }, "{case}");
        }
    }

    #[test]
    fn suites_and_lists_bound_what_a_key_may_use() {
        for (suite, listed, needed, may) in [
            (Suite::Basic, None, Suite::Basic, true),
            (Suite::Basic, None, Suite::Standard, false),
            (Suite::Standard, None, Suite::Full, false),
            (Suite::Full, None, Suite::Full, true),
            (Suite::Full, Some("m"), Suite::Full, true),
            (Suite::Full, Some("other"), Suite::Basic, false),
        ] {
            let mut principal = principal();
            principal.suite = suite;
            Arc::make_mut(&mut principal.key).models = listed.map(|id| vec![id.to_owned()]);
            let model = asked(Model { suite: needed, ..model("m") });
            let catalog = Catalog::new([Model::clone(&model.asked)]);
            let ruling = ruling(&principal, &rules());
            let found = may_use((&ruling, principal.suite), &model, &catalog);
            assert_eq!(found.is_ok(), may, "{suite:?} {listed:?} {needed:?}");
        }
    }

    #[test]
    fn an_alias_stands_for_its_model_and_needs_the_larger_suite() {
        let alias = Model { alias_of: Some("m".into()), suite: Suite::Basic, ..model("svc/a") };
        let lost = Model { alias_of: Some("gone".into()), ..model("svc/b") };
        let catalog = Catalog::new([Model { suite: Suite::Full, ..model("m") }, alias, lost]);
        let attribution = principal().attribution;
        let found = resolve(&catalog, &attribution, "svc/a").unwrap();
        assert_eq!((found.asked.id.as_str(), found.answering.id.as_str()), ("svc/a", "m"));
        let nothing_said = Ruling::default();
        assert!(may_use((&nothing_said, Suite::Standard), &found, &catalog).is_err());
        for unknown in ["svc/b", "", "M", &"x".repeat(5_000)] {
            match resolve(&catalog, &attribution, unknown) {
                Err(ChatError::UnknownModel { model }) => assert!(model.len() <= 100),
                other => panic!("{other:?}"),
            }
        }
    }
}
