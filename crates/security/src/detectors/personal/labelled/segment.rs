//! The PID segment of HL7 version 2 messages: who a patient is, field by field (HL7 2.5.1, 3.4.2).

use crate::detectors::personal::context::starts_word;
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// The longest segment that is read.
const LONGEST: usize = 1024;

/// What the fields hold. Of an identifier and a phone number only the first component is one.
const FIELDS: [(usize, Kind, bool); 9] = [
    (2, Kind::MedicalId, true),
    (3, Kind::MedicalId, true),
    (4, Kind::MedicalId, true),
    (5, Kind::Person, false),
    (7, Kind::BirthDate, false),
    (11, Kind::Address, false),
    (13, Kind::Phone, true),
    (14, Kind::Phone, true),
    (19, Kind::NationalId, true),
];

/// Pushes what the segment that starts at `at` with `PID|` tells.
pub(super) fn confirm(bytes: &[u8], at: usize, kinds: Kinds, out: &mut Vec<Finding>) {
    if !bytes[at..].starts_with(b"PID|") || !starts_word(bytes, at) {
        return;
    }
    let limit = bytes.len().min(at + LONGEST);
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n' | b'"' | b'\\');
    let length = bytes[at..limit].iter().position(is_end).unwrap_or(limit - at);
    let mut start = at;
    for (i, field) in bytes[at..at + length].split(|byte| *byte == b'|').enumerate() {
        let known = FIELDS.iter().find(|(field, ..)| *field == i);
        if let Some((_, kind, is_first)) = known.filter(|(_, kind, _)| kinds.contains(*kind)) {
            let first = field.iter().position(|byte| matches!(byte, b'^' | b'~'));
            let value = if *is_first { &field[..first.unwrap_or(field.len())] } else { field };
            // Field 2 is a counter in many messages.
            if value.len() >= 4 {
                out.push(Finding { start, end: start + value.len(), kind: *kind, rule: "hl7" });
            }
        }
        start += field.len() + 1;
    }
}
