//! Addresses that anybody who knows them can post to: chat webhooks and signed links.

use super::value::Shape;
use crate::finding::Finding;
use crate::kind::Kind;

/// Where the secret part of a webhook's path begins in `url`, whose host ends at `host`.
pub(super) fn path(url: &[u8], host: usize) -> Option<usize> {
    const WEBHOOKS: &[(&[u8], &[u8])] = &[
        (b"hooks.slack.com", b"/services/"),
        (b"hooks.slack.com", b"/workflows/"),
        (b"hooks.slack.com", b"/triggers/"),
        (b"discord.com", b"/api/webhooks/"),
        (b"discordapp.com", b"/api/webhooks/"),
        (b"webhook.office.com", b"/webhookb2/"),
        (b"hooks.zapier.com", b"/hooks/catch/"),
        (b"hook.eu1.make.com", b"/"),
        (b"hook.us1.make.com", b"/"),
        (b"hook.integromat.com", b"/"),
        (b"chat.googleapis.com", b"/v1/spaces/"),
        (b"open.feishu.cn", b"/open-apis/bot/v2/hook/"),
        (b"open.larksuite.com", b"/open-apis/bot/v2/hook/"),
        (b"maker.ifttt.com", b"/trigger/"),
        (b"api.telegram.org", b"/bot"),
    ];
    let (name, rest) = url.split_at_checked(host)?;
    let found = WEBHOOKS.iter().find(|(host, path)| name.ends_with(host) && rest.starts_with(path));
    found.map(|(_, path)| host + path.len())
}

/// Looks at the path behind `end`: a webhook's secret part. Returns up to where it has looked.
pub(super) fn confirm(text: &str, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let rest = &bytes[end..bytes.len().min(end + 320)];
    let is_path = |b: &u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+' | b'@' | b'.' | b':')
    };
    let len = rest.iter().take_while(|b| is_path(b)).count();
    let Some(path) = text.get(end..end + len) else { return end };
    let path = path.trim_end_matches(['.', '/', ':']);
    let shape = Shape::of(path);
    let longest = path.split('/').map(str::len).max().unwrap_or(0);
    if longest >= 16
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
