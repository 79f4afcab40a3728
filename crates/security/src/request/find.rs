//! Everything in a unit: its text scanned as a whole, and over the seams of its pieces.

use super::compose::Quoted;
use crate::finding::{Finding, settle};
use crate::kind::Kinds;
use crate::scan::Scans;

/// How far on either side of a seam a value may reach: a private key is this long.
const REACH: usize = 4096;
/// How far behind a seam a value may begin whose context stands before it.
const CONTEXT: usize = 64;

/// Everything of `kinds` in `text`, which goes on over the seams between its pieces: these begin at
/// `starts`. What is no value in one piece can be one together with the next.
pub(super) fn over_seams(
    scanner: &Scans<'_>,
    text: &str,
    starts: &[usize],
    kinds: Kinds,
) -> Vec<Finding> {
    let mut findings = parted(scanner, text, starts, kinds);
    let end_of = |i: usize| starts.get(i + 1).copied().unwrap_or(text.len());
    // A window ends within a long piece, and the next one begins there.
    let mut from = starts.first().copied().unwrap_or(0);
    for (i, start) in starts.iter().enumerate() {
        let end = end_of(i);
        let is_last = i + 1 == starts.len();
        if end - start <= 2 * REACH && !is_last {
            continue;
        }
        let to = text.floor_char_boundary(end.min(start + REACH));
        if from < *start {
            let seams = &starts[..=i];
            let seams = &seams[seams.partition_point(|seam| *seam <= from)..];
            let found = scanner.scan(&text[from..to], kinds);
            let found = found.into_iter().map(|finding| moved(finding, from));
            // What touches an end of the window may be a part of something harmless.
            let is_whole = |f: &Finding| {
                (f.start > from || starts.contains(&from)) && (f.end < to || to == end)
            };
            findings.extend(found.filter(|f| is_whole(f) && is_at_a_seam(f, seams)));
        }
        from = text.ceil_char_boundary(end.saturating_sub(REACH).max(*start));
    }
    settle(&mut findings);
    findings
}

/// Adds passwords with a quote in them, which seems to end them once the escapes of JSON are gone.
/// They are read once more with another sign in its place, of the same length.
pub(super) fn with_quotes(
    scanner: &Scans<'_>,
    text: &str,
    quoted: &[Quoted],
    kinds: Kinds,
    findings: &mut Vec<Finding>,
) {
    for Quoted { name, start, end } in quoted {
        let (Some(before), Some(value)) = (text.get(*name..*start), text.get(*start..*end)) else {
            continue;
        };
        let value = match value.strip_suffix('\\') {
            Some(value) => format!("{value}~"),
            None => value.to_owned(),
        };
        let line = format!("\"{before}{}\"", value.replace('"', "~"));
        let found = scanner.scan(&line, kinds).into_iter();
        let is_whole = |f: &Finding| f.start == 1 + before.len() && f.end + 1 == line.len();
        // The quote ahead of the name is there in the text, too.
        findings.extend(found.filter(is_whole).map(|f| moved(f, name.saturating_sub(1))));
    }
    settle(findings);
}

/// What is found where each piece is on a line of its own. All of them are scanned at once: there may
/// be very many, and very short ones.
fn parted(scanner: &Scans<'_>, text: &str, starts: &[usize], kinds: Kinds) -> Vec<Finding> {
    let mut lines = String::with_capacity(text.len() + starts.len());
    for (i, start) in starts.iter().enumerate() {
        lines.push_str(if i == 0 { "" } else { "\n" });
        lines.push_str(&text[*start..starts.get(i + 1).copied().unwrap_or(text.len())]);
    }
    // Piece `i` begins `i` bytes further on than in the text.
    let begins: Vec<usize> = starts.iter().enumerate().map(|(i, start)| start + i).collect();
    let place = |place: usize| {
        let i = begins.partition_point(|begin| *begin <= place).saturating_sub(1);
        let end = starts.get(i + 1).copied().unwrap_or(text.len());
        (place - i).min(end)
    };
    let mut findings = scanner.scan(&lines, kinds);
    for finding in &mut findings {
        (finding.start, finding.end) = (place(finding.start), place(finding.end));
    }
    findings
}

fn moved(finding: Finding, by: usize) -> Finding {
    Finding { start: finding.start + by, end: finding.end + by, ..finding }
}

/// Whether a seam is in the finding, or a little ahead of it.
fn is_at_a_seam(finding: &Finding, seams: &[usize]) -> bool {
    let next = seams.partition_point(|seam| seam + CONTEXT < finding.start);
    seams.get(next).is_some_and(|seam| *seam < finding.end)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sluice_core::level::SecurityLevel;

    use super::super::tests::{filter, send, subject};

    /// The values that are found in a message with this content.
    fn found(content: &str) -> Vec<String> {
        let request = json!({"messages": [{"role": "user", "content": content}]}).to_string();
        let sent = send(&filter(), &request, &subject(SecurityLevel::Standard)).unwrap();
        assert!(serde_json::from_str::<Value>(&sent.body).is_ok(), "{}", sent.body);
        let redactions = sent.filtered.map.redactions();
        redactions.iter().map(|redaction| redaction.value.to_owned()).collect()
    }

    #[test]
    fn a_quote_in_a_password_ends_it_nowhere() {
        for (value, expected) in [
            (r#"ab"cdX91!zz"#, true),
            (r#""abcdX91!zz"#, true),
            (r#"abcdX91!zz""#, true),
            (r#"Tr0ub4dor"&"3"#, true),
            (r#"ab\"cdX91!zz"#, true),
            (r#"abcdX91!zz\"#, true),
            (r#"ab'cd"X91!zz"#, true),
            (r#"get("password")"#, false),
            (r#"{"type":"string"}"#, false),
            (r#"["x","y"]"#, false),
            (r#"<input type="password"/>"#, false),
            (r#"say "please" first"#, false),
        ] {
            let expected: &[&str] = if expected { &[value] } else { &[] };
            let mut text = json!({"user": "app", "password": value}).to_string();
            // In JSON inside a string, and in a string in that, and so on.
            for depth in 0..3 {
                assert_eq!(found(&text), expected, "{depth}: {text}");
                text = json!({"output": text, "status": 0}).to_string();
            }
        }
        assert!(found(r#"{"path": "a\"b", "code": "x=\"y\""}"#).is_empty());
    }
}
