use askama::Template;
use sluice_gateway::people::SHORTEST_PASSWORD;

use crate::components::{Field, Kind, Problem};
use crate::layout::{Place, View};

/// The form that makes the owner.
#[derive(Template)]
#[template(path = "pages/welcome/page.html")]
pub(crate) struct Welcome {
    /// Where the form goes; `None`: the link was used or is too old.
    pub(super) action: Option<String>,
    pub(super) problem: Option<Problem>,
    pub(super) email: Field,
    pub(super) password: Field,
}

impl View for Welcome {
    fn title(&self) -> String {
        "Welcome".into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

impl Welcome {
    /// The form, before anybody has filled it in.
    pub(super) fn new(action: Option<String>) -> Self {
        Self {
            action,
            problem: None,
            email: Field::new(Kind::Email, "email", "E-mail address")
                .hint("You sign in with it. Nothing is sent to it.")
                .autocomplete("username")
                .required(),
            password: Field::new(Kind::Password, "password", "Password")
                .hint(format!(
                    "At least {SHORTEST_PASSWORD} characters. A few words are easier to remember than \
                     symbols."
                ))
                .autocomplete("new-password")
                .required(),
        }
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Welcome)> {
    let empty = || Welcome::new(Some("/welcome/w_8fK2".to_owned()));
    let wrong = |value| Welcome {
        email: empty().email.value(value).error(
            "This is no address: a part after the @ is missing. Write it like ada@example.org",
        ),
        password: empty().password.error("7 characters are too few. Use at least 12"),
        ..empty()
    };
    vec![
        ("empty", empty()),
        ("error", wrong("ada@")),
        ("markup", wrong("\"><script>alert(1)</script>@\u{202E}")),
        ("used", Welcome { action: None, ..empty() }),
    ]
}
