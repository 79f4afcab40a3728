//! Where people reach this deployment from outside, and through whom.

use std::time::Duration;

use sluice_gateway::people::{PasswordCost, PeopleSettings, SessionTimes};
use sluice_gateway::proxies::{Network, TrustedProxies};

use super::read::{FromToml, Node, Reader, Shape};
use super::sections::ServerSettings;
use super::values::shown;

/// Scheme, host and port as browsers reach them: `https://sluice.example.org`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicUrl(pub(crate) String);

/// An address or a network of proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProxyNetwork(Network);

impl FromToml for PublicUrl {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text_of(value)?;
        let origin = text.strip_suffix('/').unwrap_or(&text);
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let is_bare = host.is_some_and(|host| {
            let authority = host.parse::<http::uri::Authority>();
            authority.is_ok_and(|it| !it.host().is_empty() && !it.as_str().contains('@'))
        });
        if !is_bare {
            let fix = "write scheme, host and port without a path, such as \
                       \"https://sluice.example.org\"";
            reader.wrong(value, format!("{} is no such address", shown(value)), fix);
            return None;
        }
        Some(Self(origin.to_owned()))
    }
}

impl FromToml for ProxyNetwork {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match Network::parse(reader.text_of(value)?.trim()) {
            Ok(network) => Some(Self(network)),
            Err(wrong) => {
                let fix = "write the address of a proxy or a network of proxies, such as \
                           \"127.0.0.1\" or \"10.0.0.0/8\"";
                reader.wrong(value, format!("{} {wrong}", shown(value)), fix);
                None
            }
        }
    }
}

impl ServerSettings {
    /// The proxies whose headers are believed.
    pub(crate) fn proxies(&self) -> TrustedProxies {
        TrustedProxies::new(self.trusted_proxies.iter().map(|it| it.0).collect())
    }

    /// How people sign in.
    pub(crate) fn people(&self) -> PeopleSettings {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let hours = |count: u64| HOUR * u32::try_from(count).unwrap_or(u32::MAX);
        let idle = hours(self.session_idle_hours.0);
        let longest = hours(self.session_days.0.saturating_mul(24));
        PeopleSettings { times: SessionTimes { idle, longest }, cost: PasswordCost::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::config::environment::tests::FixedEnvironment;

    fn read(server: &str) -> Result<ServerSettings, String> {
        let text = format!("[server]\n{server}\n");
        let settings = Settings::from_text(None, &text, &FixedEnvironment::default());
        settings.map(|settings| settings.server).map_err(|problems| problems.to_string())
    }

    #[test]
    fn what_is_set_is_what_holds() {
        let plain = read("").unwrap();
        assert_eq!((plain.public_url.clone(), plain.trusted_proxies.len()), (None, 0));
        assert_eq!(plain.people().times, SessionTimes::default(), "the defaults are the same");
        let set = read(
            "public_url = \"https://sluice.example.org/\"\n\
             trusted_proxies = [\"127.0.0.1\", \"fd00::/8\"]\n\
             session_idle_hours = 1\nsession_days = 30",
        )
        .unwrap();
        assert_eq!(set.public_url, Some(PublicUrl("https://sluice.example.org".to_owned())));
        let times = set.people().times;
        assert_eq!((times.idle.as_secs(), times.longest.as_secs()), (3_600, 30 * 86_400));
        let mut headers = http::HeaderMap::new();
        headers.insert("x-forwarded-for", http::HeaderValue::from_static("192.0.2.9"));
        let client = set.proxies().client("127.0.0.1".parse().unwrap(), false, &headers);
        assert_eq!(client.address.to_string(), "192.0.2.9");
    }

    #[test]
    fn what_is_wrong_is_named_with_the_fix() {
        for (server, key, says) in [
            ("public_url = \"sluice.example.org\"", "server.public_url", "https://sluice.example"),
            ("public_url = \"https://x.org/sluice\"", "server.public_url", "without a path"),
            ("public_url = \"https://a@x.org\"", "server.public_url", "without a path"),
            ("public_url = \"\"", "server.public_url", "scheme"),
            (
                "trusted_proxies = [\"::1\", \"lb\"]",
                "server.trusted_proxies[1]",
                "is no IP address",
            ),
            ("trusted_proxies = [\"10.0.0.1/8\"]", "server.trusted_proxies[0]", "own address"),
            ("trusted_proxies = \"::1\"", "server.trusted_proxies", "brackets"),
            ("session_idle_hours = 0", "server.session_idle_hours", "1 to 720"),
            ("session_days = 1000", "server.session_days", "1 to 90"),
        ] {
            let problem = read(server).unwrap_err();
            assert!(problem.contains(key) && problem.contains(says), "{server}: {problem}");
        }
    }
}
