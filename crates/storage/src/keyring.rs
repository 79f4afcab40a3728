//! Keys that the master key wraps, and the rotation of the master key.
//!
//! Each account has a key of its own, under which its provider keys and what is stored of its requests
//! are sealed. The master key wraps these keys and the root, from which everything else is derived: the
//! first master key itself. A rotation puts another master key into its file and wraps all of them
//! anew; none of them changes, so that service keys, placeholders and seals stay valid, and a running
//! server goes on with what it knows.
//!
//! A rotation that is killed leaves everything readable. While it is under way each key is wrapped
//! twice, and only the change of the file's name decides which master key counts. Whoever rotates next,
//! or the next server to start, removes what is left of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::organisation::Actor;
use sluice_core::secret::Secret;

use crate::administration::Note;
use crate::database::{Row, Target, sql};
use crate::error::StorageError;
use crate::master_key::{self, MasterKey, random_bytes, to_hex};
use crate::open::Store;
use crate::trail::Doing;
use crate::vault::Sealer;

const WRAPPING: &str = "wrap keys";
const READING: &str = "read the wrapped keys";
const ROTATING: &str = "rotate the master key";
/// What the root is called among the wrapped keys.
const ROOT: &str = "root";
/// What ids of accounts' keys begin with.
const PREFIX: &str = "dk_";
/// What has to hold where a draft of a master key is written or removed.
const WRITABLE: &str = "make sure that this user may write there";
/// What a rotation locks, in the data folder.
const LOCK: &str = "master.key.lock";

/// A key of an account.
#[derive(Debug, Clone)]
pub struct DataKey {
    id: String,
    account: AccountId,
    secret: Secret<[u8; 32]>,
}

impl DataKey {
    /// Its id: what was sealed with it names it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The account whose it is. Nothing of another account can be sealed with it.
    pub fn account(&self) -> &AccountId {
        &self.account
    }

    /// What seals values for one purpose.
    pub fn sealer(&self, purpose: &str) -> Sealer {
        Sealer::new(&master_key::derive(&self.secret, &format!("sealed {purpose}")))
    }
}

/// A rotation of the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The id of the master key that was: backups from before need it.
    pub old: String,
    /// The id of the master key that is.
    pub new: String,
    /// The file that it is in.
    pub path: PathBuf,
    /// How many keys it wraps.
    pub keys: usize,
}

impl Store {
    /// The master key as it is to be used: with the root that everything is derived from. Refuses one
    /// that the database was not made with.
    pub async fn unlock(&self, key: MasterKey) -> Result<MasterKey, StorageError> {
        let key = self.with_root(key).await?;
        self.check_master_key(&key).await?;
        // The first one is the root as well, and would pass for ever.
        self.check_wraps(&key).await?;
        Ok(key)
    }

    /// Refuses a master key that does not wrap what the database has: a file that was put back after a
    /// rotation.
    async fn check_wraps(&self, key: &MasterKey) -> Result<(), StorageError> {
        let needed = self.needed_master_key().await?;
        if needed.as_ref() == Some(&key.id()) || self.wraps_root(key).await? {
            return Ok(());
        }
        let (path, found) = (key.path().to_owned(), key.id());
        let database = self.location().database();
        Err(StorageError::KeyIsAnother { path, found, database, needed })
    }

    async fn wraps_root(&self, key: &MasterKey) -> Result<bool, StorageError> {
        self.wrapped_root(key).await.map(|row| row.is_some())
    }

    async fn wrapped_root(&self, key: &MasterKey) -> Result<Option<Row>, StorageError> {
        sql("SELECT wrapped FROM wrapped_keys WHERE id = $1 AND wrapped_by = $2")
            .bind(ROOT)
            .bind(key.id())
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database(READING))
    }

    /// The same key with its root, where it was rotated.
    pub(crate) async fn with_root(&self, key: MasterKey) -> Result<MasterKey, StorageError> {
        let Some(row) = self.wrapped_root(&key).await? else { return Ok(key) };
        let root = Wrapped::ROOT.open(&key, &row.string("wrapped")?)?;
        Ok(key.with_root(root))
    }

    /// The key of an account; a new one where it has none yet.
    pub async fn account_key(
        &self,
        master: &MasterKey,
        account: &AccountId,
        now: UnixMillis,
    ) -> Result<DataKey, StorageError> {
        if let Some(key) = self.known_account_key(&master.as_it_is_now()?, account).await? {
            return Ok(key);
        }
        // No rotation may miss the new one.
        let _lock = RotationLock::wait(self.data_dir()).await?;
        let master = master.as_it_is_now()?;
        self.forget_others(&master).await?;
        if let Some(key) = self.known_account_key(&master, account).await? {
            return Ok(key);
        }
        let key = DataKey {
            id: format!("{PREFIX}{}", to_hex(&random_bytes::<8>()?)),
            account: account.clone(),
            secret: Secret::new(random_bytes::<32>()?),
        };
        let wrapped = Wrapped { id: &key.id, account: Some(account.as_str()) };
        wrapped.write(self.database(), &master, &key.secret, now).await?;
        // What will be sealed with it must not outlive it.
        self.sync(WRAPPING).await?;
        Ok(key)
    }

    async fn known_account_key(
        &self,
        master: &MasterKey,
        account: &AccountId,
    ) -> Result<Option<DataKey>, StorageError> {
        let row = sql("SELECT id, wrapped FROM wrapped_keys \
                       WHERE account_id = $1 AND wrapped_by = $2 ORDER BY created_at LIMIT 1")
        .bind(account.as_str())
        .bind(master.id())
        .fetch_optional(self.database())
        .await
        .map_err(StorageError::database(READING))?;
        let Some(row) = row else { return Ok(None) };
        data_key(master, &row, account.clone()).map(Some)
    }

    /// All keys of accounts, by their ids. One that cannot be unwrapped is left out: what it sealed cannot
    /// be opened, and everything else goes on.
    pub async fn account_keys(
        &self,
        master: &MasterKey,
    ) -> Result<BTreeMap<String, DataKey>, StorageError> {
        // Another process may have rotated the master key since this one has started.
        let master = master.as_it_is_now()?;
        self.check_wraps(&master).await?;
        let rows = sql("SELECT id, account_id, wrapped FROM wrapped_keys \
                        WHERE wrapped_by = $1 AND id <> $2")
        .bind(master.id())
        .bind(ROOT)
        .fetch_all(self.database())
        .await
        .map_err(StorageError::database(READING))?;
        let mut keys = BTreeMap::new();
        for row in &rows {
            let account = row.string_opt("account_id")?.unwrap_or_default().into();
            match data_key(&master, row, account) {
                Ok(key) => drop(keys.insert(key.id.clone(), key)),
                Err(error) => tracing::error!(%error, "a key of an account cannot be read"),
            }
        }
        Ok(keys)
    }

    /// Puts another master key into the file and wraps all keys anew. What was sealed stays as it is.
    pub async fn rotate_master_key(
        &self,
        key: &MasterKey,
        doing: &Doing,
        account: &AccountId,
    ) -> Result<Rotated, StorageError> {
        let _lock = RotationLock::wait(self.data_dir()).await?;
        // Whatever another rotation has done meanwhile.
        let old = self.with_root(key.as_it_is_now()?).await?;
        self.check_master_key(&old).await?;
        self.forget_others(&old).await?;
        let draft = Draft::write(&old)?;
        let keys = self.wrap_all(&old, &draft.key, doing.at).await?;
        // Nothing but the file's name has to survive a power cut from here on.
        self.sync(ROTATING).await?;
        draft.take_the_place_of(&old)?;
        let rotated =
            Rotated { old: old.id(), new: draft.key.id(), path: old.path().to_owned(), keys };
        let new = draft.key.with_root(old.root().clone());
        self.finish_rotation(&new, doing, account, &rotated.old).await?;
        Ok(rotated)
    }

    /// Ends a rotation that was killed, or removes what it has left. For a server that starts.
    pub async fn end_broken_rotation(
        &self,
        key: &MasterKey,
        now: UnixMillis,
    ) -> Result<(), StorageError> {
        let _lock = RotationLock::wait(self.data_dir()).await?;
        self.check_wraps(key).await?;
        Draft::discard(key)?;
        let doing = Doing { at: now, actor: Actor::Sluice, surface: "start", judged_at: None };
        // The file has its new key.
        if let Some(old) = self.needed_master_key().await?.filter(|needed| *needed != key.id()) {
            return self.finish_rotation(key, &doing, &"".into(), &old).await;
        }
        self.forget_others(key).await
    }

    /// Notes in the trail that there is a new master key, and forgets what the old one has wrapped. That
    /// comes last: as long as the database says that it needs a key, it has everything that key wraps.
    async fn finish_rotation(
        &self,
        new: &MasterKey,
        doing: &Doing,
        account: &AccountId,
        old: &str,
    ) -> Result<(), StorageError> {
        let note = Note {
            verb: "secrets.rotate-master-key",
            subject: "deployment".to_owned(),
            account_id: account.clone(),
            details: json!({ "old": old, "new": new.id() }),
        };
        self.note_deed(new, doing, note).await?;
        self.need_master_key(&new.id()).await?;
        self.forget_others(new).await
    }

    /// Removes what other master keys have wrapped, where `key` wraps all of it. Only whoever holds the
    /// lock may do it.
    async fn forget_others(&self, key: &MasterKey) -> Result<(), StorageError> {
        self.check_wraps(key).await?;
        sql("DELETE FROM wrapped_keys WHERE wrapped_by <> $1")
            .bind(key.id())
            .execute(self.database())
            .await
            .map(drop)
            .map_err(StorageError::database(ROTATING))
    }

    /// Wraps all keys that `old` wraps under `new` as well, and says how many.
    async fn wrap_all(
        &self,
        old: &MasterKey,
        new: &MasterKey,
        now: UnixMillis,
    ) -> Result<usize, StorageError> {
        let mut tx = self.begin_write(ROTATING).await?;
        let written = async {
            let rows = sql("SELECT * FROM wrapped_keys WHERE wrapped_by = $1")
                .bind(old.id())
                .fetch_all(&mut tx)
                .await
                .map_err(StorageError::database(ROTATING))?;
            let mut count = 1;
            Wrapped::ROOT.write(&mut tx, new, old.root(), now).await?;
            for row in &rows {
                let id = row.string("id")?;
                if id == ROOT {
                    continue;
                }
                let account = row.string_opt("account_id")?;
                let wrapped = Wrapped { id: &id, account: account.as_deref() };
                let secret = wrapped.open(old, &row.string("wrapped")?)?;
                wrapped.write(&mut tx, new, &secret, row.moment("created_at")?).await?;
                count += 1;
            }
            Ok(count)
        };
        match written.await {
            Ok(count) => tx.commit(ROTATING).await.map(|()| count),
            Err(error) => {
                tx.rollback(ROTATING).await?;
                Err(error)
            }
        }
    }
}

/// What a wrapped key is. It can be unwrapped as nothing else: a row that somebody moves to another
/// account, or a secret to another row, cannot be read.
#[derive(Clone, Copy)]
struct Wrapped<'a> {
    id: &'a str,
    account: Option<&'a str>,
}

impl Wrapped<'_> {
    const ROOT: Self = Wrapped { id: ROOT, account: None };

    fn place(&self) -> String {
        format!("{}\n{}", self.id, self.account.unwrap_or_default())
    }

    async fn write(
        &self,
        database: impl Into<Target<'_>>,
        master: &MasterKey,
        secret: &Secret<[u8; 32]>,
        created_at: UnixMillis,
    ) -> Result<(), StorageError> {
        let wrapped = master.wrapper().seal(secret.expose(), &self.place())?;
        sql("INSERT INTO wrapped_keys (id, wrapped_by, account_id, wrapped, created_at) \
             VALUES ($1, $2, $3, $4, $5)")
        .bind(self.id)
        .bind(master.id())
        .bind(self.account)
        .bind(wrapped)
        .bind(created_at)
        .execute(database)
        .await
        .map(drop)
        .map_err(StorageError::database(WRAPPING))
    }

    fn open(&self, master: &MasterKey, wrapped: &str) -> Result<Secret<[u8; 32]>, StorageError> {
        let opened = master.wrapper().open(wrapped, &self.place());
        let bytes = opened.and_then(|it| <[u8; 32]>::try_from(it.expose().as_slice()).ok());
        let unreadable =
            || StorageError::Unreadable { column: "wrapped", value: self.id.to_owned() };
        bytes.map(Secret::new).ok_or_else(unreadable)
    }
}

fn data_key(master: &MasterKey, row: &Row, account: AccountId) -> Result<DataKey, StorageError> {
    let id = row.string("id")?;
    let wrapped = Wrapped { id: &id, account: Some(account.as_str()) };
    let secret = wrapped.open(master, &row.string("wrapped")?)?;
    Ok(DataKey { id, account, secret })
}

/// Held by whoever rotates: others wait.
struct RotationLock(#[expect(dead_code, reason = "it is the lock")] File);

impl RotationLock {
    async fn wait(data_dir: &Path) -> Result<Self, StorageError> {
        let path = data_dir.join(LOCK);
        let locked = tokio::task::spawn_blocking({
            let path = path.clone();
            move || {
                let mut options = OpenOptions::new();
                options.create(true).truncate(false).write(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                let file = options.open(path)?;
                file.lock()?;
                Ok(file)
            }
        });
        let failed = |error| {
            StorageError::file(ROTATING, &path, "run sluice as the user that owns the file")(error)
        };
        locked.await.unwrap_or_else(|gone| Err(gone.into())).map(Self).map_err(failed)
    }
}

/// A new master key in a file of its own, beside the one whose place it takes.
struct Draft {
    key: MasterKey,
    path: PathBuf,
}

impl Draft {
    /// Removes what a killed rotation has left.
    fn discard(of: &MasterKey) -> Result<PathBuf, StorageError> {
        let path = of.path().with_extension("key.next");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StorageError::file(ROTATING, &path, WRITABLE)(error))
            }
            _ => Ok(path),
        }
    }

    fn write(old: &MasterKey) -> Result<Self, StorageError> {
        let path = Self::discard(old)?;
        let failed = |error| StorageError::file(ROTATING, &path, WRITABLE)(error);
        let (key, text) = old.successor()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(failed)?;
        Ok(Self { key, path })
    }

    fn take_the_place_of(&self, old: &MasterKey) -> Result<(), StorageError> {
        let renamed = std::fs::rename(&self.path, old.path()).and_then(|()| {
            let folder = old.path().parent().unwrap_or(Path::new("."));
            File::open(folder)?.sync_all()
        });
        renamed.map_err(StorageError::file(
            ROTATING,
            old.path(),
            "make sure that this user may write to its folder",
        ))
    }
}

#[cfg(test)]
mod tests;
