//! Keys and organisation as they were last read, kept until something changes: every page asks who
//! may see what, and a company of a thousand keys takes milliseconds to read.
//!
//! [`Store::change_version`] says whether they still are as they were. If not, what has changed since
//! is read and put in its place; nothing is ever deleted, so that nothing is missed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sluice_core::ids::KeyId;

use crate::changes;
use crate::error::StorageError;
use crate::keys::{self, KeyRecord};
use crate::open::Store;
use crate::organisation::{self, Organisation, Which};

/// Both, each with the number of changes that it has. They are kept apart: who asks for the
/// organisation need not read all keys.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    organisation: Mutex<Option<(u64, Arc<Organisation>)>>,
    keys: Mutex<Option<(u64, Arc<Vec<KeyRecord>>)>>,
}

impl Store {
    /// Accounts and everything in them but keys.
    pub async fn organisation(&self) -> Result<Arc<Organisation>, StorageError> {
        Ok(self.organisation_and_version().await?.1)
    }

    /// The same, after the number of changes that it has.
    pub async fn organisation_and_version(&self) -> Result<(u64, Arc<Organisation>), StorageError> {
        const DOING: &str = "read the organisation";
        let kept = get(&self.kept().organisation);
        if let Some(kept) = &kept
            && kept.0 == self.change_version().await?
        {
            return Ok(kept.clone());
        }
        let mut tx = self.begin_read(DOING).await?;
        let version = changes::version(&mut tx, DOING).await?;
        let which = kept.as_ref().map_or(Which::All, |(since, _)| Which::ChangedSince(*since));
        let read = organisation::read_organisation(&mut tx, which, DOING).await?;
        let mut organisation = kept.map(|(_, kept)| kept).unwrap_or_default();
        Arc::make_mut(&mut organisation).take_over(read);
        Ok(keep(&self.kept().organisation, version, organisation))
    }

    /// All keys, also those that no longer work, in the order of their creation.
    pub async fn keys(&self) -> Result<Arc<Vec<KeyRecord>>, StorageError> {
        const DOING: &str = "list the keys";
        let kept = get(&self.kept().keys);
        if let Some((version, keys)) = &kept
            && *version == self.change_version().await?
        {
            return Ok(keys.clone());
        }
        let mut tx = self.begin_read(DOING).await?;
        let version = changes::version(&mut tx, DOING).await?;
        let which = kept.as_ref().map_or(Which::All, |(since, _)| Which::ChangedSince(*since));
        let read = keys::read_all(&mut tx, which, DOING).await?;
        let mut keys = kept.map(|(_, kept)| kept).unwrap_or_default();
        replace(Arc::make_mut(&mut keys), read);
        Ok(keep(&self.kept().keys, version, keys).1)
    }
}

/// Puts keys in the place of what was known of them.
fn replace(kept: &mut Vec<KeyRecord>, read: Vec<KeyRecord>) {
    if kept.is_empty() {
        *kept = read;
        return;
    }
    let mut changed: HashMap<KeyId, KeyRecord> =
        read.into_iter().map(|key| (key.id.clone(), key)).collect();
    for key in kept.iter_mut() {
        if let Some(now) = changed.remove(&key.id) {
            *key = now;
        }
    }
    kept.extend(changed.into_values());
    kept.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
}

fn get<T>(place: &Mutex<Option<(u64, Arc<T>)>>) -> Option<(u64, Arc<T>)> {
    place.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Keeps it, unless somebody has kept a later one meanwhile.
fn keep<T>(place: &Mutex<Option<(u64, Arc<T>)>>, version: u64, read: Arc<T>) -> (u64, Arc<T>) {
    let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some((later, _)) if *later > version => {}
        _ => *kept = Some((version, read.clone())),
    }
    (version, read)
}
