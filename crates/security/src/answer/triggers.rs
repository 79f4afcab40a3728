//! The words at which the analysis looks closer: one pass over a segment finds them all.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// What a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A URL may begin here: this is how long its scheme is.
    Link(usize),
    /// A URL may begin behind this.
    LinkBehind,
    /// A command that talks to a host that need not be written as a URL.
    Command,
    /// A command whose output may be given to one that talks to a host.
    Pipe,
    /// A function or an object that talks to a host.
    Fetch,
    /// A command or code that may do harm.
    Harm,
    /// Something secret may follow on the line.
    Secret,
}

const TABLE: &[(&str, Trigger)] = &[
    ("http:", Trigger::Link(5)),
    ("https:", Trigger::Link(6)),
    ("ftp:", Trigger::Link(4)),
    ("ftps:", Trigger::Link(5)),
    ("ws:", Trigger::Link(3)),
    ("wss:", Trigger::Link(4)),
    ("www.", Trigger::Link(0)),
    ("](//", Trigger::LinkBehind),
    ("=\"//", Trigger::LinkBehind),
    ("='//", Trigger::LinkBehind),
    ("(\"//", Trigger::LinkBehind),
    ("('//", Trigger::LinkBehind),
    ("]: //", Trigger::LinkBehind),
    ("curl", Trigger::Command),
    ("wget", Trigger::Command),
    ("nslookup", Trigger::Command),
    ("dig ", Trigger::Command),
    ("host ", Trigger::Command),
    ("ping ", Trigger::Command),
    ("invoke-webrequest", Trigger::Command),
    ("invoke-restmethod", Trigger::Command),
    ("iwr ", Trigger::Command),
    ("irm ", Trigger::Command),
    ("nc ", Trigger::Command),
    ("ncat ", Trigger::Command),
    ("netcat ", Trigger::Command),
    ("scp ", Trigger::Command),
    ("rsync ", Trigger::Command),
    ("sftp ", Trigger::Command),
    ("telnet ", Trigger::Command),
    ("httpie", Trigger::Command),
    ("start-bitstransfer", Trigger::Command),
    ("resolve-dnsname", Trigger::Command),
    ("echo ", Trigger::Pipe),
    ("printf ", Trigger::Pipe),
    ("cat ", Trigger::Pipe),
    ("fetch(", Trigger::Fetch),
    ("requests.", Trigger::Fetch),
    ("httpx.", Trigger::Fetch),
    ("axios", Trigger::Fetch),
    ("aiohttp", Trigger::Fetch),
    ("session.post", Trigger::Fetch),
    ("session.get", Trigger::Fetch),
    ("client.post", Trigger::Fetch),
    ("client.get", Trigger::Fetch),
    ("urllib", Trigger::Fetch),
    ("urlopen", Trigger::Fetch),
    ("http.get", Trigger::Fetch),
    ("http.post", Trigger::Fetch),
    ("http.newrequest", Trigger::Fetch),
    ("http.request", Trigger::Fetch),
    ("https.get", Trigger::Fetch),
    ("https.request", Trigger::Fetch),
    ("xmlhttprequest", Trigger::Fetch),
    (".open(\"", Trigger::Fetch),
    (".open('", Trigger::Fetch),
    ("sendbeacon", Trigger::Fetch),
    ("new image", Trigger::Fetch),
    (".src", Trigger::Fetch),
    ("websocket(", Trigger::Fetch),
    ("eventsource(", Trigger::Fetch),
    ("location.href", Trigger::Fetch),
    ("window.open", Trigger::Fetch),
    ("webclient", Trigger::Fetch),
    ("httpclient", Trigger::Fetch),
    ("reqwest", Trigger::Fetch),
    ("net::http", Trigger::Fetch),
    ("file_get_contents", Trigger::Fetch),
    ("curl_setopt", Trigger::Fetch),
    ("$.get", Trigger::Fetch),
    ("$.post", Trigger::Fetch),
    ("$.ajax", Trigger::Fetch),
    ("gethostbyname", Trigger::Fetch),
    ("rm ", Trigger::Harm),
    ("rmtree(", Trigger::Harm),
    ("rmsync(", Trigger::Harm),
    ("remove-item", Trigger::Harm),
    ("del /", Trigger::Harm),
    ("rd /", Trigger::Harm),
    ("rmdir /", Trigger::Harm),
    ("format c:", Trigger::Harm),
    ("(){", Trigger::Harm),
    ("() {", Trigger::Harm),
    ("%0|%0", Trigger::Harm),
    ("/dev/tcp/", Trigger::Harm),
    ("/dev/udp/", Trigger::Harm),
    ("mkfifo", Trigger::Harm),
    ("dup2(", Trigger::Harm),
    ("fsockopen(", Trigger::Harm),
    ("tcpsocket", Trigger::Harm),
    ("sockets.tcpclient", Trigger::Harm),
    ("socat ", Trigger::Harm),
    ("chmod ", Trigger::Harm),
    ("chown ", Trigger::Harm),
    ("dd ", Trigger::Harm),
    ("mkfs", Trigger::Harm),
    ("wipefs", Trigger::Harm),
    ("shred ", Trigger::Harm),
    ("> /dev/", Trigger::Harm),
    (">/dev/", Trigger::Harm),
    ("mppreference", Trigger::Harm),
    ("windefend", Trigger::Harm),
    ("systemctl ", Trigger::Harm),
    ("service ", Trigger::Harm),
    ("advfirewall", Trigger::Harm),
    ("csrutil disable", Trigger::Harm),
    ("spctl --master-disable", Trigger::Harm),
    ("amsi", Trigger::Harm),
    ("vssadmin", Trigger::Harm),
    ("wbadmin", Trigger::Harm),
    ("bcdedit", Trigger::Harm),
    ("stratum+", Trigger::Harm),
    ("xmrig", Trigger::Harm),
    ("minerd ", Trigger::Harm),
    ("coinhive", Trigger::Harm),
    ("eval", Trigger::Harm),
    ("exec(", Trigger::Harm),
    ("function(atob", Trigger::Harm),
    ("base64 -", Trigger::Harm),
    ("frombase64string", Trigger::Harm),
    ("powershell", Trigger::Harm),
    ("pwsh", Trigger::Harm),
    ("mimikatz", Trigger::Harm),
    ("sekurlsa", Trigger::Harm),
    ("lsass", Trigger::Harm),
    ("hklm\\sam", Trigger::Harm),
    ("certutil", Trigger::Harm),
    ("mshta", Trigger::Harm),
    ("regsvr32", Trigger::Harm),
    ("bitsadmin", Trigger::Harm),
    ("authorized_keys", Trigger::Harm),
    ("downloadstring", Trigger::Harm),
    ("system(", Trigger::Harm),
    ("shell_exec(", Trigger::Harm),
    ("passthru(", Trigger::Harm),
    ("assert(", Trigger::Harm),
    ("passw", Trigger::Secret),
    ("pwd", Trigger::Secret),
    ("passphrase", Trigger::Secret),
    ("secret", Trigger::Secret),
    ("token", Trigger::Secret),
    ("api", Trigger::Secret),
    ("key", Trigger::Secret),
    ("credential", Trigger::Secret),
    ("bearer", Trigger::Secret),
    ("auth", Trigger::Secret),
    ("login", Trigger::Secret),
    ("identified by", Trigger::Secret),
    ("-----begin", Trigger::Secret),
    ("://", Trigger::Secret),
];

static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .build(TABLE.iter().map(|(word, _)| word))
        .ok()
});

/// Makes the automaton, which otherwise the first answer has to wait for.
pub(crate) fn warm() {
    LazyLock::force(&WORDS);
}

/// The triggers in `text`, with their places, in the order in which they end. Those that are words
/// begin where a word may begin.
pub(super) fn triggers(text: &str) -> impl Iterator<Item = (usize, &'static str, Trigger)> {
    let words = WORDS.as_ref();
    let found = words.into_iter().flat_map(move |words| words.find_overlapping_iter(text));
    found.filter_map(move |found| {
        let (word, trigger) = TABLE[found.pattern().as_usize()];
        let is_word =
            matches!(trigger, Trigger::Command | Trigger::Pipe | Trigger::Harm | Trigger::Link(_));
        let within = is_word
            && word.as_bytes()[0].is_ascii_alphanumeric()
            && found.start() > 0
            && text.as_bytes()[found.start() - 1].is_ascii_alphanumeric();
        // `\n` in text that is still escaped is a line break.
        let after_escape =
            within && found.start() > 1 && text.as_bytes()[found.start() - 2] == b'\\';
        (!within || after_escape).then_some((found.start(), word, trigger))
    })
}

/// How much of a line has to be seen before its beginning can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing more.
    Nothing,
    /// What follows a word.
    More,
    /// All of it.
    Line,
}

/// How far behind a word its value may begin.
pub(super) const REACH: usize = 24;

/// How much of the rest of its line has to be seen with `text`.
pub(super) fn need(text: &str) -> Need {
    let mut need = Need::Nothing;
    for (at, word, trigger) in triggers(text) {
        match trigger {
            Trigger::Harm => {}
            Trigger::Secret if word == "-----begin" => return Need::Line,
            Trigger::Secret => {
                let behind = &text.as_bytes()[at + word.len()..];
                let near = &behind[..behind.len().min(REACH)];
                if near.iter().any(|byte| matches!(byte, b'=' | b':' | b'"' | b'\'' | b'`' | b'('))
                {
                    return Need::Line;
                }
                if memchr::memmem::find(near, b" is ").is_some() {
                    return Need::Line;
                }
                if behind.len() < REACH {
                    need = Need::More;
                }
            }
            _ => return Need::Line,
        }
    }
    need
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_go_on_is_waited_for() {
        for (text, expected) in [
            ("The weather is fine, and the firm is async ", Need::Nothing),
            ("see https://a.io ", Need::Line),
            ("then run curl ", Need::Line),
            ("the password ", Need::More),
            ("the password is ", Need::Line),
            ("export API_KEY=", Need::Line),
            ("the keynote speaker of the conference spoke ", Need::Nothing),
        ] {
            assert_eq!(need(text), expected, "{text}");
        }
    }
}
