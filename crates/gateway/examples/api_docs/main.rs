//! Writes the tables of a page anew, in its place. See `cargo xtask api-docs`.

mod markdown;

use std::io;

use sluice_gateway::reference;

fn main() -> io::Result<()> {
    let file = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name the page"))?;
    let page = std::fs::read_to_string(&file)?;
    std::fs::write(&file, markdown::fill(&page).map_err(io::Error::other)?)
}
