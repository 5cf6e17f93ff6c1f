/**
 * The script of the pages: it exchanges the token of a link, and renews what is marked as live while the page is seen. All works
 * without it. What is selected, ticked or typed stays: a part in which somebody is at work is renewed the next time.
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
const seconds = Number(document.body.dataset.refresh);
const told = document.getElementById('renewed');
if (seconds > 0) setInterval(renew, seconds * 1000);
let busy = false;
async function renew() {
  if (document.hidden || busy) return;
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { 'x-renewal': 'yes' }, signal: AbortSignal.timeout(30000) });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = page.getElementById(part.id);
      if (fresh && !isInUse(part) && part.innerHTML !== fresh.innerHTML) {
        for (const button of fresh.querySelectorAll('.copy')) button.hidden = false;
        part.replaceChildren(...fresh.childNodes);
      }
    }
    const renewed = page.getElementById('renewed');
    if (renewed) told.replaceChildren(...renewed.childNodes);
    told.classList.remove('trouble');
  } catch {
    told.textContent = told.dataset.trouble;
    told.classList.add('trouble');
  } finally {
    busy = false;
  }
}
function isInUse(part) {
  const selection = getSelection();
  const selects = !selection.isCollapsed && part.contains(selection.anchorNode);
  return selects || part.contains(document.activeElement) || part.querySelector('input:checked, details[open]') !== null;
}
`;
