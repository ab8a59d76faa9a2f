//! `whenstop tune --grid FILE`: tries every stack of a grid.

mod cache;
mod findings;
mod forward;
mod manifest;
mod parts;
mod recordings;
mod results;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::decided::{decide, tuned_file};
use super::limits::shippable;
use super::part_runs::write_grid;
use super::{Args, CommandFailure, Output, ProgramExit, nothing_today, promise, settings, told};
use crate::aggregate::{Count, Unit};
use crate::answers::tables::{self, KeptStack};
use crate::cli::destination::Destination;
use crate::cli::inputs::{SplitArgs, SplitPart, read_text, tell_troubles};
use crate::cli::interrupt::Listening;
use crate::cli::output::TableFormat;
use crate::decision::NumberOf;
use crate::diagnostic::{Diagnostic, Location};
use crate::report::figure::{self, HeatFigure, save};
use crate::report::{cannot_write, refuse_foreign, write_atomically, write_folder};
use crate::snapshot::known_or;
use crate::sweep::engine::{Extract, GridWalk, Plan, Runs, Tally};
use crate::sweep::{Find, GridFile, GridKind, GridQuestion, Search, WideGrid};
use crate::words::grouped;
pub(super) use parts::show_parts;
use recordings::GridRecordings;
use results::GridResults;

/// Arguments for a grid.
#[derive(Debug, clap::Args)]
pub(super) struct GridArgs {
    /// A grid file: tries every stack that takes one rule from each of its axes; `whenstop help tune --full` shows one.
    #[arg(long = "grid", value_name = "FILE",
        conflicts_with_all = ["learn", "lost_success_costs", "signal", "today", "anytime"])]
    pub(super) file: Option<PathBuf>,
    /// How many stacks of a grid are kept for each objective, in addition to the frontier [default: 10].
    #[arg(long, value_name = "N", requires = "file", hide_short_help = true)]
    best: Option<usize>,
    /// Also write `sweep-all.csv`: one line for every stack of the grid.
    #[arg(long, requires_all = ["file", "out"], hide_short_help = true)]
    all_stacks: bool,
    /// Also write `sweep-rows.csv`: one row per run and stack that is kept.
    #[arg(long, requires_all = ["file", "out"], hide_short_help = true)]
    rows: bool,
    /// Store what the rules of a grid read in this folder: the next time, the same recordings are not read again; with
    /// more rules they are read once more. Entries are only used for exactly these inputs, options and version; the
    /// folder may be deleted at any time.
    #[arg(long, value_name = "DIR", requires = "file", conflicts_with = "shard", hide_short_help = true)]
    cache: Option<Destination>,
    /// Refuse a grid with more stacks than this.
    #[arg(long, value_name = "N", default_value_t = 100_000_000, requires = "file", hide_short_help = true)]
    pub(super) most: u64,
}

impl GridArgs {
    /// Refuses options of a walk for `what`, whose stacks are all compared and all written.
    pub(super) fn refuse_walk(&self, what: &str) -> Result<(), CommandFailure> {
        let given = [
            ("--best", self.best.is_some()),
            ("--all-stacks", self.all_stacks),
            ("--rows", self.rows),
            ("--cache", self.cache.is_some()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let help = "leave it out: each of these stacks is compared, and `--out` writes the lines and rows of all";
        let what = format!("`{option}` is for grids of rules, and these are {what}");
        Err(CommandFailure::arguments(what, help))
    }
}

/// The files that are written whatever was found.
const FILES: [&str; 4] = ["manifest.json", "sweep.md", "sweep.csv", "stacks.toml"];
/// Maximum lines of the table: fits a screen.
const SHOWN: usize = 12;
/// Maximum cells of a heat map that is still readable.
const MOST_CELLS: u64 = 10_000;

/// The results of the walk.
pub(super) struct Walked {
    pub(super) finds: Vec<Find>,
    pub(super) tried: u64,
    /// Number of stacks reached.
    pub(super) reached: u64,
    pub(super) interrupted: bool,
    pub(super) unit: Unit,
    pub(super) scale: f64,
    /// For a grid of two axes, the result of every pair.
    cells: Vec<Option<Tally>>,
}

impl Walked {
    /// The stack at the place that was chosen.
    fn chosen(&self, place: Option<usize>) -> Option<&Find> {
        self.finds.get(place?)
    }
}

/// How much better the chosen stack looks on the dev tasks than on the test tasks, in words.
fn points(optimism: Option<f64>) -> String {
    known_or("undefined", optimism.map(|gap| format!("{:+.1} points", gap * 100.0)))
}

/// `whenstop tune --grid FILE`.
pub(super) fn run(args: &Args, path: &Path, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let help = "`--grid` takes a grid file; `whenstop help tune --full` shows one";
    let text = read_text(path, help).map_err(CommandFailure::usage)?;
    let guards = args.guards.numbers()?;
    let file = GridFile::parse(&path.display().to_string(), &text, &guards).map_err(CommandFailure::usage)?;
    match file.kind() {
        GridKind::Rules => {}
        GridKind::ToldCaps => {
            args.grid.refuse_walk("caps that the agent is told of")?;
            return decide(args, &told::stacks(args, &file)?, output);
        }
        GridKind::Settings(axes) => {
            args.grid.refuse_walk("settings of a framework")?;
            return decide(args, &settings::grid_stacks(&file, axes, args.grid.most)?, output);
        }
    }
    let format = args.format.table_format().ok_or_else(|| nothing_today("--grid"))?;
    if args.own.label_errors().is_some() {
        let what = "errors of labels are for limits of your own: `--signal … --limits …`";
        let help = "leave them out: a grid takes the outcomes as they are";
        return Err(CommandFailure::arguments(what, help));
    }
    let question = question(args, path, text);
    let mut plan = Plan::default();
    file.plan(&mut plan);
    if let (Some(shard), Some(out)) = (args.shard, &args.out) {
        return write_grid(args, question, &plan, shard, out, output);
    }
    if let (Some(out), None) = (&args.out, args.walk_forward) {
        refuse_foreign(out, FILES.into_iter()).map_err(CommandFailure::input)?;
    }
    let recordings = recordings::read(args, &plan, output)?;
    let asked: Vec<_> = guards.numbers().filter_map(NumberOf::strategy).cloned().collect();
    tell_troubles(&asked, args.corpus.reading.strict, output)?;
    if let Some(by) = args.walk_forward {
        return forward::run(args, by, (&question, &file), &plan, recordings, output);
    }
    let grid = grid_of(&question, &file, &plan, &recordings)?;
    let split = &args.own.split;
    let sweep = Sweep { question: &question, split, grid: &grid, plan: &plan, recordings: &recordings, output };
    sweep.answer(format, args.out.as_deref())
}

fn question(args: &Args, path: &Path, text: String) -> GridQuestion {
    let GridArgs { best, all_stacks, rows, most, .. } = args.grid;
    GridQuestion {
        path: path.display().to_string(),
        text,
        max_killed: args.promise.max_killed,
        confidence: args.promise.confidence,
        most,
        best: best.unwrap_or(10),
        all_stacks,
        rows,
    }
}

/// The grid, with the limits that it takes from these recordings.
fn grid_of(
    question: &GridQuestion,
    file: &GridFile,
    plan: &Plan,
    recordings: &GridRecordings,
) -> Result<WideGrid, CommandFailure> {
    let searched: Vec<&Extract> = recordings.searched().iter().collect();
    let grid = file.grid(&searched, plan).map_err(CommandFailure::usage)?;
    if grid.len() > question.most {
        let what = format!("{} stacks; the most are {}", grouped(grid.len()), grouped(question.most));
        let sizes: Vec<String> = grid.axes.iter().map(|axis| axis.choices.len().to_string()).collect();
        let help = format!("its axes have {} choices: shorten them, or allow more with `--most`", sizes.join(" × "));
        return Err(CommandFailure::usage(Diagnostic::new(Location::file(&question.path), what, help)));
    }
    Ok(grid)
}

fn exit(walked: &Walked, judged: &GridResults) -> ProgramExit {
    if walked.interrupted {
        ProgramExit::Interrupted
    } else if judged.ship.is_some() {
        ProgramExit::Done
    } else {
        ProgramExit::GateFailed
    }
}

/// A grid over recordings.
struct Sweep<'a> {
    question: &'a GridQuestion,
    split: &'a SplitArgs,
    grid: &'a WideGrid,
    plan: &'a Plan,
    recordings: &'a GridRecordings,
    output: &'a Output,
}

impl Sweep<'_> {
    /// Walks the grid, shows the answer, and writes the requested folder.
    fn answer(&self, format: TableFormat, out: Option<&Path>) -> Result<ProgramExit, CommandFailure> {
        let Some(out) = out else {
            let walked = self.walk(None).map_err(|error| CommandFailure::internal(&error))?;
            let judged = self.judge(&walked);
            self.show(&walked, &judged, format)?;
            return Ok(exit(&walked, &judged));
        };
        let mut done = None;
        let write_all = |folder: &Path| {
            let walked = if self.question.all_stacks {
                let mut walked = None;
                write_atomically(&folder.join("sweep-all.csv"), |file| {
                    walked = Some(self.walk(Some(file))?);
                    Ok(())
                })?;
                walked
            } else {
                Some(self.walk(None).map_err(|error| cannot_write(folder, &error))?)
            };
            let Some(walked) = walked else { return Ok(()) };
            let judged = self.judge(&walked);
            self.write(folder, &walked, &judged)?;
            done = Some((walked, judged));
            Ok(())
        };
        write_folder(out, self.output.csv, write_all).map_err(CommandFailure::input)?;
        let Some((walked, judged)) = done else { return Err(CommandFailure::internal(&"the walk had no result")) };
        self.show(&walked, &judged, format)?;
        self.output.note(&format!("written to {}", out.display()));
        Ok(exit(&walked, &judged))
    }

    /// Walks the grid; writes a line for every stack to `all`.
    fn walk(&self, mut all: Option<&mut dyn Write>) -> io::Result<Walked> {
        let product = self.grid.product();
        let mut plan = self.plan.clone();
        let atoms =
            GridWalk::plan(product, &mut plan).ok_or_else(|| io::Error::other("a rule that does more than stop"))?;
        if plan.features().len() > self.plan.features().len() || plan.needs().len() > self.plan.needs().len() {
            return Err(io::Error::other("a rule reads what was not planned for"));
        }
        let unit = Runs::unit_of(self.recordings.searched());
        let runs = Runs::from_extracts(self.recordings.searched(), unit);
        let walk = GridWalk::new(product, &atoms, &runs)
            .ok_or_else(|| io::Error::other("the recordings lack more than 128 different things"))?;
        let mut search = Search::new(self.grid, self.question.max_killed, self.question.best);
        let mapped = if self.grid.axes.len() == 2 && self.grid.len() <= MOST_CELLS { self.grid.len() } else { 0 };
        let mut cells = vec![None; usize::try_from(mapped).unwrap_or(0)];
        let (listening, bar) = (Listening::start(), self.output.counted(self.grid.len(), "stacks"));
        let (chunks, batch) = (walk.n_chunks(), rayon::current_num_threads().max(1) as u64 * 4);
        let (mut next, mut reached, mut interrupted) = (0, 0, false);
        while next < chunks && !interrupted {
            let to = (next + batch).min(chunks);
            let told = walk.chunks(next, to);
            for (index, tally) in &told {
                search.take(*index, tally);
                if let Ok(at) = usize::try_from(*index)
                    && let Some(cell) = cells.get_mut(at)
                {
                    *cell = Some(*tally);
                }
            }
            if let Some(all) = &mut all {
                tables::grid_lines(self.grid, &told, unit, runs.scale()).write_csv_part(*all, next == 0)?;
            }
            reached += told.len() as u64;
            bar.set_position(reached);
            next = to;
            interrupted = listening.has_come() && next < chunks;
        }
        bar.finish_and_clear();
        let (finds, tried, scale) = (search.finds(), search.tried(), runs.scale());
        Ok(Walked { finds, tried, reached, interrupted, unit, scale, cells })
    }

    fn kept<'k>(walked: &'k Walked, judged: &'k GridResults) -> Vec<KeptStack<'k>> {
        let shares = judged.spread.shares.iter().copied().chain(std::iter::repeat(None));
        let kept = walked.finds.iter().zip(&judged.summaries).zip(shares);
        kept.map(|((find, summary), resamples_on_frontier)| KeptStack { find, summary, resamples_on_frontier })
            .collect()
    }

    /// What was swept over which recordings.
    fn headline(&self, walked: &Walked) -> String {
        let graded = self.recordings.searched().iter().filter_map(|on| on.shared().facts().outcome().grade());
        let (runs, successes) = (self.recordings.searched().len(), graded.clone().filter(|success| *success).count());
        let part = match self.split.split {
            SplitPart::None => "",
            SplitPart::Dev | SplitPart::Test => " of the dev tasks",
        };
        let reached = if walked.interrupted {
            format!("interrupted after {} of {} stacks", grouped(walked.reached), grouped(self.grid.len()))
        } else {
            format!("{} stacks", grouped(walked.tried))
        };
        format!("{reached} on {runs} runs{part}: {successes} successes, {} failures", graded.count() - successes)
    }

    fn notes(&self, walked: &Walked, judged: &GridResults) -> Vec<String> {
        let mut notes = Vec::new();
        match (self.recordings.chosen_on.is_some(), judged.chosen, &judged.choice) {
            (true, Some(_), Some(choice)) => notes.push(format!(
                "searched and chosen on the dev tasks, reported on the test tasks; optimism (dev minus test): killed {}, \
                 saved {}",
                points(choice.optimism_killed_rate),
                points(choice.optimism_saved_share)
            )),
            (true, ..) => notes.push("searched on the dev tasks, reported on the test tasks".to_owned()),
            (false, Some(_), _) => notes.push(format!(
                "found among {} stacks on the same runs, so it looks better than it is: `--split test` reports on others",
                grouped(walked.tried)
            )),
            (false, None, _) => {}
        }
        let ungraded =
            self.recordings.searched().iter().filter(|on| on.shared().facts().outcome().grade().is_none()).count();
        if ungraded > 0 {
            notes.push(format!("{ungraded} runs that nobody graded are in no rate and no saving"));
        }
        let dark = judged.summaries.iter().map(|summary| summary.counted(Count::NotEvaluableRuns)).max().unwrap_or(0);
        if dark > 0 {
            notes.push(format!("{dark} runs lack what a rule reads and are left out where it is used"));
        }
        if walked.interrupted {
            notes.push(
                "the stacks that were not reached may be better: this is no answer over the whole grid".to_owned(),
            );
        }
        notes
    }

    /// The stacks that are shown: the chosen one, then those of the frontier.
    fn shown<'s, 'k>(&self, kept: &'s [KeptStack<'k>], judged: &GridResults, unit: Unit) -> Vec<&'s KeptStack<'k>> {
        let saved = |of: &KeptStack<'_>| of.summary.ratios_in(unit).useful.low.value.unwrap_or(f64::NEG_INFINITY);
        let killed = |of: &KeptStack<'_>| of.summary.fes_rate().high.value.unwrap_or(1.0);
        let chosen = judged.chosen.and_then(|at| kept.get(at));
        let index = chosen.map(|chosen| chosen.find.index);
        let mut others: Vec<&KeptStack<'_>> =
            kept.iter().filter(|of| of.find.on_frontier && index != Some(of.find.index)).collect();
        // Tolerated stacks by what they save, the others by what they kill.
        others.sort_by(|a, b| {
            let beyond = |of: &KeptStack<'_>| killed(of) > self.question.max_killed;
            beyond(a)
                .cmp(&beyond(b))
                .then_with(|| if beyond(a) { killed(a).total_cmp(&killed(b)) } else { saved(b).total_cmp(&saved(a)) })
        });
        chosen.into_iter().chain(others).take(SHOWN).collect()
    }

    /// The stack to ship as a file, with the grounds on which it was chosen.
    fn tuned(&self, walked: &Walked, judged: &GridResults) -> Option<String> {
        let (find, summary) = judged.shipped(walked)?;
        let facts = self.recordings.reported.iter().map(|on| on.shared().facts());
        let agents: BTreeSet<String> = facts.filter_map(|facts| facts.agent().map(str::to_owned)).collect();
        let promise = promise(self.question.max_killed, self.question.confidence);
        tuned_file(&shippable(&self.grid.stack(find.index)), promise, summary, &judged.rows, &agents)
    }

    /// All kept stacks as a stack file, the chosen one first.
    fn stacks(&self, walked: &Walked, judged: &GridResults) -> String {
        let mut text = format!("# The stacks that `whenstop tune --grid` kept: {}.\n", self.headline(walked));
        let chosen = walked.chosen(judged.chosen);
        let is_chosen = |find: &Find| matches!(chosen, Some(chosen) if chosen.index == find.index);
        let others = walked.finds.iter().filter(|find| !is_chosen(find));
        for find in chosen.into_iter().chain(others) {
            let mark = if is_chosen(find) { "# Chosen.\n" } else { "" };
            text.extend(["\n", mark, &self.grid.written(find.index)]);
        }
        text
    }

    fn write_map(&self, folder: &Path, walked: &Walked, judged: &GridResults) -> Result<(), Diagnostic> {
        let ([one, other], false) = (&self.grid.axes[..], walked.cells.is_empty()) else { return Ok(()) };
        let labels = |axis: &crate::sweep::GridAxis| {
            let label = |choice: &Option<crate::sweep::WrittenChoice>| match choice {
                None => "without".to_owned(),
                Some(choice) => choice.limits.iter().map(|limit| figure::short(*limit)).collect::<Vec<_>>().join(", "),
            };
            axis.choices.iter().map(label).collect()
        };
        let chosen = walked.chosen(judged.chosen);
        let figure = HeatFigure {
            axes: [&one.name, &other.name],
            limits: [labels(one), labels(other)],
            cells: &walked.cells,
            chosen: chosen.and_then(|find| usize::try_from(find.index).ok()),
            saved: walked.unit.noun(),
            subtitle: self.headline(walked),
        };
        save(&figure, folder, "heat")?;
        Ok(())
    }
}
