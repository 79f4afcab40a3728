//! The commands that work on the data folder, from words to output and exit code.

mod allowances;

use std::path::Path;

use clap::Parser;
use sluice_core::clock::UnixMillis;
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{
    AuditEntry, Ingester, Journal, JournalEntry, KeyRecord, MasterKey, Store, UsageRecord,
};

use super::*;
use crate::config::Settings;
use crate::config::environment::tests::FixedEnvironment;

/// 2026-11-21, 09:30 in UTC.
const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

#[derive(Parser)]
enum Line {
    Keys(keys::KeysArgs),
    Accounts(accounts::AccountsArgs),
    Usage(usage::UsageArgs),
    Audit(audit::AuditArgs),
    Departments(organisation::DepartmentsArgs),
    Teams(organisation::TeamsArgs),
    People(organisation::PeopleArgs),
    Services(organisation::ServicesArgs),
}

/// A deployment with one model.
pub(super) struct House {
    _dir: tempfile::TempDir,
    settings: Settings,
}

/// What a command left behind.
pub(super) struct Run {
    pub(super) exit: Exit,
    pub(super) out: String,
    pub(super) err: String,
}

impl Run {
    fn of(exit: Exit, out: Vec<u8>, err: Vec<u8>) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { exit, out: text(out), err: text(err) }
    }
}

impl House {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let text = format!(
            r#"
            [storage]
            data_dir = {:?}
            [[providers]]
            id = "lab"
            kind = "openai"
            base_url = "http://127.0.0.1:9300/v1"
            [[models]]
            id = "mock-fast"
            provider = "lab"
            "#,
            dir.path().join("data")
        );
        let settings = Settings::from_text(None, &text, &FixedEnvironment::default())
            .unwrap_or_else(|problems| panic!("{problems}"));
        Self { _dir: dir, settings }
    }

    fn data_dir(&self) -> &Path {
        &self.settings.storage.data_dir.0
    }

    pub(super) async fn run(&self, line: &str) -> Run {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let words = std::iter::once("sluice").chain(line.split_whitespace());
        let organise = match Line::try_parse_from(words) {
            Err(error) => {
                let err = error.to_string();
                return Run { exit: Exit::Usage, out: String::new(), err };
            }
            Ok(Line::Departments(args)) => organisation::Command::Departments(args),
            Ok(Line::Teams(args)) => organisation::Command::Teams(args),
            Ok(Line::People(args)) => organisation::Command::People(args),
            Ok(Line::Services(args)) => organisation::Command::Services(args),
            Ok(line) => {
                let exit = self.act(line, &mut out, &mut err).await;
                return Run::of(exit, out, err);
            }
        };
        let exit = organisation::run(organise, &self.settings, NOW, &mut out, &mut err).await;
        Run::of(exit.unwrap(), out, err)
    }

    async fn act(&self, line: Line, out: &mut Vec<u8>, err: &mut Vec<u8>) -> Exit {
        let folder = self.data_dir().into();
        let exit = match line {
            Line::Keys(args) => keys::run(args, &self.settings, NOW, out, err).await,
            Line::Accounts(args) => accounts::run(args, &self.settings, NOW, out, err).await,
            Line::Usage(args) => usage::run(args, &folder, NOW, out, err).await,
            Line::Audit(args) => audit::run(args, &folder, out, err).await,
            other => panic!("{}", std::any::type_name_of_val(&other)),
        };
        exit.unwrap()
    }

    /// Runs a command that is to succeed and returns its standard output.
    pub(super) async fn done(&self, line: &str) -> String {
        let Run { exit, out, err } = self.run(line).await;
        assert_eq!(exit, Exit::Done, "{line}: {err}");
        out
    }

    pub(super) async fn keys(&self) -> Vec<KeyRecord> {
        Store::open(self.data_dir()).await.unwrap().keys().await.unwrap()
    }

    /// Writes what a server would; `ingest` says whether it got around to ingesting it.
    async fn record(&self, entries: &[JournalEntry], ingest: bool) {
        let store = Store::open(self.data_dir()).await.unwrap();
        let master_key = MasterKey::load_or_create(self.data_dir()).unwrap();
        Journal::open(self.data_dir(), &master_key).unwrap().append(entries).unwrap();
        if ingest {
            Ingester::new(store, &master_key).run_to_end().await.unwrap();
        }
    }
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

fn usage_entry(id: u64, cost: Option<PicoUsd>) -> JournalEntry {
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
    }))
}

fn audit_entry(id: u64) -> JournalEntry {
    JournalEntry::Audit(Box::new(AuditEntry {
        audit_id: format!("aud_{id}"),
        at: NOW,
        request_id: None,
        key_id: "key_1".into(),
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
    }))
}

#[tokio::test]
async fn keys_create_prints_the_key_alone() {
    let house = House::new();
    let run = house.run("keys create --name ci --class development").await;
    assert_eq!(run.exit, Exit::Done, "{}", run.err);
    let key = run.out.strip_suffix('\n').unwrap();
    assert!(sluice_gateway::service_key::ServiceKey::parse(key).is_ok());
    assert!(run.err.contains("class development") && !run.err.contains(key));
}

#[tokio::test]
async fn keys_create_takes_every_setting() {
    let house = House::new();
    house
        .done(
            "keys create --name all --class enterprise --max-tokens model --security-level high \
             --requests-per-hour 5 --tokens-per-day 1_000 --models mock-fast \
             --regions us-east,eu-west --region eu-west --expires 2027-01-31 --zero-retention \
             --audit --scopes chat",
        )
        .await;
    let key = house.keys().await.remove(0);
    let shown = house.done(&format!("keys show {} --json", key.id)).await;
    let shown = json(&shown);
    for (field, value) in [
        ("class", r#""enterprise""#),
        ("max_tokens", r#""model""#),
        ("security_level", r#""high""#),
        ("requests_per_hour", "5"),
        ("tokens_per_day", "1000"),
        ("models", r#"["mock-fast"]"#),
        ("regions", r#"["us-east","eu-west"]"#),
        ("region", r#""eu-west""#),
        ("expires_at", r#""2027-01-31T00:00:00Z""#),
        ("zero_retention", "true"),
        ("audit", "true"),
        ("owner", "null"),
        ("scopes", r#"["chat"]"#),
        ("valid", "true"),
    ] {
        assert_eq!(shown[field].to_string(), value, "{field}");
    }
    let table = house.done(&format!("keys show {}", key.prefix())).await;
    assert!(table.contains("valid until 2027-01-31T00:00:00Z"), "{table}");
}

#[tokio::test]
async fn wrong_usage_says_what_is_expected_and_ends_with_2() {
    let house = House::new();
    for (line, expected) in [
        ("keys create", "--name"),
        ("keys create --name a --class gold", "development, production, enterprise"),
        ("keys create --name a --region mars", "us-east, us-west, eu-west, asia-pacific"),
        ("keys create --name a --expires soon", "2027-01-31"),
        ("keys create --name a --expires 2020-01-01", "not in the future"),
        ("keys create --name a --requests-per-hour 0", "at least 1"),
        ("keys create --name a --models gpt-9", "sluice catalog list"),
        ("accounts create --name a --tier gold", "lowest, middle, highest"),
        ("usage list --outcome fine", "completed"),
        ("usage list --since tomorrow", "expected a day"),
        ("usage list --since 7x", "today, yesterday"),
        ("usage days --since d", "7d"),
        ("keys set key_1 --requests-per-hour 0", "at least 1, or class"),
        ("keys set key_1 --regions mars", "us-east, us-west, eu-west, asia-pacific, or all"),
        ("keys set key_1 --expires soon", "or never"),
        ("keys set key_1 --audit maybe", "yes or no"),
        ("accounts set default --tier gold", "lowest, middle, highest"),
    ] {
        let run = house.run(line).await;
        assert_eq!(run.exit, Exit::Usage, "{line}");
        assert!(run.err.contains(expected), "{line}: {}", run.err);
        assert_eq!(run.out, "", "{line}");
    }
}

#[tokio::test]
async fn what_is_not_there_ends_with_1() {
    let house = House::new();
    for line in [
        "keys show key_none",
        "keys revoke svc_ent_none",
        "keys rotate key_none",
        "keys create --name a --account nobody",
        "keys set key_none --name a",
        "accounts set-tier nobody lowest",
        "accounts set nobody --tier lowest",
        "accounts show nobody",
        "usage show req_none",
        "usage list --key key_none",
    ] {
        let run = house.run(line).await;
        assert_eq!((run.exit, run.out.as_str()), (Exit::Failed, ""), "{line}");
        assert!(run.err.contains("sluice "), "{line} names the way out: {}", run.err);
    }
}

#[tokio::test]
async fn a_key_is_rotated_and_revoked() {
    let house = House::new();
    let old = house.done("keys create --name ci").await;
    let id = house.keys().await.remove(0).id;
    let run = house.run(&format!("keys rotate {id} --grace-hours 1")).await;
    assert_eq!(run.exit, Exit::Done, "{}", run.err);
    assert_ne!(run.out, old);
    assert!(run.err.contains("works until 2026-11-21T10:30:00Z"), "{}", run.err);

    for expected in ["is revoked", "was revoked before"] {
        // A leaked key is named by itself.
        let run = house.run(&format!("keys revoke {}", old.trim())).await;
        assert_eq!(run.exit, Exit::Done);
        assert!(run.err.contains(expected), "{}", run.err);
    }
    let all = house.done("keys list").await;
    assert!(all.contains("revoked 2026-11-21T09:30:00Z"), "{all}");
    assert_eq!(house.done("keys list --json").await.lines().count(), 1, "one key, two secrets");
    assert_eq!(house.done("keys list --json --valid").await, "");
}

#[tokio::test]
async fn accounts_are_made_and_used() {
    let house = House::new();
    let id = house.done("accounts create --name Team --tier lowest").await;
    house.done("keys create --name a --account Team").await;
    assert_eq!(house.keys().await[0].account_id.as_str(), id.trim());
    house.done("accounts set-tier Team middle").await;
    let listed = json(&house.done("accounts list --json").await);
    assert_eq!((&listed["tier"], &listed["name"]), (&"middle".into(), &"Team".into()));
    assert!(house.done("accounts list").await.contains("middle"));
}

#[tokio::test]
async fn keys_set_changes_what_is_named_and_nothing_else() {
    let house = House::new();
    let secret = house.done("keys create --name ci --models mock-fast").await;
    let before = house.keys().await.remove(0);
    let shown = house
        .done(&format!(
            "keys set {} --name cd --class development --security-level maximum \
             --requests-per-hour 5 --models all --regions us-east,eu-west --region eu-west \
             --expires 2027-01-31 --zero-retention yes --audit yes --scopes models \
             --max-tokens model --json",
            before.id
        ))
        .await;
    let shown = json(&shown);
    for (field, value) in [
        ("name", r#""cd""#),
        ("class", r#""development""#),
        ("security_level", r#""maximum""#),
        ("requests_per_hour", "5"),
        ("tokens_per_day", "null"),
        ("limits", r#"{"requests_per_hour":5,"tokens_per_day":10000}"#),
        ("models", "null"),
        ("regions", r#"["us-east","eu-west"]"#),
        ("region", r#""eu-west""#),
        ("expires_at", r#""2027-01-31T00:00:00Z""#),
        ("zero_retention", "true"),
        ("audit", "true"),
        ("owner", "null"),
        ("max_tokens", r#""model""#),
    ] {
        assert_eq!(shown[field].to_string(), value, "{field}");
    }
    let after = house.keys().await.remove(0);
    assert_eq!((after.secrets, after.created_at), (before.secrets, before.created_at));

    // The key itself names it as well; what is not named stays, and words take settings away.
    let line = format!(
        "keys set {} --requests-per-hour class --regions all --region none --expires never \
         --zero-retention no",
        secret.trim()
    );
    house.done(&line).await;
    let key = house.keys().await.remove(0);
    assert_eq!((key.requests_per_hour, key.regions, key.region), (None, None, None));
    assert_eq!((key.expires_at, key.zero_retention, key.audit), (None, false, true));
    assert_eq!(key.name, "cd");

    let run = house.run(&format!("keys set {} --models gpt-9", key.id)).await;
    assert_eq!(run.exit, Exit::Usage);
    assert!(run.err.contains("sluice catalog list"), "{}", run.err);
    for line in [format!("keys set {}", key.id), "accounts set default".to_owned()] {
        let run = house.run(&line).await;
        assert_eq!(run.exit, Exit::Usage, "{line}");
        assert!(run.err.contains("name a setting to change"), "{}", run.err);
    }
}

#[tokio::test]
async fn accounts_are_set_and_shown() {
    let house = House::new();
    house.done("accounts create --name Crew --tier highest").await;
    house.done("keys create --name a --account Crew").await;
    let line = "accounts set Crew --name Team --tier lowest --tokens-per-day 5 --region eu-west \
                --security-level high --zero-retention yes --audit yes";
    house.done(line).await;
    let shown = json(&house.done("accounts show Team --json").await);
    for (field, value) in [
        ("tier", r#""lowest""#),
        ("tokens_per_day", "5"),
        ("limits", r#"{"requests_per_hour":100,"tokens_per_day":5,"concurrent_requests":10}"#),
        ("region", r#""eu-west""#),
        ("security_level", r#""high""#),
        ("zero_retention", "true"),
        ("audit", "true"),
        ("valid_keys", "1"),
    ] {
        assert_eq!(shown[field].to_string(), value, "{field}");
    }
    house.done("accounts set Team --tokens-per-day tier --region none --audit no").await;
    let table = house.done("accounts show Team").await;
    for said in ["tokens per day     10000", "default region     -", "keys that work     1"] {
        assert!(table.contains(said), "{table}");
    }
}

#[tokio::test]
async fn a_new_key_is_printed_as_json_on_request() {
    let house = House::new();
    let made = json(&house.done("keys create --name ci --json").await);
    let key = made["key"].as_str().unwrap();
    assert!(sluice_gateway::service_key::ServiceKey::parse(key).is_ok());
    assert_eq!((&made["name"], &made["account_name"]), (&"ci".into(), &"default".into()));
    let id = made["id"].as_str().unwrap();
    let new = json(&house.done(&format!("keys rotate {id} --json")).await);
    assert_ne!(new["key"], made["key"]);
    let listed = house.done("keys list --json").await;
    assert!(!listed.contains(key) && !listed.contains("\"key\""), "{listed}");
}

#[tokio::test]
async fn keys_are_listed_with_account_owner_limits_and_last_use() {
    let house = House::new();
    house.done("accounts create --name Small --tier lowest").await;
    house.done("services create ops --account Small").await;
    let create = "keys create --name used --class enterprise --account Small --owner service:ops";
    house.done(create).await;
    house.done("keys create --name idle --requests-per-hour 7").await;
    let keys = house.keys().await;
    let mut entry = usage_entry(1, None);
    let JournalEntry::Usage(record) = &mut entry else { panic!() };
    record.key_id = keys.iter().find(|key| key.name == "used").unwrap().id.clone();
    house.record(&[entry], true).await;
    let table = house.done("keys list").await;
    let line = |name: &str| table.lines().find(|line| line.contains(name)).unwrap();
    for (name, said) in [
        ("  used  ", ["(Small)", "ops", "  100  ", "  10000  ", "2026-11-21T09:29:59"]),
        ("  idle  ", ["(default)", "  -  ", "  7  ", "  1000000  ", "never"]),
    ] {
        for said in said {
            assert!(line(name).contains(said), "no {said} in\n{table}");
        }
    }
    let lines = house.done("keys list --json").await;
    let used = lines.lines().map(json).find(|key| key["name"] == "used").unwrap();
    assert_eq!(used["limits"]["requests_per_hour"], 100);
    assert!(used["last_used_at"].as_str().unwrap().starts_with("2026-11-21T09:29:59"));
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

#[tokio::test]
async fn a_lost_master_key_is_not_replaced_silently() {
    let house = House::new();
    house.done("keys create --name a").await;
    std::fs::remove_file(house.data_dir().join("master.key")).unwrap();
    for line in ["keys create --name b", "keys list", "audit verify", "keys create --name b"] {
        let run = house.run(line).await;
        assert_eq!((run.exit, run.out.as_str()), (Exit::Failed, ""), "{line}");
        assert!(run.err.contains("master.key is missing"), "{line}: {}", run.err);
        assert!(run.err.contains("backup"), "{line}: {}", run.err);
        assert!(!house.data_dir().join("master.key").exists(), "{line}");
    }
}

#[tokio::test]
async fn what_only_reads_makes_no_data_folder() {
    let house = House::new();
    for line in
        ["usage list", "usage days", "audit list", "audit verify", "keys list", "accounts list"]
    {
        let run = house.run(line).await;
        assert_eq!((run.exit, run.out.as_str()), (Exit::Failed, ""), "{line}");
        assert!(run.err.contains("start `sluice serve` once"), "{line}: {}", run.err);
        assert!(!house.data_dir().exists(), "{line}");
    }
}
