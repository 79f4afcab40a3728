//! How others sign in: invitations, resets, sessions. What people do for themselves is in
//! [`crate::people`].

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Role;
use sluice_storage::{
    Life, LinkPurpose, LinkRecord, PersonRecord, Record, SessionRecord, SignInDeed, SignInStep,
};

use crate::admin::find::{Kind, Which, called};
use crate::admin::lifecycle::usable;
use crate::admin::names::checked_email;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, Deed, NewPerson, View};
use crate::people::{INVITATION_LIFE, RESET_LIFE, SessionTimes, Token, link_hasher};
use crate::service_key::random_name;

/// Whom to invite.
#[derive(Debug, Clone, Default)]
pub struct Invitation {
    /// See [`NewPerson::account`].
    pub account: Option<String>,
    /// Their e-mail address. Where there is a person of this address who has never signed in, they
    /// get a new link.
    pub email: String,
    /// See [`NewPerson::name`].
    pub name: Option<String>,
    /// See [`NewPerson::role`]; `None`: developer, or what they are.
    pub role: Option<Role>,
    /// See [`NewPerson::teams`].
    pub teams: Vec<String>,
    /// See [`NewPerson::operator`].
    pub operator: bool,
}

/// Somebody who was invited.
#[derive(Debug)]
pub struct Invited {
    /// Who.
    pub person: PersonRecord,
    /// Whether they were added, too.
    pub is_new: bool,
    /// What opens the link. It is shown now, and never again.
    pub token: Token,
    /// When the link ends.
    pub expires_at: UnixMillis,
}

/// Somebody whose password and one-time codes were taken away.
#[derive(Debug)]
pub struct Reset {
    /// Who.
    pub person: PersonRecord,
    /// How many sessions ended.
    pub ended: usize,
    /// What opens the link to a new password. It is shown now, and never again.
    pub token: Token,
    /// When the link ends.
    pub expires_at: UnixMillis,
}

impl Admin<'_> {
    /// Invites somebody: adds them where they are not there, and makes a link with which they set
    /// their password. The links that they had no longer work.
    pub async fn invite(&self, wish: Invitation) -> Result<Invited, AdminError> {
        let view = self.view().await?;
        let text = wish.email.trim().to_owned();
        let which = Which { kind: Kind::Person, text, account: wish.account.clone() };
        let (view, person, is_new) = match view.find(&which) {
            Ok(Record::Person(person)) => {
                view.is_as_wished(&person, &wish)?;
                (view, person, false)
            }
            Err(AdminError::NoSuch { kind: Kind::Person, .. }) => {
                let wish = NewPerson {
                    account: wish.account,
                    email: wish.email,
                    name: wish.name,
                    role: wish.role.unwrap_or(Role::Developer),
                    teams: wish.teams,
                    operator: wish.operator,
                };
                let (view, person) = self.new_person(view, wish).await?;
                (view, person, true)
            }
            Err(error) => return Err(error),
            Ok(_) => return Err(AdminError::NoSuch { kind: Kind::Person, text: which.text }),
        };
        let record = Record::Person(person.clone());
        view.permits(Verb::InvitePerson, &record)?;
        usable(&record)?;
        let member = self.store.member(&person.id).await?;
        if member.is_some_and(|member| member.login.is_some()) {
            let state = "able to sign in already; a reset gives them a link to a new password";
            return Err(AdminError::AlreadySo { what: called(&record), state });
        }
        let (token, link) = self.link(&person, LinkPurpose::Invite)?;
        let expires_at = link.expires_at;
        let steps = vec![SignInStep::HasNoPassword(person.id.clone()), SignInStep::MakeLink(link)];
        let details = json!({ "email": person.email, "expires_at": expires_at.to_rfc3339() });
        let deed = done_to(Verb::InvitePerson, &person, details, steps);
        let deeds = match is_new {
            true => vec![Deed::create(Verb::CreatePerson, person.clone())],
            false => Vec::new(),
        };
        self.carry_out_with(&view, deeds, vec![deed]).await?;
        Ok(Invited { person, is_new, token, expires_at })
    }

    /// Takes somebody's password and one-time codes away, ends their sessions, and makes a link with
    /// which they set a new password.
    pub async fn reset(&self, which: &Which, times: SessionTimes) -> Result<Reset, AdminError> {
        let (view, person) = self.person(which).await?;
        view.permits(Verb::ResetPerson, &Record::Person(person.clone()))?;
        let ended = times.sessions_of(self.store, &person.id, self.now).await?.len();
        let (token, link) = self.link(&person, LinkPurpose::Reset)?;
        let expires_at = link.expires_at;
        let steps = vec![
            SignInStep::RemoveLogin(person.id.clone()),
            SignInStep::EndAll(person.id.clone(), None),
            SignInStep::MakeLink(link),
        ];
        let details = json!({ "email": person.email, "expires_at": expires_at.to_rfc3339(),
            "ended_sessions": ended });
        let deed = done_to(Verb::ResetPerson, &person, details, steps);
        self.carry_out_with(&view, Vec::new(), vec![deed]).await?;
        Ok(Reset { person, ended, token, expires_at })
    }

    /// Where somebody is signed in, the last one used first.
    pub async fn sessions(
        &self,
        which: &Which,
        times: SessionTimes,
    ) -> Result<(PersonRecord, Vec<SessionRecord>), AdminError> {
        let (view, person) = self.person(which).await?;
        if !view.may(Verb::SeeSessions, &Record::Person(person.clone())) {
            return Err(AdminError::Forbidden { verb: Verb::SeeSessions.as_str() });
        }
        let sessions = times.sessions_of(self.store, &person.id, self.now).await?;
        Ok((person, sessions))
    }

    /// Ends somebody's sessions, or the one that is named. Says how many ended.
    pub async fn end_sessions(
        &self,
        which: &Which,
        one: Option<&str>,
        times: SessionTimes,
    ) -> Result<(PersonRecord, usize), AdminError> {
        let (view, person) = self.person(which).await?;
        view.permits(Verb::EndSessions, &Record::Person(person.clone()))?;
        let sessions = times.sessions_of(self.store, &person.id, self.now).await?;
        let ended = match one {
            None => sessions.len(),
            Some(id) if sessions.iter().any(|session| session.id == id) => 1,
            Some(id) => {
                return Err(AdminError::NoSuchSession { id: id.chars().take(40).collect() });
            }
        };
        let step = match one {
            None => SignInStep::EndAll(person.id.clone(), None),
            Some(id) => SignInStep::End(person.id.clone(), id.to_owned()),
        };
        let details = json!({ "email": person.email, "session": one, "ended_sessions": ended });
        let deed = done_to(Verb::EndSessions, &person, details, vec![step]);
        self.carry_out_with(&view, Vec::new(), vec![deed]).await?;
        Ok((person, ended))
    }

    /// The first owner of all, who is operator, too; not stored yet.
    pub(crate) async fn first_owner(&self, email: &str) -> Result<PersonRecord, AdminError> {
        let email = checked_email(email)?;
        let account_id = self.default_account().await?.id;
        Ok(PersonRecord {
            id: format!("per_{}", random_name(16)?).into(),
            account_id,
            email,
            name: None,
            role: Role::Owner,
            operator: true,
            teams: Vec::new(),
            life: Life::from(self.now),
        })
    }

    async fn person(&self, which: &Which) -> Result<(View, PersonRecord), AdminError> {
        let view = self.view().await?;
        match view.find(which)? {
            Record::Person(person) => Ok((view, person)),
            _ => Err(AdminError::NoSuch { kind: which.kind, text: which.text.clone() }),
        }
    }

    fn link(
        &self,
        person: &PersonRecord,
        purpose: LinkPurpose,
    ) -> Result<(Token, LinkRecord), AdminError> {
        let token = Token::generate()?;
        let life = if purpose == LinkPurpose::Reset { RESET_LIFE } else { INVITATION_LIFE };
        let link = LinkRecord {
            hash: link_hasher(self.master_key).hash(token.expose()),
            person_id: Some(person.id.clone()),
            purpose,
            created_at: self.now,
            expires_at: self.now.plus(life),
            used_at: None,
        };
        Ok((token, link))
    }
}

impl View {
    /// Refuses an invitation of somebody who is there and is not what it says.
    fn is_as_wished(&self, person: &PersonRecord, wish: &Invitation) -> Result<(), AdminError> {
        let mut wished = self.teams_of(&wish.teams, &person.account_id)?.into_iter();
        let has_teams = wished.all(|team| person.teams.contains(&team));
        let has_role = wish.role.is_none_or(|role| role == person.role);
        let has_right = !wish.operator || person.operator;
        if has_teams && has_role && has_right {
            return Ok(());
        }
        let state = "there already with another role or other teams; change those first";
        Err(AdminError::AlreadySo { what: called(&Record::Person(person.clone())), state })
    }
}

fn done_to(
    verb: Verb,
    person: &PersonRecord,
    details: serde_json::Value,
    steps: Vec<SignInStep>,
) -> SignInDeed {
    let whom = Some((person.id.clone(), person.account_id.clone()));
    SignInDeed { verb: verb.as_str(), person: whom, details, steps }
}
