"""MINT's arms as chat-style JSON lines, and what `whenstop compare` says of them: mint.csv, and the range of a told cap by model
and by data set (ranges.csv).

usage: python3 mint.py CLONE FOLDER WHENSTOP    (CLONE: a clone of github.com/xingyaoww/mint-bench, Apache-2.0)

Texts are left out but for the last line that tells how many steps are left. `gpt-4-0613` has one arm only and is left out.
mint.csv and the first part of ranges.csv are of the arms of 5 steps or fewer.
"""
import csv, io, json, os, subprocess, sys
MIRROR, OUT, PROGRAM = sys.argv[1:4]
REV = '3f7f12c10bf763be1e6dbdeb42feb57624121f61'
ALONE = 'gpt-4-0613'
# The one model with arms of 6, 8 and 10 steps.
LADDER = 'gpt-3.5-turbo-16k-0613'
listing = subprocess.run(['git','-C',MIRROR,'ls-tree','-r','-z',REV,'data/outputs'],capture_output=True,check=True).stdout.decode()
cat = subprocess.Popen(['git','-C',MIRROR,'cat-file','--batch'],stdin=subprocess.PIPE,stdout=subprocess.PIPE)
def blob(h):
    cat.stdin.write((h+'\n').encode()); cat.stdin.flush()
    n=int(cat.stdout.readline().split()[2]); b=cat.stdout.read(n); cat.stdout.read(1); return b
os.makedirs(OUT,exist_ok=True)
files={}
for entry in listing.split('\0'):
    if not entry: continue
    meta,path=entry.split('\t',1); part=path.split('/')
    if not path.endswith('results.jsonl') or part[3]!='F=None': continue
    arm=part[4].split('_')[0]
    if not arm.startswith('max'): continue
    arm=arm[3:]; model=part[2]
    if model==ALONE: continue
    cls='alfworld' if part[-2]=='alfworld' else 'code'
    data='/'.join(part[5:-1])
    for line in blob(meta.split()[2]).decode('utf8','replace').split('\n'):
        if not line.strip(): continue
        d=json.loads(line); s=d['state']
        messages=[]; n=0
        for m in s['history']:
            if m['role']=='assistant':
                n+=1; messages.append({'role':'assistant','content':f'reply {n}'})
            else:
                left=[l for l in m['content'].split('\n') if 'steps left' in l or 'chances to interact' in l]
                messages.append({'role':'user','content':(left[-1] if left else 'go on')})
        task=data+'#'+str(d['task']['task_id'])
        line=json.dumps({'id':f'{arm}/{model}/{task}','task_id':task,'suite':data,'model':model,'success':bool(s['success']),'messages':messages})+'\n'
        for name in (cls,LADDER) if model==LADDER else (cls,) if arm in '12345' else ():
            key=(name,arm)
            if key not in files: files[key]=open(f'{OUT}/{name}-{arm}.jsonl','w')
            files[key].write(line)
for file in files.values(): file.close()
def told(cap):
    stack=f'{OUT}/cap{cap}.toml'
    with open(stack,'w') as file: file.write(f'[[stack]]\nname = "cap{cap}"\ncap = {{ steps = {cap} }}\ntold = true\nnotice = 1\n')
    return stack
def asked(*arguments):
    return subprocess.run([PROGRAM,'compare',*arguments,'--quiet'],capture_output=True,text=True,check=True).stdout
lines=[]
for cls in ('code','alfworld'):
    for cap in (4,3,2):
        head,line=asked(f'{OUT}/{cls}-5.jsonl','--stacks',told(cap),'--against',f'{OUT}/{cls}-{cap}.jsonl','--format','csv').splitlines()
        lines=lines or ['tasks_of,'+head]
        lines.append(f'{cls},{line}')
open(f'{OUT}/mint.csv','w').write('\n'.join(lines)+'\n')

def ranges(name,most,cap,by):
    """By model or data set: what the told cap may kill as `compare` says beforehand, and what it did. Cells that `--against`
    refuses, for too few successes that got as far as the notice, are left out."""
    before,stack,folder=f'{OUT}/{name}-{most}.jsonl',told(cap),f'{OUT}/out-{name}-{cap}'
    asked(before,'--stacks',stack,'--out',folder)
    said={}
    with open(f'{folder}/strata.csv') as file:
        for row in csv.DictReader(file): said.setdefault(row[by],[]).append(row)
    for row in csv.DictReader(io.StringIO(asked(before,'--stacks',stack,'--against',f'{OUT}/{name}-{cap}.jsonl','--by',by,'--format','csv'))):
        if not row['class'] or not row['lost_rate']: continue
        successes=sum(int(r['judged_successes']) for r in said[row['class']])
        most_killed=sum(int(r['killed_max']) for r in said[row['class']])/successes
        low,high,replay=(float(row[n]) for n in ('lost_rate_low','lost_rate_high','killed_rate'))
        yield {'recordings':name,'before':most,'cap':cap,by:row['class'],'successes':successes,'range_low':0,'range_high':round(most_killed,6),
            'replay':replay,'lost':row['lost_rate'],'lost_low':low,'lost_high':high,
            'range_holds':int(high>=0 and low<=most_killed),'replay_holds':int(low<=replay<=high)}
rows=[r for cls in ('code','alfworld') for cap in (4,3,2) for r in ranges(cls,5,cap,'model')]
rows+=[r for cap in (8,6,5,4,3,2) for r in ranges(LADDER,10,cap,'suite')]
with open(f'{OUT}/ranges.csv','w') as file:
    out=csv.DictWriter(file,['recordings','before','cap','model','suite','successes','range_low','range_high','replay','lost','lost_low','lost_high','range_holds','replay_holds'],restval='',lineterminator='\n')
    out.writeheader(); out.writerows(rows)
for most in (5,10):
    of=[r for r in rows if r['before']==most]
    print(f'arm of {most}: {len(of)} cells, range {sum(r["range_holds"] for r in of)}, replay {sum(r["replay_holds"] for r in of)}')
