//! The tag by which a workflow's model says that it is finished.

/// The opening tag: this case, no attributes.
pub const CONCLUSION: &str = "<Conclusion>";

/// Does the reply hold the opening tag? Anywhere counts: inside code, inside a promise to write it.
pub fn has_conclusion(reply: &str) -> bool {
    reply.contains(CONCLUSION)
}
