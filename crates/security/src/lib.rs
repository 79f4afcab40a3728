//! What must not leave, what must not come back.
//!
//! Pure: no I/O, no clock, no randomness of its own.
//!
//! | Part | Is |
//! | --- | --- |
//! | [`kind`], [`finding`], [`flag`], [`level`] | the vocabulary, and the one table of what happens at which level |
//! | [`scan`], `detectors` | finds everything in a text, in one pass |
//! | [`injection`] | how much a text looks like an attack on the model |
//! | [`placeholder`], [`surrogate`], [`map`] | what stands in a value's place, and what it stands for |
//! | [`request`] | filters a whole request over its bytes |
//! | [`restore`] | puts values back, in text that may be cut anywhere |
//! | [`answer`] | analyses an answer, then restores it |

#![expect(
    rustdoc::private_intra_doc_links,
    reason = "modules' headers tell the story of the files beside them"
)]

pub mod answer;
mod detectors;
pub mod finding;
pub mod flag;
pub mod injection;
pub mod kind;
pub mod level;
pub mod map;
pub mod names;
pub mod placeholder;
pub mod request;
pub mod restore;
pub mod scan;
pub mod surrogate;
