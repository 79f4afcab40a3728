//! The leaderboards that priors are made of, as files in a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use sluice_routing::quality::leaderboard::Board;
use sluice_routing::quality::table::Source;

use super::kin::{Prices, list_prices};

/// A leaderboard that priors are made of.
pub(crate) struct Used {
    /// What the table calls it.
    pub(crate) name: &'static str,
    /// What its file's name begins with; its day follows, and `.csv`.
    prefix: &'static str,
    from: &'static str,
    licence: &'static str,
}

/// LiveBench is none of them: priors are judged by it.
pub(crate) const USED: [Used; 5] = [
    Used {
        name: "arena",
        prefix: "arena_",
        from: "github.com/lmarena/arena-catalog, data/leaderboard-text.json",
        licence: "none stated; published ratings are facts, and the file is not passed on",
    },
    Used {
        name: "aider_polyglot",
        prefix: "aider_polyglot_",
        from: "github.com/Aider-AI/aider, polyglot_leaderboard.yml",
        licence: "Apache-2.0",
    },
    Used {
        name: "aider_edit",
        prefix: "aider_edit_",
        from: "github.com/Aider-AI/aider, edit_leaderboard.yml",
        licence: "Apache-2.0",
    },
    Used {
        name: "aider_refactor",
        prefix: "aider_refactor_",
        from: "github.com/Aider-AI/aider, refactor_leaderboard.yml",
        licence: "Apache-2.0",
    },
    Used {
        name: "vectara",
        prefix: "vectara_",
        from: "github.com/vectara/hallucination-leaderboard",
        licence: "Apache-2.0",
    },
];

/// One that was read.
pub(crate) struct Given {
    pub(crate) board: Board,
    pub(crate) source: Source,
}

/// All that a table is made of but outcomes.
pub(crate) struct Inputs {
    /// All of [`USED`], in that order.
    pub(crate) boards: Vec<Given>,
    /// List prices by model.
    pub(crate) prices: Prices,
    /// Where they are from.
    pub(crate) price_list: Source,
}

/// The leaderboards in `folder`, and the price list in the folder `catalogue` beside it.
pub(crate) fn read(folder: &Path) -> Result<Inputs> {
    let boards = USED.iter().map(|used| read_one(folder, used)).collect::<Result<_>>()?;
    let (prices, price_list) = list_prices(&folder.join("../catalogue"))?;
    Ok(Inputs { boards, prices, price_list })
}

fn read_one(folder: &Path, used: &Used) -> Result<Given> {
    let (text, date) = newest(folder, used.prefix)?;
    let board = Board::read(&text).with_context(|| format!("{}…", used.prefix))?;
    let source = Source {
        name: used.name.to_owned(),
        from: used.from.to_owned(),
        licence: used.licence.to_owned(),
        date,
        blake3: hash(&text),
    };
    Ok(Given { board, source })
}

/// The hash of a file, as the record has it.
pub(super) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The text and the day of the newest file whose name begins so.
pub(crate) fn newest(folder: &Path, prefix: &str) -> Result<(String, String)> {
    let list = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut days = Vec::new();
    for entry in list {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let day = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".csv"));
        days.extend(day.filter(|day| day.len() == 10).map(str::to_owned));
    }
    let day = days.into_iter().max();
    let day =
        day.with_context(|| format!("there is no {prefix}DAY.csv in {}", folder.display()))?;
    let path = folder.join(format!("{prefix}{day}.csv"));
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!text.is_empty(), "{} is empty", path.display());
    Ok((text, day))
}
