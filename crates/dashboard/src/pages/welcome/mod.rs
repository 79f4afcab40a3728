//! The first start: the link that the server prints makes the owner.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::admin::AdminError;
use sluice_gateway::people::PeopleError;

use crate::components::Problem;
use crate::pages::sign_in::signed_in;
use crate::web::{Access, Answer, Ask, Route, get, page, page_with, post, sentence};
use view::Welcome;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/welcome/{token}", Access::Anyone, |ask| Box::pin(show(ask))),
    post("/welcome/{token}", Access::Anyone, |ask| Box::pin(accept(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    match ask.shared.people.link(ask.place("token"), ask.now).await {
        Ok(_) => page(&ask, &Welcome::new(Some(ask.path.clone()))),
        Err(PeopleError::LinkOver) => page_with(StatusCode::GONE, &ask, &Welcome::new(None)),
        Err(error) => Err(error.into()),
    }
}

async fn accept(ask: Arc<Ask>) -> Answer {
    let (email, password) = (ask.form.get("email"), ask.form.raw("password"));
    let password = Secret::new(password.to_owned());
    let (people, token) = (&ask.shared.people, ask.place("token"));
    let begun = match people.accept_welcome(token, email, &password, &ask.visitor, ask.now).await {
        Ok(begun) => return signed_in(&ask, &begun, "/"),
        Err(error) => error,
    };
    let mut view = Welcome::new(Some(ask.path.clone()));
    view.email = view.email.value(email);
    match begun {
        PeopleError::LinkOver => view.action = None,
        PeopleError::WeakPassword(why) => view.password = view.password.error(sentence(&why)),
        PeopleError::Admin(why @ AdminError::InvalidEmail(_)) => {
            view.email = view.email.error(sentence(&why));
        }
        PeopleError::Busy => view.problem = Some(Problem::new(sentence(&PeopleError::Busy))),
        other => return Err(other.into()),
    }
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}
