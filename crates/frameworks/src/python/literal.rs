//! `ast.literal_eval`, for values that JSON can represent.

use serde_json::{Map, Value};

use super::number::{MOST_DIGITS, from_digits, from_float};
use super::text::is_space;

/// The deepest allowed nesting of literals.
const MAX_DEPTH: usize = 90;

/// The literal's value as `json.loads(json.dumps(ast.literal_eval(text)))` gives it: tuples become lists and keys
/// become strings. `None` if any of the three raises (sets, bytes and complex numbers have no JSON form). Does not
/// support string prefixes and triple quotes.
pub fn literal(text: &str) -> Option<Value> {
    let mut parser = LiteralParser { rest: text.trim_start_matches([' ', '\t']) };
    let value = parser.value(0)?;
    parser.skip();
    // Several values separated by commas are a tuple without parentheses.
    if parser.rest.is_empty() {
        return Some(value);
    }
    let mut items = vec![value];
    while parser.eat(',') {
        parser.skip();
        if parser.rest.is_empty() {
            break;
        }
        items.push(parser.value(0)?);
        parser.skip();
    }
    if parser.rest.is_empty() { Some(Value::Array(items)) } else { None }
}

struct LiteralParser<'t> {
    rest: &'t str,
}

impl LiteralParser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    fn eat(&mut self, character: char) -> bool {
        let after = self.rest.strip_prefix(character);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip();
        if depth > MAX_DEPTH {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.dict(depth),
            '[' => self.items('[', ']', depth).map(|(items, _)| Value::Array(items)),
            '(' => {
                let (mut items, has_comma) = self.items('(', ')', depth)?;
                // One value in parentheses without a comma is that value.
                if items.len() == 1 && !has_comma { items.pop() } else { Some(Value::Array(items)) }
            }
            '\'' | '"' => {
                let mut text = self.text()?;
                // Adjacent strings are concatenated.
                loop {
                    self.skip();
                    if !self.rest.starts_with(['\'', '"']) {
                        return Some(Value::String(text));
                    }
                    text.push_str(&self.text()?);
                }
            }
            '+' | '-' | '.' | '0'..='9' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Value> {
        let length = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        match word {
            "None" => Some(Value::Null),
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Value> {
        let mut negative = false;
        while self.rest.starts_with(['+', '-']) {
            negative ^= self.rest.starts_with('-');
            self.rest = self.rest.get(1..)?;
            self.skip();
        }
        let bytes = self.rest.as_bytes();
        let mut length = 0;
        while let Some(byte) = bytes.get(length) {
            let after_exponent = length > 0 && matches!(bytes.get(length - 1), Some(b'e' | b'E'));
            let is_sign = matches!(byte, b'+' | b'-') && after_exponent && !self.rest.starts_with("0x");
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_sign) {
                break;
            }
            length += 1;
        }
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        let well_placed = !token.contains("__") && !token.ends_with('_');
        let digits = token.replace('_', "");
        let sign = if negative { "-" } else { "" };
        if !well_placed || digits.is_empty() || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let radix = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => 16,
            Some("0o") => 8,
            Some("0b") => 2,
            _ => 10,
        };
        if radix != 10 {
            let whole = i128::from_str_radix(digits.get(2..)?, radix).ok()?;
            return Some(from_digits(&format!("{sign}{whole}")));
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let is_zero = digits.bytes().all(|byte| byte == b'0');
            let leads = digits.starts_with('0') && !is_zero;
            if leads || digits.len() > MOST_DIGITS {
                return None;
            }
            return Some(from_digits(&format!("{sign}{digits}")));
        }
        let float: f64 = digits.parse().ok()?;
        Some(from_float(if negative { -float } else { float }))
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        self.rest = self.rest.get(1..)?;
        let mut text = String::new();
        loop {
            let mut characters = self.rest.chars();
            let character = characters.next()?;
            self.rest = characters.as_str();
            match character {
                c if c == quote => return Some(text),
                '\n' => return None,
                '\\' => text.extend(self.escape()?),
                c => text.push(c),
            }
        }
    }

    /// The characters of an escape; an unknown one keeps its backslash, and an escaped line break is dropped.
    fn escape(&mut self) -> Option<Vec<char>> {
        let mut characters = self.rest.chars();
        let kind = characters.next()?;
        self.rest = characters.as_str();
        let one = match kind {
            '\n' => return Some(Vec::new()),
            '\\' | '\'' | '"' => kind,
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.code(2, 16)?,
            'u' => self.code(4, 16)?,
            'U' => self.code(8, 16)?,
            '0'..='7' => {
                let more = self.rest.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let digits = format!("{kind}{}", self.rest.get(..more)?);
                self.rest = self.rest.get(more..)?;
                char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?
            }
            'N' => return None,
            other => return Some(vec!['\\', other]),
        };
        Some(vec![one])
    }

    fn code(&mut self, length: usize, radix: u32) -> Option<char> {
        let digits = self.rest.get(..length).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.rest = self.rest.get(length..)?;
        let code = u32::from_str_radix(digits, radix).ok()?;
        if code <= 0x10_FFFF { Some(char::from_u32(code).unwrap_or('\u{fffd}')) } else { None }
    }

    /// The items between brackets, and whether the last one was followed by a comma.
    fn items(&mut self, open: char, close: char, depth: usize) -> Option<(Vec<Value>, bool)> {
        self.eat(open);
        let mut items = Vec::new();
        let mut has_comma = true;
        loop {
            self.skip();
            if self.eat(close) {
                return Some((items, has_comma));
            }
            if !has_comma {
                return None;
            }
            items.push(self.value(depth + 1)?);
            self.skip();
            has_comma = self.eat(',');
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Value> {
        self.eat('{');
        let mut entries = Map::new();
        let mut has_comma = true;
        loop {
            self.skip();
            if self.eat('}') {
                return Some(Value::Object(entries));
            }
            if !has_comma {
                return None;
            }
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                Value::Array(_) | Value::Object(_) => return None,
                scalar => super::dumps(&scalar, super::Ascii::Kept),
            };
            self.skip();
            // Without a colon, it is a set.
            if !self.eat(':') {
                return None;
            }
            entries.insert(key, self.value(depth + 1)?);
            self.skip();
            has_comma = self.eat(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_python_reads_them() {
        let cases = [
            ("{'a': 1, \"b\": [True, None,]}", Some(r#"{"a":1,"b":[true,null]}"#)),
            ("{1: (2,), 'x': (3)}", Some(r#"{"1":[2],"x":3}"#)),
            ("{'it\\'s': 'a' 'b'}", Some(r#"{"it's":"ab"}"#)),
            ("{'a': -1_000, 'b': 0x1f, 'c': 1e5, 'd': .5}", Some(r#"{"a":-1000,"b":31,"c":100000.0,"d":0.5}"#)),
            ("()", Some("[]")),
            ("1, 2", Some("[1,2]")),
            ("{'a'}", None),
            ("{'a': x}", None),
            ("{'a': 1", None),
            ("{'a' 1}", None),
            ("[1 2]", None),
            ("01", None),
            ("'a\nb'", None),
            ("ls -l", None),
            ("", None),
        ];
        for (text, value) in cases {
            assert_eq!(literal(text).map(|value| value.to_string()).as_deref(), value, "{text}");
        }
    }
}
