//! Who is signed in: sessions on the server, known by the hash of a random token.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::PersonId;
use sluice_core::organisation::Actor;
use sluice_core::secret::Secret;
use sluice_storage::{
    AccountRecord, Member, PersonRecord, SessionRecord, SignInStep, StorageError, Store,
};
use subtle::ConstantTimeEq as _;

use super::{People, PeopleError, Token, Visitor, acting, deed};
use crate::admin::AdminError;
use crate::admin::permissions::Verb;
use crate::service_key::random_name;

/// How often a session's last use is written.
const SEEN_EVERY: Duration = Duration::from_secs(60);

/// When sessions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTimes {
    /// Without a request for so long.
    pub idle: Duration,
    /// So long after they began.
    pub longest: Duration,
}

impl Default for SessionTimes {
    fn default() -> Self {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        Self { idle: 12 * HOUR, longest: 7 * 24 * HOUR }
    }
}

impl SessionTimes {
    /// Whether a session is over.
    pub fn are_over(&self, session: &SessionRecord, now: UnixMillis) -> bool {
        // The end that was written holds, and a shorter one that was set since.
        let end = session.expires_at.min(session.created_at.plus(self.longest));
        now >= end || now >= session.seen_at.plus(self.idle)
    }

    /// The sessions of a person that are not over, the last one used first.
    pub(crate) async fn sessions_of(
        &self,
        store: &Store,
        person: &PersonId,
        now: UnixMillis,
    ) -> Result<Vec<SessionRecord>, StorageError> {
        let mut sessions = store.sessions_of(person).await?;
        sessions.retain(|session| !self.are_over(session, now));
        Ok(sessions)
    }

    /// Sessions that were last used at this moment or before are over.
    fn idle_since(&self, now: UnixMillis) -> UnixMillis {
        before(now, self.idle)
    }
}

fn before(now: UnixMillis, time: Duration) -> UnixMillis {
    UnixMillis(now.0.saturating_sub(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
}

/// A session that has just begun.
#[derive(Debug)]
pub struct Begun {
    /// What the cookie holds.
    pub token: Token,
    /// When the cookie ends.
    pub expires_at: UnixMillis,
    /// Who signed in.
    pub person: PersonRecord,
}

/// Somebody who is signed in, at one request.
#[derive(Debug, Clone)]
pub struct Session {
    /// Their session.
    pub record: SessionRecord,
    /// Who they are, as of now.
    pub person: PersonRecord,
    form_token: Secret<String>,
    pub(super) member: Member,
}

impl Session {
    /// As whom they act.
    pub fn actor(&self) -> Actor {
        acting(&self.member)
    }

    /// The account that they belong to.
    pub fn account(&self) -> &AccountRecord {
        &self.member.account
    }

    /// Whether there is anything to which they may do this: whether its page is worth showing. What
    /// exactly they may do it to is said by [`Admin::permissions`](crate::admin::Admin::permissions),
    /// and asked for again where it is done.
    pub fn may_at_all(&self, verb: Verb) -> bool {
        verb.is_open_to(&self.person)
    }

    /// What every form of theirs carries in a hidden field, against forms of other sites. It is
    /// derived from the session's token, and opens nothing.
    pub fn form_token(&self) -> &str {
        self.form_token.expose()
    }

    /// Whether a form carries the token of this session.
    pub fn is_own_form(&self, token: &str) -> bool {
        self.form_token.expose().as_bytes().ct_eq(token.as_bytes()).into()
    }
}

impl People {
    /// Who is signed in with what the cookie holds; nobody where there is no such session, or it is
    /// over, or they may not sign in any more.
    pub async fn session(
        &self,
        cookie: &str,
        now: UnixMillis,
    ) -> Result<Option<Session>, PeopleError> {
        let Some(mut session) = self.peek(cookie, now).await? else { return Ok(None) };
        if now.since(session.record.seen_at) >= SEEN_EVERY {
            self.store.note_seen(&session.record.id, now).await?;
            session.record.seen_at = now;
        }
        Ok(Some(session))
    }

    /// The same, without noting that the session was used: for what goes on by itself, such as a page
    /// that stays open. A session that nobody uses has to end, whatever a browser still asks.
    pub async fn peek(
        &self,
        cookie: &str,
        now: UnixMillis,
    ) -> Result<Option<Session>, PeopleError> {
        let Some(token) = Token::parse(cookie) else { return Ok(None) };
        let hash = self.sessions.hash(token.expose());
        let Some((record, member)) = self.store.session_of_hash(&hash).await? else {
            return Ok(None);
        };
        // A suspension ends sessions where it is written; this is for whatever else may come.
        if self.times.load().are_over(&record, now) || !member.is_active() {
            return Ok(None);
        }
        let form_token = Secret::new(self.forms.proof(token.expose()));
        Ok(Some(Session { record, person: member.person.clone(), form_token, member }))
    }

    /// How long sessions last.
    pub fn times(&self) -> SessionTimes {
        **self.times.load()
    }

    /// Takes new times over, for sessions that are there, too.
    pub fn set_times(&self, times: SessionTimes) {
        self.times.store(Arc::new(times));
    }

    /// Forgets sessions and links that have ended. They open nothing, forgotten or not.
    pub async fn tidy(&self, now: UnixMillis) -> Result<(), PeopleError> {
        let times = self.times.load();
        let begun_since = before(now, times.longest);
        Ok(self.store.forget_ended_sign_ins(now, times.idle_since(now), begun_since).await?)
    }

    /// What begins a session of `member`.
    pub(super) fn begin(
        &self,
        member: &Member,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(Begun, SignInStep), PeopleError> {
        let (token, times) = (Token::generate()?, self.times.load());
        let record = SessionRecord {
            id: format!("ses_{}", random_name(16)?),
            person_id: member.person.id.clone(),
            created_at: now,
            seen_at: now,
            expires_at: now.plus(times.longest),
            address: visitor.address_text(),
            browser: visitor.browser.clone(),
        };
        let expires_at = record.expires_at;
        let hash = self.sessions.hash(token.expose());
        let step = SignInStep::Begin(record, hash, times.idle_since(now));
        Ok((Begun { token, expires_at, person: member.person.clone() }, step))
    }

    /// Ends the session.
    pub async fn sign_out(
        &self,
        session: &Session,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        let record = &session.record;
        let step = SignInStep::End(record.person_id.clone(), record.id.clone());
        let details = visitor.details(json!({ "session": record.id }));
        let deeds = [deed("people.sign-out", &session.member, details, vec![step])];
        match self.carry_out(session.actor(), now, &[], &deeds).await {
            // It is over already.
            Err(error) if error.is_stale() => Ok(()),
            done => done,
        }
    }

    /// Their own sessions, the last one used first.
    pub async fn sessions(
        &self,
        session: &Session,
        now: UnixMillis,
    ) -> Result<Vec<SessionRecord>, PeopleError> {
        Ok(self.times().sessions_of(&self.store, &session.person.id, now).await?)
    }

    /// Ends one of their own sessions.
    pub async fn end_session(
        &self,
        session: &Session,
        id: &str,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        let step = SignInStep::End(session.person.id.clone(), id.to_owned());
        let id: String = id.chars().take(40).collect();
        let details = json!({ "session": id });
        let deeds = [deed("sessions.end", &session.member, details, vec![step])];
        match self.carry_out(session.actor(), now, &[], &deeds).await {
            Err(error) if error.is_stale() => Err(AdminError::NoSuchSession { id }.into()),
            done => done,
        }
    }

    /// Ends all of their own sessions but this one.
    pub async fn end_other_sessions(
        &self,
        session: &Session,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        let but = Some(session.record.id.clone());
        let step = SignInStep::EndAll(session.person.id.clone(), but);
        let details = json!({ "but": session.record.id });
        let deeds = [deed("sessions.end", &session.member, details, vec![step])];
        self.carry_out(session.actor(), now, &[], &deeds).await
    }
}
