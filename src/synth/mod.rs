//! Seeded synthetic runs with known truth.
