//! `sluice accounts`: who pays, and what holds for all keys of one.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_gateway::admin::{AccountChange, Kind, NewAccount, Which, name_of};
use sluice_gateway::limits::AllowanceView;
use sluice_gateway::snapshot::Rules;
use sluice_storage::{AccountRecord, KeyRecord};

use super::records::{
    CommandError, Records, Setting, figure, level, limit, one_of, or_dash, region, setting, settle,
    table, yes_or_no,
};
use super::{Exit, allowances};
use crate::config::Settings;
use crate::serve;

/// Accounts.
#[derive(Debug, clap::Args)]
pub(crate) struct AccountsArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    command: AccountsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AccountsCommand {
    /// Lists all accounts
    List(ListArgs),
    /// Makes an account and prints its id
    Create(CreateArgs),
    /// Shows everything about an account
    Show(ShowArgs),
    /// Changes the settings of an account that are named
    Set(SetArgs),
    /// Suspends an account: all its keys answer 403 with the reason until it is resumed
    Suspend(SuspendArgs),
    /// Takes a suspension back
    Resume(WhichAccount),
    /// Gives an account another tier: `set ACCOUNT --tier TIER`
    SetTier(SetTierArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Its name; no other account may have it
    #[arg(long)]
    name: String,
    /// lowest, middle or highest: sets its limits and its models
    #[arg(long, value_parser = tier)]
    tier: AccountTier,
    /// Requests an hour, instead of the tier's
    #[arg(long, value_name = "N", value_parser = limit)]
    requests_per_hour: Option<u64>,
    /// Tokens a day, instead of the tier's
    #[arg(long, value_name = "N", value_parser = limit)]
    tokens_per_day: Option<u64>,
    /// Requests at once, instead of the tier's
    #[arg(long, value_name = "N", value_parser = limit)]
    concurrent_requests: Option<u64>,
    /// Where its requests are processed if neither they nor their key say so
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// The least strict level of its requests: standard, high or maximum
    #[arg(long, value_name = "LEVEL", default_value = "standard", value_parser = level)]
    security_level: SecurityLevel,
    /// Only sums about its requests are stored
    #[arg(long)]
    zero_retention: bool,
    /// Each of its requests leaves an audit entry
    #[arg(long)]
    audit: bool,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The account's id or name
    account: String,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// The account's id or name
    account: String,
    /// Its new name; no other account may have it
    #[arg(long)]
    name: Option<String>,
    /// lowest, middle or highest: sets its limits and its models
    #[arg(long, value_parser = tier)]
    tier: Option<AccountTier>,
    /// Requests an hour, or `tier` for the figure of its tier
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "tier", limit))]
    requests_per_hour: Option<Setting<u64>>,
    /// Tokens a day, or `tier` for the figure of its tier
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "tier", limit))]
    tokens_per_day: Option<Setting<u64>>,
    /// Requests at once, or `tier` for the figure of its tier
    #[arg(long, value_name = "N", value_parser = |word: &str| setting(word, "tier", limit))]
    concurrent_requests: Option<Setting<u64>>,
    /// Where its requests are processed if neither they nor their key say so, or `none`
    #[arg(long, value_parser = |word: &str| setting(word, "none", region))]
    region: Option<Setting<Region>>,
    /// The least strict level of its requests: standard, high or maximum
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    security_level: Option<SecurityLevel>,
    /// Whether only sums about its requests are stored: yes or no
    #[arg(long, value_name = "YES", value_parser = yes_or_no)]
    zero_retention: Option<bool>,
    /// Whether each of its requests leaves an audit entry: yes or no
    #[arg(long, value_name = "YES", value_parser = yes_or_no)]
    audit: Option<bool>,
    /// Prints the account as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct SuspendArgs {
    /// The account's id or name
    account: String,
    /// Why; whoever uses its keys is told
    #[arg(long, default_value = "by an administrator")]
    reason: String,
}

#[derive(Debug, clap::Args)]
struct WhichAccount {
    /// The account's id or name
    account: String,
}

#[derive(Debug, clap::Args)]
struct SetTierArgs {
    /// The account's id or name
    account: String,
    /// lowest, middle or highest
    #[arg(value_parser = tier)]
    tier: AccountTier,
}

fn tier(word: &str) -> Result<AccountTier, String> {
    one_of(word, &AccountTier::ALL, AccountTier::as_str)
}

/// Runs an `accounts` command.
pub(crate) async fn run(
    args: AccountsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, settings, now, out, err).await;
    settle(result, err)
}

async fn act(
    command: AccountsCommand,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let (location, rules) = (settings.storage.location(), serve::rules(settings));
    let records = match command {
        AccountsCommand::Create(_) => Records::open(&location).await?,
        _ => Records::open_existing(&location).await?,
    };
    let admin = records.admin(now);
    match command {
        AccountsCommand::List(args) => {
            let accounts = admin.accounts().await?;
            if accounts.is_empty() && !args.json {
                let how = "`sluice accounts create --name NAME --tier TIER` makes one";
                writeln!(err, "There are no accounts yet. {how}.")?;
            } else {
                list(&accounts, &rules, args.json, out)?;
            }
        }
        AccountsCommand::Show(args) => {
            let account = admin.account(&args.account).await?;
            let organisation = records.store.organisation().await?;
            let keys = admin.keys().await?;
            let keys = keys.iter().filter(|key| key.account_id == account.id);
            let works =
                |key: &&KeyRecord| key.is_valid_at(now) && organisation.suspension(key).is_none();
            let valid = keys.filter(works).count();
            let views = allowances::views(&records, &rules, (None, &account), now).await?;
            match args.json {
                true => {
                    let mut line = as_json(&account, &rules);
                    line["valid_keys"] = json!(valid);
                    let views: Vec<_> = views.iter().map(AllowanceView::to_json).collect();
                    line["limits"]["allowances"] = views.into();
                    writeln!(out, "{line}")?;
                }
                false => {
                    show(&account, &rules, out)?;
                    writeln!(out, "{:18} {valid}", "keys that work")?;
                    allowances::print(&views, out)?;
                }
            }
        }
        AccountsCommand::Set(args) => {
            let (which, json) = (args.account.clone(), args.json);
            let change = change(args);
            if change == AccountChange::default() {
                return Err(CommandError::Usage(
                    "name a setting to change; `sluice accounts set --help` lists them",
                ));
            }
            let account = admin.change_account(&which, change).await?;
            writeln!(err, "Account {} ({}) is changed.", account.id, account.name)?;
            match json {
                true => writeln!(out, "{}", as_json(&account, &rules))?,
                false => show(&account, &rules, out)?,
            }
        }
        AccountsCommand::Create(args) => {
            let wish = NewAccount {
                name: args.name,
                tier: args.tier,
                requests_per_hour: args.requests_per_hour,
                tokens_per_day: args.tokens_per_day,
                concurrent_requests: args.concurrent_requests,
                region: args.region,
                minimum_level: args.security_level,
                zero_retention: args.zero_retention,
                audit: args.audit,
            };
            let account = admin.create_account(wish).await?;
            writeln!(
                err,
                "Created account {} of the {} tier.",
                account.name,
                account.tier.as_str()
            )?;
            writeln!(out, "{}", account.id)?;
        }
        AccountsCommand::Suspend(args) => {
            let which = Which::new(Kind::Account, &args.account);
            let record = admin.suspend(&which, &args.reason).await?;
            writeln!(err, "Account {} is suspended.", name_of(&record))?;
        }
        AccountsCommand::Resume(args) => {
            let which = Which::new(Kind::Account, &args.account);
            let record = admin.resume(&which).await?;
            writeln!(err, "Account {} is resumed.", name_of(&record))?;
        }
        AccountsCommand::SetTier(args) => {
            let change = AccountChange { tier: Some(args.tier), ..AccountChange::default() };
            let account = admin.change_account(&args.account, change).await?;
            writeln!(err, "Account {} has the {} tier.", account.name, account.tier.as_str())?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

fn change(args: SetArgs) -> AccountChange {
    AccountChange {
        name: args.name,
        tier: args.tier,
        requests_per_hour: args.requests_per_hour.map(|setting| setting.0),
        tokens_per_day: args.tokens_per_day.map(|setting| setting.0),
        concurrent_requests: args.concurrent_requests.map(|setting| setting.0),
        region: args.region.map(|setting| setting.0),
        minimum_level: args.security_level,
        zero_retention: args.zero_retention,
        audit: args.audit,
    }
}

fn list(
    accounts: &[AccountRecord],
    rules: &Rules,
    json: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        for account in accounts {
            writeln!(out, "{}", as_json(account, rules))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 8]> = accounts
        .iter()
        .map(|account| {
            let limits = rules.account_rules(account).limits;
            [
                account.id.to_string(),
                account.name.clone(),
                account.tier.as_str().to_owned(),
                figure(limits.requests_per_hour),
                figure(limits.tokens_per_day),
                figure(limits.concurrent_requests),
                or_dash(account.region.map(Region::as_str)),
                state(account),
            ]
        })
        .collect();
    let heading =
        ["id", "name", "tier", "requests/hour", "tokens/day", "at once", "region", "state"];
    table(out, heading, &rows)
}

fn state(account: &AccountRecord) -> String {
    match &account.suspended {
        Some(why) => format!("suspended {}: {}", why.at.to_rfc3339(), why.reason),
        None => "active".to_owned(),
    }
}

fn show(account: &AccountRecord, rules: &Rules, out: &mut dyn Write) -> io::Result<()> {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let limits = rules.account_rules(account).limits;
    let limit = |binding: Option<u64>, own: Option<u64>| match own {
        Some(own) => format!("{own} (its own)"),
        None => figure(binding),
    };
    let lines = [
        ("id", account.id.to_string()),
        ("name", account.name.clone()),
        ("tier", account.tier.as_str().to_owned()),
        ("requests per hour", limit(limits.requests_per_hour, account.requests_per_hour)),
        ("tokens per day", limit(limits.tokens_per_day, account.tokens_per_day)),
        ("requests at once", limit(limits.concurrent_requests, account.concurrent_requests)),
        ("default region", or_dash(account.region.map(Region::as_str))),
        ("security level", format!("at least {}", account.minimum_level.as_str())),
        ("zero retention", yes(account.zero_retention)),
        ("audit", yes(account.audit)),
        ("state", state(account)),
        ("created", account.created_at.to_rfc3339()),
    ];
    for (label, value) in lines {
        writeln!(out, "{label:18} {value}")?;
    }
    Ok(())
}

/// The figures beside the tier are the account's own; `limits` are what holds, `null` where nothing
/// does.
fn as_json(account: &AccountRecord, rules: &Rules) -> serde_json::Value {
    let limits = rules.account_rules(account).limits;
    json!({
        "id": account.id,
        "subject": format!("account:{}", account.id),
        "name": account.name,
        "tier": account.tier,
        "requests_per_hour": account.requests_per_hour,
        "tokens_per_day": account.tokens_per_day,
        "concurrent_requests": account.concurrent_requests,
        "limits": {
            "requests_per_hour": limits.requests_per_hour,
            "tokens_per_day": limits.tokens_per_day,
            "concurrent_requests": limits.concurrent_requests,
        },
        "region": account.region,
        "security_level": account.minimum_level,
        "zero_retention": account.zero_retention,
        "audit": account.audit,
        "created_at": account.created_at.to_rfc3339(),
        "suspended_at": account.suspended.as_ref().map(|it| it.at.to_rfc3339()),
        "suspended_reason": account.suspended.as_ref().map(|it| &it.reason),
    })
}
