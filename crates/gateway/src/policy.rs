//! What holds for one request: the strictest of what everybody asks for, and whether the key may
//! ask for it at all.

mod explain;
mod filters;
mod ruling;

use std::sync::Arc;

use sluice_core::chat::ChatRequest;
use sluice_core::ids::ModelId;
use sluice_core::key::{MaxTokensBound, Suite};
use sluice_core::organisation::Attribution;
use sluice_core::policy::{EffectivePolicy, Retention};
use sluice_routing::catalog::{Catalog, Model, OwnRouter};
use sluice_routing::router::Router;

pub(crate) use self::explain::explain;
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
    /// Whether that is a router of an account, a department or a team. Who makes these need not be
    /// who sets the lists of models, so its name opens none of its members.
    pub is_own: bool,
}

impl AskedModel {
    /// A router that only some have.
    pub fn of(own: &OwnRouter) -> Self {
        let entry = || own.entry.clone();
        let router = Some(own.router.clone());
        Self { asked: entry(), answering: entry(), router, is_own: true }
    }

    /// Whether `model` may answer: what was named, what that stands for, or a router's member.
    pub(crate) fn may_be_answered_by(&self, model: &ModelId, ruling: &Ruling) -> bool {
        match self.is_own {
            true => ruling.allows_model(&[model.as_str()]),
            false => {
                let names = [&self.asked.id, &self.answering.id, model].map(ModelId::as_str);
                ruling.allows_model(&names)
            }
        }
    }

    /// The smallest suite that has it.
    fn suite(&self) -> Suite {
        self.asked.suite.max(self.answering.suite)
    }

    /// Whether it may be asked for, and somebody may answer.
    fn is_open(&self, ruling: &Ruling) -> bool {
        ruling.why_not_asked(self.asked.id.as_str()).is_none()
            && self.why_nobody_answers(ruling).is_none()
    }

    /// Why nobody may answer, whoever asks; `None` where somebody may.
    fn why_nobody_answers(&self, ruling: &Ruling) -> Option<String> {
        let id = &self.asked.id;
        let members = || self.router.iter().flat_map(|it| &it.members).map(|it| &it.model.id);
        if !self.is_own {
            let allowed = ruling.why_not_answered(&[id.as_str(), self.answering.id.as_str()])?;
            // A router may ask those of its members that all lists have.
            let is_open = members().any(|member| self.may_be_answered_by(member, ruling));
            return (!is_open).then(|| format!("this key may not use model `{id}`; {allowed}"));
        }
        if members().any(|member| self.may_be_answered_by(member, ruling)) {
            return None;
        }
        let ids: Vec<&str> = members().map(ModelId::as_str).collect();
        Some(match ruling.why_not_answered(&ids) {
            Some(allowed) => format!("this key may use no member of router `{id}`; {allowed}"),
            None => format!("no member of router `{id}` is in every list of what this key may use"),
        })
    }
}

/// What is known beside the rules of whoever asks.
pub(crate) struct Around<'a> {
    /// What the account's tier has.
    pub(crate) suite: Suite,
    /// How a wish for tokens is bounded.
    pub(crate) max_tokens: MaxTokensBound,
    pub(crate) catalog: &'a Catalog,
    /// Whose the requests are.
    pub(crate) attribution: &'a Attribution,
}

impl Around<'_> {
    /// Which rules leave no model and no router to ask; `None` where one is left.
    fn why_none_is_left(&self, ruling: &Ruling) -> Option<String> {
        let is_open = |name: &str| {
            let model = resolve(self.catalog, self.attribution, name);
            model.is_ok_and(|model| model.is_open(ruling))
        };
        let names = || self.catalog.names_for(self.attribution);
        let is_none_left = !ruling.models.is_empty() && !names().any(is_open);
        is_none_left.then(|| ruling.no_model_is_left(names()))
    }
}

/// Whether `model` is among what `GET /models` lists.
pub(crate) fn is_listed(ruling: &Ruling, suite: Suite, model: &AskedModel) -> bool {
    suite >= model.suite() && model.is_open(ruling)
}

/// Whether a key may use `model`, and with it everything else that is the same for all its requests.
pub(crate) fn may_use(
    ruling: &Ruling,
    model: &AskedModel,
    around: &Around<'_>,
) -> Result<(), ChatError> {
    if is_listed(ruling, around.suite, model) {
        return Ok(());
    }
    let denied = |reason| Err(ChatError::NotPermitted { field: "model", reason });
    let id = &model.asked.id;
    let not_asked = ruling.why_not_asked(id.as_str());
    let not_asked =
        not_asked.map(|allowed| format!("this key may not use model `{id}`; {allowed}"));
    if let Some(why) = not_asked.or_else(|| model.why_nobody_answers(ruling)) {
        return denied(around.why_none_is_left(ruling).unwrap_or(why));
    }
    denied(format!(
        "model `{id}` belongs to the {} suite; this account has the {} suite",
        model.suite().as_str(),
        around.suite.as_str()
    ))
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
    let (asked, answering) = (asked.clone(), answering.clone());
    Ok(AskedModel { asked, answering, router, is_own: false })
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
    use sluice_routing::router::{Member, Policy};

    use super::*;
    use crate::testing::{chat, model, principal, rules, ruling};
    use sluice_core::key::Suite;

    fn around<'a>(suite: Suite, catalog: &'a Catalog, attribution: &'a Attribution) -> Around<'a> {
        Around { suite, max_tokens: MaxTokensBound::Documented, catalog, attribution }
    }

    fn asked(model: Model) -> AskedModel {
        let model = Arc::new(model);
        AskedModel { asked: model.clone(), answering: model, router: None, is_own: false }
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
                is_own: false,
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
            let attribution = &principal.attribution;
            let around = around(principal.suite, &catalog, attribution);
            let found = may_use(&ruling, &model, &around);
            assert_eq!(found.is_ok(), may, "{suite:?} {listed:?} {needed:?}");
        }
    }

    /// A list that has a router of the file means its members, too, which the same people choose.
    #[test]
    fn the_name_of_an_own_router_opens_none_of_its_members() {
        let members = || ["lab/small", "lab/large"].map(|id| Member::new(model(id).into(), 1.0));
        let router = Arc::new(Router::new("svc/review", Policy::Balanced, members().into()));
        let entry = Arc::new(router.entry());
        let asked = |is_own| {
            let (asked, answering, router) = (entry.clone(), entry.clone(), Some(router.clone()));
            AskedModel { asked, answering, router, is_own }
        };
        let catalog = Catalog::default();
        for (lists, of_the_file, own) in [
            (vec![], [true; 2], [true; 2]),
            (vec!["svc/*"], [true; 2], [false; 2]),
            (vec!["svc/review lab/small"], [true; 2], [true, false]),
            (vec!["lab/small"], [true, false], [true, false]),
            (vec!["svc/*", "lab/*"], [true; 2], [false; 2]),
            (vec!["lab/*", "lab/large svc/*"], [true; 2], [false, true]),
            (vec!["lab/small", "lab/large"], [false; 2], [false; 2]),
        ] {
            let said = |list: &str| Said {
                value: list.split(' ').map(str::to_owned).collect(),
                by: Source::CONFIGURATION,
            };
            let models = lists.iter().map(|list| said(list)).collect();
            let ruling = Ruling { models, ..Ruling::default() };
            for (is_own, expected) in [(false, of_the_file), (true, own)] {
                let asked = asked(is_own);
                let found = ["lab/small", "lab/large"]
                    .map(|id| asked.may_be_answered_by(&id.into(), &ruling));
                assert_eq!(found, expected, "{lists:?} {is_own}");
                let attribution = &principal().attribution;
                let around = around(Suite::Full, &catalog, attribution);
                let may = may_use(&ruling, &asked, &around);
                assert_eq!(may.is_ok(), found.contains(&true), "{lists:?} {is_own}: {may:?}");
            }
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
        let around = around(Suite::Standard, &catalog, &attribution);
        assert!(may_use(&nothing_said, &found, &around).is_err());
        for unknown in ["svc/b", "", "M", &"x".repeat(5_000)] {
            match resolve(&catalog, &attribution, unknown) {
                Err(ChatError::UnknownModel { model }) => assert!(model.len() <= 100),
                other => panic!("{other:?}"),
            }
        }
    }
}
