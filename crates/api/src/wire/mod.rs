//! Client dialects: one folder each.

pub mod chat;
