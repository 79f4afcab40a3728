//! Reads unified diffs, of git and of `diff -u`: what they add, and where.
//!
//! Of each hunk, the text is kept that the new file has there, so that a value is read with what is
//! around it; and for each of its lines, whether it was added. What was removed is not read at all.
//! A diff that somebody edited may have wrong numbers in its hunks' headers: an added line is never
//! passed over for that.

use std::ops::Range;

/// What a diff adds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Diff {
    /// What the new files have in all hunks, one behind the other.
    pub(super) text: String,
    lines: Vec<Line>,
    paths: Vec<String>,
}

/// A line of a new file.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// Where it stands in the text, without what ends it.
    range: Range<usize>,
    /// Index of its file's path.
    path: usize,
    /// Its number in the file, from 1.
    number: usize,
    is_added: bool,
}

/// Whether all of a text is a diff, as git or `diff -u` print one: also with a commit's message ahead
/// of it.
pub(super) fn is_diff(text: &str) -> bool {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let Some(first) = lines.next() else { return false };
    let is_commit = ["From ", "commit "].iter().any(|start| {
        let word = first.strip_prefix(start).and_then(|rest| rest.split_whitespace().next());
        word.is_some_and(|id| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    if is_commit {
        return lines.any(begins_file);
    }
    let is_plain = first.starts_with("--- ")
        && lines.next().is_some_and(|line| line.starts_with("+++ "))
        && lines.next().is_some_and(|line| line.starts_with("@@ "));
    is_plain || begins_file(first)
}

/// Whether a line begins a file's part of a diff of git.
fn begins_file(line: &str) -> bool {
    ["diff --git ", "diff --cc ", "diff --combined "].iter().any(|start| line.starts_with(start))
}

impl Diff {
    /// Reads a diff; `None` where there is none in `text`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader::default();
        for line in text.split_inclusive('\n') {
            reader.line(line.strip_suffix('\n').unwrap_or(line));
        }
        (reader.is_diff || text.trim().is_empty()).then_some(reader.diff)
    }

    /// The added line in which something stands that was found at `range` of the text, as
    /// `path:line:column`; `None` where it stands in lines that were there before.
    pub(super) fn place(&self, range: &Range<usize>) -> Option<String> {
        let from = self.lines.partition_point(|line| line.range.end <= range.start);
        let mut touched = self.lines[from..].iter().take_while(|l| l.range.start < range.end);
        let line = touched.find(|line| line.is_added)?;
        let start = range.start.max(line.range.start);
        let before = self.text.get(line.range.start..start).unwrap_or_default();
        let (path, column) = (&self.paths[line.path], before.chars().count() + 1);
        Some(format!("{path}:{}:{column}", line.number))
    }

    /// The added lines by themselves.
    pub(super) fn added(&self) -> String {
        let added = self.lines.iter().filter(|line| line.is_added);
        added
            .flat_map(|line| [self.text.get(line.range.clone()).unwrap_or_default(), "\n"])
            .collect()
    }

    /// The first added line, as `path:line`.
    pub(super) fn first(&self) -> Option<String> {
        let line = self.lines.iter().find(|line| line.is_added)?;
        Some(format!("{}:{}", self.paths[line.path], line.number))
    }
}

/// Reads a diff line by line.
#[derive(Default)]
struct Reader {
    diff: Diff,
    is_diff: bool,
    /// Whether the old file's name has a folder in front that git made up, so that the new one's has.
    has_prefix: bool,
    hunk: Option<Hunk>,
}

/// A hunk that is being read.
struct Hunk {
    /// How many old files there are, hence marks in front of each line.
    marks: usize,
    /// How many lines of each old file are still to come.
    old: Vec<usize>,
    /// How many lines of the new file are still to come.
    new: usize,
    /// The number of the next line in the new file.
    number: usize,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with('\\') {
            // `\ No newline at end of file`
            return;
        }
        if let Some(hunk) = &mut self.hunk {
            match hunk.take(line) {
                Taken::New { is_added } => return self.keep(line, is_added),
                Taken::Old => return,
                Taken::Nothing => {}
            }
        }
        if begins_file(line) {
            self.is_diff = true;
            self.hunk = None;
            self.has_prefix = true;
            self.diff.paths.push(String::new());
        } else if let Some(name) = line.strip_prefix("--- ") {
            self.hunk = None;
            self.has_prefix =
                name.starts_with("/dev/null") || without_prefix(&path(name)).is_some();
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let path = path(name);
            let short = without_prefix(&path).filter(|_| self.has_prefix).map(str::to_owned);
            self.diff.paths.push(short.unwrap_or(path));
        } else if let Some(hunk) = Hunk::begin(line) {
            self.is_diff = true;
            if self.diff.paths.is_empty() {
                self.diff.paths.push(String::new());
            }
            // Nothing goes on from one hunk to the next.
            self.diff.text.push_str("\n\n");
            self.hunk = Some(hunk);
        }
    }

    /// Keeps a line of the new file.
    fn keep(&mut self, line: &str, is_added: bool) {
        let Some(hunk) = &mut self.hunk else { return };
        let said = line.get(hunk.marks..).unwrap_or_default();
        let start = self.diff.text.len();
        self.diff.text.push_str(said);
        let range = start..self.diff.text.len();
        self.diff.text.push('\n');
        let path = self.diff.paths.len().saturating_sub(1);
        self.diff.lines.push(Line { range, path, number: hunk.number, is_added });
        hunk.number = hunk.number.saturating_add(1);
    }
}

/// What a line is to a hunk.
enum Taken {
    /// A line of the new file.
    New { is_added: bool },
    /// A line that was removed.
    Old,
    /// None of its lines.
    Nothing,
}

impl Hunk {
    /// The hunk that `line` begins: `@@ -3,4 +3,5 @@`, with one `@` more for each further old file.
    fn begin(line: &str) -> Option<Self> {
        if !line.starts_with("@@") {
            return None;
        }
        // Where the numbers cannot be read, whatever follows is taken for lines of the hunk.
        let endless = Self { marks: 1, old: vec![usize::MAX], new: usize::MAX, number: 1 };
        Some(Self::with_numbers(line).unwrap_or(endless))
    }

    fn with_numbers(line: &str) -> Option<Self> {
        let ats = line.bytes().take_while(|byte| *byte == b'@').count();
        let marks = ats.checked_sub(1).filter(|marks| *marks > 0)?;
        let mut ranges = line[ats..].split_ascii_whitespace();
        let mut old = Vec::new();
        for _ in 0..marks {
            old.push(numbers(ranges.next()?.strip_prefix('-')?)?.1);
        }
        let (number, new) = numbers(ranges.next()?.strip_prefix('+')?)?;
        ranges.next()?.starts_with('@').then_some(Self { marks, old, new, number })
    }

    fn take(&mut self, line: &str) -> Taken {
        let is_over = self.new == 0 && self.old.iter().all(|lines| *lines == 0);
        let marks = line.as_bytes().get(..self.marks).unwrap_or_default();
        // An empty line that lost its mark.
        let is_blank = line.trim_end_matches('\r').is_empty();
        let is_marked = !marks.is_empty() && marks.iter().all(|mark| b" +-".contains(mark));
        let is_added = marks.contains(&b'+');
        if is_over && (!is_added || line.starts_with("+++ ")) || !(is_marked || is_blank) {
            return Taken::Nothing;
        }
        let is_removed = is_marked && marks.contains(&b'-');
        for (i, old) in self.old.iter_mut().enumerate() {
            let mark = marks.get(i).copied().unwrap_or(b' ');
            if mark == b'-' || mark == b' ' && !is_removed {
                *old = old.saturating_sub(1);
            }
        }
        if is_removed {
            return Taken::Old;
        }
        self.new = self.new.saturating_sub(1);
        Taken::New { is_added: is_marked && is_added }
    }
}

/// Where a range begins, and how many lines it has: `3,5`, or `3` for one.
fn numbers(range: &str) -> Option<(usize, usize)> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// The path that is written behind `+++` or `---`.
fn path(name: &str) -> String {
    let name = name.trim_end_matches('\r');
    match name.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        // `diff -u` writes a time behind it, git a tab where a name has a blank.
        None => name.split('\t').next().unwrap_or_default().to_owned(),
    }
}

/// A path without the folder that git makes up: `a/`, `b/`, or `i/`, `w/`, `c/`, `o/`.
fn without_prefix(path: &str) -> Option<&str> {
    let (folder, rest) = path.split_once('/')?;
    ["a", "b", "c", "i", "o", "w"].contains(&folder).then_some(rest)
}

/// What a name in quotes says, as C writes strings.
fn unquoted(quoted: &str) -> String {
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => {}
            _ => {
                name.push(byte);
                continue;
            }
        }
        let Some(escaped) = bytes.next() else { break };
        name.push(match escaped {
            b'0'..=b'7' => {
                let mut code = u32::from(escaped - b'0');
                for _ in 0..2 {
                    let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) else {
                        break;
                    };
                    code = code * 8 + u32::from(digit - b'0');
                }
                code as u8
            }
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            other => other,
        });
    }
    // A name with a line end would break the line that tells of it.
    String::from_utf8_lossy(&name).replace(['\n', '\r'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a diff adds, each with its place.
    fn added(text: &str) -> Vec<(String, String)> {
        let diff = Diff::parse(text).unwrap();
        let mut added = Vec::new();
        for line in diff.lines.iter().filter(|line| line.is_added) {
            let place = format!("{}:{}:1", diff.paths[line.path], line.number);
            if !line.range.is_empty() {
                assert_eq!(diff.place(&line.range).as_ref(), Some(&place));
            }
            added.push((place, diff.text[line.range.clone()].to_owned()));
        }
        added
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let owned = |(place, line): &(&str, &str)| ((*place).to_owned(), (*line).to_owned());
        let expected: Vec<_> = expected.iter().map(owned).collect();
        assert_eq!(added(text), expected, "{text}");
        assert!(is_diff(text), "{text}");
    }

    #[test]
    fn the_added_lines_have_the_new_files_numbers() {
        let git = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n\
                   +++ b/src/a.rs\n@@ -3,4 +3,4 @@ fn x() {\n one\n-two\n+2\n three\n--- four\n\
                   +++ 4\n@@ -20 +20,2 @@\n-x\n+y\n+z\n";
        let expected = [
            ("src/a.rs:4:1", "2"),
            ("src/a.rs:6:1", "++ 4"),
            ("src/a.rs:20:1", "y"),
            ("src/a.rs:21:1", "z"),
        ];
        check(git, &expected);
        let mail = format!(
            "From {} Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\n+x\n---\n\n{git}-- \n2.40\n",
            "0".repeat(40)
        );
        check(&mail, &expected);
        check(
            &format!("commit {}\nAuthor: A\n\n    - x\n    + y\n\n{git}", "a".repeat(40)),
            &expected,
        );
        let plain = "--- old.c\t2024-01-01\n+++ new.c\t2024-01-02\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
        check(plain, &[("new.c:1:1", "x")]);
        assert_eq!(Diff::parse(git).unwrap().added(), "2\n++ 4\ny\nz\n");
    }

    #[test]
    fn files_that_add_nothing_are_passed_over() {
        check("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", &[]);
        check("diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n", &[]);
        check("diff --git a/a b/a\nGIT binary patch\nliteral 3\nK+x\n\n", &[]);
        check(
            "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n",
            &[],
        );
        check(
            "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
            &[("a:1:1", "x")],
        );
    }

    #[test]
    fn lines_and_names_are_read_as_they_are_written() {
        check(
            "diff --git a/a b/a\r\n--- a/a\r\n+++ b/a\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n",
            &[("a:1:1", "y\r")],
        );
        check(
            "diff --git \"a/\\303\\251 \\\"x\\\"\" \"b/\\303\\251 \\\"x\\\"\"\n--- \"a/\\303\\251 \\\"x\\\"\"\n\
             +++ \"b/\\303\\251 \\\"x\\\"\"\n@@ -1 +1 @@\n-x\n+y\n",
            &[("é \"x\":1:1", "y")],
        );
        check("--- b/a b\t\n+++ b/a b\t\n@@ -1,2 +1,3 @@\n x\n\n+y\n", &[("a b:3:1", "y")]);
        check("--- x/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", &[("b/a:1:1", "y")]);
    }

    #[test]
    fn combined_diffs_have_a_mark_for_each_parent() {
        check(
            "diff --cc a\nindex 1,2..3\n--- a/a\n+++ b/a\n@@@ -1,3 -1,2 +1,4 @@@\n  one\n- two\n -deux\n\
             ++both\n +ours\n+ theirs\n",
            &[("a:2:1", "both"), ("a:3:1", "ours"), ("a:4:1", "theirs")],
        );
    }

    #[test]
    fn no_added_line_is_passed_over_for_a_wrong_number() {
        let text = |header: &str| {
            format!(
                "--- a/a\n+++ b/a\n{header}\n x\n+y\n+z\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n+w\n"
            )
        };
        for header in ["@@ -1 +1,2 @@", "@@ -1,9 +1,9 @@", "@@ -1,1 +1,3 @@", "@@ ... @@"] {
            check(&text(header), &[("a:2:1", "y"), ("a:3:1", "z"), ("b:1:1", "w")]);
        }
    }

    #[test]
    fn what_stood_there_before_has_no_place() {
        let diff = Diff::parse("--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n one\n+two\n three\n").unwrap();
        let place = |what: &str| {
            let at = diff.text.find(what).unwrap();
            diff.place(&(at..at + what.len()))
        };
        assert_eq!((place("one"), place("three")), (None, None));
        assert_eq!(place("wo").as_deref(), Some("a:2:2"));
        assert_eq!(place("one\ntwo").as_deref(), Some("a:2:1"));
        assert_eq!(diff.first().as_deref(), Some("a:2"));
    }

    #[test]
    fn other_texts_are_none() {
        for text in
            ["", "x\n", "# Diffs\n\ndiff --git a/a b/a\n", "--- a\n+++ b\nx\n", "From me\n", "@@ x"]
        {
            assert!(!is_diff(text), "{text}");
        }
        assert!(Diff::parse("+x\n-y\n").is_none());
        assert_eq!(Diff::parse("\n").unwrap(), Diff::default());
    }

    proptest! {
        #[test]
        fn any_text_is_read(lines in prop::collection::vec(
            prop_oneof![
                "(@@@? -[0-9]{0,3}(,[0-9]{1,20})? )(-1 )?[+][0-9]{1,3}(,[0-9])? @@@?",
                "([+]{3}|-{3}) \"?[ab]/.{0,5}",
                "[-+ \\\\]{0,3}.{0,5}\r?",
                "diff --(git|cc) .{0,5}",
            ],
            0..20,
        )) {
            if let Some(diff) = Diff::parse(&lines.join("\n")) {
                for line in &diff.lines {
                    let _ = diff.place(&line.range);
                    prop_assert!(line.path < diff.paths.len());
                }
                let _ = (diff.added(), diff.first());
            }
        }

        #[test]
        fn a_diff_of_a_file_tells_its_lines(
            file in prop::collection::vec(("[ +@-]{0,2}[a-z é\\\\]{0,6}", any::<bool>()), 1..12),
            removed in prop::collection::vec("[ +-]{0,3}[a-z]{0,4}", 0..4),
            context in 1..900_usize,
        ) {
            let kept = file.iter().filter(|(_, is_added)| !is_added).count();
            let mut text = format!(
                "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -{context},{} +{context},{} @@\n",
                kept + removed.len(), file.len(),
            );
            for line in &removed {
                text += &format!("-{line}\n");
            }
            let mut expected = Vec::new();
            for (i, (line, is_added)) in file.iter().enumerate() {
                text += &format!("{}{line}\n", if *is_added { '+' } else { ' ' });
                if *is_added {
                    expected.push((format!("f:{}:1", context + i), line.clone()));
                }
            }
            prop_assert_eq!(added(&text), expected);
        }
    }
}
