"""CPU and memory of one call of the hook in an empty session and in those of 450 and 5,000 events, beside an empty program.

    .ci/hook && rustc -O -o EMPTY - <<< 'fn main() {}'
    python3 benches/hook/cost.py target/hook/whenstop-hook EMPTY FOLDER      (N=300 calls of each kind by default)

Sessions are made by the hook itself, one process an event, with a transcript that grows. Each measured call finds the
same state: one more batch, and one more reply in the transcript, under six rules by round. CPU is that of the process
(wait4); memory is the largest resident set that `/usr/bin/time` reports.
"""

import json
import os
import shutil
import subprocess
import sys

program, empty, folder = map(os.path.abspath, sys.argv[1:4])
RULES = [("steps", 1e5), ("tokens.total", 1e12), ("call.streak", 1e5), ("call_result.count", 1e5), ("errors.streak", 1e5), ("active", 1e9)]
STACKS = '[[stack]]\nname = "fuse"\nscope = "round"\nany = [\n' + "".join(
    f'  {{ signal = "{signal}", at_least = {limit:.0f} }},\n' for signal, limit in RULES
) + "]\n"
OUTPUT = "line of output\n" * 40


def home(n):
    at = os.path.join(folder, str(n))
    config = os.path.join(at, "config/whenstop/hook/claude-code")
    os.makedirs(config, exist_ok=True)
    os.makedirs(os.path.join(at, "state"), exist_ok=True)
    for name, text in [("settings.toml", 'mode = "observe"\n'), ("stacks.toml", STACKS)]:
        with open(os.path.join(config, name), "w") as file:
            file.write(text)
    return at


def variables(at):
    return {"XDG_CONFIG_HOME": at + "/config", "XDG_STATE_HOME": at + "/state", "HOME": at, "PATH": "/usr/bin"}


def call(argv, environment, data):
    """Milliseconds of CPU of one process."""
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    null = os.open("/dev/null", os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, read, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_CLOSE, read), (os.POSIX_SPAWN_CLOSE, null)]
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=actions)
    os.close(read)
    os.close(null)
    _, status, use = os.wait4(pid, 0)
    assert status == 0, status
    return (use.ru_utime + use.ru_stime) * 1000


def payload(at, event, **more):
    common = {"session_id": "s", "hook_event_name": event, "prompt_id": "p", "transcript_path": at + "/t.jsonl", "cwd": "/x"}
    return json.dumps({**common, **more}).encode()


def batch(at, n):
    made = {"tool_name": "Bash", "tool_input": {"command": f"echo {n}"}, "tool_use_id": f"toolu_{n:08}", "tool_response": OUTPUT + str(n)}
    return payload(at, "PostToolBatch", tool_calls=[made])


def reply(n):
    use = {"type": "tool_use", "id": f"toolu_{n:08}", "name": "Bash", "input": {"command": f"echo {n}"}}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 8000, "cache_creation_input_tokens": 100, "output_tokens": 300}
    said = {"id": f"msg_{n:08}", "model": "claude-opus-4-8", "content": [use], "usage": usage}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{n:08}", "content": OUTPUT}
    lines = [
        {"type": "assistant", "version": "2.1.240", "sessionId": "s", "message": said},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def prepare(n):
    """A session of n events, and a copy of its state."""
    at = home(n)
    if not os.path.isdir(at + "/kept"):
        shutil.rmtree(at + "/state")
        call([program, "claude-code"], variables(at), payload(at, "UserPromptSubmit", prompt="go"))
        with open(at + "/t.jsonl", "w") as transcript:
            for nth in range(n // 2):
                transcript.write(reply(nth))
                transcript.flush()
                call([program, "claude-code"], variables(at), batch(at, nth))
        shutil.copytree(at + "/state", at + "/kept")
    return at


def next_batch(at, n, run):
    """What `run` gives for the next batch of the session, which is then as it was."""
    shutil.rmtree(at + "/state")
    shutil.copytree(at + "/kept", at + "/state")
    size = os.path.getsize(at + "/t.jsonl")
    with open(at + "/t.jsonl", "a") as transcript:
        transcript.write(reply(n // 2))
    try:
        return run(batch(at, n // 2))
    finally:
        os.truncate(at + "/t.jsonl", size)


def memory(argv, environment, data):
    """Megabytes; from Python itself they would be those of Python."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *argv], env=environment, input=data, capture_output=True, check=True)
    return int(done.stderr.split()[-1]) * 1024 / 1e6


def main():
    homes, nobody = {n: prepare(n) for n in (0, 450, 5000)}, home("nobody")
    unread = b'{"hook_event_name":"Notification","session_id":"s"}'
    hook = [program, "claude-code"]

    def on(n, of):
        at = homes[n]
        return next_batch(at, n, lambda data: of(hook, variables(at), data))

    cases = {
        "an empty program": lambda of: of([empty], {}, b""),
        "start (an event nobody reads)": lambda of: of(hook, variables(nobody), unread),
        "an empty state": lambda of: on(0, of),
        "450 events": lambda of: on(450, of),
        "5,000 events": lambda of: on(5000, of),
    }
    seen = {name: [] for name in cases}
    for _ in range(int(os.environ.get("N", 300))):
        for name, case in cases.items():
            seen[name].append(case(call))
    for name, values in seen.items():
        values.sort()
        at = {share: values[min(len(values) - 1, int(share * len(values)))] for share in (0.5, 0.99)}
        least = f"n {len(values)}, least {values[0]:5.2f}, median {at[0.5]:5.2f}, p99 {at[0.99]:5.2f} ms"
        print(f"{name:30} {least}; {cases[name](memory):.1f} MB", flush=True)


main()
