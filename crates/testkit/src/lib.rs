//! What end-to-end tests need: a fake provider over real sockets that can misbehave in every way,
//! a runner for the real binary, and a small HTTP client that sees what arrives and when.
//!
//! Nothing here sleeps to let something happen. A test waits [`until`] a condition holds, or opens
//! a [`Gate`] that the fake provider stands at.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test whose tools fail has failed, and a panic says where"
)]

pub mod answers;
mod ask;
mod beside;
mod client;
mod config;
mod events;
mod gate;
mod sluice;
mod upstream;
mod wait;

pub use ask::{Ask, Reply};
pub use beside::Beside;
pub use client::{Arriving, Client, ClientError, Gathering};
pub use config::Config;
pub use events::{Event, Events, Streamed};
pub use gate::Gate;
pub use sluice::{Finished, Sluice};
pub use upstream::{FakeUpstream, Script, Seen, Step};
pub use wait::{PATIENCE, until};
