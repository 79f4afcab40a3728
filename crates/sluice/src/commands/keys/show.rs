//! What is printed about service keys.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::json;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::KeyId;
use sluice_core::organisation::Holder;
use sluice_core::region::Region;
use sluice_gateway::admin::is_due;
use sluice_gateway::snapshot::Rules;
use sluice_storage::{AccountRecord, KeyRecord, Organisation, SecretRecord};

use crate::commands::records::{CommandError, Records, figure, named, or_dash, table};
use crate::config::Settings;
use crate::serve;

/// What is around a key: its account, its class's limits, when it was used.
pub(super) struct Around {
    pub(super) now: UnixMillis,
    rotation_advice_days: u64,
    pub(super) rules: Rules,
    pub(super) organisation: Arc<Organisation>,
    uses: HashMap<KeyId, UnixMillis>,
}

impl Around {
    pub(super) async fn read(
        records: &Records,
        settings: &Settings,
        now: UnixMillis,
    ) -> Result<Self, CommandError> {
        let organisation = records.store.organisation().await?;
        Ok(Self {
            now,
            rotation_advice_days: u64::from(settings.keys.rotation_advice_days),
            rules: serve::rules(settings),
            organisation,
            uses: records.store.last_uses(&records.master_key).await?,
        })
    }

    fn is_due(&self, key: &KeyRecord) -> bool {
        is_due(key, &self.organisation, self.rotation_advice_days, self.now)
    }

    /// Requests an hour and tokens a day: the key's, or its account's where those are tighter.
    fn limits(&self, key: &KeyRecord) -> (Option<u64>, Option<u64>) {
        let own = self.rules.key_limits(key);
        let account = self.organisation.accounts.get(&key.account_id);
        let account = account.map(|account| self.rules.account_rules(account).limits);
        let account = account.unwrap_or_default();
        (
            tighter(own.requests_per_hour, account.requests_per_hour),
            tighter(own.tokens_per_day, account.tokens_per_day),
        )
    }

    pub(super) fn account(&self, key: &KeyRecord) -> Option<&AccountRecord> {
        self.organisation.accounts.get(&key.account_id)
    }

    fn account_name(&self, key: &KeyRecord) -> Option<&str> {
        self.organisation.accounts.get(&key.account_id).map(|account| account.name.as_str())
    }

    /// Whether the key works now, and nothing that it belongs to is suspended.
    pub(super) fn is_valid(&self, key: &KeyRecord) -> bool {
        key.is_valid_at(self.now) && self.organisation.suspension(key).is_none()
    }

    fn team_name(&self, key: &KeyRecord) -> Option<&str> {
        self.organisation.teams.get(key.team_id.as_ref()?).map(|team| team.name.as_str())
    }

    fn department_name(&self, key: &KeyRecord) -> Option<&str> {
        let department = self.organisation.department_of(key.team_id.as_ref());
        department.map(|department| department.name.as_str())
    }

    /// Whose it is, as people call them; else the note of an older version.
    fn owner(&self, key: &KeyRecord) -> Option<String> {
        let name = match &key.holder {
            Some(Holder::Person(id)) => self.organisation.people.get(id).map(|it| &it.email),
            Some(Holder::Service(id)) => self.organisation.services.get(id).map(|it| &it.name),
            None => return key.owner.clone(),
        };
        match (&key.holder, name) {
            (Some(Holder::Person(_)), Some(name)) => Some(format!("person:{name}")),
            (Some(Holder::Service(_)), Some(name)) => Some(format!("service:{name}")),
            (holder, _) => holder.as_ref().map(ToString::to_string),
        }
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
    if keys.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 11]> = keys
        .iter()
        .map(|key| {
            let due = if around.is_due(key) { ", rotate it" } else { "" };
            let (requests, tokens) = around.limits(key);
            [
                key.id.to_string(),
                format!("{}…", key.prefix()),
                key.name.clone(),
                named(&key.account_id, around.account_name(key)),
                or_dash(around.team_name(key)),
                or_dash(around.owner(key)),
                key.class.as_str().to_owned(),
                figure(requests),
                figure(tokens),
                around.last_use(key).unwrap_or_else(|| "never".to_owned()),
                format!("{}{due}", state(key, around)),
            ]
        })
        .collect();
    let heading = [
        "id",
        "key",
        "name",
        "account",
        "team",
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

fn state(key: &KeyRecord, around: &Around) -> String {
    match (key.revoked_at, around.organisation.suspension(key), key.expires_at) {
        (Some(at), _, _) => format!("revoked {}", at.to_rfc3339()),
        (None, Some(why), _) => why,
        (None, None, Some(at)) if at <= around.now => format!("expired {}", at.to_rfc3339()),
        (None, None, Some(at)) => format!("valid until {}", at.to_rfc3339()),
        (None, None, None) => "valid".to_owned(),
    }
}

/// Each secret that works, with its end where it has one.
fn secrets(key: &KeyRecord, now: UnixMillis) -> String {
    let living = key.secrets.iter().filter(|secret| secret.is_valid_at(now));
    let texts: Vec<String> = living
        .map(|secret| match secret.expires_at {
            Some(at) => format!("{}… until {}", secret.prefix, at.to_rfc3339()),
            None => format!("{}…", secret.prefix),
        })
        .collect();
    or_dash((!texts.is_empty()).then(|| texts.join(", ")))
}

pub(super) fn show(key: &KeyRecord, around: &Around, out: &mut dyn Write) -> io::Result<()> {
    let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let regions = key
        .regions
        .as_ref()
        .map(|regions| regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(", "));
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let (requests, tokens) = around.limits(key);
    let of_key = around.rules.key_limits(key);
    let limit = |binding: Option<u64>, of_key: Option<u64>, own: Option<u64>| {
        let whose = if own.is_some() { "own" } else { "class's" };
        match binding == of_key {
            true => format!("{} (its {whose})", figure(binding)),
            false => {
                let (binding, of_key) = (figure(binding), figure(of_key));
                format!("{binding} (its account's; its {whose} is {of_key})")
            }
        }
    };
    let lines = [
        ("id", key.id.to_string()),
        ("key", secrets(key, around.now)),
        ("name", key.name.clone()),
        ("state", state(key, around)),
        ("account", named(&key.account_id, around.account_name(key))),
        ("department", or_dash(around.department_name(key))),
        ("team", or_dash(around.team_name(key))),
        ("owner", or_dash(around.owner(key))),
        ("scopes", scopes.join(", ")),
        ("class", key.class.as_str().to_owned()),
        ("requests per hour", limit(requests, of_key.requests_per_hour, key.requests_per_hour)),
        ("tokens per day", limit(tokens, of_key.tokens_per_day, key.tokens_per_day)),
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

/// What a change took from a key besides what was named: its team, its owner or both.
pub(super) fn lost(old: &KeyRecord, new: &KeyRecord) -> Option<&'static str> {
    let team = old.team_id.is_some() && new.team_id.is_none();
    let owner = old.holder.is_some() && new.holder.is_none();
    match (team, owner) {
        (true, true) => Some("a team and an owner"),
        (true, false) => Some("a team"),
        (false, true) => Some("an owner"),
        (false, false) => None,
    }
}

/// `requests_per_hour` and `tokens_per_day` are the key's own; `limits` are what binds it, `null` where
/// nothing does.
pub(super) fn as_json(key: &KeyRecord, around: &Around) -> serde_json::Value {
    let (requests_per_hour, tokens_per_day) = around.limits(key);
    let secret = |it: &SecretRecord| {
        json!({
            "prefix": it.prefix,
            "created_at": it.created_at.to_rfc3339(),
            "expires_at": it.expires_at.map(UnixMillis::to_rfc3339),
            "valid": it.is_valid_at(around.now),
        })
    };
    let secrets: Vec<serde_json::Value> = key.secrets.iter().map(secret).collect();
    json!({
        "id": key.id,
        "subject": format!("key:{}", key.id),
        "prefix": key.prefix(),
        "secrets": secrets,
        "name": key.name,
        "valid": around.is_valid(key),
        "account_id": key.account_id,
        "account_name": around.account_name(key),
        "department_name": around.department_name(key),
        "team_id": key.team_id,
        "team_name": around.team_name(key),
        "owner": around.owner(key),
        "owner_id": key.holder.as_ref().map(ToString::to_string),
        "scopes": key.scopes,
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
        "suspended_at": key.suspended.as_ref().map(|it| it.at.to_rfc3339()),
        "suspended": around.organisation.suspension(key),
        "last_used_at": around.last_use(key),
    })
}
