//! Routers of accounts, departments and teams, with every version of their settings.
//!
//! What a setting means is for the gateway to say: here it is JSON.

use serde::Serialize;
use serde_json::Value as Json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, RouterId};
use sluice_core::organisation::{Actor, Subject};

use crate::database::{Row, Transaction, Value, insert_one, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::vendors::settings;

const DOING: &str = "read routers";

/// A router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouterRecord {
    /// Its id.
    pub id: RouterId,
    /// The account of its subject. No other router of the account has its name.
    pub account_id: AccountId,
    /// Who may ask it: an account, a department or a team.
    #[serde(serialize_with = "crate::provider_keys::as_text")]
    pub subject: Subject,
    /// What callers put in `model`: `svc/review`.
    pub name: String,
    /// The version of its settings, from 1.
    pub version: u32,
    /// Its settings, as the configuration file calls them.
    pub settings: Json,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When this version was made.
    pub changed_at: UnixMillis,
    /// Who made this version.
    #[serde(skip)]
    pub changed_by: Actor,
    /// When it was removed.
    pub removed_at: Option<UnixMillis>,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

impl RouterRecord {
    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.removed_at.is_none()
    }
}

/// The settings of a router as they were from some moment on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterVersion {
    /// Its number, from 1.
    pub version: u32,
    /// The settings.
    pub settings: Json,
    /// When it was made.
    pub changed_at: UnixMillis,
    /// Who made it.
    pub changed_by: Actor,
}

/// Where routers are kept: the identity first, then everything else.
pub(crate) const ROUTERS: (&str, &[&str]) = (
    "routers",
    &[
        "id",
        "account_id",
        "subject",
        "name",
        "version",
        "settings",
        "created_at",
        "changed_at",
        "changed_by",
        "removed_at",
        "changed",
    ],
);

const VERSIONS: (&str, &[&str]) =
    ("router_versions", &["router_id", "version", "settings", "changed_at", "changed_by"]);

/// In the order of [`ROUTERS`], without the last.
pub(crate) fn router_values(it: &RouterRecord) -> Vec<Value> {
    vec![
        it.id.as_str().into(),
        it.account_id.as_str().into(),
        it.subject.to_string().into(),
        (&it.name).into(),
        u64::from(it.version).into(),
        it.settings.to_string().into(),
        it.created_at.into(),
        it.changed_at.into(),
        actor(&it.changed_by).into(),
        it.removed_at.into(),
    ]
}

fn actor(it: &Actor) -> String {
    serde_json::to_string(it).unwrap_or_default()
}

/// Keeps the version that a router has now.
pub(crate) async fn keep_version(
    tx: &mut Transaction,
    it: &RouterRecord,
) -> Result<(), sqlx::Error> {
    let row = vec![
        it.id.as_str().into(),
        u64::from(it.version).into(),
        it.settings.to_string().into(),
        it.changed_at.into(),
        actor(&it.changed_by).into(),
    ];
    insert_one(tx, VERSIONS, row).await
}

impl Store {
    /// Every version of a router, the newest first.
    pub async fn router_versions(&self, id: &RouterId) -> Result<Vec<RouterVersion>, StorageError> {
        let rows = sql("SELECT * FROM router_versions WHERE router_id = $1 ORDER BY version DESC")
            .bind(id.as_str())
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
        rows.iter().map(read_version).collect()
    }
}

/// All routers that are there, in the order in which they were made.
pub(crate) async fn read_routers(tx: &mut Transaction) -> Result<Vec<RouterRecord>, StorageError> {
    let rows = sql("SELECT * FROM routers WHERE removed_at IS NULL ORDER BY created_at, id")
        .fetch_all(tx)
        .await
        .map_err(StorageError::database(DOING))?;
    rows.iter().map(read).collect()
}

fn version(row: &Row) -> Result<u32, StorageError> {
    Ok(u32::try_from(row.count("version")?).unwrap_or(u32::MAX))
}

fn read(row: &Row) -> Result<RouterRecord, StorageError> {
    Ok(RouterRecord {
        id: row.text("id")?,
        account_id: row.text("account_id")?,
        subject: row.word("subject", Subject::parse)?,
        name: row.string("name")?,
        version: version(row)?,
        settings: settings(row)?,
        created_at: row.moment("created_at")?,
        changed_at: row.moment("changed_at")?,
        changed_by: row.word("changed_by", |text| serde_json::from_str(text).ok())?,
        removed_at: row.moment_opt("removed_at")?,
        changed: row.count("changed")?,
    })
}

fn read_version(row: &Row) -> Result<RouterVersion, StorageError> {
    Ok(RouterVersion {
        version: version(row)?,
        settings: settings(row)?,
        changed_at: row.moment("changed_at")?,
        changed_by: row.word("changed_by", |text| serde_json::from_str(text).ok())?,
    })
}
