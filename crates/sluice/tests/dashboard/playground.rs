//! The playground: what is asked there goes the way of every request, as whoever asks.

use serde_json::{Value, json};
use sluice_testkit::{Ask, Config, FakeUpstream, Script, Sluice, Step, answers, until};

use crate::browser::{Browser, Page};
use crate::{BINARY, sluice};

const MAIL: &str = "j.doe@busy-mill.org";
const SECRET: &str = "AKIAQ3EGX7VLM2PZ5TRN";

/// A server whose model repeats what it is asked.
async fn echo() -> Sluice {
    let provider = "[[providers]]\nid = \"simulator\"\nkind = \"simulator\"";
    Sluice::start(BINARY, &Config::default().with(provider)).await
}

/// The turn that a stream ended with, and the text that came before it.
fn streamed(page: &Page) -> (String, String) {
    assert_eq!(page.status, 200, "{}", page.body);
    assert_eq!(page.header("content-type"), "text/event-stream");
    let (mut text, mut turn) = (String::new(), String::new());
    for event in page.body.split("\n\n").filter(|event| !event.is_empty()) {
        let Some((name, data)) = event.split_once('\n') else {
            assert!(event.starts_with(':'), "{event}");
            continue;
        };
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        match name {
            "event: text" => text.push_str(data.as_str().unwrap()),
            "event: turn" => data.as_str().unwrap().clone_into(&mut turn),
            _ => panic!("{event}"),
        }
    }
    (text, turn)
}

#[tokio::test]
async fn what_is_kept_from_the_model_is_told_and_stands_in_the_answer() {
    let sluice = echo().await;
    let mut owner = Browser::welcome(&sluice).await;
    assert_eq!(owner.get("/playground").await.status, 200);
    let prompt = format!("Write to {MAIL} with {SECRET}.");
    let fields = [("model", "demo/echo"), ("prompt", &prompt), ("security_level", "high")];
    let page = owner.form("/playground", &fields).await;
    let (text, turn) = streamed(&owner.form("/playground/stream", &fields).await);
    assert_eq!(text, prompt, "the answer has the values back");
    for told in [&page.body, &turn] {
        assert!(told.contains("2 values redacted"), "{told}");
        // In what the model saw, and in what it said.
        let seen = told.split_once("What the model saw").unwrap().1;
        let seen = seen.split_once("</pre>").unwrap().0;
        assert!(!seen.contains(MAIL) && !seen.contains(SECRET), "{seen}");
        assert!(seen.contains("<mark title=\"email\">"), "{seen}");
        for value in [MAIL, SECRET] {
            let put_back = format!("<bdi>{value}</bdi></mark>");
            assert!(told.contains(&put_back), "{put_back} is not in {told}");
        }
    }
    // Nobody asks past their teams for the account.
    let elsewhere = [("model", "demo/echo"), ("prompt", "Hi"), ("team", "team_x")];
    assert_eq!(owner.form("/playground", &elsewhere).await.status, 404);
    // Without a script, the next question finds what came before in the page.
    assert!(page.has(&format!("name=\"asked\" value=\"{prompt}\"")), "{}", page.body);
    assert!(page.has(&format!("name=\"answered\" value=\"{prompt}\"")), "{}", page.body);
    // Nothing of it is written anywhere.
    for file in std::fs::read_dir(sluice.data_dir()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            for value in [MAIL, SECRET] {
                let found = bytes.windows(value.len()).any(|it| it == value.as_bytes());
                assert!(!found, "{value} is in {}", path.display());
            }
        }
    }
    assert!(!sluice.stderr().contains(MAIL) && !sluice.stderr().contains(SECRET));
}

#[tokio::test]
async fn a_question_is_recorded_and_audited_as_its_askers() {
    let (sluice, upstream) = sluice().await;
    let mut ada = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    assert_eq!(ada.get("/playground").await.status, 200);
    let fields = [
        ("model", "mock"),
        ("prompt", "And now?"),
        ("system", "Be brief."),
        ("temperature", "0.5"),
        ("asked", "Hi"),
        ("answered", "Hello."),
    ];
    let page = ada.form("/playground", &fields).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let sent = upstream.last().body;
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    let expected = [
        said("system", "Be brief."),
        said("user", "Hi"),
        said("assistant", "Hello."),
        said("user", "And now?"),
    ];
    assert_eq!((&sent["messages"], &sent["temperature"]), (&json!(expected), &json!(0.5)));

    let id = page.between("<a href=\"/requests/", "\"");
    let id = id.unwrap_or_else(|| panic!("{}", page.body)).to_owned();
    let record = until("the record", async || sluice.usage_of(&id).await.pop()).await;
    assert!(record["key_id"].as_str().unwrap().starts_with("key_playground_"), "{record}");
    assert!(record["owner"].as_str().unwrap().starts_with("person:"), "{record}");
    assert_eq!(
        (&record["app_title"], &record["key_name"]),
        (&json!("Playground"), &json!("playground"))
    );
    let path = format!("/requests/{id}");
    let open = async || Some(ada.get(&path).await).filter(|page| page.status == 200);
    let request = until("the request's page", open).await;
    assert!(request.has("playground") && request.has("Playground"), "{}", request.body);
    // Its key is no page, but a filter.
    let requests = ada.get("/requests").await;
    assert!(requests.has("href=\"/requests?key=key_playground_"), "{}", requests.body);
    let audit = sluice.json_lines(&["audit", "list", "--json"]).await;
    let entry = audit.iter().find(|entry| entry["request_id"] == id.as_str());
    assert!(entry.is_some(), "{audit:?}");
    // It is theirs alone: another developer does not see it.
    let mut eve = Browser::invited(&sluice, "eve@example.org", "--role developer").await;
    assert_eq!(eve.get(&path).await.status, 404);
}

#[tokio::test]
async fn a_conversation_may_be_long() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    owner.get("/playground").await;
    let ask = async |owner: &mut Browser, path: &str, long: &str| {
        let turn = [("model", "mock"), ("prompt", "And?"), ("asked", long), ("answered", "Yes.")];
        owner.form(path, &turn).await
    };
    // A letter of Georgian is nine bytes of a form.
    let long = "ღ".repeat(200_000);
    let page = ask(&mut owner, "/playground", &long).await;
    assert_eq!(page.status, 200);
    assert_eq!(upstream.last().body["messages"][0]["content"], long.as_str());
    let too_long = "ღ".repeat(2_000_000);
    for path in ["/playground", "/playground/stream"] {
        let page = ask(&mut owner, path, &too_long).await;
        assert!(page.status == 413 && page.has("The conversation is too long"), "{}", page.status);
    }
    let page = owner.form("/keys", &[("q", &long)]).await;
    assert!(page.status == 413 && page.has("larger than 256 KiB"), "{}", page.body);
}

#[tokio::test]
async fn nothing_is_kept_under_zero_retention() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let fields = [("model", "mock"), ("prompt", "Hi"), ("zero_retention", "on")];
    let page = owner.form("/playground", &fields).await;
    assert!(page.status == 200 && page.has("Hello"), "{}", page.body);
    assert!(page.has("nothing is kept of it but sums") && !page.has("Open the request"));
}

#[tokio::test]
async fn limits_and_wrong_values_are_told_as_the_api_tells_them() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default()
        .provider("lab", &upstream.base_url())
        .model("mock", "\"lab\"")
        .with("[keys.development]\nrequests_per_hour = 2\n");
    let sluice = Sluice::start(BINARY, &config).await;
    let mut ada = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    assert_eq!(ada.get("/playground").await.status, 200);

    let wrong = [("model", "mock"), ("prompt", "Is it <warm>?"), ("temperature", "3")];
    let page = ada.form("/playground", &wrong).await;
    assert_eq!(page.status, 400, "{}", page.body);
    assert!(page.has("expected a number from 0.0 to 2.0"), "{}", page.body);
    assert!(page.has("invalid_parameter") && page.has("within the bounds"), "{}", page.body);
    // What was typed is not lost.
    assert!(page.has("Is it &#60;warm&#62;?</textarea>"), "{}", page.body);

    let none = [("model", "none/such"), ("prompt", "Hi")];
    let page = ada.form("/playground", &none).await;
    assert!(page.status == 404 && page.has("model_not_found"), "{}", page.body);

    let fine = [("model", "mock"), ("prompt", "Hi")];
    for _ in 0..2 {
        assert_eq!(ada.form("/playground", &fine).await.status, 200);
    }
    let page = ada.form("/playground", &fine).await;
    assert_eq!(page.status, 429, "{}", page.body);
    assert!(page.has("keys.development") && page.has("rate_limit_exceeded"), "{}", page.body);
    let (_, turn) = streamed(&ada.form("/playground/stream", &fine).await);
    assert!(turn.contains("rate_limit_exceeded"), "{turn}");
    assert_eq!(upstream.seen().len(), 2);
    // Another person has limits of their own.
    let mut eve = Browser::invited(&sluice, "eve@example.org", "--role developer").await;
    assert_eq!(eve.get("/playground").await.status, 200);
    assert_eq!(eve.form("/playground", &fine).await.status, 200);
}

#[tokio::test]
async fn a_provider_that_fails_is_told_with_its_record() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    upstream.follow(Script::answer("500 Internal Server Error", &[], "{}"));
    let fields = [("model", "mock"), ("prompt", "Hi")];
    let page = owner.form("/playground", &fields).await;
    assert!(page.status == 502 && page.has("upstream_error"), "{}", page.body);
    assert!(page.has("Open the request"), "{}", page.body);
    // It begins to answer, and breaks off.
    upstream.follow(Script::stream().send(answers::opening(&["Well, "])).then(Step::Reset));
    let (text, turn) = streamed(&owner.form("/playground/stream", &fields).await);
    assert_eq!(text, "Well, ");
    assert!(turn.contains("Well, ") && turn.contains("upstream_error"), "{turn}");
    assert!(!turn.contains("name=\"answered\""), "half an answer is no part of the conversation");
}

#[tokio::test]
async fn whoever_may_have_no_keys_may_not_ask() {
    let (sluice, upstream) = sluice().await;
    let mut auditor = Browser::invited(&sluice, "ada@example.org", "--role auditor").await;
    assert!(!auditor.get("/").await.has("href=\"/playground\" data-key"));
    assert_eq!(auditor.get("/playground").await.status, 403);
    for path in ["/playground", "/playground/stream"] {
        let page = auditor.form(path, &[("model", "mock"), ("prompt", "Hi")]).await;
        assert_eq!(page.status, 403, "{}", page.body);
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn when_the_browser_leaves_the_provider_is_left() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    assert_eq!(owner.get("/playground").await.status, 200);
    let form = format!("{}&model=mock&prompt=Hi", owner.token());
    // Once while it answers, once before it does.
    let answering = Script::stream().send(answers::opening(&["Well, "])).then(Step::Hang);
    for (count, script) in [answering, Script::default().then(Step::Hang)].into_iter().enumerate() {
        upstream.follow(script);
        let ask = owner.signed(Ask::form("/playground/stream", form.clone()));
        let client = sluice.client();
        let asking = tokio::spawn(async move {
            let _answer = client.send(ask).await;
            std::future::pending::<()>().await;
        });
        let asked = async || (upstream.seen().len() > count).then_some(());
        until("the provider to be asked", asked).await;
        asking.abort();
        let closed = async || upstream.last().hung_up.then_some(());
        until("the provider's connection to be closed", closed).await;
    }
}

#[tokio::test]
async fn what_is_written_stays_text() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    assert_eq!(owner.get("/playground").await.status, 200);
    let long = "w".repeat(10_000);
    let hostile = "</pre></textarea><script>alert(1)</script><img src=x onerror=alert(2)>\"'";
    for text in [hostile, "\u{202e}txt.exe \u{2066}", &long] {
        let fields = [("model", "mock"), ("prompt", text), ("asked", text), ("answered", text)];
        upstream.follow(Script::json(&answers::completion(text)));
        let page = owner.form("/playground", &fields).await;
        assert_eq!(page.status, 200, "{}", page.body);
        upstream.follow(Script::events(&(answers::opening(&[text]) + &answers::ending())));
        let (said, turn) = streamed(&owner.form("/playground/stream", &fields).await);
        assert!(said == text, "{turn}");
        for told in [&page.body, &turn] {
            assert!(!told.contains("<script>alert") && !told.contains("<img src=x"), "{told}");
            assert!(told.len() < 300 * 1024, "{} bytes", told.len());
            let mut rest = told.as_str();
            while let Some((before, after)) = rest.split_once('\u{202e}') {
                let tag = &before[before.rfind('<').unwrap()..];
                assert!(!tag.contains('>') || tag.starts_with("<bdi"), "{tag}");
                rest = after;
            }
        }
    }
}
