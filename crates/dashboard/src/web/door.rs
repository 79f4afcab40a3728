//! The one door: what holds for every request, before its page is asked.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::StreamExt as _;
use http::header::{CACHE_CONTROL, ETAG, HOST, IF_NONE_MATCH, ORIGIN};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;
use sluice_gateway::admin::Verb;
use sluice_gateway::people::{Session, Visitor};
use sluice_gateway::proxies::Client;

use super::routes::{Access, FORM, Method, Route};
use super::{Ask, Failure, Fields, Reply, Shared};
use crate::assets;
use crate::components::Query;

/// Answers a request of a route, or one that no route fits.
pub(super) async fn answer(
    shared: Arc<Shared>,
    route: Option<&'static Route>,
    places: Vec<(String, String)>,
    request: Request,
) -> Response {
    if let Some(asset) = asset(&request) {
        return asset.into_response(false);
    }
    let (parts, body) = request.into_parts();
    let client = parts.extensions.get::<Client>().copied();
    let is_https = client.is_some_and(|client| client.is_https);
    let agent = parts.headers.get(http::header::USER_AGENT).and_then(|it| it.to_str().ok());
    let mut ask = Ask {
        now: shared.clock.now(),
        shared,
        session: None,
        visitor: Visitor::new(client.map(|client| client.address), agent),
        is_https,
        query: Query::new(parts.uri.path(), parts.uri.query().unwrap_or_default()),
        path: parts.uri.path().to_owned(),
        places,
        form: Fields::default(),
        headers: parts.headers,
    };
    let host = ask.headers.get(HOST).and_then(|it| it.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    let host = host.map(str::to_owned);
    let checked = if is_private(is_https, host.as_deref()) {
        check(&mut ask, route, host.as_deref(), body).await
    } else {
        Err(Failure::Unprotected)
    };
    let ask = Arc::new(ask);
    let answered = match (checked, route) {
        (Err(failure), _) => Err(failure),
        (Ok(()), None) => Err(Failure::Missing),
        (Ok(()), Some(route)) => {
            let answered = match (route.handler)(ask.clone()).await {
                Ok(reply) => note_export(&ask, route).await.map(|()| reply),
                refused => refused,
            };
            if route.method == Method::Post {
                take_over(&ask).await;
            }
            answered
        }
    };
    answered.unwrap_or_else(|failure| failure.into_reply(&ask)).into_response(is_https)
}

/// So many characters of an address are noted.
const LONGEST_NOTED: usize = 500;

/// Whoever takes figures away as a file leaves an entry in the trail, before the first byte is sent.
async fn note_export(ask: &Ask, route: &Route) -> Result<(), Failure> {
    let is_file = [".csv", ".jsonl"].iter().any(|ending| route.path.ends_with(ending));
    if !is_file || ask.session.is_none() {
        return Ok(());
    }
    let verb = match route.access {
        Access::May(Verb::SeeTrail) => Verb::ExportTrail,
        _ => Verb::ExportRecords,
    };
    let address: String = ask.query.here().chars().take(LONGEST_NOTED).collect();
    let details = json!({ "address": address });
    Ok(ask.admin()?.note_export(None, verb, details).await?)
}

/// What a form has changed is in force before it is answered: whoever reads "it works again" tries it.
/// Where that takes long, the server gets to it by itself.
async fn take_over(ask: &Ask) {
    let Ok(admin) = ask.admin() else { return };
    let gateway = &ask.shared.gateway;
    if let Ok(version) = admin.latest_change().await
        && version > gateway.directory_version()
    {
        gateway.changes().take_over(version).await;
    }
}

/// Whether what is typed and the session's cookie are read by nobody on their way: they come by HTTPS,
/// or leave no machine. A browser that asks for `localhost` asks its own machine, whatever address it
/// is seen to come from: that of a container's bridge, for example.
fn is_private(is_https: bool, host: Option<&str>) -> bool {
    is_https || host.is_some_and(is_loopback)
}

/// Whether an authority, as `Host` has it, is this machine's own.
fn is_loopback(host: &str) -> bool {
    let port = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, after)) if port(after) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Everything that is asked before a page is.
async fn check(
    ask: &mut Ask,
    route: Option<&'static Route>,
    host: Option<&str>,
    body: Body,
) -> Result<(), Failure> {
    if let Some(token) = ask.session_token() {
        ask.session = ask.shared.people.session(token, ask.now).await?;
    }
    let Some(route) = route else { return Ok(()) };
    if route.method == Method::Post {
        if !is_from_here(&ask.headers, host) {
            return Err(Failure::ForeignForm);
        }
        // For strangers, nothing is read beyond what every form may have.
        let largest = if ask.session.is_some() { route.largest } else { FORM };
        let body = read(body, largest.bytes)
            .await
            .ok_or_else(|| Failure::Bad(StatusCode::PAYLOAD_TOO_LARGE, largest.says.to_owned()))?;
        ask.form = Fields::parse(&body);
    }
    let session = match (route.access, &ask.session) {
        (Access::Anyone, _) => return Ok(()),
        (_, None) if route.method == Method::Post => return Err(Failure::ForeignForm),
        (_, None) => return Err(Failure::SignIn(ask.wanted())),
        (_, Some(session)) => session,
    };
    if route.method == Method::Post && !session.is_own_form(ask.form.raw("csrf")) {
        return Err(Failure::ForeignForm);
    }
    match route.access {
        Access::May(verb) if !session.may_at_all(verb) => Err(forbidden(session)),
        _ => Ok(()),
    }
}

/// A form of at most so many bytes. Of one that is a few times as large the rest is read as well, and
/// thrown away: browsers show an answer only when they have sent everything.
async fn read(body: Body, most: usize) -> Option<Vec<u8>> {
    let mut chunks = body.into_data_stream();
    let (mut form, mut length) = (Vec::new(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.ok()?;
        length += chunk.len();
        if length > 4 * most {
            return None;
        }
        if length <= most {
            form.extend_from_slice(&chunk);
        }
    }
    (length <= most).then_some(form)
}

fn forbidden(session: &Session) -> Failure {
    let role = session.person.role.as_str();
    let why = format!(
        "Your role ({role}) does not permit this. An owner or admin of your account can change your role."
    );
    Failure::Forbidden(why)
}

/// Whether a form was sent by a page of this site, as far as the browser tells: old ones and programs
/// say nothing, and have the token of their session to show.
fn is_from_here(headers: &HeaderMap, host: Option<&str>) -> bool {
    let of = |name: &str| headers.get(name).map(|it| it.to_str().unwrap_or("?"));
    match (of("sec-fetch-site"), of(ORIGIN.as_str()), host) {
        (Some(site), _, _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin), Some(host)) => {
            origin.split_once("://").is_some_and(|(_, it)| it.eq_ignore_ascii_case(host))
        }
        _ => true,
    }
}

/// A style sheet, script or picture.
fn asset(request: &Request) -> Option<Reply> {
    let path = request.uri().path();
    let path = if path == "/favicon.ico" { assets::ICON.path() } else { path.to_owned() };
    let asset = assets::find(&path)?;
    let etag = asset.etag();
    let known =
        request.headers().get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == etag.as_bytes());
    let age = if path == asset.path() { "public, max-age=31536000, immutable" } else { "no-cache" };
    let reply = if known {
        Reply::status(StatusCode::NOT_MODIFIED)
    } else {
        Reply::of(asset.media_type, asset.bytes)
    };
    let etag = HeaderValue::from_str(&etag).ok()?;
    Some(reply.header(CACHE_CONTROL, HeaderValue::from_static(age)).header(ETAG, etag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_reached_without_https() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "10.0.0.7:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::2]:1",
            "::",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn forms_of_other_sites_are_told_apart() {
        let judge = |lines: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            is_from_here(&headers, Some("a.example"))
        };
        assert!(judge(&[]));
        assert!(judge(&[("sec-fetch-site", "same-origin")]));
        assert!(judge(&[("origin", "https://a.example")]));
        for site in ["cross-site", "same-site", "same-origin,none", ""] {
            assert!(!judge(&[("sec-fetch-site", site)]), "{site}");
        }
        for origin in ["null", "https://b.example", "https://a.example:444", ""] {
            assert!(!judge(&[("origin", origin)]), "{origin}");
        }
    }
}
