use askama::Template;
use sluice_gateway::people::SHORTEST_PASSWORD;

use crate::components::{Field, Kind, Problem, Text};
use crate::layout::{Place, View};
use crate::sample::{self, Names};

/// An invitation, or a new password by a link.
#[derive(Template)]
#[template(path = "pages/invite/page.html")]
pub(crate) struct Invite {
    pub(super) link: Link,
    pub(super) problem: Option<Problem>,
    pub(super) password: Field,
}

/// What the link is for.
pub(super) enum Link {
    /// Somebody is asked to come.
    Invitation { action: String, account: Text, email: Text, role: &'static str },
    /// Somebody forgot their password.
    Reset { action: String, email: Text },
    /// It was used, taken back, or is too old.
    Gone,
}

impl View for Invite {
    fn title(&self) -> String {
        match self.link {
            Link::Invitation { .. } => "Invitation",
            Link::Reset { .. } => "New password",
            Link::Gone => "Link expired",
        }
        .into()
    }

    fn place(&self) -> Option<Place> {
        None
    }
}

impl Invite {
    /// The form, before anybody has filled it in.
    pub(super) fn new(link: Link) -> Self {
        Self {
        link,
        problem: None,
        password: Field::new(Kind::Password, "password", "Password")
            .hint(format!(
                "At least {SHORTEST_PASSWORD} characters. A few words are easier to remember than \
                 symbols."
            ))
            .autocomplete("new-password")
            .required(),
    }
    }
}

fn invitation(names: Names) -> Invite {
    Invite::new(Link::Invitation {
        action: "/invite/i_9sK1".into(),
        account: names.of("Acme"),
        email: names.of("jonas@example.org"),
        role: "developer",
    })
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Invite)> {
    let mut states = sample::in_all_names(invitation);
    let short = Invite::new(Link::Gone).password.error("9 characters are too few. Use at least 12");
    states.push(("error", Invite { password: short, ..invitation(Names::Plain) }));
    let reset = Link::Reset { action: "/invite/r_2b".into(), email: "ada@example.org".into() };
    states.push(("reset", Invite::new(reset)));
    states.push(("gone", Invite::new(Link::Gone)));
    states
}
