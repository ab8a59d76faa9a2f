//! Extracts the code of an `<Experiment>` tag.

use super::{is_space, trim};

/// The code between the first `<Experiment>` and the next `</Experiment>`, without code fences and surrounding white
/// space; `None` without such a pair. An empty result is an experiment without code.
pub fn experiment_code(reply: &str) -> Option<String> {
    let (_, after) = reply.split_once("<Experiment>")?;
    let (inside, _) = after.split_once("</Experiment>")?;
    let without_openings = drop_fence_lines(trim(inside));
    Some(trim(drop_last_fence(&without_openings)).to_owned())
}

/// Removes every fence at the start of a line, with its language and the white space after it.
fn drop_fence_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut at_line_start) = (text, true);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("```").filter(|_| at_line_start) {
            let after = after.strip_prefix("python").or_else(|| after.strip_prefix("py")).unwrap_or(after);
            let next = after.trim_start_matches(is_space);
            at_line_start = after[..after.len() - next.len()].ends_with('\n');
            rest = next;
            continue;
        }
        out.push(first);
        at_line_start = first == '\n';
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// Removes a fence that ends the text, with the line break before it.
fn drop_last_fence(text: &str) -> &str {
    match text.trim_end_matches(is_space).strip_suffix("```") {
        Some(body) => body.strip_suffix('\n').unwrap_or(body),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_go_code_stays() {
        let cases = [
            ("x<Experiment>\n```python\nprint(1)\n```\n</Experiment>", Some("print(1)")),
            ("<Experiment>```py\nprint(1)```</Experiment>", Some("print(1)")),
            ("<Experiment>a\n```\nb</Experiment>", Some("a\nb")),
            ("<Experiment>```python3\nx</Experiment>", Some("3\nx")),
            ("<Experiment>```python\n```\n```\n</Experiment>", Some("")),
            ("<Experiment>s = '```'</Experiment>", Some("s = '```'")),
            ("<Experiment>a</Experiment><Experiment>b</Experiment>", Some("a")),
            ("</Experiment><Experiment>a", None),
        ];
        for (reply, code) in cases {
            assert_eq!(experiment_code(reply).as_deref(), code, "{reply:?}");
        }
    }
}
