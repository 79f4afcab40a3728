//! What somebody changes about themselves.

use super::*;

#[tokio::test]
async fn a_change_of_password_asks_for_the_old_one_and_ends_other_sessions() {
    let house = House::with_ada().await;
    let (people, visitor, now) = (&house.people, visitor(), NOW.plus(MINUTE));
    let (other, _) = house.session(NOW).await;
    let (token, session) = house.session(now).await;
    let new = secret("a much better password");
    let change = async |session: &Session, current: &str, new: &Secret<String>| {
        people.change_password(session, &secret(current), new, &visitor, now).await
    };
    let wrong = change(&session, "guess", &new).await.unwrap_err().to_string();
    assert!(wrong.contains("`current_password`"), "{wrong}");
    let weak = change(&session, PASSWORD, &secret("short")).await.unwrap_err().to_string();
    assert!(weak.contains("`password` has 5"), "{weak}");
    assert!(house.is_signed_in(&other, now).await, "nothing happened");
    change(&session, PASSWORD, &new).await.unwrap();
    assert!(!house.is_signed_in(&other, now).await && house.is_signed_in(&token, now).await);
    let old = house.sign_in(ADA, PASSWORD, now).await.unwrap_err();
    assert!(matches!(old, PeopleError::Refused), "{old}");
    house.sign_in(ADA, "a much better password", now).await.unwrap();
    // A page that was open before knows the old one only.
    let stale = change(&session, PASSWORD, &secret("yet another one")).await.unwrap_err();
    assert!(matches!(stale, PeopleError::StepOver), "{stale}");
    for _ in 0..20 {
        let _ = change(&session, "guess", &new).await;
    }
    let slow = change(&session, "a much better password", &new).await.unwrap_err();
    assert!(matches!(slow, PeopleError::Throttled { .. }), "a stolen session guesses no password");
}

#[tokio::test]
async fn codes_are_set_up_once_a_code_was_given_and_taken_away_with_the_password() {
    let house = House::with_ada().await;
    let (people, visitor) = (&house.people, visitor());
    let (token, session) = house.session(NOW).await;
    let password = secret(PASSWORD);
    let wrong = people.set_up_codes(&session, &secret("guess"), &visitor, NOW).await.unwrap_err();
    assert!(matches!(wrong, PeopleError::WrongPassword), "{wrong}");
    let none = people.remove_codes(&session, &password, "", &visitor, NOW).await.unwrap_err();
    assert!(matches!(none, PeopleError::CodesAre(_)), "{none}");
    let setup = people.set_up_codes(&session, &password, &visitor, NOW).await.unwrap();
    assert!(setup.url.expose().contains(setup.secret.expose()));
    assert!(setup.url.expose().starts_with("otpauth://totp/Sluice:ada@example.org?"));
    let SignedIn::Done(_) = house.sign_in(ADA, PASSWORD, NOW).await.unwrap() else {
        panic!("nothing is stored yet")
    };
    let confirm = async |session: &Session, sealed: &str, code: &str, now| {
        people.confirm_codes(session, sealed, code, &visitor, now).await
    };
    let authenticator = Authenticator::of(&setup);
    let code = authenticator.code(NOW);
    let error = confirm(&session, setup.sealed.expose(), "000000", NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::WrongCode), "{error}");
    let late = NOW.plus(30 * MINUTE);
    let error = confirm(&session, setup.sealed.expose(), &authenticator.code(late), late)
        .await
        .unwrap_err();
    assert!(matches!(error, PeopleError::StepOver), "{error}");
    house.add("eve@example.org", Role::Owner).await;
    let SignedIn::Done(eve) = house.sign_in("eve@example.org", PASSWORD, NOW).await.unwrap() else {
        panic!()
    };
    let eve = people.session(eve.token.expose(), NOW).await.unwrap().unwrap();
    let error = confirm(&eve, setup.sealed.expose(), &code, NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::StepOver), "another's: {error}");

    let recovery = confirm(&session, setup.sealed.expose(), &code, NOW).await.unwrap();
    let session = people.session(token.expose(), NOW).await.unwrap().unwrap();
    let safety = people.safety(&session).await.unwrap();
    let expected = Safety {
        password_set_at: Some(NOW),
        codes_since: Some(NOW),
        recovery_codes_left: u64::try_from(recovery.len()).unwrap(),
    };
    assert_eq!(safety, expected);
    let asked = house.sign_in(ADA, PASSWORD, NOW).await.unwrap();
    assert!(matches!(asked, SignedIn::CodeNeeded(_)), "{asked:?}");
    let code = recovery[0].expose();
    people.remove_codes(&session, &password, code, &visitor, NOW).await.unwrap();
    let asked = house.sign_in(ADA, PASSWORD, NOW).await.unwrap();
    assert!(matches!(asked, SignedIn::Done(_)), "{asked:?}");
}

/// Whoever has the password and an open browser has one of two things that signing in asks for.
#[tokio::test]
async fn codes_that_are_on_are_changed_by_nobody_without_a_code() {
    let house = House::with_ada().await;
    let (people, visitor, password) = (&house.people, visitor(), secret(PASSWORD));
    let (token, before) = house.session(NOW).await;
    let set_up =
        async |session: &Session| people.set_up_codes(session, &password, &visitor, NOW).await;
    let (setup, second) = (set_up(&before).await.unwrap(), set_up(&before).await.unwrap());
    let confirm = async |session: &Session, setup: &CodeSetup| {
        let code = Authenticator::of(setup).code(NOW);
        people.confirm_codes(session, setup.sealed.expose(), &code, &visitor, NOW).await
    };
    let recovery = confirm(&before, &setup).await.unwrap();
    let session = people.session(token.expose(), NOW).await.unwrap().unwrap();
    let over = set_up(&session).await.unwrap_err().to_string();
    assert!(over.contains("turn them off first"), "{over}");
    let over = confirm(&session, &second).await.unwrap_err();
    assert!(matches!(over, PeopleError::CodesAre(_)), "another tab: {over}");
    let over = confirm(&before, &second).await.unwrap_err();
    assert!(matches!(over, PeopleError::StepOver), "at the same moment: {over}");

    let later = NOW.plus(MINUTE);
    let authenticator = Authenticator::of(&setup);
    let renew = async |code: &str| {
        people.renew_recovery_codes(&session, &password, code, &visitor, later).await
    };
    for wrong in ["", "000000", &authenticator.code(NOW), "0123-4567-89ab-cdef"] {
        let error = renew(wrong).await.unwrap_err();
        assert!(matches!(error, PeopleError::WrongCode), "{wrong}: {error}");
        let off = people.remove_codes(&session, &password, wrong, &visitor, later).await;
        assert!(matches!(off, Err(PeopleError::WrongCode)), "{wrong}: {off:?}");
    }
    let renewed = renew(&authenticator.code(later)).await.unwrap();
    let old = renew(recovery[0].expose()).await.unwrap_err();
    assert!(matches!(old, PeopleError::WrongCode), "{old}");
    let session = people.session(token.expose(), later).await.unwrap().unwrap();
    let code = authenticator.code(later);
    let again = people.remove_codes(&session, &password, &code, &visitor, later).await;
    assert!(matches!(again, Err(PeopleError::WrongCode)), "each counts once: {again:?}");
    let off = people.remove_codes(&session, &password, renewed[0].expose(), &visitor, later);
    off.await.unwrap();
}
