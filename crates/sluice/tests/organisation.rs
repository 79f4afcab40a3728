//! Keys of an organisation beside a running server: scopes, suspensions, secrets.

use serde_json::json;
use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers, until};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

async fn sluice() -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    (Sluice::start(BINARY, &config).await, upstream)
}

async fn done(sluice: &Sluice, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let run = sluice.cli(&words).await;
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    run.stdout.trim().to_owned()
}

/// Waits for the status of a request with the key, and returns what the answer says.
async fn answers_with(sluice: &Sluice, key: &str, status: u16) -> String {
    let request = json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hi" }] });
    until("the running server to notice", async || {
        let reply = sluice.chat(key, &request).await;
        (reply.status == status).then(|| reply.text().to_string())
    })
    .await
}

#[tokio::test]
async fn what_belongs_to_a_suspended_person_is_refused_with_the_reason() {
    let (sluice, _upstream) = sluice().await;
    done(&sluice, "departments create engineering").await;
    done(&sluice, "teams create compilers --department engineering").await;
    done(&sluice, "people create ada@example.org --team compilers").await;
    let create = "keys create --name hers --team compilers --owner person:ada@example.org";
    let key = done(&sluice, create).await;
    answers_with(&sluice, &key, 200).await;
    for what in [
        "people suspend ada@example.org --reason on-leave",
        "teams suspend compilers --reason on-leave",
        "departments suspend engineering --reason on-leave",
        "accounts suspend default --reason on-leave",
        "keys suspend hers --reason on-leave",
    ] {
        done(&sluice, what).await;
        let said = answers_with(&sluice, &key, 403).await;
        assert!(said.contains("permission_error") && said.contains("key_suspended"), "{said}");
        assert!(said.contains("on-leave"), "{said}");
        let token = sluice.get("/api/v1/auth/token", &key).await;
        assert_eq!(token.status, 403);
        let resume = what.replace("suspend", "resume");
        done(&sluice, resume.split(" --").next().unwrap()).await;
        answers_with(&sluice, &key, 200).await;
    }
    // Removed with the person, while it is in use.
    done(&sluice, "people remove ada@example.org --keys suspend").await;
    answers_with(&sluice, &key, 403).await;
    done(&sluice, "people resume ada@example.org").await;
    answers_with(&sluice, &key, 200).await;
    done(&sluice, "people remove ada@example.org --keys revoke").await;
    answers_with(&sluice, &key, 401).await;
    assert_eq!(sluice.cli(&["audit", "verify"]).await.code, Some(0));
}

/// The file is what it says at every start and after every change of it.
#[tokio::test]
async fn what_the_file_holds_is_in_force_and_what_is_taken_out_is_suspended() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    let company = config.with(
        "[[departments]]\nname = \"engineering\"\n\
         [[teams]]\nname = \"compilers\"\ndepartment = \"engineering\"\n\
         [[people]]\nemail = \"grace@example.org\"\nrole = \"owner\"\noperator = true",
    );
    let ada = "[[people]]\nemail = \"ada@example.org\"\nrole = \"developer\"\n\
               teams = [\"compilers\"]";
    let sluice = Sluice::start(BINARY, &company.clone().with(ada)).await;
    let create = "keys create --name hers --team compilers --owner person:ada@example.org";
    let key = done(&sluice, create).await;
    answers_with(&sluice, &key, 200).await;

    let refused = sluice.cli(&["people", "set", "ada@example.org", "--role", "owner"]).await;
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("configuration file"), "{}", refused.stderr);

    sluice.reconfigure(&company);
    let said = answers_with(&sluice, &key, 403).await;
    assert!(said.contains("taken out of the configuration file"), "{said}");
    until("the log to name her", async || {
        let logged = sluice.stderr();
        (logged.contains("ada@example.org") && logged.contains("suspended")).then_some(())
    })
    .await;
    sluice.reconfigure(&company.clone().with(ada));
    answers_with(&sluice, &key, 200).await;
    let entries = done(&sluice, "audit list --kind administration --json").await;
    assert!(entries.contains("people.suspend") && entries.contains("configuration file"));
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say() {
    let (sluice, _upstream) = sluice().await;
    let looks = done(&sluice, "keys create --name looks --scopes models").await;
    let asks = done(&sluice, "keys create --name asks --scopes chat").await;
    let said = answers_with(&sluice, &looks, 403).await;
    assert!(said.contains("insufficient_permissions") && said.contains("`chat`"), "{said}");
    assert_eq!(sluice.get("/api/v1/models", &looks).await.status, 200);
    answers_with(&sluice, &asks, 200).await;
    for path in ["/api/v1/models", "/api/v1/models/mock"] {
        let refused = sluice.get(path, &asks).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.text().contains("`models`"));
    }
    for path in ["/api/v1/auth/token", "/api/v1/health"] {
        for key in [&looks, &asks] {
            assert_eq!(sluice.get(path, key).await.status, 200, "{path}");
        }
    }
}

/// A new secret is no new key: what was used stays used.
#[tokio::test]
async fn a_rotation_keeps_the_keys_windows() {
    let (sluice, _upstream) = sluice().await;
    let old = done(&sluice, "keys create --name ci --requests-per-hour 2").await;
    answers_with(&sluice, &old, 200).await;
    let new = done(&sluice, "keys rotate ci --grace 1h").await;
    assert_ne!(old, new);
    answers_with(&sluice, &new, 200).await;
    for key in [&old, &new] {
        answers_with(&sluice, key, 429).await;
    }
    let shown = sluice.json_lines(&["keys", "show", "ci", "--json"]).await;
    assert_eq!(shown[0]["secrets"].as_array().unwrap().len(), 2);
    // Its first secret still names it.
    done(&sluice, &format!("keys revoke {old}")).await;
    answers_with(&sluice, &new, 401).await;
}
