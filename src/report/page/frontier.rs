//! The frontier figure on the page: the drawing is that of the file, and this says where the page's script finds its
//! parts.

use serde::Serialize;

use crate::aggregate::Summary;
use crate::report::figure::FrontierFigure;

/// A drawing of the frontier, in its own pixels.
#[derive(Serialize)]
pub(in crate::report) struct FrontierView {
    /// The name of the figure.
    name: &'static str,
    /// The part without the title, which the page says itself: left, top, width, height.
    window: [i32; 4],
    stacks: Vec<StackView>,
}

/// Where a stack is shown.
#[derive(Serialize)]
struct StackView {
    /// Its index among the stacks of the page.
    stack: usize,
    /// The middle of its mark.
    mark: (i32, i32),
    /// Its line in the legend: left, top, right, bottom.
    line: (i32, i32, i32, i32),
}

impl FrontierView {
    /// Where the parts of `figure` are.
    pub(in crate::report) fn from_figure(
        name: &'static str,
        figure: &FrontierFigure<'_>,
        summaries: &[Summary],
    ) -> Self {
        let (width, height) = figure.size();
        let top = figure.top();
        let mut stacks = Vec::new();
        for shown in figure.shown_at() {
            if let Some(stack) = summaries.iter().position(|summary| *summary.stack == *shown.stack) {
                stacks.push(StackView { stack, mark: shown.mark, line: shown.line });
            }
        }
        Self { name, window: [0, top, width.cast_signed(), height.cast_signed() - top], stacks }
    }
}
