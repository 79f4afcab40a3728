//! The application without HTTP.
//!
//! [`chat`] is the story of a request, [`answer`] the way back. Who asks is in [`principal`], what
//! holds for the request in [`policy`], what it may use in [`limits`], where it can go in [`plan`]
//! (who could answer at all in `eligible`, and a router's choice in `route`; what it would be, for people, in [`choice`]), how it gets there in `dispatch`, and what is left of it in [`accounting`].

pub mod accounting;
pub mod admin;
pub mod answer;
mod bounds;
mod call;
mod capture;
pub mod changes;
pub mod chat;
pub mod choice;
pub mod connect;
mod costs;
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
pub mod live;
pub mod metrics;
mod newcomers;
pub mod own;
pub mod people;
pub mod plan;
pub mod policy;
pub mod principal;
pub mod provider_keys;
pub mod proxies;
pub mod records;
pub mod reference;
pub mod request;
mod route;
pub mod service_key;
mod shutdown;
pub mod snapshot;
#[cfg(test)]
mod testing;
pub mod vendors;
pub mod watch;
mod way_back;

pub use sluice_providers::probe::Reached;
pub use sluice_routing::card;
pub use sluice_routing::catalog;
/// What administration and people hand out.
pub use sluice_storage::{
    AccountRecord, AdministrationEntry, Assumed, AuditEntry, AuditVerification, BudgetRecord,
    ChainedEntry, DepartmentRecord, Figures, KeyRecord, Life, Organisation, PersonRecord,
    PolicyRecord, PolicySubject, ProviderKeyRecord, Record, RecordCursor, RecordsFilter,
    RecordsPage, RouterRecord, RouterVersion, SecretRecord, SeenRecord, ServiceRecord,
    SessionRecord, Sight, Suspension, TeamRecord, TopUp, TrailCursor, TrailEntry, TrailFilter,
    TrailKind, TrailPage, Turn, UsageRecord,
};
