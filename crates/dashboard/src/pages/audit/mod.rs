//! The audit trail: its pages, its export, and whether it is as it was written.

pub(crate) mod entry;
mod view;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_gateway::admin::{Kind, Verb, Which};
use sluice_gateway::{
    AuditVerification, ChainedEntry, Record, TrailCursor, TrailFilter, TrailKind, Turn,
};
use tokio::sync::Semaphore;

use crate::components::{Code, Empty, Filter, Moment, Offer, Problem, Query, Text};
use crate::format;
use crate::layout::Head;
use crate::pages::organisation::kinds;
use crate::web::{
    Access, Answer, Ask, Failure, Reply, Route, get, page, page_with, post, see_other,
};
use entry::Names;
use view::{Audit, Kept, Verified};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/audit", Access::May(Verb::SeeTrail), |ask| Box::pin(list(ask))),
    get("/audit.csv", Access::May(Verb::SeeTrail), |ask| Box::pin(csv(ask))),
    get("/audit.jsonl", Access::May(Verb::SeeTrail), |ask| Box::pin(json_lines(ask))),
    post("/audit/verify", Access::May(Verb::SeeTrail), |ask| Box::pin(verify(ask))),
];

/// Rows of a page.
const ROWS: u32 = 50;
/// Entries of an export that are read at once.
const EXPORTED_AT_ONCE: u32 = 100;
/// How long the check of the chain may take here; at the command line it may take any time.
const VERIFY_WITHIN: Duration = Duration::from_secs(60);
/// One check at a time: it reads the whole trail.
static VERIFYING: Semaphore = Semaphore::const_new(1);

async fn list(ask: Arc<Ask>) -> Answer {
    let sought = ask.asked("q");
    if !sought.is_empty() && ask.admin()?.trail_entry(None, sought).await?.is_some() {
        return see_other(format!("/audit/{}", Text::from(sought).segment()));
    }
    page(&ask, &listing(&ask).await?)
}

/// What the address asks for.
fn filter(ask: &Ask) -> TrailFilter {
    let days = match ask.asked("period") {
        "24h" => Some(1),
        "7d" => Some(7),
        "30d" => Some(30),
        "90d" => Some(90),
        _ => None,
    };
    let kind = ask.asked("kind");
    TrailFilter {
        kind: TrailKind::ALL.into_iter().find(|it| it.as_str() == kind),
        since: days.map(|days: u64| UnixMillis(ask.now.0.saturating_sub(days * DAY_MILLIS))),
        until: None,
        verb: ask.query.get("action").map(str::to_owned),
        person: ask.query.get("person").map(Into::into),
        key: ask.query.get("key").map(Into::into),
    }
}

/// The list, as `/audit` has it: what was sent to be verified is another address.
async fn listing(ask: &Ask) -> Result<Audit, Failure> {
    let query = ask.query.moved("/audit");
    let names = Names::of(ask).await?;
    let sought = ask.asked("q");
    // A search that leads nowhere shows nothing, rather than everything.
    let found = match sought.is_empty() {
        true => {
            ask.admin()?
                .trail(None, &filter(ask), &ask.query.turn(TrailCursor::parse), ROWS)
                .await?
        }
        false => Default::default(),
    };
    let rows: Vec<_> = found.entries.iter().map(|it| names.row(it, &ask.calendar())).collect();
    let newer = found.newer.map(|it| it.to_string());
    let older = found.older.map(|it| it.to_string());
    let shown = format::plural(rows.len() as u64, "entry", "entries");
    let filters = query.filters("Audit id", chips(&query, &names));
    let empty = if filters.clear.is_some() {
        Empty::new("Nothing matches", "No entry has this id, or the filters leave none.")
            .action("Show all entries", "/audit")
    } else {
        let text = "Every change of accounts, people, keys and providers leaves an entry here, and \
                    so does each request whose key asks for it.";
        Empty::new("Nothing in the trail yet", text)
    };
    Ok(Audit {
        head: Head::new("Audit").stamp(format!(
            "{} · append-only, each entry carries the hash of the one before · {}",
            ask.session()?.account().name,
            ask.calendar().zone_name(),
        )),
        csv: query.moved("/audit.csv").without("q"),
        json: query.moved("/audit.jsonl").without("q"),
        verify: query.at("/audit/verify"),
        pager: query.pager(shown, newer.as_deref(), older.as_deref()),
        filters,
        problem: None,
        verified: None,
        head_to_keep: head_to_keep(ask).await?,
        rows,
        empty,
        csrf: ask.csrf(),
    })
}

/// The last head, for whoever keeps it elsewhere.
async fn head_to_keep(ask: &Ask) -> Result<Option<Kept>, Failure> {
    let (head, public_key) = ask.admin()?.latest_head().await?;
    let Some(head) = head else { return Ok(None) };
    let rules = ask.shared.gateway.snapshot().rules.audit;
    let entries = match rules.retention_days {
        0 => "Entries are kept for ever".to_owned(),
        days => format!("Entries are kept for {}", format::plural(days, "day", "days")),
    };
    let content = match rules.content_bytes {
        0 => "no content beside them".to_owned(),
        _ => {
            format!("content beside them for {}", format::plural(rules.content_days, "day", "days"))
        }
    };
    Ok(Some(Kept {
        number: format::count(head.seq),
        signed: Moment::minute(&ask.calendar(), head.at),
        line: Code::new("Head", serde_json::to_string(&head).unwrap_or_default()),
        public_key,
        kept_for: format!("{entries}, {content}."),
    }))
}

fn chips(query: &Query, names: &Names) -> Vec<Filter> {
    let same = |word: &'static str| Offer::new(word, word);
    let changes = Verb::ALL.iter().map(|verb| verb.as_str()).filter(|word| !word.ends_with(".see"));
    let periods = [("24h", "24 h"), ("7d", "7 days"), ("30d", "30 days"), ("90d", "90 days")];
    let mut chips = vec![
        query.filter("kind", TrailKind::ALL.map(|kind| same(kind.as_str()))),
        query.filter("action", changes.map(same)),
        query.filter("person", names.people()),
        query.filter("period", periods.map(|(value, shown)| Offer::new(value, shown))),
    ];
    if let Some(key) = query.get("key") {
        chips.push(query.filter("key", [Offer::new(key, names.key(key))]));
    }
    chips
}

/// The entries that the address asks for, the latest first, as lines of a file. They are read page by
/// page as the browser takes them, and no more once it has left.
fn lines(
    ask: Arc<Ask>,
    head: &str,
    line: impl Fn(&ChainedEntry) -> String + Send + 'static,
) -> Body {
    let first = stream::iter([Ok(head.to_owned())]);
    let rest = stream::try_unfold((ask, Some(Turn::First), line), |(ask, turn, line)| async move {
        let Some(turn) = turn else { return Ok::<_, std::io::Error>(None) };
        let found = async {
            let wanted = filter(&ask);
            Ok::<_, Failure>(ask.admin()?.trail(None, &wanted, &turn, EXPORTED_AT_ONCE).await?)
        };
        // The connection breaks off, so that nobody takes a part for the whole.
        let found = found.await;
        let found = found.map_err(|_| std::io::Error::other("the trail cannot be read on"))?;
        let text: String = found.entries.iter().map(&line).collect();
        Ok(Some((text, (ask, found.older.map(Turn::Older), line))))
    });
    Body::from_stream(first.chain(rest))
}

async fn csv(ask: Arc<Ask>) -> Answer {
    let names = Names::of(&ask).await?;
    let head = "number,at,audit_id,who,where,action,subject,result,hash\r\n";
    Ok(Reply::csv("audit", lines(ask, head, move |entry| names.line(entry))))
}

async fn json_lines(ask: Arc<Ask>) -> Answer {
    let body = lines(ask, "", |entry| format!("{}\n", entry::json(entry)));
    let disposition = http::HeaderValue::from_static("attachment; filename=\"audit.jsonl\"");
    let reply = Reply::of("application/x-ndjson; charset=utf-8", body);
    Ok(reply.header(http::header::CONTENT_DISPOSITION, disposition))
}

async fn verify(ask: Arc<Ask>) -> Answer {
    let mut view = listing(&ask).await?;
    match verification(&ask).await? {
        Ok(found) => {
            view.verified = Some(Verified {
                entries: format::count(found.entries),
                head: found.head,
                broken: found.broken.map(|it| {
                    let kind = serde_json::to_value(it.kind).unwrap_or_default();
                    let kind = kind.as_str().unwrap_or_default().to_owned();
                    (format::count(it.seq), kind, it.problem.to_owned())
                }),
            });
            page(&ask, &view)
        }
        Err(why) => {
            view.problem = Some(Problem::new(why));
            page_with(StatusCode::SERVICE_UNAVAILABLE, &ask, &view)
        }
    }
}

/// Checks the chain. It ends with its time, and when the browser leaves: the turn is the next one's.
async fn verification(ask: &Ask) -> Result<Result<AuditVerification, &'static str>, Failure> {
    let Ok(_turn) = VERIFYING.try_acquire() else {
        return Ok(Err("Somebody has the chain checked right now. Try again in a minute."));
    };
    match tokio::time::timeout(VERIFY_WITHIN, ask.admin()?.verify_trail()).await {
        Ok(checked) => Ok(Ok(checked?)),
        Err(_) => Ok(Err(
            "The trail is too long to be checked here within a minute. `sluice audit verify` \
                    checks it on the server's machine.",
        )),
    }
}

/// The thing that an entry is about, where it has a page.
pub(crate) async fn thing(ask: &Ask, subject: &str) -> Result<Option<String>, Failure> {
    let Some((kind, id)) = subject.split_once(':') else { return Ok(None) };
    let Some(kind) = Kind::ALL.into_iter().find(|it| it.as_str() == kind) else { return Ok(None) };
    // Only operators have pages of accounts.
    if kind == Kind::Account && !ask.session()?.may_at_all(Verb::CreateAccount) {
        return Ok(None);
    }
    let found: Result<Record, _> = ask.admin()?.find(&Which::new(kind, id)).await;
    Ok(found.ok().map(|record| kinds::path(&record)))
}
