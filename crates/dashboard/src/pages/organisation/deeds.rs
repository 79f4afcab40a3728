//! Suspending, resuming and removing: the same for departments, teams, people, services and accounts.

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::Record;
use sluice_gateway::admin::{AdminError, KeysAnswer, KeysLeft, Kind, Permissions, Verb, Which};

use super::kinds::{self, Wrong};
use crate::components::{Confirm, Field, Kind as Input, Markup, NOT_ITS_NAME, Text, is_confirmed};
use crate::format;
use crate::layout::Place;
use crate::pages::confirm::Question;
use crate::web::{Answer, Ask, Failure, page, page_with, see_other};

/// What the reader may do to a thing as it stands, beside changing it.
pub(crate) fn deeds(
    ask: &Ask,
    permissions: &Permissions,
    record: &Record,
    keys: &KeysLeft,
) -> Vec<Confirm> {
    let kind = Kind::of(record);
    if kinds::is_files(record) && !kinds::is_removed(record) {
        return Vec::new();
    }
    let removal = kinds::remove(kind).filter(|verb| permissions.may(*verb, record));
    if kinds::is_removed(record) {
        return removal.map(|_| resumption(ask, record)).into_iter().collect();
    }
    let mut deeds = Vec::new();
    if permissions.may(kinds::suspend(kind), record) {
        match kinds::suspension(record) {
            Some(_) => deeds.push(resumption(ask, record)),
            None if is_own(ask, permissions, record) => {}
            None => deeds.push(suspension(ask, record, None)),
        }
    }
    if removal.is_some() {
        deeds.push(question_of_removal(ask, permissions, record, keys, None));
    }
    deeds
}

fn is_own(ask: &Ask, permissions: &Permissions, record: &Record) -> bool {
    ask.session.as_ref().is_some_and(|session| permissions.is_own(&session.actor(), record))
}

fn question(ask: &Ask, record: &Record, deed: &'static str, verb: &'static str) -> Confirm {
    let path = kinds::path(record);
    Confirm {
        id: deed,
        action: format!("{path}/{deed}"),
        title: Text::new(format!("{verb} {}", kinds::name(record))),
        consequences: Vec::new(),
        fields: Vec::new(),
        name: None,
        verb,
        is_dangerous: false,
        error: None,
        back: path,
        csrf: ask.csrf(),
    }
}

fn suspension(ask: &Ask, record: &Record, error: Option<String>) -> Confirm {
    let reason = Field::new(Input::Line, "reason", "Reason").id("suspend-reason");
    let reason = reason.value(ask.form.get("reason"));
    let mut consequences = vec![
        "All keys that belong to it are refused with the reason, until it is resumed.".to_owned(),
    ];
    match record {
        Record::Person(_) => consequences.push("They are signed out everywhere.".to_owned()),
        Record::Account(_) => {
            consequences.push("All its people are signed out everywhere.".to_owned());
        }
        _ => {}
    }
    let is_dangerous = suspends_several(record);
    Confirm {
        name: is_dangerous.then(|| confirmed(record).into()),
        is_dangerous,
        consequences,
        fields: vec![reason.hint("Whoever uses the keys reads it.").required()],
        error,
        ..question(ask, record, "suspend", "Suspend")
    }
}

/// Whether a suspension reaches people or the keys of several: its name has to be written then.
fn suspends_several(record: &Record) -> bool {
    !matches!(record, Record::Service(_) | Record::Key(_))
}

fn resumption(ask: &Ask, record: &Record) -> Confirm {
    let consequence = match kinds::is_removed(record) {
        true => "It comes back, and its keys that were suspended with it work again.",
        false => "Keys that were suspended with it work again, and no others.",
    };
    Confirm {
        consequences: vec![consequence.to_owned()],
        ..question(ask, record, "resume", "Resume")
    }
}

fn question_of_removal(
    ask: &Ask,
    permissions: &Permissions,
    record: &Record,
    keys: &KeysLeft,
    error: Option<String>,
) -> Confirm {
    let mut consequences = Vec::new();
    match record {
        Record::Person(_) => {
            consequences.push("They are signed out everywhere and cannot come back by themselves.");
        }
        Record::Department(_) => {
            consequences
                .push("A department with teams cannot be removed: move or remove them first.");
        }
        _ => {}
    }
    consequences.push("Its records and its history stay. Resuming takes the removal back.");
    let mut fields = Vec::new();
    let count = keys.seen.len() + keys.unseen;
    if count > 0 {
        let label: &'static str = if count == 1 { "The key" } else { "The keys" };
        let mut answers: Vec<(String, Text)> =
            vec![("suspend".to_owned(), "suspend until it is resumed".into())];
        // Nobody changes a key that they do not see.
        if keys.unseen == 0 {
            answers.push(("revoke".to_owned(), "revoke for good".into()));
            answers.extend(heirs(permissions, record));
        }
        let chosen = ask.form.some("keys").unwrap_or("suspend").to_owned();
        fields.push(
            Field::select("keys", label, &kinds::values(&answers), &chosen)
                .id("remove-keys")
                .hint(named_keys(keys)),
        );
    }
    Confirm {
        consequences: consequences.into_iter().map(str::to_owned).collect(),
        fields,
        name: Some(confirmed(record).into()),
        is_dangerous: true,
        error,
        ..question(ask, record, "remove", "Remove")
    }
}

/// The names of the first keys, and how many there are that the reader does not see.
fn named_keys(keys: &KeysLeft) -> Markup {
    const NAMED: usize = 10;
    let names = keys.seen.iter().take(NAMED).map(|key| Text::from(key.name.as_str()));
    let mut names: Vec<Text> = names.collect();
    if keys.seen.len() > NAMED {
        names.push("…".into());
    }
    if keys.unseen > 0 {
        names.push(format!("{} that you do not see", format::count(keys.unseen as u64)).into());
    }
    Markup::listed(&names)
}

/// What has to be written to confirm what is done to a thing.
pub(crate) fn confirmed(record: &Record) -> &str {
    sluice_gateway::admin::name_of(record)
}

/// Who can get the keys of what is removed: teams those of a team, people and services all others.
fn heirs(permissions: &Permissions, record: &Record) -> Vec<(String, Text)> {
    let organisation = permissions.organisation();
    let account = record.account_id();
    let own = record.subject();
    let mut heirs: Vec<(String, Text)> = Vec::new();
    if matches!(record, Record::Team(_)) {
        let teams = kinds::teams(permissions, account.as_str()).into_iter();
        let others = teams.filter(|(id, _)| id != own.id());
        heirs.extend(others.map(|(id, name)| (format!("team:{id}"), named(&name))));
    } else {
        let people = organisation.people.values().filter(|it| it.account_id == *account);
        let people = people.filter(|it| it.life.is_active() && it.id.as_str() != own.id());
        let seen =
            people.filter(|it| permissions.may(Verb::SeePerson, &Record::Person((*it).clone())));
        heirs.extend(seen.map(|it| (format!("person:{}", it.id), named(&it.shown_name().into()))));
        let services = organisation.services.values().filter(|it| it.account_id == *account);
        let services = services.filter(|it| it.life.is_active() && it.id.as_str() != own.id());
        let seen = services
            .filter(|it| permissions.may(Verb::SeeService, &Record::Service((*it).clone())));
        let service = |name: &str| named(&Text::new(format!("service {name}")));
        heirs.extend(seen.map(|it| (format!("service:{}", it.id), service(&it.name))));
    }
    heirs.sort_by(|(_, a), (_, b)| a.plain().cmp(b.plain()));
    heirs
}

fn named(name: &Text) -> Text {
    Text::new(format!("hand over to {}", name.plain()))
}

/// A question on a page of its own, for browsers without script.
pub(crate) async fn ask_first(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    let permissions = ask.admin()?.permissions().await?;
    let keys = ask.admin()?.keys_left_by(&record).await?;
    let mut deeds = deeds(&ask, &permissions, &record, &keys).into_iter();
    let question = deeds.find(|deed| deed.action == ask.path).ok_or(Failure::Missing)?;
    page(&ask, &Question { place: Place::Organisation, question })
}

fn refused(ask: &Ask, question: Confirm) -> Answer {
    let view = Question { place: Place::Organisation, question };
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

pub(crate) async fn suspend(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    permitted(&ask.admin()?.permissions().await?, kinds::suspend(kind), &record)?;
    let reason = ask.form.get("reason");
    if reason.is_empty() {
        let why = "Give a reason: whoever uses the keys reads it.".to_owned();
        return refused(&ask, suspension(&ask, &record, Some(why)));
    }
    if suspends_several(&record) && !is_confirmed(ask.form.get("confirm"), confirmed(&record)) {
        return refused(&ask, suspension(&ask, &record, Some(NOT_ITS_NAME.to_owned())));
    }
    match ask.admin()?.suspend(&which(&record), reason).await {
        Ok(_) => see_other(after(&record, "suspended")),
        Err(error) => refused(&ask, suspension(&ask, &record, Some(Wrong::of(error)?.text))),
    }
}

pub(crate) async fn resume(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    match ask.admin()?.resume(&which(&record)).await {
        Ok(_) => see_other(after(&record, "resumed")),
        Err(error) => {
            let error = Some(Wrong::of(error)?.text);
            refused(&ask, Confirm { error, ..resumption(&ask, &record) })
        }
    }
}

pub(crate) async fn remove(ask: Arc<Ask>, kind: Kind) -> Answer {
    let record = kinds::thing(&ask, kind).await?;
    let permissions = ask.admin()?.permissions().await?;
    permitted(&permissions, kinds::remove(kind).ok_or(Failure::Missing)?, &record)?;
    let answer = match ask.form.get("keys") {
        "" => None,
        "suspend" => Some(KeysAnswer::Suspend),
        "revoke" => Some(KeysAnswer::Revoke),
        to => Some(KeysAnswer::HandOver(to.to_owned())),
    };
    let error = if !is_confirmed(ask.form.get("confirm"), confirmed(&record)) {
        NOT_ITS_NAME.to_owned()
    } else {
        match ask.admin()?.remove(&which(&record), answer.as_ref()).await {
            Ok(_) => return see_other(after(&record, "removed")),
            Err(error) => Wrong::of(error)?.text,
        }
    };
    let keys = ask.admin()?.keys_left_by(&record).await?;
    refused(&ask, question_of_removal(&ask, &permissions, &record, &keys, Some(error)))
}

/// Refuses what the reader may not do, before anything that was typed is looked at.
pub(crate) fn permitted(
    permissions: &Permissions,
    verb: Verb,
    record: &Record,
) -> Result<(), Failure> {
    if permissions.may(verb, record) {
        return Ok(());
    }
    Err(AdminError::Forbidden { verb: verb.as_str() }.into())
}

pub(crate) fn which(record: &Record) -> Which {
    Which::new(Kind::of(record), record.subject().id())
}

fn after(record: &Record, done: &str) -> String {
    format!("{}?done={done}", kinds::path(record))
}

/// What a page says after one of these was done to its thing, else how the thing stands.
pub(crate) fn notice(ask: &Ask, record: &Record) -> Option<(&'static str, Markup)> {
    if kinds::is_removed(record) {
        return Some((
            "warn",
            "It was removed. Its records stay; resuming takes that back.".into(),
        ));
    }
    if let Some(suspension) = kinds::suspension(record) {
        let since = Text::new(ask.calendar().minute(suspension.at));
        let reason = Text::from(suspension.reason.as_str());
        return Some((
            "warn",
            Markup::sentence("It is suspended since {}: {}.", &[&since, &reason]),
        ));
    }
    match ask.asked("done") {
        "resumed" => Some(("good", "It works again.".into())),
        "changed" => Some(("good", "Saved.".into())),
        "ended" => Some(("good", "The sessions have ended.".into())),
        _ => None,
    }
}
