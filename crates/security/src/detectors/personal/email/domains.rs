//! Domain names behind an `@`, and the top-level domains that they may end in.

use crate::detectors::words::WordList;

/// Where the domain that starts at `start` ends; `None` if there is none.
pub(super) fn end(text: &str, start: usize, most: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + most);
    let mut end = None;
    let mut label = start;
    let mut labels = 0;
    let mut i = start;
    loop {
        i += bytes[i.min(limit)..limit].iter().take_while(|b| IS_PLAIN[usize::from(**b)]).count();
        let byte = if i < limit { bytes[i] } else { 0 };
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte >= 0xC3 && is_letter_at(text, i) {
            i += if byte < 0x80 { 1 } else { 2 };
            continue;
        }
        let len = i - label;
        if len == 0 || len > 63 || bytes[label] == b'-' {
            break;
        }
        labels += 1;
        if labels > 1 {
            let trimmed = bytes[i - 1] != b'-';
            if trimmed && is_top_level(&text[label..i]) {
                end = Some(i);
            } else if end.is_some() && !bytes[label].is_ascii_uppercase() {
                // `x@acme.co.handler` is no address; `ada@acme.co.Thanks` ends a sentence.
                return None;
            }
        }
        if byte != b'.' {
            break;
        }
        label = i + 1;
        i = label;
    }
    end
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
fn is_top_level(label: &str) -> bool {
    // Code has members in mixed case; people write `.com`, `.COM` or `.Com`.
    let tail = &label.as_bytes()[label.len().min(1)..];
    let even = tail.iter().all(|b| b.is_ascii_lowercase())
        || label.bytes().all(|b| b.is_ascii_uppercase());
    if label.starts_with("xn--") {
        return label.len() > 6;
    }
    let mut lower = [0; 16];
    if !even || label.len() > lower.len() || label.len() < 2 {
        return false;
    }
    let lower = &mut lower[..label.len()];
    lower.copy_from_slice(label.as_bytes());
    lower.make_ascii_lowercase();
    match &*lower {
        [a, b] => is_country(*a, *b),
        b"com" | b"org" | b"net" => true,
        _ => std::str::from_utf8(lower).is_ok_and(|label| GENERIC.has(label)),
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
    "agency",
    "apartments",
    "app",
    "art",
    "asia",
    "associates",
    "attorney",
    "auction",
    "bank",
    "bar",
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
    "com",
    "community",
    "company",
    "consulting",
    "contractors",
    "cool",
    "coop",
    "corp",
    "credit",
    "dental",
    "dentist",
    "design",
    "dev",
    "digital",
    "direct",
    "directory",
    "doctor",
    "domains",
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
