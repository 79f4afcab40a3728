//! Everywhere that a server can leave something: files, tables, logs, metrics, pages, and what
//! commands print.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read as _;
use std::path::Path;

use sluice_dashboard::{Method, routes};
use sluice_testkit::{Ask, Sluice};
use sluice_testpostgres::Database;

use crate::browser::Browser;
use crate::house::House;
use crate::search::Place;

/// Every command that prints what is kept.
const COMMANDS: &[&str] = &[
    "usage list",
    "usage list --json",
    "usage days",
    "usage days --json",
    "audit list",
    "audit list --json",
    "audit verify --json",
    "keys list --json",
    "accounts list --json",
    "budgets list --json",
    "policy list --json",
    "provider-keys list --json",
    "routers list --json",
    "providers list --json",
    "models list --json",
];

impl House {
    /// Everything that is there while the server runs.
    pub(crate) async fn places(&mut self) -> Vec<Place> {
        self.settled().await;
        let mut places = self.files();
        let backup = self.backup().await;
        places.extend(
            tables(&backup)
                .into_iter()
                .map(|(table, bytes)| Place { name: format!("table {table}"), bytes }),
        );
        places.push(Place { name: "the backup".to_owned(), bytes: backup });
        let metrics = self.metrics.reply(Ask::get("/metrics")).await;
        places.push(Place { name: "the metrics".to_owned(), bytes: metrics.body.to_vec() });
        for path in ["/api/v1/health", "/api/v1/models", "/api/v1/auth/token"] {
            let reply = self.sluice.get(path, self.sluice.key()).await;
            places.push(Place { name: path.to_owned(), bytes: reply.body.to_vec() });
        }
        places.extend(pages(&mut self.owner).await);
        places.push(Place { name: "the live tail".to_owned(), bytes: self.live.bytes() });
        places.extend(commands(&self.sluice).await);
        places
    }

    /// What lies on disk, is open in the server, or was logged by it.
    pub(crate) fn files(&self) -> Vec<Place> {
        let mut places = logs(&self.sluice);
        files(self.sluice.folder(), &mut places);
        open_files(&self.sluice, &mut places);
        places
    }

    /// The files of PostgreSQL's server, where it is that.
    pub(crate) fn files_of_the_database(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for path in self.database.iter().flat_map(Database::files) {
            file(&path, &mut places);
        }
        places
    }

    /// Looks at all files in the midst of something. There are no temporary ones at any time.
    pub(crate) fn glimpse(&mut self) {
        let temporary = std::fs::read_dir(self.sluice.folder().join("tmp")).unwrap();
        let temporary: Vec<_> = temporary.map(|entry| entry.unwrap().path()).collect();
        assert!(temporary.is_empty(), "{temporary:?}");
        let mut seen = logs(&self.sluice);
        files(self.sluice.folder(), &mut seen);
        open_files(&self.sluice, &mut seen);
        self.glimpses.extend(seen);
    }

    /// A backup, as `sluice backup` makes it.
    pub(crate) async fn backup(&self) -> Vec<u8> {
        let path = self.sluice.folder().join("backup");
        self.sluice.done(&format!("backup {}", path.display())).await;
        let backup = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        backup
    }
}

/// What the server has printed and logged since its last start.
pub(crate) fn logs(sluice: &Sluice) -> Vec<Place> {
    [("standard output", sluice.stdout()), ("the log", sluice.stderr())]
        .map(|(name, said)| Place { name: name.to_owned(), bytes: said.into_bytes() })
        .into()
}

/// The tables of a backup, a row a line.
pub(crate) fn tables(backup: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(backup);
    let mut tables = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let table = path.strip_prefix("tables/").and_then(|name| name.strip_suffix(".jsonl"));
        let Some(table) = table.map(str::to_owned) else { continue };
        let mut rows = Vec::new();
        entry.read_to_end(&mut rows).unwrap();
        tables.insert(table, rows);
    }
    assert!(tables.contains_key("usage_records") && tables.contains_key("audit_entries"));
    tables
}

fn files(folder: &Path, places: &mut Vec<Place>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, places) } else { file(&path, places) }
    }
}

/// A file that went away in the meantime holds nothing any more.
fn file(path: &Path, places: &mut Vec<Place>) {
    if let Ok(bytes) = std::fs::read(path) {
        places.push(Place { name: path.display().to_string(), bytes });
    }
}

/// Files that the server has open beside those that lie in its folder: elsewhere, or without a name.
/// Linux alone tells.
fn open_files(sluice: &Sluice, places: &mut Vec<Place>) {
    let Ok(open) = std::fs::read_dir(format!("/proc/{}/fd", sluice.process_id())) else { return };
    for entry in open {
        let path = entry.unwrap().path();
        let Ok(target) = std::fs::read_link(&path) else { continue };
        let is_read = target.starts_with(sluice.folder()) && target.exists();
        // Sockets and pipes would be waited for.
        if !is_read && std::fs::metadata(&path).is_ok_and(|it| it.is_file()) {
            file(&path, places);
        }
    }
}

/// Every page and every export that the dashboard has or links to.
async fn pages(reader: &mut Browser) -> Vec<Place> {
    /// Of pages that differ in the last part of their address, so many are read.
    const SIBLINGS: usize = 12;
    let all = routes().filter(|route| route.method == Method::Get && !route.path.contains('{'));
    let all = all.map(|route| route.path).filter(|path| *path != "/live/events");
    let mut ahead: VecDeque<String> = all.map(str::to_owned).collect();
    let mut read: HashMap<String, usize> = HashMap::new();
    let mut places = Vec::new();
    while let Some(address) = ahead.pop_front() {
        let path = address.split(['?', '#']).next().unwrap();
        let family = path.rsplit_once('/').map_or("", |(family, _)| family);
        let siblings = read.entry(format!("{family}/*")).or_default();
        *siblings += usize::from(!family.is_empty());
        if *siblings > SIBLINGS || read.insert(path.to_owned(), 1).is_some() {
            continue;
        }
        let page = reader.get(&address).await;
        assert!(page.status < 500, "{address}: {}", page.body);
        let links = page.body.split("href=\"").skip(1);
        let links = links.filter_map(|rest| rest.split('"').next());
        let own = links.filter(|link| link.starts_with('/') && !link.starts_with("/live/events"));
        ahead.extend(own.map(|link| link.replace("&amp;", "&")));
        places.push(Place { name: address, bytes: page.body.into_bytes() });
    }
    places
}

async fn commands(sluice: &Sluice) -> Vec<Place> {
    let mut places = Vec::new();
    for line in COMMANDS {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = sluice.cli(&words).await;
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        let name = format!("sluice {line}");
        places.push(Place { name, bytes: (ran.stdout + &ran.stderr).into_bytes() });
    }
    places
}
