//! Words that are rare in any text and say that a secret is near.
//!
//! Those in [`RARE`] are found by the engine's pass. The others have a vectorised searcher, which takes
//! at most 64, of four bytes or more; it compares their first four bytes at once, so those should be
//! rare.

/// What a rare word hints at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// A name of a secret.
    Name,
    /// The same in a language that does not set its words apart.
    ForeignName,
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
}

/// Words that are rare in any text, each with the place of the three letters that the engine's pass
/// stops at.
pub(super) const RARE: &[(&str, usize, Hint)] = &[
    ("senha", 2, Hint::Name),
    ("Senha", 2, Hint::Name),
    ("SENHA", 2, Hint::Name),
    ("contrase", 4, Hint::Name),
    ("Contrase", 4, Hint::Name),
    ("kennwort", 2, Hint::Name),
    ("Kennwort", 2, Hint::Name),
    ("wachtwoord", 3, Hint::Name),
    ("Private-Lines", 6, Hint::Putty),
    ("DENTIFIED BY ", 3, Hint::Sql),
    ("dentified by ", 3, Hint::Sql),
    (".login(", 2, Hint::Argument(1)),
    ("WiFi.begin(", 2, Hint::Argument(1)),
    ("new PDO(", 4, Hint::Argument(2)),
    ("mysqli_connect(", 1, Hint::Argument(2)),
    ("mysql_connect(", 1, Hint::Argument(2)),
    ("getConnection(", 1, Hint::Argument(2)),
];

/// Words that have a searcher of their own.
pub(super) const SEARCHED: &[(&str, Hint)] = &[
    ("_psk", Hint::Name),
    ("_PSK", Hint::Name),
    ("psk=", Hint::Name),
    ("_SALT", Hint::Name),
    ("_salt", Hint::Name),
    ("login(", Hint::Connect),
    ("SecureString ", Hint::Argument(0)),
    ("onnect(", Hint::Connect),
    ("linkedsrvlogin ", Hint::Connect),
    ("p_addlogin ", Hint::Connect),
    ("jwt.", Hint::Jwt),
    ("eateHmac(", Hint::Key(1)),
    ("ipheriv(", Hint::Key(1)),
    ("mac.new(", Hint::Key(0)),
    ("MAC.new(", Hint::Key(0)),
    ("mac.New(", Hint::Key(1)),
    ("mac::Key::new(", Hint::Key(1)),
    ("hash_hmac(", Hint::Key(2)),
    ("SecretKeySpec(", Hint::Key(0)),
    ("HMAC256(", Hint::Key(0)),
    ("HMACSHA256(", Hint::Key(0)),
    ("SecurityKey(", Hint::Key(0)),
    ("ShaKeyFor(", Hint::Key(0)),
    ("Fernet(", Hint::Key(0)),
    ("AES.new(", Hint::Key(0)),
    ("sym_encrypt(", Hint::Key(1)),
    ("@tcp(", Hint::Dsn),
    ("ookie: ", Hint::Cookies),
    ("_bind", Hint::Bind),
    ("PSK \"", Hint::Ipsec),
    ("EAP \"", Hint::Ipsec),
    ("AUTH \"", Hint::Ipsec),
    ("send \"", Hint::Send),
    ("sendline(", Hint::Send),
    ("echo ", Hint::Echo),
    ("chpasswd", Hint::Accounts),
    (":543", Hint::Pgpass),
    (":*:*", Hint::Pgpass),
    (":$6$", Hint::Hash),
    (":$5$", Hint::Hash),
    (":$1$", Hint::Hash),
    (":$2y$", Hint::Hash),
    (":$apr1$", Hint::Hash),
    (":%s@", Hint::Format),
    ("kind: Secret", Hint::Manifest),
    ("net use", Hint::NetUse),
    ("ommunity ", Hint::Directive),
    ("reateUser ", Hint::SnmpUser),
    ("sqlplus ", Hint::Slash),
    ("ftp -", Hint::Ftp),
];

/// The same, for texts beyond ASCII.
pub(super) const RARE_BEYOND_ASCII: &[(&str, Hint)] = &[
    ("пароль", Hint::Name),
    ("Пароль", Hint::Name),
    ("密码", Hint::ForeignName),
    ("密碼", Hint::ForeignName),
    ("パスワード", Hint::ForeignName),
    ("비밀번호", Hint::ForeignName),
    ("şifre", Hint::Name),
    ("hasło", Hint::Name),
    ("lösenord", Hint::Name),
];
