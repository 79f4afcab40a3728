//! Routers, through the binary: who is chosen, why, and what happens as providers change.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::time::Duration;

use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Config, Event, FakeUpstream, Reply, Script, Sluice, Step, answers, until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// Long enough that no busy machine makes the fast look slow.
const SLOW: Duration = Duration::from_millis(600);

fn fast() -> Script {
    Script::events(&(answers::opening(&["Hello", " there"]) + &answers::ending()))
}

fn slow() -> Script {
    Script::default().then(Step::Delay(SLOW)).and(fast())
}

fn broken() -> Script {
    Script::answer("500 Internal Server Error", &["content-type: application/json"], "{}")
}

/// Three providers with a model each, all alike, and two routers over them.
struct Lab {
    upstreams: [FakeUpstream; 3],
    sluice: Sluice,
}

const MODELS: [&str; 3] = ["a", "b", "c"];

impl Lab {
    async fn start(scripts: [Script; 3]) -> Self {
        let [a, b, c] = scripts;
        let upstreams = [
            FakeUpstream::start(a).await,
            FakeUpstream::start(b).await,
            FakeUpstream::start(c).await,
        ];
        let mut config = Config::default();
        for (name, upstream) in MODELS.iter().zip(&upstreams) {
            let provider = format!("at-{name}");
            config = config.provider(&provider, &upstream.base_url()).with(&format!(
                "[[models]]\nid = \"{name}\"\nprovider = \"{provider}\"\nquality = 0.8\n\
                 first_token_ms = 50\ntokens_per_second = 5_000\n\
                 price = {{ input = \"1.00\", cached_input = \"0.10\", output = \"4.00\" }}\n"
            ));
        }
        let config = config.with(
            "[[routers]]\nid = \"svc/quick\"\npolicy = \"fastest\"\nmembers = [\"a\", \"b\", \"c\"]\n\
             [[routers]]\nid = \"svc/split\"\npolicy = \"weighted\"\nmembers = [\"a\", \"b\"]\n\
             weights = [3, 1]\n\
             [[routers]]\nid = \"svc/mostly-a\"\npolicy = \"weighted\"\nmembers = [\"a\", \"b\"]\n\
             weights = [1_000_000_000, 1]\n",
        );
        Self { upstreams, sluice: Sluice::start(BINARY, &config).await }
    }

    /// A new conversation, whose first answer comes as a stream: the model that gives it.
    async fn begin(&self, number: usize) -> String {
        let mut request = request("svc/quick", &format!("Why is the sky blue? ({number})"));
        request["stream"] = true.into();
        let mut events = self.sluice.stream(self.sluice.key(), &request).await;
        let mut model = None;
        // To the end, so that the answer's speed is known.
        while let Some(event) = events.next().await {
            if let Event::Data(chunk) = event {
                model = chunk["model"].as_str().map(str::to_owned).or(model);
            }
        }
        model.unwrap()
    }

    /// New conversations until ten in a row have gone to the model `wanted`.
    async fn settles_on(&self, wanted: &[&str], numbers: &mut std::ops::RangeFrom<usize>) {
        let mut in_a_row = 0;
        let mut went = Vec::new();
        while in_a_row < 10 {
            let model = self.begin(numbers.next().unwrap()).await;
            in_a_row = if wanted.contains(&model.as_str()) { in_a_row + 1 } else { 0 };
            went.push(model);
            assert!(went.len() < 200, "traffic does not go to {wanted:?}: {went:?}");
        }
    }

    async fn ask(&self, router: &str, text: &str) -> Reply {
        self.sluice.chat(self.sluice.key(), &request(router, text)).await
    }
}

fn request(model: &str, text: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
}

#[tokio::test]
async fn traffic_follows_the_fastest_and_comes_back() {
    let lab = Lab::start([fast(), slow(), slow()]).await;
    let mut numbers = 0..;
    lab.settles_on(&["a"], &mut numbers).await;
    // What was fast becomes slow, and what was slow becomes fast.
    lab.upstreams[0].follow(slow());
    lab.upstreams[1].follow(fast());
    lab.upstreams[2].follow(fast());
    lab.settles_on(&["b", "c"], &mut numbers).await;
    lab.upstreams[0].follow(fast());
    lab.upstreams[1].follow(slow());
    lab.upstreams[2].follow(slow());
    lab.settles_on(&["a"], &mut numbers).await;
}

#[tokio::test]
async fn what_fails_is_left_and_tried_again() {
    let well = || Script::json(&answers::completion("Hello"));
    let lab = Lab::start([broken(), well(), well()]).await;
    // This split sends every conversation to the first, if it can answer.
    let mut asked = 0;
    let mut conversation = async || {
        asked += 1;
        let reply = lab.ask("svc/mostly-a", &format!("Conversation {asked}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
    };
    for _ in 0..3 {
        conversation().await;
    }
    assert_eq!(lab.upstreams[0].seen().len(), 3);
    // Three failures in a row: others are not sent there any more.
    conversation().await;
    assert_eq!(lab.upstreams[0].seen().len(), 3);
    lab.upstreams[0].follow(well());
    until("the provider that is well again to be asked", async || {
        conversation().await;
        (lab.upstreams[0].seen().len() > 3).then_some(())
    })
    .await;
    conversation().await;
    assert_eq!(lab.upstreams[0].seen().len(), 5);
}

#[tokio::test]
async fn an_answer_says_who_chose_and_why_and_so_does_its_record() {
    let lab = Lab::start([1, 2, 3].map(|_| Script::json(&answers::completion("Hello")))).await;
    let reply = lab.ask("svc/auto", "Write a SQL query that counts orders by month").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("svc-router"), "svc/auto");
    assert_eq!(reply.header("svc-task-type"), "code");
    let complexity: f64 = reply.header("svc-complexity").parse().unwrap();
    assert!((0.0..=1.0).contains(&complexity));
    let reason = reply.header("svc-route-reason").to_owned();
    assert!(["best", "near_tie"].contains(&reason.as_str()), "{reason}");
    let answered = reply.json()["model"].as_str().unwrap().to_owned();
    assert!(MODELS.contains(&answered.as_str()), "{answered}");

    let record = lab.sluice.usage().await.remove(0);
    assert_eq!(record["model_asked"], "svc/auto");
    assert_eq!(record["model"], json!(answered));
    assert_eq!(record["route"]["reason"], json!(reason));
    assert_eq!(record["route"]["candidates"].as_array().unwrap().len(), 3);
    assert_eq!(record["route"]["candidates"][0]["model"], json!(answered));

    // The next turn stays, whichever of the three it was.
    let reply = lab.ask("svc/auto", "Write a SQL query that counts orders by month").await;
    assert_eq!(reply.json()["model"], json!(answered));
    assert_eq!(reply.header("svc-route-reason"), "session");
    // A model that is asked by name is no router's choice.
    let reply = lab.ask("a", "Hello").await;
    assert_eq!(reply.header("svc-router"), "");
}

#[tokio::test]
async fn a_conversation_that_is_named_stays_together() {
    let lab = Lab::start([1, 2, 3].map(|_| Script::json(&answers::completion("Hello")))).await;
    let ask = async |text: &str| {
        let ask = Ask::chat(&request("svc/quick", text))
            .key(lab.sluice.key())
            .header("svc-session-id", "ticket 4711");
        lab.sluice.client().reply(ask).await.json()["model"].clone()
    };
    let first = ask("Explain what a B-tree is").await;
    for turn in 0..10 {
        assert_eq!(ask(&format!("And how does it split? {turn}")).await, first);
    }
}

#[tokio::test]
async fn nothing_of_the_choice_is_kept_under_zero_retention() {
    let lab = Lab::start([1, 2, 3].map(|_| Script::json(&answers::completion("Hello")))).await;
    let mut body = request("svc/auto", "Hello");
    body["zero_retention"] = true.into();
    let reply = lab.sluice.chat(lab.sluice.key(), &body).await;
    assert_eq!((reply.status.as_u16(), reply.header("svc-router")), (200, "svc/auto"));
    assert!(lab.sluice.usage().await.is_empty());
}

#[tokio::test]
async fn a_split_follows_its_weights_and_keeps_its_conversations() {
    let lab = Lab::start([1, 2, 3].map(|_| Script::json(&answers::completion("Hello")))).await;
    let mut to_a = 0;
    for number in 0..120 {
        let text = format!("Conversation {number}");
        let first = lab.ask("svc/split", &text).await;
        assert_eq!(first.header("svc-route-reason"), "weighted");
        let first = first.json()["model"].clone();
        assert_eq!(lab.ask("svc/split", &text).await.json()["model"], first);
        to_a += usize::from(first == "a");
    }
    // Three of four are 90; six standard deviations are 28.
    assert!((62..=118).contains(&to_a), "{to_a}");
    assert!(lab.upstreams[2].seen().is_empty());
}

#[tokio::test]
async fn routers_are_listed_and_those_without_anybody_say_why() {
    let lab = Lab::start([1, 2, 3].map(|_| broken())).await;
    let models = lab.sluice.get("/api/v1/models", lab.sluice.key()).await.json();
    let ids: Vec<&str> =
        models["data"].as_array().unwrap().iter().filter_map(|m| m["id"].as_str()).collect();
    for id in ["svc/auto", "svc/orbit", "svc/nebula", "svc/quick", "svc/split"] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    // After three failures each, nobody is left.
    let refused = until("a router without anybody", async || {
        let reply = lab.ask("svc/quick", "Hello").await;
        (reply.status == 503).then_some(reply)
    })
    .await;
    let error = refused.json()["error"].clone();
    let (code, message) = (&error["code"], error["message"].as_str().unwrap());
    assert_eq!(code, "no_model_available");
    for model in MODELS {
        assert!(
            message.contains(&format!("{model} at at-{model}: its last calls failed")),
            "{message}"
        );
    }
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
}
