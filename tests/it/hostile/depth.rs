//! Rows about the parsers of others: what is nested too deep or too long for them is told, and never the end of the program.

use super::{check, row, run};

const DEEP: usize = 100_000;

#[test]
fn a_stack_file_that_is_nested_too_deep_is_refused() {
    let toml = |name: &str, text: String| {
        row(name, "compare a.jsonl --stacks s.toml")
            .file("a.jsonl", run("a"))
            .file("s.toml", text)
            .exit(2)
            .says("s.toml")
    };
    let rule = |rule: &str| format!("[[stack]]\nname = \"s\"\nany = [{rule}]\n");
    let regex = |pattern: &str| rule(&format!("{{ signal = \"text.match\", regex = '{pattern}', at_least = 1 }}"));
    check(vec![
        toml("a list in a list", format!("a = {}{}", "[".repeat(DEEP), "]".repeat(DEEP))),
        toml("a table in a table", format!("a = {}1{}", "{b=".repeat(DEEP), "}".repeat(DEEP))),
        toml("a key of many parts", format!("{}a = 1", "a.".repeat(DEEP))),
        toml("a header of many parts", format!("[{}a]", "a.".repeat(DEEP))),
        toml(
            "a rule in a rule",
            rule(&format!("{}{{ signal = \"steps\", at_least = 2 }}{}", "{ not = ".repeat(DEEP), "}".repeat(DEEP))),
        ),
        toml("groups in groups", regex(&format!("{}a{}", "(".repeat(DEEP), ")".repeat(DEEP)))),
        toml("classes in classes", regex(&format!("{}a{}", "[".repeat(DEEP), "]".repeat(DEEP)))),
        // Nine thousand errors on one line of 250 kB: each kept the whole line.
        toml("errors without end", "-exec;$\u{fffd}\u{fffd}".repeat(20_000)),
        toml("a repetition of a repetition", regex("((((a{1000}){1000}){1000}){1000}){1000}")),
    ]);
}

#[test]
fn a_project_file_that_is_nested_too_deep_is_refused() {
    check(vec![
        row("a list in a list", "ci check")
            .file("a.jsonl", run("a"))
            .file("whenstop.toml", format!("stacks = {}{}", "[".repeat(DEEP), "]".repeat(DEEP)))
            .exit(2)
            .says("whenstop.toml"),
        row("prices in tables in tables", "corpus a.jsonl --price p.toml")
            .file("a.jsonl", run("a"))
            .file("p.toml", format!("a = {}1{}", "{b=".repeat(DEEP), "}".repeat(DEEP)))
            .exit(2)
            .says("p.toml"),
    ]);
}

#[test]
fn json_that_is_nested_too_deep_is_told() {
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
    let note = |body: &str| format!("{}{{\"type\":\"note\",\"kind\":\"x\",\"body\":{body}}}\n", run("deep"));
    let chat = |body: &str| format!("{{\"id\":\"deep\",\"messages\":[{{\"role\":\"user\",\"content\":{body}}}]}}\n");
    let told =
        |name: &str, text: String| row(name, "corpus .").file("x.jsonl", text).between_good_ones().says("x.jsonl");
    check(vec![
        row("lists in a note", "corpus .")
            .file("x.jsonl", note(&nested("[", "]")))
            .between_good_ones()
            .runs(3)
            .says("3 trace runs"),
        told("objects in a message", chat(&nested("{\"a\":", "}"))),
        told("lists in a message", chat(&nested("[", "]"))),
        row("a document of lists", "corpus . --why")
            .file("x.json", nested("[", "]"))
            .between_good_ones()
            .runs(2)
            .says("x.json"),
        row("a report of outcomes", "corpus . --why")
            .file("results.json", nested("[", "]"))
            .between_good_ones()
            .runs(2)
            .says("results.json"),
    ]);
}

/// A Parquet file without rows whose one column is that many groups within each other: its footer, by hand.
fn nested_table(groups: usize) -> Vec<u8> {
    let varint = |mut number: usize| {
        let mut bytes = Vec::new();
        while number > 0x7f {
            bytes.push(u8::try_from(number & 0x7f | 0x80).unwrap());
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
        bytes
    };
    // Version 1; a list of structs; each an optional group `a` with one child; the last a text without any.
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    footer.extend(varint(groups + 2));
    footer.extend([0x48, 1, b'r', 0x15, 2, 0]);
    footer.extend([0x35, 2, 0x18, 1, b'a', 0x15, 2, 0].repeat(groups));
    footer.extend([0x15, 12, 0x25, 2, 0x18, 1, b'z', 0]);
    // No rows, in no group of rows.
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &*footer, &length, b"PAR1"].concat()
}

#[test]
fn a_table_that_is_nested_too_deep_is_refused() {
    check(vec![
        row("few groups", "corpus . --why")
            .file("x.parquet", nested_table(50))
            .between_good_ones()
            .runs(2)
            .says("no known layout"),
        row("groups within groups", "corpus . --why")
            .file("x.parquet", nested_table(DEEP))
            .between_good_ones()
            .runs(2)
            .says("levels deep"),
        row("as the input of a comparison", "compare x.parquet")
            .file("x.parquet", nested_table(DEEP))
            .exit(3)
            .says("1 input could not be read"),
    ]);
}

/// The page's own texts are escaped and never parsed; a recording may still hold any markup.
#[test]
fn markup_that_is_nested_too_deep_is_text() {
    let markup = "<div>".repeat(DEEP);
    let text = format!(
        "{{\"type\":\"run\",\"run_id\":\"m\"}}\n{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{markup}\"}}\n"
    );
    let stack = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";
    check(vec![
        row("a page of it", "compare x.jsonl --stacks s.toml --out out")
            .file("x.jsonl", text.clone())
            .file("s.toml", stack)
            .says("report.html"),
        row("a run of it", "explain x.jsonl --run m --stacks s.toml")
            .file("x.jsonl", text)
            .file("s.toml", stack)
            .says("<div>"),
    ]);
}
