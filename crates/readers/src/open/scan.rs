//! Finds where JSON values end without parsing them, over any stream and in bounded memory. It does not validate:
//! whoever parses a value that it cut out does.

use std::io::{self, Read};

use crate::json_text::is_space;
use crate::transcript::Name;

/// Bytes read from the stream at a time …
const BLOCK: usize = 1 << 16;
/// … and at first: every value that is probed for its format has its own scanner, and most of them are short.
const FIRST_BLOCK: usize = 1 << 9;
/// The byte-order mark some editors put before UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Why a value could not be cut out.
#[derive(Debug)]
pub(crate) enum ScanError {
    /// The stream itself failed.
    Io(io::Error),
    /// The stream ended within a value.
    Ended,
    /// A byte that is not allowed here.
    Unexpected(u8),
}

impl From<io::Error> for ScanError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A line read by [`Scanner::line`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRead {
    /// Number of the line, from 1.
    pub(crate) number: usize,
    /// Its length in bytes without the line ending.
    pub(crate) len: u64,
    /// False if it was longer than allowed: the bytes were skipped, not kept.
    pub(crate) kept: bool,
    /// Whether it was ended by a line feed rather than by the end of the stream.
    pub(crate) terminated: bool,
}

/// A buffered stream of text that knows its line and column.
pub(crate) struct Scanner<R> {
    input: R,
    block: Vec<u8>,
    at: usize,
    end: usize,
    offset: u64,
    line: usize,
    line_start: u64,
    begun: bool,
}

impl<R: Read> Scanner<R> {
    /// A scanner at the beginning of `input`.
    pub(crate) fn new(input: R) -> Self {
        Self { input, block: Vec::new(), at: 0, end: 0, offset: 0, line: 1, line_start: 0, begun: false }
    }

    /// Line of the next byte, from 1.
    pub(crate) fn line_number(&self) -> usize {
        self.line
    }

    /// Column of the next byte, from 1.
    pub(crate) fn column(&self) -> usize {
        usize::try_from(self.offset - self.line_start).map_or(usize::MAX, |column| column.saturating_add(1))
    }

    /// The buffered bytes; empty only at the end of the stream.
    pub(crate) fn at_hand(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            if self.end == self.block.len() && self.end < BLOCK {
                self.block = vec![0; (self.end * 8).clamp(FIRST_BLOCK, BLOCK)];
            }
            self.at = 0;
            self.end = read_some(&mut self.input, &mut self.block)?;
            if !self.begun && self.end > 0 {
                self.begun = true;
                while self.end < BOM.len() && BOM.starts_with(&self.block[..self.end]) {
                    match read_some(&mut self.input, &mut self.block[self.end..])? {
                        0 => break,
                        more => self.end += more,
                    }
                }
                if self.block[..self.end].starts_with(BOM) {
                    self.at = BOM.len();
                    if self.at == self.end {
                        return self.at_hand();
                    }
                }
            }
        }
        Ok(&self.block[self.at..self.end])
    }

    /// Advances over `n` buffered bytes, appending them to `keep` if given.
    pub(crate) fn pass(&mut self, n: usize, keep: Option<&mut Vec<u8>>) {
        let passed = &self.block[self.at..self.at + n];
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.line += memchr::memchr_iter(b'\n', passed).count();
            self.line_start = self.offset + last as u64 + 1;
        }
        if let Some(keep) = keep {
            keep.extend_from_slice(passed);
        }
        self.offset += n as u64;
        self.at += n;
    }

    /// Skips white space and returns the next byte without consuming it.
    pub(crate) fn skip_space(&mut self) -> io::Result<Option<u8>> {
        loop {
            let hand = self.at_hand()?;
            let is_end = hand.is_empty();
            let space = hand.iter().take_while(|byte| is_space(**byte)).count();
            let next = hand.get(space).copied();
            if space > 0 {
                self.pass(space, None);
            }
            if next.is_some() || is_end {
                return Ok(next);
            }
        }
    }

    /// Skips white space, then consumes the next byte if it is `wanted`.
    pub(crate) fn skip_byte(&mut self, wanted: u8) -> io::Result<bool> {
        let found = self.skip_space()? == Some(wanted);
        if found {
            self.pass(1, None);
        }
        Ok(found)
    }

    /// Skips white space and the byte that is to follow it.
    pub(crate) fn expect_byte(&mut self, wanted: u8) -> Result<(), ScanError> {
        self.expect_next(wanted)?;
        self.pass(1, None);
        Ok(())
    }

    /// Skips white space before the byte that is to follow it.
    fn expect_next(&mut self, wanted: u8) -> Result<(), ScanError> {
        match self.skip_space()? {
            Some(byte) if byte == wanted => Ok(()),
            Some(byte) => Err(ScanError::Unexpected(byte)),
            None => Err(ScanError::Ended),
        }
    }

    /// Skips one value. Its text is appended to `keep`, if given, up to `limit` bytes. Returns the value's full
    /// length, which shows whether the text was cut.
    pub(crate) fn value(&mut self, keep: Option<&mut Vec<u8>>, limit: u64) -> Result<u64, ScanError> {
        if self.skip_space()?.is_none() {
            return Err(ScanError::Ended);
        }
        self.pass_value(ValueEndFinder::default(), keep, limit)
    }

    /// Skips the rest of the innermost open container.
    pub(crate) fn close(&mut self) -> Result<(), ScanError> {
        self.pass_value(ValueEndFinder { depth: 1, ..ValueEndFinder::default() }, None, 0).map(drop)
    }

    /// Skips what is left of a value, as [`Self::value`] does.
    fn pass_value(
        &mut self,
        mut extent: ValueEndFinder,
        mut keep: Option<&mut Vec<u8>>,
        limit: u64,
    ) -> Result<u64, ScanError> {
        let mut len = 0;
        loop {
            let hand = self.at_hand()?;
            if hand.is_empty() {
                return if extent.scalar && extent.depth == 0 { Ok(len) } else { Err(ScanError::Ended) };
            }
            let (n, done) = match extent.advance(hand) {
                Some(n) => (n, true),
                None => (hand.len(), false),
            };
            if len == 0 && n == 0 {
                return Err(ScanError::Unexpected(hand[0]));
            }
            if let Some(keep) = keep.as_deref_mut() {
                let room = usize::try_from(limit.saturating_sub(len)).unwrap_or(usize::MAX);
                keep.extend_from_slice(&hand[..n.min(room)]);
            }
            len += n as u64;
            self.pass(n, None);
            if done {
                return Ok(len);
            }
        }
    }

    /// Consumes an object's key and the colon; returns the key as written between its quotes.
    pub(crate) fn key(&mut self) -> Result<Name, ScanError> {
        self.expect_next(b'"')?;
        let mut raw = Vec::new();
        self.value(Some(&mut raw), 1 << 16)?;
        self.expect_byte(b':')?;
        let text = String::from_utf8_lossy(&raw);
        if text.contains('\\')
            && let Ok(decoded) = serde_json::from_str::<String>(&text)
        {
            return Ok(decoded.into());
        }
        Ok(text.trim_matches('"').into())
    }

    /// Reads one line into `out` without its ending, or skips it if it is longer than `limit`. `None` at the end of
    /// the stream.
    pub(crate) fn line(&mut self, out: &mut Vec<u8>, limit: u64) -> io::Result<Option<LineRead>> {
        let mut read = LineRead { number: self.line, len: 0, kept: true, terminated: false };
        let start = out.len();
        loop {
            let hand = self.at_hand()?;
            if hand.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', hand);
            let n = end.unwrap_or(hand.len());
            read.len += n as u64;
            if read.len > limit {
                read.kept = false;
                out.truncate(start);
            } else {
                out.extend_from_slice(&hand[..n]);
            }
            // The bytes skipped here contain no line feed except at their end.
            self.at += n;
            self.offset += n as u64;
            if end.is_some() {
                self.at += 1;
                self.offset += 1;
                self.line += 1;
                self.line_start = self.offset;
                read.terminated = true;
                break;
            }
        }
        if out.last() == Some(&b'\r') && out.len() > start {
            out.pop();
        }
        Ok(if read.len > 0 || read.terminated { Some(read) } else { None })
    }
}

/// Reads at least one byte unless the stream is at its end.
pub(crate) fn read_some(input: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Finds the end of a value block by block.
#[derive(Clone, Copy, Debug, Default)]
struct ValueEndFinder {
    depth: usize,
    string: bool,
    escaped: bool,
    scalar: bool,
}

impl ValueEndFinder {
    /// How many bytes of `block` belong to the value; `None` if all do and more may follow.
    fn advance(&mut self, block: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < block.len() {
            if self.string {
                at = self.advance_in_string(block, at)?;
                if !self.string && self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            match block[at] {
                byte if self.depth == 0
                    && self.scalar
                    && (is_space(byte) || matches!(byte, b'"' | b'{' | b'[' | b',' | b':' | b'}' | b']')) =>
                {
                    return Some(at);
                }
                b'"' => self.string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' | b':' if self.depth == 0 => return Some(at),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ if self.depth == 0 => self.scalar = true,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Advances within a string to just after its closing quote; `None` if the block ends first.
    fn advance_in_string(&mut self, block: &[u8], mut at: usize) -> Option<usize> {
        while at < block.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            at += memchr::memchr2(b'"', b'\\', &block[at..])?;
            if block[at] == b'"' {
                self.string = false;
                return Some(at + 1);
            }
            self.escaped = true;
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, so that every boundary falls between two blocks.
    struct Trickle<'b>(&'b [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            into[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn values_end_where_json_says() {
        for (text, value) in [
            (r#"{"a":[1,"]}\""]} rest"#, r#"{"a":[1,"]}\""]}"#),
            (" 12,", "12"),
            ("true]", "true"),
            (r#""a\\" ,"#, r#""a\\""#),
            ("-1.5e3", "-1.5e3"),
        ] {
            let (mut whole, mut trickled) = (Vec::new(), Vec::new());
            Scanner::new(text.as_bytes()).value(Some(&mut whole), 99).unwrap();
            Scanner::new(Trickle(text.as_bytes())).value(Some(&mut trickled), 99).unwrap();
            assert_eq!(String::from_utf8(whole).unwrap(), value);
            assert_eq!(String::from_utf8(trickled).unwrap(), value);
        }
        for text in ["", "{\"a\":", "[1,2", "\"abc", "}"] {
            assert!(Scanner::new(text.as_bytes()).value(None, 99).is_err(), "{text}");
        }
    }

    #[test]
    fn lines_have_numbers_and_lose_marks() {
        let mut scanner = Scanner::new(Trickle(b"\xEF\xBB\xBFa\r\n\nlonger\nend"));
        let mut seen = Vec::new();
        loop {
            let mut line = Vec::new();
            let Some(read) = scanner.line(&mut line, 5).unwrap() else { break };
            seen.push((read.number, String::from_utf8(line).unwrap(), read.kept, read.terminated));
        }
        let expected = [(1, "a", true, true), (2, "", true, true), (3, "", false, true), (4, "end", true, false)];
        assert_eq!(seen, expected.map(|(n, text, kept, ended)| (n, text.to_owned(), kept, ended)));
    }
}
