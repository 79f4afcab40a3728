//! The application without HTTP.
//!
//! [`chat`] is the story of a request, [`answer`] the way back. Who asks is in [`principal`], what
//! holds for the request in [`policy`], what it may use in [`limits`], where it can go in [`plan`]
//! (who could answer at all in `eligible`, and a router's choice in `route`), how it gets there in `dispatch`, and what is left of it in [`accounting`].

pub mod accounting;
pub mod admin;
pub mod answer;
mod bounds;
mod call;
pub mod chat;
mod cut;
mod directory;
mod dispatch;
mod eligible;
pub mod error;
pub mod estimate;
mod filtering;
pub mod gateway;
pub mod guard;
pub mod health;
pub mod limits;
pub mod metrics;
mod newcomers;
pub mod plan;
pub mod policy;
pub mod principal;
pub mod request;
mod route;
pub mod service_key;
mod shutdown;
pub mod snapshot;
#[cfg(test)]
mod testing;
mod way_back;

pub use sluice_routing::catalog;
