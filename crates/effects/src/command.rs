//! The effect of one simple command: a program and its arguments.

use super::code::{self, Language};
use super::parts::Told;
use super::programs::{self, Awk};
use super::shell::{Given, Shell, Word};
use super::{Effect, cloud, git, packages, path, sql, verbs, words};

/// Adds the effect of the command.
pub(super) fn run(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let mut words = words;
    loop {
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

/// The words after the options. The options in `with_value` are followed by a value of their own.
pub(super) fn after_options<'w>(words: &'w [Word], with_value: &[&str]) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            return &words[at + 1..];
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    words.get(at..).unwrap_or_default()
}

/// The first words of a command, for an explanation.
pub(super) fn spelled(words: &[Word], most: usize) -> String {
    let first: Vec<&str> = words.iter().take(most).map(|word| word.text.as_str()).collect();
    code::shortened(&first.join(" "))
}

/// True if one of `flags` is among the words. A short flag may be part of a group (`-rf`).
pub(super) fn has(words: &[Word], flags: &[&str]) -> bool {
    words.iter().take_while(|word| word.text != "--").any(|word| {
        let text = word.text.as_str();
        flags.iter().any(|flag| {
            text == *flag
                || (flag.starts_with("--") && text.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
                || (flag.len() == 2
                    && text.starts_with('-')
                    && !text.starts_with("--")
                    && text[1..].chars().all(|c| c.is_ascii_alphabetic())
                    && text[1..].contains(&flag[1..]))
        })
    })
}

/// The words that are not options.
pub(super) fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.text.starts_with('-'))
}

/// The words after the program, joined as a shell would read them.
fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

fn of_program(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    let say = |effect: Effect| Told::new(effect, format!("`{}`", spelled(words, 2)));
    let only_asks = !rest.is_empty()
        && rest.iter().all(|word| matches!(word.text.as_str(), "--version" | "--help" | "-V" | "-version" | "--usage"));
    if only_asks
        || (rest.len() == 1 && matches!(rest[0].text.as_str(), "version" | "-v" | "-h" | "help") && program != "kill")
    {
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
        "git" => return shell.parts.add(git::effect(words)),
        "gh" | "glab" | "hub" => return shell.parts.add(git::hosting(words)),
        "eval" => return shell.script(&joined(rest)),
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "ash" | "busybox" => return of_shell(shell, words, given),
        "cmd" | "powershell" | "pwsh" | "wsl" => return of_windows_shell(shell, program, rest),
        "su" | "runuser" => match rest.iter().position(|word| word.text == "-c" || word.text == "--command") {
            Some(at) => return shell.script(&rest.get(at + 1).map(|word| word.text.clone()).unwrap_or_default()),
            None => say(Effect::Unknown),
        },
        "source" | "." => return of_sourced(shell, words),
        "ssh" | "mosh" => return of_remote(shell, words),
        "chroot" => return run_rest(shell, rest.get(1..).unwrap_or_default(), given),
        "find" | "gfind" => return of_find(shell, words),
        "sed" | "gsed" => of_sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => of_awk(words),
        "sort" => of_output(words, has_output(rest, &["-o", "--output"])),
        "uniq" => match operands(rest).nth(1) {
            Some(file) => say(Effect::Edit).touching(vec![file.text.clone()]),
            None => say(Effect::Read),
        },
        "xxd" if has(rest, &["-r"]) && operands(rest).count() < 2 => say(Effect::Read),
        "xxd" | "shuf" if operands(rest).count() < 2 => say(Effect::Read),
        "xxd" => say(Effect::Edit),
        "yq" if has(rest, &["-i", "--inplace", "--in-place"]) => say(Effect::Edit),
        "yq" | "shuf" | "hostname" | "ip" | "route" | "nc" | "telnet" | "openssl" | "gpg" | "sysctl" => {
            let changes =
                ["add", "del", "set", "flush", "-w", "-out", "--import", "--sign", "genrsa", "req", "-l", "-o"];
            say(if rest.iter().any(|word| changes.contains(&word.text.as_str())) { Effect::Edit } else { Effect::Read })
        }
        "tee" => {
            let files: Vec<String> =
                operands(rest).map(|word| word.text.clone()).filter(|file| !path::is_sink(file)).collect();
            if files.is_empty() { say(Effect::Read) } else { say(Effect::Edit).touching(files) }
        }
        "command" | "exec" | "builtin" => say(Effect::Read),
        "crontab" if has(rest, &["-l"]) => say(Effect::Read),
        "mount" if rest.is_empty() => say(Effect::Read),
        "kill" if has(rest, &["-0", "-l"]) => say(Effect::Read),
        "unzip" if has(rest, &["-l", "-p", "-t", "-v", "-Z"]) => say(Effect::Read),
        "7z" | "unrar" | "zip" if matches!(rest.first().map(|w| w.text.as_str()), Some("l" | "t" | "v" | "-sf")) => {
            say(Effect::Read)
        }
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd"
            if has(rest, &["-c", "-l", "-t", "--stdout", "--list", "--test"]) || operands(rest).next().is_none() =>
        {
            say(Effect::Read)
        }
        "tar" | "bsdtar" | "gtar" => of_tar(words),
        "ar" if rest.first().is_some_and(|word| word.text.trim_start_matches('-').starts_with(['t', 'p'])) => {
            say(Effect::Read)
        }
        "rsync" if has(rest, &["-n", "--dry-run", "--list-only"]) => say(Effect::Read),
        "patch" if has(rest, &["--dry-run"]) => say(Effect::Check),
        "curl" | "wget" | "http" | "https" | "xh" | "httpie" => of_http(program, words),
        "sqlite3" | "psql" | "mysql" | "mariadb" | "duckdb" | "clickhouse-client" | "sqlcmd" | "bq" | "snowsql" => {
            of_database(words, given)
        }
        "redis-cli" | "mongosh" | "mongo" => of_key_store(words, given),
        "apply_patch" | "applypatch" => Told::new(Effect::Edit, "`apply_patch`")
            .touching(patched_files(given.input.or(rest.first().map(|word| word.text.as_str())).unwrap_or_default())),
        "black" | "isort" | "autopep8" | "yapf" | "prettier" | "gofmt" | "goimports" | "gofumpt" | "rustfmt"
        | "shfmt" | "clang-format" | "ruff" | "biome" | "dprint" | "stylua" | "standardrb" | "oxfmt" | "ktfmt"
        | "djlint" => of_formatter(program, words),
        "python" | "python2" | "pypy" | "pypy3" | "ipython" | "py" | "node" | "nodejs" | "deno" | "bun" | "tsx"
        | "ts-node" | "ruby" | "perl" | "php" | "lua" | "luajit" | "rscript" | "julia" | "osascript" | "groovy"
        | "irb" => {
            return of_interpreter(shell, program, words, given);
        }
        _ if is_python(program) => return of_interpreter(shell, "python", words, given),
        "edit" | "open" | "exec_command" if program == "edit" => say(Effect::Edit),
        "open" | "xdg-open" | "start-process" => say(Effect::Read),
        "str_replace_editor" | "str_replace_based_edit_tool" | "edit_anthropic" => {
            let looks = rest.first().is_some_and(|word| word.text == "view");
            if looks {
                say(Effect::Read)
            } else {
                say(Effect::Edit).touching(rest.get(1).map(|w| w.text.clone()).into_iter().collect())
            }
        }
        _ => return other(shell, program, words, given),
    };
    shell.parts.add(told);
}

/// Any other command: one decided by its name alone, by a package manager or cloud tool, or a script.
fn other(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    if let Some(effect) = words::effect(program) {
        let told = Told::new(effect, format!("`{}`", spelled(words, 2)));
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
        run_rest(shell, inner, given);
        return;
    }
    let raw = words[0].text.as_str();
    if raw.contains('/') || raw.contains('\\') || Language::of_file(raw).is_some() {
        shell.parts.add(of_script(shell, raw));
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

fn run_rest(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    if words.is_empty() {
        shell.parts.push(Effect::Unknown, "a shell without a command");
    } else {
        run(shell, words, given);
    }
}

fn is_python(program: &str) -> bool {
    program.strip_prefix("python").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The effect of running a script: known if the run wrote the script itself, else from its name, else a check.
fn of_script(shell: &Shell<'_>, file: &str) -> Told {
    if let Some(told) = shell.scripts.what_runs(file) {
        let mut told = told.clone();
        told.why = format!("runs `{}`: {}", code::shortened(file), told.why);
        return told;
    }
    let effect = verbs::of_script(file).unwrap_or(Effect::Check);
    let mut told = Told::new(effect, format!("runs `{}`", code::shortened(file)));
    told.may_change |= effect != Effect::Check;
    told
}

fn of_shell(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let rest = &words[1..];
    let takes_code = |word: &&Word| {
        let text = word.text.as_str();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    };
    if let Some(at) = rest.iter().take_while(|word| word.text.starts_with('-')).position(|word| takes_code(&word)) {
        match rest.get(at + 1) {
            Some(word) if word.text.starts_with("$(") || word.text.starts_with("${") => {
                shell.parts.push(Effect::Unknown, "a shell is given what another command prints");
            }
            Some(word) => shell.script(&word.text.clone()),
            None => shell.parts.push(Effect::Read, "a shell without a command"),
        }
        return;
    }
    let checks_syntax = has(rest, &["-n"]);
    match (after_options(rest, &["-o", "-O"]).first(), given.input) {
        (Some(_), _) if checks_syntax => shell.parts.push(Effect::Check, "checks the syntax of a script"),
        (Some(word), _) if word.text != "-" && words[0].text != "busybox" => {
            let told = of_script(shell, &word.text.clone());
            shell.parts.add(told);
        }
        (_, Some(text)) => shell.script(text),
        _ => shell.parts.push(Effect::Unknown, "a shell is given what another command prints"),
    }
}

fn of_windows_shell(shell: &mut Shell<'_>, program: &str, rest: &[Word]) {
    let at = rest.iter().position(|word| {
        matches!(word.text.to_ascii_lowercase().as_str(), "/c" | "/k" | "-command" | "-c" | "-e" | "--")
    });
    let from = match (at, program) {
        (Some(at), _) => at + 1,
        (None, "wsl") => 0,
        (None, _) => {
            shell.parts.push(Effect::Unknown, "a shell without a command");
            return;
        }
    };
    shell.script(&joined(&rest[from..]));
}

fn of_sourced(shell: &mut Shell<'_>, words: &[Word]) {
    let told = words.get(1).and_then(|word| shell.scripts.what_runs(&word.text)).cloned();
    shell.parts.add(told.unwrap_or_else(|| Told::new(Effect::Read, format!("`{}`", spelled(words, 2)))));
}

fn of_remote(shell: &mut Shell<'_>, words: &[Word]) {
    let with_value = ["-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-E", "-m", "-S"];
    let after_host = after_options(&words[1..], &with_value).get(1..).unwrap_or_default();
    let command = after_options(after_host, &with_value);
    if command.is_empty() {
        let asks = has(&words[1..], &["-T", "-G", "-V"]);
        shell.parts.push(if asks { Effect::Read } else { Effect::Unknown }, format!("`{}`", spelled(words, 2)));
    } else {
        shell.script(&joined(command));
    }
}

fn of_find(shell: &mut Shell<'_>, words: &[Word]) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "-delete" => shell.parts.push(Effect::Edit, "`find -delete`"),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                shell.parts.push(Effect::Edit, format!("`find {}`", word.text));
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let inner = &words[at + 1..];
                let end = inner.iter().position(|word| matches!(word.text.as_str(), ";" | "+" | "\\;"));
                let end = end.unwrap_or(inner.len());
                run_rest(shell, &inner[..end], Given::default());
                at += end;
            }
            _ => {}
        }
        at += 1;
    }
    shell.parts.push(Effect::Read, "`find`");
}

fn of_sed(words: &[Word]) -> Told {
    let rest = &words[1..];
    let in_place = rest.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with("--in-place")
            || (text.starts_with('-') && !text.starts_with("--") && {
                let flags = text[1..].split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
                // In `-es/a/i/`, the text after `e` is a script.
                flags.find('i').is_some_and(|i| !flags[..i].contains(['e', 'f']))
            })
    });
    let explicit: Vec<&str> = rest
        .windows(2)
        .filter(|pair| matches!(pair[0].text.as_str(), "-e" | "--expression"))
        .map(|pair| pair[1].text.as_str())
        .collect();
    let mut plain: Vec<&Word> = operands(rest).filter(|word| !explicit.contains(&word.text.as_str())).collect();
    let mut scripts = explicit.clone();
    if explicit.is_empty() && !has(rest, &["-f"]) && !plain.is_empty() {
        // On macOS `-i` takes a suffix, which is often empty.
        if plain[0].text.is_empty() {
            plain.remove(0);
        }
        if !plain.is_empty() {
            scripts.push(&plain.remove(0).text);
        }
    }
    let why = format!("`{}`", spelled(words, 2));
    if in_place {
        let varies = plain.iter().any(|word| word.varies || word.text.contains(['*', '?', '{']));
        let files = plain.iter().map(|word| word.text.clone()).collect();
        let told = Told::new(Effect::Edit, why);
        return if varies { told } else { told.touching(files) };
    }
    match scripts.iter().find_map(|script| programs::sed_writes(script)) {
        Some("w") => Told::new(Effect::Edit, format!("{why} with a `w` command")),
        Some(_) => Told::new(Effect::Unknown, format!("{why} with an `e` command")),
        None => Told::new(Effect::Read, why),
    }
}

fn of_awk(words: &[Word]) -> Told {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    if rest.windows(2).any(|pair| pair[0].text == "-i" && pair[1].text == "inplace") {
        return Told::new(Effect::Edit, format!("{why} -i inplace"));
    }
    let Some(program) = after_options(rest, &["-F", "-v", "-f", "--field-separator", "--assign"]).first() else {
        return Told::new(Effect::Read, why);
    };
    if has(rest, &["-f"]) {
        return Told::new(Effect::Read, why);
    }
    match programs::awk(&program.text) {
        Awk::Prints => Told::new(Effect::Read, why),
        Awk::Writes(file) => {
            Told::new(Effect::Edit, format!("{why} prints into a file")).touching(file.into_iter().collect())
        }
        Awk::Starts => Told::new(Effect::Unknown, format!("{why} starts a command")),
    }
}

/// The value of an option that names an output file.
fn has_output(words: &[Word], options: &[&str]) -> Option<String> {
    let next = words.windows(2).find(|pair| options.contains(&pair[0].text.as_str())).map(|pair| pair[1].text.clone());
    next.or_else(|| {
        words.iter().find_map(|word| {
            let (name, value) = word.text.split_once('=')?;
            options.contains(&name).then(|| value.to_owned())
        })
    })
}

fn of_output(words: &[Word], output: Option<String>) -> Told {
    let why = format!("`{}`", spelled(words, 2));
    match output.filter(|file| !path::is_sink(file)) {
        Some(file) => Told::new(Effect::Edit, why).touching(vec![file]),
        None => Told::new(Effect::Read, why),
    }
}

fn of_tar(words: &[Word]) -> Told {
    let first = words.get(1).map(|word| word.text.trim_start_matches('-')).unwrap_or_default();
    let rest = &words[1..];
    let lists =
        has(rest, &["-t", "--list", "-d", "--diff"]) || (!first.contains(['x', 'c', 'r', 'u']) && first.contains('t'));
    let shows = has(rest, &["-O", "--to-stdout"]);
    let streams = rest.windows(2).any(|pair| pair[0].text.ends_with('f') && pair[1].text == "-") && first.contains('c');
    Told::new(if lists || shows || streams { Effect::Read } else { Effect::Edit }, format!("`{}`", spelled(words, 2)))
}

fn of_http(program: &str, words: &[Word]) -> Told {
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 1));
    let method = rest
        .windows(2)
        .find(|pair| matches!(pair[0].text.as_str(), "-X" | "--request" | "--method"))
        .map(|pair| pair[1].text.to_ascii_uppercase())
        .or_else(|| {
            rest.iter().find_map(|w| w.text.strip_prefix("-X").filter(|m| !m.is_empty()).map(str::to_ascii_uppercase))
        })
        .or_else(|| {
            let first = rest.iter().find(|w| !w.text.starts_with('-')).map(|w| w.text.as_str());
            first.filter(|w| ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(w)).map(str::to_owned)
        });
    let sends = has(
        rest,
        &[
            "-d",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--json",
            "-F",
            "--form",
            "-T",
            "--upload-file",
            "--post-data",
            "--post-file",
        ],
    );
    let asks = method.as_deref().map_or(!sends, |method| matches!(method, "GET" | "HEAD" | "OPTIONS"));
    let here = rest
        .iter()
        .any(|word| ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"].iter().any(|host| word.text.contains(host)));
    if !asks {
        let mut told = Told::new(if here { Effect::Check } else { Effect::Unknown }, format!("{why} sends data"));
        told.may_change = true;
        return told;
    }
    let output = if program == "wget" {
        let to_screen = rest.iter().any(|w| w.text == "--spider" || w.text == "-O-" || w.text == "-qO-")
            || has_output(rest, &["-O", "-qO", "--output-document"]).is_some_and(|file| path::is_sink(&file));
        if to_screen { None } else { Some(has_output(rest, &["-O", "--output-document"]).unwrap_or_default()) }
    } else {
        let named = has_output(rest, &["-o", "--output", "-sSLo", "-Lo", "-sLo", "-fsSLo", "-so"]);
        let remote = rest.iter().any(|w| w.text == "--remote-name")
            || rest.iter().any(|w| w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains('O'));
        if remote { Some(String::new()) } else { named.filter(|file| !path::is_sink(file)) }
    };
    match output {
        Some(file) => Told::new(Effect::Edit, format!("{why} saves a file"))
            .touching(Some(file).filter(|file| !file.is_empty()).into_iter().collect()),
        None => Told::new(if here { Effect::Check } else { Effect::Read }, why),
    }
}

fn of_database(words: &[Word], given: Given<'_>) -> Told {
    let why = format!("`{}`", spelled(words, 1));
    let rest = &words[1..];
    let texts = rest.iter().map(|word| word.text.as_str()).chain(given.input);
    let effect = texts.filter(|text| text.contains(' ') || text.starts_with(['.', '\\'])).filter_map(sql::effect).max();
    let lists = has(rest, &["-l", "--list"]);
    let effect = if lists { Effect::Read } else { effect.unwrap_or(Effect::Unknown) };
    Told::new(effect, why)
}

fn of_key_store(words: &[Word], given: Given<'_>) -> Told {
    let mut said = operands(&words[1..]).map(|word| word.text.to_ascii_lowercase()).collect::<Vec<_>>().join(" ");
    said.push_str(given.input.unwrap_or_default());
    let verbs = verbs::words(&said);
    let looks = [
        "get", "keys", "info", "ping", "find", "findone", "count", "scan", "ttl", "exists", "llen", "show", "mget",
        "hgetall",
    ];
    let changes = |word: &String| {
        verbs::EDIT.iter().any(|verb| word.starts_with(verb))
            || matches!(word.as_str(), "del" | "flushall" | "flushdb" | "eval" | "hset" | "lpush" | "expire" | "incr")
    };
    let effect = if verbs.iter().any(changes) {
        Effect::Edit
    } else if verbs.iter().any(|word| looks.contains(&word.as_str())) {
        Effect::Read
    } else {
        Effect::Unknown
    };
    Told::new(effect, format!("`{}`", spelled(words, 2)))
}

#[expect(clippy::match_same_arms, reason = "one arm a program: a table")]
fn of_formatter(program: &str, words: &[Word]) -> Told {
    let rest = &words[1..];
    let first = rest.first().map(|word| word.text.as_str()).unwrap_or_default();
    let checks =
        has(rest, &["--check", "--diff", "--check-only", "-c", "-l", "-d", "--list-different", "--dry-run", "-n"]);
    let writes = has(rest, &["-w", "-i", "--write", "--fix", "--in-place", "--inplace", "--unsafe-fixes", "--apply"]);
    let effect =
        match program {
            "ruff" if first == "format" => {
                if checks {
                    Effect::Check
                } else {
                    Effect::Edit
                }
            }
            "ruff" if first == "rule" || first == "config" || first == "linter" => Effect::Read,
            "ruff" | "biome" => {
                if writes {
                    Effect::Edit
                } else {
                    Effect::Check
                }
            }
            "prettier" | "gofmt" | "goimports" | "gofumpt" | "shfmt" | "clang-format" | "autopep8" | "yapf" => {
                if writes { Effect::Edit } else { Effect::Check }
            }
            _ if checks => Effect::Check,
            _ => Effect::Edit,
        };
    Told::new(effect, format!("`{}`", spelled(words, 2)))
}

/// The files that an `apply_patch` patch names.
pub(super) fn patched_files(patch: &str) -> Vec<String> {
    let heads = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/"];
    let named = |line: &str| heads.iter().find_map(|head| line.strip_prefix(head)).map(|file| file.trim().to_owned());
    patch.lines().filter_map(named).collect()
}

fn of_interpreter(shell: &mut Shell<'_>, program: &str, words: &[Word], given: Given<'_>) {
    let language = match program {
        "python" | "python2" | "pypy" | "pypy3" | "ipython" | "py" => Language::Python,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Language::JavaScript,
        "ruby" | "irb" => Language::Ruby,
        "perl" => Language::Perl,
        "php" => Language::Php,
        _ => Language::Other,
    };
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 2));
    if matches!(program, "deno" | "bun")
        && let Some(told) = packages::effect(program, words)
    {
        shell.parts.add(told);
        return;
    }
    if matches!(program, "perl" | "ruby")
        && rest.iter().any(|w| {
            w.text.starts_with('-')
                && !w.text.starts_with("--")
                && w.text[1..].split(['e', 'M', 'I']).next().is_some_and(|flags| flags.contains('i'))
        })
    {
        let files = operands(rest).skip(1).map(|word| word.text.clone()).collect();
        shell.parts.add(Told::new(Effect::Edit, why).touching(files));
        return;
    }
    let takes_code = |word: &Word| match language {
        Language::Python => word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c'),
        Language::JavaScript => matches!(word.text.as_str(), "-e" | "-p" | "-pe" | "--eval" | "--print" | "eval"),
        Language::Php => word.text == "-r",
        _ => word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with(['e', 'E']),
    };
    let with_value = ["-W", "-X", "-m", "-r", "--require", "--loader", "--import", "-I", "-C", "--env-file", "-M"];
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if takes_code(word) {
            let code = rest.get(at + 1).map(|word| word.text.clone()).unwrap_or_default();
            shell.parts.add(code::effect(&code, language));
            return;
        }
        if language == Language::Python && word.text == "-m" {
            of_module(shell, &rest[at + 1..], given);
            return;
        }
        if language == Language::JavaScript && matches!(word.text.as_str(), "--check" | "--test") {
            shell.parts.push(Effect::Check, why);
            return;
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        at += if with_value.contains(&word.text.as_str()) { 2 } else { 1 };
    }
    match (rest.get(at).filter(|word| word.text != "-" && word.text != "/dev/stdin"), given.input) {
        (Some(script), _) if path::file_name(&script.text) == "manage.py" => {
            shell.parts.add(packages::django(&rest[at + 1..]));
        }
        (Some(script), _) if script.varies => shell.parts.push(Effect::Check, why),
        (Some(script), _) => {
            let told = of_script(shell, &script.text.clone());
            shell.parts.add(told);
        }
        (None, Some(code)) => shell.parts.add(code::effect(code, language)),
        (None, None) if given.piped => shell.parts.push(Effect::Unknown, format!("{why} runs what it is given")),
        (None, None) => shell.parts.push(Effect::Read, why),
    }
}

/// `python -m MODULE …` usually runs the program of the same name.
fn of_module(shell: &mut Shell<'_>, words: &[Word], given: Given<'_>) {
    let Some(module) = words.first() else {
        shell.parts.push(Effect::Read, "`python -m`");
        return;
    };
    match module.text.as_str() {
        "json.tool" | "site" | "sysconfig" | "platform" | "this" | "pydoc" | "inspect" | "dis" | "tokenize" | "ast" => {
            let writes = module.text == "json.tool" && operands(&words[1..]).count() > 1;
            shell.parts.push(if writes { Effect::Edit } else { Effect::Read }, format!("`python -m {}`", module.text));
        }
        "zipfile" | "tarfile" | "venv" => {
            let lists = has(&words[1..], &["-l", "--list", "-t"]);
            shell.parts.push(if lists { Effect::Read } else { Effect::Edit }, format!("`python -m {}`", module.text));
        }
        "django" => shell.parts.add(packages::django(&words[1..])),
        name => {
            let known = words::effect(name).is_some()
                || packages::effect(name, words).is_some()
                || matches!(name, "black" | "isort" | "ruff" | "autopep8" | "yapf");
            if known {
                run(shell, words, given);
            } else {
                shell.parts.push(Effect::Check, format!("`python -m {name}`"));
            }
        }
    }
}
