//! Whose a request was, in the columns of records and in what is added up from them.

use serde::{Deserialize, Deserializer, Serializer};
use sluice_core::organisation::{Attribution, Holder};

use crate::database::{Row, Value};
use crate::error::StorageError;

/// The columns that say whose it was, in the order of [`values`]. Where they are a part of a row's
/// identity, '' stands for none.
pub(crate) const COLUMNS: [&str; 5] =
    ["account_id", "department_id", "team_id", "holder", "key_id"];

/// In the order of [`COLUMNS`].
pub(crate) fn values(whose: &Attribution) -> [Value; 5] {
    let holder = whose.holder.as_ref().map(ToString::to_string);
    [
        whose.account.as_str().into(),
        whose.department.as_ref().map_or("", |id| id.as_str()).into(),
        whose.team.as_ref().map_or("", |id| id.as_str()).into(),
        holder.unwrap_or_default().into(),
        whose.key.as_str().into(),
    ]
}

/// From the columns of a row, of which some may be '' or missing.
pub(crate) fn read(row: &Row) -> Result<Attribution, StorageError> {
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(Attribution {
        account: row.text("account_id")?,
        department: some(row.string_opt("department_id")?).map(Into::into),
        team: some(row.string_opt("team_id")?).map(Into::into),
        holder: some(row.string_opt("holder")?).and_then(|text| Holder::parse(&text)),
        key: row.text("key_id")?,
    })
}

/// A holder as text, `person:ID` or `service:ID`.
pub(crate) mod holder {
    use super::{Deserialize, Deserializer, Holder, Serializer};

    #[expect(clippy::ref_option, reason = "the signature that serde's `with` asks for")]
    pub(crate) fn serialize<S: Serializer>(
        holder: &Option<Holder>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match holder {
            Some(holder) => serializer.serialize_some(&holder.to_string()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Holder>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.and_then(|text| Holder::parse(&text)))
    }
}
