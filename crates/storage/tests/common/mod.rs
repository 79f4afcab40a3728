//! Sample records, and the databases to keep them in.

#![allow(dead_code, reason = "each test file uses some of them")]

mod place;

#[allow(unused_imports, reason = "the same")]
pub(crate) use place::{Place, places};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Actor, KeyScope};
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;
use sluice_core::routing::{Basis, RouteCandidate, RouteRecord};
use sluice_core::secret::Secret;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{
    AccountRecord, AuditEntry, Change, Doing, Item, ItemChange, JournalEntry, KeyRecord, MasterKey,
    ModelRecord, ProviderRecord, Record, SealedSecrets, SecretRecord, StorageError, Store,
    UsageRecord, UsageSum,
};

/// 2026-11-21, 09:30 in UTC.
pub(crate) const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

pub(crate) fn account(id: &str) -> AccountRecord {
    AccountRecord {
        id: id.into(),
        name: format!("account {id}"),
        tier: AccountTier::Middle,
        created_at: NOW,
        requests_per_hour: None,
        tokens_per_day: Some(5),
        concurrent_requests: Some(2),
        region: Some(Region::EuWest),
        minimum_level: SecurityLevel::High,
        zero_retention: false,
        audit: true,
        suspended: None,
    }
}

/// Writes a thing as it shall be, in place of what it was.
pub(crate) async fn put(
    store: &Store,
    master: &MasterKey,
    old: Option<Record>,
    new: impl Into<Record>,
) -> Result<(), StorageError> {
    let doing = Doing {
        at: NOW,
        actor: Actor::CommandLine { user: "ada".to_owned() },
        surface: "command line",
        judged_at: None,
    };
    store.administer(master, &doing, &[Change { verb: "test", old, new: new.into() }], &[]).await
}

/// Puts a provider with a secret in, and a model of it.
pub(crate) async fn put_vendors(store: &Store, master: &MasterKey) {
    let secrets = SealedSecrets::seal(master, "lab", &Secret::new("sk-1".to_owned())).unwrap();
    let provider = ProviderRecord {
        name: "lab".to_owned(),
        settings: serde_json::json!({ "kind": "openai" }),
        secrets: Some(secrets),
        credential_set_at: Some(NOW),
        created_at: NOW,
        changed: 0,
    };
    let model = ModelRecord {
        id: "own".to_owned(),
        settings: serde_json::json!({ "provider": ["lab"] }),
        created_at: NOW,
        changed: 0,
    };
    change_vendors(store, master, None, Some(Item::Provider(provider))).await.unwrap();
    change_vendors(store, master, None, Some(Item::Model(model))).await.unwrap();
}

/// Writes a provider or a model as it shall be, in place of what it was.
pub(crate) async fn change_vendors(
    store: &Store,
    master: &MasterKey,
    old: Option<Item>,
    new: Option<Item>,
) -> Result<(), StorageError> {
    let doing = Doing {
        at: NOW,
        actor: Actor::CommandLine { user: "ada".to_owned() },
        surface: "command line",
        judged_at: None,
    };
    let change = ItemChange { verb: "test", account_id: "a1".into(), old, new };
    store.administer_items(master, &doing, &[change]).await
}

pub(crate) fn key(id: &str, account_id: &str, master: &MasterKey) -> KeyRecord {
    KeyRecord {
        id: id.into(),
        account_id: account_id.into(),
        name: format!("key {id}"),
        team_id: None,
        holder: None,
        scopes: vec![KeyScope::Models],
        class: KeyClass::Production,
        models: Some(vec!["a".to_owned(), "b\"c".to_owned()]),
        regions: Some(vec![Region::UsEast, Region::AsiaPacific]),
        region: None,
        minimum_level: SecurityLevel::Standard,
        zero_retention: true,
        audit: false,
        max_tokens: MaxTokensBound::Model,
        requests_per_hour: Some(7),
        tokens_per_day: None,
        owner: Some("the team".to_owned()),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        suspended: None,
        secrets: vec![secret(id, master)],
    }
}

pub(crate) fn secret(text: &str, master: &MasterKey) -> SecretRecord {
    SecretRecord {
        hash: master.key_hasher().hash(text),
        prefix: "svc_ent_Ab12".to_owned(),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    }
}

pub(crate) fn usage(id: u64) -> UsageRecord {
    UsageRecord {
        request_id: format!("req-{id:06}").into(),
        key_id: if id.is_multiple_of(3) { "k1" } else { "k2" }.into(),
        account_id: "a1".into(),
        department_id: None,
        team_id: None,
        holder: None,
        started_at: UnixMillis(NOW.0 + id),
        app_url: Some("https://app.example".to_owned()),
        app_title: None,
        model_asked: "svc/auto".to_owned(),
        model: Some("mock-fast".into()),
        provider: Some("lab".into()),
        region: Some(Region::UsEast),
        level: SecurityLevel::Standard,
        stream: id.is_multiple_of(2),
        usage: Usage { uncached_input: 10, cache_read: 3, cache_write: 2, output: 5, reasoning: 1 },
        usage_source: UsageSource::Measured,
        cost: (!id.is_multiple_of(5)).then_some(PicoUsd(1_000 + id)),
        price_version: Some("2026-11".to_owned()),
        time_to_first_token_ms: Some(12),
        duration_ms: 345,
        outcome: if id.is_multiple_of(4) { Outcome::Cancelled } else { Outcome::Completed },
        attempts: 2,
        audit_id: Some(format!("aud-{id:06}")),
        simulated: false,
        filter: FilterRecord {
            action: FilterAction::Redact,
            redactions: [("email".to_owned(), id)].into(),
            flags: vec!["prompt_injection".to_owned()],
            injection_permille: 431,
        },
        max_tokens_lowered: Some(300),
        provider_key: None,
        assumed: Default::default(),
        session: None,
        route: Some(RouteRecord {
            router: "svc/auto".into(),
            policy: "balanced".to_owned(),
            task_type: "debug".to_owned(),
            certainty: 0.75,
            complexity: 0.5,
            agent_step: true,
            reason: "best".to_owned(),
            candidates: vec![RouteCandidate {
                model: "m".into(),
                provider: Some("p".into()),
                utility: 0.5,
                quality: 0.625,
                basis: Some(Basis::Prior),
                cost_usd: None,
                first_token_ms: 800.0,
                seconds: 2.5,
                excluded: Some("vision".to_owned()),
            }],
        }),
    }
}

pub(crate) fn audit(id: u64) -> AuditEntry {
    AuditEntry {
        audit_id: format!("aud-{id:06}"),
        at: UnixMillis(NOW.0 + id),
        request_id: Some(format!("req-{id:06}").into()),
        key_id: "k1".into(),
        person_id: None,
        account_id: "a1".into(),
        remote_addr: Some("192.0.2.7".to_owned()),
        app: Some("app".to_owned()),
        model_asked: "svc/auto".to_owned(),
        model: Some("mock-fast".into()),
        provider: Some("lab".into()),
        region: Some(Region::UsEast),
        level: SecurityLevel::Maximum,
        filter: FilterRecord { redactions: [("email".to_owned(), 2)].into(), ..Default::default() },
        usage: Some(Usage { uncached_input: 1, ..Usage::default() }),
        cost: Some(PicoUsd(1)),
        outcome: Outcome::Completed,
        zero_retention: false,
        content_bytes: None,
    }
}

pub(crate) fn sum(requests: u64) -> UsageSum {
    UsageSum {
        key_id: "k1".into(),
        account_id: "a1".into(),
        department_id: None,
        team_id: None,
        holder: None,
        quarter: NOW.seconds() - NOW.seconds() % 900,
        model: Some("mock-fast".into()),
        requests,
        usage: Usage { output: 4, ..Usage::default() },
        cost: Some(PicoUsd(9)),
        uncounted_cost: None,
        assumed: Default::default(),
    }
}

/// What a server appends for a request: a third of them are in zero-retention mode.
pub(crate) fn request(id: u64) -> Vec<JournalEntry> {
    match id % 3 {
        0 => vec![JournalEntry::Usage(Box::new(usage(id)))],
        1 => {
            vec![JournalEntry::Usage(Box::new(usage(id))), JournalEntry::Audit(Box::new(audit(id)))]
        }
        _ => vec![JournalEntry::Sum(sum(1))],
    }
}
