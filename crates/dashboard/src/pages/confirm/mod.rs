//! Asking before something is done, for browsers without script.

mod view;

pub(crate) use view::{Question, samples};

pub(crate) const ROUTES: &[crate::web::Route] = &[];
