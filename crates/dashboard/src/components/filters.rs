//! The bar of filters above a table: chips, each a list of values with their counts.
//!
//! Every choice is a link, so that the filters are in the address, are kept while paging, and work
//! without script.

use askama::Template;

use super::form::Csrf;
use super::text::Text;

/// The bar.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "components/filters.html")]
pub struct Filters {
    /// The page's own address, where the search goes.
    pub action: String,
    /// The page with its other filters.
    pub here: String,
    /// What the search field says while it is empty; empty where there is no search.
    pub search: &'static str,
    /// What was searched for.
    pub sought: Text,
    /// What a search has to keep: names and values of the other filters.
    pub kept: Vec<(String, Text)>,
    /// Where the search is sent as a form, and is in no address: the token of the form.
    pub csrf: Option<Csrf>,
    /// The chips.
    pub filters: Vec<Filter>,
    /// Where nothing is filtered; `None` where nothing is.
    pub clear: Option<String>,
}

impl Filters {
    /// What is sought is sent as a form.
    #[must_use]
    pub fn as_form(self, csrf: Csrf) -> Self {
        Self { csrf: Some(csrf), ..self }
    }
}

/// One chip.
#[derive(Debug, Clone)]
pub struct Filter {
    /// By what: `model`.
    pub label: &'static str,
    /// What was chosen; `None`: any.
    pub chosen: Option<Text>,
    /// Where it is not filtered by this.
    pub clear: String,
    /// What can be chosen.
    pub choices: Vec<Choice>,
}

/// A value to filter by.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The value.
    pub value: Text,
    /// How many rows have it, where that is known.
    pub count: Option<u64>,
    /// Where it is chosen.
    pub link: String,
    /// Whether it is.
    pub is_chosen: bool,
}
