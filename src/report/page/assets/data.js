// The page's data: names as JSON, numbers as columns, texts decompressed on first use.
const meta = JSON.parse(document.getElementById('meta').textContent);

async function inflate(id) {
  const binary = atob(document.getElementById(id).textContent.trim());
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
const columns = {};

async function loadColumns() {
  const buffer = await inflate('columns');
  for (const { name, type, at, length } of meta.columns) columns[name] = new TYPES[type](buffer, at, length);
}

// A number of a column, or null if it is missing (all bits set, or NaN).
function number(name, at) {
  const column = columns[name], value = column[at];
  if (column instanceof Float64Array) return Number.isNaN(value) ? null : value;
  return value === 2 ** (8 * column.BYTES_PER_ELEMENT) - 1 ? null : value;
}

function named(dictionary, name, at) {
  const code = number(name, at);
  return code === null ? null : meta.names[dictionary][code];
}

// Rows are ordered by run, and within a run by stack.
const rowOf = (run, stack) => run * meta.stacks.length + stack;
const FLAG = { stopped: 1, stoppedAtMost: 2, killed: 4, killedAtMost: 8, trueStop: 16, trueStopAtMost: 32 };
// Bits of the column of doubts.
const UNREAD = 1, DIVERGED = 2, UNLABELLED = 4;
const flagged = (row, flag) => (columns.flags[row] & flag) !== 0;

// The result of a row as a word of the page.
const KINDS = {
  killed: 'success killed', rescued: 'success rescued', saved: 'failure stopped', trimmed: 'stopped after success',
  missed: 'failure let run', passed: 'success let be', open: 'not known',
};
const KIND_CLASS = {
  killed: 'v-killed', rescued: 'v-rescued', saved: 'v-saved', trimmed: 'v-saved', missed: 'v-missed', passed: 'v-kept', open: 'v-open',
};
const KIND_OF = {
  killed_verified: 'killed', killed_unverified: 'killed', good_trim: 'trimmed', true_stop: 'saved', rescued: 'rescued',
  missed: 'missed', lost_success: 'missed', let_be: 'passed', unlabelled: 'open',
};
function kindOf(row) {
  if (flagged(row, FLAG.killed)) return 'killed';
  if (flagged(row, FLAG.killedAtMost) || flagged(row, FLAG.stoppedAtMost) !== flagged(row, FLAG.stopped)) return 'open';
  return KIND_OF[named('verdicts', 'verdict', row)] ?? 'open';
}

let stories = null;
async function storyOf(run) {
  if (!meta.told.includes(run)) return null;
  if (stories === null) stories = JSON.parse(new TextDecoder().decode(await inflate('stories')));
  return stories[meta.told.indexOf(run)] ?? null;
}

// Formats numbers for people.
function short(value) {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toFixed(1)} G`;
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}
function percent(share) {
  if (share === null || share === undefined) return '–';
  const value = share * 100;
  return `${Math.abs(value) < 9.95 ? value.toFixed(1) : value.toFixed(0)} %`;
}
const stepOfRow = (row) => number('paid', row);
