//! What other programs were asked about a run, kept beside it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The numbers that programs gave at each point of a run, and at one more request. A copy of a run starts without.
#[derive(Debug, Default)]
pub struct RunNumbers(Mutex<Vec<ProgramNumbers>>);

#[derive(Debug)]
struct ProgramNumbers {
    key: u64,
    id: &'static str,
    readings: Arc<[Option<f64>]>,
    has_failed: bool,
}

impl Clone for RunNumbers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl RunNumbers {
    fn programs(&self) -> MutexGuard<'_, Vec<ProgramNumbers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program with this key answered, if it was asked.
    pub fn readings(&self, key: u64) -> Option<Arc<[Option<f64>]>> {
        self.programs().iter().find(|program| program.key == key).map(|program| Arc::clone(&program.readings))
    }

    /// Keeps what a program answered, in place of another of the same name.
    pub fn keep(&self, key: u64, id: &'static str, readings: Arc<[Option<f64>]>, has_failed: bool) {
        let mut programs = self.programs();
        programs.retain(|program| program.id != id);
        programs.push(ProgramNumbers { key, id, readings, has_failed });
    }

    /// True if the program of this name answered at every point at which it was asked.
    pub fn has_answers(&self, id: &str) -> bool {
        self.programs().iter().any(|program| program.id == id && !program.has_failed)
    }
}
