//! What the configuration sees of the world outside: variables, files, local model servers.
//!
//! Everything else takes it as an argument, so that no test depends on the machine it runs on.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a file held, as a hash; `None` where it could not be read.
pub(crate) type FileHash = Option<[u8; 32]>;

/// A file, and what it held when it was read.
pub(crate) type FileRead = (PathBuf, FileHash);

/// The hash of a file's text.
pub(crate) fn hash_of(text: &str) -> FileHash {
    Some(*blake3::hash(text.as_bytes()).as_bytes())
}

/// What the file system says about a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: SystemTime,
    length: u64,
    inode: u64,
}

/// Variables, files and local servers.
pub(crate) trait Environment {
    /// An environment variable; `None` where it is unset or is no text.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    fn read_file(&self, path: &Path) -> io::Result<String>;

    /// What the file system says about a file; `None` where it has to be read to know.
    fn stamp(&self, _path: &Path) -> Option<Stamp> {
        None
    }

    /// Whether users other than its owner may write to a folder.
    fn others_can_write(&self, _path: &Path) -> bool {
        false
    }

    /// Whether no provider is going to be asked. Then a provider's credential or address that is
    /// missing is a warning and no problem.
    fn asks_no_provider(&self) -> bool {
        false
    }

    /// The model servers on this machine that answered a probe.
    fn local_servers(&self) -> &[LocalServer] {
        &[]
    }
}

/// A model server on this machine that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalServer {
    /// Its preset: `ollama`.
    pub(crate) kind: String,
    /// The models that it listed, by their names there.
    pub(crate) models: Vec<String>,
}

/// The machine's own environment.
#[derive(Debug, Default)]
pub(crate) struct ProcessEnvironment {
    /// The local servers that answered, as the caller found out.
    pub(crate) local: Vec<LocalServer>,
    /// Whether no provider is going to be asked.
    pub(crate) asks_no_provider: bool,
}

impl ProcessEnvironment {
    /// The environment of a command that asks no provider.
    pub(crate) fn without_providers() -> Self {
        Self { asks_no_provider: true, ..Self::default() }
    }
}

impl Environment for ProcessEnvironment {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read_file(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn stamp(&self, path: &Path) -> Option<Stamp> {
        let data = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&data);
        #[cfg(not(unix))]
        let inode = 0;
        Some(Stamp { modified: data.modified().ok()?, length: data.len(), inode })
    }

    #[cfg(unix)]
    fn others_can_write(&self, path: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o022 != 0)
    }

    fn asks_no_provider(&self) -> bool {
        self.asks_no_provider
    }

    fn local_servers(&self) -> &[LocalServer] {
        &self.local
    }
}

/// Why a text with `${…}` has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// The variable is not set and has no default.
    Unset(String),
    /// `${` without `}`, or something else than a variable's name in between.
    Malformed,
}

/// Replaces `${VAR}` and `${VAR:-default}` in `text`. As in a shell, the default also stands in
/// for an empty variable; `$${` stands for `${` itself.
pub(crate) fn substitute(text: &str, environment: &dyn Environment) -> Result<String, Unresolved> {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if let Some(before) = rest[..at].strip_suffix('$') {
            resolved.push_str(before);
            resolved.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        resolved.push_str(&rest[..at]);
        let (inside, after) = rest[at + 2..].split_once('}').ok_or(Unresolved::Malformed)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_variable_name(name) {
            return Err(Unresolved::Malformed);
        }
        let value = environment.variable(name);
        match (value.filter(|value| !(value.is_empty() && default.is_some())), default) {
            (Some(value), _) => resolved.push_str(&value),
            (None, Some(default)) => resolved.push_str(default),
            (None, None) => return Err(Unresolved::Unset(name.to_owned())),
        }
        rest = after;
    }
    resolved.push_str(rest);
    Ok(resolved)
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashMap;

    use super::*;

    /// An environment of fixed variables and files.
    #[derive(Default)]
    pub(crate) struct FixedEnvironment {
        pub(crate) variables: HashMap<String, String>,
        pub(crate) files: HashMap<String, String>,
        pub(crate) local: Vec<LocalServer>,
        pub(crate) open_folders: Vec<String>,
        pub(crate) asks_no_provider: bool,
    }

    impl FixedEnvironment {
        pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
            self.variables.insert(name.to_owned(), value.to_owned());
            self
        }

        pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
            self.files.insert(path.to_owned(), text.to_owned());
            self
        }

        /// With a folder that everybody may write to.
        pub(crate) fn open_folder(mut self, path: &str) -> Self {
            self.open_folders.push(path.to_owned());
            self
        }

        /// As a command sees it that asks no provider.
        pub(crate) fn without_providers(mut self) -> Self {
            self.asks_no_provider = true;
            self
        }

        pub(crate) fn local(mut self, kind: &str, models: &[&str]) -> Self {
            let models = models.iter().map(|&model| model.to_owned()).collect();
            self.local.push(LocalServer { kind: kind.to_owned(), models });
            self
        }
    }

    impl Environment for FixedEnvironment {
        fn variable(&self, name: &str) -> Option<String> {
            self.variables.get(name).cloned()
        }

        fn read_file(&self, path: &Path) -> io::Result<String> {
            let text = path.to_str().and_then(|path| self.files.get(path));
            text.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
        }

        fn others_can_write(&self, path: &Path) -> bool {
            self.open_folders.iter().any(|folder| Path::new(folder) == path)
        }

        fn asks_no_provider(&self) -> bool {
            self.asks_no_provider
        }

        fn local_servers(&self) -> &[LocalServer] {
            &self.local
        }
    }

    #[test]
    fn variables_and_defaults_are_replaced() {
        let environment = FixedEnvironment::default().variable("KEY", "k1").variable("EMPTY", "");
        for (text, expected) in [
            ("plain", "plain"),
            ("${KEY}", "k1"),
            ("a-${KEY}-${NONE:-b}-c", "a-k1-b-c"),
            ("${NONE:-}", ""),
            ("${EMPTY}", ""),
            ("${EMPTY:-full}", "full"),
            ("$${KEY}", "${KEY}"),
            ("$KEY and $5", "$KEY and $5"),
            ("${NONE:-http://a:1/b}", "http://a:1/b"),
        ] {
            assert_eq!(substitute(text, &environment).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(substitute("${NONE}", &environment), Err(Unresolved::Unset("NONE".to_owned())));
        for text in ["${KEY", "${}", "${A B}", "${1A}", "${KEY-x}"] {
            assert_eq!(substitute(text, &environment), Err(Unresolved::Malformed), "{text}");
        }
    }

    #[test]
    fn what_a_variable_holds_is_not_replaced_again() {
        let environment = FixedEnvironment::default().variable("A", "${B}");
        assert_eq!(substitute("${A}", &environment).as_deref(), Ok("${B}"));
    }
}
