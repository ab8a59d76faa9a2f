use super::*;
use crate::transcript::Header;

/// A run of these messages: `u`, `a`, `s` and `t` are the roles.
fn draft(messages: &[(char, &str)]) -> Draft {
    let role = |letter| match letter {
        's' => Role::System,
        'u' => Role::User,
        't' => Role::Tool,
        _ => Role::Assistant,
    };
    let events = messages.iter().map(|(of, text)| Event::Message(Message::saying(role(*of), *text))).collect();
    Draft { header: Header::named("r"), events, ..Draft::default() }
}

/// The calls read from the texts, and the roles after it.
fn told(messages: &[(char, &str)], acts: bool) -> (Vec<String>, String) {
    let mut draft = draft(messages);
    read(&mut draft, acts);
    calls_and_roles(&draft)
}

fn calls_and_roles(draft: &Draft) -> (Vec<String>, String) {
    let messages = || draft.events.iter().filter_map(Event::message);
    let calls = messages().flat_map(|message| &message.tool_calls);
    let roles = messages().map(|message| message.role.name().chars().next().unwrap_or('?')).collect();
    (calls.map(|call| format!("{} {}", call.name, call.arguments.as_str())).collect(), roles)
}

#[test]
fn one_call_in_every_notation() {
    for (text, expected) in [
        ("I look.\n<function=ls>\n<parameter=path>\n/x\n</parameter>\n</function>", r#"ls {"path":"/x"}"#),
        ("<function=ls>{\"path\": \"/x\"}</function>", r#"ls {"path": "/x"}"#),
        ("<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": 1}}\n</tool_call>", r#"ls {"path": 1}"#),
        ("<invoke name=\"ls\"><parameter name=\"path\">/x</parameter></invoke>", r#"ls {"path":"/x"}"#),
        ("{\"tool_name\": \"ls\", \"arguments\": {}}", "ls {}"),
        ("{\"name\": \"ls\", \"parameters\": {\"a\": 1}}", r#"ls {"a": 1}"#),
        ("Now:\n```json\n{\"action\": \"ls\", \"action_input\": \"/x\"}\n```", "ls /x"),
        ("{\"thought\": \"look\", \"tool\": {\"name\": \"ls\", \"args\": {}}}", "ls {}"),
        ("{\"function\": {\"name\": \"ls\", \"arguments\": \"{}\"}}", "ls {}"),
        ("[TOOL_CALLS] [{\"name\": \"ls\", \"arguments\": {}}]", "ls {}"),
        ("Thought: hm\nAction: ls\nAction Input: /x", r#"ls {"input":"/x"}"#),
        ("Thought: hm\nAction: ls\nAction Input: {\"a\": 1}", r#"ls {"a": 1}"#),
        ("<command>\nopen a.py\n</command>", r#"open "open a.py""#),
        ("<execute_bash>ls</execute_bash>", r#"execute_bash {"command":"ls"}"#),
    ] {
        let (calls, roles) = told(&[('u', "go"), ('a', text), ('u', "Result: a.py"), ('a', "done")], false);
        assert_eq!(calls, [expected], "{text}");
        assert_eq!(roles, "uata", "{text}");
    }
}

#[test]
fn fenced_blocks_are_actions_only_where_something_answers_them_or_asks_for_them() {
    let reply = "I look.\n```bash\nls\n```";
    let bash = vec![r#"bash {"command":"ls"}"#.to_owned()];
    assert_eq!(
        told(&[('u', "go"), ('a', reply), ('u', "<returncode>0</returncode>")], false),
        (bash.clone(), "uat".into())
    );
    assert_eq!(told(&[('u', "how do I list?"), ('a', reply), ('u', "thanks")], false).0, Vec::<String>::new());
    assert_eq!(told(&[('s', "Give one command in ```."), ('a', reply), ('u', "a.py")], false).0, bash);
    assert_eq!(told(&[('u', "go"), ('a', reply), ('u', "a.py")], true).0, bash);
    // The last block counts, unless the answer says that there was none.
    let two = "```python\nx\n```\nthen\n```\nedit 1:2\nx\nend_of_edit\n```";
    assert_eq!(told(&[('u', "go"), ('a', two), ('u', "[File: a.py]")], true).0, [r#"edit "edit 1:2\nx\nend_of_edit""#]);
    let several = "```bash\nls\n```\n```bash\npwd\n```";
    let refused = "Please always provide EXACTLY ONE action";
    assert_eq!(told(&[('u', "go"), ('a', several), ('u', refused)], true), (Vec::new(), "uau".into()));
}

#[test]
fn a_run_with_calls_of_its_own_and_plain_words_are_left_alone() {
    let mut with_calls = draft(&[('u', "go"), ('a', "<function=ls></function>")]);
    if let Some(Event::Message(reply)) = with_calls.events.get_mut(1) {
        reply.tool_calls.push(ToolCall::new(None, "cat", "{}"));
    }
    assert_eq!(read(&mut with_calls, true), 0);
    assert_eq!(calls_and_roles(&with_calls), (vec!["cat {}".to_owned()], "ua".to_owned()));
    for text in ["{\"answer\": 4}", "a < b > c", "{\"name\": \"Ada\", \"age\": 3}", "", "Action: think harder", "```"] {
        assert_eq!(told(&[('u', "go"), ('a', text), ('u', "ok")], false).0, Vec::<String>::new(), "{text}");
    }
    // It looks like a call and is answered like one, and the notation is not known.
    let mut unknown = draft(&[('u', "go"), ('a', "{\"do\": \"ls\"}"), ('u', "Observation: a.py")]);
    assert_eq!(read(&mut unknown, false), 1);
    assert_eq!(calls_and_roles(&unknown), (Vec::new(), "uau".to_owned()));
}
