// Cline's own session: its `SessionRuntime` with the agent runtime, the loop and the mistake tracker of the package; the model is
// a registered handler that plays the recording. A call of `spawn_agent` runs the package's own sub-agent on the events of the
// lane `side:<id of the call>`.
import { createAgentRuntime, createDelegatedAgent, createDelegatedAgentConfigProvider, createSpawnAgentTool, Llms } from '@cline/core';
import { serve, texts } from './serve.mjs';

const CONNECTION = { providerId: 'scripted', modelId: 'main', apiKey: 'x' };
const delegated = createDelegatedAgent({ kind: 'subagent', prompt: '', tools: [], configProvider: createDelegatedAgentConfigProvider(CONNECTION) });
const SessionRuntime = delegated.constructor;

/** The answers of the host when it is asked. */
const HOST = {
  continue: () => ({ action: 'continue' }),
  continue_with_guidance: () => ({ action: 'continue', guidance: 'try another way' }),
  stop: () => ({ action: 'stop', reason: 'enough' }),
  throws: () => { throw new Error('nobody is there'); },
};

/** The replies of one lane, handed over in order; `at` is the place of the latest. */
class Script {
  constructor(events, lane) {
    this.events = events;
    this.places = events.flatMap((event, place) => (event.lane === lane ? [place] : []));
    this.at = -1;
    this.open = [];
  }

  /** Where the replies between this prompt and the next are. */
  start(user) {
    const end = this.places.find((place) => place > user && this.events[place].role === 'user') ?? this.events.length;
    this.open = this.places.filter((place) => place > user && place < end && this.events[place].role === 'assistant');
  }

  async *reply() {
    if (!this.open.length) throw new Error('the recording has no further reply');
    this.at = this.open.shift();
    const { content, tool_calls: calls = [] } = this.events[this.at];
    for (const text of texts(content)) if (text) yield { type: 'text', id: 'r', text };
    for (const call of calls) yield { type: 'tool_calls', id: 'r', tool_call: { call_id: call.id, function: { id: call.id, name: call.name, arguments: call.arguments ?? {} } } };
  }

  /** The result of a call, and the place of the last result that belongs to the latest reply. */
  result(id) { return this.events.find((event) => event.role === 'tool' && event.tool_call_id === id); }
  afterTools() { return this.places.filter((place) => this.events[place].role === 'tool' && place > this.at && !this.places.some((other) => other > this.at && other < place && this.events[other].role !== 'tool')).at(-1) ?? this.at; }
}

let scripts = {};
Llms.registerHandler('scripted', ({ modelId }) => ({
  createMessage: () => scripts[modelId].reply(), getMessages: () => [], getModel: () => ({ id: modelId, info: { id: modelId } }),
}));

function tools(events) {
  const made = (name) => ({
    name, description: name, inputSchema: { type: 'object' },
    execute: async (_, { toolCallId }) => {
      const result = Object.values(scripts).map((script) => script.result(toolCallId)).find(Boolean);
      if (!result) return 'ok';
      if (result.is_error) throw new Error(texts(result.content).join('\n') || 'failed');
      return Array.isArray(result.content) ? result.content : texts(result.content).join('\n');
    },
  });
  const unknown = new Set(events.filter((event) => event.invalid_call).map((event) => event.tool_call_id));
  const names = new Set(events.flatMap((event) => event.tool_calls ?? []).filter((call) => !unknown.has(call.id)).map((call) => call.name));
  names.delete('spawn_agent');
  return [...names].map(made);
}

/** Whatever the call runs, the sub-agent of its lane takes part with the settings a spawned agent has. */
function spawn(own, model) {
  const tool = createSpawnAgentTool({ configProvider: createDelegatedAgentConfigProvider(CONNECTION), subAgentTools: own });
  return { ...tool, execute: async (_, context) => {
    const lane = `side:${context.toolCallId}`, script = new Script(model.events, lane);
    if (!script.places.length) return 'ok';
    scripts[lane] = script;
    const user = script.places.find((place) => model.events[place].role === 'user') ?? -1;
    script.start(user);
    const configProvider = createDelegatedAgentConfigProvider({ ...CONNECTION, modelId: lane });
    const task = user < 0 ? 'look' : texts(model.events[user].content).join('\n');
    return createSpawnAgentTool({ configProvider, subAgentTools: own }).execute({ systemPrompt: 'You help.', task }, context);
  } };
}

async function drive({ config, events }) {
  const actions = [], script = new Script(events, undefined), own = tools(events);
  scripts = { main: script };
  const answer = HOST[config.onConsecutiveMistakeLimitReached];
  // The calls that were found hard, in the order in which the mistake tracker hears of them; then where it is.
  const hard = [];
  let where = {};
  const session = new SessionRuntime({
    ...CONNECTION, systemPrompt: 'You work.', tools: [...own, spawn(own, script)], execution: config.execution,
    onConsecutiveMistakeLimitReached: answer && (() => { actions.push({ ...where, kind: 'ask', code: 'onConsecutiveMistakeLimitReached' }); return answer(); }),
  }, { createAgentRuntimeImpl: (made) => {
    const runtime = createAgentRuntime(made), abort = runtime.abort.bind(runtime);
    runtime.abort = (reason) => { actions.push({ ...where, kind: 'halt', code: 'AgentRuntime.abort' }); abort(reason); };
    return runtime;
  } });
  const { loopTracker, mistakeTracker } = session;
  const inspect = loopTracker.inspect.bind(loopTracker), record = mistakeTracker.record.bind(mistakeTracker);
  let inspected = 0, reply = -1;
  loopTracker.inspect = (call) => {
    const verdict = inspect(call);
    if (reply !== script.at) [reply, inspected] = [script.at, 0];
    // Calls are looked at in their order; a reply may have the same one twice.
    const place = { at: script.at, before_tools: true, tool_call_id: events[script.at].tool_calls[inspected++].id };
    if (verdict.kind === 'soft') actions.push({ ...place, kind: 'warn', code: 'LoopDetectionTracker:soft' });
    if (verdict.kind === 'hard') hard.push(place);
    return verdict;
  };
  mistakeTracker.record = async (mistake) => {
    where = mistake.forceAtLimit ? hard.shift() : { at: script.afterTools() };
    const outcome = await record(mistake);
    if (outcome.guidance) actions.push({ ...where, kind: 'inject', code: 'MistakeTracker:guidance' });
    return outcome;
  };
  for (const [nth, user] of script.places.filter((place) => events[place].role === 'user').entries()) {
    script.start(user);
    const prompt = texts(events[user].content).join('\n');
    let before = script.open.length;
    if (!before) continue;
    await (nth === 0 ? session.run(prompt) : session.continue(prompt));
    // A text ends a run; a further reply of the recording was a run that went on without a word.
    while (script.open.length && script.open.length < before && !actions.some((action) => action.kind === 'halt')) {
      before = script.open.length;
      await session.continue(undefined);
    }
    if (actions.some((action) => action.kind === 'halt')) break;
  }
  return { actions, halted_at: actions.find((action) => action.kind === 'halt')?.at ?? null };
}

await serve(drive);
