//! The API's table as the tables of `docs/api.md`. What stands between `<!-- table NAME -->` and
//! `<!-- end -->` is written from here; the rest of the page is written by hand.
//!
//! The example writes the page, and a test of the table compares the committed one: both have this
//! file as a module of their own, so that the gateway itself goes without it.

use std::fmt::Write as _;

use super::reference::{
    BUDGET, ENDPOINTS, ERRORS, EVERY_RESPONSE, Endpoint, FILTER, Header, ROUTER, Schema, schema,
};

const BEGIN: &str = "<!-- table ";
const END: &str = "<!-- end -->";

/// The page with its tables written anew; or what is wrong with the page.
pub(crate) fn fill(page: &str) -> Result<String, String> {
    let mut filled = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->").ok_or("a table's mark does not end")?;
        let (_, after) =
            after.split_once(END).ok_or_else(|| format!("the table `{name}` has no end"))?;
        let table = table(name).ok_or_else(|| format!("there is no table `{name}`"))?;
        let _ = write!(filled, "{before}{BEGIN}{name} -->\n\n{table}\n{END}");
        rest = after;
    }
    Ok(filled + rest)
}

fn table(name: &str) -> Option<String> {
    Some(match name {
        "endpoints" => endpoints(),
        "errors" => errors(),
        "headers" => headers(EVERY_RESPONSE),
        "filter-headers" => headers(FILTER),
        "router-headers" => headers(ROUTER),
        "budget-headers" => headers(BUDGET),
        name => fields(schema(name)?),
    })
}

fn endpoints() -> String {
    let mut table = head(&["Method and path", "Does", "Scope"]);
    for endpoint in ENDPOINTS {
        let Endpoint { method, summary, scope, .. } = endpoint;
        let path = format!("`{method} {}`", endpoint.short_path());
        let says = format!("{}{summary}", extension(endpoint.is_extension));
        row(&mut table, &[&path, &says, scope.map_or("", |scope| scope.as_str())]);
    }
    table
}

fn headers(headers: &[Header]) -> String {
    let mut table = head(&["Header", "Meaning"]);
    for header in headers {
        row(&mut table, &[&format!("`{}`", header.name), header.says]);
    }
    table
}

fn fields(schema: &Schema) -> String {
    let mut table = head(&["Field", "Type", "Meaning"]);
    for field in schema.fields {
        let says = format!("{}{}", extension(field.is_extension), field.says);
        row(&mut table, &[&format!("`{}`", field.name), &field.kind.in_words(), &says]);
    }
    table
}

fn errors() -> String {
    let mut table = head(&["Status", "`type`", "`code`", "When", "What helps"]);
    for error in ERRORS {
        let (kind, code) = (format!("`{}`", error.kind), format!("`{}`", error.code));
        let when = format!("{}{}", extension(error.is_extension), error.when);
        row(&mut table, &[&error.status.to_string(), &kind, &code, &when, error.fix]);
    }
    table
}

fn extension(is_extension: bool) -> &'static str {
    if is_extension { "**extension**: " } else { "" }
}

fn head(names: &[&str]) -> String {
    let mut table = String::new();
    row(&mut table, names);
    row(&mut table, &vec!["---"; names.len()]);
    table
}

fn row(table: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let line = format!("| {} |", cells.join(" | "));
    table.push_str(&line.replace("|  |", "| |"));
    table.push('\n');
}
