//! What administration promises, against a real database.

mod budgets;
mod door;
mod file;
mod people;
mod vendors;

use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_core::key::{AccountTier, KeyClass};
use sluice_core::organisation::Actor;
use sluice_core::region::Region;
use sluice_routing::catalog::Catalog;
use sluice_storage::{AccountRecord, KeyRecord, MasterKey, Store};

use super::*;
use crate::service_key::ServiceKey;

/// 2026-11-21, 09:30 in UTC.
const NOW: UnixMillis = UnixMillis(1_795_253_400_000);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct House {
    _dir: tempfile::TempDir,
    store: Store,
    master_key: MasterKey,
}

impl House {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master_key = MasterKey::load_or_create(dir.path()).unwrap();
        Self { _dir: dir, store, master_key }
    }

    fn at(&self, now: UnixMillis) -> Admin<'_> {
        self.acting(Actor::CommandLine { user: "ada".to_owned() }, now)
    }

    fn file(&self) -> Admin<'_> {
        self.acting(Actor::File, NOW)
    }

    fn acting(&self, actor: Actor, now: UnixMillis) -> Admin<'_> {
        let (store, master_key) = (&self.store, &self.master_key);
        Admin { store, master_key, now, actor, surface: "test" }
    }
}

fn wish() -> NewKey {
    NewKey::named("ci", KeyClass::Production)
}

#[tokio::test]
async fn a_new_key_belongs_to_the_default_account_and_only_its_hash_is_kept() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let created = admin.create_key(wish(), None).await.unwrap();
    let account = admin.default_account().await.unwrap();
    assert_eq!((account.tier, account.name.as_str()), (AccountTier::Highest, "default"));
    assert_eq!(admin.accounts().await.unwrap().len(), 1, "made once");
    assert_eq!(created.record.account_id, account.id);

    let kept = admin.keys().await.unwrap().remove(0);
    assert_eq!(kept, created.record);
    assert_eq!(kept.secrets[0].hash, house.master_key.key_hasher().hash(created.key.expose()));
    let everything = std::fs::read_dir(house.store.data_dir()).unwrap();
    for file in everything.map(|item| item.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        let secret = &created.key.expose().as_bytes()[12..];
        assert!(!bytes.windows(secret.len()).any(|it| it == secret), "{}", file.display());
    }
}

#[tokio::test]
async fn wishes_that_make_no_sense_are_refused_with_the_fix() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let cases = [
        (NewKey { name: "  ".to_owned(), ..wish() }, "1 to 100 characters"),
        (NewKey { name: "a\nb".to_owned(), ..wish() }, "line breaks"),
        (NewKey { expires_at: Some(NOW), ..wish() }, "not in the future"),
        (NewKey { requests_per_hour: Some(0), ..wish() }, "requests_per_hour is 0"),
        (NewKey { tokens_per_day: Some(0), ..wish() }, "tokens_per_day is 0"),
        (NewKey { models: Some(vec![]), ..wish() }, "list of models is empty"),
        (NewKey { models: Some(vec!["gpt-9".to_owned()]), ..wish() }, "no model \"gpt-9\""),
        (NewKey { regions: Some(vec![]), ..wish() }, "list of regions is empty"),
        (
            NewKey {
                regions: Some(vec![Region::UsEast, Region::UsWest]),
                region: Some(Region::EuWest),
                ..wish()
            },
            "eu-west is not among the allowed regions us-east, us-west",
        ),
        (NewKey { account: Some("nobody".to_owned()), ..wish() }, "no account \"nobody\""),
    ];
    for (wish, message) in cases {
        let error = admin.create_key(wish, Some(&Catalog::default())).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(admin.keys().await.unwrap().is_empty());
    let mut unknown = wish();
    unknown.models = Some(vec!["gpt-9".to_owned()]);
    admin.create_key(unknown, None).await.expect("nobody can say without a catalogue");
}

#[tokio::test]
async fn a_key_is_found_by_id_first_characters_and_by_itself() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let first = admin.create_key(wish(), None).await.unwrap();
    let second = admin.create_key(wish(), None).await.unwrap();
    let shown = format!("{}…", first.record.prefix());
    for text in [first.record.id.as_str(), first.record.prefix(), &shown, first.key.expose()] {
        assert_eq!(admin.key(text).await.unwrap(), first.record, "{text}");
    }
    let stranger = ServiceKey::generate().unwrap();
    for text in ["", "svc_ent_", "key_", stranger.expose(), "svc_ent_-"] {
        let error = admin.key(text).await.unwrap_err();
        assert!(matches!(error, AdminError::NoSuchKey), "{text}: {error}");
    }

    // Both have the name.
    let error = admin.key("ci").await.unwrap_err().to_string();
    assert!(error.contains("2 keys fit") && error.contains(second.record.id.as_str()), "{error}");
}

#[tokio::test]
async fn a_rotated_key_stays_itself_and_is_found_by_each_of_its_secrets() {
    let house = House::new().await;
    let wish = NewKey {
        models: Some(vec!["m".to_owned()]),
        expires_at: Some(NOW.plus(90 * DAY)),
        ..wish()
    };
    let created = house.at(NOW).create_key(wish, None).await.unwrap();
    let later = NOW.plus(80 * DAY);
    let admin = house.at(later);
    let rotation = admin.rotate_key(created.record.id.as_str(), DEFAULT_GRACE).await.unwrap();

    let new = &rotation.new.record;
    assert_ne!(rotation.new.key, created.key);
    let expected = KeyRecord { secrets: new.secrets.clone(), ..created.record.clone() };
    assert_eq!(*new, expected, "nothing else has changed, and not its end");
    assert_eq!(new.secrets[0].expires_at, Some(later.plus(DAY)));
    assert_eq!((new.secrets[1].created_at, new.secrets[1].expires_at), (later, None));
    let (old_secret, new_secret) = (created.key.expose(), rotation.new.key.expose());
    for text in [old_secret, new_secret, &old_secret[..12], &new_secret[..12]] {
        assert_eq!(admin.key(text).await.unwrap(), *new);
    }

    // A third secret would leave nobody knowing which is in use; without grace there is none.
    let error = admin.rotate_key(new.id.as_str(), DAY).await.unwrap_err().to_string();
    assert!(error.contains("two secrets") && error.contains("without grace"), "{error}");
    let third = admin.rotate_key(new.id.as_str(), Duration::ZERO).await.unwrap().new.record;
    assert_eq!(third.secrets.iter().filter(|it| it.is_valid_at(later)).count(), 1);
    // Once the grace is over, the next rotation has one.
    let next = house.at(later.plus(2 * DAY));
    let fourth = next.rotate_key(new.id.as_str(), 1000 * DAY).await.unwrap();
    assert_eq!(Some(fourth.old_expires_at), fourth.new.record.expires_at, "not beyond its end");
}

/// A shorter life that somebody gave to the key is not lengthened by a rotation.
#[tokio::test]
async fn a_rotation_never_lengthens_the_keys_life() {
    let house = House::new().await;
    let key = house.at(NOW).create_key(wish(), None).await.unwrap().record;
    let admin = house.at(NOW.plus(50 * DAY));
    let end = Some(NOW.plus(51 * DAY));
    let change = KeyChange { expires_at: Some(end), ..KeyChange::default() };
    admin.change_key(key.id.as_str(), change, None).await.unwrap();
    let rotated = admin.rotate_key(key.id.as_str(), DAY).await.unwrap().new.record;
    assert_eq!(rotated.expires_at, end);
}

#[tokio::test]
async fn what_no_longer_works_is_not_rotated() {
    let house = House::new().await;
    let expiring = NewKey { expires_at: Some(NOW.plus(DAY)), ..wish() };
    let expired = house.at(NOW).create_key(expiring, None).await.unwrap().record;
    let revoked = house.at(NOW).create_key(wish(), None).await.unwrap().record;
    let admin = house.at(NOW.plus(2 * DAY));
    admin.revoke_key(revoked.id.as_str()).await.unwrap();
    for (id, state) in [(expired.id, "has expired"), (revoked.id, "was revoked")] {
        let error = admin.rotate_key(id.as_str(), DAY).await.unwrap_err().to_string();
        assert!(error.contains(state), "{error}");
    }
}

#[tokio::test]
async fn revoking_twice_says_so_and_changes_nothing() {
    let house = House::new().await;
    let key = house.at(NOW).create_key(wish(), None).await.unwrap().record;
    let first = house.at(NOW.plus(DAY)).revoke_key(key.id.as_str()).await.unwrap();
    assert!(!first.already);
    let second = house.at(NOW.plus(2 * DAY)).revoke_key(key.id.as_str()).await.unwrap();
    assert!(second.already);
    assert_eq!(second.record.revoked_at, Some(NOW.plus(DAY)));
}

#[tokio::test]
async fn every_change_is_announced() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let mut versions = vec![house.store.change_version().await.unwrap()];
    let key = admin.create_key(wish(), None).await.unwrap().record;
    versions.push(house.store.change_version().await.unwrap());
    let lowest = AccountChange { tier: Some(AccountTier::Lowest), ..AccountChange::default() };
    admin.change_account("default", lowest).await.unwrap();
    versions.push(house.store.change_version().await.unwrap());
    let new = admin.rotate_key(key.id.as_str(), DAY).await.unwrap().new.record;
    versions.push(house.store.change_version().await.unwrap());
    admin.revoke_key(new.id.as_str()).await.unwrap();
    versions.push(house.store.change_version().await.unwrap());
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
}

#[tokio::test]
async fn the_default_account_keeps_its_name() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let account = admin.default_account().await.unwrap();
    let named = |name: &str| AccountChange { name: Some(name.into()), ..AccountChange::default() };
    for which in ["default", account.id.as_str()] {
        let refused = admin.change_account(which, named("team")).await;
        assert!(matches!(refused, Err(AdminError::DefaultKeepsName)));
        admin.change_account(which, named(" default ")).await.unwrap();
    }
    assert_eq!(admin.accounts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn accounts_are_made_once_and_change_tier() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let made =
        admin.create_account(NewAccount::named(" Team ", AccountTier::Lowest)).await.unwrap();
    assert_eq!(made.name, "Team");
    let error = admin.create_account(NewAccount::named("Team", AccountTier::Lowest)).await;
    assert!(error.unwrap_err().to_string().contains("already an account of this name"));
    let change = AccountChange {
        tier: Some(AccountTier::Middle),
        region: Some(Some(Region::EuWest)),
        ..AccountChange::default()
    };
    let changed = admin.change_account(made.id.as_str(), change.clone()).await.unwrap();
    let expected =
        AccountRecord { tier: AccountTier::Middle, region: Some(Region::EuWest), ..made.clone() };
    assert_eq!(changed, expected);
    assert_eq!(admin.account("Team").await.unwrap(), changed);
    let away = AccountChange { region: Some(None), ..AccountChange::default() };
    assert_eq!(admin.change_account("Team", away).await.unwrap().region, None);
    admin.change_account("nobody", change).await.unwrap_err();
    let none = AccountChange { tokens_per_day: Some(Some(0)), ..AccountChange::default() };
    let error = admin.change_account("Team", none).await.unwrap_err().to_string();
    assert!(error.contains("tokens_per_day is 0"), "{error}");
}

#[tokio::test]
async fn a_key_changes_only_in_what_is_named_and_makes_sense() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let made = admin.create_key(wish(), None).await.unwrap();
    let id = made.record.id.as_str();
    let change = KeyChange {
        name: Some(" new ".to_owned()),
        regions: Some(Some(vec![Region::UsEast])),
        tokens_per_day: Some(Some(5)),
        expires_at: Some(Some(NOW.plus(DAY))),
        ..KeyChange::default()
    };
    let changed = admin.change_key(id, change, None).await.unwrap();
    let expected = KeyRecord {
        name: "new".to_owned(),
        regions: Some(vec![Region::UsEast]),
        tokens_per_day: Some(5),
        expires_at: Some(NOW.plus(DAY)),
        ..made.record.clone()
    };
    assert_eq!(changed, expected);
    assert_eq!(admin.key(made.key.expose()).await.unwrap(), expected, "the key itself stays");

    let catalog = Catalog::default();
    let models = Some(Some(vec!["gpt-9".to_owned()]));
    for (change, message) in [
        (KeyChange { models, ..KeyChange::default() }, "no model \"gpt-9\""),
        (
            KeyChange { region: Some(Some(Region::EuWest)), ..KeyChange::default() },
            "eu-west is not among the allowed regions us-east",
        ),
        (KeyChange { expires_at: Some(Some(NOW)), ..KeyChange::default() }, "not in the future"),
        (KeyChange { account: Some("nobody".to_owned()), ..KeyChange::default() }, "no account"),
    ] {
        let error = admin.change_key(id, change, Some(&catalog)).await.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(admin.key(id).await.unwrap(), expected);
    }
    // An expired key can be given another name, and time.
    let later = house.at(NOW.plus(2 * DAY));
    let name = KeyChange { name: Some("old".to_owned()), ..KeyChange::default() };
    later.change_key(id, name, Some(&catalog)).await.unwrap();
    let never = KeyChange { expires_at: Some(None), ..KeyChange::default() };
    assert!(later.change_key(id, never, None).await.unwrap().is_valid_at(later.now));
}
