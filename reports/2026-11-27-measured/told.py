"""Where recordings show that the agent was told of a limit on its steps: told.csv.

usage: python3 told.py WHENSTOP OUT.csv FOLDER ...

Asks `whenstop corpus FOLDER --runs --format json` of each folder in the folders. A line for each format and told sentence, numbers
as #: how many runs, and the first of them; and a line for each format with the runs that show no sign.
"""
import csv, json, pathlib, re, subprocess, sys
PROGRAM, OUT, FOLDERS = sys.argv[1], sys.argv[2], sys.argv[3:]
runs, lines = {}, {}
for folder in FOLDERS:
    for part in sorted(pathlib.Path(folder).iterdir()):
        asked = subprocess.run([PROGRAM, 'corpus', str(part), '--runs', '--format', 'json', '--quiet'], capture_output=True, text=True)
        # 4: no run in it.
        if asked.returncode == 4: continue
        if asked.returncode != 0: sys.exit(f'{part}: {asked.stderr}')
        for run in json.loads(asked.stdout)['runs']:
            counts = runs.setdefault(run['format'], [0, 0])
            counts[0] += 1
            if not run.get('told'): continue
            counts[1] += 1
            told = run['told']
            key = (run['format'], re.sub(r'\d+', '#', told['quote']))
            line = lines.setdefault(key, {'runs': 0, 'with_notice': 0, 'first': run['run_id'], 'folder': part.name, 'quote': told['quote']})
            line['runs'] += 1
            line['with_notice'] += told['notice_step'] is not None
with open(OUT, 'w') as file:
    out = csv.writer(file, lineterminator='\n')
    out.writerow(['format', 'runs', 'told', 'with_notice', 'quote', 'folder', 'first'])
    for name, (total, told) in sorted(runs.items()):
        out.writerow([name, total, told, sum(line['with_notice'] for key, line in lines.items() if key[0] == name), '', '', ''])
        for (of, _), line in sorted(lines.items()):
            if of == name: out.writerow([name, '', line['runs'], line['with_notice'], line['quote'], line['folder'], line['first']])
print({'runs': sum(total for total, _ in runs.values()), 'told': sum(told for _, told in runs.values())})
