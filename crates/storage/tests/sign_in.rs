//! How people sign in, on both databases: what is written reads back, works once, and is there whole
//! or not at all.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::future::Future;
use std::time::Duration;

use common::{NOW, Place, account, places, put};
use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::{Actor, Role};
use sluice_core::secret::Secret;
use sluice_storage::{
    AccountRecord, AuditFilter, Change, Doing, Life, LinkPurpose, LinkRecord, MasterKey,
    PersonRecord, Record, SessionRecord, SignInDeed, SignInStep, StorageError, Store, Suspension,
    TrailEntry, backup, copy, restore,
};

use SignInStep::{
    Begin, End, EndAll, HasNoCodes, HasNoPassword, HasPassword, IsActive, IsOnly, MakeLink,
    RemoveCodes, RemoveLogin, SetCodes, SetPassword, SetRecoveryCodes, UseCode, UseLink,
    UseRecoveryCode,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn person(id: &str) -> PersonRecord {
    PersonRecord {
        id: id.into(),
        account_id: "a1".into(),
        email: format!("{id}@example.org"),
        name: None,
        role: Role::Owner,
        operator: true,
        teams: Vec::new(),
        life: Life::from(NOW),
    }
}

struct House {
    store: Store,
    master: MasterKey,
}

impl House {
    /// With two people, `p1` and `p2`.
    async fn on(place: &Place) -> Self {
        let (store, master) = place.open().await;
        put(&store, &master, None, account("a1")).await.unwrap();
        put(&store, &master, None, person("p1")).await.unwrap();
        put(&store, &master, None, person("p2")).await.unwrap();
        Self { store, master }
    }

    async fn write(&self, steps: Vec<SignInStep>) -> Result<(), StorageError> {
        self.write_with(None, &[], steps).await
    }

    async fn write_with(
        &self,
        judged_at: Option<u64>,
        changes: &[Change],
        steps: Vec<SignInStep>,
    ) -> Result<(), StorageError> {
        let actor = Actor::Person { id: "p1".into() };
        let doing = Doing { at: NOW, actor, surface: "dashboard", judged_at };
        let whom = Some(("p1".into(), "a1".into()));
        let deed = SignInDeed { verb: "test", person: whom, details: json!({ "by": "x" }), steps };
        self.store.administer(&self.master, &doing, changes, &[deed]).await
    }

    async fn refused(&self, steps: Vec<SignInStep>) {
        let before = self.everything().await;
        let refused = self.write(steps).await;
        assert!(matches!(refused, Err(StorageError::ChangedMeanwhile)), "{refused:?}");
        assert_eq!(self.everything().await, before, "nothing of it is there");
    }

    fn link(&self, token: &str, person: Option<&str>) -> LinkRecord {
        LinkRecord {
            hash: self.master.hasher("link").hash(token),
            person_id: person.map(Into::into),
            purpose: if person.is_some() { LinkPurpose::Invite } else { LinkPurpose::Welcome },
            created_at: NOW,
            expires_at: NOW.plus(HOUR),
            used_at: None,
        }
    }

    fn begin(&self, id: &str, person: &str, seen_at: UnixMillis) -> SignInStep {
        let session = SessionRecord {
            id: id.to_owned(),
            person_id: person.into(),
            created_at: seen_at,
            seen_at,
            expires_at: seen_at.plus(24 * HOUR),
            address: Some("192.0.2.7".to_owned()),
            browser: "Mozilla/5.0".to_owned(),
        };
        let idle_since = UnixMillis(seen_at.0 - 12 * 3_600_000);
        Begin(session, self.master.hasher("session").hash(id), idle_since)
    }

    async fn session_ids(&self, person: &str) -> Vec<String> {
        let sessions = self.store.sessions_of(&person.into()).await.unwrap();
        sessions.into_iter().map(|session| session.id).collect()
    }

    /// Everything that signing in keeps, and how long the trail is.
    async fn everything(&self) -> String {
        let mut text = String::new();
        for id in ["p1", "p2"] {
            let member = self.store.member(&id.into()).await.unwrap();
            let password = member
                .as_ref()
                .and_then(|it| it.login.as_ref())
                .map(|it| it.password.expose().clone());
            let left = self.store.recovery_codes_left(&id.into()).await.unwrap();
            let sessions = self.store.sessions_of(&id.into()).await.unwrap();
            text += &format!("{member:?} {password:?} {left} {sessions:?}\n");
        }
        for token in ["t1", "t2", "welcome"] {
            let hash = self.master.hasher("link").hash(token);
            text += &format!("{:?}\n", self.store.link_of_hash(&hash).await.unwrap());
        }
        text + &self.store.audit(&AuditFilter::default()).await.unwrap().len().to_string()
    }
}

fn password(text: &str) -> Secret<String> {
    Secret::new(format!("$argon2id${text}"))
}

#[tokio::test]
async fn what_is_written_reads_back() {
    for place in places() {
        let house = House::on(&place).await;
        let store = &house.store;
        let version = store.change_version().await.unwrap();
        let p1 = || "p1".into();
        assert!(store.has_people().await.unwrap());
        assert_eq!(store.member(&"nobody".into()).await.unwrap(), None);
        let found = store.members_of_email("p1@example.org").await.unwrap();
        assert_eq!((found.len(), &found[0].person, &found[0].login), (1, &person("p1"), &None));
        assert_eq!(store.members_of_email("p9@example.org").await.unwrap(), []);

        house
            .write(vec![HasNoPassword(p1()), MakeLink(house.link("t1", Some("p1")))])
            .await
            .unwrap();
        let hash = house.link("t1", None).hash;
        let link = store.link_of_hash(&hash).await.unwrap().unwrap();
        assert_eq!(link, house.link("t1", Some("p1")));
        assert!(link.is_open_at(NOW) && !link.is_open_at(NOW.plus(HOUR)));
        let used = vec![
            IsActive(p1()),
            UseLink(hash, NOW),
            SetPassword(p1(), password("one"), NOW),
            house.begin("s1", "p1", NOW),
        ];
        house.write(used).await.unwrap();
        let link = store.link_of_hash(&hash).await.unwrap().unwrap();
        assert_eq!(link.used_at, Some(NOW), "whoever opens it again is told so");

        let codes =
            vec![house.master.hasher("codes").hash("r1"), house.master.hasher("codes").hash("r2")];
        let set = vec![
            HasNoCodes(p1()),
            SetCodes(p1(), "sealed".to_owned(), NOW, 7),
            SetRecoveryCodes(p1(), codes),
        ];
        house.write(set).await.unwrap();
        let login = store.member(&p1()).await.unwrap().unwrap().login.unwrap();
        assert_eq!((login.password, login.password_set_at), (password("one"), NOW));
        let codes = login.codes.unwrap();
        assert_eq!((&*codes.secret, codes.confirmed_at, codes.last_step), ("sealed", NOW, Some(7)));
        assert_eq!(store.recovery_codes_left(&p1()).await.unwrap(), 2);

        let session = house.master.hasher("session").hash("s1");
        let (found, member) = store.session_of_hash(&session).await.unwrap().unwrap();
        assert_eq!((&*found.id, found.address.as_deref()), ("s1", Some("192.0.2.7")));
        let addresses = store.session_addresses("p1@example.org").await.unwrap();
        assert_eq!(addresses, ["192.0.2.7"]);
        assert!(store.session_addresses("p2@example.org").await.unwrap().is_empty());
        assert_eq!(store.most_namesakes().await.unwrap(), 1);
        assert!(member.is_active());
        let other = house.master.hasher("session").hash("s2");
        assert_eq!(store.session_of_hash(&other).await.unwrap(), None);
        store.note_seen("s1", NOW.plus(HOUR)).await.unwrap();
        store.note_seen("s1", NOW).await.unwrap();
        let seen = store.sessions_of(&p1()).await.unwrap()[0].seen_at;
        assert_eq!(seen, NOW.plus(HOUR), "it never goes back");

        // A new password keeps the codes, and takes links away that were not used.
        house.write(vec![MakeLink(house.link("t2", Some("p1")))]).await.unwrap();
        house.write(vec![SetPassword(p1(), password("two"), NOW.plus(HOUR))]).await.unwrap();
        assert_eq!(store.link_of_hash(&house.link("t2", None).hash).await.unwrap(), None);
        let login = store.member(&p1()).await.unwrap().unwrap().login.unwrap();
        assert!(login.codes.is_some() && login.password == password("two"));
        house.write(vec![RemoveCodes(p1())]).await.unwrap();
        let login = store.member(&p1()).await.unwrap().unwrap().login.unwrap();
        assert_eq!((login.codes, store.recovery_codes_left(&p1()).await.unwrap()), (None, 0));
        house.write(vec![RemoveLogin(p1()), EndAll(p1(), None)]).await.unwrap();
        assert_eq!(store.member(&p1()).await.unwrap().unwrap().login, None);
        assert_eq!(store.session_of_hash(&session).await.unwrap(), None);

        let now = store.change_version().await.unwrap();
        assert_eq!(now, version, "a running server has nothing to read again");
        let trail = store.audit(&AuditFilter::default()).await.unwrap();
        let TrailEntry::Administration(entry) = &trail[0].entry else { panic!("{trail:?}") };
        assert_eq!((&*entry.subject, &*entry.verb), ("person:p1", "test"));
        assert_eq!(entry.after, json!({ "by": "x" }));
        assert_eq!(store.verify_audit(&house.master, &[]).await.unwrap().broken, None);
    }
}

#[tokio::test]
async fn what_does_not_hold_any_more_is_refused() {
    for place in places() {
        let house = House::on(&place).await;
        let p1 = || "p1".into();
        house.refused(vec![IsOnly(p1())]).await;
        house.refused(vec![IsActive("nobody".into())]).await;
        house.refused(vec![HasPassword(p1(), password("one"))]).await;
        house.refused(vec![UseCode(p1(), 9)]).await;
        house.refused(vec![SetCodes(p1(), "sealed".to_owned(), NOW, 7)]).await;
        house.refused(vec![End(p1(), "s1".to_owned())]).await;
        let first = vec![
            MakeLink(house.link("t1", Some("p1"))),
            SetPassword(p1(), password("one"), NOW),
            SetCodes(p1(), "sealed".to_owned(), NOW, 7),
            SetRecoveryCodes(p1(), vec![house.master.hasher("codes").hash("r1")]),
            house.begin("s1", "p1", NOW),
        ];
        house.write(first).await.unwrap();
        let link = house.link("t1", None).hash;
        house.refused(vec![HasNoPassword(p1())]).await;
        house.refused(vec![HasNoCodes(p1())]).await;
        house.refused(vec![HasPassword(p1(), password("another"))]).await;
        house.refused(vec![UseLink(link, NOW)]).await; // Setting the password took it away.
        house.refused(vec![UseCode(p1(), 7)]).await;
        house.refused(vec![UseCode(p1(), 6)]).await;
        let code = house.master.hasher("codes").hash("r1");
        house.refused(vec![UseRecoveryCode("p2".into(), code, NOW)]).await;
        house.refused(vec![End("p2".into(), "s1".to_owned())]).await;
        house.write(vec![MakeLink(house.link("t2", Some("p1")))]).await.unwrap();
        let link = house.link("t2", None).hash;
        house.refused(vec![UseLink(link, NOW.plus(HOUR))]).await;
        house.write(vec![UseCode(p1(), 8)]).await.unwrap();
        house.refused(vec![UseCode(p1(), 8)]).await;

        // Whoever is judged is judged as things stand.
        let version = house.store.change_version().await.unwrap();
        let stale = house.write_with(Some(version - 1), &[], Vec::new()).await;
        assert!(matches!(stale, Err(StorageError::ChangedMeanwhile)), "{stale:?}");
        house.write_with(Some(version), &[], Vec::new()).await.unwrap();
        let new = Record::Person(person("p3"));
        let add = Change { verb: "people.create", old: None, new };
        house.write_with(Some(version), &[add], Vec::new()).await.unwrap();
        assert_eq!(house.store.change_version().await.unwrap(), version + 1);
    }
}

/// Wherever in a row of steps one fails, nothing of those before it is there.
#[tokio::test]
async fn a_step_that_fails_takes_all_others_back() {
    for place in places() {
        let house = House::on(&place).await;
        let codes = vec![house.master.hasher("codes").hash("r1")];
        let all = vec![
            MakeLink(house.link("t1", Some("p1"))),
            UseLink(house.link("t1", None).hash, NOW),
            SetPassword("p1".into(), password("one"), NOW),
            SetCodes("p1".into(), "sealed".to_owned(), NOW, 7),
            SetRecoveryCodes("p1".into(), codes),
            house.begin("s1", "p1", NOW),
        ];
        for length in 0..=all.len() {
            let mut steps = all[..length].to_vec();
            steps.push(HasPassword("p1".into(), password("never")));
            house.refused(steps).await;
        }
        // A person who is added with it is not there, either.
        let new = Record::Person(person("p3"));
        let add = Change { verb: "people.create", old: None, new };
        let refused = house.write_with(None, &[add], vec![IsOnly("p3".into())]).await;
        assert!(refused.is_err());
        assert_eq!(house.store.member(&"p3".into()).await.unwrap(), None);
        house.write(all).await.unwrap();
    }
}

/// Whoever runs it disappears at any moment: what was to happen has happened, or nothing of it.
#[tokio::test]
async fn cut_off_anywhere_it_is_whole_or_not_there() {
    for place in places() {
        let house = House::on(&place).await;
        for polls in 0..60 {
            let id = format!("s{polls}");
            let steps = vec![
                SetPassword("p1".into(), password(&id), NOW),
                EndAll("p1".into(), None),
                house.begin(&id, "p1", NOW),
            ];
            {
                let mut writing = std::pin::pin!(house.write(steps));
                for _ in 0..polls {
                    let mut once = std::pin::pin!(futures_poll(writing.as_mut()));
                    if once.as_mut().await {
                        break;
                    }
                    // Whatever works for it goes on.
                    tokio::task::yield_now().await;
                    std::thread::yield_now();
                }
            }
            // Whatever still writes is done before the next writer's turn.
            house.write(vec![EndAll("p2".into(), None)]).await.unwrap();
            let login = house.store.member(&"p1".into()).await.unwrap().unwrap().login;
            let sessions = house.session_ids("p1").await;
            match login {
                None => assert_eq!(sessions, [""; 0], "after {polls}"),
                Some(login) => {
                    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
                    assert_eq!(login.password, password(session), "after {polls}");
                }
            }
        }
        house.write(vec![house.begin("last", "p2", NOW)]).await.unwrap();
        assert_eq!(house.session_ids("p2").await, ["last"]);
        assert_eq!(house.store.verify_audit(&house.master, &[]).await.unwrap().broken, None);
    }
}

/// Each bound by itself ends what it says, and what has not ended stays.
#[tokio::test]
async fn what_has_ended_is_forgotten() {
    for place in places() {
        let house = House::on(&place).await;
        let later = NOW.plus(HOUR);
        house.write(vec![house.begin("s1", "p1", NOW)]).await.unwrap();
        house.write(vec![house.begin("s2", "p1", later)]).await.unwrap();
        house.write(vec![MakeLink(house.link("t1", Some("p2")))]).await.unwrap();
        let forget = async |now, idle_since, begun_since| {
            house.store.forget_ended_sign_ins(now, idle_since, begun_since).await.unwrap();
            house.session_ids("p1").await
        };
        let (long_ago, just_before) = (UnixMillis(0), UnixMillis(NOW.0 - 1));
        assert_eq!(forget(NOW, just_before, just_before).await, ["s2", "s1"]);
        let hash = house.link("t1", None).hash;
        assert!(house.store.link_of_hash(&hash).await.unwrap().is_some());
        assert_eq!(forget(NOW, NOW, long_ago).await, ["s2"], "unused since then");
        house.write(vec![house.begin("s3", "p1", NOW)]).await.unwrap();
        assert_eq!(forget(NOW, long_ago, NOW).await, ["s2"], "begun before then");
        assert_eq!(forget(later, long_ago, long_ago).await, ["s2"]);
        assert!(house.store.link_of_hash(&hash).await.unwrap().is_none(), "it has ended");
        assert_eq!(forget(later.plus(24 * HOUR), long_ago, long_ago).await, [""; 0]);
    }
}

/// Whether `future` has ended after one more look.
async fn futures_poll(mut future: std::pin::Pin<&mut impl Future>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_works_once_works_once_however_many_try() {
    for place in places() {
        let house = House::on(&place).await;
        let code = house.master.hasher("codes").hash("r1");
        let first = vec![
            SetPassword("p1".into(), password("one"), NOW),
            SetCodes("p1".into(), "sealed".to_owned(), NOW, 7),
            SetRecoveryCodes("p1".into(), vec![code]),
            MakeLink(house.link("t1", Some("p1"))),
        ];
        house.write(first).await.unwrap();
        for step in [
            UseLink(house.link("t1", None).hash, NOW),
            UseCode("p1".into(), 8),
            UseRecoveryCode("p1".into(), code, NOW),
        ] {
            let tries = (0..8).map(|_| house.write(vec![step.clone()]));
            let mut succeeded = 0;
            for tried in futures_join(tries.collect()).await {
                match tried {
                    Ok(()) => succeeded += 1,
                    Err(StorageError::ChangedMeanwhile) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(succeeded, 1, "{step:?}");
        }
    }
}

/// Runs all at once.
async fn futures_join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(|it| Some(Box::pin(it))).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|cx| {
        for slot in &mut waiting {
            if let Some(future) = slot
                && let std::task::Poll::Ready(output) = future.as_mut().poll(cx)
            {
                done.push(output);
                *slot = None;
            }
        }
        match waiting.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    done
}

#[tokio::test]
async fn whoever_is_suspended_or_removed_has_no_session() {
    for place in places() {
        let house = House::on(&place).await;
        let why = || Some(Suspension { at: NOW, reason: "x".to_owned() });
        let begin = async || {
            let both = vec![house.begin("s1", "p1", NOW), house.begin("s2", "p2", NOW)];
            house.write(both).await.unwrap();
        };
        begin().await;
        let mut suspended = person("p1");
        suspended.life.suspended = why();
        let old = Record::Person(person("p1"));
        put(&house.store, &house.master, Some(old), suspended.clone()).await.unwrap();
        assert_eq!(house.session_ids("p1").await, [""; 0]);
        assert_eq!(house.session_ids("p2").await, ["s2"], "others go on");
        house.refused(vec![IsActive("p1".into())]).await;
        let back = Some(Record::Person(suspended));
        put(&house.store, &house.master, back, person("p1")).await.unwrap();
        assert_eq!(house.session_ids("p1").await, [""; 0], "it is not taken back");

        house.write(vec![EndAll("p2".into(), None)]).await.unwrap();
        begin().await;
        let mut removed = person("p1");
        removed.life.removed_at = Some(NOW);
        let old = Record::Person(person("p1"));
        put(&house.store, &house.master, Some(old), removed.clone()).await.unwrap();
        assert_eq!(house.session_ids("p1").await, [""; 0]);
        assert!(house.store.members_of_email("p1@example.org").await.unwrap().is_empty());
        put(&house.store, &house.master, Some(removed.into()), person("p1")).await.unwrap();

        let closed = AccountRecord { suspended: why(), ..account("a1") };
        let old = Record::Account(account("a1"));
        put(&house.store, &house.master, Some(old), closed).await.unwrap();
        assert_eq!(house.session_ids("p2").await, [""; 0]);
        house.refused(vec![IsActive("p2".into())]).await;
    }
}

#[tokio::test]
async fn sessions_that_are_over_make_room_and_nobody_has_too_many() {
    for place in places() {
        let house = House::on(&place).await;
        house.write(vec![house.begin("idle", "p2", NOW)]).await.unwrap();
        let later = NOW.plus(12 * HOUR);
        house.write(vec![house.begin("next", "p1", later)]).await.unwrap();
        assert_eq!(house.session_ids("p2").await, [""; 0], "twelve hours idle");
        let begin = (0..150)
            .map(|at| house.begin(&format!("s{at:03}"), "p1", later.plus(Duration::from_secs(at))));
        house.write(begin.collect()).await.unwrap();
        let ids = house.session_ids("p1").await;
        assert_eq!((ids.len(), &*ids[0], &*ids[99]), (100, "s149", "s050"));
        house.write(vec![EndAll("p1".into(), Some("s149".to_owned()))]).await.unwrap();
        assert_eq!(house.session_ids("p1").await, ["s149"]);
    }
}

#[tokio::test]
async fn copies_and_backups_hold_how_people_sign_in() {
    for from in places() {
        let house = House::on(&from).await;
        let codes = vec![house.master.hasher("codes").hash("r1")];
        let all = vec![
            MakeLink(house.link("welcome", None)),
            SetPassword("p1".into(), password("one"), NOW),
            SetCodes("p1".into(), "sealed".to_owned(), NOW, 7),
            SetRecoveryCodes("p1".into(), codes),
            MakeLink(house.link("t2", Some("p2"))),
            house.begin("s1", "p1", NOW),
        ];
        house.write(all).await.unwrap();
        let expected = house.everything().await;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("backup");
        backup(&house.store, &house.master, &file, ("0.1.0", NOW)).await.unwrap();
        house.store.close().await;
        for to in places() {
            let copied = copy(&from.location(), &to.location(), NOW).await.unwrap();
            for table in ["person_logins", "recovery_codes", "person_sessions", "invitations"] {
                let sum = copied.tables.iter().find(|sum| sum.table == table).unwrap();
                assert!(sum.rows > 0, "{table}");
            }
            std::fs::copy(from.path().join("master.key"), to.path().join("master.key")).unwrap();
            let (store, master) = to.open().await;
            assert_eq!(House { store, master }.everything().await, expected);
        }
        let to = from.another();
        restore(&file, &to.location(), NOW).await.unwrap();
        let (store, master) = to.open().await;
        assert_eq!(House { store, master }.everything().await, expected);
    }
}
