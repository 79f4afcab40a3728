//! `sluice policy`: what the deployment, accounts, departments, teams, people, services and keys say
//! about requests.

use std::io::{self, Write};
use std::path::PathBuf;

use bytes::Bytes;
use serde_json::{Value, json};
use sluice_api::wire::chat::parse;
use sluice_core::chat::ChatRequest;
use sluice_core::clock::UnixMillis;
use sluice_core::level::SecurityLevel;
use sluice_core::policy::PolicyRules;
use sluice_core::region::Region;
use sluice_gateway::admin::{Configured, PolicyExplained, PolicyView};
use sluice_gateway::policy::{rules_of, shown};

use super::Exit;
use super::records::{CommandError, Records, level, or_dash, region, settle, table};
use crate::config::Settings;
use crate::serve::rules;

/// Policies.
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The account's id or name, where there are several
    #[arg(long, global = true)]
    account: Option<String>,
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    /// Sets rules: `sluice policy set --for team:T --level high --regions eu-west`. Rules that are not
    /// named stay as they are
    Set(Box<SetArgs>),
    /// Lists policies
    List {
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Shows a policy
    Show {
        /// Whose: deployment, account, or one such as team:T
        #[arg(long = "for", value_name = "WHOSE")]
        whose: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Removes a policy
    Remove {
        /// Whose: deployment, account, or one such as team:T
        #[arg(long = "for", value_name = "WHOSE")]
        whose: String,
    },
    /// Says what holds for the requests of a key, and which rule makes it so
    Explain {
        /// The key's id, name or first characters
        #[arg(long)]
        key: String,
        /// A chat request as JSON, to say what holds for it
        #[arg(long, value_name = "FILE")]
        request: Option<PathBuf>,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// Whose requests: deployment, `account`, or account:A, department:D, team:T, person:P, service:S,
    /// key:K, by id or name
    #[arg(long = "for", value_name = "WHOSE")]
    whose: String,
    /// The least strict level: standard, high or maximum
    #[arg(long, value_parser = level)]
    level: Option<SecurityLevel>,
    /// The only models that may be asked: ids, or beginnings of ids with a * (lab/*,svc/auto). A router
    /// that is named may ask all of its members
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Option<Vec<String>>,
    /// The only regions in which requests may be processed: us-east,eu-west
    #[arg(long, value_name = "REGIONS", value_delimiter = ',', value_parser = region)]
    regions: Option<Vec<Region>>,
    /// Where requests are processed that do not say
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// Nothing of a request's content is kept
    #[arg(long)]
    zero_retention: bool,
    /// Every request leaves an audit entry
    #[arg(long)]
    audit: bool,
    /// The most tokens of an answer; a larger wish is lowered
    #[arg(long, value_name = "N")]
    max_output_tokens: Option<u32>,
    /// Terms that must not leave: Orion,Vega
    #[arg(long, value_name = "TERMS", value_delimiter = ',')]
    terms: Option<Vec<String>>,
    /// A pattern that must not leave, as a regular expression; for each pattern once
    #[arg(long = "pattern", value_name = "PATTERN")]
    patterns: Option<Vec<String>>,
    /// Kinds of values that are redacted at every level: person,location
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    redact: Option<Vec<String>>,
    /// Values that are not redacted unless terms or patterns say so; where several policies have such a
    /// list, those that are in all
    #[arg(long, value_name = "VALUES", value_delimiter = ',')]
    exceptions: Option<Vec<String>>,
    /// Rules that are taken back, by name: level,max-output-tokens
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = rule)]
    unset: Vec<Rule>,
    /// Prints the policy as JSON
    #[arg(long)]
    json: bool,
}

/// One rule of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Level,
    Models,
    Regions,
    Region,
    ZeroRetention,
    Audit,
    MaxOutputTokens,
    Terms,
    Patterns,
    Redact,
    Exceptions,
}

impl Rule {
    const ALL: [Self; 11] = [
        Self::Level,
        Self::Models,
        Self::Regions,
        Self::Region,
        Self::ZeroRetention,
        Self::Audit,
        Self::MaxOutputTokens,
        Self::Terms,
        Self::Patterns,
        Self::Redact,
        Self::Exceptions,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Models => "models",
            Self::Regions => "regions",
            Self::Region => "region",
            Self::ZeroRetention => "zero-retention",
            Self::Audit => "audit",
            Self::MaxOutputTokens => "max-output-tokens",
            Self::Terms => "terms",
            Self::Patterns => "patterns",
            Self::Redact => "redact",
            Self::Exceptions => "exceptions",
        }
    }

    fn unset(self, rules: &mut PolicyRules) {
        match self {
            Self::Level => rules.level = None,
            Self::Models => rules.models = None,
            Self::Regions => rules.regions = None,
            Self::Region => rules.region = None,
            Self::ZeroRetention => rules.zero_retention = false,
            Self::Audit => rules.audit = false,
            Self::MaxOutputTokens => rules.max_output_tokens = None,
            Self::Terms => rules.terms = Vec::new(),
            Self::Patterns => rules.patterns = Vec::new(),
            Self::Redact => rules.redact = Vec::new(),
            Self::Exceptions => rules.exceptions = None,
        }
    }
}

fn rule(word: &str) -> Result<Rule, String> {
    super::records::one_of(word, &Rule::ALL, Rule::as_str)
}

impl SetArgs {
    fn names_a_rule(&self) -> bool {
        let mut rules = PolicyRules::default();
        self.apply(&mut rules);
        !rules.is_empty() || !self.unset.is_empty()
    }

    fn apply(&self, rules: &mut PolicyRules) {
        fn set<T: Clone>(rule: &mut Option<T>, wish: &Option<T>) {
            if wish.is_some() {
                rule.clone_from(wish);
            }
        }
        for rule in &self.unset {
            rule.unset(rules);
        }
        set(&mut rules.level, &self.level);
        set(&mut rules.models, &self.models);
        set(&mut rules.regions, &self.regions);
        set(&mut rules.region, &self.region);
        set(&mut rules.max_output_tokens, &self.max_output_tokens);
        set(&mut rules.exceptions, &self.exceptions);
        rules.zero_retention |= self.zero_retention;
        rules.audit |= self.audit;
        for (list, wish) in [
            (&mut rules.terms, &self.terms),
            (&mut rules.patterns, &self.patterns),
            (&mut rules.redact, &self.redact),
        ] {
            if let Some(wish) = wish {
                list.clone_from(wish);
            }
        }
    }
}

/// Runs a `policy` command.
pub(crate) async fn run(
    args: PolicyArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = Box::pin(act(args, settings, now, out, err)).await;
    settle(result, err)
}

async fn act(
    args: PolicyArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(&settings.storage.location()).await?;
    let admin = records.admin(now);
    let account = args.account.as_deref();
    match args.command {
        PolicyCommand::Set(set) => {
            if !set.names_a_rule() {
                return Err(CommandError::Usage(
                    "name a rule to set; `sluice policy set --help` lists them",
                ));
            }
            let (served, _) = records.with_vendors(settings).await?;
            let change = |rules: &mut PolicyRules| set.apply(rules);
            let catalog = Some(&served.catalog);
            let (view, _) = admin.set_policy(&set.whose, account, catalog, change).await?;
            writeln!(err, "The policy of {} is set.", view.whose_name())?;
            one(&view, set.json, out)?;
        }
        PolicyCommand::List { json } => {
            let policies = admin.policies().await?;
            if policies.is_empty() && !json {
                writeln!(err, "There are no policies. `sluice policy set --for WHOSE` makes one.")?;
            }
            list(&policies, json, out)?;
        }
        PolicyCommand::Show { whose, json } => {
            one(&admin.policy(&whose, account).await?, json, out)?;
        }
        PolicyCommand::Remove { whose } => {
            let remove = |rules: &mut PolicyRules| *rules = PolicyRules::default();
            let (view, before) = admin.set_policy(&whose, account, None, remove).await?;
            let name = view.whose_name();
            match before.is_empty() {
                true => writeln!(err, "There was no policy of {name}.")?,
                false => writeln!(err, "The policy of {name} is removed.")?,
            }
        }
        PolicyCommand::Explain { key, request, json } => {
            let chat = match request.as_deref().map(read_request).transpose() {
                Ok(chat) => chat,
                Err(problem) => {
                    writeln!(err, "{problem}")?;
                    return Ok(Exit::Usage);
                }
            };
            let (served, _) = records.with_vendors(settings).await?;
            let rules = rules(settings);
            let configured = Configured { rules: &rules, catalog: &served.catalog };
            let explained = admin.explain_policy(&key, configured, chat.as_ref()).await?;
            explain(&explained, json, out)?;
            records.store.close().await;
            let fits = chat.is_none() || explained.problems.is_empty();
            return Ok(if fits { Exit::Done } else { Exit::Failed });
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

/// The request in a file; what is wrong with it, else.
pub(crate) fn read_request(file: &std::path::Path) -> Result<ChatRequest, String> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {name}: {error}"))?;
    parse(Bytes::from(bytes)).map_err(|error| format!("{name} is no chat request: {error}"))
}

fn as_json(view: &PolicyView) -> Value {
    json!({
        "for": view.policy.subject.to_string(),
        "for_name": view.whose_name(),
        "account_id": view.policy.account_id,
        "rules": view.policy.rules,
        "managed_by": view.policy.managed_by,
        "changed_at": view.policy.changed_at.to_rfc3339(),
    })
}

fn one(view: &PolicyView, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return writeln!(out, "{}", as_json(view));
    }
    let rows: Vec<[String; 2]> =
        rules_of(&view.policy.rules).iter().map(|(name, it)| [name.clone(), shown(it)]).collect();
    if rows.is_empty() {
        return writeln!(out, "The policy of {} says nothing.", view.whose_name());
    }
    table(out, ["rule", "value"], &rows)
}

fn list(policies: &[PolicyView], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return policies.iter().try_for_each(|view| writeln!(out, "{}", as_json(view)));
    }
    let rows: Vec<[String; 4]> = policies
        .iter()
        .flat_map(|view| {
            rules_of(&view.policy.rules).into_iter().map(|(name, value)| {
                let by = view.policy.managed_by.clone();
                [view.whose_name(), name, shown(&value), or_dash(by)]
            })
        })
        .collect();
    table(out, ["for", "rule", "value", "managed by"], &rows)
}

fn explain(explained: &PolicyExplained, json: bool, out: &mut dyn Write) -> io::Result<()> {
    let PolicyExplained { key, rows, problems } = explained;
    if json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| json!({ "rule": row.name, "value": row.value, "by": row.by.to_string() }))
            .collect();
        let value = json!({ "key": key.id, "rules": rows, "problems": problems });
        return writeln!(out, "{value}");
    }
    let rows: Vec<[String; 3]> = rows
        .iter()
        .map(|row| [row.name.to_owned(), shown(&row.value), row.by.to_string()])
        .collect();
    table(out, ["rule", "value", "said by"], &rows)?;
    problems.iter().try_for_each(|problem| writeln!(out, "refused: {problem}"))
}
