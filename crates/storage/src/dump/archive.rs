//! What a backup is: one file in tar's format.
//!
//! First the files of the data folder, then `tables/NAME.jsonl` for each table (a row a line, as a
//! list of its values), then the journal's segments, then the manifest, which knows them all, and
//! its checksum. Whatever the database was, the tables read the same.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sluice_core::clock::UnixMillis;

use super::tables::Table;
use super::{TableSum, parent_of, sync_folder};
use crate::database::{Kind, Value};
use crate::master_key::to_hex;

/// The folder of the tables in an archive.
pub(super) const TABLES: &str = "tables";
/// The folder of the files of the data folder.
pub(super) const FILES: &str = "data";
/// What the archive holds.
pub(super) const MANIFEST: &str = "manifest.json";
/// The manifest's own checksum: the last file.
pub(super) const MANIFEST_SUM: &str = "manifest.sha256";
/// The format that this program writes and reads.
pub(super) const FORMAT: u32 = 1;

/// What an archive holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// The version of the program that made it.
    pub(super) made_by: String,
    pub(super) made_at: UnixMillis,
    /// The version of the tables.
    pub(super) schema: i64,
    /// The public id of the master key.
    pub(super) master_key: String,
    pub(super) tables: Vec<Table>,
    pub(super) sums: Vec<TableSum>,
    /// All files but the manifest, by their paths in the archive.
    pub(super) files: BTreeMap<String, FileSum>,
}

/// What a file came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSum {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// An archive that is being written. It has its name once it is whole.
pub(super) struct Writer {
    tar: tar::Builder<File>,
    draft: PathBuf,
    file: PathBuf,
    pub(super) files: BTreeMap<String, FileSum>,
}

impl Writer {
    /// Begins a file that only its owner can read, beside its later name.
    pub(super) fn begin(file: &Path) -> io::Result<Self> {
        let mut draft = file.to_owned().into_os_string();
        draft.push(".unfinished");
        let draft = PathBuf::from(draft);
        let _ = std::fs::remove_file(&draft);
        let tar = tar::Builder::new(create_private(&draft)?);
        Ok(Self { tar, draft, file: file.to_owned(), files: BTreeMap::new() })
    }

    /// Where a table may wait until its length is known.
    pub(super) fn beside(&self) -> PathBuf {
        self.draft.with_extension("table")
    }

    /// Adds a file: `length` bytes of `from`.
    pub(super) fn add(&mut self, path: &str, from: impl Read, length: u64) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(length);
        header.set_mode(0o600);
        header.set_entry_type(tar::EntryType::Regular);
        let mut summed = Summed::new(from.take(length));
        self.tar.append_data(&mut header, path, &mut summed)?;
        let sum = summed.sum();
        if sum.bytes != length {
            let what = format!("{path} became shorter while it was read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        self.files.insert(path.to_owned(), sum);
        Ok(())
    }

    /// Adds the manifest, and gives the archive its name, which must be free.
    pub(super) fn finish(self, manifest: &Manifest) -> io::Result<()> {
        let draft = self.draft.clone();
        let finished = self.name(manifest);
        // The draft holds the master key, too.
        let _ = std::fs::remove_file(draft);
        finished
    }

    fn name(mut self, manifest: &Manifest) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(manifest)?;
        self.add(MANIFEST, &*text, text.len() as u64)?;
        let sum = to_hex(&Sha256::digest(&text)) + "\n";
        self.add(MANIFEST_SUM, sum.as_bytes(), sum.len() as u64)?;
        self.tar.into_inner()?.sync_all()?;
        rename_to_free(&self.draft, &self.file)?;
        sync_folder(parent_of(&self.file))
    }

    /// Leaves nothing behind.
    pub(super) fn abandon(self) {
        let _ = std::fs::remove_file(&self.draft);
    }
}

/// Gives a file a name that nothing has yet.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system can, and those that cannot know no hard links either.
            Err(error) if [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&error) => {}
            renamed => return Ok(renamed?),
        }
    }
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Makes a file that only its owner can read.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Bytes on their way, added up.
pub(super) struct Summed<R> {
    from: R,
    bytes: u64,
    hash: Sha256,
}

impl<R: Read> Summed<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, bytes: 0, hash: Sha256::new() }
    }

    pub(super) fn sum(self) -> FileSum {
        FileSum { bytes: self.bytes, sha256: to_hex(&self.hash.finalize()) }
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.bytes += read as u64;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Writes a row as a line.
pub(super) fn write_row(to: &mut impl io::Write, row: &[Value]) -> io::Result<()> {
    serde_json::to_writer(&mut *to, row)?;
    to.write_all(b"\n")
}

/// The row in a line; `None` where it is none of this table.
pub(super) fn read_row(table: &Table, line: &str) -> Option<Vec<Value>> {
    let values: Vec<serde_json::Value> = serde_json::from_str(line).ok()?;
    if values.len() != table.columns.len() {
        return None;
    }
    let read = values.into_iter().zip(&table.columns).map(|(value, column)| {
        use serde_json::Value as Json;
        Some(match (column.kind, value) {
            (Kind::Integer, Json::Null) => Value::Integer(None),
            (Kind::Integer, Json::Number(number)) => Value::Integer(Some(number.as_i64()?)),
            (Kind::Text, Json::Null) => Value::Text(None),
            (Kind::Text, Json::String(text)) => Value::Text(Some(text)),
            (Kind::Boolean, Json::Null) => Value::Boolean(None),
            (Kind::Boolean, Json::Bool(flag)) => Value::Boolean(Some(flag)),
            _ => return None,
        })
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_list_of_its_values() {
        let row = [
            Value::Integer(Some(-7)),
            Value::Integer(None),
            Value::Text(Some("a\"b\u{1}".to_owned())),
            Value::Text(None),
            Value::Boolean(Some(true)),
            Value::Boolean(None),
        ];
        let mut line = Vec::new();
        write_row(&mut line, &row).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "[-7,null,\"a\\\"b\\u0001\",null,true,null]\n"
        );
    }

    #[test]
    fn a_name_that_is_taken_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&from, "new").unwrap();
        std::fs::write(&to, "old").unwrap();
        let error = rename_to_free(&from, &to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "old");
        std::fs::remove_file(&to).unwrap();
        rename_to_free(&from, &to).unwrap();
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "new");
        assert!(!from.exists());
    }
}
