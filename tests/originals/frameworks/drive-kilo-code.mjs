// Kilo Code's shipped program as a server on loopback, `kilo serve`, with a scripted model; and the class behind the terminal's cost
// alert, cut unchanged from the program and fed as its own wiring feeds it (the terminal itself is not run).
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { closed, served } from './opencode-server.mjs';
import { serve } from './serve.mjs';

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), 'node_modules');
const program = {
  path: path.join(modules, '@kilocode', `cli-${process.platform}-${process.arch}`, 'bin', 'kilo'), name: 'kilo', folder: 'kilo', agent: 'code',
  environment: { KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', KILO_TELEMETRY_LEVEL: 'off' },
};

/** The class that holds the limit and what was spent; its name changes with every release. */
function costClass() {
  const all = fs.readFileSync(program.path), inside = all.indexOf('updateMessageCost(H');
  const from = all.lastIndexOf('class ', inside < 0 ? all.indexOf('updateMessageCost(') : inside);
  const text = all.subarray(from, from + 8000).toString('utf8');
  let depth = 0, end = text.indexOf('{');
  do { depth += { '{': 1, '}': -1 }[text[end]] ?? 0; end++; } while (depth > 0 && end < text.length);
  return new Function(`return (${text.slice(0, end)})`)();
}

let Alert;
/** A message is updated when it is made and when its step is paid; the first status other than idle arms the question again. */
function costAlert({ config, events }) {
  Alert ??= costClass();
  const alert = new Alert(), replies = config.replies ?? [], actions = [];
  let spent = 0, asked = 0, busy = false, halted = null;
  if ('cost_alert' in config) alert.setLimit(config.cost_alert);
  for (let at = 0; at < events.length && halted === null; at++) {
    const event = events[at];
    if (event.lane) throw new Error('the terminal watches one session');
    if (event.native?.cost_alert !== undefined) alert.setLimit(event.native.cost_alert);
    if (event.role === 'user' && !busy) { busy = true; alert.rearm('s'); }
    if (event.role !== 'assistant') continue;
    const updated = (cost) => {
      alert.updateMessageCost('s', `m${at}`, 'assistant', cost);
      if (alert.limit === undefined) return;
      alert.setSessionCost('s', spent);
      const due = alert.check('s');
      if (!due) return;
      const reply = replies[asked++] ?? 'dismiss';
      actions.push({ at, kind: 'ask', code: 'cost_alert', detail: `${Alert.formatCost(due.limit)} ${Alert.formatCost(due.cost)}` });
      if (reply !== 'dismiss') alert.resolve('s', reply, due.limit);
      if (reply === 'stop') { actions.push({ at, kind: 'halt', code: 'cost_alert stop' }); halted = at; }
    };
    updated(0);
    spent += event.cost_usd ?? 0;
    if (halted === null) updated(event.cost_usd ?? 0);
    if (!events[at + 1] || events[at + 1].role === 'user') busy = false;
  }
  return { actions, halted_at: halted };
}

await serve((input) => (input.drive === 'tui_class' ? costAlert(input) : served(program, input)), { seconds: 300, close: closed });
