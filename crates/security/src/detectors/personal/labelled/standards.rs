//! Formats whose positions say what a value is: the segments of HL7 version 2 (2.5.1, chapters 3 and
//! 6), those of X12's health claims (005010X222), DICOM's attributes (PS3.6), vCards (RFC 6350) and
//! GEDCOM's lines.

use super::dates;
use crate::detectors::personal::context::starts_word;
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// The longest segment that is read, and the longest card.
const LONGEST: usize = 1024;

/// The words that begin such a place, in lower case.
pub(super) const WORDS: &[&str] = &[
    "pid|", "nk1|", "pv1|", "gt1|", "in1|", "obr|", "orc|", "nm1*", "n3*", "dmg*", "pn [", "vcard",
    "givn ",
];

/// Which part of a field is the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// The first component.
    First,
    /// The second and third: behind a person's number stand the names.
    Names,
}

type Fields = &'static [(usize, Kind, Part)];

/// What the fields of HL7's segments hold.
const SEGMENTS: [(&[u8], Fields); 7] = {
    use Kind::{Address, BirthDate, MedicalId, NationalId, Person, Phone};
    use Part::{First, Names, Whole};
    [
        (
            b"PID|",
            &[
                (2, MedicalId, First),
                (3, MedicalId, First),
                (4, MedicalId, First),
                (5, Person, Whole),
                (6, Person, Whole),
                (7, BirthDate, Whole),
                (11, Address, Whole),
                (13, Phone, First),
                (14, Phone, First),
                (19, NationalId, First),
            ],
        ),
        (
            b"NK1|",
            &[(2, Person, Whole), (4, Address, Whole), (5, Phone, First), (16, BirthDate, Whole)],
        ),
        (
            b"PV1|",
            &[(7, Person, Names), (8, Person, Names), (9, Person, Names), (17, Person, Names)],
        ),
        (
            b"GT1|",
            &[
                (3, Person, Whole),
                (5, Address, Whole),
                (6, Phone, First),
                (8, BirthDate, Whole),
                (12, NationalId, First),
            ],
        ),
        (
            b"IN1|",
            &[
                (16, Person, Whole),
                (18, BirthDate, Whole),
                (19, Address, Whole),
                (36, MedicalId, First),
            ],
        ),
        (b"OBR|", &[(16, Person, Names), (28, Person, Names)]),
        (b"ORC|", &[(12, Person, Names)]),
    ]
};

/// Pushes what the place that begins at `at` with one of [`WORDS`] tells. Returns how many bytes were
/// read.
pub(super) fn confirm(text: &str, at: usize, kinds: Kinds, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    if !starts_word(bytes, at) {
        return 0;
    }
    let rest = &bytes[at..];
    let mut push = |(start, end): (usize, usize), kind: Kind, rule| {
        if kinds.contains(kind) && end > start && text.get(start..end).is_some() {
            out.push(Finding { start, end, kind, rule });
        }
    };
    if let Some((_, fields)) = SEGMENTS.iter().find(|(name, _)| rest.starts_with(name)) {
        return hl7(bytes, at, fields, &mut push);
    }
    match rest {
        [b'N', b'M', b'1', ..] => claim(bytes, at, &mut push),
        [b'N', b'3', b'*', ..] => {
            let (elements, read) = elements(bytes, at);
            push(elements[1], Kind::Address, "x12");
            read
        }
        [b'D', b'M', b'G', b'*', b'D', b'8', b'*', ..] => {
            let (elements, read) = elements(bytes, at);
            push(elements[2], Kind::BirthDate, "x12");
            read
        }
        [b'P', b'N', b' ', b'[', ..] => patient(bytes, at, &mut push),
        [b'G', b'I', b'V', b'N', ..] => given_name(bytes, at, &mut push),
        _ if bytes[at.saturating_sub(6)..at].eq_ignore_ascii_case(b"begin:") => {
            card(text, at, &mut push)
        }
        _ => 0,
    }
}

/// The pieces from `at` on that `separator` divides, up to one of `ends`. A piece that is cut after
/// `most` bytes is left out.
fn pieces<'a>(
    bytes: &'a [u8],
    at: usize,
    most: usize,
    separator: u8,
    ends: &'a [u8],
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let limit = bytes.len().min(at + most);
    let mut next = Some(at);
    std::iter::from_fn(move || {
        let start = next.take()?;
        let is_end = |byte: &u8| *byte == separator || ends.contains(byte);
        let end = match bytes[start..limit].iter().position(is_end) {
            Some(length) => start + length,
            None if limit == bytes.len() => limit,
            None => return None,
        };
        next = (bytes.get(end) == Some(&separator)).then_some(end + 1);
        Some((start, end))
    })
}

fn hl7(
    bytes: &[u8],
    at: usize,
    fields: Fields,
    push: &mut impl FnMut((usize, usize), Kind, &'static str),
) -> usize {
    let mut read = 0;
    let places = pieces(bytes, at, LONGEST, b'|', b"\r\n\"\\");
    for (i, (start, end)) in places.enumerate() {
        let field = &bytes[start..end];
        // Another segment is read where it begins.
        let begins = |(name, _): &(&[u8], Fields)| {
            field.ends_with(&name[..name.len() - 1]) && starts_word(bytes, end + 1 - name.len())
        };
        if i > 0 && SEGMENTS.iter().any(begins) {
            break;
        }
        read = end - at;
        if let Some((_, kind, part)) = fields.iter().find(|(field, ..)| *field == i) {
            let components: Vec<&[u8]> = field.split(|byte| matches!(byte, b'^' | b'~')).collect();
            let lengths = |from: usize, to: usize| -> usize {
                components.iter().take(to).skip(from).map(|part| part.len() + 1).sum()
            };
            let (from, to) = match part {
                Part::Whole => (0, field.len()),
                Part::First => (0, components[0].len()),
                Part::Names => (lengths(0, 1), (lengths(0, 3).saturating_sub(1)).min(field.len())),
            };
            // Field 2 is a counter in many messages.
            let value = field.get(from..to).unwrap_or_default();
            let trimmed = value.iter().rev().take_while(|byte| **byte == b'^').count();
            if value.len() - trimmed >= 4 {
                push((start + from, start + to - trimmed), *kind, "hl7");
            }
        }
    }
    read
}

/// How many elements of a segment are read.
const ELEMENTS: usize = 10;

/// The places of the first elements of X12's segment at `at`, and how many bytes were read.
fn elements(bytes: &[u8], at: usize) -> ([(usize, usize); ELEMENTS], usize) {
    let mut elements = [(at, at); ELEMENTS];
    let mut read = 0;
    let places = pieces(bytes, at, LONGEST / 4, b'*', b"~\n\r\"'");
    for (element, (start, end)) in elements.iter_mut().zip(places) {
        // Another segment is read where it begins.
        if start > at && matches!(&bytes[start..end], b"NM1" | b"N3" | b"DMG") {
            break;
        }
        *element = (start, end);
        read = end - at;
    }
    (elements, read)
}

/// `NM1*IL*1*NAKAMURA*MARJORIE****MI*…`: who is insured, treated or paid.
fn claim(
    bytes: &[u8],
    at: usize,
    push: &mut impl FnMut((usize, usize), Kind, &'static str),
) -> usize {
    let (elements, read) = elements(bytes, at);
    let value = |n: usize| {
        let (start, end) = elements[n];
        &bytes[start..end]
    };
    if value(2) != b"1" {
        return read;
    }
    for (start, end) in &elements[3..=5] {
        if end - start > 1 {
            push((*start, *end), Kind::Person, "x12");
        }
    }
    match value(8) {
        b"MI" => push(elements[9], Kind::MedicalId, "x12"),
        b"34" => push(elements[9], Kind::NationalId, "x12"),
        _ => {}
    }
    read
}

/// `(0010,0010) PN [DOE^JANE]`, as DICOM's tools print it, and the patient's attributes below.
fn patient(
    bytes: &[u8],
    at: usize,
    push: &mut impl FnMut((usize, usize), Kind, &'static str),
) -> usize {
    const TAG: usize = "(0010,0010) ".len();
    const LINES: usize = 8;
    let Some(from) = at.checked_sub(TAG).filter(|from| bytes[*from] == b'(') else { return 0 };
    let mut read = 0;
    for (i, (start, end)) in pieces(bytes, from, LONGEST, b'\n', b"").take(LINES).enumerate() {
        let line = &bytes[start..end];
        read = end - from;
        let tag = line.get(..TAG - 1).unwrap_or_default().to_ascii_lowercase();
        let kind = match tag.as_slice() {
            // Another patient is read where he begins.
            b"(0010,0010)" if i > 0 => break,
            b"(0010,0030)" => Some(Kind::BirthDate),
            b"(0010,0020)" | b"(0010,1000)" => Some(Kind::MedicalId),
            b"(0010,1040)" => Some(Kind::Address),
            [b'(', ..] if i == 0 => Some(Kind::Person),
            _ => None,
        };
        let open = TAG + "PN [".len();
        let close = memchr::memchr(b']', line).filter(|close| *close > open);
        if let (Some(kind), Some(close)) = (kind, close)
            && line[open - 1] == b'['
        {
            push((start + open, start + close), kind, "dicom");
        }
    }
    read
}

/// `2 GIVN Mona` and `2 SURN …` on the next line.
fn given_name(
    bytes: &[u8],
    at: usize,
    push: &mut impl FnMut((usize, usize), Kind, &'static str),
) -> usize {
    const LINE: usize = 64;
    let level = bytes[..at].strip_suffix(b" ").and_then(<[u8]>::last);
    if !level.is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    let line = |from: usize| pieces(bytes, from, LINE, b'\n', b"\r").next();
    let Some((_, end)) = line(at) else { return LINE };
    push((at + "GIVN ".len(), end), Kind::Person, "gedcom");
    let next = bytes.get(end + 1..end + 8);
    if next.is_some_and(|next| next.ends_with(b" SURN "))
        && let Some(place) = line(end + 8)
    {
        push(place, Kind::Person, "gedcom");
    }
    2 * LINE
}

/// The names and the birthday of the card that begins before `at`.
fn card(text: &str, at: usize, push: &mut impl FnMut((usize, usize), Kind, &'static str)) -> usize {
    const LINES: usize = 32;
    let bytes = text.as_bytes();
    let mut read = 0;
    for (i, (start, end)) in pieces(bytes, at, LONGEST, b'\n', b"").take(LINES).enumerate() {
        let line = &bytes[start..end];
        // What stands on the first line has no card's form, and another card may begin there.
        if i == 0 && line.trim_ascii_end().len() > "vcard".len() {
            return line.len();
        }
        read = end - at;
        let upper = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        let colon = memchr::memchr(b':', line).map(|colon| start + colon + 1);
        match (upper.as_slice(), colon) {
            (b"END:" | b"BEGI", _) => break,
            ([b'N', b':' | b';', ..], Some(from)) => {
                let mut part = from;
                let names = text.get(from..end).unwrap_or_default();
                for name in names.trim_end().split(';').take(3) {
                    if name.len() > 1 {
                        push((part, part + name.len()), Kind::Person, "vcard");
                    }
                    part += name.len() + 1;
                }
            }
            (b"BDAY", Some(from)) => {
                if let Some(place) = dates::at(text, from) {
                    push(place, Kind::BirthDate, "vcard");
                }
            }
            _ => {}
        }
    }
    read
}
