//! How people sign in, from the machine: links, resets, proxies, crashes.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sluice_testkit::{Ask, Config, FakeUpstream, Script, Sluice, answers, until};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

async fn sluice(server: &str) -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    (Sluice::start(BINARY, &config.server(server)).await, upstream)
}

async fn done(sluice: &Sluice, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let run = sluice.cli(&words).await;
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    run.stdout.trim().to_owned()
}

#[tokio::test]
async fn links_begin_with_the_public_url_and_are_in_no_log_and_no_file() {
    let (sluice, _upstream) = sluice("public_url = \"https://sluice.example.org/\"").await;
    let welcome = sluice.stdout();
    assert!(welcome.contains("https://sluice.example.org/welcome/"), "{welcome}");
    let begin = "https://sluice.example.org/invite/";
    let invited = done(&sluice, "people invite ada@example.org --role owner").await;
    let reset = done(&sluice, "people reset ada@example.org").await;
    let tokens = [invited, reset].map(|link| link.strip_prefix(begin).unwrap().to_owned());
    assert_ne!(tokens[0], tokens[1]);
    let trail = sluice.json_lines(&["audit", "list", "--json", "--kind", "administration"]).await;
    let verbs: Vec<&str> = trail.iter().map(|entry| entry["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs[..3], ["people.reset", "people.invite", "people.create"]);
    assert_eq!(trail[0]["surface"], "command line");
    let said = format!("{}{}{trail:?}", sluice.stdout(), sluice.stderr());
    for token in &tokens {
        assert_eq!(token.len(), 43);
        assert!(!said.contains(token));
        for file in std::fs::read_dir(sluice.data_dir()).unwrap() {
            let path = file.unwrap().path();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let found = bytes.windows(token.len()).any(|it| it == token.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    assert_eq!(sluice.cli(&["audit", "verify"]).await.code, Some(0));
}

/// The last owner gets back in, also one of the configuration file.
#[tokio::test]
async fn whoever_the_file_holds_is_invited_and_reset_too() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    let grace = "[[people]]\nemail = \"grace@example.org\"\nrole = \"owner\"\noperator = true";
    let sluice = Sluice::start(BINARY, &config.with(grace)).await;
    let link = done(&sluice, "people invite grace@example.org").await;
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
    let reset = sluice.json_lines(&["people", "reset", "grace@example.org", "--json"]).await;
    assert_eq!((&reset[0]["role"], &reset[0]["ended_sessions"]), (&json!("owner"), &json!(0)));
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_address_is_the_clients() {
    let request = json!({ "model": "mock", "audit_enabled": true,
        "messages": [{ "role": "user", "content": "Hi" }] });
    for (server, expected) in [
        ("trusted_proxies = [\"127.0.0.0/8\"]", "192.0.2.9"),
        ("trusted_proxies = [\"10.0.0.0/8\"]", "127.0.0.1"),
        ("", "127.0.0.1"),
    ] {
        let (sluice, _upstream) = sluice(server).await;
        let ask =
            Ask::chat(&request).key(sluice.key()).header("x-forwarded-for", "8.8.8.8, 192.0.2.9");
        assert_eq!(sluice.client().reply(ask).await.status, 200);
        let entry: Value = until("the audit entry", async || {
            let list = ["audit", "list", "--json", "--kind", "request"];
            sluice.json_lines(&list).await.pop()
        })
        .await;
        assert_eq!(entry["remote_addr"], expected, "{server}");
    }
}

/// Killed at any moment, an invitation is there whole or not at all: somebody is there if and only if
/// the trail says that they were added and invited.
#[tokio::test]
async fn an_invitation_that_is_killed_leaves_nothing_half_done() {
    let (sluice, _upstream) = sluice("").await;
    done(&sluice, "people invite first@example.org --role owner").await;
    for cut in 0..16_u32 {
        let mut child = Command::new(BINARY)
            .args(["people", "invite", &format!("p{cut}@example.org"), "--config"])
            .arg(sluice.config_file())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Ever later: from before it has read its arguments until after it is done.
        for _ in 0..2_u64.pow(cut) * 8 {
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(sluice.cli(&["audit", "verify"]).await.code, Some(0));
    let people = sluice.json_lines(&["people", "list", "--json"]).await;
    let trail = sluice.json_lines(&["audit", "list", "--json", "--kind", "administration"]).await;
    let of = |verb: &str| {
        let entries = trail.iter().filter(|entry| entry["verb"] == verb);
        let mut subjects: Vec<&str> = entries.map(|it| it["subject"].as_str().unwrap()).collect();
        subjects.sort_unstable();
        subjects
    };
    let mut there: Vec<&str> = people.iter().map(|it| it["subject"].as_str().unwrap()).collect();
    there.sort_unstable();
    assert_eq!(of("people.create"), there);
    assert_eq!(of("people.invite"), there);
    for person in &people {
        done(&sluice, &format!("people invite {}", person["email"].as_str().unwrap())).await;
    }
}
