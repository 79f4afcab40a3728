//! Judged on LiveBench, which nothing was made of: does the table order models as it does, and
//! better than their prices?

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use sluice_routing::quality::leaderboard::{Board, BoardRow};
use sluice_routing::quality::table::QualityTable;
use sluice_routing::task::TaskType;

use super::kin::Prices;
use super::{Fitted, boards};

/// Groups of tasks: what they are called, LiveBench's groups in them, and the task types.
const GROUPS: [(&str, &[&str], &[TaskType]); 10] = {
    use TaskType::{Code, Debug, Edit, Math, Plan, Test, Transform, Write};
    [
        ("**code**", &["Coding", "Agentic Coding"], &[Code, Edit, Debug, Test]),
        ("**math and reasoning**", &["Mathematics", "Reasoning"], &[Math, Plan]),
        ("**text**", &["Language", "IF", "Data Analysis"], &[Write, Transform]),
        ("Coding", &["Coding"], &[Code, Test]),
        ("Agentic Coding", &["Agentic Coding"], &[Edit, Debug]),
        ("Mathematics", &["Mathematics"], &[Math]),
        ("Reasoning", &["Reasoning"], &[Math, Plan]),
        ("Language", &["Language"], &[Write, Transform]),
        ("IF", &["IF"], &[Write, Transform]),
        ("Data Analysis", &["Data Analysis"], &[Transform]),
    ]
};

/// A model, or a variant of it, of which LiveBench and a price list know.
struct Judged {
    /// Group by group, in the order of [`GROUPS`]: what LiveBench says, `None` where it left
    /// something out, and what the table does.
    groups: Vec<(Option<f64>, f64)>,
    price: f64,
}

/// Prints the rank correlations by group, over models: a model that LiveBench asked at several
/// thinking efforts counts once, with their mean.
pub(crate) fn print(folder: &Path, fitted: &Fitted, prices: &Prices) -> Result<()> {
    let (text, day) = boards::newest(folder, "livebench_")?;
    let board = Board::read(&text)?;
    let models = judged(&board, &fitted.table(), prices);
    let variants: usize = models.values().map(Vec::len).sum();
    println!("#### LiveBench ({day}): {} models in {variants} variants\n", models.len());
    println!("| group | rank correlation of the table | of the price |");
    println!("| --- | --- | --- |");
    for (group, (name, ..)) in GROUPS.iter().enumerate() {
        let (mut scores, mut shares, mut price) = (Vec::new(), Vec::new(), Vec::new());
        for variants in models.values() {
            let of_group = variants.iter().map(|of| of.groups[group]);
            let known: Vec<(f64, f64)> =
                of_group.filter_map(|(score, share)| Some((score?, share))).collect();
            let (Some(first), false) = (variants.first(), known.is_empty()) else { continue };
            scores.push(mean(known.iter().map(|of| of.0)));
            shares.push(mean(known.iter().map(|of| of.1)));
            price.push(first.price);
        }
        let (table, price) =
            (rank_correlation(&shares, &scores), rank_correlation(&price, &scores));
        println!("| {name} | {table:.3} | {price:.3} |");
    }
    println!();
    Ok(())
}

fn judged(board: &Board, table: &QualityTable, prices: &Prices) -> BTreeMap<String, Vec<Judged>> {
    let mut models: BTreeMap<String, Vec<Judged>> = BTreeMap::new();
    for row in &board.rows {
        if let Some((model, judged)) = judge(row, table, prices) {
            models.entry(model).or_default().push(judged);
        }
    }
    models
}

fn judge(row: &BoardRow, table: &QualityTable, prices: &Prices) -> Option<(String, Judged)> {
    let model = row.known.as_ref()?.key();
    let price = *prices.get(&model)?;
    let quality = table.of(&[&model])?;
    let quality = quality.at(row.effort);
    let group = |(_, groups, tasks): &(&str, &[&str], &[TaskType])| {
        let sum: Option<f64> = groups.iter().map(|group| Board::livebench_group(row, group)).sum();
        (sum, mean(tasks.iter().map(|task| quality.by_task[task.index()])))
    };
    let groups = GROUPS.iter().map(group).collect();
    Some((model, Judged { groups, price }))
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0.0), |(sum, count), figure| (sum + figure, count + 1.0));
    sum / count
}

/// Spearman's: the correlation of ranks, where equal figures share theirs.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| {
        x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>()
    };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

fn ranks(figures: &[f64]) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
    let rank = |figure: &f64| {
        let less = figures.iter().filter(|other| *other < figure).count() as f64;
        let equal = figures.iter().filter(|other| *other == figure).count() as f64;
        less + (equal - 1.0) / 2.0
    };
    figures.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_agree_as_far_as_the_order_does() {
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[0.1, 0.2, 0.3]) - 1.0).abs() < 1e-9);
        assert!((rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-9);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    }
}
