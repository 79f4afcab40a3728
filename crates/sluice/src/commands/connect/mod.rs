//! `sluice connect`: the exact configuration of a client against this deployment.
//!
//! The table of clients, and what turns an entry into a guide, are in [`sluice_gateway::connect`].
//! This finds out what to print it for: the base URL, the model and the key.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::secret::Secret;
use sluice_gateway::connect::{self, CLIENTS, Client, Deployment, Guide, Kind, client};
use sluice_routing::catalog::{Catalog, Model};

use super::Exit;
use crate::config::Settings;

/// What `sluice connect` takes.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// The client; without one, all clients are listed
    pub(crate) client: Option<String>,
    /// The model that it uses [default: svc/enterprise-coder-v1 where there is one, else the first]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The service key that it uses
    #[arg(long, conflicts_with = "create_key", value_parser = secret)]
    pub(crate) key: Option<Secret<String>>,
    /// Create a service key that fits the client
    #[arg(long)]
    pub(crate) create_key: bool,
    /// The new key's name [default: the client]
    #[arg(long, requires = "create_key")]
    pub(crate) name: Option<String>,
    /// Where the client reaches Sluice [default: http://ADDRESS/api/v1, as configured]
    #[arg(long)]
    pub(crate) base_url: Option<String>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Prints what `args` ask for to `out`. `create` makes the key of `--create-key`; what goes wrong
/// goes to `err`.
pub(crate) async fn run<E: fmt::Display>(
    args: &ConnectArgs,
    settings: &Settings,
    create: impl AsyncFnOnce(FittingKey) -> Result<Secret<String>, E>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let tls = settings.server.tls_certificate_file.is_some();
    let connection = match Connection::new(args, settings.server.listen, tls, &settings.catalog) {
        Ok(Some(connection)) => connection,
        Ok(None) => {
            write!(out, "{}", list())?;
            return Ok(Exit::Done);
        }
        Err(error) => {
            writeln!(err, "{error}")?;
            return Ok(Exit::Usage);
        }
    };
    let connection = if args.create_key {
        match create(connection.fitting_key()).await {
            Ok(key) => connection.with_key(key),
            Err(error) => {
                writeln!(err, "cannot create a key: {error}")?;
                return Ok(Exit::Failed);
            }
        }
    } else {
        connection
    };
    write!(out, "{}", connection.print()?)?;
    Ok(Exit::Done)
}

/// A key from the command line, which is not to be seen in logs of the arguments.
fn secret(word: &str) -> Result<Secret<String>, Infallible> {
    Ok(Secret::new(word.to_owned()))
}

/// Why there is nothing to print. All of these are wrong usage.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ConnectError {
    /// No such client.
    #[error("no client is called `{name}`; there are:\n\n{}", list())]
    UnknownClient {
        /// What was asked for.
        name: String,
    },
    /// No such model.
    #[error("no model is called `{name}`; there are: {}", models.join(", "))]
    UnknownModel {
        /// What was asked for.
        name: String,
        /// What there is.
        models: Vec<String>,
    },
    /// Nothing to choose from.
    #[error("this deployment has no model; add one under [[models]]")]
    NoModel,
    /// Not an address.
    #[error("`--base-url {0}`: expected an address such as https://llm.example.org/api/v1")]
    BaseUrl(String),
}

/// The service key that fits a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FittingKey {
    /// Its name.
    pub(crate) name: String,
    /// Its class. The development class' 10 000 tokens a day end after one turn of an assistant.
    pub(crate) class: KeyClass,
    /// Assistants ask for more than 4096 tokens, and are to get what the model can.
    pub(crate) max_tokens: MaxTokensBound,
}

/// A client, and what its configuration has to say.
#[derive(Debug)]
struct Connection {
    client: &'static Client,
    deployment: Deployment,
    key_name: String,
    json: bool,
}

impl Connection {
    /// The connection that `args` ask for; `None` where they ask for the list of clients.
    ///
    /// `listen` is where this deployment listens, `tls` whether by HTTPS.
    fn new(
        args: &ConnectArgs,
        listen: SocketAddr,
        tls: bool,
        catalog: &Catalog,
    ) -> Result<Option<Self>, ConnectError> {
        let Some(id) = &args.client else { return Ok(None) };
        let client = client(id).ok_or_else(|| ConnectError::UnknownClient { name: id.clone() })?;
        let base_url = match &args.base_url {
            Some(url) => given_base_url(url)?,
            None => own_base_url(listen, tls),
        };
        let model = choose_model(catalog, args.model.as_deref(), client.kind)?;
        let deployment = Deployment {
            config: args.config.as_ref().map(|file| file.display().to_string()),
            ..Deployment::of(base_url, args.key.clone(), model, catalog)
        };
        let key_name = args.name.clone().unwrap_or_else(|| client.id.to_owned());
        Ok(Some(Self { client, deployment, key_name, json: args.json }))
    }

    /// The key to create for `--create-key`.
    fn fitting_key(&self) -> FittingKey {
        let (class, max_tokens) = match self.client.kind {
            Kind::Library => (KeyClass::Production, MaxTokensBound::Documented),
            Kind::Assistant => (KeyClass::Enterprise, MaxTokensBound::Model),
        };
        FittingKey { name: self.key_name.clone(), class, max_tokens }
    }

    /// Uses a key that was just created.
    fn with_key(mut self, key: Secret<String>) -> Self {
        self.deployment.key = Some(key);
        self
    }

    /// What to print.
    fn print(&self) -> Result<String, serde_json::Error> {
        let guide = Guide::new(self.client, &self.deployment);
        if self.json {
            return Ok(serde_json::to_string_pretty(&guide)? + "\n");
        }
        Ok(guide.to_text())
    }
}

/// All clients, one a line.
fn list() -> String {
    CLIENTS.iter().map(|client| format!("{:15} {}\n", client.id, client.title)).collect()
}

/// The model that was asked for, or one that suits.
fn choose_model<'c>(
    catalog: &'c Catalog,
    wanted: Option<&str>,
    kind: Kind,
) -> Result<&'c Model, ConnectError> {
    let Some(name) = wanted else {
        return connect::suitable_model(catalog.models(), kind).ok_or(ConnectError::NoModel);
    };
    catalog.get(name).map(|model| &**model).ok_or_else(|| ConnectError::UnknownModel {
        name: name.to_owned(),
        models: catalog.models().iter().map(|model| model.id.to_string()).collect(),
    })
}

/// Where this machine reaches a deployment that listens at `listen`.
fn own_base_url(mut listen: SocketAddr, tls: bool) -> String {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{listen}/api/v1")
}

/// A base URL as somebody types it: without the path, it gets the API's.
fn given_base_url(url: &str) -> Result<String, ConnectError> {
    let trimmed = url.trim_end_matches('/');
    let host = trimmed.strip_prefix("https://").or_else(|| trimmed.strip_prefix("http://"));
    match host {
        None | Some("") => Err(ConnectError::BaseUrl(url.to_owned())),
        Some(host) if host.contains('/') => Ok(trimmed.to_owned()),
        Some(_) => Ok(format!("{trimmed}/api/v1")),
    }
}

#[cfg(test)]
mod tests;
