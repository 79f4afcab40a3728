//! Records without names of fields: `(17, "Bianchi", "Facundo", "1963-12-06", "+39 …")`.
//!
//! What is found surely (an e-mail address, a phone or an identity number, somebody's name) says that
//! its line is about a person. Then its other cells that are written like a name or a date of birth are
//! taken for that: a table's header, where there is one, is read elsewhere.

use super::gazetteer::Flags;
use super::key::{self, Key};
use super::things::is_thing;
use super::{columns, introduces, mail, told};
use crate::detectors::Budget;
use crate::detectors::personal::labelled;
use crate::finding::{Finding, settle};
use crate::kind::{Kind, Kinds};

/// How far a line is read on both sides of what was found.
const REACH: usize = 240;
/// The most cells of a record.
const MOST_CELLS: usize = 32;

/// What says that a line is about a person.
const ANCHORS: Kinds = Kinds::of(&[
    Kind::Email,
    Kind::Phone,
    Kind::NationalId,
    Kind::BirthDate,
    Kind::MedicalId,
    Kind::Licence,
    Kind::Mac,
    Kind::Person,
]);

/// Pushes what stands beside the findings in `out`.
pub(super) fn find(text: &str, kinds: Kinds, budget: &Budget, out: &mut Vec<Finding>) {
    if !kinds.contains(Kind::Person) {
        return;
    }
    let mut anchors: Vec<Finding> =
        out.iter().filter(|finding| ANCHORS.contains(finding.kind)).copied().collect();
    anchors.sort_unstable_by_key(|anchor| anchor.start);
    spare_values(text, &anchors, out);
    let mut more = Vec::new();
    let (mut until, mut headless, mut fields_until) = (0, 0, 0);
    let mut cells = Vec::new();
    for (i, anchor) in anchors.iter().enumerate() {
        if !budget.has(anchor.start) {
            break;
        }
        beside(text, anchor, budget, &mut more);
        if anchor.start < until {
            continue;
        }
        if anchor.start >= fields_until {
            fields_until = fields(text, anchor, fields_until, budget, &mut cells, &mut more);
        }
        // Where there is no header above a line, there is none above its neighbours.
        if anchor.start >= headless {
            let (end, read) = columns::find(text, anchor.start, kinds, &mut more);
            if let Some(end) = end {
                budget.spend(COST_OF_HEADER + read / BYTES_OF_A_NANOSECOND);
                until = end;
                continue;
            }
            budget.spend(COST_OF_HEADER.max(read / BYTES_IN_VAIN_OF_A_NANOSECOND));
            headless = anchor.start + NEIGHBOURS;
        }
        let (from, to) = line_around(text, anchor, until);
        until = to.max(anchor.end);
        // A value that is alone on its line is no record.
        if to - from < anchor.end - anchor.start + SHORTEST {
            continue;
        }
        cells.clear();
        split(text, (from, to), &mut cells);
        budget.spend(((to - from) / BYTES_OF_A_NANOSECOND).saturating_sub(PAID_BY_A_VALUE));
        if (2..=MOST_CELLS).contains(&cells.len()) {
            let before = anchors[..i].iter().rev().take_while(|other| other.end > from).count();
            let here = anchors[i - before..].iter().take_while(|other| other.start < to).count();
            let found = &anchors[i - before..i - before + here];
            Record { text, cells: &cells, found, kinds }.read(&mut more);
        }
    }
    // What is known already would be counted twice.
    more.retain(|finding| {
        let near = anchors.partition_point(|anchor| anchor.end <= finding.start);
        let known = anchors.get(near);
        known.is_none_or(|known| known.start > finding.start || known.end < finding.end)
    });
    settle(&mut more);
    out.append(&mut more);
}

/// Takes the phone or identity number in front of an address out of it.
fn spare_values(text: &str, anchors: &[Finding], out: &mut [Finding]) {
    for address in out.iter_mut().filter(|finding| finding.kind == Kind::Address) {
        let near = anchors.partition_point(|anchor| anchor.end <= address.start);
        let Some(anchor) = anchors.get(near).filter(|anchor| anchor.kind != Kind::Person) else {
            continue;
        };
        if anchor.start <= address.start && anchor.end < address.end {
            let rest = &text[anchor.end..address.end];
            address.start = address.end - rest.trim_start_matches([',', ' ', ';', '|', '\n']).len();
        }
    }
}

/// Pushes the dates of birth and the numbers of documents in the fields around `anchor`, from `floor`
/// on. Returns where the fields end.
fn fields(
    text: &str,
    anchor: &Finding,
    floor: usize,
    budget: &Budget,
    cells: &mut Vec<Cell>,
    out: &mut Vec<Finding>,
) -> usize {
    let bytes = text.as_bytes();
    let from = anchor.start.saturating_sub(REACH).max(floor.min(anchor.start));
    let to = (anchor.end + REACH).min(bytes.len());
    let (from, to) = (text.ceil_char_boundary(from), text.floor_char_boundary(to));
    // Another object is about somebody else.
    let ends = |byte: &u8| matches!(byte, b'{' | b'}');
    let before = bytes[from..anchor.start].iter().rposition(ends).map_or(from, |at| from + at + 1);
    let to = bytes[anchor.end..to].iter().position(ends).map_or(to, |at| anchor.end + at);
    if !bytes[before..to].iter().any(|byte| matches!(byte, b':' | b'=')) {
        return to;
    }
    cells.clear();
    split(text, (before, to), cells);
    budget.spend(((to - before) / BYTES_OF_A_NANOSECOND).saturating_sub(PAID_BY_A_VALUE));
    for cell in cells.iter() {
        if !columns::may_be_told(&text[cell.start..cell.end]) {
            continue;
        }
        let Some(name) = key::name_before(text, cell.start) else { continue };
        budget.spend(COST_OF_FIELD);
        let found = columns::kind_of_field(text, name, (cell.start, cell.end));
        out.extend(found.map(|(kind, length)| Finding {
            start: cell.start,
            end: cell.start + length,
            kind,
            rule: "field",
        }));
    }
    to
}

/// Pushes the names that an address repeats, or that stand in front of what is somebody's.
fn beside(text: &str, anchor: &Finding, budget: &Budget, out: &mut Vec<Finding>) {
    if anchor.kind == Kind::Email {
        let read = mail::find(text, (anchor.start, anchor.end), out);
        budget.spend((read / BYTES_OF_A_NANOSECOND).saturating_sub(PAID_BY_A_VALUE));
    }
    if anchor.kind != Kind::Person
        && let Some((start, end)) = introduces::before(text, anchor.start)
    {
        out.push(Finding { start, end, kind: Kind::Person, rule: "beside" });
    }
}

/// What the search for a header costs at least, and a look at a field's name, in about nanoseconds.
const COST_OF_HEADER: usize = 100;
const COST_OF_FIELD: usize = 50;
/// Lines with somebody's data cost less than they take, as the data does, which pays for some of it.
const BYTES_OF_A_NANOSECOND: usize = 2;
const PAID_BY_A_VALUE: usize = 60;
/// Where no header stands, lines are only skimmed.
const BYTES_IN_VAIN_OF_A_NANOSECOND: usize = 4;
/// So many bytes behind a line without a header, none is looked for.
const NEIGHBOURS: usize = 400;
/// What a line has beside a value at least, if there is more in it than a label.
const SHORTEST: usize = 6;

/// The line of `anchor`, from `floor` on.
fn line_around(text: &str, anchor: &Finding, floor: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let from = anchor.start.saturating_sub(REACH).max(floor.min(anchor.start));
    let from = memchr::memrchr(b'\n', &bytes[from..anchor.start]).map_or(from, |i| from + i + 1);
    let to = (anchor.end + REACH).min(bytes.len());
    let to = memchr::memchr(b'\n', &bytes[anchor.end..to]).map_or(to, |i| anchor.end + i);
    (text.ceil_char_boundary(from), text.floor_char_boundary(to))
}

/// A value between separators or quotation marks.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    quoted: bool,
}

/// Splits a line at the separators of tables and lists, and takes quotation marks off.
fn split(text: &str, (from, to): (usize, usize), cells: &mut Vec<Cell>) {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut start = from;
    let mut add = |start: usize, end: usize, quoted: bool| {
        let cell = &text[start..end];
        let lead = cell.len() - cell.trim_start().len();
        let cell = cell.trim();
        if !cell.is_empty() {
            let start = start + lead;
            cells.push(Cell { start, end: start + cell.len(), quoted });
        }
    };
    while at < to {
        match bytes[at] {
            b'"' | b'\'' if is_opening(bytes, at) => {
                let quote = bytes[at];
                let Some(length) = memchr::memchr(quote, &bytes[at + 1..to]) else { break };
                // What stands before the quotation mark is a key or an operator.
                add(at + 1, at + 1 + length, true);
                at += length + 2;
                start = at;
            }
            b'\n' | b',' | b';' | b'|' | b'\t' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'*'
            | b'^' => {
                add(start, at, false);
                at += 1;
                start = at;
            }
            b':' | b'=' | b'"' => {
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    if start < to && start <= at {
        add(start, to, false);
    }
}

/// Whether the quotation mark at `at` opens a value: it is no apostrophe.
fn is_opening(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map_or(b' ', |i| bytes[i]);
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    !before.is_ascii_alphanumeric() && before < 0x80 && next != b' '
        || before == b'N' && bytes[at] == b'\''
}

struct Record<'a> {
    text: &'a str,
    cells: &'a [Cell],
    found: &'a [Finding],
    kinds: Kinds,
}

impl Record<'_> {
    fn read(&self, out: &mut Vec<Finding>) {
        let mut has_person = self.found.iter().any(|finding| finding.kind == Kind::Person);
        for (i, cell) in self.cells.iter().enumerate() {
            if self.is_found(cell) || !self.is_apart(cell) || !self.is_person(i) {
                continue;
            }
            has_person = true;
            let (start, end) = (cell.start, cell.end);
            out.push(Finding { start, end, kind: Kind::Person, rule: "record" });
        }
        if has_person && self.kinds.contains(Kind::BirthDate) && self.birth_date(out) {
            self.document(out);
        }
    }

    fn is_found(&self, cell: &Cell) -> bool {
        self.found.iter().any(|finding| finding.start < cell.end && finding.end > cell.start)
    }

    /// Whether the cell is one: between quotation marks, or between a table's separators.
    fn is_apart(&self, cell: &Cell) -> bool {
        if cell.quoted {
            return true;
        }
        let bytes = self.text.as_bytes();
        let before = bytes[..cell.start].trim_ascii_end();
        let tight = before.len() == cell.start;
        let sign =
            |byte: u8| matches!(byte, b'|' | b'\t' | b';' | b'*' | b'^') || tight && byte == b',';
        let bracket = |byte: u8| matches!(byte, b'(' | b'[' | b',');
        let line = self.cells[0].start.saturating_sub(1).min(cell.start);
        let is_tuple = || self.cells.len() > 3 && bytes[line..cell.start].contains(&b'(');
        let behind = bytes.get(cell.end).copied().unwrap_or(b'\n');
        let before = match bytes.get(cell.start.wrapping_sub(1)) {
            Some(b'\t') => b'\t',
            _ => before.last().copied().unwrap_or(b'\n'),
        };
        let ends = matches!(
            behind,
            b'|' | b'\t' | b';' | b',' | b'\n' | b'\r' | b')' | b'*' | b'^' | b' '
        );
        let begins = sign(before)
            || matches!(before, b'\n') && matches!(behind, b'|' | b'\t' | b';' | b',')
            || bracket(before) && is_tuple();
        begins && ends
    }

    /// Whether the cell holds a person's name, or a part of it beside another part.
    fn is_person(&self, nth: usize) -> bool {
        let cell = &self.cells[nth];
        let value = self.value(cell);
        match key::before(self.text, cell.start) {
            Key::PersonName => return is_written_like_name(value),
            // A subject, a contact or a driver may be a thing as well.
            Key::Person => return is_written_like_name(value) && has_known_name(value),
            Key::None | Key::Name | Key::Party => {}
            Key::Other if !self.is_keyed(cell) => {}
            _ => return false,
        }
        if value.contains(' ') {
            return is_full_name(value);
        }
        let beside = [nth.checked_sub(1), Some(nth + 1)].into_iter().flatten();
        let beside = beside.filter_map(|i| self.cells.get(i)).map(|cell| self.value(cell));
        is_part_of_name(value)
            && beside.into_iter().any(|other| is_part_of_name(other) && are_name(value, other))
    }

    fn value(&self, cell: &Cell) -> &str {
        &self.text[cell.start..cell.end]
    }

    /// Whether a field's name stands before the cell.
    fn is_keyed(&self, cell: &Cell) -> bool {
        let before = self.text[..cell.start].trim_end_matches(['"', '\'', ' ']);
        before.ends_with([':', '='])
    }

    /// Pushes the number of a document: a letter or some, and digits.
    fn document(&self, out: &mut Vec<Finding>) {
        let is_number = |value: &str| {
            let letters = value.bytes().take_while(u8::is_ascii_uppercase).count();
            let digits = value.bytes().skip(letters).filter(u8::is_ascii_digit).count();
            // Numbers of insured people are longer.
            (1..=3).contains(&letters)
                && letters + digits == value.len()
                && (8..=9).contains(&value.len())
        };
        for cell in self.cells.iter().filter(|cell| is_number(self.value(cell))) {
            if !self.is_found(cell) && !self.is_keyed(cell) && self.is_apart(cell) {
                let (start, end) = (cell.start, cell.end);
                out.push(Finding { start, end, kind: Kind::Licence, rule: "record" });
            }
        }
    }

    /// Pushes the only date of a record on which somebody can be born who is written of. Returns whether
    /// the record has one.
    fn birth_date(&self, out: &mut Vec<Finding>) -> bool {
        let bytes = self.text.as_bytes();
        let mut dates = self.cells.iter().filter_map(|cell| {
            let (start, end) = labelled::date_at(self.text, cell.start)?;
            // `LocalDate.of(1978, 3, 19)`
            let opens = start.checked_sub(1).is_some_and(|i| matches!(bytes[i], b'(' | b'{'));
            let listed = end > cell.end && opens;
            let apart = listed || end == cell.end && self.is_apart(cell);
            (apart && is_of_birth(&self.text[start..end])).then_some((cell, start, end))
        });
        let (Some((cell, start, end)), None) = (dates.next(), dates.next()) else { return false };
        if self.has_columns() || self.is_keyed(cell) {
            return false;
        }
        if !self.is_found(cell) {
            out.push(Finding { start, end, kind: Kind::BirthDate, rule: "record" });
        }
        true
    }

    /// Whether the statement lists its columns: these say what is in them.
    fn has_columns(&self) -> bool {
        const NEAR: usize = 400;
        let start = self.cells[0].start;
        let from = self.text.floor_char_boundary(start.saturating_sub(NEAR));
        let before = self.text[from..start].to_ascii_lowercase();
        before.rfind("values").is_some_and(|at| before[..at].trim_end().ends_with(')'))
    }
}

/// Whether a date has a year in which people are born who are written of.
fn is_of_birth(date: &str) -> bool {
    let mut years = date.split(|c: char| !c.is_ascii_digit()).filter(|part| part.len() == 4);
    years.any(|year| ("1920"..="2010").contains(&year))
}

/// Whether a field of persons can hold this.
fn is_written_like_name(value: &str) -> bool {
    told::is_name(value, false) && !value.split(' ').any(is_thing)
}

/// Whether one of the words is known as a name.
fn has_known_name(value: &str) -> bool {
    value.split([' ', ',']).any(|word| told::flags_of(word).any(Flags::PERSON))
}

/// Two words or more that are a name: one is known as such, and none means a thing or only a place.
fn is_full_name(value: &str) -> bool {
    let is_place = |word: &str| {
        told::flags_of(word).any(Flags::PLACES.with(Flags::PARTICLE).with(Flags::STREETS))
    };
    let words = || value.split([' ', ',']).filter(|word| !word.is_empty());
    told::is_name(value, true)
        && !words().all(is_place)
        && !words().any(is_thing)
        && !words().any(|word| told::flags_of(word).any(Flags::STREETS.with(Flags::ORGANIZATION)))
}

/// One word with a capital that means nothing else.
fn is_part_of_name(value: &str) -> bool {
    let flags = told::flags_of(value);
    let plain = flags.any(Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::ORGANIZATION));
    // In capitals, what is unknown is rather a code.
    if !flags.any(Flags::PERSON) && !value.chars().any(char::is_lowercase) {
        return false;
    }
    value.chars().next().is_some_and(char::is_uppercase)
        && value.chars().filter(|c| c.is_alphabetic()).count() > 2
        && value.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
        && !plain
        && !is_thing(value)
        && (flags.any(Flags::PERSON) || !flags.any(Flags::PLACES))
}

/// Whether the two words are a given name and another: one is known, and no place.
fn are_name(one: &str, other: &str) -> bool {
    let given = |word: &str| {
        let flags = told::flags_of(word);
        flags.any(Flags::FIRST) && !flags.any(Flags::PLACES)
    };
    let family = |word: &str| {
        let flags = told::flags_of(word);
        flags.any(Flags::LAST) && !flags.any(Flags::PLACES)
    };
    given(one) || given(other) || family(one) && family(other)
}
