//! What each field of somebody's own log means: `--map run=session,messages=turns,role=speaker,…`.

use std::collections::BTreeMap;
use std::fmt;

use crate::diagnostic::nearest;
use crate::text::{word_list, words_in};
use crate::transcript::Role;

/// The user's mapping, for tables and logs of no known layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap(BTreeMap<&'static str, String>);

/// What a field may be, in the order in which a mapping is written. `id` is another name for `run`, `time` for `ts`.
pub(crate) const MEANINGS: &[&str] = word_list!(
    "run task trial model agent outcome messages role text calls call_id name arguments result error tokens",
    "input_tokens output_tokens cost ts steps",
);
/// Which word in the log stands for a role: `assistant=planner`.
const ROLES: [&str; 4] = ["assistant", "user", "tool", "system"];

/// The longest name of a kind of entry, in bytes.
const LONGEST: usize = 60;

/// What an entry of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A message.
    Role(Role),
    /// A call, which belongs to the reply before it.
    Call,
}

impl FieldMap {
    /// Parses `run=…,messages=…,role=…`. The error describes the mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut map = BTreeMap::new();
        for part in text.split(',') {
            let (name, field) = part.split_once('=').ok_or_else(|| format!("`{part}` is no `name=field`"))?;
            let name = match name.trim() {
                "id" | "run_id" => "run",
                "time" | "timestamp" => "ts",
                "content" => "text",
                name => name,
            };
            let known = MEANINGS.iter().chain(&ROLES).find(|known| **known == name);
            let known = known.ok_or_else(|| {
                let near = nearest(name, MEANINGS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
                format!("`{name}` is none of {}{}", MEANINGS.join(", "), near.unwrap_or_default())
            })?;
            if field.trim().is_empty() || map.insert(*known, field.trim().to_owned()).is_some() {
                return Err(format!("`{known}` needs one field"));
            }
        }
        let reads = ["messages", "text", "calls", "steps"].iter().any(|name| map.contains_key(name));
        if reads {
            Ok(Self(map))
        } else {
            Err("it names no field for `messages`, `text`, `calls` or `steps`".to_owned())
        }
    }

    /// A mapping of these fields.
    pub(crate) fn from_fields(fields: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Self(fields.into_iter().collect())
    }

    /// The mapping in which this field, or word, means that.
    pub(crate) fn with(&self, name: &'static str, field: String) -> Self {
        let mut map = self.clone();
        map.0.insert(name, field);
        map
    }

    /// The mapping without a field for that.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut map = self.clone();
        map.0.remove(name);
        map
    }

    /// The field that means this.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether each entry is a run of which only numbers are known: how many steps, what they took.
    pub(crate) fn is_of_table(&self) -> bool {
        self.0.contains_key("steps") && !self.0.contains_key("messages") && !self.names_inner()
    }

    /// Whether a field inside the messages is named.
    pub(crate) fn names_inner(&self) -> bool {
        ["role", "text", "calls"].iter().any(|name| self.0.contains_key(name))
    }

    /// The fields with their meanings, in the order of the meanings.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let order = MEANINGS.iter().chain(&ROLES);
        order.filter_map(|name| Some((*name, self.get(name)?)))
    }

    /// What an entry is whose role or kind is this: one word, or several as in `tool_call` and `llmResponse`.
    pub(crate) fn speaker(&self, word: &str) -> Option<EntryKind> {
        if let Some(role) = self.role(word) {
            return Some(EntryKind::Role(role));
        }
        // A sentence, or a record as text, is no word for a kind.
        if word.len() > LONGEST || word.contains(['{', '"', '\n']) {
            return None;
        }
        let words = words_in(word);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let is_tool = has(&["tool", "function", "action", "command", "env", "environment", "shell"]);
        let is_reply = has(&["response", "reply", "output", "message", "completion", "answer", "text", "generation"]);
        if is_tool {
            let is_result =
                is_reply || has(&["result", "results", "return", "returned", "observation", "end", "finished"]);
            return Some(if is_result { EntryKind::Role(Role::Tool) } else { EntryKind::Call });
        }
        if has(&["invocation"]) {
            return Some(EntryKind::Call);
        }
        if has(&["user", "human", "customer"]) {
            return Some(EntryKind::Role(Role::User));
        }
        if has(&["system"]) && (is_reply || has(&["prompt"])) {
            return Some(EntryKind::Role(Role::System));
        }
        let is_model = has(&["llm", "model", "assistant", "agent", "ai", "bot", "chat", "final"]);
        // A request, a start and a change of the model are no replies.
        let is_said = is_reply || has(&["call", "turn", "step", "thought", "thinking", "reasoning", "msg", "said"]);
        if is_model && is_said { Some(EntryKind::Role(Role::Assistant)) } else { None }
    }

    /// The role that a word stands for.
    pub(crate) fn role(&self, word: &str) -> Option<Role> {
        let named =
            ROLES.iter().find(|role| self.get(role).is_some_and(|words| words.split('|').any(|one| one == word)));
        match named.copied().unwrap_or(word).to_lowercase().as_str() {
            "assistant" | "agent" | "ai" | "bot" | "model" | "llm" | "gpt" | "planner" | "worker" | "actor" => {
                Some(Role::Assistant)
            }
            "user" | "human" | "customer" | "client" | "person" | "requester" | "caller" | "operator" => {
                Some(Role::User)
            }
            "tool" | "function" | "observation" | "env" | "environment" | "result" | "executor" | "tool_result"
            | "sandbox" => Some(Role::Tool),
            "system" | "developer" | "instructions" => Some(Role::System),
            _ => None,
        }
    }
}

impl fmt::Display for FieldMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.fields().map(|(name, field)| format!("{name}={field}")).collect();
        f.write_str(&fields.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_events_are_told_by_their_words() {
        let map = FieldMap::default();
        let role = |role| Some(EntryKind::Role(role));
        for (word, expected) in [
            ("llm_response", role(Role::Assistant)),
            ("ModelOutput", role(Role::Assistant)),
            ("final_answer", role(Role::Assistant)),
            ("user_input", role(Role::User)),
            ("toolResult", role(Role::Tool)),
            ("tool_call_output", role(Role::Tool)),
            ("TOOL_CALL", Some(EntryKind::Call)),
            ("function-call", Some(EntryKind::Call)),
            ("llm_request", None),
            ("agent_start", None),
            ("heartbeat", None),
            (r#"{"role":"assistant","text":"hi"}"#, None),
        ] {
            assert_eq!(map.speaker(word), expected, "{word}");
        }
    }

    #[test]
    fn a_mapping_is_parsed_or_refused_with_a_reason() {
        let map = FieldMap::parse("id=session,messages=turns,role=speaker,assistant=alice|bob").unwrap();
        assert_eq!(map.to_string(), "run=session,messages=turns,role=speaker,assistant=alice|bob");
        assert_eq!(map.role("bob"), Some(Role::Assistant));
        assert_eq!(map.role("Customer"), Some(Role::User));
        assert_eq!(map.role("carol"), None);
        assert_eq!(
            FieldMap::parse("id=a").unwrap_err(),
            "it names no field for `messages`, `text`, `calls` or `steps`"
        );
        assert!(FieldMap::parse("mesages=a").unwrap_err().ends_with("did you mean `messages`?"));
        assert_eq!(FieldMap::parse("messages").unwrap_err(), "`messages` is no `name=field`");
    }
}
