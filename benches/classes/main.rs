//! Worlds of known truth through the program: certificates by class, forecasts, benchmarks.
//!
//! `cargo bench --bench classes [-- --corpora N --only WORLD --program PATH]` draws N corpora of every world (default 300),
//! or of those whose name contains WORLD, runs `whenstop` (or the program at PATH) on each, prints what came of it and fails
//! if something printed misses its target by more than chance allows. Everything is seeded.
#![expect(clippy::print_stdout, reason = "a bench says what it found")]

#[path = "../validity/study/random.rs"]
#[expect(dead_code, reason = "shared with another bench")]
mod random;
mod worlds;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use random::Random;
use rayon::prelude::*;
use serde_json::Value;

/// The program under test, if it is not the one built with this bench.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Runs `whenstop` on a corpus and returns its JSON document; a refusal (exit 100) prints one as well.
pub(crate) fn whenstop(folder: &Path, corpus: &str, stacks: &str, arguments: &[&str]) -> Value {
    std::fs::write(folder.join("runs.jsonl"), corpus).expect("the corpus is written");
    std::fs::write(folder.join("stacks.toml"), stacks).expect("the stacks are written");
    let output = Command::new(PROGRAM.get().map_or(env!("CARGO_BIN_EXE_whenstop"), String::as_str))
        .current_dir(folder)
        .args(arguments)
        .args(["--format", "json", "--quiet", "--threads", "1"])
        .output()
        .expect("whenstop starts");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// A run to be written.
pub(crate) struct Written {
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) suite: String,
    pub(crate) model: String,
    /// More fields of the run's line, each with a comma in front.
    pub(crate) more: String,
    pub(crate) success: bool,
    /// Model calls.
    pub(crate) steps: u64,
}

impl Written {
    /// Adds it to a corpus in whenstop's own format.
    pub(crate) fn write(&self, corpus: &mut String) {
        let Self { id, task, suite, model, more, success, steps } = self;
        let _ = writeln!(
            corpus,
            r#"{{"type":"run","run_id":"{id}","task_id":"{task}","suite":"{suite}","model":"{model}"{more}}}"#
        );
        for step in 1..*steps {
            let _ = writeln!(
                corpus,
                r#"{{"type":"message","role":"assistant","content":"{step}","tool_calls":[{{"id":"{step}","name":"look","arguments":{{"p":{step}}}}}]}}
{{"type":"message","role":"tool","tool_call_id":"{step}","content":"{id} {step}","is_error":false}}"#
            );
        }
        let _ = writeln!(
            corpus,
            r#"{{"type":"message","role":"assistant","content":"done"}}
{{"type":"outcome","success":{success},"end":"self_finish"}}"#
        );
    }
}

/// What is counted or averaged over corpora, with its target.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Finding {
    /// How often something happened: hits and trials, and the range in which the share should be.
    Share(&'static str, u64, u64, f64, f64),
    /// A share that was measured for each corpus.
    Mean(&'static str, f64, f64, f64),
    /// An error that should be 0 on average.
    Error(&'static str, f64),
}

/// A world: its name, what is drawn, run and found for one corpus, and whether it is always drawn in full.
type World = (&'static str, fn(&Path, &mut Random) -> Vec<Finding>);

const WORLDS: [World; 4] = [
    ("certificates by class", worlds::certificates),
    ("forecasts", worlds::forecasts),
    ("a benchmark", worlds::benchmark),
    ("a benchmark whose models are close", worlds::close_models),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| arguments[at + 1].clone());
    let corpora: u64 = value("--corpora").map_or(300, |n| n.parse().expect("a number of corpora"));
    let only = value("--only").unwrap_or_default();
    if let Some(program) = value("--program") {
        let _ = PROGRAM.set(program);
    }
    let mut is_kept = true;
    println!("world,measure,value,error,target,corpora");
    for (nth, (name, world)) in (0_u64..).zip(WORLDS).filter(|(_, (name, _))| name.contains(&*only)) {
        let findings: Vec<Vec<Finding>> = (0..corpora)
            .into_par_iter()
            .map(|corpus| {
                let folder = tempfile::tempdir().expect("a scratch folder");
                world(folder.path(), &mut Random::new(1_000_003 * nth + corpus))
            })
            .collect();
        is_kept &= told(name, &findings.into_iter().flatten().collect::<Vec<_>>(), corpora);
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints each measure of a world; false if one misses its target by more than chance allows (three standard errors, two
/// for an error that should be 0).
fn told(world: &str, findings: &[Finding], corpora: u64) -> bool {
    let mut names: Vec<&'static str> = Vec::new();
    for finding in findings {
        let (Finding::Share(name, ..) | Finding::Mean(name, ..) | Finding::Error(name, ..)) = finding;
        if !names.contains(name) {
            names.push(name);
        }
    }
    let mut is_kept = true;
    for name in names {
        let (mut values, mut target): (Vec<f64>, _) = (Vec::new(), (0.0, 0.0));
        let (mut hits, mut trials, mut is_share) = (0, 0, false);
        for finding in findings {
            match finding {
                Finding::Share(of, more, all, low, high) if *of == name => {
                    (hits, trials, is_share, target) = (hits + more, trials + all, true, (*low, *high));
                }
                Finding::Mean(of, value, low, high) if *of == name => {
                    values.push(*value);
                    target = (*low, *high);
                }
                Finding::Error(of, value) if *of == name => values.push(*value),
                _ => {}
            }
        }
        let (mean, error) = if is_share {
            let share = hits as f64 / trials as f64;
            (share, (share * (1.0 - share) / trials as f64).sqrt())
        } else {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / (n - 1.0) / n).sqrt())
        };
        let allowed = if is_share || target.1 > 0.0 { 3.0 } else { 2.0 } * error;
        let kept = mean >= target.0 - allowed && mean <= target.1 + allowed;
        println!(
            "{world},{name},{mean:.4},{error:.4},{}–{},{corpora}{}",
            target.0,
            target.1,
            if kept { "" } else { ",MISSED" }
        );
        is_kept &= kept;
    }
    is_kept
}
