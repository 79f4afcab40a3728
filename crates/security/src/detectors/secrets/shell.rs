//! Passwords on command lines: `curl -u user:pw`, `mysql -ppw`, `sshpass -p pw`.
//!
//! The hint is the dash of a flag; the program before it says whether the flag takes a password.

use super::grammar::{Bare, Join};
use super::passphrase;
use super::value::{self, Shape};
use crate::finding::Finding;
use crate::kind::Kind;

/// How far before a flag its program may stand.
const REACH: usize = 240;
/// The longest user and password.
const LONGEST: usize = 192;

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `user:pw`
    UserAndPassword,
    /// `user%pw`, `user,pw`
    Joined(u8),
    /// `file user pw`, the last of the words.
    LastWord,
    /// `pw`
    Password,
}

/// Looks at the flag whose first dash is at `at`. Returns how many bytes were looked at, and up to
/// where no other flag need be looked at.
pub(super) fn confirm(text: &str, at: usize, out: &mut Vec<Finding>) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (value, takes) = match flag(bytes, at) {
        Ok(flag) => flag,
        Err(cost) => return (cost, at),
    };
    let Some((mut start, mut end)) = argument(bytes, value) else { return (8, at) };
    let cost = 2 * REACH + 2 * (end - start);
    if end - start < 4 && takes != Takes::LastWord {
        return (cost, at);
    }
    let mut user = "";
    if takes == Takes::LastWord {
        let Some(last) = last_word(bytes, value) else { return (cost, at) };
        (start, end) = last;
    }
    if let Takes::Joined(sign) = takes {
        let Some(joint) = memchr::memchr(sign, &bytes[start..end]) else { return (cost, at) };
        start += joint + 1;
    }
    if takes == Takes::UserAndPassword {
        let Some(pair) = text.get(start..end) else { return (cost, at) };
        let Some(colon) = pair.find(':') else { return (cost, at) };
        user = &pair[..colon];
        start += colon + 1;
        // `kevin:'pw'`
        if start == value + colon + 1
            && let Some(&quote @ (b'\'' | b'"')) = bytes.get(start)
            && let Some(len) =
                memchr::memchr(quote, &bytes[start + 1..bytes.len().min(start + LONGEST)])
        {
            (start, end) = (start + 1, start + 1 + len);
        }
        // `-u token:`: the user is the secret.
        if start >= end {
            let shape = Shape::of(user);
            let is_key = shape.len >= 8 && shape.digits > 0 && shape.letters() > 0;
            if is_key && !value::is_reference(user) && !value::is_stand_in(user) {
                let (start, end) = (start - 1 - user.len(), start - 1);
                out.push(Finding { start, end, kind: Kind::Secret, rule: "command_line" });
            }
            return (cost, end);
        }
    }
    if text.get(start..end).is_some_and(|password| is_password(password, user, takes)) {
        out.push(Finding { start, end, kind: Kind::Password, rule: "command_line" });
    }
    (cost, end)
}

/// Programs, by how a word of theirs begins.
#[derive(Debug, Clone, Copy)]
struct Programs {
    beginnings: &'static [&'static [u8]],
    /// The first bytes of them: most words have another one.
    first: u128,
}

impl Programs {
    const fn of(beginnings: &'static [&'static [u8]]) -> Self {
        let (mut first, mut i) = (0, 0);
        while i < beginnings.len() {
            first |= 1 << beginnings[i][0];
            i += 1;
        }
        Self { beginnings, first }
    }

    fn begin(&self, word: &[u8]) -> bool {
        word.first().is_some_and(|byte| self.first >> (byte & 127) & 1 != 0)
            && self.beginnings.iter().any(|beginning| word.starts_with(beginning))
    }
}

/// Where the value of the flag at `at` begins, and what it is; or what the look cost.
fn flag(bytes: &[u8], at: usize) -> Result<(usize, Takes), usize> {
    const CHEAP: usize = 8;
    const WEB: Programs = Programs::of(&[b"curl", b"wget", b"http ", b"https "]);
    const OTHERS: Programs = Programs::of(&[
        b"sshpass",
        b"login ",
        b"unlock-keychain",
        b"set-key-partition-list",
        b"cqlsh",
        b"psexec",
        b"schtasks",
        b"ncftp",
        b"twine",
        b"hydra",
        b"impala",
        b"beeline",
        b"nuget",
        b"rdesktop",
        b"clickhouse",
        b"wine",
        b"az ad",
        b"useradd",
        b"mongo",
        b"mysql",
        b"redis-cli",
        b"plink",
        b"isql",
    ]);
    /// Archives' programs take the password without a blank.
    const ARCHIVES: Programs =
        Programs::of(&[b"mysql", b"mariadb", b"mongo", b"7z ", b"7za ", b"rar ", b"unrar "]);
    const UPPER_P: Programs = Programs::of(&[
        b"sqlcmd",
        b"bcp ",
        b"isql",
        b"osql",
        b"tsql",
        b"mosquitto_",
        b"zip ",
        b"unzip ",
        b"ipmitool",
        b"ipmi",
        b"jmx",
        b"wget",
        b"fping",
    ]);
    const SNMP: Programs = Programs::of(&[
        b"snmpget",
        b"snmpwalk",
        b"snmpset",
        b"snmpbulk",
        b"snmpgetnext",
        b"snmptrap",
    ]);
    const SAMBA: Programs = Programs::of(&[
        b"smbclient",
        b"rpcclient",
        b"net rpc",
        b"net ads",
        b"smbget",
        b"smbmap",
        b"wmic",
    ]);
    let before = at.checked_sub(1).map_or(b' ', |i| bytes[i]);
    if !matches!(before, b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'[') {
        return Err(CHEAP);
    }
    // A flag that begins like a shorter one stands before it.
    const FLAGS: &[(&[u8], Takes, Programs)] = &[
        (b"-u", Takes::UserAndPassword, WEB),
        (b"-u", Takes::Joined(b','), Programs::of(&[b"lftp"])),
        (b"-U", Takes::Joined(b'%'), SAMBA),
        (b"-U", Takes::UserAndPassword, WEB),
        (b"--user", Takes::Joined(b'%'), SAMBA),
        (b"--user", Takes::UserAndPassword, WEB),
        (b"--proxy-user", Takes::UserAndPassword, WEB),
        (b"-pw", Takes::Password, Programs::of(&[b"plink", b"pscp", b"psftp", b"putty", b"kitty"])),
        (b"-p", Takes::Password, OTHERS),
        (b"-a", Takes::Password, Programs::of(&[b"redis-cli", b"http ", b"https "])),
        (b"-a", Takes::UserAndPassword, Programs::of(&[b"http ", b"https "])),
        (b"-P", Takes::Password, UPPER_P),
        (
            b"-w",
            Takes::Password,
            Programs::of(&[b"ldap", b"add-generic-password", b"add-internet-password"]),
        ),
        (b"-k", Takes::Password, Programs::of(&[b"openssl enc", b"openssl aes"])),
        (b"-A", Takes::Password, SNMP),
        (b"-X", Takes::Password, SNMP),
        (b"-c", Takes::Password, SNMP),
        (b"-nb", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-bn", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-Bbn", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-nbB", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-bnB", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-cb", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-bc", Takes::LastWord, Programs::of(&[b"htpasswd"])),
        (b"-b", Takes::LastWord, Programs::of(&[b"htpasswd", b"mosquitto_passwd"])),
    ];
    let rest = &bytes[at..];
    let mut command: Option<&[u8]> = None;
    // `-sSu`: of several flags in one the last one takes the value.
    let letters = rest[1..].iter().take(4).take_while(|b| b.is_ascii_alphabetic()).count();
    if letters > 1 && rest[..=letters].ends_with(b"u") && rest.get(letters + 1) == Some(&b' ') {
        let command = command_before(bytes, at);
        return has_program(command, WEB)
            .then_some((at + letters + 2, Takes::UserAndPassword))
            .ok_or(CHEAP + 2 * command.len());
    }
    for &(flag, takes, mut programs) in FLAGS {
        let Some(behind) = rest.strip_prefix(flag) else { continue };
        let blanks = behind.iter().take_while(|b| matches!(b, b' ' | b'=')).count();
        if blanks == 0 {
            match (takes, flag.len()) {
                // `mysql -ppw`, `curl -uuser:pw`
                (Takes::Password, 2) if flag == b"-p" => programs = ARCHIVES,
                (Takes::UserAndPassword, 2) => {}
                _ => continue,
            }
        }
        // Several programs have the same flag for other things.
        let command = command.get_or_insert_with(|| command_before(bytes, at));
        if has_program(command, programs) {
            return Ok((at + flag.len() + blanks, takes));
        }
    }
    Err(command.map_or(CHEAP, |command| CHEAP + 2 * command.len()))
}

/// The last of two words or more that begin at `at`, up to the end of the command.
fn last_word(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut last = None;
    let (mut at, mut words) = (at, 0);
    while words < 4 {
        let ends =
            matches!(bytes.get(at), None | Some(b'\n' | b'\r' | b'|' | b'>' | b';' | b'&' | b'<'));
        let Some((start, end)) = argument(bytes, at).filter(|(start, end)| !ends && start < end)
        else {
            break;
        };
        words += 1;
        last = (words > 1).then_some((start, end));
        at = end + usize::from(start > at);
        at += bytes[at..].iter().take(8).take_while(|b| **b == b' ').count();
    }
    last
}

/// The argument that begins at `at`, without its quotes.
fn argument(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &bytes[at..bytes.len().min(at + LONGEST)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    match rest.get(slashes)? {
        quote @ (b'"' | b'\'') => {
            let inner = &rest[slashes + 1..];
            let len = memchr::memchr(*quote, inner)?;
            let slashes_behind = inner[..len].iter().rev().take_while(|b| **b == b'\\').count();
            let start = at + slashes + 1;
            Some((start, start + len - slashes_behind))
        }
        _ => Some((
            at,
            Bare::default().end(&bytes[..bytes.len().min(at + LONGEST)], at, Join::Space),
        )),
    }
}

/// What stands before the flag at `at` in its command.
fn command_before(bytes: &[u8], at: usize) -> &[u8] {
    let before = &bytes[at.saturating_sub(REACH)..at];
    // Up to the start of the command; a line may go on behind a backslash.
    let mut from = before.len();
    while let Some(end) = memchr::memrchr(b'\n', &before[..from]) {
        if !before[..end].ends_with(b"\\") {
            break;
        }
        from = end;
    }
    let start = memchr::memrchr(b'\n', &before[..from]).map_or(0, |end| end + 1);
    let line = &before[start..];
    memchr::memrchr2(b'|', b';', line).map_or(line, |i| &line[i..])
}

/// Whether a word of `command` begins like one of `programs`.
fn has_program(command: &[u8], programs: Programs) -> bool {
    let mut begins = true;
    for (i, &byte) in command.iter().enumerate() {
        if begins && byte.is_ascii_alphanumeric() && programs.begin(&command[i..]) {
            return true;
        }
        begins = !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    }
    false
}

fn is_password(password: &str, user: &str, takes: Takes) -> bool {
    if password.len() < 4
        || password.contains("://")
        || password.eq_ignore_ascii_case(user)
        || value::is_reference(password)
    {
        return false;
    }
    let shape = Shape::of(password);
    if shape.spaces > 0 || !shape.is_random() && value::is_stand_in(password) {
        return false;
    }
    // `-p 8080:80`, `-p22`: ports and other things that begin with the same letter.
    let numeric = shape.letters() == 0 && shape.specials < 2;
    if numeric && (shape.digits < 6 || takes == Takes::Password) {
        return false;
    }
    if shape.digits + shape.specials == 0 && passphrase::is_passphrase(password, false) {
        return true;
    }
    shape.digits + shape.specials > 0 || takes == Takes::UserAndPassword && shape.len >= 6
}
