//! Whose budgets and policies there are: subjects, as somebody names them, their records, and what they can
//! ask for.

use sluice_core::organisation::Subject;
use sluice_routing::catalog::{Catalog, OwnRouter};
use sluice_storage::Record;

use crate::admin::permissions::Place;
use crate::admin::{Admin, AdminError, Kind, View, Which};

/// What became of what the configuration file holds item by item: budgets, policies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileItems {
    /// What was set, taken over or changed.
    pub changed: Vec<String>,
    /// What was taken out of the file, and removed.
    pub removed: Vec<String>,
    /// Whose wait, since there is nobody of this name.
    pub waiting: Vec<String>,
}

impl AdminError {
    /// Whether nothing, or nothing alone, has the name that was given.
    pub(super) fn is_nobody(&self) -> bool {
        matches!(
            self,
            Self::NoSuch { .. }
                | Self::NoSuchKey
                | Self::NoSuchHolder { .. }
                | Self::Ambiguous { .. }
                | Self::NamesNothing { .. }
        )
    }
}

impl Admin<'_> {
    /// What `text` names, which may have a budget or a policy: `account` for the only one, else
    /// `team:T` and so on, by id or name.
    pub(super) async fn subject_named(
        &self,
        view: &View,
        text: &str,
        account: Option<&str>,
    ) -> Result<Record, AdminError> {
        let text = text.trim();
        if text == Kind::Account.as_str() {
            let account = view.account_or_only(account)?;
            let found = account.and_then(|id| view.record_of(&Subject::Account(id)));
            return found.ok_or_else(|| AdminError::NamesNothing { text: text.to_owned() });
        }
        let kind = text.split_once(':').map(|(kind, _)| kind);
        let kind = Kind::ALL.into_iter().find(|it| kind == Some(it.as_str()));
        match kind {
            None => Err(AdminError::NamesNothing { text: text.to_owned() }),
            Some(Kind::Key) => self.find_key(view, text).await.map(Record::Key),
            Some(kind) => {
                let account = account.filter(|_| kind != Kind::Account).map(str::to_owned);
                view.find(&Which { kind, text: text.to_owned(), account })
            }
        }
    }

    /// The record of a subject, of a key as well.
    pub(super) async fn record_of_subject(
        &self,
        view: &View,
        subject: &Subject,
    ) -> Result<Option<Record>, AdminError> {
        Ok(match subject {
            Subject::Key(id) => self.store.key(id).await?.map(Record::Key),
            other => view.record_of(other),
        })
    }
}

impl View {
    /// The names of models and routers that some requests of `whose` can ask for. Routers of others are
    /// not among them: that there is one is theirs to know.
    pub(super) fn names_for<'a>(&self, catalog: &'a Catalog, whose: &Record) -> Vec<&'a str> {
        let place = Place::of(whose, &self.organisation);
        let is_account = matches!(whose, Record::Account(_));
        let is_within = |own: &&OwnRouter| match &own.of {
            Subject::Department(id) => is_account || place.departments.contains(id),
            Subject::Team(id) => {
                let team = self.organisation.teams.get(id);
                let is_of_department = matches!(whose, Record::Department(_))
                    && team.is_some_and(|it| place.departments.contains(&it.department_id));
                is_account || is_of_department || place.teams.contains(id)
            }
            _ => true,
        };
        let own = catalog.own_routers(whose.account_id()).filter(is_within).map(|own| &own.entry);
        catalog.models().iter().chain(own).map(|model| model.id.as_str()).collect()
    }

    /// The record of a subject; none of keys.
    pub(super) fn record_of(&self, subject: &Subject) -> Option<Record> {
        let organisation = &self.organisation;
        match subject {
            Subject::Account(id) => organisation.accounts.get(id).cloned().map(Record::Account),
            Subject::Department(id) => {
                organisation.departments.get(id).cloned().map(Record::Department)
            }
            Subject::Team(id) => organisation.teams.get(id).cloned().map(Record::Team),
            Subject::Person(id) => organisation.people.get(id).cloned().map(Record::Person),
            Subject::Service(id) => organisation.services.get(id).cloned().map(Record::Service),
            Subject::Key(_) => None,
        }
    }
}
