use askama::Template;

use super::{Place as Here, reference};
use crate::components::{Code, Count, Markup, Tabs, Text};
use crate::layout::{Head, Place, View};
use crate::pages::key_new::Client;
use crate::sample::{self, Names};

/// The help of this deployment.
#[derive(Template)]
#[template(path = "pages/help/page.html")]
pub(crate) struct Help {
    pub(super) head: Head,
    pub(super) tabs: Tabs,
    pub(super) part: Part,
    /// Whether the reader may make keys.
    pub(super) may_make: bool,
}

/// A part of it.
pub(super) enum Part {
    /// The API.
    Reference(Box<Reference>),
    /// How clients are set up.
    Clients(Vec<Client>),
}

/// The reference of this deployment's API.
pub(super) struct Reference {
    pub(super) address: Code,
    pub(super) models: Vec<Text>,
    /// How many there are beside these.
    pub(super) more_models: Count,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) objects: Vec<Object>,
    pub(super) errors: Vec<ErrorLine>,
    pub(super) headers: Vec<(&'static str, Markup)>,
}

/// One endpoint.
pub(super) struct Endpoint {
    pub(super) id: &'static str,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) says: Markup,
    pub(super) scope: &'static str,
    pub(super) parameters: Vec<(&'static str, &'static str, Markup)>,
    pub(super) example: Code,
    pub(super) request: Option<&'static str>,
    pub(super) answer: Code,
    pub(super) object: &'static str,
    pub(super) events: Option<&'static str>,
    pub(super) errors: Vec<&'static str>,
}

/// What a body holds.
pub(super) struct Object {
    pub(super) name: &'static str,
    pub(super) says: Markup,
    pub(super) fields: Vec<FieldLine>,
}

/// One field of it.
pub(super) struct FieldLine {
    pub(super) name: &'static str,
    pub(super) kind: Markup,
    pub(super) is_required: bool,
    pub(super) says: Markup,
}

/// One error.
pub(super) struct ErrorLine {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) code: &'static str,
    pub(super) when: Markup,
    pub(super) fix: Markup,
}

impl View for Help {
    fn title(&self) -> String {
        "Help".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Help)
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Help)> {
    let here = Here { base_url: "http://localhost:8080/api/v1".to_owned() };
    let models = |names: Names| {
        ["svc/auto", "svc/orbit", "svc/nebula", "gpt-5-mini", "claude-sonnet-4.5"]
            .map(|model| names.of(model))
            .into()
    };
    let mut states = sample::in_all_names(|names| reference(&here, models(names), true));
    states.push(("empty", reference(&here, Vec::new(), true)));
    let many = (1..=400).map(|number| Text::new(format!("lab/model-{number}"))).collect();
    states.push(("full", reference(&here, many, true)));
    states.push(("clients", super::clients_view(crate::pages::key_new::sample_clients(), true)));
    states
}
