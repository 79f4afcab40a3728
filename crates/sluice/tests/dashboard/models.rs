//! The catalogue of models and the cards of routers.

use serde_json::json;

use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers};

use crate::browser::Browser;
use crate::{BINARY, sluice};

#[tokio::test]
async fn every_model_is_on_a_page() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let mut config = Config::default().provider("lab", &upstream.base_url());
    for number in 0..230 {
        config = config.model(&format!("mock-{number:03}"), "\"lab\"");
    }
    let sluice = Sluice::start(BINARY, &config).await;
    let mut owner = Browser::welcome(&sluice).await;
    let first = owner.get("/models?from=file").await;
    assert!(first.has("1 to 200 of 230 models") && !first.has("rel=\"prev\""), "{}", first.body);
    let next = first.between("rel=\"next\" href=\"", "\"").unwrap().replace("&#38;", "&");
    let second = owner.get(&next).await;
    assert!(second.has("201 to 230 of 230 models") && second.has("rel=\"prev\""), "{next}");
    for number in 0..230 {
        let link = format!("href=\"/models/mock-{number:03}\"");
        assert_eq!(first.has(&link), !second.has(&link), "{link}");
    }
    // Routers and second names count as well.
    let help = owner.get("/help").await;
    assert!(help.has("mock-000") && help.has("more</a>"), "{}", help.body);
}

#[tokio::test]
async fn a_form_of_a_router_takes_nothing_back_that_somebody_else_has_changed() {
    let (sluice, _lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("routers create svc/ours --members mock").await;
    let id = sluice.json_lines(&["routers", "list", "--json"]).await[0]["id"].clone();
    let path = format!("/routers/{}", id.as_str().unwrap());
    let drawn = async |owner: &mut Browser| {
        let page = owner.get(&path).await;
        page.between("name=\"drawn\" value=\"", "\"").unwrap().to_owned()
    };
    let before = drawn(&mut owner).await;
    sluice.done("routers set svc/ours --max-cost 5").await;
    let with = |drawn: &str| {
        [("members", "mock".to_owned()), ("max_cost", "7".to_owned()), ("drawn", drawn.to_owned())]
    };
    let send = async |owner: &mut Browser, drawn: &str| {
        let fields = with(drawn);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        owner.form(&path, &fields).await
    };
    let refused = send(&mut owner, &before).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.has("Somebody else changed this") && refused.has("value=\"5\""));
    let now = drawn(&mut owner).await;
    let saved = send(&mut owner, &now).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert!(owner.get(&path).await.has("value=\"7\""));
}

#[tokio::test]
async fn models_are_searched_shown_and_removed() {
    let (sluice, _lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let add =
        "models add team/parrot --provider lab --upstream-model mock --price input=1,output=4";
    sluice.done(add).await;
    let body = json!({ "model": "team/parrot", "messages": [{ "role": "user", "content": "Hi" }] });
    sluice_testkit::until("the model", async || {
        (sluice.chat(sluice.key(), &body).await.status == 200).then_some(())
    })
    .await;
    let all = owner.get("/models").await;
    assert!(all.has("/models/mock") && all.has("/models/team%2Fparrot"), "{}", all.body);
    for (path, shown) in [
        ("/models?q=parr", true),
        ("/models?from=database", true),
        ("/models?from=file", false),
        ("/models?provider=lab&q=team", true),
        ("/models?can=vision", false),
    ] {
        assert_eq!(owner.get(path).await.has("/models/team%2Fparrot"), shown, "{path}");
    }
    let csv = owner.get("/models.csv?from=database").await;
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert!(csv.has("team/parrot,database,lab") && !csv.has("mock,file"), "{}", csv.body);

    let page = owner.get("/models/team%2Fparrot").await;
    let drawn = page.between("name=\"drawn\" value=\"", "\"").unwrap().to_owned();
    assert!(page.status == 200 && page.has("/api/v1/chat/completions"), "{}", page.body);
    assert!(page.has("$4 answer") && page.has("/models/team%2Fparrot/remove"), "{}", page.body);
    assert!(!owner.get("/models/mock").await.has("/models/mock/remove"), "it is the file's");
    assert_eq!(owner.get("/models/nobody").await.status, 404);
    // What it costs is changed there, and what was typed wrong is said at its field.
    let change = [("price_input", "2"), ("price_output", "8.5"), ("context_window", "32,000")];
    let changed = owner.form("/models/team%2Fparrot", &change).await;
    assert_eq!(changed.status, 303, "{}", changed.body);
    let page = owner.get(changed.location()).await;
    assert!(page.has("$8.5 answer") && page.has("32,000 tokens"), "{}", page.body);
    let late = [("price_input", "1"), ("price_output", "4"), ("drawn", drawn.as_str())];
    let late = owner.form("/models/team%2Fparrot", &late).await;
    assert!(late.status == 409 && late.has("value=\"8.5"), "{}", late.body);
    for (wrong, says) in [
        ([("price_input", "two"), ("price_output", "8")], "write 2.50"),
        ([("price_input", ""), ("price_output", "8")], "A price has"),
        ([("context_window", "many"), ("output_limit", "")], "whole number"),
    ] {
        let page = owner.form("/models/team%2Fparrot", &wrong).await;
        assert!(page.status == 422 && page.has(says), "{says}: {}", page.body);
    }
    assert_eq!(owner.form("/models/mock", &change).await.status, 404, "it is the file's");
    let path = "/models/team%2Fparrot/remove";
    assert_eq!(owner.form(path, &[("confirm", "parrot")]).await.status, 422);
    let removed = owner.form(path, &[("confirm", "team/parrot")]).await;
    assert_eq!((removed.status, removed.location()), (303, "/models?done=removed"));
    assert_eq!(sluice.chat(sluice.key(), &body).await.status, 404);

    let mut developer = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    assert_eq!(developer.get("/models/mock").await.status, 200);
    assert_eq!(developer.form("/models/mock/remove", &[]).await.status, 403);
}

#[tokio::test]
async fn each_router_has_a_card() {
    let (sluice, _lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let page = owner.get("/routers").await;
    assert_eq!(page.status, 200, "{}", page.body);
    for word in
        ["svc/auto", "svc/orbit", "svc/nebula", "Benchmark score", "Pricing tier", "Last changed"]
    {
        assert!(page.has(word), "{word}: {}", page.body);
    }
    assert!(page.has("Included models") && page.has("mock"), "{}", page.body);
}
