//! Providers, models and routers that people put in, beside those of the configuration file.
//!
//! What a setting means is for the gateway to say: here it is JSON. What must not be read is sealed.
//! What is removed leaves no row: its settings are in the audit trail, and its secrets are nowhere.

use std::fmt;

use serde::Serialize;
use serde_json::Value as Json;
use sluice_core::clock::UnixMillis;
use sluice_core::secret::Secret;

use crate::database::{Row, Value, sql};
use crate::error::StorageError;
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::routers::{RouterRecord, read_routers};

const DOING: &str = "read providers and models";
/// What the sealing key is derived with.
const PURPOSE: &str = "provider secrets";

/// A provider's secrets, sealed. Nothing of them is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    text: String,
    key_id: String,
}

impl SealedSecrets {
    /// Seals the secrets of the provider `name`.
    pub fn seal(
        master: &MasterKey,
        name: &str,
        secrets: &Secret<String>,
    ) -> Result<Self, StorageError> {
        let text = master.sealer(PURPOSE).seal(secrets.expose().as_bytes(), name)?;
        Ok(Self { text, key_id: master.root_id() })
    }

    /// The secrets; `None` where they were sealed under another key, or for another provider.
    pub fn open(&self, master: &MasterKey, name: &str) -> Option<Secret<String>> {
        if self.key_id != master.root_id() {
            return None;
        }
        let opened = master.sealer(PURPOSE).open(&self.text, name)?;
        std::str::from_utf8(opened.expose()).ok().map(|text| Secret::new(text.to_owned()))
    }
}

impl fmt::Debug for SealedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderRecord {
    /// Its name, which no other provider has.
    pub name: String,
    /// Its settings, as the configuration file calls them.
    pub settings: Json,
    /// Its key and the values of its headers.
    #[serde(skip)]
    pub secrets: Option<SealedSecrets>,
    /// Since when it has this key; `None` where it has none.
    pub credential_set_at: Option<UnixMillis>,
    /// When it was put in.
    pub created_at: UnixMillis,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelRecord {
    /// What callers put in `model`; no other model has it.
    pub id: String,
    /// Its settings, as the configuration file calls them.
    pub settings: Json,
    /// When it was put in.
    pub created_at: UnixMillis,
    /// The number of the change that touched it last; 0 where it is not written yet.
    #[serde(skip)]
    pub changed: u64,
}

/// All of them, as they were at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendorRecords {
    /// The providers, in the order in which they were put in.
    pub providers: Vec<ProviderRecord>,
    /// The models, in the order in which they were put in.
    pub models: Vec<ModelRecord>,
    /// The routers that are there, in the order in which they were made.
    pub routers: Vec<RouterRecord>,
}

/// Where providers are kept: the identity first, then everything else.
pub(crate) const PROVIDERS: (&str, &[&str]) = (
    "providers",
    &["name", "settings", "secrets", "secrets_key", "credential_set_at", "created_at", "changed"],
);
/// Where models are kept.
pub(crate) const MODELS: (&str, &[&str]) = ("models", &["id", "settings", "created_at", "changed"]);

impl Store {
    /// All providers, models and routers that people have put in.
    pub async fn vendors(&self) -> Result<VendorRecords, StorageError> {
        let mut tx = self.begin_read(DOING).await?;
        let failed = StorageError::database(DOING);
        let rows = sql("SELECT * FROM providers ORDER BY created_at, name").fetch_all(&mut tx);
        let providers = rows.await.map_err(failed)?;
        let rows = sql("SELECT * FROM models ORDER BY created_at, id").fetch_all(&mut tx);
        let models = rows.await.map_err(StorageError::database(DOING))?;
        Ok(VendorRecords {
            providers: providers.iter().map(read_provider).collect::<Result<_, _>>()?,
            models: models.iter().map(read_model).collect::<Result<_, _>>()?,
            routers: read_routers(&mut tx).await?,
        })
    }
}

/// In the order of [`PROVIDERS`], without the last.
pub(crate) fn provider_values(it: &ProviderRecord) -> Vec<Value> {
    vec![
        (&it.name).into(),
        it.settings.to_string().into(),
        it.secrets.as_ref().map(|sealed| sealed.text.as_str()).into(),
        it.secrets.as_ref().map(|sealed| sealed.key_id.as_str()).into(),
        it.credential_set_at.into(),
        it.created_at.into(),
    ]
}

/// In the order of [`MODELS`], without the last.
pub(crate) fn model_values(it: &ModelRecord) -> Vec<Value> {
    vec![(&it.id).into(), it.settings.to_string().into(), it.created_at.into()]
}

pub(crate) fn settings(row: &Row) -> Result<Json, StorageError> {
    let text = row.string("settings")?;
    serde_json::from_str(&text)
        .map_err(|_| StorageError::Unreadable { column: "settings", value: text })
}

fn read_provider(row: &Row) -> Result<ProviderRecord, StorageError> {
    let secrets = row.string_opt("secrets")?.zip(row.string_opt("secrets_key")?);
    Ok(ProviderRecord {
        name: row.string("name")?,
        settings: settings(row)?,
        secrets: secrets.map(|(text, key_id)| SealedSecrets { text, key_id }),
        credential_set_at: row.moment_opt("credential_set_at")?,
        created_at: row.moment("created_at")?,
        changed: row.count("changed")?,
    })
}

fn read_model(row: &Row) -> Result<ModelRecord, StorageError> {
    Ok(ModelRecord {
        id: row.string("id")?,
        settings: settings(row)?,
        created_at: row.moment("created_at")?,
        changed: row.count("changed")?,
    })
}
