//! One team, department, service or account: what belongs to it, and what can be done to it.

use std::sync::Arc;

use http::StatusCode;
use sluice_core::key::AccountTier;
use sluice_core::organisation::Holder;
use sluice_gateway::admin::{
    AccountChange, AdminError, Kind, Permissions, ServiceChange, TeamChange, Verb,
};
use sluice_gateway::{KeyRecord, PersonRecord, Record};

use crate::components::{Drawn, Field, Kind as Input, Problem, Query, Text};
use crate::format;
use crate::layout::Head;
use crate::pages::organisation::Spend;
use crate::pages::organisation::deeds::{self, ask_first, remove, resume, suspend};
use crate::pages::organisation::kinds::{self, Wrong};
use crate::pages::person::{FILES, Members, Profile, SHOWN, changed_meanwhile, key_lines};
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other};

mod view;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/organisation/teams/{id}", Access::May(Verb::SeeTeam), |ask| {
        Box::pin(show(ask, Kind::Team))
    }),
    get("/organisation/teams/{id}/suspend", Access::May(Verb::SuspendTeam), |ask| {
        Box::pin(ask_first(ask, Kind::Team))
    }),
    get("/organisation/teams/{id}/resume", Access::May(Verb::SuspendTeam), |ask| {
        Box::pin(ask_first(ask, Kind::Team))
    }),
    get("/organisation/teams/{id}/remove", Access::May(Verb::RemoveTeam), |ask| {
        Box::pin(ask_first(ask, Kind::Team))
    }),
    post("/organisation/teams/{id}", Access::May(Verb::ChangeTeam), |ask| {
        Box::pin(change(ask, Kind::Team))
    }),
    post("/organisation/teams/{id}/suspend", Access::May(Verb::SuspendTeam), |ask| {
        Box::pin(suspend(ask, Kind::Team))
    }),
    post("/organisation/teams/{id}/resume", Access::May(Verb::SuspendTeam), |ask| {
        Box::pin(resume(ask, Kind::Team))
    }),
    post("/organisation/teams/{id}/remove", Access::May(Verb::RemoveTeam), |ask| {
        Box::pin(remove(ask, Kind::Team))
    }),
    get("/organisation/departments/{id}", Access::May(Verb::SeeDepartment), |ask| {
        Box::pin(show(ask, Kind::Department))
    }),
    get("/organisation/departments/{id}/suspend", Access::May(Verb::SuspendDepartment), |ask| {
        Box::pin(ask_first(ask, Kind::Department))
    }),
    get("/organisation/departments/{id}/resume", Access::May(Verb::SuspendDepartment), |ask| {
        Box::pin(ask_first(ask, Kind::Department))
    }),
    get("/organisation/departments/{id}/remove", Access::May(Verb::RemoveDepartment), |ask| {
        Box::pin(ask_first(ask, Kind::Department))
    }),
    post("/organisation/departments/{id}", Access::May(Verb::ChangeDepartment), |ask| {
        Box::pin(change(ask, Kind::Department))
    }),
    post("/organisation/departments/{id}/suspend", Access::May(Verb::SuspendDepartment), |ask| {
        Box::pin(suspend(ask, Kind::Department))
    }),
    post("/organisation/departments/{id}/resume", Access::May(Verb::SuspendDepartment), |ask| {
        Box::pin(resume(ask, Kind::Department))
    }),
    post("/organisation/departments/{id}/remove", Access::May(Verb::RemoveDepartment), |ask| {
        Box::pin(remove(ask, Kind::Department))
    }),
    get("/organisation/services/{id}", Access::May(Verb::SeeService), |ask| {
        Box::pin(show(ask, Kind::Service))
    }),
    get("/organisation/services/{id}/suspend", Access::May(Verb::SuspendService), |ask| {
        Box::pin(ask_first(ask, Kind::Service))
    }),
    get("/organisation/services/{id}/resume", Access::May(Verb::SuspendService), |ask| {
        Box::pin(ask_first(ask, Kind::Service))
    }),
    get("/organisation/services/{id}/remove", Access::May(Verb::RemoveService), |ask| {
        Box::pin(ask_first(ask, Kind::Service))
    }),
    post("/organisation/services/{id}", Access::May(Verb::ChangeService), |ask| {
        Box::pin(change(ask, Kind::Service))
    }),
    post("/organisation/services/{id}/suspend", Access::May(Verb::SuspendService), |ask| {
        Box::pin(suspend(ask, Kind::Service))
    }),
    post("/organisation/services/{id}/resume", Access::May(Verb::SuspendService), |ask| {
        Box::pin(resume(ask, Kind::Service))
    }),
    post("/organisation/services/{id}/remove", Access::May(Verb::RemoveService), |ask| {
        Box::pin(remove(ask, Kind::Service))
    }),
    get("/organisation/accounts/{id}", Access::May(Verb::CreateAccount), |ask| {
        Box::pin(show(ask, Kind::Account))
    }),
    get("/organisation/accounts/{id}/suspend", Access::May(Verb::SuspendAccount), |ask| {
        Box::pin(ask_first(ask, Kind::Account))
    }),
    get("/organisation/accounts/{id}/resume", Access::May(Verb::SuspendAccount), |ask| {
        Box::pin(ask_first(ask, Kind::Account))
    }),
    post("/organisation/accounts/{id}", Access::May(Verb::ChangeAccount), |ask| {
        Box::pin(change(ask, Kind::Account))
    }),
    post("/organisation/accounts/{id}/suspend", Access::May(Verb::SuspendAccount), |ask| {
        Box::pin(suspend(ask, Kind::Account))
    }),
    post("/organisation/accounts/{id}/resume", Access::May(Verb::SuspendAccount), |ask| {
        Box::pin(resume(ask, Kind::Account))
    }),
];

async fn show(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    page(&ask, &profile(&ask, record, None).await?)
}

fn change_verb(kind: Kind) -> Verb {
    match kind {
        Kind::Department => Verb::ChangeDepartment,
        Kind::Service => Verb::ChangeService,
        Kind::Account => Verb::ChangeAccount,
        _ => Verb::ChangeTeam,
    }
}

async fn profile(ask: &Ask, record: Record, wrong: Option<&Wrong>) -> Result<Profile, Failure> {
    let permissions = ask.admin()?.permissions().await?;
    let company = permissions.organisation();
    let kind = Kind::of(&record);
    let is_there = !kinds::is_removed(&record);
    let fits = |key: &KeyRecord| match &record {
        Record::Team(it) => key.team_id.as_ref() == Some(&it.id),
        Record::Department(it) => {
            company.department_of(key.team_id.as_ref()).is_some_and(|of| of.id == it.id)
        }
        Record::Service(it) => key.holder == Some(Holder::Service(it.id.clone())),
        _ => false,
    };
    // Operators see accounts, and nothing that is in them.
    let keys = match kind {
        Kind::Account => None,
        _ => Some((key_list(&record), key_lines(ask, company, fits).await?)),
    };
    let asked = ask.admin()?.keys_left_by(&record).await?;
    let may_change =
        is_there && !kinds::is_files(&record) && permissions.may(change_verb(kind), &record);
    let stamp = match kind {
        Kind::Account => String::new(),
        _ => format!("{} in the last 30 days", Spend::of(ask).await?.cost(record.subject().id())),
    };
    let above = kinds::list_path(kind);
    Ok(Profile {
        head: Head::new(kinds::name(&record)).below(section(kind), above).stamp(stamp),
        path: kinds::path(&record),
        what: word(kind),
        state: kinds::state(&record),
        notice: deeds::notice(ask, &record),
        facts: facts(ask, &permissions, &record),
        keys,
        groups: groups(&permissions, &record),
        sessions: None,
        may_end: false,
        fields: if may_change { fields(ask, &permissions, &record, wrong) } else { Vec::new() },
        drawn: Drawn::of(&record),
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        read_only: kinds::is_files(&record).then_some(FILES),
        deeds: deeds::deeds(ask, &permissions, &record, &asked),
        link: None,
        csrf: ask.csrf(),
    })
}

fn key_list(record: &Record) -> String {
    let keys = Query::new("/keys", "");
    match record {
        Record::Team(it) => keys.with("team", it.id.as_str()),
        Record::Service(it) => keys.with("owner", &format!("service {}", it.name)),
        _ => keys.here(),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Team => "Team",
        Kind::Department => "Department",
        Kind::Service => "Service",
        _ => "Account",
    }
}

fn section(kind: Kind) -> &'static str {
    match kind {
        Kind::Team => "Teams",
        Kind::Department => "Departments",
        Kind::Service => "Services",
        _ => "Accounts",
    }
}

fn facts(ask: &Ask, permissions: &Permissions, record: &Record) -> Vec<(&'static str, Text)> {
    let company = permissions.organisation();
    let mut facts: Vec<(&'static str, Text)> = vec![("Id", record.subject().id().into())];
    match record {
        Record::Team(it) => {
            let department = company.departments.get(&it.department_id);
            facts.push(("Department", department.map_or("–", |it| it.name.as_str()).into()));
        }
        Record::Service(it) => {
            let team = it.team_id.as_ref().and_then(|id| company.teams.get(id));
            facts.push(("Looked after by", team.map_or("nobody", |it| it.name.as_str()).into()));
        }
        Record::Account(it) => {
            let figure = |number: Option<u64>| -> Text {
                number.map_or_else(|| "the tier's".to_owned(), format::count).into()
            };
            let yes = |is: bool| -> Text { if is { "yes" } else { "no" }.into() };
            facts.push(("Tier", it.tier.as_str().into()));
            facts.push(("Requests an hour", figure(it.requests_per_hour)));
            facts.push(("Tokens a day", figure(it.tokens_per_day)));
            facts.push(("Requests at once", figure(it.concurrent_requests)));
            facts.push(("Region", it.region.map_or("any", |it| it.as_str()).into()));
            facts.push(("Lowest level", it.minimum_level.as_str().into()));
            facts.push(("Zero retention", yes(it.zero_retention)));
            facts.push(("Audit entries", yes(it.audit)));
            facts.push(("Made", ask.calendar().minute(it.created_at).into()));
        }
        _ => {}
    }
    if let Some(life) = record.life() {
        facts.push(("Made", ask.calendar().minute(life.created_at).into()));
    }
    facts
}

/// What of its people, teams and services the reader sees.
fn groups(permissions: &Permissions, record: &Record) -> Vec<Members> {
    let company = permissions.organisation();
    let team = |id: &str| match record {
        Record::Team(it) => it.id.as_str() == id,
        Record::Department(it) => {
            company.teams.get(id).is_some_and(|team| team.department_id == it.id)
        }
        _ => false,
    };
    if !matches!(record, Record::Team(_) | Record::Department(_)) {
        return Vec::new();
    }
    let mut groups = Vec::new();
    if let Record::Department(department) = record {
        let teams = company.teams.values();
        let teams = teams.filter(|it| it.department_id == department.id && it.life.is_there());
        let teams = teams.map(|it| Record::Team(it.clone()));
        let rows = rows(teams.filter(|it| permissions.may(Verb::SeeTeam, it)));
        groups.push(members("Teams", "State", rows));
    }
    let is_in =
        |it: &&PersonRecord| it.life.is_there() && it.teams.iter().any(|id| team(id.as_str()));
    let people = company.people.values().filter(is_in).map(|it| Record::Person(it.clone()));
    let people = rows(people.filter(|it| permissions.may(Verb::SeePerson, it)));
    groups.push(members("People", "Role", people));
    let services = company
        .services
        .values()
        .filter(|it| it.life.is_there() && it.team_id.as_ref().is_some_and(|id| team(id.as_str())));
    let services = services.map(|it| Record::Service(it.clone()));
    let services = rows(services.filter(|it| permissions.may(Verb::SeeService, it)));
    if !services.is_empty() {
        groups.push(members("Services", "State", services));
    }
    groups
}

fn rows(records: impl Iterator<Item = Record>) -> Vec<(String, Text, Text)> {
    let row = |record: Record| {
        let word = match &record {
            Record::Person(it) => it.role.as_str(),
            other if kinds::suspension(other).is_some() => "suspended",
            _ => "active",
        };
        (kinds::path(&record), Text::from(kinds::name(&record)), Text::from(word))
    };
    let mut rows: Vec<_> = records.map(row).collect();
    rows.sort_by(|(_, a, _), (_, b, _)| a.plain().cmp(b.plain()));
    rows
}

fn members(
    title: &'static str,
    what: &'static str,
    mut rows: Vec<(String, Text, Text)>,
) -> Members {
    let more = rows.len().saturating_sub(SHOWN) as u64;
    rows.truncate(SHOWN);
    let more = (more > 0).then(|| format!("{} more.", format::count(more)));
    Members { title, what, rows, more }
}

/// What can be changed, as it is or as it was typed.
fn fields(
    ask: &Ask,
    permissions: &Permissions,
    record: &Record,
    wrong: Option<&Wrong>,
) -> Vec<Field> {
    let typed = wrong.map(|_| &ask.form);
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let name = typed.map_or(kinds::name(record), |form| form.get("name"));
    let account = record.account_id().as_str();
    let chosen = |name: &str, is: &str| -> String {
        typed.and_then(|form| form.some(name)).unwrap_or(is).to_owned()
    };
    let name = Field::new(Input::Line, "name", "Name").value(name);
    let mut fields = vec![marked(name, "name").required()];
    match record {
        Record::Team(it) => {
            let departments = kinds::departments(permissions, account);
            let chosen = chosen("department", it.department_id.as_str());
            let values = kinds::values(&departments);
            let field = Field::select("department", "Department", &values, &chosen);
            fields.push(marked(field, "department"));
        }
        Record::Service(it) => {
            let teams = kinds::teams(permissions, account);
            let chosen = chosen("team", it.team_id.as_ref().map_or("", |id| id.as_str()));
            let mut values = vec![("", Text::from("none: it is the account's"))];
            values.extend(kinds::values(&teams));
            let field = Field::select("team", "Team that looks after it", &values, &chosen);
            fields.push(marked(field, "teams"));
        }
        Record::Account(it) => {
            let tiers = AccountTier::ALL.map(|tier| (tier.as_str(), tier.as_str().into()));
            fields.push(Field::select("tier", "Tier", &tiers, &chosen("tier", it.tier.as_str())));
        }
        _ => {}
    }
    fields
}

async fn change(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    let admin = ask.admin()?;
    deeds::permitted(&admin.permissions().await?, change_verb(kind), &record)?;
    let (form, which) = (&ask.form, deeds::which(&record));
    if !Drawn::of(&record).fits(form) {
        let view = profile(&ask, record, None).await?;
        return changed_meanwhile(&ask, view);
    }
    let name = form.get("name").to_owned();
    let changed: Result<(), AdminError> = match kind {
        Kind::Department => admin.change_department(&which, &name).await.map(drop),
        Kind::Team => {
            let department = form.some("department").map(str::to_owned);
            let change = TeamChange { name: Some(name), department };
            admin.change_team(&which, change).await.map(drop)
        }
        Kind::Service => {
            let team = Some(form.some("team").map(str::to_owned));
            let change = ServiceChange { name: Some(name), team };
            admin.change_service(&which, change).await.map(drop)
        }
        _ => {
            let tier = form.some("tier").and_then(AccountTier::parse);
            let change = AccountChange { name: Some(name), tier, ..AccountChange::default() };
            admin.change_account(&which.text, change).await.map(drop)
        }
    };
    match changed {
        Ok(()) => see_other(format!("{}?done=changed", kinds::path(&record))),
        Err(error) => {
            let wrong = Wrong::of(error)?;
            let view = profile(&ask, record, Some(&wrong)).await?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
        }
    }
}
