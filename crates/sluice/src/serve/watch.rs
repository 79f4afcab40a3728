//! Says when files have changed and stand still.
//!
//! A file that is written in place is empty first, then half there. So a change counts only once
//! two looks in a row have seen the same content. Somebody else decides when to look, and what to
//! do about a change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::environment::{Environment, FileHash, FileRead, Stamp, hash_of};

/// After so many looks that saw the same stamp, a file is not read again until its stamp changes.
/// File systems tell times apart by milliseconds, some by two seconds: a file that was written
/// twice within that time may have the same stamp for both.
const LOOKS_BEFORE_TRUST: u32 = 6;

/// A file at a look.
#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: Option<Stamp>,
    hash: FileHash,
    /// How many looks have seen this stamp.
    looks: u32,
}

/// Files that are looked at again and again.
#[derive(Debug)]
pub(super) struct Watch {
    files: Vec<PathBuf>,
    /// What they held when they were last judged.
    judged: BTreeMap<PathBuf, FileHash>,
    /// What the last look saw.
    last: BTreeMap<PathBuf, Seen>,
    /// Whether somebody wants them read though they have not changed.
    asked: bool,
}

impl Watch {
    /// Looks out for changes of files that have been read.
    pub(super) fn new(read: &[FileRead]) -> Self {
        let files = read.iter().map(|(path, _)| path.clone()).collect();
        let judged = read.iter().cloned().collect();
        Self { files, judged, last: BTreeMap::new(), asked: false }
    }

    /// Looks once. True where the files are to be read: they have changed since they were judged,
    /// or somebody `asked` (now or at an earlier look), and the look before saw the same.
    pub(super) fn look(&mut self, environment: &dyn Environment, asked: bool) -> bool {
        self.asked |= asked;
        let now: BTreeMap<PathBuf, Seen> =
            self.files.iter().map(|path| (path.clone(), self.see(path, environment))).collect();
        let before = std::mem::replace(&mut self.last, now);
        let still = self.last.iter().all(|(path, now)| {
            before.get(path).is_some_and(|was| was.stamp == now.stamp && was.hash == now.hash)
        });
        let changed = self.last.iter().any(|(path, now)| self.judged(path) != now.hash);
        still && (changed || self.asked)
    }

    fn see(&self, path: &Path, environment: &dyn Environment) -> Seen {
        let stamp = environment.stamp(path);
        let before = self.last.get(path).filter(|was| stamp.is_some() && was.stamp == stamp);
        let looks = before.map_or(1, |was| was.looks.saturating_add(1));
        let hash = match before {
            Some(was) if was.looks >= LOOKS_BEFORE_TRUST => was.hash,
            _ => environment.read_file(path).ok().and_then(|text| hash_of(&text)),
        };
        Seen { stamp, hash, looks }
    }

    fn judged(&self, path: &Path) -> FileHash {
        self.judged.get(path).copied().flatten()
    }

    /// Whether what was read is what the last look saw. Where it is not, they have to stand still
    /// anew; files that were not known are looked at from now on.
    pub(super) fn confirms(&mut self, read: &[FileRead]) -> bool {
        let mut same = true;
        for (path, hash) in read {
            match self.last.get(path) {
                Some(seen) => same &= seen.hash == *hash,
                None => {
                    same = false;
                    self.add(path.clone());
                }
            }
        }
        same
    }

    /// Looks at one more file.
    pub(super) fn add(&mut self, path: PathBuf) {
        if !self.files.contains(&path) {
            self.files.push(path);
        }
    }

    /// Looks at one more file, whose present content is no change.
    pub(super) fn add_judged(&mut self, path: PathBuf, environment: &dyn Environment) {
        self.judged.insert(path.clone(), self.see(&path, environment).hash);
        self.add(path);
    }

    /// The last look has been judged, whatever became of it: the next change is a new one.
    pub(super) fn settle(&mut self) {
        self.judged = self.last.iter().map(|(path, seen)| (path.clone(), seen.hash)).collect();
        self.asked = false;
    }

    /// Looks at these files only from now on.
    pub(super) fn keep(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.files = files.into_iter().collect();
    }

    /// Whether somebody asked for the files to be read since they were judged.
    pub(super) fn was_asked(&self) -> bool {
        self.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::tests::FixedEnvironment;

    fn holding(text: &str) -> FixedEnvironment {
        FixedEnvironment::default().file("f", text)
    }

    fn watch(text: &str) -> Watch {
        Watch::new(&[("f".into(), hash_of(text))])
    }

    #[test]
    fn a_change_counts_at_the_second_look_that_sees_it() {
        let mut watch = watch("old");
        for text in ["old", "old", "", "ne", "new"] {
            assert!(!watch.look(&holding(text), false), "{text}");
        }
        assert!(watch.look(&holding("new"), false));
        assert!(watch.confirms(&[("f".into(), hash_of("new"))]));
        watch.settle();
        assert!(!watch.look(&holding("new"), false));
    }

    #[test]
    fn a_file_that_is_away_for_a_look_has_not_changed() {
        let mut watch = watch("old");
        for environment in [holding("old"), FixedEnvironment::default(), holding("old")] {
            assert!(!watch.look(&environment, false));
        }
        assert!(!watch.look(&holding("old"), false));
    }

    #[test]
    fn what_changes_while_it_is_read_has_to_stand_still_anew() {
        let mut watch = watch("old");
        watch.look(&holding("new"), false);
        assert!(watch.look(&holding("new"), false));
        // It was cut just before it was read.
        assert!(!watch.confirms(&[("f".into(), hash_of(""))]));
        assert!(watch.look(&holding("new"), false), "and is whole again");
    }

    #[test]
    fn a_file_that_is_new_is_looked_at_twice_as_well() {
        let mut watch = watch("old");
        let both = |secret: &str| holding("new").file("secret", secret);
        watch.look(&both(""), false);
        assert!(watch.look(&both(""), false));
        assert!(!watch.confirms(&[("f".into(), hash_of("new")), ("secret".into(), hash_of(""))]));
        assert!(!watch.look(&both(""), false));
        assert!(!watch.look(&both("key"), false));
        assert!(watch.look(&both("key"), false));
        assert!(watch.confirms(&[("f".into(), hash_of("new")), ("secret".into(), hash_of("key"))]));
    }

    #[test]
    fn who_asks_is_heard_once_the_files_stand_still() {
        let mut watch = watch("old");
        assert!(!watch.look(&holding("ne"), true));
        assert!(!watch.look(&holding("new"), false));
        assert!(watch.look(&holding("new"), false) && watch.was_asked());
        watch.settle();
        assert!(!watch.look(&holding("new"), false));
        assert!(watch.look(&holding("new"), true), "nothing has changed, but somebody asked");
    }

    /// On the real file system, where a stamp saves reading.
    #[test]
    fn a_file_of_the_same_length_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let environment = crate::config::ProcessEnvironment::default();
        std::fs::write(&path, "level = 1").unwrap();
        let mut watch = Watch::new(&[(path.clone(), hash_of("level = 1"))]);
        for _ in 0..3 {
            assert!(!watch.look(&environment, false));
        }
        std::fs::write(&path, "level = 2").unwrap();
        assert!(!watch.look(&environment, false));
        assert!(watch.look(&environment, false));
    }
}
