//! From one database into another.

use std::path::Path;

use sluice_core::clock::UnixMillis;

use super::TableSum;
use super::filling::Filling;
use super::tables::tables;
use crate::database::has_schema;
use crate::error::StorageError;
use crate::ingest::backlog_of;
use crate::lock::DataLock;
use crate::migrate;
use crate::open::{Location, Store};
use crate::serving::Serving;

/// A copy that was made.
#[derive(Debug)]
pub struct Copy {
    /// What each table came to, in both databases.
    pub tables: Vec<TableSum>,
    /// How many bytes of the journal in the data folder of `from` are in neither database yet.
    pub waiting_bytes: u64,
    /// Whether both databases have the same data folder.
    pub shared: bool,
}

/// Copies everything that is in the database at `from` into the one at `to`, which has to be empty.
/// All of it is there afterwards and was compared, or nothing. Refuses where a server serves from
/// either.
pub async fn copy(from: &Location, to: &Location, now: UnixMillis) -> Result<Copy, StorageError> {
    // One folder may hold both the file and the journal of the other database.
    let shared = is_same(from.data_dir(), to.data_dir());
    let both_files = from.server().is_none() && to.server().is_none();
    if (shared && both_files) || from.database() == to.database() {
        return Err(StorageError::NotEmpty { place: to.database() });
    }
    let nothing_there = || StorageError::NothingThere { place: from.database() };
    if from.server().is_none() && !from.has_file() {
        return Err(nothing_there());
    }
    let _right_to_read = Right::take(from, now).await?;
    let _right_to_write = match shared {
        false => Right::take(to, now).await?,
        true => Right { _folder: None, _database: Serving::take(to, now).await? },
    };
    let store = Store::connect(from.clone()).await?;
    if !has_schema(store.database()).await? {
        return Err(nothing_there());
    }
    if migrate::found(&store).await? != migrate::newest() {
        migrate::run(&store).await?;
    }
    let copied = copy_tables(&store, to).await;
    let waiting_bytes = backlog_of(&store).await;
    store.close().await;
    Ok(Copy { tables: copied?, waiting_bytes: waiting_bytes?, shared })
}

/// Whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Nobody serves from there meanwhile.
struct Right {
    _folder: Option<DataLock>,
    _database: Serving,
}

impl Right {
    async fn take(location: &Location, now: UnixMillis) -> Result<Self, StorageError> {
        // The folder of a server's database is that of its journal, and may be elsewhere.
        let folder = match location.server().is_none() || location.data_dir().exists() {
            true => Some(DataLock::acquire(location.data_dir())?),
            false => None,
        };
        Ok(Self { _folder: folder, _database: Serving::take(location, now).await? })
    }
}

async fn copy_tables(from: &Store, to: &Location) -> Result<Vec<TableSum>, StorageError> {
    const DOING: &str = "copy the database";
    let version = migrate::newest();
    let tables = tables(version).await?;
    let mut reading = from.begin_read(DOING).await?;
    reading.may_take_long().await.map_err(StorageError::database(DOING))?;
    let mut filling = Filling::begin(to, (&tables, version)).await?;
    let mut sums = Vec::with_capacity(tables.len());
    for table in &tables {
        let mut rows = filling.table(table);
        let read = table.read(&mut reading, async |row| rows.add(row).await).await;
        let written = match read {
            Ok(sum) => rows.write().await.map(|()| sum),
            Err(error) => Err(error),
        };
        let verified = match written {
            Ok(sum) => filling.verify(table, &sum).await.map(|()| sum),
            Err(error) => Err(error),
        };
        match verified {
            Ok(sum) => sums.push(sum),
            Err(error) => {
                filling.abandon().await;
                return Err(error);
            }
        }
    }
    filling.finish().await?;
    reading.rollback(DOING).await?;
    Ok(sums)
}
