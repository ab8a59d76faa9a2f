// The chosen stack as a stack file, and as settings of each framework that can fully express it.
let copied = 'whenstop';
function copyPane() {
  const stack = meta.stacks[state.stack], all = stack.copy ?? [];
  if (all.length === 0) return [];
  const at = Math.max(0, all.findIndex(({ host }) => host === copied)), { says, text } = all[at];
  const shown = el('pre', { id: 'configuration', tabindex: 0, 'aria-label': 'configuration' }, text);
  const told = el('output', { id: 'copied' });
  const select = () => {
    getSelection().selectAllChildren(shown);
    told.textContent = 'selected: copy it with the keyboard';
  };
  const button = el('button', { id: 'copy', onclick: () => {
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
    written.then(() => { told.textContent = 'copied'; }, select);
  } }, 'copy');
  const choice = el('select', { id: 'host', onchange: () => { copied = choice.value; refreshCopy(); document.getElementById('host').focus(); } },
    all.map(({ host }, nth) => el('option', { value: host, selected: nth === at }, host === 'whenstop' ? 'a whenstop stack file' : host)));
  return [
    el('h2', {}, 'Copy ', el('code', {}, stack.name), ' as a configuration'),
    el('div', { class: 'row' }, el('label', { for: 'host' }, 'for'), choice, button, told),
    el('p', { class: 'quiet' }, inked(says)), shown,
  ];
}
function refreshCopy() {
  const pane = document.getElementById('copy-pane'), shown = copyPane();
  pane.hidden = shown.length === 0;
  replace(pane, shown);
}
