//! Reads sections of a TOML document, and goes on after a problem.
//!
//! [`section!`] declares a section once: its fields' types read themselves, its doc comments and
//! defaults make the example file, and its keys are the known ones. A value that is wrong is
//! recorded and replaced by its default, so that the rest of the file is checked as well; whoever
//! asked must look at [`Problems`] before using the result.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::environment::{Environment, FileRead, Unresolved, substitute};
use super::problem::{Problem, Problems, nearest};

/// A value of the document, with its place in it.
pub(crate) type Node<'t> = Spanned<DeValue<'t>>;

/// A type that reads itself from a value.
pub(crate) trait FromToml: Sized {
    /// What it looks like in the file.
    const SHAPE: Shape;

    /// The value, or `None` when a problem has been recorded. `default` is what its section says
    /// about it: a section within a section takes from there what the file leaves out.
    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self>;

    /// What a key without a default means when it is absent; `None` where it must be there.
    fn absent() -> Option<Self> {
        None
    }
}

/// What a type looks like in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// A value in one line.
    Value,
    /// `[section]`.
    Section(&'static Schema),
    /// `[[section]]`, any number of them.
    Sections(&'static Schema),
}

/// A section's keys.
#[derive(Debug)]
pub(crate) struct Schema {
    /// What the section is for; one entry a line.
    pub(crate) doc: &'static [&'static str],
    /// Its keys, in the order of the example.
    pub(crate) keys: &'static [Key],
}

/// A key of a section.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it means; one entry a line.
    pub(crate) doc: &'static [&'static str],
    /// What it looks like.
    pub(crate) shape: Shape,
    /// Its default, in TOML.
    pub(crate) default: Option<&'static str>,
    /// An example of a key without a default, in TOML.
    pub(crate) example: Option<&'static str>,
    /// Whether the key stands in place of the one before it, so that an example has only one.
    pub(crate) alternative: bool,
}

/// Declares a section: a struct, how it is read, and its [`Schema`].
///
/// `key: Type = default` has a default, `key: Type => example` has none (an `Option` may be left
/// out, everything else must be given), and `key: Type as example` is an alternative to the key
/// before it. Defaults and examples are TOML.
macro_rules! section {
    (
        $(#[doc = $doc:literal])*
        $name:ident {
            $(
                $(#[doc = $key_doc:literal])*
                $key:ident: $type:ty
                    $(= $default:tt)? $(=> $example:tt)? $(as $alternative:tt)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $name {
            $($(#[doc = $key_doc])* pub(crate) $key: $type,)*
        }

        impl $name {
            /// The section's keys.
            pub(crate) const SCHEMA: &'static crate::config::read::Schema =
                &crate::config::read::Schema {
                    doc: &[$($doc),*],
                    keys: &[$(crate::config::read::Key {
                        name: stringify!($key),
                        doc: &[$($key_doc),*],
                        shape: <$type as crate::config::read::FromToml>::SHAPE,
                        default: [$(Some(stringify!($default)),)? None][0],
                        example: [
                            $(Some(stringify!($example)),)?
                            $(Some(stringify!($alternative)),)?
                            None,
                        ][0],
                        alternative: [$(!stringify!($alternative).is_empty(),)? false][0],
                    },)*],
                };
        }

        impl crate::config::read::FromToml for $name {
            const SHAPE: crate::config::read::Shape =
                crate::config::read::Shape::Section(Self::SCHEMA);

            fn read(
                value: &crate::config::read::Node<'_>,
                default: Option<&crate::config::read::Node<'_>>,
                reader: &mut crate::config::read::Reader<'_>,
            ) -> Option<Self> {
                let fields =
                    crate::config::read::Fields::open(value, default, Self::SCHEMA, reader)?;
                $(let $key = fields.take::<$type>(stringify!($key), reader);)*
                Some(Self { $($key: $key?,)* })
            }
        }
    };
}
pub(crate) use section;

/// Where reading has got to, and what has been found wrong so far.
pub(crate) struct Reader<'a> {
    /// Variables and files.
    pub(crate) environment: &'a dyn Environment,
    /// The folder that relative paths start from.
    pub(crate) folder: &'a Path,
    /// What is wrong so far.
    pub(crate) problems: Problems,
    /// The files that values were read from, for whoever watches for changes.
    pub(crate) files: Vec<FileRead>,
    /// What is missing but is not needed, since no provider is asked; one sentence each.
    pub(crate) warnings: Vec<String>,
    file: Option<String>,
    text: &'a str,
    path: String,
}

impl<'a> Reader<'a> {
    /// A reader at the root of a document.
    pub(crate) fn new(
        file: Option<&Path>,
        text: &'a str,
        folder: &'a Path,
        environment: &'a dyn Environment,
    ) -> Self {
        Self {
            environment,
            folder,
            problems: Problems::default(),
            files: Vec::new(),
            warnings: Vec::new(),
            file: file.map(|file| file.display().to_string()),
            text,
            path: String::new(),
        }
    }

    /// The document's root; syntax errors are recorded.
    pub(crate) fn document(&mut self) -> Node<'a> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = line_and_column(self.text, at);
            self.problems.add(Problem {
                file: self.file.clone(),
                line: Some(line),
                column: Some(column),
                key: String::new(),
                what: format!("this is no TOML: {}", error.message().replace('\n', ", ")),
                fix: String::new(),
            });
        }
        let span = table.span();
        Spanned::new(span, DeValue::Table(table.into_inner()))
    }

    /// Reads a part of the current value: `.key` or `[0]`.
    pub(crate) fn within<T>(&mut self, part: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() && !part.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(part);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Records that `value`, at the current key, is wrong.
    pub(crate) fn wrong(&mut self, value: &Node<'_>, what: impl Into<String>, fix: &str) {
        let line = self.line(value.span().start);
        self.record(self.path.clone(), line, what.into(), fix.to_owned());
    }

    /// Records that the entry at `key` in line `line` is wrong, after all has been read.
    pub(crate) fn wrong_at(
        &mut self,
        key: impl Into<String>,
        line: Option<usize>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.record(key.into(), line, what.into(), fix.into());
    }

    /// The text of a string, with variables replaced.
    pub(crate) fn text_of(&mut self, value: &Node<'_>) -> Option<String> {
        let Some(text) = value.get_ref().as_str() else {
            let kind = value.get_ref().type_str();
            self.wrong(
                value,
                format!("expected a string, found {}", article(kind)),
                "put it in quotes",
            );
            return None;
        };
        match substitute(text, self.environment) {
            Ok(text) => Some(text),
            Err(Unresolved::Unset(name)) if self.can_do_without() => {
                self.do_without(format!("the environment variable {name} is not set"));
                None
            }
            Err(Unresolved::Unset(name)) => {
                let fix = format!("set it, or give a default: ${{{name}:-…}}");
                self.wrong(value, format!("the environment variable {name} is not set"), &fix);
                None
            }
            Err(Unresolved::Malformed) => {
                let fix = "write ${NAME} or ${NAME:-default}; $${ stands for ${ itself";
                self.wrong(value, "holds a `${` that names no variable", fix);
                None
            }
        }
    }

    /// Whether what is missing at the current key does not matter: how a provider is reached, where
    /// none is going to be asked.
    pub(crate) fn can_do_without(&self) -> bool {
        const OF_CALLS: [&str; 5] =
            ["api_key", "api_key_file", "base_url", "headers", "api_version"];
        let key = self.path.strip_prefix("providers[").and_then(|rest| rest.split_once("]."));
        let key = key.map(|(_, key)| key.split('.').next().unwrap_or(key));
        self.environment.asks_no_provider() && key.is_some_and(|key| OF_CALLS.contains(&key))
    }

    /// Notes what is missing at the current key.
    pub(crate) fn do_without(&mut self, what: impl std::fmt::Display) {
        self.warnings.push(format!("{}: {what}", self.path));
    }

    /// The line of a byte of the document, from 1; `None` without a file.
    pub(crate) fn line(&self, at: usize) -> Option<usize> {
        self.file.as_ref().map(|_| line_and_column(self.text, at).0)
    }

    fn record(&mut self, key: String, line: Option<usize>, what: String, fix: String) {
        self.problems.add(Problem { file: self.file.clone(), line, column: None, key, what, fix });
    }
}

/// An open section.
pub(crate) struct Fields<'n, 't> {
    section: &'n Node<'t>,
    default: Option<&'n Node<'t>>,
    schema: &'static Schema,
}

impl<'n, 't> Fields<'n, 't> {
    /// Opens a section and records the keys that it does not have.
    pub(crate) fn open(
        section: &'n Node<'t>,
        default: Option<&'n Node<'t>>,
        schema: &'static Schema,
        reader: &mut Reader<'_>,
    ) -> Option<Self> {
        let Some(table) = section.get_ref().as_table() else {
            let kind = section.get_ref().type_str();
            let keys = names(schema);
            let what = format!("expected a section, found {}", article(kind));
            reader.wrong(section, what, &format!("its keys are {keys}"));
            return None;
        };
        for (name, value) in table {
            let name: &str = name.get_ref();
            if schema.keys.iter().any(|key| key.name == name) {
                continue;
            }
            let fix = match nearest(name, schema.keys.iter().map(|key| key.name)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("remove it; the keys here are {}", names(schema)),
            };
            reader.within(name, |reader| reader.wrong(value, "unknown key", &fix));
        }
        Some(Self { section, default, schema })
    }

    /// Reads a key: from the file, else its default. `None` when a problem has been recorded and
    /// there is no default to go on with.
    pub(crate) fn take<T: FromToml>(&self, name: &str, reader: &mut Reader<'_>) -> Option<T> {
        let own_default = self
            .schema
            .keys
            .iter()
            .find(|key| key.name == name)
            .and_then(|key| key.default)
            .and_then(|text| DeValue::parse(text).ok());
        let default = self.default.and_then(|table| find(table, name)).or(own_default.as_ref());
        let Some(given) = find(self.section, name) else {
            if let Some(default) = default {
                return T::read(default, Some(default), reader);
            }
            if let Some(absent) = T::absent() {
                return Some(absent);
            }
            let example = self.schema.keys.iter().find(|key| key.name == name);
            let example = example.and_then(|key| key.example).unwrap_or("…");
            let section = self.section;
            let fix = format!("add `{name} = {example}`, with your own value");
            reader.within(name, |reader| reader.wrong(section, "missing", &fix));
            return None;
        };
        let value = reader.within(name, |reader| T::read(given, default, reader));
        value
            .or_else(|| default.and_then(|default| T::read(default, Some(default), reader)))
            .or_else(T::absent)
    }
}

/// One `[[section]]`, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<T> {
    /// Its path: `models[2]`.
    pub(crate) path: String,
    /// Its line in the file.
    pub(crate) line: Option<usize>,
    /// Its `id`, also where the rest could not be read: others may refer to it.
    pub(crate) id: Option<String>,
    /// Its content; `None` when a problem has been recorded.
    pub(crate) value: Option<T>,
}

/// All `[[section]]` of one name.
pub(crate) type Entries<T> = Vec<Entry<T>>;

/// A section that may stand in a file several times.
pub(crate) trait Repeated: FromToml {
    /// Its keys.
    const ENTRY: &'static Schema;
}

impl<T: Repeated> FromToml for Entries<T> {
    const SHAPE: Shape = Shape::Sections(T::ENTRY);

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(array) = value.get_ref().as_array() else {
            let fix = "write the section's name in double brackets, [[like this]]";
            reader.wrong(value, "expected a list of sections", fix);
            return None;
        };
        let mut entries = Vec::new();
        for (at, node) in array.iter().enumerate() {
            let id = find(node, "id").and_then(|id| id.get_ref().as_str());
            let id = id.and_then(|id| substitute(id, reader.environment).ok());
            let line = reader.line(node.span().start);
            let entry = reader.within(&format!("[{at}]"), |reader| Entry {
                path: reader.path.clone(),
                line,
                id,
                value: T::read(node, None, reader),
            });
            entries.push(entry);
        }
        Some(entries)
    }
}

/// A key's value in a table.
pub(crate) fn find<'n, 't>(table: &'n Node<'t>, name: &str) -> Option<&'n Node<'t>> {
    let table = table.get_ref().as_table()?;
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
}

/// The keys of a section in one line.
fn names(schema: &Schema) -> String {
    schema.keys.iter().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

/// `a table`, `an integer`.
pub(crate) fn article(word: &str) -> String {
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {word}", if vowel { "an" } else { "a" })
}

/// The line and column of a byte, both from 1; the column counts characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}
