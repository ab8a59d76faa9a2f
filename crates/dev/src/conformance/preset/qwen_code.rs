//! Qwen Code: a case names the part that it runs; chunks and switches are scripted.

use super::{PresetCase, PresetDriver};
use crate::catalog;
use crate::framework::{Recipe, Settings, SettingsError};
use crate::preset::qwen_code::{SessionHost, with_host};

pub(super) const DRIVER: PresetDriver =
    PresetDriver { id: "qwen-code", read, build: Some(build), ..PresetDriver::PLAIN };

fn read(case: &mut PresetCase<'_>) {
    case.set_aside(&["disableForSession", "stream_chunk"]);
    for parameter in catalog::find("qwen-code").map_or(&[][..], |framework| framework.parameters) {
        if let Some(bare) = parameter.name.strip_prefix("model.") {
            case.rename(bare, parameter.name);
        }
    }
    let surface = match case.drive() {
        Some("client") => "interactive".to_owned(),
        Some(drive) => drive.to_owned(),
        None => return,
    };
    case.settings.set.insert("surface".to_owned(), surface.into());
}

fn build(case: &PresetCase<'_>, settings: &Settings) -> Result<Recipe, SettingsError> {
    let host = SessionHost {
        is_off: case.has("disableForSession"),
        piece: case.size("stream_chunk"),
        delivers_results_first: case.drive().is_some(),
    };
    let recipe = with_host(settings, host)?;
    Ok(match case.drive() {
        None => recipe,
        Some(_) if case.has("continue_after_halt") => recipe.keeps_own_state(),
        Some(_) => recipe.ends_with_stop(),
    })
}
