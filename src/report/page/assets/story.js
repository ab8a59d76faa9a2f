// One run, step by step: its steps, the readings of each signal, and where each stack stopped it.
const STEP_KINDS = {
  ok: ['var(--accent)', 'tools ran'], edit: ['var(--saved)', 'changed something'], handover: ['var(--rescued)', 'handed over'],
  check: ['var(--missed)', 'checked'], reply: ['var(--quiet)', 'only said something'], error: ['var(--killed)', 'a tool failed'],
};

const ENDS = {
  self_finish: 'the agent finished', cap: 'cut off by its own cap', timeout: 'ran out of time', error: 'ended by an error', killed: 'ended by a person',
};
const FINALLY = { success: 'the run succeeded', failure: 'the run failed' };

async function openRun(run) { go({ run: meta.ids[run] }); }

function stopsOf(run) {
  const found = [];
  meta.stacks.forEach((stack, at) => {
    const row = rowOf(run, at);
    if (number('moment', row) !== null) found.push({ stack, at, row, paid: stepOfRow(row) });
  });
  return found.sort((a, b) => a.paid - b.paid || a.at - b.at);
}

function strip(run, story, stops) {
  const steps = number('steps', run), width = Math.max(320, document.getElementById('main').clientWidth - 36), chart = 70, top = 26, band = 16, height = top + chart + band + 22;
  const wide = width / Math.max(1, steps), x = (step) => step * wide;
  const drawing = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': `${steps} steps: tokens of each, what it was, and where stacks stopped` });
  const tokens = story ? story.steps.map(({ t }) => t) : [], most = Math.max(1, ...tokens.filter((t) => t !== null));
  const every = Math.max(1, Math.ceil(steps / 1000));
  for (let step = 0; step < steps; step += every) {
    const told = story?.steps[step];
    const [colour] = STEP_KINDS[told?.k ?? 'ok'] ?? STEP_KINDS.ok;
    if (told && told.t !== null) {
      const tall = Math.max(1, (told.t / most) * chart);
      drawing.append(svg('rect', { x: x(step), y: top + chart - tall, width: Math.max(0.6, wide * every - 1), height: tall, fill: 'var(--line)' }));
    }
    drawing.append(svg('rect', { x: x(step), y: top + chart + 2, width: Math.max(0.6, wide * every - 1), height: band, fill: told ? colour : 'var(--line)' }));
  }
  const secured = number('secured', run);
  if (secured !== null) {
    drawing.append(svg('line', { x1: x(secured + 1), x2: x(secured + 1), y1: top, y2: height - 18, stroke: 'var(--saved)', 'stroke-width': 2, 'stroke-dasharray': '4 3' }));
  }
  // Names stand in two rows, that of the chosen stack first; one that would lie on another is left out.
  const rows = [[], []], chosenFirst = [...stops].sort((a, b) => (b.at === state.stack) - (a.at === state.stack));
  for (const { at, paid } of [...chosenFirst].reverse()) {
    const chosen = at === state.stack;
    drawing.append(svg('line', { x1: x(paid), x2: x(paid), y1: top - 4, y2: top + chart + band + 4, stroke: chosen ? 'var(--killed)' : 'var(--quiet)', 'stroke-width': chosen ? 3 : 1.2 }));
  }
  for (const { stack, at, paid } of chosenFirst) {
    const place = x(paid), words = stack.name.slice(0, 18), long = words.length * 7.2;
    const isLeft = place + long > width, from = isLeft ? place - long : place;
    const row = rows.findIndex((named) => named.every((other) => from > other.end || from + long < other.from));
    if (row < 0) continue;
    rows[row].push({ from, end: from + long });
    drawing.append(svg('text', { class: at === state.stack ? 'strong' : '', x: place + (isLeft ? -4 : 4), y: row === 0 ? 10 : 21, 'text-anchor': isLeft ? 'end' : 'start' }, words));
  }
  drawing.append(svg('text', { x: 0, y: height - 2 }, 'step 0'));
  drawing.append(svg('text', { x: width, y: height - 2, 'text-anchor': 'end' }, `${steps} steps${tokens.some((t) => t !== null) ? `; tallest bar ${short(most)} tokens` : '; no tokens recorded by step'}`));
  return drawing;
}

function signalLine({ stack, signal, limit, values }, steps) {
  const width = Math.max(320, document.getElementById('main').clientWidth - 36), height = 54, known = values.filter((value) => value !== null);
  const most = Math.max(limit ?? 0, ...known, 1e-9) * 1.08, least = Math.min(0, ...known);
  const x = (step) => ((step + 0.5) / Math.max(1, steps)) * width, y = (value) => height - 3 - ((value - least) / (most - least)) * (height - 8);
  const drawing = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, width: '100%', height, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${signal}, limit ${limit}` });
  if (limit !== null) drawing.append(svg('line', { x1: 0, x2: width, y1: y(limit), y2: y(limit), stroke: 'var(--killed)', 'stroke-dasharray': '6 4' }));
  let path = '', pen = 'M';
  values.forEach((value, step) => {
    if (value === null) { pen = 'M'; return; }
    path += `${pen}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = 'L';
  });
  drawing.append(svg('path', { d: path, fill: 'none', stroke: 'var(--accent)', 'stroke-width': 2, 'vector-effect': 'non-scaling-stroke' }));
  const last = known.length ? known[known.length - 1] : null;
  return el('div', {}, el('p', { class: 'quiet' }, `${meta.stacks[stack].name}: `, el('code', {}, signal), limit === null ? '' : ` against ${short(limit)}`, `; highest ${short(known.length ? Math.max(...known) : null)}, at the end ${short(last)}`), drawing);
}

function stopsTable(run, stops) {
  if (stops.length === 0) return el('p', { class: 'quiet' }, 'No stack stopped this run.');
  return el('div', { class: 'scroller' }, el('table', { class: 'stops' },
    el('thead', {}, el('tr', {}, ...['stack', 'stopped after', 'rule', 'read', 'limit', 'what it came to'].map((words) => el('th', { scope: 'col' }, words)))),
    el('tbody', {}, stops.map(({ stack, at, row, paid }) => el('tr', { class: 'pick', 'aria-selected': String(at === state.stack), onclick: () => { state.stack = at; go({ run: meta.ids[run] }); } },
      el('td', {}, stack.name), el('td', { class: 'num' }, `step ${paid} of ${number('steps', run)}`), el('td', { class: 'mono' }, named('rules', 'rule', row) ?? '–'),
      el('td', { class: 'num' }, short(number('observed', row))), el('td', { class: 'num' }, short(number('limit', row))), el('td', {}, badge(kindOf(row))))))));
}

function transcript(story, paid) {
  const nodes = [];
  let hidden = 0;
  const flush = () => {
    if (hidden > 0) nodes.push(el('div', { class: 'gap' }, `… ${hidden} ${hidden === 1 ? 'step' : 'steps'} without text in this page`));
    hidden = 0;
  };
  story.steps.forEach((step, at) => {
    if (step.s === null && step.a === null) { hidden += 1; return; }
    flush();
    const here = paid !== null && at === paid - 1;
    nodes.push(el('div', { class: `step${here ? ' here' : ''}`, id: here ? 'evidence' : null, tabindex: here ? -1 : null },
      el('div', { class: 'quiet' }, `step ${at}${here ? ': stopped after this one' : ''}${step.t === null ? '' : `, ${short(step.t)} tokens`}`),
      step.s ? el('pre', {}, step.s) : null,
      ...(step.a ?? []).map(([name, text]) => el('pre', { class: 'mono' }, `→ ${name} ${text}`)),
      ...(step.r ?? []).map(([failed, text]) => el('pre', { class: failed ? 'err' : '' }, `← ${failed ? 'error: ' : ''}${text}`))));
  });
  flush();
  return nodes;
}

function whatFollowed(run, story, row) {
  if (number('moment', row) === null) return null;
  const paid = stepOfRow(row), rest = number('steps', run) - paid, tokens = number('tokens', run), then = number('tokens_at_stop', row);
  const parts = [`${rest} more ${rest === 1 ? 'step' : 'steps'} in the recording`];
  if (tokens !== null && then !== null) parts.push(`${short(tokens - then)} more tokens`);
  if (story) {
    const after = story.steps.slice(paid), errors = after.filter(({ k }) => k === 'error').length, replies = after.filter(({ k }) => k === 'reply').length;
    if (errors) parts.push(`${errors} with a failing tool`);
    if (replies) parts.push(`${replies} that only said something`);
  }
  return el('p', {}, `What followed the stop: ${parts.join(', ')}; ${FINALLY[named('outcomes', 'outcome', run)] ?? 'nobody graded the run'}.`);
}

function markButton(run, row) {
  const kind = kindOf(row), paid = stepOfRow(row);
  if (kind !== 'killed' || paid < 1) return null;
  const id = meta.ids[run], set = marks.get(id) === paid - 1;
  return el('button', { id: 'mark', 'aria-pressed': String(set), title: 'The success already stood at the stop. Marks come out as a labels.csv under Runs.',
    onclick: () => { mark(id, paid - 1); showRun(); } }, set ? 'marked: killed, but fine' : 'killed, but fine');
}

async function runView(run) {
  const story = await storyOf(run), row = rowOf(run, state.stack), stops = stopsOf(run), facts = [];
  for (const [words, value] of [['task', named('tasks', 'task', run)], ['suite', named('suites', 'suite', run)], ['model', named('models', 'model', run)],
    ['tokens', short(number('tokens', run))], ['', named('outcomes', 'outcome', run) ?? 'not graded'], ['', ENDS[named('ends', 'end', run)] ?? null]]) {
    if (value !== null) facts.push(`${words} ${value}`.trim());
  }
  const page = el('section', { id: 'run', 'data-run': run },
    el('div', { class: 'row' }, el('button', { id: 'back', onclick: () => go({ run: null }) }, '‹ back (Esc)'), badge(kindOf(row)), markButton(run, row),
      el('span', { class: 'quiet' }, `under ${meta.stacks[state.stack].name}`)),
    el('h2', {}, meta.ids[run]), el('p', { class: 'quiet' }, facts.join(' · ')), whatFollowed(run, story, row));
  page.append(el('div', { class: 'card' }, strip(run, story, stops), story ? el('div', { class: 'legend' },
    ...Object.entries(STEP_KINDS).filter(([kind]) => story.steps.some(({ k }) => k === kind)).map(([, [colour, words]]) => {
      const sample = el('i');
      sample.style.background = colour;
      return el('span', {}, sample, words);
    }), number('secured', run) === null ? null : el('span', {}, 'dashed: the success was secured')) : null));
  page.append(el('h3', {}, 'Who stops it, and why'), stopsTable(run, stops));
  if (story) {
    const own = story.series.filter(({ stack }) => stack === state.stack), others = story.series.filter(({ stack }) => stack !== state.stack);
    if (own.length) page.append(el('h3', {}, 'Signals and their limits'), el('div', { class: 'card' }, own.map((line) => signalLine(line, number('steps', run)))));
    if (others.length) page.append(el('details', {}, el('summary', {}, `${others.length} signals of other stacks`), others.map((line) => signalLine(line, number('steps', run)))));
    if (story.steps.some(({ s, a }) => s !== null || a !== null)) page.append(el('h3', {}, 'What was said'), ...transcript(story, number('moment', row) === null ? null : stepOfRow(row)));
    else page.append(el('p', { class: 'quiet' }, 'This page holds no texts (--embed-text none).'));
  } else {
    page.append(el('p', { class: 'quiet' }, 'This page holds the steps of the runs that matter most, and this is none of them: ', el('code', {}, `whenstop explain PATH --run ${meta.ids[run]}`), ' tells it.'));
  }
  return page;
}
