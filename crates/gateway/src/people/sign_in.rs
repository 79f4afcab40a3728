//! Signing in: a password, then a code where codes are set up.
//!
//! Whoever is not there is answered like whoever gave a wrong password, after the same work: the same
//! reads, as many hashes, an entry in the trail.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_core::secret::Secret;
use sluice_storage::{Member, SignInDeed, SignInStep};

use super::throttle::{Attempt, Tried};
use super::{Begun, People, PeopleError, Visitor, acting, codes, deed};
use crate::guard::network;

/// How long a code may come after its password.
pub const CODE_PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The longest e-mail address, in bytes.
const LONGEST_EMAIL: usize = 254;

/// How far somebody came with their password.
#[derive(Debug)]
pub enum SignedIn {
    /// They are signed in.
    Done(Begun),
    /// A code is needed.
    CodeNeeded(Challenge),
}

/// That somebody gave their password, sealed: the browser brings it back with the code.
#[derive(Debug)]
pub struct Challenge {
    /// For a cookie. It opens nothing without a code.
    pub sealed: Secret<String>,
}

/// What comparing a password with those of an e-mail address came to.
struct Judged {
    /// Who has both; else the first of the address, where there is anybody.
    member: Option<Member>,
    fits: bool,
}

impl People {
    /// Signs somebody in by e-mail address and password.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<SignedIn, PeopleError> {
        let email = email.trim().to_lowercase();
        // No person has such an address: nothing is given away.
        if email.is_empty() || email.len() > LONGEST_EMAIL {
            return Err(PeopleError::Refused);
        }
        let attempt = self.attempt(&email, visitor, Tried::Password, now).await?;
        let judged = self.judge(&email, password).await;
        let judged = judged.inspect_err(|_| self.throttle.not_judged(&attempt))?;
        let (true, Some(member)) = (judged.fits, &judged.member) else {
            let reason = if judged.member.is_some() { "wrong password" } else { "unknown" };
            return self.refuse(judged.member.as_ref(), reason, visitor, now).await;
        };
        if !member.is_active() {
            return self.refuse(Some(member), "suspended", visitor, now).await;
        }
        if member.login.as_ref().is_some_and(|login| login.codes.is_some()) {
            self.throttle.take_back(&attempt);
            return Ok(SignedIn::CodeNeeded(self.challenge(member, now)?));
        }
        let begun = self.begin_session(member, visitor, now, "password", Vec::new()).await;
        match begun {
            // Reset, changed or suspended at the same moment.
            Err(error) if error.is_stale() => {
                self.refuse(Some(member), "changed meanwhile", visitor, now).await
            }
            Err(error) => {
                self.throttle.not_judged(&attempt);
                Err(error)
            }
            Ok(begun) => {
                self.throttle.signed_in(attempt);
                Ok(SignedIn::Done(begun))
            }
        }
    }

    /// Compares a password with those of everybody who has this e-mail address.
    ///
    /// An address may be somebody in several accounts. Those who can sign in come before those who
    /// cannot, and the oldest first. How long it takes says nothing about an address: for each, as many
    /// passwords are compared as the address has people that has the most of all.
    async fn judge(&self, email: &str, password: &Secret<String>) -> Result<Judged, PeopleError> {
        let most = self.store.most_namesakes().await?;
        let mut members = self.store.members_of_email(email).await?;
        members.sort_by_key(|member| !member.is_active());
        let mut found = None;
        for place in 0..most.max(members.len()).max(1) {
            let member = members.get(place);
            if member.is_none() {
                // The same reads as for somebody who is there.
                self.store.member(&"per_nobody".into()).await?;
            }
            let hash = member.and_then(|it| it.login.as_ref()).map(|login| &login.password);
            if self.passwords.fits(password, hash).await? && found.is_none() {
                found = Some(place);
            }
        }
        let member = members.into_iter().nth(found.unwrap_or(0));
        Ok(Judged { member, fits: found.is_some() })
    }

    /// Signs in whoever gave their password before, by a one-time code or a recovery code.
    pub async fn sign_in_with_code(
        &self,
        challenge: &str,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<Begun, PeopleError> {
        let member = self.challenged(challenge, now).await?;
        let tried = self.try_code(&member, code, visitor, now).await;
        let (attempt, how, step) = match tried {
            Err(PeopleError::WrongCode) => return self.refuse_code(&member, visitor, now).await,
            tried => tried?,
        };
        match self.begin_session(&member, visitor, now, how, vec![step]).await {
            // Used already, also at the same moment.
            Err(error) if error.is_stale() => self.refuse_code(&member, visitor, now).await,
            Err(error) => {
                self.throttle.not_judged(&attempt);
                Err(error)
            }
            Ok(begun) => {
                self.throttle.signed_in(attempt);
                Ok(begun)
            }
        }
    }

    /// Begins an attempt with a one-time code or a recovery code: what it is, and the step that uses
    /// it, which fails where it was used already. A code that is wrong counts as failed.
    pub(super) async fn try_code(
        &self,
        member: &Member,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(Attempt, &'static str, SignInStep), PeopleError> {
        let (email, id) = (&member.person.email, member.person.id.clone());
        if let Some(code) = codes::recovery_code(code) {
            let attempt = self.attempt(email, visitor, Tried::RecoveryCode, now).await?;
            let hash = self.recovery_hash(member, &code);
            return Ok((attempt, "recovery code", SignInStep::UseRecoveryCode(id, hash, now)));
        }
        let attempt = self.attempt(email, visitor, Tried::Code, now).await?;
        let step = self.step_of(member, code, now);
        let step = step.inspect_err(|_| self.throttle.not_judged(&attempt))?;
        let step = step.ok_or(PeopleError::WrongCode)?;
        Ok((attempt, "one-time code", SignInStep::UseCode(id, step)))
    }

    /// Begins an attempt, unless there were too many. The first refusal of a window leaves an entry.
    pub(super) async fn attempt(
        &self,
        email: &str,
        visitor: &Visitor,
        tried: Tried,
        now: UnixMillis,
    ) -> Result<Attempt, PeopleError> {
        if let Some(address) = visitor.address
            && !self.throttle.is_familiar(email, address)
            && self.has_session_at(email, address).await?
        {
            self.throttle.remember(email, address);
        }
        let refused = match self.throttle.begin(email, visitor.address, tried, now) {
            Ok(attempt) => return Ok(attempt),
            Err(refused) => refused,
        };
        if refused.is_first {
            let address = visitor.address.map(tracing::field::display);
            tracing::warn!(address, "too many sign-ins of people failed; more are refused");
            let known = self.store.members_of_email(email).await?.into_iter().next();
            self.note_refused(known.as_ref(), "too many attempts", visitor, now).await?;
        }
        Err(PeopleError::Throttled { retry_after: refused.retry_after })
    }

    /// Whether anybody of this e-mail address has a session from this address, as from before a
    /// restart, or at another server of the deployment.
    async fn has_session_at(&self, email: &str, address: IpAddr) -> Result<bool, PeopleError> {
        let known = self.store.session_addresses(email).await?;
        let mut known = known.iter().filter_map(|text| text.parse().ok()).map(network);
        Ok(known.any(|known| known == network(address)))
    }

    /// The step whose code was given.
    fn step_of(
        &self,
        member: &Member,
        code: &str,
        now: UnixMillis,
    ) -> Result<Option<u64>, PeopleError> {
        let Some(codes) = member.login.as_ref().and_then(|login| login.codes.as_ref()) else {
            return Ok(None);
        };
        let Some(secret) = self.codes.open(&codes.secret, member.person.id.as_str()) else {
            tracing::error!("the secret of somebody's one-time codes cannot be opened");
            return Err(PeopleError::Failed("a secret in the database is damaged".to_owned()));
        };
        Ok(codes::step_of(secret.expose(), code, now, codes.last_step))
    }

    pub(super) fn recovery_hash(
        &self,
        member: &Member,
        code: &Secret<String>,
    ) -> sluice_storage::KeyHash {
        self.recovery.hash(&format!("{} {}", member.person.id, code.expose()))
    }

    /// Begins a session of somebody whose password is still the one that was compared.
    async fn begin_session(
        &self,
        member: &Member,
        visitor: &Visitor,
        now: UnixMillis,
        how: &'static str,
        more: Vec<SignInStep>,
    ) -> Result<Begun, PeopleError> {
        let id = member.person.id.clone();
        let (begun, begin) = self.begin(member, visitor, now)?;
        let mut steps = vec![SignInStep::IsActive(id.clone())];
        let password = member.login.as_ref().map(|login| login.password.clone());
        steps.extend(password.map(|password| SignInStep::HasPassword(id, password)));
        steps.extend(more);
        let details = visitor.details(json!({ "by": how, "session": session_id(&begin) }));
        steps.push(begin);
        let deeds = [deed("people.sign-in", member, details, steps)];
        self.carry_out(acting(member), now, &[], &deeds).await?;
        Ok(begun)
    }

    async fn refuse<T>(
        &self,
        member: Option<&Member>,
        reason: &'static str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<T, PeopleError> {
        self.note_refused(member, reason, visitor, now).await?;
        Err(PeopleError::Refused)
    }

    async fn refuse_code<T>(
        &self,
        member: &Member,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<T, PeopleError> {
        self.note_refused(Some(member), "wrong code", visitor, now).await?;
        Err(PeopleError::WrongCode)
    }

    pub(super) async fn note_refused(
        &self,
        member: Option<&Member>,
        reason: &'static str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        // What was typed is not kept: it may be a password in the wrong field.
        let details = visitor.details(json!({ "reason": reason }));
        let whom = member.map(|it| (it.person.id.clone(), it.person.account_id.clone()));
        let verb = "people.sign-in-refused";
        let deeds = [SignInDeed { verb, person: whom, details, steps: Vec::new() }];
        self.carry_out(Actor::Nobody, now, &[], &deeds).await
    }

    fn challenge(&self, member: &Member, now: UnixMillis) -> Result<Challenge, PeopleError> {
        let set_at = member.login.as_ref().map_or(0, |login| login.password_set_at.0);
        let text = format!("{} {} {set_at}", member.person.id, now.plus(CODE_PATIENCE).0);
        Ok(Challenge { sealed: Secret::new(self.steps.seal(text.as_bytes(), "code")?) })
    }

    /// Whose password was given, where that holds.
    async fn challenged(&self, sealed: &str, now: UnixMillis) -> Result<Member, PeopleError> {
        let Some((id, set_at)) = self.read_challenge(sealed, now) else {
            return Err(PeopleError::StepOver);
        };
        let member = self.store.member(&id.into()).await?;
        let is_same =
            |it: &Member| it.login.as_ref().is_some_and(|it| it.password_set_at.0 == set_at);
        member.filter(|it| it.is_active() && is_same(it)).ok_or(PeopleError::StepOver)
    }

    fn read_challenge(&self, sealed: &str, now: UnixMillis) -> Option<(String, u64)> {
        let opened = self.steps.open(sealed, "code")?;
        let mut words = std::str::from_utf8(opened.expose()).ok()?.split(' ');
        let (id, end, set_at) = (words.next()?, words.next()?, words.next()?);
        (now.0 < end.parse().ok()?).then_some(())?;
        Some((id.to_owned(), set_at.parse().ok()?))
    }
}

/// The name of the session that a step begins.
pub(super) fn session_id(step: &SignInStep) -> Option<&str> {
    match step {
        SignInStep::Begin(session, ..) => Some(&session.id),
        _ => None,
    }
}
