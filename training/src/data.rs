//! Labelled data: one JSON object a line, in files that are no part of the project.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Where labelled data lies unless somebody says otherwise, from the repository's root.
pub(crate) const USUAL_FOLDER: &str = "../shared/data/security";

/// A file of labelled rows.
pub(crate) struct DataFile<T> {
    /// Its rows.
    pub(crate) rows: Vec<T>,
    /// What the record of a model says about it.
    pub(crate) provenance: Provenance,
}

/// What the record of a model says about a file that it was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// The file's name.
    pub(crate) file: String,
    /// BLAKE3 hash of its bytes, as hexadecimal digits.
    pub(crate) blake3: String,
    /// How many rows it has.
    pub(crate) rows: usize,
    /// Where its rows come from, each source with its licence.
    pub(crate) sources: Vec<String>,
}

/// Reads `name` in `folder`.
pub(crate) fn read<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    sources: &[&str],
) -> Result<DataFile<T>> {
    let path: PathBuf = folder.join(name);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut rows = Vec::new();
    for (i, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let row = serde_json::from_slice(line)
            .with_context(|| format!("{} line {} is not a row", path.display(), i + 1))?;
        rows.push(row);
    }
    let provenance = Provenance {
        file: name.to_owned(),
        blake3: blake3::hash(&bytes).to_hex().to_string(),
        rows: rows.len(),
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
    };
    Ok(DataFile { rows, provenance })
}
