//! Effects of tools by name: tools of known agents, and for other tools what their name suggests.

use crate::arguments::{CallCommand, ParsedArguments};
use crate::parts::{CallEffect, CombinedEffect};
use crate::scripts::ScriptEffects;
use crate::tables::{CodeLanguage, tables};
use crate::words::shortened;
use crate::{Effect, EffectTable, code, command, path, shell, sql, verbs};

/// What is known before a call, and may change with it.
pub(crate) struct Context<'c> {
    pub(crate) table: &'c EffectTable,
    pub(crate) scripts: &'c mut ScriptEffects,
}

/// The effect of a call.
pub(crate) fn effect(name: &str, arguments: &ParsedArguments<'_>, context: &mut Context<'_>) -> CallEffect {
    let kinds = &tables().tool_kinds;
    let lower = name.to_ascii_lowercase();
    if kinds.shells.has(&lower) {
        return shell_call(&lower, arguments, context);
    }
    if kinds.batches.has(&lower)
        && let Some(call) = batch(arguments, context)
    {
        return call;
    }
    if let Some(call) = by_arguments(name, &lower, arguments, context) {
        return call;
    }
    let why = format!("tool `{}`", shortened(name));
    if let Some(effect) = tables().tools.effect(&lower) {
        return with_file(CallEffect::new(effect, why), arguments, context);
    }
    // For a name with a server's or framework's prefix, the last part says what it does.
    let own = last_part(name);
    if own != name
        && let Some(effect) = tables().tools.effect(&own.to_ascii_lowercase())
        && effect != Effect::Plan
    {
        return CallEffect::new(effect, why);
    }
    let commands = ["command", "cmd", "command_line", "shell_command", "script"];
    if verbs::has_one(&verbs::words_in(own), &kinds.shell_words) && arguments.text(&commands).is_some() {
        return shell_call(&lower, arguments, context);
    }
    if let Some(text) = arguments.text(&["sql", "query", "statement"])
        && let Some(effect) = sql::effect(text)
    {
        return CallEffect::new(effect, why);
    }
    CallEffect::new(verbs::by_name(own).unwrap_or(Effect::Unknown), why)
}

/// The last part of `mcp__server__tool`.
fn last_part(name: &str) -> &str {
    match name.rsplit_once("__") {
        Some((_, last)) => last,
        None => name,
    }
}

/// The effect of a call that holds other calls; `None` if it holds none.
fn batch(arguments: &ParsedArguments<'_>, context: &mut Context<'_>) -> Option<CallEffect> {
    let calls = arguments.calls();
    if calls.is_empty() {
        return None;
    }
    let mut parts = CombinedEffect::default();
    for call in calls {
        parts.add(effect(&call.name, &ParsedArguments::read(&call, &call.arguments.as_str()), context));
    }
    Some(parts.combined())
}

fn shell_call(name: &str, arguments: &ParsedArguments<'_>, context: &mut Context<'_>) -> CallEffect {
    let (table, scripts) = (context.table, &mut *context.scripts);
    match arguments.command() {
        Some(CallCommand::Text(text)) => {
            // Cline's log appends the host's marker to the command.
            let text = text.strip_suffix("REQ_APP").unwrap_or(text);
            match name {
                "action" => editor_command(text, context),
                "powershell" | "pwsh" => shell::effect_in_powershell(text, table, scripts),
                _ => shell::effect(text, table, scripts),
            }
        }
        Some(CallCommand::Script(text)) => shell::effect(&text, table, scripts),
        Some(CallCommand::Words(words)) => {
            let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            shell::effect(&quoted.join(" "), table, scripts)
        }
        None => CallEffect::new(Effect::Unknown, "a shell without a command"),
    }
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// SWE-agent's commands. Those of its editor take text that a shell cannot parse.
fn editor_command(text: &str, context: &mut Context<'_>) -> CallEffect {
    let first = text.split_whitespace().next().unwrap_or_default();
    match tables().editor_commands.effect(first) {
        Some(effect) => CallEffect::new(effect, format!("`{first}`")),
        None => shell::effect(text, context.table, context.scripts),
    }
}

/// The effect of a tool whose arguments decide it; `None` for any other call.
fn by_arguments(
    name: &str,
    lower: &str,
    arguments: &ParsedArguments<'_>,
    context: &mut Context<'_>,
) -> Option<CallEffect> {
    let kinds = &tables().tool_kinds;
    let own = last_part(lower);
    let why = format!("tool `{}`", shortened(name));
    let views = matches!(arguments.text(&["command", "action"]), Some("view" | "read" | "open"));
    if views && (own == "edit" || kinds.editors.has(own)) {
        return Some(CallEffect::new(Effect::Read, format!("{why} `view`")));
    }
    if kinds.editors.has(own) {
        return Some(with_file(CallEffect::new(Effect::Edit, why), arguments, context));
    }
    if kinds.file_writers.has(own) && arguments.path().is_some_and(is_plan_of_agent) {
        return Some(CallEffect::new(Effect::Plan, format!("{why} writes the host's plan file")));
    }
    if kinds.patches.has(own) {
        let patch = arguments.text(&["input", "patch", "patchText", "patch_text", "diff"]);
        let patch = patch.or_else(|| arguments.plain()).unwrap_or_default();
        return Some(CallEffect::new(Effect::Edit, why).touching(command::patched_files(patch)));
    }
    if kinds.mcp_clients.has(own) {
        let called = arguments.text(&["tool_name", "toolName", "name", "tool"])?;
        let effect = verbs::by_name(last_part(called)).unwrap_or(Effect::Unknown);
        return Some(CallEffect::new(effect, format!("{why} `{}`", shortened(called))));
    }
    // Cline's own log has one tool, whose argument names the real one.
    if own == "tool" {
        let called = arguments.text(&["tool"])?;
        let is_itself = last_part(called).eq_ignore_ascii_case("tool");
        return if is_itself { None } else { Some(effect(called, arguments, context)) };
    }
    if kinds.interpreters.has(own) {
        let code = arguments.text(&["code", "source", "script", "input", "command"]).or_else(|| arguments.plain())?;
        return Some(code::effect(code, CodeLanguage::Python));
    }
    if kinds.databases.has(own) {
        let text = arguments.text(&["sql", "query", "statement", "command"]).or_else(|| arguments.plain())?;
        return Some(CallEffect::new(sql::effect(text).unwrap_or(Effect::Unknown), why));
    }
    by_one_argument(own, why, arguments)
}

/// The effect of a tool that one of its arguments decides; `None` for any other call.
fn by_one_argument(own: &str, why: String, arguments: &ParsedArguments<'_>) -> Option<CallEffect> {
    let kinds = &tables().tool_kinds;
    if kinds.browsers.has(own) {
        let action = arguments.text(&["action", "command"])?;
        let effect = if kinds.looking_browser_actions.has(action) { Effect::Read } else { Effect::Unknown };
        return Some(CallEffect::new(effect, format!("{why} `{}`", shortened(action))));
    }
    if kinds.terminals.has(own) {
        let typed = arguments.text(&["chars", "input", "text", "keys"]).unwrap_or_default();
        if !typed.trim().is_empty() {
            return None;
        }
        return Some(CallEffect::new(Effect::Read, format!("{why} waits")));
    }
    let effect = match own {
        "config" if arguments.text(&["value"]).is_none() => Effect::Read,
        "memory" => match arguments.text(&["command", "action"])? {
            "view" | "read" | "search" | "list" | "get" => Effect::Read,
            _ => return None,
        },
        "todo" if arguments.is_true("read") => Effect::Plan,
        _ => return None,
    };
    Some(CallEffect::new(effect, why))
}

/// True for an agent's own plan file: `~/.claude/plans/x.md`.
fn is_plan_of_agent(file: &str) -> bool {
    let file = file.replace('\\', "/");
    tables().tool_kinds.plan_folders.all().iter().any(|folder| file.contains(folder))
}

/// Adds the file that an editing tool names, and records what it writes to it.
fn with_file(call: CallEffect, arguments: &ParsedArguments<'_>, context: &mut Context<'_>) -> CallEffect {
    let Some(file) = arguments.path() else { return call };
    if call.effect != Effect::Edit {
        return call;
    }
    if let Some(text) = arguments.text(&["content", "file_text", "contents", "code_edit", "text", "CodeContent"]) {
        shell::record_scripts(0, &[file], text, context.table, context.scripts);
    }
    let why = format!("{} on `{}`", call.why, shortened(path::file_name(file)));
    CallEffect { why, ..call.touching(vec![file.to_owned()]) }
}
