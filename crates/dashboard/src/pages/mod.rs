//! One folder for each page: `view.rs` has what is shown, with its sample states, `page.html` how, and
//! `mod.rs` the routes and what answers them. A page is one line here.

use crate::layout::{self, Frame, View};
use crate::sample::{self, Sample};
use crate::web::Route;

macro_rules! pages {
    ($($page:ident $name:literal $frame:ident,)*) => {
        $(pub(crate) mod $page;)*

        /// The routes of all pages.
        pub(crate) const ROUTES: &[&[Route]] = &[$($page::ROUTES,)*];

        /// Every page in every one of its sample states.
        pub fn samples() -> askama::Result<Vec<Sample>> {
            let pages = [$(of($name, &$frame(), &$page::samples())?,)*];
            Ok(pages.into_iter().flatten().collect())
        }
    };
}

// Each with the name of its samples, and whether one has to be signed in to see it.
pages! {
    welcome "welcome" outside,
    sign_in "sign-in" outside,
    sign_in_code "sign-in-code" outside,
    invite "invite" outside,
    home "home" inside,
    overview "overview" inside,
    requests "requests" inside,
    request "request" inside,
    live "live" inside,
    keys "keys" inside,
    key_new "key-new" inside,
    key "key" inside,
    key_change "key-change" inside,
    budgets "budgets" inside,
    budget_new "budget-new" inside,
    budget "budget" inside,
    policies "policies" inside,
    policy "policy" inside,
    organisation "organisation" inside,
    person "person" inside,
    group "group" inside,
    playground "playground" inside,
    models "models" inside,
    model "model" inside,
    routers "routers" inside,
    router "router" inside,
    providers "providers" inside,
    provider_new "provider-new" inside,
    provider_keys "provider-keys" inside,
    provider_key "provider-key" inside,
    audit "audit" inside,
    audit_entry "audit-entry" inside,
    settings "settings" inside,
    help "help" inside,
    find "find" inside,
    confirm "confirm" inside,
    error "error" inside,
}

fn outside() -> Frame {
    Frame::default()
}

fn inside() -> Frame {
    sample::frame()
}

fn of<V: View>(
    page: &'static str,
    frame: &Frame,
    states: &[(&'static str, V)],
) -> askama::Result<Vec<Sample>> {
    let sample = |(state, view): &(&'static str, V)| {
        Ok(Sample { page, state, html: layout::page(frame, view)? })
    };
    states.iter().map(sample).collect()
}
