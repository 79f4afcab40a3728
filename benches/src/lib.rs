//! What the programs of `cargo xtask bench` share.
//!
//! The fake upstream and the load generator run on one core, against a target that has a core of its
//! own, so they have to cost less than the fastest target: HTTP/1.1 is read and written by hand,
//! into buffers that are reused.

pub mod answer;
pub mod http1;
pub mod prompt;
#[cfg(feature = "storage")]
pub mod records;
pub mod routing;
pub mod stamp;
pub mod texts;
