//! The commands that work on the data folder, from words to output and exit code.

mod allowances;
mod budgets;
pub(crate) mod manual;
mod records;

use std::path::Path;

use clap::Parser;
use sluice_core::clock::UnixMillis;
use sluice_storage::{Ingester, Journal, JournalEntry, KeyRecord, MasterKey, Store};

use records::usage_entry;

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
    Budgets(crate::commands::budgets::BudgetsArgs),
    Policy(policy::PolicyArgs),
    Routers(routers::RoutersArgs),
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

    pub(super) fn data_dir(&self) -> &Path {
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
            Line::Audit(args) => audit::run(args, &folder, NOW, out, err).await,
            Line::Budgets(args) => {
                crate::commands::budgets::run(args, &self.settings, NOW, out, err).await
            }
            Line::Routers(args) => routers::run(args, &self.settings, NOW, out, err).await,
            Line::Policy(args) => policy::run(args, &self.settings, NOW, out, err).await,
            other => panic!("{}", std::any::type_name_of_val(&other)),
        };
        exit.unwrap()
    }

    /// Runs a command that is to succeed and returns its standard output.
    pub(super) async fn done(&self, line: &str) -> String {
        let Run { exit, out, err } = Box::pin(self.run(line)).await;
        assert_eq!(exit, Exit::Done, "{line}: {err}");
        out
    }

    pub(super) async fn keys(&self) -> Vec<KeyRecord> {
        Store::open(self.data_dir()).await.unwrap().keys().await.unwrap().to_vec()
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
        ("region", r#""eu-west""#),
        ("security_level", r#""high""#),
        ("zero_retention", "true"),
        ("audit", "true"),
        ("valid_keys", "1"),
    ] {
        assert_eq!(shown[field].to_string(), value, "{field}");
    }
    let binding = ["requests_per_hour", "tokens_per_day", "concurrent_requests"];
    assert_eq!(binding.map(|name| shown["limits"][name].as_u64()), [100, 5, 10].map(Some));
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
