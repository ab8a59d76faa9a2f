// Opens a folder's report.html in a browser and holds what it shows against the folder's rows.csv.
//   node check.mjs FOLDER            every check; exit 1 and a line for each that fails
//   node check.mjs FOLDER --time     medians of loading and of each interaction, in milliseconds
//   node check.mjs FOLDER --shots DIR   screenshots: light, dark, 400 pixels, wide
// Needs playwright-core (NODE_PATH or beside this file) and a Chromium (CHROMIUM, or /usr/bin/chromium).
import { createRequire } from 'node:module';
import { readFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const require = createRequire(process.env.PLAYWRIGHT ? join(process.env.PLAYWRIGHT, 'x.js') : import.meta.url);
const { chromium } = require('playwright-core');
const [folder, mode, target] = process.argv.slice(2);
const url = `file://${resolve(folder, 'report.html')}`;

// CSV as whenstop writes it: quotes only where they are needed.
function csv(text) {
  const rows = [[]];
  let cell = '', quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') { cell += '"'; at += 1; } else quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === ',') { rows.at(-1).push(cell); cell = ''; } else if (letter === '\n') { rows.at(-1).push(cell); rows.push([]); cell = ''; } else if (letter !== '\r') cell += letter;
  }
  rows.pop();
  const [names, ...rest] = rows;
  return rest.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]])));
}

const failures = [];
const check = (holds, words) => { if (!holds) failures.push(words); console.log(`${holds ? 'ok  ' : 'FAIL'} ${words}`); };
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
async function opened(options = {}, hash = '') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const seen = { errors: [], requests: [] };
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') seen.errors.push(message.text()); });
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('request', (request) => { if (!/^(file|blob|data):/.test(request.url()) || (request.url().startsWith('file:') && !request.url().startsWith(url))) seen.requests.push(request.url()); });
  page.on('dialog', (dialog) => { seen.errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url + hash);
  await page.waitForSelector('html[data-ready]', { timeout: 60_000 });
  return { page, seen, context };
}

async function checks() {
  const rows = csv(readFileSync(join(folder, 'rows.csv'), 'utf8'));
  const { page, seen } = await opened();
  const meta = JSON.parse(await page.locator('#meta').textContent());
  const stacks = [...new Set(rows.map((row) => row.stack))], runs = new Set(rows.map((row) => row.run_id));
  check(meta.stacks.map(({ name }) => name).sort().join() === [...stacks].sort().join(), `all ${stacks.length} stacks are there`);
  check(meta.runs === runs.size, `all ${runs.size} runs are there`);
  check((await page.locator('#verdict').textContent()).length > 10, 'a verdict is said');

  // Runs, filtered by what they came to, by text, and sorted.
  await page.click('#tab-runs');
  const shownCount = async () => Number((await page.locator('#count').textContent()).split(' ')[0]);
  const killed = (row) => row.killed_low === '1', stopped = (row) => row.stopped_low === '1' && row.stopped_high === '1';
  for (const stack of stacks.slice(0, 6)) {
    const own = rows.filter((row) => row.stack === stack);
    await page.selectOption('[data-filter=stack]', String(meta.stacks.findIndex(({ name }) => name === stack)));
    await page.selectOption('[data-filter=kind]', '');
    check(await shownCount() === own.length, `${JSON.stringify(stack)}: ${own.length} runs`);
    await page.selectOption('[data-filter=kind]', 'killed');
    check(await shownCount() === own.filter(killed).length, `${JSON.stringify(stack)}: ${own.filter(killed).length} successes killed`);
    await page.selectOption('[data-filter=kind]', 'saved');
    const saved = own.filter((row) => row.verdict === 'true_stop' && stopped(row) && row.killed_high === '0');
    check(await shownCount() === saved.length, `${JSON.stringify(stack)}: ${saved.length} failures stopped`);
  }
  await page.selectOption('[data-filter=kind]', '');
  const part = [...runs][Math.floor(runs.size / 2)].slice(0, 6).toLowerCase();
  const tasks = new Map(rows.map((row) => [row.run_id, row.task_id]));
  await page.fill('#search', part);
  const matching = [...runs].filter((id) => id.toLowerCase().includes(part) || (tasks.get(id) ?? '').toLowerCase().includes(part));
  check(await shownCount() === matching.length, `a filter by text finds ${matching.length} runs`);
  await page.fill('#search', '');
  await page.click('[data-sort=steps]');
  await page.click('[data-sort=steps]');
  const most = Math.max(...rows.map((row) => Number(row.steps_recorded)));
  check(Number(await page.locator('.vrow').first().locator('div').nth(3).textContent()) === most, `sorted by steps, the longest of ${most} stands first`);

  // A link shows the same screen again.
  await page.fill('#search', part);
  const address = await page.evaluate(() => location.hash), count = await page.locator('#count').textContent();
  const again = await opened({}, address);
  check(await again.page.locator('#count').textContent() === count, 'the address restores the screen');
  check(await again.page.inputValue('#search') === part, 'and the text searched for');
  await again.context.close();

  // By keyboard alone: to a killed success, down to the step at which it was stopped, and back.
  const some = stacks.find((stack) => rows.some((row) => row.stack === stack && killed(row)));
  if (some) {
    const { page: keys, seen: pressed, context } = await opened({}, `#${new URLSearchParams({ stack: some })}`);
    await keys.waitForSelector('#killed');
    for (let press = 0; press < 60; press += 1) {
      await keys.keyboard.press('Tab');
      if (await keys.evaluate(() => document.activeElement?.closest('#killed') !== null)) break;
    }
    const first = await keys.evaluate(() => document.activeElement?.dataset?.run ?? null);
    check(first !== null, 'Tab reaches a killed success');
    await keys.keyboard.press('Enter');
    await keys.waitForSelector('#run');
    const id = await keys.locator('#run h2').textContent();
    check(rows.some((row) => row.stack === some && row.run_id === id && killed(row)), `Enter opens ${JSON.stringify(id)}`);
    const row = rows.find((one) => one.stack === some && one.run_id === id);
    const evidence = keys.locator('#evidence');
    if (row.stop_point && await evidence.count()) {
      check((await evidence.textContent()).includes(`step ${Number(row.steps_at_stop) - 1}:`), `its evidence is at step ${Number(row.steps_at_stop) - 1}`);
    }
    // Marked as fine, it comes out as a label.
    if (await keys.locator('#mark').count()) {
      await keys.focus('#mark');
      await keys.keyboard.press('Enter');
      await keys.waitForSelector('#mark[aria-pressed=true]');
      await keys.keyboard.press('Escape');
      await keys.keyboard.press('2');
      const [download] = await Promise.all([keys.waitForEvent('download'), keys.click('#labels')]);
      await download.saveAs(join(folder, 'marked.csv'));
      const labels = csv(readFileSync(join(folder, 'marked.csv'), 'utf8'));
      check(labels.length === 1 && labels[0].run_id === id && labels[0].secured_step === String(Number(row.steps_at_stop) - 1), 'the mark comes out as a label');
    }
    check(pressed.errors.length === 0, `no error on the way (${pressed.errors.join('; ')})`);
    await context.close();
  }
  // The stack chosen, in the words of each framework that can hold it; what is not a stack of rules has none.
  await page.click('#tab-overview');
  const copyable = meta.stacks.filter(({ copy, group }) => copy?.length && group === 'shown');
  for (const { name, copy } of copyable.slice(0, 3)) {
    await page.click(`#stacks tr[data-stack="${meta.stacks.findIndex((stack) => stack.name === name)}"]`);
    const texts = [];
    for (const { host } of copy) {
      await page.selectOption('#host', host);
      texts.push(await page.locator('#configuration').textContent());
    }
    check(texts.join() === copy.map(({ text }) => text).join(), `${JSON.stringify(name)}: ${copy.length} configurations to be copied`);
    await page.click('#copy');
    await page.waitForFunction(() => document.querySelector('#copied').textContent !== '');
  }
  const plain = meta.stacks.findIndex(({ copy, group }) => !copy?.length && group === 'shown');
  if (plain >= 0) {
    await page.click(`#stacks tr[data-stack="${plain}"]`);
    check(await page.locator('#copy-pane').isHidden(), `${JSON.stringify(meta.stacks[plain].name)}: nothing to be copied`);
  }
  // The figure: each mark and each line of its legend chooses a stack and tells its numbers.
  const frontier = meta.frontier.find(({ name }) => name === 'frontier');
  for (const { stack } of (frontier?.stacks ?? []).slice(0, 4)) {
    for (const part of ['circle', 'rect']) {
      const node = page.locator(`svg.frontier ${part}[data-mark="${stack}"]`);
      await node.dispatchEvent('mouseenter');
      check((await page.locator('#tip').textContent()).startsWith(`${meta.stacks[stack].name}: `), `${JSON.stringify(meta.stacks[stack].name)}: its ${part} tells its numbers`);
      await page.evaluate(() => { location.hash = '#'; });
      await node.dispatchEvent('click');
      check((await page.locator('#killed-pane h2').textContent()).includes(meta.stacks[stack].name) && await page.locator(`svg.frontier circle.chosen[data-mark="${stack}"]`).count() === 1, `${JSON.stringify(meta.stacks[stack].name)}: its ${part} chooses it`);
    }
  }
  // On a narrow screen the narrow drawing is shown, and nothing is wider than the screen.
  const telephone = await opened({ viewport: { width: 400, height: 820 } });
  if (frontier?.stacks.length) {
    check(await telephone.page.locator('svg.frontier-narrow').isVisible() && await telephone.page.locator('svg.frontier').isHidden(), 'a narrow screen has the narrow drawing');
    check(await page.locator('svg.frontier').isVisible() && await page.locator('svg.frontier-narrow').isHidden(), 'and a wide one the drawing of the file');
  }
  for (const tab of await telephone.page.locator('#tabs button').all()) {
    await tab.click();
    check(await telephone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${await tab.textContent()}: nothing is wider than a screen of 400 pixels`);
  }
  await telephone.context.close();
  // Runs that nobody graded have no bounds on success, and so no such tab.
  const bounded = await page.locator('#figure-bounds').count() > 0;
  check(await page.locator('#tab-bounds').count() === Number(bounded), 'there are bounds where there is a figure of them');
  for (const tab of ['overview', 'rules', ...(bounded ? ['bounds'] : []), 'budget', 'quality']) {
    await page.click(`#tab-${tab}`);
    check((await page.locator('#main').textContent()).length > 20, `the tab ${tab} says something`);
    const hidden = await page.locator('#followed').evaluate((node) => node.hidden);
    check(hidden === (tab !== 'overview'), `the tab ${tab}: what followed the stops is ${hidden ? 'hidden' : 'shown'}`);
  }
  check(await page.evaluate(() => window.hostile === undefined), 'nothing of a recording was run');
  check(await page.locator('img, iframe, object, embed, link, a[href^="javascript"]').count() === 0, 'and nothing of it is an element');
  check(seen.errors.length === 0, `no error in the console (${seen.errors.join('; ')})`);
  check(seen.requests.length === 0, `no request leaves the page (${seen.requests.join('; ')})`);
}

async function times() {
  const loads = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const started = performance.now();
    const { page, context } = await opened();
    loads.push({ wall: performance.now() - started, drawn: await page.evaluate(() => performance.now()) });
    await context.close();
  }
  console.log(`loaded and drawn: ${median(loads.map(({ drawn }) => drawn)).toFixed(0)} ms in the page, ${median(loads.map(({ wall }) => wall)).toFixed(0)} ms by the clock`);
  const { page } = await opened({}, '#tab=runs');
  // The handler and the layout it forces.
  const timed = async (words, act) => {
    const taken = [];
    for (let turn = 0; turn < 7; turn += 1) taken.push(await page.evaluate(act, turn));
    console.log(`${words}: ${median(taken).toFixed(1)} ms, at most ${Math.max(...taken).toFixed(1)}`);
  };
  const own = (body) => new Function('turn', `const started = performance.now(); ${body}; document.body.getBoundingClientRect().height; return performance.now() - started;`);
  await timed('another stack', own(`const s = document.querySelector('[data-filter=stack]'); s.selectedIndex = turn % s.options.length; s.dispatchEvent(new Event('change'))`));
  await timed('sorted', own(`document.querySelector('[data-sort=' + ['steps', 'kind', 'run', 'why'][turn % 4] + ']').click()`));
  await timed('filtered by text', own(`const s = document.querySelector('#search'); s.value = String(turn % 3); s.dispatchEvent(new Event('input'))`));
  await timed('filtered by what it came to', own(`const s = document.querySelector('[data-filter=kind]'); s.selectedIndex = turn % s.options.length; s.dispatchEvent(new Event('change'))`));
  await page.evaluate(() => { location.hash = '#'; });
  await page.waitForSelector('#overview');
  await timed('the slider', own(`const s = document.querySelector('#appetite'); if (s) { s.value = turn; s.dispatchEvent(new Event('input')); }`));
}

async function shots() {
  mkdirSync(target, { recursive: true });
  const meta = { light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 400, height: 820 } }, wide: { viewport: { width: 1900, height: 1000 } } };
  for (const [name, options] of Object.entries(meta)) {
    const { page, context } = await opened(options);
    await page.screenshot({ path: join(target, `${name}.png`) });
    if (await page.locator('#killed tr[data-run]').count()) {
      await page.locator('#killed tr[data-run]').first().click();
      await page.waitForSelector('#run');
      await page.screenshot({ path: join(target, `${name}-run.png`) });
    }
    await context.close();
  }
}

try {
  if (mode === '--time') await times();
  else if (mode === '--shots') await shots();
  else await checks();
} catch (error) {
  failures.push(error.message);
  console.log(`FAIL ${error.message}`);
} finally {
  await browser.close();
}
process.exitCode = failures.length ? 1 : 0;
