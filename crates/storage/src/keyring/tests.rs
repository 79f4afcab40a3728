use super::*;

const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

struct House {
    dir: tempfile::TempDir,
    store: Store,
    account: AccountId,
}

impl House {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let house = Self { dir, store, account: "acc_1".into() };
        house.add_account("acc_1").await;
        house
    }

    async fn add_account(&self, id: &str) {
        sql("INSERT INTO accounts (id, name, tier, minimum_level, zero_retention, audit, created_at, changed) \
             VALUES ($1, $1, 'highest', 'standard', FALSE, FALSE, 0, 1)")
        .bind(id)
        .execute(self.store.database())
        .await
        .unwrap();
    }

    /// What a process that starts now works with.
    async fn master(&self) -> MasterKey {
        let key = MasterKey::load_or_create(self.dir.path()).unwrap();
        self.store.unlock(key).await.unwrap()
    }

    async fn key(&self, master: &MasterKey) -> DataKey {
        self.store.account_key(master, &self.account, NOW).await.unwrap()
    }

    async fn rotate(&self, master: &MasterKey) -> Rotated {
        let doing = Doing { at: NOW, actor: Actor::Sluice, surface: "test", judged_at: None };
        self.store.rotate_master_key(master, &doing, &self.account).await.unwrap()
    }

    async fn wrapped(&self) -> usize {
        let rows = sql("SELECT id FROM wrapped_keys").fetch_all(self.store.database());
        rows.await.unwrap().len()
    }
}

#[tokio::test]
async fn a_rotation_changes_the_file_and_nothing_that_was_derived_or_sealed() {
    let house = House::new().await;
    let first = house.master().await;
    let key = house.key(&first).await;
    let sealed = key.sealer("test").seal(b"secret", "x").unwrap();
    let mut ids = vec![first.id()];
    for _ in 0..3 {
        // By the process that has been running since the start.
        let rotated = house.rotate(&first).await;
        assert_eq!(rotated.old, *ids.last().unwrap());
        ids.push(rotated.new.clone());
        let now = house.master().await;
        assert_eq!((now.id(), now.root_id()), (rotated.new, first.id()));
        assert_eq!(now.derive("a"), first.derive("a"));
        for master in [&first, &now] {
            let again = house.key(master).await;
            assert_eq!(again.id(), key.id());
            let opened = again.sealer("test").open(&sealed, "x").unwrap();
            assert_eq!(opened.expose(), b"secret");
            assert_eq!(house.store.account_keys(master).await.unwrap().len(), 1);
        }
        assert_eq!(house.wrapped().await, 2, "the root and the account's key");
    }
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let verified = house.store.verify_audit(&first, &[]).await.unwrap();
    assert_eq!((verified.broken, verified.entries), (None, 3));
}

#[tokio::test]
async fn an_old_master_key_is_refused_after_a_rotation() {
    let house = House::new().await;
    let old = house.master().await;
    house.key(&old).await;
    let file = std::fs::read(old.path()).unwrap();
    let rotated = house.rotate(&old).await;
    std::fs::write(old.path(), file).unwrap();
    let key = MasterKey::load(house.dir.path()).unwrap();
    let error = house.store.unlock(key).await.unwrap_err().to_string();
    assert!(error.contains(&rotated.new) && error.contains(&rotated.old), "{error}");
}

/// Beside a running server, which still knows the root.
#[tokio::test]
async fn an_old_master_key_that_is_put_back_destroys_nothing() {
    let house = House::new().await;
    let first = house.master().await;
    let key = house.key(&first).await;
    let old_file = std::fs::read(first.path()).unwrap();
    let rotated = house.rotate(&first).await;
    let new_file = std::fs::read(first.path()).unwrap();
    std::fs::write(first.path(), old_file).unwrap();
    let doing = Doing { at: NOW, actor: Actor::Sluice, surface: "test", judged_at: None };
    for refused in [
        house.store.account_key(&first, &house.account, NOW).await.map(drop),
        house.store.account_keys(&first).await.map(drop),
        house.store.rotate_master_key(&first, &doing, &house.account).await.map(drop),
        house.store.end_broken_rotation(&first, NOW).await,
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(&rotated.new) && error.contains(&rotated.old), "{error}");
    }
    assert_eq!(house.wrapped().await, 2, "the root and the account's key");
    std::fs::write(first.path(), new_file).unwrap();
    assert_eq!(house.key(&first).await.id(), key.id());
    house.rotate(&first).await;
}

#[tokio::test]
async fn a_rotation_that_is_killed_anywhere_loses_nothing() {
    for renamed in [false, true] {
        let house = House::new().await;
        let old = house.master().await;
        let key = house.key(&old).await;
        let draft = Draft::write(&old).unwrap();
        house.store.wrap_all(&old, &draft.key, NOW).await.unwrap();
        if renamed {
            draft.take_the_place_of(&old).unwrap();
        }
        drop(draft);
        // The process that runs, and one that starts.
        let now = house.master().await;
        assert_eq!(now.derive("a"), old.derive("a"), "renamed: {renamed}");
        assert_eq!(house.key(&now).await.id(), key.id());
        assert_eq!(house.key(&old).await.id(), key.id());
        house.store.end_broken_rotation(&now, NOW).await.unwrap();
        assert_eq!(house.wrapped().await, if renamed { 2 } else { 1 });
        assert!(!house.dir.path().join("master.key.next").exists());
        let again = house.master().await;
        assert_eq!(again.id() == old.id(), !renamed);
        // And once more, to the end.
        let rotated = house.rotate(&again).await;
        assert_eq!(house.master().await.id(), rotated.new);
        assert_eq!(house.key(&old).await.id(), key.id());
        assert_eq!(house.store.verify_audit(&old, &[]).await.unwrap().broken, None);
    }
}

/// By somebody who writes the database and has no master key.
#[tokio::test]
async fn a_wrapped_key_that_was_moved_or_changed_is_left_out_and_the_others_stay() {
    for tampering in [
        "UPDATE wrapped_keys SET wrapped = 'x' WHERE account_id = 'acc_1'",
        "UPDATE wrapped_keys SET account_id = 'acc_3' WHERE account_id = 'acc_1'",
        "UPDATE wrapped_keys SET account_id = NULL WHERE account_id = 'acc_1'",
        "UPDATE wrapped_keys SET id = 'dk_1' WHERE account_id = 'acc_1'",
        "UPDATE wrapped_keys SET wrapped = \
         (SELECT wrapped FROM wrapped_keys WHERE account_id = 'acc_2') \
         WHERE account_id = 'acc_1'",
    ] {
        let house = House::new().await;
        let master = house.master().await;
        for id in ["acc_2", "acc_3"] {
            house.add_account(id).await;
        }
        house.key(&master).await;
        let other = house.store.account_key(&master, &"acc_2".into(), NOW).await.unwrap();
        sql(tampering).execute(house.store.database()).await.unwrap();
        let keys = house.store.account_keys(&master).await.unwrap();
        let kept: Vec<&str> = keys.keys().map(String::as_str).collect();
        assert_eq!(kept, [other.id()], "{tampering}");
    }
}

#[tokio::test]
async fn an_account_has_one_key_however_many_ask_for_it_at_once() {
    let house = House::new().await;
    let master = house.master().await;
    let keys = (0..8).map(|_| house.key(&master));
    let keys = futures_util::future::join_all(keys).await;
    assert!(keys.iter().all(|key| key.id() == keys[0].id()));
    assert!(!format!("{keys:?}").contains("[1"), "nothing secret is printed");
}
