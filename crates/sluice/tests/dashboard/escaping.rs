//! What users, headers and providers say is text on every page: no markup, no direction for what stands
//! around it, and no end of the page's bound.
//!
//! The forms are those that the pages have: each of their fields is sent once with each hostile text,
//! also those in which a browser lets nobody type.

use std::collections::HashSet;

use serde_json::{Value, json};
use sluice_dashboard::{Access, Method, Route, routes};
use sluice_testkit::{Ask, FakeUpstream, Script, Sluice, answers, until};

use crate::browser::{Browser, Page};
use crate::forms::forms;
use crate::sluice;

/// Would run if it were markup, in text and in an attribute of either quotes.
const MARKUP: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
/// Turns the direction of what follows. Names refuse it.
const TURNED: &str = "\u{202e}txt.exe\u{2067}";
/// Everything that turns the direction of what follows.
const TURNS: [char; 9] = [
    '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}',
];
/// A page has at most so many bytes.
const MOST: usize = 150 * 1024;

fn texts() -> [String; 3] {
    [MARKUP.to_owned(), TURNED.to_owned(), "w".repeat(10_000)]
}

/// Whether nothing on a page is more than text.
fn is_clean(page: &Page, path: &str) {
    assert!(page.status < 500 || page.status == 502, "{path}: {} {}", page.status, page.body);
    for raw in ["<script>alert", "<img src=x", "\"'><img"] {
        assert!(!page.body.contains(raw), "{path} has {raw}: {}", page.body);
    }
    for (at, _) in page.body.match_indices(TURNS) {
        let before = &page.body[..at];
        let tag = before.rfind('<').and_then(|at| before.get(at..)).unwrap_or_default();
        // In an attribute, or isolated from what stands around it.
        let is_quoted = !tag.contains('>');
        let is_isolated = before.matches("<bdi").count() > before.matches("</bdi>").count()
            || ["<option", "<textarea", "<title"].iter().any(|it| tag.starts_with(it));
        assert!(is_quoted || is_isolated, "{path}: {tag}");
    }
}

/// A page that nothing was typed into, which is no longer than any page may be.
async fn open(browser: &mut Browser, path: &str) -> Page {
    let page = browser.get(path).await;
    if page.header("content-type").starts_with("text/html") {
        assert!(page.body.len() <= MOST, "{path} has {} bytes", page.body.len());
        is_clean(&page, path);
    }
    page
}

/// The page of a request, which is written a moment after its answer.
async fn open_request(browser: &mut Browser, id: &str) {
    let path = format!("/requests/{id}");
    let page = async || Some(browser.get(&path).await).filter(|page| page.status == 200);
    is_clean(&until("the request's page", page).await, &path);
}

/// What the forms are about: one of everything, beside what keeps the owner signed in.
struct Things {
    /// For each beginning of a path, what comes next.
    ids: Vec<(&'static str, String)>,
    /// A request's entry in the trail, with content beside it.
    audited: String,
    secret: String,
}

impl Things {
    async fn new(sluice: &Sluice, owner: &mut Browser, upstream: &FakeUpstream) -> Self {
        for line in [
            "departments create engineering",
            "teams create compilers --department engineering",
            "people create target@example.org --team compilers",
            "services create build --team compilers",
            "accounts create --name elsewhere --tier highest",
            "budgets set --for team:compilers --measure usd --limit 50",
            "routers create svc/ours --for team:compilers --members mock",
            // A version to go back to.
            "routers set svc/ours --max-cost 5",
        ] {
            sluice.done(line).await;
        }
        let url = upstream.base_url();
        let fields = [("kind", "openai"), ("name", "mine"), ("base_url", &url)];
        let fields = [&fields[..], &[("credential", "sk-mine"), ("models", "parrot")]].concat();
        upstream.follow(Script::json(&json!({ "data": [{ "id": "parrot" }] })));
        owner.get("/providers/new").await;
        let made = owner.form("/providers/new", &fields).await;
        assert_eq!(made.status, 303, "{}", made.body);
        upstream.follow(Script::json(&answers::completion("Hello")));
        // What forms do to one key is nothing to the other, which asks.
        let holder = ["--team", "compilers", "--owner", "person:ada@example.org"];
        sluice.create_named_key("laptop", &holder).await;
        let secret = sluice.create_named_key("caller", &holder).await;
        let mut ids = vec![
            ("/providers/", "mine".to_owned()),
            ("/models/", "mine%2Fparrot".to_owned()),
            ("/settings/sessions/", "1".to_owned()),
        ];
        for (path, kind, member, name) in [
            ("/keys/", "keys", "name", "laptop"),
            ("/budgets/", "budgets", "for_name", "team compilers"),
            ("/routers/", "routers", "name", "svc/ours"),
            ("/organisation/departments/", "departments", "name", "engineering"),
            ("/organisation/teams/", "teams", "name", "compilers"),
            ("/organisation/people/", "people", "email", "target@example.org"),
            ("/organisation/services/", "services", "name", "build"),
            ("/organisation/accounts/", "accounts", "name", "elsewhere"),
        ] {
            let list = sluice.json_lines(&[kind, "list", "--json"]).await;
            let found = list.iter().find(|it| it[member] == name).unwrap();
            ids.push((path, found["id"].as_str().unwrap().to_owned()));
        }
        sluice.done("policy set --for team:compilers --audit").await;
        let policies = sluice.json_lines(&["policy", "list", "--json"]).await;
        ids.push(("/policies/", policies[0]["for"].as_str().unwrap().to_owned()));
        let line = "provider-keys add --provider lab --for team:compilers --no-test --json";
        let words: Vec<&str> = line.split_whitespace().collect();
        let added = sluice.cli_given(&words, "sk-compilers-012345").await;
        let added: Value = serde_json::from_str(&added.stdout).unwrap();
        ids.push(("/provider-keys/", added["id"].as_str().unwrap().to_owned()));
        let trail = sluice.json_lines(&["audit", "list", "--json"]).await;
        ids.push(("/audit/", trail[0]["audit_id"].as_str().unwrap().to_owned()));
        let body = json!({
            "model": "mock", "audit_enabled": true,
            "messages": [{ "role": "user", "content": "Hello" }],
        });
        let reply = sluice.chat(&secret, &body).await;
        let audited = reply.json()["security"]["audit_id"].as_str().unwrap().to_owned();
        let shown = ["audit", "show", &audited];
        until("the entry", async || (sluice.cli(&shown).await.code == Some(0)).then_some(())).await;
        Self { ids, audited, secret }
    }

    /// An address of a page; `None` where it has a place that nothing of this test stands in.
    fn address(&self, route: &Route) -> Option<String> {
        let Some((before, after)) = route.path.split_once('{') else {
            return Some(route.path.to_owned());
        };
        let known = self.ids.iter().find(|(path, _)| *path == before);
        let id = match route.path {
            "/audit/{id}/content" => &self.audited,
            _ => &known?.1,
        };
        let after = after.split_once('}')?.1;
        (!after.contains('{')).then(|| format!("{before}{id}{after}"))
    }

    /// The addresses of all pages that end.
    fn pages(&self) -> Vec<String> {
        let pages = routes().filter(|it| it.method == Method::Get && it.path != "/live/events");
        let pages = pages.filter_map(|route| self.address(route));
        pages.chain([format!("/audit/{}", self.audited)]).collect()
    }

    /// Takes back what forms have suspended, and the policies that they have set.
    async fn resume(&self, sluice: &Sluice, owner: &mut Browser) {
        for whose in ["account:default", "deployment", "team:compilers"] {
            sluice.done(&format!("policy remove --for {whose}")).await;
        }
        sluice.done("policy set --for team:compilers --audit").await;

        for route in routes().filter(|it| it.method == Method::Post) {
            if route.path.ends_with("/resume")
                && let Some(path) = self.address(route)
            {
                owner.form(&path, &[]).await;
            }
        }
    }
}

/// Sends every form of every page, with this text in each field in turn.
async fn send_forms(owner: &mut Browser, things: &Things, text: &str) {
    let mut sent = HashSet::new();
    for path in things.pages() {
        for form in forms(&owner.get(&path).await, &path) {
            let pairs = form.actions.iter().flat_map(|it| form.names.iter().map(move |n| (it, n)));
            for (action, name) in pairs {
                if sent.insert((action.clone(), name.clone())) {
                    send(owner, &path, action, name, text).await;
                }
            }
        }
    }
}

/// Sends a form of the page at `path` as it stands there now, with `text` in one field.
async fn send(owner: &mut Browser, path: &str, action: &str, name: &str, text: &str) {
    let mut now = forms(&owner.get(path).await, path).into_iter();
    let Some(form) = now.find(|form| form.actions.contains(action)) else { return };
    let others = form.given.iter().filter(|(other, _)| other != name);
    let mut fields: Vec<(&str, &str)> =
        others.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // What can be taken back is done.
    if action.ends_with("/suspend") && name != "confirm" {
        fields.retain(|(other, _)| *other != "confirm");
        fields.push(("confirm", &form.wanted));
    }
    fields.push((name, text));
    let answer = owner.form(action, &fields).await;
    let at = format!("{name} to {action} from {path}");
    is_clean(&answer, &at);
    assert_ne!(answer.status, 403, "{at}: {}", answer.body);
    if answer.status == 303 {
        let to = answer.location().to_owned();
        open(owner, &to).await;
    }
}

/// A request of which everything that a caller chooses is hostile. Headers come as bytes of UTF-8, and
/// percent-encoded.
async fn hostile_requests(sluice: &Sluice, key: &str, text: &str) -> Vec<String> {
    let percent: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let body = json!({
        "model": "mock", "user": text, "metadata": { "thread": text },
        "messages": [{ "role": "user", "content": text }],
    });
    let mut requests = Vec::new();
    for value in [text, &percent.replace('+', "%20")] {
        let mut ask = Ask::chat(&body).key(key);
        for name in ["user-agent", "x-title", "http-referer", "x-session-id"] {
            ask = ask.header(name, value);
        }
        let reply = sluice.client().reply(ask).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        requests.push(reply.request_id());
    }
    requests
}

#[tokio::test]
async fn what_others_write_is_text_on_every_page() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let mut ada = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    let things = Things::new(&sluice, &mut owner, &upstream).await;
    let (mut requests, mut found) = (Vec::new(), HashSet::new());
    for text in texts() {
        // By a key of this name, where there can be one.
        let fields = [("name", &*text), ("class", "production"), ("scopes", "chat")];
        let made = owner.form("/keys/new", &fields).await;
        let secret = made.between("<code>svc_", "</code>").map(|rest| format!("svc_{rest}"));
        assert!(secret.is_some() || text != MARKUP, "{}", made.body);
        let secret = secret.as_ref().unwrap_or(&things.secret);
        requests.extend(hostile_requests(&sluice, secret, &text).await);
        send_forms(&mut owner, &things, &text).await;
        // With the reasons of what was suspended, and then without.
        for _ in 0..2 {
            for path in things.pages() {
                let page = open(&mut owner, &path).await;
                found.extend(forms(&page, &path).into_iter().flat_map(|form| form.actions));
            }
            things.resume(&sluice, &mut owner).await;
        }
    }
    // What a script sends, and what is there once one-time codes or another session are.
    let is_apart = |path: &str| {
        path.ends_with("/stream") || path.contains("/codes/") || path.contains("/sessions/")
    };
    for route in routes().filter(|it| it.method == Method::Post && it.access != Access::Anyone) {
        let is_found = things.address(route).is_some_and(|path| found.contains(&path));
        assert!(is_found || is_apart(route.path), "no page has a form for {route:?}: {found:?}");
    }
    for request in &requests {
        open_request(&mut owner, request).await;
    }
    for entry in sluice.json_lines(&["audit", "list", "--json"]).await {
        open(&mut owner, &format!("/audit/{}", entry["audit_id"].as_str().unwrap())).await;
    }
    for (reader, is_owner) in [(&mut owner, true), (&mut ada, false)] {
        assert_eq!(reader.get("/").await.status, 200);
        for path in things.pages() {
            let page = open(reader, &path).await;
            assert!(!is_owner || page.status < 400 || page.status == 404, "{path}: {}", page.body);
        }
    }
}

#[tokio::test]
async fn what_an_address_says_is_text_on_every_page() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    let things = Things::new(&sluice, &mut owner, &upstream).await;
    let names = [
        "q", "sort", "period", "model", "app", "key", "team", "person", "provider", "kind",
        "filter", "outcome", "state", "done", "before", "after", "next",
    ];
    for text in texts() {
        let value: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for path in things.pages() {
            for name in names {
                open(&mut owner, &format!("{path}?{name}={value}")).await;
            }
        }
        let place = value.replace('+', "%20");
        for path in ["keys", "requests", "models", "providers", "audit", "organisation/teams"] {
            let page = open(&mut owner, &format!("/{path}/{place}")).await;
            assert_eq!(page.status, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn what_a_stranger_types_is_text() {
    let (sluice, _upstream) = sluice().await;
    let said = sluice.stdout();
    let token = said.lines().find_map(|line| line.split_once("/welcome/")).unwrap().1;
    let link = sluice.done("people invite ada@example.org --role developer").await;
    let invitation = link.trim().rsplit_once('/').unwrap().1;
    let places =
        [format!("/welcome/{}", token.trim()), format!("/invite/{invitation}"), "/sign-in".into()];
    for text in texts() {
        for path in &places {
            let mut stranger = Browser::new(&sluice);
            let page = stranger.get(path).await;
            for form in forms(&page, path) {
                let all: Vec<(&str, &str)> =
                    form.names.iter().map(|name| (name.as_str(), text.as_str())).collect();
                for action in &form.actions {
                    is_clean(&stranger.form(action, &all).await, action);
                }
            }
        }
    }
}

#[tokio::test]
async fn what_a_provider_says_is_text() {
    let (sluice, upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    Things::new(&sluice, &mut owner, &upstream).await;
    let url = upstream.base_url();
    let refused = |text: &str| {
        let error = json!({ "error": { "message": text, "type": text, "code": text } });
        Script::answer("401 Unauthorized", &["content-type: application/json"], &error.to_string())
    };
    let tested =
        [("kind", "openai"), ("name", "other"), ("base_url", &url), ("credential", "sk-x")];
    let asked = [("model", "mock"), ("prompt", "Hi")];
    for text in texts() {
        let list = json!({ "data": [{ "id": text, "owned_by": text }, { "id": "parrot" }] });
        let mut answer = answers::completion(&text);
        answer["model"] = json!(text);
        answer["choices"][0]["message"]["reasoning_content"] = json!(text);
        let stream = Script::events(&(answers::opening(&[&text]) + &answers::ending()));
        for script in [Script::json(&list), Script::json(&answer), stream, refused(&text)] {
            for (path, fields) in [
                ("/providers/new/test", &tested[..]),
                ("/providers/mine/test", &[("base_url", &*url)]),
                ("/providers/mine/test", &[]),
                ("/playground", &asked),
                ("/playground/stream", &asked),
            ] {
                upstream.follow(script.clone());
                let page = owner.form(path, fields).await;
                if page.header("content-type") == "text/event-stream" {
                    // The pieces of an answer are JSON, which the page sets as text.
                    let turn = page.body.rsplit("event: turn\ndata: ").next().unwrap();
                    let turn: String = serde_json::from_str(turn.trim()).unwrap();
                    is_clean(&Page { body: turn, ..page }, path);
                } else {
                    is_clean(&page, path);
                }
            }
        }
        for record in sluice.usage().await {
            open_request(&mut owner, record["request_id"].as_str().unwrap()).await;
        }
        for path in ["/", "/requests", "/overview", "/live", "/models", "/providers"] {
            open(&mut owner, path).await;
        }
    }
}
