//! Databases as a whole: copied from one to another, and to and from an archive.
//!
//! Every table is read in one consistent state, in the order of its key, and written in batches, so
//! that memory does not grow with what is in it. A checksum over the values in a canonical form says
//! whether what was written is what was read, whichever database either is.

mod archive;
mod backup;
mod copy;
mod filling;
mod restore;
mod tables;

use std::fs::File;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use backup::backup;
pub use copy::{Copy, copy};
pub use restore::{Restored, restore};

/// What a table came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSum {
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Over all values, in hexadecimal.
    pub checksum: String,
}

/// Makes the names in a folder survive a power cut. Windows knows no such thing.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder that holds a file or folder.
fn parent_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
