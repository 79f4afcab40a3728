//! What `[[routers]]` and the models' figures for them mean, and every way in which they can be
//! wrong.

use std::path::Path;

use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_routing::catalog::Catalog;
use sluice_routing::quality::Basis;
use sluice_routing::router::{MOST_MEMBERS, Policy, Router, Stability, Trade};
use sluice_routing::speed::Pace;
use sluice_routing::task::TaskType;

use crate::config::Settings;
use crate::config::environment::tests::FixedEnvironment;

const LAB: &str = r#"
[[providers]]
id = "lab"
kind = "openai"
base_url = "http://127.0.0.1:9300/v1"

[[models]]
id = "small"
provider = "lab"
price = { input = "0.10", output = "0.40" }
quality = { default = 0.6, code = 0.5 }
first_token_ms = 250
tokens_per_second = 120.5
context_window = 8_000
suite = "basic"

[[models]]
id = "large"
provider = "lab"
price = { input = 3, output = 15 }
quality = 0.9
first_token_ms = 1_500
context_window = 200_000
suite = "full"

[[models]]
id = "guarded"
same_as = "large"
minimum_security_level = "high"
"#;

fn load(text: &str) -> Result<Settings, String> {
    Settings::from_text(Some(Path::new("sluice.toml")), text, &FixedEnvironment::default())
        .map_err(|problems| problems.to_string())
}

fn good(text: &str) -> Catalog {
    load(&format!("{LAB}{text}")).unwrap_or_else(|said| panic!("{said}")).catalog
}

fn members(router: &Router) -> Vec<(&str, f64)> {
    router.members.iter().map(|member| (member.model.id.as_str(), member.weight)).collect()
}

#[test]
fn every_setting_of_a_router_has_its_effect() {
    let catalog = good(
        r#"
        [[routers]]
        id = "svc/mix"
        policy = "fastest"
        members = ["small", "guarded"]
        cost_weight = 0.01
        max_cost = 0.05
        max_first_token_ms = 2_000
        pins = { debug = "guarded", math = "large" }
        minimum_security_level = "high"
        suite = "standard"
        last_changed = 2026-11-20
        stability = "preview"
        "#,
    );
    let router = catalog.router("svc/mix").unwrap();
    assert_eq!(members(router), [("small", 1.0), ("large", 1.0)]);
    assert_eq!(router.policy, Policy::Fastest);
    // What is left out is the policy's.
    assert_eq!(router.trade, Trade { cost: 0.01, time: Policy::Fastest.trade().time });
    assert_eq!((router.max_cost, router.max_first_token_ms), (Some(0.05), Some(2_000.0)));
    let large = "large".into();
    assert_eq!(router.pins, [(TaskType::Debug, large), (TaskType::Math, "large".into())]);
    assert_eq!(router.last_changed.as_deref(), Some("2026-11-20"));
    assert_eq!(router.stability, Some(Stability::Preview));
    // A second name is stricter than its model, also as a member.
    assert_eq!(router.members[1].model.minimum_level, SecurityLevel::High);
    let small = &router.members[0];
    assert_eq!(small.prior, Pace { first_token_ms: 250.0, tokens_per_second: 120.5 });
    assert_eq!(small.quality.basis, Basis::Yours);
    assert_eq!(small.quality.average, 0.6);
    assert_eq!(small.quality.by_task[TaskType::Code.index()], 0.5);
    assert_eq!(small.quality.by_task[TaskType::Plan.index()], 0.6);
    assert_eq!(router.members[1].prior.tokens_per_second, Pace::default().tokens_per_second);

    let entry = catalog.get("svc/mix").unwrap();
    assert_eq!((entry.owned_by.as_str(), entry.context_window), ("sluice", Some(200_000)));
    assert_eq!((entry.suite, entry.minimum_level), (Suite::Standard, SecurityLevel::High));
    assert_eq!((entry.deployments.len(), &entry.price), (0, &None));
}

#[test]
fn a_weighted_router_has_a_weight_for_each_member() {
    let catalog = good(
        "[[routers]]\nid = \"svc/split\"\npolicy = \"weighted\"\nmembers = [\"large\", \"small\"]\n\
         weights = [20, 79.5]",
    );
    let router = catalog.router("svc/split").unwrap();
    assert_eq!(members(router), [("large", 20.0), ("small", 79.5)]);
    assert_eq!(router.stability, None);
    let entry = catalog.get("svc/split").unwrap();
    assert_eq!((entry.suite, entry.minimum_level), (Suite::Basic, SecurityLevel::Standard));
}

#[test]
fn three_routers_are_always_there() {
    let catalog = good("");
    let routers: Vec<(&str, Policy)> =
        catalog.routers().map(|router| (router.id.as_str(), router.policy)).collect();
    assert_eq!(
        routers,
        [
            ("svc/auto", Policy::Balanced),
            ("svc/orbit", Policy::Fastest),
            ("svc/nebula", Policy::Strongest)
        ]
    );
    for router in catalog.routers() {
        // Second names are no members.
        assert_eq!(members(router), [("small", 1.0), ("large", 1.0)]);
        let usual = router.policy.trade();
        assert_eq!(router.trade.time, usual.time);
        // The quick one looks at what its members cost.
        let is_thrifty = router.policy == Policy::Fastest && router.trade.cost > usual.cost;
        assert!(is_thrifty || router.trade.cost == usual.cost, "{:?}", router.trade);
        let entry = catalog.get(router.id.as_str()).unwrap();
        assert_eq!((entry.suite, entry.context_window), (Suite::Basic, Some(200_000)));
    }

    let environment = FixedEnvironment::default();
    let catalog = Settings::discover(&environment).unwrap().catalog;
    let auto = catalog.router("svc/auto").unwrap();
    assert_eq!(auto.members.len(), 3, "the simulator's, where nothing else is");
    assert!(auto.members.iter().all(|member| member.model.simulated));

    let environment = ["OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "XAI", "OPENROUTER"]
        .iter()
        .fold(environment, |all, name| all.variable(&format!("{name}_API_KEY"), "k"));
    let catalog = Settings::discover(&environment).unwrap().catalog;
    let auto = catalog.router("svc/auto").unwrap();
    assert_eq!(auto.members.len(), MOST_MEMBERS);
    assert!(auto.members.iter().all(|member| !member.model.simulated));
}

#[test]
fn the_file_may_say_what_a_documented_name_is() {
    let catalog =
        good("[[routers]]\nid = \"svc/orbit\"\npolicy = \"strongest\"\nmembers = [\"small\"]");
    let orbit = catalog.router("svc/orbit").unwrap();
    assert_eq!((orbit.policy, orbit.members.len()), (Policy::Strongest, 1));
    assert_eq!(catalog.routers().count(), 3);

    let catalog = good("[[models]]\nid = \"svc/auto\"\nsame_as = \"small\"");
    assert!(catalog.router("svc/auto").is_none());
    assert_eq!(catalog.get("svc/auto").unwrap().alias_of, Some("small".into()));

    let catalog = good("[[routers]]\nid = \"svc/compliance-assistant\"\nmembers = [\"small\"]");
    assert!(catalog.router("svc/compliance-assistant").is_some());
    let entry = catalog.get("svc/compliance-assistant").unwrap();
    assert_eq!((&entry.alias_of, entry.minimum_level), (&None, SecurityLevel::Maximum));
}

#[test]
fn the_documented_routers_are_valid() {
    let docs = include_str!("../../../../../docs/routing.md");
    let block = docs.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let text = format!(
        "[[providers]]\nid = \"lab\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9300/v1\"\n\
         [[models]]\nid = \"large\"\nprovider = \"lab\"\n{block}"
    );
    let catalog = load(&text).unwrap_or_else(|said| panic!("{said}")).catalog;
    assert_eq!(catalog.routers().count(), 5);
}

/// A wrong piece of configuration, the key that it is about, and words of what is said.
#[test]
fn wrong_routers_are_explained() {
    let router = |line: &str| format!("[[routers]]\nid = \"svc/mix\"\n{line}");
    let two = |line: &str| router(&format!("members = [\"small\", \"large\"]\n{line}"));
    let weighted = |line: &str| two(&format!("policy = \"weighted\"\n{line}"));
    let named = |id: &str| format!("[[routers]]\nid = \"{id}\"\nmembers = [\"small\"]\n");
    let model = |line: &str| format!("[[models]]\nid = \"m\"\nprovider = \"lab\"\n{line}");
    let many = (0..=MOST_MEMBERS).map(|i| format!("\"m{i}\"")).collect::<Vec<_>>().join(", ");
    for (text, key, words) in [
        ("[[routers]]\nmembers = [\"small\"]".into(), "routers[0].id", "missing"),
        (named("mix"), "routers[0].id", "call it \"svc/mix\""),
        (named("my/mix"), "routers[0].id", "call it \"svc/mix\""),
        (named("svc/"), "routers[0].id", "is no router's name"),
        (named("svc/a b"), "routers[0].id", "is no router's name"),
        (named("svc/a") + &named("svc/a"), "routers[1].id", "another router is called \"svc/a\""),
        (
            "[[models]]\nid = \"svc/m\"\nprovider = \"lab\"\n".to_owned() + &named("svc/m"),
            "routers[0].id",
            "a model is called \"svc/m\" as well",
        ),
        (router(""), "routers[0].members", "missing"),
        (router("members = []"), "routers[0].members", "name at least one model"),
        (router("members = [\"smal\"]"), "routers[0].members[0]", "did you mean \"small\"?"),
        (
            router("members = [\"small\", \"other\"]"),
            "routers[0].members[1]",
            "there is no model \"other\"",
        ),
        (
            router("members = [\"small\", \"small\"]"),
            "routers[0].members[1]",
            "is in the list already",
        ),
        (
            router("members = [\"large\", \"guarded\"]"),
            "routers[0].members[1]",
            "\"guarded\" is the same model as \"large\"",
        ),
        (
            router("members = [\"svc/mix\"]"),
            "routers[0].members[0]",
            "\"svc/mix\" is a router itself",
        ),
        (router("members = [\"svc/nebula\"]"), "routers[0].members[0]", "is a router itself"),
        (
            router("members = [\"svc/b\"]\n[[routers]]\nid = \"svc/b\"\nmembers = [\"svc/mix\"]"),
            "routers[1].members[0]",
            "fix: name the models that it stands for",
        ),
        (router(&format!("members = [{many}]")), "routers[0].members", "has 33 members"),
        (router("members = \"small\""), "routers[0].members", "put it in brackets"),
        (two("policy = \"balance\""), "routers[0].policy", "did you mean \"balanced\"?"),
        (two("weights = [1, 2]"), "routers[0].weights", "has no effect with policy \"balanced\""),
        (weighted(""), "routers[0].weights", "missing, but policy is \"weighted\""),
        (weighted("weights = [1]"), "routers[0].weights", "has 1 numbers for 2 members"),
        (weighted("weights = [1, 0]"), "routers[0].weights[1]", "0 is not above 0"),
        (weighted("weights = [-1, 1]"), "routers[0].weights[0]", "-1 is not above 0"),
        (weighted("weights = [1, inf]"), "routers[0].weights[1]", "expected a number, found inf"),
        (
            weighted("weights = [1, \"2\"]"),
            "routers[0].weights[1]",
            "expected a number, found \"2\"",
        ),
        (
            weighted("weights = [1, 2]\npins = { code = \"small\" }"),
            "routers[0].pins",
            "has no effect",
        ),
        (
            weighted("weights = [1, 2]\ntime_weight = 0.1"),
            "routers[0].time_weight",
            "has no effect",
        ),
        (two("cost_weight = 1.5"), "routers[0].cost_weight", "set 0 to 1"),
        (two("max_cost = 0"), "routers[0].max_cost", "set more than 0"),
        (two("max_cost = \"1\""), "routers[0].max_cost", "expected a number"),
        (two("max_first_token_ms = -5"), "routers[0].max_first_token_ms", "is not above 0"),
        (two("pins = { cod = \"small\" }"), "routers[0].pins.cod", "did you mean `code`?"),
        (
            two("pins = { cooking = \"small\" }"),
            "routers[0].pins.cooking",
            "use some of code, edit",
        ),
        (
            two("pins = { code = \"guarded2\" }"),
            "routers[0].pins.code",
            "\"guarded2\" is no member",
        ),
        (two("pins = { code = \"lagre\" }"), "routers[0].pins.code", "did you mean \"large\"?"),
        (two("pins = [\"code\"]"), "routers[0].pins", "expected a table"),
        (two("suite = \"all\""), "routers[0].suite", "is not one of"),
        (two("last_changed = \"today\""), "routers[0].last_changed", "\"today\" is no day"),
        (two("last_changed = 2026-11-20T10:00:00Z"), "routers[0].last_changed", "is no day"),
        (two("stability = \"stabel\""), "routers[0].stability", "did you mean \"stable\"?"),
        (two("weight = [1]"), "routers[0].weight", "did you mean `weights`?"),
        (model("quality = 1.2"), "models[3].quality", "set 0 to 1"),
        (model("quality = {}"), "models[3].quality", "is an empty table"),
        (model("quality = { cod = 0.5 }"), "models[3].quality.cod", "did you mean `code`?"),
        (model("quality = { default = 80 }"), "models[3].quality.default", "80 is out of bounds"),
        (model("first_token_ms = 0"), "models[3].first_token_ms", "is not above 0"),
        (model("tokens_per_second = \"fast\""), "models[3].tokens_per_second", "expected a number"),
        (
            "[[models]]\nid = \"m\"\nsame_as = \"small\"\nquality = 0.5".into(),
            "models[3].quality",
            "comes from \"small\"",
        ),
    ] {
        let text: String = text;
        let Err(said) = load(&format!("{LAB}{text}")) else { panic!("no problem:\n{text}") };
        assert!(said.contains(&format!(" {key}: ")), "{text}\n---\n{said}");
        assert!(said.contains(words), "{text}\n---\n{said}");
    }
}

#[test]
fn all_problems_of_a_router_are_told_at_once_and_none_twice() {
    let text = r#"
[[models]]
id = "broken"
provider = "lap"

[[routers]]
id = "mix"
policy = "weighted"
members = ["smal", "broken", "svc/auto"]
weights = [1]
pins = { code = "smal", cod = "large" }
"#;
    let said = load(&format!("{LAB}{text}")).unwrap_err();
    insta::assert_snapshot!(said);
}
