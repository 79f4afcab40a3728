//! What an earlier version recorded comes to the same as what this one does.

use sluice_core::clock::UnixMillis;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::level::SecurityLevel;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};

use crate::database::{insert_many, sql};
use crate::usage::{TABLE, UsageRecord, values};
use crate::{Ingester, Journal, JournalEntry, Location, MasterKey, Store, migrate};

fn record(id: u64) -> UsageRecord {
    UsageRecord {
        request_id: format!("req_{id:06}").into(),
        key_id: format!("k{}", id % 3).into(),
        account_id: format!("a{}", id % 2).into(),
        department_id: (id % 3 == 1).then(|| "d1".into()),
        team_id: (id % 3 == 1).then(|| "t1".into()),
        holder: (id % 3 == 2).then(|| Holder::Person("p1".into())),
        started_at: UnixMillis(1_795_253_400_000 + id * 1_700_000),
        app_url: None,
        app_title: (id % 5 > 1).then(|| "\u{1f40c}".repeat((id % 5 * 60) as usize)),
        model_asked: "svc/auto".to_owned(),
        model: (!id.is_multiple_of(4)).then(|| "m".into()),
        provider: (!id.is_multiple_of(4)).then(|| "lab".into()),
        region: None,
        level: SecurityLevel::Standard,
        stream: false,
        usage: Usage {
            uncached_input: id,
            cache_read: u64::MAX * u64::from(id == 11),
            cache_write: 1,
            output: 1 << (id % 45),
            reasoning: 0,
        },
        usage_source: UsageSource::Measured,
        cost: (!id.is_multiple_of(3)).then_some(PicoUsd(if id == 7 { u64::MAX } else { id << 40 })),
        price_version: None,
        time_to_first_token_ms: (!id.is_multiple_of(2)).then_some(id * id * 5),
        duration_ms: id,
        outcome: Outcome::ALL[(id % 7) as usize],
        attempts: 1,
        audit_id: None,
        simulated: false,
        filter: FilterRecord {
            action: FilterAction::ALL[(id % 4) as usize],
            ..FilterRecord::default()
        },
        route: None,
        max_tokens_lowered: None,
        provider_key: None,
        assumed: Default::default(),
        session: None,
    }
}

/// All rows of the rollup, with what tells their series apart in place of its number.
async fn rollup(store: &Store) -> Vec<String> {
    let names = super::series::COLUMNS.map(|column| format!("s.{column} AS series_{column}"));
    let text = format!(
        "SELECT r.*, {} FROM usage_rollup AS r JOIN usage_series AS s ON s.id = r.series_id",
        names.join(", ")
    );
    let rows = sql(text).fetch_all(store.database()).await.unwrap();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let texts = ["series_key_id", "series_team_id", "series_holder", "series_app"]
                .into_iter()
                .chain(["series_model", "series_outcome", "series_account_id", "account_id"]);
            let texts: Vec<String> = texts.map(|column| row.string(column).unwrap()).collect();
            let numbers = super::COLUMNS.into_iter().filter(|it| !it.ends_with("_id"));
            let numbers: Vec<i64> = numbers.map(|column| row.integer(column).unwrap()).collect();
            format!("{texts:?} {numbers:?}")
        })
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn what_was_recorded_before_comes_to_the_same() {
    let records: Vec<UsageRecord> = (0..200).map(record).collect();
    let create = sluice_testpostgres::Database::create;
    let on_a_server = create().zip(create());
    for servers in [Some(None), on_a_server.map(Some)].into_iter().flatten() {
        let (old_dir, new_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let url = |which: usize| {
            let servers = servers.as_ref()?;
            Some([servers.0.url(), servers.1.url()][which].clone())
        };
        let location = |dir: &tempfile::TempDir, which| {
            Location::new(dir.path(), url(which).as_deref()).unwrap()
        };
        let old = Store::connect(location(&old_dir, 0)).await.unwrap();
        let mut tx = old.begin_write("test").await.unwrap();
        migrate::run_to(&mut tx, 11).await.unwrap();
        let (table, columns) = TABLE;
        let younger = columns.iter().position(|it| *it == "max_tokens_lowered").unwrap();
        let columns = &columns[..younger];
        let rows = records.iter().map(|record| {
            let mut row = values(record, 0);
            row.truncate(columns.len());
            row
        });
        insert_many(&mut tx, (table, columns), "", rows.collect(), |_, _| {}).await.unwrap();
        migrate::run_to(&mut tx, migrate::newest()).await.unwrap();
        tx.commit("test").await.unwrap();

        let new = Store::open(location(&new_dir, 1)).await.unwrap();
        let master = MasterKey::load_or_create(new_dir.path()).unwrap();
        let journal = Journal::open(new_dir.path(), &master).unwrap();
        for record in &records {
            journal.append(&[JournalEntry::Usage(Box::new(record.clone()))]).unwrap();
        }
        Ingester::new(new.clone(), &master).run_to_end().await.unwrap();
        let (before, after) = (rollup(&old).await, rollup(&new).await);
        assert!(before.len() > 300);
        assert_eq!(before.len(), after.len());
        before.iter().zip(&after).for_each(|(before, after)| assert_eq!(before, after));
        let lost = sql("SELECT COUNT(*) AS lost FROM usage_records WHERE series_id NOT IN \
                        (SELECT id FROM usage_series)");
        assert_eq!(lost.fetch_one(old.database()).await.unwrap().count("lost").unwrap(), 0);
        // What comes later goes on with the same series.
        let master = MasterKey::load_or_create(old_dir.path()).unwrap();
        let count = sql("SELECT COUNT(*) AS series FROM usage_series");
        let series = count.fetch_one(old.database()).await.unwrap().count("series").unwrap();
        let more = UsageRecord { request_id: "req_more".into(), ..record(3) };
        let journal = Journal::open(old_dir.path(), &master).unwrap();
        journal.append(&[JournalEntry::Usage(Box::new(more))]).unwrap();
        Ingester::new(old.clone(), &master).run_to_end().await.unwrap();
        let count = sql("SELECT COUNT(*) AS series FROM usage_series");
        let later = count.fetch_one(old.database()).await.unwrap().count("series").unwrap();
        assert_eq!(later, series);
        old.close().await;
        new.close().await;
    }
}
