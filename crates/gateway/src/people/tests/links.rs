//! The welcome, invitations and resets.

use super::*;
use crate::admin::PersonChange;

#[tokio::test]
async fn the_welcome_makes_the_first_owner_once() {
    let house = House::new().await;
    let (people, password) = (&house.people, secret(PASSWORD));
    let old = people.welcome(NOW).await.unwrap().unwrap();
    let token = people.welcome(NOW).await.unwrap().unwrap();
    let error = people.link(old.expose(), NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::LinkOver), "a later start's is the one: {error}");
    assert!(people.link(token.expose(), NOW).await.unwrap().person.is_none());
    let accept = async |email: &'static str, password: &'static str, now| {
        people.accept_welcome(token.expose(), email, &secret(password), &visitor(), now).await
    };
    // What is wrong with the form uses nothing up.
    let weak = accept(ADA, "short", NOW).await.unwrap_err().to_string();
    assert!(weak.contains("`password` has 5 characters"), "{weak}");
    let wrong = accept("ada", PASSWORD, NOW).await.unwrap_err().to_string();
    assert!(wrong.contains("no e-mail address"), "{wrong}");
    let same = accept("ada.lovelace@example.org", "ada.lovelace@example.org", NOW).await;
    assert!(same.unwrap_err().to_string().contains("is the e-mail address"));
    let late = accept(ADA, PASSWORD, NOW.plus(INVITATION_LIFE)).await.unwrap_err();
    assert!(matches!(late, PeopleError::LinkOver), "{late}");

    let begun = accept(" Ada@Example.org ", PASSWORD, NOW).await.unwrap();
    assert_eq!((&*begun.person.email, begun.person.role), (ADA, Role::Owner));
    assert!(begun.person.operator);
    assert!(house.is_signed_in(&begun.token, NOW).await);
    let again = accept("eve@example.org", PASSWORD, NOW).await.unwrap_err();
    assert!(matches!(again, PeopleError::LinkOver), "{again}");
    assert!(people.welcome(NOW).await.unwrap().is_none(), "somebody is there");
    let error = people.accept_link(token.expose(), &password, &visitor(), NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::LinkOver), "{error}");
    assert_eq!(house.store.organisation().await.unwrap().people.len(), 1);
}

#[tokio::test]
async fn two_who_are_welcomed_at_once_make_one_owner() {
    let house = House::new().await;
    let (people, password, visitor) = (&house.people, secret(PASSWORD), visitor());
    let token = people.welcome(NOW).await.unwrap().unwrap();
    let (ada, eve) = tokio::join!(
        people.accept_welcome(token.expose(), ADA, &password, &visitor, NOW),
        people.accept_welcome(token.expose(), "eve@example.org", &password, &visitor, NOW),
    );
    assert!(ada.is_ok() != eve.is_ok(), "{ada:?} {eve:?}");
    assert_eq!(house.store.organisation().await.unwrap().people.len(), 1);
}

/// Whoever is there by other ways, as by the configuration file, needs no welcome.
#[tokio::test]
async fn there_is_no_welcome_where_there_is_somebody() {
    let house = House::new().await;
    let token = house.people.welcome(NOW).await.unwrap().unwrap();
    let wish = Invitation { email: ADA.to_owned(), ..Invitation::default() };
    house.admin(NOW).invite(wish).await.unwrap();
    assert!(house.people.welcome(NOW).await.unwrap().is_none());
    let (password, visitor) = (secret(PASSWORD), visitor());
    let late = house.people.accept_welcome(token.expose(), "e@x", &password, &visitor, NOW).await;
    assert!(matches!(late, Err(PeopleError::LinkOver)), "{late:?}");
}

#[tokio::test]
async fn an_invitation_works_once_for_seven_days() {
    let house = House::with_ada().await;
    let admin = house.admin(NOW);
    let grace = || Invitation { email: "Grace@example.org".to_owned(), ..Invitation::default() };
    let first = admin.invite(grace()).await.unwrap();
    assert!(first.is_new && first.expires_at == NOW.plus(7 * DAY));
    assert_eq!(first.person.role, Role::Developer);
    let second = admin.invite(grace()).await.unwrap();
    assert!(!second.is_new && second.person == first.person);
    let (people, password) = (&house.people, secret(PASSWORD));
    let accept = async |token: &Token, now| {
        people.accept_link(token.expose(), &password, &visitor(), now).await
    };
    let renewed = accept(&first.token, NOW).await.unwrap_err();
    assert!(matches!(renewed, PeopleError::LinkOver), "{renewed}");
    let late = accept(&second.token, NOW.plus(7 * DAY)).await.unwrap_err();
    assert!(matches!(late, PeopleError::LinkOver), "{late}");
    let open = people.link(second.token.expose(), NOW).await.unwrap();
    assert_eq!(open.person.unwrap().email, "grace@example.org");
    let before = house.sign_in("grace@example.org", PASSWORD, NOW).await.unwrap_err();
    assert!(matches!(before, PeopleError::Refused), "{before}");

    let begun = accept(&second.token, NOW.plus(7 * DAY - MINUTE)).await.unwrap();
    assert_eq!(begun.person.email, "grace@example.org");
    let again = accept(&second.token, NOW).await.unwrap_err().to_string();
    assert!(again.contains("works once") && again.contains("ask for a new one"), "{again}");
    house.sign_in("grace@example.org", PASSWORD, NOW).await.unwrap();
    let error = admin.invite(grace()).await.unwrap_err().to_string();
    assert!(error.contains("able to sign in already"), "{error}");
}

/// A link that was sent to a wrong address is whoever's has that address.
#[tokio::test]
async fn a_corrected_address_ends_the_link_that_went_to_the_wrong_one() {
    let house = House::with_ada().await;
    let admin = house.admin(NOW);
    let wish = Invitation { email: "adam@x.org".to_owned(), ..Invitation::default() };
    let sent = admin.invite(wish).await.unwrap();
    let email = Some("grace@x.org".to_owned());
    let change = PersonChange { email, ..PersonChange::default() };
    admin.change_person(&which("adam@x.org"), change).await.unwrap();
    let (token, password) = (sent.token.expose(), secret(PASSWORD));
    let late = house.people.accept_link(token, &password, &visitor(), NOW).await.unwrap_err();
    assert!(matches!(late, PeopleError::LinkOver), "{late}");
    // A new name alone ends nothing.
    let wish = Invitation { email: "grace@x.org".to_owned(), ..Invitation::default() };
    let again = admin.invite(wish).await.unwrap();
    let named = PersonChange { name: Some(Some("Grace".to_owned())), ..PersonChange::default() };
    admin.change_person(&which("grace@x.org"), named).await.unwrap();
    house.people.accept_link(again.token.expose(), &password, &visitor(), NOW).await.unwrap();
}

#[tokio::test]
async fn an_invitation_changes_nobody_who_is_there() {
    let house = House::with_ada().await;
    let admin = house.admin(NOW);
    let grace = |role| Invitation { email: "g@x.org".to_owned(), role, ..Invitation::default() };
    admin.invite(grace(Some(Role::Auditor))).await.unwrap();
    let error = admin.invite(grace(Some(Role::Owner))).await.unwrap_err().to_string();
    assert!(error.contains("another role"), "{error}");
    let same = admin.invite(grace(None)).await.unwrap();
    assert_eq!(same.person.role, Role::Auditor);
    admin.suspend(&which("g@x.org"), "left").await.unwrap();
    let error = admin.invite(grace(None)).await.unwrap_err().to_string();
    assert!(error.contains("suspended"), "{error}");
    let (people, password) = (&house.people, secret(PASSWORD));
    let token = same.token.expose();
    let error = people.accept_link(token, &password, &visitor(), NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::LinkOver), "suspended: {error}");
    admin.resume(&which("g@x.org")).await.unwrap();
    people.accept_link(token, &password, &visitor(), NOW).await.unwrap();
}

/// Whatever was lost, the last owner gets back in from the machine.
#[tokio::test]
async fn a_reset_takes_everything_away_and_gives_a_link() {
    let house = House::with_ada().await;
    let (token, session) = house.session(NOW).await;
    let people = &house.people;
    let setup = people.set_up_codes(&session, &secret(PASSWORD), &visitor(), NOW).await.unwrap();
    let code = Authenticator::of(&setup).code(NOW);
    people.confirm_codes(&session, setup.sealed.expose(), &code, &visitor(), NOW).await.unwrap();
    // Nobody gets in any more from anywhere.
    for last in 0..200 {
        let _ = people.sign_in(ADA, &secret("guess"), &at_address(last), NOW).await;
    }
    let reset = house.admin(NOW).reset(&which(ADA), SessionTimes::default()).await.unwrap();
    assert_eq!(reset.ended, 2, "that of the welcome, too");
    assert!(!house.is_signed_in(&token, NOW).await);
    let later = NOW.plus(DAY - MINUTE);
    let old = house.sign_in(ADA, PASSWORD, NOW.plus(HOUR)).await.unwrap_err();
    assert!(matches!(old, PeopleError::Refused), "{old}");
    let newer = house.admin(NOW).reset(&which(ADA), SessionTimes::default()).await.unwrap();
    let new = secret("a new long password");
    let (first, second) = (reset.token.expose(), newer.token.expose());
    let error = people.accept_link(first, &new, &visitor(), later).await.unwrap_err();
    assert!(matches!(error, PeopleError::LinkOver), "{error}");
    let begun = people.accept_link(second, &new, &visitor(), later).await.unwrap();
    assert!(house.is_signed_in(&begun.token, later).await);
    let SignedIn::Done(_) = house.sign_in(ADA, "a new long password", later).await.unwrap() else {
        panic!("the codes are gone")
    };
    let third = house.admin(NOW).reset(&which(ADA), SessionTimes::default()).await.unwrap();
    let late = people.accept_link(third.token.expose(), &new, &visitor(), NOW.plus(DAY)).await;
    assert!(matches!(late, Err(PeopleError::LinkOver)), "{late:?}");
}

#[tokio::test]
async fn who_may_invite_reset_and_end_sessions_is_in_the_table() {
    let house = House::with_ada().await;
    let boss = house.add("boss@example.org", Role::Owner).await;
    let admin = house.add("admin@example.org", Role::Admin).await;
    let developer = house.add("dev@example.org", Role::Developer).await;
    let acting = |who: &PersonRecord| house.acting(Actor::Person { id: who.id.clone() }, NOW);
    let wish = |role| Invitation {
        email: format!("{role:?}@new.org"),
        role: Some(role),
        ..Invitation::default()
    };
    let refused = |done: Result<(), AdminError>, verb: &str| match done {
        Err(AdminError::Forbidden { verb: said }) => assert_eq!(said, verb),
        other => panic!("{verb}: {other:?}"),
    };
    let before = house.verbs().await;
    refused(acting(&developer).invite(wish(Role::Developer)).await.map(drop), "people.invite");
    refused(acting(&admin).invite(wish(Role::Owner)).await.map(drop), "people.invite");
    refused(
        acting(&admin).reset(&which("boss@example.org"), SessionTimes::default()).await.map(drop),
        "people.reset",
    );
    // An owner is no operator, whose right would come with the link.
    let made = acting(&boss).reset(&which(ADA), SessionTimes::default()).await.map(drop);
    refused(made, "people.make-operator");
    let mut operator = wish(Role::Developer);
    operator.operator = true;
    refused(acting(&boss).invite(operator).await.map(drop), "people.make-operator");
    let times = SessionTimes::default();
    let seen = acting(&developer).sessions(&which("dev@example.org"), times).await.unwrap();
    assert_eq!(seen.1.len(), 1, "everybody sees their own");
    let hidden = acting(&developer).sessions(&which(ADA), times).await.unwrap_err();
    assert!(matches!(hidden, AdminError::NoSuch { .. }), "{hidden}");
    refused(
        acting(&admin).end_sessions(&which(ADA), None, SessionTimes::default()).await.map(drop),
        "sessions.end",
    );
    assert_eq!(house.verbs().await, before, "what is refused leaves nothing");

    acting(&admin).invite(wish(Role::Developer)).await.unwrap();
    acting(&boss).reset(&which("admin@example.org"), SessionTimes::default()).await.unwrap();
    let (_, ended) = acting(&boss)
        .end_sessions(&which("dev@example.org"), None, SessionTimes::default())
        .await
        .unwrap();
    assert_eq!(ended, 1);
    assert_eq!(
        house.verbs().await[before.len()..],
        ["people.create", "people.invite", "people.reset", "sessions.end"]
    );
}
