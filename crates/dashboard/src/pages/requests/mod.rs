//! The list of requests.

pub(crate) mod period;
pub(crate) mod row;
mod view;

use std::sync::Arc;

use sluice_core::filtering::FilterAction;
use sluice_core::outcome::Outcome;
use sluice_gateway::admin::{AdminError, Kind, Verb, Which};
use sluice_gateway::records::{Bucket, Facets, NamedPart, Records, Step};
use sluice_gateway::{RecordCursor, RecordsFilter, Turn};

use crate::charts::{Bars, Series, Slot, Unit};
use crate::components::{BOUNDS, Empty, Filter, Offer, PERIOD, Query, Text};
use crate::format;
use crate::layout::Head;
use crate::pages::organisation::kinds;
use crate::pages::overview::labels;
use crate::web::{Access, Answer, Ask, Failure, Reply, Route, get, page, see_other};
use period::Chosen;
use row::RequestRow;
use view::{Requests, first_request};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/requests", Access::May(Verb::SeeRecords), |ask| Box::pin(list(ask))),
    get("/requests.csv", Access::May(Verb::SeeRecords), |ask| Box::pin(csv(ask))),
];

/// Rows of a page.
const ROWS: u32 = 50;

async fn list(ask: Arc<Ask>) -> Answer {
    let admin = ask.admin()?;
    let records = admin.records(None).await?;
    let sought = ask.asked("q");
    if !sought.is_empty() && records.one(&sought.into()).await?.is_some() {
        return see_other(format!("/requests/{}", Text::from(sought).segment()));
    }
    let chosen = Chosen::of(&ask, "24h");
    let query = understood(&ask.query);
    let filter = filter(&query, &chosen);
    let (found, facets, buckets) = tokio::try_join!(
        async { Ok(records.page(&filter, &query.turn(RecordCursor::parse), ROWS).await?) },
        unless_slow(records.facets(&filter)),
        async {
            match sought.is_empty() {
                true => unless_slow(buckets(&ask, &records, &filter, &chosen)).await,
                // Sums know nothing of ids.
                false => Ok::<_, Failure>(Some(Vec::new())),
            }
        },
    )?;
    let notice = (facets.is_none() || buckets.is_none()).then(|| {
        "The counts took too long and are left out; the rows are exact. A shorter period brings them \
         back."
            .to_owned()
    });
    let buckets = buckets.unwrap_or_default();

    let calendar = ask.calendar();
    let rows: Vec<_> = found.records.iter().map(|it| RequestRow::of(it, &calendar)).collect();
    let newer = found.newer.map(|it| it.to_string());
    let older = found.older.map(|it| it.to_string());
    let total = buckets.iter().map(|bucket| bucket.figures.requests).sum();
    let mut chips = chips(&query, &facets.unwrap_or_default());
    chips.extend(team(&ask).await?);
    chips.extend(chosen.chip(&query, &calendar));
    let filters = query.filters("Request id", chips);
    let is_filtered = filters.clear.is_some();
    let empty = match rows.is_empty() {
        true => nothing(&ask, &records, is_filtered).await?,
        false => Empty::new("", ""),
    };
    let view = Requests {
        head: Head::new("Requests").stamp(chosen.stamp(&ask)?),
        live: query.clone().lacking(PERIOD).lacking("q").at("/live"),
        periods: query.periods("24h"),
        histogram: (!buckets.is_empty()).then(|| histogram(&ask, &query, &chosen, &buckets)),
        pager: query.pager(shown(&rows, total), newer.as_deref(), older.as_deref()),
        filters,
        rows,
        empty,
        notice,
    };
    page(&ask, &view)
}

/// Counts stand beside the rows: where they take too long, the rows are shown without them.
pub(crate) async fn unless_slow<T>(
    counts: impl Future<Output = Result<T, AdminError>>,
) -> Result<Option<T>, Failure> {
    match counts.await {
        Err(error) if error.took_too_long() => Ok(None),
        counts => Ok(Some(counts?)),
    }
}

/// Which of all rows are on the page.
fn shown(rows: &[RequestRow], total: u64) -> String {
    let count = rows.len() as u64;
    let times = match (rows.last(), rows.first()) {
        (Some(from), Some(to)) => format!(" · {} to {}", from.at.plain(), to.at.plain()),
        _ => String::new(),
    };
    match total {
        0 => format!("{}{times}", format::plural(count, "request", "requests")),
        total => format!(
            "{} of {}{times}",
            format::count(count),
            format::plural(total, "request", "requests")
        ),
    }
}

/// What is said where there are no rows: before the first request of all, how to send one.
async fn nothing(ask: &Ask, records: &Records<'_>, is_filtered: bool) -> Result<Empty, Failure> {
    if is_filtered {
        let text = "No request of this period fits these filters. Failures are filtered like \
                    everything else.";
        let kept = ask.query.get(PERIOD).map(|period| (PERIOD, period));
        let all = Query::new("/requests", "");
        let all = kept.map_or_else(|| all.here(), |(name, value)| all.with(name, value));
        return Ok(Empty::new("Nothing matches", text).action("Clear filters", all));
    }
    let any = records.page(&RecordsFilter::default(), &Turn::First, 1).await?;
    if any.records.is_empty() {
        return Ok(first_request(&ask.shared.deployment.base_url()));
    }
    let text = "No request arrived in this period. There are some of another time.";
    let longer = ask.query.changed(&BOUNDS, &[(PERIOD, "90d")]);
    Ok(Empty::new("Nothing in this period", text).action("The last 90 days", longer))
}

async fn buckets(
    ask: &Ask,
    records: &Records<'_>,
    filter: &RecordsFilter,
    chosen: &Chosen,
) -> Result<Vec<Bucket>, AdminError> {
    records.histogram(filter, chosen.step, &ask.zone(), ask.now).await
}

/// The histogram as a file.
async fn csv(ask: Arc<Ask>) -> Answer {
    let chosen = Chosen::of(&ask, "24h");
    let query = understood(&ask.query);
    let filter = filter(&query, &chosen);
    let records = ask.admin()?.records(None).await?;
    let buckets = buckets(&ask, &records, &filter, &chosen).await?;
    Ok(Reply::csv("requests", histogram(&ask, &query, &chosen, &buckets).to_csv()))
}

/// The words that stand for several outcomes, and for everything that the filter did.
pub(crate) const FAILED: &str = "failed";
pub(crate) const ANY: &str = "any";

fn outcomes(query: &Query) -> Vec<Outcome> {
    match query.get("outcome") {
        Some(FAILED) => Outcome::FAILED.to_vec(),
        word => word.and_then(Outcome::parse).into_iter().collect(),
    }
}

fn actions(query: &Query) -> Vec<FilterAction> {
    let word = query.get("filter");
    let is_meant = |action: &FilterAction| match word {
        Some(ANY) => *action != FilterAction::Pass,
        word => Some(action.as_str()) == word,
    };
    FilterAction::ALL.into_iter().filter(is_meant).collect()
}

/// The query without words that stand for nothing: no chip says that they filter.
pub(crate) fn understood(query: &Query) -> Query {
    let mut query = query.clone();
    if outcomes(&query).is_empty() {
        query = query.lacking("outcome");
    }
    if actions(&query).is_empty() {
        query = query.lacking("filter");
    }
    query
}

/// What the address filters by.
pub(crate) fn filter(query: &Query, chosen: &Chosen) -> RecordsFilter {
    let text = |name| query.get(name).map(str::to_owned);
    let id_prefix = text("q");
    // Whoever looks for an id does not know when it was.
    let is_bounded = id_prefix.is_none() || BOUNDS.iter().any(|it| query.get(it).is_some());
    RecordsFilter {
        since: is_bounded.then_some(chosen.period.since),
        until: is_bounded.then_some(chosen.period.until),
        key_id: query.get("key").map(Into::into),
        model: text("model"),
        app: text("app"),
        outcomes: outcomes(query),
        provider: text("provider"),
        actions: actions(query),
        team_id: query.get("team").map(Into::into),
        id_prefix,
    }
}

pub(crate) fn chips(query: &Query, facets: &Facets) -> Vec<Filter> {
    let offers = |parts: &[NamedPart]| -> Vec<Offer> {
        let parts = parts.iter().filter(|part| !part.value.is_empty());
        let offer = |part: &NamedPart| {
            let shown = part.name.clone().unwrap_or_else(|| part.value.clone());
            Offer::new(part.value.clone(), shown).count(part.figures.requests)
        };
        parts.map(offer).collect()
    };
    let sum = |parts: &[NamedPart], word: &'static str, are: &dyn Fn(&str) -> bool| {
        let parts = parts.iter().filter(|part| are(&part.value));
        let count: u64 = parts.map(|part| part.figures.requests).sum();
        (count > 0).then(|| Offer::new(word, word).count(count))
    };
    let is_failure = |word: &str| Outcome::FAILED.iter().any(|it| it.as_str() == word);
    let failed = sum(&facets.outcomes, FAILED, &is_failure);
    let acted = sum(&facets.actions, ANY, &|word| word != FilterAction::Pass.as_str());
    vec![
        query.filter("key", offers(&facets.keys)),
        query.filter("model", offers(&facets.models)),
        query.filter("app", offers(&facets.apps)),
        query.filter("outcome", failed.into_iter().chain(offers(&facets.outcomes))),
        query.filter("filter", acted.into_iter().chain(offers(&facets.actions))),
        query.filter("provider", offers(&facets.providers)),
    ]
}

/// The chip of a team, where the address names one.
async fn team(ask: &Ask) -> Result<Option<Filter>, Failure> {
    let Some(id) = ask.query.get("team") else { return Ok(None) };
    let found = ask.admin()?.find(&Which::new(Kind::Team, id)).await;
    let name = found.map_or_else(|_| id.to_owned(), |team| kinds::name(&team).to_owned());
    Ok(Some(ask.query.filter("team", [Offer::new(id, name)])))
}

fn histogram(ask: &Ask, query: &Query, chosen: &Chosen, buckets: &[Bucket]) -> Bars {
    let calendar = ask.calendar();
    let slot = |bucket: &Bucket| {
        let failed = bucket.figures.outcomes.errors();
        let (label, name) = labels(&calendar, chosen.step, bucket);
        Slot {
            label,
            name,
            values: vec![bucket.figures.requests.saturating_sub(failed), failed],
            link: Some(Chosen::of_bar(query, bucket)),
        }
    };
    let unit = match chosen.step {
        Step::Hour => "an hour",
        Step::Day => "a day",
    };
    let series = |name: &str, colour| Series { name: Text::from(name), colour };
    Bars {
        id: "histogram",
        title: format!("Requests {unit}, by whether they failed"),
        unit: Unit::Count,
        series: vec![series("others", 1), series("failed", 8)],
        slots: buckets.iter().map(slot).collect(),
        csv: query.at("/requests.csv"),
        is_low: true,
    }
}
