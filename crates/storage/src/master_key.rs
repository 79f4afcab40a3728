//! The master key: the one secret of a data folder.
//!
//! 32 random bytes in `master.key`, as hexadecimal text, readable by the owner only. Every secret
//! that Sluice needs for itself is derived from it by HKDF-SHA256 (RFC 5869) with a label, so that
//! none of them tells anything about another. Without the file no service key of the data folder
//! works: the database holds keyed hashes only.
//!
//! Behind the key stands the word `sealed` once the audit trail is sealed outside the database
//! (`seal`): whoever removes that file and all traces of it in the database cannot remove this one
//! without losing the key.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use sluice_core::secret::Secret;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::database::sql;
use crate::error::StorageError;
use crate::migrate;
use crate::open::{Store, create_data_dir};
use crate::vault::Sealer;

/// The master key's file in the data folder.
pub(crate) const FILE: &str = "master.key";

/// The one secret of a data folder.
#[derive(Debug, Clone)]
pub struct MasterKey {
    /// What is in the file. It wraps keys (`keyring`).
    secret: Secret<[u8; 32]>,
    /// What everything is derived from: the same, until the master key was rotated.
    root: Secret<[u8; 32]>,
    path: PathBuf,
    /// Whether this process has just made it.
    is_new: bool,
    /// Whether the file says that the audit trail is sealed outside the database.
    is_sealed: bool,
}

/// What the file says behind the key once the audit trail is sealed.
const SEALED: &str = "sealed";

impl MasterKey {
    /// The key in `data_dir`; makes one where there is none.
    ///
    /// Refuses a file that others can read. When two processes make one at once, both end up with
    /// the same. Whether a new one may be used is for [`Store::check_master_key`] to say.
    pub fn load_or_create(data_dir: &Path) -> Result<Self, StorageError> {
        match Self::load(data_dir) {
            Err(StorageError::KeyIsMissing { path, .. }) => {
                create_data_dir(data_dir)?;
                Self::create(path)
            }
            loaded => loaded,
        }
    }

    /// The key in `data_dir`, for commands that only read. Refuses a file that others can read.
    pub fn load(data_dir: &Path) -> Result<Self, StorageError> {
        let path = data_dir.join(FILE);
        match File::open(&path) {
            Ok(file) => Self::read(file, path),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(StorageError::KeyIsMissing { path, needed: None })
            }
            Err(error) => Err(StorageError::file(
                "read the master key",
                &path,
                "run sluice as the user that owns the file",
            )(error)),
        }
    }

    fn read(mut file: File, path: PathBuf) -> Result<Self, StorageError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = file.metadata().map_err(StorageError::file(
                "read the permissions of",
                &path,
                "check the file system",
            ))?;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(StorageError::KeyIsReadable { path, mode });
            }
        }
        let mut text = Zeroizing::new(String::with_capacity(80));
        file.read_to_string(&mut text).map_err(StorageError::file(
            "read the master key",
            &path,
            "restore it from a backup",
        ))?;
        let mut words = text.split_ascii_whitespace();
        // Any second word will do: a crash may have cut it short.
        let (key, is_sealed) = (words.next().unwrap_or_default(), words.next().is_some());
        match from_hex(key.as_bytes()) {
            Some(bytes) => {
                let secret = Secret::new(bytes);
                Ok(Self { root: secret.clone(), secret, path, is_new: false, is_sealed })
            }
            None => Err(StorageError::KeyIsMalformed { path }),
        }
    }

    /// Writes a new key beside its place and links it there: whoever opens the name finds a whole
    /// key, and the first of two processes wins.
    fn create(path: PathBuf) -> Result<Self, StorageError> {
        let bytes = Zeroizing::new(random_bytes::<32>()?);
        let draft = path.with_extension(format!("new-{}", to_hex(&random_bytes::<8>()?)));
        let text = Zeroizing::new(to_hex(&*bytes) + "\n");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let linked = options
            .open(&draft)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| std::fs::hard_link(&draft, &path));
        // The draft has served, or is of no use.
        let _ = std::fs::remove_file(&draft);
        match linked {
            Ok(()) => {
                let secret = Secret::new(*bytes);
                Ok(Self { root: secret.clone(), secret, path, is_new: true, is_sealed: false })
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let file = File::open(&path).map_err(StorageError::file(
                    "read the master key",
                    &path,
                    "run sluice as the user that owns the file",
                ))?;
                Self::read(file, path)
            }
            Err(error) => Err(StorageError::file(
                "create the master key",
                &path,
                "set storage.data_dir to a folder that this user may write to",
            )(error)),
        }
    }

    /// A secret for one purpose. The same label always gives the same secret.
    pub fn derive(&self, label: &str) -> Secret<[u8; 32]> {
        derive(&self.root, label)
    }

    /// What tells this key from another one, and nothing of it: for messages and manifests.
    pub fn id(&self) -> String {
        id_of(&self.secret)
    }

    /// The same of the root, under which values are sealed that belong to no account. No rotation
    /// changes it.
    pub fn root_id(&self) -> String {
        id_of(&self.root)
    }

    /// The file that it is in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn root(&self) -> &Secret<[u8; 32]> {
        &self.root
    }

    pub(crate) fn with_root(self, root: Secret<[u8; 32]>) -> Self {
        Self { root, ..self }
    }

    /// What wraps keys.
    pub(crate) fn wrapper(&self) -> Sealer {
        Sealer::new(&derive(&self.secret, "wraps keys"))
    }

    /// The same root with the key that the file has now: another process may have rotated it.
    pub(crate) fn as_it_is_now(&self) -> Result<Self, StorageError> {
        let file = File::open(&self.path).map_err(StorageError::file(
            "read the master key",
            &self.path,
            "run sluice as the user that owns the file",
        ))?;
        let now = Self::read(file, self.path.clone())?;
        Ok(now.with_root(self.root.clone()))
    }

    /// A new key for the same file, with the file's text.
    pub(crate) fn successor(&self) -> Result<(Self, Zeroizing<String>), StorageError> {
        let bytes = Zeroizing::new(random_bytes::<32>()?);
        let mut text = Zeroizing::new(to_hex(&*bytes) + "\n");
        if self.is_sealed {
            text.push_str(SEALED);
            text.push('\n');
        }
        Ok((Self { secret: Secret::new(*bytes), is_new: false, ..self.clone() }, text))
    }

    /// Whether the file says that the audit trail is sealed outside the database.
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Writes behind the key that the audit trail is sealed outside the database. The key itself,
    /// the file's owner and its permissions stay as they are.
    pub(crate) fn note_sealed(&mut self) -> std::io::Result<()> {
        if self.is_sealed {
            return Ok(());
        }
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        file.write_all(format!("\n{SEALED}\n").as_bytes())?;
        file.sync_data()?;
        self.is_sealed = true;
        Ok(())
    }

    /// What the database keeps to know it again.
    fn check(&self) -> String {
        let mut mac = hmac(self.derive("master-key-check").expose());
        mac.update(b"sluice");
        to_hex(&mac.finalize().into_bytes())
    }

    /// What hashes service keys. Make it once: the derivation costs more than a hash.
    pub fn key_hasher(&self) -> KeyHasher {
        self.hasher("service-key-hash")
    }

    /// What hashes other secrets that hold enough random bits, by what they are for.
    pub fn hasher(&self, label: &str) -> KeyHasher {
        KeyHasher(hmac(self.derive(label).expose()))
    }
}

/// A secret for one purpose, derived from another one.
pub(crate) fn derive(from: &Secret<[u8; 32]>, label: &str) -> Secret<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    let hkdf = Hkdf::<Sha256>::new(None, from.expose());
    // HKDF-SHA256 gives up to 8160 bytes, so that 32 never fail.
    let expanded = hkdf.expand(label.as_bytes(), &mut *derived);
    debug_assert!(expanded.is_ok());
    Secret::new(*derived)
}

fn id_of(secret: &Secret<[u8; 32]>) -> String {
    format!("mk_{}", to_hex(&derive(secret, "master-key-id").expose()[..6]))
}

/// Whether the file in `data_dir` carries its second word, so that a server has used it. One that
/// cannot be read may: it is not taken for a new one.
pub(crate) fn was_used(data_dir: &Path) -> bool {
    let path = data_dir.join(FILE);
    match std::fs::read_to_string(&path).map(Zeroizing::new) {
        Ok(text) => text.split_ascii_whitespace().nth(1).is_some(),
        Err(_) => path.exists(),
    }
}

const COMPARING: &str = "compare the master key";
/// What the database keeps of its master key: what only that key gives, and the key's public id.
const CHECK: &str = "master_key_check";
const ID: &str = "master_key_id";
/// The first version of the tables that has wrapped keys.
const FIRST_WITH_WRAPPED_KEYS: i64 = 16;

impl Store {
    /// Refuses a master key that the database was not made with.
    ///
    /// Otherwise a lost file would be replaced silently, and every key answer 401. A new key that
    /// has taken the place of a lost one is removed again: nothing was derived from it, and left
    /// there it would look like the one to keep.
    pub async fn check_master_key(&self, key: &MasterKey) -> Result<(), StorageError> {
        let check = key.check();
        let mut stored = self.meta(CHECK).await?;
        if stored.is_none() {
            self.note(CHECK, &check).await?;
            // Another process may have been faster.
            stored = self.meta(CHECK).await?;
        }
        let (id, needed) = (key.id(), self.meta(ID).await?);
        if stored.is_some_and(|stored| stored == check) {
            // Earlier versions noted no id.
            return if needed.is_none() { self.note(ID, &id).await } else { Ok(()) };
        }
        let path = key.path.clone();
        if !key.is_new {
            let database = self.location().database();
            return Err(StorageError::KeyIsAnother { path, found: id, database, needed });
        }
        std::fs::remove_file(&path).map_err(StorageError::file(
            "remove the useless new master key",
            &path,
            "remove it, and restore the old one from a backup",
        ))?;
        Err(StorageError::KeyIsMissing { path, needed })
    }

    /// Refuses the master key in the data folder where the database, which has tables, was made with
    /// another one. Where there is none that can be read, whoever asks for it is told.
    pub(crate) async fn check_present_master_key(&self) -> Result<(), StorageError> {
        let Ok(key) = MasterKey::load(self.data_dir()) else { return Ok(()) };
        // Before that there was no rotation.
        let key = match migrate::found(self).await? {
            found if found >= FIRST_WITH_WRAPPED_KEYS => self.with_root(key).await?,
            _ => key,
        };
        match self.meta(CHECK).await? {
            Some(stored) if stored != key.check() => {
                let (found, database) = (key.id(), self.location().database());
                let needed = self.meta(ID).await?;
                Err(StorageError::KeyIsAnother { path: key.path, found, database, needed })
            }
            _ => Ok(()),
        }
    }

    /// The id of the master key that the database belongs to.
    pub(crate) async fn needed_master_key(&self) -> Result<Option<String>, StorageError> {
        self.meta(ID).await
    }

    /// Notes that the database belongs to another master key now.
    pub(crate) async fn need_master_key(&self, id: &str) -> Result<(), StorageError> {
        sql("UPDATE meta SET value = $2 WHERE name = $1")
            .bind(ID)
            .bind(id)
            .execute(self.database())
            .await
            .map(drop)
            .map_err(StorageError::database(COMPARING))
    }

    /// What the database notes under a name.
    async fn meta(&self, name: &'static str) -> Result<Option<String>, StorageError> {
        let row = sql("SELECT value FROM meta WHERE name = $1")
            .bind(name)
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database(COMPARING))?;
        row.map(|row| row.string("value")).transpose()
    }

    /// Notes something under a name that has nothing yet.
    async fn note(&self, name: &'static str, value: &str) -> Result<(), StorageError> {
        sql("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
            .bind(name)
            .bind(value)
            .execute(self.database())
            .await
            .map(drop)
            .map_err(StorageError::database(COMPARING))
    }
}

/// Hashes service keys: HMAC-SHA256 with a key derived from the master key.
///
/// A keyed hash is enough where a password would need a slow one: a service key holds more than
/// 160 random bits.
#[derive(Clone)]
pub struct KeyHasher(Hmac<Sha256>);

impl KeyHasher {
    /// A secret number of this data folder, by what it is for.
    pub fn derived(&self, purpose: &str) -> u64 {
        // No service key begins like this.
        let KeyHash(hash) = self.hash(&format!("purpose {purpose}"));
        hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// The hash of a service key's text.
    pub fn hash(&self, service_key: &str) -> KeyHash {
        let mut mac = self.0.clone();
        mac.update(service_key.as_bytes());
        KeyHash(mac.finalize().into_bytes().into())
    }

    /// The same as text that may be handed out, as proof that whoever has it was given it.
    pub fn proof(&self, text: &str) -> String {
        self.hash(text).to_hex()
    }
}

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The keyed hash of a service key. Compared in constant time; never printed.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Which of `parts` parts it belongs to, for whoever divides many hashes.
    pub fn part(&self, parts: usize) -> usize {
        let [.., byte] = self.0;
        usize::from(byte) % parts.max(1)
    }

    /// The hash as hexadecimal text, for the database.
    pub(crate) fn to_hex(self) -> String {
        to_hex(&self.0)
    }

    /// The hash that a text in the database stands for.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        from_hex(text.as_bytes()).map(Self)
    }
}

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A message authentication code in the making.
#[expect(clippy::expect_used, reason = "HMAC takes keys of every length (RFC 2104)")]
pub(crate) fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of every length")
}

/// Bytes from the operating system's generator.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StorageError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StorageError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

/// Lower-case hexadecimal text.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// 32 bytes from 64 hexadecimal digits.
pub(crate) fn from_hex(text: &[u8]) -> Option<[u8; 32]> {
    if text.len() != 64 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_gives_the_same_secrets_and_labels_differ() {
        let dir = tempfile::tempdir().unwrap();
        let first = MasterKey::load_or_create(dir.path()).unwrap();
        let again = MasterKey::load_or_create(dir.path()).unwrap();
        assert_eq!(first.derive("a"), again.derive("a"));
        assert_ne!(first.derive("a"), first.derive("b"));
        assert_eq!(first.key_hasher().hash("k"), again.key_hasher().hash("k"));
        assert_ne!(first.key_hasher().hash("k"), again.key_hasher().hash("l"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn the_word_behind_the_key_changes_nothing_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let mut key = MasterKey::load_or_create(dir.path()).unwrap();
        let before = std::fs::read_to_string(&path).unwrap();
        assert!(!key.is_sealed());
        key.note_sealed().unwrap();
        key.note_sealed().unwrap();
        let after = std::fs::read_to_string(&path).unwrap();
        for cut in before.len() + 2..=after.len() {
            std::fs::write(&path, &after[..cut]).unwrap();
            let again = MasterKey::load(dir.path()).unwrap();
            assert!(again.is_sealed(), "cut at {cut}");
            assert_eq!(again.derive("a"), key.derive("a"));
        }
    }

    #[test]
    fn nothing_secret_is_printed() {
        let dir = tempfile::tempdir().unwrap();
        let key = MasterKey::load_or_create(dir.path()).unwrap();
        let text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        let printed = format!("{key:?} {:?} {:?}", key.key_hasher(), key.key_hasher().hash("k"));
        assert!(!printed.contains(text.trim()), "{printed}");
        assert!(!printed.contains(&key.key_hasher().hash("k").to_hex()), "{printed}");
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_fix() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        MasterKey::load_or_create(dir.path()).unwrap();
        let path = dir.path().join(FILE);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = MasterKey::load_or_create(dir.path()).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && error.contains("640"), "{error}");
    }

    #[test]
    fn a_malformed_key_is_refused_without_quoting_it() {
        let dir = tempfile::tempdir().unwrap();
        MasterKey::load_or_create(dir.path()).unwrap();
        std::fs::write(dir.path().join(FILE), "half a key").unwrap();
        let error = MasterKey::load_or_create(dir.path()).unwrap_err();
        assert!(matches!(error, StorageError::KeyIsMalformed { .. }));
        assert!(!error.to_string().contains("half"), "{error}");
    }

    #[tokio::test]
    async fn another_master_key_is_noticed() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::open(dir.path()).await.unwrap();
        let key = MasterKey::load_or_create(dir.path()).unwrap();
        store.check_master_key(&key).await.unwrap();
        store.check_master_key(&key).await.unwrap();
        MasterKey::load_or_create(elsewhere.path()).unwrap();
        let other = MasterKey::load(elsewhere.path()).unwrap();
        let error = store.check_master_key(&other).await.unwrap_err();
        assert!(matches!(error, StorageError::KeyIsAnother { .. }), "{error}");
        assert!(elsewhere.path().join(FILE).exists(), "what was there before stays");
    }

    #[tokio::test]
    async fn a_lost_master_key_is_missed_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let key = MasterKey::load_or_create(dir.path()).unwrap();
        store.check_master_key(&key).await.unwrap();
        std::fs::remove_file(dir.path().join(FILE)).unwrap();
        assert!(matches!(MasterKey::load(dir.path()), Err(StorageError::KeyIsMissing { .. })));
        for _ in 0..2 {
            let new = MasterKey::load_or_create(dir.path()).unwrap();
            let error = store.check_master_key(&new).await.unwrap_err().to_string();
            assert!(error.contains("missing") && error.contains("backup"), "{error}");
            assert!(!dir.path().join(FILE).exists());
        }
    }
}
