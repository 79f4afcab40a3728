//! Who may do what: a copy of the table, written by hand, held against what really happens.

use std::sync::Arc;

use sluice_core::organisation::{Holder, Role};
use sluice_storage::{
    AuditFilter, DepartmentRecord, Organisation, PersonRecord, Record, ServiceRecord, TeamRecord,
    TrailEntry, TrailFilter, TrailKind,
};

use super::*;
use crate::admin::permissions::{Rights, Verb};

/// Where the thing is that something is done to, seen from whoever does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Where {
    /// It is theirs.
    Own,
    /// In their team.
    Team,
    /// In their department, and another team.
    Department,
    /// In their account, and another department.
    Account,
    /// In another account.
    Elsewhere,
}
use Where::{Account, Department, Elsewhere, Own, Team};

const PLACES: [Where; 5] = [Own, Team, Department, Account, Elsewhere];

/// How far each role gets, by verb: the farthest place that it reaches, if any. Owner, admin,
/// department lead, developer, auditor, billing, and an operator without any other right.
const A: Option<Where> = Some(Account);
const D: Option<Where> = Some(Department);
const T: Option<Where> = Some(Team);
const O: Option<Where> = Some(Own);
const E: Option<Where> = Some(Elsewhere);
const N: Option<Where> = None;
const EXPECTED: &[(&str, [Option<Where>; 7])] = &[
    ("accounts.see", [A, A, A, A, A, A, E]),
    ("accounts.create", [N, N, N, N, N, N, E]),
    ("accounts.change", [N, N, N, N, N, N, E]),
    ("accounts.suspend", [N, N, N, N, N, N, E]),
    ("departments.see", [A, A, D, D, A, A, A]),
    ("departments.create", [A, A, N, N, N, N, N]),
    ("departments.change", [A, A, D, N, N, N, N]),
    ("departments.suspend", [A, A, N, N, N, N, N]),
    ("departments.remove", [A, A, N, N, N, N, N]),
    ("teams.see", [A, A, D, T, A, A, A]),
    ("teams.create", [A, A, D, N, N, N, N]),
    ("teams.change", [A, A, D, N, N, N, N]),
    ("teams.suspend", [A, A, D, N, N, N, N]),
    ("teams.remove", [A, A, D, N, N, N, N]),
    ("people.see", [A, A, D, T, A, A, A]),
    ("people.create", [A, A, D, N, N, N, N]),
    ("people.change", [A, A, D, N, N, N, N]),
    ("people.suspend", [A, A, D, N, N, N, N]),
    ("people.remove", [A, A, D, N, N, N, N]),
    ("people.invite", [A, A, D, N, N, N, N]),
    ("people.reset", [A, A, N, N, N, N, N]),
    ("sessions.see", [A, A, O, O, A, O, O]),
    ("sessions.end", [A, A, O, O, O, O, O]),
    ("services.see", [A, A, D, T, A, A, A]),
    ("services.create", [A, A, D, N, N, N, N]),
    ("services.change", [A, A, D, N, N, N, N]),
    ("services.suspend", [A, A, D, N, N, N, N]),
    ("services.remove", [A, A, D, N, N, N, N]),
    ("keys.see", [A, A, D, O, A, A, A]),
    ("keys.create", [A, A, D, O, N, N, N]),
    ("keys.change", [A, A, D, N, N, N, N]),
    ("keys.move", [A, A, D, N, N, N, N]),
    ("keys.rotate", [A, A, D, O, N, N, N]),
    ("keys.suspend", [A, A, D, O, N, N, N]),
    ("keys.revoke", [A, A, D, O, N, N, N]),
    // Of a key: developers see those of their own.
    ("budgets.see", [A, A, D, O, A, A, A]),
    ("budgets.set", [A, A, D, N, N, A, A]),
    ("budgets.top-up", [A, A, D, N, N, A, A]),
    ("budgets.remove", [A, A, D, N, N, A, A]),
    // Of a key, as with budgets.
    ("policies.see", [A, A, D, O, A, A, A]),
    ("policies.set", [A, A, D, N, N, N, N]),
    ("policies.except", [A, A, N, N, N, N, N]),
    ("policies.set-deployment", [N, N, N, N, N, N, E]),
    // Of a team.
    ("provider-keys.see", [A, A, D, N, A, A, A]),
    ("provider-keys.add", [A, A, D, N, N, N, N]),
    ("provider-keys.change", [A, A, D, N, N, N, N]),
    ("provider-keys.test", [A, A, D, N, N, N, N]),
    ("provider-keys.rotate", [A, A, D, N, N, N, N]),
    ("provider-keys.remove", [A, A, D, N, N, N, N]),
    // Of a team, too.
    ("routers.see", [A, A, D, T, A, A, A]),
    ("routers.create", [A, A, D, N, N, N, N]),
    ("routers.change", [A, A, D, N, N, N, N]),
    ("routers.remove", [A, A, D, N, N, N, N]),
    ("records.see", [A, A, D, O, A, A, A]),
    ("records.export", [A, A, D, O, A, A, A]),
    ("trail.see", [A, A, N, N, A, N, N]),
    ("trail.export", [A, A, N, N, A, N, N]),
    ("content.read", [A, N, N, N, A, N, N]),
    // They belong to no account: whoever is signed in sees them wherever they are.
    ("providers.see", [E, E, E, E, E, E, E]),
    ("providers.create", [N, N, N, N, N, N, E]),
    ("providers.change", [N, N, N, N, N, N, E]),
    ("providers.test", [N, N, N, N, N, N, E]),
    ("providers.remove", [N, N, N, N, N, N, E]),
    ("models.see", [E, E, E, E, E, E, E]),
    ("models.create", [N, N, N, N, N, N, E]),
    ("models.change", [N, N, N, N, N, N, E]),
    ("models.remove", [N, N, N, N, N, N, E]),
];

/// Two accounts; in the first, two departments; in the first of those, two teams.
pub(super) struct Company {
    pub(super) house: House,
    pub(super) organisation: Organisation,
}

impl Company {
    pub(super) async fn new() -> Self {
        let house = House::new().await;
        let admin = house.at(NOW);
        for account in ["here", "elsewhere"] {
            let wish = NewAccount::named(account, AccountTier::Highest);
            admin.create_account(wish).await.unwrap();
        }
        let teams = [
            ("here", "engineering", "compilers"),
            ("here", "engineering", "tools"),
            ("here", "sales", "europe"),
            ("elsewhere", "research", "lab"),
        ];
        for (account, department, team) in teams {
            let account = Some(account.to_owned());
            let name = department.to_owned();
            let wish = NewDepartment { account: account.clone(), name };
            match admin.create_department(wish).await {
                Ok(_) | Err(AdminError::Storage(StorageError::Exists { .. })) => {}
                Err(error) => panic!("{error}"),
            }
            let (department, name) = (department.to_owned(), team.to_owned());
            admin.create_team(NewTeam { account, department, name }).await.unwrap();
        }
        let organisation = house.store.organisation().await.unwrap();
        Self { house, organisation: Arc::unwrap_or_clone(organisation) }
    }

    pub(super) fn team(&self, name: &str) -> TeamRecord {
        self.organisation.teams.values().find(|it| it.name == name).unwrap().clone()
    }

    fn department(&self, team: &str) -> DepartmentRecord {
        self.organisation.departments[&self.team(team).department_id].clone()
    }

    /// A person of the team `compilers`, who is not kept.
    fn person(&self, role: Role, operator: bool) -> PersonRecord {
        let team = self.team("compilers");
        PersonRecord {
            id: "per_me".into(),
            account_id: team.account_id,
            email: "me@example.org".to_owned(),
            name: None,
            role,
            operator,
            teams: vec![team.id],
            life: sluice_storage::Life::from(NOW),
        }
    }

    /// The thing that `verb` is about, at a place; nothing where there is no such thing.
    async fn thing(&self, verb: Verb, place: Where) -> Option<Record> {
        let team = match place {
            Own | Team => self.team("compilers"),
            Department => self.team("tools"),
            Account => self.team("europe"),
            Elsewhere => self.team("lab"),
        };
        let (kind, _) = verb.as_str().split_once('.').unwrap();
        let kind = if verb.concerns_deployment() { "models" } else { kind };
        Some(match kind {
            // What belongs to no account is asked of no record.
            "accounts" | "trail" | "providers" | "models" => {
                let account = &self.organisation.accounts[&team.account_id];
                return matches!(place, Account | Elsewhere).then(|| account.clone().into());
            }
            "departments" => {
                let department = self.department(&team.name);
                return (place >= Department).then(|| department.into());
            }
            "teams" | "provider-keys" | "routers" if place == Own => return None,
            "teams" | "provider-keys" | "routers" => team.into(),
            "people" if place == Own => return None,
            // Everybody's own, whatever their role is.
            "sessions" if place == Own => self.person(Role::Developer, false).into(),
            "people" | "sessions" => {
                let teams = vec![team.id.clone()];
                let other = self.person(Role::Developer, false);
                let account_id = team.account_id;
                PersonRecord { id: "per_other".into(), account_id, teams, ..other }.into()
            }
            "services" if place == Own => return None,
            "services" => ServiceRecord {
                id: "ser_1".into(),
                account_id: team.account_id.clone(),
                team_id: Some(team.id),
                name: "ci".to_owned(),
                life: sluice_storage::Life::from(NOW),
            }
            .into(),
            _ => {
                let admin = self.house.at(NOW);
                let key = NewKey { team: Some(team.id.to_string()), ..wish() };
                let made = admin.create_key(key, None).await.unwrap().record;
                let holder = (place == Own).then(|| Holder::Person("per_me".into()));
                KeyRecord { holder, ..made }.into()
            }
        })
    }
}

/// What a lead gets is not for them to say, whatever the table lets them: also not of their own keys.
fn is_what_leads_get(verb: Verb, role: Role, place: Where) -> bool {
    matches!(verb, Verb::SetBudget | Verb::TopUpBudget | Verb::RemoveBudget | Verb::SetPolicy)
        && role == Role::DepartmentLead
        && place == Own
}

#[tokio::test]
async fn the_table_says_what_its_copy_says() {
    let company = Company::new().await;
    let words: Vec<&str> = Verb::ALL.iter().map(|verb| verb.as_str()).collect();
    let copied: Vec<&str> = EXPECTED.iter().map(|(verb, _)| *verb).collect();
    assert_eq!(words, copied, "every verb is in the copy");
    for (verb, (_, expected)) in Verb::ALL.iter().zip(EXPECTED) {
        for place in PLACES {
            let Some(thing) = company.thing(*verb, place).await else { continue };
            let roles = Role::ALL.iter().map(|role| (*role, false));
            for ((role, operator), reach) in roles.chain([(Role::Billing, true)]).zip(expected) {
                let mut organisation = company.organisation.clone();
                let person = company.person(role, operator);
                organisation.people.insert(person.id.clone(), person.clone());
                let actor = Actor::Person { id: person.id };
                let allowed = |organisation: &Organisation| {
                    let rights = Rights::of(&actor, organisation);
                    match verb {
                        Verb::SeeTrail => rights.allow_trail(thing.account_id()),
                        Verb::SeeRecords => {
                            let Record::Key(key) = &thing else { panic!("{thing:?}") };
                            let whose = organisation.attribution(key);
                            rights.sight(&whose.account).admits(&whose)
                        }
                        _ if verb.concerns_deployment() => rights.allow_deployment(*verb),
                        _ => rights.allow(*verb, &thing, organisation),
                    }
                };
                // Billing sees, and an operator without another role is one who sees.
                let expected = reach.is_some_and(|reach| place <= reach)
                    && !is_what_leads_get(*verb, role, place);
                let case = format!("{verb:?} as {role:?}, operator: {operator}, {place:?}");
                assert_eq!(allowed(&organisation), expected, "{case}");

                // Whoever is suspended or removed, or whose account is suspended, is nobody.
                let why = sluice_storage::Suspension { at: NOW, reason: "x".to_owned() };
                let mut suspended = organisation.clone();
                let me = suspended.people.get_mut(&person_id()).unwrap();
                me.life.suspended = Some(why.clone());
                assert!(!allowed(&suspended), "{case}, suspended");
                let mut removed = organisation.clone();
                removed.people.get_mut(&person_id()).unwrap().life.removed_at = Some(NOW);
                assert!(!allowed(&removed), "{case}, removed");
                let mut closed = organisation;
                closed.accounts.get_mut(&person.account_id).unwrap().suspended = Some(why);
                assert!(!allowed(&closed), "{case}, account suspended");
            }
            let stranger = Actor::Person { id: "per_stranger".into() };
            let rights = Rights::of(&stranger, &company.organisation);
            assert!(!rights.allow(*verb, &thing, &company.organisation));
            let all = Rights::of(&Actor::Sluice, &company.organisation);
            assert!(all.allow(*verb, &thing, &company.organisation));
        }
    }
}

/// What a page is told before anything is done: as the table says, and as the door does.
#[tokio::test]
async fn what_is_shown_is_what_the_door_lets_through() {
    let company = Company::new().await;
    let operator = PersonRecord {
        id: "per_operator".into(),
        email: "operator@example.org".to_owned(),
        ..company.person(Role::Developer, true)
    };
    for (at, (role, is_operator)) in
        Role::ALL.iter().map(|role| (*role, false)).chain([(Role::Billing, true)]).enumerate()
    {
        let mut organisation = company.organisation.clone();
        let me = company.person(role, is_operator);
        organisation.people.insert(me.id.clone(), me.clone());
        let rights = Rights::of(&Actor::Person { id: me.id.clone() }, &organisation);
        let shown = Permissions(View { organisation: organisation.into(), rights, version: 0 });
        for (verb, (_, expected)) in Verb::ALL.iter().zip(EXPECTED) {
            let case = format!("{verb:?} as {role:?}, operator: {is_operator}");
            assert_eq!(shown.may_at_all(*verb), expected[at].is_some(), "{case}");
            assert_eq!(verb.is_open_to(&me), expected[at].is_some(), "{case}");
            for place in PLACES {
                let Some(thing) = company.thing(*verb, place).await else { continue };
                let expected = expected[at].is_some_and(|reach| place <= reach)
                    && !is_what_leads_get(*verb, role, place);
                assert_eq!(shown.may(*verb, &thing), expected, "{case}, {place:?}");
            }
        }
        // An operator is changed by operators alone, and seen by whoever sees people.
        let them = Record::Person(operator.clone());
        assert!(shown.may(Verb::SeePerson, &them));
        assert!(!shown.may(Verb::ChangePerson, &them), "{role:?}");
    }
    let nobody = Rights::of(&Actor::Nobody, &company.organisation);
    assert!(Verb::ALL.iter().all(|verb| !nobody.allow_at_all(*verb)));
    let shown = company.house.at(NOW).permissions().await.unwrap();
    assert!(Verb::ALL.iter().all(|verb| shown.may_at_all(*verb)));
    assert_eq!(shown.organisation().teams.len(), company.organisation.teams.len());
}

fn person_id() -> sluice_core::ids::PersonId {
    "per_me".into()
}

/// Whom each role may make, change and remove.
#[tokio::test]
async fn nobody_touches_who_stands_above_them() {
    let company = Company::new().await;
    for role in Role::ALL {
        let mut organisation = company.organisation.clone();
        let me = company.person(role, false);
        organisation.people.insert(me.id.clone(), me.clone());
        let rights = Rights::of(&Actor::Person { id: me.id.clone() }, &organisation);
        for other in Role::ALL {
            let them = PersonRecord { id: "per_other".into(), ..company.person(other, false) };
            let expected = match role {
                Role::Owner => true,
                Role::Admin => other != Role::Owner,
                Role::DepartmentLead => other == Role::Developer,
                _ => false,
            };
            for verb in [Verb::CreatePerson, Verb::ChangePerson, Verb::RemovePerson] {
                let allowed = rights.allow(verb, &them.clone().into(), &organisation);
                assert_eq!(allowed, expected, "{role:?} {verb:?} {other:?}");
            }
        }
    }
}

/// Every verb that changes something, through the door itself: what is allowed leaves an entry
/// without a secret, what is not leaves nothing.
#[tokio::test]
async fn every_change_leaves_an_entry_and_every_refusal_none() {
    let company = Company::new().await;
    let house = &company.house;
    let admin = house.at(NOW);
    let entries = async || {
        let kind = Some(TrailKind::Administration);
        let entries = TrailFilter { kind, ..TrailFilter::default() };
        let filter = AuditFilter { entries, ..AuditFilter::default() };
        house.store.audit(&filter).await.unwrap()
    };
    let lead = NewPerson {
        account: Some("here".to_owned()),
        email: "Lead@Example.org".to_owned(),
        name: None,
        role: Role::DepartmentLead,
        teams: vec!["compilers".to_owned()],
        operator: false,
    };
    let lead = admin.create_person(lead).await.unwrap();
    assert_eq!(lead.email, "lead@example.org");
    let lead = house.acting(Actor::Person { id: lead.id }, NOW);
    let before = (entries().await.len(), house.store.change_version().await.unwrap());

    // Their own department is theirs, another is not, and another account is not even seen.
    let key_in = |team: &str| NewKey { team: Some(team.to_owned()), ..wish() };
    let error = lead.create_key(key_in("europe"), None).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuch { .. }), "{error}");
    let error = lead.create_key(wish(), None).await.unwrap_err();
    assert!(matches!(error, AdminError::Forbidden { verb: "keys.create" }), "{error}");
    let error = lead.create_key(key_in("lab"), None).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuch { .. }), "{error}");
    let new = NewAccount::named("mine", AccountTier::Highest);
    let error = lead.create_account(new).await.unwrap_err();
    assert!(matches!(error, AdminError::Forbidden { .. }), "{error}");
    let error = lead.suspend(&Which::new(Kind::Department, "engineering"), "x").await;
    assert!(matches!(error, Err(AdminError::Forbidden { .. })));
    let admin_too = PersonChange { role: Some(Role::Admin), ..PersonChange::default() };
    let me = Which::new(Kind::Person, "lead@example.org");
    let error = lead.change_person(&me, admin_too).await.unwrap_err();
    assert!(matches!(error, AdminError::Forbidden { .. }), "{error}");
    let after = (entries().await.len(), house.store.change_version().await.unwrap());
    assert_eq!(before, after, "nothing happened");

    let made = lead.create_key(key_in("tools"), None).await.unwrap();
    let rotated = lead.rotate_key("ci", DAY).await.unwrap();
    let trail = entries().await;
    assert_eq!(trail.len(), before.0 + 2);
    let TrailEntry::Administration(entry) = &trail[0].entry else { panic!("{trail:?}") };
    assert_eq!((&*entry.verb, &*entry.surface), ("keys.rotate", "test"));
    assert_eq!(entry.actor, lead.actor);
    assert_eq!(entry.subject, format!("key:{}", made.record.id));
    assert!(entry.before.as_ref().unwrap()["secrets"][0]["expires_at"].is_null());
    assert!(entry.after["secrets"][0]["expires_at"].is_number());
    for entry in &trail {
        let text = serde_json::to_string(&entry.entry).unwrap();
        assert!(text.starts_with("{\"kind\":\"administration\""), "the index asks for it: {text}");
        for secret in [made.key.expose(), rotated.new.key.expose()] {
            assert!(!text.contains(&secret[12..]), "{text}");
        }
        assert!(!text.contains("hash"), "{text}");
    }
    let sees = lead.keys().await.unwrap();
    assert_eq!(sees.iter().map(|key| &key.id).collect::<Vec<_>>(), [&made.record.id]);
    assert_eq!(house.store.verify_audit(&house.master_key, &[]).await.unwrap().broken, None);
}

#[tokio::test]
async fn what_the_file_holds_is_changed_there_alone() {
    let company = Company::new().await;
    let old = company.team("tools");
    let life = sluice_storage::Life { managed_by: Some("file".to_owned()), ..old.life.clone() };
    let held = TeamRecord { life, ..old.clone() };
    let file = company.house.acting(Actor::File, NOW);
    let view = file.view().await.unwrap();
    file.change(&view, Verb::ChangeTeam, old, held).await.unwrap();
    let admin = company.house.at(NOW);
    let which = Which::new(Kind::Team, "tools");
    let change = TeamChange { name: Some("x".to_owned()), ..TeamChange::default() };
    for refused in [
        admin.change_team(&which, change.clone()).await.map(drop),
        admin.suspend(&which, "x").await.map(drop),
        admin.remove(&which, None).await.map(drop),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("team tools") || error.contains("team x"), "{error}");
        assert!(error.contains("configuration file"), "{error}");
    }
    file.change_team(&which, change).await.unwrap();
}

#[tokio::test]
async fn of_two_changes_at_once_one_wins_and_the_other_is_told() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let team = company.team("tools");
    let renamed = |name: &str| TeamRecord { name: name.to_owned(), ..team.clone() };
    let view = admin.view().await.unwrap();
    admin.change(&view, Verb::ChangeTeam, team.clone(), renamed("one")).await.unwrap();
    let error = admin.change(&view, Verb::ChangeTeam, team.clone(), renamed("two")).await;
    assert!(matches!(error, Err(AdminError::ChangedMeanwhile)));
    assert_eq!(company.house.store.organisation().await.unwrap().teams[&team.id].name, "one");

    // The same in earnest: each of them reads before any of them writes, or after.
    let key = admin.create_key(wish(), None).await.unwrap().record;
    let rotate = || admin.rotate_key(key.id.as_str(), DAY);
    let (a, b, c) = tokio::join!(rotate(), rotate(), rotate());
    let won = [&a, &b, &c].into_iter().filter(|done| done.is_ok()).count();
    assert_eq!(won, 1);
    for lost in [a, b, c].into_iter().filter_map(Result::err) {
        let told = matches!(lost, AdminError::ChangedMeanwhile | AdminError::TwoSecrets { .. });
        assert!(told, "{lost}");
    }
    assert_eq!(admin.key(key.id.as_str()).await.unwrap().secrets.len(), 2);
}

/// Whoever else could would have all rights by it.
#[tokio::test]
async fn nobody_but_the_file_applies_it() {
    let company = Company::new().await;
    let person = Actor::Person { id: person_id() };
    let user = Actor::CommandLine { user: "ada".to_owned() };
    for actor in [person, user, Actor::Sluice] {
        let refused = company.house.acting(actor, NOW).apply_file(&Declared::default()).await;
        assert!(matches!(refused, Err(AdminError::Forbidden { .. })), "{refused:?}");
    }
    company.house.file().apply_file(&Declared::default()).await.unwrap();
}

/// Whoever removes something was told which keys it has: one that came since would stop working.
#[tokio::test]
async fn a_removal_holds_only_as_long_as_no_key_has_come() {
    let company = Company::new().await;
    let admin = company.house.at(NOW);
    let team = company.team("tools");
    let view = admin.view().await.unwrap();
    let wish = NewKey { team: Some("tools".to_owned()), ..wish() };
    admin.create_key(wish, None).await.unwrap();
    let life = sluice_storage::Life { removed_at: Some(NOW), ..team.life.clone() };
    let removed = TeamRecord { life, ..team.clone() };
    let error = admin.change(&view, Verb::RemoveTeam, team.clone(), removed).await.unwrap_err();
    assert!(matches!(error, AdminError::ChangedMeanwhile), "{error}");
    assert!(company.house.store.organisation().await.unwrap().teams[&team.id].life.is_there());
}
