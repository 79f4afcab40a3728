use askama::Template;

use crate::components::{Badge, Code, Csrf, Problem, State, Text};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// One entry of the audit trail.
#[derive(Template)]
#[template(path = "pages/audit_entry/page.html")]
pub(crate) struct Entry {
    pub(super) head: Head,
    /// How a request ended.
    pub(super) result: Option<Badge>,
    pub(super) facts: Vec<(&'static str, Text)>,
    /// What it is about, and where that is.
    pub(super) link: Option<(&'static str, String)>,
    /// What changed: member, before, after.
    pub(super) changes: Vec<(Text, Text, Text)>,
    pub(super) json: Code,
    /// The content that is kept beside it.
    pub(super) content: Option<Content>,
    pub(super) problem: Option<Problem>,
    pub(super) csrf: Csrf,
}

/// The redacted content beside an entry.
pub(super) enum Content {
    /// It is there: how many bytes, and where it is asked for; `None`: not by this reader.
    Kept { size: String, path: Option<String> },
    /// It was asked for.
    Shown(Shown),
}

/// Redacted content.
pub(super) struct Shown {
    pub(super) request: Code,
    /// What each piece is, and its text.
    pub(super) answer: Vec<(String, Text)>,
    pub(super) is_cut: bool,
}

impl View for Entry {
    fn title(&self) -> String {
        "Audit entry".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Audit)
    }
}

fn make(names: Names) -> Entry {
    let hash = "9f2c6d1b7a40e3558c1d90b2f4a7e6c35d8b1f0a2c9e7d6b4a3f1e0d9c8b7a65";
    Entry {
        head: Head::new("people.change").below("Audit", "/audit").stamp("22 Nov 14:03"),
        result: None,
        facts: vec![
            ("Id", "adm_019aa8f0002".into()),
            ("Number", "48,211".into()),
            ("Time", "2026-11-22 14:03:07.120 Europe/Berlin".into()),
            ("Who", names.of("Ada Brandt")),
            ("Where", "dashboard".into()),
            ("What", "people.change".into()),
            ("To what", names.of("Jonas Keller")),
            ("Hash", hash.into()),
        ],
        link: Some(("What it was done to", "/organisation/people/per_02".into())),
        changes: vec![
            ("role".into(), "developer".into(), "admin".into()),
            ("name".into(), "–".into(), names.of("Jonas Keller")),
        ],
        json: Code::new(
            "As it was written",
            "{\n  \"kind\": \"administration\",\n  \"verb\": \"people.change\"\n}",
        ),
        content: None,
        problem: None,
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Entry)> {
    let mut states = sample::in_all_names(make);
    let result = Some(Badge::new(State::Good, "completed"));
    let link = Some(("The request", "/requests/req_01".to_owned()));
    let head = Head::new("request").below("Audit", "/audit").stamp("22 Nov 14:03");
    let content = |path: Option<&str>| {
        let path = path.map(str::to_owned);
        Some(Content::Kept { size: "3,412".to_owned(), path })
    };
    let request = |content, names| Entry {
        head: head.clone(),
        result: result.clone(),
        link: link.clone(),
        changes: vec![],
        content,
        ..make(names)
    };
    let path = Some("/audit/aud_019aa8f0002/content");
    states.push(("request", request(content(path), Names::Plain)));
    states.push(("content-of-others", request(content(None), Names::Plain)));
    let said = "Write to [EMAIL_1]: the release is on Friday.";
    let shown = Content::Shown(Shown {
        request: Code::new(
            "What the model was sent",
            "{\n  \"messages\": [\n    { \"role\": \"user\", \"content\": \"Who is [EMAIL_1]?\" }\n  ]\n}",
        ),
        answer: vec![
            ("content".to_owned(), said.into()),
            ("tool_call".to_owned(), "read {}".into()),
        ],
        is_cut: true,
    });
    states.push(("content", request(Some(shown), Names::Plain)));
    states
}
