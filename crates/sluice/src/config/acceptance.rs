//! Which sections a configuration file has lost, and whether somebody has said that it may.
//!
//! A file that is written in place is empty first, then half there, and an editor may die in
//! between. What is left may well be a valid configuration: one without `[security]`. So a running
//! server does not take over a file that lost all of a section, unless its very content was
//! accepted: `sluice check --accept` leaves a mark in the data folder.

use std::fmt;
use std::path::{Path, PathBuf};

use sluice_storage::{StorageError, create_data_dir};

use super::environment::{Environment, FileHash};
use super::read::{Node, Schema, Shape};
use super::sections::Root;
use super::{CATALOG_FILE, Settings};

/// The file in the data folder that says which content was accepted.
const MARK_FILE: &str = "accepted-configuration";

/// A section that a file has something in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenSection {
    path: String,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Single,
    Repeated,
    ImportedCatalog,
}

impl WrittenSection {
    /// What `sluice catalog import` has left in the data folder.
    pub(super) fn imported_catalog() -> Self {
        Self { path: CATALOG_FILE.to_owned(), form: Form::ImportedCatalog }
    }

    fn holds(&self, other: &Self) -> bool {
        other.path.strip_prefix(&*self.path).is_some_and(|rest| rest.starts_with('.'))
    }
}

impl fmt::Display for WrittenSection {
    /// `[security]`, `all [[models]]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Single => write!(f, "[{}]", self.path),
            Form::Repeated => write!(f, "all [[{}]]", self.path),
            Form::ImportedCatalog => write!(f, "the imported {}", self.path),
        }
    }
}

/// The sections of a document that have something in them.
pub(super) fn written(document: &Node<'_>) -> Vec<WrittenSection> {
    let mut found = Vec::new();
    add_written(document, Root::SCHEMA, "", &mut found);
    found
}

fn add_written(section: &Node<'_>, schema: &Schema, prefix: &str, found: &mut Vec<WrittenSection>) {
    for key in schema.keys {
        let Some(value) = super::read::find(section, key.name) else { continue };
        let path = format!("{prefix}{}", key.name);
        match key.shape {
            Shape::Value => {}
            Shape::Section(schema) => {
                if value.get_ref().as_table().is_some_and(|table| !table.is_empty()) {
                    let below = format!("{path}.");
                    found.push(WrittenSection { path, form: Form::Single });
                    add_written(value, schema, &below, found);
                }
            }
            Shape::Sections(_) => {
                if value.get_ref().as_array().is_some_and(|list| !list.is_empty()) {
                    found.push(WrittenSection { path, form: Form::Repeated });
                }
            }
        }
    }
}

/// The sections that `old` had something in and `new` has not. Where a section is gone, those
/// within it are not named.
pub(crate) fn lost<'s>(old: &'s Settings, new: &Settings) -> Vec<&'s WrittenSection> {
    let gone: Vec<&WrittenSection> =
        old.written.iter().filter(|section| !new.written.contains(section)).collect();
    let within = |section: &WrittenSection| gone.iter().any(|other| other.holds(section));
    gone.iter().copied().filter(|section| !within(section)).collect()
}

/// Where a server on this data folder looks for the mark.
pub(crate) fn mark_in(data_dir: &Path) -> PathBuf {
    data_dir.join(MARK_FILE)
}

/// What the mark holds for this configuration: a hash of its file, and of the imported catalogue.
fn mark_of(settings: &Settings) -> String {
    let mut hash = blake3::Hasher::new();
    for (path, content) in &settings.files {
        if settings.file.as_ref() == Some(path) || path.ends_with(CATALOG_FILE) {
            hash.update(content_bytes(content));
        }
    }
    hash.finalize().to_hex().to_string()
}

fn content_bytes(content: &FileHash) -> &[u8] {
    content.as_ref().map_or(b"none".as_slice(), |hash| hash.as_slice())
}

/// Whether this very content was accepted, by the mark in one of these folders.
pub(crate) fn is_accepted(
    settings: &Settings,
    data_dirs: [&Path; 2],
    environment: &dyn Environment,
) -> bool {
    let expected = mark_of(settings);
    data_dirs.into_iter().any(|data_dir| {
        environment.read_file(&mark_in(data_dir)).is_ok_and(|mark| mark.trim() == expected)
    })
}

/// Accepts this very content: leaves the mark in the data folder that it names.
pub(crate) fn accept(settings: &Settings) -> Result<PathBuf, StorageError> {
    let data_dir = &settings.storage.data_dir.0;
    create_data_dir(data_dir)?;
    let mark = mark_in(data_dir);
    match std::fs::write(&mark, mark_of(settings) + "\n") {
        Ok(()) => Ok(mark),
        Err(source) => {
            let fix = "check the data folder's permissions";
            Err(StorageError::File { doing: "write the mark", path: mark, source, fix })
        }
    }
}
