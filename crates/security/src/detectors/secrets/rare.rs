//! Words that are rare in any text and say that a secret is near.
//!
//! Those of ASCII are found by the engine's pass, by three of their letters. They are looked at behind
//! all other hints, first [`RARE`] and what prose has, then [`SEARCHED`], each kind in a pass of its
//! own that knows nothing of what the others found.

use super::speech::{self, Noun};
use crate::detectors::Budget;

/// What a rare word hints at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// A name of a secret.
    Name,
    /// `Private-Lines`
    Putty,
    /// `IDENTIFIED BY '…'`
    Sql,
    /// A call that takes a password as its argument of this number, from 0.
    Argument(usize),
    /// The same with a key.
    Key(usize),
    /// `jwt.sign(payload, "…")`
    Jwt,
    /// `sqlplus user/…@host`
    Slash,
    /// `ftp -n`, and `user name …` in the following lines.
    Ftp,
    /// A call that takes a user and a password next to each other.
    Connect,
    /// A directive whose value stands behind it.
    Directive,
    /// `PSK "…"` behind a colon.
    Ipsec,
    /// `send "…"` behind the wait for a prompt.
    Send,
    /// `echo … | kinit`
    Echo,
    /// `user:password` in the following lines.
    Accounts,
    /// A line of PostgreSQL's password file.
    Pgpass,
    /// `user:$6$…`
    Hash,
    /// `":%s:%s@"` and its arguments.
    Format,
    /// `kind: Secret`
    Manifest,
    /// `ldap_bind($c, "cn=…", "…")`
    Bind,
    /// `user:…@tcp(host:3306)/db`
    Dsn,
    /// `Cookie: session=…`
    Cookies,
    /// `net use … password`, `net user name password`
    NetUse,
    /// `createUser name SHA "…" AES "…"`
    SnmpUser,
    /// `("admin", "…")`
    Account,
    /// `ADMIN_PIN=…`
    Pin,
    /// `/msg NickServ IDENTIFY …`
    Identify,
    /// A vendor's token that is so short that each thirtieth has no digit, which runs are told by.
    Token,
}

/// Words that are rare in any text, each with the place of the three letters that the engine's pass
/// stops at.
pub(super) const RARE: &[(&str, usize, Hint)] = &[
    ("senha", 1, Hint::Name),
    ("Senha", 1, Hint::Name),
    ("SENHA", 1, Hint::Name),
    ("contrase", 4, Hint::Name),
    ("Contrase", 4, Hint::Name),
    ("kennwort", 1, Hint::Name),
    ("Kennwort", 1, Hint::Name),
    ("wachtwoord", 0, Hint::Name),
    ("Private-Lines", 5, Hint::Putty),
    ("DENTIFIED BY ", 3, Hint::Sql),
    ("dentified by ", 3, Hint::Sql),
    (".login(", 2, Hint::Argument(1)),
    ("WiFi.begin(", 0, Hint::Argument(1)),
    ("new PDO(", 4, Hint::Argument(2)),
    ("mysqli(", 2, Hint::Argument(2)),
    ("mysqli_connect(", 2, Hint::Argument(2)),
    ("mysql_connect(", 2, Hint::Argument(2)),
    ("getConnection(", 1, Hint::Argument(2)),
];

/// The same, looked at behind those.
pub(super) const SEARCHED: &[(&str, usize, Hint)] = &[
    ("_SALT", 1, Hint::Name),
    ("_salt", 1, Hint::Name),
    ("login=", 1, Hint::Name),
    ("login(", 1, Hint::Connect),
    ("SecureString ", 4, Hint::Argument(0)),
    ("onnect(", 2, Hint::Connect),
    ("linkedsrvlogin ", 10, Hint::Connect),
    ("p_addlogin ", 6, Hint::Connect),
    ("jwt.", 0, Hint::Jwt),
    ("eateHmac(", 6, Hint::Key(1)),
    ("ipheriv(", 0, Hint::Key(1)),
    ("mac.new(", 1, Hint::Key(0)),
    ("MAC.new(", 1, Hint::Key(0)),
    ("mac.New(", 1, Hint::Key(1)),
    ("mac::Key::new(", 1, Hint::Key(1)),
    ("hash_hmac(", 7, Hint::Key(2)),
    ("SecretKeySpec(", 4, Hint::Key(0)),
    ("HMAC256(", 3, Hint::Key(0)),
    ("HMACSHA256(", 6, Hint::Key(0)),
    ("SecurityKey(", 6, Hint::Key(0)),
    ("ShaKeyFor(", 4, Hint::Key(0)),
    ("Fernet(", 0, Hint::Key(0)),
    ("AES.new(", 0, Hint::Key(0)),
    ("sym_encrypt(", 2, Hint::Argument(1)),
    ("sym_decrypt(", 5, Hint::Argument(1)),
    ("AES_ENCRYPT(", 0, Hint::Key(1)),
    ("AES_DECRYPT(", 0, Hint::Key(1)),
    ("IDENTIFY ", 4, Hint::Identify),
    ("@tcp(", 0, Hint::Dsn),
    ("ookie: ", 3, Hint::Cookies),
    ("_bind", 0, Hint::Bind),
    ("PSK \"", 0, Hint::Ipsec),
    ("EAP \"", 2, Hint::Ipsec),
    ("AUTH \"", 3, Hint::Ipsec),
    ("send \"", 3, Hint::Send),
    ("sendline(", 3, Hint::Send),
    ("echo ", 0, Hint::Echo),
    ("chpasswd", 5, Hint::Accounts),
    (":543", 0, Hint::Pgpass),
    (":*:*", 0, Hint::Pgpass),
    (":$6$", 0, Hint::Hash),
    (":$5$", 1, Hint::Hash),
    (":$1$", 0, Hint::Hash),
    (":$2y$", 0, Hint::Hash),
    (":$apr1$", 0, Hint::Hash),
    (":%s@", 0, Hint::Format),
    ("kind: Secret", 7, Hint::Manifest),
    ("net use", 0, Hint::NetUse),
    ("ommunity ", 2, Hint::Directive),
    ("reateUser ", 3, Hint::SnmpUser),
    ("sqlplus ", 0, Hint::Slash),
    ("ftp -", 0, Hint::Ftp),
    ("ftp.open(", 0, Hint::Connect),
    ("admin\", \"", 1, Hint::Account),
    ("admin', '", 1, Hint::Account),
    ("AKIA", 0, Hint::Token),
    ("glpat-", 0, Hint::Token),
    ("sk_live_", 1, Hint::Token),
    ("_PIN=", 1, Hint::Pin),
    ("_PIN = ", 1, Hint::Pin),
    ("_PIN: ", 1, Hint::Pin),
    ("createUser(", 4, Hint::Connect),
    ("CreateUser(", 4, Hint::Connect),
    ("PSW", 0, Hint::Name),
    ("psk", 0, Hint::Name),
    ("PSK", 0, Hint::Name),
];

/// What a rare word leads to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lead {
    Hint(Hint),
    /// What is told in prose.
    Told(Noun),
}

/// How many of the words of ASCII are looked at first.
const FIRST: usize = RARE.len() + speech::RARE.len();
/// How many words of ASCII there are.
const COUNT: usize = FIRST + SEARCHED.len();

/// A word of ASCII, and the place of the three letters that the pass stops at.
const fn word(index: usize) -> (&'static str, usize) {
    if index < RARE.len() {
        (RARE[index].0, RARE[index].1)
    } else if index < FIRST {
        let index = index - RARE.len();
        (speech::RARE[index].0, speech::RARE[index].1)
    } else {
        (SEARCHED[index - FIRST].0, SEARCHED[index - FIRST].1)
    }
}

/// All words of ASCII, each with the place of the three letters that the pass stops at.
#[cfg(test)]
pub(crate) fn words() -> impl Iterator<Item = (&'static str, usize)> {
    (0..COUNT).map(word)
}

/// The words by a number for their three letters, as chains: reading all words that a place does not
/// have would cost more than finding the place.
static CHAINS: ([u8; 1024], [u8; COUNT]) = {
    let (mut first, mut next) = ([NONE; 1024], [NONE; COUNT]);
    let mut index = COUNT;
    while index > 0 {
        index -= 1;
        let (word, place) = word(index);
        let [one, two, three] =
            [word.as_bytes()[place], word.as_bytes()[place + 1], word.as_bytes()[place + 2]];
        let chain = chain([one, two, three]);
        next[index] = first[chain];
        first[chain] = index as u8;
    }
    (first, next)
};
/// The end of a chain.
const NONE: u8 = u8::MAX;
const _: () = assert!(COUNT < NONE as usize);

/// A number for three letters.
#[inline]
const fn chain([one, two, three]: [u8; 3]) -> usize {
    (u32::from_le_bytes([one, two, three, 0]).wrapping_mul(0x9E37_79B1) >> 22) as usize
}

/// What keeping a word in mind costs, in about nanoseconds.
const COST_OF_A_WORD: usize = 24;

/// Rare words that were seen in a text.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<(usize, u8)>);

impl Seen {
    /// Remembers the words whose three letters are at `at`, as far as `budget` reaches.
    #[inline]
    pub(super) fn look(&mut self, bytes: &[u8], at: usize, budget: &Budget) {
        let letters = bytes[at..].first_chunk::<3>();
        let first = letters.map_or(NONE, |letters| CHAINS.0[chain(*letters)]);
        if first != NONE {
            self.look_along(first, bytes, at, budget);
        }
    }

    #[inline(never)]
    fn look_along(&mut self, first: u8, bytes: &[u8], at: usize, budget: &Budget) {
        let mut index = first;
        while index != NONE {
            let (word, place) = word(usize::from(index));
            if let Some(start) = at.checked_sub(place)
                && bytes[start..].starts_with(word.as_bytes())
                && budget.has(at)
            {
                budget.spend(COST_OF_A_WORD);
                self.0.push((start, index));
            }
            index = CHAINS.1[usize::from(index)];
        }
    }

    /// The words that are looked at first and those that are looked at behind them, each in order and
    /// without those that overlap one before.
    pub(super) fn passes(mut self) -> [impl Iterator<Item = (usize, usize, Lead)>; 2] {
        self.0.sort_unstable();
        let (first, then) = self.0.into_iter().partition(|(_, i)| usize::from(*i) < FIRST);
        [first, then].map(|words: Vec<(usize, u8)>| {
            let mut behind = 0;
            words.into_iter().filter_map(move |(start, index)| {
                let index = usize::from(index);
                let (word, _) = word(index);
                let lead = match (RARE.get(index), SEARCHED.get(index.wrapping_sub(FIRST))) {
                    (Some((_, _, hint)), _) | (_, Some((_, _, hint))) => Lead::Hint(*hint),
                    _ => Lead::Told(speech::RARE.get(index - RARE.len())?.2),
                };
                if start < behind {
                    return None;
                }
                behind = start + word.len();
                Some((start, behind, lead))
            })
        })
    }
}
