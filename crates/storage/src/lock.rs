//! One server a data folder.
//!
//! The operating system drops the lock with the process, so nothing is left behind by a crash.
//! Commands do not take it: the database lets several processes in.
//!
//! The lock is on the folder itself: a lock file could be removed, and a second server would find
//! no lock on a new one. `sluice.lock` holds the number of the process, for whoever comes second.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::error::StorageError;
use crate::open::create_data_dir;

/// The right to serve from a data folder, until it is dropped.
#[derive(Debug)]
pub struct DataLock {
    _folder: Option<File>,
    _file: File,
}

impl DataLock {
    /// Takes the lock, or says which process has it. Creates the data folder where it is missing,
    /// and needs nothing in it: a server takes the lock before it opens the database.
    pub fn acquire(data_dir: &Path) -> Result<Self, StorageError> {
        create_data_dir(data_dir)?;
        let path = data_dir.join("sluice.lock");
        let failed = |doing| StorageError::file(doing, &path, "check the folder's permissions");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed("open the lock file"))?;
        let folder = lock_folder(data_dir);
        let free = match (&folder, file.try_lock()) {
            (Err(TryLockError::WouldBlock), _) | (_, Err(TryLockError::WouldBlock)) => false,
            (_, Ok(())) => true,
            (_, Err(TryLockError::Error(source))) => return Err(failed("lock")(source)),
        };
        if !free {
            let mut text = String::new();
            let process = match file.read_to_string(&mut text) {
                Ok(_) => text.trim().parse().ok(),
                Err(_) => None,
            };
            return Err(StorageError::Locked { data_dir: data_dir.to_owned(), process });
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()));
        written.map_err(failed("write the lock file"))?;
        Ok(Self { _folder: folder.ok().flatten(), _file: file })
    }
}

/// Locks the folder itself; `None` where the system or the file system cannot, so that only the
/// lock file is left.
pub(crate) fn lock_folder(data_dir: &Path) -> Result<Option<File>, TryLockError> {
    let Ok(folder) = File::open(data_dir) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_server_is_refused_until_the_first_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataLock::acquire(dir.path()).unwrap();
        let error = DataLock::acquire(dir.path()).unwrap_err().to_string();
        assert!(error.contains(&std::process::id().to_string()), "{error}");
        drop(first);
        DataLock::acquire(dir.path()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn without_the_lock_file_the_second_server_is_refused_too() {
        let dir = tempfile::tempdir().unwrap();
        let first = DataLock::acquire(dir.path()).unwrap();
        std::fs::remove_file(dir.path().join("sluice.lock")).unwrap();
        let error = DataLock::acquire(dir.path()).unwrap_err();
        assert!(matches!(error, StorageError::Locked { .. }), "{error}");
        drop(first);
        DataLock::acquire(dir.path()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn it_makes_the_folder_and_both_are_their_owners_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("a").join("data");
        let _lock = DataLock::acquire(&data).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&data), 0o700);
        assert_eq!(mode(&data.join("sluice.lock")), 0o600);
    }
}
