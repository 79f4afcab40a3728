//! Keys that the directory does not hold yet, since they were made a moment ago.
//!
//! The directory is read anew about twice a second. A key that is not in it and has the form of one
//! is looked up in the database, so that it works at once. Guessing must cost nothing: one look-up
//! at a time, a few a second in all, each key once, and nobody waits long.

use std::collections::HashSet;
use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_storage::{KeyHash, KeyRecord, Organisation, StorageError, Store};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::directory::Directory;

/// Look-ups in one second.
const LOOK_UPS_A_SECOND: u32 = 20;
/// Longest wait for one, others' included. The directory has a new key soon in any case.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Keys that are remembered not to work.
const MOST_REFUSED: usize = 1_024;

/// Looks up keys that nobody knows.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    /// `None`: nobody is looked up.
    store: Option<Store>,
    looking: Mutex<Looking>,
}

#[derive(Debug, Default)]
struct Looking {
    second: u64,
    used: u32,
    /// Keys that the database does not have, or that are revoked, which is for good.
    refused: HashSet<KeyHash>,
}

impl Newcomers {
    pub(crate) fn of(store: Store) -> Self {
        Self { store: Some(store), looking: Mutex::default() }
    }

    /// Looks the key with this hash up, and puts it into `directory` where it works.
    pub(crate) async fn look_up(&self, hash: &KeyHash, now: UnixMillis, directory: &Directory) {
        let looking = async {
            let Some(store) = &self.store else { return };
            let mut looking = self.looking.lock().await;
            loop {
                let version = directory.version();
                // Whoever came before with the same key has found it.
                if directory.holds(hash) || !looking.may_ask(hash, now) {
                    return;
                }
                match find(store, hash).await {
                    // What was read while the directory moved on may be old: it is read again.
                    Ok(Some((key, around))) if directory.add(version, &key, &around) => return,
                    Ok(Some(_)) => {}
                    Ok(None) => return looking.refuse(hash),
                    // Whoever reads the directory tells the log.
                    Err(_) => return,
                }
            }
        };
        // Who waits in vain is told what the directory says.
        let _ = timeout(LONGEST_WAIT, looking).await;
    }
}

impl Looking {
    /// Whether the database may be asked for this key now; counts as asking.
    fn may_ask(&mut self, hash: &KeyHash, now: UnixMillis) -> bool {
        if self.refused.contains(hash) {
            return false;
        }
        if self.second != now.seconds() {
            (self.second, self.used) = (now.seconds(), 0);
        }
        let may = self.used < LOOK_UPS_A_SECOND;
        self.used += u32::from(may);
        may
    }

    fn refuse(&mut self, hash: &KeyHash) {
        if self.refused.len() >= MOST_REFUSED {
            self.refused.clear();
        }
        self.refused.insert(*hash);
    }
}

/// A key that is not revoked, and what it belongs to.
async fn find(
    store: &Store,
    hash: &KeyHash,
) -> Result<Option<(KeyRecord, Organisation)>, StorageError> {
    let Some(key) = store.key_of_hash(hash).await? else { return Ok(None) };
    let presented = key.secrets.iter().find(|secret| secret.hash == *hash);
    if key.revoked_at.is_some() || presented.is_none_or(|secret| secret.revoked_at.is_some()) {
        return Ok(None);
    }
    let organisation = store.organisation_of(&key).await?;
    Ok(Some((key, organisation)))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use sluice_core::key::KeyClass;
    use sluice_core::organisation::Actor;
    use sluice_storage::MasterKey;

    use super::*;
    use crate::admin::{Admin, CreatedKey, NewKey};
    use crate::gateway::Presented;
    use crate::principal::Unrecognised;
    use crate::service_key::ServiceKey;
    use crate::testing::{House, NOW};

    /// A gateway and its database, in which nothing is known to the gateway yet.
    struct Newly {
        house: House,
        store: Store,
        master_key: MasterKey,
    }

    impl Newly {
        async fn new() -> Self {
            let (house, store) = House::with_store().await;
            let master_key = MasterKey::load_or_create(store.data_dir()).unwrap();
            Self { house, store, master_key }
        }

        fn admin(&self) -> Admin<'_> {
            Admin {
                store: &self.store,
                master_key: &self.master_key,
                now: NOW,
                actor: Actor::Sluice,
                surface: "test",
            }
        }

        async fn make(&self, name: &str) -> CreatedKey {
            let wish = NewKey::named(name, KeyClass::Enterprise);
            self.admin().create_key(wish, None).await.unwrap()
        }

        /// The name of the key that signs in, from an address of its own.
        async fn sign_in(&self, key: &str) -> Result<String, Unrecognised> {
            let authorization = format!("Bearer {key}");
            let presented = Presented {
                authorization: Some(&authorization),
                svc_api_key: None,
                contradictory: None,
            };
            let remote = IpAddr::from(fastrand::u32(..).to_be_bytes());
            let signed_in = self.house.gateway.sign_in(presented, Some(remote)).await;
            signed_in.map(|who| who.key.name.clone()).map_err(|failure| failure.reason)
        }
    }

    fn stranger() -> String {
        ServiceKey::generate().unwrap().expose().to_owned()
    }

    #[tokio::test]
    async fn a_key_that_was_just_made_works_at_once() {
        let newly = Newly::new().await;
        let key = newly.make("new").await.key;
        for _ in 0..2 * LOOK_UPS_A_SECOND {
            assert_eq!(newly.sign_in(key.expose()).await, Ok("new".to_owned()));
        }
        // It was looked up once.
        let other = newly.make("other").await.key;
        assert_eq!(newly.sign_in(other.expose()).await, Ok("other".to_owned()));
    }

    #[tokio::test]
    async fn many_who_come_with_a_new_key_at_once_cost_one_look_up() {
        let newly = Newly::new().await;
        let key = newly.make("new").await.key;
        let all = (0..100).map(|_| newly.sign_in(key.expose()));
        for signed_in in futures_util::future::join_all(all).await {
            assert_eq!(signed_in, Ok("new".to_owned()));
        }
    }

    #[tokio::test]
    async fn a_revoked_key_stays_refused_and_costs_one_look_up() {
        let newly = Newly::new().await;
        let revoked = newly.make("revoked").await;
        newly.admin().revoke_key(revoked.record.id.as_str()).await.unwrap();
        for _ in 0..2 * LOOK_UPS_A_SECOND {
            assert_eq!(newly.sign_in(revoked.key.expose()).await, Err(Unrecognised::Unknown));
        }
        let key = newly.make("new").await.key;
        assert_eq!(newly.sign_in(key.expose()).await, Ok("new".to_owned()));
    }

    #[tokio::test]
    async fn guessing_uses_up_a_seconds_look_ups_and_no_more() {
        let newly = Newly::new().await;
        for _ in 0..LOOK_UPS_A_SECOND {
            assert_eq!(newly.sign_in(&stranger()).await, Err(Unrecognised::Unknown));
        }
        let key = newly.make("new").await.key;
        assert_eq!(newly.sign_in(key.expose()).await, Err(Unrecognised::Unknown));
        // The directory has it soon in any case.
        let known = newly.store.known(None).await.unwrap();
        newly.house.gateway.replace_directory(known);
        assert_eq!(newly.sign_in(key.expose()).await, Ok("new".to_owned()));
    }

    #[test]
    fn a_new_second_has_new_look_ups_and_few_keys_are_remembered() {
        let hasher = MasterKey::load_or_create(tempfile::tempdir().unwrap().path()).unwrap();
        let hash = |text: &str| hasher.key_hasher().hash(text);
        let mut looking = Looking::default();
        for second in 0..3 {
            let now = NOW.plus(Duration::from_secs(second));
            let asked = (0..100).filter(|_| looking.may_ask(&hash("a"), now)).count();
            assert_eq!(asked, LOOK_UPS_A_SECOND as usize);
        }
        for number in 0..=MOST_REFUSED {
            looking.refuse(&hash(&number.to_string()));
        }
        assert_eq!(looking.refused.len(), 1);
        assert!(!looking.may_ask(&hash(&MOST_REFUSED.to_string()), NOW));
    }
}
