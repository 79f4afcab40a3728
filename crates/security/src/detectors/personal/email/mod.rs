//! E-mail addresses.
//!
//! An `@` is also a decorator, a version separator (`react@18.2.0`), a shell prompt, a password's
//! end in a URL and an image's scale. What decides is the domain: labels that end in a known
//! top-level domain. Addresses of nobody are left alone: placeholders (`user@example.com`), senders
//! that nobody reads (`noreply@…`) and accounts of version control (`git@github.com`).

mod domains;
mod placeholders;

use super::classes::{self, lowest, mask};
use super::context::byte;
use crate::detectors::COST_OF_A_VALUE;
use crate::detectors::words::WordList;
use crate::finding::Finding;
use crate::kind::Kind;

/// The longest local part (RFC 5321, 4.5.3.1.1).
const LONGEST_LOCAL: usize = 64;
/// How far an address's domain is read.
const LONGEST_DOMAIN: usize = 120;
/// How far back a URL is looked for that the address would be a part of.
const URL_REACH: usize = 128;

/// Pushes the address around the `@` at `at` to `out`, if there is one. Returns what the look cost, in
/// about nanoseconds.
pub(crate) fn confirm(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    // Most uses of `@` in code fail here: there is nothing before it, or no dot behind it.
    if at == 0 || !is_local(bytes, at - 1) {
        return 4;
    }
    if !domains::has_dot(bytes, at + 1, LONGEST_DOMAIN) {
        return 8;
    }
    let Some(start) = local_start(text, at) else { return 8 };
    let Some(domain) = domains::read(text, at + 1, LONGEST_DOMAIN) else { return 16 };
    let end = domain.end;
    if !is_address(bytes, start, end)
        || placeholders::is_nobody(bytes, start, at, domain)
        || is_account(bytes, start, at, end)
        || in_url_authority(bytes, start)
    {
        return 80;
    }
    out.push(Finding { start, end, kind: Kind::Email, rule: "email" });
    COST_OF_A_VALUE
}

/// Where the local part before `at` starts.
fn local_start(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(LONGEST_LOCAL);
    let (mut start, mut has_dots) = (at, false);
    loop {
        let letters = bytes[floor..start].iter().rev();
        start -= letters.take_while(|b| matches!(LOCAL[usize::from(**b)], Local::Yes)).count();
        if start == floor || !is_local(bytes, start - 1) {
            break;
        }
        start -= 1;
        has_dots |= bytes[start] == b'.' && bytes[start + 1] == b'.';
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    // The letter of an escape belongs to the escape: `"\nada@…"`.
    if start > 0 && bytes[start - 1] == b'\\' && matches!(byte(bytes, start), b'n' | b't' | b'r') {
        start += 1;
    }
    // `%20ada@…` and `%3Cada@…` in a URL.
    if bytes[start] == b'%'
        && start + 3 < at
        && bytes[start + 1..start + 3].iter().all(u8::is_ascii_hexdigit)
    {
        start += 3;
    }
    while start < at && matches!(bytes[start], b'.' | b'-' | b'+' | b'%' | b'\'' | b'&' | b'*') {
        start += 1;
    }
    // Markdown's emphasis around the address.
    while start < at && bytes[start] == b'_' && bytes[start + 1..at].first() == Some(&b'_') {
        start += 1;
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    if start >= at {
        return None;
    }
    let local = &bytes[start..at];
    let has_dots = has_dots && local.windows(2).any(|pair| pair == b"..");
    let clean = local.last() != Some(&b'.') && !has_dots;
    clean.then_some(start)
}

/// Whether the byte at `i` can be a local part's.
#[inline]
fn is_local(bytes: &[u8], i: usize) -> bool {
    match LOCAL[usize::from(bytes[i])] {
        Local::Yes | Local::Dot => true,
        Local::No => false,
        Local::Perhaps => is_local_here(bytes, i),
    }
}

/// The same of what only some neighbours let be one.
fn is_local_here(bytes: &[u8], i: usize) -> bool {
    match bytes[i] {
        0x80..=0xBF => i > 0 && (0xC3..=0xDF).contains(&bytes[i - 1]),
        // O'Brien, d'Angelo: elsewhere an apostrophe is a quote.
        _ => {
            let one = i.checked_sub(1).map_or(0, |i| bytes[i]);
            let two = i.checked_sub(2).map_or(0, |i| bytes[i]);
            matches!(one, b'o' | b'O' | b'd' | b'D')
                && !two.is_ascii_alphanumeric()
                && byte(bytes, i + 1).is_ascii_alphabetic()
        }
    }
}

/// Whether a byte can be a local part's.
#[derive(Clone, Copy)]
enum Local {
    Yes,
    No,
    Dot,
    Perhaps,
}

static LOCAL: [Local; 256] = {
    let mut local = [Local::No; 256];
    let mut byte = 0;
    while byte < 256 {
        local[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Local::Yes,
            b'_' | b'-' | b'+' | b'%' | b'&' | b'*' => Local::Yes,
            b'.' => Local::Dot,
            // Letters with diacritics and those of the scripts before the punctuation of block 0x20.
            0xC3..=0xDF => Local::Yes,
            0x80..=0xBF | b'\'' => Local::Perhaps,
            _ => Local::No,
        };
        byte += 1;
    }
    local
};

/// Whether what stands around the address lets it be one.
fn is_address(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map_or(0, |i| bytes[i]);
    let next = byte(bytes, end + 1);
    let open = match byte(bytes, end) {
        // A call, an index, an assignment to a member, another `@`: code.
        b'(' | b'[' | b'@' | b'_' => false,
        b'=' => next != b'=' && next != b' ',
        b'-' => !next.is_ascii_alphanumeric(),
        // `ada@acme.com.Thanks`: the next sentence, without its space.
        b'.' => !next.is_ascii_alphanumeric() || next.is_ascii_uppercase(),
        _ => true,
    };
    open && !matches!(before, b'$' | b'}' | b'@' | b'#')
}

/// Whether it is an account of a machine: `git@github.com:owner/name`, `scp a b@host:/path`,
/// `ssh b@host`.
fn is_account(bytes: &[u8], start: usize, at: usize, end: usize) -> bool {
    static SYSTEM: WordList = WordList::new(&[
        "azureuser",
        "centos",
        "cvs",
        "daemon",
        "debian",
        "ec2-user",
        "git",
        "hg",
        "nobody",
        "pi",
        "postgres",
        "root",
        "svn",
        "ubuntu",
        "vagrant",
        "www-data",
    ]);
    if SYSTEM.has_bytes(&bytes[start..at]) {
        return true;
    }
    let is_path = || {
        let rest = &bytes[end..bytes.len().min(end + 80)];
        let word_len = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
        matches!(byte(bytes, end + 1), b'/' | b'~' | b'.') || rest[..word_len].ends_with(b".git")
    };
    byte(bytes, end) == b':' && is_path() || behind_remote_command(bytes, start)
}

/// Whether the line's words before `start` are a remote shell's command.
fn behind_remote_command(bytes: &[u8], start: usize) -> bool {
    const REACH: usize = 40;
    const COMMANDS: [&[u8]; 5] = [b"ssh", b"scp", b"sftp", b"mosh", b"ssh-copy-id"];
    let mut padded = [0; 48];
    let window = classes::before(bytes, start, &mut padded);
    let line_ends = mask(window, |b| classes::either(b, b'\n', b'\n'));
    // Where the line begins.
    let floor = (u64::BITS - line_ends.leading_zeros()) as usize;
    let floor = floor.max(window.len() - REACH.min(start));
    let mut spaces = mask(window, |b| classes::either(b, b' ', b' ')) & !lowest(floor);
    if spaces == 0 {
        return false;
    }
    let lasts = mask(window, |b| classes::either(b, b'h', b'p') | classes::either(b, b'd', b'd'));
    spaces &= (lasts & !lowest(floor)) << 1;
    while spaces != 0 {
        let line = &window[floor..spaces.trailing_zeros() as usize];
        spaces &= spaces - 1;
        let is_command = |command: &[u8]| {
            let before = line.strip_suffix(command);
            before.is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric))
        };
        if COMMANDS.into_iter().any(is_command) {
            return true;
        }
    }
    false
}

/// Whether the address is the user and host of a URL: `https://ada:word@host.example/`.
fn in_url_authority(bytes: &[u8], start: usize) -> bool {
    let floor = start.saturating_sub(URL_REACH);
    let before = &bytes[floor..start];
    for (i, byte) in before.iter().enumerate().rev() {
        match byte {
            b'/' => return i >= 2 && before[i - 1] == b'/' && before[i - 2] == b':',
            b' ' | b'"' | b'\'' | b'<' | b'>' | b'\n' | b'\t' | b'?' | b'=' | b',' | b'(' => {
                return false;
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut out = Vec::new();
        for at in memchr::memchr_iter(b'@', text.as_bytes()) {
            confirm(text, at, &mut out);
        }
        let found: Vec<_> = out.iter().map(|finding| &text[finding.range()]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn addresses_of_people_are_found() {
        for (text, value) in [
            ("Author: Zoe Williams <perry+git@outlook.com>\n", "perry+git@outlook.com"),
            ("user=nicole_acosta@gmail.com ip=1", "nicole_acosta@gmail.com"),
            ("('Roy','parker+git@helvetia-data.ch','x')", "parker+git@helvetia-data.ch"),
            ("Write to Hugo.Harikkala@JOURRAPIDE.com.", "Hugo.Harikkala@JOURRAPIDE.com"),
            ("mailto:ada.lovelace@analytical.co.uk?subject=x", "ada.lovelace@analytical.co.uk"),
            (r#""text\nada@kestrel-labs.com\tx""#, "ada@kestrel-labs.com"),
            ("mail jürgen.müller@bücher.de now", "jürgen.müller@bücher.de"),
            ("an o'brien@eircom.ie wrote", "o'brien@eircom.ie"),
            ("GET /users/ada%40x?mail=bob@proton.me&x=1", "bob@proton.me"),
            ("bob@proton.me:hunter2", "bob@proton.me"),
            ("**ada@proton.me**", "ada@proton.me"),
            ("I'm at ada@proton.me.Thanks", "ada@proton.me"),
            ("x@mail.xn--bcher-kva.example.org", ""),
            ("jensen37@example.org", "jensen37@example.org"),
            ("qjackson@example.com", "qjackson@example.com"),
            ("write to stephanie.moore@example.net", "stephanie.moore@example.net"),
            ("info@brightwater.io", "info@brightwater.io"),
            ("mail: wiebke@corp.acme.museum", "wiebke@corp.acme.museum"),
        ] {
            let expected = [value];
            check(text, if value.is_empty() { &[] } else { &expected });
        }
    }

    #[test]
    fn other_uses_of_the_sign_are_nothing() {
        for text in [
            "@app.route('/x')",
            "  yaml@2.9.0:",
            "'@types/react@19.2.18'(react@19.2.8)",
            "foo@2x.png icon@3x.webp",
            "contact: user@example.com, noreply@example.org",
            "john.doe@example.com jane@test.com foo@bar.com",
            "noreply@github.com no-reply@service.io",
            "git@github.com:owner/name.git",
            "deploy@build.acme.io:/var/www",
            "ssh -i key.pem ada@build.acme.io",
            "https://ada:secret@build.acme.io/x",
            "postgres://app:p4ss@db.acme.com:5432/x",
            "return@forEach this@Main.it(x)",
            "q@k.mT W@x.to(device) a@b.T",
            "user@host:~$ ls",
            "%s@%s.com {name}@{domain}.com $USER@acme.com ${x}@acme.com",
            "image: registry.local/app@sha256:c7c11ee911a4",
            "uses: actions/checkout@v4 release@latest",
            "a@b a@b.c x@y.z",
            "you@yourdomain.com your.email@company.com",
            "https://medium.com/@ada.lovelace",
            "41898282+github-actions[bot]@users.noreply.github.com",
            "@Entity class A { @Column(name = \"x\") }",
        ] {
            check(text, &[]);
        }
    }
}
