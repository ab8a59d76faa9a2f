// A model on loopback that speaks the streaming chat completions of OpenAI and plays the replies of a recording in order.
import http from 'node:http';
import { texts } from './serve.mjs';

const calls = (reply) => (reply.tool_calls ?? []).map((call, index) => ({ index, id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }));

/** `onRequest` answers what is not a request of the run itself (titles, summaries); `true` = the next reply of the script. */
export function playback(script, onRequest = () => true) {
  const log = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => { body += piece; });
    request.on('end', () => {
      if (!request.url.includes('chat/completions')) { response.writeHead(200, { 'content-type': 'application/json' }); response.end('{"data":[]}'); return; }
      let asked = {};
      try { asked = JSON.parse(body); } catch { /* answered like any other */ }
      const own = onRequest(asked);
      const reply = own === true ? script[log.length] ?? { content: 'All done.' } : own;
      if (own === true) log.push(asked);
      answer(response, asked, reply, log.length);
    });
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready({
    port: server.address().port, log, count: () => log.length,
    close: () => new Promise((closed) => { server.closeAllConnections?.(); server.close(closed); }),
  })));
}

function answer(response, asked, reply, serial) {
  const usage = reply.usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const made = calls(reply), finish = made.length ? 'tool_calls' : 'stop';
  const base = { id: `x${serial}`, created: 1, model: asked.model };
  if (!asked.stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: texts(reply.content).join(''), ...(made.length ? { tool_calls: made } : {}) };
    response.end(JSON.stringify({ ...base, object: 'chat.completion', usage, choices: [{ index: 0, finish_reason: finish, message }] }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const put = (piece) => response.write('data: ' + JSON.stringify({ ...base, object: 'chat.completion.chunk', ...piece }) + '\n\n');
  const delta = (piece) => put({ choices: [{ index: 0, delta: { role: 'assistant', ...piece }, finish_reason: null }] });
  for (const text of [].concat(reply.reasoning ?? [])) delta({ reasoning_content: text });
  for (const text of texts(reply.content)) if (text) delta({ content: text });
  for (const call of made) delta({ tool_calls: [call] });
  put({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  put({ choices: [], usage });
  response.write('data: [DONE]\n\n');
  response.end();
}
