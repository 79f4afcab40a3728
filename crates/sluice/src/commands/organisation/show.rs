//! What is printed about departments, teams, people and services.

use std::io::{self, Write};

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Holder;
use sluice_gateway::admin::{Kind, name_of};
use sluice_storage::{KeyRecord, Life, Organisation, Record};

use crate::commands::records::{CommandError, Records, or_dash, table};

/// What is around them: each other, and keys.
pub(super) struct Around {
    organisation: Organisation,
    keys: Vec<KeyRecord>,
}

impl Around {
    pub(super) async fn read(records: &Records) -> Result<Self, CommandError> {
        let known = records.store.known(None).await?;
        Ok(Self { organisation: known.organisation, keys: known.keys })
    }

    fn account_name(&self, record: &Record) -> Option<&str> {
        self.organisation.accounts.get(record.account_id()).map(|it| it.name.as_str())
    }

    fn department_name(&self, record: &Record) -> Option<&str> {
        let Record::Team(team) = record else { return None };
        self.organisation.departments.get(&team.department_id).map(|it| it.name.as_str())
    }

    /// The names of the teams that something belongs to, or has.
    fn teams(&self, record: &Record) -> Vec<&str> {
        let teams = self.organisation.teams.values().filter(|team| team.life.is_there());
        let mut names: Vec<&str> = teams
            .filter(|team| match record {
                Record::Department(it) => team.department_id == it.id,
                Record::Person(it) => it.teams.contains(&team.id),
                Record::Service(it) => it.team_id.as_ref() == Some(&team.id),
                _ => false,
            })
            .map(|team| team.name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// The e-mail addresses of a team's people.
    fn people(&self, record: &Record) -> Vec<&str> {
        let Record::Team(team) = record else { return Vec::new() };
        let people = self.organisation.people.values();
        let people = people.filter(|it| it.life.is_there() && it.teams.contains(&team.id));
        let mut emails: Vec<&str> = people.map(|it| it.email.as_str()).collect();
        emails.sort_unstable();
        emails
    }

    /// The keys that belong to it and were not revoked.
    fn keys(&self, record: &Record) -> Vec<&KeyRecord> {
        let keys = self.keys.iter().filter(|key| key.revoked_at.is_none());
        keys.filter(|key| match record {
            Record::Department(it) => {
                let department = self.organisation.department_of(key.team_id.as_ref());
                department.is_some_and(|department| department.id == it.id)
            }
            Record::Team(it) => key.team_id.as_ref() == Some(&it.id),
            Record::Person(it) => key.holder == Some(Holder::Person(it.id.clone())),
            Record::Service(it) => key.holder == Some(Holder::Service(it.id.clone())),
            Record::Account(_) | Record::Key(_) => false,
        })
        .collect()
    }
}

/// What to say instead of an empty list.
pub(super) fn nothing(kind: Kind, removed: bool) -> String {
    if removed {
        return format!("No {} were removed.", kind.several());
    }
    let create = match kind {
        Kind::Team => "sluice teams create NAME --department D",
        Kind::Person => "sluice people create EMAIL --role ROLE",
        Kind::Service => "sluice services create NAME",
        _ => "sluice departments create NAME",
    };
    format!("There are no {} yet. `{create}` makes the first.", kind.several())
}

pub(super) fn list(
    kind: Kind,
    records: &[Record],
    json: bool,
    around: &Around,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        for record in records {
            writeln!(out, "{}", as_json(record, around))?;
        }
        return Ok(());
    }
    let heading = match kind {
        Kind::Department => ["id", "name", "account", "teams", "keys", "state"],
        Kind::Team => ["id", "name", "department", "people", "keys", "state"],
        Kind::Person => ["id", "e-mail", "role", "teams", "keys", "state"],
        _ => ["id", "name", "account", "team", "keys", "state"],
    };
    let rows: Vec<[String; 6]> = records
        .iter()
        .map(|record| {
            let list = |names: Vec<&str>| or_dash((!names.is_empty()).then(|| names.join(", ")));
            let (third, fourth) = match record {
                Record::Team(_) => {
                    let people = around.people(record).len().to_string();
                    (or_dash(around.department_name(record)), people)
                }
                Record::Person(it) => {
                    let operator = if it.operator { ", operator" } else { "" };
                    (format!("{}{operator}", it.role.as_str()), list(around.teams(record)))
                }
                _ => (or_dash(around.account_name(record)), list(around.teams(record))),
            };
            [
                record.subject().id().to_owned(),
                name_of(record).to_owned(),
                third,
                fourth,
                around.keys(record).len().to_string(),
                record.life().map_or_else(String::new, state),
            ]
        })
        .collect();
    table(out, heading, &rows)
}

fn state(life: &Life) -> String {
    match (&life.removed_at, &life.suspended, &life.managed_by) {
        (Some(at), _, _) => format!("removed {}", at.to_rfc3339()),
        (None, Some(why), _) => format!("suspended {}: {}", why.at.to_rfc3339(), why.reason),
        (None, None, Some(by)) => format!("active, managed by {by}"),
        (None, None, None) => "active".to_owned(),
    }
}

pub(super) fn show(
    record: &Record,
    json: bool,
    around: &Around,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        return writeln!(out, "{}", as_json(record, around));
    }
    let keys = around.keys(record);
    let keys: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
    let list = |names: &[&str]| or_dash((!names.is_empty()).then(|| names.join(", ")));
    let mut lines = vec![
        ("id", record.subject().id().to_owned()),
        ("name", name_of(record).to_owned()),
        ("account", or_dash(around.account_name(record))),
    ];
    match record {
        Record::Team(_) => {
            lines.push(("department", or_dash(around.department_name(record))));
            lines.push(("people", list(&around.people(record))));
        }
        Record::Person(it) => {
            lines.push(("called", or_dash(it.name.as_deref())));
            lines.push(("role", it.role.as_str().to_owned()));
            lines.push(("operator", if it.operator { "yes" } else { "no" }.to_owned()));
            lines.push(("teams", list(&around.teams(record))));
        }
        _ => lines.push(("teams", list(&around.teams(record)))),
    }
    lines.push(("keys", list(&keys)));
    if let Some(life) = record.life() {
        lines.push(("created", life.created_at.to_rfc3339()));
        lines.push(("state", state(life)));
    }
    for (label, value) in lines {
        writeln!(out, "{label:18} {value}")?;
    }
    Ok(())
}

fn as_json(record: &Record, around: &Around) -> Value {
    let keys: Vec<Value> =
        around.keys(record).iter().map(|key| json!({ "id": key.id, "name": key.name })).collect();
    let mut value = json!({
        "id": record.subject().id(),
        "subject": record.subject().to_string(),
        "account_id": record.account_id(),
        "account_name": around.account_name(record),
        "keys": keys,
    });
    match record {
        Record::Department(it) => {
            value["name"] = json!(it.name);
            value["teams"] = json!(around.teams(record));
        }
        Record::Team(it) => {
            value["name"] = json!(it.name);
            value["department_id"] = json!(it.department_id);
            value["department_name"] = json!(around.department_name(record));
            value["people"] = json!(around.people(record));
        }
        Record::Person(it) => {
            value["email"] = json!(it.email);
            value["name"] = json!(it.name);
            value["role"] = json!(it.role);
            value["operator"] = json!(it.operator);
            value["team_ids"] = json!(it.teams);
            value["teams"] = json!(around.teams(record));
        }
        Record::Service(it) => {
            value["name"] = json!(it.name);
            value["team_id"] = json!(it.team_id);
            value["teams"] = json!(around.teams(record));
        }
        Record::Account(_) | Record::Key(_) => {}
    }
    if let Some(life) = record.life() {
        value["active"] = json!(life.is_active());
        value["managed_by"] = json!(life.managed_by);
        value["created_at"] = json!(life.created_at.to_rfc3339());
        value["suspended_at"] = json!(life.suspended.as_ref().map(|it| it.at.to_rfc3339()));
        value["suspended_reason"] = json!(life.suspended.as_ref().map(|it| &it.reason));
        value["removed_at"] = json!(life.removed_at.map(UnixMillis::to_rfc3339));
    }
    value
}
