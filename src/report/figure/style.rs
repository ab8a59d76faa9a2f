//! One look for every figure: fonts, sizes and colours that hold up for colour-blind readers.

use plotters::style::{FontStyle, RGBColor, register_font};

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
/// Unlabelled.
pub const STONE: RGBColor = RGBColor(0xbd, 0xbd, 0xbd);

/// A name cut to `width` characters, with an ellipsis where something was lost.
pub fn clipped(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let kept: String = name.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
