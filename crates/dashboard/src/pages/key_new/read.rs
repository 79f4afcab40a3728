//! From the form to the key that is asked for.

use sluice_core::clock::UnixMillis;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::KeyScope;
use sluice_core::region::Region;
use sluice_gateway::admin::{AdminError, NewKey};

use super::of_field;
use crate::web::{Failure, Fields, sentence};

/// What is wrong with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The field that is to be mended; `None`: no single one.
    pub(crate) field: Option<&'static str>,
    /// What is wrong, and how to mend it.
    pub(crate) text: String,
}

impl Wrong {
    fn new(field: &'static str, text: impl Into<String>) -> Self {
        Self { field: Some(field), text: text.into() }
    }

    /// A refusal of administration; what is no fault of the form stays a failure.
    pub(crate) fn of(error: AdminError) -> Result<Self, Failure> {
        Ok(match &error {
            AdminError::InvalidName => of_field("name", &error),
            AdminError::AlreadyExpired { .. } => of_field("expires_at", &error),
            AdminError::ZeroLimit { limit } if *limit == "requests_per_hour" => {
                of_field("requests_per_hour", &error)
            }
            AdminError::ZeroLimit { .. } => of_field("tokens_per_day", &error),
            AdminError::RegionNotAllowed { .. } => of_field("region", &error),
            AdminError::UnknownModel(_) => of_field("models", &error),
            AdminError::EmptyList { .. } => of_field("scopes", &error),
            AdminError::NoSuchHolder { .. } | AdminError::PersonOrService { .. } => {
                of_field("owner", &error)
            }
            AdminError::NoSuch { .. } | AdminError::Suspended { .. } => {
                Self { field: None, text: sentence(&error) }
            }
            _ => return Err(error.into()),
        })
    }
}

/// The key that a form asks for.
pub(crate) fn key(form: &Fields) -> Result<NewKey, Wrong> {
    let class = KeyClass::parse(form.get("class"))
        .ok_or_else(|| Wrong::new("class", "There is no such class; choose one of the list."))?;
    let scopes: Vec<KeyScope> = form.all("scopes").filter_map(KeyScope::parse).collect();
    if scopes.is_empty() {
        return Err(Wrong::new("scopes", "A key that may do nothing is none; tick at least one."));
    }
    let mut models: Vec<String> = form.words("models").map(str::to_owned).collect();
    models.sort();
    models.dedup();
    let mut regions: Vec<Region> = form.all("regions").filter_map(Region::parse).collect();
    regions.dedup();
    let level = form.some("minimum_level").unwrap_or("standard");
    let minimum_level = SecurityLevel::parse(level).ok_or_else(|| {
        Wrong::new("minimum_level", "There is no such level; choose one of the list.")
    })?;
    let max_tokens = match form.get("max_tokens") {
        "documented" => MaxTokensBound::Documented,
        _ => MaxTokensBound::Model,
    };
    let text = |name: &str| form.some(name).map(str::to_owned);
    Ok(NewKey {
        team: text("team"),
        holder: text("owner"),
        scopes,
        models: (!models.is_empty()).then_some(models),
        regions: (!regions.is_empty()).then_some(regions),
        region: form.some("region").and_then(Region::parse),
        minimum_level,
        zero_retention: form.has("zero_retention"),
        audit: form.has("audit"),
        max_tokens,
        requests_per_hour: figure(form, "requests_per_hour")?,
        tokens_per_day: figure(form, "tokens_per_day")?,
        expires_at: day(form, "expires_at")?,
        ..NewKey::named(form.get("name"), class)
    })
}

/// A whole number, with or without commas or spaces between its thousands.
fn figure(form: &Fields, name: &'static str) -> Result<Option<u64>, Wrong> {
    let Some(text) = form.some(name) else { return Ok(None) };
    digits(text).parse().map(Some).map_err(|_| {
        Wrong::new(name, format!("{text:?} is no whole number; write one such as 1,000."))
    })
}

/// A figure without what stands between its thousands.
pub(crate) fn digits(text: &str) -> String {
    text.chars().filter(|it| !matches!(it, ',' | ' ' | '_' | '\u{a0}')).collect()
}

/// The end of a day of UTC.
pub(super) fn day(form: &Fields, name: &'static str) -> Result<Option<UnixMillis>, Wrong> {
    const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    let Some(text) = form.some(name) else { return Ok(None) };
    let day = UnixMillis::parse(text).ok_or_else(|| {
        Wrong::new(name, format!("{text:?} is no day; write one such as 2027-02-20."))
    })?;
    Ok(Some(day.plus(DAY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: &str) -> Result<NewKey, Wrong> {
        key(&Fields::parse(form.as_bytes()))
    }

    #[test]
    fn a_form_becomes_a_key() {
        let wish = read(
            "name=+ci+&class=production&scopes=chat&models=a&models=b&regions=eu-west&region=&\
             minimum_level=high&audit=on&tokens_per_day=1%2C000&expires_at=2027-02-20&owner=person%3Ap",
        )
        .unwrap();
        assert_eq!((wish.name.as_str(), wish.class), ("ci", KeyClass::Production));
        assert_eq!(wish.models, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!((wish.regions, wish.region), (Some(vec![Region::EuWest]), None));
        assert_eq!((wish.audit, wish.zero_retention), (true, false));
        assert_eq!((wish.tokens_per_day, wish.requests_per_hour), (Some(1_000), None));
        assert_eq!(wish.holder.as_deref(), Some("person:p"));
        assert_eq!(wish.expires_at, UnixMillis::parse("2027-02-21"));
    }

    #[test]
    fn what_is_wrong_is_told_beside_its_field() {
        for (form, field) in [
            ("name=a&class=x&scopes=chat", "class"),
            ("name=a&class=production", "scopes"),
            ("name=a&class=production&scopes=chat&minimum_level=none", "minimum_level"),
            ("name=a&class=production&scopes=chat&requests_per_hour=many", "requests_per_hour"),
            ("name=a&class=production&scopes=chat&tokens_per_day=-1", "tokens_per_day"),
            ("name=a&class=production&scopes=chat&expires_at=tomorrow", "expires_at"),
        ] {
            assert_eq!(read(form).unwrap_err().field, Some(field), "{form}");
        }
    }
}
