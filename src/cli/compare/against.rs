//! `whenstop compare BEFORE --stacks S --against AFTER`: whether what was predicted of a limit came true.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use serde_json::json;

use super::Args;
use crate::aggregate::Label;
use crate::answers::tables::DataTable;
use crate::answers::{AgainstAnswer, AgainstLine, WhyNotCompared, tables, words};
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{ByArg, CorpusArgs, LoadedStacks, tell_troubles};
use crate::cli::output::{Output, TableFormat, lines_of};
use crate::compare::{BeforeAndAfter, LimitedRun};
use crate::report::figure::{AgainstFigure, save};
use crate::report::{PlainPage, refuse_foreign, write_atomically, write_folder, write_text};
use crate::stack::ToldLimit;

/// Arguments of a comparison with what really happened.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(in crate::cli) struct AgainstArgs {
    /// Recordings of the same tasks, made under the stack: says whether what the replay of the others predicts came true.
    /// Repeatable.
    #[arg(long, value_name = "PATH", group = "classed", conflicts_with_all = ["shard", "split", "baseline", "failure_rate"])]
    against: Vec<PathBuf>,
    /// Outcomes of the recordings given with `--against`, if they have files of their own; by default those of `--labels`.
    /// Repeatable.
    #[arg(long, value_name = "FILE", requires = "against", hide_short_help = true)]
    against_labels: Vec<PathBuf>,
    /// The largest error that counts as none, in points of the successes; by default 3.
    #[arg(long, value_name = "POINTS", value_parser = points, requires = "against", hide_short_help = true)]
    margin: Option<f64>,
}

/// How wide the table is, also where nobody knows how wide the terminal is.
const WIDTH: u16 = 80;
/// The largest error that counts as none, unless something else is said.
const MARGIN: f64 = 0.03;

/// Parses percentage points; returns a share.
fn points(text: &str) -> Result<f64, String> {
    let points: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if points > 0.0 && points <= 100.0 { Ok(points / 100.0) } else { Err("between 0 and 100 points".to_owned()) }
}

impl AgainstArgs {
    /// True if a comparison with what really happened is asked for.
    pub(in crate::cli) fn is_given(&self) -> bool {
        !self.against.is_empty()
    }

    /// The recordings before and after, each with its labels.
    fn sides(&self, corpus: &CorpusArgs, by: Option<&ByArg>) -> [CorpusArgs; 2] {
        let mut before = corpus.classed(by);
        let mut after = before.clone();
        after.paths.clone_from(&self.against);
        if self.against_labels.is_empty() {
            // One file of labels for both: each side has the runs of the other, too.
            before.reading.allow_unmatched_labels = true;
            after.reading.allow_unmatched_labels = true;
        } else {
            after.reading.labels.clone_from(&self.against_labels);
        }
        [before, after]
    }
}

/// A stack, as the comparison needs it.
struct NamedLimit {
    name: Label,
    steps: Option<u32>,
    told: Option<ToldLimit>,
}

/// The limits of the strategies, in their order, as far as stack files say what they are.
fn limits(loaded: &LoadedStacks) -> Vec<NamedLimit> {
    let mut limits = Vec::new();
    for strategy in &loaded.strategies {
        let name = strategy.name();
        let (steps, told) = (loaded.step_limit(name), loaded.told_limit(name));
        limits.push(NamedLimit { name: name.into(), steps, told });
    }
    limits
}

/// Compares, writes the folder if there is one, and shows the answer.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    const FILES: [&str; 5] = ["against.csv", "against-steps.csv", "against.png", "against.svg", "report.html"];
    if let Some(out) = &args.out {
        refuse_foreign(out, FILES.into_iter()).map_err(CommandFailure::input)?;
    }
    let loaded = args.stacks.load_some()?;
    let limits = limits(&loaded);
    let by = ByArg::by(args.by.as_ref());
    let caps: Vec<Option<u32>> = limits.iter().map(|limit| limit.steps).collect();
    let [before, after] = args.against.sides(&args.corpus, args.by.as_ref()).map(|corpus| {
        let mut runs = Vec::new();
        let read = |run| LimitedRun::replayed(&run, &loaded.strategies, &caps, by);
        corpus.process(output, read, |run| runs.push(run)).map(|_| runs)
    });
    let sides = BeforeAndAfter::new(before?, after?);
    tell_troubles(&loaded.strategies, args.corpus.reading.strict, output)?;
    let answer = answer(&sides, &limits, args.by.is_some(), args.against.margin.unwrap_or(MARGIN));
    let table = tables::against_columns().table(&answer.lines);
    let steps = tables::against_steps(&answer.lines);
    if let Some(out) = &args.out {
        write(out, &answer, (&table, &steps), output)?;
    }
    show(&answer, &table, &steps, args.format, output)?;
    if let Some(out) = &args.out {
        output.wrote_page(out);
    }
    Ok(if answer.is_empty() { ProgramExit::NothingMatched } else { ProgramExit::Done })
}

fn answer(sides: &BeforeAndAfter, limits: &[NamedLimit], has_classes: bool, margin: f64) -> AgainstAnswer {
    let mut classes = vec![None];
    if has_classes {
        classes.extend(sides.classes().into_iter().map(Some));
    }
    let mut lines = Vec::new();
    for (at, limit) in limits.iter().enumerate() {
        for class in &classes {
            let result = match limit.told {
                Some(ToldLimit { notice: None, .. }) => Err(WhyNotCompared::NoticeUnknown),
                _ => sides.check(at, class.as_ref(), margin).map_err(WhyNotCompared::Recordings),
            };
            lines.push(AgainstLine {
                stack: limit.name.clone(),
                class: class.clone(),
                told: limit.told,
                margin,
                unit: sides.unit(),
                unread: sides.unread(at),
                result,
            });
        }
    }
    AgainstAnswer { lines, ungraded: sides.ungraded() }
}

fn write(
    out: &Path,
    answer: &AgainstAnswer,
    (table, steps): (&DataTable, &DataTable),
    output: &Output,
) -> Result<(), CommandFailure> {
    let first = answer.lines.iter().find(|line| line.result.is_ok()).or(answer.lines.first());
    let sentence = first.map(words::against_line).unwrap_or_default();
    let figure = AgainstFigure { lines: &answer.lines, sentence };
    let sentences: Vec<String> = answer.lines.iter().map(words::against_line).collect();
    let overview = tables::against_overview(answer);
    write_folder(out, output.csv, |to| {
        write_atomically(&to.join("against.csv"), |file| table.write_csv(file))?;
        write_atomically(&to.join("against-steps.csv"), |file| steps.write_csv(file))?;
        let svg = save(&figure, to, "against")?;
        let page = PlainPage {
            title: "Predicted, then measured",
            headline: "What a replay said of each limit, and what happened when it was in force.",
            answer: &sentences,
            figure: &svg,
            table: &overview,
            notes: &words::against_notes(answer),
            files: "The numbers: against.csv; successes by step: against-steps.csv.",
        };
        write_text(&to.join("report.html"), &page.html())
    })
    .map_err(CommandFailure::input)
}

fn show(
    answer: &AgainstAnswer,
    table: &DataTable,
    steps: &DataTable,
    format: TableFormat,
    output: &Output,
) -> Result<(), CommandFailure> {
    let sentences: Vec<String> = answer.lines.iter().map(words::against_line).collect();
    match format {
        TableFormat::Table => {}
        TableFormat::Json => {
            output.json(&json!({
                "schema_version": 1,
                "sentences": sentences,
                "against": table.to_json(),
                "steps": steps.to_json(),
            }));
            return Ok(());
        }
        format => return output.table(table, format),
    }
    for sentence in &sentences {
        output.paragraph(sentence);
    }
    if answer.is_empty() {
        return Ok(());
    }
    let overview = tables::against_overview(answer);
    output.data("\n");
    output.data(&overview.to_terminal(WIDTH));
    let said: Vec<&str> = sentences.iter().map(String::as_str).collect();
    output.notes(lines_of(&said, &[&overview]) + 1, &words::against_notes(answer));
    Ok(())
}
