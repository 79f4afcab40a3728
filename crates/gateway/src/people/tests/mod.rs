//! What signing in promises, against a real database.

mod links;
mod own;
mod sessions;
mod sign_in;
mod trail;

use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::{Actor, Role};
use sluice_core::secret::Secret;
use sluice_storage::{
    AuditFilter, MasterKey, PersonRecord, Store, TrailEntry, TrailFilter, TrailKind,
};

use super::*;
use crate::admin::{Admin, AdminError, Invitation, Kind, Which};

/// 2026-11-21, 09:30 in UTC.
const NOW: UnixMillis = UnixMillis(1_795_253_400_000);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const PASSWORD: &str = "correct horse battery staple";
const ADA: &str = "ada@example.org";

struct House {
    _dir: tempfile::TempDir,
    store: Store,
    master_key: MasterKey,
    people: People,
}

impl House {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let master_key = MasterKey::load_or_create(dir.path()).unwrap();
        let people = people(&store, &master_key);
        Self { _dir: dir, store, master_key, people }
    }

    /// One with Ada, the owner, who has a password.
    async fn with_ada() -> Self {
        let house = Self::new().await;
        let token = house.people.welcome(NOW).await.unwrap().unwrap();
        let (people, password) = (&house.people, secret(PASSWORD));
        people.accept_welcome(token.expose(), ADA, &password, &visitor(), NOW).await.unwrap();
        house
    }

    fn admin(&self, now: UnixMillis) -> Admin<'_> {
        self.acting(Actor::CommandLine { user: "root".to_owned() }, now)
    }

    fn acting(&self, actor: Actor, now: UnixMillis) -> Admin<'_> {
        let (store, master_key) = (&self.store, &self.master_key);
        Admin { store, master_key, now, actor, surface: "test" }
    }

    /// Adds somebody with a password.
    async fn add(&self, email: &str, role: Role) -> PersonRecord {
        let wish =
            Invitation { email: email.to_owned(), role: Some(role), ..Invitation::default() };
        let invited = self.admin(NOW).invite(wish).await.unwrap();
        let (token, password) = (invited.token.expose(), secret(PASSWORD));
        self.people.accept_link(token, &password, &visitor(), NOW).await.unwrap().person
    }

    async fn sign_in(
        &self,
        email: &str,
        password: &str,
        now: UnixMillis,
    ) -> Result<SignedIn, PeopleError> {
        self.people.sign_in(email, &secret(password), &visitor(), now).await
    }

    /// Ada's new session.
    async fn session(&self, now: UnixMillis) -> (Token, Session) {
        let SignedIn::Done(begun) = self.sign_in(ADA, PASSWORD, now).await.unwrap() else {
            panic!("a code is asked for")
        };
        let session = self.people.session(begun.token.expose(), now).await.unwrap().unwrap();
        (begun.token, session)
    }

    /// How many passwords were hashed or compared.
    fn hashes(&self) -> usize {
        self.people.passwords.computed.load(std::sync::atomic::Ordering::Relaxed)
    }

    async fn is_signed_in(&self, token: &Token, now: UnixMillis) -> bool {
        self.people.session(token.expose(), now).await.unwrap().is_some()
    }

    /// The verbs of the trail with what each says, the earliest first.
    async fn trail(&self) -> Vec<(String, serde_json::Value)> {
        let kind = Some(TrailKind::Administration);
        let entries = TrailFilter { kind, ..TrailFilter::default() };
        let filter = AuditFilter { entries, ..AuditFilter::default() };
        let mut trail = self.store.audit(&filter).await.unwrap();
        trail.reverse();
        let entries = trail.into_iter().map(|chained| match chained.entry {
            TrailEntry::Administration(entry) => {
                let entry = *entry;
                (entry.verb.clone(), serde_json::to_value(entry).unwrap())
            }
            TrailEntry::Request(_) => panic!("a request"),
        });
        entries.collect()
    }

    async fn verbs(&self) -> Vec<String> {
        self.trail().await.into_iter().map(|(verb, _)| verb).collect()
    }
}

fn people(store: &Store, master_key: &MasterKey) -> People {
    let cost = PasswordCost { memory_kib: 64, passes: 1 };
    People::new(store.clone(), master_key.clone(), PeopleSettings { cost, ..Default::default() })
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

fn visitor() -> Visitor {
    at_address(7)
}

fn at_address(last: u8) -> Visitor {
    let address = std::net::IpAddr::from([192, 0, 2, last]);
    Visitor::new(Some(address), Some("Mozilla/5.0"))
}

fn which(email: &str) -> Which {
    Which::new(Kind::Person, email)
}

/// Somebody's authenticator.
struct Authenticator(Vec<u8>);

impl Authenticator {
    /// From what the page shows.
    fn of(setup: &CodeSetup) -> Self {
        const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let (mut bits, mut held, mut bytes) = (0_u64, 0, Vec::new());
        for c in setup.secret.expose().chars() {
            bits = bits << 5 | u64::try_from(ALPHABET.find(c).unwrap()).unwrap();
            held += 5;
            if held >= 8 {
                held -= 8;
                bytes.push(u8::try_from(bits >> held & 255).unwrap());
            }
        }
        Self(bytes)
    }

    fn code(&self, now: UnixMillis) -> String {
        codes::code_at(&self.0, now.seconds() / 30)
    }
}
