//! `sluice departments`, `teams`, `people` and `services`: who belongs where.
//!
//! Each has its own `create` and `set`; listing, showing, suspending, resuming and removing are the
//! same for all.

mod show;
mod sign_in;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Role;
use sluice_gateway::admin::{
    Admin, KeysAnswer, Kind, NewDepartment, NewPerson, NewService, NewTeam, PersonChange,
    ServiceChange, TeamChange, Which, name_of,
};
use sluice_gateway::people::SessionTimes;
use sluice_storage::Record;

use super::Exit;
use super::records::{CommandError, Records, Setting, one_of, setting, settle, yes_or_no};
use crate::config::Settings;
use crate::links;

/// What all of these commands take.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The account's id or name, where there are several
    #[arg(long, global = true)]
    account: Option<String>,
}

/// Departments of an account.
#[derive(Debug, Args)]
pub(crate) struct DepartmentsArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    command: DepartmentsCommand,
}

#[derive(Debug, Subcommand)]
enum DepartmentsCommand {
    /// Makes a department and prints its id
    Create {
        /// Its name; no other department of the account may have it
        name: String,
    },
    /// Gives a department another name
    Set {
        /// Its id or name
        department: String,
        /// Its new name
        #[arg(long)]
        name: String,
    },
    #[command(flatten)]
    Same(SameCommand),
}

/// Teams of a department.
#[derive(Debug, Args)]
pub(crate) struct TeamsArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    command: TeamsCommand,
}

#[derive(Debug, Subcommand)]
enum TeamsCommand {
    /// Makes a team and prints its id
    Create {
        /// Its name; no other team of the account may have it
        name: String,
        /// The department's id or name
        #[arg(long)]
        department: String,
    },
    /// Changes a team's name, or moves it to another department
    Set {
        /// Its id or name
        team: String,
        /// Its new name
        #[arg(long)]
        name: Option<String>,
        /// The id or name of the department that it moves to. What was recorded stays with the old
        /// one
        #[arg(long)]
        department: Option<String>,
    },
    #[command(flatten)]
    Same(SameCommand),
}

/// People of an account.
#[derive(Debug, Args)]
pub(crate) struct PeopleArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    command: PeopleCommand,
}

#[derive(Debug, Subcommand)]
enum PeopleCommand {
    /// Adds a person and prints their id
    Create {
        /// Their e-mail address
        email: String,
        /// owner, admin, department-lead, developer, auditor or billing
        #[arg(long, default_value = "developer", value_parser = role)]
        role: Role,
        /// A team's id or name; once for each of their teams
        #[arg(long = "team", value_name = "TEAM")]
        teams: Vec<String>,
        /// What they are called
        #[arg(long)]
        name: Option<String>,
        /// They see and change what concerns all accounts, too
        #[arg(long)]
        operator: bool,
    },
    /// Changes what is named about a person
    Set {
        /// Their id or e-mail address
        person: String,
        /// Their new e-mail address
        #[arg(long)]
        email: Option<String>,
        /// owner, admin, department-lead, developer, auditor or billing
        #[arg(long, value_parser = role)]
        role: Option<Role>,
        /// A team's id or name, once for each of their teams: all of them. `none` for no team
        #[arg(long = "team", value_name = "TEAM")]
        teams: Vec<String>,
        /// What they are called, or `none`
        #[arg(long, value_parser = text_or_none)]
        name: Option<Setting<String>>,
        /// Whether they see and change what concerns all accounts: yes or no
        #[arg(long, value_name = "YES", value_parser = yes_or_no)]
        operator: Option<bool>,
    },
    /// Invites somebody, and adds them if they are not there: prints a link with which they set their
    /// password. An earlier link no longer works
    Invite(sign_in::InviteArgs),
    /// Takes somebody's password and one-time codes away and ends their sessions: prints a link with
    /// which they set a new password
    Reset(sign_in::ResetArgs),
    /// Lists where somebody is signed in, or ends it
    Sessions(sign_in::SessionsArgs),
    #[command(flatten)]
    Same(SameCommand),
}

/// Services of an account: what holds keys and is no person.
#[derive(Debug, Args)]
pub(crate) struct ServicesArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    command: ServicesCommand,
}

#[derive(Debug, Subcommand)]
enum ServicesCommand {
    /// Makes a service and prints its id
    Create {
        /// Its name; no other service of the account may have it
        name: String,
        /// The id or name of the team that looks after it
        #[arg(long)]
        team: Option<String>,
    },
    /// Changes what is named about a service
    Set {
        /// Its id or name
        service: String,
        /// Its new name
        #[arg(long)]
        name: Option<String>,
        /// The id or name of the team that looks after it, or `none`
        #[arg(long, value_parser = text_or_none)]
        team: Option<Setting<String>>,
    },
    #[command(flatten)]
    Same(SameCommand),
}

/// What can be done with all of them.
#[derive(Debug, Subcommand)]
enum SameCommand {
    /// Lists all
    List {
        /// Lists what was removed instead; `resume` takes that back
        #[arg(long)]
        removed: bool,
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Shows everything about one, also when it was removed
    Show {
        /// Its id, name or e-mail address
        which: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Suspends one: its keys answer 403 with the reason until it is resumed
    Suspend {
        /// Its id, name or e-mail address
        which: String,
        /// Why; whoever uses its keys is told
        #[arg(long, default_value = "by an administrator")]
        reason: String,
    },
    /// Takes a suspension or a removal back; just the keys that it took work again
    Resume {
        /// Its id, name or e-mail address
        which: String,
    },
    /// Removes one. What was recorded stays
    Remove {
        /// Its id, name or e-mail address
        which: String,
        /// What becomes of its keys: hand-over:X, suspend or revoke. X is a person or a service, for a
        /// team's keys a team, by its id or name
        #[arg(long, value_name = "ANSWER", value_parser = keys_answer)]
        keys: Option<KeysAnswer>,
    },
}

fn role(word: &str) -> Result<Role, String> {
    one_of(word, &Role::ALL, Role::as_str)
}

fn text_or_none(word: &str) -> Result<Setting<String>, String> {
    setting(word, "none", |text| Ok(text.to_owned()))
}

fn keys_answer(word: &str) -> Result<KeysAnswer, String> {
    match word.split_once(':') {
        None if word == "suspend" => Ok(KeysAnswer::Suspend),
        None if word == "revoke" => Ok(KeysAnswer::Revoke),
        Some(("hand-over", to)) if !to.is_empty() => Ok(KeysAnswer::HandOver(to.to_owned())),
        _ => Err("expected hand-over:X, suspend or revoke".to_owned()),
    }
}

/// Any of these commands.
pub(crate) enum Command {
    Departments(DepartmentsArgs),
    Teams(TeamsArgs),
    People(PeopleArgs),
    Services(ServicesArgs),
}

impl Command {
    /// The configuration file that is named.
    pub(crate) fn config(&self) -> Option<&std::path::Path> {
        self.common().config.as_deref()
    }

    fn common(&self) -> &Common {
        match self {
            Self::Departments(args) => &args.common,
            Self::Teams(args) => &args.common,
            Self::People(args) => &args.common,
            Self::Services(args) => &args.common,
        }
    }

    fn creates(&self) -> bool {
        match self {
            Self::Departments(args) => matches!(args.command, DepartmentsCommand::Create { .. }),
            Self::Teams(_) => false,
            Self::People(args) => {
                matches!(args.command, PeopleCommand::Create { .. } | PeopleCommand::Invite(_))
            }
            Self::Services(args) => matches!(args.command, ServicesCommand::Create { .. }),
        }
    }
}

/// Runs one of these commands.
pub(crate) async fn run(
    command: Command,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    // Too much for a stack.
    let result = Box::pin(act(command, settings, now, out, err)).await;
    settle(result, err)
}

async fn act(
    command: Command,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let location = settings.storage.location();
    let records = match command.creates() {
        true => Records::open(&location).await?,
        false => Records::open_existing(&location).await?,
    };
    let account = command.common().account.clone();
    let mut desk = Desk {
        records: &records,
        admin: records.admin(now),
        account,
        base: links::base(settings, links::pages(settings)),
        times: settings.server.people().times,
        out,
        err,
    };
    match command {
        Command::Departments(args) => desk.departments(args.command).await?,
        Command::Teams(args) => desk.teams(args.command).await?,
        Command::People(args) => desk.people(args.command).await?,
        Command::Services(args) => desk.services(args.command).await?,
    }
    records.store.close().await;
    Ok(Exit::Done)
}

/// Where a command works.
struct Desk<'a> {
    records: &'a Records,
    admin: Admin<'a>,
    /// The account that is named.
    account: Option<String>,
    /// Where browsers reach the deployment.
    base: String,
    /// When people's sessions end.
    times: SessionTimes,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

const NOTHING_TO_CHANGE: CommandError =
    CommandError::Usage("name a setting to change; `--help` lists them");

impl Desk<'_> {
    async fn departments(&mut self, command: DepartmentsCommand) -> Result<(), CommandError> {
        match command {
            DepartmentsCommand::Create { name } => {
                let wish = NewDepartment { account: self.account.clone(), name };
                let made = self.admin.create_department(wish).await?;
                self.created(made.into())
            }
            DepartmentsCommand::Set { department, name } => {
                let which = self.which(Kind::Department, &department);
                let changed = self.admin.change_department(&which, &name).await?;
                self.say(&changed.into(), "is changed")
            }
            DepartmentsCommand::Same(command) => self.same(Kind::Department, command).await,
        }
    }

    async fn teams(&mut self, command: TeamsCommand) -> Result<(), CommandError> {
        match command {
            TeamsCommand::Create { name, department } => {
                let wish = NewTeam { account: self.account.clone(), department, name };
                let made = self.admin.create_team(wish).await?;
                self.created(made.into())
            }
            TeamsCommand::Set { team, name, department } => {
                let change = TeamChange { name, department };
                if change == TeamChange::default() {
                    return Err(NOTHING_TO_CHANGE);
                }
                let which = self.which(Kind::Team, &team);
                let changed = self.admin.change_team(&which, change).await?;
                self.say(&changed.into(), "is changed")
            }
            TeamsCommand::Same(command) => self.same(Kind::Team, command).await,
        }
    }

    async fn people(&mut self, command: PeopleCommand) -> Result<(), CommandError> {
        match command {
            PeopleCommand::Create { email, role, teams, name, operator } => {
                let account = self.account.clone();
                let wish = NewPerson { account, email, name, role, teams, operator };
                let made = self.admin.create_person(wish).await?;
                if made.operator && !operator {
                    writeln!(self.err, "The first owner is operator, too.")?;
                }
                self.created(made.into())
            }
            PeopleCommand::Set { person, email, role, teams, name, operator } => {
                let teams = match teams.as_slice() {
                    [] => None,
                    [none] if none == "none" => Some(Vec::new()),
                    _ => Some(teams),
                };
                let name = name.map(|setting| setting.0);
                let change = PersonChange { email, name, role, teams, operator };
                if change == PersonChange::default() {
                    return Err(NOTHING_TO_CHANGE);
                }
                let which = self.which(Kind::Person, &person);
                let changed = self.admin.change_person(&which, change).await?;
                self.say(&changed.into(), "is changed")
            }
            PeopleCommand::Invite(args) => self.invite(args).await,
            PeopleCommand::Reset(args) => self.reset(args).await,
            PeopleCommand::Sessions(args) => self.sessions(args).await,
            PeopleCommand::Same(command) => self.same(Kind::Person, command).await,
        }
    }

    async fn services(&mut self, command: ServicesCommand) -> Result<(), CommandError> {
        match command {
            ServicesCommand::Create { name, team } => {
                let wish = NewService { account: self.account.clone(), name, team };
                let made = self.admin.create_service(wish).await?;
                self.created(made.into())
            }
            ServicesCommand::Set { service, name, team } => {
                let change = ServiceChange { name, team: team.map(|setting| setting.0) };
                if change == ServiceChange::default() {
                    return Err(NOTHING_TO_CHANGE);
                }
                let which = self.which(Kind::Service, &service);
                let changed = self.admin.change_service(&which, change).await?;
                self.say(&changed.into(), "is changed")
            }
            ServicesCommand::Same(command) => self.same(Kind::Service, command).await,
        }
    }

    async fn same(&mut self, kind: Kind, command: SameCommand) -> Result<(), CommandError> {
        match command {
            SameCommand::List { removed, json } => {
                let mut found = match removed {
                    true => self.admin.list_removed(kind).await?,
                    false => self.admin.list(kind).await?,
                };
                if let Some(account) = &self.account {
                    let account = self.admin.account(account).await?.id;
                    found.retain(|record| *record.account_id() == account);
                }
                let around = show::Around::read(self.records).await?;
                if found.is_empty() && !json {
                    writeln!(self.err, "{}", show::nothing(kind, removed))?;
                    return Ok(());
                }
                Ok(show::list(kind, &found, json, &around, self.out)?)
            }
            SameCommand::Show { which, json } => {
                let record = self.admin.find(&self.which(kind, &which)).await?;
                let around = show::Around::read(self.records).await?;
                Ok(show::show(&record, json, &around, self.out)?)
            }
            SameCommand::Suspend { which, reason } => {
                let record = self.admin.suspend(&self.which(kind, &which), &reason).await?;
                self.say(&record, "is suspended")
            }
            SameCommand::Resume { which } => {
                let record = self.admin.resume(&self.which(kind, &which)).await?;
                self.say(&record, "is resumed")
            }
            SameCommand::Remove { which, keys } => {
                let removal = self.admin.remove(&self.which(kind, &which), keys.as_ref()).await?;
                let done = match (&keys, removal.keys.len()) {
                    (_, 0) | (None, _) => "is removed".to_owned(),
                    (Some(KeysAnswer::HandOver(to)), many) => {
                        format!("is removed; {many} of its keys belong to {to} now")
                    }
                    (Some(KeysAnswer::Suspend), many) => {
                        format!("is removed; {many} of its keys are suspended")
                    }
                    (Some(KeysAnswer::Revoke), many) => {
                        format!("is removed; {many} of its keys are revoked")
                    }
                };
                self.say(&removal.record, &done)
            }
        }
    }

    fn which(&self, kind: Kind, text: &str) -> Which {
        Which { kind, text: text.to_owned(), account: self.account.clone() }
    }

    fn created(&mut self, record: Record) -> Result<(), CommandError> {
        self.say(&record, "is created")?;
        writeln!(self.out, "{}", record.subject().id())?;
        Ok(())
    }

    fn say(&mut self, record: &Record, what: &str) -> Result<(), CommandError> {
        let kind = Kind::of(record).as_str();
        let (name, id) = (name_of(record).to_owned(), record.subject());
        writeln!(self.err, "The {kind} {name} ({}) {what}.", id.id())?;
        Ok(())
    }
}
