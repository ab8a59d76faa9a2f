//! Programs whose effect a flag or a first word decides, as a table.

use super::super::Effect;
use super::super::shell::Word;
use super::options::{has, operands};

/// What is looked for among the words after the program.
enum Sign {
    /// One of these flags.
    Flag(&'static [&'static str]),
    /// One of these as the first word.
    First(&'static [&'static str]),
    /// One of these as any word.
    Word(&'static [&'static str]),
    /// Fewer operands than this.
    FewerOperands(usize),
}

/// Programs, a sign, and the effect where it is seen. The first line that fits decides; a program without one is decided
/// by the other tables.
const BY_SIGN: &[(&str, Sign, Effect)] = &[
    ("crontab", Sign::Flag(&["-l"]), Effect::Read),
    ("mount", Sign::FewerOperands(1), Effect::Read),
    ("kill", Sign::Flag(&["-0", "-l"]), Effect::Read),
    ("unzip", Sign::Flag(&["-l", "-p", "-t", "-v", "-Z"]), Effect::Read),
    ("7z unrar zip", Sign::First(&["l", "t", "v", "-sf"]), Effect::Read),
    (
        "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd",
        Sign::Flag(&["-c", "-l", "-t", "--stdout", "--list", "--test"]),
        Effect::Read,
    ),
    ("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd", Sign::FewerOperands(1), Effect::Read),
    ("rsync", Sign::Flag(&["-n", "--dry-run", "--list-only"]), Effect::Read),
    ("patch", Sign::Flag(&["--dry-run"]), Effect::Check),
    ("xxd shuf", Sign::FewerOperands(2), Effect::Read),
    ("xxd", Sign::FewerOperands(usize::MAX), Effect::Edit),
    ("yq", Sign::Flag(&["-i", "--inplace", "--in-place"]), Effect::Edit),
    (
        "yq shuf hostname ip route nc telnet openssl gpg sysctl",
        Sign::Word(&["add", "del", "set", "flush", "-w", "-out", "--import", "--sign", "genrsa", "req", "-l", "-o"]),
        Effect::Edit,
    ),
    ("yq shuf hostname ip route nc telnet openssl gpg sysctl", Sign::FewerOperands(usize::MAX), Effect::Read),
    ("command exec builtin open xdg-open start-process", Sign::FewerOperands(usize::MAX), Effect::Read),
    ("edit", Sign::FewerOperands(usize::MAX), Effect::Edit),
    ("ruff", Sign::First(&["rule", "config", "linter"]), Effect::Read),
    ("ruff", Sign::First(&["format"]), Effect::Edit),
    ("ruff biome", Sign::Flag(WRITES), Effect::Edit),
    ("ruff biome", Sign::FewerOperands(usize::MAX), Effect::Check),
    (WRITE_IF_ASKED, Sign::Flag(WRITES), Effect::Edit),
    (WRITE_IF_ASKED, Sign::FewerOperands(usize::MAX), Effect::Check),
    (FORMATTERS, Sign::Flag(CHECKS), Effect::Check),
    (FORMATTERS, Sign::FewerOperands(usize::MAX), Effect::Edit),
];

/// Formatters that print unless they are asked to write.
const WRITE_IF_ASKED: &str = "prettier gofmt goimports gofumpt shfmt clang-format autopep8 yapf";
/// Formatters that write unless they are asked to check.
const FORMATTERS: &str = "black isort rustfmt dprint stylua standardrb oxfmt ktfmt djlint";
const WRITES: &[&str] = &["-w", "-i", "--write", "--fix", "--in-place", "--inplace", "--unsafe-fixes", "--apply"];
const CHECKS: &[&str] = &["--check", "--diff", "--check-only", "-c", "-l", "-d", "--list-different", "--dry-run", "-n"];

/// The effect of such a program.
pub(super) fn effect(program: &str, rest: &[Word]) -> Option<Effect> {
    if program == "ruff" && rest.first().is_some_and(|word| word.text == "format") && has(rest, CHECKS) {
        return Some(Effect::Check);
    }
    let is_seen = |sign: &Sign| match sign {
        Sign::Flag(flags) => has(rest, flags),
        Sign::First(words) => rest.first().is_some_and(|first| words.contains(&first.text.as_str())),
        Sign::Word(words) => rest.iter().any(|word| words.contains(&word.text.as_str())),
        Sign::FewerOperands(n) => operands(rest).take(*n).count() < *n,
    };
    let of_program = BY_SIGN.iter().filter(|(names, ..)| names.split(' ').any(|name| name == program));
    of_program.into_iter().find(|(_, sign, _)| is_seen(sign)).map(|(.., effect)| *effect)
}

/// True for formatters, which also run as `python -m black`.
pub(super) fn is_formatter(program: &str) -> bool {
    [WRITE_IF_ASKED, FORMATTERS, "ruff"].iter().any(|names| names.split(' ').any(|name| name == program))
}

/// Programs whose `-h` at the end is no question.
const TAKES_H: &[&str] =
    &["kill", "shutdown", "halt", "poweroff", "chown", "chgrp", "touch", "echo", "printf", "test", "["];

/// Options whose value may look like one.
const WITH_TEXT: &[&str] = &["-m", "--message", "--title", "-t", "--body", "-b", "--notes", "-n", "-F"];

/// True for a command that only asks how it is used: `git push --help`, `npm publish -h`, `mvn -version`.
pub(super) fn only_asks(program: &str, rest: &[Word]) -> bool {
    let text = |word: &Word| -> bool { matches!(word.text.as_str(), "--help" | "-help" | "--usage") };
    let before_operands = rest.iter().take_while(|word| word.text != "--");
    let mut previous = "";
    let mut asks = false;
    for word in before_operands {
        asks |= text(word) && !WITH_TEXT.contains(&previous);
        previous = &word.text;
    }
    let is_subcommand = |word: &Word| word.text.starts_with(|c: char| c.is_ascii_lowercase()) && !word.varies;
    let ends_in_h = match rest.split_last() {
        Some((last, [])) => matches!(last.text.as_str(), "version" | "-v" | "-h" | "help" | "/?"),
        Some((last, before)) => {
            let short = last.text == "-h" && before.len() <= 3 && before.iter().all(is_subcommand);
            short || last.text == "/?"
        }
        None => false,
    };
    let only_version =
        !rest.is_empty() && rest.iter().all(|word| matches!(word.text.as_str(), "--version" | "-V" | "-version"));
    asks || only_version || (ends_in_h && !TAKES_H.contains(&program))
}
