//! The shipped stop rules of other frameworks.
