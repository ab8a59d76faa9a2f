//! The bad-input table: inputs nobody should write, the command that meets them, and what must hold.
//!
//! A row is an input (inline or generated), a command line, and what must come of it: the exit code, pieces of what is
//! said (what, where, how), how many runs are read in spite of it, and most memory. Each file here holds the rows of one
//! area; `check` is the one place that runs them.
//!
//! Every command runs under a limit of time and memory (`timeout`, `prlimit`), so a loop or a bomb fails its row and not
//! the machine. Where these programs are missing (other systems than Linux) the commands run without.

mod archives;
mod commands;
mod depth;
mod linear;
mod names;
mod numbers;
mod outputs;
mod overwriting;
mod readers;
mod redaction;
mod silence;
mod snapshots;
mod sources;
mod whole;
mod written_names;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::scratch::Scratch;

/// Seconds after which a command is taken to hang. Far more than any row needs, since a debug build shares its machine.
const SECONDS: u32 = 30;
/// Megabytes of heap a command may have unless its row says otherwise.
const MEGABYTES: u64 = 512;

/// The variable that names a file: each row's peak of memory (resident, in kilobytes) and seconds are added to it, by GNU time.
const PEAKS: &str = "WHENSTOP_PEAKS";

/// A small healthy run, to be damaged or to stand beside the damage.
pub(super) fn run(id: &str) -> String {
    format!(
        "{{\"type\":\"run\",\"run_id\":\"{id}\"}}\n{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}}\n"
    )
}

/// One row of the table.
pub(super) struct Row {
    name: String,
    command: String,
    files: Vec<(String, Vec<u8>)>,
    prepare: Option<fn(&Scratch)>,
    stdin: Option<Vec<u8>>,
    exit: i32,
    says: Vec<String>,
    never_says: Vec<String>,
    runs: Option<u64>,
    megabytes: u64,
    without_rights: bool,
    after: Option<fn(&Scratch)>,
}

/// A row by its name and its command; the arguments stand apart by `|`, or by spaces where there is none.
pub(super) fn row(name: impl Into<String>, command: &str) -> Row {
    Row {
        name: name.into(),
        command: command.to_owned(),
        files: Vec::new(),
        prepare: None,
        stdin: None,
        exit: 0,
        says: Vec::new(),
        never_says: Vec::new(),
        runs: None,
        megabytes: MEGABYTES,
        without_rights: false,
        after: None,
    }
}

impl Row {
    /// An input.
    pub(super) fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.push((name.to_owned(), bytes.into()));
        self
    }

    /// Two healthy files, one before and one behind the input in path order. `runs` counts them too.
    pub(super) fn between_good_ones(self) -> Self {
        self.file("a-good.jsonl", run("good-1")).file("z-good.jsonl", run("good-2"))
    }

    /// What else has to be done before the command: links, pipes, folders.
    pub(super) fn prepare(mut self, prepare: fn(&Scratch)) -> Self {
        self.prepare = Some(prepare);
        self
    }

    /// What is piped into the command.
    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// The exit code; 0 unless given.
    pub(super) fn exit(mut self, code: i32) -> Self {
        self.exit = code;
        self
    }

    /// A piece of what is said, on stdout or stderr. Every row has at least one.
    pub(super) fn says(mut self, piece: impl Into<String>) -> Self {
        self.says.push(piece.into());
        self
    }

    /// A piece of what must not be said.
    pub(super) fn never_says(mut self, piece: impl Into<String>) -> Self {
        self.never_says.push(piece.into());
        self
    }

    /// How many runs the table of `corpus` counts.
    pub(super) fn runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Most heap the command may have, in megabytes (2^20 bytes). A debug build that does nothing needs about 10.
    pub(super) fn megabytes(mut self, megabytes: u64) -> Self {
        self.megabytes = megabytes;
        self
    }

    /// The command has no right to what its folder forbids, even where the tests run as root.
    pub(super) fn without_rights(mut self) -> Self {
        self.without_rights = true;
        self
    }

    /// What must hold of the folder afterwards.
    pub(super) fn after(mut self, after: fn(&Scratch)) -> Self {
        self.after = Some(after);
        self
    }

    /// What is wrong with what came of the command, if anything is.
    fn complaint(&self, output: &Output) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let said = format!("{stdout}{stderr}");
        let mut wrong = Vec::new();
        match output.status.code() {
            Some(code) if code == self.exit => {}
            // 137 is what a shell shows for a killed program; `timeout` dies with the program it killed.
            None | Some(124 | 134 | 137) => {
                wrong.push(format!("it hung, or wanted too much memory: {}", output.status));
            }
            Some(code) => wrong.push(format!("exit code {code}, not {}", self.exit)),
        }
        wrong.extend(self.says.iter().filter(|piece| !said.contains(*piece)).map(|piece| format!("not said: {piece}")));
        wrong
            .extend(self.never_says.iter().filter(|piece| said.contains(*piece)).map(|piece| format!("said: {piece}")));
        if let Some(runs) = self.runs.filter(|runs| *runs != runs_counted(&stdout)) {
            wrong.push(format!("{} runs, not {runs}", runs_counted(&stdout)));
        }
        let shown: String = said.chars().take(1500).collect();
        (!wrong.is_empty())
            .then(|| format!("{}\n  $ whenstop {}\n  {}\n{shown}", self.name, self.command, wrong.join("\n  ")))
    }

    fn scratch(&self) -> Scratch {
        let scratch = Scratch::with(&[]);
        for (name, bytes) in &self.files {
            scratch.put_bytes(name, bytes);
        }
        if let Some(prepare) = self.prepare {
            prepare(&scratch);
        }
        scratch
    }
}

/// The runs of all formats, as the table of `corpus` counts them; 0 where no table is printed.
fn runs_counted(stdout: &str) -> u64 {
    let rows =
        stdout.lines().skip_while(|line| !line.starts_with("format")).skip(1).take_while(|line| !line.is_empty());
    rows.filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok()).sum()
}

/// Runs every row and tells all that fail.
pub(super) fn check(rows: Vec<Row>) {
    let nothing = Command::new(env!("CARGO_BIN_EXE_whenstop")).arg("--version").output().unwrap();
    let (mut failed, n) = (Vec::new(), rows.len());
    for row in rows {
        // A row that holds whatever happens checks nothing.
        assert!(row.complaint(&nothing).is_some(), "{}: this row cannot fail", row.name);
        let scratch = row.scratch();
        let Some(command) = limited(&scratch, &row) else {
            eprintln!("SKIPPED: {}: there is no setpriv to give up root's rights with", row.name);
            continue;
        };
        let output = output(command, row.stdin.as_deref());
        failed.extend(row.complaint(&output));
        if let Some(after) = row.after {
            after(&scratch);
        }
    }
    assert!(failed.is_empty(), "{} of {} rows fail:\n\n{}", failed.len(), n, failed.join("\n\n"));
}

/// The row's command under limits of time and memory, where the system has the programs for it. `None` where it cannot
/// be run with the rights it should have.
fn limited(scratch: &Scratch, row: &Row) -> Option<Command> {
    let command = scratch.command(&row.command);
    let there = |tool: &str| Path::new(tool).exists();
    let mut before: Vec<String> = Vec::new();
    if there("/usr/bin/timeout") && there("/usr/bin/prlimit") {
        before
            .extend(["/usr/bin/timeout", "--signal=KILL", &SECONDS.to_string(), "/usr/bin/prlimit"].map(str::to_owned));
        before.extend([format!("--data={}", row.megabytes << 20), "--core=0".to_owned()]);
        if let Some(file) = std::env::var_os(PEAKS) {
            let line = format!("%M %e {}", row.name.replace(['%', '\\', '\n'], " "));
            before.extend(["/usr/bin/time", "--quiet", "-a", "-o"].map(str::to_owned));
            before.extend([file.to_string_lossy().into_owned(), "-f".to_owned(), line]);
        }
    }
    if row.without_rights && is_root() {
        if !there("/usr/bin/setpriv") {
            return None;
        }
        open_to_all(&scratch.path("."));
        before.extend(["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned));
    }
    before.push(command.get_program().to_string_lossy().into_owned());
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    Some(copied(&command, Command::new(before[0]), &before[1..]))
}

#[cfg(unix)]
fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Lets others into a folder that was made for this user alone.
fn open_to_all(folder: &Path) {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder, mode).unwrap();
    }
    let _ = folder;
}

/// `to` with these arguments before those of `command`, in its folder.
fn copied(command: &Command, mut to: Command, before: &[&str]) -> Command {
    to.args(before).args(command.get_args()).env_remove("CI");
    // Two threads: each has room of its own, which would otherwise depend on the machine.
    to.env("RAYON_NUM_THREADS", "2");
    if let Some(folder) = command.get_current_dir() {
        to.current_dir(folder);
    }
    to
}

fn output(mut command: Command, stdin: Option<&[u8]>) -> Output {
    let Some(bytes) = stdin else { return command.stdin(Stdio::null()).output().unwrap() };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    // A command that does not read to the end closes the pipe: no business of this thread.
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut pipe, &bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}
