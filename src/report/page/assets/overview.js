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

// The figure of frontier.svg, without its title. Over each mark and each line of the legend lies something to point at.
function frontierDrawing({ name, window: shown, stacks }) {
  const drawing = document.getElementById(`figure-${name}`).content.cloneNode(true).firstElementChild;
  for (const size of ['width', 'height']) drawing.removeAttribute(size);
  for (const [attribute, value] of Object.entries({ viewBox: shown.join(' '), class: name, role: 'group', 'aria-label': `${meta.unit} saved against successes killed, a mark for each stack` })) drawing.setAttribute(attribute, value);
  for (const { stack, mark: [x, y], line: [left, top, right, bottom] } of stacks) {
    const choose = () => { state.stack = stack; refreshOverview(); save(); };
    drawing.append(
      svg('rect', { class: 'pointed', 'data-mark': stack, x: left, y: top, width: right - left, height: bottom - top, rx: 4, onclick: choose, ...tipped(sentence(stack)) }),
      svg('circle', { class: 'pointed', 'data-mark': stack, cx: x, cy: y, r: 12, tabindex: 0, role: 'button', 'aria-label': sentence(stack),
        onclick: choose, onkeydown: (event) => { if (event.key === 'Enter') choose(); }, ...tipped(sentence(stack)) }));
  }
  return drawing;
}
function frontierPane() {
  const isEmpty = meta.frontier.every(({ stacks }) => stacks.length === 0);
  return el('div', { class: 'card', id: 'frontier-pane' },
    el('h2', {}, `${meta.unit[0].toUpperCase()}${meta.unit.slice(1)} saved against successes killed`),
    isEmpty ? el('p', { class: 'quiet' }, 'No stack can be placed: see below why.') : el('div', { class: 'drawings' }, meta.frontier.map(frontierDrawing)),
    el('p', { class: 'quiet', id: 'drawn-for' }));
}
function refreshFrontier() {
  for (const node of document.querySelectorAll('[data-mark]')) {
    const chosen = Number(node.dataset.mark) === state.stack;
    node.classList.toggle('chosen', chosen);
    if (node.hasAttribute('tabindex')) node.setAttribute('aria-pressed', String(chosen));
  }
  const moved = choiceAt(state.tolerated).from !== meta.max_killed;
  replace(document.getElementById('drawn-for'), moved ? `Drawn for the ${percent(meta.max_killed)} that were asked for; the answer above and the table below are for ${percent(state.tolerated)}.` : '');
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
const hasBar = (key) => !isUngraded() && (key === 'killed' || key === 'saved');
function stackTable() {
  const shown = STACK_COLUMNS.filter(([key]) => !isUngraded() || ['stops', 'unknown', 'saved'].includes(key));
  const choice = choiceAt(state.tolerated), most = Math.max(0.1, ...meta.stacks.map(({ killed }) => Math.min(0.5, killed[3] ?? 0)));
  const best = Math.max(0.05, ...meta.stacks.map(({ useful }) => useful[1] ?? 0));
  const head = el('tr', {}, el('th', { scope: 'col' }, 'stack'), ...shown.flatMap(([key, words]) => {
    const cells = [el('th', { scope: 'col', class: 'num' }, words)];
    if (hasBar(key)) cells.push(el('th', { scope: 'col', 'aria-hidden': 'true' }));
    return cells;
  }));
  const listed = choice.order.filter((at) => meta.stacks[at].group === 'shown');
  const rows = listed.map((at) => {
    const stack = meta.stacks[at], safe = isSafe(choice, at);
    return el('tr', { class: `pick${choice.ship === at ? ' ship' : ''}${safe ? '' : ' beyond'}`, 'aria-selected': String(state.stack === at), 'data-stack': at },
      el('td', { class: 'name' }, stack.name),
      ...shown.flatMap(([key]) => {
        const cells = [el('td', { class: 'num' }, stack.cells[key])];
        if (hasBar(key)) cells.push(el('td', {}, key === 'killed' ? bar(stack.killed, most, 'v-killed') : bar(stack.useful, best, 'v-saved')));
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
    ...(isUngraded() ? [] : [frontierPane(), el('div', { class: 'card', id: 'killed-pane' })]),
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
  if (pane('frontier-pane')) refreshFrontier();
  replace(pane('stack-pane'), stackTable());
  refreshCopy();
  // The letters of `unknown` are explained at the table.
  const notes = [...choice.below, ...meta.notes].filter((line) => !line.startsWith('unknown, of all runs'));
  replace(pane('below'), notes.map((line) => el('li', {}, inked(line))));
}
