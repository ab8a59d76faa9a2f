//! The names beside the marks of the frontier figure.

use super::entry::{FrontierEntry, MarkLabel};
use crate::report::figure::labels::Labelled;
use crate::report::figure::pen::At;
use crate::report::figure::scale::Plane;
use crate::report::figure::style;

/// Up to this many stacks, all are named beside their points.
const NAMED: usize = 12;

/// Points that coincide share one label. Stacks that can be shipped come first.
pub(super) fn labelled(entries: &[FrontierEntry<'_>], plane: &Plane) -> Vec<Labelled> {
    let near = |a: At, b: At| (a.0 - b.0).abs() <= 5 && (a.1 - b.1).abs() <= 5;
    let mut groups: Vec<(At, Vec<&FrontierEntry<'_>>)> = Vec::new();
    for entry in entries {
        let (x, y) = entry.place();
        let at = plane.at(x, y);
        match groups.iter_mut().find(|(other, _)| near(*other, at)) {
            Some((_, group)) => group.push(entry),
            None => groups.push((at, vec![entry])),
        }
    }
    let all = entries.len() <= NAMED;
    let mut labelled: Vec<(bool, Labelled)> = groups
        .into_iter()
        .map(|(at, group)| {
            (group.iter().any(|entry| entry.named != MarkLabel::IfFew), Labelled { at, texts: texts(&group, all) })
        })
        .collect();
    labelled.sort_by_key(|(is_wanted, _)| !*is_wanted);
    labelled.into_iter().map(|(_, labelled)| labelled).collect()
}

/// Label candidates of a group: names if they matter or stacks are few, else the legend numbers.
fn texts(group: &[&FrontierEntry<'_>], all: bool) -> Vec<String> {
    let numbers: Vec<String> = group.iter().map(|entry| entry.number.to_string()).collect();
    let brief = match &numbers[..] {
        [first, second, rest @ ..] if rest.len() > 2 => format!("{first}, {second} and {} more", rest.len()),
        _ => numbers.join(", "),
    };
    let is_named = all || group.iter().any(|entry| entry.named != MarkLabel::IfFew);
    if !is_named || group.len() > 2 {
        let ship = group.iter().find(|entry| entry.named == MarkLabel::Ship);
        let named = ship.map(|entry| format!("ship {} {}, in {brief}", entry.number, style::clipped(entry.stack, 24)));
        return named.into_iter().chain([brief]).collect();
    }
    let name = |entry: &&FrontierEntry<'_>| {
        let ship = if entry.named == MarkLabel::Ship { "ship " } else { "" };
        format!("{ship}{} {}", entry.number, style::clipped(entry.stack, 24))
    };
    let named: Vec<String> = group.iter().map(name).collect();
    match (&named[..], &numbers[..]) {
        ([first, _], [_, second]) => vec![named.join(", "), format!("{first}, {second}"), brief],
        _ => vec![named.join(", "), brief],
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{KillLevel, MarkShape, StackMark};
    use super::*;
    use crate::report::figure::scale::Scale;

    #[test]
    fn points_that_fall_together_share_a_label() {
        let entry = |number: usize| FrontierEntry {
            number,
            stack: "some-stack",
            killed: (1.0, 1.0),
            saved: (Some(2.0), 2.0),
            interval: None,
            on_frontier: false,
            is_beaten: false,
            named: MarkLabel::IfFew,
            mark: StackMark { shape: MarkShape::Dot, kills: KillLevel::Unproven, filled: false },
        };
        let plane = Plane { x: Scale::new((0.0, 10.0), (0, 100)), y: Scale::new((0.0, 10.0), (100, 0)), pad: 0 };
        let mut entries: Vec<FrontierEntry<'_>> = (1..=6).map(entry).collect();
        let labels = labelled(&entries, &plane);
        assert_eq!(labels.len(), 1);
        assert_eq!(labels[0].texts, ["1, 2 and 4 more"]);
        entries.truncate(2);
        assert_eq!(labelled(&entries, &plane)[0].texts, ["1 some-stack, 2 some-stack", "1 some-stack, 2", "1, 2"]);
        let mut far = entry(9);
        (far.killed, far.named) = ((8.0, 8.0), MarkLabel::Ship);
        entries.push(far);
        // Stacks that can be shipped are placed before the others.
        assert_eq!(labelled(&entries, &plane)[0].texts[0], "ship 9 some-stack");
    }
}
