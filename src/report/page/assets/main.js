// What is shown, and its encoding in the URL: a link shows somebody else the same screen.
const state = { tab: 'overview', stack: 0, tolerated: meta.max_killed, text: '', kind: null, suite: null, model: null, rule: null, sort: '', down: false, run: null, at: 0 };
state.stack = choiceAt(state.tolerated).ship ?? choiceAt(state.tolerated).order[0] ?? 0;
const START = { ...state };

function save() {
  const kept = new URLSearchParams();
  for (const key of ['tab', 'tolerated', 'text', 'kind', 'suite', 'model', 'rule', 'sort', 'run']) {
    if (state[key] !== START[key] && state[key] !== null) kept.set(key, state[key]);
  }
  if (state.stack !== START.stack) kept.set('stack', meta.stacks[state.stack].name);
  if (state.down) kept.set('down', '1');
  const hash = `#${kept}`;
  if (location.hash !== hash) history.replaceState(null, '', hash);
}
function restore() {
  const kept = new URLSearchParams(location.hash.slice(1)), stack = meta.stacks.findIndex(({ name }) => name === kept.get('stack'));
  Object.assign(state, START, stack >= 0 ? { stack } : {});
  for (const key of ['tab', 'text', 'kind', 'suite', 'model', 'rule', 'sort', 'run']) if (kept.has(key)) state[key] = kept.get(key);
  const tolerated = Number(kept.get('tolerated'));
  if (kept.has('tolerated') && Number.isFinite(tolerated)) state.tolerated = tolerated;
  if (!TABS.some(([id]) => id === state.tab)) state.tab = 'overview';
  if (state.kind !== null && !KINDS[state.kind]) state.kind = null;
  state.down = kept.has('down');
}

function go(changes) {
  Object.assign(state, changes);
  const kept = location.hash;
  save();
  // Opening or closing a run adds an entry to the browser's history.
  if ('run' in changes && kept !== location.hash) { const now = location.hash; history.replaceState(null, '', kept || '#'); history.pushState(null, '', now); }
  show();
}

// Arrow keys move between tabs, and the focus goes with them.
function walkTabs(event, id) {
  const at = TABS.findIndex(([other]) => other === id), last = TABS.length - 1;
  const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  go({ tab: TABS[to][0], run: null });
}

let shown = 0;
async function showRun() {
  const turn = ++shown, run = meta.ids.indexOf(state.run), main = document.getElementById('main');
  if (run < 0) { replace(main, el('p', {}, `This page holds no run called ${state.run}.`), el('button', { onclick: () => go({ run: null }) }, '‹ back')); return; }
  const page = await runView(run);
  if (turn !== shown) return;
  replace(main, page);
  scrollTo(0, 0);
  document.getElementById('back').focus({ preventScroll: true });
}
function show() {
  hideTip();
  document.body.classList.toggle('in-run', state.run !== null);
  document.getElementById('followed').hidden = state.run !== null || state.tab !== 'overview';
  const focused = document.activeElement?.id;
  replace(document.getElementById('tabs'), TABS.map(([id, words]) => el('button', {
    role: 'tab', id: `tab-${id}`, 'aria-selected': String(state.tab === id), 'aria-controls': 'main', tabindex: state.tab === id ? 0 : -1,
    onclick: () => go({ tab: id, run: null }), onkeydown: (event) => walkTabs(event, id),
  }, words)));
  if (focused?.startsWith('tab-')) document.getElementById(`tab-${state.tab}`).focus();
  if (state.run !== null) { showRun(); refreshOverview(); return; }
  shown += 1;
  const [, , make] = TABS.find(([id]) => id === state.tab);
  replace(document.getElementById('main'), make());
  refreshOverview();
  refreshRuns();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest?.('input[type=search], select');
  if (event.key === 'Escape') {
    if (state.run !== null) go({ run: null });
    else if (typing) event.target.blur();
    return;
  }
  if (typing) return;
  if (event.key === '/') { event.preventDefault(); if (state.tab !== 'runs' || state.run !== null) go({ tab: 'runs', run: null }); document.getElementById('search').focus(); }
  const tab = TABS[Number(event.key) - 1];
  if (tab) { go({ tab: tab[0], run: null }); document.getElementById(`tab-${tab[0]}`).focus(); }
});
addEventListener('popstate', () => { restore(); show(); });

loadColumns().then(() => {
  restore();
  document.getElementById('headline').textContent = meta.headline;
  document.getElementById('footer').textContent = meta.footer;
  show();
  document.documentElement.dataset.ready = '1';
}, (error) => {
  replace(document.getElementById('main'), el('p', { class: 'notice' }, `This browser cannot unpack the page's numbers (${error.message}); rows.csv beside it holds them.`));
});
