//! Service keys: made and revoked beside a running server, and what each may do.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Ask, Config, FakeUpstream, Reply, Script, Sluice, answers, until};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

const NO_KEY: (u16, &str, &str) = (401, "authentication_error", "invalid_api_key");
const NOT_PERMITTED: (u16, &str, &str) = (403, "permission_error", "insufficient_permissions");

/// A server with a model in one region, one in two, and a small one.
async fn sluice() -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let base_url = upstream.base_url();
    let config = Config::default()
        .top("default_region = \"us-east\"")
        .provider_in("east", &base_url, "us-east")
        .provider_in("europe", &base_url, "eu-west")
        .model("here", "\"east\"")
        .model("both", r#"["east", "europe"]"#)
        .with("[[models]]\nid = \"small\"\nprovider = \"east\"\noutput_limit = 8000");
    (Sluice::start(BINARY, &config).await, upstream)
}

fn request(model: &str, more: Value) -> Value {
    let mut request = json!({
        "model": model,
        "messages": [{ "role": "user", "content": "Hello!" }],
    });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn check_error(reply: &Reply, expected: (u16, &str, &str)) {
    let (status, kind, code) = reply.error();
    assert_eq!((status, &*kind, &*code), expected, "{}", reply.text());
}

#[tokio::test]
async fn a_key_is_printed_alone_and_honoured_until_it_is_revoked() {
    let (sluice, _upstream) = sluice().await;
    let made = sluice.cli(&["keys", "create", "--name", "laptop", "--class", "development"]).await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let key = made.stdout.strip_suffix('\n').unwrap();
    assert!(key.starts_with("svc_ent_") && key.bytes().all(|b| b.is_ascii_graphic()), "{key}");
    assert!(made.stderr.contains("laptop") && !made.stderr.contains(key), "{}", made.stderr);
    until("the running server to honour it", async || {
        let reply = sluice.chat(key, &request("here", json!({}))).await;
        (reply.status == 200).then_some(())
    })
    .await;
    let token = sluice.get("/api/v1/auth/token", key).await.json();
    assert_eq!(token["key"]["name"], "laptop");
    assert_eq!(token["key"]["class"], "development");
    assert_eq!(token["limits"]["key"]["requests_per_hour"], 1000);
    assert!(!token.to_string().contains(key), "the key itself is never shown again");

    let listed = sluice.cli(&["keys", "list"]).await.stdout;
    assert!(listed.contains("laptop") && !listed.contains(key), "{listed}");
    let id = sluice.json_lines(&["keys", "list", "--json"]).await;
    let id = id.iter().find(|entry| entry["name"] == "laptop").unwrap()["id"].clone();
    let revoked = sluice.cli(&["keys", "revoke", id.as_str().unwrap()]).await;
    assert_eq!(revoked.code, Some(0), "{}", revoked.stderr);
    let reply = until("the running server to refuse it", async || {
        let reply = sluice.chat(key, &request("here", json!({}))).await;
        (reply.status != 200).then_some(reply)
    })
    .await;
    check_error(&reply, NO_KEY);
}

#[tokio::test]
async fn a_rotation_leaves_the_old_key_valid_for_a_while() {
    let (sluice, _upstream) = sluice().await;
    let old = sluice.create_key(&["--models", "here"]).await;
    let prefix = sluice.get("/api/v1/auth/token", &old).await.json()["key"]["prefix"].clone();
    let rotated =
        sluice.cli(&["keys", "rotate", prefix.as_str().unwrap(), "--grace-hours", "1"]).await;
    assert_eq!(rotated.code, Some(0), "{}", rotated.stderr);
    let new = rotated.stdout.trim_end();
    assert_ne!(new, old);
    until("the new key", async || {
        let reply = sluice.get("/api/v1/auth/token", new).await;
        (reply.status == 200).then_some(())
    })
    .await;
    let body = request("both", json!({}));
    for key in [&old, new] {
        assert_eq!(sluice.chat(key, &request("here", json!({}))).await.status, 200);
        check_error(&sluice.chat(key, &body).await, NOT_PERMITTED);
    }
    until("the old key to have an end", async || {
        let token = sluice.get("/api/v1/auth/token", &old).await.json();
        token["key"]["expires_at"].is_string().then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_expired_key_is_refused() {
    let (sluice, _upstream) = sluice().await;
    // A rotation without grace is how a key's time ends while a test looks on.
    let old = sluice.create_key(&["--expires", "2999-01-01"]).await;
    let token = sluice.get("/api/v1/auth/token", &old).await.json();
    assert_eq!(token["key"]["expires_at"], "2999-01-01T00:00:00Z");
    let prefix = token["key"]["prefix"].as_str().unwrap();
    let rotated = sluice.cli(&["keys", "rotate", prefix, "--grace-hours", "0"]).await;
    assert_eq!(rotated.code, Some(0), "{}", rotated.stderr);
    let reply = until("the old key to expire", async || {
        let reply = sluice.chat(&old, &request("here", json!({}))).await;
        (reply.status != 200).then_some(reply)
    })
    .await;
    check_error(&reply, NO_KEY);
    assert!(reply.text().contains("expired at"), "{}", reply.text());
    // A key that would never work is not made.
    let late = ["keys", "create", "--name", "late", "--expires", "2001-01-01"];
    let made = sluice.cli(&late).await;
    assert_eq!((made.code, made.stdout.as_str()), (Some(2), ""), "{}", made.stderr);
}

#[tokio::test]
async fn either_header_holds_the_key_and_both_may_not_differ() {
    let (sluice, _upstream) = sluice().await;
    let (one, other) = (sluice.key().to_owned(), sluice.create_key(&[]).await);
    let ask = || Ask::chat(&request("here", json!({})));
    let client = sluice.client();
    for (name, ask) in [
        ("bearer", ask().key(&one)),
        ("its own header", ask().header("svc-api-key", &one)),
        ("both, the same", ask().key(&one).header("svc-api-key", &one)),
        ("beside a provider's key", ask().key("sk-proj-1234").header("svc-api-key", &one)),
        ("beside basic credentials", {
            ask().header("authorization", "Basic dXNlcjpwYXNz").header("svc-api-key", &one)
        }),
        ("in small letters", ask().header("authorization", &format!("bearer {one}"))),
    ] {
        assert_eq!(client.reply(ask).await.status, 200, "{name}");
    }
    let mut mistyped = one.clone();
    let last = if mistyped.pop() == Some('a') { 'b' } else { 'a' };
    mistyped.push(last);
    for (name, ask) in [
        ("none", ask()),
        ("an empty one", ask().key("")),
        ("a provider's key", ask().key("sk-proj-1234")),
        ("a typing mistake", ask().key(&mistyped)),
        ("two that differ", ask().key(&one).header("svc-api-key", &other)),
        ("a wrong one of its own", ask().key(&one).header("svc-api-key", "svc_ent_x")),
    ] {
        let reply = client.reply(ask).await;
        check_error(&reply, NO_KEY);
        assert!(!reply.text().contains(&one), "{name}: {}", reply.text());
        for header in ["limit", "remaining", "reset", "window"] {
            let value = reply.header(&format!("x-ratelimit-{header}"));
            assert!(value.parse::<u64>().is_ok(), "{name}: x-ratelimit-{header}: {value}");
        }
    }
}

#[tokio::test]
async fn a_key_keeps_to_its_models_and_regions() {
    let (sluice, upstream) = sluice().await;
    let key = sluice.create_key(&["--models", "both,small", "--regions", "eu-west"]).await;
    let list = sluice.get("/api/v1/models", &key).await.json();
    let names: Vec<&Value> =
        list["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(names, ["both", "small"]);

    let refused = sluice.chat(&key, &request("here", json!({}))).await;
    check_error(&refused, NOT_PERMITTED);
    assert_eq!(refused.json()["error"]["param"], "model");
    let refused = sluice.chat(&key, &request("both", json!({ "region": "us-east" }))).await;
    check_error(&refused, NOT_PERMITTED);
    assert_eq!(refused.json()["error"]["param"], "region");
    let reply = sluice.chat(&key, &request("both", json!({ "region": "eu-west" }))).await;
    assert_eq!(reply.json()["security"]["data_residency"], "eu-west");
    // Without a wish, the deployment's usual region gives way to what the key may use.
    let reply = sluice.chat(&key, &request("both", json!({}))).await;
    assert_eq!(reply.json()["security"]["data_residency"], "eu-west");
    assert_eq!(upstream.last().header("authorization"), "Bearer sk-europe");

    // Where the model runs is told, and nothing was sent anywhere else.
    let asked = upstream.seen().len();
    for (key, more) in
        [(key.as_str(), json!({})), (sluice.key(), json!({ "region": "asia-pacific" }))]
    {
        let refused = sluice.chat(key, &request("small", more)).await;
        check_error(&refused, (400, "invalid_request_error", "region_unavailable"));
        assert!(refused.text().contains("it runs in us-east"), "{}", refused.text());
        assert_eq!(refused.json()["error"]["param"], "region");
    }
    assert_eq!(upstream.seen().len(), asked);
}

#[tokio::test]
async fn what_bounds_max_tokens_is_the_keys_to_say() {
    let (sluice, upstream) = sluice().await;
    let documented = sluice.create_key(&[]).await;
    let model = sluice.create_key(&["--max-tokens", "model"]).await;
    let sent = |name: &str| upstream.last().body[name].clone();

    let reply = sluice.chat(&documented, &request("small", json!({ "max_tokens": 4096 }))).await;
    assert_eq!((reply.status.as_u16(), sent("max_tokens")), (200, json!(4096)));
    for field in ["max_tokens", "max_completion_tokens"] {
        let reply = sluice.chat(&documented, &request("small", json!({ field: 4097 }))).await;
        check_error(&reply, (400, "validation_error", "invalid_parameter"));
        let error = &reply.json()["error"];
        assert_eq!(error["param"], field);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("--max-tokens model") && message.contains("4097"), "{message}");
    }
    // A wish beyond the model's own limit is lowered to it.
    let reply = sluice.chat(&model, &request("small", json!({ "max_tokens": 32_000 }))).await;
    assert_eq!((reply.status.as_u16(), sent("max_tokens")), (200, json!(8000)));
    let reply = sluice.chat(&model, &request("small", json!({ "max_tokens": 7999 }))).await;
    assert_eq!((reply.status.as_u16(), sent("max_tokens")), (200, json!(7999)));
}

#[tokio::test]
async fn a_new_key_works_at_once() {
    let (sluice, _upstream) = sluice().await;
    for _ in 0..3 {
        let made = sluice.cli(&["keys", "create", "--name", "test"]).await;
        let key = made.stdout.trim_end();
        assert_eq!(sluice.get("/api/v1/auth/token", key).await.status, 200);
    }
}

#[tokio::test]
async fn failed_sign_ins_are_in_the_log_without_the_key() {
    let (sluice, _upstream) = sluice().await;
    let wrong = "svc_ent_canary000000000000000000000000000000";
    for _ in 0..20 {
        let reply = sluice.get("/api/v1/models", wrong).await;
        check_error(&reply, NO_KEY);
        let message = reply.json()["error"]["message"].to_string();
        assert!(message.starts_with("\"Invalid API key: "), "{message}");
    }
    let log = sluice.stderr();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("sign-in failed")).collect();
    // One a minute, of which the next may have begun in between.
    assert!((1..=2).contains(&lines.len()), "{log}");
    assert!(lines[0].contains("address=127.0.0.1") && lines[0].contains("malformed"), "{log}");
    assert!(!log.contains("canary"), "{log}");
}

#[tokio::test]
async fn guessing_is_slowed_down_and_valid_keys_are_not() {
    let (sluice, _upstream) = sluice().await;
    let refused = until("guessing to be refused", async || {
        let reply = sluice.get("/api/v1/models", "svc_ent_guess").await;
        (reply.status != 401).then_some(reply)
    })
    .await;
    check_error(&refused, (429, "rate_limit_error", "rate_limit_exceeded"));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    assert_eq!(refused.header("x-ratelimit-window"), "60");
    assert_eq!(sluice.chat(sluice.key(), &request("here", json!({}))).await.status, 200);
}

#[tokio::test]
async fn a_credential_may_be_sent_twice_but_not_two() {
    let (sluice, upstream) = sluice().await;
    let other = sluice.create_key(&[]).await;
    let key = sluice.key();
    let body = request("here", json!({}));
    let (bearer, others) = (format!("Bearer {key}"), format!("Bearer {other}"));
    for (header, first, second) in
        [("authorization", &*bearer, &*others), ("svc-api-key", key, &*other)]
    {
        for (second, is_refused) in [(first, false), (second, true), ("sk-of-somebody", true)] {
            let asked = upstream.seen().len();
            let ask = Ask::chat(&body).header(header, first).header(header, second);
            let reply = sluice.client().reply(ask).await;
            if is_refused {
                check_error(&reply, NO_KEY);
                let told = reply.text().to_lowercase();
                assert!(told.contains(&format!("`{header}` was sent several times")), "{told}");
                assert!(!told.contains("svc_ent_"), "{told}");
            } else {
                assert_eq!(reply.status, 200, "{}", reply.text());
            }
            assert_eq!(upstream.seen().len() - asked, usize::from(!is_refused));
        }
    }
}
