//! What holds for one request: the strictest of what everybody asks for, and whether the key may
//! ask for it at all.

use std::sync::Arc;

use sluice_core::chat::ChatRequest;
use sluice_core::key::MaxTokensBound;
use sluice_core::policy::{EffectivePolicy, Retention};
use sluice_core::region::Region;
use sluice_routing::catalog::{Catalog, Model};

use crate::error::ChatError;
use crate::principal::Principal;
use crate::snapshot::Rules;

/// The documented bound on `max_tokens`.
const DOCUMENTED_MAX_TOKENS: u32 = 4096;

/// A model that was asked for, and what it stands for.
#[derive(Debug, Clone)]
pub struct AskedModel {
    /// The entry that was named.
    pub asked: Arc<Model>,
    /// The entry that answers: the same, or the one that it is an alias of.
    pub answering: Arc<Model>,
}

/// Whether `principal` may use `model`, and with it everything else that is the same for all its
/// requests: what `GET /models` lists.
pub fn may_use(principal: &Principal, model: &AskedModel) -> Result<(), ChatError> {
    let denied = |reason| Err(ChatError::NotPermitted { field: "model", reason });
    let id = &model.asked.id;
    if let Some(allowed) = &principal.key.models
        && !allowed.iter().any(|allowed| allowed == id.as_str())
    {
        return denied(format!(
            "this key may not use model `{id}`; it may use {}",
            allowed.join(", ")
        ));
    }
    let needed = model.asked.suite.max(model.answering.suite);
    if principal.suite < needed {
        return denied(format!(
            "model `{id}` belongs to the {} suite; this account has the {} suite",
            needed.as_str(),
            principal.suite.as_str()
        ));
    }
    Ok(())
}

/// The entry that `name` stands for in `catalog`.
pub fn resolve(catalog: &Catalog, name: &str) -> Result<AskedModel, ChatError> {
    // A name that nobody knows may be anything, a whole prompt too; only its beginning is told.
    let unknown = || ChatError::UnknownModel { model: name.chars().take(100).collect() };
    let asked = catalog.get(name).ok_or_else(unknown)?;
    let answering = match &asked.alias_of {
        Some(target) => catalog.get(target.as_str()).ok_or_else(unknown)?,
        None => asked,
    };
    Ok(AskedModel { asked: asked.clone(), answering: answering.clone() })
}

/// The policy of one request.
pub fn effective(
    principal: &Principal,
    chat: &ChatRequest,
    model: &AskedModel,
    rules: &Rules,
) -> Result<EffectivePolicy, ChatError> {
    let (key, account) = (&principal.key, &principal.account);
    let levels = [
        rules.minimum_level,
        account.minimum_level,
        key.minimum_level,
        model.asked.minimum_level,
        model.answering.minimum_level,
    ];
    let asked_level = chat.options.security_level.unwrap_or_default();
    // What nobody asked for gives way to what the key may use; a wish of the request does not.
    let allowed =
        |region: &Region| key.regions.as_ref().is_none_or(|allowed| allowed.contains(region));
    let usual =
        key.region.or(account.region.filter(allowed)).or(rules.default_region.filter(allowed));
    let region = chat.options.region.or(usual);
    if let (Some(region), Some(allowed)) = (region, &key.regions)
        && !allowed.contains(&region)
    {
        let allowed: Vec<&str> = allowed.iter().map(|region| region.as_str()).collect();
        return Err(ChatError::NotPermitted {
            field: "region",
            reason: format!(
                "this key may not use region `{}`; it may use {}",
                region.as_str(),
                allowed.join(", ")
            ),
        });
    }
    let zero = chat.options.zero_retention || key.zero_retention || account.zero_retention;
    Ok(EffectivePolicy {
        level: levels.into_iter().fold(asked_level, Ord::max),
        region,
        // Every request leaves an entry, except one that must leave no trace and was not asked to.
        audit: !zero || chat.options.audit_enabled || key.audit || account.audit,
        retention: if zero { Retention::SumsOnly } else { Retention::Records },
    })
}

/// The bound on generated tokens to send to the provider; `None` where the request has none.
pub fn max_tokens(
    principal: &Principal,
    chat: &ChatRequest,
    model: &Model,
) -> Result<Option<u32>, ChatError> {
    let Some(wanted) = chat.max_tokens else { return Ok(None) };
    match principal.key.max_tokens {
        MaxTokensBound::Documented if wanted > DOCUMENTED_MAX_TOKENS => {
            Err(ChatError::OutOfBounds {
                field: bound_field(chat).to_owned(),
                value: wanted.to_string(),
                expected: format!(
                    "an integer from 1 to {DOCUMENTED_MAX_TOKENS}; a key made with `sluice keys \
                     create --max-tokens model` takes the model's own limit instead"
                ),
            })
        }
        MaxTokensBound::Documented => Ok(Some(wanted)),
        MaxTokensBound::Model => Ok(Some(model.output_limit.map_or(wanted, |own| wanted.min(own)))),
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
    use crate::testing::{chat, model, principal, rules};
    use sluice_core::key::Suite;

    fn asked(model: Model) -> AskedModel {
        let model = Arc::new(model);
        AskedModel { asked: model.clone(), answering: model }
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
            };
            let mut chat = chat("");
            chat.options.security_level = Some(request);
            let policy = effective(&principal, &chat, &model, &rules).unwrap();
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
            let policy = effective(&principal, &chat, &asked(model("m")), &rules()).unwrap();
            assert_eq!(policy.retention.is_zero(), wish > 0);
            assert!(policy.audit);
        }
        let mut chat = chat("");
        chat.options.zero_retention = true;
        let policy = effective(&principal(), &chat, &asked(model("m")), &rules()).unwrap();
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
            let policy = effective(&principal, &chat, &model, &rules).unwrap();
            assert_eq!(policy.region, expected, "{regions:?}");
            Arc::make_mut(&mut principal.key).regions = Some(vec![UsEast]);
            let allowed = effective(&principal, &chat, &model, &rules);
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
            let mut principal = principal();
            Arc::make_mut(&mut principal.key).max_tokens = bound;
            let mut chat = chat("");
            chat.max_tokens = wanted;
            let model = Model { output_limit, ..model("m") };
            let outcome = max_tokens(&principal, &chat, &model);
            if let Err(ChatError::OutOfBounds { field, value, expected }) = &outcome {
                assert_eq!((field.as_str(), value.as_str()), ("max_tokens", "4097"));
                assert!(expected.contains("--max-tokens model"), "{expected}");
            }
            assert_eq!(outcome.map_err(|_| ()), expected, "{bound:?} {wanted:?}");
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
            assert_eq!(may_use(&principal, &model).is_ok(), may, "{suite:?} {listed:?} {needed:?}");
        }
    }

    #[test]
    fn an_alias_stands_for_its_model_and_needs_the_larger_suite() {
        let alias = Model { alias_of: Some("m".into()), suite: Suite::Basic, ..model("svc/a") };
        let lost = Model { alias_of: Some("gone".into()), ..model("svc/b") };
        let catalog = Catalog::new([Model { suite: Suite::Full, ..model("m") }, alias, lost]);
        let found = resolve(&catalog, "svc/a").unwrap();
        assert_eq!((found.asked.id.as_str(), found.answering.id.as_str()), ("svc/a", "m"));
        let mut principal = principal();
        principal.suite = Suite::Standard;
        assert!(may_use(&principal, &found).is_err());
        for unknown in ["svc/b", "", "M", &"x".repeat(5_000)] {
            match resolve(&catalog, unknown) {
                Err(ChatError::UnknownModel { model }) => assert!(model.len() <= 100),
                other => panic!("{other:?}"),
            }
        }
    }
}
