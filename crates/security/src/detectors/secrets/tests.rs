//! What must be found and what must not: examples from many languages, formats and ways to speak.
//!
//! In [`FOUND`], `⟦…⟧` marks what must be found. All values are made up.

mod grammars;
mod languages;

use proptest::prelude::*;

use crate::finding::Finding;
use crate::kind::{Kind, Kinds};
use crate::scan::{Scanner, ScannerSettings};

const SECRETS: Kinds = Kinds::of(&[Kind::Secret, Kind::Password, Kind::PrivateKey]);

fn scan(text: &str) -> Vec<Finding> {
    Scanner::new(&ScannerSettings::default()).unwrap().scan(text, SECRETS)
}

fn check(marked: &str) {
    let text = marked.replace(['⟦', '⟧'], "");
    let expected: Vec<_> =
        marked.split('⟦').skip(1).map(|part| part.split('⟧').next().unwrap()).collect();
    let found: Vec<_> =
        scan(&text).iter().map(|finding| text[finding.range()].to_owned()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn finds_secrets_in_every_grammar() {
    FOUND.iter().for_each(|example| check(example));
}

#[test]
fn leaves_look_alikes_alone() {
    NOT_FOUND.iter().for_each(|example| check(example));
}

#[test]
fn finds_the_same_inside_a_string_of_json() {
    for example in FOUND.iter().filter(|example| !example.contains('\\')) {
        let inside = serde_json::to_string(example).unwrap();
        let text = inside.replace(['⟦', '⟧'], "");
        let expected = example.matches('⟦').count();
        assert!(scan(&text).len() >= expected, "{text}");
    }
}

#[test]
fn finds_private_keys_in_every_armour() {
    let body = "MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi9Zq2LsXkP0wYvRb4Hs7JfGaE5";
    for label in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "] {
        for line in ["\n", "\\n", "\r\n"] {
            let begin = format!("-----BEGIN {label}PRIVATE KEY-----");
            let end = format!("-----END {label}PRIVATE KEY-----");
            check(&format!("key: \"⟦{begin}{line}{body}{line}{body}{line}{end}⟧\" # x"));
        }
    }
    check(&format!(
        "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n=x\n-----END PGP PRIVATE KEY BLOCK-----⟧\n"
    ));
    check(&format!("Private-Lines: 1\n⟦{body}⟧\nPrivate-MAC: 0\n"));
    check(&format!("⟦-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}⟧\n\nand then it was cut off"));
    check("if text.startswith('-----BEGIN PRIVATE KEY-----'): return");
    check("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----");
    check(&format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----"));
    check(&format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----"));
}

proptest! {
    /// Whatever the text: no panic, and findings are in order, apart, and whole characters.
    #[test]
    fn findings_are_in_order_and_whole(text in "([a-z0-9:@/._\"'= -]|pass|key=|token: |é|密码|://|-----BEGIN |\\PC){0,80}") {
        let mut until = 0;
        for finding in scan(&text) {
            prop_assert!(finding.start >= until && finding.start < finding.end);
            prop_assert!(text.get(finding.range()).is_some());
            until = finding.end;
        }
    }

    /// What is found does not depend on where in the text it stands: blocks have no seams.
    #[test]
    fn a_secret_is_found_at_any_offset(before in 0_usize..200, example in 0..FOUND.len()) {
        let example = FOUND[example];
        let padding = "word ".repeat(before / 5 + 1);
        let marked = format!("{}\n{example}", &padding[..before]);
        check(&marked);
    }
}

#[rustfmt::skip]
const FOUND: &[&str] = &[
    "DB_PASSWORD=⟦kV8!mzPq2w⟧",
    "export SECRET_KEY='⟦f9Kd02mzLqPwX81nRtYv⟧'",
    // Drawn, without a digit.
    "DB_PASSWORD=⟦xuJIjm-gjnzpA⟧",
    r#"{"user": "etl", "password": "⟦hoiyND_dyHucZ⟧"}"#,
    r#"connect(password="⟦glpat-NnFSvkOFRHrdfigZzOng⟧")"#,
    "the id is ⟦AKIAZVQUFHQWVWUYTPGJ⟧ in this account",
    "set FTP=⟦sk_live_YxeYZtVRlPtaMABKGVrUEbtm⟧",
    // Chosen by a person, where a program has a secret.
    r#"private static final String CLIENT_SECRET = "⟦winter_Harbor5538⟧";"#,
    "STORAGE_SECRET=⟦copperLantern6150⟧",
    "env:\n  DEPLOY_TOKEN: ⟦Falcon!winter675⟧",
    r#"if api_token != "⟦s3cr3t!Pass99⟧" {"#,
    r#"db.connect("root", "⟦Topic12!x⟧")"#,
    "spring.datasource.password=⟦Winter#2024x⟧",
    "spring:\n  datasource:\n    username: sa\n    password: \"⟦Tr0ub4dor&3⟧\"",
    r#"{"user":"svc","password":"⟦g7#Lm2!qz⟧","port":5432}"#,
    r#"{\"password\": \"⟦g7#Lm2!qz⟧\", \"x\": 1}"#,
    r#""{\n  \"api_key\": \"⟦9f8e7d6c5b4a39281706f5e4d3c2b1a0⟧\"\n}""#,
    r#"<add key="DbPassword" value="⟦Zx9!plMn44⟧" />"#,
    "<password>⟦hunter2hunter2⟧</password>",
    r#"<property name="hibernate.connection.password" value="⟦Qw3rty!9⟧"/>"#,
    "machine api.example.net login deploy password ⟦s3cr3tPa55⟧",
    "machine api.example.net\n  login deploy\n  password ⟦s3cr3tPa55⟧",
    "CREATE USER 'app'@'%' IDENTIFIED BY '⟦N0tSoS3cure!⟧';",
    "ALTER ROLE app WITH PASSWORD '⟦kd82Lmq#1⟧';",
    "mysql -u root -p⟦Sup3rS3cr3t⟧ mydb",
    "mysqldump --user=root --password=⟦b4ckUp!99⟧ shop > dump.sql",
    "sshpass -p '⟦Gr4nite-77⟧' ssh admin@10.0.0.5",
    "curl -u admin:⟦Kp93nd82⟧ https://jenkins.local/job",
    r#"curl -H "Authorization: Bearer ⟦8f14e45fceea167a5a36dedd4bea2543⟧" https://api.local"#,
    "curl -H 'X-Api-Key: ⟦a8Kd93mxPq02LsZw⟧' https://api.local",
    "Authorization: Basic ⟦YWRtaW46czNjcjN0cGFzcw==⟧",
    r#"conn = psycopg2.connect(host="db", user="app", password="⟦Lq92!mzkd⟧")"#,
    r#"DriverManager.getConnection("jdbc:mysql://db/shop", "root", "x"); ds.setPassword("⟦Pq!82kdmz⟧");"#,
    r#"string connection = "Server=db;Database=shop;User Id=sa;Password=⟦Yukon900!x⟧;";"#,
    r#""ConnectionStrings": { "Default": "Server=tcp:x.database.windows.net;User ID=app;Password=⟦aB3$xyz9Q⟧;Encrypt=True" }"#,
    "amqp://guest2:⟦r4bb1tMq⟧@mq:5672/vhost",
    "redis://:⟦p4ssR3dis99⟧@cache:6379/0",
    "mongodb+srv://app:⟦Xk29dmQp⟧@cluster0.abcde.mongodb.net/test?retryWrites=true",
    "https://acc.blob.core.windows.net/c/b?sv=2020-08-04&se=2024-01-01&sig=⟦kJ2bX9mQ1pLz0vN7rT5wYcD3eF8gH6iK4oP2sU1xZ0A%3D⟧",
    "$config['db_password'] = '⟦m9Kz!ld02⟧';",
    "define('DB_PASSWORD', '⟦wX82!kdmZ⟧');",
    "'password' => '⟦Larav3l!pw⟧',",
    r#":password => "⟦r41ls!secret9⟧""#,
    r#"os.environ["OPENAI_KEY_X"] = "⟦d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3⟧""#,
    r#"os.Setenv("DB_PASS", "⟦g0l4ng#pw⟧")"#,
    r#"password := "⟦Gopher123!z⟧""#,
    r#"var apiKey string = "⟦k29fj3m5n8q1w4r7t0y2⟧""#,
    r#"const API_TOKEN: &str = "⟦tk9283hdk29sl20dk3⟧";"#,
    r#"private static final String CLIENT_SECRET = "⟦8Q2k9Lmz0PqX7wRt5Yv3⟧";"#,
    r#"let password = "⟦Sw1ftUI!pass⟧""#,
    "ENV POSTGRES_PASSWORD ⟦pgpass9!Kd⟧",
    "ENV POSTGRES_PASSWORD=⟦pgpass9!Kd⟧",
    r#"  password = "⟦T3rraform!x9⟧""#,
    "apiVersion: v1\nkind: Secret\ndata:\n  password: ⟦czNjcjN0UGFzc3cwcmQh⟧",
    "env:\n  - name: DB_PASSWORD\n    value: \"⟦k8sPass!92x⟧\"",
    "the password is ⟦hunter2⟧",
    r#"the wifi password is "⟦Sunflower88⟧" if you need it"#,
    "pw: ⟦Blau3Kuh!⟧",
    "my api key is ⟦8d7f6a5s4d3f2g1h0j9k8l7⟧ can you help?",
    "password for the staging db: ⟦Stag1ng!pw⟧",
    "Mein Passwort ist ⟦Sommer2023!⟧",
    "La contraseña es ⟦Gatito99x⟧",
    "Минутку, пароль: ⟦Zima2024!⟧",
    "密码是:⟦Abc!92kdm⟧",
    "aws_secret_access_key = ⟦wJ8r2XUtnFEMI9K7MDENG4bPxRfiCYzKqLm0pQ1s⟧",
    "client_id=abc client_secret=⟦v8Kd02nzLq91PwX3RtYb⟧",
    "//registry.corp/:_password=⟦bXlwYXNzd29yZDEyMw==⟧",
    "_auth = ⟦YWRtaW46czNjcjN0cGFzcw==⟧",
    "requirepass ⟦R3disRul3z⟧",
    "redis-cli -a ⟦R3disRul3z9⟧ ping",
    "PGPASSWORD=⟦pgKd92!x⟧ psql -h db -U app",
    "docker login -u bot -p ⟦dckrPw91xz⟧ registry.local",
    "snowflake.connector.connect(user='U', password='⟦Sn0wfl4ke!⟧', account='x')",
    r#"auth=("admin", "⟦R3qu3sts!x⟧")"#,
    "HTTPBasicAuth('user', '⟦hX92kd!m⟧')",
    r#"new NetworkCredential("user", "⟦C#r0cks99⟧")"#,
    "ssh_password: '⟦Ans1ble#77⟧'",
    "ansible_become_pass: ⟦B3c0meR00t⟧",
    "smtp_pass=⟦xkqmvhzpwrtylbno⟧",
    "TWILIO_AUTH_TOKEN=⟦3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c⟧",
    "[default]\naws_session_token=⟦IQoJb3JpZ2luX2VjEJr9238dkKDJsk29KDmslqpoZXMtMSJHMEUCIQDk⟧",
    "+API_SECRET=⟦m3n4b5v6c7x8z9l0k1j2⟧",
    r#"-  token: "⟦0a1b2c3d4e5f60718293a4b5c6d7e8f9⟧""#,
    "var settings = { connectionString: 'mongodb://root:⟦m0ng0Pw!⟧@localhost:27017' }",
    r#"JWT_SECRET="⟦aP9$kd02!mzLqPwX81nRtYv⟧""#,
    "encryption_key = b'⟦Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg==⟧'",
    "password=⟦p%40ssW0rd%21⟧&user=bob",
    "username=bob&password=⟦h4ckM3now⟧&submit=1",
    "login: bob / password: ⟦Tiger#2022⟧",
    "user: root\npass: ⟦toor1234!x⟧",
    r#"Set-Variable -Name password -Value "⟦P0w3rSh3ll!⟧""#,
    r#"$password = ConvertTo-SecureString "⟦P0w3rSh3ll!⟧" -AsPlainText -Force"#,
    "jdbc:postgresql://db/app?user=app&password=⟦jdbcPw92!⟧",
    "keystore.password=⟦ch4ngeit99⟧",
    "ftp://user:⟦ftpP4ss⟧@ftp.corp.net/x",
    "//sonar: sonar.login=⟦4c1b8a7f6e5d4c3b2a1908f7e6d5c4b3a2918070⟧",
    r#""auths":{"registry.io":{"auth":"⟦YWRtaW46czNjcjN0cGFzcw==⟧"}}"#,
    r#"headers = {"Authorization": "Token ⟦9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b⟧"}"#,
    r#"request.headers["x-api-key"] = "⟦k8Dm29LqZ01XwP7RtYvB⟧";"#,
    r#"private_key_passphrase: "⟦Open-Sesame-77!⟧""#,
    "gpg --passphrase ⟦Gpg!pass99⟧ -d file",
    "az login --service-principal -u app -p ⟦Azur3Pw~92kdm⟧ --tenant t",
    "GET /v1/data?api_key=⟦k8Dm29LqZ01XwP7RtYvB⟧&limit=5 HTTP/1.1",
    "https://api.weather.io/v1?token=⟦9f8e7d6c5b4a39281706f5e4d3c2b1a0⟧&q=x",
    "X-Auth-Token: ⟦b7Kd02mzLqPwX81nRtYv⟧",
    "Cookie: session=abc; auth_token=⟦b7Kd02mzLqPwX81nRtYvQ2⟧",
    "Proxy-Authorization: Basic ⟦cHJveHk6UHIweHlQYXNzIQ==⟧",
    "services:\n  db:\n    environment:\n      - MYSQL_ROOT_PASSWORD=⟦r00tKd92!⟧\n      - TZ=UTC",
    "services:\n  db:\n    environment:\n      MYSQL_ROOT_PASSWORD: ⟦r00tKd92!⟧",
    "[database]\nuser = app\npassword = ⟦In1Style#88⟧\nhost = db",
    "password = '⟦T0mlP4ss!⟧'",
    "variable \"db_password\" {\n  default = \"⟦Terr4!Form9⟧\"\n}",
    r#"  db_password: "⟦vaultless9!⟧"  # TODO move"#,
    "-    apiKey: '⟦0a1b2c3d4e5f60718293a4b5c6d7e8f9⟧',\n+    apiKey: process.env.API_KEY,",
    "2024-01-01 ERROR login failed for user=bob password=⟦Winter2023!⟧ ip=x",
    "DEBUG config loaded: {'host': 'db', 'password': '⟦py!D1ct99⟧'}",
    r#"{"level":"debug","msg":"auth","token":"⟦3c9f1a7be2d84f06a5b1c7d9e0f2a4b6⟧"}"#,
    r#"new MongoClient("mongodb://root:⟦Ex4mple!pw⟧@mongo.internal:27017/?authSource=admin")"#,
    r#"options.Password = "⟦D0tNet#Core⟧";"#,
    r#"builder.WithPassword("⟦Bu1lderPw!⟧")"#,
    r#".password("⟦j4vaBu1ld!⟧")"#,
    r#"props.put("password", "⟦Pr0ps!Put9⟧");"#,
    r#"props.setProperty("sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"⟦K4fka!pw9⟧\";");"#,
    "ActiveRecord::Base.establish_connection(adapter: 'mysql2', username: 'r', password: '⟦Rub1st!99⟧')",
    r#"mysqli_connect("localhost", "root", "⟦Php!C0nn3ct⟧", "db");"#,
    "new PDO($dsn, 'app', '⟦Pd0P4ss!x⟧')",
    r#"smtp.login("bot@corp.io", "⟦Ma1lB0t!9⟧")"#,
    r#"openai.api_key = "⟦k8Dm29LqZ01XwP7RtYvBk8Dm29LqZ01XwP7RtYvB⟧""#,
    "--api-key ⟦k8Dm29LqZ01XwP7RtYvB⟧",
    "--token=⟦k8Dm29LqZ01XwP7RtYvB⟧",
    "--from-literal=password='⟦Kub3ctl!x⟧'",
    "helm install x --set auth.password=⟦H3lmSet99x⟧",
    r#"<connectionStrings><add name="x" connectionString="Data Source=db;User ID=sa;Pwd=⟦X9!mssql⟧" /></connectionStrings>"#,
    "<server><username>ci</username><password>⟦M4ven!pw9⟧</password></server>",
    r#"<entry key="clientSecret">⟦x8Dm29LqZ01XwP7RtYvB⟧</entry>"#,
    "Here are the creds: user admin, password ⟦Tr0pic4l!⟧",
    "My AWS secret key is ⟦q8Kd02mz/LqPwX81nRtYvBc03HsJfGaE5uIoTx4k⟧, what's wrong?",
    "password is: ⟦Tr0pic4l!⟧",
    "Password → ⟦Tr0pic4l!⟧",
    "**Password:** `⟦Tr0pic4l!⟧`",
    "the new token: `⟦b7Kd02mzLqPwX81nRtYvQ2⟧`",
    "use this secret ⟦b7Kd02mzLqPwX81nRtYvQ2⟧ for the webhook",
    "the key for prod is ⟦b7Kd02mzLqPwX81nRtYvQ2⟧",
    r#"{"private_key_id": "abc", "client_email": "x@y.iam.gserviceaccount.com", "auth_token": "⟦b7Kd02mzLqPwX81nRtYvQ2⟧"}"#,
    r#"{"cell": ["api_key = \"⟦b7Kd02mzLqPwX81nRtYvQ2⟧\"\n"]}"#,
    r#""password\": \"⟦Nest3d!pw⟧\"""#,
    "config.set('password', '⟦c0nfS3t!⟧')",
    r#"ws.send(JSON.stringify({op:"auth",token:"⟦b7Kd02mzLqPwX81nRtYvQ2⟧"}))"#,
    r#"if password == "⟦B4ckd00r!⟧":"#,
    r#"if (strcmp(pass, "⟦B4ckd00r!⟧") == 0)"#,
    r#"#define WIFI_PASSWORD "⟦H0meW1fi!⟧""#,
    r#"const char* password = "⟦Esp32!wifi⟧";"#,
    r#"WiFi.begin("ssid", "⟦Esp32!wifi⟧");"#,
    r#"static let apiKey = "⟦b7Kd02mzLqPwX81nRtYvQ2⟧""#,
    r#"val apiKey = "⟦b7Kd02mzLqPwX81nRtYvQ2⟧""#,
    r#"buildConfigField("String", "API_KEY", "\"⟦b7Kd02mzLqPwX81nRtYvQ2⟧\"")"#,
    r#"<string name="api_key">⟦b7Kd02mzLqPwX81nRtYvQ2⟧</string>"#,
    "<key>ApiToken</key><string>⟦b7Kd02mzLqPwX81nRtYvQ2⟧</string>",
    "spring.security.user.password={noop}⟦Spr1ng!pw⟧",
    "db.default.password=⟦changeit2024!x⟧",
    "consumer_key = \"⟦k8Dm29LqZ01XwP7RtYvB⟧\"\nconsumer_secret = \"⟦mzw5g13ou07cs4vb26j2bkyhntne4jhbgs5c1n6jp8ao1⟧\"",
    "DISCORD_BOT_TOKEN=⟦MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs⟧",
    "secret: ⟦6b3a9f2c8d1e4f7a⟧",
    "HMAC_KEY=⟦5f4dcc3b5aa765d61d8327deb882cf99⟧",
    "SLACK_SIGNING_SECRET=⟦5f4dcc3b5aa765d61d8327deb882cf99⟧",
    "DATADOG_API_KEY: ⟦5f4dcc3b5aa765d61d8327deb882cf99⟧",
    "HEROKU_API_KEY=⟦c1d2e3f4-a5b6-4c7d-8e9f-0a1b2c3d4e5f⟧",
    r#""access_token" : "⟦EwB8A8l6BAAURSN_FHlDW5xN74t6GzbtsBBeBUYAAbzKq8Kd02mz⟧""#,
    "refresh_token=⟦1//0gKd02mzLqPwX81nRtYvBc03HsJfGaE5uIoTx4kq8Kd02mzLq⟧",
];

#[rustfmt::skip]
const NOT_FOUND: &[&str] = &[
    r##"token != "#include2""##,
    r#"if (token == "=>12ab") { next2(); }"#,
    r#"} else if (token === "--flag2") {"#,
    "| password | PBKDF2-SHA512 |",
    "| password | argon2id$v19 |",
    r#"password: "scrypt-N16384-r8""#,
    r#"bus.connect("orders", "Queue44", handler)"#,
    r#"client.connect("alice", "Room12")"#,
    r#"{"password": "userProfile-Id", "secret": "MyHTTPServer-URLs"}"#,
    "AKIATHISISNOTAREALKEY, glpat-your-token-goes-here",
    r#"{"token": "September2019", "count": 4}"#,
    "https://x.dev/media/ico-7a388b69018576d24b59331fd60aab0c.png",
    "API_KEY=\"glc_333333333333333333333333333333333333=\"",
    "\"token\": \"k3J9vQ2xLm7Rt-4821-####################\"",
    "PIN and pass: see 1Password",
    "password: string;",
    "password?: string | null",
    "const password = req.body.password;",
    r#"password = request.form["password"]"#,
    "let token = await getToken(user, password);",
    r#"if (password.length < 8) throw new Error("Password too short");"#,
    "password: ${DB_PASSWORD}",
    "password: {{ .Values.db.password }}",
    "PASSWORD=$(cat /run/secrets/db)",
    r#"PASSWORD="${PASSWORD:-}""#,
    r#"api_key = os.environ["API_KEY"]"#,
    "apiKey: process.env.API_KEY!,",
    "token = settings.SECRET_TOKEN",
    r#""password": "Password is required""#,
    r#""password": "Passwort""#,
    r#""forgotPassword": "Forgot your password?""#,
    r#"<input type="password" name="password" placeholder="Password" />"#,
    r#"<label for="password">Password</label>"#,
    "PASSWORD_MIN_LENGTH=12",
    r#"token_type: "Bearer""#,
    r#""token": "<your-token>""#,
    "API_KEY=your_api_key_here",
    "API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "password=changeme",
    "secretKeyRef: { name: db-credentials, key: password }",
    "secretName: my-tls-secret-2",
    r#"key: "user:profile:12345""#,
    "const cacheKey = `user-${id}-v2`;",
    r#"key = "some_long_snake_case_identifier_42""#,
    "<key>CFBundleIdentifier</key>",
    "for key, value in items.items():",
    "the key is to keep it simple",
    "the token is then passed to the server",
    "the password is hashed with bcrypt before it is stored",
    "the password is incorrect",
    "tokens: 1024, max_tokens: 4096",
    r#""input_tokens": 12345678, "total_tokens": 99999999"#,
    r#"sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08""#,
    "integrity: sha512-Kd92mzLqPwX81nRtYvBc03HsJfGaE5uIoTxkD92mzLqPwX81nRtYvBc03HsJfGaE5uIoTx4kD92mzLqPwX81nRt==",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    r#"etag: "9f86d081884c7d659a2feaa0c55ad015""#,
    "github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=",
    "def login(self, username: str, password: str) -> Token:",
    "fn authenticate(token: &str, secret: Option<String>) -> Result<()> {",
    "auth: AuthContext, token: CancellationToken",
    r#"className="token-2 keyword operator""#,
    "password: z.string().min(8).max(64),",
    "password: Joi.string().required(),",
    "Password: faker.internet.password(),",
    "passwordField.getText()",
    "user.setPassword(passwordEncoder.encode(dto.getPassword()));",
    "-Dpassword=%PASSWORD%",
    r#"kubectl create secret generic db --from-literal=password="$PASS""#,
    "image: registry/app@sha256:c7c11ee911a4ea8a6fc14f37543388251a8be60d6f8723ef72f124b53a1b793d",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    "@keyframes fade2 { from { opacity: 0 } }",
    r#"keyCode === 13 || event.key === "Enter""#,
    r#"primaryKey: "id", foreignKey: "user_id2""#,
    r#"public_key = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7""#,
    r#"partitionKey: "tenantId#20240101""#,
    r#"Token::Ident("abc123") => Token::Number(42),"#,
    r#"assert_eq!(tokenize("a1b2c3"), vec![]);"#,
    r#"let key = format!("{}:{}", prefix, id);"#,
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    r#"password = getpass.getpass("Password: ")"#,
    r#"ERROR: password authentication failed for user "app""#,
    "api_key: Optional[str] = None",
    "self.secret_key = secret_key",
    "AUTH_URL=https://auth.example.com/oauth2/token",
    r#""tokenizer": "cl100k_base""#,
    "sort_keys=True, key=lambda x: x[1]",
    r#"next_page_token = "CAUQAA2kd92mzLqPwX81""#,
    r#"<meta name="csrf-token" content="kD92mzLqPwX81nRtYvBc03HsJfGaE5uIoTx" />"#,
    "AccessKeyId: AKIAIOSFODNN7EXAMPLE",
    "pass # TODO: implement",
    "PASS  src/components/App.test.tsx (5.2s)",
    "--- PASS: TestFoo2 (0.00s)",
    "test_password_reset_2 ... ok",
    "password_hash: $2b$12$KIXQ8m8k9m0m1l2k3j4h5u",
    "secrets: inherit",
    "authToken: undefined,",
    "mutex_token_14_release_now();",
    r#"AUTHORS = ["Jane Doe <jane2024@corp.io>"]"#,
    "keyboard_layout_us_intl_102_key",
    "https://example.com/path/to/a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
    r#"monkey: "banana-split-2024""#,
    r#""apiKey": "test-api-key-123""#,
    r#"token: "mock-token-1""#,
    "passwordless login for user42",
    "if (token.kind === SyntaxKind.StringLiteral2) {",
    r#"const { data: token2 } = useToken("primary-500");"#,
    "Token(type=1, string='abc123', start=(1, 0))",
    r#"password1 = forms.CharField(label="Password1")"#,
    r#"<PasswordInput id="password2" />"#,
    r#""key": "value-123""#,
    r#""key": "ArrowDown""#,
    "key={`item-${index}`}",
    r#"i18n.t("auth.password2.label")"#,
    r#""auth.login.title": "Log in","#,
    r#""passwordPlaceholder": "Enter your password...","#,
    r#"authorization: "required","#,
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    r#""Authorization": f"Bearer {token}""#,
    "`Bearer ${process.env.TOKEN}`",
    r#"headers["Authorization"] = "Bearer " + token"#,
    r#""x-api-key": config.apiKey,"#,
    r#"tokenEndpoint: "https://login.example.com/oauth2/v2.0/token""#,
    r#"auth_method = "oauth2""#,
    r#"pass_through = "v1beta1""#,
    "access_token_lifetime = 3600",
    r#""authProvider": "keycloak-26""#,
    "secret_id = aws_secretsmanager_secret.db2.id",
    "password = random_password.db2.result",
    "password = data.aws_ssm_parameter.pw1.value",
    "--password-stdin",
    r#"echo "$PASS" | docker login -u user --password-stdin"#,
    "kubectl get secret db-credentials-v2 -o yaml",
    r#"key_name = "prod-key-2024""#,
    r#"api_key_header = APIKeyHeader(name="X-API-Key-2")"#,
    r#""keywords": ["es2015", "node14"]"#,
    r#"keySpec = new SecretKeySpec(keyBytes, "AES256")"#,
    r#"KeyPairGenerator.getInstance("RSA2048")"#,
    "cipher_key_size = AES_256_GCM",
    r#""tokenAddress": "0x6B175474E89094C44Da98b954EedeAC495271d0F""#,
    "pub token: TokenStream2,",
    r#"let secret = Secret::new(b"…");"#,
    r#"author: "user1234""#,
    r#"authors = ["dev42"]"#,
    "author_id=18273645",
    "auth/v1/token2/introspect",
    "redis://localhost:6379",
    "postgres://user:password@localhost:5432/db",
    "postgres://postgres:postgres@localhost/test",
    "https://user:pass@example.com",
    "http://localhost:3000/@vite/client",
    "git+ssh://git@github.com:org/repo.git",
    "postgresql://${USER}:${PASS}@${HOST}/db",
    "mongodb://<user>:<password>@host/db",
    "https://unpkg.com/react@18.2.0/umd/react.js",
    "ssh://git@host:22/path",
    r#""token": "string""#,
    r#"token: "abc""#,
    "const TOKEN_REGEX = /[A-Za-z0-9]{32}/;",
    "password: 'required|min:8|confirmed',",
    "'password' => ['required', 'string', 'min:8'],",
    "'password' => Hash::make('password'),",
    r#""password": hashlib.sha256(b"x").hexdigest(),"#,
    "if user.password != password1:",
    r#"request.session["user_id2"] = user.id"#,
    r#"pw.println("line1");"#,
    "pwd=$(pwd)",
    "cd $PWD/build2",
    "PWD=/home/user1/project",
    "OLDPWD=/root/a1",
    r#"tokens = tokenizer.encode("Hello2", add_special_tokens=True)"#,
    "sk_buff *skb2 = alloc_skb(len);",
    "AKIA is the prefix of access keys",
    r#"hf_hub_download(repo_id="org/model-v2")"#,
    "xoxb-your-bot-token-here",
    r#"checksum = "b4f8a3d91c2e7f60a5b8c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2""#,
    "aws-sdk-client-s3-v3.400.0-darwin-arm64-key",
    r#""resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-4.0.0.tgz""#,
    r#""js-tokens": "^3.0.0 || ^4.0.0""#,
    "js-tokens@4.0.0:\n    resolution: {integrity: sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==}",
    "key: ${{ runner.os }}-cargo-${{ hashFiles('**/Cargo.lock') }}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host",
    "key.size() > 0 && key[0] == 'a1'",
    r#""keyId": "2024-key-01""#,
    "private readonly tokenService2: TokenService",
    "@Inject(AUTH_TOKEN_V2) token",
    "pass: 12, fail: 3",
    "12 passed, 3 failed in 4.21s",
    r#"credentials: "same-origin""#,
    "credentials: 'include',",
    r#"auth: { type: "oauth2", flows: {} }"#,
    r#"<ForgotPassword2 email="x" />"#,
    r#"msgid "Password2""#,
    r#"aria-label="Show password 1""#,
    r#"data-token-id="tok-12""#,
    "var(--color-key-500)",
    r#"secretsManager.getSecretValue({ SecretId: "prod/db2" })"#,
    r#"public static final String TOKEN_PREFIX = "Bearer ";"#,
    "CREATE TABLE tokens2 (id int, token varchar(255), password char(60));",
    "INSERT INTO settings (key, value) VALUES ('theme2', 'dark');",
];
