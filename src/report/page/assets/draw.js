// Builds elements from text: nothing from a recording is ever parsed as HTML.
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const replace = (node, ...children) => node.replaceChildren(...children.flat().filter((child) => child !== null));

const tip = document.getElementById('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = event.target.getBoundingClientRect(), wide = Math.min(360, innerWidth - 16);
  tip.style.left = `${Math.max(8, Math.min(box.left + 14, innerWidth - wide - 8))}px`;
  tip.style.top = `${box.bottom + 8 + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 8 : box.bottom + 8}px`;
}
const hideTip = () => { tip.hidden = true; };
const tipped = (text) => ({
  onmouseenter: (event) => showTip(event, text), onmouseleave: hideTip, onfocus: (event) => showTip(event, text), onblur: hideTip,
});

// A bar from `low` to `high` with its interval, on an axis from 0 to `most`.
function bar(range, most, kind) {
  const [low, high, from, to] = range, width = 120, place = (share) => 2 + Math.max(0, Math.min(1, share / most)) * (width - 4);
  const drawing = svg('svg', { class: `plot bar ${kind}`, width, height: 16, viewBox: `0 0 ${width} 16`, 'aria-hidden': 'true' });
  drawing.append(svg('line', { class: 'axis', x1: 2, x2: width - 2, y1: 8, y2: 8 }));
  if (from !== null && to !== null) drawing.append(svg('line', { class: 'ci', x1: place(from), x2: place(to), y1: 8, y2: 8 }));
  if (low !== null && high !== null) {
    const left = place(low), right = place(high);
    drawing.append(svg('rect', { x: left - 2, y: 4, width: Math.max(4, right - left + 4), height: 8, rx: 2, fill: 'currentColor' }));
  }
  return drawing;
}

const badge = (kind) => el('span', { class: `badge ${KIND_CLASS[kind]}` }, KINDS[kind]);

// Table rows that are navigated with j and k and opened with Enter.
function walkable(body, rows, open) {
  const pick = (at) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (row) row.focus();
  };
  rows.forEach((row, at) => {
    row.tabIndex = at === 0 ? 0 : -1;
    row.addEventListener('click', () => open(at));
    row.addEventListener('focus', () => rows.forEach((other) => { other.tabIndex = other === row ? 0 : -1; }));
    row.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') { event.preventDefault(); open(at); }
      else if (event.key === 'j' || event.key === 'ArrowDown') { event.preventDefault(); pick(at + 1); }
      else if (event.key === 'k' || event.key === 'ArrowUp') { event.preventDefault(); pick(at - 1); }
    });
  });
  return body;
}
