//! What the tests share: a gateway in memory, whose providers say what they are told to, when.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use sluice_core::chat::{ChatRequest, Message, Role};
use sluice_core::clock::{Clock, ManualClock, UnixMillis};
use sluice_core::json::RawJson;
use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_core::organisation::{Attribution, KeyScope, Subject};
use sluice_core::region::Region;
use sluice_core::source::{Source, SourceMember};
use sluice_providers::adapter::Adapter;
use sluice_providers::adapters::gemini::GeminiGenerateContent;
use sluice_providers::adapters::openai::OpenAiChat;
use sluice_providers::endpoint::{Auth, Endpoint, Quirks, Target};
use sluice_providers::upstream::{Sending, TransportError, Upstream};
use sluice_routing::catalog::{Capabilities, Catalog, Deployment, Model};
use sluice_routing::quality::Quality;
use sluice_routing::router::{Member, Policy, Router};
use sluice_security::request::{Filter, FilterSettings};
use sluice_storage::{
    AccountRecord, ContentSealer, Journal, JournalEntry, KeyHasher, KeyRecord, MasterKey,
    Organisation, SecretRecord, Store, UsageRecord,
};
use tokio::time::Instant;

use crate::accounting::Accounting;
use crate::chat::Answer;
use crate::error::ChatError;
use crate::gateway::Gateway;
use crate::health::ProviderHealth;
use crate::limits::{Bound, Ledger, LimitSubjects};
use crate::live::Live;
use crate::metrics::Metrics;
use crate::plan::Candidate;
use crate::policy::{Ruling, sources};
use crate::principal::Principal;
use crate::request::RequestContext;
use crate::snapshot::{AuditRules, Provider, Rules, Snapshot, Speeds, Timeouts};

/// 2026-11-21, 09:30 in UTC.
pub(crate) const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

/// A first piece of an answer, without an end.
pub(crate) const HELLO: &str =
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
/// The end of an answer, with what it used.
pub(crate) const DONE: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);
/// A whole answer.
pub(crate) const WHOLE: &str = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],
    "usage":{"prompt_tokens":7,"completion_tokens":3}}"#;

/// A provider that plays one script a call, and hangs when there is none.
#[derive(Default)]
pub(crate) struct Scripted {
    scripts: Mutex<Vec<Script>>,
    calls: Mutex<u32>,
}

/// One answer.
#[derive(Clone)]
pub(crate) struct Script {
    /// How long the head takes.
    pub(crate) head: Duration,
    pub(crate) status: u16,
    pub(crate) steps: Vec<Step>,
}

/// One step of an answer, and how long it takes.
#[derive(Clone)]
pub(crate) enum Step {
    Says(Duration, String),
    Breaks(Duration),
    Panics(String),
    Hangs,
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The piece comes after so many seconds.
pub(crate) fn says(after: u64, text: &str) -> Step {
    Step::Says(seconds(after), text.to_owned())
}

/// An answer with a good status whose head comes at once.
pub(crate) fn script(steps: impl Into<Vec<Step>>) -> Script {
    Script { head: Duration::ZERO, status: 200, steps: steps.into() }
}

impl Upstream for Scripted {
    fn send(&self, _: Request<Bytes>) -> Sending {
        *self.calls.lock().unwrap() += 1;
        let mut scripts = self.scripts.lock().unwrap();
        let script = (!scripts.is_empty()).then(|| scripts.remove(0));
        Box::pin(async move {
            let Some(script) = script else { return std::future::pending().await };
            tokio::time::sleep(script.head).await;
            let kind = match script.steps.first() {
                Some(Step::Says(_, text)) if text.starts_with('{') => "application/json",
                _ => "text/event-stream",
            };
            let steps = stream::unfold(script.steps.into_iter(), async |mut steps| {
                let piece = match steps.next()? {
                    Step::Says(after, text) => {
                        tokio::time::sleep(after).await;
                        Ok(Frame::data(Bytes::from(text)))
                    }
                    Step::Breaks(after) => {
                        tokio::time::sleep(after).await;
                        Err(TransportError::Lost("reset".to_owned()))
                    }
                    Step::Panics(words) => panic!("{words}"),
                    Step::Hangs => std::future::pending().await,
                };
                Some((piece, steps))
            });
            let mut response = Response::new(StreamBody::new(steps).boxed_unsync());
            *response.status_mut() = http::StatusCode::from_u16(script.status).unwrap();
            response.headers_mut().insert(CONTENT_TYPE, kind.parse().unwrap());
            Ok(response)
        })
    }
}

/// A gateway with two providers of one model, and one key.
pub(crate) struct House {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) principal: Arc<Principal>,
    first: Arc<Scripted>,
    second: Arc<Scripted>,
    dir: tempfile::TempDir,
}

pub(crate) const TIMEOUTS: Timeouts = Timeouts {
    first_token: Duration::from_secs(60),
    whole_answer: Duration::from_secs(50),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(120),
    keep_alive: Duration::from_secs(15),
};

impl House {
    pub(crate) fn new(timeouts: Timeouts) -> Self {
        Self::with(timeouts, None, Arc::new(OpenAiChat))
    }

    /// The key counts against `subjects`.
    pub(crate) fn with_subjects(subjects: LimitSubjects) -> Self {
        let principal = Arc::new(Principal { subjects, ..principal() });
        Self { principal, ..Self::new(TIMEOUTS) }
    }

    /// The router's models have room for so many tokens.
    pub(crate) fn with_windows(tokens: u32) -> Self {
        Self::with(TIMEOUTS, Some(tokens), Arc::new(OpenAiChat))
    }

    /// The second provider speaks another dialect, which has no `logit_bias`.
    pub(crate) fn with_narrow_second(timeouts: Timeouts) -> Self {
        Self::with(timeouts, None, Arc::new(GeminiGenerateContent))
    }

    fn with(timeouts: Timeouts, window: Option<u32>, of_second: Arc<dyn Adapter>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (Arc::new(Scripted::default()), Arc::new(Scripted::default()));
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(NOW));
        let master_key = MasterKey::load_or_create(dir.path()).unwrap();
        let journal = Arc::new(Journal::open(dir.path(), &master_key).unwrap());
        let (metrics, live) = (Arc::new(Metrics::default()), Live::default());
        let contents = ContentSealer::new(&master_key);
        let accounting = Accounting { journal, clock, metrics, live, contents };
        let hasher = master_key.key_hasher();
        let deployments = vec![deployment("first", None), deployment("second", None)];
        let catalog = catalog(deployments, window);
        let snapshot = Snapshot {
            given: Arc::default(),
            speeds: Speeds::new(&catalog, None),
            catalog,
            providers: HashMap::from([
                ("first".into(), provider("first", first.clone())),
                ("second".into(), speaking(of_second, "second", second.clone())),
            ]),
            rules: rules(),
            timeouts,
            filter: filter(),
        };
        Self {
            gateway: Arc::new(Gateway::new(snapshot, hasher, accounting)),
            principal: Arc::new(principal()),
            first,
            second,
            dir,
        }
    }

    /// With a database, from which it has not read anything yet.
    pub(crate) async fn with_store() -> (Self, Store) {
        let house = Self::new(TIMEOUTS);
        // The key is there already, which says that a database was, too.
        let store = Store::open_new(house.dir.path()).await.unwrap();
        let gateway = Arc::into_inner(house.gateway).unwrap().with_store(store.clone());
        (Self { gateway: Arc::new(gateway), ..house }, store)
    }

    /// What the first provider answers next.
    pub(crate) fn expect(&self, script: Script) {
        self.first.scripts.lock().unwrap().push(script);
    }

    /// What the second provider answers next.
    pub(crate) fn expect_of_second(&self, script: Script) {
        self.second.scripts.lock().unwrap().push(script);
    }

    /// The providers answer nothing that was expected before.
    pub(crate) fn forget_scripts(&self) {
        for provider in [&self.first, &self.second] {
            provider.scripts.lock().unwrap().clear();
        }
    }

    /// How often the providers were called.
    pub(crate) fn calls(&self) -> (u32, u32) {
        (*self.first.calls.lock().unwrap(), *self.second.calls.lock().unwrap())
    }

    pub(crate) async fn ask(&self, chat: ChatRequest) -> Result<Answer, ChatError> {
        let slot = self.gateway.slot(&self.principal, NOW, Duration::ZERO);
        let slot = slot.map_err(ChatError::from)?;
        let answered = self.gateway.chat(self.principal.clone(), slot, chat, context()).await;
        answered.map_err(|unanswered| unanswered.error)
    }

    /// Everything that was written down.
    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        let mut entries = Vec::new();
        let Ok(files) = std::fs::read_dir(sluice_storage::journal_dir(self.dir.path())) else {
            return entries;
        };
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            // The entry stands behind its seal.
            let entry = |line: &str| serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
            entries.extend(text.lines().map(entry));
        }
        entries
    }

    /// What the key has used.
    pub(crate) fn key_ledger(&self) -> &Ledger {
        &self.principal.subjects.bounds()[0].ledger
    }

    /// The only usage record, which only its audit entry follows; what was reserved is free again.
    pub(crate) fn record(&self) -> UsageRecord {
        let mut entries = self.entries();
        if let Some(JournalEntry::Audit(audit)) =
            entries.pop_if(|it| matches!(it, JournalEntry::Audit(_)))
        {
            assert_eq!(audit.request_id, Some("req_1".into()));
        }
        assert_eq!(entries.len(), 1, "{entries:?}");
        for bound in self.principal.subjects.bounds() {
            assert_eq!(bound.ledger.in_flight(self.gateway.clock().steady()), 0);
        }
        match entries.remove(0) {
            JournalEntry::Usage(record) => {
                let used = self.key_ledger().tokens_used(NOW);
                assert_eq!(used, record.counted().tokens);
                *record
            }
            other => panic!("{other:?}"),
        }
    }
}

/// `mock` runs where it is told to, `small` at the first provider and `large` at the second, and
/// `svc/auto` chooses between these two: it likes `large` better.
fn catalog(deployments: Vec<Deployment>, context_window: Option<u32>) -> Catalog {
    let of = |id: &str, provider: &str, quality: f64| Model {
        quality: Some(Quality::even(quality)),
        context_window,
        deployments: vec![deployment(provider, Some(Region::UsEast))],
        ..model(id)
    };
    let (small, large) = (of("small", "first", 0.6), of("large", "second", 0.9));
    let members = [&small, &large].map(|m| Member::new(Arc::new(m.clone()), 1.0)).into();
    let router = Router::new("svc/auto", Policy::Strongest, members);
    let entry = router.entry();
    let mock = Model { deployments, ..model("mock") };
    Catalog::new([mock, small, large, entry]).with_routers([router])
}

/// The documented table of levels, without a memory.
pub(crate) fn filter() -> Arc<Filter> {
    let settings = FilterSettings { cache_bytes: 0, ..FilterSettings::default() };
    Arc::new(Filter::new(&settings, [7; 32]).unwrap())
}

pub(crate) fn context() -> RequestContext {
    RequestContext {
        id: "req_1".into(),
        arrived_at: NOW,
        // The paused clock's time, which is not the machine's.
        arrived: Instant::now().into_std(),
        remote: None,
        app_url: None,
        app_title: None,
        session: None,
        client_session: None,
        watch: None,
    }
}

pub(crate) fn chat(text: &str) -> ChatRequest {
    let member = |name: &str, json: &str| SourceMember {
        name: name.into(),
        value: RawJson::parse(json).unwrap(),
    };
    let members = vec![member("model", "\"mock\""), member("messages", "[]")];
    let plain = ChatRequest::new("mock", vec![Message::new(Role::User, text)]);
    ChatRequest { source: Source { members, body_bytes: 100, ..plain.source }, ..plain }
}

pub(crate) fn streamed() -> ChatRequest {
    ChatRequest { stream: true, ..chat("Hello?") }
}

/// The same in a test's process.
pub(crate) fn hasher() -> KeyHasher {
    static HASHER: LazyLock<KeyHasher> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        MasterKey::load_or_create(dir.path()).unwrap().key_hasher()
    });
    HASHER.clone()
}

pub(crate) fn principal() -> Principal {
    let secret = SecretRecord {
        hash: hasher().hash("x"),
        prefix: "svc_ent_Ab12".to_owned(),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    };
    Principal {
        secret: secret.clone(),
        attribution: Attribution {
            account: "acc_1".into(),
            department: None,
            team: None,
            holder: None,
            key: "key_1".into(),
        },
        suspended: None,
        ruling: Ruling::default(),
        filter: None,
        own_keys: Vec::new(),
        of_sessions: Vec::new(),
        key: Arc::new(KeyRecord {
            id: "key_1".into(),
            account_id: "acc_1".into(),
            name: "test".to_owned(),
            team_id: None,
            holder: None,
            scopes: KeyScope::ALL.to_vec(),
            class: KeyClass::Enterprise,
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
            secrets: vec![secret],
        }),
        account: AccountRecord {
            id: "acc_1".into(),
            name: "default".to_owned(),
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
        },
        suite: Suite::Full,
        subjects: LimitSubjects::new([
            unbound(Subject::Key("key_1".into())),
            unbound(Subject::Account("acc_1".into())),
        ]),
    }
}

/// What a principal's key, its account and `rules` say, without an organisation around them.
pub(crate) fn ruling(principal: &Principal, rules: &Rules) -> Ruling {
    let organisation = Organisation::default();
    let said = sources(&principal.key, &principal.account, &organisation, rules);
    Ruling::of(&said)
}

fn unbound(subject: Subject) -> Bound {
    Bound { subject, ledger: Arc::new(Ledger::default()), allowances: Arc::default() }
}

pub(crate) fn model(id: &str) -> Model {
    Model {
        id: id.into(),
        created: 0,
        owned_by: "lab".to_owned(),
        context_window: None,
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
        suite: Suite::Standard,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality: None,
        pace: None,
        deployments: vec![deployment("first", None)],
    }
}

pub(crate) fn deployment(provider: &str, region: Option<Region>) -> Deployment {
    Deployment { provider: provider.into(), upstream_model: "up".to_owned(), region }
}

pub(crate) fn provider(id: &str, upstream: Arc<dyn Upstream>) -> Provider {
    speaking(Arc::new(OpenAiChat), id, upstream)
}

/// The model `m` at a provider that answers nothing.
pub(crate) fn candidate(id: &str) -> Candidate {
    let (model, provider) = (model("m"), provider(id, Arc::new(Scripted::default())));
    Candidate {
        region: None,
        target: Target {
            endpoint: provider.endpoint.clone(),
            upstream_model: "up".to_owned(),
            max_tokens: None,
            output_limit: model.output_limit,
        },
        is_lowered: false,
        speed: Arc::default(),
        own: None,
        fallback: None,
        model: Arc::new(model),
        provider,
    }
}

fn speaking(adapter: Arc<dyn Adapter>, id: &str, upstream: Arc<dyn Upstream>) -> Provider {
    Provider {
        endpoint: Arc::new(Endpoint {
            id: id.into(),
            adapter,
            base_url: "http://lab.invalid/v1".to_owned(),
            query: String::new(),
            auth: Auth::Bearer,
            credential: None,
            headers: Vec::new(),
            quirks: Quirks::default(),
            region: None,
        }),
        upstream,
        health: Arc::new(ProviderHealth::default()),
    }
}

pub(crate) fn rules() -> Rules {
    Rules {
        classes: HashMap::new(),
        tiers: HashMap::new(),
        default_region: None,
        minimum_level: SecurityLevel::Standard,
        rotate_after_days: 90,
        audit: AuditRules { content_bytes: 4096, content_days: 30, retention_days: 0 },
        fallback_price: None,
    }
}
