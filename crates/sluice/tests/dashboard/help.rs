//! The help of a deployment, and its `openapi.json`.

use serde_json::Value;
use sluice_gateway::reference::{ENDPOINTS, ERRORS, SCHEMAS};
use sluice_testkit::Ask;

use crate::browser::Browser;
use crate::sluice;

#[tokio::test]
async fn the_document_is_there_for_everybody_and_each_of_its_paths_is_an_endpoint() {
    let (sluice, _upstream) = sluice().await;
    let page = Browser::new(&sluice).get("/openapi.json").await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.header("content-type").starts_with("application/json"));
    let document: Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let base = format!("http://{}/api/v1", sluice.address());
    assert_eq!(document["servers"][0]["url"], base.as_str());

    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), ENDPOINTS.len());
    for (path, operations) in paths {
        for method in operations.as_object().unwrap().keys() {
            let path = format!("/api/v1{}", path.replace("{id}", "mock"));
            let ask = match method.as_str() {
                "get" => Ask::get(&path),
                _ => Ask::form(&path, String::new()),
            };
            let reply = sluice.client().reply(ask.key(sluice.key())).await;
            // The body is no JSON, which only an endpoint complains about.
            let expected = if method == "get" { 200 } else { 415 };
            assert_eq!(reply.status, expected, "{method} {path}: {}", reply.text());
        }
    }
}

#[tokio::test]
async fn the_help_is_of_this_deployment() {
    let (sluice, _upstream) = sluice().await;
    let mut reader = Browser::invited(&sluice, "ada@example.org", "--role billing").await;
    let page = reader.get("/help").await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.len() < 150 * 1024, "{} bytes", page.body.len());
    let base = format!("http://{}/api/v1", sluice.address());
    assert!(page.has(&base) && page.has("<b><bdi>mock</bdi></b>"), "{}", page.body);
    for endpoint in ENDPOINTS {
        assert!(page.has(&format!("id=\"{}\"", endpoint.id)), "{}", endpoint.id);
    }
    for error in ERRORS {
        assert!(page.has(&format!("id=\"error-{}\"", error.code)), "{}", error.code);
    }
    for object in SCHEMAS {
        assert!(page.has(&format!("id=\"object-{}\"", object.name)), "{}", object.name);
    }
    assert!(!page.has("**") && !page.has(".md)"), "what is written is not what is meant");
    // Every link on the page leads to a place on it.
    for link in page.body.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(page.has(&format!("id=\"{id}\"")), "#{id} leads nowhere");
    }
    let page = reader.get("/help/clients").await;
    assert!(page.has("opencode") && page.has(&base) && page.has("SLUICE_API_KEY"), "{}", page.body);
}
