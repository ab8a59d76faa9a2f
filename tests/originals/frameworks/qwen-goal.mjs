// The goal runtime with the grants that the program's own configuration makes of the settings.
// Stand-ins: the journal keeps nothing, the host takes the turns, the ledger has the recording's tokens and results, the clock its `ts`.
import { configOf, core } from './qwen-package.mjs';

const realNow = Date.now;
const settled = async () => { for (let tick = 0; tick < 30; tick++) await Promise.resolve(); await new Promise((done) => setImmediate(done)); };

export async function goal(input) {
  const config = configOf(input.config, ['goalTokenBudget', 'goalMaxTurns', 'goalMaxActiveMinutes']);
  let now = Date.parse('2026-01-01T00:00:00Z');
  Date.now = () => now;
  try {
    return await play(input, config, (event) => { if (event.ts) now = Date.parse(event.ts); });
  } finally { Date.now = realNow; }
}

async function play({ events, continue_after_halt: goesOn }, config, tick) {
  let tokens = 0, results = 0;
  const queue = [], actions = [];
  const runtime = core.createGoalRuntime({
    journal: { recordGoalState: async () => {}, getTranscriptCursor: () => ({ recordId: null }) },
    ledger: { takeGoalTurnTokens: () => tokens, takeGoalTurnToolResults: () => results },
    tokenBudgetGrant: config.getGoalTokenBudgetGrant(), turnBudgetGrant: config.getGoalTurnBudgetGrant(), activeTimeBudgetGrantMs: config.getGoalActiveTimeBudgetGrantMs(),
  });
  runtime.bindHost({ startGoalTurn: async (turn) => { queue.push(turn); }, preemptGoalTurn() { queue.length = 0; } });
  let halted = null, at = 0, before = null;
  while (at < events.length) {
    if (events[at].role === 'user') {
      tick(events[at]);
      const standing = runtime.getSnapshot().goal;
      if (!standing) await runtime.dispatch({ action: 'create', objective: events[at].content });
      else await runtime.dispatch({ action: 'resume', expectedGoalId: standing.goalId, expectedRevision: standing.revision });
      await settled();
      before = at++;
      continue;
    }
    if (!queue.length) throw new Error(`no turn for event ${at}`);
    const turn = queue.shift();
    if (turn.windDown) actions.push({ at: before, before_request: true, kind: 'inject', code: 'goal_wind_down' });
    tokens = 0; results = 0;
    // A goal turn goes on until a reply without calls.
    for (;;) {
      const reply = events[at];
      tick(reply);
      if (reply.usage) tokens += reply.usage.input + reply.usage.output;
      for (at++; at < events.length && events[at].role === 'tool'; at++) { tick(events[at]); results++; }
      if (!reply.tool_calls?.length || events[at]?.role !== 'assistant') break;
    }
    before = at - 1;
    runtime.markTurnDelivered(`goal-runtime:${turn.permit.turnId}`);
    await runtime.finishTurn(turn.permit);
    await settled();
    const { status, limitKind, lastReason } = runtime.getSnapshot().goal;
    if (status !== 'usage_limited' && status !== 'paused') continue;
    actions.push({ at: before, kind: 'halt', code: status === 'paused' ? 'goal_paused:no_progress' : `goal_usage_limited:${limitKind}`, detail: lastReason });
    halted ??= before;
    if (!goesOn) break;
  }
  return { actions, halted_at: halted };
}
