//! Records as people see them: whose may be seen, which are meant, and page by page.

mod page;

use sluice_core::clock::UnixMillis;
use sluice_core::filtering::FilterAction;
use sluice_core::ids::{AccountId, DepartmentId, KeyId, ModelId, PersonId, ProviderId, TeamId};
use sluice_core::organisation::{Attribution, Holder, Subject};
use sluice_core::outcome::Outcome;

use crate::database::{Statement, Value};
use crate::rollup::cut;
use crate::usage::UsageRecord;

pub use page::{RecordCursor, RecordsPage, SeenRecord, Turn};

/// Whose records somebody may see. It becomes conditions of each statement, and never a filter over
/// what was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// Of this account …
    pub account: AccountId,
    /// … so much.
    pub reach: Reach,
}

/// How much of an account's records somebody may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    Account,
    /// Those of these departments.
    Departments(Vec<DepartmentId>),
    /// Those of these teams, and their own.
    Teams(Vec<TeamId>, PersonId),
    /// Their own.
    Own(PersonId),
    /// None.
    Nothing,
}

impl Sight {
    /// Whether a request is among them; the same conditions as in SQL.
    pub fn admits(&self, whose: &Attribution) -> bool {
        let is_of = |person: &PersonId| matches!(&whose.holder, Some(Holder::Person(holder)) if holder == person);
        whose.account == self.account
            && match &self.reach {
                Reach::Account => true,
                Reach::Departments(own) => {
                    whose.department.as_ref().is_some_and(|it| own.contains(it))
                }
                Reach::Teams(own, person) => {
                    is_of(person) || whose.team.as_ref().is_some_and(|it| own.contains(it))
                }
                Reach::Own(person) => is_of(person),
                Reach::Nothing => false,
            }
    }

    /// Whether it has all requests of a subject; of a key, where it is seen at all.
    pub fn reaches(&self, subject: &Subject) -> bool {
        match (&self.reach, subject) {
            (Reach::Nothing, _) => false,
            (Reach::Account, _) | (_, Subject::Key(_)) => true,
            (Reach::Departments(own), Subject::Department(id)) => own.contains(id),
            (Reach::Teams(own, _), Subject::Team(id)) => own.contains(id),
            (Reach::Teams(_, own) | Reach::Own(own), Subject::Person(id)) => own == id,
            _ => false,
        }
    }

    /// Adds ` AND …` to a statement, on the columns of `table`; `with_account` where nothing else
    /// there asks for the account.
    pub(crate) fn push_conditions(&self, query: &mut Statement, table: &str, with_account: bool) {
        if with_account {
            query.push(&format!(" AND {table}.account_id = "));
            query.push_bind(self.account.as_str());
        }
        match &self.reach {
            Reach::Account => {}
            Reach::Departments(own) => {
                let own = own.iter().map(|id| id.as_str().into());
                push_among(query, &format!(" AND {table}.department_id"), own);
            }
            Reach::Teams(own, person) => {
                query.push(&format!(" AND ({table}.holder = "));
                query.push_bind(holder_of(person));
                let own = own.iter().map(|id| id.as_str().into());
                push_among(query, &format!(" OR {table}.team_id"), own);
                query.push(")");
            }
            Reach::Own(person) => {
                query.push(&format!(" AND {table}.holder = "));
                query.push_bind(holder_of(person));
            }
            Reach::Nothing => query.push(" AND 1 = 0"),
        }
    }
}

fn holder_of(person: &PersonId) -> String {
    Holder::Person(person.clone()).to_string()
}

fn push_among(query: &mut Statement, begin: &str, values: impl Iterator<Item = Value>) {
    query.push(begin);
    query.push(" IN (");
    let mut first = true;
    for value in values {
        query.push(if first { "" } else { ", " });
        query.push_bind(value);
        first = false;
    }
    // Nothing is among nothing.
    query.push(if first { "NULL)" } else { ")" });
}

/// Which records to list. The default is all of them. Of what is told as text, '' stands for none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordsFilter {
    /// Only what arrived then or later.
    pub since: Option<UnixMillis>,
    /// Only what arrived before.
    pub until: Option<UnixMillis>,
    /// Only of this key.
    pub key_id: Option<KeyId>,
    /// Only where this model was asked or answered.
    pub model: Option<String>,
    /// Only of the application with this name (`X-Title`).
    pub app: Option<String>,
    /// Only with one of these outcomes; empty: with any.
    pub outcomes: Vec<Outcome>,
    /// Only where this provider answered.
    pub provider: Option<String>,
    /// Only where one of these was the strongest thing that the filter did; empty: whatever it did.
    pub actions: Vec<FilterAction>,
    /// Only of this team, as it was then.
    pub team_id: Option<TeamId>,
    /// Only those whose id begins so.
    pub id_prefix: Option<String>,
}

impl RecordsFilter {
    /// Whether it asks for what differs between the requests of a key, other than how they ended.
    pub(crate) fn tells_requests_apart(&self) -> bool {
        self.model.is_some()
            || self.app.is_some()
            || self.provider.is_some()
            || !self.actions.is_empty()
    }

    /// Whether it asks for whose a request was.
    pub(crate) fn tells_keys_apart(&self) -> bool {
        self.key_id.is_some() || self.team_id.is_some()
    }

    /// Whether it asks for anything that tells series apart.
    pub(crate) fn narrows(&self) -> bool {
        self.tells_requests_apart() || self.tells_keys_apart() || !self.outcomes.is_empty()
    }

    /// Whether a record is among them; the same conditions as in SQL.
    pub fn admits(&self, record: &UsageRecord) -> bool {
        let text = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| cut(wanted) == cut(is.unwrap_or_default()))
        };
        let model = record.model.as_ref().map(ModelId::as_str);
        let provider = record.provider.as_ref().map(ProviderId::as_str);
        self.since.is_none_or(|since| record.started_at >= since)
            && self.until.is_none_or(|until| record.started_at < until)
            && self.key_id.as_ref().is_none_or(|key| record.key_id == *key)
            && (text(&self.model, model) || text(&self.model, Some(&record.model_asked)))
            && text(&self.app, record.app_title.as_deref())
            && (self.outcomes.is_empty() || self.outcomes.contains(&record.outcome))
            && text(&self.provider, provider)
            && (self.actions.is_empty() || self.actions.contains(&record.filter.action))
            && self.team_id.as_ref().is_none_or(|it| record.team_id.as_ref() == Some(it))
            && self.id_prefix.as_ref().is_none_or(|it| record.request_id.as_str().starts_with(it))
    }

    /// Adds the conditions on a series, `s`, to a statement.
    pub(crate) fn push_series_conditions(&self, query: &mut Statement) {
        let equal: [(&str, Option<String>); 4] = [
            ("key_id", self.key_id.as_ref().map(ToString::to_string)),
            ("app", self.app.as_deref().map(cut)),
            ("provider", self.provider.clone()),
            ("team_id", self.team_id.as_ref().map(ToString::to_string)),
        ];
        for (column, value) in equal {
            if let Some(value) = value {
                query.push(&format!(" AND s.{column} = "));
                query.push_bind(value);
            }
        }
        if let Some(model) = self.model.as_deref().map(cut) {
            query.push(" AND (s.model = ");
            query.push_bind(&model);
            query.push(" OR s.model_asked = ");
            query.push_bind(&model);
            query.push(")");
        }
        if !self.actions.is_empty() {
            let words = self.actions.iter().map(|it| it.as_str().into());
            push_among(query, " AND s.action", words);
        }
        self.push_outcomes(query, " AND ");
    }

    /// Adds the condition on how the requests of a series, `s`, ended, behind `begin`.
    pub(crate) fn push_outcomes(&self, query: &mut Statement, begin: &str) {
        if !self.outcomes.is_empty() {
            let words = self.outcomes.iter().map(|it| it.as_str().into());
            push_among(query, &format!("{begin}s.outcome"), words);
        }
    }
}
