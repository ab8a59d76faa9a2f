//! Figure: at which step each stack stops, and what that did to the run.

use foldhash::HashMap;
use plotters::prelude::*;

use super::canvas::Picture;
use super::pen::{At, FigureHeading, MARGIN, Pen, TextStyle, WIDTH};
use super::style::{self, GREEN, GREY, LABEL, MAUVE, RED, SMALL, STONE, TEAL};
use crate::aggregate::{Group, Label, RowView};
use crate::answers::FollowedReport;
use crate::answers::words::first_of;
use crate::verdict::Verdict;

/// The stop-step figure of a comparison.
pub struct StopsFigure<'a> {
    /// The rows of each stack.
    pub groups: &'a [Group<'a>],
    /// The subtitle: what was compared.
    pub subtitle: String,
    /// For runs nobody graded: what followed the stops. Stops are then coloured by what followed, and a strip on top
    /// shows the last effect of each run.
    pub followed: Option<&'a FollowedReport>,
}

/// The name and colour of each kind of stop.
type Kinds = [(&'static str, RGBColor); 5];

/// Kinds of stops, in the order the parts of a bar are stacked. For judged runs the first three are the kinds of the
/// tables.
const KINDS: Kinds = [
    ("success killed", RED),
    ("failure stopped", GREEN),
    ("stopped after success", TEAL),
    ("nobody graded the run", STONE),
    ("unknown: a rule could not be read, or what followed is not recorded", MAUVE),
];
/// Kinds of stops of ungraded runs, and of the strip of last effects.
const FOLLOWED: Kinds = [
    ("an edit, a hand-over or a green check was still to come", RED),
    ("one may have been", MAUVE),
    ("nothing but reading and replies followed", TEAL),
    ("a run's last edit, hand-over or green check", STONE),
    ("", STONE),
];
/// Maximum stacks that are named for one reason.
pub(super) const NAMED: usize = 24;
/// The index of last effects in [`FOLLOWED`].
const LAST_EFFECT: usize = 3;
const BINS: u64 = 32;
const LEFT: i32 = 260;
const RIGHT: i32 = WIDTH.cast_signed() - MARGIN;
/// Height of the tallest bar, lowest and highest: with few stacks there is room for taller bars.
const TALLEST: (i32, i32) = (46, 84);

/// Number of stops by bin and kind.
type Bins = Vec<[u32; KINDS.len()]>;

/// One strip: a name, a note below it, and the runs in each bin.
struct Strip {
    name: String,
    count: String,
    bins: Bins,
}

/// Everything that is drawn.
struct Strips {
    kinds: &'static Kinds,
    /// The strip of last effects, if shown, and one strip per stack that stopped a run.
    drawn: Vec<Strip>,
    /// Stacks known to have stopped no run.
    quiet: Vec<String>,
    /// Stacks that certainly stopped no run, but for which some runs are unknown.
    open: Vec<String>,
    /// Stacks whose rules could be evaluated on no run.
    unread: Vec<String>,
    /// Width of a bin in steps.
    width: u64,
    /// Number of runs in the tallest bar of all strips.
    tallest: u32,
}

impl Strips {
    fn from_figure(figure: &StopsFigure<'_>) -> Self {
        let (stopping, others): (Vec<&Group<'_>>, Vec<&Group<'_>>) =
            figure.groups.iter().partition(|group| group.rows().any(RowView::is_stop));
        let named = |kind: &dyn Fn(&Group<'_>) -> bool| -> Vec<String> {
            others.iter().filter(|group| kind(group)).map(|group| group.stack.to_string()).collect()
        };
        let is_unread = |group: &Group<'_>| group.rows().all(|row| row.unknown().unread);
        let is_open = |group: &Group<'_>| group.rows().any(|row| row.unknown().unread || row.unknown().diverged);
        let quiet = named(&|group| !is_open(group));
        let open = named(&|group| is_open(group) && !is_unread(group));
        let unread = named(&is_unread);
        let last = figure.followed.filter(|_| !stopping.is_empty()).map(LastEffects::from_report);
        let stops = stopping.iter().flat_map(|group| group.rows()).filter(|row| row.is_stop());
        let longest = stops.map(RowView::steps_at_stop).chain(last.iter().flat_map(|last| last.steps.iter().copied()));
        let longest = longest.max().unwrap_or(0);
        let width = bin_width(longest);
        let n_bins = usize::try_from(longest / width).unwrap_or(0) + 1;
        let mut drawn: Vec<Strip> = last.iter().map(|last| last.strip(width, n_bins)).collect();
        drawn.extend(stopping.into_iter().map(|group| {
            let kind_of = |row: RowView<'_>| match &last {
                Some(last) => last.kind(group, row),
                None => kind(row),
            };
            let stops = group.rows().filter(|row| row.is_stop()).map(|row| (row.steps_at_stop(), kind_of(row)));
            let bins = bins(stops, width, n_bins);
            let count = match &last {
                Some(_) => count_followed(&bins, group.len()),
                None => count(&bins, group.len()),
            };
            Strip { name: group.stack.to_string(), count, bins }
        }));
        let bars = drawn.iter().flat_map(|strip| &strip.bins).map(|kinds| kinds.iter().sum());
        let kinds = if last.is_some() { &FOLLOWED } else { &KINDS };
        Self { kinds, tallest: bars.max().unwrap_or(0), quiet, open, unread, drawn, width }
    }

    fn bar_height(&self) -> i32 {
        if self.drawn.len() <= 6 { TALLEST.1 } else { TALLEST.0 }
    }

    fn strip_height(&self) -> i32 {
        self.bar_height() + 26
    }

    fn height(&self) -> i32 {
        i32::try_from(self.drawn.len()).unwrap_or(i32::MAX / 200).saturating_mul(self.strip_height())
    }

    fn kinds(&self) -> Vec<usize> {
        let occurs = |kind: &usize| self.drawn.iter().flat_map(|strip| &strip.bins).any(|kinds| kinds[*kind] > 0);
        (0..KINDS.len()).filter(occurs).collect()
    }

    fn head(&self, subtitle: &str) -> FigureHeading {
        let mut head = FigureHeading::new("When each stack stops");
        if self.drawn.is_empty() {
            head = head.sentence("No stack is known to have stopped a run early.");
        }
        head = head.note(subtitle);
        for (why, names) in [
            ("never stopped a run", &self.quiet),
            (
                "stopped none for certain, but a rule could not be read on some runs, or the stack warned, asked or refused and \
                 what follows is not recorded",
                &self.open,
            ),
            ("not judged, a rule could not be read on any run", &self.unread),
        ] {
            if !names.is_empty() {
                head = head.note(&format!("{why}: {}", first_of(names, NAMED)));
            }
        }
        if self.drawn.is_empty() {
            return head;
        }
        let steps = if self.width == 1 { "at one step".to_owned() } else { format!("within {} steps", self.width) };
        let scale =
            format!("a bar holds the runs stopped {steps}, with their number; all strips have one height scale");
        head.note(&scale)
    }
}

impl Picture for StopsFigure<'_> {
    fn draw(&self, pen: &mut Pen) -> (u32, u32) {
        let strips = Strips::from_figure(self);
        let head = strips.head(&self.subtitle);
        head.draw(pen);
        if strips.drawn.is_empty() {
            return (WIDTH, head.bottom().unsigned_abs() + 20);
        }
        draw_legend(pen, &strips, head.bottom() + 10);
        let mut base = head.bottom() + 44 + strips.bar_height();
        for strip in &strips.drawn {
            draw_strip(pen, &strips, base, strip);
            base += strips.strip_height();
        }
        draw_axis(pen, &strips, base - strips.strip_height());
        (WIDTH, (head.bottom() + 44 + strips.height() + 40).unsigned_abs())
    }
}

fn draw_legend(pen: &mut Pen, strips: &Strips, y: i32) {
    let mut x = MARGIN;
    for kind in strips.kinds() {
        let (name, colour) = strips.kinds[kind];
        pen.rectangle((x, y - 7, x + 14, y + 7), colour.filled());
        pen.text(name, (x + 20, y), TextStyle::SMALL);
        x += 44 + style::width(name, SMALL);
    }
}

/// The width of a bin in steps: a round number such that the longest stop fits into the bins.
fn bin_width(longest: u64) -> u64 {
    let powers = (0..19).map(|power| 10_u64.pow(power));
    let round = powers.flat_map(|power| [1, 2, 5].map(|first: u64| first.saturating_mul(power)));
    round.into_iter().find(|width| longest / width < BINS).unwrap_or(u64::MAX)
}

/// Sorts steps, each with its kind, into `count` bins of that width.
fn bins(steps: impl Iterator<Item = (u64, usize)>, width: u64, count: usize) -> Bins {
    let mut bins = vec![[0; KINDS.len()]; count];
    for (step, kind) in steps {
        if let Some(kinds) = bins.get_mut(usize::try_from(step / width).unwrap_or(usize::MAX)) {
            kinds[kind] += 1;
        }
    }
    bins
}

/// The index in [`KINDS`] for a stop: its verdict if certain, else why it is uncertain.
fn kind(row: RowView<'_>) -> usize {
    match row.verdict() {
        _ if row.unknown().unread => 4,
        _ if row.unknown().unlabelled => 3,
        _ if row.killed_low() == 1 => 0,
        _ if row.true_stop_low() == 1 => 1,
        Verdict::GoodTrim | Verdict::Rescued if !row.unknown().diverged => 2,
        _ => 4,
    }
}

/// Formats `21 of 494 runs, 4 killed`; unknown is never shown as 0.
fn count(bins: &Bins, runs: usize) -> String {
    let of = |kinds: &[usize]| -> u32 { bins.iter().flat_map(|bin| kinds.iter().map(|kind| bin[*kind])).sum() };
    let (known, killed, unknown) = (of(&[0, 1, 2]), of(&[0]), of(&[3, 4]));
    let killed = match (known, unknown) {
        (_, 0) => format!("{killed} killed"),
        (0, _) => "killed: unknown".to_owned(),
        _ => format!("at least {killed} killed"),
    };
    format!("{} of {runs} runs, {killed}", known + unknown)
}

/// Formats `28 of 215 runs, 25 cut short`.
fn count_followed(bins: &Bins, runs: usize) -> String {
    let of = |kind: usize| -> u32 { bins.iter().map(|bin| bin[kind]).sum() };
    let (cut, perhaps, free) = (of(0), of(1), of(2));
    let most = if perhaps > 0 { format!("–{}", cut + perhaps) } else { String::new() };
    format!("{} of {runs} runs, {cut}{most} cut short", cut + perhaps + free)
}

/// What followed the stops by run and stack, and the last effect of each run.
struct LastEffects {
    /// Whether a stop certainly, and possibly, cut work short.
    cut_short: HashMap<(Label, Label), (u8, u8)>,
    /// For each run with an effect, the model calls up to the last one.
    steps: Vec<u64>,
    runs: usize,
}

impl LastEffects {
    fn from_report(report: &FollowedReport) -> Self {
        let rows = report.rows();
        let stopped = rows.iter().filter(|row| row.stopped_high == 1);
        Self {
            cut_short: stopped.map(|row| ((row.stack, row.run_id), (row.cut_short_low, row.cut_short_high))).collect(),
            steps: rows.one_per_run().filter_map(|row| Some(row.last_effect_step? + 1)).collect(),
            runs: rows.one_per_run().count(),
        }
    }

    fn strip(&self, width: u64, count: usize) -> Strip {
        let bins = bins(self.steps.iter().map(|step| (*step, LAST_EFFECT)), width, count);
        let count = format!("{} of {} runs have one", self.steps.len(), self.runs);
        Strip { name: "last effect".to_owned(), count, bins }
    }

    fn kind(&self, group: &Group<'_>, row: RowView<'_>) -> usize {
        match self.cut_short.get(&(group.stack.clone(), row.run_id().clone())) {
            Some((1, _)) => 0,
            Some((_, 0)) => 2,
            Some(_) | None => 1,
        }
    }
}

/// The left edge of a bin, in pixels.
fn bin_x(bin: usize, count: usize) -> i32 {
    let (bin, count) = (i32::try_from(bin).unwrap_or(0), i32::try_from(count.max(1)).unwrap_or(1));
    LEFT + bin * (RIGHT - LEFT) / count
}

fn draw_strip(pen: &mut Pen, strips: &Strips, base: i32, strip: &Strip) {
    let tallest = strips.bar_height();
    let (bins, name) = (&strip.bins, style::fitted(&strip.name, LABEL, LEFT - 12 - MARGIN));
    pen.text(&name, (LEFT - 12, base - 24), TextStyle::LABEL.ending());
    pen.text(&strip.count, (LEFT - 12, base - 7), TextStyle::SMALL.colour(GREY).ending());
    for (bin, kinds) in bins.iter().enumerate() {
        let mut below = 0;
        let (left, right) = (bin_x(bin, bins.len()), bin_x(bin + 1, bins.len()));
        // Limits the bar's width in a wide bin.
        let side = ((right - left - 40) / 2).max(i32::from(right - left > 4));
        let mut floor = base;
        for (count, (_, colour)) in kinds.iter().zip(strips.kinds) {
            if *count == 0 {
                continue;
            }
            below += count;
            let top = (base - bar(below, strips.tallest, tallest)).min(floor - 3);
            pen.rectangle((left + side, top, right - side, floor), colour.filled());
            floor = top;
        }
        if below > 0 && style::width(&below.to_string(), SMALL) <= right - left {
            let at = (i32::midpoint(left, right), floor - 8);
            pen.text(&below.to_string(), at, TextStyle::SMALL.colour(GREY).centred());
        }
    }
    pen.line(&[(LEFT, base), (RIGHT, base)], GREY);
}

/// The height of a bar, on one scale for all strips.
fn bar(runs: u32, of: u32, tallest: i32) -> i32 {
    i32::try_from(i64::from(runs) * i64::from(tallest) / i64::from(of.max(1))).unwrap_or(tallest)
}

/// Draws the step axis below the last strip: labels are centred in bins of one step, else at the edges.
fn draw_axis(pen: &mut Pen, strips: &Strips, base: i32) {
    let count = strips.drawn.first().map_or(1, |strip| strip.bins.len());
    let every = if count > 20 { 5 } else { 2_usize.min(count) };
    for bin in (0..=count).step_by(every) {
        let at: At = if strips.width == 1 && bin < count {
            (i32::midpoint(bin_x(bin, count), bin_x(bin + 1, count)), base + 14)
        } else if strips.width == 1 {
            continue;
        } else {
            (bin_x(bin, count), base + 14)
        };
        let steps = u64::try_from(bin).unwrap_or(0).saturating_mul(strips.width);
        pen.text(&steps.to_string(), at, TextStyle::SMALL.colour(GREY).centred());
    }
    pen.text(
        "steps (model calls) paid for at the stop",
        (i32::midpoint(LEFT, RIGHT), base + 36),
        TextStyle::LABEL.centred(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_round_and_hold_the_longest_stop() {
        assert_eq!([0, 1, 31, 32, 63, 64, 159, 160].map(bin_width), [1, 1, 1, 2, 2, 5, 5, 10]);
        for longest in [0, 5, 77, 1_000, 123_456_789, u64::MAX] {
            assert!(longest / bin_width(longest) < BINS, "{longest}");
        }
    }

    #[test]
    fn bars_share_one_scale() {
        assert_eq!(bar(107, 107, 46), 46);
        assert_eq!(bar(53, 107, 46), 22);
        assert_eq!(bar(0, 0, 46), 0);
        assert_eq!(bar(u32::MAX, u32::MAX, 46), 46);
    }

    #[test]
    fn what_is_not_known_is_not_told_as_zero() {
        assert_eq!(count(&vec![[4, 16, 0, 0, 0], [0, 1, 0, 0, 0]], 494), "21 of 494 runs, 4 killed");
        assert_eq!(count(&vec![[0, 0, 0, 0, 79]], 494), "79 of 494 runs, killed: unknown");
        assert_eq!(count(&vec![[0, 0, 0, 40, 0]], 50), "40 of 50 runs, killed: unknown");
        assert_eq!(count(&vec![[2, 1, 0, 0, 5]], 494), "8 of 494 runs, at least 2 killed");
    }

    #[test]
    fn nothing_stopped_is_a_sentence() {
        let figure = StopsFigure { groups: &[], subtitle: "nothing".to_owned(), followed: None };
        assert!(figure.draw(&mut Pen::default()).1 < 120);
    }
}
