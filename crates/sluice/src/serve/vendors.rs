//! The providers and models of the database, beside those of the configuration.

use sluice_gateway::vendors::Vendors;

use crate::config::Settings;

/// `settings` with what people put into the database. What of that is not served is logged.
pub(super) fn with(settings: &Settings, vendors: &Vendors) -> Settings {
    let (settings, left_out) = settings.with(vendors);
    for it in left_out {
        tracing::warn!(
            name = it.name,
            "a {} of the database is not served in full: {}",
            it.kind,
            it.why
        );
    }
    settings
}
