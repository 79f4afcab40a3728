//! What Sluice remembers, and the only code that knows SQL.
//!
//! ```text
//! a request ends → Journal::append (one write, no database) → Ingester → the database
//! ```
//!
//! The hot path appends to an append-only journal and never waits for a database. An [`Ingester`]
//! carries the journal into the database, exactly once even over a crash. A server holds keys and
//! the organisation in memory. When [`Store::change_version`] moves, it reads what was changed since.
//!
//! | File | Is |
//! | --- | --- |
//! | `database` | SQLite and PostgreSQL behind one face |
//! | `open`, `migrate` | the data folder, the database and its tables |
//! | `lock`, `place` | one server a data folder, and whether it is still there |
//! | `serving` | one server a PostgreSQL database |
//! | `master_key` | the secret that all others are derived from; the hash of a service key |
//! | `accounts`, `organisation`, `keys` | who may ask |
//! | `sign_in` | how people sign in: passwords, codes, sessions, links |
//! | `keyring` | keys that the master key wraps, and its rotation |
//! | `vault` | secrets that have to be read back, sealed |
//! | `vendors` | providers and models beside those of the configuration file |
//! | `budgets` | what a subject may use |
//! | `policies` | what is said about requests: levels, models, regions, … |
//! | `provider_keys` | provider keys of accounts, departments and teams, sealed |
//! | `routers` | routers of accounts, departments and teams, version by version |
//! | `items` | the change of what is one row: a provider, a model, a budget, a policy |
//! | `administration`, `changes` | the one way to change that, and when it changed |
//! | `models` | when each model was first served |
//! | `journal` | segments of sealed lines |
//! | `json` | records as text |
//! | `ingest` | from the journal into the database |
//! | `attribution` | whose a request was |
//! | `usage`, `sums`, `uses`, `windows`, `audit` | the records, and what is added up from them |
//! | `rollup` | what requests came to by hour and day, for figures and charts |
//! | `records` | records as people see them: whose, which, page by page |
//! | `trail`, `trail_pages` | the two kinds of audit entries, and the trail page by page |
//! | `seal` | the end of the audit trail, sealed outside the database |
//! | `dump` | a whole database: copies, backups |
//! | `tail` | what the journal holds and the database does not yet |
//!
//! SQLite is embedded; PostgreSQL is a server. The statements are the same for both.

mod accounts;
mod administration;
mod assumed;
mod attribution;
mod audit;
mod budgets;
mod changes;
mod database;
mod dump;
mod error;
mod ingest;
mod items;
mod journal;
mod json;
mod kept;
mod keyring;
mod keys;
mod lock;
mod master_key;
mod migrate;
mod models;
mod open;
mod organisation;
mod place;
mod policies;
mod provider_keys;
mod records;
mod rollup;
mod routers;
mod seal;
mod serving;
mod sessions;
mod sign_in;
mod sums;
mod tail;
mod trail;
mod trail_pages;
mod usage;
mod uses;
mod vault;
mod vendors;
mod windows;

pub use accounts::AccountRecord;
pub use administration::{Change, Note, Record};
pub use assumed::Assumed;
pub use audit::{
    AnswerPart, AuditContent, AuditEntry, AuditFilter, AuditVerification, BrokenLink, ChainedEntry,
    Checkpoint, ContentSealer, ExportedEntry, HeadKey, SignedHead, Tampering, verify_export,
};
pub use budgets::{BudgetRecord, Budgets, PastRequest, TopUp};
pub use dump::{Copy, Restored, TableSum, backup, copy, restore};
pub use error::StorageError;
pub use ingest::Ingester;
pub use items::{Item, ItemChange};
pub use journal::{Journal, JournalEntry, Unwritten};
pub use keyring::{DataKey, Rotated};
pub use keys::{KeyRecord, SecretRecord};
pub use lock::DataLock;
pub use master_key::{KeyHash, KeyHasher, MasterKey};
pub use open::{Location, Store, create_data_dir, journal_dir};
pub use organisation::{
    DepartmentRecord, Known, Life, MANAGED_BY_FILE, Organisation, PersonRecord, ServiceRecord,
    Suspension, TeamRecord,
};
pub use policies::{Policies, PolicyRecord, PolicySubject};
pub use provider_keys::{BilledBy, ProviderKeyRecord, ProviderKeyUse, ProviderKeys, SealedKey};
pub use records::{Reach, RecordCursor, RecordsFilter, RecordsPage, SeenRecord, Sight, Turn};
pub use rollup::{
    By, Detail, Figures, FirstTokens, HOUR_SECONDS, HourFigures, Outcomes, Part, Question,
};
pub use routers::{RouterRecord, RouterVersion};
pub use serving::Serving;
pub use sessions::SessionRequest;
pub use sign_in::{
    CodesRecord, LinkPurpose, LinkRecord, LoginRecord, Member, SessionRecord, SignInDeed,
    SignInStep,
};
pub use sums::{DaySum, UsageSum};
pub use tail::JournalTail;
pub use trail::{AdministrationEntry, Doing, TrailEntry, TrailKind};
pub use trail_pages::{TrailCursor, TrailFilter, TrailPage};
pub use usage::{Order, UsageFilter, UsageRecord};
pub use vault::Sealer;
pub use vendors::{ModelRecord, ProviderRecord, SealedSecrets, VendorRecords};
pub use windows::{
    DAY_SECONDS, QUARTER_SECONDS, SubjectKind, SubjectUse, Used, WindowBegan, window_start,
};
