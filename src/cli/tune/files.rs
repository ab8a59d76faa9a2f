//! Writes the files of `tune --out`: the stack, its certificate, the answer, and a comparison of the stack with
//! alternatives.

use std::fmt::Write as _;
use std::path::Path;

use super::Args;
use super::answer::Rival;
use super::shipped::TUNED;
use super::words::TuneSentences;
use crate::answers::TunedAnswer;
use crate::catalog::{self, Strategies};
use crate::cli::compare::{self, GatheredRuns, gather};
use crate::cli::configurations::configurations_of;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{LoadedStacks, StackArgs};
use crate::cli::output::Output;
use crate::compare::EvaluationOptions;
use crate::diagnostic::{Diagnostic, one_line};
use crate::framework::FrameworkKind;
use crate::report::{self, FolderFormat, Manifest, Publication, write_atomically, write_text};
use crate::stack::{Grounds, StackFile};
use crate::tune::{Shipped, Study, grounds};

/// Writes the folder: all files, or none. If there is nothing to ship, there is no stack among them.
pub(super) fn write(args: &Args, words: &TuneSentences<'_>, out: &Path, output: &Output) -> Result<(), CommandFailure> {
    let (configurations, mut strategies) = match words.shipped() {
        Some(shipped) => {
            let (file, own) = loaded(&tuned_stack(words, shipped))?;
            (configurations_of(&file), own)
        }
        None => (Vec::new(), Strategies::new()),
    };
    add_rivals(args, words, &mut strategies)?;
    let options = EvaluationOptions { stories: Some(args.embed_text), ..EvaluationOptions::default() };
    let stacks = LoadedStacks::without_files(strategies);
    let GatheredRuns { evidence, manifest, found, .. } = gather(&args.corpus.runs(), &stacks, &options, output)?;
    let tuned = Some(TunedAnswer { stack: words.shipped().map(|_| TUNED.to_owned()), verdict: words.verdict() });
    let remarks = vec![
        "What follows is judged on the very runs it was tuned on, with 95 % intervals over all successful runs; the certificate is \
         of the mean over tasks."
            .to_owned(),
    ];
    let manifest = Manifest { appetite: args.appetite(), found, remarks, tuned, configurations, ..manifest };
    let publication = Publication::new(evidence, manifest);
    let write_own = |folder: &Path| {
        write_answer(words, folder)?;
        write_text(&folder.join("tune.md"), &report::page(&answer(words)))
    };
    let format = FolderFormat { csv: output.csv, ..FolderFormat::default() };
    publication.write_with(out, format, write_own).map_err(CommandFailure::input)
}

/// Writes what needs no comparison: the stack, the certified budget, the certificate and the table.
pub(super) fn write_answer(words: &TuneSentences<'_>, folder: &Path) -> Result<(), Diagnostic> {
    if let Some(shipped) = words.shipped() {
        write_text(&folder.join("tuned.toml"), &tuned_stack(words, shipped))?;
    }
    if let Some((budget, sentence)) = words.budget() {
        write_text(&folder.join("budget.toml"), &stack_file(words, &budget, "budget", &sentence))?;
    }
    write_text(&folder.join("certificate.json"), &format!("{:#}\n", words.json()))?;
    let table = words.table();
    write_atomically(&folder.join("tune.csv"), |file| table.write_csv(file))
}

/// What runs today against what is to be shipped, its proof and its stack file, as a block for a pull request.
pub(super) fn pull_request(
    args: &Args,
    words: &TuneSentences<'_>,
    shipped: &Shipped,
    output: &Output,
) -> Result<String, CommandFailure> {
    let text = tuned_stack(words, shipped);
    let (_, mut strategies) = loaded(&text)?;
    let today = StackArgs::named(args.today.clone()).load()?.strategies;
    let name = today.first().map(|strategy| strategy.name().to_owned());
    strategies.splice(0..0, today.into_iter().take(1));
    let evidence = compare::pull_request(&args.corpus.runs(), strategies, name.as_deref(), TUNED, output)?;
    let verdict = report::page(&words.verdict());
    Ok(format!(
        "{evidence}- It was tuned on these very runs, so the table flatters it. {}\n\n```toml\n{text}```\n",
        verdict.trim_end()
    ))
}

/// The stack to ship as a file, with the grounds of its certificate.
pub(super) fn tuned_stack(words: &TuneSentences<'_>, shipped: &Shipped) -> String {
    stack_file(words, shipped, TUNED, &words.verdict())
}

/// A stack, with the grounds of its certificate.
fn stack_file(words: &TuneSentences<'_>, shipped: &Shipped, name: &str, sentence: &str) -> String {
    let study = words.study;
    let mut text = String::new();
    let _ = writeln!(text, "# Made by `whenstop tune` from {} runs, {}.", study.runs().len(), study.fingerprint());
    let _ = writeln!(text, "# {}", one_line(sentence));
    let _ = writeln!(
        text,
        "#\n# `whenstop compare RUNS --stacks {name}.toml` replays it, and says where the certificate does not hold.\n"
    );
    text + &certified_stack(study, shipped, name, words.promise())
}

/// A `[[stack]]` with the grounds of its certificate.
pub(super) fn certified_stack(study: &Study, shipped: &Shipped, name: &str, promise: String) -> String {
    shipped.stack(study, name) + &grounds_text(grounds(study, shipped, promise))
}

/// The grounds of a certificate, as a table of its stack.
pub(super) fn grounds_text(grounds: Grounds) -> String {
    let mut text = "\n[stack.certificate]\n".to_owned();
    let _ = writeln!(text, "promise = {}", toml::Value::String(grounds.promise));
    let _ = writeln!(text, "runs = {}", grounds.runs);
    let _ = writeln!(text, "stopped = {}", grounds.stopped);
    let _ = writeln!(text, "models = {}", toml::Value::from(grounds.models));
    let _ = writeln!(text, "agents = {}", toml::Value::from(grounds.agents));
    let ranges: Vec<String> =
        grounds.ranges.iter().map(|(signal, low, high)| format!("\"{signal}\" = [{low}, {high}]")).collect();
    let _ = writeln!(text, "ranges = {{ {} }}", ranges.join(", "));
    text
}

/// Adds what runs today, the certified budget, and the best preset.
fn add_rivals(args: &Args, words: &TuneSentences<'_>, strategies: &mut Strategies) -> Result<(), CommandFailure> {
    strategies.extend(StackArgs::named(args.today.clone()).load()?.strategies);
    if let Some(best) = words.beside(Rival::Preset) {
        // Not by its name as an argument: that of a profile is none.
        strategies.extend(
            catalog::all(FrameworkKind::Preset)
                .into_iter()
                .filter(|preset| Some(preset.name()) == best.name.as_deref()),
        );
    }
    if let Some(budget) = words.answer.tuned.budget() {
        strategies.push(words.study.families()[budget.at.family].stack("budget alone", budget.at.limit));
    }
    Ok(())
}

/// The tuned stack, as read back from its file.
fn loaded(text: &str) -> Result<(StackFile, Strategies), CommandFailure> {
    catalog::load("tuned.toml", text).map_err(CommandFailure::usage)
}

/// The answer as a Markdown page.
fn answer(words: &TuneSentences<'_>) -> String {
    let notes = words.notes().iter().fold(String::new(), |all, note| all + "- " + note + "\n");
    let strata = words.strata().map(|table| format!("\n{}", table.to_markdown())).unwrap_or_default();
    format!(
        "# What to ship\n\n**{}**\n\n{}\n\n{}{strata}\n{notes}\n![Cost saved against successes killed](frontier.svg)\n",
        words.verdict(),
        words.recordings(),
        words.table().to_markdown()
    )
}
