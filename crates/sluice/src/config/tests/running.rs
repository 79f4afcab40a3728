//! What a running server and the commands beside it need of a configuration: which sections it has
//! lost, every bad pattern, and to be read where a provider's variable is missing.

use super::*;

#[test]
fn a_section_that_is_gone_is_named_once() {
    let old = good(&format!(
        "[security]\nminimum_level = \"high\"\n[security.maximum]\nunreadable = \"flag\"\n{LAB}"
    ));
    let lost = |text: &str| -> Vec<String> {
        acceptance::lost(&old, &good(text)).iter().map(ToString::to_string).collect()
    };
    assert_eq!(lost(""), ["[security]", "all [[providers]]", "all [[models]]"]);
    assert_eq!(lost(&format!("[security]\n{LAB}")), ["[security]"]);
    assert_eq!(
        lost(&format!("security = {{ minimum_level = \"high\" }}\n{LAB}")),
        ["[security.maximum]"]
    );
    assert_eq!(acceptance::lost(&old, &old), Vec::<&acceptance::WrittenSection>::new());
    assert_eq!(acceptance::lost(&good(LAB), &old), Vec::<&acceptance::WrittenSection>::new());
}

#[test]
fn every_bad_pattern_is_named_with_its_line() {
    let text = "[security]\nterms = [\"x\", \"fine\"]\npatterns = [\n  'fine',\n  '(',\n                  'a*',\n]\nallow = [\"y\"]\n";
    let problems = problems(text);
    for line in [
        "etc/sluice.toml:2: security.terms[0]: is shorter",
        "etc/sluice.toml:5: security.patterns[1]: regex parse error",
        "etc/sluice.toml:6: security.patterns[2]: matches the empty text",
    ] {
        assert!(problems.contains(line), "no {line} in\n{problems}");
    }
    assert_eq!(problems.matches("fix: ").count(), 3, "{problems}");
}

/// What a command needs that asks no provider.
#[test]
fn a_providers_missing_variable_stops_nobody_who_asks_no_provider() {
    let text = r#"
        [storage]
        data_dir = "${DATA}"
        [[providers]]
        id = "lab"
        kind = "openai"
        base_url = "${LAB_URL}"
        api_key = "${LAB_KEY}"
        headers = { x-team = "${TEAM}" }
        [[providers]]
        id = "cloud"
        kind = "anthropic"
        [[providers]]
        id = "filed"
        kind = "groq"
        api_key_file = "none/such"
        [[models]]
        id = "mock"
        provider = "lab"
        "#;
    let set = |environment: FixedEnvironment| environment.variable("DATA", "d");
    let problems = load(text, &set(FixedEnvironment::default())).unwrap_err().to_string();
    for missing in ["LAB_URL", "LAB_KEY", "TEAM", "ANTHROPIC_API_KEY", "none/such"] {
        assert!(problems.contains(missing), "{missing}: {problems}");
    }
    let settings = load(text, &set(FixedEnvironment::default().without_providers())).unwrap();
    assert!(settings.catalog.get("mock").is_some());
    for missing in ["LAB_URL", "LAB_KEY", "TEAM", "ANTHROPIC_API_KEY", "none/such"] {
        assert!(settings.warnings.iter().any(|it| it.contains(missing)), "{missing}");
    }
    // Everything else has to be there all the same: a wrong data folder would be worse.
    let problems = load(text, &FixedEnvironment::default().without_providers()).unwrap_err();
    assert!(problems.to_string().contains("variable DATA"), "{problems}");
}

#[test]
fn the_variable_names_the_file_where_the_command_line_does_not() {
    let environment = FixedEnvironment::default()
        .variable("SLUICE_CONFIG", "etc/other.toml")
        .file("etc/other.toml", "[server]\nlisten = \"127.0.0.1:1111\"\n")
        .file("named.toml", "[server]\nlisten = \"127.0.0.1:2222\"\n")
        .file("sluice.toml", "[server]\nlisten = \"127.0.0.1:3333\"\n");
    let port = |config: Option<&str>, environment: &FixedEnvironment| {
        let settings = Settings::open(config.map(Path::new), environment);
        settings.unwrap_or_else(|problems| panic!("{problems}")).server.listen.port()
    };
    assert_eq!(port(None, &environment), 1111);
    assert_eq!(port(Some("named.toml"), &environment), 2222);
    assert_eq!(port(None, &environment.variable("SLUICE_CONFIG", "")), 3333);
    let gone = FixedEnvironment::default().variable("SLUICE_CONFIG", "gone.toml");
    assert!(Settings::open(None, &gone).unwrap_err().to_string().contains("gone.toml"));
}
