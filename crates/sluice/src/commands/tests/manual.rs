//! What pages of the manual say.

/// The commands of a page, in their order, without `sluice` and their comments.
pub(crate) fn commands(page: &str) -> Vec<String> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("$ sluice "));
    lines.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}
