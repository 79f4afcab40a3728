//! Records page by page and what they come to, held against a plain look at all of them.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::collections::BTreeMap;

use common::{NOW, Place, audit, places, put, sum, usage};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use sluice_core::clock::UnixMillis;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_storage::{
    By, Detail, Figures, HOUR_SECONDS, Ingester, Journal, JournalEntry, MasterKey, Part, Question,
    Reach, RecordCursor, RecordsFilter, Sight, Store, TrailCursor, TrailFilter, Turn, UsageFilter,
    UsageRecord, UsageSum,
};

const RECORDS: u64 = 700;

/// Many records of a moment, of several accounts, teams and people, over three days.
fn record(id: u64) -> UsageRecord {
    let pick = |salt: u64, from: &[&str]| {
        let salt = salt.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt) >> 33;
        from[mixed as usize % from.len()].to_owned()
    };
    let some = |text: String| (!text.is_empty()).then_some(text);
    let action = pick(7, &["pass", "pass", "redact", "block", "withhold"]);
    UsageRecord {
        // Of one moment there are several, on hours and off them.
        started_at: UnixMillis(NOW.0 - (id / 9) * 3_600_000 - (id % 3) * 600_000),
        key_id: pick(1, &["k1", "k2", "k3"]).into(),
        account_id: pick(2, &["a1", "a1", "a1", "a2"]).into(),
        department_id: some(pick(3, &["", "d1", "d2"])).map(Into::into),
        team_id: some(pick(4, &["", "t1", "t2"])).map(Into::into),
        holder: Holder::parse(&pick(5, &["", "person:p1", "person:p2", "service:s1"])),
        app_title: some(pick(6, &["", "ci", "a \u{202e}' OR 1=1 --"])),
        model_asked: pick(8, &["svc/auto", "m1"]),
        model: some(pick(9, &["", "m1", "m2"])).map(Into::into),
        provider: some(pick(10, &["", "lab", "cloud"])).map(Into::into),
        outcome: Outcome::ALL[id as usize % Outcome::ALL.len()],
        filter: FilterRecord {
            action: FilterAction::parse(&action).unwrap(),
            ..FilterRecord::default()
        },
        time_to_first_token_ms: (!id.is_multiple_of(4)).then_some(id * 97 % 70_000),
        ..usage(id)
    }
}

fn private(id: u64) -> UsageSum {
    UsageSum { quarter: (NOW.seconds() - id * 5000) / 900 * 900, ..sum(id % 4) }
}

async fn fill(store: &Store, master: &MasterKey) {
    let journal = Journal::open(store.data_dir(), master).unwrap();
    for id in 0..RECORDS {
        journal.append(&[JournalEntry::Usage(Box::new(record(id)))]).unwrap();
    }
    for id in 0..40 {
        journal.append(&[JournalEntry::Sum(private(id))]).unwrap();
    }
    // Written twice, counted once.
    journal.append(&[JournalEntry::Usage(Box::new(record(5)))]).unwrap();
    Ingester::new(store.clone(), master).run_to_end().await.unwrap();
}

fn sights() -> impl Strategy<Value = Sight> {
    let reach = select(vec![
        Reach::Account,
        Reach::Account,
        Reach::Departments(vec!["d1".into()]),
        Reach::Departments(vec!["d1".into(), "d2".into()]),
        Reach::Departments(vec![]),
        Reach::Teams(vec!["t2".into()], "p1".into()),
        Reach::Teams(vec![], "p1".into()),
        Reach::Own("p2".into()),
        Reach::Own("p9".into()),
        Reach::Nothing,
    ]);
    (select(vec!["a1", "a1", "a2", "a9"]), reach)
        .prop_map(|(account, reach)| Sight { account: account.into(), reach })
}

fn some_of<T: Clone + std::fmt::Debug + 'static>(of: Vec<T>) -> impl Strategy<Value = Option<T>> {
    prop_oneof![3 => Just(None), 1 => select(of).prop_map(Some)]
}

/// One value, some, or none at all.
fn several_of<T: Clone + std::fmt::Debug + 'static>(of: &[T]) -> impl Strategy<Value = Vec<T>> {
    let some = subsequence(of.to_vec(), 1..=of.len());
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

fn filters() -> impl Strategy<Value = RecordsFilter> {
    let text = |of: &[&str]| some_of(of.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    let moments: Vec<_> = (0..90).map(|it| UnixMillis(NOW.0 - it * 3_000_000)).collect();
    let first = (some_of(moments.clone()), some_of(moments), text(&["k1", "k9"]));
    let second = (
        text(&["m1", "svc/auto", "m9"]),
        text(&["", "a \u{202e}' OR 1=1 --"]),
        several_of(&Outcome::ALL),
        text(&["lab", ""]),
        several_of(&FilterAction::ALL),
    );
    let third = (text(&["t1"]), text(&["req-00", "req-0001", "req-000123", "x"]));
    (first, second, third).prop_map(
        |((since, until, key), (model, app, outcomes, provider, actions), third)| {
            let (team, id_prefix) = third;
            RecordsFilter {
                since,
                until,
                key_id: key.map(Into::into),
                model,
                app,
                outcomes,
                provider,
                actions,
                team_id: team.map(Into::into),
                id_prefix,
            }
        },
    )
}

/// Runs a check with arbitrary values against a filled database.
fn arbitrarily<S: Strategy>(
    strategy: S,
    cases: u32,
    place: &Place,
    check: impl AsyncFn(&Store, S::Value) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = runtime.block_on(async {
        let (store, master) = place.open().await;
        fill(&store, &master).await;
        store
    });
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) })
        .run(&strategy, |value| runtime.block_on(check(&store, value)))
        .unwrap();
    runtime.block_on(store.close());
}

#[test]
fn pages_joined_are_the_whole_list() {
    for place in places() {
        let strategy = (sights(), filters(), 20_u32..=200);
        arbitrarily(strategy, 150, &place, async |store, (sight, filter, limit)| {
            let mut expected: Vec<_> = (0..RECORDS)
                .map(record)
                .filter(|it| sight.admits(&it.attribution()) && filter.admits(it))
                .collect();
            expected.sort_by_key(|it| std::cmp::Reverse((it.started_at, it.request_id.clone())));
            let page = async |turn: &Turn<RecordCursor>| {
                store.records(&sight, &filter, turn, limit).await.unwrap()
            };
            let mut found = Vec::new();
            let mut turn = Turn::First;
            let last = loop {
                let next = page(&turn).await;
                prop_assert!(next.records.len() <= (limit as usize).min(100));
                prop_assert_eq!(next.newer.is_none(), turn == Turn::First);
                found.extend(next.records.iter().map(|it| it.record.clone()));
                match next.older.clone() {
                    Some(cursor) => {
                        let text = cursor.to_string();
                        prop_assert_eq!(RecordCursor::parse(&text), Some(cursor.clone()));
                        turn = Turn::Older(cursor);
                    }
                    None => break next,
                }
            };
            prop_assert_eq!(&found, &expected);
            // And all the way back.
            let mut found: Vec<_> = last.records.iter().map(|it| it.record.clone()).rev().collect();
            let mut newer = last.newer;
            while let Some(cursor) = newer {
                let next = page(&Turn::Newer(cursor)).await;
                found.extend(next.records.iter().map(|it| it.record.clone()).rev());
                newer = next.newer;
            }
            found.reverse();
            prop_assert_eq!(&found, &expected);
            Ok(())
        });
    }
}

/// What records and sums come to, without a database. Times to first token are compared by number.
fn count(figures: &mut Figures, record: &UsageRecord) {
    figures.requests += 1;
    figures.unpriced_requests += u64::from(record.cost.is_none());
    figures.filtered_requests += u64::from(record.filter.action != FilterAction::Pass);
    add_usage(figures, &record.usage, record.cost);
    figures.duration_ms += record.duration_ms;
}

fn add_usage(figures: &mut Figures, usage: &sluice_core::usage::Usage, cost: Option<PicoUsd>) {
    figures.usage.uncached_input += usage.uncached_input;
    figures.usage.cache_read += usage.cache_read;
    figures.usage.cache_write += usage.cache_write;
    figures.usage.output += usage.output;
    figures.usage.reasoning += usage.reasoning;
    figures.cost = figures.cost.plus(cost.unwrap_or_default());
}

/// The figures without what is compared in another way.
fn plain(figures: Figures) -> Figures {
    Figures { outcomes: Default::default(), first_tokens: Default::default(), ..figures }
}

#[test]
fn the_rollup_is_what_its_records_come_to() {
    let hour = |at: UnixMillis| at.seconds() / HOUR_SECONDS * HOUR_SECONDS;
    for place in places() {
        let strategy = (sights(), filters(), any::<bool>());
        arbitrarily(strategy, 120, &place, async |store, (sight, filter, with_sums)| {
            // What is not in the rollup, and periods within an hour.
            let to_hour = |at: UnixMillis| UnixMillis(hour(at) * 1000);
            let filter = RecordsFilter {
                since: filter.since.map(to_hour),
                until: filter.until.map(to_hour),
                id_prefix: None,
                ..filter
            };
            let (mut total, mut errors, mut first_tokens) = (Figures::default(), 0, 0);
            let mut hours: BTreeMap<u64, Figures> = BTreeMap::new();
            let mut models: BTreeMap<String, Figures> = BTreeMap::new();
            let records = (0..RECORDS).map(record);
            for it in records.filter(|it| sight.admits(&it.attribution()) && filter.admits(it)) {
                let model = it.model.as_ref().map(ToString::to_string).unwrap_or_default();
                count(&mut total, &it);
                count(hours.entry(hour(it.started_at)).or_default(), &it);
                count(models.entry(model).or_default(), &it);
                errors += u64::from(!matches!(
                    it.outcome,
                    Outcome::Completed | Outcome::Cancelled | Outcome::Blocked
                ));
                first_tokens += u64::from(it.time_to_first_token_ms.is_some());
            }
            let mut summed = 0;
            for it in (0..40).map(private).filter(|_| with_sums) {
                // As a record of which nothing else is known.
                let mut like = UsageRecord { account_id: it.account_id.clone(), ..usage(0) };
                (like.key_id, like.model) = (it.key_id.clone(), it.model.clone());
                like.started_at = UnixMillis(it.quarter * 1000);
                (like.app_title, like.provider, like.model_asked) = (None, None, String::new());
                let is_in = sight.admits(&like.attribution())
                    && filter.outcomes.is_empty()
                    && filter.actions.is_empty()
                    && filter.admits(&like);
                if !is_in {
                    continue;
                }
                let model = it.model.as_ref().map(ToString::to_string).unwrap_or_default();
                for of in [
                    &mut total,
                    hours.entry(hour(like.started_at)).or_default(),
                    models.entry(model).or_default(),
                ] {
                    of.requests += it.requests;
                    add_usage(of, &it.usage, it.cost);
                }
                summed += it.requests;
            }
            let question =
                Question { sight: &sight, filter: &filter, with_sums, detail: Detail::Times };
            let found = store.total(&question).await.unwrap();
            prop_assert_eq!(plain(found), total);
            prop_assert_eq!((found.outcomes.errors(), found.outcomes.summed), (errors, summed));
            prop_assert_eq!(found.first_tokens.count(), first_tokens);

            let found = store.hours(&question).await.unwrap();
            let found: Vec<_> = found.into_iter().map(|it| (it.start, plain(it.figures))).collect();
            prop_assert_eq!(&found, &hours.into_iter().collect::<Vec<_>>());

            // Days are what their hours come to.
            let by_day = |parts: Vec<(u64, Figures)>| {
                let mut days: BTreeMap<u64, Figures> = BTreeMap::new();
                for (start, figures) in parts {
                    let sum = days.entry(start - start % 86_400).or_default();
                    *sum = sum.plus(figures);
                }
                days
            };
            let days = store.days(&question).await.unwrap();
            let days = days.into_iter().map(|it| (it.start, plain(it.figures))).collect();
            prop_assert_eq!(by_day(days), by_day(found));

            // Each kind of a filter of its own is what it is by itself.
            let period = RecordsFilter {
                since: filter.since,
                until: filter.until,
                ..RecordsFilter::default()
            };
            let whole = Question { filter: &period, ..question.clone() };
            let each = [(By::Model, &filter), (By::Outcome, &period)];
            let mut alone = store.parts(&question, &[By::Model], 100).await.unwrap();
            alone.extend(store.parts(&whole, &[By::Outcome], 100).await.unwrap());
            let mut together = store.parts_of_each(&whole, &each, 100).await.unwrap();
            let by_value = |part: &Part| (part.by, part.value.clone());
            alone.sort_by_key(by_value);
            together.sort_by_key(by_value);
            prop_assert_eq!(alone, together);

            let found = store.parts(&question, &[By::Model, By::Outcome], 100).await.unwrap();
            let of = |by| found.iter().filter(move |part: &&Part| part.by == by);
            let by_model: BTreeMap<String, Figures> =
                of(By::Model).map(|it| (it.value.clone(), plain(it.figures))).collect();
            prop_assert_eq!(by_model, models);
            let ordered: Vec<_> =
                of(By::Model).map(|it| std::cmp::Reverse(it.figures.cost)).collect();
            prop_assert!(ordered.is_sorted());
            let requests: u64 = of(By::Outcome).map(|it| it.figures.requests).sum();
            prop_assert_eq!(requests, total.requests);

            // The largest ones, and only the figures that were asked for.
            let brief = Question { detail: Detail::Requests, ..question };
            let top = store.parts(&brief, &[By::Key], 1).await.unwrap();
            prop_assert!(top.len() <= 1 && top.iter().all(|it| it.figures.cost == PicoUsd(0)));
            Ok(())
        });
    }
}

#[tokio::test]
async fn one_record_is_seen_by_whom_it_concerns() {
    for place in places() {
        let (store, master) = place.open().await;
        put(&store, &master, None, common::account("a1")).await.unwrap();
        put(&store, &master, None, common::key("k1", "a1", &master)).await.unwrap();
        fill(&store, &master).await;
        let own = (0..RECORDS).map(record).find(|it| {
            it.account_id.as_str() == "a1"
                && it.key_id.as_str() == "k1"
                && it.holder == Holder::parse("person:p1")
        });
        let own = own.unwrap();
        let see = async |account: &str, reach| {
            let sight = Sight { account: account.into(), reach };
            store.record(&sight, &own.request_id).await.unwrap()
        };
        let seen = see("a1", Reach::Account).await.unwrap();
        assert_eq!(seen.record, own);
        assert_eq!(seen.record.audit_id, own.audit_id);
        assert_eq!(seen.key_name.as_deref(), Some("key k1"));
        assert!(see("a1", Reach::Own("p1".into())).await.is_some());
        assert_eq!(see("a1", Reach::Own("p2".into())).await, None);
        assert_eq!(see("a1", Reach::Departments(vec!["d9".into()])).await, None);
        assert_eq!(see("a2", Reach::Account).await, None, "of another account");
        assert_eq!(see("a2", Reach::Own("p1".into())).await, None);
        let names = store.key_names(&["k1".into(), "k9".into()]).await.unwrap();
        assert_eq!(names, [("k1".into(), "key k1".to_owned())]);
        assert_eq!(store.key_names(&[]).await.unwrap(), []);
        assert_eq!(store.usage(&UsageFilter::default()).await.unwrap().len() as u64, RECORDS);
    }
}

/// Callers choose the names of applications. No index takes text of any length.
#[tokio::test]
async fn a_long_name_is_found_by_its_beginning() {
    for place in places() {
        let (store, master) = place.open().await;
        let journal = Journal::open(store.data_dir(), &master).unwrap();
        let app = "\u{1f40c}\0".repeat(5_000);
        let long = UsageRecord {
            app_title: Some(app.clone()),
            model_asked: "m".repeat(9_000),
            ..usage(1)
        };
        journal.append(&[JournalEntry::Usage(Box::new(long))]).unwrap();
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        let sight = Sight { account: "a1".into(), reach: Reach::Account };
        let filter = RecordsFilter { app: Some(app), ..RecordsFilter::default() };
        let page = store.records(&sight, &filter, &Turn::First, 9).await.unwrap();
        assert_eq!(page.records.len(), 1);
        let question =
            Question { sight: &sight, filter: &filter, with_sums: true, detail: Detail::Requests };
        let parts = store.parts(&question, &[By::App], 9).await.unwrap();
        assert_eq!(parts[0].value.chars().count(), 120);
        let filter = RecordsFilter { app: Some(parts[0].value.clone()), ..filter };
        let page = store.records(&sight, &filter, &Turn::First, 9).await.unwrap();
        assert_eq!(page.records.len(), 1, "as a facet offers it");
    }
}

#[tokio::test]
async fn the_trail_is_read_page_by_page() {
    for place in places() {
        let (store, master) = place.open().await;
        put(&store, &master, None, common::account("a1")).await.unwrap();
        put(&store, &master, None, common::account("a2")).await.unwrap();
        put(&store, &master, None, common::key("k1", "a1", &master)).await.unwrap();
        let journal = Journal::open(store.data_dir(), &master).unwrap();
        for id in 0..150 {
            let mut entry = audit(id);
            // Several of a moment; every tenth is another account's.
            entry.at = UnixMillis(NOW.0 + id / 7);
            if id % 10 == 0 {
                entry.account_id = "a2".into();
            }
            journal.append(&[JournalEntry::Audit(Box::new(entry))]).unwrap();
        }
        Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
        let all = async |account: &str, filter: &TrailFilter| {
            let (mut found, mut turn) = (Vec::new(), Turn::First);
            loop {
                let page = store.trail_page(&account.into(), filter, &turn, 40).await.unwrap();
                found.extend(page.entries.iter().map(|it| (it.entry.at(), it.seq)));
                let Some(older) = page.older else { return found };
                assert_eq!(TrailCursor::parse(&older.to_string()), Some(older));
                if let Some(newer) = page.newer {
                    let back = Turn::Newer(newer);
                    let back = store.trail_page(&account.into(), filter, &back, 40).await.unwrap();
                    assert_eq!(back.entries.len(), 40);
                }
                turn = Turn::Older(older);
            }
        };
        let any = TrailFilter::default;
        let everything = all("a1", &any()).await;
        assert_eq!(everything.len(), 2 + 135, "an account, a key, and its requests");
        assert!(everything.windows(2).all(|two| two[0] > two[1]));
        assert_eq!(all("a2", &any()).await.len(), 1 + 15);
        assert_eq!(all("a9", &any()).await, []);
        let of = async |filter| all("a1", &filter).await.len();
        assert_eq!(of(TrailFilter { verb: Some("request".to_owned()), ..any() }).await, 135);
        assert_eq!(of(TrailFilter { verb: Some("test".to_owned()), ..any() }).await, 2);
        assert_eq!(of(TrailFilter { key: Some("k1".into()), ..any() }).await, 136);
        assert_eq!(of(TrailFilter { person: Some("p1".into()), ..any() }).await, 0);
        let (since, until) = (Some(UnixMillis(NOW.0 + 1)), Some(UnixMillis(NOW.0 + 3)));
        assert_eq!(of(TrailFilter { since, until, ..any() }).await, 12);
    }
}
