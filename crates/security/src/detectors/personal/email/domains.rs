//! Domain names behind an `@`, and the top-level domains that they may end in.

use crate::detectors::words::WordList;

/// The place of a domain in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Domain {
    pub(super) end: usize,
    /// Where its last label starts, and the one before it.
    pub(super) top: usize,
    pub(super) second: usize,
}

/// Whether what starts at `start` is followed by a dot as far as it may be a domain's first label,
/// which is seen sooner than what else a domain needs.
#[inline]
pub(super) fn has_dot(bytes: &[u8], start: usize, most: usize) -> bool {
    let mut ahead = bytes[start..].iter().take(most);
    let other = ahead.find(|byte| !IS_PLAIN[usize::from(**byte)]);
    other.is_some_and(|other| *other == b'.' || *other >= 0x80)
}

/// The domain that starts at `start`.
pub(super) fn read(text: &str, start: usize, most: usize) -> Option<Domain> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + most);
    let mut domain = None;
    let (mut label, mut before) = (start, start);
    let mut labels = 0;
    let mut i = start;
    loop {
        while i < limit && IS_PLAIN[usize::from(bytes[i])] {
            i += 1;
        }
        let byte = if i < limit { bytes[i] } else { 0 };
        if byte >= 0xC3 && is_letter_at(text, i) {
            i += 2;
            continue;
        }
        let len = i - label;
        if len == 0 || len > 63 || bytes[label] == b'-' {
            break;
        }
        labels += 1;
        if labels > 1 {
            let trimmed = bytes[i - 1] != b'-';
            if trimmed && is_top_level(&bytes[label..i]) {
                domain = Some(Domain { end: i, top: label, second: before });
            } else if domain.is_some() && !bytes[label].is_ascii_uppercase() {
                // `x@acme.co.handler` is no address; `ada@acme.co.Thanks` ends a sentence.
                return None;
            }
        }
        if byte != b'.' {
            break;
        }
        (before, label) = (label, i + 1);
        i = label;
    }
    domain
}

/// Letters and digits of ASCII, and dashes.
static IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        is_plain[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'-';
        byte += 1;
    }
    is_plain
};

/// Whether a letter of two bytes starts at `i`.
fn is_letter_at(text: &str, i: usize) -> bool {
    let letter = text.get(i..).and_then(|rest| rest.chars().next());
    letter.is_some_and(|letter| letter.len_utf8() == 2 && letter.is_alphabetic())
}

/// Whether `label` is a top-level domain.
fn is_top_level(label: &[u8]) -> bool {
    if label.starts_with(b"xn--") {
        return label.len() > 6;
    }
    let mut lower = [0; 16];
    let [first, tail @ ..] = label else { return false };
    if tail.is_empty() || label.len() > lower.len() {
        return false;
    }
    if tail.iter().all(u8::is_ascii_lowercase) && first.is_ascii_lowercase() {
        return is_known(label);
    }
    // Code has members in mixed case; people write `.com`, `.COM` or `.Com`.
    let even = tail.iter().all(u8::is_ascii_lowercase) || label.iter().all(u8::is_ascii_uppercase);
    let lower = &mut lower[..label.len()];
    lower.copy_from_slice(label);
    lower.make_ascii_lowercase();
    even && is_known(lower)
}

/// Whether the label in small letters is a top-level domain.
fn is_known(label: &[u8]) -> bool {
    match label {
        [a, b] => is_country(*a, *b),
        b"com" | b"org" | b"net" => true,
        _ => GENERIC.has_bytes(label),
    }
}

/// Whether the two letters are a country's domain (ISO 3166-1 and the few beyond it).
fn is_country(first: u8, second: u8) -> bool {
    let seconds: &[u8] = match first {
        b'a' => b"cdefgilmoqrstuwxz",
        b'b' => b"abdefghijmnorstvwyz",
        b'c' => b"acdfghiklmnoruvwxyz",
        b'd' => b"ejkmoz",
        b'e' => b"cegrstu",
        b'f' => b"ijkmor",
        b'g' => b"abdefghilmnpqrstuwy",
        b'h' => b"kmnrtu",
        b'i' => b"delmnoqrst",
        b'j' => b"emop",
        b'k' => b"eghimnprwyz",
        b'l' => b"abcikrstuvy",
        b'm' => b"acdeghklmnopqrstuvwxyz",
        b'n' => b"acefgilopruz",
        b'o' => b"m",
        b'p' => b"aefghklmnrstwy",
        b'q' => b"a",
        b'r' => b"eosuw",
        b's' => b"abcdeghiklmnorstuvxyz",
        b't' => b"cdfghjklmnortvwz",
        b'u' => b"agksyz",
        b'v' => b"aceginu",
        b'w' => b"fs",
        b'y' => b"et",
        b'z' => b"amw",
        _ => return false,
    };
    seconds.contains(&second)
}

/// The generic domains that people have their mail at, and the local ones of companies' networks.
/// Sorted. Not all that exist: many are words of programs (`map`, `call`, `data`).
static GENERIC: WordList = WordList::new(&[
    "academy",
    "accountants",
    "aero",
    "agency",
    "amsterdam",
    "apartments",
    "app",
    "art",
    "asia",
    "associates",
    "attorney",
    "auction",
    "bank",
    "bar",
    "barcelona",
    "bayern",
    "berlin",
    "best",
    "bike",
    "bio",
    "biz",
    "blog",
    "boston",
    "boutique",
    "brussels",
    "build",
    "builders",
    "business",
    "buzz",
    "bzh",
    "cafe",
    "camp",
    "capital",
    "care",
    "careers",
    "casa",
    "cat",
    "center",
    "charity",
    "church",
    "city",
    "clinic",
    "cloud",
    "club",
    "coach",
    "codes",
    "coffee",
    "college",
    "cologne",
    "com",
    "community",
    "company",
    "consulting",
    "contractors",
    "cool",
    "coop",
    "corp",
    "corsica",
    "credit",
    "cymru",
    "dental",
    "dentist",
    "design",
    "dev",
    "digital",
    "direct",
    "directory",
    "doctor",
    "domains",
    "eco",
    "edu",
    "education",
    "email",
    "energy",
    "engineer",
    "engineering",
    "enterprises",
    "estate",
    "eus",
    "events",
    "expert",
    "express",
    "family",
    "farm",
    "finance",
    "financial",
    "fit",
    "fitness",
    "foundation",
    "frl",
    "fund",
    "fyi",
    "gal",
    "gallery",
    "garden",
    "gent",
    "gmbh",
    "gov",
    "group",
    "guide",
    "guru",
    "hamburg",
    "health",
    "healthcare",
    "help",
    "holdings",
    "hospital",
    "hotel",
    "house",
    "immo",
    "inc",
    "industries",
    "info",
    "ink",
    "institute",
    "insure",
    "int",
    "international",
    "intranet",
    "investments",
    "istanbul",
    "jobs",
    "kiwi",
    "koeln",
    "lan",
    "law",
    "lawyer",
    "legal",
    "life",
    "link",
    "live",
    "llc",
    "local",
    "london",
    "ltd",
    "madrid",
    "management",
    "marketing",
    "md",
    "media",
    "melbourne",
    "miami",
    "mil",
    "mobi",
    "moe",
    "money",
    "moscow",
    "museum",
    "nagoya",
    "name",
    "net",
    "network",
    "news",
    "ngo",
    "nrw",
    "nyc",
    "one",
    "ong",
    "online",
    "org",
    "osaka",
    "paris",
    "partners",
    "photo",
    "photography",
    "photos",
    "physio",
    "plus",
    "post",
    "press",
    "pro",
    "productions",
    "properties",
    "pub",
    "quebec",
    "realtor",
    "recipes",
    "rehab",
    "reisen",
    "rent",
    "repair",
    "rest",
    "restaurant",
    "rio",
    "rocks",
    "ruhr",
    "saarland",
    "sale",
    "school",
    "science",
    "scot",
    "services",
    "shop",
    "site",
    "ski",
    "social",
    "software",
    "solar",
    "solutions",
    "space",
    "sport",
    "store",
    "studio",
    "support",
    "surgery",
    "swiss",
    "sydney",
    "systems",
    "tattoo",
    "tax",
    "taxi",
    "team",
    "tech",
    "technology",
    "tel",
    "tips",
    "tirol",
    "today",
    "tokyo",
    "tools",
    "top",
    "tours",
    "town",
    "trade",
    "training",
    "travel",
    "university",
    "uno",
    "vegas",
    "ventures",
    "vet",
    "video",
    "vin",
    "vip",
    "vision",
    "vlaanderen",
    "wales",
    "website",
    "wien",
    "wiki",
    "win",
    "wine",
    "work",
    "works",
    "world",
    "wtf",
    "xyz",
    "yoga",
    "zone",
    "zuerich",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(GENERIC.has("museum") && !GENERIC.has("handler"));
    }
}
