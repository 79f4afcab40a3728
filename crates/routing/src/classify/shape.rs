//! What a text looks like, line by line: prose, code, a log, a difference between two versions.

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing but space.
    Blank,
    /// Somebody's words.
    Prose,
    /// Code, configuration, a command.
    Code,
    /// A log's line, an error, a line of a stack trace.
    Log,
    /// A line that was added or removed.
    Diff,
    /// Fields, or an item of a list.
    Item,
}

/// What a byte of a text is.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Class {
    Other,
    Letter,
    Digit,
    Space,
    /// Signs that prose has little of.
    Symbol,
    Equals,
    Backslash,
    Caret,
    Separator,
    Asking,
    Exclaiming,
    Quote,
    Tick,
    /// The beginning of a character beyond the Latin ones.
    Foreign,
}

const CLASSES: usize = 14;

/// The bytes of each class, counted.
#[derive(Default, Clone, Copy)]
pub(super) struct Counts([u32; CLASSES]);

static CLASS: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class(byte as u8) as u8;
        byte += 1;
    }
    classes
};

const fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | 0x80..=0xcf => Class::Letter,
        0xd0.. => Class::Foreign,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t' => Class::Space,
        b'=' => Class::Equals,
        b'\\' => Class::Backslash,
        b'^' => Class::Caret,
        b'{' | b'}' | b'(' | b')' | b';' | b'<' | b'>' | b'[' | b']' | b'&' | b'$' | b'_'
        | b'+' | b'#' | b'@' | b'~' => Class::Symbol,
        b',' | b'|' => Class::Separator,
        b'?' => Class::Asking,
        b'!' => Class::Exclaiming,
        b'"' => Class::Quote,
        b'`' => Class::Tick,
        _ => Class::Other,
    }
}

impl Counts {
    /// Counts the bytes of `text`.
    pub(super) fn of(text: &str) -> Self {
        // Four at a time: a counter that was just written cannot be read again at once.
        let mut counts = [[0_u32; CLASSES]; 4];
        let (blocks, rest) = text.as_bytes().as_chunks::<4>();
        for block in blocks {
            for (counts, byte) in counts.iter_mut().zip(block) {
                counts[usize::from(CLASS[usize::from(*byte)])] += 1;
            }
        }
        for byte in rest {
            counts[0][usize::from(CLASS[usize::from(*byte)])] += 1;
        }
        Self(std::array::from_fn(|i| counts.iter().map(|counts| counts[i]).sum()))
    }

    /// How many bytes are of `class`.
    pub(super) fn get(&self, class: Class) -> usize {
        self.0[class as usize] as usize
    }

    /// Adds those of another text.
    pub(super) fn add(&mut self, other: &Self) {
        for (count, other) in self.0.iter_mut().zip(other.0) {
            *count += other;
        }
    }

    fn symbols(&self) -> usize {
        let classes = [Class::Symbol, Class::Equals, Class::Backslash, Class::Caret];
        classes.into_iter().map(|class| self.get(class)).sum()
    }
}

/// How lines of code begin.
const CODE_STARTS: [&str; 30] = [
    "#include", "import ", "from ", "def ", "class ", "const ", "let ", "fn ", "func ", "var ",
    "public ", "private ", "return ", "SELECT ", "CREATE ", "INSERT ", "UPDATE ", "@", "//", "/*",
    "$ ", "FROM ", "RUN ", "COPY ", "</", "static ", "void ", "int ", "struct ", "#!",
];

/// What `line` is, whose bytes are `counts`. `before` is what the line before it was.
pub(super) fn line(line: &str, counts: &Counts, before: Line) -> Line {
    let trimmed = line.trim_ascii();
    let Some(&first) = trimmed.as_bytes().first() else { return Line::Blank };
    let (symbols, separators) = (counts.symbols(), counts.get(Class::Separator));
    let is_indented = line.starts_with([' ', '\t']);
    let last = trimmed.as_bytes()[trimmed.len() - 1];
    if is_trace(trimmed, first) {
        return Line::Log;
    }
    let marked = matches!(first, b'-' | b'+') && !is_indented;
    if trimmed.starts_with("@@") || trimmed.starts_with("diff --git") {
        return Line::Diff;
    }
    if marked && symbols >= 2 && trimmed.as_bytes().get(1) != Some(&first) {
        return Line::Diff;
    }
    let spaces = counts.get(Class::Space);
    let solid = line.len() - spaces;
    let dense = symbols >= 2 && symbols * 9 >= solid;
    let ends_as_code = matches!(last, b';' | b'{' | b'}') || trimmed.ends_with(");");
    let starts_as_code = || {
        symbols > 0
            && b"#ifdclvprsSCIU@/$FR<".contains(&first)
            && CODE_STARTS.iter().any(|start| trimmed.starts_with(start))
    };
    let goes_on = is_indented && before == Line::Code;
    if dense || ends_as_code || goes_on || starts_as_code() {
        return Line::Code;
    }
    let is_item = matches!(first, b'-' | b'*' | b'>' | b'|')
        || (first & 0xe0 == 0xe0 && trimmed.starts_with('•'));
    let is_numbered = first.is_ascii_digit()
        && trimmed.as_bytes().get(1).is_some_and(|b| matches!(b, b'.' | b')'));
    let is_fields = separators >= 3 && separators * 12 >= solid && spaces * 8 < solid;
    if is_item || is_numbered || is_fields {
        return Line::Item;
    }
    Line::Prose
}

fn is_trace(trimmed: &str, first: u8) -> bool {
    let bytes = trimmed.as_bytes();
    let is_timed = first.is_ascii_digit()
        && bytes.len() > 12
        && bytes[..10].iter().filter(|b| matches!(b, b':' | b'-' | b'T' | b'/')).count() >= 2
        && bytes[..10].iter().filter(|b| b.is_ascii_digit()).count() >= 6;
    is_timed
        || trimmed.starts_with("at ") && trimmed.contains(['(', '.', ':'])
        || trimmed.starts_with("File \"")
        || trimmed.starts_with("Traceback")
        || trimmed.len() < 400 && trimmed.split_ascii_whitespace().any(is_log_word)
}

/// Whether only logs, errors and traces have such a word.
fn is_log_word(word: &str) -> bool {
    let bytes = word.as_bytes();
    match bytes.last() {
        Some(b':' | b']' | b'n' | b'R' | b'N' | b'L' | b'O' | b'D' | b'k' | b'd' | b't') => {}
        _ => return false,
    }
    let bare = word.trim_matches(['[', ']', ':']);
    matches!(bare, "ERROR" | "WARN" | "FATAL" | "INFO" | "FAILED" | "Traceback" | "panicked")
        || matches!(word, "fatal:" | "Caused" | "segfault")
        || bare.ends_with("Exception")
        || word.ends_with("rror:")
}
