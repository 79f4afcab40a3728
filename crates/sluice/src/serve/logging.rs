//! Logs on standard error: lines for people, or one JSON object a line.

use std::io::IsTerminal;

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
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match settings.format {
        LogFormat::Human => {
            let colours = std::io::stderr().is_terminal();
            logs.with_target(false).with_ansi(colours).init();
        }
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
}

/// From now on a panic logs its place only: its message may hold a part of a prompt.
pub(crate) fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "a panic; please report it");
    }));
}
