//! The frame around every page: the rail of places, the head of the document, the way in and out.

use askama::Template;

use sluice_gateway::PersonRecord;
use sluice_gateway::admin::Verb;

use crate::assets;
use crate::components::{Csrf, Markup, Text, prints_markup};

/// What a page brings beside its template.
pub trait View: Template {
    /// The page's name, for the document's title.
    fn title(&self) -> String;

    /// Where the page stands in the rail; `None`: nowhere in it.
    fn place(&self) -> Option<Place>;
}

/// The places of the rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as its page is")]
pub enum Place {
    Home,
    Overview,
    Requests,
    Live,
    Playground,
    Routers,
    Models,
    Providers,
    Keys,
    Budgets,
    Policies,
    Organisation,
    Audit,
    Settings,
    Help,
}

impl Place {
    /// Every place, in the order of the rail, by group.
    pub const GROUPS: [(&str, &[Self]); 5] = [
        ("", &[Self::Home, Self::Overview]),
        ("Traffic", &[Self::Requests, Self::Live, Self::Playground]),
        ("Models", &[Self::Models, Self::Routers, Self::Providers]),
        ("Company", &[Self::Keys, Self::Budgets, Self::Policies, Self::Organisation]),
        ("Trust", &[Self::Audit, Self::Settings, Self::Help]),
    ];

    /// The places that somebody has pages of.
    pub(crate) fn seen_by(person: &PersonRecord) -> Vec<Self> {
        let all = Self::GROUPS.iter().flat_map(|(_, places)| places.iter().copied());
        all.filter(|place| place.verb().is_none_or(|verb| verb.is_open_to(person))).collect()
    }

    /// What one has to be permitted to do to have pages there.
    fn verb(self) -> Option<Verb> {
        match self {
            Self::Overview | Self::Requests | Self::Live => Some(Verb::SeeRecords),
            Self::Playground => Some(Verb::CreateKey),
            Self::Keys => Some(Verb::SeeKey),
            Self::Budgets => Some(Verb::SeeBudget),
            Self::Policies => Some(Verb::SeePolicy),
            Self::Organisation => Some(Verb::SeePerson),
            Self::Audit => Some(Verb::SeeTrail),
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Overview => "Overview",
            Self::Requests => "Requests",
            Self::Live => "Live",
            Self::Playground => "Playground",
            Self::Routers => "Routers",
            Self::Models => "Models",
            Self::Providers => "Providers",
            Self::Keys => "API keys",
            Self::Budgets => "Budgets",
            Self::Policies => "Policies",
            Self::Organisation => "Organisation",
            Self::Audit => "Audit",
            Self::Settings => "Settings",
            Self::Help => "Help",
        }
    }

    /// Where it is.
    pub fn path(self) -> &'static str {
        match self {
            Self::Home => "/",
            Self::Overview => "/overview",
            Self::Requests => "/requests",
            Self::Live => "/live",
            Self::Playground => "/playground",
            Self::Routers => "/routers",
            Self::Models => "/models",
            Self::Providers => "/providers",
            Self::Keys => "/keys",
            Self::Budgets => "/budgets",
            Self::Policies => "/policies",
            Self::Organisation => "/organisation",
            Self::Audit => "/audit",
            Self::Settings => "/settings",
            Self::Help => "/help",
        }
    }

    /// The letter after `g` that leads there.
    pub fn letter(self) -> &'static str {
        match self {
            Self::Home => "h",
            Self::Overview => "o",
            Self::Requests => "r",
            Self::Live => "l",
            Self::Playground => "p",
            Self::Routers => "u",
            Self::Models => "m",
            Self::Providers => "v",
            Self::Keys => "k",
            Self::Budgets => "b",
            Self::Policies => "c",
            Self::Organisation => "t",
            Self::Audit => "a",
            Self::Settings => "s",
            Self::Help => "d",
        }
    }
}

/// Light or dark, where somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// As the reader's system is.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The word in the cookie and in the form.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// Who looks at the page, and what the rail tells them.
#[derive(Debug, Clone)]
pub struct Reader {
    /// What they are called.
    pub name: Text,
    /// Their account.
    pub account: Text,
    /// Their role, in a word.
    pub role: &'static str,
    /// Where they may go.
    pub places: Vec<Place>,
    /// Providers that fail or rest.
    pub failing_providers: u64,
    /// Their keys that are due to be rotated.
    pub keys_to_rotate: u64,
    /// What proves that the form to sign out is ours.
    pub csrf: Csrf,
}

impl Reader {
    /// The number beside a place, and how urgent it is.
    fn tally(&self, place: Place) -> Option<(u64, &'static str, &'static str)> {
        let (number, class, what) = match place {
            Place::Providers => (self.failing_providers, "bad", "failing"),
            Place::Keys => (self.keys_to_rotate, "warn", "to rotate"),
            _ => return None,
        };
        (number > 0).then_some((number, class, what))
    }

    fn places_of(&self, group: &[Place]) -> Vec<Place> {
        group.iter().copied().filter(|place| self.places.contains(place)).collect()
    }
}

/// The frame of a page.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Who looks at it; `None`: somebody who has not signed in.
    pub reader: Option<Reader>,
    /// Light or dark.
    pub theme: Theme,
}

#[derive(Template)]
#[template(path = "layout/page.html")]
struct Page<'a> {
    title: String,
    place: Option<Place>,
    frame: &'a Frame,
    content: Markup,
}

impl Page<'_> {
    fn is_here(&self, place: &Place) -> bool {
        self.place.as_ref() == Some(place)
    }
}

/// A page as a document.
pub fn page(frame: &Frame, view: &impl View) -> askama::Result<String> {
    let content = Markup(view.render()?);
    Page { title: view.title(), place: view.place(), frame, content }.render()
}

/// The head of a page's content: where one is, of when the figures are.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "layout/head.html")]
pub struct Head {
    /// The pages above it: names and addresses.
    pub above: Vec<(Text, String)>,
    /// What it is about.
    pub title: Text,
    /// Of when and of what the figures are: `Acme · 9 to 22 November, Europe/Berlin · exact`.
    pub stamp: Markup,
}

impl Head {
    /// The head of a page that stands in the rail.
    pub fn new(title: impl Into<Text>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// With what the figures are of.
    #[must_use]
    pub fn stamp(self, stamp: impl Into<Markup>) -> Self {
        Self { stamp: stamp.into(), ..self }
    }

    /// Below the page at `path`.
    #[must_use]
    pub fn below(mut self, name: impl Into<Text>, path: impl Into<String>) -> Self {
        self.above.push((name.into(), path.into()));
        self
    }
}

prints_markup!(Head);
