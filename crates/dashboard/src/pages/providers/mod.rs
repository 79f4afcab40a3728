//! The providers and how they are doing.

mod view;

use std::collections::HashMap;
use std::sync::Arc;

use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_core::ids::ProviderId;
use sluice_gateway::Figures;
use sluice_gateway::admin::{Origin, ProviderView, Verb};
use sluice_gateway::records::Period;
use sluice_gateway::snapshot::Snapshot;
use sluice_gateway::vendors::kinds;

use crate::components::{Badge, Count, Empty, Moment, Share, State, Text};
use crate::format::Calendar;
use crate::layout::Head;
use crate::pages::overview::health_badge;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page};
use view::{ProviderRow, Providers};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] =
    &[get("/providers", Access::May(Verb::SeeProvider), |ask| Box::pin(list(ask)))];

async fn list(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let providers = ask.admin()?.providers(&snapshot.given).await?;
    let figures = figures(&ask).await?;
    let calendar = ask.calendar();
    let rows = providers.iter().map(|it| {
        row(it, &snapshot, figures.get(&it.name).copied().unwrap_or_default(), &calendar, ask.now)
    });
    let may_add = ask.session()?.may_at_all(Verb::CreateProvider);
    let text = "Until one is connected, the simulator answers: its models demo/chat, demo/echo and \
                demo/reasoner need no network. Credentials are encrypted.";
    let empty = Empty::new("No provider yet", text);
    let view = Providers {
        head: Head::new("Providers").stamp(
            "states since the start, from the calls themselves · requests of the last 24 hours \
             that you may see",
        ),
        rows: rows.collect(),
        empty: if may_add { empty.action("Connect a provider", "/providers/new") } else { empty },
        may_add,
        sees_keys: ask.session()?.may_at_all(Verb::SeeProviderKey),
        notice: match ask.asked("done") {
            "removed" => {
                Some(("good", "The provider is removed, and its credential with it.".to_owned()))
            }
            _ => None,
        },
    };
    page(&ask, &view)
}

/// What went to each provider in the last day, as far as whoever asks may see it.
async fn figures(ask: &Ask) -> Result<HashMap<String, Figures>, Failure> {
    if !ask.session()?.may_at_all(Verb::SeeRecords) {
        return Ok(HashMap::new());
    }
    let parts = ask.admin()?.records(None).await?.by_provider(last_day(ask)).await?;
    Ok(parts.into_iter().map(|part| (part.value, part.figures)).collect())
}

/// The last 24 hours.
pub(crate) fn last_day(ask: &Ask) -> Period {
    let since = UnixMillis(ask.now.0.saturating_sub(DAY_MILLIS));
    Period { since, until: UnixMillis(ask.now.0.saturating_add(1)) }
}

fn row(
    provider: &ProviderView,
    snapshot: &Snapshot,
    figures: Figures,
    calendar: &Calendar,
    now: UnixMillis,
) -> ProviderRow {
    let Health { state, says, last_answer } = Health::of(provider, snapshot, calendar, now);
    ProviderRow {
        id: provider.name.as_str().into(),
        kind: kind_name(&provider.kind),
        address: provider.base_url.as_str().into(),
        region: provider.region.map(|region| region.as_str()),
        models: Count(provider.models as u64),
        state,
        says,
        requests: Count(figures.requests),
        errors: Share(figures.outcomes.errors(), figures.requests),
        last_answer,
        is_files: provider.origin == Origin::File,
    }
}

/// How a provider has been doing since the start.
pub(crate) struct Health {
    pub(crate) state: Badge,
    /// What is behind its state.
    pub(crate) says: Text,
    /// When it last began to answer.
    pub(crate) last_answer: Option<Moment>,
}

impl Health {
    /// That of `provider`, as `snapshot` has it.
    pub(crate) fn of(
        provider: &ProviderView,
        snapshot: &Snapshot,
        calendar: &Calendar,
        now: UnixMillis,
    ) -> Self {
        let served = snapshot.providers.get(&ProviderId::from(provider.name.as_str()));
        let health = served.map(|it| &it.health);
        let (state, says) = match (&provider.left_out, health) {
            (Some(why), _) => (Badge::new(State::Warn, "not served"), why.replace('\n', "; ")),
            (None, None) => (Badge::new(State::Plain, "not served"), String::new()),
            (None, Some(health)) => {
                let rests = health.rests_for(now);
                let says = rests.map(|left| format!("asked to be left alone for {left} s more"));
                (health_badge(health.state(now)), says.unwrap_or_default())
            }
        };
        let last_answer = health.and_then(|it| it.last_answer());
        let last_answer = last_answer.map(|at| Moment::ago(calendar, at));
        Self { state, says: says.into(), last_answer }
    }
}

/// What people call a kind of provider.
pub(crate) fn kind_name(kind: &str) -> String {
    kinds().find(|preset| preset.kind == kind).map_or(kind, |preset| &preset.name).to_owned()
}
