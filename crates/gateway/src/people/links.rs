//! Links that work once: the welcome of the first owner, invitations, resets.
//!
//! `/welcome/TOKEN`, and `/invite/TOKEN` for both of the others. Whoever uses one sets a password and
//! is signed in.

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Actor;
use sluice_core::secret::Secret;
use sluice_storage::{
    Change, LinkPurpose, LinkRecord, Member, PersonRecord, Record, SignInDeed, SignInStep,
};

use super::sign_in::session_id;
use super::{Begun, INVITATION_LIFE, People, PeopleError, Token, Visitor, acting, deed, password};

/// A link that can be used.
#[derive(Debug, Clone)]
pub struct OpenLink {
    /// What it is for.
    pub purpose: LinkPurpose,
    /// Whose it is; nobody's where it welcomes the first owner.
    pub person: Option<PersonRecord>,
    /// What their account is called.
    pub account: Option<String>,
}

impl OpenLink {
    /// Whether it sets the password of somebody who had one.
    pub fn is_reset(&self) -> bool {
        self.purpose == LinkPurpose::Reset
    }
}

impl People {
    /// The token of the link that welcomes the first owner, where there is nobody yet. The one before
    /// no longer works.
    pub async fn welcome(&self, now: UnixMillis) -> Result<Option<Token>, PeopleError> {
        if self.store.has_people().await? {
            return Ok(None);
        }
        let token = Token::generate()?;
        let link = LinkRecord {
            hash: self.links.hash(token.expose()),
            person_id: None,
            purpose: LinkPurpose::Welcome,
            created_at: now,
            expires_at: now.plus(INVITATION_LIFE),
            used_at: None,
        };
        let details = json!({ "expires_at": link.expires_at.to_rfc3339() });
        let steps = vec![SignInStep::MakeLink(link)];
        let deeds = [SignInDeed { verb: "people.welcome", person: None, details, steps }];
        self.carry_out(Actor::Sluice, now, &[], &deeds).await?;
        Ok(Some(token))
    }

    /// The link that a token opens.
    pub async fn link(&self, token: &str, now: UnixMillis) -> Result<OpenLink, PeopleError> {
        let (link, member) = self.open_link(token, now).await?;
        let (person, account) = match member {
            Some(Member { person, account, .. }) => (Some(person), Some(account.name)),
            None => (None, None),
        };
        Ok(OpenLink { purpose: link.purpose, person, account })
    }

    /// Makes the first owner, who is operator, too, and signs them in.
    pub async fn accept_welcome(
        &self,
        token: &str,
        email: &str,
        new_password: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<Begun, PeopleError> {
        let (link, _) = self.open_link(token, now).await?;
        if link.purpose != LinkPurpose::Welcome || self.store.has_people().await? {
            return Err(PeopleError::LinkOver);
        }
        let admin = self.admin(Actor::Sluice, now);
        let person = admin.first_owner(email).await?;
        password::checked(new_password, &person.email)?;
        let hash = self.passwords.hash(new_password).await?;
        let account = admin.account(person.account_id.as_str()).await?;
        let owner =
            Change { verb: "people.create", old: None, new: Record::Person(person.clone()) };
        let only = vec![SignInStep::IsOnly(person.id.clone())];
        let member = Member { person, account, login: None };
        self.accept(&link, &member, hash, only, visitor, now, &[owner]).await
    }

    /// Sets the password of whoever was invited or reset, and signs them in.
    pub async fn accept_link(
        &self,
        token: &str,
        new_password: &Secret<String>,
        visitor: &Visitor,
        now: UnixMillis,
    ) -> Result<Begun, PeopleError> {
        let (link, Some(member)) = self.open_link(token, now).await? else {
            return Err(PeopleError::LinkOver);
        };
        password::checked(new_password, &member.person.email)?;
        let hash = self.passwords.hash(new_password).await?;
        let id = member.person.id.clone();
        let first = vec![SignInStep::IsActive(id.clone()), SignInStep::HasNoPassword(id)];
        self.accept(&link, &member, hash, first, visitor, now, &[]).await
    }

    /// A link that can be used now, and whose it is.
    async fn open_link(
        &self,
        token: &str,
        now: UnixMillis,
    ) -> Result<(LinkRecord, Option<Member>), PeopleError> {
        let token = Token::parse(token).ok_or(PeopleError::LinkOver)?;
        let link = self.store.link_of_hash(&self.links.hash(token.expose())).await?;
        let link = link.filter(|link| link.is_open_at(now)).ok_or(PeopleError::LinkOver)?;
        let Some(id) = &link.person_id else { return Ok((link, None)) };
        let member = self.store.member(id).await?.filter(Member::is_active);
        member.map(|member| (link, Some(member))).ok_or(PeopleError::LinkOver)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one transaction, made of all that two forms say"
    )]
    async fn accept(
        &self,
        link: &LinkRecord,
        member: &Member,
        hash: Secret<String>,
        mut first: Vec<SignInStep>,
        visitor: &Visitor,
        now: UnixMillis,
        changes: &[Change],
    ) -> Result<Begun, PeopleError> {
        let by = format!("{} link", link.purpose.as_str());
        first.push(SignInStep::UseLink(link.hash, now));
        first.push(SignInStep::SetPassword(member.person.id.clone(), hash, now));
        let set = deed("people.set-password", member, visitor.details(json!({ "by": by })), first);
        let (begun, begin) = self.begin(member, visitor, now)?;
        let details = visitor.details(json!({ "by": by, "session": session_id(&begin) }));
        let signed_in = deed("people.sign-in", member, details, vec![begin]);
        let actor = if changes.is_empty() { acting(member) } else { Actor::Sluice };
        match self.carry_out(actor, now, changes, &[set, signed_in]).await {
            Err(error) if error.is_stale() => Err(PeopleError::LinkOver),
            done => done.map(|()| begun),
        }
    }
}
