//! Routers of accounts, departments and teams: made, asked, changed and rolled back while the server runs.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Reply, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// A server with the models small, large and mock, and a router of the file over them.
async fn house(config: Config) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let config = config
        .mock(&upstream)
        .model("small", "\"lab\"")
        .model("large", "\"lab\"")
        .with("[[routers]]\nid = \"svc/house\"\nmembers = [\"small\", \"mock\"]\n");
    let sluice = Sluice::start(BINARY, &config).await;
    for line in [
        "departments create engineering",
        "teams create compilers --department engineering",
        "accounts create --name globex --tier highest",
    ] {
        sluice.done(line).await;
    }
    (sluice, upstream)
}

async fn ask(sluice: &Sluice, key: &str, model: &str) -> Reply {
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": "Hello!" }] });
    sluice.chat(key, &body).await
}

/// Asks `model` until `answering` answers.
async fn answers_as(sluice: &Sluice, key: &str, model: &str, answering: &str) -> Reply {
    until("another answering model", async || {
        let reply = ask(sluice, key, model).await;
        let is_it = reply.status == 200 && reply.json()["model"] == answering;
        is_it.then_some(reply)
    })
    .await
}

async fn listed(sluice: &Sluice, key: &str) -> Vec<String> {
    let models = sluice.get("/api/v1/models", key).await.json();
    let models = models["data"].as_array().unwrap().iter();
    models.map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

async fn refused(sluice: &Sluice, line: &str, what: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ran = sluice.cli(&words).await;
    assert_ne!(ran.code, Some(0), "{line}");
    assert!(ran.stderr.contains(what), "{line}: {}", ran.stderr);
}

#[tokio::test]
async fn a_router_is_made_changed_and_rolled_back_while_the_server_runs() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let (sluice, _upstream) = house(config).await;
        let compilers = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
        let globex = sluice.create_named_key("globex", &["--account", "globex"]).await;
        let plain = sluice.key().to_owned();
        assert_eq!(ask(&sluice, &plain, "svc/review").await.status, 404);

        sluice.done("routers create svc/review --account default --members small=9,large=1").await;
        sluice.done("routers set svc/review --members large=1").await;
        let reply = answers_as(&sluice, &compilers, "svc/review", "large").await;
        assert_eq!(reply.header("svc-router"), "svc/review");
        assert!(listed(&sluice, &plain).await.contains(&"svc/review".to_owned()));

        // A name belongs to its account: another one may have it, too.
        assert_eq!(ask(&sluice, &globex, "svc/review").await.status, 404);
        sluice
            .done("routers create svc/review --for account:globex --policy fastest --members mock")
            .await;
        answers_as(&sluice, &globex, "svc/review", "mock").await;
        answers_as(&sluice, &compilers, "svc/review", "large").await;
        refused(&sluice, "routers show svc/review", "several routers").await;

        // A team's is the team's alone.
        sluice.done("routers create svc/ours --for team:compilers --members small").await;
        answers_as(&sluice, &compilers, "svc/ours", "small").await;
        assert_eq!(ask(&sluice, &plain, "svc/ours").await.status, 404);
        assert!(!listed(&sluice, &plain).await.contains(&"svc/ours".to_owned()));

        // Back to the first version, which is a third one.
        let line = "routers rollback svc/review --account default --to 1";
        sluice.done(line).await;
        sluice.done("routers set svc/review --account default --members small=1").await;
        answers_as(&sluice, &plain, "svc/review", "small").await;
        let words = ["routers", "versions", "svc/review", "--account", "default", "--json"];
        let versions = sluice.json_lines(&words).await;
        let weights: Vec<String> =
            versions.iter().map(|it| it["settings"]["weights"].to_string()).collect();
        assert_eq!(weights, ["[1.0]", "[9.0,1.0]", "[1.0]", "[9.0,1.0]"]);

        // What is recorded keeps the name after it is gone.
        sluice.done("routers remove svc/review --account default").await;
        until("it is gone", async || {
            (ask(&sluice, &plain, "svc/review").await.status == 404).then_some(())
        })
        .await;
        let records = until("records", async || {
            let records = sluice.json_lines(&["usage", "list", "--json"]).await;
            records.iter().any(|it| it["model_asked"] == "svc/review").then_some(records)
        })
        .await;
        assert!(records.iter().all(|it| it["model_asked"] != "large"));
        let trail = sluice.done("audit list --kind administration --json").await;
        for verb in ["routers.create", "routers.change", "routers.remove"] {
            assert!(trail.contains(verb), "{verb}");
        }
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_what_to_do() {
    let (sluice, _upstream) = house(Config::default()).await;
    sluice.create_named_key("crm", &[]).await;
    for (line, what) in [
        ("review --members small", "call it \"svc/review\""),
        ("svc/a b --members small", "unexpected argument"),
        ("svc/auto --members small", "a name that all accounts have"),
        ("svc/house --members small", "a name that all accounts have"),
        ("svc/x --members smal", "did you mean \"small\"?"),
        ("svc/x --members small,small", "is in the list already"),
        ("svc/x --members small,svc/auto", "is a router itself"),
        ("svc/x --members small=1,large", "give each member a weight"),
        ("svc/x --members small=x", "is no number"),
        ("svc/x --members small=0", "set a number above 0"),
        ("svc/x --members small=nan", "set a number above 0"),
        ("svc/x --members small=2 --policy fastest", "set policy = \"weighted\""),
        ("svc/x --members small --policy weighted", "missing, but policy is \"weighted\""),
        ("svc/x --policy fastest", "name at least one model"),
        ("svc/x --members small --pins debugging=small", "use one of"),
        ("svc/x --members small --pins debug=large", "no member"),
        ("svc/x --members small --for team:nobody", "nobody"),
        ("svc/x --members small --for key:crm", "name an account, a department or a team"),
    ] {
        refused(&sluice, &format!("routers create {line} --account default"), what).await;
    }
    assert_eq!(sluice.done("routers list --json").await, "");
    sluice.done("routers create svc/x --members small,large --account default").await;
    refused(&sluice, "routers rollback svc/x", "nothing to go back to").await;
    refused(&sluice, "routers rollback svc/x --to 7", "its newest is 1").await;
    refused(&sluice, "routers set svc/x", "name a setting").await;
    refused(&sluice, "routers remove svc/house", "there is no router").await;
    refused(
        &sluice,
        "routers create svc/x --members small --account default",
        "router of this name",
    )
    .await;

    // Trying it sends nothing.
    sluice.done("routers set svc/x --members large").await;
    let words = ["routers", "try", "svc/x", "--prompt", "Sort it", "--version", "1,2", "--json"];
    let tried: Vec<Value> = sluice.json_lines(&words).await;
    let of = |which: usize| tried[which]["candidates"].as_array().unwrap().len();
    assert_eq!((tried.len(), of(0), of(1)), (2, 2, 1));
    assert_eq!(tried[1]["chosen"], "large");
    assert_eq!(sluice.usage().await.len(), 0);
}

/// Who makes a router chooses its members, and not what the lists further out allow.
#[tokio::test]
async fn a_router_opens_no_model_that_a_policy_keeps_from_it() {
    let (sluice, _upstream) = house(Config::default()).await;
    let compilers = sluice.create_named_key("compilers", &["--team", "compilers"]).await;
    for (owner, policy) in
        [("department:engineering", "account:default"), ("account:default", "deployment")]
    {
        let line = format!("routers create svc/review --for {owner} --members large=9,small=1");
        sluice.done(&line).await;
        answers_as(&sluice, &compilers, "svc/review", "large").await;
        let set = async |models: &str| {
            sluice.done(&format!("policy set --for {policy} --models {models}")).await;
        };
        set("svc/*").await;
        let refused = until("the policy to hold", async || {
            let reply = ask(&sluice, &compilers, "svc/review").await;
            (reply.status == 403).then(|| reply.text().to_owned())
        })
        .await;
        assert!(refused.contains("may use no member of router `svc/review`"), "{refused}");
        assert!(!listed(&sluice, &compilers).await.contains(&"svc/review".to_owned()));
        // A router of the file is the deployment's own word.
        assert_eq!(ask(&sluice, &compilers, "svc/house").await.status, 200);
        set("svc/*,small").await;
        answers_as(&sluice, &compilers, "svc/review", "small").await;
        for _ in 0..5 {
            assert_eq!(ask(&sluice, &compilers, "svc/review").await.json()["model"], "small");
        }
        assert_eq!(ask(&sluice, &compilers, "large").await.status, 403);
        sluice.done(&format!("policy remove --for {policy}")).await;
        sluice.done("routers remove svc/review").await;
        until("it is gone", async || {
            (ask(&sluice, &compilers, "svc/review").await.status == 404).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn the_name_of_a_router_is_known_to_those_who_can_ask_for_it_alone() {
    let (sluice, _upstream) = house(Config::default()).await;
    sluice.done("routers create svc/globex --for account:globex --members mock").await;
    sluice.done("routers create svc/ours --for team:compilers --members small").await;
    for line in [
        "keys create --name spy --account default --models svc/globex",
        "keys create --name spy --account default --models svc/ours",
        "policy set --for account:default --models svc/globex",
        "policy set --for deployment --models svc/ours",
    ] {
        refused(&sluice, line, "there is no model").await;
    }
    // What is left is what the router's members are, to whoever can ask for it.
    sluice.done("policy set --for account:default --models svc/ours,small").await;
    let arguments = ["--team", "compilers", "--models", "svc/ours"];
    let key = sluice.create_named_key("compilers", &arguments).await;
    answers_as(&sluice, &key, "svc/ours", "small").await;
    let told = sluice.done("policy explain --key compilers").await;
    assert!(!told.contains("refused"), "{told}");
    let refused = ask(&sluice, &key, "svc/globex").await;
    assert_eq!(refused.status, 404);
}

/// A member that is no longer there takes nothing else with it.
#[tokio::test]
async fn a_router_goes_on_without_a_member_that_is_gone() {
    let (sluice, _upstream) = house(Config::default()).await;
    sluice.done("models add extra --provider lab --upstream-model extra").await;
    sluice
        .done("routers create svc/x --account default --members extra=9,small=1 --policy weighted")
        .await;
    let key = sluice.key().to_owned();
    until("the router", async || (ask(&sluice, &key, "svc/x").await.status == 200).then_some(()))
        .await;
    sluice.done("models remove extra").await;
    answers_as(&sluice, &key, "svc/x", "small").await;
    for _ in 0..5 {
        assert_eq!(ask(&sluice, &key, "svc/x").await.json()["model"], "small");
    }
    let shown = sluice.done("routers show svc/x").await;
    assert!(shown.contains("goes on without \"extra\""), "{shown}");
}
