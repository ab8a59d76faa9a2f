//! A guard that runs as a process: lines over its stdin and stdout, within a time limit. It is the leader of a process
//! group of its own, and the group is killed when the link is dropped, so that nothing it started stays behind.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid};

use super::failure::beginning;
use super::{GuardFailure, Link};

/// How to start a guard.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder to start it in; the current one by default.
    pub folder: Option<PathBuf>,
    /// Seconds it may take for one answer.
    pub time_limit: u32,
}

/// Maximum bytes of an answer.
const LONGEST_ANSWER: usize = 64 * 1024;
/// Bytes of stderr that are kept: its last words.
const KEPT_STDERR: usize = 4 * 1024;
/// How long a guard may take to end by itself once its stdin is closed, or once it has closed its stdout.
const GRACE: Duration = Duration::from_millis(500);

/// The process groups that are running; `None` once no more may be started.
static GROUPS: Mutex<Option<BTreeSet<i32>>> = Mutex::new(Some(BTreeSet::new()));

/// Kills every guard, and starts no more.
pub(super) fn end_all() {
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner).take();
    groups.into_iter().flatten().for_each(kill);
}

fn kill(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A running guard.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    time_limit: u32,
    /// What was read beyond the last answer.
    unread: Vec<u8>,
    last_words: Vec<u8>,
    /// It failed, so there is no reason to wait for it.
    failed: bool,
}

impl Launch {
    /// Starts the guard.
    ///
    /// # Errors
    /// If there is no such program, or it cannot be run.
    pub fn start(&self) -> Result<Box<dyn Link>, GuardFailure> {
        let named = self.command.first().map_or("", String::as_str);
        let not_started = |why: &dyn std::fmt::Display| GuardFailure::NotStarted(format!("{named}: {why}"));
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(not_started(&"the command is empty"));
        };
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        // Held until the group is listed: whoever ends all guards must not miss this one.
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(groups) = &mut *groups else { return Err(not_started(&"whenstop is ending")) };
        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        groups.insert(child.id().cast_signed());
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let Some(stdout) = stdout else { return Err(not_started(&"it has no stdout")) };
        let process = Process {
            child,
            stdin,
            stdout,
            stderr,
            time_limit: self.time_limit,
            unread: Vec::new(),
            last_words: Vec::new(),
            failed: false,
        };
        process.set_non_blocking().map_err(|error| not_started(&error))?;
        Ok(Box::new(process))
    }
}

impl Link for Process {
    fn exchange(&mut self, lines: &[u8]) -> Result<Vec<u8>, GuardFailure> {
        let answer = self.is_quiet().and_then(|()| self.answer(lines));
        self.failed = answer.is_err();
        answer
    }

    fn is_quiet(&mut self) -> Result<(), GuardFailure> {
        // A guard that has ended is only missed when it is asked again.
        hear_from(&mut self.stdout, &mut self.unread);
        if self.unread.is_empty() { Ok(()) } else { Err(GuardFailure::stray(&self.unread)) }
    }
}

impl Process {
    #[expect(
        clippy::disallowed_methods,
        reason = "a time limit: what is decided within it does not depend on the clock"
    )]
    fn answer(&mut self, lines: &[u8]) -> Result<Vec<u8>, GuardFailure> {
        let until = Instant::now() + Duration::from_secs(u64::from(self.time_limit));
        let mut to_write = lines;
        loop {
            // What comes before the whole question has been sent is read after it.
            if to_write.is_empty()
                && let Some(line) = self.line()?
            {
                return Ok(line);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(GuardFailure::Silent(self.time_limit));
            }
            let ready = self.wait(!to_write.is_empty(), left)?;
            if ready.stderr {
                self.hear_stderr();
            }
            if ready.stdin {
                to_write = self.send(to_write);
            }
            if ready.stdout {
                self.hear()?;
            }
        }
    }
}

/// Adds what is in a pipe to what was heard from it; false if it is closed.
fn hear_from(pipe: &mut impl Read, heard: &mut Vec<u8>) -> bool {
    let mut bytes = [0; 8 * 1024];
    match pipe.read(&mut bytes) {
        Ok(0) => false,
        Ok(read) => {
            heard.extend_from_slice(&bytes[..read]);
            true
        }
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    }
}

/// Which of the pipes can be used without waiting.
struct Ready {
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl Process {
    fn set_non_blocking(&self) -> rustix::io::Result<()> {
        self.stdin.iter().try_for_each(|stdin| rustix::io::ioctl_fionbio(stdin, true))?;
        self.stderr.iter().try_for_each(|stderr| rustix::io::ioctl_fionbio(stderr, true))?;
        rustix::io::ioctl_fionbio(&self.stdout, true)
    }

    /// Waits until a pipe is ready, or until the time has passed.
    fn wait(&self, writes: bool, left: Duration) -> Result<Ready, GuardFailure> {
        let mut fds = vec![PollFd::from_borrowed_fd(self.stdout.as_fd(), PollFlags::IN)];
        let stdin = self.stdin.as_ref().filter(|_| writes);
        fds.extend(stdin.map(|stdin| PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::OUT)));
        fds.extend(self.stderr.iter().map(|stderr| PollFd::from_borrowed_fd(stderr.as_fd(), PollFlags::IN)));
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(GuardFailure::NotStarted(error.to_string())),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let stdout = ready.next() == Some(true);
        let stdin = stdin.is_some() && ready.next() == Some(true);
        Ok(Ready { stdin, stdout, stderr: ready.next() == Some(true) })
    }

    /// Writes what fits into the pipe, and returns the rest.
    fn send<'l>(&mut self, lines: &'l [u8]) -> &'l [u8] {
        let Some(stdin) = &mut self.stdin else { return &[] };
        match stdin.write(lines) {
            Ok(written) => &lines[written..],
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => lines,
            // It has closed its stdin: what it still answers, or how it ended, is seen on its stdout.
            Err(_) => &[],
        }
    }

    /// The first whole line that was read.
    fn line(&mut self) -> Result<Option<Vec<u8>>, GuardFailure> {
        let end = self.unread.iter().position(|byte| *byte == b'\n');
        if end.unwrap_or(self.unread.len()) > LONGEST_ANSWER {
            return Err(GuardFailure::Long(LONGEST_ANSWER));
        }
        let Some(end) = end else { return Ok(None) };
        let rest = self.unread.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.unread, rest);
        line.truncate(end);
        Ok(Some(line))
    }

    /// Reads what is there.
    fn hear(&mut self) -> Result<(), GuardFailure> {
        // An answer that is too long is refused by [`Self::line`]; until then no more of it is kept than is needed for
        // that. While lines are still being sent, nothing takes them out.
        if self.unread.len() > 2 * LONGEST_ANSWER {
            return Err(GuardFailure::Long(LONGEST_ANSWER));
        }
        if hear_from(&mut self.stdout, &mut self.unread) { Ok(()) } else { Err(self.ended()) }
    }

    /// Reads what is on stderr and keeps the end of it.
    fn hear_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        if !hear_from(stderr, &mut self.last_words) {
            self.stderr = None;
        }
        let surplus = self.last_words.len().saturating_sub(KEPT_STDERR);
        self.last_words.drain(..surplus);
    }

    /// The failure of a guard that closed its stdout.
    fn ended(&mut self) -> GuardFailure {
        let status = self.ends_within(GRACE);
        for _ in 0..KEPT_STDERR {
            let before = self.last_words.len();
            self.hear_stderr();
            if self.stderr.is_none() || self.last_words.len() == before {
                break;
            }
        }
        let status = match status.map(|status| (status.exit_status(), status.terminating_signal())) {
            None => "it closed its stdout".to_owned(),
            Some((_, Some(signal))) => format!("signal {signal}"),
            Some((code, None)) => format!("exit status {}", code.unwrap_or_default()),
        };
        let words = String::from_utf8_lossy(&self.last_words);
        let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        GuardFailure::Ended { status, last_words: beginning(last) }
    }

    /// Waits until the process has ended, and returns how. It stays a zombie until [`Drop`] has killed its group, so
    /// that no other group gets the same number.
    #[expect(clippy::disallowed_methods, reason = "a time limit")]
    fn ends_within(&self, time: Duration) -> Option<WaitIdStatus> {
        let pid = Pid::from_raw(self.group())?;
        let until = Instant::now() + time;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), options) {
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
                Ok(None) if Instant::now() >= until => return None,
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn group(&self) -> i32 {
        self.child.id().cast_signed()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A guard that reads its stdin ends here by itself.
        self.stdin = None;
        if !self.failed {
            self.ends_within(GRACE);
        }
        kill(self.group());
        let _ = self.child.wait();
        if let Some(groups) = &mut *GROUPS.lock().unwrap_or_else(PoisonError::into_inner) {
            groups.remove(&self.group());
        }
    }
}
