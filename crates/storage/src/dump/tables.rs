//! Which tables and columns there are, and their rows in a canonical order and form.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::TableSum;
use crate::database::{Database, Kind, Transaction, Value, sql};
use crate::error::StorageError;
use crate::master_key::to_hex;
use crate::migrate;

/// Tables that speak of a database itself, and not of what was put into it: its version, which the
/// copy gets by its own making, and which server serves from it.
pub(super) const OF_THE_DATABASE: [&str; 2] = ["schema_version", "serving"];

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// The columns of its key, in their order.
    pub(super) key: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// All tables that there are at a version, with what is to be copied.
///
/// They are read off a database that the steps of the schema have just made: there is no list that a
/// new table could be missing from, and foreign tables beside ours are none of our business.
pub(super) async fn tables(version: i64) -> Result<Vec<Table>, StorageError> {
    const DOING: &str = "list the tables";
    let database = Database::in_memory().await?;
    let mut tx = database.begin_write(DOING).await?;
    migrate::run_to(&mut tx, version).await?;
    let rows = sql("SELECT t.name AS table_name, c.name AS column_name, c.type AS kind, \
                    c.pk AS key_place FROM sqlite_master t JOIN pragma_table_info(t.name) c \
                    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid")
    .fetch_all(&mut tx)
    .await
    .map_err(StorageError::database(DOING))?;
    let mut tables: Vec<(Table, Vec<(i64, String)>)> = Vec::new();
    for row in rows {
        let name = row.string("table_name")?;
        if OF_THE_DATABASE.contains(&&*name) {
            continue;
        }
        if tables.last().is_none_or(|(table, _)| table.name != name) {
            tables.push((Table { name, columns: Vec::new(), key: Vec::new() }, Vec::new()));
        }
        let Some((table, key)) = tables.last_mut() else { continue };
        let column = row.string("column_name")?;
        let kind = row.word("kind", kind)?;
        match row.integer("key_place")? {
            0 => {}
            place => key.push((place, column.clone())),
        }
        table.columns.push(Column { name: column, kind });
    }
    tx.rollback(DOING).await?;
    database.close().await;
    let ordered = tables.into_iter().map(|(table, mut key)| {
        key.sort();
        let mut key: Vec<String> = key.into_iter().map(|(_, column)| column).collect();
        if key.is_empty() {
            key = table.columns.iter().map(|column| column.name.clone()).collect();
        }
        Table { key, ..table }
    });
    Ok(ordered.collect())
}

fn kind(declared: &str) -> Option<Kind> {
    match declared {
        "TEXT" => Some(Kind::Text),
        "BIGINT" | "INTEGER" => Some(Kind::Integer),
        "BOOLEAN" => Some(Kind::Boolean),
        _ => None,
    }
}

impl Table {
    /// Passes on each row's values, in the order of the key, and says what they came to.
    pub(super) async fn read(
        &self,
        tx: &mut Transaction,
        mut each: impl AsyncFnMut(Vec<Value>) -> Result<(), StorageError>,
    ) -> Result<TableSum, StorageError> {
        let columns: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        let text = format!(
            "SELECT {} FROM {} ORDER BY {}",
            columns.join(", "),
            self.name,
            self.key.join(", ")
        );
        let mut sum = Sum::default();
        let add = async |row: crate::database::Row| {
            let values = self.columns.iter().map(|column| row.value(&column.name, column.kind));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            sum.add(&values);
            each(values).await
        };
        sql(text).for_each(tx, "read a table", add).await?;
        Ok(sum.of(&self.name))
    }
}

/// What rows come to so far.
#[derive(Default)]
pub(super) struct Sum {
    rows: u64,
    hash: Sha256,
}

impl Sum {
    pub(super) fn add(&mut self, values: &[Value]) {
        self.rows += 1;
        for value in values {
            match value {
                Value::Integer(None) | Value::Text(None) | Value::Boolean(None) => {
                    self.hash.update(b"-");
                }
                Value::Integer(Some(number)) => {
                    self.hash.update(b"i");
                    self.hash.update(number.to_be_bytes());
                }
                Value::Boolean(Some(flag)) => self.hash.update([b'b', u8::from(*flag)]),
                Value::Text(Some(text)) => {
                    // PostgreSQL keeps no character 0; see `Statement`.
                    let text = text.replace('\0', "\u{fffd}");
                    self.hash.update(b"t");
                    self.hash.update((text.len() as u64).to_be_bytes());
                    self.hash.update(text);
                }
            }
        }
    }

    pub(super) fn of(self, table: &str) -> TableSum {
        let checksum = to_hex(&self.hash.finalize());
        TableSum { table: table.to_owned(), rows: self.rows, checksum }
    }
}
