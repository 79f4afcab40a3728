//! Many rows in one statement.

use super::{Transaction, Value, sql};

/// How many rows go into one statement: as many as fit of the first, then of the next.
///
/// A statement is a message to the database and back, which costs more than a row. There are few
/// sizes, so that each text is prepared once.
const SIZES: [usize; 3] = [64, 8, 1];

/// Cuts `items` into pieces of the sizes that statements have.
pub(crate) fn in_sizes<T>(mut items: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = SIZES.into_iter().find(|size| *size <= items.len())?;
        let (piece, rest) = items.split_at(size);
        items = rest;
        Some(piece)
    })
}

/// Adds `rows` of `columns` to a table. `conflict` is what follows the values, such as
/// ` ON CONFLICT (id) DO NOTHING`.
///
/// Calls `added` after each statement with the range of its rows and how many rows it changed.
pub(crate) async fn insert_many(
    tx: &mut Transaction,
    (table, columns): (&str, &[&str]),
    conflict: &str,
    rows: Vec<Vec<Value>>,
    mut added: impl FnMut(std::ops::Range<usize>, u64),
) -> Result<(), sqlx::Error> {
    let mut left = rows.len();
    let total = rows.len();
    let mut rows = rows.into_iter();
    for size in SIZES {
        if left < size {
            continue;
        }
        let text = insert_text(table, columns, size, conflict, tx.is_postgres());
        while left >= size {
            let values = rows.by_ref().take(size).flatten();
            let changed = sql(text.clone()).bind_all(values).execute(&mut *tx).await?;
            let first = total - left;
            left -= size;
            added(first..first + size, changed);
        }
    }
    Ok(())
}

/// The assignment that adds a new count to the one that is there, for `ON CONFLICT … DO UPDATE SET`.
///
/// A sum that does not fit stays at the largest number. SQLite would go on with a floating-point
/// number, which nothing reads as a count, and PostgreSQL would refuse.
pub(crate) fn add_saturating(table: &str, column: &str) -> String {
    add_up_to(table, column, i64::MAX)
}

/// The same, where the sum stays at `most`.
pub(crate) fn add_up_to(table: &str, column: &str, most: i64) -> String {
    let (old, new) = (format!("{table}.{column}"), format!("excluded.{column}"));
    format!("{column} = CASE WHEN {old} > {most} - {new} THEN {most} ELSE {old} + {new} END")
}

/// Adds one row.
pub(crate) async fn insert_one(
    tx: &mut Transaction,
    table: (&str, &[&str]),
    row: Vec<Value>,
) -> Result<(), sqlx::Error> {
    insert_many(tx, table, "", vec![row], |_, _| {}).await
}

/// Writes all columns of the row whose first column, its identity, is the first of `values`. Says
/// how many rows there were.
pub(crate) async fn update_one(
    tx: &mut Transaction,
    (table, columns): (&str, &[&str]),
    values: Vec<Value>,
) -> Result<u64, sqlx::Error> {
    let (Some((id, columns)), Some(_)) = (columns.split_first(), values.first()) else {
        return Ok(0);
    };
    let assignments: Vec<String> =
        columns.iter().enumerate().map(|(at, column)| format!("{column} = ${}", at + 2)).collect();
    let text = format!("UPDATE {table} SET {} WHERE {id} = $1", assignments.join(", "));
    sql(text).bind_all(values).execute(tx).await
}

/// SQLite takes `$1` for a name, and compares each with all others before it: thousands of them are
/// as dear to read as a million. A plain `?` is the next value.
fn insert_text(
    table: &str,
    columns: &[&str],
    rows: usize,
    conflict: &str,
    numbered: bool,
) -> String {
    use std::fmt::Write as _;
    let mut text = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
    text.reserve(rows * columns.len() * 6 + conflict.len());
    let mut number = 0;
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..columns.len() {
            number += 1;
            let comma = if column == 0 { "" } else { ", " };
            let _ = match numbered {
                true => write!(text, "{comma}${number}"),
                false => write!(text, "{comma}?"),
            };
        }
        text.push(')');
    }
    text + conflict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_through() {
        let text = insert_text("t", &["a", "b"], 2, " ON CONFLICT DO NOTHING", true);
        let expected = "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING";
        assert_eq!(text, expected);
        let text = insert_text("t", &["a", "b"], 2, "", false);
        assert_eq!(text, "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)");
    }

    #[test]
    fn there_are_few_sizes() {
        let items: Vec<usize> = (0..83).collect();
        let pieces: Vec<&[usize]> = in_sizes(&items).collect();
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
        assert_eq!(lengths, [64, 8, 8, 1, 1, 1]);
        assert_eq!(pieces.concat(), items);
        assert_eq!(in_sizes::<u8>(&[]).count(), 0);
    }
}
