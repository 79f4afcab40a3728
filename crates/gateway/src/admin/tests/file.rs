//! What the configuration file holds.

use std::sync::Arc;

use sluice_core::organisation::Role;
use sluice_storage::Organisation;

use super::*;

fn department(name: &str) -> DeclaredDepartment {
    DeclaredDepartment { account: None, name: name.to_owned() }
}

fn team(name: &str, department: &str) -> DeclaredTeam {
    DeclaredTeam { account: None, name: name.to_owned(), department: department.to_owned() }
}

fn person(email: &str, role: Role, teams: &[&str]) -> DeclaredPerson {
    DeclaredPerson {
        account: None,
        email: email.to_owned(),
        name: String::new(),
        role,
        teams: teams.iter().map(|team| (*team).to_owned()).collect(),
        operator: None,
    }
}

fn company() -> Declared {
    Declared {
        departments: vec![department("research")],
        teams: vec![team("vision", "research")],
        people: vec![
            person("ada@example.com", Role::Owner, &[]),
            person("bob@example.com", Role::Developer, &["vision"]),
        ],
        policies: Vec::new(),
        budgets: Vec::new(),
    }
}

async fn house() -> House {
    let house = House::new().await;
    house.at(NOW).default_account().await.unwrap();
    house
}

async fn organisation(house: &House) -> Organisation {
    Arc::unwrap_or_clone(house.store.organisation().await.unwrap())
}

#[tokio::test]
async fn what_the_file_holds_is_made_once_and_read_only_elsewhere() {
    let house = house().await;
    let admin = house.at(NOW);
    let changes = house.file().apply_file(&company()).await.unwrap();
    assert_eq!(changes.changed.len(), 4, "{changes:?}");
    let version = house.store.change_version().await.unwrap();
    assert_eq!(house.file().apply_file(&company()).await.unwrap(), FileChanges::default());
    assert_eq!(house.store.change_version().await.unwrap(), version, "nothing changed");

    let found = organisation(&house).await;
    let vision = found.teams.values().next().unwrap();
    let bob = found.people.values().find(|it| it.email == "bob@example.com").unwrap();
    assert_eq!(bob.teams, std::slice::from_ref(&vision.id));
    assert!(found.departments.contains_key(&vision.department_id));

    let which = Which::new(Kind::Team, "vision");
    let refused = admin.suspend(&which, "holidays").await.unwrap_err();
    assert!(matches!(refused, AdminError::ManagedByFile { .. }), "{refused}");
}

#[tokio::test]
async fn what_is_there_is_taken_over_by_its_name() {
    let house = house().await;
    let admin = house.at(NOW);
    let wish = NewDepartment { account: None, name: "research".to_owned() };
    let made = admin.create_department(wish).await.unwrap();
    house.file().apply_file(&company()).await.unwrap();
    let found = organisation(&house).await;
    assert_eq!(found.departments.len(), 1);
    let life = &found.departments[&made.id].life;
    assert_eq!(life.managed_by.as_deref(), Some("file"));
}

#[tokio::test]
async fn what_is_taken_out_is_suspended_and_comes_back_as_it_was() {
    let house = house().await;
    house.file().apply_file(&company()).await.unwrap();
    let before = organisation(&house).await;
    let without_bob = Declared { people: company().people[..1].to_vec(), ..company() };
    let changes = house.file().apply_file(&without_bob).await.unwrap();
    assert_eq!(changes.suspended, ["person bob@example.com"]);
    let bob = |found: &Organisation| {
        found.people.values().find(|it| it.email == "bob@example.com").unwrap().clone()
    };
    let suspended = bob(&organisation(&house).await);
    assert!(!suspended.life.is_active() && suspended.life.is_there());
    // Nothing holds him any more: who has the right may remove him.
    assert_eq!(suspended.life.managed_by, None);
    assert_eq!(house.file().apply_file(&without_bob).await.unwrap(), FileChanges::default());
    house.file().apply_file(&company()).await.unwrap();
    assert_eq!(organisation(&house).await, before);
}

#[tokio::test]
async fn a_whole_department_can_be_taken_out_at_once() {
    let house = house().await;
    house.file().apply_file(&company()).await.unwrap();
    let owner_only = Declared { people: company().people[..1].to_vec(), ..Declared::default() };
    let changes = house.file().apply_file(&owner_only).await.unwrap();
    let expected = ["department research", "person bob@example.com", "team vision"];
    let mut suspended = changes.suspended;
    suspended.sort();
    assert_eq!(suspended, expected);
}

#[tokio::test]
async fn the_last_owner_stays() {
    let house = house().await;
    house.file().apply_file(&company()).await.unwrap();
    let changes = house.file().apply_file(&Declared::default()).await.unwrap();
    assert_eq!(changes.kept, ["person ada@example.com"]);
    let found = organisation(&house).await;
    let ada = found.people.values().find(|it| it.email == "ada@example.com").unwrap();
    assert!(ada.life.is_active());

    // A file that makes her something else is refused whole.
    let mut demoted = company();
    demoted.people[0].role = Role::Developer;
    demoted.departments.push(department("sales"));
    let refused = house.file().apply_file(&demoted).await.unwrap_err();
    assert!(matches!(refused, AdminError::LastOwner { .. }), "{refused}");
    assert_eq!(organisation(&house).await, found);

    // A new owner in the file takes the place of the old one.
    let mut other = Declared::default();
    other.people.push(person("eve@example.com", Role::Owner, &[]));
    house.file().apply_file(&other).await.unwrap();
    let changes = house.file().apply_file(&company()).await.unwrap();
    assert_eq!(changes.suspended, ["person eve@example.com"]);
}

#[tokio::test]
async fn an_account_that_does_not_exist_is_named_and_the_rest_is_done() {
    let house = house().await;
    let mut declared = company();
    declared
        .departments
        .push(DeclaredDepartment { account: Some("acme".to_owned()), name: "sales".to_owned() });
    let changes = house.file().apply_file(&declared).await.unwrap();
    assert_eq!(changes.missing_accounts, ["acme"]);
    assert_eq!(changes.changed.len(), 4);
}

/// The file goes on naming an account as it was called before.
#[tokio::test]
async fn renaming_an_account_suspends_nobody() {
    let house = house().await;
    let admin = house.at(NOW);
    admin.create_account(NewAccount::named("acme", AccountTier::Highest)).await.unwrap();
    let of_acme = |declared: Declared| {
        let account = Some("acme".to_owned());
        let mut all = declared.clone();
        let departments = declared.departments.into_iter();
        all.departments
            .extend(departments.map(|it| DeclaredDepartment { account: account.clone(), ..it }));
        let teams = declared.teams.into_iter();
        all.teams.extend(teams.map(|it| DeclaredTeam { account: account.clone(), ..it }));
        let people = declared.people.into_iter();
        all.people.extend(people.map(|it| DeclaredPerson { account: account.clone(), ..it }));
        all
    };
    house.file().apply_file(&of_acme(company())).await.unwrap();
    let before = organisation(&house).await;
    let name = AccountChange { name: Some("acme-inc".to_owned()), ..AccountChange::default() };
    admin.change_account("acme", name).await.unwrap();

    // What it takes out of an account that it names is suspended all the same.
    let mut declared = of_acme(company());
    declared.people.retain(|it| it.email != "bob@example.com" || it.account.is_some());
    let changes = house.file().apply_file(&declared).await.unwrap();
    assert_eq!(changes.missing_accounts, ["acme"]);
    assert_eq!(changes.suspended, ["person bob@example.com"]);
    let after = organisation(&house).await;
    assert_eq!((&after.departments, &after.teams), (&before.departments, &before.teams));
    let suspended: Vec<_> = after.people.values().filter(|it| !it.life.is_active()).collect();
    let default = house.at(NOW).default_account().await.unwrap();
    assert!(suspended.len() == 1 && suspended[0].account_id == default.id, "{suspended:?}");

    // Once it has the new name, it holds what it held before.
    let rename = |account: &mut Option<String>| {
        if account.is_some() {
            *account = Some("acme-inc".to_owned());
        }
    };
    let mut declared = of_acme(company());
    declared.departments.iter_mut().for_each(|it| rename(&mut it.account));
    declared.teams.iter_mut().for_each(|it| rename(&mut it.account));
    declared.people.iter_mut().for_each(|it| rename(&mut it.account));
    let changes = house.file().apply_file(&declared).await.unwrap();
    assert_eq!(changes.changed, ["person bob@example.com"]);
    assert_eq!(organisation(&house).await.people, before.people);
}

#[tokio::test]
async fn the_operators_right_stays_unless_the_file_says_otherwise() {
    let house = house().await;
    let operators = async || {
        let people = organisation(&house).await.people;
        let operators = people.into_values().filter(|it| it.operator).map(|it| it.email);
        let mut operators: Vec<String> = operators.collect();
        operators.sort();
        operators
    };
    // The first owner has it, whoever makes them.
    let mut declared = company();
    declared.people.push(person("eve@example.com", Role::Owner, &[]));
    house.file().apply_file(&declared).await.unwrap();
    assert_eq!(operators().await, ["ada@example.com"]);
    assert_eq!(house.file().apply_file(&declared).await.unwrap(), FileChanges::default());
    for (said, expected) in [
        (Some(true), vec!["ada@example.com", "eve@example.com"]),
        (None, vec!["ada@example.com", "eve@example.com"]),
        (Some(false), vec!["ada@example.com"]),
    ] {
        declared.people[2].operator = said;
        house.file().apply_file(&declared).await.unwrap();
        assert_eq!(operators().await, expected, "{said:?}");
    }
}

/// Before the file there was an owner, made with a command.
#[tokio::test]
async fn taking_the_first_owner_over_leaves_them_operator() {
    let house = house().await;
    let admin = house.at(NOW);
    let ada = NewPerson {
        account: None,
        email: "ada@example.com".to_owned(),
        name: None,
        role: Role::Owner,
        teams: Vec::new(),
        operator: false,
    };
    assert!(admin.create_person(ada).await.unwrap().operator);
    house.file().apply_file(&company()).await.unwrap();
    let people = organisation(&house).await.people;
    assert!(people.values().any(|it| it.email == "ada@example.com" && it.operator));
}
