//! The stacks no other stack beats on both axes: successes kept, and cost saved.

use super::{Label, Summary, Unit};

/// One stack on the two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontierPoint {
    /// The stack.
    pub stack: Label,
    /// The unit the saving is counted in.
    pub unit: Unit,
    /// Successes killed over successes; `None` without successes.
    pub fes_rate: Option<f64>,
    /// Saved on failures and after success, over what was recorded.
    pub saved_ratio: Option<f64>,
    /// No other stack kills no more and saves no less, one of them strictly.
    pub on_frontier: bool,
    /// A stack that beats it, when there is one.
    pub beaten_by: Option<Label>,
}

impl FrontierPoint {
    /// Successes killed and cost saved, when both are known.
    fn axes(&self) -> Option<(f64, f64)> {
        self.fes_rate.zip(self.saved_ratio)
    }
}

/// Places every stack; order as given. Savings that came of killed successes do not count.
pub fn frontier(summaries: &[Summary], unit: Unit) -> Vec<FrontierPoint> {
    let mut points: Vec<FrontierPoint> = summaries
        .iter()
        .map(|summary| FrontierPoint {
            stack: summary.stack.clone(),
            unit,
            fes_rate: summary.estimates.fes_rate.value,
            saved_ratio: summary.savings_in(unit).and_then(super::Savings::useful_ratio),
            on_frontier: false,
            beaten_by: None,
        })
        .collect();
    let placed = points.clone();
    for point in &mut points {
        let Some((fes, saved)) = point.axes() else { continue };
        let beats = |other: &&FrontierPoint| {
            other.axes().is_some_and(|(f, s)| f <= fes && s >= saved && (f < fes || s > saved))
        };
        let beater = placed.iter().find(beats);
        point.beaten_by = beater.map(|beater| beater.stack.clone());
        point.on_frontier = beater.is_none();
    }
    points
}
