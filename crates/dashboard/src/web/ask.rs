//! What a page's handler is called with.

use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use sluice_core::clock::UnixMillis;
use sluice_gateway::admin::{Admin, Verb};
use sluice_gateway::limits::Zone;
use sluice_gateway::people::{Session, Visitor};

use super::{Failure, Fields, Shared, cookie};
use crate::components::{Csrf, Query};
use crate::format::Calendar;
use crate::layout::{Frame, Place, Reader, Theme};

/// A request that the door let in.
pub(crate) struct Ask {
    pub(crate) shared: Arc<Shared>,
    /// Who asks; `None`: somebody who has not signed in.
    pub(crate) session: Option<Session>,
    pub(crate) visitor: Visitor,
    /// Whether the browser came by HTTPS.
    pub(crate) is_https: bool,
    pub(crate) now: UnixMillis,
    /// The path, as it was asked for.
    pub(crate) path: String,
    /// What stood in the path's places, by name.
    pub(crate) places: Vec<(String, String)>,
    /// What stood behind the path.
    pub(crate) query: Query,
    pub(crate) form: Fields,
    pub(crate) headers: HeaderMap,
}

impl Ask {
    /// A parameter of the address; empty where there is none.
    pub(crate) fn asked(&self, name: &str) -> &str {
        self.query.get(name).unwrap_or_default()
    }

    /// What stood at this place of the path.
    pub(crate) fn place(&self, name: &str) -> &str {
        self.places.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value)
    }

    /// The address that was asked for, with its query.
    pub(crate) fn wanted(&self) -> String {
        self.query.here()
    }

    /// Who asks. The door lets nobody else reach a page that calls this.
    pub(crate) fn session(&self) -> Result<&Session, Failure> {
        self.session.as_ref().ok_or_else(|| Failure::sign_in(&self.path))
    }

    /// Administration, as whoever asks.
    pub(crate) fn admin(&self) -> Result<Admin<'_>, Failure> {
        Ok(self.shared.people.admin(self.session()?.actor(), self.now))
    }

    /// The time of the page, in the deployment's zone.
    pub(crate) fn calendar(&self) -> Calendar {
        Calendar::new(self.now, &self.shared.deployment.time_zone)
    }

    /// The deployment's zone.
    pub(crate) fn zone(&self) -> Zone {
        Zone::parse(&self.shared.deployment.time_zone).unwrap_or(Zone::UTC)
    }

    /// What proves that a form is ours.
    pub(crate) fn csrf(&self) -> Csrf {
        let token = self.session.as_ref().map(|session| session.form_token().to_owned());
        Csrf::new(token.unwrap_or_default())
    }

    /// The same for a form that is taken once.
    pub(crate) fn csrf_once(&self) -> Csrf {
        self.csrf().once(self.shared.once.id(self.now))
    }

    /// Takes such a form; one that was sent before is refused. Programs that send no id may repeat it.
    pub(crate) fn take_once(&self) -> Result<(), Failure> {
        let session = self.session()?;
        match self.form.some("once") {
            Some(id) if !self.shared.once.take(&session.record.id, id) => {
                let why = "This form was sent already, and what it made is there. Where its secret \
                           was not seen, revoke or rotate that key.";
                Err(Failure::Bad(StatusCode::CONFLICT, why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// A cookie of ours.
    pub(crate) fn cookie(&self, name: cookie::Name) -> Option<&str> {
        name.of(&self.headers, self.is_https)
    }

    /// What the session's cookie holds.
    pub(crate) fn session_token(&self) -> Option<&str> {
        self.cookie(cookie::Name::Session)
    }

    /// Light or dark, as somebody chose.
    pub(crate) fn theme(&self) -> Theme {
        match self.cookie(cookie::Name::Theme) {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        }
    }

    /// The frame of the page.
    pub(crate) fn frame(&self) -> Frame {
        let reader = self.session.as_ref().map(|session| Reader {
            name: session.person.shown_name().into(),
            account: session.account().name.clone().into(),
            role: session.person.role.as_str(),
            places: Place::seen_by(&session.person),
            failing_providers: self.shared.gateway.failing_providers(self.now),
            keys_to_rotate: match session.may_at_all(Verb::RotateKey) {
                true => self.shared.gateway.keys_to_rotate(&session.actor(), self.now),
                false => 0,
            },
            csrf: self.csrf(),
        });
        Frame { reader, theme: self.theme() }
    }
}
