// Mastra's agent with a scripted model: cases from standard input, one JSON object a line, an answer a line.
import readline from 'node:readline';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
const lines = []; for await (const line of readline.createInterface({ input: process.stdin })) lines.push(line);
// The package prints; the answers have standard output to themselves.
console.log = console.warn = console.error = console.info = console.debug = () => {};

async function drive(config, events) {
  const users = events.flatMap((e, i) => e.role === 'user' ? [i] : []);
  const results = new Map(events.flatMap((e, i) => e.role === 'tool' ? [[e.tool_call_id, [i, e]]] : []));
  const bad = new Set(events.filter(e => e.invalid_call).map(e => e.tool_call_id));
  const names = ['A'];
  for (const e of events) for (const t of e.tool_calls ?? []) if (!bad.has(t.id) && !names.includes(t.name)) names.push(t.name);
  let replies = [], pos = 0, handed = [], executed = [], requests = 0, ended = false;
  const one = async (o) => {
    if (pos >= replies.length) { ended = true; return null; }
    requests++;
    const i = replies[pos++]; handed.push(i);
    return events[i];
  };
  const usage = (e) => { const u = e?.usage; return u ? { inputTokens: u.input, outputTokens: u.output, totalTokens: u.input + u.output } : { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }; };
  const model = {
    specificationVersion: 'v2', provider: 'fake', modelId: 'fake', supportedUrls: {},
    async doGenerate(o) {
      const e = await one(o);
      if (!e) return { content: [{ type: 'text', text: 'tape' }], finishReason: 'stop', usage: usage(null), warnings: [] };
      const content = [];
      if (e.content) content.push({ type: 'text', text: e.content });
      for (const t of e.tool_calls ?? []) content.push({ type: 'tool-call', toolCallId: t.id, toolName: t.name, input: JSON.stringify(t.arguments) });
      return { content, finishReason: e.finish_reason ?? (e.tool_calls ? 'tool-calls' : 'stop'), usage: usage(e), warnings: [] };
    },
    async doStream() { throw new Error('not scripted'); },
  };
  const mk = (name) => {
    const t = { id: name, description: name, inputSchema: z.object({ x: z.any().optional(), answer: z.any().optional() }) };
    if (!(config.client_tools ?? []).includes(name)) t.execute = async (a) => {
      const last = events[handed[handed.length - 1]];
      const c = last.tool_calls.find(t => t.name === name && (t.arguments.x ?? null) === (a.x ?? null) && (t.arguments.answer ?? null) === (a.answer ?? null) && results.has(t.id) && !executed.includes(results.get(t.id)[0]));
      const [i, r] = results.get(c.id); executed.push(i);
      if (r.is_error) throw new Error(r.content);
      return r.content;
    };
    if ((config.approval_tools ?? []).includes(name)) t.requireApproval = true;
    return createTool(t);
  };
  const tools = Object.fromEntries(names.map(n => [n, mk(n)]));
  let fired = [], completes = 0, hook = null;
  const cname = (tc) => tc.toolName ?? tc.payload?.toolName;
  const cond = (c) => {
    let f;
    if ('has_tool_call' in c) f = ({ steps }) => (steps[steps.length - 1].toolCalls ?? []).some(tc => cname(tc) === c.has_tool_call);
    else if ('step_count_is' in c) f = ({ steps }) => steps.length === c.step_count_is;
    else if ('steps_at_least' in c) f = ({ steps }) => steps.length >= c.steps_at_least;
    else if ('text_contains' in c) f = ({ steps }) => (steps[steps.length - 1].text ?? '').includes(c.text_contains);
    else if ('tokens_at_least' in c) f = ({ steps }) => steps.reduce((s, x) => s + (x.usage?.totalTokens ?? 0), 0) >= c.tokens_at_least;
    return (o) => { const v = f(o); if (v) fired.push(JSON.stringify(c)); return v; };
  };
  const options = { modelSettings: { maxRetries: 0 } };
  if ('maxSteps' in config) options.maxSteps = config.maxSteps;
  if ('stopWhen' in config) options.stopWhen = Array.isArray(config.stopWhen) ? config.stopWhen.map(cond) : config.stopWhen === null ? null : cond(config.stopWhen);
  if (config.toolCallConcurrency) options.toolCallConcurrency = config.toolCallConcurrency;
  if (config.on_iteration) options.onIterationComplete = async (c) => {
    const o = config.on_iteration;
    if (o.stop_at && c.iteration >= o.stop_at) { hook = 'stop'; return { continue: false }; }
    if (o.go_on && completes < o.go_on) { if (c.isFinal) { completes++; return { continue: true }; } }
    return undefined;
  };
  const agentOptions = {};
  if (config.default_options) agentOptions.defaultOptions = { maxSteps: config.default_options.maxSteps };
  const actions = [], reasons = [];
  const agent = new Agent({ id: 't', name: 't', instructions: 'sys', model, tools, ...agentOptions });
  let history = [];
  for (let n = 0; n < users.length; n++) {
    const u = users[n], nxt = users[n + 1] ?? events.length;
    replies = events.flatMap((e, i) => e.role === 'assistant' && i > u && i < nxt ? [i] : []); pos = 0; ended = false; fired = []; completes = 0; hook = null;
    const h0 = handed.length;
    history.push({ role: 'user', content: events[u].content });
    let r, act = null;
    try { r = await agent.generate(history, options); }
    catch (ex) {
      act = { at: handed.length > h0 ? Math.max(handed[handed.length - 1], ...executed) : u, kind: 'error', code: ex.name, detail: String(ex.message).split('\n')[0] };
      if (handed.length === h0) act.before_request = true;
      actions.push(act); reasons.push(null); continue;
    }
    if (ended) { continue; }
    const reason = r.finishReason; reasons.push(reason ?? null);
    const li = handed[handed.length - 1], last = events[li];
    let end = li; while (end + 1 < events.length && events[end + 1].role === 'tool') end++;
    const ran = executed.some(i => i > li);
    if (reason === 'suspended' || r.suspendPayload) act = { at: li, kind: 'ask', code: 'tool-call-approval', ...(ran ? {} : { before_tools: true }) };
    else if (last.tool_calls) {
      const noexec = last.tool_calls.some(t => (config.client_tools ?? []).includes(t.name));
      const steps = handed.length - h0;
      const cap = (config.maxSteps && typeof config.maxSteps === 'number') ? config.maxSteps : config.default_options?.maxSteps && !('maxSteps' in config) ? config.default_options.maxSteps : ('stopWhen' in config && config.stopWhen !== null) ? null : 5;
      if (noexec) act = { at: ran ? Math.max(...executed.filter(i => i > li)) : li, kind: 'halt', code: 'tool calls returned to the caller', ...(ran ? {} : { before_tools: true }) };
      else if (cap === steps) act = { at: end, kind: 'halt', code: 'maxSteps' };
      else if (fired.length) act = { at: end, kind: 'halt', code: 'stopWhen', detail: fired[0] };
      else if (hook === 'stop') act = { at: end, kind: 'halt', code: 'onIterationComplete' };
      else act = { at: ran ? end : li, kind: 'halt', code: `finishReason ${last.finish_reason ?? 'tool-calls'}`, ...(ran ? {} : { before_tools: true }) };
    } else if (['length', 'content-filter', 'error'].includes(last.finish_reason)) act = { at: li, kind: 'halt', code: `finishReason ${last.finish_reason}` };
    else if (last.finish_reason && last.finish_reason !== 'stop') {
      const steps = handed.length - h0;
      act = { at: li, kind: 'halt', code: fired.length ? 'stopWhen' : 'maxSteps', ...(fired.length ? { detail: fired[0] } : {}) };
    }
    if (act) actions.push(act);
    history = [...history, ...(r.response?.messages ?? [])];
  }
  return { actions, halted_at: actions.find(a => a.kind !== 'ask')?.at ?? null, model_calls: requests, finish_reasons: reasons };
}
for (const line of lines) {
  const { id, input } = JSON.parse(line);
  const late = new Promise((_, no) => setTimeout(() => no(new Error('no answer after 20 s')), 20000).unref());
  let answer;
  try { answer = { id, expected: await Promise.race([drive(input.config, input.events), late]) }; } catch (error) { answer = { id, failed: String(error) }; }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0);
