//! Killed and saved against the limit, one panel per signal: where the two curves part is the limit to ship.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Drawing, FigureError, Picture};
use super::style::{BLUE, FAINT, GREY, INK, LABEL, RED, SMALL, TITLE};
use crate::stats::RangeEstimate;
use crate::sweep::{Grid, Results, SettingResult};

/// A sweep.
pub struct SweepFigure<'a> {
    /// The grid, for names and units.
    pub grid: &'a Grid,
    /// The settings' numbers.
    pub results: &'a Results,
    /// The setting chosen, to be marked.
    pub chosen: Option<usize>,
    /// The highest tolerated rate of false early stops, drawn as a line.
    pub max_fes: f64,
    /// What was swept over, for the subtitle.
    pub subtitle: String,
}

const PANEL: (u32, u32) = (560, 440);
const COLUMNS: usize = 2;
const HEAD: u32 = 96;

impl SweepFigure<'_> {
    fn panels(&self) -> usize {
        self.grid.axes.len().max(1)
    }

    fn columns(&self) -> usize {
        self.panels().min(COLUMNS)
    }
}

impl Picture for SweepFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let pixels = |count: usize, each: u32| u32::try_from(count).unwrap_or(1).saturating_mul(each);
        let width = pixels(self.columns(), PANEL.0).max(760);
        (width, HEAD.saturating_add(pixels(self.panels().div_ceil(self.columns()), PANEL.1)))
    }

    fn draw<B: DrawingBackend>(&self, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let small = ("sans-serif", SMALL).into_font();
        let title = ("sans-serif", TITLE).into_font().color(&INK);
        area.draw(&Text::new("Killed and saved against the limit", (20, 14), title)).map_err(error)?;
        area.draw(&Text::new(self.subtitle.clone(), (20, 42), small.color(&GREY))).map_err(error)?;
        let saved = format!("{} saved on failures and after success, % of all", self.results.unit.name());
        let max = format!("{} % killed: the most tolerated", style_percent(self.max_fes));
        let mut x = 20;
        for (text, colour) in [("successes killed, % of successes", RED), (&saved, BLUE), (&max, GREY)] {
            area.draw(&Rectangle::new([(x, 72), (x + 14, 76)], colour.filled())).map_err(error)?;
            area.draw(&Text::new(text.to_owned(), (x + 20, 67), small.color(&INK))).map_err(error)?;
            x += 34 + i32::try_from(small.box_size(text).map_or(200, |(width, _)| width)).unwrap_or(200);
        }
        let body = area.margin(HEAD, 0, 6, 6);
        let panels = body.split_evenly((self.panels().div_ceil(self.columns()), self.columns()));
        for (axis, panel) in panels.iter().enumerate().take(self.grid.axes.len()) {
            self.draw_panel(axis, panel)?;
        }
        Ok(())
    }
}

impl SweepFigure<'_> {
    /// The settings of an axis with their positions among all settings.
    fn of_axis(&self, axis: usize) -> Vec<(usize, &SettingResult)> {
        let mut own: Vec<(usize, &SettingResult)> =
            self.results.settings.iter().enumerate().filter(|(_, setting)| setting.axis == axis).collect();
        own.sort_by(|a, b| a.1.limit.total_cmp(&b.1.limit));
        own
    }

    fn draw_panel<B: DrawingBackend>(&self, axis: usize, area: &Drawing<B>) -> Result<(), FigureError> {
        let error = |error: DrawingAreaErrorKind<B::ErrorType>| FigureError::of(&error);
        let Some(of) = self.grid.axes.get(axis) else { return Ok(()) };
        let settings = self.of_axis(axis);
        let limits: Vec<f64> = settings.iter().map(|(_, setting)| setting.limit).collect();
        let highs = settings.iter().flat_map(|(_, setting)| [setting.summary.fes_rate(), setting.useful]);
        let most =
            highs.filter_map(|estimate| estimate.upper().or(estimate.high.value)).fold(self.max_fes * 1.5, f64::max);
        let (right, top) = (limits.len() as f64 - 0.5, (most * 108.0).min(103.0));
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(48)
            .y_label_area_size(52)
            .margin(10)
            .build_cartesian_2d(-0.5..right, 0.0..top)
            .map_err(error)?;
        let label = |x: &f64| place(*x).and_then(|at| limits.get(at)).map_or_else(String::new, |limit| short(*limit));
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(limits.len().min(12) * 2 + 1)
            .x_label_formatter(&label)
            .x_desc(format!("{} … ({})", of.name(), of.unit()))
            .y_label_formatter(&|y| format!("{y} %"))
            .axis_desc_style(("sans-serif", LABEL).into_font().color(&INK))
            .label_style(("sans-serif", SMALL).into_font().color(&GREY))
            .light_line_style(WHITE)
            .bold_line_style(FAINT)
            .axis_style(GREY)
            .draw()
            .map_err(error)?;
        let tolerated = [(-0.5, self.max_fes * 100.0), (right, self.max_fes * 100.0)];
        chart.draw_series(DashedLineSeries::new(tolerated, 5, 4, GREY.stroke_width(1))).map_err(error)?;
        for (colour, shift, of) in [(RED, -0.06, killed as Of), (BLUE, 0.06, useful as Of)] {
            let points: Vec<(f64, RangeEstimate)> =
                settings.iter().enumerate().map(|(at, (_, setting))| (at as f64 + shift, of(setting))).collect();
            let line = points.iter().filter_map(|(x, estimate)| Some((*x, estimate.value()? * 100.0)));
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2))).map_err(error)?;
            chart.draw_series(line.map(|at| Circle::new(at, 4, colour.filled()))).map_err(error)?;
            for (x, estimate) in &points {
                if let Some(interval) = estimate.interval() {
                    let bar = [(*x, interval.low * 100.0), (*x, interval.high * 100.0)];
                    chart.draw_series(LineSeries::new(bar, colour.mix(0.45).stroke_width(2))).map_err(error)?;
                }
            }
        }
        let chosen = settings.iter().position(|(at, _)| self.chosen == Some(*at));
        if let Some(x) = chosen.map(|at| at as f64) {
            chart.draw_series(DashedLineSeries::new([(x, 0.0), (x, top)], 2, 4, INK.stroke_width(1))).map_err(error)?;
            let style = ("sans-serif", SMALL).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Top));
            let text = EmptyElement::at((x, top)) + Text::new("chosen", (5, 2), style);
            chart.draw_series([text]).map_err(error)?;
        }
        Ok(())
    }
}

/// One of the two curves.
type Of = fn(&SettingResult) -> RangeEstimate;

fn killed(setting: &SettingResult) -> RangeEstimate {
    setting.summary.fes_rate()
}

fn useful(setting: &SettingResult) -> RangeEstimate {
    setting.useful
}

/// The position of a limit on the axis; `None` between two limits.
fn place(x: f64) -> Option<usize> {
    let near = x.round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked not to be negative")]
    ((x - near).abs() < 1e-6 && near >= 0.0).then_some(near as usize)
}

fn style_percent(share: f64) -> String {
    format!("{:.3}", share * 100.0).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A limit in few characters: `200k`, `1.5M`.
fn short(limit: f64) -> String {
    let (value, suffix) = match limit.abs() {
        size if size >= 1e6 => (limit / 1e6, "M"),
        size if size >= 1e4 => (limit / 1e3, "k"),
        _ => (limit, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}
