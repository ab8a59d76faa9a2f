//! What is asked when an iteration cap is hit, one file each.
