//! When each key was last used.
//!
//! The ingester keeps one row a key, so that a list of keys does not have to search the records, and
//! so that keys in zero-retention mode, which have no records, are in it. Of their uses only the
//! quarter of an hour is known.

use std::collections::{BTreeMap, HashMap, HashSet};

use sluice_core::clock::UnixMillis;
use sluice_core::ids::KeyId;

use crate::database::{Transaction, insert_many, sql};
use crate::error::StorageError;
use crate::master_key::MasterKey;
use crate::open::Store;

/// The latest use of each key in a batch.
#[derive(Debug, Default)]
pub(crate) struct UseAdditions(BTreeMap<KeyId, UnixMillis>);

impl UseAdditions {
    /// Notes a use.
    pub(crate) fn note(&mut self, key_id: &KeyId, at: UnixMillis) {
        match self.0.get_mut(key_id) {
            Some(last) => *last = at.max(*last),
            None => {
                self.0.insert(key_id.clone(), at);
            }
        }
    }

    /// Writes them to the database; an earlier use than the one that is there changes nothing.
    pub(crate) async fn store(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        let rows = self.0.iter().map(|(key_id, at)| vec![key_id.as_str().into(), (*at).into()]);
        insert_many(
            tx,
            ("key_uses", &["key_id", "last_used_at"]),
            " ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at \
             WHERE key_uses.last_used_at < excluded.last_used_at",
            rows.collect(),
            |_, _| {},
        )
        .await
        .map_err(StorageError::database("note when keys were used"))
    }
}

impl Store {
    /// When each of these keys was last used, for people who look; without those that never were,
    /// and without what is still in the journal.
    pub async fn last_uses_of(
        &self,
        keys: &[&KeyId],
    ) -> Result<HashMap<KeyId, UnixMillis>, StorageError> {
        const DOING: &str = "read when keys were used";
        /// Beyond that, all are read at once.
        const MANY: usize = 100;
        let mut statement = sql("SELECT key_id, last_used_at FROM key_uses");
        if keys.len() <= MANY {
            statement.push(" WHERE key_id IN (NULL");
            for key in keys {
                statement.push(", ");
                statement.push_bind(key.as_str());
            }
            statement.push(")");
        }
        let wanted: HashSet<&KeyId> = keys.iter().copied().collect();
        let mut uses = HashMap::with_capacity(keys.len());
        for row in self.read(statement, DOING).await? {
            let key: KeyId = row.text("key_id")?;
            if wanted.contains(&key) {
                uses.insert(key, row.moment("last_used_at")?);
            }
        }
        Ok(uses)
    }

    /// When each key was last used; without those that never were. What is still in the journal
    /// counts, too.
    pub async fn last_uses(
        &self,
        key: &MasterKey,
    ) -> Result<HashMap<KeyId, UnixMillis>, StorageError> {
        let mut uses = HashMap::new();
        let mut note = |key_id: KeyId, at: UnixMillis| {
            let last = uses.entry(key_id).or_insert(at);
            *last = at.max(*last);
        };
        let tail = self.journal_tail(key).await?;
        tail.usage.into_iter().for_each(|record| note(record.key_id, record.started_at));
        for sum in tail.sums {
            let at = sum.moment();
            note(sum.key_id, at);
        }
        let rows = sql("SELECT key_id, last_used_at FROM key_uses")
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database("read when keys were used"))?;
        for row in &rows {
            note(row.text("key_id")?, row.moment("last_used_at")?);
        }
        Ok(uses)
    }
}
