//! The effect of one simple command: a program and its arguments.

mod files;
mod flags;
mod interpreters;
mod network;
mod options;

pub(super) use files::patched_files;
pub(super) use options::{after_options, has, operands, spelled};

use options::has_output;

use super::code::{self, Language};
use super::parts::CallEffect;
use super::shell::{Given, Shell, Word};
use super::{Effect, cloud, git, packages, path, verbs, words};

/// Wrappers around a command (`sudo env nice …`) are followed to this number.
const MOST_WRAPPERS: usize = 64;

/// Adds the effect of the command.
pub(super) fn run(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let mut words = words;
    for _ in 0..MOST_WRAPPERS {
        words = skip_assignments(words);
        let Some(first) = words.first() else {
            shell.parts.push(Effect::Read, "sets variables");
            return;
        };
        if let Some(effect) = shell.table.command(words) {
            shell.parts.push(effect, format!("`{}`, by the stack file", spelled(words, 3)));
            return;
        }
        if first.varies {
            shell.parts.push(Effect::Unknown, format!("`{}` is not known", code::shortened(&first.text)));
            return;
        }
        let program = path::program(&first.text);
        match wrapped(&program, words) {
            Some(inner) => words = inner,
            None => return of_program(shell, &program, words, given),
        }
    }
    shell.parts.push(Effect::Unknown, "nested too deep to be followed");
}

fn skip_assignments(words: &[Word]) -> &[Word] {
    let is_assignment = |word: &Word| {
        word.text.split_once('=').is_some_and(|(name, _)| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let n_assignments = words.iter().take_while(|word| is_assignment(word)).count();
    &words[n_assignments..]
}

/// The command that a wrapper command runs (`sudo`, `env` and the like); `None` if it is not a wrapper.
fn wrapped<'w>(program: &str, words: &'w [Word]) -> Option<&'w [Word]> {
    let rest = &words[1..];
    let inner = match program {
        "sudo" | "doas" => after_options(rest, &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"]),
        "env" => after_options(rest, &["-u", "--unset", "-C", "--chdir", "-S"]),
        "time" | "nohup" | "command" | "builtin" | "setsid" | "chronic" | "unbuffer" | "winpty" | "caffeinate"
        | "rtk" | "dbus-run-session" | "xvfb-run" | "fakeroot" | "arch" | "tsp" | "call" | "exec" | "noglob" => {
            let asks = program == "command" && rest.first().is_some_and(|word| word.text.starts_with(['-']));
            if asks {
                return None;
            }
            after_options(rest, &["-a", "-o", "-f"])
        }
        "timeout" | "gtimeout" => {
            let inner = after_options(rest, &["-s", "--signal", "-k", "--kill-after"]);
            inner.get(1..).unwrap_or_default()
        }
        "nice" | "ionice" | "chrt" | "taskset" | "stdbuf" | "numactl" => {
            let inner = after_options(rest, &["-n", "-c", "-p", "--adjustment", "-i", "-o", "-e"]);
            if matches!(program, "taskset") { inner.get(1..).unwrap_or_default() } else { inner }
        }
        "xargs" | "gxargs" => after_options(
            rest,
            &["-n", "-I", "-P", "-L", "-s", "-d", "-a", "-E", "-R", "-J", "--max-args", "--max-procs"],
        ),
        "parallel" => after_options(rest, &["-j", "--jobs", "-n", "--arg-file", "-a"]),
        "flock" => after_options(rest, &["-w", "-E", "-c"]).get(1..).unwrap_or_default(),
        "watch" | "entr" => after_options(rest, &["-n", "--interval", "-d"]),
        "npx" | "bunx" | "uvx" | "pnpx" => {
            after_options(rest, &["-p", "--package", "-c", "--call", "--from", "--with"])
        }
        "strace" | "ltrace" => after_options(rest, &["-e", "-o", "-p", "-s"]),
        _ => return packages::wrapped(program, rest),
    };
    (!inner.is_empty()).then_some(inner)
}

fn of_program(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    let say = |effect: Effect| CallEffect::new(effect, format!("`{}`", spelled(words, 2)));
    let runs_code = interpreters::runs_code(program, rest, given);
    if !runs_code && flags::only_asks(program, rest) {
        shell.parts.add(say(Effect::Read));
        return;
    }
    let told = match program {
        "echo"
            if rest.iter().any(|word| {
                word.text.contains("COMPLETE_TASK_AND_SUBMIT") || word.text.contains("MINI_SWE_AGENT_FINAL_OUTPUT")
            }) =>
        {
            say(Effect::Handover)
        }
        "git" => git::effect(words),
        "gh" | "glab" | "hub" => git::hosting(words),
        "chroot" => return interpreters::run_rest(shell, rest.get(1..).unwrap_or_default(), given),
        "find" | "gfind" => return files::of_find(shell, words),
        "sed" | "gsed" => files::of_sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => files::of_awk(words),
        "sort" => files::of_output(words, has_output(rest, &["-o", "--output"])),
        "uniq" => match operands(rest).nth(1) {
            Some(file) => say(Effect::Edit).touching(vec![file.text.clone()]),
            None => say(Effect::Read),
        },
        "tee" => {
            let files: Vec<String> =
                operands(rest).map(|word| word.text.clone()).filter(|file| !path::is_sink(file)).collect();
            if files.is_empty() { say(Effect::Read) } else { say(Effect::Edit).touching(files) }
        }
        "tar" | "bsdtar" | "gtar" => files::of_tar(words),
        "ar" if rest.first().is_some_and(|word| word.text.trim_start_matches('-').starts_with(['t', 'p'])) => {
            say(Effect::Read)
        }
        "curl" | "wget" | "http" | "https" | "xh" | "httpie" => network::of_http(program, words),
        "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb" | "clickhouse-client" | "sqlcmd" | "bq" | "snowsql" => {
            network::of_database(words, given)
        }
        "redis-cli" | "mongosh" | "mongo" => network::of_key_store(words, given),
        "apply_patch" | "applypatch" => {
            let patch = given.input.or(rest.first().map(|word| word.text.as_str())).unwrap_or_default();
            CallEffect::new(Effect::Edit, "`apply_patch`").touching(patched_files(patch))
        }
        "str_replace_editor" | "str_replace_based_edit_tool" | "edit_anthropic" => {
            let looks = rest.first().is_some_and(|word| word.text == "view");
            let file = rest.get(1).map(|word| word.text.clone());
            if looks { say(Effect::Read) } else { say(Effect::Edit).touching(file.into_iter().collect()) }
        }
        _ => match flags::effect(program, rest) {
            Some(effect) => say(effect),
            None if interpreters::run(shell, program, words, given) => return,
            None => return other(shell, program, words, given),
        },
    };
    shell.parts.add(told);
}

/// Any other command: one decided by its name alone, by a package manager or cloud tool, or a script.
fn other(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    if let Some(effect) = words::effect(program) {
        let told = CallEffect::new(effect, format!("`{}`", spelled(words, 2)));
        // For these programs, all operands are files they change; for others (`kill 12`, `dd of=x`) they can be
        // anything.
        let names_files = matches!(
            program,
            "rm" | "rmdir" | "mv" | "cp" | "mkdir" | "touch" | "ln" | "chmod" | "truncate" | "unlink"
        );
        let files = operands(rest).map(|word| word.text.clone()).collect();
        let varies = rest.iter().any(|word| word.varies || word.text.contains(['*', '?', '{']));
        let mut told = if names_files && !varies { told.touching(files) } else { told };
        if matches!(program, "rm" | "unlink" | "rmdir") {
            told.removed.clone_from(&told.touched);
        }
        shell.parts.add(told);
        return;
    }
    if let Some(told) = packages::effect(program, words).or_else(|| cloud::effect(program, words)) {
        shell.parts.add(told);
        return;
    }
    if let Some(inner) = cloud::wrapped(program, rest) {
        interpreters::run_rest(shell, inner, given);
        return;
    }
    let raw = words[0].text.as_str();
    if raw.contains('/') || raw.contains('\\') || Language::of_file(raw).is_some() {
        shell.parts.add(interpreters::of_script(shell, raw));
        return;
    }
    let sub: Vec<&Word> = operands(rest).take(3).collect();
    let said = sub.iter().find_map(|word| verbs::of_word(&word.text.to_ascii_lowercase()));
    let named = || verbs::of_script(program).filter(|effect| *effect != Effect::Check);
    let checks =
        || verbs::words(program).iter().any(|word| matches!(word.as_str(), "test" | "tests" | "lint" | "check"));
    let effect = said.or_else(named).or_else(|| checks().then_some(Effect::Check)).unwrap_or(Effect::Unknown);
    shell.parts.push(effect, format!("`{}`", spelled(words, 3)));
}
