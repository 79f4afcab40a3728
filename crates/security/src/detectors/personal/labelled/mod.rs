//! What only a word before it tells: dates of birth, licences and passports, numbers of the health
//! system, postal codes.
//!
//! The words are frequent in code (`license`, `zip`, `patient`); what follows decides: a value of the
//! right form, directly behind the word or behind words that lead to it (`number is`, `":`).

mod columns;
mod dates;
mod standards;
#[cfg(test)]
mod tests;
mod values;

use super::context::{byte, byte_before};
use crate::detectors::COST_OF_A_VALUE;
use crate::detectors::table::Last;
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use crate::names;
use values::Value;

/// The words that call [`confirm`], in lower case. They are looked for in any case and anywhere, also
/// inside other words (`driverLicense`, `date_of_birth`).
pub(crate) const WORDS: &[&str] = &[
    "birth",
    "born",
    "dob",
    "d.o.b",
    "geburtsdatum",
    "geboren",
    "geburtstag",
    "naissance",
    "nacimiento",
    "nacid",
    "nascita",
    "nascimento",
    "née le",
    "né le",
    "né(e) le",
    "nato/a",
    "nata/o",
    "geb. ",
    "nato il",
    "nata il",
    "naiss",
    "nac.",
    "född",
    "født",
    "fødsels",
    "syntynyt",
    "syntymä",
    "narozen",
    "született",
    "születés",
    "doğum",
    "ngày sinh",
    "tanggal lahir",
    "lahir",
    "b. ",
    "geb ",
    "geb_",
    "gebdat",
    "ne_le",
    "nee_le",
    "né_le",
    "bday",
    "födelse",
    "nac_",
    "nascid",
    "nasc",
    "geboortedatum",
    "urodzen",
    "licence",
    "license",
    "licencia de cond",
    "licencia de mane",
    "licencia",
    "lizenz",
    "führerschein",
    "permis de conduire",
    "patente di guida",
    "patente ",
    "permis de conducere",
    "førerkort",
    "kørekort",
    "ajokort",
    "carteira de motorista",
    "rijbewijs",
    "prawo jazdy",
    "körkort",
    "ehliyet",
    "carnet de conducir",
    "permiso de conducir",
    "carta de condu",
    "cnh ",
    "cnh:",
    "dl ",
    "dl:",
    "dl#",
    "oln ",
    "oln:",
    "passport",
    "passeport",
    "pasaporte",
    "passaporto",
    "reisepass",
    "paspoort",
    "paszport",
    "pasaport",
    "passaporte",
    "passnummer",
    "pass-nr",
    "pass nr",
    "hộ chiếu",
    "patient",
    "paciente",
    "paziente",
    "pid|",
    "nk1|",
    "pv1|",
    "gt1|",
    "in1|",
    "obr|",
    "orc|",
    "nm1*",
    "n3*",
    "dmg*",
    "pn [",
    "vcard",
    "givn ",
    "birt\n",
    "birt\r\n",
    "historia clínica",
    "krankenversicher",
    "nhi",
    "kvnr",
    "kv-nr",
    "mrn",
    "medical",
    "medicare",
    "medicaid",
    "insurance",
    "nhs",
    "health",
    "beneficiary",
    "versichert",
    "krankenkasse",
    "member",
    "mbi",
    "zip",
    "pstcd",
    "postal",
    "postcode",
    "post code",
    "plz",
    "postleitzahl",
    "codigo postal",
    "código postal",
    "code postal",
    "kod pocztowy",
    "codice postale",
    "posta kodu",
    // Columns and phrases that tell a name or an address.
    "name",
    "surname",
    "given",
    "nachname",
    "vorname",
    "nom",
    "cognome",
    "apellido",
    "namn",
    "holder",
    "adresse",
    "me llamo",
    "m'appelle",
    "ich hei",
    "mi chiamo",
    "i'm ",
    "ich bin ",
    "je suis ",
    "soy ",
    "my wife ",
    "my husband ",
    "my son ",
    "my daughter ",
    "my brother ",
    "my sister ",
    "my friend ",
    "my boss ",
    "my roommate ",
    "my flatmate ",
    "my colleague ",
    "my neighbour ",
    "my neighbor ",
    "my dad ",
    "my mum ",
    "my mom ",
    "my father ",
    "my mother ",
    "my uncle ",
    "my aunt ",
    "my cousin ",
    "my nephew ",
    "my niece ",
    "my girlfriend ",
    "my boyfriend ",
    "my partner ",
    "my landlord ",
    "my doctor ",
    "my manager ",
    "my client ",
    "my tenant ",
    "my therapist ",
    "my ex ",
    "macbook",
    "airpods",
];

/// What a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Birth,
    /// `b. `: only with the date directly behind it.
    ShortBirth,
    /// `license`: only with `driver` before it, or as somebody's.
    Licence,
    /// A driving licence in a language that has one word for it.
    DrivingLicence,
    Passport,
    /// A word that is a medical number's name.
    Medical,
    /// A place of a format whose positions tell.
    Segment,
    /// A word that is so only with `id`, `number`, `policy` behind it.
    MedicalThing,
    Postal,
    /// A column of names.
    Name,
    /// A column of addresses.
    Address,
    /// A thing that is called by its owner's name.
    Device,
    /// A phrase that somebody's name follows.
    Introduction,
    /// The same, but it may go on otherwise: `I am`, `my son`.
    Mention,
}

/// The place of the date that starts at `start`, if one does.
pub(crate) fn date_at(text: &str, start: usize) -> Option<(usize, usize)> {
    dates::at(text, start)
}

/// What a look that finds nothing costs, in about nanoseconds.
const COST: usize = 72;

/// Looks behind the word that starts at `at`, or below it in the table that `last` knows, and pushes
/// what it announces to `out`. Returns what the look cost.
pub(crate) fn confirm(
    text: &str,
    at: usize,
    kinds: Kinds,
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let Some(first) = bytes.get(at).map(u8::to_ascii_lowercase) else { return COST };
    // Frequent in code, and hardly ever a column's.
    if byte(bytes, at + 2) | 0x20 == b'm' && first == b'n' && !columns::may_name(bytes, at) {
        return COST / 8;
    }
    let here = |word: &&&str| {
        let word = word.as_bytes();
        word[0] == first
            && bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
    };
    // `postcode` has no word that is its start, so that the first is the right one.
    let is_frequent = here(&&"name");
    let word = if is_frequent { Some(&"name") } else { WORDS.iter().find(here) };
    let Some(word) = word else { return COST };
    if !is_meant(bytes, at, word) {
        return COST;
    }
    let (label, kind) = label(word);
    if label == Label::Segment {
        let known = out.len();
        let read = standards::confirm(text, at, kinds, out);
        return (COST + read).saturating_sub(COST_OF_A_VALUE * (out.len() - known));
    }
    if !kinds.contains(kind) {
        return COST;
    }
    if let Label::Name | Label::Address | Label::Device | Label::Introduction | Label::Mention =
        label
    {
        let known = out.len();
        let read = names_told(text, (at, word), (label, kinds), last, out);
        return (COST / 8 + read).saturating_sub(COST_OF_A_VALUE * (out.len() - known));
    }
    let end = at + word.trim_end_matches([' ', ':', '#', '.']).len();
    if word.len() <= 3 && label != Label::Name && !is_word(bytes, at, end, label) {
        return COST;
    }
    let known = out.len();
    let mut read = columns::confirm(text, (at, end), (label, kind), last, out);
    // `patient` and `member` may stand above names.
    if label == Label::MedicalThing && out.len() == known {
        read += columns::confirm_names(text, (at, end), kinds, last, out);
    }
    if out.len() > known {
        return read.saturating_sub(COST_OF_A_VALUE * (out.len() - known));
    }
    let found = match label {
        Label::Birth => dates::behind(text, at, end).map(|place| (place, "birth_date")),
        Label::ShortBirth => dates::at(text, at + word.len()).map(|place| (place, "birth_date")),
        Label::Segment
        | Label::Name
        | Label::Address
        | Label::Introduction
        | Label::Mention
        | Label::Device => None,
        Label::Licence if !driving(bytes, at) && !is_somebodys(bytes, at) => None,
        Label::Licence | Label::DrivingLicence => {
            values::behind(bytes, end, Value::Licence).map(|place| (place, "driving_licence"))
        }
        Label::Passport => {
            values::behind(bytes, end, Value::Passport).map(|place| (place, "passport"))
        }
        Label::Medical => {
            // The word may be a part of the number: `MRN-4003247`.
            let joined = byte(bytes, end) == b'-' && byte(bytes, end + 1).is_ascii_digit();
            let place = values::behind(bytes, end, Value::Medical);
            place.map(|(start, to)| (if joined { at } else { start }, to)).map(|p| (p, "medical"))
        }
        Label::MedicalThing => {
            values::behind(bytes, end, Value::NamedMedical).map(|place| (place, "medical"))
        }
        Label::Postal => {
            values::behind(bytes, end, Value::Postal).map(|place| (place, "postal_code"))
        }
    };
    let Some(((start, end), rule)) = found else { return COST + read };
    if *word == "patente " && is_of_patent(&bytes[start..end]) {
        return COST + read;
    }
    out.push(Finding { start, end, kind, rule });
    if label == Label::Birth {
        more_dates(text, end, out);
    }
    0
}

/// Whether the word at `at`, which is a part of others, is no part of one that means something else.
fn is_meant(bytes: &[u8], at: usize, word: &str) -> bool {
    let behind = &bytes[at + word.len()..];
    match word {
        // `nascent`
        "nasc" => !behind.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80),
        // `nac_policy`
        "nac_" => {
            let before = &bytes[at.saturating_sub(6)..at];
            let follows = |end: &[u8]| {
                before.len() >= end.len()
                    && before[before.len() - end.len()..].eq_ignore_ascii_case(end)
            };
            follows(b"fec_")
                || follows(b"fecha_")
                || follows(b"f_") && !byte_before(bytes, at - 2).is_ascii_alphanumeric()
                || behind.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"fecha"))
        }
        _ => true,
    }
}

/// `EP1234567`: a patent, which is a `patente` as well.
fn is_of_patent(number: &[u8]) -> bool {
    [b"EP", b"US", b"WO"].iter().any(|office| {
        number
            .strip_prefix(*office)
            .is_some_and(|rest| !rest.is_empty() && !rest[0].is_ascii_alphabetic())
    })
}

/// Pushes the dates that follow in a list of dates of birth, behind the one that ends at `end`.
fn more_dates(text: &str, mut end: usize, out: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    while let Some(quote @ (b'"' | b'\'')) = bytes.get(end).copied() {
        let rest = &bytes[end + 1..];
        let Some(next) = rest.strip_prefix(b",") else { return };
        let blanks = next.iter().take(8).take_while(|byte| byte.is_ascii_whitespace()).count();
        let start = end + 2 + blanks + 1;
        let found = (next.get(blanks) == Some(&quote)).then(|| dates::at(text, start)).flatten();
        let Some((start, to)) = found else { return };
        out.push(Finding { start, end: to, kind: Kind::BirthDate, rule: "birth_date" });
        end = to;
    }
}

/// Pushes the names that the word at `at` tells, or that stand below it in a table. Returns what was
/// read in vain, in bytes.
fn names_told(
    text: &str,
    (at, word): (usize, &str),
    (label, kinds): (Label, Kinds),
    last: &mut Last,
    out: &mut Vec<Finding>,
) -> usize {
    let behind = at + word.len();
    let rest = &text.as_bytes()[behind..];
    let person = |start, end| Finding { start, end, kind: Kind::Person, rule: "told" };
    match label {
        Label::Device => out.extend(names::owner(text, at).map(|(start, end)| person(start, end))),
        Label::Mention => {
            out.extend(names::mentioned(text, behind).map(|end| person(behind, end)));
        }
        Label::Introduction => {
            // The word's end: `ich heiße`.
            let start = behind + rest.iter().take(8).take_while(|b| **b != b' ').count() + 1;
            out.extend(names::introduced(text, start).map(|end| person(start, end)));
        }
        _ => {
            let read = columns::confirm_names(text, (at, behind), kinds, last, out);
            if label == Label::Name && kinds.contains(Kind::Person) {
                out.extend(names_behind(text, at, behind).map(|(start, end)| person(start, end)));
            }
            return read;
        }
    }
    0
}

/// The name behind `name is` or, in small letters, behind `customer: `.
fn names_behind(text: &str, at: usize, end: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    if bytes[end..].starts_with(b" is ") {
        // A string that begins so shows what somebody could say.
        let quoted = matches!(bytes[..at], [.., b'"' | b'\'', b'M' | b'm', b'y', b' ']);
        let start = end + 4;
        return names::introduced(text, start).filter(|_| !quoted).map(|end| (start, end));
    }
    // One word in small letters could be anything.
    let start = end + 2;
    let is_field = bytes[end..].starts_with(b": ");
    let found = is_field.then(|| names::mentioned(text, start)).flatten()?;
    text[start..found].contains(' ').then_some((start, found))
}

/// Whether the short word from `at` to `end` is a word, or one of those in `patientMrn` and
/// `zipCode`.
fn is_word(bytes: &[u8], at: usize, end: usize, label: Label) -> bool {
    let (before, after) = (byte_before(bytes, at), byte(bytes, end));
    let hump = |first: u8, second: u8| !first.is_ascii_uppercase() && second.is_ascii_uppercase();
    let starts = !before.is_ascii_alphanumeric() || hump(before, bytes[at]);
    let ends = !after.is_ascii_alphabetic() || hump(bytes[end - 1], after);
    starts && (ends || label == Label::Postal)
}

fn label(word: &str) -> (Label, Kind) {
    match word {
        "licence" | "license" | "licencia" | "lizenz" => (Label::Licence, Kind::Licence),
        "b. " | "geb. " | "geb " => (Label::ShortBirth, Kind::BirthDate),
        _ if standards::WORDS.contains(&word) => (Label::Segment, Kind::MedicalId),
        "prawo jazdy"
        | "körkort"
        | "ehliyet"
        | "carnet de conducir"
        | "permiso de conducir"
        | "carta de condu"
        | "cnh "
        | "cnh:"
        | "führerschein"
        | "permis de conduire"
        | "patente di guida"
        | "carteira de motorista"
        | "rijbewijs"
        | "dl "
        | "dl:"
        | "dl#"
        | "oln "
        | "oln:"
        | "licencia de cond"
        | "licencia de mane"
        | "patente "
        | "permis de conducere"
        | "førerkort"
        | "kørekort"
        | "ajokort" => (Label::DrivingLicence, Kind::Licence),
        "passport" | "passeport" | "pasaporte" | "passaporto" | "reisepass" | "paspoort"
        | "paszport" | "pasaport" | "passaporte" | "passnummer" | "pass-nr" | "pass nr"
        | "hộ chiếu" => (Label::Passport, Kind::Licence),
        "mrn" | "nhs" | "mbi" | "kvnr" | "kv-nr" | "nhi" | "historia clínica"
        | "krankenversicher" => (Label::Medical, Kind::MedicalId),
        "patient" | "paciente" | "paziente" | "medical" | "medicare" | "medicaid" | "insurance"
        | "health" | "beneficiary" | "versichert" | "krankenkasse" | "member" => {
            (Label::MedicalThing, Kind::MedicalId)
        }
        "zip" | "postal" | "postcode" | "post code" | "plz" | "postleitzahl" | "codigo postal"
        | "código postal" | "code postal" | "pstcd" | "kod pocztowy" | "codice postale"
        | "posta kodu" => (Label::Postal, Kind::PostalCode),
        "adresse" => (Label::Address, Kind::Address),
        "me llamo" | "m'appelle" | "ich hei" | "mi chiamo" => (Label::Introduction, Kind::Person),
        "i'm " | "ich bin " | "je suis " | "soy " => (Label::Mention, Kind::Person),
        "macbook" | "airpods" => (Label::Device, Kind::Person),
        _ if word.starts_with("my ") => (Label::Mention, Kind::Person),
        "name" | "surname" | "given" | "nachname" | "vorname" | "nom" | "cognome" | "apellido"
        | "namn" | "holder" => (Label::Name, Kind::Person),
        _ => (Label::Birth, Kind::BirthDate),
    }
}

/// Whether it is called somebody's: `his licence is L96350178`. A program's has no owner.
fn is_somebodys(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(6)..at];
    [&b" his "[..], b" her ", b" my ", b"My ", b" your ", b" their "]
        .iter()
        .any(|word| before.ends_with(word))
}

/// Whether the licence at `at` is one to drive: `driver's license`, `driving_licence`,
/// `driverLicense`, `license number` of a `DL`.
fn driving(bytes: &[u8], at: usize) -> bool {
    // In data, a field of the driver stands before: `{"driver": "…", "licence_no": "…"}`.
    let reach = if matches!(byte(bytes, at + 7), b'_' | b'"' | b' ' | b'N') { 96 } else { 14 };
    let before = &bytes[at.saturating_sub(reach)..at];
    let has = |word: &[u8]| before.windows(word.len()).any(|here| here.eq_ignore_ascii_case(word));
    let after = byte(bytes, at + 7);
    (has(b"driv") || has(b"conduc") || has(b"operator")) && !after.is_ascii_digit()
}
