//! Numbers that other programs answer with, for rules to read.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Strategy, Watch};
use crate::transcript::{Moment, PointView, Run};

/// The number that a program answers with.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    /// Its name.
    pub name: &'a str,
    /// The moments at which it is asked.
    pub points: &'a [Moment],
}

/// The program whose number a rule reads, once it is known.
#[derive(Clone, Default)]
pub struct NumberOf(Option<NumberProgram>);

#[derive(Clone)]
struct NumberProgram {
    key: u64,
    /// The name of the signal.
    id: &'static str,
    program: Arc<dyn Strategy>,
}

impl NumberOf {
    /// The number of this program, which rules name `id`. What is kept of a run under one of them is never taken for
    /// that of another.
    pub fn program(id: &'static str, program: Arc<dyn Strategy>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(Some(NumberProgram { key: NEXT.fetch_add(1, Ordering::Relaxed), id, program }))
    }

    /// What rules call it.
    pub fn id(&self) -> Option<&'static str> {
        self.0.as_ref().map(|known| known.id)
    }

    /// The program.
    pub fn strategy(&self) -> Option<&Arc<dyn Strategy>> {
        self.0.as_ref().map(|known| &known.program)
    }

    /// What was answered at each point of the run of this view, if that was asked before.
    pub fn kept(&self, view: &PointView<'_>) -> Option<Arc<[Option<f64>]>> {
        view.numbers()?.readings(self.0.as_ref()?.key)
    }

    /// Asks the program about `run`, unless it was.
    pub fn ask(&self, run: &Run) {
        let Some(NumberProgram { key, id, program }) = &self.0 else { return };
        if run.numbers().readings(*key).is_some() {
            return;
        }
        let mut watch = Arc::clone(program).start(&run.header);
        let mut readings = Vec::with_capacity(run.points().len() + 1);
        for view in run.views().chain(run.one_more_request()) {
            readings.push(number_now(&mut *watch, &view));
        }
        let has_failed = !watch.conclude().is_empty();
        if has_failed {
            readings.fill(None);
        }
        run.numbers().keep(*key, id, readings.into(), has_failed);
    }
}

/// Asks the programs whose numbers `strategy` reads about `run`, each once.
pub fn ask<S: Strategy + ?Sized>(run: &Run, strategy: &S) {
    for number in strategy.numbers() {
        number.ask(run);
    }
}

/// The number of a program at its next point.
pub fn number_now(watch: &mut dyn Watch, view: &PointView<'_>) -> Option<f64> {
    watch.at(view, &mut Vec::new());
    last_number(watch)
}

/// The number of a program at the last point that it was shown.
pub fn last_number(watch: &dyn Watch) -> Option<f64> {
    watch.readings().first()?.observed
}

/// Says which program answers, so that two readings are the same only if it is the same program.
impl fmt::Debug for NumberOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(known) => write!(f, "NumberOf({:?})", known.program.program()),
            None => f.write_str("NumberOf(nothing)"),
        }
    }
}
