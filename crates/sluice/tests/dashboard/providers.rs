//! Connecting a provider in the browser.

use serde_json::json;
use sluice_testkit::{FakeUpstream, Script, Sluice, answers};

use crate::browser::Browser;
use crate::sluice;

const SECRET: &str = "sk-browser-0123456789abcdef";

async fn asked(sluice: &Sluice, model: &str) -> u16 {
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": "Hi" }] });
    sluice.chat(sluice.key(), &body).await.status.as_u16()
}

fn fields<'a>(url: &'a str, name: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("kind", "openai"),
        ("name", name),
        ("base_url", url),
        ("credential", SECRET),
        ("region", "eu-west"),
        ("models", "fresh\n"),
    ]
}

#[tokio::test]
async fn a_provider_is_connected_in_the_browser_and_in_force_at_once() {
    let (sluice, lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let list = json!({ "data": [{ "id": "fresh" }] });
    let other = FakeUpstream::start(Script::json(&list)).await;
    let url = other.base_url();
    let page = owner.get("/providers/new").await;
    assert!(page.status == 200 && page.has("Test and connect"), "{}", page.body);

    // A credential that is not valid is told, and nothing is stored.
    let refusal = json!({ "error": { "message": format!("no such key {SECRET}") } });
    let headers = ["content-type: application/json"];
    other.follow(Script::answer("401 Unauthorized", &headers, &refusal.to_string()));
    let refused = owner.form("/providers/new", &fields(&url, "mine")).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.has("401") && refused.has("give it a credential"), "{}", refused.body);
    assert!(refused.has(&url) && !refused.has(SECRET), "what was typed stays but the credential");
    assert_eq!(owner.get("/providers/mine").await.status, 404);

    // A test stores nothing either.
    other.follow(Script::json(&list));
    let tested = owner.form("/providers/new/test", &fields(&url, "mine")).await;
    assert!(tested.status == 200 && tested.has("answered") && !tested.has(SECRET));
    assert_eq!(owner.get("/providers/mine").await.status, 404);
    for (name, what) in [("Not A Name", "`name`"), ("lab", "configuration file")] {
        let refused = owner.form("/providers/new", &fields(&url, name)).await;
        assert!(refused.status == 422 && refused.has(what), "{name}: {}", refused.body);
    }

    let made = owner.form("/providers/new", &fields(&url, "mine")).await;
    assert_eq!((made.status, made.location()), (303, "/providers/mine?done=connected"));
    assert_eq!(other.last().header("authorization"), format!("Bearer {SECRET}"));
    other.follow(Script::json(&answers::completion("Hello")));
    assert_eq!(asked(&sluice, "mine/fresh").await, 200);
    let mine = owner.get("/providers/mine").await;
    assert!(mine.has("database") && mine.has("eu-west") && !mine.has(SECRET), "{}", mine.body);
    let listed = owner.get("/providers").await;
    assert!(listed.has("/providers/mine") && listed.has("answers"), "{}", listed.body);
    assert!(!owner.get("/").await.has("Sluice found no key"), "the step is done");

    other.follow(Script::json(&list));
    let again = owner.form("/providers/new", &fields(&url, "mine")).await;
    assert!(again.status == 422 && again.has("already a provider"), "{}", again.body);
    other.follow(Script::json(&answers::completion("Hello")));

    // Another address does not get the credential by itself.
    let lab_url = lab.base_url();
    let moved = owner.form("/providers/mine", &[("base_url", &lab_url)]).await;
    assert!(moved.status == 422 && moved.has("another address"), "{}", moved.body);
    // One of the models is there already: then the provider stays as it was, too.
    let both = [("base_url", url.as_str()), ("region", "us-east"), ("models", "second\nfresh")];
    let refused = owner.form("/providers/mine", &both).await;
    assert!(refused.status == 422 && refused.has("already a model"), "{}", refused.body);
    assert!(owner.get("/providers/mine").await.has("value=\"eu-west\" selected"));
    let more = [("base_url", url.as_str()), ("models", "second")];
    let changed = owner.form("/providers/mine", &more).await;
    assert_eq!((changed.status, changed.location()), (303, "/providers/mine?done=changed"));
    assert_eq!(asked(&sluice, "mine/second").await, 200);

    // It goes by its name, with its models.
    let question = owner.get("/providers/mine/remove").await;
    assert!(question.status == 200 && question.has("2 models"), "{}", question.body);
    let refused = owner.form("/providers/mine/remove", &[("confirm", "other")]).await;
    assert_eq!(refused.status, 422);
    let removed = owner.form("/providers/mine/remove", &[("confirm", "mine")]).await;
    assert_eq!((removed.status, removed.location()), (303, "/providers?done=removed"));
    assert_eq!(asked(&sluice, "mine/fresh").await, 404);
    assert_eq!(owner.get("/providers/mine").await.status, 404);

    let trail = sluice.json_lines(&["audit", "list", "--json", "--kind", "administration"]).await;
    assert!(trail.iter().any(|it| it["verb"] == "providers.create"), "{trail:?}");
    let said = format!("{trail:?}{}{}", sluice.stdout(), sluice.stderr());
    assert!(!said.contains(SECRET));
}

#[tokio::test]
async fn a_change_is_tested_as_it_was_typed_and_not_stored() {
    const NEWER: &str = "sk-newer-0123456789abcdef";
    let (sluice, lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let other = FakeUpstream::start(Script::json(&json!({ "data": [{ "id": "fresh" }] }))).await;
    let url = other.base_url();
    owner.get("/providers/new").await;
    assert_eq!(owner.form("/providers/new", &fields(&url, "mine")).await.status, 303);
    let page = owner.get("/providers/mine").await;
    assert!(page.has("not asked yet") && page.has("none since the start"), "{}", page.body);

    let typed =
        [("base_url", &*url), ("credential", NEWER), ("region", "us-east"), ("models", "second")];
    let tested = owner.form("/providers/mine/test", &typed).await;
    assert!(tested.status == 200 && tested.has("answered"), "{}", tested.body);
    assert_eq!(other.last().header("authorization"), format!("Bearer {NEWER}"));
    assert!(tested.has("value=\"us-east\" selected") && tested.has("second</textarea>"));
    assert!(tested.has("type it again") && !tested.has(NEWER), "{}", tested.body);

    // Where no credential was typed, the stored one is good for the stored address alone.
    let typed = [("base_url", &*url), ("region", "")];
    assert_eq!(owner.form("/providers/mine/test", &typed).await.status, 200);
    assert_eq!(other.last().header("authorization"), format!("Bearer {SECRET}"));
    let moved = owner.form("/providers/mine/test", &[("base_url", &lab.base_url())]).await;
    assert!(moved.status == 422 && moved.has("another address"), "{}", moved.body);
    assert!(moved.has(&lab.base_url()) && lab.seen().is_empty(), "{}", moved.body);

    let stored = owner.get("/providers/mine").await;
    assert!(stored.has("value=\"eu-west\" selected") && !stored.has("second"), "{}", stored.body);
    other.follow(Script::json(&answers::completion("Hello")));
    assert_eq!(asked(&sluice, "mine/fresh").await, 200);
    assert!(owner.get("/providers/mine").await.has("answers"), "its calls tell how it is doing");
}

#[tokio::test]
async fn what_the_file_has_is_read_only_and_others_only_look() {
    let (sluice, _lab) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let lab = owner.get("/providers/lab").await;
    assert!(lab.status == 200 && lab.has("configuration file") && lab.has("/providers/lab/test"));
    assert!(!lab.has("name=\"credential\""), "{}", lab.body);
    assert_eq!(owner.get("/providers/lab/remove").await.status, 404);
    let removed = owner.form("/providers/lab/remove", &[("confirm", "lab")]).await;
    assert!(removed.status == 422 && removed.has("configuration file"), "{}", removed.body);
    let changed = owner.form("/providers/lab", &[("region", "eu-west")]).await;
    assert!(changed.status == 422 && changed.has("configuration file"), "{}", changed.body);

    let mut second = Browser::invited(&sluice, "second@example.org", "--role owner").await;
    let page = second.get("/providers").await;
    assert!(page.status == 200 && page.has("/providers/lab") && !page.has("/providers/new"));
    let page = second.get("/providers/lab").await;
    assert!(page.status == 200 && !page.has("/providers/lab/test"), "{}", page.body);
    assert_eq!(second.get("/providers/new").await.status, 403);
    let url = "http://127.0.0.1:9";
    for path in ["/providers/new", "/providers/new/test", "/providers/lab/test"] {
        assert_eq!(second.form(path, &fields(url, "mine")).await.status, 403, "{path}");
    }
}
