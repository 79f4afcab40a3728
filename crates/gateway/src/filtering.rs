//! The filter's part of a request: what it does before a provider is asked.

use std::sync::Arc;

use sluice_core::chat::ChatRequest;
use sluice_core::filtering::{FilterAction, FilterRecord};
use sluice_core::ids::AccountId;
use sluice_core::outcome::Outcome;
use sluice_core::policy::EffectivePolicy;
use sluice_core::sealed::SealedPlaces;
use sluice_security::answer::{AnswerGuard, GuardParts};
use sluice_security::flag::Flag;
use sluice_security::request::{Filter, Refusal, Refused, Report, Subject};

use crate::error::{ChatError, Unanswered};
use crate::request::{LARGE_BODY, RequestContext};
use crate::way_back::WayBack;

/// So many characters of an application's name or address are kept.
const LONGEST_LABEL: usize = 200;

/// A request as it may be sent, and what its answer needs on the way back.
pub(crate) struct Passed {
    pub(crate) chat: ChatRequest,
    pub(crate) way_back: WayBack,
}

/// What was filtered could not be made a request again, or filtering broke off: nothing is sent.
fn failed() -> Box<Unanswered> {
    tracing::error!("the security filter failed; the request was refused");
    let record = FilterRecord {
        action: FilterAction::Block,
        flags: vec![FilterRecord::FAILED.to_owned()],
        ..FilterRecord::default()
    };
    stopped("the security filter failed on the request; send it again".to_owned(), record)
}

/// A request that may not be sent.
fn stopped(reason: String, record: FilterRecord) -> Box<Unanswered> {
    let error = ChatError::Blocked { reason };
    Box::new(Unanswered { error, outcome: Some(Outcome::Blocked), filter: Some(record) })
}

/// Filters `chat`, a large one on a thread of its own, or says why it may not be sent. What stands at
/// `sealed` goes back to a provider that sealed it, and to no other one.
pub(crate) async fn filter(
    filter: Arc<Filter>,
    chat: ChatRequest,
    account: &AccountId,
    policy: EffectivePolicy,
    sealed: SealedPlaces,
) -> Result<Passed, Box<Unanswered>> {
    if chat.source.body_bytes <= LARGE_BODY {
        return pass(&filter, chat, account, &policy, sealed);
    }
    let account = account.clone();
    let passing =
        tokio::task::spawn_blocking(move || pass(&filter, chat, &account, &policy, sealed));
    passing.await.unwrap_or_else(|_| Err(failed()))
}

fn pass(
    filter: &Filter,
    chat: ChatRequest,
    account: &AccountId,
    policy: &EffectivePolicy,
    sealed: SealedPlaces,
) -> Result<Passed, Box<Unanswered>> {
    let subject = subject(account, policy, sealed);
    let filtered =
        filter.request(&chat.source, &subject).map_err(|refused| stop(&refused, policy))?;
    let record = record(&filtered.report);
    if filtered.report.flags.contains(Flag::FilterFailed) {
        let level = policy.level.as_str();
        tracing::error!(level, "a part of the security filter failed; the request went on");
    }
    let rules = filter.rules(policy.level);
    let map = Arc::new(filtered.map);
    let guard = AnswerGuard::new(GuardParts {
        scanner: filter.scanner().clone(),
        map: map.clone(),
        rules: *rules,
        request: chat.source.members.clone(),
        suspect: filtered.report.flags.contains(Flag::PromptInjection),
    });
    let way_back = WayBack::new(record, guard, map);
    let mut chat = match (filtered.members, filtered.messages) {
        (None, _) => chat,
        // What is sent is what was filtered, or nothing is.
        (Some(members), Some(messages)) => {
            chat.with_messages(members, &messages).ok_or_else(failed)?
        }
        (Some(members), None) => chat.source.with_members(&members).ok_or_else(failed)?,
    };
    chat.unread = sealed;
    Ok(Passed { chat, way_back })
}

fn subject<'a>(
    account: &'a AccountId,
    policy: &EffectivePolicy,
    sealed: SealedPlaces,
) -> Subject<'a> {
    let zero_retention = policy.retention.is_zero();
    Subject { account: account.as_str(), level: policy.level, zero_retention, sealed }
}

/// Filters what the caller says of its application, before any of it is kept. Under zero retention
/// nothing is.
pub(crate) fn filter_labels(
    filter: &Filter,
    context: &mut RequestContext,
    account: &AccountId,
    policy: &EffectivePolicy,
) {
    let subject = subject(account, policy, SealedPlaces::NONE);
    for label in [&mut context.app_url, &mut context.app_title] {
        let said = label.take().filter(|_| !policy.retention.is_zero());
        // Shortened only now: half a secret is not recognised.
        *label = said.and_then(|text| filter.label(text, &subject)).map(shortened);
    }
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_LABEL) {
        text.truncate(end);
    }
    text
}

fn stop(refused: &Refused, policy: &EffectivePolicy) -> Box<Unanswered> {
    let record = record(&refused.report);
    let level = policy.level.as_str();
    let advice = match &refused.refusal {
        Refusal::Injection { .. } => {
            "remove that text, or ask the operator about `security` in the configuration"
        }
        Refusal::Unreadable { .. } => {
            "send it as text, or ask for a milder level where the key allows it"
        }
        Refusal::Failed { .. } => "send the request again; the operator's log has the cause",
    };
    // Without the place: the request may be one that must leave no trace.
    if let Refusal::Failed { .. } = &refused.refusal {
        tracing::error!(level, "the security filter failed; the request was refused");
    }
    let reason = format!(
        "the security filter refuses the request at level `{level}`: {}; {advice}",
        refused.refusal
    );
    stopped(reason, record)
}

fn record(report: &Report) -> FilterRecord {
    let count = |(kind, count): &(sluice_security::kind::Kind, usize)| {
        (kind.as_str().to_owned(), u64::try_from(*count).unwrap_or(u64::MAX))
    };
    FilterRecord {
        action: report.action,
        redactions: report.redactions.iter().map(count).collect(),
        flags: report.flags.iter().map(|flag| flag.as_str().to_owned()).collect(),
        injection_permille: (report.injection_score.clamp(0.0, 1.0) * 1000.0).round() as u16,
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::json::RawJson;
    use sluice_core::level::SecurityLevel;
    use sluice_storage::{AuditEntry, JournalEntry};

    use super::*;
    use crate::testing::{House, TIMEOUTS, chat};

    /// The audit entry of a request that could not be read anew when it had been filtered.
    async fn audited(level: SecurityLevel, audit: bool, zero: bool) -> Option<AuditEntry> {
        let house = House::new(TIMEOUTS);
        let mut chat = chat("Ask j.doe@busy-mill.org");
        chat.source.members[1].value =
            RawJson::parse(r#"[{"role":"user","content":"Ask j.doe@busy-mill.org"}]"#).unwrap();
        chat.options.security_level = Some(level);
        (chat.options.audit_enabled, chat.options.zero_retention) = (audit, zero);
        let refused = house.ask(chat).await;
        assert!(matches!(refused, Err(ChatError::Blocked { .. })));
        assert_eq!(house.calls(), (0, 0));
        let mut audits: Vec<_> = house.entries();
        audits.retain(|entry| matches!(entry, JournalEntry::Audit(_)));
        match audits.pop() {
            Some(JournalEntry::Audit(entry)) => Some(*entry),
            _ => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_strictest_level_writes_every_failure_of_the_filter_into_the_audit_trail() {
        for level in SecurityLevel::ALL {
            let entry = audited(level, false, false).await.unwrap();
            assert_eq!((entry.outcome, entry.filter.has_failed()), (Outcome::Blocked, true));
            assert!(entry.request_id.is_some());
            let entry = audited(level, false, true).await;
            assert_eq!(entry.is_some(), level == SecurityLevel::Maximum);
        }
        // Nothing but the failure: as little as every other entry under zero retention.
        for audit in [false, true] {
            let entry = audited(SecurityLevel::Maximum, audit, true).await.unwrap();
            assert_eq!(entry.clone().for_zero_retention(), entry);
            let expected = FilterRecord {
                action: FilterAction::Block,
                flags: vec![Flag::FilterFailed.as_str().to_owned()],
                ..FilterRecord::default()
            };
            assert_eq!(entry.filter, expected);
        }
    }
}
