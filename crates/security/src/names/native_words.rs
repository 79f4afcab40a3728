//! Names in Arabic and Devanagari, behind a title, a label or a phrase.

use super::gazetteer::Flags;
use super::told;
use crate::finding::Finding;
use crate::kind::Kind;

/// How a name ends behind a word that announces it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With the second word: a title's.
    Second,
    /// At a mark: a label's, which has one behind it.
    Mark,
    /// In front of `है`, or at a mark: `मेरा नाम … है`.
    Verb,
    /// At a comma behind which somebody is described: `मैं …, निवासी …`.
    Described,
}

/// What stands before a name.
const LEADS: [(&str, Ending); 30] = [
    ("اسمي", Ending::Second),
    ("السيد", Ending::Second),
    ("السيدة", Ending::Second),
    ("للسيد", Ending::Second),
    ("للسيدة", Ending::Second),
    ("المهندس", Ending::Second),
    ("المهندسة", Ending::Second),
    ("الدكتور", Ending::Second),
    ("الدكتورة", Ending::Second),
    ("الطبيب", Ending::Second),
    ("الطبيبة", Ending::Second),
    ("بالطبيب", Ending::Second),
    ("بالطبيبة", Ending::Second),
    ("الأستاذ", Ending::Second),
    ("الأستاذة", Ending::Second),
    ("المريض", Ending::Mark),
    ("المريضة", Ending::Mark),
    ("العميل", Ending::Mark),
    ("الاسم", Ending::Mark),
    ("اسم", Ending::Mark),
    ("मेरा नाम", Ending::Verb),
    ("नाम", Ending::Mark),
    ("ग्राहक", Ending::Mark),
    ("मरीज", Ending::Mark),
    ("श्री", Ending::Second),
    ("श्रीमती", Ending::Second),
    ("सुश्री", Ending::Second),
    ("डॉ.", Ending::Second),
    ("मैं", Ending::Described),
    ("पुत्र", Ending::Second),
];
/// What no name has: verbs, prepositions and postpositions.
const OTHERS: [&str; 33] = [
    "है",
    "हूँ",
    "हूं",
    "का",
    "की",
    "के",
    "को",
    "से",
    "ने",
    "में",
    "पर",
    "और",
    "क्या",
    "एक",
    "في",
    "من",
    "على",
    "إلى",
    "عن",
    "مع",
    "أن",
    "هو",
    // What stands in forms that nobody has filled in.
    "مطلوب",
    "مطلوبة",
    "اختياري",
    "إلزامي",
    "غير",
    "فارغ",
    "आवश्यक",
    "अनिवार्य",
    "वैकल्पिक",
    "अज्ञात",
    "खाली",
];
/// What describes somebody: where he lives, whose child he is, how old he is.
const DESCRIPTIONS: [&str; 7] = ["निवासी", "पुत्र", "पुत्री", "पत्नी", "उम्र", "आयु", "वल्द"];
const MOST: usize = 4;
const LONGEST: usize = 96;

/// Whether a word begins at `at`.
pub(super) fn begins(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes[at - 1] < 0x80
}

/// Pushes the name behind the word at `at`, where it announces one.
pub(super) fn find(text: &str, at: usize, out: &mut Vec<Finding>) {
    let rest = &text[at..];
    let ends = |lead: &str| !rest[lead.len()..].chars().next().is_some_and(is_of_word);
    let lead = LEADS.iter().find(|(lead, _)| rest.starts_with(lead) && ends(lead));
    let Some((lead, ending)) = lead else { return };
    let behind = &rest[lead.len()..rest.floor_char_boundary(lead.len() + LONGEST)];
    let name = behind.trim_start_matches([' ', ':', '"', '\'', '=', '：']);
    let marks = &behind[..behind.len() - name.len()];
    let start = at + lead.len() + marks.len();
    let is_labelled = marks.contains([':', '=']);
    if marks.is_empty() || *ending == Ending::Mark && !is_labelled {
        return;
    }
    let (mut end, mut words) = (0, 0);
    while words < MOST {
        let from = if words == 0 { 0 } else { end + 1 };
        if words > 0 && !name[end..].starts_with(' ') {
            break;
        }
        let word = &name[from..];
        let length = word.find(|c| !is_of_word(c)).unwrap_or(word.len());
        let word = &word[..length];
        // What has an article goes on as a sentence: `السيد الذي`, `المهندس المسؤول`.
        let has_article = words == 0 && *ending == Ending::Second && word.starts_with("ال");
        if word.chars().count() < 2 || OTHERS.contains(&word) || has_article {
            break;
        }
        (end, words) = (from + length, words + 1);
        let is_compound = matches!(word, "عبد" | "أبو" | "بن" | "آل" | "ابن");
        if *ending == Ending::Second && words >= 2 && !is_compound {
            break;
        }
    }
    let rest = name[end..].trim_start();
    let closes = match ending {
        Ending::Second => true,
        Ending::Mark => rest.chars().next().is_none_or(|c| !is_of_word(c)),
        Ending::Verb => rest.starts_with("है") || rest.starts_with([',', '।']),
        // `I` stands before anything.
        Ending::Described => rest.strip_prefix(',').map(str::trim_start).is_some_and(|rest| {
            let is_known = |word: &str| told::flags_of(word).any(Flags::PERSON);
            DESCRIPTIONS.iter().any(|word| rest.starts_with(word))
                || words > 0 && name[..end].split(' ').all(is_known)
        }),
    };
    if words > 0 && closes && (words > 1 || *ending != Ending::Second || *lead == "पुत्र")
    {
        out.push(Finding { start, end: start + end, kind: Kind::Person, rule: "native_name" });
    }
}

fn is_of_word(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{65f}' | '\u{66e}'..='\u{6d3}' | '\u{900}'..='\u{963}' | '\u{971}'..='\u{97f}')
}
