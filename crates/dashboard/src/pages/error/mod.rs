//! Pages for what cannot be shown.

mod view;

pub(crate) use view::{Failure, samples};

pub(crate) const ROUTES: &[crate::web::Route] = &[];
