//! Providers and models that people put in beside a running server, on both databases.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::Path;

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");
const FIRST: &str = "sk-first-0123456789abcdef";
const SECOND: &str = "sk-second-0123456789abcdef";

async fn started(database: Option<&Database>) -> (Sluice, FakeUpstream) {
    let config = Config::default();
    let config = database.map_or(config.clone(), |database| config.database(&database.url()));
    Sluice::with_mock(BINARY, config).await
}

async fn given(sluice: &Sluice, line: &str, input: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let run = sluice.cli_given(&words, input).await;
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    run.stdout
}

/// Asks `model` until the answer has this status.
async fn answers(sluice: &Sluice, model: &str, status: u16) -> String {
    let request = json!({ "model": model, "messages": [{ "role": "user", "content": "Hi" }] });
    until("the running server to notice", async || {
        let reply = sluice.chat(sluice.key(), &request).await;
        (reply.status == status).then(|| reply.text().to_owned())
    })
    .await
}

fn holds(folder: &Path, secret: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|item| {
        let path = item.unwrap().path();
        if path.is_dir() {
            return holds(&path, secret);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(secret.len()).any(|it| it == secret.as_bytes())
    })
}

#[tokio::test]
async fn a_provider_and_its_models_come_change_and_go_while_it_serves() {
    for database in Database::none_and_one() {
        let (sluice, lab) = started(database.as_ref()).await;
        let hello = Script::json(&answers::completion("Hello"));
        let other = FakeUpstream::start(hello.clone()).await;
        let url = other.base_url();
        let add = format!("providers add mine --kind openai --base-url {url} --region eu-west");
        given(&sluice, &add, &format!("{FIRST}\n")).await;
        given(&sluice, "models add fresh --provider mine --price input=1,output=4", "").await;
        assert!(answers(&sluice, "fresh", 200).await.contains("Hello"));
        assert_eq!(other.last().header("authorization"), format!("Bearer {FIRST}"));
        assert!(lab.seen().is_empty());
        // It is listed with a date, may stand in a key, and what it costs is recorded.
        let list = sluice.get("/api/v1/models", sluice.key()).await;
        let list: Value = serde_json::from_str(list.text()).unwrap();
        let listed = list["data"].as_array().unwrap().iter().find(|it| it["id"] == "fresh");
        assert!(listed.unwrap()["created"].as_u64().unwrap() > 1_700_000_000, "{list}");
        given(&sluice, "keys create --name one --models fresh", "").await;

        // Another credential is in force within moments.
        given(&sluice, "providers set mine --key-stdin", SECOND).await;
        let second = format!("Bearer {SECOND}");
        until("the other credential", async || {
            answers(&sluice, "fresh", 200).await;
            (other.last().header("authorization") == second).then_some(())
        })
        .await;

        // One cheap call says whether it can be reached.
        let models = json!({ "data": [{ "id": "b" }, { "id": "a" }] });
        other.follow(Script::json(&models));
        let tested = given(&sluice, "providers test mine --json", "").await;
        let tested: Value = serde_json::from_str(&tested).unwrap();
        assert_eq!((&tested["ok"], &tested["models"]), (&json!(true), &json!(["a", "b"])));
        assert_eq!(other.last().path, "/v1/models");
        let refusal = json!({ "error": { "message": format!("no such key {SECOND}, sorry") } });
        let headers = ["content-type: application/json"];
        other.follow(Script::answer("401 Unauthorized", &headers, &refusal.to_string()));
        let failed = sluice.cli(&["providers", "test", "mine"]).await;
        assert_eq!(failed.code, Some(1));
        assert!(failed.stderr.contains("401: no such key ***"), "{}", failed.stderr);
        assert!(failed.stderr.contains("give it a credential"), "{}", failed.stderr);
        other.follow(hello.clone());

        // A model is asked itself, by its name there.
        let tested = given(&sluice, "models test fresh --json", "").await;
        let tested: Value = serde_json::from_str(&tested).unwrap();
        assert_eq!((&tested["ok"], &tested["provider"]), (&json!(true), &json!("mine")));
        assert_eq!(other.last().path, "/v1/chat/completions");
        let unknown = sluice.cli(&["models", "test", "nothing"]).await;
        assert!(unknown.code == Some(1) && unknown.stderr.contains("is not served"));
        let gone = json!({ "error": { "message": "no such model" } });
        other.follow(Script::answer("404 Not Found", &headers, &gone.to_string()));
        let failed = sluice.cli(&["models", "test", "fresh"]).await;
        assert_eq!(failed.code, Some(1));
        assert!(failed.stderr.contains("upstream_model"), "{}", failed.stderr);
        other.follow(hello.clone());

        // What the file has is read-only, and an address holds no credential.
        for (line, what) in [
            ("providers remove lab", "held by the configuration file"),
            ("providers set lab --region us-west", "held by the configuration file"),
            ("providers add lab --kind openai --no-key", "held by the configuration file"),
            ("models add mock --provider mine", "held by the configuration file"),
            ("models set mock --owned-by me", "held by the configuration file"),
            ("models add more --provider nobody", "`sluice providers list`"),
            ("providers add x --kind opnai --no-key", "did you mean \"openai\"?"),
            ("providers add x --kind openai --no-key --base-url https://u:p@h/v1", "user name"),
            ("providers set mine --base-url http://127.0.0.1:1/v1", "give its credential"),
            ("providers remove mine", "--with-models"),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let run = sluice.cli(&words).await;
            assert_ne!(run.code, Some(0), "{line}");
            assert!(run.stderr.contains(what), "{line}: {}", run.stderr);
        }
        given(&sluice, "models add second --provider lab --upstream-model mock", "").await;
        answers(&sluice, "second", 200).await;
        let providers = sluice.json_lines(&["providers", "list", "--json"]).await;
        let seen: Vec<_> = providers.iter().map(|it| (&it["name"], &it["origin"])).collect();
        let (lab_name, mine) = (json!("lab"), json!("mine"));
        assert_eq!(seen, [(&lab_name, &json!("file")), (&mine, &json!("database"))]);

        // A copy of everything has it, too, and a restart changes nothing.
        let backup = sluice.data_dir().with_file_name("backup.tar.gz");
        given(&sluice, &format!("backup {}", backup.display()), "").await;
        given(&sluice, "providers remove mine --with-models", "").await;
        answers(&sluice, "fresh", 404).await;
        answers(&sluice, "second", 200).await;

        let trail =
            sluice.json_lines(&["audit", "list", "--json", "--kind", "administration"]).await;
        let verbs: Vec<&str> = trail.iter().filter_map(|it| it["verb"].as_str()).collect();
        for verb in ["providers.create", "providers.change", "providers.remove", "models.remove"] {
            assert!(verbs.contains(&verb), "{verbs:?}");
        }
        assert_eq!(sluice.cli(&["audit", "verify"]).await.code, Some(0));
        let said = format!("{}{}{trail:?}{providers:?}", sluice.stdout(), sluice.stderr());
        for secret in [FIRST, SECOND] {
            assert!(!said.contains(secret));
            assert!(!holds(sluice.data_dir().parent().unwrap(), secret));
        }
    }
}

/// What no longer fits never stops a start: it is left out, and the log says so.
#[tokio::test]
async fn a_name_that_the_file_takes_is_left_out_at_the_next_start() {
    let (mut sluice, lab) = started(None).await;
    let url = lab.base_url();
    let add = format!("providers add mine --kind openai --base-url {url}");
    given(&sluice, &add, FIRST).await;
    given(&sluice, "models add fresh --provider mine", "").await;
    answers(&sluice, "fresh", 200).await;
    sluice.kill().await;
    let config = Config::default().mock(&lab).provider("mine", &url).model("other", "\"mine\"");
    sluice.reconfigure(&config);
    sluice.start_again().await;
    until("the log", async || {
        sluice.stderr().contains("a provider of the database is not served").then_some(())
    })
    .await;
    // Its model runs at the provider of the file that has the name now.
    answers(&sluice, "fresh", 200).await;
    assert_eq!(lab.last().header("authorization"), "Bearer sk-mine");
    let list = given(&sluice, "providers list", "").await;
    assert!(list.contains("not served: the configuration file has a provider"), "{list}");
}
