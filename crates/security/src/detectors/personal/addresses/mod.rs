//! Addresses of machines: IPv4, IPv6 and network interfaces.

mod mac;
mod v4;
mod v6;

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
pub(super) use v4::{Quad, Written};

/// What a look that finds nothing costs, in about nanoseconds.
pub(crate) const COST: usize = 40;

/// Looks at the dotted numbers whose first digit is at `at`. Returns up to where it has looked.
pub(crate) fn dots(text: &str, at: usize, kinds: Kinds, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let (end, found) = v4::read(bytes, at);
    let listed = is_listed(out, at);
    if let Some(address) = found
        && !v4::is_version(bytes, at, end, address, listed)
        && let Some(kind) = v4_kind(address)
        && kinds.contains(kind)
        && v4::stands_alone(bytes, at, end, address, listed)
    {
        out.push(Finding { start: at, end, kind, rule: "ipv4" });
    }
    end.max(at + 1)
}

/// Whether another address stands directly before: `X-Forwarded-For: 24.5.6.7, 10.1.2.3`.
fn is_listed(out: &[Finding], at: usize) -> bool {
    let addresses = [Kind::IpAddress, Kind::PrivateIp];
    out.last().is_some_and(|f| addresses.contains(&f.kind) && f.end <= at && at <= f.end + 4)
}

/// Looks at the groups of hexadecimal digits around `at`, which is one of the first colons or dashes
/// between them. Returns up to where it has looked.
pub(crate) fn colons(text: &str, at: usize, kinds: Kinds, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    if let Some((start, end)) = mac::find(bytes, at) {
        if kinds.contains(Kind::Mac) && mac::is_somebodys(bytes, start, end) {
            out.push(Finding { start, end, kind: Kind::Mac, rule: "mac" });
        }
        return end.max(at + 1);
    }
    if bytes.get(at) != Some(&b':') {
        return at + 1;
    }
    if let Some(addresses) = mac::in_header(bytes, at) {
        for (start, end) in addresses {
            if kinds.contains(Kind::Mac) && mac::is_somebodys(bytes, start, end) {
                out.push(Finding { start, end, kind: Kind::Mac, rule: "mac" });
            }
        }
        return addresses[1].1;
    }
    let stretch = v6::Stretch::around(bytes, at);
    let (start, end) = (stretch.start, stretch.end);
    if let Some(address) = v6::read(text, &stretch)
        && let Some(kind) = v6_kind(address)
        && kinds.contains(kind)
    {
        out.push(Finding { start, end, kind, rule: "ipv6" });
    }
    end.max(at + 1)
}

/// What an address says: a public one, one of a private network, or nothing.
fn v4_kind(address: Ipv4Addr) -> Option<Kind> {
    let [a, b, c, d] = address.octets();
    // Most networks have no exceptions.
    if !IS_SPECIAL[usize::from(a)] {
        let is_nobodys = a == b && b == c && c == d || (b, c, d) == (0, 0, 0);
        return (!is_nobodys).then_some(Kind::IpAddress);
    }
    let documentation = matches!(
        (a, b, c),
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (192, 0, 0) | (192, 88, 99)
    ) || (a, b & 0xFE) == (198, 18);
    let same = a == b && b == c && c == d;
    // Object identifiers: 1.3.101.112 is Ed25519, 2.5.4.42 a given name in a certificate.
    let identifiers = matches!((a, b, c), (1, 3, 101) | (2, 5, 4 | 29));
    let samples =
        matches!((a, b, c, d), (1, 2, 3, 4) | (4, 3, 2, 1) | (5, 6, 7, 8) | (9, 10, 11, 12));
    let resolvers = matches!(
        (a, b, c, d),
        (8, 8, 4 | 8, 4 | 8)
            | (1, 0 | 1, 0 | 1, 1..=3)
            | (9, 9, 9, 9..=11)
            | (149, 112, 112, 9..=112)
            | (208, 67, 220 | 222, 220 | 222 | 123)
            | (4, 2, 2, 1..=6)
            | (94, 140, 14..=15, 14..=16)
            | (76, 76, 2 | 10, 0..=5)
            | (64, 6, 64 | 65, 6)
            | (84, 200, 69 | 70, 80 | 40)
            | (185, 228, 168 | 169, 9 | 168 | 10 | 11)
    );
    // A whole private range, the metadata service of clouds.
    let ranges = matches!(
        (a, b, c, d),
        (10 | 172 | 192 | 100 | 169, 0 | 16 | 168 | 64 | 254, 0, 0) | (169, 254, 169, 254)
    );
    // Loopback says nothing about anybody's network; from 224 on there are groups of receivers,
    // netmasks and the broadcast address.
    let nobodys = a == 0 || a == 127 || a >= 224 || ranges || (b, c, d) == (0, 0, 0);
    if nobodys || documentation || same || identifiers || samples || resolvers {
        return None;
    }
    let shared = a == 100 && b & 0xC0 == 64;
    let private = address.is_private() || address.is_link_local() || shared;
    Some(if private { Kind::PrivateIp } else { Kind::IpAddress })
}

/// The first numbers of addresses that [`v4_kind`] looks at more closely.
static IS_SPECIAL: [bool; 256] = {
    let mut is_special = [false; 256];
    let mut a = 0;
    while a < 256 {
        is_special[a] = matches!(
            a,
            0..=2 | 4..=5 | 8..=10 | 64 | 76 | 84 | 94 | 100 | 127 | 149 | 169 | 172 | 185 | 192 | 198
                | 203 | 208 | 224..
        );
        a += 1;
    }
    is_special
};

fn v6_kind(address: Ipv6Addr) -> Option<Kind> {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return v4_kind(mapped);
    }
    let groups = address.segments();
    // 2001::/23 is for protocols (RFC 6890, 2.2.3), 2001:db8::/32 and 3fff::/20 for documents.
    let documentation = groups[0] == 0x2001 && (groups[1] < 0x0200 || groups[1] == 0x0DB8)
        || groups[0] == 0x3FFF && groups[1] < 0x1000
        || groups[0] == 0x2002 && groups[1..] == [0; 7];
    let resolvers = matches!(
        groups[..3],
        [0x2001, 0x4860, 0x4860]
            | [0x2606, 0x4700, 0x4700]
            | [0x2620, 0x00FE, 0]
            | [0x2620, 0x119, 0x35 | 0x53]
    );
    let translated = groups[..2] == [0x64, 0xFF9B];
    let unspecific = groups[..7].iter().all(|group| *group == 0);
    let range = groups[0] >= 0xFC00 && groups[1..] == [0; 7];
    if documentation || resolvers || translated || unspecific || range || groups[0] >= 0xFF00 {
        return None;
    }
    let private = groups[0] & 0xFE00 == 0xFC00 || groups[0] & 0xFFC0 == 0xFE80;
    Some(if private { Kind::PrivateIp } else { Kind::IpAddress })
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;

    fn check(text: &str, expected: &[(Kind, &str)]) {
        let kinds = Kinds::of(&[Kind::IpAddress, Kind::PrivateIp, Kind::Mac]);
        let findings = scan(text, kinds);
        let found: Vec<_> = findings.iter().map(|f| (f.kind, &text[f.range()])).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn public_addresses_without_port_and_prefix() {
        for (text, value) in [
            ("ip=113.95.139.105 agent", "113.95.139.105"),
            ("allow from 38.234.93.143;", "38.234.93.143"),
            ("http://86.231.85.193:8080/x", "86.231.85.193"),
            ("route 86.231.0.0/16", "86.231.0.0"),
            ("ssh root@86.231.85.193", "86.231.85.193"),
            ("host 12.34.5.6 is down", "12.34.5.6"),
            ("\"x\\n86.231.85.193\\n\"", "86.231.85.193"),
            ("I see 86.231.85.193.", "86.231.85.193"),
            (
                "deny 2a67:176f:6efb:afe3:a95d:ab58:adc0:9adb;",
                "2a67:176f:6efb:afe3:a95d:ab58:adc0:9adb",
            ),
            (
                "address d80:e4b5:79da:6cf6:71f3:51f7:9161:c319 blocked",
                "d80:e4b5:79da:6cf6:71f3:51f7:9161:c319",
            ),
            ("[2a02:8108:96c0::1]:443", "2a02:8108:96c0::1"),
            ("net 2a02:8108::/32", "2a02:8108::"),
            ("from 2607:f8b0:4005:805::200e.", "2607:f8b0:4005:805::200e"),
            ("::ffff:86.231.85.193 x", "::ffff:86.231.85.193"),
            ("2a02:8108:96c0::1%eth0", "2a02:8108:96c0::1"),
            ("ip 2a01:4f8:c17:b0f::2:", "2a01:4f8:c17:b0f::2"),
        ] {
            check(text, &[(Kind::IpAddress, value)]);
        }
    }

    #[test]
    fn private_addresses_and_interfaces() {
        check("bind 10.0.0.12:80", &[(Kind::PrivateIp, "10.0.0.12")]);
        check("192.168.178.1/24", &[(Kind::PrivateIp, "192.168.178.1")]);
        check("peer 100.72.13.5", &[(Kind::PrivateIp, "100.72.13.5")]);
        check("fe80::1c2:3ff:fe45:678%en0", &[(Kind::PrivateIp, "fe80::1c2:3ff:fe45:678")]);
        check("fd12:3456:789a::1", &[(Kind::PrivateIp, "fd12:3456:789a::1")]);
        check("ether 3c:22:fb:9a:10:4e txqueuelen", &[(Kind::Mac, "3c:22:fb:9a:10:4e")]);
        check("HWaddr 3C-22-FB-9A-10-4E", &[(Kind::Mac, "3C-22-FB-9A-10-4E")]);
        check("  47    8c16.45c1.b235    DYNAMIC", &[(Kind::Mac, "8c16.45c1.b235")]);
        check(
            "IN=eth0 MAC=3c:22:fb:9a:10:4e:b8:27:eb:b9:d7:41:08:00 SRC=1",
            &[(Kind::Mac, "3c:22:fb:9a:10:4e"), (Kind::Mac, "b8:27:eb:b9:d7:41")],
        );
    }

    #[test]
    fn other_dots_and_colons_are_nothing() {
        for text in [
            "listen 127.0.0.1:8080; listen [::1]:8080; listen 0.0.0.0:80;",
            "docs use 192.0.2.10, 198.51.100.7, 203.0.113.9 and 2001:db8::1",
            "8.8.8.8 1.1.1.1 9.9.9.9 2001:4860:4860::8888 255.255.255.0 255.255.255.255 1.2.3.4",
            "version = \"7.17.27.7\"\nv4.15.0.1 ==3.1.15.6 Version: 86.17.200.7",
            "pkg@6.14.20.2 lib-6.14.20.2.jar Chrome/115.0.5790.102 app/6.1.20.2",
            "oid 1.3.6.1.4.1.311.21 section 4.3.2.10 and 2.16.840.1.113883",
            "4.3.2.1.in-addr.arpa 86.231.85.193.tar.gz 300.1.2.3 01.2.3.4",
            "std::fmt::Display a::b de::Deserialize ab::cd::ef c0de::face",
            "12:30:45 10:11:12:13 2025-03-03T10:11:12 00:00:00:00:00:00 ff:ff:ff:ff:ff:ff",
            "00:11:22:33:44:55 aa:bb:cc:dd:ee:ff aa:aa:aa:aa:aa:aa",
            "SHA1 Fingerprint=3C:22:FB:9A:10:4E:3C:22:FB:9A:10:4E:3C:22:FB:9A:10:4E:11:22",
            "1234.5678.9012 dead.beef.cafe self.face.data a.8c16.45c1.b235",
            "de:ad:be:ef dead:beef 0:0:0:0:0:0:0:1 :: a:b:c",
            "sha256:c7c11ee911a4ea8a a[1::2] x[::-1] f::<u8>()",
            "{\"a\":1,\"b\":2} 1:2:3:4 3:16:05",
            "18c0 1.52-.87 2.83-2.12 3.51.98.32 2.03.5 3.11",
            "s!(\"2.5.4.52\"), s!(\"2.5.29.54\"); [*038A.0020.0004][.8054.0020.0004]",
            "Internet Security 6.0.16.251 Beta, the syntax 8.2.4.41: comments",
            "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fe80::/10 and fc00::/7; 169.254.169.254",
        ] {
            check(text, &[]);
        }
    }
}
