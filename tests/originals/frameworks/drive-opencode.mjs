// OpenCode's shipped program as a server on loopback: `opencode serve`, with a scripted model.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { closed, served } from './opencode-server.mjs';
import { serve } from './serve.mjs';

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), 'node_modules');
const platform = `opencode-${process.platform}-${process.arch}`;
const program = {
  path: path.join(modules, platform, 'bin', 'opencode'), name: 'opencode', folder: 'opencode', agent: 'build', resumes: true,
  environment: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
};
if (!fs.existsSync(program.path)) throw new Error(`${platform} was not installed with opencode-ai`);

await serve((input) => served(program, input), { seconds: 300, close: closed });
