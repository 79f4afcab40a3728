//! The words around a number: what they say it is.
//!
//! Words are read as people and programs write them: `phone number`, `phone_number`,
//! `customerPhone`, `\nPhone:` inside a string. A word stands for one or more topics; the nearest
//! word that stands for anything has the most to say.

/// A set of topics, as bits.
pub(super) type Topics = u64;

/// A phone number and nothing else: `phone`, `mobile`, `fax`.
pub(super) const PHONE: Topics = 1;
/// Somebody is to be called, but the word has other uses: `call`, `reach`, `office`.
pub(super) const REACH: Topics = 1 << 1;
/// `number` and its translations: says only that digits follow.
pub(super) const NUMBER: Topics = 1 << 2;
/// A payment card.
pub(super) const CARD: Topics = 1 << 3;
/// A bank account in IBAN form.
pub(super) const IBAN: Topics = 1 << 4;
/// Something countable or an identifier of a thing: `order`, `version`, `bytes`.
pub(super) const OTHER: Topics = 1 << 5;
/// An identity number, of no country in particular.
pub(super) const IDENTITY: Topics = 1 << 6;
/// A number of the health system.
pub(super) const HEALTH: Topics = 1 << 7;
/// A version of a program, a section of a document.
pub(super) const VERSION: Topics = 1 << 8;
/// A network address.
pub(super) const NETWORK: Topics = 1 << 9;
/// A street: what stands before it is a house number.
pub(super) const STREET: Topics = 1 << 10;

/// Identity numbers of countries, one bit each.
pub(super) const US: Topics = 1 << 16;
pub(super) const UK: Topics = 1 << 17;
pub(super) const DE: Topics = 1 << 18;
pub(super) const FR: Topics = 1 << 19;
pub(super) const ES: Topics = 1 << 20;
pub(super) const IT: Topics = 1 << 21;
pub(super) const NL: Topics = 1 << 22;
pub(super) const BE: Topics = 1 << 23;
pub(super) const PL: Topics = 1 << 24;
pub(super) const SE: Topics = 1 << 25;
pub(super) const NO: Topics = 1 << 26;
pub(super) const DK: Topics = 1 << 27;
pub(super) const FI: Topics = 1 << 28;
pub(super) const PT: Topics = 1 << 29;
pub(super) const BR: Topics = 1 << 30;
pub(super) const IN: Topics = 1 << 31;
pub(super) const AU: Topics = 1 << 32;
pub(super) const CA: Topics = 1 << 33;
pub(super) const CN: Topics = 1 << 34;
pub(super) const KR: Topics = 1 << 35;
pub(super) const JP: Topics = 1 << 36;
pub(super) const MX: Topics = 1 << 37;
pub(super) const ZA: Topics = 1 << 38;
pub(super) const CH: Topics = 1 << 39;
pub(super) const AT: Topics = 1 << 40;
pub(super) const TR: Topics = 1 << 41;
pub(super) const IE: Topics = 1 << 42;
pub(super) const SG: Topics = 1 << 43;
pub(super) const CZ: Topics = 1 << 44;
pub(super) const RO: Topics = 1 << 45;
pub(super) const IL: Topics = 1 << 46;

/// What the words beside a place speak of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The topics of all words that were read.
    pub(super) all: Topics,
    /// The topics of the nearest word that has any but [`NUMBER`].
    pub(super) nearest: Topics,
}

impl Context {
    fn add(&mut self, topics: Topics) {
        self.all |= topics;
        if self.nearest == 0 {
            self.nearest = topics & !NUMBER;
        }
    }

    /// Whether the nearest word speaks of one of `topics`.
    pub(super) fn is(self, topics: Topics) -> bool {
        self.nearest & topics != 0
    }

    /// Whether any word speaks of one of `topics`.
    pub(super) fn has(self, topics: Topics) -> bool {
        self.all & topics != 0
    }
}

/// The longest word that is looked up, in bytes.
const LONGEST_WORD: usize = 32;

/// What the words in the `reach` bytes before `at` speak of.
///
/// The look ends at a line's start, once a word was read, and at other numbers: a number's words
/// stand beside it.
pub(super) fn before(bytes: &[u8], at: usize, reach: usize) -> Context {
    let floor = at.saturating_sub(reach);
    let mut context = Context::default();
    let mut words = 0;
    let (mut digits, mut groups) = (0, 0);
    let mut i = at;
    // A label may stand on the line above, with its colon at the line's end.
    let mut line_above = false;
    while i > floor {
        let byte = bytes[i - 1];
        if is_letter(byte) {
            if line_above {
                break;
            }
            let end = i;
            while i > floor && is_letter(bytes[i - 1]) {
                i -= 1;
                let hump = bytes[i].is_ascii_uppercase() && i + 1 < end;
                if hump && bytes[i + 1].is_ascii_lowercase() {
                    break;
                }
            }
            let escape = i > 0 && bytes[i - 1] == b'\\' && matches!(bytes[i], b'n' | b't' | b'r');
            let start = if escape { i + 1 } else { i };
            if start < end {
                words += 1;
                digits = 0;
                context.add(topics(&bytes[start..end]));
            }
            if escape && words > 0 {
                break;
            }
            continue;
        }
        i -= 1;
        if byte.is_ascii_digit() {
            digits += 1;
            groups += usize::from(!byte_before(bytes, i).is_ascii_digit());
            if digits == 4 || groups == 3 {
                break;
            }
        } else if byte == b'\n' {
            digits = 0;
            if words > 0 || line_above {
                break;
            }
            line_above = true;
        } else if line_above && !matches!(byte, b':' | b' ' | b'\r' | b'\t') && digits == 0 {
            break;
        } else if byte == b':' {
            line_above = false;
        } else if !matches!(byte, b'-' | b' ' | b'.') {
            digits = 0;
        }
    }
    context
}

/// What the first words in the `reach` bytes from `at` on speak of.
pub(super) fn after(bytes: &[u8], at: usize, reach: usize) -> Context {
    let limit = bytes.len().min(at + reach);
    let mut context = Context::default();
    let mut words = 0;
    let mut i = at;
    while i < limit && words < 2 {
        let byte = bytes[i];
        if is_letter(byte) {
            let start = i;
            while i < bytes.len() && i - start <= LONGEST_WORD && is_letter(bytes[i]) {
                i += 1;
            }
            words += 1;
            context.add(topics(&bytes[start..i]));
            continue;
        }
        if byte.is_ascii_digit() || matches!(byte, b'\n' | b'\\' | b'"' | b'{' | b'}' | b';') {
            break;
        }
        i += 1;
    }
    context
}

/// Whether `byte` belongs to a word: an ASCII letter, or a part of any other character.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a number or a name may start at `at`: what stands before is no letter, digit or
/// underscore, apart from the letter of an escape such as `\n`.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|i| bytes.get(i)) else { return true };
    if !before.is_ascii_alphanumeric() && before != b'_' {
        return true;
    }
    at >= 2 && bytes[at - 2] == b'\\' && matches!(before, b'n' | b't' | b'r')
}

/// Whether a number or a name may end at `at`: what follows is no letter, digit or underscore.
pub(super) fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

/// Whether what stands before `at` is a program's text rather than a sentence's.
pub(super) fn in_code(bytes: &[u8], at: usize) -> bool {
    let prose = matches!(byte_before(bytes, at), b' ' | b'\n' | b'(' | 0x80..);
    !prose || matches!(byte_before(bytes, at.saturating_sub(1)), b'=' | b':' | b'(' | b',')
}

/// The byte at `at`, 0 behind the end.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The byte before `at`, 0 at the start.
pub(super) fn byte_before(bytes: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |i| byte(bytes, i))
}

/// What `word` stands for; 0 for most words.
pub(super) fn topics(word: &[u8]) -> Topics {
    if word.len() > LONGEST_WORD {
        return if word.is_ascii() { 0 } else { foreign(word) };
    }
    // No word has one letter.
    if word.len() < 2 {
        return 0;
    }
    let mut lower = [0; LONGEST_WORD];
    let mut hash = HASH_START;
    for (lower, byte) in lower.iter_mut().zip(word) {
        *lower = byte.to_ascii_lowercase();
        hash = hash_step(hash, *lower);
    }
    let lower = &lower[..word.len()];
    match word_topics(lower, hash) {
        0 if !lower.is_ascii() => foreign(lower),
        topics => topics,
    }
}

/// Words of scripts that are written without spaces, or that bend their ends.
fn foreign(word: &[u8]) -> Topics {
    const NEEDLES: &[(&str, Topics)] = &[
        ("电话", PHONE),
        ("手机", PHONE),
        ("電話", PHONE),
        ("携帯", PHONE),
        ("联系", REACH),
        ("致电", REACH),
        ("拨打", REACH),
        ("전화", PHONE),
        ("휴대", PHONE),
        ("연락처", PHONE),
        ("елефон", PHONE),
        ("обильн", PHONE),
        ("звон", REACH),
        ("ηλέφωνο", PHONE),
        ("هاتف", PHONE),
        ("جوال", PHONE),
        ("फ़ोन", PHONE),
        ("फोन", PHONE),
        ("טלפון", PHONE),
        ("身份证", CN),
        ("身分证", CN),
        ("주민등록", KR),
        ("マイナンバ", JP),
        ("個人番号", JP),
        ("卡号", CARD),
        ("银行卡", CARD),
        ("カード", CARD),
        ("카드", CARD),
        ("号码", NUMBER),
        ("番号", NUMBER),
        ("번호", NUMBER),
    ];
    let word = &word[word.len().saturating_sub(48)..];
    NEEDLES.iter().fold(0, |topics, (needle, topic)| {
        let found = memchr::memmem::find(word, needle.as_bytes()).is_some();
        if found { topics | topic } else { topics }
    })
}

/// What a word in lower case with this hash stands for.
fn word_topics(word: &[u8], hash: u32) -> Topics {
    let mut slot = hash as usize % SLOTS;
    loop {
        let (topics, known) = TABLE[slot];
        if topics == 0 || known.as_bytes() == word {
            return topics;
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// How many slots the table of words has: at least twice as many as words.
const SLOTS: usize = 2048;

/// The words at the slot of their hash or behind it, as each number's neighbours are looked up.
static TABLE: [(Topics, &str); SLOTS] = {
    let mut table = [(0, ""); SLOTS];
    let mut group = 0;
    while group < WORDS.len() {
        let (topics, words) = WORDS[group];
        let mut i = 0;
        while i < words.len() {
            let bytes = words[i].as_bytes();
            let mut hash = HASH_START;
            let mut at = 0;
            while at < bytes.len() {
                hash = hash_step(hash, bytes[at]);
                at += 1;
            }
            let mut slot = hash as usize % SLOTS;
            while table[slot].0 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = (topics, words[i]);
            i += 1;
        }
        group += 1;
    }
    table
};

/// FNV-1a.
const HASH_START: u32 = 0x811C_9DC5;

const fn hash_step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// The words by what they stand for, in lower case.
const WORDS: &[(Topics, &[&str])] = &[
    (
        PHONE,
        &[
            "phone",
            "phones",
            "telephone",
            "telephones",
            "tel",
            "telefon",
            "telefonnummer",
            "telefono",
            "teléfono",
            "teléfonos",
            "tél",
            "téléphone",
            "telephonenumber",
            "telefone",
            "telefoon",
            "telefoonnummer",
            "telefonnr",
            "telnr",
            "telno",
            "mobile",
            "mobiles",
            "mobil",
            "mobilnummer",
            "mobiltelefon",
            "mobiel",
            "movil",
            "móvil",
            "celular",
            "cell",
            "cellphone",
            "cellular",
            "handy",
            "handynummer",
            "rufnummer",
            "portable",
            "cellulare",
            "fax",
            "faxnummer",
            "telefax",
            "whatsapp",
            "sms",
            "hotline",
            "helpline",
            "landline",
            "voicemail",
            "pager",
            "callerid",
            "msisdn",
            "ph",
            "phonenumber",
            "tlf",
            "puh",
            "puhelin",
            "puhelinnumero",
            "gsm",
            "viber",
            "switchboard",
            "handset",
            "festnetz",
            "phonenum",
            "phoneno",
            "fon",
            "mob",
            "telemóvel",
            "telemovel",
            "fijo",
            "fixe",
            "komórka",
            "тел",
            "τηλ",
            "telf",
            "tfno",
        ],
    ),
    (
        REACH,
        &[
            "caller",
            "callers",
            "callback",
            "call",
            "calls",
            "called",
            "calling",
            "dial",
            "dialed",
            "dialled",
            "dialing",
            "reach",
            "reached",
            "reachable",
            "ring",
            "answering",
            "answer",
            "texting",
            "office",
            "desk",
            "contact",
            "contacts",
            "extension",
            "ext",
            "emergency",
            "anrufen",
            "erreichbar",
            "erreichen",
            "ruf",
            "rufen",
            "appeler",
            "appelez",
            "joindre",
            "joignable",
            "llamar",
            "llame",
            "llámame",
            "llamame",
            "llámeme",
            "contactar",
            "contacto",
            "chiamare",
            "chiamami",
            "contatto",
            "contattare",
            "ligar",
            "ligue",
            "bellen",
            "bel",
            "bereikbaar",
            "ringen",
            "zadzwoń",
            "reception",
            "receptionist",
            "kontakt",
            "phoned",
            "rang",
            "hq",
        ],
    ),
    (
        NUMBER,
        &[
            "text", "message", "number", "numbers", "nummer", "numéro", "numero", "número", "num",
            "nr", "numer",
        ],
    ),
    (
        CARD,
        &[
            "card",
            "cards",
            "cardnumber",
            "cardno",
            "cardnum",
            "creditcard",
            "ccnumber",
            "ccnum",
            "cc",
            "credit",
            "debit",
            "visa",
            "mastercard",
            "amex",
            "maestro",
            "diners",
            "jcb",
            "unionpay",
            "kreditkarte",
            "kreditkartennummer",
            "kartennummer",
            "karte",
            "carte",
            "tarjeta",
            "carta",
            "cartão",
            "cartao",
            "creditcardnumber",
            "karta",
            "karty",
            "kaart",
            "creditkaart",
            "american",
        ],
    ),
    (CARD | IN, &["pan"]),
    (IBAN, &["iban", "ibans"]),
    (IBAN | OTHER, &["bank"]),
    (US, &["ssn", "ssns", "itin", "socialsecurity", "socialsecuritynumber"]),
    (US | CA | OTHER, &["social"]),
    (UK | HEALTH | OTHER, &["nino", "ninos", "insurance"]),
    (UK, &["nationalinsurance", "nationalinsurancenumber"]),
    (
        DE,
        &[
            "steuer",
            "steuerid",
            "steueridnr",
            "steueridentifikationsnummer",
            "idnr",
            "steuernummer",
            "identifikationsnummer",
            "stidnr",
        ],
    ),
    (FR, &["nir", "insee", "sécurité", "securite", "sociale"]),
    (ES, &["dni", "nie"]),
    (ES | PT, &["nif"]),
    (IT, &["codice", "fiscale", "codicefiscale"]),
    (NL, &["bsn", "burgerservicenummer", "sofinummer"]),
    (BE, &["rijksregisternummer", "rijksregister", "insz", "niss", "registre"]),
    (PL, &["pesel"]),
    (SE | NO, &["personnummer", "personnr", "samordningsnummer"]),
    (NO, &["fødselsnummer", "fodselsnummer", "fødselsnr"]),
    (DK, &["cpr", "cprnr", "personnummeret"]),
    (FI, &["hetu", "henkilötunnus", "henkilotunnus"]),
    (PT, &["contribuinte", "nus"]),
    (BR, &["cpf"]),
    (IN, &["aadhaar", "aadhar", "adhaar", "uidai", "आधार"]),
    (AU | HEALTH, &["tfn", "medicare"]),
    (AU | DE | PT | US | OTHER, &["tax"]),
    (CA, &["sin"]),
    (KR, &["rrn"]),
    (JP, &["mynumber"]),
    (MX, &["curp"]),
    (CH, &["ahv", "avs", "ahvnummer"]),
    (AT | DE, &["svnr", "sozialversicherungsnummer", "sozialversicherung"]),
    (TR, &["tckn", "tckimlik", "kimlik", "tc"]),
    (IE, &["pps", "ppsn"]),
    (SG, &["nric", "fin"]),
    (CZ, &["rodné", "rodne"]),
    (RO, &["cnp"]),
    (IL, &["teudat", "zehut"]),
    (
        IDENTITY,
        &[
            "identity",
            "identification",
            "citizen",
            "citizenship",
            "national",
            "nationalid",
            "ausweisnummer",
            "ausweis",
            "personalausweis",
            "idnumber",
            "cedula",
            "cédula",
            "rut",
            "identité",
            "identidad",
            "identità",
            "taxpayer",
        ],
    ),
    (IDENTITY | OTHER, &["id", "ids"]),
    (HEALTH | OTHER, &["nhs", "patient", "health", "medical", "mrn", "mbi", "npi"]),
    (
        VERSION | OTHER,
        &[
            "version",
            "versions",
            "ver",
            "release",
            "upgrade",
            "upgraded",
            "section",
            "chapter",
            "clause",
            "paragraph",
            "figure",
            "oid",
            "build",
            "revision",
            "firmware",
            "driver",
            "appendix",
            "annex",
            "changelog",
            "semver",
            "update",
            "updated",
            "bump",
            "bumped",
            "downgrade",
            "oids",
            "object",
            "tag",
            "kapitel",
            "abschnitt",
        ],
    ),
    (
        NETWORK,
        &[
            "ip",
            "ips",
            "ipv",
            "addr",
            "address",
            "addresses",
            "host",
            "hostname",
            "hosts",
            "server",
            "client",
            "peer",
            "remote",
            "dns",
            "nameserver",
            "gateway",
            "ping",
            "traceroute",
            "ssh",
            "allow",
            "deny",
            "blocked",
            "firewall",
            "subnet",
            "cidr",
            "network",
            "proxy",
            "forwarded",
            "listen",
            "bind",
            "connect",
            "connected",
            "connection",
            "src",
            "dst",
            "source",
            "destination",
            "endpoint",
            "inet",
            "upstream",
            "origin",
            "login",
            "visitor",
            "whois",
            "hop",
            "ipaddress",
            "ipaddr",
        ],
    ),
    (
        STREET,
        &[
            "street",
            "st",
            "lane",
            "ln",
            "road",
            "rd",
            "avenue",
            "ave",
            "drive",
            "dr",
            "parkway",
            "pkwy",
            "boulevard",
            "blvd",
            "court",
            "ct",
            "way",
            "square",
            "sq",
            "terrace",
            "place",
            "pl",
            "crescent",
            "close",
            "highway",
            "hwy",
            "circle",
            "trail",
            "strasse",
            "straße",
            "str",
            "rue",
            "via",
            "calle",
            "apt",
            "suite",
        ],
    ),
    (
        OTHER,
        &[
            "order",
            "orders",
            "invoice",
            "invoices",
            "tracking",
            "account",
            "accounts",
            "acct",
            "ticket",
            "tickets",
            "case",
            "ref",
            "reference",
            "serial",
            "sku",
            "isbn",
            "issn",
            "doi",
            "commit",
            "hash",
            "port",
            "ports",
            "pid",
            "uid",
            "gid",
            "tid",
            "bytes",
            "byte",
            "size",
            "timestamp",
            "ts",
            "time",
            "date",
            "epoch",
            "policy",
            "claim",
            "confirmation",
            "routing",
            "aba",
            "swift",
            "transaction",
            "txn",
            "item",
            "items",
            "lot",
            "model",
            "part",
            "zip",
            "zipcode",
            "postal",
            "postcode",
            "plz",
            "code",
            "pin",
            "otp",
            "passport",
            "license",
            "licence",
            "registration",
            "vat",
            "ein",
            "amount",
            "price",
            "total",
            "balance",
            "usd",
            "eur",
            "gbp",
            "coordinates",
            "lat",
            "lon",
            "lng",
            "latitude",
            "longitude",
            "rgb",
            "rgba",
            "color",
            "colour",
            "seed",
            "row",
            "rows",
            "page",
            "pages",
            "issue",
            "issues",
            "pull",
            "bug",
            "cve",
            "imei",
            "imsi",
            "vin",
            "plate",
            "ms",
            "sec",
            "secs",
            "seconds",
            "milliseconds",
            "minutes",
            "hours",
            "days",
            "years",
            "population",
            "member",
            "sequence",
            "seq",
            "offset",
            "index",
            "count",
            "length",
            "width",
            "height",
            "flight",
            "booking",
            "reservation",
            "product",
            "batch",
            "customer",
            "employee",
            "user",
            "userid",
            "students",
            "people",
            "users",
            "km",
            "kb",
            "mb",
            "gb",
            "tb",
            "kg",
            "dollars",
            "euros",
            "pounds",
            "million",
            "billion",
            "thousand",
            "tokens",
            "records",
            "lines",
            "line",
            "times",
            "units",
            "rate",
            "score",
            "range",
            "max",
            "min",
            "limit",
            "trace",
            "span",
            "session",
            "request",
            "job",
            "task",
            "process",
            "thread",
            "checksum",
            "crc",
            "barcode",
            "upc",
            "ean",
            "gtin",
            "asin",
            "patent",
            "grant",
            "lei",
            "bic",
            "swiftcode",
            "sortcode",
            "iccid",
            "meid",
            "udid",
            "arn",
            "rfc",
            "iso",
        ],
    ),
];
