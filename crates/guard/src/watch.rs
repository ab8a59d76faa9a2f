//! One run under a guard: which events it has been sent, and what it answered.

use std::sync::Arc;

use whenstop_core::decision::{Decision, RuleName, RuleReading, Strategy as _, Watch};
use whenstop_core::transcript::{Header, PointView};

use super::answer::AnswerLine;
use super::strategy::{Guard, Link};
use super::{GuardFailure, lines};

/// A run under a guard.
pub(super) struct GuardWatch {
    guard: Arc<Guard>,
    /// The recorded id, for messages. The guard never sees it.
    run: String,
    alias: String,
    /// The header, until it is sent with the first point.
    header: Option<Vec<u8>>,
    link: Option<Box<dyn Link>>,
    /// How many events were sent.
    sent: usize,
    /// How many points were asked about.
    asked: u32,
    state: WatchState,
    /// The latest reading of each rule.
    readings: Vec<RuleReading>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchState {
    Going,
    /// The guard ended the run, or confirmed its end.
    Done,
    Failed,
}

impl GuardWatch {
    pub(super) fn start(guard: Arc<Guard>, header: &Header) -> Self {
        let mut watch = Self {
            run: header.run_id.clone(),
            alias: lines::alias(header),
            header: Some(lines::header(header, guard.hello())),
            link: None,
            sent: 0,
            asked: 0,
            state: WatchState::Going,
            readings: Vec::new(),
            guard,
        };
        if let Some(failure) = watch.guard.broken().cloned() {
            watch.fail(None, failure);
        }
        watch
    }

    fn fail(&mut self, view: Option<&PointView<'_>>, failure: GuardFailure) {
        self.state = WatchState::Failed;
        // Whatever it still writes belongs to a run that is over, so the link is closed.
        self.link = None;
        self.guard.failed(&self.run, view.map(PointView::point), failure);
    }

    /// Sends what happened since the last point and returns the answer.
    fn ask(&mut self, view: &PointView<'_>) -> Result<AnswerLine, GuardFailure> {
        let link = match &mut self.link {
            Some(link) => link,
            empty => empty.insert(self.guard.link()?),
        };
        let hello = self.guard.hello();
        let mut lines = self.header.take().unwrap_or_default();
        for event in &view.events()[self.sent.min(view.events().len())..] {
            lines::event(event, hello, self.guard.write_event, &mut lines)
                .map_err(|error| GuardFailure::NotStarted(format!("an event cannot be written: {error}")))?;
        }
        self.sent = view.events().len();
        self.asked += 1;
        self.guard.count_point();
        let (question, id) = lines::point(&self.alias, self.asked, view.point());
        lines.extend_from_slice(question.as_bytes());
        match self.guard.ask(&mut **link, &lines, &id) {
            // It ended after an earlier run, as a program for one run does; whether that was seen before this question
            // was sent is a matter of timing, so it is asked once more either way.
            Err(failure) if self.asked == 1 && failure.is_clean_end() => {
                let link = self.link.insert(self.guard.new_link()?);
                self.guard.ask(&mut **link, &lines, &id)
            }
            answer => answer,
        }
    }

    fn note(&mut self, answer: &AnswerLine) {
        let Some(rule) = answer.rule(self.guard.hello()) else { return };
        let evidence = answer.evidence();
        let Some(observed) = evidence.observed else { return };
        let what = if self.guard.hello().rules.len() > 1 { "reading".to_owned() } else { String::new() };
        let mut reading = RuleReading::new(rule, what, Some(observed));
        if let Some(limit) = evidence.limit {
            reading = reading.against(limit, observed >= limit);
        }
        match self.readings.iter_mut().find(|known| known.rule == reading.rule) {
            Some(known) => *known = reading,
            None => self.readings.push(reading),
        }
    }
}

impl Watch for GuardWatch {
    fn at(&mut self, view: &PointView<'_>, trail: &mut Vec<Decision>) {
        if self.state != WatchState::Going || !self.guard.hello().points.contains(&view.moment()) {
            return;
        }
        match self.ask(view) {
            Ok(answer) => {
                self.note(&answer);
                let decision = answer.decision(view, self.guard.hello());
                if decision.as_ref().is_some_and(|decision| decision.action.is_terminal()) {
                    self.state = WatchState::Done;
                }
                trail.extend(decision);
            }
            Err(failure) => self.fail(Some(view), failure),
        }
    }

    fn readings(&self) -> Vec<RuleReading> {
        self.readings.clone()
    }

    fn conclude(&mut self) -> Vec<RuleName> {
        if let Some(mut link) = self.link.take() {
            match self.guard.finish(&mut *link, &self.alias) {
                Ok(()) => self.guard.give_back(link, None),
                Err(failure) => self.fail(None, failure),
            }
        }
        if self.state == WatchState::Failed { self.guard.rules() } else { Vec::new() }
    }
}

impl Drop for GuardWatch {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            self.guard.give_back(link, Some(self.alias.clone()));
        }
    }
}
