//! What of a request is written down: its record or its share of a sum, and its audit entry.

use std::time::Duration;

use sluice_core::filtering::FilterRecord;
use sluice_core::ids::ProviderId;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Holder;
use sluice_core::outcome::Outcome;
use sluice_core::usage::{Usage, UsageSource};
use sluice_storage::{
    AuditContent, AuditEntry, JournalEntry, QUARTER_SECONDS, UsageRecord, UsageSum, window_start,
};

use super::{Admitted, Running};
use crate::limits::session_text;
use crate::live::Finished;
use crate::plan::Candidate;

/// How a request ended.
pub(super) struct Facts {
    pub(super) outcome: Outcome,
    pub(super) usage: Usage,
    pub(super) usage_source: UsageSource,
    pub(super) cost: Option<PicoUsd>,
    pub(super) duration: Duration,
    pub(super) filter: FilterRecord,
}

impl Running {
    /// One journal write: the usage record or sum, and the audit entry where one is wanted, with the
    /// content that goes beside it.
    pub(super) fn write_down(&self, facts: &Facts, content: Option<AuditContent>) {
        let mut record = if self.admitted.policy.retention.is_zero() {
            JournalEntry::Sum(self.sum(facts))
        } else {
            JournalEntry::Usage(Box::new(self.record(facts)))
        };
        // What cannot be written waits in memory. The journal's state is logged as a whole, beside
        // the requests: a line for each of them would fill the disk further.
        let _ = match &self.audit_id {
            None => self.accounting.journal.append(std::slice::from_ref(&record)),
            Some(audit_id) => {
                let mut audit = self.audit(audit_id, facts);
                let content = content.and_then(|it| self.content(&mut audit, &it));
                let mut entries = vec![record, JournalEntry::Audit(Box::new(audit))];
                entries.extend(content);
                let written = self.accounting.journal.append(&entries);
                record = entries.swap_remove(0);
                written
            }
        };
        if let JournalEntry::Usage(record) = record
            && self.accounting.live.is_watched()
        {
            let key_name = self.admitted.principal.key.name.clone();
            self.accounting.live.tell(Finished { record: *record, key_name });
        }
        if !self.admitted.policy.retention.is_zero() {
            tracing::debug!(
                request_id = %self.admitted.context.id,
                model = self.served.as_ref().map(|s| s.candidate.model.id.as_str()),
                provider = self.served.as_ref().map(|s| s.candidate.target.endpoint.id.as_str()),
                outcome = facts.outcome.as_str(),
                attempts = self.attempts,
                duration_ms = millis(facts.duration),
                "request ended"
            );
        }
    }

    /// The content on its way beside its entry, which notes how much it is. While the journal cannot
    /// be written, entries come first: content would take their memory.
    fn content(&self, audit: &mut AuditEntry, content: &AuditContent) -> Option<JournalEntry> {
        let accounting = &self.accounting;
        if !accounting.journal.healthy() {
            return None;
        }
        let sealed =
            accounting.contents.seal(&audit.audit_id, &audit.account_id, audit.at, content);
        match sealed {
            Ok(line) => {
                audit.content_bytes = Some(content.kept_bytes());
                Some(line)
            }
            Err(error) => {
                tracing::error!(%error, "the content of an audited request could not be sealed");
                None
            }
        }
    }

    pub(super) fn record(&self, facts: &Facts) -> UsageRecord {
        let Admitted { principal, context, policy, permit, model_asked, stream, .. } =
            &self.admitted;
        let whose = &principal.attribution;
        let candidate = self.served.as_ref().map(|served| &served.candidate);
        let model = candidate.map(|candidate| &candidate.model);
        UsageRecord {
            request_id: context.id.clone(),
            key_id: principal.key.id.clone(),
            account_id: principal.account.id.clone(),
            department_id: whose.department.clone(),
            team_id: whose.team.clone(),
            holder: whose.holder.clone(),
            // Windows are restored by it: it is the moment by which the request was counted.
            started_at: permit.admitted_at(),
            app_url: context.app_url.clone(),
            app_title: context.app_title.clone(),
            model_asked: model_asked.clone(),
            model: model.map(|model| model.id.clone()),
            provider: candidate.map(|candidate| candidate.target.endpoint.id.clone()),
            region: candidate.and_then(|candidate| candidate.region),
            level: policy.level,
            stream: *stream,
            usage: facts.usage,
            usage_source: facts.usage_source,
            cost: facts.cost,
            price_version: model
                .and_then(|model| model.price.as_ref())
                .map(|price| price.version.clone()),
            time_to_first_token_ms: self.time_to_first_token.map(millis),
            duration_ms: millis(facts.duration),
            outcome: facts.outcome,
            attempts: self.attempts,
            audit_id: self.audit_id.clone(),
            simulated: model.is_some_and(|model| model.simulated),
            filter: facts.filter.clone(),
            route: self.route.as_deref().cloned(),
            max_tokens_lowered: self.decided().max_tokens_lowered,
            provider_key: candidate.and_then(Candidate::provider_key),
            assumed: self.assumed,
            session: self.admitted.session.map(session_text),
        }
    }

    fn sum(&self, facts: &Facts) -> UsageSum {
        let whose = &self.admitted.principal.attribution;
        let served = self.served.as_ref();
        UsageSum {
            key_id: whose.key.clone(),
            account_id: whose.account.clone(),
            department_id: whose.department.clone(),
            team_id: whose.team.clone(),
            holder: whose.holder.clone(),
            quarter: window_start(self.admitted.permit.admitted_at(), QUARTER_SECONDS),
            model: served.map(|served| served.candidate.model.id.clone()),
            requests: 1,
            usage: facts.usage,
            cost: facts.cost,
            uncounted_cost: served
                .filter(|served| served.candidate.is_uncounted())
                .map(|_| facts.cost.unwrap_or_default()),
            assumed: self.assumed,
        }
    }

    fn audit(&self, audit_id: &str, facts: &Facts) -> AuditEntry {
        let Admitted { principal, context, policy, model_asked, .. } = &self.admitted;
        let candidate = self.served.as_ref().map(|served| &served.candidate);
        let provider: Option<ProviderId> =
            candidate.map(|candidate| candidate.target.endpoint.id.clone());
        let entry = AuditEntry {
            audit_id: audit_id.to_owned(),
            at: context.arrived_at,
            request_id: Some(context.id.clone()),
            key_id: principal.key.id.clone(),
            person_id: match &principal.attribution.holder {
                Some(Holder::Person(id)) => Some(id.clone()),
                _ => None,
            },
            account_id: principal.account.id.clone(),
            remote_addr: context.remote.map(|address| address.to_string()),
            app: context.app_title.clone().or_else(|| context.app_url.clone()),
            model_asked: model_asked.clone(),
            model: candidate.map(|candidate| candidate.model.id.clone()),
            provider,
            region: candidate.and_then(|candidate| candidate.region),
            level: policy.level,
            filter: facts.filter.clone(),
            usage: Some(facts.usage),
            cost: facts.cost,
            outcome: facts.outcome,
            zero_retention: policy.retention.is_zero(),
            content_bytes: None,
        };
        if policy.retention.is_zero() { entry.for_zero_retention() } else { entry }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
