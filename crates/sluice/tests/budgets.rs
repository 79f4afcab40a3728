//! Budgets of a running server: what they refuse, what they leave, and that nothing is lost of them.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_core::clock::{Clock, SystemClock};
use sluice_storage::{Journal, JournalEntry, MasterKey, UsageRecord};
use sluice_testkit::{Ask, Config, FakeUpstream, Reply, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// A model whose tokens cost a thousandth of a dollar each, and next to nothing to read.
const DEAR: &str = "[[models]]\nid = \"dear\"\nprovider = \"lab\"\n\
                    price = { input = \"0.001\", output = \"1000.00\" }\n";
/// What an answer of the provider counts: a tenth of a dollar.
const TOKENS: u64 = 100;

fn on(database: Option<&Database>) -> Config {
    let config = Config::default();
    database.map_or(config.clone(), |database| config.database(&database.url()))
}

fn usage() -> Value {
    json!({ "prompt_tokens": 1, "completion_tokens": TOKENS, "total_tokens": TOKENS + 1 })
}

fn whole() -> Script {
    let mut answer = answers::completion("Hello there");
    answer["usage"] = usage();
    Script::json(&answer)
}

fn streamed() -> Script {
    let mut counted = answers::usage_chunk();
    counted["usage"] = usage();
    let stop = answers::chunk(json!({}), Some("stop"));
    Script::events(
        &(answers::opening(&["Hello", " there"])
            + &answers::event(&stop)
            + &answers::event(&counted)
            + "data: [DONE]\n\n"),
    )
}

fn question(max_tokens: u64) -> Value {
    json!({
        "model": "dear",
        "max_tokens": max_tokens,
        "messages": [{ "role": "user", "content": "Hello!" }],
    })
}

async fn started(config: Config, script: Script) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(script).await;
    let config = config.provider("lab", &upstream.base_url()).with(DEAR);
    (Sluice::start(BINARY, &config).await, upstream)
}

/// What `sluice budgets list` says of the only budget.
async fn the_budget(sluice: &Sluice) -> Value {
    let mut all = sluice.json_lines(&["budgets", "list", "--json"]).await;
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Sets a budget and returns its id. The server has noticed when it counts among the key's limits.
async fn set(sluice: &Sluice, line: &str) -> String {
    let told = sluice.done(&format!("budgets set {line} --json")).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    let id = told["id"].as_str().unwrap().to_owned();
    until("the server to notice a budget", async || {
        let token = sluice.get("/api/v1/auth/token", sluice.key()).await;
        token.text().contains("\"budget\"").then_some(())
    })
    .await;
    id
}

async fn ask(sluice: &Sluice, max_tokens: u64) -> Reply {
    sluice.chat(sluice.key(), &question(max_tokens)).await
}

#[tokio::test]
async fn a_dollar_is_never_exceeded_by_200_streams_at_once_and_none_of_it_is_lost() {
    for database in Database::none_and_one() {
        let (sluice, upstream) = started(on(database.as_ref()), streamed()).await;
        set(&sluice, "--for account --measure usd --window total --limit 1").await;
        let mut body = question(200);
        body["stream"] = true.into();
        let streams = (0..200).map(|_| sluice.chat(sluice.key(), &body));
        let replies = futures_util::future::join_all(streams).await;
        assert!(replies.iter().all(|it| it.status == 200 || it.status == 429), "{replies:?}");
        let served = upstream.seen().len() as u64;
        assert!((1..=10).contains(&served), "{served} streams were served");

        // What nobody holds can be used to the end.
        upstream.follow(whole());
        let spent = until("what was reserved to come back", async || {
            let token = sluice.get("/api/v1/auth/token", sluice.key()).await.json();
            let limits = token["limits"]["allowances"].as_array().unwrap().clone();
            let budget = limits.iter().find(|it| it["source"] == "budget").unwrap().clone();
            (budget["reserved"] == 0 || budget["reserved"] == 0.0)
                .then(|| budget["used"].as_f64().unwrap())
        })
        .await;
        assert!(spent <= 1.0, "{spent}");
        loop {
            match ask(&sluice, 100).await.status.as_u16() {
                200 => {}
                429 => break,
                other => panic!("{other}"),
            }
        }
        let served = upstream.seen().len() as u64;
        assert!((9..=10).contains(&served), "{served} requests were served for a dollar");
        sluice.done("audit verify").await;
    }
}

/// A placeholder is longer than a short value, and providers bill it.
#[tokio::test]
async fn what_redaction_adds_to_a_prompt_is_reserved_too() {
    let upstream = FakeUpstream::start(whole()).await;
    let read = "[[models]]\nid = \"read\"\nprovider = \"lab\"\n\
                price = { input = \"100.00\", output = \"0.001\" }\n";
    let config = Config::default().provider("lab", &upstream.base_url()).with(read);
    let sluice = Sluice::start(BINARY, &config).await;
    set(&sluice, "--for account --measure usd --window total --limit 1.80").await;
    let asks = |text: String| {
        json!({
            "model": "read",
            "max_tokens": 10,
            "messages": [{ "role": "user", "content": text }],
        })
    };
    // 14 000 bytes and tokens at the most before it is redacted, and over 20 000 afterwards.
    let addresses: String = (100..1_100).map(|i| format!("{i}@b.co ")).collect();
    let refused = sluice.chat(sluice.key(), &asks(addresses)).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.text().contains("/budgets/"), "{}", refused.text());
    assert_eq!(upstream.seen().len(), 0, "nothing was sent");

    let plain = "word ".repeat(1_900);
    assert_eq!(sluice.chat(sluice.key(), &asks(plain)).await.status, 200, "as long, unredacted");
}

#[tokio::test]
async fn a_budget_begins_at_zero_refuses_what_is_too_much_and_is_kept_over_a_restart() {
    for database in Database::none_and_one() {
        let (mut sluice, _upstream) = started(on(database.as_ref()), whole()).await;
        // What was used before a budget does not count.
        assert_eq!(ask(&sluice, 100).await.status, 200);
        let id = set(&sluice, "--for account --measure usd --window month --limit 0.25").await;
        for _ in 0..2 {
            assert_eq!(ask(&sluice, 100).await.status, 200);
        }
        let refused = ask(&sluice, 100).await;
        let said = refused.text().to_owned();
        assert_eq!(refused.status, 429, "{said}");
        assert!(said.contains("this account has reached its limit of 0.25 US dollars a month"));
        assert!(said.contains(&format!("/budgets/{id}")) && said.contains("top-up"), "{said}");
        assert!(!refused.header("retry-after").is_empty());

        sluice.kill().await;
        sluice.start_again().await;
        assert_eq!(ask(&sluice, 100).await.status, 429);
        let told = the_budget(&sluice).await;
        assert_eq!(
            (told["used"].as_f64(), told["hard"].as_bool()),
            (Some(0.200_000_002), Some(true)),
            "{told}"
        );

        // Another tenth of a dollar.
        sluice.done(&format!("budgets top-up {id} --amount 0.1")).await;
        until("the top-up to hold", async || (ask(&sluice, 100).await.status == 200).then_some(()))
            .await;
        assert_eq!(ask(&sluice, 100).await.status, 429);
        sluice.done(&format!("budgets remove {id}")).await;
        until("the budget to be gone", async || {
            (ask(&sluice, 100).await.status == 200).then_some(())
        })
        .await;
        assert!(sluice.json_lines(&["budgets", "list", "--json"]).await.is_empty());
        let trail = sluice.done("audit list --json").await;
        for verb in ["budgets.set", "budgets.top-up", "budgets.remove"] {
            assert!(trail.contains(verb), "{verb} left no entry");
        }
    }
}

#[tokio::test]
async fn the_bound_of_an_answer_is_lowered_to_what_is_left() {
    let (sluice, upstream) = started(Config::default(), whole()).await;
    set(&sluice, "--for account --measure usd --window day --limit 0.5").await;
    let answered = ask(&sluice, 4_000).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    let lowered: u64 = answered.header("svc-max-tokens-lowered").parse().unwrap();
    assert!((256..500).contains(&lowered), "{lowered}");
    assert_eq!(upstream.last().body["max_tokens"].as_u64(), Some(lowered));
    let records = sluice.usage_of(&answered.request_id()).await;
    assert_eq!(records[0]["max_tokens_lowered"].as_u64(), Some(lowered), "{records:?}");
    // Small answers are asked for as they are.
    assert_eq!(ask(&sluice, 100).await.header("svc-max-tokens-lowered"), "");
}

#[tokio::test]
async fn money_that_cannot_be_counted_is_not_spent_and_what_is_free_goes_on() {
    let upstream = FakeUpstream::start(whole()).await;
    let config = Config::default()
        .provider("lab", &upstream.base_url())
        .with("[[models]]\nid = \"dear\"\nprovider = \"lab\"\n")
        .with("[[models]]\nid = \"free\"\nprovider = \"lab\"\nprice = { input = \"0\", output = \"0\" }\n");
    let sluice = Sluice::start(BINARY, &config).await;
    assert_eq!(ask(&sluice, 100).await.status, 200);
    let id = set(&sluice, "--for account --measure usd --limit 0.000001").await;
    let refused = ask(&sluice, 100).await;
    let (status, kind, code) = refused.error();
    assert_eq!((status, kind.as_str()), (403, "permission_error"), "{code}");
    assert!(refused.text().contains("has no known price"), "{}", refused.text());
    let mut free = question(100);
    free["model"] = "free".into();
    assert_eq!(sluice.chat(sluice.key(), &free).await.status, 200);
    // Nothing at all.
    sluice.done(&format!("budgets remove {id}")).await;
    set(&sluice, "--for account --measure usd --limit 0").await;
    until("a budget of 0 to block", async || {
        (sluice.chat(sluice.key(), &free).await.status == 429).then_some(())
    })
    .await;
}

#[tokio::test]
async fn budgets_are_of_teams_people_and_keys_and_the_tightest_answers() {
    let (sluice, _upstream) = Sluice::with_mock(BINARY, Config::default()).await;
    for line in [
        "departments create engineering",
        "teams create compilers --department engineering",
        "people create ada@example.org --team compilers",
    ] {
        sluice.done(line).await;
    }
    let create = ["--team", "compilers", "--owner", "person:ada@example.org"];
    let key = sluice.create_key(&create).await;
    for (whose, name) in [
        ("department:engineering", "this key's department"),
        ("team:compilers", "this key's team"),
        ("person:ada@example.org", "this key's person"),
        ("key:test", "this key"),
    ] {
        let line =
            format!("budgets set --for {whose} --measure requests --window day --limit 1 --json");
        let told: Value = serde_json::from_str(&sluice.done(&line).await).unwrap();
        let said = sluice.answers_with(&key, 429).await;
        assert!(
            said.contains(&format!("{name} has reached its limit of 1 requests a day")),
            "{said}"
        );
        sluice.done(&format!("budgets remove {}", told["id"].as_str().unwrap())).await;
        sluice.answers_with(&key, 200).await;
    }
    // A soft one is noted, and refuses nobody.
    sluice
        .done("budgets set --for team:compilers --measure requests --window day --limit 0 --soft")
        .await;
    let dry =
        sluice.done("budgets set --for team:compilers --measure tokens --limit 5 --dry-run").await;
    assert!(dry.contains("Nothing was set"), "{dry}");
    let told = the_budget(&sluice).await;
    assert_eq!((told["hard"].as_bool(), told["limit"].as_u64()), (Some(false), Some(0)));
    sluice.answers_with(&key, 200).await;
    for (line, says) in [
        ("budgets set --for nobody --measure usd --limit 5", "names nobody"),
        ("budgets set --for team:none --measure usd --limit 5", "there is no team \"none\""),
        (
            "budgets set --for account --measure usd --limit five",
            "an amount of US dollars is a number",
        ),
        ("budgets set --for account --measure usd --limit 5 --zone Mars/Base", "is no time zone"),
        (
            "budgets set --for account --measure concurrency --window day --limit 5",
            "have no window",
        ),
        ("budgets show bud_none", "there is no budget"),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = sluice.cli(&words).await;
        assert!(ran.code != Some(0) && ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
}

/// A request of the session that a client names in a way of its own.
async fn ask_in(sluice: &Sluice, session: &str, body: &Value) -> Reply {
    let ask = Ask::chat(body).key(sluice.key()).header("x-session-id", session);
    sluice.client().reply(ask).await
}

#[tokio::test]
async fn each_session_has_a_budget_to_itself_and_goes_on_after_a_kill() {
    for database in Database::none_and_one() {
        let (mut sluice, _upstream) = started(on(database.as_ref()), whole()).await;
        // Nobody needs to know sessions where no budget does.
        let before = ask_in(&sluice, "one", &question(100)).await;
        let id = set(&sluice, "--for account --each-session --measure usd --limit 0.25").await;
        let mut silent = question(100);
        silent["zero_retention"] = true.into();
        // What leaves no record counts all the same.
        for body in [question(100), silent.clone()] {
            assert_eq!(ask_in(&sluice, "one", &body).await.status, 200);
        }
        let refused = ask_in(&sluice, "one", &question(100)).await;
        let said = refused.text().to_owned();
        assert_eq!(refused.status, 429, "{said}");
        assert!(
            said.contains(
                "this session of this account has reached its limit of 0.25 US dollars a session"
            ),
            "{said}"
        );
        assert!(said.contains("begin another session") && said.contains(&id), "{said}");
        assert!(said.contains(&format!("/budgets/{id}")), "{said}");
        for _ in 0..2 {
            assert_eq!(ask_in(&sluice, "two", &question(100)).await.status, 200);
        }
        assert_eq!(ask_in(&sluice, "two", &question(100)).await.status, 429);
        // Without a name, a conversation is known by how it begins.
        assert_eq!(ask(&sluice, 100).await.status, 200);

        sluice.kill().await;
        sluice.start_again().await;
        assert_eq!(ask_in(&sluice, "two", &question(100)).await.status, 429);
        assert_eq!(ask_in(&sluice, "three", &question(100)).await.status, 200);
        // A request under zero retention was held in memory only.
        assert_eq!(ask_in(&sluice, "one", &question(100)).await.status, 200);
        assert_eq!(ask_in(&sluice, "one", &question(100)).await.status, 429);

        let told = the_budget(&sluice).await;
        assert_eq!((told["each_session"].as_bool(), told["used"].as_u64()), (Some(true), None));
        let shown = sluice.done("budgets list").await;
        assert!(shown.contains("0.25 US dollars a session"), "{shown}");
        let records = sluice.usage().await;
        let of = |request: &Reply| {
            let id = request.request_id();
            records.iter().find(|it| it["request_id"] == id.as_str()).cloned().unwrap()
        };
        assert_eq!(of(&before)["session"], Value::Null);
        let sessions: std::collections::BTreeSet<&str> =
            records.iter().filter_map(|it| it["session"].as_str()).collect();
        assert_eq!(sessions.len(), 4, "{records:?}");
        assert!(sessions.iter().all(|it| it.len() == 16), "{sessions:?}");
        let trail = sluice.done("audit list --json").await;
        assert!(trail.contains("\"each_session\":true"), "{trail}");
    }
}

#[tokio::test]
async fn a_budget_of_each_session_has_no_other_window_and_is_not_tried_on_yesterday() {
    let (sluice, _upstream) = Sluice::with_mock(BINARY, Config::default()).await;
    for (line, says) in [
        ("--window day", "`window` is day, but a budget of each session lasts as long"),
        ("--dry-run", "cannot be tried on yesterday"),
    ] {
        let line =
            format!("budgets set --for account --each-session --measure usd --limit 5 {line}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = sluice.cli(&words).await;
        assert!(ran.code != Some(0) && ran.stderr.contains(says), "{}", ran.stderr);
    }
    // It stands beside one of all sessions together.
    sluice.done("budgets set --for account --measure concurrency --limit 9").await;
    sluice.done("budgets set --for account --measure concurrency --limit 1 --each-session").await;
    assert_eq!(sluice.json_lines(&["budgets", "list", "--json"]).await.len(), 2);
}

#[tokio::test]
async fn a_fallback_price_counts_where_none_is_known() {
    for database in Database::none_and_one() {
        let upstream = FakeUpstream::start(whole()).await;
        let config = on(database.as_ref())
            .provider("lab", &upstream.base_url())
            .with("[[models]]\nid = \"dear\"\nprovider = \"lab\"\n")
            .with("[limits]\nfallback_price = { input = \"0.001\", output = \"1000.00\" }\n");
        let mut sluice = Sluice::start(BINARY, &config).await;
        set(&sluice, "--for account --measure usd --window total --limit 0.25").await;
        let answered = ask(&sluice, 100).await;
        assert_eq!(answered.status, 200, "{}", answered.text());
        // What it cost is not known, and what limits count is.
        let record = &sluice.usage_of(&answered.request_id()).await[0];
        assert_eq!(record["cost_usd"], Value::Null);
        assert_eq!(record["assumed"]["cost_usd"].as_f64(), Some(0.100_000_001), "{record}");
        sluice.kill().await;
        sluice.start_again().await;
        assert_eq!(ask(&sluice, 100).await.status, 200);
        assert_eq!(ask(&sluice, 100).await.status, 429);
    }
}

/// Five requests at noon of a day, of ten tokens each.
fn requests_of(day: u64, key: &Value) -> Vec<JournalEntry> {
    const DAY: u64 = 86_400_000;
    let record = |number: u64| -> UsageRecord {
        serde_json::from_value(json!({
            "request_id": format!("req_{day}_{number}"),
            "key_id": key["id"],
            "account_id": key["account_id"],
            "started_at": day * DAY + DAY / 2 + number,
            "model_asked": "mock",
            "level": "standard",
            "stream": false,
            "usage": {
                "uncached_input": 7, "cache_read": 0, "cache_write": 0, "output": 3, "reasoning": 0
            },
            "usage_source": "measured",
            "duration_ms": 1_000,
            "outcome": "completed",
            "attempts": 1,
        }))
        .unwrap()
    };
    (0..5).map(|number| JournalEntry::Usage(Box::new(record(number)))).collect()
}

#[tokio::test]
async fn a_dry_run_says_how_many_of_yesterdays_requests_would_have_been_refused() {
    for database in Database::none_and_one() {
        let (mut sluice, _upstream) = started(on(database.as_ref()), whole()).await;
        let key = sluice.json_lines(&["keys", "list", "--json"]).await.remove(0);
        assert!(sluice.stop().await.success());
        let master = MasterKey::load_or_create(&sluice.data_dir()).unwrap();
        let journal = Journal::open(&sluice.data_dir(), &master).unwrap();
        // Today may be yesterday before this is over.
        let today = SystemClock.now().seconds() / 86_400;
        for day in [today - 1, today] {
            journal.append(&requests_of(day, &key)).unwrap();
        }
        drop(journal);
        sluice.start_again().await;
        for (limit, refused) in [
            ("--measure requests --window day --limit 3", 2),
            ("--measure requests --window day --limit 5", 0),
            ("--measure tokens --window hour --limit 25", 3),
            ("--measure concurrency --limit 1", 4),
            ("--measure requests --window day --limit 0", 5),
        ] {
            let line = format!("budgets set --for account {limit} --dry-run --json");
            let told: Value = serde_json::from_str(&sluice.done(&line).await).unwrap();
            let found = (told["requests"].as_u64(), told["would_refuse"].as_u64());
            assert_eq!(found, (Some(5), Some(refused)), "{limit}: {told}");
        }
        let dry = "budgets set --for account --measure requests --window day --limit 3 --dry-run";
        let said = sluice.done(dry).await;
        assert!(said.contains("would have refused 2 of 5 requests of yesterday"), "{said}");
        assert!(sluice.json_lines(&["budgets", "list", "--json"]).await.is_empty());
    }
}
