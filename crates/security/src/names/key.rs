//! What a key says about its value: `author` stands before a person, `city` before a place.

use std::sync::LazyLock;

use super::gazetteer::{Flags, Gazetteer};
use super::word;

/// What kind of value a key stands before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Key {
    /// There is no key.
    None,
    /// A key that says nothing.
    Other,
    /// `name`: of a person, or of anything else.
    Name,
    /// `customer`, `Author`.
    Person,
    /// `full_name`, `lastName`: nothing but a person's name, or a part of it.
    PersonName,
    /// `from`, `user`, `owner`: a person or something else.
    Party,
    /// `address`, `street`.
    Address,
    /// `city`, `country`.
    Place,
    /// `company`, `employer`.
    Organization,
}

/// What words say, as bits.
const PERSON_NAME: Flags = Flags(1);
const PERSON: Flags = Flags(1 << 1);
const PARTY: Flags = Flags(1 << 2);
const ADDRESS: Flags = Flags(1 << 3);
const PLACE: Flags = Flags(1 << 4);
const ORGANIZATION: Flags = Flags(1 << 5);
/// `name` itself, in several languages.
const NAME: Flags = Flags(1 << 6);
/// Before `name` these make it a person's.
const OF_PERSON: Flags = Flags(1 << 7);
/// Behind any other word these make it something else: `author_id`.
const NOT: Flags = Flags(1 << 8);

const WORDS: [(Flags, &str); 9] = [
    (
        PERSON_NAME,
        "fullname firstname lastname surname forename givenname familyname middlename maidenname \
         given fname lname givn vorname nachname familienname prenom prenoms nomcomplet \
         apellido apellidos primerapellido segundoapellido cognome nominativo sobrenome \
         nomecompleto achternaam voornaam imie nazwisko jmeno prijmeni fornavn etternavn efternavn \
         fornamn efternamn etunimi sukunimi soyad soyadi adsoyad isim vezeteknev keresztnev \
         prenume cardholder cardholdername accountholder kontoinhaber titulaire titular \
         intestatario zuname rufname geburtsname familiennamen vornamen voornamen roepnaam \
         geboortenaam eftirnafn nombres nombrecompleto apellidopaterno apellidomaterno appaterno \
         apmaterno nomdefamille nomusage patronyme namalengkap hoten hovaten vardas pavarde vards \
         uzvards eesnimi perekonnanimi prezime priezvisko imya familiya otchestvo fio surn givn \
         firstnm lastnm custname custnm paxname paxnm guestname realname legalname \
         фио имя фамилия отчество піб прізвище презиме ονοματεπώνυμο επώνυμο επίθετο \
         姓名 氏名 이름 성명",
    ),
    (
        PERSON,
        "author authors nickname displayname family customer patient employee assignee reporter holder committer \
         reviewer maintainer maintainers contributor contributors recipient beneficiary passenger \
         guest applicant student pupil teacher doctor physician driver tenant landlord manager \
         supervisor attendee attendees participant participants contact signed by attn attention \
         person persons people claimant plaintiff defendant witness insured policyholder borrower \
         lender guarantor spouse child mother father guardian nurse surgeon lawyer attorney \
         solicitor judge executor notary director chair consignee shipper payee payer lessee lessor \
         traveller traveler resident subject interviewer interviewee candidate referee responsable \
         cliente paciente paziente patiente kunde kundin mieter inhaber empfaenger absender \
         ansprechpartner mitarbeiter klant huurder client klient odbiorca nadawca locataire \
         destinataire beneficiaire assure empleado destinatario remetente conducente dipendente \
         hasta musteri alici gonderen kund kunden kontaktperson kontakt editor translator \
         first last fn ln sn cn prescriber practitioner referrer renter lodger rider donor voter bride \
         groom coach instructor carer caregiver husband wife landlady proprietor debtor creditor pax \
         occupant occupier signatory signer antragsteller eigentuemer eigentumer kaeufer kaufer \
         verkaufer sachbearbeiter bearbeiter fahrer mieterin kundin patientin acheteur vendeur \
         proprietaire salarie employe demandeur gerant comprador vendedor inquilino propietario \
         solicitante asegurado acquirente venditore proprietario pacjent najemca wlasciciel \
         pracownik pacient zamestnanec najemce majitel beteg ugyfel ugyintezo berlo kiraci satici \
         asiakas potilas potilas vuokralainen клиент пациент получатель отправитель покупатель \
         водитель сотрудник заявитель получател подател пациентка пациент отримувач відправник \
         клієнт пацієнт заявник πελάτης ασθενής παραλήπτης αποστολέας όνομα име",
    ),
    (
        PARTY,
        "from to cc bcc user owner sender caller agent member creator requester approver operator \
         buyer seller lead speaker username login bot visitor",
    ),
    (
        ADDRESS,
        "address addr adr street strasse address1 address2 addressline addressline1 addressline2 \
         streetaddress streetname strtnm line1 line2 residence shipping billing shipto billto \
         adresse direccion domicilio indirizzo adres adresa endereco morada anschrift wohnort \
         domicile rue calle via rua ulica home delivery location lives mailingaddress cim lakcim \
         osoite osoitetiedot adressen zamieszkania strasse stras adres1 adresa1 bytem bydliste \
         trvale lakohely adresi yazismaadresi alamat diachi katuosoite gateadresse postadresse \
         streetname custadr custadr1 адрес адреса διεύθυνση οδός",
    ),
    (
        PLACE,
        "city town country state province region place birthplace stadt ort ville ciudad pais land \
         municipality county district twnnm townname locality comune citta cidade miasto mesto \
         varos sehir ulke kaupunki stad gemeente commune nationality residencecountry hometown",
    ),
    (
        ORGANIZATION,
        "company organization organisation org employer vendor supplier institution firm firma \
         bank business entreprise empresa azienda bedrijf arbeitgeber employeur societe",
    ),
    (NAME, "name names nom nombre naam navn namn nome nazwa nev nimi ad adi nm fn ime"),
    (
        OF_PERSON,
        "full first last given family middle maiden customer user employee patient client contact \
         holder cardholder account author committer student guest member legal real sender \
         recipient owner manager doctor driver passenger beneficiary display person reviewer \
         assignee tenant emergency applicant birth father mother spouse guardian witness insured \
         participant attendee teacher physician nurse buyer seller payee payer debtor creditor \
         debtr cdtr preferred",
    ),
    (
        NOT,
        "fontfamily productfamily addressfamily id ids type types key keys url uri count class file path email mail mails phone code \
         number no hash token date time status role roles group groups list index size length \
         field fields column label format pattern regex validator",
    ),
];

/// The words by their hash: keys are looked at for every value that begins with a capital.
static TABLE: LazyLock<Gazetteer> = LazyLock::new(|| {
    let words = WORDS
        .iter()
        .flat_map(|(flags, words)| words.split_ascii_whitespace().map(|word| (word, *flags)));
    Gazetteer::build(words)
});

/// What `key` says about its value.
pub(super) fn classify(key: &str) -> Key {
    const LONGEST: usize = 64;
    if key.len() > LONGEST || is_locale(key) {
        return Key::Other;
    }
    let mut words = Words::of(key);
    let Some(last) = words.next() else {
        return Key::Other;
    };
    let of = |word: Word| TABLE.look_up(word::hash(word.as_str()));
    let last = of(last);
    if last.any(NOT) {
        return Key::Other;
    }
    let whole = of(Word::of(key));
    let before = words.next().map(of);
    if whole != Flags::default() && !whole.any(NAME) {
        return kind_of(whole);
    }
    if last.any(NAME) {
        return match before {
            None => Key::Name,
            Some(word) if word.any(OF_PERSON) => Key::PersonName,
            Some(word) if word.any(ORGANIZATION) => Key::Organization,
            Some(word) if word.any(PLACE) => Key::Place,
            Some(word) if word.any(ADDRESS) => Key::Address,
            Some(_) => Key::Other,
        };
    }
    // `country_of_residence` is what its first word says.
    let first = words.last().map(of).or(before).unwrap_or(last);
    let of_first = key.as_bytes().windows(4).any(|part| part == b"_of_");
    kind_of(if of_first { first } else { last })
}

/// What a table's column with this name has in it: as [`classify`], with spaces between its words.
pub(super) fn of_column(name: &str) -> Key {
    let mut folded = String::with_capacity(name.len());
    for c in name.trim().chars() {
        folded.push(match c {
            ' ' | '.' => '_',
            'é' | 'è' | 'É' => 'e',
            'ó' => 'o',
            'ß' => 's',
            'ę' => 'e',
            other => other,
        });
    }
    classify(&folded.replace("Strase", "Strasse").replace("strase", "strasse"))
}

fn kind_of(word: Flags) -> Key {
    match word {
        _ if word.any(NOT) => Key::Other,
        _ if word.any(PERSON_NAME) => Key::PersonName,
        _ if word.any(PERSON) => Key::Person,
        _ if word.any(PARTY) => Key::Party,
        _ if word.any(ADDRESS) => Key::Address,
        _ if word.any(PLACE) => Key::Place,
        _ if word.any(ORGANIZATION) => Key::Organization,
        _ => Key::Other,
    }
}

/// What the key in front of the value at `at` says, where there is one: `"key": "`, `key=`, `<key>`,
/// `key: `, also through what wraps the value: `"key":{"S":"`, `name="key" value="`, `\\key{`.
pub(super) fn before(text: &str, at: usize) -> Key {
    const WRAPPERS: usize = 2;
    let bytes = text.as_bytes();
    let mut value = unsized_string(bytes, at);
    for _ in 0..=WRAPPERS {
        let Some((start, end)) = key_before(bytes, value) else { break };
        let Some(key) = text.get(start..end).filter(|key| !key.is_empty()) else { break };
        match key {
            "value" | "content" => {
                if let Some((start, end)) = attribute(bytes, start) {
                    return text.get(start..end).map_or(Key::None, classify);
                }
            }
            "S" | "string" | "text" | "stringValue" | "valueString" | "example" => {}
            _ => return classify(key),
        }
        value = start;
    }
    Key::None
}

/// `zh_CN`, `pt-BR`: a language with its country, in front of a translation.
fn is_locale(key: &str) -> bool {
    let (language, country) = match key.as_bytes() {
        [language @ .., b'_' | b'-', one, two] => (language, [one, two]),
        _ => return false,
    };
    (2..=3).contains(&language.len())
        && language.iter().all(u8::is_ascii_lowercase)
        && country.into_iter().all(u8::is_ascii_uppercase)
}

/// The key in front of the value at `at`.
pub(super) fn name_before(text: &str, at: usize) -> Option<&str> {
    let (start, end) = key_before(text.as_bytes(), at)?;
    text.get(start..end).filter(|key| !key.is_empty())
}

/// Where the key stands in front of the value at `at`.
fn key_before(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const MARKS: usize = 8;
    const LONGEST: usize = 32;
    let mut end = at;
    let (mut separates, mut opens) = (false, false);
    while end > 0 && at - end < MARKS {
        match bytes[end - 1] {
            b':' | b'=' => separates = true,
            b'>' => separates = separates || end == at || bytes[end] == b' ',
            b'{' => opens = true,
            b'\n' if !separates => break,
            b' ' | b'"' | b'\'' | b'\\' | b'[' | b']' | b'(' | b'\t' | b'\n' => {}
            _ => break,
        }
        end -= 1;
    }
    let is_key =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || *byte >= 0x80;
    let letters = bytes[end.saturating_sub(LONGEST)..end].iter().rev().take_while(|b| is_key(b));
    let start = end - letters.count();
    // `\name{Anna}` and `first_name { "Anna" }`
    let is_command = opens && start > 0 && bytes[start - 1] == b'\\';
    let is_block = opens && bytes[at - 1] == b'"' && bytes[end] == b' ';
    (separates || is_command || is_block).then_some((start, end))
}

/// The place in front of `string(9) "` where a dump tells a value's length, else `at`.
fn unsized_string(bytes: &[u8], at: usize) -> usize {
    let before = &bytes[at.saturating_sub(16)..at];
    let Some(call) = before.strip_suffix(b") \"") else { return at };
    let digits = call.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let head = call[..call.len() - digits].strip_suffix(b"string(");
    head.map_or(at, |head| at - before.len() + head.trim_ascii_end().len())
}

/// Where the name stands in the tag whose attribute at `at` is its value.
fn attribute(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 120;
    let tag = &bytes[at.saturating_sub(LONGEST)..at];
    let tag = &tag[memchr::memrchr(b'<', tag)?..];
    let from = at - tag.len();
    let names: [&[u8]; 4] = [b" name=\"", b" itemprop=\"", b" property=\"", b" id=\""];
    let head = names.iter().find_map(|name| {
        let place = tag.windows(name.len()).position(|here| here == *name)?;
        Some(place + name.len())
    })?;
    Some((from + head, from + head + memchr::memchr(b'"', &tag[head..])?))
}

/// A short word in lower case.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; 32],
    len: usize,
}

impl Word {
    fn of(word: &str) -> Self {
        let mut bytes = [0; 32];
        let mut len = 0;
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
        for byte in word.bytes().filter(of_word).take(32) {
            bytes[len] = byte.to_ascii_lowercase();
            len += 1;
        }
        Self { bytes, len }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

/// The words of `full_name`, `fullName` and `full-name`, from the last to the first.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn of(key: &'a str) -> Self {
        Self { rest: key }
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let separates = |byte: u8| matches!(byte, b'_' | b'-' | b'\'');
        let mut end = self.rest.len();
        let bytes = self.rest.as_bytes();
        while end > 0 && separates(bytes[end - 1]) {
            end -= 1;
        }
        if end == 0 {
            return None;
        }
        let mut start = end;
        while start > 0 && !separates(bytes[start - 1]) {
            start -= 1;
            let humps = bytes[start].is_ascii_uppercase()
                && start > 0
                && bytes[start - 1].is_ascii_lowercase();
            if humps {
                break;
            }
        }
        while !self.rest.is_char_boundary(start) {
            start -= 1;
        }
        let word = Word::of(&self.rest[start..end]);
        self.rest = &self.rest[..start];
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_say_what_follows() {
        for (key, kind) in [
            ("name", Key::Name),
            ("fullName", Key::PersonName),
            ("full_name", Key::PersonName),
            ("customer_name", Key::PersonName),
            ("customer", Key::Person),
            ("country_of_residence", Key::Place),
            ("Author", Key::Person),
            ("Co-authored-by", Key::Person),
            ("fileName", Key::Other),
            ("className", Key::Other),
            ("company_name", Key::Organization),
            ("shippingAddress", Key::Address),
            ("birthCity", Key::Place),
            ("From", Key::Party),
            ("user_id", Key::Other),
            ("zh_CN", Key::Other),
            ("", Key::Other),
            ("überName", Key::Other),
        ] {
            assert_eq!(classify(key), kind, "{key}");
        }
    }

    #[test]
    fn the_key_in_front_of_a_value() {
        for (before_value, key) in [
            ("{\"full_name\": \"", Key::PersonName),
            ("\\\"lastName\\\":\\\"", Key::PersonName),
            ("<surname>", Key::PersonName),
            ("surname=", Key::PersonName),
            ("'nom' => \"", Key::Name),
            ("Patient: ", Key::Person),
            ("\"given\":[\"", Key::PersonName),
            ("\"surname\":{\"S\":\"", Key::PersonName),
            ("<input name=\"family-name\" type=\"text\" value=\"", Key::PersonName),
            ("[\"prenom\"]=>\n  string(7) \"", Key::PersonName),
            ("last_name  { \"", Key::PersonName),
            ("\\address{", Key::Address),
            ("фамилия: ", Key::PersonName),
            ("Prénom : ", Key::PersonName),
            ("fn main() {\n    ", Key::None),
            ("say ", Key::None),
            ("std::", Key::Other),
            ("(", Key::None),
        ] {
            let text = format!("{before_value}Anna");
            assert_eq!(before(&text, before_value.len()), key, "{text}");
        }
    }
}
