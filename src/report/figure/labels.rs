//! Places labels beside points where there is room.

use super::pen::{At, Frame};
use super::style::{SMALL, width};

/// A point in pixels with candidate label texts, best first.
#[derive(Clone, Debug)]
pub(super) struct Labelled {
    pub(super) at: At,
    pub(super) texts: Vec<String>,
}

/// A text with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacedText {
    /// The text to draw.
    pub(super) text: String,
    /// The left end of the text, at half its height.
    pub(super) at: At,
    /// Where the line to the point starts, if the label is too far from the point to do without one.
    pub(super) leader: Option<At>,
}

const LINE: i32 = 15;
const DOT: i32 = 7;
/// Labels closer than this need no line to their point.
const NEAR: i32 = 16;

/// For each point, in order of importance, the text that fits and its position; `None` if no text fits within `bounds`
/// without covering a point, `taken` or another label. Labels avoid `lines` where possible.
pub(super) fn place(points: &[Labelled], bounds: Frame, taken: &[Frame], lines: &[Frame]) -> Vec<Option<PlacedText>> {
    let dots = points.iter().map(|p| (p.at.0 - DOT, p.at.1 - DOT, p.at.0 + DOT, p.at.1 + DOT));
    let mut taken: Vec<Frame> = taken.iter().copied().chain(dots).collect();
    points
        .iter()
        .map(|point| {
            let placed = place_one(point, bounds, &taken, lines).or_else(|| place_one(point, bounds, &taken, &[]))?;
            taken.push(label_box(placed.at, &placed.text));
            Some(placed)
        })
        .collect()
}

fn place_one(point: &Labelled, bounds: Frame, taken: &[Frame], lines: &[Frame]) -> Option<PlacedText> {
    for text in &point.texts {
        for offset in offsets(text) {
            let at = (point.at.0 + offset.0, point.at.1 + offset.1);
            let label = label_box(at, text);
            let is_free = |others: &[Frame]| !others.iter().any(|other| overlap(label, *other));
            if within(label, bounds) && is_free(taken) && is_free(lines) {
                return Some(PlacedText { text: text.clone(), at, leader: leader(point.at, label) });
            }
        }
    }
    None
}

/// The positions tried, nearest first: right and left of the point, above and below.
fn offsets(text: &str) -> Vec<At> {
    let (right, left, middle) = (DOT + 3, -width(text, SMALL) - DOT - 3, -width(text, SMALL) / 2);
    let near =
        [0, -12, 12].into_iter().flat_map(|rise| [(right, rise), (left, rise)]).chain([(middle, -16), (middle, 16)]);
    let far = [26, 40, 56, 74].into_iter().flat_map(|rise| {
        [(right, -rise), (right, rise), (left, -rise), (left, rise), (right + rise, -rise / 2), (left - rise, rise / 2)]
    });
    near.chain(far).collect()
}

/// The start of the line from a distant label to its point: the closest place on the label.
fn leader(point: At, label: Frame) -> Option<At> {
    let nearest = (point.0.clamp(label.0, label.2), point.1.clamp(label.1, label.3));
    let distance = (nearest.0 - point.0).abs().max((nearest.1 - point.1).abs());
    if distance > NEAR { Some(nearest) } else { None }
}

fn label_box(at: At, text: &str) -> Frame {
    (at.0, at.1 - LINE / 2, at.0.saturating_add(width(text, SMALL)), at.1 + LINE / 2)
}

fn within(a: Frame, bounds: Frame) -> bool {
    a.0 >= bounds.0 && a.1 >= bounds.1 && a.2 <= bounds.2 && a.3 <= bounds.3
}

fn overlap(a: Frame, b: Frame) -> bool {
    a.0 <= b.2 && b.0 <= a.2 && a.1 <= b.3 && b.1 <= a.3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_off_each_other_and_off_points() {
        let point = |x: i32, y: i32| Labelled { at: (x, y), texts: vec!["a long name".to_owned(), "7".to_owned()] };
        let points: Vec<Labelled> = (0..30).map(|at| point(100 + at % 6 * 9, 100 + at / 6 * 9)).collect();
        let bounds = (0, 0, 300, 300);
        let placed = place(&points, bounds, &[(100, 0, 140, 40)], &[]);
        let boxes: Vec<Frame> = placed.iter().flatten().map(|placed| label_box(placed.at, &placed.text)).collect();
        assert!(boxes.len() > 3 && boxes.len() < 30, "{}", boxes.len());
        for (at, label) in boxes.iter().enumerate() {
            assert!(within(*label, bounds));
            assert!(!overlap(*label, (100, 0, 140, 40)));
            assert!(boxes[..at].iter().all(|other| !overlap(*label, *other)));
            assert!(points.iter().all(|p| !overlap(*label, (p.at.0, p.at.1, p.at.0, p.at.1))));
        }
    }

    #[test]
    fn a_label_far_from_its_point_has_a_line_to_it() {
        let alone = Labelled { at: (100, 100), texts: vec!["name".to_owned()] };
        let near = place(std::slice::from_ref(&alone), (0, 0, 300, 300), &[], &[]);
        assert_eq!(near[0].as_ref().map(|placed| (placed.at.1, placed.leader)), Some((100, None)));
        let crowded = place(&[alone], (0, 0, 300, 300), &[(0, 70, 300, 130)], &[]);
        assert!(crowded[0].as_ref().is_some_and(|placed| placed.leader.is_some()));
        // A label avoids a line if there is room elsewhere, and covers it otherwise.
        let on_line = Labelled { at: (100, 100), texts: vec!["name".to_owned()] };
        let beside = place(std::slice::from_ref(&on_line), (0, 0, 300, 300), &[], &[(0, 99, 300, 101)]);
        assert!(beside[0].as_ref().is_some_and(|placed| placed.at.1 != 100));
        assert!(place(&[on_line], (0, 0, 300, 300), &[], &[(0, 0, 300, 300)])[0].is_some());
    }
}
