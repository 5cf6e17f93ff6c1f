/** The script of the pages. It submits the token of a link, copies texts, submits each form once, and refreshes idle cards. */
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
let seconds = Number(document.body.dataset.renew);
const banner = document.getElementById('banner');
if (seconds > 0) {
  setTimeout(tick, seconds * 1000);
  document.addEventListener('visibilitychange', renew);
}
async function tick() {
  await renew();
  setTimeout(tick, seconds * 1000);
}
let isRenewing = false;
async function renew() {
  if (document.hidden || isRenewing) return;
  isRenewing = true;
  try {
    const response = await fetch(location.href, { headers: { 'x-renewal': 'yes' }, signal: AbortSignal.timeout(60000) });
    const showsSecret = document.querySelector('.note.secret') !== null;
    if (!showsSecret && (response.status === 401 || response.status === 404)) return location.reload();
    if (!response.ok) throw new Error();
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (!showsSecret && idsOf(page) !== idsOf(document) && !isInUse(document.body)) return location.reload();
    seconds = Number(page.body.dataset.renew) || seconds;
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
    isRenewing = false;
  }
}
function idsOf(page) {
  return [...page.querySelectorAll('[data-live]')].map(part => part.id).join();
}
function isInUse(part) {
  const selection = getSelection();
  const selects = !selection.isCollapsed && part.contains(selection.anchorNode);
  const typed = [...part.querySelectorAll('input')].some(input => input.value !== input.defaultValue);
  return selects || typed || (part !== document.body && part.contains(document.activeElement)) || part.querySelector('details[open]') !== null;
}
`;
