//! What works but protects less than it seems to, each with its fix.

use std::net::IpAddr;

use serde_json::{Value, json};
use sluice_core::level::SecurityLevel;
use sluice_security::level::{Action, InjectionAction};

use crate::config::{Environment, Settings};

/// A weak point of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weak {
    /// The setting.
    pub(super) key: String,
    /// What is weak about it.
    pub(super) what: String,
    /// What to do about it.
    pub(super) fix: &'static str,
}

impl Weak {
    fn new(key: impl Into<String>, what: impl Into<String>, fix: &'static str) -> Self {
        Self { key: key.into(), what: what.into(), fix }
    }

    pub(super) fn as_json(&self) -> Value {
        json!({ "key": self.key, "what": self.what, "fix": self.fix })
    }
}

/// Every weak point, in the order of the file.
pub(super) fn points(settings: &Settings, environment: &dyn Environment) -> Vec<Weak> {
    let mut found = Vec::new();
    of_the_server(settings, &mut found);
    let data_dir = &settings.storage.data_dir.0;
    if environment.others_can_write(data_dir) {
        found.push(Weak::new(
            "storage.data_dir",
            format!("users other than its owner may write to {}", data_dir.display()),
            "chmod 700; the master key, the records and the audit trail are in it",
        ));
    }
    of_the_filter(settings, &mut found);
    found
}

fn of_the_server(settings: &Settings, found: &mut Vec<Weak>) {
    let server = &settings.server;
    if server.cors_allowed_origins.iter().any(|origin| origin.0 == "*") {
        found.push(Weak::new(
            "server.cors_allowed_origins",
            "every web page may call the API from a visitor's browser",
            "name the origins that need it",
        ));
    }
    let listeners = [
        ("server.listen", Some(server.listen), "keys travel"),
        ("server.dashboard_listen", server.dashboard_listen.0, "passwords travel"),
    ];
    for (setting, address, travels) in listeners {
        if let Some(address) = address
            && is_public(address.ip())
            && server.tls_certificate_file.is_none()
        {
            found.push(Weak::new(
                setting,
                format!("{address} can be reached from outside, and {travels} without TLS"),
                "set tls_certificate_file and tls_key_file, or listen on 127.0.0.1 behind a proxy \
                 that ends TLS",
            ));
        }
    }
    if server.proxies().trust_everybody() {
        found.push(Weak::new(
            "server.trusted_proxies",
            "whoever sends X-Forwarded-For chooses their own address",
            "name the addresses of your proxies",
        ));
    }
    if let Some(address) = server.metrics_listen.0
        && is_public(address.ip())
    {
        found.push(Weak::new(
            "server.metrics_listen",
            format!("{address} can be reached from outside, and metrics ask for no key"),
            "listen on 127.0.0.1 or a private address",
        ));
    }
}

/// What a level that requests can have leaves open.
fn of_the_filter(settings: &Settings, found: &mut Vec<Weak>) {
    let security = &settings.security;
    for level in SecurityLevel::ALL.into_iter().filter(|level| *level >= security.minimum_level) {
        let (of, name) = (security.of(level), level.as_str());
        let key = |key: &str| format!("security.{name}.{key}");
        if of.redact.is_empty() {
            found.push(Weak::new(
                key("redact"),
                format!("nothing is redacted at level {name}"),
                "name at least secret, password and private_key, or raise security.minimum_level",
            ));
        }
        if of.injection == InjectionAction::Off {
            found.push(Weak::new(
                key("injection"),
                format!("attacks on the model are not looked for at level {name}"),
                "set \"flag\", which refuses nothing",
            ));
        }
        if of.answer == Action::Off {
            found.push(Weak::new(
                key("answer"),
                format!("answers are not analysed at level {name}"),
                "set \"flag\", which changes nothing",
            ));
        }
    }
}

/// Whether an address may be reached by others than this machine and its private network. All
/// addresses at once (`0.0.0.0`) include whatever the machine has.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::environment::tests::FixedEnvironment;

    fn keys(text: &str) -> Vec<String> {
        let environment = FixedEnvironment::default()
            .open_folder("etc/shared")
            .file("etc/cert.pem", "")
            .file("etc/key.pem", "");
        let settings = Settings::from_text(Some(Path::new("etc/sluice.toml")), text, &environment)
            .unwrap_or_else(|problems| panic!("{problems}"));
        points(&settings, &environment).into_iter().map(|weak| weak.key).collect()
    }

    #[test]
    fn the_defaults_have_no_weak_point() {
        assert_eq!(keys(""), Vec::<String>::new());
    }

    #[test]
    fn each_weak_point_is_named() {
        let text = r#"
            [server]
            listen = "0.0.0.0:8080"
            metrics_listen = "[2001:db8::1]:9464"
            trusted_proxies = ["10.0.0.0/8", "::/0"]
            cors_allowed_origins = ["https://a.example", "*"]
            [storage]
            data_dir = "shared"
            [security.standard]
            redact = []
            injection = "off"
            answer = "off"
            [security.maximum]
            redact = []
            "#;
        assert_eq!(
            keys(text),
            [
                "server.cors_allowed_origins",
                "server.listen",
                "server.trusted_proxies",
                "server.metrics_listen",
                "storage.data_dir",
                "security.standard.redact",
                "security.standard.injection",
                "security.standard.answer",
                "security.maximum.redact",
            ]
        );
    }

    #[test]
    fn what_protects_is_not_weak() {
        let tls = "tls_certificate_file = \"cert.pem\"\ntls_key_file = \"key.pem\"\n";
        assert_eq!(keys(&format!("[server]\nlisten = \"0.0.0.0:443\"\n{tls}")), [""; 0]);
        for private in ["10.1.2.3:80", "192.168.0.1:80", "[::1]:80", "[fd00::1]:80"] {
            assert_eq!(keys(&format!("[server]\nlisten = \"{private}\"\n")), [""; 0], "{private}");
        }
        // A level that no request can have does not matter.
        let text = "[security]\nminimum_level = \"high\"\n[security.standard]\nredact = []\n";
        assert_eq!(keys(text), [""; 0]);
    }
}
