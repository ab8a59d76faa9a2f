//! The figure of the report: one panel per promise, by number of tasks.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::study::summary::Line;

const SIZE: (u32, u32) = (1320, 1950);
/// Numbers of tasks on the axis: all ticks of a logarithmic axis would run into each other.
const SHOWN: [f64; 5] = [10.0, 20.0, 50.0, 100.0, 200.0];
/// What the tool prints, then the methods it does not use.
const COLOURS: [RGBColor; 5] =
    [RGBColor(0, 90, 181), RGBColor(220, 50, 32), RGBColor(230, 159, 0), RGBColor(120, 120, 120), RGBColor(0, 140, 90)];

/// One panel: an experiment's measure, its methods (name in the results, name in the legend), the axis and the target.
struct Panel {
    title: &'static str,
    experiment: &'static str,
    measure: &'static str,
    methods: &'static [(&'static str, &'static str)],
    range: (f64, f64),
    /// The band the printed line should lie in.
    target: (f64, f64),
}

const PANELS: [Panel; 8] = [
    Panel {
        title: "Rate over runs: coverage of 95 % intervals",
        experiment: "rate",
        measure: "coverage",
        methods: &[
            ("printed", "printed (Wilson on effective n)"),
            ("percentile-bootstrap", "percentile bootstrap"),
            ("wilson-ignoring-tasks", "Wilson, tasks ignored"),
        ],
        range: (0.5, 1.0),
        target: (0.93, 0.98),
    },
    Panel {
        title: "Share of tokens, long-tailed runs: coverage",
        experiment: "tokens",
        measure: "coverage",
        methods: &[
            ("printed", "printed (logit t)"),
            ("percentile-bootstrap", "percentile bootstrap"),
            ("students-t", "Student's t"),
            ("skewness-corrected-t", "skewness-corrected t"),
        ],
        range: (0.5, 1.0),
        target: (0.93, 0.98),
    },
    Panel {
        title: "Share of tokens, random stops: coverage",
        experiment: "stops",
        measure: "coverage",
        methods: &[
            ("printed", "printed (logit t)"),
            ("percentile-bootstrap", "percentile bootstrap"),
            ("students-t", "Student's t"),
            ("skewness-corrected-t", "skewness-corrected t"),
        ],
        range: (0.5, 1.0),
        target: (0.93, 0.98),
    },
    Panel {
        title: "Paired yes/no test at 5 %: false alarms",
        experiment: "paired-yes-no",
        measure: "type-I",
        methods: &[("printed", "printed"), ("sign-flip", "sign flips over tasks")],
        range: (0.0, 0.25),
        target: (0.02, 0.06),
    },
    Panel {
        title: "Paired test of savings at 5 %: false alarms",
        experiment: "paired-costs",
        measure: "type-I",
        methods: &[("printed", "printed"), ("sign-flip", "sign flips over tasks")],
        range: (0.0, 0.25),
        target: (0.02, 0.06),
    },
    Panel {
        title: "Success by a budget: coverage of the band",
        experiment: "budget-curve",
        measure: "coverage",
        methods: &[("printed", "printed (Wilson on effective n)")],
        range: (0.5, 1.0),
        target: (0.93, 0.98),
    },
    Panel {
        title: "Sweep of 20, none better: any false alarm",
        experiment: "sweep-all-alike",
        measure: "family-wise",
        methods: &[
            ("printed", "printed (Holm and max-T)"),
            ("unadjusted", "unadjusted"),
            ("holm", "Holm over plain t"),
        ],
        range: (0.0, 0.5),
        target: (0.0, 0.06),
    },
    Panel {
        title: "Certificates at delta = 10 %: violated",
        experiment: "certificate",
        measure: "violated",
        methods: &[
            ("exact-binomial", "one run per task"),
            ("gaffke", "several runs per task"),
            ("betting", "bets, may be looked at any time"),
        ],
        range: (0.0, 0.25),
        target: (0.0, 0.1),
    },
];

/// The worlds: title, experiments in order, measure, method, range and target; one bar each, over correlations and effects.
type WorldPanel = (&'static str, &'static [(&'static str, &'static str)], &'static str, (f64, f64), (f64, f64));

const WORLDS: [WorldPanel; 2] = [
    (
        "Worlds with unequal tasks: coverage of what is printed",
        &[
            ("rate-giant", "rate, giant"),
            ("rate-zipf", "rate, Zipf"),
            ("difference-giant", "difference, giant"),
            ("difference-zipf", "difference, Zipf"),
            ("budget-giant", "budget, giant"),
            ("cost-of-success-1-30", "cost, 1–30 runs"),
            ("cost-ratio-1-30", "cost ratio, 1–30"),
            ("saved-1-30", "saved, 1–30"),
            ("saved-difference-1-30", "saved diff., 1–30"),
            ("saved-missing-labels", "30 % unlabelled"),
            ("labels-checked", "50 + 50 checks"),
        ],
        "coverage",
        (0.8, 1.0),
        (0.93, 0.98),
    ),
    (
        "Stacks that are all alike: any called beaten",
        &[
            ("alike-giant", "giant task"),
            ("alike-two-giants", "two giants"),
            ("alike-zipf", "Zipf"),
            ("alike-1-30", "1–30 runs"),
        ],
        "any-beaten",
        (0.0, 1.0),
        (0.0, 0.06),
    ),
];

/// Draws `validity.png` and `validity.svg` into `folder`.
pub(crate) fn draw(lines: &[Line], folder: &Path) -> Result<(), Box<dyn Error>> {
    for style in [FontStyle::Normal, FontStyle::Bold] {
        register_font("sans-serif", style, dejavu::sans::regular()).map_err(|_| "the embedded font is not readable")?;
    }
    let mut pixels = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
    panels(&BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area(), lines)?;
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(folder.join("validity.png"))?), SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&pixels)?;
    let svg = folder.join("validity.svg");
    panels(&SVGBackend::new(&svg, SIZE).into_drawing_area(), lines)
}

fn panels<B: DrawingBackend>(area: &DrawingArea<B, Shift>, lines: &[Line]) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    area.fill(&WHITE)?;
    let cells = area.split_evenly((5, 2));
    for (panel, cell) in PANELS.iter().zip(&cells) {
        draw_panel(panel, lines, cell)?;
    }
    for (world, cell) in WORLDS.iter().zip(cells.iter().skip(PANELS.len())) {
        draw_worlds(world, lines, cell)?;
    }
    area.present()?;
    Ok(())
}

/// One row a world: dots are means over its cells, bars run from the lowest to the highest.
fn draw_worlds<B: DrawingBackend>(
    (title, worlds, measure, range, target): &WorldPanel,
    lines: &[Line],
    area: &DrawingArea<B, Shift>,
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    let rows = worlds.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption(*title, ("sans-serif", 21))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(160)
        .build_cartesian_2d(range.0..range.1, -rows..0.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .y_labels(0)
        .label_style(("sans-serif", 15))
        .draw()?;
    chart.draw_series([Rectangle::new(
        [(target.0, -rows), (target.1, 0.0)],
        RGBColor(60, 160, 60).mix(0.18).filled(),
    )])?;
    for (at, &(experiment, label)) in worlds.iter().enumerate() {
        let y = -(at as f64) - 0.5;
        let place = (range.0, y);
        chart.plotting_area().draw(&(EmptyElement::at(place) + Text::new(label, (-155, -7), ("sans-serif", 15))))?;
        for (method, colour) in [("points-alone", COLOURS[1]), ("printed", COLOURS[0])] {
            let of = lines
                .iter()
                .filter(|line| (line.experiment, line.measure, line.method.as_str()) == (experiment, *measure, method));
            for line in of {
                let ends = vec![(line.lowest.max(range.0), y), (line.highest.max(range.0), y)];
                chart.draw_series([PathElement::new(ends, colour.mix(0.45).stroke_width(2))])?;
                chart.draw_series([Circle::new((line.share, y), 4, colour.filled())])?;
            }
        }
    }
    Ok(())
}

fn draw_panel<B: DrawingBackend>(
    panel: &Panel,
    lines: &[Line],
    area: &DrawingArea<B, Shift>,
) -> Result<(), Box<dyn Error>>
where
    B::ErrorType: 'static,
{
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, ("sans-serif", 21))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(62)
        .build_cartesian_2d((7.0_f64..230.0).log_scale(), panel.range.0..panel.range.1)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("tasks (log scale)")
        .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
        .x_label_formatter(&|tasks| if SHOWN.contains(tasks) { format!("{tasks:.0}") } else { String::new() })
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 15))
        .draw()?;
    let band = [(7.0, panel.target.0), (230.0, panel.target.1)];
    chart.draw_series([Rectangle::new(band, RGBColor(60, 160, 60).mix(0.18).filled())])?;
    for (at, ((method, label), colour)) in panel.methods.iter().zip(COLOURS).enumerate() {
        let points: Vec<&Line> = lines
            .iter()
            .filter(|line| line.experiment == panel.experiment && line.measure == panel.measure)
            .filter(|line| line.method == *method)
            .collect();
        // Ranges of neighbouring methods stand side by side.
        let x = |line: &Line| line.tasks as f64 * (1.0 + 0.035 * at as f64);
        chart.draw_series(points.iter().map(|line| {
            PathElement::new(vec![(x(line), line.lowest), (x(line), line.highest)], colour.mix(0.45).stroke_width(2))
        }))?;
        chart
            .draw_series(LineSeries::new(points.iter().map(|line| (x(line), line.share)), colour.stroke_width(2)))?
            .label(*label)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(3)));
        chart.draw_series(points.iter().map(|line| Circle::new((x(line), line.share), 4, colour.filled())))?;
    }
    let position = if panel.range.0 > 0.0 { SeriesLabelPosition::LowerRight } else { SeriesLabelPosition::UpperRight };
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 15))
        .draw()?;
    Ok(())
}
