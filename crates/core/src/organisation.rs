//! Who belongs where: account, department, team, person or service, key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, DepartmentId, KeyId, PersonId, ServiceId, TeamId};

/// What a person is in an account. What each may do is in one table of `sluice-gateway`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything in the account. The last one cannot be removed.
    Owner,
    /// Everything but owners.
    Admin,
    /// Their own departments.
    DepartmentLead,
    /// Their own keys.
    Developer,
    /// Sees everything, changes nothing.
    Auditor,
    /// Sees what is used and paid, and sets budgets.
    Billing,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] = [
        Self::Owner,
        Self::Admin,
        Self::DepartmentLead,
        Self::Developer,
        Self::Auditor,
        Self::Billing,
    ];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::DepartmentLead => "department-lead",
            Self::Developer => "developer",
            Self::Auditor => "auditor",
            Self::Billing => "billing",
        }
    }

    /// The role that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Ask models.
    Chat,
    /// List models.
    Models,
}

impl KeyScope {
    /// Every scope, which is also what a key has unless somebody says otherwise.
    pub const ALL: [Self; 2] = [Self::Chat, Self::Models];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Models => "models",
        }
    }

    /// The scope that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

/// Whose a key is. As text: `person:ID` or `service:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A person's.
    Person(PersonId),
    /// A service's.
    Service(ServiceId),
}

impl Holder {
    /// The holder that a text stands for.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            (_, "") => None,
            ("person", id) => Some(Self::Person(id.into())),
            ("service", id) => Some(Self::Service(id.into())),
            _ => None,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(id) => write!(f, "person:{id}"),
            Self::Service(id) => write!(f, "service:{id}"),
        }
    }
}

/// Whose a request was when it was made. It is written into its record and never changes there,
/// whatever becomes of the key, the person or the team.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attribution {
    /// The account.
    pub account: AccountId,
    /// The department of the key's team.
    pub department: Option<DepartmentId>,
    /// The key's team.
    pub team: Option<TeamId>,
    /// The key's person or service.
    pub holder: Option<Holder>,
    /// The key.
    pub key: KeyId,
}

impl Attribution {
    /// Everybody whose use the request is, from the key outwards.
    pub fn subjects(&self) -> impl Iterator<Item = Subject> {
        let holder = self.holder.clone().map(|holder| match holder {
            Holder::Person(id) => Subject::Person(id),
            Holder::Service(id) => Subject::Service(id),
        });
        [
            Some(Subject::Key(self.key.clone())),
            holder,
            self.team.clone().map(Subject::Team),
            self.department.clone().map(Subject::Department),
            Some(Subject::Account(self.account.clone())),
        ]
        .into_iter()
        .flatten()
    }
}

/// Whose use is counted. As text: `team:ID`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// All keys of an account.
    Account(AccountId),
    /// All keys of a department's teams.
    Department(DepartmentId),
    /// All keys of a team.
    Team(TeamId),
    /// All keys of a person.
    Person(PersonId),
    /// All keys of a service.
    Service(ServiceId),
    /// One key.
    Key(KeyId),
}

impl Subject {
    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Account(_) => "account",
            Self::Department(_) => "department",
            Self::Team(_) => "team",
            Self::Person(_) => "person",
            Self::Service(_) => "service",
            Self::Key(_) => "key",
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        match self {
            Self::Account(id) => id.as_str(),
            Self::Department(id) => id.as_str(),
            Self::Team(id) => id.as_str(),
            Self::Person(id) => id.as_str(),
            Self::Service(id) => id.as_str(),
            Self::Key(id) => id.as_str(),
        }
    }

    /// The subject that a text stands for.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(':')? {
            (_, "") => return None,
            ("account", id) => Self::Account(id.into()),
            ("department", id) => Self::Department(id.into()),
            ("team", id) => Self::Team(id.into()),
            ("person", id) => Self::Person(id.into()),
            ("service", id) => Self::Service(id.into()),
            ("key", id) => Self::Key(id.into()),
            _ => return None,
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind(), self.id())
    }
}

/// Who changes something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// A person who signed in.
    Person {
        /// Who.
        id: PersonId,
    },
    /// Whoever runs commands on the server's machine: as much as an owner and operator.
    CommandLine {
        /// The system's name for them.
        user: String,
    },
    /// The configuration file.
    File,
    /// Sluice itself, as at its first start.
    Sluice,
    /// Somebody who has not signed in.
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back() {
        let attribution = Attribution {
            account: "acc_1".into(),
            department: Some("dep_1".into()),
            team: Some("team_1".into()),
            holder: Some(Holder::Service("ser_1".into())),
            key: "key_1".into(),
        };
        let subjects: Vec<Subject> = attribution.subjects().collect();
        assert_eq!(subjects.len(), 5);
        for subject in subjects {
            assert_eq!(Subject::parse(&subject.to_string()), Some(subject));
        }
        for holder in [Holder::Person("p:1".into()), Holder::Service("s".into())] {
            assert_eq!(Holder::parse(&holder.to_string()), Some(holder));
        }
        for text in ["", "team", "team:", "group:1"] {
            assert_eq!(Subject::parse(text), None);
            assert_eq!(Holder::parse(text), None);
        }
    }
}
