export const script = `
const link = document.getElementById('link');
if (link && location.hash.length > 1) {
  link.elements.token.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  link.submit();
}
document.querySelectorAll('.copy').forEach(button => { button.hidden = false; });
document.addEventListener('click', async event => {
  const button = event.target.closest('.copy');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.ariaLabel = null;
  button.textContent = button.dataset.done;
  if (button.matches('.main')) hasCopied = true;
});
let hasCopied = document.querySelector('.note.secret') === null;
addEventListener('beforeunload', event => {
  if (!hasCopied) event.preventDefault();
});
document.addEventListener('submit', event => {
  if (event.target.dataset.sent) return event.preventDefault();
  if (hasCopied) event.target.dataset.sent = 'yes'; // otherwise the user may cancel
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});
let seconds = Number(document.body.dataset.refresh);
const banner = document.getElementById('banner');
if (seconds > 0) {
  setTimeout(tick, seconds * 1000);
  document.addEventListener('visibilitychange', refresh);
}
async function tick() {
  await refresh();
  setTimeout(tick, seconds * 1000);
}
let isRefreshing = false;
async function refresh() {
  if (document.hidden || isRefreshing) return;
  isRefreshing = true;
  try {
    const response = await fetch(location.href, { headers: { 'x-refresh': 'yes' }, signal: AbortSignal.timeout(60000) });
    const hasSecret = document.querySelector('.note.secret') !== null;
    if (!hasSecret && (response.status === 401 || response.status === 404)) return location.reload();
    if (!response.ok) throw new Error();
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (!hasSecret && idsOf(page) !== idsOf(document) && !isInUse(document.body)) return location.reload();
    seconds = Number(page.body.dataset.refresh) || seconds;
    for (const part of page.querySelectorAll('[data-live], footer')) {
      const old = part.id ? document.getElementById(part.id) : document.querySelector('footer');
      if (!old || isInUse(old)) continue;
      part.querySelectorAll('.copy').forEach(button => { button.hidden = false; });
      old.replaceWith(part);
    }
    banner.hidden = true;
  } catch {
    banner.hidden = document.getElementById('failure') !== null;
  } finally {
    isRefreshing = false;
  }
}
function idsOf(page) {
  return [...page.querySelectorAll('[data-live]')].map(part => part.id).join();
}
function isInUse(part) {
  const selection = getSelection();
  const hasSelection = !selection.isCollapsed && part.contains(selection.anchorNode);
  const hasInput = [...part.querySelectorAll('input')].some(input => input.value !== input.defaultValue);
  return hasSelection || hasInput || (part !== document.body && part.contains(document.activeElement)) || part.querySelector('details[open]') !== null;
}
`;
