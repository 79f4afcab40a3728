//! The two kinds of entries of the audit trail: requests, and what was administered.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_core::organisation::Actor;

use crate::audit::AuditEntry;
use crate::error::StorageError;

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TrailEntry {
    /// Something was administered.
    Administration(Box<AdministrationEntry>),
    /// A request. Entries of this kind have no member `kind`, since older versions wrote none.
    Request(Box<AuditEntry>),
}

/// Which entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailKind {
    /// Requests.
    Request,
    /// What was administered.
    Administration,
}

impl TrailKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Request, Self::Administration];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Administration => "administration",
        }
    }

    /// The condition on an entry's text, as the index has it.
    pub(crate) fn condition(self) -> &'static str {
        match self {
            Self::Request => "substr(entry, 1, 24) <> '{\"kind\":\"administration\"'",
            Self::Administration => "substr(entry, 1, 24) = '{\"kind\":\"administration\"'",
        }
    }
}

/// One change of one thing, and who made it. Never a secret, nor its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdministrationEntry {
    /// Tells it from a request. It has to stand first: the index asks for it there.
    kind: Administration,
    /// The entry's identity.
    pub audit_id: String,
    /// When.
    pub at: UnixMillis,
    /// Who.
    pub actor: Actor,
    /// Where they did it: `command line`, `dashboard`, ….
    pub surface: String,
    /// What was done, as in `keys.rotate`.
    pub verb: String,
    /// What it was done to, as in `key:key_01ab`.
    pub subject: String,
    /// The account that it belongs to.
    pub account_id: AccountId,
    /// How it was; nothing where it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Json>,
    /// How it is now.
    pub after: Json,
}

/// A constant in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Administration {
    #[serde(rename = "administration")]
    Administration,
}

/// Who does what, for the trail.
#[derive(Debug, Clone)]
pub struct Doing {
    /// When.
    pub at: UnixMillis,
    /// Who.
    pub actor: Actor,
    /// Where: `command line`, `dashboard`, ….
    pub surface: &'static str,
    /// The number of changes at which it was judged that they may. Where there was another change
    /// since, it has to be judged anew; `None`: they may whatever happened.
    pub judged_at: Option<u64>,
}

impl AdministrationEntry {
    pub(crate) fn new(
        doing: &Doing,
        verb: &str,
        (subject, account_id): (String, AccountId),
        (before, after): (Option<Json>, Json),
    ) -> Result<Self, StorageError> {
        let random: [u8; 10] = crate::master_key::random_bytes()?;
        Ok(Self {
            kind: Administration::Administration,
            audit_id: format!("adm_{:012x}{}", doing.at.0, crate::master_key::to_hex(&random)),
            at: doing.at,
            actor: doing.actor.clone(),
            surface: doing.surface.to_owned(),
            verb: verb.to_owned(),
            subject,
            account_id,
            before,
            after,
        })
    }
}

impl TrailEntry {
    /// The entry's identity.
    pub fn audit_id(&self) -> &str {
        match self {
            Self::Administration(entry) => &entry.audit_id,
            Self::Request(entry) => &entry.audit_id,
        }
    }

    /// When it happened.
    pub fn at(&self) -> UnixMillis {
        match self {
            Self::Administration(entry) => entry.at,
            Self::Request(entry) => entry.at,
        }
    }

    /// The account that it belongs to.
    pub fn account_id(&self) -> &AccountId {
        match self {
            Self::Administration(entry) => &entry.account_id,
            Self::Request(entry) => &entry.account_id,
        }
    }

    /// The request; nothing where it is none.
    pub fn request(&self) -> Option<&AuditEntry> {
        match self {
            Self::Request(entry) => Some(entry),
            Self::Administration(_) => None,
        }
    }
}
