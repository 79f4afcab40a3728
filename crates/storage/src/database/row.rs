//! Between columns and types: the conversions that every record needs.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sqlx::postgres::{PgRow, Postgres};
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Decode, Row as _, Type, TypeInfo as _, ValueRef as _};

use super::Value;
use crate::error::StorageError;

/// What a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Integer,
    Text,
    Boolean,
}

/// A row, read by its columns' names.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
    /// From SQLite as one value: a JSON array of these columns.
    Listed(&'static [&'static str], Vec<serde_json::Value>),
}

const DOING: &str = "read a column";

impl Row {
    fn plain<T>(&self, column: &str) -> Result<T, StorageError>
    where
        T: for<'d> Decode<'d, Sqlite> + Type<Sqlite>,
        T: for<'d> Decode<'d, Postgres> + Type<Postgres>,
        T: DeserializeOwned,
    {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
            Self::Listed(columns, values) => listed(columns, values, column).and_then(|value| {
                T::deserialize(value).map_err(|error| sqlx::Error::Decode(error.into()))
            }),
        }
        .map_err(StorageError::database(DOING))
    }

    /// Text.
    pub(crate) fn string(&self, column: &'static str) -> Result<String, StorageError> {
        self.plain(column)
    }

    /// Text that may be missing.
    pub(crate) fn string_opt(&self, column: &'static str) -> Result<Option<String>, StorageError> {
        self.plain(column)
    }

    /// Yes or no.
    pub(crate) fn flag(&self, column: &str) -> Result<bool, StorageError> {
        // SQLite knows no booleans, so that its JSON has numbers in their place.
        if let Self::Listed(..) = self {
            Ok(self.integer(column)? != 0)
        } else {
            self.plain(column)
        }
    }

    /// Text that is wrapped in a type of its own.
    pub(crate) fn text<T: From<String>>(&self, column: &'static str) -> Result<T, StorageError> {
        self.string(column).map(T::from)
    }

    /// Wrapped text that may be missing.
    pub(crate) fn text_opt<T: From<String>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StorageError> {
        Ok(self.string_opt(column)?.map(T::from))
    }

    /// An integer.
    pub(crate) fn integer(&self, column: &str) -> Result<i64, StorageError> {
        self.plain(column)
    }

    /// A count. Whatever number is there is read, as the nearest count: one bad figure must not
    /// hide all the others.
    pub(crate) fn count(&self, column: &str) -> Result<u64, StorageError> {
        Ok(u64::try_from(self.nearest_integer(column)?).unwrap_or(0))
    }

    fn nearest_integer(&self, column: &str) -> Result<i64, StorageError> {
        if let Self::Sqlite(row) = self
            && row.try_get_raw(column).map_err(StorageError::database(DOING))?.type_info().name()
                == "REAL"
        {
            // What sums became once they did not fit any more, before they were kept from it.
            let figure: f64 = row.try_get(column).map_err(StorageError::database(DOING))?;
            #[expect(clippy::cast_possible_truncation, reason = "the nearest integer is wanted")]
            return Ok(figure as i64);
        }
        self.integer(column)
    }

    /// What a column of this kind holds.
    pub(crate) fn value(&self, column: &str, kind: Kind) -> Result<Value, StorageError> {
        let missing = self.is_null(column)?;
        Ok(match kind {
            Kind::Integer if missing => Value::Integer(None),
            Kind::Integer => Value::Integer(Some(self.nearest_integer(column)?)),
            Kind::Text => Value::Text(self.plain(column)?),
            Kind::Boolean if missing => Value::Boolean(None),
            Kind::Boolean => Value::Boolean(Some(self.flag(column)?)),
        })
    }

    /// A count that may be missing.
    pub(crate) fn count_opt(&self, column: &'static str) -> Result<Option<u64>, StorageError> {
        if self.is_null(column)? { Ok(None) } else { self.count(column).map(Some) }
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
        let value = self.string(column)?;
        parse(&value).ok_or(StorageError::Unreadable { column, value })
    }

    /// A word of a closed set that may be missing.
    pub(crate) fn word_opt<T>(
        &self,
        column: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        if self.is_null(column)? { Ok(None) } else { self.word(column, parse).map(Some) }
    }

    /// What is kept as JSON text, and may be missing.
    pub(crate) fn json_opt<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StorageError> {
        let Some(text) = self.string_opt(column)? else { return Ok(None) };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|_| StorageError::Unreadable { column, value: text })
    }

    /// Whether the statement asked for this column.
    pub(crate) fn has(&self, column: &str) -> bool {
        match self {
            Self::Sqlite(row) => row.try_column(column).is_ok(),
            Self::Postgres(row) => row.try_column(column).is_ok(),
            Self::Listed(columns, _) => columns.contains(&column),
        }
    }

    fn is_null(&self, column: &str) -> Result<bool, StorageError> {
        match self {
            Self::Sqlite(row) => row.try_get_raw(column).map(|value| value.is_null()),
            Self::Postgres(row) => row.try_get_raw(column).map(|value| value.is_null()),
            Self::Listed(columns, values) => {
                listed(columns, values, column).map(serde_json::Value::is_null)
            }
        }
        .map_err(StorageError::database(DOING))
    }
}

fn listed<'v>(
    columns: &[&str],
    values: &'v [serde_json::Value],
    column: &str,
) -> Result<&'v serde_json::Value, sqlx::Error> {
    let at = columns.iter().position(|name| *name == column);
    at.and_then(|at| values.get(at)).ok_or_else(|| sqlx::Error::ColumnNotFound(column.to_owned()))
}
