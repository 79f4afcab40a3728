//! What the file and the database amount to together.

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::secret::Secret;
use sluice_providers::presets;

use super::*;

const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

fn given(name: &str, kind: &str) -> Given {
    let preset = presets::find(kind).unwrap();
    let mut provider = CheckedProvider::of_preset(preset, preset.base_url.clone().unwrap(), None);
    provider.settings.id = name.into();
    let facts = FactList::built_in();
    let models = all_models(&provider, &facts);
    Given { providers: vec![provider], models, facts, ..Given::default() }
}

fn provider(
    name: &str,
    settings: serde_json::Value,
) -> (ProviderRecord, Result<ProviderSecrets, Unreadable>) {
    let record = ProviderRecord {
        name: name.to_owned(),
        settings,
        secrets: None,
        credential_set_at: None,
        created_at: NOW,
        changed: 1,
    };
    let credential = Some(Secret::new("sk-one".to_owned()));
    (record, Ok(ProviderSecrets { credential, ..ProviderSecrets::default() }))
}

fn model_at(id: &str, settings: serde_json::Value) -> ModelRecord {
    ModelRecord { id: id.to_owned(), settings, created_at: NOW, changed: 1 }
}

fn left_out(served: &Served) -> Vec<(&str, &str)> {
    served.left_out.iter().map(|it| (it.name.as_str(), it.why.as_str())).collect()
}

#[test]
fn a_known_model_takes_price_and_context_from_the_catalogue_as_one_of_the_file_would() {
    let vendors = Vendors {
        routers: Vec::new(),
        providers: vec![provider("mine", json!({ "kind": "openai", "region": "eu-west" }))],
        models: vec![
            model_at("mini", json!({ "provider": ["mine"], "upstream_model": "gpt-5-mini" })),
            model_at(
                "own",
                json!({ "provider": ["mine"], "price": { "input": "1", "output": "4" } }),
            ),
            model_at("nick", json!({ "same_as": "mini", "suite": "full" })),
        ],
    };
    let served = serve(&given("lab", "simulator"), &vendors);
    assert_eq!(left_out(&served), []);
    let mini = served.catalog.get("mini").unwrap();
    let known = FactList::built_in();
    let facts = known.get("openai", "gpt-5-mini").unwrap();
    assert_eq!((&mini.price, mini.context_window), (&facts.price(), facts.context_window));
    assert_eq!(mini.deployments[0].region.map(|it| it.as_str()), Some("eu-west"));
    let own = served.catalog.get("own").unwrap();
    assert_eq!(own.price.as_ref().unwrap().version, "configuration 1/1/1/4/4");
    assert_eq!(served.catalog.get("nick").unwrap().alias_of, Some("mini".into()));
    // Routers and documented identifiers stand for them, too.
    let router = served.catalog.router("svc/auto").unwrap();
    assert!(router.members.iter().any(|member| !member.model.simulated));
    assert!(served.catalog.get("svc/enterprise-coder-v1").is_some());
    // Whoever names no model of a provider has all of its catalogue.
    let all = Vendors { models: Vec::new(), ..vendors };
    assert!(
        serve(&Given { facts: known, ..Given::default() }, &all)
            .catalog
            .get("mine/gpt-5-mini")
            .is_some()
    );
}

#[test]
fn what_does_not_fit_is_left_out_and_the_file_wins() {
    let vendors = Vendors {
        routers: Vec::new(),
        providers: vec![
            provider("lab", json!({ "kind": "openai" })),
            provider("bad-url", json!({ "kind": "openai", "base_url": "ftp://u:sk-hidden@x" })),
            provider("gone", json!({ "kind": "nobody" })),
            (provider("sealed", json!({ "kind": "openai" })).0, Err(Unreadable)),
            provider("odd", json!({ "kind": 7 })),
        ],
        models: vec![
            model_at("demo/echo", json!({ "provider": ["lab"] })),
            model_at("lost", json!({ "provider": ["gone"] })),
            model_at("alone", json!({ "same_as": "lost" })),
            model_at("zero", json!({ "provider": ["lab"], "context_window": 0 })),
            model_at("kept", json!({ "provider": ["gone", "lab"] })),
        ],
    };
    let served = serve(&given("lab", "simulator"), &vendors);
    let names: Vec<&str> = served.left_out.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["lab", "bad-url", "gone", "sealed", "odd", "demo/echo", "lost", "zero", "alone"]
    );
    assert!(!format!("{:?}", served.left_out).contains("sk-hidden"));
    assert_eq!(served.catalog.get("kept").unwrap().deployments.len(), 1);
    assert_eq!(served.providers.len(), 1);
}

#[test]
fn the_simulator_that_was_found_makes_room_for_the_first_real_model() {
    let stopgap = Given { found: true, ..given("simulator", "simulator") };
    let mut vendors = Vendors {
        routers: Vec::new(),
        providers: vec![provider(
            "mine",
            json!({ "kind": "azure", "base_url": "https://r.example/openai" }),
        )],
        models: Vec::new(),
    };
    // A provider without models answers nobody.
    assert!(serve(&stopgap, &vendors).catalog.get("demo/chat").is_some());
    vendors.models.push(model_at("gpt", json!({ "provider": ["mine"] })));
    let served = serve(&stopgap, &vendors);
    assert!(served.catalog.get("demo/chat").is_none() && served.catalog.get("gpt").is_some());
    let configured = Given { found: false, ..stopgap };
    assert!(serve(&configured, &vendors).catalog.get("demo/chat").is_some());
}

#[test]
fn an_address_holds_no_credential_and_is_one() {
    for (url, what) in [
        ("ftp://x", "http://"),
        ("https://u:p@x/v1", "user name"),
        ("https://x/v1?key=1", "query"),
        ("https://x/v1/chat/completions", "path"),
        ("no url", ""),
    ] {
        assert!(checked_base_url(url).unwrap_err().contains(what), "{url}");
    }
    assert_eq!(checked_base_url("http://127.0.0.1:9/v1/").as_deref(), Ok("http://127.0.0.1:9/v1"));
}
