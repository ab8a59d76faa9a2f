//! `whenstop export`: writes a stack as a framework's own configuration, and what a maintainer needs to change a
//! default.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;

use super::ProgramExit;
use super::compare::pull_request;
use super::destination::Destination;
use super::failure::CommandFailure;
use super::inputs::{CorpusArgs, READING, ReadingArgs, UnitOfRun, load_stack_file};
use super::output::{Output, broken, width};
use crate::catalog;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::export::{ExportedStack, HostInfo, agents, comment, find, hosts};
use crate::host::{Does, Syntax};
use crate::report::{CsvStyle, bullets, write_folder, write_text};
use crate::stack::{Entry, Stack, StackFile, Use};

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The stack file.
    #[arg(value_name = "FILE")]
    stacks: Option<PathBuf>,
    /// With `--format pr`: recordings on which the host's default is compared with the proposed settings.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The stack to export; required if the file has several.
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,
    /// The framework, by its name in stack files; `all` tries every framework; `list` shows what each can express.
    #[arg(long, value_name = "HOST", required = true)]
    to: String,
    /// What is printed or written: the host's own snippet, a stack file of the host's rules with these settings (to
    /// compare with the stack), or a block for a pull request.
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    /// Also accept settings with which the host behaves differently from the stack; the differences are reported.
    #[arg(long)]
    nearest: bool,
    /// Also write what turns the host's own rules off, so that only the stack acts, as in a replay.
    #[arg(long)]
    only_this: bool,
    /// The file to write; a folder with `--to all`.
    #[arg(long, value_name = "FILE")]
    out: Option<Destination>,
    #[command(flatten, next_help_heading = READING)]
    reading: ReadingArgs,
}

/// What is printed or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// The host's own snippet.
    #[default]
    Snippet,
    /// A stack file.
    Stack,
    /// A block for a pull request.
    Pr,
}

/// `whenstop export`.
pub(super) fn run(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    if args.to == "list" {
        output.data(&list());
        return Ok(ProgramExit::Done);
    }
    let path =
        args.stacks.as_deref().ok_or_else(|| wrong("no stack file", "name one: `whenstop export FILE --to HOST`"))?;
    let (file, _) = load_stack_file(path).map_err(CommandFailure::usage)?;
    let chosen = chosen(&file, path, args.stack.as_deref())?;
    if let (ExportSource::Stack(stack), "all") = (&chosen, args.to.as_str()) {
        return all(args, stack, output);
    }
    let to = find(&args.to).map_err(|near| unknown(&args.to, near));
    let (to, export) = match &chosen {
        ExportSource::Stack(stack) => {
            let to = to?;
            (to, exported(args, stack, to))
        }
        ExportSource::Settings(used) => {
            let to = to.ok().filter(|to| to.id == used.system).ok_or_else(|| known_only_to_itself(used))?;
            (to, settings(used, to)?)
        }
    };
    if export.n_held() == 0 {
        tell(&export, output);
        let is_near = match &chosen {
            ExportSource::Stack(stack) => !args.nearest && ExportedStack::new(stack, to, true).n_held() > 0,
            ExportSource::Settings(_) => false,
        };
        let help = if is_near {
            "`--nearest` takes settings with which it acts otherwise, and says in what"
        } else {
            "`whenstop export --to list` says what each framework can hold"
        };
        return Err(CommandFailure::nothing(format!("{} cannot hold `{}`", to.id, export.stack), help));
    }
    if args.format != ExportFormat::Snippet && agents().iter().any(|agent| agent.id == to.id) {
        let what = format!("the rules of {} are not replayed here", to.id);
        return Err(wrong(what, "leave out `--format`: the snippet can be written"));
    }
    match args.format {
        ExportFormat::Snippet => {
            if to.host.syntax == Syntax::Json || args.out.is_some() {
                tell(&export, output);
            }
            put(&export.snippet(), args.out.as_deref(), output)?;
        }
        ExportFormat::Stack => {
            tell(&export, output);
            write_stack(&export, args.out.as_deref(), output)?;
        }
        ExportFormat::Pr => put(&pr(args, &export, output)?, args.out.as_deref(), output)?,
    }
    Ok(ProgramExit::Done)
}

/// The stack in the settings of a host, as was asked.
fn exported(args: &Args, stack: &Stack, to: HostInfo) -> ExportedStack {
    let export = ExportedStack::new(stack, to, args.nearest);
    if args.only_this { export.only_this() } else { export }
}

fn wrong(what: impl Into<String>, help: impl Into<String>) -> CommandFailure {
    CommandFailure::arguments(what, help)
}

fn unknown(name: &str, near: Option<&str>) -> CommandFailure {
    wrong(format!("no framework is called `{name}`"), did_you_mean(near, "`--to list` names them"))
}

fn known_only_to_itself(used: &Use) -> CommandFailure {
    let what = format!("`{}` has settings of {}, which no other framework knows", used.name, used.system);
    wrong(what, format!("`--to {}` writes them as it reads them", used.system))
}

/// Whether settings of a framework can be written as it reads them.
pub(super) fn has_snippet(used: &Use) -> bool {
    let Ok(to) = find(&used.system) else { return false };
    matches!(settings(used, to), Ok(export) if export.n_held() > 0)
}

/// Settings of a framework, in its own file.
fn settings(used: &Use, to: HostInfo) -> Result<ExportedStack, CommandFailure> {
    if let Some(config) = &used.config {
        return Err(wrong(format!("`{}` is configured by `{config}`", used.name), "that file is what it reads"));
    }
    if let Some(profile) = used.profile.as_deref().filter(|profile| to.host.profile.as_deref() != Some(profile)) {
        let settings: Vec<String> = used.set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let what = format!("no snippet for {} as `{profile}`", to.id);
        return Err(wrong(what, format!("set {} by hand", settings.join(", "))));
    }
    Ok(ExportedStack::from_settings(used, to))
}

/// What is exported.
enum ExportSource {
    /// A stack with rules of its own.
    Stack(Arc<Stack>),
    /// Settings of a framework.
    Settings(Box<Use>),
}

/// The stack with that name; without a name, the only one with rules of its own, else the only one.
fn chosen(file: &StackFile, path: &Path, name: Option<&str>) -> Result<ExportSource, CommandFailure> {
    let (mut own, mut used, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for entry in &file.entries {
        let as_named = name.is_none_or(|name| name == entry.name());
        match entry {
            Entry::Own(stack) => {
                if as_named {
                    own.push(ExportSource::Stack(Arc::clone(stack)));
                }
                names.push(format!("`{}`", stack.name));
            }
            Entry::Use(settings) if !settings.set.is_empty() => {
                if as_named {
                    used.push(ExportSource::Settings(settings.clone()));
                }
                names.push(format!("`{}`", settings.name));
            }
            Entry::Use(_) | Entry::Guard(_) => {}
        }
    }
    let mut fitting = if own.is_empty() { used } else { own };
    match (fitting.pop(), name) {
        (Some(one), _) if fitting.is_empty() => Ok(one),
        (Some(_), _) => {
            let what = format!("{} stacks", fitting.len() + 1);
            Err(CommandFailure::file(path, what, format!("say which one with `--stack NAME`: {}", names.join(", "))))
        }
        (None, Some(name)) if !names.is_empty() => {
            let what = format!("no stack that can be exported is called `{name}`");
            Err(CommandFailure::file(path, what, format!("there are {}", names.join(", "))))
        }
        (None, _) => {
            let help = "rules of a stack are exported, and settings of a framework: `use` with `set`";
            Err(CommandFailure::file(path, "no stack that can be exported", help))
        }
    }
}

/// Reports how each clause was exported, on stderr.
fn tell(export: &ExportedStack, output: &Output) {
    output.note(&format!("{}: {}", export.to.id, export.verdict()));
    for line in export.lines().into_iter().skip(1) {
        output.note(&format!("  {line}"));
    }
}

fn put(text: &str, out: Option<&Path>, output: &Output) -> Result<(), CommandFailure> {
    match out {
        // To be pasted: no line is broken.
        None => output.bytes(text.as_bytes()),
        Some(path) => write_text(path, text).map_err(CommandFailure::input)?,
    }
    Ok(())
}

/// Writes the stack file, and next to it the native file that it refers to.
fn write_stack(export: &ExportedStack, out: Option<&Path>, output: &Output) -> Result<(), CommandFailure> {
    let Some(native) = export.native_file() else { return put(&export.stack_file(""), out, output) };
    let help = format!("{} reads a file of its own, which is written beside the stack file", export.to.id);
    let out = out
        .ok_or_else(|| wrong("no place for the native configuration", format!("name one with `--out FILE`: {help}")))?;
    let name = format!("{}.{}.json", out.file_stem().unwrap_or_default().to_string_lossy(), export.to.id);
    put(&native, Some(&out.with_file_name(&name)), output)?;
    put(&export.stack_file(&name), Some(out), output)
}

/// Exports a stack to every host: one line each, and with `--out` one snippet each plus one stack file of all of them
/// for comparison.
fn all(args: &Args, stack: &Stack, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let exports: Vec<ExportedStack> = hosts().into_iter().map(|to| exported(args, stack, to)).collect();
    let column = exports.iter().map(|export| export.to.id.len()).max().unwrap_or(0);
    for export in &exports {
        output.data(&format!("{:column$}  {}\n", export.to.id, export.verdict()));
    }
    if let Some(folder) = &args.out {
        write_folder(folder, CsvStyle::Plain, |folder| write_all(&exports, folder)).map_err(CommandFailure::input)?;
    }
    let held = exports.iter().filter(|export| export.holds_all()).count();
    if held == 0 && exports.iter().all(|export| export.n_held() == 0) {
        return Err(CommandFailure::nothing(
            "no framework can hold any of it",
            "`whenstop export --to list` says what they can hold",
        ));
    }
    output.note(&format!("{held} of {} hold all of `{}`", exports.len(), stack.name));
    Ok(ProgramExit::Done)
}

/// Writes a snippet for each host that holds something, and a stack file of those that hold everything.
fn write_all(exports: &[ExportedStack], folder: &Path) -> Result<(), Diagnostic> {
    let put = |name: &str, text: &str| write_text(&folder.join(name), text);
    let mut together = String::new();
    for export in exports.iter().filter(|export| export.n_held() > 0) {
        put(&format!("{}.{}", export.to.id, extension(export.to.host.syntax)), &export.snippet())?;
        let native = format!("{}.native.json", export.to.id);
        if let Some(text) = export.native_file() {
            put(&native, &text)?;
        }
        if export.holds_all() {
            together.push_str(&comment("# ", &export.lines()));
            together.push_str(&export.stack_file(&native));
            together.push('\n');
        }
    }
    if together.is_empty() { Ok(()) } else { put("read-back.toml", &together) }
}

fn extension(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Python => "py",
        Syntax::JavaScript => "js",
        Syntax::Json => "json",
        Syntax::Toml => "toml",
        Syntax::Yaml => "yaml",
        Syntax::Shell => "sh",
    }
}

/// Lists what each host can express.
fn list() -> String {
    let mut all = hosts();
    all.extend(agents());
    let column = all.iter().map(|info| info.id.len()).max().unwrap_or(0);
    let room = usize::from(width()).clamp(60, 120) - column - 2;
    let head = "holds (and when it looks); ~ never exactly; + asks for a last answer";
    let hosts = all.into_iter().map(|info| (info.id, holds(info)));
    let mut text = String::new();
    for (id, held) in std::iter::once(("host", head.to_owned())).chain(hosts) {
        for (nth, line) in broken(&held, 0, 0, room).iter().enumerate() {
            let name = if nth == 0 { id } else { "" };
            let _ = writeln!(text, "{name:column$}  {line}");
        }
    }
    text
}

/// The signals of a host by the moment at which it checks them; else why there are none.
fn holds(info: HostInfo) -> String {
    let mut by_moment: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for slot in &info.host.slots {
        let mark = match (&slot.differs, slot.action) {
            (Some(_), _) => "~",
            (None, Does::LastAnswer) => "+",
            (None, _) => "",
        };
        let signal = format!("{mark}{}", slot.signal);
        let signals = by_moment.entry(slot.at).or_default();
        if !signals.contains(&signal) {
            signals.push(signal);
        }
    }
    if by_moment.is_empty() {
        return format!("nothing: {}", info.host.why_not("").unwrap_or_default());
    }
    let told = by_moment.into_iter().map(|(moment, signals)| format!("{} ({moment})", signals.join(", ")));
    told.collect::<Vec<_>>().join("; ")
}

/// Compares the host's default with the proposed settings on recordings, and adds the snippet.
fn pr(args: &Args, export: &ExportedStack, output: &Output) -> Result<String, CommandFailure> {
    let paths: Vec<PathBuf> = args.paths.clone();
    if paths.is_empty() {
        return Err(wrong(
            "no recordings",
            "name some after the stack file: the block has the numbers of default and proposed on them",
        ));
    }
    let id = export.to.id;
    if export.is_default() {
        let lines = bullets(&export.lines());
        return Ok(format!("{id} does this by default already: the same setting, and nothing to change.\n\n{lines}"));
    }
    let profile = export.to.host.profile.clone();
    let default = Use { name: format!("{id} by default"), system: id.to_owned(), profile, ..Use::default() };
    let default = catalog::by_name(&default).map_err(CommandFailure::usage)?;
    let proposed = export.strategy().map_err(CommandFailure::usage)?;
    let (today, name) = (default.name().to_owned(), proposed.name().to_owned());
    let corpus = CorpusArgs { paths, reading: args.reading.clone(), unit: UnitOfRun::Run };
    let evidence = pull_request(&corpus.runs(), vec![default, proposed], Some(&today), &name, output)?;
    let language = extension(export.to.host.syntax);
    let told = bullets(&export.lines());
    Ok(format!("{evidence}\n{told}\n```{language}\n{}```\n", export.body()))
}
