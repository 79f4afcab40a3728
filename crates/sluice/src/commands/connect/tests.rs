use clap::Parser;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_routing::catalog::Capabilities;

use super::*;

const CODER: &str = "svc/enterprise-coder-v1";

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: ConnectArgs,
}

fn args(words: &[&str]) -> ConnectArgs {
    Line::parse_from(["connect"].iter().chain(words)).args
}

fn model(id: &str) -> Model {
    Model {
        id: id.into(),
        created: 0,
        owned_by: "lab".to_owned(),
        context_window: Some(128_000),
        output_limit: Some(16_384),
        capabilities: Capabilities::default(),
        price: None,
        price_source: None,
        suite: Suite::Standard,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: None,
        pace: None,
        deployments: Vec::new(),
    }
}

fn catalog() -> Catalog {
    let mute = Capabilities { tools: Some(false), ..Capabilities::default() };
    Catalog::new([
        Model { capabilities: mute, ..model("embed") },
        model("fast"),
        Model {
            alias_of: Some("fast".into()),
            context_window: None,
            output_limit: None,
            ..model("svc/fast")
        },
    ])
}

fn connect(words: &[&str], catalog: &Catalog) -> Result<Connection, ConnectError> {
    let listen = "0.0.0.0:8080".parse().unwrap();
    Connection::new(&args(words), listen, false, catalog).map(|connection| connection.unwrap())
}

#[test]
fn uses_this_deployment_and_a_model_that_suits() {
    let assistant = connect(&["opencode"], &catalog()).unwrap().deployment;
    assert_eq!(assistant.base_url, "http://127.0.0.1:8080/api/v1");
    assert_eq!(assistant.model, "fast");
    assert_eq!(connect(&["curl"], &catalog()).unwrap().deployment.model, "embed");
}

#[test]
fn prefers_the_documented_model_for_coding() {
    let catalog = Catalog::new([model("fast"), model(CODER)]);
    assert_eq!(connect(&["zed"], &catalog).unwrap().deployment.model, CODER);
    assert_eq!(connect(&["zed", "--model", "fast"], &catalog).unwrap().deployment.model, "fast");
}

#[test]
fn takes_the_limits_of_a_second_name_from_the_model_behind_it() {
    let deployment = connect(&["opencode", "--model", "svc/fast"], &catalog()).unwrap().deployment;
    assert_eq!(deployment.model, "svc/fast");
    assert_eq!((deployment.context_window, deployment.output_limit), (Some(128_000), Some(16_384)));
}

#[test]
fn says_that_a_model_is_simulated() {
    let catalog = Catalog::new([
        Model { simulated: true, ..model("demo/chat") },
        Model { alias_of: Some("demo/chat".into()), ..model(CODER) },
    ]);
    let text = connect(&["opencode"], &catalog).unwrap().print().unwrap();
    assert!(text.contains("Model svc/enterprise-coder-v1 (simulated): context"), "{text}");
}

#[test]
fn creates_keys_that_fit() {
    let key = connect(&["opencode", "--create-key"], &catalog()).unwrap().fitting_key();
    let expected = FittingKey {
        name: "opencode".to_owned(),
        class: KeyClass::Enterprise,
        max_tokens: MaxTokensBound::Model,
    };
    assert_eq!(key, expected);
    let words = ["openai-python", "--create-key", "--name", "nightly"];
    let key = connect(&words, &catalog()).unwrap().fitting_key();
    let expected = FittingKey {
        name: "nightly".to_owned(),
        class: KeyClass::Production,
        max_tokens: MaxTokensBound::Documented,
    };
    assert_eq!(key, expected);
}

#[test]
fn takes_a_base_url_as_people_type_it() {
    let cases = [
        ("https://llm.example.org", Some("https://llm.example.org/api/v1")),
        ("https://llm.example.org/", Some("https://llm.example.org/api/v1")),
        ("https://example.org/llm/api/v1/", Some("https://example.org/llm/api/v1")),
        ("llm.example.org", None),
        ("https://", None),
    ];
    for (given, expected) in cases {
        assert_eq!(given_base_url(given).ok().as_deref(), expected, "{given}");
    }
    assert_eq!(own_base_url("[::]:443".parse().unwrap(), true), "https://[::1]:443/api/v1");
}

#[test]
fn says_what_there_is_where_it_cannot_find_something() {
    let catalog = catalog();
    let client = connect(&["emacs"], &catalog).unwrap_err().to_string();
    assert!(client.contains("`emacs`") && client.contains("opencode"), "{client}");
    let model = connect(&["curl", "--model", "slow"], &catalog).unwrap_err().to_string();
    assert_eq!(model, "no model is called `slow`; there are: embed, fast, svc/fast");
    assert_eq!(connect(&["curl"], &Catalog::default()).unwrap_err(), ConnectError::NoModel);
}

#[test]
fn lists_every_client_without_one() {
    let listen = "127.0.0.1:8080".parse().unwrap();
    let connection = Connection::new(&args(&[]), listen, false, &catalog()).unwrap();
    assert!(connection.is_none());
    assert_eq!(list().lines().count(), CLIENTS.len());
}

#[test]
fn prints_json_for_scripts() {
    let connection = connect(&["qwen-code", "--json"], &catalog()).unwrap();
    let connection = connection.with_key(Secret::new("svc_ent_EXAMPLE".to_owned()));
    insta::assert_snapshot!("json", connection.print().unwrap());
}
