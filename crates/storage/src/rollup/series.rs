//! What requests are told apart by in the rollup, each combination under a number.

use std::collections::{BTreeMap, BTreeSet};

use sluice_core::ids::{ModelId, ProviderId};
use sluice_core::organisation::Attribution;

use crate::database::{Transaction, in_sizes, insert_many, sql};
use crate::error::StorageError;
use crate::sums::UsageSum;
use crate::usage::UsageRecord;

/// What tells series apart, in the order of [`Series`].
pub(crate) const COLUMNS: [&str; 11] = [
    "account_id",
    "department_id",
    "team_id",
    "holder",
    "key_id",
    "app",
    "model_asked",
    "model",
    "provider",
    "action",
    "outcome",
];

/// How many characters of a caller's text tell series apart. A database's index takes only so much.
const LONGEST: usize = 120;

const DOING: &str = "number what requests are told apart by";

/// One combination. '' stands for none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series([String; 11]);

impl Series {
    /// A request with a record.
    pub(crate) fn of_record(record: &UsageRecord) -> Self {
        let model = record.model.as_ref().map_or("", ModelId::as_str);
        let app = record.app_title.as_deref().unwrap_or_default();
        Self::new(&record.attribution(), |text| {
            *text = [
                cut(app),
                cut(&record.model_asked),
                cut(model),
                record.provider.as_ref().map_or("", ProviderId::as_str).to_owned(),
                record.filter.action.as_str().to_owned(),
                record.outcome.as_str().to_owned(),
            ];
        })
    }

    /// A request under zero retention: of the request itself, only the model that answered is known.
    pub(crate) fn of_sum(sum: &UsageSum) -> Self {
        let model = sum.model.as_ref().map_or("", ModelId::as_str);
        Self::new(&sum.attribution(), |[_, _, served, _, _, _]| *served = cut(model))
    }

    fn new(whose: &Attribution, say: impl FnOnce(&mut [String; 6])) -> Self {
        let some = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let mut of_request = <[String; 6]>::default();
        say(&mut of_request);
        let [app, model_asked, model, provider, action, outcome] = of_request;
        Self([
            whose.account.as_str().to_owned(),
            some(whose.department.as_ref().map(|id| id.as_str())),
            some(whose.team.as_ref().map(|id| id.as_str())),
            whose.holder.as_ref().map(ToString::to_string).unwrap_or_default(),
            whose.key.as_str().to_owned(),
            app,
            model_asked,
            model,
            provider,
            action,
            outcome,
        ])
    }

    /// The line of its key: the outcome alone tells its requests apart.
    pub(crate) fn of_key(&self) -> Self {
        let mut line = self.clone();
        let [_, _, _, _, _, of_request @ .., _] = &mut line.0;
        of_request.fill(String::new());
        line
    }

    /// The line of its account.
    pub(crate) fn of_account(&self) -> Self {
        let mut line = self.clone();
        let [_, rest @ .., _] = &mut line.0;
        rest.fill(String::new());
        line
    }

    pub(crate) fn account(&self) -> &str {
        let [account, ..] = &self.0;
        account
    }
}

/// As the migration cut it, too.
pub(crate) fn cut(text: &str) -> String {
    if text.len() <= LONGEST && !text.contains('\0') {
        return text.to_owned();
    }
    // PostgreSQL keeps no character 0; see `Statement`.
    text.chars().take(LONGEST).map(|c| if c == '\0' { '\u{fffd}' } else { c }).collect()
}

/// The numbers of series.
pub(crate) type Numbers = BTreeMap<Series, i64>;

/// The numbers of `wanted`; those that have none yet get the next ones.
///
/// The transaction writes: nobody else gives numbers at the same time.
pub(crate) async fn number(
    tx: &mut Transaction,
    wanted: BTreeSet<Series>,
) -> Result<Numbers, StorageError> {
    let failed = || StorageError::database(DOING);
    let wanted: Vec<Series> = wanted.into_iter().collect();
    let mut numbers = Numbers::new();
    for piece in in_sizes(&wanted) {
        let mut query = sql(format!(
            "SELECT id, {names} FROM usage_series WHERE ({names}) IN (VALUES ",
            names = COLUMNS.join(", ")
        ));
        for (at, series) in piece.iter().enumerate() {
            for (column, text) in series.0.iter().enumerate() {
                query.push(match (at, column) {
                    (0, 0) => "(",
                    (_, 0) => "), (",
                    _ => ", ",
                });
                query.push_bind(text);
            }
        }
        query.push("))");
        for row in query.fetch_all(&mut *tx).await.map_err(failed())? {
            let mut texts = <[String; 11]>::default();
            for (text, column) in texts.iter_mut().zip(COLUMNS) {
                *text = row.string(column)?;
            }
            numbers.insert(Series(texts), row.integer("id")?);
        }
    }
    let new: Vec<Series> = wanted.into_iter().filter(|it| !numbers.contains_key(it)).collect();
    if new.is_empty() {
        return Ok(numbers);
    }
    let last = sql("SELECT COALESCE(MAX(id), 0) AS last FROM usage_series");
    let last = last.fetch_one(&mut *tx).await.map_err(failed())?.integer("last")?;
    let mut columns = vec!["id"];
    columns.extend(COLUMNS);
    let mut rows = Vec::with_capacity(new.len());
    for (series, id) in new.into_iter().zip(last + 1..) {
        let mut row = vec![id.into()];
        row.extend(series.0.iter().map(Into::into));
        rows.push(row);
        numbers.insert(series, id);
    }
    insert_many(tx, ("usage_series", &columns), "", rows, |_, _| {}).await.map_err(failed())?;
    Ok(numbers)
}
