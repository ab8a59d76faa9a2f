//! The presets: golden cases.
