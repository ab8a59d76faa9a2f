// OpenClaw's own tool loop detection: its agent core with a scripted model, its wrapped tools, its batch check. Every verdict is listened to.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(fs.realpathSync(path.join(here, "node_modules/openclaw")), "dist");
const names = fs.readdirSync(dist).filter((n) => /\.m?js$/.test(n) && !n.includes(".asked-copy."));

// A copy of a chunk with one more export line; the code itself is as shipped.
function withExports(file, wanted) {
  const copy = file.replace(/\.(m?js)$/, ".asked-copy.$1");
  fs.writeFileSync(copy, `${fs.readFileSync(file, "utf8")}\nexport { ${wanted.map((w) => `${w} as asked_${w}`).join(", ")} };\n`);
  return import(copy);
}
// The chunks are named anew with each release: one is known by the start of its name and by what it holds.
const holding = (start, text) => {
  const name = names.find((n) => start.test(n) && fs.readFileSync(path.join(dist, n), "utf8").includes(text));
  if (!name) throw new Error(`no chunk ${start} of this release holds ${text}`);
  return path.join(dist, name);
};
// The chunk that another chunk imports under a stem, if it does.
const importedBy = (file, stem) => {
  const found = fs.readFileSync(file, "utf8").match(new RegExp(`"\\./(${stem}-[\\w-]+\\.m?js)"`));
  return found && path.join(dist, found[1]);
};
const byName = (module, name) => { const v = Object.values(module).find((x) => typeof x === "function" && x.name === name); if (!v) throw new Error(`no ${name}`); return v; };

const coreFile = names.some((n) => /^agent-core-/.test(n)) ? holding(/^agent-core-/, "Agent") : holding(/^session-manager-/, "var Agent = class extends");
const core = await import(coreFile);
const hookChunk = await import(holding(/^agent-tools\.before-tool-call-/, "function wrapToolWithBeforeToolCallHook"));
const { beforeToolCallRuntime: seam } = await import(path.join(dist, "agent-tools.before-tool-call.runtime.js"));
const adapter = await import(holding(/^(agent-tool-definition-adapter|tool-split)-/, "function toToolDefinitions("));
const toolsChunk = await withExports(holding(/^(tools|sessions)-/, "function wrapToolDefinition("), ["wrapToolDefinition"]);
const configChunk = await import(holding(/^tool-loop-detection-config-/, "function resolveToolLoopDetectionConfig"));
const validation = await import(holding(/^(validation-core|io)-/, "function validateConfigObject("));
const runnerFile = holding(/^(builtin-openclaw|selection)-/, "function wrapStreamFnTrimToolCallNames(");
// From 2026.8 on all calls of a reply are judged before any of them runs; before, each when its turn comes.
const inBatches = fs.readFileSync(runnerFile, "utf8").includes("function createToolLoopBatchAdmission(");
const runner = await withExports(runnerFile, ["wrapStreamFnTrimToolCallNames", ...(inBatches ? ["createToolLoopBatchAdmission", "installToolLoopRecoveryCleanup"] : ["resolveUnknownToolGuardThreshold"])]);
const embedded = await withExports(holding(/^embedded-agent-/, "function createPostCompactionLoopGuard("), ["createPostCompactionLoopGuard", "PostCompactionLoopPersistedError"]);
const { createAssistantMessageEventStream } = await import("@openclaw/ai/event-stream").catch(async () => {
  const create = byName(await import(holding(/^validation-/, "function createAssistantMessageEventStream")), "createAssistantMessageEventStream");
  return { createAssistantMessageEventStream: create };
});

const Agent = byName(core, "Agent");
const wrapTool = byName(hookChunk, "wrapToolWithBeforeToolCallHook");
const internals = inBatches && importedBy(coreFile, "internal-hooks");
const setBatchHook = internals ? byName(await import(internals), "setInternalBeforeToolBatch") : undefined;
const toToolDefinitions = byName(adapter, "toToolDefinitions");
const wrapToolDefinition = toolsChunk.asked_wrapToolDefinition;
const resolveConfig = byName(configChunk, "resolveToolLoopDetectionConfig");
const validateConfig = byName(validation, "validateConfigObject");

// Listening posts on the runtime seam: every verdict, and whether it was acted on. Nothing is changed.
let verdicts = [];
let onActed;
const detect = seam.detectToolCallLoop, logged = seam.logToolLoopAction;
seam.detectToolCallLoop = (...args) => { const r = detect(...args); verdicts.push({ tool: args[1], r, acted: false }); return r; };
seam.logToolLoopAction = (params) => { verdicts.at(-1).acted = true; onActed?.(verdicts.at(-1).r); return logged(params); };

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const model = { id: "scripted", name: "scripted", api: "openai-completions", provider: "scripted", baseUrl: "", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1000000, maxTokens: 1000 };

let serial = 0;

function settings(input) {
  const config = input.config ?? {};
  const raw = {};
  if (config.tools !== undefined) raw.tools = config.tools;
  if (config.agents !== undefined) raw.agents = config.agents;
  const checked = validateConfig(raw);
  if (!checked.ok) return { refused: checked.issues };
  return { loop: resolveConfig({ cfg: checked.config, agentId: "main" }), config: checked.config };
}

async function drive(input) {
  const found = settings(input);
  if (found.refused) {
    const detail = found.refused.map((i) => `${i.path}: ${i.message}`).sort().join("; ");
    return { actions: [{ at: null, kind: "error", code: "invalid_config", detail }], halted_at: null, model_calls: 0, tools_executed: 0 };
  }
  return input.drive === "hook" ? await driveHook(input, found) : await driveAgent(input, found);
}

function prepare(input) {
  const events = input.events;
  const unknown = new Set(input.unknown_tools ?? []);
  const results = new Map();
  const toolNames = new Set();
  events.forEach((e, at) => {
    if (e.role === "tool") results.set(e.tool_call_id, { e, at });
    for (const c of e.tool_calls ?? []) if (!unknown.has(c.name)) toolNames.add(c.name);
  });
  for (const name of input.available_tools ?? []) toolNames.add(name);
  return { events, results, toolNames };
}

function makeTools(toolNames, results, ctx, stats, strictNames) {
  return [...toolNames].map((name) => {
    const parameters = strictNames.has(name) ? { type: "object", properties: { path: { type: "string" } }, required: ["path"] } : {};
    const tool = {
      name, label: name, description: name, parameters,
      execute: async (id) => {
        stats.executed += 1;
        stats.onExecute?.();
        const hit = results.get(id);
        if (!hit) throw new Error(`script has no result for ${id}`);
        const { e } = hit;
        if (e.is_error) throw new Error(e.content);
        const result = { content: e.content === null ? [] : [{ type: "text", text: e.content }] };
        result.details = e.native?.details ?? {};
        return result;
      },
    };
    return wrapTool(tool, ctx);
  });
}

function message(event) {
  const content = [];
  if (event?.content) content.push({ type: "text", text: event.content });
  for (const c of event?.tool_calls ?? []) content.push({ type: "toolCall", id: c.id, name: c.name, arguments: structuredClone(c.arguments) });
  const calls = (event?.tool_calls ?? []).length > 0;
  return { role: "assistant", content, api: model.api, provider: model.provider, model: model.id, usage, stopReason: calls ? "toolUse" : "stop", timestamp: 1 };
}

async function driveAgent(input, { loop, config }) {
  const { events, results, toolNames } = prepare(input);
  const session = `agent:main:case-${++serial}`;
  const actions = [], stats = { executed: 0, models: 0 };
  let cursor = 0, halted = null, run = 0;
  const strict = new Set(input.strict_tools ?? []);
  while (cursor < events.length && halted === null) {
    const user = events[cursor];
    if (user.role !== "user") { cursor += 1; continue; }
    cursor += 1; run += 1;
    const runId = `${session}-run-${run}`;
    const guard = embedded.asked_createPostCompactionLoopGuard(...(inBatches ? [] : [loop?.postCompactionGuard]), { enabled: loop?.enabled !== false });
    let guardError;
    const ctx = {
      agentId: "main", config, sessionKey: session, sessionId: session, runId, loopDetection: loop,
      onToolOutcome: (observation) => {
        if (observation.presentationOnly) return;
        const verdict = guard.observe(observation);
        if (!verdict.shouldAbort || guardError) return;
        guardError = embedded.asked_PostCompactionLoopPersistedError.fromVerdict(verdict);
        const id = finishing;
        actions.push({ at: results.get(id).at, kind: "halt", code: verdict.detector, tool_call_id: id, count: verdict.count, detail: verdict.message });
        halted = results.get(id).at;
        agent.abort(guardError);
      },
    };
    // Which call's outcome is being recorded: outcomes come in the order the tools finish.
    let finishing;
    const plain = makeTools(toolNames, new Map([...results].map(([id, hit]) => [id, hit])), ctx, stats, strict);
    const record = seam.recordToolCallOutcome;
    seam.recordToolCallOutcome = (state, params) => { finishing = params.toolCallId; return record(state, params); };
    // Judged one by one: verdicts come in the order in which the calls start.
    const started = [];
    if (!inBatches) seam.detectToolCallLoop = (...args) => { const r = detect(...args); verdicts.push({ r, acted: false, id: started.shift() }); return r; };
    onActed = inBatches ? undefined : (r) => {
      actions.push({ at: current, before_tools: true, kind: r.level === "critical" ? "deny" : "warn", code: r.detector, tool_call_id: verdicts.at(-1).id, count: r.count, detail: r.message });
    };
    const tools = toToolDefinitions(plain, ctx).map((d) => wrapToolDefinition(d)).map((tool) => inBatches ? tool : { ...tool, execute: (id, ...more) => { started.push(id); return tool.execute(id, ...more); } });
    let current = -1, exhausted = false;
    const scripted = () => {
      while (cursor < events.length) {
        const e = events[cursor];
        if (e.type === "note" && e.kind === "openclaw.compaction") { guard.armPostCompaction(); cursor += 1; continue; }
        if (e.role === "tool" || e.type === "note") { cursor += 1; continue; }
        break;
      }
      const e = events[cursor];
      const stream = createAssistantMessageEventStream();
      let reply;
      if (!e || e.role === "user") { exhausted = true; reply = message({ content: "(nothing more)" }); }
      else {
        current = cursor; cursor += 1; stats.models += 1; reply = message(e);
        // A message that came in while this reply's tools ran is taken into the run.
        let next = cursor;
        while (next < events.length && events[next].role === "tool") next += 1;
        if (events[next]?.role === "user" && events[next].native === "steer") {
          stats.onExecute = () => {
            stats.onExecute = undefined; cursorSteer = next;
            agent.steer({ role: "user", content: [{ type: "text", text: events[next].content }], timestamp: 1 });
          };
        }
      }
      queueMicrotask(() => { stream.push({ type: "start", partial: reply }); stream.push({ type: "done", reason: reply.stopReason, message: reply }); stream.end?.(reply); });
      return stream;
    };
    const seen = new WeakMap();
    const streamFn = runner.asked_wrapStreamFnTrimToolCallNames(scripted, toolNames, { unknownToolThreshold: inBatches ? 10 : runner.asked_resolveUnknownToolGuardThreshold(loop) });
    const agent = new Agent({ initialState: { systemPrompt: "", model, thinkingLevel: "off", tools }, streamFn, convertToLlm: (m) => m });
    const admission = inBatches && runner.asked_createToolLoopBatchAdmission(ctx);
    let lastBatch;
    if (admission) setBatchHook(agent, async (batch, signal) => {
      verdicts = [];
      const answer = await admission(batch, signal);
      const mine = verdicts; verdicts = [];
      const stop = answer?.intervention;
      const delivered = new Map((answer?.warnings ?? []).map((w) => [w.toolCallId, w]));
      mine.forEach((v, i) => {
        if (!v.acted || v.r.level !== "warning") return;
        const id = batch.calls[i].toolCall.id;
        const act = { at: current, before_tools: true, kind: "warn", code: v.r.detector, tool_call_id: id, count: v.r.count, detail: v.r.message };
        if (!stop && !delivered.has(id)) throw new Error("a warning was lost");
        if (stop) act.delivered = false;
        actions.push(act);
      });
      if (stop) lastBatch = { stop, at: current };
      return answer;
    });
    agent.subscribe((event) => {
      if (event.type === "turn_end" && lastBatch) {
        const { stop, at } = lastBatch; lastBatch = undefined;
        const texts = new Map(event.toolResults.map((r) => [r.toolCallId, r]));
        const trigger = texts.get(stop.toolCallId);
        const terminal = /This run is stopping now\.$/.test(trigger.content.at(-1).text);
        for (const r of event.toolResults) if (r.details?.deniedReason !== "tool-loop" || !r.isError) throw new Error("not a refused call");
        if (terminal) {
          actions.push({ at, before_tools: true, kind: "halt", code: stop.detector, tool_call_id: stop.toolCallId, count: stop.count, detail: stop.reason });
          halted = at;
        } else for (const r of event.toolResults) {
          const own = r.toolCallId === stop.toolCallId;
          actions.push(own
            ? { at, before_tools: true, kind: "deny", code: stop.detector, tool_call_id: r.toolCallId, count: stop.count, detail: stop.reason }
            : { at, before_tools: true, kind: "deny", code: "batch", tool_call_id: r.toolCallId, detail: r.content[0].text });
        }
      }
      if (event.type === "message_end" && event.message.role === "assistant" && !exhausted && current >= 0) {
        const script = events[current];
        const rewritten = (script.tool_calls ?? []).length > 0 && !event.message.content.some((b) => b.type === "toolCall") && event.message.stopReason !== "error" && event.message.stopReason !== "aborted";
        if (rewritten && halted === null && !seen.has(script)) {
          seen.set(script, true);
          actions.push({ at: current, before_tools: true, kind: "halt", code: "unknown_tool_rewrite", detail: event.message.content[0].text });
          halted = current;
        }
      }
      if (event.type === "turn_end") stats.onExecute?.();
    });
    let cursorSteer;
    if (inBatches) runner.asked_installToolLoopRecoveryCleanup({ agent, runId });
    // Steered messages are already in the run when the next reply is asked for.
    const skipSteer = () => { if (cursorSteer !== undefined) { while (cursor <= cursorSteer) cursor += 1; cursorSteer = undefined; } };
    agent.streamFn = (...args) => { skipSteer(); return streamFn(...args); };
    await agent.prompt(typeof user.content === "string" ? user.content : "go");
    await agent.waitForIdle();
    seam.recordToolCallOutcome = record;
    const last = agent.state.messages.filter((m) => m.role === "assistant").at(-1);
    const ended = last?.content?.[0]?.text ?? "";
    if (actions.at(-1)?.kind === "halt" && actions.at(-1).before_tools && actions.at(-1).code !== "unknown_tool_rewrite" && !/^OpenClaw stopped this run/.test(ended)) throw new Error(`halt without its closing message: ${ended}`);
    if (halted === null && /^OpenClaw stopped this run/.test(ended)) throw new Error("closing message without a halt");
    if (agent.state.errorMessage && halted === null) throw new Error(`agent error: ${agent.state.errorMessage}`);
  }
  return { actions, halted_at: halted, model_calls: stats.models, tools_executed: stats.executed };
}

// Callers without batch control run the wrapped tool itself, one call after the other.
async function driveHook(input, { loop, config }) {
  const { events, results, toolNames } = prepare(input);
  const session = `agent:main:case-${++serial}`;
  const actions = [], stats = { executed: 0 };
  let run = 0, tools, models = 0;
  for (const [at, event] of events.entries()) {
    if (event.role === "user" || !tools) {
      run += 1;
      const ctx = { agentId: "main", config, sessionKey: session, sessionId: session, runId: `${session}-run-${run}`, loopDetection: loop };
      tools = new Map(makeTools(toolNames, results, ctx, stats, new Set()).map((t) => [t.name, t]));
    }
    if (event.role !== "assistant") continue;
    models += 1;
    for (const call of event.tool_calls ?? []) {
      verdicts = [];
      let result;
      try { result = await tools.get(call.name).execute(call.id, structuredClone(call.arguments)); } catch { result = undefined; }
      const v = verdicts[0];
      if (!v?.acted) { if (result?.details?.status === "blocked" && result.details.deniedReason === "tool-loop") throw new Error("refused without a verdict"); continue; }
      const kind = v.r.level === "critical" ? "deny" : "warn";
      if ((kind === "deny") !== (result?.details?.deniedReason === "tool-loop")) throw new Error("verdict and result differ");
      actions.push({ at, before_tools: true, kind, code: v.r.detector, tool_call_id: call.id, count: v.r.count, detail: v.r.message });
    }
  }
  return { actions, halted_at: null, model_calls: models, tools_executed: stats.executed };
}

await serve(drive);
