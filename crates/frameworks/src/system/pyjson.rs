//! Python's `json.loads`, where a decision hangs on exactly what it accepts. The values are those
//! of [`python`](super::python): what JSON cannot hold becomes its stand-ins.

use serde_json::{Map, Value};

use super::python;

/// How deep arrays and objects may nest before Python's parser gives up.
const MAX_DEPTH: usize = 900;

/// How strict the parser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// `json.loads(text)`.
    Strict,
    /// `json.loads(text, strict=False)`: control characters may stand in texts.
    Lenient,
}

/// `json.loads`; `None` where Python raises. Lone surrogates, which Python keeps, become U+FFFD.
pub fn loads(text: &str, strictness: Strictness) -> Option<Value> {
    let mut parser = Parser { rest: text, strictness };
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    parser.rest.is_empty().then_some(value)
}

struct Parser<'t> {
    rest: &'t str,
    strictness: Strictness,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.rest.as_bytes().first()? {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            _ => self.word().or_else(|| self.number()),
        }
    }

    fn word(&mut self) -> Option<Value> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", python::of_float(f64::NAN)),
            ("Infinity", python::of_float(f64::INFINITY)),
            ("-Infinity", python::of_float(f64::NEG_INFINITY)),
        ];
        words.into_iter().find_map(|(word, value)| self.eat(word).map(|()| value))
    }

    fn number(&mut self) -> Option<Value> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        // A leading zero ends the integer part.
        let whole = if bytes.get(sign) == Some(&b'0') { 1 } else { digits(sign) };
        if whole == 0 {
            return None;
        }
        let mut end = sign + whole;
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
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
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        if is_float { text.parse().ok().map(python::of_float) } else { Some(python::of_digits(text)) }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.eat("[")?;
        self.skip_space();
        let mut items = Vec::new();
        if self.eat("]").is_some() {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat("]").is_some() {
                return Some(Value::Array(items));
            }
            self.eat(",")?;
            self.skip_space();
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.eat("{")?;
        self.skip_space();
        let mut entries = Map::new();
        if self.eat("}").is_some() {
            return Some(Value::Object(entries));
        }
        loop {
            let key = self.string()?;
            self.skip_space();
            self.eat(":")?;
            self.skip_space();
            let value = self.value(depth + 1)?;
            // A repeated key keeps its place and takes the last value.
            entries.insert(key, value);
            self.skip_space();
            if self.eat("}").is_some() {
                return Some(Value::Object(entries));
            }
            self.eat(",")?;
            self.skip_space();
        }
    }

    fn string(&mut self) -> Option<String> {
        self.eat("\"")?;
        let mut text = String::new();
        loop {
            let mut characters = self.rest.chars();
            let character = characters.next()?;
            let rest = characters.as_str();
            match character {
                '"' => {
                    self.rest = rest;
                    return Some(text);
                }
                '\\' => {
                    self.rest = rest;
                    text.push(self.escape()?);
                }
                '\0'..='\u{1f}' if self.strictness == Strictness::Strict => return None,
                other => {
                    self.rest = rest;
                    text.push(other);
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let kind = characters.next()?;
        self.rest = characters.as_str();
        Some(match kind {
            '"' | '\\' | '/' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.hex4()?;
                self.low_surrogate(unit).unwrap_or_else(|| char::from_u32(unit).unwrap_or('\u{fffd}'))
            }
            _ => return None,
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.rest = rest;
        u32::from_str_radix(digits, 16).ok()
    }

    /// The character of a surrogate pair that begins with `high`.
    fn low_surrogate(&mut self, high: u32) -> Option<char> {
        if !(0xD800..0xDC00).contains(&high) {
            return None;
        }
        let before = self.rest;
        let low = self.eat("\\u").and_then(|()| self.hex4()).filter(|low| (0xDC00..0xE000).contains(low));
        if low.is_none() {
            self.rest = before;
        }
        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low? - 0xDC00))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        loads(text, Strictness::Strict).map_or("raises".to_owned(), |value| python::text(&value))
    }

    #[test]
    fn values_read_and_print_as_python_does() {
        let cases = [
            (r#"{"a": [1, 2.50, true, null], "b": "it's"}"#, r#"{'a': [1, 2.5, True, None], 'b': "it's"}"#),
            ("[NaN, -Infinity, 1e400]", "[nan, -inf, inf]"),
            ("[1e16, 1e15, 0.0001, 0.00001, -0.0, -0]", "[1e+16, 1000000000000000.0, 0.0001, 1e-05, -0.0, 0]"),
            (r#"{"a": 1, "b": 2, "a": 3}"#, "{'a': 3, 'b': 2}"),
            (r#"["\u00e9\ud83d\ude00\u0001\u200b"]"#, "['é😀\\x01\\u200b']"),
            (r#""\ud83d!""#, "\u{fffd}!"),
            ("99999999999999999999999", "99999999999999999999999"),
            ("01", "raises"),
            ("1.", "raises"),
            ("[1,]", "raises"),
            ("{'a': 1}", "raises"),
            ("\"a\nb\"", "raises"),
            ("\u{feff}{}", "raises"),
            ("", "raises"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
        assert!(loads("\"a\nb\"", Strictness::Lenient).is_some());
        assert!(loads(&"[".repeat(5000), Strictness::Strict).is_none());
    }
}
