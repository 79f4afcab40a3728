//! Examples of labelled values and of the words without them.

use super::super::scan::scan;
use crate::kind::{Kind, Kinds};

fn check(text: &str, expected: Option<(Kind, &str)>) {
    let kinds = Kinds::of(&[Kind::BirthDate, Kind::Licence, Kind::MedicalId, Kind::PostalCode]);
    let findings = scan(text, kinds);
    let found: Vec<_> = findings.iter().map(|f| (f.kind, &text[f.range()])).collect();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{text}");
}

#[test]
fn dates_of_birth() {
    for (text, value) in [
        ("{ dob: \"1993-11-12\", address: 1 }", "1993-11-12"),
        ("She was born on 5/10/1963", "5/10/1963"),
        ("tell me your date of birth. It's 3/23/1940", "3/23/1940"),
        ("date_of_birth=1963-05-10T00:00:00Z", "1963-05-10"),
        ("\"birthDate\": \"19630510\"", "19630510"),
        ("DOB: May 10, 1963", "May 10, 1963"),
        ("born in Berlin on the 3rd of May 1970.", "3rd of May 1970"),
        ("Geburtsdatum: 10. Mai 1963", "10. Mai 1963"),
        ("geboren am 10.05.1963 in Köln", "10.05.1963"),
        ("né le x, date de naissance : 10 février 1963", "10 février 1963"),
        ("Fecha de nacimiento: 10 de mayo de 1963", "10 de mayo de 1963"),
        ("nata, data di nascita 10/05/1963", "10/05/1963"),
        ("D.O.B. 10-May-63", "10-May-63"),
        ("DOB\\n10/05/1963\\n", "10/05/1963"),
        ("<dob>1963/05/10</dob>", "1963/05/10"),
        ("1963-05-10 (date of birth)", "1963-05-10"),
        ("my birthday is March 3, 1980", "March 3, 1980"),
        ("Mme Durand, née le 04/04/1944 à Grenoble", "04/04/1944"),
        ("the witness (b. 6 November 1942) said", "6 November 1942"),
        ("Född 1963-05-10 i Umeå", "1963-05-10"),
        ("data nasc.: 10/05/1963", "10/05/1963"),
        ("fec_nac_titular=1963-05-10", "1963-05-10"),
        ("your date of birth; we have (28 Jan 1969) on file", "28 Jan 1969"),
    ] {
        check(text, Some((Kind::BirthDate, value)));
    }
    for text in [
        "b. 12 is next, b. in 1990",
        "born2code since 2015",
        "dob = models.DateField(null=True)",
        "a born leader of 1963",
        "nascent: 1963-05-10",
        "nac_rollout: 1963-05-10",
    ] {
        check(text, None);
    }
}

#[test]
fn licences_and_passports() {
    for (text, value) in [
        ("My driver's license number is 425700624", "425700624"),
        ("My driver's license number is U62928788557186", "U62928788557186"),
        ("driving licence: MORGA657054SM9IJ", "MORGA657054SM9IJ"),
        ("\"drivers_license\": \"D123-4567-8901\"", "D123-4567-8901"),
        ("driverLicenseNumber = 'A1253258'", "A1253258"),
        ("Passport No. C01X00T47", "C01X00T47"),
        ("passport: 533380006 issued", "533380006"),
        ("Führerschein-Nr. B072RRE2I55", "B072RRE2I55"),
        ("Reisepassnummer C01X00T47", "C01X00T47"),
        ("DL# D1234568", "D1234568"),
        ("a car hit mine, his licence is L96350178", "L96350178"),
    ] {
        check(text, Some((Kind::Licence, value)));
    }
    for text in [
        "license: MIT",
        "SPDX-License-Identifier: Apache-2.0",
        "license key ABCD-12345678",
        "licensed under the License, Version 2.0 (2004)",
        "\"passport\": \"^0.6.0\", passport.use(x)",
        "the driver license is BSD-3-Clause",
        "Copyright 2019 driver license",
        "patente EP1234567",
    ] {
        check(text, None);
    }
}

#[test]
fn numbers_of_the_health_system() {
    for (text, value) in [
        ("MRN: 00123456", "00123456"),
        ("medical record number 4839201", "4839201"),
        ("patient id: P-4839201", "P-4839201"),
        ("NHS number 943 476 5919", "943 476 5919"),
        ("\"patientId\": \"83920114\"", "83920114"),
        ("health insurance number is A123456780", "A123456780"),
        ("Medicare number 1EG4-TE5-MK73", "1EG4-TE5-MK73"),
        ("insurance policy number HX-8839201", "HX-8839201"),
        ("Versichertennummer: A123456780", "A123456780"),
        ("member id W123456789", "W123456789"),
        ("Frau Weiß, KV-Nr. T206247229", "T206247229"),
    ] {
        check(text, Some((Kind::MedicalId, value)));
    }
    for text in [
        "the patient waited 12345678 ms",
        "health check /healthz returned 20000 times",
        "member 123456 of the struct",
        "team_member_id: u64",
        "insurance costs 12000 a year",
    ] {
        check(text, None);
    }
}

#[test]
fn segments_of_health_messages() {
    let text = "MSH|^~\\&|A|B\rPID|1||4839201^^^HOSP^MR||DOE^JANE||19820511|F|||12 Main St^^Ulm||0731555123\r";
    let kinds = Kinds::of(&Kind::ALL);
    let found: Vec<_> = scan(text, kinds).iter().map(|f| (f.kind, &text[f.range()])).collect();
    let expected = [
        (Kind::MedicalId, "4839201"),
        (Kind::Person, "DOE^JANE"),
        (Kind::BirthDate, "19820511"),
        (Kind::Address, "12 Main St^^Ulm"),
        (Kind::Phone, "0731555123"),
    ];
    assert_eq!(found, expected);
    check("rapid|1||4839201", None);
    // A card that is cut inside of a character, and in general before the end of its line.
    let cut = format!("BEGIN:VCARD\nNOTE:{}\nN:{}", "x".repeat(1001), "é".repeat(10));
    check(&cut, None);
    for (text, expected) in [
        (
            "NM1*IL*1*NAKAMURA*MARJORIE****MI*9TK9GK0NR36~",
            &["NAKAMURA", "MARJORIE", "9TK9GK0NR36"][..],
        ),
        ("NM1*PR*2*ACME HEALTH*****PI*12345~", &[]),
        (
            "(0010,0010) PN [DOE^JANE]  # 8\n(0010,0020) LO [38478509]\n(0010,0030) DA [19690720]",
            &["DOE^JANE", "38478509", "19690720"],
        ),
        ("BEGIN:VCARD\nN:Krautgartner;Magdalena;;;\nEND:VCARD", &["Krautgartner", "Magdalena"]),
        (
            "2 GIVN Mona\n2 SURN Farouk\n1 BIRT\n2 DATE 9 Sep 1956\n",
            &["Mona", "Farouk", "9 Sep 1956"],
        ),
        ("PV1|1|I|W^389^1||||004777^Pham^Thao|||SUR", &["Pham^Thao"]),
        (
            "BEGIN:VCARD\nN:Arnesen;Kari\nBEGIN:VCARD\nN:Lund;Nils\n",
            &["Arnesen", "Kari", "Lund", "Nils"],
        ),
        ("PID|1|PID|1||4839201^^^HOSP", &["4839201"]),
    ] {
        let found: Vec<_> = scan(text, kinds).iter().map(|f| &text[f.range()]).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn postal_codes() {
    for (text, value) in [
        ("zip: 94103", "94103"),
        ("ZIP code 94103-1234", "94103-1234"),
        ("postcode SW1A 1AA", "SW1A 1AA"),
        ("\"postal_code\": \"K1A 0B1\"", "K1A 0B1"),
        ("PLZ 80331", "80331"),
        ("zipCode=94103", "94103"),
    ] {
        check(text, Some((Kind::PostalCode, value)));
    }
    for text in
        ["zip file 12345 bytes", "a.zip(b) 12345", "gzip 12345", "for x in zip(a, range(12345))"]
    {
        check(text, None);
    }
}

#[test]
fn columns_of_tables() {
    let kinds = Kinds::of(&[Kind::BirthDate, Kind::Licence, Kind::MedicalId, Kind::PostalCode]);
    let found = |text: &str| -> Vec<String> {
        scan(text, kinds).iter().map(|finding| text[finding.range()].to_owned()).collect()
    };
    for (text, values) in [
        (
            "name;dob;iban\nKim Ahn;1953-11-06;x\nLea Ahn;21.04.1958;y\n",
            vec!["1953-11-06", "21.04.1958"],
        ),
        ("licence_no,holder\n191 182 918,Kim\nR715CB80600,Lea", vec!["191 182 918", "R715CB80600"]),
        ("id\tzip_code\n1\t94103\n2\t1012 AB\n", vec!["94103", "1012 AB"]),
        (
            "| Patient ID | Born |\n|---|---|\n| 4471823 | 03/05/1971 |\n| 4471824 | 1980-05-12 |\n",
            vec!["4471823", "03/05/1971", "4471824", "1980-05-12"],
        ),
        (
            "INSERT INTO patients (name, dob) VALUES ('Kim', '1981-02-03'), ('Lea', '1990-12-01');",
            vec!["1981-02-03", "1990-12-01"],
        ),
        (
            "\"name\",\"Date of birth\"\r\n\"Ahn, Kim\",\"1953-11-06 00:00:00\"\r\n",
            vec!["1953-11-06"],
        ),
    ] {
        assert_eq!(found(text), values, "{text}");
    }
    for text in [
        "package,version,license\nserde,1.0.228,MIT\nring,0.17.14,Apache-2.0\n",
        "product,license_key\nalpha,ABC12-34567\n",
        "name,member_since\nKim,2019-01-01\n",
        "zip,file\nbackup1,12345.zip\n",
        "birth_place,year\nBerlin,1953\n",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}
