use askama::Template;

use crate::components::{Field, Kind, Problem};
use crate::layout::{Place, View};

/// The form of a one-time code.
#[derive(Template)]
#[template(path = "pages/sign_in_code/page.html")]
pub(crate) struct SignInCode {
    /// Where to go afterwards.
    pub(super) next: String,
    /// Whether a recovery code is asked for instead.
    pub(super) is_recovery: bool,
    pub(super) problem: Option<Problem>,
    pub(super) code: Field,
}

impl View for SignInCode {
    fn title(&self) -> String {
        "One-time code".into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

impl SignInCode {
    /// The form, before anybody has filled it in.
    pub(super) fn new(is_recovery: bool, next: String) -> Self {
        let code = if is_recovery {
            Field::new(Kind::Line, "code", "Recovery code").placeholder("7f3k-9q2m")
        } else {
            Field::new(Kind::Code, "code", "Code")
                .autocomplete("one-time-code")
                .hint("Six digits from your authenticator.")
        };
        Self { next, is_recovery, problem: None, code: code.required() }
    }

    /// The same form for the other kind of code.
    fn other(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.is_recovery {
            query.append_pair("kind", "recovery");
        }
        format!("/sign-in/code?{}", query.append_pair("next", &self.next).finish())
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, SignInCode)> {
    let empty = |is_recovery| SignInCode::new(is_recovery, "/".to_owned());
    let wrong = "`code` does not fit; wait for the next one of your authenticator, or give a recovery \
                 code that was not used.";
    let error = SignInCode { problem: Some(Problem::new(wrong)), ..empty(false) };
    vec![("empty", empty(false)), ("error", error), ("recovery", empty(true))]
}
