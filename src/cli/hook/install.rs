//! Puts the hook into an agent's configuration and takes it out again.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use whenstop_hook::host::{HostAgent, RuleVisibility};
use whenstop_hook::record::id_of;
use whenstop_hook::settings::{Folders, HookMode, HookSettings, Setup};

use super::super::ProgramExit;
use super::super::failure::CommandFailure;
use super::super::inputs::read_text;
use super::super::local::home;
use super::super::output::Output;
use super::{agent, edit, failed, folders, mode};

/// Arguments of `hook install`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent.
    #[arg(value_parser = agent())]
    agent: HostAgent,
    /// The stack file whose limits it holds: `whenstop local` prints one that fits your own sessions.
    #[arg(long, value_name = "FILE")]
    stacks: PathBuf,
    /// What a decision leads to.
    #[arg(long, default_value_t, value_parser = mode())]
    mode: HookMode,
    /// Count from the beginning of the session instead of the latest prompt.
    #[arg(long)]
    session: bool,
    /// The hook's program; by default the one beside this program.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    #[command(flatten)]
    edit: EditArgs,
}

/// Arguments of `hook uninstall`.
#[derive(Debug, clap::Args)]
pub(super) struct UninstallArgs {
    /// The agent.
    #[arg(value_parser = agent())]
    agent: HostAgent,
    #[command(flatten)]
    edit: EditArgs,
}

#[derive(Debug, clap::Args)]
struct EditArgs {
    /// The agent's configuration; by default the user's own.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// What was written where, so that it can be taken back to the byte.
#[derive(Debug, Serialize, Deserialize)]
struct Installed {
    /// The agent's configuration.
    config: PathBuf,
    /// The fingerprint of what was written.
    wrote: u64,
    /// Whether there was a configuration before.
    existed: bool,
}

impl Installed {
    fn file(folders: &Folders) -> PathBuf {
        folders.config.join("installed.json")
    }

    fn copy(folders: &Folders) -> PathBuf {
        folders.config.join("configuration.before")
    }

    fn read(folders: &Folders) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(Self::file(folders)).ok()?).ok()
    }
}

/// The agent's own configuration.
pub(super) fn configuration(host: HostAgent) -> Option<PathBuf> {
    let (variable, folder) = match host {
        HostAgent::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        HostAgent::QwenCode => ("QWEN_HOME", ".qwen"),
    };
    let folder = match std::env::var_os(variable).filter(|value| !value.is_empty()) {
        Some(named) => PathBuf::from(named),
        None => home()?.join(folder),
    };
    Some(folder.join("settings.json"))
}

fn target(host: HostAgent, args: &EditArgs) -> Result<PathBuf, CommandFailure> {
    let path = args.config.clone().or_else(|| configuration(host));
    let path =
        path.ok_or_else(|| CommandFailure::nothing("no home folder is known", "name the file with `--config`"))?;
    // A link to a file elsewhere stays a link.
    let real = path.canonicalize();
    if real.is_err() && path.is_symlink() {
        return Err(failed(
            &path,
            "it is a link that leads nowhere",
            "repair it, or name another file with `--config`",
        ));
    }
    let path = real.unwrap_or(path);
    if std::fs::metadata(&path).is_ok_and(|data| data.permissions().readonly()) {
        let help = "allow it first, if it is yours to change, or name another file with `--config`";
        return Err(failed(&path, "it may not be written to", help));
    }
    Ok(path)
}

/// Refuses a second configuration while the hook is in another one: it could not be taken out of both.
fn refuse_second(folders: &Folders, path: &Path) -> Result<(), CommandFailure> {
    let Some(known) = Installed::read(folders).filter(|known| known.config != path) else { return Ok(()) };
    let text = text_of(&known.config).ok().flatten().unwrap_or_default();
    if edit::installed(&text).is_empty() {
        return Ok(());
    }
    let help = "take it out there first: `whenstop hook uninstall AGENT --config FILE`";
    Err(failed(&known.config, "the hook is in this configuration already", help))
}

/// The text of a configuration; `None` if there is none.
fn text_of(path: &Path) -> Result<Option<String>, CommandFailure> {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| failed(path, "it is not UTF-8", "repair it first")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, format!("cannot read: {error}"), "check that you may read it")),
    }
}

/// Writes a file whole or not at all; it keeps its permissions.
fn replace(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let write = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let file = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(file.path(), text)?;
        if let Ok(known) = std::fs::metadata(path) {
            std::fs::set_permissions(file.path(), known.permissions())?;
        }
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|error| failed(path, format!("cannot write: {error}"), "check that the folder may be written to"))
}

/// Shows a change and asks for it.
fn asked(path: &Path, old: &str, new: &str, args: &EditArgs, output: &Output) -> Result<bool, CommandFailure> {
    output.paragraph(&format!("{} will change:", path.display()));
    output.data(&format!("\n{}", edit::difference(old, new)));
    if args.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        let what = "nobody is there to agree to this change";
        return Err(CommandFailure::arguments(what, "add `--yes`"));
    }
    output.data("\nWrite this? [y/N] ");
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A change of a file: its text before and after; `None` where there is no file.
struct FileChange {
    before: Option<String>,
    after: Option<String>,
}

/// Proposes a change of a file and asks for it. What another program has written while the question stood is not lost:
/// then the change is made anew from it, and asked for again. `None` if the answer is no.
fn agreed_change(
    path: &Path,
    propose: impl Fn(Option<&str>) -> Result<Option<String>, CommandFailure>,
    mut agrees: impl FnMut(&str, &str) -> Result<bool, CommandFailure>,
) -> Result<Option<FileChange>, CommandFailure> {
    let mut before = text_of(path)?;
    loop {
        let after = propose(before.as_deref())?;
        if !agrees(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default())? {
            return Ok(None);
        }
        let now = text_of(path)?;
        if now == before {
            return Ok(Some(FileChange { before, after }));
        }
        before = now;
    }
}

/// Writes the hook's own files.
pub(super) fn write_setup(folders: &Folders, mode: &str, unit: &str, stacks: &str) -> Result<(), CommandFailure> {
    // A stack file that stays as it is keeps its time: the evidence for its limits begins with it.
    if std::fs::read_to_string(folders.stacks()).ok().as_deref() != Some(stacks) {
        replace(&folders.stacks(), stacks)?;
    }
    replace(&folders.settings(), &format!("mode = \"{mode}\"\nunit = \"{unit}\"\n"))
}

pub(super) fn install(args: &Args, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let host = args.agent;
    let folders = folders(host)?;
    let stacks =
        read_text(&args.stacks, "give a stack file: `whenstop local` prints one").map_err(CommandFailure::usage)?;
    let mode = args.mode;
    let setup = Setup::from_settings(HookSettings { mode, ..HookSettings::default() }, &args.stacks, &stacks)
        .map_err(CommandFailure::usage)?;
    let program = program(args.program.as_deref())?;
    let path = target(host, &args.edit)?;
    refuse_second(&folders, &path)?;
    for (rule, reach, why) in setup.rules.iter().flat_map(|rules| host.reach(rules)) {
        if reach == RuleVisibility::Blind {
            output.note(&format!("`{rule}` will never act here: {why}"));
        }
    }
    if whenstop_hook::round::reads_texts(&setup.rules) {
        let folder = folders.state.display();
        output.note(&format!("these rules read words: arguments and results are kept in {folder}, for you alone"));
    }
    let propose = |old: Option<&str>| {
        let new = edit::with_hook(old.unwrap_or_default(), host, &program, mode).map_err(|why| {
            failed(&path, format!("cannot put the hook in: {why}"), "repair the file, or name another with `--config`")
        })?;
        Ok(Some(new))
    };
    let Some(change) = agreed_change(&path, propose, |old, new| asked(&path, old, new, &args.edit, output))? else {
        output.note("nothing was written");
        return Ok(ProgramExit::Done);
    };
    let (before, new) = (change.before, change.after.unwrap_or_default());
    let old = before.as_deref().unwrap_or_default();
    // Installed a second time, the copy of before the first stays the one to go back to.
    let known = Installed::read(&folders).filter(|known| known.config == path && known.wrote == id_of(old));
    if known.is_none() {
        replace(&Installed::copy(&folders), old)?;
    }
    let existed = known.map_or(before.is_some(), |known| known.existed);
    write_setup(&folders, mode.name(), if args.session { "session" } else { "round" }, &stacks)?;
    replace(&path, &new)?;
    let installed = Installed { config: path, wrote: id_of(&new), existed };
    replace(&Installed::file(&folders), &serde_json::to_string(&installed).unwrap_or_default())?;
    output.note(&format!(
        "installed for {}, mode {}; a copy of the configuration is {}; sessions that run already may not notice",
        host.name(),
        mode.name(),
        Installed::copy(&folders).display()
    ));
    Ok(ProgramExit::Done)
}

/// The hook's program as an absolute path.
fn program(named: Option<&Path>) -> Result<String, CommandFailure> {
    let beside = || {
        let own = std::env::current_exe().ok()?;
        Some(own.with_file_name(format!("whenstop-hook{}", std::env::consts::EXE_SUFFIX)))
    };
    let path = match named {
        Some(named) => named.to_path_buf(),
        None => beside().unwrap_or_default(),
    };
    let path = path.canonicalize().ok().filter(|path| path.is_file()).ok_or_else(|| {
        let help =
            "`cargo install --path crates/hook` in a checkout makes it, an archive has it; or name it with `--program`";
        failed(&path, "the hook's program is not there", help)
    })?;
    Ok(path.display().to_string())
}

pub(super) fn uninstall(args: &UninstallArgs, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let host = args.agent;
    let folders = folders(host)?;
    let path = target(host, &args.edit)?;
    // If nobody has edited it since, it becomes what it was, to the byte; else only what is ours is taken out.
    let propose = |old: Option<&str>| {
        let old = old.unwrap_or_default();
        let known = Installed::read(&folders).filter(|known| known.config == path && known.wrote == id_of(old));
        match &known {
            Some(known) if !known.existed => Ok(None),
            Some(_) => {
                read_text(&Installed::copy(&folders), "put it back by hand").map(Some).map_err(CommandFailure::input)
            }
            None => {
                let without = edit::without_hook(old).map_err(|why| failed(&path, why, "repair the file"))?;
                let what = format!("the hook is not in {}", path.display());
                without.map(Some).ok_or_else(|| CommandFailure::nothing(what, "there is nothing to take out"))
            }
        }
    };
    let Some(change) = agreed_change(&path, propose, |old, new| asked(&path, old, new, &args.edit, output))? else {
        output.note("nothing was written");
        return Ok(ProgramExit::Done);
    };
    match change.after {
        Some(text) => replace(&path, &text)?,
        None => std::fs::remove_file(&path).map_err(|error| failed(&path, error, "remove it by hand"))?,
    }
    let _ = std::fs::remove_file(Installed::file(&folders));
    output.note(&format!("taken out; the log and the sessions stay in {}", folders.state.display()));
    Ok(ProgramExit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_write_while_the_question_stands_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, "one").unwrap();
        let mut asked = Vec::new();
        let propose = |old: Option<&str>| Ok(old.map(|old| format!("{old} and ours")));
        let change = agreed_change(&path, propose, |old, new| {
            asked.push((old.to_owned(), new.to_owned()));
            if asked.len() == 1 {
                std::fs::write(&path, "one and theirs").unwrap();
            }
            Ok(true)
        });
        let change = change.ok().flatten().unwrap();
        assert_eq!(change.before.as_deref(), Some("one and theirs"));
        assert_eq!(change.after.as_deref(), Some("one and theirs and ours"));
        assert_eq!(asked.len(), 2, "it is asked again: {asked:?}");
        assert!(agreed_change(&path, propose, |_, _| Ok(false)).ok().flatten().is_none());
    }
}
