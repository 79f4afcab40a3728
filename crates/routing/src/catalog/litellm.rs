//! Reads LiteLLM's price file, `model_prices_and_context_window.json`.
//!
//! The file is one object, a member a model. Prices are US dollars per token as JSON numbers, some
//! in scientific notation, some with floating-point noise (`4.0000000000000003e-07`). They are
//! read from the text, not through a float, and rounded to whole pico-dollars a token, which
//! takes the noise off. A model whose prices are both zero is one that nobody has priced: its
//! price is unknown. Prices that depend on the prompt's length or on a service tier have no place
//! in a [`ListPrice`]; the plain ones are taken and the models counted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use sluice_core::money::TokenPrice;

use super::facts::{FactList, Facts, ListPrice};
use super::{Capabilities, PriceSource};

/// The name that [`import`] gives as the source.
pub const SOURCE: &str = "LiteLLM's price list";

/// What [`import`] found.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The models taken over.
    pub list: FactList,
    /// Models of providers without a preset, or that were not asked for.
    pub other_providers: usize,
    /// Entries that are no chat models: other modes, brackets of sizes, tariffs of fine-tuning.
    pub other_modes: usize,
    /// Chat models that their provider had switched off before the list's day.
    pub retired: usize,
    /// Entries that could not be read.
    pub malformed: usize,
    /// Models taken over without a price.
    pub unpriced: usize,
    /// Models taken over whose price for long prompts is higher than the plain one.
    pub tiered: usize,
}

/// Why a text is not LiteLLM's price file.
#[derive(Debug, thiserror::Error)]
pub enum NotAPriceFile {
    /// It is not a JSON object of objects.
    #[error("it is no JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no chat model in it.
    #[error("it has no chat model of {0}")]
    NothingFound(String),
}

/// A provider in both worlds.
struct Provider {
    /// LiteLLM's name.
    theirs: &'static str,
    /// Our preset's.
    kind: &'static str,
    /// Whether all its models' names begin with LiteLLM's name of it; one that does not is a
    /// bracket of sizes (`together-ai-4.1b-8b`) and no model.
    prefixed: bool,
}

const fn provider(theirs: &'static str, kind: &'static str, prefixed: bool) -> Provider {
    Provider { theirs, kind, prefixed }
}

const PROVIDERS: &[Provider] = &[
    provider("anthropic", "anthropic", false),
    provider("azure", "azure", true),
    provider("cerebras", "cerebras", true),
    provider("deepseek", "deepseek", false),
    provider("fireworks_ai", "fireworks", true),
    provider("gemini", "gemini", false),
    provider("groq", "groq", true),
    provider("mistral", "mistral", true),
    provider("openai", "openai", false),
    provider("openrouter", "openrouter", true),
    provider("together_ai", "together", true),
    provider("xai", "xai", true),
];

/// How the tariffs of fine-tuned models begin: the rest is the model that was tuned.
const FINE_TUNED: &str = "ft:";

/// The kinds of providers that the file can have models of.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().map(|provider| provider.kind)
}

/// Reads the file: all chat models of `kind`, or of every kind where that is `None`. `date` is the
/// file's day.
pub fn import(text: &str, kind: Option<&str>, date: &str) -> Result<Import, NotAPriceFile> {
    let entries: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let mut import = Import::default();
    let mut found = Vec::new();
    for (name, entry) in &entries {
        if name == "sample_spec" {
            continue;
        }
        let Ok(entry) = serde_json::from_str::<Entry<'_>>(entry.get()) else {
            import.malformed += 1;
            continue;
        };
        if entry.mode.as_deref() != Some("chat") {
            import.other_modes += 1;
            continue;
        }
        let provider = PROVIDERS
            .iter()
            .find(|provider| Some(provider.theirs) == entry.litellm_provider.as_deref())
            .filter(|provider| kind.is_none_or(|kind| kind == provider.kind));
        let Some(provider) = provider else {
            import.other_providers += 1;
            continue;
        };
        let bare = name.strip_prefix(provider.theirs).and_then(|rest| rest.strip_prefix('/'));
        let is_bracket = provider.prefixed && bare.is_none();
        if is_bracket || name.starts_with(FINE_TUNED) {
            import.other_modes += 1;
            continue;
        }
        if entry.deprecation_date.as_deref().is_some_and(|end| is_day(end) && end < date) {
            import.retired += 1;
            continue;
        }
        let model = bare.unwrap_or(name);
        let price = entry.price();
        import.unpriced += usize::from(price.is_none());
        import.tiered += usize::from(entry.is_tiered());
        found.push(entry.into_facts(provider.kind, model, price, date));
    }
    if found.is_empty() {
        let what = kind.map_or("a provider that Sluice knows".to_owned(), str::to_owned);
        return Err(NotAPriceFile::NothingFound(what));
    }
    import.list = FactList::new(found);
    Ok(import)
}

/// A member of the file, as far as we look at it.
#[derive(Deserialize)]
struct Entry<'a> {
    litellm_provider: Option<String>,
    mode: Option<String>,
    deprecation_date: Option<String>,
    max_tokens: Option<serde_json::Value>,
    max_input_tokens: Option<serde_json::Value>,
    max_output_tokens: Option<serde_json::Value>,
    #[serde(borrow)]
    input_cost_per_token: Option<&'a RawValue>,
    #[serde(borrow)]
    cache_read_input_token_cost: Option<&'a RawValue>,
    #[serde(borrow)]
    cache_creation_input_token_cost: Option<&'a RawValue>,
    #[serde(borrow)]
    output_cost_per_token: Option<&'a RawValue>,
    #[serde(borrow)]
    output_cost_per_reasoning_token: Option<&'a RawValue>,
    supports_vision: Option<bool>,
    supports_function_calling: Option<bool>,
    supports_response_schema: Option<bool>,
    supports_reasoning: Option<bool>,
    supports_prompt_caching: Option<bool>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde::de::IgnoredAny>,
}

impl Entry<'_> {
    /// The price; `None` where it is not known.
    fn price(&self) -> Option<ListPrice> {
        let input = self.input_cost_per_token.and_then(dollars_a_token)?;
        let output = self.output_cost_per_token.and_then(dollars_a_token)?;
        if input.0 == 0 && output.0 == 0 {
            return None;
        }
        // A class with a price of zero is one that the provider does not bill apart.
        let class =
            |price: Option<&RawValue>| price.and_then(dollars_a_token).filter(|price| price.0 != 0);
        Some(ListPrice {
            input,
            cached_input: class(self.cache_read_input_token_cost),
            cache_write: class(self.cache_creation_input_token_cost),
            output,
            reasoning: class(self.output_cost_per_reasoning_token).filter(|p| *p != output),
        })
    }

    /// Whether long prompts cost more: `input_cost_per_token_above_200k_tokens` and the like.
    fn is_tiered(&self) -> bool {
        self.rest
            .keys()
            .any(|key| key.starts_with("input_cost_per_token_above_") && key.ends_with("k_tokens"))
    }

    fn into_facts(self, kind: &str, model: &str, price: Option<ListPrice>, date: &str) -> Facts {
        let window = self.max_input_tokens.as_ref().or(self.max_tokens.as_ref());
        Facts {
            kind: kind.to_owned(),
            model: model.to_owned(),
            owned_by: maker(kind, model).to_owned(),
            created: 0,
            context_window: window.and_then(count),
            output_limit: self.max_output_tokens.as_ref().and_then(count),
            capabilities: Capabilities {
                vision: self.supports_vision,
                tools: self.supports_function_calling,
                json_schema: self.supports_response_schema,
                reasoning: self.supports_reasoning,
                prompt_cache: self.supports_prompt_caching,
            },
            price,
            source: PriceSource { source: SOURCE.to_owned(), date: date.to_owned() },
        }
    }
}

/// Whether a text is a day (`2026-11-21`); days compare as texts do.
fn is_day(text: &str) -> bool {
    text.len() == 10 && text.starts_with(|c: char| c.is_ascii_digit())
}

/// Who made a model: hosts put the maker before the model's name.
fn maker<'a>(kind: &'a str, model: &'a str) -> &'a str {
    match kind {
        "azure" => "openai",
        "gemini" => "google",
        "fireworks" => kind,
        _ => model.split_once('/').map_or(kind, |(maker, _)| maker),
    }
}

/// A number of tokens; some are written as texts or with a decimal point.
fn count(value: &serde_json::Value) -> Option<u32> {
    let number = match value {
        serde_json::Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to fit")]
    (number.fract() == 0.0 && number >= 1.0 && number <= f64::from(u32::MAX))
        .then_some(number as u32)
}

/// A price from dollars a token, exactly, rounded to whole pico-dollars.
fn dollars_a_token(number: &RawValue) -> Option<TokenPrice> {
    picos(number.get()).map(TokenPrice)
}

/// A decimal number of dollars (`1.25e-06`) in pico-dollars, rounded half up; `None` where it is
/// negative, no number, or more than a million dollars.
fn picos(text: &str) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The value is 0.DIGITS × 10^point dollars, so that much of it is whole pico-dollars:
    let digits_before_point = i32::try_from(whole.len()).ok()?;
    let whole_picos = digits_before_point.checked_add(exponent)?.checked_add(12)?;
    let significant = digits.trim_start_matches('0');
    let zeros = i32::try_from(digits.len() - significant.len()).ok()?;
    let keep = whole_picos.checked_sub(zeros)?;
    if significant.is_empty() || keep < 0 {
        return Some(0);
    }
    let keep = usize::try_from(keep).ok().filter(|keep| *keep <= 18)?;
    let mut kept: String = significant.chars().take(keep).collect();
    while kept.len() < keep {
        kept.push('0');
    }
    let value: u64 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
    let rounds_up = significant.as_bytes().get(keep).is_some_and(|digit| *digit >= b'5');
    Some(value + u64::from(rounds_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_and_noise_is_rounded_off() {
        for (text, expected) in [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("1e-06", Some(1_000_000)),
            ("1.25e-06", Some(1_250_000)),
            ("2.5E-7", Some(250_000)),
            ("0.00003", Some(30_000_000)),
            ("0.000005", Some(5_000_000)),
            ("4.0000000000000003e-07", Some(400_000)),
            ("9.499999999999999e-07", Some(950_000)),
            ("1.59263611e-07", Some(159_264)),
            ("2.0345052083e-09", Some(2_035)),
            ("5e-13", Some(1)),
            ("4.9e-13", Some(0)),
            ("1e-40", Some(0)),
            ("15", Some(15_000_000_000_000)),
            ("1e2", Some(100_000_000_000_000)),
            ("1e+2", Some(100_000_000_000_000)),
            ("1e400", None),
            ("-1e-06", None),
            ("\"1e-06\"", None),
            ("null", None),
            ("1.2.3", None),
            ("", None),
        ] {
            assert_eq!(picos(text), expected, "{text}");
        }
    }

    const FILE: &str = r#"{
        "sample_spec": {"litellm_provider": "one of …", "max_tokens": "LEGACY parameter"},
        "gpt-x": {
            "litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272000,
            "max_output_tokens": 128000, "input_cost_per_token": 1.25e-06,
            "cache_read_input_token_cost": 1.2500000000000002e-07,
            "cache_creation_input_token_cost": 0.0, "output_cost_per_token": 1e-05,
            "output_cost_per_reasoning_token": 1e-05,
            "input_cost_per_token_above_272k_tokens": 2.5e-06,
            "supports_vision": true, "supports_reasoning": false
        },
        "together_ai/zai-org/GLM": {
            "litellm_provider": "together_ai", "mode": "chat", "max_tokens": "200000",
            "input_cost_per_token": 0, "output_cost_per_token": 0.0
        },
        "groq/odd": {"litellm_provider": "groq", "mode": "chat", "supports_vision": "yes"},
        "groq/quiet": {"litellm_provider": "groq", "mode": "chat"},
        "together-ai-up-to-4b": {"litellm_provider": "together_ai", "mode": "chat"},
        "ft:gpt-x": {"litellm_provider": "openai", "mode": "chat"},
        "groq/old": {"litellm_provider": "groq", "mode": "chat", "deprecation_date": "2026-11-20"},
        "whisper": {"litellm_provider": "openai", "mode": "audio_transcription"},
        "bedrock/x": {"litellm_provider": "bedrock", "mode": "chat"}
    }"#;

    #[test]
    fn chat_models_of_known_providers_are_taken_over() {
        let import = import(FILE, None, "2026-11-21").unwrap();
        assert_eq!((import.malformed, import.other_modes, import.other_providers), (1, 3, 1));
        assert_eq!((import.unpriced, import.tiered, import.retired), (2, 1, 1));

        let gpt = import.list.get("openai", "gpt-x").unwrap();
        let price = gpt.price.unwrap();
        assert_eq!(price.input.to_string(), "1.25");
        assert_eq!(price.cached_input.unwrap().to_string(), "0.125");
        assert_eq!((price.cache_write, price.reasoning), (None, None));
        assert_eq!((gpt.context_window, gpt.output_limit), (Some(272_000), Some(128_000)));
        assert_eq!(gpt.capabilities.vision, Some(true));
        assert_eq!(gpt.capabilities.reasoning, Some(false));
        assert_eq!(gpt.capabilities.tools, None);

        let glm = import.list.get("together", "zai-org/GLM").unwrap();
        assert_eq!((glm.price, glm.context_window), (None, Some(200_000)));
        assert_eq!(glm.owned_by, "zai-org");
    }

    #[test]
    fn one_kind_can_be_asked_for() {
        let import = import(FILE, Some("groq"), "2026-11-21").unwrap();
        assert_eq!(import.list.entries().len(), 1);
        assert!(kinds().any(|kind| kind == "groq"));
    }

    #[test]
    fn something_else_is_refused() {
        for text in ["", "[]", "{}", r#"{"a": {"mode": "chat"}}"#] {
            assert!(import(text, None, "2026-11-21").is_err(), "{text}");
        }
    }
}
