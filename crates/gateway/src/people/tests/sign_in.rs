//! Passwords, codes, and whoever guesses them.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn whatever_is_wrong_the_answer_is_the_same() {
    let house = House::with_ada().await;
    let invited = Invitation { email: "new@example.org".to_owned(), ..Invitation::default() };
    house.admin(NOW).invite(invited).await.unwrap();
    house.add("gone@example.org", Role::Developer).await;
    house.admin(NOW).suspend(&which("gone@example.org"), "left").await.unwrap();
    house.add("removed@example.org", Role::Developer).await;
    house.admin(NOW).remove(&which("removed@example.org"), None).await.unwrap();
    let before = house.trail().await.len();
    let mut answers = Vec::new();
    for (email, password) in [
        (ADA, "wrong"),
        (ADA, ""),
        ("nobody@example.org", PASSWORD),
        ("new@example.org", PASSWORD),
        ("new@example.org", ""),
        ("gone@example.org", PASSWORD),
        ("removed@example.org", PASSWORD),
        ("no address", PASSWORD),
    ] {
        let hashes = house.hashes();
        let error = house.sign_in(email, password, NOW).await.unwrap_err();
        assert!(matches!(error, PeopleError::Refused), "{email}: {error}");
        assert_eq!(house.hashes(), hashes + 1, "{email}: each costs one hash, whoever it is");
        answers.push(error.to_string());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
    let trail = house.trail().await;
    let entries = &trail[before..];
    assert_eq!(entries.len(), 8, "each has one entry, whoever it is");
    for (verb, entry) in entries {
        assert_eq!(
            (&**verb, &entry["actor"]["kind"]),
            ("people.sign-in-refused", &"nobody".into())
        );
        assert_eq!(entry["after"]["address"], "192.0.2.7");
        let text = entry.to_string();
        assert!(!text.contains("nobody@") && !text.contains("no address"), "{text}");
    }
    assert_eq!(entries[2].1["subject"], "person:unknown");
    assert_eq!(entries[5].1["after"]["reason"], "suspended");
    house.sign_in(&ADA.to_uppercase(), PASSWORD, NOW).await.unwrap();
    for long in ["x".repeat(300), String::new()] {
        let error = house.sign_in(&long, PASSWORD, NOW).await.unwrap_err();
        assert!(matches!(error, PeopleError::Refused), "{error}");
    }
}

/// An address may be somebody in several accounts; the password says who is meant.
#[tokio::test]
async fn namesakes_of_other_accounts_are_told_apart_by_their_passwords() {
    let house = House::with_ada().await;
    let admin = house.admin(NOW);
    let tier = sluice_core::key::AccountTier::Lowest;
    admin.create_account(crate::admin::NewAccount::named("second", tier)).await.unwrap();
    let wish = Invitation {
        email: ADA.to_owned(),
        account: Some("second".to_owned()),
        ..Invitation::default()
    };
    let invited = admin.invite(wish).await.unwrap();
    let (token, other) = (invited.token.expose(), secret("a different password"));
    house.people.accept_link(token, &other, &visitor(), NOW).await.unwrap();
    let signed_in = house.sign_in(ADA, "a different password", NOW).await.unwrap();
    let SignedIn::Done(begun) = signed_in else { panic!("{signed_in:?}") };
    assert_eq!(begun.person.id, invited.person.id);
    let SignedIn::Done(begun) = house.sign_in(ADA, PASSWORD, NOW).await.unwrap() else { panic!() };
    assert_ne!(begun.person.id, invited.person.id);
}

/// However many accounts know an address, each of its people signs in, whoever is suspended
/// elsewhere; and how long it takes says nothing about the address.
#[tokio::test]
async fn an_address_of_many_accounts_opens_each_that_is_active() {
    let house = House::with_ada().await;
    house.add("eve@example.org", Role::Developer).await;
    let admin = house.admin(NOW);
    let mut people = Vec::new();
    for number in 1..=5 {
        // One after the other: the oldest comes first.
        let admin = house.admin(NOW.plus(Duration::from_secs(number)));
        let (name, tier) = (format!("account {number}"), sluice_core::key::AccountTier::Lowest);
        admin.create_account(crate::admin::NewAccount::named(&name, tier)).await.unwrap();
        let (email, account) = (ADA.to_owned(), Some(name));
        let wish = Invitation { email, account, ..Invitation::default() };
        let invited = admin.invite(wish).await.unwrap();
        let own = match number {
            1..=3 => "the same everywhere".to_owned(),
            _ => format!("number {number} only"),
        };
        let (token, own, visitor) = (invited.token.expose(), secret(&own), visitor());
        let accepted = house.people.accept_link(token, &own, &visitor, NOW).await;
        people.push(accepted.unwrap().person);
    }
    let suspend = Which::new(Kind::Account, people[0].account_id.as_str());
    admin.suspend(&suspend, "unpaid").await.unwrap();
    for (password, expected) in
        [("number 5 only", 4), ("number 4 only", 3), ("the same everywhere", 1)]
    {
        let SignedIn::Done(begun) = house.sign_in(ADA, password, NOW).await.unwrap() else {
            panic!()
        };
        assert_eq!(begun.person.id, people[expected].id, "{password}");
    }
    for email in [ADA, "eve@example.org", "nobody@example.org"] {
        let before = house.hashes();
        house.sign_in(email, "guess", NOW).await.unwrap_err();
        assert_eq!(house.hashes(), before + 6, "{email}");
    }
}

async fn with_codes(house: &House) -> (Authenticator, Vec<Secret<String>>) {
    let (_, session) = house.session(NOW).await;
    let people = &house.people;
    let setup = people.set_up_codes(&session, &secret(PASSWORD), &visitor(), NOW).await.unwrap();
    let authenticator = Authenticator::of(&setup);
    let code = authenticator.code(NOW);
    let recovery =
        people.confirm_codes(&session, setup.sealed.expose(), &code, &visitor(), NOW).await;
    (authenticator, recovery.unwrap())
}

async fn challenge(house: &House, now: UnixMillis) -> String {
    match house.sign_in(ADA, PASSWORD, now).await.unwrap() {
        SignedIn::CodeNeeded(challenge) => challenge.sealed.expose().clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_code_is_asked_for_and_counts_once() {
    let house = House::with_ada().await;
    let (authenticator, _) = with_codes(&house).await;
    let people = &house.people;
    let give = async |challenge: &str, code: &str, now| {
        people.sign_in_with_code(challenge, code, &visitor(), now).await
    };
    let first = challenge(&house, NOW).await;
    // The code that set them up is over.
    let error = give(&first, &authenticator.code(NOW), NOW).await.unwrap_err();
    assert!(matches!(error, PeopleError::WrongCode), "{error}");
    for wrong in ["", "000000000", "12345", "abcdef", "0123-4567-89ab-cdef"] {
        let error = give(&first, wrong, NOW).await.unwrap_err();
        assert!(matches!(error, PeopleError::WrongCode), "{wrong}: {error}");
    }
    let next = NOW.plus(MINUTE);
    let code = authenticator.code(next);
    let begun = give(&first, &code, next).await.unwrap();
    assert!(house.is_signed_in(&begun.token, next).await);
    let again = give(&challenge(&house, next).await, &code, next).await.unwrap_err();
    assert!(matches!(again, PeopleError::WrongCode), "{again}");
    // Both at once.
    let later = NOW.plus(5 * MINUTE);
    let (sealed, code) = (challenge(&house, later).await, authenticator.code(later));
    let (one, two) = tokio::join!(give(&sealed, &code, later), give(&sealed, &code, later));
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
}

#[tokio::test]
async fn a_challenge_ends_and_is_nobody_elses() {
    let house = House::with_ada().await;
    let (authenticator, _) = with_codes(&house).await;
    let people = &house.people;
    let sealed = challenge(&house, NOW).await;
    let late = NOW.plus(10 * MINUTE);
    let over = async |sealed: &str, now| {
        let code = authenticator.code(now);
        let error = people.sign_in_with_code(sealed, &code, &visitor(), now).await.unwrap_err();
        assert!(matches!(error, PeopleError::StepOver), "{error}");
    };
    over(&sealed, late).await;
    over("", NOW).await;
    over(&sealed.replace('a', "b"), NOW).await;
    // Another password, or a suspension, since.
    let sealed = challenge(&house, late).await;
    house.add("boss@example.org", Role::Owner).await;
    house.admin(late).suspend(&which(ADA), "left").await.unwrap();
    over(&sealed, late).await;
    house.admin(late).resume(&which(ADA)).await.unwrap();
    let reset = house.admin(late).reset(&which(ADA), SessionTimes::default()).await.unwrap();
    over(&sealed, late).await;
    let (token, new) = (reset.token.expose(), secret("another password"));
    people.accept_link(token, &new, &visitor(), late.plus(MINUTE)).await.unwrap();
    over(&sealed, late).await;
}

#[tokio::test]
async fn a_recovery_code_works_once() {
    let house = House::with_ada().await;
    let (_, recovery) = with_codes(&house).await;
    assert_eq!(recovery.len(), 10);
    let people = &house.people;
    let code = recovery[3].expose().to_uppercase();
    let first = challenge(&house, NOW).await;
    let begun = people.sign_in_with_code(&first, &code, &visitor(), NOW).await.unwrap();
    let session = people.session(begun.token.expose(), NOW).await.unwrap().unwrap();
    assert_eq!(people.safety(&session).await.unwrap().recovery_codes_left, 9);
    let again = people.sign_in_with_code(&first, &code, &visitor(), NOW).await.unwrap_err();
    assert!(matches!(again, PeopleError::WrongCode), "{again}");
    let (password, visitor_now) = (secret(PASSWORD), visitor());
    let code = recovery[5].expose();
    let renewed = people.renew_recovery_codes(&session, &password, code, &visitor_now, NOW).await;
    let renewed = renewed.unwrap();
    let old = people.sign_in_with_code(&first, recovery[4].expose(), &visitor(), NOW).await;
    assert!(matches!(old, Err(PeopleError::WrongCode)), "{old:?}");
    people.sign_in_with_code(&first, renewed[0].expose(), &visitor(), NOW).await.unwrap();
    let entry = house.trail().await.pop().unwrap().1;
    assert_eq!(entry["after"]["by"], "recovery code");
}

#[tokio::test]
async fn guessing_is_slowed_down_the_same_for_everybody() {
    for email in [ADA, "nobody@example.org"] {
        let house = House::with_ada().await;
        let before = house.trail().await.len();
        for last in 20..30 {
            let guess = house.people.sign_in(email, &secret("guess"), &at_address(last), NOW).await;
            assert!(matches!(guess, Err(PeopleError::Refused)), "{email}: {guess:?}");
        }
        for _ in 0..5 {
            let visitor = at_address(99);
            let guess = house.people.sign_in(email, &secret(PASSWORD), &visitor, NOW).await;
            let Err(error) = guess else { panic!("{email}") };
            assert!(error.to_string().contains("15 minutes"), "{error}");
        }
        let trail = house.trail().await;
        assert_eq!(trail.len(), before + 11, "{email}: and one entry of the refusals");
        assert_eq!(trail[before + 10].1["after"]["reason"], "too many attempts");
        let later = NOW.plus(15 * MINUTE);
        let guess = house.people.sign_in(email, &secret(PASSWORD), &at_address(99), later).await;
        assert_eq!(guess.is_ok(), email == ADA);
    }
}

/// Somebody who guesses elsewhere keeps nobody out of where they are signed in, also after a restart.
#[tokio::test]
async fn where_somebody_has_a_session_is_known_after_a_restart() {
    let house = House::with_ada().await;
    let v6 = |last: u16| {
        let address = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, last);
        Visitor::new(Some(address.into()), None)
    };
    house.people.sign_in(ADA, &secret(PASSWORD), &v6(1), NOW).await.unwrap();
    let restarted = people(&house.store, &house.master_key);
    let sign_in = async |email: &str, password: &str, visitor: &Visitor| {
        restarted.sign_in(email, &secret(password), visitor, NOW).await
    };
    for last in 20..30 {
        sign_in(ADA, "guess", &at_address(last)).await.unwrap_err();
    }
    let elsewhere = sign_in(ADA, PASSWORD, &at_address(99)).await;
    assert!(matches!(elsewhere, Err(PeopleError::Throttled { .. })), "{elsewhere:?}");
    sign_in(ADA, PASSWORD, &visitor()).await.unwrap();
    sign_in(ADA, PASSWORD, &v6(2)).await.expect("the same network");
}

/// Whoever was told to try again in a few seconds has guessed nothing.
#[tokio::test]
async fn a_busy_server_counts_nothing_against_who_signs_in() {
    let house = House::with_ada().await;
    let (_, session) = house.session(NOW).await;
    let queue = house.people.passwords.fill();
    for last in 20..32 {
        let visitor = at_address(last);
        let tried = house.people.sign_in(ADA, &secret(PASSWORD), &visitor, NOW).await;
        assert!(matches!(tried, Err(PeopleError::Busy)), "{last}: {tried:?}");
        let (password, people) = (secret(PASSWORD), &house.people);
        let tried = people.set_up_codes(&session, &password, &visitor, NOW).await;
        assert!(matches!(tried, Err(PeopleError::Busy)), "{last}: {tried:?}");
    }
    drop(queue);
    house.people.sign_in(ADA, &secret(PASSWORD), &at_address(99), NOW).await.unwrap();
}

/// Behind a trusted proxy it is the client's own address that is slowed down, whatever the client
/// says of itself; others behind the same proxy go on.
#[tokio::test]
async fn behind_a_proxy_each_client_is_slowed_down_by_itself() {
    use crate::proxies::{Network, TrustedProxies};
    let house = House::with_ada().await;
    let proxies = TrustedProxies::new(vec![Network::parse("10.0.0.0/8").unwrap()]);
    let behind = |forwarded: String| {
        let mut headers = http::HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().unwrap());
        let client = proxies.client("10.0.0.1".parse().unwrap(), true, &headers);
        Visitor::new(Some(client.address), None)
    };
    let guess = async |number: usize, visitor: Visitor| {
        let email = format!("p{number}@example.org");
        house.people.sign_in(&email, &secret("guess"), &visitor, NOW).await.unwrap_err()
    };
    for number in 0..30 {
        let error = guess(number, behind(format!("203.0.113.{number}, 192.0.2.7"))).await;
        assert!(matches!(error, PeopleError::Refused), "{number}: {error}");
    }
    let error = guess(30, behind("203.0.113.30, 192.0.2.7".to_owned())).await;
    assert!(matches!(error, PeopleError::Throttled { .. }), "{error}");
    let error = guess(31, behind("192.0.2.8".to_owned())).await;
    assert!(matches!(error, PeopleError::Refused), "{error}");
}

/// Somebody who has the password has a few codes a day, from wherever they come.
#[tokio::test]
async fn codes_cannot_be_guessed_by_who_has_the_password() {
    let house = House::with_ada().await;
    with_codes(&house).await;
    let people = &house.people;
    let mut wrong = 0;
    for hour in 0..23 {
        let now = NOW.plus(hour * HOUR);
        for last in 50..60 {
            let visitor = at_address(last);
            let tried = people.sign_in(ADA, &secret(PASSWORD), &visitor, now).await;
            let Ok(SignedIn::CodeNeeded(challenge)) = tried else { panic!("{tried:?}") };
            let tried =
                people.sign_in_with_code(challenge.sealed.expose(), "x", &visitor, now).await;
            wrong += u32::from(matches!(tried, Err(PeopleError::WrongCode)));
        }
    }
    assert_eq!(wrong, 20);
}
