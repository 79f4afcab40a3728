//! What a person sees after the start: where to go, with which key, and a line to try.

use std::io::Write;
use std::net::SocketAddr;

use sluice_gateway::admin::CreatedKey;
use sluice_gateway::people::Token;

use crate::config::Settings;
use crate::links;

/// The model of the line to try: always there.
const TRY_MODEL: &str = "svc/enterprise-x-4-turbo";

/// Prints the banner; with `first_owner`, the link with which they set their password. A closed standard output stops nobody from serving.
pub(crate) fn print(
    settings: &Settings,
    address: SocketAddr,
    first_key: Option<&CreatedKey>,
    pages: SocketAddr,
    first_owner: Option<&Token>,
    out: &mut dyn Write,
) {
    let _ = out.write_all(banner(settings, address, first_key, pages, first_owner).as_bytes());
    let _ = out.flush();
}

fn banner(
    settings: &Settings,
    address: SocketAddr,
    first_key: Option<&CreatedKey>,
    pages: SocketAddr,
    first_owner: Option<&Token>,
) -> String {
    let base_url = format!("{}://{}/api/v1", links::scheme(settings), links::reachable(address));
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
    let base = links::base(settings, pages);
    let link = first_owner.map_or_else(|| format!("{base}/"), |token| links::welcome(&base, token));
    text.push_str(&format!("  Dashboard  {link}\n"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::tests::FixedEnvironment;

    #[test]
    fn the_first_owner_gets_a_link_where_browsers_reach_it() {
        let token = Token::generate().unwrap();
        let listen = "0.0.0.0:8080".parse().unwrap();
        for (server, base) in [
            ("", "http://127.0.0.1:8080"),
            ("public_url = \"https://sluice.example.org/\"", "https://sluice.example.org"),
        ] {
            let text = format!("[server]\n{server}\n");
            let settings = Settings::from_text(None, &text, &FixedEnvironment::default());
            let settings = settings.unwrap_or_else(|problems| panic!("{problems}"));
            let line = format!("  Dashboard  {base}/welcome/{}\n", token.expose());
            assert!(banner(&settings, listen, None, listen, Some(&token)).contains(&line));
            let line = format!("  Dashboard  {base}/\n");
            assert!(banner(&settings, listen, None, listen, None).contains(&line));
        }
    }
}
