//! What a crash must not lose: usage records of answers that a client has, and limits' windows.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sluice_testkit::{Ask, Client, Config, FakeUpstream, Reply, Script, Sluice, answers, until};
use sluice_testpostgres::Database;
use tokio::task::JoinSet;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn request(stream: bool) -> Value {
    json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Hello!" }],
        "max_tokens": 10,
        "stream": stream,
    })
}

fn streamed() -> Script {
    Script::events(&(answers::opening(&["Hello", " there"]) + &answers::ending()))
}

async fn sluice(
    database: Option<&Database>,
    whole: &FakeUpstream,
    streaming: &FakeUpstream,
) -> Sluice {
    let config = match database {
        Some(database) => Config::default().database(&database.url()),
        None => Config::default(),
    };
    let config = config
        .provider("whole", &whole.base_url())
        .provider("streaming", &streaming.base_url())
        .model("mock", "\"whole\"")
        .model("mock-stream", "\"streaming\"");
    Sluice::start(BINARY, &config).await
}

/// Asks until the server is gone. Returns the requests whose answers came completely.
async fn ask_on(
    client: Client,
    key: String,
    stream: bool,
    answered: Arc<AtomicUsize>,
) -> Vec<String> {
    let mut complete = Vec::new();
    let mut body = request(stream);
    if stream {
        body["model"] = "mock-stream".into();
    }
    loop {
        let Ok(arriving) = client.send(Ask::chat(&body).key(&key)).await else { return complete };
        assert_eq!(arriving.status, 200);
        let request_id = arriving.header("x-request-id").to_owned();
        let whole = if stream {
            arriving.events().rest().await.done
        } else {
            arriving.whole().await.is_ok()
        };
        if !whole {
            return complete;
        }
        complete.push(request_id);
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_has_completely_is_recorded_once_after_a_kill_under_load() {
    let whole = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    let streaming = FakeUpstream::start(streamed()).await;
    for database in Database::none_and_one() {
        let mut sluice = sluice(database.as_ref(), &whole, &streaming).await;
        let mut complete = Vec::new();
        // Twice: the second crash finds a journal that the first one left.
        for round in 1..=2 {
            let answered = Arc::new(AtomicUsize::new(0));
            let mut clients = JoinSet::new();
            for number in 0..16 {
                let (client, key) = (sluice.client(), sluice.key().to_owned());
                clients.spawn(ask_on(client, key, number % 2 == 0, answered.clone()));
            }
            until("enough answers", async || {
                (answered.load(Ordering::Relaxed) >= 300).then_some(())
            })
            .await;
            sluice.kill().await;
            complete.extend(clients.join_all().await.into_iter().flatten());
            assert!(complete.len() >= 300 * round);
            sluice.start_again().await;
        }

        let mut times: HashMap<String, usize> = HashMap::new();
        for record in sluice.usage().await {
            let request_id = record["request_id"].as_str().unwrap();
            *times.entry(request_id.to_owned()).or_default() += 1;
        }
        let twice: Vec<_> = times.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "more than once: {twice:?}");
        let missing: Vec<_> = complete.iter().filter(|id| !times.contains_key(*id)).collect();
        assert!(missing.is_empty(), "{} of {} missing: {missing:?}", missing.len(), complete.len());
    }
}

/// How a server ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Orderly,
    Crash,
}

impl End {
    async fn of(self, sluice: &mut Sluice) {
        match self {
            Self::Orderly => assert!(sluice.stop().await.success()),
            Self::Crash => sluice.kill().await,
        }
        sluice.start_again().await;
    }
}

/// Two requests, a restart, and two more, all within one clock hour.
async fn around_a_restart(sluice: &mut Sluice, limit: &[&str], end: End) -> [Reply; 4] {
    loop {
        let key = sluice.create_key(limit).await;
        let first = sluice.chat(&key, &request(false)).await;
        let second = sluice.chat(&key, &request(false)).await;
        end.of(sluice).await;
        let third = sluice.chat(&key, &request(false)).await;
        let fourth = sluice.chat(&key, &request(false)).await;
        // A day ends with an hour.
        if first.header("x-ratelimit-reset") == fourth.header("x-ratelimit-reset") {
            return [first, second, third, fourth];
        }
    }
}

#[tokio::test]
async fn a_restart_forgets_no_window() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    for database in Database::none_and_one() {
        let mut sluice = sluice(database.as_ref(), &upstream, &upstream).await;
        for end in [End::Orderly, End::Crash] {
            println!("{end:?}");
            let limit = ["--requests-per-hour", "3"];
            let replies = around_a_restart(&mut sluice, &limit, end).await;
            assert_eq!(replies.each_ref().map(|reply| reply.status.as_u16()), [200, 200, 200, 429]);
            let left = replies.each_ref().map(|reply| reply.header("x-ratelimit-remaining"));
            assert_eq!(left, ["2", "1", "0", "0"]);
            let refused = &replies[3];
            assert_eq!(refused.error().2, "rate_limit_exceeded");
            assert!(refused.text().contains("3 requests an hour"), "{}", refused.text());

            // Each answer uses 29 tokens; about 16 are reserved for a request.
            let limit = ["--tokens-per-day", "90"];
            let replies = around_a_restart(&mut sluice, &limit, end).await;
            assert_eq!(replies.each_ref().map(|reply| reply.status.as_u16()), [200, 200, 200, 429]);
            let refused = &replies[3];
            assert_eq!(refused.error().2, "rate_limit_exceeded");
            assert!(refused.text().contains("90 tokens a day"), "{}", refused.text());
            // Past this day, not past this hour.
            let wait: u64 = refused.header("retry-after").parse().unwrap();
            assert!((1..=86_400).contains(&wait), "{wait}");
        }
    }
}

/// A model whose tokens cost a thousandth of a dollar each, and next to nothing to read.
const DEAR: &str = "[[models]]\nid = \"dear\"\nprovider = \"whole\"\n\
                    price = { input = \"0.001\", output = \"1000.00\" }\n";

/// Asks for answers of a tenth of a dollar until the server is gone, or the money is.
async fn spend_on(client: Client, key: String, answered: Arc<AtomicUsize>) {
    let mut body = request(false);
    body["model"] = "dear".into();
    body["max_tokens"] = 100.into();
    while let Ok(arriving) = client.send(Ask::chat(&body).key(&key)).await {
        match arriving.status.as_u16() {
            200 if arriving.whole().await.is_ok() => answered.fetch_add(1, Ordering::Relaxed),
            // What others hold comes back.
            429 => answered.load(Ordering::Relaxed),
            _ => return,
        };
    }
}

/// What the running server has counted of the only budget, in US dollars.
async fn counted(sluice: &Sluice) -> f64 {
    let token = sluice.get("/api/v1/auth/token", sluice.key()).await.json();
    let allowances = token["limits"]["allowances"].as_array().unwrap().clone();
    let budget = allowances.iter().find(|it| it["source"] == "budget").unwrap();
    budget["used"].as_f64().unwrap()
}

/// What records say that budgets count, in US dollars.
async fn recorded(sluice: &Sluice) -> f64 {
    let records = sluice.usage().await;
    let dollars = |it: &Value| it.as_f64().unwrap_or(0.0);
    records.iter().map(|it| dollars(&it["cost_usd"]) + dollars(&it["assumed"]["cost_usd"])).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hard_budget_holds_over_kills_under_load_and_is_what_the_records_say() {
    const LIMIT: f64 = 30.0;
    let mut answer = answers::completion("Hello there");
    answer["usage"] = json!({ "prompt_tokens": 1, "completion_tokens": 100, "total_tokens": 101 });
    let upstream = FakeUpstream::start(Script::json(&answer)).await;
    for database in Database::none_and_one() {
        let config = match &database {
            Some(database) => Config::default().database(&database.url()),
            None => Config::default(),
        };
        let config = config.provider("whole", &upstream.base_url()).with(DEAR);
        let mut sluice = Sluice::start(BINARY, &config).await;
        let line =
            format!("budgets set --for account --measure usd --window total --limit {LIMIT}");
        sluice.done(&line).await;
        until("the server to notice the budget", async || {
            let token = sluice.get("/api/v1/auth/token", sluice.key()).await;
            token.text().contains("\"budget\"").then_some(())
        })
        .await;
        let answered = Arc::new(AtomicUsize::new(0));
        for enough in [80, 160] {
            let mut clients = JoinSet::new();
            for _ in 0..16 {
                let (client, key) = (sluice.client(), sluice.key().to_owned());
                clients.spawn(spend_on(client, key, answered.clone()));
            }
            until("enough answers", async || {
                (answered.load(Ordering::Relaxed) >= enough).then_some(())
            })
            .await;
            sluice.kill().await;
            clients.join_all().await;
            sluice.start_again().await;
            let (counted, recorded) = (counted(&sluice).await, recorded(&sluice).await);
            assert!((counted - recorded).abs() < 1e-6, "{counted} is counted, {recorded} recorded");
            assert!(recorded <= LIMIT, "{recorded}");
            // Whoever has an answer has paid for it.
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let had = answered.load(Ordering::Relaxed) as f64;
            assert!(recorded >= had / 10.0 - 1e-6, "{recorded} for {had} answers");
        }
        // The rest of it, and not more.
        let mut body = request(false);
        body["model"] = "dear".into();
        body["max_tokens"] = 100.into();
        while sluice.chat(sluice.key(), &body).await.status == 200 {}
        let (counted, recorded) = (counted(&sluice).await, recorded(&sluice).await);
        assert!((counted - recorded).abs() < 1e-6, "{counted} is counted, {recorded} recorded");
        assert!(recorded <= LIMIT && recorded > LIMIT - 0.2, "{recorded}");
    }
}
