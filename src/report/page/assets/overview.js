// The first screen: what to ship, what it would cost, and which successes would be gone.
const choiceAt = (tolerated) => {
  let found = meta.choices[0];
  for (const choice of meta.choices) if (choice.from <= tolerated + 1e-12) found = choice;
  return found;
};

// Whether a stack is within what is tolerated; whether it is worth it is another question, which the verdict answers.
const isSafe = (choice, at) => ['allowed', 'not_worth_it'].includes(choice.standing[at]);

// Where nobody graded a run, nothing is said about successes.
const isUngraded = () => !columns.outcome.some((outcome) => ['success', 'failure'].includes(meta.names.outcomes[outcome]));

function appetite() {
  if (meta.choices.length < 2 || isUngraded()) return null;
  const at = Math.max(0, meta.choices.indexOf(choiceAt(state.tolerated)));
  const told = el('output', { id: 'tolerated' }, percent(state.tolerated));
  const slider = el('input', {
    type: 'range', id: 'appetite', min: 0, max: meta.choices.length - 1, step: 1, value: at, 'aria-valuetext': percent(state.tolerated),
    oninput: () => {
      const choice = meta.choices[Number(slider.value)];
      told.textContent = percent(choice.from);
      slider.setAttribute('aria-valuetext', percent(choice.from));
      state.tolerated = choice.from;
      if (choice.ship !== null) state.stack = choice.ship;
      refreshOverview();
      save();
    },
  });
  return el('div', { class: 'appetite' },
    el('label', { for: 'appetite' }, 'Killed successes I accept, at most (95 %):'), slider, told);
}

// Round shares between two values, at most six of them.
function ticks(from, to) {
  const rough = (to - from) / 5, size = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((factor) => factor * size >= rough) * size;
  const found = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + 1e-9; at += 1) found.push(at * step);
  return found;
}
const onAxis = (share) => String(Number((share * 100).toFixed(6)));

function frontierPlot() {
  const width = 520, height = 320, left = 46, bottom = 40, top = 12, right = 14;
  const placed = meta.stacks.map((stack, at) => ({ ...stack, at })).filter(({ killed, useful, group }) => killed[1] !== null && useful[0] !== null && group === 'shown');
  const drawing = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'group', 'aria-label': `Successes killed against ${meta.unit} saved, a dot a stack` });
  if (placed.length === 0) return el('p', { class: 'quiet' }, 'No stack can be placed: see below why.');
  const choice = choiceAt(state.tolerated);
  // The axis ends where nobody would ship any more: stacks that kill more are drawn at its end, to separate the rest.
  const near = placed.filter(({ killed }) => killed[1] <= Math.max(0.2, 4 * state.tolerated));
  const most = Math.min(1, Math.max(0.1, ...near.map(({ killed }) => Math.min(killed[3] ?? killed[1], killed[1] * 2 + 0.05)))) * 1.05;
  const beyond = placed.filter(({ killed }) => killed[1] > most).length;
  const low = Math.min(0, ...placed.map(({ useful }) => useful[0])), high = Math.max(0.05, ...placed.map(({ useful }) => useful[1] ?? useful[0])) * 1.1;
  const x = (share) => left + Math.min(1, share / most) * (width - left - right);
  const y = (share) => height - bottom - ((share - low) / (high - low)) * (height - bottom - top);
  if (meta.choices.length > 1 && state.tolerated < most) {
    drawing.append(svg('rect', { class: 'too-far', x: x(state.tolerated), y: top, width: width - right - x(state.tolerated), height: height - bottom - top }));
    drawing.append(svg('text', { x: width - right - 4, y: height - bottom - 6, 'text-anchor': 'end' }, 'more than I accept'));
  }
  for (const share of ticks(low, high)) {
    drawing.append(svg('line', { class: 'axis', x1: left, x2: width - right, y1: y(share), y2: y(share) }));
    drawing.append(svg('text', { x: left - 6, y: y(share) + 4, 'text-anchor': 'end' }, onAxis(share)));
  }
  for (const share of ticks(0, most)) drawing.append(svg('text', { x: x(share), y: height - bottom + 16, 'text-anchor': 'middle' }, onAxis(share)));
  drawing.append(svg('text', { class: 'strong', x: width - right, y: height - 6, 'text-anchor': 'end' }, 'successes killed, % (line: up to the end of the 95 % interval)'));
  if (beyond > 0) drawing.append(svg('text', { x: width - right - 4, y: top + 12, 'text-anchor': 'end' }, `${beyond} at this edge ${beyond === 1 ? 'kills' : 'kill'} more`));
  drawing.append(svg('text', { class: 'strong', x: left, y: top - 1 }, `${meta.unit} saved, %`));
  // The chosen stack is drawn on top and labelled first; a label that would overlap another is only in the tooltip.
  const weight = ({ at }) => (at === state.stack ? 2 : 0) + (at === choice.ship ? 1 : 0);
  const named = [];
  const hasRoom = (dot) => named.every((other) => Math.abs(y(other.useful[0]) - y(dot.useful[0])) > 12 || Math.abs(x(other.killed[1]) - x(dot.killed[1])) > 130);
  for (const dot of [...placed].sort((a, b) => weight(b) - weight(a))) {
    if ((placed.length <= 12 || weight(dot) > 0) && hasRoom(dot)) named.push(dot);
  }
  for (const dot of [...placed].sort((a, b) => weight(a) - weight(b))) {
    const { name, killed, useful, at, frontier } = dot;
    const safe = isSafe(choice, at);
    const colour = choice.ship === at ? 'var(--saved)' : safe ? 'var(--accent)' : 'var(--open)';
    if (killed[3] !== null) drawing.append(svg('line', { class: 'ci', x1: x(killed[1]), x2: x(killed[3]), y1: y(useful[0]), y2: y(useful[0]) }));
    const choose = () => { state.stack = at; refreshOverview(); save(); };
    drawing.append(svg('circle', {
      class: 'dot', cx: x(killed[1]), cy: y(useful[0]), r: state.stack === at ? 9 : frontier ? 7 : 5, fill: colour, tabindex: 0, role: 'button',
      'aria-label': `${name}: kills ${meta.stacks[at].cells.killed}, saves ${meta.stacks[at].cells.saved}`,
      onclick: choose, onkeydown: (event) => { if (event.key === 'Enter') choose(); }, ...tipped(sentence(at)),
    }));
    if (named.includes(dot)) {
      const end = x(killed[1]) > width * 0.7;
      drawing.append(svg('text', { x: x(killed[1]) + (end ? -11 : 11), y: y(useful[0]) - 7, 'text-anchor': end ? 'end' : 'start', class: state.stack === at ? 'strong' : '' }, name));
    }
  }
  return drawing;
}

// What the colours and sizes of the dots mean; only those that occur.
function frontierLegend() {
  const choice = choiceAt(state.tolerated);
  const placed = meta.stacks.map((stack, at) => ({ ...stack, at })).filter(({ killed, useful, group }) => killed[1] !== null && useful[0] !== null && group === 'shown');
  const dot = (colour, r = 5) => svg('svg', { class: 'plot', width: 20, height: 14, viewBox: '0 0 20 14', 'aria-hidden': 'true' }, svg('circle', { class: 'dot', cx: 10, cy: 7, r, fill: colour }));
  const keys = [
    [choice.ship !== null, dot('var(--saved)'), 'the one to ship'],
    [placed.some(({ at }) => at !== choice.ship && isSafe(choice, at)), dot('var(--accent)'), 'kills no more than I accept'],
    [placed.some(({ at }) => !isSafe(choice, at)), dot('var(--open)'), 'kills more, or too little of it is known'],
    [placed.some(({ frontier }) => frontier), dot('var(--open)', 6.5), 'larger: no other kills less and saves more'],
  ];
  const shown = keys.filter(([applies]) => applies);
  return shown.length ? el('ul', { class: 'legend quiet' }, shown.map(([, mark, words]) => el('li', {}, mark, words))) : null;
}

function sentence(at) {
  const { name, cells, beaten_by: better, group, lacks } = meta.stacks[at];
  if (group === 'unread') return `${name}: not judged (${lacks})`;
  if (group === 'idle') return `${name}: never acted`;
  return `${name}: stops ${cells.stops}; kills ${cells.killed}; saves ${cells.saved} of the ${meta.unit}; unknown ${cells.unknown}${better ? `; beaten by ${better}` : ''}`;
}

// Runs whose success the stack killed or may have killed, and ungraded runs, for which this is unknown.
function killedRuns(stack) {
  const sure = [], perhaps = [], ungraded = [];
  for (let run = 0; run < meta.runs; run += 1) {
    const row = rowOf(run, stack);
    if (flagged(row, FLAG.killed)) sure.push(run);
    else if (flagged(row, FLAG.killedAtMost)) (columns.doubts[row] & UNLABELLED ? ungraded : perhaps).push(run);
  }
  return { sure, perhaps, ungraded };
}

const KILLED_SHOWN = 10;
function killedTable() {
  const stack = meta.stacks[state.stack], { sure, perhaps, ungraded } = killedRuns(state.stack), all = [...sure, ...perhaps];
  const shown = all.slice(0, KILLED_SHOWN);
  const count = `${sure.length}${perhaps.length ? `, and ${perhaps.length} perhaps` : ''}`;
  const nodes = [el('h2', {}, 'Successes ', el('code', {}, stack.name), ` would have killed (${count})`)];
  const rows = shown.map((run) => {
    const row = rowOf(run, state.stack);
    const where = flagged(row, FLAG.killed) ? `after ${stepOfRow(row)} of ${number('steps', run)} steps` : perhapsWhy(row);
    return el('tr', { class: 'pick', 'data-run': run },
      el('td', { class: 'name' }, meta.ids[run]), el('td', {}, where), reasonCell(row), el('td', { class: 'num' }, '›'));
  });
  // Where nothing could be read, a list would say so of every run.
  const isUnread = sure.length === 0 && perhaps.length > 0 && perhaps.every((run) => columns.doubts[rowOf(run, state.stack)] & UNREAD);
  if (shown.length === 0) nodes.push(el('p', { class: 'quiet' }, whyNone(stack)));
  else if (isUnread) nodes.push(el('p', { class: 'quiet' }, `None for certain; of ${perhaps.length} it is not known, because a rule could not be read on them: ${stack.lacks || 'not_evaluable in rows.csv says what'}.`));
  else {
    nodes.push(el('div', { class: 'scroller' }, el('table', { id: 'killed' },
      el('thead', {}, el('tr', {}, ...['run', 'stopped', 'by'].map((name) => el('th', { scope: 'col' }, name)), el('th', {}))),
      walkable(el('tbody', {}, rows), rows, (at) => openRun(shown[at])))));
  }
  if (all.length > shown.length) nodes.push(el('p', {}, el('button', { onclick: () => go({ tab: 'runs', kind: sure.length ? 'killed' : 'open', run: null }) }, `all ${all.length}`)));
  if (ungraded.length) {
    nodes.push(el('p', { class: 'quiet' }, `It stops ${ungraded.length} more ${ungraded.length === 1 ? 'run that nobody graded: it is' : 'runs that nobody graded: they are'} left out of every rate. `,
      el('button', { onclick: () => go({ tab: 'runs', kind: 'open', run: null }) }, 'show')));
  }
  return nodes;
}
function whyNone(stack) {
  const counts = stack.judged_successes;
  if (stack.group === 'unread') return `It could not be judged on any run: ${stack.lacks}.`;
  if (!columns.outcome.includes(meta.names.outcomes.indexOf('success'))) return 'None of these runs succeeded: there is no success to kill.';
  if (counts === 0) return 'No success of these runs could be judged: a rule could not be read.';
  return `None of the ${counts} successes that could be judged.`;
}
const perhapsWhy = (row) => {
  const doubts = columns.doubts[row];
  if (doubts & UNREAD) return 'a rule could not be read';
  if (doubts & DIVERGED) return 'it left the recorded path';
  return 'not known';
};
// The rule without its exemptions, and its reading; the tooltip has the full text.
function reasonOf(row) {
  const rule = named('rules', 'rule', row), observed = number('observed', row);
  if (rule === null) return '';
  const brief = rule.replace(/\[[^\]]*\]/g, '');
  return observed === null || brief.endsWith(` ${observed}`) ? brief : `${brief}, read ${short(observed)}`;
}
const reasonCell = (row) => el('td', { class: 'mono', ...tipped(named('rules', 'rule', row) ?? '') }, reasonOf(row));

const STACK_COLUMNS = [
  ['stops', 'stops'], ['killed', 'successes killed, %'], ['unknown', 'unknown'], ['failures', 'failures stopped'], ['saved', 'saved'], ['cost', 'per success'],
];
function stackTable() {
  const shown = STACK_COLUMNS.filter(([key]) => !isUngraded() || ['stops', 'unknown', 'saved'].includes(key));
  const choice = choiceAt(state.tolerated), most = Math.max(0.1, ...meta.stacks.map(({ killed }) => Math.min(0.5, killed[3] ?? 0)));
  const best = Math.max(0.05, ...meta.stacks.map(({ useful }) => useful[1] ?? 0));
  const head = el('tr', {}, el('th', { scope: 'col' }, 'stack'), ...shown.flatMap(([key, words]) => {
    const cells = [el('th', { scope: 'col', class: 'num' }, words)];
    if (key === 'killed' || key === 'saved') cells.push(el('th', { scope: 'col', 'aria-hidden': 'true' }));
    return cells;
  }));
  const listed = choice.order.filter((at) => meta.stacks[at].group === 'shown');
  const rows = listed.map((at) => {
    const stack = meta.stacks[at], safe = isSafe(choice, at);
    return el('tr', { class: `pick${choice.ship === at ? ' ship' : ''}${safe ? '' : ' beyond'}`, 'aria-selected': String(state.stack === at), 'data-stack': at },
      el('td', { class: 'name' }, stack.name),
      ...shown.flatMap(([key]) => {
        const cells = [el('td', { class: 'num' }, stack.cells[key])];
        if (key === 'killed') cells.push(el('td', { class: 'v-killed' }, bar(stack.killed, most, 'v-killed')));
        if (key === 'saved') cells.push(el('td', { class: 'v-saved' }, bar(stack.useful, best, 'v-saved')));
        return cells;
      }));
  });
  const body = walkable(el('tbody', {}, rows), rows, (at) => {
    state.stack = listed[at];
    refreshOverview();
    save();
    document.querySelector(`tr[data-stack="${listed[at]}"]`)?.focus();
  });
  const table = el('div', { class: 'scroller' }, el('table', { id: 'stacks' }, el('thead', {}, head), body));
  const letters = [...new Set(listed.flatMap((at) => [...(meta.stacks[at].cells.unknown.match(/[a-z]+$/)?.[0] ?? '')]))].filter((letter) => LETTERS[letter]);
  return letters.length === 0 ? table : [table, el('p', { class: 'quiet' }, 'unknown, of all runs: ', letters.map((letter) => `${letter}: ${LETTERS[letter]}`).join('; '), '.')];
}
// The letters behind the share of runs that are unknown.
const LETTERS = {
  r: 'a rule could not be read', d: 'the stack warned, asked or refused, and what follows is not recorded', u: 'nobody graded the run',
};
// Names between backticks are code.
const inked = (words) => words.split('`').map((part, at) => (at % 2 ? el('code', {}, part) : part));

// The answer in large print, the remarks in small print. A full stop within a number or a name ends no sentence.
function sayVerdict(text) {
  const cut = text.search(/\. (?=[A-Z`])/), first = cut < 0 ? text : text.slice(0, cut + 1);
  replace(document.getElementById('verdict'), inked(first));
  replace(document.getElementById('beside'), inked(cut < 0 ? '' : text.slice(cut + 2)));
}

function overview() {
  const page = el('section', { id: 'overview' });
  page.append(
    ...[appetite()].filter(Boolean),
    ...(isUngraded() ? [] : [el('div', { class: 'panes' }, el('div', { class: 'card', id: 'killed-pane' }), el('div', { class: 'card', id: 'frontier-pane' }))]),
    el('h2', {}, isUngraded() ? 'Stacks' : 'Stacks, the most useful first'), el('div', { id: 'stack-pane' }),
    el('div', { class: 'card', id: 'copy-pane' }),
    el('ul', { class: 'quiet', id: 'below' }));
  return page;
}
function refreshOverview() {
  const choice = choiceAt(state.tolerated);
  sayVerdict(choice.verdict);
  const pane = (id) => document.getElementById(id);
  if (!pane('overview')) return;
  if (pane('killed-pane')) replace(pane('killed-pane'), killedTable());
  if (pane('frontier-pane')) replace(pane('frontier-pane'), el('h2', {}, `${meta.unit[0].toUpperCase()}${meta.unit.slice(1)} saved against successes killed`), frontierPlot(), frontierLegend());
  replace(pane('stack-pane'), stackTable());
  refreshCopy();
  // The letters of `unknown` are explained at the table.
  const notes = [...choice.below, ...meta.notes].filter((line) => !line.startsWith('unknown, of all runs'));
  replace(pane('below'), notes.map((line) => el('li', {}, inked(line))));
}
