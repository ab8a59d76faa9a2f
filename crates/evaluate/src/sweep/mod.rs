//! Tries many limits at once: grids of settings, the [`engine`] (computes first firings instead of replaying, with the
//! same results), and the results of a sweep: rates, savings and differences per setting, the choice on one part of
//! the tasks and its report on the other, the certificate.

mod candidates;
mod certificate;
pub mod engine;
mod grid;
mod grid_file;
mod parts;
mod results;
mod search;

pub use candidates::Candidates;
pub use certificate::{CertifiedSetting, CorpusCertificate, Ordering};
pub use grid::{Axis, Grid, Setting, limits};
pub use grid_file::{Combine, GridAxis, GridFile, WideGrid, WrittenChoice};
pub use parts::Split;
pub use results::{ResultOptions, Results, SettingResult};
pub use search::{Find, Objective, Search};
