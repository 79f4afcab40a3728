//! Whether a file or folder is still the one that was opened.
//!
//! An open file works on after somebody has removed or replaced it: everything that is written to
//! it then is gone with the process.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder, and what tells it from another one of the same name.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    identity: Identity,
}

/// Device and number of a file.
#[cfg(unix)]
type Identity = (u64, u64);

/// Elsewhere an open file cannot be removed: its name is enough.
#[cfg(not(unix))]
type Identity = ();

impl Place {
    /// What is at `path` now.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(path)? })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is still there. Where the system cannot tell, it is.
    pub(crate) fn holds(&self) -> bool {
        match identity(&self.path) {
            Ok(identity) => identity == self.identity,
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().map(|data| (data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    path.metadata().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_or_replaced_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&path, "").unwrap();
        std::fs::write(&other, "").unwrap();
        let place = Place::of(&path).unwrap();
        assert!(place.holds());
        std::fs::write(&path, "more").unwrap();
        assert!(place.holds(), "the same file, with other content");
        std::fs::remove_file(&path).unwrap();
        assert!(!place.holds());
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(place.holds(), !cfg!(unix), "another file of the name");
        assert!(Place::of(&dir.path().join("c")).is_err());
    }
}
