//! What pages count, and the way from each figure to its requests.

use serde_json::json;
use sluice_testkit::{Script, Sluice, answers, until};

use crate::browser::{Browser, Page};
use crate::sluice;

/// Addresses that stand on a page, as a browser reads them.
fn links(page: &Page, begin: &str) -> Vec<String> {
    let begin = format!("href=\"{begin}");
    let links = page.body.split(&begin).skip(1).filter_map(|rest| rest.split('"').next());
    let links = links.map(|rest| format!("{begin}{rest}").replacen("href=\"", "", 1));
    links.map(|it| it.replace("&#38;", "&").replace("&amp;", "&")).collect()
}

/// The rows of the list of requests.
fn rows(page: &Page) -> usize {
    page.body.matches("<a class=\"go\" href=\"/requests/req_").count()
}

/// Waits until so many requests are listed: they are on their way into the database.
async fn listed(browser: &mut Browser, count: usize) {
    until("the requests to be listed", async || {
        (rows(&browser.get("/requests").await) == count).then_some(())
    })
    .await;
}

async fn ask(sluice: &Sluice, key: &str, text: &str) -> String {
    let body = json!({ "model": "mock", "messages": [{ "role": "user", "content": text }] });
    sluice.chat(key, &body).await.request_id()
}

#[tokio::test]
async fn figures_lead_to_the_requests_that_they_count() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let key = sluice.create_named_key("laptop", &[]).await;
    ask(&sluice, &key, "Hello").await;
    let redacted = ask(&sluice, &key, "Write to mina.okafor@example.org").await;
    upstream.follow(Script::answer("400 Bad Request", &[], "{}"));
    ask(&sluice, &key, "Hello").await;
    upstream.follow(Script::json(&answers::completion("Hello")));
    listed(&mut owner, 3).await;

    let failed = owner.get("/requests?outcome=failed").await;
    assert!(rows(&failed) == 1 && failed.has(">failed</bdi></b>"), "{}", failed.body);
    assert_eq!(rows(&owner.get("/requests?filter=any").await), 1);
    // A word that stands for nothing is no filter, and none is shown.
    let unknown = owner.get("/requests?outcome=nonsense").await;
    assert!(rows(&unknown) == 3 && !unknown.has("nonsense"), "{}", unknown.body);
    assert_eq!(rows(&owner.get("/requests?provider=lab").await), 3);
    assert!(owner.get("/requests?provider=lab").await.has(">lab</bdi></b>"));

    // Each figure and bar of the overview and of the key's page leads to a list that has rows.
    let path = owner.get("/find?q=laptop").await.location().to_owned();
    for page in ["/overview?period=30d", path.as_str()] {
        let page = owner.get(page).await;
        let found = links(&page, "/requests?");
        assert!(
            found.iter().all(|it| it.contains("period=30d") || it.contains("since=")),
            "{found:?}"
        );
        for link in found.iter().filter(|it| it.contains("period=")) {
            assert!(rows(&owner.get(link).await) > 0, "{link}");
        }
        let last = found.iter().rfind(|it| it.contains("since=")).unwrap();
        assert!(rows(&owner.get(last).await) > 0, "{last}");
    }
    // An id leads to its request, whatever is filtered besides.
    let sought = format!("/requests?outcome=failed&q={redacted}");
    assert_eq!(owner.get(&sought).await.location(), format!("/requests/{redacted}"));
    let begun = owner.get(&format!("/requests?q={}", &redacted[..12])).await;
    assert!(rows(&begun) > 0, "{}", begun.body);
    // A request leads to its neighbours.
    let page = owner.get(&format!("/requests/{redacted}")).await;
    assert!(page.has("rel=\"prev\"") && page.has("rel=\"next\""), "{}", page.body);

    let past = owner.get("/requests?since=2020-01-01&until=2020-01-02").await;
    assert!(past.has("Nothing matches") && past.has(">1 Jan 2020"), "{}", past.body);
    assert!(!past.has("No requests yet"));

    let csv = owner.get(&format!("{path}/spend.csv?period=24h")).await;
    let table = owner.get(&format!("{path}?period=24h")).await;
    let table = table.between("<tbody>", "</tbody>").unwrap().matches("<tr ").count();
    assert_eq!(csv.body.lines().count(), table + 1, "{}", csv.body);
}

#[tokio::test]
async fn a_list_without_rows_says_whether_there_are_any() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    assert!(owner.get("/requests").await.has("No requests yet"));
    let mut developer = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    let key = sluice.create_named_key("laptop", &["--owner", "owner@example.org"]).await;
    ask(&sluice, &key, "Hello").await;
    listed(&mut owner, 1).await;
    // What others asked is none of theirs, nor that anybody asked.
    assert!(developer.get("/requests").await.has("No requests yet"));
    assert!(developer.get("/").await.has("Send the first request"));
}
