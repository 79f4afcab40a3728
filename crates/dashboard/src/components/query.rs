//! The query of a page's address: what is filtered, sorted and paged.
//!
//! A page reads its filters from here and gets every link that changes one of them from here, so
//! that a filter never gets lost when another one changes. A change of a filter starts at the
//! first page again.

use std::fmt::Write as _;

use sluice_gateway::Turn;

use super::filters::{Choice, Filter, Filters};
use super::table::{Column, Pager};
use super::tabs::{Tab, Tabs};
use super::text::{Text, segment};

/// The parameters that say which page of the rows it is.
const CURSORS: [&str; 2] = ["before", "after"];
/// The parameter that chooses a period that ends now.
pub(crate) const PERIOD: &str = "period";
/// The parameters that bound a period of one's own.
pub(crate) const BOUNDS: [&str; 2] = ["since", "until"];
/// So many parameters are read; a page needs far fewer.
const MOST: usize = 40;

/// A page's path and the query behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    path: String,
    pairs: Vec<(String, String)>,
}

/// A value that a filter offers.
#[derive(Debug, Clone)]
pub struct Offer {
    value: Text,
    shown: Text,
    count: Option<u64>,
}

impl Offer {
    /// A value of the query, under the name that people know it by.
    pub fn new(value: impl Into<Text>, shown: impl Into<Text>) -> Self {
        Self { value: value.into(), shown: shown.into(), count: None }
    }

    /// How many rows have it.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }
}

/// A value that is shown as it is, and how many rows have it.
impl From<(Text, u64)> for Offer {
    fn from((value, count): (Text, u64)) -> Self {
        Self { shown: value.clone(), value, count: Some(count) }
    }
}

impl Query {
    /// The query of the page at `path`, as the address has it after the question mark.
    pub fn new(path: impl Into<String>, raw: &str) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in raw.split('&').take(MOST) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (decoded(name), decoded(value));
            if !name.is_empty()
                && !value.is_empty()
                && !pairs.iter().any(|(known, _)| *known == name)
            {
                pairs.push((name, value));
            }
        }
        Self { path: path.into(), pairs }
    }

    /// The value of a parameter. One that is empty is as good as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The address as it is, on the first page.
    pub fn here(&self) -> String {
        self.address(&[], &[])
    }

    /// The same query without `name`.
    #[must_use]
    pub fn lacking(mut self, name: &str) -> Self {
        self.pairs.retain(|(known, _)| known != name);
        self
    }

    /// The query of the page at another path, with the same filters.
    #[must_use]
    pub fn moved(&self, path: &str) -> Self {
        Self { path: path.to_owned(), pairs: self.pairs.clone() }
    }

    /// The same query with another value for `name`.
    #[must_use]
    pub fn having(mut self, name: &str, value: &str) -> Self {
        self.pairs.retain(|(known, _)| known != name);
        self.pairs.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same filters at another path.
    pub fn at(&self, path: &str) -> String {
        self.moved(path).here()
    }

    /// The address with another value for `name`, on the first page.
    pub fn with(&self, name: &str, value: &str) -> String {
        self.address(&[name], &[(name, value)])
    }

    /// The address without `name`, on the first page.
    pub fn without(&self, name: &str) -> String {
        self.address(&[name], &[])
    }

    /// The address with some parameters gone and others added, on the first page.
    pub fn changed(&self, dropped: &[&str], added: &[(&str, &str)]) -> String {
        let replaced = added.iter().map(|(name, _)| *name);
        let dropped: Vec<_> = dropped.iter().copied().chain(replaced).collect();
        self.address(&dropped, added)
    }

    /// A chip that filters by the parameter of the same name; a space is written as `_`.
    pub fn filter<O: Into<Offer>>(
        &self,
        label: &'static str,
        offers: impl IntoIterator<Item = O>,
    ) -> Filter {
        let name = label.replace(' ', "_");
        let current = self.get(&name);
        let mut chosen = None;
        let mut choices = Vec::new();
        for offer in offers {
            let Offer { value, shown, count } = offer.into();
            let is_chosen = current == Some(value.plain());
            if is_chosen {
                chosen = Some(shown.clone());
            }
            let link = self.with(&name, value.plain());
            choices.push(Choice { value: shown, count, link, is_chosen });
        }
        // What is filtered by is said even where it is not offered.
        let chosen = chosen.or_else(|| current.map(Text::from));
        Filter { label, chosen, clear: self.without(&name), choices }
    }

    /// The bar of these chips, with a search field where `search` says what to look for.
    pub fn filters(&self, search: &'static str, mut filters: Vec<Filter>) -> Filters {
        // A chip without anything to choose says nothing.
        filters.retain(|filter| filter.chosen.is_some() || !filter.choices.is_empty());
        let is_kept = |name: &str| name != "q" && !CURSORS.contains(&name);
        let kept = self.pairs.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (name.clone(), Text::from(value.as_str()))).collect();
        let sought = self.get("q").unwrap_or_default();
        let names: Vec<_> = filters.iter().map(|filter| filter.label.replace(' ', "_")).collect();
        let is_filtered =
            !sought.is_empty() || filters.iter().any(|filter| filter.chosen.is_some());
        let clear = is_filtered.then(|| {
            let dropped = names.iter().map(String::as_str).chain(["q"]).chain(BOUNDS);
            let dropped: Vec<_> = dropped.collect();
            self.address(&dropped, &[])
        });
        Filters {
            action: self.path.clone(),
            here: self.without("q"),
            search,
            sought: sought.into(),
            kept,
            csrf: None,
            filters,
            clear,
        }
    }

    /// Links that choose one value of `name`: what each is called, and the value.
    pub fn tabs(
        &self,
        label: &'static str,
        name: &str,
        values: &[(&str, &str)],
        default: &str,
    ) -> Tabs {
        let chosen = self.get(name).unwrap_or(default);
        let has_own = name == PERIOD && BOUNDS.iter().any(|bound| self.get(bound).is_some());
        let dropped = if name == PERIOD { BOUNDS.as_slice() } else { &[] };
        let tab = |(shown, value): &(&str, &str)| Tab {
            name: (*shown).to_owned(),
            path: self.changed(dropped, &[(name, value)]),
            is_here: *value == chosen && !has_own,
        };
        Tabs::new("tabs", label, values.iter().map(tab).collect())
    }

    /// Links that choose the period of the figures, `period=14d`.
    pub fn periods(&self, default: &str) -> Tabs {
        let periods =
            [("24 h", "24h"), ("7 d", "7d"), ("14 d", "14d"), ("30 d", "30d"), ("90 d", "90d")];
        self.tabs("Period", PERIOD, &periods, default).into_periods()
    }

    /// A column with a link that sorts by `name`: the largest first, then the smallest.
    pub fn sorted(&self, column: Column, name: &str, default: &str) -> Column {
        let descending = format!("-{name}");
        match self.get("sort").unwrap_or(default) {
            now if now == descending => column.sorted(self.with("sort", name), Some(true)),
            now if now == name => column.sorted(self.with("sort", &descending), Some(false)),
            _ => column.sorted(self.with("sort", &descending), None),
        }
    }

    /// The same for names, which begin with A.
    pub fn sorted_by_name(&self, column: Column, name: &str, default: &str) -> Column {
        let is_new = !self.get("sort").unwrap_or(default).ends_with(name);
        match is_new {
            true => column.sorted(self.with("sort", name), None),
            false => self.sorted(column, name, default),
        }
    }

    /// Which page of the rows is asked for; `parse` reads where one begins.
    pub(crate) fn turn<C>(&self, parse: impl Fn(&str) -> Option<C>) -> Turn<C> {
        let cursor = |name| self.get(name).and_then(&parse);
        match (cursor("before"), cursor("after")) {
            (Some(before), _) => Turn::Older(before),
            (None, Some(after)) => Turn::Newer(after),
            (None, None) => Turn::First,
        }
    }

    /// The way to the rows before and after, by the keys where they begin.
    pub fn pager(&self, shown: String, newer: Option<&str>, older: Option<&str>) -> Pager {
        let page = |name, key: Option<&str>| key.map(|key| self.address(&[], &[(name, key)]));
        Pager { shown, newer: page("after", newer), older: page("before", older) }
    }

    /// The address without some parameters and the cursors, and with others.
    fn address(&self, dropped: &[&str], added: &[(&str, &str)]) -> String {
        let is_kept = |name: &str| !dropped.contains(&name) && !CURSORS.contains(&name);
        let kept = self.pairs.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut address = self.path.clone();
        for (place, (name, value)) in kept.chain(added.iter().copied()).enumerate() {
            let mark = if place == 0 { '?' } else { '&' };
            let _ = write!(address, "{mark}{}={}", segment(name), segment(value));
        }
        address
    }
}

/// A name or value as a browser's form writes it. What is no UTF-8 is replaced.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(first),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn offers() -> [(Text, u64); 2] {
        [("gpt-5".into(), 3), ("a b/c&d".into(), 1)]
    }

    #[test]
    fn a_filter_keeps_the_others_and_leaves_the_page() {
        let query = Query::new("/requests", "key=key_1&model=gpt-5&before=req_9&empty=");
        assert_eq!(query.with("app", "x y"), "/requests?key=key_1&model=gpt-5&app=x%20y");
        assert_eq!(query.with("model", "b"), "/requests?key=key_1&model=b");
        assert_eq!(query.without("key"), "/requests?model=gpt-5");
        let filter = query.filter("model", offers());
        assert_eq!(filter.chosen, Some("gpt-5".into()));
        assert_eq!(filter.clear, "/requests?key=key_1");
        assert_eq!(filter.choices[1].link, "/requests?key=key_1&model=a%20b%2Fc%26d");
        let filters = query.filters("Request id", vec![filter]);
        assert_eq!(filters.clear.as_deref(), Some("/requests?key=key_1"));
        assert_eq!(filters.kept.len(), 2);
    }

    #[test]
    fn nothing_is_cleared_where_nothing_is_filtered() {
        let query = Query::new("/models", "");
        let filters = query.filters("Model", vec![query.filter("model", offers())]);
        assert_eq!((filters.clear, query.without("model")), (None, "/models".to_owned()));
    }

    #[test]
    fn pages_keep_the_filters() {
        let query = Query::new("/requests", "model=gpt-5&after=req_1");
        let pager = query.pager(String::new(), Some("req_5"), Some("req_2"));
        assert_eq!(pager.newer.as_deref(), Some("/requests?model=gpt-5&after=req_5"));
        assert_eq!(pager.older.as_deref(), Some("/requests?model=gpt-5&before=req_2"));
    }

    #[test]
    fn sorting_turns_around() {
        let query = Query::new("/keys", "sort=-cost&team=a");
        let column = query.sorted(Column::number("Spend"), "cost", "name").to_string();
        assert!(column.contains("descending") && column.contains("/keys?team=a&amp;sort=cost"));
        let other = query.sorted(Column::text("Name"), "name", "name").to_string();
        assert!(!other.contains("aria-sort") && other.contains("sort=-name"));
    }

    #[test]
    fn a_value_that_nobody_offers_is_still_shown() {
        let filter = Query::new("/requests", "model=gone").filter("model", offers());
        assert_eq!(filter.chosen, Some("gone".into()));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(name in "[a-z]{1,8}", value in "\\PC{1,40}") {
            let value = value.trim();
            let address = Query::new("/p", "").with(&name, value);
            let raw = address.split_once('?').map_or("", |(_, raw)| raw);
            let read = Query::new("/p", raw);
            let expected = (!value.is_empty()).then_some(value);
            if !CURSORS.contains(&name.as_str()) {
                prop_assert_eq!(read.get(&name), expected);
            }
        }

        #[test]
        fn any_query_can_be_read(raw in "\\PC{0,200}") {
            let _ = Query::new("/p", &raw).with("a", "b");
        }
    }
}
