//! Where PostgreSQL's programs are, and as whom they run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a server can be started here.
pub fn are_installed() -> bool {
    folder().is_some()
}

/// The folder of `initdb`, `postgres` and `psql`. Debian keeps each version in a folder of its own,
/// which is not on the path.
fn folder() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|item| {
            let version = item.file_name().to_str()?.parse().ok()?;
            Some((version, item.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let versions = versions.into_iter().map(|(_, folder)| folder);
    let has_all = |folder: &PathBuf| {
        ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file())
    };
    versions.chain(on_path).find(has_all)
}

fn path_of(name: &str) -> PathBuf {
    folder().expect("PostgreSQL's programs are installed: `apt-get install postgresql`").join(name)
}

/// One of the programs, under a user that they accept: they refuse to run as root.
pub(crate) fn program(name: &str) -> Command {
    let Some(user) = user() else { return Command::new(path_of(name)) };
    let mut command = Command::new("setpriv");
    // A server must not outlive whoever started it, however that ends.
    command.args(["--reuid", user, "--regid", user, "--init-groups", "--pdeathsig", "INT"]);
    command.arg(path_of(name));
    command
}

/// Gives a file or folder to the user that the programs run as.
pub(crate) fn hand_over(path: &Path) {
    let Some(user) = user() else { return };
    let status = Command::new("chown").args(["-R", user]).arg(path).status().unwrap();
    assert!(status.success(), "chown {user} {}", path.display());
}

/// Another user than root; `None` where this process is not root's.
fn user() -> Option<&'static str> {
    if number_of(&[]) != Some(0) {
        return None;
    }
    let has = |name: &&str| number_of(&[name]).is_some();
    ["postgres", "nobody"].into_iter().find(has)
}

/// A user's number; without arguments, that of this process.
fn number_of(name: &[&str]) -> Option<u32> {
    let mut id = Command::new("id");
    let said = id.arg("-u").args(name).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(said.stdout).ok()?.trim().parse().ok()
}

/// Runs statements in the database at `url`, and says what they print: rows as lines, columns with
/// `|` in between. An error is what PostgreSQL says.
pub fn psql(url: &str, statements: &str) -> Result<String, String> {
    let mut psql = Command::new(path_of("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
    psql.args(["--set", "ON_ERROR_STOP=1", "--dbname", url, "--command", statements]);
    let ran = psql.stdin(Stdio::null()).output().unwrap();
    match ran.status.success() {
        true => Ok(String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()),
        false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
    }
}
