//! Streets and addresses of many countries, to fill templates with.

use super::generate::{Filler, Rng, initial, titled};

impl Filler {
    /// A street with a house number, in one of many countries' ways.
    pub(super) fn street_line(&self, rng: &mut Rng) -> String {
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
    pub(super) fn street(&self, rng: &mut Rng) -> String {
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
    pub(super) fn address(&self, rng: &mut Rng) -> String {
        let line = self.street_line(rng);
        let city = self.city(rng);
        let code = Self::postcode(rng);
        let country = titled(rng.of(&self.countries));
        let state = rng.pick(&["CA", "NY", "TX", "WA", "IL", "MA", "OH", "FL", "NSW", "ON", "QC"]);
        let unit = Self::unit(rng);
        if rng.chance(35) {
            return self.address_abroad(rng);
        }
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

    /// An address in the order and with the units of some country.
    fn address_abroad(&self, rng: &mut Rng) -> String {
        let (a, b) = (rng.between(1, 250), rng.between(1, 60));
        let six = rng.between(100_000, 799_999);
        let four = rng.between(1000, 9999);
        let (last, city) = (titled(rng.of(&self.last)), self.city(rng));
        let first = titled(rng.of(&self.first));
        match rng.below(26) {
            0 => format!("{a} {last} Quay, {city}, D{:02} X{}Y{}", b, b % 9, a % 9),
            1 => format!("{last}gade {a}, {}. tv., {four} {city}", b % 6 + 1),
            2 => format!("{last}gatan {a} lgh {}, {} {city}", 1000 + b, five_spaced(rng)),
            3 => format!("ul. {last} {a}/{b}, {:02}-{} {city}", b, a + 100),
            4 => format!("al. {first} {last} {a}, {:02}-{} {city}", b, a + 100),
            5 => format!("{last} u. {a}. {}/{}, {four} {city}", ["I", "II", "III"][b % 3], b % 9),
            6 => format!("Str. {first} {last} nr. {a}, ap. {b}, {six} {city}"),
            7 => format!("vul. {last} {a}, kv. {b}, {city} {}", five_spaced(rng).replace(' ', "")),
            8 => format!("ul. {last}, d. {a}, kv. {b}, {city}, {six}"),
            9 => format!("{last} Cad. No:{a} D:{b}, {}{four} {city}", b % 8 + 1),
            10 => format!(
                "Rua {first} {last}, {a}, apto {b}, {city} - SP, {:05}-{}",
                six % 99_999,
                a + 100
            ),
            11 => format!("Av. {last} {a}, Col. {first}, {:05} {city}", six % 99_999),
            12 => format!("Calle {b} No. {a}-{b}, Apto {}, {city}", a + 100),
            13 => format!("{last} {a}, piso {}, {}{four} {city}", b % 9 + 1, initial(rng)),
            14 => format!(
                "C/ {last} {a}, {}.º {}, {:05} {city}",
                b % 9 + 1,
                initial(rng),
                six % 52_999
            ),
            15 => format!("Via {first} {last} n. {a}/{}, {:05} {city}", initial(rng), six % 98_999),
            16 => format!("{b}-{a}, {} {last}-ro, {first}-gu, {city} {:05}", b + 3, six % 63_999),
            17 => format!("{}-{b}-{a} {last}, {first}-ku, {city} {}-{four}", b % 9 + 1, a + 100),
            18 => format!("Blk {a} {last} Ave {} #{:02}-{a}, {city} {six}", b % 9 + 1, b),
            19 => format!("{a} {first} {last}, Ward {}, {city} {six}", b % 14 + 1),
            20 => format!("H.No. {a}, Sector {b}, {city} - {six}"),
            21 => format!("Plot {a}, {last} Layout, {city} {six}"),
            22 => format!("Unit {b}, No. {a}, {last} Alley, {city} {:05}", six % 99_999),
            23 => format!("{b}/{a} {last} Street, {city} {} {four}", ["NSW", "VIC", "QLD"][b % 3]),
            24 => format!("{a} bis rue {first} {last}, {:05} {city}", six % 95_999),
            _ => format!("{last}straße {a}/{}/{b}, A-{four} {city}", b % 5 + 1),
        }
    }

    /// An address in several lines.
    pub(super) fn address_block(&self, rng: &mut Rng) -> String {
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

fn five_spaced(rng: &mut Rng) -> String {
    format!("{} {:02}", rng.between(100, 989), rng.between(0, 99))
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
