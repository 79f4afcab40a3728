//! Values that look like secrets and open nothing: what vendors print in their documentation, what
//! specifications have as examples, what emulators and sandboxes are delivered with.
//!
//! They stand in a great many files, and a model that is asked about such a file does better with
//! them than with placeholders. A value passes only where it stands alone, byte for byte.
//!
//! On the list is what everybody who uses a product has: the value itself is written in its
//! documentation, its public sources or its specification, or another scanner's list of exceptions
//! has it. Not on it are words such as `minioadmin`, which do open what nobody has set up, and
//! examples in the form of a live token that other scanners' tests count as finds: where it is
//! open, a placeholder does less harm.
//!
//! Values are cut, behind the vendor's prefix where there is one, so that the list itself sets off no
//! scanner.

use crate::finding::Finding;

/// Takes out what is no secret since everybody knows it.
pub(crate) fn retain_unpublished(text: &str, findings: &mut Vec<Finding>) {
    findings.retain(|finding| {
        !finding.kind.is_secret() || !text.get(finding.range()).is_some_and(is_published)
    });
}

/// Whether everybody knows `value`.
pub(super) fn is_published(value: &str) -> bool {
    if is_amazons_example(value) {
        return true;
    }
    // Of a JWT, the signature: what it signs says nothing more.
    let value = match value.rsplit_once('.') {
        Some((signed, signature)) if signed.contains("eyJ") => signature,
        _ => value,
    };
    // Keys of chains are written with it and without.
    let value = value.strip_prefix("0x").unwrap_or(value);
    PUBLISHED.iter().any(|(prefix, values)| {
        value.strip_prefix(prefix).is_some_and(|rest| values.contains(&rest))
    })
}

/// Amazon's examples end so: ids (`AKIA…EXAMPLE`) and keys (`…EXAMPLEKEY`), the latter with a letter or
/// two changed.
fn is_amazons_example(value: &str) -> bool {
    let is_id = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    match value.len() {
        16..=24 => value.ends_with("EXAMPLE") && value.bytes().all(is_id),
        40 => value.get(28..).is_some_and(|end| end.contains("EXAMPLE")),
        _ => false,
    }
}

/// By vendor: a prefix, and what follows it.
const PUBLISHED: &[(&str, &[&str])] = &[
    // The storage and the Cosmos DB emulator of Azure (learn.microsoft.com, "Use the Azurite
    // emulator", "Emulator (Docker-based)").
    (
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/",
        &["K1SZFPTOtr/KBHBeksoGMGw=="],
    ),
    (
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/",
        &["Jw=="],
    ),
    // Google: keys in the tests and samples of github.com/firebase/firebase-android-sdk and
    // firebase-js-sdk, as excepted by gitleaks (cmd/generate/config/rules/gcp.go); the fields of
    // Firebase's guide to the configuration object; the examples of the Maps JavaScript API; the
    // test project of FlutterFire.
    (
        "AIza",
        &[
            "Syabcdefghijklmnopqrstuvwxyz1234567",
            "SyAnLA7NfeLquW1tJFpx_eQCxoX-oo6YyIs",
            "SyCkEhVjf3pduRDt6d1yKOMitrUEke8agEM",
            "SyDMAScliyLx7F0NPDEJi1QmyCgHIAODrlU",
            "SyD3asb-2pEZVqMkmL6M9N6nHZRR_znhrh0",
            "yDNSXIbFmlXbIE6mCzDLQAqITYefhixbX4A",
            "SyAdOS2zB6NCsk1pCdZ4-P6GBdi_UUPwX7c",
            "SyASWm6HmTMdYWpgMnjRBjxcQ9CKctWmLd4",
            "SyANUvH9H9BsUccjsu2pCmEkOPjjaXeDQgY",
            "SyA5_iVawFQ8ABuTZNUdcwERLJv_a_p4wtM",
            "SyA4UrcGxgwQFTfaI3no3t7Lt1sjmdnP5sQ",
            "SyDSb51JiIcB6OJpwwMicseKRhhrOq1cS7g",
            "SyBF2RrAIm4a0mO64EShQfqfd2AFnzAvvuU",
            "SyBcE-OOIbhjyR83gm4r2MFCu4MJmprNXsw",
            "SyB8qGxt4ec15vitgn44duC5ucxaOi4FmqE",
            "SyA8vmApnrHNFE0bApF4hoZ11srVL_n0nvY",
            "SyDOCAbC123dEf456GhI789jKl01-MnO",
            "SyCkUOdZ5y7hMm0yrcCQoCvLwzdM6M8s5qk",
            "SyB41DRUbKWJHPxaFjMAwdrzWzbVKartNGg",
            "SyB7wZb2tO1-Fs6GbDADUSTs2Qs3w08Hovw",
        ],
    ),
    // The test keys of reCAPTCHA (its FAQ) and of Cloudflare's Turnstile ("Testing").
    ("6LeIxAcTAAAAA", &["JcZVRqyHh71UMIEGNQ_MXjiZKhI", "GG-vFI1TnRWxMZNFuojJ4WifJWe"]),
    ("1x0000", &["0000000000000000AA", "000000000000000000000000000AA"]),
    ("2x0000", &["0000000000000000AB", "0000000000000000BB", "000000000000000000000000000AA"]),
    ("3x0000", &["0000000000000000FF", "000000000000000000000000000AA"]),
    // Stripe: the keys in its documentation (docs.stripe.com/api and its guides).
    (
        "sk_test_",
        &[
            "4eC39HqLyjWDarjtT1zdp7dc",
            "BQokikJOvBiI2HlWgH4olfQ2",
            "26PHem9AhJZvU623DfE1x4sd",
            "tR3PYbcVNZZ796tH88S4VQ2u",
        ],
    ),
    ("pk_test_", &["TYooMQauvdEDq54NiTphI7jx", "6pRNASCoBOKtIshFeQd4XMUh"]),
    // Razorpay: the key of its standard checkout's sample.
    ("rzp_test_", &["1DP5mmOlF5G5ag"]),
    // PayPal: the application that `client-id=sb` stands for, the one of the REST SDKs' samples, and
    // the token in "Get started with PayPal REST APIs".
    ("AZDxjDScFpQtjWTOUtWKbyN_bDt4OgqaF4eYXlewfBP4-", &["8aqX3PiV8e1GWU6liB2CUXlkA59kJXE7M6R"]),
    (
        "E",
        &[
            "GnHDxD_qRPdaLdZz8iCr8N7_MzF-YHPTkjs6NKYQvQSBngp4PTTVWkPZRbL",
            "O422dn3gQLgDbuwqTjzrFgFtaRLRR5BdHEESmha49TM",
        ],
    ),
    (
        "A21AAFEpH4PsADK7qSS7pSRsgzfENtu-",
        &["Q1ysgEDVDESseMHBYXVJYE8ovjj68elIDy8nF26AwPhfXTIeWAZHSLIsQkSYz9ifg"],
    ),
    // Braintree: the tokenization key of its client SDKs' samples.
    ("sandbox_", &["f252zhq7_hh4cpc39zq4rgjcg"]),
    // Plaid: the tokens in its API reference.
    ("access-sandbox-", &["de3ce8ef-33f8-452c-a685-8671031fc0f6"]),
    ("public-sandbox-", &["b0e2c4ee-a763-4df5-bfe9-46a46bce993d"]),
    // Shopify: the token in its guide to OAuth.
    ("f85632530bf277ec", &["9ac6f649fc327f17"]),
    // Mailgun: the keys of samples.mailgun.org in its former user manual.
    ("key-", &["3ax6xnjp29jd6fds4gc373sgvjxteol0"]),
    ("pubkey-", &["5ogiflzbnjrljiky49qxsiozqef5jxp7"]),
    // Algolia: the search key of its demonstrations (application `latency`) and the one of the npm
    // search, which each copy of Yarn has (excepted by gitleaks, generic.go).
    ("6be0576ff61c053d", &["5f9a3225e2a90f76"]),
    ("6fe4476ee5a18328", &["82e326b506d14126"]),
    // Mapbox: the token of Leaflet's tutorials, by its signature.
    ("rJcFIG214Ari", &["ISLbB6B5aw"]),
    // Contentful: the space `cfexampleapi` of its clients' documentation.
    ("b4c0n73n", &["7fu1"]),
    // OpenWeather: the key of samples.openweathermap.org. Giphy: its former public key.
    ("b6907d289e10d714", &["a6e88b30761fae22"]),
    ("dc6zaTOx", &["FJmzC"]),
    // CoinMarketCap: the sandbox's key (its API documentation, "Quick Start Guide").
    ("b54bcf4d-1bca-", &["4e8e-9a24-22ff2c3d462c"]),
    // DigitalOcean: the token in the first reference of its API v2.
    ("77e027c7447f468068a7d4fea41e7149a75a94088082c66f", &["cf555de3977f69d3"]),
    // Slack: the secret and the token in "Verifying requests from Slack".
    ("8f742231b10e8888", &["abcd99yyyzzz85a5"]),
    ("xyzz0WbapA4v", &["BCDEFasx0q6G"]),
    // GitHub: runners' tokens in its REST reference.
    ("AABF3JGZDX3P5", &["PMEXLND6TS6FCWO6"]),
    ("LLBF3JGZDX3P5", &["PMEXLND6TS6FCWO6"]),
    // Twitter: "Creating a signature", "Application-only authentication".
    ("kAcSOqF21Fu85e7zjz7Z", &["N2U4ZRhfV3WpwPAoE3Z7kBw"]),
    ("LswwdoUaIvS8ltyTt5jk", &["Rh4J50vUPVVHtR2YPi5kE"]),
    ("370773112-", &["GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"]),
    ("L8qq9PZyRg6ieKGEKhZo", &["lGC0vJWLw8iEJ88DRdyOg"]),
    (
        "AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA",
        &["0%2BuSeid%2BULvsea4JtiGRiSDSJSI%3DEUifiRBkKG5E2XzMDjRfl76ZC9Ub0wnz4XsNiRVBChTYbJcE3F"],
    ),
    // Elasticsearch: "Create API key".
    ("ui2lp2axTNms", &["yakw9tvNnw"]),
    ("VuaCfGcBCdbkQm-e5aOx:", &["ui2lp2axTNmsyakw9tvNnw"]),
    ("VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6", &["dWkybHAyYXhUTm1zeWFrdzl0dk5udw=="]),
    // Vault: the token in the tutorial "Authentication".
    ("s.", &["iyNUhq8Ov4hIAx6snw5mB2nL"]),
    // Kubernetes: the bootstrap token of "Authenticating with Bootstrap Tokens".
    ("07401b.", &["f395accd246ae52d"]),
    // Supabase: what its command line starts a local stack with (`supabase start`); of the JWTs the
    // signature.
    ("CRXP1A7WOeoJeXxjNni4", &["3kdQwgnWNReilDMblYTn_I0"]),
    ("EGIM96RAZx35lJzdJsyH", &["-qQwv8Hdp7fsn3W0YpN81IU"]),
    ("625729a08b95bf1b", &["7ff351a663f3a23c"]),
    ("850181e4652dd023b7a98c58ae0d2d34", &["bd487ee0cc3254aed6eda37307425907"]),
    ("sb_secret_", &["N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz"]),
    ("sb_publishable_", &["ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH"]),
    // MinIO: the public server play.min.io, which all of its clients' examples use.
    ("Q3AM3UQ867S", &["PQQA43P2F"]),
    ("zuf+tfteSlswRu7BJ86w", &["ekitnifILbZam1KYY3TG"]),
    // Accounts that Hardhat and Anvil start a local chain with, and the first two of Ganache
    // (`--deterministic`): they print the keys, with a warning.
    ("ac0974bec39a17e36ba4a6b4d238ff94", &["4bacb478cbed5efcae784d7bf4f2ff80"]),
    ("59c6995e998f97a5a0044966f0945389", &["dc9e86dae88c7a8412f4603b6b78690d"]),
    ("5de4111afa1a4b94908f83103eb1f170", &["6367c2e68ca870fc3fb9a804cdab365a"]),
    ("7c852118294e51e653712a81e05800f4", &["19141751be58f605c371e15141b007a6"]),
    ("47e179ec197488593b187f80a00eb0da", &["91f1b9d0b13f8733639f19c30a34926a"]),
    ("8b3a350cf5c34c9194ca85829a2df0ec", &["3153be0318b5e2d3348e872092edffba"]),
    ("92db14e403b83dfe3df233f83dfa3a0d", &["7096f21ca9b0d6d6b8d88b2b4ec1564e"]),
    ("4bbbf85ce3377467afe5d46f804f2218", &["13b2bb87f24d81f60f1fcdbf7cbf4356"]),
    ("dbda1821b80551c9d65939329250298a", &["a3472ba22feea921c0cf5d620ea67b97"]),
    ("2a871d0798f97d79848a013d4936a73b", &["f4cc922c825d33c1cf7073dff6d409c6"]),
    ("4f3edf983ac636a65a842ce7c78d9aa7", &["06d3b113bce9c46f30d7d21715b23b1d"]),
    ("6cbed15c793ce57650b9877cf6fa156f", &["bef513c4e6134f022a85b1ffdd59b2a1"]),
    // RFC 5849 and OAuth Core 1.0, Appendix A: the secrets of the photo printer's example.
    ("kd94hf93", &["k423kf44"]),
    ("pfkkdhi9", &["sl3r4s00"]),
    // RFC 6749 (OAuth 2.0).
    ("2YotnFZF", &["Ejr1zCsicMWpAA"]),
    ("tGzv3JOk", &["F0XG5Qx2TlKWIA"]),
    ("SplxlOBe", &["ZQQYbYS6WxSbIA"]),
    ("gX1fBat3", &["bV"]),
    ("czZCaGRSa3F0Mzpn", &["WDFmQmF0M2JW"]),
    // RFC 7515 and 7519 (JWS and JWT): the signature, also RFC 7636's verifier, and the key.
    ("dBjftJeZ4CVP-", &["mB92K27uhbUJU1p1r_wW1gFWFOEjXk"]),
    (
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-",
        &["EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"],
    ),
    // jwt.io: the signatures of its token, now and formerly.
    ("SflKxwRJSMeK", &["KF2QT4fwpMeJf36POk6yJV_adQssw5c"]),
    ("TJVA95OrM7E2", &["cBab30RMHrHDcEfxjoYZgeFONFh7HgQ"]),
];

#[cfg(test)]
mod tests {
    use super::{PUBLISHED, is_published};
    use crate::kind::{Kind, Kinds};
    use crate::scan::{Scanner, ScannerSettings};

    fn published() -> impl Iterator<Item = String> {
        let joined = |(prefix, values): &(&str, &'static [&'static str])| {
            let prefix = prefix.to_string();
            values.iter().map(move |value| format!("{prefix}{value}"))
        };
        PUBLISHED.iter().flat_map(joined)
    }

    #[test]
    fn what_everybody_knows_passes_wherever_it_stands() {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let kinds = Kinds::of(&[Kind::Secret, Kind::Password, Kind::PrivateKey]);
        for value in published() {
            for text in [
                format!("API_SECRET={value}\n"),
                format!("{{\"client_secret\": \"{value}\"}}"),
                format!("the token is {value} in all examples"),
                format!("curl -H 'Authorization: Bearer {value}' https://api.nightjar.dev"),
                format!("private key: {value}"),
            ] {
                let found = scanner.scan(&text, kinds);
                let found: Vec<_> = found.iter().map(|finding| &text[finding.range()]).collect();
                assert_eq!(found, [""; 0], "{text}");
            }
        }
    }

    #[test]
    fn one_character_more_is_another_value() {
        for value in published() {
            assert!(is_published(&value), "{value}");
            assert!(!is_published(&format!("{value}0")), "{value}");
            assert!(!is_published(&format!("9{value}")), "{value}");
            assert!(!is_published(&value[..value.len() - 1]), "{value}");
        }
    }

    #[test]
    fn a_token_passes_by_its_signature() {
        let token = |signature: &str| format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.{signature}");
        assert!(is_published(&token("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c")));
        assert!(!is_published(&token("SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5d")));
    }
}
