//! Words that redaction keeps because frameworks publish them: kinds of notes, states of a goal, shell commands,
//! reasons why a model stopped. Any other word in their place may be private.

use crate::text::word_list;
use crate::transcript::{JUDGE_TAKEN_OUT, PLAN_TAKEN_OUT};

/// The kind of note that stands for any other by which a host shortened the context.
pub(super) const COMPACTION: &str = "compaction";

/// The kinds of note that the readers of this program write.
const NOTES: &[&str] = word_list!(
    "agentao.compaction_settled agentao.context_compressed agentao.error agentica.compact_boundary agentica.goal",
    "agentica.tool_audit api-log.failed_call awaken.background_task awaken.delegation awaken.handoff awaken.suspension",
    "claude-code.compact_boundary codex.compacted codex.context_compacted codex.error codex.todo_list",
    "copilot-cli.compaction_complete copilot-cli.truncation gemini-cli.error gemini-cli.info gemini-cli.warning",
    "openclaw.branch_summary openclaw.compaction opencode.compaction openhands.condensation pi.branch_summary",
    "pi.compaction plan round.interrupted round.taken_back",
);

/// States of a goal, a task or an experiment, and the verdicts on a turn in agentica's rows.
const STATES: &[&str] = word_list!(
    "active aborted blocked budget_limited canceled cancelled complete completed continue crash discard done error",
    "failed finished in_progress keep parse_failed paused pending running skipped success tool_signal verifier",
    "verify_tool",
);

/// Reasons why a model's reply ended, in the providers' terms; lower case.
const REASONS: &[&str] = word_list!(
    "aborted blocklist cancelled content-filter content_filter end_turn eos error finish_reason_unspecified",
    "function_call length malformed_function_call max_tokens model_context_window_exceeded model_length other",
    "pause_turn recitation refusal safety stop stop_sequence tool-calls tool_call tool_calls tool_use tooluse unknown",
    "end",
);

/// Commands of shells and of agents' own interfaces, and tools that rules look for by name.
const COMMANDS: &str = " apt apt-get ask_followup_question attempt_completion awk bash black cargo cat cd chmod click \
    close complete_task cp create curl cut date diff do docker done echo edit egrep env exit export extract_content false \
    file final_answer find find_file finish flake8 for gcc git glob go go_back goto grep handoff_to_agent head if input_text \
    java jq kill less ls make man mkdir mv mvn mypy mysql navigate new_task node npm npx open open_tab patch pip pip3 \
    pkill poetry ps psql pwd pytest python python2 python3 read_file replace rg rm rmdir ruff scroll scroll_down scroll_up \
    search search_dir search_file search_file_content search_for_text search_next sed set sh skip sleep sort source sqlite3 \
    str_replace str_replace_editor submit sudo switch_mode switch_tab tail tar task_completed tee test think touch tox tr \
    transfer_to_human_agents tree true type undo_edit uniq unzip update_goal update_plan uv view wait wc wget which while \
    write_file write_to_file write_todos xargs yarn zip ";

/// True for a kind of note that a reader writes, that stands for any shortening, or that marks something as removed.
pub(super) fn is_note(kind: &str) -> bool {
    NOTES.contains(&kind) || [COMPACTION, JUDGE_TAKEN_OUT, PLAN_TAKEN_OUT].contains(&kind)
}

/// True for a state of a goal, a task or an experiment.
pub(super) fn is_state(word: &str) -> bool {
    STATES.contains(&word)
}

/// True for a reason why a reply ended, in any letter case.
pub(super) fn is_reason(word: &str) -> bool {
    REASONS.contains(&word.trim().to_lowercase().as_str())
}

/// True for a command or tool whose name reveals nothing about its user.
pub(super) fn is_command(name: &str) -> bool {
    !name.is_empty() && !name.contains(' ') && COMMANDS.contains(&format!(" {name} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_words_stay_and_others_do_not() {
        assert!(is_note("agentica.goal") && !is_note("call Ann at 555-1234"));
        assert!(is_state("budget_limited") && !is_state("annsecret"));
        assert!(is_reason(" STOP ") && !is_reason("hunter2"));
        assert!(is_command("str_replace_editor") && is_command("ls"));
        assert!(!is_command("") && !is_command("ls make") && !is_command("hunter2"));
    }
}
