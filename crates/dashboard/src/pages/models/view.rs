use askama::Template;

use crate::components::{Badge, Empty, Filters, Pager, Query, State, Text, Tokens};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The catalogue of models.
#[derive(Template)]
#[template(path = "pages/models/page.html")]
pub(crate) struct Models {
    pub(super) head: Head,
    pub(super) filters: Filters,
    pub(super) rows: Vec<ModelRow>,
    pub(super) pager: Pager,
    pub(super) empty: Empty,
    pub(super) may_add: bool,
    pub(super) notice: Option<(&'static str, String)>,
    /// Where the same is a file.
    pub(super) csv: String,
}

/// One model.
pub(super) struct ModelRow {
    pub(super) id: Text,
    pub(super) owned_by: Text,
    pub(super) providers: Text,
    pub(super) context: Option<Tokens>,
    pub(super) output: Option<Tokens>,
    /// US dollars per million tokens: prompt, cached prompt, answer.
    pub(super) prices: Option<(String, String, String)>,
    pub(super) price_source: Text,
    pub(super) can: Vec<&'static str>,
    /// Who put it in.
    pub(super) origin: &'static str,
    pub(super) state: Badge,
    pub(super) alias_of: Option<Text>,
}

impl View for Models {
    fn title(&self) -> String {
        "Models".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Models)
    }
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names) -> Models {
    let row = |(id, owner, providers, context, output, prices, can, origin, state, word): (
        &str,
        &str,
        &str,
        u64,
        u64,
        Option<(&str, &str, &str)>,
        &[&'static str],
        &'static str,
        State,
        &str,
    )| ModelRow {
        id: names.of(id),
        owned_by: names.of(owner),
        providers: names.of(providers),
        context: (context > 0).then_some(Tokens(context)),
        output: (output > 0).then_some(Tokens(output)),
        prices: prices.map(|(input, cached, output)| {
            (format!("${input}"), format!("${cached}"), format!("${output}"))
        }),
        price_source: "price list of 2026-11-01".into(),
        can: can.to_vec(),
        origin,
        state: Badge::new(state, word),
        alias_of: (id == "svc/enterprise-coder-v1").then(|| names.of("claude-sonnet-4.5")),
    };
    let rows: [(
        &str,
        &str,
        &str,
        u64,
        u64,
        Option<(&str, &str, &str)>,
        &[&'static str],
        &'static str,
        State,
        &str,
    ); 7] = [
        (
            "claude-sonnet-4.5",
            "anthropic",
            "anthropic",
            200_000,
            64_000,
            Some(("3.00", "0.30", "15.00")),
            &["vision", "tools", "JSON"],
            "file",
            State::Good,
            "ok",
        ),
        (
            "gpt-5-mini",
            "openai",
            "openai, azure-eu",
            400_000,
            128_000,
            Some(("0.25", "0.025", "2.00")),
            &["vision", "tools", "JSON"],
            "database",
            State::Good,
            "ok",
        ),
        (
            "gpt-5",
            "openai",
            "openai",
            400_000,
            128_000,
            Some(("1.25", "0.125", "10.00")),
            &["vision", "tools", "JSON"],
            "file",
            State::Good,
            "ok",
        ),
        (
            "gemini-3-pro",
            "google",
            "google",
            1_000_000,
            65_536,
            Some(("2.00", "0.20", "12.00")),
            &["vision", "tools"],
            "file",
            State::Warn,
            "resting",
        ),
        (
            "lab/qwen3-32b",
            "alibaba",
            "lab",
            40_960,
            0,
            Some(("0", "0", "0")),
            &["tools"],
            "database",
            State::Bad,
            "failing",
        ),
        (
            "mistral-large",
            "mistral",
            "mistral",
            128_000,
            0,
            None,
            &["tools", "JSON"],
            "file",
            State::Plain,
            "unknown",
        ),
        (
            "svc/enterprise-coder-v1",
            "sluice",
            "anthropic",
            200_000,
            64_000,
            Some(("3.00", "0.30", "15.00")),
            &["vision", "tools", "JSON"],
            "file",
            State::Good,
            "ok",
        ),
    ];
    let query = Query::new("/models", "");
    Models {
        head: Head::new("Models").stamp("24 models of 5 providers · prices in US dollars per million tokens"),
        filters: query.filters("Model", vec![
            query.filter("provider", [(names.of("openai"), 8), (names.of("anthropic"), 6), (names.of("lab"), 2)]),
            query.filter("can", [("vision".into(), 14), ("tools".into(), 22), ("JSON".into(), 18)]),
            query.filter("from", [("file".into(), 18), ("database".into(), 6)]),
        ]),
        rows: rows.map(row).into(),
        pager: query.pager("1 to 7 of 24 models".into(), None, Some("7")),
        empty: Empty::new("No models", "Models come with providers. Connect one: its models are listed with what they can do and cost.").action("Connect a provider", "/providers/new"),
        may_add: true,
        notice: None,
        csv: "/models.csv".into(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Models)> {
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", Models { rows: vec![], ..make(Names::Plain) }));
    let full = (0..24).flat_map(|_| make(Names::Plain).rows).collect();
    states.push(("full", Models { rows: full, ..make(Names::Plain) }));
    states
}
