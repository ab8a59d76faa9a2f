//! Judges: recorded replies, or simulated with stated error rates.
