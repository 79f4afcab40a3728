//! From a stream's bytes to its frames.

pub mod sse;
