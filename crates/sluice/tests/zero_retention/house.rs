//! A server with everything that a request can meet, and callers under zero retention for every
//! reason that there is.

use std::net::TcpListener;

use serde_json::{Value, json};
use sluice_testkit::{
    Ask, Client, Config, FakeUpstream, Gathering, Script, Sluice, answers, until,
};
use sluice_testpostgres::Database;

use crate::browser::Browser;
use crate::marks::Sent;
use crate::search::Place;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// Who asks, and why nothing of it may be kept.
pub(crate) struct Caller {
    pub(crate) name: &'static str,
    pub(crate) key: String,
    /// A key that may not spend anything any more.
    pub(crate) spent_key: String,
    /// What each of its requests says.
    pub(crate) options: Value,
}

/// A server, its providers, and everything that was said and heard.
pub(crate) struct House {
    pub(crate) sluice: Sluice,
    pub(crate) metrics: Client,
    pub(crate) owner: Browser,
    /// The live tail, as the owner watches it.
    pub(crate) live: Gathering,
    pub(crate) database: Option<Database>,
    pub(crate) sent: Sent,
    /// What was looked at while requests were under way.
    pub(crate) glimpses: Vec<Place>,
    /// Whom the models `mock`, `claude` and `gemini` ask first, each in its own dialect.
    pub(crate) first: FakeUpstream,
    /// Whom `pair` asks when the first one fails.
    pub(crate) second: FakeUpstream,
}

impl House {
    /// With this in the configuration besides.
    pub(crate) async fn build(database: Option<Database>, more: &str) -> Self {
        let script = Script::json(&answers::completion("Hello"));
        let first = FakeUpstream::start(script.clone()).await;
        let second = FakeUpstream::start(script).await;
        let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let of_kind = |id: &str, base_url: &str| {
            format!(
                "[[providers]]\nid = \"{id}\"\nkind = \"{id}\"\nbase_url = \"{base_url}\"\n\
                 api_key = \"sk-{id}\"\nregion = \"us-east\"\n"
            )
        };
        let root = first.base_url();
        let root = root.trim_end_matches("/v1");
        let mut config = Config::default()
            .log("level = \"trace\"\nformat = \"json\"")
            .server("request_body_limit_mib = 1\ndrain_seconds = 1")
            .metrics(metrics)
            .provider("lab", &first.base_url())
            .provider("spare", &second.base_url())
            .provider_in("abroad", &first.base_url(), "eu-west")
            .with(&of_kind("anthropic", root))
            .with(&of_kind("gemini", root))
            .model("mock", "\"lab\"")
            .model("other", "\"lab\"")
            .model("pair", "[\"lab\", \"spare\"]")
            .model("abroad", "\"abroad\"")
            .model("barred", "\"lab\"")
            .model("claude", "\"anthropic\"")
            .model("gemini", "\"gemini\"")
            .with("[[routers]]\nid = \"svc/mix\"\nmembers = [\"mock\", \"other\"]\n")
            .with(more);
        if let Some(database) = &database {
            config = config.database(&database.url());
        }
        let sluice = Sluice::start(BINARY, &config).await;
        for line in [
            "policy set --for deployment --regions us-east,us-west --models \
             mock,other,pair,abroad,claude,gemini,svc/*",
            "routers create svc/own --members mock=1,other=1",
            "budgets set --for account --measure usd --limit 1000",
        ] {
            sluice.done(line).await;
        }
        let mut owner = Browser::welcome(&sluice).await;
        let feed = owner.signed(Ask::get("/live/events"));
        let live = sluice.client().send(feed).await.unwrap().gathered();
        assert_eq!(owner.get("/live").await.status, 200);
        let (sent, glimpses) = (Sent::default(), Vec::new());
        Self {
            sluice,
            metrics: Client::new(metrics),
            owner,
            live,
            database,
            sent,
            glimpses,
            first,
            second,
        }
    }

    /// Everybody of whom nothing may be kept, by every rule that says so.
    pub(crate) async fn callers(&self) -> Vec<Caller> {
        let sluice = &self.sluice;
        for line in [
            "departments create engineering",
            "teams create quiet --department engineering",
            "policy set --for team:quiet --zero-retention --audit",
            "accounts create --name silent --tier highest --zero-retention",
            "routers create svc/own --for account:silent --members mock=1,other=1",
        ] {
            sluice.done(line).await;
        }
        let quietly = json!({ "zero_retention": true });
        let audited = json!({ "zero_retention": true, "audit_enabled": true });
        let mut callers = Vec::new();
        for (name, arguments, options) in [
            ("by request", &[][..], quietly),
            ("by request, audited", &[], audited.clone()),
            ("by key", &["--zero-retention", "--audit"], json!({})),
            ("by policy", &["--team", "quiet"], json!({})),
            ("by account", &["--account", "silent"], json!({ "audit_enabled": true })),
        ] {
            callers.push(self.caller(name, arguments, options).await);
        }
        callers
    }

    /// A caller with keys of their own.
    pub(crate) async fn caller(
        &self,
        name: &'static str,
        arguments: &[&str],
        options: Value,
    ) -> Caller {
        let named = name.replace([' ', ','], "-");
        let key = self.sluice.create_named_key(&named, arguments).await;
        let spent = format!("{named}-spent");
        let spent_key = self.sluice.create_named_key(&spent, arguments).await;
        let account = if arguments.contains(&"silent") { "silent" } else { "default" };
        let line = format!(
            "budgets set --for key:{spent} --account {account} --measure requests --window day \
             --limit 1"
        );
        self.sluice.done(&line).await;
        let caller = Caller { name, key, spent_key, options };
        let body = json!({ "model": "mock", "zero_retention": true,
            "messages": [{ "role": "user", "content": "Hello" }] });
        until("the budget to be in force", async || {
            (self.sluice.chat(&caller.spent_key, &body).await.status == 429).then_some(())
        })
        .await;
        caller
    }

    /// What all providers do from the next request on.
    pub(crate) fn follow(&self, first: Script, second: Script) {
        self.first.follow(first);
        self.second.follow(second);
    }

    /// Waits until the database has everything that the journal has.
    pub(crate) async fn settled(&self) {
        until("the journal to be read", async || {
            let listed = self.sluice.cli(&["audit", "list"]).await;
            (!listed.stderr.contains("in the journal")).then_some(())
        })
        .await;
    }

    /// Notes what reached the providers: whole bodies, and the placeholders in them.
    pub(crate) fn note_what_providers_saw(&self) {
        let mut placeholders = 0;
        for (number, seen) in [self.first.seen(), self.second.seen()].concat().iter().enumerate() {
            let body = seen.body.to_string();
            self.sent.note(format!("body {number} at a provider"), body.as_bytes(), false);
            let words = body.split(|it: char| !it.is_ascii_alphanumeric());
            let is_placeholder = |word: &&str| {
                let (mark, digits) = word.split_at_checked(5).unwrap_or_default();
                word.starts_with('Q')
                    && mark.bytes().all(|it| it.is_ascii_uppercase())
                    && digits.len() == 13
            };
            for placeholder in words.filter(is_placeholder) {
                self.sent.note("a placeholder".to_owned(), placeholder.as_bytes(), true);
                placeholders += 1;
            }
        }
        assert!(placeholders > 0, "the filter replaced something");
    }
}
