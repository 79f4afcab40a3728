//! What goes on beside the requests: the journal into the database, old windows, the signal to
//! stop.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::clock::Clock;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::people::People;
use sluice_storage::{DAY_SECONDS, Ingester, Journal, StorageError, Store, Unwritten};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::notice::Notice;
use crate::commands::Exit;

/// How often the journal is looked at when it was empty.
const INGEST_PAUSE: Duration = Duration::from_millis(250);
/// Pause after a batch that was not full while requests are under way, so that few transactions
/// carry many records. What waits in the journal is safe, and `sluice usage` reads it from there.
const INGEST_PAUSE_UNDER_LOAD: Duration = Duration::from_secs(1);
/// Entries in a second while requests are under way, of which each request leaves one or two. More
/// wait: at a rush, requests come first.
const INGESTED_UNDER_LOAD: u32 = 5_000;
/// How often a journal that cannot be written is tried again before the process ends.
const LAST_WRITE_PAUSE: Duration = Duration::from_millis(200);
/// How long the database may refuse before `/readyz` says no: what is short is no reason to send
/// callers away, since what waits in the journal is safe.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);

/// Carries the journal into the database until the end.
pub(crate) async fn ingest(
    mut ingester: Ingester,
    gateway: Arc<Gateway>,
    stopped: watch::Receiver<bool>,
) {
    ingest_to_the_end(&mut ingester, &gateway, stopped).await;
    // The journal may have been removed after the last run began.
    if let Err(error) = ingester.rescue().await {
        tracing::error!(%error, "removed files of the journal cannot be written again");
    }
}

async fn ingest_to_the_end(
    ingester: &mut Ingester,
    gateway: &Gateway,
    stopped: watch::Receiver<bool>,
) {
    let mut admitted = 0;
    let mut notice = Notice::default();
    loop {
        let done = ingester.run_once().await;
        gateway.note_database(done.is_ok());
        report_database(&mut notice, &done, gateway);
        let metrics = gateway.metrics();
        let backlog = i64::try_from(ingester.backlog_bytes()).unwrap_or(i64::MAX);
        metrics.journal_backlog_bytes.set(backlog);
        let stopping = *stopped.borrow();
        let before = std::mem::replace(&mut admitted, metrics.admitted.get());
        let busy = metrics.in_flight.get() > 0 || admitted != before;
        match done {
            Ok(0) if stopping && metrics.in_flight.get() == 0 => return,
            Ok(0) => sleep(INGEST_PAUSE).await,
            Ok(entries) if busy && entries < Ingester::BATCH => {
                sleep(INGEST_PAUSE_UNDER_LOAD).await;
            }
            Ok(entries) if busy => {
                let entries = u32::try_from(entries).unwrap_or(u32::MAX);
                sleep(Duration::from_secs(1) * entries / INGESTED_UNDER_LOAD).await;
            }
            Ok(_) => {}
            // They are safe in the journal: the next start takes them over.
            Err(_) if stopping && metrics.in_flight.get() == 0 => return,
            Err(_) => sleep(INGEST_PAUSE * 8).await,
        }
    }
}

/// Logs how the database is doing, and says whether records are kept.
fn report_database(notice: &mut Notice, done: &Result<usize, StorageError>, gateway: &Gateway) {
    let now = Instant::now();
    let Err(error) = done else {
        if let Some(times) = notice.fine() {
            tracing::info!(times, "records are written to the database again");
        }
        gateway.note_records(true);
        return;
    };
    if let Some(times) = notice.failed(now) {
        tracing::error!(%error, times, "records wait in the journal");
    }
    // What was removed does not come back by itself.
    let displaced = matches!(error, StorageError::Displaced { .. });
    gateway.note_records(!displaced && notice.lasts(now) < DATABASE_PATIENCE);
}

/// Asks the disk each second to keep what the journal holds. A process that dies loses nothing in
/// any case; a machine that loses power loses at most this second.
pub(crate) async fn sync(journal: Arc<Journal>) {
    let mut notice = Notice::default();
    loop {
        sleep(Duration::from_secs(1)).await;
        let syncing = journal.clone();
        let synced = tokio::task::spawn_blocking(move || syncing.sync()).await;
        let Ok(Err(error)) = synced else {
            if let Some(times) = notice.fine() {
                tracing::info!(times, "the journal is written again");
            }
            continue;
        };
        if let Some(times) = notice.failed(Instant::now()) {
            let unwritten = journal.unwritten();
            let (waiting, lost) = unwritten.map_or((0, 0), |it| (it.waiting, it.lost));
            tracing::error!(%error, times, waiting, lost, "the journal cannot be written");
        }
    }
}

/// Tries until `deadline` to write what waits in memory, and says how many requests' records are
/// lost with the process, and why.
pub(crate) async fn write_the_rest(journal: Arc<Journal>, deadline: Instant) -> Option<Unwritten> {
    loop {
        let syncing = journal.clone();
        let _ = tokio::task::spawn_blocking(move || syncing.sync()).await;
        let unwritten = journal.unwritten()?;
        if unwritten.waiting == 0 || Instant::now() >= deadline {
            return Some(unwritten);
        }
        sleep(LAST_WRITE_PAUSE).await;
    }
}

/// How long quarters of an hour are kept: longer than any month, which is the longest window that
/// may begin within a day.
const QUARTERS_KEPT_SECONDS: u64 = 40 * DAY_SECONDS;

/// Forgets quarters of usage that no limit's window begins in any more, and sessions and links of
/// people that ended.
pub(crate) async fn housekeeping(store: Store, people: Arc<People>, clock: Arc<dyn Clock>) {
    loop {
        sleep(Duration::from_secs(3_600)).await;
        let before = clock.now().seconds().saturating_sub(QUARTERS_KEPT_SECONDS);
        if let Err(error) = store.prune_quarters(before).await {
            tracing::warn!(%error, "cannot delete old quarters of usage");
        }
        if let Err(error) = people.tidy(clock.now()).await {
            tracing::warn!(%error, "cannot delete sessions and links of people that ended");
        }
    }
}

/// The signals to stop: SIGTERM and Ctrl-C.
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
}

impl StopSignals {
    /// From now on they no longer end the process by themselves.
    pub(crate) fn listen() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Self {
                terminate: signal(SignalKind::terminate()).ok(),
                interrupt: signal(SignalKind::interrupt()).ok(),
            }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// The next of them; how a process ends that heeds it at once.
    pub(crate) async fn next(&mut self) -> Exit {
        #[cfg(unix)]
        if let (Some(terminate), Some(interrupt)) = (&mut self.terminate, &mut self.interrupt) {
            return tokio::select! {
                _ = terminate.recv() => Exit::Terminated,
                _ = interrupt.recv() => Exit::Interrupted,
            };
        }
        let _ = tokio::signal::ctrl_c().await;
        Exit::Interrupted
    }
}
