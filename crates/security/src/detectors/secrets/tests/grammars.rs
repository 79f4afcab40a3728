//! Configuration, commands and code in which the name, the sign between or the position of a secret is
//! less usual, and what looks like it. All values are made up.

use super::check;

#[test]
fn finds_secrets_wherever_configuration_and_code_have_them() {
    FOUND.iter().for_each(|example| check(example));
}

#[test]
fn leaves_the_same_places_alone_where_they_hold_none() {
    NOT_FOUND.iter().for_each(|example| check(example));
}

#[rustfmt::skip]
const FOUND: &[&str] = &[
    r##"rabbitmqctl change_password kim ⟦Kd82mLqZ⟧"##,
    r##"virsh set-user-password web1 root '⟦Kd82mLqZ⟧'; virsh list"##,
    r##"SET PASSWORD FOR 'app'@'%' = '⟦Kd82mLqZ⟧';"##,
    r##"SET PASSWORD FOR 'app'@'localhost' = PASSWORD('⟦Kd82mLqZ⟧');"##,
    r##"sqlcmd -S srv -U sa -P ⟦Kd82mLqZ⟧ -i x.sql"##,
    r##"sqlplus scott/⟦T1gerKd8⟧@orcl"##,
    r##"snmpwalk -v3 -u bob -l authPriv -a SHA -A ⟦Kd82mLqZ⟧ -x AES -X ⟦Zk3vT8wQ⟧ host"##,
    r##"smbclient //h/s -U bob%⟦Kd82mLqZ⟧"##,
    r##"htpasswd -b -c .htpasswd admin ⟦Kd82mLqZ⟧"##,
    r##"htpasswd -bnB admin '⟦Kd82mLqZ⟧' > x"##,
    r##"7z a -p⟦Kd82mLqZ⟧ out.7z dir"##,
    r##"zip -P ⟦Kd82mLqZ⟧ out.zip x"##,
    r##"ldapsearch -x -D "cn=admin,dc=x" -w ⟦Kd82mLqZ⟧ -b dc=x"##,
    r##"plink -ssh bob@h -pw ⟦Kd82mLqZ⟧ uptime"##,
    r##"echo 'root:⟦Kd82mLqZ⟧' | chpasswd"##,
    r##"echo "⟦Kd82mLqZ⟧" | sudo -S apt update"##,
    r##"openssl enc -aes-256-cbc -k ⟦Kd82mLqZ⟧ -in a -out b"##,
    r##"nmcli dev wifi connect home password ⟦Kd82mLqZ⟧"##,
    r##"wget --user bob --password ⟦Kd82mLqZ⟧ http://x"##,
    r##"mosquitto_pub -h b -u me -P ⟦Kd82mLqZ⟧ -t t -m x"##,
    r##"curl -su bob:⟦Kd82mLqZ⟧ http://x"##,
    r##"mongosh -u root -p ⟦Kd82mLqZ⟧ --authenticationDatabase admin"##,
    r##"az login --service-principal -u a -p ⟦Kd82mLqZ⟧ -t b"##,
    r##"lftp -u bob,⟦Kd82mLqZ⟧ ftp.x.org"##,
    r##"interface Dialer1
 ppp chap password 0 ⟦Kd82mLqZ⟧
 ppp pap sent-username bob password 7 ⟦094F471A1A0A57⟧"##,
    r##"ip ospf message-digest-key 1 md5 7 ⟦094F471A1A0A57⟧"##,
    r##"neighbor 10.0.0.1 password ⟦Kd82mLqZ7⟧"##,
    r##"tacacs server T1
 address ipv4 10.0.0.9
 key 7 ⟦094F471A1A0A57⟧"##,
    r##"snmp-server user bob grp v3 auth sha ⟦Kd82mLqZ7⟧ priv aes 128 ⟦Zk3vT8wQm1⟧"##,
    r##"/ppp secret add name=bob password=⟦Kd82mLqZ7⟧ service=l2tp"##,
    r##"/interface wireless security-profiles set default wpa2-pre-shared-key=⟦Kd82mLqZ7x⟧"##,
    r##"set vpn ipsec site-to-site peer 1.2.3.4 authentication pre-shared-secret '⟦Zk3vT8wQm1⟧'"##,
    r##"config user local
 edit "bob"
  set passwd ENC ⟦Kd82mLqPZk3vT8wQm1XyB7nRfG5hJ9sL⟧"##,
    r##"client 10.0.0.0/8 {
  secret = ⟦Zk3vT8wQm1⟧
  shortname = nas
}"##,
    r##"bob Cleartext-Password := "⟦Kd82mLqZ7⟧""##,
    r##"olcRootPW: ⟦{SSHA}Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK⟧"##,
    r##"userPassword: ⟦Kd82mLqZ7⟧"##,
    r##"admin:⟦$apr1$kd82mLqP$Zk3vT8wQm1XyB7nRfG5hJ9⟧"##,
    r##"root:⟦$6$kd82mLqP$Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYzNbMxSgHjFrDlPcUvTyIeA⟧:19000:0:99999:7:::"##,
    r##"<AdministratorPassword>
  <Value>⟦Kd82mLqZ7⟧</Value>
  <PlainText>true</PlainText>
</AdministratorPassword>"##,
    r##"d-i passwd/root-password password ⟦Kd82mLqZ7⟧"##,
    r##"pipeline { environment { DB_PASS = '⟦Kd82mLqZ7⟧' } }"##,
    r##"storePassword = "⟦Kd82mLqZ7⟧""##,
    r##"proxy_set_header Authorization "Basic ⟦Ym9iOktkODJtTHFaNw==⟧";"##,
    r##"{"type":"aws_db_instance","values":{"password":"⟦Kd82mLqZ7⟧","username":"root"}}"##,
    r##"  ~ password = "⟦Kd82mLqZ7⟧" -> "⟦Zk3vT8wQm1⟧""##,
    r##"{"kty":"oct","k":"⟦Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYz⟧","alg":"HS256"}"##,
    r##"default_pw: &pw ⟦Kd82mLqZ7⟧"##,
    r##"<tr><td>Password</td><td>⟦Kd82mLqZ7⟧</td></tr>"##,
    r##"<input type="hidden" name="api_key" id="k" value="⟦Zk3vT8wQm1XyB7nRfG5h⟧">"##,
    r##"<input type="password" name="pw" value="⟦Kd82mLqZ7⟧">"##,
    r##"------x
Content-Disposition: form-data; name="password"

⟦Kd82mLqZ7⟧
------x--"##,
    r##"Cookie: PHPSESSID=⟦k3v8wqm1xyb7nrfg5hj9sldc2p⟧; lang=en"##,
    r##"Set-Cookie: sessionid=⟦k3v8wqm1xyb7nrfg5hj9sldc2pv4tk6u⟧; HttpOnly"##,
    r##"ftp_login($conn, 'bob', '⟦Kd82mLqZ7⟧');"##,
    r##"ldap_bind($ds, "cn=admin,dc=x", "⟦Kd82mLqZ7⟧");"##,
    r##"conn.simple_bind_s("cn=admin,dc=x", "⟦Kd82mLqZ7⟧")"##,
    r##"$dbh = DBI->connect("dbi:mysql:x", "root", "⟦Kd82mLqZ7⟧");"##,
    r##"conn = cx_Oracle.connect("scott", "⟦Kd82mLqZ7⟧", "db/orcl")"##,
    r##"client.username_pw_set("bob", "⟦Kd82mLqZ7⟧")"##,
    r##"new PasswordAuthentication("bob", "⟦Kd82mLqZ7⟧".toCharArray())"##,
    r##"req.SetBasicAuth("bob", "⟦Kd82mLqZ7⟧")"##,
    r##"driver.find_element(By.ID, "password").send_keys("⟦Kd82mLqZ7⟧")"##,
    r##"await page.fill('#password', '⟦Kd82mLqZ7⟧');"##,
    r##"cy.get('#password').type('⟦Kd82mLqZ7⟧')"##,
    r##"(setq smtp-password "⟦Kd82mLqZ7⟧")"##,
    r##"{:user "bob" :password "⟦Kd82mLqZ7⟧"}"##,
    r##"'(("host" . "x") ("password" . "⟦Kd82mLqZ7⟧"))"##,
    r##"password <- "⟦Kd82mLqZ7⟧""##,
    r##"local password = [[⟦Kd82mLqZ7⟧]]"##,
    r##"my $password = q(⟦Kd82mLqZ7⟧);"##,
    r##"Const DB_PASSWORD As String = "⟦Kd82mLqZ7⟧""##,
    r##"05 WS-PASSWORD PIC X(20) VALUE '⟦Kd82mLqZ7⟧'."##,
    r##"set password "⟦Kd82mLqZ7⟧""##,
    r##"@Value("${db.password:⟦Kd82mLqZ7⟧}")"##,
    r##"def connect(host, user="root", password="⟦Kd82mLqZ7⟧"):"##,
    r##"DB_PASS = os.environ.get("DB_PASS", "⟦Kd82mLqZ7⟧")"##,
    r##"pw = os.getenv("DB_PASS") or "⟦Kd82mLqZ7⟧""##,
    r##"password = ENV.fetch("DB_PASS") { "⟦Kd82mLqZ7⟧" }"##,
    r##"let pw = env::var("DB_PASS").unwrap_or("⟦Kd82mLqZ7⟧".into());"##,
    r##"System.getenv().getOrDefault("DB_PASSWORD", "⟦Kd82mLqZ7⟧")"##,
    r##"ALTER USER bob IDENTIFIED BY ⟦Kd82mLqZ7⟧;"##,
    r##"CREATE USER bob IDENTIFIED WITH mysql_native_password BY '⟦Kd82mLqZ7⟧';"##,
    r##"SET PASSWORD FOR 'bob'@'%' = PASSWORD('⟦Kd82mLqZ7⟧');"##,
    r##"CREATE USER MAPPING FOR bob SERVER s OPTIONS (user 'x', password '⟦Kd82mLqZ7⟧');"##,
    r##"SELECT pgp_sym_encrypt(ssn, '⟦Zk3vT8wQm1Xy⟧') FROM t;"##,
    r##"token = jwt.encode({"sub": 1}, "⟦Zk3vT8wQm1Xy!⟧", algorithm="HS256")"##,
    r##"const sig = crypto.createHmac('sha256', '⟦Zk3vT8wQm1XyB7⟧').update(x).digest('hex');"##,
    r##"h := hmac.New(sha256.New, []byte("⟦Zk3vT8wQm1XyB7⟧"))"##,
    r##"hmac.new(b"⟦Zk3vT8wQm1XyB7⟧", msg, hashlib.sha256)"##,
    r##"tokens = [
    "⟦Zk3vT8wQm1XyB7nRfG5h⟧",
    "⟦J9sLdC2pV4tK6uE0aWiO⟧",
]"##,
    r##"api_keys:
  - ⟦Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK⟧
  - ⟦J9sLdC2pV4tK6uE0aWiOZk3vT8wQm1Xy⟧"##,
    r##"passwords:
  - ⟦Kd82mLqZ7⟧
  - ⟦Zk3vT8wQm1⟧"##,
    r##"cmdkey /add:srv /user:bob /pass:⟦Kd82mLqZ7⟧"##,
    r##"net user bob ⟦Kd82mLqZ7⟧ /add"##,
    r##"mount -t cifs //h/s /mnt -o username=bob,password=⟦Kd82mLqZ7⟧"##,
    r##"ansible-playbook x.yml -e "ansible_password=⟦Kd82mLqZ7⟧""##,
    r##"terraform apply -var 'db_password=⟦Kd82mLqZ7⟧'"##,
    r##"vault kv put secret/db password=⟦Kd82mLqZ7⟧"##,
    r##"keytool -genkey -storepass ⟦Kd82mLqZ7⟧ -keypass ⟦Zk3vT8wQm1⟧"##,
    r##"setenv DB_PASSWORD ⟦Kd82mLqZ7⟧"##,
    r##"npm config set //registry.x/:_authToken ⟦Zk3vT8wQm1XyB7nRfG5h⟧"##,
    r##"machine github.com login bob password ⟦Kd82mLqZ7⟧"##,
    r##"if r.Header.Get("X-Token") != "⟦Zk3vT8wQm1XyB7nRfG5h⟧" {"##,
    r##"@BasicAuth(username = "bob", password = "⟦Kd82mLqZ7⟧")"##,
    r##"config :app, secret_key_base: "⟦Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYz⟧""##,
    r##"static readonly byte[] Key = Encoding.UTF8.GetBytes("⟦Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK⟧");"##,
    r##"host,user,pass
db1,root,"⟦Kd82mLqZ7⟧""##,
    r##"[Service]
Environment="DB_PASSWORD=⟦Kd82mLqZ7⟧""##,
    r##"- { role: x, db_pass: ⟦Kd82mLqZ7⟧ }"##,
    r##"DSN: bob:⟦Kd82mLqZ7⟧@tcp(db:3306)/shop"##,
    r##"dsn := "bob:⟦Kd82mLqZ7⟧@tcp(127.0.0.1:3306)/shop?parseTime=true""##,
    r##"kubectl create secret docker-registry r --docker-username=bob --docker-password=⟦Kd82mLqZ7⟧"##,
    r##"COPY clients (id, name, api_token) FROM stdin;
1	shop	⟦4f1c09be8d72a6e35b90fd1287ce64a3⟧
2	blog	⟦a90be17c35d84f26c1e07b9358d2f4c6⟧
\."##,
    r##"INSERT INTO members (name, pass) VALUES ('ann', '⟦Tr8m!moos⟧'), ('ben', '⟦f1etsPomp_3⟧');"##,
    r##"| host | login | passwort |
|---|---|---|
| db3 | root | `⟦Moos!kugel7⟧` |
| db4 | root | `⟦kranich-Ufer-44⟧` |"##,
    r##"apiVersion: v1
kind: Secret
data:
  license: ⟦S3VnZWxmaXNjaDQ3MTFBYmVuZA==⟧
  username: YWRtaW4xMjM0NQ=="##,
    r##"chpasswd:
  list: |
    root:⟦Moos!kugel7⟧
    ann:⟦otter-lamp-violin-copper⟧
  expire: false"##,
    r##"db.internal:5433:*:app:⟦Moos!kugel7⟧"##,
    r##"PASSPHRASE='⟦otter lamp violin copper⟧' backup run"##,
    r##"accounts: ["0x⟦8f2a559490d7c1b3e60f41a7c98d25b36e7f0a1c4d8b92e5f7306a1bc4d9e8f2⟧"]"##,
    r##"%any gw : PSK "⟦moosKugel7x⟧""##,
    r##"createUser mon SHA "⟦moosKugel7x⟧" AES "⟦Kranich44Ufer⟧""##,
    r##"expect "*assword: "
send "⟦moosKugel7⟧\r""##,
    r##"net use Q: \\nas\share ⟦moosKugel7⟧ /user:corp\ann"##,
    r##"sshClient.connect("h1.lan", 22, "ann", "⟦Moos!kugel7⟧")"##,
    r##"fmt.Sprintf("%s:%s@tcp(db:3306)/x", "ann", "⟦Moos!kugel7⟧")"##,
    r##"dotnet user-secrets set "Smtp:Pass" "⟦moosKugel7⟧""##,
    r##"{"db_password": {"value": "⟦Moos!kugel7⟧", "sensitive": true}}"##,
    r##"<auth-user-pass>
ann
⟦moosKugel7⟧
</auth-user-pass>"##,
    r##"Unseal Key 1: ⟦Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYzA⟧"##,
    r##"client nas {
  ipaddr = 10.0.0.1
  secret = ⟦Kranich4471⟧
}"##,
    r##"serial number ⟦K7Q2M-9XPLD-44TZB-W8R3N⟧"##,
    r##"recovery key 1: ⟦482150-937713-204899-215530-111222-333444-555666-777888⟧"##,
    r##"set [find default=yes] wpa2-pre-shared-key=⟦moosKugel7⟧"##,
    r##"unzip -P ⟦Moos!kugel7⟧ x.zip"##,
    r##"new Client("AC4f1c09be8d72a6e35b90fd1287ce64a3", "⟦a90be17c35d84f26c1e07b9358d2f4c6⟧")"##,
    r##"> USER ann
< 331 password required
> PASS ⟦moosKugel7⟧"##,
    r##"network={
  ssid="home"
  psk="⟦moos kugel 44⟧"
}"##,
    r##"mqtt.connect(id, "ann", "⟦nmfSR0HQbBYRMC⟧")"##,
];

#[rustfmt::skip]
const NOT_FOUND: &[&str] = &[
    r##"dotnet user-secrets set "Smtp:Host" "mail2.Corp.lan""##,
    r##"{"password": {"type": "string", "minLength": 12}, "token": {"value": null}}"##,
    r##"auth-user-pass
verb 3
cipher AES-256-CBC"##,
    r##"if x on >y2 { }; the switch is on >Level2"##,
    r##"id 2024-11-02-1120-33 of ABCD-EFGH-IJKL-MNOP-QRST and 550E8400-E29B-41D4-A716-446655440000"##,
    r##"secret = make_secret2
secret = Config2.load"##,
    r##"scp -P 2222 x y; tar -cf x.tar dir; git commit -am "Key12 change"; grep -A10 -c foo12 bar; docker run -p 8080:80 -u 1000:1000 img"##,
    r##"ssh -p 2222 -A bob@host2; docker run -e X=1 -w /srv/app1 -c conf12.toml; zip -r out12.zip dir2; ls -A dir2"##,
    r##"apt	passwd	1:4.13+dfsg1-1+deb12u1
kpasswd	464/tcp"##,
    r##"    fun login(username: String, password: String): Result<Session> {"##,
    r##"my $pass = $self->is_passing(2);"##,
    r##"CHALLENGE_PASSWORD = ObjectIdentifier("1.2.840.113549.1.9.7")"##,
    r##"password = password.encode("latin1")"##,
    r##"{ "alpha_2": "PW",
 "alpha_3": "PLW" }"##,
    r##"inputs: {file:!0,password:!0,image:!1}"##,
    r##"pub const ENABLE_AUTH: u32 = 268435456u32;
pub const NO_TOKEN: i32 = -2147205110i32;"##,
    r##"const KEY: [u8; 16] = hex!("000102030405060708090a0b0c0d0e0f");"##,
    r##"| Option | Type | Default |
|---|---|---|
| `password` | string | none |
| `token` | string2 | - |"##,
    r##"name,password,role
string,string,string
"##,
    r##"INSERT INTO users (name, password) VALUES (?, ?), ($1, $2);"##,
    r##"INSERT INTO users (name, password) VALUES (:name, :password);"##,
    r##"function save(
  user,
  password,
  role2,
) {"##,
    r##"from getpass import getuser, getpass
import os, sys2
"##,
    r##"the community 2024 edition, and a community called r2d2"##,
    r##"echo "step2 done" | tee log1; echo $PASS | docker login --password-stdin"##,
    r##"client.connect("tcp", "db-1.internal", "orders-v2")"##,
    r##"socket.connect("room42", "user7", onMessage2)"##,
    r##"send "hello2 world"
expect "ready1""##,
    r##"jwt.verify(token2, publicKey1, { algorithms: ["RS256"] })"##,
    r##"crypto.createHmac("sha256", secretKey2)"##,
    r##"const cipher = crypto.createCipheriv("aes-256-cbc", key, iv1);"##,
    r##"kind: Secret
metadata:
  name: db-creds-v2
data: {}"##,
    r##"kind: SecretStore2
spec: x1y2z3"##,
    r##"scp -P 2222 a b; tar -c dir2; ls -A dir2; grep -c foo12 bar; docker run -p 8080:80 -w /srv/app1 -u 1000:1000 img"##,
    r##"password policy 12 characters minimum"##,
    r##"enable secret level 5 rotation 30 days"##,
    r##"password reset-form-submit-button2"##,
    r##""password": "reset-form-submit-button""##,
    r##"Cookie: session=<token>; theme=dark; lang=de-2024"##,
    r##"printf(":%s@%s", user1, host2)"##,
    r##"listen :5432:5432
ports: ["5432:5432"]"##,
    r##"let x = process.env.DB_PASSWORD ?? readPassword2();"##,
    r##"const t = process.env.API_TOKEN || "";"##,
    r##"if (password != confirmPassword2) { }"##,
    r##"if (r.Header.Get("X-Token") != expected2) {"##,
    r##"<td>Password</td><td>Required, 12 characters</td>"##,
    r##"<label>Password</label><span>at least 8</span>"##,
    r##"tokens = ["IDENT", "NUMBER2", "STRING"]"##,
    r##"keys:
  - alpha1
  - beta2
values: 2"##,
    r##"api_keys:
  - name: ci-2
    scope: read"##,
    r##"authorized_keys:
  - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b"##,
    r##"root:x:0:0:root:/root:/bin/bash"##,
    r##"ldap_bind($conn, $dn, $password2);"##,
    r##"net user ann /add
net use Z: /delete"##,
    r##"public key of the group: 0x6B175474E89094C44Da98b954EedeAC495271d0F"##,
    r##"{"kty":"RSA","n":"Zk3vT8wQm1XyB7nRfG5hJ9sLdC2pV4tK6uE0aWiOqYz","e":"AQAB"}"##,
];
