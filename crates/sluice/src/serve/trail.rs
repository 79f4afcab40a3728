//! What goes on beside the audit trail: old content and old entries go, heads are signed, and everything
//! is sent to a syslog server where one is set.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::clock::{Clock, DAY_MILLIS, UnixMillis};
use sluice_core::organisation::Actor;
use sluice_gateway::admin::Admin;
use sluice_gateway::gateway::Gateway;
use sluice_storage::{AuditFilter, ExportedEntry, MasterKey, Order, StorageError, Store};
use tokio::time::{Instant, sleep};

use super::notice::Notice;
use crate::config::syslog::SyslogAddress;
use crate::syslog::{Message, Syslog};

/// How often heads are signed and what is too old is removed.
const ROUND: Duration = Duration::from_secs(3_600);
/// How often new entries are looked for.
const PAUSE: Duration = Duration::from_secs(1);
/// How long an unreachable server is left alone.
const RETRY: Duration = Duration::from_secs(10);
/// Entries that are sent before it is noted how far they were.
const AT_ONCE: u32 = 200;

/// What looks after the trail.
#[derive(Clone)]
pub(crate) struct Keeper {
    pub(crate) store: Store,
    pub(crate) master_key: MasterKey,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Keeper {
    /// Once an hour, until the end.
    pub(crate) async fn keep(self) {
        loop {
            self.sign().await;
            self.tidy().await;
            sleep(ROUND).await;
        }
    }

    /// Signs where the trail ends. The log has it, too: logs are often kept elsewhere.
    pub(crate) async fn sign(&self) {
        match self.store.sign_audit_head(&self.master_key, self.clock.now()).await {
            Ok(Some(head)) => tracing::info!(
                seq = head.seq,
                hash = head.hash,
                at = head.at.0,
                public_key = head.public_key,
                signature = head.signature,
                "audit head"
            ),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the audit trail's head cannot be signed"),
        }
    }

    async fn tidy(&self) {
        let now = self.clock.now();
        let rules = self.gateway.snapshot().rules.audit;
        let days_ago =
            |days: u64| UnixMillis(now.0.saturating_sub(days.saturating_mul(DAY_MILLIS)));
        if let Err(error) = self.store.forget_audit_contents(days_ago(rules.content_days)).await {
            tracing::warn!(%error, "old content of audited requests cannot be removed");
        }
        if rules.retention_days == 0 {
            return;
        }
        let (actor, surface) = (Actor::Sluice, "server");
        let admin = Admin { store: &self.store, master_key: &self.master_key, now, actor, surface };
        match admin.prune_trail(days_ago(rules.retention_days)).await {
            Ok(0) => {}
            Ok(entries) => tracing::info!(entries, "old entries of the audit trail were removed"),
            Err(error) => tracing::error!(%error, "old entries of the audit trail stay"),
        }
    }

    /// Sends every entry from now on, and every head, to a syslog server, until the end. After a restart
    /// it goes on where it was.
    pub(crate) async fn forward(self, address: SyslogAddress) {
        let mut notice = Notice::default();
        loop {
            let Err(error) = self.forward_to(&address, &mut notice).await else { continue };
            if let Some(times) = notice.failed(Instant::now()) {
                tracing::error!(%error, times, %address, "the audit trail cannot be sent on");
            }
            sleep(RETRY).await;
        }
    }

    async fn forward_to(
        &self,
        address: &SyslogAddress,
        notice: &mut Notice,
    ) -> Result<(), ForwardError> {
        let mut syslog = Syslog::connect(address).await?;
        let (mut sent, mut sent_head) = self.store.forwarded_audit().await?;
        loop {
            let lines = self.lines_after(sent).await?;
            for line in &lines {
                syslog.send(&Message::entry(line, self.clock.now())).await?;
            }
            if let Some(last) = lines.last() {
                sent = last.seq;
            }
            // Whoever has the latest head needs no earlier one.
            let head = self.store.latest_audit_head().await?.filter(|head| head.seq > sent_head);
            if let Some(head) = &head {
                syslog.send(&Message::head(head)).await?;
                sent_head = head.seq;
            }
            if !lines.is_empty() || head.is_some() {
                self.store.note_forwarded_audit(sent, sent_head).await?;
            }
            if let Some(times) = notice.fine() {
                tracing::info!(times, %address, "the audit trail is sent on again");
            }
            if lines.len() < AT_ONCE as usize {
                sleep(PAUSE).await;
            }
        }
    }

    async fn lines_after(&self, sent: u64) -> Result<Vec<ExportedEntry>, StorageError> {
        let filter = AuditFilter {
            after: Some(sent),
            limit: Some(AT_ONCE),
            order: Order::OldestFirst,
            ..AuditFilter::default()
        };
        let mut lines = Vec::new();
        let keep = |line, _| {
            lines.push(line);
            Ok(())
        };
        self.store.each_audit_entry(&filter, keep).await?;
        Ok(lines)
    }
}

/// Why nothing can be sent on.
#[derive(Debug, thiserror::Error)]
enum ForwardError {
    #[error(transparent)]
    Network(#[from] std::io::Error),
    #[error(transparent)]
    Storage(#[from] StorageError),
}
