// The released program is bundled into chunks whose names change; what a driver needs is found by its own name.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const DIST = path.join(here, 'node_modules/@qwen-code/qwen-code');
export const WORKSPACE = fs.mkdtempSync(path.join(os.tmpdir(), 'qwen-'));
process.on('exit', () => fs.rmSync(WORKSPACE, { recursive: true, force: true }));

// The code is as shipped; a line that exports more of its functions is added, once.
async function exposed(pattern, holding, names) {
  const folder = path.join(DIST, 'chunks');
  const file = fs.readdirSync(folder).filter((name) => pattern.test(name)).map((name) => path.join(folder, name))
    .find((name) => fs.readFileSync(name, 'utf8').includes(holding));
  if (!file) throw new Error(`no chunk of this release holds ${holding}`);
  const line = `export { ${names.map((name) => `${name} as asked_${name}`).join(', ')} };`;
  const text = fs.readFileSync(file, 'utf8');
  if (!text.includes(line)) fs.writeFileSync(file, `${text}\n${line}\n`);
  const module = await import(file);
  return Object.fromEntries(names.map((name) => [name, module[`asked_${name}`]]));
}

export const core = await exposed(/^chunk-/, 'var LlmClient = class', ['LlmClient', 'Config', 'createGoalRuntime']);
export const session = await exposed(/^acpAgent-/, 'function recordDaemonToolCalls(', [
  'createDaemonToolLoopState', 'recordDaemonToolCalls', 'recordDaemonInvalidToolParams', 'parseRepeatedToolFailureGuardMode', 'reduceRepeatedToolFailureGuard',
]);

/** A configuration as the program itself makes it of its settings. */
export function configOf(settings, more) {
  const common = { sessionId: 's1', targetDir: WORKSPACE, cwd: WORKSPACE, debugMode: false, model: 'qwen3-coder', embeddingModel: 'e', usageStatisticsEnabled: false, telemetry: { enabled: false } };
  const known = Object.fromEntries(more.filter((key) => key in settings).map((key) => [key, settings[key]]));
  return new core.Config({ ...common, ...known });
}
