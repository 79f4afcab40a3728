//! Makes the table of how good well-known models are (`crates/routing/models/quality.csv`) from
//! public leaderboards.
//!
//! Everything is brought to the scale of Arena's ratings first ([`ratings`]), and from there to
//! shares of requests done well by a curve that is fitted to public outcomes ([`scale`]). What sets
//! relatives apart, and what a price tells of a model that nobody knows, is fitted to the table
//! itself ([`kin`]).

pub(crate) mod boards;
pub(crate) mod kin;
pub(crate) mod livebench;
mod ratings;
mod scale;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use sluice_core::chat::ReasoningEffort;
use sluice_routing::quality::table::{QualityTable, Record, Row, Scale, to_csv};
use sluice_routing::task::TASK_TYPES;

use self::boards::Inputs;
use self::ratings::Ratings;
use crate::eval::routing_replay::Pool;

/// Where the leaderboards lie unless somebody says otherwise, from the repository's root.
pub(crate) const USUAL_FOLDER: &str = "../shared/data/quality";

const TABLE: &str = "crates/routing/models/quality.csv";
const RECORD: &str = "crates/routing/models/quality.json";

/// A table, and what was fitted beside it.
pub(crate) struct Fitted {
    pub(crate) rows: Vec<Row>,
    pub(crate) record: Record,
}

impl Fitted {
    /// As the program uses it.
    pub(crate) fn table(&self) -> QualityTable {
        QualityTable::new(self.rows.clone(), Some(self.record.family))
    }
}

/// Fits the table to the leaderboards `given` and the outcomes of `pools`.
pub(crate) fn fit(given: &Inputs, pools: &[(&str, &Pool)]) -> Result<Fitted> {
    let ratings = Ratings::of(given)?;
    let scale = scale::fit(&ratings, pools)?;
    let rows: Vec<Row> = ratings.models().map(|(key, of)| row(key, of, &scale)).collect();
    let family = kin::kinship(&rows);
    let price = kin::price_line(&rows, &given.prices);
    let record = Record {
        scale,
        price,
        family,
        sources: given.boards.iter().map(|given| given.source.clone()).collect(),
        prices: given.price_list.clone(),
        outcomes: pools.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    Ok(Fitted { rows, record })
}

fn row(
    (model, effort): &(String, Option<ReasoningEffort>),
    of: &ratings::Rated,
    scale: &Scale,
) -> Row {
    let shares = of.by_task.map(|rating| rounded(scale.share(rating)));
    #[expect(clippy::cast_precision_loss, reason = "thirteen")]
    let average = shares.iter().sum::<f64>() / TASK_TYPES as f64;
    Row {
        name: sluice_routing::quality::name::ModelName::parse(model),
        model: model.clone(),
        effort: *effort,
        average: Some(rounded(average)),
        by_task: shares.map(Some),
        source: of.sources.join(" "),
        date: of.date.clone(),
    }
}

/// What the table's file says: three decimals.
fn rounded(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}

/// Coefficients as they are written: four decimals.
fn coefficient(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}

/// Makes the table of all that is in `folder`, and of the outcomes in the folder `routing` beside
/// it, and writes it with its record; with `check`, compares instead.
pub(crate) fn train(folder: &Path, check: bool) -> Result<()> {
    let given = boards::read(folder)?;
    let pools = crate::eval::routing_replay::read(&folder.join("../routing"))?.0;
    let pools: Vec<(&str, &Pool)> =
        pools.iter().map(|(name, pool)| (name.as_str(), pool)).collect();
    let fitted = fit(&given, &pools)?;
    let csv = to_csv(&fitted.rows)?;
    let json = serde_json::to_string_pretty(&fitted.record)? + "\n";
    for (path, text) in [(TABLE, &csv), (RECORD, &json)] {
        if check {
            let committed =
                fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
            if committed != *text {
                bail!("{path} is not what this data and this code give");
            }
            println!("{path} is what this data and this code give");
        } else {
            fs::write(path, text).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: {} bytes", text.len());
        }
    }
    println!("{} rows; {:?}", fitted.rows.len(), fitted.record.scale);
    println!("{:?}, {:?}", fitted.record.price, fitted.record.family);
    Ok(())
}
