//! In the making.
mod commands;
mod config;

fn main() {}
