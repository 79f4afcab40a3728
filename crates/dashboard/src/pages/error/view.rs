use askama::Template;

use crate::components::Text;
use crate::layout::{Place, View};
use crate::sample;

/// A page that cannot be shown.
#[derive(Template)]
#[template(path = "pages/error/page.html")]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) title: &'static str,
    /// What failed, what still works, and what to do, a paragraph each.
    pub(crate) says: Vec<String>,
    /// What was asked for.
    pub(crate) path: Option<Text>,
    /// Under which id the log has the cause.
    pub(crate) log_id: Option<String>,
    /// The way on: a verb and an address.
    pub(crate) action: (&'static str, &'static str),
}

impl View for Failure {
    fn title(&self) -> String {
        self.title.into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Failure)> {
    let make = |status, title, says: &[&str], action| Failure {
        status,
        title,
        says: says.iter().map(|line| (*line).to_owned()).collect(),
        path: None,
        log_id: None,
        action,
    };
    let missing = || {
        make(
            404,
            "There is no such page",
            &["Nothing is at this address, or it belongs to another account."],
            ("Home", "/"),
        )
    };
    let mut states: Vec<_> = sample::in_all_names(|names| Failure {
        path: Some(names.of("/keys/key_01m5zz")),
        ..missing()
    });
    states.push((
        "403",
        make(
            403,
            "You may not do this",
            &["Your role (developer) does not permit this. An owner or admin of your account can change your role."],
            ("Home", "/"),
        ),
    ));
    states.push(("expired", make(403, "This form is too old", &["It came from another session or from another site, so nothing was done. Open the page again and repeat it."], ("Home", "/"))));
    states.push(("500", Failure {
        log_id: Some("page_019ab3c4d5e60001".into()),
        ..make(500, "Something failed here", &[
            "Nothing was changed.",
            "The API goes on: requests are answered, and their records wait in the journal.",
        ], ("Home", "/"))
    }));
    states
}
