//! `whenstop ci review`: settles changed stop points one after another, or kind by kind.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::inputs::GateInputs;
use super::replayed::replayed;
use super::told::{in_one_line, tell};
use super::{LARGEST_SNAPSHOT, is_ci, read_old_snapshot};
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::output::{LineStyle, Output};
use crate::diagnostic::{count, did_you_mean, nearest};
use crate::reader::read_whole_text;
use crate::report::{write_atomically, write_text};
use crate::review::{ChangeReview, Changed, Importance, settled};

/// Arguments of `review`.
// Here `--run` names runs to accept, so the reading option for the run's id is renamed.
#[derive(Debug, clap::Args)]
#[command(mut_arg("run_id", |arg| arg.long("run-id")))]
#[command(after_help = "Examples:\n  \
    whenstop ci review                                   # at a terminal: one after another, or kind by kind\n  \
    whenstop ci review --kind moved --kind rule          # accepts these, without asking\n  \
    whenstop ci review --all")]
pub(in crate::cli) struct ReviewArgs {
    /// Accept the changes of this run, without asking. Repeatable.
    #[arg(long, value_name = "ID")]
    run: Vec<String>,
    /// Accept the changes of this kind, without asking: `kill`, `missed`, `kept`, `caught`, `verdict`, `moved`, `rule`,
    /// or `recordings` for new or missing runs and stacks. Repeatable.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Accept all changes, without asking.
    #[arg(long, conflicts_with_all = ["run", "kind"])]
    all: bool,
    #[command(flatten)]
    inputs: GateInputs,
}

/// The kind of what is no changed stop point: new or missing runs and stacks.
const RECORDINGS: &str = "recordings";

/// A change that is not accepted, as the file beside the snapshot holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct PendingChange {
    stack: String,
    run: String,
    before: String,
    now: String,
    /// Whether somebody said no to it: it is not asked for again.
    rejected: bool,
}

impl PendingChange {
    fn from_change(change: &Changed, rejected: bool) -> Self {
        let (stack, run) = (change.stack.clone(), change.run.clone());
        Self { stack, run, before: change.before.told(), now: change.now.told(), rejected }
    }

    /// The file beside a snapshot.
    fn file(snapshot: &Path) -> PathBuf {
        let mut name = snapshot.as_os_str().to_owned();
        name.push(".pending");
        PathBuf::from(name)
    }

    /// The changes that somebody said no to. What cannot be read is asked for again.
    fn rejected(file: &Path) -> BTreeSet<Self> {
        let text = read_whole_text(file, LARGEST_SNAPSHOT).unwrap_or_default();
        let all = text.lines().filter_map(|line| serde_json::from_str::<Self>(line).ok());
        all.filter(|pending| pending.rejected).collect()
    }

    /// Writes what is left; without any the file goes.
    fn write(all: &[Self], file: &Path) -> Result<(), CommandFailure> {
        if all.is_empty() {
            let _ = std::fs::remove_file(file);
            return Ok(());
        }
        let lines: Vec<String> = all.iter().filter_map(|one| serde_json::to_string(one).ok()).collect();
        write_atomically(file, |out| writeln!(out, "{}", lines.join("\n"))).map_err(CommandFailure::input)
    }
}

/// What becomes of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewAnswer {
    Accept,
    Reject,
    Skip,
}

/// `whenstop ci review`.
pub(in crate::cli) fn review(args: &ReviewArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let inputs = args.inputs.resolve(output)?;
    let path = inputs.snapshot()?;
    if is_ci() {
        let help = "review on your own machine, and commit the snapshot; in CI use `check`";
        return Err(CommandFailure::file(path, "snapshots are not written under CI", help));
    }
    let is_script = args.all || !args.run.is_empty() || !args.kind.is_empty();
    let is_seen = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !is_script && !is_seen {
        let help = "`--all`, `--kind KIND` or `--run ID` accept without asking; `whenstop ci check` shows the changes";
        return Err(CommandFailure::file(path, "nobody is at a terminal to be asked", help));
    }
    let before = read_old_snapshot(path)?;
    let stacks = inputs.stacks.load()?;
    let now = replayed(&inputs.corpus, &stacks, &[], Some(&before), None, output)?;
    now.refuse_troubles(path, "review")?;
    let review = ChangeReview::between(&before, &now.snapshot, now.words);
    let file = PendingChange::file(path);
    let rejected = PendingChange::rejected(&file);
    let was_rejected = |change: &Changed| rejected.contains(&PendingChange::from_change(change, true));
    let mut answers: Vec<ReviewAnswer> = review
        .changes
        .iter()
        .map(|change| if was_rejected(change) { ReviewAnswer::Reject } else { ReviewAnswer::Skip })
        .collect();
    let rest = if is_script {
        by_script(args, &review, &mut answers)?
    } else {
        ReviewPrompt { review: &review, output, term: console::Term::stdout() }.ask(&mut answers)
    };
    let (mut accepted, mut left) = (BTreeSet::new(), Vec::new());
    for (change, answer) in review.changes.iter().zip(&answers) {
        if *answer == ReviewAnswer::Accept {
            accepted.insert((&*change.stack, &*change.run));
        } else {
            left.push(PendingChange::from_change(change, *answer == ReviewAnswer::Reject));
        }
    }
    let has_rest = !review.notices().is_empty();
    if !accepted.is_empty() || (has_rest && rest == ReviewAnswer::Accept) {
        let next = settled(&before, &now.snapshot, &review, &accepted, !has_rest || rest == ReviewAnswer::Accept);
        write_text(path, &next.to_text()).map_err(CommandFailure::input)?;
    }
    PendingChange::write(&left, &file)?;
    let refused = left.iter().filter(|pending| pending.rejected).count();
    let waiting = left.len() - refused;
    let mut told = format!("{} accepted, {refused} rejected, {waiting} left", accepted.len());
    if has_rest && rest != ReviewAnswer::Accept {
        told += "; what is new or missing is not accepted";
    }
    if !left.is_empty() {
        let _ = write!(told, "; {} has them", file.display());
    }
    output.note(&told);
    Ok(ProgramExit::Done)
}

/// Accepts what the arguments name. The answer is that for what is no changed stop point.
fn by_script(
    args: &ReviewArgs,
    review: &ChangeReview,
    answers: &mut [ReviewAnswer],
) -> Result<ReviewAnswer, CommandFailure> {
    let kinds: Vec<&str> = Importance::ALL.iter().map(|kind| kind.name()).chain([RECORDINGS]).collect();
    if let Some(kind) = args.kind.iter().find(|kind| !kinds.contains(&kind.as_str())) {
        let near = nearest(kind, kinds.iter().copied());
        let help = did_you_mean(near, &format!("there are {}", kinds.join(", ")));
        return Err(CommandFailure::arguments(format!("no kind of change is called `{kind}`"), help));
    }
    if let Some(run) = args.run.iter().find(|run| review.changes.iter().all(|change| change.run != **run)) {
        let help = "`whenstop ci check --all` lists the changes";
        return Err(CommandFailure::arguments(format!("no stop point of a run `{run}` changed"), help));
    }
    for (change, answer) in review.changes.iter().zip(answers) {
        let is_named = args.run.contains(&change.run) || args.kind.iter().any(|kind| kind == change.importance.name());
        if args.all || is_named {
            *answer = ReviewAnswer::Accept;
        }
    }
    let takes_rest = args.all || args.kind.iter().any(|kind| kind == RECORDINGS);
    Ok(if takes_rest { ReviewAnswer::Accept } else { ReviewAnswer::Skip })
}

/// The changes that are not settled.
fn open(answers: &[ReviewAnswer]) -> impl Iterator<Item = usize> {
    answers.iter().enumerate().filter(|(_, answer)| **answer == ReviewAnswer::Skip).map(|(nth, _)| nth)
}

/// A person at a terminal.
struct ReviewPrompt<'a> {
    review: &'a ChangeReview,
    output: &'a Output,
    term: console::Term,
}

/// A key that was pressed.
enum Key {
    Answer(ReviewAnswer),
    AllOfKind,
    Quit,
}

impl ReviewPrompt<'_> {
    /// Asks for every change that nobody has said no to, kind by kind; then for what is new or missing.
    fn ask(&self, answers: &mut [ReviewAnswer]) -> ReviewAnswer {
        let kinds: BTreeSet<Importance> = open(answers).map(|nth| self.review.changes[nth].importance).collect();
        for (nth, kind) in kinds.iter().enumerate() {
            let of_kind: Vec<usize> =
                open(answers).filter(|change| self.review.changes[*change].importance == *kind).collect();
            self.head(*kind, &of_kind, nth + 1, kinds.len());
            for (place, change) in of_kind.iter().enumerate() {
                self.output.data("\n");
                self.output.data(&format!("{} of {}\n", place + 1, of_kind.len()));
                tell(&self.review.changes[*change], self.output);
                match self.key(of_kind.len() - place) {
                    Key::Answer(answer) => answers[*change] = answer,
                    Key::AllOfKind => {
                        of_kind[place..].iter().for_each(|change| answers[*change] = ReviewAnswer::Accept);
                        break;
                    }
                    Key::Quit => return ReviewAnswer::Skip,
                }
            }
        }
        let notices = self.review.notices();
        if notices.is_empty() {
            return ReviewAnswer::Skip;
        }
        self.output.data("\n");
        self.output.styled(LineStyle::Strong, &format!("{RECORDINGS}: what is new, missing or called otherwise"));
        for notice in &notices {
            self.output.paragraph(notice);
        }
        match self.key(1) {
            Key::Answer(answer) => answer,
            Key::AllOfKind => ReviewAnswer::Accept,
            Key::Quit => ReviewAnswer::Skip,
        }
    }

    /// Shows a kind: what it means, and every change of it on a line, so that none is accepted unseen.
    fn head(&self, kind: Importance, changes: &[usize], nth: usize, of: usize) {
        self.output.data("\n");
        let n = count(changes.len() as u64, "change");
        self.output.styled(LineStyle::Strong, &format!("kind {nth} of {of}, {}: {n}", kind.name()));
        for group in self.review.groups.iter().filter(|group| group.importance == kind) {
            self.output.paragraph(&group.sentence());
        }
        if changes.len() > 1 {
            self.output.data("\n");
            for change in changes {
                in_one_line(&self.review.changes[*change], self.output);
            }
        }
    }

    /// Asks for a key; `left` changes of this kind are not settled.
    fn key(&self, left: usize) -> Key {
        let all = if left > 1 { format!("  A accept all {left} of this kind") } else { String::new() };
        self.output.data(&format!("\na accept  r reject  s skip{all}  q quit\n"));
        loop {
            // Where no key can be read any more, nothing more is decided.
            match self.term.read_char().unwrap_or('q') {
                'a' => return Key::Answer(ReviewAnswer::Accept),
                'r' => return Key::Answer(ReviewAnswer::Reject),
                's' => return Key::Answer(ReviewAnswer::Skip),
                'A' => return Key::AllOfKind,
                'q' | '\u{3}' | '\u{4}' | '\u{1b}' => return Key::Quit,
                _ => {}
            }
        }
    }
}
