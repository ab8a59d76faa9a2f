//! Whether runs that are called trials of one task were asked the same. Collections number their tasks in each folder
//! anew; taken together, `t01` of twelve domains is one task.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::diagnostic::{Diagnostic, Location};
use crate::find::file_name::FileName;
use crate::transcript::{PromptedBy, Role, Run, Text, messages};

/// Fewest tasks that stand for different prompts before it is said.
const LEAST: u64 = 2;

/// The tasks so far.
#[derive(Debug, Default)]
pub(crate) struct SeenTasks {
    /// By hash of the task: folder and first prompt of its first run, and whether another folder has another
    /// prompt. Only used for look-ups, so hash order has no effect.
    seen: HashMap<u64, SeenTask>,
    /// Tasks with runs in several folders, and those of them with different prompts.
    spread: u64,
    different: u64,
    first: Option<(String, String)>,
}

#[derive(Debug)]
struct SeenTask {
    folder: u64,
    prompt: u64,
    is_spread: bool,
    is_different: bool,
}

impl SeenTasks {
    /// Adds a run, in corpus order.
    pub(crate) fn add(&mut self, run: &Run, file: &FileName) {
        let header = &run.header;
        // A simulated user asks in other words every time; within a suite, settings may word a task in several ways.
        let is_plain = header.prompted_by != PromptedBy::SimulatedUser && header.suite.is_none();
        let Some(task) = header.task_id.as_ref().filter(|_| is_plain) else { return };
        let mut asked = messages(run.events()).filter(|message| message.role == Role::User);
        let Some(prompt) = asked.find_map(|message| message.content.as_ref()).map(Text::stored) else { return };
        let (folder, prompt) = (xxh3_64(file.folder.as_os_str().as_encoded_bytes()), xxh3_64(prompt));
        let new = SeenTask { folder, prompt, is_spread: false, is_different: false };
        let known = self.seen.entry(xxh3_64(task.as_bytes())).or_insert(new);
        if known.folder == folder {
            return;
        }
        self.spread += u64::from(!std::mem::replace(&mut known.is_spread, true));
        if known.prompt != prompt && !std::mem::replace(&mut known.is_different, true) {
            self.different += 1;
            self.first.get_or_insert_with(|| (task.clone(), file.path.clone()));
        }
    }

    /// The warning, if most tasks with runs in several folders stand for different prompts.
    pub(crate) fn notice(&self) -> Option<Diagnostic> {
        let (task, path) =
            self.first.as_ref().filter(|_| self.different >= LEAST && self.different * 2 > self.spread)?;
        let what = format!(
            "{} of {} task ids in several folders stand for different first prompts, such as `{task}`: their runs count as \
             trials of one task",
            self.different, self.spread
        );
        let help =
            "if they are different tasks: `--task first-message`, or `--task` with a field that tells them apart";
        Some(Diagnostic::new(Location::file(path.as_str()), what, help))
    }
}
