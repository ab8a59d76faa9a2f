//! Rows about recordings: what stands in a file.

use super::{Row, check, row, run};

/// Characters that some languages take for white space and JSON does not.
const ODD_SPACES: &[(&str, &str)] = &[
    ("form feed", "\u{c}"),
    ("vertical tab", "\u{b}"),
    ("no-break space", "\u{a0}"),
    ("next line", "\u{85}"),
    ("line separator", "\u{2028}"),
    ("ideographic space", "\u{3000}"),
];

#[test]
fn white_space_of_other_languages_is_no_white_space() {
    let lines = run("a").trim().replace('\n', ",");
    let rows = ODD_SPACES.iter().flat_map(|(name, space)| {
        let values = run("b").trim().replace('\n', "");
        let stuck = format!("[{lines}\n{space}");
        [
            row(format!("{name} behind the elements of an array that never ends"), "corpus .")
                .file("x.json", stuck)
                .between_good_ones()
                .runs(3)
                .says("this line is left out: cannot read this as JSON: expected value")
                .says("x.json:2:1"),
            row(format!("{name} between values"), "corpus .")
                .file("x.json", format!("{values}{space}{}", run("c")))
                .between_good_ones()
                .runs(4)
                .says("cannot read this as JSON")
                .says("x.json:1:"),
            row(format!("{name} on a line of its own"), "corpus .")
                .file("x.jsonl", format!("{}{space}\n{}", run("b"), run("c")))
                .between_good_ones()
                .runs(4)
                .says("this line is left out: cannot read this as JSON: expected value")
                .says("x.jsonl:3:1"),
        ]
    });
    check(rows.collect());
}

/// A file of trace lines between two good ones: what is said of it, and how many runs it has.
fn trace(name: &str, bytes: impl Into<Vec<u8>>, runs: u64, says: &str) -> Row {
    row(name, "corpus . --why").file("x.jsonl", bytes).between_good_ones().runs(2 + runs).says(says)
}

#[test]
fn a_running_total_without_a_number_adds_nothing() {
    const SESSION: &str = include_str!("../../../fixtures/readers/codex/good.jsonl");
    let (before, total) = SESSION.split_once("\"total_token_usage\":{").unwrap();
    let (_, after) = total.split_once('}').unwrap();
    let emptied = format!("{before}\"total_token_usage\":{{}}{after}");
    check(vec![row("an empty total", "corpus x.jsonl").file("x.jsonl", emptied).runs(1).says("3065")]);
}

#[test]
fn a_broken_line_costs_that_line() {
    let with = |line: &str| format!("{}{line}\n{}", run("b"), run("c"));
    check(vec![
        trace("a line cut off", format!("{}{{\"type\":\"message\",\"role\":\"assi", run("cut")), 1, "x.jsonl:3:")
            .says("this line is left out")
            .says("is still being written"),
        trace("an array for a line", with("[1,2]"), 2, "this is an array, not an object: `[1,2]`").says("x.jsonl:3:1"),
        trace("a number for a line", with("7"), 2, "this is a number, not an object: `7`").says("x.jsonl:3:1"),
        trace("a line without a type", with("{\"role\":\"user\"}"), 2, "a line without a `type`").says("x.jsonl:3:1"),
        trace("a type that is a number", with("{\"type\":7}"), 2, "`type` should be a string, not `7`"),
        trace("a type nobody knows", with("{\"type\":\"zebra\"}"), 2, "1 line of an unknown kind: trace zebra"),
        trace("a message without a role", with("{\"type\":\"message\"}"), 2, "a message without a `role`"),
        trace("a role nobody has", with("{\"type\":\"message\",\"role\":\"zebra\"}"), 2, "`zebra` is no role"),
        trace("comments", with("// {\"type\":\"message\"}"), 2, "x.jsonl:3:1"),
        trace("a comma behind the last field", with("{\"type\":\"note\",}"), 2, "trailing comma").says("x.jsonl:3:"),
        trace("single quotes", with("{'type':'note'}"), 2, "key must be a string").says("x.jsonl:3:2"),
        trace("NaN", with("{\"type\":\"checkpoint\",\"score\":NaN}"), 2, "x.jsonl:3:30"),
        trace("a control character in a string", with("{\"type\":\"mess\u{1}age\"}"), 2, "control character"),
        trace("a bracket too many", with("}}garbage"), 2, "x.jsonl:3:1"),
        trace("200,000 brackets", with(&"[".repeat(200_000)), 2, "this is an array, not an object: `[[[["),
        trace("a byte that is no UTF-8", [run("b").as_bytes(), b"{\"type\":\"\xff\"}\n"].concat(), 1, "not UTF-8"),
        trace("half a surrogate pair", run("b").replace("\"x\"", "\"\\ud83d!\""), 1, "half a surrogate pair"),
        trace(
            "a line before any run",
            format!("{{\"type\":\"metrics\"}}\n{}", run("b")),
            1,
            "before any line of type `run`",
        ),
        trace(
            "a run without an id",
            run("b").replace(",\"run_id\":\"b\"", ",\"run_id\":null"),
            1,
            "a run without a `run_id`",
        )
        .says("x.jsonl:1:1"),
        trace(
            "a note without a body",
            with("{\"type\":\"note\",\"kind\":\"k\"}"),
            2,
            "a note without `kind` or `body`",
        ),
        trace("a checkpoint that says nothing", with("{\"type\":\"checkpoint\"}"), 2, "without `success` or `score`"),
        trace(
            "calls that are no list",
            run("b").replace("\"x\"", "\"x\",\"tool_calls\":7"),
            1,
            "`tool_calls` should be an array",
        ),
        trace(
            "a call without a name",
            run("b").replace("\"x\"", "\"x\",\"tool_calls\":[{}]"),
            1,
            "a tool call without a name",
        ),
        trace(
            "usage that is a number",
            run("b").replace("\"x\"", "\"x\",\"usage\":7"),
            1,
            "`usage` should be an object, not `7`",
        ),
        trace("two runs of one id", format!("{}{}", run("b"), run("b")), 2, "a second run is called `b`"),
    ]);
}

#[test]
fn what_is_no_recording_is_named_and_left_out() {
    let odd = |name: &str, bytes: &[u8], says: &str| {
        row(name, "corpus . --why")
            .file("x.json", bytes)
            .between_good_ones()
            .runs(2)
            .says(format!("x.json: left out: {says}"))
    };
    check(vec![
        odd("nothing", b"", "empty"),
        odd("blanks", b" \n\t\r\n", "empty"),
        odd("a byte-order mark and no more", b"\xEF\xBB\xBF", "empty"),
        odd("prose", b"# Notes\n", "not JSON: it begins with `# Notes"),
        odd("bytes", &[0, 1, 2, 3, 255, 254], "not text"),
        odd("UTF-16", b"\xFF\xFE{\0\"\0a\0\"\0:\x001\0}\0", "UTF-16, which PowerShell"),
        odd("another document", b"{\"a\":1}", "a JSON document of no known format"),
        odd("a document that ends in a key", b"{\"a", "cut short or broken JSON"),
        odd("a number", b"7", "not JSON"),
        odd("an empty array", b"[]", "a JSON document of no known format"),
        odd("a form feed and no more", b"\x0c", "not JSON"),
        row("nothing, named", "corpus x.json").file("x.json", "").exit(4).says("not read: empty").says("--> x.json"),
        row("nothing, named, strictly", "corpus x.json --strict").file("x.json", "").exit(3).says("not read: empty"),
    ]);
}

#[test]
fn an_array_that_breaks_keeps_the_runs_before() {
    let simulation =
        |id: &str| format!("{{\"id\":\"{id}\",\"task_id\":\"t\",\"messages\":[],\"reward_info\":{{\"reward\":1}}}}");
    let array = |rest: &str| format!("{{\"simulations\":[{},{}{rest}", simulation("a"), simulation("b"));
    let broken = |name: &str, rest: &str, runs: u64, says: &str| {
        row(name, "corpus .")
            .file("x.json", array(rest))
            .between_good_ones()
            .runs(2 + runs)
            .says(says)
            .says("x.json:1:")
    };
    check(vec![
        broken("ends within an element", ",{\"id\":\"c\",\"mess", 2, "the file ends within a value"),
        broken("ends behind an element", "", 2, "the file ends within a value"),
        broken("no comma", " {\"id\":\"c\"}]}", 2, "`{` cannot stand here; the runs before it are read"),
        broken("a form feed for a comma", "\u{c}{}]}", 2, "`\\x0c` cannot stand here"),
        broken("an element that is a number", ",7]}", 2, "this is a number, not an object: `7`"),
    ]);
}

/// Inputs that took a time or a memory that grew with the square of their length. `timeout` and `prlimit` are the judges.
#[test]
fn many_of_anything_cost_no_more_than_many() {
    let n = 20_000;
    let runs = |id: fn(usize) -> String| (0..n).map(|nth| run(&id(nth))).collect::<String>();
    let call = |arguments: &str| {
        run("b").replace("\"x\"", &format!("\"x\",\"tool_calls\":[{{\"name\":\"t\",\"arguments\":{arguments}}}]"))
    };
    let keys: Vec<String> = (0..100_000).map(|nth| format!("\"k{nth}\":{nth}")).collect();
    let loops = "[[stack]]\nname = \"l\"\nany = [{ signal = \"call.streak\", at_least = 3 }]\n";
    check(vec![
        row("20,000 runs of one id", "corpus x.jsonl")
            .file("x.jsonl", runs(|_| "same".to_owned()))
            .runs(20_000)
            .says("this one is now `x/same#3`"),
        row("2 MB of junk lines", "corpus x.jsonl")
            .file("x.jsonl", format!("{}{}", run("b"), "x\n".repeat(1_000_000)))
            .runs(1)
            .says("… and 999000 more findings")
            .megabytes(48),
        row("200,000 lines cut off", "corpus x.jsonl")
            .file("x.jsonl", format!("{}{}", run("b"), "{\"type\":\"message\"\n".repeat(200_000)))
            .runs(1)
            .says("… and 199000 more findings")
            .megabytes(64),
        row("junk lines, strictly", "corpus x.jsonl --strict")
            .file("x.jsonl", format!("{}{}", run("b"), "x\n".repeat(10_000)))
            .exit(3)
            .says("x.jsonl:3:1"),
        row("arguments of 100,000 keys", "compare x.jsonl --stacks s.toml")
            .file("x.jsonl", call(&format!("{{{}}}", keys.join(","))))
            .file("s.toml", loops)
            .says("1 run of 1 task"),
        row("arguments of 2 million zeros", "compare x.jsonl --stacks s.toml")
            .file("x.jsonl", call(&format!("[{}0]", "0,".repeat(2_000_000))))
            .file("s.toml", loops)
            .says("1 run of 1 task")
            .megabytes(64),
        row("arguments of 2 million zeros, before every preset", "compare x.jsonl --stacks preset:all")
            .file("x.jsonl", call(&format!("[{}0]", "0,".repeat(2_000_000))))
            .says("1 run of 1 task")
            .megabytes(96),
        row("arguments of 2 million zeros, redacted", "convert x.jsonl --redact --out out.jsonl")
            .file("x.jsonl", call(&format!("[{}0]", "0,".repeat(2_000_000))))
            .says("1 run written")
            .megabytes(64),
        row("2 million calls that are none", "corpus x.jsonl")
            .file("x.jsonl", run("b").replace("\"x\"", &format!("\"x\",\"tool_calls\":[{}0]", "0,".repeat(2_000_000))))
            .runs(1)
            .says("`tool call` should be an object")
            .says("… and 1999001 more findings")
            .megabytes(64),
        row("values one behind the other keep their places", "corpus x.json")
            .file("x.json", {
                let begin = "{\"type\":\"run\",\"run_id\":\"b\"}{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}";
                [begin, "{\"type\":7} {\"type\":8}{\"type\":9}"].concat()
            })
            .says("x.json:1:87")
            .says("x.json:1:98")
            .says("x.json:1:108"),
        row("2 million zeros in a log of requests", "corpus . --why")
            .file("x.jsonl", format!(
                "{{\"request\":{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}},\"response\":{{\"id\":\"r\",\"model\":\"m\",\"choices\":[{{\"message\":{{\"role\":\"assistant\",\"content\":\"x\",\"zeros\":[{}0]}}}}]}}}}\n", "0,".repeat(2_000_000)))
            .between_good_ones()
            .runs(2)
            .says("so many and so short values")
            .says("x.jsonl:1:")
            .megabytes(64),
        row("20,000 ids alike in 120 characters", "convert x.jsonl --out out")
            .file("x.jsonl", (0..3000).map(|nth| run(&format!("{}{nth}", "x".repeat(120)))).collect::<String>())
            .says("3000 runs written"),
        row("a line longer than the limit", "corpus .")
            .file(
                "x.jsonl",
                format!(
                    "{}{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{}\"}}\n",
                    run("b"),
                    "y".repeat(65 << 20)
                ),
            )
            .between_good_ones()
            .runs(3)
            .says("longer than 67108864 bytes")
            .says("x.jsonl:3")
            .megabytes(256),
    ]);
}

#[test]
fn what_is_written_is_read_back() {
    let note = |body: &str| format!("{}{{\"type\":\"note\",\"kind\":\"k\",\"body\":{body}}}\n", run("b"));
    let rows = ["null", " null ", "7", "{}", "\"\\u0000\"", "[null]"].map(|body| {
        row(format!("a note with the body {body}"), "corpus out.jsonl --strict")
            .file("x.jsonl", note(body))
            .prepare(|scratch| assert_eq!(scratch.run("convert x.jsonl --strict --out out.jsonl").0, 0))
            .runs(1)
            .says("outcome of 1 trace run: nobody graded it")
            .never_says("error:")
    });
    check(rows.into());
}
