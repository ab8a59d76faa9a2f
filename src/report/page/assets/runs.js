// Every run under one stack: filtered, sorted, a few dozen rows at a time in the page.
const ROW_HEIGHT = 28;
let listed = [];

function filteredRuns() {
  const text = state.text.toLowerCase(), found = [];
  for (let run = 0; run < meta.runs; run += 1) {
    const row = rowOf(run, state.stack);
    if (state.kind && kindOf(row) !== state.kind) continue;
    if (state.suite !== null && named('suites', 'suite', run) !== state.suite) continue;
    if (state.model !== null && named('models', 'model', run) !== state.model) continue;
    if (state.rule !== null && named('rules', 'rule', row) !== state.rule) continue;
    if (text && !meta.ids[run].toLowerCase().includes(text) && !(named('tasks', 'task', run) ?? '').toLowerCase().includes(text)) continue;
    found.push(run);
  }
  return found;
}
const SORTS = {
  run: (run) => meta.ids[run], task: (run) => named('tasks', 'task', run), model: (run) => named('models', 'model', run),
  steps: (run) => number('steps', run), kind: (run) => Object.keys(KINDS).indexOf(kindOf(rowOf(run, state.stack))),
  stop: (run) => (flagged(rowOf(run, state.stack), FLAG.stopped) ? stepOfRow(rowOf(run, state.stack)) : null),
  why: (run) => named('rules', 'rule', rowOf(run, state.stack)),
};
function sortedRuns(runs) {
  if (!SORTS[state.sort]) return runs;
  const keys = new Map(runs.map((run) => [run, SORTS[state.sort](run)])), sign = state.down ? -1 : 1;
  // Missing values sort last in either direction.
  return runs.sort((a, b) => {
    const [one, other] = [keys.get(a), keys.get(b)];
    if (one === null || other === null) return (one === null) - (other === null) || a - b;
    return (one < other ? -1 : one > other ? 1 : 0) * sign || a - b;
  });
}

const HEADS = [['run', 'run'], ['task', 'task'], ['model', 'model'], ['steps', 'steps'], ['kind', 'what it came to'], ['stop', 'stop'], ['why', 'why']];
function runsTab() {
  const option = (value, words, chosen) => el('option', { value, selected: chosen }, words);
  const select = (label, key, values, words) => el('select', {
    'aria-label': label, 'data-filter': key, onchange: (event) => { state[key] = event.target.value === '' ? null : event.target.value; refreshRuns(); save(); },
  }, option('', words, state[key] === null), ...values.map((value) => option(value, key === 'kind' ? KINDS[value] : value, state[key] === value)));
  const stack = el('select', { 'aria-label': 'stack', 'data-filter': 'stack', onchange: (event) => { state.stack = Number(event.target.value); refreshRuns(); save(); } },
    ...choiceAt(state.tolerated).order.map((at) => option(at, meta.stacks[at].name, state.stack === at)));
  const search = el('input', { type: 'search', id: 'search', placeholder: 'part of a run or task', 'aria-label': 'part of a run or task', value: state.text,
    oninput: (event) => { state.text = event.target.value; refreshRuns(); save(); } });
  const head = el('div', { class: 'vhead', role: 'row' }, ...HEADS.map(([key, words]) => el('div', { role: 'columnheader' },
    el('button', { 'data-sort': key, onclick: () => { state.down = state.sort === key ? !state.down : false; state.sort = key; refreshRuns(); save(); } }, words))));
  const list = el('div', { class: 'vlist', id: 'runs', role: 'grid', tabindex: 0, 'aria-label': 'Runs', onscroll: () => drawRuns(), onkeydown: walkRuns },
    head, el('div', { class: 'vspace' }));
  return el('section', {},
    el('div', { class: 'filters' }, stack, select('what it came to', 'kind', Object.keys(KINDS), 'all that it came to'),
      meta.names.suites.length > 1 ? select('suite', 'suite', meta.names.suites, 'all suites') : null,
      meta.names.models.length > 1 ? select('model', 'model', meta.names.models, 'all models') : null,
      select('rule', 'rule', meta.names.rules, 'all rules'), search),
    el('div', { class: 'row' }, el('span', { id: 'count', role: 'status', 'aria-live': 'polite' }), marksButton()), list,
    el('p', { class: 'quiet' }, 'j and k walk, Enter opens, / searches, Esc goes back.'));
}
function showSort() {
  for (const button of document.querySelectorAll('[data-sort]')) {
    const chosen = button.dataset.sort === state.sort, [, words] = HEADS.find(([key]) => key === button.dataset.sort);
    button.textContent = chosen ? `${words} ${state.down ? '▾' : '▴'}` : words;
    button.parentElement.setAttribute('aria-sort', chosen ? (state.down ? 'descending' : 'ascending') : 'none');
  }
}
function refreshRuns() {
  if (!document.getElementById('runs')) return;
  showSort();
  listed = sortedRuns(filteredRuns());
  state.at = Math.max(0, Math.min(state.at, listed.length - 1));
  document.getElementById('count').textContent = `${listed.length} of ${meta.runs} runs under ${meta.stacks[state.stack].name}${meta.sampled ? ` (${meta.sampled})` : ''}`;
  document.getElementById('runs').setAttribute('aria-rowcount', listed.length);
  drawRuns();
}
function drawRuns() {
  const list = document.getElementById('runs');
  if (!list) return;
  const space = list.querySelector('.vspace'), first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 6);
  const last = Math.min(listed.length, first + Math.ceil(list.clientHeight / ROW_HEIGHT) + 12);
  space.style.height = `${listed.length * ROW_HEIGHT}px`;
  const rows = [];
  for (let at = first; at < last; at += 1) {
    const run = listed[at], row = rowOf(run, state.stack), stopped = flagged(row, FLAG.stopped);
    const node = el('div', { class: 'vrow', role: 'row', 'data-run': run, 'aria-rowindex': at + 1, 'aria-selected': String(at === state.at), onclick: () => { state.at = at; openRun(run); } },
      el('div', { role: 'gridcell' }, meta.ids[run]), el('div', { role: 'gridcell' }, named('tasks', 'task', run) ?? '–'),
      el('div', { role: 'gridcell' }, named('models', 'model', run) ?? '–'), el('div', { role: 'gridcell' }, String(number('steps', run))),
      el('div', { role: 'gridcell' }, badge(kindOf(row))), el('div', { role: 'gridcell' }, stopped ? `at ${stepOfRow(row)}` : '–'),
      el('div', { role: 'gridcell', class: 'mono', title: named('rules', 'rule', row) }, reasonOf(row)));
    node.style.top = `${at * ROW_HEIGHT}px`;
    rows.push(node);
  }
  space.replaceChildren(...rows);
}
function walkRuns(event) {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
  if (event.key === 'Enter' && listed.length) { event.preventDefault(); openRun(listed[state.at]); return; }
  if (by === undefined) return;
  event.preventDefault();
  state.at = Math.max(0, Math.min(listed.length - 1, state.at + by));
  const list = document.getElementById('runs'), top = state.at * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + 3 * ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + 3 * ROW_HEIGHT - list.clientHeight;
  drawRuns();
}

// "Killed, but fine": a reader's marks, stored for this page and exported as labels.
const marks = new Map();
const marksKey = `whenstop-marks-${meta.corpus}`;
try { for (const [id, step] of JSON.parse(localStorage.getItem(marksKey) ?? '[]')) marks.set(id, step); } catch { /* a page may have no storage */ }
function mark(id, step) {
  if (marks.get(id) === step) marks.delete(id); else marks.set(id, step);
  try { localStorage.setItem(marksKey, JSON.stringify([...marks])); } catch { /* then they last as long as the page */ }
}
const csvCell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
function labelsCsv() {
  const lines = [...marks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, step]) => `${csvCell(id)},true,${step}`);
  return `run_id,success,secured_step\n${lines.join('\n')}\n`;
}
function marksButton() {
  if (marks.size === 0) return null;
  return el('button', { id: 'labels', onclick: () => {
    const link = el('a', { href: URL.createObjectURL(new Blob([labelsCsv()], { type: 'text/csv' })), download: 'labels.csv' });
    link.click();
    URL.revokeObjectURL(link.href);
  } }, `labels.csv with ${marks.size} marked “killed, but fine”`);
}
