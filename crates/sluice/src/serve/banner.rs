//! What a person sees after the start: where to go, with which key, and a line to try.

use std::io::Write;
use std::net::SocketAddr;

use sluice_gateway::admin::CreatedKey;

use crate::config::Settings;

/// The model of the line to try: always there.
const TRY_MODEL: &str = "svc/enterprise-x-4-turbo";

/// Prints the banner. A closed standard output stops nobody from serving.
pub(crate) fn print(
    settings: &Settings,
    address: SocketAddr,
    first_key: Option<&CreatedKey>,
    out: &mut dyn Write,
) {
    let _ = out.write_all(banner(settings, address, first_key).as_bytes());
    let _ = out.flush();
}

fn banner(settings: &Settings, address: SocketAddr, first_key: Option<&CreatedKey>) -> String {
    let scheme = if settings.server.tls_certificate_file.is_some() { "https" } else { "http" };
    let base_url = format!("{scheme}://{}/api/v1", reachable(address));
    let providers: Vec<String> = settings
        .providers
        .iter()
        .map(|provider| match provider.kind {
            "simulator" => "the simulator (no provider found; its answers are made up)".to_owned(),
            kind if kind == provider.id.as_str() => kind.to_owned(),
            kind => format!("{} ({kind})", provider.id),
        })
        .collect();
    let mut text = format!(
        "\nSluice is ready.\n\n  Base URL   {base_url}\n  Providers  {}\n  Models     {}\n  Data       {}\n",
        providers.join(", "),
        settings.catalog.models().len(),
        settings.storage.data_dir.0.display(),
    );
    match first_key {
        Some(created) => {
            let key = created.key.expose();
            text.push_str(&format!(
                "  Key        {key}\n             Shown only now: keep it. `sluice keys` makes \
                 more.\n\nTry it:\n\n  curl {base_url}/chat/completions -H 'Authorization: Bearer \
                 {key}' -H 'Content-Type: application/json' -d '{{\"model\":\"{TRY_MODEL}\",\
                 \"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}]}}'\n\n\
                 Set up a client: sluice connect\n\n"
            ));
        }
        None => text.push_str(
            "\nMake a key: sluice keys create --name NAME --class production\n\
             Set up a client: sluice connect\n\n",
        ),
    }
    text
}

/// An address that a client on this machine can use: "all addresses" is not one.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let local: std::net::IpAddr = if address.is_ipv4() {
        std::net::Ipv4Addr::LOCALHOST.into()
    } else {
        std::net::Ipv6Addr::LOCALHOST.into()
    };
    SocketAddr::new(local, address.port())
}
