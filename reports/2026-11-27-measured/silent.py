"""A silent stop, predicted from earlier runs and held against later, separate runs of the same tasks: silent.csv.

usage: python3 silent.py MIRROR FOLDER WHENSTOP

MIRROR holds a git directory OWNER+NAME/repo for each repository below. No agent was told of a limit by its host's stop rule, and no
run was cut: what a stop after so many steps kills of the later runs' successes is counted, not predicted. The caps are where the
earlier successes' steps have their quantiles of 75, 90 and 95 %. Texts are left out.
"""
import csv, io, json, os, pathlib, re, subprocess, sys
from collections import defaultdict
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'study'))
import extract
MIRROR, OUT, PROGRAM = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
QUANTILES = (0.75, 0.9, 0.95)


class Kept:
    """What extract.py calls for each run: keeps its steps, not its texts."""
    def __init__(self): self.runs = []
    def run(self, task, run_id, suite, model, messages, success, path, trial=None, **rest):
        steps = sum(message['role'] == 'assistant' for message in messages)
        if steps and success is not None: self.runs.append((run_id, task, model, suite, trial, steps, bool(success)))


def repository(name, commit):
    return extract.Repository(MIRROR, name, commit)


def bashkit():
    """The evaluations of each model by their dates: the earlier half of its files, then the others."""
    source = repository('everruns/bashkit', 'b7097abbfe515e18d7252f267b14073d03da1d5e')
    dated = defaultdict(list)
    for path, blob in source.files('crates/bashkit-eval/results').items():
        found = re.search(r'results/eval-(.+)-(\d{4}-\d\d-\d\d-\d{6})\.json$', path)
        if found: dated[found[1]].append((found[2], path, blob))
    for model, files in dated.items():
        files.sort()
        if len(files) < 2: continue
        for at, (date, path, blob) in enumerate(files):
            for number, result in enumerate(source.json(path, blob)['results']):
                steps = result['trace']['turns']
                yield at >= len(files) / 2, (f'{model}/{date}/{number}', result['task']['id'], model, '', steps, result['score']['score'] >= result['score']['max_score'])


def by_trial(read, name, commit, is_later, wanted=None):
    out = Kept()
    read(repository(name, commit), out, 'earlier and later')
    for run_id, task, model, suite, trial, steps, success in out.runs:
        if wanted is None or suite == wanted:
            later = is_later(trial)
            if later is not None: yield later, (run_id, task, model, suite, steps, success)


def general(kind):
    def is_later(trial): return None if trial == 'baseline' else trial in ('pass_3', 'pass_4')
    return by_trial(extract.general, 'cxcscmu/General-AgentBench', '89b1ddd6be108c75cedcaacfe502bf6ffdbf3c21', is_later, kind)


def mlgym():
    return by_trial(extract.mlgym, 'facebookresearch/MLGym', '9d40c1b5035202018cd7091fb4e83a9c68b377c0', lambda trial: int(trial) >= 2)


def tau_bench():
    source = repository('sierra-research/tau-bench', '59a200c6d575d595120f1cb70fea53cef0632f6b')
    for path, blob in source.files('historical_trajectories').items():
        runs = source.json(path, blob) or []
        middle = (max((run['trial'] for run in runs), default=0) + 1) / 2
        for run in runs:
            steps = sum(message['role'] == 'assistant' for message in run['traj'])
            task = pathlib.PurePath(path).stem + '#' + str(run['task_id'])
            yield run['trial'] >= middle, (f'{task}/{run["trial"]}', task, pathlib.PurePath(path).stem, '', steps, run['reward'] == 1)


def terminal_bench():
    """mini-swe-agent's five jobs by their dates; steps as its log numbers them."""
    source = repository('laude-institute/terminal-bench-leaderboard', '8e1925a397d7ed859c027cc19b3a3d90c16ef8df')
    files = source.files('results')
    for path, blob in files.items():
        part = path.split('/')
        if 'swe-agent-mini' not in path or len(part) != 7 or part[-1] != 'results.json': continue
        log = '/'.join(part[:-1]) + '/sessions/agent.log'
        result, text = source.json(path, blob), source.read(log, files[log]) if log in files else None
        if result is None or text is None or result['is_resolved'] is None: continue
        plain = re.sub(rb'\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07|\r', b'', text)
        steps = max((int(number) for number in re.findall(rb'mini-swe-agent \(step (\d+),', plain)), default=0)
        if steps: yield part[3] > '2025-08-14', ('/'.join(part[3:6]), result['task_id'], 'claude-4-sonnet', '', steps, bool(result['is_resolved']))


def latitude():
    source = repository('latitude-dev/coding-agent-benchmark', '3d4b699db37afb6c2e7681ccb6dfe468709924b1')
    for line in source.read('results/results.jsonl', source.files('results')['results/results.jsonl']).decode().splitlines():
        run = json.loads(line)
        if run['trial'] <= 3 and run['finishReason'] == 'stop':
            yield run['trial'] >= 2, (f'{run["runId"]}', run['task'], run['model'], '', run['steps'], bool(run['solved']))


COLLECTIONS = [('terminal-bench', terminal_bench)]
COLLECTIONS += [(f'general-agentbench {kind}', lambda kind=kind: general(kind)) for kind in ('swebench', 'terminalbench', 'tau2bench', 'search')]
COLLECTIONS += [('mlgym', mlgym), ('bashkit', bashkit), ('tau-bench', tau_bench), ('latitude', latitude)]


def written(path, runs):
    with open(path, 'w') as file:
        for run_id, task, model, suite, steps, success in runs:
            messages = [{'role': 'user', 'content': 'go on'}] + [{'role': 'assistant', 'content': f'reply {n + 1}'} for n in range(steps)]
            file.write(json.dumps({'id': run_id, 'task_id': task, 'suite': suite, 'model': model, 'success': success, 'messages': messages}) + '\n')


def asked(runs, stacks):
    told = subprocess.run([PROGRAM, 'compare', str(runs), '--stacks', str(stacks), '--format', 'csv', '--quiet'], capture_output=True, text=True, check=True)
    return {row['stack']: row for row in csv.DictReader(io.StringIO(told.stdout))}


OUT.mkdir(parents=True, exist_ok=True)
lines = []
for name, read in COLLECTIONS:
    sides = [[], []]
    for is_later, run in read(): sides[is_later].append(run)
    # Cells (task and model) of both sides.
    shared = {run[1:4] for run in sides[0]} & {run[1:4] for run in sides[1]}
    sides = [[run for run in side if run[1:4] in shared] for side in sides]
    steps = sorted(run[4] for run in sides[0] if run[5])
    caps = sorted({steps[min(len(steps) - 1, int(len(steps) * quantile))] for quantile in QUANTILES} - {steps[-1]})
    place = OUT / name.replace(' ', '-')
    stacks = place.with_suffix('.toml')
    stacks.write_text(''.join(f'[[stack]]\nname = "cap{cap}"\ncap = {{ steps = {cap} }}\n' for cap in caps))
    answers = []
    for side, runs in zip(('earlier', 'later'), sides):
        written(f'{place}-{side}.jsonl', runs)
        answers.append(asked(f'{place}-{side}.jsonl', stacks))
    for cap in caps:
        earlier, later = (answer[f'cap{cap}'] for answer in answers)
        low, high, seen = float(earlier['killed_rate_low']), float(earlier['killed_rate_high']), float(later['killed_rate'])
        lines.append({'collection': name, 'cap': cap, 'tasks': earlier['tasks'], 'runs_earlier': earlier['runs'], 'runs_later': later['runs'],
                      'successes_earlier': earlier['judged_successes'], 'successes_later': later['judged_successes'],
                      'predicted': earlier['killed_rate'], 'predicted_low': low, 'predicted_high': high, 'later': seen,
                      'is': 'inside' if low <= seen <= high else 'above' if seen > high else 'below'})
with open(OUT / 'silent.csv', 'w') as file:
    out = csv.DictWriter(file, list(lines[0]), lineterminator='\n')
    out.writeheader()
    out.writerows(lines)
print({word: sum(line['is'] == word for line in lines) for word in ('inside', 'above', 'below')}, 'of', len(lines))
