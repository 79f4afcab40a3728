//! The API's interface as one table: endpoints, fields, headers and errors.
//!
//! The API routes by it, `GET /openapi.json` and the dashboard's help are made of it, and so are the
//! tables of `docs/api.md` (`cargo xtask api-docs`).

mod endpoints;
pub mod errors;
mod headers;
mod kind;
mod openapi;
mod schemas;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use sluice_core::organisation::KeyScope;

pub use endpoints::{BASE, ENDPOINTS};
pub use errors::{ERRORS, ErrorLine};
pub use headers::{BUDGET, EVERY_RESPONSE, FILTER, Header, ROUTER};
pub use kind::Kind;
pub use openapi::openapi;
pub use schemas::{Field, SCHEMAS, Schema, schema};

/// What an endpoint does. The API has a `match` over it without a catch-all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Asks a model.
    Chat,
    /// Lists the models.
    Models,
    /// Shows one of them.
    Model,
    /// Shows the key.
    Token,
    /// Shows the state of components and providers.
    Health,
}

/// One endpoint.
#[derive(Debug)]
pub struct Endpoint {
    /// What it does.
    pub operation: Operation,
    /// Its name among the operations of `openapi.json`, and the anchor on pages.
    pub id: &'static str,
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The whole path. A place such as `{id}` is its last part, and takes the rest of a path.
    pub path: &'static str,
    /// What it does, in a line: `lists the models that the key may use`.
    pub summary: &'static str,
    /// Whether it goes beyond the specified interface.
    pub is_extension: bool,
    /// What a key needs for it; `None`: any key will do.
    pub scope: Option<KeyScope>,
    /// What stands in the path and in the request's headers.
    pub parameters: &'static [Parameter],
    /// The schema of the body, and an example of it.
    pub request: Option<(&'static str, &'static str)>,
    /// The schema of the answer, and an example of it.
    pub answer: (&'static str, &'static str),
    /// The schema of the events of a streamed answer.
    pub events: Option<&'static str>,
    /// Headers that only its answers have.
    pub headers: &'static [&'static [Header]],
    /// Errors beyond those that every endpoint has.
    pub errors: &'static [ErrorLine],
}

/// Something that is sent beside the body.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// `path` or `header`.
    pub place: &'static str,
    /// What it says.
    pub says: &'static str,
}

impl Endpoint {
    /// The path below the base URL.
    pub fn short_path(&self) -> &'static str {
        self.path.strip_prefix(BASE).unwrap_or(self.path)
    }

    /// What stands at the path's place; empty where it has none. `None`: the path is another one.
    fn place_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path.split_once('{') {
            None => (self.path == path).then_some(""),
            Some((begin, _)) => path.strip_prefix(begin).filter(|rest| !rest.is_empty()),
        }
    }
}

/// The endpoint at `path`, and what stands at the path's place.
pub fn find(path: &str) -> Option<(&'static Endpoint, &str)> {
    ENDPOINTS.iter().find_map(|endpoint| Some((endpoint, endpoint.place_in(path)?)))
}

/// All endpoints in a line, for whoever asked for another.
pub fn listed() -> &'static str {
    static LISTED: LazyLock<String> = LazyLock::new(|| {
        let words = ENDPOINTS.iter().map(|it| format!("{} {}", it.method, it.path));
        words.collect::<Vec<_>>().join(", ")
    });
    &LISTED
}
