//! `whenstop-hook HOST`: answers one event of an agent, read from standard input.

use std::io::{Read, Write};
use std::process::ExitCode;

use whenstop_hook::host::HostAgent;
use whenstop_hook::log::{self, LogLine};
use whenstop_hook::settings::Folders;
use whenstop_hook::{answer, call};

/// The longest event that is read.
const LONGEST: u64 = 64 << 20;

fn main() -> ExitCode {
    let named = std::env::args().nth(1).unwrap_or_default();
    let Some(host) = HostAgent::named(&named) else {
        let known: Vec<&str> = HostAgent::ALL.iter().map(|host| host.id()).collect();
        let text = format!("whenstop-hook {}\nusage: whenstop-hook {}\n", env!("CARGO_PKG_VERSION"), known.join("|"));
        let _ = std::io::stderr().write_all(text.as_bytes());
        return ExitCode::from(if named == "--version" { 0 } else { 64 });
    };
    // A panic is a line in the log and an answer, nothing on the terminal of somebody at work.
    std::panic::set_hook(Box::new(move |_| end(host)));
    say(&answered(host).unwrap_or_else(|error| failed(host, &error)));
    ExitCode::SUCCESS
}

/// Answers and ends within the hook of a panic, so that the program needs no unwinding: its profile aborts.
#[expect(clippy::exit, reason = "nothing of this program is worth unwinding")]
fn end(host: HostAgent) {
    say(&failed(host, "the hook failed; this is a defect in whenstop"));
    std::process::exit(0);
}

fn say(answer: &serde_json::Value) {
    let _ = std::io::stdout().write_all(format!("{answer}\n").as_bytes());
}

#[expect(clippy::disallowed_methods, reason = "events of Claude Code have no time of their own")]
fn now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

fn answered(host: HostAgent) -> Result<serde_json::Value, String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(LONGEST).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let folders = Folders::from_host(host).ok_or("no home folder is known")?;
    call::answer(host, &folders, &text, now())
}

/// Notes what went wrong, and lets the agent go on.
fn failed(host: HostAgent, error: &str) -> serde_json::Value {
    if let Some(folders) = Folders::from_host(host) {
        log::append(&folders.log(), &[LogLine { did: format!("failed: {error}"), ..LogLine::default() }]);
    }
    answer::nothing()
}
