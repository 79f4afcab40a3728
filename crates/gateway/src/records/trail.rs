//! The audit trail, for those who may read it.

use sluice_core::ids::AccountId;
use sluice_storage::{
    AuditFilter, AuditVerification, ChainedEntry, TrailCursor, TrailFilter, TrailPage, Turn,
};

use crate::admin::permissions::Verb;
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
        Ok(self.store.verify_audit(self.master_key).await?)
    }

    async fn account_of_trail(&self, account: Option<&str>) -> Result<AccountId, AdminError> {
        let (rights, account) = self.standing(account).await?;
        match rights.allow_trail(&account) {
            true => Ok(account),
            false => Err(AdminError::Forbidden { verb: Verb::SeeTrail.as_str() }),
        }
    }
}
