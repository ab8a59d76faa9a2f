//! Splits PowerShell and `cmd` text into the elements of its pipelines.
//!
//! Groups (`( … )`, `{ … }`, `$( … )`) may nest to any depth: what is in them becomes elements of its own, and in the
//! element around them a word `(…)` or `{…}` takes their place. Texts are never commands, here-strings included; only
//! the `$( … )` in a double-quoted text are.

/// A word of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    /// The word without its quotes.
    pub(super) text: String,
    /// True if it begins with a quote: a value, not the name of a command.
    pub(super) quoted: bool,
    /// True if part of it is a variable or a group.
    pub(super) varies: bool,
}

/// One command or expression of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PipelineElement {
    pub(super) words: Vec<Token>,
    /// The files it is redirected into.
    pub(super) written: Vec<String>,
    /// True if the element before is piped into it.
    pub(super) piped: bool,
    /// True within `@{ … }` and within the braces of a `switch`: names and patterns, not commands.
    pub(super) names: bool,
}

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellDialect {
    PowerShell,
    /// `cmd`, which has no blocks, and one kind of quotes.
    Cmd,
}

/// The elements of a text, those within a group before the one around it.
pub(super) fn elements(text: &str, dialect: ShellDialect) -> Vec<PipelineElement> {
    elements_in(text, dialect, true)
}

fn elements_in(text: &str, dialect: ShellDialect, searches: bool) -> Vec<PipelineElement> {
    let mut lexer = Lexer { text, dialect, searches, at: 0, frames: vec![Frame::default()], done: Vec::new() };
    lexer.read();
    lexer.done
}

/// What is being read between two brackets.
#[derive(Default)]
struct Frame {
    element: PipelineElement,
    token: Token,
    /// True if the token exists, even if it has no text: `''`.
    begun: bool,
    /// True if the next word is a file that is redirected into.
    redirects: bool,
    closing: Option<char>,
}

struct Lexer<'t> {
    text: &'t str,
    dialect: ShellDialect,
    /// True if the texts in it are searched for commands; false within such a command, so that nothing recurses.
    searches: bool,
    at: usize,
    frames: Vec<Frame>,
    done: Vec<PipelineElement>,
}

impl<'t> Lexer<'t> {
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn read(&mut self) {
        while let Some(character) = self.next() {
            let begun = self.frame().begun;
            let is_plain = self.dialect == ShellDialect::Cmd
                && matches!(character, '\'' | '`' | '#' | '<' | '{' | '}' | '$' | '@');
            match character {
                other if is_plain => self.push(other),
                '^' if self.dialect == ShellDialect::Cmd => {
                    let escaped = self.next().filter(|next| *next != '\n');
                    if let Some(next) = escaped {
                        self.push(next);
                    }
                }
                '@' if !begun && self.here_string() => {}
                '\'' | '"' => self.quoted(character),
                '`' => match self.next() {
                    Some('\n' | '\r') | None => {}
                    Some(next) => self.push(next),
                },
                '#' if !begun => self.skip_to(|c| c == '\n'),
                '<' if !begun && self.rest().starts_with('#') => {
                    self.at += if let Some(end) = self.rest().find("#>") { end + 2 } else { self.rest().len() };
                }
                '(' | '{' => self.open(character),
                ')' | '}' => self.close(character),
                ';' | '\n' => self.end_element(false),
                '|' => {
                    let is_or = self.rest().starts_with('|');
                    self.at += usize::from(is_or);
                    self.end_element(!is_or);
                }
                '&' => self.ampersand(),
                '>' => self.redirect(),
                '=' if self.assigns() => {
                    self.end_token();
                    self.push('=');
                    self.end_token();
                }
                c if c.is_whitespace() => self.end_token(),
                '$' => {
                    self.push('$');
                    self.frame().token.varies = true;
                    if self.rest().starts_with('{') {
                        let end = if let Some(end) = self.rest().find('}') { end + 1 } else { self.rest().len() };
                        let name = &self.rest()[..end];
                        self.frame().token.text.push_str(name.trim_matches(['{', '}']));
                        self.at += end;
                    }
                }
                other => self.push(other),
            }
        }
        while self.frames.len() > 1 {
            self.close_one();
        }
        self.end_element(false);
    }

    fn push(&mut self, character: char) {
        let frame = self.frame();
        frame.begun = true;
        frame.token.text.push(character);
    }

    fn skip_to(&mut self, is_end: fn(char) -> bool) {
        self.at += self.rest().find(is_end).unwrap_or(self.rest().len());
    }

    /// Reads `@'`, a line end, a text up to a line that begins with `'@`.
    fn here_string(&mut self) -> bool {
        let rest = self.rest();
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else { return false };
        let Some(body) = rest[1..].trim_start_matches([' ', '\t', '\r']).strip_prefix('\n') else { return false };
        let start = self.at + rest.len() - body.len();
        let end = format!("\n{quote}@");
        // The text may have no line at all.
        let (length, after) = match self.text[start - 1..].find(&end) {
            Some(0) => (0, end.len() - 1),
            Some(found) => (found - 1, end.len()),
            None => (body.len(), 0),
        };
        let text = &self.text[start..start + length];
        self.value(text, quote);
        self.at = start + length + after;
        true
    }

    fn quoted(&mut self, quote: char) {
        let start = self.at;
        let mut characters = self.rest().char_indices().peekable();
        let mut end = self.text.len();
        while let Some((at, character)) = characters.next() {
            if character == '`' && quote == '"' {
                characters.next();
            } else if character == quote {
                if characters.peek().is_some_and(|(_, next)| *next == quote) {
                    characters.next();
                } else {
                    end = start + at;
                    break;
                }
            }
        }
        self.value(&self.text[start..end], quote);
        self.at = (end + 1).min(self.text.len());
    }

    /// Adds a text to the word, and the commands in it to the elements.
    fn value(&mut self, text: &str, quote: char) {
        let expands = quote == '"' && self.dialect == ShellDialect::PowerShell && text.contains('$');
        let frame = self.frame();
        frame.token.quoted |= !frame.begun;
        frame.begun = true;
        frame.token.text.push_str(text);
        frame.token.varies |= expands;
        if expands && self.searches {
            for command in subexpressions(text) {
                self.done.extend(elements_in(command, self.dialect, false));
            }
        }
    }

    fn open(&mut self, bracket: char) {
        let frame = self.frame();
        if bracket == '{' && frame.token.text != "@" {
            self.end_token();
        }
        let frame = self.frame();
        let is_table = bracket == '{' && frame.token.text == "@";
        let is_switch = bracket == '{'
            && frame
                .element
                .words
                .first()
                .is_some_and(|word| matches!(word.text.to_ascii_lowercase().as_str(), "switch" | "switch(…)"));
        let mut inner = Frame { closing: Some(if bracket == '(' { ')' } else { '}' }), ..Frame::default() };
        inner.element.names = is_table || is_switch;
        self.frames.push(inner);
    }

    fn close(&mut self, bracket: char) {
        // A bracket that closes nothing is left out.
        if self.frame().closing == Some(bracket) {
            self.close_one();
        }
    }

    fn close_one(&mut self) {
        self.end_element(false);
        let closing = self.frames.pop().and_then(|frame| frame.closing);
        let frame = self.frame();
        frame.begun = true;
        frame.token.varies = true;
        frame.token.text.push_str(if closing == Some('}') { "{…}" } else { "(…)" });
        if closing == Some('}') {
            self.end_token();
        }
    }

    fn ampersand(&mut self) {
        if self.rest().starts_with('&') {
            self.at += 1;
            return self.end_element(false);
        }
        // `& command` calls; `command & …` goes on, as in `cmd`.
        let frame = self.frame();
        if frame.begun || !frame.element.words.is_empty() {
            self.end_element(false);
        } else {
            self.push('&');
            self.end_token();
        }
    }

    /// Reads `>`, `2>`, `>>`, `2>&1`: the next word is the file.
    fn redirect(&mut self) {
        let frame = self.frame();
        let is_stream = !frame.token.quoted && frame.token.text.chars().all(|c| c.is_ascii_digit() || c == '*');
        if frame.begun && is_stream && frame.token.text.len() <= 1 {
            (frame.token, frame.begun) = (Token::default(), false);
        } else {
            self.end_token();
        }
        self.at += usize::from(self.rest().starts_with('>'));
        if self.rest().starts_with('&') {
            self.at += 1;
            self.skip_to(|c| !c.is_ascii_digit());
        } else {
            self.frame().redirects = true;
        }
    }

    /// True if `=` stands behind a variable, or behind a name in `@{ … }`.
    fn assigns(&mut self) -> bool {
        let frame = self.frame();
        let is_first = frame.element.words.is_empty();
        let text = frame.token.text.as_str();
        !frame.token.quoted && is_first && frame.begun && (text.starts_with(['$', '[']) || frame.element.names)
    }

    fn end_token(&mut self) {
        let frame = self.frame();
        if !std::mem::take(&mut frame.begun) {
            return;
        }
        let token = std::mem::take(&mut frame.token);
        if std::mem::take(&mut frame.redirects) {
            frame.element.written.push(token.text);
        } else {
            frame.element.words.push(token);
        }
    }

    fn end_element(&mut self, pipes: bool) {
        self.end_token();
        let frame = self.frame();
        frame.redirects = false;
        let next = PipelineElement { piped: pipes, names: frame.element.names, ..PipelineElement::default() };
        let element = std::mem::replace(&mut frame.element, next);
        if !element.words.is_empty() || !element.written.is_empty() {
            self.done.push(element);
        }
    }
}

/// The commands in a double-quoted text: what is between `$(` and its `)`.
fn subexpressions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(opens) = text[at..].find("$(") {
        let start = at + opens + 2;
        let mut depth = 1_usize;
        let mut end = text.len();
        for (place, character) in text[start..].char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = start + place;
                break;
            }
        }
        found.push(&text[start..end]);
        at = (end + 1).min(text.len());
        if !text.is_char_boundary(at) {
            break;
        }
    }
    found
}
