//! Between columns and types: the conversions that every record needs.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sluice_core::clock::UnixMillis;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, Type, TypeInfo as _, ValueRef as _};

use crate::error::StorageError;

/// A count as the database keeps it: what does not fit stays at the largest number.
pub(crate) fn to_db(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The assignment that adds a new count to the one that is there, for `ON CONFLICT … DO UPDATE SET`.
///
/// A sum that does not fit stays at the largest number. SQLite would go on with a floating-point
/// number, which nothing reads as a count.
pub(crate) fn add_saturating(table: &str, column: &str) -> String {
    let (old, new, most) = (format!("{table}.{column}"), format!("excluded.{column}"), i64::MAX);
    format!("{column} = CASE WHEN {old} > {most} - {new} THEN {most} ELSE {old} + {new} END")
}

/// An optional count as the database keeps it.
pub(crate) fn to_db_opt(count: Option<u64>) -> Option<i64> {
    count.map(to_db)
}

/// A list as the database keeps it: JSON text.
pub(crate) fn list_to_db<T: Serialize>(list: Option<&Vec<T>>) -> Option<String> {
    list.and_then(|list| serde_json::to_string(list).ok())
}

/// A row, read by column names.
pub(crate) struct Columns<'r>(pub(crate) &'r SqliteRow);

impl Columns<'_> {
    /// A column of a type that the database knows.
    pub(crate) fn plain<T>(&self, column: &'static str) -> Result<T, StorageError>
    where
        T: for<'d> Decode<'d, Sqlite> + Type<Sqlite>,
    {
        self.0.try_get(column).map_err(StorageError::database("read a column"))
    }

    /// Text that is wrapped in a type of its own.
    pub(crate) fn text<T: From<String>>(&self, column: &'static str) -> Result<T, StorageError> {
        self.plain::<String>(column).map(T::from)
    }

    /// Text that may be missing.
    pub(crate) fn text_opt<T: From<String>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StorageError> {
        Ok(self.plain::<Option<String>>(column)?.map(T::from))
    }

    /// A count. Whatever number is there is read, as the nearest count: one bad figure must not
    /// hide all the others.
    pub(crate) fn count(&self, column: &'static str) -> Result<u64, StorageError> {
        let raw = self.0.try_get_raw(column).map_err(StorageError::database("read a column"))?;
        if raw.type_info().name() != "REAL" {
            return Ok(u64::try_from(self.plain::<i64>(column)?).unwrap_or(0));
        }
        // What sums became once they did not fit any more, before they were kept from it.
        let figure: f64 = self.plain(column)?;
        #[expect(clippy::cast_possible_truncation, reason = "the nearest count is wanted")]
        Ok(u64::try_from(figure as i64).unwrap_or(0))
    }

    /// A count that may be missing.
    pub(crate) fn count_opt(&self, column: &'static str) -> Result<Option<u64>, StorageError> {
        let raw = self.0.try_get_raw(column).map_err(StorageError::database("read a column"))?;
        if raw.is_null() { Ok(None) } else { self.count(column).map(Some) }
    }

    /// A moment.
    pub(crate) fn moment(&self, column: &'static str) -> Result<UnixMillis, StorageError> {
        self.count(column).map(UnixMillis)
    }

    /// A moment that may be missing.
    pub(crate) fn moment_opt(
        &self,
        column: &'static str,
    ) -> Result<Option<UnixMillis>, StorageError> {
        Ok(self.count_opt(column)?.map(UnixMillis))
    }

    /// A word of a closed set.
    pub(crate) fn word<T>(
        &self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, StorageError> {
        let value: String = self.plain(column)?;
        parse(&value).ok_or(StorageError::Unreadable { column, value })
    }

    /// A word of a closed set that may be missing.
    pub(crate) fn word_opt<T>(
        &self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        match self.plain::<Option<String>>(column)? {
            None => Ok(None),
            Some(_) => self.word(column, parse).map(Some),
        }
    }

    /// A list that may be missing.
    pub(crate) fn list<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<Vec<T>>, StorageError> {
        let Some(text) = self.plain::<Option<String>>(column)? else {
            return Ok(None);
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| StorageError::Unreadable { column, value: text })
    }
}
