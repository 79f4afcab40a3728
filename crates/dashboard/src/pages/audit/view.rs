use askama::Template;

use crate::components::{
    Badge, Code, Csrf, Empty, Filters, Moment, Pager, Problem, Query, State, Text,
};
use crate::layout::{Head, Place, View};
use crate::sample::{self, Names};

/// The audit trail.
#[derive(Template)]
#[template(path = "pages/audit/page.html")]
pub(crate) struct Audit {
    pub(super) head: Head,
    /// The same entries as files.
    pub(super) csv: String,
    pub(super) json: String,
    /// Where the chain is verified.
    pub(super) verify: String,
    pub(super) filters: Filters,
    pub(super) problem: Option<Problem>,
    pub(super) verified: Option<Verified>,
    /// What to keep elsewhere; nothing where nothing was signed yet.
    pub(super) head_to_keep: Option<Kept>,
    pub(super) rows: Vec<EntryRow>,
    pub(super) pager: Pager,
    pub(super) empty: Empty,
    pub(super) csrf: Csrf,
}

/// What checking the chain found.
pub(super) struct Verified {
    pub(super) entries: String,
    /// The hash of the last entry.
    pub(super) head: String,
    /// Where it does not hold: number, what was done, what is wrong.
    pub(super) broken: Option<(String, String, String)>,
}

/// The last signed head.
pub(super) struct Kept {
    pub(super) number: String,
    pub(super) signed: Moment,
    /// The head itself.
    pub(super) line: Code,
    pub(super) public_key: String,
    /// How long entries and content are kept.
    pub(super) kept_for: String,
}

/// One entry.
pub(crate) struct EntryRow {
    pub(super) seq: String,
    pub(super) at: Moment,
    pub(super) id: String,
    pub(super) actor: Text,
    pub(super) surface: String,
    /// What was done: `keys.rotate`, or that a model was asked.
    pub(super) verb: String,
    pub(super) subject: Text,
    /// What changed: member, before, after.
    pub(super) changes: Vec<(Text, Text, Text)>,
    pub(super) result: Option<Badge>,
}

impl View for Audit {
    fn title(&self) -> String {
        "Audit".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Audit)
    }
}

fn head() -> String {
    "9f2c6d1b7a40e3558c1d90b2f4a7e6c35d8b1f0a2c9e7d6b4a3f1e0d9c8b7a65".to_owned()
}

#[expect(clippy::type_complexity, reason = "a table of samples, a line each")]
fn make(names: Names, times: u64) -> Audit {
    let calendar = sample::calendar();
    let row = |place: u64,
               (actor, surface, verb, subject, changes, result): (
        &str,
        &'static str,
        &'static str,
        &str,
        &[(&str, &str, &str)],
        Option<(State, &str)>,
    )| EntryRow {
        seq: crate::format::count(48_213 - place),
        at: Moment::second(&calendar, sample::before(place * 1_700_000)),
        id: format!("adm_019aa8f0{place:03}"),
        actor: names.of(actor),
        surface: surface.into(),
        verb: verb.into(),
        subject: names.of(subject),
        changes: changes
            .iter()
            .map(|(member, before, after)| (Text::from(*member), names.of(before), names.of(after)))
            .collect(),
        result: result.map(|(state, word)| Badge::new(state, word)),
    };
    let entries: [(
        &str,
        &'static str,
        &'static str,
        &str,
        &[(&str, &str, &str)],
        Option<(State, &str)>,
    ); 7] = [
        (
            "Ada Brandt",
            "dashboard",
            "keys.rotate",
            "nightly-eval",
            &[("secrets", "Tt0x", "Tt0x, 4Qm7")],
            None,
        ),
        ("ada-opencode", "API", "request", "svc/auto", &[], Some((State::Good, "completed"))),
        (
            "Ada Brandt",
            "dashboard",
            "people.change",
            "Jonas Keller",
            &[("role", "developer", "admin"), ("teams", "Payments", "Payments, Platform")],
            None,
        ),
        (
            "command line (root)",
            "command line",
            "providers.add",
            "lab",
            &[("base_url", "–", "http://10.0.4.20:8000")],
            None,
        ),
        (
            "sam@example.org",
            "dashboard",
            "sign-in",
            "sam@example.org",
            &[],
            Some((State::Bad, "refused")),
        ),
        ("billing-bot", "API", "request", "claude-sonnet-4.5", &[], Some((State::Warn, "blocked"))),
        (
            "configuration file",
            "file",
            "teams.create",
            "Research",
            &[("name", "–", "Research")],
            None,
        ),
    ];
    let rows: Vec<_> = (0..times * 7)
        .map(|place| row(place, entries[usize::try_from(place % 7).unwrap_or(0)]))
        .collect();
    let query = Query::new("/audit", "");
    Audit {
        head: Head::new("Audit").stamp(
            "Acme · append-only, each entry carries the hash of the one before · Europe/Berlin",
        ),
        filters: query.filters(
            "Audit id",
            vec![
                query
                    .filter("kind", [("request".into(), 41_220), ("administration".into(), 6_993)]),
            ],
        ),
        csv: "/audit.csv".into(),
        json: "/audit.jsonl".into(),
        verify: "/audit/verify".into(),
        head_to_keep: (times > 0).then(|| Kept {
            number: "48,200".into(),
            signed: Moment::minute(&calendar, sample::before(1_200_000)),
            line: Code::new("Head", format!("{{\"seq\":48200,\"hash\":\"{}\"}}", head())),
            public_key: head(),
            kept_for: "Entries are kept for ever, content beside them for 30 days.".into(),
        }),
        problem: None,
        verified: None,
        pager: query.pager(format!("{} of 48,213 entries", rows.len()), None, Some("48206")),
        rows,
        empty: Empty::new(
            "Nothing in the trail yet",
            "Every change of accounts, people, keys and providers leaves an entry here, and so does each request whose key asks for it.",
        ),
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Audit)> {
    let mut states = sample::in_all_names(|names| make(names, 1));
    states.insert(0, ("empty", make(Names::Plain, 0)));
    states.push(("full", make(Names::Plain, 7)));
    states.push((
        "verified",
        Audit {
            verified: Some(Verified { entries: "48,213".into(), head: head(), broken: None }),
            ..make(Names::Plain, 1)
        },
    ));
    let broken = Some((
        "31,007".to_owned(),
        "changed".to_owned(),
        "its text is not the one that was sealed".to_owned(),
    ));
    states.push((
        "error",
        Audit {
            verified: Some(Verified { entries: "31,006".into(), head: head(), broken }),
            ..make(Names::Plain, 1)
        },
    ));
    states
}
