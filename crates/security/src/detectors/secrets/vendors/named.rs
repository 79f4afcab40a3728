//! Vendors whose tokens have no prefix: their names, and how their values look.
//!
//! `finicityToken = "5acee1…"`: the vendor's name in the name of the variable and a value made by
//! chance. Most such names also hold `key`, `token` or `secret`; then the vendor's name only adds
//! to the evidence.

use super::super::grammar::{self, Bare, Join};
use super::super::names::Words;
use super::super::value::{self, Shape};
use super::super::{allow, assignment};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far before a value its name may begin.
const REACH: usize = 72;

/// Whether a word is a vendor's name.
pub(in super::super) fn is_vendor(word: &str) -> bool {
    let bytes = word.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if LENGTHS[slot(*first, *last)] >> bytes.len().min(31) & 1 == 0 {
        return false;
    }
    let mut folded = [0; LONGEST_NAME];
    let Some(folded) = folded.get_mut(..bytes.len()) else { return false };
    folded.copy_from_slice(bytes);
    folded.make_ascii_lowercase();
    NAMES.binary_search_by(|name| name.as_bytes().cmp(folded)).is_ok()
}

const LONGEST_NAME: usize = 16;

/// Which lengths names with a first and a last letter have: most words of code fail here.
static LENGTHS: [u32; 1024] = {
    let mut lengths = [0; 1024];
    let mut i = 0;
    while i < NAMES.len() {
        let name = NAMES[i].as_bytes();
        lengths[slot(name[0], name[name.len() - 1])] |= 1 << name.len();
        i += 1;
    }
    lengths
};

const fn slot(first: u8, last: u8) -> usize {
    (first as usize & 31) << 5 | last as usize & 31
}

/// Looks for a vendor's name before the run `start..end` and pushes the value that it is given.
/// Returns how many bytes were looked at.
pub(super) fn before(text: &str, start: usize, end: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    if !is_joined(bytes, start) {
        return 16;
    }
    let floor = start.saturating_sub(REACH);
    let line = bytes[floor..start].iter().rev().take_while(|b| **b != b'\n').count();
    let floor = start - line;
    let mut at = start;
    // Where the name ends that a dot joins this one to: `sonar.login=…`.
    let mut last = None;
    // The last three names before the value, the nearest first.
    for _ in 0..3 {
        while at > floor && !bytes[at - 1].is_ascii_alphanumeric() {
            at -= 1;
        }
        if at == floor {
            break;
        }
        let (from, to) = (assignment::start_of_name(bytes, at - 1, floor), at);
        let Some(name) = text.get(from..to) else { break };
        let words = Words::of(name);
        let vendor = words.backwards().iter().any(|word| is_vendor(word));
        if vendor {
            let to = last.filter(|_| bytes[to] == b'.').unwrap_or(to);
            let Some(value) = grammar::value_of_name(bytes, to, &mut Bare::default()) else {
                break;
            };
            if (value.start..value.end).contains(&start) && value.end >= end {
                push(text, &words, &value, out);
            }
            return line + 2 * (value.end - value.start);
        }
        if last.is_none() || bytes[to] != b'.' {
            last = Some(to);
        }
        at = from;
    }
    line / 2 + 16
}

/// Whether a join stands before `start`, maybe with a quote and a blank: not so in the middle of a
/// path, a host, a base64 text or a sentence.
fn is_joined(bytes: &[u8], start: usize) -> bool {
    let passed = |b: &&u8| matches!(**b, b'"' | b'\'' | b'`' | b' ' | b'\\' | b'@');
    let before = bytes[..start].iter().rev().take(5).find(|b| !passed(b));
    before.is_some_and(|b| matches!(b, b'=' | b':' | b'(' | b',' | b'>' | b'['))
}

fn push(text: &str, words: &Words<'_>, value: &grammar::Value, out: &mut Vec<Finding>) {
    let Some(written) = text.get(value.start..value.end) else { return };
    let shape = Shape::of(written);
    if matches!(value.join, Join::Prose | Join::Space | Join::Argument) && value.quote.is_none()
        || allow::is_known(written)
        || value::is_reference(written)
        || shape.spaces > 0
        || shape.joints > 2 && !value::is_uuid(written) && !shape.is_random()
    {
        return;
    }
    // `asana_project_id`, `heroku_app_name` hold nothing secret; `discord_client_id` does for some.
    let last = words.backwards().first().copied().unwrap_or("");
    let harmless = HARMLESS.iter().any(|word| word.eq_ignore_ascii_case(last));
    let is_client = words.backwards().iter().any(|word| word.eq_ignore_ascii_case("client"));
    if harmless && !is_client {
        return;
    }
    if value::is_uuid(written) || !shape.is_random() {
        return;
    }
    if shape.specials > 2 {
        return;
    }
    out.push(Finding {
        start: value.start,
        end: value.end,
        kind: Kind::Secret,
        rule: "vendor_value",
    });
}

/// Last words of names whose values are none of the vendor's secrets.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "id", "ids", "name", "url", "uri", "version", "hash", "sha", "sha256", "digest", "checksum",
    "commit", "image", "tag", "etag", "path", "file", "host", "region", "project", "app",
    "integrity", "ref", "model", "channel", "user", "username", "email", "domain", "endpoint",
    "link", "package", "src", "href", "zone", "uuid", "guid", "trace", "request", "event", "job",
    "build", "revision", "rev", "class", "style", "sum",
];

/// Vendors, sorted.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "ably", "adafruit", "adobe", "adyen", "airbrake", "airtable", "aiven", "akamai", "algolia",
    "alibaba", "aliyun", "alphavantage", "amazon", "amplitude", "apify", "appcenter", "artifactory",
    "asana", "atlassian", "auth0", "authy", "aws", "azure", "baidu", "bamboo", "beamer", "binance",
    "bitbucket", "bitfinex", "bitly", "bitmex", "bitrise", "bittrex", "blockchair", "blockfrost",
    "bluesky", "braintree", "brevo", "browserstack", "bugsnag", "buildkite", "bybit", "calendly",
    "cerebras", "chargebee", "checkly", "circleci", "cisco", "clarifai", "clearbit", "clerk",
    "clickhouse", "clickup", "cloudant", "cloudflare", "cloudinary", "cloudsmith", "cockroach",
    "codacy", "codecov", "coinapi", "coinbase", "coinlayer", "coinmarketcap", "confluent",
    "contentful", "contentstack", "convertkit", "copyleaks", "coveralls", "crowdin", "crowdstrike",
    "currencylayer", "customerio", "cypress", "dashlane", "databricks", "datadog", "datastax",
    "deepgram", "deepl", "deepseek", "digitalocean", "discord", "discourse", "docusign", "doppler",
    "drone", "droneci", "dropbox", "duo", "dwolla", "dynatrace", "easypost", "elasticsearch",
    "etherscan", "etsy", "eventbrite", "evernote", "exchangerate", "expo", "facebook", "fastly",
    "fauna", "figma", "finicity", "finnhub", "firebase", "firecrawl", "fitbit", "fixer", "flickr",
    "flutterwave", "flyio", "foursquare", "freshbooks", "freshdesk", "freshworks", "gcp", "gemini",
    "geocodio", "giphy", "gitlab", "gitter", "gocardless", "godaddy", "grafana", "groq", "gumroad",
    "hackerone", "harness", "harvest", "helpscout", "heroku", "hetzner", "honeybadger", "honeycomb",
    "hotjar", "hubspot", "huggingface", "ibm", "imgbb", "imgur", "infracost", "infura", "instagram",
    "intercom", "ipinfo", "ipstack", "iterable", "jenkins", "jfrog", "jira", "jumpcloud",
    "keycloak", "kickbox", "klaviyo", "kraken", "kucoin", "lark", "lastfm", "launchdarkly",
    "linear", "linkedin", "linode", "litmos", "livekit", "lob", "logdna", "loggly", "logzio",
    "lokalise", "looker", "mailchimp", "mailgun", "mailjet", "mailtrap", "mandrill", "mapbox",
    "mapquest", "marketo", "mattermost", "maxmind", "meraki", "messagebird", "mixpanel", "moesif",
    "mollie", "monday", "mongodb", "moralis", "mux", "nasa", "netlify", "newrelic", "newsapi",
    "nexmo", "ngrok", "notion", "nvidia", "nylas", "nytimes", "octopus", "okta", "onelogin",
    "onesignal", "openai", "opencage", "openrouter", "opensea", "openshift", "openweather",
    "openweathermap", "opsgenie", "optimizely", "outlook", "paddle", "pagerduty", "particle",
    "paypal", "paystack", "perplexity", "pexels", "pinecone", "pingdom", "pinterest", "pipedrive",
    "pixabay", "plaid", "planetscale", "plivo", "positionstack", "posthog", "postman", "postmark",
    "privateai", "pulumi", "pusher", "qiita", "qualtrics", "quandl", "quay", "quickbooks", "rapid7",
    "rapidapi", "razorpay", "readme", "recaptcha", "recurly", "reddit", "replicate", "resend",
    "rollbar", "runpod", "salesforce", "sauce", "saucelabs", "scaleway", "scrapingbee", "segment",
    "sendbird", "sendgrid", "sendinblue", "sentry", "serpapi", "servicenow", "shippo", "shodan",
    "shopify", "shortcut", "signalwire", "slack", "smartsheet", "snowflake", "snyk", "solarwinds",
    "sonar", "sonarcloud", "sonarqube", "soundcloud", "splunk", "spotify", "squarespace",
    "stability", "statuspage", "steam", "storyblok", "strava", "stripe", "sumo", "sumologic",
    "supabase", "surveymonkey", "tableau", "tailscale", "teamwork", "telegram", "telnyx", "tencent",
    "terraform", "tiktok", "tmdb", "todoist", "tomtom", "travis", "travisci", "trello", "tumblr",
    "twilio", "twitch", "twitter", "typeform", "unsplash", "upstash", "uptimerobot", "vercel",
    "virustotal", "vonage", "vultr", "wakatime", "weatherapi", "weatherstack", "webex", "webflow",
    "wechat", "whatsapp", "wistia", "wolfram", "woocommerce", "workday", "wrike", "xero", "yahoo",
    "yandex", "yelp", "youtube", "zapier", "zendesk", "zeplin", "zoho", "zoom", "zoominfo", "zulip",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_lower() {
        assert!(NAMES.is_sorted());
        assert!(NAMES.iter().all(
            |name| name.len() <= LONGEST_NAME && !name.bytes().any(|b| b.is_ascii_uppercase())
        ));
        assert!(is_vendor("NETLIFY") && is_vendor("Finicity") && !is_vendor("value"));
    }
}
