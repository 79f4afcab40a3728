//! Whatever `sluice.toml` holds, it is read or refused with its problems; nothing panics.
#![no_main]

use std::io;
use std::path::Path;

use libfuzzer_sys::fuzz_target;

// The configuration is a module of the binary, which nothing can import.
#[allow(dead_code, unused_imports, reason = "the target needs a part of it")]
#[path = "../../crates/sluice/src/config/mod.rs"]
mod config;

/// A machine with one variable and no files.
struct Empty;

impl config::environment::Environment for Empty {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "KEY").then(|| "value".to_owned())
    }

    fn read_file(&self, _path: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fuzz_target!(|text: &str| {
    let _ = config::Settings::from_text(None, text, &Empty);
});
