//! Sessions: when they end, and who ends them.

use proptest::prelude::*;
use sluice_storage::SessionRecord;

use super::*;
use crate::admin::permissions::Verb;

#[tokio::test]
async fn a_session_is_its_tokens_and_nobody_elses() {
    let house = House::with_ada().await;
    let (token, session) = house.session(NOW).await;
    assert_eq!(session.person.email, ADA);
    assert_eq!(session.actor(), Actor::Person { id: session.person.id.clone() });
    assert_eq!(session.account().id, session.person.account_id);
    let stranger = Token::generate().unwrap();
    for cookie in ["", "x", stranger.expose(), &session.record.id, session.form_token()] {
        assert!(house.people.session(cookie, NOW).await.unwrap().is_none(), "{cookie}");
    }
    let (_, other) = house.session(NOW).await;
    assert!(session.is_own_form(session.form_token()));
    assert!(!session.is_own_form(other.form_token()) && !session.is_own_form(""));
    assert!(session.may_at_all(Verb::InvitePerson) && session.may_at_all(Verb::CreateAccount));
    house.add("dev@example.org", Role::Developer).await;
    let SignedIn::Done(dev) = house.sign_in("dev@example.org", PASSWORD, NOW).await.unwrap() else {
        panic!()
    };
    let dev = house.people.session(dev.token.expose(), NOW).await.unwrap().unwrap();
    assert!(dev.may_at_all(Verb::CreateKey) && !dev.may_at_all(Verb::InvitePerson));
    // After a restart, too.
    let people = people(&house.store, &house.master_key);
    let again = people.session(token.expose(), NOW).await.unwrap().unwrap();
    assert_eq!(again.form_token(), session.form_token());
}

#[tokio::test]
async fn sessions_end_idle_and_absolutely() {
    let house = House::with_ada().await;
    let (token, _) = house.session(NOW).await;
    assert!(!house.is_signed_in(&token, NOW.plus(12 * HOUR)).await, "idle");
    assert!(house.is_signed_in(&token, NOW.plus(12 * HOUR - MINUTE)).await, "looking ends nothing");
    let mut now = NOW.plus(12 * HOUR - MINUTE);
    while now < NOW.plus(7 * DAY) {
        assert!(house.is_signed_in(&token, now).await, "{}", now.to_rfc3339());
        now = now.plus(11 * HOUR);
    }
    assert!(!house.is_signed_in(&token, NOW.plus(7 * DAY)).await, "in use or not");
}

/// A page that stays open asks by itself all night: that is no use of the session.
#[tokio::test]
async fn a_glance_at_a_session_does_not_keep_it_alive() {
    let house = House::with_ada().await;
    let (token, session) = house.session(NOW).await;
    let peek = async |now| house.people.peek(token.expose(), now).await.unwrap();
    let mut now = NOW;
    while now < NOW.plus(12 * HOUR) {
        let seen = peek(now).await.unwrap();
        assert_eq!((seen.record.seen_at, seen.form_token()), (NOW, session.form_token()));
        now = now.plus(HOUR);
    }
    assert!(peek(now).await.is_none() && !house.is_signed_in(&token, now).await, "idle");
    assert!(house.people.peek("x", NOW).await.unwrap().is_none());
    house.people.sign_out(&session, &visitor(), NOW).await.unwrap();
    assert!(peek(NOW).await.is_none(), "ended");
}

/// Shorter times hold for sessions that are there; what has ended is forgotten, and nothing else.
#[tokio::test]
async fn new_times_hold_at_once_and_what_has_ended_is_forgotten() {
    let house = House::with_ada().await;
    let (token, session) = house.session(NOW).await;
    let invitation = Invitation { email: "g@x.org".to_owned(), ..Invitation::default() };
    let invited = house.admin(NOW).invite(invitation).await.unwrap();
    let sessions = async || house.store.sessions_of(&session.person.id).await.unwrap().len();
    let now = NOW.plus(2 * HOUR);
    house.people.tidy(now).await.unwrap();
    assert_eq!(sessions().await, 2, "with that of the welcome");
    assert!(house.is_signed_in(&token, now).await);
    house.people.link(invited.token.expose(), now).await.unwrap();
    let longest = SessionTimes { idle: DAY, longest: 2 * HOUR };
    for times in [SessionTimes { idle: HOUR, longest: DAY }, longest] {
        house.people.set_times(times);
        assert!(!house.is_signed_in(&token, NOW.plus(4 * HOUR)).await, "{times:?}");
    }
    house.people.set_times(SessionTimes::default());
    assert!(house.is_signed_in(&token, now).await, "nothing was forgotten yet");
    house.people.set_times(longest);
    house.people.tidy(now).await.unwrap();
    house.people.set_times(SessionTimes::default());
    assert_eq!((sessions().await, house.is_signed_in(&token, now).await), (0, false));
    house.people.tidy(NOW.plus(7 * DAY)).await.unwrap();
    let hash = house.people.links.hash(invited.token.expose());
    assert_eq!(house.store.link_of_hash(&hash).await.unwrap(), None);
}

#[tokio::test]
async fn its_last_use_is_written_once_a_minute() {
    let house = House::with_ada().await;
    let (token, session) = house.session(NOW).await;
    let seen = async || house.store.sessions_of(&session.person.id).await.unwrap()[0].seen_at;
    for (later, written) in [(59, 0), (60, 60), (61, 60), (119, 60), (120, 120), (30, 120)] {
        let now = NOW.plus(Duration::from_secs(later));
        assert!(house.is_signed_in(&token, now).await);
        assert_eq!(seen().await, NOW.plus(Duration::from_secs(written)), "after {later} s");
    }
}

#[tokio::test]
async fn they_are_listed_and_ended_one_by_one_or_all_others() {
    let house = House::with_ada().await;
    let (people, visitor) = (&house.people, visitor());
    let (first, _) = house.session(NOW).await;
    let (second, _) = house.session(NOW.plus(MINUTE)).await;
    let now = NOW.plus(2 * MINUTE);
    let (third, session) = house.session(now).await;
    let listed = people.sessions(&session, now).await.unwrap();
    assert_eq!((listed.len(), &listed[0]), (4, &session.record), "with that of the welcome");
    assert_eq!(listed[0].browser, "Mozilla/5.0");
    people.end_session(&session, &listed[1].id, now).await.unwrap();
    assert!(!house.is_signed_in(&second, now).await);
    let error = people.end_session(&session, &listed[1].id, now).await.unwrap_err().to_string();
    assert!(error.contains("there is no session"), "{error}");
    // Somebody else's is none of theirs.
    house.add("eve@example.org", Role::Owner).await;
    let eves = house.store.members_of_email("eve@example.org").await.unwrap();
    let eves = house.store.sessions_of(&eves[0].person.id).await.unwrap();
    let error = people.end_session(&session, &eves[0].id, now).await.unwrap_err();
    assert!(matches!(error, PeopleError::Admin(AdminError::NoSuchSession { .. })), "{error}");
    people.end_other_sessions(&session, now).await.unwrap();
    assert!(!house.is_signed_in(&first, now).await && house.is_signed_in(&third, now).await);
    people.sign_out(&session, &visitor, now).await.unwrap();
    assert!(!house.is_signed_in(&third, now).await);
    people.sign_out(&session, &visitor, now).await.unwrap();
    assert_eq!(house.store.sessions_of(&eves[0].person_id).await.unwrap().len(), 1);
}

/// A session that is over is there until it is forgotten. Nobody ended it.
#[tokio::test]
async fn sessions_that_are_over_are_not_counted_as_ended() {
    let house = House::with_ada().await;
    house.session(NOW.plus(HOUR)).await;
    let (now, times) = (NOW.plus(12 * HOUR), SessionTimes::default());
    let admin = house.admin(now);
    let (ada, listed) = admin.sessions(&which(ADA), times).await.unwrap();
    let stored = house.store.sessions_of(&ada.id).await.unwrap();
    assert_eq!((listed.len(), stored.len()), (1, 2), "with that of the welcome");
    let over = stored.iter().find(|it| it.id != listed[0].id).unwrap();
    let error = admin.end_sessions(&which(ADA), Some(&over.id), times).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuchSession { .. }), "{error}");
    assert_eq!(admin.end_sessions(&which(ADA), None, times).await.unwrap().1, 1);

    house.session(now).await;
    house.session(now.plus(HOUR)).await;
    let reset = house.admin(now.plus(12 * HOUR)).reset(&which(ADA), times).await.unwrap();
    assert_eq!(reset.ended, 1);
    let trail = house.trail().await;
    let ended = trail.iter().map(|(_, entry)| &entry["after"]["ended_sessions"]);
    let ended: Vec<_> = ended.filter(|it| !it.is_null()).collect();
    assert_eq!(ended, [1, 1]);
}

#[tokio::test]
async fn whoever_is_suspended_removed_or_closed_out_is_signed_out_for_good() {
    let house = House::with_ada().await;
    house.add("boss@example.org", Role::Owner).await;
    let admin = house.admin(NOW);
    let account = Which::new(Kind::Account, "default");
    for way in ["suspend", "remove", "account"] {
        let (token, _) = house.session(NOW).await;
        match way {
            "suspend" => drop(admin.suspend(&which(ADA), "x").await.unwrap()),
            "remove" => drop(admin.remove(&which(ADA), None).await.unwrap()),
            _ => drop(admin.suspend(&account, "x").await.unwrap()),
        }
        assert!(!house.is_signed_in(&token, NOW).await, "{way}");
        let refused = house.sign_in(ADA, PASSWORD, NOW).await.unwrap_err();
        assert!(matches!(refused, PeopleError::Refused), "{way}: {refused}");
        match way {
            "account" => drop(admin.resume(&account).await.unwrap()),
            _ => drop(admin.resume(&which(ADA)).await.unwrap()),
        }
        assert!(!house.is_signed_in(&token, NOW).await, "{way}");
        house.session(NOW).await;
    }
}

fn record(created_at: u64, expires_at: u64, seen_at: u64) -> SessionRecord {
    SessionRecord {
        id: "ses_1".to_owned(),
        person_id: "per_1".into(),
        created_at: UnixMillis(created_at),
        seen_at: UnixMillis(seen_at),
        expires_at: UnixMillis(expires_at),
        address: None,
        browser: String::new(),
    }
}

proptest! {
    /// Against a model that goes through each request of a session by itself: it is alive for as
    /// long as no pause was too long and its end has not come, also where the settings got shorter.
    #[test]
    fn a_session_lives_as_the_model_says(
        idle in 1_u64..100, longest in 1_u64..400, shorter in proptest::option::of(1_u64..400),
        pauses in proptest::collection::vec(0_u64..150, 1..20),
    ) {
        let seconds = Duration::from_secs;
        let start = 1_000_000;
        let times = SessionTimes { idle: seconds(idle), longest: seconds(shorter.unwrap_or(longest)) };
        let mut session = record(start, start + longest * 1000, start);
        let (mut now, mut model_lives, mut lives) = (0, true, true);
        for pause in pauses {
            now += pause;
            model_lives &= pause < idle && now < longest && now < shorter.unwrap_or(longest);
            let at = UnixMillis(start + now * 1000);
            lives &= !times.are_over(&session, at);
            prop_assert_eq!(lives, model_lives, "after {} s", now);
            session.seen_at = at;
        }
    }
}
