//! Values come back valid where the model put them; a commit is judged by what it adds.

use super::*;

/// A private key's file, of a key that nobody has.
const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n\
    MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n\
    NMoSfm76oqFvAp8Gy0iz5sxjZmSnXyCdPEovGhLa0VzMaQ8s+CLOyS56YyCFGeJZ\n\
    -----END PRIVATE KEY-----\n";

#[tokio::test]
async fn a_service_accounts_file_comes_back_as_json() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let sluice = sluice(&upstream).await;
    let account =
        json!({ "type": "service_account", "private_key": PRIVATE_KEY, "client_email": EMAIL });
    let file = serde_json::to_string_pretty(&account).unwrap();
    for prompt in [file.clone(), format!("My key file:\n```json\n{file}\n```\nRename the project.")]
    {
        let mut body = request(&prompt);
        upstream.follow(Script::json(&answers::completion("ok")));
        sluice.chat(sluice.key(), &body).await;
        let seen = sent_text(&upstream);
        assert!(!seen.contains("MIIEvQ"), "{seen}");
        let shown = &seen[seen.find('{').unwrap()..=seen.rfind('}').unwrap()];

        let said = format!("Here it is:\n```json\n{shown}\n```\n");
        upstream.follow(Script::json(&answers::completion(&said)));
        let reply = sluice.chat(sluice.key(), &body).await;
        assert_eq!(content(&reply), format!("Here it is:\n```json\n{file}\n```\n"));

        let arguments = json!({ "path": "key.json", "content": shown }).to_string();
        upstream.follow(Script::json(&answers::tool_call("write_file", &arguments)));
        let reply = sluice.chat(sluice.key(), &body).await.json();
        let called = &reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"];
        let called: Value = serde_json::from_str(called.as_str().unwrap()).unwrap();
        let written: Value = serde_json::from_str(called["content"].as_str().unwrap()).unwrap();
        assert_eq!(written, account);

        body["stream"] = true.into();
        for size in [1, 5, 64] {
            let characters: Vec<char> = said.chars().collect();
            let chunks: Vec<String> = characters.chunks(size).map(|c| c.iter().collect()).collect();
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            upstream.follow(Script::events(&(answers::opening(&chunks) + &answers::ending())));
            let streamed = sluice.stream(sluice.key(), &body).await.rest().await;
            assert_eq!(streamed.text, format!("Here it is:\n```json\n{file}\n```\n"), "{size}");
        }
    }
}

#[tokio::test]
async fn a_value_that_the_model_moves_is_valid_where_it_stands_then() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let sluice = sluice(&upstream).await;
    let body = request("db:\n  user: app\n  password: Vx7'kes$trel@Mango92\n");
    sluice.chat(sluice.key(), &body).await;
    let words = placeholders(&sent_text(&upstream));
    let [word] = words.as_slice() else { panic!("{}", sent_text(&upstream)) };
    for (said, restored) in [
        (
            "```sh\nexport PASSWORD='{}'\n```",
            "```sh\nexport PASSWORD='Vx7'\\''kes$trel@Mango92'\n```",
        ),
        ("export PASSWORD=\"{}\"", "export PASSWORD=\"Vx7'kes\\$trel@Mango92\""),
        ("postgres://app:{}@db/orders", "postgres://app:Vx7'kes$trel%40Mango92@db/orders"),
        ("It is {}.", "It is Vx7'kes$trel@Mango92."),
    ] {
        upstream.follow(Script::json(&answers::completion(&said.replace("{}", word))));
        let reply = sluice.chat(sluice.key(), &body).await;
        assert_eq!(content(&reply), restored);
    }
}

#[tokio::test]
async fn a_commit_is_judged_by_what_it_adds() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let sluice = sluice(&upstream).await;
    let patch = sluice.config_file().with_file_name("change.patch");
    let judge = async |lines: &str| {
        let head = "diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n";
        std::fs::write(&patch, format!("{head}@@ -3,2 +3,2 @@\n{lines}")).unwrap();
        sluice.cli(&["filter", "--quiet", patch.to_str().unwrap()]).await
    };
    let removed = judge(&format!(" A=1\n-TOKEN={TOKEN}\n+TOKEN=${{TOKEN}}\n")).await;
    assert_eq!(removed.code, Some(0), "{}{}", removed.stdout, removed.stderr);
    let added = judge(&format!(" A=1\n-TOKEN=x\n+TOKEN={TOKEN}\n")).await;
    assert_eq!(added.code, Some(1), "{}", added.stderr);
    assert!(added.stdout.starts_with(".env:4:7: secret ("), "{}", added.stdout);
    assert_eq!(added.stdout.lines().count(), 1, "{}", added.stdout);
}
