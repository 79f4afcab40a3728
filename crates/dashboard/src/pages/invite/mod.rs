//! Links that set a password: an invitation, or a reset.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::people::PeopleError;

use crate::components::Problem;
use crate::pages::sign_in::signed_in;
use crate::web::{Access, Answer, Ask, Route, get, page_with, post, sentence};
use view::{Invite, Link};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/invite/{token}", Access::Anyone, |ask| Box::pin(show(ask))),
    post("/invite/{token}", Access::Anyone, |ask| Box::pin(accept(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    let link = link(&ask).await?;
    let status = if matches!(link, Link::Gone) { StatusCode::GONE } else { StatusCode::OK };
    page_with(status, &ask, &Invite::new(link))
}

async fn accept(ask: Arc<Ask>) -> Answer {
    let password = Secret::new(ask.form.raw("password").to_owned());
    let (people, token) = (&ask.shared.people, ask.place("token"));
    let error = match people.accept_link(token, &password, &ask.visitor, ask.now).await {
        Ok(begun) => return signed_in(&ask, &begun, "/"),
        Err(error) => error,
    };
    let mut view = Invite::new(link(&ask).await?);
    match error {
        PeopleError::LinkOver => view.link = Link::Gone,
        PeopleError::WeakPassword(why) => view.password = view.password.error(sentence(&why)),
        PeopleError::Busy => view.problem = Some(Problem::new(sentence(&PeopleError::Busy))),
        other => return Err(other.into()),
    }
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

async fn link(ask: &Ask) -> Result<Link, crate::web::Failure> {
    let open = match ask.shared.people.link(ask.place("token"), ask.now).await {
        Ok(open) => open,
        Err(PeopleError::LinkOver) => return Ok(Link::Gone),
        Err(error) => return Err(error.into()),
    };
    let action = ask.path.clone();
    Ok(match open.person {
        Some(person) if open.is_reset() => Link::Reset { action, email: person.email.into() },
        Some(person) => Link::Invitation {
            action,
            account: open.account.unwrap_or_default().into(),
            email: person.email.into(),
            role: person.role.as_str(),
        },
        None => Link::Gone,
    })
}
