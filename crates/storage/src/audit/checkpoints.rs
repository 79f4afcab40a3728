//! Where the trail begins once its oldest entries were removed.
//!
//! A checkpoint says, signed, up to which entry the trail was removed and what that entry's hash was:
//! the chain is followed from there. It is written before anything is removed, in the same transaction as
//! the entry that tells of it, so that a removal that is killed goes on. Whoever lacks the master key can
//! make none, and one that was there before speaks of fewer entries: those between are missing then.

use std::collections::HashMap;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;

use super::chain::Position;
use super::heads::{HeadKey, is_signed};
use super::read_chained;
use crate::administration::Note;
use crate::database::{Target, Transaction, insert_one, sql};
use crate::error::StorageError;
use crate::master_key::MasterKey;
use crate::open::Store;
use crate::trail::Doing;

const DOING: &str = "remove the oldest entries of the audit trail";
const CHECKPOINT: &str = "sluice audit checkpoint 1";
/// Entries that go in one transaction: others write in between.
const AT_ONCE: u64 = 2000;

/// Up to where the trail was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of the last entry that was removed.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// When that was decided.
    pub at: UnixMillis,
    signature: String,
}

impl Checkpoint {
    fn sign(key: &HeadKey, end: Position, at: UnixMillis) -> Self {
        let mut it = Self { seq: end.seq, hash: end.hash, at, signature: String::new() };
        it.signature = key.sign(&it.message());
        it
    }

    fn message(&self) -> String {
        format!("{CHECKPOINT} {} {} {}", self.seq, self.hash, self.at.0)
    }

    pub(super) fn is_signed_by(&self, key: &HeadKey) -> bool {
        is_signed(&key.public_key(), &self.message(), &self.signature)
    }

    pub(super) fn position(&self) -> Position {
        Position { seq: self.seq, hash: self.hash.clone() }
    }

    pub(crate) async fn write(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        let columns: &[&str] = &["seq", "hash", "at", "signature"];
        let row =
            vec![self.seq.into(), (&self.hash).into(), self.at.into(), (&self.signature).into()];
        insert_one(tx, ("audit_checkpoints", columns), row)
            .await
            .map_err(StorageError::database(DOING))
    }

    pub(super) async fn latest<'c>(
        on: impl Into<Target<'c>>,
        doing: &'static str,
    ) -> Result<Option<Self>, StorageError> {
        let row = sql("SELECT * FROM audit_checkpoints ORDER BY seq DESC LIMIT 1")
            .fetch_optional(on)
            .await
            .map_err(StorageError::database(doing))?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Self {
            seq: row.count("seq")?,
            hash: row.string("hash")?,
            at: row.moment("at")?,
            signature: row.string("signature")?,
        }))
    }
}

impl Store {
    /// Removes the entries at the beginning of the trail that are from before `before`, behind a signed
    /// checkpoint, and says how many. The last entry stays, whatever its age: the seals name it.
    ///
    /// Only what lies before the first entry that has to stay goes. What an earlier call did not come to
    /// is removed as well. The entry that tells of it goes into the trail of `account`.
    pub async fn prune_audit(
        &self,
        key: &MasterKey,
        doing: &Doing,
        account: &AccountId,
        before: UnixMillis,
    ) -> Result<u64, StorageError> {
        if let Some(end) = self.last_before(before).await? {
            self.set_checkpoint(key, doing, account, end).await?;
        }
        let checkpoint = Checkpoint::latest(self.database(), DOING).await?;
        let Some(up_to) = checkpoint.map(|it| it.seq) else { return Ok(0) };
        let mut removed = 0;
        loop {
            let mut tx = self.begin_write(DOING).await?;
            match remove_some(&mut tx, up_to).await {
                Ok(0) => {
                    tx.rollback(DOING).await?;
                    return Ok(removed);
                }
                Ok(some) => {
                    tx.commit(DOING).await?;
                    removed += some;
                }
                Err(error) => {
                    tx.rollback(DOING).await?;
                    return Err(error);
                }
            }
        }
    }

    /// The last entry of those at the beginning that may go.
    async fn last_before(&self, before: UnixMillis) -> Result<Option<Position>, StorageError> {
        const PAGE: u64 = 1000;
        let mut tx = self.begin_read(DOING).await?;
        let mut last = None;
        let mut after = Checkpoint::latest(&mut tx, DOING).await?.map_or(0, |it| it.seq);
        loop {
            let rows = sql("SELECT seq, entry, hash FROM audit_entries WHERE seq > $1 \
                            AND seq < (SELECT MAX(seq) FROM audit_entries) ORDER BY seq LIMIT $2")
            .bind(after)
            .bind(PAGE)
            .fetch_all(&mut tx)
            .await
            .map_err(StorageError::database(DOING))?;
            if rows.is_empty() {
                return Ok(last);
            }
            for row in rows {
                let it = read_chained(&row)?;
                if it.entry.at() >= before {
                    return Ok(last);
                }
                after = it.seq;
                last = Some(Position { seq: it.seq, hash: it.hash });
            }
        }
    }

    async fn set_checkpoint(
        &self,
        key: &MasterKey,
        doing: &Doing,
        account: &AccountId,
        end: Position,
    ) -> Result<(), StorageError> {
        // Nothing that was tampered with is made to vanish.
        let verified = self.verify_audit(key, &[]).await?;
        if let Some(broken) = verified.broken {
            return Err(StorageError::TrailIsBroken { seq: broken.seq, problem: broken.problem });
        }
        let checkpoint = Checkpoint::sign(&HeadKey::new(key), end, doing.at);
        let note = Note {
            verb: "audit.prune",
            subject: "deployment".to_owned(),
            account_id: account.clone(),
            details: json!({ "up_to": checkpoint.seq, "hash": checkpoint.hash }),
        };
        self.note_checkpoint(key, doing, note, &checkpoint).await
    }
}

async fn remove_some(tx: &mut Transaction, up_to: u64) -> Result<u64, StorageError> {
    let failed = || StorageError::database(DOING);
    let first = sql("SELECT COALESCE(MIN(seq), 0) AS first FROM audit_entries")
        .fetch_one(&mut *tx)
        .await
        .map_err(failed())?
        .count("first")?;
    if first == 0 || first > up_to {
        return Ok(0);
    }
    let last = up_to.min(first + AT_ONCE - 1);
    remove_places(tx, last).await?;
    sql("DELETE FROM audit_contents WHERE audit_id IN \
         (SELECT audit_id FROM audit_entries WHERE seq <= $1)")
    .bind(last)
    .execute(&mut *tx)
    .await
    .map_err(failed())?;
    sql("DELETE FROM audit_entries WHERE seq <= $1").bind(last).execute(tx).await.map_err(failed())
}

/// Removes what is kept of these entries for pages. There is no index by number: of each account those
/// between the moments of the entries are looked at.
async fn remove_places(tx: &mut Transaction, last: u64) -> Result<(), StorageError> {
    let rows = sql("SELECT seq, entry, hash FROM audit_entries WHERE seq <= $1")
        .bind(last)
        .fetch_all(&mut *tx)
        .await
        .map_err(StorageError::database(DOING))?;
    let mut spans: HashMap<AccountId, (UnixMillis, UnixMillis)> = HashMap::new();
    for row in &rows {
        let it = read_chained(row)?.entry;
        let span = spans.entry(it.account_id().clone()).or_insert((it.at(), it.at()));
        *span = (span.0.min(it.at()), span.1.max(it.at()));
    }
    for (account, (from, to)) in spans {
        sql("DELETE FROM trail_places WHERE account_id = $1 AND at >= $2 AND at <= $3 AND seq <= $4")
            .bind(account.as_str())
            .bind(from)
            .bind(to)
            .bind(last)
            .execute(&mut *tx)
            .await
            .map_err(StorageError::database(DOING))?;
    }
    Ok(())
}
