//! People, services, teams and departments: what becomes of their keys.

use std::slice;

use sluice_core::organisation::{Holder, KeyScope, Role};
use sluice_storage::{AuditFilter, TrailEntry};

use super::door::Company;
use super::*;

fn person(email: &str, role: Role) -> NewPerson {
    NewPerson {
        account: Some("here".to_owned()),
        email: email.to_owned(),
        name: None,
        role,
        teams: vec!["compilers".to_owned()],
        operator: false,
    }
}

/// Who: `ada`, a developer with a key of her own; `ci`, a service with one.
async fn staffed() -> Company {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    admin.create_person(person("ada@example.org", Role::Developer)).await.unwrap();
    let ci = NewService {
        account: Some("here".to_owned()),
        name: "ci".to_owned(),
        team: Some("compilers".to_owned()),
    };
    admin.create_service(ci).await.unwrap();
    for (name, holder) in [("hers", "person:ada@example.org"), ("its", "service:ci")] {
        let mut wish = NewKey::named(name, KeyClass::Production);
        wish.holder = Some(holder.to_owned());
        wish.team = Some("compilers".to_owned());
        admin.create_key(wish, None).await.unwrap();
    }
    company
}

async fn why(company: &Company, key: &str) -> Option<String> {
    let key = company.house.at(NOW).key(key).await.unwrap();
    company.house.store.organisation().await.unwrap().suspension(&key)
}

#[tokio::test]
async fn a_key_belongs_to_the_account_of_its_team_and_holder() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let key = admin.key("hers").await.unwrap();
    assert_eq!(key.account_id, company.team("compilers").account_id);
    assert_eq!(key.scopes, KeyScope::ALL);
    let organisation = company.house.store.organisation().await.unwrap();
    let attribution = organisation.attribution(&key);
    assert_eq!(attribution.department, Some(company.team("compilers").department_id));
    let mut wish = NewKey::named("mixed", KeyClass::Production);
    wish.holder = Some("person:ada@example.org".to_owned());
    wish.team = Some("lab".to_owned());
    let error = admin.create_key(wish, None).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuch { kind: Kind::Person, .. }), "{error}");
    let to = KeyMove { team: Some(Some("lab".to_owned())), ..KeyMove::default() };
    let error = admin.move_key("hers", to).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuch { kind: Kind::Team, .. }), "{error}");
}

/// Where the change is refused, the key has not moved either.
#[tokio::test]
async fn a_key_is_moved_and_changed_or_neither() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let before = admin.key("hers").await.unwrap();
    let id = before.id.as_str();
    let to = KeyMove { team: Some(Some("tools".to_owned())), holder: Some(None) };
    let limited = |many| KeyChange { requests_per_hour: Some(Some(many)), ..KeyChange::default() };
    let error = admin.move_and_change_key(id, to.clone(), limited(0), None).await.unwrap_err();
    assert!(matches!(error, AdminError::ZeroLimit { .. }), "{error}");
    assert_eq!(admin.key(id).await.unwrap(), before);
    let after = admin.move_and_change_key(id, to, limited(7), None).await.unwrap();
    let expected = KeyRecord {
        team_id: Some(company.team("tools").id),
        holder: None,
        requests_per_hour: Some(7),
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert_eq!(admin.key(id).await.unwrap(), expected);
    let trail = company.house.store.audit(&AuditFilter::default()).await.unwrap();
    let verbs: Vec<&str> = trail
        .iter()
        .filter_map(|chained| match &chained.entry {
            TrailEntry::Administration(entry) => Some(entry.verb.as_str()),
            TrailEntry::Request(_) => None,
        })
        .collect();
    assert_eq!(verbs[..2], ["keys.change", "keys.move"], "the latest first");
}

#[tokio::test]
async fn a_suspension_takes_and_gives_back_just_its_own_keys() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let ada = Which::new(Kind::Person, "ADA@example.org");
    let (hers, team) = (Which::new(Kind::Key, "hers"), Which::new(Kind::Team, "compilers"));
    let account = Which::new(Kind::Account, "here");
    for which in [&ada, &team, &Which::new(Kind::Department, "engineering"), &account, &hers] {
        admin.suspend(which, "a reason").await.unwrap();
        assert!(why(&company, "hers").await.unwrap().contains("a reason"), "{which:?}");
        let again = admin.suspend(which, "x").await.unwrap_err().to_string();
        assert!(again.contains("suspended already"), "{again}");
        admin.resume(which).await.unwrap();
        assert_eq!(why(&company, "hers").await, None, "{which:?}");
    }
    // Two at once: each is taken back by itself.
    admin.suspend(&ada, "on leave").await.unwrap();
    admin.suspend(&team, "reorganised").await.unwrap();
    assert!(why(&company, "its").await.is_some());
    admin.resume(&team).await.unwrap();
    assert!(why(&company, "hers").await.unwrap().contains("on leave"));
    assert_eq!(why(&company, "its").await, None);
    admin.suspend(&hers, "leaked").await.unwrap();
    admin.resume(&ada).await.unwrap();
    assert!(why(&company, "hers").await.unwrap().contains("leaked"), "that was another");
}

#[tokio::test]
async fn removing_asks_what_becomes_of_the_keys() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let ada = Which::new(Kind::Person, "ada@example.org");
    let error = admin.remove(&ada, None).await.unwrap_err().to_string();
    assert!(error.contains("hers") && error.contains("hand them over"), "{error}");
    for wrong in ["person:ada@example.org", "team:tools", "nobody", "service:none"] {
        let answer = KeysAnswer::HandOver(wrong.to_owned());
        admin.remove(&ada, Some(&answer)).await.unwrap_err();
    }
    // Suspended: they come back with her.
    let removal = admin.remove(&ada, Some(&KeysAnswer::Suspend)).await.unwrap();
    assert_eq!(removal.keys.len(), 1);
    assert!(why(&company, "hers").await.unwrap().contains("removed"));
    let shown = admin.find(&ada).await.unwrap();
    assert_eq!(admin.list_removed(Kind::Person).await.unwrap(), slice::from_ref(&shown));
    assert!(!admin.list(Kind::Person).await.unwrap().contains(&shown));
    admin.resume(&ada).await.unwrap();
    assert_eq!(why(&company, "hers").await, None);
    // Handed over.
    let before = admin.key("hers").await.unwrap();
    let answer = KeysAnswer::HandOver("ci".to_owned());
    admin.remove(&ada, Some(&answer)).await.unwrap();
    let after = admin.key("hers").await.unwrap();
    assert!(matches!(after.holder, Some(Holder::Service(_))), "{after:?}");
    assert_eq!((after.id, after.team_id), (before.id, before.team_id));
    // The address is free again, and history keeps both.
    admin.create_person(person("ada@example.org", Role::Developer)).await.unwrap();
    assert_eq!(company.house.store.organisation().await.unwrap().people.len(), 2);
    // Revoked.
    let ci = Which::new(Kind::Service, "ci");
    admin.remove(&ci, Some(&KeysAnswer::Revoke)).await.unwrap();
    for key in admin.keys().await.unwrap() {
        assert_eq!(key.revoked_at, Some(NOW), "{}", key.name);
    }
}

/// A lead is asked about keys outside their department, does not learn their names, and can leave them
/// be: they stop with their holder and come back with them.
#[tokio::test]
async fn who_removes_somebody_is_asked_about_keys_that_they_do_not_see() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let mut wish = NewKey::named("prod-root", KeyClass::Production);
    wish.holder = Some("person:ada@example.org".to_owned());
    admin.create_key(wish, None).await.unwrap();
    let lead = person("lead@example.org", Role::DepartmentLead);
    let lead = admin.create_person(lead).await.unwrap();
    let as_lead = company.house.acting(Actor::Person { id: lead.id }, NOW);
    let ada = Which::new(Kind::Person, "ada@example.org");

    let left = as_lead.keys_left_by(&as_lead.find(&ada).await.unwrap()).await.unwrap();
    let seen: Vec<&str> = left.seen.iter().map(|key| key.name.as_str()).collect();
    assert_eq!((seen, left.unseen), (vec!["hers"], 1));
    let error = as_lead.remove(&ada, None).await.unwrap_err().to_string();
    assert!(error.contains("2 keys that work: hers, and one that you do not see"), "{error}");
    let error = as_lead.remove(&ada, Some(&KeysAnswer::Revoke)).await.unwrap_err();
    assert!(matches!(error, AdminError::Forbidden { .. }), "{error}");
    as_lead.remove(&ada, Some(&KeysAnswer::Suspend)).await.unwrap();
    assert!(why(&company, "prod-root").await.unwrap().contains("removed"));
}

/// A holder is named by what it is called alone, unless that is a person and a service.
#[tokio::test]
async fn a_holder_needs_no_word_for_what_it_is() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let held_by = async |holder: &str| {
        let to = KeyMove { holder: Some(Some(holder.to_owned())), ..KeyMove::default() };
        admin.move_key("key:hers", to).await.map(|key| key.holder)
    };
    let ci = held_by("service:ci").await.unwrap();
    let ada = held_by("person:ada@example.org").await.unwrap();
    assert_eq!(held_by("ci").await.unwrap(), ci);
    assert_eq!(held_by("Ada@example.org").await.unwrap(), ada);
    let id = |holder: &Option<Holder>| holder.as_ref().unwrap().to_string();
    assert_eq!(held_by(&id(&ci)).await.unwrap(), ci);
    let error = held_by("nobody").await.unwrap_err().to_string();
    assert_eq!(error, r#"there is no person and no service "nobody""#);
    let twin = NewService {
        account: Some("here".to_owned()),
        name: "ada@example.org".to_owned(),
        team: None,
    };
    admin.create_service(twin).await.unwrap();
    let error = held_by("ada@example.org").await.unwrap_err().to_string();
    assert!(error.contains("person:ada@example.org or service:ada@example.org"), "{error}");
    assert_eq!(held_by("person:ada@example.org").await.unwrap(), ada);
}

#[tokio::test]
async fn a_teams_keys_go_to_another_team_and_a_department_with_teams_stays() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let department = Which::new(Kind::Department, "engineering");
    let error = admin.remove(&department, None).await.unwrap_err().to_string();
    assert!(error.contains("compilers, tools"), "{error}");
    let team = Which::new(Kind::Team, "compilers");
    let answer = KeysAnswer::HandOver("team:europe".to_owned());
    admin.remove(&team, Some(&answer)).await.unwrap();
    let europe = Some(company.team("europe").id);
    assert!(admin.keys().await.unwrap().iter().all(|key| key.team_id == europe));
    admin.remove(&Which::new(Kind::Team, "tools"), None).await.unwrap();
    admin.remove(&department, None).await.unwrap();
    let key = Which::new(Kind::Key, "hers");
    assert!(matches!(admin.remove(&key, None).await, Err(AdminError::NotRemovable { .. })));
}

#[tokio::test]
async fn the_last_owner_stays() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let boss = admin.create_person(person("boss@example.org", Role::Owner)).await.unwrap();
    assert!(boss.operator, "the first owner has the operator's right");
    let which = Which::new(Kind::Person, "boss@example.org");
    let demoted = PersonChange { role: Some(Role::Admin), ..PersonChange::default() };
    for refused in [
        admin.remove(&which, None).await.map(drop),
        admin.suspend(&which, "x").await.map(drop),
        admin.change_person(&which, demoted.clone()).await.map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, AdminError::LastOwner { .. }), "{error}");
    }
    let other = admin.create_person(person("two@example.org", Role::Owner)).await.unwrap();
    assert!(!other.operator);
    // Both at once: one stays.
    let also = Which::new(Kind::Person, "two@example.org");
    let (one, two) = tokio::join!(
        admin.change_person(&which, demoted.clone()),
        admin.change_person(&also, demoted)
    );
    assert_eq!([one.is_ok(), two.is_ok()].iter().filter(|done| **done).count(), 1);
}

/// Who has suspended themselves or their account could not sign in to take it back.
#[tokio::test]
async fn nobody_suspends_themselves_or_their_own_account() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let boss = admin.create_person(person("boss@example.org", Role::Owner)).await.unwrap();
    admin.create_person(person("two@example.org", Role::Owner)).await.unwrap();
    let as_boss = company.house.acting(Actor::Person { id: boss.id }, NOW);
    let (own, here) =
        (Which::new(Kind::Person, "boss@example.org"), Which::new(Kind::Account, "here"));
    for which in [&own, &here] {
        let error = as_boss.suspend(which, "x").await.unwrap_err();
        assert!(matches!(error, AdminError::OwnSuspension { .. }), "{which:?}: {error}");
        let permissions = as_boss.permissions().await.unwrap();
        assert!(permissions.is_own(&as_boss.actor, &as_boss.find(which).await.unwrap()));
    }
    for which in
        [Which::new(Kind::Person, "two@example.org"), Which::new(Kind::Account, "elsewhere")]
    {
        as_boss.suspend(&which, "x").await.unwrap();
    }
    admin.suspend(&here, "by the command line").await.unwrap();
}

#[tokio::test]
async fn names_are_told_apart_by_account_and_id() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let twin = |account: &str| NewDepartment {
        account: Some(account.to_owned()),
        name: "twins".to_owned(),
    };
    let here = admin.create_department(twin("here")).await.unwrap();
    admin.create_department(twin("elsewhere")).await.unwrap();
    let which = Which::new(Kind::Department, "twins");
    let error = admin.find(&which).await.unwrap_err().to_string();
    assert!(error.contains("2 departments fit") && error.contains(here.id.as_str()), "{error}");
    let named = Which { account: Some("here".to_owned()), ..which };
    assert_eq!(admin.find(&named).await.unwrap(), here.clone().into());
    let by_id = Which::new(Kind::Department, here.id.as_str());
    assert_eq!(admin.find(&by_id).await.unwrap(), here.into());
    let nowhere = NewDepartment { account: None, name: "x".to_owned() };
    let error = admin.create_department(nowhere).await.unwrap_err().to_string();
    assert!(error.contains("several accounts") && error.contains("elsewhere"), "{error}");
    for email in ["", "ada", "@x", "a b@x", "a@b@c"] {
        let error = admin.create_person(person(email, Role::Developer)).await.unwrap_err();
        assert!(matches!(error, AdminError::InvalidEmail(_)), "{error}");
    }
}

/// What somebody above has decided holds for those below.
#[tokio::test]
async fn rights_do_not_undo_what_greater_ones_did() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let organisation = company.house.store.organisation().await.unwrap();
    let ada = organisation.people.values().find(|it| it.email == "ada@example.org").unwrap();
    let as_ada = company.house.acting(Actor::Person { id: ada.id.clone() }, NOW);
    let hers = Which::new(Kind::Key, "hers");
    admin.suspend(&hers, "leaked").await.unwrap();
    let refused = as_ada.resume(&hers).await.unwrap_err();
    assert!(matches!(refused, AdminError::Forbidden { verb: "keys.change" }), "{refused}");
    admin.resume(&hers).await.unwrap();
    as_ada.suspend(&hers, "lost").await.unwrap();

    // A key of one's own comes with the figures of the smallest class.
    let mut wish = NewKey::named("mine", KeyClass::Enterprise);
    wish.holder = Some("person:ada@example.org".to_owned());
    wish.team = Some("compilers".to_owned());
    let refused = as_ada.create_key(wish.clone(), None).await.unwrap_err();
    assert!(matches!(refused, AdminError::Forbidden { verb: "keys.change" }), "{refused}");
    wish.class = KeyClass::Development;
    as_ada.create_key(wish, None).await.unwrap();

    // An owner who is no operator touches no operator.
    let boss = admin.create_person(person("boss@example.org", Role::Owner)).await.unwrap();
    let demoted = PersonChange { operator: Some(false), ..PersonChange::default() };
    let boss_is = Which::new(Kind::Person, "boss@example.org");
    admin.change_person(&boss_is, demoted).await.unwrap();
    let mut operator = person("op@example.org", Role::Developer);
    operator.operator = true;
    admin.create_person(operator).await.unwrap();
    let as_boss = company.house.acting(Actor::Person { id: boss.id }, NOW);
    let op = Which::new(Kind::Person, "op@example.org");
    assert!(matches!(as_boss.suspend(&op, "why").await, Err(AdminError::Forbidden { .. })));
    let ada_is = Which::new(Kind::Person, "ada@example.org");
    as_boss.suspend(&ada_is, "on leave").await.unwrap();
}

#[tokio::test]
async fn a_service_whose_team_was_removed_can_still_be_changed() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let team = Which { account: Some("here".to_owned()), ..Which::new(Kind::Team, "compilers") };
    admin.remove(&team, Some(&KeysAnswer::Suspend)).await.unwrap();
    let ci = Which { account: Some("here".to_owned()), ..Which::new(Kind::Service, "ci") };
    admin.suspend(&ci, "unused").await.unwrap();
    let account = admin.account("account:here").await.unwrap();
    assert_eq!(account.name, "here");
}

#[tokio::test]
async fn taking_a_removal_back_leaves_an_earlier_suspension() {
    let company = staffed().await;
    let admin = company.house.at(NOW);
    let ada = Which::new(Kind::Person, "ada@example.org");
    admin.suspend(&ada, "misuse").await.unwrap();
    admin.remove(&ada, Some(&KeysAnswer::Suspend)).await.unwrap();
    admin.resume(&ada).await.unwrap();
    assert!(why(&company, "hers").await.unwrap().contains("misuse"));
    admin.resume(&ada).await.unwrap();
    assert_eq!(why(&company, "hers").await, None);
}

#[tokio::test]
async fn what_was_removed_from_several_accounts_is_not_guessed() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let twins = |account: &str| Which {
        account: Some(account.to_owned()),
        ..Which::new(Kind::Department, "twins")
    };
    for account in ["here", "elsewhere"] {
        let (account, name) = (Some(account.to_owned()), "twins".to_owned());
        admin.create_department(NewDepartment { account: account.clone(), name }).await.unwrap();
        admin.remove(&twins(&account.unwrap()), None).await.unwrap();
    }
    let error = admin.resume(&Which::new(Kind::Department, "twins")).await.unwrap_err();
    assert!(matches!(error, AdminError::Ambiguous { .. }), "{error}");
    admin.resume(&twins("elsewhere")).await.unwrap();
    let here = admin.find(&twins("here")).await.unwrap();
    assert_eq!(admin.list_removed(Kind::Department).await.unwrap(), [here]);
}

#[tokio::test]
async fn a_team_comes_back_after_its_department() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let (team, department) =
        (Which::new(Kind::Team, "europe"), Which::new(Kind::Department, "sales"));
    admin.remove(&team, None).await.unwrap();
    admin.remove(&department, None).await.unwrap();
    let error = admin.resume(&team).await.unwrap_err().to_string();
    assert!(error.contains("resume the department first"), "{error}");
    admin.resume(&department).await.unwrap();
    admin.resume(&team).await.unwrap();
}
