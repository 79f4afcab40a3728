//! The words that say what a number is, by what they stand for.

use super::topics::*;

/// In lower case. Where a word stands twice, the first counts.
#[rustfmt::skip]
pub(super) const WORDS: &[(Topics, &[&str])] = &[
    // Calling somebody.
    (PHONE, &[
        "phone", "phones", "telephone", "telephones", "tel", "telefon", "telefonnummer", "telefono",
        "teléfono", "teléfonos", "tél", "téléphone", "telephonenumber", "telefone", "telefoon",
        "telefoonnummer", "telefonnr", "telnr", "telno", "mobile", "mobiles", "mobil",
        "mobilnummer", "mobiltelefon", "mobiel", "movil", "móvil", "celular", "cell", "cellphone",
        "cellular", "handy", "handynummer", "rufnummer", "portable", "cellulare", "fax",
        "faxnummer", "telefax", "whatsapp", "sms", "hotline", "helpline", "landline", "voicemail",
        "pager", "callerid", "msisdn", "ph", "phonenumber", "tlf", "puh", "puhelin",
        "puhelinnumero", "gsm", "viber", "switchboard", "handset", "festnetz", "phonenum",
        "phoneno", "fon", "mob", "telemóvel", "telemovel", "fijo", "fixe", "komórka", "тел", "τηλ",
        "telf", "tfno",
    ]),
    (REACH, &[
        "caller", "callers", "callback", "call", "calls", "called", "calling", "dial", "dialed",
        "dialled", "dialing", "reach", "reached", "reachable", "ring", "answering", "answer",
        "texting", "office", "desk", "contact", "contacts", "extension", "ext", "emergency",
        "anrufen", "erreichbar", "erreichen", "ruf", "rufen", "appeler", "appelez", "joindre",
        "joignable", "llamar", "llame", "llámame", "llamame", "llámeme", "contactar", "contacto",
        "chiamare", "chiamami", "contatto", "contattare", "ligar", "ligue", "bellen", "bel",
        "bereikbaar", "ringen", "zadzwoń", "reception", "receptionist", "kontakt", "phoned", "rang",
        "hq",
    ]),
    (NUMBER, &[
        "text", "message", "number", "numbers", "nummer", "numéro", "numero", "número", "num", "nr",
        "numer",
    ]),

    // Cards and accounts.
    (CARD, &[
        "card", "cards", "cardnumber", "cardno", "cardnum", "creditcard", "ccnumber", "ccnum", "cc",
        "credit", "debit", "visa", "mastercard", "amex", "maestro", "diners", "jcb", "unionpay",
        "kreditkarte", "kreditkartennummer", "kartennummer", "karte", "carte", "tarjeta", "carta",
        "cartão", "cartao", "creditcardnumber", "karta", "karty", "kaart", "creditkaart",
        "american",
    ]),
    (CARD | IN, &["pan"]),
    (IBAN, &["iban", "ibans"]),
    (IBAN | OTHER, &["bank"]),

    // Identity, tax and health.
    (US, &["ssn", "ssns", "itin", "socialsecurity", "socialsecuritynumber"]),
    (US | CA | OTHER, &["social"]),
    (UK | HEALTH | OTHER, &["nino", "ninos", "insurance"]),
    (UK, &["nationalinsurance", "nationalinsurancenumber"]),
    (DE, &[
        "steuer", "steuerid", "steueridnr", "steueridentifikationsnummer", "idnr", "steuernummer",
        "identifikationsnummer", "stidnr",
    ]),
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
    (IDENTITY, &[
        "identity", "identification", "citizen", "citizenship", "national", "nationalid",
        "ausweisnummer", "ausweis", "personalausweis", "idnumber", "cedula", "cédula", "rut",
        "identité", "identidad", "identità", "taxpayer",
    ]),
    (IDENTITY | OTHER, &["id", "ids"]),
    (HEALTH | OTHER, &["nhs", "patient", "health", "medical", "mrn", "mbi", "npi"]),

    // Programs and networks.
    (VERSION | OTHER, &[
        "version", "versions", "ver", "release", "upgrade", "upgraded", "section", "chapter",
        "clause", "paragraph", "figure", "oid", "build", "revision", "firmware", "driver",
        "appendix", "annex", "changelog", "semver", "update", "updated", "bump", "bumped",
        "downgrade", "oids", "object", "tag", "kapitel", "abschnitt",
    ]),
    (NETWORK, &[
        "ip", "ips", "ipv", "addr", "address", "addresses", "host", "hostname", "hosts", "server",
        "client", "peer", "remote", "dns", "nameserver", "gateway", "ping", "traceroute", "ssh",
        "allow", "deny", "blocked", "firewall", "subnet", "cidr", "network", "proxy", "forwarded",
        "listen", "bind", "connect", "connected", "connection", "src", "dst", "source",
        "destination", "endpoint", "inet", "upstream", "origin", "login", "visitor", "whois", "hop",
        "ipaddress", "ipaddr",
    ]),

    // Streets.
    (STREET, &[
        "street", "st", "lane", "ln", "road", "rd", "avenue", "ave", "drive", "dr", "parkway",
        "pkwy", "boulevard", "blvd", "court", "ct", "way", "square", "sq", "terrace", "place", "pl",
        "crescent", "close", "highway", "hwy", "circle", "trail", "strasse", "straße", "str", "rue",
        "via", "calle", "apt", "suite",
    ]),

    // Everything else that is counted or numbered.
    (OTHER, &[
        "order", "orders", "invoice", "invoices", "tracking", "account", "accounts", "acct",
        "ticket", "tickets", "case", "ref", "reference", "serial", "sku", "isbn", "issn", "doi",
        "commit", "hash", "port", "ports", "pid", "uid", "gid", "tid", "bytes", "byte", "size",
        "timestamp", "ts", "time", "date", "epoch", "policy", "claim", "confirmation", "routing",
        "aba", "swift", "transaction", "txn", "item", "items", "lot", "model", "part", "zip",
        "zipcode", "postal", "postcode", "plz", "code", "pin", "otp", "passport", "license",
        "licence", "registration", "vat", "ein", "amount", "price", "total", "balance", "usd",
        "eur", "gbp", "coordinates", "lat", "lon", "lng", "latitude", "longitude", "rgb", "rgba",
        "color", "colour", "seed", "row", "rows", "page", "pages", "issue", "issues", "pull", "bug",
        "cve", "imei", "imsi", "vin", "plate", "ms", "sec", "secs", "seconds", "milliseconds",
        "minutes", "hours", "days", "years", "population", "member", "sequence", "seq", "offset",
        "index", "count", "length", "width", "height", "flight", "booking", "reservation",
        "product", "batch", "customer", "employee", "user", "userid", "students", "people", "users",
        "km", "kb", "mb", "gb", "tb", "kg", "dollars", "euros", "pounds", "million", "billion",
        "thousand", "tokens", "records", "lines", "line", "times", "units", "rate", "score",
        "range", "max", "min", "limit", "trace", "span", "session", "request", "job", "task",
        "process", "thread", "checksum", "crc", "barcode", "upc", "ean", "gtin", "asin", "patent",
        "grant", "lei", "bic", "swiftcode", "sortcode", "iccid", "meid", "udid", "arn", "rfc",
        "iso",
    ]),
];
