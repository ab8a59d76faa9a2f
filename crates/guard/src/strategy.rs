//! A guard as a strategy: its handshake, its idle links, and what went wrong with it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use whenstop_core::decision::{Number, Program, Requirement, RuleName, Strategy, Trouble, Watch};
use whenstop_core::transcript::{Header, Point};

use super::answer::{AnswerKind, AnswerLine};
use super::ledger::FailureLedger;
use super::watch::GuardWatch;
use super::{EventWriter, GuardFailure, Hello, lines};

/// A connection to one instance of a guard, which is asked about one run at a time.
pub trait Link: Send {
    /// Sends these lines, of which the last is a question, and returns the answer: one line.
    ///
    /// # Errors
    /// If there is no answer. The link is then dropped.
    fn exchange(&mut self, lines: &[u8]) -> Result<Vec<u8>, GuardFailure>;

    /// Checks that nothing was written besides the answers.
    ///
    /// # Errors
    /// If there is a line that nobody asked for.
    fn is_quiet(&mut self) -> Result<(), GuardFailure> {
        Ok(())
    }
}

/// Makes a new link.
pub type Opener = dyn Fn() -> Result<Box<dyn Link>, GuardFailure> + Send + Sync;

/// A stop rule in another program.
pub struct Guard {
    name: String,
    program: Program,
    hello: Hello,
    open: Box<Opener>,
    pub(super) write_event: EventWriter,
    /// Links that no run is using.
    idle: Mutex<Vec<IdleLink>>,
    ledger: Mutex<FailureLedger>,
    /// Why the guard cannot be asked at all, if its handshake failed.
    broken: Option<GuardFailure>,
    /// Points asked about so far.
    asked: AtomicU64,
}

/// A link that no run is using.
struct IdleLink {
    link: Box<dyn Link>,
    /// The run that was left before its end, if the last one was.
    unfinished: Option<String>,
}

impl Guard {
    /// Opens a first link and shakes hands. A guard whose handshake fails is unknown on every run; see
    /// [`Self::broken`].
    pub fn new(name: &str, program: Program, open: Box<Opener>, write_event: EventWriter) -> Self {
        let first = connected(&*open, name);
        let (hello, idle, broken) = match first {
            Ok((hello, link)) => (hello, vec![IdleLink { link, unfinished: None }], None),
            Err(failure) => (Hello::unknown(name), Vec::new(), Some(failure)),
        };
        Self {
            name: name.to_owned(),
            program: Program { version: hello.version.clone(), ..program },
            hello,
            open,
            write_event,
            idle: Mutex::new(idle),
            ledger: Mutex::default(),
            broken,
            asked: AtomicU64::new(0),
        }
    }

    /// What the guard says about itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Why its handshake failed, if it did.
    pub fn broken(&self) -> Option<&GuardFailure> {
        self.broken.as_ref()
    }

    /// Points asked about so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Drops the idle links, so that the next run begins with a new one.
    pub fn restart(&self) {
        locked(&self.idle).clear();
    }

    /// A link for a run.
    pub(super) fn link(&self) -> Result<Box<dyn Link>, GuardFailure> {
        if let Some(failure) = &self.broken {
            return Err(failure.clone());
        }
        if locked(&self.ledger).is_given_up() {
            return Err(GuardFailure::GivenUp);
        }
        let idle = locked(&self.idle).pop();
        if let Some(IdleLink { mut link, unfinished }) = idle {
            let is_ready = unfinished.is_none_or(|alias| self.finish(&mut *link, &alias).is_ok());
            if is_ready {
                return Ok(link);
            }
        }
        self.new_link()
    }

    /// A link that no run has used, to the same guard as the first one.
    pub(super) fn new_link(&self) -> Result<Box<dyn Link>, GuardFailure> {
        let (hello, link) = connected(&*self.open, &self.name)?;
        if hello == self.hello {
            return Ok(link);
        }
        let (now, first) = hello.difference(&self.hello);
        Err(GuardFailure::Differs(now, first))
    }

    /// Announces the end of a run and waits until the guard has confirmed it.
    pub(super) fn finish(&self, link: &mut dyn Link, alias: &str) -> Result<(), GuardFailure> {
        let (question, id) = lines::end(alias);
        self.ask(link, question.as_bytes(), &id).map(|_| ())
    }

    /// Sends lines that end with the question `id`, and returns its answer.
    #[expect(clippy::disallowed_methods, reason = "how long it takes decides nothing but when to give up")]
    pub(super) fn ask(&self, link: &mut dyn Link, lines: &[u8], id: &str) -> Result<AnswerLine, GuardFailure> {
        let begun = Instant::now();
        let answer = AnswerLine::parse(&link.exchange(lines)?, id, &self.hello)?;
        link.is_quiet()?;
        if locked(&self.ledger).is_too_late(begun.elapsed()) {
            return Err(GuardFailure::Late);
        }
        Ok(answer)
    }

    /// Takes back a link after a run, or after the part of it that was watched.
    pub(super) fn give_back(&self, link: Box<dyn Link>, unfinished: Option<String>) {
        locked(&self.idle).push(IdleLink { link, unfinished });
    }

    pub(super) fn count_point(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, run: &str, point: Option<Point>, failure: GuardFailure) {
        locked(&self.ledger).put(run, point, failure);
    }
}

/// A new link whose handshake went well.
fn connected(open: &Opener, name: &str) -> Result<(Hello, Box<dyn Link>), GuardFailure> {
    let mut link = open()?;
    let answer = link.exchange(Hello::question().as_bytes())?;
    Hello::parse(&answer, name).map(|hello| (hello, link))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Strategy for Guard {
    fn name(&self) -> &str {
        &self.name
    }

    fn rules(&self) -> Vec<RuleName> {
        self.hello.rules.iter().map(|rule| RuleName::new(rule.name.as_str())).collect()
    }

    fn requirements(&self) -> Vec<Requirement> {
        self.hello.requirements()
    }

    fn may_leave_path(&self) -> bool {
        self.hello.answers.iter().any(|answer| !matches!(answer, AnswerKind::Stop | AnswerKind::Reading))
    }

    fn number(&self) -> Option<Number<'_>> {
        self.hello.number().map(|name| Number { name, points: &self.hello.points })
    }

    fn program(&self) -> Option<&Program> {
        Some(&self.program)
    }

    fn troubles(&self) -> Vec<Trouble> {
        locked(&self.ledger).troubles(&self.name)
    }

    fn start(self: Arc<Self>, header: &Header) -> Box<dyn Watch> {
        Box::new(GuardWatch::start(self, header))
    }
}
