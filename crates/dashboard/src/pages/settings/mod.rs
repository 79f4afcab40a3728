//! One's own account: password, one-time codes, sessions, colours.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::SessionRecord;
use sluice_gateway::people::{PeopleError, SHORTEST_PASSWORD};

use crate::components::{Markup, Moment, Problem};
use crate::format::Calendar;
use crate::layout::Head;
use crate::web::{
    Access, Answer, Ask, Failure, Route, cookie, get, page, page_with, post, see_other, sentence,
};
use view::{Codes, Settings, password};

pub(crate) use view::{SessionRow, samples};

pub(crate) const ROUTES: &[Route] = &[
    get("/settings", Access::SignedIn, |ask| Box::pin(show(ask))),
    post("/settings/password", Access::SignedIn, |ask| Box::pin(change_password(ask))),
    post("/settings/codes", Access::SignedIn, |ask| Box::pin(set_up_codes(ask))),
    post("/settings/codes/confirm", Access::SignedIn, |ask| Box::pin(confirm_codes(ask))),
    post("/settings/codes/recovery", Access::SignedIn, |ask| Box::pin(renew_recovery(ask))),
    post("/settings/codes/off", Access::SignedIn, |ask| Box::pin(remove_codes(ask))),
    post("/settings/sessions/end-others", Access::SignedIn, |ask| Box::pin(end_others(ask))),
    post("/settings/sessions/{id}/end", Access::SignedIn, |ask| Box::pin(end_session(ask))),
    post("/settings/display", Access::SignedIn, |ask| Box::pin(change_display(ask))),
];

/// How long the choice of colours is kept, in seconds.
const YEAR: u64 = 365 * 24 * 60 * 60;

async fn show(ask: Arc<Ask>) -> Answer {
    let mut view = view(&ask).await?;
    view.notice = match ask.asked("done") {
        "password" => {
            Some(("good", "The password is changed. All other sessions have ended.".into()))
        }
        "codes-off" => Some(("good", "One-time codes are off.".into())),
        "sessions" => Some(("good", "Ended.".into())),
        _ => None,
    };
    page(&ask, &view)
}

/// The page as things stand.
async fn view(ask: &Ask) -> Result<Settings, Failure> {
    let (people, session) = (&ask.shared.people, ask.session()?);
    let calendar = ask.calendar();
    let safety = people.safety(session).await?;
    let codes = match safety.codes_since {
        None => Codes::Off,
        Some(since) => {
            Codes::On { since: Moment::day(&calendar, since), left: safety.recovery_codes_left }
        }
    };
    let sessions = people.sessions(session, ask.now).await?;
    let row = |it| SessionRow::of(it, &session.record.id, &calendar);
    let person = &session.person;
    let operator = if person.operator { ", operator" } else { "" };
    let stamp = Markup::sentence(
        &format!("{{}} · {} of {{}}{operator}", person.role.as_str()),
        &[&person.email.as_str().into(), &session.account().name.as_str().into()],
    );
    Ok(Settings {
        head: Head::new("Settings").stamp(stamp),
        notice: None,
        password: vec![
            password("current", "Password as it is", "current-password"),
            password("new", "New password", "new-password")
                .hint(format!("At least {SHORTEST_PASSWORD} characters. All other sessions end.")),
        ],
        problem: None,
        codes,
        confirm: password("current", "Your password", "current-password").id("codes-current"),
        codes_problem: None,
        sessions: sessions.into_iter().map(row).collect(),
        theme: ask.theme(),
        csrf: ask.csrf(),
    })
}

impl SessionRow {
    /// The row of a session; `own` is the one that asks.
    pub(crate) fn of(record: SessionRecord, own: &str, calendar: &Calendar) -> Self {
        Self {
            is_this: record.id == own,
            id: record.id,
            browser: browser(&record.browser).into(),
            address: record.address.unwrap_or_else(|| "unknown".to_owned()).into(),
            began: Moment::minute(calendar, record.created_at),
            seen: Moment::ago(calendar, record.seen_at),
        }
    }
}

/// A browser's and a system's name out of what a browser calls itself; all of that where neither is
/// known.
fn browser(agent: &str) -> String {
    // Browsers name those they are compatible with, too: the first that fits is the one.
    const BROWSERS: [(&str, &str); 5] = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 6] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Mac OS X", "macOS"),
        ("Windows", "Windows"),
        ("Linux", "Linux"),
    ];
    let find = |table: &[(&str, &'static str)]| {
        table.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ if agent.is_empty() => "unknown".to_owned(),
        _ => agent.to_owned(),
    }
}

fn secret(ask: &Ask, name: &str) -> Secret<String> {
    Secret::new(ask.form.raw(name).to_owned())
}

async fn change_password(ask: Arc<Ask>) -> Answer {
    let (current, new) = (secret(&ask, "current"), secret(&ask, "new"));
    let (people, session) = (&ask.shared.people, ask.session()?);
    let error = match people.change_password(session, &current, &new, &ask.visitor, ask.now).await {
        Ok(()) => return see_other("/settings?done=password"),
        Err(error) => error,
    };
    let mut view = view(&ask).await?;
    let mut fields = view.password.into_iter();
    let fields = (fields.next(), fields.next());
    let (current, new) = match error {
        PeopleError::WrongPassword => (fields.0.map(|it| it.error(WRONG)), fields.1),
        PeopleError::WeakPassword(why) => (fields.0, fields.1.map(|it| it.error(sentence(&why)))),
        other => {
            view.problem = Some(Problem::new(problem(other)?));
            fields
        }
    };
    view.password = current.into_iter().chain(new).collect();
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

const WRONG: &str = "This is not your password. Nothing was changed.";

const WRONG_CODE: &str = "This code does not fit. Wait for the next one of your authenticator, or give a recovery \
                          code that was not used. Nothing was changed.";

/// What to say of a refusal that is no field's.
fn problem(error: PeopleError) -> Result<String, Failure> {
    match error {
        PeopleError::WrongPassword => Ok(WRONG.to_owned()),
        PeopleError::WrongCode => Ok(WRONG_CODE.to_owned()),
        PeopleError::Throttled { .. }
        | PeopleError::Busy
        | PeopleError::StepOver
        | PeopleError::CodesAre(_) => Ok(sentence(&error)),
        other => Err(other.into()),
    }
}

async fn refused(ask: &Ask, error: PeopleError) -> Answer {
    let mut view = view(ask).await?;
    view.codes_problem = Some(Problem::new(problem(error)?));
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

async fn set_up_codes(ask: Arc<Ask>) -> Answer {
    let (people, session) = (&ask.shared.people, ask.session()?);
    let current = secret(&ask, "current");
    match people.set_up_codes(session, &current, &ask.visitor, ask.now).await {
        Err(error) => refused(&ask, error).await,
        Ok(setup) => {
            let mut view = view(&ask).await?;
            view.codes = Codes::SettingUp {
                secret: setup.secret.expose().clone().into(),
                url: setup.url.expose().clone(),
                sealed: setup.sealed.expose().clone(),
                field: view::code(),
            };
            page(&ask, &view)
        }
    }
}

async fn confirm_codes(ask: Arc<Ask>) -> Answer {
    let (people, session) = (&ask.shared.people, ask.session()?);
    let (sealed, code) = (ask.form.raw("sealed"), ask.form.get("code"));
    let error = match people.confirm_codes(session, sealed, code, &ask.visitor, ask.now).await {
        Ok(codes) => return recovery_codes(&ask, &codes).await,
        Err(error) => error,
    };
    let mut view = view(&ask).await?;
    match error {
        PeopleError::WrongCode => {
            let wrong = "This code is not the one of now. Wait for the next one, and check the clock \
                         of your phone.";
            view.codes = Codes::SettingUp {
                // They are in the authenticator by now; whoever wants to see them begins again.
                secret: crate::components::Text::default(),
                url: String::new(),
                sealed: sealed.to_owned(),
                field: view::code().error(wrong),
            };
        }
        other => view.codes_problem = Some(Problem::new(problem(other)?)),
    }
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

async fn recovery_codes(ask: &Ask, codes: &[Secret<String>]) -> Answer {
    let mut view = view(ask).await?;
    view.codes = Codes::Recovery(codes.iter().map(|code| code.expose().clone()).collect());
    view.notice = Some((
        "good",
        "One-time codes are on. Keep the recovery codes where your phone is not.".into(),
    ));
    page(ask, &view)
}

async fn renew_recovery(ask: Arc<Ask>) -> Answer {
    let (people, session) = (&ask.shared.people, ask.session()?);
    let (current, code) = (secret(&ask, "current"), ask.form.get("code"));
    match people.renew_recovery_codes(session, &current, code, &ask.visitor, ask.now).await {
        Ok(codes) => recovery_codes(&ask, &codes).await,
        Err(error) => refused(&ask, error).await,
    }
}

async fn remove_codes(ask: Arc<Ask>) -> Answer {
    let (people, session) = (&ask.shared.people, ask.session()?);
    let (current, code) = (secret(&ask, "current"), ask.form.get("code"));
    match people.remove_codes(session, &current, code, &ask.visitor, ask.now).await {
        Ok(()) => see_other("/settings?done=codes-off"),
        Err(error) => refused(&ask, error).await,
    }
}

async fn end_others(ask: Arc<Ask>) -> Answer {
    ask.shared.people.end_other_sessions(ask.session()?, ask.now).await?;
    see_other("/settings?done=sessions")
}

async fn end_session(ask: Arc<Ask>) -> Answer {
    ask.shared.people.end_session(ask.session()?, ask.place("id"), ask.now).await?;
    see_other("/settings?done=sessions")
}

async fn change_display(ask: Arc<Ask>) -> Answer {
    let line = match ask.form.get("theme") {
        theme @ ("light" | "dark") => cookie::Name::Theme.set(theme, Some(YEAR), ask.is_https),
        _ => cookie::Name::Theme.remove(ask.is_https),
    };
    Ok(see_other("/settings")?.cookie(line))
}

#[cfg(test)]
mod tests {
    use super::browser;

    #[test]
    fn browsers_are_named_in_few_words() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.1", "curl/8.1"),
            ("", "unknown"),
        ] {
            assert_eq!(browser(agent), name);
        }
    }
}
