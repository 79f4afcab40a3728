//! What Prometheus can ask: one prefix, base units, no label that names a user, a key or a session.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use sluice_core::filtering::FilterRecord;
use sluice_core::money::PicoUsd;
use sluice_core::outcome::Outcome;
use sluice_core::routing::RouteRecord;
use sluice_core::usage::Usage;

/// All of Sluice's metrics.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    refused: Family<RefusalLabels, Counter>,
    tokens: Family<TokenLabels, Counter>,
    cost: Family<ModelLabels, Counter<f64, AtomicU64>>,
    duration: Family<ModelLabels, Histogram>,
    time_to_first_token: Family<ModelLabels, Histogram>,
    attempts: Family<AttemptLabels, Counter>,
    disbelieved: Family<ProviderLabels, Counter>,
    filtered: Family<FilterLabels, Counter>,
    redactions: Family<KindLabels, Counter>,
    flags: Family<FlagLabels, Counter>,
    routed: Family<RouteLabels, Counter>,
    closed: Family<ReasonLabels, Counter>,
    /// Connections of clients.
    pub connections: Gauge,
    /// Memory that large request bodies hold.
    pub body_bytes: Gauge,
    /// Requests that were admitted.
    pub admitted: Counter,
    /// Requests that went beyond a soft limit.
    pub over_soft_limits: Counter,
    /// Requests under way.
    pub in_flight: Gauge,
    /// Journal entries that wait for the database.
    pub journal_backlog_bytes: Gauge,
    /// 1 while `/readyz` says yes, else 0.
    ready: Gauge,
    /// Requests whose records wait in memory, since the journal cannot be written.
    unwritten_requests: Gauge,
    /// Requests whose records were lost, since too many waited in memory.
    lost_requests: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    model: String,
    provider: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    model: String,
    class: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabels {
    model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    provider: String,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProviderLabels {
    provider: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FilterLabels {
    action: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FlagLabels {
    flag: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    router: String,
    model: String,
    task_type: String,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

/// One model's metrics, looked up once a request.
#[derive(Clone)]
pub(crate) struct Ended<'a> {
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) outcome: Outcome,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<PicoUsd>,
    pub(crate) duration: Duration,
    pub(crate) time_to_first_token: Option<Duration>,
    pub(crate) filter: &'a FilterRecord,
    pub(crate) route: Option<&'a RouteRecord>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("sluice");
        let metrics = Self {
            requests: Family::default(),
            refused: Family::default(),
            tokens: Family::default(),
            cost: Family::default(),
            duration: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            time_to_first_token: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            attempts: Family::default(),
            disbelieved: Family::default(),
            filtered: Family::default(),
            redactions: Family::default(),
            flags: Family::default(),
            routed: Family::default(),
            closed: Family::default(),
            connections: Gauge::default(),
            body_bytes: Gauge::default(),
            admitted: Counter::default(),
            over_soft_limits: Counter::default(),
            in_flight: Gauge::default(),
            journal_backlog_bytes: Gauge::default(),
            ready: Gauge::default(),
            unwritten_requests: Gauge::default(),
            lost_requests: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register(
            "requests",
            "Requests that a provider was asked for, by how they ended",
            metrics.requests.clone(),
        );
        registry.register(
            "refused_requests",
            "Requests that were refused before a provider was asked, by error code",
            metrics.refused.clone(),
        );
        registry.register("tokens", "Tokens by usage class", metrics.tokens.clone());
        registry.register("cost_usd", "Cost in US dollars", metrics.cost.clone());
        registry.register(
            "request_duration_seconds",
            "From a request's arrival to its answer's end",
            metrics.duration.clone(),
        );
        registry.register(
            "time_to_first_token_seconds",
            "From a request's arrival to the first content of a streamed answer",
            metrics.time_to_first_token.clone(),
        );
        registry.register(
            "provider_attempts",
            "Calls of providers, by result",
            metrics.attempts.clone(),
        );
        registry.register(
            "disbelieved_usage",
            "Answers whose provider counted tokens that cannot be, by provider",
            metrics.disbelieved.clone(),
        );
        registry.register(
            "filtered_requests",
            "Requests by the strongest thing that the filter did",
            metrics.filtered.clone(),
        );
        registry.register(
            "redactions",
            "Values that were redacted, by kind",
            metrics.redactions.clone(),
        );
        registry.register(
            "security_flags",
            "What the filter noticed in requests and answers",
            metrics.flags.clone(),
        );
        registry.register(
            "routed_requests",
            "Requests to routers, by the model that was chosen, the task type and the reason",
            metrics.routed.clone(),
        );
        registry.register(
            "closed_connections",
            "Connections that Sluice closed to make room for others, by reason",
            metrics.closed.clone(),
        );
        registry.register("connections", "Connections of clients", metrics.connections.clone());
        registry.register(
            "request_body_bytes",
            "Memory that large request bodies hold",
            metrics.body_bytes.clone(),
        );
        registry.register(
            "admitted_requests",
            "Requests that every limit let through",
            metrics.admitted.clone(),
        );
        registry.register(
            "over_soft_limits",
            "Requests that went beyond a soft limit",
            metrics.over_soft_limits.clone(),
        );
        registry.register("requests_in_flight", "Requests under way", metrics.in_flight.clone());
        registry.register("ready", "1 while /readyz is 200, else 0", metrics.ready.clone());
        registry.register(
            "unwritten_requests",
            "Requests whose records wait in memory, since the journal cannot be written",
            metrics.unwritten_requests.clone(),
        );
        registry.register(
            "lost_requests",
            "Requests whose records were lost, since too many waited in memory",
            metrics.lost_requests.clone(),
        );
        registry.register(
            "journal_backlog_bytes",
            "Journal that is not in the database yet",
            metrics.journal_backlog_bytes.clone(),
        );
        Self { registry, ..metrics }
    }
}

/// Bounds of the histograms, in seconds: from a cached first token to a long answer.
const DURATIONS: [f64; 14] =
    [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0];

impl Metrics {
    /// Notes how the server is: whether it is ready, and for how many requests the records wait in
    /// memory or were lost.
    pub(crate) fn note_state(&self, ready: bool, unwritten: usize, lost: usize) {
        let count = |requests| i64::try_from(requests).unwrap_or(i64::MAX);
        self.ready.set(i64::from(ready));
        self.unwritten_requests.set(count(unwritten));
        self.lost_requests.set(count(lost));
    }

    /// Everything, in the OpenMetrics text format.
    pub fn render(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }

    /// A request was refused before a provider was asked.
    pub fn refused(&self, code: &str) {
        self.refused.get_or_create(&RefusalLabels { code: code.to_owned() }).inc();
    }

    /// A client's connection was closed for the sake of others.
    pub fn closed(&self, reason: &'static str) {
        self.closed.get_or_create(&ReasonLabels { reason }).inc();
    }

    /// A provider was called.
    pub(crate) fn attempted(&self, provider: &str, result: &'static str) {
        let labels = AttemptLabels { provider: provider.to_owned(), result };
        self.attempts.get_or_create(&labels).inc();
    }

    /// A provider counted tokens that cannot be.
    pub(crate) fn disbelieved(&self, provider: &str) {
        let labels = ProviderLabels { provider: provider.to_owned() };
        self.disbelieved.get_or_create(&labels).inc();
    }

    /// A request ended.
    pub(crate) fn ended(&self, ended: &Ended<'_>) {
        let model = ModelLabels { model: ended.model.to_owned() };
        self.requests
            .get_or_create(&RequestLabels {
                model: ended.model.to_owned(),
                provider: ended.provider.to_owned(),
                outcome: ended.outcome.as_str(),
            })
            .inc();
        for (class, tokens) in [
            ("uncached_input", ended.usage.uncached_input),
            ("cache_read", ended.usage.cache_read),
            ("cache_write", ended.usage.cache_write),
            ("output", ended.usage.output),
            ("reasoning", ended.usage.reasoning),
        ] {
            if tokens > 0 {
                let labels = TokenLabels { model: ended.model.to_owned(), class };
                self.tokens.get_or_create(&labels).inc_by(tokens);
            }
        }
        let action = ended.filter.action.as_str();
        self.filtered.get_or_create(&FilterLabels { action }).inc();
        for (kind, count) in &ended.filter.redactions {
            self.redactions.get_or_create(&KindLabels { kind: kind.clone() }).inc_by(*count);
        }
        for flag in &ended.filter.flags {
            self.flags.get_or_create(&FlagLabels { flag: flag.clone() }).inc();
        }
        if let Some(route) = ended.route {
            let labels = RouteLabels {
                router: route.router.to_string(),
                model: ended.model.to_owned(),
                task_type: route.task_type.clone(),
                reason: route.reason.clone(),
            };
            self.routed.get_or_create(&labels).inc();
        }
        if let Some(cost) = ended.cost {
            self.cost.get_or_create(&model).inc_by(cost.to_dollars());
        }
        if let Some(waited) = ended.time_to_first_token {
            self.time_to_first_token.get_or_create(&model).observe(waited.as_secs_f64());
        }
        self.duration.get_or_create(&model).observe(ended.duration.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The alert rules that users copy must not ask for a metric that was renamed.
    #[test]
    fn the_alert_rules_ask_for_metrics_that_exist() {
        let rules = include_str!("../../../packaging/prometheus-rules.yml");
        let metrics = Metrics::default();
        // A family is only rendered once it has a sample.
        let (model, provider) = ("m".to_owned(), "p".to_owned());
        let requests = RequestLabels { model, provider, outcome: "completed" };
        metrics.requests.get_or_create(&requests).inc();
        metrics.refused.get_or_create(&RefusalLabels { code: "c".to_owned() }).inc();
        let attempt = AttemptLabels { provider: "p".to_owned(), result: "ok" };
        metrics.attempts.get_or_create(&attempt).inc();
        metrics.flags.get_or_create(&FlagLabels { flag: "f".to_owned() }).inc();
        metrics
            .time_to_first_token
            .get_or_create(&ModelLabels { model: "m".to_owned() })
            .observe(1.0);
        let rendered = metrics.render();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names: Vec<&str> =
            rules.split(|c| !is_name(c)).filter(|word| word.starts_with("sluice_")).collect();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let family = ["_total", "_bucket"].iter().find_map(|it| name.strip_suffix(it));
            let line = format!("# TYPE {} ", family.unwrap_or(name));
            assert!(rendered.contains(&line), "{name} is no metric:\n{rendered}");
        }
    }
}
