//! The frontier figure on the page: the drawing is that of the file, and this says where the page's script finds its
//! parts.

use serde::Serialize;

use crate::report::figure::{FrontierFigure, ShownAt};

/// A drawing of the frontier, in its own pixels.
#[derive(Serialize)]
pub(in crate::report) struct FrontierView {
    /// The name of the figure.
    name: &'static str,
    /// The part without the title, which the page says itself: left, top, width, height.
    window: [i32; 4],
    stacks: Vec<ShownAt>,
}

impl FrontierView {
    /// Where the parts of `figure` are.
    pub(in crate::report) fn from_figure(name: &'static str, figure: &FrontierFigure<'_>) -> Self {
        let (width, height) = figure.size();
        let top = figure.top();
        let window = [0, top, width.cast_signed(), height.cast_signed() - top];
        Self { name, window, stacks: figure.shown_at() }
    }
}
