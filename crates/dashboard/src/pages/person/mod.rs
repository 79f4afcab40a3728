//! One person: role, teams, keys, sessions, and what can be done to them.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::ids::TeamId;
use sluice_core::organisation::{Holder, Role};
use sluice_gateway::admin::{AdminError, Kind, PersonChange, Verb};
use sluice_gateway::{KeyRecord, PersonRecord, Record};

use crate::components::{
    Confirm, Cost, Drawn, Field, Kind as Input, Moment, NOT_ITS_NAME, Problem, Query, Text,
    is_confirmed,
};
use crate::layout::{Head, Place};
use crate::pages::confirm::Question;
use crate::pages::keys::{self, Around};
use crate::pages::organisation;
use crate::pages::organisation::deeds;
use crate::pages::organisation::kinds::{self, Wrong};
use crate::pages::settings::SessionRow;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other};

pub(crate) use view::{KeyLine, Members, Profile, samples};

pub(crate) const ROUTES: &[Route] = &[
    get("/organisation/people/{id}", Access::May(Verb::SeePerson), |ask| Box::pin(show(ask))),
    get("/organisation/people/{id}/suspend", Access::May(Verb::SuspendPerson), |ask| {
        Box::pin(ask_first(ask))
    }),
    get("/organisation/people/{id}/resume", Access::May(Verb::SuspendPerson), |ask| {
        Box::pin(ask_first(ask))
    }),
    get("/organisation/people/{id}/remove", Access::May(Verb::RemovePerson), |ask| {
        Box::pin(ask_first(ask))
    }),
    get("/organisation/people/{id}/reset", Access::May(Verb::ResetPerson), |ask| {
        Box::pin(ask_first(ask))
    }),
    post("/organisation/people/{id}", Access::May(Verb::ChangePerson), |ask| Box::pin(change(ask))),
    post("/organisation/people/{id}/suspend", Access::May(Verb::SuspendPerson), |ask| {
        Box::pin(deeds::suspend(ask, Kind::Person))
    }),
    post("/organisation/people/{id}/resume", Access::May(Verb::SuspendPerson), |ask| {
        Box::pin(deeds::resume(ask, Kind::Person))
    }),
    post("/organisation/people/{id}/remove", Access::May(Verb::RemovePerson), |ask| {
        Box::pin(deeds::remove(ask, Kind::Person))
    }),
    post("/organisation/people/{id}/reset", Access::May(Verb::ResetPerson), |ask| {
        Box::pin(reset(ask))
    }),
    post("/organisation/people/{id}/sessions/end", Access::May(Verb::EndSessions), |ask| {
        Box::pin(end(ask))
    }),
    post(
        "/organisation/people/{id}/sessions/{session}/end",
        Access::May(Verb::EndSessions),
        |ask| Box::pin(end(ask)),
    ),
];

/// Why something of the configuration file cannot be changed.
pub(crate) const FILES: &str =
    "The configuration file has this, so it is changed there, in sluice.toml.";
/// So many keys and members are shown.
pub(crate) const SHOWN: usize = 50;

async fn person(ask: &Ask) -> Result<PersonRecord, Failure> {
    match kinds::thing(ask, Kind::Person).await? {
        Record::Person(person) => Ok(person),
        _ => Err(Failure::Missing),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let person = person(&ask).await?;
    page(&ask, &profile(&ask, person, None).await?)
}

async fn profile(
    ask: &Ask,
    person: PersonRecord,
    wrong: Option<&Wrong>,
) -> Result<Profile, Failure> {
    let admin = ask.admin()?;
    let permissions = admin.permissions().await?;
    let company = permissions.organisation();
    let record = Record::Person(person.clone());
    let is_there = person.life.is_there();
    let holder = Some(Holder::Person(person.id.clone()));
    let lines = key_lines(ask, company, |key| key.holder == holder).await?;
    let asked = ask.admin()?.keys_left_by(&record).await?;
    let sessions = match is_there && permissions.may(Verb::SeeSessions, &record) {
        true => Some(sessions(ask, &record).await?),
        false => None,
    };
    let may_change =
        is_there && !kinds::is_files(&record) && permissions.may(Verb::ChangePerson, &record);
    let mut deeds = deeds::deeds(ask, &permissions, &record, &asked);
    if is_there && permissions.may(Verb::ResetPerson, &record) {
        deeds.insert(0, reset_question(ask, &record, None));
    }
    let operator = if person.operator { ", operator" } else { "" };
    Ok(Profile {
        head: Head::new(person.shown_name())
            .below("Organisation", kinds::list_path(Kind::Person))
            .stamp("spend of the last 30 days"),
        path: kinds::path(&record),
        what: "Person",
        state: kinds::state(&record),
        notice: deeds::notice(ask, &record),
        facts: vec![
            ("Id", person.id.as_str().into()),
            ("E-mail", person.email.as_str().into()),
            ("Role", format!("{}{operator}", person.role.as_str()).into()),
            ("Teams", kinds::team_names(&permissions, &person)),
            ("Added", ask.calendar().minute(person.life.created_at).into()),
        ],
        keys: Some((Query::new("/keys", "").with("owner", person.shown_name()), lines)),
        groups: Vec::new(),
        may_end: permissions.may(Verb::EndSessions, &record),
        sessions,
        fields: if may_change { fields(ask, &permissions, &person, wrong)? } else { Vec::new() },
        drawn: Drawn::of(&record),
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        read_only: kinds::is_files(&record).then_some(FILES),
        deeds,
        link: None,
        csrf: ask.csrf(),
    })
}

/// The keys that `fits` admits and the reader sees, those that cost the most first.
pub(crate) async fn key_lines(
    ask: &Ask,
    company: &sluice_gateway::Organisation,
    fits: impl Fn(&KeyRecord) -> bool,
) -> Result<Vec<KeyLine>, Failure> {
    let seen = ask.admin()?.keys().await?;
    let mut keys: Vec<&KeyRecord> =
        seen.iter().filter(|key| key.revoked_at.is_none() && fits(key)).collect();
    let spend = keys::spend(ask).await?;
    let cost =
        |key: &KeyRecord| spend.as_ref().map(|it| it.get(&key.id).copied().unwrap_or_default());
    keys.sort_by_key(|key| std::cmp::Reverse(cost(key)));
    keys.truncate(SHOWN);
    let uses = ask.admin()?.last_uses(keys.iter().map(|key| &key.id)).await?;
    let around = Around::of(ask, company);
    let calendar = ask.calendar();
    let line = |key: &KeyRecord| KeyLine {
        id: key.id.to_string(),
        name: key.name.as_str().into(),
        team: around.team(key).unwrap_or("–").into(),
        cost: Cost(cost(key)),
        last_used: uses.get(&key.id).map(|at| Moment::ago(&calendar, *at)),
    };
    Ok(keys.into_iter().map(line).collect())
}

async fn sessions(ask: &Ask, record: &Record) -> Result<Vec<SessionRow>, Failure> {
    let times = ask.shared.people.times();
    let (_, sessions) = ask.admin()?.sessions(&deeds::which(record), times).await?;
    let (calendar, own) = (ask.calendar(), &ask.session()?.record.id);
    let row = |it| SessionRow::of(it, own, &calendar);
    Ok(sessions.into_iter().map(row).collect())
}

/// What can be changed, as it is or as it was typed.
fn fields(
    ask: &Ask,
    permissions: &sluice_gateway::admin::Permissions,
    person: &PersonRecord,
    wrong: Option<&Wrong>,
) -> Result<Vec<Field>, Failure> {
    let typed = wrong.map(|_| &ask.form);
    let text = |name: &str, is: &str| -> Text { typed.map_or(is, |form| form.get(name)).into() };
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let name = text("name", person.name.as_deref().unwrap_or_default());
    let role = typed.and_then(|form| form.some("role")).unwrap_or(person.role.as_str());
    let teams = kinds::teams(permissions, person.account_id.as_str());
    let chosen: Vec<&str> = match typed {
        Some(form) => form.all("teams").collect(),
        None => person.teams.iter().map(|team| team.as_str()).collect(),
    };
    let mut fields = vec![
        marked(Field::new(Input::Line, "name", "Name").value(name), "name"),
        marked(
            Field::new(Input::Email, "email", "E-mail address").value(text("email", &person.email)),
            "email",
        )
        .required(),
        marked(
            Field::select(
                "role",
                "Role",
                &kinds::roles(permissions, Verb::ChangePerson, person),
                role,
            ),
            "role",
        ),
    ];
    if !teams.is_empty() {
        let field = Field::checks("teams", "Teams", &kinds::values(&teams), &chosen);
        fields.push(marked(field, "teams"));
    }
    if ask.session()?.person.operator {
        let is = typed.map_or(person.operator, |form| form.has("operator"));
        fields.push(
            Field::new(Input::Switch(is), "operator", "Operator")
                .hint("Sees all accounts, and changes accounts, providers and models."),
        );
    }
    Ok(fields)
}

async fn change(ask: Arc<Ask>) -> Answer {
    let person = person(&ask).await?;
    let permissions = ask.admin()?.permissions().await?;
    let record = Record::Person(person.clone());
    deeds::permitted(&permissions, Verb::ChangePerson, &record)?;
    let form = &ask.form;
    if !Drawn::of(&record).fits(form) {
        let view = profile(&ask, person, None).await?;
        return changed_meanwhile(&ask, view);
    }
    // Teams that the reader does not see stay as they are; those that were removed need nobody.
    let seen = kinds::teams(&permissions, person.account_id.as_str());
    let is_seen = |id: &str| seen.iter().any(|(known, _)| known == id);
    let teams = &permissions.organisation().teams;
    let is_there = |id: &&TeamId| teams.get(*id).is_some_and(|team| team.life.is_there());
    let unseen = person.teams.iter().filter(is_there);
    let unseen = unseen.map(ToString::to_string).filter(|id| !is_seen(id));
    let change = PersonChange {
        email: Some(form.get("email").to_owned()),
        name: Some(form.some("name").map(str::to_owned)),
        role: form.some("role").and_then(Role::parse),
        teams: Some(form.all("teams").map(str::to_owned).chain(unseen).collect()),
        operator: ask.session()?.person.operator.then(|| form.has("operator")),
    };
    match ask.admin()?.change_person(&deeds::which(&record), change).await {
        Ok(_) => see_other(format!("{}?done=changed", kinds::path(&record))),
        Err(error) => {
            let is_taken = error.is_taken();
            let mut wrong = Wrong::of(error)?;
            if is_taken {
                wrong.field = Some("email");
            }
            let view = profile(&ask, person, Some(&wrong)).await?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
        }
    }
}

/// Shows a thing as it stands to whoever sent a form that was drawn before somebody else changed it.
pub(crate) fn changed_meanwhile(ask: &Ask, view: Profile) -> Answer {
    let problem = Some(Problem::new(Drawn::CHANGED));
    page_with(StatusCode::CONFLICT, ask, &Profile { problem, ..view })
}

fn reset_question(ask: &Ask, record: &Record, error: Option<String>) -> Confirm {
    let path = kinds::path(record);
    Confirm {
        id: "reset",
        action: format!("{path}/reset"),
        title: Text::new(format!("Reset the password of {}", kinds::name(record))),
        consequences: vec![
            "Their password and one-time codes are taken away, and all their sessions end."
                .to_owned(),
            "You get a link with which they set a new password. It works once, for a day."
                .to_owned(),
        ],
        fields: Vec::new(),
        name: Some(deeds::confirmed(record).into()),
        verb: "Reset password",
        is_dangerous: true,
        error,
        back: path,
        csrf: ask.csrf(),
    }
}

/// A question on a page of its own, for browsers without script.
async fn ask_first(ask: Arc<Ask>) -> Answer {
    if !ask.path.ends_with("/reset") {
        return deeds::ask_first(ask, Kind::Person).await;
    }
    let record = Record::Person(person(&ask).await?);
    let permissions = ask.admin()?.permissions().await?;
    deeds::permitted(&permissions, Verb::ResetPerson, &record)?;
    let question = reset_question(&ask, &record, None);
    page(&ask, &Question { place: Place::Organisation, question })
}

async fn reset(ask: Arc<Ask>) -> Answer {
    let record = Record::Person(person(&ask).await?);
    deeds::permitted(&ask.admin()?.permissions().await?, Verb::ResetPerson, &record)?;
    if !is_confirmed(ask.form.get("confirm"), deeds::confirmed(&record)) {
        let question = reset_question(&ask, &record, Some(NOT_ITS_NAME.to_owned()));
        let view = Question { place: Place::Organisation, question };
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view);
    }
    let times = ask.shared.people.times();
    let reset = ask.admin()?.reset(&deeds::which(&record), times).await?;
    let link = organisation::link(&ask, &reset.person, reset.token.expose(), reset.expires_at);
    let mut view = profile(&ask, reset.person, None).await?;
    view.link = Some(link);
    page(&ask, &view)
}

async fn end(ask: Arc<Ask>) -> Answer {
    let record = Record::Person(person(&ask).await?);
    let one = Some(ask.place("session")).filter(|id| !id.is_empty());
    let times = ask.shared.people.times();
    match ask.admin()?.end_sessions(&deeds::which(&record), one, times).await {
        // It was over already.
        Ok(_) | Err(AdminError::NoSuchSession { .. }) => {
            see_other(format!("{}?done=ended", kinds::path(&record)))
        }
        Err(error) => Err(error.into()),
    }
}
