//! A gate that a script stands at until the test opens it.

use tokio::sync::watch;

/// Closed at first. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Gate {
    /// Lets everybody through, those who come later too.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is open.
    pub(crate) async fn passed(&self) {
        let mut state = self.0.subscribe();
        state.wait_for(|open| *open).await.expect("this gate is still held");
    }
}
