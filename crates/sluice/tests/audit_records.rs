//! What stands beside the audit trail: redacted content, signed heads, exports, syslog.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::Path;

use serde_json::{Value, json};
use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers, until};
use sluice_testpostgres::Database;
use tokio::io::AsyncReadExt as _;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");
const MAIL: &str = "j.doe@busy-mill.org";

async fn sluice(config: Config) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello there"))).await;
    (Sluice::start(BINARY, &config.mock(&upstream)).await, upstream)
}

fn on(database: &Option<Database>) -> Config {
    let config = Config::default();
    database.as_ref().map_or(config.clone(), |it| config.database(&it.url()))
}

fn request(more: Value) -> Value {
    let text = format!("Write to {MAIL}.");
    let mut request = json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": text }],
        "audit_enabled": true,
    });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

/// Asks, and returns the id of the audit entry once it is in the trail.
async fn audited(sluice: &Sluice, more: Value) -> String {
    let reply = sluice.chat(sluice.key(), &request(more)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let id = match reply.text().starts_with('{') {
        true => reply.json()["security"]["audit_id"].as_str().unwrap().to_owned(),
        false => {
            let text = reply.text();
            let (_, rest) = text.split_once("\"audit_id\":\"").unwrap();
            rest.split('"').next().unwrap().to_owned()
        }
    };
    until("the audit entry", async || {
        let shown = sluice.cli(&["audit", "show", &id, "--json"]).await;
        (shown.code == Some(0)).then_some(())
    })
    .await;
    id
}

fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, text),
            false => String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains(text),
        }
    })
}

#[tokio::test]
async fn the_redacted_content_of_an_audited_request_is_kept_and_read_with_a_trace() {
    for database in Database::none_and_one() {
        let (sluice, upstream) = sluice(on(&database)).await;
        let id = audited(&sluice, json!({})).await;
        let shown = sluice.done(&format!("audit show {id} --content --json")).await;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let content = &shown["content"];
        let sent: Value = serde_json::from_str(content["request"].as_str().unwrap()).unwrap();
        // Letter by letter what the provider was sent, and nothing that speaks to Sluice alone.
        let asked = upstream.seen().pop().unwrap().body;
        assert_eq!(sent["messages"], asked["messages"]);
        assert!(sent.get("audit_enabled").is_none());
        assert!(!shown.to_string().contains(MAIL), "{shown}");
        let answer = json!([{ "choice": 0, "kind": "content", "text": "Hello there" }]);
        assert_eq!(content["answer"], answer);

        // Whoever read it stands in the trail.
        let reads = ["audit", "list", "--json", "--action", "content.read"];
        let reads = sluice.json_lines(&reads).await;
        assert_eq!(reads.len(), 1);
        assert_eq!(reads[0]["subject"], format!("audit:{id}"));

        // A stream's, too; not of a request that asked for none, nor under zero retention.
        upstream.follow(Script::events(&(answers::opening(&["Hel", "lo"]) + &answers::ending())));
        let streamed = audited(
            &sluice,
            json!({ "stream": true, "stream_options": { "include_usage": true } }),
        )
        .await;
        let shown = sluice.done(&format!("audit show {streamed} --content")).await;
        assert!(shown.contains("[content 0]\nHello"), "{shown}");
        upstream.follow(Script::json(&answers::completion("Hello there")));
        for more in [json!({ "audit_enabled": false }), json!({ "zero_retention": true })] {
            let id = audited(&sluice, more).await;
            let refused = sluice.cli(&["audit", "show", &id, "--content"]).await;
            assert_eq!(refused.code, Some(1));
            assert!(refused.stderr.contains("no content is kept beside"), "{}", refused.stderr);
        }
        let unknown = sluice.cli(&["audit", "show", "aud_none"]).await;
        assert!(unknown.stderr.contains("no entry aud_none"), "{}", unknown.stderr);

        // A rotation of the master key takes nothing away.
        sluice.done("secrets rotate-master-key").await;
        sluice.done(&format!("audit show {id} --content")).await;
        assert!(!holds(&sluice.data_dir(), "Hello there"), "content is sealed wherever it is");
    }
}

#[tokio::test]
async fn content_beyond_the_bound_is_cut_and_none_is_kept_where_none_may_be() {
    let (mut sluice, upstream) = sluice(Config::default().with("[audit]\ncontent_kib = 1\n")).await;
    let long = json!({ "messages": [{ "role": "user", "content": "word ".repeat(2_000) }] });
    let id = audited(&sluice, long).await;
    let shown = sluice.done(&format!("audit show {id} --content")).await;
    assert!(shown.contains("was not kept") && shown.len() < 3_000, "{shown}");
    sluice.stop().await;
    sluice.reconfigure(&Config::default().mock(&upstream).with("[audit]\ncontent_kib = 0\n"));
    sluice.start_again().await;
    let id = audited(&sluice, json!({})).await;
    let shown = sluice.cli(&["audit", "show", &id, "--content"]).await;
    assert_eq!(shown.code, Some(1), "{}", shown.stdout);
}

#[tokio::test]
async fn a_head_and_an_export_that_were_kept_elsewhere_prove_the_trail() {
    for database in Database::none_and_one() {
        let (mut sluice, _upstream) = sluice(on(&database)).await;
        let elsewhere = tempfile::tempdir().unwrap();
        let path = |name: &str| elsewhere.path().join(name).display().to_string();
        audited(&sluice, json!({})).await;
        let key = sluice.done("audit heads --public-key").await;
        let head = sluice.done("audit heads --json").await;
        std::fs::write(path("heads.jsonl"), format!("{head}\n")).unwrap();
        audited(&sluice, json!({})).await;
        sluice.done(&format!("audit export --output {}", path("trail.jsonl"))).await;
        sluice.done(&format!("audit export --format csv --output {}", path("trail.csv"))).await;
        let heads = path("heads.jsonl");
        let agrees = sluice.done(&format!("audit verify --heads {heads} --public-key {key}")).await;
        assert!(agrees.contains("agrees with"), "{agrees}");

        // The export itself is in the trail, and in the second one.
        let exports =
            sluice.json_lines(&["audit", "list", "--json", "--action", "trail.export"]).await;
        assert_eq!(exports.len(), 2);
        let table = std::fs::read_to_string(path("trail.csv")).unwrap();
        assert!(table.starts_with("number,at,") && table.contains("trail.export"), "{table}");

        // Without the data folder, on any machine.
        let export = path("trail.jsonl");
        let check = format!("audit verify --export {export} --heads {heads} --public-key {key}");
        assert!(sluice.done(&check).await.contains("intact"));
        let text = std::fs::read_to_string(&export).unwrap();
        std::fs::write(&export, text.replacen("\"mock\"", "\"mocx\"", 1)).unwrap();
        let words: Vec<&str> = check.split(' ').collect();
        let found = sluice.cli(&words).await;
        assert_eq!(found.code, Some(1));
        assert!(found.stdout.contains("the entry was changed"), "{}", found.stdout);

        // What is no head, or not signed by the key, is no proof.
        let other = "ab".repeat(32);
        for (file, text, key, problem) in [
            ("foreign", head.clone(), other.as_str(), "is not signed by the key"),
            ("empty", String::new(), &key, "holds no head"),
            ("text", "no head".to_owned(), &key, "is none of ours"),
        ] {
            std::fs::write(path(file), text).unwrap();
            let found =
                sluice.cli(&["audit", "verify", "--heads", &path(file), "--public-key", key]).await;
            assert_eq!(found.code, Some(1));
            assert!(found.stderr.contains(problem), "{}", found.stderr);
        }
        // The server signs by itself, at the latest when it stops.
        sluice.stop().await;
        let all = sluice.json_lines(&["audit", "heads", "--all", "--json"]).await;
        assert!(all.len() >= 2, "{all:?}");
    }
}

#[tokio::test]
async fn the_list_is_filtered_by_key_person_date_and_action() {
    let (sluice, _upstream) = sluice(Config::default()).await;
    audited(&sluice, json!({})).await;
    sluice.done("accounts create --name globex --tier highest").await;
    sluice.done("departments create engineering --account default").await;
    sluice.done("keys create --name other --account globex").await;
    let count = async |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        sluice.json_lines(&[&["audit", "list", "--json"], &words[..]].concat()).await.len()
    };
    assert_eq!(count("--action departments.create").await, 1);
    assert_eq!(count("--action departments.create --account globex").await, 0);
    assert_eq!(count("--account globex").await, 2, "the account, and its key");
    assert_eq!(count("--key other").await, 1);
    assert_eq!(count("--key other --action keys.revoke").await, 0);
    assert_eq!(count("--kind request --since 1h").await, 1);
    assert_eq!(count("--until 1h").await, 0);
    assert_eq!(count("--action departments.create --limit 5 --oldest-first").await, 1);
    let nobody = sluice.cli(&["audit", "list", "--person", "ada@example.org"]).await;
    assert_ne!(nobody.code, Some(0));
    assert!(nobody.stderr.contains("no person"), "{}", nobody.stderr);

    // What somebody asks with a key of theirs is theirs, not only what they administer.
    sluice.done("teams create compilers --department engineering").await;
    sluice.done("people create ada@example.org --team compilers --account default").await;
    let hers = "--account default --team compilers --owner person:ada@example.org";
    let hers = sluice.create_key(&hers.split(' ').collect::<Vec<_>>()).await;
    assert_eq!(sluice.chat(&hers, &request(json!({}))).await.status, 200);
    until("her request in the trail", async || {
        let found = count("--kind request --person ada@example.org").await;
        (found == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_trail_is_sent_to_a_syslog_server_once_it_can_be_reached() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = Config::default().with(&format!("[audit]\nsyslog = \"tcp://{address}\"\n"));
    let (sluice, _upstream) = sluice(config).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let id = audited(&sluice, json!({})).await;
    let mut received = String::new();
    let mut buffer = vec![0; 65_536];
    while !received.contains(&id) {
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "{received}");
        received.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    // The first message: its length, and a header of RFC 5424.
    let (length, rest) = received.split_once(' ').unwrap();
    let message = &rest[..length.parse().unwrap()];
    assert!(message.starts_with("<110>1 20"), "{message}");
    let json = &message[message.find(" - ").unwrap() + 3..];
    let line: Value = serde_json::from_str(json).unwrap();
    assert!(line["hash"].is_string(), "{line}");

    // The same by hand, over UDP.
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = format!("udp://{}", socket.local_addr().unwrap());
    sluice.done(&format!("audit export --kind request --syslog {to}")).await;
    let read = socket.recv(&mut buffer).await.unwrap();
    let message = std::str::from_utf8(&buffer[..read]).unwrap();
    assert!(message.contains(" audit - {") && message.contains(&id), "{message}");
}
