//! The end of the audit trail, sealed outside the database.
//!
//! The database seals its own last entry (`audit`), but whoever can write to it can remove entries
//! and seal together, or put an older copy of the database back. So `audit.seal` in the data folder
//! says where the trail ended, too, under a key derived from the master key.
//!
//! The file is written after the transaction that it speaks of, once that is on disk. So it may lie
//! behind the database, never ahead: wherever a crash hits, the entry that it names stands in the
//! database, with that hash. Anything else is tampering.
//!
//! The ingester and administration, often in another process, both renew it. One waits for the
//! other, and whoever finds a later end in the file leaves it: it never goes back.
//!
//! A data folder without the file is one of a version that did not write it, until both the database
//! and the master key's file note that the file was made. From that moment on, lines of the journal
//! without a seal (`journal::line`) do not count any more.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use hmac::Mac as _;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::audit::Position;
use crate::database::{Target, sql};
use crate::error::StorageError;
use crate::master_key::{MasterKey, hmac, to_hex};
use crate::open::Store;

/// The file in the data folder.
pub(crate) const FILE: &str = "audit.seal";

/// What is known outside the database about the end of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Nothing: no version that seals has served from this data folder yet.
    NotYet,
    /// The file is missing, though there was one.
    Missing,
    /// The file was not written under this master key.
    Forged,
    /// The trail ended here.
    Sealed(Position),
}

/// The file that seals the end of the trail.
#[derive(Clone)]
pub(crate) struct SealFile {
    path: PathBuf,
    mac: hmac::Hmac<Sha256>,
    /// Whether the master key's file says that there is one.
    is_noted: bool,
}

impl SealFile {
    pub(crate) fn new(data_dir: &Path, key: &MasterKey) -> Self {
        // A key of its own: with the database's seals, an old one of them could be put here.
        let mac = hmac(key.derive("audit-seal-file").expose());
        Self { path: data_dir.join(FILE), mac, is_noted: key.is_sealed() }
    }

    /// What the file says; `Outside::Missing` where there is none.
    fn read(&self) -> Result<Outside, StorageError> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(self.parse(&text).map_or(Outside::Forged, Outside::Sealed)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Outside::Missing),
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(Outside::Forged),
            Err(error) => Err(StorageError::file(
                "read the audit trail's seal",
                &self.path,
                "run sluice as the user that owns the file",
            )(error)),
        }
    }

    fn parse(&self, text: &str) -> Option<Position> {
        let mut words = text.split_ascii_whitespace();
        let (seq, hash, seal) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let position = Position { seq, hash: hash.to_owned() };
        let expected = self.seal(&position);
        bool::from(expected.as_bytes().ct_eq(seal.as_bytes())).then_some(position)
    }

    fn seal(&self, position: &Position) -> String {
        let mut mac = self.mac.clone();
        mac.update(format!("{} {}", position.seq, position.hash).as_bytes());
        to_hex(&mac.finalize().into_bytes())
    }

    /// Seals `end`, unless the file says a later one.
    pub(crate) async fn renew(&self, data_dir: &Path, end: Position) -> Result<(), StorageError> {
        let (file, folder) = (self.clone(), data_dir.to_owned());
        let written = tokio::task::spawn_blocking(move || file.write(&folder, &end));
        written.await.unwrap_or_else(|gone| {
            Err(StorageError::file("seal the audit trail", data_dir, "try again")(gone.into()))
        })
    }

    /// The same. Blocks until the transactions so far and the file are on disk.
    pub(crate) fn write(&self, data_dir: &Path, end: &Position) -> Result<(), StorageError> {
        let failed = StorageError::file(
            "write the audit trail's seal",
            &self.path,
            "check the disk and the folder's permissions",
        );
        let renew = || {
            // Others wait here, in this process or another.
            let turn = File::create(self.path.with_extension("seal-turn"))?;
            turn.lock()?;
            match self.read() {
                Ok(Outside::Sealed(there)) if there.seq > end.seq => Ok(()),
                _ => self.replace(data_dir, end),
            }
        };
        renew().map_err(failed)
    }

    fn replace(&self, data_dir: &Path, position: &Position) -> io::Result<()> {
        Store::sync_commits(data_dir)?;
        let draft = self.path.with_extension("seal-new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        writeln!(file, "{} {} {}", position.seq, position.hash, self.seal(position))?;
        file.sync_data()?;
        std::fs::rename(&draft, &self.path)?;
        // Without the folder, a power cut could take the file and leave the note that there is one.
        // Windows knows no syncing of folders.
        if cfg!(unix) {
            File::open(data_dir)?.sync_all()?;
        }
        Ok(())
    }
}

/// What the database notes once the file was made.
const NOTE: &str = "audit_seal_file";

impl Store {
    /// What is known outside the database. Ask for it before you look at the trail: it may grow
    /// in between, and the file with it.
    pub(crate) async fn outside(&self, file: &SealFile) -> Result<Outside, StorageError> {
        self.outside_in(self.database(), file).await
    }

    /// The same, asked within a transaction: one that writes must not wait for a connection.
    pub(crate) async fn outside_in<'c>(
        &self,
        on: impl Into<Target<'c>>,
        file: &SealFile,
    ) -> Result<Outside, StorageError> {
        let found = file.read()?;
        if found != Outside::Missing || file.is_noted {
            return Ok(found);
        }
        let noted = sql("SELECT value FROM meta WHERE name = $1")
            .bind(NOTE)
            .fetch_optional(on)
            .await
            .map_err(StorageError::database("look for the audit trail's seal"))?;
        Ok(if noted.is_some() { Outside::Missing } else { Outside::NotYet })
    }

    /// Notes that there is a file: from now on it is missed.
    pub(crate) async fn note_seal_file(&self) -> Result<(), StorageError> {
        sql("INSERT INTO meta (name, value) VALUES ($1, '1') ON CONFLICT DO NOTHING")
            .bind(NOTE)
            .execute(self.database())
            .await
            .map_err(StorageError::database("note the audit trail's seal"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_read_under_the_same_master_key_only() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = MasterKey::load_or_create(dir.path()).unwrap();
        let other = MasterKey::load_or_create(elsewhere.path()).unwrap();
        let file = SealFile::new(dir.path(), &key);
        assert_eq!(file.read().unwrap(), Outside::Missing);
        for seq in [0, 7] {
            let position = Position { seq, hash: "ab".repeat(32) };
            file.write(dir.path(), &position).unwrap();
            assert_eq!(file.read().unwrap(), Outside::Sealed(position));
        }
        let foreign = SealFile::new(dir.path(), &other);
        assert_eq!(foreign.read().unwrap(), Outside::Forged);

        let path = dir.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        for forged in [text.replacen('7', "6", 1), String::new(), "7 x".to_owned()] {
            std::fs::write(&path, forged).unwrap();
            assert_eq!(file.read().unwrap(), Outside::Forged);
        }
        std::fs::write(&path, [255, 254]).unwrap();
        assert_eq!(file.read().unwrap(), Outside::Forged);
    }
}
