//! The redacted content of requests that ask for an audit trail with everything in it.
//!
//! On its way it lies in the journal, sealed under a key derived from the root, so that the hot path asks
//! no database for a key. The ingester packs it and seals it under the account's key. What is sealed
//! belongs to its entry: nobody can put another content beside it.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;

use crate::database::{Transaction, Value, insert_many, sql};
use crate::error::StorageError;
use crate::journal::JournalEntry;
use crate::keyring::DataKey;
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::vault::Sealer;

const PURPOSE: &str = "audit content";
const DOING: &str = "keep the content of requests";
const READING: &str = "read the content of a request";
const TABLE: (&str, &[&str]) =
    ("audit_contents", &["audit_id", "account_id", "at", "key_id", "sealed"]);
/// No content is unpacked beyond this: a packed one could be made to fill the memory.
const MOST_UNPACKED: u64 = 64 * 1024 * 1024;
/// Rows that are removed at once: others write in between.
const AT_ONCE: u64 = 1000;

/// What was sent to a model and what it answered, as the model saw it: redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditContent {
    /// The request as JSON, or its beginning.
    pub request: String,
    /// The length of the whole request in bytes.
    pub request_bytes: u64,
    /// The answer piece by piece, or its beginning.
    pub answer: Vec<AnswerPart>,
    /// The length of the whole answer in bytes.
    pub answer_bytes: u64,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerPart {
    /// Which of the answers; the first is 0.
    pub choice: u32,
    /// What it is: `content`, `reasoning`, `refusal`, `tool_call`.
    pub kind: String,
    /// The text; of a tool call, the function's name and its arguments.
    pub text: String,
}

impl AuditContent {
    /// How many bytes of it are kept.
    pub fn kept_bytes(&self) -> u64 {
        let answer: usize = self.answer.iter().map(|part| part.text.len()).sum();
        (self.request.len() + answer) as u64
    }

    /// Whether a part of it was too long to be kept.
    pub fn is_cut(&self) -> bool {
        self.kept_bytes() < self.request_bytes + self.answer_bytes
    }
}

/// Seals content on its way into the database.
#[derive(Debug, Clone)]
pub struct ContentSealer(Sealer);

impl ContentSealer {
    /// What seals under a key derived from the root.
    pub fn new(key: &MasterKey) -> Self {
        Self(key.sealer("audit content on its way"))
    }

    /// A line of the journal with the content of an entry.
    pub fn seal(
        &self,
        audit_id: &str,
        account_id: &AccountId,
        at: UnixMillis,
        content: &AuditContent,
    ) -> Result<JournalEntry, StorageError> {
        let sealed = self.0.seal(&as_json(content)?, audit_id)?;
        let (audit_id, account_id) = (audit_id.to_owned(), account_id.clone());
        Ok(JournalEntry::Content(Box::new(ContentLine { audit_id, account_id, at, sealed })))
    }
}

fn as_json(content: &AuditContent) -> Result<Vec<u8>, StorageError> {
    serde_json::to_vec(content).map_err(|_| unreadable())
}

/// Never with the value: it is content.
fn unreadable() -> StorageError {
    StorageError::Unreadable { column: "sealed", value: "***".to_owned() }
}

/// Content on its way into the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContentLine {
    audit_id: String,
    account_id: AccountId,
    at: UnixMillis,
    sealed: String,
}

/// Takes content out of the journal and seals it for good.
pub(crate) struct Contents {
    on_its_way: Sealer,
    master: MasterKey,
    keys: HashMap<AccountId, DataKey>,
}

impl Contents {
    pub(crate) fn new(master: &MasterKey) -> Self {
        let ContentSealer(on_its_way) = ContentSealer::new(master);
        Self { on_its_way, master: master.clone(), keys: HashMap::new() }
    }

    /// The rows of the content among `entries`. Call it before the transaction that writes them: an
    /// account may have no key yet.
    pub(crate) async fn rows(
        &mut self,
        store: &Store,
        entries: &[JournalEntry],
    ) -> Result<Vec<Vec<Value>>, StorageError> {
        let mut rows = Vec::new();
        for entry in entries {
            let JournalEntry::Content(line) = entry else { continue };
            let Some(content) = self.on_its_way.open(&line.sealed, &line.audit_id) else {
                tracing::error!(audit_id = line.audit_id, "content in the journal cannot be read");
                continue;
            };
            if !self.keys.contains_key(&line.account_id) {
                let key = store.account_key(&self.master, &line.account_id, line.at).await?;
                self.keys.insert(line.account_id.clone(), key);
            }
            let Some(key) = self.keys.get(&line.account_id) else { continue };
            let packed = pack(content.expose()).map_err(|_| unreadable())?;
            rows.push(vec![
                line.audit_id.as_str().into(),
                line.account_id.as_str().into(),
                line.at.into(),
                key.id().into(),
                key.sealer(PURPOSE).seal(&packed, &line.audit_id)?.into(),
            ]);
        }
        Ok(rows)
    }

    /// Writes rows; those that are there already stay.
    pub(crate) async fn write(
        tx: &mut Transaction,
        rows: Vec<Vec<Value>>,
    ) -> Result<(), StorageError> {
        insert_many(tx, TABLE, " ON CONFLICT (audit_id) DO NOTHING", rows, |_, _| {})
            .await
            .map_err(StorageError::database(DOING))
    }
}

fn pack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::fast());
    packed.write_all(bytes)?;
    packed.finish()
}

fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).take(MOST_UNPACKED).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Store {
    /// The content that is kept beside an entry; `None` where there is none, or none any more.
    pub async fn audit_content(
        &self,
        master: &MasterKey,
        audit_id: &str,
    ) -> Result<Option<AuditContent>, StorageError> {
        let row = sql("SELECT key_id, sealed FROM audit_contents WHERE audit_id = $1")
            .bind(audit_id)
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database(READING))?;
        let Some(row) = row else { return Ok(None) };
        let (key_id, sealed) = (row.string("key_id")?, row.string("sealed")?);
        let keys = self.account_keys(master).await?;
        let opened = keys.get(&key_id).and_then(|key| key.sealer(PURPOSE).open(&sealed, audit_id));
        let opened = opened.ok_or_else(unreadable)?;
        let bytes = unpack(opened.expose()).map_err(|_| unreadable())?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| unreadable())
    }

    /// Removes content from before `before`, and says of how many entries. The entries stay.
    pub async fn forget_audit_contents(&self, before: UnixMillis) -> Result<u64, StorageError> {
        let mut removed = 0;
        loop {
            let some = sql("DELETE FROM audit_contents WHERE audit_id IN \
                            (SELECT audit_id FROM audit_contents WHERE at < $1 LIMIT $2)")
            .bind(before)
            .bind(AT_ONCE)
            .execute(self.database())
            .await
            .map_err(StorageError::database("remove the content of old requests"))?;
            removed += some;
            if some < AT_ONCE {
                return Ok(removed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_is_smaller() {
        let text = "What the model saw, again and again. ".repeat(100).into_bytes();
        let packed = pack(&text).unwrap();
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpack(&packed).unwrap(), text);
        assert!(unpack(&packed[..packed.len() / 2]).is_err());
    }
}
