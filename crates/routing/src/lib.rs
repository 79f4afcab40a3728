//! Which model answers, and why.
//!
//! Pure: no I/O, no clock, no randomness of its own.

pub mod catalog;
