//! The Python module against CPython's own answers.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use whenstop::python::{self, Ascii, Strictness};

/// The rows of the table.
fn answers() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/python/answers.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The code points at which a test of characters changes its answer, beginning with no.
fn borders(holds: fn(char) -> bool) -> Value {
    let mut before = false;
    let mut found = Vec::new();
    for character in '\0'..=char::MAX {
        if holds(character) != before {
            before = !before;
            found.push(Value::from(u32::from(character)));
        }
    }
    Value::Array(found)
}

/// What becomes of each character that does not stay what it is.
fn mapped(map: fn(&str) -> String) -> Value {
    let each = ('\0'..=char::MAX).map(|character| (character, map(&character.to_string())));
    let changed = each.filter(|(character, mapped)| !mapped.chars().eq([*character]));
    Value::Object(changed.map(|(character, mapped)| (u32::from(character).to_string(), Value::from(mapped))).collect())
}

/// What this library answers.
fn answer(ask: &str, given: &Value) -> Value {
    let text = given.as_str().unwrap_or_default();
    let load = |text: &str| python::loads(text, Strictness::Strict);
    let truth = |flag: bool| if flag { "True" } else { "False" }.to_owned();
    let said = match ask {
        "isspace" => return borders(python::is_space),
        "isprintable" => return borders(python::is_printable),
        "isalnum" => return borders(|character| character != '_' && python::is_word(character)),
        "isdecimal" => return borders(|character| python::ascii_digit(character).is_some()),
        "lower of each" => return mapped(python::lower),
        "upper of each" => return mapped(python::upper),
        "strip" => Some(python::strip(text).to_owned()),
        "lower" => Some(python::lower(text)),
        "upper" => Some(python::upper(text)),
        "repr of a float" => Some(python::repr_float(f64::from_bits(text.parse().unwrap()))),
        "repr" => load(text).map(|value| python::repr(&value)),
        "truth" => load(text).map(|value| truth(python::is_true(&value))),
        "dumps" => load(text).map(|value| python::dumps(&value, Ascii::Escaped)),
        "dumps kept" => load(text).map(|value| python::dumps(&value, Ascii::Kept)),
        "float" => load(text).and_then(|value| python::float(&value).ok().flatten()).map(python::repr_float),
        "int" => load(text).and_then(|value| python::int(&value)).map(|int| int.to_string()),
        "equal" => {
            let side = |side: usize| load(given[side].as_str().unwrap());
            side(0).zip(side(1)).map(|(left, right)| {
                let same_key = python::value_key(&left) == python::value_key(&right);
                let equal = python::equal(&left, &right);
                // A key cannot say that NaN itself equals nothing.
                let is_nan = [&left, &right].into_iter().all(|value| python::repr(value) == "nan");
                assert!(equal == same_key || is_nan, "{given}: equal {equal}, same key {same_key}");
                truth(equal)
            })
        }
        other => panic!("`{other}` is not asked"),
    };
    said.map_or(Value::Null, Value::from)
}

#[test]
fn python_answers_as_cpython_does() {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in answers() {
        let ask = row["ask"].as_str().unwrap();
        *asked.entry(ask.to_owned()).or_default() += 1;
        let said = answer(ask, &row["in"]);
        // Objects are compared as maps: the order of the characters is no answer.
        if said != row["out"] {
            wrong.push(format!("{ask} {}: {} here, {} there", row["in"], said, row["out"]));
        }
    }
    let shown: Vec<String> = wrong.iter().take(20).map(|line| line.chars().take(300).collect()).collect();
    assert!(wrong.is_empty(), "{} of {asked:?} wrong:\n{}", wrong.len(), shown.join("\n"));
    assert!(asked.len() == 17 && asked.values().sum::<usize>() > 20_000, "{asked:?}");
}
