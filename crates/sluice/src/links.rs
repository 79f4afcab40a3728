//! Addresses of pages, for people: where a browser reaches them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sluice_gateway::people::Token;

use crate::config::Settings;

/// Where browsers reach a deployment whose API listens at `listen`: `server.public_url`, else that
/// address. No slash at the end.
pub(crate) fn base(settings: &Settings, listen: SocketAddr) -> String {
    match &settings.server.public_url {
        Some(public) => public.0.clone(),
        None => format!("{}://{}", scheme(settings), reachable(listen)),
    }
}

/// Where the dashboard's pages are listened for.
pub(crate) fn pages(settings: &Settings) -> SocketAddr {
    settings.server.dashboard_listen.0.unwrap_or(settings.server.listen)
}

/// The link with which the first owner sets their e-mail address and password.
pub(crate) fn welcome(base: &str, token: &Token) -> String {
    format!("{base}/welcome/{}", token.expose())
}

/// The link with which whoever was invited or reset sets a password.
pub(crate) fn invite(base: &str, token: &Token) -> String {
    format!("{base}/invite/{}", token.expose())
}

/// `http`, or `https` where Sluice itself has a certificate.
pub(crate) fn scheme(settings: &Settings) -> &'static str {
    if settings.server.tls_certificate_file.is_some() { "https" } else { "http" }
}

/// An address that a client on this machine can use: "all addresses" is not one.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let local: IpAddr =
        if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
    SocketAddr::new(local, address.port())
}
