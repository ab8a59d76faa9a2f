"""MINT's arms at caps 1 to 5 as chat-style JSON lines, and what `whenstop compare --against` says of them.

usage: python3 mint.py CLONE FOLDER WHENSTOP    (CLONE: a clone of github.com/xingyaoww/mint-bench, Apache-2.0)

Texts are left out but for the last line that tells how many steps are left. `gpt-4-0613` has one arm only and is left out.
"""
import json, os, subprocess, sys
MIRROR, OUT, PROGRAM = sys.argv[1:4]
REV = '3f7f12c10bf763be1e6dbdeb42feb57624121f61'
ALONE = 'gpt-4-0613'
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
    if model==ALONE or arm not in '12345': continue
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
        key=(cls,arm)
        if key not in files: files[key]=open(f'{OUT}/{cls}-{arm}.jsonl','w')
        files[key].write(json.dumps({'id':f'{arm}/{model}/{task}','task_id':task,'model':model,'success':bool(s['success']),'messages':messages})+'\n')
for file in files.values(): file.close()
lines=[]
for cls in ('code','alfworld'):
    for cap in (4,3,2):
        stack=f'{OUT}/cap{cap}.toml'
        open(stack,'w').write(f'[[stack]]\nname = "cap{cap}"\ncap = {{ steps = {cap} }}\ntold = true\nnotice = 1\n')
        asked=[PROGRAM,'compare',f'{OUT}/{cls}-5.jsonl','--stacks',stack,'--against',f'{OUT}/{cls}-{cap}.jsonl','--format','csv','--quiet']
        head,line=subprocess.run(asked,capture_output=True,text=True,check=True).stdout.splitlines()
        lines=lines or ['tasks_of,'+head]
        lines.append(f'{cls},{line}')
open(f'{OUT}/mint.csv','w').write('\n'.join(lines)+'\n')
