//! Signed heads: where the trail ended at some moment, signed so that anybody can check it.
//!
//! A head is an Ed25519 signature (RFC 8032) of a number, a hash and a moment. The key is derived from
//! the root, so that it stays when the master key is rotated; its public half may be kept anywhere. Who
//! keeps heads where nobody of this machine can write finds out about a trail that was put back or
//! written anew, also by somebody who has the master key.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sluice_core::clock::UnixMillis;

use super::chain::{AuditSeal, Head, Position, last_row, read_head};
use crate::database::{Row, Target, Transaction, Value, insert_one, sql};
use crate::error::StorageError;
use crate::master_key::{MasterKey, to_hex};
use crate::open::Store;
use crate::vault::bytes_of;

/// What is signed begins with it: a signature of one thing is none of another.
const HEAD: &str = "sluice audit head 1";

/// Signs heads and checkpoints.
pub struct HeadKey(Ed25519KeyPair);

impl HeadKey {
    /// The key of a data folder.
    #[expect(clippy::expect_used, reason = "a seed of Ed25519 has 32 bytes, and so has this one")]
    pub fn new(key: &MasterKey) -> Self {
        let seed = key.derive("audit-head-signature");
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.expose());
        Self(pair.expect("the seed has 32 bytes"))
    }

    /// The public half, in hexadecimal.
    pub fn public_key(&self) -> String {
        to_hex(self.0.public_key().as_ref())
    }

    pub(super) fn sign(&self, message: &str) -> String {
        to_hex(self.0.sign(message.as_bytes()).as_ref())
    }
}

impl std::fmt::Debug for HeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// Whether a message was signed by whoever has the private half.
pub(super) fn is_signed(public_key: &str, message: &str, signature: &str) -> bool {
    let (Some(key), Some(signature)) = (bytes_of(public_key), bytes_of(signature)) else {
        return false;
    };
    UnparsedPublicKey::new(&ED25519, key).verify(message.as_bytes(), &signature).is_ok()
}

/// Where the trail ended at some moment. As JSON, it is what people keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHead {
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// When it was signed, in milliseconds since the Unix epoch.
    pub at: UnixMillis,
    /// The public half of the key, in hexadecimal.
    pub public_key: String,
    /// The signature of `sluice audit head 1`, number, hash and moment, each after a space.
    pub signature: String,
}

impl SignedHead {
    fn sign(key: &HeadKey, end: Position, at: UnixMillis) -> Self {
        let mut head = Self {
            seq: end.seq,
            hash: end.hash,
            at,
            public_key: key.public_key(),
            signature: String::new(),
        };
        head.signature = key.sign(&head.message());
        head
    }

    fn message(&self) -> String {
        format!("{HEAD} {} {} {}", self.seq, self.hash, self.at.0)
    }

    /// Whether it is signed, and by the key whose public half this is.
    pub fn is_signed_by(&self, public_key: &str) -> bool {
        self.public_key.eq_ignore_ascii_case(public_key)
            && is_signed(public_key, &self.message(), &self.signature)
    }

    pub(super) async fn read_all<'c>(
        on: impl Into<Target<'c>>,
        doing: &'static str,
    ) -> Result<Vec<Self>, StorageError> {
        let rows = sql("SELECT * FROM audit_heads ORDER BY seq").fetch_all(on).await;
        rows.map_err(StorageError::database(doing))?.iter().map(Self::read).collect()
    }

    fn read(row: &Row) -> Result<Self, StorageError> {
        Ok(Self {
            seq: row.count("seq")?,
            hash: row.string("hash")?,
            at: row.moment("at")?,
            public_key: row.string("public_key")?,
            signature: row.string("signature")?,
        })
    }

    fn values(&self) -> Vec<Value> {
        vec![
            self.seq.into(),
            (&self.hash).into(),
            self.at.into(),
            (&self.public_key).into(),
            (&self.signature).into(),
        ]
    }
}

/// What `meta` calls it up to where the trail was sent on.
const FORWARDED: &str = "audit_forwarded";
const SIGNING: &str = "sign the audit trail's head";

impl Store {
    /// Signs where the trail ends now, and keeps the head. The one that is there where nothing was added
    /// since; `None` where the trail is empty. An end that is not sealed is not signed: somebody who
    /// lacks the master key made it.
    pub async fn sign_audit_head(
        &self,
        key: &MasterKey,
        now: UnixMillis,
    ) -> Result<Option<SignedHead>, StorageError> {
        let mut tx = self.begin_write(SIGNING).await?;
        let head = sign_in(&mut tx, key, now).await;
        match head {
            Ok(head) => {
                tx.commit(SIGNING).await?;
                Ok(head)
            }
            Err(error) => {
                tx.rollback(SIGNING).await?;
                Err(error)
            }
        }
    }

    /// Up to which entry, and up to the head of which one, the trail was sent on. The first time it is
    /// asked, that is where it ends now.
    pub async fn forwarded_audit(&self) -> Result<(u64, u64), StorageError> {
        const DOING: &str = "find out what was sent on of the audit trail";
        let row = sql("SELECT value FROM meta WHERE name = $1")
            .bind(FORWARDED)
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
        let text = row.map(|row| row.string("value")).transpose()?;
        let numbers = text.as_deref().and_then(|text| text.split_once(' '));
        if let Some((entry, head)) =
            numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
        {
            return Ok((entry, head));
        }
        let mut tx = self.begin_read(DOING).await?;
        let end = last_row(&mut tx, DOING).await?.seq;
        tx.rollback(DOING).await?;
        self.note_forwarded_audit(end, 0).await?;
        Ok((end, 0))
    }

    /// Notes up to where the trail was sent on.
    pub async fn note_forwarded_audit(&self, entry: u64, head: u64) -> Result<(), StorageError> {
        sql("INSERT INTO meta (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        .bind(FORWARDED)
        .bind(format!("{entry} {head}"))
        .execute(self.database())
        .await
        .map_err(StorageError::database("note what was sent on of the audit trail"))?;
        Ok(())
    }

    /// The head that was signed last.
    pub async fn latest_audit_head(&self) -> Result<Option<SignedHead>, StorageError> {
        let row = sql("SELECT * FROM audit_heads ORDER BY seq DESC LIMIT 1")
            .fetch_optional(self.database())
            .await
            .map_err(StorageError::database("read the audit trail's last head"))?;
        row.as_ref().map(SignedHead::read).transpose()
    }

    /// The signed heads that the database keeps, the latest last.
    pub async fn audit_heads(&self) -> Result<Vec<SignedHead>, StorageError> {
        SignedHead::read_all(self.database(), "list the audit trail's heads").await
    }
}

async fn sign_in(
    tx: &mut Transaction,
    key: &MasterKey,
    now: UnixMillis,
) -> Result<Option<SignedHead>, StorageError> {
    let end = last_row(tx, SIGNING).await?;
    if end.seq == 0 {
        return Ok(None);
    }
    match read_head(tx, &AuditSeal::new(key), SIGNING).await? {
        Head::Sealed(sealed) if sealed == end => {}
        _ => return Err(StorageError::TrailEndIsNotSealed),
    }
    let there = sql("SELECT * FROM audit_heads WHERE seq = $1")
        .bind(end.seq)
        .fetch_optional(&mut *tx)
        .await
        .map_err(StorageError::database(SIGNING))?;
    if let Some(there) = there {
        return SignedHead::read(&there).map(Some);
    }
    let head = SignedHead::sign(&HeadKey::new(key), end, now);
    let columns: &[&str] = &["seq", "hash", "at", "public_key", "signature"];
    insert_one(tx, ("audit_heads", columns), head.values())
        .await
        .map_err(StorageError::database(SIGNING))?;
    Ok(Some(head))
}
