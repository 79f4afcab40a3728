//! Logs on standard error: lines for people, or one JSON object a line.

use tracing_subscriber::EnvFilter;

use crate::config::sections::LogSettings;
use crate::config::words::LogFormat;

/// Begins to log. Called once.
pub(crate) fn start(settings: &LogSettings) {
    // Libraries speak up only when something is wrong: they would log addresses and headers.
    let level = settings.level.as_str();
    let filter = EnvFilter::new(format!(
        "warn,sluice={level},sluice_api={level},sluice_gateway={level},\
         sluice_providers={level},sluice_storage={level}"
    ));
    let logs =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Human => logs.with_target(false).init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}
