//! What somebody who is signed in changes about how they sign in. Each asks for their password anew:
//! a browser that was left open must not be enough. Whoever has one-time codes gives one, too, to
//! change anything about them: the password alone must not be enough to lose them.

use std::time::Duration;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::secret::Secret;
use sluice_storage::SignInStep;

use super::throttle::Tried;
use super::{People, PeopleError, Session, Visitor, codes, deed, password};

/// How long setting codes up may take.
const SET_UP_PATIENCE: Duration = Duration::from_secs(30 * 60);

/// One-time codes that are about to be set up. Nothing of it is stored yet.
#[derive(Debug)]
pub struct CodeSetup {
    /// The secret, as people type it into an authenticator.
    pub secret: Secret<String>,
    /// `otpauth://…`, as an authenticator reads it off a QR code.
    pub url: Secret<String>,
    /// The same, sealed, for a hidden field of the form that gives the first code.
    pub sealed: Secret<String>,
}

/// How safe somebody's sign-in is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safety {
    /// When they set their password.
    pub password_set_at: Option<UnixMillis>,
    /// Since when they have one-time codes.
    pub codes_since: Option<UnixMillis>,
    /// How many recovery codes are left.
    pub recovery_codes_left: u64,
}

impl People {
    /// Changes their password, and ends their other sessions.
    pub async fn change_password(
        &self,
        session: &Session,
        current: &Secret<String>,
        new: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        let id = session.person.id.clone();
        let same = self.confirmed(session, current, visitor, now).await?;
        password::checked(new, &session.person.email)?;
        let hash = self.passwords.hash(new).await?;
        let steps = vec![
            same,
            SignInStep::SetPassword(id.clone(), hash, now),
            SignInStep::EndAll(id, Some(session.record.id.clone())),
        ];
        self.change(session, "people.set-password", "the old password", visitor, now, steps).await
    }

    /// Begins to set one-time codes up, where there are none. [`People::confirm_codes`] stores them.
    pub async fn set_up_codes(
        &self,
        session: &Session,
        current: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<CodeSetup, PeopleError> {
        has_no_codes(session)?;
        self.confirmed(session, current, visitor, now).await?;
        let secret = codes::new_secret()?;
        let mut text = now.plus(SET_UP_PATIENCE).0.to_be_bytes().to_vec();
        text.extend_from_slice(secret.expose());
        let text = Secret::new(text);
        Ok(CodeSetup {
            secret: Secret::new(codes::base32(secret.expose())),
            url: Secret::new(codes::otpauth_url(&session.person.email, secret.expose())),
            sealed: Secret::new(self.steps.seal(text.expose(), session.person.id.as_str())?),
        })
    }

    /// Stores one-time codes, of which the first was given, and returns new recovery codes, which are
    /// shown once.
    pub async fn confirm_codes(
        &self,
        session: &Session,
        sealed: &str,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<Vec<Secret<String>>, PeopleError> {
        has_no_codes(session)?;
        let id = session.person.id.clone();
        let opened = self.steps.open(sealed, id.as_str()).ok_or(PeopleError::StepOver)?;
        let (end, secret) = opened.expose().split_first_chunk().ok_or(PeopleError::StepOver)?;
        if now.0 >= u64::from_be_bytes(*end) {
            return Err(PeopleError::StepOver);
        }
        let Some(step) = codes::step_of(secret, code, now, None) else {
            return Err(PeopleError::WrongCode);
        };
        let kept = self.codes.seal(secret, id.as_str())?;
        let (shown, renewed) = self.new_recovery_codes(session)?;
        let none = SignInStep::HasNoCodes(id.clone());
        let steps = vec![none, SignInStep::SetCodes(id, kept, now, step), renewed];
        self.change(session, "people.set-codes", "an authenticator", visitor, now, steps).await?;
        Ok(shown)
    }

    /// Takes one-time codes and recovery codes away. `code` is one of either.
    pub async fn remove_codes(
        &self,
        session: &Session,
        current: &Secret<String>,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<(), PeopleError> {
        has_codes(session)?;
        let remove = SignInStep::RemoveCodes(session.person.id.clone());
        let verb = "people.remove-codes";
        self.change_codes(session, current, code, visitor, now, (verb, remove)).await
    }

    /// New recovery codes, which are shown once; the ones before no longer work. `code` is one of
    /// those, or a one-time code.
    pub async fn renew_recovery_codes(
        &self,
        session: &Session,
        current: &Secret<String>,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<Vec<Secret<String>>, PeopleError> {
        has_codes(session)?;
        let (shown, renewed) = self.new_recovery_codes(session)?;
        let verb = "people.renew-recovery-codes";
        self.change_codes(session, current, code, visitor, now, (verb, renewed)).await?;
        Ok(shown)
    }

    /// How safe their sign-in is.
    pub async fn safety(&self, session: &Session) -> Result<Safety, PeopleError> {
        let login = session.member.login.as_ref();
        let codes = login.and_then(|login| login.codes.as_ref());
        Ok(Safety {
            password_set_at: login.map(|login| login.password_set_at),
            codes_since: codes.map(|codes| codes.confirmed_at),
            recovery_codes_left: self.store.recovery_codes_left(&session.person.id).await?,
        })
    }

    /// Compares their password, and returns what makes sure that it still is.
    async fn confirmed(
        &self,
        session: &Session,
        current: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<SignInStep, PeopleError> {
        let attempt = self.attempt(&session.person.email, visitor, Tried::Password, now).await?;
        let hash = session.member.login.as_ref().map(|login| &login.password);
        let fits = self.passwords.fits(current, hash).await;
        let fits = fits.inspect_err(|_| self.throttle.not_judged(&attempt))?;
        match (fits, hash) {
            (true, Some(hash)) => {
                self.throttle.take_back(&attempt);
                Ok(SignInStep::HasPassword(session.person.id.clone(), hash.clone()))
            }
            _ => {
                let member = Some(&session.member);
                self.note_refused(member, "wrong password in the settings", visitor, now).await?;
                Err(PeopleError::WrongPassword)
            }
        }
    }

    /// Changes one-time codes that are on, for whoever gives the password and a code.
    async fn change_codes(
        &self,
        session: &Session,
        current: &Secret<String>,
        code: &str,
        visitor: &Visitor,
        now: UnixMillis,
        (verb, step): (&'static str, SignInStep),
    ) -> Result<(), PeopleError> {
        let same = self.confirmed(session, current, visitor, now).await?;
        let (attempt, by, used) = self.try_code(&session.member, code, visitor, now).await?;
        let done = self.change(session, verb, by, visitor, now, vec![same, used, step]).await;
        match done {
            // Used already, also at the same moment.
            Err(PeopleError::StepOver) => Err(PeopleError::WrongCode),
            Err(error) => {
                self.throttle.not_judged(&attempt);
                Err(error)
            }
            Ok(()) => {
                self.throttle.take_back(&attempt);
                Ok(())
            }
        }
    }

    fn new_recovery_codes(
        &self,
        session: &Session,
    ) -> Result<(Vec<Secret<String>>, SignInStep), PeopleError> {
        let shown = codes::recovery_codes()?;
        let plain = shown.iter().filter_map(|code| codes::recovery_code(code.expose()));
        let hashes = plain.map(|code| self.recovery_hash(&session.member, &code)).collect();
        Ok((shown, SignInStep::SetRecoveryCodes(session.person.id.clone(), hashes)))
    }

    async fn change(
        &self,
        session: &Session,
        verb: &'static str,
        by: &'static str,
        visitor: &Visitor,
        now: UnixMillis,
        steps: Vec<SignInStep>,
    ) -> Result<(), PeopleError> {
        let details = visitor.details(json!({ "by": by }));
        let deeds = [deed(verb, &session.member, details, steps)];
        match self.carry_out(session.actor(), now, &[], &deeds).await {
            Err(error) if error.is_stale() => Err(PeopleError::StepOver),
            done => done,
        }
    }
}

fn has_no_codes(session: &Session) -> Result<(), PeopleError> {
    match has_codes(session) {
        Ok(()) => Err(PeopleError::CodesAre("one-time codes are on; turn them off first")),
        Err(_) => Ok(()),
    }
}

fn has_codes(session: &Session) -> Result<(), PeopleError> {
    match session.member.login.as_ref().is_some_and(|login| login.codes.is_some()) {
        true => Ok(()),
        false => Err(PeopleError::CodesAre("one-time codes are not set up; set them up first")),
    }
}
