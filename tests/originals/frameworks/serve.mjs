// What the drivers in JavaScript share: cases from standard input, one JSON object a line, an answer a line, so many at a time.
import readline from 'node:readline';

const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');

/** The texts of a message's content: a string, or blocks. */
export const texts = (content) => (Array.isArray(content) ? content.flatMap((block) => block.text ?? []) : [content ?? '']);

/** `drive` takes a case's input and the name of its table; one that hangs is given up after `seconds`, the `slow` ones come last, `close` puts away. */
export async function serve(drive, { seconds = 60, together = 1, slow = () => false, close = () => {} } = {}) {
  const cases = [];
  for await (const line of readline.createInterface({ input: process.stdin })) cases.push(JSON.parse(line));
  cases.sort((left, right) => slow(left.input) - slow(right.input));
  // The packages print; the answers have standard output to themselves.
  console.log = console.warn = console.error = console.info = console.debug = () => {};
  const worker = async () => {
    for (let one = cases.shift(); one; one = cases.shift()) {
      let timer;
      const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error(`no answer after ${seconds} s`)), 1000 * seconds); });
      try { say({ id: one.id, expected: await Promise.race([drive(one.input, one.table), late]) }); } catch (error) { say({ id: one.id, failed: String(error) }); }
      clearTimeout(timer);
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  await close();
  process.exit(0);
}
