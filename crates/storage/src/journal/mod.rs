//! The journal: what happened, on disk before the answer's last byte leaves.
//!
//! Append-only files of sealed lines in `journal/`, named by number. The hot path appends
//! with one system call and waits for no database; the ingester reads behind it. A crash of the
//! process loses nothing that was appended. A power cut loses what was appended since the last
//! [`Journal::sync`], which a background task calls once a second.

mod line;
mod reader;
mod segments;
mod writer;

use serde::{Deserialize, Serialize};

use crate::audit::{AuditEntry, ContentLine};
use crate::sums::UsageSum;
use crate::usage::UsageRecord;
use crate::windows::WindowBegan;

pub(crate) use line::JournalSeal;
pub(crate) use reader::{Chunk, Reading};
pub(crate) use segments::{Segment, list};
pub use writer::{Journal, Unwritten};

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JournalEntry {
    /// A request was answered.
    Usage(Box<UsageRecord>),
    /// A request was answered in zero-retention mode.
    Sum(UsageSum),
    /// A request that leaves an audit entry was answered.
    Audit(Box<AuditEntry>),
    /// The redacted content of such a request, sealed.
    Content(Box<ContentLine>),
    /// A window of five hours began.
    Window(WindowBegan),
}
