// A program of the OpenCode family as it is shipped, a server on loopback: its model is scripted, its tools really run in a folder
// of their own, and its questions are answered here. A sub-agent (the tool `task`) plays the events of a lane of its own; it is
// known by its prompt.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { playback } from './scripted-server.mjs';
import { texts } from './serve.mjs';

const sleep = (time) => new Promise((over) => setTimeout(over, time));
const freePort = () => new Promise((found) => { const server = net.createServer().listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => found(port)); }); });
const plain = (content) => texts(content).join('\n');

/** The replies of one lane, and where the requests for them stand. */
class Lane {
  constructor(events, name) {
    this.places = events.flatMap((event, place) => (event.lane === name ? [place] : []));
    this.events = events;
    this.prompt = this.places.filter((place) => events[place].role === 'user').map((place) => plain(events[place].content))[0];
    this.start(this.places[0], this.places.at(-1) + 1);
  }

  start(from, end) {
    this.open = this.places.filter((place) => place >= from && place < end && this.events[place].role === 'assistant');
    this.end = end;
  }

  reply() {
    this.before = (this.open[0] ?? this.end) - 1;
    if (!this.open.length) return { content: 'All done.' };
    this.at = this.open.shift();
    const { content, reasoning, tool_calls, usage } = this.events[this.at];
    const spent = usage && { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output };
    return { content, reasoning, tool_calls, ...(spent ? { usage: spent } : {}) };
  }
}

const FILES = ['a.txt', 'b.txt', 'c.txt', 'src/app.py', 'src/app.py ', 'src/util.py'];

/** The program, running, with a model for one case at a time: `answer` is what the model says to a request. */
class Server {
  static async start(program) {
    const server = new Server();
    server.program = program;
    server.folders = new Map();
    server.model = await playback([], (asked) => server.answer(asked));
    server.home = fs.mkdtempSync(path.join(os.tmpdir(), `${program.name}-`));
    const settings = path.join(server.home, '.config', program.folder);
    fs.mkdirSync(settings, { recursive: true });
    const provider = { stub: { npm: '@ai-sdk/openai-compatible', name: 'stub', options: { baseURL: `http://127.0.0.1:${server.model.port}/v1`, apiKey: 'x' }, models: { m: modelOf({}) } } };
    fs.writeFileSync(path.join(settings, `${program.folder}.json`), JSON.stringify({ model: 'stub/m', small_model: 'stub/m', share: 'disabled', autoupdate: false, snapshot: false, provider }));
    server.port = await freePort();
    const environment = { PATH: process.env.PATH, HOME: server.home, ...program.environment };
    server.child = spawn(program.path, ['serve', '--port', String(server.port), '--pure'], { cwd: server.home, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [server.child.stdout, server.child.stderr]) stream.on('data', (piece) => { said += piece; });
    server.ended = new Promise((over) => server.child.on('close', over));
    for (let turn = 0; turn < 4800 && !/listening/.test(said) && server.child.exitCode === null; turn++) await sleep(50);
    if (!/listening/.test(said)) throw new Error(`the server did not start: ${said.slice(-300)}`);
    return server;
  }

  /** A project with what the case sets in its file; what is allowed for good is so in a project, which then has no other case. */
  project(config) {
    const { folder, agent } = this.program, limits = { permission: config.permission ?? {} };
    if (config.steps !== undefined && config.steps !== null) limits.agent = { [agent]: { [config.steps_key ?? 'steps']: config.steps } };
    if (config.experimental) limits.experimental = config.experimental;
    if (config.context_limit) limits.provider = { stub: { models: { m: modelOf(config) } } };
    const text = JSON.stringify(limits);
    this.folder = config.reply === 'always' ? undefined : this.folders.get(text);
    if (this.folder) return;
    const project = fs.mkdtempSync(path.join(this.home, 'project-'));
    fs.mkdirSync(path.join(project, 'src'));
    for (const file of FILES) fs.writeFileSync(path.join(project, file), `${file}\n`);
    fs.writeFileSync(path.join(project, `${folder}.json`), text);
    this.folder = project;
    if (config.reply !== 'always') this.folders.set(text, project);
  }

  async call(method, place, body, seconds = 120) {
    const answer = await fetch(`http://127.0.0.1:${this.port}${place}?directory=${encodeURIComponent(this.folder)}`, {
      method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body), signal: AbortSignal.timeout(1000 * seconds),
    });
    const text = await answer.text();
    try { return [answer.status, JSON.parse(text)]; } catch { return [answer.status, text]; }
  }

  async close() {
    this.child.kill('SIGTERM');
    await Promise.race([this.ended, sleep(3000).then(() => this.child.kill('SIGKILL'))]);
    await this.model.close();
    fs.rmSync(this.home, { recursive: true, force: true });
  }
}

const modelOf = (config) => ({ name: 'm', tool_call: true, limit: { context: config.context_limit ?? 200000, output: 8000 }, cost: { input: 1, output: 2 } });

const STEPS = /MAXIMUM STEPS REACHED/;

function ended(error) {
  const text = error.data?.message ?? error.name;
  if (/invalid-argument failures/.test(text)) return 'malformed_tool_calls';
  if (/Compaction exhausted/.test(text)) return 'compaction_exhausted';
  if (/specified a rule/.test(text)) return 'permission denied';
  return /reject/i.test(text) ? 'permission rejected' : `${error.name}: ${text}`;
}

let running;

/**
 * `program`: path, name, folder of its settings, agent that works by default, environment, and whether a run goes on after a halt.
 * One server answers all cases, each in a conversation of its own.
 */
export async function served(program, { config, events }) {
  running ??= await Server.start(program);
  return played(running, config, events);
}

export const closed = () => running?.close();

async function played(server, config, events) {
  const main = new Lane(events, undefined);
  const sides = [...new Set(events.flatMap((event) => event.lane ?? []))].map((name) => new Lane(events, name));
  const actions = [];
  let compactions = 0;
  server.answer = (asked) => {
    const first = asked.messages.find((message) => message.role === 'user'), text = JSON.stringify(first?.content ?? '');
    if ((asked.tools ?? []).length > 5) {
      const side = sides.find((lane) => text.includes(JSON.stringify(lane.prompt).slice(1, -1)));
      if (side) return side.reply();
      const reply = main.reply();
      if (STEPS.test(JSON.stringify(asked.messages.at(-1)))) actions.push({ at: main.before, before_request: true, kind: 'inject', code: 'max_steps_prompt' });
      return reply;
    }
    const all = JSON.stringify(asked.messages);
    if (!/summar|anchored|continu/i.test(all.slice(0, 20000)) || /title/i.test(JSON.stringify(asked.messages[0]).slice(0, 600))) return { content: 'A title' };
    compactions++;
    return { content: 'Summary of the work so far.', usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } };
  };
  server.project(config);
  const [status, session] = await server.call('POST', '/session', { title: 'asked' });
  if (status !== 200) return { actions: [{ at: null, kind: 'error', code: session.name ?? 'refused' }], halted_at: null };
  const users = main.places.filter((at) => events[at].role === 'user');
  for (const [nth, user] of users.entries()) {
    main.start(user + 1, users[nth + 1] ?? events.length);
    if (!main.open.length) continue;
    const parts = texts(events[user].content).map((text) => ({ type: 'text', text }));
    const error = await prompted(server, session.id, parts, config.reply ?? 'once', (question, call) => {
      if (question.permission === 'doom_loop') actions.push({ at: main.at, kind: 'ask', code: 'doom_loop', tool_call_id: call });
    });
    if (error) actions.push({ at: main.at, kind: 'halt', code: ended(error) });
    else if (main.open.length) actions.push({ at: main.at, kind: 'halt', code: config.reply === 'reject' && actions.some((action) => action.kind === 'ask') ? 'permission rejected' : 'stopped' });
    if (actions.at(-1)?.kind === 'halt' && !server.program.resumes) break;
  }
  return { actions, halted_at: actions.find((action) => action.kind === 'halt')?.at ?? null, ...(config.context_limit ? { compactions } : {}) };
}

/** One prompt until the program is idle: its questions are answered, those of the session itself told. The error that ended it. */
async function prompted(server, session, parts, reply, tell) {
  let over = false;
  const running = server.call('POST', `/session/${session}/message`, { parts }, 280).finally(() => { over = true; });
  running.catch(() => {});
  const answered = new Set();
  while (!over) {
    await sleep(150);
    const [, questions] = await server.call('GET', '/permission').catch(() => [0, []]);
    for (const question of Array.isArray(questions) ? questions : []) {
      if (answered.has(question.id)) continue;
      answered.add(question.id);
      if (question.sessionID === session) {
        const [, messages] = await server.call('GET', `/session/${session}/message`);
        const last = messages.filter((message) => message.info.role === 'assistant').at(-1);
        tell(question, last?.parts.filter((part) => part.type === 'tool').at(-1)?.callID);
      }
      await server.call('POST', `/permission/${question.id}/reply`, { reply: question.permission === 'doom_loop' ? reply : 'once' });
    }
  }
  const [status, answer] = await running;
  if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(answer).slice(0, 200)}`);
  return answer.info?.error;
}
