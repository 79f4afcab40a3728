//! Entries of the trail as they are shown and exported.

use std::collections::HashMap;

use serde_json::Value;
use sluice_core::organisation::Actor;
use sluice_gateway::admin::{Permissions, Verb};
use sluice_gateway::{ChainedEntry, Record, TrailEntry};

use super::view::EntryRow;
use crate::components::{Badge, Moment, Offer, State, Text};
use crate::format::{self, Calendar};
use crate::web::{Ask, Failure};

/// So many people are offered in a filter.
const OFFERED: usize = 50;
/// So many changes stand in a row, and so many characters in each.
const CHANGES: usize = 3;
const CHARACTERS: usize = 60;

/// What things are called.
pub(crate) struct Names {
    permissions: Permissions,
    keys: HashMap<String, String>,
}

impl Names {
    pub(crate) async fn of(ask: &Ask) -> Result<Self, Failure> {
        let admin = ask.admin()?;
        let keys = admin.keys().await?.into_iter().map(|key| (key.id.to_string(), key.name));
        Ok(Self { permissions: admin.permissions().await?, keys: keys.collect() })
    }

    /// The people of a filter, by name.
    pub(crate) fn people(&self) -> Vec<Offer> {
        let people = self.permissions.organisation().people.values();
        let mut people: Vec<_> = people
            .filter(|it| self.permissions.may(Verb::SeePerson, &Record::Person((*it).clone())))
            .collect();
        people.sort_by_cached_key(|it| it.shown_name().to_lowercase());
        people.iter().take(OFFERED).map(|it| Offer::new(it.id.as_str(), it.shown_name())).collect()
    }

    pub(crate) fn key<'n>(&'n self, id: &'n str) -> &'n str {
        self.keys.get(id).map_or(id, |name| name)
    }

    pub(crate) fn actor(&self, actor: &Actor) -> String {
        match actor {
            Actor::Person { id } => {
                self.name("person", id.as_str()).unwrap_or_else(|| id.to_string())
            }
            Actor::CommandLine { user } => format!("command line ({user})"),
            Actor::File => "configuration file".to_owned(),
            Actor::Sluice => "Sluice".to_owned(),
            Actor::Nobody => "nobody who signed in".to_owned(),
        }
    }

    /// What a subject as in `key:key_01` is called.
    pub(crate) fn subject(&self, subject: &str) -> String {
        let named = subject.split_once(':').and_then(|(kind, id)| self.name(kind, id));
        named.unwrap_or_else(|| subject.to_owned())
    }

    fn name(&self, kind: &str, id: &str) -> Option<String> {
        let company = self.permissions.organisation();
        let may = |verb, record: Record| self.permissions.may(verb, &record);
        match kind {
            "key" => self.keys.get(id).cloned(),
            "person" => {
                let it = company.people.get(id)?;
                let shown = || it.shown_name().to_owned();
                may(Verb::SeePerson, Record::Person(it.clone())).then(shown)
            }
            "team" => {
                let it = company.teams.get(id)?;
                may(Verb::SeeTeam, Record::Team(it.clone())).then(|| it.name.clone())
            }
            "department" => {
                let it = company.departments.get(id)?;
                may(Verb::SeeDepartment, Record::Department(it.clone())).then(|| it.name.clone())
            }
            "service" => {
                let it = company.services.get(id)?;
                may(Verb::SeeService, Record::Service(it.clone())).then(|| it.name.clone())
            }
            "account" => {
                let it = company.accounts.get(id)?;
                may(Verb::SeeAccount, Record::Account(it.clone())).then(|| it.name.clone())
            }
            _ => None,
        }
    }

    /// Who, where, what, to what.
    pub(crate) fn words(&self, entry: &TrailEntry) -> [String; 4] {
        match entry {
            TrailEntry::Administration(it) => [
                self.actor(&it.actor),
                it.surface.clone(),
                it.verb.clone(),
                self.subject(&it.subject),
            ],
            TrailEntry::Request(it) => [
                self.key(it.key_id.as_str()).to_owned(),
                "API".to_owned(),
                "request".to_owned(),
                it.model_asked.clone(),
            ],
        }
    }

    pub(crate) fn row(&self, chained: &ChainedEntry, calendar: &Calendar) -> EntryRow {
        let entry = &chained.entry;
        let [actor, surface, verb, subject] = self.words(entry);
        let changes = changes(entry).into_iter().take(CHANGES);
        EntryRow {
            seq: format::count(chained.seq),
            at: Moment::second(calendar, entry.at()),
            id: entry.audit_id().to_owned(),
            actor: actor.into(),
            surface,
            verb,
            subject: subject.into(),
            changes: changes
                .map(|(member, before, after)| (member.into(), cut(&before), cut(&after)))
                .collect(),
            result: result(entry),
        }
    }

    /// A line of the file of comma-separated values.
    pub(super) fn line(&self, chained: &ChainedEntry) -> String {
        let entry = &chained.entry;
        let result = entry.request().map_or("", |it| it.outcome.as_str());
        let [actor, surface, verb, subject] = self.words(entry);
        let cells = [
            chained.seq.to_string(),
            entry.at().to_rfc3339(),
            entry.audit_id().to_owned(),
            actor,
            surface,
            verb,
            subject,
            result.to_owned(),
            chained.hash.clone(),
        ];
        cells.map(|cell| crate::charts::csv_cell(&cell)).join(",") + "\r\n"
    }
}

fn cut(text: &str) -> Text {
    let mut shown: String = text.chars().take(CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    Text::new(shown)
}

pub(crate) fn result(entry: &TrailEntry) -> Option<Badge> {
    let request = entry.request()?;
    let state = match request.outcome.as_str() {
        "completed" => State::Good,
        _ => State::Warn,
    };
    Some(Badge::new(state, request.outcome.as_str()))
}

/// What changed: member, before, after. Where nothing was before, what there is now.
pub(crate) fn changes(entry: &TrailEntry) -> Vec<(String, String, String)> {
    let TrailEntry::Administration(entry) = entry else { return Vec::new() };
    let none = Value::Null;
    let Value::Object(after) = &entry.after else {
        return vec![("value".to_owned(), shown(entry.before.as_ref()), shown(Some(&entry.after)))];
    };
    let before = entry.before.as_ref().and_then(Value::as_object);
    let gone = before.into_iter().flatten().filter(|(name, _)| !after.contains_key(*name));
    let members = after.iter().chain(gone.map(|(name, _)| (name, &none)));
    members
        .map(|(name, now)| (name, before.and_then(|it| it.get(name)), now))
        .filter(|(_, was, now)| was.unwrap_or(&none) != *now)
        .map(|(name, was, now)| (name.clone(), shown(was), shown(Some(now))))
        .collect()
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(list)) if list.iter().all(Value::is_string) => {
            let list: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            if list.is_empty() { "–".to_owned() } else { list.join(", ") }
        }
        Some(other) => other.to_string(),
    }
}

/// An entry in its place in the chain, as JSON.
pub(crate) fn json(chained: &ChainedEntry) -> Value {
    let mut line = serde_json::to_value(&chained.entry).unwrap_or_default();
    if let Value::Object(members) = &mut line {
        let kind = if chained.entry.request().is_some() { "request" } else { "administration" };
        members.insert("kind".to_owned(), kind.into());
        members.insert("at".to_owned(), chained.entry.at().to_rfc3339().into());
        members.insert("seq".to_owned(), chained.seq.into());
        members.insert("hash".to_owned(), chained.hash.clone().into());
    }
    line
}
