//! What the table itself tells of models that are not in it: by their relatives, or by their price.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use sluice_routing::quality::line::logit;
use sluice_routing::quality::name::ModelName;
use sluice_routing::quality::table::{Kinship, PriceLine, Row, Source, versions_between};

use super::boards::hash;

use super::coefficient;

/// What a later version and twice the size bring, over all pairs of relatives: least squares.
pub(super) fn kinship(rows: &[Row]) -> Kinship {
    let of_models: Vec<(&ModelName, f64)> = rows
        .iter()
        .filter(|row| row.effort.is_none())
        .filter_map(|row| Some((row.name.as_ref()?, logit(row.average?))))
        .collect();
    // The sums of least squares, with a little to hold what few pairs say.
    let (mut vv, mut vs, mut ss, mut vy, mut sy) = (1.0, 0.0, 1.0, 0.0, 0.0);
    for (i, (a, of_a)) in of_models.iter().enumerate() {
        for (b, of_b) in &of_models[..i] {
            let Some(versions) = versions_between(a, b) else { continue };
            if a.family() != b.family() || versions.abs() > 2.0 {
                continue;
            }
            let doublings = match (a.size_billions(), b.size_billions()) {
                (Some(a), Some(b)) => (a / b).log2(),
                (None, None) => 0.0,
                _ => continue,
            };
            let better = of_a - of_b;
            vv += versions * versions;
            vs += versions * doublings;
            ss += doublings * doublings;
            vy += versions * better;
            sy += doublings * better;
        }
    }
    let determinant = vv * ss - vs * vs;
    Kinship {
        version: coefficient((vy * ss - sy * vs) / determinant),
        doubling: coefficient((sy * vv - vy * vs) / determinant),
    }
}

/// The usual list price of each model, in US dollars per million tokens, three parts prompt and one
/// part answer: the middle one of all that have it.
pub(crate) type Prices = BTreeMap<String, f64>;

/// What a price list says of a model; it says much else.
#[derive(Deserialize)]
struct Listed {
    mode: Option<String>,
    input_cost_per_token: Option<f64>,
    output_cost_per_token: Option<f64>,
}

/// The list of prices in a folder: LiteLLM's, of which the program has a part.
pub(crate) fn list_prices(folder: &Path) -> Result<(Prices, Source)> {
    let path = folder.join("litellm_prices.json");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let list: BTreeMap<String, Value> = serde_json::from_str(&text)?;
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in list {
        let (Some(known), Ok(listed)) =
            (ModelName::parse(&name), serde_json::from_value::<Listed>(value))
        else {
            continue;
        };
        let (Some(input), Some(output)) =
            (listed.input_cost_per_token, listed.output_cost_per_token)
        else {
            continue;
        };
        let blend = (3.0 * input + output) / 4.0 * 1e6;
        if blend > 0.0 && listed.mode.is_some_and(|mode| mode == "chat" || mode == "responses") {
            all.entry(known.key()).or_default().push(blend);
        }
    }
    let middle = |mut prices: Vec<f64>| {
        prices.sort_by(f64::total_cmp);
        prices[prices.len() / 2]
    };
    let source = Source {
        name: "litellm".to_owned(),
        from: "github.com/BerriAI/litellm, model_prices_and_context_window.json".to_owned(),
        licence: "MIT".to_owned(),
        // The file does not say it.
        date: String::new(),
        blake3: hash(&text),
    };
    Ok((all.into_iter().map(|(model, prices)| (model, middle(prices))).collect(), source))
}

/// The share of known models at the same price that lie above the guess for one that nobody rated:
/// most of those are old, or somebody's changed copies of others.
const EXCEEDED: f64 = 0.9;

/// A line through all models of the table that have a list price, by least squares, and lowered
/// until [`EXCEEDED`] of them are above it.
pub(super) fn price_line(rows: &[Row], prices: &Prices) -> PriceLine {
    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.effort.is_none())
        .filter_map(|row| Some((prices.get(&row.model)?.log10(), logit(row.average?))))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
    let count = pairs.len() as f64;
    let x = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
    let y = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
    let both = pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)).sum::<f64>();
    let tenfold = both / pairs.iter().map(|pair| (pair.0 - x).powi(2)).sum::<f64>();
    let mut above: Vec<f64> = pairs.iter().map(|pair| pair.1 - tenfold * pair.0).collect();
    above.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in it")]
    let place = (count * (1.0 - EXCEEDED)) as usize;
    let one_dollar = above.get(place).copied().unwrap_or(y);
    PriceLine { one_dollar: coefficient(one_dollar), tenfold: coefficient(tenfold) }
}
