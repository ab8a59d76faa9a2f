//! The `plan` block of interactive planning, from 0.3.3 on.

use serde_json::Value;

use crate::python::{self, Dict, Raised};
use crate::system::mira::plan::{filled, is_one_of};

/// The issues of the block; empty if there is no block.
///
/// # Errors
/// See [`Raised`]: an unhashable phase or kind.
pub(super) fn plan_block(plan: Option<&Value>) -> Result<Vec<String>, Raised> {
    let Some(plan) = plan.filter(|plan| !plan.is_null()) else { return Ok(Vec::new()) };
    let Some(plan) = python::dict(plan) else { return Ok(vec!["plan must be a JSON object".to_owned()]) };
    let field = |key: &str| plan.get(key).filter(|value| !value.is_null());
    let mut issues = Vec::new();
    if let Some(phase) = field("phase")
        && !is_one_of(Some(phase), &["questions", "draft", "approved"])?
    {
        issues.push(format!("plan.phase invalid: {}", python::repr(phase)));
    }
    match field("questions") {
        None => {}
        Some(Value::Array(questions)) => {
            let mut ids = Vec::new();
            for (index, question) in questions.iter().enumerate() {
                question_issues(index + 1, question, &mut ids, &mut issues)?;
            }
        }
        Some(_) => issues.push("plan.questions must be a list".to_owned()),
    }
    if let Some(draft) = field("draft")
        && python::dict(draft).is_none()
    {
        issues.push("plan.draft must be a JSON object".to_owned());
    }
    Ok(issues)
}

fn question_issues<'q>(
    position: usize,
    question: &'q Value,
    ids: &mut Vec<&'q str>,
    issues: &mut Vec<String>,
) -> Result<(), Raised> {
    let Some(fields) = python::dict(question) else {
        issues.push(format!("plan question #{position} is not an object"));
        return Ok(());
    };
    match filled(fields, "id") {
        None => issues.push(format!("plan question #{position} missing id")),
        Some(id) if ids.contains(&id) => issues.push(format!("duplicate plan question id: {id}")),
        Some(id) => ids.push(id),
    }
    let named = if fields.is_true("id") { python::text(&fields["id"]) } else { position.to_string() };
    if filled(fields, "prompt").is_none() {
        issues.push(format!("plan question {named} missing prompt"));
    }
    let kind = fields.get("kind").unwrap_or(&Value::Null);
    if !is_one_of(Some(kind), &["single", "multi", "text"])? {
        issues.push(format!("plan question {named} invalid kind: {}", python::repr(kind)));
    } else if kind.as_str() != Some("text") && fields.items("options").is_empty() {
        issues.push(format!("plan question {named} requires options for kind '{}'", python::text(kind)));
    }
    Ok(())
}
