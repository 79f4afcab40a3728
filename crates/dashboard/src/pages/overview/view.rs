use askama::Template;

use crate::charts::{Bars, Series, Slot, Unit};
use crate::components::{
    Badge, Cost, Count, Empty, Figure, Money, Query, Share, Span, State, Tabs, Text, Trend,
};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// What was used, what it cost, and how well it went.
#[derive(Template)]
#[template(path = "pages/overview/page.html")]
pub(crate) struct Overview {
    pub(super) head: Head,
    pub(super) periods: Tabs,
    pub(super) figures: Vec<Figure>,
    pub(super) spend: Bars,
    pub(super) models: Vec<UseLine>,
    pub(super) keys: Vec<UseLine>,
    pub(super) apps: Vec<UseLine>,
    pub(super) providers: Vec<ProviderLine>,
    /// What to say where nothing was used.
    pub(super) empty: Option<Empty>,
}

/// What was used by one model, key or app.
pub(super) struct UseLine {
    pub(super) name: Text,
    pub(super) link: Option<String>,
    pub(super) requests: Count,
    pub(super) cost: Cost,
    pub(super) errors: Share,
}

/// How a provider is doing.
pub(super) struct ProviderLine {
    pub(super) name: Text,
    pub(super) state: Badge,
}

impl View for Overview {
    fn title(&self) -> String {
        "Overview".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Overview)
    }
}

fn lines(names: Names, path: &str, values: &[(&str, u64, u64, u64)]) -> Vec<UseLine> {
    let line = |(name, requests, cents, errors): &(&str, u64, u64, u64)| UseLine {
        name: names.of(name),
        link: (*name != "no name")
            .then(|| format!("/requests?{path}={}", Text::from(*name).segment())),
        requests: Count(*requests),
        cost: Cost(Some(Money::cents(*cents).0)),
        errors: Share(*errors, *requests),
    };
    values.iter().map(line).collect()
}

fn spend(days: u64) -> Bars {
    let slot = |(day, value): (usize, &u64)| Slot {
        label: (9 + day).to_string(),
        name: format!("{} Nov", 9 + day),
        values: vec![sample::micros(*value).0],
        link: None,
    };
    Bars {
        id: "spend",
        title: "Spend".into(),
        unit: Unit::Money,
        series: vec![Series { name: "spend".into(), colour: 1 }],
        slots: sample::wave(3, days, 172_000_000).iter().enumerate().map(slot).collect(),
        csv: "/overview.csv?period=14d".into(),
        is_low: false,
    }
}

fn figures() -> Vec<Figure> {
    let wave = |seed, middle| sample::wave(seed, 14, middle);
    vec![
        Figure::new("Spend", Money::cents(241_836))
            .change(Trend::Up, "12 % from $2,159.10")
            .note("31 without a known price")
            .spark(&wave(1, 200)),
        Figure::new("Requests", Count(184_206))
            .link("/requests?period=14d")
            .change(Trend::Up, "8 % from 170,561")
            .spark(&wave(2, 9_000)),
        Figure::new("Tokens", crate::components::Tokens(1_204_118_402))
            .change(Trend::Up, "5 % from 1.1 B")
            .spark(&wave(3, 90)),
        Figure::new("Failed", Share(774, 184_206))
            .change(Trend::Worse, "from 0.38 %")
            .spark(&wave(4, 50)),
        Figure::new("First token, p95", Span(Some(1_930))).change(Trend::Better, "6 % from 2.05 s"),
        Figure::new("Filtered", Share(7_552, 184_206)).link("/requests?period=14d&filter=any"),
    ]
}

fn make(names: Names) -> Overview {
    let provider = |(name, state, word): (&str, State, &str)| ProviderLine {
        name: names.of(name),
        state: Badge::new(state, word),
    };
    let query = Query::new("/overview", "");
    Overview {
        head: Head::new("Overview")
            .stamp("Acme · 9 to 22 November, Europe/Berlin · as of 14:03:07"),
        periods: query.periods("14d"),
        figures: figures(),
        spend: spend(14),
        models: lines(
            names,
            "model",
            &[
                ("claude-sonnet-4.5", 61_204, 140_255, 122),
                ("gpt-5-mini", 88_310, 51_208, 301),
                ("gemini-3-pro", 9_871, 38_801, 212),
                ("lab/qwen3-32b", 24_821, 0, 139),
            ],
        ),
        keys: lines(
            names,
            "key",
            &[
                ("ada-opencode", 21_840, 21_240, 12),
                ("nightly-eval", 90_112, 40_211, 530),
                ("billing-bot", 60_400, 8_802, 31),
                ("ci-review", 11_854, 171_583, 201),
            ],
        ),
        apps: lines(
            names,
            "app",
            &[
                ("opencode", 44_120, 90_410, 88),
                ("Continue", 12_008, 31_977, 9),
                ("no name", 128_078, 119_449, 677),
            ],
        ),
        providers: [
            ("anthropic", State::Good, "answers"),
            ("openai", State::Good, "answers"),
            ("google", State::Warn, "resting"),
            ("lab", State::Bad, "failing"),
        ]
        .map(provider)
        .into(),
        empty: None,
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Overview)> {
    let nothing = || Overview {
        figures: vec![
            Figure::new("Spend", Money::cents(0)),
            Figure::new("Requests", Count(0)),
            Figure::new("Tokens", Count(0)),
            Figure::new("Failed", Share(0, 0)),
            Figure::new("First token, p95", Span(None)),
            Figure::new("Filtered", Share(0, 0)),
        ],
        spend: spend(0),
        models: vec![],
        keys: vec![],
        apps: vec![],
        empty: Some(
            Empty::new(
                "Nothing was used in this period",
                "What your keys use is summed up here: spend, requests, tokens, errors and times.",
            )
            .action("Open the playground", "/playground"),
        ),
        ..make(Names::Plain)
    };
    let mut states = sample::in_all_names(make);
    states.insert(0, ("empty", nothing()));
    states.push(("error", Overview { spend: spend(1), ..make(Names::Plain) }));
    states
}
