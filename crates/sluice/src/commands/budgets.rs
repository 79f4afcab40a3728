//! `sluice budgets`: what accounts, departments, teams, people, services and keys may use.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_gateway::admin::{BudgetView, BudgetWish, Rehearsed};
use sluice_gateway::limits::{
    Allowance, AllowanceView, Amount, Limited, Measure, Quantity, Window,
};
use sluice_storage::{BudgetRecord, JournalTail, StorageError, TopUp};

use super::Exit;
use super::allowances;
use super::records::{CommandError, Records, moment, one_of, or_dash, settle, table};
use crate::config::Settings;

/// Budgets.
#[derive(Debug, clap::Args)]
pub(crate) struct BudgetsArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The account's id or name, where there are several
    #[arg(long, global = true)]
    account: Option<String>,
    #[command(subcommand)]
    command: BudgetsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BudgetsCommand {
    /// Sets a budget, or changes its limit: `sluice budgets set --for team:T --measure usd --limit 50`
    Set(SetArgs),
    /// Lists budgets, and what is left of them
    List {
        /// Prints JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Shows a budget with its past windows and its top-ups
    Show {
        /// Its id, or whose it is: department:D
        id: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Grants an amount on top of a budget's limit, for a time
    TopUp {
        /// Its id, or whose it is: department:D
        id: String,
        /// How much: requests, tokens or US dollars
        #[arg(long)]
        amount: String,
        /// Until when: a day, or a time. Default: the end of the current window
        #[arg(long, value_parser = moment)]
        until: Option<UnixMillis>,
        /// Prints the budget as JSON
        #[arg(long)]
        json: bool,
    },
    /// Removes a budget
    Remove {
        /// Its id, or whose it is: department:D
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// Whose: `account`, or `account:A`, `department:D`, `team:T`, `person:P`, `service:S`, `key:K`, by id
    /// or name
    #[arg(long = "for", value_name = "WHOSE")]
    whose: String,
    /// requests, tokens, usd or concurrency
    #[arg(long, value_parser = measure)]
    measure: Measured,
    /// hour, 5h, day, week, month or total. Default: month; none for concurrency and --each-session
    #[arg(long, value_parser = window)]
    window: Option<Window>,
    /// Each session has so much to itself, until it was idle for 24 hours. It has no other window
    #[arg(long)]
    each_session: bool,
    /// How much: requests, tokens or US dollars. 0 blocks
    #[arg(long)]
    limit: String,
    /// Requests beyond it are noted and not refused
    #[arg(long)]
    soft: bool,
    /// The time zone whose calendar its window follows, such as Europe/Berlin. Default: UTC
    #[arg(long)]
    zone: Option<String>,
    /// Sets nothing, and says how many of yesterday's requests it would have refused
    #[arg(long)]
    dry_run: bool,
    /// Prints the budget as JSON
    #[arg(long)]
    json: bool,
}

/// A measure on the command line: requests at once have no window.
type Measured = Option<Measure>;

fn measure(word: &str) -> Result<Measured, String> {
    const WORDS: [Measured; 4] =
        [Some(Measure::Requests), Some(Measure::Tokens), Some(Measure::Usd), None];
    one_of(word, &WORDS, |it| it.map_or(Limited::CONCURRENCY, Measure::as_str))
}

fn window(word: &str) -> Result<Window, String> {
    one_of(word, &Window::ALL, window_word)
}

/// The word on the command line.
fn window_word(window: Window) -> &'static str {
    match window {
        Window::FiveHours => "5h",
        other => other.as_str(),
    }
}

/// An amount of what is limited: requests, tokens, or US dollars with up to twelve decimals.
fn amount(limited: Limited, text: &str) -> Result<u64, CommandError> {
    if limited.is_money() {
        return text.parse::<PicoUsd>().map(|it| it.0).map_err(|_| {
            CommandError::Usage("an amount of US dollars is a number such as 50 or 0.25")
        });
    }
    // What is larger cannot be kept.
    let number = text.parse::<u64>().ok().filter(|it| i64::try_from(*it).is_ok());
    number.ok_or(CommandError::Usage("a limit of requests or tokens is a whole number"))
}

/// Runs a `budgets` command.
pub(crate) async fn run(
    args: BudgetsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let result = act(args, settings, now, out, err).await;
    settle(result, err)
}

async fn act(
    args: BudgetsArgs,
    settings: &Settings,
    now: UnixMillis,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Exit, CommandError> {
    let records = Records::open_existing(&settings.storage.location()).await?;
    let admin = records.admin(now);
    match args.command {
        BudgetsCommand::Set(set) => {
            let wish = wish(&set, args.account)?;
            if set.dry_run {
                rehearse(&records, wish, now, (set.json, out)).await?;
            } else {
                let (budget, old) = admin.set_budget(wish).await?;
                let done = if old.is_some() { "changed" } else { "set" };
                writeln!(err, "Budget {} is {done}.", budget.id)?;
                one(&records, budget.id.as_str(), now, (set.json, out)).await?;
            }
        }
        BudgetsCommand::List { json } => {
            let views = Left::of(&records, admin.budgets().await?, now).await?;
            print(&views, json, out)?;
        }
        BudgetsCommand::Show { id, json } => {
            let left = Left::of(&records, vec![admin.budget(&id).await?], now).await?;
            for left in &left {
                show(&records, left, now, (json, out)).await?;
            }
        }
        BudgetsCommand::TopUp { id, amount: text, until, json } => {
            let limited = admin.budget(&id).await?.budget.limited;
            let budget = admin.top_up(&id, amount(limited, &text)?, until).await?;
            if let Some(top_up) = budget.top_ups.last() {
                let granted = Allowance::of_budget(&budget).quantity.amount(top_up.amount);
                writeln!(err, "{granted} on top, until {}.", until_when(top_up))?;
            }
            one(&records, &id, now, (json, out)).await?;
        }
        BudgetsCommand::Remove { id } => {
            let budget = admin.remove_budget(&id).await?;
            writeln!(err, "Budget {} is removed.", budget.id)?;
        }
    }
    records.store.close().await;
    Ok(Exit::Done)
}

fn wish(args: &SetArgs, account: Option<String>) -> Result<BudgetWish, CommandError> {
    let limited = match (args.measure, args.window) {
        (None, None) => Limited::Concurrency,
        (None, Some(_)) => {
            return Err(CommandError::Usage("requests at once have no window; leave --window out"));
        }
        (Some(measure), window) => {
            let default = if args.each_session { Window::Total } else { Window::Month };
            Limited::Used { measure, window: window.unwrap_or(default) }
        }
    };
    Ok(BudgetWish {
        each_session: args.each_session,
        subject: args.whose.clone(),
        account,
        limited,
        limit: amount(limited, &args.limit)?,
        hard: !args.soft,
        zone: args.zone.clone(),
    })
}

/// A budget, and what is left of it as far as database and journal know.
struct Left {
    view: BudgetView,
    allowance: AllowanceView,
}

impl Left {
    async fn of(
        records: &Records,
        views: Vec<BudgetView>,
        now: UnixMillis,
    ) -> Result<Vec<Self>, StorageError> {
        let tail = records.store.journal_tail(&records.master_key).await?;
        let mut all = Vec::with_capacity(views.len());
        for view in views {
            let allowance = left(records, &tail, &view.budget, now).await?;
            all.push(Self { view, allowance });
        }
        Ok(all)
    }

    fn quantity(&self) -> &Quantity {
        &self.allowance.allowance.quantity
    }
}

async fn left(
    records: &Records,
    tail: &JournalTail,
    budget: &BudgetRecord,
    now: UnixMillis,
) -> Result<AllowanceView, StorageError> {
    if budget.each_session {
        return Ok(AllowanceView::of_session(budget, now));
    }
    let allowance = Allowance::of_budget(budget);
    allowances::view(&records.store, tail, (&budget.subject, &allowance), now).await
}

async fn one(
    records: &Records,
    id: &str,
    now: UnixMillis,
    (json, out): (bool, &mut dyn Write),
) -> Result<(), CommandError> {
    let view = records.admin(now).budget(id).await?;
    print(&Left::of(records, vec![view], now).await?, json, out)?;
    Ok(())
}

fn print(budgets: &[Left], json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        return budgets.iter().try_for_each(|it| writeln!(out, "{}", as_json(it)));
    }
    let rows: Vec<[String; 7]> = budgets
        .iter()
        .map(|it| {
            let AllowanceView { allowance, used, reset, .. } = &it.allowance;
            let soft = if allowance.hard { "" } else { ", soft" };
            let shown =
                |figure: Option<u64>| or_dash(figure.map(|it| allowance.quantity.amount(it)));
            [
                it.view.budget.id.to_string(),
                it.view.whose_name(),
                format!(
                    "{} {}{soft}",
                    allowance.quantity.amount(allowance.limit),
                    allowance.what()
                ),
                shown(*used),
                shown(it.allowance.left()),
                or_dash(reset.map(|reset| UnixMillis(reset.saturating_mul(1000)).to_rfc3339())),
                it.view.budget.zone.clone(),
            ]
        })
        .collect();
    table(out, ["budget", "for", "limit", "used", "left", "resets", "zone"], &rows)
}

/// When something ends, in words where it never does.
fn until_when(top_up: &TopUp) -> String {
    top_up.ends().map_or_else(|| "for ever".to_owned(), UnixMillis::to_rfc3339)
}

/// What is measured, as JSON readers take it: money in US dollars.
fn figure(quantity: &Quantity, figure: u64) -> Value {
    match quantity.amount(figure) {
        Amount::Usd(money) => json!(money.to_dollars()),
        Amount::Count(count) => json!(count),
    }
}

fn as_json(left: &Left) -> Value {
    let Left { view: BudgetView { budget, .. }, allowance } = left;
    let quantity = left.quantity();
    let of = |it: u64| figure(quantity, it);
    json!({
        "id": budget.id,
        "account_id": budget.account_id,
        "for": budget.subject.to_string(),
        "for_name": left.view.whose_name(),
        "each_session": budget.each_session,
        "measure": budget.limited.measure_word(),
        "window": budget.limited.window().map(window_word),
        "zone": budget.zone,
        "hard": budget.hard,
        "limit": of(budget.limit),
        "limit_now": of(allowance.allowance.limit),
        "used": allowance.used.map(of),
        "left": allowance.left().map(of),
        "resets_at": allowance.reset.map(|it| UnixMillis(it.saturating_mul(1000)).to_rfc3339()),
        "counts_from": budget.counts_from.to_rfc3339(),
        "top_ups": budget.top_ups.iter().map(|it| json!({
            "amount": of(it.amount),
            "from": it.from.to_rfc3339(),
            "until": until_when(it),
        })).collect::<Vec<_>>(),
        "managed_by": budget.managed_by,
        "created_at": budget.created_at.to_rfc3339(),
        "removed_at": budget.removed_at.map(UnixMillis::to_rfc3339),
    })
}

async fn show(
    records: &Records,
    left: &Left,
    now: UnixMillis,
    (json, out): (bool, &mut dyn Write),
) -> Result<(), CommandError> {
    let budget = &left.view.budget;
    let past = records.admin(now).past_windows(budget).await?;
    let time = |seconds: u64| UnixMillis(seconds.saturating_mul(1000)).to_rfc3339();
    if json {
        let mut value = as_json(left);
        value["past_windows"] = past
            .iter()
            .map(|(span, used)| {
                json!({
                    "from": time(span.start),
                    "until": time(span.end),
                    "used": figure(left.quantity(), *used),
                })
            })
            .collect();
        writeln!(out, "{value}")?;
        return Ok(());
    }
    print(std::slice::from_ref(left), false, out)?;
    if !budget.top_ups.is_empty() {
        writeln!(out)?;
        let rows: Vec<[String; 3]> = budget
            .top_ups
            .iter()
            .map(|it| {
                let amount = left.quantity().amount(it.amount).to_string();
                [amount, it.from.to_rfc3339(), until_when(it)]
            })
            .collect();
        table(out, ["top-up", "from", "until"], &rows)?;
    }
    if !past.is_empty() {
        writeln!(out)?;
        let rows: Vec<[String; 3]> = past
            .iter()
            .map(|(span, used)| {
                [time(span.start), time(span.end), left.quantity().amount(*used).to_string()]
            })
            .collect();
        table(out, ["past window", "until", "used"], &rows)?;
    }
    Ok(())
}

/// How many of yesterday's requests a budget would have refused.
async fn rehearse(
    records: &Records,
    wish: BudgetWish,
    now: UnixMillis,
    (json, out): (bool, &mut dyn Write),
) -> Result<(), CommandError> {
    let Rehearsed { from, until, requests, refused } =
        records.admin(now).rehearse_budget(&wish).await?;
    if json {
        let value = json!({
            "from": from.to_rfc3339(),
            "until": until.to_rfc3339(),
            "requests": requests,
            "would_refuse": refused,
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let would = if wish.hard { "would have refused" } else { "would have noted" };
    writeln!(out, "It {would} {refused} of {requests} requests of yesterday. Nothing was set.")?;
    Ok(())
}
