//! The columns of tables whose rows are about persons, by their names in many languages.
//!
//! A row is known by what was found in it. Its header, above it or in the statement's list of columns,
//! then says what the other columns have: names, addresses, dates of birth, numbers of documents.

use super::key::{self, Key};
use super::{told, word};
use crate::detectors::personal::labelled;
use crate::detectors::table::{self, Last};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// How far above a row its header may be, in lines and in bytes.
const LINES_ABOVE: usize = 6;
const LONGEST_LINE: usize = 400;
const STATEMENT: usize = 1200;

/// What a column has in its cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    PersonName,
    Person,
    Address,
    BirthDate,
    Document(Kind),
}

/// What a look at a column's name costs, in bytes that are read.
const COST_OF_NAME: usize = 160;

/// Reads the table that has a row at `at`, and pushes what its columns tell. Returns where it ends, if
/// there is one, and how many bytes were read.
pub(super) fn find(
    text: &str,
    at: usize,
    kinds: Kinds,
    out: &mut Vec<Finding>,
) -> (Option<usize>, usize) {
    let mut read = 0;
    let names = header_above(text, at, &mut read)
        .or_else(|| header_of_statement(text, at, &mut read))
        .unwrap_or_default();
    let (Some((first, _)), Some((_, last))) = (names.first(), names.last()) else {
        return (None, read);
    };
    let about_things = is_about_things(&text[*first..*last]);
    read += names.len() * COST_OF_NAME;
    let about_people = names.iter().any(|(start, end)| is_about_people(&text[*start..*end]));
    let mut until = 0;
    for (start, end) in &names {
        let name = &text[*start..*end];
        let Some(column) = Column::of(name, about_things) else { continue };
        // Anything has a `name`.
        let is_bare = !about_people && key::of_column(name) == Key::Name;
        let column = if is_bare { Column::Person } else { column };
        let mut last = Last::default();
        read += table::below(text, *start, &mut last, &mut |start, end| {
            let Some(cell) = text.get(start..end) else { return };
            if let Some((kind, length)) = column.kind(text, start, cell)
                && kinds.contains(kind)
            {
                out.push(Finding { start, end: start + length, kind, rule: "column" });
            }
        });
        until = until.max(last.until());
    }
    ((until > at).then_some(until), read)
}

/// Whether only a person has a column of this name: a birthday, a phone, an identity, a given name.
fn is_about_people(name: &str) -> bool {
    const CALLED: [&str; 10] =
        ["phone", "mobile", "mobil", "telef", "handy", "cell", "gender", "salary", "birth", "iban"];
    let lower = name.to_ascii_lowercase();
    CALLED.iter().any(|word| lower.contains(word))
        || lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == "tel")
        || key::of_column(name) != Key::Name
            && matches!(
                Column::of(name, false),
                Some(Column::PersonName | Column::BirthDate | Column::Document(_))
            )
}

/// The kind of the value from `start` to `end` in a record of a person whose field is called `name`.
/// Names have rules of their own.
pub(super) fn kind_of_field(
    text: &str,
    name: &str,
    (start, end): (usize, usize),
) -> Option<(Kind, usize)> {
    let cell = text.get(start..end)?;
    let column = Column::of(name, true)?;
    match column {
        Column::BirthDate | Column::Document(_) => column.kind(text, start, cell),
        _ => None,
    }
}

/// Whether `cell` may be a date or a document's number: a cheap look.
pub(super) fn may_be_told(cell: &str) -> bool {
    /// No date and no number is longer, with a time behind it.
    const LONGEST: usize = 64;
    cell.len() <= LONGEST && cell.bytes().filter(u8::is_ascii_digit).count() > 2
}

/// The places of the names in the header above the row at `at`. Adds to `read` what was read for them.
fn header_above(text: &str, at: usize, read: &mut usize) -> Option<Vec<(usize, usize)>> {
    let bytes = text.as_bytes();
    let floor = at.saturating_sub(LONGEST_LINE);
    let mut start = memchr::memrchr(b'\n', &bytes[floor..at]).map(|i| floor + i + 1)?;
    let ahead = &bytes[at..bytes.len().min(at + LONGEST_LINE)];
    let end = at + memchr::memchr(b'\n', ahead).unwrap_or(ahead.len());
    let row = &bytes[start..end];
    *read += row.len();
    // Sentences have commas, too, but few.
    let separators = row.iter().filter(|byte| matches!(byte, b',' | b';' | b'|' | b'\t')).count();
    if separators == 0 {
        return None;
    }
    let signs = [table::Sign::Semicolon, table::Sign::Tab, table::Sign::Pipe, table::Sign::Comma];
    let counts = signs.map(|sign| table::cells(row, sign).len());
    for _ in 0..LINES_ABOVE {
        let end = start.checked_sub(1)?;
        let floor = end.saturating_sub(LONGEST_LINE);
        start = match memchr::memrchr(b'\n', &bytes[floor..end]) {
            Some(i) => floor + i + 1,
            None if floor == 0 => 0,
            None => return None,
        };
        let line = &bytes[start..end];
        *read += line.len();
        if line.iter().filter(|byte| byte.is_ascii_digit()).count() > 3 {
            continue;
        }
        for (sign, count) in signs.into_iter().zip(counts) {
            if count < 2 || !line.contains(&sign.byte()) {
                continue;
            }
            let cells = table::cells(line, sign);
            if cells.len() == count {
                let place = |(from, to)| (start + from, start + to);
                let names: Vec<_> = cells.into_iter().map(place).filter(|(a, b)| a < b).collect();
                let is_known = |(a, b): &(usize, usize)| {
                    text.get(*a..*b).is_some_and(|name| Column::of(name, false).is_some())
                };
                *read += names.len() * COST_OF_NAME;
                return names.iter().any(is_known).then_some(names);
            }
        }
    }
    None
}

/// The places of the columns' names in the statement that has the row at `at`.
fn header_of_statement(text: &str, at: usize, read: &mut usize) -> Option<Vec<(usize, usize)>> {
    let bytes = text.as_bytes();
    let from = at.saturating_sub(STATEMENT);
    let before = &bytes[from..at];
    // A row of a statement begins with a bracket.
    memchr::memrchr(b'(', &before[before.len().saturating_sub(LONGEST_LINE)..])?;
    *read += before.len() / 2;
    let is_values =
        |i: &usize| before.get(*i..*i + 6).is_some_and(|word| word.eq_ignore_ascii_case(b"values"));
    let values = memchr::memrchr2_iter(b'v', b'V', before).find(is_values)?;
    let head = before[..values].trim_ascii_end().strip_suffix(b")")?;
    let open = memchr::memrchr(b'(', head)? + 1;
    let mut names = Vec::new();
    let mut start = from + open;
    for name in head[open..].split(|byte| *byte == b',') {
        let lead = name.len() - name.trim_ascii_start().len();
        let length = name.trim_ascii().len();
        if length > 0 && text.is_char_boundary(start + lead) {
            names.push((start + lead, start + lead + length));
        }
        start += name.len() + 1;
    }
    Some(names)
}

/// Whether a table is one of wares, whose `name` is not a person's.
fn is_about_things(header: &str) -> bool {
    const WORDS: [&str; 16] = [
        "sku", "price", "qty", "quantity", "stock", "colour", "color", "weight", "size", "version",
        "preis", "menge", "prix", "precio", "prezzo", "renk",
    ];
    let header = header.to_ascii_lowercase();
    let mut words = header.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.contains(&word))
}

/// Beginnings of words that name a column: of a date of birth, and of documents.
const BIRTH: [&str; 33] = [
    "birth",
    "dob",
    "born",
    "bday",
    "geb",
    "geboorte",
    "naiss",
    "nele",
    "neele",
    "nacim",
    "fecnac",
    "nacido",
    "fnac",
    "nasc",
    "nascita",
    "nato",
    "fodsel",
    "fodt",
    "fodd",
    "fodelse",
    "synty",
    "narozen",
    "narodenia",
    "urodz",
    "szulet",
    "dogum",
    "dogtar",
    "lahir",
    "ngaysinh",
    "рожд",
    "народж",
    "生年月日",
    "생년월일",
];
const NATIONAL: [&str; 42] = [
    "ssn",
    "nino",
    "dni",
    "nif",
    "nie",
    "cpf",
    "bsn",
    "pesel",
    "cpr",
    "fnr",
    "personnummer",
    "personnr",
    "hetu",
    "isikukood",
    "egn",
    "cnp",
    "oib",
    "jmbg",
    "tckn",
    "tckimlik",
    "rut",
    "curp",
    "cedula",
    "afm",
    "amka",
    "aadhaar",
    "nik",
    "cccd",
    "nsecu",
    "nosecu",
    "numsecu",
    "nationalid",
    "idnumber",
    "codicefiscale",
    "rodnecislo",
    "personalcode",
    "егн",
    "рнокпп",
    "αφμ",
    "αμκα",
    "身份证",
    "주민등록",
];
const LICENCE: [&str; 38] = [
    "driverlicen",
    "driverslicen",
    "drivinglicen",
    "personalausweis",
    "dlnumber",
    "reisepassnr",
    "fahrerlaubnis",
    "permit",
    "perso",
    "idcard",
    "licence",
    "license",
    "licno",
    "licnr",
    "dl",
    "dlno",
    "dlnr",
    "passport",
    "passno",
    "passnr",
    "docno",
    "docnr",
    "doc",
    "document",
    "idno",
    "idnr",
    "ausweis",
    "reisepass",
    "fuhrerschein",
    "permis",
    "patente",
    "cnh",
    "rijbewijs",
    "pasaporte",
    "passeport",
    "пасп",
    "护照",
    "여권",
];
const MEDICAL: [&str; 26] = [
    "memberid",
    "memberno",
    "healthid",
    "healthno",
    "hospitalno",
    "hospno",
    "medicalrecord",
    "medrec",
    "nhsno",
    "chino",
    "ohip",
    "ramq",
    "mrn",
    "patnr",
    "patno",
    "patid",
    "patientid",
    "patientno",
    "patientnr",
    "nhs",
    "kvnr",
    "medicare",
    "healthcard",
    "insuranceno",
    "insurancenr",
    "insuranceid",
];

/// Those of them that begin other words, too.
const WHOLE: [&str; 2] = ["permit", "perso"];
/// The longest name of a column.
const LONGEST_NAME: usize = 64;

/// The words of a column's name, joined, where each begins, and last where they end.
fn folded_words(name: &str) -> (String, Vec<usize>) {
    let mut joined = String::with_capacity(name.len());
    let mut starts = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut from = 0;
        let mut is_small = false;
        for (i, c) in part.char_indices() {
            if is_small && c.is_uppercase() {
                starts.push(joined.len());
                joined.push_str(&word::folded(&part[from..i]));
                from = i;
            }
            is_small = c.is_lowercase();
        }
        starts.push(joined.len());
        joined.push_str(&word::folded(&part[from..]));
    }
    starts.push(joined.len());
    (joined, starts)
}

impl Column {
    /// What a column with this name has.
    fn of(name: &str, about_things: bool) -> Option<Self> {
        if name.len() > LONGEST_NAME {
            return None;
        }
        let (folded, starts) = folded_words(name);
        // A short word is the whole name or stands apart in it.
        let is_long = |stem: &str| stem.len() > 4 || !stem.is_ascii();
        let is_it = |stem: &str| folded == stem || !is_long(stem) && is_apart(name, stem);
        let has = |stems: &[&str]| {
            let begins = |stem: &str| {
                let is_whole = WHOLE.contains(&stem);
                starts.iter().enumerate().any(|(i, start)| {
                    folded[*start..].strip_prefix(stem).is_some_and(|rest| {
                        !is_whole || starts.get(i + 1) == Some(&(folded.len() - rest.len()))
                    })
                })
            };
            // Languages that have no spaces have no beginnings of words, either.
            let is_within = |stem: &str| stem.starts_with(|c| c >= '⺀') && folded.contains(stem);
            stems
                .iter()
                .any(|stem| is_it(stem) || is_long(stem) && (begins(stem) || is_within(stem)))
        };
        let is_birth = |stem: &&str| is_it(stem) || is_long(stem) && folded.contains(*stem);
        if BIRTH.iter().any(is_birth) {
            return Some(Self::BirthDate);
        }
        // A part of a name that stands alone in its column needs no other.
        let is_part = ["first", "last", "fn", "ln", "sn"].iter().any(|part| {
            let words = name.rsplit(|c: char| !c.is_alphanumeric());
            words.take(1).any(|word| word.eq_ignore_ascii_case(part))
        });
        if is_part {
            return Some(Self::PersonName);
        }
        match key::of_column(name) {
            Key::PersonName => return Some(Self::PersonName),
            Key::Name if !about_things => return Some(Self::PersonName),
            Key::Person | Key::Party if !about_things => return Some(Self::Person),
            Key::Address => return Some(Self::Address),
            _ => {}
        }
        let documents = [
            (&NATIONAL[..], Kind::NationalId),
            (&MEDICAL, Kind::MedicalId),
            (&LICENCE, Kind::Licence),
        ];
        let kind = documents.into_iter().find(|(stems, _)| has(stems));
        kind.map(|(_, kind)| Self::Document(kind))
    }

    /// The kind of the cell at `start`, where it looks like what the column says, and how long it is.
    fn kind(self, text: &str, start: usize, cell: &str) -> Option<(Kind, usize)> {
        let whole = |kind, fits: bool| fits.then_some((kind, cell.len()));
        match self {
            Self::PersonName => {
                whole(Kind::Person, told::is_name(cell, false) || is_small_name(cell))
            }
            Self::Person => whole(Kind::Person, told::is_name(cell, true) || is_small_name(cell)),
            Self::Address => whole(Kind::Address, told::is_address(cell)),
            Self::BirthDate => {
                let end = labelled::date_at(text, start)?.1;
                let rest = text.get(end..start + cell.len())?;
                let fits = matches!(rest, "" | ".") || rest.starts_with(['T', ' ']);
                fits.then_some((Kind::BirthDate, end - start))
            }
            // What is only called a document may be an identity card, whose number has dots or is bare.
            Self::Document(Kind::Licence) if !is_of_passport(cell) => None,
            Self::Document(kind) => whole(kind, is_number(cell)),
        }
    }
}

/// Whether `word` stands in the name of a column as a word.
fn is_apart(name: &str, word: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|part| part.eq_ignore_ascii_case(word))
}

/// `bram van den broek`: known names, and what joins them.
fn is_small_name(cell: &str) -> bool {
    let flags = || cell.split(' ').map(told::flags_of);
    let mut known = 0;
    let fits = |flags: super::gazetteer::Flags| {
        use super::gazetteer::Flags;
        known += usize::from(flags.any(Flags::PERSON));
        flags.any(Flags::PERSON.with(Flags::PARTICLE)) || !flags.any(Flags::ORDINARY)
    };
    let letters = cell.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\''));
    letters && cell.len() < 64 && cell.contains(' ') && flags().all(fits) && known > 1
}

/// Whether `cell` is written like the number of a passport or a driving licence: without dots and
/// slashes, and of letters too where it is short or long.
fn is_of_passport(cell: &str) -> bool {
    let lettered = cell.starts_with(|c: char| c.is_ascii_uppercase());
    let bare = cell.bytes().filter(u8::is_ascii_digit).count();
    !cell.contains(['.', '/']) && (lettered || (7..=9).contains(&bare))
}

/// Whether `cell` is written like a document's number: of letters and digits, most of them digits.
fn is_number(cell: &str) -> bool {
    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
    let letters = cell.bytes().filter(u8::is_ascii_uppercase).count();
    let marks = cell.bytes().filter(|byte| matches!(byte, b' ' | b'-' | b'/' | b'.')).count();
    digits >= 4
        && (6..=20).contains(&(digits + letters))
        && digits + letters + marks == cell.len()
        && marks <= 4
        && letters <= 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, row: &str) -> Vec<String> {
        let mut out = Vec::new();
        let kinds = [Kind::Person, Kind::BirthDate, Kind::Licence, Kind::NationalId, Kind::Address];
        find(text, text.find(row).unwrap(), Kinds::of(&kinds), &mut out);
        out.iter().map(|finding| format!("{} {}", finding.kind, &text[finding.range()])).collect()
    }

    #[test]
    fn columns_say_what_is_in_their_cells() {
        for (text, row, expected) in [
            (
                "sukunimi;etunimi;hetu;osoite\nMäkelä;Veikko;030481-513L;Katu 78 A 7\n",
                "M",
                &[
                    "person Mäkelä",
                    "person Veikko",
                    "national_id 030481-513L",
                    "address Katu 78 A 7",
                ][..],
            ),
            (
                "driver_fn,driver_ln,dl#,issued\nMatilda,Xyzzler,N8844174,2018-03-04\n",
                "Ma",
                &["person Matilda", "person Xyzzler", "licence N8844174"],
            ),
            (
                "ФИО;Дата рождения;Город\nАркадий Воронцов;30.06.1967;Казань\n",
                "А",
                &["person Аркадий Воронцов", "birth_date 30.06.1967"],
            ),
            (
                "INSERT INTO t (nom, né_le) VALUES\n('Gschwend', '1992-08-24');",
                "Gsch",
                &["person Gschwend", "birth_date 1992-08-24"],
            ),
            ("sku,name,colour\nBX-1,Willow Basket,Natural\n", "BX", &[]),
            ("name,host\nFrobnicator,k@x.example\n", "Frob", &[]),
            ("name,phone\nXyzzler,0731555123\n", "Xyz", &["person Xyzzler"]),
            ("person_id,paid_number,permitted_no\nK8844174,8844175,8844176\n", "K8", &[]),
            (
                "first,driversLicense\nMatilda,N8844174\n",
                "Ma",
                &["person Matilda", "licence N8844174"],
            ),
        ] {
            let mut found = found(text, row);
            found.sort();
            let mut expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            expected.sort();
            assert_eq!(found, expected, "{text}");
        }
    }
}
