//! Whose address a request has: the connection's, or the one that a trusted proxy tells.
//!
//! `X-Forwarded-For` is a list that each proxy adds to, and anybody can begin. So it is read from the
//! end, for as long as it was a trusted proxy that wrote.

use std::net::IpAddr;

use http::HeaderMap;

/// An address, or a network of them: `192.0.2.7`, `10.0.0.0/8`, `fd00::/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// The bits that all addresses of it have in common.
    bits: u8,
}

impl Network {
    /// Reads one; an error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| "is no IP address and no network")?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => match bits.parse::<u8>() {
                Ok(bits) if bits <= most && !bits_are_signed(text) => bits,
                _ => return Err("has too many bits behind the slash, or none"),
            },
        };
        let network = Self { address, bits };
        if network.cut(address) != address {
            return Err("has bits set behind its network; write the network's own address");
        }
        Ok(network)
    }

    /// Whether an address belongs to it.
    pub fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.address.is_ipv4() == address.is_ipv4() && self.cut(address) == self.address
    }

    fn cut(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(it) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4((it.to_bits() & mask).into())
            }
            IpAddr::V6(it) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6((it.to_bits() & mask).into())
            }
        }
    }
}

/// `u8` reads `+8`, too.
fn bits_are_signed(text: &str) -> bool {
    text.contains('+')
}

/// Whoever sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Their address.
    pub address: IpAddr,
    /// Whether they came by HTTPS as far as is known.
    pub is_https: bool,
}

/// The proxies whose headers are believed.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Vec<Network>);

impl TrustedProxies {
    /// Those in any of `networks`.
    pub fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    /// Whether anybody's word is taken: then anybody can choose their address.
    pub fn trust_everybody(&self) -> bool {
        self.0.iter().any(|network| network.bits == 0)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.holds(address))
    }

    /// Who sent a request that came from `peer`, with or without TLS.
    pub fn client(&self, peer: IpAddr, is_tls: bool, headers: &HeaderMap) -> Client {
        let direct = Client { address: peer, is_https: is_tls };
        if self.0.is_empty() || !self.trusts(peer) {
            return direct;
        }
        let mut address = peer;
        for told in from_the_end(headers, "x-forwarded-for") {
            // What is no address tells nobody: whoever wrote it is the last that is known.
            let Some(told) = address_of(told) else { break };
            address = told;
            if !self.trusts(told) {
                break;
            }
        }
        let told = from_the_end(headers, "x-forwarded-proto").next();
        let is_https = told.map_or(is_tls, |told| told.eq_ignore_ascii_case("https"));
        Client { address, is_https }
    }
}

/// The elements of a list, the last one first.
fn from_the_end<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let lines: Vec<&str> =
        headers.get_all(name).iter().map(|line| line.to_str().unwrap_or_default()).collect();
    lines.into_iter().rev().flat_map(|line| line.rsplit(',')).map(str::trim)
}

/// An address as proxies write it: `192.0.2.7`, `192.0.2.7:4711`, `[2001:db8::1]:4711`.
fn address_of(text: &str) -> Option<IpAddr> {
    let plain = text.parse().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|it| it.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    plain.or_else(with_port).or_else(in_brackets).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn trusted(networks: &[&str]) -> TrustedProxies {
        TrustedProxies::new(networks.iter().map(|text| Network::parse(text).unwrap()).collect())
    }

    fn headers(forwarded: &[&str], proto: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        if let Some(proto) = proto {
            headers.insert("x-forwarded-proto", proto.parse().unwrap());
        }
        headers
    }

    #[test]
    fn networks_hold_their_addresses() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("192.0.2.7", "::ffff:192.0.2.7", "::ffff:192.0.2.6"),
            ("0.0.0.0/0", "8.8.8.8", "::1"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "127.0.0.1"),
        ] {
            let network = Network::parse(network).unwrap();
            assert!(network.holds(ip(inside)) && !network.holds(ip(outside)), "{network:?}");
        }
        for wrong in
            ["", "10.0.0.0/33", "10.0.0.1/8", "localhost", "10.0.0.0/", "10.0.0.0/+8", "::/129"]
        {
            assert!(Network::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_header_is_believed_as_far_as_trusted_proxies_wrote_it() {
        let proxies = trusted(&["10.0.0.0/8", "::1"]);
        let from = |peer: &str, forwarded: &[&str]| {
            proxies.client(ip(peer), false, &headers(forwarded, None)).address
        };
        // Whoever comes directly says what they like.
        assert_eq!(from("192.0.2.1", &["8.8.8.8"]), ip("192.0.2.1"));
        assert_eq!(from("10.0.0.1", &[]), ip("10.0.0.1"));
        assert_eq!(from("10.0.0.1", &["192.0.2.1"]), ip("192.0.2.1"));
        // The client began the list.
        assert_eq!(from("10.0.0.1", &["8.8.8.8, 192.0.2.1"]), ip("192.0.2.1"));
        assert_eq!(from("10.0.0.1", &["8.8.8.8", "192.0.2.1"]), ip("192.0.2.1"));
        assert_eq!(from("10.0.0.1", &["8.8.8.8, 192.0.2.1, 10.0.0.2"]), ip("192.0.2.1"));
        assert_eq!(from("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), ip("10.0.0.3"));
        assert_eq!(from("10.0.0.1", &["192.0.2.1, nonsense"]), ip("10.0.0.1"));
        assert_eq!(from("::1", &["192.0.2.1:4711"]), ip("192.0.2.1"));
        assert_eq!(from("::1", &["[2001:db8::1]:4711"]), ip("2001:db8::1"));
        assert_eq!(from("::1", &["::ffff:192.0.2.1"]), ip("192.0.2.1"));
        let nobody = TrustedProxies::default();
        let plain = headers(&["8.8.8.8"], Some("https"));
        let direct = Client { address: ip("10.0.0.1"), is_https: false };
        assert_eq!(nobody.client(ip("10.0.0.1"), false, &plain), direct);
    }

    #[test]
    fn https_is_what_the_nearest_proxy_says() {
        let proxies = trusted(&["10.0.0.1"]);
        for (proto, tls, expected) in [
            (Some("https"), false, true),
            (Some("HTTPS"), false, true),
            (Some("http"), true, false),
            (Some("https, http"), false, false),
            (None, true, true),
            (None, false, false),
        ] {
            let client = proxies.client(ip("10.0.0.1"), tls, &headers(&[], proto));
            assert_eq!(client.is_https, expected, "{proto:?}");
            let stranger = proxies.client(ip("10.0.0.2"), tls, &headers(&[], proto));
            assert_eq!(stranger.is_https, tls);
        }
    }

    proptest! {
        /// Whatever the client sends before its proxy adds its address: that address it is.
        #[test]
        fn nobody_can_choose_their_address(sent in "[ -~]{0,60}", real in any::<[u8; 4]>()) {
            let real = IpAddr::from(real);
            prop_assume!(!matches!(real, IpAddr::V4(it) if it.octets()[0] == 10));
            let proxies = trusted(&["10.0.0.0/8"]);
            let mut headers = HeaderMap::new();
            let line = format!("{sent}, {real}");
            headers.insert("x-forwarded-for", HeaderValue::from_str(&line).unwrap());
            prop_assert_eq!(proxies.client(ip("10.1.2.3"), false, &headers).address, real);
        }
    }
}
