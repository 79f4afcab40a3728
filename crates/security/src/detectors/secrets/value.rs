//! What a value looks like: made by chance, made of words, a stand-in, or a reference to elsewhere.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::detectors::words::{Beginnings, WordList};

/// How much of a value is looked at.
const LOOK: usize = 512;

/// What a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Joint,
    Space,
    BeyondAscii,
    /// Not counted: what no other is.
    Special,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Special; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' => Class::Joint,
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            0x80.. => Class::BeyondAscii,
            _ => Class::Special,
        };
        byte += 1;
    }
    classes
};

/// Counts are kept side by side in one number, in lanes of so many bits.
const COUNT_BITS: u32 = 10;
const _: () = assert!(LOOK < 1 << COUNT_BITS);

fn lane(counts: u64, lane: u32) -> usize {
    (counts >> (COUNT_BITS * lane)) as usize & ((1 << COUNT_BITS) - 1)
}

/// From one character to the next: a letter and a digit, a word's beginning, two letters.
const ALTERNATION: u64 = 1;
const HUMP: u64 = 1 << COUNT_BITS;
const PAIR: u64 = 1 << (2 * COUNT_BITS);

/// What is counted between a character of one class and one of another.
static TURNS: [[u64; 7]; 7] = {
    const LOWER: usize = Class::Lower as usize;
    const UPPER: usize = Class::Upper as usize;
    const DIGIT: usize = Class::Digit as usize;
    let mut turns = [[0; 7]; 7];
    let mut before = 0;
    while before < 7 {
        turns[before][LOWER] = HUMP;
        turns[before][UPPER] = HUMP;
        before += 1;
    }
    turns[DIGIT][LOWER] = ALTERNATION | HUMP;
    turns[DIGIT][UPPER] = ALTERNATION | HUMP;
    turns[LOWER] = [PAIR, PAIR | HUMP, ALTERNATION, 0, 0, 0, 0];
    turns[UPPER] = [PAIR, PAIR, ALTERNATION, 0, 0, 0, 0];
    turns[DIGIT][DIGIT] = 0;
    turns
};

/// What a value is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) len: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    /// Characters other than letters, digits, `_`, `-`, `.` and spaces.
    pub(super) specials: usize,
    /// `_`, `-` and `.`.
    pub(super) joints: usize,
    pub(super) spaces: usize,
    pub(super) beyond_ascii: usize,
    /// How many different characters there are.
    pub(super) distinct: usize,
    /// The longest run of one character.
    pub(super) longest_repeat: usize,
    /// Neighbours of which the second follows the first in the alphabet or in counting.
    pub(super) steps: usize,
    /// How often a letter follows a digit or a digit a letter.
    pub(super) alternations: usize,
    /// Words as camel case and joints tell them.
    pub(super) humps: usize,
    /// How likely its letters follow each other in words: 0 to 9, 5.5 between chance and words.
    pub(super) wordiness: f32,
    pub(super) is_hex: bool,
}

impl Shape {
    pub(super) fn of(value: &str) -> Self {
        let bytes = &value.as_bytes()[..value.len().min(LOOK)];
        let mut shape = Self { len: value.len(), is_hex: !bytes.is_empty(), ..Self::default() };
        let (mut seen, mut counts, mut turns) = ([0_u64; 2], 0_u64, 0_u64);
        let (mut repeat, mut likely) = (0, 0_u32);
        let (mut before, mut class_before) = (0_u8, Class::Special);
        for &byte in bytes {
            let class = CLASSES[usize::from(byte)];
            // The last lane, which nobody reads, runs over.
            counts = counts.wrapping_add(1 << (COUNT_BITS * class as u32));
            let turn = TURNS[class_before as usize][class as usize];
            turns += turn;
            // No branches: what comes next in a value made by chance cannot be foretold.
            likely += u32::from(LIKELIHOODS[letter(before)][letter(byte)]);
            shape.is_hex &= byte.is_ascii_hexdigit();
            let bit = 1 << (byte & 63);
            let is_upper_half = u64::from(byte >> 6 & 1).wrapping_neg();
            seen[0] |= bit & !is_upper_half;
            seen[1] |= bit & is_upper_half;
            repeat = if byte == before { repeat + 1 } else { 1 };
            shape.longest_repeat = shape.longest_repeat.max(repeat);
            let counted = matches!(class_before, Class::Lower | Class::Upper | Class::Digit);
            shape.steps += usize::from(counted) & usize::from(byte == before.wrapping_add(1));
            (before, class_before) = (byte, class);
        }
        let count = |class| lane(counts, class as u32);
        shape.lower = count(Class::Lower);
        shape.upper = count(Class::Upper);
        shape.digits = count(Class::Digit);
        shape.joints = count(Class::Joint);
        shape.spaces = count(Class::Space);
        shape.beyond_ascii = count(Class::BeyondAscii);
        let others = shape.joints + shape.spaces + shape.beyond_ascii;
        shape.specials = bytes.len() - shape.lower - shape.upper - shape.digits - others;
        shape.alternations = lane(turns, 0);
        shape.humps = lane(turns, 1);
        let pairs = lane(turns, 2);
        shape.distinct = (seen[0].count_ones() + seen[1].count_ones()) as usize;
        shape.wordiness = if pairs == 0 { 0.0 } else { likely as f32 / pairs as f32 };
        shape
    }

    /// Whether only the value's beginning was looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.len > LOOK
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// How many kinds of characters there are: lower case, upper case, digits, others.
    pub(super) fn classes(&self) -> usize {
        [self.lower, self.upper, self.digits, self.specials + self.beyond_ascii]
            .into_iter()
            .filter(|count| *count > 0)
            .count()
    }

    /// Filled with one character or in counting order: `xxxx`, `aaaa1111`, `0123456789`, `abcdef`.
    pub(super) fn is_monotonous(&self) -> bool {
        let looked = self.len.min(LOOK);
        self.longest_repeat >= 5.max(looked / 6)
            || self.steps * 5 > looked * 2
            || self.distinct * 4 <= looked.min(24)
    }

    /// Whether its letters, small and capital ones, follow each other as they do in no language.
    pub(super) fn is_improbable(&self) -> bool {
        let letters = self.letters();
        let both = self.upper > 0 && self.lower > 0;
        letters >= 9 && both && { self.wordiness < if letters < 16 { 4.5 } else { 5.0 } }
    }

    /// Whether it was made by chance, not by a person: 12 characters or more that form no words.
    pub(super) fn is_random(&self) -> bool {
        if self.len < 12 || self.spaces > 0 || self.beyond_ascii > 0 || self.is_monotonous() {
            return false;
        }
        if self.distinct * 5 < self.len.min(40) + 4 {
            return false;
        }
        if self.letters() == 0 {
            return self.digits == self.len && self.len >= 16 && self.distinct >= 6;
        }
        if self.is_hex && self.digits > 0 {
            return self.len >= 16 || self.alternations >= 4;
        }
        // Digits between letters, again and again: every fifth neighbourhood or so.
        if self.alternations >= 3 && self.alternations * 7 >= self.len.min(LOOK) {
            return true;
        }
        let short_humps = self.upper > 1 && self.humps * 5 >= self.letters() * 2;
        if self.digits > 0 {
            let enough = self.alternations > 1 || self.letters() > 11;
            enough && (self.wordiness < 5.2 || short_humps && self.wordiness < 6.2)
        } else {
            self.len >= 16 && (self.wordiness < 4.4 || short_humps && self.wordiness < 5.2)
        }
    }
}

/// Whether a value that a name of a secret was given was drawn, though it is short or has no digit: in
/// names and words, letters follow each other as they do in a language.
pub(super) fn is_drawn(value: &str, shape: &Shape) -> bool {
    if shape.len < 12
        || shape.len == shape.letters()
        || shape.specials > 1
        || shape.spaces > 0
        || shape.beyond_ascii > 0
        || shape.is_monotonous()
    {
        return false;
    }
    // `glpat-NnFSvkOFRHrdfigZzOng`: the vendor's prefix is a word.
    match value.rfind(['-', '_']).map(|joint| &value[joint + 1..]) {
        Some(tail) if tail.len() >= 16 => Shape::of(tail).is_improbable(),
        _ => shape.is_improbable(),
    }
}

/// Whether all of `bytes` are hexadecimal digits.
pub(super) fn is_hex(bytes: &[u8]) -> bool {
    const MANY: usize = 16;
    // Sixteen at once, the last of which overlap those before.
    let are_digits = |bytes: &[u8; MANY]| {
        let is_digit = |all, byte: &u8| {
            all & (byte.wrapping_sub(b'0') < 10 || (byte | 0x20).wrapping_sub(b'a') < 6)
        };
        bytes.iter().fold(true, is_digit)
    };
    match bytes.last_chunk() {
        Some(last) => are_digits(last) && bytes.as_chunks().0.iter().all(are_digits),
        None => bytes.iter().all(u8::is_ascii_hexdigit),
    }
}

/// Whether `value` is written as `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a value only says where the real one is: a variable, a template's field, a call.
pub(super) fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return true };
    let variable = |rest: &[u8]| {
        !rest.is_empty()
            && rest.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.'))
            && (rest.iter().all(|b| !b.is_ascii_lowercase())
                || rest.iter().all(|b| !b.is_ascii_uppercase() && !b.is_ascii_digit()))
    };
    match (first, last) {
        (b'<', b'>') | (b'[', b']') | (b'{', b'}') | (b'(', b')') => return true,
        (b'%', b'%') if bytes.len() > 2 => return true,
        (b'$', _) if bytes.get(1).is_some_and(|b| b"{([$<".contains(b)) => return true,
        (b'$' | b'@' | b'%' | b'&' | b'*', _) if variable(&bytes[1..]) => return true,
        (b'_', b'_') if bytes.starts_with(b"__") && bytes.ends_with(b"__") => return true,
        _ => {}
    }
    if REFERENCES.begin(value) {
        return true;
    }
    // Every template has a sign.
    if bytes.iter().all(|byte| CLASSES[usize::from(*byte)] != Class::Special) {
        return false;
    }
    if TEMPLATES.is_match(value) {
        return true;
    }
    // A field of a format string: `{}`, `{0}`, `{name}`, `%s`.
    matches!(value, "%s" | "%v" | "%q" | "%@" | "%d" | "?" | ":?" | "{}") || has_format_field(bytes)
}

/// Whether `{name}` with a plain name is a part of it.
fn has_format_field(bytes: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'{', bytes) else { return false };
    let name = &bytes[open + 1..];
    let len = name
        .iter()
        .take(40)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'!'))
        .count();
    name.get(len) == Some(&b'}')
}

/// Whether it is a stand-in that documentation and templates use where a secret goes.
pub(super) fn is_stand_in(value: &str) -> bool {
    if value.len() > 200 {
        return false;
    }
    if STAND_INS.is_match(value) {
        return true;
    }
    let mut words = 0;
    for word in value.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()) {
        words += 1;
        if !is_stand_in_word(word) {
            return false;
        }
    }
    // `password123` and `secret-key` are made of such words only. `P@ss1!` has letters between signs,
    // and who was told to use a digit and a sign begins with such a word: `Qwerty%4652`.
    let shape = Shape::of(value);
    words > 0
        && shape.specials < 2
        && shape.digits < 8
        && !(shape.specials == 1 && shape.digits >= 3)
}

pub(super) fn is_stand_in_word(word: &str) -> bool {
    let mut folded = [0; 24];
    let Some(folded) = folded.get_mut(..word.len()) else { return false };
    folded.copy_from_slice(word.as_bytes());
    folded.make_ascii_lowercase();
    std::str::from_utf8(folded).is_ok_and(|word| STAND_IN_WORDS.has(word))
}

/// Whether a value says of itself that it is none, be it ever so long: `sk-xxxx…`, `<your-key>`.
pub(super) fn is_marked(value: &str) -> bool {
    MARKS.is_match(value)
}

/// Whether a value speaks of secrets: then it is a name of one.
pub(super) fn mentions_secrets(value: &str) -> bool {
    SECRET_WORDS.is_match(value)
}

fn automaton(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

/// Words that are searched for anywhere in a value, in any case.
struct Anywhere(LazyLock<Option<AhoCorasick>>);

impl Anywhere {
    fn is_match(&self, value: &str) -> bool {
        self.0.as_ref().is_some_and(|words| words.is_match(value))
    }
}

static TEMPLATES: Anywhere = Anywhere(LazyLock::new(|| {
    automaton(&["${", "{{", "$(", "<%", "#{", "%{", "@{", "\\(", "${{", "}}", "$${", "!Ref", "<?"])
}));

static SECRET_WORDS: Anywhere = Anywhere(LazyLock::new(|| {
    automaton(&[
        "password",
        "passwd",
        "secret",
        "token",
        "credential",
        "apikey",
        "api_key",
        "api-key",
        "_key",
        "-key",
    ])
}));

static MARKS: Anywhere = Anywhere(LazyLock::new(|| {
    automaton(&[
        "example",
        "your_",
        "your-",
        "your ",
        "change_me",
        "changeme",
        "change-me",
        "placeholder",
        "redacted",
        "xxxx",
        "****",
        "####",
        "<",
        ">",
        "goes-here",
        "goes_here",
        "_here",
        "-here",
        "…",
        "•••",
    ])
}));

#[rustfmt::skip]
static STAND_INS: Anywhere = Anywhere(LazyLock::new(|| automaton(&[
    "example", "your_", "your-", "your ", "change_me", "changeme", "change-me", "placeholder",
    "redacted", "xxxx", "****", "####", "<", ">", "goes-here", "goes_here", "_here", "-here", "…", "•••",
    "yourp", "yours", "yourt", "yourk", "youra", "my-secret", "changethis", "change-this",
    "change_this", "dummy", "replace", "insert", "....", "todo", "fixme", "not-a-", "not_a_",
    "notreal", "not-real", "put_your", "enter_", "enter-", "fill_me", "fillme", "masked", "hidden",
    "sanitized", "removed", "bogus", "foobar", "lorem", "obfuscated", "invalid", "mock-", "mock_",
    "fake-", "fake_", "-fake", "_fake", "faketoken", "fakekey", "test-token", "test_token",
    "testtoken", "test-key", "test_key", "testkey", "test-secret", "test_secret", "test-api",
    "test_api", "sample", "undefined", "my-token", "my_token", "abcdefgh", "12345678", "00000000",
    "deadbeef", "some-", "some_", "secretkey", "-token-", "supersecret", "super-secret",
    "super_secret",
])));

/// What values begin with that only say where the real one is.
#[rustfmt::skip]
static REFERENCES: Beginnings = Beginnings::new(&[
        "process.env",
        "os.environ",
        "os.getenv",
        "os.Getenv",
        "System.getenv",
        "System.getProperty",
        "ENV[",
        "env.",
        "env(",
        "env:",
        "getenv",
        "Env.",
        "var.",
        "local.",
        "data.",
        "module.",
        "secrets.",
        "vars.",
        "inputs.",
        "steps.",
        "needs.",
        "github.",
        "config.",
        "settings.",
        "self.",
        "this.",
        "vault:",
        "vault kv",
        "arn:aws",
        "op://",
        "ref+",
        "ENC[",
        "ENC(",
        "projects/",
        "secretsmanager:",
        "ssm:",
        "resolve:",
        "file:",
        "keyring:",
        "%(",
        "import.meta",
        "$env:",
        "awssm:",
        "gcpsm:",
        "@Microsoft.KeyVault",
        "akv:",
        "doppler:",
        "lookup(",
        "bao:",
        "sealed:",
        "{cipher}",
        "!vault",
        "!secret",
        "!Sub",
        "!GetAtt",
]);

/// What stand-ins are made of.
#[rustfmt::skip]
static STAND_IN_WORDS: WordList = WordList::new(&[
    "a", "abc", "abcd", "abcde", "abcdef", "access", "accesskey", "actual", "admin", "an",
    "another", "any", "api", "apikey", "app", "auth", "authtoken", "aws", "b", "bad", "bar", "base",
    "basic", "baz", "bearer", "blank", "body", "boolean", "bytes", "c", "char", "client", "code",
    "config", "cookie", "correct", "credential", "credentials", "d", "data", "database", "db",
    "default", "demo", "dev", "development", "dummy", "e", "empty", "env", "external", "false",
    "field", "file", "first", "foo", "foobar", "for", "from", "generated", "global", "good",
    "guest", "hash", "header", "headers", "hello", "hidden", "http", "https", "id", "in",
    "incorrect", "input", "int", "integer", "internal", "invalid", "is", "it", "jwt", "key", "keys",
    "label", "local", "localhost", "login", "me", "minio", "mock", "mongo", "my", "mykey", "mypass",
    "mypassword", "mysecret", "mysql", "mytoken", "name", "new", "nil", "no", "none", "null",
    "number", "oauth", "of", "old", "one", "optional", "or", "other", "output", "pass",
    "passphrase", "passw", "passwd", "password", "passwords", "path", "plain", "postgres",
    "private", "privatekey", "prod", "production", "public", "pw", "pwd", "query", "qux", "qwerty",
    "rabbitmq", "random", "rd", "real", "redis", "required", "root", "s", "sample", "second",
    "secret", "secrets", "secure", "security", "service", "session", "shared", "some", "staging",
    "str", "string", "sync", "temp", "test", "testing", "tests", "text", "the", "this", "three",
    "title", "token", "tokens", "true", "two", "type", "undefined", "unknown", "unset", "uri",
    "url", "user", "username", "uuid", "val", "valid", "value", "var", "with", "wrong", "x", "xx",
    "xxx", "y", "yes", "your", "z",
]);

/// The place of a letter in the alphabet; that behind it for everything else.
fn letter(byte: u8) -> usize {
    usize::from((byte | 0x20).wrapping_sub(b'a')).min(LETTERS)
}

const LETTERS: usize = 26;

/// How often the second letter follows the first in English and in code: the binary logarithm of
/// how much more often than by chance, -6 to 3, moved to 0 to 9. 0 where one is no letter.
static LIKELIHOODS: [[u8; LETTERS + 1]; LETTERS + 1] = {
    let mut table = [[0; LETTERS + 1]; LETTERS + 1];
    let mut first = 0;
    while first < LETTERS {
        let mut second = 0;
        while second < LETTERS {
            table[first][second] = PAIRS[first][second] - b'0';
            second += 1;
        }
        first += 1;
    }
    table
};

/// By first letter, then second. Counted in prose and code.
const PAIRS: [&[u8; LETTERS]; LETTERS] = [
    b"37873573736979372989665464",
    b"73327212630731720653620040",
    b"81538208707732941758611150",
    b"73359342821444730663642140",
    b"85897764633879575998575753",
    b"60227620700512710635601040",
    b"62218256600536630753612030",
    b"82238200711334710536500051",
    b"76878671325879963789370507",
    b"51005000301000511030402000",
    b"42137222602414310263312030",
    b"83469432903842840266642071",
    b"85338220802463770253610130",
    b"83888694835546741489662152",
    b"56774563536889672977867442",
    b"82338226701732860867622150",
    b"10000000000100000110600000",
    b"94679563905576851687654172",
    b"72739437805554772489734151",
    b"83639338900644850876714372",
    b"66656461602768360877110321",
    b"60108020700101600121200010",
    b"60026105601305610552001000",
    b"40415101500110060015200330",
    b"42335221400354450254002223",
    b"50006001400010400012200022",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_chance_from_words() {
        for random in [
            "5acee15bfa23e8ba3cce844eb855d0ca",
            "flozac1dtmyzkhy",
            "8qwqxxmdyiytka",
            "7962702877901260",
            "vc=4bm4exvog84k7m74d7_36pwhcmck4fz2hv=pm",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzLEKEYab",
            "AQqGdRIKm55kXqG3hmxWNK7uW9",
            "xKqvBzWpRtYhGmNcLdFs",
        ] {
            assert!(Shape::of(random).is_random(), "{random}");
        }
        for words in [
            "test_case_number_12",
            "notHighEnoughEntropy",
            "authentication-service-v2",
            "aaaaaaaaaa1111111111bbbbbbbbbb2222222222",
            "0123456789abcdef0123456789abcdef",
            "event-bus-message-api",
            "xxxxxxxxxxxxxxxxxxxx1",
        ] {
            assert!(!Shape::of(words).is_random(), "{words}");
        }
    }

    #[test]
    fn tells_references_and_stand_ins() {
        for value in
            ["${DB}", "$DB_PASSWORD", "{{ x }}", "<pw>", "%PW%", "a{name}b", "op://a/b", ""]
        {
            assert!(is_reference(value), "{value}");
        }
        for value in ["$ecret9", "a{b", "hunter2", "p%40ss"] {
            assert!(!is_reference(value), "{value}");
        }
        for value in ["changeme", "your-api-key-here", "password123", "secret", "my-secret-value"] {
            assert!(is_stand_in(value), "{value}");
        }
        for value in ["hunter2", "P@ssw0rd!", "Rocket.velvet6323"] {
            assert!(!is_stand_in(value), "{value}");
        }
    }
}
