//! When each model was first served here.

use std::collections::HashMap;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::ModelId;

use crate::database::sql;
use crate::error::StorageError;
use crate::open::Store;

impl Store {
    /// When each model was first served, in seconds since the Unix epoch. Those of `served` that are
    /// not known yet count from `now` on, for good.
    pub async fn models_first_served<'a>(
        &self,
        served: impl IntoIterator<Item = &'a ModelId>,
        now: UnixMillis,
    ) -> Result<HashMap<ModelId, u64>, StorageError> {
        const DOING: &str = "note the models that are served";
        let mut known = self.first_served(DOING).await?;
        let new: Vec<&ModelId> = served.into_iter().filter(|id| !known.contains_key(*id)).collect();
        if new.is_empty() {
            return Ok(known);
        }
        let mut tx = self.begin_write(DOING).await?;
        for id in new {
            sql("INSERT INTO models_first_served (model_id, first_served_at) VALUES ($1, $2) \
                 ON CONFLICT (model_id) DO NOTHING")
            .bind(id.as_str())
            .bind(now.seconds())
            .execute(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?;
            known.insert(id.clone(), now.seconds());
        }
        tx.commit(DOING).await?;
        Ok(known)
    }

    async fn first_served(
        &self,
        doing: &'static str,
    ) -> Result<HashMap<ModelId, u64>, StorageError> {
        let rows = sql("SELECT model_id, first_served_at FROM models_first_served")
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(doing))?;
        rows.iter().map(|row| Ok((row.text("model_id")?, row.count("first_served_at")?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_time_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (early, late) = (UnixMillis(1_700_000_000_000), UnixMillis(1_800_000_000_000));
        let (a, b) = (ModelId::from("a"), ModelId::from("b"));
        let store = Store::open(dir.path()).await.unwrap();
        let known = store.models_first_served([&a], early).await.unwrap();
        assert_eq!(known, HashMap::from([(a.clone(), early.seconds())]));
        store.close().await;

        let store = Store::open(dir.path()).await.unwrap();
        let known = store.models_first_served([&b, &a], late).await.unwrap();
        let expected = HashMap::from([(a, early.seconds()), (b, late.seconds())]);
        assert_eq!(known, expected);
        // A model that is gone for a while is not forgotten.
        assert_eq!(store.models_first_served([], late).await.unwrap(), expected);
    }
}
