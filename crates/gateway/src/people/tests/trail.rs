//! Everything leaves an entry, and nothing secret is anywhere.

use super::*;

#[tokio::test]
async fn everything_leaves_an_entry_and_secrets_are_nowhere() {
    let house = House::new().await;
    let (people, visitor, password) = (&house.people, visitor(), secret(PASSWORD));
    let welcome = people.welcome(NOW).await.unwrap().unwrap();
    let accept = people.accept_welcome(welcome.expose(), ADA, &password, &visitor, NOW).await;
    let begun = accept.unwrap();
    let session = people.session(begun.token.expose(), NOW).await.unwrap().unwrap();
    let setup = people.set_up_codes(&session, &password, &visitor, NOW).await.unwrap();
    let code = Authenticator::of(&setup).code(NOW);
    let confirmed =
        people.confirm_codes(&session, setup.sealed.expose(), &code, &visitor, NOW).await;
    let recovery = confirmed.unwrap();
    let wrong = house.sign_in(ADA, "what was typed by mistake", NOW).await.unwrap_err();
    let unknown = house.sign_in("typed-by-mistake", PASSWORD, NOW).await.unwrap_err();
    let asked = house.sign_in(ADA, PASSWORD, NOW).await.unwrap();
    let SignedIn::CodeNeeded(challenge) = &asked else { panic!() };
    let refused =
        people.sign_in_with_code(challenge.sealed.expose(), "000000", &visitor, NOW).await;
    let by_code =
        people.sign_in_with_code(challenge.sealed.expose(), recovery[0].expose(), &visitor, NOW);
    let by_code = by_code.await.unwrap();
    let session = people.session(by_code.token.expose(), NOW).await.unwrap().unwrap();
    let code = recovery[1].expose();
    let renewed = people.renew_recovery_codes(&session, &password, code, &visitor, NOW).await;
    let renewed = renewed.unwrap();
    let new = secret("a much better password");
    people.change_password(&session, &password, &new, &visitor, NOW).await.unwrap();
    let session = people.session(by_code.token.expose(), NOW).await.unwrap().unwrap();
    let code = renewed[0].expose();
    people.remove_codes(&session, &new, code, &visitor, NOW).await.unwrap();
    people.end_other_sessions(&session, NOW).await.unwrap();
    people.sign_out(&session, &visitor, NOW).await.unwrap();
    let invitation = Invitation { email: "g@x.org".to_owned(), ..Invitation::default() };
    let invited = house.admin(NOW).invite(invitation).await.unwrap();
    let reset = house.admin(NOW).reset(&which(ADA), SessionTimes::default()).await.unwrap();

    let trail = house.trail().await;
    let verbs: Vec<&str> = trail.iter().map(|(verb, _)| verb.as_str()).collect();
    let expected = [
        "people.welcome",
        "accounts.create",
        "people.create",
        "people.set-password",
        "people.sign-in",
        "people.set-codes",
        "people.sign-in-refused",
        "people.sign-in-refused",
        "people.sign-in-refused",
        "people.sign-in",
        "people.renew-recovery-codes",
        "people.set-password",
        "people.remove-codes",
        "sessions.end",
        "people.sign-out",
        "people.create",
        "people.invite",
        "people.reset",
    ];
    assert_eq!(verbs, expected);
    assert_eq!(trail[4].1["surface"], "dashboard");
    assert_eq!(trail[4].1["after"]["browser"], "Mozilla/5.0");
    assert_eq!(house.store.verify_audit(&house.master_key, &[]).await.unwrap().broken, None);

    let mut secrets = vec![
        PASSWORD,
        new.expose(),
        "what was typed by mistake",
        "typed-by-mistake",
        welcome.expose(),
        begun.token.expose(),
        by_code.token.expose(),
        invited.token.expose(),
        reset.token.expose(),
        setup.secret.expose(),
        setup.sealed.expose(),
        challenge.sealed.expose(),
        session.form_token(),
    ];
    secrets.extend(recovery.iter().chain(&renewed).map(|code| code.expose().as_str()));
    let plain: Vec<String> = recovery.iter().map(|code| code.expose().replace('-', "")).collect();
    secrets.extend(plain.iter().map(String::as_str));
    let shown = format!(
        "{welcome:?} {begun:?} {session:?} {setup:?} {recovery:?} {wrong:?} {wrong} {unknown:?} \
         {asked:?} {refused:?} {by_code:?} {renewed:?} {invited:?} {reset:?} {people:?} {trail:?}"
    );
    for secret in &secrets {
        assert!(!shown.contains(secret), "{secret} is shown");
    }
    assert!(!shown.contains("$argon2id"), "nor is a password's hash");
    for file in std::fs::read_dir(house.store.data_dir()).unwrap() {
        let path = file.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
            assert!(!found, "{secret} is in {}", path.display());
        }
    }
}
