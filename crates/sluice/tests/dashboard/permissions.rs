//! Every page and form against the permission table: as every role, as nobody, and across accounts.

use serde_json::json;
use sluice_core::organisation::Role;
use sluice_dashboard::{Access, Method, Route, routes};
use sluice_gateway::admin::{Scope, Verb};
use sluice_testkit::{Ask, Sluice, until};

use crate::browser::{Browser, Page};
use crate::sluice;

/// What stands in the places of paths: things of the account `default`, in reach of everybody there
/// whose role reaches anything of their kind.
struct Things {
    key: String,
    request: String,
    account: String,
    department: String,
    team: String,
    person: String,
    service: String,
    budget: String,
    policy: String,
    provider_key: String,
    router: String,
    entry: String,
}

impl Things {
    /// A company with one of everything.
    async fn new(sluice: &Sluice) -> Self {
        sluice.done("departments create engineering").await;
        sluice.done("teams create compilers --department engineering").await;
        for role in Role::ALL {
            let (name, role) = (email(role), role.as_str());
            sluice.done(&format!("people create {name} --role {role} --team compilers")).await;
        }
        sluice.done("services create build --team compilers").await;
        sluice.done("accounts create --name elsewhere --tier highest").await;
        sluice.done("budgets set --for team:compilers --measure usd --limit 50").await;
        sluice.done("routers create svc/ours --for team:compilers --members mock").await;
        let developer = email(Role::Developer);
        let owner = format!("person:{developer}");
        let secret =
            sluice.create_named_key("laptop", &["--team", "compilers", "--owner", &owner]).await;
        let body = json!({ "model": "mock", "messages": [{ "role": "user", "content": "Hi" }] });
        let request = sluice.chat(&secret, &body).await.request_id();
        // Commands know of records that are in the journal still; pages and the trail do not.
        until("the record", async || {
            let trail = sluice.json_lines(&["audit", "list", "--json"]).await;
            trail.iter().any(|entry| entry["request_id"] == request).then_some(())
        })
        .await;
        let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
        let laptop = keys.iter().find(|key| key["name"] == "laptop").unwrap();
        let key = laptop["id"].as_str().unwrap().to_owned();
        let trail = sluice.json_lines(&["audit", "list", "--json"]).await;
        let rotation = trail.iter().find(|entry| entry["subject"] == format!("key:{key}")).unwrap();
        Self {
            account: id_of(sluice, "accounts", "name", "default").await,
            department: id_of(sluice, "departments", "name", "engineering").await,
            team: id_of(sluice, "teams", "name", "compilers").await,
            person: id_of(sluice, "people", "email", &developer).await,
            service: id_of(sluice, "services", "name", "build").await,
            provider_key: provider_key(sluice).await,
            router: id_of(sluice, "routers", "name", "svc/ours").await,
            policy: format!("team:{}", id_of(sluice, "teams", "name", "compilers").await),
            budget: id_of(sluice, "budgets", "for_name", "team compilers").await,
            entry: rotation["audit_id"].as_str().unwrap().to_owned(),
            key,
            request,
        }
    }

    /// An address of a route: each place of its path is filled with a thing that is there.
    fn address(&self, route: &Route) -> String {
        let mut path = String::new();
        for segment in route.path.split('/').skip(1) {
            let before = path.clone();
            path.push('/');
            path.push_str(match (before.as_str(), segment) {
                ("/keys", "{id}") => &self.key,
                ("/requests", "{id}") => &self.request,
                ("/budgets", "{id}") => &self.budget,
                ("/policies", "{id}") => &self.policy,
                ("/provider-keys", "{id}") => &self.provider_key,
                ("/routers", "{id}") => &self.router,
                ("/settings/sessions", "{id}") => "1",
                ("/providers", "{name}") => "lab",
                ("/models", "{id}") => "mock",
                ("/organisation/accounts", "{id}") => &self.account,
                ("/organisation/departments", "{id}") => &self.department,
                ("/organisation/teams", "{id}") => &self.team,
                ("/organisation/people", "{id}") => &self.person,
                ("/organisation/services", "{id}") => &self.service,
                (_, "{session}") => "1",
                ("/audit", "{id}") => &self.entry,
                (_, place) if place.starts_with('{') => {
                    panic!("say what stands in {place} of {}", route.path)
                }
                (_, fixed) => fixed,
            });
        }
        if path.is_empty() { "/".to_owned() } else { path }
    }
}

/// A provider key of the team.
async fn provider_key(sluice: &Sluice) -> String {
    let line =
        ["provider-keys", "add", "--provider", "lab", "--for", "team:compilers", "--no-test"];
    let added = sluice.cli_given(&line, "sk-compilers-012345").await;
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    id_of(sluice, "provider-keys", "for_name", "team compilers").await
}

async fn id_of(sluice: &Sluice, kind: &str, member: &str, name: &str) -> String {
    let list = sluice.json_lines(&[kind, "list", "--json"]).await;
    let found = list.iter().find(|it| it[member] == name);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

fn email(role: Role) -> String {
    format!("some-{}@example.org", role.as_str())
}

/// What is not asked of anybody here: it belongs to nobody who has signed in, or it never ends.
fn is_apart(route: &Route) -> bool {
    route.access == Access::Anyone || route.path == "/live/events"
}

fn is_open(verb: Verb, role: Role) -> bool {
    verb.scope(role) != Scope::None
}

#[tokio::test]
async fn every_route_is_open_to_those_whose_role_permits_it() {
    let (sluice, _upstream) = sluice().await;
    let things = Things::new(&sluice).await;
    for role in Role::ALL {
        let mut reader = Browser::invited(&sluice, &email(role), "").await;
        for route in routes().filter(|route| !is_apart(route)) {
            // The first owner of all is operator, too.
            if role == Role::Owner
                && matches!(route.access, Access::May(verb) if !is_open(verb, role))
            {
                continue;
            }
            let path = things.address(route);
            let permitted = match route.access {
                Access::May(verb) => is_open(verb, role),
                _ => true,
            };
            let page = match (route.method, permitted) {
                (Method::Get, _) => reader.get(&path).await,
                (Method::Post, false) => reader.form(&path, &[]).await,
                // Done, it would change what the next ones are asked about.
                (Method::Post, true) => continue,
            };
            let expected = match permitted {
                false => 403,
                // Nothing is to be taken back there.
                true if path.ends_with("/resume") => 404,
                true => 200,
            };
            assert_eq!(page.status, expected, "{} as {}: {}", path, role.as_str(), page.body);
        }
    }
}

#[tokio::test]
async fn nobody_gets_no_further_than_the_door() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let things = Things::new(&sluice).await;
    let mut nobody = Browser::new(&sluice);
    for route in routes().filter(|route| route.access != Access::Anyone) {
        let path = things.address(route);
        match route.method {
            Method::Get => {
                let page = nobody.get(&path).await;
                let sent = page.location().starts_with("/sign-in");
                assert!(page.status == 303 && sent, "{path}: {} {}", page.status, page.body);
            }
            Method::Post => {
                assert_eq!(nobody.form(&path, &[]).await.status, 403, "{path}");
                // A form that another site made knows no token; one that knows it is told by the browser.
                assert_eq!(owner.ask(Ask::form(&path, String::new())).await.status, 403, "{path}");
                let foreign =
                    Ask::form(&path, owner.token()).header("sec-fetch-site", "cross-site");
                assert_eq!(owner.ask(foreign).await.status, 403, "{path}");
                let foreign =
                    Ask::form(&path, owner.token()).header("origin", "https://evil.example");
                assert_eq!(owner.ask(foreign).await.status, 403, "{path}");
            }
        }
    }
    let pages = [owner.get("/keys").await, owner.get("/settings").await];
    assert!(pages.iter().all(|page| page.status == 200), "what was refused has ended nothing");
}

#[tokio::test]
async fn what_belongs_to_another_account_is_not_there() {
    let (sluice, _upstream) = sluice().await;
    let things = Things::new(&sluice).await;
    // Sees all there is in their own account, and is no operator.
    let mut outsider =
        Browser::invited(&sluice, "eve@example.net", "--role owner --account elsewhere").await;
    let hidden = [
        "laptop",
        "compilers",
        "engineering",
        &things.key,
        &things.request,
        &things.team,
        &things.entry,
    ];
    for route in routes().filter(|route| !is_apart(route)) {
        let path = things.address(route);
        let has_place = route.path.contains('{');
        let page: Page = match route.method {
            Method::Get => outsider.get(&path).await,
            Method::Post if has_place => outsider.form(&path, &[]).await,
            Method::Post => continue,
        };
        let of_nobody = match route.access {
            // Accounts are the operators'.
            Access::May(verb) => verb.concerns_deployment() || !is_open(verb, Role::Owner),
            _ => false,
        };
        if of_nobody {
            continue;
        }
        assert_eq!(page.status, if has_place { 404 } else { 200 }, "{route:?}: {}", page.body);
        for name in hidden {
            let says = page.body.replace(&path, "");
            assert!(!says.contains(name), "{path} tells {name}");
        }
    }
}
