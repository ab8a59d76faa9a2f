//! Names become neither code nor markup: in the snippets of every host, and in the Markdown of a check.

use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use whenstop::diagnostic::is_hostile;
use whenstop::export::{ExportedStack, agents, hosts, stack_file};
use whenstop::host::Syntax;
use whenstop::stack::{Entry, Stack, StackFile};

use crate::scratch::Scratch;

/// What would begin a line of its own.
const FOREIGN: &str = "import os; os.abort()";

/// Names that end a comment, a string or a line somewhere.
fn names() -> Vec<String> {
    let before = [
        "a\n",
        "a\r",
        "a\r\n",
        "a\u{85}",
        "a\u{2028}",
        "a\u{b}",
        "a\u{c}",
        "a\"",
        "a'",
        "a\"\"\"\n",
        "'''\n",
        "a\\",
        "a\\\n",
        "a`",
        "a*/",
        "$(",
        "${",
        "a;",
        "-->",
        "a\u{1b}[2J",
        "a\u{7f}",
        "a\u{9b}",
        "a\u{202e}",
        "a\u{e0041}",
        "]]>",
        "<<max_turns>>",
        "$",
        "#",
        "//",
        "%s{0}",
        "\u{feff}",
    ];
    before.iter().map(|before| format!("{before}{FOREIGN}")).collect()
}

/// A string of a stack file.
fn quoted(name: &str) -> String {
    // What JSON escapes so does TOML, but for one character.
    Value::from(name).to_string().replace('\u{7f}', "\\u007f")
}

/// A stack with the name wherever a stack file has one.
fn stack(name: &str) -> Arc<Stack> {
    let name = quoted(name);
    let clauses: Vec<String> = ["steps", "tokens.total", "cost", "elapsed", "tool_calls"]
        .iter()
        .enumerate()
        .map(|(nth, signal)| format!("{{ signal = \"{signal}\", at_least = {}, name = {name} }}", nth + 7))
        .collect();
    let text = format!(
        "[[stack]]\nname = {name}\nany = [{}, {{ signal = \"tool.named\", tool = {name}, at_least = 1 }}]\n",
        clauses.join(", ")
    );
    let file = StackFile::parse("s.toml", &text).unwrap();
    match &file.entries[0] {
        Entry::Own(stack) => Arc::clone(stack),
        other => panic!("{other:?}"),
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn check_lines(text: &str, of: &str) {
    for line in text.split(is_line_end) {
        assert!(!line.trim_start().starts_with("import os;"), "{of}: a line begins with a name:\n{text}");
    }
    let hostile = text.chars().find(|c| *c != '\n' && is_hostile(*c));
    assert_eq!(hostile, None, "{of}: {text:?}");
}

/// Runs a program on files; `false` if it is not there.
fn parses(program: &str, arguments: &[&str], files: &[String]) -> bool {
    let mut command = Command::new(program);
    let Ok(output) = command.args(arguments).args(files).stdout(Stdio::null()).stderr(Stdio::piped()).output() else {
        eprintln!("SKIPPED: there is no {program}");
        return false;
    };
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn no_snippet_holds_a_name_as_code() {
    let scratch = Scratch::with(&[]);
    let (mut python, mut javascript, mut shell) = (Vec::new(), Vec::new(), Vec::new());
    let mut n_held = 0;
    for (nth, name) in names().iter().enumerate() {
        let stack = stack(name);
        for to in hosts().into_iter().chain(agents()) {
            let export = ExportedStack::new(&stack, to, true);
            if export.n_held() == 0 {
                continue;
            }
            n_held += 1;
            let (snippet, of) = (export.snippet(), format!("{} {name:?}", to.id));
            check_lines(&snippet, &of);
            let file = scratch.path(&format!("{}-{nth}", to.id));
            std::fs::write(&file, &snippet).unwrap();
            let file = file.display().to_string();
            match to.host.syntax {
                Syntax::Python => python.push(file),
                Syntax::JavaScript => javascript.push(file),
                Syntax::Shell => shell.push(file),
                Syntax::Json => drop(serde_json::from_str::<Value>(&snippet).expect(&of)),
                Syntax::Toml => drop(snippet.parse::<toml::Table>().expect(&of)),
                // Comments and numbers only.
                Syntax::Yaml => assert!(!export.body().contains("abort"), "{of}"),
            }
            // As a stack file it reads back.
            let text = export.stack_file("native.json");
            check_lines(&text, &of);
            assert!(text.parse::<toml::Table>().is_ok(), "{of}: {text}");
        }
    }
    assert!(n_held > 500 && !python.is_empty() && !javascript.is_empty(), "{n_held}");
    let compiled = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name, newline='').read(), name)";
    parses("python3", &["-c", compiled], &python);
    for file in &shell {
        parses("sh", &["-n"], std::slice::from_ref(file));
    }
    for file in javascript.iter().step_by(4) {
        let module = format!("{file}.mjs");
        std::fs::rename(file, &module).unwrap();
        if !parses("node", &["--check"], &[module]) {
            break;
        }
    }
}

#[test]
fn a_stack_file_keeps_every_name() {
    for name in names() {
        let text = stack_file(&stack(&name)).unwrap();
        check_lines(&text, &name);
        let file = StackFile::parse("s.toml", &text).unwrap();
        assert!(matches!(&file.entries[0], Entry::Own(stack) if stack.name == name), "{text}");
    }
}

/// The line without its code spans and its escaped characters.
fn outside_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['`', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('\\') {
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let fence = rest.len() - rest.trim_start_matches('`').len();
        let (ticks, behind) = rest.split_at(fence);
        let is_whole = |at: &usize| !behind[..*at].ends_with('`') && !behind[at + fence..].starts_with('`');
        if let Some(end) = behind.match_indices(ticks).map(|(at, _)| at).find(is_whole) {
            rest = &behind[end + fence..];
        } else {
            out.push_str(ticks);
            rest = behind;
        }
    }
    out + rest
}

#[test]
fn no_name_acts_in_the_markdown_of_a_check() {
    let ids = [
        "r\n::stop-commands::1",
        "r\n##[error]x",
        "![x](http://evil.example/x.png)",
        "x` ![x](http://evil.example/x.png) `y",
        "@octocat",
        "x` @octocat",
        "[x](http://evil.example)",
        "http://evil.example",
        "<img src=x>",
        "r\n# heading\n| a | b |\n| --- | --- |",
    ];
    for id in ids {
        let message = json!({"type": "message", "role": "assistant", "content": "x"});
        let head = json!({"type": "run", "run_id": id});
        let steps = format!("{message}\n").repeat(4);
        let stack = |name: &str, limit: u32| {
            let clause = format!("signal = \"steps\", at_least = {limit}, name = {}", quoted(id));
            format!("[[stack]]\nname = {}\nany = [{{ {clause} }}]\n", quoted(name))
        };
        let scratch = Scratch::with(&[("a.jsonl", &format!("{head}\n{steps}"))]);
        scratch.put("s.toml", &(stack(id, 1) + &stack("old", 1)));
        assert_eq!(scratch.run("ci accept a.jsonl --stacks s.toml --snapshot a.snap").0, 0);
        scratch.put("s.toml", &(stack(id, 2) + &stack(&format!("{id}2"), 2)));
        assert_eq!(scratch.run("ci accept a.jsonl --stacks s.toml --snapshot b.snap").0, 0);
        for command in [
            "ci check a.jsonl --stacks s.toml --snapshot a.snap --format md --fail-on killed_rate>0.5",
            "ci diff a.snap b.snap --format md",
            "rules lint s.toml --format md",
        ] {
            let (_, stdout, stderr) = scratch.run(command);
            assert!(stdout.starts_with("### "), "{command}: {stdout}{stderr}");
            for line in stdout.lines() {
                assert!(!line.starts_with("::") && !line.starts_with("##["), "{command}: {stdout}");
                assert!(!line.starts_with("# heading") && !line.starts_with("| a |"), "{command}: {stdout}");
                let shown = outside_code(line);
                for acts in ["![", "](", "@octocat", "evil.example", "<img"] {
                    assert!(!shown.contains(acts), "{command}: `{acts}` acts in\n{line}");
                }
            }
        }
    }
}
