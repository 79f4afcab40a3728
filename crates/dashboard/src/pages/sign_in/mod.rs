//! Signing in with an address and a password, and signing out.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::people::{Begun, CODE_PATIENCE, PeopleError, SignedIn};

use crate::components::Problem;
use crate::web::{
    Access, Answer, Ask, Route, cookie, get, page, page_with, post, see_other, sentence,
};
use view::SignIn;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/sign-in", Access::Anyone, |ask| Box::pin(show(ask))),
    post("/sign-in", Access::Anyone, |ask| Box::pin(enter(ask))),
    post("/sign-out", Access::SignedIn, |ask| Box::pin(leave(ask))),
];

async fn show(ask: Arc<Ask>) -> Answer {
    let next = next(ask.asked("next"));
    if ask.session.is_some() {
        return see_other(next);
    }
    let mut view = SignIn::new(next);
    view.notice = (ask.asked("out") == "1").then_some("You have signed out.");
    page(&ask, &view)
}

async fn enter(ask: Arc<Ask>) -> Answer {
    let next = next(ask.form.get("next"));
    let email = ask.form.get("email");
    let password = Secret::new(ask.form.raw("password").to_owned());
    let error = match ask.shared.people.sign_in(email, &password, &ask.visitor, ask.now).await {
        Ok(SignedIn::Done(begun)) => return signed_in(&ask, &begun, &next),
        Ok(SignedIn::CodeNeeded(challenge)) => {
            let sealed = challenge.sealed.expose();
            let step = cookie::Name::Step.set(sealed, Some(CODE_PATIENCE.as_secs()), ask.is_https);
            let query =
                form_urlencoded::Serializer::new(String::new()).append_pair("next", &next).finish();
            return Ok(see_other(format!("/sign-in/code?{query}"))?.cookie(step));
        }
        Err(error) => error,
    };
    let status = match &error {
        PeopleError::Refused => StatusCode::UNAUTHORIZED,
        PeopleError::Throttled { .. } => StatusCode::TOO_MANY_REQUESTS,
        PeopleError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        _ => return Err(error.into()),
    };
    let mut view = SignIn::new(next);
    view.email = view.email.value(email);
    view.problem = Some(Problem::new(sentence(&error)));
    page_with(status, &ask, &view)
}

async fn leave(ask: Arc<Ask>) -> Answer {
    ask.shared.people.sign_out(ask.session()?, &ask.visitor, ask.now).await?;
    Ok(see_other("/sign-in?out=1")?.cookie(cookie::Name::Session.remove(ask.is_https)))
}

/// On to `next`, with the cookie of a session that has just begun.
pub(crate) fn signed_in(ask: &Ask, begun: &Begun, next: &str) -> Answer {
    let seconds = begun.expires_at.since(ask.now).as_secs();
    let session = cookie::Name::Session.set(begun.token.expose(), Some(seconds), ask.is_https);
    let step = cookie::Name::Step.remove(ask.is_https);
    Ok(see_other(next)?.cookie(session).cookie(step))
}

/// Where to go after signing in: a page of ours, whatever an address says.
pub(crate) fn next(path: &str) -> String {
    let is_ours = path.starts_with('/')
        && !path.starts_with("//")
        && !path.contains('\\')
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && !path.starts_with("/sign-");
    if is_ours { path.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn nobody_is_sent_elsewhere() {
        assert_eq!(next("/keys?state=valid"), "/keys?state=valid");
        for path in
            ["", "//evil.example", "https://evil.example", "/\\evil", "/a\r\nb", "/sign-out"]
        {
            assert_eq!(next(path), "/", "{path}");
        }
    }
}
