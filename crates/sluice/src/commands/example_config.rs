//! `sluice example-config`: prints a configuration file with every setting in it.

use std::io::{self, Write};

use super::Exit;
use crate::config::example::example;

/// Prints the example.
pub(crate) fn run(out: &mut dyn Write) -> io::Result<Exit> {
    out.write_all(example().as_bytes())?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_committed_example_is_this_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sluice.example.toml");
        let mut printed = Vec::new();
        run(&mut printed).unwrap();
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed.as_bytes() == printed,
            "write it again: cargo run -- example-config > sluice.example.toml"
        );
    }
}
