//! Where the dashboard is reached: beside the API or at an address of its own, and over the network by
//! HTTPS alone.

use sluice_testkit::{Ask, Client, Config, FakeUpstream, Script, Sluice, answers};

use crate::browser::Browser;
use crate::{BINARY, sluice};

#[tokio::test]
async fn over_the_network_there_is_no_page_without_https() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let by_name = |ask: Ask| ask.header("host", "sluice.example.org");
    for path in ["/", "/sign-in", "/keys", "/nowhere"] {
        let page = owner.ask(by_name(Ask::get(path))).await;
        assert!(page.status == 403 && page.has("needs HTTPS"), "{path}: {}", page.body);
        assert!(!page.has("owner@example.org"), "{path}: {}", page.body);
    }
    let form = Ask::form("/sign-in", "email=owner%40example.org&password=x".to_owned());
    assert_eq!(owner.ask(by_name(form)).await.status, 403);
    // Nobody believes what a stranger's header says of HTTPS.
    let page = owner.ask(by_name(Ask::get("/sign-in").header("x-forwarded-proto", "https"))).await;
    assert_eq!(page.status, 403);
    assert_eq!(owner.get("/keys").await.status, 200);
}

#[tokio::test]
async fn behind_a_trusted_proxy_cookies_are_bound_to_the_host() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().mock(&upstream).server("trusted_proxies = [\"127.0.0.1\"]");
    let sluice = Sluice::start(BINARY, &config).await;
    Browser::welcome(&sluice).await;
    let fields = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("email", "owner@example.org"), ("password", crate::browser::PASSWORD)])
        .finish();
    let ask = Ask::form("/sign-in", fields)
        .header("host", "sluice.example.org")
        .header("x-forwarded-for", "192.0.2.9")
        .header("x-forwarded-proto", "https");
    let page = Browser::new(&sluice).ask(ask).await;
    assert_eq!(page.status, 303, "{}", page.body);
    let cookie = page.header("set-cookie");
    let holds = ["__Host-sluice=", "; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"];
    assert!(holds.iter().all(|it| cookie.contains(it)), "{cookie}");
}

#[tokio::test]
async fn an_address_of_its_own_has_the_pages_and_the_other_one_none() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().mock(&upstream).server("dashboard_listen = \"127.0.0.1:0\"");
    let sluice = Sluice::start(BINARY, &config).await;
    let said = sluice.stdout();
    let link = said.lines().find_map(|line| line.split_once("Dashboard  http://")).unwrap().1;
    let (address, path) = link.split_at(link.find('/').unwrap());
    let pages = Client::new(address.parse().unwrap());
    assert_ne!(sluice.address().to_string(), address);
    let mut owner = Browser::at(Client::new(address.parse().unwrap()));
    owner.enters(path, "owner@example.org").await;
    let fields = [("email", "ada@example.org"), ("role", "developer")];
    let page = owner.form("/organisation/people", &fields).await;
    assert!(page.has(&format!("http://{address}/invite/")), "{}", page.body);
    let reply = sluice.client().reply(Ask::get(path)).await;
    assert_eq!((reply.status.as_u16(), reply.header("content-type")), (401, "application/json"));
    assert_eq!(sluice.get("/api/v1/models", sluice.key()).await.status, 200);
    let reply = pages.reply(Ask::get("/api/v1/models").key(sluice.key())).await;
    assert_eq!(reply.status, 404, "{}", reply.text());
    for client in [pages, sluice.client()] {
        assert_eq!(client.reply(Ask::get("/livez")).await.status, 200);
    }
}
