//! A configuration file for one test's server.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::upstream::FakeUpstream;

/// A configuration: ports that the system picks, a data folder of its own, logs at level debug.
#[derive(Debug, Clone, Default)]
pub struct Config {
    top: String,
    server: String,
    metrics: Option<SocketAddr>,
    database: Option<String>,
    log: Option<String>,
    rest: String,
}

impl Config {
    /// With these lines before all sections.
    #[must_use]
    pub fn top(mut self, lines: &str) -> Self {
        self.top.push_str(lines);
        self.top.push('\n');
        self
    }

    /// With these lines in `[server]`.
    #[must_use]
    pub fn server(mut self, lines: &str) -> Self {
        self.server.push_str(lines);
        self.server.push('\n');
        self
    }

    /// With metrics at this address; without, there are none.
    #[must_use]
    pub fn metrics(mut self, address: SocketAddr) -> Self {
        self.metrics = Some(address);
        self
    }

    /// With a PostgreSQL server's database; without, it is SQLite.
    #[must_use]
    pub fn database(mut self, url: &str) -> Self {
        self.database = Some(url.to_owned());
        self
    }

    /// With these lines in `[log]`; without, it logs at level debug.
    #[must_use]
    pub fn log(mut self, lines: &str) -> Self {
        self.log = Some(lines.to_owned());
        self
    }

    /// With these sections.
    #[must_use]
    pub fn with(mut self, sections: &str) -> Self {
        self.rest.push_str(sections);
        self.rest.push('\n');
        self
    }

    /// With a provider in `us-east` that speaks OpenAI's dialect.
    #[must_use]
    pub fn provider(self, id: &str, base_url: &str) -> Self {
        self.provider_in(id, base_url, "us-east")
    }

    /// With a provider in `region`. Its key is `sk-` and its name.
    #[must_use]
    pub fn provider_in(self, id: &str, base_url: &str, region: &str) -> Self {
        self.with(&format!(
            "[[providers]]\nid = \"{id}\"\nkind = \"openai\"\nbase_url = \"{base_url}\"\n\
             api_key = \"sk-{id}\"\nregion = \"{region}\"\n"
        ))
    }

    /// With a model at `providers` (a TOML string or list) that costs 1 US dollar a million tokens
    /// of prompt and 4 of answer.
    #[must_use]
    pub fn model(self, id: &str, providers: &str) -> Self {
        self.with(&format!(
            "[[models]]\nid = \"{id}\"\nprovider = {providers}\n\
             price = {{ input = \"1.00\", cached_input = \"0.10\", output = \"4.00\" }}\n"
        ))
    }

    /// With the provider `lab`, which is `upstream`, and its model `mock`.
    #[must_use]
    pub fn mock(self, upstream: &FakeUpstream) -> Self {
        self.provider("lab", &upstream.base_url()).model("mock", "\"lab\"")
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let mut text = self.top.clone();
        text.push_str("[server]\nlisten = \"127.0.0.1:0\"\n");
        let metrics = self.metrics.map(|address| address.to_string()).unwrap_or_default();
        let _ = writeln!(text, "metrics_listen = \"{metrics}\"");
        text.push_str(&self.server);
        text.push_str("[storage]\ndata_dir = \"data\"\n");
        if let Some(url) = &self.database {
            let _ = writeln!(text, "url = \"{url}\"");
        }
        let log = self.log.as_deref().unwrap_or("level = \"debug\"");
        let _ = writeln!(text, "[log]\n{log}");
        text.push_str(&self.rest);
        text
    }
}
