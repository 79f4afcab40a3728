//! The audit trail in the browser.

use sluice_testkit::until;

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

    // Whoever takes it away as a file stands in it.
    let exports = owner.get("/audit?action=trail.export").await;
    assert_eq!(exports.body.matches("<code>trail.export</code>").count(), 2, "{}", exports.body);
    owner.get("/requests.csv?period=24h").await;
    let exports = owner.get("/audit?action=records.export").await;
    assert!(exports.has("/requests.csv?period=24h"), "{}", exports.body);

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

#[tokio::test]
async fn owners_and_auditors_read_content_and_leave_an_entry() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let body = serde_json::json!({
        "model": "mock",
        "messages": [{ "role": "user", "content": "Ask j.doe@busy-mill.org, please." }],
        "audit_enabled": true,
    });
    let reply = sluice.chat(sluice.key(), &body).await;
    let id = reply.json()["security"]["audit_id"].as_str().unwrap().to_owned();
    let path = format!("/audit/{id}");
    let entry =
        until("the entry", async || Some(owner.get(&path).await).filter(|page| page.status == 200))
            .await;
    assert!(entry.has("Show the content") && !entry.has("please."), "{}", entry.body);
    let shown = owner.form(&format!("{path}/content"), &[]).await;
    assert!(shown.status == 200 && shown.has("please."), "{}", shown.body);
    assert!(!shown.has("j.doe@"), "{}", shown.body);
    assert!(owner.get("/audit?action=content.read").await.has(&id));

    let mut admin = Browser::invited(&sluice, "admin@example.org", "--role admin").await;
    assert!(admin.get(&path).await.has("Owners and auditors may read it"));
    assert_eq!(admin.form(&format!("{path}/content"), &[]).await.status, 403);
    let mut auditor = Browser::invited(&sluice, "auditor@example.org", "--role auditor").await;
    auditor.get(&path).await;
    assert_eq!(auditor.form(&format!("{path}/content"), &[]).await.status, 200);
    // An entry without content says so.
    let adm = owner.get("/audit?kind=administration").await;
    let other = adm.between("/audit/adm_", "\"").map(|rest| format!("/audit/adm_{rest}")).unwrap();
    owner.get(&other).await;
    assert_eq!(owner.form(&format!("{other}/content"), &[]).await.status, 404);
}
