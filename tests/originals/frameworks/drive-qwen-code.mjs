// Qwen Code's own parts, each driven as its tables say: the client, the whole program, the goal runtime, the guards of ACP sessions.
import { serve } from './serve.mjs';
import { client } from './qwen-client.mjs';
import { goal } from './qwen-goal.mjs';
import { acp } from './qwen-acp.mjs';
import { headless } from './qwen-headless.mjs';

const HOW = { client, goal, acp, headless };
await serve((input) => HOW[input.drive ?? 'client'](input), { seconds: 300, slow: (input) => input.drive === 'headless' });
