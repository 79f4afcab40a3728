//! Passwords' hashes as files of accounts keep them: crypt(3), `htpasswd`, LDAP, Django.
//!
//! Whoever has one can try passwords at leisure. They are told by their form and looked for where a
//! password belongs or behind a user's name; a literal in code that computes hashes is none.

use crate::detectors::words::Beginnings;
use crate::finding::Finding;
use crate::kind::Kind;

/// Names of algorithms in `$name$…`.
const CRYPT: &[&str] = &[
    "1", "2a", "2b", "2x", "2y", "5", "6", "7", "8", "9", "14", "y", "gy", "md5", "sha1", "apr1",
    "argon2i", "argon2d", "argon2id", "pbkdf2", "scrypt", "P", "H", "S", "sm3",
];
/// The shortest hash behind the last `$`, and the shortest hash with its salt.
const SHORTEST_HASH: usize = 16;
const LONGEST: usize = 256;
/// The longest name of a user.
const LONGEST_USER: usize = 48;

/// Whether `written` is a whole hash.
pub(super) fn is_hash(written: &str) -> bool {
    if written.len() > LONGEST {
        return false;
    }
    let of_hash = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'+' | b'=');
    if let Some(rest) = written.strip_prefix('{') {
        let Some((name, hash)) = rest.split_once('}') else { return false };
        const LDAP: &[&str] =
            &["SHA", "SSHA", "MD5", "SMD5", "CRYPT", "PBKDF2", "SSHA512", "ARGON2"];
        let is_scheme = LDAP.iter().any(|scheme| name.eq_ignore_ascii_case(scheme));
        return is_scheme && (hash.len() >= 20 && hash.bytes().all(of_hash) || is_hash(hash));
    }
    let (name, rest) = match written.strip_prefix('$') {
        Some(rest) => match rest.split_once('$') {
            Some((name, rest)) if CRYPT.contains(&name) => (name, rest),
            _ => return false,
        },
        None => match written.split_once('$') {
            Some((name, rest)) if name.starts_with("pbkdf2_") || name.starts_with("scrypt:") => {
                (name, rest)
            }
            _ => return false,
        },
    };
    let Some(hash) = rest.rsplit('$').next() else { return false };
    if name.starts_with('2') {
        return hash.len() == 53 && hash.bytes().all(of_hash) && !is_filler(hash);
    }
    rest.contains('$')
        && hash.len() >= SHORTEST_HASH
        && hash.bytes().all(of_hash)
        && !is_filler(hash)
}

/// `PBKDF2-SHA512`, `argon2id$v19`: how a password is kept.
pub(super) fn names_algorithm(written: &str) -> bool {
    const LONGEST: usize = 24;
    static NAMES: Beginnings = Beginnings::new(&[
        "argon2", "Argon2", "ARGON2", "bcrypt", "Bcrypt", "BCrypt", "BCRYPT", "HMAC-", "hmac-",
        "MD5", "PBKDF2", "pbkdf2", "SCRAM-", "scram-", "scrypt", "Scrypt", "SCRYPT", "SHA-",
        "SHA1", "SHA2", "SHA3", "SHA5", "sha1", "sha2", "sha3", "sha5", "yescrypt",
    ]);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_/+.$=:".contains(&b);
    written.len() <= LONGEST && NAMES.begin(written) && written.bytes().all(is_plain)
}

/// `xxxxxxxxxx`, `................`
fn is_filler(hash: &str) -> bool {
    let first = hash.as_bytes()[0];
    hash.bytes().filter(|b| *b == first).count() * 3 > hash.len()
}

/// Looks at the hash behind the colon at `at`: `user:$6$…` in a line of its own. Returns up to where
/// it has looked.
pub(super) fn of_account(text: &str, at: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let start = at + 1;
    let stretch = &bytes[start..bytes.len().min(start + LONGEST)];
    let ends = |b: &u8| matches!(b, b':' | b' ' | b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'\t');
    let end = start + stretch.iter().take_while(|b| !ends(b)).count();
    let before = &bytes[at.saturating_sub(LONGEST_USER)..at];
    let is_user = |b: &u8| b.is_ascii_alphanumeric() || b"._-@$+".contains(b);
    let user = before.iter().rev().take_while(|b| is_user(b)).count();
    let outer = before.len().checked_sub(user + 1).map(|i| before[i]);
    let begins_line = matches!(outer, None | Some(b'\n' | b' ' | b'\t'))
        && is_file_of_accounts(&bytes[..at - user]);
    let ends_line =
        matches!(bytes.get(end), None | Some(b':' | b'\n' | b'\r' | b' ' | b'"' | b'\''));
    if user > 0 && begins_line && ends_line && text.get(start..end).is_some_and(is_hash) {
        out.push(Finding { start, end, kind: Kind::Secret, rule: "password_hash" });
    }
    end
}

/// Whether the lines before tell that this is a file of accounts and no literal in code: it begins
/// here, behind others of its kind, or behind what names such a file or begins one.
fn is_file_of_accounts(before: &[u8]) -> bool {
    let mut rest = before;
    for _ in 0..8 {
        let stretch = &rest[rest.len().saturating_sub(LONGEST)..];
        let Some(end) = memchr::memrchr(b'\n', stretch) else {
            return stretch.len() < LONGEST;
        };
        let start = memchr::memrchr(b'\n', &stretch[..end]).map_or(0, |i| i + 1);
        let line = stretch[start..end].trim_ascii();
        let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
        if line.is_empty() || line.starts_with(b"#") || line.ends_with(b":") || line.ends_with(b"|")
        {
            return true;
        }
        if [&b"```"[..], b"htpasswd", b"shadow", b"EOF", b"passwd"].iter().any(|word| has(word)) {
            return true;
        }
        // Another account: of the lines before it, the first one decides.
        let is_account = !line.contains(&b' ') && !line.contains(&b'"') && line.contains(&b':');
        if !is_account {
            return false;
        }
        rest = &rest[..rest.len() - (stretch.len() - start)];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_hash;

    #[test]
    fn tells_hashes_by_their_form() {
        for hash in [
            "$6$kd82mLqP$Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYzNbMxSgHjFrDlPcUvTyIeA",
            "$apr1$kd82mLqP$Zk3vT8wQm1XyB7nRfG5hJ9",
            "$2y$10$kd82mLqPZk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYzNb",
            "{SSHA}Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK",
            "pbkdf2_sha256$260000$kd82mLqP$Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYz=",
        ] {
            assert!(is_hash(hash), "{hash}");
        }
        for other in [
            "$6$",
            "$2b$12$KIXQ8m8k9m0m1l2k3j4h5u",
            "$HOME$x",
            "{SHA}",
            "$1$a$xxxxxxxxxxxxxxxxxxxxxx",
        ] {
            assert!(!is_hash(other), "{other}");
        }
    }
}
