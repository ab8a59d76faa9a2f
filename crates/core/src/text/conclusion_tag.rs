//! The tag with which a workflow's model says that it has finished.

/// The opening tag: exactly this case, without attributes.
pub const CONCLUSION: &str = "<Conclusion>";

/// True if the reply contains the opening tag anywhere, even inside code or in a promise to write it.
pub fn has_conclusion(reply: &str) -> bool {
    reply.contains(CONCLUSION)
}
