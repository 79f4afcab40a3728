//! An empty database that is being filled: it is there whole, or not at all.

use std::fs::File;
use std::path::PathBuf;

use super::tables::Table;
use super::{TableSum, parent_of, sync_folder};
use crate::database::{DATABASE_FILE, Database, Transaction, Value, has_schema, insert_many, sql};
use crate::error::StorageError;
use crate::migrate;
use crate::open::{Location, create_data_dir};

const DOING: &str = "fill the database";

/// Rows that wait for a statement.
const BATCH: usize = 64;

pub(super) struct Filling {
    place: String,
    database: Database,
    tx: Transaction,
    /// SQLite's file while it is not whole, and where it belongs.
    draft: Option<Draft>,
    /// What makes foreign keys wait for the end, undone.
    restore_keys: String,
}

struct Draft {
    path: PathBuf,
    file: PathBuf,
}

impl Filling {
    /// Begins with an empty database at `location`, and makes its tables as they were at `version`.
    /// The caller has made sure that nobody serves from there.
    pub(super) async fn begin(
        location: &Location,
        (tables, version): (&[Table], i64),
    ) -> Result<Self, StorageError> {
        let place = location.database();
        let (database, draft) = match location.server() {
            Some(url) => (Database::open_server(url).await?, None),
            None => {
                create_data_dir(location.data_dir())?;
                let file = location.data_dir().join(DATABASE_FILE);
                if file.exists() {
                    return Err(StorageError::NotEmpty { place });
                }
                let draft = Draft { path: file.with_extension("db-unfinished"), file };
                // What a run that was killed has left.
                draft.remove();
                (Database::open_draft(&draft.path).await?, Some(draft))
            }
        };
        let mut tx = database.begin_write(DOING).await?;
        match make_tables(&mut tx, &place, (tables, version)).await {
            Ok(restore_keys) => Ok(Self { place, database, tx, draft, restore_keys }),
            Err(error) => {
                let restore_keys = String::new();
                Self { place, database, tx, draft, restore_keys }.abandon().await;
                Err(error)
            }
        }
    }

    /// What fills one of its tables.
    pub(super) fn table<'f>(&'f mut self, table: &'f Table) -> Rows<'f> {
        let columns = table.columns.iter().map(|column| &*column.name).collect();
        Rows { tx: &mut self.tx, table, columns, rows: Vec::with_capacity(BATCH) }
    }

    /// Reads a table again, and compares it with what was put into it.
    pub(super) async fn verify(
        &mut self,
        table: &Table,
        expected: &TableSum,
    ) -> Result<(), StorageError> {
        let found = table.read(&mut self.tx, async |_| Ok(())).await?;
        let problem = match found {
            found if found.rows != expected.rows => "another number of rows",
            found if found.checksum != expected.checksum => "another checksum",
            _ => return Ok(()),
        };
        let (table, place) = (table.name.clone(), self.place.clone());
        Err(StorageError::CopyDiffers { table, place, problem })
    }

    /// Brings the tables to this program's version, and keeps everything.
    pub(super) async fn finish(mut self) -> Result<(), StorageError> {
        self.tx.run_script(self.restore_keys).await.map_err(StorageError::database(DOING))?;
        migrate::run_to(&mut self.tx, migrate::newest()).await?;
        self.tx.commit(DOING).await?;
        self.database.close().await;
        match &self.draft {
            Some(draft) => draft.put_in_place(),
            None => Ok(()),
        }
    }

    /// Keeps nothing.
    pub(super) async fn abandon(self) {
        let _ = self.tx.rollback(DOING).await;
        self.database.close().await;
        if let Some(draft) = self.draft {
            draft.remove();
        }
    }
}

impl Draft {
    fn remove(&self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            let _ = std::fs::remove_file(path);
        }
    }

    fn put_in_place(&self) -> Result<(), StorageError> {
        let placed = File::open(&self.path)
            .and_then(|file| file.sync_all())
            .and_then(|()| std::fs::rename(&self.path, &self.file))
            .and_then(|()| sync_folder(parent_of(&self.file)));
        placed.map_err(StorageError::file("put in place", &self.file, "check the disk"))
    }
}

/// Rows on their way into a table.
pub(super) struct Rows<'f> {
    tx: &'f mut Transaction,
    table: &'f Table,
    columns: Vec<&'f str>,
    rows: Vec<Vec<Value>>,
}

impl Rows<'_> {
    pub(super) async fn add(&mut self, row: Vec<Value>) -> Result<(), StorageError> {
        self.rows.push(row);
        if self.rows.len() < BATCH { Ok(()) } else { self.write().await }
    }

    /// Writes what waits.
    pub(super) async fn write(&mut self) -> Result<(), StorageError> {
        let rows = std::mem::take(&mut self.rows);
        insert_many(self.tx, (&self.table.name, &self.columns), "", rows, |_, _| {})
            .await
            .map_err(StorageError::database(DOING))
    }
}

/// Makes empty tables as they were at `version`, where there are none of ours. Gives back what makes
/// foreign keys hold again.
async fn make_tables(
    tx: &mut Transaction,
    place: &str,
    (tables, version): (&[Table], i64),
) -> Result<String, StorageError> {
    // Nobody else writes from here on.
    if has_schema(&mut *tx).await? {
        return Err(StorageError::NotEmpty { place: place.to_owned() });
    }
    // It waits for whatever the rows come from.
    tx.may_take_long().await.map_err(StorageError::database(DOING))?;
    migrate::run_to(tx, version).await.map_err(|error| match error {
        StorageError::Database { source, doing } => {
            StorageError::may_not_create(place, source, doing)
        }
        other => other,
    })?;
    let restore_keys = defer_foreign_keys(tx, tables).await?;
    // What a step of the schema puts into its tables is in the other database, too.
    for table in tables {
        let text = format!("DELETE FROM {}", table.name);
        sql(text).execute(&mut *tx).await.map_err(StorageError::database(DOING))?;
    }
    Ok(restore_keys)
}

/// Lets the foreign keys of `tables` wait for the end of the transaction: a key may name one that
/// comes later. Gives back what undoes it, once all rows are there.
async fn defer_foreign_keys(
    tx: &mut Transaction,
    tables: &[Table],
) -> Result<String, StorageError> {
    let failed = || StorageError::database(DOING);
    if !tx.is_postgres() {
        sql("PRAGMA defer_foreign_keys = ON").execute(tx).await.map_err(failed())?;
        return Ok(String::new());
    }
    // Other programs may have tables in the same schema.
    let mut keys =
        sql("SELECT format('ALTER TABLE %I ALTER CONSTRAINT %I', t.relname, c.conname) \
                        AS change FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid \
                        WHERE c.contype = 'f' AND NOT c.condeferrable \
                        AND t.relnamespace = current_schema()::regnamespace AND t.relname IN (''");
    for table in tables {
        keys.push(", ");
        keys.push_bind(&table.name);
    }
    keys.push(")");
    let rows = keys.fetch_all(&mut *tx).await.map_err(failed())?;
    let mut undo = "SET CONSTRAINTS ALL IMMEDIATE".to_owned();
    for row in rows {
        let change = row.string("change")?;
        let deferred = format!("{change} DEFERRABLE INITIALLY DEFERRED");
        tx.run_script(deferred).await.map_err(failed())?;
        undo.push_str(&format!("; {change} NOT DEFERRABLE"));
    }
    Ok(undo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump::tables::tables;

    /// A log beside it would be left behind where the file gets its name.
    #[tokio::test]
    async fn what_is_filled_needs_no_write_ahead_log() {
        let dir = tempfile::tempdir().unwrap();
        let version = migrate::newest();
        let tables = tables(version).await.unwrap();
        let location = Location::from(dir.path());
        let leftover = dir.path().join("sluice.db-unfinished-journal");
        std::fs::write(&leftover, "what a run that was killed has left").unwrap();
        let mut filling = Filling::begin(&location, (&tables, version)).await.unwrap();
        let accounts = tables.iter().find(|table| table.name == "meta").unwrap();
        let mut rows = filling.table(accounts);
        for number in 0..1000 {
            rows.add(vec![format!("name {number}").into(), "x".repeat(1000).into()]).await.unwrap();
        }
        rows.write().await.unwrap();
        assert!(!dir.path().join("sluice.db-unfinished-wal").exists());
        filling.finish().await.unwrap();
        let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap()).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].metadata().unwrap().len() > 1_000_000, "{left:?}");
    }
}
