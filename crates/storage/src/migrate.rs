//! Brings the database's tables to this program's version.
//!
//! All missing steps run in one transaction that holds the write lock, so that a server and a
//! command that start at once do not run them twice.

use crate::database::{Target, Transaction, has_schema, sql, translate};
use crate::error::StorageError;
use crate::open::Store;

/// What a step runs.
enum Script {
    /// The same on both databases.
    Same(&'static str),
    /// What the two say differently.
    Differs { sqlite: &'static str, postgres: &'static str },
    /// The same, and then what they say differently.
    Then { same: &'static str, sqlite: &'static str, postgres: &'static str },
}
use Script::{Differs, Same, Then};

/// The steps in order. A step that has been released is never edited; changes are new steps.
const STEPS: &[(i64, Script)] = &[
    (1, Same(include_str!("../migrations/0001_records.sql"))),
    (
        2,
        Differs {
            sqlite: include_str!("../migrations/0002_audit_is_append_only.sql"),
            postgres: include_str!("../migrations/0002_audit_is_append_only.postgres.sql"),
        },
    ),
    (3, Same(include_str!("../migrations/0003_what_the_filter_did.sql"))),
    (4, Same(include_str!("../migrations/0004_why_the_model.sql"))),
    (5, Same(include_str!("../migrations/0005_models_first_served.sql"))),
    (6, Same(include_str!("../migrations/0006_when_a_key_was_used_last.sql"))),
    (7, Same(include_str!("../migrations/0007_the_journal_is_sealed.sql"))),
    (8, Same(include_str!("../migrations/0008_who_serves.sql"))),
    (9, Same(include_str!("../migrations/0009_organisation.sql"))),
    (10, Same(include_str!("../migrations/0010_one_rollup_for_every_window.sql"))),
    (11, Same(include_str!("../migrations/0011_sign_in.sql"))),
    (
        12,
        Then {
            same: include_str!("../migrations/0012_what_people_look_at.sql"),
            sqlite: include_str!("../migrations/0012_trail_places.sql"),
            postgres: include_str!("../migrations/0012_trail_places.postgres.sql"),
        },
    ),
    (13, Same(include_str!("../migrations/0013_vendors.sql"))),
    (14, Same(include_str!("../migrations/0014_budgets.sql"))),
    (15, Same(include_str!("../migrations/0015_policies.sql"))),
    (16, Same(include_str!("../migrations/0016_own_provider_keys.sql"))),
    (17, Same(include_str!("../migrations/0017_routers.sql"))),
    (
        18,
        Then {
            same: include_str!("../migrations/0018_audit_records.sql"),
            sqlite: include_str!("../migrations/0018_audit_removals.sql"),
            postgres: include_str!("../migrations/0018_audit_removals.postgres.sql"),
        },
    ),
    (19, Same(include_str!("../migrations/0019_what_limits_count.sql"))),
];

const DOING: &str = "bring the database up to date";

/// The newest version that this program knows.
pub(crate) fn newest() -> i64 {
    STEPS.last().map_or(0, |(version, _)| *version)
}

/// The version of the database's tables: 0 where it has none. Refuses what a newer program made.
///
/// Neither waits for those who write nor needs the right to make tables.
pub(crate) async fn found(store: &Store) -> Result<i64, StorageError> {
    let found = match has_schema(store.database()).await {
        Ok(true) => version(store.database()).await,
        Ok(false) => Ok(0),
        Err(error) => Err(error),
    };
    let found = found.map_err(|error| store.is_no_database(error))?;
    check(found).map(|()| found)
}

/// Runs the steps that the database has not seen.
pub(crate) async fn run(store: &Store) -> Result<(), StorageError> {
    let mut tx = store.begin_write(DOING).await.map_err(|error| store.is_no_database(error))?;
    tx.may_take_long().await.map_err(StorageError::database(DOING))?;
    run_to(&mut tx, newest()).await.map_err(|error| match error {
        StorageError::Database { source, doing } => {
            StorageError::may_not_create(&store.location().database(), source, doing)
        }
        other => other,
    })?;
    tx.commit(DOING).await
}

/// Refuses what a newer program made.
fn check(found: i64) -> Result<(), StorageError> {
    let known = newest();
    if found > known { Err(StorageError::TooNew { found, known }) } else { Ok(()) }
}

/// Runs the steps up to `wanted` that the database has not seen.
pub(crate) async fn run_to(tx: &mut Transaction, wanted: i64) -> Result<(), StorageError> {
    sql("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)")
        .execute(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
    let found = version(&mut *tx).await?;
    check(found)?;
    let missing = STEPS.iter().filter(|(version, _)| (found + 1..=wanted).contains(version));
    for (version, script) in missing {
        let script = match (script, tx.is_postgres()) {
            (Same(script), true) => translate(script),
            (Differs { postgres, .. }, true) => (*postgres).to_owned(),
            (Same(sqlite) | Differs { sqlite, .. }, false) => (*sqlite).to_owned(),
            (Then { same, postgres, .. }, true) => translate(same) + postgres,
            (Then { same, sqlite, .. }, false) => format!("{same}{sqlite}"),
        };
        tx.run_script(script).await.map_err(StorageError::database(DOING))?;
        sql("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(*version)
            .execute(&mut *tx)
            .await
            .map_err(StorageError::database(DOING))?;
    }
    Ok(())
}

/// The version of a database that has tables.
pub(crate) async fn version<'c>(on: impl Into<Target<'c>>) -> Result<i64, StorageError> {
    sql("SELECT COALESCE(MAX(version), 0) AS version FROM schema_version")
        .fetch_one(on)
        .await
        .map_err(StorageError::database(DOING))?
        .integer("version")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty database as an earlier version made it.
    async fn at(dir: &std::path::Path, version: i64) -> Store {
        let store = Store::connect(dir.into()).await.unwrap();
        let mut tx = store.begin_write("test").await.unwrap();
        run_to(&mut tx, version).await.unwrap();
        tx.commit("test").await.unwrap();
        store
    }

    #[tokio::test]
    async fn what_the_windows_held_is_in_the_quarters() {
        const DAY: u64 = 1_800_057_600;
        const HOUR: u64 = DAY + 7 * 3600;
        let dir = tempfile::tempdir().unwrap();
        let store = at(dir.path(), 7).await;
        let mut script = "INSERT INTO accounts VALUES ('a1', 'a', 'lowest', 0, NULL, NULL, NULL, \
                          NULL, 'standard', FALSE, FALSE);"
            .to_owned();
        for key in ["k1", "k2"] {
            script += &format!(
                "INSERT INTO service_keys (id, account_id, name, prefix, hash, class, minimum_level, \
                 zero_retention, audit, max_tokens, created_at) VALUES ('{key}', 'a1', '', '', \
                 '{key}', 'development', 'standard', FALSE, FALSE, 'model', 0); \
                 INSERT INTO limit_windows VALUES ('key:{key}', 'requests', {HOUR}, 3), \
                 ('key:{key}', 'requests', {DAY}, 2), ('key:{key}', 'tokens', {DAY}, 50); \
                 INSERT INTO usage_sums VALUES ({DAY}, '{key}', 'a1', 5, 50, 0, 0, 0, 0, 0, 0);"
            );
        }
        script += &format!(
            "INSERT INTO limit_windows VALUES ('account:a1', 'requests', {HOUR}, 6), \
             ('account:a1', 'tokens', {DAY}, 100), ('key:gone', 'tokens', {DAY}, 1)"
        );
        store.script(&script).await;
        store.close().await;
        let store = Store::open(dir.path()).await.unwrap();
        let used = async |kind, start| {
            let used = store.used_since(kind, start, None).await.unwrap();
            used.into_iter().map(|it| (it.used.requests, it.used.tokens)).collect::<Vec<_>>()
        };
        use crate::SubjectKind::{Account, Key};
        assert_eq!(used(Key, HOUR).await, [(3, 0), (3, 0)]);
        assert_eq!(used(Account, HOUR).await, [(6, 0)]);
        assert_eq!(used(Key, DAY).await, [(5, 50), (5, 50)]);
        assert_eq!(used(Account, DAY).await, [(10, 100)]);
        // The day of a zone in which it began a little later.
        assert_eq!(used(Account, DAY - 900).await, [(10, 100)]);
    }

    #[tokio::test]
    async fn what_was_used_before_the_last_uses_were_kept_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let store = at(dir.path(), 5).await;
        let sums = "INSERT INTO usage_sums VALUES (86400, 'k1', 'a1', 1, 0, 0, 0, 0, 0, 0, 0), \
                    (172800, 'k1', 'a1', 1, 0, 0, 0, 0, 0, 0, 0)";
        store.script(sums).await;
        store.close().await;
        let store = Store::open(dir.path()).await.unwrap();
        let master = crate::MasterKey::load_or_create(dir.path()).unwrap();
        let expected = [("k1".into(), sluice_core::clock::UnixMillis(172_800_000))];
        assert_eq!(store.last_uses(&master).await.unwrap(), expected.into());
    }

    /// A key and the one that a rotation put in its place stay two keys.
    #[tokio::test]
    async fn old_keys_keep_everything_and_get_their_secret_beside_them() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = ("1".repeat(64), "2".repeat(64));
        let rows = format!(
            "INSERT INTO accounts VALUES ('a', 'default', 'highest', 1, NULL, NULL, NULL, NULL, \
             'standard', FALSE, FALSE); \
             INSERT INTO service_keys VALUES ('new', 'a', 'ci', 'svc_ent_bbbb', '{two}', \
             'production', NULL, NULL, NULL, 'standard', FALSE, FALSE, 'model', 7, NULL, 'the team', \
             20, NULL, NULL, NULL); \
             INSERT INTO service_keys VALUES ('old', 'a', 'ci', 'svc_ent_aaaa', '{one}', \
             'production', '[\"m\"]', NULL, NULL, 'high', TRUE, FALSE, 'documented', NULL, 8, NULL, \
             10, 30, 25, 'new')"
        );
        let store = at(dir.path(), 7).await;
        store.script(&rows).await;
        store.close().await;
        let store = Store::open(dir.path()).await.unwrap();
        let keys = store.keys().await.unwrap();
        let [old, new] = keys.as_slice() else { panic!("{keys:?}") };
        assert_eq!(
            (old.id.as_str(), old.prefix(), new.prefix()),
            ("old", "svc_ent_aaaa", "svc_ent_bbbb")
        );
        assert_eq!((new.owner.as_deref(), new.requests_per_hour), (Some("the team"), Some(7)));
        assert_eq!(
            (old.expires_at.map(|it| it.0), old.revoked_at.map(|it| it.0)),
            (Some(30), Some(25))
        );
        assert_eq!(old.models.as_deref(), Some(&["m".to_owned()][..]));
        for key in keys.iter() {
            assert_eq!(key.scopes, sluice_core::organisation::KeyScope::ALL);
            assert_eq!((key.secrets.len(), &key.holder, &key.team_id), (1, &None, &None));
            let found = store.key_of_hash(&key.secrets[0].hash).await.unwrap();
            assert_eq!(found.as_ref(), Some(key));
        }
        assert_eq!(store.known(None).await.unwrap().organisation.accounts.len(), 1);
    }

    #[tokio::test]
    async fn opening_again_and_at_once_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = tokio::join!(Store::open(dir.path()), Store::open(dir.path()));
        one.unwrap();
        other.unwrap();
        Store::open(dir.path()).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_up_to_date_is_opened_while_somebody_writes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let key = crate::MasterKey::load_or_create(dir.path()).unwrap();
        store.check_master_key(&key).await.unwrap();
        let writing = store.begin_write("test").await.unwrap();
        let other = Store::open(dir.path()).await.unwrap();
        other.check_master_key(&key).await.unwrap();
        writing.rollback("test").await.unwrap();
    }

    #[tokio::test]
    async fn under_another_master_key_nothing_is_brought_up_to_date() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = at(dir.path(), 7).await;
        let key = crate::MasterKey::load_or_create(dir.path()).unwrap();
        store.check_master_key(&key).await.unwrap();
        crate::MasterKey::load_or_create(elsewhere.path()).unwrap();
        let file = |dir: &std::path::Path| dir.join(crate::master_key::FILE);
        let kept = std::fs::read(file(dir.path())).unwrap();
        std::fs::copy(file(elsewhere.path()), file(dir.path())).unwrap();
        let error = Store::open(dir.path()).await.unwrap_err();
        assert!(matches!(error, StorageError::KeyIsAnother { .. }), "{error}");
        assert_eq!(version(store.database()).await.unwrap(), 7);
        std::fs::write(file(dir.path()), kept).unwrap();
        Store::open(dir.path()).await.unwrap();
        assert_eq!(version(store.database()).await.unwrap(), newest());
    }

    #[tokio::test]
    async fn a_newer_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        store.script("INSERT INTO schema_version (version) VALUES (1000)").await;
        let error = Store::open(dir.path()).await.unwrap_err();
        assert!(matches!(error, StorageError::TooNew { found: 1000, .. }), "{error}");
    }
}
