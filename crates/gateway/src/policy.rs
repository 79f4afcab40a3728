//! What holds for one request: the strictest of what everybody asks for, and whether the key may
//! ask for it at all.

use std::sync::Arc;

use sluice_core::chat::ChatRequest;
use sluice_core::key::MaxTokensBound;
use sluice_core::policy::{EffectivePolicy, Retention};
use sluice_routing::catalog::{Catalog, Model};

use crate::error::ChatError;
use crate::principal::Principal;
use crate::snapshot::Rules;

/// The documented bound on `max_tokens`.
const DOCUMENTED_MAX_TOKENS: u32 = 4096;

/// A model that was asked for, and what it stands for.
#[derive(Debug, Clone)]
pub struct AskedModel {
    /// The entry that was named.
    pub asked: Arc<Model>,
    /// The entry that answers: the same, or the one that it is an alias of.
    pub answering: Arc<Model>,
}

/// Whether `principal` may use `model`, and with it everything else that is the same for all its
/// requests: what `GET /models` lists.
pub fn may_use(principal: &Principal, model: &AskedModel) -> Result<(), ChatError> {
    let denied = |reason| Err(ChatError::NotPermitted { field: "model", reason });
    let id = &model.asked.id;
    if let Some(allowed) = &principal.key.models
        && !allowed.iter().any(|allowed| allowed == id.as_str())
    {
        return denied(format!(
            "this key may not use model `{id}`; it may use {}",
            allowed.join(", ")
        ));
    }
    let needed = model.asked.suite.max(model.answering.suite);
    if principal.suite < needed {
        return denied(format!(
            "model `{id}` belongs to the {} suite; this account has the {} suite",
            needed.as_str(),
            principal.suite.as_str()
        ));
    }
    Ok(())
}

/// The entry that `name` stands for in `catalog`.
pub fn resolve(catalog: &Catalog, name: &str) -> Result<AskedModel, ChatError> {
    // A name that nobody knows may be anything, a whole prompt too; only its beginning is told.
    let unknown = || ChatError::UnknownModel { model: name.chars().take(100).collect() };
    let asked = catalog.get(name).ok_or_else(unknown)?;
    let answering = match &asked.alias_of {
        Some(target) => catalog.get(target.as_str()).ok_or_else(unknown)?,
        None => asked,
    };
    Ok(AskedModel { asked: asked.clone(), answering: answering.clone() })
}

/// The policy of one request.
pub fn effective(
    principal: &Principal,
    chat: &ChatRequest,
    model: &AskedModel,
    rules: &Rules,
) -> Result<EffectivePolicy, ChatError> {
    let (key, account) = (&principal.key, &principal.account);
    let levels = [
        rules.minimum_level,
        account.minimum_level,
        key.minimum_level,
        model.asked.minimum_level,
        model.answering.minimum_level,
    ];
    let asked_level = chat.options.security_level.unwrap_or_default();
    let region = chat.options.region.or(key.region).or(account.region).or(rules.default_region);
    if let (Some(region), Some(allowed)) = (region, &key.regions)
        && !allowed.contains(&region)
    {
        let allowed: Vec<&str> = allowed.iter().map(|region| region.as_str()).collect();
        return Err(ChatError::NotPermitted {
            field: "region",
            reason: format!(
                "this key may not use region `{}`; it may use {}",
                region.as_str(),
                allowed.join(", ")
            ),
        });
    }
    let zero = chat.options.zero_retention || key.zero_retention || account.zero_retention;
    Ok(EffectivePolicy {
        level: levels.into_iter().fold(asked_level, Ord::max),
        region,
        audit: chat.options.audit_enabled || key.audit || account.audit,
        retention: if zero { Retention::SumsOnly } else { Retention::Records },
    })
}

/// The bound on generated tokens to send to the provider; `None` where the request has none.
pub fn max_tokens(
    principal: &Principal,
    chat: &ChatRequest,
    model: &Model,
) -> Result<Option<u32>, ChatError> {
    let Some(wanted) = chat.max_tokens else { return Ok(None) };
    match principal.key.max_tokens {
        MaxTokensBound::Documented if wanted > DOCUMENTED_MAX_TOKENS => {
            Err(ChatError::OutOfBounds {
                field: bound_field(chat).to_owned(),
                value: wanted.to_string(),
                expected: format!(
                    "an integer from 1 to {DOCUMENTED_MAX_TOKENS}; a key made with `sluice keys \
                     create --max-tokens model` takes the model's own limit instead"
                ),
            })
        }
        MaxTokensBound::Documented => Ok(Some(wanted)),
        MaxTokensBound::Model => Ok(Some(model.output_limit.map_or(wanted, |own| wanted.min(own)))),
    }
}

/// The name under which the request bounds its tokens.
fn bound_field(chat: &ChatRequest) -> &'static str {
    let newer = chat
        .source
        .members
        .iter()
        .any(|member| member.name == "max_completion_tokens" && !member.value.is_null());
    if newer { "max_completion_tokens" } else { "max_tokens" }
}
