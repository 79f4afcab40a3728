//! Policies of any places against a reference: each request asked of every place anew.

use std::sync::Arc;

use proptest::prelude::*;
use sluice_core::chat::ChatRequest;
use sluice_core::key::{MaxTokensBound, Suite};
use sluice_core::organisation::Attribution;
use sluice_core::region::Region::{EuWest, UsEast};
use sluice_routing::catalog::{Catalog, Model, OwnRouter};
use sluice_routing::router::{Member, Policy, Router};

use super::*;
use crate::eligible::Wanted;
use crate::policy::{Around, Filters, effective, may_use, resolve};
use crate::testing::{chat, deployment, filter, model, principal};

/// What texts hold: two terms, what a pattern matches, and values that detectors find.
const VALUES: [(&str, Option<&str>); 5] = [
    ("Orion", None),
    ("Vega", None),
    ("PRJ-1234", None),
    ("support@busy-mill.org", Some("email")),
    ("192.168.17.20", Some("private_ip")),
];
const PATTERNS: [&str; 2] = ["PRJ-[0-9]{4}", "[a-z]+@busy-mill[.]org"];
/// What can be asked for. Nobody here is of the team that has `svc/theirs`.
const NAMES: [&str; 8] =
    ["lab/a", "lab/b", "other/c", "svc/second", "svc/file", "svc/ours", "svc/theirs", "none"];
const ENTRIES: [&str; 8] =
    ["lab/a", "lab/b", "lab/*", "other/c", "svc/*", "svc/second", "svc/file", "svc/ours"];

/// A few of these texts.
fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let texts: Vec<String> = of.iter().map(|text| (*text).to_owned()).collect();
    prop::sample::subsequence(texts, 0..=of.len().min(3))
}

/// What a place says about texts.
fn about_texts() -> impl Strategy<Value = PolicyRules> {
    let exceptions =
        prop::sample::subsequence(VALUES.map(|(value, _)| value.to_owned()).to_vec(), 0..=5);
    (some(&["Orion", "vega"]), some(&PATTERNS), some(&["private_ip"]), prop::option::of(exceptions))
        .prop_map(|(terms, patterns, redact, exceptions)| PolicyRules {
            terms,
            patterns,
            redact,
            exceptions,
            ..PolicyRules::default()
        })
}

/// What a place says about requests and models.
fn about_requests() -> impl Strategy<Value = PolicyRules> {
    let regions = prop::sample::subsequence(vec![EuWest, UsEast], 1..=2);
    (
        prop::option::weighted(0.3, some(&ENTRIES)),
        prop::option::weighted(0.3, regions),
        prop::option::weighted(0.3, prop::sample::select(vec![EuWest, UsEast])),
        prop::option::weighted(0.2, prop::sample::select(SecurityLevel::ALL.to_vec())),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(models, regions, region, level, zero_retention)| PolicyRules {
            models,
            regions,
            region,
            level,
            zero_retention,
            ..PolicyRules::default()
        })
}

/// These places, of which the last is the key itself.
fn said(places: &[PolicyRules]) -> Vec<Said<PolicyRules>> {
    let by = |place: usize| Source {
        is_own: place + 1 == places.len(),
        ..Source::new(format!("place {place}"))
    };
    places.iter().enumerate().map(|(i, it)| Said { value: it.clone(), by: by(i) }).collect()
}

/// Two models in a region each, one of which asks for a level, one somewhere, a second name, and routers
/// of the file, of the account and of a team.
fn catalog(account: &str) -> Catalog {
    let at =
        |id: &str, region| Model { deployments: vec![deployment("first", region)], ..model(id) };
    let a = at("lab/a", Some(EuWest));
    let b = Model { minimum_level: SecurityLevel::High, ..at("lab/b", Some(UsEast)) };
    let c = at("other/c", None);
    let second =
        Model { alias_of: Some("lab/a".into()), deployments: Vec::new(), ..model("svc/second") };
    let router = |id: &str, members: [&Model; 2]| {
        let members = members.map(|it| Member::new(Arc::new(it.clone()), 1.0));
        Router::new(id, Policy::Balanced, members.into())
    };
    let own = |id: &str, of: Subject, members| {
        let router = Arc::new(router(id, members));
        OwnRouter { id: id.into(), of, entry: Arc::new(router.entry()), router }
    };
    let file = router("svc/file", [&a, &b]);
    let ours = own("svc/ours", Subject::Account(account.into()), [&b, &c]);
    let theirs = own("svc/theirs", Subject::Team("team_1".into()), [&a, &b]);
    Catalog::new([a, b, c, second, file.entry()])
        .with_routers([file])
        .with_own_router(account.into(), ours)
        .with_own_router(account.into(), theirs)
}

/// What `name` stands for, the models that may answer for it, and whether lists have to name these
/// themselves.
fn meaning(name: &str) -> Option<(&str, &'static [&'static str], bool)> {
    Some(match name {
        "lab/a" => (name, &["lab/a"], false),
        "lab/b" => (name, &["lab/b"], false),
        "other/c" => (name, &["other/c"], false),
        "svc/second" => ("lab/a", &["lab/a"], false),
        "svc/file" => (name, &["lab/a", "lab/b"], false),
        "svc/ours" => (name, &["lab/b", "other/c"], true),
        _ => return None,
    })
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|entry| match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => entry == name,
    })
}

/// Whether every place lets `answering` answer what was asked for by `name`.
fn may_answer(places: &[PolicyRules], name: &str, answering: &str) -> bool {
    let Some((stands_for, _, is_own)) = meaning(name) else { return false };
    places.iter().enumerate().all(|(i, place)| {
        let Some(list) = &place.models else { return true };
        if i + 1 == places.len() {
            return has(list, name);
        }
        has(list, answering) || (!is_own && (has(list, name) || has(list, stands_for)))
    })
}

/// Where a request is processed; an error where it may not be processed there, or nowhere.
fn region(places: &[PolicyRules], chat: &ChatRequest) -> Result<Option<Region>, ()> {
    let in_all = |it: Region| {
        places.iter().all(|place| place.regions.as_ref().is_none_or(|r| r.contains(&it)))
    };
    if !Region::ALL.into_iter().any(in_all) {
        return Err(());
    }
    let own = places.last().and_then(|it| it.region);
    let usual = places.iter().rev().filter_map(|it| it.region).find(|it| in_all(*it));
    match chat.options.region.or(own) {
        Some(wanted) if in_all(wanted) => Ok(Some(wanted)),
        Some(_) => Err(()),
        None => Ok(usual),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_text_is_redacted_as_each_place_wants_it(
        places in prop::collection::vec(about_texts(), 0..5),
    ) {
        let ruling = Ruling::of(&said(&places));
        let base = filter();
        let made = Filters::default().of(&base, &ruling.filter).unwrap();
        let filter = made.unwrap_or(base);
        let kinds = filter.rules(SecurityLevel::Standard).redact;
        let lines = VALUES.map(|(value, _)| format!("bind {value} here"));
        let text = lines.join("\n");
        let found = filter.scanner().scan(&text, kinds);
        let found: Vec<&str> = found.iter().map(|it| &text[it.range()]).collect();
        let any = |wants: &dyn Fn(&PolicyRules) -> bool| places.iter().any(wants);
        for (value, kind) in VALUES {
            let is_term = any(&|it| it.terms.iter().any(|term| term.eq_ignore_ascii_case(value)));
            let is_matched = any(&|it| it.patterns.iter().any(|pattern| match pattern.as_str() {
                "PRJ-[0-9]{4}" => value == "PRJ-1234",
                _ => value == "support@busy-mill.org",
            }));
            let is_detected = kind.is_some_and(|kind| {
                kind == "email" || any(&|it| it.redact.iter().any(|word| word == kind))
            });
            let mut lists = places.iter().filter_map(|it| it.exceptions.as_ref()).peekable();
            let is_excepted =
                lists.peek().is_some() && lists.all(|list| list.iter().any(|it| it == value));
            let expected = is_term || is_matched || (is_detected && !is_excepted);
            prop_assert_eq!(found.contains(&value), expected, "{} in {:?}", value, found);
        }
    }
}

proptest! {
    #[test]
    fn a_request_goes_where_every_place_lets_it(
        places in prop::collection::vec(about_requests(), 0..5),
        name in prop::sample::select(NAMES.to_vec()),
        wish in prop::option::weighted(0.3, prop::sample::select(vec![EuWest, UsEast])),
        level in prop::option::weighted(0.3, prop::sample::select(SecurityLevel::ALL.to_vec())),
    ) {
        let attribution: Attribution = principal().attribution;
        let catalog = catalog(attribution.account.as_str());
        let ruling = Ruling::of(&said(&places));
        let mut chat = chat("Hello?");
        chat.options.region = wish;
        chat.options.security_level = level;

        let Some((answering, members, _)) = meaning(name) else {
            prop_assert!(resolve(&catalog, &attribution, name).is_err());
            return Ok(());
        };
        let model = resolve(&catalog, &attribution, name).unwrap();
        prop_assert_eq!(model.answering.id.as_str(), answering);
        let around = Around {
            suite: Suite::Full,
            max_tokens: MaxTokensBound::Documented,
            catalog: &catalog,
            attribution: &attribution,
        };
        let open: Vec<&str> =
            members.iter().copied().filter(|it| may_answer(&places, name, it)).collect();
        let may = may_use(&ruling, &model, &around);
        prop_assert_eq!(may.is_ok(), !open.is_empty(), "{:?}", may);

        let region = region(&places, &chat);
        let policy = effective(&ruling, &chat, &model);
        prop_assert_eq!(policy.as_ref().map(|it| it.region).map_err(drop), region);
        let Ok(policy) = policy else { return Ok(()) };
        let asked = places.iter().filter_map(|it| it.level).chain(level).max().unwrap_or_default();
        let strictest = match name {
            "lab/b" => asked.max(SecurityLevel::High),
            // A router over such models alone answers at no other level.
            "svc/file" | "svc/ours" | "lab/a" | "other/c" | "svc/second" => asked,
            other => panic!("{other}"),
        };
        prop_assert_eq!(policy.level, strictest);
        prop_assert_eq!(policy.retention.is_zero(), places.iter().any(|it| it.zero_retention));

        // What may not be asked for goes nowhere.
        if may.is_err() {
            return Ok(());
        }
        let wanted = Wanted {
            ruling: &ruling,
            suite: Suite::Full,
            model: &model,
            chat: &chat,
            policy,
            prompt_tokens: 1,
        };
        let needs = wanted.needs();
        let mut answered = false;
        for id in members {
            let of = catalog.get(id).unwrap();
            let at = &of.deployments[0];
            let is_allowed_there = match region.unwrap() {
                Some(region) => at.region == Some(region),
                None => places.iter().filter_map(|it| it.regions.as_ref()).all(|list| {
                    at.region.is_some_and(|region| list.contains(&region))
                }),
            };
            let expected =
                open.contains(id) && is_allowed_there && policy.level >= of.minimum_level;
            let found = wanted.exclusion(&needs, of, at);
            prop_assert_eq!(found.is_none(), expected, "{} for {}: {:?}", id, name, found);
            answered |= expected;
        }
        prop_assert_eq!(wanted.could_be_answered().is_ok(), answered);
    }
}
