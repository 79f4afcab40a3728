//! Addresses of China, Japan and Korea, which are known by the sign of a street and a number:
//! `中山北路77号`, `大通西5丁目131番地`, `테헤란로 19`.

use crate::finding::Finding;
use crate::kind::Kind;

/// The longest address, in characters on either side of its sign.
const REACH: usize = 24;

/// Pushes the address whose sign begins at `at`.
pub(super) fn find(text: &str, at: usize, out: &mut Vec<Finding>) {
    let rest = &text[at..];
    let place = if rest.starts_with('号') || rest.starts_with('號') {
        chinese(text, at)
    } else if rest.starts_with("丁目") {
        japanese(text, at)
    } else if rest.starts_with("로 ") || rest.starts_with("길 ") {
        korean(text, at)
    } else {
        None
    };
    let finding =
        |(start, end)| Finding { start, end, kind: Kind::Address, rule: "native_address" };
    out.extend(place.map(finding));
}

fn is_han(c: char) -> bool {
    matches!(c, '一'..='鿿' | '々' | 'ヶ')
}

/// Where the characters that fit begin in front of `at`.
fn begin(text: &str, at: usize, fits: impl Fn(char) -> bool) -> usize {
    let before = text[..at].char_indices().rev().take(REACH);
    before.take_while(|(_, c)| fits(*c)).last().map_or(at, |(i, _)| i)
}

/// `杭州市中山北路77号`, where digits stand before the sign and a street before them.
fn chinese(text: &str, at: usize) -> Option<(usize, usize)> {
    const LEADS: [&str; 9] = ["家住", "住在", "地址", "住址", "寄到", "送到", "位于", "住", "在"];
    let digits = begin(text, at, |c| c.is_ascii_digit());
    let mut start = begin(text, digits, |c| is_han(c) || c.is_ascii_digit());
    let street = &text[start..digits];
    if digits == at || !street.ends_with(['路', '街', '道', '巷', '弄', '村', '里', '段']) {
        return None;
    }
    for lead in LEADS {
        if let Some(i) = text[start..digits].find(lead) {
            start += i + lead.len();
        }
    }
    let end = at + '号'.len_utf8();
    let room = text[end..].char_indices().take(12);
    let room =
        room.take_while(|(_, c)| c.is_ascii_digit() || "栋幢楼室单元层座".contains(*c)).last();
    let end = end + room.map_or(0, |(i, c)| i + c.len_utf8());
    (text[start..digits].chars().count() > 2).then_some((start, end))
}

/// `中央区大通西5丁目131番地`.
fn japanese(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_part = |c: char| {
        is_han(c) || c.is_ascii_digit() || matches!(c, 'ぁ'..='ヿ' | '０'..='９' | '-' | '－' | '−')
    };
    let start = begin(text, at, is_part);
    let behind = text[at..].char_indices().take(REACH).take_while(|(_, c)| is_part(*c)).last();
    let end = behind.map_or(at, |(i, c)| at + i + c.len_utf8());
    let named = text[start..at].contains(['区', '市', '町', '村', '都', '県', '府']);
    named.then_some((start, end))
}

/// `부산광역시 테헤란로 19`, with a town or a district before the street.
fn korean(text: &str, at: usize) -> Option<(usize, usize)> {
    let is_korean = |c: char| matches!(c, '가'..='힣');
    let street = begin(text, at, is_korean);
    let digits = at + "로 ".len();
    let number = text[digits..].bytes().take(8).take_while(|b| b.is_ascii_digit() || *b == b'-');
    let number = number.count();
    if street == at || number == 0 {
        return None;
    }
    let mut start = street;
    for _ in 0..3 {
        let Some(before) = text[..start].strip_suffix(' ') else { break };
        let word = begin(before, before.len(), is_korean);
        if !before[word..].ends_with(['시', '도', '구', '군', '동', '읍', '면']) {
            break;
        }
        start = word;
    }
    (start < street).then_some((start, digits + number))
}
