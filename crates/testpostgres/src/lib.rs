//! A real PostgreSQL server for tests: [`Server`] runs one in a temporary folder, and [`Database`]
//! is an empty database for one test on the server that [`VARIABLE`] names.
//!
//! `cargo xtask test` starts the server that all tests share; `cargo xtask postgres -- COMMAND` does
//! so for one command. A test that stops the server, or needs it set up in its own way, starts one
//! of its own. Statements go through `psql`, so that nothing here needs a driver.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test whose tools fail has failed, and a panic says where"
)]

mod database;
mod programs;
mod server;

pub use database::{Database, VARIABLE};
pub use programs::{are_installed, psql};
pub use server::Server;
