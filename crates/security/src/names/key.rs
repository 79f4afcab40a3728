//! What a key says about its value: `author` stands before a person, `city` before a place.

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
    /// `full_name`, `customer`, `Author`.
    Person,
    /// `from`, `user`, `owner`: a person or something else.
    Party,
    /// `address`, `street`.
    Address,
    /// `city`, `country`.
    Place,
    /// `company`, `employer`.
    Organization,
}

const PERSON: [&str; 52] = [
    "author",
    "authors",
    "fullname",
    "firstname",
    "lastname",
    "surname",
    "forename",
    "givenname",
    "familyname",
    "middlename",
    "nickname",
    "maidenname",
    "customer",
    "patient",
    "employee",
    "assignee",
    "reporter",
    "cardholder",
    "accountholder",
    "holder",
    "committer",
    "reviewer",
    "maintainer",
    "recipient",
    "beneficiary",
    "passenger",
    "guest",
    "applicant",
    "student",
    "teacher",
    "doctor",
    "physician",
    "driver",
    "tenant",
    "landlord",
    "manager",
    "supervisor",
    "attendee",
    "attendees",
    "participants",
    "contact",
    "signed",
    "by",
    "attn",
    "vorname",
    "nachname",
    "prenom",
    "apellido",
    "apellidos",
    "cognome",
    "displayname",
    "person",
];
const PARTY: [&str; 23] = [
    "from",
    "to",
    "cc",
    "bcc",
    "user",
    "owner",
    "sender",
    "client",
    "caller",
    "agent",
    "member",
    "creator",
    "requester",
    "approver",
    "operator",
    "buyer",
    "seller",
    "lead",
    "speaker",
    "username",
    "login",
    "bot",
    "bcc",
];
const ADDRESS: [&str; 22] = [
    "address",
    "addr",
    "street",
    "address1",
    "address2",
    "addressline",
    "line1",
    "line2",
    "residence",
    "shipping",
    "billing",
    "shipto",
    "billto",
    "adresse",
    "direccion",
    "indirizzo",
    "adres",
    "anschrift",
    "home",
    "delivery",
    "location",
    "lives",
];
const PLACE: [&str; 14] = [
    "city",
    "town",
    "country",
    "state",
    "province",
    "region",
    "place",
    "birthplace",
    "stadt",
    "ort",
    "ville",
    "ciudad",
    "pais",
    "land",
];
const ORGANIZATION: [&str; 12] = [
    "company",
    "organization",
    "organisation",
    "org",
    "employer",
    "vendor",
    "supplier",
    "institution",
    "firm",
    "firma",
    "bank",
    "business",
];
/// Before `name` these make it a person's.
const OF_PERSON: [&str; 37] = [
    "full",
    "first",
    "last",
    "given",
    "family",
    "middle",
    "maiden",
    "customer",
    "user",
    "employee",
    "patient",
    "client",
    "contact",
    "holder",
    "cardholder",
    "account",
    "author",
    "committer",
    "student",
    "guest",
    "member",
    "legal",
    "real",
    "sender",
    "recipient",
    "owner",
    "manager",
    "doctor",
    "driver",
    "passenger",
    "beneficiary",
    "display",
    "person",
    "reviewer",
    "assignee",
    "tenant",
    "emergency",
];

/// What `key` says about its value.
pub(super) fn classify(key: &str) -> Key {
    const LONGEST: usize = 64;
    if key.len() > LONGEST {
        return Key::Other;
    }
    let mut words = Words::of(key);
    let Some(last) = words.next() else {
        return Key::Other;
    };
    let before = words.next();
    let is = |list: &[&str], word: Word| list.contains(&word.as_str());
    let whole = Word::of(key);
    if is(&PERSON, whole) {
        return Key::Person;
    }
    match last.as_str() {
        "name" | "names" | "nom" | "nombre" | "naam" | "navn" | "nome" => match before {
            None => Key::Name,
            Some(word) if is(&OF_PERSON, word) => Key::Person,
            Some(word) if is(&ORGANIZATION, word) => Key::Organization,
            Some(word) if is(&PLACE, word) => Key::Place,
            Some(word) if is(&ADDRESS, word) => Key::Address,
            Some(_) => Key::Other,
        },
        "id" | "type" | "key" | "url" | "count" | "class" | "file" | "path" | "email" | "mail" => {
            Key::Other
        }
        _ if is(&PERSON, last) => Key::Person,
        _ if is(&PARTY, last) => Key::Party,
        _ if is(&ADDRESS, last) => Key::Address,
        _ if is(&PLACE, last) => Key::Place,
        _ if is(&ORGANIZATION, last) => Key::Organization,
        _ => Key::Other,
    }
}

/// A short word in lower case.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; 16],
    len: usize,
}

impl Word {
    fn of(word: &str) -> Self {
        let mut bytes = [0; 16];
        let mut len = 0;
        for byte in word.bytes().filter(u8::is_ascii_alphanumeric).take(16) {
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
            ("fullName", Key::Person),
            ("full_name", Key::Person),
            ("customer_name", Key::Person),
            ("Author", Key::Person),
            ("Co-authored-by", Key::Person),
            ("fileName", Key::Other),
            ("className", Key::Other),
            ("company_name", Key::Organization),
            ("shippingAddress", Key::Address),
            ("birthCity", Key::Place),
            ("From", Key::Party),
            ("user_id", Key::Other),
            ("", Key::Other),
            ("überName", Key::Other),
        ] {
            assert_eq!(classify(key), kind, "{key}");
        }
    }
}
