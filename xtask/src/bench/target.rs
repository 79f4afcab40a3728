//! What is measured: how each target is configured and started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::process::{Server, free_port};
use super::{LOAD_CORE, TARGET_CORE, pinned, release_binary};
use crate::shell::{output, target_folder};

/// Where a target that has no other variable finds programs.
pub(super) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What stands between the load and the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Nothing: what the others' latencies are compared with.
    Direct,
    /// nginx's `proxy_pass`, the least that a proxy costs.
    Nginx,
    /// A bare hyper proxy, the least that a gateway on hyper costs.
    Bare,
    /// Sluice, with key check, limits and usage journal on.
    Sluice,
}

/// The fake upstream that all targets stand in front of.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(super) port: u16,
    _server: Server,
}

/// A target that listens.
#[derive(Debug)]
pub(crate) struct Running {
    /// Its process; none where the target is the upstream itself.
    pub(crate) server: Option<Server>,
    pub(crate) address: Address,
    /// Removed when the target has ended; fields are dropped in this order.
    folder: Option<Folder>,
}

impl Running {
    /// Where its files are; an error for a target without any.
    pub(crate) fn folder(&self) -> anyhow::Result<&Path> {
        Ok(&self.folder.as_ref().context("this target has no folder")?.path)
    }
}

/// Where and how to send requests to a target.
#[derive(Debug)]
pub(crate) struct Address {
    pub(crate) port: u16,
    pub(crate) path: &'static str,
    pub(crate) key: String,
}

impl Upstream {
    /// Starts the fake upstream on the load's core.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let port = free_port()?;
        let mut command = pinned(LOAD_CORE, &release_binary("fake-upstream"));
        let server = Server::start(command.args(["--port", &port.to_string()]), port)
            .context("the fake upstream")?;
        Ok(Self { port, _server: server })
    }
}

impl Target {
    /// All of them, in the order in which they are measured and shown.
    pub(crate) const ALL: [Self; 4] = [Self::Direct, Self::Nginx, Self::Bare, Self::Sluice];

    /// Its name on the command line and in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::Bare => "bare",
            Self::Sluice => "sluice",
        }
    }

    /// Starts it in front of `upstream`, on a core of its own.
    pub(crate) fn start(self, upstream: &Upstream) -> anyhow::Result<Running> {
        let port = free_port()?;
        match self {
            Self::Direct => {
                Ok(Running { server: None, address: Address::plain(upstream.port), folder: None })
            }
            Self::Nginx => start_nginx(port, upstream.port),
            Self::Bare => {
                let mut command = pinned(TARGET_CORE, &release_binary("bare-proxy"));
                command.args(["--port", &port.to_string()]);
                command.args(["--upstream", &upstream.port.to_string()]);
                let server = Some(Server::start(&mut command, port)?);
                Ok(Running { server, address: Address::plain(port), folder: None })
            }
            Self::Sluice => start_sluice(upstream, "", &[]),
        }
    }
}

impl Address {
    /// Of a target that does not look at keys.
    fn plain(port: u16) -> Self {
        Self { port, path: "/v1/chat/completions", key: "none".to_owned() }
    }
}

fn start_nginx(port: u16, upstream: u16) -> anyhow::Result<Running> {
    let folder = Folder::new("nginx")?;
    let config = format!(
        r#"
# A reverse proxy that passes everything on as it comes and writes nothing down.
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    # Large prompts stay in memory, as they do in the other targets.
    client_max_body_size 32m;
    client_body_buffer_size 1m;
    keepalive_requests 100000000;
    upstream models {{
        server 127.0.0.1:{upstream};
        keepalive 128;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://models;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
        }}
    }}
}}
"#
    );
    let file = folder.write("nginx.conf", &config)?;
    let mut command = pinned(TARGET_CORE, Path::new("nginx"));
    // Without `-e`, nginx complains that it may not write its usual log.
    command.arg("-p").arg(&folder.path).arg("-c").arg(&file).args(["-e", "stderr"]);
    let server = Some(Server::start(&mut command, port)?);
    Ok(Running { server, address: Address::plain(port), folder: Some(folder) })
}

/// Starts Sluice in front of `upstream` with what its configuration says about the filter.
pub(super) fn start_filtering(upstream: &Upstream, security: &str) -> anyhow::Result<Running> {
    start_sluice(upstream, security, &[])
}

/// Starts it under valgrind, which can count its instructions once it is told to.
pub(super) fn start_counted(upstream: &Upstream, security: &str) -> anyhow::Result<Running> {
    let valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no"];
    start_sluice(upstream, security, &valgrind)
}

/// Starts Sluice, by a program that runs others where `under` names one with its arguments.
fn start_sluice(upstream: &Upstream, security: &str, under: &[&str]) -> anyhow::Result<Running> {
    let (port, upstream) = (free_port()?, upstream.port);
    let folder = Folder::new("sluice")?;
    let models: String =
        ["bench-whole", "bench-stream-100-0", "bench-stream-100-5", "bench-stream-3-5"]
            .iter()
            .map(|model| {
                format!(
                    "\n[[models]]\nid = \"{model}\"\nprovider = \"bench\"\n\
                 price = {{ input = \"1.00\", cached_input = \"0.10\", output = \"4.00\" }}\n"
                )
            })
            .collect();
    let config = format!(
        r#"
[server]
listen = "127.0.0.1:{port}"
metrics_listen = "127.0.0.1:{}"

[storage]
data_dir = "{}"

# The account's limits, which the load never reaches, are counted all the same.
[limits.highest]
requests_per_hour = 1_000_000_000
tokens_per_day = 1_000_000_000_000
concurrent_requests = 10_000
suite = "full"

[[providers]]
id = "bench"
kind = "openai"
base_url = "http://127.0.0.1:{upstream}/v1"
api_key = "none"
region = "us-east"
{models}
{security}"#,
        free_port()?,
        folder.path.join("data").display(),
    );
    let file = folder.write("sluice.toml", &config)?;
    let binary = release_binary("sluice");

    // Limits that count every request and token, and that the load never reaches.
    let mut create = Command::new(&binary);
    create.args(["keys", "create", "--config"]).arg(&file);
    create.args(["--name", "bench", "--class", "enterprise"]);
    create.args(["--requests-per-hour", "1000000000", "--tokens-per-day", "1000000000000"]);
    let key = output(create.env_clear())?;

    // Providers that the environment would add are no part of the measurement.
    let mut words = under.iter().map(Path::new).chain([binary.as_path()]);
    let mut serve = pinned(TARGET_CORE, words.next().unwrap_or(&binary));
    serve.args(words).args(["serve", "--config"]).arg(&file);
    // Files that such a program writes are put where the target's are.
    serve.current_dir(&folder.path).env_clear().env("PATH", SEARCH_PATH);
    let server = Some(Server::start(&mut serve, port)?);
    let address = Address { port, path: "/api/v1/chat/completions", key };
    Ok(Running { server, address, folder: Some(folder) })
}

/// A folder for a target's files, empty at first, removed when dropped.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
}

impl Folder {
    pub(super) fn new(name: &str) -> anyhow::Result<Self> {
        let path = target_folder().join("bench").join(format!("{name}-{}", std::process::id()));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(Self { path })
    }

    pub(super) fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let file = self.path.join(name);
        fs::write(&file, text)?;
        Ok(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is in the build folder, which `cargo clean` empties.
        let _ = fs::remove_dir_all(&self.path);
    }
}
