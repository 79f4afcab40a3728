//! The catalogue of models.

mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use sluice_core::ids::ProviderId;
use sluice_core::region::Region;
use sluice_gateway::admin::{ModelView, Verb};
use sluice_gateway::catalog::Capabilities;
use sluice_gateway::health::ProviderState;
use sluice_gateway::snapshot::Snapshot;

use crate::charts::csv_cell;
use crate::components::{Badge, Empty, Query, State, Text, Tokens};
use crate::format;
use crate::layout::Head;
use crate::pages::keys::page_start;
use crate::pages::overview::health_badge;
use crate::web::{Access, Answer, Ask, Reply, Route, get, page};
use view::{ModelRow, Models};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/models", Access::May(Verb::SeeModel), |ask| Box::pin(list(ask))),
    get("/models.csv", Access::May(Verb::SeeModel), |ask| Box::pin(csv(ask))),
];

/// Rows of a page.
const ROWS: usize = 200;

async fn list(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let all = ask.admin()?.models(&snapshot.given).await?;
    let shown: Vec<&ModelView> = all.iter().filter(|it| fits(&ask.query, it)).collect();
    let from = page_start(&ask.query, shown.len(), ROWS);
    let rows: Vec<ModelRow> =
        shown.iter().skip(from).take(ROWS).map(|it| row(it, &snapshot, &ask)).collect();
    let until = from + rows.len();
    let range = format!(
        "{} to {} of {}",
        format::count((from + 1).min(shown.len()) as u64),
        format::count(until as u64),
        format::plural(shown.len() as u64, "model", "models"),
    );
    let before = (from > 0).then(|| from.saturating_sub(ROWS).to_string());
    let after = (until < shown.len()).then(|| until.to_string());
    let filters = ask.query.filters("Model", chips(&ask.query, &all));
    let may_add = ask.session()?.may_at_all(Verb::CreateProvider);
    let empty = if filters.clear.is_some() {
        Empty::new("Nothing matches", "No model has this name and these filters.")
            .action("Show all models", "/models")
    } else {
        let text = "Models come with providers: what they can do and cost is listed here.";
        let empty = Empty::new("No models", text);
        if may_add { empty.action("Connect a provider", "/providers/new") } else { empty }
    };
    let view = Models {
        head: Head::new("Models").stamp(format!(
            "{} · prices in US dollars per million tokens",
            format::plural(all.len() as u64, "model", "models")
        )),
        filters,
        rows,
        pager: ask.query.pager(range, before.as_deref(), after.as_deref()),
        empty,
        may_add,
        notice: match ask.asked("done") {
            "removed" => Some(("good", "The model is removed.".to_owned())),
            _ => None,
        },
        csv: ask.query.at("/models.csv"),
    };
    page(&ask, &view)
}

async fn csv(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let all = ask.admin()?.models(&snapshot.given).await?;
    let mut text = "model,origin,providers,regions,context_window,output_limit,input,cached_input,\
                    output,capabilities,suite\n"
        .to_owned();
    for it in all.iter().filter(|it| fits(&ask.query, it)) {
        let model = it.model.as_deref();
        let price = model.and_then(|model| model.price.as_ref());
        let figure = |figure: Option<u32>| figure.map_or_else(String::new, |it| it.to_string());
        let cells = [
            it.id.clone(),
            it.origin.as_str().to_owned(),
            providers(it).join(" "),
            regions(it).join(" "),
            figure(model.and_then(|model| model.context_window)),
            figure(model.and_then(|model| model.output_limit)),
            price.map_or_else(String::new, |it| it.input.to_string()),
            price.map_or_else(String::new, |it| it.cache_read.to_string()),
            price.map_or_else(String::new, |it| it.output.to_string()),
            can(it).join(" "),
            model.map_or_else(String::new, |model| model.suite.as_str().to_owned()),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
        text += &(cells.join(",") + "\n");
    }
    Ok(Reply::csv("models", text))
}

fn fits(query: &Query, it: &ModelView) -> bool {
    let is =
        |name: &str, values: &[&str]| query.get(name).is_none_or(|sought| values.contains(&sought));
    let sought = query.get("q").unwrap_or_default().to_lowercase();
    let providers = providers(it);
    let providers: Vec<&str> = providers.iter().map(String::as_str).collect();
    it.id.to_lowercase().contains(&sought)
        && is("provider", &providers)
        && is("can", &can(it))
        && is("region", &regions(it))
        && is("from", &[it.origin.as_str()])
}

fn chips(query: &Query, all: &[ModelView]) -> Vec<crate::components::Filter> {
    let offers = |values: &dyn Fn(&ModelView) -> Vec<String>| -> Vec<(Text, u64)> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for value in all.iter().flat_map(values) {
            *counts.entry(value).or_default() += 1;
        }
        counts.into_iter().take(30).map(|(value, count)| (value.into(), count)).collect()
    };
    let owned = |words: Vec<&'static str>| words.into_iter().map(str::to_owned).collect();
    vec![
        query.filter("provider", offers(&providers)),
        query.filter("can", offers(&|it| owned(can(it)))),
        query.filter("region", offers(&|it| owned(regions(it)))),
        query.filter("from", offers(&|it| vec![it.origin.as_str().to_owned()])),
    ]
}

/// Where a model runs.
pub(crate) fn providers(it: &ModelView) -> Vec<String> {
    let model = it.model.iter();
    model.flat_map(|model| &model.deployments).map(|at| at.provider.to_string()).collect()
}

pub(crate) fn regions(it: &ModelView) -> Vec<&'static str> {
    let regions = it.model.as_deref().map(|model| model.regions()).unwrap_or_default();
    regions.into_iter().map(Region::as_str).collect()
}

/// What a model is known to be able to do.
pub(crate) fn can(it: &ModelView) -> Vec<&'static str> {
    let Some(Capabilities { vision, tools, json_schema, reasoning, prompt_cache }) =
        it.model.as_deref().map(|model| model.capabilities)
    else {
        return Vec::new();
    };
    let words = [
        (vision, "vision"),
        (tools, "tools"),
        (json_schema, "JSON"),
        (reasoning, "reasoning"),
        (prompt_cache, "cache"),
    ];
    words.into_iter().filter(|(known, _)| *known == Some(true)).map(|(_, word)| word).collect()
}

/// How a model is doing: as the best of its providers.
pub(crate) fn state(it: &ModelView, snapshot: &Snapshot, ask: &Ask) -> Badge {
    let Some(model) = it.model.as_deref().filter(|_| it.left_out.is_none()) else {
        return Badge::new(State::Warn, "not served");
    };
    if model.simulated {
        return Badge::new(State::Plain, "simulated");
    }
    let target = model.alias_of.as_ref().and_then(|id| snapshot.catalog.get(id.as_str()));
    let at = target.map_or(model, |target| &**target).deployments.iter();
    let served =
        at.filter_map(|at| snapshot.providers.get(&ProviderId::from(at.provider.as_str())));
    let states: Vec<ProviderState> = served.map(|it| it.health.state(ask.now)).collect();
    let best = [ProviderState::Ok, ProviderState::Unknown, ProviderState::Resting];
    let best = best.into_iter().find(|state| states.contains(state));
    health_badge(best.unwrap_or(ProviderState::Failing))
}

fn row(it: &ModelView, snapshot: &Snapshot, ask: &Ask) -> ModelRow {
    let model = it.model.as_deref();
    let tokens = |figure: Option<u32>| figure.map(|it| Tokens(u64::from(it)));
    let source = model.and_then(|model| model.price_source.as_ref());
    let price = model.and_then(|model| model.price.as_ref());
    let providers = providers(it);
    ModelRow {
        id: it.id.as_str().into(),
        owned_by: model.map_or("", |model| &model.owned_by).into(),
        providers: providers.join(", ").into(),
        context: tokens(model.and_then(|model| model.context_window)),
        output: tokens(model.and_then(|model| model.output_limit)),
        prices: price.map(|price| {
            (
                format!("${}", price.input),
                format!("${}", price.cache_read),
                format!("${}", price.output),
            )
        }),
        price_source: source
            .map_or_else(String::new, |it| format!("{} {}", it.source, it.date).trim().to_owned())
            .into(),
        can: can(it),
        origin: it.origin.as_str(),
        state: state(it, snapshot, ask),
        alias_of: model
            .and_then(|model| model.alias_of.as_ref())
            .map(|id| Text::from(format!("is {id}"))),
    }
}
