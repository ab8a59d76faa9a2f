// Gemini CLI's own client and loop detector, with a scripted chat in place of the model: one prompt per user message.
import { GeminiClient } from '@google/gemini-cli-core';
import { serve, texts } from './serve.mjs';

/** A configuration that answers what the client asks: the given, and nothing else. */
function configuration(config) {
  const given = {
    getMaxSessionTurns: () => config.maxSessionTurns ?? -1,
    getDisableLoopDetection: () => config.disableLoopDetection ?? false,
    getSkipNextSpeakerCheck: () => config.skipNextSpeakerCheck ?? true,
    // Of the judges, the one of loops sees none.
    getBaseLlmClient: () => ({ generateJson: async () => ({ reasoning: '', next_speaker: config.nextSpeaker ?? 'user', unproductive_state_confidence: 0 }) }),
    getContextManagementConfig: () => ({ enabled: false }),
    getSessionId: () => 'session',
    getModel: () => 'gemini-2.5-pro',
    getModelRouterService: () => ({ route: async () => ({ model: 'gemini-2.5-pro' }) }),
    getActiveModel: () => 'gemini-2.5-pro',
    getModelAvailabilityService: () => ({ selectFirstAvailable: (models) => ({ selectedModel: models[0] }), consumeStickyAttempt: () => {} }),
    modelConfigService: { getResolvedConfig: ({ model }) => ({ model, generateContentConfig: {} }) },
    agentHistoryProviderConfig: {},
  };
  // The client takes it as what holds the configuration, too.
  const from = new Proxy(given, { get: (from, name) => (name in from ? from[name] : typeof name === 'string' && /^(get|is|has|reset|set|should)/.test(name) ? () => undefined : undefined) });
  given.config = from;
  return from;
}

async function drive({ config, events }) {
  if (config.stream_chunk) throw new Error('a stream in chunks is not played');
  const actions = [], from = configuration(config);
  // The reply being handed over, and the last event before the request being made.
  let at = -1, before = -1, replies = [];
  const reply = async function* () {
    if (!replies.length) return;
    at = replies.shift();
    const { content, tool_calls: calls = [] } = events[at];
    const functionCalls = calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments }));
    const parts = [...texts(content).filter(Boolean).map((text) => ({ text })), ...functionCalls.map((functionCall) => ({ functionCall }))];
    const value = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    yield { type: 'chunk', value: calls.length ? { ...value, functionCalls } : value };
  };
  const said = [{ role: 'user', parts: [{ text: 'task' }] }, { role: 'model', parts: [{ text: 'and now' }] }];
  const client = new GeminiClient(from);
  from.geminiClient = client;
  client.chat = {
    context: { config: from, toolRegistry: { getTool: () => undefined } }, loopContext: { config: from, toolRegistry: { getTool: () => undefined } }, sendMessageStream: async () => reply(), getHistory: () => said, getLastPromptTokenCount: () => 0,
    addHistory: () => {}, setHistory: () => {}, setTools: () => {}, maybeIncludeSchemaDepthContext: async () => {},
  };
  Object.assign(client, { tryCompressChat: async () => ({ compressionStatus: -1 }), tryMaskToolOutputs: async () => {}, setTools: async () => {}, getContentGeneratorOrFail: () => ({}), updateTelemetryTokenCount: () => {} });
  const detector = client.loopDetector;
  const isTools = () => detector.lastLoopType === 'consecutive_identical_tool_calls';
  const codes = { consecutive_identical_tool_calls: 'CONSECUTIVE_IDENTICAL_TOOL_CALLS', chanting_identical_sentences: 'CONTENT_CHANTING_LOOP' };
  const where = () => ({ at, ...(isTools() ? { before_tools: true } : {}) });
  const recover = client._recoverFromLoop;
  client._recoverFromLoop = function (...given) {
    actions.push({ ...where(), kind: 'inject', code: codes[detector.lastLoopType] });
    return recover.apply(this, given);
  };
  const request = async (parts, prompt) => {
    const first = at;
    for await (const event of client.sendMessageStream(parts, new AbortController().signal, prompt, config.turns)) {
      if (event.type === 'loop_detected') actions.push({ ...where(), kind: 'halt', code: `LoopDetected:${detector.lastLoopType}` });
      if (event.type === 'max_session_turns') {
        actions.push(detector.loopDetected ? { ...where(), kind: 'halt', code: 'MaxSessionTurns:loop_without_turns_left' } : { at: Math.max(before, ...actions.slice(-1).map((last) => after(last.at))), before_request: true, kind: 'halt', code: 'MaxSessionTurns' });
      }
      if (event.type === 'error') throw new Error(event.value.error.message);
    }
    // The client goes on by itself after a text, and ends without a word where no turn is left.
    const goesOn = config.nextSpeaker === 'model' && config.skipNextSpeakerCheck === false && !events[at]?.tool_calls?.length;
    if (goesOn && replies.length && !actions.some((action) => action.kind === 'halt')) actions.push({ at, kind: 'halt', code: 'silent:no_turns_left' });
    if (config.turns === 0 && at === first && !actions.length) actions.push({ at: before, before_request: true, kind: 'halt', code: 'silent:no_turns_left' });
  };
  /** The last result of the reply at `reply`. */
  const after = (reply) => {
    let last = reply;
    for (let next = reply + 1; events[next]?.lane || events[next]?.role === 'tool'; next++) if (!events[next].lane) last = next;
    return last;
  };
  // What a sub-agent says reaches the client as the result of a tool.
  const users = events.flatMap((event, place) => (event.role === 'user' && !event.lane ? [place] : []));
  for (const [nth, user] of users.entries()) {
    const end = users[nth + 1] ?? events.length;
    replies = events.flatMap((event, place) => (event.role === 'assistant' && !event.lane && place > user && place < end ? [place] : []));
    const has = replies.length > 0;
    let parts = texts(events[user].content).map((text) => ({ text }));
    before = user;
    for (let open = has; open && !actions.some((action) => action.kind === 'halt');) {
      const earlier = at;
      await request(parts, `prompt-${nth}`);
      // The request that a prompt came in place of: it was made, and nobody waited for its reply. So it is with feedback.
      if (at === earlier || (!replies.length && actions.at(-1)?.kind === 'inject' && actions.at(-1).at === at)) break;
      const calls = events[at].tool_calls ?? [];
      before = after(at);
      parts = events.slice(at + 1, before + 1).filter((event) => !event.lane).map((result) => ({ functionResponse: { id: result.tool_call_id, name: result.name, response: { output: texts(result.content).join('\n') } } }));
      open = calls.length > 0 && (replies.length > 0 || nth + 1 < users.length);
      // A text ends the prompt for the client; a further reply of the recording was another request.
      if (!calls.length && replies.length) [open, parts] = [true, [{ text: '' }]];
    }
    if (actions.some((action) => action.kind === 'halt')) break;
  }
  const halt = actions.find((action) => action.kind === 'halt');
  return { actions, halted_at: halt ? halt.at : null };
}

await serve(drive, { together: 1 });
