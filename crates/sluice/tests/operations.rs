//! A server in operation: it stops in order, takes over a changed configuration, and tells how it
//! is doing.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::net::{SocketAddr, TcpListener};
use std::process::Command;

use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Client, Config, Events, FakeUpstream, Gate, Script, Sluice, Step, answers, until,
};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn request(model: &str, stream: bool) -> Value {
    json!({
        "model": model,
        "messages": [{ "role": "user", "content": "Hello!" }],
        "stream": stream,
    })
}

fn config(upstream: &FakeUpstream) -> Config {
    Config::default().mock(upstream)
}

/// A provider that says "Hel", waits at the gate, and says the rest.
async fn gated() -> (FakeUpstream, Gate) {
    let gate = Gate::default();
    let script = Script::stream()
        .send(answers::opening(&["Hel"]))
        .then(Step::Wait(gate.clone()))
        .send(answers::event(&answers::text_chunk("lo")) + &answers::ending())
        .then(Step::Close);
    (FakeUpstream::start(script).await, gate)
}

/// A stream under way: its first piece has come.
async fn under_way(sluice: &Sluice) -> Events {
    let mut events = sluice.stream(sluice.key(), &request("mock", true)).await;
    assert_eq!(events.next_text().await, "Hel");
    events
}

async fn finishes(events: Events) {
    let said = events.rest().await;
    assert_eq!((said.text.as_str(), said.done, said.error), ("lo", true, None));
}

/// Waits until the server logs this.
async fn logs(sluice: &Sluice, what: &str, times: usize) {
    until(what, async || (sluice.stderr().matches(what).count() >= times).then_some(())).await;
}

#[tokio::test]
async fn a_stop_lets_answers_finish() {
    let (upstream, gate) = gated().await;
    let mut sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let events = under_way(&sluice).await;
    let request_id = events.request_id();
    sluice.signal("TERM");
    until("/readyz to say no", async || {
        // A connection that had just been opened when the signal came may be closed unused.
        let reply = sluice.client().attempt(Ask::get("/readyz")).await.ok()?;
        (reply.status == 503).then_some(())
    })
    .await;
    let alive = sluice.client().reply(Ask::get("/livez")).await;
    assert_eq!(alive.status, 200);
    gate.open();
    finishes(events).await;
    assert_eq!(sluice.ended().await.code(), Some(0), "{}", sluice.stderr());
    assert_eq!(sluice.usage_of(&request_id).await[0]["outcome"], "completed");
}

#[tokio::test]
async fn a_stop_waits_no_longer_than_configured() {
    let (upstream, _never_opened) = gated().await;
    let config = config(&upstream).server("drain_seconds = 1");
    let mut sluice = Sluice::start(BINARY, &config).await;
    let events = under_way(&sluice).await;
    let request_id = events.request_id();
    assert_eq!(sluice.stop().await.code(), Some(0));
    let said = events.rest().await;
    assert!(!said.done, "a cut answer must not look finished");
    let error = said.error.unwrap();
    assert_eq!(
        (&error["type"], &error["code"]),
        (&"api_error".into(), &"no_model_available".into())
    );
    assert!(error["message"].as_str().unwrap().contains("shutting down"), "{error}");
    assert!(!said.cut, "the stream ends in order");
    let usage = sluice.usage_of(&request_id).await;
    assert_eq!(usage.len(), 1, "what was cut is recorded, too: {}", sluice.stderr());
    assert_eq!(usage[0]["outcome"], "cancelled");
    assert!(usage[0]["total_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let (upstream, _never_opened) = gated().await;
        let config = config(&upstream).server("drain_seconds = 600");
        let mut sluice = Sluice::start(BINARY, &config).await;
        let events = under_way(&sluice).await;
        let request_id = events.request_id();
        sluice.signal("TERM");
        logs(&sluice, "answers under way may finish", 1).await;
        sluice.signal(signal);
        assert_eq!(sluice.ended().await.code(), Some(code), "{}", sluice.stderr());
        let said = events.rest().await;
        assert!(!said.done && said.error.is_some(), "{said:?}");
        assert_eq!(sluice.usage_of(&request_id).await[0]["outcome"], "cancelled");
    }
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_a_stop() {
    let (upstream, _gate) = gated().await;
    let mut sluice = Sluice::start(BINARY, &config(&upstream).server("drain_seconds = 600")).await;
    let idle = std::net::TcpStream::connect(sluice.address()).unwrap();
    sluice.get("/api/v1/models", sluice.key()).await;
    assert_eq!(sluice.stop().await.code(), Some(0));
    drop(idle);
}

#[tokio::test]
async fn a_changed_configuration_is_taken_over_while_answers_run() {
    let (upstream, gate) = gated().await;
    let first = config(&upstream);
    let sluice = Sluice::start(BINARY, &first).await;
    let events = under_way(&sluice).await;
    let serves = async |model: &str| {
        let list = sluice.get("/api/v1/models", sluice.key()).await.json();
        list["data"].as_array().unwrap().iter().any(|entry| entry["id"] == model)
    };
    assert!(!serves("added").await);

    sluice.reconfigure(&first.clone().model("added", "\"lab\""));
    until("the new model", async || serves("added").await.then_some(())).await;

    let broken = first.clone().model("broken", "\"nobody\"").with("[nonsense]\nx = 1");
    sluice.reconfigure(&broken);
    logs(&sluice, "is not taken over", 1).await;
    assert!(sluice.stderr().contains("nonsense"), "{}", sluice.stderr());
    assert!(sluice.stderr().contains("nobody"), "{}", sluice.stderr());
    assert!(serves("added").await && serves("mock").await && !serves("broken").await);

    sluice.reconfigure(&first);
    until("the model to go", async || (!serves("added").await).then_some(())).await;
    gate.open();
    finishes(events).await;
}

#[tokio::test]
async fn a_hang_up_signal_reads_the_configuration_again() {
    let (upstream, gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let events = under_way(&sluice).await;
    // The file is the same: nothing but the signal makes it be read.
    sluice.signal("HUP");
    logs(&sluice, "configuration is taken over", 1).await;
    gate.open();
    finishes(events).await;
}

#[tokio::test]
async fn a_file_that_lost_a_section_is_refused_until_it_is_accepted() {
    let (upstream, _gate) = gated().await;
    let whole = config(&upstream).with("[security]\nminimum_level = \"high\"");
    let level = async |sluice: &Sluice| {
        let reply = sluice.chat(sluice.key(), &request("demo/echo", false)).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()["security"]["level"].as_str().map(str::to_owned)
    };
    // The simulator answers at once.
    let simulated = "[[providers]]\nid = \"simulator\"\nkind = \"simulator\"";
    let whole = whole.with(simulated);
    let without = config(&upstream).with(simulated);
    for accept in [true, false] {
        let sluice = Sluice::start(BINARY, &whole).await;
        assert_eq!(level(&sluice).await.as_deref(), Some("high"));
        // An empty file, and then one without [security]: both stay refused.
        std::fs::write(sluice.config_file(), "").unwrap();
        logs(&sluice, "it has lost", 1).await;
        sluice.reconfigure(&without);
        logs(&sluice, "it has lost [security]", 1).await;
        assert!(sluice.stderr().contains("sluice check --accept"), "{}", sluice.stderr());
        assert_eq!(level(&sluice).await.as_deref(), Some("high"));
        if accept {
            let accepted = sluice.cli(&["check", "--accept"]).await;
            assert_eq!(accepted.code, Some(0), "{}", accepted.stderr);
        } else {
            sluice.signal("HUP");
        }
        logs(&sluice, "configuration is taken over", 1).await;
        assert_eq!(level(&sluice).await.as_deref(), Some("standard"));
    }
}

#[tokio::test]
async fn the_address_and_the_file_can_be_named_from_outside() {
    let (upstream, _gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let ran = |arguments: &[&str]| {
        Command::new(BINARY)
            .args(arguments)
            .current_dir("/")
            .env_clear()
            .env("SLUICE_CONFIG", sluice.config_file())
            .output()
            .unwrap()
    };
    let listed = String::from_utf8(ran(&["keys", "list"]).stdout).unwrap();
    assert!(listed.contains("first key"), "{listed}");

    // The port is taken by the first server: the message shows which address was tried.
    let folder = tempfile::tempdir().unwrap();
    let address = sluice.address().to_string();
    let second = Command::new(BINARY)
        .args(["serve", "--listen", &address])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on {address}")), "{said}");
    let wrong = Command::new(BINARY).args(["serve", "--listen", "here"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[tokio::test]
async fn commands_that_ask_no_provider_do_without_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sluice.toml");
    let text = "[server]\nmetrics_listen = \"\"\n[[providers]]\nid = \"lab\"\nkind = \"anthropic\"\n\
                api_key = \"${NO_SUCH_KEY}\"\n[[models]]\nid = \"m\"\nprovider = \"lab\"\n";
    std::fs::write(&file, text).unwrap();
    let run = |line: &str| {
        let mut command = Command::new(BINARY);
        command.args(line.split_whitespace()).arg("--config").arg(&file).env_clear();
        command.stdin(std::process::Stdio::null()).output().unwrap()
    };
    for line in [
        "keys create --name a --models m",
        "keys list",
        "accounts list",
        "usage list",
        "usage days",
        "audit list",
        "audit verify",
        "catalog list",
        "route cards",
        "connect openai-python --model m",
        "filter",
    ] {
        let ran = run(line);
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(0), "{line}: {said}");
    }
    for line in ["check", "serve"] {
        let ran = run(line);
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("NO_SUCH_KEY"), "{line}: {said}");
    }
}

#[tokio::test]
async fn a_data_folder_has_one_server() {
    let (upstream, _gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let second = sluice.cli(&["serve"]).await;
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    let process = sluice.process_id().to_string();
    assert!(second.stderr.contains(&process), "{}", second.stderr);
    assert!(second.stderr.contains("data"), "{}", second.stderr);
    assert_eq!(sluice.get("/api/v1/models", sluice.key()).await.status, 200);
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let (upstream, _gate) = gated().await;
    let sluice = Sluice::start(BINARY, &config(&upstream)).await;
    let folder = tempfile::tempdir().unwrap();
    let address = sluice.address();
    let file = folder.path().join("sluice.toml");
    std::fs::write(&file, format!("[server]\nlisten = \"{address}\"\nmetrics_listen = \"\"\n"))
        .unwrap();
    let ran = Command::new(BINARY).args(["serve", "--config"]).arg(&file).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains(&address.to_string()) && said.contains("server.listen"), "{said}");
}

#[tokio::test]
async fn a_check_names_every_problem_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sluice.toml");
    let text = "[server]\nlisten = \"nowhere\"\nlisen = 1\n[[models]]\nid = \"m\"\n\
                provider = \"missing\"\n[log]\nlevel = \"loud\"\n";
    std::fs::write(&file, text).unwrap();
    for command in ["check", "serve"] {
        let ran = Command::new(BINARY).args([command, "--config"]).arg(&file).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{said}");
        for problem in ["server.listen", "server.lisen", "missing", "log.level", "fix: "] {
            assert!(said.contains(problem), "{command} does not say {problem}: {said}");
        }
    }
    std::fs::write(&file, "").unwrap();
    let ran = Command::new(BINARY).args(["check", "--config"]).arg(&file).output().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    // A word that is none of the program's is wrong usage.
    let ran = Command::new(BINARY).arg("dance").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}

#[tokio::test]
async fn metrics_count_and_tell_nothing_else() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("canary-answer"))).await;
    let address = free_address();
    let sluice = Sluice::start(BINARY, &config(&upstream).metrics(address)).await;
    let mut body = request("mock", false);
    body["messages"][0]["content"] = "canary-prompt".into();
    assert_eq!(sluice.chat(sluice.key(), &body).await.status, 200);
    assert_eq!(sluice.chat("svc_ent_wrong", &body).await.status, 401);

    let metrics = Client::new(address);
    let reply = metrics.reply(Ask::get("/metrics")).await;
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").starts_with("application/openmetrics-text"));
    let text = reply.text();
    for line in [
        "sluice_requests_total{model=\"mock\",provider=\"lab\",outcome=\"completed\"} 1",
        "sluice_refused_requests_total{code=\"invalid_api_key\"} 1",
        "sluice_tokens_total{model=\"mock\",class=\"uncached_input\"} 19",
        "sluice_tokens_total{model=\"mock\",class=\"output\"} 10",
        "sluice_cost_usd_total{model=\"mock\"} 0.000059",
        "sluice_provider_attempts_total{provider=\"lab\",result=\"ok\"} 1",
        "sluice_request_duration_seconds_count{model=\"mock\"} 1",
        "sluice_requests_in_flight 0",
        "# EOF",
    ] {
        assert!(text.contains(line), "no {line} in\n{text}");
    }
    for secret in ["canary", "svc_ent_", "sk-lab"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    assert_eq!(metrics.reply(Ask::get("/other")).await.status, 404);
    // The API's own port has no metrics.
    assert_eq!(sluice.get("/metrics", sluice.key()).await.status, 404);
}

/// An address that was free a moment ago. Only the metrics need one: their port is told nowhere.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
