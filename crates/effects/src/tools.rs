//! Effects of tools by name: tools of known agents, and for other tools what their name suggests.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::EffectTable;
use super::arguments::{Arguments, Command};
use super::code::{self, Language};
use super::parts::{CallEffect, Parts};
use super::reader::Scripts;
use super::{Effect, command, path, shell, sql, verbs, words};

/// Tools that run a shell command.
pub(super) const SHELLS: &str = "bash shell sh zsh run execute_command run_shell_command exec_command execute_bash terminal \
     run_terminal_cmd run_terminal_command run_command run_in_terminal local_shell local_shell_call shell_command container_exec \
     container.exec exec cmd powershell pwsh bash_command developer__shell shell__exec cmd_run cmdrun command action \
     bash_tool run_bash run_bash_command execute_shell execute_shell_command execute_shell_command_tool shell_exec execute run_cmd \
     mcp__acp__bash shelltool bashtool async_bash start_process launch-process launch_process create_and_run_task terminal_execute \
     execute_terminal_command system_shell run_script unix_shell functions.shell repl_shell execute_bash_command computer_terminal \
     builder_shell ssh_exec run_shell bash_session aider.run";

/// Tools by their effect, in lower case; for `mcp__` tools, the last part of the name.
pub(super) const TOOLS: &[(Effect, &str)] = &[
    (
        Effect::Read,
        "read readfile read_file read_many_files readmanyfiles view view_file view_image open open_file list ls listfiles list_files \
         listfilestoplevel listfilesrecursive list_dir list_directory listdir glob find grep grep_search grep_files rg search searchfiles \
         search_files search_file search_dir find_file find_path findfiles file_search filesearch codebase_search codesearch \
         semantic_search search_file_content search_code text_search find_by_name view_code_item view_file_outline \
         list_code_definition_names listcodedefinitionnames code_definitions get_file_contents webfetch web_fetch websearch web_search \
         google_web_search searchweb fetchurl fetch fetch_webpage read_web_page browse read_url_content search_web websearch_preview \
         web_search_call tool_search toolsearch tool_search_call lsp lsp_hover lsp_goto_definition lsp_find_references \
         listmcpresourcestool readmcpresourcetool listmcpresources readmcpresource list_mcp_resources read_mcp_resource \
         list_mcp_resource_templates access_mcp_resource load_mcp_documentation fetch_instructions bashoutput taskoutput read_bash \
         list_bash read_agent list_agents get_terminal_output terminal_last_command get_changed_files recall get_internal_docs \
         activate_skill skill use_skill load_skill cli_help fetch_copilot_cli_documentation sourcegraph finder librarian job_output \
         diff_history tree goto scroll_up scroll_down set_cursors filemap now calculate read_thinking_block \
         read_terminal list_processes wait wait_agent agentoutput agentoutputtool taskget tasklist view_source file_read \
         str_replace_viewer code_search file_glob read_notebook get_project_setup_info vscode_api github_repo copilot_getnotebooksummary \
         test_search search_workspace_symbols list_code_usages search_query open_page find_in_page screenshot monitor read_media_file \
         view_text_website read_memory search_memory memory_search archival_memory_search conversation_search conversation_search_date \
         memory__retrieve_memories list_available_extensions platform__search_available_extensions developer__analyze \
         developer__image_processor developer__list_windows developer__screen_capture webfetchtool read_process_output",
    ),
    (
        Effect::Plan,
        "todowrite todoread todo_write todo_read todo write_todos update_plan plan think thinking sequentialthinking sequential_thinking \
         ask_followup_question askuserquestion ask_user ask_user_question question ask request_user_input request_user_feedback \
         plan_mode_respond plan_mode_response exitplanmode exit_plan_mode enterplanmode enter_plan_mode plan_enter plan_exit \
         switch_mode condense summarize_task summarizetask focus_chain update_todo_list settodolist set_todo_list manage_todo_list \
         task_tracker task_tracking taskcreate taskupdate taskstop report_intent update_todo update_topic create_plan todo__todo_write \
         todo__todo_read condensation condensation_request message send_message_to_user notify_user task_boundary message_notify_user \
         message_ask_user review_plan write_plan clarify followup thought planning set_goal get_goal update_goal create_goal \
         exit_agent oracle get_plan schedule_wakeup schedulewakeup cron_list list_sessions",
    ),
    (
        Effect::Check,
        "run_tests runtests execute_tests test_failure get_errors read_lints get_diagnostics diagnostics getdiagnostics \
         lsp_diagnostics mcp__ide__getdiagnostics run_notebook_cell build_project run_speed_test lint pytest run_test run_build aider.lint aider.test",
    ),
    (
        Effect::Delegate,
        "task agent subagent delegate delegate_to_agent delegate_task new_task newtask spawn_agent send_input resume_agent close_agent \
         runsubagent run_subagent codebase_investigator dispatch_agent teamcreate teamdelete sendmessage subagent__execute_task \
         dynamic_task__create_task call_omo_agent background_task start_agent browser_subagent create_subagent agent_delegate \
         call_agent transfer_to_agent agenttool handoff_to_agent agent_call remotetrigger cloud_agent search_subagent multi_agent \
         use_subagents",
    ),
    (
        Effect::Edit,
        "edit write multiedit multi_edit write_file writefile write_to_file replace replace_in_file apply_diff applydiff apply_patch \
         applypatch patch insert insert_content insertcontent search_and_replace searchandreplace edit_file editedexistingfile \
         newfilecreated filedeleted edit_existing_file create create_file create_new_file createfile createdirectory create_directory \
         delete_file deletefile remove_file move_file rename_file copy_path move_path delete_path strreplacefile \
         replace_string_in_file multi_replace_string_in_file insert_edit_into_file edit_notebook_file notebookedit notebook_edit \
         create_new_jupyter_notebook undo_edit reapply search_replace save_memory update_memory store_memory save_file \
         restore_file_from_disk file_write file_edit file_str_replace format_file write_code replace_file_content \
         multi_replace_file_content write_file_content edit_block write_text killshell killbash kill_shell stop_bash stop_shell \
         taskkill kill_process job_kill enterworktree exitworktree append download croncreate crondelete memory \
         core_memory_append core_memory_replace archival_memory_insert memory_insert memory_replace memory_rethink memory_apply_patch \
         platform__manage_extensions manage_extensions export_node_images undo rename_symbol replace_symbol_body \
         insert_after_symbol insert_before_symbol replace_regex replace_lines insert_at_line delete_lines image_gen imagegen \
         generate_image install_extension run_vscode_command create_new_workspace config aider.edit",
    ),
    (
        Effect::Handover,
        "submit attempt_completion completion_result finish done complete_task task_complete final_answer finalanswer complete submit_answer \
         submit_solution answer create_pull_request push_to_github commit git_commit git_push open_pr make_pr deploy_web_app \
         agentfinish finish_task exit_forfeit submit_patch submit_final_answer report_results structuredoutput structured_output \
         response_submit aider.commit send_email book_reservation transfer_to_human_agents transfer_to_human",
    ),
    (
        Effect::Unknown,
        "slashcommand invalid computer browser browser_action browser_interactive browse_interactive use_browser write_stdin \
         write_bash js_repl mcp call_tool_mcp send_keys aider.proposal",
    ),
];

static BY_NAME: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| words::by_name(TOOLS));
static IS_SHELL: LazyLock<HashSet<&str>> = LazyLock::new(|| SHELLS.split_ascii_whitespace().collect());

/// The effect of a call.
pub(super) fn tell(name: &str, arguments: &Arguments<'_>, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    let lower = name.to_ascii_lowercase();
    let shown = code::shortened(name);
    let by_name = |effect| CallEffect::new(effect, format!("tool `{shown}`"));
    if IS_SHELL.contains(lower.as_str()) {
        return of_shell(&lower, arguments, table, scripts);
    }
    let inner = arguments.calls();
    if !inner.is_empty()
        && matches!(lower.as_str(), "batch" | "parallel" | "multi_tool_use.parallel" | "multi_tool_use_parallel")
    {
        let mut parts = Parts::default();
        for call in inner {
            parts.add(tell(&call.name, &Arguments::read(&call, &call.arguments.as_str()), table, scripts));
        }
        return parts.told();
    }
    if let Some(told) = by_arguments(&lower, &shown, arguments, table, scripts) {
        return told;
    }
    if let Some(effect) = BY_NAME.get(lower.as_str()) {
        return on_a_file(by_name(*effect), arguments, table, scripts);
    }
    // For a name with a server's or framework's prefix, the last part says what it does.
    let own = name.rsplit("__").next().unwrap_or(name);
    if own != name
        && let Some(effect) = BY_NAME.get(own.to_ascii_lowercase().as_str())
        && *effect != Effect::Plan
    {
        return by_name(*effect);
    }
    if runs_commands(own) && arguments.text(&["command", "cmd", "command_line", "shell_command", "script"]).is_some() {
        return of_shell(&lower, arguments, table, scripts);
    }
    if let Some(effect) = arguments.text(&["sql", "query", "statement"]).and_then(sql::effect) {
        return by_name(effect);
    }
    by_name(verbs::of_name(own).unwrap_or(Effect::Unknown))
}

/// True for a tool of a name such as `bash_execute` or `run-in-shell`.
fn runs_commands(name: &str) -> bool {
    let words =
        ["bash", "zsh", "sh", "shell", "terminal", "console", "powershell", "pwsh", "cmd", "command", "commands"];
    verbs::words(name).iter().any(|word| words.contains(&word.as_str()))
}

fn of_shell(name: &str, arguments: &Arguments<'_>, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    match arguments.command() {
        // Cline's log appends the host's marker to the command.
        Some(Command::Text(text)) => {
            let text = text.strip_suffix("REQ_APP").unwrap_or(text);
            match name {
                "action" => of_editor_command(text, table, scripts),
                "powershell" | "pwsh" => shell::effect_in_powershell(text, table, scripts),
                _ => shell::effect(text, table, scripts),
            }
        }
        Some(Command::Script(text)) => shell::effect(&text, table, scripts),
        Some(Command::Words(words)) => {
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
fn of_editor_command(text: &str, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    let first = text.split_whitespace().next().unwrap_or_default();
    let effect = match first {
        "edit" | "insert" | "append" | "create" | "undo_edit" => Effect::Edit,
        "open" | "goto" | "scroll_up" | "scroll_down" | "search_dir" | "search_file" | "find_file" | "set_cursors"
        | "filemap" => Effect::Read,
        "submit" | "exit_forfeit" | "exit_cost" => Effect::Handover,
        _ => return shell::effect(text, table, scripts),
    };
    CallEffect::new(effect, format!("`{first}`"))
}

/// Tools whose effect depends on their arguments.
#[expect(clippy::too_many_lines, reason = "a table: an arm a family of tools")]
fn by_arguments(
    lower: &str,
    shown: &str,
    arguments: &Arguments<'_>,
    table: &EffectTable,
    scripts: &mut Scripts,
) -> Option<CallEffect> {
    let why = format!("tool `{shown}`");
    let own = lower.rsplit("__").next().unwrap_or(lower);
    Some(match own {
        "str_replace_editor"
        | "str_replace_based_edit_tool"
        | "text_editor"
        | "file_editor"
        | "edit_tool"
        | "editor"
        | "edit"
        | "oh_editor"
            if matches!(arguments.text(&["command", "action"]), Some("view" | "read" | "open")) =>
        {
            CallEffect::new(Effect::Read, format!("{why} `view`"))
        }
        "str_replace_editor"
        | "str_replace_based_edit_tool"
        | "text_editor"
        | "file_editor"
        | "edit_tool"
        | "editor"
        | "oh_editor" => on_a_file(CallEffect::new(Effect::Edit, why), arguments, table, scripts),
        "write" | "write_file" | "create_file" | "edit" if arguments.path().is_some_and(is_plan_of_host) => {
            CallEffect::new(Effect::Plan, format!("{why} writes the host's plan file"))
        }
        "apply_patch" | "applypatch" | "patch" => {
            let patch =
                arguments.text(&["input", "patch", "patchText", "patch_text", "diff"]).or_else(|| arguments.plain());
            let files = command::patched_files(patch.unwrap_or_default());
            CallEffect::new(Effect::Edit, why).touching(files)
        }
        "use_mcp_tool" | "call_mcp_tool" | "mcp_tool" | "use_mcp_server" => {
            let named = arguments.text(&["tool_name", "toolName", "name", "tool"])?;
            let effect = verbs::of_name(named.rsplit("__").next().unwrap_or(named)).unwrap_or(Effect::Unknown);
            CallEffect::new(effect, format!("{why} `{}`", code::shortened(named)))
        }
        // Cline's own log has one tool, whose argument names the real one.
        "tool" => {
            let named = arguments.text(&["tool"])?;
            let names_itself = named.rsplit("__").next().is_some_and(|own| own.eq_ignore_ascii_case("tool"));
            if names_itself {
                return None;
            }
            tell(named, arguments, table, scripts)
        }
        "write_stdin" | "write_bash" | "send_keys"
            if arguments.text(&["chars", "input", "text", "keys"]).is_none_or(|text| text.trim().is_empty()) =>
        {
            CallEffect::new(Effect::Read, format!("{why} waits"))
        }
        "python"
        | "ipython"
        | "run_ipython"
        | "execute_ipython_cell"
        | "code_interpreter"
        | "jupyter"
        | "python_interpreter"
        | "execute_python"
        | "run_python"
        | "python_repl"
        | "execute_code"
        | "code_execution"
        | "mcp__jupyter__execute"
        | "run_code"
        | "executecode"
        | "codeact"
        | "python_tool" => {
            let code =
                arguments.text(&["code", "source", "script", "input", "command"]).or_else(|| arguments.plain())?;
            code::effect(code, Language::Python)
        }
        "sql" | "execute_sql" | "run_query" | "query" | "run_sql" | "execute_query" | "read_query" | "write_query" => {
            let text = arguments.text(&["sql", "query", "statement", "command"]).or_else(|| arguments.plain())?;
            CallEffect::new(sql::effect(text).unwrap_or(Effect::Unknown), why)
        }
        "config" if arguments.text(&["value"]).is_none() => CallEffect::new(Effect::Read, why),
        "browser_action" | "browser" | "computer" => {
            let looks = [
                "screenshot",
                "scroll",
                "scroll_down",
                "scroll_up",
                "wait",
                "launch",
                "close",
                "goto",
                "navigate",
                "cursor_position",
                "mouse_move",
                "zoom",
            ];
            let action = arguments.text(&["action", "command"])?;
            let effect = if looks.contains(&action) { Effect::Read } else { Effect::Unknown };
            CallEffect::new(effect, format!("{why} `{}`", code::shortened(action)))
        }
        "memory"
            if matches!(arguments.text(&["command", "action"]), Some("view" | "read" | "search" | "list" | "get")) =>
        {
            CallEffect::new(Effect::Read, why)
        }
        "todo" if arguments.is_true("read") => CallEffect::new(Effect::Plan, why),
        _ => return None,
    })
}

/// True for the host's own plan file: `~/.claude/plans/x.md`.
fn is_plan_of_host(file: &str) -> bool {
    let file = file.replace('\\', "/");
    [".claude/plans/", ".cursor/plans/", ".gemini/tmp/", ".opencode/plans/", ".copilot/session-state/"]
        .iter()
        .any(|place| file.contains(place))
}

/// Records the file that an editing tool names, and what it writes to it.
fn on_a_file(told: CallEffect, arguments: &Arguments<'_>, table: &EffectTable, scripts: &mut Scripts) -> CallEffect {
    if told.effect != Effect::Edit {
        return told;
    }
    let Some(file) = arguments.path() else { return told };
    let file = file.to_owned();
    if let Some(text) = arguments.text(&["content", "file_text", "contents", "code_edit", "text", "CodeContent"]) {
        scripts.wrote([file.as_str()], text, table);
    }
    let why = format!("{} on `{}`", told.why, code::shortened(path::file_name(&file)));
    CallEffect { why, ..told.touching(vec![file]) }
}
