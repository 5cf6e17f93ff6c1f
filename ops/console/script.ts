/**
 * The script of the pages: it exchanges the token of a link, and renews the title, the cards and what is marked as live while the page is
 * seen, and at once when it is seen again. All works without it. What is selected, ticked or typed stays: a part in which somebody is at
 * work is renewed the next time, and says until then when it was read. A page that is not renewed, since it holds a secret or what is
 * typed, is left when the session has ended, which it has with the process; if the process does not answer, an hour after it was loaded.
 */
export const script = `
const entry = document.getElementById('entry');
if (entry && location.hash.length > 1) {
  entry.elements.token.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  entry.submit();
}
for (const button of document.querySelectorAll('.copy')) button.hidden = false;
document.addEventListener('click', async event => {
  const button = event.target.closest('.copy');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add('copied');
});
document.addEventListener('keydown', event => {
  const field = document.querySelector('input[type=search]');
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || !field) return;
  if (event.target.closest('input, select, textarea')) return;
  event.preventDefault();
  field.focus();
});
const seconds = Number(document.body.dataset.refresh);
const hasFailed = 'failed' in document.body.dataset;
const told = document.getElementById('renewed');
const banner = document.getElementById('banner');
const readAt = new Map();
const loadedAt = Date.now();
const here = location.pathname + location.search; // to an address with a fragment a browser only scrolls
if (seconds > 0) setInterval(renew, seconds * 1000);
else if (told) setInterval(leave, 60000);
document.addEventListener('visibilitychange', () => {
  if (document.hidden || !told) return;
  if (seconds === 0) return leave();
  warn(told.dataset.kept, []); // until it has answered
  renew();
});
let busy = false;
async function renew() {
  if (document.hidden || busy) return;
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { 'x-renewal': 'yes' }, signal: AbortSignal.timeout(30000) });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (answer.status === 401 || (answer.ok && (hasFailed || (idsOf(page) !== idsOf(document) && !isInUse(document.body))))) location.replace(here);
    else if (answer.ok) show(page);
    else warn(banner.dataset.trouble, page.querySelector('[role=alert]:not([hidden])').childNodes);
  } catch {
    warn(banner.dataset.trouble, []);
  } finally {
    busy = false;
  }
}
async function leave() {
  const asked = { method: 'HEAD', headers: { 'x-renewal': 'yes' }, signal: AbortSignal.timeout(30000) };
  const answer = await fetch(location.href, asked).catch(() => undefined);
  const isOver = answer?.status === 401 || answer?.status === 404; // 404: the folder of a process before
  if (!isOver && (answer?.ok || Date.now() - loadedAt < 3600000)) return;
  document.body.remove(); // while nothing answers, a browser shows the page that it leaves
  location.replace(here);
}
function show(page) {
  const parts = partsOf(page);
  const isAlike = idsOf(page) === idsOf(document);
  for (const [at, part] of partsOf(document).entries()) {
    const fresh = isAlike ? parts[at] : part.id && page.getElementById(part.id);
    if (!fresh || isInUse(part)) {
      stamp(part);
      continue;
    }
    for (const button of fresh.querySelectorAll('.copy')) button.hidden = false;
    if (markless(part) !== markless(fresh)) part.replaceChildren(...fresh.childNodes);
    readAt.delete(part);
  }
  told.replaceChildren(...page.getElementById('renewed').childNodes);
  banner.hidden = true;
}
function markless(part) {
  return part.innerHTML.replace(/name="once" value="[^"]*"/g, '');
}
function stamp(part) {
  if (readAt.has(part)) return;
  readAt.set(part, told.textContent);
  const stale = document.createElement('p');
  stale.className = 'stale';
  stale.textContent = told.dataset.kept + ' ' + told.textContent;
  (part.querySelector(':scope > header') ?? part).append(stale);
}
function warn(said, why) {
  if (hasFailed) return;
  banner.replaceChildren(said + ' ' + told.textContent, ...(why.length > 0 ? [' (', ...why, ')'] : []));
  banner.hidden = false;
}
function partsOf(page) {
  return [...page.querySelectorAll('h1, .card, [data-live]')].filter(part => !part.querySelector('[data-live]'));
}
function idsOf(page) {
  return partsOf(page).map(part => part.id).join();
}
function isInUse(part) {
  const selection = getSelection();
  const selects = !selection.isCollapsed && part.contains(selection.anchorNode);
  const at = document.activeElement;
  const isAt = part.contains(at) && at !== document.body && !at.matches('[tabindex="-1"]');
  const typed = [...part.querySelectorAll('input')].some(
    input => input.value !== input.defaultValue || input.checked !== input.defaultChecked,
  );
  return selects || isAt || typed || part.querySelector('details[open]') !== null;
}
`;
