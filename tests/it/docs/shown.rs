//! The commands that the pages show are run: those of a `console` block print what stands below them, those of an `sh`
//! block pass. Files that a page shows under a first line `# NAME` lie in the folder in which they run.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use regex::Regex;

use super::{is_update, pages, root};
use crate::scratch::Scratch;

/// Files that a page names and does not show.
const FILES: [(&str, &str); 6] = [
    ("fuse.toml", "scope = \"round\"\n[[stack]]\nname = \"fuse\"\nany = [{ signal = \"steps\", at_least = 80 }]\n"),
    ("tuned/tuned.toml", "[[stack]]\nname = \"tuned\"\nany = [{ signal = \"steps\", at_least = 26 }]\n"),
    ("tuned/.whenstop-files", "tuned.toml\n"),
    ("grid.toml", "[[axis]]\nsignal = \"steps\"\nat_least = [10, 20, 30]\n"),
    ("prices.toml", "[m-large]\ninput = 1.0\noutput = 2.0\n"),
    ("outcomes.csv", "run_id,success\ncode-000-0,true\n"),
];

/// A folder that looks like a checkout, with the files that the README and `page` show and the rest of those they name:
/// the recordings and stack files, and nothing written yet.
fn checkout(page: &str) -> Scratch {
    let scratch = Scratch::with(&[]);
    for folder in ["traces", "fixtures"] {
        std::os::unix::fs::symlink(root().join(folder), scratch.path(folder)).unwrap();
    }
    for (name, text) in FILES {
        scratch.put(name, text);
    }
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let is_file = Regex::new(r"^[a-z_]+\.(toml|py)$").unwrap();
    for (_, body) in blocks(&readme).into_iter().chain(blocks(page)) {
        let name = body.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
        if is_file.is_match(name) {
            scratch.put(name, body);
        }
    }
    scratch
}

/// The language and body of each block of a page.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, block)) = rest.split_once("```") {
        let Some((body, after)) = block.split_once("```") else { break };
        found.push(body.split_once('\n').unwrap_or((body, "")));
        rest = after;
    }
    found
}

/// Runs a line as a reader would, with the program on the path and the folder's `home` as their home; gives exit code,
/// stdout and stderr.
fn shell(scratch: &Scratch, line: &str) -> (i32, String, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_whenstop")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(program.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(scratch.path("."))
        .env("PATH", path.unwrap())
        .env("HOME", scratch.path("home"));
    command.env_remove("CI").env_remove("COLUMNS").stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// What a console block shows after its commands are run in `scratch`; `...` in it stands for any lines.
fn rerun(scratch: &Scratch, block: &str) -> String {
    let mut out = String::new();
    let commands = block.split("$ ").skip(1);
    for part in commands {
        let (line, expected) = part.split_once('\n').unwrap();
        let (_, stdout, stderr) = shell(scratch, line);
        let printed = if stdout.is_empty() { stderr } else { stdout };
        let printed: Vec<&str> = printed.trim_end().lines().collect();
        let expected: Vec<&str> = expected.trim_end().lines().collect();
        let shown = match expected.iter().position(|line| *line == "...") {
            Some(kept) if kept > 0 && printed.len() > kept => [&printed[..kept], &["..."]].concat(),
            _ => printed,
        };
        let _ = writeln!(out, "$ {line}");
        for line in shown {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

#[test]
fn every_console_block_prints_what_it_shows() {
    let mut shown = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let scratch = checkout(&text);
        let mut now = String::new();
        let mut rest = text.as_str();
        while let Some((before, block)) = rest.split_once("```console\n") {
            let (block, after) = block.split_once("```").unwrap();
            let _ = write!(now, "{before}```console\n{}```", rerun(&scratch, block));
            rest = after;
            shown += 1;
        }
        now.push_str(rest);
        if is_update() {
            std::fs::write(&page, now).unwrap();
        } else {
            let differs = now.lines().zip(text.lines()).find(|(now, shown)| now != shown);
            assert!(
                now == text,
                "{}: {differs:?}: UPDATE_DOCS=1 cargo test --workspace --test it docs::",
                page.display()
            );
        }
    }
    assert!(shown >= 10, "{shown} console blocks");
}

/// Figures of recordings that are not ours to publish stand in a `text` block below a comment that names the folder and
/// the command: what is printed holds them as they are.
#[test]
#[cfg_attr(not(shared_material), ignore = "needs ../shared")]
fn figures_of_others_recordings_are_what_is_printed() {
    let marked =
        Regex::new(r"(?s)<!-- sessions in \.\./shared/(\S+): (whenstop [^>]*) -->\n```text\n(.*?)```").unwrap();
    let mut n_figures = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for found in marked.captures_iter(&text) {
            let scratch = Scratch::with(&[]);
            for entry in std::fs::read_dir(root().join("../shared").join(&found[1])).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    scratch.put_bytes(&format!("home/.claude/projects/work/{name}"), &std::fs::read(&path).unwrap());
                }
            }
            let (_, printed, _) = shell(&scratch, &found[2]);
            assert!(printed.contains(&found[3]), "{}: `{}` prints now\n{printed}", page.display(), &found[2]);
            n_figures += 1;
        }
    }
    assert!(n_figures > 0);
}

/// A line of an `sh` block as it can be run here: words that stand for the reader's own are filled in, questions are
/// answered, and what would go on for ever looks once.
fn filled_in(line: &str) -> String {
    let line = line.split(" #").next().unwrap_or_default().trim();
    let line = line.replace("RUN-ID", "code-000-0").replace("RUNS", "runs").replace("GRADED", "runs");
    match line {
        _ if line.starts_with("whenstop local --follow") => format!("{line} --once"),
        _ if line.starts_with("whenstop ci review") => format!("{line} --all"),
        _ if line.contains("hook install") || line.contains("hook uninstall") => format!("{line} --yes"),
        _ => line,
    }
}

/// Every fourth of the bundled runs, graded and not: enough for an answer, whatever it is.
fn some_recordings() -> String {
    let all = std::fs::read_to_string(root().join("traces/synthetic/code.jsonl")).unwrap();
    let mut runs = 0;
    let is_wanted = |line: &&str| {
        runs += usize::from(line.contains("\"type\":\"run\""));
        runs % 4 == 1
    };
    all.split_inclusive('\n').filter(is_wanted).collect()
}

#[test]
fn every_command_shown_passes() {
    let mut failed = Vec::new();
    let mut n_commands = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let lines: Vec<String> = blocks(&text)
            .iter()
            .filter(|(language, _)| *language == "sh")
            .flat_map(|(_, body)| body.lines())
            .filter(|line| line.starts_with("whenstop "))
            .map(filled_in)
            .collect();
        if lines.is_empty() {
            continue;
        }
        let scratch = checkout(&text);
        let recordings = some_recordings();
        let session = std::fs::read_to_string(root().join("fixtures/readers/claude-code/good.jsonl")).unwrap();
        for name in ["runs/code.jsonl", "home/runs/code.jsonl", "home/later/code.jsonl"] {
            scratch.put(name, &recordings);
        }
        scratch.put("home/.claude/projects/work/session.jsonl", &session);
        for line in lines {
            if line.contains("--labels labels.csv") {
                // By now the reader has filled in what was asked.
                let labels = scratch.read("labels.csv").replace(",,,,,", ",true,,,,");
                scratch.put("labels.csv", &labels);
            }
            let (code, _, stderr) = shell(&scratch, &line);
            n_commands += 1;
            // A gate that fails and a limit that is not worth shipping are answers, and so is a log with nothing in it yet.
            let is_empty_log = code == 4 && line.starts_with("whenstop hook log");
            if !matches!(code, 0 | 100) && !is_empty_log {
                failed.push(format!("{}: {line}: exit {code}\n{stderr}", page.display()));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(n_commands >= 50, "{n_commands} commands");
}
