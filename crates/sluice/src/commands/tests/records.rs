//! `usage` and `audit`: what is recorded, from the database and the journal.

use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{AuditEntry, UsageRecord};

use super::*;

pub(super) fn usage_entry(id: u64, cost: Option<PicoUsd>) -> JournalEntry {
    JournalEntry::Usage(Box::new(UsageRecord {
        request_id: format!("req_{id}").into(),
        key_id: "key_1".into(),
        account_id: "acc_1".into(),
        department_id: None,
        team_id: None,
        holder: None,
        started_at: UnixMillis(NOW.0 - 1000 + id),
        app_url: None,
        app_title: None,
        model_asked: "mock-fast".to_owned(),
        model: Some("mock-fast".into()),
        provider: Some("lab".into()),
        region: None,
        level: SecurityLevel::Standard,
        stream: false,
        usage: Usage { uncached_input: 10, cache_read: 2, output: 5, ..Usage::default() },
        usage_source: UsageSource::Measured,
        cost,
        price_version: None,
        time_to_first_token_ms: None,
        duration_ms: 20,
        outcome: Outcome::Completed,
        attempts: 1,
        audit_id: None,
        simulated: false,
        filter: sluice_core::filtering::FilterRecord::default(),
        route: None,
        max_tokens_lowered: None,
        provider_key: None,
        assumed: Default::default(),
        session: None,
    }))
}

fn audit_entry(id: u64) -> JournalEntry {
    JournalEntry::Audit(Box::new(AuditEntry {
        audit_id: format!("aud_{id}"),
        at: NOW,
        request_id: None,
        key_id: "key_1".into(),
        person_id: None,
        account_id: "acc_1".into(),
        remote_addr: None,
        app: None,
        model_asked: "mock-fast".to_owned(),
        model: None,
        provider: None,
        region: None,
        level: SecurityLevel::Standard,
        filter: sluice_core::filtering::FilterRecord::default(),
        usage: None,
        cost: None,
        outcome: Outcome::Completed,
        zero_retention: true,
        content_bytes: None,
    }))
}

#[tokio::test]
async fn names_stand_beside_ids() {
    let house = House::new();
    house.done("keys create --name ci").await;
    let key = house.keys().await.remove(0);
    let mut usage = usage_entry(1, None);
    let JournalEntry::Usage(record) = &mut usage else { panic!() };
    (record.key_id, record.account_id) = (key.id.clone(), key.account_id.clone());
    record.team_id = Some("team_1".into());
    record.holder = Some(Holder::Service("ser_1".into()));
    let mut audit = audit_entry(1);
    let JournalEntry::Audit(entry) = &mut audit else { panic!() };
    (entry.key_id, entry.account_id) = (key.id.clone(), key.account_id.clone());
    house.record(&[usage, audit], true).await;
    let named = format!("{} (ci)", key.id);
    for line in ["usage list", "usage days", "audit list --kind request"] {
        let table = house.done(line).await;
        assert!(table.contains(&named), "{line}: {table}");
        let object = json(&house.done(&format!("{line} --json")).await);
        assert_eq!(
            (&object["key_name"], &object["account_name"]),
            (&"ci".into(), &"default".into())
        );
        if line.starts_with("usage") {
            let whose = (&object["team_id"], &object["owner"]);
            assert_eq!(whose, (&"team_1".into(), &"service:ser_1".into()), "{line}");
        }
    }
}

#[tokio::test]
async fn usage_show_prints_one_record_whole() {
    let house = House::new();
    house.done("keys create --name ci").await;
    let key = house.keys().await.remove(0);
    // One in the database, one still in the journal.
    for (id, ingest) in [(1, true), (2, false)] {
        let mut entry = usage_entry(id, Some(PicoUsd(37_500_000_000)));
        let JournalEntry::Usage(record) = &mut entry else { panic!() };
        record.key_id = key.id.clone();
        house.record(&[entry], ingest).await;
    }
    for id in ["req_1", "req_2"] {
        let shown = json(&house.done(&format!("usage show {id} --json")).await);
        assert_eq!((&shown["request_id"], &shown["key_name"]), (&id.into(), &"ci".into()));
        assert_eq!(shown["cost_usd"], 0.0375);
        let table = house.done(&format!("usage show {id}")).await;
        for said in [id, "outcome                completed", "key_name               ci"] {
            assert!(table.contains(said), "no {said} in\n{table}");
        }
    }
}

#[tokio::test]
async fn days_and_times_are_named_as_people_say_them() {
    let house = House::new();
    // One second before NOW, which is 09:30.
    house.record(&[usage_entry(1, None)], true).await;
    for (line, count) in [
        ("--since today", 1),
        ("--since yesterday", 1),
        ("--until today", 0),
        ("--since yesterday --until today", 0),
        ("--since 1m", 1),
        ("--since 2h", 1),
        ("--since 7d --until 1m", 0),
        ("--since 2026-11-21", 1),
        ("--since 2026-11-21T09:30:00Z", 0),
    ] {
        let listed = house.done(&format!("usage list --json {line}")).await;
        assert_eq!(listed.lines().count(), count, "{line}");
    }
    assert_eq!(house.done("usage days --json --since yesterday").await.lines().count(), 1);
    assert_eq!(house.done("usage days --json --since yesterday --until today").await, "");
}

#[tokio::test]
async fn usage_lists_what_is_ingested_and_what_is_not() {
    let house = House::new();
    let price = Some(PicoUsd(37_500_000_000));
    house.record(&[usage_entry(1, price)], true).await;
    house.record(&[usage_entry(2, None)], false).await;
    let lines = house.done("usage list --json").await;
    let lines: Vec<_> = lines.lines().map(json).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["request_id"], "req_2", "the latest first");
    assert!(lines[0]["cost_usd"].is_null(), "unknown is not zero");
    assert_eq!(lines[1]["cost_usd"], 0.0375);
    assert_eq!(lines[1]["model"], "mock-fast");
    assert_eq!(
        (&lines[1]["prompt_tokens"], &lines[1]["completion_tokens"]),
        (&12.into(), &5.into())
    );
    assert_eq!(lines[1]["outcome"], "completed");

    let table = house.done("usage list --oldest-first --limit 1").await;
    assert!(table.contains("req_1") && table.contains("0.0375"), "{table}");
    assert!(!table.contains("req_2") && table.contains("--limit"), "{table}");
    let days = json(&house.done("usage days --json").await);
    assert_eq!((&days["day"], &days["requests"]), (&"2026-11-21".into(), &1.into()));
    assert!(house.done("usage days").await.contains("0.0375"));
}

#[tokio::test]
async fn audit_lists_and_verifies() {
    let house = House::new();
    house.record(&[audit_entry(1), audit_entry(2)], true).await;
    assert!(house.done("audit list").await.contains("aud_2"));
    let one = json(&house.done("audit list --json --audit-id aud_1").await);
    assert_eq!((&one["seq"], &one["zero_retention"]), (&1.into(), &true.into()));
    assert!(house.done("audit verify").await.contains("2 entries"));
    assert_eq!(json(&house.done("audit verify --json").await)["intact"], true);

    house.record(&[audit_entry(3)], false).await;
    let run = house.run("audit verify").await;
    assert_eq!(run.exit, Exit::Done);
    assert!(run.err.contains("1 more in the journal"), "{}", run.err);
}

#[tokio::test]
async fn a_trail_that_was_tampered_with_ends_with_1() {
    let house = House::new();
    house.record(&[audit_entry(1)], true).await;
    // Sealed by somebody who does not have the master key.
    std::fs::write(house.data_dir().join("master.key"), "ab".repeat(32)).unwrap();
    let run = house.run("audit verify").await;
    assert_eq!(run.exit, Exit::Failed);
    assert!(run.out.contains("tampered with at entry 1"), "{}", run.out);
}
