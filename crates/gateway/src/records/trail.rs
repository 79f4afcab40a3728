//! The audit trail, for those who may read it.

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::AccountId;
use sluice_storage::{
    AuditContent, AuditFilter, AuditVerification, ChainedEntry, Doing, HeadKey, Note, SignedHead,
    TrailCursor, TrailFilter, TrailPage, Turn,
};

use crate::admin::permissions::{Rights, Verb};
use crate::admin::{Admin, AdminError};

impl Admin<'_> {
    /// A page of the audit trail of an account.
    pub async fn trail(
        &self,
        account: Option<&str>,
        filter: &TrailFilter,
        turn: &Turn<TrailCursor>,
        limit: u32,
    ) -> Result<TrailPage, AdminError> {
        let account = self.account_of_trail(account).await?;
        Ok(self.store.trail_page(&account, filter, turn, limit).await?)
    }

    /// The entry with this id, if it belongs to the account.
    pub async fn trail_entry(
        &self,
        account: Option<&str>,
        id: &str,
    ) -> Result<Option<ChainedEntry>, AdminError> {
        let account = self.account_of_trail(account).await?;
        let filter =
            AuditFilter { audit_id: Some(id.to_owned()), limit: Some(1), ..AuditFilter::default() };
        let found = self.store.audit(&filter).await?.pop();
        Ok(found.filter(|it| it.entry.account_id() == &account))
    }

    /// Checks the whole trail, whatever account each entry belongs to: the chain is one. It takes as
    /// long as the trail is.
    pub async fn verify_trail(&self) -> Result<AuditVerification, AdminError> {
        self.account_of_trail(None).await?;
        Ok(self.store.verify_audit(self.master_key, &[]).await?)
    }

    /// The redacted content that is kept beside an entry. Whoever reads it leaves an entry first.
    pub async fn read_content(
        &self,
        account: Option<&str>,
        id: &str,
    ) -> Result<AuditContent, AdminError> {
        let (rights, account) = self.standing(account).await?;
        if !rights.allow_account(Verb::ReadContent, &account) {
            return Err(AdminError::Forbidden { verb: Verb::ReadContent.as_str() });
        }
        let filter =
            AuditFilter { audit_id: Some(id.to_owned()), limit: Some(1), ..AuditFilter::default() };
        let found = self.store.audit(&filter).await?.pop();
        let found = found.filter(|it| it.entry.account_id() == &account);
        let found = found.ok_or_else(|| AdminError::NoSuchEntry { id: id.to_owned() })?;
        let has_content = found.entry.request().is_some_and(|it| it.content_bytes.is_some());
        if !has_content {
            return Err(AdminError::NoContent { id: id.to_owned() });
        }
        let note = Note {
            verb: Verb::ReadContent.as_str(),
            subject: format!("audit:{id}"),
            account_id: account,
            details: json!({ "audit_id": id }),
        };
        self.store.note_deed(self.master_key, &self.doing(), note).await?;
        let content = self.store.audit_content(self.master_key, id).await?;
        content.ok_or_else(|| AdminError::NoContent { id: id.to_owned() })
    }

    /// Notes that something is exported: `verb` says what, and `details` with which filter, to where.
    pub async fn note_export(
        &self,
        account: Option<&str>,
        verb: Verb,
        details: serde_json::Value,
    ) -> Result<(), AdminError> {
        let (rights, account) = self.standing(account).await?;
        if !rights.allow_at_all(verb) {
            return Err(AdminError::Forbidden { verb: verb.as_str() });
        }
        let subject = format!("account:{account}");
        let note = Note { verb: verb.as_str(), subject, account_id: account, details };
        Ok(self.store.note_deed(self.master_key, &self.doing(), note).await?)
    }

    /// The head of the trail that was signed last, and the public key that heads are checked with.
    pub async fn latest_head(&self) -> Result<(Option<SignedHead>, String), AdminError> {
        self.account_of_trail(None).await?;
        let head = self.store.latest_audit_head().await?;
        Ok((head, HeadKey::new(self.master_key).public_key()))
    }

    /// Removes the oldest entries, those from before `before`, behind a signed checkpoint, and says how
    /// many. Their removal has an entry in the trail of the account that was made first.
    pub async fn prune_trail(&self, before: UnixMillis) -> Result<u64, AdminError> {
        let (rights, _) = self.standing(None).await?;
        if !matches!(rights, Rights::All) {
            return Err(AdminError::Forbidden { verb: "audit.prune" });
        }
        let account = self.default_account().await?.id;
        let doing = self.doing();
        Ok(self.store.prune_audit(self.master_key, &doing, &account, before).await?)
    }

    fn doing(&self) -> Doing {
        let (actor, surface) = (self.actor.clone(), self.surface);
        Doing { at: self.now, actor, surface, judged_at: None }
    }

    async fn account_of_trail(&self, account: Option<&str>) -> Result<AccountId, AdminError> {
        let (rights, account) = self.standing(account).await?;
        match rights.allow_trail(&account) {
            true => Ok(account),
            false => Err(AdminError::Forbidden { verb: Verb::SeeTrail.as_str() }),
        }
    }
}
