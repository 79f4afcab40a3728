//! A backup, made beside a server that may be running.
//!
//! The order keeps it whole: the audit trail's seal first, which may lie behind the database and
//! never ahead; then the database, in one state; then the journal, of which the restored server skips
//! what the database has read. A segment that is deleted meanwhile was opened before.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use sluice_core::clock::UnixMillis;

use super::TableSum;
use super::archive::{FILES, FORMAT, Manifest, TABLES, Writer, create_private, write_row};
use super::tables::{Table, tables};
use crate::database::{Transaction, sql};
use crate::error::StorageError;
use crate::journal::list;
use crate::master_key::MasterKey;
use crate::open::{Store, journal_dir};
use crate::{master_key, migrate, seal};

const DOING: &str = "back the database up";
/// For how long the database is read anew where the journal moved on too fast. Each reading takes
/// milliseconds, and a segment of a server under load lasts seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Writes a backup of the database and the data folder of `store` to a new file, and says what each
/// table came to. The file holds the master key.
pub async fn backup(
    store: &Store,
    key: &MasterKey,
    file: &Path,
    (made_by, made_at): (&str, UnixMillis),
) -> Result<Vec<TableSum>, StorageError> {
    if file.exists() {
        return Err(StorageError::FileExists { path: file.to_owned() });
    }
    let mut writer = Writer::begin(file).map_err(unwritable(file))?;
    match fill(store, &mut writer, file).await {
        Ok((schema, tables, sums)) => {
            let manifest = Manifest {
                format: FORMAT,
                made_by: made_by.to_owned(),
                made_at,
                schema,
                master_key: key.id(),
                tables,
                sums: sums.clone(),
                files: writer.files.clone(),
            };
            writer.finish(&manifest).map_err(unwritable(file))?;
            Ok(sums)
        }
        Err(error) => {
            writer.abandon();
            Err(error)
        }
    }
}

fn unwritable(file: &Path) -> impl FnOnce(io::Error) -> StorageError {
    StorageError::file("write the backup", file, "name a file in a folder with enough room")
}

async fn fill(
    store: &Store,
    writer: &mut Writer,
    file: &Path,
) -> Result<(i64, Vec<Table>, Vec<TableSum>), StorageError> {
    let data_dir = store.data_dir();
    let unreadable = || StorageError::file("read", data_dir, "run sluice as the folder's owner");
    add_files(writer, data_dir).map_err(unreadable())?;

    let (mut reading, mut segments) = consistent(store).await?;
    let schema = migrate::version(&mut reading).await?;
    let tables = tables(schema).await?;
    let mut sums = Vec::with_capacity(tables.len());
    for table in &tables {
        sums.push(add_table(writer, table, &mut reading, file).await?);
    }
    reading.rollback(DOING).await?;
    for (name, segment) in &mut segments {
        let mut add = |writer: &mut Writer| {
            let length = segment.metadata()?.len();
            segment.rewind()?;
            writer.add(&format!("{FILES}/journal/{name}"), &mut *segment, length)
        };
        add(writer).map_err(unreadable())?;
    }
    Ok((schema, tables, sums))
}

/// The files of a data folder besides database and journal, the seal first.
const OF_THE_FOLDER: [&str; 5] =
    [seal::FILE, master_key::FILE, "catalog.json", "quality.csv", "accepted-configuration"];

fn add_files(writer: &mut Writer, data_dir: &Path) -> io::Result<()> {
    for name in OF_THE_FOLDER {
        match File::open(data_dir.join(name)) {
            Ok(mut file) => {
                let length = file.metadata()?.len();
                writer.add(&format!("{FILES}/{name}"), &mut file, length)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A state of the database, and every segment of the journal that holds something behind it.
///
/// A segment goes once the database has it. Where one went while the state was taken, or came and
/// went, which shows as a gap in the numbers, nobody can say whether the state holds it: it is taken
/// anew.
async fn consistent(store: &Store) -> Result<(Transaction, BTreeMap<String, File>), StorageError> {
    let dir = journal_dir(store.data_dir());
    let unreadable = || StorageError::file("read the journal", &dir, "try again");
    let begun = Instant::now();
    loop {
        let mut open = BTreeMap::new();
        let first = open_all(&dir, &mut open).map_err(unreadable())?;
        let mut reading = store.begin_read(DOING).await?;
        reading.may_take_long().await.map_err(StorageError::database(DOING))?;
        // The state is that of the first statement.
        sql("SELECT COUNT(*) AS rows FROM journal_segments")
            .fetch_one(&mut reading)
            .await
            .map_err(StorageError::database(DOING))?;
        let second = open_all(&dir, &mut open).map_err(unreadable())?;
        let none_went = first.iter().all(|number| second.contains(number));
        let newest = first.iter().max().copied();
        let mut later: Vec<u64> =
            second.into_iter().filter(|number| newest.is_none_or(|it| *number > it)).collect();
        later.sort_unstable();
        let first_later = newest.map_or_else(|| later.first().copied(), |it| Some(it + 1));
        let gapless = first_later.is_none_or(|first| (first..).zip(&later).all(|(a, b)| a == *b));
        if none_went && gapless {
            return Ok((reading, open));
        }
        reading.rollback(DOING).await?;
        if begun.elapsed() >= PATIENCE {
            let moving = io::Error::other("it moves on faster than it can be read");
            return Err(unreadable()(moving));
        }
    }
}

/// Opens the segments that are not open yet, and says the numbers of those that are there.
fn open_all(dir: &Path, open: &mut BTreeMap<String, File>) -> io::Result<Vec<u64>> {
    let segments = match list(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        listed => listed?,
    };
    let mut numbers = Vec::with_capacity(segments.len());
    for segment in segments {
        match File::open(&segment.path) {
            Ok(file) => {
                numbers.push(segment.number);
                open.entry(segment.name).or_insert(file);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(numbers)
}

async fn add_table(
    writer: &mut Writer,
    table: &Table,
    reading: &mut Transaction,
    file: &Path,
) -> Result<TableSum, StorageError> {
    let failed = || unwritable(file);
    let beside = writer.beside();
    let _ = std::fs::remove_file(&beside);
    let mut lines = BufWriter::new(create_private(&beside).map_err(failed())?);
    let read = table.read(reading, async |row| write_row(&mut lines, &row).map_err(failed())).await;
    let mut add = || {
        lines.flush()?;
        let waiting = lines.get_mut();
        let length = waiting.stream_position()?;
        waiting.rewind()?;
        writer.add(&format!("{TABLES}/{}.jsonl", table.name), waiting, length)
    };
    let added = read.and_then(|sum| add().map_err(failed()).map(|()| sum));
    let _ = std::fs::remove_file(&beside);
    added
}
