//! Sentences, chats, records and code with names, made of templates and word lists.
//!
//! Slots are `[[person]]`, `[[first]]`, `[[last]]`, `[[titled]]`, `[[address]]`, `[[addressblock]]`,
//! `[[street]]`, `[[streetline]]`, `[[city]]`, `[[country]]`, `[[org]]`, and the unlabelled `[[email]]`,
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

    fn of<'a>(&mut self, list: &'a [String]) -> &'a str {
        &list[self.below(list.len())]
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

/// The word lists that fill slots.
pub(super) struct Filler {
    first: Vec<String>,
    last: Vec<String>,
    cities: Vec<String>,
    countries: Vec<String>,
    brands: Vec<String>,
}

impl Filler {
    pub(super) fn new() -> Self {
        Self {
            first: lists::entries("first_names.txt"),
            last: lists::entries("surnames.txt"),
            cities: lists::entries("cities.txt"),
            countries: lists::entries("countries.txt"),
            brands: lists::entries("organizations.txt").split_off(97),
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
        let name = titled(rng.of(&self.last));
        match rng.below(100) {
            0..=3 => format!("{name}-{}", titled(rng.of(&self.last))),
            4..=7 => {
                let particle = rng.pick(&[
                    "van", "de", "von", "van der", "de la", "dos", "da", "del", "di", "ten", "el",
                    "bin", "van den", "Le", "De", "Van",
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
        match rng.below(10) {
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

    fn city(&self, rng: &mut Rng) -> String {
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

    /// A street with a house number, in one of many countries' ways.
    fn street_line(&self, rng: &mut Rng) -> String {
        let number = house_number(rng);
        let street = self.street(rng);
        if street.chars().last().is_some_and(|c| c.is_ascii_digit()) {
            return street;
        }
        let number_first = street.starts_with(char::is_lowercase)
            || ["Street", "Road", "Avenue", "Lane", "Drive", "Court", "Way", "St", "Rd", "Ave"]
                .iter()
                .any(|end| street.ends_with(end));
        if number_first && rng.chance(92) || rng.chance(20) {
            format!("{number} {street}")
        } else {
            format!("{street} {number}")
        }
    }

    /// A street.
    fn street(&self, rng: &mut Rng) -> String {
        let name = match rng.below(4) {
            0 => titled(rng.of(&self.first)),
            1 => titled(rng.of(&self.cities)),
            2 => {
                let list = [
                    "Main",
                    "High",
                    "Church",
                    "Park",
                    "Oak",
                    "Maple",
                    "Station",
                    "Mill",
                    "Market",
                    "Lake",
                    "Hill",
                    "Elm",
                    "Pine",
                    "Cedar",
                    "Victoria",
                    "King",
                    "Queen",
                    "Washington",
                    "Sunset",
                    "River",
                    "Spring",
                    "Garden",
                    "2nd",
                    "5th",
                    "Old Mill",
                    "Long Meadow",
                ];
                rng.pick(&list).to_owned()
            }
            _ => titled(rng.of(&self.last)),
        };
        match rng.below(12) {
            0..=3 => {
                let ends = [
                    "Street",
                    "Road",
                    "Avenue",
                    "Lane",
                    "Drive",
                    "Court",
                    "Way",
                    "St",
                    "St.",
                    "Rd",
                    "Ave",
                    "Blvd",
                    "Boulevard",
                    "Place",
                    "Square",
                    "Terrace",
                    "Crescent",
                    "Close",
                    "Grove",
                    "Gardens",
                    "Walk",
                    "Parkway",
                    "Circle",
                    "Trail",
                ];
                format!("{name} {}", rng.pick(&ends))
            }
            4 => {
                let ends = [
                    "Groves", "Springs", "Corners", "Overpass", "Alley", "Branch", "Flat", "Green",
                    "Greens", "Lake", "Lodge", "Meadows", "Mews", "Mountain", "Orchard", "Plaza",
                    "Ridge", "Shores", "Station", "Track", "Tunnel", "Union", "Valley", "Villages",
                    "Vista", "Well", "Hollow", "Junction", "Fort", "Forge", "Crossing", "Cove",
                    "Keys", "Landing", "Point", "Port", "Prairie", "Rapids", "Row", "Skyway",
                    "Stream", "Summit", "Via", "View", "Viaduct",
                ];
                format!("{name} {}", rng.pick(&ends))
            }
            5 => format!(
                "{}{}",
                name.replace(' ', ""),
                rng.pick(&[
                    "straße", "strasse", "weg", "gasse", "platz", "allee", "ring", "damm", "str.",
                    "ufer"
                ])
            ),
            6 => {
                let other = titled(rng.of(&self.last));
                format!(
                    "{}-{other}-{}",
                    titled(rng.of(&self.first)),
                    rng.pick(&["Straße", "Weg", "Platz", "Allee", "Ring", "Gasse", "Str."])
                )
            }
            7 => {
                let start = rng.pick(&[
                    "rue",
                    "avenue",
                    "boulevard",
                    "place",
                    "chemin",
                    "allée",
                    "Rue",
                    "Avenue",
                    "impasse",
                    "quai",
                ]);
                format!("{start} {}{name}", rng.pick(&["", "de ", "du ", "des ", "de la "]))
            }
            8 => {
                let start = rng.pick(&[
                    "Calle", "Avenida", "Paseo", "Plaza", "Carrera", "Rua", "Avenida", "Travessa",
                    "Av.", "C/", "Ctra.",
                ]);
                format!("{start} {}{name}", rng.pick(&["", "", "de ", "de la ", "del ", "do "]))
            }
            9 => {
                let start = rng.pick(&[
                    "Via", "Viale", "Piazza", "Corso", "Vicolo", "Largo", "ul.", "ulica", "Aleja",
                    "al.", "Jalan", "Strada", "Ulitsa",
                ]);
                format!("{start} {name}")
            }
            10 => format!(
                "{}{}",
                name.replace(' ', ""),
                rng.pick(&[
                    "straat", "laan", "weg", "plein", "gracht", "dreef", "gatan", "vägen", "vej",
                    "gade", "veien", "katu", "tie", "kade", "singel"
                ])
            ),
            _ => {
                let end = rng.pick(&[
                    "utca",
                    "út",
                    "Sokak",
                    "Caddesi",
                    "náměstí",
                    "Marg",
                    "Nagar",
                    "Road",
                    "Street",
                    "tér",
                    "körút",
                    "gade",
                    "allé",
                ]);
                format!("{name} {end}")
            }
        }
    }

    fn unit(rng: &mut Rng) -> String {
        let number = rng.between(1, 999);
        match rng.below(9) {
            0 => format!("Apt. {number}"),
            1 => format!("Apt {number}"),
            2 => format!("Suite {number:03}"),
            3 => format!("Unit {number}"),
            4 => format!("Flat {}", number % 90 + 1),
            5 => format!("Studio {}", number % 90 + 1),
            6 => format!("{}. OG", number % 9 + 1),
            7 => format!("#{number}"),
            _ => format!("Floor {}", number % 30 + 1),
        }
    }

    fn postcode(rng: &mut Rng) -> String {
        let letter = |rng: &mut Rng| char::from(b'A' + rng.below(26) as u8);
        match rng.below(6) {
            0..=2 => format!("{:05}", rng.between(1000, 99_999)),
            3 => format!("{:04}", rng.between(1000, 9999)),
            4 => {
                let (a, b, c, d) = (letter(rng), letter(rng), letter(rng), letter(rng));
                format!("{a}{b}{} {}{c}{d}", rng.between(1, 20), rng.between(1, 9))
            }
            _ => {
                let (a, b) = (letter(rng), letter(rng));
                format!("{} {a}{b}", rng.between(1000, 9999))
            }
        }
    }

    /// An address in one line.
    fn address(&self, rng: &mut Rng) -> String {
        let line = self.street_line(rng);
        let city = self.city(rng);
        let code = Self::postcode(rng);
        let country = titled(rng.of(&self.countries));
        let state = rng.pick(&["CA", "NY", "TX", "WA", "IL", "MA", "OH", "FL", "NSW", "ON", "QC"]);
        let unit = Self::unit(rng);
        match rng.below(18) {
            16 => format!(
                "PSC {}, Box {}\nAPO {} {code}",
                rng.between(1, 9999),
                rng.between(1, 9999),
                rng.pick(&["AA", "AE", "AP"])
            ),
            17 => format!(
                "Unit {} Box {}\nDPO {} {code}",
                rng.between(1, 9999),
                rng.between(1, 9999),
                rng.pick(&["AA", "AE", "AP"])
            ),
            0..=1 => line,
            2 => format!("{line} {unit}"),
            3 => format!("{line}, {unit}"),
            4..=5 => format!("{line}, {city}"),
            6..=7 => format!("{line}, {code} {city}"),
            8 => format!("{line}, {city} {code}"),
            9 => format!("{line}, {city}, {state} {code}"),
            10 => format!("{line} {unit}, {city}, {country} {code}"),
            11 => format!("{line} {unit}, {code} {city}"),
            12 => format!("{unit}, {line}, {code} {city}"),
            13 => format!("{line}, {code} {city}, {country}"),
            14 => format!("{line}, {city}, {country}"),
            _ => format!("PO Box {}, {city} {code}", rng.between(1, 9999)),
        }
    }

    /// An address in several lines.
    fn address_block(&self, rng: &mut Rng) -> String {
        let line = self.street_line(rng);
        let city = self.city(rng);
        let code = Self::postcode(rng);
        let country = titled(rng.of(&self.countries));
        let unit = Self::unit(rng);
        let indent = if rng.chance(25) { " " } else { "" };
        match rng.below(6) {
            0 => format!("{line}\n{indent}{code} {city}"),
            1 => format!("{line}\n{indent}{city}\n{indent}{country}"),
            2 => format!("{line}\n{indent}{unit}\n{indent}{city}\n{indent}{country} {code}"),
            3 => format!("{line}, {unit}\n{indent}{city}, {code}"),
            4 => format!("{line}\n{indent}{city} {code}\n{indent}{country}"),
            _ => format!("{line}\n{indent}{city}\n{indent}{code}"),
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

fn house_number(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => format!("{}{}", rng.between(1, 99), char::from(b'a' + rng.below(4) as u8)),
        1 => format!("{}-{}", rng.between(1, 40), rng.between(41, 80)),
        2 => rng.between(1000, 99_999).to_string(),
        3 => rng.between(100, 999).to_string(),
        _ => rng.between(1, 150).to_string(),
    }
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
fn titled(name: &str) -> String {
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
