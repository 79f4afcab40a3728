//! A shell's quotes, as POSIX has them (2.2, "Quoting").

/// What begins a fence of code.
const FENCE: &str = "```";
/// What fences of a shell's commands are called.
const SHELLS: [&str; 8] =
    ["sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "shellsession"];

/// A shell's quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    /// Within which nothing has a meaning but the quote that ends them.
    Single,
    /// Within which variables and commands are replaced.
    Double,
}

impl Quote {
    /// Appends `value` as it stands within the quotes.
    pub(crate) fn write(self, value: &str, out: &mut String) {
        for c in value.chars() {
            match (self, c) {
                (Self::Single, '\'') => out.push_str(r"'\''"),
                (Self::Double, '$' | '`' | '"' | '\\') => out.extend(['\\', c]),
                _ => out.push(c),
            }
        }
    }

    /// What `written` stands for within the quotes.
    pub(super) fn read(self, written: &str) -> String {
        if self == Self::Single {
            return written.replace(r"'\''", "'");
        }
        let mut value = String::with_capacity(written.len());
        let mut characters = written.chars().peekable();
        while let Some(c) = characters.next() {
            let escaped = characters.next_if(|next| c == '\\' && "$`\"\\".contains(*next));
            value.push(escaped.unwrap_or(c));
        }
        value
    }
}

/// The quotes within which `text` ends, where that is a shell's: a command as a whole, the inside of
/// a fence, or a line that says so.
pub(super) fn quote_at_end(text: &str, is_command: bool) -> Option<Quote> {
    let line = &text[text.rfind('\n').map_or(0, |at| at + 1)..];
    let commands = if is_command { Some(text) } else { fenced(text) };
    if let Some(commands) = commands {
        // Within a document, quotes are its own.
        return if commands.contains("<<") { None } else { open_quote(commands) };
    }
    let line = line.trim_start_matches(['+', '-', ' ', '\t']);
    let is_command = ["export ", "$ "].iter().any(|start| line.starts_with(start));
    if is_command {
        return open_quote(line);
    }
    // Elsewhere, nothing but the shell's way ends these quotes and goes on with the value.
    let (name, value) = line.split_once("='")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name) && !value.contains('\''))
        .then_some(Quote::Single)
}

/// What stands in the fence of a shell that is open at the end of `text`.
fn fenced(text: &str) -> Option<&str> {
    let fence = text.rfind(FENCE)?;
    let is_line = text[..fence].trim_end_matches([' ', '\t']).ends_with('\n')
        || text[..fence].trim().is_empty();
    let (language, inside) = text[fence + FENCE.len()..].split_once('\n')?;
    (is_line && SHELLS.contains(&language.trim())).then_some(inside)
}

/// The quotes that are open at the end of `commands`.
fn open_quote(commands: &str) -> Option<Quote> {
    let mut open = None;
    let mut before = '\n';
    let mut characters = commands.chars();
    while let Some(c) = characters.next() {
        match (open, c) {
            (None | Some(Quote::Double), '\\') => {
                characters.next();
            }
            (None, '#') if before.is_whitespace() => {
                characters.by_ref().find(|c| *c == '\n');
            }
            // Of bash's `$'…'` the escapes are others.
            (None, '\'') if before == '$' => return None,
            (None, '\'') => open = Some(Quote::Single),
            (None, '"') => open = Some(Quote::Double),
            (Some(Quote::Single), '\'') | (Some(Quote::Double), '"') => open = None,
            _ => {}
        }
        before = c;
    }
    open
}
