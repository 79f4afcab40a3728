//! A data folder of an earlier version opens with everything that is in it.
//!
//! `fixtures/data-folder-schema-4` was left behind by `kill -9`: accounts, keys, records and audit
//! entries are in the database and its write-ahead log, the last five requests only in the journal.
//! The expected figures are what the version that made it says of the folder.

#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::{Path, PathBuf};

use sluice_storage::{MasterKey, Store, SubjectKind};
use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// The folder's keys. They were made for this test and open nothing else.
const VALID: [(&str, &str); 8] = [
    ("first key", "svc_ent_KyKBVJO9wb9RFsmphJuzmQ8cK0Qzht3VWcM4"),
    ("plain", "svc_ent_7U7HJpmP3oFhCOJZ7bHqRA7mQuBQ9Q0QinmZ"),
    ("private", "svc_ent_LlkKYna58dULHIqHSyycuMkSF9fmbJ3msoTR"),
    ("audited", "svc_ent_Hvsrtq7Nphya4Goqa1rGTgJgDh0gIa2Zz7VJ"),
    ("both", "svc_ent_yjkUbppwMx6ly23ZfwKn8lLgUfyA250JhM0d"),
    ("rotated", "svc_ent_yXCApvnPBcOVA1I0OcfFnlWVqNKNXR4XQmBO"),
    ("rotated", "svc_ent_KytC1FPKFM5Pkl5ItjsSe2xbgFG5gJ35Qfi5"),
    ("other", "svc_ent_5mEjYKMo0g7LNi7358uPyssfg6QsTF2eGdIe"),
];
const REVOKED: &str = "svc_ent_HncxU0jk0Rj0PCSUVGSq7nYurtKB0p2j72De";

/// The usage records, the latest first. The first four are in the journal.
const RECORDS: [&str; 15] = [
    "req_01m823ykz54r0n0psgz4mqyxa5",
    "req_01m823yk93mjz2vfm5sjde04n0",
    "req_01m823yk1p4k6tbq59bgrmmap2",
    "req_01m823yj9tece4x7eec07yecwg",
    "req_01m823yfa43q8ss3arqjwm9ypb",
    "req_01m823ye0rh9rvc5epjscf23nm",
    "req_01m823ydeb4r6asnb8qd973cxz",
    "req_01m823yd68vn4r3b35nbx1g46z",
    "req_01m823yckysq84zwq06ng6r6qj",
    "req_01m823ybwt727jw33e4v3akvpb",
    "req_01m823ybnskznpkwzhra28twv9",
    "req_01m823yayjz3m6m48yjsj73w8s",
    "req_01m823yaq2r17kn0mmzjhcs5d3",
    "req_01m823ya01s8kcxd20v6ew5hx3",
    "req_01m823y9rv0hz6yzwv4vczz4dj",
];

/// Requests and tokens of each key, zero retention included.
const USED: [(&str, u64, u64); 9] = [
    ("key_6ZoLsSKzrQ5Oq74l", 1, 40),
    ("key_IX0O3Gonl3srKYBm", 4, 44),
    ("key_IqCrjQJGrKWjgyPD", 1, 13),
    ("key_OLd2L4I8Wmn7u6Ou", 1, 40),
    ("key_QiTfuC4OEY4fvi7P", 5, 57),
    ("key_kNWQddKNMY0Mp9gR", 1, 19),
    ("key_nYRqVcWzd6hx8NKD", 5, 91),
    ("key_sYUybUdYxKOkok67", 4, 50),
    ("key_yOFjyEaIrlhe1UNy", 1, 9),
];

/// The windows in which all of it lies.
const HOUR: u64 = 1_795_366_800;
const DAY: u64 = 1_795_305_600;

/// With those of the journal.
const AUDIT_ENTRIES: u64 = 19;
/// The last entry of the database.
const AUDIT_HEAD: (u64, &str) =
    (16, "70c453380747ba8126bf938bb33120ae7b145b27105a21a55f2823b5f53c7701");

/// Copies the folder, whose key has to be its owner's only.
fn copy_fixture(to: &Path) {
    let from =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data-folder-schema-4");
    std::fs::create_dir_all(to.join("journal")).unwrap();
    let files =
        ["sluice.db", "sluice.db-wal", "master.key", "journal/000000000002-37fb4270.journal"];
    for file in files {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(to.join("master.key"), private).unwrap();
    }
}

async fn holds_everything(sluice: &Sluice, starts: u64) {
    for (name, key) in VALID {
        let reply = sluice.get("/api/v1/auth/token", key).await;
        assert_eq!(reply.status, 200, "{name}");
        assert_eq!(reply.json()["key"]["name"], name);
    }
    assert_eq!(sluice.get("/api/v1/auth/token", REVOKED).await.status, 401);

    let records = sluice.usage().await;
    let ids: Vec<&str> = records.iter().map(|it| it["request_id"].as_str().unwrap()).collect();
    assert_eq!(ids, RECORDS);

    let days = sluice.json_lines(&["usage", "days", "--until", "2200-01-01", "--json"]).await;
    let tokens = |sum: &serde_json::Value| {
        sum["prompt_tokens"].as_u64().unwrap() + sum["completion_tokens"].as_u64().unwrap()
    };
    let mut used: Vec<(&str, u64, u64)> = days
        .iter()
        .inspect(|sum| assert_eq!(sum["day"], "2026-11-22"))
        .map(|sum| {
            (sum["key_id"].as_str().unwrap(), sum["requests"].as_u64().unwrap(), tokens(sum))
        })
        .collect();
    used.sort_unstable();
    assert_eq!(used, USED);

    let trail = &sluice.json_lines(&["audit", "verify", "--json"]).await[0];
    assert_eq!(trail["intact"], true, "{trail}");
    // Each start without an owner makes a link for the first one.
    assert_eq!(trail["entries"], AUDIT_ENTRIES + starts);

    let store = Store::open_existing(&*sluice.data_dir()).await.unwrap();
    // Some are in the database's windows, which become quarters, and some only in the journal.
    for start in [HOUR, DAY] {
        let used = store.used_since(SubjectKind::Key, start, None).await.unwrap();
        let of_window = used.iter().map(|it| (it.subject.id(), it.used.requests, it.used.tokens));
        match start == DAY {
            true => assert!(of_window.eq(USED), "{used:?}"),
            false => assert!(of_window.map(|it| (it.0, it.1)).eq(USED.map(|it| (it.0, it.1)))),
        }
        let account = store.used_since(SubjectKind::Account, start, None).await.unwrap();
        let requests: u64 = account.iter().map(|it| it.used.requests).sum();
        assert_eq!(requests, USED.iter().map(|it| it.1).sum::<u64>());
    }
    store.close().await;
}

#[tokio::test]
async fn a_data_folder_of_an_earlier_version_opens_with_everything_in_it() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().mock(&upstream);
    let mut sluice = Sluice::start_on(BINARY, &config, copy_fixture).await;
    holds_everything(&sluice, 1).await;
    // Once more: nothing was taken over twice, and nothing of it was for one start only.
    assert!(sluice.stop().await.success());
    sluice.start_again().await;
    holds_everything(&sluice, 2).await;
}

#[tokio::test]
async fn the_trail_of_an_earlier_version_has_the_same_head() {
    let folder = tempfile::tempdir().unwrap();
    copy_fixture(folder.path());
    let store = Store::open(folder.path()).await.unwrap();
    let trail = store.verify_audit(&MasterKey::load(folder.path()).unwrap(), &[]).await.unwrap();
    assert_eq!((trail.entries, trail.head.as_str()), AUDIT_HEAD);
    store.close().await;
}
