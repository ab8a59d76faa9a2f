// The loop guards of daemon and ACP sessions: their own functions, called in the order of the session's turn loop.
import { configOf, session } from './qwen-package.mjs';

function observation(result) {
  const { invalid_params: invalid, terminal, execution, error_type: type } = result.native ?? {};
  if (invalid) return { policyToolName: result.name, terminalStatus: 'error', executionStatus: 'not_started' };
  if (!result.is_error) return { policyToolName: result.name, terminalStatus: 'success', executionStatus: execution ?? 'success' };
  return { policyToolName: result.name, terminalStatus: terminal ?? 'error', executionStatus: execution ?? 'error', executionErrorType: type ?? 'execution_failed' };
}

export function acp({ config: settings, events }) {
  const config = configOf({ skipLoopDetection: true, ...settings }, ['skipLoopDetection', 'maxToolCallsPerTurn']);
  const mode = session.parseRepeatedToolFailureGuardMode(settings.failureGuard) ?? 'shadow';
  const actions = [];
  const halt = (action) => { actions.push({ kind: 'halt', ...action }); return { actions, halted_at: action.at }; };
  let state = null, prompt = 0, at = 0;
  while (at < events.length) {
    const event = events[at];
    if (event.role === 'user') { state = session.createDaemonToolLoopState(mode); prompt++; at++; continue; }
    const calls = (event.tool_calls ?? []).map((call) => ({ id: call.id, name: call.name, args: call.arguments }));
    if (!calls.length) { at++; continue; }
    if (session.recordDaemonToolCalls(config, `p${prompt}`, state, calls)) return halt({ at, before_tools: true, code: `LoopDetected:${state.loopType}` });
    const observations = [];
    for (at++; at < events.length && events[at].role === 'tool'; at++) {
      const result = events[at];
      observations.push(observation(result));
      if (result.native?.invalid_params && session.recordDaemonInvalidToolParams(config, `p${prompt}`, state, result.name, new Error('invalid'))) return halt({ at, code: `LoopDetected:${state.loopType}` });
    }
    const decided = session.reduceRepeatedToolFailureGuard(state.repeatedToolFailureState, {
      mode: state.repeatedToolFailureMode, batch: { complete: true, observations }, hasExternalInput: false, hasQueuedPrompt: false, inputReliable: true,
    });
    state.repeatedToolFailureState = decided.state;
    if (decided.kind === 'warn') actions.push({ at: at - 1, before_request: true, kind: 'inject', code: 'repeated_tool_failure_reminder' });
    if (decided.kind === 'stop') return halt({ at: at - 1, before_request: true, code: 'LoopDetected:repeated_tool_execution_failure' });
  }
  return { actions, halted_at: null };
}
