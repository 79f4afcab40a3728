//! The forms of a page, as a browser reads them: where each goes, and what it sends when nobody has
//! typed anything. Pages are read as this dashboard writes them: attributes in double quotes, and what
//! means something in markup written out.

use std::collections::BTreeSet;

use crate::browser::Page;

/// A form that is sent by POST.
#[derive(Debug)]
pub(crate) struct Form {
    /// Where it goes, by each of its buttons.
    pub(crate) actions: BTreeSet<String>,
    /// The names of its fields, but for the one that proves that it is of this session.
    pub(crate) names: BTreeSet<String>,
    /// What is sent as it is, likewise.
    pub(crate) given: Vec<(String, String)>,
    /// The name that has to be written to confirm it.
    pub(crate) wanted: String,
}

/// The forms of a page at `path`.
pub(crate) fn forms(page: &Page, path: &str) -> Vec<Form> {
    let parts = page.body.split("<form ").skip(1);
    let parts = parts.map(|part| part.split("</form>").next().unwrap_or_default());
    parts
        .filter(|part| attribute(part, "method") == Some("post"))
        .map(|it| form(it, path))
        .collect()
}

fn form(markup: &str, path: &str) -> Form {
    let action = attribute(markup, "action").unwrap_or(path);
    let mut form = Form {
        actions: [plain(action)].into(),
        names: BTreeSet::new(),
        given: Vec::new(),
        wanted: wanted(markup),
    };
    // The select whose options these are.
    let mut chooses = None;
    for tag in markup.split('<').skip(1) {
        let (head, text) = tag.split_once('>').unwrap_or((tag, ""));
        let name = attribute(head, "name").filter(|name| *name != "csrf");
        form.names.extend(name.map(str::to_owned));
        let value = plain(attribute(head, "value").unwrap_or_default());
        let mut give = |name: &str, value: String| form.given.push((name.to_owned(), value));
        match (head.split(' ').next(), name) {
            (Some("input"), Some(name)) => {
                let is_box = matches!(attribute(head, "type"), Some("checkbox" | "radio"));
                if !is_box || head.ends_with(" checked") || head.contains(" checked ") {
                    give(name, value);
                }
            }
            (Some("textarea"), Some(name)) => give(name, plain(text.trim_start_matches('\n'))),
            (Some("select"), name) => chooses = name,
            (Some("option"), _) if head.ends_with(" selected") => {
                if let Some(name) = chooses {
                    give(name, value);
                }
            }
            (Some("button"), _) => form.actions.extend(attribute(head, "formaction").map(plain)),
            _ => {}
        }
    }
    form
}

/// What stands in "Write … to confirm".
fn wanted(markup: &str) -> String {
    let written = markup.split_once("Write <b").and_then(|(_, rest)| rest.split_once("</b>"));
    let texts = written.map_or("", |(name, _)| name).split('<').filter_map(|it| it.split_once('>'));
    texts.map(|(_, text)| plain(text)).collect()
}

/// An attribute of the first tag of a piece of markup, as it is written.
fn attribute<'m>(markup: &'m str, name: &str) -> Option<&'m str> {
    let tag = markup.split('>').next()?;
    // The values are the odd parts, and a name stands at the end of the part before its own.
    let parts: Vec<&str> = tag.split('"').collect();
    parts.chunks_exact(2).find_map(|pair| {
        let before = pair[0].strip_suffix('=')?;
        (before.rsplit([' ', '\n']).next() == Some(name)).then_some(pair[1])
    })
}

/// A text of the page as it is meant.
fn plain(written: &str) -> String {
    let mut text = written.to_owned();
    for (code, meant) in [("60", "<"), ("62", ">"), ("34", "\""), ("39", "'"), ("38", "&")] {
        text = text.replace(&format!("&#{code};"), meant);
    }
    for (name, meant) in [("lt", "<"), ("gt", ">"), ("quot", "\""), ("amp", "&")] {
        text = text.replace(&format!("&{name};"), meant);
    }
    text
}
