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

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::panic::{catch_unwind, take_hook};
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What was logged.
    #[derive(Clone, Default)]
    struct Logged(Arc<Mutex<Vec<u8>>>);

    impl Write for Logged {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_logs_its_place_and_not_its_words() {
        let logged = Logged::default();
        let writer = logged.clone();
        let logs = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let panicked = tracing::subscriber::with_default(logs, || {
            let usual = take_hook();
            quiet_panics();
            let panicked = catch_unwind(|| panic!("a part of a {}", "prompt"));
            std::panic::set_hook(usual);
            panicked
        });
        assert!(panicked.is_err());
        let said = String::from_utf8(logged.0.lock().unwrap().clone()).unwrap();
        assert!(said.contains("logging.rs:") && !said.contains("prompt"), "{said}");
    }
}
