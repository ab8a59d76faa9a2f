//! How `tune` fares on recordings: what it ships on all tasks, and over many draws of 70 % of the tasks, with the rest as the truth;
//! and over as many draws of tasks with replacement, all recordings as the truth.
//!
//! `cargo bench --bench tune [-- CORPORA [DRAWS [CASE]]]` reads `tau2`, `intercode` and `mini-swe-agent` below CORPORA (default
//! `../shared/corpora`) and prints Markdown tables. Draws are hashes: the same recordings print the same bytes.
#![expect(clippy::print_stdout, reason = "a bench prints its tables")]

mod draws;

use std::error::Error;
use std::path::{Path, PathBuf};

use whenstop::aggregate::{Rows, RowsBuilder, Unit};
use whenstop::catalog;
use whenstop::compare::Comparison;
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, ReadOptions};
use whenstop::sweep::engine::{Extract, Plan};
use whenstop::transcript::Run;
use whenstop::tune::{Family, KeptReadings, Study, StudyRun, catalogue, pool};
use whenstop::verdict::Assumptions;

/// Recordings under a name: where they are, which runs, what savings are counted in, and what the budget is in.
struct Case {
    name: &'static str,
    folder: &'static str,
    keep: fn(&Run) -> bool,
    unit: Option<Unit>,
    budget: &'static str,
}

const CASES: [Case; 6] = [
    Case { name: "InterCode, steps", folder: "intercode", keep: |_| true, unit: Some(Unit::Steps), budget: "steps" },
    Case { name: "tau2, steps", folder: "tau2", keep: |_| true, unit: Some(Unit::Steps), budget: "steps" },
    Case { name: "tau2, tokens", folder: "tau2", keep: has_tokens, unit: Some(Unit::Tokens), budget: "tokens.total" },
    Case {
        name: "tau2, tokens, budget of steps",
        folder: "tau2",
        keep: has_tokens,
        unit: Some(Unit::Tokens),
        budget: "steps",
    },
    Case {
        name: "mini-swe-agent",
        folder: "mini-swe-agent",
        keep: |_| true,
        unit: Some(Unit::Tokens),
        budget: "steps",
    },
    Case {
        name: "mini-swe-agent, budget of tokens",
        folder: "mini-swe-agent",
        keep: |_| true,
        unit: Some(Unit::Tokens),
        budget: "tokens.total",
    },
];

fn has_tokens(run: &Run) -> bool {
    run.replies().all(whenstop::transcript::Message::has_usage)
}

/// A case, read.
struct Recordings {
    study: Study,
    /// The same runs with the signals a list of rules may be made of.
    pool: Study,
    presets: Rows,
    /// The runs themselves, to be drawn from.
    extracts: Vec<Extract>,
    plan: Plan,
    budget: &'static str,
}

fn study_of(extracts: &[Extract], families: Vec<Family>, plan: &Plan) -> Study {
    let run = |on: &Extract| StudyRun::from_extract(on, &families, plan, KeptReadings::All);
    let runs = extracts.iter().map(run).collect();
    Study::new(runs, families)
}

fn read(case: &Case, corpora: &Path) -> Result<Recordings, Box<dyn Error>> {
    let families = pool(case.budget);
    let plan = Study::plan(&families);
    let strategies = catalog::all(FrameworkKind::Preset);
    let comparison = Comparison::new(&strategies, Assumptions::default());
    let corpus = Corpus::open(&[corpora.join(case.folder)], ReadOptions::default())?;
    let (mut extracts, mut rows) = (Vec::new(), RowsBuilder::default());
    corpus.process(
        |run| {
            (case.keep)(&run)
                .then(|| (Extract::from_run(&run, &plan, Assumptions::default()), comparison.rows_of(&run).0))
        },
        |of_run| {
            if let Some((extract, of_run)) = of_run {
                extracts.push(extract);
                rows.extend(of_run);
            }
        },
    )?;
    let in_unit = |study: Study| match case.unit {
        Some(unit) => study.in_unit(unit),
        None => study,
    };
    let study = in_unit(study_of(&extracts, catalogue(case.budget), &plan));
    let pool = in_unit(study_of(&extracts, families, &plan));
    let presets = rows.finish();
    Ok(Recordings { study, pool, presets, extracts, plan, budget: case.budget })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let corpora = PathBuf::from(arguments.next().unwrap_or_else(|| "../shared/corpora".to_owned()));
    let n_draws: u64 = arguments.next().map_or(Ok(100), |n| n.parse())?;
    let wanted = arguments.next();
    for case in CASES.iter().filter(|case| wanted.as_ref().is_none_or(|wanted| case.name.contains(wanted.as_str()))) {
        let recordings = read(case, &corpora)?;
        println!("\n## {}\n", case.name);
        draws::tell(&recordings, n_draws);
        draws::broken(&recordings, n_draws);
    }
    Ok(())
}
