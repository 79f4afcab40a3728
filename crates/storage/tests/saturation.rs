//! Figures that no count can hold neither stop a server nor hide the others.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{NOW, Place, places, sum, usage};
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::usage::Usage;
use sluice_storage::{
    By, Detail, Ingester, Journal, JournalEntry, QUARTER_SECONDS, Question, Reach, RecordsFilter,
    Sight, Store, SubjectKind, UsageFilter, UsageRecord, UsageSum, window_start,
};

/// The largest figure of the database.
const MOST: u64 = i64::MAX as u64;

fn boundless() -> Usage {
    Usage {
        uncached_input: u64::MAX,
        cache_read: u64::MAX,
        cache_write: u64::MAX,
        output: u64::MAX,
        reasoning: u64::MAX,
    }
}

async fn everything_is_read(store: &Store, requests: u64) {
    let sums = store.usage_sums(UnixMillis(0), UnixMillis(NOW.0 * 2)).await.unwrap();
    assert_eq!(sums.iter().map(|sum| sum.requests).sum::<u64>(), requests);
    let worst = sums.iter().map(|sum| sum.usage.output).max().unwrap();
    assert_eq!(worst, MOST);
    let quarter = window_start(NOW, QUARTER_SECONDS);
    for start in [0, quarter] {
        let used = store.used_since(SubjectKind::Key, start, None).await.unwrap();
        assert!(used.iter().map(|it| it.used.tokens).max() >= Some(MOST), "since {start}");
    }
    store.usage(&UsageFilter::default()).await.unwrap();
    let sight = Sight { account: "a1".into(), reach: Reach::Account };
    let filter = RecordsFilter::default();
    let question =
        Question { sight: &sight, filter: &filter, with_sums: true, detail: Detail::Times };
    let total = store.total(&question).await.unwrap();
    assert_eq!(total.requests, requests);
    let parts = store.parts(&question, &[By::Key], 9).await.unwrap();
    assert_eq!(parts.iter().map(|it| it.figures.requests).sum::<u64>(), requests);
}

#[tokio::test]
async fn sums_that_do_not_fit_stay_at_the_largest_number() {
    for place in places() {
        let (store, master) = place.open().await;
        let journal = Journal::open(place.path(), &master).unwrap();
        let mut ingester = Ingester::new(store.clone(), &master);
        for round in 0..3 {
            let cost = Some(PicoUsd(u64::MAX));
            let record = UsageRecord { usage: boundless(), cost, ..usage(round) };
            journal.append(&[JournalEntry::Usage(Box::new(record))]).unwrap();
            let sum = UsageSum { usage: boundless(), cost, ..sum(1) };
            journal.append(&[JournalEntry::Sum(sum)]).unwrap();
            // Batch by batch, so that the database adds, too.
            ingester.run_to_end().await.unwrap();
        }
        everything_is_read(&store, 6).await;
    }
}

/// Of a version that let SQLite go on with floating-point numbers; PostgreSQL never does.
#[tokio::test]
async fn what_overflowed_before_is_read_and_counted_on() {
    let place = Place::sqlite();
    let (store, master) = place.open().await;
    let journal = Journal::open(place.path(), &master).unwrap();
    let mut ingester = Ingester::new(store.clone(), &master);
    journal.append(&[JournalEntry::Usage(Box::new(usage(0)))]).unwrap();
    ingester.run_to_end().await.unwrap();
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(place.path().join("sluice.db"));
    let raw = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let overflow = "UPDATE usage_quarters SET tokens = 9223372036854775807 + 9223372036854775807; \
                    UPDATE usage_sums SET output = 9223372036854775807 + 9223372036854775807, \
                    reasoning = -5; \
                    UPDATE usage_records SET output = 9223372036854775807 + 1";
    sqlx::raw_sql(overflow).execute(&raw).await.unwrap();
    everything_is_read(&store, 1).await;
    journal.append(&[JournalEntry::Usage(Box::new(usage(3)))]).unwrap();
    ingester.run_to_end().await.unwrap();
    everything_is_read(&store, 2).await;
    let kind: String = sqlx::query_scalar("SELECT typeof(max(tokens)) FROM usage_quarters")
        .fetch_one(&raw)
        .await
        .unwrap();
    assert_eq!(kind, "integer", "adding mends it");
}

/// Neither database can add up the largest figures of two rows.
#[tokio::test]
async fn what_no_sum_can_hold_is_added_up_all_the_same() {
    for place in places() {
        let (store, master) = place.open().await;
        let journal = Journal::open(place.path(), &master).unwrap();
        for (id, key) in (0..).zip(["k1", "k2", "k3"]) {
            let cost = Some(PicoUsd(MOST));
            let record = UsageRecord { usage: boundless(), cost, key_id: key.into(), ..usage(id) };
            journal.append(&[JournalEntry::Usage(Box::new(record))]).unwrap();
        }
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        for start in [0, window_start(NOW, QUARTER_SECONDS)] {
            let used = store.used_since(SubjectKind::Account, start, None).await.unwrap();
            assert_eq!(used.len(), 1);
            assert_eq!(used[0].used.cost, PicoUsd(u64::MAX), "more than it can tell");
            assert_eq!(used[0].used.requests, 3);
        }
    }
}
