//! Labels beside points, where there is room for them.

/// A point in pixels with the texts it may be labelled with, the best first.
pub(super) struct Labelled {
    pub(super) at: (i32, i32),
    pub(super) texts: Vec<String>,
}

/// A rectangle in pixels: left, top, right, bottom.
type Frame = (i32, i32, i32, i32);

const LETTER: i32 = 7;
const LINE: i32 = 14;
const DOT: i32 = 6;

/// For each point, in the order of their importance, the text that fits and the offset of its left middle from the point;
/// `None` where nothing fits within `bounds` without covering a point or another label.
pub(super) fn place(points: &[Labelled], bounds: Frame) -> Vec<Option<(String, (i32, i32))>> {
    let mut taken: Vec<Frame> =
        points.iter().map(|p| (p.at.0 - DOT, p.at.1 - DOT, p.at.0 + DOT, p.at.1 + DOT)).collect();
    points
        .iter()
        .map(|point| {
            let tried = point.texts.iter().flat_map(|text| offsets(text).into_iter().map(move |offset| (text, offset)));
            for (text, offset) in tried {
                let label = label_box(point.at, offset, text);
                if within(label, bounds) && !taken.iter().any(|other| overlap(label, *other)) {
                    taken.push(label);
                    return Some((text.clone(), offset));
                }
            }
            None
        })
        .collect()
}

/// The places tried: right and left of the point, above and below rather than level, where lines run.
fn offsets(text: &str) -> Vec<(i32, i32)> {
    let left = -width(text) - DOT - 4;
    let right = DOT + 4;
    let rises = [-12, 12, -26, 26, 0, -40, 40];
    rises.into_iter().flat_map(|rise| [(right, rise), (left, rise)]).collect()
}

fn width(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX / LETTER).saturating_mul(LETTER)
}

fn label_box(at: (i32, i32), offset: (i32, i32), text: &str) -> Frame {
    let (left, middle) = (at.0 + offset.0, at.1 + offset.1);
    (left, middle - LINE / 2, left.saturating_add(width(text)), middle + LINE / 2)
}

fn within(a: Frame, bounds: Frame) -> bool {
    a.0 >= bounds.0 && a.1 >= bounds.1 && a.2 <= bounds.2 && a.3 <= bounds.3
}

fn overlap(a: Frame, b: Frame) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_off_each_other_and_off_points() {
        let point = |x: i32, y: i32| Labelled { at: (x, y), texts: vec!["a long name".to_owned(), "7".to_owned()] };
        let points: Vec<Labelled> = (0..30).map(|at| point(100 + at % 6 * 9, 100 + at / 6 * 9)).collect();
        let bounds = (0, 0, 300, 300);
        let placed = place(&points, bounds);
        let boxes: Vec<Frame> = points
            .iter()
            .zip(&placed)
            .filter_map(|(point, placed)| placed.as_ref().map(|(text, offset)| label_box(point.at, *offset, text)))
            .collect();
        assert!(boxes.len() > 3 && boxes.len() < 30, "{}", boxes.len());
        for (at, label) in boxes.iter().enumerate() {
            assert!(within(*label, bounds));
            assert!(boxes[..at].iter().all(|other| !overlap(*label, *other)));
        }
    }
}
