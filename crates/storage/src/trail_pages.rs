//! The audit trail page by page.
//!
//! Where each entry belongs is kept beside the trail (`trail_places`), so that a page is found
//! without reading the others. That is a help for lists and proves nothing: whether the trail is
//! whole is said by [`Store::verify_audit`], which reads the entries alone.

use std::fmt;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId, PersonId};
use sluice_core::organisation::Actor;

use crate::audit::{AuditEntry, ChainedEntry, read_chained};
use crate::database::{Row, Transaction, Value, insert_many, sql};
use crate::error::StorageError;
use crate::open::Store;
use crate::records::Turn;
use crate::trail::{AdministrationEntry, TrailEntry, TrailKind};

/// The most entries of a page.
const LONGEST: u32 = 100;
/// The verb of requests, which are not administered.
const REQUEST: &str = "request";

const DOING: &str = "list the audit trail";

/// Which entries of an account to list. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrailFilter {
    /// Only requests, or only what was administered.
    pub kind: Option<TrailKind>,
    /// Only what was done then or later.
    pub since: Option<UnixMillis>,
    /// Only what was done before.
    pub until: Option<UnixMillis>,
    /// Only this action, as in `keys.rotate`; requests are `request`.
    pub verb: Option<String>,
    /// Only what this person did.
    pub person: Option<PersonId>,
    /// Only what was done to this key, and the requests that came with it.
    pub key: Option<KeyId>,
}

impl TrailFilter {
    /// Whether it leaves out some of a kind.
    pub(crate) fn is_narrow(&self) -> bool {
        *self != Self { kind: self.kind, ..Self::default() }
    }

    /// Whether an entry belongs into the list; the same conditions as in SQL.
    pub(crate) fn admits(&self, entry: &TrailEntry) -> bool {
        let TrailPlace { at, verb, person, key, .. } = entry.place();
        let is_request = verb == REQUEST;
        self.kind.is_none_or(|kind| is_request == (kind == TrailKind::Request))
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
            && self.verb.as_ref().is_none_or(|wanted| wanted == verb)
            && self.person.as_ref().is_none_or(|wanted| wanted.as_str() == person)
            && self.key.as_ref().is_none_or(|wanted| wanted.as_str() == key)
    }
}

/// A place in the list: that of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrailCursor {
    /// When it happened.
    pub at: UnixMillis,
    /// Its number in the chain.
    pub seq: u64,
}

impl TrailCursor {
    /// The place that a text stands for.
    pub fn parse(text: &str) -> Option<Self> {
        let (at, seq) = text.split_once('-')?;
        Some(Self { at: UnixMillis(at.parse().ok()?), seq: seq.parse().ok()? })
    }
}

impl fmt::Display for TrailCursor {
    /// As it stands in an address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at.0, self.seq)
    }
}

/// A page of the trail, the latest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrailPage {
    /// The entries.
    pub entries: Vec<ChainedEntry>,
    /// The way to what is newer, if there is any.
    pub newer: Option<TrailCursor>,
    /// The way to what is older, if there is any.
    pub older: Option<TrailCursor>,
}

impl Store {
    /// A page of an account's entries that `filter` admits, at most `limit` of them and never more
    /// than 100.
    pub async fn trail_page(
        &self,
        account: &AccountId,
        filter: &TrailFilter,
        turn: &Turn<TrailCursor>,
        limit: u32,
    ) -> Result<TrailPage, StorageError> {
        let limit = limit.clamp(1, LONGEST);
        let mut query = sql("SELECT e.seq, e.entry, e.hash, p.at FROM trail_places AS p \
                             JOIN audit_entries AS e ON e.seq = p.seq WHERE p.account_id = ");
        query.push_bind(account.as_str());
        query.push(match filter.kind {
            Some(TrailKind::Request) => " AND p.verb = 'request'",
            Some(TrailKind::Administration) => " AND p.verb <> 'request'",
            None => "",
        });
        // The conditions that nothing is missing are the indices' own.
        let (requests, other) = match filter.verb.clone() {
            Some(verb) if verb == REQUEST => (Some(verb), None),
            verb => (None, verb),
        };
        let equal = [
            (" AND p.verb = ", requests),
            (" AND p.verb <> 'request' AND p.verb = ", other),
            (
                " AND p.person_id <> '' AND p.person_id = ",
                filter.person.as_ref().map(ToString::to_string),
            ),
            (" AND p.key_id <> '' AND p.key_id = ", filter.key.as_ref().map(ToString::to_string)),
        ];
        for (condition, value) in equal {
            if let Some(value) = value {
                query.push(condition);
                query.push_bind(value);
            }
        }
        if let Some(since) = filter.since {
            query.push(" AND p.at >= ");
            query.push_bind(since);
        }
        if let Some(until) = filter.until {
            query.push(" AND p.at < ");
            query.push_bind(until);
        }
        if let Turn::Older(cursor) | Turn::Newer(cursor) = turn {
            query.push(match turn {
                Turn::Newer(_) => " AND (p.at, p.seq) > (",
                _ => " AND (p.at, p.seq) < (",
            });
            query.push_bind(cursor.at);
            query.push(", ");
            query.push_bind(cursor.seq);
            query.push(")");
        }
        query.push(match turn {
            Turn::Newer(_) => " ORDER BY p.at, p.seq LIMIT ",
            _ => " ORDER BY p.at DESC, p.seq DESC LIMIT ",
        });
        query.push_bind(limit + 1);
        let rows = self.read(query, DOING).await?;
        let found = rows.iter().map(read_placed).collect::<Result<Vec<_>, _>>()?;
        let page = turn.page(found, limit, |(place, _)| *place);
        // The places prove nothing: what they say of an entry is held against the entry itself.
        let entries = page.items.into_iter().filter_map(|(place, it)| {
            let is_there = it.entry.at() == place.at && it.entry.account_id() == account;
            (is_there && filter.admits(&it.entry)).then_some(it)
        });
        Ok(TrailPage { entries: entries.collect(), newer: page.newer, older: page.older })
    }
}

fn read_placed(row: &Row) -> Result<(TrailCursor, ChainedEntry), StorageError> {
    let entry = read_chained(row)?;
    Ok((TrailCursor { at: row.moment("at")?, seq: entry.seq }, entry))
}

/// Where an entry belongs. '' stands for none.
pub(crate) struct TrailPlace<'e> {
    account: &'e str,
    at: UnixMillis,
    verb: &'e str,
    person: &'e str,
    key: &'e str,
}

/// What can stand in the trail.
pub(crate) trait Placed {
    fn place(&self) -> TrailPlace<'_>;
}

impl Placed for AuditEntry {
    fn place(&self) -> TrailPlace<'_> {
        TrailPlace {
            account: self.account_id.as_str(),
            at: self.at,
            verb: REQUEST,
            person: self.person_id.as_ref().map(PersonId::as_str).unwrap_or_default(),
            key: self.key_id.as_str(),
        }
    }
}

impl Placed for AdministrationEntry {
    fn place(&self) -> TrailPlace<'_> {
        TrailPlace {
            account: self.account_id.as_str(),
            at: self.at,
            verb: &self.verb,
            person: match &self.actor {
                Actor::Person { id } => id.as_str(),
                _ => "",
            },
            key: self.subject.strip_prefix("key:").unwrap_or_default(),
        }
    }
}

impl Placed for TrailEntry {
    fn place(&self) -> TrailPlace<'_> {
        match self {
            Self::Administration(entry) => entry.place(),
            Self::Request(entry) => entry.place(),
        }
    }
}

/// Notes where entries belong, by their numbers.
pub(crate) async fn note(
    tx: &mut Transaction,
    places: &[(u64, TrailPlace<'_>)],
) -> Result<(), StorageError> {
    const TABLE: (&str, &[&str]) =
        ("trail_places", &["account_id", "at", "seq", "verb", "person_id", "key_id"]);
    let row = |(seq, place): &(u64, TrailPlace<'_>)| -> Vec<Value> {
        let TrailPlace { account, at, verb, person, key } = *place;
        vec![account.into(), at.into(), (*seq).into(), verb.into(), person.into(), key.into()]
    };
    // Where the trail's end was cut off, numbers may come again.
    let conflict = " ON CONFLICT (account_id, at, seq) DO UPDATE SET verb = excluded.verb, \
                    person_id = excluded.person_id, key_id = excluded.key_id";
    insert_many(tx, TABLE, conflict, places.iter().map(row).collect(), |_, _| {})
        .await
        .map_err(StorageError::database("add to the audit trail"))
}
