//! A person as a caller: what they ask on a page counts on them, in their account and team, as if
//! they had sent it with a key of their own that has no secret.

use std::sync::Arc;

use sluice_core::ids::{KeyId, PersonId, TeamId};
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::{Holder, KeyScope};
use sluice_storage::{KeyRecord, PersonRecord, SecretRecord};

use crate::admin::Verb;
use crate::gateway::Gateway;
use crate::principal::Principal;

/// What the key of a person's own is called.
pub const NAME: &str = "playground";
/// What its id begins with, before the person's.
const PREFIX: &str = "key_playground_";

/// The class whose limits it has: the largest documented one that they could give a key of their own.
pub fn class(person: &PersonRecord) -> KeyClass {
    let may_choose = Verb::ChangeKey.is_open_to(person);
    if may_choose { KeyClass::Production } else { KeyClass::Development }
}

/// The classes that there are of these.
pub(crate) const CLASSES: [KeyClass; 2] = [KeyClass::Development, KeyClass::Production];

/// The id under which what a person asks on a page is counted and recorded.
pub fn key_id(person: &PersonId) -> KeyId {
    format!("{PREFIX}{person}").into()
}

/// What a key is called that no table has; `None` where it is none of these.
pub fn key_name(id: &str) -> Option<&'static str> {
    id.starts_with(PREFIX).then_some(NAME)
}

impl Gateway {
    /// Who asks where `person` does, for one of their teams or for their account. `None`: their
    /// account is not known here yet.
    pub fn principal_of(
        &self,
        person: &PersonRecord,
        team: Option<&TeamId>,
    ) -> Option<Arc<Principal>> {
        let id = key_id(&person.id);
        let secret = SecretRecord {
            // Nothing hashes to it that somebody could present: a key has another form.
            hash: self.hash(id.as_str()),
            prefix: String::new(),
            created_at: person.life.created_at,
            expires_at: None,
            revoked_at: None,
        };
        let key = Arc::new(KeyRecord {
            id,
            account_id: person.account_id.clone(),
            name: NAME.to_owned(),
            team_id: team.filter(|team| person.teams.contains(team)).cloned(),
            holder: Some(Holder::Person(person.id.clone())),
            scopes: KeyScope::ALL.to_vec(),
            class: class(person),
            models: None,
            regions: None,
            region: None,
            minimum_level: SecurityLevel::Standard,
            zero_retention: false,
            audit: false,
            max_tokens: MaxTokensBound::Documented,
            requests_per_hour: None,
            tokens_per_day: None,
            owner: None,
            created_at: person.life.created_at,
            expires_at: None,
            revoked_at: None,
            suspended: None,
            secrets: Vec::new(),
        });
        self.principal_with(&key, &secret).map(Arc::new)
    }
}
