//! The second step of signing in: a one-time code, or a recovery code.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::people::PeopleError;

use crate::components::Problem;
use crate::pages::sign_in::{next, signed_in};
use crate::web::{
    Access, Answer, Ask, Route, cookie, get, page, page_with, post, see_other, sentence,
};
use view::SignInCode;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/sign-in/code", Access::Anyone, |ask| Box::pin(show(ask))),
    post("/sign-in/code", Access::Anyone, |ask| Box::pin(enter(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    if ask.cookie(cookie::Name::Step).is_none() {
        return see_other("/sign-in");
    }
    let is_recovery = ask.asked("kind") == "recovery";
    page(&ask, &SignInCode::new(is_recovery, next(ask.asked("next"))))
}

async fn enter(ask: Arc<Ask>) -> Answer {
    let Some(sealed) = ask.cookie(cookie::Name::Step) else { return see_other("/sign-in") };
    let (people, code) = (&ask.shared.people, ask.form.get("code"));
    let next = next(ask.form.get("next"));
    let error = match people.sign_in_with_code(sealed, code, &ask.visitor, ask.now).await {
        Ok(begun) => return signed_in(&ask, &begun, &next),
        Err(error) => error,
    };
    let status = match &error {
        PeopleError::WrongCode => StatusCode::UNAUTHORIZED,
        PeopleError::Throttled { .. } => StatusCode::TOO_MANY_REQUESTS,
        PeopleError::StepOver | PeopleError::Refused => {
            return Ok(see_other("/sign-in")?.cookie(cookie::Name::Step.remove(ask.is_https)));
        }
        _ => return Err(error.into()),
    };
    let mut view = SignInCode::new(ask.form.get("kind") == "recovery", next);
    view.problem = Some(Problem::new(sentence(&error)));
    page_with(status, &ask, &view)
}
