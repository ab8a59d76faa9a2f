// The client's own `sendMessageStream`, with its Turn, Config and loop detection; only the chat below it is scripted.
import { configOf, core } from './qwen-package.mjs';

class ScriptedChat {
  constructor() { this.tokens = 0; this.requests = 0; }
  async sendMessageStream() {
    this.requests++;
    const { stream, tokens } = this.next;
    return (async function* (chat) { yield* stream(); if (tokens !== undefined) chat.tokens = tokens; })(this);
  }
  getLastPromptTokenCount() { return this.tokens; }
  getUserContentPushCount() { return 0; }
  getHistory() { return []; }
  getHistoryShallow() { return []; }
  getHistoryLength() { return 0; }
  addHistory() {}
  setHistory() {}
  stripOrphanedUserEntriesFromHistory() { return []; }
  maybeIncludeSchemaDepthContext() {}
  peekLastHistoryEntry() { return undefined; }
}

const pieces = (text, size) => size ? Array.from({ length: Math.ceil(text.length / size) }, (_, nth) => text.slice(nth * size, (nth + 1) * size)) : [text];

function chunk(parts, more = {}) {
  const functionCalls = parts.flatMap((part) => part.functionCall ? [part.functionCall] : []);
  return { type: 'chunk', value: { candidates: [{ content: { role: 'model', parts }, ...more }], ...(functionCalls.length ? { functionCalls } : {}) } };
}

function attempt(reply, size) {
  const thought = (text) => chunk([{ text, thought: true }]);
  const calls = (reply.tool_calls ?? []).map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.arguments } }));
  return [
    ...(reply.reasoning ? pieces(reply.reasoning, size).map(thought) : []),
    ...(reply.native?.thoughts ?? []).map(thought),
    ...(reply.content ? pieces(reply.content, size).map((text) => chunk([{ text }])) : []),
    ...(calls.length ? [chunk(calls)] : []),
  ];
}

const failed = (how) => how === 'fallback'
  ? { type: 'model_fallback', info: { fromModel: 'a', toModel: 'b', statusCode: 500, fallbackIndex: 0 } }
  : { type: 'retry', ...(how === 'continuation' ? { isContinuation: true } : {}) };

const ADVANCE = Symbol('the stream has come to the next event');

export async function client({ config: settings = {}, events }) {
  let config;
  // The program passes these two of its settings with defaults of its own.
  try { config = configOf({ skipLoopDetection: true, maxSessionTurns: -1, ...settings }, ['skipLoopDetection', 'maxSessionTurns', 'maxToolCallsPerTurn', 'sessionTokenLimit']); }
  catch (error) { return { actions: [{ at: null, kind: 'error', code: error.constructor.name, detail: error.message }], halted_at: null }; }
  const asked = new core.LlmClient(config), chat = new ScriptedChat();
  asked.chat = chat;
  asked.getChat = () => chat;
  asked.isInitialized = () => true;
  if (settings.disableForSession) asked.getLoopDetectionService().disableForSession();
  const signal = new AbortController().signal;
  const actions = [];
  let prompt = 0, at = 0;
  while (at < events.length) {
    // One request: the user's message, or the results before it.
    const parts = [];
    let type = 'toolResult';
    if (events[at].role === 'user') {
      prompt++;
      type = events[at].native === 'retry' ? 'retry' : 'userQuery';
      parts.push({ text: events[at++].content });
    } else for (; at < events.length && events[at].role === 'tool'; at++) {
      const { tool_call_id: id, name, content, is_error: bad } = events[at];
      parts.push({ functionResponse: { id, name, response: bad ? { error: content } : { output: content } } });
    }
    if (!parts.length) throw new Error(`event ${at}: no request before it`);
    const before = at - 1;
    let cursor = at, tokens;
    const stream = [];
    if (events[at]?.role === 'assistant') {
      for (; events[at].native?.failed_attempt; at++) stream.push(...attempt(events[at], settings.stream_chunk ?? 0), failed(events[at].native.failed_attempt), ADVANCE);
      stream.push(...attempt(events[at], settings.stream_chunk ?? 0));
      tokens = events[at++].usage?.input;
    }
    stream.push(chunk([], { finishReason: 'STOP' }));
    chat.next = { tokens, stream: function* () { for (const piece of stream) if (piece === ADVANCE) cursor++; else yield piece; } };
    const requests = chat.requests;
    for await (const told of asked.sendMessageStream(parts, signal, `p${prompt}`, { type })) {
      const refused = { at: before, before_request: true, kind: 'halt' };
      const loop = told.value?.loopType;
      if (told.type === 'error') throw new Error(`error event ${JSON.stringify(told.value)}`);
      if (told.type === 'max_session_turns') actions.push({ ...refused, code: 'MaxSessionTurns' });
      if (told.type === 'session_token_limit_exceeded') actions.push({ ...refused, code: 'SessionTokenLimitExceeded', detail: told.value.message });
      if (told.type !== 'loop_detected') continue;
      if (chat.requests === requests) actions.push({ ...refused, code: `LoopDetected:${loop}` });
      else actions.push({ at: cursor, ...(['chanting_identical_sentences', 'repetitive_thoughts'].includes(loop) ? {} : { before_tools: true }), kind: 'halt', code: `LoopDetected:${loop}` });
    }
    if (actions.length) break;
  }
  return { actions, halted_at: actions.at(-1)?.at ?? null };
}
