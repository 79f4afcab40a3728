//! What operators change of a model that the database holds.

use sluice_core::money::TokenPrice;
use sluice_gateway::admin::{AdminError, ModelView};
use sluice_gateway::vendors::{ListPrice, ModelSpec};

use crate::components::{Field, Kind};
use crate::web::{Failure, Fields, sentence};

/// What is wrong with the form: the field, or all of it, and what to do.
pub(super) type Wrong = (Option<&'static str>, String);

const PRICES: [(&str, &str); 3] = [
    ("price_input", "Price of prompts"),
    ("price_cached_input", "Price of cached prompts"),
    ("price_output", "Price of answers"),
];
const TOKENS: [(&str, &str); 2] =
    [("context_window", "Context window"), ("output_limit", "Longest answer")];

/// What is stored.
pub(super) fn spec(found: &ModelView) -> ModelSpec {
    let record = found.record.as_ref();
    record.and_then(|it| serde_json::from_value(it.settings.clone()).ok()).unwrap_or_default()
}

/// The fields of the form, with what is stored or what was typed.
pub(super) fn fields(
    spec: &ModelSpec,
    typed: Option<&Fields>,
    wrong: Option<&Wrong>,
) -> Vec<Field> {
    let price = spec.price.as_ref();
    let figure = |figure: Option<u32>| figure.map(|it| it.to_string());
    let stored = |name: &str| match name {
        "upstream_model" => spec.upstream_model.clone(),
        "price_input" => price.map(|it| it.input.to_string()),
        "price_cached_input" => price.and_then(|it| it.cached_input).map(|it| it.to_string()),
        "price_output" => price.map(|it| it.output.to_string()),
        "context_window" => figure(spec.context_window),
        _ => figure(spec.output_limit),
    };
    let field = |kind: Kind, name: &'static str, label: &str| {
        let value =
            typed.map_or_else(|| stored(name).unwrap_or_default(), |it| it.get(name).to_owned());
        let field = Field::new(kind, name, label).value(value);
        match wrong {
            Some((Some(at), text)) if *at == name => field.error(text.clone()),
            _ => field,
        }
    };
    let mut fields = vec![
        field(Kind::Line, "upstream_model", "Name at the provider")
            .hint("Empty: the same as here."),
    ];
    fields
        .extend(PRICES.map(|(name, label)| field(Kind::Number, name, label).unit("$ per million")));
    fields.extend(TOKENS.map(|(name, label)| field(Kind::Number, name, label).unit("tokens")));
    fields
}

/// What the form says, put into what is stored.
pub(super) fn apply(form: &Fields, spec: &mut ModelSpec) -> Result<(), Wrong> {
    let price = |name: &'static str| -> Result<Option<TokenPrice>, Wrong> {
        let Some(text) = form.some(name) else { return Ok(None) };
        let text = text.trim_start_matches('$');
        let read =
            text.parse().map_err(|error| (Some(name), format!("{error}: write 2.50 for $2.50.")));
        read.map(Some)
    };
    let tokens = |name: &'static str| -> Result<Option<u32>, Wrong> {
        let Some(text) = form.some(name) else { return Ok(None) };
        let text = text.replace([',', '_', ' '], "");
        let read = text.parse().ok().filter(|it| *it > 0);
        read.map(Some).ok_or((Some(name), "Write a whole number of tokens, as 128000.".to_owned()))
    };
    let (input, output) = (price("price_input")?, price("price_output")?);
    let cached_input = price("price_cached_input")?;
    let old = spec.price.take();
    spec.price = match (input, output) {
        (Some(input), Some(output)) => {
            let (cache_write, reasoning) =
                old.as_ref().map_or((None, None), |it| (it.cache_write, it.reasoning));
            Some(ListPrice { input, cached_input, cache_write, output, reasoning })
        }
        (None, None) if cached_input.is_none() => None,
        (None, _) => return Err((Some("price_input"), BOTH.to_owned())),
        (_, None) => return Err((Some("price_output"), BOTH.to_owned())),
    };
    spec.upstream_model = form.some("upstream_model").map(str::to_owned);
    spec.context_window = tokens("context_window")?;
    spec.output_limit = tokens("output_limit")?;
    Ok(())
}

const BOTH: &str = "A price has that of prompts and that of answers. Leave all of them empty for what the \
                    catalogue says.";

/// What a refusal means for the form. What does not concern it is a failure of the page.
pub(super) fn refusal(error: AdminError) -> Result<Wrong, Failure> {
    match &error {
        AdminError::Settings(problems) => {
            let key = problems.first().map_or("", |problem| problem.key.as_str());
            let known = ["upstream_model", "context_window", "output_limit"];
            Ok((known.into_iter().find(|field| *field == key), sentence(&error)))
        }
        AdminError::ChangedMeanwhile => Ok((None, sentence(&error))),
        _ => Err(error.into()),
    }
}
