//! All keys that may ask, in memory: recognising one never waits for a database.
//!
//! A hundred thousand keys are kept as their records. What a request needs of one, its
//! [`Principal`], is made when the key is first presented. A change costs what it touches: a key's
//! is written into one of some hundred parts, and one of what keys belong to (an account, a team, a
//! person, the configuration) begins a new generation, in which every principal is made anew when
//! its key is presented next.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::KeyId;
use sluice_core::organisation::Actor;
use sluice_storage::{
    KeyHash, KeyRecord, Known, Life, Organisation, Record, SecretRecord, SubjectKind, TeamRecord,
};

use crate::admin::permissions::{Rights, Verb};
use crate::admin::{is_due, is_due_alone};
use crate::limits::Counted;
use crate::own;
use crate::principal::{Principal, Unrecognised};
use crate::snapshot::Rules;

/// Parts of the directory. A change copies one of them.
const PARTS: usize = 256;

/// All keys that may ask, by the hashes of their secrets.
pub(crate) struct Directory {
    /// Hashes are keyed and compared in constant time: a look-up tells nothing about other keys.
    parts: Box<[ArcSwap<Part>]>,
    /// Moves whenever principals have to be made anew.
    generation: AtomicU64,
    /// What keys belong to.
    organisation: RwLock<Organisation>,
    /// Held by whoever writes.
    writing: Mutex<Writing>,
}

type Part = HashMap<KeyHash, Arc<Entry>>;

#[derive(Default)]
struct Writing {
    /// The number of changes so far.
    version: u64,
    keys: HashMap<KeyId, Arc<KeyRecord>>,
}

/// A secret of a key.
struct Entry {
    key: Arc<KeyRecord>,
    secret: SecretRecord,
    made: ArcSwapOption<Made>,
}

/// A principal, and the generation that it is of.
struct Made {
    generation: u64,
    principal: Arc<Principal>,
}

impl Default for Directory {
    fn default() -> Self {
        Self {
            parts: (0..PARTS).map(|_| ArcSwap::default()).collect(),
            generation: AtomicU64::new(0),
            organisation: RwLock::default(),
            writing: Mutex::default(),
        }
    }
}

impl Directory {
    /// Takes over all keys and what they belong to.
    pub(crate) fn replace(&self, known: Known) {
        let mut writing = self.lock();
        *self.organisation.write().unwrap_or_else(PoisonError::into_inner) = known.organisation;
        let mut parts: Vec<Part> = (0..PARTS).map(|_| Part::default()).collect();
        writing.version = known.version;
        writing.keys = HashMap::with_capacity(known.keys.len());
        for key in known.keys {
            let key = Arc::new(key);
            for (hash, entry) in entries(&key) {
                parts[hash.part(PARTS)].insert(hash, entry);
            }
            writing.keys.insert(key.id.clone(), key);
        }
        for (place, part) in self.parts.iter().zip(parts) {
            place.store(Arc::new(part));
        }
        self.renew();
    }

    /// Takes over what has changed.
    pub(crate) fn change(&self, changed: Known) {
        let mut writing = self.lock();
        let organisation = changed.organisation;
        writing.version = changed.version;
        // Nobody is made of keys as they were and an organisation as it is, or the other way round: a
        // key that left a team before that was removed would look as if it were of that team.
        let mut kept = self.organisation.write().unwrap_or_else(PoisonError::into_inner);
        let is_felt = concerns_principals(&kept, &organisation);
        kept.take_over(organisation);
        self.put(&mut writing, changed.keys);
        if is_felt {
            self.renew();
        }
    }

    /// Adds a key that was read at `version`, and what it belongs to. `false`: the directory has
    /// moved on since, so that what was read may be old; nothing changes.
    pub(crate) fn add(&self, version: u64, key: &KeyRecord, around: &Organisation) -> bool {
        let mut writing = self.lock();
        if writing.version != version {
            return false;
        }
        let mut kept = self.organisation.write().unwrap_or_else(PoisonError::into_inner);
        add_missing(&mut kept.accounts, &around.accounts);
        add_missing(&mut kept.departments, &around.departments);
        add_missing(&mut kept.teams, &around.teams);
        add_missing(&mut kept.people, &around.people);
        add_missing(&mut kept.services, &around.services);
        kept.budgets.take_over(around.budgets.clone());
        kept.policies.take_over(around.policies.clone());
        kept.provider_keys.take_over(around.provider_keys.clone());
        drop(kept);
        self.put(&mut writing, [key.clone()]);
        true
    }

    /// The number of changes that it has taken over.
    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// How many keys have a secret of so many days or older, and may be rotated by somebody.
    pub(crate) fn due_for_rotation(&self, actor: &Actor, days: u64, now: UnixMillis) -> u64 {
        let due: Vec<Arc<KeyRecord>> = {
            let writing = self.lock();
            let is_due = |key: &&Arc<KeyRecord>| is_due_alone(key, days, now);
            writing.keys.values().filter(is_due).cloned().collect()
        };
        let organisation = self.organisation.read().unwrap_or_else(PoisonError::into_inner);
        let rights = Rights::of(actor, &organisation);
        let may = |key: &KeyRecord| {
            is_due(key, &organisation, days, now)
                && rights.allow(Verb::RotateKey, &Record::Key(key.clone()), &organisation)
        };
        due.iter().filter(|key| may(key)).count() as u64
    }

    /// What is counted by these rules, without making a principal of each key.
    pub(crate) fn counted(&self, rules: &Rules) -> Counted {
        let mut counted = Counted::default();
        // What people ask on pages has no key here.
        for class in own::CLASSES {
            counted.add(SubjectKind::Key, &rules.class_allowances(class));
        }
        for key in self.lock().keys.values() {
            counted.add(SubjectKind::Key, &rules.key_allowances(key));
        }
        let organisation = self.organisation.read().unwrap_or_else(PoisonError::into_inner);
        for account in organisation.accounts.values() {
            counted.add(SubjectKind::Account, &rules.account_allowances(account));
        }
        counted.add_budgets(organisation.budgets.iter().filter(|budget| budget.is_there()));
        counted
    }

    /// What `look` finds in what keys belong to.
    pub(crate) fn with_organisation<T>(&self, look: impl FnOnce(&Organisation) -> T) -> T {
        look(&self.organisation.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on, principals are made anew.
    pub(crate) fn renew(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Whether somebody presents a key with this hash.
    pub(crate) fn holds(&self, hash: &KeyHash) -> bool {
        self.parts[hash.part(PARTS)].load().contains_key(hash)
    }

    /// Who presents the key with this hash, at `now`; `make` makes a principal of what is known.
    pub(crate) fn recognise(
        &self,
        hash: &KeyHash,
        now: UnixMillis,
        make: impl FnOnce(&Arc<KeyRecord>, &SecretRecord, &Organisation) -> Option<Principal>,
    ) -> Result<Arc<Principal>, Unrecognised> {
        let part = self.parts[hash.part(PARTS)].load();
        let entry = part.get(hash).ok_or(Unrecognised::Unknown)?;
        // Read before anything is made: what changes meanwhile makes it old.
        let generation = self.generation.load(Ordering::Acquire);
        let made = entry.made.load();
        let principal = match &*made {
            Some(made) if made.generation == generation => made.principal.clone(),
            _ => {
                let organisation = self.organisation.read().unwrap_or_else(PoisonError::into_inner);
                let principal = make(&entry.key, &entry.secret, &organisation);
                let principal = Arc::new(principal.ok_or(Unrecognised::Unknown)?);
                let made = Made { generation, principal: principal.clone() };
                entry.made.store(Some(Arc::new(made)));
                principal
            }
        };
        match principal.expires_at() {
            Some(expires_at) if expires_at <= now => {
                Err(Unrecognised::Expired(expires_at.to_rfc3339()))
            }
            _ => Ok(principal),
        }
    }

    /// Puts keys in the place of what was known of them. A secret that goes on working is there at
    /// every moment, and each part is copied once.
    fn put(&self, writing: &mut Writing, keys: impl IntoIterator<Item = KeyRecord>) {
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        let mut part_of = |hash: &KeyHash, write: &mut dyn FnMut(&mut Part)| {
            let place = hash.part(PARTS);
            write(parts.entry(place).or_insert_with(|| Part::clone(&self.parts[place].load())));
        };
        for key in keys {
            let key = Arc::new(key);
            if let Some(old) = writing.keys.insert(key.id.clone(), key.clone()) {
                for secret in &old.secrets {
                    part_of(&secret.hash, &mut |part| drop(part.remove(&secret.hash)));
                }
            }
            for (hash, entry) in entries(&key) {
                part_of(&hash, &mut |part| drop(part.insert(hash, entry.clone())));
            }
        }
        for (place, part) in parts {
            self.parts[place].store(Arc::new(part));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a principal may be another one after the change. Names are only part of what it tells, and
/// what is new has no keys yet.
fn concerns_principals(kept: &Organisation, changed: &Organisation) -> bool {
    fn differ<I: Eq + Hash, T>(
        kept: &HashMap<I, T>,
        changed: &HashMap<I, T>,
        differs: impl Fn(&T, &T) -> bool,
    ) -> bool {
        changed.iter().any(|(id, new)| kept.get(id).is_some_and(|old| differs(old, new)))
    }
    let life = |old: &Life, new: &Life| {
        (&old.suspended, old.removed_at) != (&new.suspended, new.removed_at)
    };
    let team = |old: &TeamRecord, new: &TeamRecord| {
        old.department_id != new.department_id || life(&old.life, &new.life)
    };
    !changed.budgets.is_empty()
        || !changed.policies.is_empty()
        || !changed.provider_keys.is_empty()
        || differ(&kept.accounts, &changed.accounts, PartialEq::ne)
        || differ(&kept.departments, &changed.departments, |old, new| life(&old.life, &new.life))
        || differ(&kept.teams, &changed.teams, team)
        || differ(&kept.people, &changed.people, |old, new| life(&old.life, &new.life))
        || differ(&kept.services, &changed.services, |old, new| life(&old.life, &new.life))
}

/// What is known already may be newer than what was just read.
fn add_missing<I: Clone + Eq + Hash, T: Clone>(kept: &mut HashMap<I, T>, read: &HashMap<I, T>) {
    for (id, record) in read {
        kept.entry(id.clone()).or_insert_with(|| record.clone());
    }
}

/// The secrets of a key that may be presented, by their hashes.
fn entries(key: &Arc<KeyRecord>) -> impl Iterator<Item = (KeyHash, Arc<Entry>)> {
    let works = |secret: &&SecretRecord| key.revoked_at.is_none() && secret.revoked_at.is_none();
    key.secrets.iter().filter(works).map(|secret| {
        let made = ArcSwapOption::empty();
        let entry = Entry { key: key.clone(), secret: secret.clone(), made };
        (secret.hash, Arc::new(entry))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sluice_core::organisation::Role;
    use sluice_storage::{PersonRecord, Suspension};

    use super::*;
    use crate::testing::{NOW, hasher, principal};

    fn key(secrets: &[&str]) -> KeyRecord {
        let hasher = hasher();
        let of = KeyRecord::clone(&principal().key);
        let secret =
            |text: &&str| SecretRecord { hash: hasher.hash(text), ..of.secrets[0].clone() };
        KeyRecord { secrets: secrets.iter().map(secret).collect(), ..of }
    }

    fn known(version: u64, keys: Vec<KeyRecord>) -> Known {
        let organisation = Organisation::of_accounts([principal().account]);
        Known { version, keys, organisation }
    }

    fn changed(version: u64, keys: Vec<KeyRecord>) -> Known {
        Known { version, keys, organisation: Organisation::default() }
    }

    /// The name of whoever presents `text`.
    fn named(directory: &Directory, text: &str, at: UnixMillis) -> Result<String, Unrecognised> {
        let hash = hasher().hash(text);
        let made = directory.recognise(&hash, at, |key, secret, organisation| {
            let account = organisation.accounts.get(&key.account_id)?.clone();
            Some(Principal { key: key.clone(), secret: secret.clone(), account, ..principal() })
        });
        made.map(|it| format!("{} of {}", it.key.name, it.account.name))
    }

    #[test]
    fn a_change_replaces_what_it_touches() {
        let directory = Directory::default();
        assert_eq!(named(&directory, "a", NOW), Err(Unrecognised::Unknown));
        directory.replace(known(1, vec![key(&["a"])]));
        let first = named(&directory, "a", NOW).unwrap();

        // A rotation adds a secret; later the first one is gone.
        directory.change(changed(2, vec![key(&["a", "b"])]));
        assert_eq!(named(&directory, "b", NOW).as_ref(), Ok(&first));
        directory.change(changed(3, vec![key(&["b"])]));
        assert_eq!(named(&directory, "a", NOW), Err(Unrecognised::Unknown));

        let renamed = KeyRecord { name: "renamed".to_owned(), ..key(&["b"]) };
        directory.change(changed(4, vec![renamed]));
        assert!(named(&directory, "b", NOW).unwrap().starts_with("renamed"));

        let mut organisation = Organisation::of_accounts([principal().account]);
        for account in organisation.accounts.values_mut() {
            account.name = "another".to_owned();
        }
        directory.change(Known { version: 5, keys: Vec::new(), organisation });
        assert_eq!(named(&directory, "b", NOW).unwrap(), "renamed of another");

        let revoked = KeyRecord { revoked_at: Some(NOW), ..key(&["b"]) };
        directory.change(changed(6, vec![revoked]));
        assert_eq!(named(&directory, "b", NOW), Err(Unrecognised::Unknown));
        assert_eq!(directory.version(), 6);
    }

    #[test]
    fn a_secret_ends_before_its_key() {
        let directory = Directory::default();
        let end = NOW.plus(Duration::from_secs(60));
        let mut ending = key(&["a", "b"]);
        ending.secrets[0].expires_at = Some(end);
        directory.replace(known(1, vec![ending]));
        assert!(named(&directory, "a", NOW).is_ok());
        assert!(matches!(named(&directory, "a", end), Err(Unrecognised::Expired(_))));
        assert!(named(&directory, "b", end).is_ok());
    }

    #[test]
    fn a_secret_that_goes_on_working_is_there_at_every_moment() {
        let directory = Directory::default();
        directory.replace(known(1, vec![key(&["a"])]));
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for version in 2..3_000 {
                    let secrets: &[&str] = if version % 2 == 0 { &["a", "b"] } else { &["a"] };
                    directory.change(changed(version, vec![key(secrets)]));
                }
                done.store(true, Ordering::Release);
            });
            let hash = hasher().hash("a");
            while !done.load(Ordering::Acquire) {
                assert!(directory.holds(&hash));
            }
        });
    }

    #[test]
    fn principals_are_made_anew_only_where_they_change() {
        let person = |email: &str, suspended| PersonRecord {
            id: "per_1".into(),
            account_id: "acc_1".into(),
            email: email.to_owned(),
            name: None,
            role: Role::Developer,
            operator: false,
            teams: Vec::new(),
            life: Life { suspended, ..Life::from(NOW) },
        };
        let of = |person: PersonRecord| Organisation {
            people: HashMap::from([(person.id.clone(), person)]),
            ..Organisation::default()
        };
        let directory = Directory::default();
        let mut first = known(1, vec![key(&["a"])]);
        first.organisation.people = of(person("ada@example.org", None)).people;
        directory.replace(first);
        let made = || {
            let hash = hasher().hash("a");
            directory.recognise(&hash, NOW, |_, _, _| Some(principal())).unwrap()
        };
        let before = made();
        let why = Some(Suspension { at: NOW, reason: "leave".to_owned() });
        for (version, person, is_same) in [
            (2, person("countess@example.org", None), true),
            (3, person("countess@example.org", why), false),
        ] {
            directory.change(Known { version, keys: Vec::new(), organisation: of(person) });
            assert_eq!(Arc::ptr_eq(&made(), &before), is_same);
        }
    }

    /// What was looked up may have been revoked before the directory learnt of it.
    #[test]
    fn what_was_read_before_the_directory_moved_on_is_not_added() {
        let directory = Directory::default();
        directory.replace(known(1, Vec::new()));
        let around = Organisation::of_accounts([principal().account]);
        directory.change(changed(2, Vec::new()));
        assert!(!directory.add(1, &key(&["a"]), &around));
        assert_eq!(named(&directory, "a", NOW), Err(Unrecognised::Unknown));
        assert!(directory.add(2, &key(&["a"]), &around));
        assert!(named(&directory, "a", NOW).is_ok());
    }

    #[test]
    fn a_thousand_keys_are_found() {
        let directory = Directory::default();
        let names: Vec<String> = (0..1_000).map(|i| i.to_string()).collect();
        let keys = names.iter().map(|name| KeyRecord { id: (&**name).into(), ..key(&[name]) });
        directory.replace(known(1, keys.collect()));
        assert!(names.iter().all(|name| named(&directory, name, NOW).is_ok()));
    }
}
