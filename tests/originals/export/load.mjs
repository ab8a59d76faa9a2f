// Runs a snippet of `whenstop export` inside the framework it is for, and prints what the framework took.
//   node load.mjs HOST < SNIPPET
import { readFileSync } from 'node:fs';

const host = process.argv[2], snippet = readFileSync(0, 'utf8');
const AsyncFunction = (async () => {}).constructor;
const execute = async (names) => new AsyncFunction(...Object.keys(names), snippet)(...Object.values(names));

const loaders = {
  // A model that always calls its tool: the loop ends where the condition says.
  async 'vercel-ai'() {
    const { generateText, isStepCount, hasToolCall, tool, jsonSchema } = await import('ai');
    const { MockLanguageModelV4, MockLanguageModelV3 } = await import('ai/test');
    const Mock = MockLanguageModelV4 ?? MockLanguageModelV3;
    let calls = 0;
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = new Mock({ doGenerate: async () => {
      calls += 1;
      return { content: [{ type: 'tool-call', toolCallId: `c${calls}`, toolName: 'look', input: '{}' }], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
    } });
    const look = tool({ inputSchema: jsonSchema({ type: 'object', properties: {} }), execute: async () => 'seen' });
    await execute({ generateText, isStepCount, hasToolCall, model, tools: { look }, prompt: 'go' });
    return { steps: calls };
  },
  // The agent's own loop would need a model; the call is taken down, and the condition asked about steps of known size.
  async mastra() {
    await import('@mastra/core/agent');
    let taken;
    await execute({ agent: { generate: async (_, options) => { taken = options; } }, messages: 'go' });
    if (!taken.stopWhen) return { maxSteps: taken.maxSteps };
    const step = { usage: { totalTokens: 150_000 }, toolCalls: [] }, steps = [];
    do steps.push(step); while (!taken.stopWhen.some((condition) => condition({ steps })));
    return { maxSteps: taken.maxSteps, stopped: steps.length };
  },
};

console.log(JSON.stringify(await loaders[host]()));
process.exit(0);
