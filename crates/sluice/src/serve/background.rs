//! What goes on beside the requests: the journal into the database, new keys, a changed
//! configuration, the signal to stop.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sluice_api::Api;
use sluice_core::clock::Clock;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::limits::TOKEN_WINDOW_SECONDS;
use sluice_storage::{Ingester, Journal, StorageError, Store, window_start};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::assembly::{self, Assembly};
use crate::cli;
use crate::config::Settings;

/// How often the journal is looked at when it was empty.
const INGEST_PAUSE: Duration = Duration::from_millis(250);
/// Pause after a batch of a few hundred records while requests are under way. Requests come first:
/// what waits in the journal is safe, and `sluice usage` reads it from there.
const INGEST_PAUSE_UNDER_LOAD: Duration = Duration::from_secs(1);
/// A journal of so many bytes is carried over faster, for a quiet hour may not come: then a
/// tenth of a processor is spent on it.
const LARGE_BACKLOG: i64 = 256 << 20;
/// How often keys, accounts and the configuration are looked at: a change holds within a second.
const RELOAD_PAUSE: Duration = Duration::from_millis(400);

/// Carries the journal into the database until the end.
pub(crate) async fn ingest(
    mut ingester: Ingester,
    journal: Arc<Journal>,
    gateway: Arc<Gateway>,
    stopped: watch::Receiver<bool>,
) {
    let mut admitted = 0;
    loop {
        let began = Instant::now();
        let done = ingester.run_once().await;
        gateway.note_database(done.is_ok());
        let metrics = gateway.metrics();
        let backlog = i64::try_from(ingester.backlog_bytes()).unwrap_or(i64::MAX);
        metrics.journal_backlog_bytes.set(backlog);
        let stopping = *stopped.borrow();
        let before = std::mem::replace(&mut admitted, metrics.admitted.get());
        let busy = metrics.in_flight.get() > 0 || admitted != before;
        match done {
            Ok(0) if stopping && metrics.in_flight.get() == 0 => return,
            Ok(0) => sleep(INGEST_PAUSE).await,
            Ok(_) if busy => {
                let pause = if backlog < LARGE_BACKLOG {
                    INGEST_PAUSE_UNDER_LOAD
                } else {
                    began.elapsed() * 9
                };
                sleep(pause).await;
            }
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "records wait in the journal");
                sleep(INGEST_PAUSE * 8).await;
            }
        }
        if !journal.healthy() {
            tracing::error!("the journal cannot be written; records wait in memory");
        }
    }
}

/// Asks the disk each second to keep what the journal holds. A process that dies loses nothing in
/// any case; a machine that loses power loses at most this second.
pub(crate) async fn sync(journal: Arc<Journal>) {
    loop {
        sleep(Duration::from_secs(1)).await;
        let journal = journal.clone();
        let synced = tokio::task::spawn_blocking(move || journal.sync()).await;
        if let Ok(Err(error)) = synced {
            tracing::error!(%error, "the disk does not keep the journal");
        }
    }
}

/// Forgets limits' windows that are over.
pub(crate) async fn housekeeping(store: Store, clock: Arc<dyn Clock>) {
    loop {
        sleep(Duration::from_secs(3_600)).await;
        let day = window_start(clock.now(), TOKEN_WINDOW_SECONDS);
        if let Err(error) = store.prune_windows(day.saturating_sub(TOKEN_WINDOW_SECONDS)).await {
            tracing::warn!(%error, "old windows stay");
        }
    }
}

/// What is needed to take over changes.
pub(crate) struct Reload {
    pub(crate) settings: Settings,
    pub(crate) assembly: Assembly,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) api: Arc<Api>,
    pub(crate) store: Store,
    /// The version of keys and accounts that the gateway has.
    pub(crate) version: u64,
}

/// Takes over new keys, and a changed configuration: when a file of it changes, and on SIGHUP.
pub(crate) async fn reload(mut reload: Reload) {
    let mut hangup = Hangup::new();
    let mut seen = fingerprint(&reload.settings.files);
    loop {
        let asked = hangup.within(RELOAD_PAUSE).await;
        let now = fingerprint(&reload.settings.files);
        if asked || now != seen {
            reload.configuration().await;
            // What was written while it was read is a change still to come: known files count as
            // they were before.
            seen = fingerprint(&reload.settings.files);
            seen.extend(now.into_iter().filter(|(file, _)| reload.settings.files.contains(file)));
        }
        if let Err(error) = reload.keys().await {
            // The keys that are known stay valid: a database that is away must not turn into 401.
            tracing::error!(%error, "changes of keys cannot be read");
        }
    }
}

impl Reload {
    async fn configuration(&mut self) {
        let settings = match cli::settings(self.settings.file.as_deref()).await {
            Ok(settings) => settings,
            Err(problems) => {
                tracing::error!("the changed configuration is not taken over:\n{problems}");
                return;
            }
        };
        for key in Settings::restart_needed(&self.settings, &settings) {
            tracing::warn!(key, "a change of this setting needs a restart");
        }
        for warning in &settings.warnings {
            tracing::warn!("{warning}");
        }
        match self.assembly.snapshot(&settings, Some(&self.gateway.snapshot())) {
            Ok(snapshot) => self.gateway.replace_snapshot(snapshot),
            Err(problem) => {
                tracing::error!("the changed configuration is not taken over: {problem}");
                return;
            }
        }
        self.api.replace_settings(assembly::api_settings(&settings));
        let served = settings.catalog.models().iter().map(|model| &model.id);
        match self.store.models_first_served(served, self.gateway.now()).await {
            Ok(times) => self.gateway.note_first_served(times),
            Err(error) => tracing::error!(%error, "new models have no date yet"),
        }
        self.settings = settings;
        // Keys' limits come from the configuration.
        self.version = u64::MAX;
        tracing::info!("the changed configuration is taken over");
    }

    async fn keys(&mut self) -> Result<(), StorageError> {
        let version = self.store.change_version().await?;
        if version != self.version {
            let (keys, accounts) = (self.store.keys().await?, self.store.accounts().await?);
            self.gateway.replace_directory(keys, accounts);
            self.version = version;
        }
        Ok(())
    }
}

/// When the files were written, and how long they are.
fn fingerprint(files: &[PathBuf]) -> HashMap<PathBuf, Option<(SystemTime, u64)>> {
    let of = |path: &PathBuf| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files.iter().map(|path| (path.clone(), of(path))).collect()
}

/// The signal to read the configuration again.
struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    /// Whether the signal came within `time`.
    async fn within(&mut self, time: Duration) -> bool {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            return tokio::time::timeout(time, signal.recv()).await.is_ok();
        }
        sleep(time).await;
        false
    }
}

/// Waits for SIGTERM or Ctrl-C.
pub(crate) async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
