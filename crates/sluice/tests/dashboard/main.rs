//! The dashboard as a browser without JavaScript sees it, through the real binary.
#![expect(clippy::panic, clippy::unwrap_used, reason = "this whole file is a test")]

mod audit;
mod browser;
mod escaping;
mod forms;
mod help;
mod keys;
mod listeners;
mod models;
mod organisation;
mod permissions;
mod playground;
mod providers;
mod requests;
mod sign_in;

use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers};

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

/// A server with one model, `mock`, that answers "Hello".
async fn sluice() -> (Sluice, FakeUpstream) {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().provider("lab", &upstream.base_url()).model("mock", "\"lab\"");
    (Sluice::start(BINARY, &config).await, upstream)
}
