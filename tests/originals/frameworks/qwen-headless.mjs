// The whole program, `-p … --yolo`, against a scripted model on loopback; its tools really run, in a folder of their own.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DIST } from './qwen-package.mjs';
import { playback } from './scripted-server.mjs';
import { texts } from './serve.mjs';

const FLAGS = { maxSessionTurns: '--max-session-turns', maxToolCalls: '--max-tool-calls', maxWallTime: '--max-wall-time' };

async function program(config, prompt, port) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'qwen-home-')), workspace = path.join(home, 'ws');
  fs.mkdirSync(workspace);
  fs.mkdirSync(path.join(home, '.qwen'));
  fs.writeFileSync(path.join(workspace, 'a.txt'), 'alpha\n');
  const model = { ...config.settings };
  for (const key of ['skipLoopDetection', 'maxToolCallsPerTurn']) if (config[key] !== undefined) model[key] = config[key];
  fs.writeFileSync(path.join(home, '.qwen', 'settings.json'), JSON.stringify({ model, privacy: { usageStatisticsEnabled: false } }));
  const flags = Object.entries(FLAGS).filter(([key]) => config[key] !== undefined).map(([key, flag]) => `${flag}=${config[key]}`);
  const child = spawn(process.execPath, [path.join(DIST, 'cli.js'), '-p', prompt, '--yolo', '--output-format', 'json', '--auth-type', 'openai', ...flags], {
    cwd: workspace, stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: home, OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: 'm', QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  });
  let said = '';
  child.stdout.on('data', (piece) => { said += piece; });
  child.stderr.on('data', (piece) => { said += piece; });
  const timer = setTimeout(() => child.kill('SIGKILL'), 280000);
  const code = await new Promise((closed) => child.on('close', closed));
  clearTimeout(timer);
  fs.rmSync(home, { recursive: true, force: true });
  return { said, code };
}

export async function headless({ config, events }) {
  const replies = events.flatMap((event, at) => event.role === 'assistant' && !event.lane ? [at] : []);
  // A sub-agent is known by its prompt, and plays the events of its lane.
  const lanes = new Map();
  for (const event of events.filter((event) => event.lane)) {
    if (event.role === 'user') lanes.set(event.lane, { prompt: JSON.stringify(texts(event.content).join('')).slice(1, -1), replies: [] });
    if (event.role === 'assistant') lanes.get(event.lane).replies.push(event);
  }
  const side = (asked) => [...lanes.values()].find(({ prompt }) => JSON.stringify(asked.messages.find((message) => message.role === 'user')).includes(prompt));
  // The side agent that keeps the memory has fewer tools than the run itself.
  const server = await playback(replies.map((at) => events[at]), (asked) => {
    const lane = side(asked);
    return lane ? lane.replies.shift() ?? { content: 'Done.' } : (asked.tools ?? []).length > 10 || { content: '{}' };
  });
  const { said, code } = await program(config, texts(events[0].content).join('\n'), server.port);
  const calls = server.count();
  await server.close();
  const last = replies[calls - 1];
  const next = calls === 0 ? 0 : calls < replies.length ? replies[calls] - 1 : events.length - 1;
  const found = (pattern) => pattern.exec(said)?.[0];
  const loop = /Loop detection halted the run \((\w+):/.exec(said)?.[1];
  const error = { kind: 'error', code: 'FatalBudgetExceededError' };
  let action = null;
  if (loop) action = { at: last, ...(['chanting_identical_sentences', 'repetitive_thoughts'].includes(loop) ? {} : { before_tools: true }), kind: 'halt', code: `LoopDetected:${loop}` };
  else if (/Reached max session turns/.test(said)) action = { at: next, before_request: true, kind: 'error', code: 'FatalTurnLimitedError' };
  else if (/tool-call budget of/.test(said)) action = { at: last, before_tools: true, ...error, detail: found(/Run aborted: tool-call budget of [^"\n]*?observed \d+\./) };
  else if (/Run aborted: wall-clock budget/.test(said)) action = { at: last, ...error, detail: found(/Run aborted: wall-clock budget of [^"\n]*?\(--max-wall-time\)\./) };
  else if (calls === 0 && code !== 0) action = { at: null, kind: 'error', code: 'refused' };
  else if (code !== 0) throw new Error(`exit ${code}: ${said.slice(-300)}`);
  return { actions: action ? [action] : [], halted_at: action?.at ?? null, model_calls: calls, exit_code: code };
}
