//! A backup, put back: into an empty data folder and an empty database only.
//!
//! Everything is unpacked beside the data folder and held against the manifest first. The database
//! comes into being whole, and the folder gets its name last: where that did not happen, there is
//! no folder that a server would start on, or, on PostgreSQL, a database whose master key is
//! missing, which a server says.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sluice_core::clock::UnixMillis;

use super::TableSum;
use super::archive::{
    FILES, FORMAT, MANIFEST, MANIFEST_SUM, Manifest, Summed, TABLES, create_private, read_row,
};
use super::filling::Filling;
use super::tables::{Sum, Table};
use crate::error::StorageError;
use crate::master_key::{random_bytes, to_hex};
use crate::migrate;
use crate::open::{Location, create_data_dir, create_folder};
use crate::serving::Serving;

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
    // Without a slash at its end, which would put what is beside it into it.
    let data_dir: PathBuf = location.data_dir().components().collect();
    let data_dir = data_dir.as_path();
    if !is_empty(data_dir) {
        return Err(StorageError::NotEmpty { place: data_dir.display().to_string() });
    }
    let beside = Beside::make(data_dir)?;
    let manifest = unpack(file, &beside.0)?;
    let unpacked = location.with_data_dir(&beside.0.join(FILES));
    create_data_dir(unpacked.data_dir())?;
    // Whoever serves from the server's database would be in the way.
    let _right = Serving::take(location, now).await?;
    fill(&unpacked, (&manifest, file), &beside.0.join(TABLES)).await?;
    put_in_place(unpacked.data_dir(), data_dir)?;
    let Manifest { sums: tables, made_at, master_key, .. } = manifest;
    Ok(Restored { tables, made_at, master_key })
}

/// A folder that holds nothing, or is not there.
fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(!folder.exists(), |mut items| items.next().is_none())
}

/// A folder beside the data folder, removed at the end whatever happens.
struct Beside(PathBuf);

impl Beside {
    fn make(data_dir: &Path) -> Result<Self, StorageError> {
        let mut path = data_dir.to_owned().into_os_string();
        path.push(format!(".restoring-{}", to_hex(&random_bytes::<4>()?)));
        let beside = Self(path.into());
        create_data_dir(&beside.0)?;
        Ok(beside)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
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

/// Gives the data folder its name. One that is there is empty, and a renaming takes its place.
fn put_in_place(folder: &Path, data_dir: &Path) -> Result<(), StorageError> {
    let parent = data_dir.parent().filter(|it| !it.as_os_str().is_empty());
    let placed = std::fs::rename(folder, data_dir).and_then(|()| match parent {
        // Windows knows no syncing of folders.
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    });
    placed.map_err(StorageError::file("put in place", data_dir, "empty the folder, and try again"))
}
