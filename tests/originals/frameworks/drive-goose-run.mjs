// Goose: the released program, `goose run --max-turns N --max-tool-repetitions N`, once for each prompt of a session, against a
// scripted model on loopback. Every call is one of its shell tool: equal calls are equal commands, an unknown tool keeps its name.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { playback } from './scripted-server.mjs';
import { serve } from './serve.mjs';

const BIN = path.join(import.meta.dirname, 'node_modules/@aaif/goose-binary-linux-x64/bin/goose');
const FLAGS = { max_turns: '--max-turns', max_repetitions: '--max-tool-repetitions' };
const LIMIT = /I've reached the maximum number of actions/, REPEATED = /has exceeded maximum repetitions/;

function program(flags, prompt, first, port, home) {
  const child = spawn(BIN, ['run', '--name', 'one', ...(first ? [] : ['--resume']), '--no-profile', '--with-builtin', 'developer', '--output-format', 'stream-json', ...flags, '--text', prompt], {
    cwd: home, stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH, HOME: home, GOOSE_PATH_ROOT: home, GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_OFF: '1', GOOSE_MODE: 'auto',
      GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o', OPENAI_API_KEY: 'x', OPENAI_HOST: `http://127.0.0.1:${port}`,
    },
  });
  let said = '';
  child.stdout.on('data', (piece) => { said += piece; });
  child.stderr.on('data', (piece) => { said += piece; });
  const timer = setTimeout(() => child.kill('SIGKILL'), 110000);
  return new Promise((done) => child.on('close', (code) => { clearTimeout(timer); done({ said, code }); }));
}

const text = (content) => Array.isArray(content) ? content.map((block) => block.text).join('') : content;

function shell(call, results) {
  if (results.get(call.id)?.invalid_call) return call;
  // The program compares the arguments; the command says what they were.
  const key = Buffer.from(JSON.stringify([call.name, call.arguments])).toString('base64');
  return { ...call, name: 'shell', arguments: { command: `${results.get(call.id)?.is_error ? 'false' : 'true'} # ${key}` } };
}

async function drive({ config, events }) {
  const flags = Object.entries(FLAGS).flatMap(([key, flag]) => config[key] === undefined || config[key] === null ? [] : [`${flag}=${config[key]}`]);
  const results = new Map(events.filter((event) => event.role === 'tool').map((event) => [event.tool_call_id, event]));
  const prompts = events.flatMap((event, at) => event.role === 'user' ? [at] : []);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'goose-home-'));
  const actions = [];
  let requests = 0;
  try {
    for (const [nth, at] of prompts.entries()) {
      const end = prompts[nth + 1] ?? events.length;
      const places = events.flatMap((event, place) => event.role === 'assistant' && place > at && place < end ? [place] : []);
      const script = places.map((place) => ({ content: text(events[place].content), tool_calls: (events[place].tool_calls ?? []).map((call) => shell(call, results)) }));
      // A title is asked for without tools.
      const server = await playback(script, (asked) => (asked.tools ?? []).length > 0 || { content: 'title' });
      const { said, code } = await program(flags, text(events[at].content), nth === 0, server.port, home);
      const made = Math.min(server.count(), places.length);
      const beyond = server.count() > places.length;
      await server.close();
      if (REPEATED.test(said)) throw new Error('a call was refused');
      if (code !== 0 && server.count() === 0) return { actions: [{ at: null, kind: 'error', code: 'refused' }], halted_at: null, model_calls: 0 };
      if (code !== 0) throw new Error(`exit ${code}: ${said.slice(-200)}`);
      requests += made;
      if (LIMIT.test(said)) {
        // It went on past the recording, and was ended there.
        if (beyond) continue;
        actions.push({ at: made === 0 ? at : made < places.length ? places[made] - 1 : end - 1, kind: 'halt', code: 'max_turns', before_request: true });
      }
    }
  } finally { fs.rmSync(home, { recursive: true, force: true }); }
  return { actions, halted_at: actions[0]?.at ?? null, model_calls: requests };
}

await serve(drive, { seconds: 300 });
