import type { ReceivedDelivery } from './receiver.ts';

/** The page on which a person watches deliveries arrive, newest first; it reloads itself every two seconds. */
export function renderDeliveries(deliveries: readonly ReceivedDelivery[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<title>${deliveries.length} received</title><style>${style}</style></head>
<body><h1>What receiver.example.com got</h1>
<p>Register <code>https://receiver.example.com/…</code> as a webhook's URL and its deliveries appear here.
<code>https://receiver.example.com/status/503</code> answers 503. The same as JSON: <a href="/deliveries">/deliveries</a>.</p>
${deliveries.length === 0 ? '<p>Nothing yet.</p>' : [...deliveries].reverse().map(renderDelivery).join('\n')}
</body></html>
`;
}

const style = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733 }
  article { border: 1px solid #d5dde5; border-radius: 6px; padding: .75rem 1rem; margin: 1rem 0 }
  h2 { font-size: 1rem; margin: 0 }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0 0; font-size: .85rem }
  pre.headers { color: #5c6b7a }`;

function renderDelivery({ at, method, path, headers, body, status }: ReceivedDelivery): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `<article><h2>${escapeHtml(`${at}  ${method} ${path}  answered ${status}`)}</h2>
<pre>${escapeHtml(body)}</pre><pre class="headers">${escapeHtml(lines.join('\n'))}</pre></article>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => escapes[character] ?? '');
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
