//! Databases as a whole: a copy or a restored backup is what it was made of, or is not there.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::path::{Path, PathBuf};

use common::{NOW, Place, account, key, places, put, put_vendors, request, sum};
use sluice_storage::{
    DataLock, DepartmentRecord, Ingester, Journal, JournalEntry, KeyRecord, Life, MasterKey,
    Serving, StorageError, Store, SubjectKind, TeamRecord, UsageFilter, backup, copy, restore,
};

/// A place with something of everything: keys that name later ones, records, an audit trail, and a
/// journal of which a part is ingested.
async fn filled(place: &Place) -> (Store, MasterKey) {
    let (store, master) = place.open().await;
    store.check_master_key(&master).await.unwrap();
    put(&store, &master, None, account("a1")).await.unwrap();
    let research = DepartmentRecord {
        id: "d1".into(),
        account_id: "a1".into(),
        name: "research".to_owned(),
        life: Life::from(NOW),
    };
    let vision = TeamRecord {
        id: "t1".into(),
        account_id: "a1".into(),
        department_id: "d1".into(),
        name: "vision".to_owned(),
        life: Life::from(NOW),
    };
    put(&store, &master, None, research).await.unwrap();
    put(&store, &master, None, vision).await.unwrap();
    let in_team = KeyRecord { team_id: Some("t1".into()), ..key("k0", "a1", &master) };
    put(&store, &master, None, in_team).await.unwrap();
    put(&store, &master, None, key("k1", "a1", &master)).await.unwrap();
    store.models_first_served([&"m".into()], NOW).await.unwrap();
    put_vendors(&store, &master).await;
    let journal = Journal::open(place.path(), &master).unwrap();
    for id in 0..700 {
        journal.append(&request(id)).unwrap();
    }
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    for id in 700..710 {
        journal.append(&request(id)).unwrap();
    }
    (store, master)
}

/// Everything that can be read, with what still is in the journal once it is ingested.
async fn everything(store: &Store, master: &MasterKey) -> String {
    Ingester::new(store.clone(), master).run_to_end().await.unwrap();
    let verified = store.verify_audit(master, &[]).await.unwrap();
    assert_eq!(verified.broken, None);
    let sums = store.usage_sums(NOW, NOW.plus(std::time::Duration::from_secs(1))).await.unwrap();
    let usage = store.usage(&UsageFilter::default()).await.unwrap();
    let keys = store.keys().await.unwrap();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0].secrets[0].hash, master.key_hasher().hash("k0"), "keys work");
    let (accounts, windows) = (
        store.accounts().await.unwrap(),
        store.used_since(SubjectKind::Key, 0, None).await.unwrap(),
    );
    let mut windows: Vec<String> = windows.iter().map(|window| format!("{window:?}")).collect();
    windows.sort();
    let vendors = store.vendors().await.unwrap();
    let sealed = vendors.providers[0].secrets.as_ref().unwrap();
    assert_eq!(sealed.open(master, "lab").unwrap().expose(), "sk-1", "credentials work");
    assert!(sealed.open(master, "another").is_none());
    let organisation = store.organisation().await.unwrap();
    let (departments, teams) = (&organisation.departments, &organisation.teams);
    format!(
        "{usage:?} {sums:?} {keys:?} {accounts:?} {departments:?} {teams:?} {windows:?} \
         {vendors:?} {}",
        verified.entries
    )
}

/// What [`everything`] says of a place like [`filled`] that nothing was done with.
async fn expected(kind: &Place) -> String {
    let place = kind.another();
    let (store, master) = filled(&place).await;
    // Hashes of keys are not shown.
    everything(&store, &master).await
}

/// Puts the files of a data folder besides the database into another one.
fn move_files(from: &Path, to: &Path) {
    for name in ["master.key", "audit.seal", "journal"] {
        std::fs::rename(from.join(name), to.join(name)).unwrap();
    }
}

#[tokio::test]
async fn a_copy_is_what_it_was_made_of_whichever_database_either_is() {
    for from in places() {
        for to in places() {
            let from = from.another();
            let (store, _) = filled(&from).await;
            store.close().await;
            let copied = copy(&from.location(), &to.location(), NOW).await.unwrap();
            assert!(copied.waiting_bytes > 1000, "{}", copied.waiting_bytes);
            let rows = |table: &str| {
                copied.tables.iter().find(|sum| sum.table == table).map(|sum| sum.rows)
            };
            assert_eq!(rows("usage_records"), Some(467));
            assert_eq!(rows("keys"), Some(2));
            assert_eq!(rows("schema_version"), None);
            move_files(from.path(), to.path());
            let (store, master) = to.open().await;
            store.check_master_key(&master).await.unwrap();
            assert_eq!(everything(&store, &master).await, expected(&from).await);
            // Foreign keys hold again.
            put(&store, &master, None, key("k8", "no such account", &master)).await.unwrap_err();
        }
    }
}

/// Whatever tables the schema gets: each is copied, or speaks of the database itself.
#[tokio::test]
async fn no_table_is_forgotten() {
    for from in places() {
        let (store, _) = filled(&from).await;
        store.close().await;
        let to = Place::sqlite();
        let copied = copy(&from.location(), &to.location(), NOW).await.unwrap();
        let mut copied: Vec<String> = copied.tables.into_iter().map(|sum| sum.table).collect();
        copied.extend(["schema_version".to_owned(), "serving".to_owned()]);
        copied.sort();
        let mut there = from.tables().await;
        there.sort();
        assert_eq!(copied, there);
    }
}

#[tokio::test]
async fn a_target_that_is_not_empty_is_refused_and_stays() {
    for from in places() {
        let (store, _) = filled(&from).await;
        store.close().await;
        for to in places() {
            let (store, master) = to.open().await;
            put(&store, &master, None, account("kept")).await.unwrap();
            store.close().await;
            let error = copy(&from.location(), &to.location(), NOW).await.unwrap_err();
            assert!(matches!(error, StorageError::NotEmpty { .. }), "{error}");
            let (store, _) = to.open().await;
            assert_eq!(store.accounts().await.unwrap(), [account("kept")]);
            drop(master);
        }
        let error = copy(&from.location(), &from.location(), NOW).await.unwrap_err();
        assert!(matches!(error, StorageError::NotEmpty { .. }), "{error}");
    }
}

#[tokio::test]
async fn nothing_is_copied_while_a_server_holds_either_side() {
    for held in places() {
        let (store, _) = filled(&held).await;
        let _lock = DataLock::acquire(held.path()).unwrap();
        let mut serving = Serving::take(&held.location(), NOW).await.unwrap();
        serving.announce(&store).await.unwrap();
        let other = Place::sqlite();
        for (from, to) in [(&held, &other), (&other, &held)] {
            let error = copy(&from.location(), &to.location(), NOW).await.unwrap_err();
            let refused =
                matches!(error, StorageError::Locked { .. } | StorageError::NothingThere { .. });
            assert!(refused, "{error}");
        }
    }
}

#[tokio::test]
async fn a_place_without_a_database_cannot_be_copied() {
    for from in places() {
        let to = Place::sqlite();
        let error = copy(&from.location(), &to.location(), NOW).await.unwrap_err();
        assert!(matches!(error, StorageError::NothingThere { .. }), "{error}");
        assert!(!to.path().join("sluice.db").exists());
    }
}

fn file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("backup.tar")
}

/// An empty place: a data folder that is not there, and a database.
fn empty(kind: &Place) -> (Place, sluice_storage::Location) {
    let place = kind.another();
    let location = place.location_in(&place.path().join("data"));
    (place, location)
}

#[tokio::test]
async fn a_backup_is_restored_on_either_database() {
    for from in places() {
        let dir = tempfile::tempdir().unwrap();
        let (store, master) = filled(&from).await;
        let written = backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing lies beside it");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = file(&dir).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let error = backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap_err();
        assert!(error.to_string().contains("already exists; name a new file"), "{error}");
        for to in places() {
            let (_place, location) = empty(&to);
            let restored = restore(&file(&dir), &location, NOW).await.unwrap();
            assert_eq!(restored.tables, written);
            assert_eq!((restored.made_at, restored.master_key), (NOW, master.id()));
            let store = Store::open(location.clone()).await.unwrap();
            let master = MasterKey::load(location.data_dir()).unwrap();
            store.check_master_key(&master).await.unwrap();
            assert_eq!(everything(&store, &master).await, expected(&from).await);
            store.close().await;
            let error = restore(&file(&dir), &location, NOW).await.unwrap_err();
            assert!(matches!(error, StorageError::NotEmpty { .. }), "{error}");
        }
    }
}

/// What is being ingested and deleted at the same time is in the backup once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_while_records_come_in_holds_each_of_them_once() {
    for from in places() {
        let (store, master) = filled(&from).await;
        let mut ingester = Ingester::new(store.clone(), &master);
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let path = from.path().to_owned();
        let key = master.clone();
        let server = tokio::spawn(async move {
            let mut written = 0;
            while !*stopped.borrow() {
                // A segment each, so that segments go as fast as they come.
                Journal::open(&path, &key).unwrap().append(&[JournalEntry::Sum(sum(1))]).unwrap();
                written += 1;
                ingester.run_once().await.unwrap();
            }
            written
        });
        for _ in 0..3 {
            let dir = tempfile::tempdir().unwrap();
            backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
            let (_place, location) = empty(&Place::sqlite());
            restore(&file(&dir), &location, NOW).await.unwrap();
            let restored = Store::open(location.clone()).await.unwrap();
            let count = async |store: &Store| {
                let day = NOW.plus(std::time::Duration::from_secs(1));
                let sums = store.usage_sums(NOW, day).await.unwrap();
                sums.iter().map(|sum| sum.requests).sum::<u64>()
            };
            Ingester::new(restored.clone(), &master).run_to_end().await.unwrap();
            let now = count(&restored).await;
            assert!((710..).contains(&now), "{now}");
            assert_eq!(restored.verify_audit(&master, &[]).await.unwrap().broken, None);
            restored.close().await;
        }
        stop.send(true).unwrap();
        assert!(server.await.unwrap() > 0);
    }
}

#[tokio::test]
async fn a_damaged_or_truncated_backup_leaves_nothing_behind() {
    let from = Place::sqlite();
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = filled(&from).await;
    backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
    let whole = std::fs::read(file(&dir)).unwrap();
    let damaged = dir.path().join("damaged.tar");
    let refused = async |bytes: &[u8], what: &str| {
        std::fs::write(&damaged, bytes).unwrap();
        let (place, location) = empty(&Place::sqlite());
        let error = restore(&damaged, &location, NOW).await.unwrap_err();
        assert!(matches!(error, StorageError::Archive { .. }), "{what}: {error}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "{what}");
    };
    for part in 0..20 {
        let cut = whole.len() * part / 20;
        refused(&whole[..cut], &format!("cut at {cut}")).await;
        let mut changed = whole.clone();
        // Somewhere in a file's content, and not in the padding behind one.
        let at = (cut + 600..whole.len()).find(|&at| changed[at] != 0).unwrap_or(600);
        changed[at] ^= 1;
        refused(&changed, &format!("changed at {at}")).await;
    }
    refused(b"", "empty").await;
    refused("no archive at all".repeat(99).as_bytes(), "text").await;
}

#[tokio::test]
async fn a_restoring_that_is_killed_can_be_done_again() {
    let from = Place::sqlite();
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = filled(&from).await;
    backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
    let file = file(&dir);
    for kind in places() {
        let (_place, location) = empty(&kind);
        // Dropped after so many looks at it, which is what a kill comes to.
        for looks in [1, 3, 9, 27, 81] {
            let mut restoring = Box::pin(restore(&file, &location, NOW));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            for _ in 0..looks {
                if std::future::Future::poll(restoring.as_mut(), &mut context).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(restoring);
            // The database's thread may still write into the hidden folder while it is removed.
            let items = std::fs::read_dir(location.data_dir()).into_iter().flatten();
            let names = items.map(|item| item.unwrap().file_name().into_string().unwrap());
            let shown: Vec<String> = names.filter(|it| !it.starts_with(".restoring-")).collect();
            assert!(shown.is_empty(), "{shown:?}");
        }
        restore(&file, &location, NOW).await.unwrap();
    }
}

/// All that a user may write to can be the data folder itself, or it is a mount point.
#[cfg(unix)]
#[tokio::test]
async fn a_data_folder_that_is_there_is_filled_and_stays() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let from = Place::sqlite();
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = filled(&from).await;
    backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
    for kind in places() {
        let (place, location) = empty(&kind);
        let data = location.data_dir();
        // What another restoring that was killed has left, and what a file system comes with.
        std::fs::create_dir_all(data.join(".restoring-0123/data")).unwrap();
        std::fs::write(data.join(".restoring-0123/data/master.key"), "half").unwrap();
        std::fs::create_dir(data.join("lost+found")).unwrap();
        std::fs::set_permissions(data, std::fs::Permissions::from_mode(0o750)).unwrap();
        let before = data.metadata().unwrap();
        restore(&file(&dir), &location, NOW).await.unwrap();
        let after = data.metadata().unwrap();
        assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing lies beside it");
        let items = std::fs::read_dir(data).unwrap();
        let hidden = |name: &String| name.starts_with('.');
        let left = items.map(|item| item.unwrap().file_name().into_string().unwrap());
        assert_eq!(left.filter(hidden).count(), 0);
        let store = Store::open(location.clone()).await.unwrap();
        let master = MasterKey::load(data).unwrap();
        store.check_master_key(&master).await.unwrap();
        assert_eq!(everything(&store, &master).await, expected(&from).await);
    }
}

#[tokio::test]
async fn nothing_is_restored_into_a_folder_that_somebody_holds() {
    let from = Place::sqlite();
    let dir = tempfile::tempdir().unwrap();
    let (store, master) = filled(&from).await;
    backup(&store, &master, &file(&dir), ("0.1.0", NOW)).await.unwrap();
    let (_place, location) = empty(&from);
    let _lock = DataLock::acquire(location.data_dir()).unwrap();
    std::fs::remove_file(location.data_dir().join("sluice.lock")).unwrap();
    let error = restore(&file(&dir), &location, NOW).await.unwrap_err();
    assert!(matches!(error, StorageError::Locked { .. }), "{error}");
}

/// Other programs may have tables beside ours.
#[tokio::test]
async fn tables_of_others_are_left_alone() {
    let Some(to) = Place::postgres() else { return };
    let from = Place::sqlite();
    filled(&from).await.0.close().await;
    let server = to.server().unwrap();
    let others = "CREATE TABLE others (id BIGINT PRIMARY KEY); \
                  CREATE TABLE theirs (id BIGINT CONSTRAINT of_others REFERENCES others)";
    server.run(others).unwrap();
    let state =
        || server.run("SELECT xmin, condeferrable FROM pg_constraint WHERE conname = 'of_others'");
    let before = state().unwrap();
    copy(&from.location(), &to.location(), NOW).await.unwrap();
    assert_eq!(state().unwrap(), before);
}
