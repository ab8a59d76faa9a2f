//! Figures, each written as SVG and PNG from the same drawing code.

mod against;
mod bounds;
mod budget;
mod canvas;
mod detector;
mod forward;
mod frontier;
mod heat;
mod labels;
mod pen;
mod scale;
mod spending;
mod stops;
pub mod style;

pub use against::AgainstFigure;
pub use bounds::BoundsFigure;
pub use budget::BudgetFigure;
pub use canvas::{Picture, save, svg};
pub use detector::DetectorFigure;
pub use forward::ForwardFigure;
pub use frontier::{FrontierFigure, FrontierLayout, FrontierView};
pub use heat::{HeatFigure, short};
pub use pen::FigureError;
pub use spending::SpendingFigure;
pub use stops::StopsFigure;
