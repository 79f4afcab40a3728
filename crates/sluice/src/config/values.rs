//! The types of single values: what they look like, and what is wrong with one that is not.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use sluice_core::clock::UnixMillis;
use sluice_core::money::TokenPrice;
use sluice_core::secret::Secret;
use sluice_gateway::vendors::{BASE_URL_FIX, checked_base_url};
use sluice_storage::Location;
use toml::de::DeValue;

use super::environment::hash_of;
use super::read::{FromToml, Node, Reader, Shape, article};
use super::syslog::SyslogAddress;

/// A listener's address, or none: `""`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener(pub(crate) Option<SocketAddr>);

/// Where a syslog server listens, or none: `""`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyslogTarget(pub(crate) Option<SyslogAddress>);

/// A length of time in whole seconds, at least `MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seconds<const MIN: u32 = 1>(pub(crate) u32);

impl<const MIN: u32> Seconds<MIN> {
    /// The length of time.
    pub(crate) fn duration(self) -> Duration {
        Duration::from_secs(u64::from(self.0))
    }
}

/// A whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count<const MIN: u64, const MAX: u64>(pub(crate) u64);

/// How much of something is allowed; `None` is `"unlimited"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowance(pub(crate) Option<u64>);

/// An identifier of a provider: letters, digits, `-`, `_` and `.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

/// A text that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) String);

/// Several texts, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OneOrMore(pub(crate) Vec<String>);

/// A path; a relative one starts from the folder of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePath(pub(crate) PathBuf);

/// A secret from a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretFile(pub(crate) Secret<String>);

/// Where a database is, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(pub(crate) Secret<String>);

/// An address before a dialect's own path: `https://api.openai.com/v1`, no slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl(pub(crate) String);

/// An origin that browsers may call from (`https://chat.example.org`), or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin(pub(crate) String);

/// Headers that every call of a provider carries. Their values are marked as sensitive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

/// A moment: seconds since the Unix epoch, or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) u64);

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dollars(pub(crate) TokenPrice);

/// A value as the file has it, shortened. Not for secrets. Variables are not replaced, so that
/// what they hold is never shown.
pub(super) fn shown(value: &Node<'_>) -> String {
    match value.get_ref() {
        DeValue::String(text) => match text.char_indices().nth(60) {
            Some((end, _)) => format!("{:?}…", &text[..end]),
            None => format!("{text:?}"),
        },
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        other => article(other.type_str()),
    }
}

/// A whole number; a text counts where a variable stands in for the number.
fn integer(value: &Node<'_>, reader: &mut Reader<'_>) -> Option<i128> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix()).ok(),
        DeValue::String(text) if text.contains("${") => {
            reader.text_of(value)?.trim().replace('_', "").parse().ok()
        }
        _ => None,
    };
    if number.is_none() {
        let what = format!("expected a whole number, found {}", shown(value));
        reader.wrong(value, what, "write digits without quotes");
    }
    number
}

fn within(
    value: &Node<'_>,
    min: u64,
    max: u64,
    unit: &str,
    reader: &mut Reader<'_>,
) -> Option<u64> {
    let number = integer(value, reader)?;
    match u64::try_from(number) {
        Ok(number) if (min..=max).contains(&number) => Some(number),
        _ => {
            let what = format!("{} is out of bounds", shown(value));
            reader.wrong(value, what, &format!("set {min} to {max}{unit}"));
            None
        }
    }
}

impl FromToml for bool {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let found = match value.get_ref() {
            DeValue::Boolean(yes) => Some(*yes),
            DeValue::String(text) if text.contains("${") => {
                reader.text_of(value)?.trim().parse().ok()
            }
            _ => None,
        };
        if found.is_none() {
            let what = format!("expected true or false, found {}", shown(value));
            reader.wrong(value, what, "write true or false, without quotes");
        }
        found
    }
}

impl FromToml for String {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.text_of(value)
    }
}

impl FromToml for Text {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        if text.trim().is_empty() {
            reader.wrong(value, "is empty", "give it a value");
            return None;
        }
        Some(Self(text))
    }
}

impl FromToml for Name {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || text.len() > 64 || !text.chars().all(allowed) {
            let fix = "use at most 64 letters, digits, `-`, `_` and `.`, such as \"openai-eu\"";
            reader.wrong(value, format!("{} is no name", shown(value)), fix);
            return None;
        }
        Some(Self(text))
    }
}

impl FromToml for Secret<String> {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        secret(value, text, reader)
    }
}

impl FromToml for SecretFile {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let FilePath(path) = FilePath::read(value, default, reader)?;
        match reader.environment.read_file(&path) {
            Ok(text) => {
                reader.files.push((path, hash_of(&text)));
                secret(value, text, reader).map(Self)
            }
            Err(error) if reader.can_do_without() => {
                reader.do_without(format!("cannot read {}: {error}", path.display()));
                None
            }
            Err(error) => {
                let fix = "relative paths start from the folder of the configuration file";
                reader.wrong(value, format!("cannot read {}: {error}", path.display()), fix);
                None
            }
        }
    }
}

/// A secret that can stand in a header.
fn secret(value: &Node<'_>, text: String, reader: &mut Reader<'_>) -> Option<Secret<String>> {
    let text = Secret::new(text);
    let trimmed = Secret::new(text.expose().trim().to_owned());
    if trimmed.expose().is_empty() && reader.can_do_without() {
        reader.do_without("is empty");
        return None;
    }
    if trimmed.expose().is_empty() {
        reader.wrong(value, "is empty", "give the key, or leave this out where none is needed");
        return None;
    }
    if HeaderValue::from_str(trimmed.expose()).is_err() {
        let fix = "a key is one line of visible characters";
        reader.wrong(value, "holds a line break or a control character", fix);
        return None;
    }
    Some(trimmed)
}

impl FromToml for DatabaseUrl {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = Secret::new(reader.text_of(value)?);
        // Where the data folder is has no say in whether this is an address.
        match Location::new(Path::new(""), Some(text.expose().trim())) {
            Ok(_) => Some(Self(Secret::new(text.expose().trim().to_owned()))),
            Err(wrong) => {
                let fix = "write \"postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full\", \
                           or leave it out for SQLite in the data folder";
                reader.wrong(value, format!("is no address of a database: {wrong}"), fix);
                None
            }
        }
    }
}

impl FromToml for FilePath {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Text(text) = Text::read(value, default, reader)?;
        Some(Self(reader.folder.join(text)))
    }
}

impl FromToml for SocketAddr {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        let numeric = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text,
        };
        let address = numeric.parse().ok();
        if address.is_none() {
            let fix = "write an IP address and a port, such as \"127.0.0.1:8080\" or \"[::]:8080\"";
            reader.wrong(value, format!("{} is no address and port", shown(value)), fix);
        }
        address
    }
}

impl FromToml for Listener {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        if reader.text_of(value)?.is_empty() {
            return Some(Self(None));
        }
        SocketAddr::read(value, default, reader).map(|address| Self(Some(address)))
    }
}

impl FromToml for SyslogTarget {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        if text.is_empty() {
            return Some(Self(None));
        }
        let Ok(address) = SyslogAddress::parse(&text) else {
            let fix = format!("write {}, or \"\" for none", SyslogAddress::FORM);
            reader.wrong(value, format!("{} is no address of a syslog server", shown(value)), &fix);
            return None;
        };
        Some(Self(Some(address)))
    }
}

impl<const MIN: u32> FromToml for Seconds<MIN> {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let seconds = within(value, u64::from(MIN), 86_400, " seconds", reader)?;
        u32::try_from(seconds).ok().map(Self)
    }
}

impl<const MIN: u64, const MAX: u64> FromToml for Count<MIN, MAX> {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        within(value, MIN, MAX, "", reader).map(Self)
    }
}

impl FromToml for u32 {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        within(value, 1, u64::from(u32::MAX), "", reader)?.try_into().ok()
    }
}

impl FromToml for Allowance {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let is_text = value.get_ref().is_str();
        if is_text && reader.text_of(value)? == "unlimited" {
            return Some(Self(None));
        }
        let is_variable = value.get_ref().as_str().is_some_and(|text| text.contains("${"));
        if !value.get_ref().is_integer() && !is_variable {
            let what = format!("expected a whole number, found {}", shown(value));
            reader.wrong(value, what, "write a number, or \"unlimited\"");
            return None;
        }
        let max = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
        let number = integer(value, reader)?;
        match u64::try_from(number) {
            Ok(0) => {
                reader.wrong(value, "0 refuses every request", "set at least 1");
                None
            }
            Ok(number) if number <= max => Some(Self(Some(number))),
            _ => {
                let what = format!("{} is out of bounds", shown(value));
                reader.wrong(value, what, "write a number above 0, or \"unlimited\"");
                None
            }
        }
    }
}

impl FromToml for OneOrMore {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        if value.get_ref().is_str() {
            return Text::read(value, default, reader).map(|text| Self(vec![text.0]));
        }
        let texts: Vec<Text> = Vec::read(value, default, reader)?;
        if texts.is_empty() {
            reader.wrong(value, "is an empty list", "name at least one");
            return None;
        }
        Some(Self(texts.into_iter().map(|text| text.0).collect()))
    }
}

impl FromToml for BaseUrl {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(text) = reader.text_of(value) else {
            // Nobody is going to be asked there; a provider without any address could not be told.
            return reader.can_do_without().then(|| Self("http://not-set.invalid".to_owned()));
        };
        match checked_base_url(&text) {
            Ok(url) => Some(Self(url)),
            Err(wrong) => {
                reader.wrong(value, wrong, BASE_URL_FIX);
                None
            }
        }
    }
}

impl FromToml for Origin {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let host_is_bare = host.is_some_and(|host| {
            !host.is_empty()
                && !host.contains('/')
                && host.parse::<http::uri::Authority>().is_ok_and(|a| !a.as_str().contains('@'))
        });
        if text != "*" && !host_is_bare {
            let fix = "write scheme, host and port without a path, such as \
                       \"https://chat.example.org\", or \"*\"";
            reader.wrong(value, format!("{} is no origin", shown(value)), fix);
            return None;
        }
        Some(Self(text))
    }
}

impl FromToml for Headers {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(table) = value.get_ref().as_table() else {
            let fix = "write { x-name = \"value\" }";
            reader.wrong(value, format!("expected a table, found {}", shown(value)), fix);
            return None;
        };
        let mut headers = Vec::new();
        let mut complete = true;
        for (name, node) in table {
            let header = reader.within(name.get_ref(), |reader| {
                let Ok(name) = name.get_ref().parse::<HeaderName>() else {
                    reader.wrong(node, "is no header name", "use letters, digits and `-`");
                    return None;
                };
                let text = reader.text_of(node)?;
                let Ok(mut header) = HeaderValue::from_str(&text) else {
                    let fix = "a header's value is one line of visible characters";
                    reader.wrong(node, "holds a line break or a control character", fix);
                    return None;
                };
                header.set_sensitive(true);
                Some((name, header))
            });
            complete &= header.is_some();
            headers.extend(header);
        }
        complete.then_some(Self(headers))
    }
}

impl FromToml for Moment {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let seconds = match value.get_ref() {
            DeValue::Integer(_) => {
                return integer(value, reader)?.try_into().ok().map(Self).or_else(|| {
                    reader.wrong(value, "is before 1970", "write seconds since 1970, or a day");
                    None
                });
            }
            DeValue::Datetime(day) => UnixMillis::parse(&day.to_string()),
            DeValue::String(_) => UnixMillis::parse(&reader.text_of(value)?),
            _ => None,
        };
        if seconds.is_none() {
            let fix = "write seconds since 1970, or a day, such as 2026-11-21";
            reader.wrong(value, format!("{} is no moment", shown(value)), fix);
        }
        seconds.map(|moment| Self(moment.seconds()))
    }
}

impl FromToml for Dollars {
    const SHAPE: Shape = Shape::Value;

    /// A decimal in quotes, or a number: the file's own digits are read, so both are exact.
    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::String(_) => reader.text_of(value)?,
            _ => String::new(),
        };
        let price = text.trim().parse().ok();
        if price.is_none() {
            let fix =
                "write US dollars per million tokens with at most 6 decimals, such as \"0.25\"";
            reader.wrong(value, format!("{} is no price", shown(value)), fix);
        }
        price.map(Self)
    }
}

impl<T: FromToml> FromToml for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        T::read(value, default, reader).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A list of single values. Sections that repeat are [`super::read::Entries`].
impl<T: FromToml> FromToml for Vec<T> {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(array) = value.get_ref().as_array() else {
            let what = format!("expected a list, found {}", shown(value));
            reader.wrong(value, what, "put it in brackets: [ … ]");
            return None;
        };
        let mut values = Vec::new();
        let mut complete = true;
        for (at, node) in array.iter().enumerate() {
            let read = reader.within(&format!("[{at}]"), |reader| T::read(node, None, reader));
            complete &= read.is_some();
            values.extend(read);
        }
        complete.then_some(values)
    }
}
