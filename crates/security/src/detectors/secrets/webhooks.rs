//! Addresses that anybody who knows them can post to: chat webhooks and signed links.

use super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;

/// Hosts whose addresses end in a secret, and what stands before it. `""` is any host.
const ADDRESSES: &[(&str, &str)] = &[
    // Chats and automation: whoever knows the address posts or triggers.
    ("hooks.slack.com", "/services/"),
    ("hooks.slack.com", "/workflows/"),
    ("hooks.slack.com", "/triggers/"),
    ("hooks.slack-gov.com", "/services/"),
    ("discord.com", "/api/webhooks/"),
    ("discordapp.com", "/api/webhooks/"),
    ("webhook.office.com", "/webhookb2/"),
    ("hooks.zapier.com", "/hooks/catch/"),
    ("hooks.zapier.com", "/hooks/standard/"),
    ("hooks.airtable.com", "/workflows/"),
    (".make.com", "/"),
    ("hook.integromat.com", "/"),
    ("chat.googleapis.com", "/v1/spaces/"),
    ("open.feishu.cn", "/open-apis/bot/v2/hook/"),
    ("open.larksuite.com", "/open-apis/bot/v2/hook/"),
    ("maker.ifttt.com", "/trigger/"),
    ("maker.ifttt.com", "/use/"),
    ("api.telegram.org", "/file/bot"),
    ("api.telegram.org", "/bot"),
    ("webexapis.com", "/v1/webhooks/incoming/"),
    ("wh.jandi.com", "/connect-api/webhook/"),
    ("connect.pabbly.com", "/workflow/sendwebhookdata/"),
    ("webhook.site", "/"),
    ("sctapi.ftqq.com", "/"),
    ("api.day.app", "/"),
    // Alarms, heartbeats and intakes of logs.
    ("events.pagerduty.com", "/integration/"),
    ("alert.victorops.com", "/integrations/generic/"),
    (".datadoghq.com", "/v1/input/"),
    (".datadoghq.eu", "/v1/input/"),
    (".sumologic.com", "/receiver/v1/http/"),
    (".loggly.com", "/inputs/"),
    (".loggly.com", "/bulk/"),
    ("hc-ping.com", "/"),
    ("nosnch.in", "/"),
    ("cronitor.link", "/p/"),
    ("api.honeybadger.io", "/v1/check_in/"),
    ("heartbeat.uptimerobot.com", "/"),
    ("betterstack.com", "/api/v1/heartbeat/"),
    ("thingsboard.cloud", "/api/v1/"),
    // What is shown once to whoever opens it.
    ("onetimesecret.com", "/secret/"),
    ("pwpush.com", "/p/"),
    ("pwpush.com", "/r/"),
    ("privnote.com", "/"),
    ("scrt.link", "/s/"),
    ("1ty.me", "/"),
    // Nodes of block chains.
    (".infura.io", "/v3/"),
    (".alchemy.com", "/v2/"),
    (".alchemyapi.io", "/v2/"),
    (".quiknode.pro", "/"),
    ("rpc.ankr.com", "/"),
    (".chainstack.com", "/"),
    (".blastapi.io", "/"),
    (".nodereal.io", "/v1/"),
    ("go.getblock.io", "/"),
    // Servers that anybody may run.
    ("", "/hooks/"),
    ("", "/webhook/"),
    ("", "/reset-password/"),
    ("", "/password/reset/"),
    ("", "/password-reset/"),
    ("", "/magic-link/"),
    ("", "/secret/"),
];

/// As short as `hc-ping.com`, or a server of one's own: `n8n.acme.io`.
const SHORTEST_HOST: usize = 4;

/// Hosts whose secrets are short.
const SHORT: &[&str] = &["hooks.zapier.com", "nosnch.in", "api.honeybadger.io"];

/// Where the secret part of a webhook's path begins in `url`, whose host ends at `host`.
pub(super) fn path(url: &[u8], host: usize) -> Option<usize> {
    let (name, rest) = url.split_at_checked(host)?;
    let &[b'/', first, ..] = rest else { return None };
    if host < SHORTEST_HOST || !first.is_ascii_alphanumeric() {
        return None;
    }
    // Most hosts differ in the one byte that is compared first.
    let looks_like = |host: &[u8]| {
        let byte = |name: &[u8]| name.len().checked_sub(6).map(|i| name[i]);
        host.is_empty() || byte(host) == byte(name) && name.ends_with(host)
    };
    // Discord's addresses may name a version.
    let version = rest.strip_prefix(b"/api/v").filter(|_| looks_like(b"discord.com"));
    if let Some(behind) = version {
        let digits = behind.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
        let is_webhook = behind[digits..].starts_with(b"/webhooks/");
        return is_webhook.then_some(host + b"/api/v".len() + digits + b"/webhooks/".len());
    }
    let begins = |path: &[u8]| path.get(1).is_none_or(|b| *b == first) && rest.starts_with(path);
    let found = ADDRESSES
        .iter()
        .find(|(host, path)| begins(path.as_bytes()) && looks_like(host.as_bytes()));
    found.map(|(_, path)| host + path.len())
}

/// Looks at the path behind `end`: a webhook's secret part. Returns up to where it has looked.
pub(super) fn confirm(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let rest = &bytes[end..bytes.len().min(end + 320)];
    let is_path = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'/' | b'_' | b'-' | b'+' | b'@' | b'.' | b':' | b'=' | b'#')
    };
    let len = rest.iter().take_while(|b| is_path(b)).count();
    let Some(path) = text.get(end..end + len) else { return end };
    let mut path = path.trim_end_matches(['.', '/', ':']);
    // `…/telemetry`, `…/enqueue` say what to do; what they stand behind is the secret.
    while let Some((before, last)) = path.rsplit_once('/')
        && last.len() < 16
        && !last.bytes().any(|b| b.is_ascii_digit())
    {
        path = before;
    }
    let before = &text[text.floor_char_boundary(end.saturating_sub(48))..end];
    let least = if SHORT.iter().any(|host| before.contains(host)) { 6 } else { 16 };
    let shape = Shape::of(path);
    let longest = path.split('/').map(str::len).max().unwrap_or(0);
    if longest >= least
        && shape.digits > 1
        && !shape.is_monotonous()
        && !path.contains("XXXX")
        && !path.contains("xxxx")
    {
        out.push(Finding {
            start: end,
            end: end + path.len(),
            kind: Kind::Secret,
            rule: "webhook",
        });
    }
    end + len
}

/// Words of addresses that a key stands behind, in a part that browsers do not send.
const SHARED: &[&[u8]] = &[
    b"send", b"secret", b"share", b"once", b"yopass", b"paste", b"bin", b"note", b"mega.", b"drop",
];

/// Looks behind the host that ends at `end` for the signature of a link that expires, and for the key
/// of what is shared by a link. Returns up to where it has looked.
pub(super) fn behind_host(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    /// How long a path and a query may be.
    const PATH: usize = 200;
    const QUERY: usize = 1200;
    /// How far one parameter goes on behind that.
    const LAST: usize = 512;
    let bytes = text.as_bytes();
    if bytes.get(end) != Some(&b'/') {
        return end;
    }
    let is_end =
        |b: &u8| !b.is_ascii_graphic() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let path = &bytes[end..bytes.len().min(end + PATH)];
    // An address within this one is looked at for itself.
    let is_other = |part: &[u8], i: usize| part[i] == b':' && part[i..].starts_with(b"://");
    let is_path =
        |(i, b): &(usize, &u8)| !is_end(b) && !matches!(**b, b'?' | b'#') && !is_other(path, *i);
    let at = end + path.iter().enumerate().take_while(is_path).count();
    if !matches!(bytes.get(at), Some(b'?' | b'#')) {
        return end;
    }
    let rest = &bytes[(at + 1).min(bytes.len())..bytes.len().min(at + QUERY)];
    let mut push = |from: usize, to: usize, rule| {
        let written = &text[from..to];
        if written.len() >= 20 && Shape::of(written).digits > 1 {
            out.push(Finding { start: from, end: to, kind: Kind::Secret, rule });
        }
    };
    let is_rest = |(i, b): &(usize, &u8)| !is_end(b) && !is_other(rest, *i);
    let mut until = at + rest.iter().enumerate().take_while(is_rest).count();
    if until - at == rest.len() {
        // The last parameter is read whole.
        let further = bytes.get(until + 1..).unwrap_or_default().iter().take(LAST);
        until += further.take_while(|b| !is_end(b) && **b != b'&').count();
    }
    match bytes.get(at) {
        Some(b'?') => {
            let query = &bytes[at + 1..until.max(at) + 1];
            let has = |name: &[u8]| memchr::memmem::find(query, name).is_some();
            for (name, other) in [(&b"sig="[..], &b"se="[..]), (b"Signature=", b"Expires")] {
                if let Some(found) = memchr::memmem::find(query, name)
                    && has(other)
                {
                    let from = found + name.len();
                    let length = query[from..].iter().take_while(|b| **b != b'&').count();
                    push(at + 1 + from, at + 1 + from + length, "shared_access_signature");
                }
            }
            until
        }
        Some(b'#') => {
            let before = &bytes[end.saturating_sub(40)..at];
            if SHARED.iter().any(|word| memchr::memmem::find(before, word).is_some()) {
                let fragment = &text[at + 1..until + 1];
                let last = fragment.trim_end_matches('/').rsplit('/').next().unwrap_or(fragment);
                let from = at + 1 + fragment.rfind(last).unwrap_or(0);
                if Shape::of(last).is_random() {
                    push(from, from + last.len(), "shared_link");
                }
            }
            until
        }
        _ => end,
    }
}

/// The signature of a shared access link: `sig=…` behind `sv=` and `se=`.
pub(super) fn signature(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let rest = &bytes[end..bytes.len().min(end + 160)];
    let is_encoded =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'%' | b'+' | b'/' | b'=' | b'_' | b'-');
    let len = rest.iter().take_while(|b| is_encoded(b)).count();
    let before = end.checked_sub(5).map(|i| bytes[i]);
    if len >= 40
        && matches!(before, Some(b'&' | b'?' | b';'))
        && Shape::of(&text[end..end + len]).digits > 1
    {
        out.push(Finding {
            start: end,
            end: end + len,
            kind: Kind::Secret,
            rule: "shared_access_signature",
        });
    }
    end + len
}

#[cfg(test)]
mod tests {
    use crate::kind::{Kind, Kinds};
    use crate::scan::{Scanner, ScannerSettings};

    fn check(url: &str, secret: &[&str]) {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        for text in [url.to_owned(), format!("curl -s {url}\n"), format!("fetch(\"{url}\")")] {
            let found = scanner.scan(&text, Kinds::of(&[Kind::Secret]));
            let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
            assert_eq!(found, secret, "{text}");
        }
    }

    #[test]
    fn the_secret_part_of_an_address_is_found() {
        let secret = "6b1f02aa5d7c9384e0f6b2a1c8d3957e";
        for url in [
            "https://events.pagerduty.com/integration/#/enqueue",
            "https://discord.com/api/v10/webhooks/#",
            "https://hook.eu2.make.com/#",
            "https://mainnet.infura.io/v3/#",
            "https://quiet-field.quiknode.pro/#/",
            "https://hc-ping.com/#",
            "https://chat.nightjar.io/hooks/#",
            "https://n8n.nightjar.io/webhook/#",
            "https://eu.onetimesecret.com/secret/#",
            "https://nightjar.io/reset-password/#",
        ] {
            check(&url.replace('#', secret), &[secret]);
        }
        for (url, secret) in [
            ("https://yopass.se/#/s/8d1f5a52/@", "@"),
            ("https://send.nightjar.io/download/8d1f5a52/#@", "@"),
            ("https://a.blob.core.windows.net/c?sv=2022&se=2025&sp=r&sig=@%2Ba%3D", "@%2Ba%3D"),
            ("https://a.s3.amazonaws.com/c?Expires=17784&Signature=@%3D&Id=4", "@%3D"),
        ] {
            let key = "qZ8t4vWq9Xr2Hh3bNm1LdK";
            check(&url.replace('@', key), &[&secret.replace('@', key)]);
        }
        check("https://hooks.zapier.com/hooks/catch/3415542/2wdj8bb", &["3415542/2wdj8bb"]);
    }

    #[test]
    fn other_addresses_are_left_alone() {
        for url in [
            "https://docs.nightjar.io/webhooks/6b1f02aa5d7c9384e0f6b2a1c8d3957e",
            "https://nightjar.io/hooks/useState",
            "https://github.com/nightjar/app/commit/6b1f02aa5d7c9384e0f6b2a1c8d3957e6b1f02aa",
            "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
            "https://hc-ping.com//a:https://hc-ping.com",
            "https://docs.nightjar.io/guide#qZ8t4vWq9Xr2Hh3bNm1LdK",
            "https://nightjar.io/list?sig=name&order=Signature",
        ] {
            check(url, &[]);
        }
    }
}
