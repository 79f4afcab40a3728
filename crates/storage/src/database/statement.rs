//! A statement and its values.

use std::borrow::Cow;

use futures_util::TryStreamExt as _;
use sqlx::postgres::{PgArguments, PgPool};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Encode, Postgres, Row as _, Sqlite, Type};

use super::postgres::{SILENCE, all, answer};
use super::{Database, Row, Target, Transaction, Value};
use crate::error::StorageError;

/// A statement with its values. Its text never holds a value: those are bound.
#[derive(Debug)]
pub(crate) struct Statement {
    text: Cow<'static, str>,
    values: Vec<Value>,
}

/// A statement without values so far.
pub(crate) fn sql(text: impl Into<Cow<'static, str>>) -> Statement {
    Statement { text: text.into(), values: Vec::new() }
}

impl Statement {
    /// Binds the next of `$1`, `$2`, ….
    #[must_use]
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Binds the next ones.
    #[must_use]
    pub(crate) fn bind_all(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        self.values.extend(values);
        self
    }

    /// Adds to the text.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.to_mut().push_str(text);
    }

    /// Adds a value to the text and binds it.
    pub(crate) fn push_bind(&mut self, value: impl Into<Value>) {
        self.values.push(value.into());
        let placeholder = format!("${}", self.values.len());
        self.push(&placeholder);
    }

    /// Its text.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Runs it, and says how many rows it changed.
    pub(crate) async fn execute<'c>(self, on: impl Into<Target<'c>>) -> Result<u64, sqlx::Error> {
        match on.into() {
            Target::Database(Database::Sqlite(pool)) => {
                self.sqlite()?.execute(pool).await.map(|done| done.rows_affected())
            }
            Target::Transaction(Transaction::Sqlite(tx)) => {
                self.sqlite()?.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
            Target::Database(Database::Postgres(pool)) => {
                let asked = self.postgres()?.execute(pool);
                answer(Some(SILENCE), asked).await.map(|done| done.rows_affected())
            }
            Target::Transaction(Transaction::Postgres(tx)) => {
                let (connection, limit) = tx.parts();
                let asked = self.postgres()?.execute(connection);
                answer(limit, asked).await.map(|done| done.rows_affected())
            }
        }
    }

    /// All rows that it finds.
    pub(crate) async fn fetch_all<'c>(
        self,
        on: impl Into<Target<'c>>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        fn of<R>(rows: Vec<R>, wrap: fn(R) -> Row) -> Vec<Row> {
            rows.into_iter().map(wrap).collect()
        }
        match on.into() {
            Target::Database(Database::Sqlite(pool)) => {
                self.sqlite()?.fetch_all(pool).await.map(|rows| of(rows, Row::Sqlite))
            }
            Target::Transaction(Transaction::Sqlite(tx)) => {
                self.sqlite()?.fetch_all(&mut **tx).await.map(|rows| of(rows, Row::Sqlite))
            }
            Target::Database(Database::Postgres(pool)) => {
                let rows = self.postgres()?.fetch(pool);
                all(Some(SILENCE), rows).await.map(|rows| of(rows, Row::Postgres))
            }
            Target::Transaction(Transaction::Postgres(tx)) => {
                let (connection, limit) = tx.parts();
                let rows = self.postgres()?.fetch(connection);
                all(limit, rows).await.map(|rows| of(rows, Row::Postgres))
            }
        }
    }

    /// All rows that it finds, on one connection.
    pub(super) async fn fetch_all_on(
        self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<Row>, sqlx::Error> {
        let rows = self.sqlite()?.fetch_all(connection).await?;
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    /// All rows that it finds, on some connection.
    pub(super) async fn fetch_all_from(self, pool: &PgPool) -> Result<Vec<Row>, sqlx::Error> {
        let rows = all(Some(SILENCE), self.postgres()?.fetch(pool)).await?;
        Ok(rows.into_iter().map(Row::Postgres).collect())
    }

    /// The first row that it finds, if any.
    pub(crate) async fn fetch_optional<'c>(
        self,
        on: impl Into<Target<'c>>,
    ) -> Result<Option<Row>, sqlx::Error> {
        match on.into() {
            Target::Database(Database::Sqlite(pool)) => {
                self.sqlite()?.fetch_optional(pool).await.map(|row| row.map(Row::Sqlite))
            }
            Target::Transaction(Transaction::Sqlite(tx)) => {
                self.sqlite()?.fetch_optional(&mut **tx).await.map(|row| row.map(Row::Sqlite))
            }
            Target::Database(Database::Postgres(pool)) => {
                let asked = self.postgres()?.fetch_optional(pool);
                answer(Some(SILENCE), asked).await.map(|row| row.map(Row::Postgres))
            }
            Target::Transaction(Transaction::Postgres(tx)) => {
                let (connection, limit) = tx.parts();
                let asked = self.postgres()?.fetch_optional(connection);
                answer(limit, asked).await.map(|row| row.map(Row::Postgres))
            }
        }
    }

    /// The row that it finds; an error where there is none.
    pub(crate) async fn fetch_one<'c>(self, on: impl Into<Target<'c>>) -> Result<Row, sqlx::Error> {
        self.fetch_optional(on).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Passes the rows that it finds on, one by one: memory does not grow with their number.
    pub(crate) async fn for_each(
        self,
        tx: &mut Transaction,
        doing: &'static str,
        mut each: impl AsyncFnMut(Row) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let failed = || StorageError::database(doing);
        match tx {
            Transaction::Sqlite(tx) => {
                let mut rows = self.sqlite().map_err(failed())?.fetch(&mut **tx);
                while let Some(row) = rows.try_next().await.map_err(failed())? {
                    each(Row::Sqlite(row)).await?;
                }
            }
            Transaction::Postgres(tx) => {
                let (connection, limit) = tx.parts();
                let mut rows = self.postgres().map_err(failed())?.fetch(connection);
                while let Some(row) = answer(limit, rows.try_next()).await.map_err(failed())? {
                    each(Row::Postgres(row)).await?;
                }
            }
        }
        Ok(())
    }

    /// What `read` makes of these columns of each row that it finds; the text begins at `FROM`. A
    /// row is dearer to hold than what it says, and goes before the next one comes.
    ///
    /// SQLite's driver copies each value by itself, and more than half of the time of reading a
    /// hundred thousand keys went there: a row comes from it as one JSON array.
    pub(crate) async fn read_all<T: Send>(
        mut self,
        columns: &'static [&'static str],
        tx: &mut Transaction,
        doing: &'static str,
        mut read: impl FnMut(&Row) -> Result<T, StorageError> + Send,
    ) -> Result<Vec<T>, StorageError> {
        let failed = || StorageError::database(doing);
        let mut all = Vec::new();
        let names = columns.join(", ");
        match tx {
            Transaction::Sqlite(tx) => {
                self.text = format!("SELECT json_array({names}) {}", self.text).into();
                let mut rows = self.sqlite().map_err(failed())?.fetch(&mut **tx);
                while let Some(row) = rows.try_next().await.map_err(failed())? {
                    let list: &str = row.try_get(0).map_err(failed())?;
                    let values = serde_json::from_str(list)
                        .map_err(|error| failed()(sqlx::Error::Decode(error.into())))?;
                    all.push(read(&Row::Listed(columns, values))?);
                }
            }
            Transaction::Postgres(tx) => {
                self.text = format!("SELECT {names} {}", self.text).into();
                let (connection, limit) = tx.parts();
                let mut rows = self.postgres().map_err(failed())?.fetch(connection);
                while let Some(row) = answer(limit, rows.try_next()).await.map_err(failed())? {
                    all.push(read(&Row::Postgres(row))?);
                }
            }
        }
        Ok(all)
    }

    fn sqlite<'q>(self) -> Result<Query<'q, Sqlite, SqliteArguments>, sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        bind(&mut arguments, self.values)?;
        Ok(sqlx::query_with(AssertSqlSafe(self.text), arguments))
    }

    fn postgres<'q>(self) -> Result<Query<'q, Postgres, PgArguments>, sqlx::Error> {
        let mut arguments = PgArguments::default();
        let values = self.values.into_iter().map(without_nul).collect();
        bind(&mut arguments, values)?;
        Ok(sqlx::query_with(AssertSqlSafe(self.text), arguments))
    }
}

/// PostgreSQL's text has no character 0, and would refuse the whole transaction for one.
fn without_nul(value: Value) -> Value {
    match value {
        Value::Text(Some(text)) if text.contains('\0') => {
            Value::Text(Some(text.replace('\0', "\u{fffd}")))
        }
        value => value,
    }
}

fn bind<A, D>(arguments: &mut A, values: Vec<Value>) -> Result<(), sqlx::Error>
where
    A: sqlx::Arguments<Database = D>,
    D: sqlx::Database<Arguments = A>,
    for<'t> Option<i64>: Encode<'t, D> + Type<D>,
    for<'t> Option<String>: Encode<'t, D> + Type<D>,
    for<'t> Option<bool>: Encode<'t, D> + Type<D>,
{
    arguments.reserve(values.len(), 0);
    for value in values {
        let added = match value {
            Value::Integer(number) => arguments.add(number),
            Value::Text(text) => arguments.add(text),
            Value::Boolean(flag) => arguments.add(flag),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(())
}
