//! Twice the input, twice the time? Inputs whose reading or replay once took a time that grew with the square of their
//! length, as whole commands.
//!
//! `cargo bench --bench scaling [-- NAME]` prints the seconds for n and for 2n and their ratio: 2 is linear, 4 is the square. They are seconds of
//! the processor where GNU time is there to ask (other work on the machine then counts little), and of the clock elsewhere.
#![expect(clippy::print_stdout, reason = "a bench says what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

type Made = fn(usize) -> String;

/// What is measured: its name, the smaller size, the input of a size, and the arguments behind the file.
const CASES: &[(&str, usize, Made, &str)] = &[
    ("runs of one id", 50_000, |n| runs(n, |_| "same".to_owned()), "corpus"),
    ("runs of ids of their own", 50_000, |n| runs(n, |nth| format!("r{nth}")), "corpus"),
    ("bad lines in a run", 400_000, |n| format!("{}{}", run("b"), "{\"type\":\"message\"\n".repeat(n)), "corpus"),
    (
        "bad elements in a line",
        200_000,
        |n| format!("[{}{}0]", run("b").trim().replace('\n', ","), ",7".repeat(n)),
        "corpus",
    ),
    (
        "calls that are none",
        500_000,
        |n| run("b").replace("\"x\"", &format!("\"x\",\"tool_calls\":[{}0]", "0,".repeat(n))),
        "corpus",
    ),
    ("values one behind the other", 50_000, |n| runs(n, |nth| format!("r{nth}")).replace('\n', ""), "corpus"),
    ("argument keys", 400_000, |n| call(&format!("{{{}\"k\":0}}", keys(n))), "compare --stacks preset:crewai"),
    ("calls in a step, crewai", 20_000, |n| steps(1, n), "compare --stacks preset:crewai"),
    ("calls in a step, hermes-agent", 20_000, |n| steps(1, n), "compare --stacks preset:hermes-agent"),
    ("steps, strands-agents", 20_000, |n| steps(n, 1), "compare --stacks preset:strands-agents"),
    ("steps, every preset", 5_000, |n| steps(n, 1), "compare --stacks preset:all"),
    ("spellings of a text, redacted", 20_000, spellings, "convert --redact"),
    ("ids alike in 120 letters", 1_500, |n| runs(n, |nth| format!("{}{nth}", "x".repeat(120))), "convert --out out"),
    ("files written again", 1_500, |n| runs(n, |nth| format!("r{nth}")), "convert --out again"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!("{:32} {:>8} {:>9} {:>9} {:>6}", "case", "n", "n", "2n", "ratio");
    for (name, n, made, arguments) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let (once, twice) = (seconds(&made(*n), arguments)?, seconds(&made(2 * n), arguments)?);
        println!("{name:32} {n:8} {once:8.2}s {twice:8.2}s {:6.2}", twice / once);
    }
    Ok(())
}

/// The program that tells the seconds of the processor.
const GNU_TIME: &str = "/usr/bin/time";

/// The shortest of three times the command takes; for files written again the first is not counted.
fn seconds(input: &str, arguments: &str) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("x.jsonl"), input)?;
    let mut best = f64::INFINITY;
    if arguments.contains("again") {
        run_once(folder.path(), arguments)?;
    }
    for _ in 0..3 {
        best = best.min(run_once(folder.path(), arguments)?);
    }
    Ok(best)
}

/// Runs the command; the seconds it took.
fn run_once(folder: &Path, arguments: &str) -> Result<f64, Box<dyn Error>> {
    let (command, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let timed = Path::new(GNU_TIME).exists();
    let mut program = Command::new(if timed { GNU_TIME } else { env!("CARGO_BIN_EXE_whenstop") });
    if timed {
        program.args(["-o", "seconds.txt", "-f", "%U %S", env!("CARGO_BIN_EXE_whenstop")]);
    }
    let before = Instant::now();
    program.current_dir(folder).arg(command).arg("x.jsonl").args(rest.split_whitespace());
    let status = program.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let passed = before.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("{arguments}: {status}").into());
    }
    if !timed {
        return Ok(passed);
    }
    let seconds = std::fs::read_to_string(folder.join("seconds.txt"))?;
    Ok(seconds.split_whitespace().map(str::parse::<f64>).sum::<Result<f64, _>>()?)
}

fn run(id: &str) -> String {
    format!(
        "{{\"type\":\"run\",\"run_id\":\"{id}\"}}\n{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}}\n"
    )
}

fn runs(n: usize, id: fn(usize) -> String) -> String {
    (0..n).map(|nth| run(&id(nth))).collect()
}

fn keys(n: usize) -> String {
    (0..n).fold(String::new(), |mut keys, nth| {
        let _ = write!(keys, "\"k{nth}\":{nth},");
        keys
    })
}

fn call(arguments: &str) -> String {
    run("b")
        .replace("\"x\"", &format!("\"x\",\"tool_calls\":[{{\"id\":\"c\",\"name\":\"t\",\"arguments\":{arguments}}}]"))
}

/// A run of so many steps with so many calls each, all answered.
fn steps(steps: usize, calls: usize) -> String {
    let mut text = "{\"type\":\"run\",\"run_id\":\"b\"}\n".to_owned();
    for step in 0..steps {
        let ids = || (0..calls).map(|nth| format!("c{step}-{nth}"));
        let asked: Vec<String> =
            ids().map(|id| format!("{{\"id\":\"{id}\",\"name\":\"t\",\"arguments\":{{\"a\":\"{id}\"}}}}")).collect();
        let asked = asked.join(",");
        let _ =
            writeln!(text, "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{asked}]}}");
        for id in ids() {
            let answer = "\"content\":\"x\",\"is_error\":false";
            let _ = writeln!(text, "{{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"{id}\",{answer}}}");
        }
    }
    text
}

/// Calls with one text in as many spellings: each letter as it is or as an escape.
fn spellings(n: usize) -> String {
    let mut text = "{\"type\":\"run\",\"run_id\":\"b\"}\n".to_owned();
    for nth in 0..n {
        let letters = (0..20).map(|bit| if nth >> bit & 1 == 1 { "\\u0061" } else { "a" }).collect::<String>();
        let asked = format!("{{\"id\":\"c{nth}\",\"name\":\"t\",\"arguments\":{{\"a\":\"{letters}\"}}}}");
        let _ =
            writeln!(text, "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{asked}]}}");
    }
    text
}
