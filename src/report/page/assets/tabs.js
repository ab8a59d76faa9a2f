// The other tabs: rules, bounds, budget, the quality of the data.
function plainTable({ columns: names, rows }) {
  return el('div', { class: 'scroller' }, el('table', {},
    el('thead', {}, el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name.replaceAll('_', ' '))))),
    el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((cell) => (typeof cell === 'number'
      ? el('td', { class: 'num' }, short(cell)) : el('td', {}, cell ?? '–'))))))));
}
// The columns of the rules table that people need; rules.csv has the rest.
const OF_RULES = {
  stack: 'stack', rule: 'rule', stops: 'first', first_fire_share: 'of the stops', fires: 'fires', shadowed: 'shadowed', killed: 'kills',
  killed_alone: 'kills alone', stops_lost_without: 'stops lost without', killed_less_without: 'kills spared without',
};
function rulesTable() {
  const places = Object.keys(OF_RULES).map((name) => [name, meta.rules.columns.indexOf(name)]).filter(([, at]) => at >= 0);
  const cell = (name, value) => (name === 'first_fire_share' ? percent(value) : value);
  return plainTable({
    columns: places.map(([name]) => OF_RULES[name]), rows: meta.rules.rows.map((row) => places.map(([name, at]) => cell(name, row[at]))),
  });
}
function figure(name) {
  const source = document.getElementById(`figure-${name}`);
  return source ? el('div', { class: 'figure' }, source.content.cloneNode(true)) : null;
}
const TABS = [
  ['overview', 'What to ship', overview],
  ['runs', 'Runs', runsTab],
  ['rules', 'Rules', () => el('section', {}, el('h2', {}, 'Where each rule acts, and what would change without it'),
    el('p', { class: 'quiet' }, 'first: stops it made; fires: runs on which it would have acted by itself; shadowed: another had stopped the run before; alone: had it been the only rule; without: had the stack not had it.'),
    meta.rules.rows.length ? rulesTable() : el('p', {}, 'No stack here has rules that stand alone.'))],
  ['bounds', 'Bounds', () => el('section', {}, el('h2', {}, 'What the recordings allow'),
    el('p', { class: 'quiet' }, 'A stop is the one intervention a recording tells exactly. What a warning, a question or a refusal would have led to, it does not: the stacks that give one have bounds instead.'), figure('bounds'))],
  ['budget', 'Budget', () => el('section', {}, el('h2', {}, 'Where the cost went, and success by budget'), figure('spending'), figure('stop-steps'), figure('budget'))],
  ['quality', 'Data quality', () => el('section', {}, el('h2', {}, 'What was found in the recordings'),
    meta.quality.length ? el('ul', {}, meta.quality.map((line) => el('li', {}, inked(line)))) : el('p', {}, 'Nothing odd was found while they were read.'),
    el('h3', {}, 'Below the first table'), el('ul', {}, [...choiceAt(state.tolerated).below, ...meta.notes].map((line) => el('li', {}, inked(line)))))],
].filter(([id]) => id !== 'bounds' || document.getElementById('figure-bounds'));
