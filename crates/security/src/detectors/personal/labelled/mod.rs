//! What only a word before it tells: dates of birth, licences and passports, numbers of the health
//! system, postal codes.
//!
//! The words are frequent in code (`license`, `zip`, `patient`); what follows decides: a value of the
//! right form, directly behind the word or behind words that lead to it (`number is`, `":`).

mod columns;
mod dates;
mod segment;
#[cfg(test)]
mod tests;
mod values;

use super::context::{byte, byte_before};
use crate::detectors::table::Last;
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
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
    "nascid",
    "geboortedatum",
    "urodzen",
    "licence",
    "license",
    "licencia",
    "lizenz",
    "führerschein",
    "permis de conduire",
    "patente di guida",
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
    "passport",
    "passeport",
    "pasaporte",
    "passaporto",
    "reisepass",
    "paspoort",
    "paszport",
    "pasaport",
    "passaporte",
    "patient",
    "paciente",
    "paziente",
    "pid|",
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
    /// The segment of an HL7 message that tells of a patient.
    Segment,
    /// A word that is so only with `id`, `number`, `policy` behind it.
    MedicalThing,
    Postal,
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
    let here = |word: &&&str| {
        let word = word.as_bytes();
        word[0] == first
            && bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word))
    };
    // `postcode` has no word that is its start, so that the first is the right one.
    let Some(word) = WORDS.iter().find(here) else { return COST };
    let (label, kind) = label(word);
    if label == Label::Segment {
        segment::confirm(bytes, at, kinds, out);
        return COST;
    }
    if !kinds.contains(kind) {
        return COST;
    }
    let end = at + word.trim_end_matches([' ', ':', '#', '.']).len();
    if word.len() <= 3 && !is_word(bytes, at, end, label) {
        return COST;
    }
    let known = out.len();
    let read = columns::confirm(text, (at, end), (label, kind), last, out);
    if out.len() > known {
        return 0;
    }
    let found = match label {
        Label::Birth => dates::behind(text, at, end).map(|place| (place, "birth_date")),
        Label::ShortBirth => dates::at(text, at + word.len()).map(|place| (place, "birth_date")),
        Label::Segment => None,
        Label::Licence if !driving(bytes, at) && !is_somebodys(bytes, at) => None,
        Label::Licence | Label::DrivingLicence => {
            values::behind(bytes, end, Value::Licence).map(|place| (place, "driving_licence"))
        }
        Label::Passport => {
            values::behind(bytes, end, Value::Passport).map(|place| (place, "passport"))
        }
        Label::Medical => {
            values::behind(bytes, end, Value::Medical).map(|place| (place, "medical"))
        }
        Label::MedicalThing => {
            values::behind(bytes, end, Value::NamedMedical).map(|place| (place, "medical"))
        }
        Label::Postal => {
            values::behind(bytes, end, Value::Postal).map(|place| (place, "postal_code"))
        }
    };
    let Some(((start, end), rule)) = found else { return COST + read };
    out.push(Finding { start, end, kind, rule });
    0
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
        "b. " => (Label::ShortBirth, Kind::BirthDate),
        "pid|" => (Label::Segment, Kind::MedicalId),
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
        | "dl#" => (Label::DrivingLicence, Kind::Licence),
        "passport" | "passeport" | "pasaporte" | "passaporto" | "reisepass" | "paspoort"
        | "paszport" | "pasaport" | "passaporte" => (Label::Passport, Kind::Licence),
        "mrn" | "nhs" | "mbi" | "kvnr" | "kv-nr" => (Label::Medical, Kind::MedicalId),
        "patient" | "paciente" | "paziente" | "medical" | "medicare" | "medicaid" | "insurance"
        | "health" | "beneficiary" | "versichert" | "krankenkasse" | "member" => {
            (Label::MedicalThing, Kind::MedicalId)
        }
        "zip" | "postal" | "postcode" | "post code" | "plz" | "postleitzahl" | "codigo postal"
        | "código postal" | "code postal" | "pstcd" | "kod pocztowy" | "codice postale"
        | "posta kodu" => (Label::Postal, Kind::PostalCode),
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
    let before = &bytes[at.saturating_sub(14)..at];
    let has = |word: &[u8]| before.windows(word.len()).any(|here| here.eq_ignore_ascii_case(word));
    let after = byte(bytes, at + 7);
    (has(b"driv") || has(b"conduc") || has(b"operator")) && !after.is_ascii_digit()
}
