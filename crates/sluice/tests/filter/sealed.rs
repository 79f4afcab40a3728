//! Sluice's own keys never leave, and what a provider sealed goes to no other one.

use super::*;

#[tokio::test]
async fn our_own_keys_never_leave() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let sluice = sluice(&upstream).await;
    let mut key = sluice.key().to_owned();
    // A typo is still next to the key.
    let typo = if key.pop() == Some('x') { format!("{key}y") } else { format!("{key}x") };
    for level in ["standard", "high", "maximum"] {
        for key in [sluice.key(), &typo] {
            let mut body = request(&format!("my key is {key}"));
            body["security_level"] = level.into();
            let reply = sluice.chat(sluice.key(), &body).await;
            assert_eq!(reply.header("svc-redactions"), "secret=1", "{level}");
            let seen = sent_text(&upstream);
            assert!(seen.starts_with("my key is Q") && !seen.contains("svc_ent_"), "{seen}");
        }
        for stand_in in ["svc_ent_…", "svc_ent_xxx", "svc_ent_your_key_here", "svc_ent_{KEY}"] {
            let mut body = request(&format!("send Bearer {stand_in}"));
            body["security_level"] = level.into();
            sluice.chat(sluice.key(), &body).await;
            assert_eq!(sent_text(&upstream), format!("send Bearer {stand_in}"));
        }
    }
}

/// A signature in which a token stands that is not told for certain in the midst of base64.
const SIGNATURE: &str = "EqQBCkgIARABGAIiQDh0QmxzbX-ghp_mT4vQ8zKp2LxW9rB7nYc3DfH6sJ1aG5eU0iO";

/// A conversation in which a model thought, as its provider signed it.
fn signed() -> Value {
    json!({ "model": "mock", "messages": [
        { "role": "user", "content": "Hello" },
        { "role": "assistant", "content": "Hello", "reasoning_details": [
            { "type": "reasoning.text", "text": "A greeting.", "signature": SIGNATURE } ] },
        { "role": "user", "content": "Again" },
    ] })
}

#[tokio::test]
async fn what_a_provider_sealed_goes_to_no_other_one() {
    let sealing = FakeUpstream::start(Script::default()).await;
    let other = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let provider = |id: &str, kind: &str, base_url: &str| {
        format!(
            "[[providers]]\nid = \"{id}\"\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\n\
             api_key = \"none\"\nregion = \"us-east\""
        )
    };
    let config = Config::default()
        .with(&provider("claude", "anthropic", sealing.base_url().trim_end_matches("/v1")))
        .with(&provider("lab", "openai", &other.base_url()))
        .model("mock", r#"["claude", "lab"]"#)
        .model("plain", "\"lab\"");
    let sluice = Sluice::start(BINARY, &config).await;
    for level in ["standard", "maximum"] {
        let mut body = signed();
        body["security_level"] = level.into();
        let failing = json!({ "type": "error", "error": { "type": "api_error", "message": "no" } });
        sealing.follow(Script::answer(
            "500 Internal Server Error",
            &["content-type: application/json"],
            &failing.to_string(),
        ));
        let reply = sluice.chat(sluice.key(), &body).await;
        assert_eq!(content(&reply), "ok");
        // It goes back as it was, and whoever cannot read it gets the rest of the conversation.
        let seen = sealing.last().body;
        assert_eq!(seen["messages"][1]["content"][0]["signature"], SIGNATURE, "{level}: {seen}");
        let seen = other.last().body;
        let details = &seen["messages"][1]["reasoning_details"];
        assert_eq!(*details, json!([{ "type": "reasoning.text", "text": "A greeting." }]));
        assert_eq!(seen["messages"][2], body["messages"][2]);

        // Where nobody seals, it is a text like any other.
        body["model"] = "plain".into();
        let reply = sluice.chat(sluice.key(), &body).await;
        assert_eq!((content(&reply).as_str(), leaked(&other.last().body).len()), ("ok", 0));
        assert_eq!(reply.header("svc-redactions"), "secret=1", "{level}");
    }
}

#[tokio::test]
async fn a_service_may_be_said_to_seal() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("ok"))).await;
    let config = Config::default()
        .with(&format!(
            "[[providers]]\nid = \"proxy\"\nkind = \"openai\"\nbase_url = \"{}\"\n\
             api_key = \"none\"\nregion = \"us-east\"\nquirks = [\"sealed_thoughts\"]",
            upstream.base_url()
        ))
        .model("mock", "\"proxy\"");
    let sluice = Sluice::start(BINARY, &config).await;
    let mut body = signed();
    body["security_level"] = "maximum".into();
    assert_eq!(content(&sluice.chat(sluice.key(), &body).await), "ok");
    assert_eq!(upstream.last().body["messages"], body["messages"]);
    // Only what the model said, and nothing else under the same names.
    body["messages"][1]["role"] = "user".into();
    assert_eq!(content(&sluice.chat(sluice.key(), &body).await), "ok");
    assert_eq!(leaked(&upstream.last().body), [""; 0]);
}
