//! No output destroys an input: every argument that is written, by every argument that is read, by every way to call one
//! file by two names; and no file of a folder is replaced that whenstop did not write.

use clap::{Arg, CommandFactory};
use whenstop::cli::{Cli, PathUse, use_of};

use super::run;
use crate::scratch::Scratch;

const STACK: &str = "[[stack]]\nname = \"s\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";
const REFUSED: &str = "this command reads this file";

/// A command and its arguments, without the program's name.
struct Called {
    words: Vec<String>,
    arguments: Vec<Arg>,
}

impl Called {
    fn line(&self) -> String {
        self.words.join(" ")
    }

    fn with(&self, wanted: PathUse) -> impl Iterator<Item = &Arg> {
        self.arguments.iter().filter(move |argument| use_of(argument) == Some(wanted))
    }

    /// The command line with this destination and this input, and what else is required.
    fn calling(&self, output: (&Arg, &str), input: (&Arg, &str)) -> Vec<String> {
        let (mut options, mut places) = (self.words.clone(), Vec::new());
        for argument in &self.arguments {
            let value = match argument.get_id() {
                id if id == output.0.get_id() => output.1.to_owned(),
                id if id == input.0.get_id() => input.1.to_owned(),
                _ if !argument.is_required_set() && !comes_before(argument, input.0) => continue,
                _ => usual(argument),
            };
            let value = if names(argument).contains("FORMAT=") { format!("md={value}") } else { value };
            match argument.get_long() {
                Some(long) => {
                    let more = argument.get_num_args().map_or(1, |n| n.min_values()).saturating_sub(1);
                    options.extend([format!("--{long}"), value]);
                    options.extend((0..more).map(|_| "s".to_owned()));
                }
                None => places.push(value),
            }
        }
        [options, places].concat()
    }
}

/// A positional argument that must be given so that the other one can be.
fn comes_before(argument: &Arg, other: &Arg) -> bool {
    argument.is_positional() && other.is_positional() && argument.get_index() < other.get_index()
}

fn names(argument: &Arg) -> String {
    argument.get_value_names().unwrap_or_default().join(" ")
}

/// What stands for an argument that is required.
fn usual(argument: &Arg) -> String {
    match names(argument).as_str() {
        "HOST" => "agno".to_owned(),
        "PATH" => "a.jsonl".to_owned(),
        "FILE" => "s.toml".to_owned(),
        "DIR" => "d".to_owned(),
        other => panic!("what is a usual `{other}`?"),
    }
}

/// The options that the error asks for, each as `|--name|a.jsonl`: only a parser knows which option needs which.
fn needed(said: &str) -> String {
    let options = said.lines().filter_map(|line| line.strip_prefix("  --")?.split(' ').next());
    options.map(|name| ["|--", name, "|a.jsonl"].concat()).collect()
}

/// Every command that can be called.
fn commands() -> Vec<Called> {
    fn add(command: &clap::Command, words: &[String], all: &mut Vec<Called>) {
        let arguments = command.get_arguments().filter(|argument| argument.get_action().takes_values()).cloned();
        all.push(Called { words: words.to_vec(), arguments: arguments.collect() });
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            add(below, &[words, &[below.get_name().to_owned()]].concat(), all);
        }
    }
    let mut all = Vec::new();
    let mut whole = Cli::command();
    whole.build();
    add(&whole, &[], &mut all);
    all
}

/// The file `inputs/x` under another name.
fn under_another_name(scratch: &Scratch, way: &str) -> String {
    let (link, real) = (scratch.path("other-name"), scratch.path("inputs/x"));
    match way {
        "itself" => return "inputs/x".to_owned(),
        "through .." => return "inputs/../inputs/x".to_owned(),
        "a link" => std::os::unix::fs::symlink(real, link).unwrap(),
        _ => std::fs::hard_link(real, link).unwrap(),
    }
    "other-name".to_owned()
}

#[test]
#[cfg(unix)]
fn what_an_argument_reads_no_other_writes() {
    let mut n = 0;
    for command in commands() {
        for (output, input) in command
            .with(PathUse::Writes)
            .flat_map(|output| command.with(PathUse::Reads).map(move |input| (output, input)))
        {
            for way in ["itself", "through ..", "a link", "a second name"] {
                let scratch = Scratch::with(&[("inputs/x", &run("x")), ("a.jsonl", &run("a")), ("s.toml", STACK)]);
                let other = under_another_name(&scratch, way);
                let words = command.calling((output, &other), (input, "inputs/x"));
                let line = words.join("|") + "|--quiet";
                let (mut exit, _, mut said) = scratch.run(&line);
                if said.contains("required arguments were not provided") {
                    (exit, _, said) = scratch.run(&(line + &needed(&said)));
                }
                // Arguments that cannot stand together do not destroy one another either.
                let is_refused = said.contains(REFUSED) || said.contains("cannot be used with");
                assert!(exit != 0 && is_refused, "{words:?}: {exit} {said}");
                assert_eq!(scratch.read("inputs/x"), run("x"), "{words:?}");
                n += 1;
            }
        }
    }
    assert!(n > 150, "{n}");
}

/// What an argument writes is declared as such: what its help says about it shows that it is.
#[test]
fn destinations_are_declared() {
    for command in commands() {
        for argument in command.with(PathUse::Reads) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let writes =
                ["Folder for", "A file for", "Where to write", "The file to write", "Write ", "Also write", "Store "];
            assert!(!writes.iter().any(|begin| help.starts_with(begin)), "{} {argument}: {help}", command.line());
        }
    }
}

/// Commands that write `d`, and the files that they read.
const FOLDERS: [(&str, &[&str]); 9] = [
    (
        "compare a.jsonl --stacks s.toml --labels l.csv --price p.toml --out d",
        &["a.jsonl", "s.toml", "l.csv", "p.toml"],
    ),
    ("compare runs --stacks s.toml --out d", &["runs/b.jsonl"]),
    ("compare a.jsonl --stacks s.toml --shard 1/1 --out d", &["a.jsonl", "s.toml"]),
    ("tune a.jsonl --signal steps --limits 1,2 --out d", &["a.jsonl"]),
    ("tune a.jsonl --grid g.toml --out d", &["a.jsonl", "g.toml"]),
    ("convert a.jsonl --out d/", &["a.jsonl"]),
    ("convert runs --shards 2 --out d", &["runs/b.jsonl"]),
    ("export s.toml --to all --out d", &["s.toml"]),
    ("ci check a.jsonl --stacks s.toml --fail-on killed_rate>0.9 --page d", &["a.jsonl", "s.toml"]),
];

fn files() -> Scratch {
    Scratch::with(&[
        ("a.jsonl", &run("a")),
        ("runs/b.jsonl", &run("b")),
        ("s.toml", STACK),
        ("l.csv", "run_id,success\na,true\n"),
        ("p.toml", "[m]\ninput = 1.0\noutput = 1.0\n"),
        ("g.toml", "[[axis]]\nsignal = \"steps\"\nat_least = [1, 2]\n"),
    ])
}

#[test]
#[cfg(unix)]
fn no_file_of_a_folder_is_replaced_that_is_read_or_not_ours() {
    for (command, inputs) in FOLDERS {
        let scratch = files();
        let (exit, _, said) = scratch.run(command);
        assert!([0, 100].contains(&exit), "{command}: {exit} {said}");
        let names = scratch.names("d");
        for input in inputs {
            // A few are enough: the check is the same for each.
            for name in names.iter().step_by(names.len().div_ceil(3)) {
                let there = scratch.path("d").join(name);
                let bytes = std::fs::read(&there).unwrap();
                std::fs::remove_file(&there).unwrap();
                std::fs::hard_link(scratch.path(input), &there).unwrap();
                refused(&scratch, command, REFUSED, name, &scratch.read(input));
                std::fs::remove_file(&there).unwrap();
                std::fs::write(&there, bytes).unwrap();
            }
        }
        for name in names.iter().step_by(names.len().div_ceil(3)) {
            std::fs::remove_dir_all(scratch.path("d")).unwrap();
            scratch.put(&format!("d/{name}"), "mine");
            refused(&scratch, command, "whenstop did not write it", name, "mine");
        }
    }
}

fn refused(scratch: &Scratch, command: &str, why: &str, name: &str, text: &str) {
    let before = scratch.names("d");
    let (exit, _, said) = scratch.run(command);
    assert!(exit != 0 && said.contains(why) && said.contains(&format!("d/{name}")), "{command} {name}: {exit} {said}");
    assert_eq!(scratch.read(&format!("d/{name}")), text, "{command}: {name}");
    assert_eq!(scratch.names("d"), before, "{command} {name}");
}

#[test]
fn inputs_that_no_argument_names_are_not_written_over_either() {
    let guard = "[[stack]]\nname = \"g\"\ncommand = [\"./g.sh\"]\n";
    let cases = [
        ("corpus runs --forecast --out runs/b.jsonl", "runs/b.jsonl"),
        ("convert runs --out runs/b.jsonl", "runs/b.jsonl"),
        ("convert runs --to parquet --out runs/b.jsonl", "runs/b.jsonl"),
        ("corpus sub/a.jsonl --forecast --out sub/labels.csv", "sub/labels.csv"),
        ("ci check --report md=whenstop.toml", "whenstop.toml"),
        ("ci check --report md=whenstop.snap", "whenstop.snap"),
        ("ci check --report md=runs/b.jsonl", "runs/b.jsonl"),
        ("ci check a.jsonl --stacks g.toml --fail-on killed_rate>0.9 --allow-unreadable --report md=g.sh", "g.sh"),
        ("report part --out part", "part/stories.jsonl"),
    ];
    for (command, input) in cases {
        let scratch = files();
        let many: String = (0..12).map(|nth| run(&format!("b{nth}"))).collect();
        scratch.put("runs/b.jsonl", &many);
        scratch.put("sub/a.jsonl", &many);
        scratch.put("sub/labels.csv", "run_id,success\nb1,true\n");
        scratch.put("g.toml", guard);
        scratch.put("g.sh", "#!/bin/sh\nwhile read -r line; do echo '{}'; done\n");
        #[cfg(unix)]
        std::fs::set_permissions(scratch.path("g.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        scratch.put("whenstop.toml", "recordings = [\"runs\"]\nstacks = [\"s.toml\"]\nsnapshot = \"whenstop.snap\"\n");
        assert_eq!(scratch.run("ci accept").0, 0);
        assert_eq!(scratch.run("compare runs --stacks s.toml --shard 1/1 --out part").0, 0);
        let before = scratch.read(input);
        let (exit, _, said) = scratch.run(command);
        assert!(exit != 0 && said.contains(REFUSED), "{command}: {exit} {said}");
        assert_eq!(scratch.read(input), before, "{command}");
    }
}

#[test]
fn a_folder_of_ours_is_written_again() {
    for (command, _) in FOLDERS {
        let scratch = files();
        assert!([0, 100].contains(&scratch.run(command).0), "{command}");
        let once = scratch.contents("d");
        scratch.put("d/notes.txt", "mine");
        let (exit, _, said) = scratch.run(command);
        assert!([0, 100].contains(&exit), "{command}: {said}");
        std::fs::remove_file(scratch.path("d/notes.txt")).unwrap();
        assert!(scratch.contents("d") == once, "{command}");
    }
    // What whenstop wrote is no input where nothing is taken from it.
    let scratch = files();
    for _ in 0..2 {
        let (exit, _, said) = scratch.run("compare . --stacks s.toml --out results");
        assert_eq!(exit, 0, "{said}");
    }
}

#[test]
#[cfg(unix)]
fn a_project_file_writes_nothing_outside_its_folder() {
    let cases = [
        ("[reports]\nmd = \"../mine\"", "reports.md"),
        ("[reports]\njunit = \"ABSOLUTE\"", "reports.junit"),
        ("[reports]\njson = \"below/../../mine\"", "reports.json"),
        ("[reports]\nmd = \"out/mine\"", "reports.md"),
        ("[reports]\nmd = \"link\"", "reports.md"),
        ("[reports]\nmd = \".git/config\"", "reports.md"),
        ("page = \"../page\"", "page"),
        ("page = \"out/page\"", "page"),
        ("snapshot = \"../mine\"", "snapshot"),
        ("snapshot = \"out/new.snap\"", "snapshot"),
    ];
    for (said, key) in cases {
        for command in ["ci check --fail-on killed_rate>0.9", "ci accept", "ci check --project whenstop.toml"] {
            let scratch = Scratch::with(&[("mine", "mine"), ("p/.git/config", "mine"), ("p/runs/a.jsonl", &run("a"))]);
            scratch.put("p/s.toml", STACK);
            let said = said.replace("ABSOLUTE", &scratch.path("mine").display().to_string());
            scratch.put("p/whenstop.toml", &format!("recordings = [\"runs\"]\nstacks = [\"s.toml\"]\n{said}\n"));
            std::os::unix::fs::symlink(scratch.path("."), scratch.path("p/out")).unwrap();
            std::os::unix::fs::symlink(scratch.path("mine"), scratch.path("p/link")).unwrap();
            let called = scratch.command(command).current_dir(scratch.path("p")).output().unwrap();
            let stderr = String::from_utf8(called.stderr).unwrap();
            assert_eq!(called.status.code(), Some(2), "{said} {command}: {stderr}");
            assert!(stderr.contains(&format!("`{key}` leads out of the project's folder")), "{said}: {stderr}");
            assert_eq!(scratch.read("mine"), "mine");
            assert_eq!(scratch.read("p/.git/config"), "mine");
            assert!(!scratch.path("page").exists() && !scratch.path("new.snap").exists());
        }
    }
}
