//! Writes every page in every sample state, with the files that they refer to:
//! `cargo run -p sluice-dashboard --example states -- FOLDER`.
//!
//! `cargo xtask screenshots` draws them. A page is `FOLDER/PAGE/STATE.html`; `FOLDER/states.json`
//! lists them.

use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder to write to")?);
    let assets = folder.join("assets");
    fs::create_dir_all(&assets)?;
    for asset in &sluice_dashboard::assets::ASSETS {
        let path = asset.path();
        fs::write(assets.join(path.trim_start_matches("/assets/")), asset.bytes)?;
    }
    let mut list = Vec::new();
    for sample in sluice_dashboard::samples()? {
        fs::create_dir_all(folder.join(sample.page))?;
        let name = format!("{}/{}.html", sample.page, sample.state);
        fs::write(folder.join(&name), &sample.html)?;
        list.push(format!("\"{name}\""));
    }
    fs::write(folder.join("states.json"), format!("[{}]", list.join(",\n")))?;
    Ok(())
}
