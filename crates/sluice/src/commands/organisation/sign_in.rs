//! `sluice people invite`, `reset` and `sessions`: how people sign in.

use serde_json::json;
use sluice_core::organisation::Role;
use sluice_gateway::admin::{Invitation, Kind};
use sluice_storage::{PersonRecord, SessionRecord};

use super::Desk;
use crate::commands::records::{CommandError, or_dash, table};
use crate::links;

/// Whom to invite, as the command line says.
#[derive(Debug, clap::Args)]
pub(super) struct InviteArgs {
    /// Their e-mail address
    email: String,
    /// owner, admin, department-lead, developer (unless you say otherwise), auditor or billing
    #[arg(long, value_parser = super::role)]
    role: Option<Role>,
    /// A team's id or name; once for each of their teams
    #[arg(long = "team", value_name = "TEAM")]
    teams: Vec<String>,
    /// What they are called
    #[arg(long)]
    name: Option<String>,
    /// They see and change what concerns all accounts, too
    #[arg(long)]
    operator: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Whose password to take away.
#[derive(Debug, clap::Args)]
pub(super) struct ResetArgs {
    /// Their id or e-mail address
    person: String,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Whose sessions to list or end.
#[derive(Debug, clap::Args)]
pub(super) struct SessionsArgs {
    /// Their id or e-mail address
    person: String,
    /// Ends all of them, or the one that is named: --end, --end=SESSION
    #[arg(long, value_name = "SESSION", num_args = 0..=1, require_equals = true)]
    end: Option<Option<String>>,
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

impl Desk<'_> {
    pub(super) async fn invite(&mut self, args: InviteArgs) -> Result<(), CommandError> {
        let wish = Invitation {
            account: self.account.clone(),
            email: args.email,
            name: args.name,
            role: args.role,
            teams: args.teams,
            operator: args.operator,
        };
        let invited = self.admin.invite(wish).await?;
        let link = links::invite(&self.base, &invited.token);
        if args.json {
            let mut shown = self.as_json(&invited.person);
            shown["link"] = json!(link);
            shown["expires_at"] = json!(invited.expires_at.to_rfc3339());
            shown["is_new"] = json!(invited.is_new);
            writeln!(self.out, "{shown}")?;
            return Ok(());
        }
        self.say(&invited.person.clone().into(), "is invited")?;
        self.say_link(&link, invited.expires_at)
    }

    pub(super) async fn reset(&mut self, args: ResetArgs) -> Result<(), CommandError> {
        let which = self.which(Kind::Person, &args.person);
        let reset = self.admin.reset(&which, self.times).await?;
        let link = links::invite(&self.base, &reset.token);
        if args.json {
            let mut shown = self.as_json(&reset.person);
            shown["link"] = json!(link);
            shown["expires_at"] = json!(reset.expires_at.to_rfc3339());
            shown["ended_sessions"] = json!(reset.ended);
            writeln!(self.out, "{shown}")?;
            return Ok(());
        }
        let done = format!(
            "has no password and no one-time codes any more; {} of their sessions ended",
            reset.ended
        );
        self.say(&reset.person.clone().into(), &done)?;
        self.say_link(&link, reset.expires_at)
    }

    pub(super) async fn sessions(&mut self, args: SessionsArgs) -> Result<(), CommandError> {
        let which = self.which(Kind::Person, &args.person);
        if let Some(one) = args.end {
            let (person, ended) =
                self.admin.end_sessions(&which, one.as_deref(), self.times).await?;
            if args.json {
                let mut shown = self.as_json(&person);
                shown["ended_sessions"] = json!(ended);
                writeln!(self.out, "{shown}")?;
                return Ok(());
            }
            return self.say(&person.into(), &format!("is signed out: {ended} sessions ended"));
        }
        let (person, sessions) = self.admin.sessions(&which, self.times).await?;
        if args.json {
            for session in &sessions {
                writeln!(self.out, "{}", session_json(session))?;
            }
            return Ok(());
        }
        if sessions.is_empty() {
            return self.say(&person.into(), "is signed in nowhere");
        }
        let rows: Vec<[String; 6]> = sessions
            .iter()
            .map(|it| {
                [
                    it.id.clone(),
                    it.created_at.to_rfc3339(),
                    it.seen_at.to_rfc3339(),
                    it.expires_at.to_rfc3339(),
                    or_dash(it.address.as_deref()),
                    it.browser.clone(),
                ]
            })
            .collect();
        let heading = ["id", "began", "last used", "ends", "address", "browser"];
        Ok(table(self.out, heading, &rows)?)
    }

    /// The link alone is on standard output: whoever runs this in a script has nothing to cut.
    fn say_link(
        &mut self,
        link: &str,
        expires_at: sluice_core::clock::UnixMillis,
    ) -> Result<(), CommandError> {
        let until = expires_at.to_rfc3339();
        writeln!(
            self.err,
            "This link sets a password, once, until {until}. It is shown only now: send it to them."
        )?;
        writeln!(self.out, "{link}")?;
        Ok(())
    }

    fn as_json(&self, person: &PersonRecord) -> serde_json::Value {
        json!({ "id": person.id, "email": person.email, "role": person.role })
    }
}

fn session_json(session: &SessionRecord) -> serde_json::Value {
    json!({
        "id": session.id,
        "person_id": session.person_id,
        "created_at": session.created_at.to_rfc3339(),
        "seen_at": session.seen_at.to_rfc3339(),
        "expires_at": session.expires_at.to_rfc3339(),
        "address": session.address,
        "browser": session.browser,
    })
}
