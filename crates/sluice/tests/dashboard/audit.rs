//! The audit trail in the browser.

use crate::browser::Browser;
use crate::sluice;

#[tokio::test]
async fn the_trail_is_filtered_exported_and_verified() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    for name in ["engineering", "research"] {
        owner.form("/organisation/departments", &[("name", name)]).await;
    }
    sluice.done("services create build").await;

    let page = owner.get("/audit?action=departments.create").await;
    assert!(page.has("engineering") && page.has("research"), "{}", page.body);
    assert!(!page.has("<code>services.create</code>"), "{}", page.body);
    assert!(!owner.get("/audit?kind=request").await.has("<code>departments.create</code>"));
    let whole = owner.get("/audit?kind=administration&period=24h").await;
    assert!(whole.has("<code>services.create</code>") && whole.has("command line"));
    let id = page.between("/audit/adm_", "\"").map(|rest| format!("adm_{rest}")).unwrap();

    let entry = owner.get(&format!("/audit/{id}")).await;
    assert!(entry.status == 200 && entry.has("departments.create") && entry.has("research"));
    assert_eq!(owner.get("/audit/adm_none").await.status, 404);
    assert_eq!(owner.get(&format!("/audit?q={id}")).await.location(), format!("/audit/{id}"));

    let csv = owner.get("/audit.csv?action=departments.create").await;
    assert_eq!(csv.body.lines().count(), 3, "{}", csv.body);
    let lines = owner.get("/audit.jsonl?action=departments.create").await;
    let lines: Vec<serde_json::Value> =
        lines.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["after"]["name"], "research");

    let verified = owner.form("/audit/verify?kind=administration", &[]).await;
    assert!(verified.status == 200 && verified.has("The chain holds"), "{}", verified.body);
    // What it leads to is there, and keeps the filter.
    let links = verified.body.split("href=\"/audit").skip(1).filter_map(|it| it.split('"').next());
    let links: Vec<String> =
        links.map(|it| format!("/audit{it}").replace("&#38;", "&").replace("&amp;", "&")).collect();
    assert!(links.iter().any(|it| it.contains("kind=administration")), "{links:?}");
    for link in links {
        assert_eq!(owner.get(&link).await.status, 200, "{link}");
    }
    let mut developer = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    assert_eq!(developer.get("/audit").await.status, 403);
    assert_eq!(developer.form("/audit/verify", &[]).await.status, 403);
}

#[tokio::test]
async fn the_trail_is_read_page_by_page() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    for number in 0..110 {
        owner.form("/organisation/departments", &[("name", &format!("d{number}"))]).await;
    }
    let mut path = "/audit?action=departments.create".to_owned();
    let mut seen = 0;
    loop {
        let page = owner.get(&path).await;
        seen += page.body.matches("<code>departments.create</code>").count();
        match page.between("rel=\"next\" href=\"", "\"") {
            Some(next) => path = next.replace("&#38;", "&").replace("&amp;", "&"),
            None => break,
        }
    }
    assert_eq!(seen, 110);
    // An export has them all, though it reads them a hundred at a time.
    let csv = owner.get("/audit.csv?action=departments.create").await;
    assert_eq!(csv.body.lines().count(), 111);
}
