//! Waiting for a condition, with a deadline far beyond what it ever takes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How long a test waits before it fails. Never reached where things work, however slow the
/// machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until there is something to see. Fails the test, with `what` it waited
/// for, where there never is.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(Duration::from_millis(15)).await;
    }
}
