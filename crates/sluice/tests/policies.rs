//! Policies of a running server: what they bind, wherever they stand, and what they tell.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Reply, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

struct House {
    sluice: Sluice,
    east: FakeUpstream,
    europe: FakeUpstream,
}

/// The model `both` at providers in the east and in Europe, `east` in the east alone, a router over
/// both, and a key `laptop` of a team of a department.
async fn house(config: Config) -> (House, String) {
    let script = || Script::json(&answers::completion("Hello there"));
    let (east, europe) = (FakeUpstream::start(script()).await, FakeUpstream::start(script()).await);
    let config = config
        .provider_in("lab-east", &east.base_url(), "us-east")
        .provider_in("lab-europe", &europe.base_url(), "eu-west")
        .model("both", "[\"lab-east\", \"lab-europe\"]")
        .model("east", "\"lab-east\"")
        .with("[[routers]]\nid = \"svc/mix\"\nmembers = [\"both\", \"east\"]\n");
    let sluice = Sluice::start(BINARY, &config).await;
    for line in [
        "departments create engineering",
        "teams create compilers --department engineering",
        "people create ada@example.org --team compilers",
    ] {
        sluice.done(line).await;
    }
    let arguments = ["--team", "compilers", "--owner", "person:ada@example.org"];
    let key = sluice.create_named_key("laptop", &arguments).await;
    (House { sluice, east, europe }, key)
}

fn question(model: &str, text: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
}

impl House {
    async fn ask(&self, key: &str, model: &str) -> Reply {
        self.sluice.chat(key, &question(model, "Hello!")).await
    }

    /// Waits until a request for `model` is answered with a status.
    async fn answers_with(&self, key: &str, model: &str, status: u16) -> Reply {
        until("the server to notice a policy", async || {
            let reply = self.ask(key, model).await;
            (reply.status == status).then_some(reply)
        })
        .await
    }

    /// What a request of `key` for `model` is refused with.
    async fn refused(&self, key: &str, model: &str) -> (String, String) {
        let reply = self.answers_with(key, model, 403).await.json();
        let error = &reply["error"];
        assert_eq!(error["type"], "permission_error", "{error}");
        let text = |name: &str| error[name].as_str().unwrap().to_owned();
        (text("param"), text("message"))
    }
}

#[tokio::test]
async fn the_strictest_of_all_levels_holds_and_an_empty_result_names_two_rules() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let (house, key) = house(config).await;
        let sluice = &house.sluice;
        assert_eq!(house.ask(&key, "both").await.status, 200);

        // Each level for itself: models.
        for (whose, name) in [
            ("deployment", "the policy of the deployment"),
            ("account", "the policy of account default"),
            ("department:engineering", "the policy of department engineering"),
            ("team:compilers", "the policy of team compilers"),
            ("person:ada@example.org", "the policy of person ada@example.org"),
            ("key:laptop", "the policy of key laptop"),
        ] {
            sluice.done(&format!("policy set --for {whose} --models east")).await;
            let (param, message) = house.refused(&key, "both").await;
            assert_eq!(param, "model");
            assert_eq!(message, format!("this key may not use model `both`; {name} allows east"),);
            // A router asks those of its members that are left.
            assert_eq!(house.ask(&key, "svc/mix").await.header("svc-router"), "svc/mix");
            let listed = sluice.get("/api/v1/models", &key).await.json();
            let ids: Vec<&str> = listed["data"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|it| it["id"].as_str())
                .collect();
            assert!(ids.contains(&"east") && !ids.contains(&"both"), "{ids:?}");
            sluice.done(&format!("policy remove --for {whose}")).await;
            house.answers_with(&key, "both", 200).await;
        }
        sluice.done("policy set --for account --models both").await;
        sluice.done("policy set --for team:compilers --models east").await;
        let why = "this key may use no model: the policy of account default allows both, and the \
                   policy of team compilers allows east";
        until("both policies to hold", async || {
            let (_, message) = house.refused(&key, "svc/mix").await;
            (message == why).then_some(())
        })
        .await;
        let told = sluice.cli(&["policy", "explain", "--key", "laptop"]).await;
        assert!(told.stdout.contains(&format!("refused: {why}")), "{}", told.stdout);
        sluice.done("policy remove --for account").await;
        sluice.done("policy remove --for team:compilers").await;
        house.answers_with(&key, "both", 200).await;
        assert!(sluice.json_lines(&["policy", "list", "--json"]).await.is_empty());
        let trail = sluice.done("audit list --kind administration --json").await;
        assert_eq!(trail.matches("\"policies.set\"").count(), 14, "{trail}");
        assert_eq!(trail.matches("\"policies.set-deployment\"").count(), 2);
    }
}

#[tokio::test]
async fn requests_stay_in_their_region_through_routers_and_failover() {
    let (house, key) = house(Config::default()).await;
    let House { sluice, east, europe } = &house;
    let line = "routers create svc/ours --for team:compilers --members east=9,both=1";
    sluice.done(line).await;
    house.answers_with(&key, "svc/ours", 200).await;
    // Both providers have a key of the team's own, and fall back.
    for provider in ["lab-east", "lab-europe"] {
        let line =
            format!("provider-keys add --provider {provider} --for team:compilers --no-test");
        let words: Vec<&str> = line.split_whitespace().chain(["--fallback"]).collect();
        let added = sluice.cli_given(&words, &format!("sk-own-{provider}\n")).await;
        assert_eq!(added.code, Some(0), "{}", added.stderr);
    }
    sluice.done("policy set --for department:engineering --regions eu-west").await;
    let told = until("the policy to hold", async || {
        let reply = house.ask(&key, "east").await;
        (reply.status != 200).then(|| reply.json())
    })
    .await;
    assert_eq!(told["error"]["code"], "region_unavailable", "{told}");
    assert!(told["error"]["message"].as_str().unwrap().contains("it runs in us-east"), "{told}");
    // One whose own region is not allowed is refused by the rule's name.
    let mut elsewhere = question("both", "Hello!");
    elsewhere["region"] = "us-east".into();
    let refused = sluice.chat(&key, &elsewhere).await.json();
    assert_eq!(
        refused["error"]["message"],
        "this key may not use region `us-east`; the policy of department engineering allows eu-west"
    );

    let seen = (east.seen().len(), europe.seen().len());
    let models = ["both", "svc/mix", "svc/ours"];
    let in_europe = async |billed: &str| {
        for model in models {
            let answer = house.ask(&key, model).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert_eq!(answer.json()["security"]["data_residency"], "eu-west");
            assert_eq!(answer.header("svc-billed-by"), billed, "{model}");
        }
    };
    in_europe("provider").await;
    // Where the own key fails, the deployment's is used in the same region.
    europe.follow_for("sk-own-lab-europe", Script::answer("401 Unauthorized", &[], "{}"));
    in_europe("deployment").await;
    // Where the provider of the region fails, nobody else is asked.
    europe.follow(Script::answer("500 Internal Server Error", &[], ""));
    for model in models {
        assert!(house.ask(&key, model).await.status.is_server_error());
    }
    assert_eq!(east.seen().len(), seen.0, "nothing went elsewhere");
    assert!(europe.seen().len() > seen.1);
}

#[tokio::test]
async fn filter_settings_bounds_and_retention_come_from_policies() {
    let (house, key) = house(Config::default()).await;
    let House { sluice, east, .. } = &house;
    let sent = async |text: &str| {
        let before = east.seen().len();
        let reply = sluice.chat(&key, &question("east", text)).await;
        assert_eq!(reply.status, 200);
        let seen = east.seen();
        assert_eq!(seen.len(), before + 1);
        (seen[before].body.clone(), reply)
    };
    let content = |body: &Value| body["messages"][0]["content"].as_str().unwrap().to_owned();
    let text = "Orion ships PRJ-1234 with Ada Lovelace; mail support@busy-mill.org";
    let (plain, _) = sent(text).await;
    assert!(content(&plain).contains("Orion") && content(&plain).contains("PRJ-1234"));
    assert!(!content(&plain).contains("support@busy-mill.org"), "{plain}");

    sluice
        .done(
            "policy set --for team:compilers --terms Orion --pattern PRJ-[0-9]{4} --redact person \
             --exceptions support@busy-mill.org,Orion,PRJ-1234 --max-output-tokens 300 \
             --zero-retention",
        )
        .await;
    let (filtered, reply) = until("the policy to hold", async || {
        let found = sent(text).await;
        (!content(&found.0).contains("Orion")).then_some(found)
    })
    .await;
    let content = content(&filtered);
    for gone in ["Orion", "PRJ-1234", "Ada Lovelace"] {
        assert!(!content.contains(gone), "{content}");
    }
    assert!(content.contains("support@busy-mill.org"), "{content}");
    assert_eq!(filtered["max_completion_tokens"], 300);
    assert_eq!(reply.header("svc-max-tokens-lowered"), "300");
    assert_eq!(reply.json()["security"]["zero_retention"], true);

    // A smaller wish stays as it is.
    let mut small = question("east", "Hello!");
    small["max_tokens"] = 20.into();
    let reply = sluice.chat(&key, &small).await;
    assert!(reply.headers.iter().all(|(name, _)| name.as_str() != "svc-max-tokens-lowered"));
    assert_eq!(east.seen().last().unwrap().body["max_tokens"], 20);

    // What holds, and who says it.
    let told = sluice.done("policy explain --key laptop --json").await;
    let told: Value = serde_json::from_str(&told).unwrap();
    let rule = |name: &str| {
        told["rules"].as_array().unwrap().iter().find(|it| it["rule"] == name).unwrap().clone()
    };
    let by = "the policy of team compilers";
    assert_eq!(
        (&rule("zero_retention")["value"], &rule("zero_retention")["by"]),
        (&json!(true), &json!(by))
    );
    assert_eq!(rule("max_output_tokens")["value"], 300);
    assert_eq!(
        (&rule("level")["value"], &rule("level")["by"]),
        (&json!("standard"), &json!("nobody"))
    );
    assert_eq!(rule("terms"), json!({ "rule": "terms", "value": ["Orion"], "by": by }));
}

/// The command says what the server would.
#[tokio::test]
async fn explaining_a_request_ends_as_asking_it_does() {
    let (house, key) = house(Config::default()).await;
    let sluice = &house.sluice;
    sluice.done("models add secret --provider lab-east --security-level maximum").await;
    sluice.done("routers create svc/x --account default --members secret,east").await;
    sluice.done("routers create svc/y --account default --members secret").await;
    sluice.done("policy set --for team:compilers --max-output-tokens 300").await;
    until("the routers", async || (house.ask(&key, "svc/x").await.status == 200).then_some(()))
        .await;
    let file = sluice.data_dir().join("request.json");
    let mut refusals = 0;
    for (model, member, value) in [
        ("both", "user", json!("ada")),
        ("both", "max_tokens", json!(4_096)),
        ("both", "max_tokens", json!(4_097)),
        ("both", "region", json!("eu-west")),
        ("east", "region", json!("eu-west")),
        ("svc/mix", "region", json!("eu-west")),
        ("svc/mix", "region", json!("asia-pacific")),
        ("secret", "security_level", json!("standard")),
        ("svc/x", "security_level", json!("standard")),
        ("svc/y", "region", json!("eu-west")),
        ("none", "user", json!("ada")),
    ] {
        let mut question = question(model, "Hello!");
        question[member] = value;
        let reply = sluice.chat(&key, &question).await;
        std::fs::write(&file, question.to_string()).unwrap();
        let words = ["policy", "explain", "--key", "laptop", "--request", file.to_str().unwrap()];
        let told = sluice.cli(&words).await;
        let is_refused = reply.status != 200;
        assert_eq!(told.code, Some(i32::from(is_refused)), "{question}: {}", told.stdout);
        if is_refused {
            let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(told.stdout.contains(&message), "{message}: {}", told.stdout);
            refusals += 1;
        }
    }
    assert_eq!(refusals, 5);
}

#[tokio::test]
async fn what_is_wrong_is_told_with_its_rule_and_changes_nothing() {
    let (house, _) = house(Config::default()).await;
    let sluice = &house.sluice;
    for (line, says) in [
        ("policy set --for account", "name a rule to set"),
        ("policy set --for nobody --audit", "names nobody"),
        ("policy set --for team:none --audit", "there is no team \"none\""),
        ("policy set --for account --models gpt-9", "there is no model \"gpt-9\""),
        ("policy set --for account --regions mars", "expected one of: us-east"),
        ("policy set --for account --regions eu-west --region us-east", "not among the allowed"),
        ("policy set --for account --max-output-tokens 0", "max_output_tokens: 0 leaves no room"),
        ("policy set --for account --pattern (", "patterns: number 1:"),
        (
            "policy set --for account --redact names",
            "redact: \"names\" is no kind; expected any of",
        ),
        ("policy set --for account --unset colour", "expected one of: level, models"),
        ("policy explain --key none", "there is no such key"),
        ("policy explain --key laptop --request /none", "cannot read /none"),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = sluice.cli(&words).await;
        assert!(ran.code != Some(0) && ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
    assert!(sluice.json_lines(&["policy", "list", "--json"]).await.is_empty());
}

#[tokio::test]
async fn the_file_holds_policies_and_alone_changes_them() {
    let policy = "[[policies]]\nof = \"team:compilers\"\nregions = [\"eu-west\"]\n\
                  [[policies]]\nof = \"deployment\"\nlevel = \"high\"\n";
    let (house, key) = house(Config::default().with(policy)).await;
    let sluice = &house.sluice;
    // The team came after the start: its policy has waited for it.
    until("the file's policy to hold", async || {
        let reply = house.ask(&key, "east").await;
        (reply.status != 200).then_some(())
    })
    .await;
    let answer = house.ask(&key, "both").await.json();
    assert_eq!(answer["security"]["data_residency"], "eu-west");
    assert_eq!(answer["security"]["level"].as_str().unwrap_or("high"), "high", "{answer}");
    let refused = sluice.cli(&["policy", "remove", "--for", "team:compilers"]).await;
    assert!(
        refused.stderr.contains("the policy of team compilers is held by the configuration file")
    );
    let listed = sluice.json_lines(&["policy", "list", "--json"]).await;
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|it| it["managed_by"] == "file"), "{listed:?}");
}
