//! Accounts, departments, teams, people and services: the lists, and the forms that add to them.

pub(crate) mod deeds;
pub(crate) mod kinds;
mod view;

use std::collections::HashMap;
use std::sync::Arc;

use http::StatusCode;
use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_core::key::AccountTier;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Role;
use sluice_gateway::admin::{
    AdminError, Invitation, Kind, NewAccount, NewDepartment, NewService, NewTeam, Permissions, Verb,
};
use sluice_gateway::{KeyRecord, Life, Organisation as Company, PersonRecord, Record};

use crate::components::{
    Cost, Count, Empty, Field, Filter, Kind as Input, Markup, Offer, Problem, Tabs, Text,
};
use crate::format;
use crate::layout::Head;
use crate::pages::requests::unless_slow;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other};
use kinds::Wrong;
use view::{AccountRow, Add, GroupRow, Organisation, Part, PersonRow};

pub(crate) use view::{Link, remove_person, samples};

pub(crate) const ROUTES: &[Route] = &[
    get("/organisation", Access::May(Verb::SeePerson), |ask| Box::pin(list(ask, Kind::Person))),
    get("/organisation/teams", Access::May(Verb::SeeTeam), |ask| Box::pin(list(ask, Kind::Team))),
    get("/organisation/departments", Access::May(Verb::SeeDepartment), |ask| {
        Box::pin(list(ask, Kind::Department))
    }),
    get("/organisation/services", Access::May(Verb::SeeService), |ask| {
        Box::pin(list(ask, Kind::Service))
    }),
    // Whoever is no operator has one account, which its own page does not make longer.
    get("/organisation/accounts", Access::May(Verb::CreateAccount), |ask| {
        Box::pin(list(ask, Kind::Account))
    }),
    post("/organisation/people", Access::May(Verb::InvitePerson), |ask| Box::pin(invite(ask))),
    post("/organisation/teams", Access::May(Verb::CreateTeam), |ask| {
        Box::pin(create(ask, Kind::Team))
    }),
    post("/organisation/departments", Access::May(Verb::CreateDepartment), |ask| {
        Box::pin(create(ask, Kind::Department))
    }),
    post("/organisation/services", Access::May(Verb::CreateService), |ask| {
        Box::pin(create(ask, Kind::Service))
    }),
    post("/organisation/accounts", Access::May(Verb::CreateAccount), |ask| {
        Box::pin(create(ask, Kind::Account))
    }),
];

/// Rows of a page.
const ROWS: usize = 100;
const DAYS_OF_SPEND: u64 = 30;

async fn list(ask: Arc<Ask>, kind: Kind) -> Answer {
    page(&ask, &listing(&ask, kind, None).await?)
}

/// What departments, teams, people and services cost lately; `None` where adding that up takes too
/// long.
pub(crate) struct Spend(Option<HashMap<String, PicoUsd>>);

impl Spend {
    pub(crate) async fn of(ask: &Ask) -> Result<Self, Failure> {
        let since = UnixMillis(ask.now.0.saturating_sub(DAYS_OF_SPEND * DAY_MILLIS));
        let records = ask.admin()?.records(None).await?;
        unless_slow(records.spend_by_subject(since, ask.now)).await.map(Self)
    }

    pub(crate) fn cost(&self, id: &str) -> Cost {
        Cost(self.0.as_ref().map(|spend| spend.get(id).copied().unwrap_or_default()))
    }
}

/// How many keys that are not revoked belong to each team, department, person and service.
fn counts(keys: &[KeyRecord], company: &Company) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for key in keys.iter().filter(|key| key.revoked_at.is_none()) {
        let team = key.team_id.as_ref();
        let department = company.department_of(team).map(|it| it.id.to_string());
        let holder = key.holder.as_ref().map(|holder| {
            let text = holder.to_string();
            text.split_once(':').map_or(text.clone(), |(_, id)| id.to_owned())
        });
        for id in team.map(ToString::to_string).into_iter().chain(department).chain(holder) {
            *counts.entry(id).or_default() += 1;
        }
    }
    counts
}

async fn listing(ask: &Ask, kind: Kind, wrong: Option<&Wrong>) -> Result<Organisation, Failure> {
    let permissions = ask.admin()?.permissions().await?;
    let session = ask.session()?;
    let account = session.account().id.as_str();
    let removed = ask.asked("state") == "removed";
    let all = kinds::seen(&permissions, kind, account, removed);
    let sought = ask.asked("q").to_lowercase();
    let matching: Vec<&Record> = all
        .iter()
        .filter(|record| {
            kinds::name(record).to_lowercase().contains(&sought)
                || sluice_gateway::admin::name_of(record).to_lowercase().contains(&sought)
        })
        .collect();
    let from = crate::pages::keys::page_start(&ask.query, matching.len(), ROWS);
    let shown: Vec<&Record> = matching.iter().skip(from).take(ROWS).copied().collect();
    let part = match shown.is_empty() {
        true => Part::Nothing(empty(kind, !all.is_empty() || removed)),
        false => part(ask, &permissions, kind, &shown).await?,
    };
    let count = format!(
        "{} to {} of {}",
        format::count((from + 1).min(matching.len()) as u64),
        format::count((from + shown.len()) as u64),
        format::count(matching.len() as u64),
    );
    let newer = (from > 0).then(|| from.saturating_sub(ROWS).to_string());
    let older = (from + shown.len() < matching.len()).then(|| (from + ROWS).to_string());
    let states: Vec<Filter> = match kind {
        Kind::Account => Vec::new(),
        _ => vec![ask.query.filter("state", [Offer::new("removed", "removed")])],
    };
    let stamp = match kind {
        Kind::Account => {
            format!("{} · all accounts", format::plural(all.len() as u64, "account", "accounts"))
                .into()
        }
        _ => Markup::sentence(
            &format!("{{}} · spend of the last {DAYS_OF_SPEND} days"),
            &[&session.account().name.as_str().into()],
        ),
    };
    Ok(Organisation {
        head: Head::new("Organisation").stamp(stamp),
        tabs: tabs(ask, kind)?,
        filters: ask.query.filters("Name or address", states),
        part,
        pager: ask.query.pager(count, newer.as_deref(), older.as_deref()),
        link: None,
        add: add(ask, &permissions, kind, wrong)?,
    })
}

fn tabs(ask: &Ask, kind: Kind) -> Result<Tabs, Failure> {
    let session = ask.session()?;
    let all = [
        ("People", Kind::Person, Verb::SeePerson),
        ("Teams", Kind::Team, Verb::SeeTeam),
        ("Departments", Kind::Department, Verb::SeeDepartment),
        ("Services", Kind::Service, Verb::SeeService),
        ("Accounts", Kind::Account, Verb::CreateAccount),
    ];
    let tabs: Vec<(&str, &str)> = all
        .into_iter()
        .filter(|(_, _, verb)| session.may_at_all(*verb))
        .map(|(name, kind, _)| (name, kinds::list_path(kind)))
        .collect();
    Ok(Tabs::parts("Parts of the organisation", &tabs, kinds::list_path(kind)))
}

async fn part(
    ask: &Ask,
    permissions: &Permissions,
    kind: Kind,
    shown: &[&Record],
) -> Result<Part, Failure> {
    let company = permissions.organisation();
    let people = |fits: &dyn Fn(&PersonRecord) -> bool| {
        let people = company.people.values().filter(|it| it.life.is_there() && fits(it));
        Count(people.count() as u64)
    };
    let calendar = ask.calendar();
    if kind == Kind::Account {
        let row = |record: &&Record| match record {
            Record::Account(it) => Some(AccountRow {
                id: it.id.to_string(),
                name: it.name.as_str().into(),
                tier: it.tier.as_str(),
                people: people(&|person| person.account_id == it.id),
                made: crate::components::Moment::day(&calendar, it.created_at),
                state: kinds::state(record),
            }),
            _ => None,
        };
        return Ok(Part::Accounts(shown.iter().filter_map(row).collect()));
    }
    let spend = Spend::of(ask).await?;
    let counts = counts(&ask.admin()?.keys().await?, company);
    let keys = |id: &str| Count(counts.get(id).copied().unwrap_or(0));
    if kind == Kind::Person {
        let row = |record: &&Record| match record {
            Record::Person(it) => Some(PersonRow {
                id: it.id.to_string(),
                name: it.name.as_deref().map(Text::from),
                email: it.email.as_str().into(),
                role: it.role.as_str(),
                is_operator: it.operator,
                is_files: kinds::is_files(record),
                teams: kinds::team_names(permissions, it),
                keys: keys(it.id.as_str()),
                cost: spend.cost(it.id.as_str()),
                state: kinds::state(record),
            }),
            _ => None,
        };
        return Ok(Part::People(shown.iter().filter_map(row).collect()));
    }
    let row = |record: &&Record| {
        let (above, people) = match record {
            Record::Team(team) => (
                company.departments.get(&team.department_id).map(|it| it.name.as_str().into()),
                Some(people(&|person| person.teams.contains(&team.id))),
            ),
            Record::Service(service) => {
                let team = service.team_id.as_ref().and_then(|id| company.teams.get(id));
                (team.map(|it| it.name.as_str().into()), None)
            }
            Record::Department(department) => {
                let is_of = |person: &PersonRecord| {
                    let teams = person.teams.iter().filter_map(|id| company.teams.get(id));
                    teams.into_iter().any(|team| team.department_id == department.id)
                };
                (None, Some(people(&is_of)))
            }
            _ => (None, None),
        };
        let id = record.subject().id().to_owned();
        GroupRow {
            name: kinds::name(record).into(),
            above,
            people,
            keys: keys(&id),
            cost: spend.cost(&id),
            state: kinds::state(record),
            is_files: kinds::is_files(record),
            id,
        }
    };
    let rows = shown.iter().map(row).collect();
    Ok(match kind {
        Kind::Team => Part::Teams(rows),
        Kind::Service => Part::Services(rows),
        _ => Part::Departments(rows),
    })
}

fn empty(kind: Kind, is_filtered: bool) -> Empty {
    if is_filtered {
        let path = kinds::list_path(kind);
        return Empty::new(
            "Nothing matches",
            "Nothing has this name, or the filter leaves nothing.",
        )
        .action("Show all", path);
    }
    match kind {
        Kind::Team => Empty::new(
            "No teams yet",
            "A team has people and keys, and limits that hold for all of its keys together. It belongs to a department.",
        ),
        Kind::Department => Empty::new(
            "No departments yet",
            "A department holds teams. None of this is needed: a key without a team belongs to the account.",
        ),
        Kind::Service => Empty::new(
            "No services yet",
            "A service holds keys and is no person, such as a build server.",
        ),
        _ => Empty::new("Nobody here yet", "People whom you may see are listed here."),
    }
}

/// The form that adds one of a kind; nothing where the reader may not.
fn add(
    ask: &Ask,
    permissions: &Permissions,
    kind: Kind,
    wrong: Option<&Wrong>,
) -> Result<Option<Add>, Failure> {
    let session = ask.session()?;
    let account = session.account().id.as_str();
    let given = &ask.form;
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let name = || {
        let field = Field::new(Input::Line, "name", "Name").value(given.get("name"));
        marked(field, "name").required()
    };
    let select = |name: &'static str, label, values: &[(&str, Text)], default: &str| {
        marked(Field::select(name, label, values, given.some(name).unwrap_or(default)), name)
    };
    let teams = kinds::teams(permissions, account);
    let (verb, title, button, fields) = match kind {
        Kind::Person => {
            // Somebody in the reader's own teams: a department lead reaches nobody else.
            let somebody = PersonRecord {
                role: Role::Developer,
                operator: false,
                life: Life::from(ask.now),
                id: "per_new".into(),
                ..session.person.clone()
            };
            let roles = kinds::roles(permissions, Verb::InvitePerson, &somebody);
            let chosen: Vec<&str> = given.all("teams").collect();
            let email = Field::new(Input::Email, "email", "E-mail address")
                .value(given.get("email"))
                .hint("Nothing is sent: you get a link that works once.");
            let mut fields = vec![
                marked(email, "email").required(),
                Field::new(Input::Line, "name", "Name").value(given.get("name")),
                select("role", "Role", &roles, Role::Developer.as_str()),
            ];
            fields[1] = marked(fields[1].clone(), "name");
            if !teams.is_empty() {
                let field = Field::checks("teams", "Teams", &kinds::values(&teams), &chosen);
                fields.push(marked(field, "teams"));
            }
            (Verb::InvitePerson, "Invite somebody", "Make the link", fields)
        }
        Kind::Team => {
            let departments = kinds::departments(permissions, account);
            if departments.is_empty() {
                return Ok(None);
            }
            let values = kinds::values(&departments);
            let first = values.first().map_or("", |(id, _)| id);
            let fields = vec![name(), select("department", "Department", &values, first)];
            (Verb::CreateTeam, "Make a team", "Make team", fields)
        }
        Kind::Department => {
            (Verb::CreateDepartment, "Make a department", "Make department", vec![name()])
        }
        Kind::Service => {
            let mut values = vec![("", Text::from("none: it is the account's"))];
            if session.person.role == Role::DepartmentLead {
                values.clear();
            }
            values.extend(kinds::values(&teams));
            let team = select("team", "Team that looks after it", &values, "");
            (Verb::CreateService, "Make a service", "Make service", vec![name(), team])
        }
        Kind::Account => {
            let tiers = AccountTier::ALL.map(|tier| (tier.as_str(), tier.as_str().into()));
            let tier = select("tier", "Tier", &tiers, AccountTier::Middle.as_str())
                .hint("Sets the limits for all its keys together, and its models.");
            (Verb::CreateAccount, "Make an account", "Make account", vec![name(), tier])
        }
        Kind::Key => return Ok(None),
    };
    let action = match kind {
        Kind::Person => "/organisation/people",
        other => kinds::list_path(other),
    };
    Ok(session.may_at_all(verb).then(|| Add {
        title,
        verb: button,
        action,
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        fields,
        csrf: ask.csrf(),
    }))
}

/// The form again, with what was typed.
async fn refused(ask: &Ask, kind: Kind, error: AdminError) -> Answer {
    let mut wrong = Wrong::of(error)?;
    if kind == Kind::Person && wrong.field == Some("name") && ask.form.get("name").is_empty() {
        wrong.field = Some("email");
    }
    let view = listing(ask, kind, Some(&wrong)).await?;
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

async fn create(ask: Arc<Ask>, kind: Kind) -> Answer {
    let (admin, form) = (ask.admin()?, &ask.form);
    let name = form.get("name").to_owned();
    let account = Some(ask.session()?.account().id.to_string());
    let made: Result<Record, AdminError> = match kind {
        Kind::Department => {
            admin.create_department(NewDepartment { account, name }).await.map(Into::into)
        }
        Kind::Team => {
            let department = form.get("department").to_owned();
            admin.create_team(NewTeam { account, department, name }).await.map(Into::into)
        }
        Kind::Service => {
            let team = form.some("team").map(str::to_owned);
            admin.create_service(NewService { account, name, team }).await.map(Into::into)
        }
        _ => {
            let tier = AccountTier::parse(form.get("tier")).unwrap_or(AccountTier::Lowest);
            admin.create_account(NewAccount::named(&name, tier)).await.map(Into::into)
        }
    };
    match made {
        Ok(record) => see_other(kinds::path(&record)),
        Err(error) => refused(&ask, kind, error).await,
    }
}

async fn invite(ask: Arc<Ask>) -> Answer {
    let form = &ask.form;
    let wish = Invitation {
        account: Some(ask.session()?.account().id.to_string()),
        email: form.get("email").to_owned(),
        name: form.some("name").map(str::to_owned),
        role: form.some("role").and_then(Role::parse),
        teams: form.all("teams").map(str::to_owned).collect(),
        operator: false,
    };
    match ask.admin()?.invite(wish).await {
        Ok(invited) => {
            let link = link(&ask, &invited.person, invited.token.expose(), invited.expires_at);
            // The page with the link has an empty form.
            let mut view = listing(&ask, Kind::Person, None).await?;
            view.add = None;
            view.link = Some(link);
            page(&ask, &view)
        }
        Err(error) => refused(&ask, Kind::Person, error).await,
    }
}

/// The link with which somebody sets a password, for this once.
pub(crate) fn link(ask: &Ask, person: &PersonRecord, token: &str, ends: UnixMillis) -> Link {
    Link {
        whom: person.email.as_str().into(),
        address: format!("{}/invite/{token}", ask.shared.deployment.pages_url),
        ends: ask.calendar().minute(ends),
        zone: ask.calendar().zone_name(),
    }
}
