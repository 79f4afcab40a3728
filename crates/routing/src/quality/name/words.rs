//! A name in words: what each piece looks like, before any family has a say.

/// A piece of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// Letters: `claude`, `turbo`, the `k` of `k2`, the `o` of `4o`.
    Letters(&'a str),
    /// `3`, `4.5`, `20250929`; `after_v` in `v3`.
    Number {
        text: &'a str,
        after_v: bool,
    },
    Size(Size),
    /// What a mixture of experts uses of its parameters (`a22b`) or how many there are (`16e`). The
    /// total says it all.
    Active,
    /// `32k`: a context window, or a budget for thinking.
    Thousands(u32),
    /// `bf16`: the weights as they were published.
    Unquantised,
    Quantised,
}

/// How many parameters a name states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Size {
    /// How many experts, in names like `8x7b`; otherwise 1.
    pub(super) experts: u32,
    /// In millions; of one expert where there are several.
    pub(super) millions: u32,
}

/// Longer names are sentences.
const LONGEST_NAME: usize = 120;

/// Cuts everything up to the last `/` off (provider, region, maker, account) and writes what is
/// left in one way: small letters, `3p1` and `3_1` as `3.1`, `+` as a word, and without Bedrock's
/// `-v1:0`.
///
/// Nothing for what cannot be a name, and for fine-tunes (`ft:gpt-4o:acme::8x2k`).
pub(super) fn plain(name: &str) -> Option<String> {
    if name.len() > LONGEST_NAME || name.chars().any(|c| !c.is_ascii() && c.is_alphanumeric()) {
        return None;
    }
    let name = name.trim().to_ascii_lowercase();
    let last = name.rsplit('/').next().unwrap_or(&name);
    if last.starts_with("ft:") {
        return None;
    }
    let last = without_revision(last);
    let characters: Vec<char> = last.chars().collect();
    let is_digit = |place: Option<usize>| {
        place.and_then(|p| characters.get(p)).is_some_and(char::is_ascii_digit)
    };
    let mut plain = String::with_capacity(last.len() + 8);
    for (place, character) in characters.iter().enumerate() {
        let within_number = is_digit(place.checked_sub(1)) && is_digit(Some(place + 1));
        // The letter in front of the number: `q8_0` is a quantisation, `v0:2` version 0.2, but
        // `qwen3:32b` a tag.
        let before = place.checked_sub(2).and_then(|p| characters.get(p));
        match character {
            'p' if within_number => plain.push('.'),
            '_' if within_number && before != Some(&'q') => plain.push('.'),
            ':' if within_number && before == Some(&'v') => plain.push('.'),
            '.' if !within_number => plain.push('-'),
            '+' => plain.push_str(" plus "),
            _ => plain.push(*character),
        }
    }
    // Makers whose names have digits.
    let maker = ["c4ai-", "ai21-"].iter().find_map(|maker| plain.strip_prefix(maker));
    Some(maker.map(str::to_owned).unwrap_or(plain))
}

/// Bedrock ends its identifiers with a revision of the interface, `-v1:0`, which is no version of
/// the model. (`claude-v2:1` and `mistral-7b-instruct-v0:2` are.)
fn without_revision(name: &str) -> &str {
    let Some((head, revision)) = name.rsplit_once('-') else { return name };
    match revision.strip_prefix('v').unwrap_or(revision) {
        "1:0" | "2:0" => head,
        _ => name,
    }
}

/// The words of a [`plain`] name, in their order.
pub(super) fn words(plain: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut after_q = false;
    for run in plain.split(|c: char| !c.is_ascii_alphanumeric() && c != '.') {
        if run.is_empty() {
            continue;
        }
        // What follows in `q4_K_M` and `q8_0`.
        if after_q && matches!(run, "k" | "s" | "m" | "l" | "xl" | "xs" | "xxs" | "0" | "1") {
            continue;
        }
        after_q = false;
        if let Some(quantised) = precision(run) {
            after_q = run.starts_with(['q', 'i']);
            words.push(if quantised { Word::Quantised } else { Word::Unquantised });
            continue;
        }
        split(run, &mut words);
    }
    words
}

/// Whether a word names the weights' format, and whether it is one of fewer than sixteen bits.
fn precision(word: &str) -> Option<bool> {
    match word {
        "bf16" | "fp16" | "fp32" | "f16" => return Some(false),
        "awq" | "gptq" | "gguf" | "ggml" | "bnb" | "exl2" | "exl3" | "mlx" | "mxfp"
        | "quantized" | "w4a16" | "w8a8" | "w8a16" => return Some(true),
        _ => {}
    }
    let bits = ["nvfp", "mxfp", "fp", "int", "iq", "q"]
        .iter()
        .find_map(|format| word.strip_prefix(format))
        .or_else(|| word.strip_suffix("bits"))
        .or_else(|| word.strip_suffix("bit"))?;
    matches!(bits.parse(), Ok(1..=8)).then_some(true)
}

/// Splits between letters and digits, but keeps together what is a quantity.
fn split<'a>(run: &'a str, words: &mut Vec<Word<'a>>) {
    let mut rest = run;
    while !rest.is_empty() {
        if let Some(quantity) = quantity(rest) {
            words.push(quantity);
            return;
        }
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(letters);
        let digits = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        let after_v = word == "v" && digits > 0;
        if !word.is_empty() && !after_v {
            words.push(Word::Letters(word));
            rest = after;
            continue;
        }
        let (text, after) = after.split_at(digits);
        words.push(Word::Number { text, after_v });
        rest = after;
    }
}

/// `70b`, `8x7b`, `1t`, `a22b`, `16e`, `32k`.
fn quantity(word: &str) -> Option<Word<'_>> {
    let (number, unit) = word.split_at_checked(word.len() - 1)?;
    if number.is_empty() {
        return None;
    }
    if unit == "b" && number.strip_prefix('a').and_then(millions).is_some() {
        return Some(Word::Active);
    }
    let one = |millions| Word::Size(Size { experts: 1, millions });
    match unit {
        "b" => match number.split_once('x') {
            Some((experts, of)) => {
                let experts = experts.parse().ok().filter(|experts| (1..1000).contains(experts))?;
                Some(Word::Size(Size { experts, millions: millions(of)? }))
            }
            None => millions(number).map(one),
        },
        "t" => millions(number).and_then(|billions| billions.checked_mul(1000)).map(one),
        "m" => number.parse().ok().filter(|millions| *millions > 0).map(one),
        "e" => number.parse::<u16>().ok().map(|_| Word::Active),
        "k" => number.parse().ok().map(Word::Thousands),
        _ => None,
    }
}

/// A number of billions, in millions: `1.5` is 1 500.
fn millions(billions: &str) -> Option<u32> {
    let (whole, fraction) = billions.split_once('.').unwrap_or((billions, ""));
    let whole: u32 = whole.parse().ok()?;
    if !fraction.bytes().all(|c| c.is_ascii_digit()) || fraction.len() > 3 {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<3}").parse().ok()?;
    whole
        .checked_mul(1000)?
        .checked_add(fraction)
        .filter(|millions| (1..1_000_000_000).contains(millions))
}

/// What a row of numbers says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Version {
        version: (u16, u16),
        after_v: bool,
    },
    /// The day or month that a name ends in, its digits as they stand: `2025-08-07` is 20 250 807.
    Date(u32),
    /// Google's `-001`.
    Revision(u32),
    /// `8192`: a context window in tokens.
    Window,
}

/// What `numbers`, which follow one another, say. Nothing where one of them cannot be read.
///
/// `4-5` is version 4.5, `5-2025-08-07` version 5 and a day, `03-25` a day.
pub(super) fn figures(numbers: &[(&str, bool)]) -> Option<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut place = 0;
    while let Some((text, after_v)) = numbers.get(place).copied() {
        let next = |ahead: usize| match numbers.get(place + ahead) {
            Some((text, false)) => *text,
            _ => "",
        };
        let (figure, used) = if let Some(parts) = date(text, next(1), next(2)) {
            let digits =
                numbers[place..place + parts].iter().map(|(text, _)| *text).collect::<String>();
            (Figure::Date(digits.replace('.', "").parse().ok()?), parts)
        } else if text.len() == 3 && text.starts_with("00") {
            (Figure::Revision(text.parse().ok()?), 1)
        } else if matches!(text, "4096" | "8192" | "16384" | "32768" | "40960" | "65536" | "131072")
        {
            (Figure::Window, 1)
        } else {
            let (version, used) = version(text, next(1))?;
            (Figure::Version { version, after_v }, used)
        };
        figures.push(figure);
        place += used;
    }
    Some(figures)
}

/// How many of the numbers make up a date.
fn date(first: &str, second: &str, third: &str) -> Option<usize> {
    let within = |text: &str, digits: usize, range: std::ops::RangeInclusive<u32>| {
        text.len() == digits && text.parse().is_ok_and(|number| range.contains(&number))
    };
    let is_year = |text: &str| within(text, 4, 2020..=2039);
    let is_month = |text: &str| within(text, 2, 1..=12);
    let is_day = |text: &str| within(text, 2, 1..=31);
    let is_short_year = |text: &str| within(text, 2, 20..=39);
    if is_year(first) && is_month(second) {
        return Some(if is_day(third) { 3 } else { 2 });
    }
    // `09-2025`, and `03-25`, which may be a day or a month.
    if is_month(first) && (is_year(second) || is_day(second)) {
        return Some(2);
    }
    let at = |from: usize, to: usize| first.get(from..to).unwrap_or("");
    let is_date = match first.len() {
        8 => is_year(at(0, 4)) && is_month(at(4, 6)) && is_day(at(6, 8)),
        6 => {
            (is_year(at(0, 4)) && is_month(at(4, 6)))
                || (is_short_year(at(0, 2)) && is_month(at(2, 4)) && is_day(at(4, 6)))
        }
        4 => {
            (is_short_year(at(0, 2)) && is_month(at(2, 4)))
                || (is_month(at(0, 2)) && is_day(at(2, 4)))
        }
        // Mistral's `25.01`.
        5 => is_short_year(at(0, 2)) && at(2, 3) == "." && is_month(at(3, 5)),
        _ => false,
    };
    is_date.then_some(1)
}

/// The version that begins with `first`, and how many of both numbers it takes: `4.5`, `4-5`, `4`,
/// and `35` for 3.5.
fn version(first: &str, second: &str) -> Option<((u16, u16), usize)> {
    let number = |text: &str| {
        let digits = text.len() <= 2 && (text.len() == 1 || !text.starts_with('0'));
        digits.then(|| text.parse::<u16>().ok()).flatten()
    };
    if let Some((major, minor)) = first.split_once('.') {
        return Some(((number(major)?, number(minor)?), 1));
    }
    let major = number(first)?;
    match number(second) {
        Some(minor) => Some(((major, minor), 2)),
        // No model has come as far as version 10.
        None if major >= 10 => Some(((major / 10, major % 10), 1)),
        None => Some(((major, 0), 1)),
    }
}
