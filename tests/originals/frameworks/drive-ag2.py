"""AG2's two-agent chat and group chat: `assistant` with a scripted model, `proxy` runs the tools."""

import json

from autogen import ConversableAgent, GroupChat, GroupChatManager
from autogen.io.base import IOStream
from scripted import Script, TapeEnd, serve

REASONS = {
    "Maximum turns": "max_turns",
    "Maximum rounds": "max_round",
    "Maximum number of consecutive": "max_consecutive_auto_reply",
    "Termination message condition": "is_termination_msg",
    "User requested": "human_input",
}
TESTS = {
    "contains": lambda word: lambda message: word in (message.get("content") or ""),
    "ends": lambda word: lambda message: (message.get("content") or "").rstrip().endswith(word),
    "never": lambda _: lambda message: False,
    "no_calls": lambda _: lambda message: not message.get("tool_calls"),
}


class Stream:
    """The framework's own terminal, where it says why a chat ended."""

    def __init__(self):
        self.reason = None

    def print(self, *objects, **more):
        pass

    def send(self, event):
        content = getattr(event, "content", event)
        self.reason = getattr(content, "termination_reason", None) or self.reason

    def input(self, prompt="", *, password=False):
        raise EOFError("the human is asked through get_human_input")


class Reply:
    model, cost, message_retrieval_function = "fake", 0, None

    def __init__(self, event):
        self.event = event


def scripted_client(script):
    class Scripted:
        def __init__(self, config, **more):
            pass

        def create(self, params):
            return Reply(script.reply())

        def message_retrieval(self, reply):
            event = reply.event
            if not event.get("tool_calls"):
                return [event["content"]]
            calls = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["arguments"] or {})}}
                for c in event["tool_calls"]
            ]
            return [{"role": "assistant", "content": event["content"], "tool_calls": calls}]

        def cost(self, response):
            return 0

        @staticmethod
        def get_usage(response):
            return {}

    return Scripted


def options_of(config):
    options = dict(config)
    if test := options.get("is_termination_msg"):
        (kind, word), = test.items()
        options["is_termination_msg"] = TESTS[kind](word)
    options.setdefault("human_input_mode", "NEVER")
    return options


def drive(given):
    config, script = given["config"], Script(given["events"])
    events, human, actions = script.events, list(config.get("human", given.get("human") or [])), []
    stream = Stream()
    client = scripted_client(script)

    def last_event(messages):
        """The place in the recording that the chat has come to."""
        at = -1
        for message in messages:
            at += 1
            if message.get("tool_responses"):
                while at + 1 < len(events) and events[at + 1]["role"] == "tool":
                    at += 1
        return max(at, 0)

    class Proxy(ConversableAgent):
        def get_human_input(self, prompt, **more):
            at = last_event(chat())
            actions.append({"at": at, "kind": "ask", "code": "human_input", "detail": prompt})
            if not human:
                script.ended = True
                raise TapeEnd
            self._human_input.append(human[0])
            return human.pop(0)

    def tool(name):
        return lambda **arguments: script.result(name, arguments)

    names = script.tools("A")
    model = {"config_list": [{"model": "fake", "model_client_cls": "Scripted"}], "cache_seed": None}
    assistant = ConversableAgent("assistant", llm_config=model, **options_of(config.get("assistant", {})))
    client.__name__ = "Scripted"
    assistant.register_model_client(model_client_cls=client)
    proxy = Proxy(
        "proxy", llm_config=False, function_map={name: tool(name) for name in names}, **options_of(config.get("proxy", {}))
    )
    partner, group = assistant, None
    if "group_chat" in config:
        options = options_of(config["group_chat"])
        rounds = {"max_round": options.pop("max_round")} if "max_round" in options else {}
        group = GroupChat(agents=[assistant, proxy], messages=[], speaker_selection_method="round_robin", **rounds)
        partner = GroupChatManager(groupchat=group, llm_config=False, **options)

    def chat():
        return group.messages if group else assistant.chat_messages[proxy]

    more = {"max_turns": config["max_turns"]} if "max_turns" in config else {}
    try:
        with IOStream.set_default(stream):
            proxy.initiate_chat(partner, message=events[0]["content"], silent=True, **more)
    except TapeEnd:
        return script.answer(actions)
    except Exception as error:
        action = {"kind": "error", "code": type(error).__name__, "detail": str(error)}
    else:
        action = {"kind": "halt", "code": "no reason given"}
    # A chat that ended before its task was sent has nothing to summarise and fails after it said why it ended.
    if stream.reason:
        code = next((code for start, code in REASONS.items() if stream.reason.startswith(start)), "?")
        action = {"kind": "halt", "code": code, "detail": stream.reason}
    action["at"] = last_event(chat())
    last = events[action["at"]]
    if last["role"] != "assistant":
        action["before_request"] = True
    elif last.get("tool_calls"):
        action["before_tools"] = True
    actions.append(action)
    return script.answer(actions)


if __name__ == "__main__":
    serve(drive)
