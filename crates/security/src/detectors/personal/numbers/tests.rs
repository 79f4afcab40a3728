//! Examples of numbers of people and of numbers that are nobody's.

use super::super::scan::scan;
use crate::kind::{Kind, Kinds};

const KINDS: Kinds = Kinds::of(&[Kind::Phone, Kind::Card, Kind::NationalId, Kind::Iban]);

/// Checks that in each of `texts` exactly what stands between ⟦ and ⟧ is found.
fn check_all(kind: Kind, texts: &[&str]) {
    let wrong: Vec<_> = texts.iter().filter_map(|text| check(kind, text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is wrong with the findings in `text`.
fn check(kind: Kind, text: &str) -> Option<String> {
    let mut expected = Vec::new();
    let mut plain = String::new();
    for part in text.split('⟦') {
        let Some((value, rest)) = part.split_once('⟧') else {
            plain.push_str(part);
            continue;
        };
        expected.push((kind, value));
        plain.push_str(value);
        plain.push_str(rest);
    }
    let findings = scan(&plain, KINDS);
    let found: Vec<_> = findings.iter().map(|f| (f.kind, &plain[f.range()])).collect();
    (found != expected).then(|| format!("{text}: found {found:?}"))
}

#[test]
fn phones_in_many_notations() {
    check_all(
        Kind::Phone,
        &[
            "call ⟦+49 30 901820⟧ now",
            "⟦+49 (0)30 901820-12⟧",
            "⟦+49(0)4580 123456⟧",
            "tel:⟦+14155552671⟧",
            "⟦+44 20 7946 0958⟧, ⟦+33 6 58 73 87 10⟧ and ⟦+1 681-921-5150⟧",
            "⟦+1 (415) 555-2671⟧ | ⟦+61 4 1234 5678⟧ | ⟦+81 3-1234-5679⟧",
            "⟦+86 138 1234 5678⟧ ⟦+91 98765 43211⟧ ⟦+55 11 91234-5678⟧ ⟦+353 1 234 5679⟧",
            "⟦+7 (495) 123-45-67⟧, ⟦+380 44 123 4567⟧, ⟦+972-3-123-4568⟧",
            "⟦0049 30 901820⟧ is my phone",
            "⟦(555) 123-4567⟧",
            "⟦(764)722-5949⟧ mobile",
            "Author's number: ⟦415-867-5309⟧.",
            "{\"phone\": \"⟦621-467-6012⟧\", \"total\": 19.90}",
            "1,Bob,⟦212-867-5309⟧,x",
            "⟦1-800-356-9377⟧",
            "⟦001-755-329-4431⟧",
            "⟦833.719.3994x1887⟧",
            "⟦877-547-3967 ext. 793⟧",
            "phone=⟦5551234567⟧ ok",
            "msisdn: ⟦4917612345678⟧",
            "They're not answering at ⟦9493 7477⟧",
            "They're not answering at ⟦781 5991⟧",
            "How can we reach you? You can call ⟦(11) 4706-6184⟧",
            "You can call ⟦042 078 6381⟧ after six",
            "Telefon: ⟦089/123 456 78⟧",
            "Tél. : ⟦02 27 96 63 08⟧",
            "Appelez-moi au ⟦06.12.34.56.78⟧ svp",
            "Meine Nummer ist ⟦0171 2345678⟧",
            "my number is ⟦07911 123456⟧",
            "Ring me on ⟦020 7946 0958⟧ please",
            "whatsapp ⟦98765 43211⟧",
            "mobile ⟦0650 995 04 94⟧",
            "Llámame al ⟦612 34 56 78⟧",
            "Desk: ⟦986.291.2294x751⟧\nFax: ⟦001-420-335-7509x38548⟧",
            "⟦070 4493 5104⟧ office",
            "⟦9885 1152⟧-Office\\,⟦001-755-329-4432⟧-Fax",
            "office ⟦223-087-9502⟧, ⟦078 6657 2626⟧",
            "请致电⟦13812345679⟧联系",
            "手机号：⟦138-1234-5679⟧",
            "\"text\\nPhone: ⟦0431 19 97 94⟧\\n\"",
            "Hotline ⟦0-800-123-4568⟧",
            "Cell Phone:\n⟦555 987 6543⟧",
            "<phone>⟦0431 35 06 90⟧</phone>",
            "contact_phone: '⟦030-901 821⟧'",
            "the front desk: ⟦555-0142⟧",
            "Give us a call: ⟦(312) 555-0175⟧",
            "Panagiotis Karras ⟦2810 782 115⟧, Svetlana Kuzmina ⟦8 843 336-98-73⟧",
            "Gülşen Öztürk ⟦0 (232) 886 33 73⟧",
            "p: ⟦051-563-4577⟧ | f: ⟦8756 6610⟧ | e: l.santis@brasserie.org",
            "i could come saturday. tariq ⟦(0117) 965 9988⟧",
            "i could come saturday ⟦(41) 99619-4970⟧ wanderley",
            "Liège, Belgium | ⟦04 778 29 96⟧ | annelies@sky-net.be",
            "mijn buurman belde vanaf ⟦06-91319488⟧",
            "informed by phone (⟦+358 (0)9 212 2351⟧).",
            "oncall: \"⟦0044 161 414 9985⟧\"",
            "Driver Kylie (⟦0487 533 856⟧) will deliver",
        ],
    );
}

#[test]
fn other_numbers_are_no_phones() {
    check_all(
        Kind::Phone,
        &[
            "Fifth Floor, Boston, MA 02110-1301 USA",
            "% 02110-1301 USA.",
            "LETTER I WITH DOT ABOVE AND ACUTE; 0069 0307 0301",
            "2025-03-03 10:11:12 INFO started",
            "Date:   Mon Mar 3 10:11:12 2025 +0100",
            "2025/10/26 12:13 05.03.2025 10-11-1999",
            "[71933687.178843] usb 1-1: new device",
            "1718465315365 2025-03-04T10:00:03.101139Z",
            "+1718465315365\n-1718465315366",
            "version = \"7.17.27.7\"\nbuild = 1815623033",
            "anthropic.claude-3-5-sonnet-20241022-v2:0",
            "11111111-2222-3333-4444-555555555555",
            "arn:aws:iam::123456789012:role/x",
            "https://stackoverflow.com/q/66747359/7262247#issuecomment-1745613621",
            "M10 18a8 8 0 100-16 8 8 0 000 16z 2 2 0 004 0 2 2 0 011.523-1",
            "oklch(0.577 0.245 27.325) rgb(255 255 255) \"163 163 163\"",
            "let x: u64 = 6738751093453066694; 9223372036854775807i64",
            "9223372036.854775807s 0.000024975 43758.5453 62135596800",
            "0x12345678 12345678u32 1_000_000 v0.0.0-20240806141605-e8a1dd7889d",
            "total 1 234 567 bytes; 12.345.678 rows; 1,234,567.89 USD",
            "order 1234567890, invoice #20240012345, ticket 98765432",
            "lines 1200-1300, pages 100-200, years 1990-2000",
            "isbn 978-3-16-148410-0 issn 2049-3630",
            "123-456-7890 000-000-0000 555-555-5555 1234567890",
            "ails (so the caller can send a 413/502)",
            "call a taxi to 03 2657 Koontz Lane Apt. 602",
            "# phone number\n# 555-124564 the first",
            "x = 100 200 300 400 500 600",
            "00 01 02 03 04 05 06 07 08 09 0a",
            "52.520008, 13.404954 and 40.7128 -74.0060",
            "[1234567, 2345678, 3456789]",
            "timeout_ms=30000 pid 1234567 uid=1000 port 50051-50060",
            "Zip 94103-1234, PO Box 1234 5678",
            "range 5 digits, 01001–99998",
            "sha256:0123456789 commit 1234567 deadbeef1234567",
            "a+4930901820 b-5551234567 c*2125551234",
            "$5551234567 €1234 5678 £020 7946 0958",
            "call_id: 2813882583, caller_id = 28138825",
            "Article number 0757 386 761 is out of stock",
            "placeholder=\"(555) 555-0153\"",
            "foo(0117) 965 9988, f(x, 0117 965 9988)",
            "Visual Studio 17 2022, Windows Server 2019 2022, Intel Core 12 9001",
            "* Wed Mar 06 2024 John Doe\n0.22  Thu July 31 2014",
            "01 02 03 04 05 06 07 08 09 10\n   01 03 05 07 08 10 12 here",
            "range (10) 1000-2000, Ticket (11) 98765-4321",
        ],
    );
}

#[test]
fn cards() {
    check_all(
        Kind::Card,
        &[
            "My card ⟦4485757996306834⟧ is expiring",
            "⟦4485 7579 9630 6834⟧",
            "\"card\": \"⟦5109-2998-2200-2090⟧\"",
            "amex ⟦3782 822463 10013⟧",
            "⟦6011247775671416⟧",
            "card 4111 1111 1111 1111, 4242424242424242, 5555555555554444, 378282246310005",
            "0.4485757996306834 4485757996306834.5 -4485757996306834 x4485757996306834",
            "id 4485757996306835",
            "44857579963068340000",
            "trace 44857579-9630-6834-0000-000000000000",
            "Kreditkarte: ⟦4485757996306834⟧, gültig bis 12/27",
            "credit card number ⟦4485757996306835⟧",
        ],
    );
}

#[test]
fn accounts() {
    check_all(
        Kind::Iban,
        &[
            "My IBAN is ⟦GB61VFHS82148941232867⟧",
            "my iban is ⟦gb50mvfc38361978683032⟧",
            "1,Dale,⟦NL64 ABNA 0531 2630 73⟧\n",
            "⟦ES05 5438 9330 7574 1463 4147⟧",
            "⟦FR2442534904497275818064501⟧",
            "⟦GB51 WEST 4611 5442 8949 37⟧ ⟦GB80WEST76593889024283⟧",
            "⟦MT84MALT011000012345MTLCAST001S⟧",
            "GB61VFHS82148941232868 XX61VFHS82148941232867 AGB61VFHS82148941232867",
            "IBAN: ⟦DE12 3456 7890 1234 5678 90⟧",
        ],
    );
}

#[test]
fn national_identities() {
    check_all(
        Kind::NationalId,
        &[
            "Here's my SSN: ⟦308-63-0237⟧",
            "('Roy','⟦135-05-1144⟧');",
            "ssn ⟦308630237⟧",
            "social security number ⟦308 63 0237⟧",
            "123-45-6789 000-12-3456 666-12-3456 078-05-1120 308-63-0237-1",
            "part 30-863-0237 and 2308-63-0237",
            "NINO ⟦AB123456C⟧ or ⟦AB 12 34 56 C⟧",
            "code AB123456C",
            "Steuer-ID ⟦86095742719⟧",
            "id 86095742719",
            "DNI ⟦12345678Z⟧, NIE ⟦X1234567L⟧",
            "BSN: ⟦111222333⟧",
            "PESEL ⟦44051401359⟧",
            "CPF ⟦529.982.247-25⟧",
            "⟦529.982.247-25⟧",
            "Aadhaar ⟦9999 4105 7058⟧",
            "⟦11010519491231002X⟧",
            "hetu ⟦131052-308T⟧",
            "personnummer ⟦811228-9874⟧",
            "fødselsnummer ⟦01010750160⟧",
            "SIN: ⟦046 454 286⟧",
            "TFN ⟦123 456 782⟧",
            "codice fiscale ⟦RSSMRA85T10A562S⟧",
            "CURP ⟦HEGG560427MVZRRL04⟧",
            "NIR ⟦1 85 05 78 006 084 91⟧",
            "AHV ⟦756.9217.0769.85⟧",
            "CNP ⟦1800101221144⟧",
            "RRN ⟦900101-1234568⟧",
            "national identity number: ⟦8001015009087⟧",
            "build 240101-1530, 20240101-1234",
            "my NI number is ⟦CR302105D⟧, how do i check it?",
            "CUIL ⟦20-25249920-3⟧ tel",
            "RUT ⟦12.345.678-5⟧ y ⟦955221/8379⟧",
            "cédula ⟦1.024.587.903⟧ de Bogotá",
            "CI run 12345678-5 failed, Holiday Inn 7707083893",
            "01.02.2025/0815 and 2.0.0-1, 1.234.567-8",
            "Identification number: ⟦955221/8379⟧.",
            "AHV-/SV-Nummer ⟦19 885 073 648⟧, zuletzt",
        ],
    );
}

#[test]
fn the_header_of_a_table_names_the_numbers_below() {
    check_all(
        Kind::Phone,
        &[
            "id;name;telefon\n1;Kim;⟦601234508⟧\n2;Lea;⟦48 601 234 507⟧\n",
            "Name\tPhone\nKim\t⟦91234508⟧\n",
            "INSERT INTO t (name, mobile) VALUES ('Kim', '⟦9812345608⟧');",
        ],
    );
    check_all(Kind::Phone, &["id;size;total\n1;x;601234508\n", "a,b\n601234508,91234508\n"]);
}
