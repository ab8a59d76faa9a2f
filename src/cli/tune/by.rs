//! `tune --by`: an answer for each class.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::answer::picked;
use super::files::certified_stack;
use super::{Args, families};
use crate::aggregate::Label;
use crate::answers::tables::{DataTable, TableCell};
use crate::cli::ProgramExit;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{ByArg, unnamed_tasks};
use crate::cli::output::{AnswerFormat, Output, TableFormat};
use crate::diagnostic::{count, one_line};
use crate::reader::LabelDraw;
use crate::report::{write_folder, write_text};
use crate::snapshot::known_or;
use crate::tune::{
    ClassLimit, Family, KeptReadings, Shipped, Study, StudyRun, TuneQuestion, TunedClass, TunedClasses, tune_classes,
};
use crate::words::{chosen_percent as percent, digits};

/// Reads the runs and tunes each class of them.
pub(super) fn run(args: &Args, by: &ByArg, output: &Output) -> Result<ProgramExit, CommandFailure> {
    let question = args.question(0);
    let families: Vec<Family> = families(&question);
    let plan = Study::plan(&families);
    let read = ByArg::by(Some(by));
    let mut runs = Vec::new();
    let report = args.corpus.classed(Some(by)).process(
        output,
        |run| (read.label(&run), StudyRun::from_run(&run, &families, &plan, KeptReadings::Records)),
        |one| runs.push(one),
    )?;
    let is_json = args.format == AnswerFormat::Json;
    show(&question, &by.noun(), runs, report.label_draw, is_json, args.out.as_deref(), output)
}

/// Tunes each class of runs that were read for the question, shows the answers, and writes the folder.
pub(super) fn show(
    question: &TuneQuestion,
    by: &str,
    runs: Vec<(Option<Label>, StudyRun)>,
    labels: LabelDraw,
    is_json: bool,
    out: Option<&Path>,
    output: &Output,
) -> Result<ProgramExit, CommandFailure> {
    let tuned = tune_classes(runs, &families(question), &question.budget, question.appetite());
    let unnamed = unnamed_tasks(tuned.pooled.without_task(), tuned.pooled.runs().len());
    if let Some(why) = unnamed.or_else(|| picked(&tuned.pooled, labels)) {
        if is_json {
            output.json(&json!({ "schema_version": 1, "verdict": why, "classes": [] }));
        } else {
            output.paragraph(&why);
        }
        return Ok(ProgramExit::GateFailed);
    }
    let answer = AnswerByClass { question, by, tuned: &tuned };
    if is_json {
        output.json(&answer.json());
    } else {
        answer.show(output)?;
    }
    let ships = tuned.classes.iter().any(|class| class.best.is_some());
    match out {
        Some(out) if ships => answer.write(out, output)?,
        Some(out) => output.note(&format!("nothing is written to {}: there is nothing to ship", out.display())),
        None => {}
    }
    Ok(if ships { ProgramExit::Done } else { ProgramExit::GateFailed })
}

struct AnswerByClass<'a> {
    question: &'a TuneQuestion,
    /// What the classes are.
    by: &'a str,
    tuned: &'a TunedClasses,
}

impl AnswerByClass<'_> {
    fn promise(&self) -> String {
        format!(
            "at most {} of successes killed, averaged over tasks, with {} confidence over all classes together",
            percent(self.question.max_killed),
            percent(self.question.confidence)
        )
    }

    fn verdict(&self) -> String {
        let classes = &self.tuned.classes;
        let enough = classes.iter().filter(|class| class.is_certified).count();
        let caps = classes.iter().filter(|class| class.cap.is_some()).count();
        format!(
            "{} by {}: {enough} with the {} tasks with a success that a certificate takes, {caps} with a certified cap. Promised: {}.",
            count(classes.len() as u64, "class").replace("classs", "classes"),
            self.by,
            self.tuned.needed,
            self.promise()
        )
    }

    /// The answer for a class, in one sentence.
    fn sentence(&self, class: &TunedClass) -> String {
        let tasks = count(class.with_success, "task");
        let name = &class.class;
        if !class.is_certified {
            let more = self.tuned.needed - class.with_success;
            return format!("`{name}`: nothing can be certified on {tasks} with a success: {more} more.");
        }
        let Some(cap) = &class.cap else {
            return format!("`{name}`: no cap can be certified on its {tasks} with a success.");
        };
        let cut = |of: &ClassLimit| format!("{} of {} successes", of.killed, of.successes);
        let half = match &class.half {
            Some(half) if half.killed > cap.killed => {
                format!("; {} would have cut {}", half.limit, cut(half))
            }
            _ => String::new(),
        };
        let ship = match &class.best {
            Some(best) if best.rule != cap.rule => {
                let saved = known_or("?", best.saved.map(digits));
                format!(" Ship `{}`: it saves {saved} % and kills {} here.", best.rule, cut(best))
            }
            _ => String::new(),
        };
        format!(
            "`{name}`: {} {} cut at most {} (certified on its {tasks}; {} here{half}).{ship}",
            cap.limit,
            self.question.budget,
            percent(self.question.max_killed),
            cut(cap)
        )
    }

    fn table(&self) -> DataTable {
        let saved = format!("{} saved, %", self.tuned.pooled.unit().noun());
        let columns = ["class", "certificate", "tasks", "cap", "killed", &saved, "best rule", "killed", &saved];
        let share = |of: Option<f64>| TableCell::some_text(of.map(digits));
        let limit = |of: Option<&ClassLimit>, name: fn(&ClassLimit) -> String| match of {
            None => [TableCell::Missing, TableCell::Missing, TableCell::Missing],
            Some(of) => {
                [TableCell::Text(name(of)), TableCell::Text(format!("{}/{}", of.killed, of.successes)), share(of.saved)]
            }
        };
        let row = |class: &TunedClass| {
            let mut row = vec![
                TableCell::Text(class.class.to_string()),
                TableCell::Text(if class.is_certified { "own" } else { "none" }.to_owned()),
                TableCell::Count(class.with_success),
            ];
            row.extend(limit(class.cap.as_ref(), |of| of.limit.to_string()));
            row.extend(limit(class.best.as_ref(), |of| of.rule.clone()));
            row
        };
        DataTable::new(columns, self.tuned.classes.iter().map(row))
    }

    fn show(&self, output: &Output) -> Result<(), CommandFailure> {
        output.paragraph(&self.verdict());
        output.data("\n");
        for class in &self.tuned.classes {
            output.paragraph(&self.sentence(class));
        }
        output.data("\n");
        output.table(&self.table(), TableFormat::Table)?;
        output.data("\n");
        output.paragraph("killed and saved: in the recorded runs of the class, on which it was chosen.");
        if self.tuned.unclassed > 0 {
            let runs = count(self.tuned.unclassed as u64, "run");
            output.paragraph(&format!("{runs} without what `--by` asks for: in no certificate"));
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let limit = |of: &ClassLimit| {
            json!({
                "rule": of.rule, "limit": of.limit, "p": of.choice.p, "killed": of.killed, "successes": of.successes,
                "saved": of.saved,
            })
        };
        let class = |class: &TunedClass| {
            json!({
                "class": &*class.class,
                "sentence": self.sentence(class),
                "certificate": if class.is_certified { "own" } else { "none" },
                "runs": class.study.runs().len(),
                "tasks_with_success": class.with_success,
                "cap": class.cap.as_ref().map(limit),
                "half_of_cap": class.half.as_ref().map(limit),
                "best": class.best.as_ref().map(limit),
            })
        };
        json!({
            "schema_version": 1,
            "whenstop": env!("CARGO_PKG_VERSION"),
            "verdict": self.verdict(),
            "by": self.by,
            "alpha": self.question.max_killed,
            "confidence": self.question.confidence,
            "delta_each": self.tuned.delta_each,
            "tasks_needed": self.tuned.needed,
            "budget": self.question.budget,
            "saved_unit": self.tuned.pooled.unit().name(),
            "runs": self.tuned.pooled.runs().len(),
            "corpus": self.tuned.pooled.fingerprint(),
            "classes": self.tuned.classes.iter().map(class).collect::<Vec<_>>(),
        })
    }

    /// Writes a stack per class, each with its certificate, and the answer.
    fn write(&self, out: &Path, output: &Output) -> Result<(), CommandFailure> {
        let mut text = format!(
            "# Made by `whenstop tune --by {}` from {} runs, {}: a stack for each class.\n# `whenstop export tuned.toml --stack NAME \
             --to HOST` writes one as the host's own configuration.\n",
            one_line(self.by),
            self.tuned.pooled.runs().len(),
            self.tuned.pooled.fingerprint()
        );
        let mut names = std::collections::BTreeSet::new();
        for class in &self.tuned.classes {
            let Some(best) = &class.best else { continue };
            let mut name = stack_name(&class.class);
            while !names.insert(name.clone()) {
                name.push('-');
            }
            let _ = writeln!(text, "\n# {}", one_line(&self.sentence(class)));
            text += &certified_stack(&class.study, &Shipped::Limit(best.choice), &name, self.promise());
        }
        let write = |folder: &Path| {
            write_text(&folder.join("tuned.toml"), &text)?;
            write_text(&folder.join("certificate.json"), &format!("{:#}\n", self.json()))
        };
        write_folder(out, output.csv, write).map_err(CommandFailure::input)?;
        output.note(&format!("written to {}; ship {}", out.display(), out.join("tuned.toml").display()));
        Ok(())
    }
}

/// The name of a class's stack: what a stack file can name.
fn stack_name(class: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    format!("tuned-{}", class.chars().map(plain).collect::<String>())
}
