//! Many limits at once: the second path to the same answer.
