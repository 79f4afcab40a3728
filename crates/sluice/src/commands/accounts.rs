//! `sluice accounts`: who pays, and which tier holds for all keys of one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::key::AccountTier;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_gateway::admin::NewAccount;
use sluice_storage::AccountRecord;

use super::Exit;
use super::records::{CommandError, Records, level, limit, one_of, or_dash, region, settle, table};

/// Accounts.
#[derive(Debug, clap::Args)]
pub(crate) struct AccountsArgs {
    /// The configuration file. Default: sluice.toml in the current folder.
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
    /// Gives an account another tier
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
    /// Its name, which no other account has
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
    /// Where its requests are processed when neither they nor their key say
    #[arg(long, value_parser = region)]
    region: Option<Region>,
    /// The mildest level of its requests: standard, high or maximum
    #[arg(long, value_name = "LEVEL", default_value = "standard", value_parser = level)]
    security_level: SecurityLevel,
    /// Nothing about its requests is stored but sums
    #[arg(long)]
    zero_retention: bool,
    /// Each of its requests leaves an audit entry
    #[arg(long)]
    audit: bool,
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
    data_dir: &Path,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args.command, data_dir, now, out, err).await;
    settle(result, err)
}

async fn act(
    command: AccountsCommand,
    data_dir: &Path,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = match command {
        AccountsCommand::Create(_) => Records::open(data_dir).await?,
        _ => Records::open_existing(data_dir).await?,
    };
    let admin = records.admin(now);
    match command {
        AccountsCommand::List(args) => list(&admin.accounts().await?, args.json, out)?,
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
        AccountsCommand::SetTier(args) => {
            let account = admin.set_account_tier(&args.account, args.tier).await?;
            writeln!(err, "Account {} has the {} tier.", account.name, account.tier.as_str())?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

fn list(accounts: &[AccountRecord], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        for account in accounts {
            writeln!(out, "{}", as_json(account))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 7]> = accounts
        .iter()
        .map(|account| {
            [
                account.id.to_string(),
                account.name.clone(),
                account.tier.as_str().to_owned(),
                or_dash(account.requests_per_hour),
                or_dash(account.tokens_per_day),
                or_dash(account.concurrent_requests),
                or_dash(account.region.map(Region::as_str)),
            ]
        })
        .collect();
    let heading = ["id", "name", "tier", "requests/hour", "tokens/day", "at once", "region"];
    table(out, heading, &rows)?;
    writeln!(out, "\n- is as the tier has it.")
}

fn as_json(account: &AccountRecord) -> serde_json::Value {
    json!({
        "id": account.id,
        "name": account.name,
        "tier": account.tier,
        "requests_per_hour": account.requests_per_hour,
        "tokens_per_day": account.tokens_per_day,
        "concurrent_requests": account.concurrent_requests,
        "region": account.region,
        "security_level": account.minimum_level,
        "zero_retention": account.zero_retention,
        "audit": account.audit,
        "created_at": account.created_at.to_rfc3339(),
    })
}
