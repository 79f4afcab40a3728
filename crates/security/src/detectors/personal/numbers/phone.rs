//! Phone numbers, from `+49 30 901820` to `9493 7477` behind "call me at".
//!
//! A form is graded by how much else looks like it. Sure forms are taken wherever they stand;
//! likely ones need a hint (a word, quotes around the value, another phone before it); possible
//! ones need a word that speaks of phones.

use super::beside;
use super::calling_codes::plan;
use super::run::{Digits, MOST_DIGITS, Run, Separator};
use crate::detectors::personal::context::{
    self, Context, NUMBER, OTHER, PHONE, REACH, STREET, VERSION,
};

/// How far behind a number a word may stand that says what it is.
pub(super) const BEHIND: usize = 14;

/// How much a form looks like a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// Digits without any separator.
    Bare,
    /// Some groups of digits.
    Possible,
    /// Groups as phone numbers have them.
    Likely,
    /// Nothing else is written like that.
    Sure,
}

/// The place of the phone number that begins with group `first`.
///
/// `behind_another` says that another phone number stands directly before.
pub(super) fn find(
    run: &Run<'_>,
    first: usize,
    behind_another: bool,
    words: &mut dyn FnMut() -> Context,
) -> Option<(usize, usize)> {
    if !starts(run, first, words) {
        return None;
    }
    let (groups, grade) = graded(run, first)?;
    let last = first + groups - 1;
    let digits = Digits::of(run, first, first + groups)?;
    if is_sample(digits.as_bytes()) {
        return None;
    }
    let start = run.start_of(first);
    let number_end = run.groups()[last].end;
    let (end, extended) = extension(run.bytes, number_end);
    let grade = if extended { grade.max(Grade::Likely) } else { grade };
    // Most bare numbers have no such word before them: that is cheap to see.
    if grade == Grade::Bare
        && !words().is(PHONE | REACH)
        && words().nearest != 0
        && !is_own(run.bytes, start)
    {
        return None;
    }
    let after = context::after(run.bytes, end, BEHIND);
    if !extended && !ends(run, last, after, words) {
        return None;
    }
    let street = || after.has(STREET);
    let named = behind_another
        || after.is(PHONE | REACH)
        || words().is(PHONE | REACH)
        || is_own(run.bytes, start);
    let is_hinted = || named || beside::is_contact(run.bytes, start, end);
    let found = match grade {
        // Also what people make up when they write of a phone.
        _ if is_fiction(digits.as_bytes()) && !named && !words().has(NUMBER) => false,
        Grade::Sure => true,
        Grade::Likely => {
            let likely = is_hinted()
                || extended
                || words().has(NUMBER)
                || quoted(run.bytes, start, end)
                || is_national(run, first, groups, digits.as_bytes())
                    && (!context::in_code(run.bytes, start)
                        || is_behind_word(run.bytes, start) && !is_range(run, first, groups));
            likely && (named || !other(words, after, digits.as_bytes()))
        }
        Grade::Possible => {
            let long = digits.as_bytes().len() >= 9;
            let hinted = named
                || is_hinted()
                || long && words().is_number_only() && quoted(run.bytes, start, end);
            hinted && (named || !other(words, after, digits.as_bytes())) && !street()
        }
        Grade::Bare => {
            // `ring` and `extension` are also words of programs, whose constants are bare numbers.
            let long = digits.as_bytes().len();
            let prose = !context::in_code(run.bytes, start);
            let in_cell = quoted(run.bytes, start, end);
            let quoted = matches!(context::byte(run.bytes, end), b'"' | b'\'');
            let written = prose || quoted || in_cell || (10..=13).contains(&long);
            let dialled = (10..=11).contains(&long)
                && digits.as_bytes()[0] == b'0'
                && words().is_number_only()
                && (prose || is_behind_word(run.bytes, start));
            let named = after.is(PHONE) || words().is(PHONE) && written;
            let called = words().is(REACH) && (prose || quoted && long >= 9);
            let own = is_own(run.bytes, start);
            (named || called || dialled || own) && !street() && !after.is(OTHER)
        }
    };
    found.then_some((start, end))
}

/// `my number 28863372`, `her number is 580 940 984`: a number that somebody has.
fn is_own(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(20)..start];
    // Who sends and who gets a message.
    if before.ends_with(b" to=") || before.ends_with(b" from=") {
        return bytes[start] == b'0' || bytes[start] == b'+';
    }
    let Some(before) = before.strip_suffix(b" ") else { return false };
    let before = before.strip_suffix(b" is").unwrap_or(before);
    let Some(before) = before.strip_suffix(b" number") else { return false };
    let word = before.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    [&b"my"[..], b"his", b"her", b"their"].iter().any(|own| own.eq_ignore_ascii_case(word))
}

/// Whether the nearest word says that the number is something else. Versions do not begin with a 0
/// and more digits.
fn other(words: &mut dyn FnMut() -> Context, after: Context, digits: &[u8]) -> bool {
    let is_version = words().is(VERSION) && !digits.starts_with(b"0");
    let is_other = words().is(OTHER) && !words().is(VERSION) || is_version;
    is_other && !words().is(PHONE | REACH) && !after.is(PHONE | REACH)
}

/// Whether the number has a form that people write without saying what it is: with the 0 that is
/// dialled first and the length of most countries' numbers, but for pairs, which tables have, too; or
/// with its area in brackets.
fn is_national(run: &Run<'_>, first: usize, groups: usize, digits: &[u8]) -> bool {
    let pairs = run.groups()[first..first + groups].iter().all(|group| group.len() == 2);
    let is_dialled =
        (9..=12).contains(&digits.len()) && digits[0] == b'0' && digits[1] != b'0' && !pairs;
    is_dialled || run.groups()[first].bracketed && is_area(run, first, groups)
}

/// `01001-99998`
fn is_range(run: &Run<'_>, first: usize, groups: usize) -> bool {
    let lengths = run.groups()[first..first + groups].iter().map(|group| group.len());
    groups == 2 && lengths.clone().min() == lengths.max()
}

/// `Customer: 0812-2015-7865`, `the grandmother, 070-546 62 18`: programs have no spaces or dashes in
/// their numbers, and behind a word of letters nobody calculates.
fn is_behind_word(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(4)..start];
    let [.., letter, b',' | b':', b' '] = before.strip_suffix(b"(").unwrap_or(before) else {
        return false;
    };
    // `call(name, 0117 965 9988)`
    let line = &bytes[start.saturating_sub(40)..start - 2];
    let open = memchr::memrchr(b'(', line).filter(|open| *open > 0);
    let is_call = open.is_some_and(|open| line[open - 1].is_ascii_alphanumeric());
    !is_call && (letter.is_ascii_alphabetic() || *letter >= 0x80 || *letter == b')')
}

/// `(0117) 965 9988`, `(41) 99619-4970`.
fn is_area(run: &Run<'_>, first: usize, groups: usize) -> bool {
    let apart = run.groups()[first + 1].start - run.groups()[first].end > 1;
    let code = run.groups()[first].len();
    let british = run.text(first)[0] == b'0' && (3..=5).contains(&code) && groups > 2;
    let brazilian = run.shape(first, &[2, 5, 4]) && run.text(first + 1)[0] == b'9';
    let fixed = run.shape(first, &[2, 4, 4]) && matches!(run.text(first + 1)[0], b'2'..=b'5');
    apart && (british || brazilian || fixed && run.after(first + 1) == Separator::Dash)
}

/// Whether a phone number may start with group `first`.
fn starts(run: &Run<'_>, first: usize, words: &mut dyn FnMut() -> Context) -> bool {
    if first > 0 {
        return matches!(run.groups()[first].before, Separator::Space | Separator::Open);
    }
    let (bytes, start) = (run.bytes, run.start);
    if !context::starts_word(bytes, start) {
        return false;
    }
    match context::byte_before(bytes, start) {
        b'.' | b'@' | b'$' | b'%' | b'&' | b'~' | b'^' | b'*' | b'+' | b')' | b']' | b'<'
            if !run.plus =>
        {
            context::byte_before(bytes, start) == b'.' && words().is(PHONE)
        }
        b'.' | b')' | b']' | b'$' | b'%' | b'+' => false,
        b'-' | b'/' => words().is(PHONE),
        // `Phone #555-123-4567`, but no anchor of a page.
        b'#' => {
            words().is(PHONE) && !context::byte_before(bytes, start - 1).is_ascii_alphanumeric()
        }
        // The minutes of a time: `10:11:12 2025`.
        b':' => !context::byte_before(bytes, start - 1).is_ascii_digit(),
        b'\\' => false,
        // The pound sign and the second half of other currency signs.
        0xA3 | 0xA5 | 0xAC => false,
        _ => true,
    }
}

/// Whether a phone number may end with group `last`.
fn ends(run: &Run<'_>, last: usize, after: Context, words: &mut dyn FnMut() -> Context) -> bool {
    let (bytes, end) = (run.bytes, run.groups()[last].end);
    match run.after(last) {
        Separator::None => {}
        Separator::Space => return true,
        Separator::Open => return run.groups()[last + 1].start - end > 1,
        _ => return false,
    }
    if !context::ends_word(bytes, end) {
        return false;
    }
    let next = context::byte(bytes, end + 1);
    match context::byte(bytes, end) {
        b'-' | b'/' if next.is_ascii_alphanumeric() => after.is(PHONE | REACH),
        // `sip:+493012345@host`
        b'@' => run.plus && is_behind_scheme(bytes, run.start),
        b'%' | b'(' | b'[' | b'*' | b'^' => false,
        b':' | b',' | b'.' if next.is_ascii_digit() => {
            context::byte(bytes, end) == b',' && words().has(PHONE | REACH)
        }
        // The degree sign.
        0xC2 if next == 0xB0 => false,
        _ => true,
    }
}

/// Whether `sip:` or `sips:` stands before the number at `start`, or before its plus.
fn is_behind_scheme(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[start.saturating_sub(6)..start];
    let before = before.strip_suffix(b"+").unwrap_or(before);
    before.ends_with(b"sip:") || before.ends_with(b"sips:")
}

/// Whether an extension stands behind the digits that end at `end`.
pub(super) fn is_extended(bytes: &[u8], end: usize) -> bool {
    extension(bytes, end).1
}

/// The end of the number with its extension (`x123`, `ext. 4`), and whether it has one.
fn extension(bytes: &[u8], end: usize) -> (usize, bool) {
    let first = context::byte(bytes, end);
    if !matches!(first, b' ' | b',' | b';' | b'#')
        && !matches!(first | 0x20, b'e' | b'x' | b'd' | b'p')
    {
        return (end, false);
    }
    let skip = |mut at: usize, these: &[u8]| {
        while at < end + 12 && these.contains(&context::byte(bytes, at)) {
            at += 1;
        }
        at
    };
    let mut at = skip(end, b" ,;");
    if !matches!(context::byte(bytes, at) | 0x20, b'e' | b'x' | b'd' | b'p' | b'#') {
        return (end, false);
    }
    let rest = &bytes[at.min(bytes.len())..];
    let words: [&[u8]; 6] = [b"extension", b"ext", b"x", b"durchwahl", b"poste", b"#"];
    let word = words
        .into_iter()
        .find(|word| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)));
    let Some(word) = word else { return (end, false) };
    if word == b"#" && at == end {
        return (end, false);
    }
    at = skip(at + word.len(), b" .:-#");
    let from = at;
    while at < from + 7 && context::byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    let found = (1..=6).contains(&(at - from)) && context::ends_word(bytes, at);
    if found { (at, true) } else { (end, false) }
}

/// Whether the value from `start` to `end` is alone between quotes or a table's separators.
fn quoted(bytes: &[u8], start: usize, end: usize) -> bool {
    // A small letter is that of an escape, as no other stands before a number.
    let opened = matches!(
        context::byte_before(bytes, start),
        b'"' | b'\'' | b'`' | b'>' | b'\t' | b',' | b';' | b'|' | b'\n' | b'(' | b'n' | b't' | 0
    );
    let closed = matches!(
        context::byte(bytes, end),
        b'"' | b'\'' | b'`' | b'<' | b'\t' | b',' | b';' | b'|' | b'\n' | b'\r' | b'\\' | b')' | 0
    );
    opened && closed
}

/// The number of groups of the number that begins with group `first`, and how sure its form is.
fn graded(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    if first == 0 && run.plus {
        return international(run);
    }
    if let Some(groups) = north_american(run, first) {
        return Some(groups);
    }
    if let Some(found) = russian(run, first) {
        return Some(found);
    }
    let group = &run.groups()[first];
    if group.bracketed {
        return bracketed(run, first);
    }
    // `0 (232) 886 33 73`
    if run.text(first) == b"0" && run.groups().get(first + 1).is_some_and(|next| next.bracketed) {
        return bracketed(run, first + 1).map(|(groups, _)| (groups + 1, Grade::Likely));
    }
    if let Some(found) = trunk(run, first) {
        return Some(found);
    }
    if (7..=15).contains(&group.len()) && ends_bare(run, first) {
        return Some((1, Grade::Bare));
    }
    loose(run, first)
}

/// Whether the number ends with this group, which has no separators.
fn ends_bare(run: &Run<'_>, first: usize) -> bool {
    matches!(run.after(first), Separator::None | Separator::Space | Separator::Open)
}

/// `+49 30 901820`, `+44 (0)20 7946 0958`, `+15551234567`.
fn international(run: &Run<'_>) -> Option<(usize, Grade)> {
    let all = run.groups().len().min(8);
    let second: &[u8] = if all > 1 { run.text(1) } else { &[] };
    if run.text(0).len() + second.len() > MOST_DIGITS {
        return None;
    }
    let mut head = run.text(0).iter().chain(second).copied();
    let plan = plan(&[head.next()?, head.next()?, head.next()?])?;
    // The `(0)` that is dialled inside the country only is no part of the number.
    let trunk = |i: usize| usize::from(run.groups()[i].bracketed && run.text(i) == b"0");
    let mut total = 0;
    let mut found = None;
    for groups in 1..=all {
        let group = run.groups()[groups - 1];
        total += group.len() - trunk(groups - 1);
        if total > 15 || total > plan.code + plan.longest + 1 {
            break;
        }
        // `+255959.999` is a figure.
        if groups == 2 && group.before == Separator::Dot {
            break;
        }
        let fits = total >= plan.code + plan.shortest && total <= plan.code + plan.longest;
        // People's and generators' numbers do not all have their country's length.
        let near = groups > 2 && total >= 9;
        let next = run.groups().get(groups);
        // `+34 612 34 56 78 / 912 345 678`
        let spaced = |next: &super::run::Group| {
            next.before == Separator::Slash && next.start - group.end > 1
        };
        let end = next.is_none_or(|next| {
            matches!(next.before, Separator::Space | Separator::Open) || fits && spaced(next)
        });
        if end && (fits || near && found.is_none()) {
            found = Some(groups);
            if fits && plan.longest == plan.shortest {
                break;
            }
        } else if end && near {
            found = Some(groups);
        }
    }
    found.map(|groups| (groups, Grade::Sure))
}

/// `(555) 123-4567`, `555.123.4567`, `1-800-555-1234`, `001-755-329-4431`.
fn north_american(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    let prefix = match run.text(first) {
        b"1" | b"001" => 1,
        _ => 0,
    };
    let area = first + prefix;
    let joined = prefix == 0 || !matches!(run.after(first), Separator::Slash | Separator::Close);
    if !joined || !run.shape(area, &[3, 3, 4]) {
        // `(555)1234567`, `555-1234567`.
        return None;
    }
    let groups = run.groups();
    let (a, b) = (groups[area + 1].before, groups[area + 2].before);
    let valid =
        run.text(area)[0] >= b'2' && run.text(area + 1)[0] >= b'2' && !is_reserved(run, area);
    let grade = match (a, b) {
        (Separator::Close, Separator::Dash | Separator::Dot) => Grade::Sure,
        (Separator::Close, Separator::Space) => Grade::Sure,
        (Separator::Dash, Separator::Dash) | (Separator::Dot, Separator::Dot)
            if valid || prefix == 1 && run.after(first) == a =>
        {
            Grade::Sure
        }
        (Separator::Dash | Separator::Dot | Separator::Space, Separator::Dash | Separator::Dot) => {
            Grade::Likely
        }
        (Separator::Slash, Separator::Dash) => Grade::Likely,
        (Separator::Space, Separator::Space) if run.text(area)[0] >= b'2' => Grade::Likely,
        (Separator::Space, Separator::Space) => Grade::Possible,
        _ => return None,
    };
    Some((prefix + 3, grade))
}

/// `8 843 336-98-73`, `8 (843) 336-98-73`, in Russia and Kazakhstan.
fn russian(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    let groups = run.groups();
    let fits = matches!(run.text(first), b"8" | b"7")
        && run.shape(first, &[1, 3, 3, 2, 2])
        && groups[first + 3].before == Separator::Dash
        && groups[first + 4].before == Separator::Dash;
    fits.then_some((5, Grade::Sure))
}

/// Whether the number is one of those kept for fiction: 555-0100 to 555-0199.
fn is_reserved(run: &Run<'_>, area: usize) -> bool {
    run.text(area + 1) == b"555" && run.text(area + 2).starts_with(b"01")
}

/// `(069) 948-538`, `(11) 4706-6184`.
fn bracketed(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    let most = run.groups().len().min(first + 5) - first;
    let mut total = run.groups()[first].len();
    if !(1..=5).contains(&total) || most < 2 {
        return None;
    }
    let mut found = None;
    for groups in 2..=most {
        let group = run.groups()[first + groups - 1];
        if groups > 2 && !matches!(group.before, Separator::Space | Separator::Dash)
            || group.len() < 2
        {
            break;
        }
        total += group.len();
        if (7..=12).contains(&total) {
            found = Some(groups);
        }
    }
    let groups = found?;
    let code = run.groups()[first].len();
    let grade = if code >= 2 && (groups > 2 || run.text(first)[0] == b'0') {
        Grade::Likely
    } else {
        Grade::Possible
    };
    Some((groups, grade))
}

/// National numbers with the 0 that is dialled first, and `00` with a country's code.
fn trunk(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    let text = run.text(first);
    if text[0] != b'0' {
        return None;
    }
    // `0.123456`
    if text.len() == 1 && run.after(first) == Separator::Dot && run.groups().len() == first + 2 {
        return None;
    }
    let groups = plain_groups(run, first, 7)?;
    let digits = Digits::of(run, first, first + groups)?;
    let digits = digits.as_bytes();
    if groups == 1 {
        return (9..=13).contains(&digits.len()).then_some((1, Grade::Bare));
    }
    if groups == 2 && is_postal_code(run, first) {
        return None;
    }
    // Code points: `0069 0307 0301`.
    if (first..first + groups).all(|i| run.text(i).len() == 4 && run.text(i)[0] == b'0') {
        return None;
    }
    if let Some(number) = digits.strip_prefix(b"00") {
        let plan = plan(number)?;
        let fits = (plan.shortest..=plan.longest).contains(&(number.len().checked_sub(plan.code)?));
        let near = (8..=15).contains(&number.len());
        let grade = if fits && groups > 2 { Grade::Sure } else { Grade::Likely };
        // Behind a country's code, the 0 for long distance goes, but in Italy.
        let dialled = number.get(plan.code) != Some(&b'0') || number.starts_with(b"39");
        return (dialled && (fits || near)).then_some((groups, grade));
    }
    let french = run.shape(first, &[2, 2, 2, 2, 2]) && text[1] != b'0';
    if french {
        // More pairs of digits are a list of numbers.
        let lone = !run.shape(first + 5, &[2]);
        return lone.then_some((5, Grade::Likely));
    }
    let range = groups == 2 && run.shape(first, &[text.len(), text.len()]);
    let apart = run.groups()[first + 1].len() == 1;
    let usual =
        (9..=12).contains(&digits.len()) && (2..=6).contains(&text.len()) && !range && !apart;
    let grade = if usual && groups <= 4 { Grade::Likely } else { Grade::Possible };
    (8..=13).contains(&digits.len()).then_some((groups, grade))
}

/// `Boston, MA 02110-1301 USA`, which is in the licence of many files.
fn is_postal_code(run: &Run<'_>, first: usize) -> bool {
    let before = &run.bytes[..run.groups()[first].start];
    let is_behind_state = matches!(before, [.., b' ' | b',', b'A'..=b'Z', b'A'..=b'Z', b' ']);
    run.shape(first, &[5, 4])
        && run.after(first) == Separator::Dash
        && (is_behind_state || run.bytes[run.end()..].starts_with(b" USA"))
}

/// Groups of digits that could be anything.
fn loose(run: &Run<'_>, first: usize) -> Option<(usize, Grade)> {
    let groups = plain_groups(run, first, 6)?;
    let digits = Digits::of(run, first, first + groups)?;
    let digits = digits.as_bytes();
    let separator = run.after(first);
    if groups < 2 || !(6..=13).contains(&digits.len()) {
        return None;
    }
    let text_len = run.groups()[first].len();
    let lengths = || run.groups()[first + 1..first + groups].iter().map(|group| group.len());
    // `12.345.678` is one number with its thousands marked, `52.52` a fraction, `1990-2000` a span.
    let thousands = matches!(separator, Separator::Dot) && lengths().all(|len| len == 3);
    let fraction = separator == Separator::Dot && groups == 2;
    let span = run.shape(first, &[4, 4])
        && separator == Separator::Dash
        && [first, first + 1]
            .iter()
            .all(|i| matches!(run.text(*i), [b'1', b'9', ..] | [b'2', b'0', ..]));
    let tiny = run.groups()[first].len() == 1
        && !matches!(run.text(first), b"0" | b"1" | b"7" | b"8" | b"9");
    let ratio =
        separator == Separator::Slash && (text_len != 4 && text_len != 5 || digits.len() < 9);
    let lines = separator == Separator::Dash && digits.len() < 7;
    if thousands || fraction || span || tiny || ratio || lines {
        return None;
    }
    Some((groups, Grade::Possible))
}

/// How many groups from `first` on belong to one number without brackets: separators of one kind,
/// apart from the first; `None` where a group has a length that no phone number's has.
fn plain_groups(run: &Run<'_>, first: usize, most: usize) -> Option<usize> {
    let all = &run.groups()[first..];
    let mut total = all[0].len();
    let mut count = 1;
    for (i, group) in all.iter().enumerate().skip(1).take(most - 1) {
        let kind = group.before;
        let uniform =
            i < 2 || kind == all[i - 1].before || all[i - 1].before == all[1].before && i == 2;
        if !uniform
            || matches!(kind, Separator::Open | Separator::Close)
            || total + group.len()
                > if all[0].len() > 2 && run.text(first).starts_with(b"00") { 15 } else { 13 }
        {
            break;
        }
        if kind == Separator::Slash && i > 1 {
            return None;
        }
        // A single digit may only come first, as in `0-800` and `1 800`, or behind an area that is
        // dialled with a 0: `011 2 406 475`.
        if group.len() < 2 && !(i == 1 && all.len() > 2 && run.text(first).starts_with(b"0")) {
            return None;
        }
        total += group.len();
        count += 1;
    }
    Some(count)
}

/// Numbers of North America that are kept for fiction, with or without their area: 555-0100 to
/// 555-0199.
fn is_fiction(digits: &[u8]) -> bool {
    let national = digits.strip_prefix(b"1").filter(|rest| rest.len() == 10).unwrap_or(digits);
    matches!(national.len(), 7 | 10) && national[national.len() - 7..].starts_with(b"55501")
}

/// Numbers that only show the form: one digit over and over, or digits in their order.
fn is_sample(digits: &[u8]) -> bool {
    let tail = &digits[digits.len().saturating_sub(7)..];
    if tail.iter().all(|digit| *digit == tail[0]) {
        return true;
    }
    let runs =
        |step: u8| digits.windows(2).all(|pair| (pair[0] - b'0' + step) % 10 == pair[1] - b'0');
    if digits.len() >= 7 && (runs(1) || runs(9)) {
        return true;
    }
    // Nothing but zeros but for a digit or two: round figures.
    tail.iter().rev().take(5).all(|digit| *digit == b'0')
}
