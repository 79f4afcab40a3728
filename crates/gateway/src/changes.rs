//! Tells a running server that something was changed through it, and waits until that is in force.
//!
//! A server looks for changes of the database every now and then. Whoever has just changed something
//! through the server itself need not wait for that.

use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// How long whoever changed something waits at most: the change holds all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// The two ends of it.
#[derive(Debug, Default)]
pub struct Changes {
    wanted: Notify,
    in_force: watch::Sender<u64>,
}

impl Changes {
    /// Asks for the changes up to this number, and waits until they are in force. False where that
    /// takes longer than a moment.
    pub async fn take_over(&self, version: u64) -> bool {
        let mut in_force = self.in_force.subscribe();
        self.wanted.notify_one();
        let reached = in_force.wait_for(|reached| *reached >= version);
        matches!(timeout(PATIENCE, reached).await, Ok(Ok(_)))
    }

    /// Waits until somebody asks. For the one that takes changes over.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// The changes up to this number are in force.
    pub fn note_in_force(&self, version: u64) {
        self.in_force.send_replace(version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_changed_something_waits_until_it_holds_and_not_for_ever() {
        let changes = Changes::default();
        let server = async {
            changes.wanted().await;
            changes.note_in_force(7);
        };
        let (reached, ()) = tokio::join!(changes.take_over(7), server);
        assert!(reached);
        assert!(changes.take_over(7).await, "it holds already");
        assert!(!changes.take_over(8).await, "nobody takes it over");
    }
}
