//! The journal's files: `NUMBER-RANDOM.journal`.
//!
//! Numbers rise, so that names sort in the order of writing. The random part keeps a name from
//! ever coming back: how far a segment has been read is remembered by its name.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::master_key::to_hex;

/// One file of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its place in the order.
    pub(crate) number: u64,
    /// Its file name.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
}

/// All segments in `dir`, in the order of writing. Other files are left alone.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for item in std::fs::read_dir(dir)? {
        let item = item?;
        let Ok(name) = item.file_name().into_string() else {
            continue;
        };
        if let Some(number) = number_of(&name) {
            segments.push(Segment { number, name, path: item.path() });
        }
    }
    segments.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
    Ok(segments)
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_suffix(".journal")?.split_once('-')?.0.parse().ok()
}

/// Creates the segment with this number, readable by its owner only, and says what it is called.
///
/// Where somebody removed the journal's folder, it is made again; a data folder that is gone is not.
pub(super) fn create(dir: &Path, number: u64) -> io::Result<(String, File)> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name = format!("{number:012}-{}.journal", to_hex(&random));
    let mut options = OpenOptions::new();
    // Read, too: what was removed by somebody is read again from the open file.
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = match options.open(dir.join(&name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut folder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
            folder.create(dir)?;
            options.open(dir.join(&name))?
        }
        opened => opened?,
    };
    Ok((name, file))
}
