//! All policies, and what holds for the requests of a key.

mod view;

use std::sync::Arc;

use sluice_gateway::admin::{AdminError, Configured, PolicyView, Verb};
use sluice_gateway::policy::{rules_of, shown};

use crate::components::{Empty, Field, Kind, Text};
use crate::layout::Head;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, sentence};
use view::{Explained, ExplainedRow, Policies, PolicyRow};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] =
    &[get("/policies", Access::May(Verb::SeePolicy), |ask| Box::pin(list(ask)))];

async fn list(ask: Arc<Ask>) -> Answer {
    let policies = ask.admin()?.policies().await?;
    let calendar = ask.calendar();
    let may_set = ask.session()?.may_at_all(Verb::SetPolicy);
    let empty = Empty::new(
        "No policy yet",
        "A policy says which models, regions and security levels somebody's requests may have, what may \
         be kept of them, and what the filter looks for: of the account, a department, a team, a \
         person, a service or a key. Of all that is said, the strictest holds.",
    );
    let view = Policies {
        head: Head::new("Policies").stamp(format!("as of {}", calendar.second(ask.now))),
        rows: policies.iter().map(row).collect(),
        empty: if may_set { empty.action("Set a policy", "/policies/set") } else { empty },
        may_set,
        notice: match ask.asked("done") {
            "set" => Some(("good", "The policy is set and holds at once.".to_owned())),
            "removed" => Some(("good", "The policy is removed.".to_owned())),
            _ => None,
        },
        key: Field::new(Kind::Line, "key", "Key")
            .value(ask.asked("key"))
            .placeholder("ci-review")
            .hint("Its name, id or first characters."),
        explained: explained(&ask).await?,
    };
    page(&ask, &view)
}

fn row(view: &PolicyView) -> PolicyRow {
    let rules = rules_of(&view.policy.rules);
    let said = rules.iter().map(|(name, value)| format!("{}: {}", plain(name), shown(value)));
    PolicyRow {
        subject: view.policy.subject.to_string(),
        whose: view.whose_name().into(),
        rules: said.collect::<Vec<_>>().join(" · ").into(),
        is_files: view.policy.is_the_files(),
    }
}

/// A rule's name, as people read it.
fn plain(name: &str) -> String {
    name.replace('_', " ")
}

/// What holds for the requests of the key that was asked about.
async fn explained(ask: &Ask) -> Result<Option<Explained>, Failure> {
    let key = ask.asked("key");
    if key.is_empty() {
        return Ok(None);
    }
    let snapshot = ask.shared.gateway.snapshot().clone();
    let configured = Configured { rules: &snapshot.rules, catalog: &snapshot.catalog };
    match ask.admin()?.explain_policy(key, configured, None).await {
        Ok(found) => Ok(Some(Explained {
            name: found.key.name.as_str().into(),
            rows: found
                .rows
                .iter()
                .map(|row| ExplainedRow {
                    rule: plain(row.name),
                    value: Text::new(match row.value.is_null() {
                        true => "not bound".to_owned(),
                        false => shown(&row.value),
                    }),
                    by: Text::new(row.by.to_string()),
                })
                .collect(),
            problems: found.problems.into_iter().map(Text::new).collect(),
        })),
        Err(error @ (AdminError::NoSuchKey | AdminError::Ambiguous { .. })) => {
            Ok(Some(Explained {
                name: key.into(),
                rows: Vec::new(),
                problems: vec![Text::new(sentence(&error))],
            }))
        }
        Err(error) => Err(error.into()),
    }
}
