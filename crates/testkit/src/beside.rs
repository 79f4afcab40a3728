//! A second run of the binary, beside the server that a test is about: one that may refuse to start,
//! or wait.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::sluice::{Heard, send_signal};
use crate::wait::until;

/// A server that may not come up. Dropped, it is gone.
#[derive(Debug)]
pub struct Beside {
    child: Child,
    heard: Heard,
}

impl Beside {
    /// Starts `binary serve` on a configuration file, with these further arguments.
    pub fn start(binary: &Path, config: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary);
        command.arg("serve").args(arguments).arg("--config").arg(config).env_clear();
        command.current_dir(config.parent().unwrap()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let heard = Heard::default();
        heard.listen(child.stdout.take().unwrap());
        heard.listen(child.stderr.take().unwrap());
        Self { child, heard }
    }

    /// Waits until it has printed or logged this, and returns all that it has said so far.
    pub async fn says(&self, word: &str) -> String {
        until(word, async || Some(self.heard.text()).filter(|said| said.contains(word))).await
    }

    /// Waits until it has ended, and returns its exit code.
    pub async fn ends(&mut self) -> Option<i32> {
        until("its end", async || self.child.try_wait().unwrap()).await.code()
    }

    /// Waits until it has refused to start, for a reason that has this word.
    pub async fn is_refused(mut self, word: &str) -> String {
        assert_eq!(self.ends().await, Some(1), "{}", self.heard.text());
        self.says(word).await
    }

    /// Sends it a signal: `TERM`, `HUP`.
    pub fn signal(&self, name: &str) {
        send_signal(&self.child, name);
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
