//! Sentences, chats, records and code with names, made of templates and word lists.
//!
//! Slots are `[[person]]`, `[[first]]`, `[[last]]`, `[[titled]]`, `[[address]]`, `[[addressblock]]`,
//! `[[street]]`, `[[streetline]]`, `[[PERSON]]`, `[[FIRST]]`, `[[LAST]]`, `[[lastfirst]]`, `[[initials]]`, `[[city]]`, `[[country]]`, `[[org]]`, and the unlabelled `[[email]]`,
//! `[[phone]]`, `[[number]]`, `[[year]]`, `[[age]]`, `[[date]]`, `[[hex]]`.
//! `((this|that))` is either.

use super::corpus::{ADDRESS, Document, LOCATION, ORGANIZATION, PERSON, Span};
use super::lists;

/// A small generator of pseudo-random numbers (SplitMix64), the same everywhere.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    pub(super) fn of<'a>(&mut self, list: &'a [String]) -> &'a str {
        &list[self.below(list.len())]
    }

    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

/// The word lists that fill slots.
pub(super) struct Filler {
    pub(super) first: Vec<String>,
    pub(super) last: Vec<String>,
    pub(super) cities: Vec<String>,
    pub(super) countries: Vec<String>,
    brands: Vec<String>,
    /// What organisations are called by: their trades.
    kinds: Vec<String>,
}

impl Filler {
    pub(super) fn new() -> Self {
        Self {
            first: lists::entries("first_names.txt"),
            last: lists::entries("surnames.txt"),
            cities: lists::entries("cities.txt"),
            countries: lists::entries("countries.txt"),
            brands: lists::brands(),
            kinds: lists::trades(),
        }
    }

    /// `template` with its slots filled.
    pub(super) fn fill(&self, template: &str, rng: &mut Rng) -> Document {
        let template = chosen(template, rng);
        let mut document = Document::default();
        let mut rest = template.as_str();
        while let Some((before, after)) = rest.split_once("[[") {
            document.text.push_str(before);
            let (slot, tail) = after.split_once("]]").unwrap_or((after, ""));
            self.fill_slot(slot, &mut document, rng);
            rest = tail;
        }
        document.text.push_str(rest);
        document
    }

    fn fill_slot(&self, slot: &str, document: &mut Document, rng: &mut Rng) {
        let (label, value) = match slot {
            "person" => (PERSON, self.person(rng)),
            "first" => (PERSON, self.first(rng)),
            "last" => (PERSON, self.last(rng)),
            "PERSON" => (PERSON, self.person(rng).to_uppercase()),
            "FIRST" => (PERSON, self.first(rng).to_uppercase()),
            "LAST" => (PERSON, self.last(rng).to_uppercase()),
            "lastfirst" => (PERSON, format!("{}, {}", self.last(rng), self.first(rng))),
            "initials" => (PERSON, format!("{}. {}", initial(rng), self.last(rng))),
            "titled" => {
                let title = rng.pick(&[
                    "Mr.",
                    "Mrs.",
                    "Ms.",
                    "Dr.",
                    "Mr",
                    "Mrs",
                    "Ms",
                    "Dr",
                    "Prof.",
                    "Professor",
                    "Miss",
                ]);
                document.text.push_str(title);
                document.text.push(' ');
                (PERSON, if rng.chance(60) { self.last(rng) } else { self.person(rng) })
            }
            "address" => (ADDRESS, self.address(rng)),
            "addressblock" => (ADDRESS, self.address_block(rng)),
            "street" => (ADDRESS, self.street(rng)),
            "streetline" => (ADDRESS, self.street_line(rng)),
            "city" => (LOCATION, self.city(rng)),
            "country" => (LOCATION, titled(rng.of(&self.countries))),
            "org" => (ORGANIZATION, self.organization(rng)),
            "email" => (0, self.email(rng)),
            "phone" => (0, phone(rng)),
            "number" => (0, rng.between(1, 99_999).to_string()),
            "year" => (0, rng.between(1930, 2025).to_string()),
            "age" => (0, rng.between(18, 90).to_string()),
            "hex" => (0, format!("{:07x}", rng.next() & 0x0fff_ffff)),
            _ => (
                0,
                format!(
                    "{}-{:02}-{:02}",
                    rng.between(1940, 2025),
                    rng.between(1, 12),
                    rng.between(1, 28)
                ),
            ),
        };
        let start = document.text.len();
        document.text.push_str(&value);
        if label != 0 {
            document.spans.push(Span { start, end: document.text.len(), label });
        }
    }

    fn first(&self, rng: &mut Rng) -> String {
        let name = titled(rng.of(&self.first));
        if rng.chance(4) { format!("{name}-{}", titled(rng.of(&self.first))) } else { name }
    }

    fn last(&self, rng: &mut Rng) -> String {
        let entry = rng.of(&self.last);
        // `van der merwe` keeps its particles as they are, or not.
        let name = match entry.rsplit_once(' ') {
            Some((particles, name)) if rng.chance(70) => format!("{particles} {}", titled(name)),
            _ => titled(entry),
        };
        match rng.below(100) {
            0..=3 => format!("{name}-{}", titled(rng.of(&self.last))),
            4..=7 => {
                let particle = rng.pick(&[
                    "van", "de", "von", "van der", "de la", "dos", "da", "del", "di", "ten", "el",
                    "bin", "van den", "Le", "De", "Van", "af", "van 't", "binte", "Lo", "Ó", "Ní",
                    "ter", "von der", "Ben", "St.", "Abu", "Te",
                ]);
                format!("{particle} {name}")
            }
            _ => name,
        }
    }

    fn person(&self, rng: &mut Rng) -> String {
        let first = self.first(rng);
        let last = self.last(rng);
        match rng.below(100) {
            0..=5 => format!("{first} {}. {last}", char::from(b'A' + rng.below(26) as u8)),
            6..=8 => format!("{}. {last}", char::from(b'A' + rng.below(26) as u8)),
            9..=11 => format!("{first} {} {last}", self.first(rng)),
            12..=13 => format!("{first} {last} {}", self.last(rng)),
            14 => format!("{first} {last} Jr."),
            15 => format!("{first} {last}").to_uppercase(),
            _ => format!("{first} {last}"),
        }
    }

    fn email(&self, rng: &mut Rng) -> String {
        let plain = |name: &str| name.chars().filter(char::is_ascii_alphabetic).collect::<String>();
        let (first, last) = (plain(rng.of(&self.first)), plain(rng.of(&self.last)));
        let host =
            rng.pick(&["example.com", "gmail.com", "mail.org", "firma.de", "uni.edu", "proton.me"]);
        match rng.below(4) {
            0 => format!("{first}.{last}@{host}"),
            1 => format!("{}{last}@{host}", &first[..first.len().min(1)]),
            2 => format!("{last}{}@{host}", rng.between(1, 99)),
            _ => format!("{first}_{last}@{host}"),
        }
    }

    fn organization(&self, rng: &mut Rng) -> String {
        let one = titled(rng.of(&self.last));
        let city = self.city(rng);
        let suffix = rng.pick(&[
            "Ltd",
            "Inc.",
            "GmbH",
            "LLC",
            "AG",
            "Group",
            "Holdings",
            "Partners",
            "Corp.",
            "S.A.",
            "B.V.",
            "AB",
            "Oy",
            "Bank",
            "Insurance",
            "Logistics",
            "Consulting",
            "Industries",
            "Foundation",
            "University",
            "Hospital",
            "Institute",
            "Airlines",
            "Motors",
            "Pharma",
            "Systems",
            "Solutions",
            "& Co",
            "and Sons",
            "PLC",
        ]);
        let word = titled(rng.of(&self.kinds));
        let form = rng.pick(&[
            "Ltd",
            "Ltd.",
            "plc",
            "LLC",
            "Inc.",
            "GmbH",
            "AG",
            "KG",
            "a.s.",
            "AS",
            "AB",
            "A/S",
            "Oy",
            "Oyj",
            "S.A.",
            "SARL",
            "SAS",
            "S.p.A.",
            "S.r.l.",
            "Sp. z o.o.",
            "s.r.o.",
            "d.o.o.",
            "Kft.",
            "B.V.",
            "N.V.",
            "A.Ş.",
            "K.K.",
            "Co., Ltd.",
            "Pty Ltd",
            "Pvt Ltd",
            "Sdn Bhd",
            "Ltda",
            "S.L.",
            "SRL",
            "e.V.",
        ]);
        match rng.below(17) {
            10 => format!("{one} {word}"),
            11 => format!("{one} {word} {}", titled(rng.of(&self.kinds))),
            12 => format!("{word} {one} {form}"),
            13 => format!("{one} {word} {form}"),
            14 => format!(
                "{} {one}",
                rng.pick(&[
                    "Banco",
                    "Grupo",
                    "Fundación",
                    "Fondazione",
                    "Caixa",
                    "Cabinet",
                    "Klinik",
                    "Stiftung",
                    "Studio",
                    "Clínica",
                    "Hospital",
                    "Stadtwerke"
                ])
            ),
            15 => format!(
                "{} {} {word}",
                rng.pick(&[
                    "Red", "Blue", "Golden", "Silver", "Green", "Grand", "New", "Old", "Great",
                    "Northern"
                ]),
                rng.pick(&[
                    "Oak", "River", "Lion", "Star", "Stone", "Eagle", "Harbour", "Maple", "Lotus",
                    "Bay"
                ])
            ),
            16 => format!(
                "{city} {word} {}",
                rng.pick(&["Trust", "Union", "Council", "Works", "Company", "Centre", "Board"])
            ),
            0..=2 => titled(rng.of(&self.brands)),
            3 => format!("{one} & {}", titled(rng.of(&self.last))),
            4 => {
                format!("{one}, {} and {}", titled(rng.of(&self.last)), titled(rng.of(&self.last)))
            }
            5 => format!(
                "{} of {city}",
                rng.pick(&["University", "Bank", "Museum", "College", "Port"])
            ),
            6 => format!("{city} {suffix}"),
            7 => {
                let start = rng.pick(&[
                    "Global", "North", "Blue", "Green", "First", "Royal", "Nova", "Omni", "Bright",
                    "Kestrel", "Apex", "Delta", "Quantum", "Silver", "Vertex", "Terra", "Lumen",
                ]);
                let middle = rng.pick(&[
                    "Data", "Energy", "Health", "Water", "Media", "Tech", "Field", "Bridge",
                    "Stone", "Air", "Foods", "Capital",
                ]);
                format!("{start} {middle} {suffix}")
            }
            _ => format!("{one} {suffix}"),
        }
    }

    pub(super) fn city(&self, rng: &mut Rng) -> String {
        let city = titled(rng.of(&self.cities));
        if rng.chance(75) {
            return city;
        }
        let base = titled(rng.of(&self.last));
        match rng.below(3) {
            0 => {
                let end = rng.pick(&[
                    "ton", "ville", "burg", "berg", "ford", "side", "bury", "land", "mouth",
                    "haven", "town", "stad", "dorf", "hausen", "furt", "shire", "port", "view",
                ]);
                format!("{base}{end}")
            }
            1 => {
                let start = rng.pick(&[
                    "New", "West", "North", "East", "South", "Port", "Lake", "Bad", "Saint",
                    "Santa", "San", "Villa", "Upper",
                ]);
                format!("{start} {base}")
            }
            _ => base,
        }
    }
}

/// `template` with one of each `((this|that))`.
fn chosen(template: &str, rng: &mut Rng) -> String {
    let mut chosen = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("((") {
        let (choices, tail) = after.split_once("))").unwrap_or((after, ""));
        let choices: Vec<&str> = choices.split('|').collect();
        chosen.push_str(before);
        chosen.push_str(rng.pick(&choices));
        rest = tail;
    }
    chosen + rest
}

pub(super) fn initial(rng: &mut Rng) -> char {
    char::from(b'A' + rng.below(26) as u8)
}

fn phone(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => format!("+44 20 {} {}", rng.between(1000, 9999), rng.between(1000, 9999)),
        1 => format!(
            "({}) {}-{}",
            rng.between(200, 999),
            rng.between(200, 999),
            rng.between(1000, 9999)
        ),
        2 => format!("0{} {}", rng.between(30, 99), rng.between(100_000, 999_999)),
        _ => format!(
            "{}-{}-{}",
            rng.between(200, 999),
            rng.between(200, 999),
            rng.between(1000, 9999)
        ),
    }
}

/// `o'brien` as `O'Brien`, `new york` as `New York`.
pub(super) fn titled(name: &str) -> String {
    let mut titled = String::with_capacity(name.len());
    let mut begins = true;
    for c in name.chars() {
        if begins {
            titled.extend(c.to_uppercase());
        } else {
            titled.push(c);
        }
        begins = matches!(c, ' ' | '-' | '\'');
    }
    for start in ["Mc", "Mac"] {
        let rest = titled.strip_prefix(start).filter(|rest| rest.len() > 3 && start.len() == 2);
        if let Some(rest) = rest {
            titled = format!("{start}{}{}", rest[..1].to_uppercase(), &rest[1..]);
        }
    }
    titled
}
