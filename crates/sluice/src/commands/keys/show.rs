//! What is printed about service keys.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId};
use sluice_core::region::Region;
use sluice_gateway::limits::AllowanceView;
use sluice_gateway::snapshot::Rules;
use sluice_storage::{AccountRecord, KeyRecord};

use crate::commands::records::{CommandError, Records, figure, named, or_dash, table};
use crate::config::Settings;
use crate::serve;

/// What is around a key: its account, its class's limits, when it was used.
pub(super) struct Around {
    pub(super) now: UnixMillis,
    rotation_advice_days: u64,
    pub(super) rules: Rules,
    accounts: HashMap<AccountId, AccountRecord>,
    uses: HashMap<KeyId, UnixMillis>,
}

impl Around {
    pub(super) async fn read(
        records: &Records,
        settings: &Settings,
        now: UnixMillis,
    ) -> Result<Self, CommandError> {
        let accounts = records.store.accounts().await?;
        Ok(Self {
            now,
            rotation_advice_days: u64::from(settings.keys.rotation_advice_days),
            rules: serve::rules(settings),
            accounts: accounts.into_iter().map(|account| (account.id.clone(), account)).collect(),
            uses: records.store.last_uses(&records.master_key).await?,
        })
    }

    fn is_due(&self, key: &KeyRecord) -> bool {
        let age_days = self.now.since(key.created_at).as_secs() / (24 * 60 * 60);
        let old = age_days >= self.rotation_advice_days;
        old && key.is_valid_at(self.now) && key.replaced_by.is_none()
    }

    /// Requests an hour and tokens a day: the key's, or its account's where those are tighter.
    fn limits(&self, key: &KeyRecord) -> (Option<u64>, Option<u64>) {
        let own = self.rules.key_limits(key);
        let account = self.accounts.get(&key.account_id);
        let account = account.map(|account| self.rules.account_rules(account).limits);
        let account = account.unwrap_or_default();
        (
            tighter(own.requests_per_hour, account.requests_per_hour),
            tighter(own.tokens_per_day, account.tokens_per_day),
        )
    }

    pub(super) fn account(&self, key: &KeyRecord) -> Option<&AccountRecord> {
        self.accounts.get(&key.account_id)
    }

    fn account_name(&self, key: &KeyRecord) -> Option<&str> {
        self.accounts.get(&key.account_id).map(|account| account.name.as_str())
    }

    fn last_use(&self, key: &KeyRecord) -> Option<String> {
        self.uses.get(&key.id).map(|at| at.to_rfc3339())
    }
}

fn tighter(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

pub(super) fn list(
    keys: &[KeyRecord],
    json: bool,
    around: &Around,
    out: &mut dyn Write,
) -> io::Result<()> {
    if json {
        for key in keys {
            writeln!(out, "{}", as_json(key, around))?;
        }
        return Ok(());
    }
    let rows: Vec<[String; 10]> = keys
        .iter()
        .map(|key| {
            let due = if around.is_due(key) { ", rotate it" } else { "" };
            let (requests, tokens) = around.limits(key);
            [
                key.id.to_string(),
                format!("{}…", key.prefix),
                key.name.clone(),
                named(&key.account_id, around.account_name(key)),
                or_dash(key.owner.as_ref()),
                key.class.as_str().to_owned(),
                figure(requests),
                figure(tokens),
                around.last_use(key).unwrap_or_else(|| "never".to_owned()),
                format!("{}{due}", state(key, around.now)),
            ]
        })
        .collect();
    let heading = [
        "id",
        "key",
        "name",
        "account",
        "owner",
        "class",
        "requests/hour",
        "tokens/day",
        "last used",
        "state",
    ];
    table(out, heading, &rows)?;
    writeln!(out, "\nLimits are the key's, or its account's where those are tighter.")
}

fn state(key: &KeyRecord, now: UnixMillis) -> String {
    match (key.revoked_at, key.expires_at, &key.replaced_by) {
        (Some(at), _, _) => format!("revoked {}", at.to_rfc3339()),
        (None, Some(at), _) if at <= now => format!("expired {}", at.to_rfc3339()),
        (None, Some(at), Some(by)) => format!("replaced by {by}, until {}", at.to_rfc3339()),
        (None, Some(at), None) => format!("valid until {}", at.to_rfc3339()),
        (None, None, _) => "valid".to_owned(),
    }
}

pub(super) fn show(key: &KeyRecord, around: &Around, out: &mut dyn Write) -> io::Result<()> {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let regions = key
        .regions
        .as_ref()
        .map(|regions| regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(", "));
    let (requests, tokens) = around.limits(key);
    let limit = |binding: Option<u64>, own: Option<u64>| match own {
        Some(own) if binding == Some(own) => format!("{own} (its own)"),
        Some(own) => format!("{} (its account's; its own is {own})", figure(binding)),
        None => figure(binding),
    };
    let lines = [
        ("id", key.id.to_string()),
        ("key", format!("{}…", key.prefix)),
        ("name", key.name.clone()),
        ("state", state(key, around.now)),
        ("account", named(&key.account_id, around.account_name(key))),
        ("owner", or_dash(key.owner.as_ref())),
        ("class", key.class.as_str().to_owned()),
        ("requests per hour", limit(requests, key.requests_per_hour)),
        ("tokens per day", limit(tokens, key.tokens_per_day)),
        ("max_tokens", key.max_tokens.as_str().to_owned()),
        ("models", key.models.as_ref().map_or("all".to_owned(), |models| models.join(", "))),
        ("regions", regions.unwrap_or_else(|| "all".to_owned())),
        ("default region", or_dash(key.region.map(Region::as_str))),
        ("security level", format!("at least {}", key.minimum_level.as_str())),
        ("zero retention", yes(key.zero_retention)),
        ("audit", yes(key.audit)),
        ("created", key.created_at.to_rfc3339()),
        ("last used", around.last_use(key).unwrap_or_else(|| "never".to_owned())),
    ];
    for (label, value) in lines {
        writeln!(out, "{label:18} {value}")?;
    }
    Ok(())
}

/// What binds the key, and what is left of it.
pub(super) fn allowances(views: &[AllowanceView], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 7]> = views
        .iter()
        .map(|view| {
            let quantity = &view.allowance.quantity;
            let known = |figure: Option<u64>| {
                figure.map_or("?".to_owned(), |figure| quantity.amount(figure).to_string())
            };
            let soft = if view.allowance.hard { "" } else { ", soft" };
            let reset = view.reset.map(|reset| UnixMillis(reset.saturating_mul(1000)));
            [
                view.subject.to_string(),
                format!("{} {}{soft}", quantity.amount(view.allowance.limit), quantity.what()),
                known(view.used),
                known(view.left()),
                reset.map_or("-".to_owned(), UnixMillis::to_rfc3339),
                view.allowance.source.word.to_owned(),
                if view.binds { "least left" } else { "" }.to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table(out, ["limit of", "limit", "used", "left", "resets", "from", ""], &rows)?;
    writeln!(out, "\nOnly the running server knows what is reserved: see GET /auth/token.")
}

/// `requests_per_hour` and `tokens_per_day` are the key's own; `limits` are what binds it, `null` where
/// nothing does.
pub(super) fn as_json(key: &KeyRecord, around: &Around) -> serde_json::Value {
    let (requests_per_hour, tokens_per_day) = around.limits(key);
    json!({
        "id": key.id,
        "prefix": key.prefix,
        "name": key.name,
        "valid": key.is_valid_at(around.now),
        "account_id": key.account_id,
        "account_name": around.account_name(key),
        "owner": key.owner,
        "class": key.class,
        "requests_per_hour": key.requests_per_hour,
        "tokens_per_day": key.tokens_per_day,
        "limits": { "requests_per_hour": requests_per_hour, "tokens_per_day": tokens_per_day },
        "max_tokens": key.max_tokens,
        "models": key.models,
        "regions": key.regions,
        "region": key.region,
        "security_level": key.minimum_level,
        "zero_retention": key.zero_retention,
        "audit": key.audit,
        "created_at": key.created_at.to_rfc3339(),
        "expires_at": key.expires_at.map(UnixMillis::to_rfc3339),
        "revoked_at": key.revoked_at.map(UnixMillis::to_rfc3339),
        "last_used_at": around.last_use(key),
        "replaced_by": key.replaced_by,
    })
}
