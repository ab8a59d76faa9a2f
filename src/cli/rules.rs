//! `whenstop rules`: lists and explains what a stack file can name, finds slips in one, and helps with a rule of your
//! own in another program.

mod test;

use clap::Subcommand;

use super::ProgramExit;
use super::failure::CommandFailure;
use super::output::{Output, TableFormat};
use super::values::one_of;
use super::{examples, lint, texts};
use crate::answers::tables::{DataTable, TableCell, TableColumns};
use crate::diagnostic::{did_you_mean, nearest};
use crate::framework::{Framework, FrameworkKind};
use crate::guard::{EXAMPLES, NUMBER_EXAMPLES};
use crate::{bailout, catalog, effects, signal};

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
#[command(after_help = "A stack file:\n\n  [[stack]]\n  name = \"candidate\"\n  any = [\n    \
    { signal = \"tokens.total\", at_least = 200_000 },\n    \
    { signal = \"call_result.streak\", at_least = 3, exempt_tools = [\"wait\"] },\n    \
    { all = [\n      { signal = \"errors.streak\", at_least = 3 },\n      \
    { signal = \"steps\", at_least = 10 },\n    ], latched = true },\n  ]\n  \
    cap = { steps = 50 }\n\n  [[stack]]\n  use = \"roo-code\"\n  set = { consecutiveMistakeLimit = 5 }")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
enum RulesCommand {
    /// List everything a stack file can name.
    List(ListArgs),
    /// Print the manual of a signal, system, preset or bailout, or the table of `effects`.
    Explain {
        /// Its name, for example `errors.streak` or `mira`.
        name: String,
    },
    /// Find dead and unreachable rules and unit traps in a stack file.
    #[command(after_help = examples::LINT)]
    Lint(Box<lint::Args>),
    /// Print a working rule of your own in another program, to begin with.
    New(NewArgs),
    /// Ask a rule of your own about the bundled runs, twice and in another order: same answers, speed, what it never
    /// does. Exits 100 if there is something to mend.
    Test(test::Args),
    /// Show precision and recall of the systems' text tests on labelled texts.
    Texts(texts::Args),
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// How the list is printed.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// The language to write it in.
    #[arg(long, value_parser = one_of([0, 1, 2], |nth| (EXAMPLES[nth].0, "")))]
    language: usize,
    /// A rule that answers with a number: other rules read it, and limits for it are tuned.
    #[arg(long)]
    number: bool,
}

/// `whenstop rules`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    match &args.command {
        None => output.table(&list(), TableFormat::Table)?,
        Some(RulesCommand::List(ListArgs { format: TableFormat::Md })) => {
            output.data(&format!("{}\n{}", frameworks().to_markdown(), list().to_markdown()));
        }
        Some(RulesCommand::List(args)) => output.table(&list(), args.format)?,
        Some(RulesCommand::Explain { name }) => output.data(&explain(name)?),
        Some(RulesCommand::Lint(args)) => return lint::run(args, output),
        Some(RulesCommand::New(args)) => new(args, output),
        Some(RulesCommand::Test(args)) => return test::run(args, output),
        Some(RulesCommand::Texts(args)) => return texts::run(args, output),
    }
    Ok(ProgramExit::Done)
}

fn new(args: &NewArgs, output: &Output) {
    let (_, file, text) = if args.number { NUMBER_EXAMPLES } else { EXAMPLES }[args.language];
    output.bytes(text.as_bytes());
    output.note(&format!("save it as {file}; `whenstop rules test COMMAND` asks it about the bundled runs"));
}

fn list() -> DataTable {
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut push = |kind: &str, name: &str, what: String| rows.push([kind.to_owned(), name.to_owned(), what]);
    for signal in signal::REGISTRY {
        push("signal", signal.id, format!("{} ({})", signal.summary, signal.unit));
    }
    for framework in catalog::frameworks() {
        let what = match framework.kind {
            FrameworkKind::System => format!("profiles {}", framework.profile_names().join(", ")),
            FrameworkKind::Preset => format!("{}; {}", framework.version, framework.summary),
        };
        push(&framework.kind.to_string(), framework.id, what);
    }
    for info in bailout::REGISTRY {
        push("bailout", info.id, info.summary.to_owned());
    }
    DataTable::new(["kind", "name", "what"], rows.into_iter().map(|row| row.map(TableCell::Text).to_vec()))
}

/// The frameworks: version, rules, default limits, what a hit does, and how many answers of the framework's own code
/// are reproduced case for case.
fn frameworks() -> DataTable {
    let limits = |preset: &Framework| {
        let limits = preset.parameters.iter().filter(|parameter| {
            parameter.default != parameter.off && parameter.default.parse::<f64>().is_ok_and(|limit| limit > 0.0)
        });
        let limits: Vec<String> = limits.map(|limit| format!("{} {}", limit.name, limit.default)).collect();
        if limits.is_empty() { "none".to_owned() } else { limits.join(", ") }
    };
    let columns: TableColumns<'_, &Framework> = &[
        ("framework", &|preset| TableCell::Text(preset.id.to_owned())),
        ("version", &|preset| TableCell::Text(preset.version.to_owned())),
        ("rules", &|preset| TableCell::Text(preset.rules.join(", "))),
        ("limits by default", &|preset| TableCell::Text(limits(preset))),
        ("what they do", &|preset| TableCell::Text(preset.summary.to_owned())),
        ("cases that agree", &|preset| TableCell::count(preset.golden_cases)),
    ];
    let presets: Vec<&Framework> = catalog::by_kind(FrameworkKind::Preset).collect();
    DataTable::by_column(&presets, columns)
}

fn explain(name: &str) -> Result<String, CommandFailure> {
    if name == "effects" {
        return Ok(effects::manual());
    }
    if let Some(info) = signal::find(name) {
        let options = if info.options.is_empty() { "none".to_owned() } else { info.options.join(", ") };
        let head = format!(
            "{}: {}\n\nunit: {}\noptions: {options}\nsource: {}",
            info.id, info.summary, info.unit, info.source
        );
        return Ok(format!("{head}\n\n{}\n", info.manual()));
    }
    if let Some(framework) = catalog::find(name) {
        return Ok(explain_framework(framework));
    }
    if let Some(info) = bailout::find(name) {
        let params = if info.params.is_empty() { "none".to_owned() } else { info.params.join(", ") };
        return Ok(format!("{}: {}\n\nparameters: {params}\nsource: {}\n", info.id, info.summary, info.source));
    }
    let known = signal::REGISTRY
        .iter()
        .map(|info| info.id)
        .chain(catalog::frameworks().map(|framework| framework.id))
        .chain(bailout::REGISTRY.iter().map(|info| info.id));
    let help = did_you_mean(nearest(name, known), "`whenstop rules list` names them all");
    Err(CommandFailure::arguments(format!("nothing is called `{name}`"), help))
}

fn explain_framework(framework: &Framework) -> String {
    let mut lines = vec![
        format!("{}: {}", framework.id, framework.summary),
        String::new(),
        format!("version: {}", framework.version),
        format!("source: {}", framework.source),
        framework.host.tells_of_limit(),
    ];
    for profile in framework.profiles {
        let also = if profile.also.is_empty() { String::new() } else { format!(" (also {})", profile.also.join(", ")) };
        lines.push(format!("profile {}{also}: {}", profile.name, profile.doc));
    }
    if !framework.config.is_empty() {
        lines.push(format!("configuration (give its file with `config = \"…\"`): {}", framework.config));
    }
    if !framework.parameters.is_empty() {
        lines.push(String::new());
        lines.push("parameters (give them with `set = { name = value }`):".to_owned());
    }
    for parameter in framework.parameters {
        let off = if parameter.off.is_empty() { String::new() } else { format!("; off: {}", parameter.off) };
        lines.push(format!("  {} = {}: {}{off}", parameter.name, parameter.defaults(), parameter.doc));
    }
    format!("{}\n\n{}\n", lines.join("\n"), framework.manual.trim_end())
}
