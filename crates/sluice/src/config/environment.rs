//! What the configuration sees of the world outside: variables, files, local model servers.
//!
//! Everything else takes it as an argument, so that no test depends on the machine it runs on.

use std::io;
use std::path::Path;

/// Variables, files and local servers.
pub(crate) trait Environment {
    /// An environment variable; `None` where it is unset or is no text.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    fn read_file(&self, path: &Path) -> io::Result<String>;

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
}

impl Environment for ProcessEnvironment {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read_file(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
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
