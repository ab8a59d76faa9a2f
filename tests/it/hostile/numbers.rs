//! Rows about numbers that no recording can mean.

use super::{Row, check, row, run};

/// A run whose only message has these fields besides.
fn with(fields: &str) -> String {
    run("b").replace("\"x\"", &format!("\"x\",{fields}"))
}

fn message(name: &str, fields: &str, says: &str) -> Row {
    row(name, "corpus . --format json").file("x.jsonl", with(fields)).says(says).never_says("inf").never_says("NaN")
}

#[test]
fn numbers_beyond_reason_are_told_and_left_out() {
    let cost = |value: &str| with(&format!("\"cost_usd\":{value}"));
    check(vec![
        message("a negative cost", "\"cost_usd\":-5", "`cost_usd` should be dollars, from 0 to a billion, not `-5`")
            .says("\"cost_usd\": null"),
        message("a cost of 1e308", "\"cost_usd\":1e308", "from 0 to a billion, not `1e308`").says("\"cost_usd\": null"),
        message("a cost of 1e999", "\"cost_usd\":1e999", "from 0 to a billion, not `1e999`"),
        message("a cost in words", "\"cost_usd\":\"much\"", "from 0 to a billion"),
        message(
            "tokens below 0",
            "\"usage\":{\"input\":-1,\"output\":1}",
            "`usage.input` should be a whole number, 0 or more, not `-1`",
        ),
        message(
            "tokens beyond 64 bits",
            "\"usage\":{\"input\":99999999999999999999,\"output\":1}",
            "`usage.input` should be",
        ),
        message("tokens in words", "\"usage\":{\"input\":\"many\",\"output\":1}", "`usage.input` should be"),
        message(
            "tokens beyond what any model counts",
            "\"usage\":{\"input\":18446744073709551615,\"output\":18446744073709551615}",
            "`usage.input` should be a whole number, 0 or more, not `18446744073709551615`",
        ),
        message("a time that is none", "\"ts\":\"yesterday\"", "`ts` should be a time"),
        message("a time beyond all calendars", "\"ts\":\"999999-01-01T00:00:00Z\"", "`ts` should be a time"),
        row("costs that overflow when they are added", "compare x.jsonl --stacks s.toml --format json")
            .file("x.jsonl", format!("{}{}", cost("1e308"), cost("1e308").replace("\"b\"", "\"c\"")))
            .file("s.toml", STACK)
            .says("`cost_usd` should be dollars, from 0 to a billion, not `1e308`")
            .never_says("inf"),
        row("a price below 0", "corpus x.jsonl --price p.toml")
            .file("x.jsonl", run("b"))
            .file("p.toml", "[m]\ninput = -1\noutput = 1\n")
            .exit(2)
            .says("p.toml:2:"),
        row("a price without bounds", "corpus x.jsonl --price p.toml")
            .file("x.jsonl", run("b"))
            .file("p.toml", "[m]\ninput = inf\noutput = 1\n")
            .exit(2)
            .says("p.toml:2:"),
        row("a price that makes a cost without bounds", "corpus x.jsonl --price p.toml")
            .file("x.jsonl", with("\"model\":\"m\",\"usage\":{\"input\":1000000,\"output\":1}"))
            .file("p.toml", "[m]\ninput = 1e300\noutput = 1\n")
            .says("tokens and price make no plausible cost"),
    ]);
}

const STACK: &str = "[[stack]]\nname = \"l\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

#[test]
fn labels_and_options_beyond_reason_are_refused() {
    let label = |name: &str, rest: &str, says: &str| {
        row(name, "corpus x.jsonl --labels l.csv")
            .file("x.jsonl", run("b"))
            .file("l.csv", format!("run_id,success,score,secured_step\nb,{rest}\n"))
            .runs(1)
            .says(says)
    };
    let step = |n: &str| format!("{}{{\"type\":\"outcome\",\"success\":true,\"secured_step\":{n}}}\n", run("b"));
    check(vec![
        label("a score that is no number", "true,NaN,", "`NaN` is no value of `score`").says("l.csv:2"),
        label("a score without bounds", "true,inf,", "`inf` is no value of `score`"),
        label("a step below 0", "true,1,-1", "`-1` is no value of `secured_step`"),
        label("a grade nobody gives", "maybe,1,", "`maybe` is no value of `success`"),
        label("a step beyond 32 bits", "true,1,4294967296", "`4294967296` is no value of `secured_step`"),
        row("a recorded step beyond 32 bits", "corpus x.jsonl")
            .file("x.jsonl", step("4294967296"))
            .runs(1)
            .says("`secured_step` should be a step, from 0, not `4294967296`"),
        row("more threads than there can be", "--threads 65535 corpus x.jsonl")
            .file("x.jsonl", run("b"))
            .runs(1)
            .says("65535 threads asked for; 256 are used")
            .megabytes(1024),
        row("no thread", "--threads 0 corpus x.jsonl").file("x.jsonl", run("b")).exit(2).says("--threads"),
    ]);
}

#[test]
fn screenshots_and_results_are_told_apart_by_what_they_hold() {
    let step = |n: u32, picture: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"{n}\",\"name\":\"look\",\"arguments\":{{}}}}]}}\n\
             {{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"{n}\",\"content\":[{{\"type\":\"image\",\"data\":\"{picture}\"}}]}}\n"
        )
    };
    let looks = |pictures: [&str; 4]| {
        let steps: String = (0..).zip(pictures).map(|(n, picture)| step(n, picture)).collect();
        format!(
            "{{\"type\":\"run\",\"run_id\":\"b\"}}\n{steps}{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\"}}\n"
        )
    };
    let stack = "[[stack]]\nname = \"l\"\nany = [{ signal = \"call_result.streak\", at_least = 3 }]\n";
    let told = |name: &str, text: String, says: &str| {
        row(name, "explain x.jsonl --stacks s.toml --run b").file("x.jsonl", text).file("s.toml", stack).says(says)
    };
    let unanswered = looks(["AAAA"; 4])
        .lines()
        .filter(|line| !line.contains("\"tool\""))
        .fold(String::new(), |text, line| text + line + "\n");
    check(vec![
        told("four screenshots that differ", looks(["AAAA", "BBBB", "CCCC", "DDDD"]), "ran to the end"),
        told("one screenshot four times", looks(["AAAA"; 4]), "call_result.streak").never_says("ran to the end"),
        told("no result recorded", unanswered, "tool results"),
    ]);
}
