//! Providers and models: written where they are as they were read, noted, and nothing of a secret to
//! be seen.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use common::{change_vendors, places, put_vendors};
use sluice_core::secret::Secret;
use sluice_storage::{
    AuditFilter, Item, MasterKey, ProviderRecord, SealedSecrets, StorageError, TrailEntry,
};

#[tokio::test]
async fn what_is_not_as_it_was_read_is_not_written() {
    for place in places() {
        let (store, master) = place.open().await;
        let before = store.change_version().await.unwrap();
        put_vendors(&store, &master).await;
        assert_eq!(store.change_version().await.unwrap(), before + 2, "a server notices");
        let read = store.vendors().await.unwrap();
        let provider = read.providers[0].clone();
        let as_read = Item::Provider(provider.clone());
        let same = change_vendors(&store, &master, None, Some(as_read.clone())).await;
        assert!(matches!(same, Err(StorageError::Exists { what: "a provider of this name" })));

        let secrets = SealedSecrets::seal(&master, "lab", &Secret::new("sk-2".into())).unwrap();
        let new = ProviderRecord { secrets: Some(secrets), ..provider };
        let new = Some(Item::Provider(new));
        change_vendors(&store, &master, Some(as_read.clone()), new.clone()).await.unwrap();
        for what in [new, None] {
            let late = change_vendors(&store, &master, Some(as_read.clone()), what).await;
            assert!(matches!(late, Err(StorageError::ChangedMeanwhile)), "{late:?}");
        }
        let now = store.vendors().await.unwrap();
        let opened = now.providers[0].secrets.as_ref().unwrap().open(&master, "lab");
        assert_eq!(opened.unwrap().expose(), "sk-2");
        let elsewhere = tempfile::tempdir().unwrap();
        let other = MasterKey::load_or_create(elsewhere.path()).unwrap();
        assert!(now.providers[0].secrets.as_ref().unwrap().open(&other, "lab").is_none());
        assert!(!format!("{now:?}").contains("a1."), "what is sealed is not printed either");

        let gone = Some(Item::Provider(now.providers[0].clone()));
        change_vendors(&store, &master, gone, None).await.unwrap();
        let left = store.vendors().await.unwrap();
        assert_eq!((left.providers.len(), left.models.len()), (0, 1));

        let trail = store.audit(&AuditFilter::default()).await.unwrap();
        let last = trail.iter().find_map(|it| match &it.entry {
            TrailEntry::Administration(entry) => Some(entry),
            TrailEntry::Request(_) => None,
        });
        let last = last.unwrap();
        assert_eq!((last.subject.as_str(), last.account_id.as_str()), ("provider:lab", "a1"));
        assert_eq!(last.before.as_ref().unwrap()["settings"]["kind"], "openai");
        assert!(last.after.is_null());
        let said = format!("{trail:?}");
        assert!(!said.contains("sk-") && !said.contains("a1."), "{said}");
        assert_eq!(store.verify_audit(&master, &[]).await.unwrap().broken, None);
    }
}
