//! Provider keys of accounts, departments and teams: on the provider's wire, when they fail, and at rest.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Reply, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");
/// The answer of a provider that refuses a key, and quotes it.
fn refusal(key: &str) -> Script {
    let error = json!({ "error": {
        "message": format!("Incorrect API key provided: {key}. You can find yours at your account."),
        "type": "invalid_request_error", "param": null, "code": "invalid_api_key",
    }});
    Script::answer("401 Unauthorized", &["content-type: application/json"], &error.to_string())
}

/// A list of models, as the test of a key asks for it.
fn models() -> Script {
    Script::json(&json!({ "object": "list", "data": [{ "id": "mock", "object": "model" }] }))
}

fn whole() -> Script {
    Script::json(&answers::completion("Hello there"))
}

async fn house(config: Config) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(whole()).await;
    let sluice = Sluice::start(BINARY, &config.mock(&upstream)).await;
    for line in [
        "departments create engineering",
        "teams create compilers --department engineering",
        "teams create tools --department engineering",
    ] {
        sluice.done(line).await;
    }
    (sluice, upstream)
}

/// Adds a provider key, and returns its id.
async fn add(sluice: &Sluice, line: &str, key: &str) -> String {
    let line = format!("provider-keys add --provider lab --json --no-test {line}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let ran = sluice.cli_given(&words, &format!("{key}\n")).await;
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(!ran.stdout.contains(key), "it is never shown");
    told["id"].as_str().unwrap().to_owned()
}

async fn ask(sluice: &Sluice, key: &str) -> Reply {
    let body = json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hello!" }] });
    sluice.chat(key, &body).await
}

/// Asks until the provider is presented with `expected`.
async fn presents(sluice: &Sluice, upstream: &FakeUpstream, key: &str, expected: &str) -> Reply {
    until("another provider key", async || {
        let reply = ask(sluice, key).await;
        (upstream.last().header("authorization") == format!("Bearer {expected}")).then_some(reply)
    })
    .await
}

#[tokio::test]
async fn the_nearest_key_is_used_and_only_for_whom_it_is() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let (sluice, upstream) = house(config).await;
        sluice.done("accounts create --name globex --tier highest").await;
        let compilers = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
        let tools = sluice.create_named_key("tools", &["--team", "tools"]).await;
        let plain = sluice.key().to_owned();
        let globex = sluice.create_named_key("globex", &["--account", "globex"]).await;
        presents(&sluice, &upstream, &compilers, "sk-lab").await;

        add(&sluice, "--for account:globex", "sk-globex-0123456789").await;
        add(&sluice, "--for department:engineering", "sk-engineering-0123").await;
        let of_team = add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
        let reply = presents(&sluice, &upstream, &compilers, "sk-compilers-012345").await;
        assert_eq!(reply.header("svc-billed-by"), "provider");
        assert_eq!(presents(&sluice, &upstream, &tools, "sk-engineering-0123").await.status, 200);
        presents(&sluice, &upstream, &globex, "sk-globex-0123456789").await;
        let reply = presents(&sluice, &upstream, &plain, "sk-lab").await;
        assert!(reply.headers.get("svc-billed-by").is_none());

        // The record says whose key it was; the cost stays the list price.
        let record = until("the record", async || {
            let records = sluice.json_lines(&["usage", "list", "--json"]).await;
            records.into_iter().find(|it| it["provider_key"]["id"] == *of_team)
        })
        .await;
        assert_eq!(record["provider_key"]["billed_by"], "provider");
        assert!(record["cost_usd"].as_f64().unwrap() > 0.0, "{record}");

        // Nothing of it lies anywhere.
        let listed = sluice.done("provider-keys list --json").await;
        assert_eq!(listed.lines().count(), 3);
        assert!(
            listed.contains("\"hint\":\"2345\"") && !listed.contains("sk-compilers-"),
            "{listed}"
        );
        let trail = sluice.done("audit list --kind administration --json").await;
        assert!(trail.contains("provider-keys.add") && !trail.contains("sk-compilers-"), "{trail}");
        if database.is_none() {
            for file in std::fs::read_dir(sluice.data_dir()).unwrap() {
                let path = file.unwrap().path();
                let bytes = std::fs::read(&path).unwrap_or_default();
                let has = bytes.windows(13).any(|it| it == b"sk-compilers-");
                assert!(!has, "{} holds a provider key", path.display());
            }
        }

        // Another key in its place; then the next one outwards.
        let words = ["provider-keys", "rotate", &of_team, "--no-test"];
        assert_eq!(sluice.cli_given(&words, "sk-compilers-another").await.code, Some(0));
        presents(&sluice, &upstream, &compilers, "sk-compilers-another").await;
        sluice.done(&format!("provider-keys remove {of_team}")).await;
        presents(&sluice, &upstream, &compilers, "sk-engineering-0123").await;
    }
}

#[tokio::test]
async fn a_key_that_is_refused_rests_alone_and_falls_back_only_where_that_is_wanted() {
    let (sluice, upstream) = house(Config::default()).await;
    let compilers = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
    let tools = sluice.create_named_key("tools", &["--team", "tools"]).await;
    let id = add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
    upstream.follow_for("sk-compilers-012345", refusal("sk-compilers-012345"));
    let reply = presents(&sluice, &upstream, &compilers, "sk-compilers-012345").await;
    assert_eq!(reply.status, 502);
    assert!(!reply.text().contains("sk-compilers"), "{}", reply.text());
    // The deployment's key and everybody else's go on.
    for _ in 0..5 {
        assert_eq!(ask(&sluice, &compilers).await.status, 502);
        assert_eq!(ask(&sluice, &tools).await.status, 200);
    }
    let health = sluice.get("/api/v1/health", &tools).await.json();
    assert_eq!(health["status"], "ok", "{health}");

    sluice.done(&format!("provider-keys set {id} --fallback true")).await;
    let reply = until("the fall back", async || {
        let reply = ask(&sluice, &compilers).await;
        (reply.status == 200).then_some(reply)
    })
    .await;
    assert_eq!(reply.header("svc-billed-by"), "deployment");
    let record = until("the record", async || {
        let records = sluice.json_lines(&["usage", "list", "--json"]).await;
        records.into_iter().find(|it| it["provider_key"]["billed_by"] == "deployment")
    })
    .await;
    assert_eq!(record["provider_key"]["id"], *id);
}

/// A router knows of a key that rests, and asks the deployment's first where that may be.
#[tokio::test]
async fn a_router_falls_back_while_the_own_key_rests() {
    let router = "[[routers]]\nid = \"svc/house\"\nmembers = [\"mock\"]\n";
    let (sluice, upstream) = house(Config::default().with(router)).await;
    let key = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
    let id = add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
    let body = json!({
        "model": "svc/house", "messages": [{ "role": "user", "content": "Hello!" }],
    });
    presents(&sluice, &upstream, &key, "sk-compilers-012345").await;
    upstream.follow_for("sk-compilers-012345", refusal("sk-compilers-012345"));
    assert_eq!(sluice.chat(&key, &body).await.status, 502);
    assert_eq!(sluice.chat(&key, &body).await.status, 503, "nobody else may be asked");

    sluice.done(&format!("provider-keys set {id} --fallback true")).await;
    until("the fall back", async || (sluice.chat(&key, &body).await.status == 200).then_some(()))
        .await;
    for _ in 0..5 {
        let before = upstream.seen().len();
        let reply = sluice.chat(&key, &body).await;
        assert_eq!((reply.status.as_u16(), reply.header("svc-billed-by")), (200, "deployment"));
        let seen = upstream.seen();
        assert_eq!(seen.len(), before + 1, "the key that rests is not asked");
        assert_eq!(seen[before].header("authorization"), "Bearer sk-lab");
    }
}

/// What somebody does who writes the database and has no master key.
#[tokio::test]
async fn nobody_is_served_with_a_key_that_was_moved_and_everything_else_goes_on() {
    let Some(database) = Database::create() else { return };
    let (mut sluice, upstream) = house(Config::default().database(&database.url())).await;
    sluice.done("accounts create --name globex --tier highest").await;
    let plain = sluice.key().to_owned();
    let compilers = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
    let tools = sluice.create_named_key("tools", &["--team", "tools"]).await;
    let globex = sluice.create_named_key("globex", &["--account", "globex"]).await;
    let team = add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
    let other_team = add(&sluice, "--for team:tools", "sk-tools-0123456789").await;
    let other_account = add(&sluice, "--for account:globex", "sk-globex-0123456789").await;
    let run = |sql: &str| database.run(sql).unwrap();
    for table in ["provider_keys", "wrapped_keys"] {
        run(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}"));
    }
    // In the place of the team's key, the one with this id.
    let moved = |id: &str, more: &str| {
        format!(
            "UPDATE provider_keys SET removed_at = 1 WHERE id = '{team}'; \
             UPDATE provider_keys SET subject = (SELECT subject FROM kept_provider_keys \
             WHERE id = '{team}'){more} WHERE id = '{id}'"
        )
    };
    let of_team = |column: &str| {
        format!(", {column} = (SELECT {column} FROM kept_provider_keys WHERE id = '{team}')")
    };
    let rewrapped = |column: &str| {
        format!(
            "UPDATE wrapped_keys SET {column} = (SELECT min({column}) FROM kept_wrapped_keys AS it \
             WHERE it.account_id <> wrapped_keys.account_id)"
        )
    };
    let secret = |id: &str| {
        format!(
            "UPDATE provider_keys SET (secrets, secrets_key) = (SELECT secrets, secrets_key \
             FROM kept_provider_keys WHERE id = '{id}') WHERE id = '{team}'"
        )
    };
    for (number, tampering) in [
        secret(&other_team),
        secret(&other_account),
        moved(&other_team, ""),
        moved(&other_account, &of_team("account_id")),
        format!("{}; {}", moved(&other_account, &of_team("account_id")), rewrapped("account_id")),
        format!("UPDATE provider_keys SET base_url = base_url || '/x' WHERE id = '{team}'"),
        rewrapped("wrapped"),
        "UPDATE wrapped_keys SET wrapped = 'x'".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        sluice.stop().await;
        run(tampering);
        sluice.start_again().await;
        let before = upstream.seen().len();
        assert_eq!(ask(&sluice, &compilers).await.status, 503, "{tampering}");
        assert_eq!(upstream.seen().len(), before, "{tampering}");
        // With its own key, the deployment's where it has none, or not at all.
        for (key, own) in [(&tools, "sk-tools-0123456789"), (&globex, "sk-globex-0123456789")] {
            let before = upstream.seen().len();
            let is_answered = ask(&sluice, key).await.status == 200;
            let seen: Vec<String> = upstream.seen()[before..]
                .iter()
                .map(|it| it.header("authorization").to_owned())
                .collect();
            assert_eq!(seen.len(), usize::from(is_answered), "{tampering}");
            let may = [format!("Bearer {own}"), "Bearer sk-lab".to_owned()];
            assert!(seen.iter().all(|it| may.contains(it)), "{tampering}: {seen:?}");
        }
        assert_eq!(ask(&sluice, &plain).await.status, 200, "{tampering}");
        // Changes are taken over.
        let name = format!("gone-{number}");
        let gone = sluice.create_named_key(&name, &[]).await;
        sluice.answers_with(&gone, 200).await;
        sluice.done(&format!("keys revoke {name}")).await;
        sluice.answers_with(&gone, 401).await;
        for table in ["provider_keys", "wrapped_keys"] {
            run(&format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}"));
        }
    }
}

#[tokio::test]
async fn budgets_of_money_count_it_only_when_asked_to() {
    let (sluice, _upstream) = house(Config::default()).await;
    let key = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
    sluice
        .done("budgets set --for team:compilers --measure usd --window day --limit 0.000000000001")
        .await;
    until("the budget to refuse", async || (ask(&sluice, &key).await.status == 400).then_some(()))
        .await;
    let id = add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
    until("the provider key", async || (ask(&sluice, &key).await.status == 200).then_some(()))
        .await;
    let used = async || {
        let budgets = sluice.json_lines(&["budgets", "list", "--json"]).await;
        budgets[0]["used"].as_f64().unwrap()
    };
    // Requests were served until the server noticed the budget.
    let before = used().await;
    for _ in 0..3 {
        assert_eq!(ask(&sluice, &key).await.status, 200);
    }
    assert_eq!(used().await, before);
    // Also after a restart, when windows are read from the database.
    let mut sluice = sluice;
    sluice.stop().await;
    sluice.start_again().await;
    assert_eq!(ask(&sluice, &key).await.status, 200);
    sluice.done(&format!("provider-keys set {id} --count-in-budgets true")).await;
    until("the budget to count and refuse", async || {
        (ask(&sluice, &key).await.status == 400).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_rotation_of_the_master_key_while_serving_invalidates_nothing() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let (mut sluice, upstream) = house(config).await;
        let key = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
        add(&sluice, "--for team:compilers", "sk-compilers-012345").await;
        presents(&sluice, &upstream, &key, "sk-compilers-012345").await;
        let told = sluice.done("secrets rotate-master-key --json").await;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_ne!(told["old"], told["new"]);
        assert_eq!(ask(&sluice, &key).await.status, 200);
        // What is added now is sealed under the same keys, and read after a restart.
        add(&sluice, "--for account", "sk-account-01234567").await;
        let plain = sluice.key().to_owned();
        presents(&sluice, &upstream, &plain, "sk-account-01234567").await;
        sluice.stop().await;
        sluice.start_again().await;
        presents(&sluice, &upstream, &key, "sk-compilers-012345").await;
        presents(&sluice, &upstream, &plain, "sk-account-01234567").await;
        let verified = sluice.cli(&["audit", "verify"]).await;
        assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
        let trail = sluice.done("audit list --kind administration --json").await;
        assert!(trail.contains("secrets.rotate-master-key"), "{trail}");
    }
}

/// Wherever it is killed: the running server, the commands and the next start go on.
#[tokio::test]
async fn a_rotation_of_the_master_key_that_is_killed_leaves_everything_working() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let (mut sluice, upstream) = house(config).await;
        let key = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
        let id = add(&sluice, "--for team:compilers", "sk-compilers-0").await;
        presents(&sluice, &upstream, &key, "sk-compilers-0").await;
        let file = sluice.data_dir().join("master.key");
        let draft = sluice.data_dir().join("master.key.next");
        for round in 1..=6_u32 {
            let before = std::fs::read(&file).unwrap();
            let mut rotation = sluice.spawn(&["secrets", "rotate-master-key"]);
            // A later stage in each round of three, and a little after it.
            let is_reached = || match round % 3 {
                0 => true,
                1 => draft.exists(),
                _ => std::fs::read(&file).unwrap() != before,
            };
            while !is_reached() && rotation.try_wait().unwrap().is_none() {
                tokio::task::yield_now().await;
            }
            for _ in 0..round * 20 {
                tokio::task::yield_now().await;
            }
            rotation.kill().unwrap();
            rotation.wait().unwrap();

            assert_eq!(ask(&sluice, &key).await.status, 200, "round {round}");
            let secret = format!("sk-compilers-{round}");
            let words = ["provider-keys", "rotate", &id, "--no-test"];
            let rotated = sluice.cli_given(&words, &secret).await;
            assert_eq!(rotated.code, Some(0), "round {round}: {}", rotated.stderr);
            presents(&sluice, &upstream, &key, &secret).await;
            if round % 3 == 0 {
                sluice.kill().await;
            } else {
                sluice.stop().await;
            }
            sluice.start_again().await;
            assert!(!draft.exists(), "the start tidies up");
            presents(&sluice, &upstream, &key, &secret).await;
        }
        sluice.done("secrets rotate-master-key").await;
        let verified = sluice.cli(&["audit", "verify"]).await;
        assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
        presents(&sluice, &upstream, &key, "sk-compilers-6").await;
    }
}

#[tokio::test]
async fn a_key_is_tested_when_it_is_added_and_what_is_wrong_is_told() {
    let (sluice, upstream) = house(Config::default()).await;
    upstream.follow(models());
    upstream.follow_for("sk-wrong-0123456789", refusal("sk-wrong-0123456789"));
    let add = ["provider-keys", "add", "--provider", "lab", "--for", "team:compilers"];
    let refused = sluice.cli_given(&add, "sk-wrong-0123456789").await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("it answered 401"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("sk-wrong"), "{}", refused.stderr);
    let accepted = sluice.cli_given(&add, "sk-right-0123456789").await;
    assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
    let keys = sluice.json_lines(&["provider-keys", "list", "--json"]).await;
    let id = keys[0]["id"].as_str().unwrap();
    sluice.done(&format!("provider-keys test {id}")).await;
    for (line, input, says) in [
        (
            "add --provider lab --for team:compilers",
            "sk-again-0123456789",
            "there is already a provider key",
        ),
        ("add --provider none --for account", "sk", "there is no provider \"none\""),
        ("add --provider lab --for key:ci", "sk", "there is no such key"),
        ("add --provider lab --for team:none", "sk", "there is no team \"none\""),
        ("add --provider lab --for account", "", "give the key on standard input"),
        ("add --provider lab --for account --no-test", "two words", "that is no provider key"),
        ("test pky_none", "", "there is no provider key \"pky_none\""),
        ("set pky_none", "", "name --fallback or --count-in-budgets"),
    ] {
        let words: Vec<&str> =
            ["provider-keys"].into_iter().chain(line.split_whitespace()).collect();
        let ran = sluice.cli_given(&words, input).await;
        assert!(ran.code != Some(0) && ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
}
