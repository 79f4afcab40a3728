//! Zero retention, on every way that a request can go: no content is written anywhere, and nothing
//! that is made from it.
//!
//! Everything that either side can say has a mark of its own. The requests go every way that there
//! is, and then each mark is sought in every place, as it is, in other spellings, and as what can be
//! computed from it without a key. What is computed with a key cannot be sought; for it stands what
//! may be there at all: [`only_sums_grow`], and [`entries_say_nothing`] of entries of the audit trail.
//!
//! A new way is a line in `ways.rs`; a new place is found by itself where it is a file, a table or a
//! page, and is a line in `places.rs` where it is a command.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

mod apart;
#[path = "../dashboard/browser.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod browser;
mod forms;
mod house;
mod marks;
mod places;
mod request;
mod search;
mod ways;

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value, json};
use sluice_testpostgres::Database;

use crate::forms::{digests, spellings};
use crate::house::House;
use crate::places::tables;
use crate::search::{Found, Place, Search};
use crate::ways::{SLOW_WAYS, WAYS};

/// How long the server of [`SLOW_WAYS`] waits.
const IMPATIENT: &str =
    "[timeouts]\nfirst_token_seconds = 1\nidle_seconds = 1\ntotal_seconds = 2\n";

#[tokio::test]
async fn nothing_of_a_request_is_kept() {
    for database in Database::none_and_one() {
        let mut house = House::build(database, "").await;
        let callers = house.callers().await;
        let before = tables(&house.backup().await);
        for caller in &callers {
            for way in WAYS {
                way.go(&house, caller).await;
            }
            house.ask_in_part(caller).await;
        }
        house.ask_on_pages().await;
        house.settled().await;
        only_sums_grow(&before, &tables(&house.backup().await));
        let of_team = callers.iter().find(|caller| caller.name == "by policy").unwrap();
        house.ask_with_an_own_provider_key(of_team).await;

        let mut places = house.places().await;
        entries_say_nothing(&house).await;
        house.crash(&callers).await;
        places.extend(house.files());
        house.stop(&callers).await;
        places.extend(house.files());
        places.extend(house.files_of_the_database());
        places.append(&mut house.glimpses);
        nothing_is_found(&house, &places);
    }
}

#[tokio::test]
async fn nothing_of_a_request_that_takes_too_long_is_kept() {
    for database in Database::none_and_one() {
        let mut house = House::build(database, IMPATIENT).await;
        let callers = house.callers().await;
        for way in SLOW_WAYS {
            join_all(callers.iter().map(|caller| way.go(&house, caller))).await;
        }
        let mut places = house.places().await;
        entries_say_nothing(&house).await;
        assert!(house.sluice.stop().await.success());
        places.extend(house.files());
        places.extend(house.files_of_the_database());
        nothing_is_found(&house, &places);
    }
}

/// The search is not blind: it finds what may be kept without zero retention, in each kind of place.
#[tokio::test]
async fn what_may_be_kept_is_found() {
    for database in Database::none_and_one() {
        let is_postgres = database.is_some();
        let mut house = House::build(database, "").await;
        let caller = house.caller("retained", &[], json!({})).await;
        for way in &WAYS[..2] {
            way.go(&house, &caller).await;
        }
        let mut places = house.places().await;
        places.extend(house.files_of_the_database());
        let search = Search::of(&house.sent.all());
        let found = search.through(&places);
        let title = "retained: answered: x-title (as it is)";
        let mut kinds = vec![
            "table usage_records",
            "table audit_entries",
            "the backup",
            "/journal/",
            "/requests/",
            "/audit.jsonl",
            "/audit/",
            "the live tail",
            "sluice usage list --json",
            "sluice audit list --json",
        ];
        kinds.push(if is_postgres { "/base/" } else { "/data/sluice.db" });
        for kind in kinds {
            let is_there = found.iter().any(|it| it.what == title && it.place.contains(kind));
            assert!(is_there, "the title is not in {kind}: {found:#?}");
        }

        for (name, known) in [
            ("standard output", "Base URL"),
            ("the log", "request ended"),
            ("the metrics", "sluice_requests_total"),
            ("/overview", "retained"),
            ("/api/v1/models", "mock"),
        ] {
            let place = places.iter().find(|place| place.name == name).unwrap();
            assert!(String::from_utf8_lossy(&place.bytes).contains(known), "{known} in {name}");
        }

        // And it finds each form of a mark in a file that somebody writes.
        let mark = house.sent.marks("scratch".to_owned()).word("mark");
        let search = Search::of(&house.sent.all());
        let scratch = house.sluice.data_dir().join("scratch");
        std::fs::create_dir(&scratch).unwrap();
        let forms = [spellings(&mark), digests(mark.as_bytes())].concat();
        for (number, (_, bytes)) in forms.iter().enumerate() {
            let text = [b"It says ".to_vec(), bytes.to_ascii_uppercase(), b" here".to_vec()];
            std::fs::write(scratch.join(format!("{number}.txt")), text.concat()).unwrap();
        }
        places = house.files();
        let found = search.through(&places);
        for (number, (form, _)) in forms.iter().enumerate() {
            let file = format!("/scratch/{number}.txt");
            let is_it =
                |it: &&Found| it.place.ends_with(&file) && it.what.starts_with("scratch: mark");
            assert!(found.iter().any(|it| is_it(&it)), "{form} is not found in {file}");
        }
    }
}

/// No table has other rows than before but those that hold sums, the audit trail, or the state of the
/// server itself.
fn only_sums_grow(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    const MAY_GROW: &[&str] = &[
        "audit_entries",
        "audit_head",
        "journal_segments",
        "key_uses",
        "five_hour_windows",
        "person_sessions",
        "trail_places",
        "usage_quarters",
        "usage_rollup",
        "usage_series",
        "usage_sums",
    ];
    let changed = after.iter().filter(|(table, rows)| before.get(*table) != Some(rows));
    let changed: Vec<&String> = changed.map(|(table, _)| table).collect();
    let other: Vec<_> = changed.iter().filter(|it| !MAY_GROW.contains(&it.as_str())).collect();
    assert!(other.is_empty(), "{other:?} changed");
    assert!(changed.iter().any(|it| *it == "usage_quarters"), "{changed:?}");
}

/// Entries of the audit trail hold nothing that was derived from content or from a caller's header.
async fn entries_say_nothing(house: &House) {
    const MAY_BE_SAID: &[&str] = &[
        "kind",
        "audit_id",
        "at",
        "key_id",
        "key_name",
        "account_id",
        "account_name",
        "model_asked",
        "model",
        "provider",
        "region",
        "security_level",
        "filter",
        "outcome",
        "zero_retention",
        "seq",
        "hash",
    ];
    let list = ["audit", "list", "--json", "--kind", "request"];
    let entries = house.sluice.json_lines(&list).await;
    assert!(!entries.is_empty());
    for entry in entries {
        let said = entry.as_object().unwrap().iter().filter(|(_, value)| !is_empty(value));
        let more: Vec<_> = said.filter(|(name, _)| !MAY_BE_SAID.contains(&name.as_str())).collect();
        assert!(more.is_empty(), "{more:?} in {entry}");
        let filter = &entry["filter"];
        let failed = json!({ "action": "block", "flags": ["filter_failed"] });
        assert!(*filter == json!({ "action": "pass" }) || *filter == failed, "{entry}");
    }
    assert_eq!(house.sluice.usage().await, Vec::<Value>::new());
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn nothing_is_found(house: &House, places: &[Place]) {
    house.note_what_providers_saw();
    let found = Search::of(&house.sent.all()).through(places);
    let told: Vec<&Found> = found.iter().take(20).collect();
    assert!(found.is_empty(), "{} were found, the first of them: {told:#?}", found.len());
}
