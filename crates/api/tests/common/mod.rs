//! A gateway in memory: keys that differ, models that differ, and a provider that says what it is
//! told to.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;
use sluice_api::{Api, Cors, Settings};
use sluice_core::clock::{ManualClock, UnixMillis};
use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_core::organisation::KeyScope;
use sluice_core::region::Region;
use sluice_gateway::accounting::Accounting;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::health::ProviderHealth;
use sluice_gateway::limits::Limits;
use sluice_gateway::live::Live;
use sluice_gateway::metrics::Metrics;
use sluice_gateway::service_key::ServiceKey;
use sluice_gateway::snapshot::{
    AuditRules, Provider, Rules, Snapshot, Speeds, TierRules, Timeouts,
};
use sluice_providers::adapters::openai::OpenAiChat;
use sluice_providers::endpoint::{Auth, Endpoint, Quirks};
use sluice_providers::upstream::{Sending, TransportError, Upstream};
use sluice_routing::catalog::{Capabilities, Catalog, Deployment, Model};
use sluice_security::request::{Filter, FilterSettings};
use sluice_storage::{
    AccountRecord, ContentSealer, Journal, KeyRecord, Known, MasterKey, Organisation, SecretRecord,
};

/// 2026-11-21, 09:30 in UTC.
pub(crate) const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

/// Where requests come from.
pub(crate) const REMOTE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

/// A gateway and its keys.
pub(crate) struct House {
    pub(crate) api: Api,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) provider: Arc<Scripted>,
    keys: HashMap<&'static str, String>,
    _dir: tempfile::TempDir,
}

/// A provider that gives the answers it was told, in order.
#[derive(Default)]
pub(crate) struct Scripted(Mutex<VecDeque<(u16, &'static str, String)>>);

impl Upstream for Scripted {
    fn send(&self, _: Request<Bytes>) -> Sending {
        let answer = self.0.lock().unwrap().pop_front();
        Box::pin(async move {
            let Some((status, kind, body)) = answer else {
                return Err(TransportError::Connect("nothing was expected to be sent".to_owned()));
            };
            // Each event comes in a piece of its own.
            let pieces: Vec<Result<_, TransportError>> = body
                .split_inclusive("\n\n")
                .map(|piece| Ok(Frame::data(Bytes::from(piece.to_owned()))))
                .collect();
            let body = StreamBody::new(futures_util::stream::iter(pieces));
            let mut response = Response::new(body.boxed_unsync());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response.headers_mut().insert(CONTENT_TYPE, kind.parse().unwrap());
            Ok(response)
        })
    }
}

/// What came back.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// An error in one line: `400 validation_error invalid_parameter n: message`.
    pub(crate) fn error_line(&self) -> String {
        let json = self.json();
        let error = &json["error"];
        let members: Vec<&str> = error.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["message", "type", "param", "code"]);
        assert_eq!(json.as_object().unwrap().len(), 1);
        assert_eq!(self.header("content-type"), Some("application/json"));
        let text = |name: &str| error[name].as_str();
        let param = if error["param"].is_null() { "-" } else { text("param").unwrap() };
        let (kind, code) = (text("type").unwrap(), text("code").unwrap());
        format!("{} {kind} {code} {param}: {}", self.status, text("message").unwrap())
    }
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with_cors(&[])
    }

    pub(crate) fn with_cors(origins: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(NOW));
        let provider = Arc::new(Scripted::default());
        let master_key = MasterKey::load_or_create(dir.path()).unwrap();
        let accounting = Accounting {
            journal: Arc::new(Journal::open(dir.path(), &master_key).unwrap()),
            clock: clock.clone(),
            metrics: Arc::new(Metrics::default()),
            live: Live::default(),
            contents: ContentSealer::new(&master_key),
        };
        let hasher = master_key.key_hasher();
        let gateway = Arc::new(Gateway::new(snapshot(&provider), hasher.clone(), accounting));
        let mut keys = HashMap::new();
        let mut records = Vec::new();
        for (name, change) in key_changes() {
            let key = ServiceKey::generate().unwrap();
            let mut record = key_record(name);
            record.secrets[0].hash = hasher.hash(key.expose());
            change(&mut record);
            if name != "unknown" {
                records.push(record);
            }
            keys.insert(name, key.expose().to_owned());
        }
        let small = AccountRecord { tier: AccountTier::Lowest, ..account("small") };
        let organisation = Organisation::of_accounts([account("house"), small]);
        gateway.replace_directory(Known { version: 1, keys: records, organisation });
        let cors = Cors::new(origins.iter().map(|&origin| origin.to_owned()).collect());
        let api = Api::new(
            gateway.clone(),
            Settings { request_body_limit_mib: 1, body_memory_mib: 4, cors },
        );
        Self { api, gateway, clock, provider, keys, _dir: dir }
    }

    pub(crate) fn key(&self, name: &str) -> &str {
        &self.keys[name]
    }

    /// What the provider answers next.
    pub(crate) fn expect(&self, status: u16, kind: &'static str, body: &str) {
        self.provider.0.lock().unwrap().push_back((status, kind, body.to_owned()));
    }

    pub(crate) fn all_was_sent(&self) -> bool {
        self.provider.0.lock().unwrap().is_empty()
    }

    pub(crate) async fn send(&self, request: Request<impl Into<Bytes>>) -> Answered {
        let request = request.map(|body| Full::new(body.into()));
        let response = self.api.respond(request, Some(REMOTE)).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answered {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Sends a chat request with the key of that name.
    pub(crate) async fn chat_with(&self, key: &str, body: impl Into<Bytes>) -> Answered {
        let request = Request::post("/api/v1/chat/completions")
            .header(AUTHORIZATION, format!("Bearer {}", self.key(key)))
            .header(CONTENT_TYPE, "application/json");
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn chat(&self, body: impl Into<Bytes>) -> Answered {
        self.chat_with("documented", body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        let request =
            Request::get(path).header(AUTHORIZATION, format!("Bearer {}", self.key("documented")));
        self.send(request.body("").unwrap()).await
    }
}

type Change = fn(&mut KeyRecord);

/// The keys, and how each differs from the first.
fn key_changes() -> [(&'static str, Change); 9] {
    [
        ("documented", |_| {}),
        ("agent", |key| key.max_tokens = MaxTokensBound::Model),
        ("two models", |key| key.models = Some(vec!["mock".to_owned(), "mock-free".to_owned()])),
        ("west", |key| key.regions = Some(vec![Region::UsWest, Region::EuWest])),
        ("expired", |key| key.expires_at = Some(NOW)),
        ("revoked", |key| key.revoked_at = Some(NOW)),
        ("unknown", |_| {}),
        ("one request", |key| key.requests_per_hour = Some(1)),
        ("small account", |key| key.account_id = "small".into()),
    ]
}

fn key_record(name: &str) -> KeyRecord {
    KeyRecord {
        id: format!("key_{name}").into(),
        account_id: "house".into(),
        name: name.to_owned(),
        team_id: None,
        holder: None,
        scopes: KeyScope::ALL.to_vec(),
        class: KeyClass::Production,
        models: None,
        regions: None,
        region: None,
        minimum_level: SecurityLevel::Standard,
        zero_retention: false,
        audit: false,
        max_tokens: MaxTokensBound::Documented,
        requests_per_hour: None,
        tokens_per_day: None,
        owner: None,
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        suspended: None,
        secrets: vec![SecretRecord {
            // Set by the caller, who has the key.
            hash: MasterKey::load_or_create(tempfile::tempdir().unwrap().path())
                .unwrap()
                .key_hasher()
                .hash(name),
            prefix: "svc_ent_Ab12".to_owned(),
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
        }],
    }
}

fn account(id: &str) -> AccountRecord {
    AccountRecord {
        id: id.into(),
        name: id.to_owned(),
        tier: AccountTier::Highest,
        created_at: NOW,
        requests_per_hour: None,
        tokens_per_day: None,
        concurrent_requests: None,
        region: None,
        minimum_level: SecurityLevel::Standard,
        zero_retention: false,
        audit: false,
        suspended: None,
    }
}

fn model(id: &str) -> Model {
    Model {
        id: id.into(),
        created: 1_700_000_000,
        owned_by: "lab".to_owned(),
        context_window: Some(128_000),
        output_limit: Some(8_192),
        capabilities: Capabilities::default(),
        price: Some(Price {
            input: TokenPrice(1_000_000),
            cache_read: TokenPrice(100_000),
            cache_write: TokenPrice(1_250_000),
            output: TokenPrice(4_000_000),
            reasoning: TokenPrice(4_000_000),
            version: "test".into(),
        }),
        price_source: None,
        suite: Suite::Basic,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: None,
        pace: None,
        deployments: vec![Deployment {
            provider: "lab".into(),
            upstream_model: id.to_owned(),
            region: Some(Region::UsEast),
        }],
    }
}

fn snapshot(upstream: &Arc<Scripted>) -> Snapshot {
    let incapable = Capabilities {
        vision: Some(false),
        tools: Some(false),
        json_schema: Some(false),
        ..Capabilities::default()
    };
    let catalog = Catalog::new([
        model("mock"),
        Model { price: None, context_window: None, output_limit: None, ..model("mock-free") },
        Model { capabilities: incapable, ..model("mock-plain") },
        Model { suite: Suite::Full, ..model("mock-full") },
        Model {
            alias_of: Some("mock".into()),
            minimum_level: SecurityLevel::Maximum,
            deployments: Vec::new(),
            ..model("svc/secure")
        },
    ]);
    let provider = Provider {
        endpoint: Arc::new(Endpoint {
            id: "lab".into(),
            adapter: Arc::new(OpenAiChat),
            base_url: "http://lab.invalid/v1".to_owned(),
            query: String::new(),
            auth: Auth::Bearer,
            credential: None,
            headers: Vec::new(),
            quirks: Quirks::default(),
            region: Some(Region::UsEast),
        }),
        upstream: upstream.clone(),
        health: Arc::new(ProviderHealth::default()),
    };
    Snapshot {
        given: Arc::default(),
        speeds: Speeds::new(&catalog, None),
        catalog,
        providers: HashMap::from([("lab".into(), provider)]),
        rules: rules(),
        timeouts: Timeouts {
            first_token: Duration::from_secs(30),
            whole_answer: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
        },
        filter: Arc::new(Filter::new(&FilterSettings::default(), [7; 32]).unwrap()),
    }
}

fn rules() -> Rules {
    let limits = |requests, tokens, concurrent| Limits {
        section: "",
        requests_per_hour: Some(requests),
        tokens_per_day: Some(tokens),
        concurrent_requests: concurrent,
    };
    let tier = |requests, tokens, concurrent, suite| TierRules {
        limits: limits(requests, tokens, Some(concurrent)),
        suite,
    };
    Rules {
        classes: HashMap::from([
            (KeyClass::Development, limits(1_000, 10_000, None)),
            (KeyClass::Production, limits(10_000, 1_000_000, None)),
            (KeyClass::Enterprise, Limits::default()),
        ]),
        tiers: HashMap::from([
            (AccountTier::Lowest, tier(100, 10_000, 10, Suite::Basic)),
            (AccountTier::Middle, tier(1_000, 100_000, 50, Suite::Standard)),
            (AccountTier::Highest, tier(10_000, 1_000_000, 200, Suite::Full)),
        ]),
        default_region: None,
        minimum_level: SecurityLevel::Standard,
        rotate_after_days: 90,
        audit: AuditRules::default(),
        fallback_price: None,
    }
}
