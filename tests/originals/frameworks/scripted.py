"""What the drivers share: cases in, a recording played as a scripted model with its tools, answers out."""

import inspect
import json
import signal
import sys


class TapeEnd(BaseException):
    """The framework asked for a reply that the recording does not have: the run would have gone on."""


class ToolFailed(Exception):
    pass


class Script:
    """One recording. `handed` and `executed` are the places of the replies given and of the results produced."""

    def __init__(self, events):
        self.events = events
        self.users = [nth for nth, event in self.own("user") if not event.get("native")]
        self.results = {
            event["tool_call_id"]: (nth, event) for nth, event in enumerate(events) if event["role"] == "tool"
        }
        self.invalid = {event["tool_call_id"] for event in events if event.get("invalid_call")}
        self.handed, self.executed, self.requests, self.ended = [], [], 0, False
        self.replies = [nth for nth, _ in self.own("assistant")]

    def own(self, role):
        """The messages of a role that are not a sub-agent's."""
        return [(nth, event) for nth, event in enumerate(self.events) if event["role"] == role and not of_sub_agent(event)]

    def tools(self, *first):
        """The names of the tools the recording knows, without those it calls unknown."""
        names = list(first)
        for event in self.events:
            for call in [] if of_sub_agent(event) else event.get("tool_calls") or []:
                if call["id"] not in self.invalid and call["name"] not in names:
                    names.append(call["name"])
        return names

    def start(self, turn):
        """The run of the nth user message: its place."""
        user = self.users[turn]
        end = self.users[turn + 1] if turn + 1 < len(self.users) else len(self.events)
        self.replies = [nth for nth, _ in self.own("assistant") if user <= nth < end]
        self.ended, self.first = False, len(self.handed)
        return user

    def reply(self):
        if not self.replies:
            self.ended = True
            raise TapeEnd
        self.requests += 1
        nth = self.replies.pop(0)
        self.handed.append(nth)
        return self.events[nth]

    def result(self, name, arguments):
        """What the tool gave for a call of the latest reply."""
        for call in self.events[self.handed[-1]].get("tool_calls") or []:
            nth, event = self.results.get(call["id"], (None, None))
            if call["name"] == name and (call["arguments"] or {}) == arguments and nth not in (None, *self.executed):
                self.executed.append(nth)
                if event.get("is_error"):
                    raise ToolFailed(event["content"])
                return event["content"]
        raise LookupError(f"the latest reply does not call {name} with {arguments}")

    def ran_since_reply(self):
        return [nth for nth in self.executed if self.handed and nth > self.handed[-1]]

    def end_of_round(self):
        """The last result that belongs to the latest reply, whether its tool ran or was unknown."""
        last = self.handed[-1]
        for nth in range(last + 1, len(self.events)):
            if of_sub_agent(self.events[nth]):
                continue
            if self.events[nth]["role"] != "tool":
                break
            last = nth
        return last

    def answer(self, actions, **more):
        halts = [action["at"] for action in actions if action["kind"] not in ("ask", "deny", "inject", "warn")]
        return {
            "actions": actions,
            "halted_at": halts[0] if halts else None,
            "model_calls": self.requests,
            **more,
        }


def of_sub_agent(event):
    return event.get("lane", "").startswith("side:")


def text_of(content):
    """A message's text, for originals whose messages have nothing else: parts are lines of it."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content)
    return content


def serve(drive, seconds=60):
    """Answer every case on standard input; a framework's own prints must not come between the answers.

    `drive` takes the case's input and the name of its table. One that hangs is given up after `seconds`.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    signal.signal(signal.SIGALRM, too_late)
    tabled = len(inspect.signature(drive).parameters) > 1
    for line in sys.stdin:
        case = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            given = (case["input"], case["table"]) if tabled else (case["input"],)
            answer = {"id": case["id"], "expected": drive(*given)}
        except (Exception, TooLate, TapeEnd) as error:  # a case that cannot be run is told as such, the others go on
            answer = {"id": case["id"], "failed": f"{type(error).__name__}: {error}"}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(answer), file=out, flush=True)


class TooLate(BaseException):
    """No framework catches it as an error of its own."""


def too_late(*_):
    raise TooLate("the framework did not come back")
