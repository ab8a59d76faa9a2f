"""tau2-bench: `Orchestrator.run` with a scripted agent, a scripted user and an environment whose tools give the recorded results.

The agent knows the stop word as the benchmark's own agents that have one do; a greeting other than the usual one is the task's
message history.
"""

from loguru import logger

logger.remove()

from scripted import Script, TapeEnd, ToolFailed, serve, text_of
from tau2.agent.base_agent import HalfDuplexAgent
from tau2.agent.llm_agent import LLMSoloAgent
from tau2.config import DEFAULT_MAX_ERRORS, DEFAULT_MAX_STEPS
from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.data_model.tasks import InitialState, Task
from tau2.environment.environment import Environment
from tau2.orchestrator.orchestrator import DEFAULT_FIRST_AGENT_MESSAGE, Orchestrator
from tau2.user.user_simulator_base import HalfDuplexUser, UserState


class Tape:
    def __init__(self, given):
        self.script, self.last = Script(given["events"]), None
        self.place = 0

    def greeting(self):
        """What the agent says first, and is nobody's answer."""
        first = self.script.events[0] if self.script.events else {}
        if first.get("role") == "assistant" and not first.get("tool_calls"):
            self.place, self.last = 1, 0
            return text_of(first["content"])
        return None

    def message(self, role, kind):
        if self.place >= len(self.script.events):
            raise TapeEnd
        event = self.script.events[self.place]
        if event["role"] != role:
            raise Unasked(f"the {role} is asked, and the recording has a message of role {event['role']}")
        self.last = self.place
        self.place += 1
        self.script.handed.append(self.last)
        calls = event.get("tool_calls") or []
        calls = [ToolCall(id=call["id"], name=call["name"], arguments=call["arguments"], requestor=role) for call in calls]
        return kind(role=role, content=text_of(event["content"]), tool_calls=calls or None)

    def result(self, call):
        nth, event = self.script.results.get(call, (None, None))
        if event is None:
            raise TapeEnd
        self.last, self.place = max(self.last, nth), max(self.place, nth + 1)
        if event.get("is_error"):
            raise ToolFailed(text_of(event["content"]))
        return text_of(event["content"])


class Unasked(BaseException):
    """The recording goes on with another party than the one that is asked."""


class Agent(HalfDuplexAgent):
    is_stop = LLMSoloAgent.is_stop
    STOP_TOKEN = LLMSoloAgent.STOP_TOKEN

    def __init__(self, tape):
        super().__init__([], "")
        self.tape = tape

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        return self.tape.message("assistant", AssistantMessage), state


class User(HalfDuplexUser):
    def __init__(self, tape):
        super().__init__()
        self.tape = tape

    def get_init_state(self, message_history=None):
        return UserState(system_messages=[], messages=[])

    def generate_next_message(self, message, state):
        return self.tape.message("user", UserMessage), state


class Tools(Environment):
    def __init__(self, tape):
        self.tape = tape
        super().__init__("scripted", "")

    def get_response(self, message):
        self.asked = message.id
        return super().get_response(message)

    def make_tool_call(self, tool_name, requestor="assistant", **arguments):
        return self.tape.result(self.asked)

    def set_state(self, initialization_data, initialization_actions, message_history):
        pass


def drive(given):
    config, tape = dict(given["config"]), Tape(given)
    if not config.pop("orchestrator_defaults", False):
        config = {"max_steps": DEFAULT_MAX_STEPS, "max_errors": DEFAULT_MAX_ERRORS, **config}
    said = tape.greeting()
    usual = said in (None, DEFAULT_FIRST_AGENT_MESSAGE.content)
    history = None if usual else InitialState(message_history=[AssistantMessage(role="assistant", content=said)])
    task = Task(id="t", user_scenario={"instructions": "x"}, initial_state=history)
    orchestrator = Orchestrator("scripted", Agent(tape), User(tape), Tools(tape), task, **config)
    actions = []
    try:
        orchestrator.run()
        actions.append({"at": tape.last, "kind": "halt", "code": orchestrator.termination_reason.value})
    except TapeEnd:
        pass
    except Unasked as odd:
        raise LookupError(str(odd)) from None
    except Exception as error:
        actions.append({"at": tape.last, "kind": "error", "code": type(error).__name__})
    return {**tape.script.answer(actions), "step_count": orchestrator.step_count, "num_errors": orchestrator.num_errors}


if __name__ == "__main__":
    serve(drive)
