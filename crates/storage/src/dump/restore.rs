//! A backup, put back: into an empty data folder and an empty database only.
//!
//! Everything is unpacked into a hidden folder in the data folder and held against the manifest
//! first: nothing beside the data folder is touched, which may be all that the user can write to, or
//! a mount point. The database comes into being whole. Then the files move up, the master key last:
//! where that did not happen, a server says that the database's master key is missing.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sluice_core::clock::UnixMillis;

use super::archive::{
    FILES, FORMAT, MANIFEST, MANIFEST_SUM, Manifest, Summed, TABLES, create_private, read_row,
};
use super::filling::Filling;
use super::tables::{Sum, Table};
use super::{TableSum, sync_folder};
use crate::error::StorageError;
use crate::lock::lock_folder;
use crate::master_key::{random_bytes, to_hex};
use crate::open::{Location, create_data_dir, create_folder};
use crate::serving::Serving;
use crate::{master_key, migrate};

/// What was put back.
#[derive(Debug)]
pub struct Restored {
    /// What each table came to.
    pub tables: Vec<TableSum>,
    /// When the backup was made.
    pub made_at: UnixMillis,
    /// The public id of its master key.
    pub master_key: String,
}

/// Puts the backup in `file` back to `location`.
pub async fn restore(
    file: &Path,
    location: &Location,
    now: UnixMillis,
) -> Result<Restored, StorageError> {
    let target = Target::take(location.data_dir())?;
    let manifest = unpack(file, &target.hidden)?;
    let unpacked = location.with_data_dir(&target.hidden.join(FILES));
    create_data_dir(unpacked.data_dir())?;
    // Whoever serves from the server's database would be in the way.
    let _right = Serving::take(location, now).await?;
    fill(&unpacked, (&manifest, file), &target.hidden.join(TABLES)).await?;
    put_in_place(unpacked.data_dir(), location.data_dir())?;
    let Manifest { sums: tables, made_at, master_key, .. } = manifest;
    Ok(Restored { tables, made_at, master_key })
}

/// How the name of the hidden folder begins.
const HIDDEN: &str = ".restoring-";

/// The data folder while it is filled. The hidden folder in it is removed at the end, whatever
/// happens, and so is a data folder that was made for nothing.
struct Target {
    data_dir: PathBuf,
    hidden: PathBuf,
    is_made: bool,
    /// Nobody else serves from the folder or restores into it.
    _lock: Option<File>,
}

impl Target {
    /// Takes a data folder that holds nothing, and makes one where there is none. What another
    /// restoring left that was killed is cleaned up.
    fn take(data_dir: &Path) -> Result<Self, StorageError> {
        let failed =
            || StorageError::file("restore into", data_dir, "run sluice as the folder's owner");
        let is_made = !data_dir.exists();
        create_data_dir(data_dir)?;
        let lock = lock_folder(data_dir)
            .map_err(|_| StorageError::Locked { data_dir: data_dir.to_owned(), process: None })?;
        let hidden = data_dir.join(format!("{HIDDEN}{}", to_hex(&random_bytes::<4>()?)));
        let data_dir = data_dir.to_owned();
        let target = Self { data_dir, hidden, is_made, _lock: lock };
        let mut left = Vec::new();
        for item in std::fs::read_dir(&target.data_dir).map_err(failed())? {
            let item = item.map_err(failed())?;
            let name = item.file_name();
            if name.to_string_lossy().starts_with(HIDDEN) {
                left.push(item.path());
            // A file system of its own may come with it.
            } else if name != "lost+found" {
                let place = target.data_dir.display().to_string();
                return Err(StorageError::NotEmpty { place });
            }
        }
        for folder in left {
            std::fs::remove_dir_all(folder).map_err(failed())?;
        }
        create_folder(&target.hidden).map_err(failed())?;
        Ok(target)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.hidden);
        if self.is_made {
            // One that is filled stays.
            let _ = std::fs::remove_dir(&self.data_dir);
        }
    }
}

/// Unpacks the archive into `folder`, and holds every byte against the manifest.
fn unpack(file: &Path, folder: &Path) -> Result<Manifest, StorageError> {
    let unusable = |problem: String| StorageError::Archive { path: file.to_owned(), problem };
    let damaged = |what: &dyn std::fmt::Display| {
        unusable(format!("it is damaged or cut short ({what}); take another backup"))
    };
    let archive = File::open(file).map_err(StorageError::file(
        "read the backup",
        file,
        "name a file of `sluice backup`",
    ))?;
    let mut found = std::collections::BTreeMap::new();
    let mut archive = tar::Archive::new(BufReader::new(archive));
    for entry in archive.entries().map_err(|error| damaged(&error))? {
        let entry = entry.map_err(|error| damaged(&error))?;
        let path = entry.path().map_err(|error| damaged(&error))?.into_owned();
        let name = match path.to_str() {
            Some(name) if is_plain(&path) && entry.header().entry_type().is_file() => name,
            _ => return Err(damaged(&"it holds what no backup does")),
        };
        let length = entry.size();
        let mut summed = Summed::new(entry);
        write_file(&folder.join(&path), &mut summed).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => damaged(&error),
            _ => StorageError::file("unpack the backup", folder, "check the disk")(error),
        })?;
        let sum = summed.sum();
        if sum.bytes != length {
            return Err(damaged(&format_args!("{name} ends early")));
        }
        found.insert(name.to_owned(), sum);
    }
    let read = |name| std::fs::read_to_string(folder.join(name));
    let (Ok(text), Ok(sum)) = (read(MANIFEST), read(MANIFEST_SUM)) else {
        return Err(damaged(&"its manifest is missing"));
    };
    if to_hex(&Sha256::digest(&text)) != sum.trim_end() {
        return Err(damaged(&"its manifest was changed"));
    }
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| unusable(format!("its manifest is of another version ({error})")))?;
    let known = migrate::newest();
    if manifest.format != FORMAT || manifest.schema > known {
        let Manifest { format, schema, made_by, .. } = &manifest;
        return Err(unusable(format!(
            "sluice {made_by} made it in format {format} with tables of version {schema}, and this \
             program knows format {FORMAT} and tables up to {known}; run the newer program"
        )));
    }
    found.retain(|name, _| name != MANIFEST && name != MANIFEST_SUM);
    if let Some(name) = manifest.files.keys().find(|name| !found.contains_key(*name)) {
        return Err(damaged(&format_args!("{name} is missing")));
    }
    match found.iter().find(|(name, sum)| manifest.files.get(*name) != Some(*sum)) {
        Some((name, _)) => Err(damaged(&format_args!("{name} was changed"))),
        None => Ok(manifest),
    }
}

/// Whether a path leads nowhere but down.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

fn write_file(path: &Path, from: &mut impl io::Read) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let mut file = create_private(path)?;
    io::copy(from, &mut file)?;
    file.sync_all()
}

async fn fill(
    location: &Location,
    (manifest, file): (&Manifest, &Path),
    folder: &Path,
) -> Result<(), StorageError> {
    let mut filling = Filling::begin(location, (&manifest.tables, manifest.schema)).await?;
    for table in &manifest.tables {
        if let Err(error) = fill_table(&mut filling, table, (manifest, file), folder).await {
            filling.abandon().await;
            return Err(error);
        }
    }
    filling.finish().await
}

async fn fill_table(
    filling: &mut Filling,
    table: &Table,
    (manifest, file): (&Manifest, &Path),
    folder: &Path,
) -> Result<(), StorageError> {
    let wrong = || StorageError::Archive {
        path: file.to_owned(),
        problem: format!("the table {} is not as its manifest says", table.name),
    };
    let path = folder.join(format!("{}.jsonl", table.name));
    let unreadable = || StorageError::file("read", &path, "check the disk");
    let lines = BufReader::new(File::open(&path).map_err(unreadable())?);
    let mut sum = Sum::default();
    let mut rows = filling.table(table);
    for line in lines.lines() {
        let row = read_row(table, &line.map_err(unreadable())?).ok_or_else(wrong)?;
        sum.add(&row);
        rows.add(row).await?;
    }
    rows.write().await?;
    let sum = sum.of(&table.name);
    if !manifest.sums.contains(&sum) {
        return Err(wrong());
    }
    filling.verify(table, &sum).await
}

/// Moves the files up into the data folder. Without its master key, no server starts on them.
fn put_in_place(unpacked: &Path, data_dir: &Path) -> Result<(), StorageError> {
    let moving = || {
        let names = std::fs::read_dir(unpacked)?.map(|item| item.map(|item| item.file_name()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort_by_key(|name| name == master_key::FILE);
        for name in names {
            if name == master_key::FILE {
                sync_folder(data_dir)?;
            }
            std::fs::rename(unpacked.join(&name), data_dir.join(&name))?;
        }
        sync_folder(data_dir)
    };
    moving().map_err(StorageError::file(
        "put in place",
        data_dir,
        "empty the folder, and try again",
    ))
}
