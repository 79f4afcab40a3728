//! The table of routes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::routing::{MethodFilter, on};
use sluice_gateway::admin::Verb;

use super::reply::Answer;
use super::{Ask, Shared, door};

/// How a route is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A page.
    Get,
    /// A form.
    Post,
}

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Anyone,
    /// Whoever has signed in.
    SignedIn,
    /// Whoever's role may do this somewhere. Whether they may do it here is asked where it is done.
    May(Verb),
}

/// How large a form may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Largest {
    pub(crate) bytes: usize,
    /// What whoever sends a larger one is told.
    pub(crate) says: &'static str,
}

/// What holds for all forms that say nothing else.
pub(super) const FORM: Largest =
    Largest { bytes: 256 << 10, says: "The form is larger than 256 KiB." };

/// What a handler gives back.
pub(crate) type Handled = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// One page or form.
#[derive(Clone, Copy)]
pub struct Route {
    /// How it is asked.
    pub method: Method,
    /// As axum writes paths: `/keys/{id}`.
    pub path: &'static str,
    /// Who may ask.
    pub access: Access,
    pub(crate) largest: Largest,
    pub(crate) handler: fn(Arc<Ask>) -> Handled,
}

/// A page at `path`.
pub(crate) const fn get(
    path: &'static str,
    access: Access,
    handler: fn(Arc<Ask>) -> Handled,
) -> Route {
    Route { method: Method::Get, path, access, largest: FORM, handler }
}

/// A form that is sent to `path`.
pub(crate) const fn post(
    path: &'static str,
    access: Access,
    handler: fn(Arc<Ask>) -> Handled,
) -> Route {
    Route { method: Method::Post, path, access, largest: FORM, handler }
}

impl Route {
    /// Takes forms of another size.
    pub(crate) const fn up_to(self, largest: Largest) -> Self {
        Self { largest, ..self }
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} ({:?})", self.method, self.path, self.access)
    }
}

/// The routes of every page.
pub fn all() -> impl Iterator<Item = &'static Route> {
    crate::pages::ROUTES.iter().copied().flatten()
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in all() {
        let shared = shared.clone();
        let filter = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
        };
        let answer = move |places: RawPathParams, request: Request| {
            let shared = shared.clone();
            async move {
                let places = places.iter();
                let places = places.map(|(name, value)| (name.to_owned(), value.to_owned()));
                door::answer(shared, Some(route), places.collect(), request).await
            }
        };
        router = router.route(route.path, on(filter, answer));
    }
    let other = move |request: Request| {
        let shared = shared.clone();
        async move { door::answer(shared, None, Vec::new(), request).await }
    };
    router.method_not_allowed_fallback(other.clone()).fallback(other)
}
