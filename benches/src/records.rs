//! Records of a company's last ninety days, written by SQL: through the journal, ten millions of
//! them would take an hour.

/// Days over which the records are spread evenly.
const DAYS: u64 = 90;
const DAY_MS: u64 = 86_400_000;
/// Keys among them, of the first teams that `fill` makes.
const KEYS: u64 = 100;
/// Combinations of key, model and outcome: each has two series, by whether something was redacted. A
/// key has one application, four models and three outcomes.
const SERIES: u64 = KEYS * 12;

/// Where what differs between the two databases is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// The statements that store `rows` records of the account `acc_bench`, the last one at `until`
/// (milliseconds since the Unix epoch), and everything that is summed up of them.
///
/// The database has to be up to date and without any record. What sums them up is the text of the
/// migration that did so for records of earlier versions.
pub fn statements(rows: u64, until: u64, dialect: Dialect) -> Vec<String> {
    let numbers = |count: u64| match dialect {
        Dialect::Sqlite => format!(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})",
            count.saturating_sub(1)
        ),
        Dialect::Postgres => {
            format!(
                "WITH n (i) AS (SELECT generate_series(0, {}::bigint))",
                count.saturating_sub(1)
            )
        }
    };
    let id = match dialect {
        Dialect::Sqlite => "printf('req_%013x%019x', at, i)",
        Dialect::Postgres => "'req_' || lpad(to_hex(at), 13, '0') || lpad(to_hex(i), 19, '0')",
    };
    let model = "CASE (s / 12 + s) % 5 WHEN 0 THEN 'bench-whole' WHEN 1 THEN 'openai/gpt-5-mini' \
                 WHEN 2 THEN 'anthropic/claude-sonnet-4.5' WHEN 3 THEN 'qwen/qwen3-coder' \
                 ELSE 'google/gemini-2.5-flash' END";
    let asked = format!("CASE WHEN s % 4 = 0 THEN 'svc/auto' ELSE {model} END");
    let app =
        "CASE s / 12 % 4 WHEN 0 THEN 'opencode' WHEN 1 THEN 'zed' WHEN 2 THEN 'aider' ELSE '' END";
    let outcome = "CASE s / 4 % 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'upstream_error' \
                   ELSE 'cancelled' END";
    let key = "'key_' || (s / 12)";
    let team = "'team_' || (s / 12 % 5)";
    let holder = "'person:per_' || (s / 12 % 10)";
    // Nine of ten requests are completed.
    let series_of_row = format!(
        "(CASE WHEN i % 10 > 0 THEN (i * 7919 % {SERIES}) / 12 * 12 + i % 4 \
         ELSE i * 7919 % {SERIES} END)"
    );
    let begin = until - DAYS * DAY_MS;
    let mut statements = vec![
        format!(
            "INSERT INTO usage_series (id, account_id, department_id, team_id, holder, key_id, app, \
             model_asked, model, provider, action, outcome) {} \
             SELECT i + 1, 'acc_bench', 'dep_bench', {team}, {holder}, {key}, {app}, {asked}, \
             {model}, 'bench', CASE WHEN i >= {SERIES} THEN 'redact' ELSE 'pass' END, {outcome} \
             FROM (SELECT i, i % {SERIES} AS s FROM n) AS numbered",
            numbers(2 * SERIES)
        ),
        format!(
            "INSERT INTO usage_records (request_id, key_id, account_id, started_at, app_title, \
             model_asked, model, provider, level, stream, uncached_input, cache_read, cache_write, \
             output, reasoning, usage_source, cost, price_version, time_to_first_token_ms, \
             duration_ms, outcome, attempts, simulated, filter_action, department_id, team_id, \
             holder, series_id) {} \
             SELECT {id}, {key}, 'acc_bench', at, CASE WHEN {app} = '' THEN NULL ELSE {app} END, \
             {asked}, {model}, 'bench', 'standard', i % 3 > 0, 400 + i % 9000, i % 5000, 0, \
             50 + i % 700, 0, 'measured', 1000000 * (300 + i % 50000), '2026-11', 90 + i * 31 % 4000, \
             400 + i * 37 % 30000, {outcome}, 1, false, \
             CASE i % 20 WHEN 0 THEN 'redact' ELSE 'pass' END, 'dep_bench', {team}, {holder}, \
             s + 1 + CASE i % 20 WHEN 0 THEN {SERIES} ELSE 0 END \
             FROM (SELECT i, {begin} + i * {spread} / {rows} AS at, {series_of_row} AS s FROM n) \
             AS numbered",
            numbers(rows),
            spread = DAYS * DAY_MS,
        ),
    ];
    let migration = include_str!("../../crates/storage/migrations/0012_what_people_look_at.sql");
    let sums = migration.split(";\n").map(without_comments).filter(|statement| {
        statement.starts_with("INSERT INTO usage_rollup")
            || statement.starts_with("INSERT INTO usage_series\nSELECT (SELECT")
    });
    statements.extend(sums);
    statements
}

fn without_comments(statement: &str) -> String {
    let lines = statement.lines().filter(|line| !line.starts_with("--"));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
