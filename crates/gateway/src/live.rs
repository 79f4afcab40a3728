//! Requests as they end, for people who watch.
//!
//! As long as nobody does, a request pays for one look at a number. A listener is told of what it may
//! see and of nothing else. One that is too slow loses rows, and learns how many: a request never
//! waits for anybody. Requests under zero retention have no record, and are not shown.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sluice_storage::{Sight, UsageRecord};
use tokio::sync::mpsc;

/// How many rows wait for a listener at most.
const WAITING: usize = 256;

/// A request that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its record, which is not in the database yet.
    pub record: UsageRecord,
    /// What its key is called.
    pub key_name: String,
}

/// What a listener is told.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveEvent {
    /// A request has ended.
    Finished(Arc<Finished>),
    /// So many were lost before what comes next.
    Lost(u64),
}

/// Who watches requests end.
#[derive(Debug, Default)]
pub struct Live(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    count: AtomicUsize,
    listeners: RwLock<Vec<Arc<Listener>>>,
}

#[derive(Debug)]
struct Listener {
    sight: Sight,
    rows: mpsc::Sender<Arc<Finished>>,
    lost: AtomicU64,
}

impl Live {
    /// Whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.count.load(Ordering::Relaxed) > 0
    }

    /// Tells everybody who may see it.
    pub(crate) fn tell(&self, finished: Finished) {
        let (whose, finished) = (finished.record.attribution(), Arc::new(finished));
        let listeners = self.0.listeners.read().unwrap_or_else(PoisonError::into_inner);
        for listener in listeners.iter().filter(|it| it.sight.admits(&whose)) {
            if listener.rows.try_send(finished.clone()).is_err() {
                listener.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Watches what `sight` reaches, from now on. Rights that change meanwhile are not noticed:
    /// whoever shows the feed asks for a new one from time to time.
    pub fn listen(&self, sight: Sight) -> LiveFeed {
        let (sender, rows) = mpsc::channel(WAITING);
        let listener = Arc::new(Listener { sight, rows: sender, lost: AtomicU64::new(0) });
        let mut listeners = self.0.listeners.write().unwrap_or_else(PoisonError::into_inner);
        listeners.push(listener.clone());
        self.0.count.store(listeners.len(), Ordering::Relaxed);
        LiveFeed { shared: self.0.clone(), listener, rows }
    }
}

/// What one listener is told. Dropping it ends that.
#[derive(Debug)]
pub struct LiveFeed {
    shared: Arc<Shared>,
    listener: Arc<Listener>,
    rows: mpsc::Receiver<Arc<Finished>>,
}

impl LiveFeed {
    /// The next event. Dropping the future loses none.
    pub async fn next(&mut self) -> LiveEvent {
        // What waits is older than what was lost.
        if let Ok(finished) = self.rows.try_recv() {
            return LiveEvent::Finished(finished);
        }
        match self.listener.lost.swap(0, Ordering::Relaxed) {
            0 => {}
            lost => return LiveEvent::Lost(lost),
        }
        match self.rows.recv().await {
            Some(finished) => LiveEvent::Finished(finished),
            // The listener itself holds the other end.
            None => std::future::pending().await,
        }
    }
}

impl Drop for LiveFeed {
    fn drop(&mut self) {
        let mut listeners = self.shared.listeners.write().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|it| !Arc::ptr_eq(it, &self.listener));
        self.shared.count.store(listeners.len(), Ordering::Relaxed);
    }
}
