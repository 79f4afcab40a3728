//! What people say. `⟦…⟧` marks what must be found. All values are made up.

use crate::kind::{Kind, Kinds};
use crate::scan::{Scanner, ScannerSettings};

fn found(text: &str) -> Vec<String> {
    let kinds = Kinds::of(&[Kind::Secret, Kind::Password, Kind::PrivateKey]);
    let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
    scanner.scan(text, kinds).iter().map(|finding| text[finding.range()].to_owned()).collect()
}

#[test]
fn finds_what_is_told() {
    let mut missed = Vec::new();
    for marked in TOLD {
        let text = marked.replace(['⟦', '⟧'], "");
        let expected: Vec<_> =
            marked.split('⟦').skip(1).map(|part| part.split('⟧').next().unwrap()).collect();
        if found(&text) != expected {
            missed.push((found(&text), text));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn leaves_talk_about_secrets_alone() {
    let taken = TALK.iter().map(|text| (found(text), text)).filter(|(found, _)| !found.is_empty());
    let taken: Vec<_> = taken.collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

const TOLD: &[&str] = &[
    "the password for the mail relay changed last night, it's ⟦Kestrel!4471⟧ from now on",
    "When it asks for the sudo password I enter ⟦gr33nHouse#⟧ and it fails",
    "the wifi password (it is ⟦Otter+Lamp77⟧ until June) is on the fridge",
    "I changed my password from ⟦Kestrel!4471⟧ to ⟦Heron?9920x⟧ yesterday",
    "<kim> what's the vpn password again?\n<lee> ⟦Heron?9920x⟧\n<kim> thanks",
    "use \"⟦Kestrel!4471⟧\" as the password",
    "the demo login is **viewer** / **⟦Otter+Lamp77⟧**",
    "Your login is viewer / ⟦lavender83⟧ for the dashboard",
    "credentials for the printer: viewer / ⟦Otter+Lamp77⟧",
    "Das Passwort vom Drucker lautet ⟦lavendel83⟧, bitte nicht weitersagen.",
    "Le mot de passe du routeur est ⟦lavande83⟧ depuis hier.",
    "le mdp c'est ⟦lavande83⟧",
    "La contraseña del servidor de correo es ⟦lavanda83⟧ y no se toca.",
    "La clave del router es ⟦lavanda83⟧.",
    "A senha da impressora mudou para ⟦Lontra!4471⟧ ontem.",
    "Het wachtwoord van de printer is ⟦lavendel83⟧.",
    "Hasło do drukarki to ⟦lawenda83⟧.",
    "Heslo k tiskárně je ⟦levandule83⟧.",
    "A nyomtató jelszó most ⟦Vidra!4471x⟧.",
    "Lösenordet till skrivaren är ⟦lavendel83⟧.",
    "Пароль от принтера теперь ⟦lavanda83⟧.",
    "Ο κωδικός του εκτυπωτή είναι ⟦levanta83⟧.",
    "my PIN for the locker is ⟦4827⟧",
    "PIN: ⟦482716⟧ opens the gate",
    "The default password is ``⟦lavender83⟧``.",
    "my recovery code is ⟦kd82m-lqpz3-zt4vw⟧",
    "Die PIN für den Safe lautet ⟦482716⟧ und fürs Handy ⟦9051⟧.",
    "Your verification code is ⟦481516⟧. It expires soon.",
    "⟦481516⟧ is your verification code",
    "Backup codes:\n1. ⟦kd82m-lqpz3⟧\n2. ⟦zt4vw-q9xr2⟧\n3. ⟦hh3bn-m1ldk⟧\n",
    "Your recovery codes are ⟦a81b2c9d⟧, ⟦77e0d1c4⟧ and ⟦9b3f0a62⟧.",
    "my seed phrase is: ⟦lamp otter copper violin chalk maple lake heron stone river cloud apple⟧. Help!",
    "MNEMONIC=\"⟦lamp otter copper violin chalk maple lake heron stone river cloud apple⟧\"",
    "Or type this setup key into the authenticator app: ⟦MZXW6YTBOI5DGQ2L⟧",
    "The licence key is ⟦K7Q2M-9XPLD-44TZB-W8R3N⟧, valid for a year",
    "the API key we got from them for testing is ⟦9f2c7be04a6d1835fe20c94b7a61d3e8⟧ I think",
    "pw for the jump host is ⟦Heron?9920x⟧ btw",
    "ok so the root password on that box is still `⟦lavender83⟧`, sorry",
    "Password for all of them: ⟦Otter+Lamp77⟧",
    "the password is\n\n⟦Kestrel!4471⟧\n\nplease delete this mail",
    "- user: kim\n- password - ⟦Kestrel!4471⟧",
    "You can log in as kim with the password ⟦lavender83⟧ until Friday.",
    "old password was ⟦Kestrel!4471⟧, new one is ⟦Heron?9920x⟧",
    "I set the password to ⟦lavender83⟧ and it still says access denied",
    "Ich habe das Passwort auf ⟦Otter+Lamp77⟧ geändert.",
    "WLAN-Passwort: ⟦lavendel83⟧",
    "Zugangsdaten: Benutzer kim, Passwort ⟦Otter+Lamp77⟧",
    "mot de passe : ⟦Loutre!4471⟧",
    "Le mot de passe a été changé, c'est maintenant ⟦Loutre!4471⟧.",
    "la password del server è ⟦lavanda83⟧",
    "Adgangskoden på printeren er ⟦Odder!4471⟧",
    "Passordet til skriveren er ⟦lavendel83⟧",
    "Tulostimen salasana on ⟦laventeli83⟧ ja käyttäjä on kim – älä jaa",
    "Yazıcının şifresi ⟦Susamuru!4471⟧ oldu",
    "Пароль: ⟦Vydra!4471⟧",
    "密码改成了 ⟦Shuita!4471⟧",
    "パスワードは ⟦Kawauso!4471⟧ です",
    "비밀번호는 ⟦Sudal!4471⟧ 입니다",
    "पासवर्ड ⟦Udbilav!4471⟧ है",
    "كلمة المرور هي ⟦Thalab!4471⟧",
    "Bitte diesen API-Key benutzen: ⟦9f2c7be04a6d1835fe20c94b7a61d3e8⟧",
    "The service wants `X-Api-Key`; for tests use `⟦9f2c7be04a6d1835fe20c94b7a61d3e8⟧`.",
    "here's my token: ⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧ please check why I get 403",
    // Other languages, as they are typed.
    "пароль от вайфая ⟦Lavanda-83x⟧, сеть OtterNet7710",
    "Пароль администратора: ⟦lavanda83⟧",
    "пароль від роутера ⟦Vydra!4471⟧",
    "heslo=⟦levandule83⟧ adresa=10.0.0.4 požadavek=4f1a",
    "Mật khẩu wifi là ⟦lavender83⟧ nhé",
    "mật khẩu máy in: ⟦lavender83⟧, đừng gửi ai",
    "kata sandi wifi: ⟦lavender83⟧",
    "haslo do serwera to ⟦lawenda83⟧",
    "parola wifi: ⟦lavanda83⟧",
    "비번 ⟦lavender83⟧ 입니다",
    "Clave: ⟦lavanda83⟧\n",
    "ключ API ⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧ попал в репозиторий",
    "Şu API anahtarıyla (⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧) bir istek yaz",
    "API 키 ⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧ 폐기 요청",
    "新的接口密钥如下：\n\n⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧",
    "ID 4471，Secret ⟦q8Zt4vWq9Xr2Hh3bNm1LdKpa⟧，请禁用",
    // Keypads.
    "код домофона ⟦4827#⟧, пин от карты ⟦9051⟧, никому не говори",
    "portkoden är ⟦0778⟧ och larmet stängs av med ⟦840190⟧",
    "kod do bramy ⟦4089#⟧, pin do alarmu ⟦5054⟧, klucze u sąsiada",
    "sim pin ⟦4827⟧ / puk ⟦23467604⟧, in case you lock it",
    "gate code is ⟦*4827#⟧, leave it inside",
    "zoom passcode ⟦482716⟧ if it asks",
    "Ваш код подтверждения: ⟦481516⟧",
    // Codes and seeds.
    "Scratch codes: ⟦48215093⟧ ⟦77190264⟧ ⟦33509187⟧",
    "Backup codes:\n[ ] ⟦4821 5093⟧\n[ ] ⟦7719 0264⟧\n",
    "Wiederherstellungscodes:\n⟦3f8a1-99c2d⟧\n⟦77b0e-1d4aa⟧\n⟦c02f9-5e6b1⟧",
    "Guarde os códigos de recuperação:\n⟦3f8a1-99c2d⟧\n⟦77b0e-1d4aa⟧\n⟦c02f9-5e6b1⟧",
    "TOTP secret: ⟦MZXW 6YTB OI5D GQ2L⟧",
    // Boxes that make a network.
    "SSID: OtterNet\nKey: ⟦p7qzr4wmx2⟧",
    "WLAN-Schlüssel: ⟦63582917403816205947⟧",
    "La clé du réseau wifi est ⟦DwPVXi4PV2nI⟧",
    // A label above its value, a value below its sentence.
    "Mail\nUsername\nkim\nPassword\n⟦lavender83⟧\nWebsite\nhttps://mail.example.net",
    "here is the zip, the password comes in the next message\n⟦lavender83⟧",
    "password for user 'ubuntu': ⟦copper-otter-41⟧",
    "old password was ⟦Kestrel!4471⟧ -> new one ⟦Heron?9920x⟧. Thanks",
    "har lösenordet ändrats?\n[10:39] ja, ⟦goldf1sh07t3r9⟧ från och med idag",
    "door code for the office after 7pm: ⟦4827#⟧ (push hard)",
    "try ⟦cr1cketbr@mble9⟧ instead",
    // Messages without a word for it.
    "that one expired, try ⟦Heron?9920x⟧ instead",
    "log in as kim with ⟦Kestrel!4471⟧ for now",
    "logga in med gäst och ⟦lavendel1985⟧",
    "Zugang: root / ⟦ZdcI9kV0nL⟧ (bitte ändern)",
    "it's admin/⟦LampOtter211⟧ on every switch",
    "попробуй ⟦BgcIYZC2H97ZAn5mdnKF⟧, старый не работает",
    "accounts: [\"0x⟦9f2c7be04a6d1835fe20c94b7a61d3e8017bd5c2f38e6a94c1d07b52e8f3a6d1⟧\"],",
];

const TALK: &[&str] = &[
    "The password must have at least 12 characters, a digit and a sign.",
    "The password is hashed with sha256 and then with bcrypt2 again.",
    "password reset is tracked in OPS-1142, see https://tickets.example.com/OPS-1142",
    "Choose a password such as Kestrel!4471 but not that one",
    "The token is refreshed every 30 minutes by server01.",
    "the key of the map is user_id2",
    "Enter the password for admin@corp.example.com on port 8080.",
    "Log in as admin at 10:30 on 2024-05-12.",
    "my PIN was rejected 3 times in 2024",
    "Ship to: 14 MG Road, Bengaluru, PIN 560001",
    "Kolkata PIN: 700091, West Bengal",
    "Flat 4B, Lake View, Pin code - 560 001, Karnataka",
    "verification code error 400123: expired",
    "PINs have 4 to 8 digits. PIN 1234 is the default.",
    "Verification code length is 6, it expires in 300 seconds.",
    "The recovery code is re-sent after 30 seconds by mail-job-v2.",
    "Recovery codes are shown once. There are 10 of them.",
    "backup codes in src/backup/codes.rs have 8 characters",
    "Your seed phrase is the only way to get your wallet back, so store it somewhere safe and dry.",
    "A mnemonic: twelve words that you should write down and never show to others, not even to us",
    "wachtwoord vergeten? Kies een nieuw wachtwoord van minstens 8 tekens.",
    "Passwort vergessen? Hilfe unter 0800 123456.",
    "clave primaria: id_cliente2",
    "use python3 as the password generator",
    "the secret key is rotated by rotate_v2 on node12",
    "let token = parser.next(); // the token is ident2 here",
    "log in with GitHub or SAML2",
    "| user | password |\n| --- | --- |\n| kim | see vault2 |",
    "what's the root password on mail.corp.example?",
    "password\n12 files changed in build42",
    "Failed to verify password for deploy@web01 after 3 tries, see authlib#1234",
    "Password tests run on Node18+Chrome120 with release 1.2.3+sha5114f85",
    "ii  passwd  1:4.13+dfsg1-1  change and administer password and group data\nii  perl  5.36.0-7+deb12u1",
    "validates the password of class `form-field-error-label` and `reset-form-submit-button`",
    "mnemonic: mov add sub mul div inc dec cmp test jmp call ret",
    "bytes32 private constant ADMIN_ROLE = 0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9;",
    "the transaction hash is 0x9f2c7be04a6d1835fe20c94b7a61d3e8017bd5c2f38e6a94c1d07b52e8f3a6d1",
    "Fixed: password fields no longer log values (#1442), token expiry is 15min (v2.3.1)",
    "If the password is wrong 3 times, the account is locked for 15 minutes (ERR_AUTH_42).",
    "The PIN is checked in check_pin(), see RFC 2289 and section 4.2",
    "Passwords: use bcrypt, argon2id or scrypt; never md5 or sha1.",
    "The access token is stored in localStorage under auth_token_v2.",
    "The secret is mounted at /var/run/secrets/db2 by Kubernetes 1.29",
    "token count is 128000 and the key length is 256bits",
    "Enter your password twice. Password1 and Password2 must match.",
    "checks the password:\nassert!(db.verify_password(\"kim\", \"@74d7x404jW6u\").is_ok());\n",
    "// the secret key is derived as in TLS1.3/ChaCha20Poly1305: by hashing",
    "login: add support for OAuth2 / OpenID (#221)",
    "Das Passwort muss 8 bis 64 Zeichen haben und wird mit PBKDF2 gespeichert.",
    "the password for OtterNet7710 is on the fridge, the one for Lamp2201, too",
    "API key is missing. Request ID: q8Zt4vWq9Xr2Hh3bNm1LdKpa",
    "the password changed.\nSerial number: SN6G5068DP3\n",
    "Meldung „Kennwort falsch (Code 4711)“",
    "sw19>en\nPassword: \nsw19#show run",
    "checksum/secret: 956c950e8f3ea68755870b328b98571685097d9ece94a0a2a4d93eb65d1e748d",
    "HTTP status codes: 40412345 50067890 20011223",
    "code de retour 4827, voir le journal",
    "код ошибки 482716, попробуйте позже",
    "try node18 instead, the old one doesn't work",
    "use utf8mb4 for that table, it's 2024",
    "log in to build-server-7 with ssh",
    "the pin was introduced in 2019, see commit 48271653",
    "what's the password? see deploy@web01, root@k8s-1 and ops@node7b",
    "use react@18.2.0 or lodash@4.17.21 instead",
    "it's COVID-19! use FFP2 masks",
    "error code 4827, gate closed 2024",
    "The password for the account user_service2 is rotated by job-1172 every 30 days.",
];

#[test]
fn many_words_for_codes_are_paid_for_and_read() {
    for word in ["код 1234 ", "ключ 1 ", "API 1 "] {
        let text = word.repeat(2000) + "\n\nпароль: Kestrel!4471";
        assert!(found(&text).iter().any(|value| value == "Kestrel!4471"), "{word}");
    }
}
