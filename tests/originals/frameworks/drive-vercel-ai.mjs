// The AI SDK's own loops, with the package's mock model: generateText, streamText and ToolLoopAgent, one request per user message.
import * as ai from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { z } from 'zod';
import { serve } from './serve.mjs';

const TAPE = Symbol('the recording has no further reply');

function condition(wanted) {
  if ('isStepCount' in wanted) return (ai.isStepCount ?? ai.stepCountIs)(wanted.isStepCount);
  if ('hasToolCall' in wanted) return ai.hasToolCall(...wanted.hasToolCall);
  if ('isLoopFinished' in wanted) return ai.isLoopFinished();
  throw new Error(`unknown condition ${JSON.stringify(wanted)}`);
}

async function drive({ config, events }) {
  const users = events.flatMap((event, at) => event.role === 'user' ? [at] : []);
  const results = new Map(events.flatMap((event) => event.role === 'tool' ? [[event.tool_call_id, event]] : []));
  const names = new Set(events.flatMap((event) => (event.tool_calls ?? []).map((call) => call.name)));
  let replies = [], handed = [], over = false;
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  const next = () => {
    if (!replies.length) { over = true; throw TAPE; }
    handed.push(replies.shift());
    const event = events[handed.at(-1)], calls = event.tool_calls ?? [];
    const unified = calls.length ? 'tool-calls' : 'stop';
    return { event, calls, finishReason: { unified, raw: unified } };
  };
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const { event, calls, finishReason } = next();
      const text = event.content ? [{ type: 'text', text: event.content }] : [];
      const called = calls.map((call) => ({ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.arguments) }));
      return { content: [...text, ...called], finishReason, usage, warnings: [] };
    },
    doStream: async () => {
      const { event, calls, finishReason } = next();
      const text = event.content ? [{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: event.content }, { type: 'text-end', id: '1' }] : [];
      const called = calls.map((call) => ({ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.arguments) }));
      return { stream: simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...text, ...called, { type: 'finish', finishReason, usage }] }) };
    },
  });
  const tools = Object.fromEntries([...names].map((name) => [name, ai.tool({
    description: name, inputSchema: z.looseObject({}),
    execute: async (_, { toolCallId }) => {
      const result = results.get(toolCallId);
      if (result.is_error) throw new Error(result.content);
      return result.content;
    },
  })]));
  const wanted = config.stopWhen;
  const options = wanted === null || wanted === undefined ? {} : { stopWhen: Array.isArray(wanted) ? wanted.map(condition) : condition(wanted) };
  const code = wanted === null || wanted === undefined ? 'stopWhen default' : Array.isArray(wanted) ? 'stopWhen list' : Object.keys(wanted)[0];
  const agent = config.api === 'ToolLoopAgent' ? new ai.ToolLoopAgent({ model, tools, maxRetries: 0, ...options }) : null;
  const actions = [];
  let history = [];
  for (const [nth, user] of users.entries()) {
    const end = users[nth + 1] ?? events.length;
    replies = events.flatMap((event, at) => event.role === 'assistant' && at > user && at < end ? [at] : []);
    const before = handed.length;
    over = false;
    history = [...history, { role: 'user', content: events[user].content }];
    let response;
    try {
      if (agent) response = (await agent.generate({ messages: history })).response;
      else if (config.api === 'streamText') {
        const result = ai.streamText({ model, tools, messages: history, maxRetries: 0, onError: () => {}, ...options });
        await result.consumeStream();
        response = over ? null : await result.response;
      } else response = (await ai.generateText({ model, tools, messages: history, maxRetries: 0, ...options })).response;
    } catch (error) { if (!over) throw error; }
    if (over) continue;
    const last = handed.at(-1);
    if (handed.length > before && events[last].tool_calls?.length) {
      let at = last;
      while (events[at + 1]?.role === 'tool') at++;
      actions.push({ at, kind: 'halt', code });
      break;
    }
    history = [...history, ...(response?.messages ?? [])];
  }
  return { actions, halted_at: actions[0]?.at ?? null };
}

await serve(drive);
