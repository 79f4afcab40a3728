use askama::Template;

use crate::components::{Field, Kind, Problem};
use crate::layout::{Place, View};

/// The form of address and password.
#[derive(Template)]
#[template(path = "pages/sign_in/page.html")]
pub(crate) struct SignIn {
    /// Where to go afterwards.
    pub(super) next: String,
    /// What is worth knowing, such as that one signed out.
    pub(super) notice: Option<&'static str>,
    pub(super) problem: Option<Problem>,
    pub(super) email: Field,
    pub(super) password: Field,
}

impl View for SignIn {
    fn title(&self) -> String {
        "Sign in".into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

impl SignIn {
    /// The form, before anybody has filled it in.
    pub(super) fn new(next: String) -> Self {
        let email = Field::new(Kind::Email, "email", "E-mail address");
        let password = Field::new(Kind::Password, "password", "Password");
        Self {
            next,
            notice: None,
            problem: None,
            email: email.autocomplete("username").required(),
            password: password.autocomplete("current-password").required(),
        }
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, SignIn)> {
    let empty = || SignIn::new("/".to_owned());
    let failed = |email: &str, problem: &str| SignIn {
        email: empty().email.value(email),
        problem: Some(Problem::new(problem)),
        ..empty()
    };
    let wrong = "E-mail address and password do not fit; check both, or ask an administrator for a \
                 reset.";
    vec![
        ("empty", empty()),
        ("signed-out", SignIn { notice: Some("You have signed out."), ..empty() }),
        ("error", failed("ada@example.org", wrong)),
        (
            "throttled",
            failed("ada@example.org", "Too many failed attempts; try again in 14 minutes."),
        ),
        ("markup", failed("\"><img src=x onerror=alert(1)>\u{202E}@x", wrong)),
    ]
}
