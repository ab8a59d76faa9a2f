//! Python's `json.loads`, for decisions that depend on exactly which texts it accepts, and `json.dumps`.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::transcript::is_dense;

use super::number::{Int, MOST_DIGITS, as_float, from_digits, from_float, repr_float};

/// The nesting depth at which Python's parser gives up.
const MAX_DEPTH: usize = 900;

/// How strict the parser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// `json.loads(text)`.
    Strict,
    /// `json.loads(text, strict=False)`: allows control characters in strings.
    Lenient,
}

/// `json.loads`; `None` where Python raises. Lone surrogates, which Python keeps, become U+FFFD.
pub fn loads(text: &str, strictness: Strictness) -> Option<Value> {
    // Reject text whose parsed value would take many times its size in memory.
    if is_dense(text) {
        return None;
    }
    let mut parser = JsonParser { text, at: 0, strictness };
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at == text.len() { Some(value) } else { None }
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
    strictness: Strictness,
}

impl<'t> JsonParser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'0'..=b'9' => self.number(),
            _ => self.word().or_else(|| self.number()),
        }
    }

    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let (word, value) = match rest.as_bytes().first()? {
            b'n' => ("null", Value::Null),
            b't' => ("true", Value::Bool(true)),
            b'f' => ("false", Value::Bool(false)),
            b'N' => ("NaN", from_float(f64::NAN)),
            b'I' => ("Infinity", from_float(f64::INFINITY)),
            b'-' => ("-Infinity", from_float(f64::NEG_INFINITY)),
            _ => return None,
        };
        if !rest.starts_with(word) {
            return None;
        }
        self.at += word.len();
        Some(value)
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        // A leading zero ends the integer part.
        let whole = if bytes.get(sign) == Some(&b'0') { 1 } else { digits(sign) };
        if whole == 0 {
            return None;
        }
        let mut end = sign + whole;
        let mut is_float = false;
        let fraction = if bytes.get(end) == Some(&b'.') { digits(end + 1) } else { 0 };
        if fraction > 0 {
            end += 1 + fraction;
            is_float = true;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + signed);
            if exponent > 0 {
                end += 1 + signed + exponent;
                is_float = true;
            }
        }
        let number = rest.get(..end)?;
        self.at += end;
        if is_float {
            return number.parse().ok().map(from_float);
        }
        if whole <= MOST_DIGITS { Some(from_digits(number)) } else { None }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        self.skip_space();
        let mut items = Vec::new();
        if self.eat(b']') {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Some(Value::Array(items));
            }
            if !self.eat(b',') {
                return None;
            }
            self.skip_space();
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        self.skip_space();
        let mut entries = Map::new();
        if self.eat(b'}') {
            return Some(Value::Object(entries));
        }
        loop {
            if self.peek() != Some(b'"') {
                return None;
            }
            let key = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return None;
            }
            self.skip_space();
            let value = self.value(depth + 1)?;
            // A repeated key keeps its first position and takes the last value.
            entries.insert(key, value);
            self.skip_space();
            if self.eat(b'}') {
                return Some(Value::Object(entries));
            }
            if !self.eat(b',') {
                return None;
            }
            self.skip_space();
        }
    }

    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
            text.push_str(rest.get(..plain)?);
            self.at += plain + 1;
            match rest.as_bytes().get(plain)? {
                b'"' => return Some(text),
                b'\\' => text.push(self.escape()?),
                _ if self.strictness == Strictness::Strict => return None,
                control => text.push(char::from(*control)),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let kind = self.peek()?;
        self.at += 1;
        Some(match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex4()?;
                self.low_surrogate(unit).unwrap_or_else(|| char::from_u32(unit).unwrap_or('\u{fffd}'))
            }
            _ => return None,
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// The character encoded by a surrogate pair that begins with `high`.
    fn low_surrogate(&mut self, high: u32) -> Option<char> {
        if !(0xD800..0xDC00).contains(&high) {
            return None;
        }
        let before = self.at;
        let is_escape = self.eat(b'\\') && self.eat(b'u');
        let low = if is_escape { self.hex4().filter(|low| (0xDC00..0xE000).contains(low)) } else { None };
        if low.is_none() {
            self.at = before;
        }
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low? - 0xDC00))
    }
}

/// How characters beyond ASCII are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ascii {
    /// `ensure_ascii=True`, the default: escaped.
    Escaped,
    /// `ensure_ascii=False`: unchanged.
    Kept,
}

/// `json.dumps(value)`: a space after commas and colons.
pub fn dumps(value: &Value, ascii: Ascii) -> String {
    let mut out = String::new();
    write_json(value, ascii, &mut out);
    out
}

fn write_json(value: &Value, ascii: Ascii, out: &mut String) {
    match (value, Int::from_value(value), as_float(value)) {
        (Value::Bool(flag), ..) => out.push_str(if *flag { "true" } else { "false" }),
        (_, Some(int), _) => {
            let _ = write!(out, "{int}");
        }
        (_, _, Some(float)) => match float {
            _ if float.is_nan() => out.push_str("NaN"),
            f64::INFINITY => out.push_str("Infinity"),
            f64::NEG_INFINITY => out.push_str("-Infinity"),
            _ => out.push_str(&repr_float(float)),
        },
        (Value::String(text), ..) => write_text(text, ascii, out),
        (Value::Array(items), ..) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_json(item, ascii, out);
            }
            out.push(']');
        }
        (Value::Object(map), ..) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_text(key, ascii, out);
                out.push_str(": ");
                write_json(value, ascii, out);
            }
            out.push('}');
        }
        (Value::Null | Value::Number(_), ..) => out.push_str("null"),
    }
}

fn write_text(text: &str, ascii: Ascii, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            c if ascii == Ascii::Kept || (' '..='~').contains(&c) => out.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}
