//! What a configuration means, and every way in which one can be wrong.

mod running;

use std::path::Path;

use proptest::prelude::*;
use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_providers::endpoint::{Auth, Quirks};

use super::environment::tests::FixedEnvironment;
use super::example::{example, turned_on};
use super::values::Allowance;
use super::words::LogFormat;
use super::*;

fn load(text: &str, environment: &FixedEnvironment) -> Result<Settings, Problems> {
    Settings::from_text(Some(Path::new("etc/sluice.toml")), text, environment)
}

fn good(text: &str) -> Settings {
    load(text, &FixedEnvironment::default()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// All problems of `text`, as a user reads them.
fn problems(text: &str) -> String {
    load(text, &FixedEnvironment::default()).expect_err("expected problems").to_string()
}

/// The files that it was read from.
fn files(settings: &Settings) -> Vec<&str> {
    settings.files.iter().filter_map(|(path, _)| path.to_str()).collect()
}

const LAB: &str = r#"
[[providers]]
id = "lab"
kind = "openai"
base_url = "http://127.0.0.1:9300/v1"
api_key = "${LAB_KEY:-none}"
region = "us-east"

[[models]]
id = "mock-fast"
provider = "lab"
upstream_model = "mock-fast"
price = { input = "1.00", cached_input = "0.10", output = "4.00" }
"#;

#[test]
fn the_documented_file_means_what_it_says() {
    let text = format!(
        "[server]\nlisten = \"127.0.0.1:8081\"\nmetrics_listen = \"127.0.0.1:9464\"\n\
         [storage]\ndata_dir = \"data\"\n{LAB}"
    );
    let settings = good(&text);
    assert_eq!(settings.server.listen.port(), 8081);
    assert_eq!(settings.server.metrics_listen.0.map(|address| address.port()), Some(9464));
    assert_eq!(settings.storage.data_dir.0, Path::new("etc/data"));
    assert_eq!(settings.warnings, Vec::<String>::new());
    assert_eq!(
        files(&settings),
        ["etc/sluice.toml", "etc/data/quality.csv", "etc/data/catalog.json"]
    );

    let [lab] = settings.providers.as_slice() else { panic!("one provider") };
    assert_eq!((lab.id.as_str(), lab.base_url.as_str()), ("lab", "http://127.0.0.1:9300/v1"));
    assert_eq!(lab.credential.as_ref().unwrap().expose(), "none");
    assert_eq!((&lab.auth, lab.quirks), (&Auth::Bearer, Quirks::default()));

    let model = settings.catalog.get("mock-fast").unwrap();
    let price = model.price.as_ref().unwrap();
    assert_eq!(price.version, "configuration 1/0.1/1/4/4");
    assert_eq!(model.regions(), [Region::UsEast]);
    assert_eq!(model.deployments[0].upstream_model, "mock-fast");
    assert_eq!((model.suite, model.simulated), (Suite::Standard, false));
    assert_eq!(model.owned_by, "lab");
}

#[test]
fn the_documented_figures_are_the_defaults() {
    let settings = good("");
    let figures = |tier| {
        let limits = settings.limits.of(tier);
        let Allowance(concurrent) = limits.concurrent_requests;
        (limits.requests_per_hour.0, limits.tokens_per_day.0, concurrent, limits.suite)
    };
    assert_eq!(figures(AccountTier::Lowest), (Some(100), Some(10_000), Some(10), Suite::Basic));
    assert_eq!(
        figures(AccountTier::Middle),
        (Some(1000), Some(100_000), Some(50), Suite::Standard)
    );
    assert_eq!(
        figures(AccountTier::Highest),
        (Some(10_000), Some(1_000_000), Some(200), Suite::Full)
    );
    let figures = |class| {
        let limits = settings.keys.of(class);
        (limits.requests_per_hour.0, limits.tokens_per_day.0)
    };
    assert_eq!(figures(KeyClass::Development), (Some(1000), Some(10_000)));
    assert_eq!(figures(KeyClass::Production), (Some(10_000), Some(1_000_000)));
    assert_eq!(figures(KeyClass::Enterprise), (None, None));
    assert_eq!(settings.keys.max_tokens, MaxTokensBound::Documented);
    assert_eq!(settings.keys.rotation_advice_days, 90);
    assert_eq!(settings.server.request_body_limit_mib.0, 32);
    assert_eq!(settings.server.drain_seconds.duration().as_secs(), 30);
    assert_eq!(settings.log.format, LogFormat::Human);
    assert_eq!(settings.default_region, None);
}

#[test]
fn one_figure_of_a_tier_can_be_changed_alone() {
    let settings = good("[limits.highest]\ntokens_per_day = \"unlimited\"\n");
    let highest = settings.limits.of(AccountTier::Highest);
    assert_eq!((highest.tokens_per_day.0, highest.requests_per_hour.0), (None, Some(10_000)));
}

#[test]
fn every_problem_is_found_at_once() {
    let text = r#"
defualt_region = "mars"
[server]
listen = 8080
port = 1
request_body_limit_mib = "32"
[log]
format = "xml"
[[providers]]
id = "lab"
kind = "openia"
[[providers]]
id = "lab"
kind = "azure"
api_key = "k"
[[models]]
id = "a"
provider = "lib"
price = { input = "1.1234567", output = -1 }
"#;
    assert_eq!(
        problems(text),
        r#"etc/sluice.toml:2: defualt_region: unknown key
    fix: did you mean `default_region`?

etc/sluice.toml:4: server.listen: expected a string, found an integer
    fix: put it in quotes

etc/sluice.toml:5: server.port: unknown key
    fix: remove it; the keys here are `listen`, `dashboard_listen`, `metrics_listen`, `request_body_limit_mib`, `body_memory_mib`, `max_connections`, `max_connections_per_address`, `public_url`, `trusted_proxies`, `session_idle_hours`, `session_days`, `cors_allowed_origins`, `tls_certificate_file`, `tls_key_file`, `keep_alive_seconds`, `drain_seconds`

etc/sluice.toml:6: server.request_body_limit_mib: expected a whole number, found "32"
    fix: write digits without quotes

etc/sluice.toml:8: log.format: "xml" is not one of "human", "json"
    fix: use one of "human", "json"

etc/sluice.toml:9: providers[0].kind: names no adapter or preset
    fix: did you mean "openai"?

etc/sluice.toml:12: providers[1].id: another provider is called "lab" as well
    fix: rename one of them

etc/sluice.toml:12: providers[1].base_url: missing: Azure OpenAI has an address for each customer
    fix: such as base_url = "https://RESOURCE.openai.azure.com/openai"

etc/sluice.toml:16: models[0].provider: there is no provider "lib"
    fix: did you mean "lab"?

etc/sluice.toml:19: models[0].price.input: "1.1234567" is no price
    fix: write US dollars per million tokens with at most 6 decimals, such as "0.25"

etc/sluice.toml:19: models[0].price.output: -1 is no price
    fix: write US dollars per million tokens with at most 6 decimals, such as "0.25""#
    );
}

/// A wrong piece of configuration, the key that it is about, and words of what is said.
#[test]
fn wrong_values_are_explained() {
    let provider = |line: &str| {
        format!("[[providers]]\nid = \"p\"\nkind = \"openai\"\napi_key = \"k\"\n{line}")
    };
    let model = |line: &str| format!("{LAB}\n[[models]]\nid = \"m\"\n{line}");
    for (text, key, words) in [
        ("server = 1".into(), "server", "expected a section, found an integer"),
        ("[server]\nlisten = \"8080\"".into(), "server.listen", "\"8080\" is no address and port"),
        ("[server]\nlisten = \"${NO}\"".into(), "server.listen", "environment variable NO is not set"),
        ("[server]\nlisten = \"${NO\"".into(), "server.listen", "holds a `${` that names no variable"),
        ("[server]\nmetrics_listen = \"127.0.0.1:8080\"".into(), "server.metrics_listen", "is the address of the API"),
        ("[server]\nrequest_body_limit_mib = 0".into(), "server.request_body_limit_mib", "0 is out of bounds"),
        ("[server]\nbody_memory_mib = 31".into(), "server.body_memory_mib", "is less than request_body_limit_mib"),
        ("[server]\ncors_allowed_origins = \"*\"".into(), "server.cors_allowed_origins", "expected a list, found \"*\""),
        ("[server]\ncors_allowed_origins = [\"https://a/b\"]".into(), "server.cors_allowed_origins[0]", "is no origin"),
        ("[server]\ntls_key_file = \"k\"".into(), "server.tls_certificate_file", "missing, but tls_key_file is set"),
        ("[server]\ntls_key_file = \"k\"\ntls_certificate_file = \"c\"".into(), "server.tls_key_file", "cannot read etc/k"),
        ("[server]\nkeep_alive_seconds = 1.5".into(), "server.keep_alive_seconds", "expected a whole number, found 1.5"),
        ("[timeouts]\ntotal_seconds = 5".into(), "timeouts.total_seconds", "is shorter than first_token_seconds"),
        ("[timeouts]\nidle_seconds = 0".into(), "timeouts.idle_seconds", "set 1 to 86400 seconds"),
        ("[storage]\ndata_dir = \" \"".into(), "storage.data_dir", "is empty"),
        ("[limits.lowest]\ntokens_per_day = 0".into(), "limits.lowest.tokens_per_day", "0 refuses every request"),
        ("[limits.lowest]\ntokens_per_day = \"lots\"".into(), "limits.lowest.tokens_per_day", "or \"unlimited\""),
        ("[limits.lowest]\nsuite = \"basics\"".into(), "limits.lowest.suite", "did you mean \"basic\"?"),
        ("[limits.low]\nsuite = \"basic\"".into(), "limits.low", "unknown key"),
        ("[keys]\nmax_tokens = 4096".into(), "keys.max_tokens", "expected a string"),
        ("[providers]\nid = \"p\"".into(), "providers", "[[like this]]"),
        ("[[providers]]\nkind = \"simulator\"".into(), "providers[0].id", "missing"),
        ("[[providers]]\nid = \"a b\"\nkind = \"simulator\"".into(), "providers[0].id", "is no name"),
        ("[[providers]]\nid = \"p\"\nkind = \"groq\"".into(), "providers[0].api_key", "missing, and GROQ_API_KEY is not set"),
        (provider("base_url = \"127.0.0.1:9\""), "providers[0].base_url", "fix: write what comes before"),
        (provider("base_url = \"ftp://a/v1\""), "providers[0].base_url", "does not begin with http://"),
        (provider("base_url = \"http://a/v1/chat/completions\""), "providers[0].base_url", "ends with a dialect's path"),
        (provider("base_url = \"http://u:p@a/v1\""), "providers[0].base_url", "holds a user name"),
        (provider("api_key_file = \"none\""), "providers[0].api_key_file", "cannot read etc/none"),
        (provider("api_version = \"1\""), "providers[0].api_version", "OpenAI has no such parameter"),
        (provider("quirks = [\"max_token\"]"), "providers[0].quirks", "did you mean \"max_tokens\"?"),
        (provider("headers = { \"x y\" = \"1\" }"), "providers[0].headers.x y", "is no header name"),
        (provider("headers = { x = \"a\\nb\" }"), "providers[0].headers.x", "line break"),
        (provider("region = \"us\""), "providers[0].region", "\"us-east\", \"us-west\""),
        ("[[providers]]\nid = \"a\"\nkind = \"anthropic\"\napi_key = \"k\"\nbase_url = \"http://a/v1\"".into(), "providers[0].base_url", "ends with /v1, which Sluice adds itself"),
        (model(""), "models[1].provider", "nothing says where it runs"),
        (model("provider = []"), "models[1].provider", "is an empty list"),
        (model("provider = [\"lab\", \"lap\"]"), "models[1].provider", "there is no provider \"lap\""),
        (model("same_as = \"mock-fats\""), "models[1].same_as", "did you mean \"mock-fast\"?"),
        (model("same_as = \"m\""), "models[1].same_as", "is itself a second name"),
        (model("same_as = \"mock-fast\"\nprovider = \"lab\""), "models[1].same_as", "both provider and same_as"),
        (model("same_as = \"mock-fast\"\ncontext_window = 5"), "models[1].context_window", "comes from \"mock-fast\""),
        (model("provider = \"lab\"\ncapabilities = [\"vison\"]"), "models[1].capabilities[0]", "did you mean \"vision\"?"),
        (model("provider = \"lab\"\nprice = { input = 1 }"), "models[1].price.output", "missing"),
        (model("provider = \"lab\"\nprice = 1"), "models[1].price", "expected a section"),
        (model("provider = \"lab\"\ncreated = \"soon\""), "models[1].created", "\"soon\" is no moment"),
        (model("provider = \"lab\"\ncontext_window = 0"), "models[1].context_window", "0 is out of bounds"),
        (format!("{LAB}\n[[models]]\nid = \"mock-fast\"\nprovider = \"lab\""), "models[1].id", "another model is called \"mock-fast\""),
        ("[[providers]]\nid = \"o\"\nkind = \"ollama\"".into(), "models", "no model is served"),
    ] {
        let text: String = text;
        let said = problems(&text);
        assert!(said.contains(&format!(" {key}: ")), "{text}\n---\n{said}");
        assert!(said.contains(words), "{text}\n---\n{said}");
    }
}

#[test]
fn a_file_that_is_no_toml_says_where() {
    let said = problems("[server]\nlisten = \n[log\n");
    assert!(said.starts_with("etc/sluice.toml:2:10: this is no TOML: "), "{said}");
    assert!(said.contains("\n\netc/sluice.toml:3:"), "{said}");
    assert!(problems("a = 1\na = 2").contains("2:1: this is no TOML: duplicate key"));
}

#[test]
fn a_missing_file_is_a_problem() {
    let environment = FixedEnvironment::default();
    let problems = Settings::load(Path::new("none.toml"), &environment).unwrap_err();
    assert!(problems.to_string().starts_with("none.toml: cannot read the configuration: "));
}

#[test]
fn no_problem_shows_a_secret() {
    let environment = FixedEnvironment::default()
        .variable("KEY", "sk-secret\u{7}")
        .variable("LISTEN", "sk-secret")
        .file("etc/key", "sk-secret\nsecond line");
    let text = r#"
        [server]
        listen = "${LISTEN}"
        [[providers]]
        id = "a"
        kind = "${LISTEN}"
        api_key = "${KEY}"
        [[providers]]
        id = "b"
        kind = "openai"
        api_key_file = "key"
        headers = { x = "${KEY}" }
        [[models]]
        id = "m"
        provider = "${LISTEN}x"
        "#;
    let said = load(text, &environment).unwrap_err().to_string();
    let about = ["server.listen", "[0].kind", "[0].api_key", "[1].api_key_file", "headers.x"];
    for key in about {
        assert!(said.contains(key), "{key} in {said}");
    }
    // The name of a provider is no secret, and a user has to see which one does not exist.
    assert_eq!(said.matches("sk-secret").count(), 1, "{said}");
}

#[test]
fn keys_come_from_the_file_a_file_or_the_environment() {
    let environment = FixedEnvironment::default()
        .variable("OPENAI_API_KEY", "sk-usual")
        .variable("MINE", " sk-mine\n")
        .file("etc/secrets/key", "sk-from-file\n");
    let text = r#"
        [[providers]]
        id = "usual"
        kind = "openai"
        [[providers]]
        id = "variable"
        kind = "openai"
        api_key = "${MINE}"
        [[providers]]
        id = "file"
        kind = "openai"
        api_key_file = "secrets/key"
        [[providers]]
        id = "elsewhere"
        kind = "openai"
        base_url = "http://elsewhere/v1"
        "#;
    let settings = load(text, &environment).unwrap();
    let keys: Vec<Option<&str>> = settings
        .providers
        .iter()
        .map(|provider| provider.credential.as_ref().map(|key| key.expose().as_str()))
        .collect();
    // The usual key is not sent to another address.
    assert_eq!(keys, [Some("sk-usual"), Some("sk-mine"), Some("sk-from-file"), None]);
    assert_eq!(
        files(&settings),
        [
            "etc/sluice.toml",
            "etc/secrets/key",
            "etc/sluice-data/quality.csv",
            "etc/sluice-data/catalog.json"
        ]
    );
    assert!(!format!("{settings:?}").contains("sk-"));
}

#[test]
fn presets_and_their_exceptions_hold() {
    let text = r#"
        [[providers]]
        id = "az"
        kind = "azure"
        base_url = "https://r.openai.azure.com/openai/"
        api_key = "k"
        [[providers]]
        id = "gw"
        kind = "openai"
        base_url = "http://gateway/v1"
        quirks = ["max_tokens"]
        headers = { x-team = "research" }
        [[models]]
        id = "gpt"
        provider = ["az", "gw"]
        upstream_model = "gpt-5"
        "#;
    let settings = good(text);
    let [azure, gateway] = settings.providers.as_slice() else { panic!("two providers") };
    assert_eq!(azure.base_url, "https://r.openai.azure.com/openai");
    assert_eq!(azure.query, "api-version=2024-10-21");
    assert_eq!(azure.auth, Auth::Header("api-key".into()));
    assert!(azure.quirks.model_in_path);
    assert_eq!(gateway.quirks, Quirks { max_tokens: true, ..Quirks::default() });
    assert_eq!(gateway.headers.len(), 1);
    // Neither has a price that anybody could know.
    let model = settings.catalog.get("gpt").unwrap();
    assert_eq!((model.deployments.len(), &model.price), (2, &None));
}

#[test]
fn numbers_may_come_from_variables() {
    let environment = FixedEnvironment::default().variable("MIB", "64");
    let text = "[server]\nrequest_body_limit_mib = \"${MIB}\"\ndrain_seconds = \"${D:-0}\"\n\
                [limits.highest]\ntokens_per_day = \"${TOKENS:-5_000_000}\"";
    let settings = load(text, &environment).unwrap();
    assert_eq!(settings.server.request_body_limit_mib.0, 64);
    assert_eq!(settings.server.drain_seconds.0, 0);
    assert_eq!(settings.limits.highest.tokens_per_day.0, Some(5_000_000));
}

#[test]
fn prices_are_exact_however_they_are_written() {
    for (written, read) in [
        ("\"0.0375\"", "0.0375"),
        ("0.0375", "0.0375"),
        ("3", "3"),
        ("0.1", "0.1"),
        ("1_000.5", "1000.5"),
    ] {
        let text = format!(
            "{LAB}\n[[models]]\nid = \"m\"\nprovider = \"lab\"\nprice = {{ input = {written}, output = 9 }}"
        );
        let settings = good(&text);
        let price = settings.catalog.get("m").unwrap().price.clone().unwrap();
        assert_eq!(price.input.to_string(), read);
    }
    let text = format!(
        "{LAB}\n[[models]]\nid = \"m\"\nprovider = \"lab\"\nprice = {{ input = 1e-3, output = 9 }}"
    );
    assert!(problems(&text).contains("models[1].price.input: 1e-3 is no price"));
}

#[test]
fn a_provider_without_models_serves_the_catalogue() {
    let settings = good(
        "[[providers]]\nid = \"oa\"\nkind = \"openai\"\napi_key = \"k\"\nregion = \"eu-west\"",
    );
    let model = settings.catalog.get("oa/gpt-5-mini").unwrap();
    assert_eq!(model.deployments[0].upstream_model, "gpt-5-mini");
    assert_eq!(model.regions(), [Region::EuWest]);
    let price = model.price.as_ref().unwrap();
    assert_eq!(price.input.to_string(), "0.25");
    assert!(price.version.contains("2026-11-21"));
    assert_eq!(model.capabilities.tools, Some(true));
}

#[test]
fn what_the_file_leaves_out_is_taken_from_the_catalogue() {
    let settings = good(
        "[[providers]]\nid = \"oa\"\nkind = \"openai\"\napi_key = \"k\"\n\
         [[models]]\nid = \"fast\"\nprovider = \"oa\"\nupstream_model = \"gpt-5-mini\"\nsuite = \"full\"",
    );
    let model = settings.catalog.get("fast").unwrap();
    assert_eq!(model.owned_by, "openai");
    assert_eq!((model.suite, model.price.is_some()), (Suite::Full, true));
    // A provider with models of its own in the file serves no others.
    assert!(settings.catalog.get("oa/gpt-5-mini").is_none());
}

#[test]
fn without_a_file_providers_are_found() {
    let environment = FixedEnvironment::default()
        .variable("GOOGLE_API_KEY", "g")
        .variable("ANTHROPIC_API_KEY", "a")
        .variable("OPENAI_API_KEY", "")
        .local("ollama", &["qwen3:8b"])
        .local("llamacpp", &["own"]);
    let settings = Settings::discover(&environment).unwrap();
    let ids: Vec<&str> = settings.providers.iter().map(|provider| provider.id.as_str()).collect();
    // llama.cpp's usual port is where Sluice itself listens.
    assert_eq!(ids, ["anthropic", "gemini", "ollama"]);
    assert!(settings.discovered && settings.file.is_none());
    assert!(settings.catalog.get("ollama/qwen3:8b").is_some());
    assert!(settings.catalog.get("anthropic/claude-opus-5-5").is_some());
    assert!(!settings.catalog.models().iter().any(|model| model.simulated));
    assert_eq!(settings.storage.data_dir.0, Path::new("sluice-data"));
}

#[test]
fn a_file_without_providers_finds_them_as_well() {
    let environment = FixedEnvironment::default().variable("GROQ_API_KEY", "g");
    let text = "[server]\nlisten = \"127.0.0.1:1\"\n\
                [[models]]\nid = \"oss\"\nprovider = \"groq\"\nupstream_model = \"openai/gpt-oss-120b\"";
    let settings = load(text, &environment).unwrap();
    assert!(settings.discovered && settings.catalog.get("oss").unwrap().price.is_some());
}

#[test]
fn with_nothing_found_the_simulator_answers() {
    let settings = good("");
    let echo = settings.catalog.get("demo/echo").unwrap();
    assert!(echo.simulated && echo.price.is_some());
    assert_eq!((echo.owned_by.as_str(), echo.suite), ("sluice-simulator", Suite::Basic));
    assert_eq!(settings.warnings, Vec::<String>::new());
}

#[test]
fn documented_names_are_always_there() {
    let target = |settings: &Settings, id: &str| {
        let model = settings.catalog.get(id).unwrap();
        (model.alias_of.as_ref().unwrap().to_string(), model.minimum_level)
    };
    let (standard, maximum) = (SecurityLevel::Standard, SecurityLevel::Maximum);
    for (variable, coder, secure, turbo, compliance) in [
        ("NONE", "demo/chat", "demo/reasoner", "demo/chat", "demo/chat"),
        (
            "ANTHROPIC_API_KEY",
            "anthropic/claude-opus-5-5",
            "anthropic/claude-sonnet-5-5",
            "anthropic/claude-haiku-5-5",
            "anthropic/claude-opus-5-5",
        ),
        (
            "OPENAI_API_KEY",
            "openai/gpt-6.1-sol",
            "openai/gpt-6.1-sol",
            "openai/gpt-6-luna",
            "openai/gpt-6.1-sol",
        ),
        (
            "MISTRAL_API_KEY",
            "mistral/zai-glm-5-3",
            "mistral/mistral-large-4",
            "mistral/mistral-small-latest",
            "mistral/mistral-large-4",
        ),
    ] {
        let environment = FixedEnvironment::default().variable(variable, "k");
        let settings = Settings::discover(&environment).unwrap();
        let of = |id| target(&settings, id);
        assert_eq!(of("svc/enterprise-coder-v1"), (coder.into(), standard));
        assert_eq!(of("svc/secure-x-3-5-sonnet"), (secure.into(), maximum));
        assert_eq!(of("svc/enterprise-x-4-turbo"), (turbo.into(), standard));
        assert_eq!(of("svc/compliance-assistant"), (compliance.into(), maximum));
    }
    let text = format!(
        "{LAB}\n[[models]]\nid = \"second\"\nprovider = \"lab\"\n\
         [[models]]\nid = \"svc/secure-x-3-5-sonnet\"\nsame_as = \"second\""
    );
    let settings = good(&text);
    assert_eq!(target(&settings, "svc/secure-x-3-5-sonnet"), ("second".into(), maximum));
    assert_eq!(target(&settings, "svc/enterprise-coder-v1"), ("mock-fast".into(), standard));
    assert!(settings.catalog.get("svc/secure-x-3-5-sonnet").unwrap().deployments.is_empty());
}

#[test]
fn an_imported_list_counts_and_a_broken_one_is_a_warning() {
    let list = r#"{"source":"s","date":"2027-01-01","models":[
        {"kind":"openai","model":"gpt-5-mini","owned_by":"o","price":{"input":"9","output":"9"}}]}"#;
    let text = "[[providers]]\nid = \"oa\"\nkind = \"openai\"\napi_key = \"k\"";
    let environment = FixedEnvironment::default().file("etc/sluice-data/catalog.json", list);
    let settings = load(text, &environment).unwrap();
    let price = settings.catalog.get("oa/gpt-5-mini").unwrap().price.clone().unwrap();
    assert_eq!((price.input.to_string(), price.version.as_str()), ("9".into(), "s 2027-01-01"));
    assert_eq!(settings.files.len(), 3);

    let environment = FixedEnvironment::default().file("etc/sluice-data/catalog.json", "{}");
    let settings = load(text, &environment).unwrap();
    assert!(settings.warnings[0].starts_with("etc/sluice-data/catalog.json is not used: "));
}

#[test]
fn sluice_does_not_look_for_itself() {
    let kinds = |own: &[u16]| -> Vec<&str> {
        local_candidates(own).into_iter().map(|candidate| candidate.kind).collect()
    };
    assert_eq!(kinds(&[8080, 9464]), ["ollama", "vllm", "lmstudio"]);
    assert_eq!(kinds(&[]), ["ollama", "vllm", "llamacpp", "lmstudio"]);
    assert_eq!(local_candidates(&[])[0].probe_url, "http://127.0.0.1:11434/v1/models");
}

#[test]
fn what_needs_a_restart_is_named() {
    let old = good(LAB);
    assert_eq!(Settings::restart_needed(&old, &old), Vec::<&str>::new());
    let new = good(&format!(
        "[server]\nlisten = \"[::1]:1\"\ndrain_seconds = 1\n[log]\nlevel = \"warn\"\n{LAB}"
    ));
    assert_eq!(
        Settings::restart_needed(&old, &new),
        ["server.listen", "server.drain_seconds", "log.level"]
    );
}

#[test]
fn the_example_is_valid_as_it_is_and_with_everything_turned_on() {
    let example = example();
    let untouched = good(&example);
    assert!(untouched.discovered);

    let environment =
        FixedEnvironment::default().file("etc/tls/certificate.pem", "").file("etc/tls/key.pem", "");
    let all = turned_on(&example);
    let settings = load(&all, &environment).unwrap_or_else(|said| panic!("{said}\n{all}"));
    assert_eq!(settings.providers.len(), 1);
    assert_eq!(settings.catalog.get("mock-fast").unwrap().output_limit, Some(16_384));
    assert_eq!(settings.default_region, Some(Region::UsEast));
    // What it shows as defaults are the defaults.
    for tier in AccountTier::ALL {
        assert_eq!(settings.limits.of(tier), untouched.limits.of(tier));
    }
    // Without one, models of unknown price are refused under hard budgets.
    assert!(untouched.limits.fallback().is_none() && settings.limits.fallback().is_some());
    assert_eq!(settings.keys, untouched.keys);
    assert_eq!(settings.timeouts, untouched.timeouts);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        let _ = load(&text, &FixedEnvironment::default());
    }

    #[test]
    fn no_damage_to_a_file_makes_it_panic(at in 0..4000_usize, length in 0..40_usize, junk in "[\\[\\]{}=\"'.#\\n$a-z0-9-]{0,6}") {
        let text = turned_on(&example());
        let cut = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let (from, to) = (cut(at).unwrap_or(0), cut(at + length).unwrap_or(0));
        let damaged = format!("{}{junk}{}", &text[..from], &text[to..]);
        let _ = load(&damaged, &FixedEnvironment::default());
    }

    #[test]
    fn substitution_never_panics(text in "[${}:A-Z_é-]{0,40}") {
        let _ = environment::substitute(&text, &FixedEnvironment::default());
    }
}
