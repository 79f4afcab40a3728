//! What is bound to a statement.

use serde::Serialize;
use sluice_core::clock::UnixMillis;

/// A value of a type that both databases know. What is missing has a type, too: PostgreSQL asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Boolean(Option<bool>),
}

/// A count as a database keeps it: what does not fit stays at the largest number.
fn to_db(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Integer(Some(i64::from(count)))
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Integer(Some(to_db(count)))
    }
}

impl From<Option<u64>> for Value {
    fn from(count: Option<u64>) -> Self {
        Self::Integer(count.map(to_db))
    }
}

impl From<UnixMillis> for Value {
    fn from(moment: UnixMillis) -> Self {
        Self::from(moment.0)
    }
}

impl From<Option<UnixMillis>> for Value {
    fn from(moment: Option<UnixMillis>) -> Self {
        Self::from(moment.map(|moment| moment.0))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Boolean(Some(flag))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Self::Text(text.clone())
    }
}
