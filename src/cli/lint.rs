//! `whenstop rules lint`: finds unit traps in a stack file and the configurations it names, and rules that a corpus shows to
//! be dead or shadowed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::ProgramExit;
use super::compare::{GatheredRuns, gather};
use super::failure::CommandFailure;
use super::gate::{ReportFormat, lint_report};
use super::inputs::{CorpusArgs, READING, ReadingArgs, StackArgs, UnitOfRun, load_stack_file, read_config};
use super::output::Output;
use crate::aggregate::{Label, Rows, rule_shares};
use crate::catalog;
use crate::compare::EvaluationOptions;
use crate::diagnostic::{Diagnostic, Location, Severity, count};
use crate::review::LineFinding;
use crate::rule::Rule;
use crate::stack::{Entry, Scope, Stack, StackFile};
use crate::transcript::{PromptedBy, Run};

/// Arguments of `rules lint`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The stack file.
    #[arg(value_name = "FILE")]
    stacks: PathBuf,
    /// Recordings on which to find dead and shadowed rules.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Exit with 100 if there is a warning.
    #[arg(long)]
    deny_warnings: bool,
    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    #[command(flatten, next_help_heading = READING)]
    reading: ReadingArgs,
}

/// `whenstop rules lint`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let (file, _) = load_stack_file(&args.stacks).map_err(CommandFailure::usage)?;
    let mut warnings = catalog::warnings(&file, &|config| read_config(&args.stacks, config));
    if !args.paths.is_empty() {
        let corpus = CorpusArgs { paths: args.paths.clone(), reading: args.reading.clone(), unit: UnitOfRun::Run };
        let stacks = StackArgs::named(vec![args.stacks.display().to_string()]).load_some()?;
        let gathered = gather(&corpus.runs(), &stacks, &EvaluationOptions::default(), output)?;
        let named = NameIndex::from_file(&file);
        warnings.extend(corpus_warnings(&gathered, &named));
        warnings.extend(session_warnings(&corpus, &named)?);
    }
    let findings: Vec<LineFinding> = warnings.iter().map(LineFinding::from_lint).collect();
    let exit = if args.deny_warnings && !warnings.is_empty() { ProgramExit::GateFailed } else { ProgramExit::Done };
    if let Some(report) = lint_report(args.format, &findings)? {
        output.bytes(report.as_bytes());
        return Ok(exit);
    }
    for warning in &warnings {
        output.data(&format!("{}\n\n", warning.render(Severity::Warning)));
    }
    output.data(&format!("{}\n", count(warnings.len() as u64, "warning")));
    Ok(exit)
}

/// Where the stacks and clauses of a file stand, by their names.
struct NameIndex<'f> {
    file: &'f StackFile,
    stacks: HashMap<&'f str, usize>,
    /// The first clause of each name in each stack.
    clauses: HashMap<(usize, &'f str), usize>,
}

impl<'f> NameIndex<'f> {
    fn from_file(file: &'f StackFile) -> Self {
        let (mut stacks, mut clauses) = (HashMap::new(), HashMap::new());
        for (index, entry) in file.entries.iter().enumerate() {
            stacks.entry(entry.name()).or_insert(index);
            let Entry::Own(stack) = entry else { continue };
            for (nth, clause) in stack.clauses.iter().enumerate() {
                clauses.entry((index, clause.name.as_str())).or_insert(nth);
            }
        }
        Self { file, stacks, clauses }
    }

    /// A warning located at the clause with that name, or at the stack.
    fn warning(&self, stack: &str, rule: &str, what: String, help: &str) -> Diagnostic {
        let Some(&index) = self.stacks.get(stack) else { return Diagnostic::new(Location::default(), what, help) };
        let path = match self.clauses.get(&(index, rule)) {
            Some(nth) => format!("any.{nth}"),
            None if matches!(&self.file.entries[index], Entry::Own(stack) if stack.cap.is_some()) => "cap".to_owned(),
            None => "use".to_owned(),
        };
        self.file.places(index).at_name(&path, what, help)
    }
}

/// Warnings for rules that no run reached, that never fired first, or that many recordings cannot evaluate.
fn corpus_warnings(gathered: &GatheredRuns, named: &NameIndex<'_>) -> Vec<Diagnostic> {
    let stacks = &gathered.manifest.stacks;
    let stacks: Vec<(Label, Vec<Label>)> =
        stacks.iter().map(|stack| (stack.name.clone(), stack.rules.clone())).collect();
    let runs = gathered.evidence.rows.len() / stacks.len().max(1);
    let missing = missing_rules(&gathered.evidence.rows);
    let mut most_missing: HashMap<(&str, &str), usize> = HashMap::new();
    for ((stack, rule, _), n) in &missing {
        let most = most_missing.entry((stack, rule)).or_default();
        *most = (*most).max(*n);
    }
    let mut warnings = Vec::new();
    for share in rule_shares(&stacks, &gathered.evidence.rows, &gathered.evidence.firings) {
        let n_missing = most_missing.get(&(&*share.stack, &*share.rule)).copied().unwrap_or(0);
        let evaluable = runs - n_missing.min(runs);
        let name = format!("{}: `{}`", share.stack, share.rule);
        if share.stops > 0 || evaluable == 0 {
            continue;
        }
        let (what, help) = match share.fires {
            Some(0) => (
                format!("{name} is dead: none of {evaluable} runs reached it"),
                "lower its limit, or leave the rule out",
            ),
            Some(fires) => (
                format!("{name} is shadowed: it fires on {fires} of {evaluable} runs, never first"),
                "another rule always stops first: lower its limit, or leave it out",
            ),
            None => continue,
        };
        warnings.push(named.warning(&share.stack, &share.rule, what, help));
    }
    for ((stack, rule, need), n) in missing {
        let what = format!("{stack}: `{rule}` cannot be evaluated on {n} of {runs} runs: no {need}");
        warnings.push(named.warning(&stack, &rule, what, "what the stack would do on these runs is unknown"));
    }
    warnings
}

/// Warns about stacks whose counts run over whole sessions, if people prompted more than once in them.
fn session_warnings(corpus: &CorpusArgs, named: &NameIndex<'_>) -> Result<Vec<Diagnostic>, CommandFailure> {
    let rounds = |run: Run| if run.header.prompted_by == PromptedBy::Person { run.rounds().len() } else { 0 };
    let (mut people, mut sessions, mut all) = (0, 0, 0);
    corpus.open()?.process(rounds, |rounds| {
        people += usize::from(rounds > 0);
        sessions += usize::from(rounds > 1);
        all += rounds;
    })?;
    if sessions == 0 {
        return Ok(Vec::new());
    }
    let by_session = |stack: &Stack| {
        let counts = |rule: &&Rule| rule.signal.accumulates && rule.options.window.is_none();
        let clause = stack
            .clauses
            .iter()
            .find(|clause| clause.scope == Scope::Run && clause.condition.rules().iter().any(counts))?;
        let what = format!(
            "{}: `{}` counts over whole sessions: {sessions} of {people} sessions hold several rounds, {all} rounds in all",
            stack.name, clause.name
        );
        let help = "most hosts count by round: write `scope = \"round\"` in the stack, or compare with `--unit round`";
        Some(named.warning(&stack.name, clause.name.as_str(), what, help))
    };
    Ok(named.file.own().filter_map(|stack| by_session(stack)).collect())
}

/// Rules that some rows could not evaluate, with their stack and what they need, and the number of such rows.
fn missing_rules(rows: &Rows) -> BTreeMap<(Label, String, String), usize> {
    let mut missing = BTreeMap::new();
    for row in rows.iter() {
        for (rule, need) in row.not_evaluable().split("; ").filter_map(|part| part.rsplit_once(": no ")) {
            *missing.entry((row.stack().clone(), rule.to_owned(), need.to_owned())).or_default() += 1;
        }
    }
    missing
}
