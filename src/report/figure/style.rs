//! The common style of all figures: fonts, sizes, and colours that colour-blind readers can distinguish.

use plotters::style::{FontStyle, IntoFont, RGBColor, register_font};

use crate::aggregate::Unit;

/// Registers the embedded font once, so that no system font is needed.
pub fn register_fonts() -> Result<(), String> {
    static DONE: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    DONE.get_or_init(|| {
        let regular = register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular());
        let bold = register_font("sans-serif", FontStyle::Bold, dejavu::sans::bold());
        match (regular, bold) {
            (Ok(()), Ok(())) => Ok(()),
            _ => Err("the embedded font is not readable".to_owned()),
        }
    })
    .clone()
}

/// Font size of titles, in pixels.
pub const TITLE: u32 = 22;
/// Font size of axis names and legends.
pub const LABEL: u32 = 15;
/// Font size of small print.
pub const SMALL: u32 = 13;

/// Text.
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Secondary text and axes.
pub const GREY: RGBColor = RGBColor(0x77, 0x77, 0x77);
/// Grid lines.
pub const FAINT: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);
/// Kept successes; the frontier.
pub const BLUE: RGBColor = RGBColor(0x0b, 0x5c, 0xa8);
/// Saved.
pub const GREEN: RGBColor = RGBColor(0x1b, 0x8a, 0x5a);
/// Saved after success.
pub const TEAL: RGBColor = RGBColor(0x66, 0xc2, 0xa5);
/// Killed successes.
pub const RED: RGBColor = RGBColor(0xc8, 0x36, 0x2b);
/// What killed successes would still have spent.
pub const ROSE: RGBColor = RGBColor(0xf2, 0xa9, 0xa0);
/// Spent on failures.
pub const AMBER: RGBColor = RGBColor(0xe0, 0x9a, 0x2b);
/// Spent after success.
pub const SKY: RGBColor = RGBColor(0x9e, 0xc9, 0xe8);
/// Not graded.
pub const STONE: RGBColor = RGBColor(0xbd, 0xbd, 0xbd);

/// More than tolerated.
pub const SHADE: RGBColor = RGBColor(0xf3, 0xf3, 0xf3);
/// Unknown.
pub const MAUVE: RGBColor = RGBColor(0x9b, 0x72, 0xb0);

/// The unit's noun in the plural.
pub(super) fn amounts(unit: Unit) -> &'static str {
    if unit == Unit::CostUsd { "dollars" } else { unit.noun() }
}

/// The width of a text in pixels.
pub fn width(text: &str, size: u32) -> i32 {
    let width = if register_fonts().is_ok()
        && let Ok((width, _)) = ("sans-serif", size).into_font().box_size(text)
    {
        width
    } else {
        u32::try_from(text.chars().count()).unwrap_or(u32::MAX).saturating_mul(size) * 3 / 5
    };
    i32::try_from(width).unwrap_or(i32::MAX)
}

/// Wraps a text to lines of at most `most` pixels; a longer word is cut.
pub fn wrapped(text: &str, size: u32, most: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, size, most)),
        }
    }
    lines
}

/// Cuts a name to `most` pixels, with an ellipsis if something was removed.
pub fn fitted(name: &str, size: u32, most: i32) -> String {
    // No figure has room for more letters than this.
    let letters = name.chars().take(300).count();
    (1..=letters).rev().map(|kept| clipped(name, kept)).find(|text| width(text, size) <= most).unwrap_or_default()
}

/// Cuts a name to `width` characters, with an ellipsis if something was removed.
pub fn clipped(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let kept: String = name.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_within_their_width() {
        let text = "None of these 8 can be shipped at 5 %: `loose-budget` comes nearest and may kill up to 6.3 % of successes.";
        let lines = wrapped(text, SMALL, 200);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width(line, SMALL) <= 200), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrapped("", SMALL, 200), Vec::<String>::new());
        assert_eq!(fitted("short", SMALL, 200), "short");
        let cut = fitted("a name that is far too long for its place", SMALL, 100);
        assert!(cut.ends_with('…') && width(&cut, SMALL) <= 100, "{cut}");
    }
}
