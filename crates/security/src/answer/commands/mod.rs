//! Commands and code that do harm when they run.
//!
//! Each word that harm begins with is looked at with the line around it. What ordinary answers hold
//! is no harm: removing a build folder, an installer that everybody pipes into a shell, a flashed
//! stick. A line that warns of a command is no harm either.

mod known;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::known::{GUARDS, INSTALLERS, SYSTEM};
use super::exfiltration::statement;
use super::links::{is_harmless, link_at};
use super::request::Request;
use super::triggers::Trigger;

/// Whether `text` holds a command or code that does harm, at one of `triggers` that ends behind
/// `from`.
pub(super) fn does_harm(
    text: &str,
    from: usize,
    triggers: &[(usize, &'static str, Trigger)],
    request: &mut Request,
) -> bool {
    let may_harm = |trigger: &Trigger| matches!(trigger, Trigger::Harm | Trigger::Command);
    let places = triggers.iter().rev().copied().filter(|(_, _, trigger)| may_harm(trigger));
    // Looks overlap where a line is full of such words: together they may read so much.
    let mut room = MOST_READ * (text.len() + WIDEST);
    for (at, word, trigger) in places {
        let place = line_around(text, at);
        room = room.saturating_sub(place.len() + LOOK);
        let is_harm = place.end > from
            && match trigger {
                Trigger::Harm => harms(text, place, at, word, request),
                _ => runs_foreign_code(text, place, at, request),
            };
        if is_harm && !is_warned_of(text, at) {
            return true;
        }
        if room == 0 {
            return false;
        }
    }
    false
}

/// How often a text is read at most. A script with a command on each line is read twice.
const MOST_READ: usize = 4;
/// What a look costs beside its statement, in bytes.
const LOOK: usize = 64;

/// How much of a statement is looked at on either side of a word.
const WIDEST: usize = 512;

/// The statement around `at`, or as much of it as matters.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text.ceil_char_boundary(at.saturating_sub(WIDEST));
    let end = text.floor_char_boundary((at + WIDEST).min(text.len()));
    let place = statement(&text[start..end], at - start);
    start + place.start..start + place.end
}

/// Whether the harm that `word` may begin is there.
fn harms(text: &str, place: Range<usize>, at: usize, word: &str, request: &mut Request) -> bool {
    let behind = &text[at..place.end];
    let line = &text[place];
    let lower = line.to_ascii_lowercase();
    let has = |what: &str| lower.contains(what);
    let has_shell = || {
        ["/bin/sh", "/bin/bash", "bash -i", "sh -i", "cmd.exe", "pty.spawn", "/bin/zsh"]
            .iter()
            .any(|shell| has(shell))
    };
    match word {
        "rm " => removes_system(behind),
        "rmtree(" | "rmsync(" => {
            let argument = behind[word.len()..].trim_start_matches(['"', '\'']);
            argument.starts_with("/\"")
                || argument.starts_with("/'")
                || argument.starts_with("C:\\\\\"")
        }
        "remove-item" => has("-recurse") && removes_drive(&lower),
        "del /" | "rd /" | "rmdir /" => has("/s") && removes_drive(&lower),
        "format c:" => has("/y") || has("/q") || has("/fs") || has("format c: "),
        "(){" | "() {" => is_fork_bomb(text, at),
        "%0|%0" => true,
        "/dev/tcp/" | "/dev/udp/" => {
            has("bash -i") || has("sh -i") || has("0>&1") || has("<&1") || has("exec 5<>")
        }
        "mkfifo" => near(text, at).contains("nc ") && near(text, at).contains("/sh"),
        "dup2(" => {
            let near = near(text, at);
            near.contains("socket")
                && ["/bin/sh", "/bin/bash", "pty.spawn", "execve"].iter().any(|s| near.contains(s))
        }
        "fsockopen(" | "tcpsocket" => has_shell() && (has("exec") || has("system") || has("popen")),
        "sockets.tcpclient" => {
            let near = near(text, at);
            near.contains("invoke-expression") || near.contains("iex ") || near.contains("iex(")
        }
        "socat " => has("exec:") && has_shell(),
        "chmod " => (has("777") || has("a+rwx")) && targets_system(behind, true),
        "chown " => has("-r") && targets_system(behind, true),
        "dd " => {
            has("of=/dev/")
                && ["if=/dev/zero", "if=/dev/urandom", "if=/dev/random"]
                    .iter()
                    .any(|source| has(source))
                && is_disk(&lower, "of=")
        }
        "mkfs" | "wipefs" | "shred " => is_whole_disk(behind),
        "> /dev/" | ">/dev/" => is_disk(&behind.replace(' ', "").to_ascii_lowercase(), ">"),
        "mppreference" => has("disable") && has("$true"),
        "windefend" | "systemctl " | "service " => {
            ["stop", "disable", "mask", "delete", "kill"].iter().any(|verb| has(verb))
                && GUARDS.iter().any(|guard| has(guard))
        }
        "advfirewall" => has("state off"),
        "csrutil disable" | "spctl --master-disable" => true,
        "amsi" => has("amsiinitfailed") || has("amsiscanbuffer") && has("patch"),
        "vssadmin" => has("delete shadows"),
        "wbadmin" => has("delete"),
        "bcdedit" => has("recoveryenabled no") || has("ignoreallfailures"),
        "stratum+" => has("stratum+tcp://") || has("stratum+ssl://"),
        "xmrig" => {
            has("--url") || has(" -o ") || has("--coin") || has("./xmrig") || has("--donate-level")
        }
        "minerd " => has(" -o "),
        "coinhive" => has("coinhive.anonymous") || has("coinhive.min.js") || has("coinhive.user"),
        "eval" | "exec(" | "function(atob" => is_hidden_code(&behind.to_ascii_lowercase()),
        "base64 -" => decodes_into_shell(&behind.to_ascii_lowercase()),
        "frombase64string" => {
            has("iex")
                || has("invoke-expression")
                || has("assembly]::load")
                || has("memorystream") && has("gzip")
        }
        "powershell" | "pwsh" => is_encoded_command(&lower),
        "mimikatz" => has("invoke-mimikatz") || has("mimikatz.exe") || has("sekurlsa"),
        "sekurlsa" => has("sekurlsa::"),
        "lsass" => has("minidump") || has("procdump") && has("-ma"),
        "hklm\\sam" => has("reg save") || has("reg.exe save"),
        "certutil" => has("-urlcache") && has("http"),
        "mshta" => {
            has("mshta http")
                || has("mshta.exe http")
                || has("mshta vbscript")
                || has("mshta javascript")
        }
        "regsvr32" => has("/i:http"),
        "bitsadmin" => has("/transfer") && has("http") && (has("&&") || has(".exe")),
        "downloadstring" => {
            (has("iex") || has("invoke-expression")) && hosts_are_foreign(line, request)
        }
        "authorized_keys" => has("curl ") && has(">>") && hosts_are_foreign(line, request),
        "system(" | "shell_exec(" | "passthru(" | "assert(" => {
            let argument = behind[word.len()..].trim_start();
            ["$_GET", "$_POST", "$_REQUEST", "$_COOKIE"]
                .iter()
                .any(|input| argument.starts_with(input))
        }
        _ => false,
    }
}

/// The text around `at`, in lower case: for code whose parts are on several lines.
fn near(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(400));
    let end = text.ceil_char_boundary((at + 400).min(text.len()));
    text[start..end].to_ascii_lowercase()
}

/// The words of a command up to where another begins.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let end = command.find([';', '|', '&', '\n', '`', ')']).unwrap_or(command.len());
    command[..end].split([' ', '\t']).filter(|word| !word.is_empty()).skip(1)
}

/// `rm -rf /`, in all its spellings.
fn removes_system(command: &str) -> bool {
    let is_recursive = words(command).any(|word| {
        word == "--recursive"
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R'])
    });
    is_recursive && (command.contains("--no-preserve-root") || targets_system(command, false))
}

/// Whether one of a command's targets is a folder that the system cannot live without.
fn targets_system(command: &str, only_root: bool) -> bool {
    words(command).any(|word| {
        let word = word.trim_matches(['"', '\'', ',']);
        let bare = match word.trim_end_matches('*').trim_end_matches(['/', '\\']) {
            "" if word.starts_with('/') => "/",
            bare => bare,
        };
        let is_system = if only_root {
            matches!(bare, "/" | "/etc" | "/usr" | "/bin")
        } else {
            SYSTEM.contains(&bare)
        };
        // `~/*` is a home, but `/mnt` is a place to put things.
        is_system && !(bare == "/mnt" || bare == "/opt" && word != "/opt")
    })
}

/// Whether a Windows drive or its system is what is removed. `lower` is in lower case.
fn removes_drive(lower: &str) -> bool {
    lower.split([' ', '"', '\'']).any(|word| {
        let word = word.trim_end_matches('*').trim_end_matches('\\');
        matches!(
            word,
            "c:" | "d:"
                | "c:\\windows"
                | "c:\\users"
                | "%systemroot%"
                | "%systemdrive%"
                | "$env:systemroot"
                | "$env:systemdrive"
        )
    })
}

/// `name(){ name|name& };name`.
fn is_fork_bomb(text: &str, at: usize) -> bool {
    let before = &text[text.floor_char_boundary(at.saturating_sub(32))..at];
    let name = before.rsplit([' ', ';', '\n', '\t', '`', '"', '\'']).next().unwrap_or_default();
    let end = text.ceil_char_boundary((at + 64).min(text.len()));
    let body: String = text[at..end].split_whitespace().collect();
    !name.is_empty() && body.contains(&format!("{name}|{name}&"))
}

/// Whether behind `mark` a disk is written to.
fn is_disk(lower: &str, mark: &str) -> bool {
    let disks = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk"];
    lower.match_indices(mark).any(|(at, _)| {
        lower[at + mark.len()..]
            .strip_prefix("/dev/")
            .is_some_and(|name| disks.iter().any(|disk| name.starts_with(disk)))
    })
}

/// Whether a command is given a whole disk and not a partition.
fn is_whole_disk(command: &str) -> bool {
    words(command).any(|word| {
        let name = word.trim_matches(['"', '\'']).strip_prefix("/dev/");
        matches!(name, Some("sda" | "hda" | "vda" | "nvme0n1" | "mmcblk0" | "disk0"))
    })
}

/// `eval(base64_decode(…))` and its kin.
fn is_hidden_code(code: &str) -> bool {
    let end = code.ceil_char_boundary(160.min(code.len()));
    let code: String = code[..end].split_whitespace().collect();
    let Some(argument) = code.find('(').map(|open| &code[open + 1..]) else { return false };
    let argument = argument.trim_start_matches('@');
    [
        "base64_decode(",
        "gzinflate(",
        "gzuncompress(",
        "str_rot13(",
        "atob(",
        "base64.b64decode(",
        "b64decode(",
        "zlib.decompress(",
        "marshal.loads(",
        "__import__('base64')",
        "__import__(\"base64\")",
        "__import__('zlib')",
        "string.fromcharcode(",
        "unescape(",
        "compile(base64",
        "codecs.decode(",
        "bytes.fromhex(",
        "lzma.decompress(",
        "window.atob(",
        "decodeuricomponent(escape(atob(",
    ]
    .iter()
    .any(|decoder| argument.starts_with(decoder))
        || argument.starts_with("buffer.from(") && argument.contains("base64")
}

/// `echo … | base64 -d | sh`.
fn decodes_into_shell(command: &str) -> bool {
    let decodes = command.starts_with("base64 -d") || command.starts_with("base64 --decode");
    decodes && command.split('|').skip(1).any(|part| is_shell(part.trim()))
}

/// Whether a part of a pipe begins with a program that runs what it reads.
fn is_shell(part: &str) -> bool {
    let part = part.trim_start_matches("sudo ").trim_start_matches("-E ").trim_start();
    let is_end = |c: char| matches!(c, ' ' | '\n' | '`' | '"' | '\'' | ')' | ';' | '&');
    let (path, rest) = part.split_at(part.find(is_end).unwrap_or(part.len()));
    match path.rsplit('/').next().unwrap_or(path) {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "iex" | "invoke-expression" => true,
        // With an argument they run that, and only read what is piped.
        "python" | "python3" | "perl" | "node" | "ruby" | "php" => {
            matches!(rest.trim_matches(is_end), "" | "-")
        }
        _ => false,
    }
}

/// `powershell -enc …`.
fn is_encoded_command(lower: &str) -> bool {
    let mut words = lower.split([' ', '\t', '\n', '"', '\'']).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let is_switch = word.starts_with("-e") && "-encodedcommand".starts_with(word)
            || word == "-ec"
            || word.starts_with("/e") && "/encodedcommand".starts_with(word);
        if is_switch {
            return words.next().is_some_and(|code| {
                code.len() >= 24
                    && code.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
            });
        }
    }
    false
}

/// Whether code from a host that nobody named is run: `curl … | sh`, `bash <(curl …)`,
/// `iex (iwr …)`, a download from a bare address that is made executable.
fn runs_foreign_code(text: &str, place: Range<usize>, at: usize, request: &mut Request) -> bool {
    let before = text[place.start..at].to_ascii_lowercase();
    let line = &text[at..place.end];
    let lower = line.to_ascii_lowercase();
    let word = lower.split([' ', '\t', '(']).next().unwrap_or_default();
    if let "nc" | "ncat" | "netcat" = word {
        let executes =
            |word: &str| matches!(word, "-e" | "-c" | "--exec" | "-ne" | "-nve" | "-lvpe");
        return words(&lower).any(executes)
            && (lower.contains("/sh") || lower.contains("/bash") || lower.contains("cmd"))
            || lower.split('|').skip(1).any(|part| is_shell(part.trim()));
    }
    if !matches!(word, "curl" | "wget" | "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod")
    {
        return false;
    }
    let before = before.trim_end();
    let is_given_to_shell = [
        "sh <(",
        "bash <(",
        "sh -c \"$(",
        "bash -c \"$(",
        "zsh <(",
        "source <(",
        "eval \"$(",
        "eval $(",
        "eval `",
        "iex (",
        "iex(",
        "iex \"",
        "invoke-expression (",
    ]
    .iter()
    .any(|shell| before.ends_with(shell));
    // The pipe that is the command's own, not one of the next command.
    let pipe = lower.split("&&").next().and_then(|part| part.split(';').next()).unwrap_or_default();
    let is_piped = pipe.split('|').skip(1).any(|part| is_shell(part.trim()));
    let is_made_to_run = || {
        lower.contains("chmod")
            && (lower.contains("+x") || lower.contains("777") || lower.contains("755"))
    };
    if is_given_to_shell || is_piped {
        return hosts_are_foreign(line, request);
    }
    is_made_to_run() && foreign_hosts(line, request, true)
}

fn hosts_are_foreign(line: &str, request: &mut Request) -> bool {
    foreign_hosts(line, request, false)
}

/// Whether a URL on `line` leads to a host that nobody named and whose installer nobody knows.
fn foreign_hosts(line: &str, request: &mut Request, only_addresses: bool) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.match_indices("://").any(|(at, _)| {
        let Some(link) = link_at(&lower, at, 1, None) else { return false };
        let host = &lower[link.host];
        let is_address =
            host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let host = host.strip_prefix("www.").unwrap_or(host);
        !host.contains(['$', '{', '<', '%'])
            && (is_address || !only_addresses)
            && !is_harmless(host)
            && !INSTALLERS.contains(&host)
            && !request.names_host(host)
    })
}

/// Whether the text in front of a command says not to run it.
fn is_warned_of(text: &str, at: usize) -> bool {
    let start = text.floor_char_boundary(at.saturating_sub(120));
    let before = &text[start..at];
    let before = before.rsplit(['\n', '.', '!']).next().unwrap_or(before).to_ascii_lowercase();
    [
        "never",
        "don't",
        "do not",
        "avoid",
        "not run",
        "dangerous",
        "beware",
        "warning",
        "destructive",
        "instead of",
        "such as",
        "block",
        "malicious",
        "attack",
        "deny",
        "refuse",
    ]
    .iter()
    .any(|word| before.contains(word))
}
